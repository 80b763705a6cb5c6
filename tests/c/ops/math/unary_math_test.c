/* Functions of one tensor, activations and their gradient ops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

typedef struct Function {
  const char *op;
  double (*f)(double x);
  double low, high; /* the tested range */
} Function;

static double negative(double x) { return -x; }
static double sign(double x) { return (x > 0) - (x < 0); }
static double square(double x) { return x * x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double reciprocal(double x) { return 1 / x; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double relu(double x) { return x > 0 ? x : 0; }
static double relu6(double x) { return x < 0 ? 0 : x > 6 ? 6 : x; }

static double softplus(double x) { return log1p(exp(x)); }
static double softsign(double x) { return x / (1 + fabs(x)); }
static double elu(double x) { return x < 0 ? exp(x) - 1 : x; }
static double selu(double x) { return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * (exp(x) - 1) : x); }
static double leaky(double x) { return x < 0 ? (double)0.2f * x : x; }

static const Function kFunctions[] = {{"Neg", negative, -9, 9},
                                      {"Abs", fabs, -9, 9},
                                      {"Sign", sign, -9, 9},
                                      {"Square", square, -9, 9},
                                      {"Sqrt", sqrt, 0, 9},
                                      {"Rsqrt", rsqrt, 0.01, 9},
                                      {"Reciprocal", reciprocal, 1, 9},
                                      {"Inv", reciprocal, -9, -1},
                                      {"Exp", exp, -9, 9},
                                      {"Expm1", expm1, -9, 9},
                                      {"Log", log, 0.01, 9},
                                      {"Log1p", log1p, -0.9, 9},
                                      {"Tanh", tanh, -9, 9},
                                      {"Sigmoid", sigmoid, -9, 9},
                                      {"Relu", relu, -9, 9},
                                      {"Relu6", relu6, -9, 9},
                                      {"Sin", sin, -9, 9},
                                      {"Cos", cos, -9, 9},
                                      {"Tan", tan, -9, 9},
                                      {"Asin", asin, -1, 1},
                                      {"Acos", acos, -1, 1},
                                      {"Atan", atan, -9, 9},
                                      {"Sinh", sinh, -9, 9},
                                      {"Cosh", cosh, -9, 9},
                                      {"Asinh", asinh, -9, 9},
                                      {"Acosh", acosh, 1, 9},
                                      {"Atanh", atanh, -0.99, 0.99},
                                      {"Erf", erf, -4, 4},
                                      {"Erfc", erfc, -3, 2},
                                      {"Lgamma", lgamma, 3, 9},
                                      {"Floor", floor, -9, 9},
                                      {"Ceil", ceil, -9, 9},
                                      {"Rint", rint, -9, 9},
                                      {"Round", rint, -9, 9},
                                      {"Softplus", softplus, -6, 6},
                                      {"Softsign", softsign, -9, 9},
                                      {"Elu", elu, -9, 9},
                                      {"Selu", selu, -9, 9},
                                      {"LeakyRelu", leaky, -9, 9}};

/* Relative error that a result may have. */
static double precision(DataType type) {
  return type == DT_DOUBLE ? 1e-14 : type == DT_FLOAT ? 6e-7 : type == DT_HALF ? 1e-3 : 8e-3;
}

static void check_function(const Function *function, DataType type, int64_t count, bool in_place) {
  char spec[64];
  snprintf(spec, sizeof spec, "%s[T=%s]", function->op, dtype_name((int)type));
  CHECK_CONTEXT("%s, %lld elements%s", spec, (long long)count, in_place ? ", in place" : "");
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  run.last_use = in_place;
  Tensor *x = op_run_input(&run, type, 1, &count), x_copy = {0};
  for (int64_t i = 0; i < count; i++) {
    tensor_put(x, i,
               function->low +
                   (function->high - function->low) * (double)i / (double)(count > 1 ? count - 1 : 1));
  }
  CHECK_OK(tensor_copy(&x_copy, x, NULL, &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    CHECK_INT_EQ(run.outputs[0].buffer == x->buffer, in_place);
    CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), count);
    for (int64_t i = 0; i < count; i++) {
      double want = function->f(tensor_get(&x_copy, i));
      if (!CHECK_NEAR(tensor_get(&run.outputs[0], i), want, precision(type) * fabs(want))) break;
    }
  }
  tensor_clear(&x_copy);
  op_run_end(&run);
}

