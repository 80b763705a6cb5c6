/* FusedBatchNorm and FusedBatchNormGrad in their three versions. With m and v the mean and variance of each
 * channel, in training those of the batch, and n the number of elements of a channel:
 *
 *   y = (x - m) * scale / sqrt(v + epsilon) + offset
 *   dx = scale / sqrt(v + epsilon) * (dy - mean(dy) - (x - m) * mean(dy * (x - m)) / (v + epsilon))
 *
 * In inference the two means are left out.
 *
 * Version 1 is for float only. In versions 2 and 3 images may be of 16-bit floats. Version 3 allows five
 * dimensions and has a third reserve space, which is empty here.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "blas/channel_norm.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "op/shape_window.h"
#include "ops/support/element_types.h"
#include "ops/support/window_attrs.h"

typedef struct BatchNormState {
  bool channels_first, training;
  int rank; /* of images */
  float epsilon;
  float factor; /* exponential_avg_factor: the weight of the batch in the outputs for averages, in training;
                 * else 1 */
} BatchNormState;

static bool read_attrs(const NodeDef *node, BatchNormState *state, Status *status) {
  Str format;
  TRY(node_attr_string(node, "data_format", &format, status));
  state->rank = (int)format.length;
  state->channels_first = str_equal_text(format, "NCHW") || str_equal_text(format, "NCDHW");
  state->factor = 1;
  TRY(node_attr_bool(node, "is_training", &state->training, status));
  if (state->training && node_def_attr(node, "exponential_avg_factor")) {
    TRY(node_attr_float(node, "exponential_avg_factor", &state->factor, status));
  }
  return node_attr_float(node, "epsilon", &state->epsilon, status);
}

static bool batch_norm_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_attrs(construction->node, memory, status);
}

/* --- checks --- */

static bool read_sizes(const Tensor *x, const BatchNormState *state, ChannelNormSizes *sizes,
                       Status *status) {
  bool channels_first = state->channels_first;
  int rank = x->shape.rank, channel = channels_first ? 1 : rank - 1;
  if (rank != state->rank) {
    char text[SHAPE_TEXT_CAPACITY];
    const char *want = rank == 4 ? "5" : rank == 5 ? "4" : "4 or 5";
    return status_invalid(status, "input must be %s-dimensional%s", want, shape_text(&x->shape, text));
  }
  *sizes = (ChannelNormSizes){1, shape_dim(&x->shape, channel), 1};
  if (tensor_num_elements(x) == 0) {
    sizes->outer = 0;
    return true;
  }
  for (int i = 0; i < rank; i++) {
    if (i != channel)
      *(channels_first && i > channel ? &sizes->inner : &sizes->outer) *= shape_dim(&x->shape, i);
  }
  return true;
}

static bool check_vector(const Tensor *tensor, const char *name, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return tensor->shape.rank == 1 ||
         status_invalid(status, "%s must be 1-dimensional%s", name, shape_text(&tensor->shape, text));
}

static bool check_channels(const Tensor *tensor, const char *name, const ChannelNormSizes *sizes,
                           Status *status) {
  return tensor_num_elements(tensor) == sizes->channels ||
         status_invalid(status,
                        "%s must have the same number of elements as the channels of x, got %" PRId64
                        " and %" PRId64,
                        name, tensor_num_elements(tensor), sizes->channels);
}

/* --- kernels --- */

/* Space for `vectors` values per channel, then the workspace of the sums. */
static Buffer *make_room(KernelContext *context, const ChannelNormSizes *sizes, int vectors, void **workspace,
                         Status *status) {
  int64_t size, sums = channel_norm_workspace(sizes);
  if (sums < 0 || __builtin_mul_overflow(sizes->channels, vectors * (int64_t)sizeof(float), &size) ||
      __builtin_add_overflow(size, sums, &sums)) {
    status_oom(status, "sums of channels");
    return NULL;
  }
  Buffer *buffer = kernel_scratch(context, sums + 1, status);
  if (buffer) *workspace = (char *)buffer->data + size;
  return buffer;
}

