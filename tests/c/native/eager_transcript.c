/* Eager execution: ops, attrs, lists, variables, functions, variants, and what is refused. See
 * c_api/transcript_lines.h. */
#include "c_api/transcript_lines.h"
#include "tensorflow/c/eager/c_api.h"

static TFE_Context *context;

static const int64_t kSquare[] = {2, 2}, kWide[] = {2, 3}, kThree[] = {3};

/* 1, 2, 3, ... as floats or int32. */
static TFE_TensorHandle *count_up(TF_DataType type, const int64_t *dims, int num_dims) {
  int64_t count = 1;
  for (int i = 0; i < num_dims; i++) count *= dims[i];
  TF_Tensor *tensor = TF_AllocateTensor(type, dims, num_dims, (size_t)count * TF_DataTypeSize(type));
  for (int64_t i = 0; i < count; i++) {
    if (type == TF_FLOAT) ((float *)TF_TensorData(tensor))[i] = (float)i + 1;
    else ((int32_t *)TF_TensorData(tensor))[i] = (int32_t)i + 1;
  }
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}

static TFE_TensorHandle *scalar(int value) {
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT32, NULL, 0, sizeof value);
  *(int32_t *)TF_TensorData(tensor) = value;
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}

static void say_value(const char *name, TFE_TensorHandle *handle) {
  Text text = {0};
  char piece[64];
  TF_Tensor *tensor = TFE_TensorHandleResolve(handle, status);
  snprintf(piece, sizeof piece, "type %d [", (int)TFE_TensorHandleDataType(handle));
  text_print(&text, piece);
  for (int i = 0; i < TFE_TensorHandleNumDims(handle, status); i++) {
    snprintf(piece, sizeof piece, " %d", (int)TFE_TensorHandleDim(handle, i, status));
    text_print(&text, piece);
  }
  text_print(&text, " ]");
  for (int64_t i = 0; tensor && i < TF_TensorElementCount(tensor); i++) {
    if (TF_TensorType(tensor) == TF_FLOAT)
      snprintf(piece, sizeof piece, " %.9g", ((const float *)TF_TensorData(tensor))[i]);
    else if (TF_TensorType(tensor) == TF_INT32)
      snprintf(piece, sizeof piece, " %d", ((const int32_t *)TF_TensorData(tensor))[i]);
    else break;
    text_print(&text, piece);
  }
  say(name, text.data);
  TF_DeleteTensor(tensor);
  free(text.data);
}

/* Executes and deletes the op; the first result, which the caller deletes. */
static TFE_TensorHandle *execute(const char *name, TFE_Op *op, int room) {
  TFE_TensorHandle *results[4] = {NULL};
  int count = room;
  TFE_Execute(op, results, &count, status);
  bool ok = TF_GetCode(status) == TF_OK;
  say_status(name);
  if (ok) say_number(name, count);
  for (int i = 0; ok && i < count; i++) {
    TF_DataType type = TFE_TensorHandleDataType(results[i]);
    if (type != TF_RESOURCE && type != TF_VARIANT) say_value(name, results[i]);
    if (i > 0) TFE_DeleteTensorHandle(results[i]);
  }
  TFE_DeleteOp(op);
  return ok ? results[0] : NULL;
}

static void run(const char *name, TFE_Op *op, int room) {
  TFE_TensorHandle *result = execute(name, op, room);
  if (result) TFE_DeleteTensorHandle(result);
}

static TFE_Op *begin(const char *type) {
  TFE_Op *op = TFE_NewOp(context, type, status);
  if (!op) say_status(type);
  return op;
}

/* Adds the input and deletes the handle: the op keeps the value. */
static void give(TFE_Op *op, TFE_TensorHandle *input) {
  TFE_OpAddInput(op, input, status);
  TFE_DeleteTensorHandle(input);
}

