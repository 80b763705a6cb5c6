/* What the files of partitioning share. */
#ifndef TFCORE_PLACEMENT_PARTITION_INTERNAL_H_
#define TFCORE_PLACEMENT_PARTITION_INTERNAL_H_

#include "graph/loop_tree.h"
#include "placement/partition.h"

/* The loop that a device runs to follow a loop of the graph. */
typedef struct ControlLoop {
  struct ControlLoop *next;
  int32_t loop; /* of Split.loops */
  int device;
  Node *merge;
  Node *pivot; /* the Switch: its second input is the condition, which may be on another device */
} ControlLoop;

/* A value that is sent to a device. */
typedef struct Channel {
  struct Channel *next; /* from the same node */
  int output;           /* CONTROL_SLOT: of a control edge */
  int device;
  Node *send, *recv;
  Node *reader; /* of a reference's value: the only node that reads it; NULL: there are several */
  Node *end;    /* the node on that device whose output is the value, or whose end is the signal */
} Channel;

typedef struct Split {
  Graph *graph;
  const DeviceSet *devices;
  Arena *arena;
  Status *status;
  int32_t *device_of_name;     /* per index of a device's name in the graph: index into devices, or -1 */
  LoopTree loops;              /* before nodes were added */
  Node **conditions, **enters; /* per loop: its LoopCond and one of its Enters; NULL: none */
  ControlLoop *control_loops;
  Channel **channels; /* per node id of the graph as it was */
  int64_t *keys;      /* per node id: nodes should come in the order of these; grows with the graph */
  int64_t key_capacity;
  int64_t num_old; /* ids of the graph as it was */
} Split;

/* The index of the node's device. */
int split_device(const Split *s, const Node *node);
/* Puts a new node on a device, and gives it a key: `place` -1 for before the node `beside`, 1 for behind. */
MUST_CHECK bool split_place(Split *s, Node *node, int device, const Node *beside, int place);
/* The node comes before one more consumer. */
void split_hurry(Split *s, const Node *node, const Node *consumer);
/* A name that no node has: that of `node` between the two texts, and a number. NULL when out of memory. */
const char *split_name(const Split *s, const char *before, const Node *node, const char *behind);

/* Control loops where values arrive in loops. (control_loops.c) */
MUST_CHECK bool split_add_control_loops(Split *s, Edge *const *edges, int64_t count);
ControlLoop *split_control_loop(const Split *s, int32_t loop, int device);

/* Leads edges over _Send and _Recv. (send_recv_edges.c) */
MUST_CHECK bool split_edges(Split *s, Edge *const *edges, int64_t count);

#endif
