/* Queries of the attrs of operations. */
#include <string.h>

#include "c_api/c_api_internal.h"

static const AttrValue *find_attr(TF_Operation *oper, const char *attr_name, TF_Status *status) {
  start_status(status);
  const AttrValue *value = node_def_attr(operation_node(oper)->def, attr_name);
  if (!value) {
    status_invalid(&status->status, "Operation '%s' has no attr named '%s'.", operation_node(oper)->name,
                   attr_name);
  }
  return value;
}

/* The attr, which must be a list of any kind. `end` is the end of the error message. */
static const AttrListValue *find_list(TF_Operation *oper, const char *attr_name, const char *end,
                                      TF_Status *status) {
  const AttrValue *value = find_attr(oper, attr_name, status);
  if (!value) return NULL;
  if (value->value_case == (int)ATTR_LIST) return value->list;
  status_invalid(&status->status, "Value for '%s' is not a list%s", attr_name, end);
  return NULL;
}

static const NodeDef *begin(TF_Operation *oper, TF_Status *status) {
  start_status(status);
  return operation_node(oper)->def;
}

/* The number of values that fit. */
static size_t at_most(size_t count, int64_t room) {
  if (room < 0) return 0;
  return count < (uint64_t)room ? count : (size_t)room;
}

/* ---- kinds of values ---- */

static int64_t rank_of(const TensorShapeProto *shape) {
  return shape->unknown_rank ? -1 : (int64_t)shape->n_dim;
}

/* The op's name for the type of the list's values. */
static const struct {
  const char *name;
  TF_AttrType type;
} kListTypes[] = {
    {"list(string)", TF_ATTR_STRING}, {"list(int)", TF_ATTR_INT},   {"list(float)", TF_ATTR_FLOAT},
    {"list(bool)", TF_ATTR_BOOL},     {"list(type)", TF_ATTR_TYPE}, {"list(shape)", TF_ATTR_SHAPE},
    {"list(tensor)", TF_ATTR_TENSOR}, {"list(func)", TF_ATTR_FUNC},
};

static bool empty_list_type(const Node *node, const char *attr_name, TF_AttrType *type, Status *status) {
  const OpDef *op = node->op->def;
  for (size_t i = 0; i < op->n_attr; i++) {
    if (strcmp(op->attr[i]->name, attr_name) != 0) continue;
    for (size_t k = 0; k < sizeof kListTypes / sizeof *kListTypes; k++) {
      if (strcmp(op->attr[i]->type, kListTypes[k].name) != 0) continue;
      *type = kListTypes[k].type;
      return true;
    }
    return status_invalid(status, "Attribute '%s' has an empty value of an unrecognized type '%s'", attr_name,
                          op->attr[i]->type);
  }
  return true; /* the op does not declare the attr, so any type is valid */
}

static bool describe_list(const Node *node, const char *attr_name, const AttrListValue *list,
                          TF_AttrMetadata *metadata, Status *status) {
  *metadata = (TF_AttrMetadata){.is_list = 1, .list_size = 0, .total_size = -1};
  const struct {
    size_t count;
    TF_AttrType type;
  } kinds[] = {{list->n_s, TF_ATTR_STRING},  {list->n_i, TF_ATTR_INT},        {list->n_f, TF_ATTR_FLOAT},
               {list->n_b, TF_ATTR_BOOL},    {list->n_type, TF_ATTR_TYPE},    {list->n_shape, TF_ATTR_SHAPE},
               {list->n_func, TF_ATTR_FUNC}, {list->n_tensor, TF_ATTR_TENSOR}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && metadata->list_size == 0; k++) {
    metadata->list_size = (int64_t)kinds[k].count;
    metadata->type = kinds[k].type;
  }
  if (metadata->list_size == 0) {
    metadata->type = TF_ATTR_STRING;
    TRY(empty_list_type(node, attr_name, &metadata->type, status));
  }
  if (metadata->type != TF_ATTR_STRING && metadata->type != TF_ATTR_SHAPE) return true;
  metadata->total_size = metadata->list_size == 0 ? -1 : 0;
  for (size_t i = 0; i < list->n_s; i++) metadata->total_size += (int64_t)list->s[i].len;
  for (size_t i = 0; list->n_s == 0 && i < list->n_shape; i++) {
    int64_t rank = rank_of(list->shape[i]);
    metadata->total_size += rank > 0 ? rank : 0;
  }
  return true;
}

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation *oper, const char *attr_name, TF_Status *status) {
  TF_AttrMetadata metadata = {.is_list = 0, .list_size = -1, .total_size = -1};
  const AttrValue *value = find_attr(oper, attr_name, status);
  if (!value) return metadata;
  switch ((AttrKind)value->value_case) {
    case ATTR_STRING:
      metadata.type = TF_ATTR_STRING;
      metadata.total_size = (int64_t)value->s.len;
      break;
    case ATTR_INT: metadata.type = TF_ATTR_INT; break;
    case ATTR_FLOAT: metadata.type = TF_ATTR_FLOAT; break;
    case ATTR_BOOL: metadata.type = TF_ATTR_BOOL; break;
    case ATTR_TYPE: metadata.type = TF_ATTR_TYPE; break;
    case ATTR_SHAPE:
      metadata.type = TF_ATTR_SHAPE;
      metadata.total_size = rank_of(value->shape);
      break;
    case ATTR_TENSOR: metadata.type = TF_ATTR_TENSOR; break;
    case ATTR_PLACEHOLDER: metadata.type = TF_ATTR_PLACEHOLDER; break;
    case ATTR_FUNC: metadata.type = TF_ATTR_FUNC; break;
    case ATTR_LIST:
      reported(describe_list(operation_node(oper), attr_name, value->list, &metadata, &status->status));
      break;
    default: status_invalid(&status->status, "Attribute '%s' has no value set", attr_name);
  }
  return metadata;
}

