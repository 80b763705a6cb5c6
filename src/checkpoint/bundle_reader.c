#include <string.h>

#include "base/alloc.h"
#include "checkpoint/bundle_internal.h"
#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"

/* An index holds names and shapes only, so a larger file is not an index. */
static const int64_t kMaxIndexBytes = (int64_t)1 << 30;

static bool corrupt(const BundleReader *reader, const char *what, Status *status) {
  return status_reword(status, CODE_DATA_LOSS,
                       "Unable to read file (%s.index). Perhaps the file is corrupt or was produced by a "
                       "newer version of TensorFlow "
                       "with format changes (%s)",
                       reader->prefix, what);
}

static bool read_header(BundleReader *reader, Status *status) {
  const TableEntry *entry = table_find(reader->entries, reader->num_entries, (Str){"", 0});
  void *message;
  if (!entry) return corrupt(reader, "failed to seek to header entry", status);
  if (!proto_parse(kBundleHeader, entry->value.data, entry->value.length, reader->arena, &message, status)) {
    return corrupt(reader, "unable to parse header", status);
  }
  const BundleHeader *header = message;
  if (header->endianness != TENSORFLOW__BUNDLE_HEADER_PROTO__ENDIANNESS__LITTLE) {
    return status_set(status, CODE_UNIMPLEMENTED, "Checkpoint %s was written on a big-endian machine",
                      reader->prefix);
  }
  if (header->num_shards <= 0) return corrupt(reader, "no shards", status);
  if (header->version && header->version->min_consumer > BUNDLE_VERSION) {
    return status_invalid(status,
                          "Checkpoint min consumer version %d above current version %d for TensorFlow %s.  "
                          "Please upgrade TensorFlow.",
                          header->version->min_consumer, BUNDLE_VERSION, "of this library");
  }
  reader->header = header;
  return true;
}

static bool open(BundleReader *reader, Str prefix, Status *status) {
  char path[FILE_PATH_MAX + 1];
  int64_t size;
  TRY(file_path(prefix, reader->prefix, status));
  TRY(bundle_index_path(prefix, path, status));
  TRY(file_read_all(path, kMaxIndexBytes, &reader->index_bytes, &size, status));
  TRY(table_read(path, (Str){reader->index_bytes, (size_t)size}, reader->arena, &reader->entries,
                 &reader->num_entries, status));
  return read_header(reader, status);
}

bool bundle_reader_open(Str prefix, BundleReader **reader, Status *status) {
  BundleReader *made = mem_calloc(1, sizeof *made);
  if (!made || !(made->arena = arena_new())) {
    mem_free(made);
    return status_oom(status, "a checkpoint");
  }
  if (!open(made, prefix, status)) {
    bundle_reader_free(made);
    return false;
  }
  *reader = made;
  return true;
}

void bundle_reader_free(BundleReader *reader) {
  if (!reader) return;
  arena_free(reader->arena);
  mem_free(reader->index_bytes);
  mem_free(reader);
}

int32_t bundle_reader_num_shards(const BundleReader *reader) { return reader->header->num_shards; }

/* The first entry is the header's. */
int64_t bundle_reader_num_tensors(const BundleReader *reader) { return reader->num_entries - 1; }

Str bundle_reader_name(const BundleReader *reader, int64_t i) { return reader->entries[i + 1].key; }

bool bundle_reader_contains(const BundleReader *reader, Str name) {
  return name.length > 0 && table_find(reader->entries, reader->num_entries, name);
}

