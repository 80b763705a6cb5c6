/* Endless steps: deadlines, slices of time, and closing the session from another thread. */
#include <string.h>

#include "base/clock.h"
#include "base/sync.h"
#include "runtime/session_fixture.h"

#if SYNC_HAS_THREADS
#include <pthread.h>
#endif

/* An endless loop in the graph, one in the body of a called function, and a loop of 20,000 iterations. */
static const char kLibrary[] =
    "Same(x:bool) -> (y:bool) {\n"
    "  y = Identity[T=bool](x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Forever(x:bool) -> (y:bool) {\n"
    "  y = While[T={bool}, cond=Same, body=Same](x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Never(x:bool) -> (y:bool) {\n"
    "  y = If[Tcond=bool, Tin={bool}, Tout={bool}, then_branch=Forever, else_branch=Same](x, x)\n"
    "  return y = y:output:0\n"
    "}\n" COUNTING_FUNCTIONS("20000");

typedef struct Endless {
  Fixture f;
  NodeOutput x, i; /* a bool and an int32 to feed */
  NodeOutput loops[2];
  NodeOutput counted;
  Tensor yes, zero;
} Endless;

static NodeOutput call(Graph *graph, const char *op, const char *name, NodeOutput input) {
  return out(add_node(graph, op, name, &input, 1, NULL, 0));
}

static NodeOutput scalar_placeholder(Graph *graph, const char *name, const char *dtype) {
  const Attr attrs[] = {{"dtype", dtype}, {"shape", "shape { }"}};
  return out(add_node(graph, "Placeholder", name, NULL, 0, attrs, 2));
}

static bool begin_endless(Endless *e) {
  memset(e, 0, sizeof *e);
  if (!begin(&e->f) || !define(e->f.graph, kLibrary)) return false;
  Graph *graph = e->f.graph;
  e->x = scalar_placeholder(graph, "x", "type: DT_BOOL");
  e->i = scalar_placeholder(graph, "i", "type: DT_INT32");
  e->loops[0] = call(graph, "Forever", "forever", e->x);
  e->loops[1] = call(graph, "Never", "never", e->x);
  e->counted = call(graph, "Count", "count", e->i);
  if (!CHECK_OK(tensor_allocate_dims(&e->yes, DT_BOOL, 0, NULL, NULL, &e->f.status), e->f.status) ||
      !CHECK_OK(tensor_allocate_dims(&e->zero, DT_INT32, 0, NULL, NULL, &e->f.status), e->f.status))
    return false;
  *tensor_bool(&e->yes) = true;
  *tensor_i32(&e->zero) = 0;
  return CHECK(e->loops[0].node && e->loops[1].node && e->counted.node);
}

static void end_endless(Endless *e) {
  tensor_clear(&e->yes);
  tensor_clear(&e->zero);
  end(&e->f);
}

static RunState start(Endless *e, const SessionRunOptions *options, NodeOutput feed, const Tensor *value,
                      NodeOutput fetch, int64_t slice_ms, Tensor *result, SessionStep **step) {
  return start_step(e->f.session, options, &feed, value, fetch, slice_ms, result, step, &e->f.status);
}

static void counts_to_the_end(Endless *e) {
  Tensor result = {0};
  SessionStep *step;
  status_init(&e->f.status);
  RunState state = start(e, NULL, e->i, &e->zero, e->counted, 0, &result, &step);
  if (CHECK_INT_EQ(state, RUN_DONE)) CHECK_INT_EQ(*tensor_i32(&result), 20000);
  tensor_clear(&result);
}

TEST(a_deadline_ends_an_endless_loop_and_leaves_the_session_usable) {
  Endless e;
  if (begin_endless(&e)) {
    for (int i = 0; i < 2; i++) {
      for (int by_session = 0; by_session < 2; by_session++) {
        const SessionRunOptions options = {.timeout_ms = by_session ? 0 : 30};
        Tensor result = {0};
        SessionStep *step;
        session_set_timeout(e.f.session, by_session ? 30 : 0);
        int64_t begin = clock_nanoseconds();
        CHECK_INT_EQ(start(&e, &options, e.x, &e.yes, e.loops[i], 0, &result, &step), RUN_FAILED);
        CHECK(clock_nanoseconds() - begin >= 30000000);
        CHECK_INT_EQ(e.f.status.code, CODE_DEADLINE_EXCEEDED);
        CHECK_STR_EQ(e.f.status.message, "Timed out waiting for notification");
        CHECK(tensor_is_empty(&result));
        session_set_timeout(e.f.session, 0);
        counts_to_the_end(&e);
      }
    }
  }
  end_endless(&e);
}

TEST(a_step_runs_in_slices) {
  Endless e;
  if (begin_endless(&e)) {
    SessionStep *step;
    Tensor result = {0};
    int slices = 1;
    RunState state = start(&e, NULL, e.i, &e.zero, e.counted, 1, &result, &step);
    while (state == RUN_WAITING) {
      CHECK(tensor_is_empty(&result));
      state = session_advance(step, 1, &result, &e.f.status);
      slices++;
    }
    CHECK_OK(state == RUN_DONE, e.f.status);
    CHECK(slices > 1);
    CHECK_INT_EQ(*tensor_i32(&result), 20000);
    tensor_clear(&result);
    counts_to_the_end(&e);
  }
  end_endless(&e);
}

