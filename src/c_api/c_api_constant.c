/* TF_TryEvaluateConstant: the value of an output that follows from constants. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "graph/node_class.h"
#include "graph/node_evaluate.h"

/* The values of a node's outputs, as far as they are known. */
typedef struct NodeValue {
  enum { NOT_SEEN, OPEN, KNOWN } state;
  Tensor *outputs;
} NodeValue;

typedef struct Evaluator {
  Graph *graph;
  Arena *arena;
  NodeValue *values; /* by node id */
  Node **stack;      /* the path to the current node */
  int64_t depth, capacity;
  Status *status;
} Evaluator;

static bool out_of_memory(Evaluator *e) { return status_oom(e->status, "the value of a constant"); }

/* Whether the node's value depends only on its inputs and attrs. */
static bool is_pure(const Node *node) {
  const Op *op = node->op;
  if (!op || node_is_function(node) || op->def->is_stateful || node->num_outputs == 0) return false;
  if (node_is_placeholder(node)) return false;
  for (int i = 0; i < node->num_outputs; i++) {
    if (dtype_is_ref(node->output_types[i])) return false;
  }
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node_input_edge(node, i);
    if (!edge || dtype_is_ref(node->input_types[i])) return false;
  }
  return true;
}

/* Values that the graph knows: small constants, shapes. */
static bool ask_graph(Evaluator *e, Node *node, NodeValue *value) {
  for (int i = 0; i < node->num_outputs; i++) {
    bool known = false;
    TRY(graph_constant_value(e->graph, (NodeOutput){node, i}, &value->outputs[i], &known, e->status));
    if (!known) return true;
  }
  value->state = KNOWN;
  return true;
}

/* An error of the computation is not an error of the call: the value is then unknown. */
static void forgive(Evaluator *e) {
  if (e->status->code != CODE_RESOURCE_EXHAUSTED) status_init(e->status);
}

static bool compute(Evaluator *e, Node *node, NodeValue *value) {
  const Tensor **inputs = arena_calloc(e->arena, node->num_inputs, sizeof *inputs);
  if (!inputs) return out_of_memory(e);
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node_input_edge(node, i);
    inputs[i] = &e->values[edge->src->id].outputs[edge->src_output];
  }
  for (int i = 0; i < node->num_outputs; i++) tensor_clear(&value->outputs[i]);
  if (!node_evaluate(node, inputs, value->outputs, e->status)) {
    forgive(e);
    return false;
  }
  value->state = KNOWN;
  return true;
}

static bool push(Evaluator *e, Node *node) {
  NodeValue *value = &e->values[node->id];
  if (value->state == OPEN) return false; /* a loop */
  if (!is_pure(node)) return false;
  value->outputs = arena_calloc(e->arena, node->num_outputs, sizeof(Tensor));
  if (!value->outputs || !mem_grow((void **)&e->stack, &e->capacity, e->depth + 1, sizeof(Node *))) {
    return out_of_memory(e);
  }
  value->state = OPEN;
  e->stack[e->depth++] = node;
  return ask_graph(e, node, value);
}

/* False when there is no value; on an error, the status says why. */
static bool evaluate(Evaluator *e, Node *root) {
  TRY(push(e, root));
  while (e->depth > 0) {
    Node *node = e->stack[e->depth - 1];
    NodeValue *value = &e->values[node->id];
    Node *missing = NULL;
    for (int i = 0; i < node->num_inputs && value->state != KNOWN && !missing; i++) {
      Node *source = node_input_edge(node, i)->src;
      if (e->values[source->id].state != KNOWN) missing = source;
    }
    if (missing) {
      TRY(push(e, missing));
      continue;
    }
    if (value->state != KNOWN) TRY(compute(e, node, value));
    e->depth--;
  }
  return true;
}

static TF_Tensor *value_of(Graph *graph, NodeOutput output, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  Evaluator e = {.graph = graph, .arena = arena_new(), .status = status};
  e.values = mem_calloc(ids, sizeof *e.values);
  TF_Tensor *result = NULL;
  if (!e.arena || !e.values) {
    out_of_memory(&e);
  } else if (evaluate(&e, output.node)) {
    result = take_tensor(&e.values[output.node->id].outputs[output.index], status);
  }
  for (int64_t id = 0; e.values && id < ids; id++) {
    const Node *node = e.values[id].outputs ? graph_node(graph, id) : NULL;
    for (int i = 0; node && i < node->num_outputs; i++) tensor_clear(&e.values[id].outputs[i]);
  }
  mem_free(e.values);
  mem_free(e.stack);
  arena_free(e.arena);
  return result;
}

unsigned char TF_TryEvaluateConstant(TF_Graph *graph, TF_Output output, TF_Tensor **result,
                                     TF_Status *status) {
  start_status(status);
  *result = NULL;
  if (!check_output_index(output, &status->status)) return 0;
  lock_graph(graph);
  if (graph_check_node(graph->graph, operation_node(output.oper), &status->status))
    *result = value_of(graph->graph, to_node_output(output), &status->status);
  unlock_graph(graph);
  return *result != NULL;
}
