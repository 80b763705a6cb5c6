/* DecodeImage, DecodePng, DecodeJpeg, DecodeAndCropJpeg, DecodeGif, DecodeBmp. As in TensorFlow, the format
 * is found from the first bytes, and most of these ops decode several formats. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/codecs/bmp_decode.h"
#include "ops/codecs/gif_decode.h"
#include "ops/codecs/jpeg_decode.h"
#include "ops/codecs/png_decode.h"

typedef enum Format {
  FORMAT_JPEG,
  FORMAT_PNG,
  FORMAT_GIF,
  FORMAT_BMP,
  FORMAT_WEBP,
  FORMAT_JXL,
  FORMAT_UNKNOWN
} Format;

static const char *const kFormatNames[] = {"JPEG", "PNG", "GIF", "BMP", "WebP", "JPEG XL"};

/* The data of a kernel: what is particular to its op. */
typedef struct DecodeOp {
  bool reads_bmp, reads_others;
  bool crops; /* decodes JPEG alone */
  FrameRule rule;
} DecodeOp;

static const DecodeOp kImage = {.reads_bmp = true, .reads_others = true, .rule = FRAMES_OF_ANIMATIONS};
static const DecodeOp kStill = {.reads_others = true, .rule = FRAMES_SINGLE};
static const DecodeOp kCrop = {.reads_others = true, .crops = true, .rule = FRAMES_SINGLE};
static const DecodeOp kGif = {.reads_others = true, .rule = FRAMES_ALWAYS};
static const DecodeOp kBmp = {.reads_bmp = true, .rule = FRAMES_SINGLE};

typedef struct DecodeState {
  int32_t channels;
  bool first_frame_only;
  JpegSettings jpeg;
} DecodeState;

/* --- attrs --- */

static bool read_channels(const NodeDef *node, DecodeState *state, Status *status) {
  TRY(node_attr_int32(node, "channels", &state->channels, status));
  if (state->channels != 0 && state->channels != 1 && state->channels != 3 && state->channels != 4)
    return status_invalid(status, "`channels` must be 0, 1, 3 or 4 but got %d", state->channels);
  return true;
}

static bool decode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  DecodeState *state = memory;
  state->jpeg = kJpegDefaults;
  return read_channels(construction->node, state, status);
}

static bool decode_image_construct(const KernelConstruction *construction, void *memory, Status *status) {
  bool expands;
  TRY(node_attr_bool(construction->node, "expand_animations", &expands, status));
  ((DecodeState *)memory)->first_frame_only = !expands;
  return decode_construct(construction, memory, status);
}

static bool decode_gif_construct(const KernelConstruction *construction, void *memory, Status *status) {
  (void)construction, (void)status;
  *(DecodeState *)memory = (DecodeState){.channels = 3, .jpeg = kJpegDefaults};
  return true;
}

