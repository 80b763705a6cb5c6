/* The backward walk: gradients arrive at the outputs of nodes, and a node is passed when all that can arrive
 * at it has arrived. What passing a node does is the visitor's: graph_gradients.c splices in the gradient of
 * its op, symbolic_gradient.c adds a SymbolicGradient node.
 *
 *   backward_new(&walk, graph, &visitor, &status);
 *   backward_enter(&walk, y);               the nodes where gradients start
 *   backward_find_members(&walk);           and all that they lead to
 *   backward_arrive(&walk, output, dy);
 *   backward_run(&walk, &passed_all);       calls visitor.pass for one node after the other
 *   backward_sum(&walk, x, &dx);
 */
#ifndef TFCORE_GRADIENT_BACKWARD_H_
#define TFCORE_GRADIENT_BACKWARD_H_

#include "graph/graph.h"

typedef struct BackwardVisitor {
  void *self;
  /* Called when a node becomes a member, before it is asked for its sources; may be NULL. */
  bool (*enter)(void *self, Node *node);
  /* Source `i` of `num_sources` of a member: a node that gets a gradient from it, or NULL. These must always
   * give the same answers. */
  int (*num_sources)(void *self, const Node *node);
  Node *(*source)(void *self, const Node *node, int i);
  /* Called once for a member: takes what arrived at its outputs (backward_sum) and lets gradients arrive at
   * its sources. */
  bool (*pass)(void *self, Node *node);
  /* Adds a node that computes the sum of `count` values, at least two. */
  bool (*add)(void *self, const NodeOutput *values, int count, NodeOutput *sum);
} BackwardVisitor;

/* A gradient that has arrived at an output. */
typedef struct Arrival Arrival;

typedef struct Arrivals {
  Arrival *first, *last; /* in the order of arrival */
  int count;
} Arrivals;

typedef struct Backward {
  Graph *graph;
  BackwardVisitor visitor;
  Status *status;
  Arena *arena;        /* as long as the walk */
  int64_t num_ids;     /* of the nodes that the graph had at first: only these can become members */
  Arrivals **arrivals; /* per id: one for each output of a member; NULL for other nodes */
  int64_t *pending;    /* per id: members, as often as it is their source, that have not passed */
  Node **queue;        /* members */
  int64_t head, tail;
} Backward;

/* Free it with backward_free, also after an error. */
MUST_CHECK bool backward_new(Backward *walk, Graph *graph, const BackwardVisitor *visitor, Status *status);
void backward_free(Backward *walk);

/* Makes the node a member, if it is not one yet. */
MUST_CHECK bool backward_enter(Backward *walk, Node *node);
/* Makes members of the sources of all members. */
MUST_CHECK bool backward_find_members(Backward *walk);
static inline bool backward_is_member(const Backward *walk, const Node *node) {
  return node->id < walk->num_ids && walk->arrivals[node->id];
}

/* A gradient of the output of a member. */
MUST_CHECK bool backward_arrive(Backward *walk, NodeOutput output, NodeOutput gradient);
/* Whether any gradient has arrived at the output. */
bool backward_has_arrived(const Backward *walk, const Node *node, int index);
/* The sum of what has arrived at an output of a member; a NULL node when nothing has. */
MUST_CHECK bool backward_sum(Backward *walk, NodeOutput output, NodeOutput *sum);

/* Passes each member after all members that it is a source of. *all is false when some could not be
 * passed because they are in a cycle. */
MUST_CHECK bool backward_run(Backward *walk, bool *all);

#endif
