#include "function/function_splice.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_class.h"
#include "graph/node_evaluate.h"

/* What is known of a node of the body. The fields `stacked` and `ordered` are entries of lists that have
 * at most one entry per node. */
typedef struct SpliceEntry {
  Node *node;      /* the graph's node for it, or NULL */
  int32_t arg;     /* 1 + the argument that it is, or 0 */
  int32_t sources; /* how many have been visited */
  bool is_result;
  bool reused; /* `node` is options->reuse */
  bool needed;
  uint8_t state;   /* of the visit */
  int32_t stacked; /* the stack, as ids */
  int32_t ordered; /* the nodes to add, as ids in the order of adding */
} SpliceEntry;

typedef struct Splice {
  Graph *graph;
  const FunctionBody *body;
  const NodeOutput *inputs;
  const SpliceOptions *options;
  Status *status;
  int64_t num_ids;
  SpliceEntry *at; /* by id in the body */
  int64_t num_ordered, num_added;
  NodeOutput *data; /* the inputs of one node */
  Node **controls;
} Splice;

static bool oom(const Splice *s) { return status_oom(s->status, "splicing a function"); }

static bool begin(Splice *s) {
  const FunctionBody *body = s->body;
  int64_t most_data = 0, most_controls = 0;
  s->num_ids = graph_num_node_ids(body->graph);
  for (int64_t id = 0; id < s->num_ids; id++) {
    const Node *node = graph_node(body->graph, id);
    if (node && node->num_inputs > most_data) most_data = node->num_inputs;
    if (node && node->num_control_inputs > most_controls) most_controls = node->num_control_inputs;
  }
  s->at = mem_calloc(s->num_ids, sizeof *s->at);
  s->data = mem_calloc(most_data, sizeof *s->data);
  s->controls = mem_calloc(most_controls, sizeof *s->controls);
  if (!s->at || !s->data || !s->controls) return oom(s);
  for (int i = 0; i < body->num_args; i++) s->at[body->arg_nodes[i]->id].arg = 1 + i;
  for (int i = 0; i < body->num_rets; i++) s->at[body->ret_nodes[i]->id].is_result = true;
  return true;
}

static void end(Splice *s) {
  mem_free(s->at);
  mem_free(s->data);
  mem_free(s->controls);
}

/* Node `id` of the body when it computes something; NULL for arguments, results and ids without a node. */
static const Node *inner_node(const Splice *s, int64_t id) {
  return id <= SINK_ID || s->at[id].arg > 0 || s->at[id].is_result ? NULL : graph_node(s->body->graph, id);
}

/* The graph's value for an output in the body; a NULL node when it does not exist yet. */
static NodeOutput resolve(const Splice *s, const Node *src, int index) {
  int arg = s->at[src->id].arg;
  if (arg > 0) return s->inputs ? s->inputs[arg - 1] : (NodeOutput){NULL, 0};
  return (NodeOutput){s->at[src->id].node, index};
}

/* The source of incoming edge `i`; NULL for an unconnected input. */
static const Node *source(const Node *node, int64_t i) {
  const Edge *edge = node_in_edge(node, i);
  return edge ? edge->src : NULL;
}

/* --- reuse --- */

static bool same_attrs(const NodeDef *a, const NodeDef *b) {
  size_t checked = 0;
  for (size_t i = 0; i < a->n_attr; i++) {
    if (a->attr[i]->key[0] == '_') continue;
    const AttrValue *other = node_def_attr(b, a->attr[i]->key);
    if (!other || !attr_value_equal(a->attr[i]->value, other)) return false;
    checked++;
  }
  for (size_t i = 0; i < b->n_attr; i++) checked -= b->attr[i]->key[0] != '_';
  return checked == 0;
}

static bool same_node(const Splice *s, const Node *node, const Node *other) {
  if (node->op != other->op || node->num_inputs != other->num_inputs) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *inner = node->inputs[i], *edge = other->inputs[i];
    if (!inner || !edge) return false;
    NodeOutput input = resolve(s, inner->src, inner->src_output);
    if (input.node != edge->src || input.index != edge->src_output) return false;
  }
  return same_attrs(node->def, other->def);
}

