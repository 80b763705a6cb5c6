/* The graphs of devices, against those of TensorFlow's sessions (tests/oracle/devices/placement.py): which
 * nodes and edges they have, whatever the new nodes are called. */
#include "placement/partition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/node_class.h"
#include "harness.h"
#include "placement/partition_lines.h"
#include "placement/placement_fixture.h"
#include "placement/placer.h"
#include "runtime/client_graph.h"
#include "shortage.h"

/* --- what a session does --- */

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The outputs of a list of names, sorted as TensorFlow sorts feeds and fetches. */
static int outputs_of(PlacementCase *c, const Json *names, NodeOutput *outputs) {
  const char *sorted[16];
  for (int i = 0; i < names->count; i++) sorted[i] = names->items[i].string;
  qsort(sorted, (size_t)names->count, sizeof *sorted, compare_names);
  for (int i = 0; i < names->count; i++)
    CHECK_OK(graph_find_output(c->graph, sorted[i], &outputs[i], &c->status), c->status);
  return names->count;
}

static bool make_client(PlacementCase *c, const Json *line, FunctionBody **body) {
  NodeOutput feeds[16], fetches[16];
  Node *targets[16];
  const Json *names = json_get(line, "targets");
  StepSignature signature = {.feeds = feeds,
                             .fetches = fetches,
                             .targets = targets,
                             .num_targets = names->count};
  signature.num_feeds = outputs_of(c, json_get(line, "feeds"), feeds);
  signature.num_fetches = outputs_of(c, json_get(line, "fetches"), fetches);
  for (int i = 0; i < names->count; i++) targets[i] = graph_find_node(c->graph, names->items[i].string);
  return CHECK_OK(client_graph_of_step(c->graph, &signature, body, &c->status), c->status);
}

static bool place_client(PlacementCase *c, const Json *line, FunctionBody *body) {
  Placement placement;
  PlacerOptions options = {.devices = c->devices, .allow_soft_placement = json_get(line, "soft")->boolean};
  return CHECK_OK(place_graph(c->graph, &options, c->arena, &placement, &c->status), c->status) &&
         CHECK_OK(placement_assign(&placement, c->graph, c->devices, body->graph, &c->status), c->status);
}

/* --- the parts of a case --- */

/* Parts that run their nodes in the order of ids, each as far as it gets, come to their ends. */
static void check_order(const PlacementCase *c, const Partitions *parts) {
  StringMap sent = {0};
  Status status;
  status_init(&status);
  int64_t at[16] = {0}, done = -1, before = -2;
  while (done != before) {
    before = done;
    done = 0;
    for (int i = 0; i < parts->count; i++) {
      const Graph *graph = parts->parts[i].body->graph;
      for (; at[i] < graph_num_node_ids(graph); at[i]++) {
        const Node *node = graph_node(graph, at[i]);
        Str name;
        if (!node || at[i] <= SINK_ID || (!node_is_send(node) && !node_is_recv(node))) continue;
        CHECK_OK(node_attr_string(node->def, "tensor_name", &name, &status), status);
        StrBuf key = {0};
        strbuf_printf(&key, "%.*s", (int)name.length, name.data);
        CHECK_OK(node_attr_string(node->def, "recv_device", &name, &status), status);
        strbuf_printf(&key, " %.*s", (int)name.length, name.data);
        const char *text = arena_strdup(c->arena, strbuf_text(&key));
        strbuf_free(&key);
        if (node_is_send(node)) CHECK_OK(string_map_set(&sent, text, (void *)node, &status), status);
        if (node_is_recv(node) && !string_map_find(&sent, text)) break;
      }
      done += at[i];
    }
  }
  for (int i = 0; i < parts->count; i++) CHECK_INT_EQ(at[i], graph_num_node_ids(parts->parts[i].body->graph));
  string_map_free(&sent);
}

