/* The C interface of a saved network. Included by a generated file that has the model's header and

     TW(name)                 the name with the model's prefix
     NETWORKS                 how many there are, one for each set of input shapes of each kind of CPU
     SHAPES                   how many of them are for one kind of CPU
     ENTRIES(each)            each(entry, timed, derive) for all of them: the native entry points
                              (see tilewright/network/entry.py), and what computes what follows
                              from sizes, or NULL
     INPUTS, OUTPUTS          how many each of them has
     CONSTANTS                the most that one has
     INTERFACE                the number that stands for inputs and outputs
     FIRST_NETWORK            the first of those that this CPU has the instructions for, -1 if there
                              are none; an expression
     LACKING                  the message when there are none
     REFUSALS                 how many reasons there are for which a run may end early
     refusals                 these, as text
     COMPUTES                 whether runs find sizes
     EXTENTS, VALUES          the most that a network's arguments have, and its sizes make
     models, constant_counts, constant_offsets, first_refusals, status_offsets, sizes
                              tables, an entry a network
     item_bytes               a table, an entry an argument
     STATES                   how many inputs the only network keeps from one run to the next
     STATE_RANK               the most dimensions of one
     MOST_LENGTH              the most rows that these may have before a run
     GROWN                    which value of a call with sizes is how many they have after it
     states                   a table of them

   and the symbol tilewright_constants. */

#define tw_parallel tw_own_parallel /* the pool that the library brings along */
#include "pool.c"
#undef tw_parallel
#include "call.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define ALIGNMENT 64
#define ARGUMENTS (INPUTS + OUTPUTS)
#define GIVEN (INPUTS + STATES) /* of the native interface's inputs */

#define DECLARED(entry, timed, derive) extern tw_entry entry, timed;
ENTRIES(DECLARED)
extern const unsigned char tilewright_constants[];

/* What another loader needs. Code reads the weights' address here, for they may lie further away
   than an instruction can reach. */
#define LISTED(entry, timed, derive) {entry, timed, derive},
PUBLIC extern const struct code {
  const unsigned char *constants;
  struct {
    tw_entry *entry, *timed;
    void (*derive)(int64_t *values);
  } networks[NETWORKS];
} tilewright_code;
const struct code tilewright_code = {tilewright_constants, {ENTRIES(LISTED)}};

/* Loops run on the library's own threads, until a process that has some hands them over. */
static _Atomic(tw_parallel_fn *) parallel = tw_own_parallel;

void tw_parallel(tw_work *work, void *context, int64_t total, int64_t step, int32_t threads,
                 struct tw_loop *loop) {
  atomic_load_explicit(&parallel, memory_order_relaxed)(work, context, total, step, threads,
                                                        loop);
}

#if COMPUTES /* sizes that a run finds: */
#include "select.c"
#endif

PUBLIC void tilewright_share_threads(tw_parallel_fn *other) { atomic_store(&parallel, other); }

/* Cores that a container's quota pays for, 0 if there is none: two numbers, or "max" and one. */
static int32_t quota_cores(void) {
  long quota, period;
  int32_t cores = 0;
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
    cores = (int32_t)((quota + period - 1) / period);
  fclose(file);
  return cores;
}

struct TW(context) {
  int32_t threads;
  int first, network; /* the first of those for this CPU; which of them runs */
  void *staged[ARGUMENTS + 1]; /* aligned memory for arguments that are not; NULL until needed */
  void *buffers[GIVEN + CONSTANTS + OUTPUTS + 1];
  unsigned char *scratch;
  int64_t extents[EXTENTS + 1]; /* of all arguments, side by side */
  int64_t length; /* rows that states have */
};

PUBLIC const tilewright_model *TW(model)(void) {
  const int first = FIRST_NETWORK;
  return &models[first < 0 ? 0 : first];
}

PUBLIC const char *TW(message)(int status) {
  if (status >= TILEWRIGHT_REFUSED && status < TILEWRIGHT_REFUSED + REFUSALS)
    return refusals[status - TILEWRIGHT_REFUSED];
  switch (status) {
  case TILEWRIGHT_OK: return "success";
  case TILEWRIGHT_NO_MEMORY: return "not enough memory";
  case TILEWRIGHT_WRONG_CPU: return LACKING;
  case TILEWRIGHT_WRONG_HEADER:
    return "the program was compiled with the header of a library that has other inputs, outputs "
           "or another format: compile it again with the header beside this one";
  case TILEWRIGHT_BAD_ARGUMENT:
    return "a pointer is NULL, or there are more threads than the library can use";
  case TILEWRIGHT_WRONG_SHAPE: return "the library has no network for inputs of these shapes";
  case TILEWRIGHT_FULL: return "the state has no room for more rows: take some back";
  default: return "unknown status";
  }
}

static void *aligned_memory(int64_t bytes) {
  return aligned_alloc(ALIGNMENT, (size_t)(bytes / ALIGNMENT + 1) * ALIGNMENT);
}

