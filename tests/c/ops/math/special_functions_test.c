/* Bessel functions, incomplete gamma and beta functions and their kin, compared with mpmath:
 * tests/data/oracle/special_functions.txt, written by tests/oracle/special_functions.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/math/incomplete_functions.h"

/* The largest relative error of each op. Bessel functions with waves are compared with their envelope, and
 * the exponential integral, which has a zero, with at least 1. Arguments of Igamma and the like are up to
 * 1000: a rounding error of an argument then weighs as much as hundreds of the result. */
static const struct {
  const char *op;
  double error;
} kErrors[] = {
    {"BesselI0", 1e-15},        {"BesselI0e", 1e-15}, {"BesselI1", 1e-15},   {"BesselI1e", 1e-15},
    {"BesselK0", 1e-15},        {"BesselK0e", 1e-15}, {"BesselK1", 1e-15},   {"BesselK1e", 1e-15},
    {"BesselJ0", 1e-15},        {"BesselJ1", 1e-15},  {"BesselY0", 1e-15},   {"BesselY1", 1e-15},
    {"Dawsn", 1e-15},           {"Expint", 1e-15},    {"FresnelCos", 1e-15}, {"FresnelSin", 1e-15},
    {"Spence", 1e-15},          {"Igamma", 1e-13},    {"Igammac", 1e-13},    {"IgammaGradA", 1e-13},
    {"RandomGammaGrad", 4e-14}, {"Zeta", 2e-14},      {"Betainc", 2e-13},
};
enum { NUM_OPS = sizeof kErrors / sizeof *kErrors };

/* The magnitude to which an error of the result is compared. */
static double magnitude_of(const char *op, double x, double want) {
  if (strncmp(op, "BesselJ", 7) == 0 || strncmp(op, "BesselY", 7) == 0)
    return fmax(fabs(want), fabs(x) > 1 ? sqrt(2 / 3.14159265358979 / fabs(x)) : 0);
  return strcmp(op, "Expint") == 0 ? fmax(fabs(want), 1) : fabs(want);
}

/* The error of one value; NaN if the op failed. */
static double error_of(const char *op, const double *arguments, int count, double want) {
  Status status;
  status_init(&status);
  OpRun run;
  char text[80];
  double error = (double)NAN;
  snprintf(text, sizeof text, "%s[T=double]", op);
  if (!CHECK_OK(op_run_begin(&run, text, &status), status)) return error;
  for (int i = 0; i < count; i++) {
    Tensor *x = op_run_input(&run, DT_DOUBLE, 0, NULL);
    if (x) tensor_f64(x)[0] = arguments[i];
  }
  if (CHECK_OK(op_run_compute(&run, &status), status))
    error = fabs(tensor_f64(&run.outputs[0])[0] - want) / magnitude_of(op, arguments[0], want);
  op_run_end(&run);
  return error;
}

TEST(special_functions_agree_with_mpmath) {
  FILE *stream = fopen("tests/data/oracle/special_functions.txt", "rb");
  REQUIRE(stream);
  char line[256];
  int values = 0;
  double largest[NUM_OPS] = {0};
  while (fgets(line, sizeof line, stream)) {
    double numbers[4];
    int count = 0, op = 0;
    char *rest = strchr(line, ' ');
    if (!CHECK(rest)) break;
    *rest++ = '\0';
    for (char *end; count < 4; rest = end) {
      numbers[count] = strtod(rest, &end);
      if (end == rest) break;
      count++;
    }
    while (op < NUM_OPS && strcmp(kErrors[op].op, line) != 0) op++;
    if (!CHECK(op < NUM_OPS) || !CHECK(count > 1)) break;
    double error = error_of(line, numbers, count - 1, numbers[count - 1]);
    CHECK_CONTEXT("%s of %.17g %.17g %.17g: error %.3g", line, numbers[0], numbers[1], numbers[2], error);
    CHECK(error <= kErrors[op].error);
    largest[op] = fmax(largest[op], error);
    values++;
  }
  CHECK_CONTEXT("%s", "");
  fclose(stream);
  CHECK(values > 1000);
  if (getenv("TFCORE_SHOW_ERRORS")) {
    for (int i = 0; i < NUM_OPS; i++) printf("%s %.2g\n", kErrors[i].op, largest[i]);
  }
}

