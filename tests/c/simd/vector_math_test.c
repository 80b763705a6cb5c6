#include "simd/circular_math.h"
#include "simd/vector_math.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"

static float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Error of `got` in units in the last place of the float nearest to `want`; the smallest unit is that of
 * denormals. If the exact value rounds to infinity, infinity is correct, and the largest float is one unit
 * away. */
static double ulp_error(float got, double want) {
  if (isnan(want)) return isnan(got) ? 0 : INFINITY;
  if (isnan(got)) return INFINITY;
  double largest = (double)FLT_MAX, beyond = 0x1p128;
  if (isinf(got))
    return fabs(want) >= largest && (got > 0) == (want > 0)
               ? (fabs(want) > beyond ? 0 : (beyond - fabs(want)) / 0x1p104)
               : INFINITY;
  if (fabs(want) > beyond) want = want > 0 ? beyond : -beyond;
  int exponent;
  frexp(want, &exponent);
  double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
  return fabs((double)got - want) / unit;
}

static double reference_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double reference_softplus(double x) { return x > 40 ? x : log1p(exp(x)); }
static double reference_elu(double x) { return x < 0 ? expm1(x) : x; }
static double reference_selu(double x) {
  return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * expm1(x) : x);
}

static double reference_neg(double x) { return -x; }

typedef struct Function {
  const char *name;
  void (*array)(int64_t count, const float *x, float *y);
  double (*reference)(double x);
  double bound;     /* in ulp, plus: */
  double of_square; /* times x * x */
} Function;

static double reference_gelu(double x) { return x <= -(double)12.9f ? x * 0 : x / 2 * erfc(-x / sqrt(2)); }
/* 1 + tanh(u) is 2 / (1 + exp(-2 u)), without cancellation. */
static double reference_gelu_by_tanh(double x) {
  return x * reference_sigmoid(2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x));
}

/* wasm's C library returns numbers for some arguments below 1. */
static double reference_acosh(double x) { return x < 1 ? (double)NAN : acosh(x); }

static const Function kFunctions[] = {
    {"exp", vector_exp_f32, exp, 2},
    {"log", vector_log_f32, log, 2},
    {"expm1", vector_expm1_f32, expm1, 4},
    {"log1p", vector_log1p_f32, log1p, 4},
    {"tanh", vector_tanh_f32, tanh, 4},
    {"sigmoid", vector_sigmoid_f32, reference_sigmoid, 4},
    {"sin", vector_sin_f32, sin, 4},
    {"cos", vector_cos_f32, cos, 4},
    {"erf", vector_erf_f32, erf, 4},
    {"softplus", vector_softplus_f32, reference_softplus, 4},
    {"elu", vector_elu_f32, reference_elu, 4},
    {"selu", vector_selu_f32, reference_selu, 4},
    {"neg", vector_neg_f32, reference_neg, 0},
    {"abs", vector_abs_f32, fabs, 0},
    {"erfc", vector_erfc_f32, erfc, 4},
    {"gelu", vector_gelu_f32, reference_gelu, 4, 2},
    {"gelu_by_tanh", vector_gelu_by_tanh_f32, reference_gelu_by_tanh, 4, 2},
    {"tan", vector_tan_f32, tan, 4},
    {"asin", vector_asin_f32, asin, 4},
    {"acos", vector_acos_f32, acos, 4},
    {"atan", vector_atan_f32, atan, 4},
    {"sinh", vector_sinh_f32, sinh, 4},
    {"cosh", vector_cosh_f32, cosh, 4},
    {"asinh", vector_asinh_f32, asinh, 4},
    {"acosh", vector_acosh_f32, reference_acosh, 4},
    {"atanh", vector_atanh_f32, atanh, 4},
};
enum { FUNCTION_COUNT = sizeof kFunctions / sizeof kFunctions[0], CHUNK = 1024 };

static void check_chunk(const Function *f, const float *x, int count, double *worst, float *worst_at) {
  float y[CHUNK];
  f->array(count, x, y);
  for (int i = 0; i < count; i++) {
    double square = f->of_square > 0 && isfinite(x[i]) ? (double)x[i] * (double)x[i] : 0;
    double error = ulp_error(y[i], f->reference((double)x[i])) - f->of_square * square;
    if (error > *worst) *worst = error, *worst_at = x[i];
  }
}

/* Every exponent and both signs, infinity and NaN included, with a step that is not a power of two. */
static void check_sweep(const Function *f) {
  double worst = 0;
  float worst_at = 0, x[CHUNK];
  int count = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 2039) {
    x[count++] = float_of_bits((uint32_t)bits);
    if (count == CHUNK) {
      check_chunk(f, x, count, &worst, &worst_at);
      count = 0;
    }
  }
  check_chunk(f, x, count, &worst, &worst_at);
  CHECK_CONTEXT("%s: %.3f ulp at %.9g", f->name, worst, (double)worst_at);
  CHECK(worst <= f->bound);
  CHECK_CONTEXT("%s", "");
}

