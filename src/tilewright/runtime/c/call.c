/* Calls of compiled code: `tw_call` runs an entry point, `tw_bench` times it; `tw_find_sizes` is
   what comes before a call with sizes, `tw_write_shapes` what comes after one that computes some.

   A kernel names the threads it was compiled for, which are the most it can use (its scratch
   memory has a part for each). `threads` may be fewer. */

#include "call.h"

#include "float_mode.h"
#include "pool.h"

void tw_call(tw_entry *entry, void **buffers, void *params, void *scratch, int32_t threads) {
  struct tw_caller caller;
  tw_enter(&caller, threads);
  const uint64_t mode = tw_float_mode();
  tw_set_float_mode(mode | TW_FLUSH);
  entry(buffers, params, scratch);
  tw_set_float_mode(mode);
  tw_leave(&caller);
}

void tw_write_shapes(const struct tw_sizes *sizes, const int64_t *values, int64_t *const *shapes) {
  for (int64_t i = 0; i < sizes->extent_count; i++) {
    const struct tw_extent *extent = &sizes->extents[i];
    shapes[extent->argument][extent->dimension] = values[extent->value];
  }
}

int64_t tw_find_sizes(const struct tw_sizes *sizes, const int64_t *const *given, int64_t *values,
                      int64_t *const *shapes) {
  for (int64_t i = 0; i < sizes->size_count; i++) {
    const struct tw_size *size = &sizes->sizes[i];
    const int64_t extent = size->input < 0 ? size->most : given[size->input][size->dimension];
    values[i] = extent / size->step;
    if (extent % size->step || values[i] < size->least || values[i] > size->most) {
      values[i] = extent;
      return i + 1;
    }
  }
  sizes->derive(values);
  tw_write_shapes(sizes, values, shapes);
  return 0;
}
