/* Which way a loop goes through its steps. Prints whether turns are backward ones, then the
   iterations of a forward and of a backward turn, in the order in which one thread takes them. */

#include "pool.c"

#include <stdio.h>

static void step(void *context, int64_t begin, int64_t end, int64_t member) {
  (void)context;
  (void)member;
  printf("%d-%d ", (int)begin, (int)end);
}

static void turn(struct tw_loop *loop, const void *data, int64_t begin_ns, int64_t end_ns) {
  loop->data = data;
  const int backwards = is_backwards(loop, begin_ns);
  printf("%d ", backwards);
  note_end(loop, backwards, end_ns);
}

int main(void) {
  static const char one, other;
  static struct region region;
  struct tw_loop loop = {1000, 0, NULL, NULL};
  turn(&loop, &one, 0, 1000);
  turn(&loop, &one, 1100, 2000);   /* the same constant again at once */
  turn(&loop, &one, 2100, 3000);   /* after a backward turn */
  turn(&loop, &other, 3100, 4000); /* another constant */
  turn(&loop, &other, 4100, 5000);
  turn(&loop, &other, 5100, 6000);
  turn(&loop, &other, 6250, 7000); /* a quarter of its time later */
  turn(&loop, NULL, 7100, 8000);   /* nothing large */
  turn(&loop, NULL, 8100, 9000);
  printf("%d\n", is_backwards(NULL, 0));
  for (int backwards = 0; backwards < 2; backwards++) {
    publish(&region, step, NULL, 10, 3, 1, backwards, 0);
    take_steps(&region, region.epoch, 1, 0, NULL);
    puts("");
  }
  return 0;
}
