#include "c_api/c_api_fixture.h"
#include "op/kernel_registry.h"
#include "proto/proto.h"
#include "runtime/thread_pool.h"

/* The state of the process: the ops, from the first graph on, registered kernels, and the threads. */
AFTER_EACH() {
  kernel_registry_clear();
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

TEST(the_version_names_tensorflow_and_this_library) {
  size_t length = strlen(TF_Version());
  REQUIRE(length > strlen("-0.1.0"));
  CHECK_STR_EQ(TF_Version() + length - strlen("-tfcore-0.1.0"), "-tfcore-0.1.0");
  CHECK(TF_Version()[0] >= '1' && TF_Version()[0] <= '9' && strchr(TF_Version(), '.'));
}

TEST(a_status_holds_code_and_message) {
  TF_Status *status = TF_NewStatus();
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  CHECK_STR_EQ(TF_Message(status), "");
  char message[] = "cancelled, 100 %s";
  TF_SetStatus(status, TF_CANCELLED, message);
  message[0] = 'x'; /* it was copied */
  CHECK_INT_EQ(TF_GetCode(status), TF_CANCELLED);
  CHECK_STR_EQ(TF_Message(status), "cancelled, 100 %s");
  TF_SetStatus(status, TF_DATA_LOSS, "");
  CHECK_INT_EQ(TF_GetCode(status), TF_DATA_LOSS);
  CHECK_STR_EQ(TF_Message(status), "");
  TF_SetStatus(status, TF_OK, "an OK status has no message");
  CHECK_INT_EQ(TF_GetCode(status), TF_OK);
  CHECK_STR_EQ(TF_Message(status), "");
  TF_DeleteStatus(status);
  TF_DeleteStatus(NULL);
}

TEST(a_message_that_is_too_long_is_cut) {
  TF_Status *status = TF_NewStatus();
  char message[10000];
  memset(message, 'a', sizeof message - 1);
  message[sizeof message - 1] = '\0';
  TF_SetStatus(status, TF_INTERNAL, message);
  size_t length = strlen(TF_Message(status));
  CHECK(length >= 1000 && length < sizeof message - 1);
  CHECK_STR_CONTAINS(TF_Message(status), "aaaa");
  TF_DeleteStatus(status);
}

TEST(sizes_of_types) {
  static const struct {
    TF_DataType type;
    size_t size;
  } cases[] = {{TF_FLOAT, 4},           {TF_DOUBLE, 8},       {TF_INT32, 4},        {TF_UINT8, 1},
               {TF_INT16, 2},           {TF_INT8, 1},         {TF_STRING, 0},       {TF_COMPLEX64, 8},
               {TF_INT64, 8},           {TF_BOOL, 1},         {TF_QINT8, 1},        {TF_QUINT8, 1},
               {TF_QINT32, 4},          {TF_BFLOAT16, 2},     {TF_QINT16, 2},       {TF_QUINT16, 2},
               {TF_UINT16, 2},          {TF_COMPLEX128, 16},  {TF_HALF, 2},         {TF_RESOURCE, 0},
               {TF_VARIANT, 0},         {TF_UINT32, 4},       {TF_UINT64, 8},       {(TF_DataType)0, 0},
               {(TF_DataType)24, 1},    {(TF_DataType)33, 1}, {(TF_DataType)34, 0}, {(TF_DataType)-1, 0},
               {(TF_DataType)123456, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("type %d", (int)cases[i].type);
    CHECK_INT_EQ(TF_DataTypeSize(cases[i].type), cases[i].size);
  }
}

typedef struct Released {
  int count;
  void *data;
  size_t length;
} Released;

static void note_release(void *data, size_t length, void *arg) {
  Released *released = arg;
  released->count++;
  released->data = data;
  released->length = length;
}

TEST(a_tensor_wraps_memory_and_gives_it_back_once) {
  float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t dims[] = {2, 3};
  Released released = {0};
  TF_Tensor *tensor = TF_NewTensor(TF_FLOAT, dims, 2, values, sizeof values, note_release, &released);
  REQUIRE(tensor);
  CHECK_INT_EQ(TF_TensorType(tensor), TF_FLOAT);
  CHECK_INT_EQ(TF_NumDims(tensor), 2);
  CHECK_INT_EQ(TF_Dim(tensor, 0), 2);
  CHECK_INT_EQ(TF_Dim(tensor, 1), 3);
  CHECK_INT_EQ(TF_TensorElementCount(tensor), 6);
  CHECK_INT_EQ(TF_TensorByteSize(tensor), 24);
  CHECK_MEM_EQ(TF_TensorData(tensor), values, sizeof values);
  CHECK_INT_EQ(released.count, 0);
  TF_DeleteTensor(tensor);
  CHECK_INT_EQ(released.count, 1);
  CHECK(released.data == values);
  CHECK_INT_EQ(released.length, sizeof values);
  TF_DeleteTensor(NULL);
}

TEST(memory_that_makes_no_tensor_is_given_back_too) {
  float values[6] = {0};
  static const struct {
    TF_DataType type;
    int rank;
    int64_t dims[2];
    size_t length;
  } cases[] = {
      {TF_FLOAT, 2, {2, 3}, 23},             /* too short */
      {TF_FLOAT, 2, {2, -1}, 24},            /* an invalid size */
      {TF_FLOAT, 2, {INT64_MAX, 2}, 24},     /* overflow */
      {TF_FLOAT, 2, {INT64_MAX / 8, 4}, 24}, /* only the size in bytes overflows */
      {TF_FLOAT, 255, {1, 1}, 24},           /* too many dimensions */
      {(TF_DataType)0, 1, {1}, 24},
      {(TF_DataType)99, 1, {1}, 24},
      {TF_STRING, 1, {1}, 23},  /* too short */
      {TF_VARIANT, 1, {1}, 24}, /* objects are not plain bytes */
      {TF_RESOURCE, 1, {1}, 24},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    Released released = {0};
    int64_t dims[255];
    for (int k = 0; k < 255; k++) dims[k] = k < 2 ? cases[i].dims[k] : 1;
    CHECK(
        !TF_NewTensor(cases[i].type, dims, cases[i].rank, values, cases[i].length, note_release, &released));
    CHECK_INT_EQ(released.count, 1);
    CHECK(released.data == values);
    if (cases[i].type == TF_VARIANT || cases[i].type == TF_RESOURCE) continue;
    CHECK(!TF_AllocateTensor(cases[i].type, dims, cases[i].rank, cases[i].length));
  }
}

TEST(a_tensor_without_elements_or_without_dimensions) {
  const int64_t dims[] = {3, 0, 2};
  TF_Tensor *empty = TF_AllocateTensor(TF_DOUBLE, dims, 3, 0);
  REQUIRE(empty);
  CHECK_INT_EQ(TF_TensorElementCount(empty), 0);
  CHECK_INT_EQ(TF_TensorByteSize(empty), 0);
  CHECK_INT_EQ(TF_Dim(empty, 1), 0);
  CHECK_INT_EQ(TF_Dim(empty, 3), -1);
  CHECK_INT_EQ(TF_Dim(empty, -1), -1);
  TF_DeleteTensor(empty);
  TF_Tensor *scalar = TF_AllocateTensor(TF_INT64, NULL, 0, 8);
  REQUIRE(scalar);
  CHECK_INT_EQ(TF_NumDims(scalar), 0);
  CHECK_INT_EQ(TF_TensorElementCount(scalar), 1);
  CHECK_INT_EQ(TF_TensorByteSize(scalar), 8);
  TF_DeleteTensor(scalar);
  empty = TF_NewTensor(TF_FLOAT, dims, 3, NULL, 0, NULL, NULL);
  REQUIRE(empty);
  CHECK_INT_EQ(TF_TensorElementCount(empty), 0);
  TF_DeleteTensor(empty);
}

TEST(a_tensor_of_254_dimensions_is_the_largest) {
  int64_t dims[254];
  for (int i = 0; i < 254; i++) dims[i] = 1;
  dims[253] = 2;
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT8, dims, 254, 2);
  REQUIRE(tensor);
  CHECK_INT_EQ(TF_Dim(tensor, 253), 2);
  CHECK_INT_EQ(TF_TensorElementCount(tensor), 2);
  TF_DeleteTensor(tensor);
}

TEST(a_buffer_owns_a_copy_of_a_string) {
  char text[] = "abc";
  TF_Buffer *buffer = TF_NewBufferFromString(text, 3);
  text[0] = 'x';
  REQUIRE(buffer);
  CHECK_INT_EQ(buffer->length, 3);
  CHECK_MEM_EQ(buffer->data, "abc", 3);
  CHECK(buffer->data_deallocator);
  TF_Buffer copy = TF_GetBuffer(buffer);
  CHECK(copy.data == buffer->data && copy.length == 3);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBufferFromString("", 0);
  REQUIRE(buffer);
  CHECK_INT_EQ(buffer->length, 0);
  TF_DeleteBuffer(buffer);
}

static int deallocations;
static void note_deallocation(void *data, size_t length) { deallocations += data && length == 5; }

TEST(an_empty_buffer_can_be_given_somebody_elses_bytes) {
  TF_Buffer *buffer = TF_NewBuffer();
  REQUIRE(buffer);
  CHECK(!buffer->data && buffer->length == 0 && !buffer->data_deallocator);
  TF_DeleteBuffer(buffer);
  deallocations = 0;
  buffer = TF_NewBuffer();
  *buffer = (TF_Buffer){"bytes", 5, note_deallocation};
  TF_DeleteBuffer(buffer);
  CHECK_INT_EQ(deallocations, 1);
  buffer = TF_NewBuffer();
  *buffer = (TF_Buffer){"bytes", 5, NULL}; /* not owned */
  TF_DeleteBuffer(buffer);
  TF_DeleteBuffer(NULL);
}

TEST(an_output_buffer_must_be_empty) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Buffer *buffer = TF_NewBufferFromString("abc", 3);
  TF_GraphToGraphDef(f.graph, buffer, f.status);
  CHECK_TF_ERROR(f.status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
  CHECK_MEM_EQ(buffer->data, "abc", 3);
  TF_DeleteBuffer(buffer);
  end(&f);
}

TEST(the_list_of_all_ops_is_sorted_and_complete) {
  TF_Buffer *buffer = TF_GetAllOpList();
  REQUIRE(buffer);
  Arena *arena = arena_new();
  Status status;
  status_init(&status);
  void *message;
  if (CHECK_OK(proto_parse(kOpList, buffer->data, buffer->length, arena, &message, &status), status)) {
    const OpList *list = message;
    CHECK(list->n_op > 30);
    bool found = false;
    for (size_t i = 0; i < list->n_op; i++) {
      CHECK(list->op[i]->name[0] != '_');
      if (i > 0) CHECK(strcmp(list->op[i - 1]->name, list->op[i]->name) < 0);
      if (strcmp(list->op[i]->name, "MatMul") != 0) continue;
      found = true;
      CHECK_INT_EQ(list->op[i]->n_input_arg, 2);
      CHECK_STR_EQ(list->op[i]->output_arg[0]->name, "product");
    }
    CHECK(found);
  }
  arena_free(arena);
  TF_DeleteBuffer(buffer);
}
