/* What a C program may rely on in a library whose results are as large as data say; exits with the
   number of the line that fails.

   Arguments: a file of images, and how many boxes there are in each (test_selections.py). */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detector.h"

#define CHECK(condition) if (!(condition)) exit(__LINE__)
enum { PIXELS = 3 * 32 * 32, MOST = 60 };

/* Outputs begin at an address that is no multiple of 64, and have room for the most. */
static float image[PIXELS], boxes[MOST * 4 + 2], best[MOST + 2];
static int64_t where[MOST * 2 + 2];

int main(int count, char **arguments) {
  const tilewright_model *model = detector_model();
  CHECK(model->outputs[0].least[0] == 0 && model->outputs[0].most[0] == MOST);
  detector_context *net;
  CHECK(detector_create(&net, 1) == TILEWRIGHT_OK);
  int64_t shape[2];
  CHECK(detector_output_shape(net, 0, shape) == TILEWRIGHT_OK);
  CHECK(shape[0] == MOST && shape[1] == 4);
  FILE *file = fopen(arguments[1], "rb");
  CHECK(file != NULL);
  for (int i = 2; i < count; i++) {
    const int64_t wanted = atoi(arguments[i]);
    CHECK(fread(image, sizeof image, 1, file) == 1);
    memset(boxes, 0x55, sizeof boxes);
    const float behind = boxes[0];
    CHECK(detector_call(net, image, boxes + 1, where + 1, best + 1) == TILEWRIGHT_OK);
    for (int output = 0; output < 3; output++) {
      CHECK(detector_output_shape(net, output, shape) == TILEWRIGHT_OK);
      CHECK(shape[0] == wanted);
    }
    CHECK(boxes[0] == behind && boxes[1 + wanted * 4] == behind);
    CHECK(detector_call(net, image, NULL, where + 1, best + 1) == TILEWRIGHT_BAD_ARGUMENT);
  }
  fclose(file);
  detector_destroy(net);
  return 0;
}
