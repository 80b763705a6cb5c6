/* Single nodes and edges: add, connect, redirect, remove. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "op/kernel_registry.h"

/* --- adding nodes --- */

bool graph_reserve_nodes(Graph *graph, int64_t count, Status *status) {
  if (graph->num_node_ids + count <= INT32_MAX &&
      mem_grow((void **)&graph->nodes, &graph->node_capacity, graph->num_node_ids + count,
               sizeof *graph->nodes)) {
    return true;
  }
  return status_oom(status, "the nodes of a graph");
}

void graph_insert_node(Graph *graph, Node *node) {
  node->id = (int32_t)graph->num_node_ids;
  graph->nodes[graph->num_node_ids++] = node;
  graph->num_nodes++;
  graph->requests_devices |= node->def->device[0] != '\0';
}

/* Allocates a node and its arrays together. */
static Node *allocate_node(Graph *graph, NodeDef *def, const Op *op, const DataType *input_types,
                           int num_inputs, const DataType *output_types, int num_outputs) {
  int64_t inputs = num_inputs, outputs = num_outputs, pointer = sizeof(void *);
  int64_t size = (int64_t)sizeof(NodeEntry) + (inputs + outputs) * (pointer + (int64_t)sizeof *input_types);
  NodeEntry *entry = arena_calloc(graph->arena, 1, size);
  if (!entry) return NULL;
  Node *node = &entry->node;
  node->inputs = (Edge **)(entry + 1);
  node->output_shapes = (ShapeHandle *)(node->inputs + num_inputs);
  DataType *own_types = (DataType *)(node->output_shapes + num_outputs);
  if (inputs > 0) memcpy(own_types, input_types, (size_t)inputs * sizeof *own_types);
  if (outputs > 0) memcpy(own_types + inputs, output_types, (size_t)outputs * sizeof *own_types);
  node->input_types = own_types;
  node->output_types = own_types + num_inputs;
  node->num_inputs = num_inputs;
  node->num_outputs = num_outputs;
  node->id = -1;
  node->name = def->name;
  node->graph = graph;
  node->def = def;
  node->op = op;
  node->node_class = op ? op->node_class : NODE_OTHER;
  node->output_handles = num_outputs <= SHARED_HANDLES
                             ? graph->no_handles
                             : arena_calloc(graph->arena, num_outputs, sizeof *node->output_handles);
  for (int i = 0; i < num_outputs; i++) node->output_shapes[i] = &kUnknownShape;
  return node->output_handles ? node : NULL;
}

bool graph_make_node(Graph *graph, NodeDef *def, const Op *op, Node **out, Status *status) {
  Arena *arena = graph->arena;
  DataType few[SHARED_HANDLES] = {0}, *types = few, *input_types = NULL, *output_types = NULL;
  int num_inputs = 0, num_outputs = 0;
  if (op) {
    kernel_registry_mention(op, def);
    ArenaMark mark = arena_mark(arena);
    TRY(node_def_types(def, op->def, arena, &input_types, &num_inputs, &output_types, &num_outputs, status));
    int64_t count = (int64_t)num_inputs + num_outputs;
    types = count <= SHARED_HANDLES ? few : mem_alloc(count * (int64_t)sizeof *types);
    if (!types) return status_oom(status, "a node");
    if (num_inputs > 0) memcpy(types, input_types, (size_t)num_inputs * sizeof *types);
    if (num_outputs > 0) memcpy(types + num_inputs, output_types, (size_t)num_outputs * sizeof *types);
    arena_rollback(arena, mark);
  }
  *out = allocate_node(graph, def, op, types, num_inputs, types + num_inputs, num_outputs);
  if (types != few) mem_free(types);
  return *out || status_oom(status, "a node");
}

Node *graph_make_twin(Graph *graph, NodeDef *def, const Node *like) {
  return allocate_node(graph, def, like->op, like->input_types, like->num_inputs, like->output_types,
                       like->num_outputs);
}

static bool add_bare_node(Graph *graph, NodeDef *def, const Op *op, Node **out, Status *status) {
  Node *node = NULL;
  TRY(graph_reserve_nodes(graph, 1, status));
  TRY(graph_make_node(graph, def, op, &node, status));
  node_entry(node)->loose_controls = def->n_input > 0 && def->input[def->n_input - 1][0] == '^';
  TRY(graph_register_name(graph, node, status));
  graph_insert_node(graph, node);
  *out = node;
  return true;
}

