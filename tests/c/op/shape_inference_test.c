#include <inttypes.h>

#include "base/alloc.h"
#include "op/op_def_builder.h"
#include "shape_fixture.h"

/* --- new shapes and queries --- */

TEST(shapes_are_made_and_printed) {
  Fixture f;
  fixture_begin(&f, "?;[];[1,?,3]");
  check_shape(f.inputs[0], "?");
  check_shape(f.inputs[1], "[]");
  check_shape(f.inputs[2], "[1,?,3]");
  check_shape(shape_unknown(&f.c), "?");
  check_shape(shape_unknown_of_rank(&f.c, 2), "[?,?]");
  check_shape(shape_unknown_of_rank(&f.c, 0), "[]");
  check_shape(shape_unknown_of_rank(&f.c, -1), "?");
  check_shape(shape_scalar(&f.c), "[]");
  DimHandle five = dim_make(&f.c, 5), any = dim_unknown(&f.c);
  check_shape(shape_vector(&f.c, five), "[5]");
  check_shape(shape_matrix(&f.c, any, five), "[?,5]");
  Shape shape = {0};
  CHECK_OK(shape_set(&shape, 2, (int64_t[]){4, 0}, &f.status), f.status);
  check_shape(shape_of_tensor_shape(&f.c, &shape), "[4,0]");
  shape_clear(&shape);
  fixture_end(&f);
}

TEST(unknown_dims_of_a_new_shape_are_different_ones) {
  Fixture f;
  fixture_begin(&f, "");
  ShapeHandle s = shape_unknown_of_rank(&f.c, 2);
  REQUIRE(s);
  CHECK(s->dims[0] != s->dims[1]);
  fixture_end(&f);
}

TEST(dims_are_counted_from_either_end) {
  Fixture f;
  fixture_begin(&f, "[1,2,3];?");
  CHECK(shape_dim_of(&f.c, f.inputs[0], 0) == f.inputs[0]->dims[0]);
  CHECK(shape_dim_of(&f.c, f.inputs[0], -1) == f.inputs[0]->dims[2]);
  CHECK(shape_dim_of(&f.c, f.inputs[0], -3) == f.inputs[0]->dims[0]);
  DimHandle a = shape_dim_of(&f.c, f.inputs[1], 0), b = shape_dim_of(&f.c, f.inputs[1], 0);
  CHECK(a != b && !dim_known(a) && !dim_known(b));
  CHECK(!dim_known(shape_dim_of(&f.c, f.inputs[0], 3)));
  CHECK(!dim_known(shape_dim_of(&f.c, f.inputs[0], -4)));
  CHECK(!dim_known(shape_dim_of(&f.c, f.inputs[0], INT64_MIN)));
  fixture_end(&f);
}

TEST(fully_defined_and_number_of_elements) {
  static const struct {
    const char *shape;
    bool defined;
    int64_t elements;
  } kCases[] = {
      {"?", false, UNKNOWN_DIM},
      {"[]", true, 1},
      {"[2,3,4]", true, 24},
      {"[2,?]", false, UNKNOWN_DIM},
      {"[?,0]", false, 0},
      {"[9223372036854775807,2]", true, UNKNOWN_DIM},
      {"[9223372036854775807,2,0]", true, 0},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("%s", kCases[i].shape);
    fixture_begin(&f, kCases[i].shape);
    CHECK_INT_EQ(shape_fully_defined(f.inputs[0]), kCases[i].defined);
    CHECK_INT_EQ(shape_num_elements_of(&f.c, f.inputs[0])->value, kCases[i].elements);
    fixture_end(&f);
  }
}

