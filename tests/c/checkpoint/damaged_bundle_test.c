/* Invalid bundles with correct checksums, so that the reader must check their contents. */
#include <stdio.h>
#include <string.h>

#include "base/file_draft.h"
#include "checkpoint/bundle.h"
#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/table.h"
#include "harness.h"

static bool add_message(TableWriter *table, const char *key, const ProtoDescriptor *descriptor,
                        const char *text, Status *status) {
  Arena *arena = arena_new();
  StrBuf bytes = {0};
  void *message;
  bool ok = proto_parse_text(descriptor, str_of(text), arena, &message, status) &&
            proto_serialize(message, &bytes, status);
  if (ok) table_writer_add(table, str_of(key), (Str){strbuf_text(&bytes), (size_t)bytes.length});
  strbuf_free(&bytes);
  arena_free(arena);
  return ok;
}

/* The bundle "b": its header and the entry "x" as text (NULL: none), and one data file. */
static bool write_bundle(const char *header, const char *entry, Str data) {
  Status status;
  Str file;
  TableWriter *table = table_writer_new();
  status_init(&status);
  bool ok = (!header || CHECK_OK(add_message(table, "", kBundleHeader, header, &status), status)) &&
            (!entry || CHECK_OK(add_message(table, "x", kBundleEntry, entry, &status), status)) &&
            CHECK_OK(table_writer_finish(table, &file, &status), status) &&
            CHECK_OK(file_replace("b.index", file.data, (int64_t)file.length, &status), status) &&
            CHECK_OK(file_replace("b.data-00000-of-00001", data.data, (int64_t)data.length, &status), status);
  table_writer_free(table);
  return ok;
}

static bool read_x(Tensor *tensor, Status *status) {
  BundleReader *reader;
  TRY(bundle_reader_open(str_of("b"), &reader, status));
  bool ok = bundle_reader_read(reader, str_of("x"), NULL, tensor, status);
  bundle_reader_free(reader);
  return ok;
}

static void check_refused(const char *header, const char *entry, Str data, Code code, const char *words) {
  Status status;
  Tensor tensor = {0};
  status_init(&status);
  CHECK_CONTEXT("%s / %s", !header ? "no header" : header, !entry ? "no entry" : entry);
  if (write_bundle(header, entry, data)) CHECK_ERROR(read_x(&tensor, &status), status, code, words);
  CHECK(tensor_is_empty(&tensor));
  CHECK_CONTEXT("%s", "");
}

static const FileStore *usual;

static void begin(void) {
  usual = file_store();
  file_store_use(&kMemoryFiles);
}

static void end(void) {
  file_memory_clear();
  file_store_use(usual);
}

#define ONE_SHARD "num_shards: 1 version { producer: 1 }"
#define TWO_FLOATS "dtype: DT_FLOAT shape { dim { size: 2 } } "
static const Str kEightBytes = {"12345678", 8};

TEST(headers_that_cannot_be_are_refused) {
  begin();
  check_refused(NULL, TWO_FLOATS, kEightBytes, CODE_DATA_LOSS, "failed to seek to header entry");
  check_refused("num_shards: 0", TWO_FLOATS, kEightBytes, CODE_DATA_LOSS, "no shards");
  check_refused("num_shards: -3", TWO_FLOATS, kEightBytes, CODE_DATA_LOSS, "no shards");
  check_refused("num_shards: 1 endianness: BIG", TWO_FLOATS, kEightBytes, CODE_UNIMPLEMENTED,
                "big-endian machine");
  check_refused("num_shards: 1 version { producer: 9 min_consumer: 2 }", TWO_FLOATS, kEightBytes,
                CODE_INVALID_ARGUMENT, "Checkpoint min consumer version 2 above current version 1");
  end();
}

