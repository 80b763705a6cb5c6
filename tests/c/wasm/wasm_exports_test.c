/* The exports for JavaScript beyond TensorFlow's C API, under the native sanitizers: valid arguments, and
 * damaged bytes, texts and numbers. */
#include "wasm/wasm_exports.h"

#include <stdio.h>
#include <stdlib.h>

#include "c_api/c_api_fixture.h"
#include "function/text/function_text.h"
#include "proto/proto.h"
#include "wasm/wasm_function_body.h"
#include "op/op_registry.h"
#include "runtime/thread_pool.h"
#include "wasm/wasm_engine_parts.h"
#include "wasm/wasm_functions.h"
#include "wasm/wasm_graph_parts.h"

AFTER_EACH() {
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

/* A text result as JavaScript reads it: 0-terminated, to be freed. */
static char *take(TF_Buffer *buffer) {
  char *text = malloc(buffer->length + 1);
  if (!CHECK(text)) abort();
  if (buffer->length > 0) memcpy(text, buffer->data, buffer->length);
  text[buffer->length] = '\0';
  TF_DeleteBuffer(buffer);
  return text;
}

/* --- shapes --- */

/* `node` is a NodeDef in text form. The result, or the message of the error; to be freed. */
static char *shapes_of(const char *node, const char *inputs, const int *positions, TF_Tensor *const *values,
                       int num_values) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *text = TF_NewBuffer();
  Arena *arena = arena_new();
  Status parsed;
  void *def;
  StrBuf bytes = {0};
  status_init(&parsed);
  if (CHECK_OK(proto_parse_text(kNodeDef, str_of(node), arena, &def, &parsed) &&
                   proto_serialize(def, &bytes, &parsed),
               parsed)) {
    TF_WasmInferShapes(bytes.data, (size_t)bytes.length, positions, values, num_values, -1, inputs, text,
                       status);
  }
  char *answer = take(text);
  if (TF_GetCode(status) != TF_OK) {
    free(answer);
    answer = strdup(TF_Message(status));
  }
  strbuf_free(&bytes);
  arena_free(arena);
  TF_DeleteStatus(status);
  return answer;
}

static void check_shapes(const char *node, const char *inputs, int position, TF_DataType type, int rank,
                         const int64_t *dims, const void *values, size_t size, const char *want) {
  CHECK_CONTEXT("%s of %s", node, inputs);
  TF_Tensor *value = size == SIZE_MAX ? NULL : tensor_of(type, rank, dims, values, size);
  char *got = shapes_of(node, inputs, &position, &value, value ? 1 : 0);
  CHECK_STR_CONTAINS(got, want);
  free(got);
  TF_DeleteTensor(value);
  CHECK_CONTEXT("%s", "");
}

static void check_plain(const char *node, const char *inputs, const char *want) {
  check_shapes(node, inputs, 0, TF_FLOAT, 0, NULL, NULL, SIZE_MAX, want);
}

TEST(shapes_of_single_ops) {
  check_plain("op: 'MatMul'", "[1,?];[?,2]", "[d0_0,d1_1]");
  check_plain("op: 'Relu'", "?", "in0");
  check_plain("op: 'MatMul'", "[1,2];[3,4]", "Dimensions must be equal, but are 2 and 3");
  check_plain("op: 'NoSuchOp'", "", "NoSuchOp");
  check_plain("op: ''", "", "Op type not registered");
  check_plain("op: 'MatMul'", "[1,2", "']'");
  check_plain("op: 'MatMul'", "[1,2]", "Wrong number of inputs");
  check_plain("op: 'Relu'", "[99999999999999999999]", "99999999999999999999");
  check_plain("op: 'AddN' attr { key: 'N' value { i: -7 } }", "[1]", "-7 < 0");
  check_plain("op: 'AddN' attr { key: 'N' value { i: 4611686018427387904 } }", "[1]", "4611686018427387904");
}