/* Inputs have smaller ids, but for what comes out of a NextIteration. */
static void check_ids(const Partitions *parts) {
  for (int p = 0; p < parts->count; p++) {
    const Graph *graph = parts->parts[p].body->graph;
    for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
      const Node *node = graph_node(graph, id);
      for (int32_t i = 0; i < node->num_out_edges; i++)
        CHECK(node_is_next_iteration(node) || node->out_edges[i]->dst->id > id);
    }
  }
}

static void check_boundaries(const PlacementCase *c, const FunctionBody *body, const Partitions *parts) {
  int args = 0, rets = 0;
  for (int p = 0; p < parts->count; p++) {
    const Partition *part = &parts->parts[p];
    for (int i = 0; i < part->body->num_args; i++)
      CHECK_STR_EQ(part->body->arg_nodes[i]->name, body->arg_nodes[part->arg_places[i]]->name);
    for (int i = 0; i < part->body->num_rets; i++)
      CHECK_STR_EQ(part->body->ret_nodes[i]->name, body->ret_nodes[part->ret_places[i]]->name);
    args += part->body->num_args;
    rets += part->body->num_rets;
    if (part->device != &c->devices->devices[0]) CHECK_INT_EQ(part->body->num_args + part->body->num_rets, 0);
  }
  CHECK_INT_EQ(args, body->num_args);
  CHECK_INT_EQ(rets, body->num_rets);
}

static void compare_parts(PlacementCase *c, const Json *line, const Partitions *parts) {
  StrBuf got = {0}, want = {0};
  const Json *theirs = json_get(line, "partitions");
  PartNodes nodes = {.original = c->graph, .arena = c->arena};
  for (int i = 0; i < theirs->count; i++) add_json_part(&nodes, theirs->keys[i], &theirs->items[i]);
  print_parts(&nodes, &want);
  nodes.count = 0;
  for (int i = 0; i < parts->count; i++)
    add_graph_part(&nodes, parts->parts[i].device->name, parts->parts[i].body->graph, &c->status);
  print_parts(&nodes, &got);
  CHECK_STR_EQ(strbuf_text(&got), strbuf_text(&want));
  strbuf_free(&got);
  strbuf_free(&want);
}

static void check_case(const Json *line, void *argument) {
  int *count = argument;
  PlacementCase c;
  FunctionBody *body = NULL;
  Partitions parts;
  if (json_get(line, "error") || !begin_case(&c, line)) return;
  CHECK_CONTEXT("%s", c.name);
  if (make_client(&c, line, &body) && place_client(&c, line, body) &&
      CHECK_OK(partition_body(body, c.devices, &parts, &c.status), c.status)) {
    ++*count;
    compare_parts(&c, line, &parts);
    check_ids(&parts);
    check_order(&c, &parts);
    check_boundaries(&c, body, &parts);
    partitions_free(&parts);
  }
  function_body_free(body);
  end_case(&c);
}

TEST(the_graphs_of_devices_are_those_of_tensorflow) {
  int count = 0;
  CHECK_INT_EQ(json_read_lines(PLACEMENT_CASES, check_case, &count), 150);
  CHECK_INT_EQ(count, 109);
}

/* --- what TensorFlow's sessions do not show --- */

#define FLOAT " attr { key: 'T' value { type: DT_FLOAT } } "
#define BOOL " attr { key: 'T' value { type: DT_BOOL } } "

/* A loop over x whose body is on device 1, and with it what hands the value to the next round. */
static const char kLoop[] =
    "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
    "node { name: 'e' op: 'Enter' input: 'p'" FLOAT
    "attr { key: 'frame_name' value { s: 'f' } } } "
    "node { name: 'm' op: 'Merge' input: 'e' input: 'n'" FLOAT
    "attr { key: 'N' value { i: 2 } } } "
    "node { name: 'l' op: 'Less' input: 'm' input: 'm'" FLOAT
    "} "
    "node { name: 'c' op: '%s' input: 'l' %s} "
    "node { name: 's' op: 'Switch' input: 'm' input: 'c'" FLOAT
    "} "
    "node { name: 'b' op: 'Neg' input: 's:1' device: '/cpu:1'" FLOAT
    "} "
    "node { name: 'n' op: 'NextIteration' input: 'b' device: '/cpu:1'" FLOAT
    "} "
    "node { name: 'x' op: 'Exit' input: 's'" FLOAT "}";

