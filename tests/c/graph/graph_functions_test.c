/* Functions in a graph's library. */
#include "graph/node_class.h"
#include "graph_test_ops.h"

static FunctionDef *parse(Arena *arena, const char *text) {
  Status status;
  status_init(&status);
  void *function = NULL;
  CHECK_OK(proto_parse_text(kFunctionDef, str_of(text), arena, &function, &status), status);
  return function;
}

static const char kTwice[] =
    "signature { name: 'Twice' input_arg { name: 'x' type_attr: 'T' } output_arg { name: 'y' type_attr: 'T' "
    "} attr { name: 'T' type: "
    "'type' } attr { name: 'k' type: 'int' default_value { i: 3 } } } "
    "node_def { name: 'a' op: 'Identity' input: 'x' attr { key: 'T' value { placeholder: 'T' } } } "
    "node_def { name: 'b' op: 'Identity' input: 'a:output:0' input: '^a' input: '^x' attr { key: 'T' value { "
    "placeholder: 'T' } } } "
    "ret { key: 'y' value: 'b:output:0' } attr { key: 'noinline' value { b: true } }";

TEST(a_function_becomes_an_op) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  FunctionDef *function = parse(arena, kTwice);
  const Op *op;
  CHECK_ERROR(graph_look_up_op(graph, "Twice", &op, &status), status, CODE_NOT_FOUND,
              "Op type not registered 'Twice'");
  REQUIRE_OK(graph_add_function(graph, function, &status), status);
  arena_free(arena); /* the graph has its own copy */
  CHECK_INT_EQ(graph_num_functions(graph), 1);
  CHECK(graph_function(graph, 0) == graph_find_function(graph, "Twice"));
  CHECK(!graph_function(graph, 1) && !graph_function(graph, -1));
  CHECK_INT_EQ(graph_versions(graph)->min_consumer, 12);
  REQUIRE_OK(graph_look_up_op(graph, "Twice", &op, &status), status);
  CHECK(function_library_owns_op(op));
  CHECK(!function_library_owns_op(op_registry_find(op_registry_global(), "Identity")) &&
        !function_library_owns_op(NULL));
  CHECK_OK(ops_add(graph, "name: 'p' op: 'TestParams'", "", &status), status);
  Node *call =
      ops_add(graph, "name: 'call' op: 'Twice' attr { key: 'T' value { type: DT_FLOAT } }", "p", &status);
  REQUIRE(call);
  CHECK(call->op == op && node_is_function(call));
  CHECK_INT_EQ(call->output_types[0], DT_FLOAT);
  CHECK_INT_EQ(node_def_attr(call->def, "k")->i, 3);
  char shape[64];
  ops_shape_text(graph, "call", shape);
  CHECK_STR_EQ(shape, "?");
  CHECK_ERROR(ops_add(graph, "name: 'bad' op: 'Twice' attr { key: 'T' value { type: DT_INT32 } }", "p",
                      &status),
              status, CODE_INVALID_ARGUMENT,
              "Input 0 of node bad was passed float from p:0 incompatible with expected int32.");
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(the_same_function_may_be_added_twice) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  FunctionDef *function = parse(arena, kTwice);
  REQUIRE_OK(graph_add_function(graph, function, &status), status);
  CHECK_OK(graph_add_function(graph, function, &status), status);
  /* The order of nodes and of control inputs does not matter. */
  NodeDef *first = function->node_def[0];
  function->node_def[0] = function->node_def[1];
  function->node_def[1] = first;
  char *control = function->node_def[0]->input[1];
  function->node_def[0]->input[1] = function->node_def[0]->input[2];
  function->node_def[0]->input[2] = control;
  CHECK_OK(graph_add_function(graph, function, &status), status);
  CHECK_INT_EQ(graph_num_functions(graph), 1);
  /* Everything else matters. */
  function->node_def[0]->input[0] = (char *)"x";
  CHECK_ERROR(graph_add_function(graph, function, &status), status, CODE_INVALID_ARGUMENT,
              "Cannot add function 'Twice' because a different function with the same name already exists.");
  function->node_def[0]->input[0] = (char *)"a:output:0";
  CHECK_OK(graph_add_function(graph, function, &status), status);
  function->node_def[0]->device = (char *)"/cpu:0";
  CHECK_ERROR(graph_add_function(graph, function, &status), status, CODE_INVALID_ARGUMENT,
              "a different function");
  function->node_def[0]->device = (char *)"";
  function->node_def[0]->name = (char *)"c";
  CHECK_ERROR(graph_add_function(graph, function, &status), status, CODE_INVALID_ARGUMENT,
              "a different function");
  arena_free(arena);
  graph_free(graph);
}

TEST(functions_and_ops_share_their_names) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  CHECK_ERROR(graph_add_function(graph, parse(arena, "signature { name: 'MatMul' }"), &status), status,
              CODE_INVALID_ARGUMENT,
              "Cannot add function 'MatMul' because an op with the same name already exists.");
  CHECK_ERROR(graph_add_function(graph, parse(arena, ""), &status), status, CODE_INVALID_ARGUMENT,
              "must have a name");
  CHECK_ERROR(graph_add_function(graph, parse(arena, "signature { }"), &status), status,
              CODE_INVALID_ARGUMENT, "must have a name");
  CHECK_INT_EQ(graph_num_functions(graph), 0);
  arena_free(arena);
  graph_free(graph);
}

