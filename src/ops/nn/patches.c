/* ExtractImagePatches and ExtractVolumePatches: the elements of each window, in the last dimension. An image
 * is a volume of one plane. */
#include <inttypes.h>
#include <string.h>

#include "base/copy.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/nn/volume_window.h"
#include "ops/support/element_types.h"

typedef struct PatchState {
  WindowPadding padding;
  int64_t ksizes[VOLUME_AXES], strides[VOLUME_AXES], rates[VOLUME_AXES]; /* of planes, rows and columns */
} PatchState;

/* The values along the spatial axes, of which an image has `axes` = 2, volumes 3. */
static bool read_across_space(const NodeDef *node, const char *name, int axes, int64_t values[VOLUME_AXES],
                              Status *status) {
  const AttrListValue *list;
  for (int k = 0; k < VOLUME_AXES; k++) values[k] = 1;
  if (!node_def_attr(node, name)) return true;
  TRY(node_attr_list(node, name, ATTR_INT, &list, status));
  if (!list || list->n_i != (size_t)axes + 2)
    return status_invalid(status, "%s must have %d elements", name, axes + 2);
  if (list->i[0] != 1 || list->i[axes + 1] != 1)
    return status_set(status, CODE_UNIMPLEMENTED, "Only support %s across space.", name);
  for (int k = 0; k < axes; k++) {
    int64_t value = list->i[1 + k];
    if (value < 1 || value > INT32_MAX)
      return status_set(status, CODE_OUT_OF_RANGE, "%s is out of range.", name);
    values[VOLUME_AXES - axes + k] = value;
  }
  return true;
}

static bool construct(const KernelConstruction *construction, PatchState *state, int axes, Status *status) {
  Str padding;
  TRY(read_across_space(construction->node, "ksizes", axes, state->ksizes, status));
  TRY(read_across_space(construction->node, "strides", axes, state->strides, status));
  TRY(read_across_space(construction->node, "rates", axes, state->rates, status));
  TRY(node_attr_string(construction->node, "padding", &padding, status));
  state->padding = str_equal_text(padding, "SAME") ? PADDING_SAME : PADDING_VALID;
  return true;
}
static bool construct_images(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, 2, status);
}
static bool construct_volumes(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, 3, status);
}

typedef struct Patches {
  WindowView axis[VOLUME_AXES];
  size_t pixel; /* bytes of all channels */
  const char *from;
  char *to;
} Patches;

/* Range indices count windows. */
static void copy_windows(void *arg, int64_t begin, int64_t end) {
  const Patches *p = arg;
  const WindowView *a = p->axis;
  size_t taps = (size_t)(a[0].taps * a[1].taps * a[2].taps);
  for (int64_t window = begin; window < end; window++) {
    int64_t column = window % a[2].places, row = window / a[2].places % a[1].places,
            plane = window / a[2].places / a[1].places, image = plane / a[0].places;
    int64_t first[VOLUME_AXES] = {plane % a[0].places * a[0].step + a[0].offset,
                                  row * a[1].step + a[1].offset, column * a[2].step + a[2].offset};
    char *to = p->to + (size_t)window * taps * p->pixel;
    for (int64_t tap = 0; tap < (int64_t)taps; tap++, to += p->pixel) {
      int64_t z = first[0] + tap / a[2].taps / a[1].taps * a[0].tap_step,
              y = first[1] + tap / a[2].taps % a[1].taps * a[1].tap_step,
              x = first[2] + tap % a[2].taps * a[2].tap_step;
      bool inside = z >= 0 && z < a[0].size && y >= 0 && y < a[1].size && x >= 0 && x < a[2].size;
      size_t at = (size_t)(((image * a[0].size + z) * a[1].size + y) * a[2].size + x);
      if (inside) copy_bytes(to, p->from + at * p->pixel, (int64_t)p->pixel);
      else memset(to, 0, p->pixel);
    }
  }
}

