/* See pool.h.

   A caller publishes its loop as a *region*: what to do, and for each member a share of the steps,
   contiguous for the caches' sake. Members take steps of their own share, then of the others'. The
   region is over when all steps are done.

   Nobody is waited for who has not taken a step, so a thread may come to a region late, even when
   the next one has begun in the same memory. Therefore every counter of a region carries the
   region's number (`epoch`): a step is taken by one compare-and-swap that fails for any other
   number, and what the region is about is read after it has succeeded. From then until the step is
   counted as done, the region cannot end.

   Threads wait actively for as long as it takes to wake one up, then they sleep. A caller wakes
   them if its loop takes longer than that, or if several within a short time do together. Sleeping
   matters on a busy machine: a thread that waits actively keeps the core that another thread
   needs, one that stands between two of its steps. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "float_mode.h"
#include "worth.h"

#ifndef TW_TEST_PAUSE /* a test's places to stop a thread for a while */
#define TW_TEST_PAUSE(where)
#endif

enum {
  LINE = 128,    /* bytes: two cache lines, which processors fetch in pairs */
  THREADS = 256, /* of one region, at most */
  REGIONS = 16,  /* at a time; further callers work alone */
  SLEEPER = 1 << 30, /* flag in `done`: the caller sleeps */
  SPIN_NS = 100000,  /* a worker waits actively so long, for the next loop of a network */
  WAIT_NS = 30000,   /* and a caller for the others' last steps */
  CLOSE = 4,         /* a quarter of a loop's time between two turns */
  LOOKS = 16         /* of an active wait, between two looks at the clock */
};

struct steps {
  _Alignas(LINE) _Atomic uint64_t left; /* epoch << 32 | steps that nobody has taken */
};

struct region {
  _Alignas(LINE) _Atomic uint64_t members; /* epoch << 32 | shares << 16 | members so far */
  tw_work *work;
  void *context;
  int64_t total, step;
  uint32_t steps;
  int32_t backwards; /* the last step of a share comes first */
  _Atomic int64_t published_ns;
  _Atomic int32_t cpu; /* where its caller runs */
  _Alignas(LINE) _Atomic uint32_t done; /* steps, and SLEEPER */
  _Alignas(LINE) _Atomic uint32_t owned; /* by a caller */
  uint32_t epoch;
  struct steps shares[THREADS];
};

/* In memory that a child process finds empty: threads are not inherited. */
struct pool {
  _Atomic int32_t state; /* 0: nothing is set up, 1: somebody is at it, 2: ready */
  int32_t cores;         /* that this process may use */
  cpu_set_t cpus;        /* where its threads may run */
  pid_t process;
  _Atomic int32_t workers, most_workers, starting;
  _Atomic int32_t regions; /* how many of them were ever used */
  _Atomic int64_t hand_ns, wake_ns; /* from publishing to an active, a sleeping worker's first step */
  _Atomic int64_t debt_ns, alone_ns; /* work done alone while workers slept; when it ended */
  _Alignas(LINE) _Atomic int32_t calls; /* in progress */
  _Alignas(LINE) _Atomic int32_t working; /* workers in a region */
  _Alignas(LINE) _Atomic int32_t sleepers;
  _Alignas(LINE) _Atomic uint32_t signal; /* that sleepers wait for */
  _Atomic int32_t waker_cpu;
  _Alignas(LINE) struct worth worth; /* of sharing loops, to who calls alone */
  struct region region[REGIONS];
};

