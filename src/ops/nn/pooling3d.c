/* MaxPool3D and AvgPool3D, and their gradients. Volumes are [batch, planes, rows, columns, channels]. */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/nn/volume_window.h"
#include "ops/support/element_types.h"

typedef struct VolumePoolState {
  VolumeAttrs attrs;
  int64_t ksize[VOLUME_RANK];
} VolumePoolState;

static bool construct(const KernelConstruction *construction, void *memory, const char *kernel,
                      Status *status) {
  VolumePoolState *state = memory;
  TRY(volume_read_attrs(construction->node, &state->attrs, status));
  if (state->attrs.channels_first)
    return status_invalid(status, "Default %s only supports NDHWC on device type CPU", kernel);
  TRY(volume_read_list(construction->node, "ksize", "ksize", state->ksize, status));
  const int64_t *k = state->ksize, *s = state->attrs.strides;
  for (int i = 0; i < VOLUME_RANK; i++) {
    if (k[i] <= 0) {
      return status_invalid(status, "Sliding window ksize field must have non-negative dimensions");
    }
  }
  if (k[0] != 1 || s[0] != 1)
    return status_set(status, CODE_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
  return true;
}

static bool reject_depth(const VolumePoolState *state, const char *what, Status *status) {
  return (state->ksize[4] == 1 && state->attrs.strides[4] == 1) ||
         status_set(status, CODE_UNIMPLEMENTED, "%s is not yet supported on the depth dimension.", what);
}
static bool pool_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, "Pooling3DOp", status) && reject_depth(memory, "Pooling", status);
}
static bool max_grad_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, "MaxPooling3dGradOp", status) &&
         reject_depth(memory, "Pooling", status);
}
static bool max_grad_grad_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, "MaxPooling3dGradGradOp", status) &&
         reject_depth(memory, "MaxPooling3dGradGrad", status);
}
static bool avg_grad_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, "AvgPooling3dGradOp", status) &&
         reject_depth(memory, "Pooling", status);
}

/* --- jobs of the loops --- */

typedef struct VolumePool {
  WindowView axis[VOLUME_AXES];
  int64_t batch, channels;
  /* The volumes that the loop reads; `pooled` has the maxima, `grad` the incoming gradient. */
  const void *input, *pooled, *grad;
  void *result;
} VolumePool;

/* The number of channels that are computed together. For gradients these are an item: windows overlap,
 * groups of channels do not. */
enum { VOLUME_GROUP = 32 };
static int64_t channel_groups(const VolumePool *p) { return (p->channels + VOLUME_GROUP - 1) / VOLUME_GROUP; }

/* Ranges count rows of the pooled volumes; for max_grad and avg_grad items, which are groups of channels of a
 * volume. */
typedef struct VolumePoolLoops {
  ParallelBody *max, *avg, *max_grad, *avg_grad, *max_grad_grad;
} VolumePoolLoops;

/* The positions of the input in one window: [begin, end) for each axis. */
typedef struct VolumeWindow {
  int64_t begin[VOLUME_AXES], end[VOLUME_AXES], count;
} VolumeWindow;

static VolumeWindow window_at(const VolumePool *p, int64_t plane, int64_t row, int64_t column) {
  int64_t places[VOLUME_AXES] = {plane, row, column};
  VolumeWindow w = {.count = 1};
  for (int k = 0; k < VOLUME_AXES; k++) {
    const WindowView *view = &p->axis[k];
    int64_t first = places[k] * view->step + view->offset;
    window_inside(view, places[k], &w.begin[k], &w.end[k]);
    w.begin[k] += first, w.end[k] += first;
    w.count *= w.end[k] - w.begin[k];
  }
  return w;
}

/* Walks over the pixels of a window: `pixel` is the position in the volume. */
#define EACH_PIXEL(p, w, pixel)                                                     \
  for (int64_t plane_ = (w)->begin[0]; plane_ < (w)->end[0]; plane_++)              \
    for (int64_t row_ = (w)->begin[1]; row_ < (w)->end[1]; row_++)                  \
      for (int64_t line_ = (plane_ * (p)->axis[1].size + row_) * (p)->axis[2].size, \
                   pixel = line_ + (w)->begin[2];                                   \
           pixel < line_ + (w)->end[2]; pixel++)

static int64_t pixels_of(const VolumePool *p) { return p->axis[0].size * p->axis[1].size * p->axis[2].size; }
static int64_t places_of(const VolumePool *p) {
  return p->axis[0].places * p->axis[1].places * p->axis[2].places;
}

#define TEMPLATE "ops/nn/pooling3d.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