static bool extract(KernelContext *context, int axes, Status *status) {
  static const int64_t kNoPads[2];
  const PatchState *state = context->state;
  const Tensor *input = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  WindowAxis axis[VOLUME_AXES];
  Tensor *out;
  if (input->shape.rank != axes + 2) {
    return status_invalid(status, "input must be %d-dimensional%s", axes + 2,
                          shape_text(&input->shape, text));
  }
  const int64_t *dims = shape_dims(&input->shape);
  int64_t sizes[VOLUME_RANK] = {dims[0]}, windows = dims[0], channels = dims[axes + 1], depth = channels;
  Patches patches = {.pixel = (size_t)channels * dtype_size(input->dtype)};
  for (int k = 0; k < VOLUME_AXES; k++) {
    int at = k - (VOLUME_AXES - axes);
    axis[k] = (WindowAxis){.in = at < 0 ? 1 : dims[1 + at],
                           .filter = state->ksizes[k],
                           .stride = state->strides[k],
                           .dilation = state->rates[k]};
    TRY(window_place_axis(state->padding, kNoPads, &axis[k], status));
    patches.axis[k] = window_forward(&axis[k]);
    if (at >= 0) sizes[1 + at] = axis[k].out;
    windows *= axis[k].out;
    if (__builtin_mul_overflow(depth, state->ksizes[k], &depth)) return status_oom(status, "patches");
  }
  sizes[axes + 1] = depth;
  TRY(kernel_allocate_output_dims(context, 0, axes + 2, sizes, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  patches.from = input->data, patches.to = out->data;
  parallel_work(context->parallel, windows, (double)depth, copy_windows, &patches);
  return true;
}
static bool extract_image_patches(KernelContext *context, Status *status) {
  return extract(context, 2, status);
}
static bool extract_volume_patches(KernelContext *context, Status *status) {
  return extract(context, 3, status);
}

/* --- gradients --- */

/* Patches are a convolution with a filter of ones and zeros, whose outputs are the elements of a window; so
 * their gradient is that of the convolution's input. */
static bool conv_gradient(const GradientRequest *request, int axes, const char *conv, const char *attrs,
                          StrBuf *text, Status *status) {
  const AttrListValue *ksizes;
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  TRY(node_attr_list(request->node, "ksizes", ATTR_INT, &ksizes, status));
  strbuf_printf(text, "%s", "PatchesGradient[T:type, strides:list(int), padding:string");
  strbuf_printf(text, "%s](images:T, dy:T) -> (dimages:T) {\n", axes == 2 ? ", rates:list(int)" : "");
  bool is_complex = dtype_is_complex((int)type);
  const char *real = type == DT_COMPLEX64 ? "float" : type == DT_COMPLEX128 ? "double" : "$T";
  if ((!dtype_is_floating(type) && !is_complex) || !ksizes || ksizes->n_i != (size_t)axes + 2) {
    strbuf_printf(text, "  dimages = ZerosLike[T=$T](images)\n  return dimages = dimages:y:0\n}\n");
    return strbuf_ok(text, status);
  }
  int64_t taps = 1;
  for (int k = 0; k < axes; k++) {
    if (ksizes->i[1 + k] < 1 || __builtin_mul_overflow(taps, ksizes->i[1 + k], &taps))
      return status_set(status, CODE_OUT_OF_RANGE, "ksizes is out of range.");
  }
  strbuf_printf(text,
                "  shape = Shape[T=$T, out_type=int32](images)\n"
                "  last = Const[dtype=int32, value=%d]()\n"
                "  axis = Const[dtype=int32, value=0]()\n"
                "  channels = GatherV2[Tparams=int32, Tindices=int32, Taxis=int32, batch_dims=0]"
                "(shape:output:0, last:output:0, axis:output:0)\n"
                "  taps = Const[dtype=int32, value=%" PRId64
                "]()\n"
                "  depth = Mul[T=int32](channels:output:0, taps:output:0)\n"
                "  one = Const[dtype=int32, value=1]()\n"
                "  places = Range[Tidx=int32](axis:output:0, depth:z:0, one:output:0)\n"
                "  on = Const[dtype=%s, value=1]()\n"
                "  off = Const[dtype=%s, value=0]()\n"
                "  ones = OneHot[T=%s, TI=int32, axis=-1](places:output:0, depth:z:0, on:output:0, "
                "off:output:0)\n",
                axes + 1, taps, real, real, real);
  strbuf_printf(text, "  window = Const[dtype=int32, value=[");
  for (int k = 0; k < axes; k++) strbuf_printf(text, k > 0 ? ", %" PRId64 : "%" PRId64, ksizes->i[1 + k]);
  strbuf_printf(text,
                "]]()\n"
                "  rest = Pack[T=int32, N=2, axis=0](channels:output:0, depth:z:0)\n"
                "  sizes = ConcatV2[T=int32, N=2, Tidx=int32](window:output:0, rest:output:0, "
                "axis:output:0)\n"
                "  filter = Reshape[T=%s, Tshape=int32](ones:output:0, sizes:output:0)\n",
                real);
  if (!is_complex) {
    strbuf_printf(text,
                  "  dimages = %s[T=$T, %s](shape:output:0, filter:output:0, dy)\n"
                  "  return dimages = dimages:output:0\n}\n",
                  conv, attrs);
    return strbuf_ok(text, status);
  }
  for (int k = 0; k < 2; k++) {
    const char *part = k == 0 ? "Real" : "Imag";
    strbuf_printf(text,
                  "  y%d = %s[T=$T, Tout=%s](dy)\n"
                  "  x%d = %s[T=%s, %s](shape:output:0, filter:output:0, y%d:output:0)\n",
                  k, part, real, k, conv, real, attrs, k);
  }
  strbuf_printf(text,
                "  dimages = Complex[T=%s, Tout=$T](x0:output:0, x1:output:0)\n"
                "  return dimages = dimages:out:0\n}\n",
                real);
  return strbuf_ok(text, status);
}

static bool image_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return conv_gradient(request, 2, "Conv2DBackpropInput",
                       "strides=$strides, use_cudnn_on_gpu=true, "
                       "padding=$padding, explicit_paddings=[], data_format=\"NHWC\", dilations=$rates",
                       text, status);
}
static bool volume_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return conv_gradient(request, 3, "Conv3DBackpropInputV2",
                       "strides=$strides, padding=$padding, "
                       "data_format=\"NDHWC\", dilations=[1, 1, 1, 1, 1], Tshape=int32",
                       text, status);
}

