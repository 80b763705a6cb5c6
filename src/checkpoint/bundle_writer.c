#include <string.h>

#include "base/alloc.h"
#include "base/file_draft.h"
#include "base/string_map.h"
#include "checkpoint/bundle_internal.h"
#include "checkpoint/coding.h"
#include "checkpoint/crc32c.h"

/* Small writes are collected up to this size. */
enum { WRITE_BYTES = 1 << 18 };

struct BundleWriter {
  Arena *arena;
  char prefix[FILE_PATH_MAX + 1];
  FileDraft data;
  StrBuf waiting; /* the end of the data file, not written yet */
  int64_t size;
  StringMap entries; /* BundleEntry by key */
};

static bool begin(BundleWriter *writer, Str prefix, Status *status) {
  char path[FILE_PATH_MAX + 1];
  TRY(file_path(prefix, writer->prefix, status));
  TRY(file_make_parent(writer->prefix, status));
  TRY(bundle_data_path(prefix, 0, 1, path, status));
  return file_draft_begin(path, &writer->data, status);
}

bool bundle_writer_new(Str prefix, BundleWriter **writer, Status *status) {
  BundleWriter *made = mem_calloc(1, sizeof *made);
  if (!made) return status_oom(status, "a checkpoint");
  made->arena = arena_new();
  if (!made->arena || !begin(made, prefix, status)) {
    if (!made->arena) status_oom(status, "a checkpoint");
    bundle_writer_free(made);
    return false;
  }
  *writer = made;
  return true;
}

void bundle_writer_free(BundleWriter *writer) {
  if (!writer) return;
  file_draft_drop(&writer->data);
  strbuf_free(&writer->waiting);
  string_map_free(&writer->entries);
  arena_free(writer->arena);
  mem_free(writer);
}

/* --- the data file --- */

static bool flush(BundleWriter *writer, Status *status) {
  TRY(strbuf_ok(&writer->waiting, status));
  if (writer->waiting.length == 0) return true;
  TRY(file_draft_append(&writer->data, writer->waiting.data, writer->waiting.length, status));
  strbuf_clear(&writer->waiting);
  return true;
}

static bool append(BundleWriter *writer, const void *bytes, int64_t size, uint32_t *crc, Status *status) {
  *crc = crc32c_extend(*crc, bytes, size);
  writer->size += size;
  if (size >= WRITE_BYTES) {
    TRY(flush(writer, status));
    return file_draft_append(&writer->data, bytes, size, status);
  }
  strbuf_append_bytes(&writer->waiting, bytes, (size_t)size);
  return writer->waiting.length < WRITE_BYTES ? strbuf_ok(&writer->waiting, status) : flush(writer, status);
}

/* All lengths as varints, a checksum of them, all bytes. The checksum covers the lengths as words, not as
 * varints. */
static bool append_strings(BundleWriter *writer, const Tensor *tensor, uint32_t *crc, Status *status) {
  StrBuf lengths = {0};
  int64_t count = tensor_num_elements(tensor);
  uint32_t of_lengths = 0, of_varints = 0;
  bool ok = false;
  for (int64_t i = 0; i < count; i++) {
    uint64_t length = tstring_view(&tensor_strings(tensor)[i]).length;
    unsigned char word[8];
    for (int b = 0; b < 8; b++) word[b] = (unsigned char)(length >> (8 * b));
    of_lengths = crc32c_extend(of_lengths, word, length > UINT32_MAX ? 8 : 4);
    append_varint(&lengths, length);
  }
  TRY_DONE(strbuf_ok(&lengths, status));
  TRY_DONE(append(writer, strbuf_text(&lengths), lengths.length, &of_varints, status));
  strbuf_clear(&lengths);
  append_u32(&lengths, crc32c_mask(of_lengths));
  TRY_DONE(strbuf_ok(&lengths, status));
  *crc = of_lengths;
  TRY_DONE(append(writer, lengths.data, lengths.length, crc, status));
  for (int64_t i = 0; i < count; i++) {
    Str text = tstring_view(&tensor_strings(tensor)[i]);
    TRY_DONE(append(writer, text.data, (int64_t)text.length, crc, status));
  }
  ok = true;
done:
  strbuf_free(&lengths);
  return ok;
}

/* --- entries --- */

static BundleEntry *find_entry(const BundleWriter *writer, Str key) {
  return string_map_find_bytes(&writer->entries, key.data, key.length);
}

