/* Each pass on its own graphs, all of them on random and on huge ones, and without memory. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "function/text/function_text.h"
#include "graph/node_class.h"
#include "optimizer/body_source.h"
#include "optimizer/constant_folding.h"
#include "optimizer/graph_checker.h"
#include "optimizer/graph_cleanup.h"
#include "optimizer/graph_optimizer.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static bool add_function(Graph *graph, const char *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *function;
  bool ok = CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status) &&
            CHECK_OK(graph_add_function(graph, function, &status), &status);
  arena_free(arena);
  return ok;
}

static const char kSquareTwice[] =
    "SquareTwice(x:float) -> (y:float) {\n"
    "  a = Square[T=float](x)\n  y = Square[T=float](a:y:0)\n  return y = y:y:0\n}";

static NodeOutput call(Graph *graph, const char *function, const char *name, NodeOutput x) {
  return unary(graph, function, name, x);
}

static Node *add_partitioned_call(Graph *graph, const char *name, const char *function, NodeOutput x) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *value;
  Node *node = NULL;
  NodeDef *def = node_def_new(arena, name, "PartitionedCall");
  const int types[] = {DT_FLOAT};
  char *text = arena_printf(arena, "func { name: '%s' }", function);
  bool ok = CHECK_OK(proto_parse_text(kAttrValue, str_of(text), arena, &value, &status), &status) &&
            CHECK_OK(node_def_set_attr(def, arena, "f", value, &status), &status) &&
            CHECK_OK(node_def_set_attr(def, arena, "Tin", attr_value_type_list(arena, types, 1), &status),
                     &status) &&
            CHECK_OK(node_def_set_attr(def, arena, "Tout", attr_value_type_list(arena, types, 1), &status),
                     &status);
  if (ok) CHECK_OK(graph_add_operation(graph, def, &x, 1, NULL, 0, &node, &status), &status);
  arena_free(arena);
  return node;
}

static const char *source_name(const Node *node, int i) { return node->inputs[i]->src->name; }

static bool expand(Graph *graph, TestBodies *bodies, const ExpandOptions *options, bool *changed,
                   Status *status) {
  FunctionBodySource source = test_bodies_source(bodies);
  return graph_expand_inline_functions(graph, &source, options, changed, status);
}

/* --- inlining --- */

TEST(a_call_kept_for_targets_becomes_a_no_op) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  REQUIRE(add_function(graph, kSquareTwice));
  NodeOutput x = placeholder(graph, "x", "shape { }"), c = call(graph, "SquareTwice", "c", x);
  NodeOutput y = unary(graph, "Neg", "y", c);
  ExpandOptions options = expand_options_default();
  options.native.keep_caller_node = KEEP_CALLER_TARGETABLE;
  bool changed;
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(changed && graph_is_whole(graph));
  const Node *kept = graph_find_node(graph, "c");
  REQUIRE(kept);
  CHECK_STR_EQ(kept->def->op, "NoOp");
  CHECK_STR_EQ(kept->control_inputs[0]->src->name, "Func/c/output_control_node/_2");
  CHECK_STR_EQ(source_name(y.node, 0), "Func/c/output/_1");
  CHECK_STR_EQ(source_name(graph_find_node(graph, "c/a"), 0), "Func/c/input/_0");
  CHECK_INT_EQ(bodies.num_inlined, 6); /* two squares, two identities, two NoOps */
  CHECK(shape_rank_known(graph_output_shape((NodeOutput){graph_find_node(graph, "c/y"), 0})));
  test_bodies_free(&bodies);
  graph_free(graph);
}

TEST(calls_that_cannot_be_inlined_stay) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  REQUIRE(add_function(graph, kSquareTwice));
  NodeOutput x = placeholder(graph, "x", "shape { }");
  NodeOutput c = call(graph, "SquareTwice", "c", x);
  const FunctionDef *function = graph_find_function(graph, "SquareTwice");
  FunctionBody *body, *other;
  ExpandOptions options = expand_options_default();
  bool changed;
  REQUIRE(add_function(graph, "Two(x:float, z:float) -> (y:float) {\n  return y = x\n}"));
  CHECK_OK(function_body_new(graph, graph_find_function(graph, "Two"), NULL, 0, &other, &status), &status);
  CHECK_ERROR(graph_inline_function_body(graph, c.node, other, &options.native, NULL, &status), &status,
              CODE_INTERNAL,
              "Inlining mismatch: Node inputs do not match function arguments: inputs=1 arg_types=2 "
              "arg_nodes=2");
  status_init(&status);
  CHECK_OK(function_body_new(graph, function, NULL, 0, &body, &status), &status);
  options.native.disable_inlining = true;
  CHECK_ERROR(inline_validate(c.node, body, &options.native, &status), &status, CODE_INVALID_ARGUMENT,
              "Function inlining explicitly disabled by 'options.disable_inlining'");
  status_init(&status);
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(!changed && graph_find_node(graph, "c") == c.node && graph_is_whole(graph));
  Node *missing = add_partitioned_call(graph, "missing", "Missing", x);
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(!changed && missing && graph_find_node(graph, "missing") == missing);
  function_body_free(body);
  function_body_free(other);
  test_bodies_free(&bodies);
  graph_free(graph);
}

