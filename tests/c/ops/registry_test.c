/* Properties of every op of the registry. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/function_body.h"
#include "function/text/function_text.h"
#include "graph/node_class.h"
#include "harness.h"
#include "op/kernel_registry.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "op_runner.h"
#include "ops/sample_node.h"

/* TensorFlow's OpDefs, by name. */
typedef struct Reference {
  Arena *arena;
  StringMap ops;
} Reference;

/* Of a file in tests/data. */
static bool read_reference(const char *name, Reference *reference) {
  Status status;
  char path[256];
  status_init(&status);
  *reference = (Reference){.arena = arena_new()};
  snprintf(path, sizeof path, "tests/data/%s", name);
  FILE *file = fopen(path, "rb");
  if (!CHECK(file)) return false;
  StrBuf text = {0};
  char piece[65536];
  for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;) strbuf_append_bytes(&text, piece, n);
  fclose(file);
  void *message = NULL;
  bool ok =
      CHECK_OK(proto_parse_text(kOpList, str_of(strbuf_text(&text)), reference->arena, &message, &status),
               status);
  strbuf_free(&text);
  const OpList *list = message;
  for (size_t i = 0; ok && i < list->n_op; i++) {
    ok = CHECK_OK(string_map_set(&reference->ops, list->op[i]->name, list->op[i], &status), status);
  }
  return ok && CHECK(list->n_op > 300);
}

static void drop_reference(Reference *reference) {
  string_map_free(&reference->ops);
  arena_free(reference->arena);
}

static const char *text_of(const void *message, StrBuf *text) {
  strbuf_clear(text);
  if (message) proto_print_text(message, PROTO_TEXT_MULTI_LINE, text);
  return strbuf_text(text);
}

/* Types that 2.x replaced by an attr: they are still allowed, as in 1.15, whose graphs stay valid. */
typedef struct Narrowed {
  const char *op, *attr;
  DataType types[2];
} Narrowed;
static const Narrowed kNarrowed[] = {
    /* integers never had kernels */
    {"Acos", "T", {DT_INT32, DT_INT64}},
    {"Asin", "T", {DT_INT32, DT_INT64}},
    {"Atan", "T", {DT_INT32, DT_INT64}},
    {"Tan", "T", {DT_INT32, DT_INT64}},
    /* complex numbers have no order */
    {"ArgMax", "T", {DT_COMPLEX64, DT_COMPLEX128}},
    {"ArgMin", "T", {DT_COMPLEX64, DT_COMPLEX128}},
    {"Max", "T", {DT_COMPLEX64, DT_COMPLEX128}},
    {"Min", "T", {DT_COMPLEX64, DT_COMPLEX128}},
};

static AttrDef *attr_of(const OpDef *def, const char *name) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->name, name) == 0) return def->attr[i];
  }
  return NULL;
}

static bool allowed_type(const AttrDef *attr, DataType type) {
  const AttrListValue *list = attr->allowed_values->list;
  for (size_t i = 0; i < list->n_type; i++) {
    if ((int)list->type[i] == (int)type) return true;
  }
  return false;
}

/* Appends the types to the existing ones. */
static void widen(OpDef *def, const OpDef *old, const Narrowed *narrowed, Arena *arena) {
  AttrDef *attr = attr_of(def, narrowed->attr);
  const AttrDef *before = attr_of(old, narrowed->attr);
  AttrListValue *list = attr->allowed_values->list;
  for (int k = 0; k < 2; k++) {
    CHECK(allowed_type(before, narrowed->types[k]));
    CHECK(!allowed_type(attr, narrowed->types[k]));
  }
  __typeof__(list->type) types = arena_calloc(arena, (int64_t)list->n_type + 2, sizeof *types);
  memcpy(types, list->type, list->n_type * sizeof *types);
  for (int k = 0; k < 2; k++) types[list->n_type++] = (__typeof__(*types))narrowed->types[k];
  list->type = types;
}

/* Inference does not know what TensorFlow's function graphs record about values beyond their dtypes. */
static void drop_full_types(OpDef *def) {
  for (size_t i = 0; i < def->n_input_arg; i++) def->input_arg[i]->experimental_full_type = NULL;
  for (size_t i = 0; i < def->n_output_arg; i++) def->output_arg[i]->experimental_full_type = NULL;
}

