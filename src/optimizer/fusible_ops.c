#include "optimizer/fusible_ops.h"

#include <stdlib.h>
#include <string.h>

#include "op/kernel_registry.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/optimizer_internal.h"

/* Sorted. */
static const char *const kOps[] = {
    "Abs",
    "Add",
    "AddV2",
    "Ceil",
    "Cos",
    "DivNoNan",
    "Elu",
    "EluGrad",
    "Erf",
    "Erfc",
    "Exp",
    "Expm1",
    "Floor",
    "Greater",
    "GreaterEqual",
    "Inv",
    "InvGrad",
    "Less",
    "LessEqual",
    "Log",
    "Log1p",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "Maximum",
    "Minimum",
    "Mul",
    "MulNoNan",
    "Neg",
    "Pow",
    "RealDiv",
    "Reciprocal",
    "ReciprocalGrad",
    "Relu",
    "Relu6",
    "Relu6Grad",
    "ReluGrad",
    "Rint",
    "Round",
    "Rsqrt",
    "RsqrtGrad",
    "Selu",
    "SeluGrad",
    "Sigmoid",
    "SigmoidGrad",
    "Sign",
    "Sin",
    "Softplus",
    "SoftplusGrad",
    "Softsign",
    "SoftsignGrad",
    "Sqrt",
    "SqrtGrad",
    "Square",
    "SquaredDifference",
    "Sub",
    "Tanh",
    "TanhGrad",
    "Xdivy",
    "Xlog1py",
    "Xlogy",
    "_GeluApproximate",
    "_GeluExact",
};

static int compare(const void *name, const void *entry) { return strcmp(name, *(const char *const *)entry); }

static bool is_listed(const char *op) {
  return bsearch(op, kOps, sizeof kOps / sizeof *kOps, sizeof *kOps, compare);
}

static bool selects_own(const Node *node, KernelFunctions *functions) {
  const KernelEntry *entries = node->op->registration->kernels;
  Status ignored;
  status_init(&ignored);
  if (!entries[0].compute || !kernel_registry_select(node->op, node->def, functions, &ignored)) return false;
  for (int i = 0; i < OP_MAX_KERNELS && entries[i].compute; i++) {
    if (entries[i].compute == functions->compute && entries[i].data == functions->data) return true;
  }
  return false;
}

bool node_selects_own_kernel(const Node *node) {
  KernelFunctions functions;
  return selects_own(node, &functions);
}

bool node_has_own_kernel(const Node *node) {
  KernelFunctions functions;
  return selects_own(node, &functions) && !functions.is_aside;
}

/* Those whose kernels for integers are loops that cannot fail: the conditions and counters of loops. */
static bool takes_integers(const char *op) {
  static const char *const kIntegerOps[] = {"Add",     "AddV2",        "Sub",    "Mul",
                                            "Greater", "GreaterEqual", "Less",   "LessEqual",
                                            "Maximum", "Minimum",      "Select", "SelectV2"};
  for (size_t i = 0; i < sizeof kIntegerOps / sizeof *kIntegerOps; i++) {
    if (strcmp(op, kIntegerOps[i]) == 0) return true;
  }
  return false;
}

static bool is_fusible_type(const char *op, DataType type) {
  return type == DT_FLOAT || type == DT_DOUBLE || type == DT_BOOL || (type == DT_INT32 && takes_integers(op));
}

/* Whether it adds the bias to the last dimension, and cannot fail. */
static bool adds_row(const Node *node) {
  ShapeHandle shapes[2];
  for (int i = 0; i < 2; i++) {
    const Edge *edge = node->inputs[i];
    shapes[i] = edge->src->output_shapes[edge->src_output];
    if (!shapes[i] || !shape_rank_known(shapes[i])) return false;
  }
  if (!optimizer_attr_is(node, "data_format", "NHWC")) return false;
  int32_t rank = shape_rank(shapes[0]);
  if (rank < 2 || shape_rank(shapes[1]) != 1) return false;
  DimHandle channels = shapes[0]->dims[rank - 1], biases = shapes[1]->dims[0];
  return dim_known(channels) && dim_known(biases) && dim_value(channels) == dim_value(biases);
}

