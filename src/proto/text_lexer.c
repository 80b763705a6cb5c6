#include "proto/text_lexer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TAB_WIDTH = 8 };

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_octal(char c) { return c >= '0' && c <= '7'; }

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* The character `offset` positions after the cursor; NUL after the end. */
static char peek(const Lexer *lexer, ptrdiff_t offset) {
  return lexer->end - lexer->at > offset ? lexer->at[offset] : '\0';
}

static void step(Lexer *lexer) {
  char c = *lexer->at++;
  if (c == '\n') {
    lexer->line++;
    lexer->column = 0;
  } else if (c == '\t') {
    lexer->column += TAB_WIDTH - lexer->column % TAB_WIDTH;
  } else {
    lexer->column++;
  }
}

static void steps(Lexer *lexer, int count) {
  for (int i = 0; i < count; i++) step(lexer);
}

static bool error_at(Lexer *lexer, int64_t line, int64_t column, const char *message) {
  return status_invalid(lexer->status, "%" PRId64 ":%" PRId64 ": %s", line + 1, column + 1, message);
}

static bool error_here(Lexer *lexer, const char *message) {
  return error_at(lexer, lexer->line, lexer->column, message);
}

bool lexer_error(Lexer *lexer, const char *format, ...) {
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return error_at(lexer, lexer->token_line, lexer->token_column, message);
}

bool lexer_at(const Lexer *lexer, char symbol) {
  return lexer->kind == TOKEN_SYMBOL && *lexer->text.data == symbol;
}

static void skip_blanks(Lexer *lexer) {
  while (lexer->at < lexer->end) {
    char c = *lexer->at;
    if (c == '#') {
      while (lexer->at < lexer->end && *lexer->at != '\n') step(lexer);
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      step(lexer);
    } else {
      return;
    }
  }
}

static bool read_number(Lexer *lexer) {
  lexer->kind = TOKEN_INTEGER;
  if (peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X')) {
    steps(lexer, 2);
    if (hex_digit(peek(lexer, 0)) < 0) return error_here(lexer, "\"0x\" must be followed by hex digits.");
    while (hex_digit(peek(lexer, 0)) >= 0) step(lexer);
  } else if (peek(lexer, 0) == '0' && is_digit(peek(lexer, 1))) {
    while (is_octal(peek(lexer, 0))) step(lexer);
    if (is_digit(peek(lexer, 0)))
      return error_here(lexer, "Numbers starting with leading zero must be in octal.");
  } else {
    while (is_digit(peek(lexer, 0))) step(lexer);
    if (peek(lexer, 0) == '.') {
      lexer->kind = TOKEN_FLOAT;
      do step(lexer);
      while (is_digit(peek(lexer, 0)));
    }
    if (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') {
      lexer->kind = TOKEN_FLOAT;
      step(lexer);
      if (peek(lexer, 0) == '-' || peek(lexer, 0) == '+') step(lexer);
      if (!is_digit(peek(lexer, 0))) return error_here(lexer, "\"e\" must be followed by exponent.");
      while (is_digit(peek(lexer, 0))) step(lexer);
    }
    if (peek(lexer, 0) == 'f' || peek(lexer, 0) == 'F') {
      lexer->kind = TOKEN_FLOAT;
      step(lexer);
    }
  }
  if (is_letter(peek(lexer, 0))) return error_here(lexer, "Need space between number and identifier.");
  if (peek(lexer, 0) == '.')
    return error_here(lexer, "Already saw decimal point or exponent; can't have another one.");
  return true;
}

/* Skips `count` hex digits after a backslash and a letter. */
static bool skip_hex(Lexer *lexer, int count, const char *problem) {
  steps(lexer, 2);
  for (int i = 0; i < count; i++) {
    if (hex_digit(peek(lexer, 0)) < 0) return error_here(lexer, problem);
    step(lexer);
  }
  return true;
}

/* At the character after the backslash. */
static bool refuse_escape(Lexer *lexer) {
  return error_at(lexer, lexer->line, lexer->column + 1, "Invalid escape sequence in string literal.");
}

static bool skip_escape(Lexer *lexer) {
  char c = peek(lexer, 1);
  static const char out_of_range[] = "Expected eight hex digits up to 10ffff for \\U escape sequence";
  if (c == 'x' || c == 'X') return skip_hex(lexer, 1, "Expected hex digits for escape sequence.");
  if (c == 'u') return skip_hex(lexer, 4, "Expected four hex digits for \\u escape sequence.");
  if (c == 'U') {
    const char *digits = lexer->at + 2;
    TRY(skip_hex(lexer, 8, out_of_range));
    if (memcmp(digits, "000", 3) != 0 && memcmp(digits, "0010", 4) != 0) {
      return error_here(lexer, out_of_range);
    }
    return true;
  }
  if (is_octal(c)) {
    if (c > '3' && is_octal(peek(lexer, 2)) && is_octal(peek(lexer, 3))) {
      return refuse_escape(lexer);
    }
  } else if (c == '\0' || !strchr("abfnrtv\\?'\"", c)) {
    return refuse_escape(lexer);
  }
  steps(lexer, 2);
  return true;
}

