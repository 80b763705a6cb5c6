/* The behaviour of a library with TensorFlow's C API, as text with one line for each case. TensorFlow's own
 * library wrote tests/data/c_api_transcript.txt (tests/oracle/c_api_transcript.py); ours must write the same.
 * Only the C API is used here, with either library's headers.
 *
 *   transcript           compares what this library does with the file, and tells what differs
 *   transcript --print   writes the lines
 */
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/tf_tstring.h"

#include "transcript_lines.h"

static void say_message(const char *name, WireMessage message, const TF_Buffer *buffer) {
  Text text = {0};
  const uint8_t *bytes = (const uint8_t *)buffer->data;
  text_print(&text, "");
  wire_print(message, (Wire){bytes, bytes + buffer->length}, &text);
  say(name, text.data);
  free(text.data);
}

static TF_Output output(TF_Operation *oper, int index) { return (TF_Output){oper, index}; }
static TF_Output first(TF_Operation *oper) { return output(oper, 0); }

/* ---- operations ---- */

static TF_Operation *placeholder(TF_Graph *graph, const char *name, TF_DataType type) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  return TF_FinishOperation(desc, status);
}

static TF_Operation *constant(TF_Graph *graph, const char *name, int value) {
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT32, NULL, 0, sizeof(int32_t));
  *(int32_t *)TF_TensorData(tensor) = value;
  TF_OperationDescription *desc = TF_NewOperation(graph, "Const", name);
  TF_SetAttrTensor(desc, "value", tensor, status);
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_DeleteTensor(tensor);
  return TF_FinishOperation(desc, status);
}

static TF_Operation *unary(TF_Graph *graph, const char *op, const char *name, TF_Output x) {
  TF_OperationDescription *desc = TF_NewOperation(graph, op, name);
  TF_AddInput(desc, x);
  return TF_FinishOperation(desc, status);
}

static TF_Operation *sum(TF_Graph *graph, const char *name, TF_Output x, TF_Output y, TF_Operation *control) {
  TF_Output inputs[] = {x, y};
  TF_OperationDescription *desc = TF_NewOperation(graph, "AddN", name);
  TF_AddInputList(desc, inputs, 2);
  if (control) TF_AddControlInput(desc, control);
  return TF_FinishOperation(desc, status);
}

static TF_Operation *split(TF_Graph *graph, const char *name, TF_Output x) {
  TF_Operation *axis = constant(graph, "axis", 0);
  TF_OperationDescription *desc = TF_NewOperation(graph, "Split", name);
  TF_AddInput(desc, first(axis));
  TF_AddInput(desc, x);
  TF_SetAttrInt(desc, "num_split", 3);
  return TF_FinishOperation(desc, status);
}

/* ---- functions ---- */

enum { ALL = -1 };

/* The arguments of a function's construction. If `num_outputs` entries of `names` are NULL, the library
 * chooses. */
typedef struct Parts {
  int num_opers;
  const TF_Operation *opers[3];
  int num_inputs;
  TF_Output inputs[3];
  int num_outputs;
  TF_Output outputs[3];
  const char *names[3];
  int num_controls;
  const TF_Operation *controls[3];
  const char *control_names[3];
  int hash;
  const char *description;
} Parts;

static void define(TF_Graph *graph, const char *what, Parts parts) {
  TF_Function *function =
      TF_GraphToFunctionWithControlOutputs(graph, "Made", (unsigned char)parts.hash, parts.num_opers,
                                           parts.num_opers == ALL ? NULL : parts.opers, parts.num_inputs,
                                           parts.inputs, parts.num_outputs, parts.outputs,
                                           parts.names[0] ? parts.names : NULL, parts.num_controls,
                                           parts.controls,
                                           parts.control_names[0] ? parts.control_names : NULL, NULL,
                                           parts.description, status);
  if (!function) {
    say_status(what);
    return;
  }
  TF_Buffer *buffer = TF_NewBuffer();
  TF_FunctionToFunctionDef(function, buffer, status);
  say_message(what, WIRE_FUNCTION, buffer);
  say(what, TF_FunctionName(function));
  TF_DeleteBuffer(buffer);
  TF_DeleteFunction(function);
}