/* ---- strings ---- */

void TF_OperationGetAttrString(TF_Operation *oper, const char *attr_name, void *value, size_t max_length,
                               TF_Status *status) {
  const AttrValue *attr = find_attr(oper, attr_name, status);
  if (!attr) return;
  if (attr->value_case != (int)ATTR_STRING) {
    status_invalid(&status->status, "Attribute '%s' is not a string", attr_name);
    return;
  }
  size_t length = attr->s.len < max_length ? attr->s.len : max_length;
  if (length > 0) memcpy(value, attr->s.data, length);
}

void TF_OperationGetAttrStringList(TF_Operation *oper, const char *attr_name, void **values, size_t *lengths,
                                   int max_values, void *storage, size_t storage_size, TF_Status *status) {
  const AttrListValue *list = find_list(oper, attr_name, "", status);
  if (!list) return;
  size_t count = at_most(list->n_s, max_values);
  char *at = storage;
  for (size_t i = 0; i < count; i++) {
    lengths[i] = list->s[i].len;
    values[i] = at;
    if (lengths[i] > storage_size) {
      status_invalid(&status->status, "Not enough storage to hold the requested list of strings");
      return;
    }
    if (lengths[i] == 0) continue;
    memcpy(at, list->s[i].data, lengths[i]);
    at += lengths[i];
    storage_size -= lengths[i];
  }
}

/* ---- numbers, types ---- */

void TF_OperationGetAttrInt(TF_Operation *oper, const char *attr_name, int64_t *value, TF_Status *status) {
  reported(node_attr_int(begin(oper, status), attr_name, value, &status->status));
}

void TF_OperationGetAttrIntList(TF_Operation *oper, const char *attr_name, int64_t *values, int max_values,
                                TF_Status *status) {
  const AttrListValue *list = find_list(oper, attr_name, ".", status);
  size_t count = list ? at_most(list->n_i, max_values) : 0;
  for (size_t i = 0; i < count; i++) values[i] = list->i[i];
}

void TF_OperationGetAttrFloat(TF_Operation *oper, const char *attr_name, float *value, TF_Status *status) {
  reported(node_attr_float(begin(oper, status), attr_name, value, &status->status));
}

void TF_OperationGetAttrFloatList(TF_Operation *oper, const char *attr_name, float *values, int max_values,
                                  TF_Status *status) {
  const AttrListValue *list = find_list(oper, attr_name, ".", status);
  size_t count = list ? at_most(list->n_f, max_values) : 0;
  for (size_t i = 0; i < count; i++) values[i] = list->f[i];
}

void TF_OperationGetAttrBool(TF_Operation *oper, const char *attr_name, unsigned char *value,
                             TF_Status *status) {
  bool found;
  if (node_attr_bool(begin(oper, status), attr_name, &found, &status->status)) *value = found;
}

void TF_OperationGetAttrBoolList(TF_Operation *oper, const char *attr_name, unsigned char *values,
                                 int max_values, TF_Status *status) {
  const AttrListValue *list = find_list(oper, attr_name, ".", status);
  size_t count = list ? at_most(list->n_b, max_values) : 0;
  for (size_t i = 0; i < count; i++) values[i] = list->b[i] != 0;
}

void TF_OperationGetAttrType(TF_Operation *oper, const char *attr_name, TF_DataType *value,
                             TF_Status *status) {
  DataType type;
  if (node_attr_type(begin(oper, status), attr_name, &type, &status->status)) *value = (TF_DataType)type;
}

void TF_OperationGetAttrTypeList(TF_Operation *oper, const char *attr_name, TF_DataType *values,
                                 int max_values, TF_Status *status) {
  const AttrListValue *list = find_list(oper, attr_name, ".", status);
  size_t count = list ? at_most(list->n_type, max_values) : 0;
  for (size_t i = 0; i < count; i++) values[i] = (TF_DataType)list->type[i];
}

/* ---- shapes ---- */

