/* The exports for JavaScript with too little memory: each call fails with RESOURCE_EXHAUSTED, or has the same
 * result as with enough. */
#include "base/alloc.h"
#include "c_api/c_api_fixture.h"
#include "runtime/thread_pool.h"
#include "shortage.h"
#include "wasm/wasm_function_body.h"
#include "wasm/wasm_functions.h"

/* A call that writes to a buffer; `graph` has the placeholder x and the function Twice. */
typedef void Call(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status);

static const char kTwice[] =
    "Twice[T:{float, double}](x:T) -> (y:T) {\n  y = Add[T=$T](x, x)\n  return y = y:z:0\n}\n";
static const char kPlain[] =
    "Plain(x:float) -> (y:float) {\n  y = Add[T=float](x, x)\n  return y = y:z:0\n}\n";

/* Made once, with enough memory. */
static TF_Buffer *twice, *plain;

static bool add_plain(TF_Graph *graph, TF_Status *status) {
  TF_Function *function = TF_FunctionImportFunctionDef(plain->data, plain->length, status);
  if (function) TF_GraphCopyFunction(graph, function, NULL, status);
  TF_DeleteFunction(function);
  return CHECK_TF_OK(status);
}

static bool same_bytes(const TF_Buffer *a, const TF_Buffer *b) {
  return CHECK_INT_EQ(a->length, b->length) && (a->length == 0 || CHECK_MEM_EQ(a->data, b->data, a->length));
}

/* Each round has its own graph. */
static void starve(const char *what, Call *call) {
  Shortage shortage = {.what = what};
  TF_Buffer *answer = NULL;
  do {
    Fixture f;
    if (!CHECK(begin(&f)) || !add_plain(f.graph, f.status)) return;
    placeholder(&f, "x");
    TF_Buffer *buffer = TF_NewBuffer(), *before = graph_bytes(&f, f.graph);
    TF_SetStatus(f.status, TF_OK, "");
    shortage_begin(&shortage);
    call(f.graph, buffer, f.status);
    bool ok = TF_GetCode(f.status) == TF_OK;
    shortage_end(&shortage, ok, (Code)TF_GetCode(f.status));
    if (!ok) {
      CHECK_INT_EQ(buffer->length, 0);
      TF_Buffer *after = graph_bytes(&f, f.graph);
      same_bytes(after, before);
      TF_DeleteBuffer(after);
    }
    if (ok && answer) same_bytes(buffer, answer);
    if (ok && !answer) answer = buffer;
    else TF_DeleteBuffer(buffer);
    TF_DeleteBuffer(before);
    end(&f);
  } while (shortage_next(&shortage));
  TF_DeleteBuffer(answer);
}

/* --- operations and texts --- */

static void add_operation(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_Operation *x = TF_GraphOperationByName(graph, "x");
  const TF_Output inputs[] = {{x, 0}, {x, 0}};
  const int list = 2;
  const TF_WasmAttr type = {.name = "T", .proto = "\x30\x01", .length = 2};
  const TF_WasmOperation sum = {.type = "AddN",
                                .name = "x",
                                .make_unique = 1,
                                .device = "/device:CPU:0",
                                .num_args = 1,
                                .arg_lengths = &list,
                                .inputs = inputs,
                                .num_controls = 1,
                                .controls = &x,
                                .num_attrs = 1,
                                .attrs = &type};
  TF_Operation *made = TF_WasmAddOperation(graph, &sum, status);
  (void)buffer;
  if (made) CHECK_STR_EQ(TF_OperationName(made), "x_1");
}

static void summarise(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_WasmOperationSummary(TF_GraphOperationByName(graph, "x"), buffer, status);
}

static const char kGraph[] = "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } }";

static void parse_graph(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmMessageFromText("GraphDef", kGraph, strlen(kGraph), buffer, status);
}

static void parse_function(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmFunctionFromText(kTwice, strlen(kTwice), buffer, status);
}