static void names_in_functions(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Operation *ten = constant(g, "ten", 10);
  define(g, "a constant", (Parts){.num_opers = ALL, .num_outputs = 1, .outputs = {first(ten)}});
  TF_DeleteGraph(g);

  g = TF_NewGraph();
  TF_Operation *feed = placeholder(g, "feed", TF_INT32), *neg = unary(g, "Neg", "neg", first(feed));
  Parts parts = {.num_opers = ALL,
                 .num_inputs = 1,
                 .inputs = {first(feed)},
                 .num_outputs = 1,
                 .outputs = {first(neg)}};
  define(g, "one op", parts);
  parts.description = "turns the sign";
  parts.hash = 1;
  define(g, "a hash", parts);
  parts.hash = 0;
  parts.description = NULL;
  parts.names[0] = "negated";
  define(g, "a name for the result", parts);
  parts.names[0] = "feed";
  define(g, "a result with the name of an input", parts);
  parts.names[0] = "neg";
  define(g, "a result with the name of a node", parts);
  parts.names[0] = "Not A Name";
  define(g, "a result's name that no argument could have", parts);
  parts.names[0] = NULL;
  parts.outputs[0] = first(feed);
  define(g, "an input is the result", parts);
  parts.num_opers = 0;
  define(g, "an input is the result, no nodes", parts);
  parts.num_opers = ALL;
  parts.num_outputs = 0;
  define(g, "no result", parts);
  parts.num_outputs = 2;
  parts.outputs[0] = parts.outputs[1] = first(neg);
  define(g, "twice the same result", parts);
  parts.names[0] = "one";
  parts.names[1] = "two";
  define(g, "twice the same result under two names", parts);
  parts.names[1] = "one";
  define(g, "twice the same result under one name", parts);
  TF_DeleteGraph(g);

  g = TF_NewGraph();
  TF_Operation *a = placeholder(g, "A", TF_INT32), *small = placeholder(g, "a", TF_INT32);
  TF_Operation *odd = sum(g, "Scope/Sum.1-x", first(a), first(small), NULL);
  TF_Operation *digits = unary(g, "Neg", "123", first(odd)), *more = unary(g, "Neg", "a_0", first(digits));
  TF_Operation *late = unary(g, "Neg", "1st_Value", first(more));
  parts = (Parts){.num_opers = ALL,
                  .num_inputs = 2,
                  .inputs = {first(a), first(small)},
                  .num_outputs = 3,
                  .outputs = {first(odd), first(digits), first(late)}};
  define(g, "names that arguments cannot have", parts);
  TF_DeleteGraph(g);
}

static void values_in_functions(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Operation *x = placeholder(g, "x", TF_INT32), *y = placeholder(g, "y", TF_INT32),
               *z = placeholder(g, "z", TF_INT32);
  TF_Operation *xy = sum(g, "xy", first(x), first(y), NULL), *xyz = sum(g, "xyz", first(xy), first(z), NULL);
  Parts parts = {.num_opers = ALL,
                 .num_inputs = 3,
                 .inputs = {first(x), first(y), first(z)},
                 .num_outputs = 2,
                 .outputs = {first(xy), first(xyz)}};
  define(g, "two results", parts);
  parts.num_outputs = 1;
  parts.outputs[0] = first(xyz);
  define(g, "one result of two nodes", parts);
  parts = (Parts){.num_opers = 1,
                  .opers = {xyz},
                  .num_inputs = 2,
                  .inputs = {first(xy), first(z)},
                  .num_outputs = 1,
                  .outputs = {first(xyz)}};
  define(g, "some of the nodes", parts);
  parts.num_inputs = 1;
  define(g, "a node without its input", parts);
  parts.num_inputs = 2;
  parts.outputs[0] = first(x);
  define(g, "a result from outside", parts);
  parts.inputs[1] = first(xy);
  define(g, "an input twice", parts);
  parts.inputs[1] = output(z, 2);
  define(g, "an input that does not exist", parts);
  parts.inputs[1] = output(z, -1);
  define(g, "an input with a negative index", parts);
  parts.inputs[1] = output(NULL, 0);
  define(g, "an input without operation", parts);
  parts.inputs[1] = first(z);
  parts.outputs[0] = output(xyz, 3);
  define(g, "a result that does not exist", parts);
  parts.outputs[0] = output(NULL, 3);
  define(g, "a result without operation", parts);
  TF_DeleteGraph(g);

  g = TF_NewGraph();
  TF_Operation *feed = placeholder(g, "feed", TF_INT32), *three = split(g, "three", first(feed));
  TF_Operation *both = sum(g, "both", output(three, 0), output(three, 2), NULL);
  parts = (Parts){.num_opers = ALL,
                  .num_inputs = 1,
                  .inputs = {first(feed)},
                  .num_outputs = 1,
                  .outputs = {output(three, 1)}};
  define(g, "one output of three", parts);
  parts.num_outputs = 2;
  parts.outputs[0] = output(three, 0);
  parts.outputs[1] = output(three, 2);
  define(g, "two outputs of three", parts);
  parts = (Parts){.num_opers = 1,
                  .opers = {both},
                  .num_inputs = 2,
                  .inputs = {output(three, 0), output(three, 2)},
                  .num_outputs = 1,
                  .outputs = {first(both)}};
  define(g, "two outputs of a node as inputs", parts);
  parts.num_opers = ALL;
  define(g, "two outputs of a node as inputs of all", parts);
  TF_DeleteGraph(g);
}

