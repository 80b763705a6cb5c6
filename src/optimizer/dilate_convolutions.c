#include "optimizer/dilate_convolutions.h"

#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"
#include "optimizer/product_ops.h"

enum { AXES = 4, MOST_PARTS = 8 };

/* A convolution of blocks. */
typedef struct Blocks {
  Node *split, *join; /* SpaceToBatchND and BatchToSpaceND */
  struct {
    Node *node;
    int input;        /* which reads the part before */
  } part[MOST_PARTS]; /* the nodes between them */
  int num_parts;
  Node *convolution; /* NULL: not found yet */
  int32_t added;     /* the axis that only the convolution has; 0: none */
  bool is_removed;   /* `added`, by the parts so far */
  int64_t dilations[AXES], padding[2 * AXES];
} Blocks;

static int channel_axis(const Node *convolution) { return product_is_channels_first(convolution) ? 1 : 3; }

/* Whether the attr is absent or has a one for each axis. */
static bool is_ones(const Node *node, const char *name) {
  const AttrValue *value = node_def_attr(node->def, name);
  if (!value) return true;
  if (!value->list || value->list->n_i != AXES) return false;
  for (int i = 0; i < AXES; i++) {
    if (value->list->i[i] != 1) return false;
  }
  return true;
}

/* --- the nodes --- */

/* An ExpandDims of a tensor of rank 3. */
static bool add_axis(Blocks *b, const Node *node, bool *fits, Status *status) {
  ShapeHandle shape = optimizer_shape(node, 0);
  *fits = !b->convolution && b->added == 0 && shape && shape_rank(shape) == AXES;
  if (*fits) TRY(optimizer_added_axis(node, &b->added, status));
  *fits = *fits && b->added > 0;
  return true;
}

static bool is_convolution(const Blocks *b, const Node *node) {
  const ProductOp *op = product_op_of(node);
  return op && !product_is_fused(op, node) && !optimizer_is_op(node, "MatMul") && !b->convolution &&
         node->inputs[1] && b->added != channel_axis(node) && optimizer_attr_is(node, "padding", "VALID") &&
         is_ones(node, "strides") && is_ones(node, "dilations");
}

static bool removes_axis(const Blocks *b, const Node *node) {
  const AttrValue *value = node_def_attr(node->def, "squeeze_dims");
  if (!b->convolution || b->added == 0 || b->is_removed || !value || !value->list || value->list->n_i != 1)
    return false;
  int64_t axis = value->list->i[0];
  return axis == b->added || axis == b->added - AXES;
}

/* Whether each result depends on the element of `input` at its position, and on its channel. */
static bool is_by_channel(const Blocks *b, const Node *node, int input) {
  if (!b->convolution || !node_fused_op(node) || node_reduces_rows(node) ||
      node->output_types[0] != b->convolution->output_types[0])
    return false;
  for (int i = 0; i < node->num_inputs; i++) {
    ShapeHandle shape = optimizer_edge_shape(node->inputs[i]);
    if (i == input) continue;
    if (!shape || shape_rank(shape) > (product_is_channels_first(b->convolution) ? 0 : 1)) return false;
  }
  return true;
}

/* Takes a node that reads the part before through `input`, if it fits. */
static bool add_part(Blocks *b, const NodeSet *keep, Node *node, int input, bool *fits, Status *status) {
  *fits = false;
  if (b->num_parts == MOST_PARTS || !optimizer_may_replace(keep, node)) return true;
  if (is_by_channel(b, node, input)) {
    *fits = true;
  } else if (input != 0) {
    return true;
  } else if (optimizer_is_op(node, "ExpandDims")) {
    TRY(add_axis(b, node, fits, status));
  } else if (optimizer_is_op(node, "Squeeze")) {
    *fits = b->is_removed = removes_axis(b, node);
  } else if (is_convolution(b, node)) {
    b->convolution = node;
    *fits = true;
  }
  if (!*fits) return true;
  b->part[b->num_parts].node = node;
  b->part[b->num_parts++].input = input;
  return true;
}

/* SpaceToBatchND and BatchToSpaceND are removed, so it does not matter whether their code is loaded. */
static bool is_end(const NodeSet *keep, const Node *node, const char *op) {
  return node->op && optimizer_is_op(node, op) && optimizer_is_free(keep, node) &&
         node_selects_own_kernel(node) && node->inputs[0] && node->inputs[1] && node->inputs[2];
}