static const tilewright_tensor *tensor(int number, int64_t i) {
  return i < INPUTS ? &models[number].inputs[i] : &models[number].outputs[i - INPUTS];
}

/* Let runs be of network `number` for inputs of these shapes, if it takes them. */
static int use(TW(context) *context, int number, const int64_t *const *shapes) {
  int64_t values[VALUES + 1], extents[EXTENTS + 1], *own[GIVEN + OUTPUTS + 1];
  int64_t lengths[STATES + 1][STATE_RANK + 1], found[STATES + 1][STATE_RANK + 1];
  const int64_t *given[GIVEN + 1];
  int64_t *end = extents;
  for (int i = 0; i < INPUTS; i++) given[i] = shapes[i];
  for (int i = 0; i < STATES; i++) {
    memcpy(lengths[i], states[i].shape, (size_t)states[i].rank * sizeof *lengths[i]);
    lengths[i][states[i].axis] = context->length;
    given[INPUTS + i] = lengths[i];
    own[INPUTS + i] = found[i];
  }
  for (int i = 0; i < ARGUMENTS; i++) {
    own[i < INPUTS ? i : i + STATES] = end;
    for (int64_t d = 0; d < tensor(number, i)->rank; d++) *end++ = tensor(number, i)->shape[d];
  }
  if (sizes[number].size_count && tw_find_sizes(&sizes[number], given, values, own)) return 0;
  for (int i = 0; i < INPUTS; i++)
    for (int64_t d = 0; d < tensor(number, i)->rank; d++)
      if (shapes[i][d] != own[i][d]) return 0;
  context->network = number;
  memcpy(context->extents, extents, sizeof extents);
  if (sizes[number].size_count) memcpy(context->scratch, values, sizeof values);
  for (int i = 0; i < constant_counts[number]; i++)
    context->buffers[GIVEN + i] =
        (void *)(tilewright_code.constants + constant_offsets[number][i]);
  return 1;
}

/* Write the extents that the values of the sizes make. */
static void write_extents(TW(context) *context) {
  int64_t *own[ARGUMENTS + 1], *end = context->extents;
  for (int i = 0; i < ARGUMENTS; i++) {
    own[i] = end;
    end += tensor(context->network, i)->rank;
  }
  tw_write_shapes(&sizes[context->network], (const int64_t *)context->scratch, own);
}

/* Let the sizes that a run finds be the most that they may be; whether there are any. */
static int expect_most(TW(context) *context) {
  const struct tw_sizes *all = &sizes[context->network];
  int64_t *values = (int64_t *)context->scratch;
  int found = 0;
  for (int64_t i = 0; i < all->size_count; i++)
    if (all->sizes[i].input < 0) values[i] = all->sizes[i].most, found = 1;
  if (found) {
    all->derive(values);
    write_extents(context);
  }
  return found;
}

/* The extents of argument number `i`. */
static const int64_t *extents_of(const TW(context) *context, int64_t i) {
  const int64_t *found = context->extents;
  for (int64_t before = 0; before < i; before++) found += tensor(context->network, before)->rank;
  return found;
}

static int64_t bytes_of(const TW(context) *context, int64_t i) {
  int64_t bytes = item_bytes[i];
  for (int64_t d = 0; d < tensor(context->network, i)->rank; d++)
    bytes *= extents_of(context, i)[d];
  return bytes;
}

PUBLIC int TW(create_checked)(TW(context) **context, int threads, uint32_t interface) {
  if (context == NULL) return TILEWRIGHT_BAD_ARGUMENT;
  *context = NULL;
  if (interface != INTERFACE) return TILEWRIGHT_WRONG_HEADER;
  const int network = FIRST_NETWORK;
  if (network < 0) return TILEWRIGHT_WRONG_CPU;
  const int64_t most = models[network].threads;
  if (threads < 0 || threads > most) return TILEWRIGHT_BAD_ARGUMENT;
  TW(context) *made = calloc(1, sizeof *made);
  if (made == NULL) return TILEWRIGHT_NO_MEMORY;
  made->scratch = aligned_memory(models->scratch_bytes);
  int missing = made->scratch == NULL;
  for (int i = 0; i < STATES; i++) {
    made->buffers[INPUTS + i] = aligned_memory(states[i].bytes);
    missing |= made->buffers[INPUTS + i] == NULL;
  }
  if (missing) {
    TW(destroy)(made);
    return TILEWRIGHT_NO_MEMORY;
  }
  tw_limit_cores(quota_cores());
  made->threads = threads == 0 ? (int32_t)most : threads;
  made->first = network;
  const int64_t *first[INPUTS + 1];
  for (int i = 0; i < INPUTS; i++) first[i] = models[network].inputs[i].shape;
  use(made, network, first);
  *context = made;
  return TILEWRIGHT_OK;
}

PUBLIC void TW(destroy)(TW(context) *context) {
  if (context == NULL) return;
  for (int i = 0; i < ARGUMENTS; i++) free(context->staged[i]);
  for (int i = 0; i < STATES; i++) free(context->buffers[INPUTS + i]);
  free(context->scratch);
  free(context);
}

