/* What the files of partitioning share. */
#ifndef TFCORE_PLACEMENT_PARTITION_INTERNAL_H_
#define TFCORE_PLACEMENT_PARTITION_INTERNAL_H_

#include "graph/loop_tree.h"
#include "placement/partition.h"

/* The loop that a part runs to follow a loop of the graph. */
typedef struct ControlLoop {
  struct ControlLoop *next;
  int32_t loop; /* of Split.loops */
  int part;
  Node *merge;
  Node *pivot; /* the Switch: its second input is the condition, which may be in another part */
} ControlLoop;

/* A value that is sent to a part. */
typedef struct Channel {
  struct Channel *next; /* from the same node */
  int output;           /* CONTROL_SLOT: of a control edge */
  int part;
  Node *send, *recv;
  Node *reader; /* of a reference's value: the only node that reads it; NULL: there are several */
  Node *end;    /* the node in that part whose output is the value, or whose end is the signal */
} Channel;

typedef struct Split {
  Graph *graph;
  const DeviceSet *devices;
  Arena *arena;
  Status *status;
  int32_t *part_of; /* per node id; grows with the graph */
  int64_t part_capacity;
  const int32_t *device_of_part;
  int num_parts;  /* that of the devices, or more: stages.c */
  LoopTree loops; /* before nodes were added */
  Node **order;   /* the nodes of then, inputs first but for what closes loops */
  int64_t num_ordered;
  Node **conditions,
      **enters; /* per loop: its LoopCond or the _Recv of it, and one of its Enters; NULL: none */
  ControlLoop *control_loops;
  Channel **channels; /* per node id of the graph as it was */
  int64_t *keys;      /* per node id: nodes should come in the order of these; grows with the graph */
  int64_t key_capacity;
  int64_t num_old; /* ids of the graph as it was */
} Split;

/* The part that the node is in. */
int split_part(const Split *s, const Node *node);
/* The device of a part. */
const Device *split_device(const Split *s, int part);
/* Between the keys of two nodes that there were is room for what comes before and behind them. */
enum { KEYS_PER_NODE = 4 };
/* Puts a new node into a part, and gives it a key: `place` -1 for before the node `beside`, 1 for behind. */
MUST_CHECK bool split_place(Split *s, Node *node, int part, const Node *beside, int place);
/* The node that reads a value of it first; NULL when none does. */
const Node *split_first_reader(const Node *node);
/* Whether a Merge gets the values of further iterations. */
bool split_closes_loop(const Node *merge);
/* The node comes before one more consumer. */
void split_hurry(Split *s, const Node *node, const Node *consumer);
/* A name that no node has: that of `node` between the two texts, and a number. NULL when out of memory. */
const char *split_name(const Split *s, const char *before, const Node *node, const char *behind);

/* Control loops where values arrive in loops. (control_loops.c) */
MUST_CHECK bool split_add_control_loops(Split *s, Edge *const *edges, int64_t count);
ControlLoop *split_control_loop(const Split *s, int32_t loop, int part);
/* Divides the parts of devices into stages. (stages.c) */
MUST_CHECK bool split_into_stages(Split *s);

/* Leads edges over _Send and _Recv. (send_recv_edges.c) */
MUST_CHECK bool split_edges(Split *s, Edge *const *edges, int64_t count);

#endif
