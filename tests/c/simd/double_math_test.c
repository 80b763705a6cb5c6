/* The functions of doubles against sums and series in long double, which has more bits than double both
 * natively and in WebAssembly, where the C library's own functions of long double are less exact. */
#include "simd/circular_math.h"
#include "simd/vector_math.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"

typedef long double Wide;

static const Wide kPi = 3.14159265358979323846264338327950288L;
static const Wide kRootOfPi =
    1.77245385090551602729816748334114518L; /* clang 19 cannot fold sqrtl for WebAssembly */

static double double_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* In units in the last place of the double nearest to `want`; see ulp_error in vector_math_test.c. */
static double ulp_error(double got, Wide want) {
  if (isnan(want)) return isnan(got) ? 0 : (double)INFINITY;
  if (isnan(got)) return (double)INFINITY;
  if (isinf(got) || isinf((double)want)) {
    Wide beyond = 0x1p1023L * 2, largest = (Wide)DBL_MAX;
    if ((got > 0) != (want > 0) || fabsl(want) < largest) return (double)INFINITY;
    if (isinf(got)) return fabsl(want) > beyond ? 0 : (double)((beyond - fabsl(want)) / 0x1p971L);
    return isinf(want) || fabsl(want) > beyond ? (fabs(got) == DBL_MAX ? 1 : (double)INFINITY)
                                               : (double)(fabsl((Wide)got - want) / 0x1p971L);
  }
  int exponent;
  frexpl(want, &exponent);
  return (double)(fabsl((Wide)got - want) / ldexpl(1, (exponent < -1021 ? -1021 : exponent) - 53));
}

/* ---- references ---- */

static const Wide kLog2Low = 5.497923018708371174712471612513436e-14L;
static Wide times_log2(Wide n) { return n * 0x1.62e42fefa3800p-1L; } /* exact; lacks n * kLog2Low */

static Wide expm1_series(Wide x) {
  Wide sum = 0, term = 1;
  for (int k = 1; k < 27; k++) sum += term *= x / k;
  return sum;
}
static Wide wide_exp(Wide x) {
  if (isnan(x) || fabsl(x) > 12000) return x > 0 ? (Wide)INFINITY : x < 0 ? 0 : x;
  Wide n = (Wide)rint((double)x * 1.4426950408889634);
  return ldexpl(1 + expm1_series(x - times_log2(n) - n * kLog2Low), (int)n);
}
static Wide wide_expm1(Wide x) { return fabsl(x) < 0.5L ? (x == 0 ? x : expm1_series(x)) : wide_exp(x) - 1; }

/* 2 atanh(x / (2 + x)) */
static Wide log1p_series(Wide x) {
  Wide s = x / (2 + x), power = s, sum = 0;
  for (int k = 1; k < 50; k += 2, power *= s * s) sum += power / k;
  return 2 * sum;
}
static Wide wide_log(Wide x) {
  if (!(x > 0) || isinf(x)) return x == 0 ? -(Wide)INFINITY : x > 0 ? x : (Wide)NAN;
  int e;
  Wide m = frexpl(x, &e);
  if (m < 0.7071L) m *= 2, e--;
  return times_log2(e) + (log1p_series(m - 1) + e * kLog2Low);
}
static Wide wide_log1p(Wide x) { return x == 0 ? x : fabsl(x) < 0.4L ? log1p_series(x) : wide_log(1 + x); }

static Wide wide_tanh(Wide x) {
  Wide e = wide_expm1(2 * fabsl(x));
  return x == 0 ? x : copysignl(isinf(e) ? 1 : e / (e + 2), x);
}
static Wide wide_sigmoid(Wide x) {
  if (fabsl(x) < 1) return (1 + wide_tanh(x / 2)) / 2;
  return x < 0 ? wide_exp(x) / (1 + wide_exp(x)) : 1 / (1 + wide_exp(-x));
}
static Wide wide_softplus(Wide x) { return (x > 0 ? x : 0) + wide_log1p(wide_exp(-fabsl(x))); }
static Wide wide_elu(Wide x) { return x < 0 ? wide_expm1(x) : x; }
static Wide wide_selu(Wide x) {
  return x < 0 ? (Wide)SELU_SCALE_ALPHA * wide_expm1(x) : (Wide)SELU_SCALE * x;
}

