/* Adding the body of a function to a graph. */
#include <string.h>

#include "base/alloc.h"
#include "function/instantiate.h"

typedef struct Inliner {
  Graph *graph;
  const InstantiationResult *body;
  const NodeOutput *inputs;
  const FunctionInlineOptions *options;
  Status *status;
  Node **nodes;    /* per node of the body the graph's node that stands for it, or NULL */
  uint8_t *reused; /* per node of the body: `nodes` has one that was there before */
  uint8_t *needed;
  int *stack;
  Node **added;
  int64_t num_added;
  int *order;
} Inliner;

static bool new_inliner(Inliner *in) {
  int64_t n = in->body->num_nodes + 1;
  in->nodes = mem_calloc(n, sizeof(Node *));
  in->reused = mem_calloc(n, 1);
  in->needed = mem_calloc(n, 1);
  in->stack = mem_calloc(n, sizeof(int));
  in->added = mem_calloc(n, sizeof(Node *));
  in->order = mem_calloc(n, sizeof(int));
  bool ok = in->nodes && in->reused && in->needed && in->stack && in->added && in->order;
  return ok || status_oom(in->status, "inlining a function");
}

static void free_inliner(Inliner *in) {
  mem_free(in->nodes);
  mem_free(in->reused);
  mem_free(in->needed);
  mem_free(in->stack);
  mem_free(in->added);
  mem_free(in->order);
}

static bool is_arg(const Inliner *in, int node) { return node < in->body->num_args; }

/* The graph's value for an input of the body, as far as it stands already. */
static NodeOutput resolve(const Inliner *in, InstantiatedInput input) {
  if (is_arg(in, input.node)) return !in->inputs ? (NodeOutput){NULL, 0} : in->inputs[input.node];
  return (NodeOutput){in->nodes[input.node], input.index};
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

static bool same_node(const Inliner *in, const InstantiatedNode *node, const Node *other) {
  if (node->op != other->op || node->num_inputs != other->num_inputs) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    NodeOutput input = resolve(in, node->inputs[i]);
    const Edge *edge = other->inputs[i];
    if (!edge || input.node != edge->src || input.index != edge->src_output) return false;
  }
  return same_attrs(node->def, other->def);
}

static void find_reuse(Inliner *in) {
  const FunctionInlineReuse *reuse = in->options->reuse;
  if (!reuse || !reuse->node || !in->inputs) return;
  for (int i = in->body->num_args; i < in->body->num_nodes - in->body->num_rets; i++) {
    if (!same_node(in, &in->body->nodes[i], reuse->node)) continue;
    in->nodes[i] = reuse->node;
    in->reused[i] = 1;
  }
}

/* --- what is needed --- */

static void need(Inliner *in, int node, int *top) {
  if (in->needed[node]) return;
  in->needed[node] = 1;
  if (!in->reused[node]) in->stack[(*top)++] = node;
}

static void mark_needed(Inliner *in) {
  const InstantiationResult *body = in->body;
  int top = 0;
  for (int i = 0; i < body->num_rets; i++) {
    const bool *wanted = in->options->wanted_outputs;
    if (!wanted || wanted[i])
      need(in, body->nodes[body->num_nodes - body->num_rets + i].inputs[0].node, &top);
  }
  for (int i = body->num_args; in->options->keep_stateful && i < body->num_nodes - body->num_rets; i++) {
    if (body->nodes[i].op->def->is_stateful) need(in, i, &top);
  }
  for (int i = 0; in->options->keep_stateful && i < body->num_control_rets; i++)
    need(in, body->control_rets[i], &top);
  while (top > 0) {
    const InstantiatedNode *node = &body->nodes[in->stack[--top]];
    for (int i = 0; i < node->num_inputs; i++) need(in, node->inputs[i].node, &top);
    for (int i = 0; i < node->num_controls; i++) need(in, node->controls[i], &top);
  }
}

bool function_needed_args(const InstantiationResult *body, const NodeOutput *inputs,
                          const bool *wanted_outputs, const FunctionInlineReuse *reuse, bool *needed_args,
                          Status *status) {
  FunctionInlineOptions options = {.wanted_outputs = wanted_outputs, .reuse = reuse};
  Inliner in = {.body = body, .inputs = inputs, .options = &options, .status = status};
  bool ok = new_inliner(&in);
  if (ok) {
    find_reuse(&in);
    mark_needed(&in);
    for (int i = 0; i < body->num_args; i++) needed_args[i] = in.needed[i];
  }
  free_inliner(&in);
  return ok;
}

/* --- order: a function's nodes may stand in any order --- */

/* Visits `node` after what it needs; the stack holds the path. False when the body has a cycle. */
static bool visit(Inliner *in, uint8_t *state, int *next, int root, int *count) {
  enum { NEW, OPEN, DONE };
  int top = 0;
  in->stack[top++] = root;
  state[root] = OPEN;
  while (top > 0) {
    int index = in->stack[top - 1];
    const InstantiatedNode *node = &in->body->nodes[index];
    int child = -1;
    while (child < 0 && next[index] < node->num_inputs + node->num_controls) {
      int i = next[index]++;
      int candidate = i < node->num_inputs ? node->inputs[i].node : node->controls[i - node->num_inputs];
      if (is_arg(in, candidate) || in->reused[candidate] || state[candidate] == DONE) continue;
      if (state[candidate] == OPEN) {
        return status_invalid(in->status, "{{node %s}} of function %s is in a cycle", node->def->name,
                              in->body->name);
      }
      child = candidate;
    }
    if (child >= 0) {
      state[child] = OPEN;
      in->stack[top++] = child;
    } else {
      state[index] = DONE;
      in->order[(*count)++] = index;
      top--;
    }
  }
  return true;
}

