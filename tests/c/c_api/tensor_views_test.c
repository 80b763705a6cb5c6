/* Tensors over the program's own memory, string elements, statuses: cases that are not in
 * tests/c/c_api/user_program.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "c_api/c_api_fixture.h"
#include "runtime/thread_pool.h"
#include "tensorflow/c/c_api_experimental.h"

typedef struct Freed {
  int count;
} Freed;

static void free_strings(void *data, size_t length, void *arg) {
  for (size_t i = 0; i < length / sizeof(TF_TString); i++) TF_StringDealloc((TF_TString *)data + i);
  ((Freed *)arg)->count++;
}

static bool string_is(const TF_TString *string, const char *want) {
  return CHECK_INT_EQ(TF_StringGetSize(string), strlen(want)) &&
         CHECK_MEM_EQ(TF_StringGetDataPointer(string), want, strlen(want));
}

static const char kLong[] = "a text that is too long to lie in the element itself";

TEST(strings_in_memory_of_the_programs_own) {
  Fixture f;
  REQUIRE(begin(&f));
  Freed freed = {0};
  TF_TString strings[2];
  TF_StringInit(&strings[0]);
  TF_StringInit(&strings[1]);
  TF_StringCopy(&strings[0], kLong, strlen(kLong));
  TF_StringCopy(&strings[1], "b", 1);
  TF_Tensor *tensor =
      TF_NewTensor(TF_STRING, (int64_t[]){2}, 1, strings, sizeof strings, free_strings, &freed);
  REQUIRE(tensor);
  CHECK(TF_TensorData(tensor) == strings);
  TF_Output x = placeholder_of(&f, "x", TF_STRING, 1, (int64_t[]){2});
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *result = fetch(&f, session, x, tensor, unary(&f, "Identity", "y", x));
  if (CHECK_TF_OK(f.status)) string_is((TF_TString *)TF_TensorData(result), kLong);
  TF_DeleteTensor(tensor);
  CHECK_INT_EQ(freed.count, 0); /* the result still refers to them */
  TF_DeleteTensor(result);
  CHECK_INT_EQ(freed.count, 1);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(strings_change_their_kind_as_they_are_set) {
  TF_TString string;
  TF_TString_Init(&string); /* TensorFlow's other names */
  CHECK_INT_EQ(TF_TString_GetSize(&string), 0);
  for (int length = 0; length < 200; length += 7) {
    char text[200];
    memset(text, 'a' + length % 26, sizeof text);
    TF_TString_Copy(&string, text, (size_t)length);
    CHECK_INT_EQ(TF_TString_GetType(&string), length <= 22 ? TF_TSTR_SMALL : TF_TSTR_LARGE);
    CHECK(TF_TString_GetCapacity(&string) >= (size_t)length);
    CHECK_INT_EQ(TF_TString_GetSize(&string), length);
    CHECK_MEM_EQ(TF_TString_GetDataPointer(&string), text, (size_t)length);
  }
  TF_TString_AssignView(&string, kLong, 5);
  CHECK_INT_EQ(TF_TString_GetType(&string), TF_TSTR_VIEW);
  /* Of itself. */
  TF_TString_Copy(&string, kLong, strlen(kLong));
  TF_TString_Copy(&string, TF_TString_GetDataPointer(&string) + 2, 30);
  CHECK_MEM_EQ(TF_TString_GetDataPointer(&string), kLong + 2, 30);
  /* Without memory it is unchanged. */
  mem_fail_after(0);
  TF_TString_Copy(&string, kLong, strlen(kLong));
  mem_fail_after(-1);
  CHECK_INT_EQ(TF_TString_GetSize(&string), 30);
  TF_TString_Dealloc(&string);
  TF_TString_Dealloc(&string);
}

TEST(string_attrs_hold_any_bytes) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Tensor *value = TF_AllocateTensor(TF_STRING, (int64_t[]){3}, 1, 3 * sizeof(TF_TString));
  TF_TString *strings = TF_TensorData(value);
  TF_StringCopy(&strings[0], "\0\xff", 2);
  TF_StringAssignView(&strings[2], kLong, strlen(kLong));
  TF_Output c = constant_of(&f, "c", value);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_Tensor *result = fetch(&f, session, kNone, NULL, c);
  if (CHECK_TF_OK(f.status)) {
    const TF_TString *got = TF_TensorData(result);
    if (CHECK_INT_EQ(TF_StringGetSize(&got[0]), 2))
      CHECK_MEM_EQ(TF_StringGetDataPointer(&got[0]), "\0\xff", 2);
    string_is(&got[1], "");
    string_is(&got[2], kLong);
  }
  TF_DeleteTensor(result);
  TF_DeleteSession(session, f.status);
  end(&f);
}

