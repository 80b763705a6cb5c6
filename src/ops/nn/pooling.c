/* MaxPool and AvgPool, and their gradients. */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"
#include "ops/nn/pool_window.h"
#include "simd/simd.h"

/* --- jobs of the loops --- */

typedef struct Pool {
  WindowView rows, columns;
  int64_t channels;
  const void *input, *grad; /* images, if the loop reads them */
  void *result;
} Pool;

/* The number of channels whose gradient is computed together: windows overlap, groups of channels do not. */
enum { POOL_GROUP = 32 };
static int64_t pool_groups(const Pool *p) { return (p->channels + POOL_GROUP - 1) / POOL_GROUP; }

/* Ranges count rows of the result; for max_grad and avg_grad items, which are groups of channels of an
 * image. */
typedef struct PoolLoops {
  ParallelBody *max, *avg;
} PoolLoops;
typedef struct PoolGradLoops {
  ParallelBody *max, *max_grad, *avg;
} PoolGradLoops;

/* The initial value of TensorFlow's maximum: smaller than everything, and not replaced by NaN. */
/* clang-format off */
#define MAX_START         \
  _Generic((T)0,          \
      float: -FLT_MAX,    \
      double: -DBL_MAX,   \
      int8_t: INT8_MIN,   \
      int16_t: INT16_MIN, \
      int32_t: INT32_MIN, \
      int64_t: INT64_MIN, \
      default: 0)
/* clang-format on */

#define TEMPLATE "ops/nn/pooling.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

#define TEMPLATE "ops/nn/pooling_gradients.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

/* 16-bit floats are converted. */
static const KernelEntry kTypedPools[] = {TYPED_FLOAT_KERNELS(NULL, &kPool), HALF_KERNELS(NULL, &kPool_f32),
                                          TYPED_INT_KERNELS(NULL, &kPool), TYPED_SMALL_KERNELS(NULL, &kPool)};
static const KernelEntry kTypedPoolGrads[] = {TYPED_FLOAT_KERNELS(NULL, &kPoolGrad),
                                              HALF_KERNELS(NULL, &kPoolGrad_f32),
                                              TYPED_INT_KERNELS(NULL, &kPoolGrad),
                                              TYPED_SMALL_KERNELS(NULL, &kPoolGrad),
                                              TYPED_UNSIGNED_KERNELS(NULL, &kPoolGrad)};

static const PoolLoops *loops_of(DataType type) { return TYPED_LOOPS(kTypedPools, type); }
static const PoolGradLoops *grad_loops_of(DataType type) { return TYPED_LOOPS(kTypedPoolGrads, type); }

/* --- one run --- */

static bool reject_depth(const PoolRun *run, const char *message, Status *status) {
  return run->depth == 1 || status_set(status, CODE_UNIMPLEMENTED, "%s", message);
}

/* The inputs of a loop; NULL if it does not read them. */
typedef struct PoolInputs {
  const Tensor *input, *grad;
  const ImageSizes *grad_sizes;
} PoolInputs;

/* Runs `body` on images: over rows of the result with `by_lines`, else over items. */
static bool run_pool(KernelContext *context, const PoolRun *run, const PoolInputs *inputs,
                     const ImageSizes *result, bool by_lines, ParallelBody *body, Tensor *out,
                     Status *status) {
  bool first = run->attrs.channels_first, ok = false;
  Image input = {0}, grad = {0}, to = {0};
  int64_t elements = tensor_num_elements(out);
  if (elements == 0) return true;
  if (inputs->input) TRY_DONE(image_read(context, inputs->input, &run->input, first, &input, status));
  if (inputs->grad) TRY_DONE(image_read(context, inputs->grad, inputs->grad_sizes, first, &grad, status));
  TRY_DONE(image_begin(context, out, first, &to, status));
  Pool pool = {.rows = window_forward(&run->axis[0]),
               .columns = window_forward(&run->axis[1]),
               .channels = run->input.channels,
               .input = input.data,
               .grad = grad.data,
               .result = to.data};
  int64_t count = by_lines ? run->out.batch * run->out.space[0] : run->input.batch * pool_groups(&pool);
  double work = (double)elements / (double)count * (double)run->axis[0].filter * (double)run->axis[1].filter;
  parallel_work(context->parallel, count, work, body, &pool);
  ok = image_finish(context, &to, result, first, out, status);
done:
  image_drop(&input);
  image_drop(&grad);
  image_drop(&to);
  return ok;
}

