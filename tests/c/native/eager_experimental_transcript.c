/* The experimental functions of eager execution: executors, cancelling, attrs, devices, memory. See
 * c_api/transcript_lines.h. */
#include "c_api/transcript_lines.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

static const char kCpu[] = "/job:localhost/replica:0/task:0/device:CPU:0";
static TFE_Context *context;

static TFE_TensorHandle *number(float value) {
  return TFE_NewTensorHandleFromScalar(TF_FLOAT, &value, sizeof value, status);
}

/* Executes and deletes the op, which has one result. */
static void execute(const char *name, TFE_Op *op) {
  TFE_TensorHandle *result = NULL;
  int count = 1;
  TFE_Execute(op, &result, &count, status);
  bool ok = TF_GetCode(status) == TF_OK;
  say_status(name);
  if (ok) say_number("type", TFE_TensorHandleDataType(result));
  if (ok) say("device", TFE_TensorHandleDeviceName(result, status));
  if (ok) TFE_DeleteTensorHandle(result);
  TFE_DeleteOp(op);
}

/* ---- executors ---- */

static void executors(void) {
  TFE_Executor *executor = TFE_NewExecutor(false, true, 0);
  say_number("asynchronous", TFE_ExecutorIsAsync(executor));
  TFE_ContextSetExecutorForThread(context, executor);
  TFE_ExecutorWaitForAllPendingNodes(executor, status);
  say_status("waiting");
  TFE_ExecutorClearError(executor);
  TFE_Executor *known = TFE_ContextGetExecutorForThread(context);
  say_number("the context's is asynchronous", TFE_ExecutorIsAsync(known));
  TFE_DeleteExecutor(known);
  TFE_DeleteExecutor(executor);
  executor = TFE_NewExecutor(true, false, 0);
  say_number("asynchronous", TFE_ExecutorIsAsync(executor));
  TFE_DeleteExecutor(executor);
  TFE_ContextAsyncWait(context, status);
  say_status("waiting for all");
}

/* ---- cancelling ---- */

static TFE_CancellationManager *manager;

static void say_manager(const char *name) {
  char text[64];
  snprintf(text, sizeof text, "cancelled %d cancelling %d", TFE_CancellationManagerIsCancelled(manager),
           TFE_CancellationManagerIsCancelling(manager));
  say(name, text);
}

static void called(void *name) { say_manager((const char *)name); }

static TFE_CancellationToken begin(const char *name) {
  TFE_CancelCallback callback = {called, (void *)name};
  TFE_CancellationToken token = TFE_CancellationManagerGetToken(manager);
  say_number(name, TFE_CancellationManagerRegisterCallback(manager, token, &callback, name));
  return token;
}

static void cancelling(void) {
  manager = TFE_NewCancellationManager();
  say_manager("new");
  TFE_CancellationToken first = begin("first");
  TFE_CancellationToken second = begin("second");
  say_number("tokens", first * 10 + second);
  say_number("removing", TFE_CancellationManagerDeregisterCallback(manager, first));
  say_number("removing again", TFE_CancellationManagerTryDeregisterCallback(manager, first));
  TFE_CancellationManagerStartCancel(manager);
  say_manager("after");
  TFE_CancellationManagerStartCancel(manager);
  begin("too late");
  say_number("removing too late", TFE_CancellationManagerDeregisterCallback(manager, second));
  say_number("removing too late", TFE_CancellationManagerTryDeregisterCallback(manager, second));
  TFE_TensorHandle *x = number(2);
  TFE_Op *op = TFE_NewOp(context, "Square", status);
  TFE_OpAddInput(op, x, status);
  TFE_OpSetCancellationManager(op, manager, status);
  say_status("a manager of an op");
  execute("an op", op);
  TFE_DeleteTensorHandle(x);
  TFE_DeleteCancellationManager(manager);
  manager = TFE_NewCancellationManager();
  begin("called when the manager is deleted");
  TFE_DeleteCancellationManager(manager);
}

/* ---- ops ---- */