/* Densely where results are neither 0, 1 nor infinity, and every float around the thresholds. */
static void check_dense(const Function *f, double from, double to, int steps) {
  double worst = 0;
  float worst_at = 0, x[CHUNK];
  for (int i = 0; i < steps; i += CHUNK) {
    for (int j = 0; j < CHUNK; j++) x[j] = (float)(from + (to - from) * (i + j) / steps);
    check_chunk(f, x, CHUNK, &worst, &worst_at);
  }
  CHECK_CONTEXT("%s: %.3f ulp at %.9g", f->name, worst, (double)worst_at);
  CHECK(worst <= f->bound);
  CHECK_CONTEXT("%s", "");
}

static void check_around(const Function *f, float center) {
  double worst = 0;
  float worst_at = 0, x[CHUNK];
  float at = center;
  for (int i = 0; i < CHUNK / 2; i++) at = nextafterf(at, -INFINITY);
  for (int i = 0; i < CHUNK; i++, at = nextafterf(at, INFINITY)) x[i] = at;
  check_chunk(f, x, CHUNK, &worst, &worst_at);
  CHECK_CONTEXT("%s around %.9g: %.3f ulp at %.9g", f->name, (double)center, worst, (double)worst_at);
  CHECK(worst <= f->bound);
  CHECK_CONTEXT("%s", "");
}

TEST(vector_math_every_exponent) {
  for (int i = 0; i < FUNCTION_COUNT; i++) check_sweep(&kFunctions[i]);
}

TEST(vector_math_dense) {
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    check_dense(&kFunctions[i], -105, 90, 1 << 20);
    check_dense(&kFunctions[i], -1.5, 2.5, 1 << 20);
  }
}

TEST(vector_math_around_thresholds) {
  static const float kCenters[] = {0.0f,       1.0f,        -1.0f,       0x1p-126f,   -0x1p-126f, 88.72284f,
                                   -87.33655f, -103.97208f, 89.0f,       -104.0f,     -100.0f,    -17.32868f,
                                   10.0f,      9.010913f,   -9.010913f,  0.34657359f, 0.7071067f, 1.4142135f,
                                   FLT_MAX,    -FLT_MAX,    0x1p20f,     -0x1p20f,    3.1415927f, 1.5707964f,
                                   710.0f,     102943.7f,   4.0f,        -4.0f,       3.9192059f, 0.7f,
                                   -0.7f,      9.3273791f,  -9.3273791f, 12.9f,       -12.9f,     0.5f,
                                   -0.5f,      89.415985f,  -89.415985f, 89.5f,       0x1p60f,    -0x1p60f,
                                   0x1p64f,    0x1p-12f,    -0x1p-12f,   0x1p127f};
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    for (size_t j = 0; j < sizeof kCenters / sizeof kCenters[0]; j++)
      check_around(&kFunctions[i], kCenters[j]);
  }
}

