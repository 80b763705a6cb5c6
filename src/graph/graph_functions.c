/* The functions of a graph, and the lookup of ops by name. */
#include "base/alloc.h"
#include "graph/graph_internal.h"

FunctionLibraryDefinition *graph_function_library(const Graph *graph) {
  return graph->library ? graph->library->functions : graph->functions;
}

/* --- adding --- */

/* Consumers must be new enough to know functions. */
static void require_consumer(Graph *graph) {
  if (function_library_num_functions(graph->functions) > 0 &&
      graph->versions.min_consumer < GRAPH_DEF_MIN_CONSUMER_FUNCTIONS) {
    graph->versions.min_consumer = GRAPH_DEF_MIN_CONSUMER_FUNCTIONS;
  }
}

bool graph_take_function(Graph *graph, FunctionDef *function, Status *status) {
  TRY(function_library_take_function(graph->functions, function, status));
  require_consumer(graph);
  return true;
}

bool graph_add_function(Graph *graph, const FunctionDef *function, Status *status) {
  TRY(function_library_add_function(graph->functions, function, status));
  require_consumer(graph);
  return true;
}

bool graph_add_function_library(Graph *graph, const FunctionDefLibrary *library, Status *status) {
  TRY(function_library_add_proto(graph->functions, library, status));
  require_consumer(graph);
  return true;
}

bool graph_add_gradient_def(Graph *graph, const char *function, const char *gradient, Status *status) {
  return function_library_add_gradient(graph->functions, function, gradient, status);
}

/* --- lookup --- */

const FunctionDef *graph_find_function(const Graph *graph, const char *name) {
  return function_library_find(graph_function_library(graph), name);
}

int64_t graph_num_functions(const Graph *graph) { return function_library_num_functions(graph->functions); }

const FunctionDef *graph_function(const Graph *graph, int64_t i) {
  return function_library_function(graph->functions, i);
}

const char *graph_find_gradient_def(const Graph *graph, const char *function) {
  return function_library_find_gradient(graph_function_library(graph), function);
}

bool graph_look_up_op(const Graph *graph, const char *name, const Op **op, Status *status) {
  return function_library_look_up(graph_function_library(graph), name, op, status);
}

/* --- rolling back --- */

FunctionMark graph_function_mark(const Graph *graph) {
  return (FunctionMark){function_library_mark(graph->functions), graph->bodies};
}

void graph_drop_functions(Graph *graph, FunctionMark mark) {
  graph_drop_bodies(graph, mark.bodies);
  function_library_drop(graph->functions, mark.library);
}
