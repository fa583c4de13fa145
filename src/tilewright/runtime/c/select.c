/* Library functions whose results are as large as data say: where a condition holds, which boxes
   are left, which rows differ, the greatest of a row, a number itself.

   What graph/selections.py says in NumPy is what they mean. Values are compared by *keys*: int64
   that are in the order of the values, where all NaN are one, above everything, and -0 is 0. */

#include "select.h"

#include <string.h>

#include "pool.h"

struct array {
  void *data;
  int64_t rank;
  const int64_t *extents, *strides;
};

/* The next array that `numbers` describe, from `*at` on. */
static struct array next_array(void *data, const int64_t **at) {
  const int64_t *numbers = *at, rank = numbers[0];
  *at = numbers + 1 + 2 * rank;
  return (struct array){data, rank, numbers + 1, numbers + 1 + rank};
}

/* ---- keys ----------------------------------------------------------------------------------- */

static int64_t key_of(double value) {
  if (value != value) return INT64_MAX;
  int64_t bits;
  value += 0.0;
  memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

enum { INT64_ITEMS, FLOAT64_ITEMS, FLOAT32_ITEMS };

/* Element `i` of an array of such items. */
static int64_t key_at(const void *data, int64_t i, int64_t items) {
  switch (items) {
  case FLOAT64_ITEMS: return key_of(((const double *)data)[i]);
  case FLOAT32_ITEMS: return key_of(((const float *)data)[i]);
  default: return ((const int64_t *)data)[i];
  }
}

enum { BLOCK = 32 };

/* From element `i` on, the first of `count` that may be above `low`, by whole blocks: those before
   it are not. */
static int64_t skip_below(const float *data, int64_t i, int64_t count, float low) {
  for (; i + BLOCK <= count; i += BLOCK) {
    int found = 0;
    for (int64_t j = 0; j < BLOCK; j++) found |= !(data[i + j] <= low);
    if (found) break;
  }
  return i;
}

/* The same for what may be below `high`. */
static int64_t skip_above(const float *data, int64_t i, int64_t count, float high) {
  for (; i + BLOCK <= count; i += BLOCK) {
    int found = 0;
    for (int64_t j = 0; j < BLOCK; j++) found |= !(data[i + j] >= high);
    if (found) break;
  }
  return i;
}

/* ---- heaps ---------------------------------------------------------------------------------- */

struct item {
  int64_t key, index;
};

/* Whether `a` comes first: the greater one, of equal ones that of the lesser index. */
static int is_before(struct item a, struct item b) {
  return a.key != b.key ? a.key > b.key : a.index < b.index;
}

/* Let `item` sink from place `at` of a heap of `count`. */
static void sink(struct item *heap, int64_t count, int64_t at, struct item item) {
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && is_before(heap[child + 1], heap[child])) child++;
    if (!is_before(heap[child], item)) break;
    heap[at] = heap[child];
  }
  heap[at] = item;
}

static void make_heap(struct item *heap, int64_t count) {
  for (int64_t at = count / 2; at-- > 0;) sink(heap, count, at, heap[at]);
}

/* The first of a heap of `count`, which has one less then. */
static struct item take_first(struct item *heap, int64_t count) {
  const struct item first = heap[0];
  if (count > 1) sink(heap, count - 1, 0, heap[count - 1]);
  return first;
}

/* ---- where a condition holds ---------------------------------------------------------------- */

/* condition bool [e...], positions int64 [rank, count] */
int64_t tw_nonzero(void *const *buffers, const int64_t *numbers, void *scratch) {
  (void)scratch;
  const struct array given = next_array(buffers[0], &numbers);
  const struct array found = next_array(buffers[1], &numbers);
  const int64_t last = given.rank - 1, row = given.extents[last];
  const uint8_t *condition = given.data;
  int64_t *positions = found.data, count = 0, rows = 1;
  for (int64_t d = 0; d < last; d++) rows *= given.extents[d];
  for (int64_t r = 0; r < rows; r++) {
    int64_t start = 0, first = count;
    for (int64_t d = last, left = r; d-- > 0; left /= given.extents[d])
      start += left % given.extents[d] * given.strides[d];
    for (int64_t i = 0; i < row; i++)
      if (condition[start + i]) positions[last * found.strides[0] + count++] = i;
    for (int64_t d = last, left = r; d-- > 0; left /= given.extents[d])
      for (int64_t n = first; n < count; n++)
        positions[d * found.strides[0] + n] = left % given.extents[d];
  }
  return count;
}

