/* Numbers in texts: the nearest doubles, as the compiler reads them, and texts that are no numbers. */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct Case {
  const char *text;
  double value;
} Case;

TEST(a_decimal_number_is_the_nearest_double) {
  static const Case cases[] = {
      {"0", 0},
      {"-12", -12},
      {"+.5", 0.5},
      {"7.", 7},
      {"1.25e-3", 1.25e-3},
      {"1E+2", 100},
      {"0.1", 0.1},
      {"0.3333333333333333333333333333333333333333333", 0.3333333333333333333333333333333333333333333},
      {"9007199254740993", 9007199254740992.0},                        /* half way: to the even one */
      {"9007199254740993.0000000000000000000001", 9007199254740994.0}, /* above that */
      {"1.7976931348623157e308", DBL_MAX},
      {"2.2250738585072014e-308", DBL_MIN},
      {"4.9406564584124654e-324", 0x1p-1074},
      {"2e-324", 0},
      {"1e309", (double)INFINITY},
      {"-1e309", -(double)INFINITY},
      {"1e99999999999999999999", (double)INFINITY},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_CONTEXT("%s", cases[i].text);
    CHECK(decimal_parse(cases[i].text) == cases[i].value);
  }
  CHECK(signbit(decimal_parse("-0")));
}

TEST(a_text_that_is_no_decimal_number_is_nan) {
  static const char *const texts[] = {"e5", "1e",   "1e+",   "-",     "+-1", "1-1",
                                      ".",  "-.e1", "1.2.3", "1e5.5", "1ee5"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CHECK_CONTEXT("%s", texts[i]);
    CHECK(isnan(decimal_parse(texts[i])));
  }
}

static bool bits_equal(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

/* What is said to be easy is what the C library says, to the bit. */
static bool is_easy(const char *text) {
  double value, wanted = strtod(text, NULL);
  float single, nearest = strtof(text, NULL);
  CHECK_CONTEXT("%s", text);
  bool easy = decimal_easy(text, strlen(text), &value);
  CHECK(!easy || bits_equal(&value, &wanted, sizeof value));
  CHECK(!decimal_easy_float(text, strlen(text), &single) || bits_equal(&single, &nearest, sizeof single));
  return easy;
}

TEST(easy_numbers_are_the_nearest_double_and_float) {
  static const char *const easy[] = {"0", "-0", "+.5", "-7.", "3.14159", "-0.977278", "1e22", "1E-22",
                                     "12345e-3", "9007199254740992e22", "0000000000000000001", "1e+002",
                                     "9007199254740992e-22",
                                     /* more digits than a double has */
                                     "0.6394267984578837", "0.00012345678901234567", "-1.2345678901234567e-5",
                                     "9999999999999999999", "9007199254740995e22",
                                     "0000000000000000000000001.5", "9223372036854775809e-22",
                                     "1234567890123456789e3",
                                     /* exactly, nearly and not quite half way between two floats */
                                     "16777217", "16777217.0000001", "16777216.9999999", "8388608.5",
                                     "1.000000059604645", "1.000000178813935"};
  for (size_t i = 0; i < sizeof easy / sizeof easy[0]; i++) CHECK(is_easy(easy[i]));
  float single;
  CHECK(!decimal_easy_float("16777217", 8, &single));
  CHECK(!decimal_easy_float("8388608.5", 9, &single));
  CHECK(decimal_easy_float("8388608.25", 10, &single) && single == 8388608);
}

TEST(numbers_that_need_more_than_one_rounding_are_not_easy) {
  static const char *const hard[] = {"9007199254740993",
                                     "1e23",
                                     "1e-23",
                                     "12345678901234567890",
                                     "1e1000",
                                     "1e-1000",
                                     "inf",
                                     "nan",
                                     "0x10",
                                     " 1",
                                     "1 ",
                                     "",
                                     "e5",
                                     "1e",
                                     "1e+",
                                     "-",
                                     "+-1",
                                     "1-1",
                                     ".",
                                     "-.e1",
                                     "1.2.3",
                                     "1e5.5",
                                     "1ee5",
                                     "1,5",
                                     "1f"};
  for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
    double value;
    float single;
    CHECK_CONTEXT("%s", hard[i]);
    CHECK(!decimal_easy(hard[i], strlen(hard[i]), &value));
    CHECK(!decimal_easy_float(hard[i], strlen(hard[i]), &single));
  }
  double value;
  CHECK(decimal_easy("12.5x", 4, &value) && value == 12.5); /* the length is the text's end */
}

TEST(random_numbers_of_many_digits_are_easy_and_the_nearest) {
  uint64_t state = 7;
  int easy = 0;
  for (int i = 0; i < 200000; i++) {
    char text[64];
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t random = state ^ state >> 29, bits = UINT64_C(0x3fe) << 52 | random >> 12;
    double value;
    memcpy(&value, &bits, sizeof value);
    switch (i % 4) {
      case 0: snprintf(text, sizeof text, "%.17g", ldexp(value, (int)(state >> 50) % 24 - 12)); break;
      case 1:
        snprintf(text, sizeof text, "%llu", (unsigned long long)(random % UINT64_C(10000000000000000000)));
        break;
      case 2:
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(random >> 1),
                 (int)(state >> 50) % 45 - 22);
        break;
      /* 2^53 and more, so that doubles are even numbers and a half lies close to odd ones */
      default:
        snprintf(text, sizeof text, "%llu.%03d", (unsigned long long)(random >> 10 | UINT64_C(1) << 53),
                 i % 3 * 499 % 1000);
    }
    easy += is_easy(text);
  }
  CHECK(easy > 190000 * 3 / 4);
}

TEST(random_easy_numbers_are_the_nearest_double_and_float) {
  uint64_t state = 1;
  for (int i = 0; i < 200000; i++) {
    char text[64];
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t random = state ^ state >> 29;
    long long digits = (long long)(random >> (11 + random % 50));
    int behind = (int)(state >> 40 & 7), exponent = (int)(state >> 48) % 31 - 15;
    switch (i % 4) {
      case 0: snprintf(text, sizeof text, "%.*f", behind, (double)digits / 1024); break;
      case 1:
        snprintf(text, sizeof text, "-%lld.%03de%d", digits, (int)(state >> 50) % 1000, exponent);
        break;
      case 2: snprintf(text, sizeof text, "%llde%d", digits, exponent); break;
      /* close to the middle between two floats */
      default:
        snprintf(text, sizeof text, "%.*g", 9 + behind, (double)(2 * (digits >> 30 & 0xffffff) + 1) / 1024);
    }
    is_easy(text);
  }
}
