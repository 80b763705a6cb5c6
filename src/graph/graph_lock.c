/* The lock of those that run a graph. */
#include "graph/graph_internal.h"

#if GRAPH_HAS_LOCK
bool graph_lock_init(Graph *graph) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  graph->has_lock = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
                    pthread_mutex_init(&graph->lock, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return graph->has_lock;
}

void graph_lock_destroy(Graph *graph) {
  if (graph->has_lock) pthread_mutex_destroy(&graph->lock);
}

static Graph *owner(Graph *graph) { return graph->library ? graph->library : graph; }

void graph_lock(Graph *graph) { pthread_mutex_lock(&owner(graph)->lock); }

void graph_unlock(Graph *graph) { pthread_mutex_unlock(&owner(graph)->lock); }
#else
bool graph_lock_init(Graph *graph) { return graph != NULL; }

void graph_lock_destroy(Graph *graph) { (void)graph; }

void graph_lock(Graph *graph) { (void)graph; }

void graph_unlock(Graph *graph) { (void)graph; }
#endif
