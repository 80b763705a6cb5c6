/* The TF_OpKernelConstruction of a registered kernel: its node and the node's attrs. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "c_api/kernels_internal.h"
#include "op/node_def.h"

static const NodeDef *node_of(const TF_OpKernelConstruction *ctx) { return ctx->construction->node; }

TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction *ctx) {
  return (TF_StringView){node_of(ctx)->name, strlen(node_of(ctx)->name)};
}

static TF_Buffer *serialise(const void *message, Status *status) {
  TF_Buffer *buffer = TF_NewBuffer();
  if (!buffer) {
    status_oom(status, "a buffer");
  } else if (!fill_buffer_with_message(message, buffer, status)) {
    TF_DeleteBuffer(buffer);
    buffer = NULL;
  }
  return buffer;
}

TF_Buffer *TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction *ctx, TF_Status *status) {
  start_status(status);
  return serialise(node_of(ctx), &status->status);
}

bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction *ctx, const char *attr_name, TF_Status *status) {
  start_status(status);
  return node_def_attr(node_of(ctx), attr_name) != NULL;
}

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction *ctx, TF_Status *status) {
  if (ctx->failure.code == CODE_OK) ctx->failure = status->status;
}

/* ---- sizes ---- */

static int64_t num_dims(const TensorShapeProto *shape) {
  return shape->unknown_rank ? -1 : (int64_t)shape->n_dim;
}

/* The non-empty field of the list. */
static void measure_list(const AttrListValue *list, int64_t *list_size, int64_t *total_size) {
  *total_size = -1;
  if (list->n_s > 0) {
    *total_size = 0;
    for (size_t i = 0; i < list->n_s; i++) *total_size += (int64_t)list->s[i].len;
  } else if (list->n_shape > 0) {
    *total_size = 0;
    for (size_t i = 0; i < list->n_shape; i++) {
      if (!list->shape[i]->unknown_rank) *total_size += (int64_t)list->shape[i]->n_dim;
    }
  }
  *list_size = (int64_t)(list->n_s + list->n_i + list->n_f + list->n_b + list->n_type + list->n_shape +
                         list->n_tensor + list->n_func);
}

static bool measure(const NodeDef *node, const char *attr_name, int64_t *list_size, int64_t *total_size,
                    Status *status) {
  const AttrValue *value = node_def_attr(node, attr_name);
  if (!value) return status_invalid(status, "Operation '%s' has no attr named '%s'.", node->name, attr_name);
  switch ((AttrKind)value->value_case) {
    case ATTR_NOT_SET: return status_invalid(status, "Attribute '%s' has no value set", attr_name);
    case ATTR_STRING: *total_size = (int64_t)value->s.len; break;
    case ATTR_SHAPE: *total_size = num_dims(value->shape); break;
    case ATTR_LIST: measure_list(value->list, list_size, total_size); break;
    default: break;
  }
  if (*list_size <= INT32_MAX && *total_size <= INT32_MAX) return true;
  return status_invalid(status, "Attribute '%s' is too large", attr_name);
}

void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction *ctx, const char *attr_name,
                                         int32_t *list_size, int32_t *total_size, TF_Status *status) {
  start_status(status);
  int64_t length = -1, total = -1;
  if (!measure(node_of(ctx), attr_name, &length, &total, &status->status)) length = total = -1;
  *list_size = (int32_t)length;
  *total_size = (int32_t)total;
}

/* ---- single values ---- */

void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction *ctx, const char *attr_name,
                                         TF_DataType *val, TF_Status *status) {
  DataType type;
  start_status(status);
  if (node_attr_type(node_of(ctx), attr_name, &type, &status->status)) *val = (TF_DataType)type;
}

void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction *ctx, const char *attr_name, int32_t *val,
                                          TF_Status *status) {
  start_status(status);
  reported(node_attr_int32(node_of(ctx), attr_name, val, &status->status));
}

void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction *ctx, const char *attr_name, int64_t *val,
                                          TF_Status *status) {
  start_status(status);
  reported(node_attr_int(node_of(ctx), attr_name, val, &status->status));
}

void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction *ctx, const char *attr_name, float *val,
                                          TF_Status *status) {
  start_status(status);
  reported(node_attr_float(node_of(ctx), attr_name, val, &status->status));
}

void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction *ctx, const char *attr_name, TF_Bool *val,
                                         TF_Status *status) {
  bool value;
  start_status(status);
  if (node_attr_bool(node_of(ctx), attr_name, &value, &status->status)) *val = value;
}

void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction *ctx, const char *attr_name, char *val,
                                           size_t max_length, TF_Status *status) {
  Str value;
  start_status(status);
  if (!node_attr_string(node_of(ctx), attr_name, &value, &status->status)) return;
  size_t length = value.length < max_length ? value.length : max_length;
  if (length > 0) memcpy(val, value.data, length);
}

