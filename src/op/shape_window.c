/* Convolutions, pooling, batch normalisation. */
#include "op/shape_window.h"

#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/shape_internal.h"

/* --- attrs --- */

/* The positions of a format's dimensions. */
typedef struct ImageLayout {
  int rank, channel, space; /* the spatial dimensions are adjacent, from `space` on */
  bool vector;              /* channels are grouped: dimension 4 is the size of a group */
} ImageLayout;

static bool read_format(InferenceContext *c, int spatial, ImageLayout *layout, Status *status) {
  Str format = {"NHWC", 4};
  *layout = (ImageLayout){.rank = spatial + 2, .channel = spatial + 1, .space = 1};
  if (node_def_attr(c->node, "data_format")) TRY(node_attr_string(c->node, "data_format", &format, status));
  bool last = str_equal_text(format, "NHWC") || str_equal_text(format, "NDHWC");
  bool first = str_equal_text(format, "NCHW") || str_equal_text(format, "NCDHW");
  bool vector = spatial == 2 && str_equal_text(format, "NCHW_VECT_C");
  if (!last && !first && !vector) {
    return status_invalid(status, "Invalid data format string: %.*s",
                          (int)(format.length < 64 ? format.length : 64), format.data);
  }
  if (!last)
    *layout = (ImageLayout){.rank = spatial + 2 + vector, .channel = 1, .space = 2, .vector = vector};
  return true;
}

/* Reads a list of `count` ints into `values`; messages call it `noun`. */
static bool read_ints(InferenceContext *c, const char *attr, const char *family, const char *noun, int count,
                      int64_t *values, Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(c->node, attr, ATTR_INT, &list, status));
  size_t found = !list ? 0 : list->n_i;
  if (found != (size_t)count) {
    return status_invalid(status, "%s the %s attribute to contain %d values, but got: %zu", family, noun,
                          count, found);
  }
  for (int i = 0; i < count; i++) {
    values[i] = list->i[i];
    if (values[i] < INT32_MIN || values[i] > INT32_MAX) {
      return status_invalid(status, "Attr %s has value %" PRId64 " out of range for an int32", attr,
                            values[i]);
    }
  }
  return true;
}

static bool read_padding(InferenceContext *c, WindowPadding *padding, Status *status) {
  Str name;
  TRY(node_attr_string(c->node, "padding", &name, status));
  if (str_equal_text(name, "SAME")) {
    *padding = PADDING_SAME;
  } else if (str_equal_text(name, "VALID")) {
    *padding = PADDING_VALID;
  } else if (str_equal_text(name, "EXPLICIT")) {
    *padding = PADDING_EXPLICIT;
  } else {
    return status_set(status, CODE_NOT_FOUND, "%.*s is not an allowed padding type",
                      (int)(name.length < 64 ? name.length : 64), name.data);
  }
  return true;
}