/* Whether it chooses between elements: a scalar condition would hand on a whole tensor instead. In a Select,
 * a condition of another shape chooses rows. */
static bool chooses_elements(const Node *node) {
  ShapeHandle condition = optimizer_edge_shape(node->inputs[0]);
  if (!condition || !shape_rank_known(condition) || shape_rank(condition) == 0) return false;
  if (strcmp(node->def->op, "SelectV2") == 0) return true;
  return shape_fully_defined(condition) &&
         optimizer_same_shape(condition, optimizer_edge_shape(node->inputs[1])) &&
         optimizer_same_shape(condition, optimizer_edge_shape(node->inputs[2]));
}

/* --- reductions --- */

/* Rows that are shorter cost more as single calls than in one reduction, and longer ones leave the cache. */
enum { SHORTEST_ROW = 64, LONGEST_ROW = 2048 };

static bool is_reduction(const char *op) {
  return strcmp(op, "Mean") == 0 || strcmp(op, "Sum") == 0 || strcmp(op, "Max") == 0 ||
         strcmp(op, "Min") == 0;
}

/* Whether the constant is the axis `last`, or -1, and dead only with x. */
static bool is_last_axis(const Node *axes, const Edge *x, int32_t last) {
  Tensor value = {0};
  Status ignored;
  status_init(&ignored);
  bool is_known;
  if (!dead_values_constant(axes, edge_value(x), &value, &is_known, &ignored) || !is_known) return false;
  bool is_last = dtype_is_integer((int)value.dtype) && tensor_num_elements(&value) == 1 &&
                 (tensor_int_at(&value, 0) == -1 || tensor_int_at(&value, 0) == last);
  tensor_clear(&value);
  return is_last;
}

bool node_reduces_rows(const Node *node) {
  if (!node->op || !is_reduction(node->def->op) || node->num_inputs != 2 || !node->inputs[0] ||
      !node->inputs[1])
    return false;
  const AttrValue *keeps = node_def_attr(node->def, "keep_dims");
  const Edge *edge = node->inputs[0];
  if (edge_is_reference(edge)) return false;
  ShapeHandle shape = edge->src->output_shapes[edge->src_output];
  if (!keeps || !keeps->b || !shape || !shape_rank_known(shape) || shape_rank(shape) < 1) return false;
  DimHandle row = shape->dims[shape_rank(shape) - 1];
  return (node->input_types[0] == DT_FLOAT || node->input_types[0] == DT_DOUBLE) && dim_known(row) &&
         dim_value(row) >= SHORTEST_ROW && dim_value(row) <= LONGEST_ROW &&
         is_last_axis(node->inputs[1]->src, edge, shape_rank(shape) - 1) && node_has_own_kernel(node);
}

/* --- all --- */

/* Whether the types of the inputs from `first` on are one that is fused, and all are values. */
static bool has_fusible_inputs(const Node *node, int first) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node->inputs[i] || edge_is_reference(node->inputs[i])) return false;
    if (i >= first && node->input_types[i] != node->input_types[first]) return false;
  }
  return is_fusible_type(node->def->op, node->input_types[first]);
}

const char *node_fused_op(const Node *node) {
  if (!node->op || node->num_outputs != 1 || node->num_inputs == 0) return NULL;
  if (node_reduces_rows(node)) return node->op->def->name;
  const char *op = node->def->op;
  bool is_bias = strcmp(op, "BiasAdd") == 0,
       chooses = strcmp(op, "SelectV2") == 0 || strcmp(op, "Select") == 0;
  if (!is_bias && !chooses && !is_listed(op)) return NULL;
  if (!has_fusible_inputs(node, chooses) || !is_fusible_type(op, node->output_types[0]) ||
      !node_has_own_kernel(node))
    return NULL;
  if (chooses) return chooses_elements(node) ? "SelectV2" : NULL;
  return !is_bias ? node->op->def->name : adds_row(node) ? "AddV2" : NULL;
}
