/* Binding the attrs of a function and of the nodes in its body. */
#include "function/instantiate_internal.h"

static const AttrValue *find_attr(const AttrEntry *const *attrs, int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(attrs[i]->key, name) == 0) return attrs[i]->value;
  }
  return NULL;
}

const AttrValue *instantiation_attr(const Instantiation *in, const char *name) {
  const AttrValue *value = find_attr(in->attrs, in->num_attrs, name);
  if (value) return value;
  const AttrDef *def = op_def_attr(in->function->signature, name);
  return !def ? NULL : def->default_value;
}

/* --- signature --- */

static bool has_type(const AttrValue *value, const char *type) {
  if (strcmp(type, "any") == 0) return true;
  if (value->value_case == (int)ATTR_NOT_SET) return text_starts_with(type, "list(");
  const char *kind = attr_value_kind_name(value);
  if (strcmp(kind, type) == 0) return true;
  if (value->value_case != (int)ATTR_LIST || !text_starts_with(type, "list(")) return false;
  const AttrListValue *list = value->list;
  return list->n_s + list->n_i + list->n_f + list->n_b + list->n_type + list->n_shape + list->n_tensor +
             list->n_func ==
         0;
}

bool instantiation_check_signature(Instantiation *in) {
  const OpDef *signature = in->function->signature;
  for (size_t i = 0; i < signature->n_attr; i++) {
    const AttrDef *def = signature->attr[i];
    const AttrValue *value = find_attr(in->attrs, in->num_attrs, def->name);
    if (!value && !def->default_value) {
      StrBuf text = {0};
      op_def_summarize(signature, &text);
      if (strbuf_ok(&text, in->status)) {
        status_set(in->status, CODE_NOT_FOUND, "Attr %s is not found from %s", def->name, strbuf_text(&text));
      }
      strbuf_free(&text);
      return false;
    }
    if (value && !has_type(value, def->type)) {
      return status_invalid(in->status,
                            "AttrValue had value with type '%s' when '%s' expected\n\tfor attr '%s'",
                            attr_value_kind_name(value), def->type, def->name);
    }
  }
  return true;
}

bool instantiation_arg_types(Instantiation *in, const ArgDef *arg, const DataType **types, int *count) {
  if (arg->type_list_attr[0] != 0) {
    const AttrValue *list = instantiation_attr(in, arg->type_list_attr);
    if (!list || list->value_case != (int)ATTR_LIST) {
      return status_set(in->status, CODE_NOT_FOUND, "type list attr not found: %s", arg->type_list_attr);
    }
    if (list->list->n_type > FUNCTION_MAX_EXPANDED)
      return status_invalid(in->status, "Argument %s expands to too many tensors", arg->name);
    *count = (int)list->list->n_type;
    DataType *copy = arena_calloc(in->scratch, *count + 1, sizeof(DataType));
    if (!copy) return instantiation_oom(in);
    for (int i = 0; i < *count; i++) copy[i] = (DataType)list->list->type[i];
    *types = copy;
    return true;
  }
  int64_t number = 1;
  if (arg->number_attr[0] != 0) {
    const AttrValue *n = instantiation_attr(in, arg->number_attr);
    if (!n || n->value_case != (int)ATTR_INT) {
      return status_set(in->status, CODE_NOT_FOUND, "number attr not found: %s", arg->number_attr);
    }
    number = n->i;
    if (number < 0) return status_invalid(in->status, "Value for number_attr() %lld < 0", (long long)number);
    if (number > FUNCTION_MAX_EXPANDED)
      return status_invalid(in->status, "Argument %s expands to too many tensors: %lld", arg->name,
                            (long long)number);
  }
  DataType type = (DataType)arg->type;
  if (arg->type_attr[0] != 0) {
    const AttrValue *t = instantiation_attr(in, arg->type_attr);
    if (!t || t->value_case != (int)ATTR_TYPE) {
      return status_set(in->status, CODE_NOT_FOUND, "type attr not found: %s", arg->type_attr);
    }
    type = (DataType)t->type;
  }
  if (!dtype_is_valid(type)) return status_invalid(in->status, "Argument %s has no valid type", arg->name);
  if (arg->is_ref) type = (DataType)dtype_ref(type);
  *count = (int)number;
  DataType *filled = arena_calloc(in->scratch, number + 1, sizeof(DataType));
  if (!filled) return instantiation_oom(in);
  for (int64_t i = 0; i < number; i++) filled[i] = type;
  *types = filled;
  return true;
}

/* --- attrs of the body's nodes --- */

static bool bind_failed(Instantiation *in, const char *placeholder, const NodeDef *node) {
  status_invalid(in->status, "Failed to bind all placeholders in $%s", placeholder);
  return status_append(in->status, "\n\tIn {{node %s}}", node->name);
}