/* --- kernels --- */

typedef struct VolumeSizes {
  int64_t input[VOLUME_RANK], pooled[VOLUME_RANK];
  WindowAxis axis[VOLUME_AXES];
} VolumeSizes;

static bool place(const KernelContext *context, const int64_t *dims, VolumeSizes *sizes, Status *status) {
  static const int64_t kNoPads[2];
  const VolumePoolState *state = context->state;
  memcpy(sizes->input, dims, sizeof sizes->input);
  sizes->pooled[0] = dims[0], sizes->pooled[4] = dims[4];
  for (int k = 0; k < VOLUME_AXES; k++) {
    sizes->axis[k] = (WindowAxis){.in = dims[1 + k],
                                  .filter = state->ksize[1 + k],
                                  .stride = state->attrs.strides[1 + k],
                                  .dilation = 1};
    TRY(window_place_axis(state->attrs.padding, kNoPads, &sizes->axis[k], status));
    sizes->pooled[1 + k] = sizes->axis[k].out;
  }
  return true;
}

/* The inputs of a loop; NULL if it does not read them. */
typedef struct VolumeInputs {
  const Tensor *input, *pooled, *grad;
} VolumeInputs;

static bool run_pool(KernelContext *context, const VolumeSizes *sizes, const VolumeInputs *inputs,
                     bool by_lines, ParallelBody *body, Tensor *out, Status *status) {
  Image input = {0}, pooled = {0}, grad = {0}, to = {0};
  bool ok = false;
  if (tensor_num_elements(out) == 0) return true;
  if (inputs->input) TRY_DONE(image_read(context, inputs->input, NULL, false, &input, status));
  if (inputs->pooled) TRY_DONE(image_read(context, inputs->pooled, NULL, false, &pooled, status));
  if (inputs->grad) TRY_DONE(image_read(context, inputs->grad, NULL, false, &grad, status));
  TRY_DONE(image_begin(context, out, false, &to, status));
  VolumePool pool = {.batch = sizes->input[0],
                     .channels = sizes->input[4],
                     .input = input.data,
                     .pooled = pooled.data,
                     .grad = grad.data,
                     .result = to.data};
  double work = 1;
  for (int k = 0; k < VOLUME_AXES; k++) {
    pool.axis[k] = window_forward(&sizes->axis[k]);
    work *= (double)sizes->axis[k].filter;
  }
  int64_t count = pool.batch * (by_lines ? sizes->pooled[1] * sizes->pooled[2] : channel_groups(&pool));
  work *= (double)pool.batch * (double)places_of(&pool) * (double)pool.channels / (double)count;
  parallel_work(context->parallel, count, work, body, &pool);
  ok = image_finish(context, &to, NULL, false, out, status);
done:
  image_drop(&input);
  image_drop(&pooled);
  image_drop(&grad);
  image_drop(&to);
  return ok;
}

static const VolumePoolLoops *loops_of(DataType type) {
  return type == DT_DOUBLE ? &kVolumePool_f64 : &kVolumePool_f32; /* 16-bit floats are widened to float */
}

static bool check_rank(const Tensor *tensor, const char *name, Status *status) {
  return tensor->shape.rank == VOLUME_RANK || status_invalid(status, "%s must be 5-dimensional", name);
}

static bool check_shape(const Tensor *tensor, const char *name, const int64_t dims[VOLUME_RANK],
                        Status *status) {
  Shape want = {0};
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (memcmp(shape_dims(&tensor->shape), dims, VOLUME_RANK * sizeof *dims) == 0) return true;
  TRY(shape_set(&want, VOLUME_RANK, dims, status));
  shape_text(&want, a);
  shape_clear(&want);
  return status_invalid(status, "Expected %s shape to be %s, but got %s", name, a,
                        shape_text(&tensor->shape, b));
}

static bool pool_forward(KernelContext *context, bool max, Status *status) {
  const Tensor *input = context->inputs[0];
  VolumeSizes sizes;
  Tensor *out;
  TRY(check_rank(input, "tensor_in", status));
  TRY(place(context, shape_dims(&input->shape), &sizes, status));
  TRY(kernel_allocate_output_dims(context, 0, VOLUME_RANK, sizes.pooled, &out, status));
  const VolumePoolLoops *loops = loops_of(out->dtype);
  return run_pool(context, &sizes, &(VolumeInputs){.input = input}, true, max ? loops->max : loops->avg, out,
                  status);
}
static bool max_pool3d(KernelContext *context, Status *status) { return pool_forward(context, true, status); }
static bool avg_pool3d(KernelContext *context, Status *status) {
  return pool_forward(context, false, status);
}