TEST(shape_protos) {
  Fixture f;
  fixture_begin(&f, "");
  ShapeHandle out;
  AttrValue *value = attr_value_shape(f.arena, 3, (int64_t[]){2, -1, 0});
  CHECK_OK(shape_from_shape_proto(&f.c, value->shape, &out, &f.status), f.status);
  check_shape(out, "[2,?,0]");
  value = attr_value_shape(f.arena, -1, NULL);
  CHECK_OK(shape_from_shape_proto(&f.c, value->shape, &out, &f.status), f.status);
  check_shape(out, "?");
  value = attr_value_shape(f.arena, 2, (int64_t[]){-2, 1});
  CHECK_ERROR(shape_from_shape_proto(&f.c, value->shape, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Shape [?,1] has dimensions with values below -1 (where -1 means unknown)");
  CHECK(!out);
  value = attr_value_shape(f.arena, 2, (int64_t[]){1, 2});
  value->shape->unknown_rank = true;
  CHECK_ERROR(shape_from_shape_proto(&f.c, value->shape, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "An unknown shape must not have any dimensions set.");
  value = attr_value_shape(f.arena, 2, (int64_t[]){INT64_MAX, 2});
  CHECK_ERROR(shape_from_shape_proto(&f.c, value->shape, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "is too large (more than 2**63 - 1 entries)");
  int64_t many[255];
  for (int i = 0; i < 255; i++) many[i] = 1;
  value = attr_value_shape(f.arena, 255, many);
  CHECK_ERROR(shape_from_shape_proto(&f.c, value->shape, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "has too many dimensions");
  fixture_end(&f);
}

/* --- ranks --- */

TEST(ranks_are_checked) {
  Fixture f;
  fixture_begin(&f, "[2];?");
  ShapeHandle out, s = f.inputs[0], any = f.inputs[1];
  CHECK_OK(shape_with_rank(&f.c, s, 1, &out, &f.status), f.status);
  CHECK(out == s);
  CHECK_OK(shape_with_rank(&f.c, any, 2, &out, &f.status), f.status);
  check_shape(out, "[?,?]");
  CHECK_ERROR(shape_with_rank(&f.c, s, 2, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Shape must be rank 2 but is rank 1");
  CHECK(!out);
  CHECK_OK(shape_with_rank_at_least(&f.c, s, 1, &out, &f.status), f.status);
  CHECK(out == s);
  CHECK_OK(shape_with_rank_at_least(&f.c, any, 5, &out, &f.status), f.status);
  CHECK(out == any);
  CHECK_ERROR(shape_with_rank_at_least(&f.c, s, 2, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Shape must be at least rank 2 but is rank 1");
  CHECK_OK(shape_with_rank_at_most(&f.c, s, 1, &out, &f.status), f.status);
  CHECK(out == s);
  CHECK_OK(shape_with_rank_at_most(&f.c, any, 0, &out, &f.status), f.status);
  CHECK(out == any);
  CHECK_ERROR(shape_with_rank_at_most(&f.c, s, 0, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Shape must be at most rank 0 but is rank 1");
  const int64_t huge = INT64_C(1) << 31;
  CHECK_ERROR(shape_with_rank(&f.c, any, huge, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Rank cannot exceed kint32max");
  CHECK_ERROR(shape_with_rank_at_least(&f.c, any, huge, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Rank cannot exceed kint32max");
  CHECK_ERROR(shape_with_rank_at_most(&f.c, any, huge, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Rank cannot exceed kint32max");
  fixture_end(&f);
}

/* --- merging --- */

TEST(merging_dims_returns_an_operand) {
  Fixture f;
  fixture_begin(&f, "[2,2,1,?,?]");
  const DimHandle *d = f.inputs[0]->dims;
  static const struct {
    int a, b, want;
  } kCases[] = {{0, 0, 0}, {0, 1, 0}, {3, 0, 0}, {0, 3, 0}, {3, 4, 3}, {4, 3, 4}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("case %zu", i);
    DimHandle out;
    CHECK_OK(dim_merge(&f.c, d[kCases[i].a], d[kCases[i].b], &out, &f.status), f.status);
    CHECK(out == d[kCases[i].want]);
  }
  DimHandle out = d[0];
  CHECK_ERROR(dim_merge(&f.c, d[0], d[2], &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimensions must be equal, but are 2 and 1");
  CHECK(!out);
  fixture_end(&f);
}

TEST(merging_shapes_keeps_identity) {
  static const struct {
    const char *inputs, *want;
  } kCases[] = {
      {"?;?", "in0"},
      {"?;[1,2]", "in1"},
      {"[1,2];?", "in0"},
      {"[1,2];[1,2]", "in0"},
      {"[?,2];[1,2]", "in1"},
      {"[1,2];[?,2]", "in0"},
      {"[?,?];[?,?]", "in0"},
      {"[?,2];[1,?]", "[d1_0,d0_1]"},
      {"[?,2,?];[1,?,?]", "[d1_0,d0_1,d0_2]"},
      {"[];[]", "in0"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("%s", kCases[i].inputs);
    fixture_begin(&f, kCases[i].inputs);
    StrBuf why = {0};
    CHECK_OK(shape_merge(&f.c, f.inputs[0], f.inputs[1], &f.outputs[0], &f.status), f.status);
    bool same = shape_facts_match(&f.c, kCases[i].want, &why);
    CHECK_STR_EQ(same ? "" : strbuf_text(&why), "");
    strbuf_free(&why);
    fixture_end(&f);
  }
}

TEST(shapes_that_cannot_be_merged) {
  Fixture f;
  fixture_begin(&f, "[?,2];[1,3];[1]");
  ShapeHandle out = f.inputs[0];
  CHECK_ERROR(shape_merge(&f.c, f.inputs[0], f.inputs[1], &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimension 1 in both shapes must be equal, but are 2 and 3. Shapes are [?,2] and [1,3].");
  CHECK(!out);
  CHECK_ERROR(shape_merge(&f.c, f.inputs[2], f.inputs[0], &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Shapes must be equal rank, but are 1 and 2");
  fixture_end(&f);
}

/* A truncated message would match another error. */
TEST(lack_of_memory_for_the_message_of_a_merge_is_told) {
  int64_t failures = -1;
  Fixture f;
  fixture_begin(&f, "[?,2,1000000,2000000,3000000,4000000,5000000,6000000,7000000];[1,3,?,?,?,?,?,?,?]");
  do {
    ShapeHandle out;
    status_init(&f.status);
    mem_fail_after(++failures);
    CHECK(!shape_merge(&f.c, f.inputs[0], f.inputs[1], &out, &f.status));
    mem_fail_after(-1);
  } while (f.status.code == CODE_RESOURCE_EXHAUSTED);
  CHECK(failures > 1);
  CHECK_STR_EQ(f.status.message,
               "Dimension 1 in both shapes must be equal, but are 2 and 3. Shapes are "
               "[?,2,1000000,2000000,3000000,4000000,5000000,6000000,7000000] and [1,3,?,?,?,?,?,?,?].");
  fixture_end(&f);
}

TEST(prefixes_are_merged) {
  Fixture f;
  fixture_begin(&f, "[?,2,3];[1,?];?;[1,2,3,4];[1,5]");
  ShapeHandle s, prefix;
  CHECK_OK(shape_merge_prefix(&f.c, f.inputs[0], f.inputs[1], &s, &prefix, &f.status), f.status);
  check_shape(s, "[1,2,3]");
  check_shape(prefix, "[1,2]");
  CHECK(s->dims[0] == f.inputs[1]->dims[0] && s->dims[1] == f.inputs[0]->dims[1] &&
        s->dims[2] == f.inputs[0]->dims[2]);
  CHECK(prefix->dims[0] == s->dims[0] && prefix->dims[1] == s->dims[1]);
  CHECK_OK(shape_merge_prefix(&f.c, f.inputs[2], f.inputs[1], &s, &prefix, &f.status), f.status);
  CHECK(s == f.inputs[2] && prefix == f.inputs[1]);
  CHECK_OK(shape_merge_prefix(&f.c, f.inputs[0], f.inputs[2], &s, &prefix, &f.status), f.status);
  CHECK(s == f.inputs[0] && prefix == f.inputs[2]);
  CHECK_ERROR(shape_merge_prefix(&f.c, f.inputs[0], f.inputs[3], &s, &prefix, &f.status), f.status,
              CODE_INVALID_ARGUMENT, "Shape must be at least rank 4 but is rank 3");
  CHECK(!s && !prefix);
  CHECK_ERROR(shape_merge_prefix(&f.c, f.inputs[0], f.inputs[4], &s, &prefix, &f.status), f.status,
              CODE_INVALID_ARGUMENT, "Dimensions must be equal, but are 2 and 5");
  CHECK(!s && !prefix);
  fixture_end(&f);
}

/* --- slicing and concatenating --- */

TEST(subshapes) {
  static const struct {
    int64_t start, end, stride;
    const char *want;
  } kCases[] = {
      {0, INT64_MAX, 1, "in0"},
      {0, 5, 1, "in0"},
      {0, 9, 1, "in0"},
      {0, 3, 1, "[d0_0,d0_1,d0_2]"},
      {0, -1, 1, "[d0_0,d0_1,d0_2,d0_3]"},
      {1, INT64_MAX, 1, "[d0_1,d0_2,d0_3,d0_4]"},
      {-2, INT64_MAX, 1, "[d0_3,d0_4]"},
      {2, 2, 1, "[]"},
      {5, INT64_MAX, 1, "[]"},
      {9, 9, 1, "[]"},
      {0, INT64_MAX, 2, "[d0_0,d0_2,d0_4]"},
      {0, INT64_MAX, INT64_MAX, "[d0_0]"},
      {1, INT64_MAX, 2, "[d0_1,d0_3]"},
      {-1, 0, -1, "[d0_4,d0_3,d0_2,d0_1]"},
      {9, 1, -2, "[d0_4,d0_2]"},
      {4, 0, INT64_MIN, "[d0_4]"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("case %zu", i);
    fixture_begin(&f, "[1,2,3,?,5]");
    StrBuf why = {0};
    CHECK_OK(shape_subshape(&f.c, f.inputs[0], kCases[i].start, kCases[i].end, kCases[i].stride,
                            &f.outputs[0], &f.status),
             f.status);
    bool same = shape_facts_match(&f.c, kCases[i].want, &why);
    CHECK_STR_EQ(same ? "" : strbuf_text(&why), "");
    strbuf_free(&why);
    fixture_end(&f);
  }
}

TEST(subshapes_of_unknown_rank) {
  Fixture f;
  fixture_begin(&f, "?");
  ShapeHandle out;
  CHECK_OK(shape_subshape(&f.c, f.inputs[0], 0, INT64_MAX, 1, &out, &f.status), f.status);
  CHECK(out == f.inputs[0]);
  CHECK_OK(shape_subshape(&f.c, f.inputs[0], 1, INT64_MAX, 1, &out, &f.status), f.status);
  CHECK(out != f.inputs[0]);
  check_shape(out, "?");
  CHECK_OK(shape_subshape(&f.c, f.inputs[0], 0, -1, 1, &out, &f.status), f.status);
  CHECK(out != f.inputs[0]);
  check_shape(out, "?");
  fixture_end(&f);
}

TEST(subshapes_that_are_refused) {
  static const struct {
    int64_t start, end, stride;
    const char *want;
  } kCases[] = {
      {6, -3, 1,
       "Subshape must have computed start <= end, but is 5 and 2 (computed from start 6 and end -3 over "
       "shape with rank 5)"},
      {-50, 100, 1, "Subshape start out of bounds: -50, for shape with rank 5"},
      {0, -50, 1, "Subshape end out of bounds: -50, for shape with rank 5"},
      {INT64_MIN, 5, 1, "Subshape start out of bounds: -9223372036854775808, for shape with rank 5"},
      {0, 3, -1,
       "Subshape must have computed start >= end since stride is negative, but is 0 and 3 (computed from "
       "start 0 and end 3 over shape with rank 5 and stride -1)"},
      {0, 3, 0, "stride"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("case %zu", i);
    fixture_begin(&f, "[1,2,3,?,5]");
    ShapeHandle out;
    CHECK_ERROR(shape_subshape(&f.c, f.inputs[0], kCases[i].start, kCases[i].end, kCases[i].stride, &out,
                               &f.status),
                f.status, CODE_INVALID_ARGUMENT, kCases[i].want);
    CHECK(!out);
    fixture_end(&f);
  }
}

TEST(concatenation_and_replacement) {
  Fixture f;
  fixture_begin(&f, "[1,?,3];[4,5];?");
  StrBuf why = {0};
  CHECK_OK(shape_concatenate(&f.c, f.inputs[0], f.inputs[1], &f.outputs[0], &f.status), f.status);
  CHECK(shape_facts_match(&f.c, "[d0_0,d0_1,d0_2,d1_0,d1_1]", &why));
  CHECK_OK(shape_concatenate(&f.c, f.inputs[0], f.inputs[2], &f.outputs[0], &f.status), f.status);
  CHECK(shape_facts_match(&f.c, "?", &why));
  CHECK_OK(shape_concatenate(&f.c, f.inputs[2], f.inputs[0], &f.outputs[0], &f.status), f.status);
  CHECK(shape_facts_match(&f.c, "?", &why));

  DimHandle ten = dim_make(&f.c, 10);
  CHECK_OK(shape_replace_dim(&f.c, f.inputs[0], 1, ten, &f.outputs[0], &f.status), f.status);
  CHECK(shape_facts_match(&f.c, "[d0_0,10,d0_2]", &why));
  CHECK_OK(shape_replace_dim(&f.c, f.inputs[0], -1, f.inputs[1]->dims[0], &f.outputs[0], &f.status),
           f.status);
  CHECK(shape_facts_match(&f.c, "[d0_0,d0_1,d1_0]", &why));
  CHECK_OK(shape_replace_dim(&f.c, f.inputs[2], 7, ten, &f.outputs[0], &f.status), f.status);
  CHECK(shape_facts_match(&f.c, "?", &why));
  CHECK_ERROR(shape_replace_dim(&f.c, f.inputs[0], 4, ten, &f.outputs[0], &f.status), f.status,
              CODE_INVALID_ARGUMENT, "Out of range dim_index 4 for shape with 3 dimensions");
  CHECK(!f.outputs[0]);
  CHECK_STR_EQ(strbuf_text(&why), "");
  strbuf_free(&why);
  fixture_end(&f);
}

/* --- arithmetic --- */

typedef bool (*Binary)(InferenceContext *, DimHandle, DimHandle, DimHandle *, Status *);

enum { NEW = 'n', FIRST = 'a', SECOND = 'b' };

TEST(arithmetic_of_dims) {
  static const int64_t kAny = UNKNOWN_DIM, kMax = INT64_MAX;
  const struct {
    Binary function;
    int64_t a, b, value;
    char which;
  } kCases[] = {
      {dim_add, 6, 0, 6, FIRST},
      {dim_add, 0, 6, 6, SECOND},
      {dim_add, kAny, 0, kAny, FIRST},
      {dim_add, 0, kAny, kAny, SECOND},
      {dim_add, 6, 7, 13, NEW},
      {dim_add, kAny, 7, kAny, NEW},
      {dim_add, 7, kAny, kAny, NEW},
      {dim_add, kMax - 1, 1, kMax, NEW},
      {dim_subtract, 6, 0, 6, FIRST},
      {dim_subtract, kAny, 0, kAny, FIRST},
      {dim_subtract, 6, 6, 0, NEW},
      {dim_subtract, 6, 2, 4, NEW},
      {dim_subtract, kAny, 2, kAny, NEW},
      {dim_subtract, 2, kAny, kAny, NEW},
      {dim_multiply, 6, 1, 6, FIRST},
      {dim_multiply, 1, 6, 6, SECOND},
      {dim_multiply, kAny, 1, kAny, FIRST},
      {dim_multiply, 1, kAny, kAny, SECOND},
      {dim_multiply, 0, kAny, 0, FIRST},
      {dim_multiply, kAny, 0, 0, SECOND},
      {dim_multiply, 6, 0, 0, SECOND},
      {dim_multiply, 6, 7, 42, NEW},
      {dim_multiply, kAny, 7, kAny, NEW},
      {dim_min, 3, 5, 3, FIRST},
      {dim_min, 5, 3, 3, SECOND},
      {dim_min, 3, 3, 3, FIRST},
      {dim_min, kAny, 0, 0, SECOND},
      {dim_min, 0, kAny, 0, FIRST},
      {dim_min, kAny, 1, kAny, NEW},
      {dim_max, 3, 5, 5, SECOND},
      {dim_max, 5, 3, 5, FIRST},
      {dim_max, 3, 3, 3, FIRST},
      {dim_max, kAny, 0, kAny, NEW},
      {dim_max, 0, kAny, kAny, NEW},
  };
  Fixture f;
  fixture_begin(&f, "");
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("case %zu: %" PRId64 ", %" PRId64, i, kCases[i].a, kCases[i].b);
    DimHandle a = dim_make(&f.c, kCases[i].a), b = dim_make(&f.c, kCases[i].b), out;
    if (!CHECK_OK(kCases[i].function(&f.c, a, b, &out, &f.status), f.status)) continue;
    CHECK_INT_EQ(out->value, kCases[i].value);
    CHECK_INT_EQ(out == a ? FIRST : out == b ? SECOND : NEW, kCases[i].which);
  }
  fixture_end(&f);
}

TEST(arithmetic_that_is_refused) {
  Fixture f;
  fixture_begin(&f, "");
  DimHandle five = dim_make(&f.c, 5), six = dim_make(&f.c, 6), huge = dim_make(&f.c, INT64_MAX - 5),
            out = five;
  CHECK_ERROR(dim_add(&f.c, six, huge, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimension size overflow from adding 6 and 9223372036854775802");
  CHECK(!out);
  CHECK_ERROR(dim_subtract(&f.c, five, six, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Negative dimension size caused by subtracting 6 from 5");
  CHECK_ERROR(dim_multiply(&f.c, six, huge, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Negative dimension size caused by overflow when multiplying 6 and 9223372036854775802");
  CHECK_ERROR(dim_with_value(&f.c, five, 6, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimension must be 6 but is 5");
  CHECK_ERROR(dim_divide(&f.c, six, 0, false, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Divisor must be positive but is 0");
  CHECK_ERROR(dim_divide(&f.c, six, -1, true, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Divisor must be positive but is -1");
  CHECK_ERROR(dim_divide(&f.c, six, 5, true, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimension size must be evenly divisible by 5 but is 6");
  CHECK(!out);
  fixture_end(&f);
}

TEST(division_and_wanted_values) {
  Fixture f;
  fixture_begin(&f, "");
  DimHandle six = dim_make(&f.c, 6), any = dim_unknown(&f.c), out;
  CHECK_OK(dim_divide(&f.c, six, 1, true, &out, &f.status), f.status);
  CHECK(out == six);
  CHECK_OK(dim_divide(&f.c, any, 1, true, &out, &f.status), f.status);
  CHECK(out == any);
  CHECK_OK(dim_divide(&f.c, six, 4, false, &out, &f.status), f.status);
  CHECK_INT_EQ(out->value, 1);
  CHECK_OK(dim_divide(&f.c, six, 3, true, &out, &f.status), f.status);
  CHECK_INT_EQ(out->value, 2);
  CHECK_OK(dim_divide(&f.c, any, 3, true, &out, &f.status), f.status);
  CHECK(out != any && !dim_known(out));
  CHECK_OK(dim_with_value(&f.c, six, 6, &out, &f.status), f.status);
  CHECK(out == six);
  CHECK_OK(dim_with_value(&f.c, any, 6, &out, &f.status), f.status);
  CHECK(out != any && out->value == 6);
  fixture_end(&f);
}

/* --- shapes and sizes from values --- */

TEST(shapes_from_values) {
  static const struct {
    const char *input;
    DataType type;
    int rank;
    int64_t dims[2], values[3];
    const char *want;
  } kCases[] = {
      {"[3]", DT_INT32, 1, {3}, {1, 2, 3}, "[1,2,3]"},
      {"[3]", DT_INT64, 1, {3}, {1, -1, 3}, "[1,?,3]"},
      {"[0]", DT_INT32, 1, {0}, {0}, "[]"},
      {"?", DT_INT64, 1, {1}, {INT64_MAX}, "[9223372036854775807]"},
      {"?", DT_INT32, 0, {0}, {-1}, "?"},
      {"?", DT_INT64, 0, {0}, {-1}, "?"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("case %zu", i);
    fixture_begin(&f, kCases[i].input);
    fixture_value(&f, 0, kCases[i].type, kCases[i].rank, kCases[i].dims, kCases[i].values);
    ShapeHandle out;
    CHECK_OK(shape_from_input_tensor(&f.c, 0, &out, &f.status), f.status);
    check_shape(out, kCases[i].want);
    CHECK(!f.requested[0] && !f.requested_as_shape[0]);
    fixture_end(&f);
  }
}

TEST(values_that_are_no_shape) {
  static const struct {
    const char *input;
    DataType type;
    int rank;
    int64_t dims[2], values[3];
    const char *want;
  } kCases[] = {
      {"?",
       DT_INT32,
       0,
       {0},
       {1},
       "Input tensor must be rank 1, or if its rank 0 it must have value -1 (representing an unknown shape). "
       " Saw value: 1"},
      {"?", DT_INT64, 0, {0}, {-2}, "Saw value: -2"},
      {"[2]", DT_INT32, 1, {2}, {3, -2}, "Invalid value in tensor used for shape: -2"},
      {"?", DT_INT32, 2, {1, 2}, {3, 2}, "Input tensor must be rank 1, but was rank 2"},
      {"[1,2]", DT_INT32, 2, {1, 2}, {3, 2}, "Shape must be rank 1 but is rank 2"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("case %zu", i);
    fixture_begin(&f, kCases[i].input);
    fixture_value(&f, 0, kCases[i].type, kCases[i].rank, kCases[i].dims, kCases[i].values);
    ShapeHandle out;
    CHECK_ERROR(shape_from_input_tensor(&f.c, 0, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
                kCases[i].want);
    CHECK(!out);
    fixture_end(&f);
  }
  Fixture f;
  fixture_begin(&f, "[1]");
  int64_t one = 1;
  ShapeHandle out;
  CHECK_OK(tensor_allocate_dims(&f.values[0], DT_FLOAT, 1, &one, NULL, &f.status), f.status);
  f.input_tensors[0] = &f.values[0];
  CHECK_ERROR(shape_from_input_tensor(&f.c, 0, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Input tensor must be int32 or int64, but was float");
  fixture_end(&f);
}

TEST(shapes_from_values_not_known_yet) {
  static const struct {
    const char *input, *want;
  } kCases[] = {{"?", "?"}, {"[?]", "?"}, {"[3]", "[?,?,?]"}, {"[0]", "[]"}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("%s", kCases[i].input);
    fixture_begin(&f, kCases[i].input);
    ShapeHandle out;
    CHECK_OK(shape_from_input_tensor(&f.c, 0, &out, &f.status), f.status);
    check_shape(out, kCases[i].want);
    CHECK(f.requested[0] && f.requested_as_shape[0]);
    fixture_end(&f);
  }
  Fixture f;
  fixture_begin(&f, "[33554432];[2]");
  ShapeHandle out;
  CHECK_ERROR(shape_from_input_tensor(&f.c, 0, &out, &f.status), f.status, CODE_INTERNAL,
              "Cannot create a tensor with 33554432 dimensions, as these would be more than maximum of "
              "33554432");
  f.as_shapes[1] = shape_unknown_of_rank(&f.c, 2);
  CHECK_OK(shape_from_input_tensor(&f.c, 1, &out, &f.status), f.status);
  CHECK(out == f.as_shapes[1]);
  fixture_end(&f);
}

TEST(sizes_from_scalars) {
  Fixture f;
  fixture_begin(&f, "[];[];[];[];[1]");
  DimHandle out;
  CHECK_OK(dim_for_scalar_input(&f.c, 0, &out, &f.status), f.status);
  CHECK(!dim_known(out) && f.requested[0]);
  fixture_scalar(&f, 1, DT_INT32, 7);
  fixture_scalar(&f, 2, DT_INT64, -1);
  fixture_scalar(&f, 3, DT_INT32, -11);
  fixture_vector(&f, 4, DT_INT32, 1, (int64_t[]){3});
  CHECK_OK(dim_for_scalar_input(&f.c, 1, &out, &f.status), f.status);
  CHECK_INT_EQ(out->value, 7);
  CHECK_ERROR(dim_for_scalar_input(&f.c, 2, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimension size, given by scalar input 2, must be non-negative but is -1");
  CHECK(!out);
  CHECK_ERROR(dim_for_scalar_input(&f.c, 4, &out, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Input must be scalar but has rank 1");
  CHECK_OK(dim_for_scalar_input_with_negative_indexing(&f.c, 1, 10, &out, &f.status), f.status);
  CHECK_INT_EQ(out->value, 7);
  CHECK_OK(dim_for_scalar_input_with_negative_indexing(&f.c, 2, 10, &out, &f.status), f.status);
  CHECK_INT_EQ(out->value, 9);
  CHECK_OK(dim_for_scalar_input_with_negative_indexing(&f.c, 2, -1, &out, &f.status), f.status);
  CHECK(!dim_known(out));
  CHECK_OK(dim_for_scalar_input_with_negative_indexing(&f.c, 1, -1, &out, &f.status), f.status);
  CHECK_INT_EQ(out->value, 7);
  CHECK_ERROR(dim_for_scalar_input_with_negative_indexing(&f.c, 3, 10, &out, &f.status), f.status,
              CODE_INVALID_ARGUMENT, "Dimension size, given by scalar input -11 must be in range [-10, 10)");
  CHECK_ERROR(dim_for_scalar_input_with_negative_indexing(&f.c, 1, 7, &out, &f.status), f.status,
              CODE_INVALID_ARGUMENT, "Dimension size, given by scalar input 7 must be in range [-7, 7)");
  fixture_end(&f);
}

/* --- ranges and handles --- */

TEST(ranges_of_named_args) {
  static const char *const kInputs[] = {"a: float", "values: N * T", "last: Tin", NULL};
  static const char *const kOutputs[] = {"x: T", "y: N * T", NULL};
  static const char *const kAttrs[] = {"N: int >= 1", "T: type", "Tin: list(type) >= 0", NULL};
  const OpDefSpec spec = {.name = "Test", .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs};
  Fixture f;
  fixture_begin(&f, "?;?;?;?");
  OpDef *op_def;
  REQUIRE_OK(op_def_build(&spec, f.arena, &op_def, &f.status), f.status);
  fixture_attr(&f, "N", attr_value_int(f.arena, 3));
  fixture_attr(&f, "T", attr_value_type(f.arena, DT_INT32));
  fixture_attr(&f, "Tin", attr_value_type_list(f.arena, (int[]){DT_FLOAT, DT_BOOL}, 2));
  f.c.op_def = op_def;
  int begin, end;
  CHECK_OK(shape_input_range(&f.c, "a", &begin, &end, &f.status), f.status);
  CHECK(begin == 0 && end == 1);
  CHECK_OK(shape_input_range(&f.c, "values", &begin, &end, &f.status), f.status);
  CHECK(begin == 1 && end == 4);
  CHECK_OK(shape_input_range(&f.c, "last", &begin, &end, &f.status), f.status);
  CHECK(begin == 4 && end == 6);
  CHECK_OK(shape_output_range(&f.c, "y", &begin, &end, &f.status), f.status);
  CHECK(begin == 1 && end == 4);
  CHECK_ERROR(shape_input_range(&f.c, "y", &begin, &end, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Unknown input name: y");
  CHECK_ERROR(shape_output_range(&f.c, "a", &begin, &end, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Unknown output name: a");
  fixture_end(&f);
}

TEST(handle_data_is_copied) {
  Fixture f;
  fixture_begin(&f, "[2,3];?");
  ShapeAndType entries[] = {{f.inputs[0], DT_FLOAT}, {f.inputs[1], DT_INT32}};
  CHECK_OK(shape_set_output_handle(&f.c, 0, entries, 2, &f.status), f.status);
  entries[0].dtype = DT_INVALID;
  REQUIRE(f.output_handles[0]);
  CHECK_INT_EQ(f.output_handles[0]->count, 2);
  CHECK(f.output_handles[0]->entries[0].shape == f.inputs[0]);
  CHECK_INT_EQ(f.output_handles[0]->entries[0].dtype, DT_FLOAT);
  CHECK_INT_EQ(f.output_handles[0]->entries[1].dtype, DT_INT32);
  fixture_end(&f);
}

/* --- lack of memory --- */

/* A NULL handle is an error in every function that takes it. */
TEST(missing_handles_become_a_status) {
  Fixture f;
  fixture_begin(&f, "[2]");
  ShapeHandle s = f.inputs[0], out, out2;
  DimHandle d = s->dims[0], dim;
  Status *st = &f.status;
  CHECK_ERROR(shape_ok(NULL, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(dim_ok(NULL, &dim, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_with_rank(&f.c, NULL, 1, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_with_rank_at_least(&f.c, NULL, 1, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_with_rank_at_most(&f.c, NULL, 1, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_merge(&f.c, s, NULL, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_merge_prefix(&f.c, NULL, s, &out, &out2, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_concatenate(&f.c, NULL, s, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_subshape(&f.c, NULL, 0, 1, 1, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_replace_dim(&f.c, s, 0, NULL, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_broadcast(&f.c, s, NULL, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_from_tensor(&f.c, NULL, NULL, &out, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(dim_with_value(&f.c, NULL, 1, &dim, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(dim_merge(&f.c, d, NULL, &dim, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(dim_add(&f.c, NULL, d, &dim, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(dim_divide(&f.c, NULL, 2, true, &dim, st), st, CODE_RESOURCE_EXHAUSTED, "");
  CHECK_ERROR(shape_set_output_handle(&f.c, 0, &(ShapeAndType){NULL, DT_FLOAT}, 1, st), st,
              CODE_RESOURCE_EXHAUSTED, "");
  CHECK(!shape_vector(&f.c, NULL));
  CHECK(!shape_matrix(&f.c, d, NULL));
  CHECK(!shape_dim_of(&f.c, NULL, 0));
  CHECK(!shape_num_elements_of(&f.c, NULL));
  CHECK(!shape_fully_defined(NULL));
  fixture_end(&f);
}

/* Calls most functions; every place where memory may run out is tested. */
static bool walk(Fixture *f) {
  ShapeHandle a = f->inputs[0], out, prefix;
  DimHandle dim;
  Status *st = &f->status;
  TRY(shape_merge(&f->c, a, f->inputs[1], &out, st));
  TRY(shape_merge_prefix(&f->c, a, f->inputs[2], &out, &prefix, st));
  TRY(shape_concatenate(&f->c, a, out, &out, st));
  TRY(shape_subshape(&f->c, out, 1, -1, 1, &out, st));
  TRY(shape_replace_dim(&f->c, out, 0, dim_make(&f->c, 3), &out, st));
  TRY(shape_broadcast(&f->c, a, f->inputs[1], &out, st));
  TRY(dim_add(&f->c, dim_make(&f->c, 2), dim_unknown(&f->c), &dim, st));
  TRY(dim_merge(&f->c, shape_num_elements_of(&f->c, a), dim, &dim, st));
  TRY(shape_with_rank(&f->c, shape_unknown(&f->c), 400, &out, st));
  TRY(shape_from_input_tensor(&f->c, 2, &out, st));
  return shape_ok(shape_matrix(&f->c, dim, dim), &out, st);
}

TEST(shape_inference_survives_want_of_memory) {
  int failures = 0;
  for (int64_t successes = 0;; successes++) {
    Fixture f;
    fixture_begin(&f, "[?,3,1,1];[2,?,1,1];[2]");
    fixture_vector(&f, 2, DT_INT32, 2, (int64_t[]){4, 5});
    while (arena_alloc(f.arena, 256) && arena_bytes(f.arena) < 6000) continue;
    mem_fail_after(successes);
    bool ok = walk(&f);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(f.status.code, CODE_RESOURCE_EXHAUSTED);
    failures += !ok;
    fixture_end(&f);
    if (ok || !CHECK(successes < 1000)) break;
  }
  CHECK(failures > 0);
}
