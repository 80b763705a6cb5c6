/* Prints FunctionDefs: as TensorFlow does, and in full. */
#include <string.h>

#include "function/text/function_text_internal.h"
#include "op/op_registry.h"

/* --- signature --- */

static void print_arg(const ArgDef *arg, StrBuf *out) {
  strbuf_printf(out, "%s:", arg->name);
  if (arg->is_ref) strbuf_append(out, "Ref(");
  if (arg->number_attr[0] != 0) strbuf_printf(out, "%s*", arg->number_attr);
  if (arg->type_list_attr[0] != 0) {
    strbuf_append(out, arg->type_list_attr);
  } else if (arg->type_attr[0] != 0) {
    strbuf_append(out, arg->type_attr);
  } else {
    strbuf_append(out, dtype_name((int)arg->type));
  }
  if (arg->is_ref) strbuf_append_char(out, ')');
}

static void print_args(ArgDef *const *args, size_t count, StrBuf *out) {
  strbuf_append_char(out, '(');
  for (size_t i = 0; i < count; i++) {
    if (i > 0) strbuf_append(out, ", ");
    print_arg(args[i], out);
  }
  strbuf_append_char(out, ')');
}

/* A default in the attr spec language, from the protobuf text of the field alone. */
static void print_default(const AttrValue *value, StrBuf *out) {
  StrBuf text = {0};
  proto_print_text(value, PROTO_TEXT_SHORT, &text);
  const char *colon = strchr(strbuf_text(&text), ' ');
  if (value->value_case != (int)ATTR_LIST && value->value_case != (int)ATTR_NOT_SET && colon) {
    strbuf_printf(out, " = %s", colon + 1);
  }
  if (text.failed) out->failed = true;
  strbuf_free(&text);
}

static void print_attr_def(const AttrDef *attr, bool full, StrBuf *out) {
  strbuf_printf(out, "%s:", attr->name);
  bool has_list = attr->allowed_values && attr->allowed_values->value_case == (int)ATTR_LIST;
  if (strcmp(attr->type, "type") != 0 || (full && !has_list)) {
    strbuf_append(out, attr->type);
  } else if (!has_list) {
    strbuf_append(out, "<Unknown AttrValue type>");
  } else {
    value_print(attr->allowed_values, out);
  }
  if (!full) return;
  if (attr->has_minimum) strbuf_printf(out, " >= %lld", (long long)attr->minimum);
  if (attr->default_value) print_default(attr->default_value, out);
}

static void print_header(const OpDef *signature, bool full, StrBuf *out) {
  if (full) {
    print_name(signature->name, NODE_NAME_CHARS, out);
  } else {
    strbuf_append(out, signature->name);
  }
  for (size_t i = 0; i < signature->n_attr; i++) {
    strbuf_append(out, i == 0 ? "[" : ", ");
    print_attr_def(signature->attr[i], full, out);
  }
  if (signature->n_attr > 0) strbuf_append_char(out, ']');
  print_args(signature->input_arg, signature->n_input_arg, out);
  strbuf_append(out, " -> ");
  print_args(signature->output_arg, signature->n_output_arg, out);
  strbuf_append(out, " {\n");
}

/* --- nodes --- */

static bool print_node(const NodeDef *node, bool full, StrBuf *out, Status *status) {
  strbuf_append(out, "  ");
  if (full) {
    print_name(node->name, NODE_NAME_CHARS, out);
  } else {
    strbuf_append(out, node->name);
  }
  strbuf_append(out, " = ");
  TRY(op_print(node, full, out, status));
  strbuf_append_char(out, '(');
  size_t i = 0, data = 0;
  for (; i < node->n_input && node->input[i][0] != '^'; i++, data++) {
    if (i > 0) strbuf_append(out, ", ");
    print_name(node->input[i], INPUT_NAME_CHARS, out);
  }
  strbuf_append_char(out, ')');
  for (; i < node->n_input; i++) {
    strbuf_append(out, i == data ? " @ " : ", ");
    print_name(node->input[i] + (node->input[i][0] == '^'), NODE_NAME_CHARS, out);
  }
  strbuf_append_char(out, '\n');
  return true;
}

/* Parses printed text; *function is NULL when that fails. False only when out of memory. */
static bool parse_back(const StrBuf *text, Arena *arena, FunctionDef **function, Status *status) {
  Status refused;
  status_init(&refused);
  TRY(strbuf_ok(text, status));
  if (!arena) return status_oom(status, "the text of a function");
  if (function_parse((Str){strbuf_text(text), (size_t)text->length}, arena, function, &refused)) return true;
  *function = NULL;
  if (refused.code == CODE_RESOURCE_EXHAUSTED) *status = refused;
  return refused.code != CODE_RESOURCE_EXHAUSTED;
}

/* *same: the statement parses to the same NodeDef. */
static bool node_reads_back(const NodeDef *node, const StrBuf *line, bool *same, Status *status) {
  StrBuf text = {0};
  Arena *arena = arena_new();
  FunctionDef *back = NULL;
  strbuf_append(&text, "f() -> () {\n");
  strbuf_append_bytes(&text, strbuf_text(line), (size_t)line->length);
  strbuf_append(&text, "}");
  bool ok = parse_back(&text, arena, &back, status);
  *same = back && back->n_node_def == 1 && proto_equal(back->node_def[0], node);
  strbuf_free(&text);
  arena_free(arena);
  return ok;
}

static bool print_node_full(const NodeDef *node, StrBuf *out, Status *status) {
  StrBuf line = {0};
  bool same = false;
  bool ok = print_node(node, true, &line, status) && strbuf_ok(&line, status) &&
            node_reads_back(node, &line, &same, status);
  if (ok && same) {
    strbuf_append(out, strbuf_text(&line));
  } else if (ok) {
    strbuf_append(out, "  @node <");
    proto_print_text(node, PROTO_TEXT_SHORT, out);
    strbuf_append(out, ">\n");
  }
  strbuf_free(&line);
  return ok;
}

