#include "tensor/tensor.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"

static Status status;

TEST(tensors_of_every_type) {
  static const int64_t dims[] = {2, 3};
  BufferPool *pool = buffer_pool_new();
  for (int dtype = 1; dtype < NUM_DTYPES; dtype++) {
    CHECK_CONTEXT("%s", dtype_name(dtype));
    for (int pooled = 0; pooled < 2; pooled++) {
      Tensor tensor = {0};
      CHECK(tensor_is_empty(&tensor));
      REQUIRE_OK(tensor_allocate_dims(&tensor, (DataType)dtype, 2, dims, pooled ? pool : NULL, &status),
                 status);
      CHECK(!tensor_is_empty(&tensor) && !tensor_is_scalar(&tensor) && !tensor_is_vector(&tensor));
      CHECK_INT_EQ(tensor_num_elements(&tensor), 6);
      CHECK_INT_EQ(tensor_bytes(&tensor), 6 * (int64_t)dtype_size(dtype));
      if (dtype_is_pod(dtype)) {
        memset(tensor.data, 1, (size_t)tensor_bytes(&tensor));
      } else {
        for (size_t i = 0; i < 6 * dtype_size(dtype); i++) CHECK_INT_EQ(((char *)tensor.data)[i], 0);
      }
      tensor_clear(&tensor);
      CHECK(tensor_is_empty(&tensor) && !tensor.data);
    }
  }
  buffer_pool_release(pool);
}

TEST(tensors_without_elements_have_data) {
  static const int64_t dims[] = {0, 7};
  Tensor tensor = {0};
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_FLOAT, 2, dims, NULL, &status), status);
  CHECK(tensor.data);
  CHECK_INT_EQ(tensor_bytes(&tensor), 0);
  tensor_clear(&tensor);
}

TEST(what_cannot_be_allocated_is_refused_and_changes_nothing) {
  static const int64_t too_many[] = {INT64_MAX / 4}, too_large[] = {2, INT64_MAX / 32}, small[] = {2, 3};
  Tensor tensor = {0};
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_INT32, 0, NULL, NULL, &status), status);
  CHECK_ERROR(tensor_allocate_dims(&tensor, DT_DOUBLE, 1, too_many, NULL, &status), status,
              CODE_INVALID_ARGUMENT, "has more than 2**63 - 1 bytes");
  CHECK_ERROR(tensor_allocate_dims(&tensor, DT_FLOAT, 2, too_large, NULL, &status), status,
              CODE_RESOURCE_EXHAUSTED,
              "OOM when allocating tensor with shape[2,288230376151711743] and type float");
  CHECK_ERROR(tensor_allocate_dims(&tensor, DT_INVALID, 0, NULL, NULL, &status), status,
              CODE_INVALID_ARGUMENT, "dtype 0");
  CHECK_ERROR(tensor_allocate_dims(&tensor, (DataType)101, 0, NULL, NULL, &status), status,
              CODE_INVALID_ARGUMENT, "dtype 101");
  mem_fail_after(0);
  bool ok = tensor_allocate_dims(&tensor, DT_FLOAT, 2, small, NULL, &status);
  mem_fail_after(-1);
  CHECK_ERROR(ok, status, CODE_RESOURCE_EXHAUSTED,
              "OOM when allocating tensor with shape[2,3] and type float");
  CHECK_INT_EQ(tensor.dtype, DT_INT32);
  CHECK(tensor_is_scalar(&tensor));
  tensor_clear(&tensor);
}

