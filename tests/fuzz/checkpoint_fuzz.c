/* Checkpoints of both versions. The input is
 *
 *   flags, then either the bytes of a table, or its entries:
 *   count, { key length, key, value length (two bytes, low first), value }
 *
 * and, for version 2, the bytes of the data file after the entries. A table that is built from entries has
 * correct checksums. With kRepair the tensors of version 2 have correct checksums too, and the values of
 * version 1 get the keys under which they are looked up: random changes of bytes would not get past these.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "checkpoint/bundle.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/slice_file.h"
#include "checkpoint/table.h"
#include "fuzz/fuzz.h"

enum { kRawTable = 1, kVersion1 = 2, kRepair = 4 };
enum { MAX_ENTRIES = 32 };

static const char kDataPath[] = "ckpt.data-00000-of-00001";

static void write_file(const char *path, Str bytes) {
  Status status;
  status_init(&status);
  if (!file_store()->write(path, false, bytes.data, (int64_t)bytes.length, &status))
    fuzz_check_code(status.code, status.message);
}

/* --- making the files --- */

static int compare_entries(const void *a, const void *b) {
  return key_compare(((const TableEntry *)a)->key, ((const TableEntry *)b)->key);
}

static int read_entries(FuzzReader *reader, TableEntry *entries) {
  int count = fuzz_byte(reader) % (MAX_ENTRIES + 1);
  for (int i = 0; i < count; i++) {
    entries[i].key = fuzz_bytes(reader, fuzz_byte(reader));
    size_t low = fuzz_byte(reader), high = fuzz_byte(reader);
    entries[i].value = fuzz_bytes(reader, low | high << 8);
  }
  return count;
}

/* A BundleEntry with the checksum of its bytes; the value itself if it is not a BundleEntry. */
static Str with_checksum(Str value, Str data, Arena *arena) {
  Status status;
  status_init(&status);
  void *message;
  StrBuf out = {0};
  if (!proto_parse(kBundleEntry, value.data, value.length, arena, &message, &status)) return value;
  BundleEntry *entry = message;
  if (entry->offset < 0 || entry->size < 0 || (uint64_t)entry->offset > data.length ||
      (uint64_t)entry->size > data.length - (uint64_t)entry->offset) {
    return value;
  }
  entry->crc32c = crc32c_mask(crc32c_extend(0, data.data + entry->offset, entry->size));
  const char *copy = proto_serialize(entry, &out, &status)
                         ? arena_strndup(arena, strbuf_text(&out), (size_t)out.length)
                         : NULL;
  Str fixed = copy ? (Str){copy, (size_t)out.length} : value;
  strbuf_free(&out);
  return fixed;
}

/* The key of the slice in a value of version 1; `key` if the value has no slice. */
static Str key_of_slice(Str key, Str value, Arena *arena) {
  Status status;
  status_init(&status);
  void *message;
  StrBuf out = {0};
  TensorSlice slice;
  if (!proto_parse(kSavedTensorSlices, value.data, value.length, arena, &message, &status)) return key;
  const SavedSlice *data = ((SavedTensorSlices *)message)->data;
  if (!data || !data->slice || !slice_from_proto(data->slice, NULL, &slice)) return key;
  slice_append_key(str_of(data->name), &slice, &out);
  const char *copy = arena_strndup(arena, strbuf_text(&out), (size_t)out.length);
  Str repaired = copy ? (Str){copy, (size_t)out.length} : key;
  strbuf_free(&out);
  return repaired;
}

static void repair_entries(TableEntry *entries, int count, bool version1, Str data, Arena *arena) {
  for (int i = 0; i < count; i++) {
    if (version1) {
      entries[i].key = key_of_slice(entries[i].key, entries[i].value, arena);
    } else {
      entries[i].value = with_checksum(entries[i].value, data, arena);
    }
  }
}

static void write_table(const char *path, TableEntry *entries, int count) {
  Status status;
  status_init(&status);
  Str file;
  qsort(entries, (size_t)count, sizeof *entries, compare_entries);
  TableWriter *writer = table_writer_new();
  for (int i = 0; writer && i < count; i++) {
    if (i > 0 && key_compare(entries[i - 1].key, entries[i].key) == 0) continue;
    table_writer_add(writer, entries[i].key, entries[i].value);
  }
  if (writer && table_writer_finish(writer, &file, &status)) write_file(path, file);
  table_writer_free(writer);
}

/* --- reading them --- */

static void check_read(bool ok, Tensor *tensor, const Status *status) {
  fuzz_check_code(status->code, status->message);
  FUZZ_CHECK(ok == (status->code == CODE_OK), "%s although the call says %d", status->message, ok);
  if (ok) {
    StrBuf text = {0};
    tensor_print(tensor, 10, &text);
    strbuf_free(&text);
  }
  tensor_clear(tensor);
}