/* Pooling across channels: each result is a window of `depth` rows in a column of single channels. */
static bool pool_depth(KernelContext *context, const PoolRun *run, ParallelBody *body, Tensor *out,
                       Status *status) {
  /* Strides skip pixels, which a reshape cannot express; TensorFlow does not support such pooling either. */
  if (run->attrs.strides[0] != 1 || run->attrs.strides[1] != 1) {
    return status_set(status, CODE_UNIMPLEMENTED,
                      "MaxPooling supports exactly one of pooling across depth or pooling across "
                      "width/height.");
  }
  bool first = run->attrs.channels_first, ok = false;
  Image input = {0}, to = {0};
  int64_t elements = tensor_num_elements(out);
  if (elements == 0) return true;
  TRY_DONE(image_read(context, context->inputs[0], &run->input, first, &input, status));
  TRY_DONE(image_begin(context, out, first, &to, status));
  WindowAxis rows = {.in = elements * run->depth,
                     .out = elements,
                     .filter = run->depth,
                     .stride = run->depth,
                     .dilation = 1};
  WindowAxis columns = {.in = 1, .out = 1, .filter = 1, .stride = 1, .dilation = 1};
  Pool pool = {.rows = window_forward(&rows),
               .columns = window_forward(&columns),
               .channels = 1,
               .input = input.data,
               .result = to.data};
  parallel_work(context->parallel, elements, (double)run->depth, body, &pool);
  ok = image_finish(context, &to, &run->out, first, out, status);
done:
  image_drop(&input);
  image_drop(&to);
  return ok;
}

static bool needs_image(const Tensor *tensor, Status *status) {
  return tensor->shape.rank == 4 ||
         status_invalid(status, "tensor_in_shape must have 2 spatial dimensions. %d %d", tensor->shape.rank,
                        tensor->shape.rank - 2);
}

static bool begin_forward(KernelContext *context, PoolRun *run, Tensor **out, Status *status) {
  int64_t dims[4];
  TRY(needs_image(context->inputs[0], status));
  TRY(pool_begin(context, shape_dims(&context->inputs[0]->shape), run, status));
  image_dims(&run->out, run->attrs.channels_first, dims);
  return kernel_allocate_output_dims(context, 0, 4, dims, out, status);
}

static bool max_pool(KernelContext *context, Status *status) {
  PoolRun run;
  Tensor *out;
  TRY(begin_forward(context, &run, &out, status));
  ParallelBody *body = loops_of(out->dtype)->max;
  if (run.depth != 1) return pool_depth(context, &run, body, out, status);
  return run_pool(context, &run, &(PoolInputs){.input = context->inputs[0]}, &run.out, true, body, out,
                  status);
}

static bool avg_pool(KernelContext *context, Status *status) {
  PoolRun run;
  Tensor *out;
  TRY(begin_forward(context, &run, &out, status));
  TRY(reject_depth(&run, "Non-spatial pooling is not yet supported. Volunteers? :)", status));
  return run_pool(context, &run, &(PoolInputs){.input = context->inputs[0]}, &run.out, true,
                  loops_of(out->dtype)->avg, out, status);
}

