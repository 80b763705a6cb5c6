#include <stdio.h>

#include "base/sync.h"
#include "c_api/c_api_fixture.h"

#if SYNC_HAS_THREADS
#include <pthread.h>
#endif

typedef struct Running {
  Fixture f;
  TF_Session *session;
  TF_Output x, y; /* y = x * x, of a vector of three */
  TF_Tensor *value;
} Running;

static bool begin_running(Running *r) {
  if (!begin(&r->f)) return false;
  r->x = placeholder_of(&r->f, "x", TF_FLOAT, 1, (int64_t[]){3});
  r->y = unary(&r->f, "Square", "y", r->x);
  r->value = float_vector(3, (float[]){1, 2, 3});
  r->session = TF_NewSession(r->f.graph, NULL, r->f.status);
  return CHECK_TF_OK(r->f.status) && CHECK(r->session && r->value && r->y.oper);
}

static void end_running(Running *r) {
  TF_DeleteTensor(r->value);
  TF_DeleteSession(r->session, r->f.status);
  end(&r->f);
}

/* The session still works. */
static bool still_works(Running *r) {
  TF_Tensor *result = fetch(&r->f, r->session, r->x, r->value, r->y);
  const float want[] = {1, 4, 9};
  bool ok = CHECK_TF_OK(r->f.status) && CHECK_INT_EQ(TF_TensorByteSize(result), sizeof want) &&
            CHECK_MEM_EQ(TF_TensorData(result), want, sizeof want);
  TF_DeleteTensor(result);
  return ok;
}

TEST(feeds_fetches_and_targets) {
  Running r;
  REQUIRE(begin_running(&r));
  CHECK(still_works(&r));
  TF_Output v = variable(&r.f, "v", 1, (int64_t[]){3}), read = read_variable(&r.f, "read", v);
  TF_Operation *assign = binary(&r.f, "AssignVariableOp", "assign", v, r.x).oper;
  const TF_Operation *targets[] = {assign};
  /* A target runs in addition to a fetch, or alone. */
  TF_Output outputs[] = {r.y};
  TF_Tensor *results[1];
  TF_SessionRun(r.session, NULL, &r.x, &r.value, 1, outputs, results, 1, targets, 1, NULL, r.f.status);
  if (CHECK_TF_OK(r.f.status)) TF_DeleteTensor(results[0]);
  TF_Tensor *kept = fetch(&r.f, r.session, kNone, NULL, read);
  if (CHECK_TF_OK(r.f.status)) CHECK_MEM_EQ(TF_TensorData(kept), TF_TensorData(r.value), 12);
  TF_Tensor *other = float_vector(3, (float[]){7, 8, 9});
  TF_SessionRun(r.session, NULL, &r.x, &other, 1, NULL, NULL, 0, targets, 1, NULL, r.f.status);
  CHECK_TF_OK(r.f.status);
  CHECK_NEAR(((float *)TF_TensorData(kept))[0], 1, 0); /* results do not change later */
  TF_DeleteTensor(kept);
  TF_DeleteTensor(other);
  CHECK_NEAR(fetch_float(&r.f, r.session, kNone, NULL, read), 7, 0);
  end_running(&r);
}

TEST(more_feeds_and_fetches_than_fit_the_stack) {
  enum { COUNT = 40 };
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output xs[COUNT], ys[COUNT];
  TF_Tensor *values[COUNT], *results[COUNT];
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    xs[i] = placeholder(&f, name);
    snprintf(name, sizeof name, "y%d", i);
    ys[COUNT - 1 - i] = unary(&f, "Neg", name, xs[i]);
    values[i] = float_scalar((float)i);
  }
  TF_Session *session = TF_NewSession(f.graph, NULL, f.status);
  TF_SessionRun(session, NULL, xs, values, COUNT, ys, results, COUNT, NULL, 0, NULL, f.status);
  CHECK_TF_OK(f.status);
  for (int i = 0; i < COUNT; i++) {
    if (CHECK(results[i])) CHECK_NEAR(*(float *)TF_TensorData(results[i]), -(COUNT - 1 - i), 0);
    TF_DeleteTensor(results[i]);
    TF_DeleteTensor(values[i]);
  }
  TF_DeleteSession(session, f.status);
  end(&f);
}

