/* Sessions of one graph in several threads: programs and function bodies are made one after the other, even
 * if a gradient adds functions to the library that all of them read. */
#if !defined(__wasm__)
#include <pthread.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "runtime/graph_fixture.h"
#include "splice_function.h"

enum { THREADS = 4, ROUNDS = 8, GRAPHS = 6 };

static const char kLibrary[] =
    "More(n:float, p:float, x:float) -> (go:bool) {\n"
    "  zero = Const[dtype=float, value=0]()\n"
    "  go = Greater[T=float](n, zero:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Times(n:float, p:float, x:float) -> (m:float, q:float, z:float) {\n"
    "  one = Const[dtype=float, value=1]()\n"
    "  m = Sub[T=float](n, one:output:0)\n"
    "  q = Mul[T=float](p, x)\n"
    "  return m = m:z:0, q = q:z:0, z = x\n"
    "}\n"
    "Power(n:float, x:float) -> (y:float) {\n"
    "  one = Const[dtype=float, value=1]()\n"
    "  w = While[T={float, float, float}, cond=More, body=Times](n, one:output:0, x)\n"
    "  return y = w:output:1\n"
    "}\n"
    "Twice(n:float, x:float) -> (y:float) {\n"
    "  y = If[Tcond=float, Tin={float, float}, Tout={float}, then_branch=Power, else_branch=Power](n, n, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Main(n:float, x:float) -> (a:float, b:float) {\n"
    "  one = Const[dtype=float, value=1]()\n"
    "  p = SymbolicGradient[f=Power, Tin={float, float, float}, Tout={float, float}](n, x, one:output:0)\n"
    "  q = SymbolicGradient[f=Twice, Tin={float, float, float}, Tout={float, float}](n, x, one:output:0)\n"
    "  return a = p:output:1, b = q:output:1\n"
    "}\n";

typedef struct Runner {
  Graph *graph;
  NodeOutput feeds[2], fetches[2];
  pthread_barrier_t *start;
  int failures;
} Runner;

/* n x^(n - 1) at n = 3. Only counts failures, because the harness belongs to the main thread. */
static void *run_sessions(void *arg) {
  Runner *r = arg;
  Status status;
  status_init(&status);
  Session *session = session_new(r->graph, &status);
  float three = 3, x = 1.5f;
  Tensor inputs[2] = {{0}}, values[2] = {{0}};
  bool ok = session && tensor_allocate_dims(&inputs[0], DT_FLOAT, 0, NULL, NULL, &status) &&
            tensor_allocate_dims(&inputs[1], DT_FLOAT, 0, NULL, NULL, &status);
  if (ok) {
    tensor_f32(&inputs[0])[0] = three;
    tensor_f32(&inputs[1])[0] = x;
  }
  pthread_barrier_wait(r->start);
  for (int i = 0; ok && i < ROUNDS; i++) {
    const Tensor *given[] = {&inputs[0], &inputs[1]};
    ok = session_run(session, r->feeds, given, 2, r->fetches, values, 2, NULL, 0, &status);
    for (int k = 0; k < 2; k++) {
      if (ok && tensor_f32(&values[k])[0] != 3 * x * x) r->failures++;
      tensor_clear(&values[k]);
    }
  }
  if (!ok) r->failures++;
  tensor_clear(&inputs[0]);
  tensor_clear(&inputs[1]);
  session_free(session);
  return NULL;
}

TEST(sessions_of_one_graph_instantiate_gradients_at_the_same_time) {
  for (int g = 0; g < GRAPHS; g++) {
    Status status;
    status_init(&status);
    CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    FunctionDefLibrary *library;
    NodeOutput feeds[2] = {placeholder(graph, "n", "shape { }"), placeholder(graph, "x", "shape { }")},
               fetches[2];
    if (CHECK_OK(function_parse_library(str_of(kLibrary), arena, &library, &status), status) &&
        CHECK_OK(graph_add_function_library(graph, library, &status), status) &&
        CHECK_OK(splice_function(graph, graph_find_function(graph, "Main"), feeds, "", fetches, &status),
                 status)) {
      pthread_barrier_t start;
      pthread_t threads[THREADS];
      Runner runners[THREADS];
      int64_t functions = graph_num_functions(graph);
      CHECK_INT_EQ(pthread_barrier_init(&start, NULL, THREADS), 0);
      for (int i = 0; i < THREADS; i++) {
        runners[i] = (Runner){graph, {feeds[0], feeds[1]}, {fetches[0], fetches[1]}, &start, 0};
        CHECK_INT_EQ(pthread_create(&threads[i], NULL, run_sessions, &runners[i]), 0);
      }
      for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT_EQ(runners[i].failures, 0);
      }
      pthread_barrier_destroy(&start);
      CHECK(graph_num_functions(graph) > functions);
    }
    arena_free(arena);
    graph_free(graph);
    op_registry_clear(op_registry_global());
    thread_pool_shut_down();
  }
}
#endif
