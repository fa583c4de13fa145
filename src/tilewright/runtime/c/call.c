/* Calls of compiled code: `tw_call` runs an entry point, `tw_bench` times it.

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