TEST(values_that_shape_functions_rely_on) {
  const int64_t none[] = {0}, two[] = {2}, four[] = {4};
  const int32_t sizes[] = {4, 5, 6, 7};
  const int64_t wide[] = {1, 0};
  const unsigned char truth = 1;
  const char *fill = "op: 'Fill'", *gather = "op: 'GatherV2'", *transpose = "op: 'Transpose'";
  check_shapes(fill, "[2];[]", 0, TF_INT32, 1, two, sizes, 8, "[4,5]");
  check_shapes(fill, "?;[]", 0, TF_INT32, 1, two, sizes, 8, "[4,5]");
  check_shapes(transpose, "[?,3];[2]", 1, TF_INT64, 1, two, wide, 16, "[d0_1,d0_0]");
  check_shapes(transpose, "?;[0]", 1, TF_INT64, 1, two, wide, 16,
               "in0"); /* contradicts itself, but does no harm */
  /* Values that the graph would never accept. */
  check_shapes(gather, "[2,3];[4];[]", 2, TF_BOOL, 0, NULL, &truth, 1,
               "Input 2 of op GatherV2 cannot be bool");
  check_shapes(gather, "[2,3];[4];[]", 2, TF_INT32, 1, none, NULL, 0,
               "Shapes must be equal rank, but are 0 and 1");
  check_shapes(gather, "[2,3];[4];?", 2, TF_INT32, 1, none, NULL, 0, "Shape must be rank 0 but is rank 1");
  check_shapes("op: 'Reshape'", "[6];[2]", 1, TF_STRING, 1, none, NULL, 0,
               "Input 1 of op Reshape cannot be string");
  check_shapes(transpose, "[1,2,3];[3]", 1, TF_INT32, 1, two, sizes, 8,
               "Dimension 0 in both shapes must be equal");
  check_shapes(transpose, "[1,2,3,4];[2]", 1, TF_INT32, 1, four, sizes, 16, "4");
  check_shapes(fill, "[2];[]", 5, TF_INT32, 1, two, sizes, 8,
               "There is a value for input 5, but the node has 2 inputs");
  check_shapes(fill, "[2];[]", -1, TF_INT32, 1, two, sizes, 8, "There is a value for input -1");
}

TEST(damaged_nodes_have_no_shapes) {
  TF_Status *status = TF_NewStatus();
  const unsigned char bytes[] = {0x12, 0x7f, 'M', 'a', 't'}; /* a length beyond its end */
  for (size_t length = 1; length <= sizeof bytes; length++) {
    TF_Buffer *text = TF_NewBuffer();
    TF_WasmInferShapes(bytes, length, NULL, NULL, 0, -1, "", text, status);
    CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "");
    TF_DeleteBuffer(text);
  }
  TF_DeleteStatus(status);
}

/* --- operations --- */

TEST(operations_as_a_whole) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x");
  const TF_Output inputs[] = {x, x, x};
  const int list = 3, single[] = {-1, -1}, negative = -1;
  TF_WasmOperation sum = {.type = "AddN",
                          .name = "sum",
                          .num_args = 1,
                          .arg_lengths = &list,
                          .inputs = inputs};
  TF_Operation *made = TF_WasmAddOperation(f.graph, &sum, f.status);
  CHECK_TF_OK(f.status);
  CHECK(!TF_WasmAddOperation(f.graph, &sum, f.status));
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Duplicate node name in graph: 'sum'");
  sum.make_unique = 1;
  TF_Operation *other = TF_WasmAddOperation(f.graph, &sum, f.status);
  CHECK_TF_OK(f.status);
  if (CHECK(made && other)) CHECK_STR_EQ(TF_OperationName(other), "sum_1");
  CHECK_STR_EQ(TF_WasmUniqueName(f.graph, "sum"), "sum_2");
  /* Invalid numbers and bytes. */
  const TF_WasmAttr damaged = {.name = "N", .proto = "\x1a", .length = 1};
  const TF_WasmOperation refused[] = {
      {.type = "AddN",
       .name = "a",
       .num_args = 1,
       .arg_lengths = &list,
       .inputs = inputs,
       .num_attrs = 1,
       .attrs = &damaged},
      {.type = "AddN", .name = "b"},
      {.type = "AddN", .name = "c", .num_args = 1, .arg_lengths = &negative, .inputs = inputs},
      {.type = "AddN", .name = "d", .num_args = 2, .arg_lengths = single, .inputs = inputs},
      {.type = "NoSuchOp", .name = "e"},
      {.type = "", .name = "f"},
      {.type = "NoOp", .name = ""},
      {.type = "NoOp", .name = "not a name"},
  };
  int count = TF_GraphNextOperation(f.graph, &(size_t){0}) != NULL;
  CHECK_INT_EQ(count, 1);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    CHECK_CONTEXT("operation %d", (int)i);
    CHECK(!TF_WasmAddOperation(f.graph, &refused[i], f.status));
    CHECK_TF_ERROR(f.status, i == 4 || i == 5 ? TF_NOT_FOUND : TF_INVALID_ARGUMENT, "");
    CHECK(!TF_GraphOperationByName(f.graph, refused[i].name));
  }
  CHECK_CONTEXT("%s", "");
  TF_Buffer *text = TF_NewBuffer();
  TF_WasmOperationSummary(made, text, f.status);
  char *summary = take(text);
  CHECK_STR_EQ(summary, "{{node sum}} = AddN[N=3, T=DT_FLOAT](x, x, x)");
  free(summary);
  end(&f);
}

