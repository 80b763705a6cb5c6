#include "optimizer/list_arrays.h"

#include "graph/frame_loop.h"
#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/loop_rounds.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

typedef struct Lister {
  Graph *graph;
  const NodeSet *keep;
  bool changed;
  Status *status;
} Lister;

/* A TensorArrayV3 of constant size, in a loop that handles each of its elements once. */
typedef struct Array {
  Node *node;
  int64_t size;
  DataType dtype;
  int rank; /* of the elements */
  const DimHandle *dims;
  const Node *handle;  /* the constant Enter through which the loop has it */
  const Edge *value;   /* the rows that are scattered, or the element that is written */
  const Edge *indices; /* of all rows */
} Array;

static bool is_free_op(const Lister *l, const Node *node, const char *op) {
  return node_is_own(node, op) && optimizer_is_free(l->keep, node);
}

static bool is_free_enter(const Lister *l, const Node *node) {
  return node_is_constant_enter(node) && node->num_out_edges == 1 && optimizer_is_free(l->keep, node);
}

static bool comes_from(const Edge *edge, const Node *node, int output) {
  return edge && edge->src == node && edge->src_output == output;
}

/* --- sizes --- */

static bool is_size(const Lister *l, const Node *node, const Array *a) {
  return is_free_op(l, node, "TensorArraySizeV3") && comes_from(node->inputs[0], a->node, 0);
}

/* Of the outputs of a node, besides nodes that read the size of the array. */
static int count_readers(const Lister *l, const Node *node, const Array *a) {
  int count = 0;
  for (int32_t i = 0; i < node->num_out_edges; i++) count += !is_size(l, node->out_edges[i]->dst, a);
  return count;
}

/* Lets what reads the size of the array read the number with which it is made. */
static bool drop_sizes(const Lister *l, const Array *a) {
  const NodeOutput size = edge_value(a->node->inputs[0]);
  for (int32_t i = 0; i < a->node->num_out_edges; i++) {
    Node *reader = a->node->out_edges[i]->dst;
    if (!is_size(l, reader, a)) continue;
    TRY(optimizer_move_consumers(l->graph, reader, &size, NULL, l->status));
    graph_remove_node(l->graph, reader);
    i = -1; /* the edges have moved */
  }
  return true;
}

/* --- what an array must be like --- */

/* Whether the array has constant size, and the node gives elements of its type on its device. */
static bool find_array(const Lister *l, const Edge *handle, const Node *node, Array *a, bool *found) {
  const DataType type = node->output_types[0];
  *found = false;
  if (!handle || !is_free_op(l, handle->src, "TensorArrayV3") || handle->src_output != 0) return true;
  if (!optimizer_same_device(node, handle->src)) return true;
  a->node = handle->src;
  a->dtype = type;
  if (node_def_is_true(a->node->def, "dynamic_size") || !a->node->inputs[0]) return true;
  DataType own;
  TRY(node_attr_type(a->node->def, "dtype", &own, l->status));
  TRY(loop_number(a->node->inputs[0], &a->size, found, l->status));
  *found = *found && a->size >= 1 && own == type && dtype_is_pod(type);
  return true;
}

/* Whether the node stores elements of the array's type on its device. */
static bool stores(const Array *a, const Node *node) {
  return node->input_types[2] == a->dtype && optimizer_same_device(node, a->node);
}

/* Whether a shape that a node says, which may be known in part, certainly is that of the elements. */
static bool fits(const Lister *l, const Node *node, const Array *a, bool *does) {
  const TensorShapeProto *said;
  TRY(node_attr_shape(node->def, "element_shape", &said, l->status));
  *does = said->unknown_rank || said->n_dim == (size_t)a->rank;
  for (size_t i = 0; *does && !said->unknown_rank && i < said->n_dim; i++)
    *does = said->dim[i]->size < 0 || said->dim[i]->size == dim_value(a->dims[i]);
  return true;
}

/* Sets the shape of the elements: that of the value from dimension `first` on. */
static bool find_shape(const Lister *l, Array *a, int first, bool *found) {
  ShapeHandle shape = optimizer_edge_shape(a->value);
  *found = false;
  if (!shape || !shape_fully_defined(shape) || shape_rank(shape) < first) return true;
  if (first == 1 && dim_value(shape->dims[0]) != a->size) return true;
  a->rank = shape_rank(shape) - first;
  a->dims = &shape->dims[first];
  return !loop_value_has_sizes(a->dims, a->rank) || fits(l, a->node, a, found);
}