typedef struct Loop {
  PlacementCase c;
  FunctionBody *body;
} Loop;

static void end_loop(Loop *l) {
  function_body_free(l->body);
  end_case(&l->c);
}

/* `condition` is the op of the loop's condition. */
static bool begin_loop(Loop *l, const char *condition, const char *attrs, bool placed) {
  char text[2000];
  snprintf(text, sizeof text, kLoop, condition, attrs);
  *l = (Loop){.c = {.name = "a loop", .arena = arena_new()}};
  status_init(&l->c.status);
  l->c.graph = graph_of_text(text, l->c.arena, &l->c.status);
  Node *target = l->c.graph ? graph_find_node(l->c.graph, "x") : NULL;
  StepSignature signature = {.targets = &target, .num_targets = 1};
  Placement placement;
  PlacerOptions options = {0};
  bool ok = target && CHECK_OK(device_set_new(LOCAL_TASK, 2, &l->c.devices, &l->c.status), l->c.status) &&
            CHECK_OK(client_graph_of_step(l->c.graph, &signature, &l->body, &l->c.status), l->c.status);
  options.devices = l->c.devices;
  ok = ok && CHECK_OK(place_graph(l->c.graph, &options, l->c.arena, &placement, &l->c.status), l->c.status);
  if (ok && placed) {
    ok = CHECK_OK(placement_assign(&placement, l->c.graph, l->c.devices, l->body->graph, &l->c.status),
                  l->c.status);
  }
  if (!ok) end_loop(l);
  return ok;
}

TEST(what_goes_to_the_next_round_does_so_where_it_is_merged) {
  Loop l;
  Partitions parts;
  REQUIRE(begin_loop(&l, "LoopCond", "", true));
  if (CHECK_OK(partition_body(l.body, l.c.devices, &parts, &l.c.status), l.c.status)) {
    CHECK_INT_EQ(parts.count, 2);
    const Node *merge = graph_find_node(parts.parts[0].body->graph, "m");
    REQUIRE(merge && node_input_edge(merge, 1));
    CHECK_STR_EQ(node_input_edge(merge, 1)->src->name, "n");
    CHECK(!graph_find_node(parts.parts[1].body->graph, "n"));
    check_ids(&parts);
    check_order(&l.c, &parts);
    partitions_free(&parts);
  }
  end_loop(&l);
}

TEST(a_loop_over_devices_needs_a_condition) {
  Loop l;
  Partitions parts;
  REQUIRE(begin_loop(&l, "Identity", BOOL, true));
  CHECK_ERROR(partition_body(l.body, l.c.devices, &parts, &l.c.status), l.c.status, CODE_INVALID_ARGUMENT,
              "A cross-device loop must have a pivot predicate: f");
  end_loop(&l);
}

TEST(nodes_without_a_device_are_not_partitioned) {
  Loop l;
  Partitions parts;
  REQUIRE(begin_loop(&l, "LoopCond", "", false));
  CHECK_ERROR(partition_body(l.body, l.c.devices, &parts, &l.c.status), l.c.status, CODE_INVALID_ARGUMENT,
              "Malformed assigned device ''");
  end_loop(&l);
}

