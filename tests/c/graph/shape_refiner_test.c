/* Shapes along a graph: values that follow from constants, dimensions that keep their identity, and error
 * messages. */
#include "graph_test_ops.h"

#define INTS(name, dims, values)                                                                       \
  "name: '" name                                                                                       \
  "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { " \
  "dtype: "                                                                                            \
  "DT_INT32 tensor_shape { " dims " } " values " } } }"
#define SCALAR(name, value) INTS(name, "", "int_val: " value)
#define VECTOR(name, size, values) INTS(name, "dim { size: " size " }", values)
#define PLACEHOLDER(name, dims)                                                                     \
  "name: '" name                                                                                    \
  "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { " \
  "shape { " dims " } } }"
#define UNARY(name, op) "name: '" name "' op: '" op "' attr { key: 'T' value { type: DT_FLOAT } }"
#define PACK(name, n)                                         \
  "name: '" name "' op: 'Pack' attr { key: 'N' value { i: " n \
  " } } attr { key: 'T' value { type: DT_INT32 } }"
#define CONCAT(name, n)                                           \
  "name: '" name "' op: 'ConcatV2' attr { key: 'N' value { i: " n \
  " } } attr { key: 'T' value { type: DT_INT32 } }"
#define SLICE(name, masks)                                                                             \
  "name: '" name                                                                                       \
  "' op: 'StridedSlice' attr { key: 'T' value { type: DT_INT32 } } attr { key: 'Index' value { type: " \
  "DT_INT32 } } " masks
#define MASK(name, value) "attr { key: '" name "' value { i: " value " } } "

/* One node per line; then the shape of an output. */
typedef struct Line {
  const char *def, *inputs;
} Line;

static Graph *build(const Line *lines) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  for (; lines->def; lines++) CHECK_OK(ops_add(graph, lines->def, lines->inputs, &status), status);
  return graph;
}

static void check_shape(const Line *lines, const char *output, const char *want) {
  Graph *graph = build(lines);
  char text[64];
  ops_shape_text(graph, output, text);
  CHECK_STR_EQ(text, want);
  graph_free(graph);
}

TEST(constants_give_shapes) {
  check_shape((Line[]){{VECTOR("dims", "2", "int_val: 2 int_val: 3"), ""},
                       {"name: 'f' op: 'TestFill'", "dims"},
                       {NULL, NULL}},
              "f", "[2,3]");
  check_shape((Line[]){{VECTOR("dims", "2", "int_val: 2 int_val: -1"), ""},
                       {"name: 'f' op: 'TestFill'", "dims"},
                       {NULL, NULL}},
              "f", "[2,?]");
}

TEST(values_are_computed_back_to_the_constants) {
  const Line lines[] = {{VECTOR("a", "2", "int_val: 2 int_val: 3"), ""},
                        {VECTOR("b", "2", "int_val: 10 int_val: 20"), ""},
                        {"name: 's' op: 'Add' attr { key: 'T' value { type: DT_INT32 } }", "a b"},
                        {"name: 't' op: 'Add' attr { key: 'T' value { type: DT_INT32 } }", "s s"},
                        {"name: 'f' op: 'TestFill'", "t"},
                        {"name: 'g' op: 'TestFill'", "t"},
                        {NULL, NULL}};
  check_shape(lines, "f", "[24,46]");
  check_shape(lines, "g", "[24,46]");
  CHECK_INT_EQ(ops_add_runs, 4); /* twice a graph: values are computed once */
}

TEST(values_that_cannot_be_computed_are_unknown) {
  /* A failing kernel; no kernel; a placeholder. The lengths are known nevertheless. */
  check_shape((Line[]){{VECTOR("a", "2", "int_val: 2"), ""},
                       {"name: 'x' op: 'Fails'", "a"},
                       {"name: 'f' op: 'TestFill'", "x"},
                       {NULL, NULL}},
              "f", "[?,?]");
  check_shape((Line[]){{VECTOR("a", "2", "int_val: 2"), ""},
                       {"name: 'x' op: 'Identity' attr { key: 'T' value { type: DT_INT32 } }", "a"},
                       {"name: 'f' op: 'TestFill'", "x"},
                       {NULL, NULL}},
              "f", "[?,?]");
  check_shape((Line[]){{"name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } }", ""},
                       {"name: 'f' op: 'TestFill'", "x"},
                       {NULL, NULL}},
              "f", "?");
}

