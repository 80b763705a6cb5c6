#include "shape_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"
#include "op/shape_language.h"
#include "shortage.h"

enum { CURRENT_GRAPH_DEF_VERSION = 134 };

int shape_facts_parse(InferenceContext *c, const char *text, ShapeHandle shapes[SHAPE_FACTS_MAX_SHAPES]) {
  ShapeHandle *parsed;
  int count;
  Status status;
  status_init(&status);
  if (!shape_language_parse(c, text, &parsed, &count, &status) || count > SHAPE_FACTS_MAX_SHAPES) return -1;
  memcpy(shapes, parsed, (size_t)count * sizeof *shapes);
  return count;
}

/* --- comparing outputs --- */

/* The next piece up to `separator`, without surrounding blanks; `rest` advances past it. */
static Str next_piece(Str *rest, char separator) {
  const char *found = rest->length == 0 ? NULL : memchr(rest->data, separator, rest->length);
  Str piece = {rest->data, !found ? rest->length : (size_t)(found - rest->data)};
  size_t taken = !found ? piece.length : piece.length + 1;
  rest->data += taken;
  rest->length -= taken;
  while (piece.length > 0 && *piece.data == ' ') piece.data++, piece.length--;
  while (piece.length > 0 && piece.data[piece.length - 1] == ' ') piece.length--;
  return piece;
}

/* Whether `name` (such as "d0_1") is one of the alternatives in "d0_0|d0_1". */
static bool among(Str alternatives, Str name) {
  while (alternatives.length > 0) {
    if (str_equal(next_piece(&alternatives, '|'), name)) return true;
  }
  return false;
}

static bool match_shape(Str got, Str expected) {
  if (got.length < 2 || got.data[0] != '[' || expected.length < 2 || expected.data[0] != '[')
    return among(expected, got);
  Str got_dims = {got.data + 1, got.length - 2}, expected_dims = {expected.data + 1, expected.length - 2};
  while (got_dims.length > 0 && expected_dims.length > 0) {
    Str dim = next_piece(&got_dims, ',');
    if (!among(next_piece(&expected_dims, ','), dim)) return false;
  }
  return got_dims.length == expected_dims.length;
}

static void print_shapes(const ShapeHandle *shapes, int count, StrBuf *out) {
  for (int i = 0; i < count; i++) {
    if (i > 0) strbuf_append_char(out, ';');
    shape_handle_print(shapes[i], out);
  }
}

bool shape_facts_match(const InferenceContext *c, const char *expected, StrBuf *why) {
  StrBuf text = {0};
  shape_language_print_outputs(c, &text);
  Str got = {strbuf_text(&text), text.length}, rest = str_of(expected);
  bool same = (c->num_outputs == 0) == (rest.length == 0);
  for (int i = 0; same && i < c->num_outputs; i++) {
    same = c->outputs[i] && rest.length > 0 && match_shape(next_piece(&got, ';'), next_piece(&rest, ';'));
  }
  same = same && rest.length == 0;
  if (!same) strbuf_printf(why, "got %s, want %s", strbuf_text(&text), expected);
  strbuf_free(&text);
  return same;
}

/* Values alone. */
static bool match_values(const InferenceContext *c, const char *expected, StrBuf *why) {
  StrBuf got = {0};
  print_shapes(c->outputs, c->num_outputs, &got);
  bool same = strcmp(strbuf_text(&got), expected) == 0;
  if (!same) strbuf_printf(why, "got %s, want %s", strbuf_text(&got), expected);
  strbuf_free(&got);
  return same;
}

/* --- nodes from records --- */

static int type_of_enum_name(const char *name) {
  for (int type = 1; type < NUM_DTYPES; type++) {
    if (strcmp(dtype_enum_name(type), name) == 0) return type;
  }
  return DT_INVALID;
}

static AttrValue *shape_value(Arena *arena, const Json *value) {
  if (value->kind != JSON_ARRAY) return attr_value_shape(arena, -1, NULL);
  int64_t dims[SHAPE_FACTS_MAX_SHAPES];
  for (int i = 0; i < value->count && i < SHAPE_FACTS_MAX_SHAPES; i++) dims[i] = value->items[i].integer;
  return attr_value_shape(arena, value->count, dims);
}

