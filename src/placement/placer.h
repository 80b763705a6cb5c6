/* The placer: gives every node of a graph one of a session's devices.
 *
 *   PlacerOptions options = {.devices = devices};
 *   Placement placement;
 *   TRY(place_graph(graph, &options, arena, &placement, status));
 *   placement.device_of[node->id]                                     index of a device
 *   TRY(placement_assign(&placement, graph, devices, client, status)); node_assigned_device of its nodes
 *
 * Nodes that have to be together form a group: those that are colocated by their attr `_class`, and those
 * that an edge for a reference or a resource connects. A node may ask for a device (NodeDef.device, whole or
 * in parts), and a group goes where all of its members ask to be. A node that makes a reference or a resource
 * decides over the nodes that use it. A group that asks for nothing goes to device 0, with TensorFlow's
 * exceptions: a node without inputs follows its consumers, and one that reads only the shape of its input
 * follows the input.
 *
 * The graph is the whole graph of a session, and it is only read: it may belong to several sessions, whose
 * devices differ. Errors are TensorFlow's, INVALID_ARGUMENT, and name the node.
 */
#ifndef TFCORE_PLACEMENT_PLACER_H_
#define TFCORE_PLACEMENT_PLACER_H_

#include "device/device.h"
#include "graph/graph.h"

typedef struct PlacerOptions {
  const DeviceSet *devices;
  bool allow_soft_placement; /* a type or an id that there is not, or that a group does not agree on, is
                                left open */
  bool log_device_placement; /* base/log.h gets a line for each node */
} PlacerOptions;

typedef struct Placement {
  int32_t *device_of; /* per node id: index into the devices. Nodes have no other ids than those of then */
  int64_t size;
} Placement;

/* With one device this takes a look at each node that asks for a device. The array is in `arena`. Errors:
 * "Malformed device specification 'd' in node: ..."; "Cannot colocate nodes {{colocation_node a}} and ...:
 * Cannot merge devices with incompatible ids: ..."; "Cannot place the graph because a reference or resource
 * edge connects colocation groups with incompatible resource devices: ..."; "Cannot assign a device for
 * operation a: {{node a}} was explicitly assigned to /cpu:2 but available devices are [ ... ]. Make sure the
 * device specification refers to a valid device."; "Cannot assign a device for operation a: Could not satisfy
 * explicit device specification '' because the node {{colocation_node a}} was colocated with a group of nodes
 * that required incompatible device '/device:CPU:5'. ...". */
MUST_CHECK bool place_graph(const Graph *graph, const PlacerOptions *options, Arena *arena,
                            Placement *placement, Status *status);

/* Assigns each node of `client` the device of the node of `placed` with the same name, and the first device
 * when there is no such node: arguments and results of a step are there. */
MUST_CHECK bool placement_assign(const Placement *placement, const Graph *placed, const DeviceSet *devices,
                                 Graph *client, Status *status);

#endif
