#include "optimizer/split_products.h"

#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

typedef struct Split {
  Graph *graph;
  Node *product, *concat; /* MatMul, ConcatV2 */
  const Node *enter;      /* of the right-hand side */
  int64_t columns[2];     /* of the joined values */
  Status *status;
} Split;

/* --- what can be split --- */

static bool transposes_right(const Split *s) { return node_def_is_true(s->product->def, "transpose_b"); }

static int64_t size_at(ShapeHandle shape, int axis) {
  return shape && shape_rank(shape) == 2 && dim_known(shape->dims[axis]) ? dim_value(shape->dims[axis]) : -1;
}

/* Whether it joins two values for one reader. */
static bool is_pair(const NodeSet *keep, const Node *node) {
  return node_is_own(node, "ConcatV2") && optimizer_is_free(keep, node) && node->num_inputs == 3 &&
         node->num_out_edges == 1 && node->inputs[0] && node->inputs[1] && node->inputs[2];
}

/* Whether the value is an item of a list that is the same in every round. */
static bool is_item(const Edge *edge) {
  const Edge *item = loop_value_source(edge);
  return item && node_is_own(item->src, "TensorListGetItem") && loop_value_entered(item->src->inputs[0]);
}

/* The sum of the products would broadcast rows, where ConcatV2 refuses them. */
static bool joins_equal_rows(const Split *s) {
  ShapeHandle a = optimizer_edge_shape(s->concat->inputs[0]), b = optimizer_edge_shape(s->concat->inputs[1]);
  return optimizer_same_dim(a->dims[0], b->dims[0]);
}

static bool joins_columns(const Split *s, bool *columns) {
  Tensor axis = {0};
  TRY(dead_values_constant(s->concat->inputs[2]->src, edge_value(s->concat->inputs[0]), &axis, columns,
                           s->status));
  if (*columns) *columns = tensor_int_at(&axis, 0) == 1 || tensor_int_at(&axis, 0) == -1;
  tensor_clear(&axis);
  return true;
}

static bool find(const NodeSet *keep, Node *node, Split *s, bool *found) {
  *found = false;
  if (!loop_value_is_product(keep, node) || !node->inputs[0] || !is_pair(keep, node->inputs[0]->src))
    return true;
  s->product = node;
  s->concat = node->inputs[0]->src;
  s->enter = loop_value_entered(node->inputs[1]);
  if (!s->enter || !s->enter->inputs[0] || !optimizer_same_device(node, s->concat)) return true;
  if (!is_item(s->concat->inputs[0]) && !is_item(s->concat->inputs[1])) return true;
  int64_t rows = size_at(optimizer_edge_shape(s->enter->inputs[0]), transposes_right(s));
  for (int i = 0; i < 2; i++) {
    s->columns[i] = size_at(optimizer_edge_shape(s->concat->inputs[i]), 1);
    if (s->columns[i] < 1) return true;
  }
  if (s->columns[0] + s->columns[1] != rows || !joins_equal_rows(s)) return true;
  return joins_columns(s, found);
}

/* --- the new nodes --- */

static void begin_node(const Split *s, NodeBuilder *b, const char *op) {
  loop_value_begin_node(b, s->graph, op, s->product);
}

/* The sizes of the parts, in front of the loop. */
static bool add_sizes(const Split *s, Node **made) {
  const int64_t count = 2;
  NodeBuilder b;
  Tensor sizes = {0};
  TRY(tensor_allocate_dims(&sizes, DT_INT64, 1, &count, NULL, s->status));
  memcpy(sizes.data, s->columns, sizeof s->columns);
  begin_node(s, &b, "Const");
  node_builder_tensor(&b, &sizes);
  node_builder_control(&b, s->enter->inputs[0]->src);
  bool ok = loop_value_finish_node(&b, made, s->status);
  tensor_clear(&sizes);
  return ok;
}

static bool add_axis(const Split *s, Node **made) {
  NodeBuilder b;
  begin_node(s, &b, "Const");
  node_builder_scalar(&b, DT_INT32, transposes_right(s));
  node_builder_control(&b, s->enter->inputs[0]->src);
  return loop_value_finish_node(&b, made, s->status);
}

/* Both parts of the right-hand side, in front of the loop. */
static bool add_parts(const Split *s, Node **made) {
  NodeOutput sizes = {NULL, 0}, axis = {NULL, 0};
  NodeBuilder b;
  TRY(add_sizes(s, &sizes.node));
  TRY(add_axis(s, &axis.node));
  begin_node(s, &b, "SplitV");
  node_builder_type(&b, "T", s->product->output_types[0]);
  node_builder_type(&b, "Tlen", DT_INT64);
  node_builder_int(&b, "num_split", 2);
  node_builder_inputs(&b, (NodeOutput[]){edge_value(s->enter->inputs[0]), sizes, axis}, 3);
  return loop_value_finish_node(&b, made, s->status);
}

/* The product of joined value `i`. */
static bool add_product(const Split *s, Node *parts, int i, NodeOutput *made) {
  Node *right;
  NodeBuilder b;
  TRY(loop_value_enter(s->graph, (NodeOutput){parts, i}, s->enter, true, &right, s->status));
  begin_node(s, &b, "MatMul");
  node_builder_copy_attrs(&b, (const AttrEntry *const *)s->product->def->attr, (int)s->product->def->n_attr);
  node_builder_input(&b, edge_value(s->concat->inputs[i]));
  node_builder_input(&b, (NodeOutput){right, 0});
  made->index = 0;
  return loop_value_finish_node(&b, &made->node, s->status);
}

static bool split(const Split *s) {
  Node *parts;
  NodeOutput products[2], sum = {NULL, 0};
  NodeBuilder b;
  TRY(add_parts(s, &parts));
  for (int i = 0; i < 2; i++) TRY(add_product(s, parts, i, &products[i]));
  begin_node(s, &b, "AddV2");
  node_builder_type(&b, "T", s->product->output_types[0]);
  node_builder_inputs(&b, products, 2);
  TRY(loop_value_finish_node(&b, &sum.node, s->status));
  TRY(optimizer_move_consumers(s->graph, s->product, &sum, NULL, s->status));
  graph_remove_node(s->graph, s->product);
  graph_remove_node(s->graph, s->concat);
  return true;
}

bool graph_split_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Split s = {.graph = graph, .status = status};
    Node *node = graph_node(graph, id);
    bool found = false;
    if (node) TRY(find(keep, node, &s, &found));
    if (!found) continue;
    TRY(split(&s));
    *changed = true;
  }
  return true;
}
