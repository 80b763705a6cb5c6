/* The lock of a graph that threads share. */
#include "graph/graph_internal.h"

bool graph_lock_init(Graph *graph) {
  graph->has_lock = mutex_init_recursive(&graph->lock);
  return graph->has_lock;
}

void graph_lock_destroy(Graph *graph) {
  if (graph->has_lock) mutex_destroy(&graph->lock);
}

static Graph *owner(Graph *graph) { return graph->library ? graph->library : graph; }

void graph_lock(Graph *graph) { mutex_lock(&owner(graph)->lock); }

void graph_unlock(Graph *graph) { mutex_unlock(&owner(graph)->lock); }
