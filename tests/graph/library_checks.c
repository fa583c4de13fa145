/* What a C program may rely on in a saved network; exits with the number of the line that fails.

   The network (test_saved_libraries.py): y = softmax(x · w), double_x = x + x, a constant. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define CHECK(condition) if (!(condition)) exit(__LINE__ % 250 + 1)
enum { ROWS = 37, INNER = 24, COLUMNS = 50, RUNS = 30 };

static float x[ROWS * INNER];

/* The same outputs from arrays at any address. */
static void check_alignment(model_context *net, const float *expected) {
  char *room = malloc(sizeof x + ROWS * COLUMNS * 4 + 256);
  float *moved = (float *)(room + 4), *y = (float *)(room + sizeof x + 64 + 12);
  float doubled[ROWS * INNER + 1];
  int64_t fixed[3 + 1];
  CHECK(room != NULL);
  memcpy(moved, x, sizeof x);
  CHECK(model_call(net, moved, y, doubled + 1, fixed + 1) == TILEWRIGHT_OK);
  CHECK(memcmp(y, expected, ROWS * COLUMNS * 4) == 0);
  for (int i = 0; i < ROWS * INNER; i++) CHECK(doubled[i + 1] == x[i] + x[i]);
  CHECK(fixed[1] == 5 && fixed[3] == -7);
  free(room);
}

/* Each thread has a context; all get the same. */
static void *run_often(void *expected) {
  static const int threads[] = {0, 1};
  float y[ROWS * COLUMNS], doubled[ROWS * INNER];
  int64_t fixed[3];
  for (int i = 0; i < 2; i++) {
    model_context *net;
    CHECK(model_create(&net, threads[i]) == TILEWRIGHT_OK);
    for (int n = 0; n < RUNS; n++) {
      memset(y, 0xff, sizeof y);
      CHECK(model_call(net, x, y, doubled, fixed) == TILEWRIGHT_OK);
      CHECK(memcmp(y, expected, sizeof y) == 0);
    }
    model_destroy(net);
  }
  return NULL;
}

static void check_misuse(model_context *net) {
  model_context *none = net;
  const void *inputs[] = {NULL};
  void *outputs[] = {x, x, x};
  CHECK(model_run(net, inputs, outputs) == TILEWRIGHT_BAD_ARGUMENT);
  CHECK(model_run(NULL, inputs, outputs) == TILEWRIGHT_BAD_ARGUMENT);
  CHECK(model_create(&none, 3) == TILEWRIGHT_BAD_ARGUMENT && none == NULL);
  CHECK(model_create(&none, -1) == TILEWRIGHT_BAD_ARGUMENT);
  CHECK(model_create(NULL, 1) == TILEWRIGHT_BAD_ARGUMENT);
  CHECK(model_create_checked(&none, 1, 12345) == TILEWRIGHT_WRONG_HEADER);
  CHECK(strstr(model_message(TILEWRIGHT_WRONG_HEADER), "compile it again") != NULL);
  model_destroy(NULL);
}

int main(void) {
  const tilewright_model *model = model_model();
  float y[ROWS * COLUMNS], doubled[ROWS * INNER];
  int64_t fixed[3];
  pthread_t threads[4];
  model_context *net;
  CHECK(model->format == TILEWRIGHT_LIBRARY && model->threads == 2);
  CHECK(model->input_count == 1 && model->output_count == 3);
  CHECK(strcmp(model->inputs[0].name, "x/0 \"\xc3\xa4\"*/") == 0);
  CHECK(model->inputs[0].rank == 2 && model->inputs[0].shape[1] == INNER);
  CHECK(strcmp(model->outputs[2].dtype, "int64") == 0 && model->outputs[2].bytes == 24);
  for (int i = 0; i < ROWS * INNER; i++) x[i] = (float)(i % 17) / 8 - 1;
  CHECK(model_create(&net, 0) == TILEWRIGHT_OK);
  CHECK(model_call(net, x, y, doubled, fixed) == TILEWRIGHT_OK);
  for (int row = 0; row < ROWS; row++) {
    float sum = 0;
    for (int i = 0; i < COLUMNS; i++) sum += y[row * COLUMNS + i];
    CHECK(sum > 0.9999f && sum < 1.0001f);
  }
  check_alignment(net, y);
  check_misuse(net);
  model_destroy(net);
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, run_often, y) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
