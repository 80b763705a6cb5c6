/* Values for attrs and tensors. */
#include <string.h>

#include "fuzz/graph_mutation.h"
#include "op/op_registry.h"

enum { MAX_LIST = 3, MAX_RANK = 4 };

const OpDef *random_op(Random *random) {
  OpRegistry *ops = op_registry_global();
  const Op *op = op_registry_find(ops, op_registry_name(ops, random_below(random, op_registry_count(ops))));
  return op->def;
}

static int random_type(const AttrDef *attr, Random *random) {
  static const int usual[] = {DT_FLOAT,     DT_FLOAT, DT_FLOAT,    DT_INT32,    DT_INT32,
                              DT_DOUBLE,    DT_INT64, DT_BOOL,     DT_STRING,   DT_HALF,
                              DT_COMPLEX64, DT_UINT8, DT_BFLOAT16, DT_RESOURCE, DT_VARIANT};
  const AttrListValue *allowed = attr && attr->allowed_values ? attr->allowed_values->list : NULL;
  if (one_in(random, 40)) return random_below(random, 130);
  if (allowed && allowed->n_type > 0 && one_in(random, 2))
    return (int)allowed->type[random_below(random, (int)allowed->n_type)];
  return usual[random_below(random, sizeof usual / sizeof *usual)];
}

static int random_shape_dims(Random *random, int64_t dims[MAX_RANK]) {
  int rank = random_below(random, MAX_RANK + 2) - 1;
  for (int i = 0; i < rank; i++) dims[i] = one_in(random, 3) ? -1 : random_below(random, 4);
  if (rank > 0 && one_in(random, 30)) dims[0] = random_int(random);
  return rank;
}

static AttrValue *random_tensor_value(Arena *arena, Random *random) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  TensorProto *proto = NULL;
  int64_t dims[RANDOM_MAX_RANK];
  int rank = random_below(random, 4), type = random_type(NULL, random);
  random_dims(random, rank, dims);
  bool ok = dtype_is_valid(type) && !dtype_is_ref(type) &&
            fill_random_tensor(random, (DataType)type, rank, dims, &tensor, &status) &&
            tensor_to_proto(&tensor, arena, &proto, &status);
  tensor_clear(&tensor);
  return ok ? attr_value_tensor(arena, proto) : NULL;
}

static AttrValue *random_string(const AttrDef *attr, Arena *arena, Random *random) {
  static const char *const texts[] = {"",         "SAME", "VALID",  "NHWC",    "NCHW",
                                      "EXPLICIT", "a",    "loc:@a", "REFLECT", "left"};
  const AttrListValue *allowed = attr->allowed_values ? attr->allowed_values->list : NULL;
  if (allowed && allowed->n_s > 0 && !one_in(random, 30)) {
    int i = random_below(random, (int)allowed->n_s);
    return attr_value_string(arena, allowed->s[i].data, allowed->s[i].len);
  }
  const char *text = texts[random_below(random, sizeof texts / sizeof *texts)];
  return attr_value_string(arena, text, strlen(text));
}

static AttrValue *random_list(const char *kind, const AttrDef *attr, Arena *arena, Random *random) {
  int count = random_below(random, MAX_LIST + 2), types[MAX_LIST + 1];
  int64_t ints[MAX_LIST + 1], dims[MAX_RANK];
  float floats[MAX_LIST + 1];
  bool bools[MAX_LIST + 1];
  Str strings[MAX_LIST + 1];
  for (int i = 0; i < count; i++) {
    types[i] = random_type(attr, random);
    ints[i] = one_in(random, 10) ? random_int(random) : 1 + random_below(random, 2);
    floats[i] = (float)random_below(random, 3);
    bools[i] = one_in(random, 2);
    strings[i] = str_of(one_in(random, 2) ? "a" : "");
  }
  if (strncmp(kind, "type", 4) == 0) return attr_value_type_list(arena, types, (size_t)count);
  if (strncmp(kind, "int", 3) == 0) return attr_value_int_list(arena, ints, (size_t)count);
  if (strncmp(kind, "float", 5) == 0) return attr_value_float_list(arena, floats, (size_t)count);
  if (strncmp(kind, "bool", 4) == 0) return attr_value_bool_list(arena, bools, (size_t)count);
  if (strncmp(kind, "string", 6) == 0) return attr_value_string_list(arena, strings, (size_t)count);
  AttrValue *shape = attr_value_shape(arena, random_shape_dims(random, dims), dims);
  const TensorShapeProto *shapes[MAX_LIST + 1];
  for (int i = 0; shape && i < count; i++) shapes[i] = shape->shape;
  return shape && strncmp(kind, "shape", 5) == 0 ? attr_value_shape_list(arena, shapes, (size_t)count) : NULL;
}

AttrValue *random_attr_value(const AttrDef *attr, Arena *arena, Random *random) {
  const char *kind = attr->type;
  int64_t dims[MAX_RANK];
  if (strncmp(kind, "list(", 5) == 0) return random_list(kind + 5, attr, arena, random);
  if (strcmp(kind, "type") == 0) return attr_value_type(arena, random_type(attr, random));
  if (strcmp(kind, "int") == 0)
    return attr_value_int(arena, one_in(random, 8) ? random_int(random) : 1 + random_below(random, 3));
  if (strcmp(kind, "float") == 0) return attr_value_float(arena, (float)random_double(random));
  if (strcmp(kind, "bool") == 0) return attr_value_bool(arena, one_in(random, 2));
  if (strcmp(kind, "string") == 0) return random_string(attr, arena, random);
  if (strcmp(kind, "shape") == 0) return attr_value_shape(arena, random_shape_dims(random, dims), dims);
  if (strcmp(kind, "tensor") == 0) return random_tensor_value(arena, random);
  if (strcmp(kind, "func") == 0)
    return attr_value_func(arena, one_in(random, 2) ? "f" : random_op(random)->name, NULL);
  return NULL;
}
