/* Select: t where the condition holds, e elsewhere. The condition has the shape of both, is a scalar, or has
 * one value per row. In SelectV2 all three broadcast. */
#include <string.h>

#include "base/copy.h"
#include "base/odometer.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "simd/simd.h"

typedef struct SelectJob {
  const bool *condition;
  const void *t, *e;
  void *out; /* may be t or e */
  int64_t row_bytes;
} SelectJob;

static void select_rows(void *arg, int64_t begin, int64_t end) {
  const SelectJob *job = arg;
  for (int64_t i = begin; i < end; i++) {
    const char *from = (const char *)(job->condition[i] ? job->t : job->e) + i * job->row_bytes;
    char *to = (char *)job->out + i * job->row_bytes;
    if (from != to) copy_bytes(to, from, job->row_bytes);
  }
}

#define TEMPLATE "ops/math/select_lanes.inc"
#define TYPES (TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

static bool select_strings(KernelContext *context, int64_t count, int64_t row, Status *status) {
  const TString *t = tensor_strings(context->inputs[1]), *e = tensor_strings(context->inputs[2]);
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &context->inputs[1]->shape, &out, status));
  for (int64_t i = 0; i < count * row; i++) {
    const TString *from = tensor_bool(context->inputs[0])[i / row] ? &t[i] : &e[i];
    TRY(tstring_copy(&tensor_strings(out)[i], from, status));
  }
  return true;
}

static bool check_branches(const Tensor *t, const Tensor *e, Status *status) {
  if (shape_equal(&t->shape, &e->shape)) return true;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "'then' and 'else' must have the same size.  but received: %s vs. %s",
                        shape_text(&t->shape, a), shape_text(&e->shape, b));
}

/* A vector selects rows. */
static bool check_rows(const Tensor *condition, const Tensor *t, const Tensor *e, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (t->shape.rank < 1)
    return status_invalid(status, "'then' must be at least a vector, but saw shape: %s",
                          shape_text(&t->shape, text));
  TRY(check_branches(t, e, status));
  int64_t rows = shape_dim(&t->shape, 0), count = tensor_num_elements(condition);
  return rows == count ||
         status_invalid(status,
                        "Number of batches of 'then' must match size of 'cond', but saw: %lld vs. %lld",
                        (long long)rows, (long long)count);
}

static bool select_kernel(KernelContext *context, Status *status) {
  const Tensor *condition = context->inputs[0], *t = context->inputs[1], *e = context->inputs[2];
  if (tensor_is_scalar(condition)) {
    TRY(check_branches(t, e, status));
    return kernel_set_output(context, 0, tensor_bool(condition)[0] ? t : e, NULL, status);
  }
  TRY(tensor_is_vector(condition) && !tensor_is_vector(t) ? check_rows(condition, t, e, status)
                                                          : elementwise_check_shapes(context, status));
  int64_t count = tensor_num_elements(condition), elements = tensor_num_elements(t);
  int64_t row = count == 0 ? 0 : elements / count;
  if (t->dtype == DT_STRING) return select_strings(context, row == 0 ? 0 : count, row, status);
  if (!dtype_is_pod(t->dtype)) {
    return status_set(status, CODE_UNIMPLEMENTED, "Select of %s needs a scalar condition",
                      dtype_name(t->dtype));
  }
  bool take_e = context->last_use && !context->last_use[1] && context->last_use[2];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, take_e ? 2 : 1, 0, &t->shape, &out, status));
  int64_t size = (int64_t)dtype_size(t->dtype);
  SelectJob job = {tensor_bool(condition), t->data, e->data, out->data, row * size};
  ParallelBody *body = select_rows;
  if (row == 1) {
    body = size == 1   ? select_u8
           : size == 2 ? select_u16
           : size == 4 ? select_i32
           : size == 8 ? select_i64
                       : select_rows;
  }
  if (row > 0) parallel_work(context->parallel, count, (double)row, body, &job);
  return true;
}

/* --- SelectV2 --- */

enum { CONDITION, THEN, ELSE, OPERANDS };

/* The loop nest over the output. Dimensions of size 1 are left out, and adjacent ones along which each
 * operand lies contiguously, or is broadcast, are merged. */
