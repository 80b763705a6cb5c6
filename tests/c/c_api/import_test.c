#include "c_api/c_api_fixture.h"
#include "proto/proto.h"

/* A GraphDef from text format; the caller deletes it. */
static TF_Buffer *def_bytes(const char *text) {
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *def;
  StrBuf bytes = {0};
  TF_Buffer *buffer = NULL;
  if (CHECK_OK(proto_parse_text(kGraphDef, str_of(text), arena, &def, &status), status) &&
      CHECK_OK(proto_serialize(def, &bytes, &status), status)) {
    buffer = TF_NewBufferFromString(strbuf_text(&bytes), (size_t)bytes.length);
  }
  strbuf_free(&bytes);
  arena_free(arena);
  return buffer;
}

#define VERSIONS "versions { producer: 27 }"
#define FLOATS(name) \
  "node { name: '" name "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }"
#define UNARY(op, name, input) \
  "node { name: '" name "' op: '" op "' input: '" input "' attr { key: 'T' value { type: DT_FLOAT } } }"
#define BINARY(op, name, x, y)                                     \
  "node { name: '" name "' op: '" op "' input: '" x "' input: '" y \
  "' attr { key: 'T' value { type: DT_FLOAT } } }"

/* x -> neg -> sum <- x */
static const char kSmall[] = VERSIONS FLOATS("x") UNARY("Neg", "neg", "x") BINARY("Add", "sum", "neg", "x");

static const char *name_or_nothing(TF_Operation *operation) {
  return operation ? TF_OperationName(operation) : "(none)";
}

TEST(an_imported_graph_runs_and_exports_the_same_bytes) {
  Fixture f = {0}, g = {0}, h = {0};
  REQUIRE(begin(&f) && begin(&g) && begin(&h));
  TF_Buffer *def = def_bytes(kSmall);
  TF_GraphImportGraphDef(f.graph, def, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_DeleteBuffer(def);
  CHECK_INT_EQ(num_operations(f.graph), 3);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *value = float_scalar(3);
  TF_Output x = {TF_GraphOperationByName(f.graph, "x"), 0},
            neg = {TF_GraphOperationByName(f.graph, "neg"), 0};
  CHECK_NEAR(fetch_float(&f, session, x, value, neg), -3, 0);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, f.status);
  TF_Buffer *first = graph_bytes(&f, f.graph);
  TF_GraphImportGraphDef(g.graph, first, NULL, g.status);
  CHECK_TF_OK(g.status);
  TF_Buffer *second = graph_bytes(&g, g.graph);
  TF_GraphImportGraphDef(h.graph, second, NULL, h.status);
  CHECK_TF_OK(h.status);
  TF_Buffer *third = graph_bytes(&h, h.graph);
  if (CHECK_INT_EQ(second->length, first->length)) CHECK_MEM_EQ(second->data, first->data, first->length);
  if (CHECK_INT_EQ(third->length, first->length)) CHECK_MEM_EQ(third->data, first->data, first->length);
  TF_DeleteBuffer(first);
  TF_DeleteBuffer(second);
  TF_DeleteBuffer(third);
  end(&f);
  end(&g);
  end(&h);
}

TEST(an_imported_graph_lowers_the_version) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *def = def_bytes("versions { producer: 27 min_consumer: 5 }");
  TF_GraphImportGraphDef(f.graph, def, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_DeleteBuffer(def);
  TF_Buffer *bytes = TF_NewBuffer();
  TF_GraphVersions(f.graph, bytes, f.status);
  CHECK_TF_OK(f.status);
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *message;
  if (CHECK_OK(proto_parse(kVersionDef, bytes->data, bytes->length, arena, &message, &status), status)) {
    CHECK_INT_EQ(((VersionDef *)message)->producer, 27);
    CHECK_INT_EQ(((VersionDef *)message)->min_consumer, 5);
  }
  arena_free(arena);
  TF_DeleteBuffer(bytes);
  end(&f);
}

