/* Calls of compiled code; see call.c and bench.c. */

#ifndef TILEWRIGHT_CALL_H
#define TILEWRIGHT_CALL_H

#include <stdint.h>

/* The native interface of kernels and networks. */
typedef void tw_entry(void **buffers, void *params, void *scratch);

void tw_call(tw_entry *entry, void **buffers, void *params, void *scratch, int32_t threads);

/* A size of a network's calls: an int64 in a range; extent `dimension` of input number `input` is
   `step` times it; below 0: the run itself computes it, and it is `most` until then. */
struct tw_size {
  int64_t least, most, input, dimension, step;
};

/* Extent `dimension` of argument number `argument` (inputs, then outputs) is value `value`. */
struct tw_extent {
  int64_t argument, dimension, value;
};

/* `derive` computes, from the sizes, the values behind them. */
struct tw_sizes {
  void (*derive)(int64_t *values);
  int64_t size_count, extent_count;
  const struct tw_size *sizes;
  const struct tw_extent *extents;
};

/* Find the sizes in the shapes `given` of the inputs, write all values, and what they make of the
   shapes of inputs and outputs to `shapes`. Answers 0, or the number, from 1 on, of a size out of
   its range, or whose extent is no multiple of its step: its value is the extent then, and nothing
   is written to `shapes`. */
int64_t tw_find_sizes(const struct tw_sizes *sizes, const int64_t *const *given, int64_t *values,
                      int64_t *const *shapes);

/* What the values make of the shapes of inputs and outputs. */
void tw_write_shapes(const struct tw_sizes *sizes, const int64_t *values, int64_t *const *shapes);

/* Bytes that are read between timed calls; an empty region is the last. */
struct tw_bytes {
  const volatile unsigned char *address;
  int64_t bytes;
};

int64_t tw_bench(tw_entry *entry, void **buffers, void *params, void *scratch, int32_t threads,
                 const struct tw_bytes *regions, int32_t readers, int64_t count, int64_t budget_ns,
                 double *seconds);

#endif
