/* Numbers in texts: the nearest doubles, as the compiler reads them, and texts that are no numbers. */
#include "base/decimal.h"

#include <float.h>
#include <math.h>

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