static void controls_in_functions(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Operation *x = placeholder(g, "x", TF_INT32), *y = placeholder(g, "y", TF_INT32),
               *five = constant(g, "five", 5);
  TF_Operation *total = sum(g, "total", first(x), first(y), five);
  Parts parts = {.num_opers = ALL,
                 .num_inputs = 2,
                 .inputs = {first(x), first(y)},
                 .num_outputs = 1,
                 .outputs = {first(total)}};
  define(g, "a control edge", parts);
  parts.num_controls = 1;
  parts.controls[0] = five;
  define(g, "a control output", parts);
  parts.num_controls = 2;
  parts.controls[1] = total;
  parts.control_names[0] = "zebra";
  parts.control_names[1] = "ant";
  define(g, "two named control outputs", parts);
  parts.control_names[1] = "zebra";
  define(g, "a control output's name twice", parts);
  parts.control_names[1] = "";
  define(g, "a control output without name", parts);
  parts.control_names[0] = NULL;
  parts.controls[1] = y;
  define(g, "an input as control output", parts);
  parts.num_opers = 1;
  parts.opers[0] = total;
  parts.num_controls = 0;
  define(g, "a control edge from outside", parts);
  TF_DeleteGraph(g);

  g = TF_NewGraph();
  x = placeholder(g, "x", TF_INT32);
  y = placeholder(g, "y", TF_INT32);
  total = sum(g, "total", first(x), first(y), x);
  parts = (Parts){.num_opers = ALL,
                  .num_inputs = 2,
                  .inputs = {first(x), first(y)},
                  .num_outputs = 1,
                  .outputs = {first(total)}};
  define(g, "a control edge from an input", parts);
  TF_Operation *late = constant(g, "late", 1), *early = constant(g, "early", 2);
  TF_OperationDescription *desc = TF_NewOperation(g, "NoOp", "waits");
  TF_AddControlInput(desc, late);
  TF_AddControlInput(desc, total);
  TF_AddControlInput(desc, early);
  TF_FinishOperation(desc, status);
  define(g, "control edges in order", parts);
  parts.num_opers = 1;
  parts.opers[0] = total;
  parts.controls[0] = late;
  parts.num_controls = 1;
  define(g, "a control output from outside", parts);
  TF_DeleteGraph(g);
}

static TF_Operation *seeded(TF_Graph *graph, const char *name, TF_Output shape, const char *seed) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "RandomUniform", name);
  TF_AddInput(desc, shape);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrPlaceholder(desc, "seed", seed);
  return TF_FinishOperation(desc, status);
}