static bool new_entry(BundleWriter *writer, Str key, DataType dtype, const Shape *shape, BundleEntry **entry,
                      Status *status) {
  /* The key of the header. */
  if (key.length == 0)
    return status_invalid(status, "The name of a tensor in a checkpoint must not be empty");
  char *copy = arena_strndup(writer->arena, key.data, key.length);
  *entry = proto_new(kBundleEntry, writer->arena);
  AttrValue *value = attr_value_shape(writer->arena, shape->rank, shape_dims(shape));
  if (!copy || !*entry || !value) return status_oom(status, "an entry of a checkpoint");
  (*entry)->dtype = (Tensorflow__DataType)dtype;
  (*entry)->shape = value->shape;
  return string_map_set_bytes(&writer->entries, copy, key.length, *entry, status);
}

bool bundle_writer_add(BundleWriter *writer, Str name, const Tensor *tensor, Status *status) {
  BundleEntry *entry;
  uint32_t crc = 0;
  int64_t offset = writer->size;
  if (find_entry(writer, name))
    return status_invalid(status, "Adding duplicate key: %.*s", (int)name.length, name.data);
  if (tensor->dtype != DT_STRING && !dtype_is_pod(tensor->dtype)) {
    return status_set(status, CODE_UNIMPLEMENTED, "Tensor %.*s of type %s cannot be saved", (int)name.length,
                      name.data, dtype_name(tensor->dtype));
  }
  TRY(new_entry(writer, name, tensor->dtype, &tensor->shape, &entry, status));
  if (tensor->dtype == DT_STRING) {
    TRY(append_strings(writer, tensor, &crc, status));
  } else {
    TRY(append(writer, tensor->data, tensor_num_elements(tensor) * (int64_t)dtype_size(tensor->dtype), &crc,
               status));
  }
  entry->offset = offset;
  entry->size = writer->size - offset;
  entry->crc32c = crc32c_mask(crc);
  return true;
}

static bool shape_is_proto(const Shape *shape, const TensorShapeProto *proto) {
  if ((int64_t)proto->n_dim != shape->rank) return false;
  for (int i = 0; i < shape->rank; i++) {
    if (proto->dim[i]->size != shape_dim(shape, i)) return false;
  }
  return true;
}

bool bundle_writer_add_slice(BundleWriter *writer, Str name, const Shape *shape, const TensorSlice *slice,
                             const Tensor *tensor, Status *status) {
  TensorSliceProto *proto;
  StrBuf key = {0};
  if (slice_is_full(slice)) return bundle_writer_add(writer, name, tensor, status);
  BundleEntry *whole = find_entry(writer, name);
  if (!whole) {
    TRY(new_entry(writer, name, tensor->dtype, shape, &whole, status));
  } else if (whole->n_slices == 0) {
    return status_invalid(status, "Adding duplicate key: %.*s", (int)name.length, name.data);
  } else if ((DataType)whole->dtype != tensor->dtype || !shape_is_proto(shape, whole->shape)) {
    return status_invalid(status, "Slices of tensor %.*s have different types or belong to different shapes",
                          (int)name.length, name.data);
  }
  TRY(slice_to_proto(slice, writer->arena, &proto, status));
  TRY(proto_append(writer->arena, (void ***)&whole->slices, &whole->n_slices, proto, status));
  slice_append_key(name, slice, &key);
  bool ok = strbuf_ok(&key, status) &&
            bundle_writer_add(writer, (Str){key.data, (size_t)key.length}, tensor, status);
  strbuf_free(&key);
  return ok;
}

static bool place_data(void *arg, int32_t shard, const char *path, Status *status) {
  BundleWriter *writer = arg;
  (void)shard; /* the only one */
  return file_draft_publish(&writer->data, path, status);
}

bool bundle_writer_finish(BundleWriter *writer, Status *status) {
  int64_t count = 0;
  TRY(flush(writer, status));
  BundleHeader *header = proto_new(kBundleHeader, writer->arena);
  VersionDef *version = proto_new(kVersionDef, writer->arena);
  IndexEntry *entries = arena_calloc(writer->arena, writer->entries.count + 1, sizeof *entries);
  if (!header || !version || !entries) return status_oom(status, "the index of a checkpoint");
  for (int64_t i = 0; i < writer->entries.num_entries; i++) {
    const StringMapEntry *entry = &writer->entries.entries[i];
    if (entry->key) entries[count++] = (IndexEntry){{entry->key, entry->key_length}, entry->value};
  }
  version->producer = BUNDLE_VERSION;
  header->num_shards = 1;
  header->version = version;
  int lock = bundle_lock(str_of(writer->prefix));
  bool ok = bundle_publish(str_of(writer->prefix), header, entries, count, place_data, writer, status);
  bundle_unlock(lock);
  return ok;
}
