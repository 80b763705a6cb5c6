/* The functions a graph carries, and which op a name means. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

/* What the registry would know of a function: nothing but that it has the shape function of the unknown. */
static const OpRegistration kFunctionRegistration = {.name = "", .shape = shape_unknown_outputs};

bool graph_op_is_function(const Op *op) { return op && op->registration == &kFunctionRegistration; }

/* --- equality: the order of nodes, attrs and control inputs says nothing --- */

static const NodeDef *find_body_node(const FunctionDef *function, const StringMap *nodes, const char *name) {
  intptr_t index = (intptr_t)string_map_find(nodes, name);
  return index > 0 ? function->node_def[index - 1] : NULL;
}

static bool same_body_node(const NodeDef *a, const NodeDef *b) {
  if (strcmp(a->op, b->op) != 0 || strcmp(a->device, b->device) != 0 || a->n_attr != b->n_attr ||
      a->n_input != b->n_input) {
    return false;
  }
  for (size_t i = 0; i < a->n_attr; i++) {
    const AttrValue *other = node_def_attr(b, a->attr[i]->key);
    if (!other || !attr_value_equal(a->attr[i]->value, other)) return false;
  }
  for (size_t i = 0; i < a->n_input; i++) {
    if (a->input[i][0] != '^') {
      if (strcmp(a->input[i], b->input[i]) != 0) return false;
      continue;
    }
    bool found = false;
    for (size_t j = i; j < b->n_input && !found; j++) found = strcmp(a->input[i], b->input[j]) == 0;
    for (size_t j = 0; j < i && !found; j++) found = strcmp(a->input[i], b->input[j]) == 0;
    if (!found) return false;
  }
  return true;
}

/* *equal is meant only when true is returned; false: out of memory. */
static bool functions_equal(const FunctionDef *a, const FunctionDef *b, bool *equal, Status *status) {
  *equal = proto_equal(a, b);
  if (*equal || a->n_node_def != b->n_node_def) return true;
  /* Everything but the nodes as messages, the nodes by name. */
  FunctionDef a_head = *a, b_head = *b;
  a_head.n_node_def = b_head.n_node_def = 0;
  if (!proto_equal(&a_head, &b_head)) return true;
  StringMap nodes = {0};
  bool ok = true;
  for (size_t i = 0; i < b->n_node_def && ok; i++) {
    ok = string_map_set(&nodes, b->node_def[i]->name, (void *)(intptr_t)(i + 1), status);
  }
  *equal = ok && nodes.count == (int64_t)b->n_node_def;
  for (size_t i = 0; i < a->n_node_def && ok && *equal; i++) {
    const NodeDef *other = find_body_node(b, &nodes, a->node_def[i]->name);
    *equal = other && same_body_node(a->node_def[i], other);
  }
  string_map_free(&nodes);
  return ok;
}

/* --- functions --- */

static GraphFunction *find_function(const Graph *graph, const char *name) {
  if (graph->library) graph = graph->library; /* the graph of a body */
  return string_map_find(&graph->function_names, name);
}

/* True when the function is new; *known when an equal one is there already. */
static bool check_function(const Graph *graph, const FunctionDef *function, bool *known, Status *status) {
  *known = false;
  if (!function->signature || !function->signature->name[0])
    return status_invalid(status, "A function must have a name.");
  const char *name = function->signature->name;
  const GraphFunction *other = find_function(graph, name);
  if (other) {
    TRY(functions_equal(other->def, function, known, status));
    if (*known) return true;
    return status_invalid(
        status, "Cannot add function '%s' because a different function with the same name already exists.",
        name);
  }
  if (!op_registry_find(graph->ops, name)) return true;
  return status_invalid(status, "Cannot add function '%s' because an op with the same name already exists.",
                        name);
}

static bool insert_function(Graph *graph, FunctionDef *function, Status *status) {
  GraphFunction *entry = arena_alloc(graph->arena, sizeof *entry);
  if (!entry || !mem_grow((void **)&graph->functions, &graph->function_capacity, graph->num_functions + 1,
                          sizeof *graph->functions)) {
    return status_oom(status, "a function");
  }
  *entry = (GraphFunction){function, {function->signature, &kFunctionRegistration}};
  TRY(string_map_set(&graph->function_names, function->signature->name, entry, status));
  graph->functions[graph->num_functions++] = entry;
  /* A consumer must be new enough to know functions. */
  if (graph->versions.min_consumer < GRAPH_DEF_MIN_CONSUMER_FUNCTIONS) {
    graph->versions.min_consumer = GRAPH_DEF_MIN_CONSUMER_FUNCTIONS;
  }
  return true;
}

