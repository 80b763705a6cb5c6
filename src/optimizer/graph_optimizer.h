/* All passes over a graph, again and again until nothing changes: TensorFlow's GraphOptimizer. */
#ifndef TFCORE_OPTIMIZER_GRAPH_OPTIMIZER_H_
#define TFCORE_OPTIMIZER_GRAPH_OPTIMIZER_H_

#include "optimizer/inline_functions.h"

enum { OPTIMIZER_MAX_ROUNDS = 10 };

/* TensorFlow's OptimizerOptions. */
typedef enum OptimizerLevel {
  OPTIMIZER_L0 = -1, /* only what is asked for */
  OPTIMIZER_L1 = 0,  /* common subexpressions and constant folding as well */
} OptimizerLevel;

typedef struct OptimizerOptions {
  OptimizerLevel opt_level;
  bool do_common_subexpression_elimination, do_constant_folding;
  bool do_function_inlining;            /* with it dead nodes and identities are removed, too */
  int64_t max_folded_constant_in_bytes; /* 0: CONSTANT_FOLDING_MAX_BYTES */
  bool trust_shapes;                    /* shape ops are folded where shapes are known */
  int max_rounds;                       /* 0: OPTIMIZER_MAX_ROUNDS */
  /* Nodes that are fed, fetched or run by somebody: they stay as they are, and their values are not taken for
   * constants. May be NULL. */
  const NodeSet *keep;
  bool (*consider_folding)(const Node *node); /* NULL, or false for nodes to leave alone */
  bool (*consider_merging)(const Node *node);
  const FunctionBodySource *source; /* NULL: no function is inlined */
  const ExpandOptions *expand;      /* NULL: expand_options_default */
} OptimizerOptions;

/* What the function runtime does with a body: everything, and functions inlined. */
OptimizerOptions optimizer_options_all(const FunctionBodySource *source);

/* Optimises in place: in each round lists converted to arrays and back, dead nodes, identities, constants,
 * edges of source and sink, common subexpressions, calls; up to OPTIMIZER_MAX_ROUNDS of them. `changed` may
 * be NULL. On error (memory, or RESOURCE_EXHAUSTED as inlining says) the graph is valid and computes what it
 * did. */
MUST_CHECK bool graph_optimize(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status);

#endif
