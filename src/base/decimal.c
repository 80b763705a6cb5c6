#include "base/decimal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __EMSCRIPTEN__
/* src/wasm/decimal.js. The strtod of Emscripten, whose long doubles have 128 bits, would be some kilobytes of
 * the module. */
extern double parse_decimal(const char *text);

double decimal_parse(const char *text) { return parse_decimal(text); }
#else
double decimal_parse(const char *text) {
  char *end;
  double value = strtod(text, &end);
  return end == text || *end != 0 ? (double)NAN : value;
}
#endif

/* --- easy numbers: an integer of 64 bits and a power of ten that is exact --- */

enum { MAX_POWER = 22, MAX_EXPONENT = 999 };

typedef struct Reader {
  const char *at, *end;
} Reader;

static bool take_minus(Reader *r) {
  bool minus = r->at < r->end && *r->at == '-';
  if (r->at < r->end && (*r->at == '-' || *r->at == '+')) r->at++;
  return minus;
}

/* Appends digits to *number until it has 19. Returns how many there are. */
static int64_t take_digits(Reader *r, uint64_t *number) {
  const char *begin = r->at;
  for (; *number < UINT64_C(1000000000000000000) && r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    *number = *number * 10 + (uint64_t)(*r->at - '0');
  return r->at - begin;
}

static double power_of_ten(int64_t exponent) {
  static const double powers[MAX_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return powers[exponent];
}

static void halve(double x, double *high, double *low) {
  double shifted = x * 0x1.0000002p27;
  *high = shifted - (shifted - x);
  *low = x - *high;
}

/* a * b - product, exactly, where that is the rounded product. */
static double product_error(double a, double b, double product) {
  double a_high, a_low, b_high, b_low;
  halve(a, &a_high, &a_low);
  halve(b, &b_high, &b_low);
  return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/* digits * 10^exponent, where one rounding remains if the digits are exact. Others are a sum of two numbers,
 * and so is the result, with an error of less than 2^-100 of it. False if that decides how the sum is
 * rounded. */
static bool scale(uint64_t digits, int64_t exponent, double *value) {
  double power = power_of_ten(exponent < 0 ? -exponent : exponent), high = (double)digits, rest;
  double low = (double)(int64_t)(digits - (uint64_t)high);
  *value = exponent < 0 ? high / power : high * power;
  if (low == 0) return true;
  if (exponent < 0) {
    double product = *value * power;
    rest = ((high - product) - product_error(*value, power, product) + low) / power;
  } else {
    rest = product_error(high, power, *value) + low * power;
  }
  double margin = *value * 0x1p-100, most = *value + (rest + margin);
  *value += rest - margin;
  return *value == most;
}

bool decimal_easy(const char *text, size_t length, double *value) {
  Reader r = {text, text + length};
  uint64_t digits = 0, power = 0;
  bool negative = take_minus(&r);
  int64_t count = take_digits(&r, &digits), behind = 0;
  if (r.at < r.end && *r.at == '.') {
    r.at++;
    behind = take_digits(&r, &digits);
  }
  int64_t exponent = 0;
  if (r.at < r.end && (*r.at == 'e' || *r.at == 'E')) {
    r.at++;
    bool below = take_minus(&r);
    if (take_digits(&r, &power) == 0 || power > MAX_EXPONENT) return false;
    exponent = below ? -(int64_t)power : (int64_t)power;
  }
  exponent -= behind;
  if (r.at != r.end || count + behind == 0 || exponent < -MAX_POWER || exponent > MAX_POWER ||
      !scale(digits, exponent, value))
    return false;
  if (negative) *value = -*value;
  return true;
}

bool decimal_easy_float(const char *text, size_t length, float *value) {
  double nearest;
  uint64_t bits;
  if (!decimal_easy(text, length, &nearest)) return false;
  /* Rounding twice is wrong only where the first rounding gives the middle between two floats: the bits that
   * they lack are a one and zeros. Easy numbers are not denormal floats. */
  memcpy(&bits, &nearest, sizeof bits);
  *value = (float)nearest;
  return (bits & ((UINT64_C(1) << 29) - 1)) != UINT64_C(1) << 28;
}