typedef struct SelectNest {
  int rank; /* at least 1 */
  int64_t dims[SHAPE_MAX_RANK];
  int64_t strides[OPERANDS][SHAPE_MAX_RANK]; /* elements; 0 where the operand is broadcast */
  const Tensor *operands[OPERANDS];
  Tensor *out;
} SelectNest;

/* A run along the last dimension. Steps are 0 or 1. */
typedef struct Run {
  const bool *condition;
  const char *t, *e;
  char *out;
  int64_t n, c_step, t_step, e_step;
} Run;

ALWAYS_INLINE void choose(const Run *run, int64_t i, size_t size) {
  const char *t = run->t, *e = run->e;
  int64_t t_step = run->t_step * (int64_t)size, e_step = run->e_step * (int64_t)size;
  for (; i < run->n; i++)
    memcpy(run->out + i * (int64_t)size, run->condition[i * run->c_step] ? t + i * t_step : e + i * e_step,
           size);
}

/* Chooses whole vectors of four, with a condition for each; returns how many elements these were. */
static int64_t choose_lanes(const Run *run) {
  typedef uint8_t u8x4 __attribute__((vector_size(4)));
  int32_t value;
  int64_t i = 0;
  if (run->c_step == 0) return 0;
  memcpy(&value, run->t, sizeof value);
  i32x4 t = i32x4_splat(value);
  memcpy(&value, run->e, sizeof value);
  i32x4 e = i32x4_splat(value);
  for (; i + 4 <= run->n; i += 4) {
    u8x4 bytes;
    memcpy(&bytes, run->condition + i, sizeof bytes);
    i32x4 mask = __builtin_convertvector(bytes, i32x4) != 0;
    if (run->t_step != 0) t = i32x4_load((const int32_t *)run->t + i);
    if (run->e_step != 0) e = i32x4_load((const int32_t *)run->e + i);
    i32x4_store((int32_t *)run->out + i, (t & mask) | (e & ~mask));
  }
  return i;
}

/* Walks over the elements of the output, starting at the first. */
static Odometer walk(const SelectNest *nest, int64_t index[SHAPE_MAX_RANK]) {
  return (Odometer){.rank = nest->rank,
                    .dims = nest->dims,
                    .strides = {nest->strides[0], nest->strides[1], nest->strides[2]},
                    .index = index};
}

/* Output elements [begin, end): runs along the last dimension. */
static void choose_range(void *arg, int64_t begin, int64_t end) {
  const SelectNest *nest = arg;
  int last = nest->rank - 1;
  int64_t index[SHAPE_MAX_RANK], length = nest->dims[last], size = (int64_t)dtype_size(nest->out->dtype);
  const bool *condition = tensor_bool(nest->operands[CONDITION]);
  const char *t = nest->operands[THEN]->data, *e = nest->operands[ELSE]->data;
  char *out = nest->out->data;
  Run run = {.c_step = nest->strides[CONDITION][last],
             .t_step = nest->strides[THEN][last],
             .e_step = nest->strides[ELSE][last]};
  Odometer o = walk(nest, index);
  odometer_seek(&o, OPERANDS, begin);
  while (begin < end) {
    int64_t left = length - begin % length, n = left < end - begin ? left : end - begin;
    run.condition = condition + o.at[CONDITION];
    run.t = t + o.at[THEN] * size, run.e = e + o.at[ELSE] * size;
    run.out = out + begin * size, run.n = n;
    switch (size) {
      case 1: choose(&run, 0, 1); break;
      case 2: choose(&run, 0, 2); break;
      case 4: choose(&run, choose_lanes(&run), 4); break;
      case 8: choose(&run, 0, 8); break;
      default: choose(&run, 0, 16); break;
    }
    begin += n;
    odometer_advance(&o, OPERANDS, n);
  }
}

static bool choose_strings(const SelectNest *nest, Status *status) {
  int64_t index[SHAPE_MAX_RANK];
  Odometer o = walk(nest, index);
  odometer_seek(&o, OPERANDS, 0);
  for (int64_t i = 0; i < tensor_num_elements(nest->out); i++, odometer_advance(&o, OPERANDS, 1)) {
    int k = tensor_bool(nest->operands[CONDITION])[o.at[CONDITION]] ? THEN : ELSE;
    TRY(tstring_copy(&tensor_strings(nest->out)[i], &tensor_strings(nest->operands[k])[o.at[k]], status));
  }
  return true;
}