TEST(results_without_a_device_are_on_the_first) {
  PlacementCase c = {.name = "a result", .arena = arena_new()};
  FunctionBody *body = NULL;
  Partitions parts;
  status_init(&c.status);
  c.graph = graph_of_text(
      "node { name: 'a' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } } } } }",
      c.arena, &c.status);
  REQUIRE_OK(device_set_new(LOCAL_TASK, 2, &c.devices, &c.status), c.status);
  NodeOutput fetch = {graph_find_node(c.graph, "a"), 0};
  StepSignature signature = {.fetches = &fetch, .num_fetches = 1};
  REQUIRE_OK(client_graph_of_step(c.graph, &signature, &body, &c.status), c.status);
  Node *a = graph_find_node(body->graph, "a");
  REQUIRE_OK(graph_set_assigned_device(body->graph, a, c.devices->devices[1].name, &c.status), c.status);
  if (CHECK_OK(partition_body(body, c.devices, &parts, &c.status), c.status)) {
    CHECK_INT_EQ(parts.count, 2);
    CHECK_INT_EQ(parts.parts[0].body->num_rets, 1);
    CHECK_INT_EQ(parts.parts[1].body->num_rets, 0);
    CHECK_INT_EQ(parts.parts[1].body->num_control_rets, 1);
    partitions_free(&parts);
  }
  function_body_free(body);
  end_case(&c);
}

TEST(partitioning_says_that_memory_ran_out) {
  Shortage shortage = {.what = "partitioning"};
  do {
    Loop l;
    Partitions parts;
    if (!begin_loop(&l, "LoopCond", "", true)) return;
    shortage_begin(&shortage);
    bool ok = partition_body(l.body, l.c.devices, &parts, &l.c.status);
    shortage_end(&shortage, ok, l.c.status.code);
    if (ok) partitions_free(&parts);
    end_loop(&l);
  } while (shortage_next(&shortage));
}

/* --- random graphs --- */

static void write_random(StrBuf *text, unsigned seed) {
  strbuf_append(text,
                "node { name: 'n0' op: 'RandomUniform' input: 'shape' attr { key: 'T' value { type: DT_INT32 "
                "} } "
                "attr { key: 'dtype' value { type: DT_FLOAT } } } node { name: 'shape' op: 'Const' "
                "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { "
                "dtype: DT_INT32 tensor_shape { dim { size: 0 } } } } } } ");
  for (int i = 1; i < 60; i++) {
    strbuf_printf(text,
                  "node { name: 'n%d' op: 'Add' input: 'n%d' input: 'n%d' input: '^n%d' device: "
                  "'/cpu:%d'" FLOAT "} ",
                  i, random_to(&seed, i) - 1, random_to(&seed, i) - 1, random_to(&seed, i) - 1,
                  random_to(&seed, 3) - 1);
  }
}

TEST(parts_of_random_graphs_never_wait_for_each_other_in_a_circle) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    StrBuf text = {0};
    PlacementCase c = {.name = "random", .arena = arena_new()};
    FunctionBody *body = NULL;
    Partitions parts;
    Placement placement;
    status_init(&c.status);
    CHECK_CONTEXT("seed %u", seed);
    write_random(&text, seed);
    c.graph = graph_of_text(strbuf_text(&text), c.arena, &c.status);
    strbuf_free(&text);
    REQUIRE_OK(device_set_new(LOCAL_TASK, 3, &c.devices, &c.status), c.status);
    PlacerOptions options = {.devices = c.devices};
    NodeOutput fetches[] = {{graph_find_node(c.graph, "n59"), 0}, {graph_find_node(c.graph, "n50"), 0}};
    StepSignature signature = {.fetches = fetches, .num_fetches = 2};
    if (CHECK_OK(client_graph_of_step(c.graph, &signature, &body, &c.status), c.status) &&
        CHECK_OK(place_graph(c.graph, &options, c.arena, &placement, &c.status), c.status) &&
        CHECK_OK(placement_assign(&placement, c.graph, c.devices, body->graph, &c.status), c.status) &&
        CHECK_OK(partition_body(body, c.devices, &parts, &c.status), c.status)) {
      check_ids(&parts);
      check_order(&c, &parts);
      check_boundaries(&c, body, &parts);
      partitions_free(&parts);
    }
    function_body_free(body);
    end_case(&c);
  }
}