static _Atomic(struct pool *) the_pool;
static pthread_key_t key;
static _Atomic int32_t cores_limit;
static int inherited; /* whether the system leaves the pool's memory to child processes */

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void futex_wait(_Atomic uint32_t *at, uint32_t value) {
  syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *at, int32_t count) {
  syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* ---- setting up ---------------------------------------------------------------------------- */

void tw_limit_cores(int32_t cores) { atomic_store(&cores_limit, cores); }

static int32_t usable_cores(cpu_set_t *cpus) {
  CPU_ZERO(cpus);
  int32_t cores = sched_getaffinity(0, sizeof *cpus, cpus) == 0 ? CPU_COUNT(cpus) : THREADS;
  const int32_t limit = atomic_load(&cores_limit);
  if (limit > 0 && limit < cores) cores = limit;
#ifdef TW_TEST_CORES
  cores = TW_TEST_CORES;
#endif
  return cores < THREADS ? cores : THREADS;
}

static struct pool *new_pool(void) {
  struct pool *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return NULL;
  const int keeps = madvise(made, sizeof *made, MADV_WIPEONFORK) != 0;
  pthread_key_t made_key;
  struct pool *first = NULL;
  if (pthread_key_create(&made_key, NULL) != 0) {
    munmap(made, sizeof *made);
    return NULL;
  }
  static _Atomic int32_t claimed;
  if (atomic_exchange(&claimed, 1) == 0) {
    key = made_key;
    inherited = keeps;
    atomic_store(&the_pool, made);
    return made;
  }
  pthread_key_delete(made_key);
  munmap(made, sizeof *made);
  while ((first = atomic_load(&the_pool)) == NULL) relax();
  return first;
}

/* The pool, ready for use; NULL where there is none (yet). */
static struct pool *ready_pool(void) {
  struct pool *pool = atomic_load_explicit(&the_pool, memory_order_acquire);
  if (pool == NULL && (pool = new_pool()) == NULL) return NULL;
  if (inherited && pool->process != 0 && pool->process != getpid()) memset(pool, 0, sizeof *pool);
  if (atomic_load_explicit(&pool->state, memory_order_acquire) == 2) return pool;
  int32_t nothing = 0;
  if (!atomic_compare_exchange_strong(&pool->state, &nothing, 1)) return NULL;
  pool->cores = usable_cores(&pool->cpus);
  pool->process = getpid();
  atomic_store(&pool->most_workers, pool->cores - 1);
  atomic_store(&pool->hand_ns, 250);
  atomic_store(&pool->wake_ns, 30000);
  atomic_store(&pool->state, 2);
  return pool;
}

static void *worker(void *pool);

/* Let there be `wanted` workers, or as many as the system allows. */
static void start_workers(struct pool *pool, int32_t wanted) {
  if (atomic_exchange(&pool->starting, 1) != 0) return;
  sigset_t all, before;
  pthread_attr_t detached;
  sigfillset(&all); /* signals are for the program's own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  while (atomic_load(&pool->workers) < wanted)
    if (pthread_create(&thread, &detached, worker, pool) == 0)
      atomic_fetch_add(&pool->workers, 1);
    else
      atomic_store(&pool->most_workers, wanted = atomic_load(&pool->workers));
  pthread_attr_destroy(&detached);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  atomic_store(&pool->starting, 0);
}

/* ---- what a thread is doing ---------------------------------------------------------------- */

void tw_enter(struct tw_caller *caller, int32_t threads) {
  struct pool *pool = ready_pool();
  caller->threads = threads;
  caller->inside = 0;
  caller->outer = NULL;
  if (pool == NULL) return;
  caller->outer = pthread_getspecific(key);
  if (caller->outer != NULL) caller->inside = caller->outer->inside;
  pthread_setspecific(key, caller);
  if (caller->outer == NULL) atomic_fetch_add_explicit(&pool->calls, 1, memory_order_relaxed);
}

void tw_leave(struct tw_caller *caller) {
  struct pool *pool = atomic_load_explicit(&the_pool, memory_order_acquire);
  if (pool == NULL || pthread_getspecific(key) != caller) return;
  pthread_setspecific(key, caller->outer);
  if (caller->outer == NULL) atomic_fetch_sub_explicit(&pool->calls, 1, memory_order_relaxed);
}

/* ---- steps --------------------------------------------------------------------------------- */

static int64_t bound(const struct region *region, int64_t share, int64_t shares) {
  return (int64_t)((__int128)region->total * share / shares);
}

static uint32_t steps_between(int64_t begin, int64_t end, int64_t step) {
  return (uint32_t)((end - begin + step - 1) / step);
}

/* Cores that calls and workers take. */
static int32_t in_use(const struct pool *pool) {
  return atomic_load_explicit(&pool->calls, memory_order_relaxed) +
         atomic_load_explicit(&pool->working, memory_order_relaxed);
}

/* Take steps of region number `epoch` until there are none; returns how many. A worker (`pool` is
   not NULL) leaves when a caller needs its core. */
static uint32_t take_steps(struct region *region, uint32_t epoch, uint32_t shares, uint32_t member,
                           const struct pool *pool) {
  uint32_t taken = 0;
  for (uint32_t turn = 0; turn < shares; turn++) {
    const uint32_t whose = (member + turn) % shares;
    _Atomic uint64_t *left = &region->shares[whose].left;
    uint64_t seen = atomic_load_explicit(left, memory_order_acquire);
    int64_t begin = 0, end = -1;
    while (seen >> 32 == epoch && (uint32_t)seen != 0) {
      TW_TEST_PAUSE("take");
      if (!atomic_compare_exchange_weak_explicit(left, &seen, seen - 1, memory_order_acq_rel,
                                                 memory_order_acquire))
        continue;
      if (end < 0) {
        begin = bound(region, whose, shares);
        end = bound(region, whose + 1, shares);
      }
      const uint32_t steps = steps_between(begin, end, region->step);
      const uint32_t place = region->backwards ? (uint32_t)seen - 1 : steps - (uint32_t)seen;
      const int64_t low = begin + (int64_t)place * region->step;
      const int64_t high = low + region->step < end ? low + region->step : end;
      region->work(region->context, low, high, member);
      taken++;
      if (pool != NULL && in_use(pool) > pool->cores) return taken;
      seen = atomic_load_explicit(left, memory_order_acquire);
    }
  }
  return taken;
}

/* ---- workers ------------------------------------------------------------------------------- */

/* A moving average. What takes eight times as long was waiting for a core, which says nothing of
   the hand-over itself. */
static void learn(_Atomic int64_t *average, int64_t found) {
  const int64_t before = atomic_load_explicit(average, memory_order_relaxed);
  if (found > 8 * before) return;
  const int64_t after = before + (found - before) / 8;
  atomic_store_explicit(average, after > 50 ? after : 50, memory_order_relaxed);
}

/* An average that keeps itself from being tested wears off. */
static void wear(_Atomic int64_t *average) {
  const int64_t before = atomic_load_explicit(average, memory_order_relaxed);
  atomic_store_explicit(average, before - before / 256, memory_order_relaxed);
}

/* Let this worker run anywhere but on CPU `cpu`, where a caller runs (-1: anywhere). Linux may wake
   a thread on its waker's CPU though another one is idle: on a virtual machine, an idle CPU counts
   as one that the host has taken away. It would take turns with the thread that it is to help. */
static void stay_off(const struct pool *pool, int32_t cpu) {
  cpu_set_t cpus = pool->cpus;
  if (cpu >= 0) CPU_CLR(cpu, &cpus);
  if (CPU_COUNT(&cpus) > 0) sched_setaffinity(0, sizeof cpus, &cpus);
}

static void wake(struct pool *pool, int32_t count) {
  atomic_store_explicit(&pool->waker_cpu, sched_getcpu(), memory_order_relaxed);
  atomic_fetch_add(&pool->signal, 1);
  futex_wake(&pool->signal, count);
}

/* Join `region` if it is open. `idle_ns`: see struct worker. */
static void join(struct pool *pool, struct region *region, int64_t idle_ns) {
  uint64_t seen = atomic_load_explicit(&region->members, memory_order_acquire);
  const uint32_t epoch = (uint32_t)(seen >> 32), shares = seen >> 16 & 0xffff;
  do {
    if (seen >> 32 != epoch || (seen & 0xffff) >= shares) return;
    TW_TEST_PAUSE("join");
  } while (!atomic_compare_exchange_weak_explicit(&region->members, &seen, seen + 1,
                                                  memory_order_acq_rel, memory_order_acquire));
  const uint32_t member = seen & 0xffff;
  const int64_t arrived_ns = tw_clock_ns();
  if (idle_ns < 0 && member + 1 < shares && atomic_load(&pool->sleepers) > 0) wake(pool, 2);
  const uint32_t taken = take_steps(region, epoch, shares, member, pool);
  if (taken == 0) return;
  const uint32_t all = region->steps;
  const int64_t waited = arrived_ns - atomic_load_explicit(&region->published_ns,
                                                           memory_order_relaxed);
  if (idle_ns < 0)
    learn(&pool->wake_ns, waited);
  else if (idle_ns < arrived_ns - waited)
    learn(&pool->hand_ns, waited);
  TW_TEST_PAUSE("done");
  const uint32_t before = atomic_fetch_add_explicit(&region->done, taken, memory_order_acq_rel);
  if (before & SLEEPER && (before & ~(uint32_t)SLEEPER) + taken == all)
    futex_wake(&region->done, 1);
}

/* Whether some region has steps for one more member: not those that this worker has left. */
static struct region *open_region(struct pool *pool, const uint64_t *seen) {
  if (in_use(pool) >= pool->cores) return NULL;
  const int32_t count = atomic_load_explicit(&pool->regions, memory_order_acquire);
  for (int32_t i = 0; i < count; i++) {
    const uint64_t members =
        atomic_load_explicit(&pool->region[i].members, memory_order_acquire);
    if (members >> 32 != seen[i] && (members & 0xffff) < (members >> 16 & 0xffff))
      return &pool->region[i];
  }
  return NULL;
}

/* What a worker knows. */
struct worker {
  struct pool *pool;
  uint64_t seen[REGIONS]; /* the number of the last region in that place that it was in */
  int64_t idle_ns;        /* since when it has waited; less than 0: it has slept meanwhile */
  int32_t caller_cpu;     /* where the last caller ran */
  int32_t bound;          /* whether it must not run there */
};

static void keep_off(struct worker *me) {
  stay_off(me->pool, me->caller_cpu);
  me->bound = 1;
}

static void work_in(struct worker *me, struct region *region) {
  struct pool *pool = me->pool;
  me->caller_cpu = atomic_load_explicit(&region->cpu, memory_order_relaxed);
  if (sched_getcpu() == me->caller_cpu) keep_off(me);
  me->seen[region - pool->region] = atomic_load(&region->members) >> 32;
  atomic_fetch_add_explicit(&pool->working, 1, memory_order_relaxed);
  join(pool, region, me->idle_ns);
  atomic_fetch_sub_explicit(&pool->working, 1, memory_order_relaxed);
  if (me->bound) stay_off(pool, -1);
  me->bound = 0;
  me->idle_ns = tw_clock_ns();
}

/* Sleep until a caller's signal. */
static void sleep_off(struct worker *me) {
  struct pool *pool = me->pool;
  const uint32_t signal = atomic_load(&pool->signal);
  keep_off(me);
  TW_TEST_PAUSE("sleep");
  atomic_fetch_add(&pool->sleepers, 1);
  if (open_region(pool, me->seen) == NULL) futex_wait(&pool->signal, signal);
  atomic_fetch_sub(&pool->sleepers, 1);
  me->caller_cpu = atomic_load_explicit(&pool->waker_cpu, memory_order_relaxed);
  if (sched_getcpu() == me->caller_cpu) keep_off(me);
  me->idle_ns = -1;
}

static void *worker(void *pool) {
  struct worker me = {.pool = pool, .idle_ns = -1, .caller_cpu = -1}; /* as if it had slept */
  struct tw_caller caller = {0, 1, NULL};
  pthread_setspecific(key, &caller);
  tw_flush_denormals();
  int64_t since = tw_clock_ns();
  for (uint32_t looks = 1;; looks++) {
    struct region *region = open_region(pool, me.seen);
    if (region != NULL) {
      work_in(&me, region);
      since = me.idle_ns;
      continue;
    }
    relax();
    if (looks % LOOKS != 0 || tw_clock_ns() - since < SPIN_NS) continue;
    sleep_off(&me);
    since = tw_clock_ns();
  }
  return NULL;
}

/* ---- callers ------------------------------------------------------------------------------- */

/* A loop's time on one thread. What disturbs a call makes it longer, hardly ever shorter. */
static void note_cost(struct tw_loop *loop, int64_t found) {
  if (loop == NULL || found <= 0) return;
  const int64_t before = __atomic_load_n(&loop->cost_ns, __ATOMIC_RELAXED);
  int64_t after = found;
  if (before > 0) after = before + (after - before) / (after < before ? 2 : 8);
  __atomic_store_n(&loop->cost_ns, after, __ATOMIC_RELAXED);
}

/* Whether this turn of a loop is to be a backward one: it goes through the same constant as the last
   one, which was a forward turn just before, as in the steps of a recurrent network. If that is more
   than a cache holds, its end is there still, and the turn begins with that. Read forwards each
   time, everything would have gone before it is read again. */
static int is_backwards(const struct tw_loop *loop, int64_t now_ns) {
  const void *data = loop == NULL ? NULL : __atomic_load_n(&loop->data, __ATOMIC_RELAXED);
  if (data == NULL || data != __atomic_load_n(&loop->last, __ATOMIC_RELAXED)) return 0;
  const int64_t ended = __atomic_load_n(&loop->ended_ns, __ATOMIC_RELAXED);
  const int64_t cost = __atomic_load_n(&loop->cost_ns, __ATOMIC_RELAXED);
  return ended > 0 && now_ns - ended < cost / CLOSE;
}

static void note_end(struct tw_loop *loop, int backwards, int64_t now_ns) {
  const void *data = __atomic_load_n(&loop->data, __ATOMIC_RELAXED);
  if (data == NULL) return;
  __atomic_store_n(&loop->last, data, __ATOMIC_RELAXED);
  __atomic_store_n(&loop->ended_ns, backwards ? -now_ns : now_ns, __ATOMIC_RELAXED);
}

/* Whether sleeping workers are to be woken: the loop, or what was done alone just before, takes
   longer than that. */
static int worth_waking(struct pool *pool, int64_t cost, int64_t now_ns) {
  const int64_t price = 2 * atomic_load_explicit(&pool->wake_ns, memory_order_relaxed);
  if (cost == 0 || cost > price) return 1;
  wear(&pool->wake_ns);
  const int64_t ended = atomic_load_explicit(&pool->alone_ns, memory_order_relaxed);
  int64_t debt = now_ns - ended > SPIN_NS
                     ? 0
                     : atomic_load_explicit(&pool->debt_ns, memory_order_relaxed);
  debt += cost;
  const int pays = debt > price;
  atomic_store_explicit(&pool->debt_ns, pays ? 0 : debt, memory_order_relaxed);
  atomic_store_explicit(&pool->alone_ns, now_ns + cost, memory_order_relaxed);
  return pays;
}

/* How many workers a loop of this cost is to have woken; less than 0: it is not worth sharing. */
static int32_t to_wake(struct pool *pool, int32_t threads, const struct tw_loop *loop, int64_t now_ns) {
  const int64_t cost = loop == NULL ? 0 : __atomic_load_n(&loop->cost_ns, __ATOMIC_RELAXED);
  const int64_t hand = atomic_load_explicit(&pool->hand_ns, memory_order_relaxed);
  if (atomic_load_explicit(&pool->calls, memory_order_relaxed) >= pool->cores) return -1;
  if (cost > 0 && cost < 4 * hand) {
    wear(&pool->hand_ns);
    return -1;
  }
  const int32_t most = atomic_load_explicit(&pool->most_workers, memory_order_relaxed);
  const int32_t wanted = threads - 1 < most ? threads - 1 : most;
  if (atomic_load_explicit(&pool->workers, memory_order_relaxed) < wanted)
    start_workers(pool, wanted);
  const int32_t sleepers = atomic_load_explicit(&pool->sleepers, memory_order_relaxed);
  const int32_t awake = atomic_load_explicit(&pool->workers, memory_order_relaxed) - sleepers;
  const int32_t lacking = wanted - awake;
  if (lacking > 0 && sleepers > 0 && worth_waking(pool, cost, now_ns)) return lacking < 2 ? 1 : 2;
  return awake > 0 ? 0 : -1;
}

static struct region *own_region(struct pool *pool) {
  for (int32_t i = 0; i < REGIONS; i++) {
    struct region *region = &pool->region[i];
    if (atomic_load_explicit(&region->owned, memory_order_relaxed) != 0) continue;
    if (atomic_exchange_explicit(&region->owned, 1, memory_order_acquire) != 0) continue;
    int32_t used = atomic_load(&pool->regions);
    while (used <= i && !atomic_compare_exchange_weak(&pool->regions, &used, i + 1)) continue;
    return region;
  }
  return NULL;
}

/* Open the region for `shares` members, this thread being the first. */
static void publish(struct region *region, tw_work *work, void *context, int64_t total,
                    int64_t step, uint32_t shares, int backwards, int64_t now_ns) {
  const uint32_t epoch = ++region->epoch == 0 ? ++region->epoch : region->epoch;
  const uint64_t number = (uint64_t)epoch << 32;
  region->work = work;
  region->context = context;
  region->total = total;
  region->step = step;
  region->steps = 0;
  region->backwards = backwards;
  atomic_store_explicit(&region->published_ns, now_ns, memory_order_relaxed);
  atomic_store_explicit(&region->cpu, sched_getcpu(), memory_order_relaxed);
  atomic_store_explicit(&region->done, 0, memory_order_relaxed);
  int64_t begin = 0;
  for (uint32_t i = 0; i < shares; i++) {
    const int64_t end = bound(region, i + 1, shares);
    const uint32_t steps = steps_between(begin, end, step);
    region->steps += steps;
    atomic_store_explicit(&region->shares[i].left, number | steps, memory_order_release);
    begin = end;
  }
  atomic_store_explicit(&region->members, number | shares << 16 | 1, memory_order_release);
}

/* Wait until all steps are done, of which `mine` by this thread. In the child of a fork inside the
   region nobody will do the rest, and its memory is empty. */
static void await(struct region *region, uint32_t epoch, uint32_t mine) {
  const uint32_t all = region->steps;
  if (mine == all) return;
  atomic_fetch_add_explicit(&region->done, mine, memory_order_acq_rel);
  int64_t since = 0;
  for (uint32_t looks = 1;; looks++) {
    uint32_t seen = atomic_load_explicit(&region->done, memory_order_acquire);
    if ((seen & ~(uint32_t)SLEEPER) == all) return;
    if (atomic_load_explicit(&region->members, memory_order_relaxed) >> 32 != epoch) return;
    relax();
    if (looks % LOOKS != 0) continue;
    const int64_t now = tw_clock_ns();
    if (since == 0) since = now;
    if (now - since < WAIT_NS) continue;
    if (seen & SLEEPER || atomic_compare_exchange_strong(&region->done, &seen, seen | SLEEPER))
      futex_wait(&region->done, seen | SLEEPER);
  }
}

static void alone(tw_work *work, void *context, int64_t total, struct tw_caller *me) {
  const int32_t inside = me->inside;
  me->inside = 1;
  work(context, 0, total, 0);
  me->inside = inside;
}

/* The loop in a region, for workers to join; returns the nanoseconds that it would take alone, 0
   if nothing tells. */
static int64_t together(struct pool *pool, struct region *region, int32_t woken, int64_t now_ns,
                        struct tw_caller *me) {
  const uint32_t epoch = region->epoch, steps = region->steps;
  const uint32_t shares = atomic_load_explicit(&region->members, memory_order_relaxed) >> 16 & 0xffff;
  if (woken > 0) {
    wake(pool, woken);
    now_ns = tw_clock_ns();
  }
  me->inside = 1;
  const uint32_t mine = take_steps(region, epoch, shares, 0, NULL);
  me->inside = 0;
  const int64_t cost = mine == 0 ? 0 : (tw_clock_ns() - now_ns) * steps / mine;
  await(region, epoch, mine);
  atomic_store_explicit(&region->owned, 0, memory_order_release);
  return cost;
}

static void share(struct pool *pool, tw_work *work, void *context, int64_t total, int64_t step,
                  int32_t threads, struct tw_caller *me, struct tw_loop *loop) {
  const int64_t now_ns = tw_clock_ns();
  const int32_t woken = to_wake(pool, threads, loop, now_ns);
  const int64_t known = loop == NULL ? 0 : __atomic_load_n(&loop->cost_ns, __ATOMIC_RELAXED);
  const int weighed = woken >= 0 && known > 0 &&
                      atomic_load_explicit(&pool->calls, memory_order_relaxed) == 1;
  const int apart = woken < 0 || (weighed && tw_way(&pool->worth) != 0);
  struct region *region = apart ? NULL : own_region(pool);
  int64_t cost;
  if (region == NULL) {
    alone(work, context, total, me);
    cost = tw_clock_ns() - now_ns;
  } else {
    const int backwards = is_backwards(loop, now_ns);
    publish(region, work, context, total, step, (uint32_t)threads, backwards, now_ns);
    cost = together(pool, region, woken, now_ns, me);
    if (loop != NULL) note_end(loop, backwards, tw_clock_ns());
  }
  if (weighed) tw_weigh(&pool->worth, tw_clock_ns() - now_ns, known);
  note_cost(loop, cost);
}

void tw_parallel(tw_work *work, void *context, int64_t total, int64_t step, int32_t threads,
                 struct tw_loop *loop) {
  struct tw_caller unknown = {THREADS, 0, NULL}, *me = NULL;
  struct pool *pool = ready_pool();
  if (pool != NULL && (me = pthread_getspecific(key)) == NULL) pthread_setspecific(key, &unknown);
  const int known = me != NULL;
  if (!known) me = &unknown;
  const int64_t steps = (total + step - 1) / step;
  if (threads > me->threads) threads = me->threads;
  if (threads > steps) threads = (int32_t)steps;
  if (pool != NULL && threads > pool->cores) threads = pool->cores;
  if (pool == NULL || threads <= 1 || me->inside)
    alone(work, context, total, me);
  else
    share(pool, work, context, total, step, threads, me, loop);
  if (pool != NULL && !known) pthread_setspecific(key, NULL);
}
