/* Client graphs: the part of a graph that one step or one function runs, as a function of its own. A client
 * graph is private: passes change it (optimizer/graph_optimizer.h), and a program is compiled from it
 * (runtime/program.h).
 *
 *   StepSignature signature = {.feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1};
 *   client_graph_of_step(graph, &signature, &body, &status);
 *
 * Its arguments are the fed outputs, and its results are the fetched outputs, in the same order. The `_Arg`
 * and `_Retval` nodes have TensorFlow's names: `_arg_x_0_0` and `_retval_y_0_0` (node, output, position). The
 * control results are the targets and all nodes with effects (node_has_effects), except those of a step that
 * change TensorArrays. Nodes with effects run even when a pass finds that no node reads their outputs. All
 * other nodes keep their names and the order of their ids.
 */
#ifndef TFCORE_RUNTIME_CLIENT_GRAPH_H_
#define TFCORE_RUNTIME_CLIENT_GRAPH_H_

#include "function/function_body.h"

/* Readers of `to` read `from` instead. */
typedef struct TensorConnection {
  NodeOutput from, to;
} TensorConnection;

/* The feeds, fetches and targets of a step. All borrowed. */
typedef struct StepSignature {
  const NodeOutput *feeds;
  int num_feeds;
  const NodeOutput *fetches;
  int num_fetches;
  Node *const *targets;
  int num_targets;
  const TensorConnection *connections;
  int num_connections;
  bool any_shapes; /* feeds may have other shapes than the graph inferred */
  /* Without that: the rank and the sizes of each feed, which its values have; NULL: what the graph inferred.
   */
  const int64_t *feed_dims;
  int num_feed_dims;
} StepSignature;

/* A copy in the arena. */
MUST_CHECK bool step_signature_copy(const StepSignature *from, Arena *arena, StepSignature *to,
                                    Status *status);
/* INVALID_ARGUMENT when one of its nodes is not (or no longer) of this graph. */
MUST_CHECK bool step_signature_check(const StepSignature *signature, const Graph *graph, Status *status);

/* Makes the client graph of a step. It shares attr values and shapes with the graph, which must outlive it.
 * Shapes are inferred again when feeds or connections change them. Errors: INVALID_ARGUMENT, in TensorFlow's
 * words, for an output that does not exist, that is fed or connected twice, or that is both fed and fetched;
 * for an empty request; for a value fed where a reference is required; for an input that is not connected;
 * for a connection that would create a cycle. */
MUST_CHECK bool client_graph_of_step(Graph *graph, const StepSignature *signature, FunctionBody **body,
                                     Status *status);
/* Makes the client graph of a function: the part that a call runs (function_body_prune). It shares values
 * with `function`, which must outlive it. */
MUST_CHECK bool client_graph_of_function(const FunctionBody *function, FunctionBody **body, Status *status);

#endif
