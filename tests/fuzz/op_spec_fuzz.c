/* The languages of op specs, attr values and shapes. The input is lines of text that begin with a letter:
 *
 *   i x: T                                   an input of an op
 *   o y: T                                   an output
 *   a T: {float, int32} = DT_FLOAT           an attr
 *   c done                                   a control output
 *   d documentation
 *   v list(int) [1, 2]                       the value of an attr type
 *   s MatMul T=type: DT_FLOAT; [1,?];[?,2]   shapes for an op's shape function
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/graph_mutation.h"
#include "op/op_def_builder.h"
#include "op/shape_language.h"

static const char *terminated(Str text, Arena *arena) {
  const char *copy = arena_strndup(arena, text.data, text.length);
  return copy ? copy : "";
}

static void try_value(Str line, Arena *arena) {
  FuzzReader reader = {(const uint8_t *)line.data, (const uint8_t *)line.data + line.length};
  const char *type = terminated(fuzz_until(&reader, ' '), arena);
  Str text = fuzz_bytes(&reader, line.length);
  static const char *const fields[] = {"s",     "i",      "f",    "b",    "type",
                                       "shape", "tensor", "list", "func", "placeholder"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    Status status;
    status_init(&status);
    AttrValue *value = proto_new(kAttrValue, arena);
    if (!value || !proto_parse_field_text(fields[i], text, arena, value)) continue;
    AttrDef attr = TENSORFLOW__OP_DEF__ATTR_DEF__INIT;
    attr.name = "a";
    attr.type = (char *)type;
    bool has_type = attr_value_has_type(value, type, &status);
    fuzz_check_code(status.code, status.message);
    status_init(&status);
    bool valid = attr_value_validate(value, &attr, &status);
    fuzz_check_code(status.code, status.message);
    FUZZ_CHECK(!valid || has_type, "a value of another type is valid for '%s'", type);
  }
}

static void try_shapes(Str line, Arena *arena) {
  Status status;
  status_init(&status);
  FuzzReader reader = {(const uint8_t *)line.data, (const uint8_t *)line.data + line.length};
  const char *name = terminated(fuzz_until(&reader, ' '), arena);
  Str attrs = fuzz_until(&reader, ';');
  const char *shapes = terminated(fuzz_bytes(&reader, line.length), arena);
  const Op *op = op_registry_find(op_registry_global(), name);
  NodeDef *node = op ? node_def_new(arena, "n", name) : NULL;
  void *message;
  if (!node || !proto_parse_text(kNodeDef, attrs, arena, &message, &status)) return;
  node->n_attr = ((NodeDef *)message)->n_attr;
  node->attr = ((NodeDef *)message)->attr;
  InferenceContext c;
  bool ok = shape_trial_begin(&c, op, node, 2000, shapes, arena, &status) && shape_trial_run(&c, op, &status);
  fuzz_check_code(status.code, status.message);
  if (ok) {
    StrBuf text = {0};
    shape_language_print_outputs(&c, &text);
    strbuf_free(&text);
  }
}

/* Properties of every valid OpDef. */
static void use_op(const OpDef *op, Arena *arena) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  if (!op_def_validate(op, &status)) return fuzz_check_code(status.code, status.message);
  FUZZ_CHECK(op_def_equal(op, op), "an op does not equal itself");
  FUZZ_CHECK(op_def_compatible(op, op, &status) || status.code == CODE_RESOURCE_EXHAUSTED,
             "an op does not fit itself: %s", status.message);
  op_def_summarize(op, &text);
  strbuf_free(&text);
  fuzz_check_text(op, PROTO_TEXT_MULTI_LINE, arena);
  /* Values and inputs of its type: the attrs as a registered op would get them. */
  Random random = {op->n_attr};
  for (size_t i = 0; i < op->n_attr; i++) {
    AttrValue *value = random_attr_value(op->attr[i], arena, &random);
    status_init(&status);
    bool valid = value && attr_value_validate(value, op->attr[i], &status);
    FUZZ_CHECK(!valid || attr_value_has_type(value, op->attr[i]->type, &status), "%s", status.message);
  }
}

static void read_line(OpDefBuilder *builder, Str line, Arena *arena, bool *documented) {
  if (line.length < 2) return;
  Str rest = {line.data + 2, line.length - 2};
  const char *spec = terminated(rest, arena);
  switch (line.data[0]) {
    case 'i': op_def_builder_input(builder, spec); break;
    case 'o': op_def_builder_output(builder, spec); break;
    case 'a': op_def_builder_attr(builder, spec); break;
    case 'c': op_def_builder_control_output(builder, spec); break;
    case 'd':
      if (!*documented) op_def_builder_doc(builder, spec);
      *documented = true;
      break;
    case 'y': op_def_builder_allow_attr_type_any(builder); break;
    case 'v': try_value(rest, arena); break;
    case 's': try_shapes(rest, arena); break;
    default: break;
  }
}

static void run(const uint8_t *bytes, size_t size) {
  Status status;
  status_init(&status);
  FuzzReader reader = {bytes, bytes + size};
  Arena *arena = arena_new();
  OpDefBuilder *builder = arena ? op_def_builder_new(arena, "Op") : NULL;
  OpDef *op;
  bool documented = false;
  if (builder) {
    while (reader.at < reader.end) read_line(builder, fuzz_until(&reader, '\n'), arena, &documented);
    bool ok = op_def_builder_finalize(builder, &op, NULL, &status);
    fuzz_check_code(status.code, status.message);
    if (ok) use_op(op, arena);
  }
  arena_free(arena);
}

const FuzzTarget k_op_spec_fuzz = {"op_spec", run, mutate_words};
