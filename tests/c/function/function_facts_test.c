/* Recorded facts about functions: building, printing, instantiating and comparing them. */
#include "function/function_facts.h"

#include "function/call_frame.h"
#include "function/text/function_text.h"
#include "function/function_body.h"
#include "function/function_canonicalize.h"
#include "shortage.h"

/* --- checks --- */

static bool same_text(const StrBuf *got, const char *what, const char *want, StrBuf *why) {
  return strcmp(strbuf_text(got), want) == 0 || fact_differs(why, what, strbuf_text(got), want);
}

static bool same_types(const DataType *types, int count, const Json *want, StrBuf *why) {
  if (!want) return true;
  if (want->count != count) return fact_differs(why, "the number of types", "another", "as expected");
  for (int i = 0; i < count; i++) {
    if (strcmp(dtype_name(types[i]), want->items[i].string) != 0)
      return fact_differs(why, "a type", dtype_name(types[i]), want->items[i].string);
  }
  return true;
}

static bool same_ops(const FunctionBody *body, const Json *want, StrBuf *why) {
  for (int i = 0; want && i < want->count; i++) {
    if (strcmp(want->keys[i], "count") == 0) {
      if (want->items[i].integer != graph_num_nodes(body->graph) - (SINK_ID + 1))
        return fact_differs(why, "the number of nodes", "another", "as expected");
    } else {
      const char *op = graph_node(body->graph, SINK_ID + 1 + atoi(want->keys[i]))->def->op;
      if (strcmp(op, want->items[i].string) != 0)
        return fact_differs(why, "an op", op, want->items[i].string);
    }
  }
  return true;
}

static bool holds_body(const FunctionBody *body, const Json *want, StrBuf *why) {
  StrBuf text = {0};
  Status status;
  status_init(&status);
  const char *printed = fact_text(want, "expect_debug");
  bool holds = fact_check_ok(function_body_print(body, &text, &status), &status, why) &&
               (!printed || same_text(&text, "the body", printed, why)) &&
               same_types(body->arg_types, body->num_args, json_get(want, "arg_types"), why) &&
               same_types(body->ret_types, body->num_rets, json_get(want, "ret_types"), why) &&
               same_ops(body, json_get(want, "node_ops"), why);
  strbuf_free(&text);
  return holds;
}

static bool holds_instantiated(const FunctionDef *function, const Json *want, Arena *arena, StrBuf *why) {
  Shortage shortage = {.what = "instantiating"};
  NodeDef *attrs = node_def_new(arena, "", "");
  add_attrs(attrs, json_get(want, "attrs"), arena);
  bool holds;
  do {
    Status status;
    FunctionBody *body = NULL;
    status_init(&status);
    shortage_begin(&shortage);
    bool ok = function_body_new(NULL, function, (const AttrEntry *const *)attrs->attr, (int)attrs->n_attr,
                                &body, &status);
    shortage_end(&shortage, ok, status.code);
    if (!ok && status.code == CODE_RESOURCE_EXHAUSTED) holds = true;
    else if (fact_wants_error(want)) holds = fact_check_error(ok, &status, want, why);
    else holds = fact_check_ok(ok, &status, why) && holds_body(body, want, why);
    function_body_free(body);
  } while (holds && shortage_next(&shortage));
  return holds;
}

/* TensorFlow's text is also parsed, to an equal function except for what the text omits. */
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

/* --- libraries --- */

/* A function of the fact, under another name if the step says so, and with attrs. */
static FunctionDef *step_function(const Json *fact, const Json *step, Arena *arena) {
  FunctionDef *function =
      make_function(json_get(json_get(fact, "functions"), fact_text(step, "function")), arena);
  if (!function) return NULL;
  const char *name = fact_text(step, "rename");
  if (name) function->signature->name = (char *)name;
  add_function_attrs(function, json_get(step, "function_attr"), arena);
  return function;
}