static void find_reuse(Splice *s) {
  Node *reuse = s->options->reuse;
  if (!reuse || !s->inputs) return;
  for (int64_t id = 0; id < s->num_ids; id++) {
    const Node *node = inner_node(s, id);
    if (!node || !same_node(s, node, reuse)) continue;
    s->at[id].node = reuse;
    s->at[id].reused = true;
  }
}

/* --- what is needed --- */

static void need(Splice *s, const Node *node, int64_t *top) {
  if (!node || s->at[node->id].needed) return;
  s->at[node->id].needed = true;
  if (!s->at[node->id].reused) s->at[(*top)++].stacked = node->id;
}

static void mark_needed(Splice *s) {
  const FunctionBody *body = s->body;
  const SpliceOptions *options = s->options;
  int64_t top = 0;
  for (int i = 0; i < body->num_rets; i++) {
    if (!options->wanted_outputs || options->wanted_outputs[i]) need(s, source(body->ret_nodes[i], 0), &top);
  }
  for (int64_t id = 0; options->keep_stateful && id < s->num_ids; id++) {
    const Node *node = inner_node(s, id);
    if (node && node->op->def->is_stateful) need(s, node, &top);
  }
  for (int i = 0; options->keep_stateful && i < body->num_control_rets; i++)
    need(s, body->control_ret_nodes[i], &top);
  while (top > 0) {
    const Node *node = graph_node(body->graph, s->at[--top].stacked);
    for (int64_t i = 0; i < node_num_in_edges(node); i++) need(s, source(node, i), &top);
  }
}

bool function_splice_needed_args(const FunctionBody *body, const NodeOutput *inputs,
                                 const SpliceOptions *options, bool *needed_args, Status *status) {
  Splice s = {.body = body, .inputs = inputs, .options = options, .status = status};
  bool ok = begin(&s);
  if (ok) {
    find_reuse(&s);
    mark_needed(&s);
    for (int i = 0; i < body->num_args; i++) needed_args[i] = s.at[body->arg_nodes[i]->id].needed;
  }
  end(&s);
  return ok;
}

/* --- order: a function lists its nodes in any order --- */

/* Whether source `i` of a node closes a loop of a frame: the Merge is added before it. */
static bool closes_loop(const Node *node, int64_t i) {
  const Node *from = node_is_merge(node) && i < node->num_inputs ? source(node, i) : NULL;
  return from && node_is_next_iteration(from);
}

/* Visits `root` after what it needs; the stack holds the path. False when the body has a cycle that is not a
 * loop of a frame. */
static bool visit(Splice *s, const Node *root) {
  enum { NEW, OPEN, DONE };
  int64_t top = 0;
  s->at[top++].stacked = root->id;
  s->at[root->id].state = OPEN;
  while (top > 0) {
    int32_t id = s->at[top - 1].stacked;
    const Node *node = graph_node(s->body->graph, id), *child = NULL;
    while (!child && s->at[id].sources < node_num_in_edges(node)) {
      int64_t i = s->at[id].sources++;
      const Node *from = source(node, i);
      if (!from || closes_loop(node, i) || s->at[from->id].arg > 0 || s->at[from->id].reused ||
          s->at[from->id].state == DONE)
        continue;
      if (s->at[from->id].state == OPEN) {
        return status_invalid(s->status, "{{node %s}} of function %s is in a cycle", node->name,
                              s->body->name);
      }
      child = from;
    }
    if (child) {
      s->at[child->id].state = OPEN;
      s->at[top++].stacked = child->id;
    } else {
      s->at[id].state = DONE;
      s->at[s->num_ordered++].ordered = id;
      top--;
    }
  }
  return true;
}

