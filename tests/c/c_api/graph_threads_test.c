/* Threads that build, query, differentiate and run one graph concurrently. */
#if !defined(__wasm__)
#include <pthread.h>
#include <stdio.h>

#include "c_api/c_api_fixture.h"

enum { THREADS = 4, ROUNDS = 25, NAME = 64 };

/* Shared by all threads. */
typedef struct Shared {
  Fixture f;
  TF_Output x;          /* a placeholder; every thread adds consumers and sets its shape */
  TF_Session *session;  /* every thread runs it */
  TF_Buffer *graph_def; /* in = Placeholder, out = Square(in) */
  TF_Function *function;
} Shared;

typedef struct Worker {
  Shared *shared;
  int id;
  Fixture f; /* the shared graph, with a separate status */
  int failures;
  char problem[200]; /* the first failure */
} Worker;

/* The harness belongs to the main thread, so a worker records its first failure. */
static bool expect(Worker *w, bool ok, const char *what) {
  if (ok) return true;
  if (w->failures++ == 0) snprintf(w->problem, sizeof w->problem, "%s: %s", what, TF_Message(w->f.status));
  return false;
}

static bool went_well(Worker *w, const char *what) {
  return expect(w, TF_GetCode(w->f.status) == TF_OK, what);
}

static TF_Output add_op(Worker *w, const char *type, const char *name, TF_Output a, TF_Output b) {
  TF_OperationDescription *desc = TF_NewOperation(w->f.graph, type, name);
  TF_AddInput(desc, a);
  if (b.oper) TF_AddInput(desc, b);
  TF_Operation *oper = TF_FinishOperation(desc, w->f.status);
  went_well(w, name);
  return (TF_Output){oper, 0};
}

/* x^2 * x, named after thread and round. */
static TF_Output build(Worker *w, int round) {
  char name[NAME];
  snprintf(name, sizeof name, "square/%d/%d", w->id, round);
  TF_Output square = add_op(w, "Square", name, w->shared->x, kNone);
  if (!square.oper) return kNone;
  snprintf(name, sizeof name, "cube/%d/%d", w->id, round);
  return add_op(w, "Mul", name, square, w->shared->x);
}

static void look_up(Worker *w, int round) {
  char name[NAME];
  snprintf(name, sizeof name, "cube/%d/%d", w->id, round);
  TF_Operation *own = TF_GraphOperationByName(w->f.graph, name), *oper;
  expect(w, own && strcmp(TF_OperationName(own), name) == 0, "the operation that was added is found");
  snprintf(name, sizeof name, "cube/%d/%d", (w->id + 1) % THREADS, round);
  TF_Operation *other = TF_GraphOperationByName(w->f.graph, name);
  expect(w, !other || strcmp(TF_OperationName(other), name) == 0, "an operation of another thread");
  size_t pos = 0;
  int seen = 0;
  while ((oper = TF_GraphNextOperation(w->f.graph, &pos))) seen += oper == own || oper == w->shared->x.oper;
  expect(w, seen == 2, "iterating");
  expect(w, TF_OperationOutputNumConsumers(w->shared->x) >= 2 * (round + 1), "consumers");
  TF_Input consumers[4];
  expect(w, TF_OperationOutputConsumers(w->shared->x, consumers, 4) >= 2, "consumers");
}

static void set_and_get_shapes(Worker *w, TF_Output cube) {
  int64_t two = 2, got = 0;
  TF_GraphSetTensorShape(w->f.graph, w->shared->x, &two, 1, w->f.status);
  went_well(w, "TF_GraphSetTensorShape");
  expect(w, TF_GraphGetTensorNumDims(w->f.graph, w->shared->x, w->f.status) == 1, "TF_GraphGetTensorNumDims");
  TF_GraphGetTensorShape(w->f.graph, w->shared->x, &got, 1, w->f.status);
  if (went_well(w, "TF_GraphGetTensorShape")) expect(w, got == 2, "TF_GraphGetTensorShape");
  int rank = TF_GraphGetTensorNumDims(w->f.graph, cube, w->f.status);
  expect(w, rank == -1 || rank == 1, "the shape of the cube");
}

static void import(Worker *w, int round) {
  char prefix[NAME];
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  snprintf(prefix, sizeof prefix, "import/%d/%d", w->id, round);
  TF_ImportGraphDefOptionsSetPrefix(options, prefix);
  TF_ImportGraphDefOptionsAddInputMapping(options, "in", 0, w->shared->x);
  TF_GraphImportGraphDef(w->f.graph, w->shared->graph_def, options, w->f.status);
  went_well(w, "TF_GraphImportGraphDef");
  TF_DeleteImportGraphDefOptions(options);
  TF_Buffer *exported = TF_NewBuffer();
  TF_GraphToGraphDef(w->f.graph, exported, w->f.status);
  went_well(w, "TF_GraphToGraphDef");
  TF_DeleteBuffer(exported);
}

