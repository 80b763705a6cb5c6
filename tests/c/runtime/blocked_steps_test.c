/* Steps with a kernel that waits for another step: Await passes its input on once Give has run. */
#include "base/sync.h"
#include "op/op_registration.h"
#include "runtime/session_fixture.h"

static atomic_bool given;

static void leave(PausedKernel *paused) { (void)paused; }
static PausedKernel waiting = {leave};

static bool await_kernel(KernelContext *context, Status *status) {
  RunState state = atomic_exchange(&given, false) ? RUN_DONE : step_block(context->step, status);
  context->paused = state == RUN_WAITING ? &waiting : NULL;
  if (state == RUN_DONE) return kernel_set_output(context, 0, context->inputs[0], NULL, status);
  return state == RUN_WAITING;
}

static bool give_kernel(KernelContext *context, Status *status) {
  atomic_store(&given, true);
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

#define PASSES_ON(op, kernel)                                                                   \
  {                                                                                             \
    .name = op, .inputs = {"x: float"}, .outputs = {"y: float"}, .is_stateful = true,           \
    .shape = shape_unknown_outputs, .gradient = NO_GRADIENT, .kernels = {{DT_INVALID, kernel}}, \
  }
static const OpRegistration kAwait = PASSES_ON("Await", await_kernel), kGive = PASSES_ON("Give", give_kernel);

typedef struct Blocking {
  Fixture f;
  NodeOutput awaits, gives;
} Blocking;

static bool begin_blocking(Blocking *b) {
  Status status;
  status_init(&status);
  atomic_store(&given, false);
  if (!CHECK_OK(op_registry_add(op_registry_global(), &kAwait, &status), status) ||
      !CHECK_OK(op_registry_add(op_registry_global(), &kGive, &status), status) || !begin(&b->f))
    return false;
  b->awaits = unary(b->f.graph, "Await", "awaits", scalar(b->f.graph, "five", 5));
  b->gives = unary(b->f.graph, "Give", "gives", scalar(b->f.graph, "six", 6));
  return CHECK(b->awaits.node && b->gives.node);
}

static RunState start(Blocking *b, int64_t timeout_ms, int64_t slice_ms, Tensor *result, SessionStep **step) {
  const SessionRunOptions options = {.timeout_ms = timeout_ms};
  *result = (Tensor){0};
  return start_step(b->f.session, &options, NULL, NULL, b->awaits, slice_ms, result, step, &b->f.status);
}

static bool give(Blocking *b) {
  Tensor result = {0};
  bool ok = session_run(b->f.session, NULL, NULL, 0, &b->gives, &result, 1, NULL, 0, &b->f.status);
  tensor_clear(&result);
  return CHECK_OK(ok, b->f.status);
}

TEST(a_blocked_step_lets_another_step_run_and_then_continues) {
  Blocking b;
  Tensor result;
  SessionStep *step;
  if (begin_blocking(&b)) {
    for (int64_t slice = 0; slice < 2; slice++) {
      CHECK_INT_EQ(start(&b, 0, slice, &result, &step), RUN_WAITING);
      CHECK(session_step_is_blocked(step));
      CHECK_INT_EQ(session_advance(step, slice, &result, &b.f.status), RUN_WAITING);
      CHECK(session_step_is_blocked(step));
      if (give(&b) && CHECK_INT_EQ(session_advance(step, slice, &result, &b.f.status), RUN_DONE))
        CHECK_NEAR(*tensor_f32(&result), 5, 0);
      tensor_clear(&result);
    }
  }
  end(&b.f);
}

TEST(a_blocked_step_ends_at_its_deadline_and_with_its_session) {
  Blocking b;
  Tensor result;
  SessionStep *step;
  if (begin_blocking(&b)) {
    RunState state = start(&b, 10, 1, &result, &step);
    while (state == RUN_WAITING) state = session_advance(step, 1, &result, &b.f.status);
    CHECK_INT_EQ(state, RUN_FAILED);
    CHECK_INT_EQ(b.f.status.code, CODE_DEADLINE_EXCEEDED);
    status_init(&b.f.status);
    CHECK_INT_EQ(start(&b, 0, 1, &result, &step), RUN_WAITING);
    session_close(b.f.session);
    CHECK_INT_EQ(session_advance(step, 1, &result, &b.f.status), RUN_FAILED);
    CHECK_INT_EQ(b.f.status.code, CODE_CANCELLED);
  }
  end(&b.f);
}

#if SYNC_HAS_THREADS && !defined(__wasm__)
static void *give_in_a_thread(void *argument) {
  give(argument);
  return NULL;
}

TEST(a_step_that_blocks_a_thread_waits_for_the_step_of_another_thread) {
  Blocking b;
  Tensor result = {0};
  Thread thread;
  if (begin_blocking(&b)) {
    Blocking other = b;
    status_init(&other.f.status);
    REQUIRE(thread_start(&thread, give_in_a_thread, &other));
    bool ok = session_run(b.f.session, NULL, NULL, 0, &b.awaits, &result, 1, NULL, 0, &b.f.status);
    thread_join(thread);
    if (CHECK_OK(ok, b.f.status)) CHECK_NEAR(*tensor_f32(&result), 5, 0);
    tensor_clear(&result);
  }
  end(&b.f);
}
#endif
