/* The error function and the gamma function's derivatives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(special_values_of_error_and_gamma_functions) {
  op_gives("Erf[T=float]", "float[4] inf -inf nan -0.0", "float[4] 1 -1 nan -0.0");
  op_gives("Erfc[T=float]", "float[3] inf -inf nan", "float[3] 0 2 nan");
  op_gives("Lgamma[T=float]", "float[6] 0 -1 inf -inf nan 1", "float[6] inf inf inf inf nan 0");
  op_gives_about("Lgamma[T=double]", "double[2] 0.5 -0.5", "double[2] 0.5723649429247001 1.2655121234846454",
                 1e-15);
  op_gives_about("Erfc[T=double]", "double[] 10", "double[] 2.0884875837625447e-45", 1e-58);
}

TEST(inverses_of_error_functions) {
  op_gives_about("Erfinv[T=double]", "double[6] -0.999 -0.5 1e-10 0.3 0.25 0.9999999",
                 "double[6] -2.3267537655135245 -0.47693627620446987 8.8622692545275805e-11 "
                 "0.27246271472675434 0.22531205501217810 3.7665625816384709",
                 1e-15);
  op_gives("Erfinv[T=float]", "float[7] -1 1 1.5 nan -0.0 0 -inf", "float[7] -inf inf nan nan -0.0 0 nan");
  op_gives_about("Ndtri[T=double]", "double[5] 1e-300 1e-5 0.3 0.9 0.25",
                 "double[5] -37.047096299361199 -4.2648907939228246 -0.52440051270804082 1.2815515655446006 "
                 "-0.67448975019608174",
                 3e-15);
  op_gives("Ndtri[T=double]", "double[6] 0 1 0.5 1.5 -1 nan", "double[6] -inf inf 0 nan nan nan");
  op_gives_about("Ndtri[T=bfloat16]", "bfloat16[1] 0.25", "bfloat16[1] -0.6745", 4e-3);
}

/* erf and its inverse cancel for probabilities of every size. */
TEST(inverses_undo_the_error_functions) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "Ndtri[T=double]", &status), status);
  int64_t count = 1000;
  Tensor *p = op_run_input(&run, DT_DOUBLE, 1, &count);
  for (int64_t i = 0; i < count; i++) tensor_f64(p)[i] = ldexp(0.9, -(int)i);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < count; i++) {
      double y = tensor_f64(&run.outputs[0])[i], want = tensor_f64(p)[i], slope = fmax(1, y * y);
      if (!CHECK_NEAR(erfc(-y / sqrt(2)) / 2, want, 4e-16 * slope * want)) break;
    }
  }
  op_run_end(&run);
}

/* Closed forms: at 1 minus Euler's constant, at 1/2 2 log 2 less, at 1/4 pi/2 + 3 log 2 less. */
TEST(digamma) {
  op_gives_about("Digamma[T=double]", "double[4] 1 2 0.5 0.25",
                 "double[4] -0.5772156649015329 0.42278433509846713 -1.9635100260214235 -4.227453533376265",
                 2e-15);
  op_gives_about("Digamma[T=double]", "double[4] -0.5 -1.5 11 1e300",
                 "double[4] 0.03648997397857652 0.7031566406452432 2.3517525890667211 690.7755278982137",
                 2e-15);
  op_gives("Digamma[T=double]", "double[6] 0 -1 -7 inf -inf nan", "double[6] nan nan nan inf nan nan");
  op_gives_about("Digamma[T=float]", "float[2] 1 0.5", "float[2] -0.57721566 -1.96351003", 1e-7);
  op_gives_about("Digamma[T=half]", "half[] 1", "half[] -0.57721566", 1e-3);
}

/* The first at 1, 1/2 and -1/2 is pi^2 / 6, pi^2 / 2 and that plus 4; the second at 1 is -2 zeta(3), the
 * third pi^4 / 15. */
/* From 30 on the asymptotic series. */
static double reference_digamma(double x) {
  double pole = x - round(x), sum = 0;
  if (x <= 0)
    return pole == 0 ? (double)NAN
                     : reference_digamma(1 - x) - 3.14159265358979323846 / tan(3.14159265358979323846 * pole);
  for (; x < 30; x++) sum -= 1 / x;
  double z = 1 / (x * x);
  return sum + log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z / 240)));
}
static double reference_lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

/* Whether `got` is nearer to `want` than two units in the last place of a float. */
static bool is_near(float got, double want) {
  float rounded = (float)want;
  if (isnan(want)) return isnan(got);
  if (isinf(rounded)) return got == rounded;
  return fabs(got - want) <= 2 * fmax(ldexp(fabs(want), -24), 0x1p-149);
}

