/* Reading the attrs of a NodeDef. */
#include <inttypes.h>

#include "op/node_def.h"
#include "op/op_def_builder.h"

bool node_attr(const NodeDef *node, const char *name, const AttrValue **value, Status *status) {
  *value = node_def_attr(node, name);
  if (*value) return true;
  status_set(status, CODE_NOT_FOUND, "No attr named '%s' in NodeDef:", name);
  /* Internal attrs are often looked up without being set. */
  return name[0] == '_' ? false : node_def_attach(node, false, status);
}

/* The value, which must be of `kind`; messages call it `type`. */
static bool find_typed(const NodeDef *node, const char *name, AttrKind kind, const char *type,
                       const AttrValue **value, Status *status) {
  TRY(node_attr(node, name, value, status));
  /* Dtypes can have illegal values, so they are always checked one by one. */
  if ((AttrKind)(*value)->value_case == kind && kind != ATTR_TYPE && kind != ATTR_LIST) return true;
  return attr_value_has_type(*value, type, status) || node_def_attach(node, false, status);
}

bool node_attr_string(const NodeDef *node, const char *name, Str *value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_STRING, "string", &found, status));
  *value = (Str){found->s.data ? (const char *)found->s.data : "", found->s.len};
  return true;
}

bool node_attr_int(const NodeDef *node, const char *name, int64_t *value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_INT, "int", &found, status));
  *value = found->i;
  return true;
}

bool node_attr_int32(const NodeDef *node, const char *name, int32_t *value, Status *status) {
  int64_t wide;
  TRY(node_attr_int(node, name, &wide, status));
  if (wide < INT32_MIN || wide > INT32_MAX) {
    status_invalid(status, "Attr %s has value %" PRId64 " out of range for an int32", name, wide);
    return node_def_attach(node, false, status);
  }
  *value = (int32_t)wide;
  return true;
}

bool node_attr_float(const NodeDef *node, const char *name, float *value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_FLOAT, "float", &found, status));
  *value = found->f;
  return true;
}

bool node_attr_bool(const NodeDef *node, const char *name, bool *value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_BOOL, "bool", &found, status));
  *value = found->b;
  return true;
}

bool node_attr_type(const NodeDef *node, const char *name, DataType *value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_TYPE, "type", &found, status));
  *value = (DataType)found->type;
  return true;
}

/* Checks a shape: unknown rank has no sizes; otherwise at most 254 sizes of -1 or more, and the product of
 * those before the first unknown one fits int64. */
static bool shape_proto_is_valid(const TensorShapeProto *shape) {
  if (shape->unknown_rank) return shape->n_dim == 0;
  if (shape->n_dim > SHAPE_MAX_RANK) return false;
  int64_t elements = 1;
  for (size_t i = 0; i < shape->n_dim; i++) {
    int64_t size = shape->dim[i]->size;
    if (size < -1) return false;
    if (size == -1) elements = -1;
    if (elements >= 0 && __builtin_mul_overflow(elements, size, &elements)) return false;
  }
  return true;
}

bool node_attr_shape(const NodeDef *node, const char *name, const TensorShapeProto **value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_SHAPE, "shape", &found, status));
  if (!shape_proto_is_valid(found->shape)) {
    StrBuf text = {0};
    proto_print_text(found->shape, PROTO_TEXT_SHORT, &text);
    if (strbuf_ok(&text, status)) {
      status_invalid(status, "Attr %s has invalid shape value %s", name, strbuf_text(&text));
    }
    strbuf_free(&text);
    return node_def_attach(node, false, status);
  }
  *value = found->shape;
  return true;
}

bool node_attr_tensor(const NodeDef *node, const char *name, const TensorProto **value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_TENSOR, "tensor", &found, status));
  *value = found->tensor;
  return true;
}

bool node_attr_func(const NodeDef *node, const char *name, const NameAttrList **value, Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_FUNC, "func", &found, status));
  *value = found->func;
  return true;
}

static const char *list_type_name(AttrKind kind) {
  switch (kind) {
    case ATTR_STRING: return "list(string)";
    case ATTR_INT: return "list(int)";
    case ATTR_FLOAT: return "list(float)";
    case ATTR_BOOL: return "list(bool)";
    case ATTR_TYPE: return "list(type)";
    case ATTR_SHAPE: return "list(shape)";
    case ATTR_TENSOR: return "list(tensor)";
    case ATTR_FUNC: return "list(func)";
    default: return "list(any)";
  }
}

bool node_attr_list(const NodeDef *node, const char *name, AttrKind kind, const AttrListValue **value,
                    Status *status) {
  const AttrValue *found;
  TRY(find_typed(node, name, ATTR_LIST, list_type_name(kind), &found, status));
  *value = (AttrKind)found->value_case == ATTR_LIST ? found->list : NULL;
  return true;
}
