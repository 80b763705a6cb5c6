/* Half and bfloat16 as float and back, bit by bit, and loops over pieces of such tensors. */
#include "ops/support/half_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"

typedef struct Format {
  DataType type;
  int mantissa_bits, least_exponent; /* of normal numbers */
} Format;
static const Format kFormats[] = {{DT_HALF, 10, -14}, {DT_BFLOAT16, 7, -126}};

/* The number with these bits, by the definition of the format. */
static double number_of(const Format *format, uint16_t bits) {
  int exponent = (bits & 0x7fff) >> format->mantissa_bits;
  int mantissa = bits & ((1 << format->mantissa_bits) - 1), highest = 0x7fff >> format->mantissa_bits;
  double size = exponent == highest ? (mantissa ? NAN : INFINITY)
                : exponent == 0     ? ldexp(mantissa, format->least_exponent - format->mantissa_bits)
                                    : ldexp(mantissa + (1 << format->mantissa_bits),
                                            exponent - 1 + format->least_exponent - format->mantissa_bits);
  return bits & 0x8000 ? -size : size;
}

TEST(every_16_bit_float_becomes_a_float) {
  uint16_t *bits = malloc(65536 * sizeof *bits);
  float *wide = malloc(65536 * sizeof *wide);
  REQUIRE(bits && wide);
  for (int f = 0; f < 2; f++) {
    for (int i = 0; i < 65536; i++) bits[i] = (uint16_t)i;
    half_precision_widen(kFormats[f].type, bits, wide, 65536);
    for (int i = 0; i < 65536; i++) {
      CHECK_CONTEXT("%s %x", dtype_name(kFormats[f].type), (unsigned)i);
      double want = number_of(&kFormats[f], bits[i]);
      CHECK_NEAR((double)wide[i], want, 0);
      CHECK_INT_EQ(signbit(wide[i]) != 0, i >= 0x8000);
      uint32_t got;
      memcpy(&got, &wide[i], sizeof got);
      /* The bits of a NaN are kept. */
      if (isnan(want))
        CHECK_INT_EQ(got << 9 >> 9, (unsigned)i << (23 - kFormats[f].mantissa_bits) & 0x7fffff);
    }
    uint16_t *back = calloc(65536, sizeof *back);
    REQUIRE(back);
    half_precision_narrow(kFormats[f].type, wide, back, 65536);
    for (int i = 0; i < 65536; i++) {
      /* A NaN becomes a quiet one. */
      int quiet = isnan(wide[i]) ? 1 << (kFormats[f].mantissa_bits - 1) : 0;
      CHECK_INT_EQ(back[i], i | quiet);
    }
    free(back);
  }
  CHECK_CONTEXT("%s", "");
  free(bits);
  free(wide);
}

/* The nearest number of the format, in double: ties go to the one that is even. */
static double rounded(const Format *format, double x) {
  if (x == 0 || !isfinite(x)) return x;
  int exponent = ilogb(x), least = format->least_exponent;
  double last = ldexp(1, (exponent > least ? exponent : least) - format->mantissa_bits);
  double nearest = rint(x / last) * last;
  return fabs(nearest) >= ldexp(1, 2 - least) ? copysign(INFINITY, x) : nearest;
}

