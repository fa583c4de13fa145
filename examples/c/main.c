/* Runs a network saved by Tilewright on files of raw numbers. No Python, no Tilewright. The names
   are those of a library that was saved as model.so; of net.so they begin with net_.

     tilewright compile resnet50.onnx -o model.so
     gcc main.c ./model.so -I. -o main -Wl,-rpath,'$ORIGIN'
     ./main                            what the network takes and gives, in each of its shapes
     ./main THREADS x.bin ... y.bin    a file for every input, then one for every output

   THREADS is the most to use; 0 for all that the network was compiled for. Of several shapes those
   are used that have the sizes of the files. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void print_tensors(const char *what, int64_t count, const tilewright_tensor *tensors) {
  for (int64_t i = 0; i < count; i++) {
    const tilewright_tensor *t = &tensors[i];
    printf("%s %s: %s[", what, t->name, t->dtype);
    for (int64_t d = 0; d < t->rank; d++) printf("%s%lld", d ? ", " : "", (long long)t->shape[d]);
    printf("], %lld bytes\n", (long long)t->bytes);
  }
}

/* Memory for a tensor; NULL and a message if there is none. */
static void *memory_for(const tilewright_tensor *tensor) {
  void *memory = malloc((size_t)tensor->bytes + 1);
  if (memory == NULL) fprintf(stderr, "no memory for %s\n", tensor->name);
  return memory;
}

static int read_file(const char *path, const tilewright_tensor *tensor, void *to) {
  FILE *file = fopen(path, "rb");
  size_t found = file ? fread(to, 1, (size_t)tensor->bytes + 1, file) : 0;
  if (file) fclose(file);
  if (found == (size_t)tensor->bytes) return 1;
  fprintf(stderr, "%s: %s needs a file of %lld bytes\n", path, tensor->name,
          (long long)tensor->bytes);
  return 0;
}

static int write_file(const char *path, const tilewright_tensor *tensor, const void *from) {
  FILE *file = fopen(path, "wb");
  size_t written = file ? fwrite(from, 1, (size_t)tensor->bytes, file) : 0;
  if (file && fclose(file) == 0 && written == (size_t)tensor->bytes) return 1;
  fprintf(stderr, "cannot write %s\n", path);
  return 0;
}

static int fits(const tilewright_model *model, char **files) {
  for (int64_t i = 0; i < model->input_count; i++) {
    FILE *file = fopen(files[i], "rb");
    int is_right = file && fseek(file, 0, SEEK_END) == 0 && ftell(file) == model->inputs[i].bytes;
    if (file) fclose(file);
    if (!is_right) return 0;
  }
  return 1;
}

static int run_on_files(const tilewright_model *model, int threads, char **files) {
  const int64_t **shapes = calloc((size_t)model->input_count + 1, sizeof(int64_t *));
  void **inputs = calloc((size_t)(model->input_count + model->output_count) + 1, sizeof(void *));
  void **outputs = inputs + model->input_count;
  model_context *context = NULL;
  int status = TILEWRIGHT_NO_MEMORY, done = inputs != NULL && shapes != NULL;
  for (int64_t i = 0; done && i < model->input_count; i++) {
    shapes[i] = model->inputs[i].shape;
    inputs[i] = memory_for(&model->inputs[i]);
    done = inputs[i] != NULL && read_file(files[i], &model->inputs[i], inputs[i]);
  }
  for (int64_t i = 0; done && i < model->output_count; i++) {
    outputs[i] = memory_for(&model->outputs[i]);
    done = outputs[i] != NULL;
  }
  if (done) {
    status = model_create(&context, threads);
    if (status == TILEWRIGHT_OK) status = model_reshape(context, shapes);
    if (status == TILEWRIGHT_OK)
      status = model_run(context, (const void *const *)inputs, outputs);
    if (status != TILEWRIGHT_OK) fprintf(stderr, "%s: %s\n", model->name, model_message(status));
    model_destroy(context);
    done = status == TILEWRIGHT_OK;
  }
  for (int64_t i = 0; done && i < model->output_count; i++)
    done = write_file(files[model->input_count + i], &model->outputs[i], outputs[i]);
  for (int64_t i = 0; inputs != NULL && i < model->input_count + model->output_count; i++)
    free(inputs[i]);
  free(inputs);
  free(shapes);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **arguments) {
  const tilewright_model *model = model_model();
  if (count == 1) {
    int name = (int)strcspn(model->target, " "); /* its features follow */
    printf("%s, compiled by Tilewright %s for %.*s\n", model->name, model->version, name,
           model->target);
    for (const tilewright_model *m = model; m != NULL; m = m->next) {
      print_tensors("input", m->input_count, m->inputs);
      print_tensors("output", m->output_count, m->outputs);
    }
    return EXIT_SUCCESS;
  }
  if (count - 2 != model->input_count + model->output_count) {
    fprintf(stderr, "usage: %s THREADS and a file for each of %lld inputs and %lld outputs\n",
            arguments[0], (long long)model->input_count, (long long)model->output_count);
    return EXIT_FAILURE;
  }
  const tilewright_model *m = model;
  while (m != NULL && !fits(m, arguments + 2)) m = m->next;
  return run_on_files(m != NULL ? m : model, atoi(arguments[1]), arguments + 2);
}
