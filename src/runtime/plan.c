#include "runtime/plan.h"

#include <stdatomic.h>

#include "base/arena.h"
#include "runtime/plan_internal.h"

void plan_free(Plan *plan) {
  if (!plan) return;
  for (int64_t i = 0; i < plan->num_kernels; i++) op_kernel_free(plan->kernels[i]);
  for (int64_t i = 0; i < plan->num_constants; i++) tensor_clear(&plan->constants[i]);
  graph_free(plan->expanded);
  arena_free(plan->arena); /* holds the plan itself */
}

int64_t plan_num_steps(const Plan *plan) { return plan->num_steps; }

static bool set_feeds(Plan *plan, const Tensor *const *feed_values, Status *status) {
  for (int i = 0; i < plan->num_feeds; i++) {
    if (plan->feed_values[i]) TRY(tensor_assign(plan->feed_values[i], feed_values[i], status));
  }
  return true;
}

static bool run_steps(Plan *plan, Status *status) {
  static atomic_int_least64_t num_runs; /* steps are told apart in the whole process */
  int64_t step_id = atomic_fetch_add(&num_runs, 1) + 1;
  for (int64_t i = 0; i < plan->num_steps; i++) {
    PlanStep *step = &plan->steps[i];
    step->context.step_id = step_id;
    TRY(op_kernel_run(step->kernel, &step->context, status));
    for (int k = 0; k < step->num_dead; k++) tensor_clear(step->dead[k]);
  }
  return true;
}

static bool take_fetches(Plan *plan, Tensor *fetch_values, Status *status) {
  for (int i = 0; i < plan->num_fetches; i++)
    TRY(tensor_assign(&fetch_values[i], plan->fetch_values[i], status));
  return true;
}

bool plan_run(Plan *plan, const Tensor *const *feed_values, Tensor *fetch_values, Status *status) {
  bool ok = set_feeds(plan, feed_values, status) && run_steps(plan, status) &&
            take_fetches(plan, fetch_values, status);
  if (!ok) {
    for (int i = 0; i < plan->num_fetches; i++) tensor_clear(&fetch_values[i]);
  }
  for (int64_t i = 0; i < plan->num_values; i++) tensor_clear(&plan->values[i]);
  return ok;
}