void TF_OperationGetAttrShape(TF_Operation *oper, const char *attr_name, int64_t *value, int num_dims,
                              TF_Status *status) {
  const TensorShapeProto *shape;
  if (!node_attr_shape(begin(oper, status), attr_name, &shape, &status->status)) return;
  size_t count = at_most(shape->n_dim, num_dims);
  for (size_t i = 0; i < count; i++) value[i] = shape->dim[i]->size;
}

void TF_OperationGetAttrShapeList(TF_Operation *oper, const char *attr_name, int64_t **dims, int *num_dims,
                                  int num_shapes, int64_t *storage, int storage_size, TF_Status *status) {
  const AttrListValue *list;
  if (!node_attr_list(begin(oper, status), attr_name, ATTR_SHAPE, &list, &status->status) || !list) return;
  size_t count = at_most(list->n_shape, num_shapes);
  int64_t room = storage_size;
  for (size_t i = 0; i < count; i++) {
    const TensorShapeProto *shape = list->shape[i];
    num_dims[i] = (int)rank_of(shape);
    dims[i] = storage;
    if (num_dims[i] > room) {
      status_invalid(&status->status, "Not enough storage to hold the requested list of shapes");
      return;
    }
    for (int k = 0; k < num_dims[i]; k++) *storage++ = shape->dim[k]->size;
    if (num_dims[i] > 0) room -= num_dims[i];
  }
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation *oper, const char *attr_name, TF_Buffer *value,
                                         TF_Status *status) {
  const AttrValue *attr = find_attr(oper, attr_name, status);
  if (!attr) return;
  if (attr->value_case != (int)ATTR_SHAPE) {
    status_invalid(&status->status, "Value for '%s' is not a shape.", attr_name);
    return;
  }
  reported(fill_buffer_with_message(attr->shape, value, &status->status));
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation *oper, const char *attr_name, TF_Buffer **values,
                                             int max_values, TF_Status *status) {
  const AttrListValue *list = find_list(oper, attr_name, "", status);
  size_t count = list ? at_most(list->n_shape, max_values) : 0;
  for (size_t i = 0; i < count; i++) {
    values[i] = TF_NewBuffer();
    if (!values[i]) {
      status_oom(&status->status, "a shape");
    } else if (fill_buffer_with_message(list->shape[i], values[i], &status->status)) {
      continue;
    }
    for (size_t k = 0; k <= i; k++) {
      TF_DeleteBuffer(values[k]);
      values[k] = NULL;
    }
    return;
  }
}

/* ---- tensors ---- */

static TF_Tensor *new_tensor(const TensorProto *proto, Status *status) {
  Tensor tensor = {0};
  return tensor_copy_proto(proto, &tensor, status) ? take_tensor(&tensor, status) : NULL;
}

void TF_OperationGetAttrTensor(TF_Operation *oper, const char *attr_name, TF_Tensor **value,
                               TF_Status *status) {
  *value = NULL;
  const TensorProto *proto;
  if (node_attr_tensor(begin(oper, status), attr_name, &proto, &status->status))
    *value = new_tensor(proto, &status->status);
}

void TF_OperationGetAttrTensorList(TF_Operation *oper, const char *attr_name, TF_Tensor **values,
                                   int max_values, TF_Status *status) {
  const AttrListValue *list;
  if (!node_attr_list(begin(oper, status), attr_name, ATTR_TENSOR, &list, &status->status) || !list) return;
  size_t count = at_most(list->n_tensor, max_values);
  for (size_t i = 0; i < count; i++) {
    values[i] = new_tensor(list->tensor[i], &status->status);
    if (values[i]) continue;
    for (size_t k = 0; k < i; k++) {
      TF_DeleteTensor(values[k]);
      values[k] = NULL;
    }
    return;
  }
}

/* ---- serialised values ---- */

void TF_OperationGetAttrValueProto(TF_Operation *oper, const char *attr_name, TF_Buffer *output_attr_value,
                                   TF_Status *status) {
  const AttrValue *value = find_attr(oper, attr_name, status);
  if (value) reported(fill_buffer_with_message(value, output_attr_value, &status->status));
}

int TF_OperationGetNumAttrs(TF_Operation *oper) { return (int)operation_node(oper)->def->n_attr; }

static const char *attr_key(TF_Operation *oper, int i) {
  const NodeDef *def = operation_node(oper)->def;
  return i >= 0 && (size_t)i < def->n_attr ? def->attr[i]->key : NULL;
}

int TF_OperationGetAttrNameLength(TF_Operation *oper, int i) {
  const char *key = attr_key(oper, i);
  return key ? (int)strlen(key) : -1;
}

void TF_OperationGetAttrName(TF_Operation *oper, int i, char *output, TF_Status *status) {
  const char *key = attr_key(oper, i);
  start_status(status);
  if (key) {
    memcpy(output, key, strlen(key));
  } else {
    status_set(&status->status, CODE_OUT_OF_RANGE, "Operation only has %d attributes, can't get the %dth",
               TF_OperationGetNumAttrs(oper), i);
  }
}