TEST(a_run_that_fails_gives_nothing_and_breaks_nothing) {
  Running r;
  Fixture other = {0};
  REQUIRE(begin_running(&r) && begin(&other));
  TF_Output foreign = placeholder(&other, "foreign");
  TF_Tensor *short_one = float_vector(2, (float[]){1, 2}), *null_tensor = NULL;
  TF_Tensor *ints = tensor_of(TF_INT32, 1, (int64_t[]){3}, (int32_t[]){1, 2, 3}, 12);
  TF_Output missing_x = {r.x.oper, 1}, missing_y = {r.y.oper, 1}, negative = {r.y.oper, -1};
  const struct {
    TF_Output x;
    TF_Tensor *value;
    TF_Output y;
    TF_Code code;
    const char *message;
  } cases[] = {
      {kNone, NULL, r.y, TF_INVALID_ARGUMENT,
       "You must feed a value for placeholder tensor 'x' with dtype float and shape [3]"},
      {r.x, ints, r.y, TF_INVALID_ARGUMENT, "Expects arg[0] to be float but int32 is provided"},
      {r.x, null_tensor, r.y, TF_INVALID_ARGUMENT, "The value of input 0 is null"},
      {r.x, r.value, r.x, TF_INVALID_ARGUMENT, "x:0 is both fed and fetched."},
      {missing_x, r.value, r.y, TF_INVALID_ARGUMENT, "FeedInputs: x:1 should have output index < 1"},
      {r.x, r.value, missing_y, TF_INVALID_ARGUMENT, "y:1"},
      {r.x, r.value, negative, TF_INVALID_ARGUMENT, "y:-1"},
      {r.x, r.value, kNone, TF_INVALID_ARGUMENT, "null"},
      {foreign, r.value, r.y, TF_INVALID_ARGUMENT, "different graph"},
      {r.x, r.value, foreign, TF_INVALID_ARGUMENT, "different graph"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_CONTEXT("case %d", (int)i);
    TF_Tensor *result = ints; /* must be overwritten */
    TF_SessionRun(r.session, NULL, &cases[i].x, &cases[i].value, cases[i].x.oper ? 1 : 0, &cases[i].y,
                  &result, 1, NULL, 0, NULL, r.f.status);
    CHECK_TF_ERROR(r.f.status, cases[i].code, cases[i].message);
    CHECK(!result);
    CHECK(still_works(&r));
  }
  CHECK_CONTEXT("%s", "");
  TF_SessionRun(r.session, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, r.f.status);
  CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  const TF_Operation *targets[] = {NULL, foreign.oper};
  for (int i = 0; i < 2; i++) {
    TF_SessionRun(r.session, NULL, NULL, NULL, 0, NULL, NULL, 0, &targets[i], 1, NULL, r.f.status);
    CHECK_INT_EQ(TF_GetCode(r.f.status), TF_INVALID_ARGUMENT);
  }
  TF_SessionRun(r.session, NULL, (TF_Output[]){r.x, r.x}, (TF_Tensor *[]){r.value, r.value}, 2, NULL, NULL, 0,
                (const TF_Operation *[]){r.y.oper}, 1, NULL, r.f.status);
  CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT, "Endpoint \"x:0\" fed more than once.");
  TF_SessionRun(r.session, NULL, NULL, NULL, -1, NULL, NULL, -1, NULL, -1, NULL, r.f.status);
  CHECK_INT_EQ(TF_GetCode(r.f.status), TF_INVALID_ARGUMENT);
  CHECK(still_works(&r));
  TF_DeleteTensor(short_one);
  TF_DeleteTensor(ints);
  end(&other);
  end_running(&r);
}

