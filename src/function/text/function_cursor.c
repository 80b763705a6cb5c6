/* The cursor over a function text: blanks, names, quotes, positions of errors. */
#include <string.h>

#include "function/text/function_text_internal.h"

const char NODE_NAME_CHARS[] = "./->";
const char INPUT_NAME_CHARS[] = "./->:^";

bool cursor_error(Cursor *c, const char *format, ...) {
  int line = 1, column = 1;
  for (const char *p = c->start; p < c->at; p++) {
    column++;
    if (*p == '\n') line++, column = 1;
  }
  status_set(c->status, CODE_INVALID_ARGUMENT, "function text %d:%d: ", line, column);
  char message[1024];
  Status detail;
  status_init(&detail);
  va_list args;
  va_start(args, format);
  status_setv(&detail, CODE_INVALID_ARGUMENT, format, args);
  va_end(args);
  size_t length = strnlen(detail.message, sizeof message - 1);
  memcpy(message, detail.message, length);
  message[length] = 0;
  return status_append(c->status, "%s", message);
}

void cursor_skip(Cursor *c) {
  for (; c->at < c->end; c->at++) {
    char ch = *c->at;
    if (ch == '#') {
      const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
      if (!newline) {
        c->at = c->end;
        return;
      }
      c->at = newline;
    } else if (ch != ' ' && ch != '\n' && ch != '\t' && ch != '\r') {
      return;
    }
  }
}

char cursor_peek(Cursor *c) {
  cursor_skip(c);
  return c->at < c->end ? *c->at : 0;
}

bool cursor_take(Cursor *c, const char *text) {
  cursor_skip(c);
  size_t length = strlen(text);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0) return false;
  c->at += length;
  return true;
}

/* The next few characters, for an error. */
static const char *found(Cursor *c, char text[32]) {
  cursor_skip(c);
  if (c->at >= c->end) return "the end of the text";
  size_t length = 0;
  text[length++] = '\'';
  for (const char *p = c->at; p < c->end && length < 24 && *p != '\n'; p++) {
    if (length > 1 && (*p == ' ' || *p == ',' || *p == ')' || *p == ']')) break;
    text[length++] = *p >= ' ' && *p < 127 ? *p : '?';
  }
  text[length++] = '\'';
  text[length] = 0;
  return text;
}

bool cursor_expect(Cursor *c, const char *text, const char *after) {
  if (cursor_take(c, text)) return true;
  char here[32];
  const char *what = found(c, here);
  return cursor_error(c, "expected '%s' after %s, found %s", text, after, what);
}

static bool is_word(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_';
}

/* The length of the name that starts here. '>' and '-' belong to it only before a word character, so that
 * "->" ends a name. */
static size_t name_length(const char *at, const char *end, const char *extra) {
  const char *p = at;
  for (; p < end; p++) {
    if (is_word(*p)) continue;
    if (*p == 0 || !strchr(extra, *p)) break;
    if ((*p == '>' || *p == '-') && (p + 1 >= end || !is_word(p[1]))) break;
  }
  return (size_t)(p - at);
}

bool cursor_name(Cursor *c, const char *extra, const char *what, char **name) {
  cursor_skip(c);
  if (c->at < c->end && *c->at == '`') {
    size_t length;
    return cursor_quoted(c, name, &length);
  }
  size_t length = name_length(c->at, c->end, extra);
  if (length == 0) {
    char here[32];
    const char *instead = found(c, here);
    return cursor_error(c, "expected %s, found %s", what, instead);
  }
  *name = arena_strndup(c->arena, c->at, length);
  if (!*name) return status_oom(c->status, "function text");
  c->at += length;
  return true;
}

void print_name(const char *name, const char *extra, StrBuf *out) {
  size_t length = strlen(name);
  if (length > 0 && name_length(name, name + length, extra) == length) {
    strbuf_append(out, name);
    return;
  }
  strbuf_append_char(out, '`');
  for (const char *p = name; *p; p++) {
    if (*p == '`') {
      strbuf_append(out, "\\140");
    } else {
      strbuf_append_c_escaped(out, p, 1);
    }
  }
  strbuf_append_char(out, '`');
}

static int hex_digit(char ch) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
  if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
  return -1;
}

/* One escape; the cursor is after the backslash. */
static bool escape(Cursor *c, char *byte) {
  static const char names[] = "nrtabfv\"'\\?`", values[] = "\n\r\t\a\b\f\v\"'\\?`";
  char ch = *c->at;
  const char *simple = ch ? strchr(names, ch) : NULL;
  if (simple) {
    *byte = values[simple - names];
    c->at++;
    return true;
  }
  int value = 0, digits = 0;
  if (ch == 'x' || ch == 'X') {
    c->at++;
    for (; digits < 2 && c->at < c->end && hex_digit(*c->at) >= 0; digits++)
      value = value * 16 + hex_digit(*c->at++);
  } else {
    for (; digits < 3 && c->at < c->end && *c->at >= '0' && *c->at <= '7'; digits++)
      value = value * 8 + (*c->at++ - '0');
  }
  if (digits == 0 || value > 255) return cursor_error(c, "an unknown escape in a text in quotes");
  *byte = (char)value;
  return true;
}

bool cursor_quoted(Cursor *c, char **bytes, size_t *length) {
  const char *open = c->at;
  char quote = *c->at++;
  const char *close = c->at;
  while (close < c->end && *close != quote) close += *close == '\\' && close + 1 < c->end ? 2 : 1;
  if (close >= c->end) {
    c->at = open;
    return cursor_error(c, "a quote that is not closed");
  }
  char *out = arena_alloc(c->arena, close - c->at + 1);
  if (!out) return status_oom(c->status, "function text");
  size_t n = 0;
  while (c->at < close) {
    if (*c->at != '\\') {
      out[n++] = *c->at++;
    } else {
      c->at++;
      TRY(escape(c, &out[n]));
      n++;
    }
  }
  out[n] = 0;
  c->at = close + 1;
  *bytes = out;
  *length = n;
  return true;
}

bool cursor_angle(Cursor *c, Str *inside) {
  TRY(cursor_expect(c, "<", "its name"));
  const char *p = c->at;
  char quote = 0;
  for (; p < c->end; p++) {
    if (quote != 0) {
      if (*p == '\\' && p + 1 < c->end) {
        p++;
      } else if (*p == quote) {
        quote = 0;
      }
    } else if (*p == '"' || *p == '\'') {
      quote = *p;
    } else if (*p == '>') {
      *inside = (Str){c->at, (size_t)(p - c->at)};
      c->at = p + 1;
      return true;
    }
  }
  return cursor_error(c, "'<' that is not closed");
}

bool cursor_message(Cursor *c, const ProtoDescriptor *descriptor, void **message) {
  Cursor begin = *c;
  Str inside;
  TRY(cursor_angle(c, &inside));
  Status inner;
  status_init(&inner);
  if (proto_parse_text(descriptor, inside, c->arena, message, &inner)) return true;
  if (inner.code != CODE_INVALID_ARGUMENT) {
    *c->status = inner;
    return false;
  }
  return cursor_error(&begin, "%s", inner.message);
}
