/* QuantizedMatMul and QuantizedConv2D: products of numbers as qint32, with the range for them. The numbers
 * that stand for 0 are subtracted first. */
#include <string.h>

#include "blas/gemm.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/quant_types.h"
#include "ops/support/window_attrs.h"
#include "simd/templates.h"

/* The elements of a factor less the number for 0, as int32. */
typedef struct Factor {
  QuantType type;
  float min, max;
  Buffer *buffer;
  int32_t *values;
} Factor;

static bool read_factor(KernelContext *context, int input, Factor *factor, Status *status) {
  const Tensor *x = context->inputs[input];
  int64_t count = tensor_num_elements(x), size;
  factor->type = quant_type(x->dtype);
  if (__builtin_mul_overflow(count + 1, (int64_t)sizeof(int32_t), &size))
    return status_oom(status, "factor of a quantized product");
  if (!(factor->buffer = kernel_scratch(context, size, status))) return false;
  factor->values = factor->buffer->data;
  uint32_t zero = (uint32_t)(uint64_t)quant_from_float_unclamped(&factor->type, 0, factor->min, factor->max);
  quant_read(x, 0, count, factor->values);
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) factor->values[i] = (int32_t)((uint32_t)factor->values[i] - zero);
  return true;
}

static bool put_product_range(KernelContext *context, const Factor *a, const Factor *b, Status *status) {
  QuantType to = quant_type(context->output_types[0]);
  float min, max;
  quant_product_range(&a->type, a->min, a->max, &b->type, b->min, b->max, &to, &min, &max);
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

/* --- QuantizedMatMul --- */

typedef struct MatMulState {
  bool transpose_a, transpose_b;
} MatMulState;

static bool matmul_construct(const KernelConstruction *construction, void *memory, Status *status) {
  MatMulState *state = memory;
  TRY(quant_check_output(construction, DT_QINT32, status));
  TRY(node_attr_bool(construction->node, "transpose_a", &state->transpose_a, status));
  return node_attr_bool(construction->node, "transpose_b", &state->transpose_b, status);
}

static bool matmul_range(const KernelContext *context, int input, const char *name, float *value,
                         Status *status) {
  const Tensor *x = context->inputs[input];
  char text[SHAPE_TEXT_CAPACITY];
  if (x->shape.rank != 0)
    return status_invalid(status, "%s must be a scalar, but got shape%s", name, shape_text(&x->shape, text));
  *value = tensor_f32(x)[0];
  return true;
}

static bool check_matmul(const KernelContext *context, GemmArgs *args, Status *status) {
  const MatMulState *state = context->state;
  const Shape *a = &context->inputs[0]->shape, *b = &context->inputs[1]->shape;
  char left[SHAPE_TEXT_CAPACITY], right[SHAPE_TEXT_CAPACITY];
  if (a->rank != 2) return status_invalid(status, "In[0] is not a matrix");
  if (b->rank != 2) return status_invalid(status, "In[1] is not a matrix");
  *args = (GemmArgs){.m = shape_dim(a, state->transpose_a),
                     .n = shape_dim(b, !state->transpose_b),
                     .k = shape_dim(a, !state->transpose_a),
                     .transpose_a = state->transpose_a,
                     .transpose_b = state->transpose_b,
                     .lda = shape_dim(a, 1),
                     .ldb = shape_dim(b, 1)};
  args->ldc = args->n;
  return args->k == shape_dim(b, state->transpose_b) ||
         status_invalid(status, "Matrix size-incompatible: In[0]: %s, In[1]: %s", shape_text(a, left),
                        shape_text(b, right));
}

static bool read_matmul_ranges(const KernelContext *context, Factor *a, Factor *b, Status *status) {
  TRY(matmul_range(context, 2, "min_a", &a->min, status));
  TRY(matmul_range(context, 3, "max_a", &a->max, status));
  TRY(matmul_range(context, 4, "min_b", &b->min, status));
  TRY(matmul_range(context, 5, "max_b", &b->max, status));
  if (!(a->max > a->min)) return status_invalid(status, "max_a must be larger than min_a.");
  return b->max > b->min || status_invalid(status, "max_b must be larger than min_b.");
}

static bool quantized_matmul(KernelContext *context, Status *status) {
  GemmArgs args;
  Factor a = {0}, b = {0};
  Tensor *out;
  TRY(read_matmul_ranges(context, &a, &b, status));
  TRY(check_matmul(context, &args, status));
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){args.m, args.n}, &out, status));
  bool ok = read_factor(context, 0, &a, status) && read_factor(context, 1, &b, status);
  if (ok) {
    args.a = a.values;
    args.b = b.values;
    args.c = out->data;
    gemm_i32.run(&args, context->parallel, NULL);
  }
  buffer_unref(a.buffer);
  buffer_unref(b.buffer);
  return ok && put_product_range(context, &a, &b, status);
}

static bool matmul_shape(InferenceContext *c, Status *status) {
  TRY(shape_matmul(c, status));
  return quant_scalar_shapes(c, 2, 6, status);
}

