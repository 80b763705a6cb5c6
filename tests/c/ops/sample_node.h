/* Nodes of any op, for tests of all ops. */
#ifndef TFCORE_TESTS_OPS_SAMPLE_NODE_H_
#define TFCORE_TESTS_OPS_SAMPLE_NODE_H_

#include <string.h>

#include "harness.h"
#include "op/node_def.h"
#include "op/op_registry.h"

/* The attr of a type that selects the kernel; NULL if there is none. */
static inline const AttrDef *kernel_type_attr(const Op *op) {
  for (size_t i = 0; i < op->def->n_attr; i++) {
    if (strcmp(op->def->attr[i]->type, "type") == 0) return op->def->attr[i];
  }
  return NULL;
}

static inline bool attr_allows(const AttrDef *attr, DataType type) {
  if (!attr->allowed_values || !attr->allowed_values->list) return true;
  for (size_t i = 0; i < attr->allowed_values->list->n_type; i++) {
    if ((int)attr->allowed_values->list->type[i] == (int)type) return true;
  }
  return false;
}

/* The other type of ops that split or combine complex numbers. */
static inline DataType type_beside(const char *attr, DataType type) {
  if (strcmp(attr, "Tout") != 0) return DT_INVALID;
  return type == DT_COMPLEX64    ? DT_FLOAT
         : type == DT_COMPLEX128 ? DT_DOUBLE
         : type == DT_DOUBLE     ? DT_COMPLEX128
                                 : DT_INVALID;
}

/* The first allowed type. */
static inline AttrValue *some_string(const AttrDef *attr, Arena *arena) {
  if (!attr->allowed_values || attr->allowed_values->list->n_s == 0)
    return attr_value_string(arena, "text", 4);
  return attr_value_string(arena, attr->allowed_values->list->s[0].data,
                           attr->allowed_values->list->s[0].len);
}

/* A node of the op with a legal value for each attr, for gradients that depend on them. Bit k of `variant`
 * flips the k-th bool attr; `type` selects the kernel. NULL if the op has attrs for which no value can be
 * generated. */
static inline NodeDef *sample_node(const Op *op, unsigned variant, DataType type, Arena *arena) {
  Status status;
  status_init(&status);
  NodeDef *node = node_def_new(arena, "n", op->def->name);
  const AttrDef *chooser = kernel_type_attr(op);
  int bools = 0;
  for (size_t i = 0; i < op->def->n_attr; i++) {
    const AttrDef *attr = op->def->attr[i];
    AttrValue *value = NULL;
    if (strcmp(attr->type, "bool") == 0) {
      value = attr_value_bool(arena, variant >> bools++ & 1);
    } else if (attr == chooser) {
      value = attr_value_type(arena, type);
    } else if (strcmp(attr->type, "type") == 0 && type_beside(attr->name, type) != DT_INVALID &&
               attr_allows(attr, type_beside(attr->name, type))) {
      value = attr_value_type(arena, type_beside(attr->name, type));
    } else if (!attr->default_value && strcmp(attr->type, "type") == 0) {
      value = attr_value_type(arena, attr_allows(attr, DT_FLOAT) ? DT_FLOAT
                                                                 : (int)attr->allowed_values->list->type[0]);
    } else if (!attr->default_value && strcmp(attr->type, "int") == 0) {
      value = attr_value_int(arena, attr->minimum > 3 ? attr->minimum : 3);
    } else if (!attr->default_value && strcmp(attr->type, "list(type)") == 0) {
      value = attr_value_type_list(arena, (int[]){DT_FLOAT, DT_INT32}, 2);
    } else if (!attr->default_value && strcmp(attr->type, "list(int)") == 0) {
      value = attr_value_int_list(arena, (int64_t[]){1, 1, 1, 1}, 4);
    } else if (!attr->default_value && strcmp(attr->type, "shape") == 0) {
      value = attr_value_shape(arena, 0, NULL);
    } else if (!attr->default_value && strcmp(attr->type, "float") == 0) {
      value = attr_value_float(arena, 1);
    } else if (!attr->default_value && strcmp(attr->type, "string") == 0) {
      value = some_string(attr, arena);
    } else if (!attr->default_value) {
      return NULL;
    } else {
      continue;
    }
    CHECK_OK(node_def_set_attr(node, arena, attr->name, value, &status), status);
  }
  return CHECK_OK(node_def_add_defaults(node, op->def, arena, &status), status) ? node : NULL;
}

#endif
