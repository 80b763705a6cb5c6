#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensor/tensor.h"

static void check_print(DataType dtype, int rank, const int64_t *dims, const void *data, int64_t max_entries,
                        const char *want) {
  CHECK_CONTEXT("%s", want);
  Tensor tensor = {0};
  Status status;
  StrBuf out = {0};
  REQUIRE_OK(tensor_allocate_dims(&tensor, dtype, rank, dims, NULL, &status), status);
  if (tensor_bytes(&tensor) > 0) memcpy(tensor.data, data, (size_t)tensor_bytes(&tensor));
  tensor_print(&tensor, max_entries, &out);
  CHECK_STR_EQ(strbuf_text(&out), want);
  strbuf_free(&out);
  tensor_clear(&tensor);
}

#define DIMS(...) \
  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]) { __VA_ARGS__ }

/* Values of TensorFlow's Tensor::SummarizeValue (tensor_test.cc). */
TEST(values_in_brackets_cut_with_dots) {
  static const int32_t ints[] = {1, 2, 3, 4, 0}, twelve[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  check_print(DT_INT32, DIMS(5), ints, 16, "Tensor<type: int32 shape: [5] values: 1 2 3 4 0>");
  check_print(DT_INT32, DIMS(2, 2), ints, 16, "Tensor<type: int32 shape: [2,2] values: [1 2][3 4]>");
  check_print(DT_INT32, DIMS(2, 2, 1, 1), ints, 16,
              "Tensor<type: int32 shape: [2,2,1,1] values: [[[1]][[2]]][[[3]][[4]]]>");
  check_print(DT_INT32, DIMS(2, 2, 1, 1), ints, 3,
              "Tensor<type: int32 shape: [2,2,1,1] values: [[[1]][[2]]][[[3]]]...>");
  check_print(DT_INT32, DIMS(0), NULL, 16, "Tensor<type: int32 shape: [0] values: >");
  check_print(DT_INT32, DIMS(3, 4), twelve, 3, "Tensor<type: int32 shape: [3,4] values: [1 2 3...]...>");
  check_print(DT_INT32, DIMS(3, 4), twelve, 10,
              "Tensor<type: int32 shape: [3,4] values: [1 2 3 4][5 6 7 8][9 10...]...>");
  check_print(DT_INT32, DIMS(3, 4), twelve, -1,
              "Tensor<type: int32 shape: [3,4] values: [1 2 3 4][5 6 7 8][9 10 11 12]>");
  check_print(DT_INT32, DIMS(3, 4), twelve, 0, "Tensor<type: int32 shape: [3,4] values: ...>");
  check_print(DT_INT32, 0, NULL, ints, 3, "Tensor<type: int32 shape: [] values: 1>");
  check_print(DT_INT32, 0, NULL, ints, 0, "Tensor<type: int32 shape: [] values: ...>");
  check_print(DT_BOOL, DIMS(5), (const uint8_t[]){0, 1, 1, 0, 1}, 16,
              "Tensor<type: bool shape: [5] values: 0 1 1 0 1>");
  check_print(DT_BOOL, DIMS(5), (const uint8_t[]){0, 1, 1, 0, 1}, 3,
              "Tensor<type: bool shape: [5] values: 0 1 1...>");
}

TEST(elements_of_every_type) {
  check_print(DT_FLOAT, DIMS(5), (const float[]){1, -0.1f, 1e10f, INFINITY, NAN}, 9,
              "Tensor<type: float shape: [5] values: 1 -0.1 1e+10 inf nan>");
  check_print(DT_DOUBLE, DIMS(2), (const double[]){0.1, 1.0 / 3}, 9,
              "Tensor<type: double shape: [2] values: 0.1 0.33333333333333331>");
  check_print(DT_HALF, DIMS(2), (const uint16_t[]){0x3e00, 0xc000}, 9,
              "Tensor<type: half shape: [2] values: 1.5 -2>");
  check_print(DT_BFLOAT16, DIMS(1), (const uint16_t[]){0x3fc0}, 9,
              "Tensor<type: bfloat16 shape: [1] values: 1.5>");
  check_print(DT_INT64, DIMS(2), (const int64_t[]){INT64_MIN, INT64_MAX}, 9,
              "Tensor<type: int64 shape: [2] values: -9223372036854775808 9223372036854775807>");
  check_print(DT_UINT64, DIMS(1), (const uint64_t[]){UINT64_MAX}, 9,
              "Tensor<type: uint64 shape: [1] values: 18446744073709551615>");
  check_print(DT_UINT32, DIMS(1), (const uint32_t[]){UINT32_MAX}, 9,
              "Tensor<type: uint32 shape: [1] values: 4294967295>");
  check_print(DT_INT8, DIMS(2), (const int8_t[]){-128, 65}, 9,
              "Tensor<type: int8 shape: [2] values: -128 65>");
  check_print(DT_UINT8, DIMS(1), (const uint8_t[]){200}, 9, "Tensor<type: uint8 shape: [1] values: 200>");
  check_print(DT_QINT32, DIMS(1), (const int32_t[]){-7}, 9, "Tensor<type: qint32 shape: [1] values: ?>");
  check_print(DT_COMPLEX64, DIMS(1), (const float[]){1, -0.5f}, 9,
              "Tensor<type: complex64 shape: [1] values: ?>");
  check_print(DT_RESOURCE, DIMS(2), (void *const[]){NULL, NULL}, 9,
              "Tensor<type: resource shape: [2] values: ? ?>");
}

TEST(strings_are_escaped_without_quotes) {
  static const char *const words[] = {"one", "two", "three", "four", "a\n\"b\\"};
  Tensor tensor = {0};
  Status status;
  StrBuf out = {0};
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_STRING, DIMS(5, 1, 5), NULL, &status), status);
  for (int i = 0; i < 25; i++) {
    CHECK_OK(tstring_set(&tensor_strings(&tensor)[i], words[i % 5], strlen(words[i % 5]), &status), status);
  }
  tensor_print(&tensor, 6, &out);
  CHECK_STR_EQ(strbuf_text(&out),
               "Tensor<type: string shape: [5,1,5] values: [[one two three four "
               "a\\n\\\"b\\\\]][[one...]]...>");
  strbuf_free(&out);
  tensor_clear(&tensor);
}

TEST(huge_outer_dimensions_take_no_time) {
  StrBuf out = {0};
  Tensor tensor = {0};
  Status status;
  REQUIRE_OK(tensor_allocate_dims(&tensor, DT_FLOAT, DIMS(INT64_MAX, 0), NULL, &status), status);
  tensor_print(&tensor, 3, &out);
  CHECK_STR_EQ(strbuf_text(&out), "Tensor<type: float shape: [9223372036854775807,0] values: >");
  strbuf_free(&out);
  tensor_clear(&tensor);
}
