/* Which nodes of a partial run go together: a value must not be kept for a later piece where there may be
 * none. So the nodes from a Switch to its Merge are one unit, the nodes of a loop are, and what hands on a
 * reference and its readers are.
 */
#ifndef TFCORE_RUNTIME_PARTIAL_UNITS_H_
#define TFCORE_RUNTIME_PARTIAL_UNITS_H_

#include "base/arena.h"
#include "graph/graph.h"

/* By node id. Nodes that come later are units of their own. */
typedef struct PartialUnits {
  int64_t *next; /* the next node of the same unit, in a ring */
  int64_t size;
} PartialUnits;

/* In `arena`. Errors: those of graph_control_flow; RESOURCE_EXHAUSTED. */
MUST_CHECK bool partial_units_of(const Graph *graph, Arena *arena, PartialUnits *units, Status *status);

#endif
