/* Ops on all elements of a TensorArray that have several rows each: they are concatenated along their first
 * dimension (Concat), or written as consecutive groups of the rows of a tensor (Split). */
#include "op/node_def.h"
#include "ops/lists/tensor_array.h"
#include "ops/lists/tensor_array_rows.h"
#include "ops/lists/tensor_array_shapes.h"
#include "ops/lists/tensor_list.h"

/* --- Concat --- */

typedef struct ConcatState {
  int rank; /* of the elements, as the node says it, without their first dimension; -1: unknown */
  int64_t dims[SHAPE_MAX_RANK];
} ConcatState;

/* "[2,3]" of a shape from dimension `first` on. */
static const char *rest_text(const Shape *shape, int first, char text[SHAPE_TEXT_CAPACITY]) {
  Shape rest = {0};
  Status ignored;
  status_init(&ignored);
  bool ok = shape_set(&rest, shape->rank - first, shape_dims(shape) + first, &ignored);
  const char *made = ok ? shape_text(&rest, text) : "[...]";
  shape_clear(&rest);
  return made;
}

static bool same_rest(const Shape *a, const Shape *b, int first) {
  if (a->rank != b->rank) return false;
  for (int i = first; i < a->rank; i++) {
    if (shape_dim(a, i) != shape_dim(b, i)) return false;
  }
  return true;
}

static bool concat_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ConcatState *state = memory;
  return array_shape_attr(construction->node, "element_shape_except0", &state->rank, state->dims, status);
}

static bool check_rows(const ConcatState *state, const Tensor *values, int64_t i, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  const Shape *first = &values[0].shape, *shape = &values[i].shape;
  StrBuf said = {0};
  if (shape->rank < 1)
    return status_invalid(status,
                          "Concat saw a scalar shape at index %lld but requires at least vectors.  "
                          "Did you mean to call pack?",
                          (long long)i);
  if (!same_rest(first, shape, 1))
    return status_invalid(status,
                          "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                          "%s but index %lld has (excepting dimension 0) shape: %s",
                          rest_text(first, 1, a), (long long)i, rest_text(shape, 1, b));
  if (i > 0 || array_shape_fits(state->rank, state->dims, shape, 1)) return true;
  element_shape_print(state->rank, state->dims, &said);
  if (strbuf_ok(&said, status))
    status_invalid(status,
                   "TensorArray was passed element_shape_except0 %s but index 0 has (excepting dimension 0) "
                   "shape: %s which does not match.",
                   strbuf_text(&said), rest_text(shape, 1, a));
  strbuf_free(&said);
  return false;
}

static bool concat_values(KernelContext *context, const Tensor *values, int64_t count, Status *status) {
  int64_t dims[SHAPE_MAX_RANK], rows = 0;
  Tensor *lengths;
  for (int64_t i = 0; i < count; i++) {
    TRY(check_rows(context->state, values, i, status));
    if (__builtin_add_overflow(rows, shape_dim(&values[i].shape, 0), &rows))
      return status_invalid(status, "Too many rows");
  }
  dims[0] = rows;
  for (int i = 1; i < values[0].shape.rank; i++) dims[i] = shape_dim(&values[0].shape, i);
  TRY(kernel_allocate_output_dims(context, 1, 1, &count, &lengths, status));
  for (int64_t i = 0; i < count; i++) tensor_i64(lengths)[i] = shape_dim(&values[i].shape, 0);
  return array_join(context, values, count, values[0].shape.rank, dims, status);
}

static bool concat(KernelContext *context, Status *status) {
  const ConcatState *state = context->state;
  TensorArray *array;
  Tensor *lengths;
  TRY(tensor_array_of_type(context->inputs[0], context->output_types[0], "requested", &array, status));
  int64_t count = array->count;
  if (count == 0) {
    if (!element_shape_known(state->rank, state->dims))
      return array_refuse_empty("element_shape_except0", "concatenating", state->rank, state->dims, status);
    return kernel_allocate_output_dims(context, 1, 1, &count, &lengths, status) &&
           array_no_elements(context, state->rank, state->dims, status);
  }
  Tensor *values = array_read_all(array, NULL, count, context->pool, status);
  if (!values) return false;
  bool ok = concat_values(context, values, count, status);
  array_drop_all(values, count);
  return ok;
}

static bool concat_shape(InferenceContext *c, Status *status) {
  ShapeHandle value, lengths;
  TRY(array_check_inputs(c, 1, status));
  TRY(shape_ok(shape_unknown(c), &value, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &lengths, status));
  shape_set_output(c, 0, value);
  shape_set_output(c, 1, lengths);
  return true;
}