static void attrs_in_functions(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Operation *shape = placeholder(g, "shape", TF_INT32);
  TF_Operation *a = seeded(g, "a", first(shape), "v1");
  say_status("a placeholder attr");
  TF_Operation *b = seeded(g, "b", first(shape), "v1"), *c = seeded(g, "c", first(shape), "v2");
  define(g, "placeholder attrs",
         (Parts){.num_opers = ALL,
                 .num_inputs = 1,
                 .inputs = {first(shape)},
                 .num_outputs = 3,
                 .outputs = {first(a), first(b), first(c)}});
  TF_DeleteGraph(g);

  g = TF_NewGraph();
  int64_t dims[] = {2, -1};
  TF_OperationDescription *desc = TF_NewOperation(g, "Placeholder", "node");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrShape(desc, "shape", dims, 2);
  TF_SetAttrString(desc, "_note", "value", 5);
  TF_Operation *node = TF_FinishOperation(desc, status), *ten = constant(g, "ten", 10);
  Parts parts = {.num_opers = ALL, .num_inputs = 2, .inputs = {first(node), first(ten)}};
  define(g, "attrs of inputs", parts);
  parts.hash = 1;
  define(g, "a hash beside attrs of inputs", parts);
  TF_DeleteGraph(g);
}

static TF_Function *negation(const char *name) {
  TF_Graph *g = TF_NewGraph();
  TF_Output x = first(placeholder(g, "x", TF_INT32)), y = first(unary(g, "Neg", "neg", x));
  TF_Function *function = TF_GraphToFunction(g, name, 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, status);
  TF_DeleteGraph(g);
  return function;
}

static void say_graph(const char *name, TF_Graph *graph) {
  TF_Buffer *buffer = TF_NewBuffer();
  TF_GraphToGraphDef(graph, buffer, status);
  Wire wire = {(const uint8_t *)buffer->data, (const uint8_t *)buffer->data + buffer->length};
  Text text = {0}, none[64];
  int count = 0;
  text_print(&text, "");
  while (wire.at < wire.end) {
    int versions = wire.at[0] >> 3 == 4; /* they belong to the library */
    size_t before = text.length;
    wire_print_field(WIRE_GRAPH, &wire, &text, none, &count);
    int empty = strcmp(text.data + before, " library { }") == 0; /* the same as none */
    if (versions || empty) text.data[text.length = before] = 0;
  }
  say(name, text.data);
  free(text.data);
  TF_DeleteBuffer(buffer);
}

static void libraries(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Function *f = negation("F"), *f2 = negation("F2"), *grad = negation("Grad"), *grad2 = negation("Grad2");
  TF_GraphCopyFunction(g, NULL, f, status);
  say_status("copying no function");
  TF_GraphCopyFunction(g, f, NULL, status);
  TF_GraphCopyFunction(g, grad, NULL, status);
  say_graph("two functions", g);
  TF_GraphCopyFunction(g, f, grad, status);
  say_status("a gradient");
  TF_GraphCopyFunction(g, f, grad, status);
  say_status("a gradient again");
  TF_GraphCopyFunction(g, f2, grad, status);
  say_status("a gradient of two functions");
  say_graph("a library", g);
  say_number("functions", TF_GraphNumFunctions(g));
  TF_GraphCopyFunction(g, f, grad2, status);
  say_status("another gradient");
  TF_Function *some[2] = {NULL, NULL};
  say_number("no functions of some", TF_GraphGetFunctions(g, some, 0, status));
  say_number("two functions of some", TF_GraphGetFunctions(g, some, 2, status));
  TF_DeleteFunction(some[0]);
  TF_DeleteFunction(some[1]);
  TF_Buffer *buffer = TF_NewBuffer();
  TF_GraphGetOpDef(g, "F", buffer, status);
  say_message("the OpDef of a function", WIRE_OP, buffer);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  TF_FunctionGetAttrValueProto(f, "nothing", buffer, status);
  say_status("an attr that a function does not have");
  TF_FunctionSetAttrValueProto(f, "something", "\022\004text", 6, status);
  TF_FunctionGetAttrValueProto(f, "something", buffer, status);
  say_message("an attr that a function has", WIRE_VALUE, buffer);
  TF_FunctionSetAttrValueProto(f, "something", "\377\377", 2, status);
  say_status_part("an attr that is none", 60);
  TF_DeleteBuffer(buffer);
  say_number("an import of zeros", !TF_FunctionImportFunctionDef("\0\0\0\0", 4, status));
  say_status_part("an import of zeros", 56);
  TF_GraphRemoveFunction(g, "F", status);
  say_status("a function is removed");
  TF_GraphRemoveFunction(g, "Nothing", status);
  say_status("a function that is not there is removed");
  TF_DeleteFunction(f);
  TF_DeleteFunction(f2);
  TF_DeleteFunction(grad);
  TF_DeleteFunction(grad2);
  TF_DeleteGraph(g);
}

