/* Gradients, in PART_TRAINING: what the calls of c_api_training.c do. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "gradient/graph_gradients.h"
#include "graph/node_class.h"
#include "ops/op_table.h"

/* ---- ops without gradient ---- */

/* Ops at which gradients end: those that TensorFlow's C++ gradients treat so, and those that appear in
 * gradients (FloorDiv, OnesLike, Range), so that second derivatives exist. As in TensorFlow, any other op
 * without gradient is an error. */
static const char *const kConstantOps[] = {"ApproximateEqual",
                                           "BroadcastGradientArgs",
                                           "ConcatOffset",
                                           "Const",
                                           "Equal",
                                           "Floor",
                                           "FloorDiv",
                                           "Greater",
                                           "GreaterEqual",
                                           "InvertPermutation",
                                           "Less",
                                           "LessEqual",
                                           "LogicalAnd",
                                           "LogicalNot",
                                           "LogicalOr",
                                           "NotEqual",
                                           "OneHot",
                                           "OnesLike",
                                           "Range",
                                           "Rank",
                                           "Shape",
                                           "ShapeN",
                                           "Size",
                                           "StopGradient",
                                           "ZerosLike"};

static bool is_constant_op(const char *op) {
  for (size_t i = 0; i < sizeof kConstantOps / sizeof *kConstantOps; i++) {
    if (strcmp(kConstantOps[i], op) == 0) return true;
  }
  return false;
}

static bool is_built_in(const OpRegistration *registration) {
  for (int i = 0; i < kOpTableSize; i++) {
    if (kOpTable[i].registration == registration) return true;
  }
  return false;
}

/* Whether no gradient flows through the node; `undefined` receives whether that is an error. */
static bool ends_flow(const Graph *graph, const Node *node, bool *undefined) {
  const OpRegistration *registration = node->op->registration;
  *undefined = false;
  if (!registration || registration->gradient != NO_GRADIENT) return false;
  if (graph_find_gradient_def(graph, node->def->op)) return false;
  *undefined = !is_constant_op(node->def->op) && is_built_in(registration);
  return true;
}

typedef struct Search {
  const Graph *graph;
  uint8_t *flags; /* per node id */
  Node **queue;
  int64_t length;
} Search;

enum { DEPENDS = 1, REACHED = 2 };

static void visit(Search *search, Node *node, uint8_t flag) {
  if (search->flags[node->id] & flag) return;
  search->flags[node->id] |= flag;
  search->queue[search->length++] = node;
}

/* Marks the nodes that are reachable from an x. */
static void mark_dependent(Search *search, const NodeOutput *xs, int nx) {
  for (int i = 0; i < nx; i++) {
    for (int64_t k = 0; k < xs[i].node->num_out_edges; k++) {
      const Edge *edge = xs[i].node->out_edges[k];
      if (!edge_is_control(edge) && edge->src_output == xs[i].index) visit(search, edge->dst, DEPENDS);
    }
  }
  for (int64_t head = 0; head < search->length; head++) {
    const Node *node = search->queue[head];
    for (int64_t k = 0; k < node->num_out_edges; k++) {
      if (!edge_is_control(node->out_edges[k])) visit(search, node->out_edges[k]->dst, DEPENDS);
    }
  }
  search->length = 0;
}

/* Walks from the ys back to the xs, as far as gradients flow. */
static bool check_flow(Search *search, const NodeOutput *ys, int ny, Status *status) {
  for (int i = 0; i < ny; i++) {
    if (search->flags[ys[i].node->id] & DEPENDS) visit(search, ys[i].node, REACHED);
  }
  for (int64_t head = 0; head < search->length; head++) {
    const Node *node = search->queue[head];
    bool undefined;
    if (ends_flow(search->graph, node, &undefined)) {
      if (!undefined) continue;
      return status_set(status, CODE_NOT_FOUND,
                        "No gradient defined for op: %s. Please see "
                        "https://www.tensorflow.org/code/tensorflow/cc/gradients/README.md for instructions "
                        "on how to "
                        "add C++ gradients.",
                        node->def->op);
    }
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (node_is_switch(node) && i > 0) continue; /* where a value goes has no gradient */
      if (edge && search->flags[edge->src->id] & DEPENDS) visit(search, edge->src, REACHED);
    }
  }
  return true;
}

static bool check_ops(const Graph *graph, const NodeOutput *ys, int ny, const NodeOutput *xs, int nx,
                      Arena *arena, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  Search search = {graph, arena_calloc(arena, ids, 1), arena_calloc(arena, ids, sizeof(Node *)), 0};
  if (!search.flags || !search.queue) return status_oom(status, "gradients");
  mark_dependent(&search, xs, nx);
  return check_flow(&search, ys, ny, status);
}

/* ---- adding gradients ---- */

static bool add_gradients(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x,
                          int nx, const TF_Output *dx, const GradientStops *stops, TF_Output *dy,
                          Arena *arena, Status *status) {
  NodeOutput *ys, *xs, *stopped = NULL, *dys = NULL;
  if (!arena) return status_oom(status, "gradients");
  for (int i = 0; i < ny; i++) TRY(check_output_index(y[i], status));
  for (int i = 0; i < nx; i++) TRY(check_output_index(x[i], status));
  TRY(to_node_outputs(y, ny, arena, &ys, status));
  TRY(to_node_outputs(x, nx, arena, &xs, status));
  if (dx) TRY(to_node_outputs(dx, ny, arena, &dys, status));
  if (stops) TRY(to_node_outputs(stops->outputs, stops->count, arena, &stopped, status));
  NodeOutput *results = arena_calloc(arena, nx, sizeof *results);
  if (!results) return status_oom(status, "gradients");
  if (!stops) {
    TRY(graph_check_differentiable(g->graph, ys, ny, xs, nx, status));
    TRY(check_ops(g->graph, ys, ny, xs, nx, arena, status));
  }
  GradientOptions options = {.scope = prefix, .stops = stopped, .num_stops = stops ? stops->count : 0};
  TRY(graph_add_gradients(g->graph, ys, ny, xs, nx, dys, &options, results, status));
  for (int i = 0; i < nx; i++) dy[i] = from_node_output(results[i]);
  return true;
}

void add_graph_gradients(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x,
                         int nx, const TF_Output *dx, const GradientStops *stops, TF_Output *dy,
                         TF_Status *status) {
  Arena *arena = arena_new();
  lock_graph(g);
  reported(add_gradients(g, prefix, y, ny, x, nx, dx, stops, dy, arena, &status->status));
  unlock_graph(g);
  arena_free(arena);
}