TEST(special_functions_at_their_ends) {
  op_gives("BesselI0[T=double]", "double[4] 0 inf -inf nan", "double[4] 1 inf inf nan");
  op_gives("BesselI1e[T=double]", "double[4] 0 inf -inf nan", "double[4] 0 0 -0.0 nan");
  op_gives("BesselK0[T=double]", "double[4] 0 inf -1 nan", "double[4] inf 0 inf nan");
  op_gives("BesselK1e[T=double]", "double[4] 0 inf -1 nan", "double[4] inf 0 inf nan");
  op_gives("BesselY0[T=double]", "double[3] 0 -1 nan", "double[3] -inf -inf nan");
  op_gives("BesselY1[T=double]", "double[3] 0 -1 nan", "double[3] -inf -inf nan");
  op_gives("Dawsn[T=double]", "double[4] 0 inf -inf nan", "double[4] 0 0 -0.0 nan");
  op_gives("Expint[T=double]", "double[5] 0 -1 inf nan 800", "double[5] -inf nan inf nan inf");
  op_gives("FresnelCos[T=double]", "double[5] 0 inf -inf nan 1e300", "double[5] 0 0.5 -0.5 nan 0.5");
  op_gives("FresnelSin[T=double]", "double[5] 0 inf -inf nan 1e300", "double[5] 0 0.5 -0.5 nan 0.5");
  op_gives("Spence[T=double]", "double[4] -1 nan inf 1", "double[4] nan nan -inf 0");
  op_gives("Igamma[T=double]", "double[7] 0 1 -1 1 1 inf nan; double[7] 0.5 0 0.5 -1 inf 1 1",
           "double[7] nan 0 nan nan 1 0 nan");
  op_gives("Igammac[T=double]", "double[7] 0 1 -1 1 1 inf nan; double[7] 0.5 0 0.5 -1 inf 1 1",
           "double[7] nan 1 nan nan 0 1 nan");
  op_gives("IgammaGradA[T=double]", "double[4] 0 1 -1 1; double[4] 0.5 0 0.5 inf", "double[4] nan 0 nan 0");
  op_gives("RandomGammaGrad[T=double]", "double[4] 0 1 -1 1; double[4] 0.5 0 0.5 inf",
           "double[4] nan 0 nan 0");
  op_gives("Betainc[T=double]",
           "double[7] 0 1 1 1 1 1 nan; double[7] 1 0 1 1 1 inf 1; double[7] 0.5 0.5 -0.5 0 1 0.5 0.5",
           "double[7] nan nan nan 0 1 nan nan");
  op_gives("Zeta[T=double]", "double[4] 1 0.5 2 2.5; double[4] 2 1 0 -0.5", "double[4] inf nan inf nan");
}

/* Half of the distribution is below its median, which is a - 1/3 + 8 / (405 a) for large a. */
TEST(incomplete_gamma_of_large_parameters) {
  op_gives_about("Igamma[T=double]",
                 "double[3] 1e6 1e9 1e12; double[3] 999999.66666668642 999999999.66666667 999999999999.66667",
                 "double[3] 0.5", 1e-9);
  op_gives_about("Igammac[T=double]", "double[2] 1e6 1e9; double[2] 999999.66666668642 999999999.66666667",
                 "double[2] 0.5", 1e-9);
  /* Where the expansion for large parameters begins, both methods agree with mpmath. */
  op_gives_about("Igamma[T=double]", "double[2] 99999 100001; double[] 100300",
                 "double[2] 0.829439035239992072 0.82783117909045687", 1e-12);
}

