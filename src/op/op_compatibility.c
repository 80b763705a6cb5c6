/* The allowed changes of an op from one version to the next: old graphs must still load and mean the same. */
#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_def_builder.h"

/* The limit for defaults that determine the number of inputs or outputs, because signatures are
 * written out. */
enum { MAX_ARGS_OF_A_DEFAULT = 1 << 20 };

static bool values_equal(const AttrValue *a, const AttrValue *b) {
  return a && b ? attr_value_equal(a, b) : a == b;
}

static void append_value(const AttrValue *value, const char *without, StrBuf *out) {
  if (value) {
    attr_value_summarize(value, out);
  } else {
    strbuf_append(out, without);
  }
}

/* "<message>; from <old> to <new>" */
static bool changed(const char *message, const AttrDef *attr, const AttrValue *from, const AttrValue *to,
                    const char *without, Status *status) {
  StrBuf text = {0};
  append_value(from, without, &text);
  strbuf_append(&text, " to ");
  append_value(to, without, &text);
  if (strbuf_ok(&text, status))
    status_invalid(status, "Attr '%s' has %s; from %s", attr->name, message, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

/* --- one attr --- */

static bool allows_type(const AttrListValue *list, int type) {
  for (size_t i = 0; i < list->n_type; i++) {
    if ((int)list->type[i] == type) return true;
  }
  return false;
}

static bool allows_string(const AttrListValue *list, const ProtobufCBinaryData *string) {
  for (size_t i = 0; i < list->n_s; i++) {
    if (list->s[i].len == string->len &&
        (string->len == 0 || memcmp(list->s[i].data, string->data, string->len) == 0))
      return true;
  }
  return false;
}

static bool is_more_restrictive(const AttrDef *from, const AttrDef *to) {
  static const AttrListValue kNone;
  if (!to->allowed_values) return false;
  if (!from->allowed_values) return true;
  bool from_list = from->allowed_values->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  bool to_list = to->allowed_values->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  const AttrListValue *before = from_list ? from->allowed_values->list : &kNone,
                      *now = to_list ? to->allowed_values->list : &kNone;
  for (size_t i = 0; i < before->n_type; i++) {
    if (!allows_type(now, (int)before->type[i])) return true;
  }
  for (size_t i = 0; i < before->n_s; i++) {
    if (!allows_string(now, &before->s[i])) return true;
  }
  return false;
}

bool attr_def_compatible(const AttrDef *from, const AttrDef *to, Status *status) {
  if (strcmp(from->type, to->type) != 0) {
    return status_invalid(status, "Attr '%s' changed type '%s' -> '%s'", from->name, from->type, to->type);
  }
  if (is_more_restrictive(from, to)) {
    return changed("a stricter set of allowed values", from, from->allowed_values, to->allowed_values,
                   "no restriction", status);
  }
  if (to->has_minimum && !from->has_minimum) {
    return status_invalid(status, "Attr '%s' has a higher minimum; from no minimum to %" PRId64, from->name,
                          to->minimum);
  }
  if (to->has_minimum && to->minimum > from->minimum) {
    return status_invalid(status, "Attr '%s' has a higher minimum; from %" PRId64 " to %" PRId64, from->name,
                          from->minimum, to->minimum);
  }
  return true;
}

/* --- signatures --- */

/* The args of an op as text, from the view of a node of the old op: attrs of the old op appear by name, added
 * attrs by their defaults. Two versions are compatible when these texts are equal. */
typedef struct Signature {
  const OpDef *old_op, *new_op;
  StrBuf text;
  StrBuf refs; /* per entry of the text: 'r' for a reference, else '-' */
} Signature;

static bool is_old(const Signature *signature, const char *attr) {
  return op_def_attr(signature->old_op, attr) != NULL;
}

/* The default of an added attr; NULL if there is none, which only an invalid OpDef allows. */
static const AttrValue *added_default(const Signature *signature, const char *name) {
  const AttrDef *attr = op_def_attr(signature->new_op, name);
  return attr ? attr->default_value : NULL;
}

static void append_entry(Signature *signature, const ArgDef *arg, bool with_name, const char *number,
                         const char *type) {
  if (signature->refs.length > 0) strbuf_append(&signature->text, ", ");
  if (with_name) strbuf_printf(&signature->text, "%s:", arg->name);
  if (number) strbuf_printf(&signature->text, "%s * ", number);
  strbuf_append(&signature->text, type);
  strbuf_append_char(&signature->refs, arg->is_ref ? 'r' : '-');
}

static void append_type_list(Signature *signature, const ArgDef *arg, bool with_name) {
  if (is_old(signature, arg->type_list_attr)) {
    append_entry(signature, arg, with_name, NULL, arg->type_list_attr);
    return;
  }
  const AttrValue *types = added_default(signature, arg->type_list_attr);
  if (!types || types->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) return;
  for (size_t i = 0; i < types->list->n_type; i++) {
    append_entry(signature, arg, with_name, NULL, dtype_name((int)types->list->type[i]));
  }
}

static bool append_arg(Signature *signature, const ArgDef *arg, bool with_name, Status *status) {
  if (arg->type_list_attr[0]) {
    append_type_list(signature, arg, with_name);
    return true;
  }
  int64_t count = 1;
  bool keeps_number = arg->number_attr[0] && is_old(signature, arg->number_attr);
  if (arg->number_attr[0] && !keeps_number) {
    const AttrValue *number = added_default(signature, arg->number_attr);
    count = number && number->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I ? number->i : 0;
    if (count > MAX_ARGS_OF_A_DEFAULT) {
      return status_invalid(status, "The default of attr '%s', %" PRId64 ", is too large", arg->number_attr,
                            count);
    }
  }
  const char *type = (int)arg->type != DT_INVALID ? dtype_name((int)arg->type) : arg->type_attr;
  if (type == arg->type_attr && !is_old(signature, type)) {
    const AttrValue *added = added_default(signature, type);
    if (added && added->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE) type = dtype_name((int)added->type);
  }
  for (int64_t i = 0; i < count; i++)
    append_entry(signature, arg, with_name, keeps_number ? arg->number_attr : NULL, type);
  return true;
}

static bool write_signature(Signature *signature, const OpDef *op_def, bool outputs, Status *status) {
  ArgDef *const *args = outputs ? op_def->output_arg : op_def->input_arg;
  size_t count = outputs ? op_def->n_output_arg : op_def->n_input_arg;
  for (size_t i = 0; i < count; i++) TRY(append_arg(signature, args[i], outputs, status));
  return strbuf_ok(&signature->text, status) && strbuf_ok(&signature->refs, status);
}

static bool compare_signatures(const Signature *from, const Signature *to, bool outputs, Status *status) {
  const char *before = strbuf_text(&from->text), *now = strbuf_text(&to->text),
             *what = outputs ? "Output" : "Input";
  if (strcmp(before, now) != 0)
    return status_invalid(status, "%s signature mismatch '%s' vs. '%s'", what, before, now);
  const char *refs_before = strbuf_text(&from->refs), *refs_now = strbuf_text(&to->refs);
  for (int i = 0; refs_before[i] && refs_now[i]; i++) {
    /* A new version may require less of its inputs and promise more of its outputs. */
    if (refs_before[i] == refs_now[i] || refs_now[i] == (outputs ? 'r' : '-')) continue;
    return status_invalid(status,
                          outputs ? "Output %d changed from ref to non-ref"
                                  : "Input %d changed from non-ref to ref",
                          i);
  }
  return true;
}

static bool args_compatible(const OpDef *old_op, const OpDef *new_op, bool outputs, Status *status) {
  Signature from = {.old_op = old_op, .new_op = new_op}, to = from;
  bool ok = write_signature(&from, old_op, outputs, status) &&
            write_signature(&to, new_op, outputs, status) && compare_signatures(&from, &to, outputs, status);
  strbuf_free(&from.text);
  strbuf_free(&from.refs);
  strbuf_free(&to.text);
  strbuf_free(&to.refs);
  return ok;
}

/* --- a whole op --- */

static bool compatible(const OpDef *old_op, const OpDef *new_op, Status *status) {
  if (strcmp(old_op->name, new_op->name) != 0) return status_invalid(status, "Name mismatch");
  for (size_t i = 0; i < old_op->n_attr; i++) {
    const AttrDef *attr = op_def_attr(new_op, old_op->attr[i]->name);
    if (!attr) return status_invalid(status, "Attr '%s' removed", old_op->attr[i]->name);
    TRY(attr_def_compatible(old_op->attr[i], attr, status));
  }
  for (size_t i = 0; i < new_op->n_attr; i++) {
    const AttrDef *attr = new_op->attr[i];
    if (attr->default_value || op_def_attr(old_op, attr->name)) continue;
    return status_invalid(status, "Attr '%s' added without default", attr->name);
  }
  return args_compatible(old_op, new_op, false, status) && args_compatible(old_op, new_op, true, status);
}

bool op_def_compatible(const OpDef *old_op, const OpDef *new_op, Status *status) {
  Status what;
  status_init(&what);
  if (compatible(old_op, new_op, &what)) return true;
  if (what.code != CODE_INVALID_ARGUMENT) {
    *status = what;
    return false;
  }
  StrBuf text = {0};
  strbuf_printf(&text, "Incompatible Op change: %s; old: ", what.message);
  op_def_summarize(old_op, &text);
  strbuf_append(&text, "; new: ");
  op_def_summarize(new_op, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

/* --- defaults --- */

/* "<message> in op: Op<...>" */
static bool wrong_in_op(StrBuf *message, const OpDef *op_def, Status *status) {
  strbuf_append(message, " in op: ");
  op_def_summarize(op_def, message);
  if (strbuf_ok(message, status)) status_invalid(status, "%s", strbuf_text(message));
  strbuf_free(message);
  return false;
}

bool op_def_added_defaults_unchanged(const OpDef *old_op, const OpDef *penultimate_op, const OpDef *new_op,
                                     Status *status) {
  for (size_t i = 0; i < penultimate_op->n_attr; i++) {
    const AttrDef *before = penultimate_op->attr[i];
    if (op_def_attr(old_op, before->name)) continue;
    const AttrDef *now = op_def_attr(new_op, before->name);
    StrBuf message = {0};
    if (!now) {
      strbuf_printf(&message, "Missing attr '%s'", before->name);
    } else if (!before->default_value || !now->default_value) {
      strbuf_printf(&message, "Missing default for attr '%s'", before->name);
    } else if (!attr_value_equal(before->default_value, now->default_value)) {
      strbuf_printf(&message, "Can't change default value for attr '%s' from ", before->name);
      attr_value_summarize(before->default_value, &message);
    } else {
      continue;
    }
    return wrong_in_op(&message, new_op, status);
  }
  return true;
}

bool op_def_defaults_unchanged(const OpDef *old_op, const OpDef *new_op, Status *status) {
  for (size_t i = 0; i < old_op->n_attr; i++) {
    const AttrDef *from = old_op->attr[i], *to = op_def_attr(new_op, from->name);
    if (!to || values_equal(from->default_value, to->default_value)) continue;
    const char *how = from->default_value && to->default_value ? "changed it's default value"
                                                               : "added/removed it's default";
    return changed(how, from, from->default_value, to->default_value, "no default", status);
  }
  return true;
}

/* --- descriptions --- */

static char *no_text(void) { return (char *)protobuf_c_empty_string; }

void op_def_remove_non_deprecation_descriptions(OpDef *op_def) {
  for (size_t i = 0; i < op_def->n_input_arg; i++) op_def->input_arg[i]->description = no_text();
  for (size_t i = 0; i < op_def->n_output_arg; i++) op_def->output_arg[i]->description = no_text();
  for (size_t i = 0; i < op_def->n_attr; i++) op_def->attr[i]->description = no_text();
  op_def->summary = no_text();
  op_def->description = no_text();
}

void op_def_remove_descriptions(OpDef *op_def) {
  op_def_remove_non_deprecation_descriptions(op_def);
  if (op_def->deprecation) op_def->deprecation->explanation = no_text();
}
