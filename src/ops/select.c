/* Select: t where the condition holds, e elsewhere. The condition is as large as both, a scalar, or one value per row. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/element_types.h"

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
    if (from != to) memcpy(to, from, (size_t)job->row_bytes);
  }
}

#define TEMPLATE "ops/select_lanes.inc"
#define TYPES (TYPES_INT | TYPES_SMALL)
#include "ops/each_type.inc"

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

static bool select_kernel(KernelContext *context, Status *status) {
  const Tensor *condition = context->inputs[0], *t = context->inputs[1], *e = context->inputs[2];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (!shape_equal(&t->shape, &e->shape)) {
    return status_invalid(status, "'then' and 'else' must have the same size.  but received: %s vs. %s", shape_text(&t->shape, a),
                          shape_text(&e->shape, b));
  }
  if (tensor_is_scalar(condition)) {
    return kernel_set_output(context, 0, tensor_bool(condition)[0] ? t : e, NULL, status);
  }
  int64_t count = tensor_num_elements(condition), elements = tensor_num_elements(t);
  if (!shape_equal(&condition->shape, &t->shape)) {
    if (!tensor_is_vector(condition)) {
      return status_invalid(status, "'cond' must be a vector, but saw shape: %s", shape_text(&condition->shape, a));
    }
    if (t->shape.rank < 1) {
      return status_invalid(status, "'then' must be at least a vector, but saw shape: %s", shape_text(&t->shape, a));
    }
    if (shape_dim(&t->shape, 0) != count) {
      return status_invalid(status, "Number of batches of 'then' must match size of 'cond', but saw: %lld vs. %lld",
                            (long long)shape_dim(&t->shape, 0), (long long)count);
    }
  }
  int64_t row = count == 0 ? 0 : elements / count;
  if (t->dtype == DT_STRING) return select_strings(context, row == 0 ? 0 : count, row, status);
  if (!dtype_is_pod(t->dtype)) {
    return status_set(status, CODE_UNIMPLEMENTED, "Select of %s needs a scalar condition", dtype_name(t->dtype));
  }
  bool take_e = context->last_use != NULL && !context->last_use[1] && context->last_use[2];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, take_e ? 2 : 1, 0, &t->shape, &out, status));
  int64_t size = (int64_t)dtype_size(t->dtype);
  SelectJob job = {tensor_bool(condition), t->data, e->data, out->data, row * size};
  ParallelBody *body = select_rows;
  if (row == 1) {
    body = size == 1 ? select_u8 : size == 2 ? select_u16 : size == 4 ? select_i32 : size == 8 ? select_i64 : select_rows;
  }
  if (row > 0) parallel_for(context->parallel, count, 1 + ELEMENTWISE_GRAIN / row, body, &job);
  return true;
}

/* Shapes of what resource handles refer to must agree as the values do. */
static bool merge_handles(InferenceContext *c, Status *status) {
  const HandleData *t = c->input_handles != NULL ? c->input_handles[1] : NULL;
  const HandleData *e = c->input_handles != NULL ? c->input_handles[2] : NULL;
  if (t == NULL || e == NULL || c->output_handles == NULL) return true;
  if (t->count != e->count) {
    return status_invalid(status, "Trying to merge handles pointing to different numbers of tensors.");
  }
  ShapeAndType *entries = arena_calloc(c->arena, t->count, sizeof *entries);
  HandleData *merged = arena_alloc(c->arena, sizeof *merged);
  if (entries == NULL || merged == NULL) return status_oom(status, "handle data");
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
    /* One value per row: checked, but the data's shape stays as it is. */
    DimHandle rows;
    TRY(dim_merge(c, shape_dim_of(c, data, 0), shape_dim_of(c, condition, 0), &rows, status));
    shape_set_output(c, 0, data);
    return true;
  }
  TRY(shape_merge(c, data, condition, &data, status));
  shape_set_output(c, 0, data);
  return true;
}

REGISTER_OP(Select,
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
  .kernels = {{DT_INVALID, select_kernel}})
