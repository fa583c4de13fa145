/* $header: the network "$title", compiled by Tilewright $version
   for $target.

     $name_context *net;
     int status = $name_create(&net, 0);
     if (status == TILEWRIGHT_OK) status = $name_call(net, ...);
     if (status != TILEWRIGHT_OK) fprintf(stderr, "%s\n", $name_message(status));
     $name_destroy(net);

   Compile with: cc main.c ./$library -Wl,-rpath,'$$ORIGIN'
   Weights are in the library, once for all contexts. A context is one thread's at a time, and
   threads may each have one. */

#ifndef $NAME_H
#define $NAME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TILEWRIGHT_LIBRARY
#define TILEWRIGHT_LIBRARY $format

/* An input or output: a contiguous row-major array of `bytes` bytes. `dtype` is "float32",
   "int64", "bool", ... float16 and bfloat16 elements are uint16_t here, bool uint8_t. An extent
   may vary from `least` to `most`; `shape` and `bytes` are of the most. */
typedef struct {
  const char *name;
  const char *dtype;
  int64_t rank;
  const int64_t *shape;
  int64_t bytes;
  const int64_t *least;
  const int64_t *most;
} tilewright_tensor;

/* What a library holds. A context takes `scratch_bytes` of memory, the weights `constant_bytes`;
   `threads` are the most that a run can use. `next` is the same network for inputs of other
   shapes, NULL if that was the last. */
typedef struct tilewright_model {
  int64_t format;
  const char *name;
  const char *version;
  const char *target;
  int64_t threads;
  int64_t scratch_bytes;
  int64_t constant_bytes;
  int64_t input_count;
  const tilewright_tensor *inputs;
  int64_t output_count;
  const tilewright_tensor *outputs;
  const struct tilewright_model *next;
} tilewright_model;

enum {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_NO_MEMORY = 1,
  TILEWRIGHT_WRONG_CPU = 2,
  TILEWRIGHT_WRONG_HEADER = 3,
  TILEWRIGHT_BAD_ARGUMENT = 4,
  TILEWRIGHT_WRONG_SHAPE = 5,
  TILEWRIGHT_FULL = 6,
  TILEWRIGHT_REFUSED = 16 /* or more: the model took a branch that could not be compiled, or data
                             asked for more than there may be */
};
#endif

typedef struct $name_context $name_context;

/* Names, shapes, dtypes, version. */
const tilewright_model *$name_model(void);

/* What a status says, in English. */
const char *$name_message(int status);

/* Make a context whose runs use up to `threads` threads (0: all that the library can). On any
   status but TILEWRIGHT_OK, *context is NULL. */
static inline int $name_create($name_context **context, int threads);

/* Let the runs that follow take inputs of other shapes: those of $name_model() or of one that is
   linked to it by `next`, at first the `shape` of the former. `shapes[i]` are the dimensions of
   input i. On TILEWRIGHT_WRONG_SHAPE, which means that there is none with these, nothing has
   changed. Memory stays as it is, whatever the shapes. */
int $name_reshape($name_context *context, const int64_t *const *shapes);

/* The dimensions that output `i` has for inputs of these shapes. Where data decide them: that it
   had in the last run, and the most that it may have before the first; memory for it is as large. */
int $name_output_shape(const $name_context *context, int64_t i, int64_t *dimensions);

/* Run on arrays in the order of $name_model(). They may lie anywhere; those that do not start at
   a multiple of 64 bytes are copied. Outputs may not overlap inputs or each other. */
int $name_run($name_context *context, const void *const *inputs, void *const *outputs);

$streams/* Free a context, or do nothing for NULL. */
void $name_destroy($name_context *context);

/* The same as $name_run, by the type and order of the arguments:
$arguments */
static inline int $name_call($name_context *context$parameters) {
  const void *const inputs[] = {$inputs};
  void *const outputs[] = {$outputs};
  return $name_run(context, inputs, outputs);
}

/* The number stands for the inputs and outputs: a library that was made anew with others refuses
   a program that was compiled with the older header. */
int $name_create_checked($name_context **context, int threads, uint32_t interface);
static inline int $name_create($name_context **context, int threads) {
  return $name_create_checked(context, threads, ${interface}u);
}

#ifdef __cplusplus
}
#endif

#endif