static bool is_constant_range(const Lister *l, const Node *node, int64_t size, bool *is) {
  Tensor value = {0};
  TRY(optimizer_constant(node, &value, is, l->status));
  *is = *is && value.shape.rank == 1 && tensor_num_elements(&value) == size;
  for (int64_t i = 0; *is && i < size; i++) *is = tensor_int_at(&value, i) == i;
  tensor_clear(&value);
  return true;
}

/* Whether the indices are [0, .., size - 1]. */
static bool are_all(const Lister *l, const Array *a, bool *are) {
  const Edge *indices = loop_value_source(a->indices);
  *are = indices != NULL;
  if (!indices) return true;
  const int64_t wanted[] = {0, a->size, 1};
  int64_t number;
  if (!node_is_own(indices->src, "Range")) return is_constant_range(l, indices->src, a->size, are);
  for (int i = 0; *are && i < 3; i++) {
    const Edge *edge = indices->src->inputs[i];
    if (i == 1 && edge && is_size(l, edge->src, a)) continue;
    TRY(loop_number(edge, &number, are, l->status));
    *are = *are && number == wanted[i];
  }
  return true;
}

/* Whether the index is the number of the round, in a loop that runs as many rounds as there are elements. */
static bool counts(const Lister *l, const Edge *index, const Array *a, bool *does) {
  int64_t rounds;
  TRY(loop_value_counts(index, does, l->status));
  if (!*does) return true;
  const Edge *condition = loop_value_source(loop_value_source(index)->src->inputs[1]);
  *does = condition && node_is_loop_cond(condition->src);
  if (!*does) return true;
  TRY(loop_find_rounds(condition->src, &rounds, does, l->status));
  *does = *does && rounds == a->size;
  return true;
}

/* --- new nodes --- */

/* The shape of the elements, outside of the loop. */
static bool add_shape(const Lister *l, const Array *a, Node **made) {
  NodeBuilder b;
  Tensor sizes = {0};
  TRY(loop_value_sizes(a->dims, a->rank, &sizes, l->status));
  loop_value_begin_node(&b, l->graph, "Const", a->node);
  node_builder_tensor(&b, &sizes);
  node_builder_control(&b, a->node->inputs[0]->src);
  bool ok = loop_value_finish_node(&b, made, l->status);
  tensor_clear(&sizes);
  return ok;
}

static void begin_list_node(const Lister *l, const Array *a, NodeBuilder *b, const char *op, const Node *like,
                            const char *shape_type) {
  loop_value_begin_node(b, l->graph, op, like);
  node_builder_type(b, "element_dtype", a->dtype);
  if (shape_type) node_builder_type(b, shape_type, DT_INT32);
}

/* A node of the variable that is the list. */
static bool add_variable_node(const Lister *l, const char *op, const Node *like, const NodeOutput *inputs,
                              int count, Node **made) {
  NodeBuilder b;
  loop_value_begin_node(&b, l->graph, op, like);
  node_builder_type(&b, "T", DT_VARIANT);
  if (node_is_merge(like)) node_builder_int(&b, "N", count);
  node_builder_inputs(&b, inputs, count);
  return loop_value_finish_node(&b, made, l->status);
}

/* --- arrays that are read --- */

typedef struct ReadArray {
  Array array;
  Node *scatter, *read;
  Node *flow; /* the constant Enter through which the loop has it */
} ReadArray;

/* Whether no other nodes know the array. */
static bool reads_alone(const Lister *l, const ReadArray *r) {
  const Array *a = &r->array;
  return is_free_enter(l, a->handle) && is_free_enter(l, r->flow) && count_readers(l, r->scatter, a) == 1 &&
         comes_from(r->flow->inputs[0], r->scatter, 0) && comes_from(r->scatter->inputs[0], a->node, 0) &&
         comes_from(r->scatter->inputs[3], a->node, 1) && comes_from(a->handle->inputs[0], a->node, 0) &&
         count_readers(l, a->node, a) == 3;
}

static bool find_read(const Lister *l, Node *node, ReadArray *r, bool *found) {
  Array *a = &r->array;
  *found = false;
  if (!is_free_op(l, node, "TensorArrayReadV3") || !node->inputs[0] || !node->inputs[2]) return true;
  r->read = node;
  a->handle = node->inputs[0]->src;
  r->flow = node->inputs[2]->src;
  if (!node_is_constant_enter(a->handle) || !node_is_constant_enter(r->flow) || !r->flow->inputs[0])
    return true;
  r->scatter = r->flow->inputs[0]->src;
  if (!is_free_op(l, r->scatter, "TensorArrayScatterV3")) return true;
  TRY(find_array(l, a->handle->inputs[0], node, a, found));
  if (!*found) return true;
  a->indices = r->scatter->inputs[1];
  a->value = r->scatter->inputs[2];
  *found = reads_alone(l, r) && stores(a, r->scatter);
  if (*found) TRY(find_shape(l, a, 1, found));
  if (*found) TRY(are_all(l, a, found));
  if (*found) TRY(counts(l, node->inputs[1], a, found));
  return true;
}

