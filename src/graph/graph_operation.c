/* graph_add_operation: adds one node, complete with edges and shapes, or nothing. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

/* The inputs to connect: data inputs first. */
typedef struct Wiring {
  const NodeOutput *inputs;
  int num_inputs;
  Node *const *controls;
  int num_controls; /* without duplicates */
} Wiring;

static bool check_inputs(const Graph *graph, const NodeDef *def, const NodeOutput *inputs, int num_inputs,
                         Node *const *controls, int num_controls, Status *status) {
  for (int i = 0; i < num_inputs; i++) {
    if (!inputs[i].node) return status_invalid(status, "Input %d of node '%s' is missing", i, def->name);
    TRY(graph_check_node(graph, inputs[i].node, status));
    TRY(graph_check_output(inputs[i].node, inputs[i].index, status));
  }
  for (int i = 0; i < num_controls; i++) {
    if (!controls[i]) return status_invalid(status, "Control input %d of node '%s' is missing", i, def->name);
    TRY(graph_check_node(graph, controls[i], status));
  }
  return true;
}

/* Collects the control inputs without duplicates, in the order of their first occurrence, in the arena. */
static bool unique_controls(Graph *graph, Node *const *controls, int count, Wiring *wiring, Status *status) {
  if (count == 0) return true;
  Node **unique = arena_alloc(graph->arena, count * (int64_t)sizeof *unique);
  if (!unique) return status_oom(status, "the control inputs of a node");
  graph_new_visit(graph);
  for (int i = 0; i < count; i++) {
    if (node_entry(controls[i])->visit == graph->visit) continue;
    node_entry(controls[i])->visit = graph->visit;
    unique[wiring->num_controls++] = controls[i];
  }
  wiring->controls = unique;
  return true;
}

/* Gives a NodeDef in the graph's arena its defaults and its input list. */
static bool complete_def(Graph *graph, NodeDef *def, const Op *op, const Wiring *wiring, Status *status) {
  int64_t count = (int64_t)wiring->num_inputs + wiring->num_controls;
  char **input = arena_alloc(graph->arena, count * (int64_t)sizeof *input);
  if (!input) return status_oom(status, "a node");
  for (int i = 0; i < wiring->num_inputs; i++) {
    TRY(graph_input_text(graph, wiring->inputs[i].node, wiring->inputs[i].index, false, &input[i], status));
  }
  for (int i = 0; i < wiring->num_controls; i++) {
    char **text = &input[wiring->num_inputs + i];
    TRY(graph_input_text(graph, wiring->controls[i], CONTROL_SLOT, false, text, status));
  }
  def->input = input;
  def->n_input = (size_t)count;
  TRY(node_def_add_defaults(def, op->def, graph->arena, status));
  TRY(node_def_validate(def, op->def, status));
  return op_def_check_deprecation(op->def, graph->versions.producer, status);
}

/* Makes the incoming edges. They are not in the lists of their sources yet. */
static bool make_edges(Graph *graph, Node *node, const Wiring *wiring, Edge **out, Status *status) {
  int64_t count = (int64_t)wiring->num_inputs + wiring->num_controls;
  Edge *edges = arena_alloc(graph->arena, count * (int64_t)sizeof *edges);
  if (!edges) return status_oom(status, "edges");
  for (int i = 0; i < wiring->num_inputs; i++) {
    NodeOutput input = wiring->inputs[i];
    TRY(graph_check_edge_types(input.node, input.index, node, i, status));
    edges[i] = (Edge){.src = input.node, .src_output = input.index, .dst = node, .dst_input = i};
    node->inputs[i] = &edges[i];
  }
  if (wiring->num_controls > 0) {
    node->control_inputs =
        arena_alloc(graph->arena, wiring->num_controls * (int64_t)sizeof *node->control_inputs);
    if (!node->control_inputs) return status_oom(status, "edges");
    node->control_input_capacity = wiring->num_controls;
  }
  for (int i = 0; i < wiring->num_controls; i++) {
    Edge *edge = &edges[wiring->num_inputs + i];
    *edge = (Edge){.src = wiring->controls[i],
                   .src_output = CONTROL_SLOT,
                   .dst = node,
                   .dst_input = CONTROL_SLOT};
    node->control_inputs[node->num_control_inputs++] = edge;
  }
  *out = edges;
  return true;
}

