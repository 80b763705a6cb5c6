/* Fields over several lines in the text of ApiDefs. */
#include <string.h>

#include "native/native_api_defs.h"

/* Takes the first line from `text`; false when no line end follows it. */
static bool take_line(Str *text, Str *line) {
  const char *end = memchr(text->data, '\n', text->length);
  line->data = text->data;
  line->length = end ? (size_t)(end - text->data) : text->length;
  size_t taken = line->length + (end ? 1 : 0);
  text->data += taken;
  text->length -= taken;
  return end;
}

/* Whether the line is "field: <<END". *name_length is the length of "field:". */
static bool opens_block(Str line, size_t *name_length, Str *end) {
  const char *colon = memchr(line.data, ':', line.length);
  if (!colon) return false;
  *name_length = (size_t)(colon - line.data) + 1;
  size_t at = *name_length;
  while (at < line.length && line.data[at] == ' ') at++;
  if (line.length - at < 2 || memcmp(line.data + at, "<<", 2) != 0) return false;
  *end = (Str){line.data + at + 2, line.length - at - 2};
  return true;
}

/* Appends the lines before the one that begins with `end` as a quoted text, and the rest of that line. */
static void append_block(Str *text, Str end, StrBuf *out) {
  StrBuf block = {0};
  Str line = {"", 0};
  for (bool first = true; text->length > 0; first = false) {
    take_line(text, &line);
    if (line.length >= end.length && memcmp(line.data, end.data, end.length) == 0) {
      line = (Str){line.data + end.length, line.length - end.length};
      break;
    }
    if (!first) strbuf_append_char(&block, '\n');
    strbuf_append_bytes(&block, line.data, line.length);
    line.length = 0;
  }
  strbuf_append(out, " \"");
  strbuf_append_c_escaped(out, strbuf_text(&block), (size_t)block.length);
  strbuf_append_char(out, '"');
  strbuf_append_bytes(out, line.data, line.length);
  strbuf_append_char(out, '\n');
  out->failed |= block.failed;
  strbuf_free(&block);
}

void api_def_plain_text(Str text, StrBuf *out) {
  Str line, end;
  size_t name_length;
  while (text.length > 0) {
    bool is_ended = take_line(&text, &line);
    if (is_ended && opens_block(line, &name_length, &end)) {
      strbuf_append_bytes(out, line.data, name_length);
      append_block(&text, end, out);
      continue;
    }
    strbuf_append_bytes(out, line.data, line.length);
    if (is_ended) strbuf_append_char(out, '\n');
  }
}