static bool max_pool_any_grad(KernelContext *context, bool second, Status *status) {
  const Tensor *input = context->inputs[0], *output = context->inputs[1], *grad = context->inputs[2];
  PoolRun run;
  Tensor *out;
  int64_t dims[4];
  if (input->shape.rank != 4) return status_invalid(status, "tensor_in must be 4-dimensional");
  if (output->shape.rank != 4) return status_invalid(status, "tensor_out must be 4-dimensional");
  if (grad->shape.rank != 4)
    return status_invalid(status, "%s must be 4-dimensional", second ? "out_grad_backprop" : "out_backprop");
  TRY(pool_begin(context, shape_dims(&input->shape), &run, status));
  TRY(reject_depth(&run,
                   second ? "MaxPoolingGradGrad is not yet supported on the depth dimension."
                          : "MaxPoolingGrad is not yet supported on the depth dimension.",
                   status));
  if (run.input.space[0] * run.input.space[1] > INT32_MAX) {
    return status_set(status, CODE_UNIMPLEMENTED,
                      "Gradients of MaxPool are not yet supported for images of more than %d pixels.",
                      INT32_MAX);
  }
  bool first = run.attrs.channels_first;
  TRY(pool_check_shape(output, "orig_output", &run.out, first, status));
  TRY(pool_check_shape(grad, "grad", second ? &run.input : &run.out, first, status));
  image_dims(second ? &run.out : &run.input, first, dims);
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  const PoolGradLoops *loops = grad_loops_of(out->dtype);
  PoolInputs inputs = {.input = input, .grad = grad, .grad_sizes = second ? &run.input : &run.out};
  return run_pool(context, &run, &inputs, second ? &run.out : &run.input, second,
                  second ? loops->max_grad : loops->max, out, status);
}

static bool max_pool_grad(KernelContext *context, Status *status) {
  return max_pool_any_grad(context, false, status);
}
static bool max_pool_grad_grad(KernelContext *context, Status *status) {
  return max_pool_any_grad(context, true, status);
}

static bool avg_pool_grad(KernelContext *context, Status *status) {
  const Tensor *shape = context->inputs[0], *grad = context->inputs[1];
  PoolRun run;
  Tensor *out;
  int64_t dims[4];
  if (shape->shape.rank != 1 || tensor_num_elements(shape) != 4) {
    return status_invalid(status, "out_backprop must be 1-dimensional and 4 elements");
  }
  if (grad->shape.rank != 4) return status_invalid(status, "out_backprop must be 4-dimensional");
  for (int i = 0; i < 4; i++) {
    dims[i] = tensor_i32(shape)[i];
    if (dims[i] < 0) return status_invalid(status, "Expected a non-negative size, got %" PRId64, dims[i]);
  }
  TRY(pool_begin(context, dims, &run, status));
  TRY(reject_depth(&run, "Non-spatial pooling is not yet supported. Volunteers? :)", status));
  TRY(pool_check_shape(grad, "grad", &run.out, run.attrs.channels_first, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  return run_pool(context, &run, &(PoolInputs){.grad = grad, .grad_sizes = &run.out}, &run.input, false,
                  grad_loops_of(out->dtype)->avg, out, status);
}

/* --- shapes --- */

static bool shape_pool_grad(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), 4, status);
}

/* As for pooling the same input; the gradient has the input's shape, and the output has the result's. */
static bool check_grad_grad(InferenceContext *c, Status *status) {
  ShapeHandle merged;
  return shape_merge(c, shape_input(c, 0), shape_input(c, 2), &merged, status) &&
         shape_merge(c, shape_input(c, 1), c->outputs[0], &merged, status);
}
static bool shape_max_pool_grad_grad(InferenceContext *c, Status *status) {
  return shape_max_pool(c, status) && check_grad_grad(c, status);
}
static bool shape_max_pool_grad_grad_v2(InferenceContext *c, Status *status) {
  ShapeHandle checked;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &checked, status));
  for (int i = 3; i < 5; i++) TRY(shape_with_rank(c, shape_input(c, i), 1, &checked, status));
  return shape_unknown_outputs(c, status) && check_grad_grad(c, status);
}

static bool shape_avg_pool_grad(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, 0, &shape, status));
  return shape_unchanged_with_rank(c, shape, 4, status);
}

/* --- registrations --- */

