/* Validates NodeDefs against their op, and adds and removes defaults. */
#include <string.h>

#include "base/string_map.h"
#include "op/node_def_internal.h"
#include "op/op_def_builder.h"

/* The attrs of a node by name. A few are searched linearly; a map is made only for more attrs than real
 * graphs have. */
typedef struct AttrIndex {
  const NodeDef *node;
  StringMap map;
} AttrIndex;

enum { SCAN_LIMIT = 64 };

static bool index_attrs(const NodeDef *node, AttrIndex *index, Status *status) {
  *index = (AttrIndex){.node = node};
  if (node->n_attr <= SCAN_LIMIT) return true;
  for (size_t i = 0; i < node->n_attr; i++) {
    if (!string_map_set(&index->map, node->attr[i]->key, node->attr[i]->value, status)) {
      string_map_free(&index->map);
      return false;
    }
  }
  return true;
}

static const AttrValue *find_attr(const AttrIndex *index, const char *name) {
  return index->map.count > 0 ? string_map_find(&index->map, name) : node_def_attr(index->node, name);
}

/* --- validation --- */

/* Appends "<separator>{{node n}}" and "<separator>Op<...>" in the order that a message needs; nothing when
 * out of memory. */
static bool append_node(const char *before, const NodeDef *node, Status *status) {
  StrBuf text = {0};
  node_def_format_for_error(node, &text);
  if (!text.failed) status_append(status, "%s%s", before, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool append_op(const char *before, const OpDef *op_def, Status *status) {
  StrBuf text = {0};
  op_def_summarize(op_def, &text);
  if (!text.failed) status_append(status, "%s%s", before, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool check_inputs(const NodeDef *node, int *num_data, Status *status) {
  bool control_seen = false;
  *num_data = 0;
  for (size_t i = 0; i < node->n_input; i++) {
    const char *input = node->input[i];
    if (*input == '^') {
      control_seen = true;
      if (!strchr(input, ':')) continue;
      status_invalid(status, "Control input '%s' must not have ':' in NodeDef:", input);
      return append_node(" ", node, status);
    }
    if (control_seen) {
      status_invalid(status, "Non-control input '%s' after control input in NodeDef:", input);
      return append_node(" ", node, status);
    }
    ++*num_data;
  }
  return true;
}

/* An earlier attr of the op with the same name, or NULL. Registered ops have no such duplicates, but
 * functions may. */
static bool find_duplicate(const OpDef *op_def, const AttrDef **duplicate, Status *status) {
  StringMap seen = {0};
  bool ok = true, many = op_def->n_attr > SCAN_LIMIT;
  *duplicate = NULL;
  for (size_t i = 0; ok && !*duplicate && i < op_def->n_attr; i++) {
    const AttrDef *attr = op_def->attr[i];
    bool found = many && string_map_contains(&seen, attr->name);
    for (size_t k = 0; !many && k < i; k++) found = found || strcmp(op_def->attr[k]->name, attr->name) == 0;
    if (found) *duplicate = attr;
    if (many) ok = string_map_set(&seen, attr->name, (void *)attr, status);
  }
  string_map_free(&seen);
  return ok;
}

static bool check_attrs(const AttrIndex *index, const OpDef *op_def, Status *status) {
  size_t num_missing = 0;
  const AttrDef *duplicate;
  TRY(find_duplicate(op_def, &duplicate, status));
  if (duplicate) {
    status_invalid(status, "OpDef has duplicate attr name '%s'", duplicate->name);
    return append_op(": ", op_def, status);
  }
  for (size_t i = 0; i < op_def->n_attr; i++) {
    const AttrDef *attr = op_def->attr[i];
    const AttrValue *value = find_attr(index, attr->name);
    if (!value) {
      num_missing++;
      continue;
    }
    /* In a function's body, the value is known only when the function is instantiated. */
    if ((AttrKind)value->value_case == ATTR_PLACEHOLDER) continue;
    if (attr_value_validate(value, attr, status)) continue;
    append_node("\n\t; NodeDef: ", index->node, status);
    return append_op("; ", op_def, status);
  }
  if (num_missing == 0) return true;
  status_invalid(status, "NodeDef missing attr%s ", num_missing > 1 ? "s" : "");
  const char *separator = "";
  for (size_t i = 0; i < op_def->n_attr; i++) {
    if (find_attr(index, op_def->attr[i]->name)) continue;
    status_append(status, "%s'%s'", separator, op_def->attr[i]->name);
    separator = ", ";
  }
  append_op(" from ", op_def, status);
  return append_node("; NodeDef: ", index->node, status);
}

static bool fail_on_num_inputs(const NodeDef *node, const OpDef *op_def, int num_data, Status *status) {
  Arena *arena = arena_new();
  DataType *inputs = NULL, *outputs;
  int num_inputs = 0, num_outputs;
  bool ok = arena ? node_def_types(node, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, status)
                  : status_oom(status, "the types of a node");
  if (ok) {
    status_invalid(status, "NodeDef expected inputs '");
    for (int i = 0; i < num_inputs && strlen(status->message) + 1 < STATUS_MESSAGE_CAPACITY; i++) {
      status_append(status, "%s%s", i > 0 ? ", " : "", dtype_name(inputs[i]));
    }
    status_append(status, "' do not match %d inputs specified; ", num_data);
    append_op("", op_def, status);
    append_node("; NodeDef: ", node, status);
  }
  arena_free(arena);
  return false;
}

bool node_def_validate_attrs(const NodeDef *node, const OpDef *op_def, Status *status) {
  AttrIndex index;
  TRY(index_attrs(node, &index, status));
  bool ok = check_attrs(&index, op_def, status);
  string_map_free(&index.map);
  return ok;
}

bool node_def_validate(const NodeDef *node, const OpDef *op_def, Status *status) {
  if (strcmp(node->op, op_def->name) != 0) {
    status_invalid(status, "NodeDef op '%s' does not match ", node->op);
    append_op("", op_def, status);
    return append_node("; NodeDef: ", node, status);
  }
  int num_data, num_expected;
  TRY(check_inputs(node, &num_data, status));
  TRY(node_def_validate_attrs(node, op_def, status));
  node_def_note_unknown_attrs(node, op_def);
  TRY(node_def_num_inputs(node, op_def, &num_expected, status));
  return num_expected == num_data || fail_on_num_inputs(node, op_def, num_data, status);
}

/* --- defaults --- */

static bool add_default(NodeDef *node, const AttrDef *attr, Arena *arena, Status *status) {
  AttrEntry *entry = proto_new(&tensorflow__node_def__attr_entry__descriptor, arena);
  if (!entry) return status_oom(status, "attr");
  entry->key = attr->name;
  entry->value = attr->default_value;
  return proto_append(arena, (void ***)&node->attr, &node->n_attr, entry, status);
}

/* Before it got TArgs, _FusedConv2D had args of type `num_args * T`. */
static bool add_arg_types(NodeDef *node, Arena *arena, Status *status) {
  const AttrValue *count = node_def_attr(node, "num_args"), *type = node_def_attr(node, "T");
  enum { MAX_ARGS = 16 };
  int types[MAX_ARGS];
  if (strcmp(node->op, "_FusedConv2D") != 0 || node_def_attr(node, "TArgs") || !count || !type) return true;
  if (count->i < 1 || count->i > MAX_ARGS) return true; /* it stays invalid */
  for (int64_t i = 0; i < count->i; i++) types[i] = (int)type->type;
  AttrValue *value = attr_value_type_list(arena, types, (size_t)count->i);
  if (!value) return status_oom(status, "an attr");
  return node_def_set_attr(node, arena, "TArgs", value, status);
}

bool node_def_add_defaults(NodeDef *node, const OpDef *op_def, Arena *arena, Status *status) {
  AttrIndex index;
  TRY(add_arg_types(node, arena, status));
  TRY(index_attrs(node, &index, status));
  bool ok = true;
  for (size_t i = 0; ok && i < op_def->n_attr; i++) {
    const AttrDef *attr = op_def->attr[i];
    if (attr->default_value && !find_attr(&index, attr->name)) ok = add_default(node, attr, arena, status);
  }
  string_map_free(&index.map);
  return ok;
}

void node_def_strip_defaults(NodeDef *node, const OpDef *op_def) {
  size_t kept = 0;
  for (size_t i = 0; i < node->n_attr; i++) {
    const AttrDef *attr = op_def_attr(op_def, node->attr[i]->key);
    bool is_default =
        attr && attr->default_value && attr_value_equal(attr->default_value, node->attr[i]->value);
    if (!is_default) node->attr[kept++] = node->attr[i];
  }
  node->n_attr = kept;
}
