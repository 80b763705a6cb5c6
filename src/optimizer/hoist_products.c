#include "optimizer/hoist_products.h"

#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

typedef struct Hoist {
  Graph *graph;
  const NodeSet *keep;
  Status *status;
} Hoist;

/* A product in a loop. The sources are outside of it. */
typedef struct Candidate {
  Node *product, *item; /* MatMul, TensorListGetItem */
  const Node *enter;    /* the list's */
  Node *list;           /* TensorListFromTensor */
  NodeOutput rows, weights;
  /* An addition of the same row to the product in every round, or NULL; and the edge of that row. */
  Node *term;
  const Edge *bias;
} Candidate;

/* --- candidates --- */

static ShapeHandle shape_of_rank(NodeOutput value, int rank) {
  ShapeHandle shape = optimizer_shape(value.node, value.index);
  return shape && shape_rank(shape) == rank ? shape : NULL;
}

static int64_t size_at(ShapeHandle shape, int axis) {
  return dim_known(shape->dims[axis]) ? dim_value(shape->dims[axis]) : -1;
}

static int64_t columns_of(const Candidate *c) {
  return size_at(shape_of_rank(c->weights, 2), !node_def_is_true(c->product->def, "transpose_b"));
}

/* Whether the product of all rows is defined, and not much larger than they are. */
static bool fits(const Candidate *c) {
  ShapeHandle rows = shape_of_rank(c->rows, 3), weights = shape_of_rank(c->weights, 2);
  DataType type = c->product->output_types[0];
  if (!rows || !weights || dtype_base((int)node_output_type(c->rows)) != (int)type ||
      c->item->output_types[0] != type)
    return false;
  int64_t depth = size_at(weights, node_def_is_true(c->product->def, "transpose_b")), columns = columns_of(c);
  return depth > 0 && columns > 0 && size_at(rows, 2) == depth && columns / HOIST_MOST_GROWTH <= depth;
}

/* Whether the edge carries a row for all rows of the product, which is the same in every round. */
static bool is_bias(const Candidate *c, const Edge *edge) {
  ShapeHandle shape = edge ? shape_of_rank(edge_value(edge), 1) : NULL;
  const Edge *source = loop_value_source(edge);
  return shape && source && size_at(shape, 0) == columns_of(c) &&
         (node_is_const(source->src) || loop_value_entered(edge)) &&
         dead_values_include((NodeOutput){c->product, 0}, edge_value(edge));
}

/* The addition that alone reads the product. */
static void find_term(const Hoist *h, Candidate *c) {
  if (c->product->num_out_edges != 1) return;
  const Edge *out = c->product->out_edges[0];
  Node *term = out->dst;
  bool is_bias_add = node_is_own(term, "BiasAdd") && !optimizer_attr_is(term, "data_format", "NCHW");
  if ((!is_bias_add && !node_is_own(term, "AddV2")) || term->num_inputs != 2) return;
  if (!optimizer_is_free(h->keep, term) || !optimizer_same_device(term, c->product)) return;
  const Edge *bias = term->inputs[1 - out->dst_input];
  if (!is_bias(c, bias)) return;
  c->term = term;
  c->bias = bias;
}

/* Whether the list and its items do not fail, and no shape that the new item does not read is dead before it.
 */
static bool makes_equal_items(const Hoist *h, const Candidate *c, bool *equal) {
  ShapeHandle rows = shape_of_rank(c->rows, 3);
  const Edge *shape = c->item->inputs[2];
  *equal = shape && (dead_values_include(edge_value(c->item->inputs[0]), edge_value(shape)) ||
                     dead_values_include(edge_value(c->item->inputs[1]), edge_value(shape)));
  if (!*equal) return true;
  TRY(loop_value_fits_shape(c->list->inputs[1], rows, 1, equal, h->status));
  return !*equal || loop_value_fits_shape(shape, rows, 1, equal, h->status);
}

static bool find(const Hoist *h, Node *node, Candidate *c, bool *found) {
  *found = false;
  if (!loop_value_is_product(h->keep, node)) return true;
  const Edge *item = loop_value_source(node->inputs[0]);
  if (!item || !node_is_own(item->src, "TensorListGetItem")) return true;
  const Node *enter = loop_value_entered(item->src->inputs[0]),
             *weights = loop_value_entered(node->inputs[1]);
  if (!enter || !weights || !loop_value_is_of_round(item->src->inputs[1])) return true;
  const Edge *list = loop_value_source(enter->inputs[0]);
  if (!list || !node_is_own(list->src, "TensorListFromTensor") || !list->src->inputs[0]) return true;
  *c = (Candidate){.product = node,
                   .item = item->src,
                   .enter = enter,
                   .list = list->src,
                   .rows = edge_value(list->src->inputs[0]),
                   .weights = edge_value(weights->inputs[0])};
  if (!fits(c) || !optimizer_same_device(node, c->item) || !optimizer_same_device(node, c->list)) return true;
  find_term(h, c);
  return makes_equal_items(h, c, found);
}

/* --- the new nodes: those outside are dead, or fail, where the list does --- */

/* Whether the list waits for something else than its rows. */
static bool waits_for_more(const Node *list) {
  const Node *shape = list->inputs[1] ? list->inputs[1]->src : NULL;
  return list->num_control_inputs > 0 || !shape || !node_is_const(shape) || shape->num_control_inputs > 0;
}