#define DECLARED "[T:type, ksize:list(int), strides:list(int), padding:string, data_format:string]"
#define PASSED "[T=$T, ksize=$ksize, strides=$strides, padding=$padding, data_format=$data_format]"
/* For MaxPool and its gradient. */
#define DECLARED_MAX                                                                           \
  "[T:type, ksize:list(int), strides:list(int), padding:string, explicit_paddings:list(int), " \
  "data_format:string]"
#define PASSED_MAX                                                                                  \
  "[T=$T, ksize=$ksize, strides=$strides, padding=$padding, explicit_paddings=$explicit_paddings, " \
  "data_format=$data_format]"
#define DECLARED_V2 "[T:type, padding:string, data_format:string]"
#define PASSED_V2 "[T=$T, padding=$padding, data_format=$data_format]"

const OpRegistration kOpMaxPool = {
    .name = "MaxPool",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs =
        {"T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT",
         "ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID', 'EXPLICIT'}",
         "explicit_paddings: list(int) = []", "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"},
    .shape = shape_max_pool,
    .gradient = "MaxPoolGradient" DECLARED_MAX
                "(input:T, dy:T) -> (dinput:T) {\n"
                "  output = MaxPool" PASSED_MAX
                "(input)\n"
                "  dinput = MaxPoolGrad" PASSED_MAX
                "(input, output:output:0, dy)\n"
                "  return dinput = dinput:output:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(max_pool), INT_KERNELS(max_pool), SMALL_KERNELS(max_pool)},
};

const OpRegistration kOpMaxPoolV2 = {
    .name = "MaxPoolV2",
    .inputs = {"input: T", "ksize: int32", "strides: int32"},
    .outputs = {"output: T"},
    .attrs =
        {"T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT",
         "padding: {'SAME', 'VALID'}", "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"},
    .shape = shape_max_pool_v2,
    .gradient = "MaxPoolV2Gradient" DECLARED_V2
                "(input:T, ksize:int32, strides:int32, dy:T) -> (dinput:T, dksize:int32, dstrides:int32) {\n"
                "  none = ZerosLike[T=int32](ksize)\n"
                "  output = MaxPoolV2" PASSED_V2
                "(input, ksize, strides)\n"
                "  dinput = MaxPoolGradV2" PASSED_V2
                "(input, output:output:0, dy, ksize, strides)\n"
                "  return dinput = dinput:output:0, dksize = none:y:0, dstrides = none:y:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(max_pool), INT_KERNELS(max_pool), SMALL_KERNELS(max_pool)},
};

const OpRegistration kOpMaxPoolGrad = {
    .name = "MaxPoolGrad",
    .inputs = {"orig_input: T", "orig_output: T", "grad: T"},
    .outputs = {"output: T"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID', 'EXPLICIT'}",
              "explicit_paddings: list(int) = []", "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
              "T: realnumbertype = DT_FLOAT"},
    .shape = shape_pool_grad,
    .gradient = "MaxPoolGradGradient" DECLARED
                "(input:T, output:T, grad:T, d:T) -> (dinput:T, doutput:T, dgrad:T) {\n"
                "  dinput = ZerosLike[T=$T](input)\n"
                "  doutput = ZerosLike[T=$T](output)\n"
                "  dgrad = MaxPoolGradGrad" PASSED
                "(input, output, d)\n"
                "  return dinput = dinput:y:0, doutput = doutput:y:0, dgrad = dgrad:output:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {REAL_KERNELS(max_pool_grad)},
};

const OpRegistration kOpMaxPoolGradV2 = {
    .name = "MaxPoolGradV2",
    .inputs = {"orig_input: T", "orig_output: T", "grad: T", "ksize: int32", "strides: int32"},
    .outputs = {"output: T"},
    .attrs = {"padding: {'SAME', 'VALID'}", "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
              "T: realnumbertype = DT_FLOAT"},
    .shape = shape_pool_grad,
    .gradient = "MaxPoolGradV2Gradient" DECLARED_V2
                "(input:T, output:T, grad:T, ksize:int32, strides:int32, d:T)"
                " -> (dinput:T, doutput:T, dgrad:T, dksize:int32, dstrides:int32) {\n"
                "  none = ZerosLike[T=int32](ksize)\n"
                "  dinput = ZerosLike[T=$T](input)\n"
                "  doutput = ZerosLike[T=$T](output)\n"
                "  dgrad = MaxPoolGradGradV2" PASSED_V2
                "(input, output, d, ksize, strides)\n"
                "  return dinput = dinput:y:0, doutput = doutput:y:0, dgrad = dgrad:output:0, dksize = "
                "none:y:0, dstrides = none:y:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {REAL_KERNELS(max_pool_grad)},
};