/* TensorFlow 2.21's definition with the exceptions above. */
static const OpDef *wanted_def(const char *name, Reference *reference, const Reference *old) {
  OpDef *def = string_map_find(&reference->ops, name);
  if (!def) return NULL;
  drop_full_types(def);
  for (size_t i = 0; i < sizeof kNarrowed / sizeof *kNarrowed; i++) {
    if (strcmp(kNarrowed[i].op, name) == 0)
      widen(def, string_map_find(&old->ops, name), &kNarrowed[i], reference->arena);
  }
  return def;
}

/* Ops of this project and of TensorFlow.js, which TensorFlow must not have. */
static bool is_not_tensorflows(const char *op) {
  return strncmp(op, "MapAccumulate", 13) == 0 || strcmp(op, "Prelu") == 0 ||
         strcmp(op, "FusedDepthwiseConv2dNative") == 0 || strcmp(op, "NonMaxSuppressionV5") == 0 ||
         strcmp(op, "CombinedNonMaxSuppression") == 0 || strcmp(op, "_FusedElementwise") == 0 ||
         strcmp(op, "_FusedRecurrence") == 0 || strncmp(op, "_Gelu", 5) == 0;
}

TEST(op_defs_equal_tensorflows) {
  Reference reference, old;
  StrBuf ours = {0}, theirs = {0};
  if (read_reference("ops.pbtxt", &old) && read_reference("ops-2.pbtxt", &reference)) {
    int compared = 0;
    for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
      Status status;
      status_init(&status);
      const Op *op;
      const char *name = op_registry_name(op_registry_global(), i);
      CHECK_CONTEXT("%s", name);
      if (!CHECK_OK(op_registry_look_up(op_registry_global(), name, &op, &status), status)) continue;
      const OpDef *want = wanted_def(name, &reference, &old);
      if (!want) {
        CHECK(is_not_tensorflows(name));
        continue;
      }
      compared++;
      if (!proto_equal(op->def, want)) CHECK_STR_EQ(text_of(op->def, &ours), text_of(want, &theirs));
    }
    CHECK_CONTEXT("%s", "");
    CHECK(compared > 400);
  }
  strbuf_free(&ours);
  strbuf_free(&theirs);
  drop_reference(&reference);
  drop_reference(&old);
}

/* A graph of 1.15 stays valid: all parts of its definitions exist, added attrs have defaults, and all allowed
 * values remain. */
TEST(op_defs_hold_tensorflow_1s) {
  Reference old;
  if (read_reference("ops.pbtxt", &old)) {
    for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
      const char *name = op_registry_name(op_registry_global(), i);
      const Op *op = op_registry_find(op_registry_global(), name);
      const OpDef *was = string_map_find(&old.ops, name);
      CHECK_CONTEXT("%s", name);
      if (!was || !CHECK(op)) continue;
      for (size_t k = 0; k < was->n_attr; k++) {
        const AttrDef *before = was->attr[k], *now = attr_of(op->def, before->name);
        if (!CHECK(now) || !now->allowed_values) continue;
        CHECK(before->allowed_values);
        for (size_t v = 0; v < before->allowed_values->list->n_type; v++) {
          CHECK(allowed_type(now, (DataType)before->allowed_values->list->type[v]));
        }
      }
      for (size_t k = 0; k < op->def->n_attr; k++) {
        CHECK(attr_of(was, op->def->attr[k]->name) || op->def->attr[k]->default_value);
      }
    }
    CHECK_CONTEXT("%s", "");
  }
  drop_reference(&old);
}

/* Whether an output can be floating. */
static bool has_floating_output(const OpDef *def) {
  for (size_t i = 0; i < def->n_output_arg; i++) {
    const ArgDef *arg = def->output_arg[i];
    if (arg->type != 0) {
      if (dtype_is_floating(dtype_base((int)arg->type))) return true;
      continue;
    }
    const char *name = arg->type_attr[0] != '\0' ? arg->type_attr : arg->type_list_attr;
    for (size_t k = 0; k < def->n_attr; k++) {
      if (strcmp(def->attr[k]->name, name) != 0) continue;
      const AttrValue *allowed = def->attr[k]->allowed_values;
      if (!allowed || !allowed->list) return true;
      for (size_t v = 0; v < allowed->list->n_type; v++) {
        if (dtype_is_floating((int)allowed->list->type[v])) return true;
      }
    }
  }
  return false;
}

