/* Clamping. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"

typedef struct ClipJob {
  const void *x, *low, *high;
  void *out;
  bool one_low, one_high; /* a single limit for all elements */
} ClipJob;

/* The lower limit takes precedence. A NaN limit is ignored. The data is a ParallelBody. */
static bool clip_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *low = context->inputs[1], *high = context->inputs[2];
  bool one_low = tensor_is_scalar(low), one_high = tensor_is_scalar(high);
  if ((!one_low && !shape_equal(&low->shape, &x->shape)) ||
      (!one_high && !shape_equal(&high->shape, &x->shape))) {
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY];
    return status_invalid(status,
                          "clip_value_min and clip_value_max must be either of the same shape as input, or a "
                          "scalar. "
                          "input shape: %sclip_value_min shape: %sclip_value_max shape: %s",
                          shape_text(&x->shape, a), shape_text(&low->shape, b), shape_text(&high->shape, c));
  }
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &out, status));
  ClipJob job = {x->data, low->data, high->data, out->data, one_low, one_high};
  parallel_work(context->parallel, tensor_num_elements(x), 1, (ParallelBody *)context->data, &job);
  return true;
}

#define TEMPLATE "ops/math/clip.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

/* At a limit the gradient is still passed on. */
const OpRegistration kOpClipByValue = {
    .name = "ClipByValue",
    .inputs = {"t: T", "clip_value_min: T", "clip_value_max: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {" NUMBER_TYPES "}"},
    .shape = shape_unchanged,
    .gradient =
        "ClipByValueGradient[T:type](t:T, low:T, high:T, dy:T) -> (dt:T, dlow:T, dhigh:T) {\n"
        "  zeros = ZerosLike[T=$T](dy)\n"
        "  is_low = Less[T=$T](t, low)\n"
        "  is_high = Greater[T=$T](t, high)\n"
        "  clipped = LogicalOr(is_low:z:0, is_high:z:0)\n"
        "  dt = Select[T=$T](clipped:z:0, zeros:y:0, dy)\n"
        "  st = Shape[T=$T](t)\n"
        "  sl = Shape[T=$T](low)\n"
        "  axes_l = BroadcastGradientArgs(st:output:0, sl:output:0)\n"
        "  gl = Select[T=$T](is_low:z:0, dy, zeros:y:0)\n"
        "  total_l = Sum[T=$T](gl:output:0, axes_l:r1:0)\n"
        "  dlow = Reshape[T=$T](total_l:output:0, sl:output:0)\n"
        "  sh = Shape[T=$T](high)\n"
        "  axes_h = BroadcastGradientArgs(st:output:0, sh:output:0)\n"
        "  gh = Select[T=$T](is_high:z:0, dy, zeros:y:0)\n"
        "  total_h = Sum[T=$T](gh:output:0, axes_h:r1:0)\n"
        "  dhigh = Reshape[T=$T](total_h:output:0, sh:output:0)\n"
        "  return dt = dt:output:0, dlow = dlow:output:0, dhigh = dhigh:output:0\n"
        "}\n",
    .kernels = {TYPED_REAL_KERNELS(clip_kernel, clip)},
};
