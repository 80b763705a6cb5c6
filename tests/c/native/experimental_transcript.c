/* The experimental functions: shapes of eager ops, kernels for types, queues by number, settings. See
 * c_api/transcript_lines.h. */
#include "c_api/transcript_lines.h"
#include "tensorflow/c/c_api_experimental.h"

static TFE_Context *context;

/* ---- shapes ---- */

enum { UNKNOWN = -2 }; /* a rank */

typedef struct Known {
  int rank;
  int64_t dims[3];
} Known;

static TF_ShapeAndTypeList *list_of(const Known *shapes, int count) {
  TF_ShapeAndTypeList *list = TF_NewShapeAndTypeList(count);
  for (int i = 0; i < count; i++) {
    if (shapes[i].rank == UNKNOWN) TF_ShapeAndTypeListSetUnknownShape(list, i);
    else TF_ShapeAndTypeListSetShape(list, i, shapes[i].dims, shapes[i].rank);
  }
  return list;
}

static void say_shapes(const char *name, const TF_ShapeAndTypeList *list) {
  Text text = {0};
  char piece[32];
  text_print(&text, "");
  for (int i = 0; i < list->num_items; i++) {
    snprintf(piece, sizeof piece, "type %d rank %d:", (int)list->items[i].dtype, list->items[i].num_dims);
    text_print(&text, piece);
    for (int k = 0; k < list->items[i].num_dims; k++) {
      snprintf(piece, sizeof piece, " %d", (int)list->items[i].dims[k]);
      text_print(&text, piece);
    }
    text_print(&text, "; ");
  }
  say(name, text.data);
  free(text.data);
}

static void infer(const char *name, TFE_Op *op, const Known *shapes, int count, TF_Tensor **values) {
  TF_ShapeAndTypeList *inputs = list_of(shapes, count), *outputs = NULL;
  TFE_InferShapes(op, inputs, values, NULL, NULL, &outputs, NULL, status);
  say_status(name);
  if (outputs) say_shapes(name, outputs);
  TF_DeleteShapeAndTypeList(outputs);
  TF_DeleteShapeAndTypeList(inputs);
  TFE_DeleteOp(op);
}

static TF_Tensor *ints(int first, int second) {
  const int64_t dims[] = {2};
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT32, dims, 1, 2 * sizeof(int32_t));
  ((int32_t *)TF_TensorData(tensor))[0] = first;
  ((int32_t *)TF_TensorData(tensor))[1] = second;
  return tensor;
}

static void products(void) {
  static const Known fitting[] = {{2, {2, 3}}, {2, {3, 4}}}, other[] = {{2, {2, 3}}, {2, {4, 4}}},
                     partial[] = {{2, {2, -1}}, {UNKNOWN, {0}}};
  infer("MatMul", TFE_NewOp(context, "MatMul", status), fitting, 2, NULL);
  infer("MatMul of others", TFE_NewOp(context, "MatMul", status), other, 2, NULL);
  infer("MatMul of one", TFE_NewOp(context, "MatMul", status), other, 1, NULL);
  infer("MatMul of none", TFE_NewOp(context, "MatMul", status), other, 0, NULL);
  TFE_Op *op = TFE_NewOp(context, "MatMul", status);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  infer("MatMul of floats", op, other, 2, NULL);
  op = TFE_NewOp(context, "MatMul", status);
  TFE_OpSetAttrBool(op, "transpose_a", 1);
  infer("MatMul of unknown sizes", op, partial, 2, NULL);
}

static void lists(void) {
  static const Known shapes[] = {{2, {2, 3}}, {2, {2, 3}}, {0, {0}}}, axis[] = {{0, {0}}, {2, {4, 6}}},
                     line[] = {{1, {5}}};
  TFE_Op *op = TFE_NewOp(context, "ConcatV2", status);
  TFE_OpSetAttrInt(op, "N", 2);
  infer("ConcatV2", op, shapes, 3, NULL);
  op = TFE_NewOp(context, "Pack", status);
  TFE_OpSetAttrInt(op, "N", 2);
  TFE_OpSetAttrInt(op, "axis", 1);
  infer("Pack", op, shapes, 2, NULL);
  op = TFE_NewOp(context, "Split", status);
  TFE_OpSetAttrInt(op, "num_split", 2);
  infer("Split", op, axis, 2, NULL);
  infer("Unique", TFE_NewOp(context, "Unique", status), line, 1, NULL);
  infer("NoOp", TFE_NewOp(context, "NoOp", status), line, 0, NULL);
  op = TFE_NewOp(context, "Placeholder", status);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  infer("Placeholder", op, line, 0, NULL);
}

