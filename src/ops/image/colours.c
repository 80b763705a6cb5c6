/* RGBToHSV and HSVToRGB, and the ops that change hue, saturation and contrast. Colours are in the last
 * dimension. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "op/op_registry.h"
#include "ops/image/image_floats.h"
#include "ops/support/element_types.h"

/* A range of colours; `parameter` is that of the op. */
typedef struct Colours {
  const void *from;
  void *to;
  float parameter;
} Colours;

#define TEMPLATE "ops/image/colours.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

static void turn_hue(void *arg, int64_t begin, int64_t end) {
  const Colours *c = arg;
  const float *from = c->from;
  for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
    float hsv[3];
    to_hsv_f32(from + i, hsv);
    hsv[0] += c->parameter;
    hsv[0] -= floorf(hsv[0]);
    to_rgb_f32(hsv, (float *)c->to + i);
  }
}

static void saturate(void *arg, int64_t begin, int64_t end) {
  const Colours *c = arg;
  const float *from = c->from;
  for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
    float hsv[3];
    to_hsv_f32(from + i, hsv);
    hsv[1] = fminf(fmaxf(hsv[1] * c->parameter, 0), 1);
    to_rgb_f32(hsv, (float *)c->to + i);
  }
}

/* --- RGBToHSV and HSVToRGB --- */

static bool convert(KernelContext *context, Status *status) {
  const Tensor *images = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  Tensor *out;
  if (images->shape.rank < 1)
    return status_invalid(status, "input must be at least 1D%s", shape_text(&images->shape, text));
  int64_t channels = shape_dim(&images->shape, images->shape.rank - 1);
  if (channels != 3) {
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "input must have 3 channels but input only has %" PRId64 " channels.", channels);
  }
  TRY(kernel_forward_or_allocate(context, 0, 0, &images->shape, &out, status));
  Colours job = {.from = images->data, .to = out->data};
  parallel_work(context->parallel, tensor_num_elements(images) / 3, 20, *(ParallelBody *const *)context->data,
                &job);
  return true;
}