/* `pads` receives before and after for every dimension of a rank-4 image. */
static bool read_explicit_paddings(InferenceContext *c, WindowPadding padding, const ImageLayout *layout,
                                   int64_t pads[8], Status *status) {
  const AttrListValue *list = NULL;
  memset(pads, 0, 8 * sizeof *pads);
  if (node_def_attr(c->node, "explicit_paddings")) {
    TRY(node_attr_list(c->node, "explicit_paddings", ATTR_INT, &list, status));
  }
  size_t count = !list ? 0 : list->n_i;
  if (padding != PADDING_EXPLICIT) {
    return count == 0 || status_invalid(status,
                                        "explicit_paddings attribute must be empty if the padding attribute "
                                        "is not EXPLICIT");
  }
  if (count != 8)
    return status_invalid(status, "explicit_paddings attribute must contain 8 values, but got: %zu", count);
  for (int i = 0; i < 8; i++) {
    pads[i] = list->i[i];
    if (pads[i] < 0) return status_invalid(status, "All elements of explicit_paddings must be nonnegative");
    if (pads[i] > INT32_MAX) {
      return status_invalid(status, "Attr explicit_paddings has value %" PRId64 " out of range for an int32",
                            pads[i]);
    }
    bool spatial = i / 2 >= layout->space && i / 2 < layout->space + 2;
    if (!spatial && pads[i] != 0) {
      return status_invalid(status,
                            "Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
  }
  return true;
}

/* --- windows --- */

static bool add_int(InferenceContext *c, DimHandle a, int64_t b, DimHandle *out, Status *status) {
  DimHandle second;
  return dim_ok(dim_make(c, b), &second, status) && dim_add(c, a, second, out, status);
}

/* The extent of a dilated window, from its first to its last element. */
static bool dilate(InferenceContext *c, DimHandle filter, int64_t dilation, DimHandle *window,
                   Status *status) {
  DimHandle one, factor;
  *window = filter;
  if (dilation == 1) return true;
  TRY(dim_ok(dim_make(c, 1), &one, status));
  TRY(dim_ok(dim_make(c, dilation), &factor, status));
  TRY(dim_subtract(c, filter, one, window, status));
  TRY(dim_multiply(c, *window, factor, window, status));
  return dim_add(c, *window, one, window, status);
}

bool shape_windowed_size(InferenceContext *c, DimHandle input, DimHandle filter, int64_t dilation,
                         int64_t stride, WindowPadding padding, int64_t before, int64_t after, DimHandle *out,
                         Status *status) {
  *out = NULL;
  if (!input || !filter) return shape_oom(status);
  if (stride <= 0) return status_invalid(status, "Stride must be > 0, but got %" PRId64, stride);
  if (dilation < 1) return status_invalid(status, "Dilation rate must be >= 1, but got %" PRId64, dilation);
  DimHandle size = input, window;
  if (padding == PADDING_SAME) {
    TRY(add_int(c, size, stride - 1, &size, status));
    return dim_divide(c, size, stride, false, out, status);
  }
  if (padding == PADDING_EXPLICIT) {
    TRY(add_int(c, size, before, &size, status));
    TRY(add_int(c, size, after, &size, status));
  }
  TRY(dilate(c, filter, dilation, &window, status));
  TRY(dim_subtract(c, size, window, &size, status));
  TRY(add_int(c, size, stride, &size, status));
  return dim_divide(c, size, stride, false, out, status);
}

/* Sets output 0: batch, sizes and channels in the format's positions. `group` is the last dimension of a
 * grouped format. */
static bool set_image(InferenceContext *c, const ImageLayout *layout, DimHandle batch, const DimHandle *sizes,
                      int spatial, DimHandle channels, DimHandle group, Status *status) {
  DimHandle dims[5];
  ShapeHandle output;
  dims[0] = batch;
  dims[layout->channel] = channels;
  for (int i = 0; i < spatial; i++) dims[layout->space + i] = sizes[i];
  if (layout->vector) dims[4] = group;
  TRY(shape_ok(shape_of_dims(c, dims, layout->rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static const int64_t kNoPads[2];

/* --- convolutions --- */

/* The attrs of a convolution, and its two operands, whose ranks are checked. */
typedef struct Convolution {
  ImageLayout layout;
  WindowPadding padding;
  int64_t strides[5], dilations[5], pads[8]; /* pads: of images, for PADDING_EXPLICIT */
  ShapeHandle input, filter;
} Convolution;

static bool begin_convolution(InferenceContext *c, const char *family, int spatial, Convolution *conv,
                              Status *status) {
  TRY(read_format(c, spatial, &conv->layout, status));
  TRY(shape_with_rank(c, shape_input(c, 0), conv->layout.rank, &conv->input, status));
  TRY(shape_with_rank(c, shape_input(c, 1), conv->layout.rank, &conv->filter, status));
  for (int i = 0; i < 5; i++) conv->dilations[i] = 1;
  if (node_def_attr(c->node, "dilations")) {
    TRY(read_ints(c, "dilations", family, "dilation", spatial + 2, conv->dilations, status));
  }
  TRY(read_ints(c, "strides", family, "stride", spatial + 2, conv->strides, status));
  return read_padding(c, &conv->padding, status);
}

/* The size of the result along spatial dimension `i`; dimension `at` of the filter is the window. */
static bool convolve_size(InferenceContext *c, const Convolution *conv, int i, int at, const int64_t pads[2],
                          DimHandle *size, Status *status) {
  int k = conv->layout.space + i;
  return shape_windowed_size(c, conv->input->dims[k], conv->filter->dims[at], conv->dilations[k],
                             conv->strides[k], conv->padding, pads[0], pads[1], size, status);
}

/* Rows and columns of the result; dimensions `at` and `at` + 1 of the filter are the window. */
static bool convolve_sizes(InferenceContext *c, Convolution *conv, int at, DimHandle sizes[2],
                           Status *status) {
  TRY(read_explicit_paddings(c, conv->padding, &conv->layout, conv->pads, status));
  for (int i = 0; i < 2; i++) {
    const int64_t *pads = conv->pads + 2 * (conv->layout.space + i);
    TRY(convolve_size(c, conv, i, at + i, pads, &sizes[i], status));
  }
  return true;
}

static bool check_groups(DimHandle input, DimHandle filter, DimHandle output, Status *status) {
  if (!dim_known(input) || !dim_known(filter)) return true;
  int64_t depth = dim_value(input), filter_depth = dim_value(filter);
  if (filter_depth == 0) return status_invalid(status, "Depth of filter must not be 0");
  if (depth % filter_depth != 0) {
    return status_invalid(status,
                          "Depth of input (%" PRId64 ") is not a multiple of input depth of filter (%" PRId64
                          ")",
                          depth, filter_depth);
  }
  int64_t groups = depth / filter_depth;
  if (groups > 1 && dim_known(output) && dim_value(output) % groups != 0) {
    return status_invalid(status,
                          "Depth of output (%" PRId64 ") is not a multiple of the number of groups (%" PRId64
                          ")",
                          dim_value(output), groups);
  }
  return true;
}

bool shape_conv2d(InferenceContext *c, Status *status) {
  Convolution conv;
  DimHandle sizes[2], group = NULL;
  TRY(begin_convolution(c, "Conv2D requires", 2, &conv, status));
  const ImageLayout *layout = &conv.layout;
  /* For a grouped format the filter is [O, I/4, rows, columns, 4]. */
  DimHandle channels = conv.input->dims[layout->channel],
            filter_channels = conv.filter->dims[layout->vector ? 1 : 2];
  DimHandle output_channels = conv.filter->dims[layout->vector ? 0 : 3];
  if (layout->vector) {
    group = conv.input->dims[4];
    TRY(dim_multiply(c, channels, group, &channels, status));
    TRY(dim_multiply(c, filter_channels, conv.filter->dims[4], &filter_channels, status));
  }
  TRY(check_groups(channels, filter_channels, output_channels, status));
  TRY(convolve_sizes(c, &conv, layout->vector ? 2 : 0, sizes, status));
  if (layout->vector) {
    TRY(dim_known(group) ? dim_divide(c, output_channels, dim_value(group), true, &output_channels, status)
                         : dim_ok(dim_unknown(c), &output_channels, status));
  }
  return set_image(c, layout, conv.input->dims[0], sizes, 2, output_channels, group, status);
}

bool shape_conv3d(InferenceContext *c, Status *status) {
  Convolution conv;
  DimHandle sizes[3];
  TRY(begin_convolution(c, "Conv3D requires", 3, &conv, status));
  DimHandle channels = conv.filter->dims[4];
  TRY(check_groups(conv.input->dims[conv.layout.channel], conv.filter->dims[3], channels, status));
  for (int i = 0; i < 3; i++) TRY(convolve_size(c, &conv, i, i, kNoPads, &sizes[i], status));
  return set_image(c, &conv.layout, conv.input->dims[0], sizes, 3, channels, NULL, status);
}

bool shape_depthwise_conv2d(InferenceContext *c, Status *status) {
  Convolution conv;
  DimHandle sizes[2], channels;
  TRY(begin_convolution(c, "DepthwiseConv2D requires", 2, &conv, status));
  if (conv.layout.vector) return status_invalid(status, "Invalid data format string: NCHW_VECT_C");
  TRY(dim_merge(c, conv.input->dims[conv.layout.channel], conv.filter->dims[2], &channels, status));
  TRY(dim_multiply(c, channels, conv.filter->dims[3], &channels, status));
  TRY(convolve_sizes(c, &conv, 0, sizes, status));
  return set_image(c, &conv.layout, conv.input->dims[0], sizes, 2, channels, NULL, status);
}

/* Input 0 has the whole shape, or only rows and columns. */
bool shape_conv2d_backprop_input(InferenceContext *c, Status *status) {
  ImageLayout layout;
  ShapeHandle sizes, filter, gradient;
  DimHandle batch;
  TRY(read_format(c, 2, &layout, status));
  if (layout.vector) return status_invalid(status, "Invalid data format string: NCHW_VECT_C");
  TRY(shape_from_input_tensor(c, 0, &sizes, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 4, &filter, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 4, &gradient, status));
  if (!shape_rank_known(sizes)) TRY(shape_ok(shape_unknown_of_rank(c, 4), &sizes, status));
  if (sizes->rank == 4) {
    TRY(dim_merge(c, gradient->dims[0], sizes->dims[0], &batch, status));
    return set_image(c, &layout, batch, sizes->dims + layout.space, 2, sizes->dims[layout.channel], NULL,
                     status);
  }
  if (sizes->rank == 2)
    return set_image(c, &layout, gradient->dims[0], sizes->dims, 2, filter->dims[2], NULL, status);
  return status_invalid(status,
                        "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: "
                        "%d",
                        (int)sizes->rank);
}

/* --- pooling --- */

/* `pads`: before and after, for PADDING_EXPLICIT. */
static bool window_over(InferenceContext *c, DimHandle input, int64_t filter, int64_t stride,
                        WindowPadding padding, const int64_t pads[2], DimHandle *out, Status *status) {
  DimHandle size;
  if (filter <= 0)
    return status_invalid(status, "Sliding window ksize must be positive, but got %" PRId64, filter);
  return dim_ok(dim_make(c, filter), &size, status) &&
         shape_windowed_size(c, input, size, 1, stride, padding, pads[0], pads[1], out, status);
}

static bool read_image(InferenceContext *c, ImageLayout *layout, ShapeHandle *input, Status *status) {
  TRY(read_format(c, 2, layout, status));
  TRY(shape_with_rank(c, shape_input(c, 0), layout->rank, input, status));
  if (!layout->vector || !dim_known((*input)->dims[4])) return true;
  int64_t group = dim_value((*input)->dims[4]);
  return group == 4 || group == 32 ||
         status_invalid(status, "VECT_C dimension must be 4 or 32, but is %" PRId64, group);
}

/* Pools rows and columns, and channels too when `deep`. */
static bool pool(InferenceContext *c, const ImageLayout *layout, ShapeHandle input, const int64_t *ksize,
                 const int64_t *strides, bool deep, Status *status) {
  WindowPadding padding = PADDING_VALID;
  DimHandle sizes[2], channels = input->dims[layout->channel], group = NULL;
  int64_t pads[8];
  TRY(read_padding(c, &padding, status));
  TRY(read_explicit_paddings(c, padding, layout, pads, status));
  for (int i = 0; i < 2; i++) {
    int k = layout->space + i;
    TRY(window_over(c, input->dims[k], ksize[k], strides[k], padding, pads + 2 * k, &sizes[i], status));
  }
  if (deep) {
    int k = layout->channel;
    WindowPadding deep_padding =
        padding == PADDING_EXPLICIT ? PADDING_VALID : padding; /* explicit padding does not apply here */
    TRY(window_over(c, channels, ksize[k], strides[k], deep_padding, kNoPads, &channels, status));
  }
  /* The result has groups of the same size, as the last dimension. */
  if (layout->vector) TRY(dim_ok(dim_make(c, dim_value(input->dims[4])), &group, status));
  return set_image(c, layout, input->dims[0], sizes, 2, channels, group, status);
}

static bool pool_by_attrs(InferenceContext *c, const char *family, bool deep, Status *status) {
  ImageLayout layout;
  ShapeHandle input;
  int64_t ksize[4], strides[4];
  TRY(read_image(c, &layout, &input, status));
  TRY(read_ints(c, "strides", family, "stride", 4, strides, status));
  TRY(read_ints(c, "ksize", family, "ksize", 4, ksize, status));
  return pool(c, &layout, input, ksize, strides, deep, status);
}

bool shape_max_pool(InferenceContext *c, Status *status) {
  return pool_by_attrs(c, "MaxPool requires", true, status);
}

bool shape_avg_pool(InferenceContext *c, Status *status) {
  return pool_by_attrs(c, "AvgPool requires", false, status);
}

static bool read_four(const Tensor *tensor, const char *noun, int64_t values[4], Status *status) {
  if (tensor->dtype != DT_INT32 || tensor_num_elements(tensor) != 4) {
    return status_invalid(status, "MaxPool requires the %s attribute to contain 4 values, but got: %" PRId64,
                          noun, tensor_num_elements(tensor));
  }
  for (int i = 0; i < 4; i++) values[i] = tensor_i32(tensor)[i];
  return true;
}

bool shape_max_pool_v2(InferenceContext *c, Status *status) {
  ImageLayout layout;
  ShapeHandle input;
  int64_t ksize[4], strides[4];
  TRY(read_image(c, &layout, &input, status));
  for (int i = 1; i < 3; i++) {
    ShapeHandle checked;
    TRY(shape_with_rank(c, shape_input(c, i), 1, &checked, status));
  }
  const Tensor *sizes = shape_input_tensor(c, 1), *steps = shape_input_tensor(c, 2);
  if (!sizes || !steps) return shape_unknown_outputs(c, status);
  TRY(read_four(steps, "stride", strides, status));
  TRY(read_four(sizes, "ksize", ksize, status));
  return pool(c, &layout, input, ksize, strides, true, status);
}

bool shape_pool3d(InferenceContext *c, Status *status) {
  ImageLayout layout;
  WindowPadding padding;
  ShapeHandle input;
  int64_t ksize[5], strides[5];
  DimHandle sizes[3];
  TRY(read_format(c, 3, &layout, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 5, &input, status));
  TRY(read_ints(c, "strides", "Pool3D ops require", "stride", 5, strides, status));
  TRY(read_ints(c, "ksize", "Pool3D requires", "ksize", 5, ksize, status));
  TRY(read_padding(c, &padding, status));
  for (int i = 0; i < 3; i++) {
    int k = layout.space + i;
    TRY(window_over(c, input->dims[k], ksize[k], strides[k], padding, kNoPads, &sizes[i], status));
  }
  return set_image(c, &layout, input->dims[0], sizes, 3, input->dims[layout.channel], NULL, status);
}

/* --- batch normalisation --- */

/* Merges input `i`, a vector over the channels, into *channels. */
static bool merge_channels(InferenceContext *c, int i, DimHandle *channels, Status *status) {
  ShapeHandle vector;
  TRY(shape_with_rank(c, shape_input(c, i), 1, &vector, status));
  return dim_merge(c, *channels, vector->dims[0], channels, status);
}

static bool set_vector(InferenceContext *c, int i, DimHandle size, Status *status) {
  ShapeHandle vector;
  TRY(shape_ok(shape_vector(c, size), &vector, status));
  shape_set_output(c, i, vector);
  return true;
}

/* A format of five letters is one of volumes. */
static bool read_format_letters(InferenceContext *c, ImageLayout *layout, Status *status) {
  Str format;
  TRY(node_attr_string(c->node, "data_format", &format, status));
  return read_format(c, format.length == 5 ? 3 : 2, layout, status);
}

bool shape_fused_batch_norm(InferenceContext *c, Status *status) {
  ImageLayout layout;
  ShapeHandle x, y;
  bool training;
  TRY(read_format_letters(c, &layout, status));
  TRY(shape_with_rank(c, shape_input(c, 0), layout.rank, &x, status));
  TRY(node_attr_bool(c->node, "is_training", &training, status));
  DimHandle channels = x->dims[layout.channel];
  float factor = 1;
  if (node_def_attr(c->node, "exponential_avg_factor"))
    TRY(node_attr_float(c->node, "exponential_avg_factor", &factor, status));
  for (int i = 1; i < (training && factor == 1 ? 3 : 5); i++) TRY(merge_channels(c, i, &channels, status));
  TRY(shape_replace_dim(c, x, layout.channel, channels, &y, status));
  TRY(shape_unknown_outputs(c, status)); /* later versions have more than five */
  shape_set_output(c, 0, y);
  for (int i = 1; i < 5; i++) TRY(set_vector(c, i, channels, status));
  return true;
}

bool shape_fused_batch_norm_grad(InferenceContext *c, Status *status) {
  ImageLayout layout;
  ShapeHandle dy, x, dx;
  DimHandle channels, none;
  TRY(read_format_letters(c, &layout, status));
  TRY(shape_with_rank(c, shape_input(c, 0), layout.rank, &dy, status));
  TRY(shape_with_rank(c, shape_input(c, 1), layout.rank, &x, status));
  TRY(dim_merge(c, dy->dims[layout.channel], x->dims[layout.channel], &channels, status));
  for (int i = 2; i < 5; i++) TRY(merge_channels(c, i, &channels, status));
  TRY(shape_replace_dim(c, dy, layout.channel, channels, &dx, status));
  TRY(dim_ok(dim_make(c, 0), &none, status));
  shape_set_output(c, 0, dx);
  for (int i = 1; i < 5; i++) TRY(set_vector(c, i, i < 3 ? channels : none, status));
  return true;
}