TEST(what_is_no_graph_is_refused_and_changes_nothing) {
  static const struct {
    const char *text;
    TF_Code code;
    const char *message;
  } cases[] = {
      {VERSIONS FLOATS("old"), TF_INVALID_ARGUMENT, "Node name 'old' already exists in the Graph"},
      {VERSIONS FLOATS("x") FLOATS("x"), TF_INVALID_ARGUMENT, "Node 'x' is not unique"},
      {VERSIONS FLOATS("x") UNARY("Neg", "neg", "y"), TF_INVALID_ARGUMENT,
       "Node 'neg': Unknown input node 'y'"},
      {VERSIONS FLOATS("x") UNARY("Neg", "neg", "x:1"), TF_INVALID_ARGUMENT,
       "Node 'neg': Connecting to invalid output 1 of source node x which has 1 outputs."},
      {VERSIONS UNARY("Neg", "a", "b") UNARY("Neg", "b", "a"), TF_INVALID_ARGUMENT, "cycle"},
      {VERSIONS UNARY("Neg", "a", "a"), TF_INVALID_ARGUMENT, "cycle"},
      {VERSIONS "node { name: 'a' op: 'NoSuchOp' }", TF_NOT_FOUND,
       "Op type not registered 'NoSuchOp' in binary"},
      {VERSIONS "node { name: 'a' }", TF_INVALID_ARGUMENT, "Node 'a' does not specify an operation"},
      {VERSIONS "node { name: 'a:b' op: 'NoOp' }", TF_INVALID_ARGUMENT,
       "Node name contains invalid characters"},
      {VERSIONS "node { name: 'a' op: 'Placeholder' }", TF_INVALID_ARGUMENT, "missing attr 'dtype'"},
      {VERSIONS FLOATS(
           "x") "node { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_INT32 } } }",
       TF_INVALID_ARGUMENT, "Input 0 of node n was passed float from x:0 incompatible with expected int32."},
      {VERSIONS FLOATS(
           "x") "node { name: 'n' op: 'Neg' input: ['x', 'x'] attr { key: 'T' value { type: DT_FLOAT } } }",
       TF_INVALID_ARGUMENT, "inputs"},
      {"versions { producer: 27 min_consumer: 1000000 }", TF_INVALID_ARGUMENT,
       "GraphDef min consumer version 1000000 above current"},
      {VERSIONS "node { name: 'a' op: 'NoOp' input: '^missing' }", TF_INVALID_ARGUMENT,
       "Node 'a': Unknown input node '^missing'"},
  };
  Fixture f = {0};
  REQUIRE(begin(&f));
  placeholder(&f, "old");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    TF_Buffer *before = graph_bytes(&f, f.graph), *def = def_bytes(cases[i].text);
    CHECK(!TF_GraphImportGraphDefWithResults(f.graph, def, NULL, f.status));
    CHECK_TF_ERROR(f.status, cases[i].code, cases[i].message);
    TF_Buffer *after = graph_bytes(&f, f.graph);
    if (CHECK_INT_EQ(after->length, before->length)) CHECK_MEM_EQ(after->data, before->data, before->length);
    TF_DeleteBuffer(def);
    TF_DeleteBuffer(before);
    TF_DeleteBuffer(after);
  }
  CHECK_CONTEXT("%s", "");
  TF_Buffer *text = TF_NewBufferFromString("this is no GraphDef", 19);
  TF_GraphImportGraphDef(f.graph, text, NULL, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Invalid GraphDef: Cannot parse ");
  TF_DeleteBuffer(text);
  TF_Buffer *nothing = TF_NewBuffer();
  TF_GraphImportGraphDef(f.graph, nothing, NULL, f.status); /* no bytes: a GraphDef with nothing in it */
  CHECK_TF_OK(f.status);
  TF_DeleteBuffer(nothing);
  CHECK_INT_EQ(num_operations(f.graph), 1);
  end(&f);
}

