/* SparseToDense: a tensor of a default value, with values at given indices. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/sparse/element_rows.h"

typedef struct ToDenseState {
  bool validate;
} ToDenseState;

static bool to_dense_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "validate_indices", &((ToDenseState *)memory)->validate, status);
}

/* A scalar index is one index, a vector has indices of one number. */
static int64_t num_indices(const Tensor *indices) {
  return indices->shape.rank == 0 ? 1 : shape_dim(&indices->shape, 0);
}
static int64_t index_length(const Tensor *indices) {
  return indices->shape.rank == 2 ? shape_dim(&indices->shape, 1) : 1;
}

static bool check_inputs(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *shape = context->inputs[1], *values = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank > 2)
    return status_invalid(status, "sparse_indices should be a scalar, vector, or matrix, got shape %s",
                          shape_text(&indices->shape, text));
  if (!tensor_is_vector(shape))
    return status_invalid(status, "output_shape must be rank 1, got shape %s",
                          shape_text(&shape->shape, text));
  if (tensor_num_elements(shape) != index_length(indices))
    return status_invalid(status, "output_shape has incorrect number of elements: %lld should be: %lld",
                          (long long)tensor_num_elements(shape), (long long)index_length(indices));
  int64_t count = num_indices(indices);
  bool fits = values->shape.rank == 0 || (values->shape.rank == 1 && shape_dim(&values->shape, 0) == count);
  if (!fits)
    return status_invalid(status, "sparse_values has incorrect shape %s, should be [] or [%lld]",
                          shape_text(&values->shape, text), (long long)count);
  return tensor_is_scalar(context->inputs[3]) || status_invalid(status, "default_value should be a scalar.");
}

static bool refuse_index(const Tensor *indices, int64_t i, const char *words, const Shape *shape,
                         Status *status) {
  StrBuf text = {0};
  char sizes[SHAPE_TEXT_CAPACITY];
  strbuf_printf(&text, "indices[%lld] = ", (long long)i);
  print_index(indices, i, &text);
  strbuf_printf(&text, words, shape ? shape_text(shape, sizes) : "");
  if (strbuf_ok(&text, status)) status_invalid(status, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

/* The position of index `i` in row-major order, or -1 if it is outside. */
static int64_t position(const Tensor *indices, int64_t i, const Shape *shape) {
  int64_t length = index_length(indices), at = 0;
  for (int64_t k = 0; k < length; k++) {
    int64_t value = tensor_int_at(indices, i * length + k), size = shape_dim(shape, (int)k);
    if (value < 0 || value >= size) return -1;
    at = at * size + value;
  }
  return at;
}

static bool scatter(KernelContext *context, Tensor *out, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[2];
  bool validate = ((const ToDenseState *)context->state)->validate;
  char text[SHAPE_TEXT_CAPACITY];
  int64_t before = -1;
  for (int64_t i = 0; i < num_indices(indices); i++) {
    int64_t at = position(indices, i, &out->shape);
    if (at < 0 && !validate)
      return status_invalid(status, "Indices are not valid (out of bounds).  Shape: %s",
                            shape_text(&out->shape, text));
    if (at < 0)
      return refuse_index(indices, i, " is out of bounds: need 0 <= index < %s", &out->shape, status);
    if (validate && at == before) return refuse_index(indices, i, " is repeated%s", NULL, status);
    if (validate && at < before)
      return refuse_index(indices, i, " is out of order. Many sparse ops require sorted indices.%s", NULL,
                          status);
    before = at;
    TRY(copy_elements(values, values->shape.rank == 0 ? 0 : i, out, at, 1, status));
  }
  return true;
}

static bool sparse_to_dense(KernelContext *context, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  const Tensor *shape = context->inputs[1];
  Tensor *out;
  TRY(check_inputs(context, status));
  if (tensor_num_elements(shape) > SHAPE_MAX_RANK)
    return status_invalid(status, "output_shape has more than %d elements", SHAPE_MAX_RANK);
  for (int64_t i = 0; i < tensor_num_elements(shape); i++) {
    dims[i] = tensor_int_at(shape, i);
    if (dims[i] < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)dims[i]);
  }
  TRY(kernel_allocate_output_dims(context, 0, (int)tensor_num_elements(shape), dims, &out, status));
  ArrayBox box = {0};
  array_box_add(&box, tensor_num_elements(out), 0, 1);
  return array_box_copy(&box, context->inputs[3], out, context->parallel, status) &&
         scatter(context, out, status);
}

static bool to_dense_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  TRY(shape_from_input_tensor(c, 1, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* The rows of dy at the indices belong to the values, the others to the default. */
static const char kToDenseGradient[] =
    "SparseToDenseGradient[T:type, Tindices:{int32, int64}](indices:Tindices, shape:Tindices, values:T, "
    "default:T, "
    "dy:T) -> (dindices:Tindices, dshape:Tindices, dvalues:T, ddefault:T) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  last = Const[dtype=$Tindices, value=[-1]]()\n"
    "  length = Shape[T=$Tindices, out_type=$Tindices](shape)\n"
    "  columns = ConcatV2[N=2, T=$Tindices, Tidx=int32](last:output:0, length:output:0, zero:output:0)\n"
    "  rows = Reshape[T=$Tindices, Tshape=$Tindices](indices, columns:output:0)\n"
    "  at = GatherNd[Tparams=$T, Tindices=$Tindices](dy, rows:output:0)\n"
    "  first = Const[dtype=int32, value=[0]]()\n"
    "  sizes = Shape[T=$T, out_type=int32](values)\n"
    "  at_sizes = Shape[T=$T, out_type=int32](at:output:0)\n"
    "  axes = BroadcastGradientArgs[T=int32](at_sizes:output:0, sizes:output:0)\n"
    "  summed = Sum[T=$T, Tidx=int32](at:output:0, axes:r1:0)\n"
    "  dvalues = Reshape[T=$T, Tshape=int32](summed:output:0, sizes:output:0)\n"
    "  minus = Const[dtype=int32, value=[-1]]()\n"
    "  flat = Reshape[T=$T, Tshape=int32](dy, minus:output:0)\n"
    "  total = Sum[T=$T, Tidx=int32](flat:output:0, first:output:0)\n"
    "  taken = Sum[T=$T, Tidx=int32](at:output:0, first:output:0)\n"
    "  ddefault = Sub[T=$T](total:output:0, taken:output:0)\n"
    "  dindices = ZerosLike[T=$Tindices](indices)\n"
    "  dshape = ZerosLike[T=$Tindices](shape)\n"
    "  return dindices = dindices:y:0, dshape = dshape:y:0, dvalues = dvalues:output:0, ddefault = "
    "ddefault:z:0\n"
    "}\n";

const OpRegistration kOpSparseToDense = {
    .name = "SparseToDense",
    .inputs = {"sparse_indices: Tindices", "output_shape: Tindices", "sparse_values: T", "default_value: T"},
    .outputs = {"dense: T"},
    .attrs = {"validate_indices: bool = true", "T: type", "Tindices: {int32, int64}"},
    .shape = to_dense_shape,
    .gradient = kToDenseGradient,
    .state_size = sizeof(ToDenseState),
    .construct = to_dense_construct,
    .kernels = {{DT_INVALID, sparse_to_dense}},
};