static bool list_read(const Lister *l, const ReadArray *r) {
  Node *shape, *list, *list_inside, *shape_inside;
  NodeOutput item = {NULL, 0};
  NodeBuilder b;
  TRY(add_shape(l, &r->array, &shape));
  begin_list_node(l, &r->array, &b, "TensorListFromTensor", r->scatter, "shape_type");
  node_builder_inputs(&b, (NodeOutput[]){edge_value(r->array.value), {shape, 0}}, 2);
  TRY(loop_value_finish_node(&b, &list, l->status));
  TRY(loop_value_enter(l->graph, (NodeOutput){list, 0}, r->flow, true, &list_inside, l->status));
  TRY(loop_value_enter(l->graph, (NodeOutput){shape, 0}, r->flow, true, &shape_inside, l->status));
  begin_list_node(l, &r->array, &b, "TensorListGetItem", r->read, "Tshape");
  node_builder_inputs(&b, (NodeOutput[]){{list_inside, 0}, edge_value(r->read->inputs[1]), {shape_inside, 0}},
                      3);
  TRY(loop_value_finish_node(&b, &item.node, l->status));
  return optimizer_move_consumers(l->graph, r->read, &item, NULL, l->status);
}

static bool list_if_read(Lister *l, Node *node) {
  ReadArray r;
  bool found;
  TRY(find_read(l, node, &r, &found));
  if (!found) return true;
  TRY(list_read(l, &r) && drop_sizes(l, &r.array));
  Node *const replaced[] = {r.read, (Node *)r.array.handle, r.flow, r.scatter, r.array.node};
  for (int i = 0; i < 5; i++) graph_remove_node(l->graph, replaced[i]);
  l->changed = true;
  return true;
}

/* --- arrays that are written --- */

enum { MOST_PASSED = 4 };

typedef struct WrittenArray {
  Array array;
  Node *gather, *write;
  Node *enter, *merge, *split, *next, *exit; /* of the variable that is the flow */
  Node *passed[MOST_PASSED];                 /* Identities of the flow */
  int num_passed;
} WrittenArray;

/* The only reader of an output, behind Identities, which are added to those that are passed; or NULL. */
static const Edge *only_reader(const Lister *l, const Node *node, int output, WrittenArray *w) {
  const Edge *only = NULL;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge->src_output != output) continue;
    if (only) return NULL;
    only = edge;
  }
  if (!only || !node_is_identity(only->dst)) return only;
  if (w->num_passed == MOST_PASSED || !optimizer_is_free(l->keep, only->dst)) return NULL;
  w->passed[w->num_passed++] = only->dst;
  return only_reader(l, only->dst, 0, w);
}

static bool leads_to(const Edge *edge, const Node *node, int input) {
  return edge && edge->dst == node && edge->dst_input == input;
}

/* Whether the flow is a variable that is handed from one write to the next, and at last to the Gather. */
static bool find_variable(const Lister *l, WrittenArray *w) {
  w->exit = w->gather->inputs[2]->src;
  if (!node_is_exit(w->exit) || !w->exit->inputs[0]) return false;
  w->split = w->exit->inputs[0]->src;
  if (!node_is_loop_switch(w->split) || !w->split->inputs[0]) return false;
  w->merge = w->split->inputs[0]->src;
  if (!loop_value_ends(w->merge, &w->enter, &w->next)) return false;
  const Edge *read = only_reader(l, w->split, 1, w);
  if (!read || !is_free_op(l, read->dst, "TensorArrayWriteV3") || read->dst_input != 3) return false;
  w->write = read->dst;
  return leads_to(only_reader(l, w->write, 0, w), w->next, 0) && w->write->inputs[0] && w->write->inputs[1];
}

/* Whether no other nodes know the array. */
static bool writes_alone(const Lister *l, const WrittenArray *w) {
  const Array *a = &w->array;
  const Node *const variable[] = {w->enter, w->merge, w->next, w->exit};
  for (int i = 0; i < 4; i++) {
    if (count_readers(l, variable[i], a) != 1 || !optimizer_is_free(l->keep, variable[i])) return false;
  }
  return w->split->num_out_edges == 2 && optimizer_is_free(l->keep, w->split) &&
         is_free_enter(l, a->handle) && comes_from(a->handle->inputs[0], a->node, 0) &&
         comes_from(w->enter->inputs[0], a->node, 1) && count_readers(l, a->node, a) == 3;
}

