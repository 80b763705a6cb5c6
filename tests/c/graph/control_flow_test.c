/* The frames of nodes. */
#include "graph/graph_walk.h"
#include "graph_test_ops.h"

#define FLOAT " attr { key: 'T' value { type: DT_FLOAT } } "
#define ENTER(name, frame, input)                                \
  "node { name: '" name "' op: 'Enter' input: '" input "'" FLOAT \
  "attr { key: 'frame_name' value { s: '" frame "' } } } "
#define NODE(name, op, input) "node { name: '" name "' op: '" op "' input: '" input "'" FLOAT "} "
#define ADD(name, a, b) "node { name: '" name "' op: 'TestMul' input: '" a "' input: '" b "' } "
#define START "node { name: 'start' op: 'TestParams' } "

static Graph *imported(const char *text, Status *status) {
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, text, NULL, NULL, NULL, status), status);
  return graph;
}

/* "name frame/parent 'frame name'" of every node. */
static const char *frames_text(const Graph *graph, StrBuf *out) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  ControlFlowInfo *info;
  strbuf_clear(out);
  if (CHECK_OK(graph_control_flow(graph, arena, &info, NULL, NULL, &status), status)) {
    for (int64_t id = 2; id < graph_num_node_ids(graph); id++) {
      const Node *node = graph_node(graph, id);
      if (!node) continue;
      strbuf_printf(out, "%s %s/%s '%s'; ", node->name, info[id].frame->name, info[id].parent_frame->name,
                    info[id].frame_name);
    }
  }
  arena_free(arena);
  return strbuf_text(out);
}

TEST(frames_of_nested_loops) {
  Status status;
  status_init(&status);
  Graph *graph =
      imported(START ENTER("e", "outer", "start")
                   ENTER("k", "outer", "start") "node { name: 'm' op: 'Merge' input: 'e' input: 'n'" FLOAT
                                                "attr { key: 'N' value { i: 2 } } } " ADD("body", "m", "k")
                                                    ENTER("ie", "inner", "body") NODE("ix", "Exit", "ie")
                                                        NODE("n", "NextIteration", "ix")
                                                            NODE("x", "Exit", "m") ADD("after", "x", "start"),
               &status);
  StrBuf text = {0};
  /* A frame with two Enters: nodes that are closer to k (in edges) have k as their frame, the others e. */
  CHECK_STR_EQ(frames_text(graph, &text),
               "start _SOURCE/_SOURCE ''; e e/_SOURCE 'outer'; k k/_SOURCE 'outer'; m e/_SOURCE 'outer'; "
               "body k/_SOURCE 'outer'; ie ie/k 'inner'; ix ie/k 'inner'; n k/_SOURCE 'outer'; "
               "x e/_SOURCE 'outer'; after _SOURCE/_SOURCE ''; ");
  strbuf_free(&text);
  graph_free(graph);
}

TEST(an_exit_of_nothing_stays_outside) {
  Status status;
  status_init(&status);
  Graph *graph = imported(START NODE("x", "Exit", "start") NODE("i", "Identity", "x"), &status);
  StrBuf text = {0};
  CHECK_STR_EQ(frames_text(graph, &text),
               "start _SOURCE/_SOURCE ''; x _SOURCE/_SOURCE ''; i _SOURCE/_SOURCE ''; ");
  strbuf_free(&text);
  graph_free(graph);
}

TEST(nodes_without_a_way_from_source_are_listed) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = imported(START, &status);
  CHECK_OK(ops_add(graph, "name: 'late' op: 'ABC'", "", &status), status);
  CHECK_OK(ops_add(graph, "name: 'later' op: 'ABC'", "^late", &status), status);
  ControlFlowInfo *info;
  Node **unreachable;
  int64_t count;
  REQUIRE_OK(graph_control_flow(graph, arena, &info, &unreachable, &count, &status), status);
  REQUIRE(count == 2);
  CHECK_STR_EQ(unreachable[0]->name, "late");
  CHECK_STR_EQ(unreachable[1]->name, "later");
  CHECK(!info[unreachable[1]->id].frame);
  REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  REQUIRE_OK(graph_control_flow(graph, arena, &info, &unreachable, &count, &status), status);
  CHECK_INT_EQ(count, 0);
  arena_free(arena);
  graph_free(graph);
}

