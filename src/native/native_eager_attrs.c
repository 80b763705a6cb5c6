/* The attrs of eager ops. */
#include <string.h>

#include "base/alloc.h"
#include "native/native_eager.h"
#include "op/node_def.h"
#include "tensorflow/c/eager/c_api_experimental.h"

enum { MAX_DIMS = 254 };

/* As in TensorFlow, the first value of an attr counts. `value` is NULL when memory ran out. */
static void set_attr(TFE_Op *op, const char *name, AttrValue *value) {
  Status ignored;
  if (value && node_def_attr(op->def, name)) return;
  status_init(&ignored);
  if (!value || !node_def_set_attr(op->def, op->arena, name, value, &ignored)) op->failed = true;
}

void TFE_OpSetAttrString(TFE_Op *op, const char *attr_name, const void *value, size_t length) {
  set_attr(op, attr_name, attr_value_string(op->arena, value, length));
}

void TFE_OpSetAttrInt(TFE_Op *op, const char *attr_name, int64_t value) {
  set_attr(op, attr_name, attr_value_int(op->arena, value));
}

void TFE_OpSetAttrFloat(TFE_Op *op, const char *attr_name, float value) {
  set_attr(op, attr_name, attr_value_float(op->arena, value));
}

void TFE_OpSetAttrBool(TFE_Op *op, const char *attr_name, unsigned char value) {
  set_attr(op, attr_name, attr_value_bool(op->arena, value != 0));
}

void TFE_OpSetAttrType(TFE_Op *op, const char *attr_name, TF_DataType value) {
  set_attr(op, attr_name, attr_value_type(op->arena, (int)value));
}

static bool check_num_dims(const char *attr, int num_dims, Status *status) {
  if (num_dims <= MAX_DIMS) return true;
  return status_invalid(status, "Value specified for `%s` has %d dimensions which is over the limit of %d.",
                        attr, num_dims, MAX_DIMS);
}

void TFE_OpSetAttrShape(TFE_Op *op, const char *attr_name, const int64_t *dims, const int num_dims,
                        TF_Status *out_status) {
  start_status(out_status);
  if (check_num_dims(attr_name, num_dims, &out_status->status))
    set_attr(op, attr_name, attr_value_shape(op->arena, num_dims, dims));
}

/* ---- lists ---- */

void TFE_OpSetAttrStringList(TFE_Op *op, const char *attr_name, const void *const *values,
                             const size_t *lengths, int num_values) {
  set_attr(op, attr_name, attr_of_strings(op->arena, values, lengths, num_values));
}

void TFE_OpSetAttrIntList(TFE_Op *op, const char *attr_name, const int64_t *values, int num_values) {
  set_attr(op, attr_name, attr_value_int_list(op->arena, values, (size_t)num_values));
}

void TFE_OpSetAttrFloatList(TFE_Op *op, const char *attr_name, const float *values, int num_values) {
  set_attr(op, attr_name, attr_value_float_list(op->arena, values, (size_t)num_values));
}

void TFE_OpSetAttrBoolList(TFE_Op *op, const char *attr_name, const unsigned char *values, int num_values) {
  set_attr(op, attr_name, attr_of_bools(op->arena, values, num_values));
}

void TFE_OpSetAttrTypeList(TFE_Op *op, const char *attr_name, const TF_DataType *values, int num_values) {
  set_attr(op, attr_name, attr_of_types(op->arena, values, num_values));
}

void TFE_OpSetAttrShapeList(TFE_Op *op, const char *attr_name, const int64_t **dims, const int *num_dims,
                            int num_values, TF_Status *out_status) {
  start_status(out_status);
  for (int i = 0; i < num_values; i++) {
    if (!check_num_dims(attr_name, num_dims[i], &out_status->status)) return;
  }
  set_attr(op, attr_name, attr_of_shapes(op->arena, (const int64_t *const *)dims, num_dims, num_values));
}

/* ---- tensors and functions ---- */

