/* EncodeJpeg, EncodeJpegVariableQuality, ExtractJpegShape. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/codecs/jpeg_decode.h"
#include "ops/codecs/jpeg_encode.h"

typedef struct EncodeState {
  Str format; /* "", "grayscale" or "rgb" */
  JpegOptions options;
} EncodeState;

static bool check_quality(int32_t quality, Status *status) {
  if (quality < 0 || quality > 100)
    return status_invalid(status, "quality must be in [0,100], got %d", quality);
  return true;
}

static bool encode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  EncodeState *state = memory;
  JpegOptions *options = &state->options;
  const NodeDef *node = construction->node;
  Str unit;
  TRY(node_attr_string(node, "format", &state->format, status));
  TRY(node_attr_int32(node, "quality", &options->quality, status));
  TRY(check_quality(options->quality, status));
  TRY(node_attr_bool(node, "progressive", &options->progressive, status));
  TRY(node_attr_bool(node, "optimize_size", &options->optimize_size, status));
  TRY(node_attr_bool(node, "chroma_downsampling", &options->chroma_downsampling, status));
  TRY(node_attr_string(node, "density_unit", &unit, status));
  options->density_unit = str_equal_text(unit, "cm") ? 2 : 1;
  TRY(node_attr_int32(node, "x_density", &options->x_density, status));
  TRY(node_attr_int32(node, "y_density", &options->y_density, status));
  return node_attr_string(node, "xmp_metadata", &options->xmp_metadata, status);
}

static bool check_image(const Tensor *image, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (image->shape.rank != 3)
    return status_invalid(status, "image must be 3-dimensional%s", shape_text(&image->shape, text));
  if (tensor_num_elements(image) >= INT32_MAX)
    return status_invalid(status, "Cannot encode images with >= max int32 elements");
  return true;
}

/* Whether the image has the channels of the format. */
static bool check_channels(const Tensor *image, Str format, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t channels = shape_dim(&image->shape, 2), wanted = str_equal_text(format, "grayscale") ? 1 : 3;
  if (format.length == 0 && channels != 1 && channels != 3) {
    return status_invalid(status, "image must have 1 or 3 channels, got %s", shape_text(&image->shape, text));
  }
  if (format.length > 0 && channels != wanted) {
    return status_invalid(status, "format %.*s expects %lld channels, got %s", (int)format.length,
                          format.data, (long long)wanted, shape_text(&image->shape, text));
  }
  return true;
}

static bool set_file(KernelContext *context, const JpegOptions *options, Status *status) {
  const Tensor *image = context->inputs[0];
  const int64_t *dims = shape_dims(&image->shape);
  StrBuf file = {0};
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  bool ok = jpeg_encode_file(image->data, dims[0], dims[1], (int)dims[2], options, &file, status) &&
            tstring_set(tensor_strings(out), strbuf_text(&file), (size_t)file.length, status);
  strbuf_free(&file);
  return ok;
}

static bool encode(KernelContext *context, Status *status) {
  const EncodeState *state = context->state;
  TRY(check_image(context->inputs[0], status));
  TRY(check_channels(context->inputs[0], state->format, status));
  return set_file(context, &state->options, status);
}

static bool encode_variable_quality(KernelContext *context, Status *status) {
  const Tensor *quality = context->inputs[1];
  JpegOptions options = {.chroma_downsampling = true, .density_unit = 1, .x_density = 300, .y_density = 300};
  char text[SHAPE_TEXT_CAPACITY];
  TRY(check_image(context->inputs[0], status));
  if (!tensor_is_scalar(quality))
    return status_invalid(status, "quality must be scalar: %s", shape_text(&quality->shape, text));
  options.quality = *(const int32_t *)quality->data;
  TRY(check_quality(options.quality, status));
  TRY(check_channels(context->inputs[0], str_of(""), status));
  return set_file(context, &options, status);
}

static bool extract_shape(KernelContext *context, Status *status) {
  const Tensor *contents = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  ImageSize size;
  Tensor *out;
  if (!tensor_is_scalar(contents)) {
    return status_invalid(status, "contents must be scalar, got shape %s",
                          shape_text(&contents->shape, text));
  }
  Str file = tstring_view(tensor_strings(contents));
  if (file.length > INT32_MAX)
    return status_invalid(status, "JPEG contents are too large for int: %zu", file.length);
  TRY(jpeg_read_size(file, &size, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, (const int64_t[]){3}, &out, status));
  const int64_t sizes[] = {size.height, size.width, size.channels};
  for (int i = 0; i < 3; i++) {
    if (out->dtype == DT_INT64) ((int64_t *)out->data)[i] = sizes[i];
    else ((int32_t *)out->data)[i] = (int32_t)sizes[i];
  }
  return true;
}

static bool shape_encode(InferenceContext *c, Status *status) {
  ShapeHandle image;
  TRY(shape_with_rank(c, shape_input(c, 0), 3, &image, status));
  return shape_scalar_output(c, status);
}

static bool shape_extract(InferenceContext *c, Status *status) {
  ShapeHandle contents, sizes;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &contents, status));
  TRY(shape_ok(shape_vector(c, dim_make(c, 3)), &sizes, status));
  shape_set_output(c, 0, sizes);
  return true;
}

const OpRegistration kOpEncodeJpeg = {
    .name = "EncodeJpeg",
    .inputs = {"image: uint8"},
    .outputs = {"contents: string"},
    .attrs = {"format: {'', 'grayscale', 'rgb'} = ''", "quality: int = 95", "progressive: bool = false",
              "optimize_size: bool = false", "chroma_downsampling: bool = true",
              "density_unit: {'in', 'cm'} = 'in'", "x_density: int = 300", "y_density: int = 300",
              "xmp_metadata: string = ''"},
    .shape = shape_encode,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(EncodeState),
    .construct = encode_construct,
    .kernels = {{DT_INVALID, encode}},
};

const OpRegistration kOpEncodeJpegVariableQuality = {
    .name = "EncodeJpegVariableQuality",
    .inputs = {"images: uint8", "quality: int32"},
    .outputs = {"contents: string"},
    .shape = shape_encode,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, encode_variable_quality}},
};

const OpRegistration kOpExtractJpegShape = {
    .name = "ExtractJpegShape",
    .inputs = {"contents: string"},
    .outputs = {"image_shape: output_type"},
    .attrs = {"output_type: {int32, int64} = DT_INT32"},
    .shape = shape_extract,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INT32, extract_shape}, {DT_INT64, extract_shape}},
};
