/* The entry to graph gradients: checks the caller's values, chooses names, and adds the nodes for sums and
 * seeds. */
#include <string.h>

#include "base/alloc.h"
#include "gradient/frame_scope.h"
#include "gradient/graph_gradients.h"
#include "graph/node_builder.h"

static bool check_output(const Graph *graph, NodeOutput value, const char *what, int i, Status *status) {
  if (!value.node) return status_invalid(status, "%s %d is null", what, i);
  TRY(graph_check_node(graph, value.node, status));
  if (value.node->op && value.index >= 0 && value.index < value.node->num_outputs) return true;
  return status_invalid(status, "%s %d: node '%s' has %d outputs, no output %d", what, i, value.node->name,
                        value.node->num_outputs, value.index);
}

static bool check_values(const Graph *graph, const NodeOutput *ys, int num_ys, const NodeOutput *xs,
                         int num_xs, const NodeOutput *dys, Status *status) {
  for (int i = 0; i < num_ys; i++) TRY(check_output(graph, ys[i], "Output", i, status));
  for (int i = 0; i < num_xs; i++) TRY(check_output(graph, xs[i], "Input", i, status));
  for (int i = 0; dys && i < num_ys; i++) {
    if (!dys[i].node) continue;
    TRY(check_output(graph, dys[i], "Gradient", i, status));
    int have = dtype_base(node_output_type(dys[i])), want = dtype_base(node_output_type(ys[i]));
    if (have != want)
      return status_invalid(status, "Gradient %d has type %s, but its output has type %s", i,
                            dtype_name(have), dtype_name(want));
  }
  return true;
}

/* The first node whose name is the scope or begins with it and '/'. */
static const Node *find_in_scope(const Graph *graph, const char *scope) {
  size_t length = strlen(scope);
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (!node || strncmp(node->name, scope, length) != 0) continue;
    if (node->name[length] == 0 || node->name[length] == '/') return node;
  }
  return NULL;
}

/* The scope to use: a new one, or the given one if no node uses it. */
static bool choose_scope(Graph *graph, const char *scope, const char **chosen, Status *status) {
  *chosen = graph_unique_name(graph, !scope ? "gradients" : scope);
  if (!*chosen) return status_oom(status, "gradients");
  if (!scope || strcmp(*chosen, scope) == 0) return true;
  const Node *node = find_in_scope(graph, scope);
  return status_invalid(status, "prefix [%s] conflicts with existing node in the graph named [%s]", scope,
                        !node ? scope : node->name);
}

bool graph_add_gradients(Graph *graph, const NodeOutput *ys, int num_ys, const NodeOutput *xs, int num_xs,
                         const NodeOutput *dys, const GradientOptions *options, NodeOutput *dxs,
                         Status *status) {
  GradientOptions chosen = options ? *options : (GradientOptions){0};
  GradientLibrary library;
  GradientSite site;
  TRY(check_values(graph, ys, num_ys, xs, num_xs, dys, status));
  for (int i = 0; i < chosen.num_stops; i++) TRY(check_output(graph, chosen.stops[i], "Stop", i, status));
  TRY(choose_scope(graph, chosen.scope, &chosen.scope, status));
  TRY(gradient_library_init(&library, graph_library(graph), status));
  library.source = chosen.scope;
  FrameScope scope;
  bool ok = gradient_site_init(&site, graph, status) && frame_scope_init(&scope, &site, ys, num_ys);
  site.scope = ok && scope.depth > 0 ? &scope : NULL;
  ok = ok && gradients_add(&library, &site, ys, num_ys, xs, num_xs, dys, &chosen, dxs, status);
  gradient_site_clear(&site);
  gradient_library_clear(&library, ok);
  return ok;
}

bool graph_check_differentiable(const Graph *graph, const NodeOutput *ys, int num_ys, const NodeOutput *xs,
                                int num_xs, Status *status) {
  bool ok = false;
  TRY(check_values(graph, ys, num_ys, xs, num_xs, NULL, status));
  int64_t ids = graph_num_node_ids(graph), head = 0, tail = 0;
  uint8_t *seen = mem_calloc(ids, 1);
  Node **queue = mem_calloc(ids, sizeof(Node *));
  if (!seen || !queue) {
    status_oom(status, "gradients");
    goto done;
  }
  for (int i = 0; i < num_ys; i++) {
    if (!seen[ys[i].node->id]) queue[tail++] = ys[i].node;
    seen[ys[i].node->id] = 1;
  }
  while (head < tail) {
    const Node *node = queue[head++];
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (!edge || seen[edge->src->id]) continue;
      seen[edge->src->id] = 1;
      queue[tail++] = edge->src;
    }
  }
  for (int i = 0; i < num_xs; i++) {
    if (seen[xs[i].node->id]) continue;
    status_invalid(status,
                   "Cannot compute the partial derivative for node '%s' as it's unreachable from the output "
                   "node(s).",
                   xs[i].node->name);
    goto done;
  }
  ok = true;
done:
  mem_free(seen);
  mem_free(queue);
  return ok;
}

bool gradient_add_op(Graph *graph, const char *op, const char *scope, const NodeOutput *inputs,
                     int num_inputs, NodeOutput *output, Status *status) {
  NodeBuilder b;
  StrBuf name = {0};
  strbuf_printf(&name, "%s%s%s", scope, scope[0] == 0 ? "" : "/", op);
  node_builder(&b, graph, op, name.failed ? NULL : graph_unique_name(graph, strbuf_text(&name)));
  strbuf_free(&name);
  node_builder_type(&b, "T", node_output_type(inputs[0]));
  if (num_inputs > 1) node_builder_int(&b, "N", num_inputs);
  node_builder_inputs(&b, inputs, num_inputs);
  output->index = 0;
  return node_builder_finish(&b, &output->node, status);
}