static bool order_nodes(Splice *s) {
  for (int64_t id = 0; id < s->num_ids; id++) {
    const SpliceEntry *entry = &s->at[id];
    const Node *node = inner_node(s, id);
    if (node && entry->needed && !entry->reused && entry->state == 0) TRY(visit(s, node));
  }
  return true;
}

/* --- adding --- */

/* "scope/name", unique in the graph. */
static const char *node_name(Splice *s, const char *name) {
  const char *scope = s->options->scope;
  if (!scope || scope[0] == 0) return graph_unique_name(s->graph, name);
  StrBuf text = {0};
  strbuf_printf(&text, "%s/%s", scope, name);
  const char *unique = text.failed ? NULL : graph_unique_name(s->graph, strbuf_text(&text));
  strbuf_free(&text);
  return unique;
}

/* The graph's value for an input of a result or an inner node. */
static bool resolve_input(Splice *s, const Edge *edge, NodeOutput *input) {
  *input = resolve(s, edge->src, edge->src_output);
  if (input->node) return true;
  return status_invalid(s->status, "Function %s needs a value for its argument %s", s->body->name,
                        edge->src->name);
}

static bool add_node(Splice *s, const Node *node) {
  NodeDef def = *node->def;
  def.name = (char *)node_name(s, def.name);
  if (!def.name) return oom(s);
  TRY(node_check_connected(node, s->status));
  NodeOutput first = {NULL, 0}; /* stands for values that come later */
  for (int i = 0; i < node->num_inputs; i++) {
    if (closes_loop(node, i)) continue;
    TRY(resolve_input(s, node->inputs[i], &s->data[i]));
    if (!first.node) first = s->data[i];
  }
  for (int i = 0; i < node->num_inputs; i++) {
    if (closes_loop(node, i)) s->data[i] = first;
  }
  int num_controls = 0;
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    Node *control = resolve(s, node->control_inputs[i]->src, 0).node;
    if (control) s->controls[num_controls++] = control;
  }
  return graph_add_operation(s->graph, &def, s->data, node->num_inputs, s->controls, num_controls,
                             &s->at[node->id].node, s->status);
}

static bool close_loops(Splice *s) {
  for (int64_t k = 0; k < s->num_added; k++) {
    int64_t id = s->at[k].ordered;
    const Node *node = graph_node(s->body->graph, id);
    for (int i = 0; i < node->num_inputs; i++) {
      if (!closes_loop(node, i)) continue;
      NodeOutput value = resolve(s, node->inputs[i]->src, node->inputs[i]->src_output);
      TRY(graph_update_edge(s->graph, value.node, value.index, s->at[id].node, i, s->status));
    }
  }
  return true;
}

static bool splice(Splice *s, NodeOutput *outputs) {
  const FunctionBody *body = s->body;
  const bool *wanted = s->options->wanted_outputs;
  TRY(begin(s));
  find_reuse(s);
  mark_needed(s);
  TRY(order_nodes(s));
  for (; s->num_added < s->num_ordered; s->num_added++)
    TRY(add_node(s, graph_node(body->graph, s->at[s->num_added].ordered)));
  TRY(close_loops(s));
  for (int i = 0; i < body->num_rets; i++) {
    outputs[i] = (NodeOutput){NULL, 0};
    if (wanted && !wanted[i]) continue;
    TRY(node_check_connected(body->ret_nodes[i], s->status));
    TRY(resolve_input(s, body->ret_nodes[i]->inputs[0], &outputs[i]));
  }
  return true;
}

bool function_splice_body(Graph *graph, const FunctionBody *body, const NodeOutput *inputs,
                          const SpliceOptions *options, NodeOutput *outputs, Status *status) {
  Splice s = {.graph = graph, .body = body, .inputs = inputs, .options = options, .status = status};
  bool ok = splice(&s, outputs);
  for (int64_t i = s.num_added; !ok && i > 0; i--) graph_remove_node(graph, s.at[s.at[i - 1].ordered].node);
  end(&s);
  return ok;
}
