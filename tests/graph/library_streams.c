/* What a C program may rely on in a library of a network with a state; exits with the number of the
   line that fails.

   The network (test_streams.py): x [1, seq, 8] -> y, of all rows so far. The file "steps" has how
   many there are, then of each the rows as float, x and y. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

#define CHECK(condition) if (!(condition)) exit(__LINE__)
enum { WIDTH = 8, LONGEST = 4, MOST = 20 };

static float x[LONGEST * WIDTH + 1], y[LONGEST * WIDTH + 1], wanted[LONGEST * WIDTH];

static float next(FILE *file) {
  float value;
  CHECK(fread(&value, sizeof value, 1, file) == 1);
  return value;
}

static int run(net_context *net, int64_t rows) {
  const int64_t shape[] = {1, rows, WIDTH};
  const int64_t *const shapes[] = {shape};
  const int fits = net_length(net) <= MOST ? TILEWRIGHT_OK : TILEWRIGHT_FULL;
  CHECK(net_reshape(net, shapes) == fits);
  return net_call(net, x + 1, y + 1);
}

int main(void) {
  net_context *net, *other;
  CHECK(net_model()->input_count == 1 && net_model()->output_count == 1);
  CHECK(net_create(&net, 0) == TILEWRIGHT_OK && net_create(&other, 1) == TILEWRIGHT_OK);
  CHECK(net_length(net) == 0 && net_rewind(net, 1) == TILEWRIGHT_BAD_ARGUMENT);
  for (int turn = 0; turn < 2; turn++) {
    FILE *file = fopen("steps", "rb");
    CHECK(file != NULL);
    int64_t steps = (int64_t)next(file), rows = 0;
    while (steps-- > 0) {
      const int64_t length = net_length(net);
      rows = (int64_t)next(file);
      for (int i = 0; i < rows * WIDTH; i++) x[1 + i] = next(file);
      for (int i = 0; i < rows * WIDTH; i++) wanted[i] = next(file);
      for (int again = 0; again < 2; again++) {
        CHECK(run(net, rows) == TILEWRIGHT_OK && net_length(net) == length + rows);
        for (int i = 0; i < rows * WIDTH; i++) CHECK(fabsf(y[1 + i] - wanted[i]) < 1e-3f);
        if (again == 0) CHECK(net_rewind(net, rows) == TILEWRIGHT_OK);
        if (again == 0 && length <= MOST) CHECK(run(other, 1) <= TILEWRIGHT_FULL);
      }
    }
    fclose(file);
    CHECK(run(net, rows) == TILEWRIGHT_FULL && net_length(net) > MOST);
    CHECK(net_rewind(net, net_length(net)) == TILEWRIGHT_OK && net_length(net) == 0);
  }
  net_destroy(net);
  net_destroy(other);
  return 0;
}