TEST(options_for_names) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *def = def_bytes(kSmall);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "p");
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK(TF_GraphOperationByName(f.graph, "p/neg"));
  CHECK_STR_EQ(name_or_nothing(
                   TF_OperationInput((TF_Input){TF_GraphOperationByName(f.graph, "p/neg"), 0}).oper),
               "p/x");
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Node name 'p/x' already exists in the Graph");
  TF_ImportGraphDefOptionsSetUniquifyNames(options, 1);
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK_STR_EQ(name_or_nothing(
                   TF_OperationInput((TF_Input){TF_GraphOperationByName(f.graph, "p/neg_1"), 0}).oper),
               "p/x_1");
  TF_ImportGraphDefOptionsSetUniquifyNames(options, 0);
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 1);
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK_STR_EQ(name_or_nothing(
                   TF_OperationInput((TF_Input){TF_GraphOperationByName(f.graph, "p_1/neg"), 0}).oper),
               "p_1/x");
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 0);
  TF_ImportGraphDefOptionsSetPrefix(options, "bad prefix!");
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "Imported node name prefix 'bad prefix!/' would lead to invalid node names");
  CHECK_INT_EQ(num_operations(f.graph), 9);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  end(&f);
}

TEST(the_default_device_is_for_nodes_without_one) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *def =
      def_bytes(VERSIONS "node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'NoOp' device: '/cpu:1' }");
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetDefaultDevice(options, "/device:CPU:0");
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK_STR_EQ(TF_OperationDevice(TF_GraphOperationByName(f.graph, "a")), "/device:CPU:0");
  CHECK_STR_EQ(TF_OperationDevice(TF_GraphOperationByName(f.graph, "b")), "/cpu:1");
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  end(&f);
}

TEST(inputs_are_mapped_and_results_returned) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output mine = placeholder(&f, "mine"), other = constant(&f, "other", 1);
  TF_Buffer *def = def_bytes(kSmall);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  char name[] = "neg";
  TF_ImportGraphDefOptionsSetPrefix(options, "in");
  TF_ImportGraphDefOptionsAddInputMapping(options, name, 0, mine);
  TF_ImportGraphDefOptionsAddInputMapping(options, "sum", 0, other); /* exists, but nothing reads it */
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 7, other);   /* not an output */
  TF_ImportGraphDefOptionsAddInputMapping(options, "missing", 2, other);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "sum", 0);
  TF_ImportGraphDefOptionsAddReturnOutput(options, name, 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "x");
  name[0] = 'z'; /* names were copied */
  CHECK_INT_EQ(TF_ImportGraphDefOptionsNumReturnOutputs(options), 2);
  CHECK_INT_EQ(TF_ImportGraphDefOptionsNumReturnOperations(options), 1);
  TF_ImportGraphDefResults *results = TF_GraphImportGraphDefWithResults(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  REQUIRE(results);
  TF_Operation *sum = TF_GraphOperationByName(f.graph, "in/sum");
  CHECK(TF_OperationInput((TF_Input){sum, 0}).oper == mine.oper);
  CHECK_STR_EQ(name_or_nothing(TF_OperationInput((TF_Input){sum, 1}).oper), "in/x");
  int count;
  TF_Output *outputs;
  TF_ImportGraphDefResultsReturnOutputs(results, &count, &outputs);
  if (CHECK_INT_EQ(count, 2)) {
    CHECK(outputs[0].oper == other.oper && outputs[0].index == 0);
    CHECK(outputs[1].oper == mine.oper && outputs[1].index == 0); /* both are the mapped outputs */
  }
  TF_Operation **operations;
  TF_ImportGraphDefResultsReturnOperations(results, &count, &operations);
  if (CHECK_INT_EQ(count, 1)) CHECK_STR_EQ(TF_OperationName(operations[0]), "in/x");
  const char **missing;
  int *indexes;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &count, &missing, &indexes);
  if (CHECK_INT_EQ(count, 2)) {
    int first = strcmp(missing[0], "x") == 0 ? 0 : 1;
    CHECK_STR_EQ(missing[first], "x");
    CHECK_INT_EQ(indexes[first], 7);
    CHECK_STR_EQ(missing[1 - first], "missing");
    CHECK_INT_EQ(indexes[1 - first], 2);
  }
  TF_DeleteImportGraphDefResults(results);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  end(&f);
}

