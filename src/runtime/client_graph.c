#include "runtime/client_graph.h"

#include <string.h>

#include "graph/node_builder.h"
#include "graph/node_class.h"
#include "graph/node_evaluate.h"

static bool oom(Status *status) { return status_oom(status, "the graph of a step"); }

/* --- effects --- */

/* Whether the node changes at most a TensorArray, which ends with the step: nodes that need the change read a
 * flow. */
static bool changes_array(const Node *node) {
  return node->num_outputs > 0 && strncmp(node->op->def->name, "TensorArray", strlen("TensorArray")) == 0;
}

/* Adds the nodes with effects to the control results. */
static bool require_effects(FunctionBody *body, bool all_stateful, Status *status) {
  int64_t ids = graph_num_node_ids(body->graph);
  Node **required =
      arena_alloc(graph_arena(body->graph), (ids + body->num_control_rets) * (int64_t)sizeof *required);
  if (!required) return oom(status);
  int count = 0;
  for (; count < body->num_control_rets; count++) required[count] = body->control_ret_nodes[count];
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(body->graph, id);
    if (!node || node_is_boundary(node)) continue;
    bool effects = all_stateful && node->op->def->is_stateful;
    if (!effects && !changes_array(node)) TRY(node_has_effects(node, &effects, status));
    if (effects) required[count++] = node;
  }
  body->control_ret_nodes = required;
  body->num_control_rets = count;
  return true;
}

bool client_graph_of_function(const FunctionBody *function, FunctionBody **body, Status *status) {
  TRY(function_body_share(function, body, status));
  if (require_effects(*body, true, status)) return true;
  function_body_free(*body);
  *body = NULL;
  return false;
}

/* --- checks of the signature --- */

static const void *copy(Arena *arena, const void *items, int count, size_t size) {
  void *copied = arena_calloc(arena, count, (int64_t)size);
  if (copied && count > 0) memcpy(copied, items, (size_t)count * size);
  return copied;
}

bool step_signature_copy(const StepSignature *from, Arena *arena, StepSignature *to, Status *status) {
  *to = *from;
  to->feeds = copy(arena, from->feeds, from->num_feeds, sizeof *from->feeds);
  to->fetches = copy(arena, from->fetches, from->num_fetches, sizeof *from->fetches);
  to->targets = copy(arena, from->targets, from->num_targets, sizeof(Node *));
  to->connections = copy(arena, from->connections, from->num_connections, sizeof *from->connections);
  if (from->feed_dims)
    to->feed_dims = copy(arena, from->feed_dims, from->num_feed_dims, sizeof *to->feed_dims);
  return (to->feeds && to->fetches && to->targets && to->connections && !to->feed_dims == !from->feed_dims) ||
         oom(status);
}

bool step_signature_check(const StepSignature *asked, const Graph *graph, Status *status) {
  for (int i = 0; i < asked->num_feeds; i++) TRY(graph_check_node(graph, asked->feeds[i].node, status));
  for (int i = 0; i < asked->num_fetches; i++) TRY(graph_check_node(graph, asked->fetches[i].node, status));
  for (int i = 0; i < asked->num_targets; i++) TRY(graph_check_node(graph, asked->targets[i], status));
  for (int i = 0; i < asked->num_connections; i++) {
    TRY(graph_check_node(graph, asked->connections[i].from.node, status));
    TRY(graph_check_node(graph, asked->connections[i].to.node, status));
  }
  return true;
}

static bool same_output(NodeOutput a, NodeOutput b) { return a.node == b.node && a.index == b.index; }

static bool check_output(NodeOutput output, const char *what, Status *status) {
  if (output.index >= 0 && output.index < output.node->num_outputs) return true;
  if (output.node->num_outputs == 0 && output.index == 0 && strcmp(what, "FetchOutputs") == 0) {
    return status_invalid(
        status,
        "Tried to fetch data for '%s', which produces no output.  To run to a node but not fetch any data, "
        "pass '%s' as an argument to the 'target_node_names' argument of the Session::Run API.",
        output.node->name, output.node->name);
  }
  return status_invalid(status, "%s: %s:%d should have output index < %d", what, output.node->name,
                        output.index, output.node->num_outputs);
}