static void fill(Tensor *tensor, float value) {
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) tensor_f32(tensor)[i] = value;
}

/* Outputs 1 to 4: mean and variance, or moving averages of them with the given ones, and the values for the
 * gradient. */
enum { Y, BATCH_MEAN, BATCH_VARIANCE, SAVED_MEAN, SAVED_VARIANCE, NOTHING };

/* values = (1 - factor) * before + factor * values */
static void blend(float factor, const Tensor *before, float *values, int64_t channels) {
  if (factor == 1) return;
  for (int64_t c = 0; c < channels; c++)
    values[c] = (1 - factor) * tensor_f32(before)[c] + factor * values[c];
}

static bool normalise(KernelContext *context, const ChannelNormSizes *sizes, Tensor *out, Status *status) {
  const BatchNormState *state = context->state;
  const float *scale = tensor_f32(context->inputs[1]), *offset = tensor_f32(context->inputs[2]);
  float *mean = tensor_f32(&context->outputs[SAVED_MEAN]),
        *variance = tensor_f32(&context->outputs[SAVED_VARIANCE]);
  int64_t channels = sizes->channels, n = sizes->outer * sizes->inner;
  size_t bytes = (size_t)channels * sizeof(float);
  Image x = {0}, y = {0};
  void *workspace;
  bool ok = false;
  Buffer *room = make_room(context, sizes, 1, &workspace, status);
  TRY_DONE(room);
  TRY_DONE(image_read(context, context->inputs[0], NULL, false, &x, status));
  TRY_DONE(image_begin(context, out, false, &y, status));
  if (state->training) {
    channel_norm_moments_f32(sizes, x.data, mean, variance, workspace, context->parallel);
  } else {
    memcpy(mean, context->inputs[3]->data, bytes);
    memcpy(variance, context->inputs[4]->data, bytes);
  }
  memcpy(context->outputs[BATCH_MEAN].data, mean, bytes);
  float *unbiased = tensor_f32(&context->outputs[BATCH_VARIANCE]), *factor = room->data;
  double correction = state->training && n > 1 ? (double)n / (double)(n - 1) : 1;
  for (int64_t c = 0; c < channels; c++) {
    unbiased[c] = (float)(variance[c] * correction);
    factor[c] = (float)(scale[c] / sqrt((double)variance[c] + (double)state->epsilon));
  }
  blend(state->factor, context->inputs[3], tensor_f32(&context->outputs[BATCH_MEAN]), channels);
  blend(state->factor, context->inputs[4], unbiased, channels);
  channel_norm_apply_f32(sizes, x.data, mean, factor, offset, y.data, context->parallel);
  ok = image_finish(context, &y, NULL, false, out, status);
done:
  buffer_unref(room);
  image_drop(&x);
  image_drop(&y);
  return ok;
}

static bool batch_norm(KernelContext *context, Status *status) {
  static const char *const kNames[] = {"x", "scale", "offset", "estimated_mean", "estimated_variance"};
  static const char *const kGiven[][2] = {{"When is_training=false, mean",
                                           "When is_training=false, variance"},
                                          {"When exponential_avg_factor != 1, mean",
                                           "When exponential_avg_factor != 1, variance"}};
  const BatchNormState *state = context->state;
  const Tensor *const *inputs = context->inputs;
  ChannelNormSizes sizes;
  Tensor *out, *vector;
  TRY(read_sizes(inputs[0], state, &sizes, status));
  for (int i = 1; i < 5; i++) TRY(check_vector(inputs[i], kNames[i], status));
  for (int i = 1; i < 3; i++) TRY(check_channels(inputs[i], kNames[i], &sizes, status));
  bool given = !state->training || state->factor != 1;
  for (int i = 3; i < 5 && given; i++)
    TRY(check_channels(inputs[i], kGiven[state->training][i - 3], &sizes, status));
  TRY(kernel_forward_or_allocate(context, 0, Y, &inputs[0]->shape, &out, status));
  bool empty = tensor_num_elements(out) == 0;
  for (int i = BATCH_MEAN; i <= SAVED_VARIANCE; i++) {
    TRY(kernel_allocate_output_dims(context, i, 1, &sizes.channels, &vector, status));
    if (empty) fill(vector, i < SAVED_MEAN ? NAN : 0);
  }
  if (context->num_outputs > NOTHING) {
    TRY(kernel_allocate_output_dims(context, NOTHING, 0, NULL, &vector, status));
    fill(vector, 0);
  }
  return empty || normalise(context, &sizes, out, status);
}

