/* Graphs of devices as lines that do not depend on the names of the nodes that partitioning adds: such a node
 * is called by what it stands for. */
#ifndef TFCORE_TESTS_PARTITION_LINES_H_
#define TFCORE_TESTS_PARTITION_LINES_H_

#include "graph/graph.h"
#include "json.h"

enum { PART_MOST_NODES = 400, PART_MOST_INPUTS = 16 };

typedef struct PartNode {
  const char *device, *name, *op, *tensor_name, *recv_device;
  const char *inputs[PART_MOST_INPUTS];
  int num_inputs;
} PartNode;

typedef struct PartNodes {
  const Graph *original; /* whose nodes keep their names */
  Arena *arena;
  PartNode nodes[PART_MOST_NODES];
  int count;
} PartNodes;

/* The nodes of a device as the oracle wrote them down. */
void add_json_part(PartNodes *parts, const char *device, const Json *nodes);
void add_graph_part(PartNodes *parts, const char *device, const Graph *graph, Status *status);
/* A line for each node, sorted: its device, what it is, its op and its inputs. */
void print_parts(const PartNodes *parts, StrBuf *out);

#endif
