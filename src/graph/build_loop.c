#include "graph/build_loop.h"

#include <string.h>

#include "graph/graph_internal.h"
#include "graph/node_builder.h"

typedef struct LoopBuilder {
  Graph *graph;
  const LoopPlan *plan;
  Arena *arena;
  Status *status;
  const char *scope;
  Node **enters, **merges, **exits;
  NodeOutput condition; /* what LoopCond reads */
  NodeOutput loop_cond;
  NodeOutput *values; /* of the variables, for a part */
  NodeOutput *next;
} LoopBuilder;

static bool oom(const LoopBuilder *b) { return status_oom(b->status, "a loop"); }

static const char *scoped(const LoopBuilder *b, const char *name) {
  return b->scope[0] == 0 ? name : arena_printf(b->arena, "%s/%s", b->scope, name);
}

/* An op with the value's type as attr T. */
static void begin_node(const LoopBuilder *b, NodeBuilder *node, const char *op, DataType type) {
  const char *name = scoped(b, op);
  node_builder(node, b->graph, op, !name ? NULL : graph_unique_name(b->graph, name));
  if (type != DT_INVALID) node_builder_type(node, "T", type);
}

static bool open_variable(LoopBuilder *b, int i) {
  NodeBuilder node;
  NodeOutput start = b->plan->inputs[i];
  begin_node(b, &node, "Enter", node_output_type(start));
  node_builder_attr(&node, "frame_name",
                    attr_value_string(node_builder_arena(&node), b->plan->name, strlen(b->plan->name)));
  node_builder_input(&node, start);
  return node_builder_finish(&node, &b->enters[i], b->status);
}

/* The second input becomes that of a NextIteration. */
static bool merge_variable(LoopBuilder *b, int i) {
  NodeBuilder node;
  NodeOutput enter = {b->enters[i], 0};
  begin_node(b, &node, "Merge", node_output_type(enter));
  node_builder_int(&node, "N", 2);
  node_builder_input(&node, enter);
  node_builder_input(&node, enter);
  return node_builder_finish(&node, &b->merges[i], b->status);
}

/* Copies a part into scope/name. What reads none of its nodes waits for the first variable. */
static bool add_part(LoopBuilder *b, const char *name, const LoopPart *part, int num_outputs,
                     NodeOutput *outputs) {
  int count = b->plan->num_variables;
  const char *prefix = scoped(b, name);
  if (prefix) prefix = graph_unique_name(b->graph, prefix);
  if (!prefix) return oom(b);
  ImportOptions options = {.prefix = prefix,
                           .input_map_keys = part->inputs,
                           .input_map_values = b->values,
                           .num_input_map = count,
                           .control_dependencies = &b->values[0].node,
                           .num_control_dependencies = 1,
                           .return_outputs = part->outputs,
                           .num_return_outputs = num_outputs,
                           .skip_mapped_nodes = true};
  ImportResults results;
  TRY(graph_import(b->graph, part->def, false, &options, b->arena, &results, b->status));
  memcpy(outputs, results.return_outputs, (size_t)num_outputs * sizeof *outputs);
  return true;
}

static bool add_condition(LoopBuilder *b) {
  NodeBuilder node;
  TRY(add_part(b, "cond", &b->plan->condition, 1, &b->condition));
  int type = dtype_base(node_output_type(b->condition));
  if (type != DT_BOOL)
    return status_invalid(b->status, "BuildWhileLoop: 'cond' argument must return a boolean output, got %s",
                          dtype_name(type));
  begin_node(b, &node, "LoopCond", DT_INVALID);
  node_builder_input(&node, b->condition);
  return node_builder_finish(&node, &b->loop_cond.node, b->status);
}

static bool split_variable(LoopBuilder *b, int i) {
  NodeBuilder node;
  NodeOutput merged = {b->merges[i], 0};
  begin_node(b, &node, "Switch", node_output_type(merged));
  node_builder_input(&node, merged);
  node_builder_input(&node, b->loop_cond);
  b->values[i].index = 1;
  return node_builder_finish(&node, &b->values[i].node, b->status);
}

static bool close_variable(LoopBuilder *b, int i) {
  NodeBuilder node;
  Node *next;
  begin_node(b, &node, "NextIteration", node_output_type(b->next[i]));
  node_builder_input(&node, b->next[i]);
  return node_builder_finish(&node, &next, b->status) &&
         graph_update_edge(b->graph, next, 0, b->merges[i], 1, b->status);
}

static bool leave(LoopBuilder *b, int i) {
  NodeBuilder node;
  begin_node(b, &node, "Exit", node_output_type(b->values[i]));
  node_builder_input(&node, (NodeOutput){b->values[i].node, 0});
  return node_builder_finish(&node, &b->exits[i], b->status);
}

static bool each(LoopBuilder *b, bool (*add)(LoopBuilder *, int)) {
  for (int i = 0; i < b->plan->num_variables; i++) TRY(add(b, i));
  return true;
}

static bool make_room(LoopBuilder *b) {
  int64_t count = b->plan->num_variables;
  b->enters = arena_calloc(b->arena, count + 1, sizeof(Node *));
  b->merges = arena_calloc(b->arena, count + 1, sizeof(Node *));
  b->exits = arena_calloc(b->arena, count + 1, sizeof(Node *));
  b->values = arena_calloc(b->arena, count + 1, sizeof(NodeOutput));
  b->next = arena_calloc(b->arena, count + 1, sizeof(NodeOutput));
  b->scope = b->plan->name[0] == 0 ? "" : graph_unique_name(b->graph, b->plan->name);
  return (b->enters && b->merges && b->exits && b->values && b->next && b->scope) || oom(b);
}

static bool build(LoopBuilder *b) {
  const LoopPlan *plan = b->plan;
  int count = plan->num_variables;
  TRY(make_room(b));
  TRY(each(b, open_variable));
  TRY(each(b, merge_variable));
  for (int i = 0; i < count; i++) b->values[i] = (NodeOutput){b->merges[i], 0};
  TRY(add_condition(b));
  TRY(each(b, split_variable));
  TRY(add_part(b, "body", &plan->body, count, b->next));
  TRY(each(b, close_variable));
  TRY(each(b, leave));
  const WhileContext *added;
  const WhileContext context = {.frame_name = plan->name,
                                .num_loop_vars = count,
                                .enter_nodes = b->enters,
                                .exit_nodes = b->exits,
                                .cond_output = b->condition,
                                .body_inputs = b->values,
                                .body_outputs = b->next};
  return graph_add_while_context(b->graph, &context, &added, b->status);
}

bool graph_build_loop(Graph *graph, const LoopPlan *plan, Arena *arena, NodeOutput *outputs, Status *status) {
  LoopBuilder b = {.graph = graph, .plan = plan, .arena = arena, .status = status};
  int64_t first = graph_num_node_ids(graph);
  FunctionMark functions = graph_function_mark(graph);
  if (build(&b)) {
    for (int i = 0; i < plan->num_variables; i++) outputs[i] = (NodeOutput){b.exits[i], 0};
    return true;
  }
  for (int64_t id = graph_num_node_ids(graph); id > first; id--)
    graph_remove_node(graph, graph_node(graph, id - 1));
  graph_drop_functions(graph, functions);
  return false;
}