TEST(shape_size_and_rank_of_known_shapes_are_constants) {
  Status status;
  status_init(&status);
  const Line lines[] = {{PLACEHOLDER("x", "dim { size: 3 } dim { size: 4 }"), ""},
                        {PLACEHOLDER("y", "dim { size: 3 } dim { size: -1 }"), ""},
                        {UNARY("shape", "Shape"), "x"},
                        {UNARY("size", "Size"), "x"},
                        {UNARY("rank", "Rank"), "x"},
                        {UNARY("shape_y", "Shape"), "y"},
                        {UNARY("size_y", "Size"), "y"},
                        {UNARY("rank_y", "Rank"), "y"},
                        {NULL, NULL}};
  Graph *graph = build(lines);
  static const struct {
    const char *name;
    int64_t count, last; /* elements, and the last one; 0: unknown */
  } kCases[] = {{"shape", 2, 4},  {"size", 1, 12},  {"rank", 1, 2}, {"shape_y", 0, 0},
                {"size_y", 0, 0}, {"rank_y", 1, 2}, {"x", 0, 0}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("%s", kCases[i].name);
    Tensor value = {0};
    bool known;
    NodeOutput output = {graph_find_node(graph, kCases[i].name), 0};
    CHECK_OK(graph_constant_value(graph, output, &value, &known, &status), status);
    CHECK_INT_EQ(known, kCases[i].count > 0);
    if (known) {
      CHECK_INT_EQ(tensor_num_elements(&value), kCases[i].count);
      CHECK_INT_EQ(tensor_int_at(&value, kCases[i].count - 1), kCases[i].last);
    }
    tensor_clear(&value);
  }
  CHECK_CONTEXT("%s", "");
  Tensor value = {0};
  bool known;
  CHECK_ERROR(graph_constant_value(graph, (NodeOutput){graph_find_node(graph, "x"), 1}, &value, &known,
                                   &status),
              status, CODE_OUT_OF_RANGE, "does not have output 1");
  CHECK_ERROR(graph_constant_value(graph, (NodeOutput){NULL, 0}, &value, &known, &status), status,
              CODE_INVALID_ARGUMENT, "null");
  graph_free(graph);
}

TEST(a_shape_that_becomes_known_makes_values_known) {
  Status status;
  status_init(&status);
  Graph *graph = build((Line[]){{PLACEHOLDER("x", "dim { size: -1 } dim { size: 4 }"), ""},
                                {UNARY("shape", "Shape"), "x"},
                                {NULL, NULL}});
  NodeOutput output = {graph_find_node(graph, "shape"), 0}, x = {graph_find_node(graph, "x"), 0};
  Tensor value = {0};
  bool known;
  CHECK_OK(graph_constant_value(graph, output, &value, &known, &status), status);
  CHECK(!known);
  CHECK_OK(graph_set_shape(graph, x, 2, (int64_t[]){5, -1}, &status), status);
  char text[64];
  ops_shape_text(graph, "x", text);
  CHECK_STR_EQ(text, "[5,4]");
  CHECK_OK(graph_constant_value(graph, output, &value, &known, &status), status);
  CHECK(known);
  if (known) CHECK_INT_EQ(tensor_i32(&value)[0], 5);
  tensor_clear(&value);
  graph_free(graph);
}

TEST(large_values_are_not_computed) {
  /* 300 ints are more than a kilobyte. */
  Status status;
  status_init(&status);
  Graph *graph =
      build((Line[]){{VECTOR("small", "256", "int_val: 1"), ""},
                     {VECTOR("large", "257", "int_val: 1"), ""},
                     {INTS("huge", "dim { size: 4611686018427387904 } dim { size: 0 }", ""), ""},
                     {"name: 's' op: 'Add' attr { key: 'T' value { type: DT_INT32 } }", "large large"},
                     {NULL, NULL}});
  static const char *const kNames[] = {"small", "large", "s"};
  for (int i = 0; i < 3; i++) {
    Tensor value = {0};
    bool known;
    CHECK_OK(graph_constant_value(graph, (NodeOutput){graph_find_node(graph, kNames[i]), 0}, &value, &known,
                                  &status),
             status);
    CHECK_INT_EQ(known, i == 0);
    tensor_clear(&value);
  }
  CHECK_INT_EQ(ops_add_runs, 0);
  graph_free(graph);
}

