/* Loops: TF_NewWhile, TF_FinishWhile, TF_AbortWhile. */
#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "graph/build_loop.h"
#include "graph/node_builder.h"

/* ---- the graphs of a loop ---- */

/* Frees what a loop that is being built consists of. */
static void free_loop(const TF_WhileParams *params, TF_Graph *parent, TF_Output *inputs) {
  TF_DeleteGraph(params->cond_graph);
  TF_DeleteGraph(params->body_graph);
  mem_free((void *)params->cond_inputs);
  mem_free((void *)params->body_inputs);
  mem_free(params->body_outputs);
  mem_free(inputs);
  if (parent) TF_DeleteGraph(parent);
}

/* A placeholder for each variable. */
static bool add_inputs(TF_Graph *graph, const char *name, const TF_Output *inputs, int count,
                       TF_Output *placeholders, Status *status) {
  for (int i = 0; i < count; i++) {
    NodeBuilder b;
    NodeOutput placeholder = {NULL, 0};
    StrBuf text = {0};
    strbuf_printf(&text, "%s%d", name, i);
    node_builder(&b, graph->graph, "Placeholder", text.failed ? NULL : strbuf_text(&text));
    strbuf_free(&text);
    node_builder_type(&b, "dtype", node_output_type(to_node_output(inputs[i])));
    TRY(node_builder_finish(&b, &placeholder.node, status));
    placeholders[i] = from_node_output(placeholder);
  }
  return true;
}

static bool check_inputs(const TF_Graph *g, const TF_Output *inputs, int count, Status *status) {
  if (count <= 0) return status_invalid(status, "TF_NewWhile() must be passed at least one input");
  for (int i = 0; i < count; i++) {
    TRY(check_output_index(inputs[i], status));
    TRY(graph_check_node(g->graph, operation_node(inputs[i].oper), status));
  }
  return true;
}

/* The graphs refer to the parent while the loop is being built. */
static bool connect(TF_Graph *g, const TF_Output *inputs, const TF_WhileParams *params, TF_Output *copy,
                    Status *status) {
  if (!params->cond_graph || !params->body_graph || !params->cond_inputs || !params->body_inputs ||
      !params->body_outputs || !copy)
    return status_oom(status, "a loop");
  for (int i = 0; i < params->ninputs; i++) {
    copy[i] = inputs[i];
    params->body_outputs[i] = (TF_Output){NULL, -1};
  }
  params->cond_graph->parent = params->body_graph->parent = g;
  params->cond_graph->parent_inputs = params->body_graph->parent_inputs = copy;
  return add_inputs(params->cond_graph, "cond_input", inputs, params->ninputs,
                    (TF_Output *)params->cond_inputs, status) &&
         add_inputs(params->body_graph, "body_input", inputs, params->ninputs,
                    (TF_Output *)params->body_inputs, status);
}

TF_WhileParams TF_NewWhile(TF_Graph *g, TF_Output *inputs, int ninputs, TF_Status *status) {
  const TF_WhileParams none = {.cond_output = {NULL, -1}};
  start_status(status);
  lock_graph(g);
  bool ok = check_inputs(g, inputs, ninputs, &status->status);
  unlock_graph(g);
  if (!ok) return none;
  int64_t count = ninputs;
  TF_WhileParams params = {.ninputs = ninputs,
                           .cond_graph = TF_NewGraph(),
                           .cond_inputs = mem_calloc(count, sizeof(TF_Output)),
                           .cond_output = {NULL, -1},
                           .body_graph = TF_NewGraph(),
                           .body_inputs = mem_calloc(count, sizeof(TF_Output)),
                           .body_outputs = mem_calloc(count, sizeof(TF_Output)),
                           .name = NULL};
  TF_Output *copy = mem_calloc(count, sizeof(TF_Output));
  graph_reference(g);
  if (connect(g, inputs, &params, copy, &status->status)) return params;
  free_loop(&params, g, copy);
  return none;
}

/* ---- building ---- */

/* Whether TF_NewWhile made it. */
static bool check_begun(const TF_WhileParams *params, Status *status) {
  if (params->cond_graph && params->body_graph && params->cond_graph->parent &&
      params->cond_graph->parent == params->body_graph->parent &&
      params->cond_graph->parent_inputs == params->body_graph->parent_inputs && params->ninputs > 0 &&
      params->cond_inputs && params->body_inputs && params->body_outputs)
    return true;
  return status_invalid(status, "TF_WhileParams must be created by successful TF_NewWhile() call");
}

static bool check_set(const TF_WhileParams *params, Status *status) {
  if (!params->cond_output.oper)
    return status_invalid(status, "TF_WhileParams `cond_output` field isn't set");
  for (int i = 0; i < params->ninputs; i++) {
    if (!params->body_outputs[i].oper)
      return status_invalid(status, "TF_WhileParams `body_outputs[%d]` field isn't set", i);
  }
  return params->name || status_invalid(status, "TF_WhileParams `name` field is null");
}

static bool name_outputs(const TF_Output *outputs, int count, Arena *arena, const char *const **names,
                         Status *status) {
  const char **texts = arena_calloc(arena, count, sizeof *texts);
  for (int i = 0; texts && i < count; i++) {
    texts[i] = arena_printf(arena, "%s:%d", operation_node(outputs[i].oper)->name, outputs[i].index);
    if (!texts[i]) texts = NULL;
  }
  *names = texts;
  return texts || status_oom(status, "a loop");
}

/* What a graph has, for copying it; the graph is not looked at later. */
static bool read_part(const TF_Graph *graph, const TF_Output *inputs, int num_inputs,
                      const TF_Output *outputs, int num_outputs, Arena *arena, LoopPart *part,
                      Status *status) {
  TRY(name_outputs(inputs, num_inputs, arena, &part->inputs, status));
  TRY(name_outputs(outputs, num_outputs, arena, &part->outputs, status));
  return graph_to_def(graph->graph, arena, &part->def, status);
}

static bool finish_while(const TF_WhileParams *params, Arena *arena, TF_Output *outputs, Status *status) {
  TF_Graph *parent = params->cond_graph->parent;
  int count = params->ninputs;
  LoopPlan plan = {.name = params->name, .num_variables = count};
  NodeOutput *inputs, *exits;
  if (!arena) return status_oom(status, "a loop");
  TRY(check_set(params, status));
  TRY(to_node_outputs(params->cond_graph->parent_inputs, count, arena, &inputs, status));
  TRY(to_node_outputs(params->cond_graph->parent_inputs, count, arena, &exits, status));
  plan.inputs = inputs;
  TRY(read_part(params->cond_graph, params->cond_inputs, count, &params->cond_output, 1, arena,
                &plan.condition, status));
  TRY(read_part(params->body_graph, params->body_inputs, count, params->body_outputs, count, arena,
                &plan.body, status));
  lock_graph(parent);
  bool ok = graph_build_loop(parent->graph, &plan, arena, exits, status);
  unlock_graph(parent);
  for (int i = 0; ok && i < count; i++) outputs[i] = from_node_output(exits[i]);
  return ok;
}

void TF_FinishWhile(const TF_WhileParams *params, TF_Status *status, TF_Output *outputs) {
  start_status(status);
  if (!check_begun(params, &status->status)) return;
  Arena *arena = arena_new();
  reported(finish_while(params, arena, outputs, &status->status));
  arena_free(arena);
  TF_AbortWhile(params);
}

void TF_AbortWhile(const TF_WhileParams *params) {
  free_loop(params, params->cond_graph->parent, params->cond_graph->parent_inputs);
}