/* ---- operations and graphs ---- */

static void finished_operations(void) {
  static const char *const names[] = {"a b", "", "^x", "_x", "x:0", "-x", "x/", "a>b", "$"};
  TF_Graph *g = TF_NewGraph();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    TF_Operation *oper = placeholder(g, names[i], TF_FLOAT);
    say_status("the name of an operation");
    say_number(names[i], oper && TF_GraphOperationByName(g, names[i]) == oper);
  }
  placeholder(g, "_x", TF_FLOAT);
  say_status("a name twice");
  TF_FinishOperation(TF_NewOperation(g, "NoSuchOp", "n"), status);
  say_status_part("an op that is not known", 50);
  TF_FinishOperation(TF_NewOperation(g, "Identity", "n"), status);
  say_status("an operation without its input");
  unary(g, "Placeholder", "n", first(TF_GraphOperationByName(g, "_x")));
  say_status_part("an operation with an input too many", 40);
  TF_Operation *text = placeholder(g, "text", TF_STRING);
  unary(g, "LogicalNot", "n", first(text));
  say_status("an operation with an input of the wrong type");
  TF_Buffer *buffer = TF_NewBuffer();
  TF_GraphGetOpDef(g, "NoSuchOp", buffer, status);
  say_status_part("the definition of an op that is not known", 40);
  TF_DeleteBuffer(buffer);
  TF_OperationOutputListLength(text, "nothing", status);
  say_status("the length of no output");
  TF_OperationInputListLength(text, "nothing", status);
  say_status("the length of no input");
  TF_OperationGetAttrMetadata(text, "nothing", status);
  say_status("an attr that is not there");
  char bytes[8];
  TF_OperationGetAttrString(text, "dtype", bytes, 8, status);
  say_status("an attr of another kind");
  TF_DeleteGraph(g);
}

static void shapes(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Output x = first(placeholder(g, "x", TF_INT32));
  int64_t dims[] = {2, -1}, got[5] = {9, 9, 9, 9, 9};
  say_number("rank", TF_GraphGetTensorNumDims(g, x, status));
  TF_GraphGetTensorShape(g, x, got, 1, status);
  say_status("one dimension of an unknown shape");
  TF_GraphSetTensorShape(g, x, dims, 2, status);
  say_number("rank", TF_GraphGetTensorNumDims(g, x, status));
  dims[1] = 3;
  TF_GraphSetTensorShape(g, x, dims, 2, status);
  TF_GraphSetTensorShape(g, x, NULL, -1, status);
  say_status("nothing is said of the shape");
  TF_GraphGetTensorShape(g, x, got, 2, status);
  say_number("first", got[0]);
  say_number("second", got[1]);
  TF_GraphGetTensorShape(g, x, got, 5, status);
  say_status("five dimensions of two");
  dims[1] = 5;
  TF_GraphSetTensorShape(g, x, dims, 2, status);
  say_status("another shape");
  TF_GraphSetTensorShape(g, x, dims, 1, status);
  say_status("another rank");
  TF_DeleteGraph(g);
}

/* ---- steps ---- */

static TF_Tensor *vector(int count) {
  int64_t dims[] = {count};
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT32, dims, 1, sizeof(int32_t) * (size_t)count);
  for (int i = 0; i < count; i++) ((int32_t *)TF_TensorData(tensor))[i] = i + 1;
  return tensor;
}

static void say_vector(const char *name, const TF_Tensor *tensor) {
  Text text = {0};
  char piece[24];
  if (!tensor) {
    say(name, "nothing");
    return;
  }
  size_t count = TF_TensorByteSize(tensor) / sizeof(int32_t);
  text_print(&text, "");
  for (size_t i = 0; i < count; i++) {
    snprintf(piece, sizeof piece, "%d ", ((const int32_t *)TF_TensorData(tensor))[i]);
    text_print(&text, piece);
  }
  say(name, text.data);
  free(text.data);
}

