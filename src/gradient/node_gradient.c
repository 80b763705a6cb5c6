/* The gradient of one node as a function that computes the node again, for callers that have a NodeDef but
 * no graph node. */
#include "gradient/body_work.h"
#include "gradient/graph_gradients.h"

typedef struct NodeGradient {
  BodyWork work;
  const GradientQuery *query;
  NodeOutput *args; /* the inputs, then a gradient for each output */
  NodeOutput *ys, *dys, *dxs;
  int num_inputs, num_outputs;
} NodeGradient;

static bool oom(const NodeGradient *g) { return status_oom(g->work.status, "the gradient of an op"); }

static bool add_node(NodeGradient *g, Node **node) {
  BodyWork *work = &g->work;
  DataType *input_types, *output_types;
  TRY(node_def_types(g->query->node, g->query->op->def, work->arena, &input_types, &g->num_inputs,
                     &output_types, &g->num_outputs, work->status));
  int num_x = g->num_inputs, num_y = g->num_outputs;
  g->args = arena_calloc(work->arena, num_x + num_y + 1, sizeof *g->args);
  g->ys = arena_calloc(work->arena, num_y + 1, sizeof *g->ys);
  g->dys = arena_calloc(work->arena, num_y + 1, sizeof *g->dys);
  g->dxs = arena_calloc(work->arena, num_x + 1, sizeof *g->dxs);
  if (!g->args || !g->ys || !g->dys || !g->dxs) return oom(g);
  for (int i = 0; i < num_x; i++) TRY(body_work_placeholder(work, "x", input_types[i], &g->args[i]));
  for (int i = 0; i < num_y; i++)
    TRY(body_work_placeholder(work, "dy", output_types[i], &g->args[num_x + i]));
  NodeDef def = *g->query->node;
  def.n_input = 0;
  def.name = (char *)graph_unique_name(work->graph, def.op);
  if (!def.name) return oom(g);
  return graph_add_operation(work->graph, &def, g->args, num_x, NULL, 0, node, work->status);
}

static bool build(NodeGradient *g, GradientEntry *entry) {
  BodyWork *work = &g->work;
  GradientLibrary *library = work->library;
  Node *node;
  int num_ys = 0;
  TRY(add_node(g, &node));
  bool *no_flow = arena_calloc(library->arena, g->num_inputs + 1, sizeof *no_flow);
  if (!no_flow) return oom(g);
  for (int i = 0; i < g->num_outputs; i++) {
    if ((g->query->flows && !g->query->flows[i]) || !gradient_flows_through(node->output_types[i])) continue;
    g->ys[num_ys] = (NodeOutput){node, i};
    g->dys[num_ys++] = g->args[g->num_inputs + i];
  }
  if (library->depth == GRADIENT_MAX_FUNCTION_DEPTH) return gradient_too_deep(node->def->op, work->status);
  library->depth++;
  bool ok = gradients_add(library, work->site, g->ys, num_ys, g->args, g->num_inputs, g->dys,
                          &(GradientOptions){.scope = ""}, g->dxs, work->status);
  library->depth--;
  TRY(ok);
  for (int i = 0; i < g->num_inputs; i++) {
    no_flow[i] = !g->dxs[i].node;
    if (no_flow[i]) TRY(body_work_no_gradient(work, g->args[i], &g->dxs[i]));
  }
  FunctionDef *function;
  const char *name = arena_printf(work->arena, "%sGradient", g->query->node->op);
  if (!name) return oom(g);
  TRY(body_work_function(work, name, g->args, g->num_inputs + g->num_outputs, g->dxs, g->num_inputs,
                         library->arena, &function));
  *entry = (GradientEntry){.function = function, .no_flow = no_flow};
  return true;
}

bool gradient_of_node(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                      Status *status) {
  NodeGradient g = {.query = query};
  bool ok = body_work_new(&g.work, library, status) && build(&g, entry);
  body_work_free(&g.work);
  return ok;
}
