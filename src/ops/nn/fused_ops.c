/* Fused ops, which Grappler and the converter of TensorFlow.js leave in graphs: a product, a convolution or a
 * batch norm, followed by what attr `fused_ops` lists. They run the kernels of the ops that they stand for.
 */
#include <math.h>
#include <string.h>

#include "op/fused_op.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "op/shape_window.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/support/kernel_chain.h"
#include "ops/support/product_epilogue.h"
#include "simd/simd.h"

#define TEMPLATE "ops/nn/fused_units.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

static const VectorFunction kVectorGeluExact = {gelu_exact_f32, gelu_exact_f64, NULL, NULL},
                            kVectorGeluApproximate = {gelu_approximate_f32, gelu_approximate_f64, NULL, NULL};

/* --- the list --- */

typedef struct Fusion {
  const KernelConstruction *construction;
  KernelChain *chain;
  const char *name;         /* in messages */
  const AttrListValue *ops; /* fused_ops */
  int next, end;            /* the inputs that fused ops take */
} Fusion;

/* "Fusion is not implemented: [BiasAdd,Foo]" */
static bool refuse(const Fusion *f, Status *status) {
  StrBuf list = {0};
  for (size_t i = 0; i < f->ops->n_s; i++) {
    const ProtobufCBinaryData *op = &f->ops->s[i];
    strbuf_printf(&list, "%s%.*s", i == 0 ? "" : ",", op->len < 100 ? (int)op->len : 100, (char *)op->data);
  }
  if (strbuf_ok(&list, status))
    status_set(status, CODE_UNIMPLEMENTED, "Fusion is not implemented: [%s]", strbuf_text(&list));
  strbuf_free(&list);
  return false;
}

static bool add(Fusion *f, const char *op, const ChainAttr *attrs, int num_attrs, int count, Status *status) {
  if (f->next + count > f->end) {
    return status_invalid(status,
                          strcmp(op, "FusedBatchNorm") == 0
                              ? "Fused %s with FusedBatchNorm must have four extra arguments: scale, "
                                "offset, mean, variance."
                              : "Fused %s must have one extra argument: bias.",
                          f->name);
  }
  f->next += count;
  return kernel_chain_add(f->chain, f->construction, op, attrs, num_attrs, f->next - count, count, status);
}

static bool add_batch_norm(Fusion *f, Status *status) {
  const ChainAttr attrs[] = {{"is_training", attr_value_bool(f->construction->arena, false)}};
  if (!attrs[0].value) return status_oom(status, "a kernel");
  return add(f, "FusedBatchNorm", attrs, 1, 4, status);
}

static bool add_leaky_relu(Fusion *f, Status *status) {
  const AttrValue *given = node_def_attr(f->construction->node, "leakyrelu_alpha");
  const ChainAttr attrs[] = {{"alpha", given}};
  return add(f, "LeakyRelu", attrs, given ? 1 : 0, 0, status);
}

/* Ops that take `count` inputs and the attrs of the same name. */
static const struct {
  const char *name, *op;
  int count;
} kFused[] = {{"BiasAdd", "BiasAdd", 1}, {"Add", "AddV2", 1},  {"Relu", "Relu", 0},
              {"Relu6", "Relu6", 0},     {"Elu", "Elu", 0},    {"Tanh", "Tanh", 0},
              {"Sigmoid", "Sigmoid", 0}, {"Prelu", "Prelu", 1}};

static bool add_fused(Fusion *f, Str op, Status *status) {
  for (size_t i = 0; i < sizeof kFused / sizeof kFused[0]; i++) {
    if (str_equal_text(op, kFused[i].name)) return add(f, kFused[i].op, NULL, 0, kFused[i].count, status);
  }
  if (str_equal_text(op, "FusedBatchNorm")) return add_batch_norm(f, status);
  if (str_equal_text(op, "LeakyRelu")) return add_leaky_relu(f, status);
  if (str_equal_text(op, "GeluExact"))
    return kernel_chain_add_compute(f->chain, elementwise_function, &kVectorGeluExact, status);
  if (str_equal_text(op, "GeluApproximate"))
    return kernel_chain_add_compute(f->chain, elementwise_function, &kVectorGeluApproximate, status);
  return refuse(f, status);
}

