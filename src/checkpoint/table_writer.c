#include <string.h>

#include "base/alloc.h"
#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/table.h"
#include "checkpoint/table_internal.h"

/* TensorFlow's settings, so that files are identical byte for byte. */
enum { BLOCK_BYTES = 262144, RESTART_INTERVAL = 16 };

/* A block under construction. Every `interval`-th key is written in full, at a restart. */
typedef struct Block {
  int interval, since_restart;
  StrBuf entries, restarts, last_key;
} Block;

struct TableWriter {
  Block data, index;
  StrBuf file;
  StrBuf last_key;
  BlockHandle pending; /* the last block, which has no entry in the index yet */
  bool has_pending;
};

static void clear_block(Block *block) {
  strbuf_clear(&block->entries);
  strbuf_clear(&block->restarts);
  strbuf_clear(&block->last_key);
  block->since_restart = 0;
}

static void free_block(Block *block) {
  strbuf_free(&block->entries);
  strbuf_free(&block->restarts);
  strbuf_free(&block->last_key);
}

static Str text_of(const StrBuf *buffer) { return (Str){strbuf_text(buffer), (size_t)buffer->length}; }

static size_t shared_length(Str a, Str b) {
  size_t n = a.length < b.length ? a.length : b.length, i = 0;
  while (i < n && a.data[i] == b.data[i]) i++;
  return i;
}

static void add_to_block(Block *block, Str key, Str value) {
  size_t shared = 0;
  if (block->entries.length == 0 || block->since_restart == block->interval) {
    append_u32(&block->restarts, (uint32_t)block->entries.length);
    block->since_restart = 0;
  } else {
    shared = shared_length(text_of(&block->last_key), key);
  }
  append_varint(&block->entries, shared);
  append_varint(&block->entries, key.length - shared);
  append_varint(&block->entries, value.length);
  strbuf_append_bytes(&block->entries, key.data + shared, key.length - shared);
  strbuf_append_bytes(&block->entries, value.data, value.length);
  strbuf_clear(&block->last_key);
  strbuf_append_bytes(&block->last_key, key.data, key.length);
  block->since_restart++;
}

/* Appends the block to the file, and empties it. */
static BlockHandle write_block(TableWriter *writer, Block *block) {
  StrBuf *file = &writer->file;
  BlockHandle handle = {.offset = (uint64_t)file->length};
  if (block->entries.length == 0) append_u32(&block->restarts, 0);
  strbuf_append_bytes(file, strbuf_text(&block->entries), (size_t)block->entries.length);
  strbuf_append_bytes(file, strbuf_text(&block->restarts), (size_t)block->restarts.length);
  append_u32(file, (uint32_t)(block->restarts.length / 4));
  handle.size = (uint64_t)file->length - handle.offset;
  strbuf_append_char(file, BLOCK_PLAIN);
  file->failed |= block->entries.failed | block->restarts.failed | block->last_key.failed;
  if (!file->failed)
    append_u32(file, crc32c_mask(crc32c_extend(0, file->data + handle.offset, (int64_t)handle.size + 1)));
  clear_block(block);
  return handle;
}

static void append_handle(StrBuf *out, BlockHandle handle) {
  append_varint(out, handle.offset);
  append_varint(out, handle.size);
}

/* The shortest text that does not sort before `key` and, unless `limit` is NULL, sorts before `limit`: the
 * index key for the end of a block. */
static void shorten(StrBuf *key, const Str *limit) {
  size_t at = 0;
  if (limit) {
    at = shared_length(text_of(key), *limit);
    if (at >= limit->length || (int64_t)at >= key->length) return;
    unsigned char mine = (unsigned char)key->data[at], theirs = (unsigned char)limit->data[at];
    if (mine == 255 || mine + 1 >= theirs) return;
  } else {
    while ((int64_t)at < key->length && (unsigned char)key->data[at] == 255) at++;
    if ((int64_t)at == key->length) return;
  }
  key->data[at]++;
  key->length = (int64_t)at + 1;
  key->data[key->length] = '\0';
}

static void index_pending(TableWriter *writer, const Str *next_key) {
  StrBuf handle = {0};
  if (!writer->has_pending) return;
  shorten(&writer->last_key, next_key);
  append_handle(&handle, writer->pending);
  add_to_block(&writer->index, text_of(&writer->last_key), text_of(&handle));
  writer->file.failed |= handle.failed;
  strbuf_free(&handle);
  writer->has_pending = false;
}

static void flush(TableWriter *writer) {
  if (writer->data.entries.length == 0 && !writer->data.entries.failed) return;
  writer->pending = write_block(writer, &writer->data);
  writer->has_pending = true;
}

TableWriter *table_writer_new(void) {
  TableWriter *writer = mem_calloc(1, sizeof *writer);
  if (!writer) return NULL;
  writer->data.interval = RESTART_INTERVAL;
  writer->index.interval = 1;
  return writer;
}

void table_writer_free(TableWriter *writer) {
  if (!writer) return;
  free_block(&writer->data);
  free_block(&writer->index);
  strbuf_free(&writer->file);
  strbuf_free(&writer->last_key);
  mem_free(writer);
}

void table_writer_add(TableWriter *writer, Str key, Str value) {
  index_pending(writer, &key);
  strbuf_clear(&writer->last_key);
  strbuf_append_bytes(&writer->last_key, key.data, key.length);
  add_to_block(&writer->data, key, value);
  if (writer->data.entries.length + writer->data.restarts.length + 4 >= BLOCK_BYTES) flush(writer);
}

bool table_writer_finish(TableWriter *writer, Str *file, Status *status) {
  StrBuf footer = {0};
  Block meta = {.interval = RESTART_INTERVAL};
  flush(writer);
  BlockHandle meta_handle =
      write_block(writer, &meta); /* LevelDB stores filters there; TensorFlow has none */
  free_block(&meta);
  index_pending(writer, NULL);
  BlockHandle index_handle = write_block(writer, &writer->index);
  append_handle(&footer, meta_handle);
  append_handle(&footer, index_handle);
  while (footer.length < FOOTER_BYTES - 8 && !footer.failed) strbuf_append_char(&footer, 0);
  append_u32(&footer, (uint32_t)TABLE_MAGIC);
  append_u32(&footer, (uint32_t)(TABLE_MAGIC >> 32));
  strbuf_append_bytes(&writer->file, strbuf_text(&footer), (size_t)footer.length);
  writer->file.failed |= footer.failed | writer->last_key.failed;
  strbuf_free(&footer);
  *file = text_of(&writer->file);
  return strbuf_ok(&writer->file, status);
}