TEST(partitioned_calls_end_when_control_results_have_run) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  REQUIRE(add_function(graph,
                       "F(x:float) -> (y:float) {\n  a = Neg[T=float](x)\n  y = Square[T=float](x)\n"
                       "  @return done = a\n  return y = y:y:0\n}"));
  Node *caller = add_partitioned_call(graph, "c", "F", placeholder(graph, "x", "shape { }"));
  NodeOutput y = unary(graph, "Neg", "y", (NodeOutput){caller, 0});
  Node *waits = constant(graph, "waits", "tensor_shape { } float_val: 1").node;
  Edge *edge;
  REQUIRE(caller);
  CHECK_OK(graph_add_control_edge(graph, caller, waits, &edge, &status), &status);
  ExpandOptions options = expand_options_default();
  bool changed;
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(changed && graph_is_whole(graph) && !graph_find_node(graph, "c"));
  CHECK_STR_EQ(source_name(y.node, 0), "Func/c/output/_1");
  const Node *end = waits->control_inputs[0]->src;
  CHECK_STR_EQ(end->name, "Func/c/output_control_node/_2");
  CHECK_INT_EQ(end->num_control_inputs, 1);
  CHECK_STR_EQ(end->control_inputs[0]->src->name, "c/a");
  test_bodies_free(&bodies);
  graph_free(graph);
}

static const OpRegistration kEnter = {.name = "Enter",
                                      .inputs = {"data: T"},
                                      .outputs = {"output: T"},
                                      .attrs = {"T: type", "frame_name: string", "is_constant: bool = false",
                                                "parallel_iterations: int = 10"},
                                      .shape = shape_unknown_outputs};

static void check_frame(const Graph *graph, const char *name, const char *want) {
  Status status;
  Str frame = {"", 0};
  status_init(&status);
  const Node *node = graph_find_node(graph, name);
  CHECK_CONTEXT("%s", name);
  if (!CHECK(node)) return;
  CHECK_OK(node_attr_string(node->def, "frame_name", &frame, &status), &status);
  CHECK(frame.length == strlen(want) && memcmp(frame.data, want, strlen(want)) == 0);
}

/* Loops of two calls have separate frames, and those of the body are unchanged: with copied and with shared
 * attrs. */
TEST(frames_of_inlined_calls_stay_apart) {
  for (int shared = 0; shared < 2; shared++) {
    Status status;
    status_init(&status);
    if (!op_registry_find(op_registry_global(), "Enter"))
      REQUIRE_OK(op_registry_add(op_registry_global(), &kEnter, &status), &status);
    Graph *graph = graph_new();
    TestBodies bodies = {.library = graph};
    REQUIRE(add_function(graph,
                         "Looped(x:float) -> (y:float) {\n"
                         "  e = Enter[T=float, frame_name=\"while\"](x)\n  return y = e:output:0\n}"));
    REQUIRE(add_function(graph,
                         "Calls(x:float) -> (y:float) {\n"
                         "  a = Looped(x)\n  b = Looped(a:y:0)\n  return y = b:y:0\n}"));
    NodeOutput x = placeholder(graph, "x", "shape { }");
    call(graph, "Looped", "l", call(graph, "Calls", "c", call(graph, "Calls", "d", x)));
    ExpandOptions options = expand_options_default();
    options.max_rounds = 4;
    options.native.share_attrs = shared != 0;
    bool changed;
    CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
    CHECK(changed && graph_is_whole(graph));
    check_frame(graph, "l/e", "l/while");
    check_frame(graph, "c/a/e", "c/a/while");
    check_frame(graph, "c/b/e", "c/b/while");
    check_frame(graph, "d/a/e", "d/a/while");
    check_frame(graph, "d/b/e", "d/b/while");
    for (int i = 0; i < bodies.count; i++) {
      if (strcmp(bodies.list[i]->name, "Looped") == 0) check_frame(bodies.list[i]->graph, "e", "while");
    }
    test_bodies_free(&bodies);
    graph_free(graph);
  }
}

