/* Every function in the recorded facts, and every function of their GraphDefs: full text is lossless. */
#include <stdio.h>

#include "function/function_facts.h"
#include "function/text/function_text.h"

/* --- TensorFlow's ops, for `define` --- */

static bool make_op(void *arg, Arena *arena, OpRegistrationData *data, Status *status) {
  data->op_def = proto_copy(arg, arena);
  return data->op_def || status_oom(status, "an op");
}

/* The whole of a file, in memory of the heap. */
static StrBuf read_all(const char *path) {
  StrBuf text = {0};
  FILE *file = fopen(path, "rb");
  if (!CHECK(file)) return text;
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(&text, chunk, got);
  fclose(file);
  return text;
}

static FunctionLibraryDefinition *all_ops(OpRegistry *registry, Arena *arena) {
  StrBuf text = read_all("tests/data/ops.pbtxt");
  OpList *ops = fact_parse(kOpList, strbuf_text(&text), arena);
  Status status;
  status_init(&status);
  for (size_t i = 0; ops && i < ops->n_op; i++)
    CHECK_OK(op_registry_register(registry, make_op, ops->op[i], NULL, &status), &status);
  strbuf_free(&text);
  return function_library_new(registry, NULL);
}

/* --- the functions --- */

static int functions_seen, texts_seen;

static void check_full(const FunctionDef *function, Arena *arena) {
  Status status;
  status_init(&status);
  StrBuf text = {0};
  FunctionDef *back = NULL;
  if (CHECK_OK(function_print_full(function, &text, &status), &status) &&
      CHECK_OK(function_parse(str_of(strbuf_text(&text)), arena, &back, &status), &status) &&
      !CHECK(proto_equal(back, function))) {
    printf("%s\n", strbuf_text(&text));
  }
  strbuf_free(&text);
  functions_seen++;
}

static void check_library(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *graph = NULL;
  /* Texts may also describe something else. */
  if (!proto_parse_text(kGraphDef, str_of(text), arena, &graph, &status)) return;
  const FunctionDefLibrary *library = ((const GraphDef *)graph)->library;
  if (!library) return;
  texts_seen++;
  for (size_t i = 0; i < library->n_function; i++) check_full(library->function[i], arena);
}

static void look_into(const Json *json, const FunctionLibraryDefinition *ops, Arena *arena) {
  if (json->kind == JSON_STRING && strstr(json->string, "library {")) check_library(json->string, arena);
  if (json->kind == JSON_OBJECT && json_get(json, "mode") && json_get(json, "nodes")) {
    const FunctionDef *function = make_function_with(json, ops, arena);
    if (function) check_full(function, arena);
  }
  for (int i = 0; i < json->count; i++) look_into(&json->items[i], ops, arena);
}

/* The ops in a fact. */
static void add_ops(const Json *ops, OpRegistry *registry, Arena *arena) {
  Status status;
  status_init(&status);
  for (int i = 0; ops && i < ops->count; i++) {
    if (op_registry_find(registry, fact_text(&ops->items[i], "name"))) continue;
    CHECK_OK(op_registry_register(registry, make_op, fact_op_def(&ops->items[i], arena), NULL, &status),
             &status);
  }
}

static void look_into_file(const char *name, OpRegistry *registry, const FunctionLibraryDefinition *ops,
                           Arena *arena) {
  char path[512];
  snprintf(path, sizeof path, "tests/data/facts/%s", name);
  StrBuf text = read_all(path);
  for (const char *line = strbuf_text(&text); *line;) {
    size_t length = strcspn(line, "\n");
    const Json *fact = json_parse(arena, line, length);
    CHECK_CONTEXT("%s: %.80s", name, line);
    if (CHECK(fact)) {
      add_ops(json_get(fact, "ops"), registry, arena);
      look_into(fact, ops, arena);
    }
    line += length + (line[length] == '\n');
  }
  strbuf_free(&text);
}

TEST(full_texts_of_recorded_functions_give_them_back) {
  static const struct {
    const char *name;
    int functions, texts;
  } kFiles[] = {{"function.jsonl", 38, 0}, {"optimizer.jsonl", 47, 0}, {"import.jsonl", 4, 2}};
  Arena *arena = arena_new();
  OpRegistry *registry = op_registry_new();
  FunctionLibraryDefinition *ops = all_ops(registry, arena);
  for (size_t i = 0; i < sizeof kFiles / sizeof *kFiles; i++) {
    functions_seen = texts_seen = 0;
    look_into_file(kFiles[i].name, registry, ops, arena);
    CHECK_CONTEXT("%s", kFiles[i].name);
    CHECK_INT_EQ(functions_seen, kFiles[i].functions);
    CHECK_INT_EQ(texts_seen, kFiles[i].texts);
  }
  CHECK_CONTEXT("%s", "");
  function_library_free(ops);
  op_registry_free(registry);
  arena_free(arena);
}
