/* Builds an OpDef from specs: the order of parsing, the collected errors, and the builder that takes specs
 * one by one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "op/op_def_internal.h"

/* --- cursor --- */

bool spec_take_identifier(const char **at, bool lower, Str *name) {
  const char *p = *at;
  if (!(lower ? spec_is_lower(*p) : spec_is_letter(*p))) return false;
  while ((lower ? spec_is_lower(*p) : spec_is_letter(*p)) || spec_is_digit(*p) || *p == '_') p++;
  *name = (Str){*at, (size_t)(p - *at)};
  *at = p;
  return true;
}

bool spec_take_name_and_colon(const char **at, bool lower, Str *name) {
  const char *p = *at;
  if (!spec_take_identifier(&p, lower, name)) return false;
  spec_skip_blanks(&p);
  if (!spec_take(&p, ":")) return false;
  spec_skip_blanks(&p);
  *at = p;
  return true;
}

/* --- errors --- */

static void append_message(StrBuf *errors, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length >= 0 ? mem_alloc((int64_t)length + 1) : NULL;
  if (text) {
    vsnprintf(text, (size_t)length + 1, format, again);
    if (errors->length > 0) strbuf_append_char(errors, '\n');
    strbuf_append(errors, text);
    mem_free(text);
  } else {
    errors->failed = true;
  }
  va_end(again);
}

void spec_error(SpecParser *parser, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append_message(&parser->errors, format, args);
  va_end(args);
  strbuf_printf(&parser->errors, " from %s(\"%s\") for Op %s", parser->call, parser->spec,
                parser->op_def->name);
}

void spec_error_of_op(SpecParser *parser, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append_message(&parser->errors, format, args);
  va_end(args);
  strbuf_printf(&parser->errors, " for Op %s", parser->op_def->name);
}

bool spec_finish(SpecParser *parser, Status *status) {
  bool ok = false;
  if (parser->out_of_memory || parser->errors.failed) {
    status_oom(status, "an OpDef");
  } else if (parser->errors.length > 0) {
    status_invalid(status, "%s", strbuf_text(&parser->errors));
  } else {
    ok = true;
  }
  strbuf_free(&parser->errors);
  return ok;
}

char *spec_copy(SpecParser *parser, Str text) {
  char *copy = text.length > 0 ? arena_strndup(parser->arena, text.data, text.length)
                               : (char *)protobuf_c_empty_string;
  if (copy) return copy;
  parser->out_of_memory = true;
  return (char *)protobuf_c_empty_string;
}

/* --- a single spec --- */

bool op_def_parse_attr(const char *spec, bool allow_any, OpDef *op_def, Arena *arena, Status *status) {
  SpecParser parser = {.op_def = op_def, .arena = arena, .allow_attr_type_any = allow_any};
  spec_parse_attr(&parser, spec);
  return spec_finish(&parser, status);
}

bool op_def_parse_arg(const char *spec, bool is_output, OpDef *op_def, Arena *arena, Status *status) {
  SpecParser parser = {.op_def = op_def, .arena = arena};
  spec_parse_arg(&parser, spec, is_output);
  return spec_finish(&parser, status);
}

/* --- a whole op --- */

static void set_flags(SpecParser *parser, const OpDefSpec *spec) {
  OpDef *op_def = parser->op_def;
  op_def->is_stateful |= spec->is_stateful; /* an argument may have set it already */
  op_def->is_commutative = spec->is_commutative;
  op_def->is_aggregate = spec->is_aggregate;
  op_def->is_distributed_communication = spec->is_distributed_communication;
  op_def->allows_uninitialized_input = spec->allows_uninitialized_input;
  if (spec->deprecated_version == 0 && !spec->deprecation_explanation) return;
  OpDeprecation *deprecation = proto_new(&tensorflow__op_deprecation__descriptor, parser->arena);
  if (!deprecation) {
    parser->out_of_memory = true;
    return;
  }
  deprecation->version = spec->deprecated_version;
  deprecation->explanation =
      spec_copy(parser, str_of(spec->deprecation_explanation ? spec->deprecation_explanation : ""));
  op_def->deprecation = deprecation;
}

/* `earlier_errors` (may be NULL) come before the errors of the specs. */
static bool build(const OpDefSpec *spec, const char *earlier_errors, Arena *arena, OpDef **out,
                  Status *status) {
  static const char *const kNone[] = {NULL};
  OpDef *op_def = proto_new(kOpDef, arena);
  if (!op_def) return status_oom(status, "an OpDef");
  SpecParser parser = {.op_def = op_def, .arena = arena, .allow_attr_type_any = spec->allow_attr_type_any};
  if (earlier_errors) strbuf_append(&parser.errors, earlier_errors);
  op_def->name = spec_copy(&parser, str_of(spec->name));
  /* Args refer to attrs, and the documentation refers to both. */
  for (const char *const *p = spec->attrs ? spec->attrs : kNone; *p; p++) spec_parse_attr(&parser, *p);
  for (const char *const *p = spec->inputs ? spec->inputs : kNone; *p; p++)
    spec_parse_arg(&parser, *p, false);
  for (const char *const *p = spec->outputs ? spec->outputs : kNone; *p; p++)
    spec_parse_arg(&parser, *p, true);
  for (const char *const *p = spec->control_outputs ? spec->control_outputs : kNone; *p; p++) {
    spec_parse_control_output(&parser, *p);
  }
  if (spec->doc) spec_parse_doc(&parser, spec->doc);
  set_flags(&parser, spec);
  TRY(spec_finish(&parser, status));
  *out = op_def;
  return true;
}

