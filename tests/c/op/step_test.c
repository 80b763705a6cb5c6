#include "op/step.h"

#include "base/clock.h"
#include "harness.h"

/* The number of checkpoints until one does not return RUN_DONE, with `ms` of waiting between them; -1 if all
 * do. */
static int checkpoints_until(Step *step, RunState want, int most, double ms, Status *status) {
  for (int i = 1; i <= most; i++) {
    int64_t until = clock_nanoseconds() + (int64_t)(ms * 1e6);
    while (clock_nanoseconds() < until) {
    }
    RunState state = step_checkpoint(step, status);
    if (state != RUN_DONE) return CHECK_INT_EQ(state, want) ? i : -1;
  }
  return -1;
}

TEST(a_step_without_limits_goes_on) {
  Step step, other;
  Status status;
  status_init(&status);
  step_begin(&step, 0, NULL);
  step_begin(&other, 0, NULL);
  CHECK(step.id > 0 && other.id > step.id);
  CHECK_INT_EQ(checkpoints_until(&step, RUN_DONE, 1000000, 0, &status), -1);
  CHECK_INT_EQ(status.code, CODE_OK);
}

TEST(a_blocked_step_is_so_until_its_next_slice_and_keeps_its_deadline) {
  Step step;
  Status status;
  status_init(&status);
  step_begin(&step, 5, NULL);
  CHECK(!step.blocked);
  CHECK_INT_EQ(step_block(&step, &status), RUN_WAITING);
  CHECK(step.blocked);
  step_set_slice(&step, 1);
  CHECK(!step.blocked);
  RunState state = RUN_WAITING;
  for (int64_t begin = clock_nanoseconds(); state == RUN_WAITING && clock_nanoseconds() - begin < 1000000000;)
    state = step_block(&step, &status);
  CHECK_INT_EQ(state, RUN_FAILED);
  CHECK_INT_EQ(status.code, CODE_DEADLINE_EXCEEDED);
}

TEST(a_deadline_ends_a_step_soon_after_it) {
  Step step;
  Status status;
  status_init(&status);
  int64_t begin = clock_nanoseconds();
  step_begin(&step, 5, NULL);
  CHECK(checkpoints_until(&step, RUN_FAILED, 200, 0.1, &status) > 0);
  CHECK(clock_nanoseconds() - begin >= 5000000);
  CHECK_INT_EQ(status.code, CODE_DEADLINE_EXCEEDED);
  CHECK_STR_EQ(status.message, "Timed out waiting for notification");
  /* A deadline too far away for the clock is ignored. */
  status_init(&status);
  step_begin(&step, INT64_MAX, NULL);
  CHECK_INT_EQ(checkpoints_until(&step, RUN_DONE, 100, 0, &status), -1);
}

TEST(a_cancelled_step_ends_within_few_checkpoints_of_any_length) {
  static const double kLengths[] = {0, 0.01, 1};
  for (int i = 0; i < 3; i++) {
    atomic_bool cancelled = false;
    Step step;
    Status status;
    status_init(&status);
    step_begin(&step, 0, &cancelled);
    CHECK_INT_EQ(checkpoints_until(&step, RUN_DONE, 50, kLengths[i], &status), -1);
    atomic_store(&cancelled, true);
    int64_t begin = clock_nanoseconds();
    CHECK(checkpoints_until(&step, RUN_FAILED, 1 << 20, kLengths[i], &status) > 0);
    CHECK(clock_nanoseconds() - begin < 1000000000); /* about a millisecond on an idle machine */
    CHECK_INT_EQ(status.code, CODE_CANCELLED);
  }
}

TEST(a_slice_pauses_a_step_until_the_next_slice) {
  Step step;
  Status status;
  status_init(&status);
  step_begin(&step, 0, NULL);
  step_set_slice(&step, 2);
  CHECK(checkpoints_until(&step, RUN_WAITING, 200, 0.1, &status) > 0);
  step_set_slice(&step, 2);
  CHECK(checkpoints_until(&step, RUN_WAITING, 200, 0.1, &status) > 0);
  step_set_slice(&step, 0);
  CHECK_INT_EQ(checkpoints_until(&step, RUN_DONE, 20, 1, &status), -1);
  CHECK_INT_EQ(status.code, CODE_OK);
}