static bool find_written(const Lister *l, Node *node, WrittenArray *w, bool *found) {
  Array *a = &w->array;
  *found = false;
  if (!is_free_op(l, node, "TensorArrayGatherV3") || !node->inputs[2]) return true;
  w->gather = node;
  w->num_passed = 0;
  TRY(find_array(l, node->inputs[0], node, a, found));
  if (!*found) return true;
  *found = find_variable(l, w);
  if (!*found) return true;
  a->handle = w->write->inputs[0]->src;
  a->indices = node->inputs[1];
  a->value = w->write->inputs[2];
  *found = writes_alone(l, w) && stores(a, w->write);
  if (*found) TRY(find_shape(l, a, 0, found));
  if (*found) TRY(fits(l, node, a, found));
  if (*found) TRY(are_all(l, a, found));
  if (*found) TRY(counts(l, w->write->inputs[1], a, found));
  return true;
}

/* The variable of the loop, from the Enter to the Exit. */
static bool add_variable(const Lister *l, const WrittenArray *w, Node *list, Node **exit) {
  Node *enter, *merge, *split, *item, *next;
  NodeBuilder b;
  TRY(loop_value_enter(l->graph, (NodeOutput){list, 0}, w->enter, false, &enter, l->status));
  TRY(add_variable_node(l, "Merge", w->merge, (NodeOutput[]){{enter, 0}, {enter, 0}}, 2, &merge));
  TRY(add_variable_node(l, "Switch", w->split, (NodeOutput[]){{merge, 0}, edge_value(w->split->inputs[1])}, 2,
                        &split));
  begin_list_node(l, &w->array, &b, "TensorListSetItem", w->write, NULL);
  node_builder_inputs(&b,
                      (NodeOutput[]){{split, 1}, edge_value(w->write->inputs[1]), edge_value(w->array.value)},
                      3);
  TRY(loop_value_finish_node(&b, &item, l->status));
  TRY(add_variable_node(l, "NextIteration", w->next, (NodeOutput[]){{item, 0}}, 1, &next));
  TRY(graph_update_edge(l->graph, next, 0, merge, 1, l->status));
  return add_variable_node(l, "Exit", w->exit, (NodeOutput[]){{split, 0}}, 1, exit);
}

static bool list_written(const Lister *l, const WrittenArray *w) {
  const Array *a = &w->array;
  Node *shape, *list, *exit;
  NodeOutput stack = {NULL, 0};
  NodeBuilder b;
  TRY(add_shape(l, a, &shape));
  begin_list_node(l, a, &b, "TensorListReserve", a->node, "shape_type");
  node_builder_inputs(&b, (NodeOutput[]){{shape, 0}, edge_value(a->node->inputs[0])}, 2);
  TRY(loop_value_finish_node(&b, &list, l->status));
  TRY(add_variable(l, w, list, &exit));
  begin_list_node(l, a, &b, "TensorListStack", w->gather, NULL);
  node_builder_int(&b, "num_elements", a->size);
  node_builder_inputs(&b, (NodeOutput[]){{exit, 0}, {shape, 0}}, 2);
  TRY(loop_value_finish_node(&b, &stack.node, l->status));
  return optimizer_move_consumers(l->graph, w->gather, &stack, NULL, l->status);
}

static bool list_if_written(Lister *l, Node *node) {
  WrittenArray w;
  bool found;
  TRY(find_written(l, node, &w, &found));
  if (!found) return true;
  TRY(list_written(l, &w) && drop_sizes(l, &w.array));
  Node *const replaced[] = {w.gather, w.exit,  w.next,  w.write,     (Node *)w.array.handle,
                            w.split,  w.merge, w.enter, w.array.node};
  for (int i = 0; i < 9; i++) graph_remove_node(l->graph, replaced[i]);
  for (int i = 0; i < w.num_passed; i++) graph_remove_node(l->graph, w.passed[i]);
  l->changed = true;
  return true;
}

/* --- all --- */

typedef bool Visit(Lister *l, Node *node);

static bool visit_all(Lister *l, Visit *visit) {
  int64_t ids = graph_num_node_ids(l->graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(l->graph, id);
    if (node) TRY(visit(l, node));
  }
  return true;
}

bool graph_list_read_arrays(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Lister l = {.graph = graph, .keep = keep, .status = status};
  bool ok = visit_all(&l, list_if_read);
  *changed = l.changed;
  return ok;
}

bool graph_list_written_arrays(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Lister l = {.graph = graph, .keep = keep, .status = status};
  bool ok = visit_all(&l, list_if_written);
  *changed = l.changed;
  return ok;
}
