/* TF_ComputeGradientError: correct, wrong and missing gradients. */
#include <math.h>

#include "c_api/c_api_fixture.h"
#include "shortage.h"
#include "tfcore/gradient_checker.h"

static TF_Tensor *doubles(int rank, const int64_t *dims, int count, const double *values) {
  return tensor_of(TF_DOUBLE, rank, dims, values, sizeof(double) * (size_t)count);
}

static TF_Output cast(Fixture *f, const char *name, TF_Output x, TF_DataType to) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "Cast", name);
  TF_AddInput(desc, x);
  TF_SetAttrType(desc, "DstT", to);
  return finish(f, desc);
}

/* The error with one y and one x; NaN when the call failed. */
static double error_of(Fixture *f, TF_Output y, TF_Output x, TF_Tensor *value) {
  double error = NAN;
  TF_ComputeGradientError(f->graph, &y, 1, &x, 1, &value, NULL, &error, f->status);
  CHECK_TF_OK(f->status);
  TF_DeleteTensor(value);
  return error;
}

TEST(right_gradients_of_several_ys_by_several_xs) {
  static const int64_t x_dims[] = {2, 3}, w_dims[] = {3, 4};
  static const double x_values[] = {0.1, -0.4, 0.8, 1.2, 0.3, -0.9},
                      w_values[] = {0.3, -0.2, 0.1, 0.5, -0.7, 0.4, 0.9, -1.1, 0.2, 0.6, -0.8, 1.3};
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_DOUBLE, 2, x_dims),
            w = placeholder_of(&f, "w", TF_DOUBLE, -1, NULL);
  TF_Output product = binary(&f, "MatMul", "product", x, w);
  TF_Output ys[] = {unary(&f, "Softmax", "softmax", product), unary(&f, "Tanh", "tanh", product),
                    unary(&f, "Exp", "exp", w)};
  TF_Output xs[] = {x, w};
  TF_Tensor *values[] = {doubles(2, x_dims, 6, x_values), doubles(2, w_dims, 12, w_values)};
  int operations = num_operations(f.graph);
  double error = NAN;
  TF_ComputeGradientError(f.graph, ys, 3, xs, 2, values, NULL, &error, f.status);
  CHECK_TF_OK(f.status);
  CHECK(error > 0 && error < 1e-8);
  CHECK_INT_EQ(num_operations(f.graph), operations);
  CHECK_MEM_EQ(TF_TensorData(values[0]), x_values, sizeof x_values);
  TF_DeleteTensor(values[0]);
  TF_DeleteTensor(values[1]);
  end(&f);
}

TEST(right_gradients_in_single_precision) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x");
  double error =
      error_of(&f, unary(&f, "Sigmoid", "y", x), x, float_vector(4, (float[]){-2, -0.3f, 0.7f, 3}));
  CHECK(error > 0 && error < 1e-3);
  end(&f);
}

/* d(x * x)/dx is 2 x; for x * StopGradient(x) the graph sees only one half. */
TEST(wrong_gradients_are_measured) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_DOUBLE, -1, NULL);
  TF_Output y = binary(&f, "Mul", "y", x, unary(&f, "StopGradient", "stop", x));
  const int64_t two = 2;
  CHECK_NEAR(error_of(&f, y, x, doubles(1, &two, 2, (double[]){0.25, 3})), 0.5,
             1e-8); /* |3 - 6| / 6, |0.25 - 0.5| / 1 */
  CHECK_NEAR(error_of(&f, y, x, doubles(0, NULL, 1, (double[]){0.25})), 0.25, 1e-8);
  end(&f);
}

/* A missing gradient counts as zero: correct if the value does not depend on x, otherwise wrong. */
TEST(no_gradient_counts_as_zero) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_DOUBLE, -1, NULL);
  CHECK_NEAR(error_of(&f, unary(&f, "ZerosLike", "zeros", x), x, doubles(0, NULL, 1, (double[]){4})), 0, 0);
  TF_Output stopped = unary(&f, "StopGradient", "stop", x);
  CHECK_NEAR(error_of(&f, stopped, x, doubles(0, NULL, 1, (double[]){4})), 1, 1e-8);
  const int64_t none = 0;
  CHECK_NEAR(error_of(&f, unary(&f, "Exp", "exp", x), x, doubles(1, &none, 0, NULL)), 0, 0);
  end(&f);
}

/* log(x) at 0 has an infinite gradient and differences that are no numbers. */
TEST(derivatives_that_are_no_numbers) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_DOUBLE, -1, NULL);
  const int64_t two = 2;
  CHECK(isnan(error_of(&f, unary(&f, "Log", "y", x), x, doubles(1, &two, 2, (double[]){0, 1}))));
  end(&f);
}

