/* Arithmetic and comparisons compared with a reference that finds each operand's element by its
 * coordinates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(arithmetic_of_equal_shapes_scalars_rows_and_columns) {
  op_gives("Add[T=float]", "float[2] 1 2; float[2] 3 4", "float[2] 4 6");
  op_gives("AddV2[T=double]", "double[2,3] 1 2 3 4 5 6; double[3] 10 20 30", "double[2,3] 11 22 33 14 25 36");
  op_gives("Sub[T=float]", "float[] 10; float[3] 1 2 3", "float[3] 9 8 7");
  op_gives("Sub[T=float]", "float[3] 1 2 3; float[] 10", "float[3] -9 -8 -7");
  op_gives("Mul[T=int32]", "int32[2,1] 2 3; int32[1,3] 1 10 100", "int32[2,3] 2 20 200 3 30 300");
  op_gives("RealDiv[T=float]", "float[2,2] 1 2 3 4; float[2,1] 2 4", "float[2,2] 0.5 1 0.75 1");
  op_gives("SquaredDifference[T=int64]", "int64[2] 1 -5; int64[] 3", "int64[2] 4 64");
  op_gives("Add[T=half]", "half[2] 1.5 2; half[] 0.25", "half[2] 1.75 2.25");
  op_gives("Mul[T=bfloat16]", "bfloat16[2] 1.5 2; bfloat16[2] 2 -3", "bfloat16[2] 3 -6");
  op_gives("Add[T=float]", "float[] 1; float[] 2", "float[] 3");
}

TEST(empty_operands_give_empty_results) {
  op_gives("Add[T=float]", "float[0]; float[0]", "float[0]");
  op_gives("Add[T=float]", "float[2,0]; float[2,1] 1", "float[2,0]");
  op_gives("Add[T=float]", "float[0,3]; float[3] 1", "float[0,3]");
  op_gives("Mul[T=int32]", "int32[] 1; int32[0,5]", "int32[0,5]");
}

TEST(integers_wrap_around) {
  op_gives("Add[T=int32]", "int32[1] 2147483647; int32[1] 1", "int32[1] -2147483648");
  op_gives("Sub[T=int64]", "int64[1] -9223372036854775808; int64[1] 1", "int64[1] 9223372036854775807");
  op_gives("Mul[T=int32]", "int32[2] 65536 -2147483648; int32[2] 65536 -1", "int32[2] 0 -2147483648");
  op_gives("Add[T=uint8]", "uint8[2] 250 1; uint8[] 10", "uint8[2] 4 11");
  op_gives("Mul[T=uint16]", "uint16[1] 65535; uint16[1] 65535", "uint16[1] 1");
  op_gives("Sub[T=int8]", "int8[1] -128; int8[1] 1", "int8[1] 127");
}

TEST(special_values) {
  op_gives("RealDiv[T=float]", "float[3] 1 -1 0; float[] 0", "float[3] inf -inf nan");
  op_gives("Maximum[T=float]", "float[4] nan 1 2 -inf; float[4] 1 nan -2 inf", "float[4] nan nan 2 inf");
  op_gives("Minimum[T=double]", "double[4] nan 1 2 -inf; double[4] 1 nan -2 inf",
           "double[4] nan nan -2 -inf");
  op_gives("Less[T=float]", "float[3] nan 1 1; float[3] 1 nan 1", "bool[3] 0 0 0");
  op_gives("GreaterEqual[T=float]", "float[3] nan 1 1; float[3] 1 nan 1", "bool[3] 0 0 1");
  op_gives("Equal[T=float]", "float[3] nan 0 inf; float[3] nan -0.0 inf", "bool[3] 0 1 1");
  op_gives("NotEqual[T=float]", "float[3] nan 0 inf; float[3] nan -0.0 inf", "bool[3] 1 0 0");
}

TEST(comparisons) {
  op_gives("Equal[T=int32]", "int32[2,2] 1 2 3 4; int32[2] 1 4", "bool[2,2] 1 0 0 1");
  op_gives("Equal[T=bool]", "bool[2] 1 0; bool[] 1", "bool[2] 1 0");
  op_gives("Equal[T=string]", "string[3] a bc b; string[] bc", "bool[3] 0 1 0");
  op_gives("NotEqual[T=string]", "string[] a; string[2] a ab", "bool[2] 0 1");
  op_gives("Less[T=uint64]", "uint64[1] 18446744073709551615; uint64[1] 1", "bool[1] 0");
  op_gives("Greater[T=int8]", "int8[3] -1 0 1; int8[] 0", "bool[3] 0 0 1");
  op_gives("LessEqual[T=half]", "half[3] -1 0 1; half[] 0", "bool[3] 1 1 0");
  op_gives("Greater[T=float]", "float[2,1] 1 2; float[3] 0 1.5 3", "bool[2,3] 1 0 0 1 1 0");
}

TEST(shapes_that_do_not_fit_are_refused) {
  op_fails("Add[T=float]", "float[2,3] 0; float[2] 0", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2,3] vs. [2]");
  op_fails("Less[T=int32]", "int32[0]; int32[2] 0", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [0] vs. [2]");
  op_fails("Mul[T=double]", "double[2,1,4] 0; double[3,3] 0", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2,1,4] vs. [3,3]");
}

TEST(types_without_a_kernel_are_not_found) {
  op_fails("RealDiv[T=int32]", "int32[] 1; int32[] 2", CODE_NOT_FOUND,
           "No OpKernel was registered to support Op 'RealDiv'");
}

static const char *const kShapes[] = {"[]",          "[1]",           "[7]",          "[5,7]",     "[5,1]",
                                      "[1,7]",       "[3,5,7]",       "[3,1,7]",      "[1,5,1]",   "[3,1,1]",
                                      "[2,3,5,7]",   "[2,1,5,1]",     "[1,3,1,7]",    "[2,1,1,7]", "[0,5,7]",
                                      "[1,1,1,1,1]", "[2,1,3,1,5,1]", "[1,2,1,3,1,5]"};

static int parse_dims(const char *text, int64_t dims[8]) {
  int rank = 0;
  for (const char *p = text + 1; *p != ']' && *p != '\0'; rank++) {
    char *end;
    dims[rank] = strtoll(p, &end, 10);
    p = *end == ',' ? end + 1 : end;
  }
  return rank;
}

/* Broadcast dims, or -1 if they are incompatible. */
static int broadcast_dims(const int64_t *a, int rank_a, const int64_t *b, int rank_b, int64_t *out) {
  int rank = rank_a > rank_b ? rank_a : rank_b;
  for (int i = 0; i < rank; i++) {
    int64_t x = i < rank - rank_a ? 1 : a[i - (rank - rank_a)],
            y = i < rank - rank_b ? 1 : b[i - (rank - rank_b)];
    if (x != y && x != 1 && y != 1) return -1;
    out[i] = x == 1 ? y : x;
  }
  return rank;
}