TEST(return_outputs_in_a_callers_array) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *def = def_bytes(kSmall);
  TF_Output outputs[2] = {kNone, kNone};
  TF_GraphImportGraphDefWithReturnOutputs(f.graph, def, NULL, outputs, 1, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Expected 'num_return_outputs' to be 0, got 1");
  CHECK_INT_EQ(num_operations(f.graph), 0);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsAddReturnOutput(options, "neg", 0);
  TF_GraphImportGraphDefWithReturnOutputs(f.graph, def, options, NULL, 0, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Expected 'num_return_outputs' to be 1, got 0");
  TF_GraphImportGraphDefWithReturnOutputs(f.graph, def, options, outputs, 1, f.status);
  CHECK_TF_OK(f.status);
  CHECK_STR_EQ(name_or_nothing(outputs[0].oper), "neg");
  TF_ImportGraphDefOptionsSetPrefix(options, "again");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "nothing", 0);
  TF_GraphImportGraphDefWithReturnOutputs(f.graph, def, options, outputs, 2, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Requested return tensor 'nothing:0' not found in graph def");
  CHECK_INT_EQ(num_operations(f.graph), 3);
  TF_DeleteImportGraphDefOptions(options);
  options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "again");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "neg", 3);
  TF_GraphImportGraphDefWithReturnOutputs(f.graph, def, options, outputs, 1, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                 "Invalid return output 3 of node 'neg', which has 1 output(s)");
  TF_DeleteImportGraphDefOptions(options);
  options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "again");
  TF_ImportGraphDefOptionsAddReturnOperation(options, "nothing");
  CHECK(!TF_GraphImportGraphDefWithResults(f.graph, def, options, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Requested return node 'nothing' not found in graph def");
  CHECK_INT_EQ(num_operations(f.graph), 3);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  end(&f);
}

TEST(control_dependencies_are_added_and_remapped) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output before = constant(&f, "before", 1), instead = constant(&f, "instead", 1);
  TF_Buffer *def =
      def_bytes(VERSIONS "node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'NoOp' input: '^a' }");
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsAddControlDependency(options, before.oper);
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  TF_Operation *found[2] = {NULL, NULL};
  CHECK_INT_EQ(TF_OperationGetControlInputs(TF_GraphOperationByName(f.graph, "a"), found, 2), 1);
  CHECK(found[0] == before.oper);
  CHECK_INT_EQ(TF_OperationNumControlInputs(TF_GraphOperationByName(f.graph, "b")), 1); /* waits for it
                                                                                         * through a */
  TF_DeleteImportGraphDefOptions(options);
  options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "p");
  TF_ImportGraphDefOptionsRemapControlDependency(options, "a", instead.oper);
  TF_GraphImportGraphDef(f.graph, def, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(TF_OperationGetControlInputs(TF_GraphOperationByName(f.graph, "p/b"), found, 2), 1);
  CHECK(found[0] == instead.oper);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  end(&f);
}

TEST(mappings_to_nowhere_are_refused) {
  Fixture f = {0}, g = {0};
  REQUIRE(begin(&f) && begin(&g));
  TF_Output mine = placeholder(&f, "mine"), foreign = placeholder(&g, "foreign");
  TF_Buffer *def = def_bytes(kSmall);
  const TF_Output cases[] = {kNone, foreign, {mine.oper, 1}, {mine.oper, -5}};
  for (int i = 0; i < 4; i++) {
    CHECK_CONTEXT("case %d", i);
    TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
    TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, cases[i]);
    TF_GraphImportGraphDef(f.graph, def, options, f.status);
    CHECK_INT_EQ(TF_GetCode(f.status), TF_INVALID_ARGUMENT);
    TF_DeleteImportGraphDefOptions(options);
  }
  TF_Operation *const controls[] = {NULL, foreign.oper};
  for (int i = 0; i < 2; i++) {
    CHECK_CONTEXT("control %d", i);
    TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
    TF_ImportGraphDefOptionsAddControlDependency(options, controls[i]);
    TF_GraphImportGraphDef(f.graph, def, options, f.status);
    CHECK_INT_EQ(TF_GetCode(f.status), TF_INVALID_ARGUMENT);
    TF_DeleteImportGraphDefOptions(options);
    options = TF_NewImportGraphDefOptions();
    TF_ImportGraphDefOptionsRemapControlDependency(options, "x", controls[i]);
    TF_GraphImportGraphDef(f.graph, def, options, f.status);
    CHECK_INT_EQ(TF_GetCode(f.status), TF_INVALID_ARGUMENT);
    TF_DeleteImportGraphDefOptions(options);
  }
  CHECK_INT_EQ(num_operations(f.graph), 1);
  TF_DeleteBuffer(def);
  end(&f);
  end(&g);
}