/* The number of outputs that the step replaces: first the feeds, then the targets of connections. */
static int num_replaced(const StepSignature *signature) {
  return signature->num_feeds + signature->num_connections;
}
static NodeOutput replaced(const StepSignature *signature, int i) {
  return i < signature->num_feeds ? signature->feeds[i] : signature->connections[i - signature->num_feeds].to;
}

static bool check_replaced(const StepSignature *signature, Status *status) {
  for (int i = 0; i < num_replaced(signature); i++) {
    NodeOutput output = replaced(signature, i);
    TRY(check_output(output, "FeedInputs", status));
    for (int k = 0; k < i; k++) {
      if (same_output(output, replaced(signature, k)))
        return status_invalid(status, "Endpoint \"%s:%d\" fed more than once.", output.node->name,
                              output.index);
    }
  }
  return true;
}

static bool check_connections(const StepSignature *signature, Status *status) {
  for (int i = 0; i < signature->num_connections; i++) {
    const TensorConnection *connection = &signature->connections[i];
    NodeOutput from = connection->from, to = connection->to;
    if (from.index < 0 || from.index >= from.node->num_outputs)
      return status_invalid(status,
                            "Requested tensor connection from unknown edge: \"%s:%d\" (actual number of "
                            "outputs = %d).",
                            to.node->name, to.index, from.node->num_outputs);
    DataType given = dtype_base(node_output_type(from)), wanted = dtype_base(node_output_type(to));
    if (given != wanted)
      return status_invalid(status, "Requested tensor connection from %s:%d of type %s to %s:%d of type %s.",
                            from.node->name, from.index, dtype_name(given), to.node->name, to.index,
                            dtype_name(wanted));
  }
  return true;
}

static bool check_signature(const Graph *graph, const StepSignature *signature, Status *status) {
  TRY(step_signature_check(signature, graph, status));
  if (signature->num_fetches + signature->num_targets == 0)
    return status_invalid(status, "Must specify at least one target to fetch or execute.");
  TRY(check_replaced(signature, status));
  TRY(check_connections(signature, status));
  for (int i = 0; i < signature->num_fetches; i++) {
    NodeOutput fetch = signature->fetches[i];
    TRY(check_output(fetch, "FetchOutputs", status));
    for (int k = 0; k < num_replaced(signature); k++) {
      if (same_output(fetch, replaced(signature, k)))
        return status_invalid(status, "%s:%d is both fed and fetched.", fetch.node->name, fetch.index);
    }
  }
  return true;
}

/* --- the part of the graph that a step needs --- */

typedef struct Client {
  Graph *graph;
  const StepSignature *signature;
  Status *status;
  Arena *arena; /* scratch memory */
  Graph *into;
  NodeSet needed, fed; /* `fed`: the nodes with an output that is fed or connected */
  Node **copies;       /* by id in `graph` */
  Node **args, **results, **targets;
} Client;

static bool is_fed(const Client *c, const Node *node, int index) {
  if (!node_set_has(&c->fed, node)) return false;
  for (int i = 0; i < num_replaced(c->signature); i++) {
    if (same_output(replaced(c->signature, i), (NodeOutput){(Node *)node, index})) return true;
  }
  return false;
}

/* A fed placeholder does not run, so control edges from it are dropped. */
static bool stands_for_feed(const Client *c, const Node *node) {
  return node->num_outputs == 1 && node_set_has(&c->fed, node) &&
         (node_is_placeholder(node) || node_is_arg(node));
}

static bool stays(const void *argument, const Edge *edge) {
  const Client *c = argument;
  return edge_is_control(edge) ? !stands_for_feed(c, edge->src) : !is_fed(c, edge->src, edge->src_output);
}

