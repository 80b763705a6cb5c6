/* State shared by threads that run one session: its variables, and printed lines. */
#if !defined(__wasm__)
#include <pthread.h>

#include "base/log.h"
#include "c_api/c_api_fixture.h"

enum { THREADS = 4, ROUNDS = 30 };

typedef struct Shared {
  Fixture f;
  TF_Session *session;
  TF_Operation *count, *print;
} Shared;

typedef struct Worker {
  Shared *shared;
  int failures;
} Worker;

/* The harness belongs to the main thread, so a worker only counts. */
static void *count_and_print(void *arg) {
  Worker *worker = arg;
  TF_Status *status = TF_NewStatus();
  for (int i = 0; i < ROUNDS; i++) {
    const TF_Operation *targets[] = {worker->shared->count, worker->shared->print};
    TF_SessionRun(worker->shared->session, NULL, NULL, NULL, 0, NULL, NULL, 0, targets, 2, NULL, status);
    worker->failures += TF_GetCode(status) != TF_OK;
  }
  TF_DeleteStatus(status);
  return NULL;
}

static bool begin_shared(Shared *s) {
  if (!begin(&s->f)) return false;
  TF_Output handle = variable(&s->f, "v", 0, NULL), one = constant(&s->f, "one", 1),
            three = constant(&s->f, "three", 3);
  TF_OperationDescription *desc = TF_NewOperation(s->f.graph, "AssignVariableOp", "start");
  TF_AddInput(desc, handle);
  TF_AddInput(desc, three);
  TF_Operation *start = TF_FinishOperation(desc, s->f.status);
  desc = TF_NewOperation(s->f.graph, "AssignAddVariableOp", "count");
  TF_AddInput(desc, handle);
  TF_AddInput(desc, one);
  s->count = TF_FinishOperation(desc, s->f.status);
  desc = TF_NewOperation(s->f.graph, "Print", "print");
  TF_AddInput(desc, three);
  TF_AddInputList(desc, &three, 1);
  TF_SetAttrString(desc, "message", "line: ", 6);
  s->print = TF_FinishOperation(desc, s->f.status);
  TF_SessionOptions *options = TF_NewSessionOptions();
  s->session = TF_NewSession(s->f.graph, options, s->f.status);
  TF_DeleteSessionOptions(options);
  if (!CHECK(start && s->count && s->print && s->session)) return false;
  run_target(&s->f, s->session, start);
  return CHECK_TF_OK(s->f.status);
}

static void end_shared(Shared *s) {
  TF_DeleteSession(s->session, s->f.status);
  end(&s->f);
}

static void run_threads(Shared *s) {
  pthread_t threads[THREADS];
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.shared = s};
    CHECK_INT_EQ(pthread_create(&threads[i], NULL, count_and_print, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK_INT_EQ(workers[i].failures, 0);
  }
}

static void count_line(void *arg, const char *line) {
  int *lines = arg;
  *lines += strcmp(line, "line: [3]") == 0;
}

TEST(threads_update_a_variable_and_print_without_losing_a_step) {
  Shared s;
  REQUIRE(begin_shared(&s));
  int lines = 0;
  log_set_sink(count_line, &lines);
  run_threads(&s);
  log_set_sink(NULL, NULL);
  CHECK_INT_EQ(lines, THREADS * ROUNDS);
  TF_Output handle = {TF_GraphOperationByName(s.f.graph, "v"), 0}, read = read_variable(&s.f, "read", handle);
  CHECK_NEAR(fetch_float(&s.f, s.session, (TF_Output){0}, NULL, read), 3 + THREADS * ROUNDS, 0);
  end_shared(&s);
}
#endif