static Wide sine_series(Wide r) {
  Wide sum = 0, term = r;
  for (int k = 1; k < 30; k += 2, term *= -r * r / ((k - 1) * k)) sum += term;
  return sum;
}
static Wide cosine_series(Wide r) {
  Wide sum = 0, term = 1;
  for (int k = 0; k < 30; k += 2, term *= -r * r / ((k - 1) * k)) sum += term;
  return sum;
}
/* pi / 2 in parts whose products with n below 2^20 are exact. Larger angles are left to the C library. */
static Wide reduce(Wide x, int *quadrant) {
  double n = rint((double)(x / kPi * 2));
  *quadrant = (int)((int64_t)n & 3);
  return ((x - n * 0x1.921fb544p0L) - n * 0x1.0b4611a6p-34L) - n * 2.02226624879595063154e-21L;
}
static Wide turned_sine(Wide x, int turns) {
  int quadrant;
  Wide r = reduce(x, &quadrant);
  quadrant = (quadrant + turns) & 3;
  Wide y = quadrant & 1 ? cosine_series(r) : sine_series(r);
  return quadrant & 2 ? -y : y;
}
static bool is_far(Wide x) { return !(fabsl(x) < 0x1p20L); }
static Wide wide_sin(Wide x) { return x == 0 ? x : is_far(x) ? (Wide)sin((double)x) : turned_sine(x, 0); }
static Wide wide_cos(Wide x) { return is_far(x) ? (Wide)cos((double)x) : turned_sine(x, 1); }
static Wide wide_tan(Wide x) {
  return x == 0 ? x : is_far(x) ? (Wide)tan((double)x) : turned_sine(x, 0) / turned_sine(x, 1);
}

/* exp(-x^2), with the square in two parts. */
static Wide bell(Wide x) {
  Wide high = (Wide)(float)x, low = x - high;
  return wide_exp(-high * high) * wide_exp(-low * (x + high));
}
static Wide erf_series(Wide x) {
  Wide term = x, sum = 0;
  for (int k = 1; k < 120; k += 2, term *= 2 * x * x / k) sum += term;
  return 2 / kRootOfPi * bell(x) * sum;
}
static Wide erfc_fraction(Wide x) {
  Wide f = x;
  for (int k = 120; k > 0; k--) f = x + k / (2 * f);
  return bell(x) / (kRootOfPi * f);
}
static Wide wide_erfc(Wide x) {
  if (isnan(x) || fabsl(x) > 40) return isnan(x) ? x : x > 0 ? 0 : 2;
  Wide a = fabsl(x), y = a < 2 ? 1 - erf_series(a) : erfc_fraction(a);
  return x < 0 ? 2 - y : y;
}
static Wide wide_erf(Wide x) {
  if (x == 0) return x;
  Wide a = fabsl(x);
  return copysignl(a < 2 ? erf_series(a) : 1 - wide_erfc(a), x);
}

static Wide atan_of_positive(Wide x) {
  if (isnan(x)) return x;
  if (x > 1) return kPi / 2 - atan_of_positive(1 / x);
  int halved = 0;
  for (; x > 0.1L; halved++) x /= 1 + sqrtl(1 + x * x);
  Wide sum = 0, power = x;
  for (int k = 1; k < 50; k += 2, power *= -x * x) sum += power / k;
  return ldexpl(sum, halved);
}
static Wide wide_atan(Wide x) { return copysignl(atan_of_positive(fabsl(x)), x); }
static Wide wide_asin(Wide x) {
  return fabsl(x) <= 1 ? 2 * wide_atan(x / (1 + sqrtl((1 - x) * (1 + x)))) : (Wide)NAN;
}
static Wide wide_acos(Wide x) {
  if (!(fabsl(x) <= 1)) return (Wide)NAN;
  if (fabsl(x) < 0.5L) return kPi / 2 - wide_asin(x);
  return 2 * atan_of_positive(sqrtl((1 - x) / (1 + x)));
}
static Wide wide_sinh(Wide x) {
  Wide e = wide_expm1(fabsl(x));
  return x == 0 ? x : copysignl(isinf(e) ? e : (e + e / (e + 1)) / 2, x);
}
static Wide wide_cosh(Wide x) { return (wide_exp(x) + wide_exp(-x)) / 2; }
static Wide wide_asinh(Wide x) {
  Wide a = fabsl(x);
  return x == 0 || isinf(x) ? x : copysignl(wide_log1p(a + a * (a / (1 + sqrtl(1 + a * a)))), x);
}
static Wide wide_acosh(Wide x) {
  Wide t = x - 1;
  return x >= 1 ? wide_log1p(t + sqrtl(t * (t + 2))) : (Wide)NAN;
}
static Wide wide_atanh(Wide x) {
  Wide a = fabsl(x);
  return x == 0 ? x : a <= 1 ? copysignl(wide_log1p(2 * a / (1 - a)) / 2, x) : (Wide)NAN;
}

typedef struct Function {
  const char *name;
  void (*array)(int64_t count, const double *x, double *y);
  Wide (*reference)(Wide x);
  double bound; /* in ulp */
} Function;