static AttrValue *list_value(Arena *arena, const char *kind, const Json *values) {
  enum { MOST = 64 };
  int64_t ints[MOST];
  float floats[MOST];
  bool bools[MOST];
  int types[MOST];
  Str strings[MOST];
  const TensorShapeProto *shapes[MOST];
  if (values->count > MOST) return NULL;
  for (int i = 0; i < values->count; i++) {
    const Json *item = &values->items[i];
    ints[i] = item->integer;
    floats[i] = (float)item->number;
    bools[i] = item->boolean;
    types[i] = item->kind == JSON_STRING ? type_of_enum_name(item->string) : DT_INVALID;
    strings[i] = item->kind == JSON_STRING ? str_of(item->string) : (Str){"", 0};
    AttrValue *shape = strcmp(kind, "shape") == 0 ? shape_value(arena, item) : NULL;
    shapes[i] = !shape ? NULL : shape->shape;
  }
  size_t count = (size_t)values->count;
  switch (kind[0]) {
    case 'i': return attr_value_int_list(arena, ints, count);
    case 'f': return attr_value_float_list(arena, floats, count);
    case 'b': return attr_value_bool_list(arena, bools, count);
    case 't': return attr_value_type_list(arena, types, count);
    case 's':
      return kind[1] == 'h' ? attr_value_shape_list(arena, shapes, count)
                            : attr_value_string_list(arena, strings, count);
    default: return NULL;
  }
}

static AttrValue *value_of_json(Arena *arena, const Json *json) {
  if (json->kind != JSON_OBJECT || json->count > 1) return NULL;
  if (json->count == 0) return proto_new(kAttrValue, arena);
  const char *kind = json->keys[0];
  const Json *value = &json->items[0];
  if (strcmp(kind, "i") == 0) return attr_value_int(arena, value->integer);
  if (strcmp(kind, "f") == 0) return attr_value_float(arena, (float)value->number);
  if (strcmp(kind, "b") == 0) return attr_value_bool(arena, value->boolean);
  if (strcmp(kind, "s") == 0) return attr_value_string(arena, value->string, strlen(value->string));
  if (strcmp(kind, "type") == 0) return attr_value_type(arena, type_of_enum_name(value->string));
  if (strcmp(kind, "shape") == 0) return shape_value(arena, value);
  if (strcmp(kind, "list") == 0 && value->kind == JSON_OBJECT && value->count == 1) {
    return list_value(arena, value->keys[0], &value->items[0]);
  }
  return NULL;
}

static bool contains_string(const Json *array, const char *text) {
  for (int i = 0; array && i < array->count; i++) {
    if (strcmp(array->items[i].string, text) == 0) return true;
  }
  return false;
}

/* Attrs that our op definitions lack are omitted: the caller has checked that they have their default. */
static bool make_node(const Json *fact, const OpDef *op_def, Arena *arena, NodeDef **node, Status *status) {
  *node = node_def_new(arena, "test", op_def->name);
  if (!*node) return status_oom(status, "a fact");
  const Json *attrs = json_get(fact, "attrs"), *new_attrs = json_get(fact, "new_attrs");
  for (int i = 0; i < attrs->count; i++) {
    if (contains_string(new_attrs, attrs->keys[i]) && !op_def_attr(op_def, attrs->keys[i])) continue;
    AttrValue *value = value_of_json(arena, &attrs->items[i]);
    if (!value) return status_invalid(status, "attr %s of the record cannot be read", attrs->keys[i]);
    TRY(node_def_set_attr(*node, arena, attrs->keys[i], value, status));
  }
  return true;
}

static bool make_tensor(const Json *json, Tensor *tensor, Status *status) {
  const Json *shape = json_get(json, "shape"), *values = json_get(json, "values");
  int64_t dims[SHAPE_FACTS_MAX_SHAPES];
  for (int i = 0; i < shape->count && i < SHAPE_FACTS_MAX_SHAPES; i++) dims[i] = shape->items[i].integer;
  int type = type_of_enum_name(json_get(json, "dtype")->string);
  TRY(tensor_allocate_dims(tensor, (DataType)type, shape->count, dims, NULL, status));
  for (int i = 0; i < values->count; i++) {
    if (type == DT_INT32) {
      tensor_i32(tensor)[i] = (int32_t)values->items[i].integer;
    } else if (type == DT_INT64) {
      tensor_i64(tensor)[i] = values->items[i].integer;
    } else {
      return status_invalid(status, "no record was expected to give values of type %s", dtype_name(type));
    }
  }
  return true;
}

