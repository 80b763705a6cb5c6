#include "op/node_def.h"
#include "op_facts.h"

/* --- values from JSON --- */

/* "DT_FLOAT": the text of field `type`. */
static int enum_number(const char *name, Arena *arena) {
  AttrValue value;
  return CHECK(proto_parse_field_text("type", str_of(name), arena, &value)) ? (int)value.type : DT_INVALID;
}

static AttrValue *make_list(const Json *json, Arena *arena) {
  if (json->count == 0) return attr_value_int_list(arena, NULL, 0);
  const Json *items = &json->items[0];
  const char *field = json->keys[0];
  size_t count = (size_t)items->count;
  int64_t ints[16];
  int types[16];
  bool bools[16];
  Str strings[16];
  for (int i = 0; i < items->count && i < 16; i++) {
    const Json *item = &items->items[i];
    ints[i] = item->integer;
    bools[i] = item->boolean;
    if (item->kind == JSON_STRING) strings[i] = str_of(item->string);
    if (strcmp(field, "type") == 0) types[i] = enum_number(item->string, arena);
  }
  if (strcmp(field, "i") == 0) return attr_value_int_list(arena, ints, count);
  if (strcmp(field, "b") == 0) return attr_value_bool_list(arena, bools, count);
  if (strcmp(field, "s") == 0) return attr_value_string_list(arena, strings, count);
  if (strcmp(field, "type") == 0) return attr_value_type_list(arena, types, count);
  CHECK_STR_EQ(field, "a list that the test knows");
  return NULL;
}

static AttrValue *make_value(const Json *json, Arena *arena) {
  const char *field = json->keys[0];
  const Json *value = &json->items[0];
  if (strcmp(field, "s") == 0) return attr_value_string(arena, value->string, strlen(value->string));
  if (strcmp(field, "i") == 0) return attr_value_int(arena, value->integer);
  if (strcmp(field, "f") == 0) return attr_value_float(arena, (float)value->number);
  if (strcmp(field, "b") == 0) return attr_value_bool(arena, value->boolean);
  if (strcmp(field, "type") == 0) return attr_value_type(arena, enum_number(value->string, arena));
  if (strcmp(field, "list") == 0) return make_list(value, arena);
  if (strcmp(field, "shape") == 0) {
    int64_t dims[8];
    for (int i = 0; i < value->count && i < 8; i++) dims[i] = value->items[i].integer;
    return attr_value_shape(arena, value->kind == JSON_NULL ? -1 : value->count, dims);
  }
  CHECK_STR_EQ(field, "a field that the test knows");
  return NULL;
}

/* --- build --- */

static void make_call(NodeDefBuilder *builder, const Json *call, Arena *arena) {
  const char *what = call->items[0].string;
  const Json *first = &call->items[1];
  if (strcmp(what, "input") == 0) {
    node_def_builder_input(builder, first->string, (int)call->items[2].integer,
                           (DataType)dtype_from_name(str_of(call->items[3].string)));
  } else if (strcmp(what, "input_list") == 0) {
    const char *nodes[8];
    int indexes[8];
    DataType types[8];
    for (int i = 0; i < first->count && i < 8; i++) {
      const Json *item = first->items[i].items;
      nodes[i] = item[0].string;
      indexes[i] = (int)item[1].integer;
      types[i] = (DataType)dtype_from_name(str_of(item[2].string));
    }
    node_def_builder_input_list(builder, nodes, indexes, types, first->count);
  } else if (strcmp(what, "control") == 0) {
    node_def_builder_control_input(builder, first->string);
  } else if (strcmp(what, "device") == 0) {
    node_def_builder_device(builder, first->string);
  } else if (strcmp(what, "attr") == 0) {
    node_def_builder_attr(builder, first->string, make_value(&call->items[2], arena));
  } else {
    CHECK_STR_EQ(what, "a call that the test knows");
  }
}

static bool same_text(const char *what, StrBuf *got, const char *want, StrBuf *why) {
  bool same = strcmp(strbuf_text(got), want) == 0 || fact_differs(why, what, strbuf_text(got), want);
  strbuf_free(got);
  return same;
}

