#include "ops/support/select_elements.h"

#include <string.h>

#include "base/copy.h"
#include "ops/support/array_box.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"

/* --- elements --- */

/* Steps are 0 or 1. */
typedef struct Run {
  const bool *condition;
  const char *t, *e;
  char *out;
  int64_t n, t_step, e_step;
} Run;

ALWAYS_INLINE void choose(const Run *run, int64_t i, size_t size) {
  const char *t = run->t, *e = run->e;
  int64_t t_step = run->t_step * (int64_t)size, e_step = run->e_step * (int64_t)size;
  for (; i < run->n; i++)
    memcpy(run->out + i * (int64_t)size, run->condition[i] ? t + i * t_step : e + i * e_step, size);
}

/* Chooses whole vectors, with a condition for each element; returns how many elements these were. The run is
 * copied, because compilers assume that stores to `out` might change it. */
#define CHOOSE_VECTORS(name, T, LANES)                                          \
  static int64_t name(const Run *run) {                                         \
    typedef T Vector __attribute__((vector_size(16)));                          \
    typedef uint8_t Bytes __attribute__((vector_size(LANES)));                  \
    const Run r = *run;                                                         \
    const char *then = r.t, *other = r.e;                                       \
    char *out = r.out;                                                          \
    T t_value, e_value;                                                         \
    int64_t i = 0;                                                              \
    memcpy(&t_value, then, sizeof t_value);                                     \
    memcpy(&e_value, other, sizeof e_value);                                    \
    Vector t = t_value - (Vector){0}, e = e_value - (Vector){0};                \
    for (; i + (LANES) <= r.n; i += (LANES)) {                                  \
      Bytes bytes;                                                              \
      memcpy(&bytes, r.condition + i, sizeof bytes);                            \
      Vector mask = (Vector)(__builtin_convertvector(bytes, Vector) != 0);      \
      if (r.t_step != 0) memcpy(&t, then + i * (intptr_t)sizeof(T), sizeof t);  \
      if (r.e_step != 0) memcpy(&e, other + i * (intptr_t)sizeof(T), sizeof e); \
      Vector chosen = (t & mask) | (e & ~mask);                                 \
      memcpy(out + i * (intptr_t)sizeof(T), &chosen, sizeof chosen);            \
    }                                                                           \
    return i;                                                                   \
  }
CHOOSE_VECTORS(choose_bytes, uint8_t, 16)
CHOOSE_VECTORS(choose_words, int32_t, 4)
CHOOSE_VECTORS(choose_pairs, int64_t, 2)

/* All of one operand. */
static void take(int64_t count, int64_t size, const void *operand, bool is_still, void *out) {
  if (is_still) array_spread(size, count, operand, out);
  else if (operand != out) copy_bytes(out, operand, count * size);
}

void select_elements(int64_t count, int64_t size, const void *const *operands, unsigned still, void *out) {
  if (count == 0) return;
  if (still >> SELECT_CONDITION & 1) {
    int k = *(const bool *)operands[SELECT_CONDITION] ? SELECT_THEN : SELECT_ELSE;
    take(count, size, operands[k], still >> k & 1, out);
    return;
  }
  const Run run = {.condition = operands[SELECT_CONDITION],
                   .t = operands[SELECT_THEN],
                   .e = operands[SELECT_ELSE],
                   .out = out,
                   .n = count,
                   .t_step = !(still >> SELECT_THEN & 1),
                   .e_step = !(still >> SELECT_ELSE & 1)};
  switch (size) {
    case 1: choose(&run, choose_bytes(&run), 1); break;
    case 2: choose(&run, 0, 2); break;
    case 4: choose(&run, choose_words(&run), 4); break;
    case 8: choose(&run, choose_pairs(&run), 8); break;
    default: choose(&run, 0, 16); break;
  }
}

/* --- broadcasts --- */

