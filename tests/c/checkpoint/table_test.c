/* Tables, checksums and Snappy. */
#include "checkpoint/table.h"

#include <stdio.h>
#include <string.h>

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
  if (CHECK_OK(table_writer_finish(writer, &file, &status), status) && CHECK_OK(table_read("t", file, arena, &entries, &count, &status), status) &&
      CHECK_INT_EQ(count, COUNT + 1)) {
    CHECK(str_equal_text(entries[0].value, "header"));
    for (int i = 0; i < COUNT; i++) {
      key_text(i, key);
      const TableEntry *found = table_find(entries, count, str_of(key));
      if (!CHECK(found == &entries[i + 1] && str_equal(found->value, bytes_of(key + 26, (size_t)(i % 8))))) break;
    }
    CHECK(table_find(entries, count, str_of("other")) == NULL);
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
  CHECK_ERROR(table_read("t", bytes_of(file.data, 47), arena, &entries, &count, &status), status, CODE_DATA_LOSS,
              "file is too short to be an sstable: t");
  table_writer_free(writer);
  arena_free(arena);
}

TEST(snappy_is_read) {
  /* Literal "abc", a copy of 9 bytes 3 back (one-byte offset), a literal with its length in a byte, a copy with a two-byte offset. */
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