static bool max_gradient(KernelContext *context, bool second, Status *status) {
  const Tensor *input = context->inputs[0], *pooled = context->inputs[1], *grad = context->inputs[2];
  VolumeSizes sizes;
  Tensor *out;
  TRY(check_rank(input, "tensor_in", status));
  TRY(check_rank(pooled, "tensor_out", status));
  TRY(check_rank(grad, second ? "out_grad_backprop" : "out_backprop", status));
  TRY(place(context, shape_dims(&input->shape), &sizes, status));
  TRY(check_shape(pooled, "orig_output", sizes.pooled, status));
  TRY(check_shape(grad, "grad", second ? sizes.input : sizes.pooled, status));
  TRY(kernel_allocate_output_dims(context, 0, VOLUME_RANK, second ? sizes.pooled : sizes.input, &out,
                                  status));
  const VolumePoolLoops *loops = loops_of(out->dtype);
  return run_pool(context, &sizes, &(VolumeInputs){input, pooled, grad}, second,
                  second ? loops->max_grad_grad : loops->max_grad, out, status);
}
static bool max_pool3d_grad(KernelContext *context, Status *status) {
  return max_gradient(context, false, status);
}
static bool max_pool3d_grad_grad(KernelContext *context, Status *status) {
  return max_gradient(context, true, status);
}

static bool avg_pool3d_grad(KernelContext *context, Status *status) {
  static const char kDiffers[] =
      "Expected %s dimension of tensor_in_shape and out_backprop to match, got %" PRId64 " and %" PRId64;
  const Tensor *shape = context->inputs[0], *grad = context->inputs[1];
  int64_t dims[VOLUME_RANK];
  VolumeSizes sizes;
  Tensor *out;
  if (shape->shape.rank != 1 || tensor_num_elements(shape) != VOLUME_RANK)
    return status_invalid(status, "tensor_in must be 1-dimensional and 5 elements");
  TRY(check_rank(grad, "out_backprop", status));
  for (int i = 0; i < VOLUME_RANK; i++) {
    dims[i] = tensor_i32(shape)[i];
    if (dims[i] < 0) return status_invalid(status, "Expected a non-negative size, got %" PRId64, dims[i]);
  }
  const int64_t *given = shape_dims(&grad->shape);
  if (dims[0] != given[0]) return status_invalid(status, kDiffers, "first", dims[0], given[0]);
  if (dims[4] != given[4]) return status_invalid(status, kDiffers, "last", dims[4], given[4]);
  TRY(place(context, dims, &sizes, status));
  TRY(check_shape(grad, "grad", sizes.pooled, status)); /* TensorFlow reads past the end instead */
  TRY(kernel_allocate_output_dims(context, 0, VOLUME_RANK, dims, &out, status));
  return run_pool(context, &sizes, &(VolumeInputs){.grad = grad}, false, loops_of(out->dtype)->avg_grad, out,
                  status);
}

/* --- shapes --- */

static bool shape_max_grad(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), VOLUME_RANK, status);
}

static bool shape_max_grad_grad(InferenceContext *c, Status *status) {
  ShapeHandle merged;
  TRY(shape_pool3d(c, status));
  return shape_merge(c, shape_input(c, 0), shape_input(c, 2), &merged, status) &&
         shape_merge(c, shape_input(c, 1), c->outputs[0], &merged, status);
}

static bool shape_avg_grad(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, 0, &shape, status));
  return shape_unchanged_with_rank(c, shape, VOLUME_RANK, status);
}

/* --- registrations --- */

#define WINDOW                                                                      \
  "ksize: list(int) >= 5", "strides: list(int) >= 5", "padding: {'SAME', 'VALID'}", \
      "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
#define DECLARED "[T:type, ksize:list(int), strides:list(int), padding:string, data_format:string]"
#define PASSED "[T=$T, ksize=$ksize, strides=$strides, padding=$padding, data_format=$data_format]"
#define PASSED_TWO_TYPES \
  "[T=$T, TInput=$T, ksize=$ksize, strides=$strides, padding=$padding, data_format=$data_format]"

const OpRegistration kOpMaxPool3D = {
    .name = "MaxPool3D",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {WINDOW, "T: {half, bfloat16, float}"},
    .shape = shape_pool3d,
    .gradient = "MaxPool3DGradient" DECLARED
                "(input:T, dy:T) -> (dinput:T) {\n"
                "  output = MaxPool3D" PASSED
                "(input)\n"
                "  dinput = MaxPool3DGrad" PASSED_TWO_TYPES
                "(input, output:output:0, dy)\n"
                "  return dinput = dinput:output:0\n"
                "}\n",
    .state_size = sizeof(VolumePoolState),
    .construct = pool_construct,
    .kernels = {{DT_FLOAT, max_pool3d}, HALF_KERNELS(max_pool3d)},
};