/* Sums of complex numbers: 3 by each part and 0 across them; and one for which the graph sees only one
 * half. */
TEST(complex_numbers_are_moved_in_both_parts) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  const double at[] = {1, -2, 0.5, 3};
  const int64_t two = 2;
  TF_Output x = placeholder_of(&f, "x", TF_COMPLEX128, -1, NULL), terms[] = {x, x, x};
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "AddN", "y");
  TF_AddInputList(desc, terms, 3);
  TF_Output y = finish(&f, desc);
  CHECK_NEAR(error_of(&f, y, x, tensor_of(TF_COMPLEX128, 1, &two, at, sizeof at)), 0, 1e-9);
  TF_Output stopped[] = {x, unary(&f, "StopGradient", "stop", x)};
  desc = TF_NewOperation(f.graph, "AddN", "half");
  TF_AddInputList(desc, stopped, 2);
  TF_Output half = finish(&f, desc);
  CHECK_NEAR(error_of(&f, half, x, tensor_of(TF_COMPLEX128, 1, &two, at, sizeof at)), 0.5, 1e-9);
  end(&f);
}

static double error_of_order(Fixture *f, TF_Output y, TF_Output x, double at, int order) {
  const TF_GradientCheckOptions options = {.order = order};
  TF_Tensor *value = doubles(0, NULL, 1, &at);
  double error = NAN;
  TF_ComputeGradientError(f->graph, &y, 1, &x, 1, &value, &options, &error, f->status);
  CHECK_TF_OK(f->status);
  TF_DeleteTensor(value);
  return error;
}

/* (x + x) * s - s * s for s = StopGradient(x): the value is x^2 and the gradient 2 s is correct, but the
 * gradient's own gradient is 0. */
TEST(second_derivatives_are_checked_on_demand) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder_of(&f, "x", TF_DOUBLE, -1, NULL),
            cube = binary(&f, "Mul", "cube", unary(&f, "Square", "square", x), x);
  for (int order = 1; order <= TF_MAX_GRADIENT_CHECK_ORDER; order++)
    CHECK(error_of_order(&f, cube, x, 0.75, order) < 1e-8);
  TF_Output s = unary(&f, "StopGradient", "s", x);
  TF_Output y = binary(&f, "Sub", "y", binary(&f, "Mul", "2xs", binary(&f, "Add", "2x", x, x), s),
                       unary(&f, "Square", "s2", s));
  CHECK(error_of_order(&f, y, x, 0.75, 1) < 1e-8);
  CHECK(error_of_order(&f, y, x, 0.75, 2) > 0.1);
  end(&f);
}

/* Products and their conjugates: functions with and without a complex derivative, single and double. */
TEST(gradients_of_complex_numbers_are_tensorflows) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  const double at[] = {1, -2, 0.5, 3};
  const float single_at[] = {1, -2, 0.5f, 3};
  const int64_t two = 2;
  TF_Output x = placeholder_of(&f, "x", TF_COMPLEX128, -1, NULL),
            single = placeholder_of(&f, "single", TF_COMPLEX64, -1, NULL);
  TF_Output ys[] = {binary(&f, "Mul", "square", x, x),
                    binary(&f, "Mul", "norm", x, unary(&f, "Conj", "conj", x))};
  TF_Tensor *value = tensor_of(TF_COMPLEX128, 1, &two, at, sizeof at);
  const TF_GradientCheckOptions options = {.order = 2};
  double error = NAN;
  TF_ComputeGradientError(f.graph, ys, 2, &x, 1, &value, &options, &error, f.status);
  CHECK_TF_OK(f.status);
  CHECK(error < 1e-8);
  TF_Tensor *narrow = tensor_of(TF_COMPLEX64, 1, &two, single_at, sizeof single_at);
  CHECK(error_of(&f, binary(&f, "Mul", "single_square", single, single), single, narrow) < 1e-3);
  TF_DeleteTensor(value);
  end(&f);
}