static void print_function(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmFunctionToText(twice->data, twice->length, 0, buffer, status);
}

static void print_whole_function(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmFunctionToText(twice->data, twice->length, 1, buffer, status);
}

static void find_op_def(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmFindOpDef("Relu", buffer, status);
}

static void list_ops(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmOpNames(buffer, status);
}

static void merge_devices(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)graph;
  TF_WasmMergeDevices("/job:a/replica:0/task:0", "/cpu:1", buffer, status);
}

static void find_function(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_WasmGraphFindFunction(graph, "Plain", buffer, status);
}

static void add_gradient(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)buffer;
  TF_WasmGraphAddGradient(graph, "Plain", "Plain", status);
}

static void infer_shapes(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  static const char kReshape[] = "\x12\x07Reshape";
  const int position = 1;
  const int64_t two[] = {2};
  TF_Tensor *value = TF_AllocateTensor(TF_INT32, two, 1, 8);
  (void)graph;
  if (!value) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "a tensor");
    return;
  }
  memcpy(TF_TensorData(value), (int32_t[]){3, -1}, 8);
  TF_WasmInferShapes(kReshape, sizeof kReshape - 1, &position, &value, 1, -1, "[2,6];[2]", buffer, status);
  TF_DeleteTensor(value);
}

static void set_strings(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  static const char kBytes[] =
      "short, and a text that is too long for the place that a string has of its own";
  const size_t ends[] = {5, sizeof kBytes - 1};
  TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, (int64_t[]){2}, 1, 2 * sizeof(TF_TString));
  (void)graph;
  (void)buffer;
  if (!tensor) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "a tensor");
    return;
  }
  TF_WasmSetStrings(tensor, kBytes, ends, status);
  TF_DeleteTensor(tensor);
}

static void print_graph(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_WasmGraphToText(graph, buffer, status);
}

/* --- functions and their bodies --- */

static void build_function(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  const char *const names[] = {"y", NULL}, *const inputs[] = {"x", "c", NULL}, *const none[] = {NULL};
  const char *const constant[] = {"c", NULL}, *const deps[] = {"c", NULL};
  const char *const args[] = {"x: float", NULL}, *const rets[] = {"y: float", NULL},
                    *const returns[] = {"y", "y:z:0", NULL};
  const TF_WasmAttr type = {.name = "T", .proto = "\x30\x01", .length = 2};
  /* dtype float; a tensor: float, shape [1], 3 */
  const TF_WasmAttr value[] = {{.name = "dtype", .proto = "\x30\x01", .length = 2},
                               {.name = "value",
                                .proto = "\x42\x0e\x08\x01\x12\x04\x12\x02\x08\x01\x2a\x04\0\0\x40\x40",
                                .length = 16}};
  const TF_WasmFunctionNode nodes[] =
      {{.rets = constant, .op = "Const", .args = none, .num_attrs = 2, .attrs = value, .deps = none},
       {.rets = names,
        .op = "Add",
        .args = inputs,
        .num_attrs = 1,
        .attrs = &type,
        .deps = deps,
        .device = "/device:CPU:0"}};
  const TF_WasmFunctionSpec spec = {.define = 1,
                                    .name = "Built",
                                    .args = args,
                                    .rets = rets,
                                    .attrs = none,
                                    .num_nodes = 2,
                                    .nodes = nodes,
                                    .returns = returns,
                                    .control_returns = (const char *const[]){"done", "y", NULL}};
  (void)graph;
  TF_WasmBuildFunction(&spec, buffer, status);
}

static TF_WasmFunctionBody *new_body(TF_Graph *graph, TF_Status *status) {
  const TF_WasmAttr type = {.name = "T", .proto = "\x30\x01", .length = 2};
  return TF_WasmNewFunctionBody(twice->data, twice->length, &type, 1, graph, status);
}

