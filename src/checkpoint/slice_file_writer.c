#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_draft.h"
#include "base/string_map.h"
#include "checkpoint/slice_file_internal.h"
#include "checkpoint/table.h"

typedef struct Record {
  Str key, value;
} Record;

struct SliceFileWriter {
  Arena *arena;
  StringMap tensors; /* SavedSliceMeta by name */
  Record *records;
  int64_t count, capacity;
};

SliceFileWriter *slice_file_writer_new(void) {
  SliceFileWriter *writer = mem_calloc(1, sizeof *writer);
  if (writer && !(writer->arena = arena_new())) {
    mem_free(writer);
    return NULL;
  }
  return writer;
}

void slice_file_writer_free(SliceFileWriter *writer) {
  if (!writer) return;
  for (int64_t i = 0; i < writer->count; i++) {
    mem_free((void *)(uintptr_t)writer->records[i].key.data);
    mem_free((void *)(uintptr_t)writer->records[i].value.data);
  }
  mem_free(writer->records);
  string_map_free(&writer->tensors);
  arena_free(writer->arena);
  mem_free(writer);
}

static bool add_meta(SliceFileWriter *writer, Str name, const Shape *shape, DataType dtype,
                     SavedSliceMeta **meta, Status *status) {
  AttrValue *value = attr_value_shape(writer->arena, shape->rank, shape_dims(shape));
  *meta = proto_new(kSavedSliceMeta, writer->arena);
  char *copy = arena_strndup(writer->arena, name.data, name.length);
  if (!value || !*meta || !copy) return status_oom(status, "a checkpoint");
  (*meta)->name = copy;
  (*meta)->shape = value->shape;
  (*meta)->type = (Tensorflow__DataType)dtype;
  return string_map_set_bytes(&writer->tensors, copy, name.length, *meta, status);
}

static bool fits(const SavedSliceMeta *meta, Str name, const Shape *shape, DataType dtype, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Shape known = {0};
  TRY(shape_from_proto(meta->shape, &known, status));
  bool same = shape_equal(&known, shape);
  if (!same) {
    status_set(status, CODE_INTERNAL,
               "Mismatching shapes: existing tensor = %s, trying to add name %.*s, shape = %s",
               shape_text(&known, a), (int)name.length, name.data, shape_text(shape, b));
  } else if ((DataType)meta->type != dtype) {
    same = status_set(status, CODE_INTERNAL,
                      "Mismatching types: existing type = %s, trying to add name %.*s, type = %s",
                      dtype_name((int)meta->type), (int)name.length, name.data, dtype_name(dtype));
  }
  shape_clear(&known);
  return same;
}

/* Consumes the serialised message and the key; both buffers are empty afterwards. */
static bool add_record(SliceFileWriter *writer, StrBuf *key, StrBuf *value, Status *status) {
  TRY(strbuf_ok(key, status));
  TRY(strbuf_ok(value, status));
  if (!mem_grow((void **)&writer->records, &writer->capacity, writer->count + 1, sizeof *writer->records)) {
    return status_oom(status, "a checkpoint");
  }
  writer->records[writer->count++] =
      (Record){{key->data, (size_t)key->length}, {value->data, (size_t)value->length}};
  *key = *value = (StrBuf){0};
  return true;
}

static bool add_values(SliceFileWriter *writer, Str name, const TensorSlice *slice, const Tensor *tensor,
                       Status *status) {
  Arena *arena = arena_new(); /* the values take as much memory as the tensor, so they are freed at once */
  StrBuf key = {0}, value = {0};
  bool ok = false;
  if (!arena) return status_oom(status, "a checkpoint");
  SavedTensorSlices *slices = proto_new(kSavedTensorSlices, arena);
  SavedSlice *saved = proto_new(kSavedSlice, arena);
  TensorProto *data = proto_new(kTensorProto, arena);
  char *copy = arena_strndup(arena, name.data, name.length);
  if (!slices || !saved || !data || !copy) {
    status_oom(status, "a checkpoint");
    goto done;
  }
  slices->data = saved;
  saved->name = copy;
  saved->data = data;
  TRY_DONE(slice_to_proto(slice, arena, &saved->slice, status));
  TRY_DONE(slice_values_set(tensor, arena, data, status));
  TRY_DONE(proto_serialize(slices, &value, status));
  slice_append_key(name, slice, &key);
  ok = add_record(writer, &key, &value, status);
done:
  strbuf_free(&key);
  strbuf_free(&value);
  arena_free(arena);
  return ok;
}

