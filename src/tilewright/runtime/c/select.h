/* Library functions whose results are as large as data say; see select.c. */

#ifndef TILEWRIGHT_SELECT_H
#define TILEWRIGHT_SELECT_H

#include <stdint.h>

/* Read and write the arrays `buffers`, and answer how many there are of what was looked for.
   `numbers` has for each array its rank, its extents, its strides in elements; then what a function
   says. The last stride is 1. `scratch` is as large as network/selections.py says. */
typedef int64_t tw_select(void *const *buffers, const int64_t *numbers, void *scratch);

tw_select tw_nonzero, tw_suppress, tw_unique, tw_top_k, tw_scatter, tw_number;

#endif
