/* Functions and attr values as recorded facts write them. */
#ifndef TFCORE_TESTS_FUNCTION_FUNCTION_JSON_H_
#define TFCORE_TESTS_FUNCTION_FUNCTION_JSON_H_

#include <string.h>

#include "function/function_def_builder.h"
#include "op/node_def.h"
#include "op/op_facts.h"
#include "op/op_registry.h"

static inline AttrValue *make_value(const Json *json, Arena *arena);

static inline AttrValue *make_func(const Json *json, Arena *arena) {
  Status status;
  status_init(&status);
  NameAttrList *func = proto_new(&tensorflow__name_attr_list__descriptor, arena);
  const Json *attrs = json_get(json, "attr");
  for (int i = 0; i < attrs->count; i++) {
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, arena);
    entry->key = attrs->keys[i];
    entry->value = make_value(&attrs->items[i], arena);
    CHECK_OK(proto_append(arena, (void ***)&func->attr, &func->n_attr, entry, &status), &status);
  }
  return attr_value_func(arena, fact_text(json, "name"), func);
}

/* A scalar. */
static inline AttrValue *make_tensor(const Json *json, Arena *arena) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  TensorProto *proto = NULL;
  const char *dtype = fact_text(json, "dtype");
  const Json *value = &json_get(json, "values")->items[0];
  CHECK_INT_EQ(json_get(json, "shape")->count, 0);
  DataType type = strcmp(dtype, "int64") == 0 ? DT_INT64 : strcmp(dtype, "int32") == 0 ? DT_INT32 : DT_FLOAT;
  CHECK_STR_EQ(dtype, dtype_name(type));
  if (!CHECK_OK(tensor_allocate_dims(&tensor, type, 0, NULL, NULL, &status), &status)) return NULL;
  if (type == DT_INT64) tensor_i64(&tensor)[0] = value->integer;
  if (type == DT_INT32) tensor_i32(&tensor)[0] = (int32_t)value->integer;
  if (type == DT_FLOAT) tensor_f32(&tensor)[0] = (float)value->number;
  CHECK_OK(tensor_to_proto(&tensor, arena, &proto, &status), &status);
  tensor_clear(&tensor);
  return attr_value_tensor(arena, proto);
}

static inline int type_number(const char *enum_name) {
  for (int i = 0; i < NUM_DTYPES; i++) {
    if (strcmp(dtype_enum_name(i), enum_name) == 0) return i;
  }
  return DT_INVALID;
}

static inline AttrValue *make_value(const Json *json, Arena *arena) {
  const char *field = json->keys[0];
  const Json *value = &json->items[0];
  if (strcmp(field, "s") == 0) return attr_value_string(arena, value->string, strlen(value->string));
  if (strcmp(field, "i") == 0) return attr_value_int(arena, value->integer);
  if (strcmp(field, "b") == 0) return attr_value_bool(arena, value->boolean);
  if (strcmp(field, "type") == 0) return attr_value_type(arena, type_number(value->string));
  if (strcmp(field, "placeholder") == 0) return attr_value_placeholder(arena, value->string);
  if (strcmp(field, "tensor") == 0) return make_tensor(value, arena);
  if (strcmp(field, "func") == 0) return make_func(value, arena);
  if (strcmp(field, "shape") == 0) {
    CHECK_INT_EQ(value->count, 0); /* scalars alone */
    return fact_parse(kAttrValue, "shape { }", arena);
  }
  const Json *types = json_get(value, "type");
  int numbers[8];
  CHECK(strcmp(field, "list") == 0 && types != NULL && types->count <= 8);
  for (int i = 0; types != NULL && i < types->count && i < 8; i++)
    numbers[i] = type_number(types->items[i].string);
  return attr_value_type_list(arena, numbers, types == NULL ? 0 : (size_t)types->count);
}

static inline void add_attrs(NodeDef *node, const Json *attrs, Arena *arena) {
  Status status;
  status_init(&status);
  for (int i = 0; attrs != NULL && i < attrs->count; i++) {
    CHECK_OK(node_def_set_attr(node, arena, attrs->keys[i], make_value(&attrs->items[i], arena), &status),
             &status);
  }
}

static inline FunctionReturn *make_returns(const Json *json, Arena *arena) {
  FunctionReturn *returns = arena_calloc(arena, json == NULL ? 1 : json->count + 1, sizeof *returns);
  for (int i = 0; json != NULL && i < json->count; i++)
    returns[i] = (FunctionReturn){json->keys[i], json->items[i].string};
  return returns;
}

static inline FunctionNode make_node(const Json *json, Arena *arena) {
  const Json *attrs = json_get(json, "attr");
  FunctionAttr *values = arena_calloc(arena, attrs->count + 1, sizeof *values);
  for (int i = 0; i < attrs->count; i++)
    values[i] = (FunctionAttr){attrs->keys[i], make_value(&attrs->items[i], arena)};
  return (FunctionNode){.rets = fact_strings(json_get(json, "ret"), arena),
                        .op = fact_text(json, "op"),
                        .args = fact_strings(json_get(json, "arg"), arena),
                        .attrs = values,
                        .num_attrs = attrs->count,
                        .deps = fact_strings(json_get(json, "dep"), arena),
                        .device = fact_text(json, "device")};
}

static inline void add_function_attrs(FunctionDef *function, const Json *attrs, Arena *arena) {
  Status status;
  status_init(&status);
  for (int i = 0; attrs != NULL && i < attrs->count; i++) {
    Tensorflow__FunctionDef__AttrEntry *entry =
        proto_new(&tensorflow__function_def__attr_entry__descriptor, arena);
    entry->key = attrs->keys[i];
    entry->value = make_value(&attrs->items[i], arena);
    CHECK_OK(proto_append(arena, (void ***)&function->attr, &function->n_attr, entry, &status), &status);
  }
}

static inline FunctionDef *make_function(const Json *json, Arena *arena) {
  Status status;
  status_init(&status);
  const Json *nodes = json_get(json, "nodes"), *ret = json_get(json, "ret"),
             *control_ret = json_get(json, "control_ret");
  FunctionNode *made = arena_calloc(arena, nodes->count + 1, sizeof *made);
  for (int i = 0; i < nodes->count; i++) made[i] = make_node(&nodes->items[i], arena);
  const FunctionSpec spec = {.name = fact_text(json, "name"),
                             .args = fact_strings(json_get(json, "args"), arena),
                             .rets = fact_strings(json_get(json, "rets"), arena),
                             .attrs = fact_strings(json_get(json, "attrs"), arena),
                             .nodes = made,
                             .num_nodes = nodes->count,
                             .returns = make_returns(ret, arena),
                             .num_returns = ret == NULL ? 0 : ret->count,
                             .control_returns = make_returns(control_ret, arena),
                             .num_control_returns = control_ret == NULL ? 0 : control_ret->count};
  bool define = strcmp(fact_text(json, "mode"), "define") == 0;
  CHECK(define || strcmp(fact_text(json, "mode"), "create") == 0);
  FunctionDef *function = NULL;
  CHECK_OK((define ? function_define : function_create)(&spec, NULL, arena, &function, &status), &status);
  if (function != NULL) add_function_attrs(function, json_get(json, "function_attr"), arena);
  return function;
}

#endif