/* What gives the node its first input; NULL: not the only output of a node on the same device. */
static Node *first_source(const Node *node) {
  const Edge *edge = node->num_inputs > 0 ? node->inputs[0] : NULL;
  return edge && edge->src->num_outputs == 1 && optimizer_same_device(edge->src, node) ? edge->src : NULL;
}

/* The nodes from the SpaceToBatchND to the convolution. Others may read these, too. */
static bool find_before(Blocks *b, const NodeSet *keep, Node *convolution, bool *fits, Status *status) {
  Node *from = first_source(convolution);
  *fits = false;
  if (from && optimizer_is_op(from, "ExpandDims")) {
    TRY(add_part(b, keep, from, 0, fits, status));
    if (!*fits) return true;
    from = first_source(from);
  }
  b->split = from;
  *fits = from && is_end(keep, from, "SpaceToBatchND");
  return true;
}

/* Finds the nodes from the SpaceToBatchND to the BatchToSpaceND; b->join stays NULL if other nodes are
 * between. */
static bool find_nodes(Blocks *b, const NodeSet *keep, Node *convolution, Status *status) {
  *b = (Blocks){.split = NULL};
  bool fits;
  TRY(find_before(b, keep, convolution, &fits, status));
  if (fits) TRY(add_part(b, keep, convolution, 0, &fits, status));
  for (Node *node = convolution; fits;) {
    const Edge *edge = node->num_out_edges == 1 ? node->out_edges[0] : NULL;
    if (!edge || edge_is_control(edge) || !optimizer_same_device(node, edge->dst)) return true;
    node = edge->dst;
    if (edge->dst_input == 0 && is_end(keep, node, "BatchToSpaceND")) {
      if (b->is_removed == (b->added > 0)) b->join = node;
      return true;
    }
    TRY(add_part(b, keep, node, edge->dst_input, &fits, status));
  }
  return true;
}

/* --- the attrs --- */

/* The constant inputs of both ends. */
enum { BLOCK, PADDINGS, JOINED_BLOCK, CROPS, CONSTANTS };

/* Sets dilation and padding for blocked axis `i` of x; false if no convolution computes the same. */
static bool set_axis(Blocks *b, const Tensor *constants, int i) {
  DimHandle dim = optimizer_edge_shape(b->split->inputs[0])->dims[i + 1];
  int axis = i + 1 + (b->added > 0 && i + 1 >= b->added);
  int64_t block = tensor_int_at(&constants[BLOCK], i);
  uint64_t size = dim_known(dim) ? (uint64_t)dim_value(dim) : 0;
  bool is_channels = axis == channel_axis(b->convolution);
  if (block < 1 || block > INT32_MAX || block != tensor_int_at(&constants[JOINED_BLOCK], i)) return false;
  for (int k = 2 * i; k < 2 * i + 2; k++) {
    int64_t padding = tensor_int_at(&constants[PADDINGS], k), crop = tensor_int_at(&constants[CROPS], k);
    if (crop < 0 || padding < crop || padding > (is_channels ? 0 : INT32_MAX)) return false;
    b->padding[2 * axis + k % 2] = padding - crop;
    size += (uint64_t)padding;
  }
  b->dilations[axis] = block;
  /* SpaceToBatchND refuses sizes that are no multiple of the block. */
  return block == 1 || (!is_channels && dim_known(dim) && size % (uint64_t)block == 0);
}

static bool set_axes(Blocks *b, const Tensor *constants) {
  ShapeHandle shape = optimizer_edge_shape(b->split->inputs[0]);
  int64_t count = tensor_num_elements(&constants[BLOCK]);
  if (!shape || shape_rank(shape) != AXES - (b->added > 0) || count >= shape_rank(shape)) return false;
  for (int i = PADDINGS; i < CONSTANTS; i++) {
    if (tensor_num_elements(&constants[i]) != (i == JOINED_BLOCK ? count : 2 * count)) return false;
  }
  for (int i = 0; i < AXES; i++) b->dilations[i] = 1;
  for (int i = 0; i < count; i++) {
    if (!set_axis(b, constants, i)) return false;
  }
  return true;
}