static TFE_Op *matmul(const int64_t *a, const int64_t *b) {
  TFE_Op *op = begin("MatMul");
  give(op, count_up(TF_FLOAT, a, 2));
  give(op, count_up(TF_FLOAT, b, 2));
  return op;
}

/* ---- ops and attrs ---- */

static void products(void) {
  run("a product", matmul(kSquare, kWide), 1);
  run("the same again", matmul(kSquare, kWide), 1);
  run("shapes that do not fit", matmul(kWide, kWide), 1);
  run("no room for the result", matmul(kSquare, kWide), 0);
  run("more room", matmul(kSquare, kWide), 3);

  TFE_Op *op = matmul(kWide, kWide);
  TFE_OpSetAttrBool(op, "transpose_b", 1);
  run("a transposed product", op, 1);
  op = matmul(kSquare, kSquare);
  TFE_OpSetAttrInt(op, "transpose_a", 3);
  run("an int for a bool", op, 1);
  op = matmul(kSquare, kSquare);
  TFE_OpSetAttrType(op, "T", TF_INT32);
  run("another type than that of the inputs", op, 1);

  op = begin("MatMul");
  give(op, count_up(TF_FLOAT, kSquare, 2));
  give(op, count_up(TF_INT32, kSquare, 2));
  run("two types", op, 1);
  op = begin("Placeholder");
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  run("a placeholder", op, 1);
  say_number("an unknown op", TFE_NewOp(context, "NoSuchOp", status) != NULL);
  say_status_part("an unknown op",
                  strlen("5 'NoSuchOp' is neither a type of a primitive operation nor a name of a "
                         "function registered in binary running on") -
                      2);
}

static void lists(void) {
  TFE_TensorHandle *values[] = {count_up(TF_FLOAT, kSquare, 2), count_up(TF_FLOAT, kSquare, 2),
                                count_up(TF_INT32, kSquare, 2)};
  TFE_Op *op = begin("ConcatV2");
  TFE_OpAddInputList(op, values, 2, status);
  say_number("the length of a list", TFE_OpGetInputLength(op, "values", status));
  say_number("the length of a result", TFE_OpGetOutputLength(op, "output", status));
  say_number("the length of no input", TFE_OpGetInputLength(op, "none", status));
  say_status("the length of no input");
  give(op, scalar(1));
  say_number("the number of inputs", TFE_OpGetFlatInputCount(op, status));
  say_value("the last input", TFE_OpGetFlatInput(op, 2, status));
  run("a list", op, 1);

  op = begin("ConcatV2");
  TFE_OpAddInputList(op, values + 1, 2, status);
  give(op, scalar(0));
  run("a list of two types", op, 1);

  op = begin("IdentityN");
  TFE_OpAddInputList(op, values, 3, status);
  say_number("the length of results", TFE_OpGetOutputLength(op, "output", status));
  run("a list of types", op, 3);

  op = begin("Split");
  give(op, scalar(0));
  TFE_OpAddInput(op, values[0], status);
  TFE_OpSetAttrInt(op, "num_split", 2);
  say_number("the parts", TFE_OpGetOutputLength(op, "output", status));
  run("parts", op, 2);
  for (int i = 0; i < 3; i++) TFE_DeleteTensorHandle(values[i]);
}

