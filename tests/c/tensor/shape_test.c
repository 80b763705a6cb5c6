#include "tensor/shape.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"

static Status status;

TEST(small_and_large_ranks) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0; i < SHAPE_MAX_RANK; i++) dims[i] = i % 100 == 3 ? 2 : 1;
  Shape shape = {0}, copy = {0};
  CHECK_INT_EQ(shape_num_elements(&shape), 1);
  for (int rank = 0; rank <= SHAPE_MAX_RANK; rank++) {
    CHECK_CONTEXT("rank %d", rank);
    REQUIRE_OK(shape_set(&shape, rank, dims, &status), status);
    CHECK_INT_EQ(shape.rank, rank);
    CHECK(rank == 0 || memcmp(shape_dims(&shape), dims, (size_t)rank * sizeof *dims) == 0);
    CHECK_INT_EQ(shape_num_elements(&shape), rank < 4 ? 1 : rank < 104 ? 2 : rank < 204 ? 4 : 8);
    CHECK(!shape_equal(&shape, &copy) || rank == 0);
    REQUIRE_OK(shape_copy(&copy, &shape, &status), status);
    CHECK(shape_equal(&shape, &copy));
  }
  REQUIRE_OK(shape_set(&copy, 200, shape_dims(&copy), &status), status); /* from its own sizes */
  CHECK_INT_EQ(shape_num_elements(&copy), 4);
  dims[0] = 5;
  REQUIRE_OK(shape_set(&shape, 200, dims, &status), status);
  CHECK(!shape_equal(&shape, &copy));
  REQUIRE_OK(shape_copy(&shape, &shape, &status), status);
  CHECK_INT_EQ(shape_dim(&shape, 0), 5);
  shape_clear(&shape);
  CHECK_INT_EQ(shape.rank, 0);
  shape_clear(&copy);
}

TEST(what_is_no_shape_is_refused_and_changes_nothing) {
  static const int64_t good[] = {2, 3}, negative[] = {2, -1}, large[] = {INT64_MAX, 2},
                       large_and_empty[] = {INT64_MAX, 2, 0};
  static const int64_t largest[] = {INT64_MAX, 1}, empty[] = {0, INT64_MAX, INT64_MAX};
  int64_t many[SHAPE_MAX_RANK + 1] = {0};
  Shape shape = {0};
  REQUIRE_OK(shape_set(&shape, 2, good, &status), status);
  CHECK_ERROR(shape_set(&shape, 2, negative, &status), status, CODE_INVALID_ARGUMENT,
              "Dimension -1 must be >= 0");
  CHECK_ERROR(shape_set(&shape, 2, large, &status), status, CODE_INVALID_ARGUMENT,
              "Shape [9223372036854775807,2] would have more than 2**63 - 1 elements");
  CHECK_ERROR(shape_set(&shape, 3, large_and_empty, &status), status, CODE_INVALID_ARGUMENT,
              "more than 2**63 - 1");
  CHECK_ERROR(shape_set(&shape, SHAPE_MAX_RANK + 1, many, &status), status, CODE_INVALID_ARGUMENT,
              "Too many dimensions");
  CHECK_ERROR(shape_set(&shape, -1, many, &status), status, CODE_INVALID_ARGUMENT, "Too many dimensions");
  CHECK_INT_EQ(shape_num_elements(&shape), 6);
  CHECK_OK(shape_set(&shape, 2, largest, &status), status);
  CHECK_INT_EQ(shape_num_elements(&shape), INT64_MAX);
  CHECK_OK(shape_set(&shape, 3, empty, &status), status);
  CHECK_INT_EQ(shape_num_elements(&shape), 0);
  mem_fail_after(0);
  bool ok = shape_set(&shape, 9, (const int64_t[9]){1, 1, 1, 1, 1, 1, 1, 1, 1}, &status);
  mem_fail_after(-1);
  CHECK_ERROR(ok, status, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_INT_EQ(shape.rank, 3);
  shape_clear(&shape);
}

TEST(texts) {
  char text[SHAPE_TEXT_CAPACITY];
  StrBuf out = {0};
  Shape shape = {0};
  CHECK_STR_EQ(shape_text(&shape, text), "[]");
  static const int64_t dims[] = {2, 0, 3};
  REQUIRE_OK(shape_set(&shape, 3, dims, &status), status);
  CHECK_STR_EQ(shape_text(&shape, text), "[2,0,3]");
  shape_print(&shape, &out);
  CHECK_STR_EQ(strbuf_text(&out), "[2,0,3]");
  int64_t many[SHAPE_MAX_RANK];
  for (int i = 0; i < SHAPE_MAX_RANK; i++) many[i] = 1;
  many[0] = 1234567890123;
  REQUIRE_OK(shape_set(&shape, SHAPE_MAX_RANK, many, &status), status);
  CHECK_INT_EQ(strlen(shape_text(&shape, text)), SHAPE_TEXT_CAPACITY - 1);
  CHECK(strncmp(text, "[1234567890123,1,1,1,", 21) == 0);
  strbuf_clear(&out);
  shape_print(&shape, &out);
  CHECK_INT_EQ(out.length, 1 + 13 + 253 * 2 + 1);
  strbuf_free(&out);
  shape_clear(&shape);
}

TEST(shapes_from_protos) {
  static const struct {
    const char *proto, *shape, *error;
  } cases[] = {
      {"", "[]", NULL},
      {"dim { size: 2 } dim { size: 0 name: 'n' }", "[2,0]", NULL},
      {"unknown_rank: true", NULL, "Shape <unknown> is not fully defined"},
      {"dim { size: 2 } dim { size: -1 }", NULL, "Shape [2,?] is not fully defined"},
      {"dim { size: -2 }", NULL, "Shape [-2] is not fully defined"},
      {"dim { size: 4611686018427387904 } dim { size: 2 }", NULL,
       "Shape [4611686018427387904,2] is too large (more than 2**63 - 1 entries)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("%s", cases[i].proto);
    Arena *arena = arena_new();
    void *proto = NULL;
    char text[SHAPE_TEXT_CAPACITY];
    Shape shape = {0};
    CHECK_OK(proto_parse_text(kTensorShapeProto, str_of(cases[i].proto), arena, &proto, &status), status);
    if (cases[i].error) {
      CHECK_ERROR(shape_from_proto(proto, &shape, &status), status, CODE_INVALID_ARGUMENT, cases[i].error);
    } else {
      CHECK_OK(shape_from_proto(proto, &shape, &status), status);
      CHECK_STR_EQ(shape_text(&shape, text), cases[i].shape);
    }
    shape_clear(&shape);
    arena_free(arena);
  }
  Shape shape = {0};
  CHECK_OK(shape_from_proto(NULL, &shape, &status), status);
  CHECK_INT_EQ(shape.rank, 0);
  Arena *arena = arena_new();
  int64_t dims[300] = {0};
  const AttrValue *value = attr_value_shape(arena, 255, dims);
  CHECK_ERROR(shape_from_proto(value->shape, &shape, &status), status, CODE_INVALID_ARGUMENT,
              "has too many dimensions");
  value = attr_value_shape(arena, 254, dims);
  CHECK_OK(shape_from_proto(value->shape, &shape, &status), status);
  CHECK_INT_EQ(shape.rank, 254);
  shape_clear(&shape);
  arena_free(arena);
}
