/* A graph and a session for it, for the tests of sessions. The hooks of op_runner.c, with which the module is
 * linked, register the ops. */
#ifndef TFCORE_TESTS_RUNTIME_SESSION_FIXTURE_H_
#define TFCORE_TESTS_RUNTIME_SESSION_FIXTURE_H_

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "runtime/graph_fixture.h"

/* Count(i), a loop that counts from i to `limit`, with its condition and body, as text. */
#define COUNTING_FUNCTIONS(limit)                      \
  "Below(i:int32) -> (go:bool) {\n"                    \
  "  n = Const[dtype=int32, value=" limit              \
  "]()\n"                                              \
  "  go = Less[T=int32](i, n:output:0)\n"              \
  "  return go = go:z:0\n"                             \
  "}\n"                                                \
  "Next(i:int32) -> (j:int32) {\n"                     \
  "  one = Const[dtype=int32, value=1]()\n"            \
  "  j = Add[T=int32](i, one:output:0)\n"              \
  "  return j = j:z:0\n"                               \
  "}\n"                                                \
  "Count(i:int32) -> (n:int32) {\n"                    \
  "  w = While[T={int32}, cond=Below, body=Next](i)\n" \
  "  return n = w:output:0\n"                          \
  "}\n"

typedef struct Fixture {
  Graph *graph;
  Session *session;
  Status status;
} Fixture;

static inline bool begin(Fixture *f) {
  status_init(&f->status);
  f->graph = graph_new();
  f->session = f->graph ? session_new(f->graph, &f->status) : NULL;
  return CHECK(f->session);
}

static inline void end(Fixture *f) {
  session_free(f->session);
  graph_free(f->graph);
}

/* Adds functions given as text, one after the other. */
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

/* Begins a step of one feed (NULL for none) and one fetch, and lets it run for `slice_ms`. *step is the step
 * while it waits. */
static inline RunState start_step(Session *session, const SessionRunOptions *options, const NodeOutput *feed,
                                  const Tensor *value, NodeOutput fetch, int64_t slice_ms, Tensor *result,
                                  SessionStep **step, Status *status) {
  const StepSignature signature = {.feeds = feed,
                                   .num_feeds = feed ? 1 : 0,
                                   .fetches = &fetch,
                                   .num_fetches = 1};
  return session_begin(session, options, &signature, &value, step, status)
             ? session_advance(*step, slice_ms, result, status)
             : RUN_FAILED;
}

static inline bool run_target(Fixture *f, Node *target) {
  return session_run(f->session, NULL, NULL, 0, NULL, NULL, 0, &target, 1, &f->status);
}

#endif
