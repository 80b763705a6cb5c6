/* Reductions compared with sums over coordinates, and their axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"
#include "runtime/function_fixture.h"

TEST(reductions_over_axes) {
  const char *x = "float[2,3] 1 2 3 4 5 6";
  char inputs[96];
  static const struct {
    const char *op, *axes, *want;
  } kCases[] = {{"Sum[T=float]", "int32[1] 0", "float[3] 5 7 9"},
                {"Sum[T=float]", "int32[] 1", "float[2] 6 15"},
                {"Sum[T=float]", "int32[2] 0 1", "float[] 21"},
                {"Sum[T=float, keep_dims=true]", "int32[2] 1 -2", "float[1,1] 21"},
                {"Sum[T=float]", "int32[0]", "float[2,3] 1 2 3 4 5 6"},
                {"Mean[T=float]", "int32[] -1", "float[2] 2 5"},
                {"Mean[T=float, Tidx=int64, keep_dims=true]", "int64[1] 0", "float[1,3] 2.5 3.5 4.5"},
                {"Max[T=float]", "int32[] 0", "float[3] 4 5 6"},
                {"Min[T=float]", "int32[2] 1 0", "float[] 1"},
                {"Prod[T=float]", "int32[] 1", "float[2] 6 120"}};
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    snprintf(inputs, sizeof inputs, "%s; %s", x, kCases[i].axes);
    op_gives(kCases[i].op, inputs, kCases[i].want);
  }
}

TEST(reductions_of_every_type) {
  op_gives("Sum[T=int32]", "int32[2] 2147483647 1; int32[] 0", "int32[] -2147483648");
  op_gives("Mean[T=int32]", "int32[3] 1 2 5; int32[] 0", "int32[] 2");
  op_gives("Sum[T=int64]", "int64[2] 4611686018427387904 1; int32[] 0", "int64[] 4611686018427387905");
  op_gives("Max[T=int64]", "int64[3] -5 -7 -6; int32[] 0", "int64[] -5");
  op_gives("Sum[T=uint8]", "uint8[3] 200 100 1; int32[] 0", "uint8[] 45");
  op_gives("Max[T=uint8]", "uint8[3] 200 100 1; int32[] 0", "uint8[] 200");
  op_gives("Min[T=int8]", "int8[2,2] 1 -128 127 0; int32[] 0", "int8[2] 1 -128");
  op_gives("Prod[T=int16]", "int16[3] 100 -3 2; int32[] 0", "int16[] -600");
  op_gives("Max[T=uint32]", "uint32[2] 4294967295 1; int32[] 0", "uint32[] 4294967295");
  op_gives("Sum[T=half]", "half[4] 0.5 1 2 4; int32[] 0", "half[] 7.5");
  op_gives("Mean[T=bfloat16]", "bfloat16[2,2] 1 2 3 4; int32[] 0", "bfloat16[2] 2 3");
}

/* The maximum of no elements is the lowest value of the type, and vice versa. */
TEST(extremes_over_no_elements_of_every_type) {
  static const struct {
    const char *type, *least, *most;
  } kTypes[] = {{"int8", "-128", "127"},
                {"int16", "-32768", "32767"},
                {"int32", "-2147483648", "2147483647"},
                {"int64", "-9223372036854775808", "9223372036854775807"},
                {"uint8", "0", "255"},
                {"uint16", "0", "65535"},
                {"uint32", "0", "4294967295"},
                {"uint64", "0", "18446744073709551615"},
                {"half", "-inf", "inf"},
                {"bfloat16", "-inf", "inf"},
                {"float", "-inf", "inf"},
                {"double", "-inf", "inf"}};
  for (size_t i = 0; i < sizeof kTypes / sizeof *kTypes; i++) {
    const char *type = kTypes[i].type;
    char op[32], inputs[64], outputs[64];
    snprintf(inputs, sizeof inputs, "%s[2,0]; int32[] 1", type);
    snprintf(op, sizeof op, "Max[T=%s]", type);
    snprintf(outputs, sizeof outputs, "%s[2] %s %s", type, kTypes[i].least, kTypes[i].least);
    op_gives(op, inputs, outputs);
    snprintf(op, sizeof op, "Min[T=%s]", type);
    snprintf(outputs, sizeof outputs, "%s[2] %s %s", type, kTypes[i].most, kTypes[i].most);
    op_gives(op, inputs, outputs);
  }
  op_gives("All", "bool[2,0]; int32[] 1", "bool[2] 1 1");
  op_gives("Any", "bool[2,0]; int32[] 1", "bool[2] 0 0");
}

