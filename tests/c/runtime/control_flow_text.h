/* Graphs with control flow, one node per line, for the tests of programs:
 *
 *   "i0 Enter zero @1 ; T=DT_INT32 frame_name='loop'"      name, op, inputs, device ; attrs
 *
 * Inputs are written as in a NodeDef ("switch:1", "^node"). Attrs are types, texts in '', numbers, true,
 * false, and shapes as [5,2,3] or unknown; `int=3`, `float=2.5` and `bool=true` of a Const are its dtype and
 * scalar value, `ints=[1,20]` its vector. Nodes may read later nodes.
 */
#ifndef TFCORE_TESTS_RUNTIME_CONTROL_FLOW_TEXT_H_
#define TFCORE_TESTS_RUNTIME_CONTROL_FLOW_TEXT_H_

#include <stdlib.h>
#include <string.h>

#include "runtime/session_fixture.h"

static inline void write_attr(StrBuf *out, const char *key, const char *value) {
  static const struct {
    const char *key, *type, *field;
  } kValues[] = {{"int", "DT_INT32", "int_val"},
                 {"float", "DT_FLOAT", "float_val"},
                 {"bool", "DT_BOOL", "bool_val"}};
  for (int i = 0; i < 3; i++) {
    if (strcmp(key, kValues[i].key) != 0) continue;
    strbuf_printf(out, " attr { key: 'dtype' value { type: %s } }", kValues[i].type);
    strbuf_printf(out, " attr { key: 'value' value { tensor { dtype: %s tensor_shape { } %s: %s } } }",
                  kValues[i].type, kValues[i].field, value);
    return;
  }
  if (strcmp(key, "ints") == 0) {
    int count = 1;
    for (const char *at = value; *at; at++) count += *at == ',';
    strbuf_append(out, " attr { key: 'dtype' value { type: DT_INT32 } }");
    strbuf_printf(out,
                  " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: %d } } "
                  "int_val: %s } } }",
                  count, value);
    return;
  }
  if (value[0] == 'u') {
    strbuf_printf(out, " attr { key: '%s' value { shape { unknown_rank: true } } }", key);
    return;
  }
  if (value[0] == '[') {
    strbuf_printf(out, " attr { key: '%s' value { shape {", key);
    for (const char *at = value; at[1] != ']' && *at != ']'; at = strpbrk(at + 1, ",]"))
      strbuf_printf(out, " dim { size: %d }", atoi(at + 1));
    strbuf_append(out, " } } }");
    return;
  }
  const char *field = value[0] == 'D'                      ? "type"
                      : value[0] == '\''                   ? "s"
                      : value[0] == 't' || value[0] == 'f' ? "b"
                                                           : "i";
  strbuf_printf(out, " attr { key: '%s' value { %s: %s } }", key, field, value);
}

static inline void write_node(StrBuf *out, char *line) {
  char *rest, *word = strtok_r(line, " ", &rest);
  bool attrs = false;
  if (!word) return;
  strbuf_printf(out, "node { name: '%s'", word);
  word = strtok_r(NULL, " ", &rest);
  strbuf_printf(out, " op: '%s'", word);
  while ((word = strtok_r(NULL, " ", &rest))) {
    char *equals = strchr(word, '=');
    if (word[0] == '@') {
      strbuf_printf(out, " device: '/cpu:%s'", word + 1);
    } else if (strcmp(word, ";") == 0) {
      attrs = true;
    } else if (!attrs) {
      strbuf_printf(out, " input: '%s'", word);
    } else if (CHECK(equals)) {
      *equals = '\0';
      write_attr(out, word, equals + 1);
    }
  }
  strbuf_append(out, " }\n");
}

/* Adds the nodes of `text` to the graph. */
static inline bool import_lines(Graph *graph, const char *text, Status *status) {
  StrBuf def = {0};
  Arena *arena = arena_new();
  char *copy = mem_strdup(text, strlen(text)), *rest;
  void *message;
  for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    write_node(&def, line);
  bool ok = proto_parse_text(kGraphDef, str_of(strbuf_text(&def)), arena, &message, status) &&
            graph_import(graph, message, false, NULL, arena, NULL, status);
  mem_free(copy);
  strbuf_free(&def);
  arena_free(arena);
  return ok;
}

#endif
