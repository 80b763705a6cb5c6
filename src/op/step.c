#include "op/step.h"

#include "base/clock.h"

enum {
  FIRST_INTERVAL = 4, /* checkpoints before the clock is first read: short steps never read it */
  LONGEST_INTERVAL = 1 << 16
};
static const int64_t kMillisecond = 1000000;
static const int64_t kCheckEvery = 500000; /* nanoseconds */

/* A moment `milliseconds` from now, or INT64_MAX when that is too far away. */
static int64_t after(int64_t milliseconds) {
  if (milliseconds <= 0) return INT64_MAX;
  int64_t now = clock_nanoseconds();
  return milliseconds < (INT64_MAX - now) / kMillisecond ? now + milliseconds * kMillisecond : INT64_MAX;
}

void step_begin(Step *step, int64_t timeout_ms, const atomic_bool *cancelled) {
  static atomic_int_least64_t num_steps;
  *step = (Step){.id = atomic_fetch_add(&num_steps, 1) + 1,
                 .stop = {.cancelled = cancelled, .deadline = after(timeout_ms)},
                 .pause_at = INT64_MAX,
                 .countdown = FIRST_INTERVAL,
                 .interval = FIRST_INTERVAL};
}

void step_set_slice(Step *step, int64_t slice_ms) {
  step->pause_at = after(slice_ms);
  step->blocked = false;
}

/* The next reading is after the number of checkpoints that fit into kCheckEvery, estimated from the last
 * ones. The interval at most doubles, because the next kernels may take longer. */
static void plan_next_check(Step *step, int64_t now) {
  int64_t elapsed = step->checked > 0 ? now - step->checked : kCheckEvery;
  int64_t fitting = elapsed > 0 ? step->interval * kCheckEvery / elapsed : LONGEST_INTERVAL;
  int64_t most = step->interval < LONGEST_INTERVAL / 2 ? 2 * (int64_t)step->interval : LONGEST_INTERVAL;
  step->interval = (int32_t)(fitting > most ? most : fitting < 1 ? 1 : fitting);
  step->countdown = step->interval;
  step->checked = now;
}

RunState step_check(Step *step, Status *status) {
  int64_t now = clock_nanoseconds();
  plan_next_check(step, now);
  if (step->stop.cancelled && atomic_load(step->stop.cancelled)) {
    status_set(status, CODE_CANCELLED, "Run call was cancelled");
    step->ended = true;
  } else if (now >= step->stop.deadline) {
    status_set(status, CODE_DEADLINE_EXCEEDED, "Timed out waiting for notification");
    step->ended = true;
  }
  if (step->ended) return RUN_FAILED;
  return now >= step->pause_at ? RUN_WAITING : RUN_DONE;
}

RunState step_block(Step *step, Status *status) {
  if (step_check(step, status) == RUN_FAILED) return RUN_FAILED;
  step->blocked = true;
  return RUN_WAITING;
}