/* Adds SquareTwice with these attrs, which are true. */
static bool add_marked(Graph *graph, const char *const *marks, int num_marks) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *function;
  bool ok = function_parse(str_of(kSquareTwice), arena, &function, &status);
  for (int i = 0; ok && i < num_marks; i++) {
    Tensorflow__FunctionDef__AttrEntry *entry =
        proto_new(&tensorflow__function_def__attr_entry__descriptor, arena);
    entry->key = (char *)marks[i];
    entry->value = attr_value_bool(arena, true);
    ok = proto_append(arena, (void ***)&function->attr, &function->n_attr, entry, &status);
  }
  ok = ok && graph_add_function(graph, function, &status);
  CHECK_OK(ok, &status);
  arena_free(arena);
  return ok;
}

TEST(functions_marked_noinline_stay_unless_that_is_ignored) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  REQUIRE(add_marked(graph, (const char *[]){"_noinline"}, 1));
  call(graph, "SquareTwice", "c", placeholder(graph, "x", "shape { }"));
  ExpandOptions options = expand_options_default();
  bool changed;
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(!changed);
  options.native.ignore_noinline = true;
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(changed && !graph_find_node(graph, "c"));
  test_bodies_free(&bodies);
  graph_free(graph);
}

TEST(functions_that_are_marked_noinline_for_xla_only_are_inlined) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  REQUIRE(add_marked(graph, (const char *[]){"_noinline", "_XlaMustCompile"}, 2));
  call(graph, "SquareTwice", "c", placeholder(graph, "x", "shape { }"));
  ExpandOptions options = expand_options_default();
  bool changed;
  CHECK_OK(expand(graph, &bodies, &options, &changed, &status), &status);
  CHECK(changed && !graph_find_node(graph, "c"));
  test_bodies_free(&bodies);
  graph_free(graph);
}

TEST(functions_that_call_themselves_end_at_a_bound) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  REQUIRE(add_function(graph, "F(x:float) -> (y:float) {\n  y = Neg[T=float](x)\n  return y = y:y:0\n}"));
  Arena *arena = arena_new();
  FunctionDef *function;
  /* Calls itself twice: the function has the name of the op that it replaces. */
  REQUIRE_OK(function_parse(str_of("F(x:float) -> (y:float) {\n  a = F(x)\n  y = F(a:y:0)\n  return y = "
                                   "y:y:0\n}"),
                            arena, &function, &status),
             &status);
  CHECK_OK(function_library_replace_function(graph_function_library(graph), "F", function, &status), &status);
  call(graph, "F", "c", placeholder(graph, "x", "shape { }"));
  ExpandOptions options = expand_options_default();
  options.max_rounds = 1000;
  options.max_nodes = 500;
  bool changed;
  CHECK_ERROR(expand(graph, &bodies, &options, &changed, &status), &status, CODE_RESOURCE_EXHAUSTED,
              "would make a graph of more than 500 nodes");
  CHECK(graph_is_whole(graph));
  CHECK(graph_num_nodes(graph) <= 500);
  arena_free(arena);
  test_bodies_free(&bodies);
  graph_free(graph);
}

/* --- folding --- */

TEST(constants_are_folded_where_others_read_them) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput a = constant(graph, "a", "tensor_shape { } float_val: 3"),
             x = placeholder(graph, "x", "shape { }");
  NodeOutput b = binary(graph, "Mul", "b", a, a), c = binary(graph, "Add", "c", b, a);
  NodeOutput y = binary(graph, "Mul", "y", x, c);
  Edge *edge;
  CHECK_OK(graph_add_control_edge(graph, x.node, b.node, &edge, &status), &status);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  const FoldOptions options = {.max_constant_size_in_bytes = 0};
  const FoldOptions small = {.max_constant_size_in_bytes = 3};
  bool changed;
  CHECK_OK(graph_fold_constants(graph, &small, &changed, &status), &status);
  CHECK(!changed);
  CHECK_OK(graph_fold_constants(graph, &options, &changed, &status), &status);
  CHECK(changed && graph_is_whole(graph));
  const Node *folded = y.node->inputs[1]->src;
  CHECK_STR_EQ(folded->name, "c/_0__cf__0");
  CHECK_STR_EQ(folded->def->op, "Const");
  CHECK_INT_EQ(folded->num_control_inputs, 1);
  CHECK(folded->control_inputs[0]->src == x.node);
  Tensor value = {0};
  CHECK_OK(tensor_from_proto(node_def_attr(folded->def, "value")->tensor, &value, &status), &status);
  CHECK_NEAR(tensor_f32(&value)[0], 12, 0);
  tensor_clear(&value);
  CHECK_OK(graph_fold_constants(graph, &options, &changed, &status), &status);
  CHECK(!changed);
  graph_free(graph);
}

