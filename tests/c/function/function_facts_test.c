/* Recorded facts about functions: building, printing, instantiating and comparing them. */
#include <stdlib.h>
#include <string.h>

#include "function/function_text.h"
#include "function/instantiate.h"
#include "op/node_def.h"
#include "op/op_facts.h"
#include "op/op_registry.h"

/* --- values and functions from JSON --- */

static AttrValue *make_value(const Json *json, Arena *arena);

static AttrValue *make_func(const Json *json, Arena *arena) {
  Status status;
  status_init(&status);
  NameAttrList *func = proto_new(&tensorflow__name_attr_list__descriptor, arena);
  const Json *attrs = json_get(json, "attr");
  for (int i = 0; i < attrs->count; i++) {
    FuncAttrEntry *entry = proto_new(&tensorflow__name_attr_list__attr_entry__descriptor, arena);
    entry->key = attrs->keys[i];
    entry->value = make_value(&attrs->items[i], arena);
    CHECK_OK(proto_append(arena, (void ***)&func->attr, &func->n_attr, entry, &status), &status);
  }
  return attr_value_func(arena, fact_text(json, "name"), func);
}

/* A scalar of an integer type. */
static AttrValue *make_tensor(const Json *json, Arena *arena) {
  StrBuf text = {0};
  const char *dtype = fact_text(json, "dtype");
  bool is_int64 = strcmp(dtype, "int64") == 0;
  CHECK(is_int64 || strcmp(dtype, "int32") == 0);
  CHECK_INT_EQ(json_get(json, "shape")->count, 0);
  strbuf_printf(&text, "dtype: DT_%s tensor_shape { } %s: %lld", is_int64 ? "INT64" : "INT32",
                is_int64 ? "int64_val" : "int_val", (long long)json_get(json, "values")->items[0].integer);
  AttrValue *value = attr_value_tensor(arena, fact_parse(kTensorProto, strbuf_text(&text), arena));
  strbuf_free(&text);
  return value;
}

static int type_number(const char *enum_name) {
  for (int i = 0; i < NUM_DTYPES; i++) {
    if (strcmp(dtype_enum_name(i), enum_name) == 0) return i;
  }
  return DT_INVALID;
}

static AttrValue *make_value(const Json *json, Arena *arena) {
  const char *field = json->keys[0];
  const Json *value = &json->items[0];
  if (strcmp(field, "s") == 0) return attr_value_string(arena, value->string, strlen(value->string));
  if (strcmp(field, "i") == 0) return attr_value_int(arena, value->integer);
  if (strcmp(field, "b") == 0) return attr_value_bool(arena, value->boolean);
  if (strcmp(field, "type") == 0) return attr_value_type(arena, type_number(value->string));
  if (strcmp(field, "placeholder") == 0) return attr_value_placeholder(arena, value->string);
  if (strcmp(field, "tensor") == 0) return make_tensor(value, arena);
  if (strcmp(field, "func") == 0) return make_func(value, arena);
  const Json *types = json_get(value, "type");
  int numbers[8];
  CHECK(strcmp(field, "list") == 0 && types != NULL && types->count <= 8);
  for (int i = 0; types != NULL && i < types->count && i < 8; i++)
    numbers[i] = type_number(types->items[i].string);
  return attr_value_type_list(arena, numbers, types == NULL ? 0 : (size_t)types->count);
}

static void add_attrs(NodeDef *node, const Json *attrs, Arena *arena) {
  Status status;
  status_init(&status);
  for (int i = 0; attrs != NULL && i < attrs->count; i++) {
    CHECK_OK(node_def_set_attr(node, arena, attrs->keys[i], make_value(&attrs->items[i], arena), &status),
             &status);
  }
}

/* In a `define`d function inputs and results are named after the values that nodes return. */
typedef struct Names {
  const char *names[64], *values[64];
  int count;
} Names;

static const char *value_of(const Names *names, const char *name) {
  for (int i = 0; i < names->count; i++) {
    if (strcmp(names->names[i], name) == 0) return names->values[i];
  }
  return name;
}

