#include "optimizer/fuse_parts.h"

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "op/fused_op.h"
#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

/* A node that gives parts of the last dimension of one of its inputs. */
typedef struct Cut {
  Node *node;
  const Edge *value; /* what is cut */
  int64_t begin;     /* of output 0; each output begins where the one before ends */
} Cut;

/* NULL for a scalar, too. */
static ShapeHandle shape_of(const Node *node, int output) {
  ShapeHandle shape = optimizer_shape(node, output);
  return shape && shape_rank(shape) > 0 ? shape : NULL;
}

static int64_t last_size(ShapeHandle shape) {
  DimHandle last = shape->dims[shape_rank(shape) - 1];
  return dim_known(last) ? dim_value(last) : -1;
}

/* Whether the shapes differ in the last size at most, and both are known. */
static bool same_rows(ShapeHandle a, ShapeHandle b) {
  if (!a || !b || shape_rank(a) != shape_rank(b) || last_size(a) < 0 || last_size(b) < 0) return false;
  for (int32_t i = 0; i < shape_rank(a) - 1; i++) {
    if (!optimizer_same_dim(a->dims[i], b->dims[i])) return false;
  }
  return true;
}

/* --- what is cut --- */

/* Element `i` of a constant of integers (-1: the last one), or that of a scalar. */
static bool int_at(const Edge *edge, int32_t i, int64_t *value, bool *known, Status *status) {
  Tensor tensor = {0};
  *known = false;
  if (!edge || !node_is_const(edge->src)) return true;
  TRY(optimizer_constant(edge->src, &tensor, known, status));
  int64_t count = tensor_num_elements(&tensor), at = i < 0 ? count - 1 : i;
  *known = *known && dtype_is_integer((int)tensor.dtype) && at >= 0 && at < count;
  if (*known) *value = tensor_int_at(&tensor, at);
  tensor_clear(&tensor);
  return true;
}

static bool find_split(Cut *cut, bool has_sizes, bool *found, Status *status) {
  const Node *node = cut->node;
  int64_t axis;
  ShapeHandle part = shape_of(node, 0);
  cut->value = node->inputs[has_sizes ? 0 : 1];
  TRY(int_at(node->inputs[has_sizes ? 2 : 0], 0, &axis, found, status));
  *found = *found && part && (axis == -1 || axis == shape_rank(part) - 1) &&
           (!has_sizes || (node->inputs[1] && node_is_const(node->inputs[1]->src)));
  return true;
}

static bool has_no_mask(const Node *node, const char *name) {
  const AttrValue *mask = node_def_attr(node->def, name);
  return !mask || mask->i == 0;
}

static bool are_ones(const Edge *edge, bool *ones, Status *status) {
  Tensor tensor = {0};
  TRY(optimizer_constant(edge->src, &tensor, ones, status));
  *ones = *ones && optimizer_are_ones(&tensor);
  tensor_clear(&tensor);
  return true;
}

/* Whether a Slice takes rows from the first on. Others of as many rows fail. */
static bool begins_at_first_row(const Node *slice, int32_t rank, bool *begins, Status *status) {
  Tensor tensor = {0};
  *begins = false;
  if (!slice->inputs[1] || !node_is_const(slice->inputs[1]->src)) return true;
  TRY(optimizer_constant(slice->inputs[1]->src, &tensor, begins, status));
  *begins = *begins && tensor_num_elements(&tensor) == rank;
  for (int32_t i = 0; *begins && i < rank - 1; i++) *begins = tensor_int_at(&tensor, i) == 0;
  tensor_clear(&tensor);
  return true;
}

/* All rows of a value with steps of one. Since the part has as many, a StridedSlice begins at the first. */
static bool find_slice(Cut *cut, bool is_strided, bool *found, Status *status) {
  const Node *node = cut->node;
  ShapeHandle part = shape_of(node, 0);
  cut->value = node->inputs[0];
  ShapeHandle whole = cut->value ? shape_of(cut->value->src, cut->value->src_output) : NULL;
  *found = false;
  if (!same_rows(part, whole)) return true;
  if (is_strided) {
    bool is_plain = has_no_mask(node, "ellipsis_mask") && has_no_mask(node, "new_axis_mask") &&
                    has_no_mask(node, "shrink_axis_mask");
    if (!is_plain || !node->inputs[3]) return true;
    TRY(are_ones(node->inputs[3], found, status));
  } else {
    TRY(begins_at_first_row(node, shape_rank(part), found, status));
  }
  if (!*found) return true;
  int32_t last = shape_rank(part) - 1;
  const AttrValue *mask = is_strided ? node_def_attr(node->def, "begin_mask") : NULL;
  TRY(int_at(node->inputs[1], last, &cut->begin, found, status));
  if (mask && mask->i >> last & 1) cut->begin = 0;
  if (cut->begin < 0) cut->begin += last_size(whole);
  *found = *found && cut->begin >= 0 && cut->begin <= last_size(whole) - last_size(part);
  return true;
}

/* Whether the node says for each of its inputs which part of it is read, or for none. Given nodes may be
 * malformed. */
