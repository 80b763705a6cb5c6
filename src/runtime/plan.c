#include "runtime/plan.h"

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

/* --- runs --- */

static Tensor *moved(const Plan *plan, const Tensor *place, const PlanRun *to) {
  int64_t index = plan_value_index(plan, place);
  return index < 0 ? (Tensor *)place : &to->values[index];
}

static bool copy_step(Plan *plan, const PlanStep *from, const PlanRun *run, PlanStep *step, Status *status) {
  int num_inputs = from->kernel->num_inputs;
  const Tensor **inputs = arena_calloc(plan->arena, num_inputs, sizeof *inputs);
  *step = *from;
  step->dead = arena_calloc(plan->arena, from->num_dead, sizeof *step->dead);
  step->reads = arena_calloc(plan->arena, from->num_reads, sizeof *step->reads);
  if (!inputs || !step->dead || !step->reads) return status_oom(status, "a call");
  for (int i = 0; i < num_inputs; i++) inputs[i] = moved(plan, from->context.inputs[i], run);
  for (int i = 0; i < from->num_dead; i++) step->dead[i] = moved(plan, from->dead[i], run);
  for (int i = 0; i < from->num_reads; i++) {
    const PlanRead *read = &from->reads[i];
    Tensor *value = read->value ? moved(plan, read->value, run) : NULL;
    step->reads[i] = (PlanRead){moved(plan, read->reference, run), value, read->name};
  }
  step->context.inputs = inputs;
  step->context.paused = NULL;
  step->context.outputs = run->values + (from->context.outputs - plan->first.values);
  return true;
}

/* One more run, for while another of the same plan is under way. */
static bool copy_run(Plan *plan, PlanRun **out, Status *status) {
  const PlanRun *from = &plan->first;
  PlanRun *run = arena_calloc(plan->arena, 1, sizeof *run);
  if (!run) return status_oom(status, "a call");
  run->plan = plan;
  run->values = arena_calloc(plan->arena, plan->num_values, sizeof *run->values);
  run->steps = arena_calloc(plan->arena, plan->num_steps, sizeof *run->steps);
  run->feed_values = arena_calloc(plan->arena, plan->num_feeds, sizeof *run->feed_values);
  run->fetch_values = arena_calloc(plan->arena, plan->num_fetches, sizeof *run->fetch_values);
  if (!run->values || !run->steps || !run->feed_values || !run->fetch_values)
    return status_oom(status, "a call");
  for (int64_t i = 0; i < plan->num_steps; i++)
    TRY(copy_step(plan, &from->steps[i], run, &run->steps[i], status));
  for (int i = 0; i < plan->num_feeds; i++)
    run->feed_values[i] = from->feed_values[i] ? moved(plan, from->feed_values[i], run) : NULL;
  for (int i = 0; i < plan->num_fetches; i++)
    run->fetch_values[i] = moved(plan, from->fetch_values[i], run);
  *out = run;
  return true;
}

static bool take_run(Plan *plan, PlanRun **run, Status *status) {
  if (!plan->unused && !copy_run(plan, &plan->unused, status)) return false;
  *run = plan->unused;
  plan->unused = (*run)->next;
  (*run)->position = 0;
  return true;
}

/* Drops all values; the run can be used again. */
static void return_run(PlanRun *run) {
  Plan *plan = run->plan;
  for (int64_t i = 0; i < plan->num_values; i++) tensor_clear(&run->values[i]);
  run->next = plan->unused;
  plan->unused = run;
}

bool plan_begin(Plan *plan, const Tensor *const *feed_values, PlanRun **run, Status *status) {
  TRY(take_run(plan, run, status));
  for (int i = 0; i < plan->num_feeds; i++) {
    Tensor *place = (*run)->feed_values[i];
    if (!place || tensor_assign(place, feed_values[i], status)) continue;
    return_run(*run);
    return false;
  }
  return true;
}

bool plan_begin_call(Plan *plan, Tensor *args, PlanRun **run, Status *status) {
  bool ok = take_run(plan, run, status);
  for (int i = 0; i < plan->num_feeds; i++) {
    if (ok && (*run)->feed_values[i]) {
      tensor_move((*run)->feed_values[i], &args[i]);
    } else {
      tensor_clear(&args[i]);
    }
  }
  return ok;
}

/* --- running --- */

static bool run_read(const PlanRead *read, Status *status) {
  Variable *variable;
  if (read->value) return reference_read(read->reference, read->name, read->value, status);
  return reference_variable(read->reference, read->name, &variable, status);
}

static bool read_references(const PlanStep *step, Status *status) {
  for (int i = 0; i < step->num_reads; i++) {
    if (!run_read(&step->reads[i], status)) return node_attach(step->kernel->node->name, status);
  }
  return true;
}

static bool run_kernel(PlanStep *step, Status *status) {
  bool resumed = step->context.paused != NULL;
  if ((resumed || read_references(step, status)) && op_kernel_run(step->kernel, &step->context, status)) return true;
  return step->callers ? status_append(status, "%s", step->callers) : false;
}

/* One kernel, from its beginning or from where it paused. */
static RunState run_step(PlanStep *step, Status *status) {
  if (!run_kernel(step, status)) return RUN_FAILED;
  if (step->context.paused) return RUN_WAITING;
  for (int k = 0; k < step->num_dead; k++) tensor_clear(step->dead[k]);
  return RUN_DONE;
}

static RunState run_steps(PlanRun *run, Step *step, Status *status) {
  int64_t num_steps = run->plan->num_steps;
  while (run->position < num_steps) {
    PlanStep *next = &run->steps[run->position];
    next->context.step = step;
    RunState state = run_step(next, status);
    if (state != RUN_DONE) return state;
    run->position++;
    state = step_checkpoint(step, status);
    if (state != RUN_DONE) return state;
  }
  return RUN_DONE;
}

static bool fetch(const PlanRun *run, int i, Tensor *value, Status *status) {
  const char *reference = run->plan->fetched_references[i];
  if (reference) return reference_read(run->fetch_values[i], reference, value, status);
  return tensor_assign(value, run->fetch_values[i], status);
}

RunState plan_advance(PlanRun *run, Step *step, Tensor *fetch_values, Status *status) {
  RunState state = run_steps(run, step, status);
  if (state == RUN_WAITING) return state;
  int num_fetches = run->plan->num_fetches;
  bool ok = state == RUN_DONE;
  for (int i = 0; ok && i < num_fetches; i++) ok = fetch(run, i, &fetch_values[i], status);
  for (int i = 0; !ok && i < num_fetches; i++) tensor_clear(&fetch_values[i]);
  return_run(run);
  return ok ? RUN_DONE : RUN_FAILED;
}

void plan_abandon(PlanRun *run) {
  if (!run) return;
  if (run->position < run->plan->num_steps) {
    KernelContext *context = &run->steps[run->position].context;
    if (context->paused) context->paused->abandon(context->paused);
    context->paused = NULL;
  }
  return_run(run);
}