TEST(assigning_and_reshaping_share_the_buffer) {
  static const int64_t dims[] = {2, 6}, other[] = {3, 4}, wrong[] = {5};
  Tensor a = {0}, b = {0};
  Shape shape = {0};
  REQUIRE_OK(tensor_allocate_dims(&a, DT_INT32, 2, dims, NULL, &status), status);
  tensor_i32(&a)[11] = 42;
  REQUIRE_OK(tensor_assign(&b, &a, &status), status);
  CHECK(b.buffer == a.buffer && b.data == a.data && !buffer_is_unshared(a.buffer));
  REQUIRE_OK(shape_set(&shape, 2, other, &status), status);
  REQUIRE_OK(tensor_reshape(&a, &a, &shape, &status), status);
  CHECK_INT_EQ(shape_dim(&a.shape, 1), 4);
  CHECK_INT_EQ(shape_dim(&b.shape, 1), 6);
  REQUIRE_OK(shape_set(&shape, 1, wrong, &status), status);
  CHECK_ERROR(tensor_reshape(&b, &a, &shape, &status), status, CODE_INVALID_ARGUMENT,
              "Input to reshape is a tensor with 12 values, but the requested shape has 5");
  REQUIRE_OK(tensor_assign(&a, &a, &status), status);
  tensor_clear(&a);
  CHECK(buffer_is_unshared(b.buffer));
  CHECK_INT_EQ(tensor_int_at(&b, 11), 42);
  tensor_move(&a, &b);
  CHECK(tensor_is_empty(&b));
  tensor_move(&a, &a);
  CHECK_INT_EQ(tensor_int_at(&a, 11), 42);
  REQUIRE_OK(tensor_assign(&a, &b, &status), status); /* an empty one */
  CHECK(tensor_is_empty(&a) && !a.buffer);
  REQUIRE_OK(tensor_copy(&a, &b, NULL, &status), status);
  CHECK(tensor_is_empty(&a));
  shape_clear(&shape);
}

TEST(strings_are_owned_and_copied_deeply) {
  static const char long_text[] = "more than what fits into an element";
  static const int64_t dims[] = {2};
  BufferPool *pool = buffer_pool_new();
  Tensor a = {0}, b = {0};
  REQUIRE_OK(tensor_allocate_dims(&a, DT_STRING, 1, dims, pool, &status), status);
  CHECK_OK(tstring_set(&tensor_strings(&a)[0], "a\0b", 3, &status), status);
  CHECK_OK(tstring_set(&tensor_strings(&a)[0], long_text, sizeof long_text, &status), status);
  REQUIRE_OK(tensor_copy(&b, &a, pool, &status), status);
  CHECK_OK(tstring_set(&tensor_strings(&a)[0], "", 0, &status), status);
  CHECK_INT_EQ(tstring_view(&tensor_strings(&a)[0]).length, 0);
  CHECK_INT_EQ(tstring_view(&tensor_strings(&b)[0]).length, sizeof long_text);
  CHECK_STR_EQ(tstring_view(&tensor_strings(&b)[0]).data, long_text);
  CHECK_INT_EQ(tstring_view(&tensor_strings(&b)[1]).length, 0);
  for (int n = 0; n < 2; n++) {
    Tensor c = {0};
    mem_fail_after(n);
    bool ok = tensor_copy(&c, &b, NULL, &status);
    mem_fail_after(-1);
    CHECK_ERROR(ok, status, CODE_RESOURCE_EXHAUSTED, "");
    CHECK(tensor_is_empty(&c));
  }
  tensor_clear(&a);
  tensor_clear(&b);
  REQUIRE_OK(tensor_allocate_dims(&a, DT_STRING, 1, dims, pool, &status),
             status); /* reused memory has no old strings */
  CHECK_INT_EQ(tstring_view(&tensor_strings(&a)[0]).length, 0);
  tensor_clear(&a);
  buffer_pool_release(pool);
}