static FunctionDefLibrary *step_library(const Json *fact, const Json *step, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDefLibrary *proto = proto_new(kFunctionDefLibrary, arena);
  const Json *functions = json_get(step, "functions"), *gradients = json_get(step, "gradients");
  for (int i = 0; i < functions->count; i++) {
    CHECK_OK(proto_append(arena, (void ***)&proto->function, &proto->n_function,
                          step_function(fact, &functions->items[i], arena), &status),
             &status);
  }
  for (int i = 0; i < gradients->count; i++) {
    GradientDef *gradient = proto_new(&tensorflow__gradient_def__descriptor, arena);
    gradient->function_name = gradients->items[i].items[0].string;
    gradient->gradient_func = gradients->items[i].items[1].string;
    CHECK_OK(proto_append(arena, (void ***)&proto->gradient, &proto->n_gradient, gradient, &status), &status);
  }
  return proto;
}

static bool same_op_def(const Op *op, const char *want, Arena *arena, StrBuf *why) {
  if (!want) return true;
  StrBuf text = {0};
  proto_print_text(op->def, PROTO_TEXT_SHORT, &text);
  bool same = op_def_equal(op->def, fact_parse(kOpDef, want, arena)) ||
              fact_differs(why, "the OpDef", strbuf_text(&text), want);
  strbuf_free(&text);
  return same;
}

static bool same_flag(bool got, bool want, const char *what, StrBuf *why) {
  return got == want || fact_differs(why, what, got ? "true" : "false", want ? "true" : "false");
}

static bool holds_size(const FunctionLibraryDefinition *library, const Json *step, StrBuf *why) {
  return same_flag(function_library_num_functions(library) == json_get(step, "functions")->integer, true,
                   "the number of functions", why) &&
         same_flag(function_library_num_gradients(library) == json_get(step, "gradients")->integer, true,
                   "the number of gradients", why);
}

static bool holds_names(const FunctionLibraryDefinition *library, const Json *names, StrBuf *why) {
  bool ok =
      same_flag(function_library_num_functions(library) == names->count, true, "the number of names", why);
  for (int i = 0; ok && i < names->count; i++)
    ok = same_flag(function_library_contains(library, names->items[i].string), true, "a name", why);
  return ok;
}

/* The library as a proto, and from its bytes a new one. */
static bool round_trip(FunctionLibraryDefinition **library, Arena *arena, Status *status) {
  FunctionDefLibrary *proto;
  FunctionLibraryDefinition *again;
  StrBuf bytes = {0};
  void *parsed;
  bool ok =
      function_library_to_proto(*library, arena, &proto, status) && proto_serialize(proto, &bytes, status) &&
      proto_parse(kFunctionDefLibrary, strbuf_text(&bytes), (size_t)bytes.length, arena, &parsed, status) &&
      function_library_from_proto(op_registry_global(), parsed, &again, status);
  strbuf_free(&bytes);
  if (!ok) return false;
  function_library_free(*library);
  *library = again;
  return true;
}

static bool holds_step(const Json *fact, const Json *step, FunctionLibraryDefinition **library, Arena *arena,
                       StrBuf *why) {
  Status status;
  status_init(&status);
  const char *what = fact_text(step, "do");
  const Op *op = NULL;
  const AttrValue *value = NULL;
  bool ok;
  if (strcmp(what, "contains") == 0) {
    return same_flag(function_library_contains(*library, fact_text(step, "name")),
                     json_get(step, "expect")->boolean, "contains", why);
  }
  if (strcmp(what, "size") == 0) return holds_size(*library, step, why);
  if (strcmp(what, "list_names") == 0) return holds_names(*library, json_get(step, "expect_set"), why);
  if (strcmp(what, "add_function") == 0) {
    ok = function_library_add_function(*library, step_function(fact, step, arena), &status);
  } else if (strcmp(what, "add_gradient") == 0) {
    ok = function_library_add_gradient(*library, fact_text(step, "function_name"),
                                       fact_text(step, "gradient_func"), &status);
  } else if (strcmp(what, "add_library") == 0) {
    ok = function_library_add_proto(*library, step_library(fact, step, arena), &status);
  } else if (strcmp(what, "lookup_op") == 0) {
    ok = function_library_look_up(*library, fact_text(step, "name"), &op, &status);
  } else if (strcmp(what, "get_attr") == 0) {
    ok = function_library_get_attr(*library, fact_parse(kNodeDef, fact_text(step, "nodedef"), arena),
                                   fact_text(step, "attr"), &value, &status);
  } else if (strcmp(what, "roundtrip") == 0) {
    ok = round_trip(library, arena, &status);
  } else {
    return fact_differs(why, "a step", what, "known");
  }
  if (fact_wants_error(step)) return fact_check_error(ok, &status, step, why);
  if (!fact_check_ok(ok, &status, why)) return false;
  if (op) return same_op_def(op, fact_text(step, "expect_opdef_text"), arena, why);
  return !value || same_flag(attr_value_equal(value, make_value(json_get(step, "value"), arena)), true,
                             "the value is right", why);
}