static void attrs(void) {
  static const char *const names[] = {"T", "transpose_a", "nonsense"};
  unsigned char is_list;
  TFE_Op *op = begin("MatMul");
  for (int i = 0; i < 3; i++) {
    say_number(names[i], TFE_OpGetAttrType(op, names[i], &is_list, status) * 10 + is_list);
    say_status(names[i]);
  }
  say_number("a list of types",
             TFE_OpNameGetAttrType(context, "IdentityN", "T", &is_list, status) * 10 + is_list);
  say("the name", TFE_OpGetName(op, status));
  say_number("the context", TFE_OpGetContext(op, status) == context);
  TFE_DeleteOp(op);

  const int64_t dims[] = {-1, 2};
  op = begin("EnsureShape");
  give(op, count_up(TF_FLOAT, kSquare, 2));
  TFE_OpSetAttrShape(op, "shape", dims, 2, status);
  run("a shape", op, 1);
  const int64_t values[] = {1, 0};
  op = begin("Squeeze");
  give(op, count_up(TF_FLOAT, (const int64_t[]){1, 3}, 2));
  TFE_OpSetAttrIntList(op, "squeeze_dims", values + 1, 1);
  run("a list of ints", op, 1);
  op = begin("Const");
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof(float));
  *(float *)TF_TensorData(tensor) = 2.5f;
  TFE_OpSetAttrTensor(op, "value", tensor, status);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TF_DeleteTensor(tensor);
  run("a tensor", op, 1);
}

/* ---- variables, variants, functions ---- */

static TFE_Op *on_variable(const char *type, TFE_TensorHandle *variable) {
  TFE_Op *op = begin(type);
  TFE_OpAddInput(op, variable, status);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  return op;
}

static void variables(void) {
  TFE_Op *op = begin("VarHandleOp");
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_OpSetAttrShape(op, "shape", kThree, 1, status);
  TFE_OpSetAttrString(op, "container", "", 0);
  TFE_OpSetAttrString(op, "shared_name", "v", 1);
  TFE_TensorHandle *variable = execute("a variable", op, 1);
  for (int i = 0; i < 2; i++) {
    op = on_variable(i == 0 ? "AssignVariableOp" : "AssignAddVariableOp", variable);
    give(op, count_up(TF_FLOAT, kThree, 1));
    run("an assignment", op, 0);
    run("a read", on_variable("ReadVariableOp", variable), 1);
  }
  TFE_ContextClearCaches(context);
  run("a read without caches", on_variable("ReadVariableOp", variable), 1);
  TFE_DeleteTensorHandle(variable);
}

static void variants(void) {
  TFE_Op *op = begin("TensorListFromTensor");
  give(op, count_up(TF_FLOAT, kSquare, 2));
  give(op, scalar(-1));
  TFE_OpSetAttrType(op, "element_dtype", TF_FLOAT);
  TFE_OpSetAttrType(op, "shape_type", TF_INT32);
  TFE_TensorHandle *list = execute("a list of tensors", op, 1);
  op = begin("TensorListLength");
  give(op, list);
  run("its length", op, 1);
}

/* x + x, from a graph. */
static TF_Function *doubling(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Output x = {TF_FinishOperation(desc, status), 0};
  desc = TF_NewOperation(graph, "AddV2", "sum");
  TF_AddInput(desc, x);
  TF_AddInput(desc, x);
  TF_Output sum = {TF_FinishOperation(desc, status), 0};
  TF_Function *function =
      TF_GraphToFunction(graph, "Doubling", 0, -1, NULL, 1, &x, 1, &sum, NULL, NULL, NULL, status);
  TF_DeleteGraph(graph);
  return function;
}

static void functions(void) {
  TF_Function *function = doubling();
  say_number("before", TFE_ContextHasFunction(context, "Doubling"));
  TFE_ContextAddFunction(context, function, status);
  say_status("adding");
  say_number("after", TFE_ContextHasFunction(context, "Doubling"));
  TFE_Op *op = begin("Doubling");
  give(op, count_up(TF_FLOAT, kThree, 1));
  run("a function", op, 1);
  op = begin("PartitionedCall");
  TFE_TensorHandle *x = count_up(TF_FLOAT, kThree, 1);
  const TF_DataType types[] = {TF_FLOAT};
  TFE_OpAddInputList(op, &x, 1, status);
  TFE_OpSetAttrFunctionName(op, "f", "Doubling", strlen("Doubling"));
  TFE_OpSetAttrTypeList(op, "Tin", types, 1);
  TFE_OpSetAttrTypeList(op, "Tout", types, 1);
  run("a call", op, 1);
  TFE_DeleteTensorHandle(x);
  TFE_ContextRemoveFunction(context, "Doubling", status);
  say_status("removing");
  say_number("at last", TFE_ContextHasFunction(context, "Doubling"));
  TFE_ContextAddFunctionDef(context, "\377\377", 2, status);
  say_status_part("no function", strlen("Invalid FunctionDef proto"));
  TF_DeleteFunction(function);
}