static bool shape_colours(InferenceContext *c, Status *status) {
  ShapeHandle images, output;
  DimHandle channels;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &images, status));
  if (!shape_rank_known(images)) return shape_unknown_outputs(c, status);
  TRY(dim_with_value(c, shape_dim_of(c, images, -1), 3, &channels, status));
  TRY(shape_replace_dim(c, images, shape_rank(images) - 1, channels, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* --- AdjustHue and AdjustSaturation --- */

static bool check_adjusted(const KernelContext *context, const char *parameter, bool coloured,
                           Status *status) {
  const Tensor *images = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  if (images->shape.rank < 3) {
    return status_invalid(status, "input must be at least 3-D, got shape%s",
                          shape_text(&images->shape, text));
  }
  if (context->inputs[1]->shape.rank != 0) {
    return status_invalid(status, "%s must be scalar: %s", parameter,
                          shape_text(&context->inputs[1]->shape, text));
  }
  int64_t channels = shape_dim(&images->shape, images->shape.rank - 1);
  return !coloured || channels == 3 ||
         status_invalid(status, "input must have 3 channels but instead has %" PRId64 " channels.", channels);
}

static bool adjust(KernelContext *context, const char *parameter, ParallelBody *body, Status *status) {
  const Tensor *images = context->inputs[0];
  Tensor *out;
  TRY(check_adjusted(context, parameter, true, status));
  TRY(kernel_forward_or_allocate(context, 0, 0, &images->shape, &out, status));
  Colours job = {images->data, out->data, tensor_f32(context->inputs[1])[0]};
  parallel_work(context->parallel, tensor_num_elements(images) / 3, 40, body, &job);
  return true;
}
static bool adjust_hue(KernelContext *context, Status *status) {
  return adjust(context, "delta", turn_hue, status);
}
static bool adjust_saturation(KernelContext *context, Status *status) {
  return adjust(context, "scale", saturate, status);
}

/* --- AdjustContrast and AdjustContrastv2 --- */

typedef struct Contrast {
  const float *from;
  float *to;
  int64_t pixels, channels;
  float factor, low, high;
} Contrast;

/* A row of a loop: adjacent pixels, or channels of one if there are many. */
enum { ROW = 64 };

static void stretch_channels(const Contrast *c, const float *from, float *to, int64_t width) {
  int64_t together = c->channels < ROW ? ROW / c->channels : 1, step = together * c->channels;
  int64_t count = (together - 1) * c->channels + width, rows = c->pixels / together;
  int64_t rest = c->pixels % together * c->channels;
  double sums[ROW] = {0};
  float means[ROW];
  for (int64_t row = 0; row <= rows; row++) {
    int64_t there = row < rows ? count : rest;
    for (int64_t j = 0; j < there; j++) sums[j] += from[row * step + j];
  }
  for (int64_t j = width; j < count; j++) sums[j % width] += sums[j];
  for (int64_t j = 0; j < count; j++) means[j] = (float)(sums[j % width] / (double)c->pixels);
  for (int64_t row = 0; row <= rows; row++) {
    int64_t there = row < rows ? count : rest;
    LOOP_INDEPENDENT for (int64_t j = 0; j < there; j++) {
      float value = (from[row * step + j] - means[j]) * c->factor + means[j];
      to[row * step + j] = value < c->low ? c->low : value > c->high ? c->high : value;
    }
  }
}

/* Range indices count images: each channel's distance from its mean is multiplied. */
static void stretch_images(void *arg, int64_t begin, int64_t end) {
  const Contrast *c = arg;
  for (int64_t image = begin; image < end; image++) {
    for (int64_t channel = 0; channel < c->channels; channel += ROW) {
      int64_t at = image * c->pixels * c->channels + channel, left = c->channels - channel;
      stretch_channels(c, c->from + at, c->to + at, left < ROW ? left : ROW);
    }
  }
}

static bool stretch(KernelContext *context, float low, float high, Status *status) {
  const Tensor *images = context->inputs[0];
  Image floats;
  Tensor *out;
  TRY(check_adjusted(context, "contrast_factor", false, status));
  TRY(kernel_allocate_output(context, 0, &images->shape, &out, status));
  int64_t elements = tensor_num_elements(images), rank = images->shape.rank;
  if (elements == 0) return true;
  TRY(image_floats(context, images, &floats, status));
  const int64_t *dims = shape_dims(&images->shape) + rank - 3;
  Contrast job =
      {floats.data, tensor_f32(out), dims[0] * dims[1], dims[2], tensor_f32(context->inputs[1])[0], low,
       high};
  int64_t size = job.pixels * job.channels;
  parallel_work(context->parallel, elements / size, 4 * (double)size, stretch_images, &job);
  image_drop(&floats);
  return true;
}

static bool adjust_contrast_v2(KernelContext *context, Status *status) {
  return stretch(context, -INFINITY, INFINITY, status);
}

static bool adjust_contrast(KernelContext *context, Status *status) {
  static const char *const kNames[] = {"min_value", "max_value"};
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 2; i++) {
    const Shape *shape = &context->inputs[2 + i]->shape;
    if (shape->rank != 0)
      return status_invalid(status, "%s must be scalar: %s", kNames[i], shape_text(shape, text));
  }
  return stretch(context, tensor_f32(context->inputs[2])[0], tensor_f32(context->inputs[3])[0], status);
}

static bool shape_adjusted(InferenceContext *c, Status *status) {
  ShapeHandle images;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 3, &images, status));
  shape_set_output(c, 0, images);
  return true;
}

