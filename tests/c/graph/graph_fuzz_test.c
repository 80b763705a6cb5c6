/* Random edits of a graph and of a model, which must agree after every step. The model keeps plain lists and
 * does not use the graph's. */
#include "graph_test_ops.h"

enum { MOST_NODES = 48, MOST_EDGES = 512, STEPS = 400, STALE = 64 };

typedef struct ModelEdge {
  int64_t id, src, dst; /* ids of nodes */
  int src_output, dst_input;
} ModelEdge;

typedef struct ModelNode {
  int64_t id;
  char name[32];
  int num_inputs, num_outputs;
} ModelNode;

typedef struct Model {
  Graph *graph;
  ModelNode nodes[MOST_NODES];
  ModelEdge edges[MOST_EDGES];
  int num_nodes, num_edges;
  int64_t next_node, next_edge;
  uint32_t seed;
  Node *stale_nodes[STALE];
  Edge *stale_edges[STALE];
  int num_stale_nodes, num_stale_edges;
} Model;

static uint32_t below(Model *model, uint32_t limit) {
  model->seed = model->seed * 1664525u + 1013904223u;
  return (model->seed >> 8) % limit;
}

static ModelNode *any_node(Model *model) { return &model->nodes[below(model, (uint32_t)model->num_nodes)]; }

static Node *real(const Model *model, int64_t id) { return graph_node(model->graph, id); }

static ModelEdge *find_edge(Model *model, int64_t src, int src_output, int64_t dst, int dst_input) {
  for (int i = 0; i < model->num_edges; i++) {
    ModelEdge *edge = &model->edges[i];
    if (edge->dst == dst && edge->dst_input == dst_input &&
        (dst_input >= 0 || (edge->src == src && edge->src_output == src_output))) {
      return edge;
    }
  }
  return NULL;
}

static void model_edge(Model *model, int64_t src, int src_output, int64_t dst, int dst_input) {
  model->edges[model->num_edges++] = (ModelEdge){model->next_edge++, src, dst, src_output, dst_input};
}

static void drop_edge(Model *model, ModelEdge *edge) { *edge = model->edges[--model->num_edges]; }

static bool has_edge_at(const Model *model, int64_t id, bool out) {
  for (int i = 0; i < model->num_edges; i++) {
    if ((out ? model->edges[i].src : model->edges[i].dst) == id) return true;
  }
  return false;
}

static void model_fixup(Model *model) {
  for (int i = 0; i < model->num_nodes; i++) {
    int64_t id = model->nodes[i].id;
    if (!has_edge_at(model, id, false)) model_edge(model, SOURCE_ID, CONTROL_SLOT, id, CONTROL_SLOT);
    if (!has_edge_at(model, id, true)) model_edge(model, id, CONTROL_SLOT, SINK_ID, CONTROL_SLOT);
  }
}

static void note_stale_edge(Model *model, Edge *edge) {
  if (edge) model->stale_edges[model->num_stale_edges++ % STALE] = edge;
}

/* --- steps --- */

static const struct {
  const char *op;
  int num_inputs, num_outputs;
} kOps[] = {{"TestParams", 0, 1}, {"TestMul", 2, 1}, {"TestOneInputTwoOutputs", 1, 2}, {"ABC", 0, 0}};

static void add_node(Model *model, Status *status) {
  if (model->num_nodes == MOST_NODES) return;
  ModelNode *node = &model->nodes[model->num_nodes];
  uint32_t kind = below(model, 4), name = below(model, 60);
  snprintf(node->name, sizeof node->name, name % 7 ? "n%u" : "scope/n%u", name);
  Node *made = NULL;
  if (below(model, 2) && model->num_nodes > 0) {
    /* A copy of another node, including its name. */
    const ModelNode *from = any_node(model);
    CHECK_OK(graph_copy_node(model->graph, real(model, from->id), &made, status), status);
    *node = *from;
  } else {
    Arena *arena = graph_arena(model->graph);
    NodeDef *def = node_def_new(arena, arena_strdup(arena, node->name), kOps[kind].op);
    CHECK_OK(graph_add_node(model->graph, def, &made, status), status);
    node->num_inputs = kOps[kind].num_inputs;
    node->num_outputs = kOps[kind].num_outputs;
  }
  node->id = model->next_node++;
  CHECK_INT_EQ(made->id, node->id);
  model->num_nodes++;
}