/* --- what the product does itself --- */

static bool is_op(const Fusion *f, size_t i, const char *name) {
  if (i >= f->ops->n_s) return false;
  return str_equal_text((Str){(const char *)f->ops->s[i].data, f->ops->s[i].len}, name);
}

static bool is_channels_first(const NodeDef *node) {
  const AttrValue *format = node_def_attr(node, "data_format");
  return format && str_equal_text((Str){(const char *)format->s.data, format->s.len}, "NCHW");
}

/* The program (op/fused_op.h) of the last `count` fused ops. */
static bool make_program(const Fusion *f, size_t count, const AttrListValue *operands, int num_inputs,
                         FusedProgram **program, Status *status) {
  const KernelConstruction *construction = f->construction;
  DataType type = construction->output_types[0], types[FUSED_MOST_INPUTS];
  Str ops[FUSED_MOST_NODES];
  bool fits = operands && (type == DT_FLOAT || type == DT_DOUBLE) && count <= FUSED_MOST_NODES &&
              num_inputs <= FUSED_MOST_ARGS && !is_channels_first(construction->node);
  if (!fits) return fused_program_refuse(status);
  for (size_t i = 0; i < count; i++) {
    const ProtobufCBinaryData *op = &f->ops->s[f->ops->n_s - count + i];
    ops[i] = (Str){(const char *)op->data, op->len};
  }
  for (int i = 0; i < FUSED_MOST_INPUTS; i++) types[i] = type;
  const int64_t last = (int64_t)count - 1;
  const FusedSource source = {.num_nodes = (int)count,
                              .ops = ops,
                              .types = types,
                              .operands = operands->i,
                              .num_operands = (int64_t)operands->n_i,
                              .input_types = types,
                              .num_inputs = 1 + num_inputs,
                              .results = &last,
                              .output_types = types,
                              .num_outputs = 1};
  *program = arena_calloc(construction->arena, 1, sizeof **program);
  if (!*program) return status_oom(status, "a kernel");
  TRY(fused_program_make(&source, construction->node->name, construction->arena, *program, status));
  return !(*program)->reduces || fused_program_refuse(status);
}

/* The number of fused ops that are a program; 0: there is none. */
static bool count_program_ops(const Fusion *f, size_t *count, Status *status) {
  const NodeDef *node = f->construction->node;
  int64_t ops;
  *count = 0;
  if (!node_def_attr(node, FUSED_PROGRAM_OPS)) return true;
  TRY(node_attr_int(node, FUSED_PROGRAM_OPS, &ops, status));
  if (ops < 1 || ops > (int64_t)f->ops->n_s) return fused_program_refuse(status);
  *count = (size_t)ops;
  return true;
}

/* Adds the program of `count` ops that follow the first `before`. */
static bool add_program(Fusion *f, size_t before, size_t count, ProductEpilogue *epilogue, Status *status) {
  const AttrListValue *operands;
  FusedProgram *program = NULL;
  if (before + count != f->ops->n_s) return fused_program_refuse(status);
  TRY(node_attr_list(f->construction->node, FUSED_OPERANDS, ATTR_INT, &operands, status));
  TRY(make_program(f, count, operands, f->end - f->next, &program, status));
  epilogue->program = program;
  *f->construction->memory_size = fused_run_size(program);
  f->next = f->end;
  return true;
}

/* Lets the product add a bias, compute an activation that follows, and run a program. *done: the number of
 * these ops. */
static bool extend_product(Fusion *f, size_t *done, Status *status) {
  DataType type = f->construction->output_types[0];
  bool heeds = type == DT_FLOAT || type == DT_DOUBLE;
  ProductEpilogue epilogue = {.has_bias = heeds && is_op(f, 0, "BiasAdd") && f->next < f->end};
  int first = f->next;
  size_t program_ops;
  TRY(count_program_ops(f, &program_ops, status));
  *done = epilogue.has_bias;
  f->next += epilogue.has_bias;
  if (heeds && *done + program_ops < f->ops->n_s) {
    epilogue.activation = is_op(f, *done, "Relu")    ? GEMM_RELU
                          : is_op(f, *done, "Relu6") ? GEMM_RELU6
                                                     : GEMM_NONE;
    *done += epilogue.activation != GEMM_NONE;
  }
  if (program_ops > 0) TRY(add_program(f, *done, program_ops, &epilogue, status));
  *done += program_ops;
  if (*done == 0) return true;
  ProductEpilogue *kept = arena_alloc(f->construction->arena, sizeof *kept);
  if (!kept) return status_oom(status, "a kernel");
  *kept = epilogue;
  kernel_chain_extend(f->chain, f->next - first, kept);
  return true;
}

