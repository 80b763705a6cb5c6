/* AttrValues of the arrays that callers pass. */
#include "c_api/c_api_internal.h"

AttrValue *attr_of_strings(Arena *arena, const void *const *values, const size_t *lengths, int count) {
  Str *strings = arena_calloc(arena, count, sizeof *strings);
  for (int i = 0; strings && i < count; i++) strings[i] = (Str){values[i], lengths[i]};
  return strings ? attr_value_string_list(arena, strings, (size_t)count) : NULL;
}

AttrValue *attr_of_bools(Arena *arena, const unsigned char *values, int count) {
  bool *bools = arena_calloc(arena, count, sizeof *bools);
  for (int i = 0; bools && i < count; i++) bools[i] = values[i] != 0;
  return bools ? attr_value_bool_list(arena, bools, (size_t)count) : NULL;
}

AttrValue *attr_of_types(Arena *arena, const TF_DataType *values, int count) {
  int *types = arena_calloc(arena, count, sizeof *types);
  for (int i = 0; types && i < count; i++) types[i] = (int)values[i];
  return types ? attr_value_type_list(arena, types, (size_t)count) : NULL;
}

AttrValue *attr_of_shapes(Arena *arena, const int64_t *const *dims, const int *num_dims, int count) {
  const TensorShapeProto **shapes = arena_calloc(arena, count, sizeof *shapes);
  for (int i = 0; shapes && i < count; i++) {
    AttrValue *shape = attr_value_shape(arena, num_dims[i], dims[i]);
    if (!shape) return NULL;
    shapes[i] = shape->shape;
  }
  return shapes ? attr_value_shape_list(arena, shapes, (size_t)count) : NULL;
}
