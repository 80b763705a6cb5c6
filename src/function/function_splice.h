/* Splicing: a function's nodes are added to a graph whose values are its arguments.
 *
 * Gradients are added this way: no node calls the function, and only what the wanted results need is added.
 * Replacing a node that calls a function, with its name, control edges, devices and frames, is
 * optimizer/inline_functions.h. */
#ifndef TFCORE_FUNCTION_FUNCTION_SPLICE_H_
#define TFCORE_FUNCTION_FUNCTION_SPLICE_H_

#include "function/function_body.h"

typedef struct SpliceOptions {
  const bool *wanted_outputs; /* per result; NULL: all */
  const char *scope;          /* NULL or "": names as they are in the body */
  /* A node of the graph, or NULL. It is used instead of adding nodes that have its op, attrs and inputs. A
   * gradient that computes its forward op again shares that op this way. */
  Node *reuse;
  bool keep_stateful; /* stateful nodes and control results are added too */
} SpliceOptions;

/* Adds what the wanted results need. Nodes are named `scope`/name, made unique. `inputs` are num_args
 * values; an input that is not needed may have a NULL node. `outputs` are num_rets values, with NULL nodes
 * where not wanted. INVALID_ARGUMENT when a needed input is missing and when the body has a cycle. All or
 * nothing: on error no node is left in the graph. */
MUST_CHECK bool function_splice_body(Graph *graph, const FunctionBody *body, const NodeOutput *inputs,
                                     const SpliceOptions *options, NodeOutput *outputs, Status *status);

/* Which arguments function_splice_body would read; num_args booleans. `inputs` are read only with `reuse`. */
MUST_CHECK bool function_splice_needed_args(const FunctionBody *body, const NodeOutput *inputs,
                                            const SpliceOptions *options, bool *needed_args, Status *status);

#endif