static bool backprop(KernelContext *context, const ChannelNormSizes *sizes, Tensor *out, Status *status) {
  const BatchNormState *state = context->state;
  const float *scale = tensor_f32(context->inputs[2]), *mean = tensor_f32(context->inputs[3]),
              *variance = tensor_f32(context->inputs[4]);
  float *dscale = tensor_f32(&context->outputs[1]), *doffset = tensor_f32(&context->outputs[2]);
  int64_t channels = sizes->channels;
  double n = (double)(sizes->outer * sizes->inner);
  Image dy = {0}, x = {0}, dx = {0};
  void *workspace;
  bool ok = false;
  Buffer *room = make_room(context, sizes, 3, &workspace, status);
  TRY_DONE(room);
  TRY_DONE(image_read(context, context->inputs[0], NULL, false, &dy, status));
  TRY_DONE(image_read(context, context->inputs[1], NULL, false, &x, status));
  TRY_DONE(image_begin(context, out, false, &dx, status));
  channel_norm_sums_f32(sizes, dy.data, x.data, mean, doffset, dscale, workspace, context->parallel);
  float *factor = room->data, *slope = factor + channels, *offset = slope + channels;
  for (int64_t c = 0; c < channels; c++) {
    double inverse = 1 / sqrt((double)variance[c] + (double)state->epsilon), product = dscale[c];
    dscale[c] = (float)(product * inverse);
    factor[c] = (float)(scale[c] * inverse);
    slope[c] = state->training ? (float)(-scale[c] * inverse * inverse * inverse * product / n) : 0;
    offset[c] = state->training ? (float)(-scale[c] * inverse * doffset[c] / n) : 0;
  }
  if (state->training) {
    channel_norm_backprop_f32(sizes, dy.data, x.data, mean, factor, slope, offset, dx.data,
                              context->parallel);
  } else {
    channel_norm_apply_f32(sizes, dy.data, slope, factor, offset, dx.data,
                           context->parallel); /* slope and offset are zero */
  }
  ok = image_finish(context, &dx, NULL, false, out, status);
done:
  buffer_unref(room);
  image_drop(&dy);
  image_drop(&x);
  image_drop(&dx);
  return ok;
}

static bool batch_norm_grad(KernelContext *context, Status *status) {
  static const char *const kNames[] = {"scale", "saved mean", "saved variance"};
  static const char *const kInputs[] = {"scale", "reserve_space_1", "reserve_space_2"};
  const BatchNormState *state = context->state;
  const Tensor *const *inputs = context->inputs;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  ChannelNormSizes sizes;
  Tensor *out, *vector;
  TRY(read_sizes(inputs[0], state, &sizes, status));
  TRY(read_sizes(inputs[1], state, &sizes, status));
  for (int i = 0; i < 3; i++) TRY(check_vector(inputs[2 + i], kNames[i], status));
  if (!shape_equal(&inputs[0]->shape, &inputs[1]->shape)) {
    return status_invalid(status,
                          "x and y_backprop must have same shape, but x has shape %s and y_backprop has "
                          "shape %s",
                          shape_text(&inputs[1]->shape, a), shape_text(&inputs[0]->shape, b));
  }
  for (int i = 0; i < 3; i++) TRY(check_channels(inputs[2 + i], kInputs[i], &sizes, status));
  TRY(kernel_forward_or_allocate(context, 0, 0, &inputs[0]->shape, &out, status));
  bool empty = tensor_num_elements(out) == 0;
  int64_t none = 0;
  for (int i = 1; i < 5; i++) {
    TRY(kernel_allocate_output_dims(context, i, 1, i < 3 ? &sizes.channels : &none, &vector, status));
    if (empty) fill(vector, 0);
  }
  return empty || backprop(context, &sizes, out, status);
}

