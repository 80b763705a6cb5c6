/* Tables, checksums and Snappy. */
#include "checkpoint/table.h"

#include <stdio.h>
#include <string.h>

#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"
#include "harness.h"

static Str bytes_of(const char *bytes, size_t length) { return (Str){bytes, length}; }

/* The check values of the Castagnoli polynomial, RFC 3720 B.4 and the catalogue's "123456789". */
TEST(checksums_are_castagnoli) {
  char zeros[32] = {0}, ones[32], rising[32];
  memset(ones, 255, sizeof ones);
  for (int i = 0; i < 32; i++) rising[i] = (char)i;
  CHECK_INT_EQ(crc32c_extend(0, "123456789", 9), 0xe3069283u);
  CHECK_INT_EQ(crc32c_extend(0, zeros, 32), 0x8a9136aau);
  CHECK_INT_EQ(crc32c_extend(0, ones, 32), 0x62a8ab43u);
  CHECK_INT_EQ(crc32c_extend(0, rising, 32), 0x46dd794eu);
  CHECK_INT_EQ(crc32c_extend(crc32c_extend(0, "1234", 4), "56789", 5), 0xe3069283u);
  CHECK_INT_EQ(crc32c_extend(0, "", 0), 0);
  CHECK_INT_EQ(crc32c_unmask(crc32c_mask(0xe3069283u)), 0xe3069283u);
  CHECK(crc32c_mask(0xe3069283u) != 0xe3069283u);
}

static void key_text(int i, char text[64]) { snprintf(text, 64, "some/long/prefix/of/names/%07d", i); }

/* Enough for several blocks. */
TEST(a_table_gives_back_what_was_added) {
  enum { COUNT = 20000 };
  Status status;
  Str file;
  TableEntry *entries = NULL;
  int64_t count = 0;
  TableWriter *writer = table_writer_new();
  Arena *arena = arena_new();
  char key[64];
  status_init(&status);
  table_writer_add(writer, bytes_of("", 0), bytes_of("header", 6));
  for (int i = 0; i < COUNT; i++) {
    key_text(i, key);
    table_writer_add(writer, str_of(key), bytes_of(key + 26, (size_t)(i % 8)));
  }
  if (CHECK_OK(table_writer_finish(writer, &file, &status), status) &&
      CHECK_OK(table_read("t", file, arena, &entries, &count, &status), status) &&
      CHECK_INT_EQ(count, COUNT + 1)) {
    CHECK(str_equal_text(entries[0].value, "header"));
    for (int i = 0; i < COUNT; i++) {
      key_text(i, key);
      const TableEntry *found = table_find(entries, count, str_of(key));
      if (!CHECK(found == &entries[i + 1] && str_equal(found->value, bytes_of(key + 26, (size_t)(i % 8)))))
        break;
    }
    CHECK(!table_find(entries, count, str_of("other")));
  }
  table_writer_free(writer);
  arena_free(arena);
}

TEST(an_empty_table_is_a_table) {
  Status status;
  Str file;
  TableEntry *entries = NULL;
  int64_t count = 7;
  TableWriter *writer = table_writer_new();
  Arena *arena = arena_new();
  status_init(&status);
  CHECK_OK(table_writer_finish(writer, &file, &status), status);
  CHECK_OK(table_read("t", file, arena, &entries, &count, &status), status);
  CHECK_INT_EQ(count, 0);
  CHECK_ERROR(table_read("t", bytes_of(file.data, 47), arena, &entries, &count, &status), status,
              CODE_DATA_LOSS, "file is too short to be an sstable: t");
  table_writer_free(writer);
  arena_free(arena);
}

TEST(snappy_is_read) {
  /* Literal "abc", a copy of 9 bytes 3 back (one-byte offset), a literal with its length in a byte, a copy
   * with a two-byte offset. */
  static const char text[] = "abcabcabcabc0123456789012345678901234567890123456789012345678901234567abc";
  char compressed[128], plain[128];
  size_t at = 0;
  uint64_t length = 0;
  compressed[at++] = 73;
  compressed[at++] = 2 << 2;
  memcpy(compressed + at, "abc", 3);
  at += 3;
  compressed[at++] = (char)(1 | (9 - 4) << 2);
  compressed[at++] = 3;
  compressed[at++] = (char)(60 << 2);
  compressed[at++] = 58 - 1;
  memcpy(compressed + at, text + 12, 58);
  at += 58;
  compressed[at++] = 2 | (3 - 1) << 2;
  compressed[at++] = 70;
  compressed[at++] = 0;
  CHECK_INT_EQ(strlen(text), 73);
  if (CHECK(snappy_length(bytes_of(compressed, at), &length)) && CHECK_INT_EQ(length, 73)) {
    CHECK(snappy_decompress(bytes_of(compressed, at), plain, length));
    CHECK_MEM_EQ(plain, text, 73);
  }
  for (size_t cut = 0; cut < at; cut++) CHECK(!snappy_decompress(bytes_of(compressed, cut), plain, 73));
  compressed[at - 2] = 71; /* before the beginning */
  CHECK(!snappy_decompress(bytes_of(compressed, at), plain, 73));
  compressed[at - 2] = 0; /* itself */
  CHECK(!snappy_decompress(bytes_of(compressed, at), plain, 73));
  CHECK(!snappy_length(bytes_of("\xff\xff\xff\xff\xff\xff", 6), &length));
}