const OpRegistration kOpMaxPoolGradGrad = {
    .name = "MaxPoolGradGrad",
    .inputs = {"orig_input: T", "orig_output: T", "grad: T"},
    .outputs = {"output: T"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "T: realnumbertype"},
    .shape = shape_max_pool_grad_grad,
    .gradient = "MaxPoolGradGradGradient" DECLARED
                "(input:T, output:T, grad:T, d:T) -> (dinput:T, doutput:T, dgrad:T) {\n"
                "  dinput = ZerosLike[T=$T](input)\n"
                "  doutput = ZerosLike[T=$T](output)\n"
                "  dgrad = MaxPoolGrad" PASSED
                "(input, output, d)\n"
                "  return dinput = dinput:y:0, doutput = doutput:y:0, dgrad = dgrad:output:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {REAL_KERNELS(max_pool_grad_grad)},
};

const OpRegistration kOpMaxPoolGradGradV2 = {
    .name = "MaxPoolGradGradV2",
    .inputs = {"orig_input: T", "orig_output: T", "grad: T", "ksize: int32", "strides: int32"},
    .outputs = {"output: T"},
    .attrs = {"padding: {'SAME', 'VALID'}", "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "T: realnumbertype"},
    .shape = shape_max_pool_grad_grad_v2,
    .gradient = "MaxPoolGradGradV2Gradient" DECLARED_V2
                "(input:T, output:T, grad:T, ksize:int32, strides:int32, d:T)"
                " -> (dinput:T, doutput:T, dgrad:T, dksize:int32, dstrides:int32) {\n"
                "  none = ZerosLike[T=int32](ksize)\n"
                "  dinput = ZerosLike[T=$T](input)\n"
                "  doutput = ZerosLike[T=$T](output)\n"
                "  dgrad = MaxPoolGradV2" PASSED_V2
                "(input, output, d, ksize, strides)\n"
                "  return dinput = dinput:y:0, doutput = doutput:y:0, dgrad = dgrad:output:0, dksize = "
                "none:y:0, dstrides = none:y:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {REAL_KERNELS(max_pool_grad_grad)},
};

const OpRegistration kOpAvgPool = {
    .name = "AvgPool",
    .inputs = {"value: T"},
    .outputs = {"output: T"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "T: {half, bfloat16, float, double}"},
    .shape = shape_avg_pool,
    .gradient = "AvgPoolGradient" DECLARED
                "(value:T, dy:T) -> (dvalue:T) {\n"
                "  shape = Shape[T=$T, out_type=int32](value)\n"
                "  dvalue = AvgPoolGrad" PASSED
                "(shape:output:0, dy)\n"
                "  return dvalue = dvalue:output:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(avg_pool)},
};

const OpRegistration kOpAvgPoolGrad = {
    .name = "AvgPoolGrad",
    .inputs = {"orig_input_shape: int32", "grad: T"},
    .outputs = {"output: T"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "T: {half, bfloat16, float, double}"},
    .shape = shape_avg_pool_grad,
    .gradient = "AvgPoolGradGradient" DECLARED
                "(shape:int32, grad:T, d:T) -> (dshape:int32, dgrad:T) {\n"
                "  dshape = ZerosLike[T=int32](shape)\n"
                "  dgrad = AvgPool" PASSED
                "(d)\n"
                "  return dshape = dshape:y:0, dgrad = dgrad:output:0\n"
                "}\n",
    .state_size = sizeof(PoolState),
    .construct = pool_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(avg_pool_grad)},
};
