/* Equality of OpDefs, and whether the defaults of attrs stayed the same from one version of an op to the next. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_def_builder.h"

static bool values_equal(const AttrValue *a, const AttrValue *b) {
  return a && b ? attr_value_equal(a, b) : a == b;
}

bool attr_def_equal(const AttrDef *a, const AttrDef *b) {
  return strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 && strcmp(a->description, b->description) == 0 &&
         !a->has_minimum == !b->has_minimum && (!a->has_minimum || a->minimum == b->minimum) &&
         values_equal(a->default_value, b->default_value) && values_equal(a->allowed_values, b->allowed_values);
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
    /* As a rule the order is the same, and nothing has to be searched. */
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

static void append_default(const AttrDef *attr, StrBuf *out) {
  if (attr->default_value) {
    attr_value_summarize(attr->default_value, out);
  } else {
    strbuf_append(out, "no default");
  }
}

static bool default_changed(const AttrDef *from, const AttrDef *to, const char *what, Status *status) {
  StrBuf text = {0};
  append_default(from, &text);
  strbuf_append(&text, " to ");
  append_default(to, &text);
  status_invalid(status, "Attr '%s' has %s it's default; from %s", from->name, what, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

bool op_def_defaults_unchanged(const OpDef *old_op, const OpDef *new_op, Status *status) {
  for (size_t i = 0; i < old_op->n_attr; i++) {
    const AttrDef *from = old_op->attr[i], *to = op_def_attr(new_op, from->name);
    if (!to) continue;
    if (!from->default_value != !to->default_value) return default_changed(from, to, "added/removed", status);
    if (!values_equal(from->default_value, to->default_value)) return default_changed(from, to, "changed", status);
  }
  return true;
}
