#include "proto/proto_internal.h"

/* --- constructors --- */

static AttrValue *new_value(Arena *arena, AttrKind kind) {
  AttrValue *value = proto_new(kAttrValue, arena);
  if (value) value->value_case = (Tensorflow__AttrValue__ValueCase)kind;
  return value;
}

static bool copy_bytes(Arena *arena, ProtobufCBinaryData *to, const void *bytes, size_t length) {
  *to = (ProtobufCBinaryData){0};
  if (length == 0) return true;
  if (length > PTRDIFF_MAX) return false;
  to->data = arena_alloc(arena, (int64_t)length);
  if (!to->data) return false;
  memcpy(to->data, bytes, length);
  to->len = length;
  return true;
}

AttrValue *attr_value_string(Arena *arena, const void *bytes, size_t length) {
  AttrValue *value = new_value(arena, ATTR_STRING);
  return value && copy_bytes(arena, &value->s, bytes, length) ? value : NULL;
}

AttrValue *attr_value_int(Arena *arena, int64_t i) {
  AttrValue *value = new_value(arena, ATTR_INT);
  if (value) value->i = i;
  return value;
}

AttrValue *attr_value_float(Arena *arena, float f) {
  AttrValue *value = new_value(arena, ATTR_FLOAT);
  if (value) value->f = f;
  return value;
}

AttrValue *attr_value_bool(Arena *arena, bool b) {
  AttrValue *value = new_value(arena, ATTR_BOOL);
  if (value) value->b = b;
  return value;
}

AttrValue *attr_value_type(Arena *arena, int type) {
  AttrValue *value = new_value(arena, ATTR_TYPE);
  if (value) value->type = (Tensorflow__DataType)type;
  return value;
}

AttrValue *attr_value_shape(Arena *arena, int num_dims, const int64_t *dims) {
  AttrValue *value = new_value(arena, ATTR_SHAPE);
  TensorShapeProto *shape = proto_new(kTensorShapeProto, arena);
  if (!value || !shape) return NULL;
  value->shape = shape;
  shape->unknown_rank = num_dims < 0;
  if (num_dims <= 0) return value;
  void *array = NULL;
  if (!repeated_reserve(arena, &array, 0, (size_t)num_dims, sizeof *shape->dim)) return NULL;
  shape->dim = array;
  for (int i = 0; i < num_dims; i++) {
    TensorShapeDim *dim = proto_new(&tensorflow__tensor_shape_proto__dim__descriptor, arena);
    if (!dim) return NULL;
    dim->size = dims[i];
    shape->dim[shape->n_dim++] = dim;
  }
  return value;
}

AttrValue *attr_value_tensor(Arena *arena, TensorProto *tensor) {
  AttrValue *value = new_value(arena, ATTR_TENSOR);
  if (value) value->tensor = tensor;
  return value;
}

AttrValue *attr_value_placeholder(Arena *arena, const char *name) {
  AttrValue *value = new_value(arena, ATTR_PLACEHOLDER);
  if (!value) return NULL;
  value->placeholder = arena_strdup(arena, name);
  return value->placeholder ? value : NULL;
}

AttrValue *attr_value_func(Arena *arena, const char *name, const NameAttrList *attrs_from) {
  AttrValue *value = new_value(arena, ATTR_FUNC);
  NameAttrList *func =
      attrs_from ? proto_copy(attrs_from, arena) : proto_new(&tensorflow__name_attr_list__descriptor, arena);
  if (!value || !func) return NULL;
  value->func = func;
  func->name = arena_strdup(arena, name);
  return func->name ? value : NULL;
}

/* --- lists --- */

/* A list value whose `field` has space for `count` elements, which are already counted and zeroed. */
static AttrValue *new_list(Arena *arena, unsigned field_number, size_t count) {
  AttrValue *value = new_value(arena, ATTR_LIST);
  AttrListValue *list = proto_new(&tensorflow__attr_value__list_value__descriptor, arena);
  if (!value || !list) return NULL;
  value->list = list;
  const Field *field = protobuf_c_message_descriptor_get_field(list->base.descriptor, field_number);
  void **array = field_member(&list->base, field);
  size_t size = field_element_size(field);
  if (count == 0) return value;
  if (!repeated_reserve(arena, array, 0, count, size)) return NULL;
  memset(*array, 0, count * size);
  *field_count(&list->base, field) = count;
  return value;
}

enum {
  LIST_S = 2,
  LIST_I = 3,
  LIST_F = 4,
  LIST_B = 5,
  LIST_TYPE = 6,
  LIST_SHAPE = 7,
  LIST_TENSOR = 8,
  LIST_FUNC = 9
};

AttrValue *attr_value_int_list(Arena *arena, const int64_t *values, size_t count) {
  AttrValue *value = new_list(arena, LIST_I, count);
  if (value && count > 0) memcpy(value->list->i, values, count * sizeof *values);
  return value;
}

AttrValue *attr_value_float_list(Arena *arena, const float *values, size_t count) {
  AttrValue *value = new_list(arena, LIST_F, count);
  if (value && count > 0) memcpy(value->list->f, values, count * sizeof *values);
  return value;
}

AttrValue *attr_value_bool_list(Arena *arena, const bool *values, size_t count) {
  AttrValue *value = new_list(arena, LIST_B, count);
  for (size_t i = 0; value && i < count; i++) value->list->b[i] = values[i];
  return value;
}