/* In TensorFlow, too. */
static bool has_no_gradient(const char *op) {
  static const char *const kOps[] = {
      "RefSelect",
      "StackPushV2",
      "StackPopV2",
      "FusedDepthwiseConv2dNative",
      "NonMaxSuppressionV5",
      "CombinedNonMaxSuppression",
      "Lu",
      "CholeskyGrad",
      "SelfAdjointEig",
      "IgammaGradA",
      "RandomGammaGrad",
      "MatrixLogarithm",
      "MatrixExponential",
      "LSTMBlockCellGrad",
      "BlockLSTMGrad",
      "BlockLSTMGradV2",
      "GRUBlockCellGrad",
      "IRFFTND",
      "AudioSpectrogram",
      "Mfcc",
      "QuantizeAndDequantizeV4Grad",
      "QuantizeV2",
      "Dequantize",
      "QuantizeDownAndShrinkRange",
      "FakeQuantWithMinMaxArgsGradient",
      "FakeQuantWithMinMaxVarsGradient",
      "FakeQuantWithMinMaxVarsPerChannelGradient",
  };
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++)
    if (strcmp(op, kOps[i]) == 0) return true;
  bool old_batch =
      strncmp(op, "Batch", 5) == 0 && op_registry_find(op_registry_global(), op)->def->deprecation;
  bool quantized = strncmp(op, "Quantized", 9) == 0 || strncmp(op, "Requanti", 8) == 0;
  return strncmp(op, "_Fused", 6) == 0 || strncmp(op, "_Gelu", 5) == 0 || old_batch || quantized;
}

TEST(every_op_has_shape_kernel_and_gradient) {
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    const Op *op = op_registry_find(op_registry_global(), op_registry_name(op_registry_global(), i));
    CHECK_CONTEXT("%s", op_registry_name(op_registry_global(), i));
    if (!CHECK(op)) continue;
    const OpRegistration *r = op->registration;
    CHECK(r->shape);
    if (node_class_has_no_kernel(op->node_class)) continue; /* their gradients are structural, too */
    CHECK(op_has_kernel(op, DT_INVALID));
    if (has_floating_output(op->def) && !has_no_gradient(op->def->name)) CHECK(r->gradient || r->gradient_fn);
    CHECK(!r->gradient || !r->gradient_fn);
  }
  CHECK_CONTEXT("%s", "");
}

/* Every node of the gradient has a kernel. */
static void check_kernels(const FunctionBody *body) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(body->graph); id++) {
    const Node *node = graph_node(body->graph, id);
    KernelFunctions functions;
    Status status;
    status_init(&status);
    if (!node_is_boundary(node))
      CHECK_OK(kernel_registry_select(node->op, node->def, &functions, &status), status);
  }
}

/* Arguments are the inputs and one gradient per output; results are one gradient per input. */
static void check_types(const FunctionBody *body, const DataType *inputs, int num_inputs,
                        const DataType *outputs, int num_outputs) {
  if (!CHECK_INT_EQ(body->num_args, num_inputs + num_outputs) || !CHECK_INT_EQ(body->num_rets, num_inputs))
    return;
  for (int i = 0; i < num_inputs; i++) {
    const char *type = dtype_name(dtype_base((int)inputs[i])); /* functions take what references refer to */
    CHECK_STR_EQ(dtype_name((int)body->arg_types[i]), type);
    /* The gradient of a resource is that of its value. */
    if (inputs[i] != DT_RESOURCE) CHECK_STR_EQ(dtype_name((int)body->ret_types[i]), type);
  }
  for (int i = 0; i < num_outputs; i++)
    CHECK_STR_EQ(dtype_name((int)body->arg_types[num_inputs + i]), dtype_name(dtype_base((int)outputs[i])));
}