/* Elements are computed in pairs of those that are computed in one way: all together as each alone. */
TEST(incomplete_functions_do_not_depend_on_neighbours) {
  typedef void Incomplete(int64_t count, const double *a, const double *x, double *z);
  static Incomplete *const kFunctions[] = {incomplete_gamma, incomplete_gamma_upper, incomplete_gamma_by_a,
                                           incomplete_gamma_sample_by_a};
  enum { COUNT = 301 };
  double a[COUNT], b[COUNT], x[COUNT], together[COUNT], alone;
  unsigned seed = 1;
  for (int i = 0; i < COUNT; i++) {
    a[i] = i % 50 == 7    ? (double)INFINITY
           : i % 50 == 9  ? -1
           : i % 50 == 11 ? 2e5
                          : random_to(&seed, 4000) / 97.0;
    b[i] = random_to(&seed, 300) / 7.0;
    x[i] = i % 50 == 13 ? 0 : i % 50 == 11 ? 199900 : random_to(&seed, 3000) / (i % 3 == 0 ? 5000.0 : 101.0);
  }
  for (size_t f = 0; f < sizeof kFunctions / sizeof *kFunctions; f++) {
    kFunctions[f](COUNT, a, x, together);
    for (int i = 0; i < COUNT; i++) {
      kFunctions[f](1, &a[i], &x[i], &alone);
      CHECK_CONTEXT("function %d of %.17g and %.17g", (int)f, a[i], x[i]);
      CHECK(isnan(alone) ? isnan(together[i]) : together[i] == alone);
    }
  }
  incomplete_beta(COUNT, a, b, x, together);
  for (int i = 0; i < COUNT; i++) {
    incomplete_beta(1, &a[i], &b[i], &x[i], &alone);
    CHECK_CONTEXT("beta of %.17g, %.17g and %.17g", a[i], b[i], x[i]);
    CHECK(isnan(alone) ? isnan(together[i]) : together[i] == alone);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(betainc_takes_scalars_or_one_shape) {
  op_gives_about("Betainc[T=float]", "float[2] 1 2; float[] 2; float[2] 0.5 0.5", "float[2] 0.75 0.5", 1e-6);
  op_gives("Betainc[T=float]", "float[0] ; float[] 2; float[] 0.5", "float[0]");
  op_fails("Betainc[T=float]", "float[2] 1; float[3] 1; float[] 1", CODE_INVALID_ARGUMENT,
           "Shapes of a and b are inconsistent: [2] vs. [3]");
  op_fails("Betainc[T=float]", "float[] 1; float[1,2] 1; float[2] 1", CODE_INVALID_ARGUMENT,
           "Shapes of b and x are inconsistent: [1,2] vs. [2]");
}

#define EACH(op, x, y, z) \
  {op "[T=double]", x}, {op "[T=double]", y}, { op "[T=double]", z }
#define POSITIVE "double[2,3] 0.3 0.8 1.5 3 7 12", "double[3] 0.4 1.7 5", "double[] 2"
#define ALL "double[2,3] -2.5 -1.2 -0.25 0.5 1.25 2.5", "double[4] -0.7 0.1 1 -2", "double[] 0.3"
#define EACH_(op, ...) EACH(op, __VA_ARGS__)
static const char kNoSlope[] = "IgammaGradA has no gradient";

GRADIENT_CASES(special_functions, EACH_("BesselI0|BesselI0e|BesselI1|BesselI1e|BesselJ0|BesselJ1", ALL),
               EACH_("BesselK0|BesselK0e|BesselK1|BesselK1e|BesselY0|BesselY1", POSITIVE),
               EACH_("Dawsn|FresnelCos|FresnelSin", ALL), EACH_("Expint|Spence", POSITIVE),
               {"Igamma|Igammac[T=double]", "double[2] 0.7 3; double[2] 1.2 2.5", kNoSlope},
               {"Igamma|Igammac[T=double]", "double[2,1] 0.7 3; double[3] 1.2 2.5 0.3", kNoSlope},
               {"Igamma|Igammac[T=double]", "double[] 1.5; double[2,2] 1.2 2.5 0.3 4", kNoSlope})

/* As in TensorFlow, no gradient flows to the first inputs. */
TEST(gradients_by_the_last_input) {
  gradient_is("Betainc[T=double]", "double[2] 2 1; double[] 3; double[2] 0.25 0.5",
              "double[2] 0; double[] 0; double[2] 1.6875 0.75");
  gradient_is("Betainc[T=double]", "double[2] 2 1; double[2] 3 1; double[] 0.25",
              "double[2] 0; double[2] 0; double[] 2.6875");
  gradient_is("Betainc[T=double]", "double[] 1; double[] 1; double[2] 0 1",
              "double[] 0; double[] 0; double[2] 1 1");
  gradient_is("Zeta[T=double]", "double[] 2; double[2] 1 2",
              "double[] 0; double[2] -2.4041138063191886 -0.40411380631918857");
}

/* The quotients have limits at 0. */
TEST(gradients_of_bessel_functions_at_0) {
  gradient_is("BesselI1[T=double]", "double[] 0", "double[] 0.5");
  gradient_is("BesselI1e[T=double]", "double[] 0", "double[] 0.5");
  gradient_is("BesselJ1[T=double]", "double[] 0", "double[] 0.5");
  gradient_is("Spence[T=double]", "double[2] 1 2", "double[2] -1 -0.69314718055994531");
}
