/* A graph that calls functions, made ready to be compiled: the part that one plan needs, with every call
 * replaced by the function's body, to any depth. */
#ifndef TFCORE_RUNTIME_EXPAND_H_
#define TFCORE_RUNTIME_EXPAND_H_

#include "runtime/plan.h"

/* Calls may nest this deep; a function that calls itself goes deeper. Nodes, and calls, that come from bodies
 * may be this many. */
enum { EXPAND_MAX_DEPTH = 64, EXPAND_MAX_NODES = 1 << 18 };

typedef struct Expansion {
  Graph *graph;  /* the caller's to free; shares attr values with the original */
  PlanSpec spec; /* what was asked for, in this graph: feeds and fetches in the same order, targets grew */
  const Node **origins; /* per node id: the original, or the outermost call whose body it comes from */
  const bool *inlined;  /* per node id: it comes from the body of a function */
} Expansion;

/* Whether what the spec needs calls functions. */
MUST_CHECK bool graph_calls_functions(const Graph *graph, const PlanSpec *spec, Arena *arena, bool *calls,
                                      Status *status);
/* Arrays in `arena`. Nodes of the graph keep their names, those of a body are called `call/node`. Fed values
 * are placeholders in the new graph. A call that is needed runs all that has state in its body, and the
 * function's control outputs, whichever of its outputs are read. INVALID_ARGUMENT for calls that are nested
 * too deep, RESOURCE_EXHAUSTED for bodies that grow beyond all bounds. */
MUST_CHECK bool graph_expand_calls(const Graph *graph, const PlanSpec *spec, Arena *arena,
                                   Expansion *expansion, Status *status);

#endif