static bool same_types(const DataType *types, int count, const Json *want, StrBuf *why) {
  if (count != want->count) return fact_differs(why, "the number of types", "another", "it");
  for (int i = 0; i < count; i++) {
    if (strcmp(dtype_name(types[i]), want->items[i].string) != 0) {
      return fact_differs(why, "a type", dtype_name(types[i]), want->items[i].string);
    }
  }
  return true;
}

static bool same_node(const NodeDef *got, const NodeDef *want, StrBuf *why) {
  if (proto_equal(got, want)) return true;
  StrBuf a = {0}, b = {0};
  proto_print_text(got, PROTO_TEXT_SHORT, &a);
  proto_print_text(want, PROTO_TEXT_SHORT, &b);
  fact_differs(why, "the NodeDef", strbuf_text(&a), strbuf_text(&b));
  strbuf_free(&a);
  strbuf_free(&b);
  return false;
}

static bool holds_build(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  OpDef *op_def = fact_op_def(json_get(fact, "opdef"), arena);
  if (!op_def) return false;
  NodeDefBuilder *builder = node_def_builder_new(arena, fact_text(fact, "node"), op_def);
  const Json *calls = json_get(fact, "calls");
  for (int i = 0; i < calls->count; i++) make_call(builder, &calls->items[i], arena);
  NodeDef *node = NULL;
  bool ok = node_def_builder_finalize(builder, &node, &status);
  bool late = fact_text(fact, "stage") != NULL;
  if (ok && (late || !fact_wants_error(answer))) ok = node_def_validate(node, op_def, &status);
  if (fact_wants_error(answer)) return fact_check_error(ok, &status, answer, why);
  if (!fact_check_ok(ok, &status, why)) return false;

  NodeDef *want = fact_parse(kNodeDef, fact_text(answer, "expect_nodedef"), arena);
  if (!want || !same_node(node, want, why)) return false;
  DataType *inputs, *outputs;
  int num_inputs, num_outputs;
  ok = node_def_types(node, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, &status);
  return fact_check_ok(ok, &status, why) &&
         same_types(inputs, num_inputs, json_get(answer, "in_types"), why) &&
         same_types(outputs, num_outputs, json_get(answer, "out_types"), why);
}

/* --- facts about a node --- */

static bool holds_types(const NodeDef *node, const OpDef *op_def, const Json *answer, Arena *arena,
                        StrBuf *why) {
  Status status;
  status_init(&status);
  DataType *inputs, *outputs;
  int num_inputs, num_outputs;
  bool ok = node_def_types(node, op_def, arena, &inputs, &num_inputs, &outputs, &num_outputs, &status);
  return fact_check_error(ok, &status, answer, why);
}

static bool same_ranges(ArgDef *const *args, size_t num_args, const int *starts, const Json *want,
                        StrBuf *why) {
  if ((int)num_args != want->count) return fact_differs(why, "the number of args", "another", "it");
  for (size_t i = 0; i < num_args; i++) {
    const Json *range = json_get(want, args[i]->name);
    if (!range || range->items[0].integer != starts[i] || range->items[1].integer != starts[i + 1]) {
      return fact_differs(why, args[i]->name, "elsewhere", "where it should be");
    }
  }
  return true;
}

static bool holds_name_ranges(const NodeDef *node, const OpDef *op_def, const Json *answer, Arena *arena,
                              StrBuf *why) {
  Status status;
  status_init(&status);
  int *inputs = NULL, *outputs = NULL;
  bool ok = node_def_arg_ranges(node, op_def, false, arena, &inputs, &status) &&
            node_def_arg_ranges(node, op_def, true, arena, &outputs, &status);
  if (fact_wants_error(answer)) return fact_check_error(ok, &status, answer, why);
  const Json *want = json_get(answer, "expect");
  return fact_check_ok(ok, &status, why) &&
         same_ranges(op_def->input_arg, op_def->n_input_arg, inputs, json_get(want, "inputs"), why) &&
         same_ranges(op_def->output_arg, op_def->n_output_arg, outputs, json_get(want, "outputs"), why);
}