static void count_free(void *data, size_t length, void *arg) {
  (void)data;
  (void)length;
  ((Freed *)arg)->count++;
}

TEST(views_of_a_tensor_keep_its_memory) {
  Fixture f;
  REQUIRE(begin(&f));
  Freed freed = {0};
  _Alignas(64) double values[4] = {1, 2, 3, 4};
  TF_Tensor *tensor = TF_NewTensor(TF_DOUBLE, (int64_t[]){4}, 1, values, sizeof values, count_free, &freed);
  TF_Tensor *view = float_scalar(1);
  CHECK(TF_TensorIsAligned(tensor));
  TF_TensorBitcastFrom(tensor, TF_UINT8, view, (int64_t[]){2, 16}, 2, f.status);
  CHECK_TF_OK(f.status);
  CHECK(!TF_TensorMaybeMove(tensor));
  TF_DeleteTensor(tensor);
  CHECK_INT_EQ(freed.count, 0);
  CHECK_MEM_EQ(TF_TensorData(view), values, sizeof values);
  CHECK(TF_TensorMaybeMove(view) == view);

  static const struct {
    TF_DataType type;
    int rank;
    int64_t dims[2];
    const char *message;
  } cases[] = {
      {TF_UINT8, 1, {31, 0}, "input and output shapes/data type sizes are not compatible"},
      {TF_UINT8, 2, {-1, -32}, "Expected a non-negative size"},
      {TF_UINT8, -1, {0, 0}, ""},
      {TF_INT64, 2, {(int64_t)1 << 61, 2}, ""},
      {TF_RESOURCE, 1, {4, 0}, "specified output type is zero-sized"},
      {(TF_DataType)-5, 1, {4, 0}, "specified output type is zero-sized"},
      {(TF_DataType)77, 1, {4, 0}, "specified output type is zero-sized"},
      {(TF_DataType)101, 1, {4, 0}, "specified output type is zero-sized"},
  };
  TF_Tensor *other = float_scalar(5);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    TF_TensorBitcastFrom(view, cases[i].type, other, cases[i].dims, cases[i].rank, f.status);
    CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, cases[i].message);
    CHECK_NEAR(*(float *)TF_TensorData(other), 5, 0);
  }
  TF_Tensor *strings = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(TF_TString));
  TF_TensorBitcastFrom(strings, TF_UINT8, other, (int64_t[]){24}, 1, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "other tensor has zero-sized data type");
  TF_DeleteTensor(strings);

  /* Incompatible shapes change nothing. */
  TF_SetShape(view, (int64_t[]){31}, 1);
  TF_SetShape(view, (int64_t[]){-32}, 1);
  TF_SetShape(view, NULL, -1);
  CHECK_INT_EQ(TF_NumDims(view), 2);
  TF_SetShape(view, (int64_t[]){4, 1, 8}, 3);
  CHECK_INT_EQ(TF_NumDims(view), 3);
  CHECK_INT_EQ(TF_Dim(view, 2), 8);
  TF_DeleteTensor(other);
  TF_DeleteTensor(view);
  CHECK_INT_EQ(freed.count, 1);
  end(&f);
}

TEST(tensors_from_protos) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Tensor *to = float_scalar(5);
  /* dtype float, shape [2^40]: too large to be had. */
  TF_Buffer *proto =
      TF_NewBufferFromString("\x08\x01\x12\x09\x12\x07\x08\x80\x80\x80\x80\x80\x20\x2d\x00\x00\x80\x3f", 18);
  TF_TensorFromProto(proto, to, f.status);
  CHECK_TF_ERROR(f.status, TF_RESOURCE_EXHAUSTED, "OOM when allocating tensor");
  CHECK_NEAR(*(float *)TF_TensorData(to), 5, 0);
  TF_DeleteBuffer(proto);
  proto = TF_NewBufferFromString("", 0); /* no type */
  TF_TensorFromProto(proto, to, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "");
  TF_DeleteBuffer(proto);
  TF_DeleteTensor(to);
  end(&f);
}