TEST(vector_math_special_values) {
  static const struct {
    int function;
    float x, y;
  } kCases[] = {
      {0, -INFINITY, 0},
      {0, INFINITY, INFINITY},
      {0, NAN, NAN},
      {0, 0, 1},
      {0, -0.0f, 1},
      {0, 1000, INFINITY},
      {0, -1000, 0},
      {1, 0, -INFINITY},
      {1, -0.0f, -INFINITY},
      {1, -1, NAN},
      {1, -INFINITY, NAN},
      {1, INFINITY, INFINITY},
      {1, NAN, NAN},
      {1, 1, 0},
      {2, 0, 0},
      {2, -0.0f, -0.0f},
      {2, -INFINITY, -1},
      {2, INFINITY, INFINITY},
      {2, NAN, NAN},
      {3, 0, 0},
      {3, -0.0f, -0.0f},
      {3, -1, -INFINITY},
      {3, -2, NAN},
      {3, INFINITY, INFINITY},
      {3, NAN, NAN},
      {3, 1e-40f, 1e-40f},
      {4, 0, 0},
      {4, -0.0f, -0.0f},
      {4, INFINITY, 1},
      {4, -INFINITY, -1},
      {4, NAN, NAN},
      {4, 1e-45f, 1e-45f},
      {4, FLT_MAX, 1},
      {5, 0, 0.5f},
      {5, INFINITY, 1},
      {5, -INFINITY, 0},
      {5, NAN, NAN},
      {5, 200, 1},
      {5, -200, 0},
      {6, 0, 0},
      {6, -0.0f, -0.0f},
      {6, INFINITY, NAN},
      {6, NAN, NAN},
      {7, 0, 1},
      {7, -INFINITY, NAN},
      {7, NAN, NAN},
      {8, 0, 0},
      {8, -0.0f, -0.0f},
      {8, INFINITY, 1},
      {8, -INFINITY, -1},
      {8, NAN, NAN},
      {8, FLT_MAX, 1},
      {8, -9, -1},
      {9, INFINITY, INFINITY},
      {9, -INFINITY, 0},
      {9, NAN, NAN},
      {9, 1000, 1000},
      {9, -200, 0},
      {10, -0.0f, -0.0f},
      {10, INFINITY, INFINITY},
      {10, -INFINITY, -1},
      {10, NAN, NAN},
      {10, 5, 5},
      {12, 0, -0.0f},
      {12, -0.0f, 0},
      {12, INFINITY, -INFINITY},
      {13, -0.0f, 0},
      {13, -INFINITY, INFINITY},
      {13, NAN, NAN},
      {11, -0.0f, -0.0f},
      {11, INFINITY, INFINITY},
      {11, -INFINITY, -1.7580993f},
      {11, NAN, NAN},
      {14, 0, 1},
      {14, -0.0f, 1},
      {14, INFINITY, 0},
      {14, -INFINITY, 2},
      {14, 10.5f, 0},
      {14, -FLT_MAX, 2},
      {14, NAN, NAN},
      {15, 0, 0},
      {15, -0.0f, -0.0f},
      {15, INFINITY, INFINITY},
      {15, -INFINITY, NAN}, /* as the product of infinity and 0 */
      {15, NAN, NAN},
      {15, FLT_MAX, FLT_MAX},
      {15, -FLT_MAX, -0.0f},
      {16, -0.0f, -0.0f},
      {16, INFINITY, INFINITY},
      {16, -INFINITY, NAN},
      {16, NAN, NAN},
      {16, FLT_MAX, FLT_MAX},
      {16, -FLT_MAX, -0.0f},
      {17, 0, 0},
      {17, -0.0f, -0.0f},
      {17, INFINITY, NAN},
      {17, NAN, NAN},
      {18, 0, 0},
      {18, -0.0f, -0.0f},
      {18, 1, 1.57079633f},
      {18, -1, -1.57079633f},
      {18, 1.0000001f, NAN},
      {18, -INFINITY, NAN},
      {18, NAN, NAN},
      {19, 1, 0},
      {19, 0, 1.57079633f},
      {19, -1, 3.14159265f},
      {19, -1.0000001f, NAN},
      {19, INFINITY, NAN},
      {19, NAN, NAN},
      {20, 0, 0},
      {20, -0.0f, -0.0f},
      {20, INFINITY, 1.57079633f},
      {20, -INFINITY, -1.57079633f},
      {20, NAN, NAN},
      {21, 0, 0},
      {21, -0.0f, -0.0f},
      {21, INFINITY, INFINITY},
      {21, -INFINITY, -INFINITY},
      {21, -90, -INFINITY},
      {21, NAN, NAN},
      {22, 0, 1},
      {22, -0.0f, 1},
      {22, -INFINITY, INFINITY},
      {22, 90, INFINITY},
      {22, NAN, NAN},
      {23, 0, 0},
      {23, -0.0f, -0.0f},
      {23, 1e-45f, 1e-45f},
      {23, INFINITY, INFINITY},
      {23, -INFINITY, -INFINITY},
      {23, NAN, NAN},
      {24, 1, 0},
      {24, 0.99999994f, NAN},
      {24, 0, NAN},
      {24, -2, NAN},
      {24, -INFINITY, NAN},
      {24, INFINITY, INFINITY},
      {24, NAN, NAN},
      {25, 0, 0},
      {25, -0.0f, -0.0f},
      {25, 1, INFINITY},
      {25, -1, -INFINITY},
      {25, 1.0000001f, NAN},
      {25, -INFINITY, NAN},
      {25, NAN, NAN},
      {25, 1e-45f, 1e-45f},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    float y;
    kFunctions[kCases[i].function].array(1, &kCases[i].x, &y);
    CHECK_CONTEXT("%s(%g) = %g", kFunctions[kCases[i].function].name, (double)kCases[i].x, (double)y);
    if (isnan(kCases[i].y)) CHECK(isnan(y));
    else CHECK(y == kCases[i].y && !signbit(y) == !signbit(kCases[i].y));
  }
  CHECK_CONTEXT("%s", "");
}

/* Whether the results are the same bits; or NaN where x is, whose bits may differ. */
static bool are_same(const float *x, const float *wanted, const float *got, int count) {
  bool same = true;
  for (int i = 0; i < count; i++)
    same &= isnan(x[i]) ? isnan(got[i]) : memcmp(&wanted[i], &got[i], sizeof *got) == 0;
  return same;
}