/* Parses the text and binds the node's attrs. */
static void check_gradient_text(const Op *op, const NodeDef *node, const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function;
  FunctionBody *body = NULL;
  DataType *inputs, *outputs;
  int num_inputs, num_outputs;
  if (CHECK_OK(function_parse(str_of(text), arena, &function, &status), status) &&
      CHECK_OK(node_def_types(node, op->def, arena, &inputs, &num_inputs, &outputs, &num_outputs, &status),
               status) &&
      CHECK_OK(function_body_new(NULL, function, (const AttrEntry *const *)node->attr, (int)node->n_attr,
                                 &body, &status),
               status)) {
    check_kernels(body);
    check_types(body, inputs, num_inputs, outputs, num_outputs);
  }
  function_body_free(body);
}

/* A sample's attrs are arbitrary; an equation must fit the number of inputs. */
static bool set_equation(NodeDef *node, Arena *arena) {
  static const char *const kEquations[] = {"ij->ji", "...ij,jk->...ik"};
  Status status;
  status_init(&status);
  int count = (int)node_def_attr(node, "N")->i > 1 ? 2 : 1;
  AttrValue *equation = attr_value_string(arena, kEquations[count - 1], strlen(kEquations[count - 1]));
  AttrValue *n = attr_value_int(arena, count);
  return CHECK(equation && n) &&
         CHECK_OK(node_def_set_attr(node, arena, "equation", equation, &status), status) &&
         CHECK_OK(node_def_set_attr(node, arena, "N", n, &status), status);
}

/* For the node of an op for one type, if the op has a kernel for it. Returns whether there was a gradient to
 * check. */
static bool check_gradient(const Op *op, unsigned variant, DataType type) {
  Arena *arena = arena_new();
  StrBuf text = {0};
  KernelFunctions functions;
  Status status, unfit;
  status_init(&status);
  status_init(&unfit);
  NodeDef *node = sample_node(op, variant, type, arena);
  if (node && strcmp(op->def->name, "Einsum") == 0 && !set_equation(node, arena)) node = NULL;
  if (node && kernel_registry_select(op, node, &functions, &unfit)) {
    if (op->registration->gradient) strbuf_append(&text, op->registration->gradient);
    if (op->registration->gradient_fn)
      CHECK_OK(op->registration->gradient_fn(&(GradientRequest){node, NULL}, &text, &status), status);
  }
  bool checked = text.length > 0;
  if (checked) check_gradient_text(op, node, strbuf_text(&text), arena);
  strbuf_free(&text);
  arena_free(arena);
  return checked;
}

TEST(gradients_have_the_types_of_the_inputs_and_run_on_kernels) {
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16, DT_COMPLEX64, DT_COMPLEX128};
  int ops = 0, gradients = 0;
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    const Op *op = op_registry_find(op_registry_global(), op_registry_name(op_registry_global(), i));
    if (!op || op->registration->gradient == NO_GRADIENT || op->registration->gradient == FUNCTIONAL_GRADIENT)
      continue;
    if (strcmp(op->def->name, "PreventGradient") == 0) continue; /* its text is an error */
    const AttrDef *chooser = kernel_type_attr(op);
    int before = gradients;
    for (size_t t = 0; t < (chooser ? sizeof kTypes / sizeof *kTypes : 1); t++) {
      if (chooser && !attr_allows(chooser, kTypes[t])) continue;
      for (unsigned variant = 0; variant < 4; variant++) {
        CHECK_CONTEXT("%s, type %s, variant %u", op_registry_name(op_registry_global(), i),
                      dtype_name(kTypes[t]), variant);
        gradients += check_gradient(op, variant, kTypes[t]);
      }
    }
    ops += gradients > before;
  }
  CHECK_CONTEXT("%s", "");
  CHECK(ops > 150 && gradients > 2000);
}

/* --- the ops of the tiers --- */

#define UNSIGNED_AND_SMALL "uint8 int8 uint16 int16 uint32 uint64 "
#define INTEGERS UNSIGNED_AND_SMALL "int32 int64 "
#define COMPLEX "complex64 complex128 "

