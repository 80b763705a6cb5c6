/* The update ops of optimisers compared with their formulas in double. */
#include <complex.h>
#include <math.h>

#include "blas/fake_parallel.h"
#include "ops/variable_fixture.h"

typedef double _Complex Number;

/* A step of one element: v[0] is the variable, v[1] and on its slots; s are the op's scalars in the order of
 * its inputs. Written as in the papers, where the kernels differ from these. */
typedef void (*Reference)(Number *v, Number g, const double *s, bool flag);

static void gradient_descent(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[0] -= s[0] * g;
}

static void momentum(Number *v, Number g, const double *s, bool nesterov) {
  v[1] = v[1] * s[1] + g;
  v[0] -= s[0] * (nesterov ? g + s[1] * v[1] : v[1]);
}

static void keras_momentum(Number *v, Number g, const double *s, bool nesterov) {
  v[1] = s[1] * v[1] - s[0] * g;
  v[0] += nesterov ? s[1] * v[1] - s[0] * g : v[1];
}

static Number moments(Number *v, Number g, const double *s) { /* the step size */
  v[1] = s[3] * v[1] + (1 - s[3]) * g;
  v[2] = s[4] * v[2] + (1 - s[4]) * g * g;
  return s[2] * sqrt(1 - s[1]) / (1 - s[0]);
}

static void adam(Number *v, Number g, const double *s, bool nesterov) {
  Number rate = moments(v, g, s);
  v[0] -= rate * (nesterov ? s[3] * v[1] + (1 - s[3]) * g : v[1]) / (csqrt(v[2]) + s[5]);
}

static void amsgrad(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  Number rate = moments(v, g, s);
  v[3] = fmax(creal(v[3]), creal(v[2]));
  v[0] -= rate * v[1] / (sqrt(creal(v[3])) + s[5]);
}

static void ada_max(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] = s[2] * v[1] + (1 - s[2]) * g;
  v[2] = fmax(s[3] * creal(v[2]), fabs(creal(g)));
  v[0] -= s[1] / (1 - s[0]) * v[1] / (v[2] + s[4]);
}

static void adagrad(Number *v, Number g, const double *s, bool update_slots) {
  if (update_slots) v[1] += g * g;
  v[0] -= s[0] * g / csqrt(v[1]);
}

static void adagrad_v2(Number *v, Number g, const double *s, bool update_slots) {
  if (update_slots) v[1] += g * g;
  v[0] -= s[0] * g / (csqrt(v[1]) + s[1]);
}

static void adadelta(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] = s[1] * v[1] + (1 - s[1]) * g * g;
  Number step = csqrt(v[2] + s[2]) / csqrt(v[1] + s[2]) * g;
  v[0] -= s[0] * step;
  v[2] = s[1] * v[2] + (1 - s[1]) * step * step;
}

static void rms_prop(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] = s[1] * v[1] + (1 - s[1]) * g * g;
  v[2] = s[2] * v[2] + s[0] * g / csqrt(v[1] + s[3]);
  v[0] -= v[2];
}

static void centered_rms_prop(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] = s[1] * v[1] + (1 - s[1]) * g;
  v[2] = s[1] * v[2] + (1 - s[1]) * g * g;
  v[3] = s[2] * v[3] + s[0] * g / csqrt(v[2] - v[1] * v[1] + s[3]);
  v[0] -= v[3];
}

static double sign(Number x) { return creal(x) > 0 ? 1 : creal(x) < 0 ? -1 : 0; }
static double soft(Number x, double threshold) { return sign(x) * fmax(fabs(creal(x)) - threshold, 0); }

static void add_sign(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] = s[3] * v[1] + (1 - s[3]) * g;
  v[0] -= s[0] * (s[1] + s[2] * sign(g) * sign(v[1])) * g;
}

static void power_sign(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] = s[3] * v[1] + (1 - s[3]) * g;
  v[0] -= s[0] * exp(s[1] * s[2] * sign(g) * sign(v[1])) * g;
}

static void ftrl_step(Number *v, Number g, double lr, double l1, double l2, double shrinkage, double power) {
  double before = creal(v[1]), after = before + creal(g * g),
         sigma = (pow(after, -power) - pow(before, -power)) / lr;
  v[2] += g + 2 * shrinkage * v[0] - sigma * v[0];
  v[1] = after;
  v[0] = fabs(creal(v[2])) > l1 ? (l1 * sign(v[2]) - v[2]) / (pow(after, -power) / lr + 2 * l2) : 0;
}
static void ftrl(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  ftrl_step(v, g, s[0], s[1], s[2], 0, s[3]);
}
static void ftrl_v2(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  ftrl_step(v, g, s[0], s[1], s[2], s[3], s[4]);
}

