/* Passes that take away what computes nothing. Each changes the graph in place, in linear time, and tells
 * whether it did; on error (memory) the graph is valid. Edges of source and sink are not made anew:
 * graph_fixup_source_and_sink_edges.
 *
 * `keep` (may be NULL) are nodes that somebody outside knows, because they are fed, fetched or run: they
 * stay.
 */
#ifndef TFCORE_OPTIMIZER_GRAPH_CLEANUP_H_
#define TFCORE_OPTIMIZER_GRAPH_CLEANUP_H_

#include "graph/graph.h"

/* TensorFlow's RemoveDeadNodes: nodes that neither ops with state, nor control flow, nor sink need. */
MUST_CHECK bool graph_remove_dead_nodes(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

/* TensorFlow's RemoveIdentityNodes: Identity nodes whose one input is data, no reference, and not from Recv
 * or Switch, and that have consumers; these read, or wait for, what the Identity reads. */
MUST_CHECK bool graph_remove_identity_nodes(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

/* TensorFlow's RemoveListArrayConverter: _ListToArray and _ArrayToList nodes `n` become Identity nodes
 * `Func/n/input/_0`, with NoOps `Func/n/input_control_node/_1` and `Func/n/output_control_node/_2` for what
 * they wait for and what waits for them. */
MUST_CHECK bool graph_remove_list_array_converters(Graph *graph, const NodeSet *keep, bool *changed,
                                                   Status *status);

#endif