static void print_body(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_WasmFunctionBody *body = new_body(graph, status);
  if (body) TF_WasmFunctionBodyText(body, buffer, status);
  TF_WasmDeleteFunctionBody(body);
}

static void print_gradient(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_WasmFunctionBody *body = new_body(graph, status), *gradient = NULL, *fast = NULL;
  if (body) gradient = TF_WasmFunctionBodyGradient(body, status);
  if (gradient) fast = TF_WasmFunctionBodyOptimize(gradient, 1, 1, 1, 1, status);
  if (fast) TF_WasmFunctionBodyText(fast, buffer, status);
  TF_WasmDeleteFunctionBody(body);
  TF_WasmDeleteFunctionBody(gradient);
  TF_WasmDeleteFunctionBody(fast);
}

static void run_body(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_WasmFunctionBody *body = new_body(graph, status);
  TF_Tensor *arg = TF_AllocateTensor(TF_FLOAT, NULL, 0, 4), *result = NULL;
  (void)buffer;
  if (body && arg) {
    *(float *)TF_TensorData(arg) = 21;
    TF_WasmFunctionCall *call = TF_WasmNewFunctionCall(body, &arg, 1, 0, status);
    if (call) CHECK_INT_EQ(TF_WasmAdvanceFunctionCall(call, 0, &result, status), 0);
    TF_WasmDeleteFunctionCall(call);
    CHECK((TF_GetCode(status) == TF_OK) == (result != NULL));
    if (result) CHECK_NEAR(*(float *)TF_TensorData(result), 42, 0);
  } else if (body) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "a tensor");
  }
  TF_DeleteTensor(arg);
  TF_DeleteTensor(result);
  TF_WasmDeleteFunctionBody(body);
}

static void differentiate(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  TF_Output x = {TF_GraphOperationByName(graph, "x"), 0}, dx;
  (void)buffer;
  TF_WasmAddGradients(graph, "again", &x, 1, &x, 1, NULL, NULL, 0, &dx, status);
}

static void open_session(TF_Graph *graph, TF_Buffer *buffer, TF_Status *status) {
  (void)buffer;
  TF_Status *closed = TF_NewStatus();
  TF_Session *session = TF_WasmNewSession(graph, NULL, NULL, status);
  CHECK((TF_GetCode(status) == TF_OK) == (session != NULL));
  if (session) TF_DeleteSession(session, closed ? closed : status);
  TF_DeleteStatus(closed);
}

TEST(exports_for_the_bindings_survive_lack_of_memory) {
  static const struct {
    const char *what;
    Call *call;
  } kCalls[] = {{"an operation", add_operation},
                {"a summary", summarise},
                {"a graph from text", parse_graph},
                {"a graph as text", print_graph},
                {"a function from text", parse_function},
                {"a function as text", print_function},
                {"a function as full text", print_whole_function},
                {"an op's definition", find_op_def},
                {"the names of all ops", list_ops},
                {"merging devices", merge_devices},
                {"a function of the graph", find_function},
                {"a gradient for a function", add_gradient},
                {"shapes", infer_shapes},
                {"strings", set_strings},
                {"a function from a description", build_function},
                {"a body as text", print_body},
                {"the gradient of a body", print_gradient},
                {"a body that runs", run_body},
                {"gradients", differentiate},
                {"a session", open_session}};
  TF_Status *status = TF_NewStatus();
  thread_pool_default();
  twice = TF_NewBuffer();
  plain = TF_NewBuffer();
  TF_WasmFunctionFromText(kTwice, strlen(kTwice), twice, status);
  CHECK_TF_OK(status);
  TF_WasmFunctionFromText(kPlain, strlen(kPlain), plain, status);
  if (CHECK_TF_OK(status)) {
    for (size_t i = 0; i < sizeof kCalls / sizeof kCalls[0]; i++) starve(kCalls[i].what, kCalls[i].call);
  }
  TF_DeleteBuffer(twice);
  TF_DeleteBuffer(plain);
  TF_DeleteStatus(status);
}