static void values(void) {
  static const Known fill[] = {{1, {2}}, {0, {0}}}, reshape[] = {{1, {6}}, {1, {2}}},
                     odd[] = {{1, {7}}, {1, {2}}};
  TF_Tensor *dims[] = {ints(4, 5), NULL}, *shape[] = {NULL, ints(-1, 3)};
  infer("Fill", TFE_NewOp(context, "Fill", status), fill, 2, dims);
  infer("Fill of what is not known", TFE_NewOp(context, "Fill", status), fill, 2, NULL);
  infer("Reshape", TFE_NewOp(context, "Reshape", status), reshape, 2, shape);
  infer("Reshape of seven", TFE_NewOp(context, "Reshape", status), odd, 2, shape);
  TF_DeleteTensor(dims[0]);
  TF_DeleteTensor(shape[1]);
}

static void shape_lists(void) {
  static const Known shape = {3, {1, -1, 3}};
  TF_ShapeAndTypeList *list = TF_NewShapeAndTypeList(3), *empty = TF_NewShapeAndTypeList(0);
  say_shapes("new", list);
  say_shapes("empty", empty);
  TF_ShapeAndTypeListSetShape(list, 0, shape.dims, shape.rank);
  TF_ShapeAndTypeListSetUnknownShape(list, 1);
  TF_ShapeAndTypeListSetDtype(list, 1, TF_FLOAT);
  TF_ShapeAndTypeListSetDtype(list, 2, TF_INT32);
  say_shapes("set", list);
  TF_DeleteShapeAndTypeList(list);
  TF_DeleteShapeAndTypeList(empty);
  TF_DeleteShapeAndTypeList(NULL);
  TF_DeleteShapeAndTypeListArray(NULL, 0);
}

/* ---- ops ---- */

/* The list of kernels after "Registered:" depends on the library, and so do those that a message names. */
static void check_device(const char *op, const char *device, TF_DataType type) {
  TF_AttrBuilder *builder = TF_NewAttrBuilder(op);
  const TF_DataType two[] = {TF_FLOAT, type};
  if (strcmp(op, "IdentityN") == 0) TF_AttrBuilderSetTypeList(builder, "T", two, 2);
  else TF_AttrBuilderSetType(builder, "T", type);
  TF_AttrBuilderCheckCanRunOnDevice(builder, device, status);
  const char *rest = strstr(TF_Message(status), "  Registered:");
  say_status_part(op, rest ? (size_t)(rest - TF_Message(status)) : 0);
  TF_DeleteAttrBuilder(builder);
}

static void say_number_attr(const char *op, int input) {
  const char *attr = TF_GetNumberAttrForOpListInput(op, input, status);
  say(op, attr ? attr : "none");
  say_status_part(op, strlen("Op type not registered 'None'"));
}

static void ops(void) {
  check_device("MatMul", "CPU", TF_FLOAT);
  check_device("MatMul", "CPU", TF_STRING);
  check_device("MatMul", "XYZ", TF_FLOAT);
  check_device("IdentityN", "CPU", TF_STRING);
  check_device("None", "CPU", TF_FLOAT);
  TF_AttrBuilder *builder = TF_NewAttrBuilder("MatMul");
  TF_AttrBuilderCheckCanRunOnDevice(builder, "CPU", status);
  say_status_part("no type", strlen("OpKernel 'MatMul' has constraint on attr 'T' not in NodeDef '"));
  TF_DeleteAttrBuilder(builder);
  say_number_attr("ConcatV2", 0);
  say_number_attr("ConcatV2", 1);
  say_number_attr("ConcatV2", 2);
  say_number_attr("ConcatV2", -1);
  say_number_attr("IdentityN", 0);
  say_number_attr("None", 0);
}

/* ---- queues ---- */

