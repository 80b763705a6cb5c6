#include "base/decimal.h"

#include <math.h>
#include <stdlib.h>

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