typedef struct Refused {
  const char *graph;
  Code code;
  const char *message;
} Refused;

TEST(graphs_that_are_no_loops_are_refused) {
  static const Refused kCases[] = {
      {START ENTER("e", "f", "start") ADD("mul", "e", "start"), CODE_INVALID_ARGUMENT,
       "{{node mul}} has inputs from different frames. The input {{node e}} is in frame 'f'. "
       "The input {{node start}} is in frame ''."},
      {START ENTER("e", "f", "start") ENTER("g", "g", "start") ADD("mul", "e", "g"), CODE_INVALID_ARGUMENT,
       "{{node mul}} has inputs from different frames. The input {{node g}} is in frame 'g'. "
       "The input {{node e}} is in frame 'f'."},
      /* An Enter whose control input comes from within another frame. */
      {START ENTER("e", "f", "start") "node { name: 'n' op: 'Enter' input: 'start' input: '^e'" FLOAT
                                      "attr { key: 'frame_name' value { s: 'g' } } } ",
       CODE_INVALID_ARGUMENT,
       "{{node n}} has inputs from different frames. The input {{node e}} is in frame 'f'. "
       "The input {{node start}} is in frame ''."},
      {START ENTER("e", "", "start"), CODE_INVALID_ARGUMENT, "The Enter {{node e}} must have a frame name."},
      /* The same frame inside of two others. */
      {START ENTER("a", "a", "start") ENTER("b", "b", "start") ENTER("x", "f", "a") ENTER("y", "f", "b"),
       CODE_INTERNAL,
       "Invalid loop structure: Mismatched parent frames for \"f\": \"b\" vs \"a\". The node giving this "
       "error: "
       "{{node y}}. This is an internal bug, please file a bug report with instructions on how to reproduce "
       "the "
       "error."},
      {"node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } } "
       "node { name: 'e' op: 'Enter' input: 'p' attr { key: 'T' value { type: DT_BOOL } } "
       "  attr { key: 'frame_name' value { s: 'f' } } } "
       "node { name: 'c' op: 'LoopCond' input: 'e' } node { name: 'd' op: 'LoopCond' input: 'e' }",
       CODE_INVALID_ARGUMENT,
       "Invalid loop structure: Loop \"f\" has more than one LoopCond node: {{node d}} and {{node c}}. This "
       "is an "
       "internal bug, please file a bug report with instructions on how to reproduce the error."},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Status status;
    status_init(&status);
    CHECK_CONTEXT("case %d", (int)i);
    Arena *arena = arena_new();
    Graph *graph = imported(kCases[i].graph, &status);
    ControlFlowInfo *info;
    CHECK(!graph_control_flow(graph, arena, &info, NULL, NULL, &status));
    CHECK_INT_EQ(status.code, kCases[i].code);
    CHECK_STR_EQ(status.message, kCases[i].message);
    arena_free(arena);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(counters_of_gradients_share_the_frame_of_their_loop) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  Graph *graph = imported(
      "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } } "
      "node { name: 'e' op: 'Enter' input: 'p' attr { key: 'T' value { type: DT_BOOL } } "
      "  attr { key: 'frame_name' value { s: 'f' } } } "
      "node { name: 'c' op: 'LoopCond' input: 'e' } node { name: 'ForwardLoopCounter' op: 'LoopCond' input: "
      "'e' }",
      &status);
  CHECK_STR_CONTAINS(frames_text(graph, &text), "c e/_SOURCE 'f'; ForwardLoopCounter e/_SOURCE 'f'; ");
  strbuf_free(&text);
  graph_free(graph);
}