TEST(strings_of_tensors) {
  TF_Status *status = TF_NewStatus();
  const int64_t three[] = {3};
  const size_t ends[] = {1, 1, 40};
  const char bytes[] = "ab23456789012345678901234567890123456789";
  TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, three, 1, 3 * sizeof(TF_TString));
  REQUIRE(tensor);
  TF_WasmSetStrings(tensor, bytes, ends, status);
  CHECK_TF_OK(status);
  TF_TString *strings = TF_TensorData(tensor);
  CHECK_INT_EQ(TF_StringGetSize(&strings[1]), 0);
  CHECK_INT_EQ(TF_StringGetSize(&strings[2]), 39);
  CHECK_MEM_EQ(TF_StringGetDataPointer(&strings[2]), bytes + 1, 39);
  TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
}

/* --- graphs and functions as text --- */

static const char kTwice[] =
    "Twice[T:{float, double}](x:T) -> (y:T) {\n  y = Add[T=$T](x, x)\n  return y = y:z:0\n}\n";

static TF_Buffer *function_bytes(const char *text, TF_Status *status) {
  TF_Buffer *proto = TF_NewBuffer();
  TF_WasmFunctionFromText(text, strlen(text), proto, status);
  return proto;
}

TEST(graphs_as_text) {
  Fixture f;
  REQUIRE(begin(&f));
  placeholder(&f, "x");
  TF_Buffer *text = TF_NewBuffer(), *bytes = TF_NewBuffer();
  TF_WasmGraphToText(f.graph, text, f.status);
  CHECK_TF_OK(f.status);
  TF_WasmMessageFromText("GraphDef", text->data, text->length, bytes, f.status);
  CHECK_TF_OK(f.status);
  TF_Graph *copy = TF_NewGraph();
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(copy, bytes, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK(TF_GraphOperationByName(copy, "x"));
  /* Every prefix of the text: an error, or a truncated graph. */
  for (size_t length = 0; length < text->length; length++) {
    TF_Buffer *cut = TF_NewBuffer();
    TF_WasmMessageFromText("GraphDef", text->data, length, cut, f.status);
    TF_Code code = TF_GetCode(f.status);
    CHECK(code == TF_OK || code == TF_INVALID_ARGUMENT);
    TF_DeleteBuffer(cut);
  }
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteGraph(copy);
  TF_DeleteBuffer(text);
  TF_DeleteBuffer(bytes);
  end(&f);
}

/* Any damage gives an error, or another function that is printed. */
static void print_damaged(const unsigned char *bytes, size_t length, TF_Status *status) {
  for (int full = 0; full < 2; full++) {
    TF_Buffer *text = TF_NewBuffer();
    TF_WasmFunctionToText(bytes, length, full, text, status);
    TF_WasmFunctionBody *body = TF_WasmNewFunctionBody(bytes, length, NULL, 0, NULL, status);
    TF_WasmDeleteFunctionBody(body);
    TF_DeleteBuffer(text);
  }
}

TEST(functions_as_text) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *proto = function_bytes(kTwice, status), *text = TF_NewBuffer();
  CHECK_TF_OK(status);
  TF_WasmFunctionToText(proto->data, proto->length, 1, text, status);
  CHECK_TF_OK(status);
  TF_Buffer *again = TF_NewBuffer();
  TF_WasmFunctionFromText(text->data, text->length, again, status);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(again->length, proto->length);
  if (again->length == proto->length) CHECK_MEM_EQ(again->data, proto->data, proto->length);
  for (size_t length = 0; length < strlen(kTwice) - 1; length++) {
    TF_Buffer *cut = TF_NewBuffer();
    TF_WasmFunctionFromText(kTwice, length, cut, status);
    CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "");
    TF_DeleteBuffer(cut);
  }
  unsigned char *bytes = malloc(proto->length);
  REQUIRE(bytes);
  for (size_t i = 0; i < proto->length; i++) {
    memcpy(bytes, proto->data, proto->length);
    print_damaged(bytes, i, status);
    for (int bit = 0; bit < 8; bit++) {
      memcpy(bytes, proto->data, proto->length);
      bytes[i] ^= (unsigned char)(1 << bit);
      print_damaged(bytes, proto->length, status);
    }
  }
  free(bytes);
  TF_DeleteBuffer(again);
  TF_DeleteBuffer(text);
  TF_DeleteBuffer(proto);
  TF_DeleteStatus(status);
}