/* --- partial shapes --- */

static const Line kBatch[] = {{PLACEHOLDER("x", "dim { size: -1 } dim { size: 7 } dim { size: -1 }"), ""},
                              {UNARY("shape", "Shape"), "x"},
                              {VECTOR("zero", "1", "int_val: 0"), ""},
                              {VECTOR("one", "1", "int_val: 1"), ""},
                              {VECTOR("two", "1", "int_val: 2"), ""},
                              {VECTOR("last", "1", "int_val: -1"), ""},
                              {SCALAR("five", "5"), ""},
                              {SCALAR("axis", "0"), ""},
                              {NULL, NULL}};

static Graph *batch_graph(const Line *more) {
  Status status;
  status_init(&status);
  Graph *graph = build(kBatch);
  for (; more->def; more++) CHECK_OK(ops_add(graph, more->def, more->inputs, &status), status);
  return graph;
}

/* The shape of "f", and which of its dimensions are dimensions of x: a digit, or '-'. */
static void check_partial(const Line *more, const char *want, const char *same) {
  Graph *graph = batch_graph(more);
  char text[64];
  ops_shape_text(graph, "f", text);
  CHECK_STR_EQ(text, want);
  ShapeHandle f = graph_output_shape((NodeOutput){graph_find_node(graph, "f"), 0});
  ShapeHandle x = graph_output_shape((NodeOutput){graph_find_node(graph, "x"), 0});
  for (int i = 0; same[i]; i++) {
    if (i >= shape_rank(f)) break;
    for (int d = 0; d < 3; d++) CHECK_INT_EQ(f->dims[i] == x->dims[d], same[i] == '0' + d);
  }
  graph_free(graph);
}

TEST(dimensions_keep_their_identity) {
  check_partial((Line[]){{"name: 'f' op: 'TestFill'", "shape"}, {NULL, NULL}}, "[?,7,?]", "012");
  check_partial((Line[]){{UNARY("f", "Identity"), "x"}, {NULL, NULL}}, "[?,7,?]", "012");
}