static bool decode_jpeg_construct(const KernelConstruction *construction, void *memory, Status *status) {
  DecodeState *state = memory;
  JpegSettings *jpeg = &state->jpeg;
  const NodeDef *node = construction->node;
  Str method;
  TRY(node_attr_int32(node, "ratio", &jpeg->ratio, status));
  if (jpeg->ratio != 1 && jpeg->ratio != 2 && jpeg->ratio != 4 && jpeg->ratio != 8)
    return status_invalid(status, "ratio must be 1, 2, 4, or 8, got %d", jpeg->ratio);
  TRY(node_attr_bool(node, "fancy_upscaling", &jpeg->fancy_upscaling, status));
  TRY(node_attr_bool(node, "try_recover_truncated", &jpeg->try_recover_truncated, status));
  TRY(node_attr_float(node, "acceptable_fraction", &jpeg->acceptable_fraction, status));
  TRY(node_attr_string(node, "dct_method", &method, status));
  jpeg->accurate_dct = str_equal_text(method, "INTEGER_ACCURATE");
  if (!jpeg->accurate_dct && method.length > 0 && !str_equal_text(method, "INTEGER_FAST")) {
    return status_invalid(status, "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
  }
  return read_channels(node, state, status);
}

/* --- formats --- */

static bool begins_with(Str file, const char *bytes, size_t length) {
  return str_equal((Str){file.data, file.length < length ? file.length : length}, (Str){bytes, length});
}

static Format format_of(Str file) {
  if (begins_with(file, "\xFF\xD8\xFF", 3)) return FORMAT_JPEG;
  if (begins_with(file, "\x89PNG\r\n\x1A\n", 8)) return FORMAT_PNG;
  if (begins_with(file, "GIF8", 4)) return FORMAT_GIF;
  if (begins_with(file, "BM", 2)) return FORMAT_BMP;
  if (begins_with(file, "RIFF", 4) && file.length > 12 && begins_with((Str){file.data + 8, 4}, "WEBP", 4))
    return FORMAT_WEBP;
  if (begins_with(file, "\xFF\x0A", 2) || begins_with(file, "\0\0\0\x0CJXL \r\n\x87\n", 12))
    return FORMAT_JXL;
  return FORMAT_UNKNOWN;
}

/* Whether the op decodes the format. */
static bool check_format(const KernelContext *context, Format format, Status *status) {
  const DecodeOp *op = context->data;
  if (format == FORMAT_UNKNOWN) {
    return status_invalid(status,
                          "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.");
  }
  if (format == FORMAT_WEBP || format == FORMAT_JXL)
    return status_set(status, CODE_UNIMPLEMENTED, "%s images are not supported", kFormatNames[format]);
  if (op->crops && format != FORMAT_JPEG) {
    return status_invalid(status, "DecodeAndCropJpeg operation can run on JPEG only, but detected %s.",
                          kFormatNames[format]);
  }
  if (format == FORMAT_BMP && !op->reads_bmp) {
    return status_invalid(status,
                          "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` "
                          "instead. Op used: %s",
                          context->op_name);
  }
  if (format != FORMAT_BMP && !op->reads_others) {
    static const char *const kFunctions[] = {"jpeg", "png", "gif"};
    return status_invalid(status,
                          "Trying to decode %s format using DecodeBmp op. Use `decode_%s` or `decode_image` "
                          "instead.",
                          kFormatNames[format], kFunctions[format]);
  }
  return true;
}

static bool check_channels(Format format, int32_t channels, Status *status) {
  if (format == FORMAT_JPEG && channels == 4)
    return status_invalid(status, "JPEG does not support 4 channels");
  if (format == FORMAT_GIF && channels != 0 && channels != 3)
    return status_invalid(status, "channels must be 0 or 3 for GIF, got %d", channels);
  if (format == FORMAT_BMP && channels == 1)
    return status_invalid(status, "`channels` must be 0, 3 or 4 for BMP, but got %d", channels);
  return true;
}

/* --- kernels --- */

static bool read_contents(const Tensor *contents, Str *file, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(contents)) {
    return status_invalid(status, "`contents` must be scalar but got shape%s",
                          shape_text(&contents->shape, text));
  }
  *file = tstring_view(tensor_strings(contents));
  if (file->length == 0) return status_invalid(status, "Input is empty.");
  if (file->length > INT32_MAX)
    return status_invalid(status, "Input contents are too large for int: %zu", file->length);
  return true;
}

static bool read_window(const KernelContext *context, const int32_t **crop, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  *crop = NULL;
  if (!((const DecodeOp *)context->data)->crops) return true;
  const Tensor *window = context->inputs[1];
  if (!tensor_is_vector(window)) {
    return status_invalid(status, "crop_window must be 1-D, got shape %s", shape_text(&window->shape, text));
  }
  if (tensor_num_elements(window) != 4) {
    return status_invalid(status, "crop_size must have four elements %s", shape_text(&window->shape, text));
  }
  *crop = window->data;
  return true;
}

static bool decode(KernelContext *context, Status *status) {
  const DecodeState *state = context->state;
  const DecodeOp *op = context->data;
  ImageOutput output = {.context = context,
                        .dtype = context->output_types[0],
                        .rule = state->first_frame_only ? FRAMES_FIRST : op->rule,
                        .channels = state->channels};
  const int32_t *crop;
  Str file;
  TRY(read_contents(context->inputs[0], &file, status));
  Format format = format_of(file);
  TRY(check_format(context, format, status));
  TRY(check_channels(format, state->channels, status));
  switch (format) {
    case FORMAT_JPEG:
      TRY(read_window(context, &crop, status));
      TRY(jpeg_decode(file, &state->jpeg, crop, &output, status));
      break;
    case FORMAT_PNG: TRY(png_decode(file, &output, status)); break;
    case FORMAT_GIF: TRY(gif_decode(file, &output, status)); break;
    default: TRY(bmp_decode(file, &output, status));
  }
  image_output_finish(&output);
  return true;
}

/* --- shapes --- */

static bool decoded_channels(InferenceContext *c, DimHandle *channels, Status *status) {
  ShapeHandle contents;
  int32_t count;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &contents, status));
  TRY(node_attr_int32(c->node, "channels", &count, status));
  if (count < 0) return status_invalid(status, "channels must be non-negative, got %d", count);
  return dim_ok(count == 0 ? dim_unknown(c) : dim_make(c, count), channels, status);
}