TEST(functions_match_libm_for_every_length_and_type) {
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16};
  static const int64_t kCounts[] = {0, 1, 2, 3, 4, 5, 7, 16, 33, 257, 1000};
  for (size_t f = 0; f < sizeof kFunctions / sizeof kFunctions[0]; f++) {
    for (int t = 0; t < 4; t++) {
      for (int c = 0; c < 11; c++) check_function(&kFunctions[f], kTypes[t], kCounts[c], (c + t) % 2 == 0);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(special_values_of_functions) {
  op_gives("Sqrt[T=float]", "float[4] 0 -0.0 inf -1", "float[4] 0 -0.0 inf nan");
  op_gives("Rsqrt[T=float]", "float[3] 0 inf -1", "float[3] inf 0 nan");
  op_gives("Reciprocal[T=double]", "double[3] 0 -0.0 inf", "double[3] inf -inf 0");
  op_gives("Exp[T=float]", "float[5] 0 -inf inf nan 1000", "float[5] 1 0 inf nan inf");
  op_gives("Log[T=float]", "float[5] 1 0 -1 inf nan", "float[5] 0 -inf nan inf nan");
  op_gives("Tanh[T=float]", "float[4] inf -inf nan 0", "float[4] 1 -1 nan 0");
  op_gives("Sigmoid[T=double]", "double[5] inf -inf nan 0 -1000", "double[5] 1 0 nan 0.5 0");
  op_gives("Sign[T=float]", "float[4] -0.0 nan inf -inf", "float[4] 0 nan 1 -1");
  op_gives("Abs[T=half]", "half[3] -1.5 -inf nan", "half[3] 1.5 inf nan");
  op_gives("Relu[T=float]", "float[4] nan -1 inf -inf", "float[4] nan 0 inf 0");
  op_gives("Relu6[T=float]", "float[4] nan 7 -7 3", "float[4] nan 6 0 3");
}

TEST(functions_of_integers) {
  op_gives("Neg[T=int32]", "int32[3] 5 -5 -2147483648", "int32[3] -5 5 -2147483648");
  op_gives("Abs[T=int64]", "int64[3] 5 -5 -9223372036854775808", "int64[3] 5 5 -9223372036854775808");
  op_gives("Sign[T=int32]", "int32[3] 5 -5 0", "int32[3] 1 -1 0");
  op_gives("Square[T=int32]", "int32[2] -7 65536", "int32[2] 49 0");
  op_gives("Relu[T=int8]", "int8[3] -128 0 127", "int8[3] 0 0 127");
  op_gives("Relu[T=uint8]", "uint8[2] 0 255", "uint8[2] 0 255");
  op_gives("Relu6[T=int64]", "int64[3] -5 5 50", "int64[3] 0 5 6");
  op_gives("Neg[T=float]", "float[] 2", "float[] -2");
  op_gives("Square[T=double]", "double[2,0,3]", "double[2,0,3]");
}

TEST(gradient_ops) {
  op_gives("SqrtGrad[T=double]", "double[2] 2 4; double[2] 8 16", "double[2] 2 2");
  op_gives("RsqrtGrad[T=double]", "double[2] 2 0.5; double[2] 1 4", "double[2] -4 -0.25");
  op_gives("ReciprocalGrad[T=double]", "double[2] 2 0.5; double[2] 1 4", "double[2] -4 -1");
  op_gives("InvGrad[T=float]", "float[2] 2 0.5; float[2] 1 4", "float[2] -4 -1");
  /* Where the slope is infinite and no gradient comes in, none goes out. */
  op_gives("SqrtGrad[T=float]", "float[4] 0 0 nan 2; float[4] 0 1 0 -0.0", "float[4] 0 inf 0 0");
  op_gives("RsqrtGrad[T=double]", "double[3] inf -inf nan; double[3] 0 0 0", "double[3] 0 0 0");
  op_gives("ReciprocalGrad[T=half]", "half[3] inf -inf 2; half[3] 0 0 1", "half[3] 0 0 -4");
  op_gives("InvGrad[T=float]", "float[2] inf inf; float[2] 0 1", "float[2] 0 -inf");
  op_gives("SqrtGrad[T=complex64]", "complex64[2] 0 2; complex64[2] 0 8", "complex64[2] 0 2");
  op_gives("TanhGrad[T=double]", "double[2] 0.5 -1; double[2] 4 3", "double[2] 3 0");
  op_gives("SigmoidGrad[T=float]", "float[2] 0.5 0.25; float[2] 4 16", "float[2] 1 3");
  op_gives("ReluGrad[T=float]", "float[4] 1 2 3 4; float[4] -1 0 2 nan", "float[4] 0 0 3 0");
  op_gives("Relu6Grad[T=float]", "float[5] 1 2 3 4 5; float[5] -1 0 2 6 5.5", "float[5] 0 0 3 0 5");
  op_gives("ReluGrad[T=int32]", "int32[2] 5 6; int32[2] -1 1", "int32[2] 0 6");
  op_fails("ReluGrad[T=float]", "float[2] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "Inputs to operation n of type ReluGrad must have the same size and shape.  Input 0: [2] != input "
           "1: [3]");
  op_fails("TanhGrad[T=float]", "float[2] 0; float[3,1] 0", CODE_INVALID_ARGUMENT,
           "The two arguments to a cwise op must have same number of elements, got 2 and 3");
  op_fails("TanhGrad[T=float]", "float[2] 0; float[2,1] 0", CODE_INVALID_ARGUMENT,
           "must have the same size and shape");
  /* It shares its kernel with ReciprocalGrad. */
  op_fails("InvGrad[T=float]", "float[2] 0; float[2,1] 0", CODE_INVALID_ARGUMENT,
           "Inputs to operation n of type InvGrad must have the same size and shape");
}

TEST(gradient_ops_work_in_place_of_either_input) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "SigmoidGrad[T=float]", &status), status);
  run.last_use = true;
  CHECK_OK(op_run_inputs(&run, "float[5] 0.5; float[5] 4 8 12 16 20", &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    CHECK(run.outputs[0].buffer == run.inputs[0].buffer);
    for (int i = 0; i < 5; i++) CHECK_NEAR(tensor_f32(&run.outputs[0])[i], i + 1, 0);
  }
  op_run_end(&run);
}

