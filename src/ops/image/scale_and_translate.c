/* ScaleAndTranslate: resizes images with a choice of kernels, which are widened when the image becomes
 * smaller (antialias); and its gradient. */
#include <float.h>
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/image/image_floats.h"
#include "ops/image/resample.h"
#include "ops/image/resize_image.h"
#include "ops/support/element_types.h"

/* --- kernels of the resampling --- */

/* A symmetric function of the distance from the sample, which is 0 beyond the radius. */
typedef struct SampleKernel {
  const char *name;
  float radius;
  float (*value)(float x);
} SampleKernel;

static float lanczos(float radius, float x) {
  static const float kPi = 3.14159265359f;
  x = fabsf(x);
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1; /* the quotient would be inexact */
  return radius * sinf(kPi * x) * sinf(kPi * x / radius) / (kPi * kPi * x * x);
}
static float lanczos1(float x) { return lanczos(1, x); }
static float lanczos3(float x) { return lanczos(3, x); }
static float lanczos5(float x) { return lanczos(5, x); }

/* The radius is three standard deviations. */
static float gaussian(float x) { return fabsf(x) >= 1.5f ? 0 : expf(-x * x / (2 * 0.5f * 0.5f)); }

static float box(float x) {
  x = fabsf(x);
  return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0;
}

static float triangle(float x) {
  x = fabsf(x);
  return x < 1 ? 1 - x : 0;
}

static float keys_cubic(float x) {
  x = fabsf(x);
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}

static float mitchell_cubic(float x) {
  x = fabsf(x);
  if (x >= 2) return 0;
  return x >= 1 ? (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9
                : (((7.0f / 6) * x - 2) * x) * x + 8.0f / 9;
}

static const SampleKernel kKernels[] = {
    {"lanczos1", 1, lanczos1},    {"lanczos3", 3, lanczos3},
    {"lanczos5", 5, lanczos5},    {"gaussian", 1.5f, gaussian},
    {"box", 0.5f, box},           {"triangle", 1, triangle},
    {"keyscubic", 2, keys_cubic}, {"mitchellcubic", 2, mitchell_cubic},
};

typedef struct ScaleState {
  const SampleKernel *kernel;
  bool antialias;
} ScaleState;

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  ScaleState *state = memory;
  Str name;
  TRY(node_attr_string(construction->node, "kernel_type", &name, status));
  TRY(node_attr_bool(construction->node, "antialias", &state->antialias, status));
  for (size_t i = 0; i < sizeof kKernels / sizeof *kKernels; i++) {
    if (str_equal_text(name, kKernels[i].name)) state->kernel = &kKernels[i];
  }
  return state->kernel || status_invalid(status, "Unrecognized kernel type: %.*s",
                                         (int)(name.length < 64 ? name.length : 64), name.data);
}

/* --- weights --- */

static int64_t clamped(float place, int64_t last) {
  return place < 0 ? 0 : place > (float)last ? last : (int64_t)place;
}

/* The weights of the elements within the kernel's radius of the sample, whose sum is 1. */
static void set_weights(const SampleKernel *kernel, float sample, float scale, int64_t i, Resampling *axis) {
  float reach = kernel->radius * scale, sum = 0, *weights = axis->weights + i * axis->width;
  int64_t first = clamped(ceilf(sample - reach - 0.5f), axis->in - 1),
          last = clamped(floorf(sample + reach - 0.5f), axis->in - 1);
  axis->first[i] = first;
  for (int64_t k = first; k <= last && k - first < axis->width; k++) {
    weights[k - first] = kernel->value(((float)k + 0.5f - sample) / scale);
    sum += weights[k - first];
  }
  if (fabsf(sum) < 1000 * FLT_MIN) return;
  for (int64_t k = 0; k < axis->width; k++) weights[k] /= sum;
}

static bool make_axis(KernelContext *context, int64_t in, int64_t out, float scale, float translation,
                      Resampling *axis, Status *status) {
  const ScaleState *state = context->state;
  float step = 1 / scale, shift = -step * translation;
  float widened = state->antialias && step > 1 ? step : 1;
  float width = 2 * ceilf(state->kernel->radius * widened) + 1;
  TRY(resample_begin(context, in, out, width < (float)in ? (int64_t)width : in, axis, status));
  for (int64_t i = 0; i < out; i++) {
    float sample = ((float)i + 0.5f) * step + shift;
    /* Samples outside of the image are 0. */
    if (sample >= 0 && sample <= (float)in) set_weights(state->kernel, sample, widened, i, axis);
  }
  return true;
}

/* --- kernels --- */

static bool read_pair(const Tensor *tensor, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor->shape.rank != 1)
    return status_invalid(status, "t must be 1-dimensional%s", shape_text(&tensor->shape, text));
  if (tensor_num_elements(tensor) != 2)
    return status_invalid(status, "t must have two elements%s", shape_text(&tensor->shape, text));
  return true;
}

/* Inputs 2 and 3: scale and translation. */
static bool check_scale(const KernelContext *context, Status *status) {
  TRY(read_pair(context->inputs[2], status));
  TRY(read_pair(context->inputs[3], status));
  const float *scale = tensor_f32(context->inputs[2]);
  if (!(scale[0] > 0 && scale[1] > 0)) return status_invalid(status, "Scale must be greater than zero.");
  return true;
}