static NodeOutput enter(Graph *graph, const char *name, NodeOutput input, bool is_constant) {
  Attr attrs[] = {{"T", "type: DT_FLOAT"},
                  {"frame_name", "s: 'loop'"},
                  {"is_constant", is_constant ? "b: true" : "b: false"}};
  return (NodeOutput){add_node(graph, "Enter", name, &input, 1, attrs, 3), 0};
}

/* What follows in a loop from constants that enter it unchanged is computed once, and stays in the loop. */
TEST(constants_that_enter_a_loop_are_folded_in_it) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput a = constant(graph, "a", "tensor_shape { } float_val: 3"),
             x = placeholder(graph, "x", "shape { }");
  NodeOutput in = enter(graph, "in", a, true), once = enter(graph, "once", a, false);
  NodeOutput v = enter(graph, "v", x, true);
  NodeOutput square = binary(graph, "Mul", "square", in, unary(graph, "Identity", "same", in));
  NodeOutput y = binary(graph, "Mul", "y", v, square), z = binary(graph, "Mul", "z", once, once);
  NodeOutput u = binary(graph, "Mul", "u", v, in);
  NodeOutput deep = enter(graph, "deep", binary(graph, "Mul", "nine", a, a), true);
  NodeOutput w = binary(graph, "Mul", "w", v, unary(graph, "Neg", "minus", deep));
  CHECK(unary(graph, "Tan", "end", z).node);
  const FoldOptions options = {.max_constant_size_in_bytes = 0};
  bool changed;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_fold_constants(graph, &options, &changed, &status), &status);
  CHECK(changed && graph_is_whole(graph));
  const Node *folded = y.node->inputs[1]->src;
  CHECK_STR_EQ(folded->def->op, "Const");
  CHECK_INT_EQ(folded->num_control_inputs, 1);
  CHECK(folded->control_inputs[0]->src == in.node);
  Tensor value = {0};
  CHECK_OK(tensor_from_proto(node_def_attr(folded->def, "value")->tensor, &value, &status), &status);
  CHECK_NEAR(tensor_f32(&value)[0], 9, 0);
  tensor_clear(&value);
  CHECK(u.node->inputs[1]->src == in.node);
  CHECK(z.node->inputs[0]->src == once.node);
  CHECK_STR_EQ(deep.node->inputs[0]->src->def->op, "Const");
  CHECK_OK(graph_fold_constants(graph, &options, &changed, &status), &status);
  CHECK(changed);
  CHECK_STR_EQ(w.node->inputs[1]->src->def->op, "Const");
  CHECK_OK(graph_fold_constants(graph, &options, &changed, &status), &status);
  CHECK(!changed);
  graph_free(graph);
}

static bool waits_for(const Node *node, const Node *other) {
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    if (node->control_inputs[i]->src == other) return true;
  }
  return false;
}

/* The same, also through gates. */
static bool waits_through(const Node *node, const Node *other) {
  bool found = waits_for(node, other);
  for (int32_t i = 0; i < node->num_control_inputs && !found; i++) {
    const Node *gate = node->control_inputs[i]->src;
    found = strcmp(gate->def->op, "NoOp") == 0 && waits_through(gate, other);
  }
  return found;
}

/* The Identity of an output, which is alive only where the output is. */
static const Node *identity_of(NodeOutput output, int *count) {
  const Node *identity = NULL;
  *count = 0;
  for (int32_t i = 0; i < output.node->num_out_edges; i++) {
    const Edge *edge = output.node->out_edges[i];
    if (edge->src_output != output.index || !node_is_identity(edge->dst)) continue;
    identity = edge->dst;
    ++*count;
  }
  return identity;
}