static bool find_entry(BundleReader *reader, Str name, BundleEntry **entry, Status *status) {
  const TableEntry *found = name.length == 0 ? NULL : table_find(reader->entries, reader->num_entries, name);
  if (!found)
    return status_set(status, CODE_NOT_FOUND, "Key %.*s not found in checkpoint", (int)name.length,
                      name.data);
  TRY(bundle_parse_entry(found, reader->arena, entry, status));
  DataType dtype = (DataType)(*entry)->dtype;
  if (dtype_is_ref(dtype) || !dtype_is_valid(dtype) || (dtype != DT_STRING && !dtype_is_pod(dtype))) {
    return status_set(status, CODE_UNIMPLEMENTED, "Tensor %.*s of type %s cannot be restored",
                      (int)name.length, name.data, dtype_name(dtype));
  }
  return true;
}

bool bundle_reader_look_up(BundleReader *reader, Str name, DataType *dtype, Shape *shape, Status *status) {
  BundleEntry *entry;
  TRY(find_entry(reader, name, &entry, status));
  *dtype = (DataType)entry->dtype;
  return shape_from_proto(entry->shape, shape, status);
}

/* --- elements --- */

static bool check_sum(const BundleReader *reader, const BundleEntry *entry, uint32_t crc, Status *status) {
  uint32_t masked = crc32c_mask(crc);
  if (masked == entry->crc32c) return true;
  return status_set(status, CODE_DATA_LOSS,
                    "TensorBundle at %s shard %d (%lld bytes): Checksum does not match: stored %u vs. "
                    "calculated on the restored bytes %u",
                    reader->prefix, entry->shard_id, (long long)entry->size, (unsigned)entry->crc32c,
                    (unsigned)masked);
}

/* The position of an entry's bytes, which is checked. */
static bool find_bytes(const BundleReader *reader, Str name, const BundleEntry *entry,
                       char path[FILE_PATH_MAX + 1], Status *status) {
  int64_t size;
  if (entry->shard_id < 0 || entry->shard_id >= reader->header->num_shards || entry->offset < 0 ||
      entry->size < 0) {
    return status_set(status, CODE_DATA_LOSS, "Entry for key %.*s is damaged", (int)name.length, name.data);
  }
  TRY(bundle_data_path(str_of(reader->prefix), entry->shard_id, reader->header->num_shards, path, status));
  TRY(file_store_of(path)->size(path, &size, status));
  if (entry->offset > size || entry->size > size - entry->offset) {
    return status_set(status, CODE_OUT_OF_RANGE, "%s; Read less bytes than requested", path);
  }
  return true;
}

static bool take_strings(const BundleReader *reader, const BundleEntry *entry, Str bytes, Tensor *tensor,
                         Status *status) {
  int64_t count = tensor_num_elements(tensor);
  Str rest = bytes, stored;
  uint32_t crc = 0;
  for (int64_t i = 0; i < count; i++) {
    uint64_t length;
    unsigned char word[8];
    if (!take_varint(&rest, &length))
      return status_set(status, CODE_DATA_LOSS, "Stored lengths of strings are damaged");
    for (int b = 0; b < 8; b++) word[b] = (unsigned char)(length >> (8 * b));
    crc = crc32c_extend(crc, word, length > UINT32_MAX ? 8 : 4);
  }
  if (!take_bytes(&rest, 4, &stored))
    return status_set(status, CODE_DATA_LOSS, "Stored lengths of strings are damaged");
  if (load_u32(stored.data) != crc32c_mask(crc)) {
    return status_set(status, CODE_DATA_LOSS,
                      "The length checksum does not match: expected %u but actual is %u",
                      (unsigned)load_u32(stored.data), (unsigned)crc32c_mask(crc));
  }
  TRY(check_sum(reader, entry,
                crc32c_extend(crc32c_extend(crc, stored.data, 4), rest.data, (int64_t)rest.length), status));
  Str lengths = bytes;
  for (int64_t i = 0; i < count; i++) {
    uint64_t length;
    Str text;
    if (!take_varint(&lengths, &length) || !take_bytes(&rest, length, &text)) {
      return status_set(status, CODE_DATA_LOSS, "Stored lengths of strings are damaged");
    }
    TRY(tstring_set(&tensor_strings(tensor)[i], text.data, text.length, status));
  }
  return rest.length == 0 || status_set(status, CODE_DATA_LOSS, "Stored lengths of strings are damaged");
}

