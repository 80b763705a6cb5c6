/* Steps that pause and go on, that are given up, and whose session is closed meanwhile, while memory is short from the n-th
 * allocation on, or for it alone. */
#include "base/alloc.h"
#include "runtime/session_fixture.h"
#include "runtime/thread_pool.h"

enum { ROUNDS = 4000, FIRST_FAULTS = 40 };

static const char kCount[] =
    COUNTING_FUNCTIONS("4000");

typedef struct Paused {
  Graph *graph;
  NodeOutput i, counted;
  Tensor zero;
} Paused;

/* What is done with a step that pauses. */
typedef enum Ending { GO_ON, ABANDON, CLOSE, NUM_ENDINGS } Ending;

static RunState start(Paused *p, Session *session, int64_t slice_ms, Tensor *result, Status *status) {
  const SessionRunOptions options = {.slice_ms = slice_ms};
  const Tensor *value = &p->zero;
  return session_start(session, &options, &p->i, &value, 1, &p->counted, result, 1, NULL, 0, status);
}

static void counts(Paused *p, Session *session) {
  Tensor result = {0};
  Status status;
  status_init(&status);
  RunState state = start(p, session, 0, &result, &status);
  CHECK_OK(state == RUN_DONE, status);
  if (state == RUN_DONE) CHECK_INT_EQ(*tensor_i32(&result), ROUNDS);
  tensor_clear(&result);
}

/* A session of its own, from its first allocation on. False when it ran short of memory. */
static bool run_paused(Paused *p, Ending ending) {
  Tensor result = {0};
  Status status;
  status_init(&status);
  Session *session = session_new(p->graph, &status);
  if (session == NULL) return CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED) && false;
  RunState state = start(p, session, 1, &result, &status);
  for (int pauses = 0; state == RUN_WAITING; pauses++) {
    if (ending == ABANDON && pauses == 1) session_abandon(session);
    if (ending == CLOSE && pauses == 1) session_close(session);
    if (ending != GO_ON && pauses == 1) break;
    state = session_resume(session, 1, &result, 1, &status);
  }
  mem_fail_after(-1);
  if (state == RUN_DONE) CHECK_INT_EQ(*tensor_i32(&result), ROUNDS);
  if (state == RUN_FAILED) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
  if (state != RUN_DONE) CHECK(tensor_is_empty(&result));
  tensor_clear(&result);
  if (ending != CLOSE || state != RUN_WAITING) counts(p, session);
  session_free(session);
  return state != RUN_FAILED;
}

static void starve(Paused *p, Ending ending, bool once) {
  CHECK(run_paused(p, ending)); /* what the graph keeps from its first step on */
  int64_t live = mem_live_bytes(), count = mem_allocation_count();
  CHECK(run_paused(p, ending));
  count = mem_allocation_count() - count;
  int failures = 0;
  for (int64_t n = 0; n < count; n += n < FIRST_FAULTS ? 1 : 1 + n / 8) {
    CHECK_CONTEXT("ending %d, %s after %d", (int)ending, once ? "one fails" : "all fail", (int)n);
    if (once) mem_fail_once(n);
    else mem_fail_after(n);
    if (!run_paused(p, ending)) failures++;
    mem_fail_after(-1);
    if (!CHECK_INT_EQ(mem_live_bytes(), live)) break;
  }
  CHECK_CONTEXT("%s", "");
  CHECK(failures >= FIRST_FAULTS / 2);
}

TEST(paused_steps_without_memory_leave_the_session_usable) {
  Paused p = {.graph = graph_new()};
  const Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"shape", "shape { }"}};
  Status status;
  status_init(&status);
  thread_pool_default();
  if (CHECK(p.graph != NULL) && define(p.graph, kCount) &&
      CHECK_OK(tensor_allocate_dims(&p.zero, DT_INT32, 0, NULL, NULL, &status), status)) {
    *tensor_i32(&p.zero) = 0;
    p.i = out(add_node(p.graph, "Placeholder", "i", NULL, 0, attrs, 2));
    p.counted = out(add_node(p.graph, "Count", "count", &p.i, 1, NULL, 0));
    for (int ending = GO_ON; ending < NUM_ENDINGS; ending++) {
      starve(&p, (Ending)ending, false);
      starve(&p, (Ending)ending, true);
    }
  }
  tensor_clear(&p.zero);
  graph_free(p.graph);
}
