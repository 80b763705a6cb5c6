/* Groups of nodes that have to be on one device, and what they ask for. */
#ifndef TFCORE_PLACEMENT_COLOCATION_H_
#define TFCORE_PLACEMENT_COLOCATION_H_

#include "placement/placer.h"

/* A node's place in a forest: that of a root speaks for its group. */
typedef struct Member {
  int32_t parent; /* node id; its own for a root */
  int32_t rank;
  DeviceName requested; /* what all members ask for together */
  DeviceName resource;  /* the part of it that those ask for who make references and resources */
} Member;

typedef struct Colocation {
  const Graph *graph;
  bool soft;
  Member *members; /* per node id; in the arena */
} Colocation;

/* The groups of all nodes. Borrows texts from the graph. */
MUST_CHECK bool colocate(const Graph *graph, const PlacerOptions *options, Arena *arena,
                         Colocation *colocation, Status *status);
/* The member that speaks for the node's group. */
Member *colocation_root(const Colocation *colocation, const Node *node);

/* Appends which nodes a group has and what each asks for: the end of a message. */
void colocation_describe(const Colocation *colocation, const Node *node, StrBuf *out);

#endif
