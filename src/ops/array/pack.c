/* Pack joins tensors along a new axis, Unpack splits them again. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

typedef struct PackState {
  int64_t axis; /* as in the attr: negative from the end */
} PackState;

static bool pack_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "axis", &((PackState *)memory)->axis, status);
}

static bool check_axis(int64_t wanted, int rank, int *axis, Status *status) {
  if (wanted < -rank || wanted >= rank) {
    return status_invalid(status, "axis = %lld not in [%d, %d)", (long long)wanted, -rank, rank);
  }
  *axis = (int)(wanted < 0 ? wanted + rank : wanted);
  return true;
}

/* The sizes before the axis and from it on: a packed tensor is [rows, count, inner]. */
static void split_at(const Shape *shape, int axis, int first_inner, int64_t *rows, int64_t *inner) {
  *rows = *inner = 1;
  for (int d = 0; d < axis; d++) *rows *= shape_dim(shape, d);
  for (int d = first_inner; d < shape->rank; d++) *inner *= shape_dim(shape, d);
}

static bool pack_kernel(KernelContext *context, Status *status) {
  const Shape *first = &context->inputs[0]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int count = context->num_inputs, rank = first->rank + 1, axis = 0;
  for (int i = 1; i < count; i++) {
    if (shape_equal(&context->inputs[i]->shape, first)) continue;
    return status_invalid(status,
                          "Shapes of all inputs must match: values[0].shape = %s != values[%d].shape = %s",
                          shape_text(first, a), i, shape_text(&context->inputs[i]->shape, b));
  }
  TRY(check_axis(((const PackState *)context->state)->axis, rank, &axis, status));
  if (rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  int64_t dims[SHAPE_MAX_RANK], rows, inner;
  for (int d = 0; d < rank; d++) dims[d] = d == axis ? count : shape_dim(first, d < axis ? d : d - 1);
  if (count == 1) {
    Shape shape = {0};
    TRY(shape_set(&shape, rank, dims, status));
    bool ok = kernel_set_output(context, 0, context->inputs[0], &shape, status);
    shape_clear(&shape);
    return ok;
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  split_at(first, axis, axis, &rows, &inner);
  for (int i = 0; i < count; i++) {
    ArrayBox box = {.to_offset = i * inner};
    array_box_add(&box, rows, inner, count * inner);
    array_box_add(&box, inner, 1, 1);
    TRY(array_box_copy(&box, context->inputs[i], out, context->parallel, status));
  }
  return true;
}

static bool shape_axis(InferenceContext *c, int32_t rank, int32_t *axis, Status *status) {
  int64_t wanted;
  TRY(node_attr_int(c->node, "axis", &wanted, status));
  if (wanted < -rank || wanted >= rank) {
    return status_invalid(status, "Invalid axis: %lld; must be in [%d,%d)", (long long)wanted, -rank, rank);
  }
  *axis = (int32_t)(wanted < 0 ? wanted + rank : wanted);
  return true;
}

static bool pack_shape(InferenceContext *c, Status *status) {
  if (c->num_inputs < 1) return status_invalid(status, "Pack needs at least one value");
  ShapeHandle merged = shape_input(c, c->num_inputs - 1), output;
  for (int i = c->num_inputs - 2; i >= 0; i--) {
    if (!shape_merge(c, shape_input(c, i), merged, &merged, status)) {
      return status_append(status, "\n\tFrom merging shape %d with other shapes.", i);
    }
  }
  if (!shape_rank_known(merged)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(merged) + 1, axis = 0;
  TRY(shape_axis(c, rank, &axis, status));
  DimHandle *dims = arena_alloc(c->arena, rank * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  for (int32_t d = 0; d < rank; d++) {
    TRY(dim_ok(d == axis ? dim_make(c, c->num_inputs) : shape_dim_of(c, merged, d < axis ? d : d - 1),
               &dims[d], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool pack_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "N", &n, status));
  strbuf_append(text, "PackGradient[T:type, axis:int](");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "x%lld:T, ", (long long)i);
  strbuf_append(text, "dy:T) -> (");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdx%lld:T", i == 0 ? "" : ", ", (long long)i);
  strbuf_printf(text, ") {\n  d = Unpack[num=%lld, T=$T, axis=$axis](dy)\n  return ", (long long)n);
  for (int64_t i = 0; i < n; i++) {
    strbuf_printf(text, "%sdx%lld = d:output:%lld", i == 0 ? "" : ", ", (long long)i, (long long)i);
  }
  strbuf_append(text, "\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpPack = {
    .name = "Pack",
    .inputs = {"values: N * T"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 1", "T: type", "axis: int = 0"},
    .shape = pack_shape,
    .gradient_fn = pack_gradient,
    .state_size = sizeof(PackState),
    .construct = pack_construct,
    .kernels = {{DT_INVALID, pack_kernel}},
};

/* --- Unpack --- */

static bool unpack_kernel(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[0];
  const Shape *shape = &value->shape;
  char text[SHAPE_TEXT_CAPACITY];
  int rank = shape->rank, count = context->num_outputs, axis = 0;
  TRY(check_axis(((const PackState *)context->state)->axis, rank, &axis, status));
  if (shape_dim(shape, axis) != count) {
    return status_invalid(status, "Input shape axis %d must equal %d, got shape %s", axis, count,
                          shape_text(shape, text));
  }
  int64_t dims[SHAPE_MAX_RANK], rows = 0, inner = 0;
  for (int d = 0; d < rank - 1; d++) dims[d] = shape_dim(shape, d < axis ? d : d + 1);
  if (tensor_num_elements(value) > 0) split_at(shape, axis, axis + 1, &rows, &inner);
  for (int i = 0; i < count; i++) {
    ArrayBox box = {.from_offset = i * inner};
    array_box_add(&box, rows, count * inner, inner);
    array_box_add(&box, inner, 1, 1);
    TRY(array_box_take(context, i, &box, value, rank - 1, dims, status));
  }
  return true;
}

static bool unpack_shape(InferenceContext *c, Status *status) {
  ShapeHandle value = shape_input(c, 0), output;
  if (!shape_rank_known(value)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(value), axis = 0;
  TRY(shape_axis(c, rank, &axis, status));
  DimHandle count, *dims = arena_alloc(c->arena, rank * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  TRY(dim_with_value(c, shape_dim_of(c, value, axis), c->num_outputs, &count, status));
  for (int32_t d = 0; d < rank - 1; d++) dims[d] = shape_dim_of(c, value, d < axis ? d : d + 1);
  TRY(shape_ok(shape_of_dims(c, dims, rank - 1), &output, status));
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, output);
  return true;
}

static bool unpack_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "num", &n, status));
  strbuf_append(text, "UnpackGradient[T:type, axis:int](value:T");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, ", dy%lld:T", (long long)i);
  strbuf_append(text, ") -> (dvalue:T) {\n");
  if (n == 0) {
    strbuf_append(text, "  d = ZerosLike[T=$T](value)\n  return dvalue = d:y:0\n}\n");
  } else {
    strbuf_printf(text, "  d = Pack[N=%lld, T=$T, axis=$axis](", (long long)n);
    for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdy%lld", i == 0 ? "" : ", ", (long long)i);
    strbuf_append(text, ")\n  return dvalue = d:output:0\n}\n");
  }
  return strbuf_ok(text, status);
}

const OpRegistration kOpUnpack = {
    .name = "Unpack",
    .inputs = {"value: T"},
    .outputs = {"output: num * T"},
    .attrs = {"num: int >= 0", "T: type", "axis: int = 0"},
    .shape = unpack_shape,
    .gradient_fn = unpack_gradient,
    .state_size = sizeof(PackState),
    .construct = pack_construct,
    .kernels = {{DT_INVALID, unpack_kernel}},
};
