/* C escapes in the strings of specs. */
#include <stdio.h>

#include "op/op_def_internal.h"

static int hex_digit(char c) {
  if (spec_is_digit(c)) return c - '0';
  char lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Decodes one escape: `at` is after the backslash, and is moved past the escape. Keeps its start for
 * messages. */
typedef struct Escape {
  const char *start, *at, *end;
  char problem[96];
} Escape;

static bool exceeds(Escape *escape, const char *limit) {
  snprintf(escape->problem, sizeof escape->problem, "Value of \\%.*s exceeds %s",
           (int)(escape->at - escape->start), escape->start, limit);
  return false;
}

static bool take_octal(Escape *escape, char *out) {
  int value = 0;
  for (int i = 0; i < 3 && escape->at < escape->end && *escape->at >= '0' && *escape->at <= '7'; i++) {
    value = value * 8 + (*escape->at++ - '0');
  }
  if (value > 0xff) return exceeds(escape, "0xff");
  *out = (char)value;
  return true;
}

static bool take_hex(Escape *escape, char *out) {
  escape->at++;
  bool at_end = escape->at == escape->end;
  if (at_end || hex_digit(*escape->at) < 0) {
    snprintf(escape->problem, sizeof escape->problem, "%s",
             at_end ? "String cannot end with \\x" : "\\x cannot be followed by a non-hex digit");
    return false;
  }
  int value = 0;
  for (; escape->at < escape->end && hex_digit(*escape->at) >= 0; escape->at++) {
    if (value <= 0xff) value = value * 16 + hex_digit(*escape->at);
  }
  if (value > 0xff) return exceeds(escape, "0xff");
  *out = (char)value;
  return true;
}

static int encode_utf8(uint32_t rune, char *out) {
  if (rune < 0x80) {
    out[0] = (char)rune;
    return 1;
  }
  int more = rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
  static const uint8_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out[0] = (char)(kLead[more] | rune >> 6 * more);
  for (int i = 1; i <= more; i++) out[i] = (char)(0x80 | (rune >> 6 * (more - i) & 0x3f));
  return more + 1;
}

/* \uXXXX and \UXXXXXXXX */
static bool take_rune(Escape *escape, char *out, int *length) {
  int num_digits = *escape->at == 'u' ? 4 : 8;
  char letter = *escape->at++;
  uint32_t rune = 0;
  if (escape->end - escape->at < num_digits) {
    snprintf(escape->problem, sizeof escape->problem, "\\%c must be followed by %d hex digits", letter,
             num_digits);
    return false;
  }
  for (int i = 0; i < num_digits; i++) {
    int digit = hex_digit(*escape->at);
    if (digit < 0) {
      snprintf(escape->problem, sizeof escape->problem, "\\%c must be followed by %d hex digits: \\%.*s",
               letter, num_digits, (int)(escape->at - escape->start), escape->start);
      return false;
    }
    escape->at++;
    rune = rune * 16 + (uint32_t)digit;
    if (rune > 0x10ffff) return exceeds(escape, "Unicode limit (0x10FFFF)");
  }
  if (rune >= 0xd800 && rune <= 0xdfff) {
    snprintf(escape->problem, sizeof escape->problem, "invalid surrogate character (0xD800-DFFF): \\%.*s",
             (int)(escape->at - escape->start), escape->start);
    return false;
  }
  *length = encode_utf8(rune, out);
  return true;
}

/* Writes at most four bytes, and never more than the length of the escape. */
static bool take_escape(Escape *escape, char *out, int *length) {
  static const char kLetters[] = "abfnrtv\\?'\"", kMeant[] = "\a\b\f\n\r\t\v\\?'\"";
  *length = 1;
  if (escape->at == escape->end) {
    snprintf(escape->problem, sizeof escape->problem, "String cannot end with \\");
    return false;
  }
  char c = *escape->at;
  if (c >= '0' && c <= '7') return take_octal(escape, out);
  if (c == 'x' || c == 'X') return take_hex(escape, out);
  if (c == 'u' || c == 'U') return take_rune(escape, out, length);
  const char *letter = c ? strchr(kLetters, c) : NULL;
  if (!letter) {
    snprintf(escape->problem, sizeof escape->problem, "Unknown escape sequence: \\%c", c);
    return false;
  }
  escape->at++;
  *out = kMeant[letter - kLetters];
  return true;
}

bool spec_unescape(SpecParser *parser, Str text, Str *out) {
  char *bytes = arena_alloc(parser->arena, (int64_t)text.length + 1);
  if (!bytes) {
    parser->out_of_memory = true;
    return false;
  }
  const char *at = text.data, *end = text.data + text.length;
  size_t length = 0;
  while (at < end) {
    if (*at != '\\') {
      bytes[length++] = *at++;
      continue;
    }
    Escape escape = {.start = at + 1, .at = at + 1, .end = end};
    int count;
    if (!take_escape(&escape, bytes + length, &count)) {
      spec_error(parser, "Trouble unescaping \"%.*s\", got error: %s", (int)text.length, text.data,
                 escape.problem);
      return false;
    }
    length += (size_t)count;
    at = escape.at;
  }
  *out = (Str){bytes, length};
  return true;
}