static TF_Tensor *expand(const TensorProto *proto, Status *status) {
  TF_Tensor *tensor = mem_calloc(1, sizeof *tensor);
  if (!tensor) {
    status_oom(status, "a tensor");
  } else if (!tensor_copy_proto(proto, &tensor->tensor, status)) {
    mem_free(tensor);
    tensor = NULL;
  }
  return tensor;
}

void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction *ctx, const char *attr_name,
                                           TF_Tensor **val, TF_Status *status) {
  const TensorProto *proto;
  start_status(status);
  if (!node_attr_tensor(node_of(ctx), attr_name, &proto, &status->status)) return;
  TF_Tensor *tensor = expand(proto, &status->status);
  if (tensor) *val = tensor;
}

TF_Buffer *TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction *ctx, const char *attr_name,
                                                   TF_Status *status) {
  const NameAttrList *function;
  start_status(status);
  if (!node_attr_func(node_of(ctx), attr_name, &function, &status->status)) return NULL;
  return serialise(function, &status->status);
}

/* ---- lists ---- */

/* An empty list of any kind is serialised without a message. */
static const AttrListValue *find_list(const TF_OpKernelConstruction *ctx, const char *attr_name,
                                      AttrKind kind, Status *status) {
  static const AttrListValue kEmpty;
  const AttrListValue *list;
  status_init(status);
  if (!node_attr_list(node_of(ctx), attr_name, kind, &list, status)) return NULL;
  return list ? list : &kEmpty;
}

static int at_most(size_t count, int max) {
  return count < (size_t)(max > 0 ? max : 0) ? (int)count : (max > 0 ? max : 0);
}

void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction *ctx, const char *attr_name,
                                             TF_DataType *vals, int max_vals, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_TYPE, &status->status);
  int count = list ? at_most(list->n_type, max_vals) : 0;
  for (int i = 0; i < count; i++) vals[i] = (TF_DataType)list->type[i];
}

void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction *ctx, const char *attr_name,
                                              int32_t *vals, int max_vals, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_INT, &status->status);
  if (!list) return;
  for (size_t i = 0; i < list->n_i; i++) {
    if (list->i[i] >= INT32_MIN && list->i[i] <= INT32_MAX) continue;
    status_invalid(&status->status, "Attr %s has value %" PRId64 " out of range for an int32", attr_name,
                   list->i[i]);
    return;
  }
  int count = at_most(list->n_i, max_vals);
  for (int i = 0; i < count; i++) vals[i] = (int32_t)list->i[i];
}

void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction *ctx, const char *attr_name,
                                              int64_t *vals, int max_vals, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_INT, &status->status);
  int count = list ? at_most(list->n_i, max_vals) : 0;
  for (int i = 0; i < count; i++) vals[i] = list->i[i];
}

void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction *ctx, const char *attr_name,
                                              float *vals, int max_vals, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_FLOAT, &status->status);
  int count = list ? at_most(list->n_f, max_vals) : 0;
  for (int i = 0; i < count; i++) vals[i] = list->f[i];
}

void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction *ctx, const char *attr_name,
                                             TF_Bool *vals, int max_vals, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_BOOL, &status->status);
  int count = list ? at_most(list->n_b, max_vals) : 0;
  for (int i = 0; i < count; i++) vals[i] = list->b[i] ? 1 : 0;
}

void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction *ctx, const char *attr_name,
                                               char **values, size_t *lengths, int max_values, void *storage,
                                               size_t storage_size, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_STRING, &status->status);
  int count = list ? at_most(list->n_s, max_values) : 0;
  char *cursor = storage;
  for (int i = 0; i < count; i++) {
    size_t length = list->s[i].len;
    values[i] = cursor;
    lengths[i] = length;
    if (length > storage_size) {
      status_invalid(&status->status, "Not enough storage to hold the requested list of strings");
      return;
    }
    if (length > 0) memcpy(cursor, list->s[i].data, length);
    if (length > 0) cursor += length;
    storage_size -= length;
  }
}

void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction *ctx, const char *attr_name,
                                               TF_Tensor **vals, int max_values, TF_Status *status) {
  const AttrListValue *list = find_list(ctx, attr_name, ATTR_TENSOR, &status->status);
  int count = list ? at_most(list->n_tensor, max_values) : 0;
  for (int i = 0; i < count; i++) {
    vals[i] = expand(list->tensor[i], &status->status);
    if (vals[i]) continue;
    for (int k = 0; k < i; k++) {
      TF_DeleteTensor(vals[k]);
      vals[k] = NULL;
    }
    return;
  }
}