static double reference(const char *op, double a, double b) {
  if (strcmp(op, "Add") == 0) return a + b;
  if (strcmp(op, "Sub") == 0) return a - b;
  if (strcmp(op, "Mul") == 0) return a * b;
  if (strcmp(op, "Maximum") == 0) return a > b ? a : b;
  if (strcmp(op, "SquaredDifference") == 0) return (a - b) * (a - b);
  if (strcmp(op, "Less") == 0) return a < b;
  if (strcmp(op, "GreaterEqual") == 0) return a >= b;
  return a == b;
}

/* Small integers, which are exact in every type. */
static void fill(Tensor *tensor, unsigned *seed) {
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) {
    *seed = *seed * 1664525u + 1013904223u;
    tensor_put(tensor, i, (double)((*seed >> 16) % 8));
  }
}

static void check_pair(const char *op, const char *type, const char *a_text, const char *b_text,
                       bool in_place) {
  int64_t a[8], b[8], dims[8], coordinates[8] = {0};
  int rank_a = parse_dims(a_text, a), rank_b = parse_dims(b_text, b),
      rank = broadcast_dims(a, rank_a, b, rank_b, dims);
  char spec[64];
  snprintf(spec, sizeof spec, "%s[T=%s]", op, type);
  CHECK_CONTEXT("%s %s %s%s", spec, a_text, b_text, in_place ? " in place" : "");
  Status status;
  status_init(&status);
  OpRun run;
  unsigned seed = 7;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  run.last_use = in_place;
  int dtype = dtype_from_name(str_of(type));
  Tensor *x = op_run_input(&run, (DataType)dtype, rank_a, a),
         *y = op_run_input(&run, (DataType)dtype, rank_b, b);
  fill(x, &seed);
  fill(y, &seed);
  Tensor x_copy = {0}, y_copy = {0};
  CHECK_OK(tensor_copy(&x_copy, x, NULL, &status), status);
  CHECK_OK(tensor_copy(&y_copy, y, NULL, &status), status);
  if (rank < 0) {
    CHECK_ERROR(op_run_compute(&run, &status), status, CODE_INVALID_ARGUMENT, "Incompatible shapes");
  } else if (CHECK_OK(op_run_compute(&run, &status), status)) {
    const Tensor *z = &run.outputs[0];
    CHECK_INT_EQ(z->shape.rank, rank);
    for (int i = 0; i < rank && i < z->shape.rank; i++) CHECK_INT_EQ(shape_dim(&z->shape, i), dims[i]);
    for (int64_t i = 0; i < tensor_num_elements(z); i++) {
      int64_t rest = i;
      for (int k = rank - 1; k >= 0; k--) coordinates[k] = rest % dims[k], rest /= dims[k];
      double want = reference(op, tensor_get_broadcast(&x_copy, rank, coordinates),
                              tensor_get_broadcast(&y_copy, rank, coordinates));
      if (!CHECK_NEAR(tensor_get(z, i), want, 0)) break;
    }
    int64_t size = tensor_num_elements(z);
    bool may_be_in_place = in_place && dtype_size((int)z->dtype) == dtype_size(dtype) &&
                           (tensor_num_elements(x) == size || tensor_num_elements(y) == size);
    if (size > 0) CHECK_INT_EQ(z->buffer == x->buffer || z->buffer == y->buffer, may_be_in_place);
  }
  tensor_clear(&x_copy);
  tensor_clear(&y_copy);
  op_run_end(&run);
}