/* d(x^3)/dx at (1, 3) is (3, 27). */
static void run_gradient(Worker *w, TF_Session *session, TF_Output gradient) {
  int64_t two = 2;
  TF_Tensor *x = TF_AllocateTensor(TF_FLOAT, &two, 1, 8), *result = NULL;
  memcpy(TF_TensorData(x), (float[]){1, 3}, 8);
  TF_SessionRun(session, NULL, &w->shared->x, &x, 1, &gradient, &result, 1, NULL, 0, NULL, w->f.status);
  if (went_well(w, "TF_SessionRun")) {
    const float *values = TF_TensorData(result);
    expect(w, values[0] == 3 && values[1] == 27, "the gradient's values");
  }
  TF_DeleteTensor(result);
  TF_DeleteTensor(x);
}

static void differentiate_and_run(Worker *w, TF_Output cube) {
  TF_Output gradient = kNone, x = w->shared->x;
  TF_AddGradients(w->f.graph, &cube, 1, &x, 1, NULL, w->f.status, &gradient);
  if (!went_well(w, "TF_AddGradients")) return;
  run_gradient(w, w->shared->session, gradient);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *own = TF_NewSession(w->f.graph, options, w->f.status);
  TF_DeleteSessionOptions(options);
  if (!expect(w, own, "TF_NewSession")) return;
  run_gradient(w, own, gradient);
  TF_DeleteSession(own, w->f.status);
}

static void use_functions(Worker *w, int round) {
  char name[NAME];
  TF_GraphCopyFunction(w->f.graph, w->shared->function, NULL, w->f.status);
  went_well(w, "TF_GraphCopyFunction");
  expect(w, TF_GraphNumFunctions(w->f.graph) == 1, "TF_GraphNumFunctions");
  snprintf(name, sizeof name, "call/%d/%d", w->id, round);
  add_op(w, "Twice", name, w->shared->x, kNone);
}

static void *work(void *arg) {
  Worker *w = arg;
  w->f = (Fixture){w->shared->f.graph, TF_NewStatus()};
  for (int round = 0; round < ROUNDS && w->failures == 0; round++) {
    TF_Output cube = build(w, round);
    if (!cube.oper) break;
    look_up(w, round);
    set_and_get_shapes(w, cube);
    import(w, round);
    use_functions(w, round);
    differentiate_and_run(w, cube);
  }
  TF_DeleteStatus(w->f.status);
  return NULL;
}

static TF_Buffer *square_graph(void) {
  Fixture f;
  TF_Buffer *bytes = TF_NewBuffer();
  if (!begin(&f)) return bytes;
  unary(&f, "Square", "out", placeholder(&f, "in"));
  TF_GraphToGraphDef(f.graph, bytes, f.status);
  CHECK_TF_OK(f.status);
  end(&f);
  return bytes;
}

static TF_Function *twice_function(void) {
  Fixture f;
  if (!begin(&f)) return NULL;
  TF_Output in = placeholder(&f, "in"), out = binary(&f, "Add", "out", in, in);
  TF_Function *function =
      TF_GraphToFunction(f.graph, "Twice", 0, -1, NULL, 1, &in, 1, &out, NULL, NULL, NULL, f.status);
  CHECK_TF_OK(f.status);
  end(&f);
  return function;
}

static bool begin_shared(Shared *s) {
  if (!begin(&s->f)) return false;
  s->x = placeholder(&s->f, "x");
  TF_SessionOptions *options = TF_NewSessionOptions();
  s->session = TF_NewSession(s->f.graph, options, s->f.status);
  TF_DeleteSessionOptions(options);
  s->graph_def = square_graph();
  s->function = twice_function();
  return CHECK(s->session && s->graph_def && s->function);
}

static void end_shared(Shared *s) {
  TF_DeleteFunction(s->function);
  TF_DeleteBuffer(s->graph_def);
  TF_DeleteSession(s->session, s->f.status);
  end(&s->f);
}

static void run_workers(Shared *s) {
  pthread_t threads[THREADS];
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.shared = s, .id = i};
    CHECK_INT_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK_STR_EQ(workers[i].problem, "");
  }
}

static void check_operations(Shared *s) {
  char name[NAME];
  for (int i = 0; i < THREADS * ROUNDS; i++) {
    const char *const forms[] = {"square/%d/%d", "cube/%d/%d", "import/%d/%d/out", "call/%d/%d"};
    for (int k = 0; k < 4; k++) {
      snprintf(name, sizeof name, forms[k], i / ROUNDS, i % ROUNDS);
      CHECK(TF_GraphOperationByName(s->f.graph, name));
    }
  }
}

TEST(threads_build_import_differentiate_and_run_one_graph_at_the_same_time) {
  Shared s;
  REQUIRE(begin_shared(&s));
  run_workers(&s);
  check_operations(&s);
  end_shared(&s);
}
#endif
