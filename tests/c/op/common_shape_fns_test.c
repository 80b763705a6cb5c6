#include "shape_fixture.h"
#include "shortage.h"

TEST(unchanged_passes_the_input_and_its_handle_data) {
  Fixture f;
  fixture_begin(&f, "[2,?]");
  check_outputs(&f, shape_unchanged, "in0");
  CHECK(!f.output_handles[0]);
  HandleData data = {0};
  f.input_handles[0] = &data;
  check_outputs(&f, shape_unchanged, "in0");
  CHECK(f.output_handles[0] == &data);
  CHECK_OK(shape_unchanged_with_rank(&f.c, f.inputs[0], 2, &f.status), f.status);
  CHECK(f.outputs[0] == f.inputs[0]);
  CHECK_ERROR(shape_unchanged_with_rank(&f.c, f.inputs[0], 3, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Shape must be rank 3 but is rank 2");
  fixture_end(&f);
}

TEST(outputs_of_fixed_shape) {
  Fixture f;
  fixture_begin(&f, "[2,?]");
  f.c.num_outputs = 2;
  check_outputs(&f, shape_scalar_output, "[];[]");
  check_outputs(&f, shape_unknown_outputs, "?;?");
  fixture_attr(&f, "shape", attr_value_shape(f.arena, 2, (int64_t[]){-1, 5}));
  check_outputs(&f, shape_explicit, "[?,5];[?,5]");
  fixture_attr(&f, "shape", attr_value_shape(f.arena, -1, NULL));
  check_outputs(&f, shape_explicit, "?;?");
  f.c.num_outputs = 0;
  check_outputs(&f, shape_no_outputs, "");
  fixture_end(&f);
}

TEST(explicit_needs_its_attr) {
  Fixture f;
  fixture_begin(&f, "");
  CHECK_ERROR(shape_explicit(&f.c, &f.status), f.status, CODE_NOT_FOUND, "No attr named 'shape' in NodeDef:");
  fixture_end(&f);
}

TEST(random_takes_the_shape_from_its_input) {
  Fixture f;
  fixture_begin(&f, "[2]");
  check_outputs(&f, shape_random, "[?,?]");
  fixture_vector(&f, 0, DT_INT32, 2, (int64_t[]){3, 4});
  check_outputs(&f, shape_random, "[3,4]");
  fixture_end(&f);
}

/* --- matrices --- */

static void check_matmul(const char *inputs, bool transpose_a, bool transpose_b, const char *want,
                         const char *error) {
  Fixture f;
  CHECK_CONTEXT("%s %d %d", inputs, transpose_a, transpose_b);
  fixture_begin(&f, inputs);
  fixture_attr(&f, "transpose_a", attr_value_bool(f.arena, transpose_a));
  fixture_attr(&f, "transpose_b", attr_value_bool(f.arena, transpose_b));
  if (want) {
    check_outputs(&f, shape_matmul, want);
  } else {
    CHECK_ERROR(shape_matmul(&f.c, &f.status), f.status, CODE_INVALID_ARGUMENT, error);
  }
  fixture_end(&f);
}

TEST(matmul) {
  check_matmul("[2,3];[3,4]", false, false, "[d0_0,d1_1]", NULL);
  check_matmul("[2,?];[3,?]", false, false, "[d0_0,d1_1]", NULL);
  check_matmul("[3,2];[3,4]", true, false, "[d0_1,d1_1]", NULL);
  check_matmul("[2,3];[4,3]", false, true, "[d0_0,d1_0]", NULL);
  check_matmul("[3,2];[4,3]", true, true, "[d0_1,d1_0]", NULL);
  check_matmul("?;[3,4]", false, false, "[?,d1_1]", NULL);
  check_matmul("?;?", false, false, "[?,?]", NULL);
  check_matmul("[2];[3,4]", false, false, NULL, "Shape must be rank 2 but is rank 1");
  check_matmul("[2,5];[3,4]", false, false, NULL, "Dimensions must be equal, but are 5 and 3");
  check_matmul("[2,3];[3,4]", false, true, NULL, "Dimensions must be equal, but are 3 and 4");
  check_matmul("[2,5,3];[3,5,4]", false, false, NULL, "Shape must be rank 2 but is rank 3");
}

/* --- biases --- */

static void check_bias(ShapeFn function, const char *format, const char *inputs, const char *want,
                       const char *error) {
  Fixture f;
  CHECK_CONTEXT("%s %s", !format ? "-" : format, inputs);
  fixture_begin(&f, inputs);
  if (format) fixture_attr(&f, "data_format", attr_value_string(f.arena, format, strlen(format)));
  if (want) {
    check_outputs(&f, function, want);
  } else {
    CHECK_ERROR(function(&f.c, &f.status), f.status, CODE_INVALID_ARGUMENT, error);
  }
  fixture_end(&f);
}

TEST(bias_add) {
  check_bias(shape_bias_add, NULL, "[2,10];[10]", "[d0_0,d1_0]", NULL);
  check_bias(shape_bias_add, "NHWC", "[2,10];[10]", "[d0_0,d1_0]", NULL);
  check_bias(shape_bias_add, "NHWC", "[2,3,4,?];[10]", "[d0_0,d0_1,d0_2,d1_0]", NULL);
  check_bias(shape_bias_add, "NHWC", "[2,3,4,5];[?]", "[d0_0,d0_1,d0_2,d0_3]", NULL);
  check_bias(shape_bias_add, "NHWC", "?;[?]", "?", NULL);
  check_bias(shape_bias_add, "NHWC", "[2,10];?", "[d0_0,d0_1]", NULL);
  check_bias(shape_bias_add, "NCHW", "[2,3,4,5];[3]", "[d0_0,d0_1,d0_2,d0_3]", NULL);
  check_bias(shape_bias_add, "NCHW", "[2,?,4,5];[3]", "[d0_0,d1_0,d0_2,d0_3]", NULL);
  check_bias(shape_bias_add, "NCHW", "[8,6,4];[6]", "[d0_0,d0_1,d0_2]", NULL);
  check_bias(shape_bias_add, "NHWC", "[10];[10]", NULL, "Shape must be at least rank 2 but is rank 1");
  check_bias(shape_bias_add, "NCHW", "[2,3];[3]", NULL, "Shape must be at least rank 3 but is rank 2");
  check_bias(shape_bias_add, "NHWC", "[2,3];[1,3]", NULL, "Shape must be rank 1 but is rank 2");
  check_bias(shape_bias_add, "NHWC", "[2,10];[3]", NULL, "Dimensions must be equal, but are 3 and 10");
  check_bias(shape_bias_add, "NCHW", "[2,10,5];[3]", NULL, "Dimensions must be equal, but are 10 and 3");
}

TEST(bias_add_grad) {
  check_bias(shape_bias_add_grad, NULL, "[2,10]", "[d0_1]", NULL);
  check_bias(shape_bias_add_grad, "NHWC", "[2,3,?]", "[d0_2]", NULL);
  check_bias(shape_bias_add_grad, "NHWC", "?", "[?]", NULL);
  check_bias(shape_bias_add_grad, "NCHW", "[2,3,4,5]", "[d0_1]", NULL);
  check_bias(shape_bias_add_grad, "NCHW", "?", "[?]", NULL);
  check_bias(shape_bias_add_grad, "NHWC", "[2]", NULL, "Shape must be at least rank 2 but is rank 1");
  check_bias(shape_bias_add_grad, "NCHW", "[2,3]", NULL, "Shape must be at least rank 3 but is rank 2");
}

/* --- broadcasting --- */

TEST(broadcast) {
  static const struct {
    const char *inputs, *want;
  } kCases[] = {
      {"?;?", "?"},
      {"[1,2];?", "?"},
      {"?;[1,2]", "?"},
      {"[];[]", "[]"},
      {"[?];[1]", "[d0_0]"},
      {"[1];[?]", "[d1_0]"},
      {"[?];[2]", "[d1_0]"},
      {"[2];[?]", "[d0_0]"},
      {"[?];[?]", "[?]"},
      {"[0];[?]", "[?]"},
      {"[?];[0]", "[?]"},
      {"[];[?]", "[d1_0]"},
      {"[?];[]", "[d0_0]"},
      {"[1];[1]", "[d0_0|d1_0]"},
      {"[];[1]", "[d1_0]"},
      {"[1];[]", "[d0_0]"},
      {"[2];[2]", "[d0_0|d1_0]"},
      {"[1];[0]", "[d1_0]"},
      {"[0];[1]", "[d0_0]"},
      {"[2];[?,?]", "[d1_0,d0_0]"},
      {"[?,1,2,3,4,5];[3,1,?]", "[d0_0,d0_1,d0_2,d0_3|d1_0,d0_4,d0_5]"},
      {"[3,1,?];[?,1,2,3,4,5]", "[d1_0,d1_1,d1_2,d1_3|d0_0,d1_4,d1_5]"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Fixture f;
    CHECK_CONTEXT("%s", kCases[i].inputs);
    fixture_begin(&f, kCases[i].inputs);
    check_outputs(&f, shape_broadcast_binary, kCases[i].want);
    fixture_end(&f);
  }
}

TEST(the_same_unknown_size_broadcasts_to_itself) {
  Fixture f;
  fixture_begin(&f, "[?]");
  ShapeHandle out;
  CHECK_OK(shape_broadcast(&f.c, f.inputs[0], f.inputs[0], &out, &f.status), f.status);
  CHECK(out->dims[0] == f.inputs[0]->dims[0]);
  fixture_end(&f);
}

TEST(broadcast_refuses_different_sizes) {
  Fixture f;
  fixture_begin(&f, "[2,4];[3,1]");
  CHECK_ERROR(shape_broadcast_binary(&f.c, &f.status), f.status, CODE_INVALID_ARGUMENT,
              "Dimensions must be equal, but are 2 and 3");
  fixture_end(&f);
}

/* --- reductions --- */

typedef struct ReductionCase {
  const char *inputs;
  bool keep_dims;
  int num_axes; /* -1: a scalar; -2: not known */
  int64_t axes[2];
  const char *want, *error;
} ReductionCase;

TEST(reduction) {
  static const ReductionCase kCases[] = {
      {"[2,4,5];[2]", false, -2, {0}, "?", NULL},
      {"?;[2]", false, -2, {0}, "?", NULL},
      {"?;[2]", true, 2, {0, 1}, "?", NULL},
      {"[2,4,5];[2]", false, 2, {1, 2}, "[d0_0]", NULL},
      {"[2,4,5];[2]", false, 2, {-1, -2}, "[d0_0]", NULL},
      {"[2,4,5];[2]", false, 2, {-1, 2}, "[d0_0,d0_1]", NULL},
      {"[2,4,5];[]", false, -1, {0}, "[d0_1,d0_2]", NULL},
      {"[2,4,5];[0]", false, 0, {0}, "[d0_0,d0_1,d0_2]", NULL},
      {"[2,4,5];[2]", true, 2, {-1, -2}, "[d0_0,1,1]", NULL},
      {"[];[0]", false, 0, {0}, "[]", NULL},
      {"[?,?,?];?", true, -2, {0}, "[?,?,?]", NULL},
      {"[2,4,5];[]", false, -1, {-4}, NULL, "Invalid reduction dimension -4 for input with 3 dimensions."},
      {"[2,4,5];[]", false, -1, {3}, NULL, "Invalid reduction dimension 3 for input with 3 dimensions."},
      {"[?,?,?];[?,?]", true, -2, {0}, NULL, "Shape must be at most rank 1 but is rank 2"},
  };
  for (int64_t i = 0; i < (int64_t)(sizeof kCases / sizeof *kCases) * 2; i++) {
    const ReductionCase *k = &kCases[i / 2];
    DataType type = i % 2 == 0 ? DT_INT32 : DT_INT64;
    Fixture f;
    CHECK_CONTEXT("case %d of %s", (int)(i / 2), dtype_name((int)type));
    fixture_begin(&f, k->inputs);
    fixture_attr(&f, "keep_dims", attr_value_bool(f.arena, k->keep_dims));
    if (k->num_axes == -1) fixture_scalar(&f, 1, type, k->axes[0]);
    if (k->num_axes >= 0) fixture_vector(&f, 1, type, k->num_axes, k->axes);
    if (k->want) {
      check_outputs(&f, shape_reduction, k->want);
    } else {
      CHECK_ERROR(shape_reduction(&f.c, &f.status), f.status, CODE_INVALID_ARGUMENT, k->error);
    }
    CHECK_INT_EQ(f.requested[1], k->num_axes == -2 && k->want);
    fixture_end(&f);
  }
}

TEST(old_graphs_may_reduce_over_a_matrix_of_axes) {
  Fixture f;
  fixture_begin(&f, "[2,4,5];[2,1]");
  f.c.graph_def_version = 20;
  fixture_attr(&f, "keep_dims", attr_value_bool(f.arena, true));
  fixture_value(&f, 1, DT_INT32, 2, (int64_t[]){2, 1}, (int64_t[]){-1, -2});
  check_outputs(&f, shape_reduction, "[d0_0,1,1]");
  fixture_end(&f);
}

/* --- concatenation --- */

static void check_concat(const char *inputs, const int64_t *axis, const char *want, const char *error) {
  Fixture f;
  CHECK_CONTEXT("%s axis %d", inputs, !axis ? 99 : (int)*axis);
  fixture_begin(&f, inputs);
  if (axis) fixture_scalar(&f, f.c.num_inputs - 1, DT_INT64, *axis);
  if (want) {
    check_outputs(&f, shape_concat_v2, want);
  } else {
    CHECK_ERROR(shape_concat_v2(&f.c, &f.status), f.status, CODE_INVALID_ARGUMENT, error);
  }
  fixture_end(&f);
}

TEST(concat) {
  const int64_t zero = 0, one = 1, last = -1, second_last = -2, four = 4, lowest = INT64_MIN,
                highest = INT64_MAX;
  check_concat("[1,2,5];[1,3,5];[]", &one, "[d0_0,5,d0_2]", NULL);
  check_concat("[1,2,5];[1,3,5];[]", &second_last, "[d0_0,5,d0_2]", NULL);
  check_concat("[2,3];[2,4];[2,5];[]", &last, "[d0_0,12]", NULL);
  check_concat("[2,?];[?,4];[]", &one, "[d0_0,?]", NULL);
  check_concat("[?,3];[2,?];[]", &zero, "[?,d0_1]", NULL);
  check_concat("[?,3];[0,3];[]", &zero, "[d0_0,d0_1]", NULL);
  check_concat("?;[2,3];[]", &zero, "[?,d1_1]", NULL);
  check_concat("?;?;[]", &zero, "?", NULL);
  check_concat("[2];[]", &zero, "[d0_0]", NULL);
  check_concat("[1,2];[2,?];?", NULL, "[?,?]", NULL);
  check_concat("?;[2,?];[]", NULL, "[?,?]", NULL);
  check_concat("?;?;[]", NULL, "?", NULL);
  check_concat("[];[];[]", NULL, NULL, "Can't concatenate scalars (use tf.stack instead)");
  check_concat("[1];[2,3];[]", NULL, NULL, "Shape must be rank 1 but is rank 2");
  check_concat("[1];[2];[1]", NULL, NULL, "Shape must be rank 0 but is rank 1");
  check_concat("[1,2];[3,4];[]", &zero, NULL, "Dimension 0 in both shapes must be equal, but are 2 and 4");
  check_concat("[1,2];[1,2];[]", &four, NULL, "Shape must be at least rank 5 but is rank 2");
  check_concat("[];[];[]", &zero, NULL, "Shape must be at least rank 1 but is rank 0");
  check_concat("?;?;[]", &lowest, NULL, "Rank cannot exceed kint32max");
  check_concat("?;?;[]", &highest, NULL, "Rank cannot exceed kint32max");
  check_concat("[9223372036854775807];[1];[]", &zero, NULL, "Dimension size overflow from adding");
}

/* --- lack of memory --- */

TEST(common_shape_functions_survive_want_of_memory) {
  static const struct {
    ShapeFn function;
    const char *inputs;
  } kCases[] = {
      {shape_matmul, "?;?"},         {shape_bias_add, "[2,?];?"},
      {shape_bias_add_grad, "?"},    {shape_broadcast_binary, "[2,?];[?]"},
      {shape_reduction, "[2,3];[]"}, {shape_random, "[300]"},
      {shape_scalar_output, ""},     {shape_unknown_outputs, ""},
      {shape_explicit, ""},          {shape_concat_v2, "[2,3];[]"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Shortage shortage = {.what = kCases[i].inputs};
    do {
      Fixture f;
      fixture_begin(&f, kCases[i].inputs);
      fixture_attr(&f, "transpose_a", attr_value_bool(f.arena, false));
      fixture_attr(&f, "transpose_b", attr_value_bool(f.arena, false));
      fixture_attr(&f, "keep_dims", attr_value_bool(f.arena, true));
      fixture_attr(&f, "shape", attr_value_shape(f.arena, 2, (int64_t[]){2, -1}));
      if (kCases[i].function == shape_reduction || kCases[i].function == shape_concat_v2)
        fixture_scalar(&f, 1, DT_INT32, 0);
      shortage_begin(&shortage);
      bool ok = kCases[i].function(&f.c, &f.status);
      shortage_end(&shortage, ok, f.status.code);
      if (ok) CHECK(f.outputs[0]);
      fixture_end(&f);
    } while (shortage_next(&shortage));
  }
}