/* --- functions from descriptions --- */

TEST(functions_from_descriptions) {
  Fixture f;
  REQUIRE(begin(&f));
  const char *const names[] = {"y", NULL}, *const inputs[] = {"x", "x", NULL}, *const none[] = {NULL};
  const char *const args[] = {"x: float", NULL}, *const rets[] = {"y: float", NULL};
  const char *const returns[] = {"y", "y:z:0", NULL};
  const TF_WasmAttr type = {.name = "T", .proto = "\x30\x01", .length = 2};
  const TF_WasmAttr damaged = {.name = "T", .proto = "\x42", .length = 1};
  TF_WasmFunctionNode node =
      {.rets = names, .op = "Add", .args = inputs, .num_attrs = 1, .attrs = &type, .deps = none};
  TF_WasmFunctionSpec spec = {.name = "Summed",
                              .args = args,
                              .rets = rets,
                              .attrs = none,
                              .num_nodes = 1,
                              .nodes = &node,
                              .returns = returns};
  TF_Buffer *proto = TF_NewBuffer(), *found = TF_NewBuffer();
  TF_WasmBuildFunction(&spec, proto, f.status);
  CHECK_TF_OK(f.status);
  TF_Function *function = TF_FunctionImportFunctionDef(proto->data, proto->length, f.status);
  CHECK_TF_OK(f.status);
  TF_GraphCopyFunction(f.graph, function, NULL, f.status);
  CHECK_TF_OK(f.status);
  TF_WasmGraphFindFunction(f.graph, "Summed", found, f.status);
  CHECK_TF_OK(f.status);
  CHECK(found->length > 0);
  TF_WasmGraphAddGradient(f.graph, "Summed", "Summed", f.status);
  CHECK_TF_OK(f.status);
  CHECK_STR_EQ(TF_WasmGraphFindGradient(f.graph, "Summed"), "Summed");
  CHECK_STR_EQ(TF_WasmGraphFindGradient(f.graph, "Nowhere"), "");
  TF_WasmGraphAddGradient(f.graph, "Summed", "Nowhere", f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "there is no function 'Nowhere' in the graph");
  TF_WasmGraphAddGradient(f.graph, "Nowhere", "Summed", f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "there is no function or op 'Nowhere'");
  TF_Buffer *nothing = TF_NewBuffer();
  TF_WasmGraphFindFunction(f.graph, "Nowhere", nothing, f.status);
  CHECK_TF_ERROR(f.status, TF_NOT_FOUND, "Function Nowhere is not defined.");
  /* Incomplete and invalid descriptions. */
  node.attrs = &damaged;
  TF_WasmBuildFunction(&spec, nothing, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  node.attrs = &type;
  spec.args = (const char *const[]){"x: of no type", NULL};
  TF_WasmBuildFunction(&spec, nothing, f.status);
  CHECK(TF_GetCode(f.status) != TF_OK);
  TF_DeleteBuffer(nothing);
  TF_DeleteFunction(function);
  TF_DeleteBuffer(proto);
  TF_DeleteBuffer(found);
  end(&f);
}

/* --- bodies --- */

static TF_WasmFunctionBody *body_of(const char *text, TF_Status *status) {
  const TF_WasmAttr type = {.name = "T", .proto = "\x30\x02", .length = 2}; /* double */
  TF_Buffer *proto = function_bytes(text, status);
  TF_WasmFunctionBody *body = TF_WasmNewFunctionBody(proto->data, proto->length, &type, 1, NULL, status);
  TF_DeleteBuffer(proto);
  return body;
}

/* One call from beginning to end. */
static void run_body(TF_WasmFunctionBody *body, TF_Tensor *const *args, int num_args, TF_Tensor **result,
                     TF_Status *status) {
  TF_WasmFunctionCall *call = TF_WasmNewFunctionCall(body, args, num_args, 0, status);
  if (call) CHECK_INT_EQ(TF_WasmAdvanceFunctionCall(call, 0, result, status), 0);
  TF_WasmDeleteFunctionCall(call);
}

/* The only result for the given arguments. */
static double value_of(TF_WasmFunctionBody *body, TF_Tensor *const *args, int num_args, TF_Status *status) {
  TF_Tensor *result = NULL;
  run_body(body, args, num_args, &result, status);
  if (!CHECK_TF_OK(status)) return 0;
  double value = *(double *)TF_TensorData(result);
  TF_DeleteTensor(result);
  return value;
}

TEST(optimised_bodies_have_no_dead_nodes) {
  for (int inlines = 0; inlines < 2; inlines++) {
    TF_Status *status = TF_NewStatus();
    TF_WasmFunctionBody *body = body_of(
        "F[T:type](x:T) -> (y:T) { dead = Square[T=$T](x) more = Neg[T=$T](dead:y:0) y = Add[T=$T](x, x) "
        "return y = y:z:0 }",
        status);
    REQUIRE(body);
    TF_WasmFunctionBody *fast = TF_WasmFunctionBodyOptimize(body, inlines, 0, 0, 0, status);
    TF_Buffer *buffer = TF_NewBuffer();
    TF_WasmFunctionBodyText(fast, buffer, status);
    char *text = take(buffer);
    CHECK_STR_EQ(text, "\n(x:double) -> (y:double) {\n  y = Add[T=double](x, x)\n}\n");
    free(text);
    TF_WasmDeleteFunctionBody(fast);
    TF_WasmDeleteFunctionBody(body);
    TF_DeleteStatus(status);
  }
}

TEST(bodies_show_what_is_fused) {
  TF_Status *status = TF_NewStatus();
  TF_WasmFunctionBody *body = body_of(
      "F[T:type](x:T) -> (y:T) { square = Square[T=$T](x) y = Add[T=$T](square:y:0, x) return y = y:z:0 }",
      status);
  REQUIRE(body);
  TF_WasmFunctionBody *fused = TF_WasmFunctionBodyOptimize(body, 1, 1, 1, 1, status);
  REQUIRE(fused);
  TF_Buffer *buffer = TF_NewBuffer();
  TF_WasmFunctionBodyText(fused, buffer, status);
  char *text = take(buffer);
  CHECK_STR_EQ(text,
               "\n(x:double) -> (y:double) {\n  y = _FusedElementwise[Tin={double}, Tout={double}, "
               "nodes=[\"square\", \"y\"], operands=[0, 1, 0], ops=[\"Square\", \"Add\"], results=[1], "
               "types={double, double}](x)\n}\n");
  free(text);
  double three = 3;
  TF_Tensor *x = TF_AllocateTensor(TF_DOUBLE, NULL, 0, sizeof three);
  *(double *)TF_TensorData(x) = three;
  CHECK(value_of(fused, &x, 1, status) == 12);
  TF_DeleteTensor(x);
  TF_WasmDeleteFunctionBody(fused);
  TF_WasmDeleteFunctionBody(body);
  TF_DeleteStatus(status);
}

TEST(bodies_are_run_differentiated_and_optimised) {
  TF_Status *status = TF_NewStatus();
  TF_WasmFunctionBody *body = body_of(kTwice, status);
  REQUIRE(body);
  TF_WasmFunctionBody *gradient = TF_WasmFunctionBodyGradient(body, status);
  TF_WasmFunctionBody *fast = TF_WasmFunctionBodyOptimize(body, 1, 1, 1, 0, status);
  REQUIRE(gradient && fast);
  CHECK_INT_EQ(TF_WasmFunctionBodyNumArgs(gradient), 2);
  CHECK_INT_EQ(TF_WasmFunctionBodyNumRets(gradient), 1);
  CHECK_INT_EQ(TF_WasmFunctionBodyArgType(gradient, 1), TF_DOUBLE);
  CHECK_INT_EQ(TF_WasmFunctionBodyRetType(gradient, 0), TF_DOUBLE);
  TF_Buffer *buffer = TF_NewBuffer();
  TF_WasmFunctionBodyText(body, buffer, status);
  char *text = take(buffer);
  CHECK_STR_EQ(text, "\n(x:double) -> (y:double) {\n  y = Add[T=double](x, x)\n}\n");
  free(text);
  TF_WasmDeleteFunctionBody(body); /* the others are still valid */
  const double values[] = {3, 5};
  TF_Tensor *args[] = {tensor_of(TF_DOUBLE, 0, NULL, &values[0], 8),
                       tensor_of(TF_DOUBLE, 0, NULL, &values[1], 8)};
  CHECK_NEAR(value_of(fast, args, 1, status), 6, 0);
  CHECK_NEAR(value_of(gradient, args, 2, status), 10, 0);
  TF_Tensor *result = args[0];
  run_body(fast, args, 2, &result, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "");
  CHECK(!result);
  run_body(gradient, args, 0, &result, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "");
  const float narrow = 3;
  TF_Tensor *wrong = tensor_of(TF_FLOAT, 0, NULL, &narrow, 4);
  run_body(fast, &wrong, 1, &result, status);
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "");
  for (int i = 0; i < 2; i++) TF_DeleteTensor(args[i]);
  TF_DeleteTensor(wrong);
  TF_WasmDeleteFunctionBody(gradient);
  TF_WasmDeleteFunctionBody(fast);
  TF_WasmDeleteFunctionBody(NULL);
  TF_DeleteStatus(status);
}

