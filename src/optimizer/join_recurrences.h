/* Joins loops that do not depend on each other, such as both directions of a recurrent layer:
 *
 *   f = _FusedRecurrence(h, w, x)   b = _FusedRecurrence(k, v, y)
 *
 * become f, b = _FusedRecurrence(h, w, x, k, v, y), with a group of stages for each (op/fused_op.h). A thread
 * computes one of them from beginning to end. Those of a single loop meet after each stage, which takes them
 * longer than a stage of a small cell. Builds without threads do not run this pass.
 */
#ifndef TFCORE_OPTIMIZER_JOIN_RECURRENCES_H_
#define TFCORE_OPTIMIZER_JOIN_RECURRENCES_H_

#include "graph/graph.h"

/* Joins nodes that graph_fuse_recurrences has made, which are those with ids from `first_id` on: loops of
 * equally many rounds on the same device that are neither dead nor waited for, whose work is
 * RECURRENCE_MOST_WORK at most. Of graphs with very many loops, some stay. On error (out of memory) the graph
 * computes the same as before. */
MUST_CHECK bool graph_join_recurrences(Graph *graph, int64_t first_id, bool *changed, Status *status);

#endif
