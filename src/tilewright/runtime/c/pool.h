/* A pool of threads that take the steps of parallel loops, shared by all that runs in a process.

   The C files of this folder are compiled twice: into LLVM IR, which is kept beside them and which
   `runtime/native.py` loads into the interpreter, and by the user's C compiler into saved
   libraries. */

#ifndef TILEWRIGHT_POOL_H
#define TILEWRIGHT_POOL_H

#include <stdint.h>

/* Iterations begin..end-1 of a parallel loop, by the thread that joined it as number `member`
   (the caller is 0), which has the scratch memory of that number to itself. */
typedef void tw_work(void *context, int64_t begin, int64_t end, int64_t member);

/* What is kept of a parallel loop from one run to the next; zeros at first. */
struct tw_loop {
  int64_t cost_ns;  /* its time on one thread */
  int64_t ended_ns; /* when it ended last; less than 0: that turn was a backward one */
  const void *data; /* a large constant that it goes through; who runs it says so; or NULL */
  const void *last; /* that of its last turn */
};

/* Run iterations 0..total-1, `step` at a time, on at most `threads` threads, this one among them.

   Returns when all steps are done. A thread that has taken none is not waited for: what nobody
   else takes, the caller does. `loop` belongs to this loop. One that is not worth the hand-over, one inside another, and any beside as many callers as there are cores, runs on the
   calling thread alone. NULL asks for the other threads whatever it costs. */
typedef void tw_parallel_fn(tw_work *work, void *context, int64_t total, int64_t step,
                            int32_t threads, struct tw_loop *loop);
tw_parallel_fn tw_parallel;

/* What a thread is doing: the most threads that its loops may use, and whether it is in one. */
struct tw_caller {
  int32_t threads;
  int32_t inside;
  struct tw_caller *outer;
};

/* A call of compiled code begins and ends on this thread. `caller` lives until its end. */
void tw_enter(struct tw_caller *caller, int32_t threads);
void tw_leave(struct tw_caller *caller);

/* The most cores that this process may use, for what the system's scheduler does not tell (a
   container's quota). Counts from the first parallel loop on; 0: as many as it may run on. */
void tw_limit_cores(int32_t cores);

#endif