TEST(errors_of_the_system_have_tensorflows_codes) {
  TF_Status *status = TF_NewStatus();
  static const struct {
    int error;
    TF_Code code;
  } cases[] = {
      {0, TF_OK},
      {EINVAL, TF_INVALID_ARGUMENT},
      {ETIMEDOUT, TF_DEADLINE_EXCEEDED},
      {ENOENT, TF_NOT_FOUND},
      {EEXIST, TF_ALREADY_EXISTS},
      {EACCES, TF_PERMISSION_DENIED},
      {ENOTDIR, TF_FAILED_PRECONDITION},
      {ENOSPC, TF_RESOURCE_EXHAUSTED},
      {ERANGE, TF_OUT_OF_RANGE},
      {ENOSYS, TF_UNIMPLEMENTED},
      {ECONNREFUSED, TF_UNAVAILABLE},
      {EDEADLK, TF_ABORTED},
      {ECANCELED, TF_CANCELLED},
      {EIO, TF_UNKNOWN},
      {EAGAIN, TF_UNAVAILABLE},
      {EPIPE, TF_FAILED_PRECONDITION},
      {EILSEQ, TF_INVALID_ARGUMENT},
      {EADDRNOTAVAIL, TF_ALREADY_EXISTS},
      {ENOMEM, TF_RESOURCE_EXHAUSTED},
      {EXDEV, TF_UNIMPLEMENTED},
      {123456, TF_UNKNOWN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("errno %d", cases[i].error);
    TF_SetPayload(status, "old", "value");
    TF_SetStatusFromIOError(status, cases[i].error, "context");
    CHECK_INT_EQ(TF_GetCode(status), cases[i].code);
    char want[200];
    snprintf(want, sizeof want, "context; %s", strerror(cases[i].error));
    CHECK_STR_EQ(TF_Message(status), cases[i].code == TF_OK ? "" : want);
  }
  TF_DeleteStatus(status);
}

static void count_payload(const char *key, const char *value, void *capture) {
  CHECK_STR_EQ(key, "k");
  CHECK_STR_EQ(value, "first");
  ++*(int *)capture;
}

TEST(payloads_without_memory_change_nothing) {
  TF_Status *status = TF_NewStatus();
  TF_SetStatus(status, TF_INTERNAL, "x");
  TF_SetPayload(status, "k", "first");
  for (int successes = 0; successes < 3; successes++) {
    mem_fail_after(successes);
    TF_SetPayload(status, "other", "second");
    if (successes == 0) TF_SetPayload(status, "k", "second");
    mem_fail_after(-1);
  }
  int count = 0;
  TF_ForEachPayload(status, count_payload, &count);
  CHECK_INT_EQ(count, 1);
  TF_DeleteStatus(status);
}

TEST(the_first_session_says_how_many_threads_work) {
  Fixture f;
  REQUIRE(begin(&f));
  thread_pool_shut_down();
  const Parallel *pool = thread_pool_default();
  int threads = pool ? pool->threads : 0;
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, "\x10\x03", 2, f.status);
  CHECK_TF_OK(f.status);
  TF_Session *session = TF_NewSession(f.graph, options, f.status);
  CHECK_TF_OK(f.status);
  CHECK_INT_EQ(pool ? pool->threads : 0, threads); /* the pool existed already */
  mem_fail_after(0);
  TF_SetConfig(options, "\x10\x03", 2, f.status);
  mem_fail_after(-1);
  CHECK_TF_ERROR(f.status, TF_RESOURCE_EXHAUSTED, "");
  TF_DeleteSessionOptions(options);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(colocation_with_nodes_elsewhere_can_be_allowed) {
  for (int validate = 0; validate < 2; validate++) {
    Fixture f = {0}, from = {0};
    REQUIRE(begin(&f) && begin(&from));
    TF_OperationDescription *desc = TF_NewOperation(from.graph, "NoOp", "n");
    TF_SetAttrStringList(desc, "_class", (const void *[]){"loc:@missing"}, (size_t[]){12}, 1);
    finish(&from, desc);
    TF_Buffer *bytes = graph_bytes(&from, from.graph);
    TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
    TF_ImportGraphDefOptionsSetValidateColocationConstraints(options, (unsigned char)validate);
    TF_GraphImportGraphDef(f.graph, bytes, options, f.status);
    if (validate) {
      CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT,
                     "Node 'n' expects to be colocated with unknown node 'missing'");
    } else {
      CHECK_TF_OK(f.status);
    }
    TF_DeleteImportGraphDefOptions(options);
    TF_DeleteBuffer(bytes);
    end(&from);
    end(&f);
  }
}

TEST(ops_tell_whether_they_have_state) {
  TF_Status *status = TF_NewStatus();
  CHECK_INT_EQ(TF_OpIsStateful("VarHandleOp", status), 1);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_OpIsStateful("Add", status), 0);
  CHECK_TF_OK(status);
  CHECK_INT_EQ(TF_OpIsStateful("NoSuchOp", status), 0);
  CHECK_TF_ERROR(status, TF_NOT_FOUND, "Op type not registered 'NoSuchOp'");
  TF_DeleteStatus(status);
}
