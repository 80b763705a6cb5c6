/* The records of while loops, and inputs that are added to a While node later. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/node_class.h"

static bool check_context(const Graph *graph, const WhileContext *context, Status *status) {
  if (context->num_loop_vars < 0)
    return status_invalid(status, "A loop cannot have a negative number of variables");
  TRY(graph_check_output_tensor(graph, context->cond_output.node, context->cond_output.index, status));
  for (int i = 0; i < context->num_loop_vars; i++) {
    NodeOutput input = context->body_inputs[i], output = context->body_outputs[i];
    TRY(graph_check_node(graph, context->enter_nodes[i], status));
    TRY(graph_check_node(graph, context->exit_nodes[i], status));
    TRY(graph_check_output_tensor(graph, input.node, input.index, status));
    TRY(graph_check_output_tensor(graph, output.node, output.index, status));
  }
  return true;
}

static void *copy_array(Arena *arena, const void *array, int count, size_t size) {
  void *copy = arena_alloc(arena, (int64_t)count * (int64_t)size);
  if (copy && count > 0) memcpy(copy, array, (size_t)count * size);
  return copy;
}

static bool copy_context(Graph *graph, const WhileContext *context, WhileContext **out, Status *status) {
  Arena *arena = graph->arena;
  int count = context->num_loop_vars;
  WhileContext *copy = arena_alloc(arena, sizeof *copy);
  if (!copy) return status_oom(status, "a loop");
  *copy = *context;
  copy->frame_name = arena_strdup(arena, context->frame_name);
  copy->enter_nodes = copy_array(arena, context->enter_nodes, count, sizeof(Node *));
  copy->exit_nodes = copy_array(arena, context->exit_nodes, count, sizeof(Node *));
  copy->body_inputs = copy_array(arena, context->body_inputs, count, sizeof(NodeOutput));
  copy->body_outputs = copy_array(arena, context->body_outputs, count, sizeof(NodeOutput));
  if (!copy->frame_name || !copy->enter_nodes || !copy->exit_nodes || !copy->body_inputs ||
      !copy->body_outputs)
    return status_oom(status, "a loop");
  *out = copy;
  return string_map_set(&graph->frame_names, copy->frame_name, copy, status);
}

bool graph_add_while_context(Graph *graph, const WhileContext *context, const WhileContext **out,
                             Status *status) {
  *out = NULL;
  if (string_map_contains(&graph->frame_names, context->frame_name))
    return status_invalid(status, "WhileContext with frame name '%s' already exists", context->frame_name);
  TRY(check_context(graph, context, status));
  if (!mem_grow((void **)&graph->while_contexts, &graph->while_context_capacity,
                graph->num_while_contexts + 1, sizeof *graph->while_contexts)) {
    return status_oom(status, "a loop");
  }
  GraphMark mark = graph_mark(graph);
  WhileContext *copy = NULL;
  if (!copy_context(graph, context, &copy, status)) return graph_rollback(graph, mark);
  graph->while_contexts[graph->num_while_contexts++] = copy;
  for (int i = 0; i < copy->num_loop_vars; i++)
    node_entry(copy->exit_nodes[i])->while_context = (int32_t)graph->num_while_contexts;
  *out = copy;
  return true;
}

const WhileContext *graph_find_while_context(const Graph *graph, const char *frame_name) {
  return string_map_find(&graph->frame_names, frame_name);
}

const WhileContext *node_while_context(const Node *node) {
  int32_t index = ((const NodeEntry *)node)->while_context;
  return node->graph && index > 0 ? node->graph->while_contexts[index - 1] : NULL;
}

void graph_forget_while_contexts(Graph *graph) {
  string_map_free(&graph->frame_names);
  graph->num_while_contexts = 0;
}

bool graph_add_while_input(Graph *graph, Node *src, int src_output, Node *dst, Edge **edge, Status *status) {
  *edge = NULL;
  TRY(graph_check_node(graph, dst, status));
  if (!node_is_while(dst)) {
    StrBuf text = {0};
    node_print(dst, &text);
    if (strbuf_ok(&text, status)) {
      status_set(status, CODE_INTERNAL, "dst argument to AddWhileEdgeHack should be a While op, got: %s",
                 strbuf_text(&text));
    }
    strbuf_free(&text);
    return false;
  }
  int connected = 0;
  for (int i = 0; i < dst->num_inputs; i++) connected += dst->inputs[i] != NULL;
  return graph_add_data_edge(graph, src, src_output, dst, connected, true, edge, status);
}
