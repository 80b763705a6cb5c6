#include "ops/parsing/feature_specs.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/support/shape_pattern.h"

enum { ATTR_NAME_CAPACITY = 64 };

/* The lists of a group; a missing attr is an empty list. */
typedef struct GroupLists {
  const AttrListValue *sparse, *dense, *shapes, *ragged, *splits;
} GroupLists;

static bool read_list(const NodeDef *node, const char *prefix, const char *name, AttrKind kind,
                      const AttrListValue **list, Status *status) {
  static const AttrListValue kEmpty = TENSORFLOW__ATTR_VALUE__LIST_VALUE__INIT;
  char full[ATTR_NAME_CAPACITY];
  snprintf(full, sizeof full, "%s%s", prefix, name);
  TRY(node_attr_list(node, full, kind, list, status));
  if (!*list) *list = &kEmpty;
  return true;
}

static bool read_lists(const NodeDef *node, const FeatureAttrs *attrs, GroupLists *lists, Status *status) {
  static const AttrListValue kEmpty = TENSORFLOW__ATTR_VALUE__LIST_VALUE__INIT;
  lists->ragged = lists->splits = &kEmpty;
  TRY(read_list(node, attrs->prefix, "sparse_types", ATTR_TYPE, &lists->sparse, status));
  TRY(read_list(node, "", attrs->dense_types, ATTR_TYPE, &lists->dense, status));
  TRY(read_list(node, attrs->prefix, "dense_shapes", ATTR_SHAPE, &lists->shapes, status));
  if (!attrs->has_ragged) return true;
  TRY(read_list(node, attrs->prefix, "ragged_value_types", ATTR_TYPE, &lists->ragged, status));
  return read_list(node, attrs->prefix, "ragged_split_types", ATTR_TYPE, &lists->splits, status);
}

/* --- the sizes of the lists --- */

/* The declared number, or that of the list. */
static bool read_number(const NodeDef *node, const char *attr, size_t listed, int64_t *number,
                        Status *status) {
  *number = (int64_t)listed;
  return !attr || node_attr_int(node, attr, number, status);
}

static bool check_size(const FeatureAttrs *attrs, const char *kind, const char *list, int64_t number,
                       size_t size, Status *status) {
  if (number == (int64_t)size) return true;
  const char *prefix = attrs->prefix;
  if (!attrs->says_numbers)
    return status_invalid(status, "len(%s%s_keys) != len(%s%s)", prefix, kind, prefix, list);
  return status_invalid(status, "num_%s%s (%lld) must match the size of %s%s (%zu)", prefix, kind,
                        (long long)number, prefix, list, size);
}

/* Two lists that belong together. */
static bool check_sizes(const FeatureAttrs *attrs, const char *kind, const char *lists[2], int64_t number,
                        const size_t sizes[2], Status *status) {
  if (!attrs->says_numbers)
    return check_size(attrs, kind, lists[0], number, sizes[0], status) &&
           check_size(attrs, kind, lists[1], number, sizes[1], status);
  if (number == (int64_t)sizes[0] && number == (int64_t)sizes[1]) return true;
  const char *prefix = attrs->prefix;
  return status_invalid(status, "num_%s%s (%lld) must match the size of %s%s (%zu) and %s%s (%zu)", prefix,
                        kind, (long long)number, prefix, lists[0], sizes[0], prefix, lists[1], sizes[1]);
}

static bool check_lists(const NodeDef *node, const FeatureAttrs *attrs, const GroupLists *lists,
                        Status *status) {
  int64_t num_sparse, num_dense;
  TRY(read_number(node, attrs->num_sparse, lists->sparse->n_type, &num_sparse, status));
  TRY(read_number(node, attrs->num_dense, lists->dense->n_type, &num_dense, status));
  TRY(check_size(attrs, "sparse", "sparse_types", num_sparse, lists->sparse->n_type, status));
  TRY(check_sizes(attrs, "dense", (const char *[]){"dense_types", "dense_shapes"}, num_dense,
                  (size_t[]){lists->dense->n_type, lists->shapes->n_shape}, status));
  return check_sizes(attrs, "ragged", (const char *[]){"ragged_value_types", "ragged_split_types"},
                     (int64_t)lists->ragged->n_type, (size_t[]){lists->ragged->n_type, lists->splits->n_type},
                     status);
}