/* --- invalid tables with correct checksums --- */

/* A block with its trailer; returns its handle for an index. */
static void append_block(StrBuf *file, Str content, char kind, StrBuf *handle) {
  strbuf_clear(handle);
  append_varint(handle, (uint64_t)file->length);
  append_varint(handle, content.length);
  int64_t begin = file->length;
  strbuf_append_bytes(file, content.data, content.length);
  strbuf_append_char(file, kind);
  append_u32(file, crc32c_mask(crc32c_extend(0, file->data + begin, file->length - begin)));
}

/* One entry that shares `shared` bytes with the previous one, and the restarts after it. */
static void append_entry(StrBuf *block, uint64_t shared, Str key, Str value) {
  append_varint(block, shared);
  append_varint(block, key.length);
  append_varint(block, value.length);
  strbuf_append_bytes(block, key.data, key.length);
  strbuf_append_bytes(block, value.data, value.length);
}

static void end_block(StrBuf *block) {
  append_u32(block, 0);
  append_u32(block, 1);
}

/* A table of the one data block `data`; `index_value` (unless its data is NULL) replaces the handle of the
 * block. */
static void check_table(Str data, char kind, Str index_value, const char *words) {
  Status status;
  StrBuf file = {0}, index = {0}, handle = {0}, footer = {0};
  Arena *arena = arena_new();
  TableEntry *entries;
  int64_t count = -1;
  status_init(&status);
  append_block(&file, data, kind, &handle);
  append_entry(&index, 0, str_of("z"),
               index_value.data ? index_value : bytes_of(handle.data, (size_t)handle.length));
  end_block(&index);
  append_block(&file, bytes_of("\0\0\0\0\1\0\0\0", 8), 0, &handle);
  strbuf_append_bytes(&footer, handle.data, (size_t)handle.length);
  append_block(&file, bytes_of(index.data, (size_t)index.length), 0, &handle);
  strbuf_append_bytes(&footer, handle.data, (size_t)handle.length);
  while (footer.length < 40) strbuf_append_char(&footer, 0);
  append_u32(&footer, 0x8b80fb57u);
  append_u32(&footer, 0xdb477524u);
  strbuf_append_bytes(&file, footer.data, (size_t)footer.length);
  bool ok = table_read("t", bytes_of(file.data, (size_t)file.length), arena, &entries, &count, &status);
  if (!words) CHECK_OK(ok, status);
  else CHECK_ERROR(ok, status, CODE_DATA_LOSS, words);
  strbuf_free(&file);
  strbuf_free(&index);
  strbuf_free(&handle);
  strbuf_free(&footer);
  arena_free(arena);
}

TEST(tables_that_cannot_be_are_refused) {
  const Str none = {NULL, 0};
  StrBuf good = {0}, block = {0};
  append_entry(&good, 0, str_of("a"), str_of("1"));
  append_entry(&good, 1, str_of("b"), str_of("2"));
  end_block(&good);
  Str whole = bytes_of(good.data, (size_t)good.length);
  check_table(whole, 0, none, NULL);
  check_table(whole, 7, none, "bad block type");
  check_table(bytes_of("\0\0\0", 3), 0, none, "bad block contents");
  check_table(bytes_of("\7\0\0\0", 4), 0, none, "bad block contents");
  check_table(whole, 0, bytes_of("\x80", 1), "bad block handle");
  check_table(whole, 0, bytes_of("\0\x80", 2), "bad block handle");
  check_table(whole, 0, bytes_of("\xff\x7f\1", 3), ""); /* a block after the end */
  check_table(whole, 0, bytes_of("\0\xff\x7f", 3), "");
  /* Snappy: a text with too many bytes for its length, with none, and with too few. */
  check_table(bytes_of("\xff\xff\xff\xff\x0f\0", 6), 1, none, "corrupted compressed block contents");
  check_table(bytes_of("\x80", 1), 1, none, "corrupted compressed block contents");
  check_table(bytes_of("\5\0a", 3), 1, none, "corrupted compressed block contents");
  static const struct {
    uint64_t shared;
    const char *second;
  } kEntries[] = {{2, "b"}, {0, "a"}, {0, "A"}, {1, ""}};
  for (size_t i = 0; i < sizeof kEntries / sizeof kEntries[0]; i++) {
    CHECK_CONTEXT("entry %d", (int)i);
    strbuf_clear(&block);
    append_entry(&block, 0, str_of("a"), str_of("1"));
    append_entry(&block, kEntries[i].shared, str_of(kEntries[i].second), str_of("2"));
    end_block(&block);
    check_table(bytes_of(block.data, (size_t)block.length), 0, none, "");
  }
  /* Entries that end in the middle. */
  for (size_t length = 1; length <= 5; length++) {
    CHECK_CONTEXT("cut behind %d", (int)length);
    strbuf_clear(&block);
    strbuf_append_bytes(&block, "\x80\x80\x80\x80\x80", length);
    end_block(&block);
    check_table(bytes_of(block.data, (size_t)block.length), 0, none, "bad entry in block");
    strbuf_clear(&block);
    strbuf_append_bytes(&block, "\0\2\3ab", length);
    end_block(&block);
    check_table(bytes_of(block.data, (size_t)block.length), 0, none, "bad entry in block");
  }
  CHECK_CONTEXT("%s", "");
  strbuf_free(&good);
  strbuf_free(&block);
}
