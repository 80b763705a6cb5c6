/* The experimental functions where TensorFlow gives no answer to compare with: memory that runs out, wrong
 * indices and sizes, the log, and what needs other processes. The rest is in experimental_transcript.c. */
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sync.h"
#include "c_api/c_api_internal.h"
#include "harness.h"
#include "shortage.h"

static const int64_t kMatrix[] = {2, 3}, kOther[] = {3, 4};

/* The shape of a product; NULL on error. */
static TF_ShapeAndTypeList *infer(TFE_Context *context, TF_Status *status) {
  TF_ShapeAndTypeList *inputs = TF_NewShapeAndTypeList(2), *outputs = NULL;
  TFE_Op *op = TFE_NewOp(context, "MatMul", status);
  if (inputs) TF_ShapeAndTypeListSetShape(inputs, 0, kMatrix, 2);
  if (inputs) TF_ShapeAndTypeListSetShape(inputs, 1, kOther, 2);
  if (op && inputs) TFE_InferShapes(op, inputs, NULL, NULL, NULL, &outputs, NULL, status);
  else TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "");
  TF_DeleteShapeAndTypeList(inputs);
  TFE_DeleteOp(op);
  return outputs;
}

TEST(inferring_shapes_reports_that_memory_ran_out) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  Shortage shortage = {.what = "shapes"};
  do {
    shortage_begin(&shortage);
    TF_ShapeAndTypeList *shapes = infer(context, status);
    shortage_end(&shortage, shapes, (Code)TF_GetCode(status));
    if (shapes) CHECK_INT_EQ(shapes->num_items, 1);
    TF_DeleteShapeAndTypeList(shapes);
  } while (shortage_next(&shortage));
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}

TEST(the_question_for_a_kernel_reports_that_memory_ran_out) {
  TF_Status *status = TF_NewStatus();
  Shortage shortage = {.what = "a kernel"};
  do {
    shortage_begin(&shortage);
    TF_AttrBuilder *builder = TF_NewAttrBuilder("AddV2");
    if (builder) TF_AttrBuilderSetType(builder, "T", TF_FLOAT);
    if (builder) TF_AttrBuilderCheckCanRunOnDevice(builder, "CPU", status);
    else TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "");
    shortage_end(&shortage, TF_GetCode(status) == TF_OK, (Code)TF_GetCode(status));
    TF_DeleteAttrBuilder(builder);
  } while (shortage_next(&shortage));
  TF_DeleteStatus(status);
}

/* Resets an op and reads its attrs; false on error. */
static bool use_op(TFE_Context *context, TF_Status *status) {
  static const char is_true[] = "\050\001";
  TFE_Op *op = TFE_NewOp(context, "Square", status), *other = NULL;
  TF_Buffer *buffer = TF_NewBuffer();
  if (op) TFE_OpReset(op, "MatMul", "/device:CPU:0", status);
  if (TF_GetCode(status) == TF_OK) TFE_OpSetAttrValueProto(op, "transpose_a", is_true, 2, status);
  if (TF_GetCode(status) == TF_OK) other = TFE_NewOp(context, "MatMul", status);
  if (other) TFE_OpAddAttrs(other, TFE_OpGetAttrs(op));
  if (other && buffer) TFE_OpAttrsSerialize(TFE_OpGetAttrs(other), buffer, status);
  else TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "");
  bool ok = TF_GetCode(status) == TF_OK;
  if (ok) CHECK(buffer->length > 0);
  TF_DeleteBuffer(buffer);
  TFE_DeleteOp(other);
  TFE_DeleteOp(op);
  return ok;
}

TEST(resetting_and_reading_ops_reports_that_memory_ran_out) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  Shortage shortage = {.what = "ops"};
  do {
    shortage_begin(&shortage);
    bool ok = use_op(context, status);
    shortage_end(&shortage, ok, (Code)TF_GetCode(status));
  } while (shortage_next(&shortage));
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}

static void *cancel(void *manager) {
  TFE_CancellationManagerStartCancel(manager);
  return NULL;
}

static void count_calls(void *count) { ++*(int *)count; }

