#include "ops/support/window_attrs.h"

#include <inttypes.h>
#include <string.h>

#include "blas/transpose.h"
#include "op/node_def.h"
#include "ops/support/half_precision.h"

bool window_read_format(const NodeDef *node, WindowAttrs *attrs, Status *status) {
  Str text;
  *attrs = (WindowAttrs){.strides = {1, 1}, .dilations = {1, 1}};
  TRY(node_attr_string(node, "padding", &text, status));
  attrs->padding = str_equal_text(text, "SAME")    ? PADDING_SAME
                   : str_equal_text(text, "VALID") ? PADDING_VALID
                                                   : PADDING_EXPLICIT;
  if (!node_def_attr(node, "data_format")) return true;
  TRY(node_attr_string(node, "data_format", &text, status));
  if (str_equal_text(text, "NCHW_VECT_C")) {
    return status_invalid(status, "Default MaxPoolingOp only supports NHWC on device type CPU");
  }
  attrs->channels_first = str_equal_text(text, "NCHW");
  return true;
}

static bool fits_int32(const AttrListValue *list, const char *name, Status *status) {
  for (size_t i = 0; i < list->n_i; i++) {
    if (list->i[i] < INT32_MIN || list->i[i] > INT32_MAX) {
      return status_invalid(status, "Attr %s has value %" PRId64 " out of range for an int32", name,
                            list->i[i]);
    }
  }
  return true;
}

/* The values of both axes in a list of four; the other two must be 1. */
static bool read_steps(const NodeDef *node, const char *name, bool channels_first, const char *wrong_count,
                       const char *elsewhere, const char *not_positive, int64_t values[WINDOW_AXES],
                       Status *status) {
  const AttrListValue *list;
  if (!node_def_attr(node, name)) return true;
  TRY(node_attr_list(node, name, ATTR_INT, &list, status));
  if (!list || list->n_i != 4) return status_invalid(status, "%s", wrong_count);
  TRY(fits_int32(list, name, status));
  int space = channels_first ? 2 : 1;
  if (list->i[0] != 1 || list->i[channels_first ? 1 : 3] != 1)
    return status_set(status, CODE_UNIMPLEMENTED, "%s", elsewhere);
  for (int k = 0; k < WINDOW_AXES; k++) {
    values[k] = list->i[space + k];
    if (values[k] < 1) return status_invalid(status, "%s", not_positive);
  }
  return true;
}

