/* Common subexpressions: of nodes that compute the same, one is left. */
#ifndef TFCORE_OPTIMIZER_CSE_H_
#define TFCORE_OPTIMIZER_CSE_H_

#include "graph/graph.h"

/* Removes nodes that compute what another node computes; their consumers read the other one. Nodes in `keep`
 * and those that `consider` says false of are left alone (both may be NULL), and so are nodes that cannot be
 * reached from source (graph_fixup_source_and_sink_edges). On error the graph is valid.
 *
 * TensorFlow's rules: same op, equal attrs, same inputs (in any order when the op is commutative) and control
 * inputs; never stateful ops, placeholders, or nodes that take or give references. Beyond TensorFlow's: never
 * calls of functions with effects (node_has_effects) and nodes that make resources or variants. Inputs count
 * as the same when the nodes that compute them are. */
MUST_CHECK bool graph_merge_common(Graph *graph, const NodeSet *keep, bool (*consider)(const Node *node),
                                   bool *changed, Status *status);

#endif