static bool order_nodes(Inliner *in, int *count) {
  const InstantiationResult *body = in->body;
  *count = 0;
  uint8_t *state = mem_calloc(body->num_nodes + 1, 1);
  int *next = mem_calloc(body->num_nodes + 1, sizeof(int));
  bool ok = (state && next) || status_oom(in->status, "inlining a function");
  for (int i = body->num_args; ok && i < body->num_nodes - body->num_rets; i++) {
    if (in->needed[i] && !in->reused[i] && state[i] == 0) ok = visit(in, state, next, i, count);
  }
  mem_free(state);
  mem_free(next);
  return ok;
}

/* --- adding --- */

/* "scope/name", unique in the graph. */
static const char *node_name(Inliner *in, const char *name) {
  const char *scope = in->options->scope;
  if (!scope || scope[0] == 0) return graph_unique_name(in->graph, name);
  StrBuf text = {0};
  strbuf_printf(&text, "%s/%s", scope, name);
  const char *unique = text.failed ? NULL : graph_unique_name(in->graph, strbuf_text(&text));
  strbuf_free(&text);
  return unique;
}

static bool add_node(Inliner *in, int index) {
  const InstantiatedNode *node = &in->body->nodes[index];
  bool ok = false;
  NodeDef def = *node->def;
  NodeOutput *inputs = mem_calloc(node->num_inputs + 1, sizeof(NodeOutput));
  Node **controls = mem_calloc(node->num_controls + 1, sizeof(Node *));
  def.name = (char *)node_name(in, def.name);
  if (!inputs || !controls || !def.name) {
    status_oom(in->status, "inlining a function");
    goto done;
  }
  for (int i = 0; i < node->num_inputs; i++) {
    inputs[i] = resolve(in, node->inputs[i]);
    if (!inputs[i].node) {
      status_invalid(in->status, "Function %s needs a value for its argument %s", in->body->name,
                     in->body->nodes[node->inputs[i].node].def->name);
      goto done;
    }
  }
  int num_controls = 0;
  for (int i = 0; i < node->num_controls; i++) {
    Node *control = resolve(in, (InstantiatedInput){node->controls[i], 0}).node;
    if (control) controls[num_controls++] = control;
  }
  TRY_DONE(graph_add_operation(in->graph, &def, inputs, node->num_inputs, controls, num_controls,
                               &in->nodes[index], in->status));
  in->added[in->num_added++] = in->nodes[index];
  ok = true;
done:
  mem_free(inputs);
  mem_free(controls);
  return ok;
}

static bool inline_body(Inliner *in, NodeOutput *outputs) {
  const InstantiationResult *body = in->body;
  int count;
  TRY(new_inliner(in));
  find_reuse(in);
  mark_needed(in);
  TRY(order_nodes(in, &count));
  for (int i = 0; i < count; i++) TRY(add_node(in, in->order[i]));
  for (int i = 0; i < body->num_rets; i++) {
    const bool *wanted = in->options->wanted_outputs;
    outputs[i] = (NodeOutput){NULL, 0};
    if (wanted && !wanted[i]) continue;
    InstantiatedInput input = body->nodes[body->num_nodes - body->num_rets + i].inputs[0];
    outputs[i] = resolve(in, input);
    if (!outputs[i].node) {
      return status_invalid(in->status, "Function %s needs a value for its argument %s", body->name,
                            body->nodes[input.node].def->name);
    }
  }
  return true;
}

bool function_inline_body(Graph *graph, const InstantiationResult *body, const NodeOutput *inputs,
                          const FunctionInlineOptions *options, NodeOutput *outputs, Status *status) {
  Inliner in = {.graph = graph, .body = body, .inputs = inputs, .options = options, .status = status};
  bool ok = inline_body(&in, outputs);
  for (int64_t i = in.num_added; !ok && i > 0; i--) graph_remove_node(graph, in.added[i - 1]);
  free_inliner(&in);
  return ok;
}

bool function_inline(Graph *graph, const FunctionDef *function, const AttrEntry *const *attrs, int num_attrs,
                     const NodeOutput *inputs, int num_inputs, const bool *wanted_outputs, const char *scope,
                     const FunctionInlineReuse *reuse, NodeOutput *outputs, int num_outputs, Status *status) {
  bool ok = false;
  InstantiationResult *body;
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "inlining a function");
  TRY_DONE(function_instantiate(graph, function, attrs, num_attrs, arena, &body, status));
  if (body->num_args != num_inputs || body->num_rets != num_outputs) {
    status_invalid(status, "Inlining mismatch: function %s has %d arguments and %d results, not %d and %d",
                   body->name, body->num_args, body->num_rets, num_inputs, num_outputs);
    goto done;
  }
  for (int i = 0; i < num_inputs; i++) {
    if (!inputs[i].node) continue;
    DataType type = (DataType)dtype_base(node_output_type(inputs[i]));
    if (type == (DataType)dtype_base(body->arg_types[i])) continue;
    status_invalid(status, "Inlining mismatch: argument %s of function %s is %s, not %s",
                   body->nodes[i].def->name, body->name, dtype_name(body->arg_types[i]), dtype_name(type));
    goto done;
  }
  FunctionInlineOptions options = {.wanted_outputs = wanted_outputs,
                                   .scope = scope,
                                   .reuse = reuse,
                                   .keep_stateful = true};
  ok = function_inline_body(graph, body, inputs, &options, outputs, status);
done:
  arena_free(arena);
  return ok;
}