TEST(a_function_has_one_gradient) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(graph_add_gradient_def(graph, "XTimesTwo", "XTimesFour", &status), status);
  CHECK_OK(graph_add_gradient_def(graph, "XTimesTwo", "XTimesFour", &status), status);
  CHECK_ERROR(graph_add_gradient_def(graph, "XTimesTwo", "XTimes16", &status), status, CODE_INVALID_ARGUMENT,
              "Cannot assign gradient function 'XTimes16' to 'XTimesTwo' because it already has gradient "
              "function 'XTimesFour'");
  CHECK_STR_EQ(graph_find_gradient_def(graph, "XTimesTwo"), "XTimesFour");
  CHECK(!graph_find_gradient_def(graph, "XTimesFour"));
  graph_free(graph);
}

TEST(adding_functions_survives_lack_of_memory) {
  Status status;
  Arena *arena = arena_new();
  FunctionDef *function = parse(arena, kTwice);
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Graph *graph = graph_new();
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    int64_t bytes = arena_bytes(graph_arena(graph));
    mem_fail_after(after);
    bool added = graph_add_function(graph, function, &status);
    ok = added && graph_add_function(graph, function, &status) &&
         graph_add_gradient_def(graph, "f", "g", &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    if (!added) CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
    CHECK_INT_EQ(graph_num_functions(graph), added);
    CHECK((graph_find_function(graph, "Twice") != NULL) == added);
    graph_free(graph);
    REQUIRE(after < 1000);
  }
  arena_free(arena);
}

static FunctionDefLibrary *parse_library(Arena *arena, const char *text) {
  Status status;
  status_init(&status);
  void *library = NULL;
  CHECK_OK(proto_parse_text(kFunctionDefLibrary, str_of(text), arena, &library, &status), status);
  return library;
}

TEST(a_library_is_added_whole_or_not_at_all) {
  typedef struct Case {
    const char *library, *message; /* NULL: it is added */
  } Case;
  static const Case kCases[] = {
      {"function { signature { name: 'New' } } function { signature { name: 'F' is_stateful: true } }",
       "Cannot add function 'F' because a different function with the same name already exists."},
      {"function { signature { name: 'New' } } function { signature { name: 'Identity' } }",
       "Cannot add function 'Identity' because an op with the same name already exists."},
      {"function { signature { name: 'New' } } function { signature { name: 'New' is_stateful: true } }",
       "Cannot add function 'New' because a different function with the same name already exists."},
      {"function { signature { name: 'New' } } gradient { function_name: 'New' gradient_func: 'F' } "
       "gradient { function_name: 'F' gradient_func: 'New' }",
       "Cannot assign gradient function 'New' to 'F' because it already has gradient function 'G'"},
      {"function { signature { name: 'F' } } gradient { function_name: 'F' gradient_func: 'G' }", NULL},
      {"function { signature { name: 'New' } } function { signature { name: 'F' } } "
       "gradient { function_name: 'New' gradient_func: 'F' }",
       NULL},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    Arena *arena = arena_new();
    Graph *graph = graph_new();
    REQUIRE_OK(graph_add_function(graph, parse(arena, "signature { name: 'F' }"), &status), status);
    REQUIRE_OK(graph_add_gradient_def(graph, "F", "G", &status), status);
    char *before = ops_export_text(graph, arena);
    int64_t bytes = arena_bytes(graph_arena(graph));
    bool ok = graph_add_function_library(graph, parse_library(arena, kCases[i].library), &status);
    CHECK_INT_EQ(ok, !kCases[i].message);
    if (kCases[i].message) {
      CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
      CHECK_STR_EQ(status.message, kCases[i].message);
      CHECK_STR_EQ(ops_export_text(graph, arena), before);
      CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
    }
    graph_free(graph);
    arena_free(arena);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(a_library_needs_a_consumer_that_knows_functions) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  CHECK_OK(graph_add_function_library(graph, parse_library(arena, ""), &status), status);
  CHECK_INT_EQ(graph_versions(graph)->min_consumer, 0);
  CHECK_OK(graph_add_function_library(graph, parse_library(arena, "function { signature { name: 'F' } }"),
                                      &status),
           status);
  CHECK_INT_EQ(graph_versions(graph)->min_consumer, 12);
  graph_free(graph);
  arena_free(arena);
}

TEST(a_library_survives_lack_of_memory) {
  Status status;
  Arena *arena = arena_new();
  const FunctionDefLibrary *library =
      parse_library(arena,
                    "function { signature { name: 'A' } } function { signature { name: 'B' } } "
                    "gradient { function_name: 'A' gradient_func: 'B' }");
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Graph *graph = graph_new();
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    mem_fail_after(after);
    ok = graph_add_function_library(graph, library, &status);
    mem_fail_after(-1);
    CHECK_INT_EQ(graph_num_functions(graph), ok ? 2 : 0);
    CHECK((graph_find_gradient_def(graph, "A") != NULL) == ok);
    CHECK_INT_EQ(graph_versions(graph)->min_consumer, ok ? 12 : 0);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    graph_free(graph);
    REQUIRE(after < 100);
  }
  arena_free(arena);
}

/* A function's signature is not a registered op, so it was not validated. The words are TensorFlow's. */
TEST(calls_of_a_function_that_has_an_attr_twice_are_refused) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  void *node;
  FunctionDef *function = parse(arena,
                                "signature { name: 'F' input_arg { name: 'x' type: DT_FLOAT } output_arg { "
                                "name: 'y' type: DT_FLOAT } "
                                "attr { name: 'T' type: 'type' } attr { name: 'T' type: 'type' } }");
  REQUIRE_OK(proto_parse_text(kNodeDef,
                              str_of("name: 'f' op: 'F' input: 'x' attr { key: 'T' value { type: 1 } }"),
                              arena, &node, &status),
             status);
  CHECK_ERROR(node_def_validate(node, function->signature, &status), status, CODE_INVALID_ARGUMENT,
              "OpDef has duplicate attr name 'T': Op<name=F; signature=x:float -> y:float; attr=T:type; "
              "attr=T:type>");
  arena_free(arena);
}
