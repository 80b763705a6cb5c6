/* _Send and _Recv in a run: the instructions around their kernels. */
#include "base/string_map.h"
#include "runtime/program_internal.h"

bool program_has_transfers(const Program *program) { return program->has_transfers; }

void program_connect(ProgramRun *run, const Rendezvous *rendezvous, const atomic_bool *awaited) {
  run->transfer = (DeviceTransfer){.rendezvous = rendezvous};
  run->awaited = awaited;
}

static const Instruction *current(const ProgramRun *run) { return &run->program->code[run->instruction]; }

bool program_awaits_value(const ProgramRun *run) {
  return run->instruction < run->program->num_instructions && current(run)->code == DO_RECEIVE &&
         run->position == current(run)->begin;
}

const char *program_awaiting_node(const ProgramRun *run) {
  return run->program->steps[current(run)->begin].kernel->node->name;
}

/* Every part that runs the loop computes the same number from the frames around it and their iterations. */
void program_enter_loop(ProgramRun *run, int32_t loop) {
  const ProgramLoop *at = &run->program->loops[loop];
  const LoopPosition *outer = &run->loops[at->parent];
  const uint64_t identity[] = {outer->frame, (uint64_t)outer->iteration, at->frame};
  run->loops[loop] = (LoopPosition){.frame = hash_bytes((const char *)identity, sizeof identity)};
}

/* Tells the kernel where it is. */
static void prepare(ProgramRun *run, const Instruction *at, bool dead) {
  const LoopPosition *loop = &run->loops[at->loop];
  run->transfer.frame = loop->frame;
  run->transfer.iteration = loop->iteration;
  run->transfer.dead = dead;
  run->steps[at->begin].context.transfer = run->transfer.rendezvous ? &run->transfer : NULL;
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
  prepare(run, at, guard == GUARD_DEAD);
  if (guard == GUARD_DEAD) state = send_dead(run, at, status);
  if (guard == GUARD_HOLDS) state = program_run_steps(run, at, step, status);
  if (state != RUN_DONE) return state;
  run->instruction++;
  return run->awaited && atomic_load(run->awaited) ? RUN_WAITING : RUN_DONE;
}

static RunState receive_value(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  GuardState guard = (GuardState)run->guards[at->guard];
  RunState state = RUN_DONE;
  if (run->position != at->end) prepare(run, at, false); /* it has not received its value yet */
  if (guard == GUARD_HOLDS) state = program_run_steps(run, at, step, status);
  if (state != RUN_DONE) return state;
  run->guards[at->gives] = (uint8_t)(run->transfer.dead ? GUARD_DEAD : guard);
  run->instruction++;
  return state;
}

RunState program_do_transfer(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  return at->code == DO_SEND ? send_value(run, at, step, status) : receive_value(run, at, step, status);
}