bool op_def_build(const OpDefSpec *spec, Arena *arena, OpDef **op_def, Status *status) {
  return build(spec, NULL, arena, op_def, status);
}

/* --- the builder --- */

enum { NUM_SPEC_KINDS = 4, KIND_ATTR = 0, KIND_INPUT = 1, KIND_OUTPUT = 2, KIND_CONTROL_OUTPUT = 3 };

struct OpDefBuilder {
  Arena *arena;
  OpDefSpec spec;
  ShapeFn shape;
  struct {
    char **texts; /* without the final NULL, which is added last */
    size_t count;
  } specs[NUM_SPEC_KINDS];
  const char *errors; /* NULL: none */
  bool out_of_memory;
};

OpDefBuilder *op_def_builder_new(Arena *arena, const char *name) {
  OpDefBuilder *builder = arena_calloc(arena, 1, sizeof *builder);
  char *copy = arena_strdup(arena, name);
  if (!builder || !copy) return NULL;
  builder->arena = arena;
  builder->spec.name = copy;
  return builder;
}

static char *copy_text(OpDefBuilder *builder, const char *text) {
  char *copy = arena_strdup(builder->arena, text);
  builder->out_of_memory |= !copy;
  return copy;
}

static void append_spec(OpDefBuilder *builder, int kind, char *text) {
  Status ignored;
  status_init(&ignored);
  if (!proto_append(builder->arena, (void ***)&builder->specs[kind].texts, &builder->specs[kind].count, text,
                    &ignored)) {
    builder->out_of_memory = true;
  }
}

static void add_spec(OpDefBuilder *builder, int kind, const char *text) {
  char *copy = copy_text(builder, text);
  if (copy) append_spec(builder, kind, copy);
}

void op_def_builder_attr(OpDefBuilder *builder, const char *spec) { add_spec(builder, KIND_ATTR, spec); }
void op_def_builder_input(OpDefBuilder *builder, const char *spec) { add_spec(builder, KIND_INPUT, spec); }
void op_def_builder_output(OpDefBuilder *builder, const char *spec) { add_spec(builder, KIND_OUTPUT, spec); }
void op_def_builder_control_output(OpDefBuilder *builder, const char *spec) {
  add_spec(builder, KIND_CONTROL_OUTPUT, spec);
}

static void add_error(OpDefBuilder *builder, const char *what) {
  const char *before = builder->errors ? builder->errors : "", *newline = builder->errors ? "\n" : "";
  builder->errors =
      arena_printf(builder->arena, "%s%s%s for Op %s", before, newline, what, builder->spec.name);
  builder->out_of_memory |= !builder->errors;
}

void op_def_builder_doc(OpDefBuilder *builder, const char *text) {
  if (builder->spec.doc && builder->spec.doc[0]) {
    add_error(builder, "Extra call to Doc()");
  } else if (!text_is_valid(text, strlen(text))) {
    add_error(builder, "Doc() was called with a text that is not UTF-8");
  } else {
    builder->spec.doc = copy_text(builder, text);
  }
}

void op_def_builder_deprecated(OpDefBuilder *builder, int version, const char *explanation) {
  if (builder->spec.deprecation_explanation) {
    add_error(builder, "Deprecated called twice");
  } else if (!text_is_valid(explanation, strlen(explanation))) {
    add_error(builder, "Deprecated was called with a text that is not UTF-8");
  } else {
    builder->spec.deprecated_version = version;
    builder->spec.deprecation_explanation = copy_text(builder, explanation);
  }
}

void op_def_builder_shape(OpDefBuilder *builder, ShapeFn shape) {
  if (builder->shape) {
    add_error(builder, "SetShapeFn called twice");
  } else {
    builder->shape = shape;
  }
}

void op_def_builder_is_stateful(OpDefBuilder *builder) { builder->spec.is_stateful = true; }
void op_def_builder_is_commutative(OpDefBuilder *builder) { builder->spec.is_commutative = true; }
void op_def_builder_is_aggregate(OpDefBuilder *builder) { builder->spec.is_aggregate = true; }
void op_def_builder_allows_uninitialized_input(OpDefBuilder *builder) {
  builder->spec.allows_uninitialized_input = true;
}
void op_def_builder_allow_attr_type_any(OpDefBuilder *builder) { builder->spec.allow_attr_type_any = true; }

bool op_def_builder_finalize(OpDefBuilder *builder, OpDef **op_def, ShapeFn *shape, Status *status) {
  for (int kind = 0; kind < NUM_SPEC_KINDS; kind++) append_spec(builder, kind, NULL);
  if (builder->out_of_memory) return status_oom(status, "an OpDef");
  OpDefSpec spec = builder->spec;
  spec.attrs = (const char *const *)builder->specs[KIND_ATTR].texts;
  spec.inputs = (const char *const *)builder->specs[KIND_INPUT].texts;
  spec.outputs = (const char *const *)builder->specs[KIND_OUTPUT].texts;
  spec.control_outputs = (const char *const *)builder->specs[KIND_CONTROL_OUTPUT].texts;
  TRY(build(&spec, builder->errors, builder->arena, op_def, status));
  if (shape) *shape = builder->shape;
  return true;
}