TEST(steps_of_a_session_can_be_under_way_at_the_same_time) {
  enum { STEPS = 5 };
  Endless e;
  if (begin_endless(&e)) {
    SessionStep *steps[STEPS], *endless;
    Tensor results[STEPS] = {{0}}, never = {0};
    RunState states[STEPS];
    int waiting = STEPS;
    CHECK_INT_EQ(start(&e, NULL, e.x, &e.yes, e.loops[0], 1, &never, &endless), RUN_WAITING);
    for (int i = 0; i < STEPS; i++)
      states[i] = start(&e, NULL, e.i, &e.zero, e.counted, 1, &results[i], &steps[i]);
    for (int round = 0; waiting > 0; round++) {
      waiting = 0;
      /* In another order each time. */
      for (int k = 0; k < STEPS; k++) {
        int i = (round * 2 + k * 3) % STEPS;
        if (states[i] == RUN_WAITING) states[i] = session_advance(steps[i], 1, &results[i], &e.f.status);
        waiting += states[i] == RUN_WAITING;
      }
    }
    for (int i = 0; i < STEPS; i++) {
      if (CHECK_INT_EQ(states[i], RUN_DONE)) CHECK_INT_EQ(*tensor_i32(&results[i]), 20000);
      tensor_clear(&results[i]);
    }
    CHECK_INT_EQ(session_advance(endless, 1, &never, &e.f.status), RUN_WAITING);
    session_abandon(endless);
    CHECK_INT_EQ(session_num_programs(e.f.session), 2);
  }
  end_endless(&e);
}

/* A step keeps the program that it began with. */
TEST(the_graph_can_grow_while_a_step_waits) {
  Endless e;
  if (begin_endless(&e)) {
    SessionStep *step;
    Tensor result = {0};
    RunState state = start(&e, NULL, e.i, &e.zero, e.counted, 1, &result, &step);
    CHECK_INT_EQ(state, RUN_WAITING);
    scalar(e.f.graph, "more", 1);
    counts_to_the_end(&e); /* with a program of its own */
    while (state == RUN_WAITING) state = session_advance(step, 1, &result, &e.f.status);
    if (CHECK_INT_EQ(state, RUN_DONE)) CHECK_INT_EQ(*tensor_i32(&result), 20000);
    tensor_clear(&result);
  }
  end_endless(&e);
}

/* A paused step frees its memory when it is abandoned, and when its session ends. */
TEST(a_step_that_paused_can_be_abandoned) {
  Endless e;
  if (begin_endless(&e)) {
    SessionStep *step, *begun;
    Tensor result = {0};
    const Tensor *value = &e.yes;
    const StepSignature loop = {.feeds = &e.x, .num_feeds = 1, .fetches = &e.loops[0], .num_fetches = 1};
    for (int i = 0; i < 2; i++) {
      CHECK_INT_EQ(start(&e, NULL, e.x, &e.yes, e.loops[i], 1, &result, &step), RUN_WAITING);
      CHECK_INT_EQ(session_advance(step, 1, &result, &e.f.status), RUN_WAITING);
      session_abandon(step);
      CHECK_OK(session_begin(e.f.session, NULL, &loop, &value, &begun, &e.f.status), e.f.status);
      session_abandon(begun); /* before its first kernel */
      counts_to_the_end(&e);
    }
    CHECK_INT_EQ(start(&e, NULL, e.x, &e.yes, e.loops[1], 1, &result, &step), RUN_WAITING);
    CHECK_OK(session_begin(e.f.session, NULL, &loop, &value, &begun, &e.f.status), e.f.status);
    session_close(e.f.session);
    CHECK_INT_EQ(session_advance(step, 1, &result, &e.f.status), RUN_FAILED);
    CHECK_INT_EQ(e.f.status.code, CODE_CANCELLED);
    CHECK_STR_EQ(e.f.status.message, "Session has been closed.");
    session_abandon(begun);
  }
  end_endless(&e);
}

TEST(a_session_that_is_freed_abandons_its_steps) {
  Endless e;
  if (begin_endless(&e)) {
    SessionStep *step;
    Tensor result = {0};
    CHECK_INT_EQ(start(&e, NULL, e.x, &e.yes, e.loops[1], 1, &result, &step), RUN_WAITING);
  }
  end_endless(&e);
}

#if SYNC_HAS_THREADS
typedef struct Closer {
  Session *session;
  int64_t began, closed; /* nanoseconds */
} Closer;

static void *close_soon(void *arg) {
  Closer *closer = arg;
  struct timespec wait = {.tv_nsec = 50000000};
  nanosleep(&wait, NULL);
  closer->began = clock_nanoseconds();
  session_close(closer->session);
  closer->closed = clock_nanoseconds();
  return NULL;
}

TEST(closing_a_session_ends_the_loop_that_another_thread_runs) {
  for (int i = 0; i < 2; i++) {
    Endless e;
    if (begin_endless(&e)) {
      Tensor result = {0};
      SessionStep *step;
      pthread_t thread;
      Closer closer = {.session = e.f.session};
      REQUIRE(pthread_create(&thread, NULL, close_soon, &closer) == 0);
      CHECK_INT_EQ(start(&e, NULL, e.x, &e.yes, e.loops[i], 0, &result, &step), RUN_FAILED);
      pthread_join(thread, NULL);
      CHECK_INT_EQ(e.f.status.code, CODE_CANCELLED);
      CHECK_STR_CONTAINS(e.f.status.message, "Run call was cancelled");
      CHECK(closer.closed - closer.began < 1000000000); /* milliseconds on an idle machine */
      CHECK_INT_EQ(start(&e, NULL, e.i, &e.zero, e.counted, 0, &result, &step), RUN_FAILED);
      CHECK_STR_EQ(e.f.status.message, "Session has been closed.");
    }
    end_endless(&e);
  }
}
#endif