/* Kernels in the table of tiers that would be meaningless. */
static const struct {
  const char *op, *types, *reason;
} kSenseless[] = {
    {"ArgMax", COMPLEX, "complex numbers have no order"},
    {"Max", COMPLEX, "complex numbers have no order"},
    {"Min", COMPLEX, "complex numbers have no order"},
    {"FloorDiv", COMPLEX, "complex numbers have no floor"},
    {"Relu", "qint8 ", "TensorFlow has one for other devices, on packed numbers"},
    {"MaxPool", "qint8 ", "TensorFlow has one for other devices, on packed numbers"},
    {"RealDiv", INTEGERS, "the quotient of integers is none; TensorFlow has no kernels either"},
    {"MirrorPadGrad", "bool string ", "it adds up"},
    {"AssignAddVariableOp", "bool string ", "they have no sum"},
    {"AssignSubVariableOp", "bool string ", "they have no difference"},
    {"ResourceApplyAdagrad", INTEGERS, "a learning rate is a fraction; TensorFlow has no kernels either"},
    {"ResourceApplyAdam", INTEGERS, "a learning rate is a fraction"},
    {"ResourceApplyFtrl", INTEGERS COMPLEX, "a learning rate is a fraction, and the formula asks for signs"},
    {"ResourceApplyGradientDescent", INTEGERS, "a learning rate is a fraction"},
    {"ResourceApplyKerasMomentum", INTEGERS, "a learning rate is a fraction"},
    {"ResourceApplyMomentum", INTEGERS, "a learning rate is a fraction"},
    {"ResourceApplyRMSProp", INTEGERS, "a learning rate is a fraction"},
    {"ApplyAdadelta", INTEGERS, "a learning rate is a fraction"},
    {"ApplyAdagrad", INTEGERS, "a learning rate is a fraction"},
    {"ApplyAdam", INTEGERS, "a learning rate is a fraction"},
    {"ApplyFtrl", INTEGERS COMPLEX, "a learning rate is a fraction, and the formula asks for signs"},
    {"ApplyGradientDescent", INTEGERS, "a learning rate is a fraction"},
    {"ApplyMomentum", INTEGERS, "a learning rate is a fraction"},
    {"ApplyRMSProp", INTEGERS, "a learning rate is a fraction"},
    {"SparseApplyAdagrad", INTEGERS, "a learning rate is a fraction"},
    {"SparseApplyMomentum", INTEGERS, "a learning rate is a fraction"},
};

static bool is_senseless(const char *op, const char *type) {
  size_t length = strlen(type);
  for (size_t i = 0; i < sizeof kSenseless / sizeof *kSenseless; i++) {
    if (strcmp(kSenseless[i].op, op) != 0) continue;
    for (const char *word = kSenseless[i].types; *word != '\0'; word = strchr(word, ' ') + 1) {
      if (strncmp(word, type, length) == 0 && word[length] == ' ') return true;
    }
  }
  return false;
}

/* The op has a kernel for nodes whose `attr` is that type, if its definition allows it: the table is of an
 * older TensorFlow. */
static void check_tier_kernel(const Op *op, const char *attr, const char *type_name) {
  DataType type = dtype_from_name(str_of(type_name));
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  const AttrDef *chooser = kernel_type_attr(op);
  CHECK_CONTEXT("%s for %s", op->def->name, type_name);
  if (CHECK(type != DT_INVALID) && CHECK(chooser) && CHECK_STR_EQ(chooser->name, attr)) {
    KernelFunctions functions;
    NodeDef *node = sample_node(op, 0, type, arena);
    bool found = node ? kernel_registry_select(op, node, &functions, &status) : op_has_kernel(op, type);
    CHECK(found || is_senseless(op->def->name, type_name) || !attr_allows(chooser, type));
  }
  arena_free(arena);
}

/* Parses a line "1 MatMul T float double". Returns whether the op exists. */
static bool check_tier_line(char *line) {
  char *rest = NULL, *tier = strtok_r(line, " \n", &rest), *name = strtok_r(NULL, " \n", &rest),
       *attr = strtok_r(NULL, " \n", &rest);
  if (!CHECK(tier && name)) return false;
  const Op *op = op_registry_find(op_registry_global(), name);
  CHECK_CONTEXT("%s", name);
  if (!CHECK(op)) return false;
  CHECK(op_has_kernel(op, DT_INVALID));
  if (!attr) return true;
  for (char *type; (type = strtok_r(NULL, " \n", &rest));) check_tier_kernel(op, attr, type);
  return true;
}

TEST(ops_of_tiers_1_and_2_have_their_kernels) {
  FILE *file = fopen("tests/data/op_tiers.txt", "r");
  REQUIRE(file);
  char line[1024];
  int ops = 0;
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    ops += check_tier_line(line);
  }
  fclose(file);
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(ops, 183);
}
