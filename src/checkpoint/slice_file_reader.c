#include <string.h>

#include "base/alloc.h"
#include "checkpoint/slice_file_internal.h"
#include "checkpoint/table.h"

/* Tables of version 1 contain the values, so they are read as a whole. */
static const int64_t kMaxFileBytes = INT64_C(1) << 31;

typedef struct Request {
  Str pattern, name, shape_and_slice;
  DataType dtype;
  Arena *arena;
  /* The description of the tensor in the files. */
  int64_t num_files;
  bool found;
  Shape shape, part;
  TensorSlice wanted;
  Tensor made;
  int64_t filled;
} Request;

static bool open_error(const char *path, Status *status) {
  Status cause = *status;
  return status_set(status, cause.code,
                    "Unable to open table file %s: %s: %.2000s: perhaps your file is in a different file "
                    "format and you need to use a "
                    "different restore operator?",
                    path, code_name(cause.code), cause.message);
}

/* Takes shape and type from the first file with the tensor, and checks them against the request. */
static bool begin_tensor(Request *request, const SavedSliceMeta *meta, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Shape shape = {0};
  TRY(shape_from_proto(meta->shape, &shape, status));
  if (request->found) {
    bool same = shape_equal(&shape, &request->shape);
    shape_clear(&shape);
    return same ||
           status_set(status, CODE_INTERNAL, "Incompatible tensor shapes detected for tensor %s", meta->name);
  }
  request->found = true;
  request->shape = shape; /* moved */
  if ((DataType)meta->type != request->dtype) {
    return status_invalid(status,
                          "Expected to restore a tensor of type %s, got a tensor of type %s instead: "
                          "tensor_name = %s",
                          dtype_name(request->dtype), dtype_name((int)meta->type), meta->name);
  }
  if (request->shape_and_slice.length == 0) {
    slice_full(request->shape.rank, &request->wanted);
    return slice_shape(&request->wanted, &request->shape, &request->part, status);
  }
  Shape parsed = {0};
  bool ok = slice_parse(request->shape_and_slice, &parsed, &request->wanted, &request->part, status);
  if (ok && !shape_equal(&parsed, &request->shape)) {
    ok = status_invalid(status,
                        "Shape in shape_and_slice spec does not match the shape in the save file: %s, save "
                        "file shape: %s",
                        shape_text(&parsed, a), shape_text(&request->shape, b));
  }
  shape_clear(&parsed);
  return ok;
}

/* The number of values in the proto. */
static int64_t count_values(const TensorProto *data, DataType dtype) {
  switch (dtype) {
    case DT_FLOAT: return (int64_t)data->n_float_val;
    case DT_DOUBLE: return (int64_t)data->n_double_val;
    case DT_COMPLEX64: return (int64_t)data->n_scomplex_val / 2;
    case DT_COMPLEX128: return (int64_t)data->n_dcomplex_val / 2;
    case DT_INT64: return (int64_t)data->n_int64_val;
    case DT_BOOL: return (int64_t)data->n_bool_val;
    case DT_HALF:
    case DT_BFLOAT16: return (int64_t)data->n_half_val;
    case DT_UINT32: return (int64_t)data->n_uint32_val;
    case DT_UINT64: return (int64_t)data->n_uint64_val;
    case DT_STRING: return (int64_t)data->n_string_val;
    default: return (int64_t)data->n_int_val;
  }
}

/* The values of a stored slice as a tensor. */
static bool read_values(Request *request, const TensorSlice *slice, const TableEntry *entry, Tensor *values,
                        Status *status) {
  void *message;
  Shape shape = {0};
  TRY(proto_parse(kSavedTensorSlices, entry->value.data, entry->value.length, request->arena, &message,
                  status));
  SavedSlice *saved = ((SavedTensorSlices *)message)->data;
  TRY(slice_shape(slice, &request->shape, &shape, status));
  AttrValue *proto_shape = attr_value_shape(request->arena, shape.rank, shape_dims(&shape));
  int64_t count = shape_num_elements(&shape);
  shape_clear(&shape);
  if (!proto_shape) return status_oom(status, "a checkpoint");
  if (!saved || !saved->data || count_values(saved->data, request->dtype) != count) {
    return status_set(status, CODE_DATA_LOSS, "The values of tensor %.*s are damaged",
                      (int)request->name.length, request->name.data);
  }
  saved->data->dtype = (Tensorflow__DataType)request->dtype;
  saved->data->tensor_shape = proto_shape->shape;
  return tensor_from_proto(saved->data, values, status);
}