/* The caller owns the elements of wrapped memory: the tensor frees none of them. */
TEST(strings_of_the_caller) {
  static const char text[] = "a string that has bytes on the heap";
  static const int64_t dims[] = {2};
  TString strings[2] = {0};
  Tensor wrapped = {0}, copy = {0};
  CHECK_OK(tstring_set(&strings[0], text, sizeof text, &status), status);
  tstring_assign_view(&strings[1], text, 8);
  REQUIRE_OK(tensor_wrap(&wrapped, DT_STRING, 1, dims, strings, sizeof strings, NULL, NULL, &status), status);
  CHECK(tensor_strings(&wrapped) == strings && !buffer_is_unshared(wrapped.buffer));
  REQUIRE_OK(tensor_copy(&copy, &wrapped, NULL, &status), status);
  tensor_clear(&wrapped);
  CHECK_STR_EQ(tstring_view(&strings[0]).data, text);
  tstring_free(&strings[0]);
  CHECK_STR_EQ(tstring_view(&tensor_strings(&copy)[0]).data, text);
  CHECK_STR_EQ(tstring_view(&tensor_strings(&copy)[1]).data, "a string");
  CHECK_INT_EQ(tstring_type(&tensor_strings(&copy)[1]), TSTRING_SMALL);
  tensor_clear(&copy);
}

typedef struct Counted {
  TensorObject object;
  int *alive;
} Counted;

static void destroy_counted(TensorObject *object) {
  --*((Counted *)object)->alive;
  mem_free(object);
}

TEST(objects_live_as_long_as_a_tensor_holds_them) {
  static const int64_t dims[] = {3};
  int alive = 1;
  Counted *object = mem_calloc(1, sizeof *object);
  object->object.destroy = destroy_counted;
  object->alive = &alive;
  atomic_init(&object->object.references, 1);
  Tensor a = {0}, b = {0};
  REQUIRE_OK(tensor_allocate_dims(&a, DT_RESOURCE, 1, dims, NULL, &status), status);
  ((TensorObject **)a.data)[1] = &object->object; /* the tensor takes over the reference */
  REQUIRE_OK(tensor_copy(&b, &a, NULL, &status), status);
  CHECK(((TensorObject **)b.data)[1] == &object->object);
  tensor_clear(&a);
  CHECK_INT_EQ(alive, 1);
  tensor_object_ref(&object->object);
  tensor_clear(&b);
  CHECK_INT_EQ(alive, 1);
  tensor_object_unref(&object->object);
  CHECK_INT_EQ(alive, 0);
  tensor_object_unref(NULL);
}

static int releases;
static void count_release(void *data, size_t size, void *argument) {
  (void)data;
  CHECK_INT_EQ(size, *(int *)argument);
  releases++;
}

TEST(wrapping_memory) {
  static const int64_t dims[] = {2, 2};
  _Alignas(8) char memory[40] = {0};
  int size = 32;
  releases = 0;
  Tensor tensor = {0};
  REQUIRE_OK(tensor_wrap(&tensor, DT_DOUBLE, 2, dims, memory, size, count_release, &size, &status), status);
  CHECK(tensor.data == memory);
  tensor_f64(&tensor)[3] = 1.5;
  tensor_clear(&tensor);
  CHECK_INT_EQ(releases, 1);
  /* Where doubles cannot be read in place they are copied, and the wrapped memory is released at once. */
  double values[] = {1, 2, 3, 4};
  memcpy(memory + 1, values, sizeof values);
  REQUIRE_OK(tensor_wrap(&tensor, DT_DOUBLE, 2, dims, memory + 1, size, count_release, &size, &status),
             status);
  CHECK_INT_EQ(releases, 2);
  CHECK_MEM_EQ(tensor.data, values, sizeof values);
  /* Errors: the caller keeps the memory, and the tensor is unchanged. */
  CHECK_ERROR(tensor_wrap(&tensor, DT_DOUBLE, 2, dims, memory, 31, count_release, &size, &status), status,
              CODE_INVALID_ARGUMENT, "31 bytes are not enough for a tensor with shape [2,2] and type double");
  CHECK_ERROR(tensor_wrap(&tensor, DT_DOUBLE, 2, dims, NULL, 32, count_release, &size, &status), status,
              CODE_INVALID_ARGUMENT, "0 bytes are not enough");
  CHECK_ERROR(tensor_wrap(&tensor, DT_RESOURCE, 0, NULL, memory, 32, count_release, &size, &status), status,
              CODE_INVALID_ARGUMENT, "cannot be wrapped as a tensor of type resource");
  CHECK_ERROR(tensor_wrap(&tensor, DT_STRING, 0, NULL, memory + 1, 32, count_release, &size, &status), status,
              CODE_INVALID_ARGUMENT, "Strings must lie at an address that is a multiple of 8");
  CHECK_ERROR(tensor_wrap(&tensor, DT_FLOAT, 1, (const int64_t[]){-1}, memory, 32, count_release, &size,
                          &status),
              status, CODE_INVALID_ARGUMENT, "must be >= 0");
  for (int offset = 0; offset < 2; offset++) {
    mem_fail_after(0);
    bool ok = tensor_wrap(&tensor, DT_DOUBLE, 2, dims, memory + offset, 32, count_release, &size, &status);
    mem_fail_after(-1);
    CHECK_ERROR(ok, status, CODE_RESOURCE_EXHAUSTED, "");
  }
  CHECK_INT_EQ(releases, 2);
  CHECK_NEAR(tensor_f64(&tensor)[3], 4, 0);
  size = 0;
  REQUIRE_OK(tensor_wrap(&tensor, DT_FLOAT, 1, (const int64_t[]){0}, NULL, 0, count_release, &size, &status),
             status);
  CHECK(tensor.data);
  CHECK_INT_EQ(releases, 3);
  tensor_clear(&tensor);
}

