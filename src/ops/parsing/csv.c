#include "ops/parsing/csv.h"

#include "base/alloc.h"

/* The position in a record. */
typedef struct Cursor {
  const CsvFormat *format;
  const char *at, *end;
  bool keeps; /* the text of this field is kept */
} Cursor;

static void keep(const Cursor *cursor, char c, CsvFields *fields) {
  if (cursor->keeps) strbuf_append_char(&fields->text, c);
}

/* Takes the delimiter too. */
static bool take_plain(Cursor *cursor, CsvFields *fields, Status *status) {
  const CsvFormat *format = cursor->format;
  for (; cursor->at < cursor->end && *cursor->at != format->delimiter; cursor->at++) {
    char c = *cursor->at;
    if ((format->has_quotes && c == '"') || c == '\n' || c == '\r')
      return status_invalid(status, "Unquoted fields cannot have quotes/CRLFs inside");
    keep(cursor, c, fields);
  }
  if (cursor->at < cursor->end) cursor->at++;
  return true;
}

/* Behind the first quote. The field ends at a quote before the delimiter or the end of the record. */
static bool take_quoted(Cursor *cursor, CsvFields *fields, Status *status) {
  char delimiter = cursor->format->delimiter;
  const char *end = cursor->end;
  while (cursor->at < end - 1 && (cursor->at[0] != '"' || cursor->at[1] != delimiter)) {
    if (cursor->at[0] == '"' && cursor->at[1] != '"')
      return status_invalid(status, "Quote inside a string has to be escaped by another quote");
    keep(cursor, cursor->at[0], fields);
    cursor->at += cursor->at[0] == '"' ? 2 : 1;
  }
  if (cursor->at >= end || *cursor->at != '"')
    return status_invalid(status, "Quoted field has to end with quote followed by delim or end");
  cursor->at += cursor->at < end - 1 ? 2 : 1;
  return true;
}

static bool end_field(CsvFields *fields, Status *status) {
  if (!mem_grow((void **)&fields->ends, &fields->capacity, fields->count + 1, sizeof *fields->ends))
    return status_oom(status, "the fields of a record");
  fields->ends[fields->count++] = fields->text.length;
  return true;
}

/* Whether the field with that number is kept. */
static bool is_wanted(const CsvFormat *format, const CsvFields *fields, int64_t number) {
  return format->num_columns == 0 ||
         (fields->count < format->num_columns && format->columns[fields->count] == number);
}

bool csv_read(const CsvFormat *format, Str record, CsvFields *fields, Status *status) {
  Cursor cursor = {.format = format, .at = record.data, .end = record.data + record.length};
  int64_t number = 0;
  strbuf_clear(&fields->text);
  fields->count = 0;
  while (cursor.at < cursor.end) {
    if (*cursor.at == '\n' || *cursor.at == '\r') {
      cursor.at++;
      continue;
    }
    cursor.keeps = is_wanted(format, fields, number++);
    bool quoted = format->has_quotes && *cursor.at == '"';
    cursor.at += quoted;
    TRY(quoted ? take_quoted(&cursor, fields, status) : take_plain(&cursor, fields, status));
    if (cursor.keeps) TRY(end_field(fields, status));
    if (fields->count > 0 && fields->count == format->num_columns) return strbuf_ok(&fields->text, status);
  }
  if (record.length > 0 && cursor.end[-1] == format->delimiter && is_wanted(format, fields, number))
    TRY(end_field(fields, status));
  return strbuf_ok(&fields->text, status);
}

Str csv_field(const CsvFields *fields, int64_t i) {
  int64_t begin = i > 0 ? fields->ends[i - 1] : 0;
  return (Str){strbuf_text(&fields->text) + begin, (size_t)(fields->ends[i] - begin)};
}

void csv_fields_free(CsvFields *fields) {
  strbuf_free(&fields->text);
  mem_free(fields->ends);
}
