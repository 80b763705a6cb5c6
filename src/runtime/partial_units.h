/* The units of a partial run: nodes that must run in the same piece. An output that may be dead cannot be
 * kept for a later piece, and neither can a reference. So there are three kinds of units: the nodes from a
 * Switch to its Merge, the nodes of a loop, and a node that passes on a reference with the readers of it.
 */
#ifndef TFCORE_RUNTIME_PARTIAL_UNITS_H_
#define TFCORE_RUNTIME_PARTIAL_UNITS_H_

#include "base/arena.h"
#include "graph/graph.h"

/* Arrays by node id. Each node that is added later is a unit of its own. */
typedef struct PartialUnits {
  int64_t *next; /* the next node of the same unit, in a ring */
  int64_t size;
} PartialUnits;

/* Memory comes from `arena`. Errors: those of graph_control_flow; RESOURCE_EXHAUSTED. */
MUST_CHECK bool partial_units_of(const Graph *graph, Arena *arena, PartialUnits *units, Status *status);

#endif