static bool shape_contrast(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  for (int i = 1; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  return shape_adjusted(c, status);
}

/* --- registrations --- */

/* The derivatives of hue and saturation with regard to channel `c`, which is the largest if b_c is 1 and the
 * smallest if s_c is 1; hue is n / (6 range), and n depends on the channel by +p and -q. */
/* clang-format off */
#define CHANNEL(c, p, q)                                      \
  "  e_" c " = Sub[T=$T](b_" c ":y:0, s_" c ":y:0)\n"         \
  "  n_" c " = Sub[T=$T](b_" p ":y:0, b_" q ":y:0)\n"         \
  "  h1_" c " = Mul[T=$T](e_" c ":z:0, hue:z:0)\n"            \
  "  h2_" c " = Sub[T=$T](n_" c ":z:0, h1_" c ":z:0)\n"       \
  "  h3_" c " = Mul[T=$T](h2_" c ":z:0, dh:z:0)\n"            \
  "  v1_" c " = Mul[T=$T](b_" c ":y:0, rest:z:0)\n"           \
  "  v2_" c " = Mul[T=$T](s_" c ":y:0, lit:y:0)\n"            \
  "  v3_" c " = Sub[T=$T](v1_" c ":z:0, v2_" c ":z:0)\n"      \
  "  v4_" c " = Mul[T=$T](v3_" c ":z:0, ds:z:0)\n"            \
  "  w_" c " = Mul[T=$T](b_" c ":y:0, d:output:2)\n"          \
  "  a_" c " = AddV2[T=$T](h3_" c ":z:0, v4_" c ":z:0)\n"     \
  "  d_" c " = AddV2[T=$T](a_" c ":z:0, w_" c ":z:0)\n"
/* b_c and s_c from comparisons with the other two channels. */
#define EXTREME(kind, c, op1, x, op2, y)                                                         \
  "  " kind "1_" c " = " op1 "[T=$T](x:output:" c ", x:output:" x ")\n"                          \
  "  " kind "2_" c " = " op2 "[T=$T](x:output:" c ", x:output:" y ")\n"                          \
  "  " kind "3_" c " = LogicalAnd(" kind "1_" c ":z:0, " kind "2_" c ":z:0)\n"                   \
  "  " kind "_" c " = Cast[SrcT=bool, DstT=$T, Truncate=false](" kind "3_" c ":z:0)\n"
/* b_c times the difference of the other two. */
#define PART(c, x, y)                                         \
  "  m_" c " = Sub[T=$T](x:output:" x ", x:output:" y ")\n"   \
  "  o_" c " = Mul[T=$T](b_" c ":y:0, m_" c ":z:0)\n"

static const char kHsvGradient[] =
    "RGBToHSVGradient[T:type](images:T, dy:T) -> (dimages:T) {\n"
    "  x = Unpack[T=$T, num=3, axis=-1](images)\n"
    "  d = Unpack[T=$T, num=3, axis=-1](dy)\n"
    "  max1 = Maximum[T=$T](x:output:0, x:output:1)\n"
    "  max = Maximum[T=$T](max1:z:0, x:output:2)\n"
    "  min1 = Minimum[T=$T](x:output:0, x:output:1)\n"
    "  min = Minimum[T=$T](min1:z:0, x:output:2)\n"
    "  range = Sub[T=$T](max:z:0, min:z:0)\n"
    EXTREME("b", "0", "GreaterEqual", "1", "GreaterEqual", "2")
    EXTREME("b", "1", "Greater", "0", "GreaterEqual", "2")
    EXTREME("b", "2", "Greater", "0", "Greater", "1")
    EXTREME("s", "0", "Less", "1", "Less", "2")
    EXTREME("s", "1", "LessEqual", "0", "Less", "2")
    EXTREME("s", "2", "LessEqual", "0", "LessEqual", "1")
    PART("0", "1", "2")
    PART("1", "2", "0")
    PART("2", "0", "1")
    "  n1 = AddV2[T=$T](o_0:z:0, o_1:z:0)\n"
    "  n = AddV2[T=$T](n1:z:0, o_2:z:0)\n"
    "  hue = DivNoNan[T=$T](n:z:0, range:z:0)\n"
    "  six = Const[dtype=$T, value=6]()\n"
    "  sixfold = Mul[T=$T](range:z:0, six:output:0)\n"
    "  dh = DivNoNan[T=$T](d:output:0, sixfold:z:0)\n"
    "  zero = ZerosLike[T=$T](min:z:0)\n"
    "  above = Greater[T=$T](min:z:0, zero:y:0)\n"
    "  lit = Cast[SrcT=bool, DstT=$T, Truncate=false](above:z:0)\n"
    "  rest = DivNoNan[T=$T](min:z:0, max:z:0)\n"
    "  ds = DivNoNan[T=$T](d:output:1, max:z:0)\n"
    CHANNEL("0", "2", "1")
    CHANNEL("1", "0", "2")
    CHANNEL("2", "1", "0")
    "  dimages = Pack[T=$T, N=3, axis=-1](d_0:z:0, d_1:z:0, d_2:z:0)\n"
    "  return dimages = dimages:output:0\n"
    "}\n";
/* clang-format on */

static ParallelBody *const kToHsv[] = {rgb_to_hsv_f32, rgb_to_hsv_f64, rgb_to_hsv_f16, rgb_to_hsv_bf16};
static ParallelBody *const kToRgb[] = {hsv_to_rgb_f32, hsv_to_rgb_f64, hsv_to_rgb_f16, hsv_to_rgb_bf16};
#define KERNELS(loops)                                                                              \
  {DT_FLOAT, convert, &loops[0]}, {DT_DOUBLE, convert, &loops[1]}, {DT_HALF, convert, &loops[2]}, { \
    DT_BFLOAT16, convert, &loops[3]                                                                 \
  }

/* Where channels are equal, the first of them counts as the largest, the last as the smallest. As in
 * TensorFlow, saturation does not change with the smallest channel where that is 0. */
const OpRegistration kOpRGBToHSV = {
    .name = "RGBToHSV",
    .inputs = {"images: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double} = DT_FLOAT"},
    .shape = shape_colours,
    .gradient = kHsvGradient,
    .kernels = {KERNELS(kToHsv)},
};

const OpRegistration kOpHSVToRGB = {
    .name = "HSVToRGB",
    .inputs = {"images: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double} = DT_FLOAT"},
    .shape = shape_colours,
    .gradient = NO_GRADIENT,
    .kernels = {KERNELS(kToRgb)},
};

const OpRegistration kOpAdjustHue = {
    .name = "AdjustHue",
    .inputs = {"images: T", "delta: float"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float} = DT_FLOAT"},
    .shape = shape_adjusted,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_FLOAT, adjust_hue}},
};

const OpRegistration kOpAdjustSaturation = {
    .name = "AdjustSaturation",
    .inputs = {"images: T", "scale: float"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float} = DT_FLOAT"},
    .shape = shape_adjusted,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_FLOAT, adjust_saturation}},
};

const OpRegistration kOpAdjustContrastv2 = {
    .name = "AdjustContrastv2",
    .inputs = {"images: T", "contrast_factor: float"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float} = DT_FLOAT"},
    .shape = shape_contrast,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_FLOAT, adjust_contrast_v2}},
};

const OpRegistration kOpAdjustContrast = {
    .name = "AdjustContrast",
    .inputs = {"images: T", "contrast_factor: float", "min_value: float", "max_value: float"},
    .outputs = {"output: float"},
    .attrs = {"T: {uint8, int8, int16, int32, int64, float, double}"},
    .deprecated_version = 2,
    .deprecation_explanation = "Use AdjustContrastv2 instead",
    .shape = shape_contrast,
    .gradient = NO_GRADIENT,
    .kernels = {FLOAT_KERNELS(adjust_contrast),
                {DT_UINT8, adjust_contrast},
                {DT_INT8, adjust_contrast},
                {DT_INT16, adjust_contrast},
                INT_KERNELS(adjust_contrast)},
};