static void adagrad_da(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] += g;
  v[2] += g * g;
  double sum = s[1] > 0 ? soft(v[1], s[1] * s[3]) : creal(v[1]);
  v[0] = -s[0] * sum / (s[2] * s[3] * s[0] + csqrt(v[2]));
}

static void proximal_gradient_descent(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  Number next = v[0] - s[0] * g;
  v[0] = (s[1] > 0 ? soft(next, s[0] * s[1]) : next) / (1 + s[2] * s[0]);
}

static void proximal_adagrad(Number *v, Number g, const double *s, bool flag) {
  (void)flag;
  v[1] += g * g;
  double rate = s[0] / sqrt(creal(v[1]));
  Number next = v[0] - rate * g;
  v[0] = (s[1] > 0 ? soft(next, rate * s[1]) : next) / (1 + rate * s[2]);
}

/* The inputs after the variables: s a scalar, n an int64 scalar, g the gradient; `sparse` the same with i for
 * the indices, NULL if there is no such op. Scalars are powers of two and their sums, which are exact in
 * every type. */
typedef struct Case {
  const char *op, *flag;
  Reference step;
  int num_variables;
  bool complex_too;
  const char *dense, *sparse;
  double scalars[6];
} Case;

static const Case kCases[] = {
    {"GradientDescent", "", gradient_descent, 1, true, "sg", NULL, {0.25}},
    {"Momentum", ", use_nesterov=false", momentum, 2, true, "sgs", "sgis", {0.125, 0.75}},
    {"Momentum", ", use_nesterov=true", momentum, 2, true, "sgs", "sgis", {0.125, 0.75}},
    {"KerasMomentum", ", use_nesterov=false", keras_momentum, 2, true, "sgs", "sgis", {0.125, 0.75}},
    {"KerasMomentum", ", use_nesterov=true", keras_momentum, 2, true, "sgs", "sgis", {0.125, 0.75}},
    {"Adam",
     ", use_nesterov=false",
     adam,
     3,
     true,
     "ssssssg",
     NULL,
     {0.875, 0.9375, 0.0625, 0.75, 0.875, 0.125}},
    {"Adam",
     ", use_nesterov=true",
     adam,
     3,
     true,
     "ssssssg",
     NULL,
     {0.875, 0.9375, 0.0625, 0.75, 0.875, 0.125}},
    {"AdamWithAmsgrad", "", amsgrad, 4, false, "ssssssg", NULL, {0.875, 0.9375, 0.0625, 0.75, 0.875, 0.125}},
    {"AdaMax", "", ada_max, 3, false, "sssssg", NULL, {0.75, 0.0625, 0.75, 0.875, 0.125}},
    {"Adagrad", ", update_slots=true", adagrad, 2, true, "sg", "sgi", {0.25}},
    {"Adagrad", ", update_slots=false", adagrad, 2, true, "sg", "sgi", {0.25}},
    {"AdagradV2", ", update_slots=true", adagrad_v2, 2, true, "ssg", "ssgi", {0.25, 0.125}},
    {"AdagradV2", ", update_slots=false", adagrad_v2, 2, true, "ssg", "ssgi", {0.25, 0.125}},
    {"AdagradDA", "", adagrad_da, 3, false, "gsssn", "gisssn", {0.25, 0.125, 0.5, 3}},
    {"AdagradDA", "", adagrad_da, 3, false, "gsssn", "gisssn", {0.25, -0.125, 0.5, 3}},
    {"Adadelta", "", adadelta, 3, true, "sssg", "sssgi", {0.25, 0.75, 0.125}},
    {"RMSProp", "", rms_prop, 3, true, "ssssg", "ssssgi", {0.125, 0.75, 0.5, 0.125}},
    {"CenteredRMSProp", "", centered_rms_prop, 4, true, "ssssg", "ssssgi", {0.125, 0.75, 0.5, 0.5}},
    {"Ftrl", "", ftrl, 3, false, "gssss", "gissss", {0.25, 0.5, 0.125, -0.5}},
    {"Ftrl", "", ftrl, 3, false, "gssss", "gissss", {0.25, 0.5, 0.125, -0.25}},
    {"FtrlV2", "", ftrl_v2, 3, false, "gsssss", "gisssss", {0.25, 0.5, 0.125, 0.0625, -0.5}},
    {"FtrlV2", "", ftrl_v2, 3, false, "gsssss", "gisssss", {0.25, 0.5, 0.125, 0.0625, -1}},
    {"ProximalGradientDescent", "", proximal_gradient_descent, 1, false, "sssg", "sssgi", {0.25, 0.5, 0.25}},
    {"ProximalGradientDescent", "", proximal_gradient_descent, 1, false, "sssg", "sssgi", {0.25, -0.5, 0.25}},
    {"ProximalAdagrad", "", proximal_adagrad, 2, false, "sssg", "sssgi", {0.25, 0.5, 0.25}},
    {"ProximalAdagrad", "", proximal_adagrad, 2, false, "sssg", "sssgi", {0.25, 0, 0.25}},
    {"AddSign", "", add_sign, 2, false, "ssssg", NULL, {0.125, 1.25, 0.5, 0.75}},
    {"PowerSign", "", power_sign, 2, false, "ssssg", NULL, {0.125, 1.25, 0.5, 0.75}},
};

