/* Select: t where the condition holds, e elsewhere. The condition has the shape of both, is a scalar, or has
 * one value per row. In SelectV2 all three broadcast. */
#include <string.h>

#include "base/copy.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/support/select_elements.h"

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

static void select_range(void *arg, int64_t begin, int64_t end) {
  const SelectJob *job = arg;
  int64_t size = job->row_bytes;
  const void *operands[SELECT_OPERANDS] = {job->condition + begin, (const char *)job->t + begin * size,
                                           (const char *)job->e + begin * size};
  select_elements(end - begin, size, operands, 0, (char *)job->out + begin * size);
}

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
  if (row > 0)
    parallel_work(context->parallel, count, (double)row, row == 1 ? select_range : select_rows, &job);
  return true;
}

/* --- SelectV2 --- */

static bool choose_strings(const KernelContext *context, const Shape *const *shapes, Tensor *out,
                           Status *status) {
  SelectNest nest;
  int64_t index[SHAPE_MAX_RANK], count = tensor_num_elements(out);
  if (count == 0) return true;
  select_nest_plan(&nest, shapes, &out->shape);
  Odometer o = select_nest_walk(&nest, index);
  odometer_seek(&o, SELECT_OPERANDS, 0);
  for (int64_t i = 0; i < count; i++, odometer_advance(&o, SELECT_OPERANDS, 1)) {
    int k =
        tensor_bool(context->inputs[SELECT_CONDITION])[o.at[SELECT_CONDITION]] ? SELECT_THEN : SELECT_ELSE;
    TRY(tstring_copy(&tensor_strings(out)[i], &tensor_strings(context->inputs[k])[o.at[k]], status));
  }
  return true;
}

static bool select_v2_broadcast(KernelContext *context, const Shape *const *shapes, const Shape *shape,
                                Status *status) {
  DataType type = context->inputs[SELECT_THEN]->dtype;
  const void *data[SELECT_OPERANDS];
  Tensor *out;
  if (type != DT_STRING && !dtype_is_pod(type)) {
    return status_set(status, CODE_UNIMPLEMENTED, "SelectV2 of %s needs a scalar condition and equal shapes",
                      dtype_name(type));
  }
  TRY(kernel_allocate_output(context, 0, shape, &out, status));
  if (type == DT_STRING) return choose_strings(context, shapes, out, status);
  for (int k = 0; k < SELECT_OPERANDS; k++) data[k] = context->inputs[k]->data;
  select_broadcast(context->parallel, shapes, data, shape, (int64_t)dtype_size(type), out->data);
  return true;
}

static bool select_v2_kernel(KernelContext *context, Status *status) {
  const Shape *shapes[SELECT_OPERANDS];
  for (int k = 0; k < SELECT_OPERANDS; k++) shapes[k] = &context->inputs[k]->shape;
  if (shape_equal(shapes[SELECT_THEN], shapes[SELECT_ELSE]) &&
      (shapes[SELECT_CONDITION]->rank == 0 || shape_equal(shapes[SELECT_CONDITION], shapes[SELECT_THEN]))) {
    return select_kernel(context, status);
  }
  Shape shape = {0};
  bool ok = select_shape_of(shapes, &shape, status) && select_v2_broadcast(context, shapes, &shape, status);
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
  TRY(shape_broadcast(c, shape_input(c, SELECT_THEN), shape_input(c, SELECT_ELSE), &data, status));
  TRY(shape_broadcast(c, shape_input(c, SELECT_CONDITION), data, &output, status));
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
