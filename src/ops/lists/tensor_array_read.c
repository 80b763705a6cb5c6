/* Ops that read TensorArrays: one element (Read), or several elements stacked along a new dimension (Gather).
 */
#include <stdint.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/support/elements.h"
#include "ops/lists/tensor_array.h"
#include "ops/lists/tensor_array_rows.h"
#include "ops/lists/tensor_array_shapes.h"
#include "ops/lists/tensor_list.h"

/* --- Read --- */

static bool read_element(KernelContext *context, Status *status) {
  TensorArray *array;
  int64_t index;
  TRY(array_read_index(context->inputs[1], &index, status));
  TRY(tensor_array_of_type(context->inputs[0], context->output_types[0], "requested", &array, status));
  return tensor_array_read(array, index, &context->outputs[0], context->pool, status);
}

static bool read_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar, element = array_element_shape(c);
  TRY(array_check_inputs(c, 2, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  if (!element) TRY(shape_ok(shape_unknown(c), &element, status));
  shape_set_output(c, 0, element);
  return true;
}

const OpRegistration kOpTensorArrayReadV3 = {
    .name = "TensorArrayReadV3",
    .inputs = {"handle: resource", "index: int32", "flow_in: float"},
    .outputs = {"value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = read_shape,
    .gradient =
        "TensorArrayReadV3Gradient[dtype:type](handle:resource, index:int32, flow_in:float, dvalue:dtype) -> "
        "(dhandle:float, dindex:int32, dflow:float) {\n"
        "  g = TensorArrayGradV3[source='gradients'](handle, flow_in)\n"
        "  w = TensorArrayWriteV3[T=$dtype](g:grad_handle, index, dvalue, g:flow_out)\n"
        "  none = ZerosLike[T=float](flow_in)\n"
        "  zero = ZerosLike[T=int32](index)\n"
        "  return dhandle = none:y, dindex = zero:y, dflow = w:flow_out\n"
        "}\n",
    .kernels = {{DT_INVALID, read_element}},
};

/* --- reading several elements --- */

typedef struct PackState {
  int rank; /* the rank of the elements according to the node; -1: unknown */
  int64_t dims[SHAPE_MAX_RANK];
} PackState;

bool array_refuse_empty(const char *what, const char *doing, int rank, const int64_t *dims, Status *status) {
  StrBuf text = {0};
  element_shape_print(rank, dims, &text);
  if (strbuf_ok(&text, status))
    status_set(status, CODE_UNIMPLEMENTED,
               "TensorArray has size zero, but %s %s is not fully defined. Currently only static shapes are "
               "supported when %s zero-size TensorArrays.",
               what, strbuf_text(&text), doing);
  strbuf_free(&text);
  return false;
}

/* --- elements that were read --- */

void array_drop_all(Tensor *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) tensor_clear(&values[i]);
  mem_free(values);
}

Tensor *array_read_all(TensorArray *array, const int32_t *indices, int64_t count, BufferPool *pool,
                       Status *status) {
  Tensor *values = mem_calloc(count, sizeof *values);
  if (!values) {
    status_oom(status, "elements of a tensor array");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) {
    if (tensor_array_read(array, indices ? indices[i] : i, &values[i], pool, status)) continue;
    array_drop_all(values, count);
    return NULL;
  }
  return values;
}

bool array_join(KernelContext *context, const Tensor *values, int64_t count, int rank, const int64_t *dims,
                Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  for (int64_t i = 0, at = 0; i < count; i++) {
    int64_t size = tensor_num_elements(&values[i]);
    TRY(tensor_copy_elements(&values[i], 0, out, at, size, status));
    at += size;
  }
  return true;
}

bool array_no_elements(KernelContext *context, int rank, const int64_t *dims, Status *status) {
  int64_t all[SHAPE_MAX_RANK];
  Tensor *out;
  if (rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  all[0] = 0;
  for (int i = 0; i < rank; i++) all[i + 1] = dims[i];
  return kernel_allocate_output_dims(context, 0, rank + 1, all, &out, status);
}

/* --- Gather --- */

static bool gather_construct(const KernelConstruction *construction, void *memory, Status *status) {
  PackState *state = memory;
  return array_shape_attr(construction->node, "element_shape", &state->rank, state->dims, status);
}

static bool check_gathered(const PackState *state, const Tensor *values, int64_t count, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  StrBuf said = {0};
  if (!array_shape_fits(state->rank, state->dims, &values[0].shape, 0)) {
    element_shape_print(state->rank, state->dims, &said);
    if (strbuf_ok(&said, status))
      status_invalid(status,
                     "TensorArray was passed element_shape %s which does not match the Tensor at "
                     "index 0: %s",
                     strbuf_text(&said), shape_text(&values[0].shape, a));
    strbuf_free(&said);
    return false;
  }
  for (int64_t i = 1; i < count; i++) {
    if (!shape_equal(&values[0].shape, &values[i].shape))
      return status_invalid(status,
                            "TensorArray has inconsistent shapes.  Index 0 has shape: %s but index %lld has "
                            "shape: %s",
                            shape_text(&values[0].shape, a), (long long)i, shape_text(&values[i].shape, b));
  }
  return true;
}

static bool gather_values(KernelContext *context, const Tensor *values, int64_t count, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  const Shape *shape = &values[0].shape;
  TRY(check_gathered(context->state, values, count, status));
  if (shape->rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  dims[0] = count;
  for (int i = 0; i < shape->rank; i++) dims[i + 1] = shape_dim(shape, i);
  return array_join(context, values, count, shape->rank + 1, dims, status);
}

static bool gather(KernelContext *context, Status *status) {
  const PackState *state = context->state;
  const Tensor *indices = context->inputs[1];
  TensorArray *array;
  TRY(tensor_array_of_type(context->inputs[0], context->output_types[0], "requested", &array, status));
  TRY(tensor_array_merge_shape(array, state->rank, state->dims, status));
  TRY(array_check_vector("indices to be a vector, but", indices, status));
  int64_t count = tensor_num_elements(indices);
  if (count == 0)
    return element_shape_known(array->rank, array->dims)
               ? array_no_elements(context, array->rank, array->dims, status)
               : array_refuse_empty("element shape", "packing", array->rank, array->dims, status);
  Tensor *values = array_read_all(array, tensor_i32(indices), count, context->pool, status);
  if (!values) return false;
  bool ok = gather_values(context, values, count, status);
  array_drop_all(values, count);
  return ok;
}

static bool gather_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices, element = array_element_shape(c);
  const TensorShapeProto *said;
  TRY(array_check_inputs(c, 2, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &indices, status));
  if (!element) {
    TRY(node_attr_shape(c->node, "element_shape", &said, status));
    TRY(shape_from_shape_proto(c, said, &element, status));
  }
  TRY(shape_concatenate(c, indices, element, &element, status));
  shape_set_output(c, 0, element);
  return true;
}

const OpRegistration kOpTensorArrayGatherV3 = {
    .name = "TensorArrayGatherV3",
    .inputs = {"handle: resource", "indices: int32", "flow_in: float"},
    .outputs = {"value: dtype"},
    .attrs = {"dtype: type", "element_shape: shape = { unknown_rank: true }"},
    .is_stateful = true,
    .shape = gather_shape,
    .gradient =
        "TensorArrayGatherV3Gradient[dtype:type](handle:resource, indices:int32, flow_in:float, "
        "dvalue:dtype) -> (dhandle:float, dindices:int32, dflow:float) {\n"
        "  g = TensorArrayGradV3[source='gradients'](handle, flow_in)\n"
        "  w = TensorArrayScatterV3[T=$dtype](g:grad_handle, indices, dvalue, g:flow_out)\n"
        "  none = ZerosLike[T=float](flow_in)\n"
        "  zero = ZerosLike[T=int32](indices)\n"
        "  return dhandle = none:y, dindices = zero:y, dflow = w:flow_out\n"
        "}\n",
    .state_size = sizeof(PackState),
    .construct = gather_construct,
    .kernels = {{DT_INVALID, gather}},
};
