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

/* --- frames --- */

static Tensor *moved(const Plan *plan, const Tensor *place, const PlanFrame *to) {
  int64_t index = plan_value_index(plan, place);
  return index < 0 ? (Tensor *)place : &to->values[index];
}

static bool copy_step(Plan *plan, const PlanStep *from, const PlanFrame *frame, PlanStep *step,
                      Status *status) {
  int num_inputs = from->kernel->num_inputs;
  const Tensor **inputs = arena_calloc(plan->arena, num_inputs, sizeof *inputs);
  *step = *from;
  step->dead = arena_calloc(plan->arena, from->num_dead, sizeof *step->dead);
  step->reads = arena_calloc(plan->arena, from->num_reads, sizeof *step->reads);
  if (!inputs || !step->dead || !step->reads) return status_oom(status, "a call");
  for (int i = 0; i < num_inputs; i++) inputs[i] = moved(plan, from->context.inputs[i], frame);
  for (int i = 0; i < from->num_dead; i++) step->dead[i] = moved(plan, from->dead[i], frame);
  for (int i = 0; i < from->num_reads; i++) {
    const PlanRead *read = &from->reads[i];
    Tensor *value = read->value ? moved(plan, read->value, frame) : NULL;
    step->reads[i] = (PlanRead){moved(plan, read->reference, frame), value, read->name};
  }
  step->context.inputs = inputs;
  step->context.outputs = frame->values + (from->context.outputs - plan->frame.values);
  return true;
}

/* One more frame, for a run within a run of the same plan. */
static bool copy_frame(Plan *plan, PlanFrame **out, Status *status) {
  const PlanFrame *from = &plan->frame;
  PlanFrame *frame = arena_calloc(plan->arena, 1, sizeof *frame);
  if (!frame) return status_oom(status, "a call");
  frame->values = arena_calloc(plan->arena, plan->num_values, sizeof *frame->values);
  frame->steps = arena_calloc(plan->arena, plan->num_steps, sizeof *frame->steps);
  frame->feed_values = arena_calloc(plan->arena, plan->num_feeds, sizeof *frame->feed_values);
  frame->fetch_values = arena_calloc(plan->arena, plan->num_fetches, sizeof *frame->fetch_values);
  if (!frame->values || !frame->steps || !frame->feed_values || !frame->fetch_values)
    return status_oom(status, "a call");
  for (int64_t i = 0; i < plan->num_steps; i++)
    TRY(copy_step(plan, &from->steps[i], frame, &frame->steps[i], status));
  for (int i = 0; i < plan->num_feeds; i++)
    frame->feed_values[i] = from->feed_values[i] ? moved(plan, from->feed_values[i], frame) : NULL;
  for (int i = 0; i < plan->num_fetches; i++)
    frame->fetch_values[i] = moved(plan, from->fetch_values[i], frame);
  *out = frame;
  return true;
}

static bool take_frame(Plan *plan, PlanFrame **frame, Status *status) {
  if (!plan->unused) return copy_frame(plan, frame, status);
  *frame = plan->unused;
  plan->unused = (*frame)->next;
  return true;
}

static void return_frame(Plan *plan, PlanFrame *frame) {
  for (int64_t i = 0; i < plan->num_values; i++) tensor_clear(&frame->values[i]);
  frame->next = plan->unused;
  plan->unused = frame;
}

/* --- running --- */

static bool run_read(const PlanRead *read, Status *status) {
  Variable *variable;
  if (read->value) return reference_read(read->reference, read->name, read->value, status);
  return reference_variable(read->reference, read->name, &variable, status);
}

static bool run_step(PlanStep *step, Status *status) {
  for (int i = 0; i < step->num_reads; i++) {
    if (!run_read(&step->reads[i], status)) return node_attach(step->kernel->node->name, status);
  }
  return op_kernel_run(step->kernel, &step->context, status);
}

static bool run_steps(const Plan *plan, PlanFrame *frame, Status *status) {
  static atomic_int_least64_t num_runs; /* steps are told apart in the whole process */
  int64_t step_id = atomic_fetch_add(&num_runs, 1) + 1;
  for (int64_t i = 0; i < plan->num_steps; i++) {
    PlanStep *step = &frame->steps[i];
    step->context.step_id = step_id;
    TRY(run_step(step, status));
    for (int k = 0; k < step->num_dead; k++) tensor_clear(step->dead[k]);
  }
  return true;
}

static bool fetch(const Plan *plan, const PlanFrame *frame, int i, Tensor *value, Status *status) {
  const char *reference = plan->fetched_references[i];
  if (reference) return reference_read(frame->fetch_values[i], reference, value, status);
  return tensor_assign(value, frame->fetch_values[i], status);
}

static bool run_frame(Plan *plan, PlanFrame *frame, Tensor *fetch_values, Status *status) {
  bool ok = run_steps(plan, frame, status);
  for (int i = 0; ok && i < plan->num_fetches; i++) ok = fetch(plan, frame, i, &fetch_values[i], status);
  for (int i = 0; !ok && i < plan->num_fetches; i++) tensor_clear(&fetch_values[i]);
  return_frame(plan, frame);
  return ok;
}

bool plan_run(Plan *plan, const Tensor *const *feed_values, Tensor *fetch_values, Status *status) {
  PlanFrame *frame;
  TRY(take_frame(plan, &frame, status));
  for (int i = 0; i < plan->num_feeds; i++) {
    if (!frame->feed_values[i] || tensor_assign(frame->feed_values[i], feed_values[i], status)) continue;
    return_frame(plan, frame);
    return false;
  }
  return run_frame(plan, frame, fetch_values, status);
}

bool plan_call(Plan *plan, Tensor *args, Tensor *rets, Status *status) {
  PlanFrame *frame = NULL;
  bool ok = take_frame(plan, &frame, status);
  for (int i = 0; i < plan->num_feeds; i++) {
    if (ok && frame->feed_values[i]) {
      tensor_move(frame->feed_values[i], &args[i]);
    } else {
      tensor_clear(&args[i]);
    }
  }
  return ok && run_frame(plan, frame, rets, status);
}