bool window_read_pads(const NodeDef *node, WindowAttrs *attrs, Status *status) {
  const AttrListValue *list = NULL;
  if (node_def_attr(node, "explicit_paddings")) {
    TRY(node_attr_list(node, "explicit_paddings", ATTR_INT, &list, status));
  }
  size_t count = !list ? 0 : list->n_i;
  if (attrs->padding != PADDING_EXPLICIT) {
    return count == 0 || status_invalid(status,
                                        "explicit_paddings attribute must be empty if the padding attribute "
                                        "is not EXPLICIT");
  }
  if (count != 8)
    return status_invalid(status, "explicit_paddings attribute must contain 8 values, but got: %zu", count);
  TRY(fits_int32(list, "explicit_paddings", status));
  int space = attrs->channels_first ? 2 : 1;
  for (int i = 0; i < 8; i++) {
    if (list->i[i] < 0)
      return status_invalid(status, "All elements of explicit_paddings must be nonnegative");
    bool spatial = i / 2 == space || i / 2 == space + 1;
    if (spatial) attrs->pads[i / 2 - space][i % 2] = list->i[i];
    else if (list->i[i] != 0) {
      return status_invalid(status,
                            "Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
  }
  return true;
}

bool window_read_attrs(const NodeDef *node, WindowAttrs *attrs, Status *status) {
  TRY(window_read_format(node, attrs, status));
  TRY(read_steps(node, "dilations", attrs->channels_first,
                 "Sliding window dilations field must specify 4 dimensions",
                 "Current implementation does not yet support dilations in the batch and depth dimensions.",
                 "Dilated rates should be larger than 0.", attrs->dilations, status));
  TRY(read_steps(node, "strides", attrs->channels_first,
                 "Sliding window strides field must specify 4 dimensions",
                 "Current implementation does not yet support strides in the batch and depth dimensions.",
                 "Row and column strides should be larger than 0.", attrs->strides, status));
  return window_read_pads(node, attrs, status);
}

ImageSizes image_sizes(const int64_t *dims, bool channels_first) {
  if (channels_first) return (ImageSizes){dims[0], {dims[2], dims[3]}, dims[1]};
  return (ImageSizes){dims[0], {dims[1], dims[2]}, dims[3]};
}

void image_dims(const ImageSizes *sizes, bool channels_first, int64_t dims[4]) {
  dims[0] = sizes->batch;
  dims[channels_first ? 1 : 3] = sizes->channels;
  for (int k = 0; k < WINDOW_AXES; k++) dims[(channels_first ? 2 : 1) + k] = sizes->space[k];
}

/* Positions must stay far below the limit, because blas/ multiplies them with the size of a row. */
enum { POSITION_BITS = 36 };

bool window_place_axis(WindowPadding padding, const int64_t pads[2], WindowAxis *axis, Status *status) {
  int64_t in = axis->in, filter = axis->filter, stride = axis->stride, dilation = axis->dilation, window,
          limit = (int64_t)1 << POSITION_BITS;
  axis->pad = 0;
  if (stride <= 0) return status_invalid(status, "Stride must be > 0, but got %" PRId64, stride);
  if (__builtin_mul_overflow(filter > 0 ? filter - 1 : 0, dilation, &window) || window >= limit ||
      in >= limit) {
    return status_invalid(status,
                          "The window of a filter of size %" PRId64 " with dilation %" PRId64 " is too large",
                          filter, dilation);
  }
  window++;
  if (padding == PADDING_SAME) {
    axis->out = in / stride + (in % stride != 0);
    /* The last window begins (out - 1) * stride < in after the first. */
    int64_t missing = axis->out == 0 ? 0 : (axis->out - 1) * stride + window - in;
    axis->pad = missing > 0 ? missing / 2 : 0;
    return true;
  }
  axis->pad = pads[0];
  int64_t room = in + pads[0] + pads[1] - window;
  axis->out = (room + stride) / stride;
  if (axis->out < 0) {
    return status_invalid(status,
                          "Computed output size would be negative: %" PRId64 " [input_size: %" PRId64
                          ", effective_filter_size: %" PRId64 ", stride: %" PRId64 "]",
                          axis->out, in, window, stride);
  }
  return true;
}

bool window_place(const WindowAttrs *attrs, const ImageSizes *input, const int64_t filter[WINDOW_AXES],
                  WindowAxis axis[WINDOW_AXES], Status *status) {
  for (int k = 0; k < WINDOW_AXES; k++) {
    axis[k] = (WindowAxis){.in = input->space[k],
                           .filter = filter[k],
                           .stride = attrs->strides[k],
                           .dilation = attrs->dilations[k]};
    TRY(window_place_axis(attrs->padding, attrs->pads[k], &axis[k], status));
  }
  return true;
}

/* Between the formats [batch, channels, pixels] and [batch, pixels, channels]. */
static bool swap_format(KernelContext *context, int element_size, const ImageSizes *sizes,
                        bool to_channels_first, const void *from, void *to, Status *status) {
  static const int32_t kSwap[3] = {0, 2, 1};
  int64_t pixels = sizes->space[0] * sizes->space[1];
  int64_t dims[3] = {sizes->batch, to_channels_first ? pixels : sizes->channels,
                     to_channels_first ? sizes->channels : pixels};
  return transpose(element_size, 3, dims, kSwap, from, to, context->parallel) ||
         status_set(status, CODE_INTERNAL, "An image has too many dimensions");
}

/* `image` with space for `count` elements of the type that blas/ computes in. */
static bool make_room(KernelContext *context, DataType type, int64_t count, Image *image, Status *status) {
  int64_t size = half_precision(type) ? (int64_t)sizeof(float) : (int64_t)dtype_size(type);
  if (__builtin_mul_overflow(size, count + 1, &size)) return status_oom(status, "an image");
  image->buffer = kernel_scratch(context, size, status);
  if (!image->buffer) return false;
  image->data = image->buffer->data;
  return true;
}

bool image_read(KernelContext *context, const Tensor *tensor, const ImageSizes *sizes, bool channels_first,
                Image *image, Status *status) {
  int64_t count = tensor_num_elements(tensor);
  bool half = half_precision(tensor->dtype), swap = sizes && channels_first && count > 0;
  *image = (Image){.data = tensor->data};
  if (!half && !swap) return true;
  TRY(make_room(context, tensor->dtype, count, image, status));
  if (!half)
    return swap_format(context, (int)dtype_size(tensor->dtype), sizes, false, tensor->data, image->data,
                       status);
  half_precision_widen(tensor->dtype, tensor->data, image->data, count);
  if (!swap) return true;
  Image widened = *image;
  *image = (Image){0};
  bool ok = make_room(context, tensor->dtype, count, image, status) &&
            swap_format(context, sizeof(float), sizes, false, widened.data, image->data, status);
  image_drop(&widened);
  return ok;
}

bool image_begin(KernelContext *context, Tensor *out, bool channels_first, Image *image, Status *status) {
  *image = (Image){.data = out->data};
  if (!half_precision(out->dtype) && !channels_first) return true;
  return make_room(context, out->dtype, tensor_num_elements(out), image, status);
}

bool image_finish(KernelContext *context, const Image *image, const ImageSizes *sizes, bool channels_first,
                  Tensor *out, Status *status) {
  int64_t count = tensor_num_elements(out);
  if (!image->buffer || count == 0) return true;
  bool half = half_precision(out->dtype);
  if (!channels_first) {
    half_precision_narrow(out->dtype, image->data, out->data, count);
    return true;
  }
  if (!half)
    return swap_format(context, (int)dtype_size(out->dtype), sizes, true, image->data, out->data, status);
  Image swapped = {0};
  bool ok = make_room(context, out->dtype, count, &swapped, status) &&
            swap_format(context, sizeof(float), sizes, true, image->data, swapped.data, status);
  if (ok) half_precision_narrow(out->dtype, swapped.data, out->data, count);
  image_drop(&swapped);
  return ok;
}

void image_drop(Image *image) {
  buffer_unref(image->buffer);
  *image = (Image){0};
}

bool window_compute(KernelContext *context, ConvProduct product, const Conv *conv, bool channels_first,
                    WindowProduct *compute, Tensor *out, Status *status) {
  ImageSizes input = {conv->batch, {conv->axis[0].in, conv->axis[1].in}, conv->in_channels};
  ImageSizes output = {conv->batch, {conv->axis[0].out, conv->axis[1].out}, conv->out_channels};
  const Tensor *left = context->inputs[product == CONV_INPUT ? 2 : 0],
               *right = context->inputs[product == CONV_FILTER ? 2 : 1];
  bool swap_result = channels_first && product != CONV_FILTER, ok = false;
  Image a = {0}, b = {0}, c = {0};
  if (tensor_num_elements(out) == 0) return true;
  if (tensor_num_elements(left) == 0 || tensor_num_elements(right) == 0) {
    memset(out->data, 0, (size_t)(tensor_num_elements(out) * (int64_t)dtype_size(out->dtype)));
    if (conv->epilogue)
      conv->epilogue->run(conv->epilogue->arg, out->data, output.batch * output.space[0] * output.space[1],
                          output.channels);
    return true;
  }
  TRY_DONE(image_read(context, left, product == CONV_INPUT ? &output : &input, channels_first, &a, status));
  TRY_DONE(image_read(context, right, product == CONV_FILTER ? &output : NULL, channels_first, &b, status));
  TRY_DONE(image_begin(context, out, swap_result, &c, status));
  TRY_DONE(compute(context, product, conv, a.data, b.data, c.data, status));
  ok = image_finish(context, &c, product == CONV_FORWARD ? &output : &input, swap_result, out, status);
done:
  image_drop(&a);
  image_drop(&b);
  image_drop(&c);
  return ok;
}