/* ---- which boxes are left ------------------------------------------------------------------- */

struct box {
  float x_min, x_max, y_min, y_max, area;
};

struct suppression {
  struct array boxes, scores;
  float overlap, threshold;
  int64_t centred, most, classes;
  int32_t *chosen; /* [batches * classes, most] */
  int64_t *counts; /* [batches * classes] */
  char *own;       /* of each thread: items, then boxes */
  int64_t own_bytes;
};

static struct box box_of(const float *box, int64_t centred) {
  struct box b;
  if (centred) { /* x, y, width, height */
    const float half_width = box[2] / 2, half_height = box[3] / 2;
    b.x_min = box[0] - half_width, b.x_max = box[0] + half_width;
    b.y_min = box[1] - half_height, b.y_max = box[1] + half_height;
  } else { /* two corners, y before x */
    b.y_min = box[0] < box[2] ? box[0] : box[2], b.y_max = box[0] < box[2] ? box[2] : box[0];
    b.x_min = box[1] < box[3] ? box[1] : box[3], b.x_max = box[1] < box[3] ? box[3] : box[1];
  }
  b.area = (b.x_max - b.x_min) * (b.y_max - b.y_min);
  return b;
}

static int overlaps(const struct box *a, const struct box *b, float most) {
  const float x_min = a->x_min > b->x_min ? a->x_min : b->x_min;
  const float x_max = a->x_max < b->x_max ? a->x_max : b->x_max;
  const float y_min = a->y_min > b->y_min ? a->y_min : b->y_min;
  const float y_max = a->y_max < b->y_max ? a->y_max : b->y_max;
  if (x_max <= x_min || y_max <= y_min) return 0;
  const float common = (x_max - x_min) * (y_max - y_min), all = a->area + b->area - common;
  if (common <= 0 || a->area <= 0 || b->area <= 0 || all <= 0) return 0;
  return common / all > most;
}

/* Each of some classes by itself: its boxes from the best one on, as long as they overlap none that
   was chosen. */
static void suppress_classes(void *context, int64_t begin, int64_t end, int64_t member) {
  const struct suppression *s = context;
  const int64_t boxes = s->scores.extents[2];
  struct item *heap = (struct item *)(s->own + member * s->own_bytes);
  struct box *kept = (struct box *)(heap + boxes);
  for (int64_t at = begin; at < end; at++) {
    const int64_t batch = at / s->classes, class = at % s->classes;
    const float *score = (const float *)s->scores.data + batch * s->scores.strides[0] +
                         class * s->scores.strides[1];
    const float *box = (const float *)s->boxes.data + batch * s->boxes.strides[0];
    int64_t left = 0, count = 0;
    for (int64_t i = 0; i < boxes; i++) {
      if (i % BLOCK == 0) i = skip_below(score, i, boxes, s->threshold);
      if (i < boxes && (score[i] > s->threshold || s->threshold != s->threshold))
        heap[left++] = (struct item){key_of(score[i]), i};
    }
    for (make_heap(heap, left); left > 0 && count < s->most; left--) {
      const int64_t i = take_first(heap, left).index;
      const struct box found = box_of(box + i * s->boxes.strides[1], s->centred);
      int64_t k = 0;
      while (k < count && !overlaps(&found, &kept[k], s->overlap)) k++;
      if (k < count) continue;
      s->chosen[at * s->most + count] = (int32_t)i;
      kept[count++] = found;
    }
    s->counts[at] = count;
  }
}

/* boxes float32 [batch, n, 4], scores float32 [batch, class, n], the most of a class int64 [], the
   greatest overlap float32 [], the score to exceed float32 [] (NaN: any), selected int64 [count, 3];
   then whether boxes are centred, and threads */