static bool holds_library(const Json *fact, Arena *arena, StrBuf *why) {
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL);
  const Json *steps = json_get(fact, "steps");
  bool ok = true;
  for (int i = 0; ok && i < steps->count; i++) ok = holds_step(fact, &steps->items[i], &library, arena, why);
  function_library_free(library);
  return ok;
}

static bool holds_reachable(const Json *fact, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  FunctionLibraryDefinition *library = function_library_new(op_registry_global(), NULL), *reachable = NULL;
  const Json *functions = json_get(fact, "functions"), *gradients = json_get(fact, "gradients"),
             *expect = json_get(fact, "expect");
  bool ok = true;
  for (int i = 0; ok && i < functions->count; i++)
    ok = function_library_add_function(library, make_function(&functions->items[i], arena), &status);
  for (int i = 0; ok && i < gradients->count; i++) {
    const Json *pair = &gradients->items[i];
    ok = function_library_add_gradient(library, pair->items[0].string, pair->items[1].string, &status);
  }
  ok = ok && function_library_reachable(library, fact_parse(kGraphDef, fact_text(fact, "graphdef"), arena),
                                        &reachable, &status);
  ok = fact_check_ok(ok, &status, why) &&
       same_flag(function_library_num_functions(reachable) == json_get(expect, "num_functions")->integer,
                 true, "the number of functions", why);
  const Json *there = json_get(expect, "contains"), *gone = json_get(expect, "not_contains");
  for (int i = 0; ok && i < there->count; i++)
    ok = same_flag(function_library_contains(reachable, there->items[i].string), true, there->items[i].string,
                   why);
  for (int i = 0; ok && i < gone->count; i++)
    ok = same_flag(function_library_contains(reachable, gone->items[i].string), false, gone->items[i].string,
                   why);
  function_library_free(reachable);
  function_library_free(library);
  return ok;
}

/* --- call frames --- */

static Tensor make_frame_tensor(const Json *json) {
  Status status;
  status_init(&status);
  Tensor tensor = {0};
  Arena *arena = arena_new();
  CHECK_OK(tensor_from_proto(make_tensor(json, arena), &tensor, &status), &status);
  arena_free(arena);
  return tensor;
}

static bool holds_frame_step(FunctionCallFrame *frame, const Json *step, StrBuf *why) {
  Status status;
  status_init(&status);
  const char *what = fact_text(step, "do");
  const Json *index = json_get(step, "index"), *args = json_get(step, "args"),
             *value = json_get(step, "value");
  Tensor tensors[4] = {{0}};
  const Tensor *pointers[] = {&tensors[0], &tensors[1], &tensors[2], &tensors[3]}, *arg;
  bool ok;
  if (strcmp(what, "set_args") == 0) {
    for (int i = 0; i < args->count && i < 4; i++) tensors[i] = make_frame_tensor(&args->items[i]);
    ok = call_frame_set_args(frame, pointers, args->count, &status);
  } else if (strcmp(what, "get_arg") == 0) {
    ok = call_frame_get_arg(frame, (int)index->integer, &arg, &status);
  } else if (strcmp(what, "set_retval") == 0) {
    tensors[0] = make_frame_tensor(value);
    ok = call_frame_set_retval(frame, (int)index->integer, &tensors[0], &status);
  } else {
    CHECK_STR_EQ(what, "get_retvals");
    CHECK_INT_EQ(json_get(step, "values")->count, frame->num_rets);
    ok = call_frame_get_retvals(frame, tensors, &status);
  }
  for (int i = 0; i < 4; i++) tensor_clear(&tensors[i]);
  return fact_wants_error(step) ? fact_check_error(ok, &status, step, why) : fact_check_ok(ok, &status, why);
}