/* The order of attrs depends on the library, their number and values do not. */
static void say_attrs(const char *name, const TFE_Op *op) {
  TF_Buffer *buffer = TF_NewBuffer();
  long long sum = 0;
  TFE_OpAttrsSerialize(TFE_OpGetAttrs(op), buffer, status);
  say_status(name);
  for (size_t i = 0; i < buffer->length; i++) sum += ((const uint8_t *)buffer->data)[i];
  say_number("the bytes of its attrs", (long long)buffer->length);
  say_number("their sum", sum);
  TF_DeleteBuffer(buffer);
}

static void attrs(void) {
  static const char is_double[] = "\060\002", is_int[] = "\060\003";
  TFE_Op *op = TFE_NewOp(context, "MatMul", status), *other = TFE_NewOp(context, "MatMul", status);
  say_attrs("no attrs", op);
  TFE_OpSetAttrBool(op, "transpose_a", 1);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TFE_OpSetAttrType(op, "T", TF_HALF);
  say_attrs("two attrs", op);
  TFE_OpSetAttrValueProto(other, "T", is_double, 2, status);
  say_status("a double");
  TFE_OpSetAttrValueProto(other, "T", is_int, 2, status);
  TFE_OpAddAttrs(other, TFE_OpGetAttrs(op));
  say_attrs("added attrs", other);
  TFE_OpSetAttrValueProto(other, "T", "\377", 1, status);
  say_status_part("nonsense", strlen("Unparseable AttrValue proto"));
  TFE_DeleteOp(op);
  TFE_DeleteOp(other);
}

static void casts(void) {
  TFE_TensorHandle *x = number(2);
  TFE_Op *op = TFE_NewOp(context, "Cast", status);
  TFE_OpAddInput(op, x, status);
  TFE_OpSetAttrType(op, "DstT", TF_INT32);
  TFE_OpSetAttrType(op, "DstT", TF_DOUBLE);
  execute("the first value counts", op);
  TFE_DeleteTensorHandle(x);
}

static void reset(TFE_Op *op, const char *name, const char *device) {
  TFE_OpReset(op, name, device, status);
  say_status_part(name, strlen("Malformed device specification 'nonsense' in eager op: Name: Square"));
  say("its name", TFE_OpGetName(op, status));
  say("its device", TFE_OpGetDevice(op, status));
  say_number("its inputs", TFE_OpGetFlatInputCount(op, status));
}

static void resets(void) {
  TFE_TensorHandle *x = number(3);
  TFE_Op *op = TFE_NewOp(context, "MatMul", status);
  TFE_OpSetAttrBool(op, "transpose_a", 1);
  TFE_OpAddInput(op, x, status);
  reset(op, "Neg", "/device:CPU:0");
  reset(op, "Square", NULL);
  TFE_OpAddInput(op, x, status);
  execute("a square", op);
  op = TFE_NewOp(context, "MatMul", status);
  TFE_OpReset(op, "None", NULL, status);
  say_status_part("None",
                  strlen("'None' is neither a type of a primitive operation nor a name of a function"));
  TFE_OpReset(op, "Square", "nonsense", status);
  say_status_part("nonsense", strlen("Malformed device specification 'nonsense' in eager op: Name: Square"));
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(x);
}

static TFE_Op *square_on(const char *device, TFE_TensorHandle *x) {
  TFE_Op *op = TFE_NewOp(context, "Square", status);
  TFE_OpAddInput(op, x, status);
  TFE_OpSetDevice(op, device, status);
  return op;
}

static void devices(void) {
  TFE_TensorHandle *x = number(3);
  TFE_ContextSetSoftDevicePlacement(context, 1, status);
  say_status("soft placement");
  execute("on a device that is not there", square_on("/device:GPU:3", x));
  TFE_ContextSetSoftDevicePlacement(context, 0, status);
  TFE_ContextSetLogDevicePlacement(context, 0, status);
  say_status("logging");
  TFE_ContextSetRunEagerOpAsFunction(context, 0, status);
  say_status("functions");
  TFE_ContextSetJitCompileRewrite(context, 0, status);
  say_status("compiling");
  TFE_ContextEnableGraphCollection(context);
  TFE_ContextDisableGraphCollection(context);
  say_number("a custom device", TFE_IsCustomDevice(context, kCpu));
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_HostAddressSpace(context, buffer);
  char space[64] = "";
  memcpy(space, buffer->data, buffer->length < sizeof space ? buffer->length : sizeof space - 1);
  say("the host", space);
  TF_DeleteBuffer(buffer);
  TFE_DeleteTensorHandle(x);
}