/* A complete operation, with data and control inputs. */
static void add_operation(Model *model, Status *status) {
  const ModelNode *a = any_node(model), *b = any_node(model), *c = any_node(model);
  ModelNode *node = &model->nodes[model->num_nodes];
  if (model->num_nodes == MOST_NODES || a->num_outputs == 0 || b->num_outputs == 0) return;
  snprintf(node->name, sizeof node->name, "op%lld", (long long)model->next_node);
  NodeDef *def = node_def_new(graph_arena(model->graph), node->name, "TestMul");
  int x = (int)below(model, (uint32_t)a->num_outputs), y = (int)below(model, (uint32_t)b->num_outputs);
  NodeOutput inputs[] = {{real(model, a->id), x}, {real(model, b->id), y}};
  Node *controls[] = {real(model, c->id), real(model, a->id), real(model, c->id)}, *made;
  if (!CHECK_OK(graph_add_operation(model->graph, def, inputs, 2, controls, 3, &made, status), status))
    return;
  node->num_inputs = 2;
  node->num_outputs = 1;
  node->id = model->next_node++;
  model->num_nodes++;
  model_edge(model, a->id, x, node->id, 0);
  model_edge(model, b->id, y, node->id, 1);
  model_edge(model, c->id, CONTROL_SLOT, node->id, CONTROL_SLOT);
  if (a != c) model_edge(model, a->id, CONTROL_SLOT, node->id, CONTROL_SLOT);
}

static void remove_node(Model *model) {
  ModelNode *node = any_node(model);
  int64_t id = node->id;
  Node *gone = real(model, id);
  for (int i = 0; i < gone->num_inputs; i++) note_stale_edge(model, gone->inputs[i]);
  note_stale_edge(model, gone->sink_edge);
  model->stale_nodes[model->num_stale_nodes++ % STALE] = gone;
  graph_remove_node(model->graph, gone);
  /* The order of nodes is that of their ids. */
  memmove(node, node + 1, (size_t)(model->nodes + --model->num_nodes - node) * sizeof *node);
  for (int i = model->num_edges - 1; i >= 0; i--) {
    if (model->edges[i].src == id || model->edges[i].dst == id) drop_edge(model, &model->edges[i]);
  }
}

static void add_edge(Model *model, Status *status) {
  const ModelNode *src = any_node(model), *dst = any_node(model);
  int output = (int)below(model, 3), input = (int)below(model, 3);
  Edge *edge = NULL;
  bool valid = output < src->num_outputs && input < dst->num_inputs;
  bool taken = valid && find_edge(model, 0, 0, dst->id, input);
  bool ok =
      graph_add_edge(model->graph, real(model, src->id), output, real(model, dst->id), input, &edge, status);
  CHECK_INT_EQ(ok, valid && !taken);
  CHECK((edge != NULL) == ok);
  if (!ok) CHECK_INT_EQ(status->code, valid ? CODE_INVALID_ARGUMENT : CODE_OUT_OF_RANGE);
  if (ok) model_edge(model, src->id, output, dst->id, input);
}

static void add_control_edge(Model *model, Status *status) {
  int64_t src = any_node(model)->id, dst = any_node(model)->id;
  if (below(model, 5) == 0) src = SOURCE_ID;
  if (src != SOURCE_ID && below(model, 5) == 0) dst = SINK_ID;
  Edge *edge = NULL;
  bool there = find_edge(model, src, CONTROL_SLOT, dst, CONTROL_SLOT) != NULL;
  CHECK_OK(graph_add_control_edge(model->graph, real(model, src), real(model, dst), &edge, status), status);
  CHECK((!edge) == there);
  if (!there) model_edge(model, src, CONTROL_SLOT, dst, CONTROL_SLOT);
}

static void update_edge(Model *model, Status *status) {
  const ModelNode *src = any_node(model), *dst = any_node(model);
  int output = (int)below(model, 2), input = (int)below(model, 2);
  bool valid = output < src->num_outputs && input < dst->num_inputs;
  ModelEdge *old = valid ? find_edge(model, 0, 0, dst->id, input) : NULL;
  bool ok =
      graph_update_edge(model->graph, real(model, src->id), output, real(model, dst->id), input, status);
  CHECK_INT_EQ(ok, old != NULL);
  if (!old) return;
  drop_edge(model, old);
  model_edge(model, src->id, output, dst->id, input);
}