static const struct {
  const char *name;
  double tolerance;
} kTypes[] = {{"float", 4e-6},    {"double", 1e-13},   {"half", 0.01},
              {"bfloat16", 0.06}, {"complex64", 6e-6}, {"complex128", 1e-13}};

enum { ROWS = 4, COLUMNS = 3, COUNT = ROWS * COLUMNS, STEPS = 5 };
/* Row 2 twice, row 1 never. */
static const int kIndices[ROWS] = {2, 0, 2, 3};

static char *put_numbers(char *to, const char *dtype, const Number *values) {
  to += sprintf(to, "%s[%d,%d]", dtype, ROWS, COLUMNS);
  for (int i = 0; i < COUNT; i++) {
    to += sprintf(to, " %.17g", creal(values[i]));
    if (dtype[0] == 'c') to += sprintf(to, "%+.17gi", cimag(values[i]));
  }
  return to;
}

/* The inputs after the variables, in the format of op_run_inputs. */
static void write_inputs(char *to, const char *layout, const char *dtype, const double *scalars,
                         const Number *grad, bool wide_indices) {
  for (; *layout != '\0'; layout++) {
    if (*layout == 'g') to = put_numbers(to, dtype, grad);
    if (*layout == 's') to += sprintf(to, "%s[] %.17g", dtype, *scalars++);
    if (*layout == 'n') to += sprintf(to, "int64[] %.0f", *scalars++);
    if (*layout == 'i') {
      to += sprintf(to, "%s[%d]", wide_indices ? "int64" : "int32", ROWS);
      for (int i = 0; i < ROWS; i++) to += sprintf(to, " %d", kIndices[i]);
    }
    if (layout[1] != '\0') to += sprintf(to, "; ");
  }
}

/* Five steps of an op from the same start as its reference. */
static void steps_follow(const Case *c, const char *prefix, const char *layout, const char *dtype,
                         double tolerance) {
  bool sparse = strchr(layout, 'i') != NULL, wide_indices = c->scalars[0] == 0.125,
       is_complex = dtype[0] == 'c';
  VariableFixture f;
  Status status;
  char text[4000], op[160], handles[FIXTURE_MAX + 1];
  Number values[FIXTURE_MAX][COUNT], grad[COUNT];
  status_init(&status);
  snprintf(handles, sizeof handles, "%.*s", c->num_variables, "0123");
  CHECK_CONTEXT("%s%s%s, %s", prefix, c->op, c->flag, dtype);
  if (!fixture_begin(&f)) return;
  for (int k = 0; k < c->num_variables; k++) {
    for (int i = 0; i < COUNT; i++) {
      /* Slots are averages of squares, or instead of slot 1 of values with a smaller square. */
      values[k][i] = k == 0 ? (i % 5 - 2) * 0.75 : (k == 1 ? 0.5 : 1) * (1 + 0.25 * ((i + k) % 4));
      if (is_complex) values[k][i] += 0.125 * (i % 3 - 1) * I;
    }
    put_numbers(text, dtype, values[k]);
    CHECK_OK(fixture_set(&f, k, text, &status), status);
  }
  snprintf(op, sizeof op, "%s%s[T=%s%s%s]", prefix, c->op, dtype,
           sparse ? wide_indices ? ", Tindices=int64" : ", Tindices=int32" : "", c->flag);
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < COUNT; i++) {
      grad[i] = ((i * 7 + step * 3) % 11 - 5) * 0.25;
      if (is_complex) grad[i] += 0.125 * ((i + step) % 4 - 1) * I;
    }
    write_inputs(text, layout, dtype, c->scalars, grad, wide_indices);
    if (!CHECK_OK(fixture_run(&f, op, handles, text, NULL, &status), status)) break;
    for (int i = 0; i < COUNT; i++) {
      Number v[FIXTURE_MAX];
      int at = sparse ? kIndices[i / COLUMNS] * COLUMNS + i % COLUMNS : i;
      for (int k = 0; k < c->num_variables; k++) v[k] = values[k][at];
      c->step(v, grad[i], c->scalars, strstr(c->flag, "true"));
      for (int k = 0; k < c->num_variables; k++) values[k][at] = v[k];
    }
  }
  for (int k = 0; k < c->num_variables; k++) {
    put_numbers(text, dtype, values[k]);
    fixture_holds(&f, k, text, tolerance);
  }
  fixture_end(&f);
}