bool graph_take_function(Graph *graph, FunctionDef *function, Status *status) {
  bool known;
  TRY(check_function(graph, function, &known, status));
  return known || insert_function(graph, function, status);
}

bool graph_add_function(Graph *graph, const FunctionDef *function, Status *status) {
  bool known;
  TRY(check_function(graph, function, &known, status));
  if (known) return true;
  GraphMark mark = graph_mark(graph);
  FunctionDef *copy = proto_copy(function, graph->arena);
  bool ok = (copy || status_oom(status, "a function")) && insert_function(graph, copy, status);
  return ok || graph_rollback(graph, mark);
}

const FunctionDef *graph_find_function(const Graph *graph, const char *name) {
  const GraphFunction *function = find_function(graph, name);
  return function ? function->def : NULL;
}

int64_t graph_num_functions(const Graph *graph) { return graph->num_functions; }

const FunctionDef *graph_function(const Graph *graph, int64_t i) {
  return i >= 0 && i < graph->num_functions ? graph->functions[i]->def : NULL;
}

bool graph_look_up_op(const Graph *graph, const char *name, const Op **op, Status *status) {
  const GraphFunction *function =
      graph->num_functions > 0 || graph->library ? find_function(graph, name) : NULL;
  if (function) {
    *op = &function->op;
    return true;
  }
  return op_registry_look_up(graph->ops, name, op, status);
}

/* --- gradients of functions --- */

bool graph_add_gradient_def(Graph *graph, const char *function, const char *gradient, Status *status) {
  const char *other = graph_find_gradient_def(graph, function);
  if (other) {
    if (strcmp(other, gradient) == 0) return true;
    return status_invalid(
        status, "Cannot assign gradient function '%s' to '%s' because it already has gradient function '%s'",
        gradient, function, other);
  }
  GraphMark mark = graph_mark(graph);
  char *key = arena_strdup(graph->arena, function), *value = arena_strdup(graph->arena, gradient);
  bool ok = ((key && value) || status_oom(status, "a gradient function")) &&
            string_map_set(&graph->gradient_names, key, value, status);
  return ok || graph_rollback(graph, mark);
}

const char *graph_find_gradient_def(const Graph *graph, const char *function) {
  return string_map_find(&graph->gradient_names, function);
}

/* --- libraries --- */

static bool add_library(Graph *graph, const FunctionDefLibrary *library, Status *status) {
  for (size_t i = 0; i < library->n_function; i++)
    TRY(graph_add_function(graph, library->function[i], status));
  for (size_t i = 0; i < library->n_gradient; i++) {
    const GradientDef *gradient = library->gradient[i];
    TRY(graph_add_gradient_def(graph, gradient->function_name, gradient->gradient_func, status));
  }
  return true;
}

bool graph_add_function_library(Graph *graph, const FunctionDefLibrary *library, Status *status) {
  GraphMark mark = graph_mark(graph);
  FunctionMark functions = graph_function_mark(graph);
  int32_t min_consumer = graph->versions.min_consumer;
  if (add_library(graph, library, status)) return true;
  graph->versions.min_consumer = min_consumer;
  graph_drop_functions(graph, functions);
  return graph_rollback(graph, mark);
}

/* --- coming back --- */

FunctionMark graph_function_mark(const Graph *graph) {
  return (FunctionMark){graph->num_functions, graph->gradient_names.count, graph->bodies};
}

void graph_drop_functions(Graph *graph, FunctionMark mark) {
  graph_drop_bodies(graph, mark.bodies);
  while (graph->num_functions > mark.num_functions) {
    string_map_remove(&graph->function_names, graph->functions[--graph->num_functions]->def->signature->name);
  }
  for (int64_t i = graph->gradient_names.num_entries;
       i-- > 0 && graph->gradient_names.count > mark.num_gradients;) {
    const char *key = graph->gradient_names.entries[i].key;
    if (key) string_map_remove(&graph->gradient_names, key);
  }
}
