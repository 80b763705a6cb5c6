/* Where nodes go, against where TensorFlow's sessions put them (tests/oracle/devices/placement.py). */
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#include "harness.h"
#include "placement/placement_fixture.h"
#include "placement/placer.h"
#include "op/op_registry.h"
#include "ops/op_table.h"
#include "shortage.h"

BEFORE_EACH() {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), status);
}
AFTER_EACH() { op_registry_clear(op_registry_global()); }

/* Of the nodes that TensorFlow has on a device, those of the graph; it adds others of its own. */
static void check_places(const PlacementCase *c, const Placement *placement, const Json *partitions) {
  for (int i = 0; i < partitions->count; i++) {
    DeviceName name;
    if (!CHECK(device_name_parse(str_of(partitions->keys[i]), &name))) continue;
    const Json *nodes = &partitions->items[i];
    for (int k = 0; k < nodes->count; k++) {
      const Node *node = graph_find_node(c->graph, json_get(&nodes->items[k], "name")->string);
      if (!node) continue;
      CHECK_CONTEXT("%s: %s", c->name, node->name);
      CHECK_INT_EQ(placement->device_of[node->id], name.id);
    }
  }
}

static void check_case(const Json *line, void *argument) {
  int *errors = argument;
  PlacementCase c;
  Placement placement;
  if (!begin_case(&c, line)) return;
  CHECK_CONTEXT("%s", c.name);
  PlacerOptions options = {.devices = c.devices, .allow_soft_placement = json_get(line, "soft")->boolean};
  bool ok = place_graph(c.graph, &options, c.arena, &placement, &c.status);
  const Json *error = json_get(line, "error");
  if (error) {
    ++*errors;
    CHECK_ERROR(ok, c.status, (Code)json_get(line, "code")->integer, "");
    CHECK_STR_EQ(c.status.message, error->string);
  } else if (CHECK_OK(ok, c.status)) {
    check_places(&c, &placement, json_get(line, "partitions"));
  }
  end_case(&c);
}

TEST(nodes_go_where_tensorflow_puts_them_or_fail_in_its_words) {
  int errors = 0;
  CHECK_INT_EQ(json_read_lines(PLACEMENT_CASES, check_case, &errors), 150);
  CHECK_INT_EQ(errors, 41);
}

/* --- what a session does with it --- */

typedef struct Placed {
  PlacementCase c;
  Placement placement;
} Placed;

static bool place_text(Placed *p, const char *text, int devices, bool soft) {
  *p = (Placed){.c = {.name = "", .arena = arena_new()}};
  status_init(&p->c.status);
  p->c.graph = graph_of_text(text, p->c.arena, &p->c.status);
  if (!p->c.graph || !CHECK_OK(device_set_new(LOCAL_TASK, devices, &p->c.devices, &p->c.status), p->c.status))
    return false;
  PlacerOptions options = {.devices = p->c.devices,
                           .allow_soft_placement = soft,
                           .log_device_placement = true};
  return place_graph(p->c.graph, &options, p->c.arena, &p->placement, &p->c.status);
}

static void keep_lines(void *arg, const char *line) {
  strbuf_append(arg, line);
  strbuf_append(arg, "\n");
}

TEST(the_placement_is_logged_node_by_node) {
  Placed p;
  StrBuf lines = {0};
  log_set_sink(keep_lines, &lines);
  CHECK(place_text(&p, "node { name: 'a' op: 'NoOp' device: '/cpu:1' } node { name: 'b' op: 'NoOp' }", 2,
                   false));
  log_set_sink(NULL, NULL);
  CHECK_STR_EQ(strbuf_text(&lines),
               "a: (NoOp): /job:localhost/replica:0/task:0/device:CPU:1\n"
               "b: (NoOp): /job:localhost/replica:0/task:0/device:CPU:0\n");
  strbuf_free(&lines);
  end_case(&p.c);
}

