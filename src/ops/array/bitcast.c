/* Bitcast: the same bytes as elements of another type. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"

static bool sizes(DataType from, DataType to, int64_t *in, int64_t *out, Status *status) {
  *in = (int64_t)dtype_size(from);
  *out = (int64_t)dtype_size(to);
  if (dtype_is_pod(from) && dtype_is_pod(to) && *in > 0 && *out > 0) return true;
  return status_invalid(status, "Cannot bitcast types %s to %s because one of the type sizes is zero.",
                        dtype_name(from), dtype_name(to));
}

static bool bitcast_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  DataType from = input->dtype, to = context->output_types[0];
  int64_t in, out, dims[SHAPE_MAX_RANK + 1];
  int rank = input->shape.rank;
  TRY(sizes(from, to, &in, &out, status));
  for (int d = 0; d < rank; d++) dims[d] = shape_dim(&input->shape, d);
  if (in > out) {
    if (rank == SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
    dims[rank++] = in / out;
  } else if (in < out) {
    if (rank == 0 || dims[rank - 1] != out / in) {
      return status_invalid(status, "Cannot bitcast from %d to %d", (int)from, (int)to);
    }
    rank--;
  }
  Tensor *made;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &made, status));
  if (tensor_num_elements(input) > 0) memcpy(made->data, input->data, (size_t)tensor_bytes(made));
  return true;
}

static bool bitcast_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), more;
  DataType from, to;
  int64_t in, out;
  DimHandle last;
  TRY(node_attr_type(c->node, "T", &from, status));
  TRY(node_attr_type(c->node, "type", &to, status));
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  TRY(sizes(from, to, &in, &out, status));
  if (in < out) {
    TRY(shape_with_rank_at_least(c, input, 1, &input, status));
    last = shape_dim_of(c, input, -1);
    if (dim_known(last) && dim_value(last) != out / in) {
      return status_invalid(status, "Cannot bitcast due to shape. %lld does not match %lld",
                            (long long)dim_value(last), (long long)(out / in));
    }
    TRY(shape_subshape(c, input, 0, -1, 1, &input, status));
  } else if (in > out) {
    TRY(shape_ok(shape_vector(c, dim_make(c, in / out)), &more, status));
    TRY(shape_concatenate(c, input, more, &input, status));
  }
  shape_set_output(c, 0, input);
  return true;
}

#define BITS                                                                                              \
  "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, " \
  "complex128, "                                                                                          \
  "qint8, quint8, qint16, quint16, qint32}"

const OpRegistration kOpBitcast = {
    .name = "Bitcast",
    .inputs = {"input: T"},
    .outputs = {"output: type"},
    .attrs = {"T: " BITS, "type: " BITS},
    .shape = bitcast_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, bitcast_kernel}},
};