static void remove_edge(Model *model, Status *status) {
  if (model->num_edges == 0) return;
  ModelEdge *edge = &model->edges[below(model, (uint32_t)model->num_edges)];
  Edge *found = NULL;
  CHECK_OK(graph_find_edge(model->graph, edge->id, &found, status), status);
  if (!CHECK(found)) return;
  note_stale_edge(model, found);
  graph_remove_edge(model->graph, found);
  drop_edge(model, edge);
}

static void import_nodes(Model *model, Status *status) {
  if (model->num_nodes + 2 > MOST_NODES) return;
  char text[128];
  ModelNode *p = &model->nodes[model->num_nodes];
  snprintf(p[0].name, sizeof p->name, "im%lld", (long long)model->next_node);
  snprintf(p[1].name, sizeof p->name, "im%lld", (long long)model->next_node + 1);
  snprintf(text, sizeof text,
           "node { name: '%s' op: 'TestParams' } node { name: '%s' op: 'TestMul' input: '%s' input: '%s' }",
           p[0].name, p[1].name, p[0].name, p[0].name);
  if (!CHECK_OK(ops_import(model->graph, text, NULL, NULL, NULL, status), status)) return;
  p[0].id = model->next_node++;
  p[1].id = model->next_node++;
  p[0].num_inputs = 0;
  p[1].num_inputs = 2;
  p[0].num_outputs = p[1].num_outputs = 1;
  model->num_nodes += 2;
  model_edge(model, p[0].id, 0, p[1].id, 0);
  model_edge(model, p[0].id, 0, p[1].id, 1);
  model_fixup(model);
}

/* Stale pointers: every call refuses them and changes nothing. */
static void use_stale(Model *model, Status *status) {
  if (model->num_stale_nodes == 0 || model->num_stale_edges == 0) return;
  int most_nodes = model->num_stale_nodes < STALE ? model->num_stale_nodes : STALE;
  int most_edges = model->num_stale_edges < STALE ? model->num_stale_edges : STALE;
  Node *gone = model->stale_nodes[below(model, (uint32_t)most_nodes)],
       *node = real(model, any_node(model)->id), *copy;
  Edge *removed = model->stale_edges[below(model, (uint32_t)most_edges)], *edge;
  CHECK(!graph_check_node(model->graph, gone, status) && !graph_check_edge(model->graph, removed, status));
  CHECK(!graph_add_control_edge(model->graph, gone, node, &edge, status));
  CHECK(!graph_add_edge(model->graph, gone, 0, node, 0, &edge, status));
  CHECK(!graph_add_edge(model->graph, node, 0, gone, 0, &edge, status));
  CHECK(!graph_update_edge(model->graph, node, 0, gone, 0, status));
  CHECK(!graph_copy_node(model->graph, gone, &copy, status));
  graph_remove_node(model->graph, gone);
  graph_remove_edge(model->graph, removed);
}

/* --- checks after every step --- */

static void check_model(Model *model) {
  Status status;
  status_init(&status);
  const Graph *graph = model->graph;
  CHECK_INT_EQ(graph_num_nodes(graph), model->num_nodes + 2);
  CHECK_INT_EQ(graph_num_edges(graph), model->num_edges + 1);
  CHECK_INT_EQ(graph_num_node_ids(graph), model->next_node);
  CHECK_INT_EQ(graph_num_edge_ids(graph), model->next_edge);
  for (int i = 0; i < model->num_nodes; i++) {
    const Node *node = graph_node(graph, model->nodes[i].id);
    if (!CHECK(node)) continue;
    CHECK_STR_EQ(node->name, model->nodes[i].name);
    int first = 0;
    while (strcmp(model->nodes[first].name, node->name) != 0) first++;
    const Node *named = graph_find_node(graph, node->name);
    CHECK(named && named->id == model->nodes[first].id);
  }
  for (int i = 0; i < model->num_edges; i++) {
    const ModelEdge *want = &model->edges[i];
    Edge *edge = NULL;
    CHECK_OK(graph_find_edge(model->graph, want->id, &edge, &status), status);
    if (!CHECK(edge)) continue;
    CHECK(edge->src == graph_node(graph, want->src) && edge->dst == graph_node(graph, want->dst));
    CHECK(edge->src_output == want->src_output && edge->dst_input == want->dst_input);
  }
  ops_check_whole(graph);
}