TEST(a_client_graph_is_assigned_what_its_nodes_have_in_the_whole_graph) {
  Placed p;
  log_set_sink(keep_lines, &(StrBuf){.failed = true});
  if (CHECK(place_text(&p, "node { name: 'a' op: 'NoOp' device: '/cpu:1' } node { name: 'b' op: 'NoOp' }", 2,
                       false))) {
    Graph *client = graph_of_text(
        "node { name: 'c' op: 'NoOp' } node { name: 'b' op: 'NoOp' } node { name: 'a' op: 'NoOp' }",
        p.c.arena, &p.c.status);
    CHECK_OK(placement_assign(&p.placement, p.c.graph, p.c.devices, client, &p.c.status), p.c.status);
    CHECK_STR_EQ(node_assigned_device(graph_find_node(client, "a")), p.c.devices->devices[1].name);
    CHECK_STR_EQ(node_assigned_device(graph_find_node(client, "b")), p.c.devices->devices[0].name);
    CHECK_STR_EQ(node_assigned_device(graph_find_node(client, "c")), p.c.devices->devices[0].name);
    CHECK_STR_EQ(node_assigned_device(graph_find_node(p.c.graph, "a")), "");
    graph_free(client);
  }
  log_set_sink(NULL, NULL);
  end_case(&p.c);
}

/* With one device the answers are those of two, as far as both have the device. */
TEST(one_device_refuses_what_two_refuse) {
  static const struct {
    const char *device, *error;
  } kCases[] = {{"", NULL},
                {"/cpu:0", NULL},
                {"/job:localhost/device:CPU:*", NULL},
                {"/cpu:1", "available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]."},
                {"/gpu:0", "but CUDA is not enabled."},
                {"/task:1", "was explicitly assigned to /task:1"},
                {"cpu", "Malformed device specification 'cpu' in node: {name:'b'"}};
  log_set_sink(keep_lines, &(StrBuf){.failed = true});
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    Placed p;
    char text[200];
    snprintf(text, sizeof text,
             "node { name: 'a' op: 'NoOp' device: '/cpu:0' } node { name: 'b' op: 'NoOp' device: '%s' }",
             kCases[i].device);
    CHECK_CONTEXT("%s", kCases[i].device);
    bool ok = place_text(&p, text, 1, false);
    if (kCases[i].error) {
      CHECK_ERROR(ok, p.c.status, CODE_INVALID_ARGUMENT, kCases[i].error);
    } else {
      CHECK_OK(ok, p.c.status);
    }
    end_case(&p.c);
  }
  log_set_sink(NULL, NULL);
}

TEST(placing_says_that_memory_ran_out) {
  static const char kText[] =
      "node { name: 'a' op: 'NoOp' device: '/cpu:1' attr { key: '_class' value { list { s: 'loc:@b' } } } } "
      "node { name: 'b' op: 'NoOp' device: '%s' attr { key: '_class' value { list { s: 'loc:@x' s: 'y' } } } "
      "} "
      "node { name: 'h' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { } } } } "
      "node { name: 'i' op: 'VarIsInitializedOp' input: 'h' device: '/cpu:1' }";
  static const char *const kDevices[] = {"/task:0", "/cpu:0", "/cpu:5", "bad"};
  for (int i = 0; i < 4; i++) {
    char text[600];
    snprintf(text, sizeof text, kText, kDevices[i]);
    Shortage shortage = {.what = kDevices[i]};
    do {
      PlacementCase c = {.arena = arena_new()};
      Placement placement;
      status_init(&c.status);
      c.graph = graph_of_text(text, c.arena, &c.status);
      if (!c.graph || !CHECK_OK(device_set_new(LOCAL_TASK, 2, &c.devices, &c.status), c.status)) return;
      PlacerOptions options = {.devices = c.devices};
      shortage_begin(&shortage);
      bool ok = place_graph(c.graph, &options, c.arena, &placement, &c.status);
      shortage_end(&shortage, ok, c.status.code);
      if (ok) CHECK_INT_EQ(placement.device_of[graph_find_node(c.graph, "h")->id], 1);
      end_case(&c);
    } while (shortage_next(&shortage));
  }
}
