/* The update ops of optimisers against their formulae in double. */
#include <math.h>

#include "blas/fake_parallel.h"
#include "variable_fixture.h"

enum { COUNT = 7 };

static const double kStart[COUNT] = {1, -2, 0.5, 3, -0.25, 0, 10};
static const double kGradient[COUNT] = {0.5, 1, -2, 0.125, 0, -0.75, 4};

/* "float[7] ..." of some numbers. */
static const char *text_of(const char *dtype, const double *values, char text[400]) {
  int length = snprintf(text, 400, "%s[%d]", dtype, COUNT);
  for (int i = 0; i < COUNT; i++) length += snprintf(text + length, (size_t)(400 - length), " %.17g", values[i]);
  return text;
}

static const struct {
  const char *dtype;
  double tolerance;
} kTypes[] = {{"float", 1e-6}, {"double", 1e-14}};

TEST(gradient_descent_steps) {
  Status status;
  status_init(&status);
  for (int t = 0; t < 2; t++) {
    VariableFixture f;
    char text[400], inputs[512], op[96];
    double want[COUNT];
    CHECK_CONTEXT("%s", kTypes[t].dtype);
    if (!fixture_begin(&f)) return;
    CHECK_OK(fixture_set(&f, 0, text_of(kTypes[t].dtype, kStart, text), &status), status);
    snprintf(op, sizeof op, "ResourceApplyGradientDescent[T=%s]", kTypes[t].dtype);
    snprintf(inputs, sizeof inputs, "%s[] 0.25; %s", kTypes[t].dtype, text_of(kTypes[t].dtype, kGradient, text));
    CHECK_OK(fixture_run(&f, op, "0", inputs, NULL, &status), status);
    for (int i = 0; i < COUNT; i++) want[i] = kStart[i] - 0.25 * kGradient[i];
    fixture_holds(&f, 0, text_of(kTypes[t].dtype, want, text), kTypes[t].tolerance);
    fixture_end(&f);
  }
}

TEST(momentum_steps) {
  Status status;
  status_init(&status);
  for (int t = 0; t < 4; t++) {
    const char *dtype = kTypes[t % 2].dtype;
    bool nesterov = t >= 2;
    VariableFixture f;
    char text[400], inputs[512], op[96];
    double var[COUNT], accum[COUNT];
    CHECK_CONTEXT("%s, nesterov %d", dtype, nesterov);
    if (!fixture_begin(&f)) return;
    for (int i = 0; i < COUNT; i++) var[i] = kStart[i], accum[i] = 0.5 * i;
    CHECK_OK(fixture_set(&f, 0, text_of(dtype, var, text), &status), status);
    CHECK_OK(fixture_set(&f, 1, text_of(dtype, accum, text), &status), status);
    snprintf(op, sizeof op, "ResourceApplyMomentum[T=%s, use_nesterov=%s]", dtype, nesterov ? "true" : "false");
    snprintf(inputs, sizeof inputs, "%s[] 0.125; %s; %s[] 0.75", dtype, text_of(dtype, kGradient, text), dtype);
    for (int step = 0; step < 3; step++) {
      CHECK_OK(fixture_run(&f, op, "01", inputs, NULL, &status), status);
      for (int i = 0; i < COUNT; i++) {
        accum[i] = accum[i] * 0.75 + kGradient[i];
        var[i] -= nesterov ? 0.125 * (kGradient[i] + 0.75 * accum[i]) : 0.125 * accum[i];
      }
    }
    fixture_holds(&f, 0, text_of(dtype, var, text), kTypes[t % 2].tolerance);
    fixture_holds(&f, 1, text_of(dtype, accum, text), kTypes[t % 2].tolerance);
    fixture_end(&f);
  }
}