TEST(strided_slices_of_shapes) {
  check_partial((Line[]){{SLICE("s", ""), "shape one last one"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "[7]", "1");
  check_partial((Line[]){{SLICE("s", MASK("end_mask", "1")), "shape one one one"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "[7,?]", "12");
  check_partial((Line[]){{SLICE("s", MASK("begin_mask", "1")), "shape one two one"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "[?,7]", "01");
  check_partial((Line[]){{SLICE("s", MASK("begin_mask", "1") MASK("end_mask", "1")), "shape one two two"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "[?,?]", "02");
  /* Other masks are not supported, and a stride of 0 has no meaning. */
  check_partial((Line[]){{SLICE("s", MASK("ellipsis_mask", "1")), "shape one last one"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "?", "");
  check_partial((Line[]){{SLICE("s", ""), "shape zero one zero"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "?", "");
  /* Begin after end. */
  check_partial((Line[]){{SLICE("s", ""), "shape two one one"},
                         {"name: 'f' op: 'TestFill'", "s"},
                         {NULL, NULL}},
                "?", "");
}

TEST(packed_sizes_make_shapes) {
  const char *element = SLICE("e", MASK("shrink_axis_mask", "1"));
  check_partial((Line[]){{element, "shape zero one one"},
                         {PACK("p", "2"), "e five"},
                         {"name: 'f' op: 'TestFill'", "p"},
                         {NULL, NULL}},
                "[?,5]", "0-");
  check_partial((Line[]){{element, "shape last zero one"},
                         {PACK("p", "3"), "five e e"},
                         {"name: 'f' op: 'TestFill'", "p"},
                         {NULL, NULL}},
                "[5,?,?]", "-22");
  check_partial((Line[]){{"name: 'y' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } attr { "
                          "key: 'shape' value { shape { } } }",
                          ""},
                         {PACK("p", "2"), "y five"},
                         {"name: 'f' op: 'TestFill'", "p"},
                         {NULL, NULL}},
                "[?,5]", "--");
}

TEST(concatenated_and_cast_sizes_make_shapes) {
  check_partial((Line[]){{CONCAT("c", "2"), "shape two axis"},
                         {"name: 'f' op: 'TestFill'", "c"},
                         {NULL, NULL}},
                "[?,7,?,2]", "012-");
  check_partial((Line[]){{CONCAT("c", "2"), "shape shape axis"},
                         {CONCAT("d", "2"), "c c axis"},
                         {"name: 'f' op: 'TestFill'", "d"},
                         {NULL, NULL}},
                "[?,7,?,?,7,?,?,7,?,?,7,?]", "012012012012");
  check_partial(
      (Line[]){{"name: 'l' op: 'Cast' attr { key: 'SrcT' value { type: DT_INT32 } } attr { key: 'DstT' value "
                "{ type: DT_INT64 } }",
                "shape"},
               {"name: 'f' op: 'TestFill' attr { key: 'index_type' value { type: DT_INT64 } }", "l"},
               {NULL, NULL}},
      "[?,7,?]", "012");
}

TEST(unknown_sizes_read_twice_are_the_same) {
  Graph *graph = batch_graph((Line[]){{"name: 'y' op: 'Placeholder' attr { key: 'dtype' value { type: "
                                       "DT_INT32 } } attr { key: 'shape' value { shape { } } }",
                                       ""},
                                      {PACK("p", "1"), "y"},
                                      {"name: 'f' op: 'TestFill'", "p"},
                                      {"name: 'g' op: 'TestFill'", "p"},
                                      {NULL, NULL}});
  ShapeHandle f = graph_output_shape((NodeOutput){graph_find_node(graph, "f"), 0});
  ShapeHandle g = graph_output_shape((NodeOutput){graph_find_node(graph, "g"), 0});
  CHECK(f->dims[0] == g->dims[0]);
  graph_free(graph);
}

/* Each concatenation doubles the length, but neither time nor memory. */
TEST(doubling_expressions_stay_bounded) {
  Status status;
  status_init(&status);
  Graph *graph = build(kBatch);
  CHECK_OK(ops_add(graph, CONCAT("c0", "2"), "shape shape axis", &status), status);
  for (int i = 1; i < 200; i++) {
    char def[256], inputs[64];
    snprintf(def, sizeof def,
             "name: 'c%d' op: 'ConcatV2' attr { key: 'N' value { i: 2 } } attr { key: 'T' value { type: "
             "DT_INT32 } }",
             i);
    snprintf(inputs, sizeof inputs, "c%d c%d axis", i - 1, i - 1);
    Node *node = ops_add(graph, def, inputs, &status);
    if (!node) {
      CHECK(i > 60); /* the length does not fit 64 bits any more */
      break;
    }
    char fill[64], source[64];
    snprintf(fill, sizeof fill, "name: 'f%d' op: 'TestFill'", i);
    snprintf(source, sizeof source, "c%d", i);
    if (i < 6) CHECK_OK(ops_add(graph, fill, source, &status), status);
  }
  graph_free(graph);
}

TEST(a_deep_chain_of_values_needs_no_stack) {
  Status status;
  status_init(&status);
  Graph *graph = build((Line[]){{SCALAR("n0", "1"), ""}, {NULL, NULL}});
  NodeDef *def = node_def_new(graph_arena(graph), "", "Add");
  REQUIRE_OK(node_def_set_attr(def, graph_arena(graph), "T", attr_value_type(graph_arena(graph), DT_INT32),
                               &status),
             status);
  Node *last = graph_find_node(graph, "n0"), *one = last;
  enum { COUNT = 20000 };
  for (int i = 1; i <= COUNT; i++) {
    char name[32];
    snprintf(name, sizeof name, "n%d", i);
    def->name = name;
    REQUIRE_OK(graph_add_operation(graph, def, (NodeOutput[]){{last, 0}, {one, 0}}, 2, NULL, 0, &last,
                                   &status),
               status);
  }
  CHECK_INT_EQ(ops_add_runs, 0); /* the value was not requested yet */
  Tensor value = {0};
  bool known;
  CHECK_OK(graph_constant_value(graph, (NodeOutput){last, 0}, &value, &known, &status), status);
  CHECK(known);
  if (known) CHECK_INT_EQ(tensor_i32(&value)[0], COUNT + 1);
  CHECK_INT_EQ(ops_add_runs, COUNT);
  tensor_clear(&value);
  graph_free(graph);
}

TEST(a_cycle_has_no_value) {
  Status status;
  status_init(&status);
  const char *add = "op: 'Add' attr { key: 'T' value { type: DT_INT32 } }";
  char a[128], b[128];
  snprintf(a, sizeof a, "name: 'a' %s", add);
  snprintf(b, sizeof b, "name: 'b' %s", add);
  Graph *graph = build((Line[]){{SCALAR("one", "1"), ""}, {a, "one one"}, {b, "a a"}, {NULL, NULL}});
  Node *node_a = graph_find_node(graph, "a"), *node_b = graph_find_node(graph, "b");
  CHECK_OK(graph_update_edge(graph, node_b, 0, node_a, 0, &status), status);
  Tensor value = {0};
  bool known;
  CHECK_OK(graph_constant_value(graph, (NodeOutput){node_b, 0}, &value, &known, &status), status);
  CHECK(!known);
  CHECK_OK(graph_update_edge(graph, graph_find_node(graph, "one"), 0, node_a, 0, &status), status);
  CHECK_OK(graph_constant_value(graph, (NodeOutput){node_b, 0}, &value, &known, &status), status);
  CHECK(known);
  if (known) CHECK_INT_EQ(tensor_i32(&value)[0], 4);
  tensor_clear(&value);
  graph_free(graph);
}

/* --- errors --- */

TEST(errors_have_their_context) {
  Status status;
  status_init(&status);
  Graph *graph = build((Line[]){{PLACEHOLDER("m", "dim { size: 2 } dim { size: 1 }"), ""},
                                {PLACEHOLDER("v", "dim { size: 2 }"), ""},
                                {SCALAR("minus", "-4"), ""},
                                {VECTOR("bad", "2", "int_val: 1 int_val: -2"), ""},
                                {NULL, NULL}});
  CHECK(!ops_add(graph, UNARY("p", "MatMul"), "m m", &status));
  CHECK_STR_EQ(status.message,
               "Dimensions must be equal, but are 1 and 2 for '{{node p}} = MatMul[T=DT_FLOAT, "
               "transpose_a=false, transpose_b=false](m, m)' with input shapes: [2,1], [2,1].");
  status_init(&status);
  CHECK(!ops_add(graph, "name: 's' op: 'TestMergeShapes'", "m v", &status));
  CHECK_STR_EQ(status.message,
               "Shapes must be equal rank, but are 2 and 1 for '{{node s}} = TestMergeShapes[](m, v)' with "
               "input "
               "shapes: [2,1], [2].");
  status_init(&status);
  CHECK(!ops_add(graph, "name: 'c' op: 'TestChecked'", "minus", &status));
  CHECK_STR_EQ(status.message,
               "Value must not be negative for '{{node c}} = TestChecked[](minus)' with input shapes: [] and "
               "with computed input "
               "tensors: input[0] = <-4>.");
  status_init(&status);
  CHECK(!ops_add(graph, "name: 'f' op: 'TestFill'", "bad", &status));
  CHECK_STR_EQ(status.message,
               "Invalid value in tensor used for shape: -2 for '{{node f}} = "
               "TestFill[index_type=DT_INT32](bad)' with input shapes: [2] and with "
               "computed input tensors: input[0] = <1 -2>.");
  graph_free(graph);
}

TEST(set_shape_merges_or_refuses) {
  Status status;
  status_init(&status);
  Graph *graph = build((Line[]){{PLACEHOLDER("x", "dim { size: 2 } dim { size: -1 }"), ""}, {NULL, NULL}});
  NodeOutput x = {graph_find_node(graph, "x"), 0};
  CHECK_ERROR(graph_set_shape(graph, x, 2, (int64_t[]){3, 1}, &status), status, CODE_INVALID_ARGUMENT,
              "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2,?] and [3,1].");
  CHECK_ERROR(graph_set_shape(graph, x, 1, (int64_t[]){3}, &status), status, CODE_INVALID_ARGUMENT,
              "Shapes must be equal rank, but are 2 and 1");
  CHECK_ERROR(graph_set_shape(graph, x, 2, (int64_t[]){2, -2}, &status), status, CODE_INVALID_ARGUMENT, "-2");
  CHECK_ERROR(graph_set_shape(graph, x, -2, NULL, &status), status, CODE_INVALID_ARGUMENT, "-2");
  CHECK_ERROR(graph_set_shape(graph, (NodeOutput){x.node, 1}, 0, NULL, &status), status,
              CODE_INVALID_ARGUMENT, "output_port '1' is out of range, node 'x' has 1 outputs");
  ShapeHandle before = graph_output_shape(x);
  CHECK_OK(graph_set_shape(graph, x, UNKNOWN_RANK, NULL, &status), status);
  CHECK(graph_output_shape(x) == before);
  CHECK_OK(graph_set_shape(graph, x, 2, (int64_t[]){-1, 9}, &status), status);
  char text[64];
  ops_shape_text(graph, "x", text);
  CHECK_STR_EQ(text, "[2,9]");
  graph_free(graph);
}

/* --- handles, ops without shape function --- */

TEST(handles_carry_the_shape_of_their_variable) {
  Graph *graph =
      build((Line[]){{"name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
                      "key: 'shape' value { "
                      "shape { dim { size: 3 } dim { size: -1 } } } }",
                      ""},
                     {"name: 'i' op: 'Identity' attr { key: 'T' value { type: DT_RESOURCE } }", "v"},
                     {"name: 'r' op: 'ReadVariableOp' attr { key: 'dtype' value { type: DT_FLOAT } }", "v"},
                     {"name: 's' op: 'ReadVariableOp' attr { key: 'dtype' value { type: DT_FLOAT } }", "v"},
                     {NULL, NULL}});
  char text[64];
  ops_shape_text(graph, "r", text);
  CHECK_STR_EQ(text, "[3,?]");
  ShapeHandle r = graph_output_shape((NodeOutput){graph_find_node(graph, "r"), 0});
  ShapeHandle s = graph_output_shape((NodeOutput){graph_find_node(graph, "s"), 0});
  CHECK(r->dims[1] == s->dims[1]);
  CHECK(graph_find_node(graph, "v")->output_handles[0]);
  CHECK(!graph_find_node(graph, "r")->output_handles[0]);
  graph_free(graph);
}

TEST(a_bare_node_has_unknown_shapes_until_inferred) {
  Status status;
  status_init(&status);
  Graph *graph = build((Line[]){{PLACEHOLDER("x", "dim { size: 2 }"), ""}, {NULL, NULL}});
  void *def = NULL;
  Node *node;
  Edge *edge;
  REQUIRE_OK(proto_parse_text(kNodeDef, str_of(UNARY("i", "Identity")), graph_arena(graph), &def, &status),
             status);
  REQUIRE_OK(graph_add_node(graph, def, &node, &status), status);
  REQUIRE_OK(graph_add_edge(graph, graph_find_node(graph, "x"), 0, node, 0, &edge, &status), status);
  char text[64];
  ops_shape_text(graph, "i", text);
  CHECK_STR_EQ(text, "?");
  CHECK_OK(graph_infer_shapes(graph, node, &status), status);
  ops_shape_text(graph, "i", text);
  CHECK_STR_EQ(text, "[2]");
  graph_free(graph);
}

TEST(inference_survives_lack_of_memory) {
  const Line more[] = {{CONCAT("c", "2"), "shape two axis"},
                       {SLICE("s", ""), "c one last one"},
                       {PACK("p", "2"), "five axis"},
                       {CONCAT("d", "2"), "s p axis"},
                       {NULL, NULL}};
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *def = NULL;
  REQUIRE_OK(proto_parse_text(kNodeDef, str_of("name: 'f' op: 'TestFill'"), arena, &def, &status), status);
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Graph *graph = batch_graph(more);
    while (arena_bytes(graph_arena(graph)) < 65536) arena_alloc(graph_arena(graph), 16);
    int64_t bytes = arena_bytes(graph_arena(graph));
    Node *node;
    mem_fail_after(after);
    ok = graph_add_operation(graph, def, (NodeOutput[]){{graph_find_node(graph, "d"), 0}}, 1, NULL, 0, &node,
                             &status);
    mem_fail_after(-1);
    if (!ok) {
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
      status_init(&status);
      CHECK_OK(ops_add(graph, "name: 'f' op: 'TestFill'", "d", &status), status);
    }
    char text[64];
    ops_shape_text(graph, "f", text);
    CHECK_STR_EQ(text, "[7,?,5,0]");
    graph_free(graph);
    REQUIRE(after < 1000);
  }
  arena_free(arena);
}
