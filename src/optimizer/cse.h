/* Common subexpressions: nodes that compute the same. Nothing is changed: the caller gets told which nodes
 * may stand for which, and reads the outputs of the one instead of the others'. */
#ifndef TFCORE_OPTIMIZER_CSE_H_
#define TFCORE_OPTIMIZER_CSE_H_

#include "graph/graph.h"

typedef struct CseOptions {
  const NodeOutput *fed; /* their nodes stay as they are: their values come from elsewhere */
  int64_t num_fed;
  bool (*consider)(const Node *node); /* NULL, or false for nodes to leave alone */
} CseOptions;

/* `order` has the nodes in question with every node behind its inputs (graph_topological_order).
 * (*same)[id] becomes the first node that computes what node `id` computes: as a rule the node itself; NULL
 * for nodes that are not in `order`. The array has graph_num_node_ids entries and lives in `arena`.
 *
 * TensorFlow's rules: same op, equal attrs, same inputs (in any order when the op is commutative) and
 * control inputs; never stateful ops, placeholders, or nodes that take or give references; and
 * beyond TensorFlow's, never calls of functions with effects (node_has_effects). Inputs count as
 * the same when the nodes behind them are. */
MUST_CHECK bool graph_find_common(const Graph *graph, Node *const *order, int64_t count,
                                  const CseOptions *options, Arena *arena, Node ***same, Status *status);

/* The pass: nodes that compute what another computes are removed, and their consumers read the other. Nodes
 * that no walk from source meets stay (graph_fixup_source_and_sink_edges), and so do those in `keep`, which
 * may be NULL. On error the graph is valid. */
MUST_CHECK bool graph_merge_common(Graph *graph, const NodeSet *keep, bool (*consider)(const Node *node),
                                   bool *changed, Status *status);

#endif