static float float_with(uint32_t sign, uint32_t exponent, uint32_t mantissa) {
  uint32_t bits = sign << 31 | exponent << 23 | (mantissa & 0x7fffff);
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Random mantissas, and those that end in a one: where what is cut off begins with it, this is a tie. The
 * neighbours of both. */
TEST(floats_of_every_exponent_become_the_nearest_16_bit_float) {
  enum { EACH = 24 * 6, ALL = 2 * 256 * EACH };
  float *x = malloc(ALL * sizeof *x);
  uint16_t *narrow = malloc(ALL * sizeof *narrow);
  REQUIRE(x && narrow);
  unsigned seed = 1;
  for (int i = 0; i < ALL; i++) {
    int exponent = i / 2 / EACH, place = i / 6 % 24;
    uint32_t mantissa = (uint32_t)random_to(&seed, 1 << 20) * 8 + (uint32_t)random_to(&seed, 8);
    if (i % 6 < 3) mantissa = (mantissa | 1) << place;
    x[i] = float_with((uint32_t)i & 1, (uint32_t)exponent, mantissa + (uint32_t)(i % 3) - 1);
  }
  for (int f = 0; f < 2; f++) {
    half_precision_narrow(kFormats[f].type, x, narrow, ALL);
    for (int i = 0; i < ALL; i++) {
      CHECK_CONTEXT("%s of %a", dtype_name(kFormats[f].type), (double)x[i]);
      CHECK_NEAR(number_of(&kFormats[f], narrow[i]), rounded(&kFormats[f], (double)x[i]), 0);
      CHECK_INT_EQ(narrow[i] >> 15, signbit(x[i]) != 0);
    }
  }
  CHECK_CONTEXT("%s", "");
  free(x);
  free(narrow);
}

/* Vectors, what is left after them, and NaN at every place; nothing is written behind the end. */
TEST(any_number_of_16_bit_floats) {
  for (int f = 0; f < 2; f++) {
    for (int count = 0; count <= 24; count++) {
      for (int nan = -1; nan < count; nan++) {
        float x[25], back[25];
        uint16_t narrow[25];
        for (int i = 0; i < count; i++) x[i] = i == nan ? NAN : (float)(i - 9) / 8;
        narrow[count] = 12345;
        back[count] = 12345;
        half_precision_narrow(kFormats[f].type, x, narrow, count);
        half_precision_widen(kFormats[f].type, narrow, back, count);
        for (int i = 0; i < count; i++) CHECK_NEAR((double)back[i], (double)x[i], 0);
        CHECK_INT_EQ(narrow[count], 12345);
        CHECK_NEAR((double)back[count], 12345, 0);
      }
    }
  }
}

/* Elements of x, y of a binary op are (i * 7 % 64 - 20) / 4 and 1 / 2 less. */
static double element(int64_t i, bool second) { return (double)(i * 7 % 64 - 20) / 4 - (second ? 0.5 : 0); }

static void check_binary(const char *op, DataType type, int64_t count_x, int64_t count_y, bool last_use,
                         double (*f)(double, double)) {
  Status status;
  status_init(&status);
  OpRun run;
  char spec[64];
  snprintf(spec, sizeof spec, "%s[T=%s]", op, dtype_name(type));
  CHECK_CONTEXT("%s %d %d", spec, (int)count_x, (int)count_y);
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  run.last_use = last_use;
  Tensor *x = op_run_input(&run, type, 1, &count_x), *y = op_run_input(&run, type, 1, &count_y);
  for (int64_t i = 0; i < count_x; i++) tensor_put(x, i, element(i, false));
  for (int64_t i = 0; i < count_y; i++) tensor_put(y, i, element(i, true));
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < (count_x > count_y ? count_x : count_y); i++) {
      double want = f(element(count_x > 1 ? i : 0, false), element(count_y > 1 ? i : 0, true));
      CHECK_NEAR(tensor_get(&run.outputs[0], i), want, 0);
    }
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

static double minus(double a, double b) { return a - b; }
static double less(double a, double b) { return a < b; }
static double greater_equal(double a, double b) { return a >= b; }
static double slope(double dy, double x) { return x > 0 ? dy : 0; }

TEST(loops_over_pieces_of_16_bit_floats) {
  static const int64_t kCounts[][2] = {{1, 1},   {255, 255}, {700, 700}, {1, 700},
                                       {700, 1}, {1, 256},   {513, 1}};
  for (int f = 0; f < 2; f++) {
    for (int i = 0; i < 7; i++) {
      int64_t x = kCounts[i][0], y = kCounts[i][1];
      for (int in_place = 0; in_place < 2; in_place++) {
        check_binary("Sub", kFormats[f].type, x, y, in_place, minus);
        if (x == y) check_binary("ReluGrad", kFormats[f].type, x, y, in_place, slope);
      }
      check_binary("Less", kFormats[f].type, x, y, false, less);
      check_binary("GreaterEqual", kFormats[f].type, x, y, false, greater_equal);
    }
  }
}

/* An op of tensors of 900 elements, each (i * 7 % 64 - 20) / 4, or 1 / 2 less from the second on; the ops
 * below have one or more. A NaN is at every 101st place of the first. */
enum { LONG = 900 };
static void check_long(const char *op, const char *attrs, DataType type, int inputs, const char *more,
                       bool nan, double (*f)(double x, int64_t i)) {
  Status status;
  status_init(&status);
  OpRun run;
  char spec[100], rest[100];
  int64_t dims[3] = {3, LONG / 12, 4};
  snprintf(spec, sizeof spec, "%s[T=%s%s]", op, dtype_name(type), attrs);
  CHECK_CONTEXT("%s", spec);
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  for (int k = 0; k < inputs; k++) {
    Tensor *x = op_run_input(&run, type, 3, dims);
    for (int64_t i = 0; i < LONG; i++)
      tensor_put(x, i, nan && k == 0 && i % 101 == 0 ? NAN : element(i, k > 0));
  }
  if (more) {
    snprintf(rest, sizeof rest, more, dtype_name(type), dtype_name(type));
    REQUIRE_OK(op_run_inputs(&run, rest, &status), status);
  }
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < tensor_num_elements(&run.outputs[0]); i++) {
      CHECK_CONTEXT("%s element %d", spec, (int)i);
      CHECK_NEAR(tensor_get(&run.outputs[0], i), f(nan && i % 101 == 0 ? NAN : element(i, false), i), 0);
    }
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

static double leaky(double x, int64_t i) { return (void)i, x > 0 ? x : x / 2; }
static double leaky_slope(double x, int64_t i) { return element(i, true) > 0 ? x : x / 2; }
static double clip(double x, int64_t i) { return (void)i, x < -1 ? -1 : x > 2 ? 2 : x; }
static double clip_between(double x, int64_t i) {
  double y = element(i, true);
  return x > y ? y : x; /* the upper limit is the second tensor, as is the lower one */
}
static double five(double x, int64_t i) { return x + 4 * element(i, true); }
static double is_nan(double x, int64_t i) { return (void)i, isnan(x); }
static double is_finite(double x, int64_t i) { return (void)i, isfinite(x); }
static double with_bias(double x, int64_t i) { return x + (double)(i % 4) - 1; }
static double with_bias_of_rows(double x, int64_t i) { return x + (double)(i / 4 % 75 == 0 ? 1 : 2); }

TEST(ops_of_long_16_bit_tensors) {
  for (int f = 0; f < 2; f++) {
    DataType type = kFormats[f].type;
    check_long("LeakyRelu", ", alpha=0.5", type, 1, NULL, true, leaky);
    check_long("LeakyReluGrad", ", alpha=0.5", type, 2, NULL, true, leaky_slope);
    check_long("ClipByValue", "", type, 1, "%s[] -1; %s[] 2", true, clip);
    check_long("ClipByValue", "", type, 3, NULL, false, clip_between);
    check_long("AddN", ", N=5", type, 5, NULL, true, five);
    check_long("IsNan", "", type, 1, NULL, true, is_nan);
    check_long("IsFinite", "", type, 1, NULL, true, is_finite);
    check_long("BiasAdd", "", type, 1, "%s[4] -1 0 1 2", false, with_bias);
    check_long("BiasAdd", ", data_format=NCHW", type, 1, "%s[75] 1 2", false, with_bias_of_rows);
  }
}

/* Sums are rounded once. */
TEST(sums_of_long_16_bit_tensors) {
  for (int f = 0; f < 2; f++) {
    double squares = 0, sum = 0;
    char spec[100], inputs[6000], want[64];
    int length = snprintf(inputs, sizeof inputs, "%s[%d]", dtype_name(kFormats[f].type), LONG);
    for (int64_t i = 0; i < LONG; i++) {
      squares += element(i, false) * element(i, false);
      sum += element(i, false);
      length += snprintf(inputs + length, sizeof inputs - (size_t)length, " %.2f", element(i, false));
    }
    REQUIRE(length < (int)sizeof inputs - 20);
    snprintf(spec, sizeof spec, "L2Loss[T=%s]", dtype_name(kFormats[f].type));
    snprintf(want, sizeof want, "%s[] %.17g", dtype_name(kFormats[f].type),
             rounded(&kFormats[f], squares / 2));
    op_gives(spec, inputs, want);
    snprintf(spec, sizeof spec, "Sum[T=%s]", dtype_name(kFormats[f].type));
    snprintf(want, sizeof want, "%s[] %.17g", dtype_name(kFormats[f].type), rounded(&kFormats[f], sum));
    snprintf(inputs + length, sizeof inputs - (size_t)length, "; int32[1] 0");
    op_gives(spec, inputs, want);
  }
}