static const Function kFunctions[] = {
    {"exp", vector_exp_f64, wide_exp, 1.5},     {"expm1", vector_expm1_f64, wide_expm1, 1.5},
    {"log", vector_log_f64, wide_log, 1.5},     {"log1p", vector_log1p_f64, wide_log1p, 1.5},
    {"sin", vector_sin_f64, wide_sin, 1.5},     {"cos", vector_cos_f64, wide_cos, 1.5},
    {"elu", vector_elu_f64, wide_elu, 1.5},     {"tanh", vector_tanh_f64, wide_tanh, 2},
    {"erf", vector_erf_f64, wide_erf, 2},       {"softplus", vector_softplus_f64, wide_softplus, 2},
    {"selu", vector_selu_f64, wide_selu, 2},    {"sigmoid", vector_sigmoid_f64, wide_sigmoid, 3},
    {"erfc", vector_erfc_f64, wide_erfc, 4},    {"tan", vector_tan_f64, wide_tan, 3},
    {"asin", vector_asin_f64, wide_asin, 3},    {"acos", vector_acos_f64, wide_acos, 3},
    {"atan", vector_atan_f64, wide_atan, 3},    {"sinh", vector_sinh_f64, wide_sinh, 3},
    {"cosh", vector_cosh_f64, wide_cosh, 3},    {"asinh", vector_asinh_f64, wide_asinh, 3},
    {"acosh", vector_acosh_f64, wide_acosh, 3}, {"atanh", vector_atanh_f64, wide_atanh, 3},
};
enum { FUNCTION_COUNT = sizeof kFunctions / sizeof kFunctions[0], CHUNK = 256 };

static void check_chunk(const Function *f, const double *x, double *worst, double *worst_at) {
  double y[CHUNK];
  f->array(CHUNK, x, y);
  for (int i = 0; i < CHUNK; i++) {
    Wide want = f->reference((Wide)x[i]);
    double error = ulp_error(y[i], want);
    if (want == 0 && y[i] == 0 && !signbit(want) != !signbit(y[i])) error = (double)INFINITY;
    if (error > *worst) *worst = error, *worst_at = x[i];
  }
}
static void check_worst(const Function *f, double worst, double worst_at) {
  CHECK_CONTEXT("%s: %.3f ulp at %.17g", f->name, worst, worst_at);
  CHECK(worst <= f->bound);
  CHECK_CONTEXT("%s", "");
}

/* Every exponent and both signs, infinity and NaN included, with a step that is not a power of two. */
TEST(double_math_every_exponent) {
  const uint64_t step = UINT64_MAX / 20000 | 1;
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    double worst = 0, worst_at = 0, x[CHUNK];
    int count = 0;
    for (uint64_t bits = 0, left = 20224; left > 0; left--, bits += step) {
      x[count++] = double_of_bits(bits);
      if (count < CHUNK) continue;
      check_chunk(&kFunctions[i], x, &worst, &worst_at);
      count = 0;
    }
    check_worst(&kFunctions[i], worst, worst_at);
  }
}

/* Densely where results are neither 0, 1 nor infinity; of some ranges rather the parts near to zero. */
TEST(double_math_dense) {
  static const double kRanges[][2] = {{-746, 711}, {-28, 28}, {-2.5, 2.5}, {-1, 1}, {-1e6, 1e6}};
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    for (size_t r = 0; r < sizeof kRanges / sizeof kRanges[0]; r++) {
      double worst = 0, worst_at = 0, x[CHUNK], width = kRanges[r][1] - kRanges[r][0];
      for (int at = 0; at < 10240; at += CHUNK) {
        for (int j = 0; j < CHUNK; j++) x[j] = kRanges[r][0] + width * (at + j + 0.37) / 10240;
        check_chunk(&kFunctions[i], x, &worst, &worst_at);
      }
      check_worst(&kFunctions[i], worst, worst_at);
    }
  }
}

TEST(double_math_around_thresholds) {
  static const double kCenters[] = {0,
                                    1,
                                    -1,
                                    2,
                                    0.5,
                                    -0.5,
                                    0.7,
                                    6,
                                    -6,
                                    27.3,
                                    27.2265,
                                    26.5432,
                                    708,
                                    -708,
                                    709.7827,
                                    -708.3964,
                                    710,
                                    710.4758,
                                    -745.133,
                                    -746,
                                    20,
                                    18.7,
                                    -40,
                                    -37.43,
                                    0x1p-54,
                                    0x1p-28,
                                    -0x1p-28,
                                    0x1p-1022,
                                    0x1p60,
                                    0x1p20,
                                    0x1p53,
                                    0x1p-1000,
                                    DBL_MAX,
                                    -DBL_MAX,
                                    0.414214,
                                    1.41421356237,
                                    0.707106,
                                    0.3465736,
                                    3.141592653589793,
                                    1.5707963267948966,
                                    355,
                                    2.3561944901923448,
                                    102943.7,
                                    0x1p1000};
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    for (size_t j = 0; j < sizeof kCenters / sizeof kCenters[0]; j++) {
      double worst = 0, worst_at = 0, x[CHUNK], at = kCenters[j];
      for (int k = 0; k < CHUNK / 2; k++) at = nextafter(at, (double)-INFINITY);
      for (int k = 0; k < CHUNK; k++, at = nextafter(at, (double)INFINITY)) x[k] = at;
      check_chunk(&kFunctions[i], x, &worst, &worst_at);
      check_worst(&kFunctions[i], worst, worst_at);
    }
  }
}

