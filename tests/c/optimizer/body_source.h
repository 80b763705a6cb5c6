/* Bodies for the inliner, made once for each function and its attrs. */
#ifndef TFCORE_TESTS_OPTIMIZER_BODY_SOURCE_H_
#define TFCORE_TESTS_OPTIMIZER_BODY_SOURCE_H_

#include "base/alloc.h"
#include "function/function_canonicalize.h"
#include "gradient/symbolic_gradient.h"
#include "harness.h"
#include "optimizer/inline_functions.h"

typedef struct TestBodies {
  Graph *library;
  StringMap bodies; /* by canonical name */
  FunctionBody *list[64];
  int count;
  int64_t num_inlined; /* nodes */
} TestBodies;

static inline bool make_test_body(TestBodies *bodies, const char *name, const AttrEntry *const *attrs,
                                  int num_attrs, FunctionBody **body, Status *status) {
  if (strcmp(name, "SymbolicGradient") == 0)
    return gradient_instantiate(bodies->library, attrs, num_attrs, body, status);
  const FunctionDef *function = graph_find_function(bodies->library, name);
  if (!function) return status_set(status, CODE_NOT_FOUND, "Function %s is not defined.", name);
  return function_body_new(bodies->library, function, attrs, num_attrs, body, status);
}

static inline bool find_test_body(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
                                  const FunctionBody **body, Status *status) {
  TestBodies *bodies = owner;
  StrBuf key = {0};
  function_canonicalize(name, attrs, num_attrs, &key);
  bool ok = strbuf_ok(&key, status);
  FunctionBody *made = ok ? string_map_find(&bodies->bodies, strbuf_text(&key)) : NULL;
  ok = ok &&
       (made || (CHECK(bodies->count < 64) && make_test_body(bodies, name, attrs, num_attrs, &made, status)));
  if (ok && !string_map_find(&bodies->bodies, strbuf_text(&key))) {
    bodies->list[bodies->count++] = made;
    char *text = arena_strdup(graph_arena(bodies->library), strbuf_text(&key));
    ok = !text ? status_oom(status, "a body") : string_map_set(&bodies->bodies, text, made, status);
  }
  strbuf_free(&key);
  *body = made;
  return ok;
}

static inline void count_test_node(void *owner, const Node *caller, Node *added) {
  TestBodies *bodies = owner;
  bodies->num_inlined += caller->name && added->graph == bodies->library;
}

static inline FunctionBodySource test_bodies_source(TestBodies *bodies) {
  return (FunctionBodySource){.body = find_test_body, .inlined = count_test_node, .owner = bodies};
}

static inline void test_bodies_free(TestBodies *bodies) {
  for (int i = 0; i < bodies->count; i++) function_body_free(bodies->list[i]);
  string_map_free(&bodies->bodies);
  *bodies = (TestBodies){.library = NULL};
}

#endif