static bool bind_value(Instantiation *in, const NodeDef *node, const AttrValue *value, int depth,
                       const AttrValue **bound);

static bool bind_func(Instantiation *in, const NodeDef *node, const NameAttrList *func, int depth,
                      NameAttrList **bound) {
  *bound = proto_new(func->base.descriptor, in->arena);
  if (!*bound) return instantiation_oom(in);
  (*bound)->name = func->name;
  for (size_t i = 0; i < func->n_attr; i++) {
    FuncAttrEntry *entry = proto_new(func->attr[i]->base.descriptor, in->arena);
    if (!entry) return instantiation_oom(in);
    entry->key = func->attr[i]->key;
    const AttrValue *value = NULL;
    if (func->attr[i]->value) TRY(bind_value(in, node, func->attr[i]->value, depth + 1, &value));
    entry->value = (AttrValue *)value;
    TRY(proto_append(in->arena, (void ***)&(*bound)->attr, &(*bound)->n_attr, entry, in->status));
  }
  return true;
}

/* Values without placeholders are shared. The recursion is bounded like the depth of messages. */
static bool bind_value(Instantiation *in, const NodeDef *node, const AttrValue *value, int depth,
                       const AttrValue **bound) {
  *bound = value;
  if (depth > PROTO_MAX_DEPTH)
    return status_invalid(in->status, "attr values nested too deep in {{node %s}}", node->name);
  if (value->value_case == (int)ATTR_PLACEHOLDER) {
    *bound = instantiation_attr(in, value->placeholder);
    return *bound || bind_failed(in, value->placeholder, node);
  }
  bool is_func = value->value_case == (int)ATTR_FUNC && value->func->n_attr > 0;
  bool is_list = value->value_case == (int)ATTR_LIST && value->list->n_func > 0;
  if (!is_func && !is_list) return true;
  AttrValue *copy = proto_new(kAttrValue, in->arena);
  if (!copy) return instantiation_oom(in);
  *bound = copy;
  copy->value_case = value->value_case;
  if (is_func) return bind_func(in, node, value->func, depth, &copy->func);
  copy->list = proto_new(value->list->base.descriptor, in->arena);
  if (!copy->list) return instantiation_oom(in);
  for (size_t i = 0; i < value->list->n_func; i++) {
    NameAttrList *func;
    TRY(bind_func(in, node, value->list->func[i], depth, &func));
    TRY(proto_append(in->arena, (void ***)&copy->list->func, &copy->list->n_func, func, in->status));
  }
  return true;
}

/* The dtype for a number written as a tensor, where the text does not give one. */
static DataType literal_type(const NodeDef *def, const NodeDef *bound) {
  const AttrValue *written = node_def_attr(def, "dtype"), *value = node_def_attr(bound, "dtype");
  const AttrValue *tensor = node_def_attr(def, "value");
  if (!value || value->value_case != (int)ATTR_TYPE) return DT_INVALID;
  bool open = written && written->value_case == (int)ATTR_PLACEHOLDER;
  if (!open && tensor && tensor->value_case == (int)ATTR_TENSOR) return DT_INVALID;
  return (DataType)value->type;
}

static bool look_up_op(Instantiation *in, const NodeDef *def, const Op **op) {
  if (in->library) return graph_look_up_op(in->library, def->op, op, in->status);
  return op_registry_look_up(op_registry_global(), def->op, op, in->status);
}

bool instantiation_bind_attrs(Instantiation *in, const NodeDef *def, InstantiatedNode *node) {
  node->def = node_def_new(in->arena, def->name, def->op);
  if (!node->def) return instantiation_oom(in);
  node->def->device = def->device;
  TRY(look_up_op(in, def, &node->op));
  for (size_t i = 0; i < def->n_attr; i++) {
    const AttrValue *value = def->attr[i]->value;
    if (!value) continue;
    TRY(bind_value(in, def, value, 0, &value));
    TRY(node_def_set_attr(node->def, in->arena, def->attr[i]->key, (AttrValue *)value, in->status));
  }
  TRY(node_def_add_defaults(node->def, node->op->def, in->arena, in->status));
  node_def_note_unknown_attrs(node->def, node->op->def);
  DataType literal = literal_type(def, node->def);
  for (size_t i = 0; i < node->def->n_attr; i++) {
    const AttrDef *attr = op_def_attr(node->op->def, node->def->attr[i]->key);
    const AttrValue *value = node->def->attr[i]->value;
    if (!attr) continue;
    if (!value_coerce(attr->type, literal, in->arena, &value, in->status))
      return node_attach(def->name, in->status);
    node->def->attr[i]->value = (AttrValue *)value;
  }
  return true;
}
