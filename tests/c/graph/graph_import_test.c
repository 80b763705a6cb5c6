/* Importing GraphDefs: cases beyond the recorded facts, hostile GraphDefs, lack of memory, size. */
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "graph_test_ops.h"

#define PARAMS(name) "node { name: '" name "' op: 'TestParams' } "

static const char kChain[] =
    "node { name: 'c' op: 'TestMul' input: 'b:1' input: 'b' input: '^a' } "
    "node { name: 'a' op: 'TestParams' device: '/cpu:0' } "
    "node { name: 'b' op: 'TestOneInputTwoOutputs' input: 'a' attr { key: '_mark' value { s: 'x' } } } "
    "versions { producer: 100 min_consumer: 12 }";

TEST(import_makes_nodes_behind_their_inputs) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  REQUIRE_OK(ops_import(graph, kChain, NULL, NULL, NULL, &status), status);
  const Node *a = graph_find_node(graph, "a"), *b = graph_find_node(graph, "b"),
             *c = graph_find_node(graph, "c");
  REQUIRE(a && b && c);
  CHECK_INT_EQ(a->id, 2);
  CHECK_INT_EQ(b->id, 3);
  CHECK_INT_EQ(c->id, 4);
  CHECK(ops_has_edge(graph, b, 1, c, 0) && ops_has_edge(graph, b, 0, c, 1) &&
        ops_has_edge(graph, a, CONTROL_SLOT, c, CONTROL_SLOT));
  CHECK_INT_EQ(a->num_out_edges, 2);
  CHECK_STR_EQ(a->def->device, "/cpu:0");
  char shape[64];
  ops_shape_text(graph, "c", shape);
  CHECK_STR_EQ(shape, "[]");
  CHECK_INT_EQ(graph_versions(graph)->producer, 100);
  CHECK_INT_EQ(graph_versions(graph)->min_consumer, 12);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(import_without_taking_leaves_the_graph_def_alone) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  void *def = NULL;
  REQUIRE_OK(proto_parse_text(kGraphDef, str_of(kChain), arena, &def, &status), status);
  void *copy = proto_copy(def, arena);
  ImportOptions options = {.prefix = "p", .default_device = "/gpu:0"};
  REQUIRE_OK(graph_import(graph, def, false, &options, NULL, NULL, &status), status);
  CHECK(proto_equal(def, copy));
  arena_free(arena); /* the graph must not point into it */
  CHECK_STR_EQ(graph_find_node(graph, "p/c")->def->input[0], "p/b:1");
  CHECK_STR_EQ(graph_find_node(graph, "p/c")->def->input[2], "^p/a");
  CHECK_STR_EQ(graph_find_node(graph, "p/c")->def->device, "/gpu:0");
  CHECK_STR_EQ(graph_find_node(graph, "p/a")->def->device, "/cpu:0");
  CHECK(node_def_attr(graph_find_node(graph, "p/b")->def, "_mark"));
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(nodes_with_attrs_written_alike_stay_apart) {
  enum { COUNT = 100 };
  StrBuf text = {0}, bytes = {0};
  Status status;
  status_init(&status);
  for (int i = 0; i < COUNT; i++) {
    strbuf_printf(&text,
                  "node { name: 'n%d' op: 'TestParams' attr { key: '_class' value { list { s: 'loc:@n0' } } "
                  "} attr { key: "
                  "'_mark' value { s: 'x' } } } ",
                  i);
  }
  Arena *arena = arena_new();
  void *def = NULL;
  REQUIRE_OK(proto_parse_text(kGraphDef, str_of(strbuf_text(&text)), arena, &def, &status), status);
  REQUIRE_OK(proto_serialize(def, &bytes, &status), status);
  Graph *graph = graph_new();
  ImportOptions options = {.prefix = "p"};
  REQUIRE_OK(graph_import_bytes(graph, bytes.data, (size_t)bytes.length, &options, NULL, NULL, &status),
             status);
  AttrValue *other = attr_value_string(graph_arena(graph), "y", 1);
  REQUIRE_OK(node_def_set_attr(graph_find_node(graph, "p/n7")->def, graph_arena(graph), "_mark", other,
                               &status),
             status);
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "p/n%d", i);
    const NodeDef *node = graph_find_node(graph, name)->def;
    const AttrListValue *list = node_def_attr(node, "_class")->list;
    CHECK(str_equal_text((Str){(const char *)list->s[0].data, list->s[0].len}, "loc:@p/n0"));
    CHECK_INT_EQ(node_def_attr(node, "_mark")->s.data[0], i == 7 ? 'y' : 'x');
  }
  strbuf_free(&text);
  strbuf_free(&bytes);
  arena_free(arena);
  graph_free(graph);
}