static bool has_valid_parts(const Node *fused) {
  const AttrValue *parts = node_def_attr(fused->def, FUSED_PARTS);
  bool is_list = parts && parts->value_case == (int)ATTR_LIST && parts->list;
  return fused->num_inputs <= FUSED_MOST_INPUTS &&
         (!parts || (is_list && parts->list->n_i == 2 * (size_t)fused->num_inputs));
}

/* Whether all that read the node are fused nodes that have room for its constants. */
static bool is_read_by_fused(const NodeSet *keep, const Node *node) {
  if (node->num_out_edges == 0 || !optimizer_may_replace(keep, node)) return false;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Node *reader = node->out_edges[i]->dst;
    if (reader->node_class != NODE_FUSED || kept(keep, reader) || !has_valid_parts(reader)) return false;
  }
  return true;
}

/* Whether the value is dead whenever another input of the node is. */
static bool dies_with_inputs(const Edge *value, const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge || !dead_values_include(edge_value(value), edge_value(edge))) return false;
  }
  return true;
}

static bool find_cut(const NodeSet *keep, Node *node, Cut *cut, bool *found, Status *status) {
  *cut = (Cut){.node = node};
  *found = false;
  bool has_sizes = optimizer_is_op(node, "SplitV"), is_split = has_sizes || optimizer_is_op(node, "Split");
  bool is_strided = optimizer_is_op(node, "StridedSlice");
  if ((!is_split && !is_strided && !optimizer_is_op(node, "Slice")) || !is_read_by_fused(keep, node))
    return true;
  TRY(is_split ? find_split(cut, has_sizes, found, status) : find_slice(cut, is_strided, found, status));
  const Edge *value = cut->value;
  if (!*found || !value) return true;
  ShapeHandle whole = shape_of(value->src, value->src_output);
  *found = !dtype_is_ref((int)value->src->output_types[value->src_output]) && dies_with_inputs(value, node);
  int64_t end = cut->begin;
  for (int i = 0; *found && i < node->num_outputs; i++) {
    *found = same_rows(shape_of(node, i), whole);
    if (*found) end += last_size(shape_of(node, i));
  }
  *found = *found && last_size(whole) >= end;
  return true;
}

/* --- the fused nodes --- */

/* Columns of a part that is known already count from its first one. */
static bool set_part(Graph *graph, Node *node, int input, int64_t begin, int64_t size, Status *status) {
  int64_t parts[2 * FUSED_MOST_INPUTS];
  const AttrValue *known = node_def_attr(node->def, FUSED_PARTS);
  size_t count = 2 * (size_t)node->num_inputs;
  for (size_t i = 0; i < count; i++) parts[i] = known ? known->list->i[i] : -(int64_t)(i % 2);
  bool is_part = parts[2 * input + 1] >= 0;
  parts[2 * input] += begin;
  if (!is_part) parts[2 * input + 1] = size;
  Arena *arena = graph_arena(graph);
  NodeDef *def = node_def_share(arena, node->def); /* of other graphs, too */
  AttrValue *value = attr_value_int_list(arena, parts, count);
  if (!def || !value) return status_oom(status, "a part of a row");
  for (size_t i = 0; i < node->def->n_input; i++)
    TRY(node_def_add_input(def, arena, node->def->input[i], status));
  TRY(node_def_set_attr(def, arena, FUSED_PARTS, value, status));
  node->def = def;
  return true;
}

/* The node waits for what the constants of the cut wait for. */
static bool wait_alike(Graph *graph, const Cut *cut, Node *reader, Status *status) {
  for (int i = 0; i < cut->node->num_inputs; i++) {
    const Node *constant = cut->node->inputs[i]->src;
    if (cut->node->inputs[i] == cut->value) continue;
    for (int32_t k = 0; k < constant->num_control_inputs; k++)
      TRY(optimizer_control(graph, constant->control_inputs[k]->src, reader, status));
  }
  return true;
}

/* `begins`: the first column of each output. */
static bool join(Graph *graph, const Cut *cut, const int64_t *begins, Status *status) {
  Node *node = cut->node;
  for (int32_t i = node->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = node->out_edges[i];
    Node *reader = edge->dst;
    int input = edge->dst_input;
    TRY(set_part(graph, reader, input, begins[edge->src_output], last_size(shape_of(node, edge->src_output)),
                 status));
    TRY(wait_alike(graph, cut, reader, status));
    TRY(graph_update_edge(graph, cut->value->src, cut->value->src_output, reader, input, status));
  }
  graph_remove_node(graph, node);
  return true;
}

static bool join_readers(Graph *graph, const Cut *cut, Status *status) {
  const Node *node = cut->node;
  int64_t *begins = mem_alloc(node->num_outputs * (int64_t)sizeof *begins), begin = cut->begin;
  if (!begins) return status_oom(status, "the parts of a row");
  for (int i = 0; i < node->num_outputs; i++) {
    begins[i] = begin;
    begin += last_size(shape_of(node, i));
  }
  bool ok = join(graph, cut, begins, status);
  mem_free(begins);
  return ok;
}

bool graph_fuse_parts(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *changed = false;
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    Cut cut;
    bool found = false;
    if (node && node->op) TRY(find_cut(keep, node, &cut, &found, status));
    if (!found) continue;
    TRY(join_readers(graph, &cut, status));
    *changed = true;
  }
  return true;
}