/* Changes the existing parts of the graph, and undoes that when a step fails. */
static bool commit(Graph *graph, Node *node, Edge *edges, int64_t num_edges, Status *status) {
  OutEdges *before = arena_alloc(graph->arena, num_edges * (int64_t)sizeof *before);
  if (!before) return status_oom(status, "a node");
  int64_t appended = 0;
  bool ok = graph_reserve_nodes(graph, 1, status) && graph_reserve_edge_ids(graph, num_edges, status);
  while (ok && appended < num_edges) {
    ok = node_append_out_edge(graph, &edges[appended], &before[appended], status);
    if (ok) appended++;
  }
  ok = ok && graph_register_name(graph, node, status);
  if (!ok) {
    while (appended-- > 0) node_restore_out_edges(edges[appended].src, &before[appended]);
    return false;
  }
  for (int64_t i = 0; i < num_edges; i++) graph_number_edge(graph, &edges[i]);
  graph_insert_node(graph, node);
  return true;
}

static bool add_operation(Graph *graph, NodeDef *def, const Op *op, Wiring *wiring, Node *const *controls,
                          int num_controls, Node **out, Status *status) {
  Node *node = NULL;
  Edge *edges = NULL;
  TRY(unique_controls(graph, controls, num_controls, wiring, status));
  TRY(complete_def(graph, def, op, wiring, status));
  TRY(graph_make_node(graph, def, op, &node, status));
  TRY(make_edges(graph, node, wiring, &edges, status));
  TRY(graph_infer_shapes(graph, node, status));
  TRY(commit(graph, node, edges, (int64_t)wiring->num_inputs + wiring->num_controls, status));
  *out = node;
  return true;
}

bool graph_take_operation(Graph *graph, NodeDef *def, const NodeOutput *inputs, int num_inputs,
                          Node *const *control_inputs, int num_control_inputs, Node **node, Status *status) {
  const Op *op = NULL;
  *node = NULL;
  if (num_inputs < 0 || num_control_inputs < 0)
    return status_invalid(status, "A node cannot have a negative number of inputs");
  if (graph_find_node(graph, def->name) || graph_is_reserved_name(def->name)) {
    return status_invalid(status, "Duplicate node name in graph: '%s'", def->name);
  }
  if (!def->op[0]) return status_invalid(status, "Node '%s' does not specify an operation", def->name);
  TRY(graph_look_up_op(graph, def->op, &op, status));
  TRY(check_inputs(graph, def, inputs, num_inputs, control_inputs, num_control_inputs, status));
  GraphMark mark = graph_mark(graph);
  Wiring wiring = {.inputs = inputs, .num_inputs = num_inputs};
  return add_operation(graph, def, op, &wiring, control_inputs, num_control_inputs, node, status) ||
         graph_rollback(graph, mark);
}

bool graph_add_operation(Graph *graph, const NodeDef *def, const NodeOutput *inputs, int num_inputs,
                         Node *const *control_inputs, int num_control_inputs, Node **node, Status *status) {
  GraphMark mark = graph_mark(graph);
  NodeDef head = *def;
  head.n_input = 0;
  head.input = NULL;
  NodeDef *copy = proto_copy(&head, graph->arena);
  *node = NULL;
  bool ok =
      (copy || status_oom(status, "a node")) &&
      graph_take_operation(graph, copy, inputs, num_inputs, control_inputs, num_control_inputs, node, status);
  return ok || graph_rollback(graph, mark);
}
