/* ImageSummary: encodes the images of a batch as PNG files in a summary. */
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/io/png.h"
#include "ops/io/summary_value.h"

/* Images whose values are all below this are black. */
static const double kZeroThreshold = 1e-6;

typedef struct ImageState {
  int64_t max_images;
  Tensor bad_color;
} ImageState;

static bool image_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ImageState *state = memory;
  const TensorProto *color;
  TRY(node_attr_int(construction->node, "max_images", &state->max_images, status));
  TRY(node_attr_tensor(construction->node, "bad_color", &color, status));
  TRY(tensor_from_proto(color, &state->bad_color, status));
  if (state->bad_color.dtype != DT_UINT8) {
    return status_invalid(status, "bad_color must be uint8, got %s", dtype_name(state->bad_color.dtype));
  }
  if (!tensor_is_vector(&state->bad_color)) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "bad_color must be a vector, got shape %s",
                          shape_text(&state->bad_color.shape, text));
  }
  return true;
}

static void image_destroy(void *memory) { tensor_clear(&((ImageState *)memory)->bad_color); }

/* Pixels are computed in the type of the elements, because rounding decides between adjacent values. */
static double round_to(DataType dtype, double value) {
  return dtype == DT_DOUBLE ? value
         : dtype == DT_HALF ? half_to_float(float_to_half((float)value))
                            : (float)value;
}

/* Scales numbers to 0 to 255; if there are negative ones, zero becomes 128. Pixels with a value that is not
 * finite get the bad color. */
static void normalize(const Tensor *tensor, int64_t first, int64_t pixels, int depth,
                      const uint8_t *bad_color, uint8_t *out) {
  double least = INFINITY, most = -INFINITY;
  for (int64_t p = 0; p < pixels; p++) {
    bool finite = true;
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < depth; c++) {
      double value = summary_number(tensor, first + p * depth + c);
      finite = finite && isfinite(value);
      low = fmin(low, value);
      high = fmax(high, value);
    }
    if (finite) {
      least = fmin(least, low);
      most = fmax(most, high);
    }
  }
  double extreme = least < 0 ? fmax(fabs(least), fabs(most)) : most, offset = least < 0 ? 128 : 0;
  float scale = extreme < kZeroThreshold ? 0 : (least < 0 ? 127.0f : 255.0f) / (float)extreme;
  if (tensor->dtype == DT_HALF) scale = half_to_float(float_to_half(scale));
  for (int64_t p = 0; p < pixels; p++) {
    bool finite = true;
    for (int c = 0; c < depth; c++)
      finite = finite && isfinite(summary_number(tensor, first + p * depth + c));
    for (int c = 0; c < depth; c++) {
      double value = summary_number(tensor, first + p * depth + c);
      double scaled =
          finite ? round_to(tensor->dtype, round_to(tensor->dtype, value * (double)scale) + offset) : 0;
      out[p * depth + c] = !finite ? bad_color[c] : scaled < 0 ? 0 : scaled > 255 ? 255 : (uint8_t)scaled;
    }
  }
}

typedef struct Pictures {
  int64_t count, height, width, depth;
} Pictures;

static bool check_inputs(const KernelContext *context, Pictures *size, Status *status) {
  const ImageState *state = context->state;
  const Shape *shape = &context->inputs[1]->shape;
  if (!tensor_is_scalar(context->inputs[0])) return status_invalid(status, "Tags must be a scalar");
  int64_t depth = shape->rank == 4 ? shape_dim(shape, 3) : 0;
  if (depth != 1 && depth != 3 && depth != 4) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "Tensor must be 4-D with last dim 1, 3, or 4, not %s",
                          shape_text(shape, text));
  }
  *size = (Pictures){shape_dim(shape, 0), shape_dim(shape, 1), shape_dim(shape, 2), depth};
  if (size->count > 0 && (size->height == 0 || size->width == 0)) {
    return status_invalid(status, "input tensor must have non-zero dims. Found: [%lld, %lld, %lld, %lld].",
                          (long long)size->count, (long long)size->height, (long long)size->width,
                          (long long)depth);
  }
  int64_t colors = tensor_num_elements(&state->bad_color);
  if (depth > colors) {
    return status_invalid(status, "expected depth <= bad_color.size, got depth = %lld, bad_color.size = %lld",
                          (long long)depth, (long long)colors);
  }
  return true;
}

