/* Checks attr values against the op's declaration: type, minimum, allowed values. */
#include <inttypes.h>
#include <string.h>

#include "op/op_def_builder.h"

static bool wrong_type(const char *got, const char *want, Status *status) {
  return status_invalid(status, "AttrValue had value with type '%s' when '%s' expected", got, want);
}

/* Every non-empty field of a list must have that type; in a malformed message several may be set. */
static bool list_has_type(const AttrListValue *list, const char *type, Status *status) {
  const struct {
    size_t count;
    const char *type;
  } fields[] = {
      {list->n_s, "list(string)"},      {list->n_i, "list(int)"},     {list->n_f, "list(float)"},
      {list->n_b, "list(bool)"},        {list->n_type, "list(type)"}, {list->n_shape, "list(shape)"},
      {list->n_tensor, "list(tensor)"}, {list->n_func, "list(func)"},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (fields[i].count > 0 && strcmp(fields[i].type, type) != 0)
      return wrong_type(fields[i].type, type, status);
  }
  return true;
}

static bool check_dtype(int type, bool in_list, Status *status) {
  if (type == DT_INVALID)
    return status_invalid(status, "AttrValue %s invalid DataType", in_list ? "contains" : "has");
  if (!dtype_is_valid(type)) return status_invalid(status, "AttrValue has invalid DataType enum: %d", type);
  if (dtype_is_ref(type)) {
    return status_invalid(status, "AttrValue must not have reference type value of %s", dtype_name(type));
  }
  return true;
}

bool attr_value_has_type(const AttrValue *value, const char *type, Status *status) {
  bool wants_list = text_starts_with(type, "list(");
  switch ((AttrKind)value->value_case) {
    case ATTR_PLACEHOLDER:
      return status_invalid(status, "AttrValue had value with unexpected type 'placeholder'");
    case ATTR_NOT_SET:
      if (!wants_list) return status_invalid(status, "AttrValue missing value with expected type '%s'", type);
      return true;
    case ATTR_LIST:
      TRY(list_has_type(value->list, type, status));
      if (!wants_list) return status_invalid(status, "AttrValue missing value with expected type '%s'", type);
      for (size_t i = 0; i < value->list->n_type; i++)
        TRY(check_dtype((int)value->list->type[i], true, status));
      return true;
    default: {
      const char *got = attr_value_kind_name(value);
      if (strcmp(got, type) != 0) return wrong_type(got, type, status);
      return value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_TYPE ||
             check_dtype((int)value->type, false, status);
    }
  }
}

/* --- minimum and allowed values --- */

static size_t list_length(const AttrValue *value) {
  if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) return 0;
  const AttrListValue *list = value->list;
  return list->n_s + list->n_i + list->n_f + list->n_b + list->n_type + list->n_shape + list->n_tensor +
         list->n_func;
}

static bool check_minimum(const AttrValue *value, const AttrDef *attr, Status *status) {
  if (strcmp(attr->type, "int") == 0) {
    return value->i >= attr->minimum ||
           status_invalid(status, "Value for attr '%s' of %" PRId64 " must be at least minimum %" PRId64,
                          attr->name, value->i, attr->minimum);
  }
  int64_t length = (int64_t)list_length(value);
  return length >= attr->minimum ||
         status_invalid(status, "Length for attr '%s' of %" PRId64 " must be at least minimum %" PRId64,
                        attr->name, length, attr->minimum);
}

static const AttrListValue *allowed_list(const AttrDef *attr) {
  static const AttrListValue kNone;
  return attr->allowed_values->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST ? attr->allowed_values->list
                                                                                : &kNone;
}

static bool check_allowed_type(int type, const AttrDef *attr, Status *status) {
  const AttrListValue *allowed = allowed_list(attr);
  for (size_t i = 0; i < allowed->n_type; i++) {
    if ((int)allowed->type[i] == type) return true;
  }
  status_invalid(status, "Value for attr '%s' of %s is not in the list of allowed values: ", attr->name,
                 dtype_name(type));
  for (size_t i = 0; i < allowed->n_type; i++) {
    status_append(status, "%s%s", i > 0 ? ", " : "", dtype_name((int)allowed->type[i]));
  }
  return false;
}

static bool check_allowed_string(const ProtobufCBinaryData *string, const AttrDef *attr, Status *status) {
  const AttrListValue *allowed = allowed_list(attr);
  Str text = {(const char *)string->data, string->len};
  for (size_t i = 0; i < allowed->n_s; i++) {
    if (str_equal(text, (Str){(const char *)allowed->s[i].data, allowed->s[i].len})) return true;
  }
  int shown = text.length < STATUS_MESSAGE_CAPACITY ? (int)text.length : STATUS_MESSAGE_CAPACITY;
  status_invalid(status, "Value for attr '%s' of \"%.*s\" is not in the list of allowed values: ", attr->name,
                 shown, text.data ? text.data : "");
  for (size_t i = 0; i < allowed->n_s; i++) {
    status_append(status, "%s\"%.*s\"", i > 0 ? ", " : "", (int)allowed->s[i].len,
                  (const char *)allowed->s[i].data);
  }
  return false;
}

static bool check_allowed(const AttrValue *value, const AttrDef *attr, Status *status) {
  bool is_list = value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  if (strcmp(attr->type, "type") == 0) return check_allowed_type((int)value->type, attr, status);
  if (strcmp(attr->type, "string") == 0) return check_allowed_string(&value->s, attr, status);
  if (strcmp(attr->type, "list(type)") == 0) {
    for (size_t i = 0; is_list && i < value->list->n_type; i++) {
      TRY(check_allowed_type((int)value->list->type[i], attr, status));
    }
    return true;
  }
  if (strcmp(attr->type, "list(string)") == 0) {
    for (size_t i = 0; is_list && i < value->list->n_s; i++)
      TRY(check_allowed_string(&value->list->s[i], attr, status));
    return true;
  }
  return status_set(status, CODE_UNIMPLEMENTED, "Support for allowed_values not implemented for type %s",
                    attr->type);
}

bool attr_value_validate(const AttrValue *value, const AttrDef *attr, Status *status) {
  if (!attr_value_has_type(value, attr->type, status))
    return status_append(status, "\n\t for attr '%s'", attr->name);
  if (attr->has_minimum) TRY(check_minimum(value, attr, status));
  return !attr->allowed_values || check_allowed(value, attr, status);
}
