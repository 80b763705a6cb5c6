/* Placeholders in attr values: `$T` in the body of a function stands for the function's attr T. */
#include "op/node_def.h"

static bool has_placeholder(const AttrValue *value, int depth);

static bool func_has_placeholder(const NameAttrList *func, int depth) {
  for (size_t i = 0; i < func->n_attr; i++) {
    if (has_placeholder(func->attr[i]->value, depth + 1)) return true;
  }
  return false;
}

static bool has_placeholder(const AttrValue *value, int depth) {
  if (depth > PROTO_MAX_DEPTH) return false;
  switch ((AttrKind)value->value_case) {
    case ATTR_PLACEHOLDER: return true;
    case ATTR_FUNC: return func_has_placeholder(value->func, depth);
    case ATTR_LIST:
      for (size_t i = 0; i < value->list->n_func; i++) {
        if (func_has_placeholder(value->list->func[i], depth)) return true;
      }
      return false;
    default: return false;
  }
}

bool attr_value_has_placeholder(const AttrValue *value) { return has_placeholder(value, 0); }

typedef struct Substitution {
  PlaceholderFn find;
  void *arg;
  const AttrValue *whole; /* for messages */
  Status *status;
} Substitution;

static bool unbound(const Substitution *substitution) {
  StrBuf text = {0};
  attr_value_summarize(substitution->whole, &text);
  if (strbuf_ok(&text, substitution->status)) {
    status_invalid(substitution->status, "Failed to bind all placeholders in %s", strbuf_text(&text));
  }
  strbuf_free(&text);
  return false;
}

static bool replace_in_func(const Substitution *substitution, NameAttrList *func, int depth);

/* Substitutes inside `*slot`, whose messages are copies. */
static bool replace(const Substitution *substitution, AttrValue **slot, int depth) {
  AttrValue *value = *slot;
  if (depth > PROTO_MAX_DEPTH) return unbound(substitution);
  switch ((AttrKind)value->value_case) {
    case ATTR_PLACEHOLDER: {
      const AttrValue *found = substitution->find(substitution->arg, value->placeholder);
      if (!found) return unbound(substitution);
      *slot = (AttrValue *)found; /* shared, because attr values in use are immutable */
      return true;
    }
    case ATTR_FUNC: return replace_in_func(substitution, value->func, depth);
    case ATTR_LIST:
      for (size_t i = 0; i < value->list->n_func; i++)
        TRY(replace_in_func(substitution, value->list->func[i], depth));
      return true;
    default: return true;
  }
}

static bool replace_in_func(const Substitution *substitution, NameAttrList *func, int depth) {
  for (size_t i = 0; i < func->n_attr; i++) TRY(replace(substitution, &func->attr[i]->value, depth + 1));
  return true;
}

bool attr_value_substitute(const AttrValue *value, PlaceholderFn find, void *arg, Arena *arena,
                           const AttrValue **out, Status *status) {
  AttrValue *copy = (AttrValue *)value;
  if (attr_value_has_placeholder(value)) {
    Substitution substitution = {find, arg, value, status};
    /* A bare placeholder, by far the most frequent case, needs no copy. */
    if ((AttrKind)value->value_case != ATTR_PLACEHOLDER) copy = proto_copy(value, arena);
    if (!copy) return status_oom(status, "an attr value");
    TRY(replace(&substitution, &copy, 0));
  }
  *out = copy;
  return true;
}