const OpRegistration kOpQuantizedMatMul = {
    .name = "QuantizedMatMul",
    .inputs = {"a: T1", "b: T2", "min_a: float", "max_a: float", "min_b: float", "max_b: float"},
    .outputs = {"out: Toutput", "min_out: float", "max_out: float"},
    .attrs = {"T1: quantizedtype", "T2: quantizedtype", "Toutput: quantizedtype = DT_QINT32",
              "transpose_a: bool = false", "transpose_b: bool = false",
              "Tactivation: quantizedtype = DT_QUINT8"},
    .shape = matmul_shape,
    .state_size = sizeof(MatMulState),
    .construct = matmul_construct,
    .kernels = {{DT_QUINT8, quantized_matmul}},
};

/* --- QuantizedConv2D --- */

static bool read_steps(const NodeDef *node, const char *name, const char *elsewhere, int64_t steps[2],
                       Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, name, ATTR_INT, &list, status));
  if (!list || list->n_i != 4) return status_invalid(status, "%s must have 4 elements", name);
  if (list->i[0] != 1 || list->i[3] != 1) return status_invalid(status, "%s", elsewhere);
  steps[0] = list->i[1];
  steps[1] = list->i[2];
  return true;
}

static bool conv_construct(const KernelConstruction *construction, void *memory, Status *status) {
  WindowAttrs *attrs = memory;
  const NodeDef *node = construction->node;
  int64_t dilations[2] = {0};
  TRY(quant_check_output(construction, DT_QINT32, status));
  TRY(window_read_format(node, attrs, status));
  TRY(read_steps(node, "strides",
                 "Current implementation does not yet support strides in the batch and depth dimensions.",
                 attrs->strides, status));
  if (attrs->strides[0] != attrs->strides[1]) {
    return status_invalid(status,
                          "Current implementation only supports equal length strides in the row and column "
                          "dimensions.");
  }
  TRY(read_steps(node, "dilations",
                 "Current implementation only supports dilated rate as 1 in the row and column dimensions.",
                 dilations, status));
  return (dilations[0] == 1 && dilations[1] == 1) ||
         status_invalid(status,
                        "Current implementation only supports dilated rate as 1 in the row and column "
                        "dimensions.");
}

static bool conv_range(const KernelContext *context, int input, const char *name, float *value,
                       Status *status) {
  int rank = context->inputs[input]->shape.rank;
  if (rank != 0) return status_invalid(status, "%s must be rank 0 but is rank %d", name, rank);
  *value = tensor_f32(context->inputs[input])[0];
  return true;
}

static bool place_conv(const KernelContext *context, Conv *conv, Status *status) {
  const Shape *x = &context->inputs[0]->shape, *w = &context->inputs[1]->shape;
  if (x->rank != 4) return status_invalid(status, "input must be rank 4 but is rank %d", x->rank);
  if (w->rank != 4) return status_invalid(status, "filter must be rank 4 but is rank %d", w->rank);
  ImageSizes sizes = image_sizes(shape_dims(x), false);
  if (sizes.channels != shape_dim(w, 2)) {
    return status_invalid(status, "input and filter must have the same depth: %lld vs %lld",
                          (long long)sizes.channels, (long long)shape_dim(w, 2));
  }
  *conv = (Conv){.batch = sizes.batch,
                 .in_channels = sizes.channels,
                 .out_channels = shape_dim(w, 3),
                 .groups = 1};
  return window_place(context->state, &sizes, shape_dims(w), conv->axis, status);
}

static bool quantized_conv2d(KernelContext *context, Status *status) {
  Conv conv;
  Factor x = {0}, w = {0};
  Tensor *out;
  TRY(conv_range(context, 2, "min_input", &x.min, status));
  TRY(conv_range(context, 3, "max_input", &x.max, status));
  TRY(conv_range(context, 4, "min_filter", &w.min, status));
  TRY(conv_range(context, 5, "max_filter", &w.max, status));
  TRY(place_conv(context, &conv, status));
  const int64_t dims[4] = {conv.batch, conv.axis[0].out, conv.axis[1].out, conv.out_channels};
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  bool ok = read_factor(context, 0, &x, status) && read_factor(context, 1, &w, status);
  bool empty = tensor_num_elements(context->inputs[0]) == 0 || tensor_num_elements(context->inputs[1]) == 0;
  if (ok && empty) memset(out->data, 0, (size_t)tensor_bytes(out));
  if (ok && !empty && tensor_num_elements(out) > 0)
    conv_i32.run(CONV_FORWARD, &conv, x.values, w.values, NULL, out->data, context->parallel, NULL);
  buffer_unref(x.buffer);
  buffer_unref(w.buffer);
  return ok && put_product_range(context, &x, &w, status);
}

static bool conv_shape(InferenceContext *c, Status *status) {
  TRY(shape_conv2d(c, status));
  return quant_scalar_shapes(c, 2, 6, status);
}

const OpRegistration kOpQuantizedConv2D = {
    .name = "QuantizedConv2D",
    .inputs = {"input: Tinput", "filter: Tfilter", "min_input: float", "max_input: float",
               "min_filter: float", "max_filter: float"},
    .outputs = {"output: out_type", "min_output: float", "max_output: float"},
    .attrs = {"Tinput: quantizedtype", "Tfilter: quantizedtype", "out_type: quantizedtype = DT_QINT32",
              "strides: list(int)", "padding: {'SAME', 'VALID'}", "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = conv_shape,
    .state_size = sizeof(WindowAttrs),
    .construct = conv_construct,
    .kernels = {{DT_QUINT8, quantized_conv2d}},
};
