/* All that the interpreter's process needs, as one unit. */

#include "pool.c"
#include "call.c"
#include "bench.c"
#include "select.c"