/* Any length at any offset, in place, among usual numbers and beside special ones: the same results as
 * for single elements, and nothing written after the end. */
TEST(vector_math_does_not_depend_on_position) {
  static const float kSpecial[] = {0, 1e-40f, INFINITY, 50, NAN, 1e30f, -1e30f, -50};
  enum { USUAL = 40, COUNT = USUAL + sizeof kSpecial / sizeof kSpecial[0] };
  float x[COUNT], single[COUNT], y[COUNT + 1];
  for (int i = 0; i < USUAL; i++) x[i] = (float)(i - 17) * 0.37f;
  memcpy(x + USUAL, kSpecial, sizeof kSpecial);
  for (int f = 0; f < FUNCTION_COUNT; f++) {
    for (int i = 0; i < COUNT; i++) kFunctions[f].array(1, x + i, single + i);
    for (int begin = 0; begin < COUNT; begin++) {
      for (int count = 0; begin + count <= COUNT; count++) {
        memcpy(y, x, sizeof x);
        y[COUNT] = 5;
        kFunctions[f].array(count, y + begin, y + begin);
        CHECK_CONTEXT("%s of %d from %d on", kFunctions[f].name, count, begin);
        CHECK(are_same(x + begin, single + begin, y + begin, count));
        CHECK_MEM_EQ(y + begin + count, begin + count < COUNT ? x + begin + count : y + COUNT, sizeof(float));
      }
    }
  }
  CHECK_CONTEXT("%s", "");
}

/* Numbers of every exponent against such and against special ones, and near ones: all quadrants, at any
 * length and in the memory of either operand. */
TEST(vector_atan2) {
  static const float kSpecial[] = {0,   -0.0f,  1,       -1,      INFINITY, -INFINITY,
                                   NAN, 1e-45f, -1e-45f, FLT_MAX, -FLT_MAX, 0x1p-126f};
  enum { COUNT = 10007, SPECIAL = sizeof kSpecial / sizeof kSpecial[0] };
  static float y[COUNT], x[COUNT], z[COUNT], again[COUNT];
  uint32_t seed = 1;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1664525u + 1013904223u;
    y[i] = float_of_bits(seed ^ seed >> 15);
    seed = seed * 1664525u + 1013904223u;
    x[i] = float_of_bits(seed ^ seed >> 15);
    if (i % 3 == 1) x[i] = y[i] * (float)(int)(seed >> 16) * 0x1p-14f * (seed & 0x8000 ? 1 : -1);
    if (i % 3 == 2) x[i] = kSpecial[i / 3 % SPECIAL];
    if (i < SPECIAL * SPECIAL) y[i] = kSpecial[i / SPECIAL], x[i] = kSpecial[i % SPECIAL];
  }
  vector_atan2_f32(COUNT, y, x, z);
  for (int i = 0; i < COUNT; i++) {
    double want = atan2((double)y[i], (double)x[i]);
    CHECK_CONTEXT("atan2(%.9g, %.9g) = %.9g", (double)y[i], (double)x[i], (double)z[i]);
    if (!CHECK(ulp_error(z[i], want) <= 4)) break;
    if (!isnan(want) && !CHECK(!signbit(want) == !signbit(z[i]))) break;
    vector_atan2_f32(1, &y[i], &x[i], &again[i]);
    if (!CHECK(isnan(want) || memcmp(&again[i], &z[i], sizeof(float)) == 0)) break;
  }
  CHECK_CONTEXT("%s", "");
  for (int side = 0; side < 2; side++) {
    memcpy(again, side ? x : y, sizeof again);
    vector_atan2_f32(COUNT, side ? y : again, side ? again : x, again);
    for (int i = 0; i < COUNT; i++)
      if (!CHECK(isnan(z[i]) ? isnan(again[i]) : again[i] == z[i])) break;
  }
}

TEST(vector_math_float64) {
  double x[3] = {-0.5, 0.25, 700}, y[3];
  vector_sigmoid_f64(3, x, y);
  CHECK_NEAR(y[0], 0.37754066879814543536, 1e-16);
  CHECK_NEAR(y[1], 0.56217650088579802, 1e-16);
  CHECK_NEAR(y[2], 1, 0);
  x[0] = -745;
  vector_sigmoid_f64(1, x, y);
  CHECK(y[0] > 0); /* the smallest denormal, where 1 / (1 + exp(745)) is 0 */
  vector_tanh_f64(2, x + 1, y);
  CHECK_NEAR(y[0], 0.24491866240370912928, 1e-16);
  x[0] = 1;
  vector_exp_f64(1, x, y);
  CHECK_NEAR(y[0], 2.7182818284590452354, 1e-15);
  vector_log_f64(1, x + 2, y);
  CHECK_NEAR(y[0], 6.5510803350434043, 1e-15 * 7);
}