static bool read_strings(BundleReader *reader, const BundleEntry *entry, const char *path, const Shape *shape,
                         BufferPool *pool, Tensor *tensor, Status *status) {
  /* Every string takes at least one byte, for its length. */
  if (shape_num_elements(shape) > entry->size)
    return status_set(status, CODE_DATA_LOSS, "Stored lengths of strings are damaged");
  TRY(tensor_allocate(tensor, DT_STRING, shape, pool, status));
  char *bytes = mem_alloc(entry->size);
  if (!bytes) return status_oom(status, "the strings of a checkpoint");
  bool ok = file_store_of(path)->read(path, entry->offset, bytes, entry->size, status) &&
            take_strings(reader, entry, (Str){bytes, (size_t)entry->size}, tensor, status);
  mem_free(bytes);
  return ok;
}

/* Reads the bytes of an entry that is not sliced. */
static bool read_entry(BundleReader *reader, Str name, const BundleEntry *entry, BufferPool *pool,
                       Tensor *tensor, Status *status) {
  char path[FILE_PATH_MAX + 1];
  Shape shape = {0};
  Tensor read = {0};
  DataType dtype = (DataType)entry->dtype;
  bool ok = false;
  TRY_DONE(shape_from_proto(entry->shape, &shape, status));
  TRY_DONE(find_bytes(reader, name, entry, path, status));
  if (dtype == DT_STRING) {
    TRY_DONE(read_strings(reader, entry, path, &shape, pool, &read, status));
  } else {
    int64_t element = (int64_t)dtype_size(dtype), count = shape_num_elements(&shape);
    if (count > INT64_MAX / element || count * element != entry->size) {
      status_set(status, CODE_DATA_LOSS,
                 "Invalid size in bundle entry: key %.*s; stored size %lld; expected size %lld",
                 (int)name.length, name.data, (long long)entry->size,
                 (long long)(count > INT64_MAX / element ? -1 : count * element));
      goto done;
    }
    TRY_DONE(tensor_allocate(&read, dtype, &shape, pool, status));
    TRY_DONE(file_store_of(path)->read(path, entry->offset, read.data, entry->size, status));
    TRY_DONE(check_sum(reader, entry, crc32c_extend(0, read.data, entry->size), status));
  }
  tensor_move(tensor, &read);
  ok = true;
done:
  tensor_clear(&read);
  shape_clear(&shape);
  return ok;
}

bool bundle_reader_read(BundleReader *reader, Str name, BufferPool *pool, Tensor *tensor, Status *status) {
  BundleEntry *entry;
  TensorSlice whole;
  TRY(find_entry(reader, name, &entry, status));
  if (entry->n_slices == 0) return read_entry(reader, name, entry, pool, tensor, status);
  slice_full(!entry->shape ? 0 : (int)entry->shape->n_dim, &whole);
  return bundle_reader_read_slice(reader, name, &whole, pool, tensor, status);
}

/* --- slices --- */