TEST(reductions_over_no_elements) {
  op_gives("Sum[T=float]", "float[0,2]; int32[] 0", "float[2] 0");
  op_gives("Prod[T=double]", "double[2,0]; int32[] 1", "double[2] 1");
  op_gives("Mean[T=float]", "float[0]; int32[] 0", "float[] nan");
  op_gives("Max[T=float]", "float[0]; int32[] 0", "float[] -inf");
  op_gives("Min[T=int32]", "int32[0]; int32[] 0", "int32[] 2147483647");
  op_gives("Max[T=int8]", "int8[0]; int32[] 0", "int8[] -128");
  op_gives("Min[T=uint16]", "uint16[0,1]; int32[] 0", "uint16[1] 65535");
  op_gives("Sum[T=float]", "float[0,2]; int32[] 1", "float[0]");
  op_gives("Mean[T=int32]", "int32[0]; int32[] 0", "int32[] 0");
  /* Overflowing products of sizes are never computed. */
  op_gives("Sum[T=float]", "float[0,4611686018427387904,4]; int32[2] 1 2", "float[0]");
  op_gives("Max[T=float]", "float[0,4611686018427387904,4]; int32[2] 0 1", "float[4] -inf");
  op_fails("Sum[T=float]", "float[0,4611686018427387904,4]; int32[] 0", CODE_INVALID_ARGUMENT,
           "more than 2**63 - 1 elements");
}

TEST(nan_wins) {
  op_gives("Max[T=float]", "float[3] 1 nan 2; int32[] 0", "float[] nan");
  op_gives("Min[T=double]", "double[3] nan 1 2; int32[] 0", "double[] nan");
  op_gives("Max[T=float]", "float[2] inf -inf; int32[] 0", "float[] inf");
}

TEST(axes_that_are_none) {
  op_fails("Sum[T=float]", "float[2,3] 0; int32[] 2", CODE_INVALID_ARGUMENT,
           "Invalid reduction dimension (2 for input with 2 dimension(s)");
  op_fails("Max[T=float]", "float[2,3] 0; int32[1] -3", CODE_INVALID_ARGUMENT,
           "Invalid reduction dimension (-3 for input with 2");
  op_fails("Mean[T=float]", "float[2,3] 0; int32[2] 1 -1", CODE_INVALID_ARGUMENT,
           "Invalid reduction arguments: Axes contains duplicate dimension: 1");
  op_fails("Sum[T=float]", "float[] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "Invalid reduction dimension (0 for input with 0");
}

TEST(a_reduction_of_single_elements_shares_the_value) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "Sum[T=float]", &status), status);
  CHECK_OK(op_run_inputs(&run, "float[3,1,2] 1 2 3 4 5 6; int32[] 1", &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    CHECK(run.outputs[0].buffer == run.inputs[0].buffer);
    CHECK_INT_EQ(run.outputs[0].shape.rank, 2);
  }
  op_run_end(&run);
}

/* Every subset of the axes of a tensor of rank 5. */
static void check_axes(const char *op, const char *type, unsigned mask) {
  static const int64_t kDims[5] = {3, 1, 4, 2, 5};
  char spec[64];
  snprintf(spec, sizeof spec, "%s[T=%s]", op, type);
  CHECK_CONTEXT("%s, axes %x", spec, mask);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *x = op_run_input(&run, (DataType)dtype_from_name(str_of(type)), 5, kDims);
  for (int i = 0; i < 120; i++) tensor_put(x, i, i * 37 % 11 - 3);
  int64_t axes[5], count = 0, results = 1;
  for (int i = 0; i < 5; i++) {
    if (mask >> i & 1) axes[count++] = i % 2 == 0 ? i : i - 5;
    else results *= kDims[i];
  }
  Tensor *indices = op_run_input(&run, DT_INT32, 1, &count);
  for (int64_t i = 0; i < count; i++) tensor_put(indices, i, (double)axes[i]);
  double want[120];
  bool seen[120] = {false};
  for (int i = 0; i < 120; i++) {
    int64_t rest = i, index = 0, step = 1;
    for (int k = 4; k >= 0; k--) {
      int64_t c = rest % kDims[k];
      rest /= kDims[k];
      if (mask >> k & 1) continue;
      index += c * step;
      step *= kDims[k];
    }
    double value = tensor_get(x, i);
    if (!seen[index]) want[index] = value;
    else if (op[0] == 'S' || strcmp(op, "Mean") == 0) want[index] += value;
    else if (strcmp(op, "Max") == 0) want[index] = fmax(want[index], value);
    else if (strcmp(op, "Min") == 0) want[index] = fmin(want[index], value);
    else want[index] *= value;
    seen[index] = true;
  }
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), results);
    for (int64_t i = 0; i < results; i++) {
      double expected = strcmp(op, "Mean") == 0 ? want[i] / (120 / (double)results) : want[i];
      CHECK_NEAR(tensor_get(&run.outputs[0], i), expected, 1e-5 * fabs(expected));
    }
  }
  op_run_end(&run);
}