int64_t tw_suppress(void *const *buffers, const int64_t *numbers, void *scratch) {
  static struct tw_loop loop;
  struct suppression s;
  s.boxes = next_array(buffers[0], &numbers);
  s.scores = next_array(buffers[1], &numbers);
  s.most = *(const int64_t *)next_array(buffers[2], &numbers).data;
  s.overlap = *(const float *)next_array(buffers[3], &numbers).data;
  s.threshold = *(const float *)next_array(buffers[4], &numbers).data;
  const struct array selected = next_array(buffers[5], &numbers);
  s.centred = numbers[0];
  const int64_t threads = numbers[1], boxes = s.scores.extents[2];
  s.classes = s.scores.extents[1];
  const int64_t all = s.scores.extents[0] * s.classes;
  if (s.most > boxes) s.most = boxes;
  if (s.most <= 0 || all == 0) return 0;
  s.own = scratch;
  s.own_bytes = boxes * (int64_t)sizeof(struct item) + s.most * (int64_t)sizeof(struct box);
  s.own_bytes = (s.own_bytes + 15) / 16 * 16;
  s.counts = (int64_t *)(s.own + threads * s.own_bytes);
  s.chosen = (int32_t *)(s.counts + all);
  tw_parallel(suppress_classes, &s, all, 1, (int32_t)threads, &loop);
  int64_t count = 0;
  for (int64_t at = 0; at < all; at++)
    for (int64_t i = 0; i < s.counts[at]; i++) {
      int64_t *row = (int64_t *)selected.data + count++ * selected.strides[0];
      row[0] = at / s.classes, row[1] = at % s.classes, row[2] = s.chosen[at * s.most + i];
    }
  return count;
}

/* ---- which rows differ ---------------------------------------------------------------------- */

struct rows {
  struct array array;
  int64_t items;
};

/* Whether row `a` is greater than row `b`, less (negative), or the same; items have the key of
   their first element. */
static int compare_rows(const struct rows *rows, struct item a, struct item b) {
  if (a.key != b.key) return a.key < b.key ? -1 : 1;
  const int64_t pitch = rows->array.strides[0];
  for (int64_t i = 1; i < rows->array.extents[1]; i++) {
    const int64_t x = key_at(rows->array.data, a.index * pitch + i, rows->items);
    const int64_t y = key_at(rows->array.data, b.index * pitch + i, rows->items);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

/* The rows in their order, equal ones as they come; `other` is as large. */
static struct item *sorted_rows(const struct rows *rows, struct item *order, struct item *other) {
  const int64_t count = rows->array.extents[0];
  const int64_t pitch = rows->array.strides[0], width = rows->array.extents[1];
  for (int64_t i = 0; i < count; i++) {
    const int64_t key = width ? key_at(rows->array.data, i * pitch, rows->items) : 0;
    order[i] = (struct item){key, i};
  }
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t low = 0; low < count; low += 2 * width) {
      const int64_t middle = low + width < count ? low + width : count;
      const int64_t high = middle + width < count ? middle + width : count;
      for (int64_t i = low, j = middle, k = low; k < high; k++) {
        const int is_low = i < middle && (j == high || compare_rows(rows, order[i], order[j]) <= 0);
        other[k] = is_low ? order[i++] : order[j++];
      }
    }
    struct item *merged = other;
    other = order;
    order = merged;
  }
  return order;
}

/* rows of items [n, width]; int64 of each different row: where it is first [count], the number of
   the one that a row is [n], how often it is there [count]; then what items they are, and whether
   they are sorted, or in the order in which they come first */
int64_t tw_unique(void *const *buffers, const int64_t *numbers, void *scratch) {
  struct rows rows;
  rows.array = next_array(buffers[0], &numbers);
  int64_t *first = next_array(buffers[1], &numbers).data;
  int64_t *inverse = next_array(buffers[2], &numbers).data;
  int64_t *often = next_array(buffers[3], &numbers).data;
  rows.items = numbers[0];
  const int64_t is_sorted = numbers[1], n = rows.array.extents[0];
  struct item *memory = scratch, *order = sorted_rows(&rows, memory, memory + n);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || compare_rows(&rows, order[i - 1], order[i]) != 0) {
      first[count] = order[i].index;
      often[count++] = 0;
    }
    inverse[order[i].index] = count - 1;
    often[count - 1]++;
  }
  if (is_sorted) return count;
  int64_t *number = scratch, *counted = number + n, found = 0;
  memcpy(counted, often, (size_t)count * sizeof *often);
  for (int64_t i = 0; i < n; i++) {
    const int64_t row = inverse[i];
    if (first[row] == i) { /* its number is taken by none of those before */
      often[found] = counted[row];
      number[row] = found++;
    }
    inverse[i] = number[row];
  }
  for (int64_t i = 0, next = 0; i < n; i++)
    if (inverse[i] == next) first[next++] = i;
  return count;
}

