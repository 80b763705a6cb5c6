/* _Send and _Recv in a run: the instructions around their kernels. */
#include "base/hash64.h"
#include "runtime/program_internal.h"

void program_yield_to_receivers(ProgramRun *run, const atomic_bool *awaited) { run->awaited = awaited; }

/* Every part that runs the loop, TensorFlow's workers among them, computes the same number from the frames
 * around it and their iterations. */
void program_enter_loop(ProgramRun *run, int32_t loop) {
  const ProgramLoop *at = &run->program->loops[loop];
  const LoopPosition *outer = &run->loops[at->parent];
  uint64_t inner = hash64_combine((uint64_t)outer->iteration, at->frame);
  run->loops[loop] = (LoopPosition){.frame = hash64_combine(outer->frame, inner)};
}

/* Tells the kernel where it is. */
static void prepare(ProgramRun *run, const Instruction *at, const Step *step, bool dead) {
  run->transfer.rendezvous = step->rendezvous;
  const LoopPosition *loop = &run->loops[at->loop];
  run->transfer.frame = loop->frame;
  run->transfer.iteration = loop->iteration;
  run->transfer.dead = dead;
  run->steps[at->begin].context.transfer = step->rendezvous ? &run->transfer : NULL;
}

/* A _Send without a value: its inputs must not be read. */
static RunState send_dead(ProgramRun *run, const Instruction *at, Status *status) {
  const ProgramStep *step = at->begin + run->program->steps;
  bool ok = op_kernel_run(step->kernel, &run->steps[at->begin].context, status);
  for (int32_t i = 0; i < step->num_expiring; i++) tensor_clear(&run->values[step->expiring[i]]);
  return ok ? RUN_DONE : RUN_FAILED;
}

static RunState send_value(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  GuardState guard = (GuardState)run->guards[at->guard];
  RunState state = RUN_DONE;
  prepare(run, at, step, guard == GUARD_DEAD);
  if (guard == GUARD_DEAD) state = send_dead(run, at, status);
  if (guard == GUARD_HOLDS) state = program_run_steps(run, at, step, status);
  if (state != RUN_DONE) return state;
  run->instruction++;
  return run->awaited && atomic_load(run->awaited) ? RUN_WAITING : RUN_DONE;
}

static RunState receive_value(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  GuardState guard = (GuardState)run->guards[at->guard];
  RunState state = RUN_DONE;
  if (run->position != at->end) prepare(run, at, step, false); /* it has not received its value yet */
  if (guard == GUARD_HOLDS) state = program_run_steps(run, at, step, status);
  if (state == RUN_WAITING && run->position == at->begin)
    step->awaited_by = run->program->steps[at->begin].kernel->node->name;
  if (state != RUN_DONE) return state;
  run->guards[at->gives] = (uint8_t)(run->transfer.dead ? GUARD_DEAD : guard);
  run->instruction++;
  return state;
}

RunState program_do_transfer(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  return at->code == DO_SEND ? send_value(run, at, step, status) : receive_value(run, at, step, status);
}
