/* Dilation2D, the maximum over windows of an image of the sums of image and filter, and its gradients:
 *
 *   output[b, y, x, c] = max over h, w of input[b, y * stride - pad + h * rate, ..., c] + filter[h, w, c]
 *
 * A gradient goes to the first of the largest sums.
 */
#include <inttypes.h>
#include <string.h>

#include "blas/window.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "op/shape_window.h"
#include "ops/support/element_types.h"

typedef struct DilationState {
  WindowPadding padding;
  int64_t strides[4], rates[4];
} DilationState;

/* The number of channels that are computed together. */
enum { DILATION_GROUP = 32 };

typedef struct Dilation {
  WindowAxis axis[WINDOW_AXES];
  int64_t batch, channels;
  double lowest; /* of the element type */
  const void *image, *filter, *grad;
  void *result;
} Dilation;

static int64_t dilation_groups(const Dilation *d) {
  return (d->channels + DILATION_GROUP - 1) / DILATION_GROUP;
}
static int64_t dilation_group(const Dilation *d, int64_t channel) {
  return d->channels - channel < DILATION_GROUP ? d->channels - channel : DILATION_GROUP;
}

/* The image of a window, and the position of its first element, which may be outside. */
typedef struct WindowPlace {
  int64_t image, row, column;
} WindowPlace;

/* The place of window `i` of all images. */
static WindowPlace window_place_of(const Dilation *d, int64_t i) {
  const WindowAxis *rows = &d->axis[WINDOW_ROWS], *columns = &d->axis[WINDOW_COLUMNS];
  int64_t line = i / columns->out;
  return (WindowPlace){.image = line / rows->out,
                       .row = line % rows->out * rows->stride - rows->pad,
                       .column = i % columns->out * columns->stride - columns->pad};
}

/* The pixel, counted over all images, under an element of the filter; -1 if it is outside. The element -1
 * stands for the window's beginning, as far as that is inside. */
static int64_t pixel_of_tap(const Dilation *d, const WindowPlace *place, int64_t tap) {
  const WindowAxis *rows = &d->axis[WINDOW_ROWS], *columns = &d->axis[WINDOW_COLUMNS];
  int64_t y = place->row > 0 ? place->row : 0, x = place->column > 0 ? place->column : 0;
  if (tap >= 0) {
    y = place->row + tap / columns->filter * rows->dilation;
    x = place->column + tap % columns->filter * columns->dilation;
  }
  return y < rows->in && x < columns->in ? (place->image * rows->in + y) * columns->in + x : -1;
}

#define TEMPLATE "ops/nn/dilation.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

/* --- attrs and sizes --- */

/* Attr `name`, a list of four sizes that fit into 32 bits. `wrong_count` is the message for another number.
 */
static bool read_steps(const NodeDef *node, const char *name, const char *wrong_count, int64_t values[4],
                       Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, name, ATTR_INT, &list, status));
  int count = !list ? 0 : (int)list->n_i;
  if (count != 4) return status_invalid(status, wrong_count, count);
  for (int i = 0; i < 4; i++) {
    values[i] = list->i[i];
    if (values[i] < INT32_MIN || values[i] > INT32_MAX) {
      return status_invalid(status, "Attr %s has value %" PRId64 " out of range for an int32", name,
                            values[i]);
    }
  }
  return true;
}

static bool read_padding(const NodeDef *node, WindowPadding *padding, Status *status) {
  Str text;
  TRY(node_attr_string(node, "padding", &text, status));
  *padding = str_equal_text(text, "SAME") ? PADDING_SAME : PADDING_VALID;
  return true;
}

static bool dilation_construct(const KernelConstruction *construction, void *memory, Status *status) {
  DilationState *state = memory;
  const NodeDef *node = construction->node;
  TRY(read_steps(node, "strides", "Sliding window stride field must specify 4 dimensions", state->strides,
                 status));
  if (state->strides[0] != 1 || state->strides[3] != 1)
    return status_set(status, CODE_UNIMPLEMENTED, "Stride is only supported across spatial dimensions.");
  TRY(read_steps(node, "rates", "Input stride (atrous rate) field must specify 4 dimensions", state->rates,
                 status));
  if (state->rates[0] != 1 || state->rates[3] != 1)
    return status_set(status, CODE_UNIMPLEMENTED, "Rate is only supported across spatial dimensions.");
  return read_padding(node, &state->padding, status);
}