static bool holds_prefix_suffix(NodeDef *node, const Json *answer, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  bool ok = node_def_add_prefix_and_suffix(node, arena, fact_text(answer, "prefix"),
                                           fact_text(answer, "suffix"), &status);
  NodeDef *want = fact_parse(kNodeDef, fact_text(answer, "expect_nodedef"), arena);
  return fact_check_ok(ok, &status, why) && want && same_node(node, want, why);
}

typedef struct Renaming {
  const Json *fact;
  Arena *arena;
} Renaming;

static const char *rename_by_map(void *arg, Str name) {
  const Renaming *renaming = arg;
  const Json *map = json_get(renaming->fact, "map");
  return fact_text(map, arena_strndup(renaming->arena, name.data, name.length));
}

static const char *rename_by_prefix(void *arg, Str name) {
  const Renaming *renaming = arg;
  const Json *nodes = json_get(renaming->fact, "match_nodes");
  for (int i = 0; i < nodes->count; i++) {
    if (!str_equal_text(name, nodes->items[i].string)) continue;
    return arena_printf(renaming->arena, "%s%s", fact_text(renaming->fact, "prefix"), nodes->items[i].string);
  }
  return NULL;
}

static bool holds_colocation(NodeDef *node, const Json *fact, NodeRenameFn rename, Arena *arena,
                             StrBuf *why) {
  Status status;
  status_init(&status);
  Renaming renaming = {fact, arena};
  if (!fact_check_ok(node_def_rename_colocation(node, arena, rename, &renaming, &status), &status, why))
    return false;
  const AttrListValue *list = NULL;
  if (!fact_check_ok(node_attr_list(node, "_class", ATTR_STRING, &list, &status), &status, why)) return false;
  const Json *want = json_get(fact, "expect_class");
  if ((int)list->n_s != want->count) return fact_differs(why, "the length of _class", "another", "it");
  for (int i = 0; i < want->count; i++) {
    if (!str_equal_text((Str){(const char *)list->s[i].data, list->s[i].len}, want->items[i].string)) {
      return fact_differs(why, "an entry of _class", "another", want->items[i].string);
    }
  }
  return true;
}

/* Facts with a `nodedef`; *known says whether this is one. */
static bool holds_of_node(const char *kind, const Json *fact, const Json *answer, Arena *arena, StrBuf *why,
                          bool *known) {
  *known = fact_text(fact, "nodedef") != NULL;
  NodeDef *node = *known ? fact_parse(kNodeDef, fact_text(fact, "nodedef"), arena) : NULL;
  if (!node) return false;
  const Json *op = json_get(fact, "opdef");
  OpDef *op_def = op ? fact_op_def(op, arena) : NULL;
  Status status;
  status_init(&status);
  StrBuf text = {0};
  bool wants_error = fact_wants_error(answer);
  if (strcmp(kind, "validate") == 0) {
    bool ok = op_def && node_def_validate(node, op_def, &status);
    return wants_error ? fact_check_error(ok, &status, answer, why) : fact_check_ok(ok, &status, why);
  }
  if (strcmp(kind, "syntax") == 0) {
    bool ok = node_def_validate_syntax(node, &status);
    return wants_error ? fact_check_error(ok, &status, answer, why) : fact_check_ok(ok, &status, why);
  }
  if (strcmp(kind, "summarize") == 0) {
    node_def_summarize(node, &text);
    return same_text("the summary", &text, fact_text(answer, "expect_summary"), why);
  }
  if (strcmp(kind, "format_error") == 0) {
    node_def_format_for_error(node, &text);
    return same_text("the node", &text, fact_text(answer, "expect"), why);
  }
  if (strcmp(kind, "types") == 0) return op_def && holds_types(node, op_def, answer, arena, why);
  if (strcmp(kind, "name_ranges") == 0) return op_def && holds_name_ranges(node, op_def, answer, arena, why);
  if (strcmp(kind, "prefix_suffix") == 0) return holds_prefix_suffix(node, answer, arena, why);
  if (strcmp(kind, "colocation_prefix") == 0)
    return holds_colocation(node, fact, rename_by_prefix, arena, why);
  if (strcmp(kind, "colocation_map") == 0) return holds_colocation(node, fact, rename_by_map, arena, why);
  *known = false;
  return false;
}

/* --- facts about attr values --- */

