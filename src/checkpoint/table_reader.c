#include <string.h>

#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/table.h"
#include "checkpoint/table_internal.h"

/* Snappy's ratio is at most 64 bytes from 3, so a larger claim is corrupt. */
enum { MAX_SNAPPY_GROWTH = 32 };
/* Limits keys that share a prefix with the previous key, because a few bytes of file can claim a very long
 * one. */
enum { MAX_KEY_GROWTH = 64 };

typedef struct Reader {
  const char *name;
  Str file;
  Arena *arena;
  TableEntry *entries;
  int64_t count, capacity;
  uint64_t key_bytes_left;
  Status *status;
} Reader;

static bool corrupted(const Reader *reader, const char *what) {
  return status_set(reader->status, CODE_DATA_LOSS, "%s: %s", what, reader->name);
}

static bool take_handle(Str *bytes, BlockHandle *handle) {
  return take_varint(bytes, &handle->offset) && take_varint(bytes, &handle->size);
}

/* The decoded content of a block. */
static bool read_block(const Reader *reader, BlockHandle handle, Str *content) {
  uint64_t file_size = reader->file.length;
  if (handle.offset > file_size || file_size - handle.offset < BLOCK_TRAILER_BYTES ||
      handle.size > file_size - handle.offset - BLOCK_TRAILER_BYTES) {
    return corrupted(reader, "truncated block read");
  }
  const char *bytes = reader->file.data + handle.offset;
  uint32_t stored = crc32c_unmask(load_u32(bytes + handle.size + 1));
  if (stored != crc32c_extend(0, bytes, (int64_t)handle.size + 1))
    return corrupted(reader, "block checksum mismatch");
  *content = (Str){bytes, (size_t)handle.size};
  if (bytes[handle.size] == BLOCK_PLAIN) return true;
  uint64_t length;
  if (bytes[handle.size] != BLOCK_SNAPPY) return corrupted(reader, "bad block type");
  if (!snappy_length(*content, &length) || length > MAX_SNAPPY_GROWTH * ((uint64_t)content->length + 1)) {
    return corrupted(reader, "corrupted compressed block contents");
  }
  char *plain = arena_alloc(reader->arena, (int64_t)length);
  if (!plain) return status_oom(reader->status, "a block of a table");
  if (!snappy_decompress(*content, plain, length))
    return corrupted(reader, "corrupted compressed block contents");
  *content = (Str){plain, (size_t)length};
  return true;
}

static bool add_entry(Reader *reader, Str key, Str value) {
  if (reader->count == reader->capacity) {
    int64_t capacity = reader->capacity == 0 ? 64 : 2 * reader->capacity, size = (int64_t)sizeof(TableEntry);
    TableEntry *grown = arena_grow(reader->arena, reader->entries, reader->count * size, capacity * size);
    if (!grown) return status_oom(reader->status, "the entries of a table");
    reader->entries = grown;
    reader->capacity = capacity;
  }
  reader->entries[reader->count++] = (TableEntry){key, value};
  return true;
}

/* Decodes the entries of a block, building each key from the previous one, and passes them to `keep`. */
static bool walk_block(Reader *reader, Str content, bool (*keep)(Reader *reader, Str key, Str value)) {
  if (content.length < 4) return corrupted(reader, "bad block contents");
  uint64_t restarts = load_u32(content.data + content.length - 4);
  if (restarts > (content.length - 4) / 4) return corrupted(reader, "bad block contents");
  Str rest = {content.data, content.length - 4 - 4 * (size_t)restarts};
  Str last = {"", 0};
  while (rest.length > 0) {
    uint64_t shared, own, value_length;
    Str own_bytes, value;
    if (!take_varint(&rest, &shared) || !take_varint(&rest, &own) || !take_varint(&rest, &value_length) ||
        shared > last.length || !take_bytes(&rest, own, &own_bytes) ||
        !take_bytes(&rest, value_length, &value)) {
      return corrupted(reader, "bad entry in block");
    }
    if (shared + own > reader->key_bytes_left) return corrupted(reader, "bad entry in block");
    reader->key_bytes_left -= shared + own;
    char *key = arena_alloc(reader->arena, (int64_t)(shared + own) + 1);
    if (!key) return status_oom(reader->status, "a key of a table");
    memcpy(key, last.data, (size_t)shared);
    memcpy(key + shared, own_bytes.data, (size_t)own);
    key[shared + own] = '\0';
    last = (Str){key, (size_t)(shared + own)};
    TRY(keep(reader, last, value));
  }
  return true;
}

static bool keep_entry(Reader *reader, Str key, Str value) {
  if (reader->count > 0 && key_compare(reader->entries[reader->count - 1].key, key) >= 0) {
    return corrupted(reader, "keys of a table are not in order");
  }
  return add_entry(reader, key, value);
}

static bool keep_block(Reader *reader, Str key, Str value) {
  BlockHandle handle;
  Str content;
  (void)key;
  if (!take_handle(&value, &handle)) return corrupted(reader, "bad block handle");
  TRY(read_block(reader, handle, &content));
  return walk_block(reader, content, keep_entry);
}

bool table_read(const char *name, Str file, Arena *arena, TableEntry **entries, int64_t *count,
                Status *status) {
  Reader reader = {.name = name, .file = file, .arena = arena, .status = status};
  reader.key_bytes_left = MAX_KEY_GROWTH * (uint64_t)file.length;
  BlockHandle meta, index;
  Str content;
  if (file.length < FOOTER_BYTES) return corrupted(&reader, "file is too short to be an sstable");
  const char *footer = file.data + file.length - FOOTER_BYTES;
  Str handles = {footer, FOOTER_BYTES - 8};
  if (load_u32(footer + FOOTER_BYTES - 8) != (uint32_t)TABLE_MAGIC ||
      load_u32(footer + FOOTER_BYTES - 4) != (uint32_t)(TABLE_MAGIC >> 32)) {
    return corrupted(&reader, "not an sstable (bad magic number)");
  }
  if (!take_handle(&handles, &meta) || !take_handle(&handles, &index))
    return corrupted(&reader, "bad block handle");
  TRY(read_block(&reader, index, &content));
  TRY(walk_block(&reader, content, keep_block));
  *entries = reader.entries;
  *count = reader.count;
  return true;
}

int key_compare(Str a, Str b) {
  size_t n = a.length < b.length ? a.length : b.length;
  int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
  return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

const TableEntry *table_find(const TableEntry *entries, int64_t count, Str key) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = key_compare(entries[middle].key, key);
    if (order == 0) return &entries[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return NULL;
}
