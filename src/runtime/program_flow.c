/* Control flow of a run: the instructions between kernels. Unlike TensorFlow's executor, it counts no pending
 * inputs: the schedule (runtime/schedule.h) places a node after everything that the node depends on. */
#include "op/node_def.h"
#include "runtime/program_internal.h"

static bool holds(const ProgramRun *run, Guard guard) { return run->guards[guard] == GUARD_HOLDS; }

static bool transfer(const ProgramRun *run, const Instruction *instruction, const Transfer *t,
                     Status *status) {
  Tensor *from = program_value(run, t->from);
  if (t->to == NO_SLOT) return true;
  Tensor *to = &run->values[t->to];
  if (t->reference)
    return reference_read(from, t->reference, run->step_id, to, status) ||
           node_attach(instruction->name, status);
  if (!t->takes) return tensor_assign(to, from, status);
  tensor_move(to, from);
  return true;
}

static void clear(const ProgramRun *run, const Slot *slots, int32_t count) {
  for (int32_t i = 0; i < count; i++) tensor_clear(&run->values[slots[i]]);
}

/* --- Switch and Merge --- */

static bool choose(const ProgramRun *run, const Instruction *at, Status *status) {
  const Tensor *predicate = program_value(run, at->transfers[0].from);
  int32_t chosen = 0;
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(predicate)) {
    status_invalid(status, "The second input must be a scalar, but it has shape %s",
                   shape_text(&predicate->shape, text));
    return node_attach(at->name, status);
  }
  if (predicate->dtype == DT_BOOL) {
    chosen = *tensor_bool(predicate);
  } else {
    int32_t index = *tensor_i32(predicate);
    chosen = index >= 0 && index < at->num_gives ? index : at->num_gives - 1;
  }
  for (int32_t i = 0; i < at->num_gives; i++)
    run->guards[at->gives + i] = i == chosen ? GUARD_HOLDS : GUARD_DEAD;
  return true;
}

static bool do_switch(const ProgramRun *run, const Instruction *at, Status *status) {
  if (holds(run, at->guard)) return choose(run, at, status);
  for (int32_t i = 0; i < at->num_gives; i++) run->guards[at->gives + i] = run->guards[at->guard];
  return true;
}

static bool route(const ProgramRun *run, const Instruction *at, Status *status) {
  for (int32_t i = 0; i < at->num_transfers; i++) {
    if (holds(run, at->gives + i)) return transfer(run, at, &at->transfers[i], status);
  }
  return true;
}

static bool set_index(const ProgramRun *run, const Instruction *at, int32_t value, Status *status) {
  if (at->index == NO_SLOT) return true;
  Tensor *index = &run->values[at->index];
  TRY(tensor_allocate_dims(index, DT_INT32, 0, NULL, run->program->environment.pool, status));
  *tensor_i32(index) = value;
  return true;
}

/* A Merge is dead when all its inputs are dead. The Merge of a loop is dead when the entering value is dead,
 * because then no iteration will follow. */
static bool merge(const ProgramRun *run, const Instruction *at, Status *status) {
  int32_t dead = 0;
  for (int32_t i = 0; i < at->num_transfers; i++) {
    if (holds(run, at->guards[i])) {
      run->guards[at->gives] = GUARD_HOLDS;
      return transfer(run, at, &at->transfers[i], status) && set_index(run, at, i, status);
    }
    dead += run->guards[at->guards[i]] == GUARD_DEAD;
  }
  bool all_dead = dead == at->num_transfers || (at->closes_loop && dead > 0);
  run->guards[at->gives] = all_dead ? GUARD_DEAD : GUARD_OPEN;
  return true;
}

/* --- guards --- */

static void combine(const ProgramRun *run, const Instruction *at) {
  uint8_t state = GUARD_HOLDS;
  for (int32_t i = 0; i < at->num_guards; i++) {
    if (run->guards[at->guards[i]] < state) state = run->guards[at->guards[i]];
  }
  run->guards[at->gives] = at->code == DO_ARRIVED && state != GUARD_OPEN ? GUARD_HOLDS : state;
}

/* --- loops --- */

static bool set_again(const Instruction *at, Status *status) {
  status_set(status, CODE_INTERNAL, "Retval[%d] has already been set.", at->num_gives);
  return node_attach(at->name, status);
}