/* Every element that equals the maximum of a window receives its gradient. */
const OpRegistration kOpMaxPool3DGrad = {
    .name = "MaxPool3DGrad",
    .inputs = {"orig_input: TInput", "orig_output: TInput", "grad: T"},
    .outputs = {"output: T"},
    .attrs = {WINDOW, "T: {half, bfloat16, float} = DT_FLOAT", "TInput: {half, bfloat16, float} = DT_FLOAT"},
    .shape = shape_max_grad,
    .gradient =
        "MaxPool3DGradGradient[T:type, TInput:type, ksize:list(int), strides:list(int), "
        "padding:string, data_format:string]"
        "(input:TInput, output:TInput, grad:T, d:T) -> (dinput:TInput, doutput:TInput, dgrad:T) {\n"
        "  dinput = ZerosLike[T=$TInput](input)\n"
        "  doutput = ZerosLike[T=$TInput](output)\n"
        "  as_input = Cast[SrcT=$TInput, DstT=$T, Truncate=false](input)\n"
        "  as_output = Cast[SrcT=$TInput, DstT=$T, Truncate=false](output)\n"
        "  dgrad = MaxPool3DGradGrad" PASSED
        "(as_input:y:0, as_output:y:0, d)\n"
        "  return dinput = dinput:y:0, doutput = doutput:y:0, dgrad = dgrad:output:0\n"
        "}\n",
    .state_size = sizeof(VolumePoolState),
    .construct = max_grad_construct,
    .kernels = {{DT_FLOAT, max_pool3d_grad}, HALF_KERNELS(max_pool3d_grad)},
};

/* Only the first of equal elements counts, so this is the transpose of MaxPool3DGrad where maxima differ. */
const OpRegistration kOpMaxPool3DGradGrad = {
    .name = "MaxPool3DGradGrad",
    .inputs = {"orig_input: T", "orig_output: T", "grad: T"},
    .outputs = {"output: T"},
    .attrs = {WINDOW, "T: realnumbertype"},
    .shape = shape_max_grad_grad,
    .gradient = "MaxPool3DGradGradGradient" DECLARED
                "(input:T, output:T, grad:T, d:T) -> (dinput:T, doutput:T, dgrad:T) {\n"
                "  dinput = ZerosLike[T=$T](input)\n"
                "  doutput = ZerosLike[T=$T](output)\n"
                "  dgrad = MaxPool3DGrad" PASSED_TWO_TYPES
                "(input, output, d)\n"
                "  return dinput = dinput:y:0, doutput = doutput:y:0, dgrad = dgrad:output:0\n"
                "}\n",
    .state_size = sizeof(VolumePoolState),
    .construct = max_grad_grad_construct,
    .kernels = {{DT_FLOAT, max_pool3d_grad_grad}, HALF_KERNELS(max_pool3d_grad_grad)},
};

const OpRegistration kOpAvgPool3D = {
    .name = "AvgPool3D",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {WINDOW, "T: {half, bfloat16, float, double}"},
    .shape = shape_pool3d,
    .gradient = "AvgPool3DGradient" DECLARED
                "(input:T, dy:T) -> (dinput:T) {\n"
                "  shape = Shape[T=$T, out_type=int32](input)\n"
                "  dinput = AvgPool3DGrad" PASSED
                "(shape:output:0, dy)\n"
                "  return dinput = dinput:output:0\n"
                "}\n",
    .state_size = sizeof(VolumePoolState),
    .construct = pool_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(avg_pool3d)},
};

const OpRegistration kOpAvgPool3DGrad = {
    .name = "AvgPool3DGrad",
    .inputs = {"orig_input_shape: int32", "grad: T"},
    .outputs = {"output: T"},
    .attrs = {WINDOW, "T: {half, bfloat16, float, double}"},
    .shape = shape_avg_grad,
    .gradient = "AvgPool3DGradGradient" DECLARED
                "(shape:int32, grad:T, d:T) -> (dshape:int32, dgrad:T) {\n"
                "  dshape = ZerosLike[T=int32](shape)\n"
                "  dgrad = AvgPool3D" PASSED
                "(d)\n"
                "  return dshape = dshape:y:0, dgrad = dgrad:output:0\n"
                "}\n",
    .state_size = sizeof(VolumePoolState),
    .construct = avg_grad_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(avg_pool3d_grad)},
};
