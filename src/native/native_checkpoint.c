/* TF_CheckpointReader, over bundles. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "checkpoint/bundle.h"
#include "tensorflow/c/c_api_experimental.h"

struct TF_CheckpointReader {
  BundleReader *bundle;
  Arena *arena; /* the names */
  const char **names;
  int count;
};

static bool read_names(TF_CheckpointReader *reader, Status *status) {
  int64_t count = bundle_reader_num_tensors(reader->bundle);
  reader->arena = arena_new();
  reader->names = reader->arena ? arena_calloc(reader->arena, count, sizeof *reader->names) : NULL;
  if (!reader->names) return status_oom(status, "a checkpoint");
  for (int64_t i = 0; i < count; i++) {
    Str name = bundle_reader_name(reader->bundle, i);
    reader->names[i] = arena_strndup(reader->arena, name.data, name.length);
    if (!reader->names[i]) return status_oom(status, "a checkpoint");
  }
  reader->count = (int)count;
  return true;
}

TF_CheckpointReader *TF_NewCheckpointReader(const char *filename, TF_Status *status) {
  start_status(status);
  TF_CheckpointReader *reader = mem_calloc(1, sizeof *reader);
  if (!reader) {
    status_oom(&status->status, "a checkpoint");
    return NULL;
  }
  if (!bundle_exists(str_of(filename)))
    status_set(&status->status, CODE_NOT_FOUND,
               "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for %s",
               filename);
  else if (bundle_reader_open(str_of(filename), &reader->bundle, &status->status) &&
           read_names(reader, &status->status))
    return reader;
  TF_DeleteCheckpointReader(reader);
  return NULL;
}

void TF_DeleteCheckpointReader(TF_CheckpointReader *reader) {
  if (!reader) return;
  bundle_reader_free(reader->bundle);
  arena_free(reader->arena);
  mem_free(reader);
}

int TF_CheckpointReaderHasTensor(TF_CheckpointReader *reader, const char *name) {
  return bundle_reader_contains(reader->bundle, str_of(name));
}

int TF_CheckpointReaderSize(TF_CheckpointReader *reader) { return reader->count; }

const char *TF_CheckpointReaderGetVariable(TF_CheckpointReader *reader, int index) {
  return index >= 0 && index < reader->count ? reader->names[index] : NULL;
}

TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader *reader, const char *name) {
  DataType type = DT_INVALID;
  Shape shape = {0};
  Status ignored;
  status_init(&ignored);
  reported(bundle_reader_look_up(reader->bundle, str_of(name), &type, &shape, &ignored));
  shape_clear(&shape);
  return (TF_DataType)type;
}

int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader *reader, const char *name) {
  DataType type;
  Shape shape = {0};
  Status ignored;
  status_init(&ignored);
  bool ok = bundle_reader_look_up(reader->bundle, str_of(name), &type, &shape, &ignored);
  int rank = ok ? shape.rank : -1;
  shape_clear(&shape);
  return rank;
}

void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader *reader, const char *name, int64_t *dims,
                                         int num_dims, TF_Status *status) {
  DataType type;
  Shape shape = {0};
  start_status(status);
  if (bundle_reader_look_up(reader->bundle, str_of(name), &type, &shape, &status->status)) {
    if (shape.rank != num_dims)
      status_invalid(&status->status, "Expected rank is %d but actual rank is %d", num_dims, shape.rank);
    for (int i = 0; i < num_dims && shape.rank == num_dims; i++) dims[i] = shape_dim(&shape, i);
  }
  shape_clear(&shape);
}

TF_Tensor *TF_CheckpointReaderGetTensor(TF_CheckpointReader *reader, const char *name, TF_Status *status) {
  Tensor value = {0};
  start_status(status);
  if (!bundle_reader_read(reader->bundle, str_of(name), NULL, &value, &status->status)) return NULL;
  return take_tensor(&value, &status->status);
}