/* [["[1,?]", "DT_FLOAT"], ...] */
static const HandleData *make_handle_data(InferenceContext *c, const Json *json) {
  HandleData *data = arena_alloc(c->arena, sizeof *data);
  ShapeAndType *entries = arena_calloc(c->arena, json->count + 1, sizeof *entries);
  if (!data || !entries) return NULL;
  for (int i = 0; i < json->count; i++) {
    ShapeHandle shapes[SHAPE_FACTS_MAX_SHAPES];
    if (shape_facts_parse(c, json->items[i].items[0].string, shapes) != 1) return NULL;
    entries[i] = (ShapeAndType){shapes[0], (DataType)type_of_enum_name(json->items[i].items[1].string)};
  }
  *data = (HandleData){.count = json->count, .entries = entries};
  return data;
}

static bool match_handles(const InferenceContext *c, const Json *expected, StrBuf *why) {
  bool same = true;
  for (int k = 0; k < expected->count; k++) {
    int output = atoi(expected->keys[k]);
    const Json *want = &expected->items[k];
    const HandleData *got = output < c->num_outputs ? c->output_handles[output] : NULL;
    bool this_same = got && got->count == want->count;
    for (int i = 0; this_same && i < want->count; i++) {
      StrBuf text = {0};
      shape_handle_print(got->entries[i].shape, &text);
      this_same = strcmp(strbuf_text(&text), want->items[i].items[0].string) == 0 &&
                  strcmp(dtype_enum_name((int)got->entries[i].dtype), want->items[i].items[1].string) == 0;
      strbuf_free(&text);
    }
    if (!this_same) strbuf_printf(why, "handle data of output %d differs; ", output);
    same = same && this_same;
  }
  return same;
}

/* --- one record --- */

/* Whether an attr that our op definition lacks has TensorFlow 2's default value, so that it can be
 * omitted. */
static bool can_leave_out(const Json *fact, const OpDef *op_def) {
  const Json *new_attrs = json_get(fact, "new_attrs");
  for (int i = 0; new_attrs && i < new_attrs->count; i++) {
    const char *name = new_attrs->items[i].string;
    if (op_def_attr(op_def, name)) continue;
    const Json *value = json_get(json_get(fact, "attrs"), name);
    const Json *b = json_get(value, "b"), *type = json_get(value, "type");
    bool is_default = (strcmp(name, "incompatible_shape_error") == 0 && b && b->boolean) ||
                      strcmp(name, "exponential_avg_factor") == 0 || /* shapes do not depend on it */
                      (strcmp(name, "shape_type") == 0 && type && strcmp(type->string, "DT_INT32") == 0);
    if (!is_default) return false;
  }
  return true;
}

typedef struct FactRun {
  InferenceContext context;
  NodeDef *node;
  Tensor values[SHAPE_FACTS_MAX_SHAPES];
  const Tensor *input_tensors[SHAPE_FACTS_MAX_SHAPES];
  const HandleData *input_handles[SHAPE_FACTS_MAX_SHAPES];
} FactRun;

static bool prepare(FactRun *run, const Json *fact, const Op *op, Arena *arena, Status *status) {
  const Json *version = json_get(fact, "graph_def_version"), *tensors = json_get(fact, "tensors"),
             *handles = json_get(fact, "handles");
  InferenceContext *c = &run->context;
  TRY(make_node(fact, op->def, arena, &run->node, status));
  TRY(shape_trial_begin(c, op, run->node, !version ? CURRENT_GRAPH_DEF_VERSION : (int)version->integer,
                        json_get(fact, "in")->string, arena, status));
  if (c->num_inputs > SHAPE_FACTS_MAX_SHAPES)
    return status_invalid(status, "the record has more inputs than any was expected to have");
  c->input_tensors = run->input_tensors;
  c->input_handles = run->input_handles;
  for (int i = 0; tensors && i < tensors->count; i++) {
    int input = atoi(tensors->keys[i]);
    TRY(make_tensor(&tensors->items[i], &run->values[input], status));
    run->input_tensors[input] = &run->values[input];
  }
  for (int i = 0; handles && i < handles->count; i++) {
    run->input_handles[atoi(handles->keys[i])] = make_handle_data(c, &handles->items[i]);
  }
  return true;
}