/* --- shapes --- */

static bool read_sizes(InferenceContext *c, const char *attr, const char *noun, int count, int64_t *values,
                       Status *status) {
  const AttrListValue *list;
  const char *name = c->node->op;
  TRY(node_attr_list(c->node, attr, ATTR_INT, &list, status));
  size_t found = !list ? 0 : list->n_i;
  if (found != (size_t)count) {
    return status_invalid(status, "%s requires the %s attribute to contain %d values, but got: %zu", name,
                          noun, count, found);
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

static bool shape_patches(InferenceContext *c, int axes, Status *status) {
  int64_t ksizes[VOLUME_RANK], strides[VOLUME_RANK], rates[VOLUME_RANK] = {1, 1, 1, 1, 1};
  ShapeHandle input, output;
  DimHandle dims[VOLUME_RANK], count;
  Str padding;
  TRY(shape_with_rank(c, shape_input(c, 0), axes + 2, &input, status));
  TRY(read_sizes(c, "ksizes", "ksizes", axes + 2, ksizes, status));
  TRY(read_sizes(c, "strides", "stride", axes + 2, strides, status));
  if (axes == 2) TRY(read_sizes(c, "rates", "rates", axes + 2, rates, status));
  TRY(node_attr_string(c->node, "padding", &padding, status));
  dims[0] = shape_dim_of(c, input, 0);
  dims[axes + 1] = shape_dim_of(c, input, axes + 1);
  for (int k = 0; k < axes; k++) {
    DimHandle window, in = shape_dim_of(c, input, 1 + k);
    bool same = str_equal_text(padding, "SAME");
    /* The kernel refuses sizes, strides and rates below 1. */
    TRY(dim_ok(dim_make(c, ksizes[1 + k] < 0 ? 0 : ksizes[1 + k]), &window, status));
    if (strides[1 + k] < 1) TRY(dim_ok(dim_unknown(c), &in, status));
    TRY(shape_windowed_size(c, in, window, rates[1 + k] < 1 ? 1 : rates[1 + k],
                            strides[1 + k] < 1 ? 1 : strides[1 + k], same ? PADDING_SAME : PADDING_VALID, 0,
                            0, &dims[1 + k], status));
    TRY(dim_ok(dim_make(c, ksizes[1 + k] < 0 ? 0 : ksizes[1 + k]), &count, status));
    TRY(dim_multiply(c, dims[axes + 1], count, &dims[axes + 1], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, axes + 2), &output, status));
  shape_set_output(c, 0, output);
  return true;
}
static bool shape_image_patches(InferenceContext *c, Status *status) { return shape_patches(c, 2, status); }
static bool shape_volume_patches(InferenceContext *c, Status *status) { return shape_patches(c, 3, status); }

/* --- registrations --- */

const OpRegistration kOpExtractImagePatches = {
    .name = "ExtractImagePatches",
    .inputs = {"images: T"},
    .outputs = {"patches: T"},
    .attrs = {"ksizes: list(int) >= 4", "strides: list(int) >= 4", "rates: list(int) >= 4",
              "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
              "complex64, complex128, bool}",
              "padding: {'SAME', 'VALID'}"},
    .shape = shape_image_patches,
    .gradient_fn = image_gradient,
    .state_size = sizeof(PatchState),
    .construct = construct_images,
    .kernels = {NUMBER_KERNELS(extract_image_patches), {DT_BOOL, extract_image_patches}},
};

const OpRegistration kOpExtractVolumePatches = {
    .name = "ExtractVolumePatches",
    .inputs = {"input: T"},
    .outputs = {"patches: T"},
    .attrs = {"ksizes: list(int) >= 5", "strides: list(int) >= 5", "T: realnumbertype",
              "padding: {'SAME', 'VALID'}"},
    .shape = shape_volume_patches,
    .gradient_fn = volume_gradient,
    .state_size = sizeof(PatchState),
    .construct = construct_volumes,
    .kernels = {REAL_KERNELS(extract_volume_patches)},
};