static const AttrValue *look_up_placeholder(void *arg, const char *name) {
  const Renaming *values = arg;
  const char *text = fact_text(values->fact, name);
  return text ? fact_parse(kAttrValue, text, values->arena) : NULL;
}

static bool holds_summary(const AttrValue *value, const Json *answer, StrBuf *why) {
  StrBuf text = {0};
  attr_value_summarize(value, &text);
  const char *prefix = fact_text(answer, "expect_prefix");
  if (prefix && text.length > (int64_t)strlen(prefix)) text.data[strlen(prefix)] = '\0';
  return same_text("the summary", &text, prefix ? prefix : fact_text(answer, "expect"), why);
}

static bool holds_of_value(const char *kind, const Json *fact, const Json *answer, Arena *arena, StrBuf *why,
                           bool *known) {
  Status status;
  status_init(&status);
  *known = fact_text(fact, "attr_value") != NULL;
  const AttrValue *value = *known ? fact_parse(kAttrValue, fact_text(fact, "attr_value"), arena) : NULL;
  if (!value) return false;
  if (strcmp(kind, "attr_has_type") == 0) {
    bool ok = attr_value_has_type(value, fact_text(fact, "type"), &status);
    return fact_wants_error(answer) ? fact_check_error(ok, &status, answer, why)
                                    : fact_check_ok(ok, &status, why);
  }
  if (strcmp(kind, "attr_summarize") == 0) {
    const Json *placeholder = json_get(fact, "has_placeholder");
    CHECK_INT_EQ(attr_value_has_placeholder(value), placeholder && placeholder->boolean);
    return holds_summary(value, answer, why);
  }
  if (strcmp(kind, "attr_substitute") == 0) {
    Renaming values = {json_get(fact, "substitute"), arena};
    const AttrValue *bound = NULL;
    bool ok = attr_value_substitute(value, look_up_placeholder, &values, arena, &bound, &status);
    return fact_check_ok(ok, &status, why) && holds_summary(bound, answer, why);
  }
  *known = false;
  return false;
}

static bool holds_attach(const Json *fact, StrBuf *why) {
  Status status;
  status_init(&status);
  status_invalid(&status, "%s", fact_text(fact, "message"));
  const Json *nodes = json_get(fact, "nodes"), *want = json_get(fact, "expect");
  for (int i = 0; i < nodes->count; i++) {
    NodeDef node;
    tensorflow__node_def__init(&node);
    node.name = nodes->items[i].string;
    node_def_attach(&node, json_get(fact, "allow_multiple_formatted_node")->boolean, &status);
    if (strcmp(status.message, want->items[i].string) != 0) {
      return fact_differs(why, "the message", status.message, want->items[i].string);
    }
  }
  return true;
}

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  const char *kind = fact_text(fact, "kind");
  if (strcmp(kind, "build") == 0) return holds_build(fact, answer, arena, why);
  if (strcmp(kind, "attach_def") == 0) return holds_attach(fact, why);
  if (strcmp(kind, "attr_equal") == 0) {
    const AttrValue *a = fact_parse(kAttrValue, fact_text(fact, "a"), arena);
    const AttrValue *b = fact_parse(kAttrValue, fact_text(fact, "b"), arena);
    bool want = json_get(fact, "equal")->boolean;
    return a && b &&
           (attr_value_equal(a, b) == want ||
            fact_differs(why, "equality", "another", want ? "true" : "false"));
  }
  if (strcmp(kind, "tensor_byte_size") == 0) {
    /* A size of -1 says that the bytes cannot be counted in an int64. */
    Status status;
    status_init(&status);
    const TensorProto *tensor = fact_parse(kTensorProto, fact_text(fact, "tensor"), arena);
    bool ok = tensor && tensor_proto_validate(tensor, &status);
    return ok == (!json_get(fact, "expect")) || fact_differs(why, "the outcome", status.message, "the other");
  }
  bool known, ok = holds_of_node(kind, fact, answer, arena, why, &known);
  if (!known) ok = holds_of_value(kind, fact, answer, arena, why, &known);
  return known ? ok : fact_differs(why, "the kind", kind, "one that the test knows");
}

TEST(recorded_facts_about_node_defs_hold) { facts_run("tests/data/facts/nodedef.jsonl", 126, holds); }
