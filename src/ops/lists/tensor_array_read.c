/* Ops that read TensorArrays: one element (Read), several elements stacked along a new dimension (Gather), or
 * all elements concatenated along their first dimension (Concat). */
#include <stdint.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/support/elements.h"
#include "ops/lists/tensor_array.h"
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

static bool refuse_empty(const char *what, const char *doing, int rank, const int64_t *dims, Status *status) {
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

/* --- elements that were read --- */

static void drop_all(Tensor *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) tensor_clear(&values[i]);
  mem_free(values);
}

/* Reads the elements `indices`, or the first `count` elements if it is NULL. NULL with status on failure. */
static Tensor *read_all(TensorArray *array, const int32_t *indices, int64_t count, BufferPool *pool,
                        Status *status) {
  Tensor *values = mem_calloc(count, sizeof *values);
  if (!values) {
    status_oom(status, "elements of a tensor array");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) {
    if (tensor_array_read(array, indices ? indices[i] : i, &values[i], pool, status)) continue;
    drop_all(values, count);
    return NULL;
  }
  return values;
}

/* Sets the output to the concatenation of the values. */
static bool join(KernelContext *context, const Tensor *values, int64_t count, int rank, const int64_t *dims,
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

static bool no_elements(KernelContext *context, int rank, const int64_t *dims, Status *status) {
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
  return join(context, values, count, shape->rank + 1, dims, status);
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
               ? no_elements(context, array->rank, array->dims, status)
               : refuse_empty("element shape", "packing", array->rank, array->dims, status);
  Tensor *values = read_all(array, tensor_i32(indices), count, context->pool, status);
  if (!values) return false;
  bool ok = gather_values(context, values, count, status);
  drop_all(values, count);
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

/* --- Concat --- */

static bool concat_construct(const KernelConstruction *construction, void *memory, Status *status) {
  PackState *state = memory;
  return array_shape_attr(construction->node, "element_shape_except0", &state->rank, state->dims, status);
}

static bool check_rows(const PackState *state, const Tensor *values, int64_t i, Status *status) {
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
  return join(context, values, count, values[0].shape.rank, dims, status);
}

static bool concat(KernelContext *context, Status *status) {
  const PackState *state = context->state;
  TensorArray *array;
  Tensor *lengths;
  TRY(tensor_array_of_type(context->inputs[0], context->output_types[0], "requested", &array, status));
  int64_t count = array->count;
  if (count == 0) {
    if (!element_shape_known(state->rank, state->dims))
      return refuse_empty("element_shape_except0", "concatenating", state->rank, state->dims, status);
    return kernel_allocate_output_dims(context, 1, 1, &count, &lengths, status) &&
           no_elements(context, state->rank, state->dims, status);
  }
  Tensor *values = read_all(array, NULL, count, context->pool, status);
  if (!values) return false;
  bool ok = concat_values(context, values, count, status);
  drop_all(values, count);
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
    .state_size = sizeof(PackState),
    .construct = concat_construct,
    .kernels = {{DT_INVALID, concat}},
};