TEST(steps_follow_their_formulae) {
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    const Case *c = &kCases[i];
    for (int t = 0; t < (c->complex_too ? 6 : 4); t++) {
      steps_follow(c, "ResourceApply", c->dense, kTypes[t].name, kTypes[t].tolerance);
      if (c->sparse) steps_follow(c, "ResourceSparseApply", c->sparse, kTypes[t].name, kTypes[t].tolerance);
    }
  }
}

/* The results of a step with two threads equal those with one. */
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
  CHECK_OK(fixture_run(&f, "ResourceApplyMomentum[T=float]", "01",
                       "float[] 0.5; float[200000] 2; float[] 0.5", NULL, &status),
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
  CHECK_ERROR(fixture_run(&f, descent, "0", "float[1] 1; float[2] 1", NULL, &status), status,
              CODE_INVALID_ARGUMENT, "alpha is not a scalar: [1]");
  CHECK_ERROR(fixture_run(&f, descent, "0", "float[] 1; float[3] 1", NULL, &status), status,
              CODE_INVALID_ARGUMENT, "var and delta do not have the same shape[2] [3]");
  CHECK_ERROR(fixture_run(&f, descent, "2", "float[] 1; float[3] 1", NULL, &status), status, CODE_INTERNAL,
              "Invalid variable reference.");
  CHECK_ERROR(fixture_run(&f, descent, "3", "float[] 1; float[2] 1", NULL, &status), status,
              CODE_INVALID_ARGUMENT, "wrong dtype");
  CHECK_ERROR(fixture_run(&f, momentum, "01", inputs, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "var and accum do not have the same shape[2] [3]");
  CHECK_ERROR(fixture_run(&f, momentum, "00", inputs, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "the same variable");
  CHECK_ERROR(fixture_run(&f, momentum, "02", inputs, NULL, &status), status, CODE_INTERNAL,
              "Invalid variable reference.");
  const char *proximal = "ResourceApplyProximalGradientDescent[T=float]";
  CHECK_ERROR(fixture_run(&f, proximal, "0", "float[] 1; float[] 1; float[3] 1; float[2] 1", NULL, &status),
              status, CODE_INVALID_ARGUMENT, "l2 regularization strength is not a scalar: [3]");
  fixture_holds(&f, 0, "float[2] 1 2", 0);
  fixture_holds(&f, 1, "float[3] 1", 0);
  fixture_end(&f);
}

TEST(rows_that_do_not_fit_are_refused_and_change_nothing) {
  static const struct {
    const char *var, *grad, *indices, *error;
  } kBad[] = {
      {"float[3,2] 1", "float[1,2] 1", "int32[1] 3", "Index 3 at offset 0 in indices is out of range"},
      {"float[3,2] 1", "float[2,2] 1", "int32[2] 0 -1", "Index -1 at offset 1 in indices is out of range"},
      {"float[3,2] 1", "float[1,2] 1", "int32[1,1] 0", "indices must be one-dimensional"},
      {"float[3,2] 1", "float[1,2] 1", "int32[2] 0 1",
       "grad must be the same size as indices in the first dimension."},
      {"float[3,2] 1", "float[1,3] 1", "int32[1] 0", "var and grad must match in dimension 1"},
      {"float[3,2] 1", "float[1] 1", "int32[1] 0", "var and grad must match in dimension 1"},
      {"float[3] 1", "float[] 1", "int32[1] 0", "grad must have the same number of dimensions as var"},
      {"float[3] 1", "float[1,1] 1", "int32[1] 0", "grad must have the same number of dimensions as var"},
      {"float[] 1", "float[1] 1", "int32[1] 0", "var must be at least 1 dimensional"},
      {"float[3,0]", "float[1,0]", "int32[1] 0", "Inner dimension should be greater than zero."},
      {"float[0,2]", "float[1,2] 1", "int32[1] 0", "Index 0 at offset 0 in indices is out of range"},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof kBad / sizeof kBad[0]; i++) {
    VariableFixture f;
    char inputs[160];
    CHECK_CONTEXT("%s", kBad[i].error);
    REQUIRE(fixture_begin(&f));
    CHECK_OK(fixture_set(&f, 0, kBad[i].var, &status), status);
    CHECK_OK(fixture_set(&f, 1, kBad[i].var, &status), status);
    snprintf(inputs, sizeof inputs, "float[] 1; %s; %s", kBad[i].grad, kBad[i].indices);
    CHECK_ERROR(fixture_run(&f, "ResourceSparseApplyAdagrad[T=float, Tindices=int32]", "01", inputs, NULL,
                            &status),
                status, CODE_INVALID_ARGUMENT, kBad[i].error);
    fixture_holds(&f, 0, kBad[i].var, 0);
    fixture_end(&f);
  }
}

TEST(sparse_ftrl_asks_for_signs) {
  static const struct {
    const char *scalars, *error;
  } kBad[] = {
      {"float[] 0; float[] 0; float[] 0; float[] 0; float[] 0",
       "lr is not a positive scalar (or zero if multiply_linear_by_lr is set): []"},
      {"float[] 1; float[] -1; float[] 0; float[] 0; float[] 0",
       "l1 regularization strength is not a non-negative scalar: []"},
      {"float[] 1; float[] 0; float[] -1; float[] 0; float[] 0",
       "l2 regularization strength is not a non-negative scalar: []"},
      {"float[] 1; float[] 0; float[] 0; float[1] 1; float[] 0",
       "l2 shrinkage regularization strength is not a non-negative scalar: [1]"},
      {"float[] 1; float[] 0; float[] 0; float[] 0; float[] 0.5",
       "lr_power is not a non-positive scalar: []"},
  };
  Status status;
  status_init(&status);
  VariableFixture f;
  REQUIRE(fixture_begin(&f));
  for (int k = 0; k < 3; k++) CHECK_OK(fixture_set(&f, k, "float[2] 1", &status), status);
  for (size_t i = 0; i < sizeof kBad / sizeof kBad[0]; i++) {
    char inputs[200];
    snprintf(inputs, sizeof inputs, "float[1] 1; int64[1] 0; %s", kBad[i].scalars);
    CHECK_ERROR(fixture_run(&f, "ResourceSparseApplyFtrlV2[T=float, Tindices=int64]", "012", inputs, NULL,
                            &status),
                status, CODE_INVALID_ARGUMENT, kBad[i].error);
  }
  fixture_end(&f);
}

/* Rows are split among threads, but updates of the same row are applied in order. */
TEST(sparse_steps_do_not_depend_on_threads) {
  enum { N = 3000, WIDTH = 8, TABLE = 64 };
  static char text[N * WIDTH * 4];
  Status status;
  status_init(&status);
  Tensor after[2] = {{0}, {0}};
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  for (int t = 0; t < 2; t++) {
    VariableFixture f;
    REQUIRE(fixture_begin(&f));
    if (t == 1) f.parallel = &parallel;
    CHECK_OK(fixture_set(&f, 0, "float[64,8] 3", &status), status);
    CHECK_OK(fixture_set(&f, 1, "float[64,8] 0.5", &status), status);
    int length = snprintf(text, sizeof text, "float[] 0.5; float[%d,%d]", N, WIDTH);
    for (int i = 0; i < N * WIDTH; i++)
      length += snprintf(text + length, sizeof text - (size_t)length, " %d", i * 7 % 5 - 2);
    length += snprintf(text + length, sizeof text - (size_t)length, "; int32[%d]", N);
    for (int i = 0; i < N; i++)
      length += snprintf(text + length, sizeof text - (size_t)length, " %d", i * 11 % TABLE);
    snprintf(text + length, sizeof text - (size_t)length, "; float[] 0.875");
    CHECK_OK(fixture_run(&f, "ResourceSparseApplyMomentum[T=float, Tindices=int32]", "01", text, NULL,
                         &status),
             status);
    CHECK_OK(fixture_run(&f, "ReadVariableOp[dtype=float]", "0", "", &after[t], &status), status);
    fixture_end(&f);
  }
  CHECK(calls > 1);
  if (!tensor_is_empty(&after[0]) && !tensor_is_empty(&after[1])) tensor_is_about(&after[1], &after[0], 0);
  tensor_clear(&after[0]);
  tensor_clear(&after[1]);
}