/* ---- handles ---- */

static void freed(void *data, size_t length, void *arg) {
  say_number((const char *)arg, (long long)length);
  free(data);
}

static void memory(const char *device) {
  const int64_t dims[] = {3};
  float *data = (float *)malloc(3 * sizeof *data);
  data[2] = 7;
  TFE_TensorHandle *handle =
      TFE_NewTensorHandleFromDeviceMemory(context, device, TF_FLOAT, dims, 1, data, 3 * sizeof *data, freed,
                                          (void *)"bytes that are freed", status);
  say_status(device);
  if (!handle) return;
  say_number("an element", (long long)((const float *)TFE_TensorHandleDevicePointer(handle, status))[2]);
  say_number("a size", (long long)TFE_TensorHandleDeviceMemorySize(handle, status));
  say("a type of device", TFE_TensorHandleDeviceType(handle, status));
  say_number("a device", TFE_TensorHandleDeviceID(handle, status));
  TFE_TensorHandleGetStatus(handle, status);
  say_status("a handle");
  TFE_DeleteTensorHandle(handle);
}

static void handles(void) {
  const int64_t dims[] = {2};
  memory(kCpu);
  memory("/device:CPU:0");
  memory("nowhere");
  say_number("no handle", TFE_TensorHandleDeviceType(NULL, status) != NULL);
  say_status("no handle");
  say_number("no handle", TFE_TensorHandleDeviceID(NULL, status));
  say_status("no handle");
  TF_Tensor *tensor = TFE_AllocateHostTensor(context, TF_FLOAT, dims, 1, status);
  say_status("a tensor");
  TFE_TensorHandle *handle = TFE_NewTensorHandleFromTensor(context, tensor, status);
  say_number("elements", (long long)TFE_TensorHandleNumElements(handle, status));
  TFE_DeleteTensorHandle(handle);
  TF_DeleteTensor(tensor);
}

/* ---- functions ---- */

static void functions(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Output x = {TF_FinishOperation(desc, status), 0};
  desc = TF_NewOperation(graph, "Neg", "y");
  TF_AddInput(desc, x);
  TF_Output y = {TF_FinishOperation(desc, status), 0};
  TF_Function *function =
      TF_GraphToFunction(graph, "Negative", 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, status);
  TFE_ContextAddFunction(context, function, status);
  TF_DeleteFunction(function);
  TF_DeleteGraph(graph);
  TF_Buffer *def = TF_NewBuffer();
  TFE_ContextGetFunctionDef(context, "Negative", def, status);
  say_status("a definition");
  say_number("it has bytes", def->length > 0);
  TF_DeleteBuffer(def);
  function = TFE_ContextGetFunction(context, "Negative", status);
  say_status("a function");
  say("its name", TF_FunctionName(function));
  TF_DeleteFunction(function);
  def = TF_NewBuffer();
  TFE_ContextGetFunctionDef(context, "None", def, status);
  say_status("no definition");
  TF_DeleteBuffer(def);
  say_number("no function", TFE_ContextGetFunction(context, "None", status) != NULL);
  say_status("no function");
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  TFE_ContextOptions *options = TFE_NewContextOptions();
  TFE_ContextOptionsSetTfrt(options, false);
  context = TFE_NewContext(options, status);
  TFE_DeleteContextOptions(options);
  executors();
  cancelling();
  attrs();
  casts();
  resets();
  devices();
  handles();
  functions();
  TFE_DeleteContext(context);
  return finish_transcript(argc, argv, "eager_experimental_transcript.txt");
}
