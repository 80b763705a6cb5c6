/* ResizeBicubic and ResizeArea: sums of the image's elements with weights of each axis; ResizeBicubicGrad. */
#include <float.h>
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/image/image_floats.h"
#include "ops/image/resample.h"
#include "ops/image/resize_image.h"
#include "ops/support/element_types.h"

/* --- weights --- */

/* TensorFlow rounds the distance from an element to a part of this number. */
enum { CUBIC_STEPS = 1024 };

/* The cubic kernel with parameter `a`, within one element and between one and two. */
static float cubic_near(float a, float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
static float cubic_far(float a, float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

/* Adds four weights around `place`. Beyond the ends of the image the last element counts, but with half pixel
 * centers it is left out, and the other weights are made larger. */
static void cubic_weights(float place, bool half_pixel, int64_t i, Resampling *axis) {
  float below = floorf(place), a = half_pixel ? -0.5f : -0.75f;
  int64_t at = (int64_t)below, last = axis->in - 1;
  float x = (float)lrintf((place - below) * CUBIC_STEPS) / CUBIC_STEPS, sum = 0;
  float parts[4] = {cubic_far(a, x + 1), cubic_near(a, x), cubic_near(a, 1 - x), cubic_far(a, 2 - x)};
  int64_t first = at - 1 < 0 ? 0 : at - 1 > last ? last : at - 1;
  float *weights = axis->weights + i * axis->width;
  axis->first[i] = first;
  for (int k = 0; k < 4; k++) {
    int64_t from = at - 1 + k, inside = from < 0 ? 0 : from > last ? last : from;
    if (half_pixel && from != inside) continue;
    weights[inside - first] += parts[k];
    sum += parts[k];
  }
  if (!half_pixel || fabsf(sum) < 1000 * FLT_MIN) return;
  for (int k = 0; k < 4; k++) weights[k] /= sum;
}

static bool cubic_axis(KernelContext *context, int64_t in, int64_t out, Resampling *axis, Status *status) {
  const ResizeAttrs *attrs = context->state;
  float step = resize_step(attrs, in, out);
  TRY(resample_begin(context, in, out, 4, axis, status));
  for (int64_t i = 0; i < out; i++) {
    float place = attrs->half_pixel_centers ? ((float)i + 0.5f) * step - 0.5f : (float)i * step;
    cubic_weights(place, attrs->half_pixel_centers, i, axis);
  }
  return true;
}

/* The part of element i of the result that each element covers. */
static bool area_axis(KernelContext *context, int64_t in, int64_t out, Resampling *axis, Status *status) {
  float step = resize_step(context->state, in, out);
  TRY(resample_begin(context, in, out, (int64_t)ceilf(step) + 2, axis, status));
  for (int64_t i = 0; i < out; i++) {
    float begin = (float)i * step, end = (float)(i + 1) * step;
    float *weights = axis->weights + i * axis->width;
    int64_t start = (int64_t)floorf(begin), stop = (int64_t)ceilf(end), last = in - 1;
    axis->first[i] = start < last ? start : last;
    if (step == 0) weights[0] = 1; /* a single element, with aligned corners */
    for (int64_t k = start; k < stop && k - start < axis->width; k++) {
      float low = (float)k < begin ? begin : (float)k, high = (float)(k + 1) > end ? end : (float)(k + 1);
      int64_t inside = k < last ? k : last;
      weights[inside - axis->first[i]] += (high - low) / step;
    }
  }
  return true;
}

/* --- kernels --- */

typedef bool MakeAxis(KernelContext *context, int64_t in, int64_t out, Resampling *axis, Status *status);

static bool resize(KernelContext *context, MakeAxis *make, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t sizes[RESIZE_AXES];
  Resampling y = {0}, x = {0};
  Image image = {0};
  Tensor *out;
  bool ok = false;
  TRY(resize_begin(context, sizes, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  const int64_t *dims = shape_dims(&input->shape);
  TRY_DONE(image_floats(context, input, &image, status));
  TRY_DONE(make(context, dims[1], sizes[RESIZE_ROWS], &y, status));
  TRY_DONE(make(context, dims[2], sizes[RESIZE_COLUMNS], &x, status));
  ok = resample_images(context, image.data, dims[0], dims[3], &y, &x, out, status);
done:
  resample_drop(&y);
  resample_drop(&x);
  image_drop(&image);
  return ok;
}
static bool resize_bicubic(KernelContext *context, Status *status) {
  return resize(context, cubic_axis, status);
}
static bool resize_area(KernelContext *context, Status *status) { return resize(context, area_axis, status); }

static bool resize_bicubic_grad(KernelContext *context, Status *status) {
  const Tensor *grads = context->inputs[0];
  Resampling axes[RESIZE_AXES] = {{0}}, transposed[RESIZE_AXES] = {{0}};
  Tensor *out;
  bool ok = false;
  TRY(resize_begin_grad(context, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  const int64_t *from = shape_dims(&grads->shape), *to = shape_dims(&out->shape);
  for (int k = 0; k < RESIZE_AXES; k++) {
    TRY_DONE(cubic_axis(context, to[1 + k], from[1 + k], &axes[k], status));
    TRY_DONE(resample_transpose(context, &axes[k], &transposed[k], status));
  }
  ok = resample_images(context, grads->data, to[0], to[3], &transposed[0], &transposed[1], out, status);
done:
  for (int k = 0; k < RESIZE_AXES; k++) resample_drop(&axes[k]), resample_drop(&transposed[k]);
  return ok;
}

/* --- registrations --- */

#define TYPES_OF_IMAGES "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"
#define KERNELS(f) FLOAT_AND_HALF_KERNELS(f), INT_KERNELS(f), SMALL_KERNELS(f)

/* TensorFlow has a gradient for float and double only. */
static bool bicubic_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  bool flows = type == DT_FLOAT || type == DT_DOUBLE;
  strbuf_printf(text,
                "ResizeBicubicGradient[T:type, align_corners:bool, half_pixel_centers:bool](images:T, "
                "size:int32, dy:float)"
                " -> (dimages:T, dsize:int32) {\n"
                "  dsize = ZerosLike[T=int32](size)\n"
                "  dimages = %s\n"
                "  return dimages = dimages:%s:0, dsize = dsize:y:0\n"
                "}\n",
                flows ? "ResizeBicubicGrad[T=$T, align_corners=$align_corners, "
                        "half_pixel_centers=$half_pixel_centers](dy, images)"
                      : "ZerosLike[T=$T](images)",
                flows ? "output" : "y");
  return strbuf_ok(text, status);
}

static bool area_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ResizeAttrs *attrs = memory;
  return node_attr_bool(construction->node, "align_corners", &attrs->align_corners, status);
}

const OpRegistration kOpResizeBicubic = {
    .name = "ResizeBicubic",
    .inputs = {"images: T", "size: int32"},
    .outputs = {"resized_images: float"},
    .attrs = {TYPES_OF_IMAGES, "align_corners: bool = false", "half_pixel_centers: bool = false"},
    .shape = shape_resize,
    .gradient_fn = bicubic_gradient,
    .state_size = sizeof(ResizeAttrs),
    .construct = resize_construct,
    .kernels = {KERNELS(resize_bicubic)},
};

const OpRegistration kOpResizeBicubicGrad = {
    .name = "ResizeBicubicGrad",
    .inputs = {"grads: float", "original_image: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {float, double}", "align_corners: bool = false", "half_pixel_centers: bool = false"},
    .shape = shape_resize_grad,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ResizeAttrs),
    .construct = resize_construct,
    .kernels = {FLOAT_KERNELS(resize_bicubic_grad)},
};

const OpRegistration kOpResizeArea = {
    .name = "ResizeArea",
    .inputs = {"images: T", "size: int32"},
    .outputs = {"resized_images: float"},
    .attrs = {TYPES_OF_IMAGES, "align_corners: bool = false"},
    .shape = shape_resize,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ResizeAttrs),
    .construct = area_construct,
    .kernels = {KERNELS(resize_area)},
};