static bool add_image(KernelContext *context, Summary *summary, Arena *arena, const Pictures *size, int64_t i,
                      uint8_t *scratch, Status *status) {
  const ImageState *state = context->state;
  const Tensor *tensor = context->inputs[1];
  int64_t pixels = size->height * size->width, first = i * pixels * size->depth;
  Str base = tstring_view(tensor_strings(context->inputs[0]));
  StrBuf tag = {0}, png = {0};
  SummaryValue *value;
  bool ok = false;
  strbuf_append_bytes(&tag, base.data, base.length);
  if (state->max_images > 1) strbuf_printf(&tag, "/image/%lld", (long long)i);
  else strbuf_append(&tag, "/image");
  TRY_DONE(strbuf_ok(&tag, status));
  TRY_DONE(summary_add(summary, arena, (Str){tag.data, (size_t)tag.length}, &value, status));
  const uint8_t *bytes = tensor->dtype == DT_UINT8 ? (const uint8_t *)tensor->data + first : scratch;
  if (bytes == scratch) normalize(tensor, first, pixels, (int)size->depth, state->bad_color.data, scratch);
  TRY_DONE(png_encode(bytes, size->height, size->width, (int)size->depth, &png, status));
  value->value_case = TENSORFLOW__SUMMARY__VALUE__VALUE_IMAGE;
  value->image = proto_new(kSummaryImage, arena);
  uint8_t *copy = arena_alloc(arena, png.length);
  if (!value->image || !copy) {
    status_oom(status, "a summary");
    goto done;
  }
  memcpy(copy, png.data, (size_t)png.length);
  value->image->height = (int32_t)size->height;
  value->image->width = (int32_t)size->width;
  value->image->colorspace = (int32_t)size->depth;
  value->image->encoded_image_string.data = copy;
  value->image->encoded_image_string.len = (size_t)png.length;
  ok = true;
done:
  strbuf_free(&tag);
  strbuf_free(&png);
  return ok;
}

static bool image_summary(KernelContext *context, Status *status) {
  const ImageState *state = context->state;
  Pictures size = {0};
  Arena *arena;
  Summary *summary;
  bool ok = false;
  TRY(check_inputs(context, &size, status));
  int64_t wanted = size.count < state->max_images ? size.count : state->max_images;
  Buffer *scratch = kernel_scratch(context, wanted == 0 ? 1 : size.height * size.width * size.depth, status);
  if (!scratch) return false;
  if (!summary_begin(&arena, &summary, status)) {
    buffer_unref(scratch);
    return false;
  }
  for (int64_t i = 0; i < wanted; i++)
    TRY_DONE(add_image(context, summary, arena, &size, i, scratch->data, status));
  ok = summary_set_output(context, summary, status);
done:
  arena_free(arena);
  buffer_unref(scratch);
  return ok;
}

const OpRegistration kOpImageSummary = {
    .name = "ImageSummary",
    .inputs = {"tag: string", "tensor: T"},
    .outputs = {"summary: string"},
    .attrs = {"max_images: int >= 1 = 3", "T: {uint8, float, half, double} = DT_FLOAT",
              "bad_color: tensor = { dtype: DT_UINT8 tensor_shape: { dim { size: 4 } } int_val: 255 int_val: "
              "0 int_val: 0 int_val: 255 }"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ImageState),
    .construct = image_construct,
    .destroy = image_destroy,
    .kernels = {{DT_INVALID, image_summary}},
};