typedef struct Step {
  TF_Session *session;
  TF_Output feed;
  int size;
  TF_Output fetch;
  TF_Buffer *options, *metadata;
} Step;

static void run(const char *name, Step step) {
  TF_Tensor *value = vector(step.size), *result = NULL;
  TF_SessionRun(step.session, step.options, &step.feed, &value, 1, &step.fetch, &result, 1, NULL, 0,
                step.metadata, status);
  TF_Code code = TF_GetCode(status);
  say_number(name, code);
  say_vector(name, result);
  if (code != TF_OK) say_status_part(name, 26);
  TF_DeleteTensor(value);
  TF_DeleteTensor(result);
}

static void say_metadata(const char *name, TF_Buffer *metadata) {
  say_number(name, metadata->data != NULL);
  say_number(name, (long long)metadata->length);
  TF_DeleteBuffer(metadata);
}

static void steps(void) {
  TF_Graph *g = TF_NewGraph();
  int64_t two = 2;
  TF_OperationDescription *desc = TF_NewOperation(g, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrShape(desc, "shape", &two, 1);
  TF_Output x = first(TF_FinishOperation(desc, status)), y = first(unary(g, "Neg", "y", x));
  TF_Output shape = first(unary(g, "Shape", "shape", y)), size = first(unary(g, "Size", "size", x));
  TF_Output open = first(placeholder(g, "open", TF_INT32));
  TF_GraphSetTensorShape(g, open, &two, 1, status);
  TF_Output rank = first(unary(g, "Rank", "rank", open)), doubled = first(sum(g, "doubled", open, x, NULL));
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *session = TF_NewSession(g, options, status);
  TF_DeleteSessionOptions(options);
  Step step = {.session = session, .feed = x, .size = 2, .fetch = y};
  run("a value of the right shape", step);
  step.size = 3;
  run("a value of another shape", step);
  step.fetch = shape;
  run("the shape of what was fed", step);
  step.fetch = size;
  run("the size of what was fed", step);
  step.feed = y;
  step.fetch = y;
  run("another shape for an inner value", step);
  step.fetch = shape;
  run("the shape of an inner value", step);
  step.feed = open;
  step.fetch = rank;
  run("the rank of what was fed", step);
  step.fetch = doubled;
  run("a placeholder without its value", step);
  step.feed = x;
  step.fetch = y;
  step.metadata = TF_NewBuffer();
  run("with metadata", step);
  say_metadata("metadata", step.metadata);
  step.metadata = TF_NewBuffer();
  step.fetch = doubled;
  run("a step that fails, with metadata", step);
  say_metadata("metadata of a step that fails", step.metadata);
  step.metadata = TF_NewBufferFromString("text", 4);
  step.fetch = y;
  run("with metadata that is full", step);
  TF_DeleteBuffer(step.metadata);
  step.metadata = NULL;
  step.options = TF_NewBufferFromString("", 0);
  run("with empty options", step);
  TF_DeleteBuffer(step.options);
  step.options = TF_NewBufferFromString("\377\377", 2);
  run("with options that are none", step);
  TF_DeleteBuffer(step.options);
  step.options = NULL;
  TF_CloseSession(session, status);
  step.fetch = y;
  run("after closing", step);
  TF_DeleteSession(session, status);
  say_status("deleting a session");
  TF_DeleteGraph(g);
}

/* ---- gradients ---- */

static const TF_Output kNothing = {NULL, 0};

static void gradient(const char *name, TF_Graph *graph, const char *prefix, TF_Output y, TF_Output x) {
  TF_Output dx = kNothing;
  TF_AddGradientsWithPrefix(graph, prefix, &y, 1, &x, 1, NULL, status, &dx);
  if (TF_GetCode(status) != TF_OK) {
    /* The node that occupies a prefix belongs to the gradient itself. */
    say_status_part(name, prefix ? strlen("prefix [] conflicts with existing node in the graph named") +
                                       strlen(prefix)
                                 : 0);
    return;
  }
  /* The part after the first name depends on the gradient. */
  const char *full = dx.oper ? TF_OperationName(dx.oper) : "nothing";
  Text text = {0};
  text_add(&text, full, strcspn(full, "/"));
  say(name, text.data);
  free(text.data);
}

static void gradients(void) {
  TF_Graph *g = TF_NewGraph();
  TF_Output x = first(placeholder(g, "x", TF_FLOAT)), y = first(unary(g, "Square", "y", x));
  TF_Output other = first(placeholder(g, "other", TF_FLOAT));
  gradient("a gradient without prefix", g, NULL, y, x);
  gradient("a second gradient without prefix", g, NULL, y, x);
  gradient("a prefix", g, "mine", y, x);
  gradient("another prefix", g, "mine_1", y, x);
  gradient("a prefix twice", g, "mine_1", y, x);
  gradient("a prefix that is a node", g, "x", y, x);
  gradient("a prefix that is a scope", g, "gradients", y, x);
  gradient("a value that leads nowhere", g, NULL, y, other);
  TF_DeleteGraph(g);

  g = TF_NewGraph();
  x = first(placeholder(g, "x", TF_FLOAT));
  gradient("the gradient of a value by itself", g, NULL, x, x);
  gradient("the gradient of Identity", g, NULL, first(unary(g, "Identity", "y", x)), x);
  TF_DeleteGraph(g);
}

static void gradient_of(const char *op, int inputs, int axis) {
  TF_Graph *g = TF_NewGraph();
  TF_Output x = first(placeholder(g, "x", TF_FLOAT)), zero = axis ? first(constant(g, "zero", 0)) : kNothing;
  TF_OperationDescription *desc = TF_NewOperation(g, op, "y");
  for (int i = 0; i < inputs; i++) TF_AddInput(desc, x);
  if (axis) TF_AddInput(desc, zero);
  TF_Operation *y = TF_FinishOperation(desc, status);
  if (!y) {
    say_status(op);
  } else {
    gradient(op, g, NULL, first(y), x);
  }
  TF_DeleteGraph(g);
}

static void ops_without_gradient(void) {
  static const char *const ops[] = {"Shape", "Size", "Rank",  "ZerosLike", "StopGradient", "IsNan",
                                    "Floor", "Sign", "Round", "Unique",    "Where"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) gradient_of(ops[i], 1, 0);
  gradient_of("ArgMax", 1, 1);
  gradient_of("ArgMin", 1, 1);
  gradient_of("Less", 2, 0);
  gradient_of("Equal", 2, 0);

  /* Nothing before a stopped gradient is needed. */
  TF_Graph *g = TF_NewGraph();
  TF_Output x = first(placeholder(g, "x", TF_FLOAT)), zero = first(constant(g, "zero", 0));
  TF_OperationDescription *desc = TF_NewOperation(g, "ArgMax", "largest");
  TF_AddInput(desc, x);
  TF_AddInput(desc, zero);
  TF_Output largest = first(TF_FinishOperation(desc, status));
  gradient("behind what stops the flow", g, NULL, first(unary(g, "StopGradient", "stop", largest)), x);
  gradient("behind what lets the flow pass", g, NULL, first(unary(g, "Identity", "same", largest)), x);
  TF_DeleteGraph(g);
}

#include "transcript_loops.h"

/* ---- the rest ---- */

static void deleting_nothing(void) {
  TF_DeleteStatus(NULL);
  TF_DeleteBuffer(NULL);
  TF_DeleteTensor(NULL);
  TF_DeleteSessionOptions(NULL);
  TF_DeleteGraph(NULL);
  TF_DeleteImportGraphDefOptions(NULL);
  TF_DeleteImportGraphDefResults(NULL);
  TF_DeleteFunction(NULL);
  TF_DeleteSession(NULL, status);
  say_status("deleting no session");
  TF_DeleteDeviceList(NULL);
  say("deleting nothing", "done");
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  names_in_functions();
  values_in_functions();
  controls_in_functions();
  attrs_in_functions();
  libraries();
  finished_operations();
  shapes();
  steps();
  gradients();
  ops_without_gradient();
  loops();
  deleting_nothing();
  return finish_transcript(argc, argv, "c_api_transcript.txt");
}