TEST(every_pair_of_shapes_matches_the_reference) {
  static const char *const kOps[] = {"Add",  "Sub",          "Mul",  "Maximum", "SquaredDifference",
                                     "Less", "GreaterEqual", "Equal"};
  static const char *const kTypes[] = {"float", "double", "int32", "int64", "half"};
  const int num_shapes = sizeof kShapes / sizeof kShapes[0];
  for (int i = 0; i < num_shapes; i++) {
    for (int k = 0; k < num_shapes; k++) {
      for (int op = 0; op < 8; op++)
        check_pair(kOps[op], kTypes[(op + i + k) % 5], kShapes[i], kShapes[k], (i + k) % 2 == 0);
    }
  }
  CHECK_CONTEXT("%s", "");
}

/* Rows of all lengths that are computed several at once, and of longer ones. */
TEST(short_rows_match_the_reference) {
  static const char *const kPairs[][2] = {
      {"%d", "50,%d"},          {"50,%d", "1,%d"},        {"50,%d", "50,1"},    {"50,1", "1,%d"},
      {"1,%d", "50,1"},         {"3,1,%d", "1,50,%d"},    {"3,1,%d", "3,50,1"}, {"2,5,1,%d", "1,5,7,1"},
      {"2,1,3,%d", "2,50,3,1"}, {"1,2,1,%d", "70,1,3,1"},
  };
  static const char *const kOps[] = {"Sub", "Less", "Mul", "SquaredDifference"};
  static const char *const kTypes[] = {"float", "double", "int32", "int64", "half"};
  static const int kLengths[] = {1, 2, 3, 5, 8, 10, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129};
  for (size_t i = 0; i < sizeof kPairs / sizeof kPairs[0]; i++) {
    for (size_t k = 0; k < sizeof kLengths / sizeof kLengths[0]; k++) {
      char a[32], b[32];
      snprintf(a, sizeof a, kPairs[i][0], kLengths[k]);
      snprintf(b, sizeof b, kPairs[i][1], kLengths[k]);
      check_pair(kOps[k % 4], kTypes[(i + k) % 5], a, b, k % 2 == 0);
      check_pair(kOps[(k + 1) % 4], kTypes[(i + k + 2) % 5], b, a, k % 2 == 1);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(large_operands_are_split_over_threads_without_a_trace) {
  static const struct {
    const char *a, *b;
  } kCases[] = {{"float[300000] 1 2 3 4 5", "float[] 2"},
                {"float[3,100001] 5", "float[3,1] 1 2 3"},
                {"float[100001,3] 5", "float[3] 1 2 3"},
                {"float[50001,7] 5 4 3 2 1", "float[50001,1] 1 2 3 4"},
                {"float[7,5001,1] 5 4 3 2 1", "float[7,1,11] 1 2 3 4"}};
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("%s %s", kCases[i].a, kCases[i].b);
    Status status;
    status_init(&status);
    OpRun serial, split;
    REQUIRE_OK(op_run_begin(&serial, "Sub[T=float]", &status), status);
    REQUIRE_OK(op_run_begin(&split, "Sub[T=float]", &status), status);
    int64_t calls = 0;
    const Parallel parallel = {fake_parallel_run, &calls, 4};
    split.parallel = &parallel;
    CHECK_OK(op_run_inputs(&serial, kCases[i].a, &status) && op_run_inputs(&serial, kCases[i].b, &status),
             status);
    CHECK_OK(op_run_inputs(&split, kCases[i].a, &status) && op_run_inputs(&split, kCases[i].b, &status),
             status);
    if (CHECK_OK(op_run_compute(&serial, &status), status) &&
        CHECK_OK(op_run_compute(&split, &status), status)) {
      CHECK(calls > 1);
      CHECK_MEM_EQ(split.outputs[0].data, serial.outputs[0].data, (size_t)tensor_bytes(&serial.outputs[0]));
    }
    op_run_end(&serial);
    op_run_end(&split);
  }
  CHECK_CONTEXT("%s", "");
}

/* Operands are never equal, and never zero. */
#define BINARY(inputs) \
  { "Add|AddV2|Sub|Mul|RealDiv|Maximum|Minimum|SquaredDifference[T=double]", inputs }
GRADIENT_CASES(binary, BINARY("double[2,3] -3 -2 -1.5 1 2.5 3; double[2,3] 1 2 -3.5 0.5 -1 4"),
               BINARY("double[2,3] -3 -2 -1.5 1 2.5 3; double[3] 1.2 -2.2 0.7"),
               BINARY("double[2,1] -1.7 2; double[2,3] 1 2.2 -3.5 0.5 -1 4"),
               BINARY("double[] 1.7; double[2,2] 1 2.2 -3.5 0.5"),
               BINARY("double[3,1] 1 2.5 -3; double[1,2] 0.5 -1.7"),
               BINARY("double[1,3] 1 2.5 -3; double[1,1] 0.7"), BINARY("double[] 2; double[] 3"),
               BINARY("double[0,3]; double[3] 1 2 3"))