/* --- gradients --- */

/* Parts of gradient texts. */
typedef struct Writing {
  BatchNormState attrs;
  /* the axes to sum over; the shape of a vector along the channels */
  const char *axes, *wide;
  bool half; /* images have 16-bit floats, and are computed in float */
  const char *version, *passed;
  bool third; /* the third reserve space */
} Writing;

static bool begin_writing(const NodeDef *node, Writing *w, Status *status) {
  Str format;
  DataType type;
  TRY(read_attrs(node, &w->attrs, status));
  TRY(node_attr_string(node, "data_format", &format, status));
  TRY(node_attr_type(node, "T", &type, status));
  bool first = w->attrs.channels_first, volume = format.length == 5;
  w->half = type != DT_FLOAT;
  w->axes = volume ? (first ? "[0, 2, 3, 4]" : "[0, 1, 2, 3]") : first ? "[0, 2, 3]" : "[0, 1, 2]";
  w->wide = volume  ? (first ? "[1, -1, 1, 1, 1]" : "[1, 1, 1, 1, -1]")
            : first ? "[1, -1, 1, 1]"
                    : "[1, 1, 1, -1]";
  size_t length = strlen(node->op);
  w->third = node->op[length - 1] == '3';
  w->version = w->third ? "V3" : node->op[length - 1] == '2' ? "V2" : "";
  w->passed = *w->version == '\0'
                  ? "[T=$T, epsilon=$epsilon, data_format=$data_format, is_training=$is_training]"
                  : "[T=$T, U=$U, epsilon=$epsilon, data_format=$data_format, is_training=$is_training]";
  return true;
}

static void write_head(const Writing *w, const char *name, StrBuf *text) {
  strbuf_printf(text, "%s%sGradient[T:type, %sepsilon:float, data_format:string, is_training:bool]", name,
                w->version, *w->version == '\0' ? "" : "U:type, ");
}

/* z = op(a, b) on floats; an image converted from 16-bit floats, and back; a vector along the channels; a sum
 * of an image over all axes except channels. */
static void write_op(StrBuf *text, const char *z, const char *op, const char *a, const char *b) {
  strbuf_printf(text, "  %s = %s[T=float](%s, %s)\n", z, op, a, b);
}
static void write_image(const Writing *w, StrBuf *text, const char *z, const char *from) {
  strbuf_printf(text, w->half ? "  %s = Cast[SrcT=$T, DstT=float](%s)\n" : "  %s = Identity[T=float](%s)\n",
                z, from);
}
static const char *image_output(const Writing *w, const char *of_cast, const char *of_identity) {
  return w->half ? of_cast : of_identity;
}
static void write_result(const Writing *w, StrBuf *text, const char *z, const char *from) {
  strbuf_printf(text, w->half ? "  %s = Cast[SrcT=float, DstT=$T](%s)\n" : "  %s = Identity[T=float](%s)\n",
                z, from);
}
static void write_wide(StrBuf *text, const char *z, const char *vector) {
  strbuf_printf(text, "  %s = Reshape[T=float, Tshape=int32](%s, wide:output:0)\n", z, vector);
}
static void write_sum(StrBuf *text, const char *z, const char *a, const char *b) {
  strbuf_printf(text,
                "  %s_each = Mul[T=float](%s, %s)\n  %s = Sum[T=float, Tidx=int32](%s_each:z:0, "
                "axes:output:0)\n",
                z, a, b, z, z);
}