TEST(an_error_inside_a_step_names_the_node) {
  Running r;
  REQUIRE(begin_running(&r));
  TF_Output a = placeholder(&r.f, "a"), b = placeholder(&r.f, "b"),
            sum = binary(&r.f, "Add", "the_sum", a, b);
  TF_Tensor *values[] = {float_vector(2, (float[]){1, 2}), r.value}, *result;
  TF_SessionRun(r.session, NULL, (TF_Output[]){a, b}, values, 2, &sum, &result, 1, NULL, 0, NULL, r.f.status);
  CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT, "Incompatible shapes: [2] vs. [3]");
  CHECK_STR_CONTAINS(TF_Message(r.f.status), "{{node the_sum}}");
  CHECK(!result);
  TF_DeleteTensor(values[0]);
  CHECK(still_works(&r));
  end_running(&r);
}

TEST(two_sessions_on_one_graph_have_their_own_variables) {
  Fixture f = {0};
  REQUIRE(begin(&f));
  TF_Output v = variable(&f, "v", 0, NULL), read = read_variable(&f, "read", v);
  TF_Output one = constant(&f, "one", 1), two = constant(&f, "two", 2);
  TF_Operation *set_one = binary(&f, "AssignVariableOp", "set_one", v, one).oper;
  TF_Operation *set_two = binary(&f, "AssignVariableOp", "set_two", v, two).oper;
  TF_Session *first = TF_NewSession(f.graph, NULL, f.status),
             *second = TF_NewSession(f.graph, NULL, f.status);
  REQUIRE(first && second);
  run_target(&f, first, set_one);
  CHECK_TF_OK(f.status);
  CHECK(!fetch(&f, second, kNone, NULL, read));
  CHECK_TF_ERROR(f.status, TF_FAILED_PRECONDITION,
                 "container=localhost, status error message=Container localhost does not exist. (Could not "
                 "find "
                 "resource: localhost/v)");
  run_target(&f, second, set_two);
  CHECK_TF_OK(f.status);
  CHECK_NEAR(fetch_float(&f, first, kNone, NULL, read), 1, 0);
  CHECK_NEAR(fetch_float(&f, second, kNone, NULL, read), 2, 0);
  TF_DeleteSession(first, f.status);
  CHECK_NEAR(fetch_float(&f, second, kNone, NULL, read), 2, 0);
  TF_DeleteSession(second, f.status);
  end(&f);
}

TEST(a_graph_lives_as_long_as_its_sessions) {
  Running r;
  REQUIRE(begin_running(&r));
  TF_Session *second = TF_NewSession(r.f.graph, NULL, r.f.status);
  TF_DeleteGraph(r.f.graph);
  CHECK(still_works(&r));
  TF_DeleteSession(r.session, r.f.status);
  r.session = second;
  CHECK(still_works(&r));
  TF_DeleteSession(r.session, r.f.status);
  TF_DeleteTensor(r.value);
  TF_DeleteStatus(r.f.status);
}

TEST(a_closed_session_runs_no_more) {
  Running r;
  REQUIRE(begin_running(&r));
  TF_Tensor *kept = fetch(&r.f, r.session, r.x, r.value, r.y);
  CHECK_TF_OK(r.f.status);
  TF_CloseSession(r.session, r.f.status);
  CHECK_TF_OK(r.f.status);
  CHECK_NEAR(((float *)TF_TensorData(kept))[2], 9, 0); /* results outlive the session */
  CHECK(!fetch(&r.f, r.session, r.x, r.value, r.y));
  CHECK_TF_ERROR(r.f.status, TF_CANCELLED, "Session has been closed.");
  TF_CloseSession(r.session, r.f.status);
  CHECK_TF_OK(r.f.status);
  TF_DeleteSession(r.session, r.f.status);
  CHECK_NEAR(((float *)TF_TensorData(kept))[2], 9, 0);
  TF_DeleteTensor(kept);
  r.session = TF_NewSession(r.f.graph, NULL, r.f.status);
  CHECK(still_works(&r));
  end_running(&r);
}