static void name_outputs(Names *names, const NodeDef *node, const Json *rets, Arena *arena) {
  const Op *op = op_registry_find(op_registry_global(), node->op);
  if (!CHECK(op != NULL)) return;
  for (int i = 0; i < rets->count && i < (int)op->def->n_output_arg; i++) {
    names->names[names->count] = rets->items[i].string;
    names->values[names->count++] = arena_printf(arena, "%s:%s:0", node->name, op->def->output_arg[i]->name);
  }
}

static void add_ret(FunctionDef *function, const char *key, const char *value, Arena *arena) {
  Status status;
  status_init(&status);
  Tensorflow__FunctionDef__RetEntry *entry =
      proto_new(&tensorflow__function_def__ret_entry__descriptor, arena);
  entry->key = (char *)key;
  entry->value = (char *)value;
  CHECK_OK(proto_append(arena, (void ***)&function->ret, &function->n_ret, entry, &status), &status);
}

static FunctionDef *make_function(const Json *json, Arena *arena) {
  Status status;
  status_init(&status);
  bool define = strcmp(fact_text(json, "mode"), "define") == 0;
  OpDefSpec spec = {.name = fact_text(json, "name"),
                    .inputs = fact_strings(json_get(json, "args"), arena),
                    .outputs = fact_strings(json_get(json, "rets"), arena),
                    .attrs = fact_strings(json_get(json, "attrs"), arena),
                    .allow_attr_type_any = true};
  FunctionDef *function = proto_new(kFunctionDef, arena);
  Names names = {.count = 0};
  if (!CHECK_OK(op_def_build(&spec, arena, &function->signature, &status), &status)) return NULL;
  const Json *nodes = json_get(json, "nodes");
  for (int i = 0; i < nodes->count; i++) {
    const Json *from = &nodes->items[i], *args = json_get(from, "arg"), *deps = json_get(from, "dep");
    NodeDef *node = node_def_new(arena, json_get(from, "ret")->items[0].string, fact_text(from, "op"));
    for (int k = 0; k < args->count; k++) {
      const char *input = args->items[k].string;
      CHECK_OK(node_def_add_input(node, arena, define ? value_of(&names, input) : input, &status), &status);
    }
    for (int k = 0; deps != NULL && k < deps->count; k++) {
      CHECK_OK(node_def_add_input(node, arena, arena_printf(arena, "^%s", deps->items[k].string), &status),
               &status);
    }
    add_attrs(node, json_get(from, "attr"), arena);
    if (define) name_outputs(&names, node, json_get(from, "ret"), arena);
    CHECK_OK(proto_append(arena, (void ***)&function->node_def, &function->n_node_def, node, &status),
             &status);
  }
  const Json *ret = json_get(json, "ret"), *attrs = json_get(json, "function_attr");
  for (int i = 0; ret != NULL && i < ret->count; i++)
    add_ret(function, ret->keys[i], ret->items[i].string, arena);
  for (size_t i = 0; define && i < function->signature->n_output_arg; i++) {
    const char *name = function->signature->output_arg[i]->name;
    add_ret(function, name, value_of(&names, name), arena);
  }
  for (int i = 0; attrs != NULL && i < attrs->count; i++) {
    Tensorflow__FunctionDef__AttrEntry *entry =
        proto_new(&tensorflow__function_def__attr_entry__descriptor, arena);
    entry->key = attrs->keys[i];
    entry->value = make_value(&attrs->items[i], arena);
    CHECK_OK(proto_append(arena, (void ***)&function->attr, &function->n_attr, entry, &status), &status);
  }
  return function;
}

/* --- what must hold --- */

static bool same_text(const StrBuf *got, const char *what, const char *want, StrBuf *why) {
  return strcmp(strbuf_text(got), want) == 0 || fact_differs(why, what, strbuf_text(got), want);
}

static bool same_types(const DataType *types, int count, const Json *want, StrBuf *why) {
  if (want == NULL) return true;
  if (want->count != count) return fact_differs(why, "the number of types", "another", "as expected");
  for (int i = 0; i < count; i++) {
    if (strcmp(dtype_name(types[i]), want->items[i].string) != 0)
      return fact_differs(why, "a type", dtype_name(types[i]), want->items[i].string);
  }
  return true;
}