/* Whether it is nearer than four such units, as large as they are at the exponent of `want`. */
static bool is_within_4_ulp(float got, double want) {
  int exponent;
  if (isnan(want)) return isnan(got);
  if (isinf(want)) return (double)got == want;
  frexp(want, &exponent);
  return fabs((double)got - want) <= ldexp(4, (exponent < -125 ? -125 : exponent) - 24);
}

static void check_floats(const char *op, double function(double), bool is_right(float, double),
                         const float *values, int64_t count) {
  Status status;
  OpRun run;
  status_init(&status);
  REQUIRE_OK(op_run_begin(&run, op, &status), status);
  Tensor *x = op_run_input(&run, DT_FLOAT, 1, &count);
  if (CHECK(x)) memcpy(tensor_f32(x), values, (size_t)count * sizeof(float));
  if (x && CHECK_OK(op_run_compute(&run, &status), status)) {
    int wrong = 0;
    for (int64_t i = 0; i < count; i++) {
      float got = tensor_f32(&run.outputs[0])[i];
      if (is_right(got, function(values[i])) || wrong++ > 5) continue;
      printf("  %s of %.9g: %.9g, not %.9g\n", op, values[i], got, function(values[i]));
    }
    CHECK_INT_EQ(wrong, 0);
  }
  op_run_end(&run);
}

/* The floats next to each place, by their bits. */
static void put_neighbours(const float *places, size_t count, float *values) {
  enum { EACH = 101 };
  for (size_t i = 0; i < count * EACH; i++) {
    uint32_t bits;
    memcpy(&bits, &places[i / EACH], sizeof bits);
    bits += (uint32_t)(i % EACH) - EACH / 2;
    memcpy(&values[i], &bits, sizeof bits);
  }
}

/* Of every exponent; next to zeros and poles, and where the formulas change; and anywhere between -20 and 20.
 */
TEST(gamma_functions_of_floats) {
  static const float kPlaces[] = {1,
                                  2,
                                  1.46163215f,
                                  -2.45702481f,
                                  -2.7476826f,
                                  -3.14358091f,
                                  -3.9552943f,
                                  -0.50408299f,
                                  -1.57349849f,
                                  -2.61072087f,
                                  0.5f,
                                  1.5f,
                                  2.5f,
                                  8,
                                  -1,
                                  -2,
                                  -7,
                                  -20};
  enum { COUNT = 20003 };
  static float values[COUNT];
  unsigned seed = 5;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1664525u + 1013904223u;
    uint32_t bits = seed ^ seed >> 15;
    memcpy(&values[i], &bits, sizeof bits);
    if (i % 2) values[i] = (float)((int)(seed >> 8) - (1 << 23)) * (20 / 0x1p23f);
  }
  put_neighbours(kPlaces, sizeof kPlaces / sizeof kPlaces[0], values);
  check_floats("Lgamma[T=float]", reference_lgamma, is_near, values, COUNT);
  check_floats("Digamma[T=float]", reference_digamma, is_near, values, COUNT);
}

/* erfc(y) = q for q <= 1/2 by Newton's method for log(erfc), which is concave: from above it comes down to y.
 */
static double reference_erfc_inverse(double q) {
  double y = sqrt(-log(q));
  for (int i = 0; i < 30; i++) {
    double tail = erfc(y);
    y += log(tail / q) * tail / (2 / sqrt(acos(-1)) * exp(-y * y));
  }
  return y;
}
static double reference_erfinv(double x) {
  double size = fabs(x), y = size;
  if (!(size <= 1)) return (double)NAN;
  if (size == 1) return x * (double)INFINITY;
  for (int i = 0; size < 0.5 && i < 10; i++) y -= (erf(y) - size) / (2 / sqrt(acos(-1)) * exp(-y * y));
  return copysign(size < 0.5 ? y : reference_erfc_inverse(1 - size), x);
}
static double reference_ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (p == 0 || p == 1) return p == 0 ? -(double)INFINITY : (double)INFINITY;
  if (p > 0.25 && p < 0.75) return sqrt(2) * reference_erfinv(2 * p - 1);
  return p < 0.5 ? -sqrt(2) * reference_erfc_inverse(2 * p) : sqrt(2) * reference_erfc_inverse(2 * (1 - p));
}

/* The integral of exp(a (cos t - 1)) cos(order t) over a period, which sums of equidistant values give
 * exactly; the first terms of series for arguments that are tiny or far. */