TEST(every_set_of_axes_matches_the_reference) {
  static const char *const kOps[] = {"Sum", "Mean", "Max", "Min"};
  for (unsigned mask = 0; mask < 32; mask++) {
    for (int i = 0; i < 4; i++) {
      check_axes(kOps[i], "float", mask);
      check_axes(kOps[i], "double", mask);
      if (i != 1) check_axes(kOps[i], "int32", mask);
      if (i != 1) check_axes(kOps[i], "int8", i == 0 ? mask & 12 : mask); /* whose sums stay small */
    }
    check_axes("Prod", "double", mask & 12);
  }
  CHECK_CONTEXT("%s", "");
}

#define CUBE "double[2,3,2] 1.5 -2 3 0.5 1 4 -1.2 2.5 0.7 -3 2 1.1; "
#define EVERY_REDUCTION "Sum|Mean|Max|Min|Prod"
GRADIENT_CASES(
    reduction, {EVERY_REDUCTION "[T=double]", "double[2,0]; int32[] 0"},
    {EVERY_REDUCTION "[T=double]", "double[0,3]; int32[] 0"},
    {EVERY_REDUCTION "[T=double, keep_dims=true]", "double[0]; int32[] 0"},
    {EVERY_REDUCTION "[T=double]", CUBE "int32[] 1"}, {EVERY_REDUCTION "[T=double]", CUBE "int32[2] 0 -1"},
    {EVERY_REDUCTION "[T=double]", CUBE "int32[0]"}, {EVERY_REDUCTION "[T=double]", CUBE "int32[3] 0 1 2"},
    {EVERY_REDUCTION "[T=double, keep_dims=true]", CUBE "int32[] -1"},
    {EVERY_REDUCTION "[T=double, keep_dims=true]", CUBE "int32[1] 0"},
    {EVERY_REDUCTION "[T=double, keep_dims=true]", CUBE "int32[3] 0 1 2"},
    {EVERY_REDUCTION "[T=double, Tidx=int64]", "double[2,2] 1 2 3 4; int64[] 0"},
    {EVERY_REDUCTION "[T=double]", "double[] 1.5; int32[0]"}, {"Sum[T=double]", "double[0,2]; int32[] 0"},
    {"Sum[T=double, keep_dims=true]", "double[0,2]; int32[] 0"},
    {"Mean[T=double]", "double[0,2]; int32[] 0", "The mean of nothing is 0 / 0, and so is its derivative."})

TEST(all_and_any) {
  op_gives("All", "bool[2,3] 1 1 1 1 0 1; int32[] 1", "bool[2] 1 0");
  op_gives("Any", "bool[2,3] 0 0 0 0 1 0; int32[] 1", "bool[2] 0 1");
  op_gives("All[keep_dims=true]", "bool[2,3] 1 1 1 1 0 1; int32[] 0", "bool[1,3] 1 0 1");
  op_gives("Any[Tidx=int64]", "bool[2,3] 0 0 0 0 1 0; int64[2] 0 1", "bool[] 1");
  op_gives("All", "bool[0,2]; int32[] 0", "bool[2] 1");
  op_gives("Any", "bool[0,2]; int32[] 0", "bool[2] 0");
  op_gives("All", "bool[] 1; int32[0]", "bool[] 1");
}

TEST(reductions_of_uint64_and_complex_numbers) {
  op_gives("Sum[T=uint64]", "uint64[3] 18446744073709551615 9223372036854775808 3; int32[] 0",
           "uint64[] 9223372036854775810");
  op_gives("Mean[T=uint64]", "uint64[2] 18446744073709551614 0; int32[] 0", "uint64[] 9223372036854775807");
  op_gives("Prod[T=uint64]", "uint64[2] 9223372036854775807 2; int32[] 0", "uint64[] 18446744073709551614");
  op_gives("Max[T=uint64]", "uint64[3] 1 18446744073709551615 9223372036854775808; int32[] 0",
           "uint64[] 18446744073709551615");
  op_gives("Min[T=uint64]", "uint64[2,2] 18446744073709551615 1 9223372036854775808 0; int32[] 1",
           "uint64[2] 1 0");
  op_gives("Min[T=uint64]", "uint64[0]; int32[] 0", "uint64[] 18446744073709551615");
  op_gives("Max[T=uint64]", "uint64[0]; int32[] 0", "uint64[] 0");
  op_gives("Mean[T=uint64]", "uint64[0]; int32[] 0", "uint64[] 0");
  op_gives("Prod[T=complex64]", "complex64[2,2] 3+1i 5+2i 0+1i 2; int32[] 1", "complex64[2] 13+11i 0+2i");
  op_gives("Prod[T=complex128]", "complex128[2,1,2] 3+1i 5+2i 0+1i 2; int32[2] 0 1",
           "complex128[2] -1+3i 10+4i");
  op_gives("Prod[T=complex128]", "complex128[2,0]; int32[] 1", "complex128[2] 1");
}