void TFE_OpSetAttrTensor(TFE_Op *op, const char *attr_name, TF_Tensor *tensor, TF_Status *status) {
  TensorProto *proto;
  start_status(status);
  if (tensor_to_proto(&tensor->tensor, op->arena, &proto, &status->status))
    set_attr(op, attr_name, attr_value_tensor(op->arena, proto));
}

static NameAttrList *function_of(Arena *arena, const TFE_Op *value) {
  Status ignored;
  status_init(&ignored);
  AttrValue *function = attr_value_func(arena, value->def->op, NULL);
  for (size_t i = 0; function && i < value->def->n_attr; i++) {
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, arena);
    if (!entry) return NULL;
    entry->key = arena_strdup(arena, value->def->attr[i]->key);
    entry->value = proto_copy(value->def->attr[i]->value, arena);
    if (!entry->key || !entry->value ||
        !proto_append(arena, (void ***)&function->func->attr, &function->func->n_attr, entry, &ignored))
      return NULL;
  }
  return function ? function->func : NULL;
}

void TFE_OpSetAttrFunction(TFE_Op *op, const char *attr_name, const TFE_Op *value) {
  AttrValue *attr = proto_new(kAttrValue, op->arena);
  NameAttrList *function = attr ? function_of(op->arena, value) : NULL;
  if (function) {
    attr->value_case = (int)ATTR_FUNC;
    attr->func = function;
  }
  set_attr(op, attr_name, function ? attr : NULL);
}

void TFE_OpSetAttrFunctionName(TFE_Op *op, const char *attr_name, const char *data, size_t length) {
  char *name = arena_strndup(op->arena, data, length);
  set_attr(op, attr_name, name ? attr_value_func(op->arena, name, NULL) : NULL);
}

void TFE_OpSetAttrFunctionList(TFE_Op *op, const char *attr_name, const TFE_Op **value, int num_values) {
  AttrValue *attr = attr_value_int_list(op->arena, NULL, 0); /* an empty list of any kind */
  Status ignored;
  status_init(&ignored);
  bool ok = attr;
  for (int i = 0; ok && i < num_values; i++) {
    NameAttrList *function = function_of(op->arena, value[i]);
    ok = function &&
         proto_append(op->arena, (void ***)&attr->list->func, &attr->list->n_func, function, &ignored);
  }
  set_attr(op, attr_name, ok ? attr : NULL);
}

/* ---- all attrs ---- */

/* TFE_OpAttrs is the op itself. */
static const TFE_Op *op_of(const TFE_OpAttrs *attrs) { return (const TFE_Op *)attrs; }

const TFE_OpAttrs *TFE_OpGetAttrs(const TFE_Op *op) { return (const TFE_OpAttrs *)op; }

void TFE_OpAddAttrs(TFE_Op *op, const TFE_OpAttrs *attrs) {
  const NodeDef *def = op_of(attrs)->def;
  for (size_t i = 0; i < def->n_attr; i++)
    set_attr(op, def->attr[i]->key, proto_copy(def->attr[i]->value, op->arena));
}

static bool serialize(const TFE_Op *op, Arena *arena, TF_Buffer *buf, Status *status) {
  if (!arena || op->failed) return status_oom(status, "attrs");
  TFE_Op whole = {.def = proto_copy(op->def, arena)};
  if (!whole.def) return status_oom(status, "attrs");
  TRY(node_def_add_defaults(whole.def, op->op->def, arena, status));
  NameAttrList *list = function_of(arena, &whole);
  return list ? fill_buffer_with_message(list, buf, status) : status_oom(status, "attrs");
}

void TFE_OpAttrsSerialize(const TFE_OpAttrs *attrs, TF_Buffer *buf, TF_Status *status) {
  Arena *arena = arena_new();
  start_status(status);
  reported(serialize(op_of(attrs), arena, buf, &status->status));
  arena_free(arena);
}

void TFE_OpSetAttrValueProto(const TFE_Op *op, const char *attr_name, const void *proto, size_t proto_len,
                             TF_Status *status) {
  void *value;
  start_status(status);
  if (parse_given(kAttrValue, proto, proto_len, "Unparseable AttrValue proto", op->arena, &value,
                  &status->status))
    set_attr((TFE_Op *)op, attr_name, value);
}
