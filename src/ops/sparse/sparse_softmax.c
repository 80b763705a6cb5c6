/* SparseSoftmax: the softmax of the entries in each row of the last axis. */
#include <math.h>

#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/sparse/sparse_tensor.h"

typedef void SoftmaxRow(const void *x, void *y, int64_t begin, int64_t end);

#define TEMPLATE "ops/sparse/sparse_softmax.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

#include "ops/support/half_precision.h"
#include "simd/types/f16.inc"
#include "ops/sparse/sparse_softmax.inc"
#include "simd/types/end.inc"

static bool check_softmax(KernelContext *context, SparseTensor *x, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *sizes = context->inputs[2];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2)
    return status_invalid(status, "Input sp_indices should be a matrix but received shape: %s",
                          shape_text(&indices->shape, a));
  if (values->shape.rank != 1 || sizes->shape.rank != 1)
    return status_invalid(status,
                          "Inputs sp_values and sp_shape should be vectors but received shapes: %s and %s",
                          shape_text(&values->shape, a), shape_text(&sizes->shape, b));
  if (tensor_num_elements(sizes) < 2) {
    return status_invalid(status, "Input should have rank >= 2, but received shape: %lld",
                          tensor_num_elements(sizes) > 0 ? (long long)tensor_i64(sizes)[0] : 0);
  }
  if (tensor_num_elements(sizes) != shape_dim(&indices->shape, 1))
    return status_invalid(status, "Order length must be SparseTensor rank.");
  return sparse_create(context->inputs, x, status);
}

static bool softmax(KernelContext *context, Status *status) {
  SparseTensor x;
  Tensor *out;
  TRY(check_softmax(context, &x, status));
  TRY(kernel_allocate_output(context, 0, &x.values->shape, &out, status));
  for (int64_t i = 0, end; i < x.count; i = end) {
    end = sparse_run_end(&x, NULL, i, NULL, x.rank - 1);
    ((SoftmaxRow *)context->data)(x.values->data, out->data, i, end);
  }
  return true;
}

static bool softmax_shape(InferenceContext *c, Status *status) {
  ShapeHandle values;
  TRY(sparse_shapes(c, 0, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &values, status));
  shape_set_output(c, 0, values);
  return true;
}

const OpRegistration kOpSparseSoftmax = {
    .name = "SparseSoftmax",
    .inputs = {"sp_indices: int64", "sp_values: T", "sp_shape: int64"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float, double}"},
    .shape = softmax_shape,
    .gradient =
        "SparseSoftmaxGradient[T:type](i:int64, v:T, s:int64, dy:T) -> (di:int64, dv:T, ds:int64) {\n"
        "  y = SparseSoftmax[T=$T](i, v, s)\n"
        "  product = Mul[T=$T](dy, y:output:0)\n"
        "  last = Const[dtype=int32, value=[-1]]()\n"
        "  rows = SparseReduceSum[T=$T, keep_dims=true](i, product:z:0, s, last:output:0)\n"
        "  minus = Neg[T=$T](rows:output:0)\n"
        "  less = SparseDenseCwiseAdd[T=$T](i, dy, s, minus:y:0)\n"
        "  dv = Mul[T=$T](less:output:0, y:output:0)\n"
        "  di = ZerosLike[T=int64](i)\n"
        "  ds = ZerosLike[T=int64](s)\n"
        "  return di = di:y:0, dv = dv:z:0, ds = ds:y:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_KERNELS(softmax, softmax_row), {DT_HALF, softmax, softmax_row_f16}},
};
