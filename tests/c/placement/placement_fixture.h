/* Cases of tests/data/oracle/placement.jsonl: a graph, the devices, and what TensorFlow did with them. */
#ifndef TFCORE_TESTS_PLACEMENT_FIXTURE_H_
#define TFCORE_TESTS_PLACEMENT_FIXTURE_H_

#include "device/device.h"
#include "graph/graph.h"
#include "harness.h"
#include "json.h"

#define PLACEMENT_CASES "tests/data/oracle/placement.jsonl"

typedef struct PlacementCase {
  const char *name;
  Arena *arena;
  Graph *graph;
  DeviceSet *devices;
  Status status;
} PlacementCase;

/* A graph of a text; NULL with a failed check when it cannot be imported. */
static inline Graph *graph_of_text(const char *text, Arena *arena, Status *status) {
  Graph *graph = graph_new();
  void *def;
  ImportOptions options = {.skip_colocation_check = true};
  if (CHECK_OK(proto_parse_text(kGraphDef, str_of(text), arena, &def, status), status) &&
      CHECK_OK(graph_import(graph, def, false, &options, arena, NULL, status), status))
    return graph;
  graph_free(graph);
  return NULL;
}

static inline void end_case(PlacementCase *c) {
  device_set_unref(c->devices);
  graph_free(c->graph);
  arena_free(c->arena);
}

static inline bool begin_case(PlacementCase *c, const Json *line) {
  *c = (PlacementCase){.name = json_get(line, "name")->string, .arena = arena_new()};
  status_init(&c->status);
  CHECK_CONTEXT("%s", c->name);
  c->graph = graph_of_text(json_get(line, "graph")->string, c->arena, &c->status);
  if (c->graph &&
      CHECK_OK(device_set_new(LOCAL_TASK, (int)json_get(line, "devices")->integer, &c->devices, &c->status),
               c->status))
    return true;
  end_case(c);
  return false;
}

#endif