static bool find_needed(Client *c) {
  const StepSignature *signature = c->signature;
  int num_roots = signature->num_fetches + signature->num_targets + signature->num_connections, count = 0;
  Node **roots = arena_calloc(c->arena, num_roots, sizeof *roots);
  NodeOutput *cut = arena_calloc(c->arena, num_replaced(signature), sizeof *cut);
  if (!roots || !cut) return oom(c->status);
  TRY(node_set_new(c->graph, c->arena, &c->fed, c->status));
  for (int i = 0; i < num_replaced(signature); i++) {
    cut[i] = replaced(signature, i);
    c->fed.member[cut[i].node->id] = 1;
  }
  for (int i = 0; i < signature->num_fetches; i++) roots[count++] = signature->fetches[i].node;
  for (int i = 0; i < signature->num_targets; i++) roots[count++] = signature->targets[i];
  for (int i = 0; i < signature->num_connections; i++) roots[count++] = signature->connections[i].from.node;
  return graph_reverse_reachable(c->graph, roots, count, cut, num_replaced(signature), c->arena, &c->needed,
                                 c->status);
}

static bool check_connected(const Client *c) {
  for (int64_t id = SINK_ID + 1; id < c->needed.size; id++) {
    if (c->needed.member[id]) TRY(node_check_connected(graph_node(c->graph, id), c->status));
  }
  return true;
}

/* --- arguments and results --- */

/* Adds an `_Arg` or `_Retval` under a name that is free in the graph. */
static bool add_boundary(Client *c, const char *op, const char *prefix, NodeOutput output, int index,
                         Node **node) {
  NodeBuilder b;
  char *name = arena_printf(c->arena, "%s_%s_%d_%d", prefix, output.node->name, output.index, index);
  while (name && graph_find_node(c->graph, name)) name = arena_printf(c->arena, "%s_", name);
  node_builder(&b, c->into, op, name);
  node_builder_type(&b, "T", node_output_type(output));
  node_builder_int(&b, "index", index);
  return node_builder_finish_bare(&b, node, c->status);
}

static bool add_args(Client *c) {
  const int64_t *dims = c->signature->feed_dims;
  c->args = arena_calloc(c->arena, c->signature->num_feeds, sizeof *c->args);
  if (!c->args) return oom(c->status);
  for (int i = 0; i < c->signature->num_feeds; i++) {
    NodeOutput feed = c->signature->feeds[i];
    TRY(add_boundary(c, "_Arg", "_arg", feed, i, &c->args[i]));
    if (dims) {
      TRY(graph_set_shape(c->into, (NodeOutput){c->args[i], 0}, (int)dims[0], dims + 1, c->status));
      dims += 1 + dims[0];
    } else if (!c->signature->any_shapes) {
      c->args[i]->output_shapes[0] = graph_output_shape(feed);
    }
  }
  return true;
}

/* A fed value is never a reference. */
static bool check_reference(const Edge *edge, Status *status) {
  int type = edge->dst->input_types[edge->dst_input];
  if (!dtype_is_ref(type)) return true;
  return status_invalid(status, "Input %d of node %s was passed %s from %s:%d incompatible with expected %s.",
                        edge->dst_input, edge->dst->name, dtype_name(dtype_base(type)), edge->src->name,
                        edge->src_output, dtype_name(type));
}

/* Makes the copies of the readers of `output` read `source`. */
static bool reconnect(Client *c, NodeOutput output, NodeOutput source) {
  Edge *added;
  for (int32_t k = 0; k < output.node->num_out_edges; k++) {
    const Edge *edge = output.node->out_edges[k];
    Node *reader = c->copies[edge->dst->id];
    if (!reader || edge->src_output != output.index) continue;
    if (!dtype_is_ref(node_output_type(source))) TRY(check_reference(edge, c->status));
    TRY(graph_add_edge(c->into, source.node, source.index, reader, edge->dst_input, &added, c->status));
  }
  return true;
}