static double reference_bessel(int order, double a) {
  if (isnan(a)) return a;
  if (a < 1e-4) return (order ? a / 2 : 1) * exp(-a) * (1 + a * a / (order ? 8 : 4));
  double mu = 4 * order,
         far = 1 - (mu - 1) / (8 * a) * (1 - (mu - 9) / (16 * a) * (1 - (mu - 25) / (24 * a)));
  if (a > 1e4) return isinf(a) ? 0 : far / sqrt(2 * acos(-1) * a);
  int steps = 60 + (int)(9 * sqrt(a));
  double sum = 0;
  for (int k = 0; k < steps; k++) {
    double cosine = cos(2 * acos(-1) * k / steps), half = sin(acos(-1) * k / steps);
    sum += exp(-2 * a * half * half) * (order ? cosine : 1);
  }
  return sum / steps;
}
static double reference_i0e(double x) { return reference_bessel(0, fabs(x)); }
static double reference_i1e(double x) { return copysign(reference_bessel(1, fabs(x)), x); }

/* Of every exponent, of both ends of the range of probabilities, and next to where the formulas change. */
TEST(special_functions_of_floats) {
  static const float kPlaces[] = {1,         -1,         0.5f,       0.25f,      0.75f,    0.0016874f,
                                  0.996625f, -0.996625f, 0.9983126f, 0x1p-126f,  1.75f,    3.5f,
                                  -3.5f,     8,          20,         0x1.1dp-8f, 0x1p-24f, 1e-37f};
  enum { COUNT = 40009 };
  static float values[COUNT];
  unsigned seed = 7;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1664525u + 1013904223u;
    uint32_t bits = seed ^ seed >> 15;
    memcpy(&values[i], &bits, sizeof bits);
    if (i % 4 == 1) values[i] = (float)((int)(seed >> 8) - (1 << 23)) * 0x1p-23f;
    if (i % 4 == 2) values[i] = (float)((int)(seed >> 8) - (1 << 23)) * (20 * 0x1p-23f);
    if (i % 4 == 3) values[i] = 1 - (float)(seed >> 8) * 0x1p-33f;
  }
  put_neighbours(kPlaces, sizeof kPlaces / sizeof kPlaces[0], values);
  check_floats("Erfinv[T=float]", reference_erfinv, is_within_4_ulp, values, COUNT);
  check_floats("Ndtri[T=float]", reference_ndtri, is_within_4_ulp, values, COUNT);
  check_floats("BesselI0e[T=float]", reference_i0e, is_within_4_ulp, values, COUNT);
  check_floats("BesselI1e[T=float]", reference_i1e, is_within_4_ulp, values, COUNT);
}

TEST(special_values_of_floats) {
  op_gives("Ndtri[T=float]", "float[7] 0 1 0.5 1.5 -1 nan inf", "float[7] -inf inf 0 nan nan nan nan");
  op_gives("Ndtri[T=float]", "float[2] -0.0 -inf", "float[2] -inf nan");
  op_gives("BesselI0e[T=float]", "float[5] 0 -0.0 inf -inf nan", "float[5] 1 1 0 0 nan");
  op_gives("BesselI1e[T=float]", "float[5] 0 -0.0 inf -inf nan", "float[5] 0 -0.0 0 -0.0 nan");
}

/* Terms, and Euler and Maclaurin's formula. */
static double reference_zeta(double s, double q) {
  double sum = 0, end = q;
  for (int k = 0; k < 400; k++, end++) sum += pow(end, -s);
  return sum + pow(end, -s) * (end / (s - 1) + 0.5 + s / (12 * end));
}