TEST(functions_split_over_threads_give_the_same_bits) {
  static const char *const kOps[] = {"Exp[T=float]", "Tanh[T=double]", "Sqrt[T=float]", "Sigmoid[T=half]"};
  static const char *const kTypes[] = {"float", "double", "float", "half"};
  for (int i = 0; i < 4; i++) {
    CHECK_CONTEXT("%s", kOps[i]);
    Status status;
    status_init(&status);
    OpRun runs[2];
    int64_t calls = 0, count = 200001;
    const Parallel parallel = {fake_parallel_run, &calls, 4};
    for (int r = 0; r < 2; r++) {
      CHECK_OK(op_run_begin(&runs[r], kOps[i], &status), status);
      if (r == 1) runs[r].parallel = &parallel;
      Tensor *x = op_run_input(&runs[r], (DataType)dtype_from_name(str_of(kTypes[i])), 1, &count);
      for (int64_t k = 0; k < count; k++) tensor_put(x, k, (double)(k % 977) / 100);
      CHECK_OK(op_run_compute(&runs[r], &status), status);
    }
    CHECK(calls > 1);
    CHECK_MEM_EQ(runs[1].outputs[0].data, runs[0].outputs[0].data, (size_t)tensor_bytes(&runs[0].outputs[0]));
    op_run_end(&runs[0]);
    op_run_end(&runs[1]);
  }
  CHECK_CONTEXT("%s", "");
}

#define EVERYWHERE "Neg|Abs|Sign|Square|Exp|Expm1|Tanh|Sigmoid|Relu[T=double]"
#define WHERE_POSITIVE "Sqrt|Rsqrt|Reciprocal|Inv|Log|Log1p|Relu6[T=double]"
/* Their inputs are y, or x, and dy. */
#define GRADIENT_OPS \
  "SqrtGrad|RsqrtGrad|ReciprocalGrad|InvGrad|TanhGrad|SigmoidGrad|ReluGrad|Relu6Grad[T=double]"
GRADIENT_CASES(unary, {EVERYWHERE, "double[2,3] -3 -1.5 -0.25 0.5 1.25 2.5"},
               {EVERYWHERE, "double[4] -0.7 0.1 1 -2"}, {EVERYWHERE, "double[] 0.7"},
               {EVERYWHERE, "double[0,2]"}, {WHERE_POSITIVE, "double[5] 0.2 0.7 1.5 4 7"},
               {WHERE_POSITIVE, "double[2,1] 0.5 2"}, {WHERE_POSITIVE, "double[] 3"},
               {"Reciprocal|Inv|Relu6[T=double]", "double[2] -0.5 -2"},
               {GRADIENT_OPS, "double[4] 0.3 0.6 1.5 2; double[4] 1 -2 0.5 3"},
               {GRADIENT_OPS, "double[1,2] 0.4 0.8; double[1,2] -1 2"},
               {GRADIENT_OPS, "double[] 0.9; double[] 3"},
               {"ReluGrad|Relu6Grad[T=double]", "double[4] 1 -2 0.5 3; double[4] -1 2 7 -4"})
