/* Gradients of functions: the body is spliced into a graph of its own, differentiated there, and made a
 * function again. */
#include "gradient/function_gradient.h"

#include <string.h>

#include "base/alloc.h"
#include "function/function_splice.h"
#include "function/graph_to_function.h"
#include "gradient/gradient_internal.h"
#include "gradient/graph_gradients.h"
#include "graph/node_builder.h"

typedef struct FunctionGradient {
  GradientLibrary *library;
  Graph *graph; /* where the body and its gradient are built */
  GradientSite site;
  Arena *arena; /* freed when the gradient has been copied */
  Status *status;
  FunctionBody *body; /* owned */
  NodeOutput *inputs; /* the arguments, then one gradient per result */
  NodeOutput *ys, *dxs;
  bool *no_flow; /* per argument; lives as long as the library */
} FunctionGradient;

static bool oom(FunctionGradient *g) { return status_oom(g->status, "the gradient of a function"); }

static bool add_placeholder(FunctionGradient *g, const char *name, DataType type, NodeOutput *output) {
  NodeBuilder b;
  node_builder(&b, g->graph, "Placeholder", graph_unique_name(g->graph, name));
  node_builder_type(&b, "dtype", type);
  output->index = 0;
  return node_builder_finish(&b, &output->node, g->status);
}

/* Adds the arguments, the body, and an incoming gradient for each result. */
static bool build(FunctionGradient *g) {
  const FunctionBody *body = g->body;
  int total = body->num_args + body->num_rets;
  g->inputs = arena_calloc(g->arena, total + 1, sizeof(NodeOutput));
  g->ys = arena_calloc(g->arena, body->num_rets + 1, sizeof(NodeOutput));
  g->dxs = arena_calloc(g->arena, body->num_args + 1, sizeof(NodeOutput));
  g->no_flow = arena_calloc(g->library->arena, body->num_args + 1, sizeof(bool));
  if (!g->inputs || !g->ys || !g->dxs || !g->no_flow) return oom(g);
  for (int i = 0; i < body->num_args; i++)
    TRY(add_placeholder(g, body->arg_nodes[i]->name, body->arg_types[i], &g->inputs[i]));
  const SpliceOptions options = {0};
  TRY(function_splice_body(g->graph, body, g->inputs, &options, g->ys, g->status));
  for (int i = 0; i < body->num_rets; i++) {
    const char *ret = body->ret_nodes[i]->name;
    size_t length = strlen(ret);
    const char *mark = strstr(ret, "_RetVal");
    if (mark) length = (size_t)(mark - ret);
    const char *name =
        arena_printf(g->arena, "d%.*s%s", (int)length, ret, !mark ? "" : mark + strlen("_RetVal"));
    if (!name) return oom(g);
    TRY(add_placeholder(g, name, body->ret_types[i], &g->inputs[body->num_args + i]));
  }
  return true;
}

/* A float 0, which represents "no gradient" of a resource. */
static bool add_zero(FunctionGradient *g, NodeOutput *output) {
  NodeBuilder b;
  node_builder(&b, g->graph, "Const", graph_unique_name(g->graph, "zero"));
  node_builder_scalar(&b, DT_FLOAT, 0);
  output->index = 0;
  return node_builder_finish(&b, &output->node, g->status);
}

static bool fill_zeros(FunctionGradient *g) {
  for (int i = 0; i < g->body->num_args; i++) {
    if (g->dxs[i].node) continue;
    g->no_flow[i] = true;
    if (dtype_base(g->body->arg_types[i]) == DT_RESOURCE) {
      TRY(add_zero(g, &g->dxs[i]));
    } else {
      TRY(gradient_add_op(g->graph, "ZerosLike", "", &g->inputs[i], 1, &g->dxs[i], g->status));
    }
  }
  return true;
}

static bool make_function(FunctionGradient *g, const char *name, Arena *arena, FunctionDef **gradient) {
  const FunctionBody *body = g->body;
  const char **names = arena_calloc(g->arena, body->num_args + 1, sizeof(char *));
  if (!name) name = arena_printf(g->arena, "%sGrad", body->name);
  if (!names || !name) return oom(g);
  for (int i = 0; i < body->num_args; i++) {
    names[i] = arena_printf(g->arena, "d%s", body->arg_nodes[i]->name);
    if (!names[i]) return oom(g);
  }
  GraphToFunctionOptions options = {.name = name,
                                    .inputs = g->inputs,
                                    .num_inputs = body->num_args + body->num_rets,
                                    .outputs = g->dxs,
                                    .num_outputs = body->num_args,
                                    .output_names = names};
  FunctionDef *made;
  TRY(graph_to_function(g->graph, &options, g->arena, &made, g->status));
  *gradient = proto_copy(made, arena);
  return *gradient || oom(g);
}

static bool differentiate(FunctionGradient *g, const FunctionDef *function, const AttrEntry *const *attrs,
                          int num_attrs, const char *name, Arena *arena, FunctionDef **gradient) {
  if (!g->graph || !g->arena) return oom(g);
  TRY(gradient_site_init(&g->site, g->graph, g->status));
  TRY(function_body_new_to_splice(g->library->functions, function, attrs, num_attrs, &g->body, g->status));
  TRY(build(g));
  const FunctionBody *body = g->body;
  TRY(gradients_add(g->library, &g->site, g->ys, body->num_rets, g->inputs, body->num_args,
                    g->inputs + body->num_args, &(GradientOptions){.scope = ""}, g->dxs, g->status));
  TRY(fill_zeros(g));
  return make_function(g, name, arena, gradient);
}

bool gradient_too_deep(const char *function, Status *status) {
  return status_invalid(status,
                        "The gradient of function %s needs gradients of functions more than %d deep; is it "
                        "recursive?",
                        function, GRADIENT_MAX_FUNCTION_DEPTH);
}

bool gradient_of_function(GradientLibrary *library, const FunctionDef *function,
                          const AttrEntry *const *attrs, int num_attrs, const char *name, Arena *arena,
                          FunctionDef **gradient, const bool **no_flow, Status *status) {
  if (library->depth == GRADIENT_MAX_FUNCTION_DEPTH)
    return gradient_too_deep(function->signature->name, status);
  FunctionGradient g = {.library = library, .arena = arena_new(), .status = status};
  g.graph =
      library->functions ? graph_new_body(library->functions) : graph_new_with_ops(op_registry_global());
  library->depth++;
  bool ok = differentiate(&g, function, attrs, num_attrs, name, arena, gradient);
  library->depth--;
  *no_flow = g.no_flow;
  function_body_free(g.body);
  gradient_site_clear(&g.site);
  graph_free(g.graph);
  arena_free(g.arena);
  return ok;
}

bool function_gradient(Graph *functions, const FunctionDef *function, const AttrEntry *const *attrs,
                       int num_attrs, const char *name, Arena *arena, FunctionDef **gradient,
                       Status *status) {
  GradientLibrary library;
  const bool *no_flow;
  TRY(gradient_library_init(&library, functions, status));
  bool ok =
      gradient_of_function(&library, function, attrs, num_attrs, name, arena, gradient, &no_flow, status);
  gradient_library_clear(&library, ok);
  return ok;
}
