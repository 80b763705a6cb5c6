#include "optimizer/find_gelu.h"

#include <math.h>
#include <string.h>

#include "graph/node_builder.h"
#include "graph/node_evaluate.h"
#include "optimizer/dead_values.h"
#include "optimizer/optimizer_internal.h"

/* Arguments, and both functions of them. */
static const struct {
  float x, exact, by_tanh;
} kPoints[] = {{-9.0f, -1.01572957e-18f, -1.33645959e-28f},
               {-6.0f, -5.91952587e-9f, -8.4396467e-11f},
               {-4.5f, -1.52895291e-5f, -5.13673741e-6f},
               {-3.3f, -0.00159529992f, -0.00131122834f},
               {-2.4f, -0.0196740819f, -0.0192768418f},
               {-1.7f, -0.0757612812f, -0.0758940989f},
               {-1.1f, -0.149232665f, -0.149418951f},
               {-0.6f, -0.164551872f, -0.164584803f},
               {-0.2f, -0.0841480591f, -0.0841485712f},
               {0.05f, 0.0259969407f, 0.0259969386f},
               {0.4f, 0.262168701f, 0.262161174f},
               {0.9f, 0.734345862f, 0.734228464f},
               {1.4f, 1.28694065f, 1.28670804f},
               {1.9f, 1.84543851f, 1.84545121f},
               {2.8f, 2.79284559f, 2.79331106f},
               {7.0f, 7.0f, 7.0f}};
enum { POINTS = sizeof kPoints / sizeof *kPoints };

enum {
  MOST_VISITS = 32,   /* of nodes for one x */
  MOST_CANDIDATES = 8 /* for x */
};

typedef struct Search {
  const NodeSet *keep;
  const Node *root;
  NodeOutput x;
  Tensor points; /* a vector of the arguments */
  bool x_has_shape_of_root;
  int visits;
  Status *status;
} Search;

/* --- the values of nodes --- */

/* Arithmetic without bounds and branches: functions that are equal at the points are equal between them. */
static bool is_smooth(const Node *node) {
  static const char *const kOps[] = {"Add", "AddV2", "Sub",    "Mul", "RealDiv", "Div",
                                     "Neg", "Pow",   "Square", "Erf", "Erfc",    "Tanh"};
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    if (optimizer_is_op(node, kOps[i])) return true;
  }
  return false;
}

/* Whether a constant is a number, with which the result has the shape of x. */
static bool is_number(const Search *s, const Node *node) {
  ShapeHandle shape = optimizer_shape(node, 0);
  if (!shape || (shape_rank(shape) > 0 && !s->x_has_shape_of_root)) return false;
  for (int32_t i = 0; i < shape_rank(shape); i++) {
    if (!dim_known(shape->dims[i]) || dim_value(shape->dims[i]) != 1) return false;
  }
  return true;
}

static bool evaluate_constant(const Search *s, const Node *node, Tensor *value, bool *known) {
  *known = false;
  return !is_number(s, node) || dead_values_constant(node, s->x, value, known, s->status);
}

static bool evaluate(Search *s, const Edge *edge, Tensor *value, bool *known);

/* Depth is at most MOST_VISITS. */
static bool evaluate_node(Search *s, const Node *node, Tensor *value, bool *known) {
  Tensor operands[2] = {{0}, {0}};
  const Tensor *inputs[] = {&operands[0], &operands[1]};
  bool ok = true;
  *known = ++s->visits <= MOST_VISITS && is_smooth(node) && optimizer_may_replace(s->keep, node);
  for (int k = 0; ok && *known && k < node->num_inputs; k++)
    ok = evaluate(s, node->inputs[k], &operands[k], known);
  if (ok && *known) ok = node_evaluate(node, inputs, value, s->status);
  tensor_clear(&operands[0]);
  tensor_clear(&operands[1]);
  return ok;
}

/* *known: whether x and constants determine the value; given for the points of x. */
static bool evaluate(Search *s, const Edge *edge, Tensor *value, bool *known) {
  *known = edge && edge->src->output_types[edge->src_output] == DT_FLOAT;
  if (!*known) return true;
  if (edge->src == s->x.node && edge->src_output == s->x.index)
    return tensor_assign(value, &s->points, s->status);
  return optimizer_is_op(edge->src, "Const") ? evaluate_constant(s, edge->src, value, known)
                                             : evaluate_node(s, edge->src, value, known);
}

