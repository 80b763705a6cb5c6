/* The names of assigned devices: each is stored once, and nodes have its index. */
#include "base/alloc.h"
#include "graph/graph_internal.h"

bool graph_intern_device(Graph *graph, const char *name, int *index, Status *status) {
  *index = (int)(intptr_t)string_map_find(&graph->device_indices, name);
  if (*index > 0 || !name[0]) return true;
  if (!mem_grow((void **)&graph->devices, &graph->device_capacity, graph->num_devices + 1,
                sizeof *graph->devices)) {
    return status_oom(status, "the name of a device");
  }
  GraphMark mark = graph_mark(graph);
  const char *copy = arena_strdup(graph->arena, name);
  bool ok = (copy || status_oom(status, "the name of a device")) &&
            string_map_set(&graph->device_indices, copy, (void *)(intptr_t)(graph->num_devices + 1), status);
  if (!ok) return graph_rollback(graph, mark);
  graph->devices[graph->num_devices++] = copy;
  *index = (int)graph->num_devices;
  return true;
}

const char *graph_device(const Graph *graph, int index) {
  return index > 0 && index <= graph->num_devices ? graph->devices[index - 1] : "";
}

bool graph_set_assigned_device(Graph *graph, Node *node, const char *name, Status *status) {
  int index;
  TRY(graph_check_node(graph, node, status));
  TRY(graph_intern_device(graph, name, &index, status));
  node->assigned_device = index;
  return true;
}

const char *node_assigned_device(const Node *node) {
  return node->graph ? graph_device(node->graph, node->assigned_device) : "";
}

bool graph_requests_devices(const Graph *graph) { return graph->requests_devices; }