/* wide, axes, inv = 1 / sqrt(variance + epsilon), n, and xc = x - mean. */
static void write_common(const Writing *w, StrBuf *text, const char *mean, const char *variance) {
  strbuf_printf(text,
                "  wide = Const[dtype=int32, value=%s]()\n"
                "  axes = Const[dtype=int32, value=%s]()\n"
                "  epsilon = Const[dtype=float, value=%.9g]()\n"
                "  one = Const[dtype=float, value=1]()\n"
                "  two = Const[dtype=float, value=2]()\n"
                "  half = Const[dtype=float, value=-0.5]()\n"
                "  shifted = Add[T=float](%s, epsilon:output:0)\n"
                "  inv = Rsqrt[T=float](shifted:z:0)\n"
                "  elements = Size[T=$T, out_type=int64](x)\n"
                "  channels = Size[T=float, out_type=int64](scale)\n"
                "  elements_float = Cast[SrcT=int64, DstT=float](elements:output:0)\n"
                "  channels_float = Cast[SrcT=int64, DstT=float](channels:output:0)\n"
                "  n = RealDiv[T=float](elements_float:y:0, channels_float:y:0)\n",
                w->wide, w->axes, (double)w->attrs.epsilon, variance);
  write_image(w, text, "xf", "x");
  write_wide(text, "mean_wide", mean);
  write_op(text, "xc", "Sub", image_output(w, "xf:y:0", "xf:output:0"), "mean_wide:output:0");
}

/* In training y, and so dx, depends on mean and variance of the batch. Gradients may arrive at those outputs
 * too, for example from the gradient of the gradient. TensorFlow passes no gradient into a given mean and
 * variance. */
static bool batch_norm_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  Writing w;
  TRY(begin_writing(request->node, &w, status));
  bool training = w.attrs.training, statistics = false;
  for (int i = BATCH_MEAN; i <= SAVED_VARIANCE; i++)
    statistics = statistics || !request->flows || request->flows[i];
  write_head(&w, "FusedBatchNorm", text);
  strbuf_printf(text,
                "(x:T, scale:float, offset:float, mean:float, variance:float, dy:T, dmean:float, "
                "dvariance:float, dsaved_mean:float,"
                " dsaved_variance:float%s) -> (dx:T, dscale:float, doffset:float, dm:float, dv:float) {\n"
                "  y = FusedBatchNorm%s%s(x, scale, offset, mean, variance)\n"
                "  d = FusedBatchNormGrad%s%s(dy, x, scale, %s%s)\n",
                w.third ? ", dnothing:float" : "", w.version, w.passed, w.version, w.passed,
                training ? "y:reserve_space_1:0, y:reserve_space_2:0" : "mean, variance",
                w.third ? ", y:reserve_space_3:0" : "");
  if (training) {
    strbuf_append(text, "  dm = ZerosLike[T=float](mean)\n  dv = ZerosLike[T=float](variance)\n");
  } else {
    write_common(&w, text, "mean", "variance");
    write_op(text, "factor", "Mul", "scale", "inv:y:0");
    write_op(text, "shift", "Mul", "factor:z:0", "d:offset_backprop:0");
    write_op(text, "through_scale", "Mul", "scale", "d:scale_backprop:0");
    write_op(text, "inv2", "Mul", "inv:y:0", "inv:y:0");
    write_op(text, "minus_inv2", "Mul", "inv2:z:0", "half:output:0");
    write_op(text, "through_variance", "Mul", "through_scale:z:0", "minus_inv2:z:0");
    write_op(text, "means", "Add", "dmean", "dsaved_mean");
    write_op(text, "dm", "Sub", "means:z:0", "shift:z:0");
    write_op(text, "variances", "Add", "dvariance", "dsaved_variance");
    write_op(text, "dv", "Add", "variances:z:0", "through_variance:z:0");
  }
  if (training && statistics) {
    write_common(&w, text, "y:reserve_space_1:0", "y:reserve_space_2:0");
    write_op(text, "means", "Add", "dmean", "dsaved_mean");
    write_op(text, "shift", "RealDiv", "means:z:0", "n:z:0");
    write_op(text, "fewer", "Sub", "n:z:0", "one:output:0");
    write_op(text, "freedom", "Maximum", "fewer:z:0", "one:output:0");
    write_op(text, "slope_unbiased", "RealDiv", "dvariance", "freedom:z:0");
    write_op(text, "slope_biased", "RealDiv", "dsaved_variance", "n:z:0");
    write_op(text, "slopes", "Add", "slope_unbiased:z:0", "slope_biased:z:0");
    write_op(text, "slope", "Mul", "slopes:z:0", "two:output:0");
    write_wide(text, "slope_wide", "slope:z:0");
    write_wide(text, "shift_wide", "shift:z:0");
    write_op(text, "turned", "Mul", "xc:z:0", "slope_wide:output:0");
    write_op(text, "moved", "Add", "turned:z:0", "shift_wide:output:0");
    write_image(&w, text, "straight", "d:x_backprop:0");
    write_op(text, "both", "Add", "moved:z:0", image_output(&w, "straight:y:0", "straight:output:0"));
    write_result(&w, text, "dx", "both:z:0");
  }
  const char *dx = !training || !statistics ? "d:x_backprop:0" : image_output(&w, "dx:y:0", "dx:output:0");
  strbuf_printf(text,
                "  return dx = %s, dscale = d:scale_backprop:0, doffset = d:offset_backprop:0, dm = dm:%s:0, "
                "dv = dv:%s:0\n}\n",
                dx, training ? "y" : "z", training ? "y" : "z");
  return strbuf_ok(text, status);
}