/* Any length at any offset, in place, among usual numbers and beside special ones: the same results as for
 * single elements, and nothing written after the end. */
TEST(double_math_does_not_depend_on_position) {
  static const double kSpecial[] = {0, 1e-310, (double)INFINITY, 50, (double)NAN, 1e300, -1e300, -750, 720};
  enum { USUAL = 12, COUNT = USUAL + sizeof kSpecial / sizeof kSpecial[0] };
  double x[COUNT], single[COUNT], y[COUNT + 1];
  for (int i = 0; i < USUAL; i++) x[i] = (i - 5) * 0.37;
  memcpy(x + USUAL, kSpecial, sizeof kSpecial);
  for (int f = 0; f < FUNCTION_COUNT; f++) {
    for (int i = 0; i < COUNT; i++) kFunctions[f].array(1, x + i, single + i);
    for (int begin = 0; begin < COUNT; begin++) {
      for (int count = 0; begin + count <= COUNT; count++) {
        memcpy(y, x, sizeof x);
        y[COUNT] = 5;
        kFunctions[f].array(count, y + begin, y + begin);
        CHECK_CONTEXT("%s of %d from %d on", kFunctions[f].name, count, begin);
        for (int i = 0; i < count; i++)
          CHECK(isnan(single[begin + i]) ? isnan(y[begin + i])
                                         : memcmp(&y[begin + i], &single[begin + i], sizeof *y) == 0);
        CHECK_MEM_EQ(y + begin + count, begin + count < COUNT ? x + begin + count : y + COUNT,
                     sizeof(double));
      }
    }
  }
  CHECK_CONTEXT("%s", "");
}

static Wide wide_atan2(Wide y, Wide x) {
  if (isnan(x) || isnan(y) || y == 0 || isinf(x) || isinf(y)) return (Wide)atan2((double)y, (double)x);
  Wide arc = atan_of_positive(fabsl(y) / fabsl(x));
  return copysignl(signbit(x) ? kPi - arc : arc, y);
}

/* Numbers of every exponent against such and against special ones, and near ones: all quadrants, at any
 * length and in the memory of either operand. */
TEST(double_math_atan2) {
  static const double kSpecial[] =
      {0,           -0.0,      1,          -1,      (double)INFINITY, (double)-INFINITY,
       (double)NAN, 0x1p-1074, -0x1p-1074, DBL_MAX, -DBL_MAX,         0x1p-1022};
  enum { COUNT = 10007, SPECIAL = sizeof kSpecial / sizeof kSpecial[0] };
  static double y[COUNT], x[COUNT], z[COUNT], again[COUNT];
  uint64_t seed = 1;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    y[i] = double_of_bits(seed ^ seed >> 31);
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x[i] = double_of_bits(seed ^ seed >> 31);
    if (i % 3 == 1) x[i] = y[i] * (double)(int32_t)(seed >> 32) * 0x1p-30;
    if (i % 3 == 2) x[i] = kSpecial[i / 3 % SPECIAL];
    if (i < SPECIAL * SPECIAL) y[i] = kSpecial[i / SPECIAL], x[i] = kSpecial[i % SPECIAL];
  }
  vector_atan2_f64(COUNT, y, x, z);
  for (int i = 0; i < COUNT; i++) {
    Wide want = wide_atan2((Wide)y[i], (Wide)x[i]);
    CHECK_CONTEXT("atan2(%.17g, %.17g) = %.17g", y[i], x[i], z[i]);
    if (!CHECK(ulp_error(z[i], want) <= 3)) break;
    if (!isnan(want) && !CHECK(!signbit(want) == !signbit(z[i]))) break;
    vector_atan2_f64(1, &y[i], &x[i], &again[i]);
    if (!CHECK(isnan(want) || memcmp(&again[i], &z[i], sizeof(double)) == 0)) break;
  }
  CHECK_CONTEXT("%s", "");
  for (int side = 0; side < 2; side++) {
    memcpy(again, side ? x : y, sizeof again);
    vector_atan2_f64(COUNT, side ? y : again, side ? again : x, again);
    for (int i = 0; i < COUNT; i++)
      if (!CHECK(isnan(z[i]) ? isnan(again[i]) : again[i] == z[i])) break;
  }
}
