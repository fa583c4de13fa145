/* Timed calls of compiled code.

   Every call is timed by itself with CLOCK_MONOTONIC (about 25 ns of it are the clock's). Before
   each, `readers` threads (0: none) read the `regions` in turn, their pages dealt out among them.
   It stops after `count` calls or once `budget_ns` have passed, those reads included; it returns
   the calls it made. */

#include "call.h"
#include "clock.h"
#include "float_mode.h"
#include "pool.h"

enum { PAGE = 4096, CACHE_LINE = 64 };

static int64_t pages(int64_t bytes) { return (bytes + PAGE - 1) / PAGE; }

/* Read pages begin..end-1 of all regions, counted through. */
static void read_pages(void *context, int64_t begin, int64_t end, int64_t member) {
  (void)member;
  int64_t first = 0; /* page of the region */
  for (const struct tw_bytes *region = context; region->bytes > 0; region++) {
    const int64_t count = pages(region->bytes);
    int64_t page = begin > first ? begin - first : 0;
    for (; page < count && first + page < end; page++)
      for (int64_t at = page * PAGE; at < (page + 1) * PAGE && at < region->bytes; at += CACHE_LINE)
        (void)region->address[at];
    first += count;
  }
}

int64_t tw_bench(tw_entry *entry, void **buffers, void *params, void *scratch, int32_t threads,
                 const struct tw_bytes *regions, int32_t readers, int64_t count, int64_t budget_ns,
                 double *seconds) {
  struct tw_caller caller;
  int64_t all = 0, calls = 0, after;
  for (const struct tw_bytes *region = regions; region->bytes > 0; region++)
    all += pages(region->bytes);
  tw_enter(&caller, threads);
  const uint64_t mode = tw_float_mode();
  tw_set_float_mode(mode | TW_FLUSH);
  const int64_t begin = tw_clock_ns();
  do {
    if (readers > 0 && all > 0) {
      caller.threads = readers;
      tw_parallel(read_pages, (void *)regions, all, (all + readers - 1) / readers, readers, NULL);
      caller.threads = threads;
    }
    const int64_t before = tw_clock_ns();
    entry(buffers, params, scratch);
    after = tw_clock_ns();
    seconds[calls++] = (double)(after - before) * 1e-9;
  } while (calls < count && after - begin < budget_ns);
  tw_set_float_mode(mode);
  tw_leave(&caller);
  return calls;
}