/* With g = dy, p, q and o what arrives at dx, dscale and doffset, xc = x - mean, i = 1 / sqrt(variance +
 * epsilon), S a sum over a channel:
 *
 *   dg = (dx for dy = p) + q i xc + o
 *   dx = p cp + g cg            cp = -scale i^3 S(g xc) / n,  cg = q i - scale i^3 S(p xc) / n
 *   dmean = -S(dx)
 *   dscale = i (S(p g) - S(p) S(g) / n - i^2 S(p xc) S(g xc) / n)
 *   dvariance = -i^2 / 2 (scale dscale + (q i - 2 scale i^3 S(p xc) / n) S(g xc))
 *
 * In inference everything with 1 / n is zero. TensorFlow has the same for a mean and a variance that are
 * those of x.
 */
static bool batch_norm_grad_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  Writing w;
  TRY(begin_writing(request->node, &w, status));
  bool training = w.attrs.training;
  const char *g = image_output(&w, "gf:y:0", "gf:output:0"), *p = image_output(&w, "pf:y:0", "pf:output:0");
  write_head(&w, "FusedBatchNormGrad", text);
  strbuf_printf(text,
                "(g:T, x:T, scale:float, mean:float, variance:float%s, p:T, q:float, o:float, none_1:float, "
                "none_2:float)"
                " -> (dg:T, dx:T, dscale:float, dmean:float, dvariance:float%s) {\n",
                w.third ? ", reserved:float" : "", w.third ? ", dreserved:float" : "");
  write_common(&w, text, "mean", "variance");
  write_image(&w, text, "gf", "g");
  write_image(&w, text, "pf", "p");
  strbuf_printf(text, "  again = FusedBatchNormGrad%s%s(p, x, scale, mean, variance%s)\n", w.version,
                w.passed, w.third ? ", reserved" : "");
  write_op(text, "qi", "Mul", "q", "inv:y:0");
  write_wide(text, "qi_wide", "qi:z:0");
  write_wide(text, "o_wide", "o");
  write_op(text, "by_scale", "Mul", "qi_wide:output:0", "xc:z:0");
  write_op(text, "by_both", "Add", "by_scale:z:0", "o_wide:output:0");
  write_image(&w, text, "by_dx", "again:x_backprop:0");
  write_op(text, "dgf", "Add", "by_both:z:0", image_output(&w, "by_dx:y:0", "by_dx:output:0"));
  write_result(&w, text, "dg", "dgf:z:0");
  strbuf_printf(text, "  sum_g = Sum[T=float, Tidx=int32](%s, axes:output:0)\n", g);
  write_sum(text, "sum_gx", g, "xc:z:0");
  write_sum(text, "sum_pg", p, g);
  write_op(text, "inv2", "Mul", "inv:y:0", "inv:y:0");
  if (training) {
    strbuf_printf(text, "  sum_p = Sum[T=float, Tidx=int32](%s, axes:output:0)\n", p);
    write_sum(text, "sum_px", p, "xc:z:0");
    write_op(text, "scale_i", "Mul", "scale", "inv:y:0");
    write_op(text, "scale_i3", "Mul", "scale_i:z:0", "inv2:z:0");
    write_op(text, "each", "RealDiv", "scale_i3:z:0", "n:z:0");
    write_op(text, "each_gx", "Mul", "each:z:0", "sum_gx:output:0");
    write_op(text, "each_px", "Mul", "each:z:0", "sum_px:output:0");
    strbuf_append(text, "  cp = Neg[T=float](each_gx:z:0)\n");
    write_op(text, "cg", "Sub", "qi:z:0", "each_px:z:0");
    write_op(text, "cg2", "Sub", "cg:z:0", "each_px:z:0");
    write_wide(text, "cp_wide", "cp:y:0");
    write_wide(text, "cg_wide", "cg:z:0");
    write_op(text, "dx_p", "Mul", p, "cp_wide:output:0");
    write_op(text, "dx_g", "Mul", g, "cg_wide:output:0");
    write_op(text, "dxf", "Add", "dx_p:z:0", "dx_g:z:0");
    write_op(text, "sum_dx_p", "Mul", "sum_p:output:0", "cp:y:0");
    write_op(text, "sum_dx_g", "Mul", "sum_g:output:0", "cg:z:0");
    write_op(text, "sum_dx", "Add", "sum_dx_p:z:0", "sum_dx_g:z:0");
    write_op(text, "sums", "Mul", "sum_p:output:0", "sum_g:output:0");
    write_op(text, "products", "Mul", "sum_px:output:0", "sum_gx:output:0");
    write_op(text, "products_i2", "Mul", "products:z:0", "inv2:z:0");
    write_op(text, "of_means", "Add", "sums:z:0", "products_i2:z:0");
    write_op(text, "of_mean", "RealDiv", "of_means:z:0", "n:z:0");
    write_op(text, "centered", "Sub", "sum_pg:output:0", "of_mean:z:0");
  } else {
    strbuf_append(text, "  cg2 = Identity[T=float](qi:z:0)\n");
    write_op(text, "dxf", "Mul", g, "qi_wide:output:0");
    write_op(text, "sum_dx", "Mul", "sum_g:output:0", "qi:z:0");
    strbuf_append(text, "  centered = Identity[T=float](sum_pg:output:0)\n");
  }
  write_result(&w, text, "dx", "dxf:z:0");
  strbuf_append(text, "  dmean = Neg[T=float](sum_dx:z:0)\n");
  write_op(text, "dscale", "Mul", "inv:y:0", training ? "centered:z:0" : "centered:output:0");
  write_op(text, "through_scale", "Mul", "scale", "dscale:z:0");
  write_op(text, "through_sum", "Mul", training ? "cg2:z:0" : "cg2:output:0", "sum_gx:output:0");
  write_op(text, "through", "Add", "through_scale:z:0", "through_sum:z:0");
  write_op(text, "minus_inv2", "Mul", "inv2:z:0", "half:output:0");
  write_op(text, "dvariance", "Mul", "minus_inv2:z:0", "through:z:0");
  if (w.third) strbuf_append(text, "  dreserved = ZerosLike[T=float](reserved)\n");
  strbuf_printf(text,
                "  return dg = dg:%s:0, dx = dx:%s:0, dscale = dscale:z:0, dmean = dmean:y:0, dvariance = "
                "dvariance:z:0%s\n}\n",
                w.half ? "y" : "output", w.half ? "y" : "output",
                w.third ? ", dreserved = dreserved:y:0" : "");
  return strbuf_ok(text, status);
}