/* Orders and arguments of many sizes, and special ones: each in one place of a pair and in the other. */
TEST(zeta_and_polygamma_of_floats) {
  enum { COUNT = 4001 };
  static float orders[COUNT], x[COUNT], s[COUNT];
  unsigned seed = 3;
  for (int i = 0; i < COUNT; i++) {
    orders[i] = (float)random_to(&seed, i % 2 ? 6 : 40);
    x[i] = i % 50 == 3 ? INFINITY : (float)exp(random_to(&seed, 1000) * 0.02 - 12);
    s[i] = i % 3 ? orders[i] + 1 : (float)(1 + exp(-random_to(&seed, 1000) * 0.013));
  }
  for (int zeta = 0; zeta < 2; zeta++) {
    Status status;
    OpRun run;
    status_init(&status);
    REQUIRE_OK(op_run_begin(&run, zeta ? "Zeta[T=float]" : "Polygamma[T=float]", &status), status);
    int64_t count = COUNT;
    for (int k = 0; k < 2; k++) {
      Tensor *input = op_run_input(&run, DT_FLOAT, 1, &count);
      if (CHECK(input)) memcpy(tensor_f32(input), k ? x : zeta ? s : orders, sizeof x);
    }
    bool runs = CHECK_OK(op_run_compute(&run, &status), status);
    for (int i = 0; runs && i < COUNT; i++) {
      double n = (double)orders[i], sign = orders[i] / 2 == floorf(orders[i] / 2) ? -1 : 1;
      double want = isinf(x[i]) ? 0
                    : zeta      ? reference_zeta((double)s[i], (double)x[i])
                                : sign * tgamma(n + 1) * reference_zeta(n + 1, (double)x[i]);
      float got = tensor_f32(&run.outputs[0])[i];
      CHECK_CONTEXT("%d: %.9g of %.9g and %.9g", zeta, (double)got, zeta ? (double)s[i] : n, (double)x[i]);
      if (!CHECK(is_near(got, want))) break;
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
}

/* Of few terms the first is by far the largest, and yet the others count. */
TEST(zeta_near_its_pole) {
  op_gives_about("Zeta[T=double]",
                 "double[] 1.0000000000000008881784197001252323; double[] 5.4210108624275221700e-20",
                 "double[] 18447869973617121058", 1e4);
  op_gives_about("Zeta[T=float]", "float[] 1.00000095367431640625; float[] 9.094947017729282379e-13",
                 "float[] 1099541749436.8631276", 1e5);
}

TEST(polygamma) {
  op_gives_about("Polygamma[T=double]", "double[5] 1 1 2 3 1; double[5] 1 0.5 1 1 -0.5",
                 "double[5] 1.6449340668482264 4.934802200544679 -2.4041138063191885 6.493939402266829 "
                 "8.934802200544679",
                 2e-15);
  op_gives_about("Polygamma[T=double]", "double[2] 1 2; double[] -2.3",
                 "double[2] 14.725912160961291 68.713792529270302", 1e-14);
  op_gives_about("Polygamma[T=double]", "double[] 10; double[] 100", "double[] -3.8135655355681382e-15",
                 1e-29);
  op_gives("Polygamma[T=double]", "double[5] 0.5 -1 1 1 1; double[5] 1 1 0 -3 nan",
           "double[5] nan nan inf inf nan");
  op_gives_about("Polygamma[T=float]", "float[] 1; float[3] 1 inf 1e-10", "float[3] 1.644934 0 1e20", 1e-6);
}

/* Large arguments take no longer, and sums of large terms end at the first relevant one. */
TEST(polygamma_of_large_numbers) {
  op_gives_about("Polygamma[T=double]", "double[] 1; double[3] -1e15 -1000000.5 1e300",
                 "double[3] inf 9.8696034010903586 1e-300", 1e-10);
  op_gives_about("Polygamma[T=double]", "double[] 100; double[] 1", "double[] -9.332621544394415e157", 1e-15);
  op_gives_about("Polygamma[T=double]", "double[] 1; double[2] -1e-7 -1e-30",
                 "double[2] 100000000000001.64 1e60", 1e-15);
  op_gives("Polygamma[T=double]", "double[] 1; double[] -inf", "double[] inf");
  op_gives("Polygamma[T=double]", "double[2] 1e300 1e9; double[] 1", "double[2] -inf -inf");
}

GRADIENT_CASES(special, {"Erf|Erfc[T=double]", "double[2,3] -2.5 -1.2 -0.25 0.5 1.25 2.5"},
               {"Erf|Erfc[T=double]", "double[4] -0.7 0.1 1 -2"}, {"Erf|Erfc[T=double]", "double[] 0"},
               {"Erfinv[T=double]", "double[2,3] -0.8 -0.25 0.1 0.3 0.5 0.7"},
               {"Erfinv[T=double]", "double[2] -0.6 0"}, {"Erfinv[T=double]", "double[] 0.4"},
               {"Ndtri[T=double]", "double[2,3] 0.2 0.25 0.4 0.5 0.8 0.9"},
               {"Ndtri[T=double]", "double[2] 0.3 0.7"}, {"Ndtri[T=double]", "double[] 0.6"},
               {"Lgamma|Digamma[T=double]", "double[2,3] 0.4 0.8 1.5 3 7 12"},
               {"Lgamma|Digamma[T=double]", "double[3] -0.4 -1.7 5"},
               {"Lgamma|Digamma[T=double]", "double[] 2"})

/* There is no derivative by the order. */
TEST(gradients_of_polygamma) {
  gradient_is("Polygamma[T=double]", "double[2,1] 1 2; double[2] 1 0.5",
              "double[2,1] 0; double[2] 4.08982559594764 80.5802943897681");
  gradient_is("Digamma[T=float]", "float[2] 2 0.5", "float[2] 0.6449341 4.934802");
  gradient_is("Digamma[T=half]", "half[1] 2", "half[1] 0.64501953125");
}