static bool check_filter_format(const NodeDef *node, Status *status) {
  Str format;
  if (!node_def_attr(node, "filter_format")) return true;
  TRY(node_attr_string(node, "filter_format", &format, status));
  return str_equal_text(format, "HWIO") ||
         status_set(status, CODE_UNIMPLEMENTED, "The filter format of a fused convolution must be HWIO");
}

/* The data of a kernel is the op that comes first. */
static bool fused_construct(const KernelConstruction *construction, void *memory, Status *status) {
  const char *op = construction->data;
  Fusion f = {.construction = construction,
              .chain = memory,
              .name = strcmp(op, "DepthwiseConv2dNative") == 0 ? "DepthwiseConv2D" : op,
              .next = 2};
  int64_t num_args;
  TRY(node_attr_int(construction->node, "num_args", &num_args, status));
  TRY(node_attr_list(construction->node, "fused_ops", ATTR_STRING, &f.ops, status));
  if (!f.ops || f.ops->n_s == 0)
    return status_invalid(status, "Fused %s must have at least one fused op.", f.name);
  TRY(check_filter_format(construction->node, status));
  f.end = num_args < construction->num_inputs - 1 ? 2 + (int)num_args : construction->num_inputs;
  TRY(kernel_chain_add(f.chain, construction, op, NULL, 0, 0, 2, status));
  size_t done;
  TRY(extend_product(&f, &done, status));
  for (size_t i = done; i < f.ops->n_s; i++)
    TRY(add_fused(&f, (Str){(const char *)f.ops->s[i].data, f.ops->s[i].len}, status));
  return f.next == f.end || status_invalid(status, "Fused %s must have one extra argument: bias.", f.name);
}

#define CHAIN_STATE(construct_fn) \
  .state_size = sizeof(KernelChain), .construct = construct_fn, .destroy = kernel_chain_destroy
#define FUSED_ATTRS                                                                \
  "num_args: int >= 0", "fused_ops: list(string) = []", "epsilon: float = 0.0001", \
      "leakyrelu_alpha: float = 0.2"

const OpRegistration kOp_FusedConv2D = {
    .name = "_FusedConv2D",
    .inputs = {"input: T", "filter: T", "args: TArgs", "host_args: num_host_args * float"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float, double, int8, qint8}", "TArgs: list(type)", "num_args: int >= 0",
              "num_host_args: int >= 0 = 0", "strides: list(int)", "padding: {'SAME', 'VALID', 'EXPLICIT'}",
              "explicit_paddings: list(int) = []", "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
              "filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'",
              "dilations: list(int) = [1, 1, 1, 1]", "use_cudnn_on_gpu: bool = true",
              "fused_ops: list(string) = []", "epsilon: float = 0.0001", "leakyrelu_alpha: float = 0.2"},
    .shape = shape_conv2d,
    CHAIN_STATE(fused_construct),
    .kernels = {FLOAT_KERNELS(kernel_chain_compute, "Conv2D"), {DT_HALF, kernel_chain_compute, "Conv2D"}},
};

const OpRegistration kOp_FusedMatMul = {
    .name = "_FusedMatMul",
    .inputs = {"a: T", "b: T", "args: num_args * T"},
    .outputs = {"product: T"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false", "T: {bfloat16, half, float}",
              FUSED_ATTRS},
    .shape = shape_matmul,
    CHAIN_STATE(fused_construct),
    .kernels = {{DT_FLOAT, kernel_chain_compute, "MatMul"}, HALF_KERNELS(kernel_chain_compute, "MatMul")},
};

#define DEPTHWISE_ATTRS(padding)                                                                        \
  "T: {half, bfloat16, float, double}", "num_args: int >= 0", "strides: list(int)",                     \
      "padding: {" padding "}", "data_format: {'NHWC', 'NCHW'} = 'NHWC'",                               \
      "dilations: list(int) = [1, 1, 1, 1]", "fused_ops: list(string) = []", "epsilon: float = 0.0001", \
      "leakyrelu_alpha: float = 0.2"
