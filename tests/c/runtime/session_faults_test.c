/* Steps that pause and are resumed or abandoned, and whose session is closed meanwhile, while the n-th
 * request, or all from the n-th on, fail. */
#include "base/alloc.h"
#include "runtime/session_fixture.h"
#include "runtime/thread_pool.h"
#include "shortage.h"

enum { ROUNDS = 4000, MOST_FAULTS = 120 };

static const char kCount[] = COUNTING_FUNCTIONS("4000");

typedef struct Paused {
  Graph *graph;
  NodeOutput i, counted;
  Tensor zero;
} Paused;

/* The fate of a paused step. */
typedef enum Ending { GO_ON, ABANDON, CLOSE, NUM_ENDINGS } Ending;

static RunState start(Paused *p, Session *session, int64_t slice_ms, Tensor *result, SessionStep **step,
                      Status *status) {
  return start_step(session, NULL, &p->i, &p->zero, p->counted, slice_ms, result, step, status);
}

static void counts(Paused *p, Session *session) {
  Tensor result = {0};
  SessionStep *step;
  Status status;
  status_init(&status);
  RunState state = start(p, session, 0, &result, &step, &status);
  CHECK_OK(state == RUN_DONE, status);
  if (state == RUN_DONE) CHECK_INT_EQ(*tensor_i32(&result), ROUNDS);
  tensor_clear(&result);
}

/* A separate session, from its first request on. */
static void run_paused(Paused *p, Ending ending, Shortage *shortage) {
  Tensor result = {0};
  SessionStep *step;
  Status status;
  status_init(&status);
  shortage_begin(shortage);
  Session *session = session_new(p->graph, &status);
  RunState state = !session ? RUN_FAILED : start(p, session, 1, &result, &step, &status);
  for (int pauses = 0; state == RUN_WAITING; pauses++) {
    if (ending == ABANDON && pauses == 1) session_abandon(step);
    if (ending == CLOSE && pauses == 1) session_close(session);
    if (ending != GO_ON && pauses == 1) break;
    state = session_advance(step, 1, &result, &status);
  }
  shortage_end(shortage, state != RUN_FAILED, status.code);
  if (state == RUN_DONE) CHECK_INT_EQ(*tensor_i32(&result), ROUNDS);
  if (state != RUN_DONE) CHECK(tensor_is_empty(&result));
  tensor_clear(&result);
  if (session && (ending != CLOSE || state != RUN_WAITING)) counts(p, session);
  session_free(session);
}

static void starve(Paused *p, Ending ending) {
  Shortage shortage = {.what = "a paused step", .most = MOST_FAULTS};
  do run_paused(p, ending, &shortage);
  while (shortage_next(&shortage));
}

TEST(paused_steps_without_memory_leave_the_session_usable) {
  Paused p = {.graph = graph_new()};
  const Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"shape", "shape { }"}};
  Status status;
  status_init(&status);
  thread_pool_default();
  if (CHECK(p.graph) && define(p.graph, kCount) &&
      CHECK_OK(tensor_allocate_dims(&p.zero, DT_INT32, 0, NULL, NULL, &status), status)) {
    *tensor_i32(&p.zero) = 0;
    p.i = out(add_node(p.graph, "Placeholder", "i", NULL, 0, attrs, 2));
    p.counted = out(add_node(p.graph, "Count", "count", &p.i, 1, NULL, 0));
    for (int ending = GO_ON; ending < NUM_ENDINGS; ending++) starve(&p, (Ending)ending);
  }
  tensor_clear(&p.zero);
  graph_free(p.graph);
}