static bool make_axes(KernelContext *context, const int64_t *in, const int64_t *out,
                      Resampling axes[RESIZE_AXES], Status *status) {
  const float *scale = tensor_f32(context->inputs[2]), *translation = tensor_f32(context->inputs[3]);
  for (int k = 0; k < RESIZE_AXES; k++)
    TRY(make_axis(context, in[k], out[k], scale[k], translation[k], &axes[k], status));
  return true;
}

static bool scale_and_translate(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *size = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t sizes[RESIZE_AXES];
  Resampling axes[RESIZE_AXES] = {{0}};
  Image image = {0};
  Tensor *out;
  bool ok = false;
  if (input->shape.rank != 4)
    return status_invalid(status, "input must be 4-dimensional%s", shape_text(&input->shape, text));
  if (size->shape.rank != 1) {
    return status_invalid(status, "output_shape_t must be 1-dimensional%s", shape_text(&size->shape, text));
  }
  if (tensor_num_elements(size) != 2) {
    return status_invalid(status, "output_shape_t must have two elements%s", shape_text(&size->shape, text));
  }
  TRY(resize_read_size(size, "output dimensions must be positive", sizes, status));
  const int64_t *dims = shape_dims(&input->shape);
  if (dims[1] == 0 || dims[2] == 0) return status_invalid(status, "input image must be of non-zero size");
  TRY(check_scale(context, status));
  int64_t resized[] = {dims[0], sizes[0], sizes[1], dims[3]};
  TRY(kernel_allocate_output_dims(context, 0, 4, resized, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY_DONE(image_floats(context, input, &image, status));
  TRY_DONE(make_axes(context, dims + 1, sizes, axes, status));
  ok = resample_images(context, image.data, dims[0], dims[3], &axes[0], &axes[1], out, status);
done:
  for (int k = 0; k < RESIZE_AXES; k++) resample_drop(&axes[k]);
  image_drop(&image);
  return ok;
}

static bool scale_and_translate_grad(KernelContext *context, Status *status) {
  const Tensor *grads = context->inputs[0], *original = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  Resampling axes[RESIZE_AXES] = {{0}}, transposed[RESIZE_AXES] = {{0}};
  Tensor *out;
  bool ok = false;
  if (grads->shape.rank != 4)
    return status_invalid(status, "input_grad must be 4-dimensional%s", shape_text(&grads->shape, text));
  if (original->shape.rank != 4) {
    return status_invalid(status, "original_image must be 4-dimensional%s",
                          shape_text(&original->shape, text));
  }
  TRY(check_scale(context, status));
  /* Batch and channels are those of the gradient. */
  const int64_t *from = shape_dims(&grads->shape), *size = shape_dims(&original->shape);
  int64_t dims[] = {from[0], size[1], size[2], from[3]};
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY_DONE(make_axes(context, dims + 1, from + 1, axes, status));
  for (int k = 0; k < RESIZE_AXES; k++)
    TRY_DONE(resample_transpose(context, &axes[k], &transposed[k], status));
  ok = resample_images(context, grads->data, dims[0], dims[3], &transposed[0], &transposed[1], out, status);
done:
  for (int k = 0; k < RESIZE_AXES; k++) resample_drop(&axes[k]), resample_drop(&transposed[k]);
  return ok;
}

/* --- registrations --- */

/* Images of other types are converted to float, and receive a gradient of that type if it is a real one. */
static bool gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  bool flows = dtype_is_floating(type);
  strbuf_printf(text,
                "ScaleAndTranslateGradient[T:type, kernel_type:string, antialias:bool]"
                "(images:T, size:int32, scale:float, translation:float, dy:float)"
                " -> (dimages:T, dsize:int32, dscale:float, dtranslation:float) {\n"
                "  dsize = ZerosLike[T=int32](size)\n"
                "  none = ZerosLike[T=float](scale)\n"
                "%s"
                "  return dimages = dimages:y:0, dsize = dsize:y:0, dscale = none:y:0, "
                "dtranslation = none:y:0\n"
                "}\n",
                flows ? "  image = Cast[SrcT=$T, DstT=float, Truncate=false](images)\n"
                        "  d = ScaleAndTranslateGrad[T=float, kernel_type=$kernel_type, antialias=$antialias]"
                        "(dy, image:y:0, scale, translation)\n"
                        "  dimages = Cast[SrcT=float, DstT=$T, Truncate=false](d:output:0)\n"
                      : "  dimages = ZerosLike[T=$T](images)\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpScaleAndTranslate = {
    .name = "ScaleAndTranslate",
    .inputs = {"images: T", "size: int32", "scale: float", "translation: float"},
    .outputs = {"resized_images: float"},
    .attrs = {"T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}",
              "kernel_type: string = 'lanczos3'", "antialias: bool = true"},
    .shape = shape_resize,
    .gradient_fn = gradient,
    .state_size = sizeof(ScaleState),
    .construct = construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(scale_and_translate), INT_KERNELS(scale_and_translate),
                SMALL_KERNELS(scale_and_translate)},
};

const OpRegistration kOpScaleAndTranslateGrad = {
    .name = "ScaleAndTranslateGrad",
    .inputs = {"grads: T", "original_image: T", "scale: float", "translation: float"},
    .outputs = {"output: T"},
    .attrs = {"T: {float}", "kernel_type: string = 'lanczos3'", "antialias: bool = true"},
    .shape = shape_resize_grad,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ScaleState),
    .construct = construct,
    .kernels = {{DT_FLOAT, scale_and_translate_grad}},
};
