/* Ops that write to TensorArrays: one element (Write), or each slice of a tensor (Scatter). */
#include <stdint.h>

#include "ops/support/elements.h"
#include "ops/lists/tensor_array.h"
#include "ops/lists/tensor_array_rows.h"
#include "ops/lists/tensor_array_shapes.h"

/* --- Write --- */

static bool write_element(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[2];
  TensorArray *array;
  int64_t index;
  TRY(array_read_index(context->inputs[1], &index, status));
  TRY(tensor_array_of_type(context->inputs[0], value->dtype, "is trying to write", &array, status));
  TRY(tensor_array_write(array, index, value, context->pool, status));
  return kernel_set_output(context, 0, context->inputs[3], NULL, status);
}

static bool write_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar, merged, element = array_element_shape(c);
  TRY(array_check_inputs(c, 3, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  if (element) TRY(shape_merge(c, element, shape_input(c, 2), &merged, status));
  return array_set_flow(c, 0, status);
}

const OpRegistration kOpTensorArrayWriteV3 = {
    .name = "TensorArrayWriteV3",
    .inputs = {"handle: resource", "index: int32", "value: T", "flow_in: float"},
    .outputs = {"flow_out: float"},
    .attrs = {"T: type"},
    .is_stateful = true,
    .shape = write_shape,
    .gradient =
        "TensorArrayWriteV3Gradient[T:type](handle:resource, index:int32, value:T, flow_in:float, "
        "dflow:float) -> (dhandle:float, dindex:int32, dvalue:T, dflow_in:float) {\n"
        "  g = TensorArrayGradV3[source='gradients'](handle, dflow)\n"
        "  d = TensorArrayReadV3[dtype=$T](g:grad_handle, index, g:flow_out)\n"
        "  none = ZerosLike[T=float](dflow)\n"
        "  zero = ZerosLike[T=int32](index)\n"
        "  return dhandle = none:y, dindex = zero:y, dvalue = d:value, dflow_in = dflow\n"
        "}\n",
    .kernels = {{DT_INVALID, write_element}},
};

/* --- writing several elements --- */

bool array_write_rows(KernelContext *context, TensorArray *array, int64_t index, const Tensor *value,
                      int64_t first, int64_t rows, bool keep, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank = value->shape.rank - !keep;
  dims[0] = rows;
  for (int i = keep; i < rank; i++) dims[i] = shape_dim(&value->shape, i + !keep);
  Tensor element = {0};
  TRY(tensor_allocate_dims(&element, value->dtype, rank, dims, context->pool, status));
  int64_t count = tensor_num_elements(&element), row = rows > 0 ? count / rows : 0;
  bool ok = tensor_copy_elements(value, first * row, &element, 0, count, status) &&
            tensor_array_write(array, index, &element, context->pool, status);
  tensor_clear(&element);
  return ok;
}

/* --- Scatter --- */

static bool check_scatter(const TensorArray *array, const Tensor *indices, const Tensor *value,
                          Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (value->shape.rank < 1)
    return status_invalid(status, "Input value for unpack must be at least a vector but received shape: %s",
                          shape_text(&value->shape, text));
  TRY(array_check_vector("indices to be a vector, but", indices, status));
  int64_t count = tensor_num_elements(indices), most = -1;
  if (count != shape_dim(&value->shape, 0))
    return status_invalid(status, "Expected len(indices) == values.shape[0], but saw: %lld vs. %lld",
                          (long long)count, (long long)shape_dim(&value->shape, 0));
  for (int64_t i = 0; i < count; i++) {
    if (tensor_i32(indices)[i] > most) most = tensor_i32(indices)[i];
  }
  return most < array->count || array->dynamic_size ||
         status_invalid(status, "Max scatter index must be < array size (%lld vs. %lld)", (long long)most,
                        (long long)array->count);
}

static bool scatter(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[1], *value = context->inputs[2];
  TensorArray *array;
  TRY(tensor_array_of_type(context->inputs[0], value->dtype, "is trying to write", &array, status));
  TRY(check_scatter(array, indices, value, status));
  int64_t count = tensor_num_elements(indices);
  for (int64_t i = 0; i < count; i++)
    TRY(array_write_rows(context, array, tensor_i32(indices)[i], value, i, 1, false, status));
  return kernel_set_output(context, 0, context->inputs[3], NULL, status);
}

static bool scatter_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices, rest, element = array_element_shape(c);
  DimHandle count;
  TRY(array_check_inputs(c, 3, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &indices, status));
  ShapeHandle value = shape_input(c, 2);
  if (shape_rank_known(value)) {
    TRY(shape_with_rank_at_least(c, value, 1, &value, status));
    TRY(dim_merge(c, shape_dim_of(c, value, 0), shape_dim_of(c, indices, 0), &count, status));
    TRY(shape_subshape(c, value, 1, INT64_MAX, 1, &rest, status));
    if (element) TRY(shape_merge(c, element, rest, &rest, status));
  }
  return array_set_flow(c, 0, status);
}

const OpRegistration kOpTensorArrayScatterV3 = {
    .name = "TensorArrayScatterV3",
    .inputs = {"handle: resource", "indices: int32", "value: T", "flow_in: float"},
    .outputs = {"flow_out: float"},
    .attrs = {"T: type"},
    .is_stateful = true,
    .shape = scatter_shape,
    .gradient =
        "TensorArrayScatterV3Gradient[T:type](handle:resource, indices:int32, value:T, flow_in:float, "
        "dflow:float) -> (dhandle:float, dindices:int32, dvalue:T, dflow_in:float) {\n"
        "  g = TensorArrayGradV3[source='gradients'](handle, dflow)\n"
        "  d = TensorArrayGatherV3[dtype=$T](g:grad_handle, indices, g:flow_out)\n"
        "  none = ZerosLike[T=float](dflow)\n"
        "  zero = ZerosLike[T=int32](indices)\n"
        "  return dhandle = none:y, dindices = zero:y, dvalue = d:value, dflow_in = dflow\n"
        "}\n",
    .kernels = {{DT_INVALID, scatter}},
};