TEST(variables_of_a_session_and_other_feeds) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output v = variable(&f, "v", 0, NULL), x = placeholder(&f, "x"), other = placeholder(&f, "other");
  TF_OperationDescription *desc = TF_NewOperation(f.graph, "AssignVariableOp", "assign");
  TF_AddInput(desc, v);
  TF_AddInput(desc, constant(&f, "ten", 10));
  TF_Operation *assign = finish(&f, desc).oper;
  TF_Output y = binary(&f, "Mul", "y", binary(&f, "Mul", "vx", read_variable(&f, "read", v), x), other);
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  run_target(&f, session, assign);
  TF_Tensor *value = float_scalar(2), *three = float_scalar(3);
  TF_GradientCheckOptions options = {.session = session,
                                     .feeds = &other,
                                     .feed_values = &three,
                                     .num_feeds = 1,
                                     .delta = 0.5};
  double error = NAN;
  TF_ComputeGradientError(f.graph, &y, 1, &x, 1, &value, &options, &error, f.status);
  if (CHECK_TF_OK(f.status))
    CHECK_NEAR(error, 0, 0); /* 30 by both: the step is a power of two, the function linear */
  options.session = NULL;
  error = 7;
  TF_ComputeGradientError(f.graph, &y, 1, &x, 1, &value, &options, &error, f.status);
  CHECK_TF_ERROR(f.status, TF_FAILED_PRECONDITION, "v");
  CHECK_NEAR(error, 7, 0);
  TF_DeleteTensor(value);
  TF_DeleteTensor(three);
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(wrong_uses_are_refused) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), whole = placeholder_of(&f, "whole", TF_INT32, -1, NULL),
            y = unary(&f, "Exp", "y", x);
  TF_Output rounded = cast(&f, "rounded", x, TF_INT32), beyond = {y.oper, 1};
  TF_Tensor *value = float_scalar(1), *wide = doubles(0, NULL, 1, (double[]){1}), *null = NULL;
  const TF_GradientCheckOptions backwards = {.delta = -1}, endless = {.delta = (double)NAN},
                                few = {.num_feeds = -1}, order = {.order = 5},
                                null_feed = {.feeds = &whole, .feed_values = &null, .num_feeds = 1};
  const struct {
    TF_Output y, x;
    TF_Tensor *value;
    const TF_GradientCheckOptions *options;
    int ny;
    const char *part;
  } kCases[] = {
      {rounded, x, value, NULL, 1,
       "Output 0 is int32; gradients are checked of float, double, complex64 and complex128"},
      {y, whole, value, NULL, 1, "Input 0 is int32"},
      {y, x, wide, NULL, 1, "The value of input 0 is double, but the input float"},
      {y, x, NULL, NULL, 1, "The value of input 0 is null"},
      {beyond, x, value, NULL, 1, ""},
      {y, beyond, value, NULL, 1, ""},
      {y, x, value, NULL, -1, "negative"},
      {y, x, value, &backwards, 1, "The step of differences is -1"},
      {y, x, value, &endless, 1, "The step of differences is nan"},
      {y, x, value, &order, 1, "Derivatives of order 5 cannot be checked; at most 4"},
      {y, x, value, &few, 1, "negative"},
      {y, x, value, &null_feed, 1, "The value of feed 0 is null"},
  };
  int operations = num_operations(f.graph);
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    double error = 7;
    TF_ComputeGradientError(f.graph, &kCases[i].y, kCases[i].ny, &kCases[i].x, 1, &kCases[i].value,
                            kCases[i].options, &error, f.status);
    TF_Code code = TF_GetCode(f.status);
    CHECK(code == TF_INVALID_ARGUMENT || code == TF_OUT_OF_RANGE);
    CHECK_STR_CONTAINS(TF_Message(f.status), kCases[i].part);
    CHECK_NEAR(error, 7, 0);
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(num_operations(f.graph), operations);
  TF_DeleteTensor(value);
  TF_DeleteTensor(wide);
  end(&f);
}

TEST(a_check_without_memory) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output x = placeholder(&f, "x"), y = unary(&f, "Tanh", "y", x);
  TF_Tensor *value = float_vector(2, (float[]){0.5f, -1});
  int operations = num_operations(f.graph);
  CHECK(error_of(&f, y, x, float_vector(2, (float[]){0.5f, -1})) <
        1e-3); /* lazily made objects are made here */
  int failures = 0;
  const TF_GradientCheckOptions options = {.order = 2};
  double error = NAN;
  for (int64_t successes = 0; successes < 100000; successes += shortage_stride(successes), failures++) {
    mem_fail_after(successes);
    TF_ComputeGradientError(f.graph, &y, 1, &x, 1, &value, &options, &error, f.status);
    mem_fail_after(-1);
    if (TF_GetCode(f.status) == TF_OK) break;
    if (!CHECK_INT_EQ(TF_GetCode(f.status), TF_RESOURCE_EXHAUSTED)) break;
    CHECK_INT_EQ(num_operations(f.graph), operations);
  }
  CHECK(error < 1e-3);
  CHECK(failures > 10);
  TF_DeleteTensor(value);
  end(&f);
}
