/* Removes control edges that order nothing: those from nodes that run as soon as a step begins, without an
 * effect, and those from nodes that their reader needs anyway, however far behind its inputs. Inlined
 * functions and what TensorFlow exports have many of both kinds, and a node that is waited for is fused with
 * no other.
 */
#ifndef TFCORE_OPTIMIZER_NEEDLESS_WAITS_H_
#define TFCORE_OPTIMIZER_NEEDLESS_WAITS_H_

#include "graph/graph.h"

/* NoOps with a single reader, and Identities that waited for nothing else, go too. Nodes of `keep` (may be
 * NULL) stay. Takes linear time: in graphs where a search would take longer, some edges stay. On error (out
 * of memory) the graph computes the same as before. */
MUST_CHECK bool graph_drop_needless_waits(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
