/* Equality of attr values by meaning. */
#include <string.h>

#include "base/string_map.h"
#include "op/node_def.h"

static bool values_equal(const AttrValue *a, const AttrValue *b, int depth);

static bool bytes_equal(const ProtobufCBinaryData *a, const ProtobufCBinaryData *b) {
  return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* A few attrs are compared pairwise, many through a hash map. Without memory for the map, the slow way is
 * used. */
enum { SCAN_LIMIT = 32 };

static const AttrValue *find_attr(const NameAttrList *func, const StringMap *index, const char *name) {
  if (index->count > 0) return string_map_find(index, name);
  for (size_t i = 0; i < func->n_attr; i++) {
    if (strcmp(func->attr[i]->key, name) == 0) return func->attr[i]->value;
  }
  return NULL;
}

static void make_index(const NameAttrList *func, StringMap *index) {
  Status ignored;
  status_init(&ignored);
  for (size_t i = 0; i < func->n_attr; i++) {
    if (string_map_set(index, func->attr[i]->key, func->attr[i]->value, &ignored)) continue;
    string_map_free(index);
    *index = (StringMap){0};
    return;
  }
}

static bool funcs_equal(const NameAttrList *a, const NameAttrList *b, int depth) {
  if (strcmp(a->name, b->name) != 0 || a->n_attr != b->n_attr) return false;
  StringMap index = {0};
  if (b->n_attr > SCAN_LIMIT) make_index(b, &index);
  bool equal = true;
  for (size_t i = 0; equal && i < a->n_attr; i++) {
    /* Usually the order is the same. */
    const char *name = a->attr[i]->key;
    const AttrValue *match =
        strcmp(name, b->attr[i]->key) == 0 ? b->attr[i]->value : find_attr(b, &index, name);
    equal = match && values_equal(a->attr[i]->value, match, depth + 1);
  }
  string_map_free(&index);
  return equal;
}

static bool scalars_equal(const void *a, size_t num_a, const void *b, size_t num_b, size_t size) {
  return num_a == num_b && (num_a == 0 || memcmp(a, b, num_a * size) == 0);
}

static bool lists_equal(const AttrListValue *a, const AttrListValue *b, int depth) {
  if (a->n_s != b->n_s || a->n_b != b->n_b || a->n_shape != b->n_shape || a->n_tensor != b->n_tensor ||
      a->n_func != b->n_func || !scalars_equal(a->i, a->n_i, b->i, b->n_i, sizeof *a->i) ||
      !scalars_equal(a->f, a->n_f, b->f, b->n_f, sizeof *a->f) ||
      !scalars_equal(a->type, a->n_type, b->type, b->n_type, sizeof *a->type)) {
    return false;
  }
  for (size_t i = 0; i < a->n_s; i++) {
    if (!bytes_equal(&a->s[i], &b->s[i])) return false;
  }
  for (size_t i = 0; i < a->n_b; i++) {
    if (!a->b[i] != !b->b[i]) return false;
  }
  for (size_t i = 0; i < a->n_shape; i++) {
    if (!proto_equal(a->shape[i], b->shape[i])) return false;
  }
  for (size_t i = 0; i < a->n_tensor; i++) {
    if (!tensor_proto_equal(a->tensor[i], b->tensor[i])) return false;
  }
  for (size_t i = 0; i < a->n_func; i++) {
    if (!funcs_equal(a->func[i], b->func[i], depth)) return false;
  }
  return true;
}

static bool values_equal(const AttrValue *a, const AttrValue *b, int depth) {
  if (a == b) return true;
  if (a->value_case != b->value_case || depth > PROTO_MAX_DEPTH) return false;
  switch ((AttrKind)a->value_case) {
    case ATTR_STRING: return bytes_equal(&a->s, &b->s);
    case ATTR_INT: return a->i == b->i;
    case ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case ATTR_BOOL: return !a->b == !b->b;
    case ATTR_TYPE: return a->type == b->type;
    case ATTR_SHAPE: return proto_equal(a->shape, b->shape);
    case ATTR_TENSOR: return tensor_proto_equal(a->tensor, b->tensor);
    case ATTR_LIST: return lists_equal(a->list, b->list, depth);
    case ATTR_FUNC: return funcs_equal(a->func, b->func, depth);
    case ATTR_PLACEHOLDER: return strcmp(a->placeholder, b->placeholder) == 0;
    case ATTR_NOT_SET: break;
  }
  return true;
}

bool attr_value_equal(const AttrValue *a, const AttrValue *b) { return values_equal(a, b, 0); }

bool node_def_same_attrs(const NodeDef *a, const NodeDef *b) {
  if (a->n_attr != b->n_attr) return false;
  for (size_t i = 0; i < a->n_attr; i++) {
    const AttrValue *other = node_def_attr(b, a->attr[i]->key);
    if (!other || !attr_value_equal(a->attr[i]->value, other)) return false;
  }
  return true;
}
