/* The ways that loops go, span by span, where they take what the arguments say.

     worth SPANS TOGETHER ALONE [SPANS TOGETHER ALONE ...]     per mille of their time alone

   Prints a digit a span: 0 together, 1 alone. */

#include <stdio.h>
#include <stdlib.h>

#include "worth.h"

int main(int argc, char **argv) {
  struct worth worth = {0};
  for (int at = 1; at + 2 < argc; at += 3)
    for (int span = 0; span < atoi(argv[at]); span++) {
      const int32_t way = tw_way(&worth);
      putchar('0' + way);
      for (int half = 0; half < 2; half++)
        tw_weigh(&worth, SPAN_NS / 2, (int64_t)SPAN_NS / 2 * 1000 / atoi(argv[at + 1 + way]));
    }
  putchar('\n');
  return 0;
}
