#include "function/function_splice.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_class.h"
#include "graph/node_evaluate.h"

typedef struct Splice {
  Graph *graph;
  const FunctionBody *body;
  const NodeOutput *inputs;
  const SpliceOptions *options;
  Status *status;
  int64_t num_ids; /* of the body; the arrays are by its ids */
  int *arg;        /* 1 + the argument that the node is, or 0 */
  uint8_t *result; /* the node is a result */
  Node **nodes;    /* the graph's node for a node of the body, or NULL */
  uint8_t *reused; /* `nodes` has options->reuse */
  uint8_t *needed;
  int64_t *stack, *order;
  Node **added;
  int64_t num_added;
} Splice;

static bool oom(const Splice *s) { return status_oom(s->status, "splicing a function"); }

static bool begin(Splice *s) {
  const FunctionBody *body = s->body;
  int64_t n = s->num_ids = graph_num_node_ids(body->graph);
  s->arg = mem_calloc(n, sizeof *s->arg);
  s->result = mem_calloc(n, 1);
  s->nodes = mem_calloc(n, sizeof *s->nodes);
  s->reused = mem_calloc(n, 1);
  s->needed = mem_calloc(n, 1);
  s->stack = mem_calloc(n, sizeof *s->stack);
  s->order = mem_calloc(n, sizeof *s->order);
  s->added = mem_calloc(n, sizeof *s->added);
  if (!s->arg || !s->result || !s->nodes || !s->reused || !s->needed || !s->stack || !s->order || !s->added)
    return oom(s);
  for (int i = 0; i < body->num_args; i++) s->arg[body->arg_nodes[i]->id] = 1 + i;
  for (int i = 0; i < body->num_rets; i++) s->result[body->ret_nodes[i]->id] = 1;
  return true;
}

static void end(Splice *s) {
  mem_free(s->arg);
  mem_free(s->result);
  mem_free(s->nodes);
  mem_free(s->reused);
  mem_free(s->needed);
  mem_free(s->stack);
  mem_free(s->order);
  mem_free(s->added);
}

/* Node `id` of the body when it computes something; NULL for arguments, results and ids without a node. */
static const Node *inner_node(const Splice *s, int64_t id) {
  return id <= SINK_ID || s->arg[id] > 0 || s->result[id] ? NULL : graph_node(s->body->graph, id);
}

/* The graph's value for an output in the body; a NULL node when there is none yet. */
static NodeOutput resolve(const Splice *s, const Node *src, int index) {
  int arg = s->arg[src->id];
  if (arg > 0) return s->inputs ? s->inputs[arg - 1] : (NodeOutput){NULL, 0};
  return (NodeOutput){s->nodes[src->id], index};
}

static int64_t num_sources(const Node *node) { return (int64_t)node->num_inputs + node->num_control_inputs; }

/* Source `i` of a node: data inputs first. NULL for an input that is not connected. */
static const Node *source(const Node *node, int64_t i) {
  const Edge *edge = i < node->num_inputs ? node->inputs[i] : node->control_inputs[i - node->num_inputs];
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
    s->nodes[id] = reuse;
    s->reused[id] = 1;
  }
}

/* --- what is needed --- */

static void need(Splice *s, const Node *node, int64_t *top) {
  if (!node || s->needed[node->id]) return;
  s->needed[node->id] = 1;
  if (!s->reused[node->id]) s->stack[(*top)++] = node->id;
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
    const Node *node = graph_node(body->graph, s->stack[--top]);
    for (int64_t i = 0; i < num_sources(node); i++) need(s, source(node, i), &top);
  }
}

bool function_splice_needed_args(const FunctionBody *body, const NodeOutput *inputs,
                                 const SpliceOptions *options, bool *needed_args, Status *status) {
  Splice s = {.body = body, .inputs = inputs, .options = options, .status = status};
  bool ok = begin(&s);
  if (ok) {
    find_reuse(&s);
    mark_needed(&s);
    for (int i = 0; i < body->num_args; i++) needed_args[i] = s.needed[body->arg_nodes[i]->id];
  }
  end(&s);
  return ok;
}

/* --- order: a function's nodes may stand in any order --- */

/* Visits `root` after what it needs; the stack holds the path. False when the body has a cycle. */
static bool visit(Splice *s, uint8_t *state, int64_t *next, int64_t root, int64_t *count) {
  enum { NEW, OPEN, DONE };
  int64_t top = 0;
  s->stack[top++] = root;
  state[root] = OPEN;
  while (top > 0) {
    int64_t id = s->stack[top - 1];
    const Node *node = graph_node(s->body->graph, id), *child = NULL;
    while (!child && next[id] < num_sources(node)) {
      const Node *from = source(node, next[id]++);
      if (!from || s->arg[from->id] > 0 || s->reused[from->id] || state[from->id] == DONE) continue;
      if (state[from->id] == OPEN) {
        return status_invalid(s->status, "{{node %s}} of function %s is in a cycle", node->name,
                              s->body->name);
      }
      child = from;
    }
    if (child) {
      state[child->id] = OPEN;
      s->stack[top++] = child->id;
    } else {
      state[id] = DONE;
      s->order[(*count)++] = id;
      top--;
    }
  }
  return true;
}

static bool order_nodes(Splice *s, int64_t *count) {
  *count = 0;
  uint8_t *state = mem_calloc(s->num_ids, 1);
  int64_t *next = mem_calloc(s->num_ids, sizeof *next);
  bool ok = (state && next) || oom(s);
  for (int64_t id = 0; ok && id < s->num_ids; id++) {
    if (inner_node(s, id) && s->needed[id] && !s->reused[id] && state[id] == 0)
      ok = visit(s, state, next, id, count);
  }
  mem_free(state);
  mem_free(next);
  return ok;
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
  bool ok = false;
  NodeDef def = *node->def;
  NodeOutput *inputs = mem_calloc(node->num_inputs, sizeof *inputs);
  Node **controls = mem_calloc(node->num_control_inputs, sizeof *controls);
  def.name = (char *)node_name(s, def.name);
  if (!inputs || !controls || !def.name) {
    oom(s);
    goto done;
  }
  TRY_DONE(node_check_connected(node, s->status));
  for (int i = 0; i < node->num_inputs; i++) TRY_DONE(resolve_input(s, node->inputs[i], &inputs[i]));
  int num_controls = 0;
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    Node *control = resolve(s, node->control_inputs[i]->src, 0).node;
    if (control) controls[num_controls++] = control;
  }
  Node **added = &s->nodes[node->id];
  TRY_DONE(graph_add_operation(s->graph, &def, inputs, node->num_inputs, controls, num_controls, added,
                               s->status));
  s->added[s->num_added++] = *added;
  ok = true;
done:
  mem_free(inputs);
  mem_free(controls);
  return ok;
}

static bool splice(Splice *s, NodeOutput *outputs) {
  const FunctionBody *body = s->body;
  const bool *wanted = s->options->wanted_outputs;
  int64_t count;
  TRY(begin(s));
  find_reuse(s);
  mark_needed(s);
  TRY(order_nodes(s, &count));
  for (int64_t i = 0; i < count; i++) TRY(add_node(s, graph_node(body->graph, s->order[i])));
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
  for (int64_t i = s.num_added; !ok && i > 0; i--) graph_remove_node(graph, s.added[i - 1]);
  end(&s);
  return ok;
}
