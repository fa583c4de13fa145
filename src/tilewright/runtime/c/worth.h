/* Whether a caller that shares its loops is done sooner than by itself.

   Beside another program a worker may be stopped between two of its steps for as long as that
   program's turn lasts, which is longer than most loops, and its caller waits. On few cores that
   can cost more than the worker's help gains. Nothing tells it but the time: what loops take is
   weighed, in spans of some milliseconds, against what they take alone and undisturbed. Sharing is
   not doubted while it gains what it should; otherwise a span of the other way is tried now and
   then, the more seldom the longer it does not change anything, and the better way is kept. */

#ifndef TILEWRIGHT_WORTH_H
#define TILEWRIGHT_WORTH_H

#include <stdatomic.h>
#include <stdint.h>

enum {
  SPAN_NS = 20000000,
  PAYS = 850, /* per mille of a loop's time alone; sharing that takes less is not doubted */
  SOON = 2,   /* spans until the other way is tried: at first, and at last */
  SELDOM = 64
};

/* Zeros at first. A way is 0: together, 1: alone. */
struct worth {
  _Atomic int64_t took_ns, cost_ns; /* of this span's loops, and what these take alone */
  _Atomic int32_t ratio[2];         /* the one per mille of the other, by the way; 0: not known */
  _Atomic int32_t usual, way;       /* the better one, and this span's */
  _Atomic int32_t gap, left;        /* spans between two tries, and until the next one */
};

static inline int32_t tw_way(const struct worth *worth) {
  return atomic_load_explicit(&worth->way, memory_order_relaxed);
}

/* A span of the usual way has ended: which way the next one goes. */
static inline int32_t tw_next_way(struct worth *worth, int32_t usual) {
  if (usual == 0 && atomic_load_explicit(&worth->ratio[0], memory_order_relaxed) < PAYS) {
    atomic_store_explicit(&worth->gap, 0, memory_order_relaxed);
    atomic_store_explicit(&worth->left, SOON, memory_order_relaxed);
    return usual;
  }
  return atomic_fetch_sub_explicit(&worth->left, 1, memory_order_relaxed) <= 1 ? !usual : usual;
}

/* The span of a try has ended: what is usual from now on. */
static inline int32_t tw_tried(struct worth *worth, int32_t usual) {
  const int32_t now = atomic_load_explicit(&worth->ratio[usual], memory_order_relaxed);
  const int32_t tried = atomic_load_explicit(&worth->ratio[!usual], memory_order_relaxed);
  const int32_t gap = atomic_load_explicit(&worth->gap, memory_order_relaxed);
  const int32_t longer = 2 * gap + SOON < SELDOM ? 2 * gap + SOON : SELDOM;
  const int32_t next = tried < now ? SOON : longer;
  atomic_store_explicit(&worth->gap, next, memory_order_relaxed);
  atomic_store_explicit(&worth->left, next, memory_order_relaxed);
  return tried < now ? !usual : usual;
}

/* A loop that takes `cost_ns` alone took `took_ns`. Callers at once may lose a span, no more. */
static inline void tw_weigh(struct worth *worth, int64_t took_ns, int64_t cost_ns) {
  atomic_fetch_add_explicit(&worth->cost_ns, cost_ns, memory_order_relaxed);
  int64_t took = atomic_fetch_add_explicit(&worth->took_ns, took_ns, memory_order_relaxed) + took_ns;
  if (took < SPAN_NS) return;
  if (!atomic_compare_exchange_strong(&worth->took_ns, &took, 0)) return;
  const int64_t cost = atomic_exchange_explicit(&worth->cost_ns, 0, memory_order_relaxed);
  const int32_t way = tw_way(worth);
  const int32_t usual = atomic_load_explicit(&worth->usual, memory_order_relaxed);
  const int32_t before = atomic_load_explicit(&worth->ratio[way], memory_order_relaxed);
  const int32_t found = (int32_t)(took * 1000 / (cost > 0 ? cost : took));
  atomic_store_explicit(&worth->ratio[way], before == 0 ? found : (before + found) / 2,
                        memory_order_relaxed);
  const int32_t next = way == usual ? tw_next_way(worth, usual) : tw_tried(worth, usual);
  if (way != usual) atomic_store_explicit(&worth->usual, next, memory_order_relaxed);
  atomic_store_explicit(&worth->way, next, memory_order_relaxed);
}

#endif