/* --- errors --- */

typedef struct Refused {
  const char *def;
  Code code;
  const char *message;
} Refused;

static const Refused kRefused[] = {
    {"node { name: 'x' op: 'Identity' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }",
     CODE_INVALID_ARGUMENT, "1 nodes in a cycle"},
    {"node { name: 'x' op: 'ABC' input: '^x' }", CODE_INVALID_ARGUMENT, "1 nodes in a cycle"},
    {PARAMS("p") "node { name: 'x' op: 'TestMul' input: 'p' input: 'y' } node { name: 'y' op: 'TestMul' "
                 "input: 'x' input: 'p' } "
                 "node { name: 'z' op: 'TestMul' input: 'y' input: 'p' }",
     CODE_INVALID_ARGUMENT, "3 nodes in a cycle"},
    {PARAMS("p") PARAMS("p"), CODE_INVALID_ARGUMENT, "Node 'p' is not unique"},
    {PARAMS(""), CODE_INVALID_ARGUMENT, "Node '': Node name contains invalid characters"},
    {PARAMS("_p"), CODE_INVALID_ARGUMENT, "Node '_p': Node name contains invalid characters"},
    {PARAMS("p:0"), CODE_INVALID_ARGUMENT, "Node 'p:0': Node name contains invalid characters"},
    {"node { name: 'x' }", CODE_INVALID_ARGUMENT, "Node 'x' does not specify an operation"},
    {PARAMS("p") "node { name: 'x' op: 'TestOneInputTwoOutputs' input: '^p' input: 'p' }",
     CODE_INVALID_ARGUMENT, "Node 'x': Control dependencies must come after regular dependencies"},
    {"node { name: 'x' op: 'TestOneInputTwoOutputs' input: 'W999' }", CODE_INVALID_ARGUMENT,
     "Node 'x': Unknown input node 'W999'"},
    {"node { name: 'x' op: 'TestOneInputTwoOutputs' input: '' }", CODE_INVALID_ARGUMENT,
     "Node 'x': Unknown input node ''"},
    {PARAMS("p") "node { name: 'x' op: 'TestOneInputTwoOutputs' input: 'p:-1' }", CODE_INVALID_ARGUMENT,
     "Unknown input node 'p:-1'"},
    {PARAMS("p") "node { name: 'x' op: 'TestOneInputTwoOutputs' input: 'p:99999999999999999999' }",
     CODE_INVALID_ARGUMENT, "Unknown input node"},
    {PARAMS("p") "node { name: 'x' op: 'TestOneInputTwoOutputs' input: 'p:2147483647' }",
     CODE_INVALID_ARGUMENT,
     "Node 'x': Connecting to invalid output 2147483647 of source node p which has 1 outputs."},
    {PARAMS("p") "node { name: 'x' op: 'TestMul' input: 'p' }", CODE_INVALID_ARGUMENT,
     "do not match 1 inputs specified"},
    {PARAMS("p") "node { name: 'x' op: 'TestParams' input: 'p' }", CODE_INVALID_ARGUMENT,
     "do not match 1 inputs specified"},
    {PARAMS("p") "node { name: 'x' op: 'Nonsense' input: 'p' }", CODE_NOT_FOUND,
     "Op type not registered 'Nonsense'"},
    {"node { name: 'x' op: 'Placeholder' }", CODE_INVALID_ARGUMENT, "missing attr 'dtype'"},
    {"node { name: 'x' op: 'TestVariadicOutput' attr { key: 'N' value { i: -1 } } }", CODE_INVALID_ARGUMENT,
     "-1"},
    {"node { name: 'x' op: 'TestVariadicOutput' attr { key: 'N' value { i: 9223372036854775807 } } }",
     CODE_INVALID_ARGUMENT, ""},
    {"node { name: 'x' op: 'TestParams' attr { key: '_class' value { list { s: 'loc:@nobody' } } } }",
     CODE_INVALID_ARGUMENT, "Node 'x' expects to be colocated with unknown node 'nobody'"},
    {"node { name: 'x' op: 'TestParams' attr { key: '_output_shapes' value { list { shape { dim { size: 2 } "
     "} } } } }",
     CODE_INVALID_ARGUMENT,
     "Node 'x' has an _output_shapes attribute inconsistent with the GraphDef for output #0: Shapes must be "
     "equal rank"},
    {PARAMS("p") "node { name: 'x' op: 'MatMul' input: 'p' input: 'p' attr { key: 'T' value { type: DT_FLOAT "
                 "} } }",
     CODE_INVALID_ARGUMENT,
     "Shape must be rank 2 but is rank 0 for '{{node x}} = MatMul[T=DT_FLOAT, "
     "transpose_a=false, transpose_b=false](p, p)' with input shapes: [], []."},
    /* Back edges. */
    {"node { name: 'm' op: 'Merge' input: 'n' attr { key: 'N' value { i: 1 } } attr { key: 'T' value { type: "
     "DT_FLOAT } } } "
     "node { name: 'n' op: 'NextIteration' input: 'm' attr { key: 'T' value { type: DT_FLOAT } } }",
     CODE_INVALID_ARGUMENT, "2 nodes in a cycle"},
    {PARAMS("p") "node { name: 'm' op: 'Merge' input: 'p' input: 'n:5' attr { key: 'N' value { i: 2 } } attr "
                 "{ key: 'T' value { type: "
                 "DT_FLOAT } } } node { name: 'n' op: 'NextIteration' input: 'm' attr { key: 'T' value { "
                 "type: DT_FLOAT } } }",
     CODE_INVALID_ARGUMENT, "Output 5 of node n does not exist. Node only has 1 outputs."},
    {PARAMS("p") "node { name: 'm' op: 'Merge' input: 'p' input: 'n' attr { key: 'N' value { i: 2 } } attr { "
                 "key: 'T' value { type: "
                 "DT_FLOAT } } } node { name: 'n' op: 'NextIteration' input: 'm:1' attr { key: 'T' value { "
                 "type: DT_INT32 } } }",
     CODE_INVALID_ARGUMENT, "Input 1 of node m was passed int32 from n:0 incompatible with expected float."},
    {PARAMS("p") "node { name: 'm' op: 'Merge' input: 'p' input: 'n' input: '^n' attr { key: 'N' value { i: "
                 "2 } } attr { key: 'T' "
                 "value { type: DT_FLOAT } } } node { name: 'n' op: 'NextIteration' input: 'm' attr { key: "
                 "'T' value { type: DT_FLOAT } } }",
     CODE_INVALID_ARGUMENT, "2 nodes in a cycle"},
    /* Versions. */
    {"versions { producer: -1 }", CODE_INVALID_ARGUMENT,
     "GraphDef producer version -1 below min producer 0 supported by TensorFlow " TENSORFLOW_VERSION
     ".  Please regenerate your graph."},
    {"versions { producer: -2147483648 }", CODE_INVALID_ARGUMENT, "below min producer"},
    {"versions { bad_consumers: 1 bad_consumers: 2314 }", CODE_INVALID_ARGUMENT,
     "GraphDef disallows consumer version 2314.  Please upgrade TensorFlow: this version is likely buggy."},
    {"versions { producer: 2336 } node { name: 'x' op: 'Nonsense' }", CODE_NOT_FOUND,
     "The difference between these versions is larger than TensorFlow's forward compatibility guarantee"},
    /* Functions: they are removed when the import fails later. */
    {"library { function { signature { name: 'f' } } gradient { function_name: 'f' gradient_func: 'g' } } "
     "node { name: 'x' }",
     CODE_INVALID_ARGUMENT, "does not specify an operation"},
    {"library { function { signature { name: 'f' } } } node { name: 'x' op: 'f' input: 'y' } node { name: "
     "'y' op: 'f' input: 'x' }",
     CODE_INVALID_ARGUMENT, "2 nodes in a cycle"},
    {"library { function { } }", CODE_INVALID_ARGUMENT, "A function must have a name."},
    {"library { function { signature { name: 'MatMul' } } }", CODE_INVALID_ARGUMENT,
     "Cannot add function 'MatMul' because an op with the same name already exists."},
    {"library { function { signature { name: 'f' } } function { signature { name: 'f' is_stateful: true } } "
     "}",
     CODE_INVALID_ARGUMENT,
     "Cannot add function 'f' because a different function with the same name already exists."},
};