static bool add_products(const Hoist *h, const Candidate *c, Node **made) {
  NodeBuilder b;
  loop_value_begin_node(&b, h->graph, "BatchMatMulV2", c->product);
  Arena *arena = node_builder_arena(&b);
  node_builder_type(&b, "T", c->product->output_types[0]);
  node_builder_attr(&b, "adj_x", attr_value_bool(arena, false));
  node_builder_attr(&b, "adj_y", attr_value_bool(arena, node_def_is_true(c->product->def, "transpose_b")));
  node_builder_input(&b, c->rows);
  node_builder_input(&b, c->weights);
  if (waits_for_more(c->list)) node_builder_control(&b, c->list);
  return loop_value_finish_node(&b, made, h->status);
}

/* The row outside of the loop. */
static bool find_bias(const Hoist *h, const Candidate *c, NodeOutput *bias) {
  const Edge *source = loop_value_source(c->bias);
  if (!node_is_const(source->src)) {
    *bias = edge_value(loop_value_entered(c->bias)->inputs[0]);
    return true;
  }
  Tensor value = {0};
  bool is_known;
  TRY(optimizer_constant(source->src, &value, &is_known, h->status));
  bool ok = optimizer_add_constant(h->graph, &value, c->list, bias, h->status);
  tensor_clear(&value);
  return ok;
}

/* Adds the row to all products. */
static bool add_term(const Hoist *h, const Candidate *c, Node **products) {
  NodeOutput bias;
  NodeBuilder b;
  if (!c->term) return true;
  TRY(find_bias(h, c, &bias));
  loop_value_begin_node(&b, h->graph, "AddV2", c->term);
  node_builder_type(&b, "T", c->product->output_types[0]);
  node_builder_input(&b, (NodeOutput){*products, 0});
  node_builder_input(&b, bias);
  return loop_value_finish_node(&b, products, h->status);
}

/* An element shape of unknown rank. */
static bool add_any_shape(const Hoist *h, const Candidate *c, Node **made) {
  NodeBuilder b;
  loop_value_begin_node(&b, h->graph, "Const", c->list);
  node_builder_scalar(&b, DT_INT32, -1);
  node_builder_control(&b, c->list);
  return loop_value_finish_node(&b, made, h->status);
}

static bool add_list(const Hoist *h, const Candidate *c, Node *products, Node *any, Node **made) {
  NodeBuilder b;
  loop_value_begin_node(&b, h->graph, "TensorListFromTensor", c->list);
  node_builder_type(&b, "element_dtype", c->product->output_types[0]);
  node_builder_type(&b, "shape_type", DT_INT32);
  node_builder_input(&b, (NodeOutput){products, 0});
  node_builder_input(&b, (NodeOutput){any, 0});
  return loop_value_finish_node(&b, made, h->status);
}

/* Whether the item is read by the product alone. */
static bool ends_with_product(const Hoist *h, const Candidate *c) {
  const Edge *edge = c->product->inputs[0];
  while (edge->src != c->item && edge->src->num_out_edges == 1 && !kept(h->keep, edge->src))
    edge = edge->src->inputs[0];
  return edge->src == c->item && c->item->num_out_edges == 1 && !kept(h->keep, c->item);
}

/* Its errors name the old item, if that goes. */
static bool add_item(const Hoist *h, const Candidate *c, Node *list, Node *any, Node **made) {
  const char *name = c->item->name;
  NodeBuilder b;
  node_builder(&b, h->graph, "TensorListGetItem",
               ends_with_product(h, c) ? name : graph_unique_name(h->graph, name));
  node_builder_place_as(&b, c->item);
  node_builder_type(&b, "element_dtype", c->product->output_types[0]);
  node_builder_type(&b, "Tshape", DT_INT32);
  node_builder_input(&b, (NodeOutput){list, 0});
  node_builder_input(&b, edge_value(c->item->inputs[1]));
  node_builder_input(&b, (NodeOutput){any, 0});
  loop_value_copy_controls(&b, c->item);
  TRY(loop_value_finish_node(&b, made, h->status));
  (*made)->output_shapes[0] = c->product->output_shapes[0];
  return true;
}

/* Also the Identities between them. */
static void remove_product(const Hoist *h, const Candidate *c) {
  bool is_last = ends_with_product(h, c);
  Node *item = c->item, *read = c->product->inputs[0]->src;
  graph_remove_node(h->graph, c->product);
  while (is_last) {
    Node *node = read;
    is_last = node != item;
    if (is_last) read = node->inputs[0]->src;
    graph_remove_node(h->graph, node);
  }
}

static bool hoist(const Hoist *h, const Candidate *c) {
  Node *products, *any, *list, *list_inside, *any_inside, *item;
  Node *result = c->term ? c->term : c->product;
  TRY(add_products(h, c, &products));
  TRY(add_term(h, c, &products));
  TRY(add_any_shape(h, c, &any));
  TRY(add_list(h, c, products, any, &list));
  TRY(loop_value_enter(h->graph, (NodeOutput){list, 0}, c->enter, true, &list_inside, h->status));
  TRY(loop_value_enter(h->graph, (NodeOutput){any, 0}, c->enter, true, &any_inside, h->status));
  TRY(add_item(h, c, list_inside, any_inside, &item));
  const NodeOutput output = {item, 0};
  TRY(optimizer_move_consumers(h->graph, result, &output, NULL, h->status));
  if (c->term) graph_remove_node(h->graph, c->term);
  remove_product(h, c);
  return true;
}

bool graph_hoist_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  const Hoist h = {.graph = graph, .keep = keep, .status = status};
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    Candidate candidate;
    bool found = false;
    if (node) TRY(find(&h, node, &candidate, &found));
    if (!found) continue;
    TRY(hoist(&h, &candidate));
    *changed = true;
  }
  return true;
}