static bool same_ops(const InstantiationResult *body, const Json *want, StrBuf *why) {
  for (int i = 0; want != NULL && i < want->count; i++) {
    if (strcmp(want->keys[i], "count") == 0) {
      if (want->items[i].integer != body->num_nodes)
        return fact_differs(why, "the number of nodes", "another", "as expected");
    } else {
      const char *op = body->nodes[atoi(want->keys[i])].def->op;
      if (strcmp(op, want->items[i].string) != 0)
        return fact_differs(why, "an op", op, want->items[i].string);
    }
  }
  return true;
}

static bool holds_instantiated(const FunctionDef *function, const Json *want, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  NodeDef *attrs = node_def_new(arena, "", "");
  add_attrs(attrs, json_get(want, "attrs"), arena);
  InstantiationResult *body;
  bool ok = function_instantiate(NULL, function, (const AttrEntry *const *)attrs->attr, (int)attrs->n_attr,
                                 arena, &body, &status);
  if (fact_wants_error(want)) return fact_check_error(ok, &status, want, why);
  if (!fact_check_ok(ok, &status, why)) return false;
  StrBuf text = {0};
  instantiation_print(body, &text);
  const char *printed = fact_text(want, "expect_debug");
  bool holds = (printed == NULL || same_text(&text, "the body", printed, why)) &&
               same_types(body->arg_types, body->num_args, json_get(want, "arg_types"), why) &&
               same_types(body->ret_types, body->num_rets, json_get(want, "ret_types"), why) &&
               same_ops(body, json_get(want, "node_ops"), why);
  strbuf_free(&text);
  return holds;
}

/* The text that TensorFlow prints is also parsed: to an equal function, but for what the text does not say.
 */
static bool holds_printed(const FunctionDef *function, const char *want, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  StrBuf text = {0}, again = {0};
  FunctionDef *parsed;
  function_print(function, &text);
  bool holds = same_text(&text, "the text", want, why) &&
               fact_check_ok(function_parse(str_of(want), arena, &parsed, &status), &status, why);
  if (holds) function_print(parsed, &again);
  holds = holds && same_text(&again, "the text printed again", want, why);
  for (size_t i = 0; holds && i < function->n_node_def; i++) {
    holds = proto_equal(function->node_def[i], parsed->node_def[i]) ||
            fact_differs(why, "a node read back", "another", function->node_def[i]->name);
  }
  strbuf_free(&text);
  strbuf_free(&again);
  return holds;
}

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  const char *kind = fact_text(fact, "kind");
  if (strcmp(kind, "canonicalize") == 0) {
    NodeDef *attrs = node_def_new(arena, "", "");
    StrBuf text = {0};
    add_attrs(attrs, json_get(fact, "attrs"), arena);
    function_canonicalize(fact_text(fact, "name"), (const AttrEntry *const *)attrs->attr, (int)attrs->n_attr,
                          &text);
    bool ok = same_text(&text, "the name", fact_text(answer, "expect"), why);
    strbuf_free(&text);
    return ok;
  }
  if (strcmp(kind, "functions_equal") == 0) {
    const FunctionDef *a = fact_parse(kFunctionDef, fact_text(fact, "a"), arena),
                      *b = fact_parse(kFunctionDef, fact_text(fact, "b"), arena);
    bool want = json_get(fact, "equal")->boolean;
    return a && b &&
           (proto_equal(a, b) == want || fact_differs(why, "equality", "another", want ? "true" : "false"));
  }
  const FunctionDef *function = make_function(json_get(fact, "function"), arena);
  const char *printed = fact_text(answer, "expect_debug");
  const Json *instantiate = json_get(answer, "instantiate");
  return function != NULL && (printed == NULL || holds_printed(function, printed, arena, why)) &&
         (instantiate == NULL || holds_instantiated(function, instantiate, arena, why));
}

TEST(recorded_facts_about_functions_hold) {
  facts_run(TFCORE_SOURCE_DIR "/tests/data/facts/function.jsonl", 23, holds);
}