TEST(import_refuses_and_leaves_everything_as_it_was) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  CHECK_OK(ops_import(graph, PARAMS("before"), NULL, NULL, NULL, &status), status);
  char *before = ops_export_text(graph, arena);
  int64_t bytes = arena_bytes(graph_arena(graph)), ids = graph_num_node_ids(graph);
  for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; i++) {
    CHECK_CONTEXT("%s", kRefused[i].def);
    status_init(&status);
    CHECK_ERROR(ops_import(graph, kRefused[i].def, NULL, NULL, NULL, &status), status, kRefused[i].code,
                kRefused[i].message);
    CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
    CHECK_INT_EQ(graph_num_node_ids(graph), ids);
    CHECK_INT_EQ(graph_num_functions(graph), 0);
    CHECK(!graph_find_function(graph, "f"));
    CHECK(!graph_find_gradient_def(graph, "f"));
    ops_check_whole(graph);
  }
  CHECK_STR_EQ(ops_export_text(graph, arena), before);
  arena_free(arena);
  graph_free(graph);
}

TEST(import_refuses_names_that_are_taken) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, PARAMS("scope/a"), NULL, NULL, NULL, &status), status);
  CHECK_ERROR(ops_import(graph, PARAMS("scope"), NULL, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "Node name 'scope' already exists in the Graph");
  ImportOptions options = {.prefix = "scope/"};
  CHECK_ERROR(ops_import(graph, PARAMS("a"), &options, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "Node name 'scope/a' already exists in the Graph");
  CHECK_OK(ops_import(graph, PARAMS("b"), &options, NULL, NULL, &status), status);
  options.prefix = "no good";
  CHECK_ERROR(ops_import(graph, PARAMS("b"), &options, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "Imported node name prefix 'no good/' would lead to invalid node names");
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(import_bytes_that_are_no_graph_def) {
  static const char kBytes[] = "\x0a\xff\xff\xff\xff\x0f this is no GraphDef";
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  int64_t bytes = arena_bytes(graph_arena(graph));
  CHECK_ERROR(graph_import_bytes(graph, kBytes, sizeof kBytes - 1, NULL, NULL, NULL, &status), status,
              CODE_INVALID_ARGUMENT, "");
  CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
  CHECK_OK(graph_import_bytes(graph, "", 0, NULL, NULL, NULL, &status), status);
  graph_free(graph);
}

/* --- names that are made unique --- */

TEST(uniquify_with_prefix_does_not_meet_other_new_names) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  CHECK_OK(ops_import(graph, PARAMS("p/A"), NULL, NULL, NULL, &status), status);
  const char *wanted[] = {"A", "A_1"};
  ImportOptions options = {.prefix = "p",
                           .uniquify_names = true,
                           .return_nodes = wanted,
                           .num_return_nodes = 2};
  ImportResults results;
  REQUIRE_OK(ops_import(graph, PARAMS("A") PARAMS("A_1"), &options, arena, &results, &status), status);
  CHECK_STR_EQ(results.return_nodes[0]->name, "p/A_2");
  CHECK_STR_EQ(results.return_nodes[1]->name, "p/A_1");
  ops_check_whole(graph);
  arena_free(arena);
  graph_free(graph);
}

TEST(uniquified_names_reach_inputs_back_edges_and_colocation) {
  static const char kLoop[] =
      PARAMS("p") "node { name: 'm' op: 'Merge' input: 'p' input: 'n' attr { key: 'N' value { i: 2 } } "
             "attr { key: 'T' value { type: "
                  "DT_FLOAT } } } node { name: 'n' op: 'NextIteration' input: 'm' input: '^p' attr { key: "
                  "'T' value { type: "
                  "DT_FLOAT } } attr { key: '_class' value { list { s: 'loc:@m' s: 'other' } } } }";
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  ImportOptions options = {.uniquify_names = true};
  REQUIRE_OK(ops_import(graph, kLoop, &options, NULL, NULL, &status), status);
  REQUIRE_OK(ops_import(graph, kLoop, &options, NULL, NULL, &status), status);
  const Node *m = graph_find_node(graph, "m_1"), *n = graph_find_node(graph, "n_1"),
             *p = graph_find_node(graph, "p_1");
  REQUIRE(m && n && p);
  CHECK_STR_EQ(m->def->input[0], "p_1:0");
  CHECK_STR_EQ(m->def->input[1], "n_1:0");
  CHECK_STR_EQ(n->def->input[1], "^p_1");
  CHECK(ops_has_edge(graph, n, 0, m, 1));
  const AttrListValue *list = node_def_attr(n->def, "_class")->list;
  CHECK_INT_EQ(list->s[0].len, strlen("loc:@m_1"));
  CHECK_MEM_EQ(list->s[0].data, "loc:@m_1", strlen("loc:@m_1"));
  CHECK_MEM_EQ(list->s[1].data, "other", 5);
  ops_check_whole(graph);
  graph_free(graph);
}

/* --- output shapes --- */

TEST(output_shapes_of_the_graph_def_are_merged) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  REQUIRE_OK(ops_import(graph,
                        "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
                        "attr { key: 'shape' value { "
                        "shape { dim { size: -1 } dim { size: 3 } } } } attr { key: '_output_shapes' value { "
                        "list { shape { dim { size: 7 } "
                        "dim { size: -1 } } } } } }",
                        NULL, NULL, NULL, &status),
             status);
  char shape[64];
  ops_shape_text(graph, "x", shape);
  CHECK_STR_EQ(shape, "[7,3]");
  CHECK(!node_def_attr(graph_find_node(graph, "x")->def, "_output_shapes"));
  graph_free(graph);
}

/* --- control dependencies, mapped nodes --- */

TEST(duplicate_control_inputs_are_kept_once) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  REQUIRE_OK(ops_import(graph, PARAMS("p") "node { name: 'x' op: 'ABC' input: '^p' input: '^p' input: '^p' }",
                        NULL, NULL, NULL, &status),
             status);
  CHECK_INT_EQ(graph_find_node(graph, "x")->num_control_inputs, 1);
  CHECK_INT_EQ(graph_find_node(graph, "x")->def->n_input, 1);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(input_map_refers_to_nodes_of_this_graph) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new(), *other = graph_new();
  CHECK_OK(ops_import(graph, PARAMS("w"), NULL, NULL, NULL, &status), status);
  CHECK_OK(ops_import(other, PARAMS("o"), NULL, NULL, NULL, &status), status);
  const char *keys[] = {"q"};
  NodeOutput values[] = {{graph_find_node(other, "o"), 0}};
  ImportOptions options = {.input_map_keys = keys, .input_map_values = values, .num_input_map = 1};
  static const char kDef[] = "node { name: 'x' op: 'TestOneInputTwoOutputs' input: 'q' }";
  CHECK_ERROR(ops_import(graph, kDef, &options, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "node 'o' in input_map does not exist in graph (input_map entry: q:0->o:0)");
  values[0] = (NodeOutput){NULL, 0};
  CHECK_ERROR(ops_import(graph, kDef, &options, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "does not exist in graph");
  values[0] = (NodeOutput){graph_find_node(graph, "w"), -2};
  CHECK_ERROR(ops_import(graph, kDef, &options, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT, "");
  values[0] = (NodeOutput){graph_find_node(graph, "w"), 0};
  CHECK_OK(ops_import(graph, kDef, &options, NULL, NULL, &status), status);
  CHECK(ops_has_edge(graph, graph_find_node(graph, "w"), 0, graph_find_node(graph, "x"), 0));
  ops_check_whole(graph);
  graph_free(graph);
  graph_free(other);
}

/* --- lack of memory --- */

TEST(import_survives_lack_of_memory) {
  static const char kDef[] =
      PARAMS("W1") "node { name: 'i' op: 'TestInput' input: '^W2' } node { name: 't' op: 'TestMul' input: "
             "'i' input: 'q:1' } "
                   "node { name: 's/u' op: 'TestMul' input: 't' input: 'W1' } node { name: 'c' op: 'f' "
                   "input: 't' } "
                   "node { name: 'fill' op: 'TestFill' input: 'dims' } node { name: 'dims' op: 'Const' "
                   "attr { key: 'dtype' value { type: "
                   "DT_INT32 } } attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim "
                   "{ size: 2 } } int_val: 3 } } } } "
                   "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } } } "
                   "gradient { function_name: 'f' gradient_func: 'g' } } versions { producer: 9 "
                   "bad_consumers: 3 bad_consumers: 1 }";
  Arena *own = arena_new();
  StrBuf bytes = {0};
  Status status;
  status_init(&status);
  void *def = NULL;
  REQUIRE_OK(proto_parse_text(kGraphDef, str_of(kDef), own, &def, &status) &&
                 proto_serialize(def, &bytes, &status),
             status);
  for (int64_t after = 0;; after++) {
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    CHECK_OK(ops_import(graph, PARAMS("W1") "node { name: 'in' op: 'TestInput' }", NULL, NULL, NULL, &status),
             status);
    const char *keys[] = {"^W2", "q:1"}, *outputs[] = {"t:0"}, *nodes[] = {"s/u"};
    NodeOutput values[] = {{graph_find_node(graph, "W1"), CONTROL_SLOT}, {graph_find_node(graph, "in"), 1}};
    Node *controls[] = {graph_find_node(graph, "in")};
    ImportOptions options = {.uniquify_names = true,
                             .input_map_keys = keys,
                             .input_map_values = values,
                             .num_input_map = 2,
                             .control_dependencies = controls,
                             .num_control_dependencies = 1,
                             .return_outputs = outputs,
                             .num_return_outputs = 1,
                             .return_nodes = nodes,
                             .num_return_nodes = 1,
                             .default_device = "/cpu:0"};
    ImportResults results;
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    int64_t held = arena_bytes(graph_arena(graph));
    mem_fail_after(after);
    bool ok = graph_import_bytes(graph, bytes.data, (size_t)bytes.length, &options, arena, &results, &status);
    mem_fail_after(-1);
    ops_check_whole(graph);
    if (!ok) {
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(graph_num_nodes(graph), 4);
      CHECK_INT_EQ(graph_num_functions(graph), 0);
      CHECK_INT_EQ(graph_versions(graph)->n_bad_consumers, 0);
      CHECK_INT_EQ(arena_bytes(graph_arena(graph)), held);
      status_init(&status);
      CHECK_OK(graph_import_bytes(graph, bytes.data, (size_t)bytes.length, &options, arena, &results,
                                  &status),
               status);
    }
    CHECK_STR_EQ(results.return_nodes[0]->name, "s/u");
    CHECK_INT_EQ(graph_num_nodes(graph), 4 + 7);
    ops_check_whole(graph);
    arena_free(arena);
    graph_free(graph);
    if (ok) {
      CHECK(after > 10);
      break;
    }
    REQUIRE(after < 1000);
  }
  strbuf_free(&bytes);
  arena_free(own);
}

/* --- damaged bytes --- */

/* Bytes changed at random: whatever the result, the graph is consistent, and unchanged when the import
 * failed. */
TEST(damaged_graph_defs_are_refused_or_imported_whole) {
  static const char kDef[] =
      PARAMS("a") "node { name: 'b' op: 'TestOneInputTwoOutputs' input: 'a' input: '^a' } "
                  "node { name: 'm' op: 'Merge' input: 'b' input: 'n' attr { key: 'N' value { i: 2 } } "
                  "attr { key: 'T' value { type: DT_FLOAT } } } "
                  "node { name: 'n' op: 'NextIteration' input: 'm' attr { key: 'T' value { type: DT_FLOAT "
                  "} } } "
                  "node { name: 'd' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { "
                  "key: 'value' "
                  "value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 3 } } } } "
                  "node { name: 'f' op: 'TestFill' input: 'd' } node { name: 'g' op: 'F' input: 'f' } "
                  "library { function { signature { name: 'F' input_arg { name: 'x' type: DT_FLOAT } } } } "
                  "versions { producer: 9 }";
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  StrBuf bytes = {0};
  void *def = NULL;
  REQUIRE_OK(proto_parse_text(kGraphDef, str_of(kDef), arena, &def, &status) &&
                 proto_serialize(def, &bytes, &status),
             status);
  uint32_t seed = 99;
  int imported = 0, refused = 0;
  for (int run = 0; run < 4000; run++) {
    char *damaged = mem_alloc(bytes.length);
    memcpy(damaged, bytes.data, (size_t)bytes.length);
    for (int k = 0; k <= run % 3; k++) {
      seed = seed * 1664525u + 1013904223u;
      damaged[(seed >> 8) % (uint32_t)bytes.length] ^= (char)(1 << (seed >> 29));
    }
    Graph *graph = graph_new();
    status_init(&status);
    bool ok = graph_import_bytes(graph, damaged, (size_t)bytes.length, NULL, NULL, NULL, &status);
    *(ok ? &imported : &refused) += 1;
    if (!ok) CHECK_INT_EQ(graph_num_nodes(graph), 2);
    ops_check_whole(graph);
    graph_free(graph);
    mem_free(damaged);
  }
  CHECK(imported > 10 && refused > 1000);
  strbuf_free(&bytes);
  arena_free(arena);
}

/* --- size --- */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A GraphDef of a chain of `count` nodes, the last one first, so that nothing is in topological order. */
static void chain_bytes(int64_t count, bool backwards, StrBuf *out) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  for (int64_t k = 0; k < count; k++) {
    int64_t i = backwards ? count - 1 - k : k;
    ArenaMark mark = arena_mark(arena);
    GraphDef *def = proto_new(kGraphDef, arena);
    NodeDef *node = node_def_new(arena, arena_printf(arena, "node_%lld", (long long)i),
                                 i == 0 ? "TestParams" : "TestMul");
    NodeDef *nodes[] = {node};
    for (int input = 0; i > 0 && input < 2; input++) {
      /* A far and a near input. */
      int64_t source = input == 0 ? i - 1 : i / 2;
      CHECK_OK(node_def_add_input(node, arena, arena_printf(arena, "node_%lld", (long long)source), &status),
               status);
    }
    def->node = nodes;
    def->n_node = 1;
    /* Messages of one type may be concatenated: repeated fields are appended. */
    CHECK_OK(proto_serialize(def, out, &status), status);
    arena_rollback(arena, mark);
  }
  arena_free(arena);
}

static void import_chain(int64_t count, bool backwards) {
  StrBuf bytes = {0};
  chain_bytes(count, backwards, &bytes);
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  double start = seconds();
  CHECK_OK(graph_import_bytes(graph, bytes.data, (size_t)bytes.length, NULL, NULL, NULL, &status), status);
  double imported = seconds();
  Arena *arena = arena_new();
  Node **order;
  int64_t ordered = 0;
  CHECK_OK(graph_topological_order(graph, NULL, NULL, 0, arena, &order, &ordered, &status), status);
  double sorted = seconds();
  CHECK_INT_EQ(ordered, count);
  for (int64_t i = 0; i < ordered; i++) {
    char name[32];
    snprintf(name, sizeof name, "node_%lld", (long long)i);
    if (strcmp(order[i]->name, name) != 0) {
      CHECK_STR_EQ(order[i]->name, name);
      break;
    }
  }
  printf("  %lld nodes%s: import %.2f s, %lld bytes of arena a node, topological order %.2f s\n",
         (long long)count, backwards ? " backwards" : "", imported - start,
         (long long)(arena_bytes(graph_arena(graph)) / count), sorted - imported);
  CHECK_INT_EQ(graph_num_nodes(graph), count + 2);
  CHECK_INT_EQ(graph_num_edges(graph), 2 * (count - 1) + 3); /* with those of source and sink */
  arena_free(arena);
  graph_free(graph);
  strbuf_free(&bytes);
}

TEST(a_deep_chain_needs_no_stack) {
  import_chain(100000, true);
  import_chain(100000, false);
}

TEST(a_million_nodes) { import_chain(1000000, false); }

static void count_lines(void *arg, const char *line) {
  if (strstr(line, "_of_later_days")) ++*(int *)arg;
}

TEST(import_keeps_attrs_that_the_op_does_not_have_and_logs_them_once) {
  static const char kLater[] =
      "node { name: 'a' op: 'TestParams' attr { key: 'attr_of_later_days' value { i: 3 } } attr { key: "
      "'_private_of_later_days' value { i: 4 } } } "
      "node { name: 'b' op: 'TestParams' attr { key: 'attr_of_later_days' value { i: 5 } } experimental_type "
      "{ type_id: TFT_PRODUCT } } "
      "debug_info { files: 'f' }";
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  int lines = 0;
  log_set_sink(count_lines, &lines);
  REQUIRE_OK(ops_import(graph, kLater, NULL, NULL, NULL, &status), status);
  ImportOptions again = {.prefix = "again"};
  CHECK_OK(ops_import(graph, kLater, &again, NULL, NULL, &status), status);
  log_set_sink(NULL, NULL);
  CHECK_INT_EQ(lines, 1);
  GraphDef *def = NULL;
  REQUIRE_OK(graph_to_def(graph, arena, &def, &status), status);
  CHECK_INT_EQ(def->n_node, 4);
  CHECK_INT_EQ(node_def_attr(def->node[0], "attr_of_later_days")->i, 3);
  CHECK_INT_EQ(node_def_attr(def->node[0], "_private_of_later_days")->i, 4);
  CHECK_INT_EQ(node_def_attr(def->node[3], "attr_of_later_days")->i, 5);
  CHECK(def->node[3]->experimental_type &&
        def->node[3]->experimental_type->type_id == TENSORFLOW__FULL_TYPE_ID__TFT_PRODUCT);
  arena_free(arena);
  graph_free(graph);
}