/* A shape that is known is still dead in the branch that is not taken. */
TEST(shapes_in_a_branch_are_folded_in_it) {
  enum { MANY = 6 }; /* more than the folder notes for a node */
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  const Attr is_bool[] = {{"dtype", "type: DT_BOOL"}, {"shape", "shape { }"}};
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: 2 } dim { size: 3 } }"), branches[MANY],
             sum = x;
  Node *one[2];
  for (int i = 0; i < MANY; i++) {
    char name[16];
    snprintf(name, sizeof name, "p%d", i);
    NodeOutput which = out(add_node(graph, "Placeholder", name, NULL, 0, is_bool, 2));
    snprintf(name, sizeof name, "s%d", i);
    branches[i] = (NodeOutput){binary(graph, "Switch", name, x, which).node, i % 2};
    snprintf(name, sizeof name, "a%d", i);
    sum = binary(graph, "Add", name, sum, branches[i]);
  }
  for (int i = 0; i < 2; i++) /* two readers of one shape wait for the same Identity */
    one[i] = binary(graph, "Reshape", i ? "n1" : "n0", x, unary(graph, "Shape", i ? "t1" : "t0", branches[1]))
                 .node;
  Node *all = binary(graph, "Reshape", "n", x, unary(graph, "Shape", "t", sum)).node;
  const FoldOptions options = {.trust_shapes = true};
  bool changed;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_fold_constants(graph, &options, &changed, &status), &status);
  CHECK(changed && graph_is_whole(graph));
  const Node *folded = all->inputs[1]->src;
  CHECK_STR_EQ(folded->def->op, "Const");
  CHECK_INT_EQ(folded->num_control_inputs, 1);
  const Node *gate = folded->control_inputs[0]->src;
  CHECK_STR_EQ(gate->def->op, "NoOp");
  for (int i = 0; i < MANY; i++) {
    int count;
    const Node *identity = identity_of(branches[i], &count);
    CHECK_INT_EQ(count, 1);
    CHECK(waits_through(gate, identity) && !waits_through(gate, branches[i].node));
    for (int k = 0; k < 2 && i == 1; k++) {
      CHECK_STR_EQ(one[k]->inputs[1]->src->def->op, "Const");
      CHECK(waits_for(one[k]->inputs[1]->src, identity) &&
            !waits_for(one[k]->inputs[1]->src, branches[i].node));
    }
  }
  graph_free(graph);
}

/* --- all passes --- */

enum { MOST_VALUES = 48 };

typedef struct RandomGraph {
  Graph *graph;
  NodeOutput values[MOST_VALUES];
  int count;
  uint32_t seed;
} RandomGraph;

static int pick(RandomGraph *r, int n) {
  r->seed = r->seed * 1664525u + 1013904223u;
  return (int)((r->seed >> 16) % (uint32_t)n);
}

/* Not the fed one: a control edge from it would make it run. */
static NodeOutput any(RandomGraph *r) { return r->values[1 + pick(r, r->count - 1)]; }

static void grow(RandomGraph *r) {
  static const char *const kBinary[] = {"Add", "Sub", "Mul"};
  static const char *const kUnary[] = {"Neg", "Tanh", "Identity", "Identity", "Square"};
  char name[32];
  snprintf(name, sizeof name, "n%d", r->count);
  int kind = pick(r, 10);
  NodeOutput made =
      kind < 3   ? unary(r->graph, kUnary[pick(r, 5)], name, any(r))
      : kind < 7 ? binary(r->graph, kBinary[pick(r, 3)], name, any(r), any(r))
      : kind < 9 ? call(r->graph, pick(r, 2) ? "Poly" : "Nested", name, any(r))
                 : constant(r->graph, name, "tensor_shape { dim { size: 2 } } float_val: [0.5, -0.25]");
  if (pick(r, 6) == 0) {
    Status status;
    status_init(&status);
    Edge *edge;
    CHECK_OK(graph_add_control_edge(r->graph, any(r).node, made.node, &edge, &status), &status);
  }
  r->values[r->count++] = unary(r->graph, "Tanh", name[1] != 0 ? strcat(name, "t") : name, made);
}