static bool holds_call_frame(const Json *fact, StrBuf *why) {
  Status status;
  status_init(&status);
  FunctionCallFrame frame;
  /* The facts are about functions without arguments and results. */
  CHECK_INT_EQ(json_get(fact, "arg_types")->count + json_get(fact, "ret_types")->count, 0);
  if (!CHECK_OK(call_frame_init(&frame, NULL, 0, NULL, 0, &status), &status)) return false;
  const Json *steps = json_get(fact, "steps");
  bool ok = true;
  for (int i = 0; ok && i < steps->count; i++) ok = holds_frame_step(&frame, &steps->items[i], why);
  call_frame_free(&frame);
  return ok;
}

/* --- all facts --- */

static bool holds_canonicalized(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  NodeDef *attrs = node_def_new(arena, "", "");
  StrBuf text = {0};
  add_attrs(attrs, json_get(fact, "attrs"), arena);
  function_canonicalize(fact_text(fact, "name"), (const AttrEntry *const *)attrs->attr, (int)attrs->n_attr,
                        &text);
  bool ok = same_text(&text, "the name", fact_text(answer, "expect"), why);
  strbuf_free(&text);
  return ok;
}

static bool holds_equality(const Json *fact, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  const FunctionDef *a = fact_parse(kFunctionDef, fact_text(fact, "a"), arena),
                    *b = fact_parse(kFunctionDef, fact_text(fact, "b"), arena);
  bool equal = false;
  return a && b && fact_check_ok(function_defs_equal(a, b, &equal, &status), &status, why) &&
         same_flag(equal, json_get(fact, "equal")->boolean, "equality", why);
}

static int kinds_run[5];

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  static const char *const kKinds[] = {"canonicalize", "functions_equal", "library", "call_frame",
                                       "reachable"};
  const char *kind = fact_text(fact, "kind");
  for (int i = 0; i < 5; i++) kinds_run[i] += strcmp(kind, kKinds[i]) == 0;
  if (strcmp(kind, "canonicalize") == 0) return holds_canonicalized(fact, answer, arena, why);
  if (strcmp(kind, "functions_equal") == 0) return holds_equality(fact, arena, why);
  if (strcmp(kind, "library") == 0) return holds_library(fact, arena, why);
  if (strcmp(kind, "call_frame") == 0) return holds_call_frame(fact, why);
  if (strcmp(kind, "reachable") == 0) return holds_reachable(fact, arena, why);
  if (strcmp(kind, "function") != 0) return fact_differs(why, "the kind", kind, "known");
  const FunctionDef *function = make_function(json_get(fact, "function"), arena);
  const char *printed = fact_text(answer, "expect_debug");
  const Json *instantiate = json_get(answer, "instantiate");
  return function && (!printed || holds_printed(function, printed, arena, why)) &&
         (!instantiate || holds_instantiated(function, instantiate, arena, why));
}

TEST(recorded_facts_about_functions_hold) {
  for (int i = 0; i < 5; i++) kinds_run[i] = 0;
  facts_run("tests/data/facts/function.jsonl", 33, holds);
  static const int kWant[] = {2, 4, 8, 1, 1}; /* the other 17 are functions */
  for (int i = 0; i < 5; i++) CHECK_INT_EQ(kinds_run[i], kWant[i]);
  printf("  33 facts about functions\n");
}