bool graph_add_node(Graph *graph, NodeDef *def, Node **node, Status *status) {
  const Op *op = NULL;
  *node = NULL;
  if (graph_is_reserved_name(def->name))
    return status_invalid(status, "Duplicate node name in graph: '%s'", def->name);
  TRY(graph_look_up_op(graph, def->op, &op, status));
  GraphMark mark = graph_mark(graph);
  return add_bare_node(graph, def, op, node, status) || graph_rollback(graph, mark);
}

/* --- checks --- */

bool graph_is_reserved_name(const char *name) {
  return strcmp(name, "_SOURCE") == 0 || strcmp(name, "_SINK") == 0;
}

bool graph_check_output(const Node *node, int index, Status *status) {
  if (index >= 0 && index < node->num_outputs) return true;
  return status_set(status, CODE_OUT_OF_RANGE,
                    "Node '%s' (type: '%s', num of outputs: %d) does not have output %d", node->name,
                    node->def->op, node->num_outputs, index);
}

static bool check_input(const Node *node, int index, Status *status) {
  if (index >= 0 && index < node->num_inputs) return true;
  return status_set(status, CODE_OUT_OF_RANGE,
                    "Node '%s' (type: '%s', num of inputs: %d) does not have input %d", node->name,
                    node->def->op, node->num_inputs, index);
}

bool graph_check_output_tensor(const Graph *graph, const Node *node, int index, Status *status) {
  return graph_check_node(graph, node, status) && graph_check_output(node, index, status);
}

bool graph_check_input_tensor(const Graph *graph, const Node *node, int index, Status *status) {
  return graph_check_node(graph, node, status) && check_input(node, index, status);
}

bool graph_check_edge_types(const Node *src, int src_output, const Node *dst, int dst_input, Status *status) {
  int got = src->output_types[src_output], expected = dst->input_types[dst_input];
  /* A reference may be read as a value, but a value is never a reference. */
  if (expected == got || expected == dtype_base(got)) return true;
  return status_invalid(status, "Input %d of node %s was passed %s from %s:%d incompatible with expected %s.",
                        dst_input, dst->name, dtype_name(got), src->name, src_output, dtype_name(expected));
}

/* --- the input list of a NodeDef --- */

bool graph_input_text(Graph *graph, const Node *src, int index, bool always_index, char **text,
                      Status *status) {
  if (index == CONTROL_SLOT) {
    *text = arena_printf(graph->arena, "^%s", src->name);
  } else if (index == 0 && !always_index) {
    *text = (char *)src->name; /* input strings are never modified */
  } else {
    *text = arena_printf(graph->arena, "%s:%d", src->name, index);
  }
  return *text || status_oom(status, "the input of a node");
}

static size_t num_data_inputs(const NodeDef *def) {
  size_t count = def->n_input;
  while (count > 0 && def->input[count - 1][0] == '^') count--;
  return count;
}

/* Whether `text` is a spelling of that input. */
static bool names_input(const char *text, const Node *src, int index) {
  Str name;
  int text_index;
  return node_parse_input(text, &name, &text_index) && text_index == index && str_equal_text(name, src->name);
}

/* Replaces the input list by an array that the graph owns, with space for `count` entries. */
static bool reserve_inputs(Graph *graph, Node *node, size_t count, Status *status) {
  NodeDef *def = node->def;
  NodeEntry *entry = node_entry(node);
  if (entry->own_inputs == def->input && entry->input_capacity >= (int64_t)count) return true;
  int64_t capacity = (int64_t)count > 2 * (int64_t)def->n_input ? (int64_t)count : 2 * (int64_t)def->n_input;
  if (capacity > INT32_MAX) return status_oom(status, "the inputs of a node");
  int64_t old_bytes = (int64_t)(def->n_input * sizeof *def->input);
  char **grown = arena_grow(graph->arena, def->input, old_bytes, capacity * (int64_t)sizeof *def->input);
  if (!grown) return status_oom(status, "the inputs of a node");
  def->input = entry->own_inputs = grown;
  entry->input_capacity = (int32_t)capacity;
  return true;
}