/* --- shapes --- */

static bool has_known_rows(const TensorShapeProto *shape) {
  bool known = !shape->unknown_rank;
  for (size_t d = 1; known && d < shape->n_dim; d++) known = shape->dim[d]->size >= 0;
  return known;
}

static bool read_partial_shape(int i, const TensorShapeProto *shape, FeatureSpec *spec, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!has_known_rows(shape))
    return status_invalid(status, "dense_shapes[%d] has unknown rank or unknown inner dimensions: %s", i,
                          partial_shape_text(shape, text));
  spec->variable_length = shape->n_dim > 0 && shape->dim[0]->size < 0;
  if (!spec->variable_length) return shape_check_proto(shape, &spec->stride, status);
  spec->stride = 1;
  for (size_t d = 1; d < shape->n_dim; d++) {
    if (__builtin_mul_overflow(spec->stride, shape->dim[d]->size, &spec->stride))
      return status_invalid(status, "Shape %s has too many elements", partial_shape_text(shape, text));
  }
  return true;
}

static bool fill_specs(const FeatureAttrs *attrs, const GroupLists *lists, FeatureSpecs *group,
                       Status *status) {
  FeatureSpec *dense = feature_specs_dense(group), *ragged = feature_specs_ragged(group);
  for (int i = 0; i < group->num_sparse; i++) group->specs[i].dtype = (DataType)lists->sparse->type[i];
  for (int i = 0; i < group->num_ragged; i++) {
    ragged[i].dtype = (DataType)lists->ragged->type[i];
    ragged[i].splits_dtype = (DataType)lists->splits->type[i];
  }
  for (int i = 0; i < group->num_dense; i++) {
    dense[i].dtype = (DataType)lists->dense->type[i];
    dense[i].shape = lists->shapes->shape[i];
    TRY(attrs->has_partial_shapes ? read_partial_shape(i, dense[i].shape, &dense[i], status)
                                  : shape_check_proto(dense[i].shape, &dense[i].stride, status));
  }
  return true;
}

bool feature_specs_read(const NodeDef *node, const FeatureAttrs *attrs, Arena *arena, FeatureSpecs *group,
                        Status *status) {
  GroupLists lists;
  TRY(read_lists(node, attrs, &lists, status) && check_lists(node, attrs, &lists, status));
  group->num_sparse = (int)lists.sparse->n_type;
  group->num_dense = (int)lists.dense->n_type;
  group->num_ragged = (int)lists.ragged->n_type;
  group->specs = arena_calloc(arena, feature_specs_count(group), sizeof *group->specs);
  if (!group->specs) return status_oom(status, "the features of a node");
  return fill_specs(attrs, &lists, group, status);
}

bool feature_specs_attr_keys(const NodeDef *node, const char *attr, FeatureSpec *specs, int count,
                             Status *status) {
  const AttrListValue *keys;
  TRY(read_list(node, "", attr, ATTR_STRING, &keys, status));
  if (keys->n_s != (size_t)count)
    return status_invalid(status, "num_%.*s (%d) must match the size of %s (%zu)",
                          (int)(strlen(attr) - strlen("_keys")), attr, count, attr, keys->n_s);
  for (int i = 0; i < count; i++) specs[i].key = (Str){(const char *)keys->s[i].data, keys->s[i].len};
  return true;
}

bool feature_specs_copy(const FeatureSpecs *from, FeatureSpecs *to, Status *status) {
  int64_t bytes = feature_specs_count(from) * (int64_t)sizeof *from->specs;
  *to = *from;
  to->specs = mem_alloc(bytes);
  if (!to->specs) return status_oom(status, "the features of a node");
  if (bytes > 0) memcpy(to->specs, from->specs, (size_t)bytes);
  return true;
}