/* Adds a dimension after the others. */
static void add_dimension(SelectNest *nest, int64_t size, const int64_t strides[OPERANDS]) {
  int last = nest->rank - 1;
  bool merged = last >= 0;
  if (size == 1) return;
  for (int k = 0; k < OPERANDS && merged; k++) merged = nest->strides[k][last] == strides[k] * size;
  if (!merged) {
    last = nest->rank++;
    nest->dims[last] = 1;
  }
  nest->dims[last] *= size;
  for (int k = 0; k < OPERANDS; k++) nest->strides[k][last] = strides[k];
}

/* The nest for operands that broadcast to `shape`, none of whose sizes is 0. */
static void plan_nest(SelectNest *nest, const Shape *shape) {
  int64_t left[OPERANDS]; /* the elements of each operand after the dimensions that were added */
  nest->rank = 0;
  for (int k = 0; k < OPERANDS; k++) left[k] = tensor_num_elements(nest->operands[k]);
  for (int i = 0; i < shape->rank; i++) {
    int64_t strides[OPERANDS];
    for (int k = 0; k < OPERANDS; k++) {
      const Shape *own = &nest->operands[k]->shape;
      int at = i - (shape->rank - own->rank);
      int64_t size = at < 0 ? 1 : shape_dim(own, at);
      left[k] /= size;
      strides[k] = size == 1 ? 0 : left[k];
    }
    add_dimension(nest, shape_dim(shape, i), strides);
  }
  if (nest->rank == 0) nest->rank = 1, nest->dims[0] = 1; /* the strides do not matter */
}

static bool broadcast_all(const Tensor *const *inputs, Shape *shape, Status *status) {
  Shape pair = {0};
  Status ignored;
  status_init(&ignored);
  bool fits = broadcast_shapes(&inputs[THEN]->shape, &inputs[ELSE]->shape, &pair, &ignored) &&
              broadcast_shapes(&inputs[CONDITION]->shape, &pair, shape, &ignored);
  shape_clear(&pair);
  if (fits) return true;
  if (ignored.code != CODE_INVALID_ARGUMENT) return status_oom(status, "a shape");
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "condition %s, then %s, and else %s must be broadcastable",
                        shape_text(&inputs[CONDITION]->shape, a), shape_text(&inputs[THEN]->shape, b),
                        shape_text(&inputs[ELSE]->shape, c));
}

static bool select_v2_broadcast(KernelContext *context, const Shape *shape, Status *status) {
  SelectNest nest = {.strides = {{0}}};
  for (int k = 0; k < OPERANDS; k++) nest.operands[k] = context->inputs[k];
  DataType type = context->inputs[THEN]->dtype;
  if (type != DT_STRING && !dtype_is_pod(type)) {
    return status_set(status, CODE_UNIMPLEMENTED, "SelectV2 of %s needs a scalar condition and equal shapes",
                      dtype_name(type));
  }
  TRY(kernel_allocate_output(context, 0, shape, &nest.out, status));
  if (tensor_num_elements(nest.out) == 0) return true;
  plan_nest(&nest, shape);
  if (type == DT_STRING) return choose_strings(&nest, status);
  parallel_work(context->parallel, tensor_num_elements(nest.out), 1, choose_range, &nest);
  return true;
}

static bool select_v2_kernel(KernelContext *context, Status *status) {
  const Tensor *condition = context->inputs[CONDITION], *t = context->inputs[THEN],
               *e = context->inputs[ELSE];
  if (shape_equal(&t->shape, &e->shape) &&
      (tensor_is_scalar(condition) || shape_equal(&condition->shape, &t->shape))) {
    return select_kernel(context, status);
  }
  Shape shape = {0};
  bool ok = broadcast_all(context->inputs, &shape, status) && select_v2_broadcast(context, &shape, status);
  shape_clear(&shape);
  return ok;
}

