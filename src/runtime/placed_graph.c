#include "runtime/placed_graph.h"

static bool several(const PlacedGraph *placed) {
  return placed->options.devices && placed->options.devices->count > 1;
}

void placed_graph_free(PlacedGraph *placed) {
  arena_free(placed->arena);
  placed->arena = NULL;
  placed->done = false;
}

/* With one device, nodes that ask for no device are where they can be. */
static bool needs_placing(const PlacedGraph *placed, const Graph *graph) {
  return several(placed) || placed->options.log_device_placement || graph_requests_devices(graph);
}

static bool update(PlacedGraph *placed, const Graph *graph, Status *status) {
  if (!placed->options.devices || !needs_placing(placed, graph)) return true;
  int64_t mutation_count = graph_mutation_count(graph);
  if (placed->done && placed->mutation_count == mutation_count &&
      placed->placement.size == graph_num_node_ids(graph))
    return true;
  placed_graph_free(placed);
  placed->arena = arena_new();
  if (!placed->arena) return status_oom(status, "the placement of a graph");
  placed->done = place_graph(graph, &placed->options, placed->arena, &placed->placement, status);
  placed->mutation_count = mutation_count;
  bool keep = placed->done && several(placed);
  if (!keep) {
    arena_free(placed->arena);
    placed->arena = NULL;
  }
  return placed->done;
}

bool placed_graph_client(PlacedGraph *placed, Graph *graph, const StepSignature *signature,
                         FunctionBody **body, Status *status) {
  TRY(update(placed, graph, status));
  TRY(client_graph_of_step(graph, signature, body, status));
  if (!several(placed) ||
      placement_assign(&placed->placement, graph, placed->options.devices, (*body)->graph, status))
    return true;
  function_body_free(*body);
  *body = NULL;
  return false;
}