TEST(adam_steps) {
  Status status;
  status_init(&status);
  const double rate = 0.0625, beta1 = 0.875, beta2 = 0.96875, epsilon = 1e-3; /* the betas are exact in float */
  for (int t = 0; t < 4; t++) {
    const char *dtype = kTypes[t % 2].dtype;
    bool nesterov = t >= 2;
    VariableFixture f;
    char text[400], inputs[800], op[96];
    double var[COUNT], m[COUNT] = {0}, v[COUNT] = {0}, power1 = beta1, power2 = beta2;
    CHECK_CONTEXT("%s, nesterov %d", dtype, nesterov);
    if (!fixture_begin(&f)) return;
    for (int i = 0; i < COUNT; i++) var[i] = kStart[i];
    CHECK_OK(fixture_set(&f, 0, text_of(dtype, var, text), &status), status);
    CHECK_OK(fixture_set(&f, 1, text_of(dtype, m, text), &status), status);
    CHECK_OK(fixture_set(&f, 2, text_of(dtype, v, text), &status), status);
    snprintf(op, sizeof op, "ResourceApplyAdam[T=%s, use_nesterov=%s]", dtype, nesterov ? "true" : "false");
    for (int step = 0; step < 3; step++) {
      snprintf(inputs, sizeof inputs, "%s[] %.17g; %s[] %.17g; %s[] %.17g; %s[] %.17g; %s[] %.17g; %s[] %.17g; %s",
               dtype, power1, dtype, power2, dtype, rate, dtype, beta1, dtype, beta2, dtype, epsilon,
               text_of(dtype, kGradient, text));
      CHECK_OK(fixture_run(&f, op, "012", inputs, NULL, &status), status);
      double size = rate * sqrt(1 - power2) / (1 - power1);
      for (int i = 0; i < COUNT; i++) {
        double g = kGradient[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        var[i] -= size * (nesterov ? beta1 * m[i] + (1 - beta1) * g : m[i]) / (sqrt(v[i]) + epsilon);
      }
      power1 *= beta1;
      power2 *= beta2;
    }
    double tolerance = t % 2 == 0 ? 4e-6 : 1e-13;
    fixture_holds(&f, 0, text_of(dtype, var, text), tolerance);
    fixture_holds(&f, 1, text_of(dtype, m, text), tolerance);
    fixture_holds(&f, 2, text_of(dtype, v, text), tolerance);
    fixture_end(&f);
  }
}

/* The values that a step of two threads leaves are those of one. */
TEST(steps_do_not_depend_on_threads) {
  Status status;
  status_init(&status);
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  f.parallel = &parallel;
  CHECK_OK(fixture_set(&f, 0, "float[200000] 3", &status), status);
  CHECK_OK(fixture_set(&f, 1, "float[200000] 1", &status), status);
  CHECK_OK(fixture_run(&f, "ResourceApplyMomentum[T=float]", "01", "float[] 0.5; float[200000] 2; float[] 0.5", NULL,
                       &status),
           status);
  fixture_holds(&f, 0, "float[200000] 1.75", 0);
  fixture_holds(&f, 1, "float[200000] 2.5", 0);
  CHECK(calls > 1);
  fixture_end(&f);
}

TEST(steps_update_in_place_unless_somebody_reads) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  Tensor before = {0}, after = {0};
  CHECK_OK(fixture_set(&f, 0, "float[2] 1 2", &status), status);
  CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &before, &status), status);
  const char *step = "float[] 1; float[2] 1 1";
  CHECK_OK(fixture_run(&f, "ResourceApplyGradientDescent[T=float]", "0", step, NULL, &status), status);
  if (!tensor_is_empty(&before)) CHECK_NEAR(tensor_f32(&before)[1], 2, 0);
  tensor_clear(&before);
  CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &after, &status), status);
  const void *memory = after.data;
  tensor_clear(&after);
  CHECK_OK(fixture_run(&f, "ResourceApplyGradientDescent[T=float]", "0", step, NULL, &status), status);
  CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &after, &status), status);
  CHECK(after.data == memory);
  tensor_clear(&after);
  fixture_holds(&f, 0, "float[2] -1 0", 0);
  fixture_end(&f);
}

TEST(steps_that_do_not_fit_are_refused_and_change_nothing) {
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  CHECK_OK(fixture_set(&f, 0, "float[2] 1 2", &status), status);
  CHECK_OK(fixture_set(&f, 1, "float[3] 1", &status), status);
  CHECK_OK(fixture_declare(&f, 2, "float", &status), status);
  CHECK_OK(fixture_set(&f, 3, "double[2] 1", &status), status);
  const char *descent = "ResourceApplyGradientDescent[T=float]", *momentum = "ResourceApplyMomentum[T=float]";
  const char *inputs = "float[] 1; float[2] 1; float[] 1";
  CHECK_ERROR(fixture_run(&f, descent, "0", "float[1] 1; float[2] 1", NULL, &status), status, CODE_INVALID_ARGUMENT,
              "alpha is not a scalar: [1]");
  CHECK_ERROR(fixture_run(&f, descent, "0", "float[] 1; float[3] 1", NULL, &status), status, CODE_INVALID_ARGUMENT,
              "var and delta do not have the same shape[2] [3]");
  CHECK_ERROR(fixture_run(&f, descent, "2", "float[] 1; float[3] 1", NULL, &status), status, CODE_FAILED_PRECONDITION,
              "uninitialized");
  CHECK_ERROR(fixture_run(&f, descent, "3", "float[] 1; float[2] 1", NULL, &status), status, CODE_INVALID_ARGUMENT,
              "wrong dtype");
  CHECK_ERROR(fixture_run(&f, momentum, "01", inputs, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "var and accum do not have the same shape[2] [3]");
  CHECK_ERROR(fixture_run(&f, momentum, "00", inputs, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "the same variable");
  CHECK_ERROR(fixture_run(&f, momentum, "02", inputs, NULL, &status), status, CODE_FAILED_PRECONDITION,
              "uninitialized");
  fixture_holds(&f, 0, "float[2] 1 2", 0);
  fixture_holds(&f, 1, "float[3] 1", 0);
  fixture_end(&f);
}