/* The gradient splits dvalue by the lengths of the elements. The elements may have been cleared by then, but
 * an array of gradients has their shapes. So the lengths come from an array of gradients without writes. */
const OpRegistration kOpTensorArrayConcatV3 = {
    .name = "TensorArrayConcatV3",
    .inputs = {"handle: resource", "flow_in: float"},
    .outputs = {"value: dtype", "lengths: int64"},
    .attrs = {"dtype: type", "element_shape_except0: shape = { unknown_rank: true }"},
    .is_stateful = true,
    .shape = concat_shape,
    .gradient =
        "TensorArrayConcatV3Gradient[dtype:type](handle:resource, flow_in:float, dvalue:dtype, "
        "dlengths:int64) -> (dhandle:float, dflow:float) {\n"
        "  g = TensorArrayGradV3[source='gradients'](handle, flow_in)\n"
        "  z = TensorArrayGradV3[source='lengths', _keeps_elements=true](handle, flow_in)\n"
        "  zeros = TensorArrayConcatV3[dtype=$dtype](z:grad_handle, z:flow_out)\n"
        "  w = TensorArraySplitV3[T=$dtype](g:grad_handle, dvalue, zeros:lengths, g:flow_out)\n"
        "  none = ZerosLike[T=float](flow_in)\n"
        "  return dhandle = none:y, dflow = w:flow_out\n"
        "}\n",
    .state_size = sizeof(ConcatState),
    .construct = concat_construct,
    .kernels = {{DT_INVALID, concat}},
};

/* --- Split --- */

static bool check_split(const TensorArray *array, const Tensor *value, const Tensor *lengths,
                        Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t total = 0, count = tensor_num_elements(lengths);
  TRY(array_check_vector("lengths to be a vector,", lengths, status));
  if (value->shape.rank < 1)
    return status_invalid(status, "Expected value to be at least a vector, but received shape: %s",
                          shape_text(&value->shape, text));
  for (int64_t i = 0; i < count; i++) {
    int64_t length = tensor_i64(lengths)[i];
    if (length < 0)
      return status_invalid(status, "Expected lengths to be >= 0, but saw: %lld", (long long)length);
    if (__builtin_add_overflow(total, length, &total)) total = INT64_MAX;
  }
  if (total != shape_dim(&value->shape, 0))
    return status_invalid(status,
                          "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                          "%lld and value's shape is: %s",
                          (long long)total, shape_text(&value->shape, text));
  return count == array->count || (array->dynamic_size && count > array->count) ||
         status_invalid(status,
                        "TensorArray's size is not equal to the size of lengths (%lld vs. %lld), and the "
                        "TensorArray is not marked as dynamically resizeable",
                        (long long)array->count, (long long)count);
}

static bool split(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[1], *lengths = context->inputs[2];
  TensorArray *array;
  TRY(tensor_array_of_type(context->inputs[0], value->dtype, "is trying to write", &array, status));
  TRY(check_split(array, value, lengths, status));
  int64_t count = tensor_num_elements(lengths);
  for (int64_t i = 0, row = 0; i < count; i++) {
    TRY(array_write_rows(context, array, i, value, row, tensor_i64(lengths)[i], true, status));
    row += tensor_i64(lengths)[i];
  }
  return kernel_set_output(context, 0, context->inputs[3], NULL, status);
}

static bool split_shape(InferenceContext *c, Status *status) {
  ShapeHandle lengths;
  TRY(array_check_inputs(c, 3, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &lengths, status));
  return array_set_flow(c, 0, status);
}

const OpRegistration kOpTensorArraySplitV3 = {
    .name = "TensorArraySplitV3",
    .inputs = {"handle: resource", "value: T", "lengths: int64", "flow_in: float"},
    .outputs = {"flow_out: float"},
    .attrs = {"T: type"},
    .is_stateful = true,
    .shape = split_shape,
    .gradient =
        "TensorArraySplitV3Gradient[T:type](handle:resource, value:T, lengths:int64, flow_in:float, "
        "dflow:float) -> (dhandle:float, dvalue:T, dlengths:int64, dflow_in:float) {\n"
        "  g = TensorArrayGradV3[source='gradients'](handle, dflow)\n"
        "  d = TensorArrayConcatV3[dtype=$T](g:grad_handle, g:flow_out)\n"
        "  none = ZerosLike[T=float](dflow)\n"
        "  zero = ZerosLike[T=int64](lengths)\n"
        "  return dhandle = none:y, dvalue = d:value, dlengths = zero:y, dflow_in = dflow\n"
        "}\n",
    .kernels = {{DT_INVALID, split}},
};
