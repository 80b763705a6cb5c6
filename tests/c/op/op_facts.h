/* Recorded facts about TensorFlow, one JSON object per line, and helpers for their tests. A fact holds for
 * TensorFlow 1.15; its member `new` has the answer of a later TensorFlow if it differs, and either is
 * accepted. */
#ifndef TFCORE_TESTS_OP_FACTS_H_
#define TFCORE_TESTS_OP_FACTS_H_

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "json.h"
#include "op/op_def_builder.h"

/* Checks one fact with `answer`, the fact itself or its `new`. True if it holds; else `why` describes the
 * difference. */
typedef bool FactFn(const Json *fact, const Json *answer, Arena *arena, StrBuf *why);

static inline bool fact_differs(StrBuf *why, const char *what, const char *got, const char *want) {
  strbuf_printf(why, "%s is\n    \"%s\", not\n    \"%s\"", what, got, want);
  return false;
}

static inline const char *fact_text(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  return value && value->kind == JSON_STRING ? value->string : NULL;
}

/* `key` of the answer, else of the fact: `new` only has changed members. */
static inline const Json *fact_member(const Json *fact, const Json *answer, const char *key) {
  const Json *value = json_get(answer, key);
  return value ? value : json_get(fact, key);
}

/* Whether the answer is an error. An answer in `new` need not repeat the fact's kind of answer. */
static inline bool fact_wants_error(const Json *answer) { return json_get(answer, "error") != NULL; }

/* Compares `ok` and `status` with the answer's error. */
static inline bool fact_check_error(bool ok, const Status *status, const Json *answer, StrBuf *why) {
  if (ok) return fact_differs(why, "the outcome", "OK", "an error");
  const Json *code = json_get(answer, "code"), *texts = json_get(answer, "error");
  if (code && code->integer != (int64_t)status->code)
    return fact_differs(why, "the code", code_name(status->code), status->message);
  const char *match = fact_text(answer, "match");
  bool exact = match && strcmp(match, "exact") == 0;
  for (int i = 0; i < texts->count; i++) {
    const char *want = texts->items[i].string;
    bool holds = exact ? strcmp(status->message, want) == 0 : strstr(status->message, want) != NULL;
    if (!holds) return fact_differs(why, "the message", status->message, want);
  }
  return true;
}

static inline bool fact_check_ok(bool ok, const Status *status, StrBuf *why) {
  return ok || fact_differs(why, "the outcome", status->message, "OK");
}

/* A message from text format; NULL (and a failed check) if the fact is malformed. */
static inline void *fact_parse(const ProtoDescriptor *descriptor, const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *message = NULL;
  CHECK_OK(proto_parse_text(descriptor, str_of(text), arena, &message, &status), &status);
  return message;
}

static inline const char *const *fact_strings(const Json *array, Arena *arena) {
  int count = array ? array->count : 0;
  const char **strings = arena_calloc(arena, count + 1, sizeof *strings);
  for (int i = 0; strings && i < count; i++) strings[i] = array->items[i].string;
  return strings;
}

/* {"name", "attrs", "inputs", "outputs"} */
static inline OpDef *fact_op_def(const Json *object, Arena *arena) {
  Status status;
  status_init(&status);
  OpDefSpec spec = {
      .name = fact_text(object, "name"),
      .attrs = fact_strings(json_get(object, "attrs"), arena),
      .inputs = fact_strings(json_get(object, "inputs"), arena),
      .outputs = fact_strings(json_get(object, "outputs"), arena),
  };
  OpDef *op_def = NULL;
  CHECK_OK(op_def_build(&spec, arena, &op_def, &status), &status);
  return op_def;
}

/* False if the fact is not of the kind (NULL: any). */
static inline bool fact_run_line(const char *path, const char *kind, const char *line, size_t length,
                                 int number, FactFn *holds) {
  Arena *arena = arena_new();
  StrBuf why = {0};
  const Json *fact = json_parse(arena, line, length);
  CHECK_CONTEXT("%s, line %d", path, number);
  bool counts = CHECK(fact) && (!kind || strcmp(fact_text(fact, "kind"), kind) == 0);
  if (counts) {
    const Json *newer = json_get(fact, "new");
    bool ok = holds(fact, fact, arena, &why) || (newer && holds(fact, newer, arena, &why));
    if (!ok) printf("  %s:%d: %s\n", path, number, strbuf_text(&why));
    CHECK(ok);
  }
  strbuf_free(&why);
  arena_free(arena);
  return counts;
}

/* Runs the facts of a file with this `kind` (NULL: all), and checks that their number is `count`. */
static inline void facts_run_kind(const char *path, const char *kind, int count, FactFn *holds) {
  StrBuf text = {0};
  FILE *file = fopen(path, "rb");
  REQUIRE(file);
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(&text, chunk, got);
  fclose(file);
  int number = 0, found = 0;
  for (const char *line = strbuf_text(&text); *line;) {
    size_t length = strcspn(line, "\n");
    found += fact_run_line(path, kind, line, length, ++number, holds);
    line += length + (line[length] == '\n');
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(found, count);
  strbuf_free(&text);
}

static inline void facts_run(const char *path, int count, FactFn *holds) {
  facts_run_kind(path, NULL, count, holds);
}

#endif