#define DEPTHWISE_KERNELS FLOAT_AND_HALF_KERNELS(kernel_chain_compute, "DepthwiseConv2dNative")

const OpRegistration kOp_FusedDepthwiseConv2dNative = {
    .name = "_FusedDepthwiseConv2dNative",
    .inputs = {"input: T", "filter: T", "args: num_args * T"},
    .outputs = {"output: T"},
    .attrs = {DEPTHWISE_ATTRS("'SAME', 'VALID'")},
    .shape = shape_depthwise_conv2d,
    CHAIN_STATE(fused_construct),
    .kernels = {DEPTHWISE_KERNELS},
};

/* What the converter of TensorFlow.js calls it. */
const OpRegistration kOpFusedDepthwiseConv2dNative = {
    .name = "FusedDepthwiseConv2dNative",
    .inputs = {"input: T", "filter: T", "args: num_args * T"},
    .outputs = {"output: T"},
    .attrs = {DEPTHWISE_ATTRS("'SAME', 'VALID', 'EXPLICIT'"), "explicit_paddings: list(int) = []"},
    .shape = shape_depthwise_conv2d,
    CHAIN_STATE(fused_construct),
    .kernels = {DEPTHWISE_KERNELS},
};

/* --- batch norm --- */

static bool batch_norm_ex_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str activation;
  TRY(node_attr_string(construction->node, "activation_mode", &activation, status));
  bool relu = str_equal_text(activation, "Relu");
  if (!relu && !str_equal_text(activation, "Identity")) {
    return status_invalid(status, "Unsupported FusedBatchNorm activation mode: %.*s",
                          activation.length < 100 ? (int)activation.length : 100, activation.data);
  }
  if (construction->num_inputs > 6)
    return status_invalid(status, "FusedBatchNorm accepts at most one side input.");
  TRY(kernel_chain_add(memory, construction, "FusedBatchNormV3", NULL, 0, 0, 5, status));
  if (construction->num_inputs > 5)
    TRY(kernel_chain_add(memory, construction, "AddV2", NULL, 0, 5, 1, status));
  return !relu || kernel_chain_add(memory, construction, "Relu", NULL, 0, 0, 0, status);
}

const OpRegistration kOp_FusedBatchNormEx = {
    .name = "_FusedBatchNormEx",
    .inputs = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U", "side_input: num_side_inputs * T"},
    .outputs = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U", "reserve_space_2: U",
                "reserve_space_3: U"},
    .attrs = {"T: {half, float, bfloat16}", "U: {float}", "epsilon: float = 0.0001",
              "exponential_avg_factor: float = 1.0", "num_side_inputs: int >= 0 = 0",
              "activation_mode: string = 'Identity'", "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
              "is_training: bool = true"},
    .shape = shape_fused_batch_norm,
    CHAIN_STATE(batch_norm_ex_construct),
    .kernels = {{DT_FLOAT, kernel_chain_compute}, HALF_KERNELS(kernel_chain_compute)},
};

/* --- Prelu --- */

/* An op of TensorFlow.js: x, or alpha * x where x is negative. */
const OpRegistration kOpPrelu = {
    .name = "Prelu",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {float, double} = DT_FLOAT"},
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT("Prelu", "gx:output:0", "gy:output:0",
                                   "  none = ZerosLike[T=$T](x)\n"
                                   "  no_slope = ZerosLike[T=$T](dz)\n"
                                   "  negative_x = Less[T=$T](x, none:y:0)\n"
                                   "  negative = BroadcastTo[T=bool](negative_x:z:0, sz:output:0)\n"
                                   "  ax = Mul[T=$T](y, dz)\n"
                                   "  ay = Mul[T=$T](x, dz)\n"
                                   "  sz = Shape[T=$T](dz)\n"
                                   "  gx = Select[T=$T](negative:output:0, ax:z:0, dz)\n"
                                   "  gy = Select[T=$T](negative:output:0, ay:z:0, no_slope:y:0)\n"),
    .kernels = {TYPED_FLOAT_KERNELS(broadcast_kernel, prelu)},
};
