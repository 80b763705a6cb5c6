/* Appends inputs and outputs to nodes that are in use. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

struct NodeBefore {
  Node *node;
  Node fields; /* only the fields that are restored are set */
  char **own_inputs;
  int32_t input_capacity;
};

static bool oom(Status *status) { return status_oom(status, "a node"); }

/* Writes the NodeDef's inputs: the old data inputs, the new ones, and the control inputs. */
static bool extended_def(Graph *graph, const Node *node, const NodeDef *def, const Op *op,
                         const NodeOutput *more, int num_more, NodeDef **out, Status *status) {
  NodeDef head = *def;
  const NodeDef *old = node->def;
  head.name = old->name;
  head.device = old->device;
  head.n_input = 0;
  head.input = NULL;
  NodeDef *copy = proto_copy(&head, graph->arena);
  char **input = arena_alloc(graph->arena, ((int64_t)old->n_input + num_more + 1) * (int64_t)sizeof *input);
  if (!copy || !input) return oom(status);
  size_t data = (size_t)node->num_inputs < old->n_input ? (size_t)node->num_inputs : old->n_input;
  if (data > 0) memcpy(input, old->input, data * sizeof *input);
  for (int i = 0; i < num_more; i++)
    TRY(graph_input_text(graph, more[i].node, more[i].index, false, &input[data + (size_t)i], status));
  if (old->n_input > data)
    memcpy(input + data + num_more, old->input + data, (old->n_input - data) * sizeof *input);
  copy->input = input;
  copy->n_input = old->n_input + (size_t)num_more;
  TRY(node_def_add_defaults(copy, op->def, graph->arena, status));
  TRY(node_def_validate(copy, op->def, status));
  *out = copy;
  return true;
}

static bool begins_with(const DataType *types, int count, const DataType *old, int old_count) {
  return count >= old_count && (old_count == 0 || memcmp(types, old, (size_t)old_count * sizeof *types) == 0);
}

static bool check_types(const Node *node, const Node *like, int num_more, Status *status) {
  if (like->num_inputs == node->num_inputs + num_more &&
      begins_with(like->input_types, like->num_inputs, node->input_types, node->num_inputs) &&
      begins_with(like->output_types, like->num_outputs, node->output_types, node->num_outputs))
    return true;
  return status_invalid(status, "Node '%s' cannot become a %s with %d inputs and %d outputs", node->name,
                        like->def->op, like->num_inputs, like->num_outputs);
}

/* Copies the shapes and handle data of the existing outputs. */
static bool keep_shapes(Graph *graph, const Node *node, Node *like, Status *status) {
  if (node->num_outputs > 0)
    memcpy(like->output_shapes, node->output_shapes, (size_t)node->num_outputs * sizeof *like->output_shapes);
  if (node->output_handles == graph->no_handles) return true;
  like->output_handles = arena_calloc(graph->arena, like->num_outputs + 1, sizeof *like->output_handles);
  if (!like->output_handles) return oom(status);
  if (node->num_outputs > 0)
    memcpy(like->output_handles, node->output_handles,
           (size_t)node->num_outputs * sizeof *like->output_handles);
  return true;
}

/* `from` may be any node that has these arrays. */
static void take_fields(Node *node, const Node *from) {
  node->def = from->def;
  node->op = from->op;
  node->node_class = from->node_class;
  node->num_inputs = from->num_inputs;
  node->num_outputs = from->num_outputs;
  node->input_types = from->input_types;
  node->output_types = from->output_types;
  node->inputs = from->inputs;
  node->output_shapes = from->output_shapes;
  node->output_handles = from->output_handles;
}

static bool extend(Graph *graph, Node *node, const NodeDef *def, const NodeOutput *more, int num_more,
                   NodeBefore *before, Status *status) {
  const Op *op = NULL;
  NodeDef *complete = NULL;
  Node *like = NULL;
  TRY(graph_look_up_op(graph, def->op, &op, status));
  TRY(extended_def(graph, node, def, op, more, num_more, &complete, status));
  TRY(graph_make_node(graph, complete, op, &like, status));
  TRY(check_types(node, like, num_more, status));
  for (int i = 0; i < num_more; i++) {
    TRY(graph_check_edge_types(more[i].node, more[i].index, like, node->num_inputs + i, status));
  }
  TRY(keep_shapes(graph, node, like, status));
  if (node->num_inputs > 0) memcpy(like->inputs, node->inputs, (size_t)node->num_inputs * sizeof(Edge *));
  *before = (NodeBefore){node, *node, node_entry(node)->own_inputs, node_entry(node)->input_capacity};
  take_fields(node, like);
  node_entry(node)->own_inputs = NULL;
  node_entry(node)->input_capacity = 0;
  graph->mutations++;
  graph_forget_values(graph);
  return true;
}

