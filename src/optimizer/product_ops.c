#include "optimizer/product_ops.h"

#include <string.h>

#include "op/fused_op.h"
#include "op/node_def.h"
#include "optimizer/optimizer_internal.h"

static const ProductOp kProducts[] = {
    {"Conv2D", "_FusedConv2D", {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations"}},
    {"DepthwiseConv2dNative",
     "FusedDepthwiseConv2dNative",
     {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations"}},
    {"MatMul", "_FusedMatMul", {"T", "transpose_a", "transpose_b"}},
};

const ProductOp *product_op_of(const Node *node) {
  for (size_t i = 0; i < sizeof kProducts / sizeof *kProducts; i++) {
    const ProductOp *op = &kProducts[i];
    if (strcmp(node->def->op, op->op) == 0 || strcmp(node->def->op, op->fused) == 0) return op;
  }
  return NULL;
}

bool product_is_fused(const ProductOp *op, const Node *node) { return strcmp(node->def->op, op->fused) == 0; }

bool product_is_channels_first(const Node *node) { return optimizer_attr_is(node, "data_format", "NCHW"); }

void product_copy_attrs(const ProductOp *op, const Node *node, const char *except, NodeBuilder *b) {
  for (size_t i = 0; i < sizeof op->attrs / sizeof *op->attrs && op->attrs[i]; i++) {
    const AttrValue *value = node_def_attr(node->def, op->attrs[i]);
    bool is_left_out = except && strstr(op->attrs[i], except);
    if (value && !is_left_out) node_builder_attr(b, op->attrs[i], (AttrValue *)value);
  }
}

void product_set_fused_ops(const ProductOp *op, NodeBuilder *b, const Str *ops, size_t count, DataType type,
                           int num_args) {
  node_builder_attr(b, "fused_ops", attr_value_string_list(node_builder_arena(b), ops, count));
  node_builder_int(b, "num_args", num_args);
  if (strcmp(op->op, "Conv2D") != 0) return;
  DataType types[FUSED_MOST_ARGS];
  for (int i = 0; i < num_args; i++) types[i] = type;
  node_builder_types(b, "TArgs", types, num_args);
  node_builder_int(b, "num_host_args", 0);
}

bool product_is_reshaped_by(const Node *product, const Node *node) {
  if (optimizer_is_op(product, "MatMul") || optimizer_is_op(product, "_FusedMatMul"))
    return optimizer_is_op(node, "Reshape");
  return optimizer_is_op(node, "Squeeze") && !product_is_channels_first(product);
}

bool product_add_reshape(Graph *graph, Node *product, const Node *reshape, Node **made, Status *status) {
  TRY(optimizer_copy_node(graph, reshape, 0, (NodeOutput){product, 0}, made, status));
  (*made)->output_shapes[0] = reshape->output_shapes[0];
  return true;
}