/* --- results --- */

static const OpDef *signature_of(const FunctionDef *function) {
  static const OpDef none = TENSORFLOW__OP_DEF__INIT;
  return !function->signature ? &none : function->signature;
}

typedef Tensorflow__FunctionDef__RetEntry RetEntry; /* ControlRetEntry has the same layout */

static const RetEntry *find_ret(RetEntry *const *entries, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(entries[i]->key, name) == 0) return entries[i];
  }
  return NULL;
}

static void print_ret(const char *word, const RetEntry *entry, const char *extra, StrBuf *out) {
  strbuf_printf(out, "  %s ", word);
  print_name(entry->key, NODE_NAME_CHARS, out);
  strbuf_append(out, " = ");
  print_name(entry->value, extra, out);
  strbuf_append_char(out, '\n');
}

/* In the order of the signature; entries that are not in the signature come last. */
static void print_rets(const FunctionDef *function, StrBuf *out) {
  const OpDef *signature = signature_of(function);
  RetEntry *const *controls = (RetEntry *const *)function->control_ret;
  for (size_t i = 0; i < signature->n_control_output; i++) {
    const RetEntry *entry = find_ret(controls, function->n_control_ret, signature->control_output[i]);
    if (entry) print_ret("@return", entry, NODE_NAME_CHARS, out);
  }
  for (size_t i = 0; i < function->n_control_ret; i++) {
    bool known = false;
    for (size_t j = 0; !known && j < signature->n_control_output; j++) {
      known = strcmp(signature->control_output[j], controls[i]->key) == 0;
    }
    if (!known) print_ret("@return", controls[i], NODE_NAME_CHARS, out);
  }
  for (size_t i = 0; i < signature->n_output_arg; i++) {
    const RetEntry *entry = find_ret(function->ret, function->n_ret, signature->output_arg[i]->name);
    if (entry) print_ret("return", entry, INPUT_NAME_CHARS, out);
  }
  for (size_t i = 0; i < function->n_ret; i++) {
    bool known = false;
    for (size_t j = 0; !known && j < signature->n_output_arg; j++) {
      known = strcmp(signature->output_arg[j]->name, function->ret[i]->key) == 0;
    }
    if (!known) print_ret("return", function->ret[i], INPUT_NAME_CHARS, out);
  }
}

void function_print(const FunctionDef *function, StrBuf *out) {
  Status status;
  status_init(&status);
  strbuf_append_char(out, '\n');
  print_header(signature_of(function), false, out);
  for (size_t i = 0; i < function->n_node_def; i++) {
    if (!print_node(function->node_def[i], false, out, &status)) out->failed = true;
  }
  print_rets(function, out);
  strbuf_append(out, "}\n");
}

/* --- the full form --- */

static bool print_body_full(const FunctionDef *function, StrBuf *out, Status *status) {
  for (size_t i = 0; i < function->n_attr; i++) {
    strbuf_append(out, "  @attr ");
    print_name(function->attr[i]->key, NODE_NAME_CHARS, out);
    strbuf_append(out, " = ");
    TRY(value_print_full(function->attr[i]->value, out, status));
    strbuf_append_char(out, '\n');
  }
  for (size_t i = 0; i < function->n_node_def; i++) TRY(print_node_full(function->node_def[i], out, status));
  return true;
}

static bool text_reads_back(const FunctionDef *function, const StrBuf *text, bool *same, Status *status) {
  Arena *arena = arena_new();
  FunctionDef *back = NULL;
  bool ok = parse_back(text, arena, &back, status);
  *same = back && proto_equal(back, function);
  arena_free(arena);
  return ok;
}

/* The fields that statements cannot express, as protobuf text of a FunctionDef that has only these. */
static void print_rest(const FunctionDef *function, StrBuf *out) {
  FunctionDef rest = *function;
  rest.n_attr = rest.n_node_def = 0;
  strbuf_append(out, "  @def <");
  proto_print_text(&rest, PROTO_TEXT_SHORT, out);
  strbuf_append(out, ">\n");
}

/* How much of the signature the statements can express. The first form that reads back is used; the last
 * always does. */
typedef enum FullForm { PLAIN, WITH_FLAG, WITH_REST } FullForm;

static void print_form(const FunctionDef *function, FullForm form, const StrBuf *body, StrBuf *out) {
  if (form == WITH_REST) {
    print_name(signature_of(function)->name, NODE_NAME_CHARS, out);
    strbuf_append(out, "() -> () {\n");
    print_rest(function, out);
  } else {
    print_header(signature_of(function), true, out);
  }
  if (form == WITH_FLAG)
    strbuf_printf(out, "  @stateful %s\n", signature_of(function)->is_stateful ? "true" : "false");
  strbuf_append(out, strbuf_text(body));
  if (form != WITH_REST) print_rets(function, out);
  strbuf_append(out, "}\n");
}

bool function_print_full(const FunctionDef *function, StrBuf *out, Status *status) {
  StrBuf body = {0}, text = {0};
  bool ok = print_body_full(function, &body, status) && strbuf_ok(&body, status);
  bool same = false;
  for (FullForm form = PLAIN; ok && !same && form <= WITH_REST; form++) {
    strbuf_clear(&text);
    print_form(function, form, &body, &text);
    ok = form < WITH_REST ? text_reads_back(function, &text, &same, status) : strbuf_ok(&text, status);
  }
  if (ok) strbuf_append(out, strbuf_text(&text));
  strbuf_free(&body);
  strbuf_free(&text);
  return ok && strbuf_ok(out, status);
}
