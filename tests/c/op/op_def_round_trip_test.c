/* TensorFlow's own ops, written in the spec language and parsed again, must be unchanged. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op/op_def_builder.h"

/* The value of a field of AttrValue in text format: the text after the field's name. */
static void append_field(const AttrValue *value, StrBuf *out) {
  StrBuf text = {0};
  proto_print_text(value, PROTO_TEXT_SHORT, &text);
  const char *brace = strchr(strbuf_text(&text), '{'), *colon = strchr(strbuf_text(&text), ':');
  strbuf_append(out, brace && (!colon || brace < colon) ? brace : colon + 1);
  strbuf_free(&text);
}

static void append_element(const AttrValue *element, size_t i, StrBuf *out) {
  if (i > 0) strbuf_append(out, ", ");
  append_field(element, out);
}

static void append_elements(const AttrListValue *list, StrBuf *out) {
  AttrValue element;
  tensorflow__attr_value__init(&element);
#define ELEMENTS(field, the_case)                                  \
  for (size_t i = 0; i < list->n_##field; i++) {                   \
    element.value_case = TENSORFLOW__ATTR_VALUE__VALUE_##the_case; \
    element.field = list->field[i];                                \
    append_element(&element, i, out);                              \
  }
  ELEMENTS(s, S)
  ELEMENTS(i, I)
  ELEMENTS(f, F)
  ELEMENTS(b, B)
  ELEMENTS(type, TYPE)
  ELEMENTS(shape, SHAPE)
#undef ELEMENTS
}

static void append_allowed(const AttrListValue *allowed, StrBuf *out) {
  strbuf_append(out, "{");
  for (size_t i = 0; i < allowed->n_type; i++) strbuf_printf(out, "%s, ", dtype_name((int)allowed->type[i]));
  if (allowed->n_s > 0) append_elements(allowed, out);
  strbuf_append(out, "}");
}

static void append_attr(const AttrDef *attr, StrBuf *out) {
  bool is_list = text_starts_with(attr->type, "list(");
  strbuf_printf(out, "%s: ", attr->name);
  if (attr->allowed_values) {
    if (is_list) strbuf_append(out, "list(");
    append_allowed(attr->allowed_values->list, out);
    if (is_list) strbuf_append(out, ")");
  } else {
    strbuf_append(out, attr->type);
  }
  if (attr->has_minimum) strbuf_printf(out, " >= %" PRId64, attr->minimum);
  if (!attr->default_value) return;
  strbuf_append(out, is_list ? " = [" : " = ");
  if (is_list) {
    append_elements(attr->default_value->list, out);
    strbuf_append(out, "]");
  } else {
    append_field(attr->default_value, out);
  }
}

static void append_arg(const ArgDef *arg, StrBuf *out) {
  const char *type = arg->type_attr[0]        ? arg->type_attr
                     : arg->type_list_attr[0] ? arg->type_list_attr
                                              : dtype_name((int)arg->type);
  strbuf_printf(out, "%s:%s%s%s%s%s", arg->name, arg->is_ref ? "Ref(" : " ", arg->number_attr,
                arg->number_attr[0] ? "*" : "", type, arg->is_ref ? ")" : "");
}

enum { MAX_SPECS = 64 };

/* Text of one spec in the arena. */
static const char *keep(StrBuf *text, Arena *arena) {
  const char *copy = arena_strdup(arena, strbuf_text(text));
  strbuf_clear(text);
  return copy;
}

static void check_round_trip(const OpDef *op, Arena *arena) {
  const char *attrs[MAX_SPECS] = {0}, *inputs[MAX_SPECS] = {0}, *outputs[MAX_SPECS] = {0};
  StrBuf text = {0};
  CHECK_CONTEXT("%s", op->name);
  for (size_t i = 0; i < op->n_attr; i++) append_attr(op->attr[i], &text), attrs[i] = keep(&text, arena);
  for (size_t i = 0; i < op->n_input_arg; i++)
    append_arg(op->input_arg[i], &text), inputs[i] = keep(&text, arena);
  for (size_t i = 0; i < op->n_output_arg; i++)
    append_arg(op->output_arg[i], &text), outputs[i] = keep(&text, arena);
  OpDefSpec spec = {.name = op->name,
                    .attrs = attrs,
                    .inputs = inputs,
                    .outputs = outputs,
                    .is_stateful = op->is_stateful,
                    .is_commutative = op->is_commutative,
                    .is_aggregate = op->is_aggregate,
                    .allows_uninitialized_input = op->allows_uninitialized_input};
  if (op->deprecation) {
    spec.deprecated_version = op->deprecation->version;
    spec.deprecation_explanation = op->deprecation->explanation;
  }
  Status status;
  status_init(&status);
  OpDef *built = NULL;
  if (CHECK_OK(op_def_build(&spec, arena, &built, &status), status)) {
    CHECK(proto_equal(built, op));
    CHECK(op_def_equal(built, op));
    CHECK_OK(op_def_validate(built, &status), status);
  }
  strbuf_free(&text);
}

TEST(the_ops_of_tensorflow_survive_the_spec_language) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  FILE *file = fopen("tests/data/ops.pbtxt", "rb");
  REQUIRE(file);
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(&text, chunk, got);
  fclose(file);
  Arena *arena = arena_new();
  void *message = NULL;
  if (CHECK_OK(proto_parse_text(kOpList, (Str){strbuf_text(&text), (size_t)text.length}, arena, &message,
                                &status),
               status)) {
    OpList *list = message;
    CHECK_INT_EQ(list->n_op, 1222);
    for (size_t i = 0; i < list->n_op; i++) check_round_trip(list->op[i], arena);
  }
  arena_free(arena);
  strbuf_free(&text);
}