/* Computes `out` and `pad` from the other fields. Rates below 1 are TensorFlow's: taps overlap or run
 * backwards, and the size of the window follows the same formula. */
static bool place_axis(WindowPadding padding, WindowAxis *axis, Status *status) {
  int64_t window, reach;
  if (axis->stride <= 0) return status_invalid(status, "Stride must be > 0, but got %" PRId64, axis->stride);
  if (axis->in > INT32_MAX || axis->filter > INT32_MAX)
    return status_invalid(status, "An image or a filter of Dilation2D is too large");
  window = axis->filter + (axis->filter - 1) * (axis->dilation - 1);
  axis->out = padding == PADDING_SAME ? (axis->in + axis->stride - 1) / axis->stride
                                      : (axis->in - window + axis->stride) / axis->stride;
  if (axis->out < 0) {
    return status_invalid(status,
                          "Computed output size would be negative: %" PRId64 " [input_size: %" PRId64
                          ", effective_filter_size: %" PRId64 ", stride: %" PRId64 "]",
                          axis->out, axis->in, window, axis->stride);
  }
  reach = (axis->out - 1) * axis->stride + window - axis->in;
  axis->pad = padding == PADDING_SAME && reach > 0 ? reach / 2 : 0;
  return true;
}

static bool begin(KernelContext *context, Dilation *d, Status *status) {
  const DilationState *state = context->state;
  const Tensor *image = context->inputs[0], *filter = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (image->shape.rank != 4) {
    return status_invalid(status, "input must be 4-dimensional%s", shape_text(&image->shape, text));
  }
  if (filter->shape.rank != 3) {
    return status_invalid(status, "filter must be 3-dimensional: %s", shape_text(&filter->shape, text));
  }
  const int64_t *in = shape_dims(&image->shape), *f = shape_dims(&filter->shape);
  if (in[3] != f[2]) {
    return status_invalid(status, "input and filter must have the same depth: %" PRId64 " vs %" PRId64, in[3],
                          f[2]);
  }
  *d = (Dilation){.batch = in[0],
                  .channels = in[3],
                  .lowest = dtype_lowest(image->dtype),
                  .image = image->data,
                  .filter = filter->data};
  for (int k = 0; k < WINDOW_AXES; k++) {
    d->axis[k] = (WindowAxis){.in = in[1 + k],
                              .filter = f[k],
                              .stride = state->strides[1 + k],
                              .dilation = state->rates[1 + k]};
    TRY(place_axis(state->padding, &d->axis[k], status));
  }
  /* One that is empty in a single dimension may be of any size in the other. */
  if (tensor_num_elements(filter) == 0) d->axis[WINDOW_ROWS].filter = 0;
  return true;
}

/* --- kernels --- */

static double window_work(const Dilation *d) {
  return (double)d->axis[WINDOW_ROWS].filter * (double)d->axis[WINDOW_COLUMNS].filter;
}

static bool dilation(KernelContext *context, Status *status) {
  Dilation d;
  Tensor *out;
  TRY(begin(context, &d, status));
  int64_t dims[4] = {d.batch, d.axis[WINDOW_ROWS].out, d.axis[WINDOW_COLUMNS].out, d.channels};
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  d.result = out->data;
  parallel_work(context->parallel, dims[0] * dims[1], window_work(&d) * (double)(dims[2] * dims[3]),
                (ParallelBody *)context->data, &d);
  return true;
}

/* The gradient of input `of`. */
static bool dilation_gradient(KernelContext *context, int of, Status *status) {
  const Tensor *grad = context->inputs[2];
  const Shape *shape = &context->inputs[of]->shape;
  char text[SHAPE_TEXT_CAPACITY];
  Dilation d;
  Tensor *out;
  TRY(begin(context, &d, status));
  if (grad->shape.rank != 4) {
    return status_invalid(status, "out_backprop must be 4-dimensional%s", shape_text(&grad->shape, text));
  }
  const int64_t *dims = shape_dims(&grad->shape);
  if (dims[0] != d.batch || dims[1] != d.axis[WINDOW_ROWS].out || dims[2] != d.axis[WINDOW_COLUMNS].out ||
      dims[3] != d.channels)
    return status_invalid(status, "out_backprop has incompatible size.");
  TRY(kernel_allocate_output(context, 0, shape, &out, status));
  int64_t elements = tensor_num_elements(out), items = (of == 0 ? d.batch : 1) * dilation_groups(&d);
  if (elements == 0) return true;
  memset(out->data, 0, (size_t)(elements * (int64_t)dtype_size(out->dtype)));
  if (tensor_num_elements(grad) == 0) return true;
  d.grad = grad->data;
  d.result = out->data;
  parallel_work(context->parallel, items,
                2 * window_work(&d) * (double)tensor_num_elements(grad) / (double)items,
                (ParallelBody *)context->data, &d);
  return true;
}
static bool dilation_input(KernelContext *context, Status *status) {
  return dilation_gradient(context, 0, status);
}
static bool dilation_filter(KernelContext *context, Status *status) {
  return dilation_gradient(context, 1, status);
}