static void check_clone(Model *model, Arena *arena) {
  Status status;
  status_init(&status);
  Graph *clone;
  if (!CHECK_OK(graph_clone(model->graph, &clone, &status), status)) return;
  CHECK_STR_EQ(ops_export_text(clone, arena), ops_export_text(model->graph, arena));
  CHECK_INT_EQ(graph_num_edges(clone), graph_num_edges(model->graph));
  ops_check_whole(clone);
  graph_free(clone);
}

static void step(Model *model) {
  Status status;
  status_init(&status);
  if (model->num_nodes == 0 || model->num_edges > MOST_EDGES - 2 * MOST_NODES - 8) {
    if (model->num_nodes > 0) {
      graph_clear(model->graph);
      model->num_nodes = model->num_edges = model->num_stale_nodes = model->num_stale_edges = 0;
    }
    add_node(model, &status);
    return;
  }
  switch (below(model, 14)) {
    case 0:
    case 1: add_node(model, &status); break;
    case 2: add_operation(model, &status); break;
    case 3: remove_node(model); break;
    case 4:
    case 5:
    case 6: add_edge(model, &status); break;
    case 7:
    case 8: add_control_edge(model, &status); break;
    case 9: update_edge(model, &status); break;
    case 10: remove_edge(model, &status); break;
    case 11: import_nodes(model, &status); break;
    case 12: use_stale(model, &status); break;
    default:
      CHECK_OK(graph_fixup_source_and_sink_edges(model->graph, NULL, &status), status);
      model_fixup(model);
  }
}

TEST(random_edits_do_what_a_simple_model_does) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    static Model model;
    Arena *arena = arena_new();
    model = (Model){.graph = graph_new(), .next_node = 2, .next_edge = 1, .seed = seed};
    for (int i = 0; i < STEPS; i++) {
      CHECK_CONTEXT("seed %u, step %d", seed, i);
      step(&model);
      check_model(&model);
      if (i % 100 == 99) check_clone(&model, arena);
    }
    graph_free(model.graph);
    arena_free(arena);
  }
  CHECK_CONTEXT("%s", "");
}

/* One edit at random; true when it succeeded. */
static bool edit(Graph *graph, uint32_t random, GraphDef *import, Status *status) {
  int64_t size = graph_num_node_ids(graph);
  Node *a = graph_node(graph, 2 + random % (size - 2)), *b = graph_node(graph, 2 + random / 64 % (size - 2)),
       *made;
  Edge *edge;
  int slot = (int)(random / 7 % 2);
  switch (random / 3 % 6) {
    case 0: return graph_copy_node(graph, a, &made, status);
    case 1: return graph_add_control_edge(graph, a, b, &edge, status);
    case 2: return graph_update_edge(graph, a, 0, b, slot, status);
    case 3: return graph_add_edge(graph, a, slot, b, slot, &edge, status);
    case 4: return graph_fixup_source_and_sink_edges(graph, NULL, status);
    default: return graph_import(graph, import, false, NULL, NULL, NULL, status);
  }
}

TEST(an_edit_that_fails_leaves_no_trace) {
  int failures = 0;
  for (uint32_t random = 0, round = 0; round < 4000; round++, random = random * 1664525u + 1013904223u) {
    CHECK_CONTEXT("round %u", round);
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    CHECK_OK(ops_add(graph, "name: 'p' op: 'TestParams'", "", &status), status);
    CHECK_OK(ops_add(graph, "name: 'two' op: 'TestOneInputTwoOutputs'", "p", &status), status);
    CHECK_OK(ops_add(graph, "name: 'm' op: 'TestMul'", "p two:1 ^two", &status), status);
    Edge *const *edges;
    int64_t count;
    if (round % 2) CHECK_OK(graph_edges(graph, &edges, &count, &status), status);
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    char *before = ops_export_text(graph, arena);
    void *import;
    CHECK_OK(proto_parse_text(kGraphDef, str_of("node { name: 'y' op: 'ABC' }"), arena, &import, &status),
             status);
    int64_t num_edges = graph_num_edges(graph), bytes = arena_bytes(graph_arena(graph));
    mem_fail_after(round / 2 % 8);
    bool ok = edit(graph, random >> 8, import, &status);
    mem_fail_after(-1);
    ops_check_whole(graph);
    if (!ok) {
      failures += status.code == CODE_RESOURCE_EXHAUSTED;
      CHECK_STR_EQ(ops_export_text(graph, arena), before);
      CHECK_INT_EQ(graph_num_edges(graph), num_edges);
      CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
    }
    arena_free(arena);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(failures > 200);
}