bool graph_extend_node(Graph *graph, Node *node, const NodeDef *def, const NodeOutput *more_inputs,
                       int num_more_inputs, const NodeBefore **before, Status *status) {
  TRY(graph_check_node(graph, node, status));
  if (node->id <= SINK_ID) return status_invalid(status, "Node '%s' cannot be extended", node->name);
  for (int i = 0; i < num_more_inputs; i++)
    TRY(graph_check_output_tensor(graph, more_inputs[i].node, more_inputs[i].index, status));
  if (!mem_grow((void **)&graph->extended, &graph->extended_capacity, graph->num_extended + 1,
                sizeof *graph->extended))
    return oom(status);
  GraphMark mark = graph_mark(graph);
  NodeBefore *made = arena_alloc(graph->arena, sizeof *made);
  bool ok = (made || oom(status)) && extend(graph, node, def, more_inputs, num_more_inputs, made, status);
  if (!ok) return graph_rollback(graph, mark);
  graph->extended[graph->num_extended++] = node;
  int first = made->fields.num_inputs;
  for (int i = 0; i < num_more_inputs; i++) {
    Edge *edge;
    if (graph_add_data_edge(graph, more_inputs[i].node, more_inputs[i].index, node, first + i, false, &edge,
                            status))
      continue;
    graph_shrink_node(graph, made);
    return false;
  }
  *before = made;
  return true;
}

void graph_shrink_node(Graph *graph, const NodeBefore *before) {
  Node *node = before->node;
  for (int i = before->fields.num_inputs; i < node->num_inputs; i++)
    graph_remove_edge(graph, node->inputs[i]);
  Edge **inputs = node->inputs;
  take_fields(node, &before->fields);
  if (node->num_inputs > 0) memcpy(node->inputs, inputs, (size_t)node->num_inputs * sizeof(Edge *));
  node_entry(node)->own_inputs = before->own_inputs;
  node_entry(node)->input_capacity = before->input_capacity;
  graph->num_extended--;
  graph->mutations++;
  graph_forget_values(graph);
}

Node *graph_extended_node(const Graph *graph, int64_t index) {
  return index >= 0 && index < graph->num_extended ? graph->extended[index] : NULL;
}

static bool find_input(const Graph *graph, const char *input, NodeOutput *output, Status *status) {
  Str name;
  int index;
  if (!node_parse_input(input, &name, &index))
    return status_invalid(status, "Input '%s' is malformed", input);
  Node *node = string_map_find_bytes(&graph->names, name.data, name.length);
  *output = (NodeOutput){node, index};
  return node || status_invalid(status, "Node '%.*s' is not in the graph", (int)name.length, name.data);
}

bool graph_follow_extension(Graph *graph, Node *node, const NodeDef *def, Status *status) {
  size_t data = 0, first = (size_t)node->num_inputs;
  while (data < def->n_input && def->input[data][0] != '^') data++;
  size_t count = data > first ? data - first : 0;
  NodeOutput *more = mem_calloc((int64_t)count + 1, sizeof *more);
  const NodeBefore *before;
  bool ok = more || oom(status);
  for (size_t i = 0; ok && i < count; i++) ok = find_input(graph, def->input[first + i], &more[i], status);
  ok = ok && graph_extend_node(graph, node, def, more, (int)count, &before, status);
  mem_free(more);
  if (!ok) return false;
  if (count > 0 || node->num_outputs > before->fields.num_outputs) return true;
  graph_shrink_node(graph, before);
  return status_invalid(status,
                        "GraphDef argument to Extend includes node '%s', which was created by a previous "
                        "call to Create or Extend in this session.",
                        node->name);
}
