/* A graph that calls functions, made ready to be compiled: the part that one plan needs, with calls replaced
 * by the functions' bodies (optimizer/inline_functions.h). */
#ifndef TFCORE_RUNTIME_EXPAND_H_
#define TFCORE_RUNTIME_EXPAND_H_

#include "optimizer/inline_functions.h"
#include "runtime/plan.h"

/* Calls in bodies are replaced this deep; those that are deeper are calls in the plan. Nodes may be this
 * many. */
enum { EXPAND_MAX_DEPTH = 64, EXPAND_MAX_NODES = 1 << 18 };

typedef struct Expansion {
  Graph *graph;  /* the caller's to free; shares attr values with the original */
  PlanSpec spec; /* what was asked for, in this graph: in the same order */
  CallSites sites;      /* of the nodes of bodies; to be freed */
  const Node **origins;       /* per node id: the original, or the outermost call whose body it comes from */
  const char *const *inlined; /* per node id: NULL, or for a node of a body a name that no other node of the
                                 same origin has */
} Expansion;

/* Whether what the spec needs calls functions that can be inlined. */
MUST_CHECK bool graph_calls_functions(const Graph *graph, const PlanSpec *spec, Arena *arena, bool *calls,
                                      Status *status);
/* Arrays in `arena`. Nodes of the graph keep their names, those of a body are called `call/node`. Fed values
 * are placeholders in the new graph. Calls of functions with effects stay, and so do those that cannot be
 * inlined; all stay when `bodies` is NULL. RESOURCE_EXHAUSTED for bodies that grow beyond all bounds. */
MUST_CHECK bool graph_expand_calls(const Graph *graph, const PlanSpec *spec, const FunctionBodySource *bodies,
                                   Arena *arena, Expansion *expansion, Status *status);

#endif