TEST(elements_as_double) {
  const struct {
    DataType dtype;
    const void *data;
    double value;
  } cases[] = {
      {DT_FLOAT, (const float[]){0, -1.5f}, -1.5},
      {DT_DOUBLE, (const double[]){0, 1e300}, 1e300},
      {DT_INT32, (const int32_t[]){0, INT32_MIN}, -2147483648.0},
      {DT_QINT32, (const int32_t[]){0, -5}, -5},
      {DT_UINT8, (const uint8_t[]){0, 255}, 255},
      {DT_QUINT8, (const uint8_t[]){0, 254}, 254},
      {DT_INT16, (const int16_t[]){0, -32768}, -32768},
      {DT_QINT16, (const int16_t[]){0, -3}, -3},
      {DT_INT8, (const int8_t[]){0, -128}, -128},
      {DT_QINT8, (const int8_t[]){0, -1}, -1},
      {DT_COMPLEX64, (const float[]){0, 0, 2.5f, 7}, 2.5},
      {DT_INT64, (const int64_t[]){0, -(1LL << 53)}, -9007199254740992.0},
      {DT_BOOL, (const uint8_t[]){0, 1}, 1},
      {DT_BFLOAT16, (const uint16_t[]){0, 0x3fc0}, 1.5},
      {DT_UINT16, (const uint16_t[]){0, 65535}, 65535},
      {DT_QUINT16, (const uint16_t[]){0, 65534}, 65534},
      {DT_COMPLEX128, (const double[]){0, 0, -2.5, 7}, -2.5},
      {DT_HALF, (const uint16_t[]){0, 0xc200}, -3},
      {DT_UINT32, (const uint32_t[]){0, UINT32_MAX}, 4294967295.0},
      {DT_UINT64, (const uint64_t[]){0, 1ULL << 63}, 9223372036854775808.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", dtype_name(cases[i].dtype));
    Tensor tensor = {0};
    REQUIRE_OK(tensor_allocate_dims(&tensor, cases[i].dtype, 1, (const int64_t[]){2}, NULL, &status), status);
    memcpy(tensor.data, cases[i].data, (size_t)tensor_bytes(&tensor));
    CHECK_NEAR(tensor_double_at(&tensor, 0), 0, 0);
    CHECK_NEAR(tensor_double_at(&tensor, 1), cases[i].value, 0);
    tensor_clear(&tensor);
  }
  Tensor tensor = {0};
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_INT64, 0, NULL, NULL, &status), status);
  tensor_i64(&tensor)[0] = INT64_MIN;
  CHECK(tensor_int_at(&tensor, 0) == INT64_MIN);
  tensor_clear(&tensor);
}