static void read_tensor(BundleReader *reader, Str name) {
  Status status;
  status_init(&status);
  DataType dtype;
  Shape shape = {0};
  Tensor tensor = {0};
  FUZZ_CHECK(bundle_reader_contains(reader, name), "an entry is not found");
  bool known = bundle_reader_look_up(reader, name, &dtype, &shape, &status);
  fuzz_check_code(status.code, status.message);
  status_init(&status);
  bool ok = bundle_reader_read(reader, name, NULL, &tensor, &status);
  FUZZ_CHECK(!ok || (known && tensor.dtype == dtype && shape_equal(&tensor.shape, &shape)),
             "a tensor is not what was looked up");
  check_read(ok, &tensor, &status);
  TensorSlice slice;
  if (known && shape.rank <= SLICE_MAX_RANK) {
    slice_full(shape.rank, &slice);
    if (shape.rank > 0 && shape_dim(&shape, 0) > 0)
      slice.starts[0] = shape_dim(&shape, 0) / 2, slice.lengths[0] = 1;
    status_init(&status);
    check_read(bundle_reader_read_slice(reader, name, &slice, NULL, &tensor, &status), &tensor, &status);
  }
  shape_clear(&shape);
}

static void read_bundle(Arena *arena) {
  Status status;
  status_init(&status);
  BundleReader *reader = NULL;
  TableEntry *entries;
  int64_t size, count;
  char *bytes = NULL;
  bool ok = bundle_reader_open(str_of("ckpt"), &reader, &status);
  fuzz_check_code(status.code, status.message);
  if (ok && file_read_all("ckpt.index", 1 << 20, &bytes, &size, &status) &&
      table_read("ckpt.index", (Str){bytes, (size_t)size}, arena, &entries, &count, &status)) {
    for (int64_t i = 0; i < count && i < MAX_ENTRIES; i++) {
      if (entries[i].key.length > 0) read_tensor(reader, entries[i].key);
    }
  }
  mem_free(bytes);
  bundle_reader_free(reader);
  Str prefixes[] = {str_of("ckpt")};
  status_init(&status);
  ok = bundle_merge(prefixes, 1, false, str_of("merged"), &status);
  fuzz_check_code(status.code, status.message);
}

static void read_version1(Arena *arena) {
  static const char *const slices[] = {"", "2 2 0,1:-", "4 0,2"};
  Status status;
  status_init(&status);
  TableEntry *entries;
  int64_t size, count;
  char *bytes = NULL;
  void *message;
  if (file_read_all("v1", 1 << 20, &bytes, &size, &status) &&
      table_read("v1", (Str){bytes, (size_t)size}, arena, &entries, &count, &status) && count > 0 &&
      proto_parse(kSavedTensorSlices, entries[0].value.data, entries[0].value.length, arena, &message,
                  &status)) {
    const SavedTensorSliceMeta *meta = ((SavedTensorSlices *)message)->meta;
    for (size_t i = 0; meta && i < meta->n_tensor && i < MAX_ENTRIES; i++) {
      Tensor tensor = {0};
      status_init(&status);
      Str name = str_of(meta->tensor[i]->name), slice = str_of(slices[i % 3]);
      check_read(slice_file_restore(str_of("v1"), name, slice, (DataType)meta->tensor[i]->type, &tensor,
                                    &status),
                 &tensor, &status);
    }
  }
  mem_free(bytes);
  Tensor tensor = {0};
  status_init(&status);
  check_read(slice_file_restore(str_of("v?"), str_of("a"), str_of(""), DT_FLOAT, &tensor, &status), &tensor,
             &status);
}

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  int flags = fuzz_byte(&reader);
  const char *path = flags & kVersion1 ? "v1" : "ckpt.index";
  Arena *arena = arena_new();
  if (!arena) return;
  TableEntry entries[MAX_ENTRIES];
  if (flags & kRawTable) {
    write_file(path, fuzz_bytes(&reader, size));
    write_file(kDataPath, (Str){"0123456789abcdef", 16});
  } else {
    int count = read_entries(&reader, entries);
    Str data = fuzz_bytes(&reader, size);
    write_file(kDataPath, data);
    if (flags & kRepair) repair_entries(entries, count, flags & kVersion1, data, arena);
    write_table(path, entries, count);
  }
  if (flags & kVersion1) {
    read_version1(arena);
  } else {
    read_bundle(arena);
  }
  arena_free(arena);
}

const FuzzTarget k_checkpoint_fuzz = {"checkpoint", run, NULL};
