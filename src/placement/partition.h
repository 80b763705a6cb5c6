/* Partitioning: the graph of a step, whose nodes are assigned to devices, becomes a graph for each device; or
 * several for each, if other tasks send values to it (stages.c).
 *
 *   Partitions parts;
 *   TRY(partition_body(body, devices, &parts, status));
 *   parts.parts[i].body       what device parts.parts[i].device runs, or a part of that
 *   partitions_free(&parts);
 *
 * An edge from one device to another becomes a _Send and a _Recv with the same attrs, from which both make
 * the key of the value (op/rendezvous.h). All nodes of a part that read one value share a _Recv. A control
 * edge is the edge of a constant without elements, whose _Recv feeds an Identity that the nodes wait for. In
 * a loop, a device that receives values has a loop of its own, which goes on as long as the loop's condition,
 * sent to it, says: every _Recv waits for the Merge of that loop, and so runs once in each round.
 *
 * Parts that run at the same time never wait for each other in a circle, if each runs its nodes in the order
 * of their ids: these are pieces of one order of the whole graph, in which a loop has no gaps, a _Send comes
 * as early and a _Recv as late as can be.
 */
#ifndef TFCORE_PLACEMENT_PARTITION_H_
#define TFCORE_PLACEMENT_PARTITION_H_

#include "device/device.h"
#include "function/function_body.h"

typedef struct Partition {
  const Device *device;
  FunctionBody *body;    /* its control results are those of the whole in this part, and all of its _Send */
  const int *arg_places; /* per argument of the part: which of the whole it is */
  const int *ret_places; /* and so per result */
} Partition;

typedef struct Partitions {
  Partition *parts; /* in the order of the devices; those that run nothing have no part */
  int count;
  Arena *arena; /* of the arrays */
} Partitions;

/* Arguments and results that are not assigned are put on the first device. `body` is changed: nodes are added
 * and edges led over them. The parts share attr values and shapes with it, and it must outlive them. After an
 * error it can only be freed. Errors: INVALID_ARGUMENT "Malformed assigned device 'd'" for a node that is not
 * on one of the devices; "A cross-device loop must have a pivot predicate: f"; those of graph_control_flow.
 */
MUST_CHECK bool partition_body(FunctionBody *body, const DeviceSet *devices, Partitions *partitions,
                               Status *status);
void partitions_free(Partitions *partitions);

#endif
