/* What a C program may rely on in a library whose shapes vary; exits with the number of the line
   that fails.

   The network (test_sized_networks.py): y = a above b, for a of S and b of P rows; z = c beside d,
   for as many columns. */

#include <stdlib.h>
#include <string.h>

#include "joined.h"

#define CHECK(condition) if (!(condition)) exit(__LINE__)
enum { WIDTH = 5, MOST_S = 70, MOST_P = 19, MOST = WIDTH * (MOST_S + MOST_P) };

/* Arrays begin at an address that is no multiple of 64, and are exactly as long as they are read. */
static float a[MOST + 2], b[MOST + 2], c[MOST + 2], d[MOST + 2], y[MOST + 2], z[MOST + 2];

static int reshape(joined_context *net, int64_t s, int64_t p, int64_t columns) {
  const int64_t shapes[4][2] = {{s, WIDTH}, {p, WIDTH}, {WIDTH, columns}, {WIDTH, p}};
  const int64_t *const given[] = {shapes[0], shapes[1], shapes[2], shapes[3]};
  return joined_reshape(net, given);
}

static void check(joined_context *net, int s, int p) {
  int64_t rows[2], columns[2];
  CHECK(joined_output_shape(net, 0, rows) == TILEWRIGHT_OK && rows[0] == s + p && rows[1] == WIDTH);
  CHECK(joined_output_shape(net, 1, columns) == TILEWRIGHT_OK);
  CHECK(columns[0] == WIDTH && columns[1] == s + p);
  memset(y, 0x55, sizeof y);
  memset(z, 0x55, sizeof z);
  const float behind = y[0];
  CHECK(joined_call(net, a + 1, b + 1, c + 1, d + 1, y + 1, z + 1) == TILEWRIGHT_OK);
  for (int i = 0; i < s + p; i++)
    for (int j = 0; j < WIDTH; j++) {
      CHECK(y[1 + i * WIDTH + j] == (i < s ? a[1 + i * WIDTH + j] : b[1 + (i - s) * WIDTH + j]));
      CHECK(z[1 + j * (s + p) + i] == (i < s ? c[1 + j * s + i] : d[1 + j * p + i - s]));
    }
  CHECK(y[0] == behind && y[1 + (s + p) * WIDTH] == behind && z[1 + (s + p) * WIDTH] == behind);
}

int main(void) {
  const tilewright_model *model = joined_model();
  joined_context *net;
  CHECK(model->inputs[0].least[0] == 1 && model->inputs[0].most[0] == MOST_S);
  CHECK(model->inputs[1].least[0] == 0 && model->inputs[0].least[1] == WIDTH);
  CHECK(model->outputs[1].shape[1] == MOST_S + MOST_P && model->outputs[1].least[1] == 1);
  CHECK(model->outputs[0].bytes == MOST * 4 && model->next == NULL);
  for (int i = 0; i < MOST + 2; i++) {
    a[i] = (float)i, b[i] = (float)-i;
    c[i] = (float)(i % 31), d[i] = (float)(i % 7) - 20;
  }
  CHECK(joined_create(&net, 1) == TILEWRIGHT_OK);
  check(net, MOST_S, MOST_P);
  CHECK(reshape(net, 1, 0, 1) == TILEWRIGHT_OK);
  check(net, 1, 0);
  CHECK(reshape(net, 17, 3, 17) == TILEWRIGHT_OK);
  check(net, 17, 3);
  CHECK(reshape(net, MOST_S + 1, 3, MOST_S + 1) == TILEWRIGHT_WRONG_SHAPE);
  CHECK(reshape(net, 0, 3, 0) == TILEWRIGHT_WRONG_SHAPE);
  CHECK(reshape(net, 16, 3, 17) == TILEWRIGHT_WRONG_SHAPE);
  check(net, 17, 3);
  CHECK(joined_output_shape(net, 2, NULL) == TILEWRIGHT_BAD_ARGUMENT);
  CHECK(joined_output_shape(net, 0, NULL) == TILEWRIGHT_BAD_ARGUMENT);
  joined_destroy(net);
  return 0;
}
