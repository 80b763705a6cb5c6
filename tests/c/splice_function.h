/* Adds a function to a graph, with values of the graph as its arguments. */
#ifndef TFCORE_TESTS_SPLICE_FUNCTION_H_
#define TFCORE_TESTS_SPLICE_FUNCTION_H_

#include "function/function_splice.h"

static inline bool splice_function_with(Graph *graph, const FunctionDef *function, const NodeOutput *inputs,
                                        const SpliceOptions *options, NodeOutput *outputs, Status *status) {
  FunctionBody *body;
  TRY(function_body_new_to_splice(graph, function, NULL, 0, &body, status));
  bool ok = function_splice_body(graph, body, inputs, options, outputs, status);
  function_body_free(body);
  return ok;
}

/* All results and all stateful nodes. */
static inline bool splice_function(Graph *graph, const FunctionDef *function, const NodeOutput *inputs,
                                   const char *scope, NodeOutput *outputs, Status *status) {
  const SpliceOptions options = {.scope = scope, .keep_stateful = true};
  return splice_function_with(graph, function, inputs, &options, outputs, status);
}

#endif
