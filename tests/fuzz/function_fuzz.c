/* Function text: parsed, printed, instantiated, called in a graph, differentiated, run. */
#include <string.h>

#include "fuzz/graph_mutation.h"
#include "fuzz/graph_runner.h"
#include "function/text/function_text.h"
#include "function/function_body.h"
#include "function/function_canonicalize.h"

enum { MAX_ARGS = 8, MAX_CALLS = 4 };

/* function_print_full is lossless: its text is parsed to a function that prints the same. */
static void print_and_read(const FunctionDef *function, Arena *arena) {
  Status status;
  status_init(&status);
  StrBuf text = {0}, second = {0};
  FunctionDef *again;
  if (function_print_full(function, &text, &status)) {
    bool ok = function_parse((Str){strbuf_text(&text), (size_t)text.length}, arena, &again, &status);
    FUZZ_CHECK(ok || status.code == CODE_RESOURCE_EXHAUSTED, "printed text is not read: %s\n%s",
               status.message, strbuf_text(&text));
    bool printed = ok && function_print_full(again, &second, &status);
    FUZZ_CHECK(!printed || strcmp(strbuf_text(&text), strbuf_text(&second)) == 0,
               "another function\n%s\nis read from\n%s", strbuf_text(&second), strbuf_text(&text));
  }
  strbuf_clear(&text);
  function_print(function, &text);
  strbuf_free(&text);
  strbuf_free(&second);
}

static void instantiate(const FunctionDef *function, const NodeDef *call) {
  Status status;
  status_init(&status);
  FunctionBody *body = NULL;
  StrBuf text = {0};
  bool ok = function_body_new(NULL, function, (const AttrEntry *const *)call->attr, (int)call->n_attr, &body,
                              &status);
  ok = ok && function_body_print(body, &text, &status);
  function_body_free(body);
  fuzz_check_code(status.code, status.message);
  function_canonicalize(call->op, (const AttrEntry *const *)call->attr, (int)call->n_attr, &text);
  strbuf_free(&text);
}

/* Placeholders for a call's inputs, with the types given by the signature and the attrs; lists are
 * left out. */
static bool add_inputs(GraphDef *def, const OpDef *signature, NodeDef *call, Arena *arena, Status *status) {
  for (size_t i = 0; i < signature->n_input_arg && i < MAX_ARGS; i++) {
    const ArgDef *arg = signature->input_arg[i];
    const AttrValue *bound = arg->type_attr[0] ? node_def_attr(call, arg->type_attr) : NULL;
    int type = arg->type_attr[0]
                   ? (bound && bound->value_case == (int)ATTR_TYPE ? (int)bound->type : DT_FLOAT)
                   : (int)arg->type;
    const char *name = arena_printf(arena, "%s_%s", call->name, arg->name);
    NodeDef *node = name ? node_def_new(arena, name, "Placeholder") : NULL;
    AttrValue *value = attr_value_type(arena, type);
    if (!node || !value) return false;
    TRY(node_def_set_attr(node, arena, "dtype", value, status));
    TRY(node_def_add_input(call, arena, name, status));
    TRY(proto_append(arena, (void ***)&def->node, &def->n_node, node, status));
  }
  return true;
}

/* A node that calls the function, usually with attrs that the signature allows. */
static bool add_call(GraphDef *def, const FunctionDef *function, Arena *arena, Random *random,
                     Status *status) {
  const OpDef *signature = function->signature;
  if (!signature || !signature->name[0]) return true;
  const char *name = arena_printf(arena, "call%d", (int)def->n_node);
  NodeDef *call = name ? node_def_new(arena, name, signature->name) : NULL;
  if (!call) return false;
  for (size_t i = 0; i < signature->n_attr; i++) {
    AttrValue *value = random_attr_value(signature->attr[i], arena, random);
    if (value) TRY(node_def_set_attr(call, arena, signature->attr[i]->name, value, status));
  }
  instantiate(function, call);
  TRY(add_inputs(def, signature, call, arena, status));
  return proto_append(arena, (void ***)&def->node, &def->n_node, call, status);
}

static void use_library(FunctionDefLibrary *library, Arena *arena, Random *random) {
  Status status;
  status_init(&status);
  GraphDef *def = proto_new(kGraphDef, arena);
  if (!def) return;
  def->library = library;
  for (size_t i = 0; i < library->n_function; i++) {
    print_and_read(library->function[i], arena);
    if (i < MAX_CALLS && !add_call(def, library->function[i], arena, random, &status)) return;
  }
  fuzz_graph_message(def, random);
}

static void run(const uint8_t *bytes, size_t size) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDefLibrary *library;
  if (arena && function_parse_library((Str){(const char *)bytes, size}, arena, &library, &status)) {
    Random random = fuzz_random(bytes, size);
    use_library(library, arena, &random);
  } else {
    fuzz_check_code(status.code, status.message);
  }
  arena_free(arena);
}

static size_t mutate(uint8_t *bytes, size_t size, size_t capacity, Random *random) {
  size_t changed =
      one_in(random, 3) ? 0 : mutate_graph_input(kGraphAsFunctions, bytes, size, capacity, random);
  return changed > 0 ? changed : mutate_words(bytes, size, capacity, random);
}

const FuzzTarget k_function_fuzz = {"function", run, mutate};