TEST(entries_that_cannot_be_are_refused) {
  static const struct {
    const char *entry;
    Code code;
    const char *words;
  } kEntries[] = {
      {NULL, CODE_NOT_FOUND, "Key x not found in checkpoint"},
      {TWO_FLOATS "size: 8 crc32c: 1", CODE_DATA_LOSS, "Checksum does not match: stored 1"},
      {TWO_FLOATS "size: 8 shard_id: -1", CODE_DATA_LOSS, "Entry for key x is damaged"},
      {TWO_FLOATS "size: 8 shard_id: 1", CODE_DATA_LOSS, "Entry for key x is damaged"},
      {TWO_FLOATS "size: 8 offset: -1", CODE_DATA_LOSS, "Entry for key x is damaged"},
      {TWO_FLOATS "size: -8", CODE_DATA_LOSS, "Entry for key x is damaged"},
      {TWO_FLOATS "size: 8 offset: 9", CODE_OUT_OF_RANGE, "Read less bytes than requested"},
      {TWO_FLOATS "size: 8 offset: 1", CODE_OUT_OF_RANGE, "Read less bytes than requested"},
      {TWO_FLOATS "size: 4", CODE_DATA_LOSS,
       "Invalid size in bundle entry: key x; stored size 4; expected size 8"},
      {"dtype: DT_FLOAT shape { dim { size: 4611686018427387904 } } size: 8", CODE_DATA_LOSS,
       "stored size 8; expected size -1"},
      {"dtype: DT_FLOAT shape { dim { size: -1 } } size: 8", CODE_INVALID_ARGUMENT, "is not fully defined"},
      {"dtype: DT_FLOAT shape { unknown_rank: true } size: 8", CODE_INVALID_ARGUMENT, "is not fully defined"},
      {"dtype: DT_FLOAT_REF size: 8", CODE_UNIMPLEMENTED, "Tensor x of type float_ref cannot be restored"},
      {"dtype: DT_RESOURCE size: 8", CODE_UNIMPLEMENTED, "Tensor x of type resource cannot be restored"},
      {"dtype: DT_INVALID size: 8", CODE_UNIMPLEMENTED, "cannot be restored"},
      {TWO_FLOATS "slices { extent { start: 1 length: 2 } }", CODE_DATA_LOSS,
       "A slice of tensor x is damaged"},
      {TWO_FLOATS "slices { extent { } extent { } }", CODE_DATA_LOSS, "A slice of tensor x is damaged"},
      {TWO_FLOATS "slices { extent { start: 0 length: 1 } }", CODE_INVALID_ARGUMENT,
       "Does not have sufficient slices for partitioned tensor x to restore in slice_spec: -"},
      {TWO_FLOATS "slices { extent { start: 0 length: 1 } } slices { extent { start: 1 length: 1 } }",
       CODE_NOT_FOUND, "not found in checkpoint"},
      {TWO_FLOATS "slices { extent { } }", CODE_DATA_LOSS, ""}, /* a slice that is the whole tensor, and
                                                                 * refers to itself */
      {"dtype: DT_FLOAT slices { }", CODE_DATA_LOSS, ""},
      {"dtype: DT_FLOAT shape { dim { size: -1 } } slices { extent { } }", CODE_INVALID_ARGUMENT,
       "is not fully defined"},
  };
  begin();
  for (size_t i = 0; i < sizeof kEntries / sizeof kEntries[0]; i++)
    check_refused(ONE_SHARD, kEntries[i].entry, kEightBytes, kEntries[i].code, kEntries[i].words);
  end();
}

/* The bytes of strings: lengths, a checksum of them, texts; and the checksum of all. */
static uint32_t append_strings(const uint64_t *lengths, int count, const char *texts, uint32_t wrong,
                               StrBuf *out) {
  uint32_t crc = 0;
  for (int i = 0; i < count; i++) {
    unsigned char word[8];
    for (int b = 0; b < 8; b++) word[b] = (unsigned char)(lengths[i] >> (8 * b));
    crc = crc32c_extend(crc, word, lengths[i] > UINT32_MAX ? 8 : 4);
    append_varint(out, lengths[i]);
  }
  StrBuf sum = {0};
  append_u32(&sum, crc32c_mask(crc) + wrong);
  strbuf_append_bytes(out, sum.data, 4);
  crc = crc32c_extend(crc32c_extend(crc, sum.data, 4), texts, (int64_t)strlen(texts));
  strbuf_append(out, texts);
  strbuf_free(&sum);
  return crc32c_mask(crc);
}