TEST(threads_that_cancel_at_once_call_each_callback_once) {
  int count = 0;
  TFE_CancelCallback callback = {count_calls, &count};
  TFE_CancellationManager *manager = TFE_NewCancellationManager();
  for (int i = 0; i < 3; i++)
    CHECK(TFE_CancellationManagerRegisterCallback(manager, TFE_CancellationManagerGetToken(manager),
                                                  &callback, NULL));
  Thread threads[4];
  for (int i = 0; i < 4; i++) CHECK(thread_start(&threads[i], cancel, manager));
  for (int i = 0; i < 4; i++) thread_join(threads[i]);
  CHECK_INT_EQ(count, 3);
  CHECK(TFE_CancellationManagerIsCancelled(manager));
  TFE_DeleteCancellationManager(manager);
}

TEST(a_tensor_of_negative_size_is_refused) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  CHECK(!TFE_AllocateHostTensor(context, TF_FLOAT, (const int64_t[]){-3}, 1, status));
  CHECK_INT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}

TEST(lists_of_shapes_ignore_indices_that_they_do_not_have) {
  TF_ShapeAndTypeList *list = TF_NewShapeAndTypeList(1);
  for (int index = -1; index <= 1; index += 2) {
    TF_ShapeAndTypeListSetShape(list, index, kMatrix, 2);
    TF_ShapeAndTypeListSetUnknownShape(list, index);
    TF_ShapeAndTypeListSetDtype(list, index, TF_FLOAT);
  }
  CHECK_INT_EQ(list->items[0].num_dims, 0);
  CHECK_INT_EQ(list->items[0].dtype, 0);
  TF_ShapeAndTypeListSetShape(list, 0, kMatrix, 2);
  TF_ShapeAndTypeListSetShape(list, 0, kOther, 2);
  CHECK_INT_EQ(list->items[0].dims[1], 4);
  CHECK(!TF_NewShapeAndTypeList(-1));
  TF_ShapeAndTypeList **array = malloc(sizeof *array);
  array[0] = list;
  TF_DeleteShapeAndTypeListArray(array, 1);
}

TEST(a_scalar_needs_as_many_bytes_as_its_type) {
  TF_Status *status = TF_NewStatus();
  double value = 1;
  static const TF_DataType types[] = {TF_FLOAT, TF_STRING, TF_RESOURCE, (TF_DataType)1000};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    CHECK(!TFE_NewTensorHandleFromScalar(types[i], &value, sizeof value, status));
    CHECK_INT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  }
  TF_DeleteStatus(status);
}

static char heard[64];

static void hear(const char *line) { strncat(heard, line, sizeof heard - strlen(heard) - 1); }

TEST(every_log_listener_hears_the_lines_of_the_log) {
  TF_RegisterLogListener(hear);
  log_line("once, ");
  TF_RegisterLogListener(hear);
  log_line("twice, ");
  log_set_sink(NULL, NULL);
  CHECK_STR_EQ(heard, "once, twice, twice, ");
}

TEST(what_needs_other_processes_is_unimplemented) {
  TF_Status *status = TF_NewStatus();
#define CHECK_UNIMPLEMENTED(call) \
  call;                           \
  CHECK_INT_EQ(TF_GetCode(status), TF_UNIMPLEMENTED)
  CHECK_UNIMPLEMENTED(CHECK(!TF_NewServer("", 0, status)));
  CHECK_UNIMPLEMENTED(TF_ServerStart(NULL, status));
  CHECK_UNIMPLEMENTED(TF_ServerStop(NULL, status));
  CHECK_UNIMPLEMENTED(TF_ServerJoin(NULL, status));
  CHECK(!TF_ServerTarget(NULL));
  TF_DeleteServer(NULL);
  CHECK_UNIMPLEMENTED(TF_RegisterFilesystemPlugin("/none", status));
  CHECK_UNIMPLEMENTED(CHECK(!TFE_GetServerDef("", status)));
  CHECK_UNIMPLEMENTED(TFE_ContextSetServerDef(NULL, 0, "", 0, status));
  CHECK_UNIMPLEMENTED(TFE_EnableCollectiveOps(NULL, "", 0, status));
  CHECK_UNIMPLEMENTED(TFE_AbortCollectiveOps(NULL, status));
  CHECK_UNIMPLEMENTED(TFE_CollectiveOpsCheckPeerHealth(NULL, "", 0, status));
  TF_DeleteStatus(status);
}