static bool move_if_holds(const ProgramRun *run, const Instruction *at, Status *status) {
  if (!holds(run, at->guard)) {
    if (at->code == DO_MOVE) run->guards[at->gives] = run->guards[at->guard];
    return true;
  }
  if (at->code == DO_RESULT && holds(run, at->gives)) return set_again(at, status);
  if (at->gives != NO_GUARD) run->guards[at->gives] = GUARD_HOLDS;
  return transfer(run, at, &at->transfers[0], status);
}

static void set_guards(const ProgramRun *run, const Guard *guards, int32_t count, GuardState state) {
  for (int32_t i = 0; i < count; i++) run->guards[guards[i]] = (uint8_t)state;
}

static void finish_loop(ProgramRun *run, const ProgramLoop *loop, GuardState missing) {
  for (int32_t i = 0; i < loop->num_exits; i++) {
    if (!holds(run, loop->exits[i])) run->guards[loop->exits[i]] = (uint8_t)missing;
  }
  const Instruction *end = &run->program->code[loop->end];
  clear(run, loop->leftovers, loop->num_leftovers);
  clear(run, end->expiring, end->num_expiring);
  run->instruction = loop->end;
}

/* A loop runs only if at least one of its entering values is alive. If none is alive and at least one is
 * dead, its Exits are dead; a loop that sends runs once without values, as its receivers expect. If all are
 * undecided, its Exits stay undecided. */
static bool begin_loop(ProgramRun *run, const Instruction *at, Status *status) {
  const ProgramLoop *loop = &run->program->loops[at->loop];
  int32_t alive = 0, dead = 0;
  for (int32_t i = 0; i < at->num_transfers; i++) {
    uint8_t state = run->guards[at->guards[i]];
    if (loop->entered[i] != NO_GUARD) run->guards[loop->entered[i]] = state;
    alive += state == GUARD_HOLDS;
    dead += state == GUARD_DEAD;
    if (state == GUARD_HOLDS) TRY(transfer(run, at, &at->transfers[i], status));
  }
  set_guards(run, loop->exits, loop->num_exits, GUARD_OPEN);
  set_guards(run, loop->rounds, loop->num_rounds, GUARD_OPEN);
  bool once = alive > 0 || (dead > 0 && loop->sends);
  if (!once) finish_loop(run, loop, dead > 0 ? GUARD_DEAD : GUARD_OPEN);
  if (once && loop->head != NO_GUARD) run->guards[loop->head] = alive > 0 ? GUARD_HOLDS : GUARD_DEAD;
  if (run->program->has_transfers) program_enter_loop(run, at->loop);
  return true;
}

static RunState end_loop(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  const ProgramLoop *loop = &run->program->loops[at->loop];
  int32_t alive = 0;
  for (int32_t i = 0; i < loop->num_rounds; i++) {
    if (holds(run, loop->rounds[i])) {
      alive++;
    } else {
      run->guards[loop->rounds[i]] = GUARD_OPEN;
    }
  }
  if (alive == 0) {
    finish_loop(run, loop, GUARD_DEAD);
    return RUN_DONE;
  }
  set_guards(run, loop->entered, loop->num_entered, GUARD_OPEN);
  clear(run, loop->leftovers, loop->num_leftovers);
  run->instruction = loop->begin;
  run->loops[at->loop].iteration++;
  return step_checkpoint(step, status);
}

/* --- one instruction --- */

RunState program_do(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  bool ok = true;
  switch (at->code) {
    case DO_STEPS:
    case DO_SEND:
    case DO_RECEIVE: break;
    case DO_MOVE:
    case DO_EXIT:
    case DO_RESULT: ok = move_if_holds(run, at, status); break;
    case DO_ONCE: ok = !holds(run, at->guard) || !holds(run, at->gives) || set_again(at, status); break;
    case DO_SWITCH: ok = do_switch(run, at, status); break;
    case DO_ROUTE: ok = route(run, at, status); break;
    case DO_MERGE: ok = merge(run, at, status); break;
    case DO_ALL:
    case DO_ARRIVED: combine(run, at); break;
    case DO_BEGIN_LOOP: ok = begin_loop(run, at, status); break;
    case DO_END_LOOP: return end_loop(run, at, step, status);
  }
  for (int32_t i = 0; i < at->num_expiring; i++) tensor_clear(&run->values[at->expiring[i]]);
  return ok ? RUN_DONE : RUN_FAILED;
}