/* Adds a dimension after the others. */
static void add_dimension(SelectNest *nest, int64_t size, const int64_t *strides) {
  int last = nest->rank - 1;
  bool merged = last >= 0;
  if (size == 1) return;
  for (int k = 0; k < SELECT_OPERANDS && merged; k++) merged = nest->strides[k][last] == strides[k] * size;
  if (!merged) {
    last = nest->rank++;
    nest->dims[last] = 1;
  }
  nest->dims[last] *= size;
  for (int k = 0; k < SELECT_OPERANDS; k++) nest->strides[k][last] = strides[k];
}

void select_nest_plan(SelectNest *nest, const Shape *const *shapes, const Shape *shape) {
  int64_t left[SELECT_OPERANDS]; /* the elements of each operand after the dimensions that were added */
  *nest = (SelectNest){.rank = 0};
  for (int k = 0; k < SELECT_OPERANDS; k++) left[k] = shape_num_elements(shapes[k]);
  for (int i = 0; i < shape->rank; i++) {
    int64_t strides[SELECT_OPERANDS];
    for (int k = 0; k < SELECT_OPERANDS; k++) {
      int at = i - (shape->rank - shapes[k]->rank);
      int64_t size = at < 0 ? 1 : shape_dim(shapes[k], at);
      left[k] /= size;
      strides[k] = size == 1 ? 0 : left[k];
    }
    add_dimension(nest, shape_dim(shape, i), strides);
  }
  if (nest->rank == 0) nest->rank = 1, nest->dims[0] = 1; /* the strides do not matter */
}

Odometer select_nest_walk(const SelectNest *nest, int64_t *index) {
  return (Odometer){.rank = nest->rank,
                    .dims = nest->dims,
                    .strides = {nest->strides[0], nest->strides[1], nest->strides[2]},
                    .index = index};
}

typedef struct Job {
  SelectNest nest;
  const char *data[SELECT_OPERANDS];
  int64_t size; /* bytes of an element */
  char *out;
} Job;

/* Output elements [begin, end): runs along the last dimension. */
static void select_range(void *arg, int64_t begin, int64_t end) {
  const Job *job = arg;
  const SelectNest *nest = &job->nest;
  int last = nest->rank - 1;
  int64_t index[SHAPE_MAX_RANK], length = nest->dims[last];
  Odometer o = select_nest_walk(nest, index);
  unsigned still = 0;
  for (int k = 0; k < SELECT_OPERANDS; k++) still |= (unsigned)(nest->strides[k][last] == 0) << k;
  odometer_seek(&o, SELECT_OPERANDS, begin);
  while (begin < end) {
    int64_t left = length - begin % length, n = left < end - begin ? left : end - begin;
    const void *operands[SELECT_OPERANDS];
    for (int k = 0; k < SELECT_OPERANDS; k++)
      operands[k] = job->data[k] + o.at[k] * (k == SELECT_CONDITION ? 1 : job->size);
    select_elements(n, job->size, operands, still, job->out + begin * job->size);
    begin += n;
    odometer_advance(&o, SELECT_OPERANDS, n);
  }
}

void select_broadcast(const Parallel *parallel, const Shape *const *shapes, const void *const *operands,
                      const Shape *shape, int64_t size, void *out) {
  Job job = {.size = size, .out = out};
  int64_t count = shape_num_elements(shape);
  if (count == 0) return;
  for (int k = 0; k < SELECT_OPERANDS; k++) job.data[k] = operands[k];
  select_nest_plan(&job.nest, shapes, shape);
  parallel_work(parallel, count, 1, select_range, &job);
}

bool select_shape_of(const Shape *const *shapes, Shape *shape, Status *status) {
  Shape pair = {0};
  Status ignored;
  status_init(&ignored);
  bool fits = broadcast_shapes(shapes[SELECT_THEN], shapes[SELECT_ELSE], &pair, &ignored) &&
              broadcast_shapes(shapes[SELECT_CONDITION], &pair, shape, &ignored);
  shape_clear(&pair);
  if (fits) return true;
  if (ignored.code != CODE_INVALID_ARGUMENT) return status_oom(status, "a shape");
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "condition %s, then %s, and else %s must be broadcastable",
                        shape_text(shapes[SELECT_CONDITION], a), shape_text(shapes[SELECT_THEN], b),
                        shape_text(shapes[SELECT_ELSE], c));
}