/* Counts to 1e12, which takes minutes. */
static const char kCount[] =
    "Count(x:double) -> (y:double) { y = While[T={double}, cond=Below, body=Next](x) return y = y:output:0 }";
static const char *const kCountParts[] =
    {"Below(x:double) -> (go:bool) { n = Const[dtype=double, value=1e12]() go = Less[T=double](x, "
     "n:output:0) return go = go:z:0 }",
     "Next(x:double) -> (y:double) { one = Const[dtype=double, value=1.0]() y = Add[T=double](x, "
     "one:output:0) return y = y:z:0 }"};

TEST(calls_of_bodies_pause_and_end_at_their_deadline) {
  Fixture f;
  REQUIRE(begin(&f));
  for (int i = 0; i < 2; i++) {
    TF_Buffer *proto = function_bytes(kCountParts[i], f.status);
    TF_Function *part = TF_FunctionImportFunctionDef(proto->data, proto->length, f.status);
    TF_GraphCopyFunction(f.graph, part, NULL, f.status);
    CHECK_TF_OK(f.status);
    TF_DeleteFunction(part);
    TF_DeleteBuffer(proto);
  }
  TF_Buffer *proto = function_bytes(kCount, f.status);
  TF_WasmFunctionBody *body = TF_WasmNewFunctionBody(proto->data, proto->length, NULL, 0, f.graph, f.status);
  REQUIRE(CHECK_TF_OK(f.status));
  const double zero = 0, last = 1e12;
  TF_Tensor *args[] = {tensor_of(TF_DOUBLE, 0, NULL, &zero, 8), tensor_of(TF_DOUBLE, 0, NULL, &last, 8)},
            *result = args[0];
  TF_WasmFunctionCall *call = TF_WasmNewFunctionCall(body, &args[0], 1, 50, f.status), *other = NULL;
  int pauses = 0;
  while (TF_WasmAdvanceFunctionCall(call, 5, &result, f.status)) {
    CHECK_TF_OK(f.status);
    CHECK(!result);
    if (pauses++ > 0) continue; /* another one runs meanwhile */
    CHECK_NEAR(value_of(body, &args[1], 1, f.status), last, 0);
    other = TF_WasmNewFunctionCall(body, &args[0], 1, 0, f.status);
    CHECK_INT_EQ(TF_WasmAdvanceFunctionCall(other, 1, &result, f.status), 1);
  }
  CHECK_TF_ERROR(f.status, TF_DEADLINE_EXCEEDED, "");
  CHECK(pauses > 1);
  CHECK_INT_EQ(TF_WasmAdvanceFunctionCall(call, 5, &result, f.status), 0);
  CHECK_TF_ERROR(f.status, TF_FAILED_PRECONDITION, "has ended");
  TF_WasmDeleteFunctionCall(call);
  TF_WasmDeleteFunctionCall(other); /* abandoned */
  for (int i = 0; i < 2; i++) TF_DeleteTensor(args[i]);
  TF_WasmDeleteFunctionBody(body);
  TF_DeleteBuffer(proto);
  end(&f);
}