/* ---- the greatest of a row ------------------------------------------------------------------ */

struct top {
  struct array given, indices;
  int64_t count, items, largest;
  char *own;
};

static void top_rows(void *context, int64_t begin, int64_t end, int64_t member) {
  const struct top *t = context;
  const int64_t n = t->given.extents[1], k = t->count;
  struct item *heap = (struct item *)t->own + member * k;
  for (int64_t r = begin; r < end; r++) {
    const int64_t start = r * t->given.strides[0];
    const float *row_of_floats = (const float *)t->given.data + start;
    /* The heap's first is the one to give up: keys are turned round. */
    for (int64_t i = 0; i < n; i++) {
      if (i >= k && i % BLOCK == 0 && t->items == FLOAT32_ITEMS) {
        const float worst = row_of_floats[-heap[0].index];
        i = (t->largest ? skip_below : skip_above)(row_of_floats, i, n, worst);
        if (i == n) break;
      }
      const int64_t key = key_at(t->given.data, start + i, t->items);
      const struct item item = {t->largest ? ~key : key, -i};
      if (i < k) heap[i] = item;
      if (i == k - 1) make_heap(heap, k);
      if (i >= k && is_before(heap[0], item)) sink(heap, k, 0, item);
    }
    int64_t *row = (int64_t *)t->indices.data + r * t->indices.strides[0];
    for (int64_t left = k; left > 0; left--) row[left - 1] = -take_first(heap, left).index;
  }
}

/* rows of items [r, n], indices int64 [r, k]; then what items they are, whether the greatest come
   first, k, and threads. Answers k; more than n are none. */
int64_t tw_top_k(void *const *buffers, const int64_t *numbers, void *scratch) {
  static struct tw_loop loop;
  struct top t;
  t.given = next_array(buffers[0], &numbers);
  t.indices = next_array(buffers[1], &numbers);
  t.items = numbers[0], t.largest = numbers[1];
  t.count = numbers[2];
  t.own = scratch;
  const int32_t threads = (int32_t)numbers[3];
  if (t.count > 0 && t.count <= t.given.extents[1])
    tw_parallel(top_rows, &t, t.given.extents[0], 1, threads, &loop);
  return t.count;
}

/* ---- rows at their places ------------------------------------------------------------------- */

/* x [rows, width], the row of x that each update is for int64 [n], updates [n, width], y as x; then
   the bytes of an element. What is no row of x is left out. */
int64_t tw_scatter(void *const *buffers, const int64_t *numbers, void *scratch) {
  (void)scratch;
  const struct array x = next_array(buffers[0], &numbers);
  const struct array places = next_array(buffers[1], &numbers);
  const struct array updates = next_array(buffers[2], &numbers);
  const struct array y = next_array(buffers[3], &numbers);
  const int64_t item = numbers[0], rows = x.extents[0], count = places.extents[0];
  const size_t bytes = (size_t)(x.extents[1] * item);
  const int64_t from = x.strides[0] * item, to = y.strides[0] * item;
  for (int64_t r = 0; r < rows; r++)
    memcpy((char *)y.data + r * to, (const char *)x.data + r * from, bytes);
  for (int64_t n = 0; n < count; n++) {
    const int64_t place = ((const int64_t *)places.data)[n];
    const char *row = (const char *)updates.data + n * updates.strides[0] * item;
    if (place >= 0 && place < rows) memcpy((char *)y.data + place * to, row, bytes);
  }
  return count;
}

/* ---- a number ------------------------------------------------------------------------------- */

/* number int64 [], and the same again */
int64_t tw_number(void *const *buffers, const int64_t *numbers, void *scratch) {
  (void)numbers, (void)scratch;
  return *(int64_t *)buffers[1] = *(const int64_t *)buffers[0];
}
