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

/* --- easy numbers: an integer and a power of ten that are both exact, so that one rounding remains --- */

enum { MAX_DIGITS = 19, MAX_POWER = 22, MAX_EXPONENT_DIGITS = 3 };

typedef struct Reader {
  const char *at, *end;
} Reader;

static bool take_minus(Reader *r) {
  bool minus = r->at < r->end && *r->at == '-';
  if (r->at < r->end && (*r->at == '-' || *r->at == '+')) r->at++;
  return minus;
}

/* Appends up to `most` digits to *number. Returns how many there are. */
static int take_digits(Reader *r, int most, uint64_t *number) {
  int count = 0;
  for (; count < most && r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, count++)
    *number = *number * 10 + (uint64_t)(*r->at - '0');
  return count;
}

static double power_of_ten(int64_t exponent) {
  static const double powers[MAX_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return powers[exponent];
}

bool decimal_easy(const char *text, size_t length, double *value) {
  Reader r = {text, text + length};
  uint64_t digits = 0, power = 0;
  bool negative = take_minus(&r);
  int count = take_digits(&r, MAX_DIGITS, &digits), behind = 0;
  if (r.at < r.end && *r.at == '.') {
    r.at++;
    behind = take_digits(&r, MAX_DIGITS - count, &digits);
  }
  int64_t exponent = 0;
  if (r.at < r.end && (*r.at == 'e' || *r.at == 'E')) {
    r.at++;
    bool below = take_minus(&r);
    if (take_digits(&r, MAX_EXPONENT_DIGITS, &power) == 0) return false;
    exponent = below ? -(int64_t)power : (int64_t)power;
  }
  exponent -= behind;
  if (r.at != r.end || count + behind == 0 || digits > UINT64_C(1) << 53 || exponent < -MAX_POWER ||
      exponent > MAX_POWER)
    return false;
  double exact = (double)digits;
  *value = exponent < 0 ? exact / power_of_ten(-exponent) : exact * power_of_ten(exponent);
  if (negative) *value = -*value;
  return true;
}

bool decimal_easy_float(const char *text, size_t length, float *value) {
  double nearest;
  uint64_t bits;
  if (!decimal_easy(text, length, &nearest)) return false;
  /* Rounding twice is wrong only where the first rounding gives the middle between two floats: the bits that
   * they lack are a one and zeros. Easy numbers are neither denormal floats nor too large ones. */
  memcpy(&bits, &nearest, sizeof bits);
  *value = (float)nearest;
  return (bits & ((UINT64_C(1) << 29) - 1)) != UINT64_C(1) << 28;
}