/* --- registrations --- */

#define ATTRS(formats) \
  "epsilon: float = 0.0001", "data_format: {" formats "} = 'NHWC'", "is_training: bool = true"
#define FORWARD_ATTRS(formats)                                                                             \
  "epsilon: float = 0.0001", "exponential_avg_factor: float = 1.0", "data_format: {" formats "} = 'NHWC'", \
      "is_training: bool = true"
#define IMAGES "'NHWC', 'NCHW'"
#define VOLUMES "'NHWC', 'NCHW', 'NDHWC', 'NCDHW'"
#define FORWARD                                                                                              \
  .shape = shape_fused_batch_norm, .gradient_fn = batch_norm_gradient, .state_size = sizeof(BatchNormState), \
  .construct = batch_norm_construct
#define BACKWARD                                                                 \
  .shape = shape_fused_batch_norm_grad, .gradient_fn = batch_norm_grad_gradient, \
  .state_size = sizeof(BatchNormState), .construct = batch_norm_construct

const OpRegistration kOpFusedBatchNorm = {
    .name = "FusedBatchNorm",
    .inputs = {"x: T", "scale: T", "offset: T", "mean: T", "variance: T"},
    .outputs = {"y: T", "batch_mean: T", "batch_variance: T", "reserve_space_1: T", "reserve_space_2: T"},
    .attrs = {"T: {float}", FORWARD_ATTRS(IMAGES)},
    FORWARD,
    .kernels = {{DT_FLOAT, batch_norm}},
};