AttrValue *attr_value_type_list(Arena *arena, const int *types, size_t count) {
  AttrValue *value = new_list(arena, LIST_TYPE, count);
  for (size_t i = 0; value && i < count; i++) value->list->type[i] = (Tensorflow__DataType)types[i];
  return value;
}

AttrValue *attr_value_string_list(Arena *arena, const Str *values, size_t count) {
  AttrValue *value = new_list(arena, LIST_S, count);
  for (size_t i = 0; value && i < count; i++) {
    if (!copy_bytes(arena, &value->list->s[i], values[i].data, values[i].length)) return NULL;
  }
  return value;
}

AttrValue *attr_value_shape_list(Arena *arena, const TensorShapeProto *const *shapes, size_t count) {
  AttrValue *value = new_list(arena, LIST_SHAPE, count);
  for (size_t i = 0; value && i < count; i++) {
    value->list->shape[i] = proto_copy(shapes[i], arena);
    if (!value->list->shape[i]) return NULL;
  }
  return value;
}

AttrValue *attr_value_tensor_list(Arena *arena, TensorProto *const *tensors, size_t count) {
  AttrValue *value = new_list(arena, LIST_TENSOR, count);
  for (size_t i = 0; value && i < count; i++) {
    value->list->tensor[i] = proto_copy(tensors[i], arena);
    if (!value->list->tensor[i]) return NULL;
  }
  return value;
}

AttrValue *attr_value_func_list(Arena *arena, const NameAttrList *const *funcs, size_t count) {
  AttrValue *value = new_list(arena, LIST_FUNC, count);
  for (size_t i = 0; value && i < count; i++) {
    value->list->func[i] = proto_copy(funcs[i], arena);
    if (!value->list->func[i]) return NULL;
  }
  return value;
}

/* --- kinds --- */

static const char *list_kind_name(const AttrListValue *list) {
  if (list->n_s > 0) return "list(string)";
  if (list->n_i > 0) return "list(int)";
  if (list->n_f > 0) return "list(float)";
  if (list->n_b > 0) return "list(bool)";
  if (list->n_type > 0) return "list(type)";
  if (list->n_shape > 0) return "list(shape)";
  if (list->n_tensor > 0) return "list(tensor)";
  if (list->n_func > 0) return "list(func)";
  return "list(any)";
}

const char *attr_value_kind_name(const AttrValue *value) {
  switch ((AttrKind)value->value_case) {
    case ATTR_LIST: return value->list ? list_kind_name(value->list) : "list(any)";
    case ATTR_STRING: return "string";
    case ATTR_INT: return "int";
    case ATTR_FLOAT: return "float";
    case ATTR_BOOL: return "bool";
    case ATTR_TYPE: return "type";
    case ATTR_SHAPE: return "shape";
    case ATTR_TENSOR: return "tensor";
    case ATTR_PLACEHOLDER: return "placeholder";
    case ATTR_FUNC: return "func";
    case ATTR_NOT_SET: break;
  }
  return "any";
}

/* --- NodeDef --- */

const AttrValue *node_def_attr(const NodeDef *node, const char *name) {
  for (size_t i = 0; i < node->n_attr; i++) {
    if (strcmp(node->attr[i]->key, name) == 0) return node->attr[i]->value;
  }
  return NULL;
}

bool node_def_set_attr(NodeDef *node, Arena *arena, const char *name, AttrValue *value, Status *status) {
  size_t at = 0;
  while (at < node->n_attr && strcmp(node->attr[at]->key, name) != 0) at++;
  AttrEntry *entry = proto_new(&tensorflow__node_def__attr_entry__descriptor, arena);
  char *key = at < node->n_attr ? node->attr[at]->key : arena_strdup(arena, name);
  if (!entry || !key) return status_oom(status, "attr");
  entry->key = key;
  entry->value = value;
  if (at == node->n_attr) return proto_append(arena, (void ***)&node->attr, &node->n_attr, entry, status);
  node->attr[at] = entry; /* the old entry may be shared with other nodes */
  return true;
}

bool node_def_add_input(NodeDef *node, Arena *arena, const char *input, Status *status) {
  char *copy = arena_strdup(arena, input);
  if (!copy) return status_oom(status, "node input");
  return proto_append(arena, (void ***)&node->input, &node->n_input, copy, status);
}

NodeDef *node_def_new(Arena *arena, const char *name, const char *op) {
  NodeDef *node = proto_new(kNodeDef, arena);
  if (!node) return NULL;
  node->name = arena_strdup(arena, name);
  node->op = arena_strdup(arena, op);
  return node->name && node->op ? node : NULL;
}

NodeDef *node_def_share(Arena *arena, const NodeDef *node) {
  int64_t count = (int64_t)node->n_attr, room = repeated_capacity(node->n_attr);
  NodeDef *copy = arena_alloc(arena, (int64_t)sizeof *copy + room * (int64_t)sizeof *copy->attr +
                                         count * (int64_t)sizeof **copy->attr);
  if (!copy) return NULL;
  *copy = *node;
  copy->n_input = 0;
  copy->input = NULL;
  copy->attr = (AttrEntry **)(copy + 1);
  AttrEntry *entries = (AttrEntry *)(copy->attr + room);
  for (int64_t i = 0; i < count; i++) {
    entries[i] = *node->attr[i];
    copy->attr[i] = &entries[i];
  }
  return copy;
}
