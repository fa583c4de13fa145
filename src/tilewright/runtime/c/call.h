/* Calls of compiled code; see call.c and bench.c. */

#ifndef TILEWRIGHT_CALL_H
#define TILEWRIGHT_CALL_H

#include <stdint.h>

/* The native interface of kernels and networks. */
typedef void tw_entry(void **buffers, void *params, void *scratch);

void tw_call(tw_entry *entry, void **buffers, void *params, void *scratch, int32_t threads);

/* Bytes that are read between timed calls; an empty region is the last. */
struct tw_bytes {
  const volatile unsigned char *address;
  int64_t bytes;
};

int64_t tw_bench(tw_entry *entry, void **buffers, void *params, void *scratch, int32_t threads,
                 const struct tw_bytes *regions, int32_t readers, int64_t count, int64_t budget_ns,
                 double *seconds);

#endif