/* The text of a record may begin with the code. */
static bool error_matches(const Status *error, const char *part, StrBuf *why) {
  StrBuf text = {0};
  strbuf_printf(&text, "%s: %s", code_name(error->code), error->message);
  bool matches = strstr(strbuf_text(&text), part) != NULL;
  if (!matches) strbuf_printf(why, "failed with \"%s\", want \"%s\"", strbuf_text(&text), part);
  strbuf_free(&text);
  return matches;
}

static bool judge(const FactRun *run, const Json *fact, bool ok, const Status *status, StrBuf *why) {
  const Json *error = json_get(fact, "error"), *out = json_get(fact, "out");
  const Json *values = json_get(fact, "out_values"), *handles = json_get(fact, "out_handles");
  if (!ok) {
    if (error) return error_matches(status, error->string, why);
    strbuf_printf(why, "failed with \"%s\"", status->message);
    return false;
  }
  if (error) {
    strbuf_append(why, "got ");
    shape_language_print_outputs(&run->context, why);
    strbuf_printf(why, ", want the error \"%s\"", error->string);
    return false;
  }
  return (!out || shape_facts_match(&run->context, out->string, why)) &&
         (!values || match_values(&run->context, values->string, why)) &&
         (!handles || match_handles(&run->context, handles, why));
}

/* One round of the record. */
static bool try_once(const Json *fact, const Op *op, Shortage *shortage, StrBuf *why) {
  Arena *arena = arena_new();
  FactRun *run = !arena ? NULL : arena_calloc(arena, 1, sizeof *run);
  bool holds = false;
  Status status;
  status_init(&status);
  if (run && prepare(run, fact, op, arena, &status)) {
    shortage_begin(shortage);
    bool ok = shape_trial_run(&run->context, op, &status);
    shortage_end(shortage, ok, status.code);
    /* An error reported without memory may lack words, but its code is correct. */
    holds = (!ok && shortage_is_on(shortage)) || judge(run, fact, ok, &status, why);
  } else {
    strbuf_append(why, !run ? "out of memory" : status.message);
  }
  for (int i = 0; run && i < SHAPE_FACTS_MAX_SHAPES; i++) tensor_clear(&run->values[i]);
  arena_free(arena);
  return holds;
}

ShapeFactResult shape_fact_run(const Json *fact, const Op *op, StrBuf *why) {
  if (!op) return SHAPE_FACT_NO_OP;
  if (!can_leave_out(fact, op->def)) return SHAPE_FACT_NEW_ATTR;
  char what[100];
  snprintf(what, sizeof what, "the shapes of %s %.60s", op->def->name, json_get(fact, "in")->string);
  Shortage shortage = {.what = what};
  do {
    if (!try_once(fact, op, &shortage, why)) return SHAPE_FACT_FAILS;
  } while (shortage_next(&shortage));
  return SHAPE_FACT_HOLDS;
}

/* --- all records --- */

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    text = size < 0 ? NULL : mem_alloc((int64_t)size + 1);
    *length = !text ? 0 : fread(text, 1, (size_t)size, file);
  }
  fclose(file);
  return text;
}

/* One record a line. */
static void run_line(const char *line, size_t length, int number,
                     const Op *(*find)(void *arg, const char *name), void *arg,
                     int counts[SHAPE_FACT_RESULTS]) {
  Arena *arena = arena_new();
  const Json *fact = json_parse(arena, line, length);
  CHECK_CONTEXT("line %d: %s %s", number, !fact ? "?" : json_get(fact, "op")->string,
                !fact ? "?" : json_get(fact, "in")->string);
  if (CHECK(fact)) {
    StrBuf why = {0};
    ShapeFactResult result = shape_fact_run(fact, find(arg, json_get(fact, "op")->string), &why);
    counts[result]++;
    CHECK_STR_EQ(result == SHAPE_FACT_FAILS ? strbuf_text(&why) : "", "");
    strbuf_free(&why);
  }
  arena_free(arena);
}

void shape_facts_run_all(const char *path, const Op *(*find)(void *arg, const char *name), void *arg,
                         int counts[SHAPE_FACT_RESULTS]) {
  size_t length = 0;
  char *text = read_file(path, &length);
  REQUIRE(text);
  memset(counts, 0, SHAPE_FACT_RESULTS * sizeof *counts);
  int number = 0;
  for (const char *line = text, *end = text + length; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) stop = end;
    if (stop > line) run_line(line, (size_t)(stop - line), ++number, find, arg, counts);
    line = stop + 1;
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(number, 1196);
  mem_free(text);
}