/* y = MatMul(x, w) with float w of [3,5] inside; the result reshaped to the sizes in s. */
#define LAYER_LIBRARY                                                                                        \
  "library { function { signature { name: 'Layer' input_arg { name: 'x' type: DT_FLOAT } "                   \
  "input_arg { name: 's' type: DT_INT32 } output_arg { name: 'y' type: DT_FLOAT } "                          \
  "output_arg { name: 'z' type: DT_FLOAT } } "                                                               \
  "node_def { name: 'w' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } "                         \
  "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } dim { size: 5 } } "   \
  "float_val: 1 } } } } "                                                                                    \
  "node_def { name: 'm' op: 'MatMul' input: 'x' input: 'w:output:0' attr { key: 'T' value { type: DT_FLOAT " \
  "} } } "                                                                                                   \
  "node_def { name: 'r' op: 'Reshape' input: 'm:product:0' input: 's' attr { key: 'T' value { type: "        \
  "DT_FLOAT } } "                                                                                            \
  "attr { key: 'Tshape' value { type: DT_INT32 } } } "                                                       \
  "ret { key: 'y' value: 'm:product:0' } ret { key: 'z' value: 'r:output:0' } } } "
#define ROWS(name, size)                                                \
  "node { name: '" name                                                 \
  "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } " \
  "attr { key: 'shape' value { shape { dim { size: -1 } dim { size: " size " } } } } }"
#define SIZES                                                                              \
  "node { name: 's' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } "           \
  "attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } } " \
  "int_val: 4 int_val: -1 int_val: 5 } } } }"

TEST(shapes_of_an_imported_graph_follow_through_its_functions) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *def = def_bytes(VERSIONS LAYER_LIBRARY ROWS("x", "3") SIZES
                             "node { name: 'call' op: 'Layer' input: 'x' input: 's' }");
  TF_GraphImportGraphDef(f.graph, def, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_DeleteBuffer(def);
  TF_Operation *call = TF_GraphOperationByName(f.graph, "call");
  REQUIRE(call);
  int64_t y[2] = {0}, z[3] = {0};
  TF_GraphGetTensorShape(f.graph, (TF_Output){call, 0}, y, 2, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(y[0], -1);
  CHECK_INT_EQ(y[1], 5);
  TF_GraphGetTensorShape(f.graph, (TF_Output){call, 1}, z, 3, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(z[0], 4);
  CHECK_INT_EQ(z[1], -1);
  CHECK_INT_EQ(z[2], 5);
  end(&f);
}

TEST(an_import_with_a_call_that_cannot_be_is_undone) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *def = def_bytes(VERSIONS LAYER_LIBRARY ROWS("x", "4") SIZES
                             "node { name: 'call' op: 'Layer' input: 'x' input: 's' }");
  for (int i = 0; i < 2; i++) {
    TF_GraphImportGraphDef(f.graph, def, NULL, f.status);
    CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                   "Dimensions must be equal, but are 4 and 3 for '{{node m}} = MatMul[");
    CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "In the body of function 'Layer' called by node 'call'");
    CHECK_INT_EQ(num_operations(f.graph), 0);
    CHECK_INT_EQ(TF_GraphNumFunctions(f.graph), 0);
  }
  TF_DeleteBuffer(def);
  end(&f);
}