/* Sets entry `slot` of the input list to `text`; missing entries before it become "". */
static bool write_data_input(Graph *graph, Node *node, int slot, char *text, Status *status) {
  NodeDef *def = node->def;
  size_t data = num_data_inputs(def), wanted = (size_t)slot + 1;
  size_t added = data < wanted ? wanted - data : 0;
  TRY(reserve_inputs(graph, node, def->n_input + added, status));
  memmove(def->input + data + added, def->input + data, (def->n_input - data) * sizeof *def->input);
  for (size_t i = data; i < wanted; i++) def->input[i] = (char *)"";
  def->n_input += added;
  def->input[slot] = text;
  return true;
}

static void erase_control_input(NodeDef *def, const Node *src) {
  for (size_t i = 0; i < def->n_input; i++) {
    if (def->input[i][0] != '^' || strcmp(def->input[i] + 1, src->name) != 0) continue;
    memmove(&def->input[i], &def->input[i + 1], (def->n_input - i - 1) * sizeof *def->input);
    def->n_input--;
    return;
  }
}

/* --- edges --- */

/* Makes space for one more element. The old array stays valid, so a failure of a later step loses nothing. */
static bool reserve_edges(Graph *graph, Edge ***edges, int64_t count, int64_t more, int32_t *capacity,
                          Status *status) {
  if (count + more <= *capacity) return true;
  int64_t doubled = (int64_t)*capacity * 2, grown = doubled > count + more ? doubled : count + more;
  if (grown < 2) grown = 2;
  if (grown > INT32_MAX) return status_oom(status, "the edges of a node");
  Edge **array =
      arena_grow(graph->arena, *edges, count * (int64_t)sizeof *array, grown * (int64_t)sizeof *array);
  if (!array) return status_oom(status, "the edges of a node");
  *edges = array;
  *capacity = (int32_t)grown;
  return true;
}

bool node_reserve_out_edges(Graph *graph, Node *node, int64_t more, Status *status) {
  return reserve_edges(graph, &node->out_edges, node->num_out_edges, more, &node->out_edge_capacity, status);
}

bool node_append_out_edge(Graph *graph, Edge *edge, OutEdges *before, Status *status) {
  Node *src = edge->src;
  *before = (OutEdges){src->out_edges, src->num_out_edges, src->out_edge_capacity};
  TRY(node_reserve_out_edges(graph, src, 1, status));
  node_put_out_edge(edge);
  return true;
}

void node_restore_out_edges(Node *src, const OutEdges *before) {
  src->out_edges = before->edges;
  src->num_out_edges = before->count;
  src->out_edge_capacity = before->capacity;
}

static Edge *find_control_edge(Node *src, Node *dst) {
  if (src->id <= SINK_ID || dst->id <= SINK_ID) return graph_special_edge(src, dst);
  if (src->num_out_edges < dst->num_control_inputs) {
    for (int64_t i = 0; i < src->num_out_edges; i++) {
      if (src->out_edges[i]->dst == dst && edge_is_control(src->out_edges[i])) return src->out_edges[i];
    }
  } else {
    for (int64_t i = 0; i < dst->num_control_inputs; i++) {
      if (dst->control_inputs[i]->src == src) return dst->control_inputs[i];
    }
  }
  return NULL;
}

/* The state of the arrays before an edge is added: after a failure, their memory is released. */
typedef struct EdgeArrays {
  Edge **out_edges, **control_inputs;
  char **input;
  int32_t out_edge_capacity, control_input_capacity;
} EdgeArrays;

static EdgeArrays save_arrays(const Node *src, const Node *dst) {
  return (EdgeArrays){src->out_edges, dst->control_inputs, dst->def->input, src->out_edge_capacity,
                      dst->control_input_capacity};
}

static bool restore_arrays(Graph *graph, GraphMark mark, Node *src, Node *dst, const EdgeArrays *saved) {
  src->out_edges = saved->out_edges;
  src->out_edge_capacity = saved->out_edge_capacity;
  dst->control_inputs = saved->control_inputs;
  dst->control_input_capacity = saved->control_input_capacity;
  dst->def->input = saved->input;
  return graph_rollback(graph, mark);
}

