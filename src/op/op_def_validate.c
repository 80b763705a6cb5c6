/* The checks that every OpDef must pass before it is registered. */
#include <inttypes.h>
#include <stdarg.h>

#include "base/string_map.h"
#include "base/text_format.h"
#include "op/op_def_internal.h"

/* INVALID_ARGUMENT "<message>; in OpDef: <its text>"; the message alone when memory runs out. */
PRINTF_LIKE(3, 4)
static bool invalid(const OpDef *op_def, Status *status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status_setv(status, CODE_INVALID_ARGUMENT, format, args);
  va_end(args);
  StrBuf text = {0};
  proto_print_text(op_def, PROTO_TEXT_SHORT, &text);
  if (!text.failed) status_append(status, "; in OpDef: %s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

/* [A-Z][A-Za-z0-9_]*, or several of them joined by '>'. */
static bool name_is_camel_case(const char *name) {
  do {
    if (!spec_is_letter(*name) || spec_is_lower(*name)) return false;
    while (spec_is_letter(*name) || spec_is_digit(*name) || *name == '_') name++;
  } while (*name++ == '>');
  return name[-1] == '\0';
}

static bool add_name(const OpDef *op_def, StringMap *names, char *name, Status *status) {
  if (string_map_contains(names, name)) return invalid(op_def, status, "Duplicate name: %s", name);
  return string_map_set(names, name, name, status);
}

/* --- attrs --- */

static bool check_attr_type(const OpDef *op_def, const AttrDef *attr, bool *is_list, Status *status) {
  static const char *const kTypes[] = {"string", "int", "float", "bool", "type", "shape", "tensor", "func"};
  const char *at = attr->type;
  *is_list = spec_take(&at, "list(");
  size_t i = 0;
  while (i < sizeof kTypes / sizeof kTypes[0] && !spec_take(&at, kTypes[i])) i++;
  if (i == sizeof kTypes / sizeof kTypes[0]) {
    return invalid(op_def, status, "Unrecognized type '%s' in attr '%s'", at, attr->name);
  }
  if (*is_list && !spec_take(&at, ")")) {
    return invalid(op_def, status, "'list(' is missing ')' in attr %s's type %s", attr->name, attr->type);
  }
  if (*at)
    return invalid(op_def, status, "Extra '%s' at the end of attr %s's type %s", at, attr->name, attr->type);
  return true;
}

static bool check_attr_minimum(const OpDef *op_def, const AttrDef *attr, bool is_list, Status *status) {
  if (!attr->has_minimum) {
    return attr->minimum == 0 ||
           invalid(op_def, status,
                   "Attr '%s' with has_minimum = false but minimum %" PRId64 " not equal to default of 0",
                   attr->name, attr->minimum);
  }
  if (!is_list && strcmp(attr->type, "int") != 0) {
    return invalid(op_def, status, "Attr '%s' has minimum for unsupported type %s", attr->name, attr->type);
  }
  return !is_list || attr->minimum >= 0 ||
         invalid(op_def, status, "Attr '%s' with list type must have a non-negative minimum, not %" PRId64,
                 attr->name, attr->minimum);
}

static bool check_attr(const OpDef *op_def, const AttrDef *attr, Status *status) {
  if (dtype_from_name(str_of(attr->name)) != DT_INVALID) {
    return invalid(op_def, status, "Attr can't have name %s that matches a data type", attr->name);
  }
  bool is_list;
  TRY(check_attr_type(op_def, attr, &is_list, status));
  TRY(check_attr_minimum(op_def, attr, is_list, status));
  if (attr->allowed_values) {
    char list_type[32]; /* the type is valid: the longest is "list(string)" */
    text_format(list_type, sizeof list_type, is_list ? "%s" : "list(%s)", attr->type);
    if (!attr_value_has_type(attr->allowed_values, list_type, status)) {
      return status_append(status, "\n\t for attr '%s' in Op '%s'", attr->name, op_def->name);
    }
  }
  if (attr->default_value && !attr_value_validate(attr->default_value, attr, status)) {
    return status_append(status, "\n\t in Op '%s'", op_def->name);
  }
  return true;
}

/* --- args --- */

/* An arg and its name in messages. */
typedef struct ArgCheck {
  const OpDef *op_def;
  const ArgDef *arg;
  const char *direction; /* "input", "output" */
} ArgCheck;

/* The attr, of the given type, that an arg refers to for its length or type. */
static bool check_reference(const ArgCheck *check, const char *attr_name, const char *used_as,
                            const char *type, const AttrDef **attr, Status *status) {
  *attr = op_def_attr(check->op_def, attr_name);
  if (!*attr) {
    return invalid(check->op_def, status, "No attr with name '%s' for %s '%s'", attr_name, check->direction,
                   check->arg->name);
  }
  return strcmp((*attr)->type, type) == 0 ||
         invalid(check->op_def, status, "Attr '%s' used as %s for %s '%s' has type %s != %s", attr_name,
                 used_as, check->direction, check->arg->name, (*attr)->type, type);
}

static bool check_number(const ArgCheck *check, Status *status) {
  const ArgDef *arg = check->arg;
  const AttrDef *number;
  TRY(check_reference(check, arg->number_attr, "length", "int", &number, status));
  if (!number->has_minimum || number->minimum < 0) {
    return invalid(check->op_def, status, "Attr '%s' used as length for %s '%s' must have minimum%s",
                   number->name, check->direction, arg->name, number->has_minimum ? " >= 0" : "");
  }
  if (arg->type_list_attr[0]) {
    return invalid(check->op_def, status, "Can't have both number_attr and type_list_attr for %s '%s'",
                   check->direction, arg->name);
  }
  return ((int)arg->type != DT_INVALID) != (arg->type_attr[0] != '\0') ||
         invalid(check->op_def, status, "Exactly one of type, type_attr must be set for %s '%s'",
                 check->direction, arg->name);
}

static bool check_arg(const OpDef *op_def, const ArgDef *arg, bool is_output, Status *status) {
  const ArgCheck check = {op_def, arg, is_output ? "output" : "input"};
  int ways = ((int)arg->type != DT_INVALID) + (arg->type_attr[0] != '\0') + (arg->type_list_attr[0] != '\0');
  if (ways == 0) return invalid(op_def, status, "Missing type for %s '%s'", check.direction, arg->name);
  if (arg->number_attr[0]) {
    TRY(check_number(&check, status));
  } else if (ways != 1) {
    return invalid(op_def, status, "Exactly one of type, type_attr, type_list_attr must be set for %s '%s'",
                   check.direction, arg->name);
  }

  const AttrDef *attr;
  if (arg->type_attr[0]) return check_reference(&check, arg->type_attr, "type_attr", "type", &attr, status);
  if (arg->type_list_attr[0]) {
    return check_reference(&check, arg->type_list_attr, "type_list_attr", "list(type)", &attr, status);
  }
  return !dtype_is_ref((int)arg->type) ||
         invalid(op_def, status, "Illegal use of ref type '%s'. Use 'Ref(type)' instead for %s '%s'",
                 dtype_name((int)arg->type), check.direction, arg->name);
}

/* --- the op --- */

static bool check_all(const OpDef *op_def, StringMap *names, Status *status) {
  if (op_def->name[0] != '_' && !name_is_camel_case(op_def->name)) {
    return invalid(op_def, status, "Invalid name: %s (Did you use CamelCase?)", op_def->name);
  }
  for (size_t i = 0; i < op_def->n_attr; i++) {
    TRY(add_name(op_def, names, op_def->attr[i]->name, status));
    TRY(check_attr(op_def, op_def->attr[i], status));
  }
  for (size_t i = 0; i < op_def->n_input_arg; i++) {
    TRY(add_name(op_def, names, op_def->input_arg[i]->name, status));
    TRY(check_arg(op_def, op_def->input_arg[i], false, status));
  }
  for (size_t i = 0; i < op_def->n_output_arg; i++) {
    TRY(add_name(op_def, names, op_def->output_arg[i]->name, status));
    TRY(check_arg(op_def, op_def->output_arg[i], true, status));
  }
  return true;
}

bool op_def_validate(const OpDef *op_def, Status *status) {
  StringMap names = {0};
  bool ok = check_all(op_def, &names, status);
  string_map_free(&names);
  return ok;
}

bool op_def_check_deprecation(const OpDef *op_def, int graph_def_version, Status *status) {
  const OpDeprecation *deprecation = op_def->deprecation;
  if (!deprecation || graph_def_version < deprecation->version) return true;
  return status_set(status, CODE_UNIMPLEMENTED,
                    "Op %s is not available in GraphDef version %d. It has been removed in version %d. %s.",
                    op_def->name, graph_def_version, deprecation->version, deprecation->explanation);
}