static bool find_attrs(Blocks *b, bool *fits, Status *status) {
  Tensor constants[CONSTANTS] = {{0}};
  bool ok = true;
  *fits = true;
  for (int i = 0; i < CONSTANTS && ok && *fits; i++) {
    const Node *end = i < JOINED_BLOCK ? b->split : b->join;
    ok = dead_values_constant(end->inputs[1 + i % 2]->src, edge_value(b->split->inputs[0]), &constants[i],
                              fits, status);
  }
  *fits = ok && *fits && set_axes(b, constants);
  for (int i = 0; i < CONSTANTS; i++) tensor_clear(&constants[i]);
  return ok;
}

/* --- the new nodes --- */

static bool set_attr(Graph *graph, Node *node, const char *name, AttrValue *value, Status *status) {
  if (!value) return status_oom(status, "the attrs of a convolution");
  return node_def_set_attr(node->def, graph_arena(graph), name, value, status);
}

static bool set_attrs(Graph *graph, const Blocks *b, Node *convolution, Status *status) {
  static const char kExplicit[] = "EXPLICIT";
  Arena *arena = graph_arena(graph);
  bool is_padded = false;
  for (int i = 0; i < 2 * AXES; i++) is_padded |= b->padding[i] > 0;
  TRY(set_attr(graph, convolution, "dilations", attr_value_int_list(arena, b->dilations, AXES), status));
  return !is_padded || (set_attr(graph, convolution, "padding",
                                 attr_value_string(arena, kExplicit, strlen(kExplicit)), status) &&
                        set_attr(graph, convolution, "explicit_paddings",
                                 attr_value_int_list(arena, b->padding, 2 * AXES), status));
}

/* An ExpandDims like one that stays, with a name of its own. */
static bool add_expansion(Graph *graph, const Node *like, NodeOutput from, Node **made, Status *status) {
  NodeBuilder b;
  node_builder(&b, graph, "ExpandDims", graph_new_free_name(graph, like->name));
  node_builder_place_as(&b, like);
  node_builder_type(&b, "T", like->input_types[0]);
  node_builder_type(&b, "Tdim", like->input_types[1]);
  node_builder_inputs(&b, (NodeOutput[]){from, edge_value(like->inputs[1])}, 2);
  return node_builder_finish_bare(&b, made, status);
}

/* A copy of part `i` that reads `from`. */
static bool copy_part(Graph *graph, const Blocks *b, int i, NodeOutput from, Node **made, Status *status) {
  const Node *node = b->part[i].node;
  if (node->num_out_edges > 1) TRY(add_expansion(graph, node, from, made, status));
  else TRY(optimizer_copy_node(graph, node, b->part[i].input, from, made, status));
  if (node == b->convolution) TRY(set_attrs(graph, b, *made, status));
  return graph_infer_leniently(graph, *made, status);
}

static void remove_unread(Graph *graph, Node *node) {
  if (node->num_out_edges == 0) graph_remove_node(graph, node);
}

static bool dilate(Graph *graph, const Blocks *b, Status *status) {
  Node *made[MOST_PARTS] = {NULL};
  NodeOutput from = edge_value(b->split->inputs[0]);
  bool ok = true;
  for (int i = 0; i < b->num_parts && ok; i++) {
    ok = copy_part(graph, b, i, from, &made[i], status);
    from = (NodeOutput){made[i], 0};
  }
  if (!ok) {
    for (int i = b->num_parts - 1; i >= 0; i--) graph_remove_node(graph, made[i]);
    return false;
  }
  TRY(optimizer_move_consumers(graph, b->join, &from, NULL, status));
  graph_remove_node(graph, b->join);
  for (int i = b->num_parts - 1; i >= 0; i--) remove_unread(graph, b->part[i].node);
  remove_unread(graph, b->split);
  return true;
}

bool graph_dilate_convolutions(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *changed = false;
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    Blocks blocks;
    bool fits;
    if (!node || !node->op || !product_op_of(node)) continue;
    TRY(find_nodes(&blocks, keep, node, status));
    if (!blocks.join || edge_is_reference(blocks.split->inputs[0])) continue;
    TRY(find_attrs(&blocks, &fits, status));
    if (!fits) continue;
    TRY(dilate(graph, &blocks, status));
    *changed = true;
  }
  return true;
}
