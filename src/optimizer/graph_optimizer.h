/* Runs all passes over a graph until nothing changes: TensorFlow's GraphOptimizer. */
#ifndef TFCORE_OPTIMIZER_GRAPH_OPTIMIZER_H_
#define TFCORE_OPTIMIZER_GRAPH_OPTIMIZER_H_

#include "optimizer/fuse_elementwise.h"
#include "optimizer/inline_functions.h"

enum { OPTIMIZER_MAX_ROUNDS = 10 };

/* TensorFlow's OptimizerOptions. */
typedef enum OptimizerLevel {
  OPTIMIZER_L0 = -1, /* only the passes that are enabled explicitly */
  OPTIMIZER_L1 = 0,  /* also common subexpressions and constant folding */
} OptimizerLevel;

typedef struct OptimizerOptions {
  OptimizerLevel opt_level;
  bool do_common_subexpression_elimination, do_constant_folding;
  bool do_function_inlining;            /* also removes dead nodes and identities */
  int64_t max_folded_constant_in_bytes; /* 0: CONSTANT_FOLDING_MAX_BYTES */
  bool trust_shapes;                    /* fold shape ops where shapes are known */
  int max_rounds;                       /* 0: OPTIMIZER_MAX_ROUNDS */
  /* Nodes that are fed, fetched or targets: they stay unchanged, and their values do not count as constants.
   * May be NULL. */
  const NodeSet *keep;
  bool (*consider_folding)(const Node *node); /* may be NULL; false: leave the node unchanged */
  bool (*consider_merging)(const Node *node);
  const FunctionBodySource *source; /* NULL: no inlining */
  const ExpandOptions *expand;      /* NULL: expand_options_default */
  const FuseOptions *fuse;          /* NULL: elementwise nodes are not fused */
} OptimizerOptions;

/* The options of the function runtime for bodies: all passes, with inlining. */
OptimizerOptions optimizer_options_all(const FunctionBodySource *source);

/* Optimises in place. Each round runs: list/array converters, dead nodes, identities, constant folding, edges
 * of source and sink, common subexpressions, inlining; at most OPTIMIZER_MAX_ROUNDS rounds. Fusion follows
 * the last round. `changed` may be NULL. On error (out of memory, or RESOURCE_EXHAUSTED of inlining) the
 * graph is valid and computes the same as before. */
MUST_CHECK bool graph_optimize(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status);

#endif