static bool connect(Client *c) {
  const StepSignature *signature = c->signature;
  for (int i = 0; i < signature->num_feeds; i++)
    TRY(reconnect(c, signature->feeds[i], (NodeOutput){c->args[i], 0}));
  for (int i = 0; i < signature->num_connections; i++) {
    const TensorConnection *connection = &signature->connections[i];
    Node **order, *from = c->copies[connection->from.node->id];
    int64_t count;
    TRY(reconnect(c, connection->to, (NodeOutput){from, connection->from.index}));
    if (graph_topological_order(c->into, NULL, NULL, 0, c->arena, &order, &count, c->status)) continue;
    if (c->status->code == CODE_RESOURCE_EXHAUSTED) return false;
    status_init(c->status);
    return status_invalid(c->status,
                          "Requested Tensor connection between nodes \"%s\" and \"%s\" would create a cycle.",
                          connection->to.node->name, connection->from.node->name);
  }
  return true;
}

static bool add_results(Client *c) {
  const StepSignature *signature = c->signature;
  Edge *edge;
  c->results = arena_calloc(c->arena, signature->num_fetches, sizeof *c->results);
  c->targets = arena_calloc(c->arena, signature->num_targets, sizeof *c->targets);
  if (!c->results || !c->targets) return oom(c->status);
  for (int i = 0; i < signature->num_fetches; i++) {
    NodeOutput fetch = signature->fetches[i];
    TRY(add_boundary(c, "_Retval", "_retval", fetch, i, &c->results[i]));
    TRY(graph_add_edge(c->into, c->copies[fetch.node->id], fetch.index, c->results[i], 0, &edge, c->status));
  }
  for (int i = 0; i < signature->num_targets; i++) c->targets[i] = c->copies[signature->targets[i]->id];
  return true;
}

/* --- shapes --- */

/* The graph inferred its shapes from the placeholders' shapes and from the values of other nodes. Feeding
 * such an output with another shape invalidates them. */
static bool shapes_hold(const Graph *graph, const StepSignature *signature) {
  bool hold = !signature->any_shapes && !signature->feed_dims && signature->num_connections == 0 &&
              !graph_has_assumed_shapes(graph);
  for (int i = 0; hold && i < signature->num_feeds; i++) hold = node_is_placeholder(signature->feeds[i].node);
  return hold;
}

/* A mismatch becomes an error when the step runs. */
static bool infer_shapes(Client *c) {
  Node **order;
  int64_t count;
  TRY(graph_topological_order(c->into, NULL, NULL, 0, c->arena, &order, &count, c->status));
  for (int64_t i = 0; i < count; i++) {
    if (!node_is_arg(order[i])) graph_forget_shapes(c->into, order[i]);
  }
  for (int64_t i = 0; i < count; i++) {
    if (!node_is_arg(order[i])) TRY(graph_infer_leniently(c->into, order[i], c->status));
  }
  return true;
}

static bool make(Client *c) {
  TRY(check_signature(c->graph, c->signature, c->status));
  TRY(find_needed(c));
  TRY(check_connected(c));
  c->copies = arena_calloc(c->arena, graph_num_node_ids(c->graph), sizeof *c->copies);
  if (!c->copies) return oom(c->status);
  TRY(graph_set_versions(c->into, graph_versions(c->graph), c->status));
  TRY(graph_share_nodes(c->into, c->graph, &c->needed, stays, c, c->copies, c->status));
  TRY(add_args(c));
  TRY(connect(c));
  TRY(add_results(c));
  if (!shapes_hold(c->graph, c->signature)) TRY(infer_shapes(c));
  return graph_fixup_source_and_sink_edges(c->into, NULL, c->status);
}

bool client_graph_of_step(Graph *graph, const StepSignature *signature, FunctionBody **body, Status *status) {
  Client c = {.graph = graph, .signature = signature, .status = status, .arena = arena_new()};
  c.into = graph_new_body(graph);
  bool ok = (c.arena && c.into) || oom(status);
  ok = ok && make(&c) &&
       function_body_of_nodes("step", c.into, c.args, signature->num_feeds, c.results, signature->num_fetches,
                              c.targets, signature->num_targets, body, status);
  if (!ok) graph_free(c.into);
  arena_free(c.arena);
  if (!ok || require_effects(*body, false, status)) return ok;
  function_body_free(*body);
  *body = NULL;
  return false;
}