/* Whether the NodeDef came with a control input from `src`. Edges are mostly added in the order of the
 * inputs, so that the one behind those with edges is looked at first. */
static bool has_written_control(const Node *node, const Node *src) {
  const NodeDef *def = node->def;
  size_t next = (size_t)node->num_inputs + (size_t)node->num_control_inputs;
  if (next < def->n_input && names_input(def->input[next], src, CONTROL_SLOT)) return true;
  for (size_t i = 0; i < def->n_input; i++)
    if (names_input(def->input[i], src, CONTROL_SLOT)) return true;
  return false;
}

static bool append_control_input(Graph *graph, Node *node, const Node *src, Status *status) {
  NodeDef *def = node->def;
  char *text;
  if (node_entry(node)->loose_controls && has_written_control(node, src)) return true;
  TRY(graph_input_text(graph, src, CONTROL_SLOT, false, &text, status));
  TRY(reserve_inputs(graph, node, def->n_input + 1, status));
  def->input[def->n_input++] = text;
  return true;
}

bool graph_add_control_edge(Graph *graph, Node *src, Node *dst, Edge **out, Status *status) {
  *out = NULL;
  TRY(graph_check_node(graph, src, status));
  TRY(graph_check_node(graph, dst, status));
  if (src->id <= SINK_ID || dst->id <= SINK_ID) return graph_add_special_edge(graph, src, dst, out, status);
  if (find_control_edge(src, dst)) return true;
  TRY(graph_reserve_edge_ids(graph, 1, status));
  GraphMark mark = graph_mark(graph);
  EdgeArrays saved = save_arrays(src, dst);
  Edge *edge = arena_alloc(graph->arena, sizeof *edge);
  bool ok = (edge || status_oom(status, "an edge")) && node_reserve_out_edges(graph, src, 1, status) &&
            reserve_edges(graph, &dst->control_inputs, dst->num_control_inputs, 1,
                          &dst->control_input_capacity, status) &&
            append_control_input(graph, dst, src, status);
  if (!ok) return restore_arrays(graph, mark, src, dst, &saved);
  *edge = (Edge){.src = src, .src_output = CONTROL_SLOT, .dst = dst, .dst_input = CONTROL_SLOT};
  graph_connect(graph, edge);
  *out = edge;
  graph->mutations++;
  return true;
}

bool graph_add_data_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input, bool always_index,
                         Edge **out, Status *status) {
  TRY(graph_check_output_tensor(graph, src, src_output, status));
  TRY(graph_check_input_tensor(graph, dst, dst_input, status));
  if (dst->inputs[dst_input])
    return status_invalid(status, "Input %d of node %s is connected already", dst_input, dst->name);
  TRY(graph_check_edge_types(src, src_output, dst, dst_input, status));
  TRY(graph_reserve_edge_ids(graph, 1, status));
  GraphMark mark = graph_mark(graph);
  EdgeArrays saved = save_arrays(src, dst);
  Edge *edge = arena_alloc(graph->arena, sizeof *edge);
  char *text = NULL;
  bool written = (size_t)dst_input < num_data_inputs(dst->def) &&
                 names_input(dst->def->input[dst_input], src, src_output);
  bool ok = (edge || status_oom(status, "an edge")) && node_reserve_out_edges(graph, src, 1, status) &&
            (written || (graph_input_text(graph, src, src_output, always_index, &text, status) &&
                         write_data_input(graph, dst, dst_input, text, status)));
  if (!ok) return restore_arrays(graph, mark, src, dst, &saved);
  *edge = (Edge){.src = src, .src_output = src_output, .dst = dst, .dst_input = dst_input};
  graph_connect(graph, edge);
  *out = edge;
  graph->mutations++;
  graph_forget_values(graph);
  return true;
}

bool graph_add_edge(Graph *graph, Node *src, int src_output, Node *dst, int dst_input, Edge **out,
                    Status *status) {
  *out = NULL;
  if (src_output != CONTROL_SLOT || dst_input != CONTROL_SLOT)
    return graph_add_data_edge(graph, src, src_output, dst, dst_input, false, out, status);
  TRY(graph_add_control_edge(graph, src, dst, out, status));
  if (!*out) *out = find_control_edge(src, dst);
  return true;
}