/* The op that has these values; NULL: neither. */
static const char *op_of_values(const Tensor *value) {
  bool exact = tensor_num_elements(value) == POINTS, by_tanh = exact;
  for (int i = 0; (exact || by_tanh) && i < POINTS; i++) {
    float y = tensor_f32(value)[i], error = 1e-6f * fabsf(kPoints[i].x);
    exact = exact && fabsf(y - kPoints[i].exact) <= error;
    by_tanh = by_tanh && fabsf(y - kPoints[i].by_tanh) <= error;
  }
  return exact ? "_GeluExact" : by_tanh ? "_GeluApproximate" : NULL;
}

/* --- what x may be --- */

static bool is_product(const Node *node) {
  return optimizer_is_op(node, "Mul") || optimizer_is_op(node, "RealDiv");
}

/* A factor of the root, or of a factor. */
static void find_candidates(const Node *node, int depth, NodeOutput *candidates, int *count) {
  for (int k = 0; k < node->num_inputs && *count < MOST_CANDIDATES; k++) {
    const Edge *edge = node->inputs[k];
    if (!edge || optimizer_is_op(edge->src, "Const")) continue;
    candidates[(*count)++] = edge_value(edge);
    if (depth > 0 && is_product(edge->src)) find_candidates(edge->src, depth - 1, candidates, count);
  }
}

/* *op: that whose values the root has; NULL: neither. */
static bool find_op(Search *s, const char **op) {
  enum { DEPTH = 2 };
  NodeOutput candidates[MOST_CANDIDATES];
  int count = 0;
  *op = NULL;
  if (!is_product(s->root)) return true;
  find_candidates(s->root, DEPTH, candidates, &count);
  for (int i = 0; !*op && i < count; i++) {
    Tensor value = {0};
    bool known;
    s->x = candidates[i];
    s->visits = 0;
    s->x_has_shape_of_root =
        optimizer_same_shape(s->x.node->output_shapes[s->x.index], s->root->output_shapes[0]);
    TRY(evaluate_node(s, s->root, &value, &known));
    if (known) *op = op_of_values(&value);
    tensor_clear(&value);
  }
  return true;
}

/* --- the node --- */

static bool replace(Graph *graph, Node *root, const char *op, NodeOutput x, Status *status) {
  NodeBuilder b;
  Node *made;
  node_builder(&b, graph, op, root->name);
  node_builder_place_as(&b, root);
  node_builder_type(&b, "T", DT_FLOAT);
  node_builder_inputs(&b, &x, 1);
  TRY(node_builder_finish_bare(&b, &made, status));
  TRY(graph_infer_shapes(graph, made, status));
  TRY(optimizer_move_consumers(graph, root, &(NodeOutput){made, 0}, NULL, status));
  graph_remove_node(graph, root);
  return true;
}

static bool is_curve(const Node *node) {
  return node->op && node->num_outputs == 1 && node->output_types[0] == DT_FLOAT &&
         (optimizer_is_op(node, "Erf") || optimizer_is_op(node, "Erfc") || optimizer_is_op(node, "Tanh"));
}

/* The node that alone reads the values of `node`; NULL: there are several, or none. */
static Node *only_reader(const Node *node) {
  return node->num_out_edges == 1 && !edge_is_control(node->out_edges[0]) ? node->out_edges[0]->dst : NULL;
}

/* Looks for a root above the curve. */
static bool replace_above(Graph *graph, Search *s, const Node *curve, bool *changed) {
  enum { ABOVE = 4 };
  Node *root = only_reader(curve);
  for (int above = 0; root && above < ABOVE; above++, root = only_reader(root)) {
    const char *op;
    s->root = root;
    TRY(find_op(s, &op));
    if (!op) continue;
    *changed = true;
    return replace(graph, root, op, s->x, s->status);
  }
  return true;
}

static bool make_points(Tensor *points, Status *status) {
  Shape shape = {0};
  TRY(shape_set(&shape, 1, (int64_t[]){POINTS}, status));
  TRY(tensor_allocate_shared(points, DT_FLOAT, &shape, status));
  for (int i = 0; i < POINTS; i++) tensor_f32(points)[i] = kPoints[i].x;
  return true;
}

bool graph_find_gelu(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Search s = {.keep = keep, .status = status};
  int64_t ids = graph_num_node_ids(graph);
  bool ok = true;
  *changed = false;
  for (int64_t id = SINK_ID + 1; ok && id < ids; id++) {
    const Node *node = graph_node(graph, id);
    if (!node || !is_curve(node)) continue;
    if (!s.points.buffer) ok = make_points(&s.points, status);
    ok = ok && replace_above(graph, &s, node, changed);
  }
  tensor_clear(&s.points);
  return ok;
}
