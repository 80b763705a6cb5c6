/* Common subexpressions: of several nodes that compute the same, one is kept. */
#ifndef TFCORE_OPTIMIZER_CSE_H_
#define TFCORE_OPTIMIZER_CSE_H_

#include "graph/graph.h"

/* Removes nodes that compute the same as another node, and redirects their consumers to that node. Leaves out
 * nodes in `keep`, nodes for which `consider` returns false (both may be NULL), and nodes that are not
 * reachable from source (graph_fixup_source_and_sink_edges). On error the graph is valid.
 *
 * TensorFlow's rules: same op, equal attrs, same inputs (in any order for a commutative op) and control
 * inputs; never stateful ops, placeholders, or nodes with reference inputs or outputs. Additional rules:
 * never calls of functions with effects (node_has_effects), nor nodes that make resources or variants. Inputs
 * are the same if the nodes that compute them are.
 */
MUST_CHECK bool graph_merge_common(Graph *graph, const NodeSet *keep, bool (*consider)(const Node *node),
                                   bool *changed, Status *status);

#endif