TEST(bodies_that_cannot_be_made) {
  static const char *const kTexts[] = {
      "Lost(x:double) -> (y:double) {\n  y = Nowhere(x)\n  return y = y:z:0\n}\n",
      "Circle(x:double) -> (y:double) {\n  y = Circle(x)\n  return y = y:y:0\n}\n",
      "Untyped[S:type](x:S) -> (y:S) {\n  return y = x\n}\n",
  };
  TF_Status *status = TF_NewStatus();
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("%s", kTexts[i]);
    TF_WasmFunctionBody *body = body_of(kTexts[i], status);
    if (body) {
      const double one = 1;
      TF_Tensor *arg = tensor_of(TF_DOUBLE, 0, NULL, &one, 8), *result;
      run_body(body, &arg, 1, &result, status);
      TF_DeleteTensor(arg);
    }
    CHECK(TF_GetCode(status) != TF_OK);
    TF_WasmDeleteFunctionBody(body);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(!TF_WasmNewFunctionBody("", 0, NULL, 0, NULL, status));
  CHECK_TF_ERROR(status, TF_INVALID_ARGUMENT, "FunctionDef");
  TF_DeleteStatus(status);
}

/* --- gradients, and the counters of the bindings --- */

TEST(gradients_with_holes) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), z = placeholder(&f, "z"), y = unary(&f, "Square", "y", x);
  TF_Output xs[] = {x, z}, dys[2];
  TF_WasmAddGradients(f.graph, NULL, &y, 1, xs, 2, NULL, NULL, 0, dys, f.status);
  CHECK_TF_OK(f.status);
  CHECK(dys[0].oper);
  CHECK(!dys[1].oper);
  TF_WasmAddGradients(f.graph, "stopped", &y, 1, xs, 2, NULL, &x, 1, dys, f.status);
  CHECK_TF_OK(f.status);
  CHECK(!dys[1].oper);
  const TF_Output beyond = {x.oper, 7};
  TF_WasmAddGradients(f.graph, NULL, &beyond, 1, xs, 1, NULL, NULL, 0, dys, f.status);
  CHECK(TF_GetCode(f.status) != TF_OK);
  TF_WasmAddGradients(f.graph, NULL, &y, 1, &beyond, 1, NULL, NULL, 0, dys, f.status);
  CHECK(TF_GetCode(f.status) != TF_OK);
  TF_WasmAddGradients(f.graph, NULL, &y, 1, xs, 1, &beyond, NULL, 0, dys, f.status);
  CHECK(TF_GetCode(f.status) != TF_OK);
  end(&f);
}

