/* Builds small graphs through the C API with one line per operation, and checks a TF_Status. Any error fails
 * the test and gives {NULL, 0}. */
#ifndef TFCORE_TESTS_C_API_C_API_FIXTURE_H_
#define TFCORE_TESTS_C_API_C_API_FIXTURE_H_

#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensorflow/c/c_api.h"

static inline bool check_tf_ok(const TF_Status *status, const char *file, int line) {
  return harness_check_str(TF_Message(status), "", file, line, "the message") &&
         harness_check_int(TF_GetCode(status), TF_OK, file, line, "the code");
}

static inline bool check_tf_error(const TF_Status *status, TF_Code code, const char *part, const char *file,
                                  int line) {
  bool same_code = harness_check_int(TF_GetCode(status), code, file, line, "the code");
  return harness_check_contains(TF_Message(status), part, file, line, "the message") && same_code;
}

#define CHECK_TF_OK(status) check_tf_ok((status), __FILE__, __LINE__)
#define CHECK_TF_ERROR(status, code, part) check_tf_error((status), (code), (part), __FILE__, __LINE__)

/* A graph, and the status of the last call. */
typedef struct Fixture {
  TF_Graph *graph;
  TF_Status *status;
} Fixture;

static inline bool begin(Fixture *f) {
  *f = (Fixture){TF_NewGraph(), TF_NewStatus()};
  return CHECK(f->graph && f->status);
}

/* The same, for ops without shape functions. As in TensorFlow, graphs refuse these by default. */
static inline bool begin_lenient(Fixture *f) {
  if (!begin(f)) return false;
  TF_SetRequireShapeInferenceFns(f->graph, false);
  return true;
}

static inline void end(Fixture *f) {
  TF_DeleteGraph(f->graph);
  TF_DeleteStatus(f->status);
}

static const TF_Output kNone = {NULL, 0};

static inline TF_Output finish(Fixture *f, TF_OperationDescription *desc) {
  TF_Operation *operation = TF_FinishOperation(desc, f->status);
  CHECK_TF_OK(f->status);
  return (TF_Output){operation, 0};
}

static inline TF_Output op(Fixture *f, const char *type, const char *name, int num_inputs,
                           const TF_Output *inputs) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, type, name);
  for (int i = 0; i < num_inputs; i++) TF_AddInput(desc, inputs[i]);
  return finish(f, desc);
}

static inline TF_Output unary(Fixture *f, const char *type, const char *name, TF_Output x) {
  return op(f, type, name, 1, &x);
}

static inline TF_Output binary(Fixture *f, const char *type, const char *name, TF_Output x, TF_Output y) {
  return op(f, type, name, 2, (TF_Output[]){x, y});
}

/* Rank -1: unknown. */
static inline TF_Output placeholder_of(Fixture *f, const char *name, TF_DataType type, int rank,
                                       const int64_t *dims) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  TF_SetAttrShape(desc, "shape", dims, rank);
  return finish(f, desc);
}

static inline TF_Output placeholder(Fixture *f, const char *name) {
  return placeholder_of(f, name, TF_FLOAT, -1, NULL);
}

static inline TF_Tensor *tensor_of(TF_DataType type, int rank, const int64_t *dims, const void *values,
                                   size_t size) {
  TF_Tensor *tensor = TF_AllocateTensor(type, dims, rank, size);
  if (CHECK(tensor) && size > 0) memcpy(TF_TensorData(tensor), values, size);
  return tensor;
}

static inline TF_Tensor *float_vector(int64_t count, const float *values) {
  return tensor_of(TF_FLOAT, 1, &count, values, sizeof(float) * (size_t)count);
}

static inline TF_Tensor *float_scalar(float value) {
  return tensor_of(TF_FLOAT, 0, NULL, &value, sizeof value);
}

/* Takes ownership of the tensor. */
static inline TF_Output constant_of(Fixture *f, const char *name, TF_Tensor *value) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Const", name);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  TF_SetAttrTensor(desc, "value", value, f->status);
  CHECK_TF_OK(f->status);
  TF_DeleteTensor(value);
  return finish(f, desc);
}

static inline TF_Output constant(Fixture *f, const char *name, float value) {
  return constant_of(f, name, float_scalar(value));
}

/* A handle of a float variable. */
static inline TF_Output variable(Fixture *f, const char *name, int rank, const int64_t *dims) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "VarHandleOp", name);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", dims, rank);
  return finish(f, desc);
}

static inline TF_Output read_variable(Fixture *f, const char *name, TF_Output handle) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "ReadVariableOp", name);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_AddInput(desc, handle);
  return finish(f, desc);
}

/* The value of one output with at most one feed; NULL when the run failed, and then the status has the
 * error. */
static inline TF_Tensor *fetch(Fixture *f, TF_Session *session, TF_Output feed, TF_Tensor *value,
                               TF_Output output) {
  TF_Tensor *result = NULL;
  TF_SessionRun(session, NULL, &feed, &value, feed.oper ? 1 : 0, &output, &result, 1, NULL, 0, NULL,
                f->status);
  return result;
}

/* The first element of a float output, NaN when the run failed. */
static inline float fetch_float(Fixture *f, TF_Session *session, TF_Output feed, TF_Tensor *value,
                                TF_Output output) {
  TF_Tensor *result = fetch(f, session, feed, value, output);
  float first = __builtin_nanf("");
  if (CHECK_TF_OK(f->status) && CHECK_INT_EQ(TF_TensorType(result), TF_FLOAT) &&
      CHECK(TF_TensorElementCount(result) > 0)) {
    first = *(float *)TF_TensorData(result);
  }
  TF_DeleteTensor(result);
  return first;
}

static inline void run_target(Fixture *f, TF_Session *session, TF_Operation *target) {
  const TF_Operation *targets[] = {target};
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, targets, 1, NULL, f->status);
}

/* The whole graph, serialised; the caller deletes it. */
static inline TF_Buffer *graph_bytes(Fixture *f, TF_Graph *graph) {
  TF_Buffer *bytes = TF_NewBuffer();
  TF_GraphToGraphDef(graph, bytes, f->status);
  CHECK_TF_OK(f->status);
  return bytes;
}

static inline int num_operations(TF_Graph *graph) {
  int count = 0;
  for (size_t pos = 0; TF_GraphNextOperation(graph, &pos);) count++;
  return count;
}

#endif
