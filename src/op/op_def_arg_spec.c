/* Arg specs: "x: T", "values: N * T", "ref: Ref(T)"; and the names of control outputs. */
#include "op/op_def_internal.h"

static AttrDef *find_attr(const OpDef *op_def, Str name) {
  for (size_t i = 0; i < op_def->n_attr; i++) {
    if (str_equal_text(name, op_def->attr[i]->name)) return op_def->attr[i];
  }
  return NULL;
}

const AttrDef *op_def_attr(const OpDef *op_def, const char *name) { return find_attr(op_def, str_of(name)); }

static bool take_ref_open(const char **at) {
  const char *p = *at;
  if (!spec_take(&p, "Ref")) return false;
  spec_skip_blanks(&p);
  if (!spec_take(&p, "(")) return false;
  spec_skip_blanks(&p);
  *at = p;
  return true;
}

/* Parses the X of "Ref(X)": a type, an attr, or a number attr times either. */
static bool take_name_and_blanks(const char **at, Str *name) {
  if (!spec_take_identifier(at, false, name)) return false;
  spec_skip_blanks(at);
  return true;
}

static bool take_times(const char **at, Str *name) {
  const char *p = *at;
  if (!spec_take(&p, "*")) return false;
  spec_skip_blanks(&p);
  if (!take_name_and_blanks(&p, name)) return false;
  *at = p;
  return true;
}

/* Attrs for the number of tensors are at least 1, unless the spec has another minimum. */
static void set_default_minimum(const OpDef *op_def, const char *name) {
  AttrDef *attr = find_attr(op_def, str_of(name));
  if (attr && !attr->has_minimum) {
    attr->has_minimum = true;
    attr->minimum = 1;
  }
}

/* Sets type, type_attr or type_list_attr. */
static bool resolve_type(SpecParser *parser, Str name, ArgDef *arg) {
  int type = dtype_from_name(name);
  if (type != DT_INVALID) {
    arg->type = (Tensorflow__DataType)type;
    return true;
  }
  const AttrDef *attr = find_attr(parser->op_def, name);
  if (!attr) {
    spec_error(parser, "Reference to unknown attr '%.*s'", (int)name.length, name.data);
    return false;
  }
  if (strcmp(attr->type, "type") == 0) {
    arg->type_attr = attr->name;
  } else if (strcmp(attr->type, "list(type)") == 0) {
    arg->type_list_attr = attr->name;
  } else {
    spec_error(parser, "Reference to attr '%s' with type %s that isn't type or list(type)", attr->name,
               attr->type);
    return false;
  }
  return true;
}

static ArgDef *add_arg(SpecParser *parser, bool is_output) {
  OpDef *op_def = parser->op_def;
  Status ignored;
  status_init(&ignored);
  ArgDef *arg = proto_new(&tensorflow__op_def__arg_def__descriptor, parser->arena);
  void ***array = is_output ? (void ***)&op_def->output_arg : (void ***)&op_def->input_arg;
  size_t *count = is_output ? &op_def->n_output_arg : &op_def->n_input_arg;
  if (arg && proto_append(parser->arena, array, count, arg, &ignored)) return arg;
  parser->out_of_memory = true;
  return NULL;
}

void spec_parse_arg(SpecParser *parser, const char *spec, bool is_output) {
  parser->call = is_output ? "Output" : "Input";
  parser->spec = spec;
  ArgDef *arg = add_arg(parser, is_output);
  if (!arg) return;

  const char *at = spec;
  Str name, type_name, times;
  if (!spec_take_name_and_colon(&at, true, &name)) {
    spec_error(parser, "Trouble parsing 'name:'");
    return;
  }
  arg->name = spec_copy(parser, name);
  arg->is_ref = take_ref_open(&at);

  if (!take_name_and_blanks(&at, &type_name)) {
    spec_error(parser, "Trouble parsing either a type or an attr name at '%s'", at);
    return;
  }
  if (take_times(&at, &times)) {
    arg->number_attr = spec_copy(parser, type_name);
    type_name = times;
  }
  if (!resolve_type(parser, type_name, arg)) return;

  if (arg->is_ref) {
    if (!spec_take(&at, ")")) {
      spec_error(parser, "Did not find closing ')' for 'Ref(', instead found: '%s'", at);
      return;
    }
    spec_skip_blanks(&at);
  }
  if (*at != '\0') {
    spec_error(parser, "Extra '%s' unparsed at the end", at);
    return;
  }

  if (arg->number_attr[0]) {
    set_default_minimum(parser->op_def, arg->number_attr);
  } else if (arg->type_list_attr[0]) {
    set_default_minimum(parser->op_def, arg->type_list_attr);
  }
  /* An op with a resource arg is stateful; an op that gets the type from an attr only passes the
   * handle on. */
  if ((int)arg->type == DT_RESOURCE) parser->op_def->is_stateful = true;
}

void spec_parse_control_output(SpecParser *parser, const char *spec) {
  parser->call = "ControlOutput";
  parser->spec = spec;
  const char *at = spec;
  Str name;
  /* The text after the name is ignored, as in TensorFlow. */
  if (!spec_take_identifier(&at, false, &name)) {
    spec_error(parser, "Trouble parsing 'name:'");
    return;
  }
  OpDef *op_def = parser->op_def;
  Status ignored;
  status_init(&ignored);
  if (!proto_append(parser->arena, (void ***)&op_def->control_output, &op_def->n_control_output,
                    spec_copy(parser, name), &ignored)) {
    parser->out_of_memory = true;
  }
}