/* The shapes behind resource handles must agree as the values do. */
static bool merge_handles(InferenceContext *c, Status *status) {
  const HandleData *t = c->input_handles ? c->input_handles[1] : NULL;
  const HandleData *e = c->input_handles ? c->input_handles[2] : NULL;
  if (!t || !e || !c->output_handles) return true;
  if (t->count != e->count) {
    return status_invalid(status, "Trying to merge handles pointing to different numbers of tensors.");
  }
  ShapeAndType *entries = arena_calloc(c->arena, t->count, sizeof *entries);
  HandleData *merged = arena_alloc(c->arena, sizeof *merged);
  if (!entries || !merged) return status_oom(status, "handle data");
  for (int i = 0; i < t->count; i++) {
    if (t->entries[i].dtype != e->entries[i].dtype) {
      return status_invalid(status, "Trying to merge handles pointing to different dtypes.");
    }
    entries[i].dtype = t->entries[i].dtype;
    TRY(shape_merge(c, t->entries[i].shape, e->entries[i].shape, &entries[i].shape, status));
  }
  *merged = (HandleData){t->count, entries};
  c->output_handles[0] = merged;
  return true;
}

static bool select_shape(InferenceContext *c, Status *status) {
  ShapeHandle condition = shape_input(c, 0), t = shape_input(c, 1), e = shape_input(c, 2), data;
  TRY(merge_handles(c, status));
  TRY(shape_merge(c, t, e, &data, status));
  if (!shape_rank_known(condition) || !shape_rank_known(data) || shape_rank(condition) == 0) {
    shape_set_output(c, 0, data);
    return true;
  }
  if (shape_rank(condition) == 1 && shape_rank(data) >= 1) {
    /* One value per row: checked, but the data's shape is not refined. */
    DimHandle rows;
    TRY(dim_merge(c, shape_dim_of(c, data, 0), shape_dim_of(c, condition, 0), &rows, status));
    shape_set_output(c, 0, data);
    return true;
  }
  TRY(shape_merge(c, data, condition, &data, status));
  shape_set_output(c, 0, data);
  return true;
}

const OpRegistration kOpSelect = {
    .name = "Select",
    .inputs = {"condition: bool", "t: T", "e: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = select_shape,
    .gradient =
        "SelectGradient[T:type](condition:bool, t:T, e:T, dy:T) -> (dcondition:bool, dt:T, de:T) {\n"
        "  none = ZerosLike[T=bool](condition)\n"
        "  zeros = ZerosLike[T=$T](dy)\n"
        "  dt = Select[T=$T](condition, dy, zeros:y:0)\n"
        "  de = Select[T=$T](condition, zeros:y:0, dy)\n"
        "  return dcondition = none:y:0, dt = dt:output:0, de = de:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, select_kernel}},
};

static bool select_v2_shape(InferenceContext *c, Status *status) {
  ShapeHandle data, output;
  TRY(merge_handles(c, status));
  TRY(shape_broadcast(c, shape_input(c, THEN), shape_input(c, ELSE), &data, status));
  TRY(shape_broadcast(c, shape_input(c, CONDITION), data, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpSelectV2 = {
    .name = "SelectV2",
    .inputs = {"condition: bool", "t: T", "e: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = select_v2_shape,
    .gradient =
        "SelectV2Gradient[T:type](condition:bool, t:T, e:T, dy:T) -> (dcondition:bool, dt:T, de:T) {\n"
        "  none = ZerosLike[T=bool](condition)\n"
        "  zeros = ZerosLike[T=$T](dy)\n"
        "  sy = Shape[T=$T](dy)\n"
        "  st = Shape[T=$T](t)\n"
        "  axes_t = BroadcastGradientArgs(st:output:0, sy:output:0)\n"
        "  gt = SelectV2[T=$T](condition, dy, zeros:y:0)\n"
        "  total_t = Sum[T=$T](gt:output:0, axes_t:r0:0)\n"
        "  dt = Reshape[T=$T](total_t:output:0, st:output:0)\n"
        "  se = Shape[T=$T](e)\n"
        "  axes_e = BroadcastGradientArgs(se:output:0, sy:output:0)\n"
        "  ge = SelectV2[T=$T](condition, zeros:y:0, dy)\n"
        "  total_e = Sum[T=$T](ge:output:0, axes_e:r0:0)\n"
        "  de = Reshape[T=$T](total_e:output:0, se:output:0)\n"
        "  return dcondition = none:y:0, dt = dt:output:0, de = de:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, select_v2_kernel}},
};