static bool set_image(InferenceContext *c, DimHandle height, DimHandle width, DimHandle channels,
                      Status *status) {
  ShapeHandle image;
  const DimHandle dims[] = {height, width, channels};
  TRY(shape_ok(shape_of_dims(c, dims, 3), &image, status));
  shape_set_output(c, 0, image);
  return true;
}

static bool shape_decode(InferenceContext *c, Status *status) {
  DimHandle channels;
  TRY(decoded_channels(c, &channels, status));
  return set_image(c, dim_unknown(c), dim_unknown(c), channels, status);
}

static bool shape_decode_image(InferenceContext *c, Status *status) {
  DimHandle channels;
  bool expands;
  TRY(decoded_channels(c, &channels, status));
  TRY(node_attr_bool(c->node, "expand_animations", &expands, status));
  if (expands) return shape_unknown_outputs(c, status);
  return set_image(c, dim_unknown(c), dim_unknown(c), channels, status);
}

/* The size of the window, where it is known: -1 is a size that is not. */
static bool shape_decode_and_crop(InferenceContext *c, Status *status) {
  DimHandle channels, sizes[2];
  ShapeHandle window;
  TRY(decoded_channels(c, &channels, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &window, status));
  TRY(dim_with_value(c, shape_dim_of(c, window, 0), 4, &sizes[0], status));
  const Tensor *value = shape_input_tensor(c, 1);
  for (int i = 0; i < 2; i++) {
    int64_t size = value ? ((const int32_t *)value->data)[2 + i] : UNKNOWN_DIM;
    if (size < UNKNOWN_DIM) return status_invalid(status, "Dimension %lld must be >= 0", (long long)size);
    TRY(dim_ok(dim_make(c, size), &sizes[i], status));
  }
  return set_image(c, sizes[0], sizes[1], channels, status);
}

static bool shape_decode_gif(InferenceContext *c, Status *status) {
  ShapeHandle contents, frames;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &contents, status));
  const DimHandle dims[] = {dim_unknown(c), dim_unknown(c), dim_unknown(c), dim_make(c, 3)};
  TRY(shape_ok(shape_of_dims(c, dims, 4), &frames, status));
  shape_set_output(c, 0, frames);
  return true;
}

#define JPEG_ATTRS                                                       \
  "channels: int = 0", "ratio: int = 1", "fancy_upscaling: bool = true", \
      "try_recover_truncated: bool = false", "acceptable_fraction: float = 1.0", "dct_method: string = ''"

const OpRegistration kOpDecodeImage = {
    .name = "DecodeImage",
    .inputs = {"contents: string"},
    .outputs = {"image: dtype"},
    .attrs = {"channels: int = 0", "dtype: {uint8, uint16, float} = DT_UINT8",
              "expand_animations: bool = true"},
    .shape = shape_decode_image,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_image_construct,
    .kernels = {{DT_UINT8, decode, &kImage}, {DT_UINT16, decode, &kImage}, {DT_FLOAT, decode, &kImage}},
};

const OpRegistration kOpDecodePng = {
    .name = "DecodePng",
    .inputs = {"contents: string"},
    .outputs = {"image: dtype"},
    .attrs = {"channels: int = 0", "dtype: {uint8, uint16} = DT_UINT8"},
    .shape = shape_decode,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_construct,
    .kernels = {{DT_UINT8, decode, &kStill}, {DT_UINT16, decode, &kStill}},
};

const OpRegistration kOpDecodeJpeg = {
    .name = "DecodeJpeg",
    .inputs = {"contents: string"},
    .outputs = {"image: uint8"},
    .attrs = {JPEG_ATTRS},
    .shape = shape_decode,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_jpeg_construct,
    .kernels = {{DT_INVALID, decode, &kStill}},
};

const OpRegistration kOpDecodeAndCropJpeg = {
    .name = "DecodeAndCropJpeg",
    .inputs = {"contents: string", "crop_window: int32"},
    .outputs = {"image: uint8"},
    .attrs = {JPEG_ATTRS},
    .shape = shape_decode_and_crop,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_jpeg_construct,
    .kernels = {{DT_INVALID, decode, &kCrop}},
};

const OpRegistration kOpDecodeGif = {
    .name = "DecodeGif",
    .inputs = {"contents: string"},
    .outputs = {"image: uint8"},
    .shape = shape_decode_gif,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_gif_construct,
    .kernels = {{DT_INVALID, decode, &kGif}},
};

const OpRegistration kOpDecodeBmp = {
    .name = "DecodeBmp",
    .inputs = {"contents: string"},
    .outputs = {"image: uint8"},
    .attrs = {"channels: int = 0"},
    .shape = shape_decode,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_construct,
    .kernels = {{DT_INVALID, decode, &kBmp}},
};
