/* Equality of OpDefs. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_def_builder.h"

static bool values_equal(const AttrValue *a, const AttrValue *b) {
  return a && b ? attr_value_equal(a, b) : a == b;
}

bool attr_def_equal(const AttrDef *a, const AttrDef *b) {
  return strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 &&
         strcmp(a->description, b->description) == 0 && !a->has_minimum == !b->has_minimum &&
         (!a->has_minimum || a->minimum == b->minimum) && values_equal(a->default_value, b->default_value) &&
         values_equal(a->allowed_values, b->allowed_values);
}

static const AttrDef *find(AttrDef *const *attrs, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(attrs[i]->name, name) == 0) return attrs[i];
  }
  return NULL;
}

bool attr_defs_equal(AttrDef *const *a, size_t num_a, AttrDef *const *b, size_t num_b) {
  if (num_a != num_b) return false;
  for (size_t i = 0; i < num_a; i++) {
    /* Usually the order is the same, and no search is needed. */
    const AttrDef *match = strcmp(a[i]->name, b[i]->name) == 0 ? b[i] : find(b, num_b, a[i]->name);
    if (!match || !attr_def_equal(a[i], match)) return false;
  }
  return true;
}

bool op_def_equal(const OpDef *a, const OpDef *b) {
  if (!attr_defs_equal(a->attr, a->n_attr, b->attr, b->n_attr)) return false;
  OpDef a_without = *a, b_without = *b;
  a_without.n_attr = b_without.n_attr = 0;
  return proto_equal(&a_without, &b_without);
}