TEST(the_graph_may_grow_between_runs) {
  Running r;
  REQUIRE(begin_running(&r));
  TF_Output last = r.y;
  for (int i = 0; i < 20; i++) {
    CHECK(still_works(&r));
    char name[16];
    snprintf(name, sizeof name, "neg%d", i);
    last = unary(&r.f, "Neg", name, last);
    CHECK_NEAR(fetch_float(&r.f, r.session, r.x, r.value, last), i % 2 ? 1 : -1, 0);
  }
  TF_Buffer *bytes = graph_bytes(&r.f, r.f.graph);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "again");
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, last);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "y", 0);
  TF_Output squared;
  TF_GraphImportGraphDefWithReturnOutputs(r.f.graph, bytes, options, &squared, 1, r.f.status);
  CHECK_TF_OK(r.f.status);
  TF_Tensor *result = fetch(&r.f, r.session, r.x, r.value, squared);
  if (CHECK_TF_OK(r.f.status)) CHECK_NEAR(((float *)TF_TensorData(result))[2], 81, 0);
  TF_DeleteTensor(result);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(bytes);
  end_running(&r);
}

TEST(other_targets_than_this_process_are_refused) {
  Running r;
  REQUIRE(begin_running(&r));
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetTarget(options, "grpc://elsewhere:1");
  CHECK(!TF_NewSession(r.f.graph, options, r.f.status));
  CHECK_TF_ERROR(r.f.status, TF_NOT_FOUND, "grpc://elsewhere:1");
  TF_SetTarget(options, "");
  TF_Session *session = TF_NewSession(r.f.graph, options, r.f.status);
  CHECK_TF_OK(r.f.status);
  TF_DeleteSessionOptions(options);
  TF_DeleteSession(r.session, r.f.status);
  r.session = session;
  CHECK(still_works(&r));
  end_running(&r);
}

TEST(what_was_fed_may_be_deleted_and_is_never_changed) {
  Running r;
  REQUIRE(begin_running(&r));
  TF_Output same = unary(&r.f, "Identity", "same", r.x);
  TF_Tensor *given = float_vector(3, (float[]){4, 5, 6});
  TF_Tensor *result = fetch(&r.f, r.session, r.x, given, same);
  CHECK_TF_OK(r.f.status);
  TF_DeleteTensor(given);
  CHECK_NEAR(((float *)TF_TensorData(result))[1], 5, 0);
  TF_DeleteTensor(result);
  TF_DeleteTensor(
      fetch(&r.f, r.session, r.x, r.value, unary(&r.f, "Neg", "neg", unary(&r.f, "Square", "s", r.x))));
  CHECK_NEAR(((float *)TF_TensorData(r.value))[1], 2, 0);
  end_running(&r);
}

#if SYNC_HAS_THREADS
typedef struct Worker {
  TF_Session *session;
  TF_Output x, y;
  float value;
  int wrong;
} Worker;

static void *run_often(void *arg) {
  Worker *worker = arg;
  TF_Status *status = TF_NewStatus();
  for (int i = 0; i < 200; i++) {
    const float v = worker->value + (float)i;
    TF_Tensor *value = TF_AllocateTensor(TF_FLOAT, (int64_t[]){3}, 1, 12), *result;
    for (int k = 0; k < 3; k++) ((float *)TF_TensorData(value))[k] = v;
    TF_SessionRun(worker->session, NULL, &worker->x, &value, 1, &worker->y, &result, 1, NULL, 0, NULL,
                  status);
    worker->wrong += TF_GetCode(status) != TF_OK || ((float *)TF_TensorData(result))[2] != v * v;
    TF_DeleteTensor(result);
    TF_DeleteTensor(value);
  }
  TF_DeleteStatus(status);
  return NULL;
}

TEST(two_threads_may_run_one_session) {
  Running r;
  REQUIRE(begin_running(&r));
  Worker workers[2] = {{r.session, r.x, r.y, 1, 0}, {r.session, r.x, r.y, 1000, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) REQUIRE(pthread_create(&threads[i], NULL, run_often, &workers[i]) == 0);
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    CHECK_INT_EQ(workers[i].wrong, 0);
  }
  CHECK(still_works(&r));
  end_running(&r);
}
#endif