/* --- shapes --- */

static bool shape_dilation(InferenceContext *c, Status *status) {
  ShapeHandle image, filter, output;
  DimHandle dims[4], channels;
  int64_t strides[4], rates[4];
  WindowPadding padding;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &image, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 3, &filter, status));
  TRY(read_steps(c->node, "strides",
                 "Dilation2D requires the stride attribute to contain 4 values, but got: %d", strides,
                 status));
  TRY(read_steps(c->node, "rates", "Dilation2D requires the rates attribute to contain 4 values, but got: %d",
                 rates, status));
  TRY(read_padding(c->node, &padding, status));
  dims[0] = shape_dim_of(c, image, 0);
  dims[3] = shape_dim_of(c, filter, 2);
  bool known = true;
  for (int k = 0; k < WINDOW_AXES; k++) {
    TRY(dim_ok(dim_unknown(c), &dims[1 + k], status));
    known = known && dim_known(image->dims[1 + k]) && dim_known(filter->dims[k]);
  }
  if (known) TRY(dim_merge(c, shape_dim_of(c, image, 3), dims[3], &channels, status));
  for (int k = 0; known && k < WINDOW_AXES; k++) {
    WindowAxis axis = {.in = dim_value(image->dims[1 + k]),
                       .filter = dim_value(filter->dims[k]),
                       .stride = strides[1 + k],
                       .dilation = rates[1 + k]};
    TRY(place_axis(padding, &axis, status));
    TRY(dim_ok(dim_make(c, axis.out), &dims[1 + k], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, 4), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool shape_of_filter(InferenceContext *c, Status *status) {
  (void)status;
  shape_set_output(c, 0, shape_input(c, 1));
  return true;
}

/* --- registrations --- */

#define ATTRS \
  { "T: realnumbertype", "strides: list(int) >= 4", "rates: list(int) >= 4", "padding: {'SAME', 'VALID'}" }
#define PASSED "[T=$T, strides=$strides, rates=$rates, padding=$padding](input, filter, dy)\n"

const OpRegistration kOpDilation2D = {
    .name = "Dilation2D",
    .inputs = {"input: T", "filter: T"},
    .outputs = {"output: T"},
    .attrs = ATTRS,
    .shape = shape_dilation,
    .gradient =
        "Dilation2DGradient[T:type, strides:list(int), rates:list(int), padding:string]"
        "(input:T, filter:T, dy:T) -> (dinput:T, dfilter:T) {\n"
        "  dinput = Dilation2DBackpropInput" PASSED "  dfilter = Dilation2DBackpropFilter" PASSED
        "  return dinput = dinput:in_backprop:0, dfilter = dfilter:filter_backprop:0\n"
        "}\n",
    .state_size = sizeof(DilationState),
    .construct = dilation_construct,
    .kernels = {TYPED_REAL_KERNELS(dilation, dilate)},
};

/* TensorFlow has no gradients for these two. */
const OpRegistration kOpDilation2DBackpropInput = {
    .name = "Dilation2DBackpropInput",
    .inputs = {"input: T", "filter: T", "out_backprop: T"},
    .outputs = {"in_backprop: T"},
    .attrs = ATTRS,
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DilationState),
    .construct = dilation_construct,
    .kernels = {TYPED_REAL_KERNELS(dilation_input, dilate_input)},
};

const OpRegistration kOpDilation2DBackpropFilter = {
    .name = "Dilation2DBackpropFilter",
    .inputs = {"input: T", "filter: T", "out_backprop: T"},
    .outputs = {"filter_backprop: T"},
    .attrs = ATTRS,
    .shape = shape_of_filter,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DilationState),
    .construct = dilation_construct,
    .kernels = {TYPED_REAL_KERNELS(dilation_filter, dilate_filter)},
};