static void remove_out_edge(const Edge *edge) {
  Node *src = edge->src;
  Edge *last = src->out_edges[--src->num_out_edges];
  src->out_edges[edge->place] = last;
  last->place = edge->place;
}

static void remove_control_input(Node *dst, const Edge *edge) {
  int32_t i = dst->num_control_inputs - 1;
  while (dst->control_inputs[i] != edge) i--;
  int32_t behind = --dst->num_control_inputs - i;
  memmove(&dst->control_inputs[i], &dst->control_inputs[i + 1], (size_t)behind * sizeof(Edge *));
}

void graph_remove_edge(Graph *graph, Edge *edge) {
  if (!edge || !edge->src || edge->src->graph != graph) return;
  if (edge_is_special(edge)) {
    graph_remove_special_edge(graph, edge);
    return;
  }
  Node *src = edge->src, *dst = edge->dst;
  remove_out_edge(edge);
  if (edge_is_control(edge)) {
    remove_control_input(dst, edge);
    erase_control_input(dst->def, src);
  } else {
    dst->inputs[edge->dst_input] = NULL;
  }
  graph_unfix_node(graph, src);
  graph_unfix_node(graph, dst);
  graph_retire_edge(graph, edge);
  graph->mutations++;
  graph_forget_values(graph);
}

/* Both sources have space for the edge, which gets a new id. */
static void redirect(Graph *graph, Edge *edge, NodeOutput from) {
  Node *dst = edge->dst;
  int dst_input = edge->dst_input;
  remove_out_edge(edge);
  graph_unfix_node(graph, edge->src);
  graph_retire_edge(graph, edge);
  *edge = (Edge){.src = from.node, .src_output = from.index, .dst = dst, .dst_input = dst_input};
  graph_connect(graph, edge);
  graph->mutations++;
  graph_forget_values(graph);
}

bool graph_update_edge(Graph *graph, Node *new_src, int new_output, Node *dst, int dst_input,
                       Status *status) {
  TRY(graph_check_output_tensor(graph, new_src, new_output, status));
  TRY(graph_check_input_tensor(graph, dst, dst_input, status));
  Edge *edge = dst->inputs[dst_input];
  if (!edge) return status_invalid(status, "Couldn't find edge to {{node %s}}", dst->name);
  TRY(graph_check_edge_types(new_src, new_output, dst, dst_input, status));
  TRY(graph_reserve_edge_ids(graph, 2, status)); /* the second is for undoing the change */
  GraphMark mark = graph_mark(graph);
  EdgeArrays saved = save_arrays(new_src, dst);
  char *text;
  bool ok = node_reserve_out_edges(graph, new_src, 1, status) &&
            graph_input_text(graph, new_src, new_output, true, &text, status) &&
            write_data_input(graph, dst, dst_input, text, status);
  if (!ok) return restore_arrays(graph, mark, new_src, dst, &saved);
  redirect(graph, edge, (NodeOutput){new_src, new_output});
  return true;
}

void graph_restore_edge(Graph *graph, NodeOutput old, char *old_text, Node *dst, int dst_input) {
  redirect(graph, dst->inputs[dst_input], old);
  dst->def->input[dst_input] = old_text;
}

void graph_remove_node(Graph *graph, Node *node) {
  if (!node || node->graph != graph || node->id <= SINK_ID) return;
  while (node->num_out_edges > 0) graph_remove_edge(graph, node->out_edges[node->num_out_edges - 1]);
  while (node->num_control_inputs > 0)
    graph_remove_edge(graph, node->control_inputs[node->num_control_inputs - 1]);
  for (int i = 0; i < node->num_inputs; i++) graph_remove_edge(graph, node->inputs[i]);
  graph_remove_edge(graph, node->source_edge);
  graph_remove_edge(graph, node->sink_edge);
  graph_forget_values(graph);
  graph_unregister_name(graph, node);
  graph_forget_free_names(graph, node->name);
  graph->nodes[node->id] = NULL;
  graph->num_nodes--;
  graph->mutations++;
  node->graph = NULL;
}
