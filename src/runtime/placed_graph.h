/* Where the nodes of a session's graph are: the placer's answer (placement/placer.h), kept until the graph
 * changes. */
#ifndef TFCORE_RUNTIME_PLACED_GRAPH_H_
#define TFCORE_RUNTIME_PLACED_GRAPH_H_

#include "placement/placer.h"
#include "runtime/client_graph.h"

typedef struct PlacedGraph {
  PlacerOptions options; /* without devices nothing is placed */
  Arena *arena;          /* of the placement, which is kept where there are several devices */
  Placement placement;
  bool done;              /* the graph was placed, */
  int64_t mutation_count; /* when it had changed so often */
} PlacedGraph;

/* client_graph_of_step, with nodes that are assigned to the devices where there are several. The graph is
 * placed as a whole, as in TensorFlow, unless that was done already: a node that cannot be placed is an error
 * for steps that do not need it, too. */
MUST_CHECK bool placed_graph_client(PlacedGraph *placed, Graph *graph, const StepSignature *signature,
                                    FunctionBody **body, Status *status);
void placed_graph_free(PlacedGraph *placed);

#endif
