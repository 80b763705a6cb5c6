/* Passes that remove nodes without a computation. Each changes the graph in place, in linear time, and
 * reports whether it did; on error (out of memory) the graph is valid. They do not restore edges of source
 * and sink: call graph_fixup_source_and_sink_edges.
 *
 * Nodes in `keep` (may be NULL) stay: they are fed, fetched or targets.
 */
#ifndef TFCORE_OPTIMIZER_GRAPH_CLEANUP_H_
#define TFCORE_OPTIMIZER_GRAPH_CLEANUP_H_

#include "graph/graph.h"

/* TensorFlow's RemoveDeadNodes: removes nodes that stateful ops, control flow and sink do not depend on. */
MUST_CHECK bool graph_remove_dead_nodes(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

/* TensorFlow's RemoveIdentityNodes: removes Identity nodes with consumers whose one input is data, not a
 * reference, and not from Recv or Switch. Their consumers read, or wait for, the Identity's input instead. */
MUST_CHECK bool graph_remove_identity_nodes(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

/* TensorFlow's RemoveListArrayConverter: _ListToArray and _ArrayToList nodes `n` become Identity nodes
 * `Func/n/input/_0`, with NoOps `Func/n/input_control_node/_1` and `Func/n/output_control_node/_2` for their
 * control inputs and control outputs. */
MUST_CHECK bool graph_remove_list_array_converters(Graph *graph, const NodeSet *keep, bool *changed,
                                                   Status *status);

#endif