PUBLIC int TW(reshape)(TW(context) *context, const int64_t *const *shapes) {
  if (context == NULL || shapes == NULL) return TILEWRIGHT_BAD_ARGUMENT;
  for (int i = 0; i < INPUTS; i++)
    if (shapes[i] == NULL && models->inputs[i].rank > 0) return TILEWRIGHT_BAD_ARGUMENT;
#if STATES
  if (context->length > MOST_LENGTH) return TILEWRIGHT_FULL;
#endif
  for (int i = 0; i < SHAPES; i++)
    if (use(context, context->first + i, shapes)) return TILEWRIGHT_OK;
  return TILEWRIGHT_WRONG_SHAPE;
}

PUBLIC int TW(output_shape)(const TW(context) *context, int64_t i, int64_t *dimensions) {
  if (context == NULL || i < 0 || i >= OUTPUTS) return TILEWRIGHT_BAD_ARGUMENT;
  const int64_t rank = tensor(context->network, INPUTS + i)->rank;
  if (dimensions == NULL && rank > 0) return TILEWRIGHT_BAD_ARGUMENT;
  for (int64_t d = 0; d < rank; d++) dimensions[d] = extents_of(context, INPUTS + i)[d];
  return TILEWRIGHT_OK;
}

#if STATES
PUBLIC int64_t TW(length)(const TW(context) *context) {
  return context == NULL ? 0 : context->length;
}

PUBLIC int TW(rewind)(TW(context) *context, int64_t rows) {
  if (context == NULL || rows < 0 || rows > context->length) return TILEWRIGHT_BAD_ARGUMENT;
  context->length -= rows;
  return TILEWRIGHT_OK;
}

/* Let the next run be of as many rows as there are now, and inputs of the shapes of the last one. */
static int go_on(TW(context) *context) {
  const int64_t *shapes[INPUTS + 1];
  if (context->length > MOST_LENGTH) return TILEWRIGHT_FULL;
  for (int i = 0; i < INPUTS; i++) shapes[i] = extents_of(context, i);
  return use(context, context->network, shapes) ? TILEWRIGHT_OK : TILEWRIGHT_WRONG_SHAPE;
}
#endif

/* The most bytes that argument number `i` has in any network. */
static int64_t most_bytes(int i) {
  int64_t most = 0;
  for (int number = 0; number < NETWORKS; number++)
    if (tensor(number, i)->bytes > most) most = tensor(number, i)->bytes;
  return most;
}

/* Memory for argument number `i`: its own where kernels may use it, else aligned memory. NULL if
   there is none. */
static void *place(TW(context) *context, int i, const void *argument) {
  if (argument != NULL && (uintptr_t)argument % ALIGNMENT == 0) return (void *)argument;
  if (context->staged[i] == NULL) context->staged[i] = aligned_memory(most_bytes(i));
  return context->staged[i];
}

PUBLIC int TW(run)(TW(context) *context, const void *const *inputs, void *const *outputs) {
  if (context == NULL || inputs == NULL || outputs == NULL) return TILEWRIGHT_BAD_ARGUMENT;
  const int computes = expect_most(context);
#if STATES
  const int status = go_on(context);
  if (status != TILEWRIGHT_OK) return status;
#endif
  void **results = context->buffers + GIVEN + constant_counts[context->network];
  for (int i = 0; i < INPUTS; i++) {
    const int64_t bytes = bytes_of(context, i);
    if (inputs[i] == NULL && bytes > 0) return TILEWRIGHT_BAD_ARGUMENT;
    void *at = place(context, i, inputs[i]);
    if (at == NULL) return TILEWRIGHT_NO_MEMORY;
    if (at != inputs[i] && bytes > 0) memcpy(at, inputs[i], (size_t)bytes);
    context->buffers[i] = at;
  }
  for (int i = 0; i < OUTPUTS; i++) {
    if (outputs[i] == NULL && bytes_of(context, INPUTS + i) > 0) return TILEWRIGHT_BAD_ARGUMENT;
    results[i] = place(context, INPUTS + i, outputs[i]);
    if (results[i] == NULL) return TILEWRIGHT_NO_MEMORY;
  }
  tw_entry *entry = tilewright_code.networks[context->network].entry;
  tw_call(entry, context->buffers, NULL, context->scratch, context->threads);
  if (status_offsets[context->network] >= 0) {
    int64_t refusal;
    memcpy(&refusal, context->scratch + status_offsets[context->network], sizeof refusal);
    if (refusal != 0)
      return TILEWRIGHT_REFUSED + first_refusals[context->network] + (int)refusal - 1;
  }
#if STATES
  memcpy(&context->length, context->scratch + 8 * GROWN, sizeof context->length);
#endif
  if (computes) write_extents(context);
  for (int i = 0; i < OUTPUTS; i++)
    if (results[i] != outputs[i] && bytes_of(context, INPUTS + i) > 0)
      memcpy(outputs[i], results[i], (size_t)bytes_of(context, INPUTS + i));
  return TILEWRIGHT_OK;
}
