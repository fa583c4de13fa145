/* Regions of random sizes from several threads at once, with threads stopped at random places.

     stress THREADS REGIONS SEED

   Every iteration of every region must be run once, with a member's number that no other thread
   has at the same time; prints "ok REGIONS" or what was wrong. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void test_pause(const char *where);
#define TW_TEST_PAUSE(where) test_pause(where)
#include "pool.c"

enum { MOST = 3000, MEMBERS = 256 };

static __thread uint64_t state;
static long regions;
static _Atomic long wrong, helped;

static uint64_t chance(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void test_pause(const char *where) {
  (void)where;
  if (state == 0) state = (uint64_t)(uintptr_t)&state | 1;
  const uint64_t drawn = chance() % 4096;
  if (drawn == 0) usleep(chance() % 300);
  if (drawn < 4) sched_yield();
}

struct job {
  _Atomic uint8_t done[MOST];
  _Atomic uint8_t inside[MEMBERS];
  int64_t nested;
};

static void nested_step(void *context, int64_t begin, int64_t end, int64_t member) {
  if (member != 0) atomic_fetch_add(&wrong, 1);
  *(int64_t *)context += end - begin;
}

static void step(void *context, int64_t begin, int64_t end, int64_t member) {
  struct job *job = context;
  if (atomic_exchange(&job->inside[member], 1) != 0) atomic_fetch_add(&wrong, 1);
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&job->done[i], 1);
  if (member != 0) atomic_fetch_add_explicit(&helped, 1, memory_order_relaxed);
  if (begin == 0 && job->nested) {
    int64_t count = 0;
    struct tw_loop loop = {0};
    tw_parallel(nested_step, &count, 100, 1, 4, &loop);
    if (count != 100) atomic_fetch_add(&wrong, 1);
  }
  for (volatile int spin = (int)(chance() % 200); spin > 0; spin--) continue;
  atomic_store(&job->inside[member], 0);
}

static void *caller(void *seed) {
  state = (uint64_t)(uintptr_t)seed * 0x9E3779B97F4A7C15u | 1;
  struct job *job = calloc(1, sizeof *job);
  struct tw_loop loops[4] = {{0}};
  for (long n = 0; n < regions; n++) {
    struct tw_caller me;
    const int64_t total = 1 + (int64_t)(chance() % (chance() % 50 == 0 ? MOST : 40));
    const int64_t width = 1 + (int64_t)(chance() % 7);
    struct tw_loop *loop = chance() % 2 ? &loops[chance() % 4] : NULL;
    memset(job, 0, sizeof *job);
    job->nested = chance() % 8 == 0;
    const int named = chance() % 2;
    if (named) tw_enter(&me, 1 + (int32_t)(chance() % 8));
    tw_parallel(step, job, total, width, 1 + (int32_t)(chance() % 8), loop);
    if (named) tw_leave(&me);
    for (int64_t i = 0; i < MOST; i++)
      if (job->done[i] != (i < total)) {
        printf("region %ld: iteration %ld of %ld was run %d times\n", n, (long)i, (long)total,
               job->done[i]);
        atomic_fetch_add(&wrong, 1);
        break;
      }
    if (chance() % 1000 == 0) usleep(chance() % 1000);
  }
  free(job);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int threads = atoi(argv[1]);
  regions = atol(argv[2]);
  pthread_t started[64];
  for (int i = 0; i < threads; i++)
    pthread_create(&started[i], NULL, caller, (void *)(uintptr_t)(atol(argv[3]) * 64 + i + 1));
  for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
  if (atomic_load(&wrong) != 0) return printf("%ld wrong\n", (long)wrong), 1;
  if ((atomic_load(&helped) > 0) != (TW_TEST_CORES > 1)) return puts("who helped whom?"), 1;
  printf("ok %ld\n", regions * threads);
  return 0;
}
