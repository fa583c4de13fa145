/* What a C program may rely on in a library for several shapes; exits with the number of the line
   that fails.

   The networks (test_variants.py): y = relu(x · w) for x of 2 and of 5 rows. */

#include <math.h>
#include <stdlib.h>

#include "rows.h"

#define CHECK(condition) if (!(condition)) exit(__LINE__)
enum { INNER = 24, COLUMNS = 40, MOST = 5 };

/* Rows at an address that is no multiple of 64. */
static float x[1 + MOST * INNER], y[1 + MOST * COLUMNS], few[1 + 2 * COLUMNS];

static int reshape(rows_context *net, int64_t rows) {
  const int64_t shape[] = {rows, INNER}, *const shapes[] = {shape};
  return rows_reshape(net, shapes);
}

int main(void) {
  const tilewright_model *model = rows_model();
  const int64_t *const none[] = {NULL};
  rows_context *net;
  CHECK(model->inputs[0].shape[0] == 2 && model->next != NULL && model->next->next == NULL);
  CHECK(model->next->inputs[0].shape[0] == MOST && model->next->inputs[0].shape[1] == INNER);
  CHECK(model->next->outputs[0].bytes == MOST * COLUMNS * 4);
  CHECK(model->scratch_bytes == model->next->scratch_bytes);
  for (int i = 0; i < 1 + MOST * INNER; i++) x[i] = (float)(i % 17) / 8 - 1;
  CHECK(rows_create(&net, 1) == TILEWRIGHT_OK);
  CHECK(rows_call(net, x + 1, few + 1) == TILEWRIGHT_OK);
  CHECK(reshape(net, MOST) == TILEWRIGHT_OK);
  CHECK(rows_call(net, x + 1, y + 1) == TILEWRIGHT_OK);
  for (int i = 1; i <= 2 * COLUMNS; i++) CHECK(fabsf(y[i] - few[i]) < 1e-4f);
  CHECK(y[5 * COLUMNS] >= 0 && y[1] + y[2 * COLUMNS] + y[5 * COLUMNS] > 0);
  CHECK(reshape(net, 3) == TILEWRIGHT_WRONG_SHAPE);
  CHECK(rows_reshape(net, none) == TILEWRIGHT_BAD_ARGUMENT);
  CHECK(rows_reshape(NULL, none) == TILEWRIGHT_BAD_ARGUMENT);
  y[5 * COLUMNS] = -1;
  CHECK(rows_call(net, x + 1, y + 1) == TILEWRIGHT_OK && y[5 * COLUMNS] >= 0);
  CHECK(reshape(net, 2) == TILEWRIGHT_OK);
  y[2 * COLUMNS + 1] = -1;
  CHECK(rows_call(net, x + 1, y + 1) == TILEWRIGHT_OK && y[2 * COLUMNS + 1] == -1);
  rows_destroy(net);
  return 0;
}