/* All and Any over each choice of axes, of which some are adjacent, or of size 1. `rare` is what few elements
 * are. */
static void check_bools(bool all, int rank, const int64_t *dims, int axes, bool rare) {
  OpRun run;
  Status status;
  status_init(&status);
  CHECK_OK(op_run_begin(&run, all ? "All" : "Any", &status), status);
  int64_t list[4], count = 0, wrong = 0, results = 1;
  for (int d = 0; d < rank; d++) {
    if (axes >> d & 1) list[count++] = d;
    else results *= dims[d];
  }
  Tensor *x = op_run_input(&run, DT_BOOL, rank, dims), *reduced = op_run_input(&run, DT_INT32, 1, &count);
  for (int i = 0; i < count; i++) tensor_put(reduced, i, (double)list[i]);
  for (int64_t i = 0; i < tensor_num_elements(x); i++)
    tensor_bool(x)[i] = (i * i + i / 7) % 13 == 0 ? rare : !rare;
  CHECK_OK(op_run_compute(&run, &status), status);
  CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), results);
  bool want[500];
  for (int64_t i = 0; i < results; i++) want[i] = all;
  for (int64_t i = 0; i < tensor_num_elements(x); i++) {
    int64_t to = 0, stride = 1, left = i;
    for (int d = rank - 1; d >= 0; left /= dims[d--]) {
      if (axes >> d & 1) continue;
      to += left % dims[d] * stride;
      stride *= dims[d];
    }
    want[to] = all ? want[to] && tensor_bool(x)[i] : want[to] || tensor_bool(x)[i];
  }
  for (int64_t i = 0; i < results; i++) wrong += tensor_bool(&run.outputs[0])[i] != want[i];
  CHECK_CONTEXT("all %d, rank %d, axes %x, rare %d", all, rank, (unsigned)axes, rare);
  CHECK_INT_EQ(wrong, 0);
  op_run_end(&run);
}

TEST(all_and_any_over_all_axes) {
  static const int64_t kDims[][4] = {{3, 5, 4, 7}, {1, 20, 1, 3}, {2, 1, 37, 1}, {19, 6}, {50}};
  static const int kRanks[] = {4, 4, 4, 2, 1};
  for (int s = 0; s < 5; s++)
    for (int axes = 0; axes < 1 << kRanks[s]; axes++)
      for (int k = 0; k < 4; k++) check_bools(k % 2, kRanks[s], kDims[s], axes, k / 2);
}

/* Products with no, one, two and three zeros. */
GRADIENT_CASES(product_with_zeros, {"Prod[T=double]", "double[4,3] 2 -3 0.5 0 4 5 0 0 6 0 0 0; int32[] 1"},
               {"Prod[T=double, keep_dims=true]", "double[4] 0 2 3 4; int32[] 0"},
               {"Prod[T=double]", "double[2,2,2] 0 2 3 4 5 6 0 8; int32[2] 0 2"},
               {"Prod[T=double, Tidx=int64]", "double[2,2] 0 2 3 4; int64[2] 0 -1"},
               {"Prod[T=complex128]", "complex128[2,2] 1+2i 3-1i 0 1-1i; int32[] 1"},
               {"Max[T=double]", "double[2,3] 1 3 2 6 4 5; int32[] -1"},
               {"Min[T=double, Tidx=int64]", "double[2,2,2] 1 3 2 6 4 5 -1 0.5; int64[2] 0 -1"},
               {"Mean[T=complex128]", "complex128[2,2] 1+2i 3-1i 0 1-1i; int32[] 0"},
               {"Sum[T=double]", "double[] 2; int32[0]"})

/* The total number of elements exceeds a half, that of the averaged ones does not. */
TEST(gradient_of_mean_of_many_halves) {
  Functions f;
  REQUIRE(functions_begin(&f,
                          "Average(x:half) -> (y:half) {\n"
                          "  axis = Const[dtype=int32, value=1]()\n"
                          "  y = Mean[T=half, Tidx=int32](x, axis:output:0)\n"
                          "  return y = y:output:0\n"
                          "}\n"
                          "Spread(x:half, dy:half) -> (dx:half) {\n"
                          "  dx = SymbolicGradient[Tin={half, half}, Tout={half}, f=Average](x, dy)\n"
                          "  return dx = dx:output:0\n"
                          "}\n"));
  function_gives(&f, "Spread", "half[800,100] 1; half[800] 50", "half[800,100] 0.5");
  functions_end(&f);
}
