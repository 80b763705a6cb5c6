/* The order of the _Send and _Recv nodes of a part of a step.
 *
 * Partitioning numbers the nodes of all parts in one order (placement/partition.h). Parts that send and
 * receive in this order cannot wait for each other in a circle. An order between nodes of different loops is
 * one between the loops.
 */
#ifndef TFCORE_RUNTIME_TRANSFER_ORDER_H_
#define TFCORE_RUNTIME_TRANSFER_ORDER_H_

#include "graph/loop_tree.h"

/* A node (its id) or a whole loop (its number, negated); 0: nothing. */
typedef int64_t TransferUnit;

typedef struct TransferOrder {
  TransferUnit *after_node, *after_loop; /* per node id and per loop: what comes next in its loop */
  uint8_t *node_waits, *loop_waits;      /* whether something comes before */
} TransferOrder;

/* The nodes in `set` by id. Memory comes from `arena`. */
MUST_CHECK bool transfer_order_of(const Graph *graph, const NodeSet *set, const LoopTree *loops, Arena *arena,
                                  TransferOrder *order, Status *status);

#endif
