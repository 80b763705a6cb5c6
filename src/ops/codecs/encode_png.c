/* EncodePng: the images of a batch as PNG files. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/codecs/png_encode.h"

typedef struct EncodeState {
  int32_t compression;
} EncodeState;

static bool encode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  EncodeState *state = memory;
  TRY(node_attr_int32(construction->node, "compression", &state->compression, status));
  if (state->compression < -1 || state->compression > 9)
    return status_invalid(status, "compression should be in [-1,9], got %d", state->compression);
  return true;
}

static bool check_image(const Tensor *image, PngPixels *pixels, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  const Shape *shape = &image->shape;
  if (shape->rank < 3)
    return status_invalid(status, "images must be at least rank 3%s", shape_text(shape, text));
  if (tensor_num_elements(image) >= INT32_MAX)
    return status_invalid(status, "image cannot have >= int32 max elements");
  int64_t height = shape_dim(shape, shape->rank - 3), width = shape_dim(shape, shape->rank - 2);
  int64_t channels = shape_dim(shape, shape->rank - 1);
  if (width > INT32_MAX || height > INT32_MAX || (channels > 0 && width >= INT32_MAX / 2 / channels))
    return status_invalid(status, "image too wide to encode");
  if (channels < 1 || channels > 4) {
    return status_invalid(status, "image must have 1, 2, 3, or 4 channels, got %lld", (long long)channels);
  }
  *pixels = (PngPixels){image->data, height, width, (int)channels, image->dtype == DT_UINT8 ? 8 : 16};
  return true;
}

/* Encodes image `i`. As in TensorFlow, the others are encoded too if that fails, and *failed becomes the list
 * of those that failed. */
static bool encode_one(const PngPixels *pixels, int compression, int64_t i, TString *to, StrBuf *failed,
                       Status *status) {
  StrBuf file = {0};
  bool ok = png_encode_file(pixels, compression, &file, status) &&
            tstring_set(to, strbuf_text(&file), (size_t)file.length, status);
  strbuf_free(&file);
  if (ok || status->code != CODE_INTERNAL) return ok;
  strbuf_printf(failed, "%s%lld", failed->length > 0 ? ", " : "", (long long)i);
  return true;
}

static bool encode_png(KernelContext *context, Status *status) {
  const Tensor *image = context->inputs[0];
  StrBuf failed = {0};
  PngPixels pixels;
  Tensor *out;
  bool ok = false;
  TRY(check_image(image, &pixels, status));
  int64_t dims[SHAPE_MAX_RANK],
      stride = pixels.height * pixels.width * pixels.channels * pixels.sample_bits / 8;
  int batch_rank = image->shape.rank - 3;
  for (int d = 0; d < batch_rank; d++) dims[d] = shape_dim(&image->shape, d);
  TRY(kernel_allocate_output_dims(context, 0, batch_rank, dims, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(out); i++) {
    pixels.samples = (const uint8_t *)image->data + i * stride;
    TRY_DONE(encode_one(&pixels, ((const EncodeState *)context->state)->compression, i,
                        &tensor_strings(out)[i], &failed, status));
  }
  TRY_DONE(strbuf_ok(&failed, status));
  if (failed.length > 0) {
    status_set(status, CODE_INTERNAL, "PNG encoding failed at the following flattened batch indices: %s",
               strbuf_text(&failed));
    goto done;
  }
  ok = true;
done:
  strbuf_free(&failed);
  return ok;
}

static bool shape_encode_png(InferenceContext *c, Status *status) {
  ShapeHandle image, batch;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 3, &image, status));
  TRY(shape_subshape(c, image, 0, -3, 1, &batch, status));
  shape_set_output(c, 0, batch);
  return true;
}

const OpRegistration kOpEncodePng = {
    .name = "EncodePng",
    .inputs = {"image: T"},
    .outputs = {"contents: string"},
    .attrs = {"compression: int = -1", "T: {uint8, uint16} = DT_UINT8"},
    .shape = shape_encode_png,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(EncodeState),
    .construct = encode_construct,
    .kernels = {{DT_UINT8, encode_png}, {DT_UINT16, encode_png}},
};