/* Reads one stored slice and copies the part that `wanted` contains. */
static bool take_slice(BundleReader *reader, Str name, const Shape *shape, const TensorSlice *stored,
                       const TensorSlice *wanted, Tensor *tensor, int64_t *common, Status *status) {
  StrBuf key = {0};
  Tensor part = {0};
  Shape part_shape = {0};
  BundleEntry *entry;
  bool ok = false;
  size_t element = dtype_size(tensor->dtype);
  SliceCopy copy = slice_copy_of(tensor->dtype);
  TRY_DONE(slice_copy_common(shape, stored, NULL, wanted, NULL, element, NULL, common, status));
  if (*common > 0) {
    if (slice_is_full(stored)) strbuf_append_bytes(&key, name.data, name.length);
    else slice_append_key(name, stored, &key);
    TRY_DONE(strbuf_ok(&key, status));
    Str text = {key.data, (size_t)key.length};
    TRY_DONE(find_entry(reader, text, &entry, status));
    TRY_DONE(slice_shape(stored, shape, &part_shape, status));
    TRY_DONE(read_entry(reader, text, entry, NULL, &part, status));
    if (part.dtype != tensor->dtype || !shape_equal(&part.shape, &part_shape)) {
      status_set(status, CODE_DATA_LOSS, "A slice of tensor %.*s is damaged", (int)name.length, name.data);
      goto done;
    }
    TRY_DONE(
        slice_copy_common(shape, stored, part.data, wanted, tensor->data, element, copy, common, status));
  }
  ok = true;
done:
  strbuf_free(&key);
  tensor_clear(&part);
  shape_clear(&part_shape);
  return ok;
}

static bool insufficient(Str name, const TensorSlice *wanted, Status *status) {
  StrBuf text = {0};
  slice_print(wanted, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status,
                   "Does not have sufficient slices for partitioned tensor %.*s to restore in slice_spec: %s",
                   (int)name.length, name.data, strbuf_text(&text));
  }
  strbuf_free(&text);
  return false;
}

/* Assembles the wanted slice from stored ones. A tensor saved as a whole counts as one slice. */
static bool assemble(BundleReader *reader, Str name, const BundleEntry *entry, const Shape *shape,
                     const TensorSlice *wanted, BufferPool *pool, Tensor *tensor, Status *status) {
  TensorSlice stored;
  Shape part = {0};
  int64_t found = 0, common;
  bool ok = false;
  TRY_DONE(slice_shape(wanted, shape, &part, status));
  for (size_t i = 0; i < entry->n_slices; i++) {
    if (!slice_from_proto(entry->slices[i], shape, &stored)) {
      status_set(status, CODE_DATA_LOSS, "A slice of tensor %.*s is damaged", (int)name.length, name.data);
      goto done;
    }
    TRY_DONE(slice_copy_common(shape, &stored, NULL, wanted, NULL, 1, NULL, &common, status));
    found += common; /* the slices of a tensor do not overlap */
  }
  if (entry->n_slices > 0 && found < shape_num_elements(&part)) {
    insufficient(name, wanted, status);
    goto done;
  }
  if (entry->n_slices == 0) {
    /* The whole tensor is read in any case, and its size bounds that of the slice. */
    slice_full(shape->rank, &stored);
  }
  TRY_DONE(tensor_allocate(tensor, (DataType)entry->dtype, &part, pool, status));
  /* If slices overlap nevertheless, missing parts are zero. */
  if (tensor->dtype != DT_STRING) memset(tensor->data, 0, (size_t)tensor_bytes(tensor));
  for (size_t i = 0; i < entry->n_slices; i++) {
    if (slice_from_proto(entry->slices[i], shape, &stored)) {
      TRY_DONE(take_slice(reader, name, shape, &stored, wanted, tensor, &common, status));
    }
  }
  if (entry->n_slices == 0)
    TRY_DONE(take_slice(reader, name, shape, &stored, wanted, tensor, &common, status));
  ok = true;
done:
  shape_clear(&part);
  return ok;
}

bool bundle_reader_read_slice(BundleReader *reader, Str name, const TensorSlice *slice, BufferPool *pool,
                              Tensor *tensor, Status *status) {
  BundleEntry *entry;
  Shape shape = {0};
  Tensor made = {0};
  bool ok = false;
  TRY(find_entry(reader, name, &entry, status));
  TRY_DONE(shape_from_proto(entry->shape, &shape, status));
  TRY_DONE(assemble(reader, name, entry, &shape, slice, pool, &made, status));
  tensor_move(tensor, &made);
  ok = true;
done:
  tensor_clear(&made);
  shape_clear(&shape);
  return ok;
}
