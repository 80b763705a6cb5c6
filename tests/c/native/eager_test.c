/* Eager execution where TensorFlow gives no answer to compare with: wrong numbers of inputs, memory that runs
 * out, and threads that share a context. The rest is in eager_transcript.c. */
#include <string.h>

#include "base/sync.h"
#include "c_api/c_api_internal.h"
#include "harness.h"
#include "shortage.h"
#include "tensorflow/c/eager/c_api.h"

static TFE_TensorHandle *vector(TF_Status *status, float first) {
  const int64_t dims[] = {2};
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, dims, 1, 2 * sizeof(float));
  if (!tensor) return NULL;
  float *values = TF_TensorData(tensor);
  values[0] = first;
  values[1] = first + 1;
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}

/* x + y; NULL on error. */
static TFE_TensorHandle *add(TFE_Context *context, TFE_TensorHandle *x, TFE_TensorHandle *y,
                             TF_Status *status) {
  TFE_TensorHandle *sum = NULL;
  int count = 1;
  TFE_Op *op = TFE_NewOp(context, "AddV2", status);
  if (op) TFE_OpAddInput(op, x, status);
  if (TF_GetCode(status) == TF_OK) TFE_OpAddInput(op, y, status);
  if (TF_GetCode(status) == TF_OK) TFE_Execute(op, &sum, &count, status);
  TFE_DeleteOp(op);
  return sum;
}

static float first_value(TFE_TensorHandle *handle) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *tensor = TFE_TensorHandleResolve(handle, status);
  float value = *(const float *)TF_TensorData(tensor);
  TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
  return value;
}

TEST(a_call_with_a_wrong_number_of_inputs_is_refused) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  TFE_TensorHandle *x = vector(status, 1), *result = NULL;
  TFE_Op *op = TFE_NewOp(context, "AddV2", status);
  for (int inputs = 0; inputs <= 3; inputs++) {
    int count = 1;
    TFE_Execute(op, &result, &count, status);
    CHECK_INT_EQ(TF_GetCode(status), inputs == 2 ? TF_OK : TF_INVALID_ARGUMENT);
    TFE_DeleteTensorHandle(result);
    result = NULL;
    TFE_OpAddInput(op, x, status);
  }
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(x);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}

TEST(the_inputs_of_a_list_without_its_length_are_those_that_other_arguments_leave) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  TFE_TensorHandle *x = vector(status, 1), *result = NULL;
  TFE_Op *op = TFE_NewOp(context, "Pack", status);
  int count = 1;
  for (int i = 0; i < 3; i++) TFE_OpAddInput(op, x, status);
  CHECK_INT_EQ(TFE_OpGetInputLength(op, "values", status), 3);
  TFE_Execute(op, &result, &count, status);
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  CHECK_INT_EQ(TFE_TensorHandleDim(result, 0, status), 3);
  CHECK_INT_EQ(TFE_TensorHandleDim(result, 7, status), -1);
  CHECK_INT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TFE_DeleteTensorHandle(result);
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(x);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}

TEST(handles_outlive_their_context) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  TFE_TensorHandle *x = vector(status, 1), *sum = add(context, x, x, status);
  TFE_DeleteContext(context);
  CHECK(sum && first_value(sum) == 2);
  TFE_DeleteTensorHandle(sum);
  TFE_DeleteTensorHandle(x);
  TF_DeleteStatus(status);
}

TEST(an_eager_op_without_enough_memory_says_so) {
  Shortage shortage = {.what = "an eager op", .most = 100};
  do {
    TF_Status *status = TF_NewStatus();
    TFE_Context *context = TFE_NewContext(NULL, status);
    TFE_TensorHandle *x = vector(status, 1);
    shortage_begin(&shortage);
    TFE_TensorHandle *sum = add(context, x, x, status);
    shortage_end(&shortage, sum, (Code)TF_GetCode(status));
    if (sum) CHECK(first_value(sum) == 2);
    TFE_DeleteTensorHandle(sum);
    TFE_DeleteTensorHandle(x);
    TFE_DeleteContext(context);
    TF_DeleteStatus(status);
  } while (shortage_next(&shortage));
}

typedef struct Worker {
  TFE_Context *context;
  float first;
  int wrong;
} Worker;

static void *work(void *arg) {
  Worker *worker = arg;
  TF_Status *status = TF_NewStatus();
  TFE_TensorHandle *x = vector(status, worker->first);
  for (int i = 0; i < 50; i++) {
    TFE_TensorHandle *sum = add(worker->context, x, x, status);
    worker->wrong += !sum || first_value(sum) != 2 * worker->first;
    TFE_DeleteTensorHandle(sum);
  }
  TFE_DeleteTensorHandle(x);
  TF_DeleteStatus(status);
  return NULL;
}

TEST(threads_share_a_context) {
  TF_Status *status = TF_NewStatus();
  TFE_Context *context = TFE_NewContext(NULL, status);
  enum { WORKERS = 4 };
  Worker workers[WORKERS];
  Thread threads[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    workers[i] = (Worker){context, (float)i, 0};
    REQUIRE(thread_start(&threads[i], work, &workers[i]));
  }
  for (int i = 0; i < WORKERS; i++) {
    thread_join(threads[i]);
    CHECK_INT_EQ(workers[i].wrong, 0);
  }
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}