/* ---- devices and handles ---- */

static void devices(void) {
  TF_DeviceList *list = TFE_ContextListDevices(context, status);
  say_number("devices", TF_DeviceListCount(list));
  say("the first", TF_DeviceListName(list, 0, status));
  TF_DeleteDeviceList(list);

  TFE_Op *op = matmul(kSquare, kSquare);
  say("no device", TFE_OpGetDevice(op, status));
  TFE_OpSetDevice(op, "/device:CPU:0", status);
  say("a device", TFE_OpGetDevice(op, status));
  TFE_OpSetDevice(op, "nonsense", status);
  say_status_part("no name", strlen("Malformed device specification 'nonsense' in eager op: Name: MatMul"));
  TFE_OpSetDevice(op, "/device:GPU:0", status);
  run("no such device", op, 1);

  static const char *const names[] = {"/device:CPU:0", "CPU:0", "/device:GPU:0", "nonsense"};
  TFE_TensorHandle *value = count_up(TF_FLOAT, kThree, 1);
  for (int i = 0; i < 4; i++) {
    TFE_TensorHandle *copy = TFE_TensorHandleCopyToDevice(value, context, names[i], status);
    say_status(names[i]);
    if (copy) say(names[i], TFE_TensorHandleDeviceName(copy, status));
    if (copy) TFE_DeleteTensorHandle(copy);
  }
  TFE_DeleteTensorHandle(value);
  say_number("the policy", TFE_ContextGetDevicePlacementPolicy(context));
  TFE_ContextSetThreadLocalDevicePlacementPolicy(context, TFE_DEVICE_PLACEMENT_WARN);
  say_number("another policy", TFE_ContextGetDevicePlacementPolicy(context));
}

static void handles(void) {
  TFE_TensorHandle *value = count_up(TF_INT32, kWide, 2);
  say("the device", TFE_TensorHandleDeviceName(value, status));
  say("the backing device", TFE_TensorHandleBackingDeviceName(value, status));
  say_number("elements", TFE_TensorHandleNumElements(value, status));
  TFE_TensorHandle *shared = TFE_TensorHandleCopySharingTensor(value, status);
  TFE_TensorDebugInfo *info = TFE_TensorHandleTensorDebugInfo(value, status);
  say_number("rank on the device", TFE_TensorDebugInfoOnDeviceNumDims(info));
  say_number("columns on the device", TFE_TensorDebugInfoOnDeviceDim(info, 1));
  TFE_DeleteTensorDebugInfo(info);
  TFE_DeleteTensorHandle(value);
  say_value("shared", shared);
  TFE_DeleteTensorHandle(shared);
  TFE_TensorHandleDim(NULL, 0, status);
  say_status("a dimension of nothing");
  TFE_TensorHandleNumDims(NULL, status);
  say_status("the rank of nothing");
  say_number("the tensor of nothing", TFE_TensorHandleResolve(NULL, status) != NULL);
  say_status("the tensor of nothing");
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  TFE_ContextOptions *options = TFE_NewContextOptions();
  TFE_ContextOptionsSetAsync(options, 0);
  context = TFE_NewContext(options, status);
  say_status("a context");
  products();
  lists();
  attrs();
  variables();
  variants();
  functions();
  devices();
  handles();
  TFE_DeleteContext(context);
  TFE_DeleteContextOptions(options);
  TFE_DeleteContextOptions(NULL);
  TFE_DeleteTensorHandle(NULL);
  return finish_transcript(argc, argv, "eager_transcript.txt");
}
