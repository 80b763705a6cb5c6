#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "proto/proto_internal.h"

const char *proto_float_text(float value, char text[NUMBER_TEXT_CAPACITY]) {
  if (isnan(value)) return strcpy(text, "nan");
  if (isinf(value)) return strcpy(text, value < 0 ? "-inf" : "inf");
  for (int digits = 6; digits <= 9; digits += 3) {
    snprintf(text, NUMBER_TEXT_CAPACITY, "%.*g", digits, (double)value);
    if ((float)decimal_parse(text) == value) break;
  }
  return text;
}

const char *proto_double_text(double value, char text[NUMBER_TEXT_CAPACITY]) {
  if (isnan(value)) return strcpy(text, "nan");
  if (isinf(value)) return strcpy(text, value < 0 ? "-inf" : "inf");
  snprintf(text, NUMBER_TEXT_CAPACITY, "%.15g", value);
  if (decimal_parse(text) != value) snprintf(text, NUMBER_TEXT_CAPACITY, "%.17g", value);
  return text;
}

bool text_is_valid(const char *text, size_t length) {
  const unsigned char *p = (const unsigned char *)text, *end = p + length;
  while (p < end) {
    unsigned char c = *p++;
    if (c < 0x80) {
      if (c == 0) return false;
      continue;
    }
    /* The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF. */
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (c < 0xc2 || c > 0xf4 || end - p < more || *p < low || *p > high) return false;
    for (int i = 1; i < more; i++) {
      if ((p[i] & 0xc0) != 0x80) return false;
    }
    p += more;
  }
  return true;
}
