/* A graph and a session of it, for the tests of sessions. The hooks of op_runner.c, which
 * the module is linked with, register the ops. */
#ifndef TFCORE_TESTS_RUNTIME_SESSION_FIXTURE_H_
#define TFCORE_TESTS_RUNTIME_SESSION_FIXTURE_H_

#include "base/alloc.h"
#include "function/function_text.h"
#include "runtime/graph_fixture.h"

typedef struct Fixture {
  Graph *graph;
  Session *session;
  Status status;
} Fixture;

static inline bool begin(Fixture *f) {
  status_init(&f->status);
  f->graph = graph_new();
  f->session = f->graph ? session_new(f->graph, &f->status) : NULL;
  return CHECK(f->session != NULL);
}

static inline void end(Fixture *f) {
  session_free(f->session);
  graph_free(f->graph);
}

/* Functions, one after the other, as text. */
static inline bool define(Graph *graph, const char *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDefLibrary *library;
  bool ok = CHECK_OK(function_parse_library(str_of(text), arena, &library, &status), status) &&
            CHECK_OK(graph_add_function_library(graph, library, &status), status);
  arena_free(arena);
  return ok;
}

static inline NodeOutput scalar(Graph *graph, const char *name, float value) {
  char text[64];
  snprintf(text, sizeof text, "tensor_shape { } float_val: %g", value);
  return constant(graph, name, text);
}

/* The handle of a float scalar variable. */
static inline NodeOutput scalar_variable(Graph *graph, const char *name) {
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { }"}};
  return out(add_node(graph, "VarHandleOp", name, NULL, 0, attrs, 2));
}

static inline bool run_target(Fixture *f, Node *target) {
  return session_run(f->session, NULL, NULL, 0, NULL, NULL, 0, &target, 1, &f->status);
}

#endif
