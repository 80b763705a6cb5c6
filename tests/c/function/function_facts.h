/* Functions and attr values described by recorded facts. */
#ifndef TFCORE_TESTS_FUNCTION_FUNCTION_FACTS_H_
#define TFCORE_TESTS_FUNCTION_FUNCTION_FACTS_H_

#include <stdlib.h>
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

static inline TensorProto *make_tensor(const Json *json, Arena *arena) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  TensorProto *proto = NULL;
  const Json *shape = json_get(json, "shape"), *values = json_get(json, "values");
  const char *dtype = fact_text(json, "dtype");
  int64_t dims[4];
  CHECK(shape->count <= 4);
  for (int i = 0; i < shape->count && i < 4; i++) dims[i] = shape->items[i].integer;
  DataType type = strcmp(dtype, "int64") == 0 ? DT_INT64 : strcmp(dtype, "int32") == 0 ? DT_INT32 : DT_FLOAT;
  CHECK(type != DT_FLOAT || strcmp(dtype, "float") == 0);
  CHECK_OK(tensor_allocate_dims(&tensor, type, shape->count, dims, NULL, &status), &status);
  CHECK_INT_EQ(tensor_num_elements(&tensor), values->count);
  for (int i = 0; i < values->count; i++) {
    if (type == DT_INT64) tensor_i64(&tensor)[i] = values->items[i].integer;
    if (type == DT_INT32) tensor_i32(&tensor)[i] = (int32_t)values->items[i].integer;
    if (type == DT_FLOAT) tensor_f32(&tensor)[i] = (float)values->items[i].number;
  }
  CHECK_OK(tensor_to_proto(&tensor, arena, &proto, &status), &status);
  tensor_clear(&tensor);
  return proto;
}

static inline int type_number(const char *enum_name) {
  for (int i = 0; i < NUM_DTYPES; i++) {
    if (strcmp(dtype_enum_name(i), enum_name) == 0) return i;
  }
  return DT_INVALID;
}

static inline AttrValue *make_shape(const Json *json, Arena *arena) {
  int64_t dims[8];
  CHECK(json->kind != JSON_ARRAY || json->count <= 8);
  for (int i = 0; json->kind == JSON_ARRAY && i < json->count && i < 8; i++) dims[i] = json->items[i].integer;
  return attr_value_shape(arena, json->kind == JSON_ARRAY ? json->count : -1, dims);
}

static inline AttrValue *make_value(const Json *json, Arena *arena) {
  const char *field = json->keys[0];
  const Json *value = &json->items[0];
  if (strcmp(field, "s") == 0) return attr_value_string(arena, value->string, strlen(value->string));
  if (strcmp(field, "i") == 0) return attr_value_int(arena, value->integer);
  if (strcmp(field, "f") == 0) return attr_value_float(arena, (float)value->number);
  if (strcmp(field, "b") == 0) return attr_value_bool(arena, value->boolean);
  if (strcmp(field, "type") == 0) return attr_value_type(arena, type_number(value->string));
  if (strcmp(field, "placeholder") == 0) return attr_value_placeholder(arena, value->string);
  if (strcmp(field, "tensor") == 0) return attr_value_tensor(arena, make_tensor(value, arena));
  if (strcmp(field, "shape") == 0) return make_shape(value, arena);
  if (strcmp(field, "func") == 0) return make_func(value, arena);
  const Json *types = json_get(value, "type");
  int numbers[8];
  CHECK(strcmp(field, "list") == 0 && types && types->count <= 8);
  for (int i = 0; types && i < types->count && i < 8; i++) numbers[i] = type_number(types->items[i].string);
  return attr_value_type_list(arena, numbers, !types ? 0 : (size_t)types->count);
}

static inline void add_attrs(NodeDef *node, const Json *attrs, Arena *arena) {
  Status status;
  status_init(&status);
  for (int i = 0; attrs && i < attrs->count; i++) {
    CHECK_OK(node_def_set_attr(node, arena, attrs->keys[i], make_value(&attrs->items[i], arena), &status),
             &status);
  }
}

static inline FunctionReturn *make_returns(const Json *json, Arena *arena) {
  FunctionReturn *returns = arena_calloc(arena, !json ? 1 : json->count + 1, sizeof *returns);
  for (int i = 0; json && i < json->count; i++)
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
  for (int i = 0; attrs && i < attrs->count; i++) {
    Tensorflow__FunctionDef__AttrEntry *entry =
        proto_new(&tensorflow__function_def__attr_entry__descriptor, arena);
    entry->key = attrs->keys[i];
    entry->value = make_value(&attrs->items[i], arena);
    CHECK_OK(proto_append(arena, (void ***)&function->attr, &function->n_attr, entry, &status), &status);
  }
}

/* Ops are looked up in `library`, or in the process's registry if it is NULL. */
static inline FunctionDef *make_function_with(const Json *json, const FunctionLibraryDefinition *library,
                                              Arena *arena) {
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
                             .num_returns = !ret ? 0 : ret->count,
                             .control_returns = make_returns(control_ret, arena),
                             .num_control_returns = !control_ret ? 0 : control_ret->count};
  bool define = strcmp(fact_text(json, "mode"), "define") == 0;
  CHECK(define || strcmp(fact_text(json, "mode"), "create") == 0);
  FunctionDef *function = NULL;
  CHECK_OK((define ? function_define : function_create)(&spec, library, arena, &function, &status), &status);
  if (function) add_function_attrs(function, json_get(json, "function_attr"), arena);
  return function;
}

static inline FunctionDef *make_function(const Json *json, Arena *arena) {
  return make_function_with(json, NULL, arena);
}

#endif