/* Copies the requested part of one stored slice. */
static bool take_slice(Request *request, const SavedSliceMeta *meta, const TensorSlice *slice,
                       const TableEntry *entries, int64_t count, Status *status) {
  StrBuf key = {0};
  Tensor values = {0};
  size_t element = dtype_size(request->dtype);
  int64_t common;
  bool ok = false;
  TRY_DONE(slice_copy_common(&request->shape, slice, NULL, &request->wanted, NULL, element, NULL, &common,
                             status));
  if (common > 0) {
    slice_append_key(str_of(meta->name), slice, &key);
    TRY_DONE(strbuf_ok(&key, status));
    const TableEntry *entry = table_find(entries, count, (Str){key.data, (size_t)key.length});
    if (!entry) {
      status_set(status, CODE_DATA_LOSS, "The values of tensor %s are not there", meta->name);
      goto done;
    }
    TRY_DONE(read_values(request, slice, entry, &values, status));
    if (tensor_is_empty(&request->made)) {
      TRY_DONE(tensor_allocate(&request->made, request->dtype, &request->part, NULL, status));
      if (request->dtype != DT_STRING) memset(request->made.data, 0, (size_t)tensor_bytes(&request->made));
    }
    TRY_DONE(slice_copy_common(&request->shape, slice, values.data, &request->wanted, request->made.data,
                               element, slice_copy_of(request->dtype), &common, status));
    request->filled += common;
  }
  ok = true;
done:
  strbuf_free(&key);
  tensor_clear(&values);
  return ok;
}

static bool search_table(Request *request, const char *path, const TableEntry *entries, int64_t count,
                         Status *status) {
  const TableEntry *first = table_find(entries, count, (Str){"", 0});
  void *message;
  if (!first) {
    return status_set(status, CODE_INTERNAL,
                      "Failed to find the saved tensor slices at the beginning of the checkpoint file: %s",
                      path);
  }
  if (!proto_parse(kSavedTensorSlices, first->value.data, first->value.length, request->arena, &message,
                   status) ||
      !((SavedTensorSlices *)message)->meta) {
    return status_reword(status, CODE_INTERNAL,
                         "Failed to parse the saved tensor slices of the checkpoint file: %s", path);
  }
  const SavedTensorSliceMeta *all = ((SavedTensorSlices *)message)->meta;
  for (size_t i = 0; i < all->n_tensor; i++) {
    const SavedSliceMeta *meta = all->tensor[i];
    if (!str_equal_text(request->name, meta->name)) continue;
    TRY(begin_tensor(request, meta, status));
    for (size_t k = 0; k < meta->n_slice; k++) {
      TensorSlice slice;
      if (!slice_from_proto(meta->slice[k], &request->shape, &slice)) {
        return status_set(status, CODE_INTERNAL, "A slice of tensor %s in %s is damaged", meta->name, path);
      }
      TRY(take_slice(request, meta, &slice, entries, count, status));
    }
  }
  return true;
}

static bool search_file(void *arg, const char *path, Status *status) {
  Request *request = arg;
  char *bytes;
  int64_t size, count;
  TableEntry *entries;
  request->num_files++;
  TRY(file_read_all(path, kMaxFileBytes, &bytes, &size, status));
  request->arena = arena_new();
  bool ok = request->arena || status_oom(status, "a checkpoint");
  if (ok) {
    ok = table_read(path, (Str){bytes, (size_t)size}, request->arena, &entries, &count, status) ||
         open_error(path, status);
    ok = ok && search_table(request, path, entries, count, status);
  }
  arena_free(request->arena);
  mem_free(bytes);
  return ok;
}

static bool finish(Request *request, Tensor *tensor, Status *status) {
  if (request->num_files == 0) {
    return status_set(status, CODE_NOT_FOUND,
                      "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                      "%.*s",
                      (int)request->pattern.length, request->pattern.data);
  }
  if (!request->found) {
    return status_set(status, CODE_NOT_FOUND, "Tensor name \"%.*s\" not found in checkpoint files %.*s",
                      (int)request->name.length, request->name.data, (int)request->pattern.length,
                      request->pattern.data);
  }
  if (request->filled != shape_num_elements(&request->part))
    return status_invalid(status, "Error copying slice data");
  if (tensor_is_empty(&request->made))
    TRY(tensor_allocate(&request->made, request->dtype, &request->part, NULL, status));
  tensor_move(tensor, &request->made);
  return true;
}

bool slice_file_restore(Str pattern, Str name, Str shape_and_slice, DataType dtype, Tensor *tensor,
                        Status *status) {
  char text[FILE_PATH_MAX + 1];
  Request request = {.pattern = pattern, .name = name, .shape_and_slice = shape_and_slice, .dtype = dtype};
  if (dtype != DT_STRING && !dtype_is_pod(dtype)) {
    return status_set(status, CODE_UNIMPLEMENTED, "Restoring data type %s not yet supported",
                      dtype_name(dtype));
  }
  TRY(file_path(pattern, text, status));
  bool ok = file_match(text, search_file, &request, status) && finish(&request, tensor, status);
  shape_clear(&request.shape);
  shape_clear(&request.part);
  tensor_clear(&request.made);
  return ok;
}