static void make_random(RandomGraph *r, uint32_t seed, int size) {
  *r = (RandomGraph){.graph = graph_new(), .seed = seed};
  CHECK(add_function(r->graph,
                     "Poly(x:float) -> (y:float) {\n  c = Const[dtype=float, value=0.75]()\n"
                     "  d = Neg[T=float](c:output:0)\n  a = Mul[T=float](x, d:y:0)\n  b = "
                     "Add[T=float](a:z:0, x)\n"
                     "  return y = b:z:0\n}"));
  CHECK(add_function(r->graph,
                     "Nested(x:float) -> (y:float) {\n  p = Poly(x)\n  q = Poly(p:y:0)\n"
                     "  i = Identity[T=float](q:y:0)\n  return y = i:output:0\n}"));
  r->values[r->count++] = placeholder(r->graph, "x", "shape { dim { size: 2 } }");
  r->values[r->count++] = constant(r->graph, "k", "tensor_shape { dim { size: 2 } } float_val: [2, -1]");
  NodeOutput start = unary(r->graph, "Neg", "start", r->values[0]);
  r->values[r->count++] = start;
  while (r->count < size) grow(r);
}

static bool run(RandomGraph *r, float *result) {
  Status status;
  status_init(&status);
  Session *session = session_new(r->graph, &status);
  Tensor fed, fetched = {0};
  const int64_t two = 2;
  const float values[] = {0.3f, -0.9f};
  bool ok = session && float_tensor(&fed, 1, &two, values);
  const Tensor *feed = &fed;
  ok = ok && CHECK_OK(session_run(session, &r->values[0], &feed, 1, &r->values[r->count - 1], &fetched, 1,
                                  NULL, 0, &status),
                      &status);
  if (ok && CHECK_INT_EQ(tensor_num_elements(&fetched), 2)) memcpy(result, fetched.data, 2 * sizeof(float));
  tensor_clear(&fetched);
  tensor_clear(&fed);
  session_free(session);
  return ok;
}

static bool optimize_kept(RandomGraph *r, TestBodies *bodies, Status *status) {
  FunctionBodySource source = test_bodies_source(bodies);
  Arena *arena = arena_new();
  NodeSet keep;
  if (!arena) return status_oom(status, "a test");
  OptimizerOptions options = optimizer_options_all(&source);
  bool ok = graph_fixup_source_and_sink_edges(r->graph, NULL, status) &&
            node_set_new(r->graph, arena, &keep, status);
  if (ok) {
    keep.member[r->values[0].node->id] = keep.member[r->values[r->count - 1].node->id] = 1;
    options.keep = &keep;
    ok = graph_optimize(r->graph, &options, NULL, status);
  }
  arena_free(arena);
  return ok;
}

TEST(random_graphs_give_the_same_before_and_after) {
  for (uint32_t seed = 1; seed <= 60; seed++) {
    Status status;
    status_init(&status);
    RandomGraph r;
    make_random(&r, seed, 4 + (int)(seed % 40));
    TestBodies bodies = {.library = r.graph};
    float before[2] = {1, 2}, after[2] = {3, 4};
    CHECK_CONTEXT("seed %d", (int)seed);
    CHECK(run(&r, before));
    CHECK_OK(optimize_kept(&r, &bodies, &status), &status);
    CHECK(graph_is_whole(r.graph));
    CHECK(run(&r, after));
    CHECK_NEAR(after[0], before[0], 0);
    CHECK_NEAR(after[1], before[1], 0);
    for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(r.graph); id++) {
      const Node *node = graph_node(r.graph, id);
      CHECK(!node || !node_is_function(node));
    }
    test_bodies_free(&bodies);
    graph_free(r.graph);
  }
}

TEST(without_memory_graphs_stay_whole) {
  Shortage shortage = {.what = "all passes", .most = 1000};
  do {
    Status status;
    status_init(&status);
    RandomGraph r;
    make_random(&r, 7, 12);
    TestBodies bodies = {.library = r.graph};
    shortage_begin(&shortage);
    bool ok = optimize_kept(&r, &bodies, &status);
    shortage_end(&shortage, ok, status.code);
    CHECK(graph_is_whole(r.graph));
    test_bodies_free(&bodies);
    graph_free(r.graph);
  } while (shortage_next(&shortage));
}

/* --- huge graphs --- */

