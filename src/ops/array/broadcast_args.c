/* Broadcasting of shapes as values: the dimensions that gradients sum over, and the broadcast shape. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"

static bool put_ints(KernelContext *context, int i, const int64_t *values, int64_t count, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, i, 1, &count, &out, status));
  for (int64_t k = 0; k < count; k++) {
    if (out->dtype == DT_INT64) {
      tensor_i64(out)[k] = values[k];
    } else {
      tensor_i32(out)[k] = (int32_t)values[k];
    }
  }
  return true;
}

/* A dimension is summed for the side that was broadcast along it, and, harmlessly, for both if both have size
 * 1; equal shapes need no sum. */
static bool broadcast_gradient_args(KernelContext *context, Status *status) {
  Shape a = {0}, b = {0}, out = {0};
  bool ok = false;
  TRY_DONE(broadcast_shape_of_input(context, 0, &a, status));
  TRY_DONE(broadcast_shape_of_input(context, 1, &b, status));
  TRY_DONE(broadcast_shapes(&a, &b, &out, status));
  int64_t axes_a[SHAPE_MAX_RANK], axes_b[SHAPE_MAX_RANK], count_a = 0, count_b = 0;
  if (!shape_equal(&a, &b)) {
    for (int i = 0; i < out.rank; i++) {
      int own_a = i - (out.rank - a.rank), own_b = i - (out.rank - b.rank);
      int64_t x = own_a < 0 ? 1 : shape_dim(&a, own_a), y = own_b < 0 ? 1 : shape_dim(&b, own_b);
      if (x == 1) axes_a[count_a++] = i;
      if (y == 1) axes_b[count_b++] = i;
    }
  }
  TRY_DONE(put_ints(context, 0, axes_a, count_a, status));
  TRY_DONE(put_ints(context, 1, axes_b, count_b, status));
  ok = true;
done:
  shape_clear(&a);
  shape_clear(&b);
  shape_clear(&out);
  return ok;
}

static bool broadcast_args(KernelContext *context, Status *status) {
  Shape a = {0}, b = {0}, out = {0};
  bool ok = false;
  TRY_DONE(broadcast_shape_of_input(context, 0, &a, status));
  TRY_DONE(broadcast_shape_of_input(context, 1, &b, status));
  TRY_DONE(broadcast_shapes(&a, &b, &out, status));
  TRY_DONE(put_ints(context, 0, shape_dims(&out), out.rank, status));
  ok = true;
done:
  shape_clear(&a);
  shape_clear(&b);
  shape_clear(&out);
  return ok;
}

static bool broadcast_gradient_args_shape(InferenceContext *c, Status *status) {
  ShapeHandle vector, axes_a, axes_b;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &vector, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &vector, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &axes_a, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &axes_b, status));
  shape_set_output(c, 0, axes_a);
  shape_set_output(c, 1, axes_b);
  return true;
}

static bool broadcast_args_shape(InferenceContext *c, Status *status) {
  ShapeHandle a, b, out;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &a, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &b, status));
  DimHandle x = shape_dim_of(c, a, 0), y = shape_dim_of(c, b, 0), length;
  TRY(dim_ok(x, &x, status) && dim_ok(y, &y, status));
  if (dim_known(x) && dim_known(y)) {
    TRY(dim_ok(dim_make(c, dim_value(x) < dim_value(y) ? dim_value(y) : dim_value(x)), &length, status));
  } else {
    TRY(dim_ok(dim_unknown(c), &length, status));
  }
  TRY(shape_ok(shape_vector(c, length), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpBroadcastGradientArgs = {
    .name = "BroadcastGradientArgs",
    .inputs = {"s0: T", "s1: T"},
    .outputs = {"r0: T", "r1: T"},
    .attrs = {"T: {int32, int64} = DT_INT32"},
    .shape = broadcast_gradient_args_shape,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(broadcast_gradient_args)},
};

const OpRegistration kOpBroadcastArgs = {
    .name = "BroadcastArgs",
    .inputs = {"s0: T", "s1: T"},
    .outputs = {"r0: T"},
    .attrs = {"T: {int32, int64} = DT_INT32"},
    .shape = broadcast_args_shape,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(broadcast_args)},
};