const OpRegistration kOpFusedBatchNormV2 = {
    .name = "FusedBatchNormV2",
    .inputs = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U"},
    .outputs = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U", "reserve_space_2: U"},
    .attrs = {"T: {half, bfloat16, float}", "U: {float}", FORWARD_ATTRS(IMAGES)},
    FORWARD,
    .kernels = {{DT_FLOAT, batch_norm}, HALF_KERNELS(batch_norm)},
};

const OpRegistration kOpFusedBatchNormV3 = {
    .name = "FusedBatchNormV3",
    .inputs = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U"},
    .outputs = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U", "reserve_space_2: U",
                "reserve_space_3: U"},
    .attrs = {"T: {half, bfloat16, float}", "U: {bfloat16, float}", FORWARD_ATTRS(VOLUMES)},
    FORWARD,
    .kernels = {{DT_FLOAT, batch_norm}, HALF_KERNELS(batch_norm)},
};

const OpRegistration kOpFusedBatchNormGrad = {
    .name = "FusedBatchNormGrad",
    .inputs = {"y_backprop: T", "x: T", "scale: T", "reserve_space_1: T", "reserve_space_2: T"},
    .outputs = {"x_backprop: T", "scale_backprop: T", "offset_backprop: T", "reserve_space_3: T",
                "reserve_space_4: T"},
    .attrs = {"T: {float}", ATTRS(IMAGES)},
    BACKWARD,
    .kernels = {{DT_FLOAT, batch_norm_grad}},
};

const OpRegistration kOpFusedBatchNormGradV2 = {
    .name = "FusedBatchNormGradV2",
    .inputs = {"y_backprop: T", "x: T", "scale: float", "reserve_space_1: U", "reserve_space_2: U"},
    .outputs = {"x_backprop: T", "scale_backprop: U", "offset_backprop: U", "reserve_space_3: U",
                "reserve_space_4: U"},
    .attrs = {"T: {half, bfloat16, float}", "U: {float}", ATTRS(IMAGES)},
    BACKWARD,
    .kernels = {{DT_FLOAT, batch_norm_grad}, HALF_KERNELS(batch_norm_grad)},
};

const OpRegistration kOpFusedBatchNormGradV3 = {
    .name = "FusedBatchNormGradV3",
    .inputs = {"y_backprop: T", "x: T", "scale: float", "reserve_space_1: U", "reserve_space_2: U",
               "reserve_space_3: U"},
    .outputs = {"x_backprop: T", "scale_backprop: U", "offset_backprop: U", "reserve_space_4: U",
                "reserve_space_5: U"},
    .attrs = {"T: {half, bfloat16, float}", "U: {float}", ATTRS(VOLUMES)},
    BACKWARD,
    .kernels = {{DT_FLOAT, batch_norm_grad}, HALF_KERNELS(batch_norm_grad)},
};