static Node *add_raw(Graph *graph, const char *op, const char *name, Node *input) {
  Status status;
  status_init(&status);
  Arena *arena = graph_arena(graph);
  NodeDef *def = node_def_new(arena, arena_strdup(arena, name), op);
  Node *node = NULL;
  Edge *edge;
  bool ok = strcmp(op, "F") == 0 ||
            CHECK_OK(node_def_set_attr(def, arena, "T", attr_value_type(arena, DT_FLOAT), &status), &status);
  ok = ok && CHECK_OK(graph_add_node(graph, def, &node, &status), &status) &&
       CHECK_OK(graph_add_edge(graph, input, 0, node, 0, &edge, &status), &status);
  return ok ? node : NULL;
}

static void optimize_chain(const char *op, int length, int64_t most_left) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  TestBodies bodies = {.library = graph};
  FunctionBodySource source = test_bodies_source(&bodies);
  CHECK(add_function(graph, "F(x:float) -> (y:float) {\n  y = Neg[T=float](x)\n  return y = y:y:0\n}"));
  Node *node = placeholder(graph, "x", "shape { }").node;
  char name[32];
  for (int i = 0; i < length && node; i++) {
    snprintf(name, sizeof name, "n%d", i);
    node = add_raw(graph, op, name, node);
  }
  REQUIRE(node);
  add_raw(graph, "Neg", "end", node);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  OptimizerOptions options = optimizer_options_all(&source);
  clock_t start = clock();
  CHECK_OK(graph_optimize(graph, &options, NULL, &status), &status);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  CHECK(seconds < 20); /* under sanitizers, on a busy machine; a nonlinear pass takes minutes */
  CHECK(graph_is_whole(graph));
  CHECK(graph_num_nodes(graph) <= most_left);
  test_bodies_free(&bodies);
  graph_free(graph);
}

TEST(chains_of_many_nodes_take_linear_time) {
  optimize_chain("Neg", 100000, 100004);
  optimize_chain("Identity", 100000, 4);
}

TEST(many_calls_are_inlined_in_linear_time) { optimize_chain("F", 10000, 10004); }

/* --- lists and arrays --- */

static const char kConverter[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' "
    "value { shape { } } } } "
    "node { name: 'first' op: 'NoOp' } "
    "node { name: 'l' op: '_ListToArray' input: 'x' input: 'x' input: '^first' attr { key: 'T' value { type: "
    "DT_FLOAT } } "
    "  attr { key: 'N' value { i: 2 } } attr { key: 'Tin' value { list { type: DT_FLOAT type: DT_FLOAT } } } "
    "} "
    "node { name: 'a' op: 'Neg' input: 'l' attr { key: 'T' value { type: DT_FLOAT } } } "
    "node { name: 'b' op: 'Neg' input: 'l:1' attr { key: 'T' value { type: DT_FLOAT } } } "
    "node { name: 'last' op: 'NoOp' input: '^l' }";

/* The node reads an Identity of x that waits for `first`. */
static const Node *check_passed_on(const Graph *graph, const char *name) {
  const Node *node = graph_find_node(graph, name), *identity = node->inputs[0]->src;
  CHECK_STR_EQ(identity->def->op, "Identity");
  CHECK(identity->inputs[0]->src == graph_find_node(graph, "x"));
  if (CHECK_INT_EQ(identity->num_control_inputs, 1)) {
    const Node *begin = identity->control_inputs[0]->src;
    CHECK_STR_EQ(begin->def->op, "NoOp");
    CHECK(waits_for(begin, graph_find_node(graph, "first")));
  }
  return identity;
}

TEST(converters_of_lists_hand_on_what_they_wait_for) {
  Shortage shortage = {.what = "a converter"};
  do {
    Status status;
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    void *def;
    bool changed = false;
    status_init(&status);
    if (!CHECK_OK(proto_parse_text(kGraphDef, str_of(kConverter), arena, &def, &status), &status) ||
        !CHECK_OK(graph_import(graph, def, false, NULL, NULL, NULL, &status), &status))
      return;
    shortage_begin(&shortage);
    bool ok = graph_remove_list_array_converters(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    CHECK(graph_is_whole(graph));
    if (ok) {
      CHECK(changed && !graph_find_node(graph, "l"));
      const Node *a = check_passed_on(graph, "a"), *b = check_passed_on(graph, "b"),
                 *last = graph_find_node(graph, "last");
      CHECK(a != b);
      if (CHECK_INT_EQ(last->num_control_inputs, 1))
        CHECK(waits_for(last->control_inputs[0]->src, a) && waits_for(last->control_inputs[0]->src, b));
    }
    graph_free(graph);
    arena_free(arena);
  } while (shortage_next(&shortage));
}
