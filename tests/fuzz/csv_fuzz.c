/* A record of comma-separated values. Its fields are written in quotes and read back. The first byte selects
 * the format. */
#include "fuzz/fuzz.h"
#include "ops/parsing/csv.h"

static void quote(const CsvFormat *format, const CsvFields *fields, StrBuf *out) {
  for (int64_t i = 0; i < fields->count; i++) {
    Str field = csv_field(fields, i);
    if (i > 0) strbuf_append_char(out, format->delimiter);
    strbuf_append_char(out, '"');
    for (size_t k = 0; k < field.length; k++) {
      if (field.data[k] == '"') strbuf_append_char(out, '"');
      strbuf_append_char(out, field.data[k]);
    }
    strbuf_append_char(out, '"');
  }
}

static bool has_quote(const CsvFields *fields) {
  bool found = false;
  for (int64_t i = 0; i < fields->text.length; i++) found = found || fields->text.data[i] == '"';
  return found;
}

/* A quote in a field may be followed by the delimiter, which would end it. */
static void there_and_back(const CsvFormat *format, const CsvFields *fields) {
  CsvFormat quoted = {.delimiter = format->delimiter, .has_quotes = true};
  StrBuf text = {0};
  CsvFields again = {0};
  Status status;
  status_init(&status);
  quote(&quoted, fields, &text);
  if (strbuf_ok(&text, &status) &&
      csv_read(&quoted, (Str){strbuf_text(&text), (size_t)text.length}, &again, &status)) {
    FUZZ_CHECK(again.count == fields->count, "%lld fields are read as %lld", (long long)fields->count,
               (long long)again.count);
    for (int64_t i = 0; i < again.count; i++)
      FUZZ_CHECK(str_equal(csv_field(&again, i), csv_field(fields, i)), "field %lld changes", (long long)i);
  } else {
    FUZZ_CHECK(status.code == CODE_RESOURCE_EXHAUSTED, "fields in quotes are refused: %s", status.message);
  }
  csv_fields_free(&again);
  strbuf_free(&text);
}

static void run(const uint8_t *bytes, size_t size) {
  static const int64_t columns[] = {0, 2, 3};
  FuzzReader reader = {bytes, bytes + size};
  int flags = fuzz_byte(&reader);
  CsvFormat format = {.delimiter = ",;\t "[flags & 3],
                      .has_quotes = flags & 4,
                      .columns = columns,
                      .num_columns = flags & 8 ? 3 : 0};
  CsvFields fields = {0};
  Status status;
  status_init(&status);
  Str record = fuzz_bytes(&reader, size);
  if (csv_read(&format, record, &fields, &status)) {
    FUZZ_CHECK(fields.text.length <= (int64_t)record.length, "the fields are longer than the record");
    FUZZ_CHECK(fields.count <= (int64_t)record.length + 1, "there are too many fields");
    FUZZ_CHECK(!(flags & 8) || fields.count <= 3, "there are more fields than were asked for");
    if (!has_quote(&fields)) there_and_back(&format, &fields);
  } else {
    fuzz_check_code(status.code, status.message);
  }
  csv_fields_free(&fields);
}

const FuzzTarget k_csv_fuzz = {"csv", run, NULL};