static bool read_string(Lexer *lexer) {
  lexer->kind = TOKEN_STRING;
  char quote = *lexer->at;
  step(lexer);
  while (lexer->at < lexer->end) {
    char c = *lexer->at;
    if (c == quote) {
      step(lexer);
      return true;
    }
    if (c == '\n') return error_here(lexer, "Multiline strings are not allowed. Did you miss a \"?.");
    if (c == '\\') {
      TRY(skip_escape(lexer));
    } else {
      step(lexer);
    }
  }
  return error_here(lexer, "Unexpected end of string.");
}

bool lexer_next(Lexer *lexer) {
  skip_blanks(lexer);
  lexer->token_line = lexer->line;
  lexer->token_column = lexer->column;
  const char *start = lexer->at;
  char c = peek(lexer, 0);
  bool ok = true;
  if (lexer->at == lexer->end) {
    lexer->kind = TOKEN_END;
  } else if (is_letter(c)) {
    lexer->kind = TOKEN_IDENTIFIER;
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0))) step(lexer);
  } else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
    ok = read_number(lexer);
  } else if (c == '"' || c == '\'') {
    ok = read_string(lexer);
  } else if ((unsigned char)c < 0x20 || (unsigned char)c == 0x7f) {
    return error_here(lexer, "Invalid control characters encountered in text.");
  } else {
    lexer->kind = TOKEN_SYMBOL;
    step(lexer);
  }
  lexer->text = (Str){start, (size_t)(lexer->at - start)};
  return ok;
}

bool lexer_start(Lexer *lexer, Str text, Status *status) {
  const char *begin = text.data ? text.data : "";
  *lexer = (Lexer){.at = begin, .end = begin + text.length, .status = status};
  return lexer_next(lexer);
}

static uint32_t hex_value(const char *digits, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; i++) value = value << 4 | (uint32_t)hex_digit(digits[i]);
  return value;
}

static void append_utf8(uint32_t code, StrBuf *out) {
  char bytes[4];
  size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length; i > 1; i--, code >>= 6) bytes[i - 1] = (char)(0x80 | (code & 0x3f));
  static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  bytes[0] = (char)(leads[length] | code);
  strbuf_append_bytes(out, bytes, length);
}

/* `p` is after the backslash of an escape that skip_escape accepted; returns the position after the
 * escape. */
static const char *unquote_escape(const char *p, const char *end, StrBuf *out) {
  static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
  char c = *p++;
  if (is_octal(c)) {
    int value = c - '0';
    for (int i = 0; i < 2 && p < end && is_octal(*p); i++) value = value * 8 + (*p++ - '0');
    strbuf_append_char(out, (char)value);
  } else if (c == 'x' || c == 'X') {
    int value = hex_digit(*p++);
    if (p < end && hex_digit(*p) >= 0) value = value * 16 + hex_digit(*p++);
    strbuf_append_char(out, (char)value);
  } else if (c == 'u' || c == 'U') {
    int digits = c == 'u' ? 4 : 8;
    uint32_t code = hex_value(p, digits);
    p += digits;
    if (code >> 10 == 0xd800 >> 10 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
      uint32_t low = hex_value(p + 2, 4);
      if (low >> 10 == 0xdc00 >> 10) {
        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
        p += 6;
      }
    }
    append_utf8(code, out);
  } else {
    const char *letter = strchr(letters, c);
    strbuf_append_char(out, letter ? values[letter - letters] : c);
  }
  return p;
}

void lexer_unquote(Str token, StrBuf *out) {
  const char *p = token.data + 1, *end = token.data + token.length - 1;
  while (p < end) {
    const char *escape = memchr(p, '\\', (size_t)(end - p));
    const char *plain_end = escape ? escape : end;
    strbuf_append_bytes(out, p, (size_t)(plain_end - p));
    p = escape ? unquote_escape(escape + 1, end, out) : end;
  }
}

bool lexer_integer(Str token, uint64_t *value) {
  const char *p = token.data, *end = p + token.length;
  unsigned base = 10;
  if (*p == '0' && token.length > 1) {
    base = p[1] == 'x' || p[1] == 'X' ? 16 : 8;
    p += base == 16 ? 2 : 1;
  }
  uint64_t result = 0;
  for (; p < end; p++) {
    if (__builtin_mul_overflow(result, (uint64_t)base, &result) ||
        __builtin_add_overflow(result, (uint64_t)hex_digit(*p), &result)) {
      return false;
    }
  }
  *value = result;
  return true;
}
