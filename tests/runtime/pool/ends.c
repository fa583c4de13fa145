/* The process ends inside a parallel region: by `exit` of the thread that called or of one that
   helps, or in a child that a step of the caller forks. Exit status 7 is right. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.c"

static const char *where;
static int forked; /* only the caller's thread has somewhere to return to in a child */

static void step(void *context, int64_t begin, int64_t end, int64_t member) {
  (void)context, (void)end;
  usleep(2000);
  if (strcmp(where, "caller") == 0 && member == 0) exit(7);
  if (strcmp(where, "worker") == 0 && member != 0) exit(7);
  if (strcmp(where, "fork") == 0 && begin >= 5 && member == 0 && !forked) {
    forked = 1;
    const pid_t child = fork();
    if (child == 0) return; /* and does what the region still has, alone */
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  where = argv[1];
  const pid_t parent = getpid();
  for (int i = 0; i < 50; i++) {
    tw_parallel(step, NULL, 40, 1, 4, NULL);
    if (getpid() != parent) return 9;
    if (forked) return 7;
  }
  return 1;
}