static TF_Operation *add(TF_Graph *graph, const char *type, const char *name, const TF_Operation *queue,
                         const TF_Operation *value) {
  TF_OperationDescription *desc = TF_NewOperation(graph, type, name);
  const TF_DataType types[] = {TF_INT32};
  TF_Output resource = {(TF_Operation *)queue, 0};
  if (queue) TF_AddInput(desc, resource);
  TF_Output values = {(TF_Operation *)value, 0};
  if (value) TF_AddInputList(desc, &values, 1);
  if (strcmp(type, "Placeholder") == 0) TF_SetAttrType(desc, "dtype", TF_INT32);
  if (strcmp(type, "FIFOQueueV2") == 0 || strcmp(type, "QueueDequeueV2") == 0)
    TF_SetAttrTypeList(desc, "component_types", types, 1);
  return TF_FinishOperation(desc, status);
}

static void queues(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *queue = add(graph, "FIFOQueueV2", "queue", NULL, NULL);
  TF_Operation *value = add(graph, "Placeholder", "arg_tensor_enqueue_3", NULL, NULL);
  add(graph, "QueueEnqueueV2", "fifo_queue_enqueue_3", queue, value);
  add(graph, "QueueEnqueueV2", "fifo_queue_enqueue_4", queue, value);
  add(graph, "QueueDequeueV2", "fifo_queue_dequeue_3", queue, NULL);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *session = TF_NewSession(graph, options, status);
  say_status("a session");
  TF_Tensor *sent = ints(7, 8);
  TF_EnqueueNamedTensor(session, 3, sent, status);
  say_status("enqueuing");
  TF_EnqueueNamedTensor(session, 4, sent, status);
  say_status("enqueuing without a placeholder");
  TF_EnqueueNamedTensor(session, 5, sent, status);
  say_status("enqueuing without a queue");
  TF_DeleteTensor(sent);
  TF_Tensor *received = TF_DequeueNamedTensor(session, 3, status);
  say_status("dequeuing");
  say_number("what was sent", ((const int32_t *)TF_TensorData(received))[1]);
  TF_DeleteTensor(received);
  say_number("no queue", TF_DequeueNamedTensor(session, 5, status) != NULL);
  say_status("no queue");
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
}

/* ---- the process ---- */

static void set_mode(const char *mode) {
  TF_SetXlaAutoJitMode(mode);
  say_number(mode, TF_GetXlaAutoJitEnabled());
}

static void settings(void) {
  static const char *const modes[] =
      {"1", "0", "2", "nonsense", "-1", "fusible", "0", "single-gpu(1)", "single-gpu(x)", "single-gpu(0)"};
  TF_MakeInternalErrorStatus(status, "an error");
  say_status("an internal error");
  say_number("lazy", TF_SetXlaEnableLazyCompilation(0));
  say_number("not lazy", TF_SetXlaEnableLazyCompilation(1));
  say_number("cpu", TF_SetTfXlaCpuGlobalJit(1));
  say_number("cpu jit", TF_SetTfXlaCpuGlobalJit(0));
  say_number("folding", TF_GetXlaConstantFoldingDisabled());
  TF_SetXlaConstantFoldingDisabled(1);
  say_number("no folding", TF_GetXlaConstantFoldingDisabled());
  TF_SetXlaConstantFoldingDisabled(0);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) set_mode(modes[i]);
  TF_SetXlaMinClusterSize(4);
  int port = TF_PickUnusedPortOrDie();
  say_number("a port", port > 0 && port < 65536);
  float half = 0.5F;
  TFE_TensorHandle *handle = TFE_NewTensorHandleFromScalar(TF_FLOAT, &half, sizeof half, status);
  say_status("a scalar");
  TF_Tensor *tensor = TFE_TensorHandleResolve(handle, status);
  say_number("rank", TF_NumDims(tensor));
  say_number("half", *(const float *)TF_TensorData(tensor) == half);
  TF_DeleteTensor(tensor);
  TFE_DeleteTensorHandle(handle);
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  TFE_ContextOptions *options = TFE_NewContextOptions();
  context = TFE_NewContext(options, status);
  TFE_DeleteContextOptions(options);
  shape_lists();
  products();
  lists();
  values();
  ops();
  queues();
  settings();
  TFE_DeleteContext(context);
  return finish_transcript(argc, argv, "experimental_transcript.txt");
}
