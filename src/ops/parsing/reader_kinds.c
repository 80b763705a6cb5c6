/* How each kind of reader makes records. */
#include <string.h>

#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"
#include "ops/parsing/reader.h"

/* The bytes of the file that were not read yet. */
static Str rest_of(const Reader *reader) {
  return (Str){reader->bytes + reader->position, (size_t)(reader->size - reader->position)};
}

static bool set_value(ReaderRecord *record, Str value, bool *made, Status *status) {
  *made = tstring_set(&record->value, value.data, value.length, status);
  return *made;
}

/* --- lines --- */

/* The next line without its end; false at the end of the file. */
static bool take_line(Reader *reader, Str *line) {
  *line = rest_of(reader);
  if (line->length == 0) return false;
  const char *newline = memchr(line->data, '\n', line->length);
  if (newline) line->length = (size_t)(newline - line->data);
  reader->position += (int64_t)line->length + !!newline;
  if (newline && line->length > 0 && newline[-1] == '\r') line->length--;
  return true;
}

static bool skip_lines(Reader *reader, Status *status) {
  Str line;
  (void)status;
  while (reader->number < reader->spec.skipped_lines && take_line(reader, &line)) reader->number++;
  return true;
}

static bool read_line(Reader *reader, ReaderRecord *record, bool *made, bool *ends, Status *status) {
  Str line;
  reader->number++;
  *ends = !take_line(reader, &line);
  return *ends ||
         (reader_set_key(reader, reader->number, record, status) && set_value(record, line, made, status));
}

const ReaderKind kTextLineReader = {"TextLineReader", true, false, skip_lines, read_line};

/* --- the whole file, or the work itself --- */

static bool read_work(Reader *reader, ReaderRecord *record, bool *made, bool *ends, Status *status) {
  Str work = {reader->work, (size_t)reader->work_length};
  *ends = true;
  return tstring_set(&record->key, work.data, work.length, status) && set_value(record, work, made, status);
}

static bool read_file(Reader *reader, ReaderRecord *record, bool *made, bool *ends, Status *status) {
  *ends = true;
  return reader_open(reader, status) &&
         tstring_set(&record->key, reader->work, (size_t)reader->work_length, status) &&
         set_value(record, rest_of(reader), made, status);
}

const ReaderKind kWholeFileReader = {"WholeFileReader", false, true, NULL, read_file};
const ReaderKind kIdentityReader = {"IdentityReader", false, true, NULL, read_work};

/* --- records of one length --- */

static bool skip_header(Reader *reader, Status *status) {
  if (reader->spec.header_bytes > reader->size)
    return status_set(status, CODE_OUT_OF_RANGE, "reached end of file");
  reader->position = reader->spec.header_bytes;
  return true;
}

static bool read_fixed(Reader *reader, ReaderRecord *record, bool *made, bool *ends, Status *status) {
  const ReaderSpec *spec = &reader->spec;
  int64_t hop = spec->hop_bytes > 0 ? spec->hop_bytes : spec->record_bytes;
  int64_t left = reader->size - reader->position;
  if (reader->number > 0) left -= hop;
  *ends = left < spec->record_bytes || left - spec->record_bytes < spec->footer_bytes;
  if (*ends) return true;
  reader->position = reader->size - left;
  Str value = {reader->bytes + reader->position, (size_t)spec->record_bytes};
  return reader_set_key(reader, reader->number++, record, status) && set_value(record, value, made, status);
}

const ReaderKind kFixedLengthRecordReader = {"FixedLengthRecordReader", true, false, skip_header, read_fixed};

/* --- TFRecord: length, checksum of the length, bytes, checksum of the bytes --- */

enum { LENGTH_BYTES = 8, CHECKSUM_BYTES = 4 };

static bool checksum_fits(Str bytes, Str stored) {
  return crc32c_unmask(load_u32(stored.data)) == crc32c_extend(0, bytes.data, (int64_t)bytes.length);
}

static bool refuse_record(const char *what, int64_t position, Status *status) {
  return status_set(status, CODE_DATA_LOSS, "%s record at %lld", what, (long long)position);
}

/* Bytes and their checksum. False: the file ends before. */
static bool take_checked(Str *rest, uint64_t length, Str *bytes, Str *stored) {
  return take_bytes(rest, length, bytes) && take_bytes(rest, CHECKSUM_BYTES, stored);
}

/* As in TensorFlow, a file may end within the length of a record. */
static bool read_tf_record(Reader *reader, ReaderRecord *record, bool *made, bool *ends, Status *status) {
  Str rest = rest_of(reader), header, value, checksum;
  *ends = !take_checked(&rest, LENGTH_BYTES, &header, &checksum);
  if (*ends) return true;
  if (!checksum_fits(header, checksum)) return refuse_record("corrupted", reader->position, status);
  uint64_t length = load_u32(header.data) | (uint64_t)load_u32(header.data + 4) << 32;
  if (!take_checked(&rest, length, &value, &checksum))
    return refuse_record("truncated", reader->position, status);
  if (!checksum_fits(value, checksum))
    return refuse_record("corrupted", reader->position + LENGTH_BYTES + CHECKSUM_BYTES, status);
  TRY(reader_set_key(reader, reader->position, record, status) && set_value(record, value, made, status));
  reader->position = reader->size - (int64_t)rest.length;
  return true;
}

const ReaderKind kTFRecordReader = {"TFRecordReader", true, false, NULL, read_tf_record};