TEST(op_defs_by_name) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *buffer = TF_NewBuffer();
  TF_WasmFindOpDef("NoSuchOp", buffer, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  CHECK_INT_EQ((int64_t)buffer->length, 0);
  TF_WasmFindOpDef("Relu", buffer, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  CHECK(buffer->length > 6 && memcmp(buffer->data, "\n\4Relu", 6) == 0);
  TF_DeleteBuffer(buffer);
  TF_DeleteStatus(status);
}

TEST(names_of_all_ops) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *buffer = TF_NewBuffer();
  TF_WasmOpNames(buffer, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  char *names = calloc(buffer->length + 3, 1);
  names[0] = ' ';
  memcpy(names + 1, buffer->data, buffer->length);
  names[buffer->length + 1] = ' ';
  CHECK(strstr(names, " Relu ") && strstr(names, " _Arg ") && strstr(names, " StringLower "));
  CHECK(!strstr(names, "  "));
  free(names);
  TF_DeleteBuffer(buffer);
  TF_DeleteStatus(status);
}

static int parts_of(const char *text) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *bytes = TF_NewBuffer();
  TF_WasmMessageFromText("GraphDef", text, strlen(text), bytes, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  int parts = TF_WasmPartsOfGraphDef(bytes->data, bytes->length);
  /* No part of the bytes makes it read what is behind them (sanitizers), or need more. */
  for (size_t length = 0; length < bytes->length; length++) {
    char *cut = malloc(length + 1);
    memcpy(cut, bytes->data, length);
    cut = realloc(cut, length ? length : 1);
    int some = TF_WasmPartsOfGraphDef(cut, length);
    CHECK(((some & ~parts) >> 1) == 0);
    free(cut);
  }
  TF_DeleteBuffer(bytes);
  TF_DeleteStatus(status);
  return parts;
}

TEST(parts_of_graphs) {
  const int unknown = 1 << PART_MAIN, training = 1 << PART_TRAINING, side = 1 << PART_SIDE;
  CHECK_INT_EQ(TF_WasmPartsOfGraphDef(NULL, 0), 0);
  CHECK_INT_EQ(parts_of("node { name: 'a' op: 'Relu' }"), 0);
  CHECK_INT_EQ(parts_of("node { name: 'a' op: 'ReluGrad' } node { name: 'StringLower' op: 'Relu' }"),
               training);
  CHECK_INT_EQ(parts_of("node { name: 'a' op: 'Relu' input: 'x' } node { op: 'StringLower' }"), side);
  CHECK_INT_EQ(parts_of("node { op: 'NoSuchOp' } node { op: 'ReluGrad' }"), unknown | training);
  CHECK_INT_EQ(parts_of("node { name: 'a' }"), unknown);
  const char *function =
      "library { function { signature { name: 'f' } node_def { op: 'StringLower' } } }"
      "node { op: 'f' } node { op: 'g' } node { op: 'g' }";
  CHECK_INT_EQ(parts_of(function), unknown | side);
  const char *two =
      "library { function { signature { name: 'f' } node_def { op: 'g' } }"
      "          function { signature { name: 'g' } node_def { op: 'Add' } } } node { op: 'f' }";
  CHECK_INT_EQ(parts_of(two), 0);
}

TEST(parts_of_the_engine) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *buffer = TF_NewBuffer();
  const char text[] = "F(x: float) -> (y: float) { n = Square[T=float](x)  return y = n:y:0 }";
  TF_WasmPartIsMissing(PART_TRAINING);
  engine_parts_set_loader(NULL); /* as if Module.loadPart had failed */
  TF_WasmFunctionFromText(text, strlen(text), buffer, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_UNAVAILABLE);
  TF_WasmPartIsLoaded(PART_TRAINING);
  TF_WasmFunctionFromText(text, strlen(text), buffer, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  CHECK_INT_EQ(TF_WasmSideKernelsAreWanted(), 0);
  TF_DeleteBuffer(buffer);
  TF_DeleteStatus(status);
}

TEST(numbers_for_the_bindings) {
  CHECK_INT_EQ(TF_WasmOpGradient("MatMul"), 1);
  CHECK_INT_EQ(TF_WasmOpGradient("Shape"), 0);
  CHECK_INT_EQ(TF_WasmOpGradient("NoSuchOp"), -1);
  int threads = TF_WasmThreads(), tensors = TF_WasmLiveTensors();
  double bytes = TF_WasmLiveBytes(), allocations = TF_WasmAllocationCount();
  TF_WasmResetPeakBytes();
  CHECK(TF_WasmPeakBytes() == bytes);
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, (int64_t[]){1000}, 1, 4000);
  CHECK_INT_EQ(TF_WasmLiveTensors(), tensors + 1);
  CHECK(TF_WasmLiveBytes() >= bytes + 4000);
  CHECK(TF_WasmAllocationCount() > allocations);
  TF_DeleteTensor(tensor);
  CHECK(TF_WasmPeakBytes() >= bytes + 4000);
  TF_WasmSetThreads(2);
#if !defined(__wasm__) || defined(TFCORE_THREADS)
  CHECK_INT_EQ(TF_WasmThreads(), 2);
#else
  CHECK_INT_EQ(TF_WasmThreads(), 1);
#endif
  TF_WasmSetThreads(-5);
  CHECK(TF_WasmThreads() >= 1);
  TF_WasmSetThreads(threads);
}