static void check_strings(Str data, uint32_t crc, const char *words) {
  char entry[200];
  snprintf(entry, sizeof entry, "dtype: DT_STRING shape { dim { size: 2 } } size: %d crc32c: %u",
           (int)data.length, (unsigned)crc);
  if (words) {
    check_refused(ONE_SHARD, entry, data, CODE_DATA_LOSS, words);
    return;
  }
  Status status;
  Tensor tensor = {0};
  status_init(&status);
  if (write_bundle(ONE_SHARD, entry, data) && CHECK_OK(read_x(&tensor, &status), status)) {
    CHECK(str_equal_text(tstring_view(&tensor_strings(&tensor)[0]), "abc"));
    CHECK(str_equal_text(tstring_view(&tensor_strings(&tensor)[1]), "de"));
  }
  tensor_clear(&tensor);
}

TEST(strings_that_cannot_be_are_refused) {
  static const struct {
    uint64_t lengths[2];
    const char *texts;
    uint32_t wrong;
    const char *words;
  } kStrings[] = {
      {{3, 2}, "abcde", 0, NULL},
      {{3, 2}, "abcd", 0, "Stored lengths of strings are damaged"},
      {{3, 2}, "abcdef", 0, "Stored lengths of strings are damaged"},
      {{3, (uint64_t)1 << 40}, "abcde", 0, "Stored lengths of strings are damaged"},
      {{3, 2}, "abcde", 1, "The length checksum does not match"},
  };
  begin();
  for (size_t i = 0; i < sizeof kStrings / sizeof kStrings[0]; i++) {
    StrBuf data = {0};
    uint32_t crc = append_strings(kStrings[i].lengths, 2, kStrings[i].texts, kStrings[i].wrong, &data);
    check_strings((Str){data.data, (size_t)data.length}, crc, kStrings[i].words);
    if (!kStrings[i].words)
      check_strings((Str){data.data, (size_t)data.length}, crc + 1, "Checksum does not match");
    strbuf_free(&data);
  }
  check_strings((Str){"\x01", 1}, 0, "Stored lengths of strings are damaged");
  check_strings((Str){"\x01\x80", 2}, 0, "Stored lengths of strings are damaged");
  check_strings((Str){"\x01\x01\x00", 3}, 0, "Stored lengths of strings are damaged");
  end();
}

TEST(readers_of_nothing_say_so) {
  Status status;
  BundleReader *reader;
  Shape shape = {0};
  DataType dtype;
  char longer[5000];
  status_init(&status);
  begin();
  memset(longer, 'a', sizeof longer);
  CHECK(!bundle_exists((Str){longer, sizeof longer}));
  CHECK(!bundle_exists((Str){"", 0}));
  CHECK(!bundle_reader_open((Str){longer, sizeof longer}, &reader, &status));
  CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
  CHECK(!bundle_reader_open(str_of("nowhere"), &reader, &status));
  CHECK_INT_EQ(status.code, CODE_NOT_FOUND);
  bundle_reader_free(NULL);
  bundle_writer_free(NULL);
  if (write_bundle(ONE_SHARD, TWO_FLOATS, kEightBytes) &&
      CHECK_OK(bundle_reader_open(str_of("b"), &reader, &status), status)) {
    CHECK(bundle_reader_contains(reader, str_of("x")));
    CHECK(!bundle_reader_contains(reader, str_of("y")));
    CHECK(!bundle_reader_contains(reader, str_of(""))); /* the header is no tensor */
    CHECK_ERROR(bundle_reader_look_up(reader, str_of(""), &dtype, &shape, &status), status, CODE_NOT_FOUND,
                "");
    bundle_reader_free(reader);
  }
  end();
}