bool slice_file_writer_add(SliceFileWriter *writer, Str name, const Shape *shape, const TensorSlice *slice,
                           const Tensor *tensor, Status *status) {
  TensorSliceProto *proto;
  SavedSliceMeta *meta = string_map_find_bytes(&writer->tensors, name.data, name.length);
  if (memchr(name.data, '\0', name.length))
    return status_invalid(status, "The name of a saved tensor must not hold a NUL byte");
  if (!meta) TRY(add_meta(writer, name, shape, tensor->dtype, &meta, status));
  else TRY(fits(meta, name, shape, tensor->dtype, status));
  TRY(slice_to_proto(slice, writer->arena, &proto, status));
  for (size_t i = 0; i < meta->n_slice; i++) {
    if (proto_equal(meta->slice[i], proto)) return true;
  }
  TRY(add_values(writer, name, slice, tensor, status));
  return proto_append(writer->arena, (void ***)&meta->slice, &meta->n_slice, proto, status);
}

static int compare_records(const void *a, const void *b) {
  return key_compare(((const Record *)a)->key, ((const Record *)b)->key);
}

static int compare_names(const void *a, const void *b) {
  return strcmp((*(SavedSliceMeta *const *)a)->name, (*(SavedSliceMeta *const *)b)->name);
}

/* The record under "": all tensors, sorted by name. */
static bool serialize_meta(SliceFileWriter *writer, StrBuf *out, Status *status) {
  SavedTensorSlices *slices = proto_new(kSavedTensorSlices, writer->arena);
  SavedTensorSliceMeta *meta = proto_new(kSavedTensorSliceMeta, writer->arena);
  VersionDef *versions = proto_new(kVersionDef, writer->arena);
  if (!slices || !meta || !versions) return status_oom(status, "a checkpoint");
  slices->meta = meta;
  meta->versions = versions;
  versions->producer = SLICE_FILE_VERSION;
  for (int64_t i = 0; i < writer->tensors.num_entries; i++) {
    const StringMapEntry *entry = &writer->tensors.entries[i];
    if (entry->key)
      TRY(proto_append(writer->arena, (void ***)&meta->tensor, &meta->n_tensor, entry->value, status));
  }
  if (meta->n_tensor > 1) qsort(meta->tensor, meta->n_tensor, sizeof *meta->tensor, compare_names);
  TRY(proto_serialize(slices, out, status));
  return strbuf_ok(out, status);
}

bool slice_file_writer_finish(SliceFileWriter *writer, Str path, Status *status) {
  char name[FILE_PATH_MAX + 1];
  TableWriter *table = table_writer_new();
  StrBuf meta = {0};
  Str file;
  bool ok = false;
  if (!table) return status_oom(status, "a checkpoint");
  TRY_DONE(file_path(path, name, status));
  TRY_DONE(serialize_meta(writer, &meta, status));
  table_writer_add(table, (Str){"", 0}, (Str){meta.data, (size_t)meta.length});
  if (writer->count > 1)
    qsort(writer->records, (size_t)writer->count, sizeof *writer->records, compare_records);
  for (int64_t i = 0; i < writer->count; i++)
    table_writer_add(table, writer->records[i].key, writer->records[i].value);
  TRY_DONE(table_writer_finish(table, &file, status));
  ok = file_replace(name, file.data, (int64_t)file.length, status);
done:
  strbuf_free(&meta);
  table_writer_free(table);
  return ok;
}
