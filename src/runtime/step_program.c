#include "runtime/step_program.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "placement/partition.h"
#include "runtime/local_rendezvous.h"

/* The program of one device, with its places among the arguments and results of the step. */
typedef struct Part {
  Program *program;
  const int *arg_places, *ret_places; /* NULL: those of the step */
  int num_args, num_rets;
} Part;

struct StepProgram {
  Arena *arena; /* holds the program itself */
  int64_t references;
  const Parallel *parallel;
  const char *device;    /* of nodes that are not assigned to one */
  Partitions partitions; /* empty where one device runs the whole step */
  FunctionBody *whole;   /* what the parts share values with; NULL where one device runs the step */
  Part *parts;
  int num_parts;
  StepRun *unused;
};

/* One part of a run. Threads change different ones at the same time. */
typedef struct PartRun {
  ProgramRun *run; /* NULL: it has ended */
  Step step;
  Status status;
  Tensor *results;
  const Tensor **args;
  bool waits; /* for a value */
  bool has_failed;
} PartRun;

struct StepRun {
  StepProgram *program;
  PartRun *parts;
  LocalRendezvous *rendezvous;
  atomic_bool awaited; /* a part waits for a value; see DeviceTransfer */
  StepRun *next;       /* also links the unused runs */
};

static bool oom(Status *status) { return status_oom(status, "a step"); }

/* --- programs --- */

int step_program_num_parts(const StepProgram *program) { return program->num_parts; }

const Program *step_program_part(const StepProgram *program, int index) {
  return program->parts[index].program;
}

const char *step_program_device(const StepProgram *program) { return program->device; }

StepProgram *step_program_ref(StepProgram *program) {
  program->references++;
  return program;
}

void step_program_unref(StepProgram *program) {
  if (!program || --program->references > 0) return;
  for (StepRun *run = program->unused; run; run = run->next) local_rendezvous_free(run->rendezvous);
  for (int i = 0; i < program->num_parts; i++) program_free(program->parts[i].program);
  partitions_free(&program->partitions);
  function_body_free(program->whole);
  arena_free(program->arena);
}

static bool compile_part(StepProgram *made, FunctionBody *body, SessionDevices *devices, int device,
                         Part *part, Status *status) {
  SessionDevice *at;
  if (!session_devices_get(devices, device, &at, status)) {
    function_body_free(body);
    return false;
  }
  TRY(function_runtime_compile(at->functions, body, at->kernels, &part->program, status));
  made->num_parts++;
  return true;
}

static bool compile_parts(StepProgram *made, SessionDevices *devices, Status *status) {
  const DeviceSet *set = session_devices_names(devices);
  made->parts = arena_calloc(made->arena, made->partitions.count, sizeof *made->parts);
  if (!made->parts) return oom(status);
  for (int i = 0; i < made->partitions.count; i++) {
    Partition *from = &made->partitions.parts[i];
    FunctionBody *body = from->body;
    Part *part = &made->parts[i];
    *part = (Part){.arg_places = from->arg_places,
                   .ret_places = from->ret_places,
                   .num_args = body->num_args,
                   .num_rets = body->num_rets};
    from->body = NULL; /* the program of the part owns it */
    TRY(compile_part(made, body, devices, (int)(from->device - set->devices), part, status));
  }
  return true;
}

static bool compile(StepProgram *made, FunctionBody *body, SessionDevices *devices, Status *status) {
  const DeviceSet *set = session_devices_names(devices);
  made->device = set ? set->devices[0].name : DEFAULT_DEVICE_NAME;
  if (set && set->count > 1) {
    made->whole = body;
    return partition_body(body, set, &made->partitions, status) && compile_parts(made, devices, status);
  }
  made->parts = arena_calloc(made->arena, 1, sizeof *made->parts);
  if (made->parts) return compile_part(made, body, devices, 0, made->parts, status);
  function_body_free(body);
  return oom(status);
}

bool step_program_compile(FunctionBody *body, SessionDevices *devices, StepProgram **program,
                          Status *status) {
  Arena *arena = arena_new();
  StepProgram *made = arena ? arena_calloc(arena, 1, sizeof *made) : NULL;
  if (!made) {
    arena_free(arena);
    function_body_free(body);
    return oom(status);
  }
  *made = (StepProgram){.arena = arena, .references = 1, .parallel = session_devices_parallel(devices)};
  if (compile(made, body, devices, status)) {
    *program = made;
    return true;
  }
  step_program_unref(made);
  return false;
}

/* --- runs --- */

static bool add_run(StepProgram *program, Status *status) {
  StepRun *run = arena_calloc(program->arena, 1, sizeof *run);
  PartRun *parts = arena_calloc(program->arena, program->num_parts, sizeof *parts);
  if (!run || !parts) return oom(status);
  run->program = program;
  run->parts = parts;
  atomic_init(&run->awaited, false);
  for (int i = 0; i < program->num_parts; i++) {
    parts[i].results = arena_calloc(program->arena, program->parts[i].num_rets, sizeof(Tensor));
    parts[i].args = arena_calloc(program->arena, program->parts[i].num_args, sizeof(Tensor *));
    if (!parts[i].results || !parts[i].args) return oom(status);
  }
  run->rendezvous = local_rendezvous_new(status);
  if (!run->rendezvous) return false;
  run->next = program->unused;
  program->unused = run;
  return true;
}

static void return_run(StepRun *run) {
  StepProgram *program = run->program;
  local_rendezvous_restart(run->rendezvous);
  run->next = program->unused;
  program->unused = run;
}

static void drop_results(const StepRun *run) {
  const StepProgram *program = run->program;
  for (int i = 0; i < program->num_parts; i++) {
    for (int k = 0; k < program->parts[i].num_rets; k++) tensor_clear(&run->parts[i].results[k]);
  }
}

void step_run_abandon(StepRun *run) {
  if (!run) return;
  for (int i = 0; i < run->program->num_parts; i++) {
    program_abandon(run->parts[i].run);
    run->parts[i].run = NULL;
  }
  drop_results(run);
  return_run(run);
}

static bool begin_part(StepRun *run, int index, const Tensor *const *args, Status *status) {
  const StepProgram *program = run->program;
  const Part *part = &program->parts[index];
  PartRun *at = &run->parts[index];
  at->has_failed = at->waits = false;
  if (part->arg_places) {
    for (int i = 0; i < part->num_args; i++) at->args[i] = args[part->arg_places[i]];
    args = at->args;
  }
  if (!program_begin(part->program, args, &at->run, status)) {
    at->run = NULL;
    return false;
  }
  /* On one thread no other part could take over. */
  const atomic_bool *awaited = parallel_threads(program->parallel) > 1 ? &run->awaited : NULL;
  program_yield_to_receivers(at->run, awaited);
  return true;
}

bool step_program_begin(StepProgram *program, const Tensor *const *args, StepRun **run, Status *status) {
  TRY(program->unused || add_run(program, status));
  *run = program->unused;
  program->unused = (*run)->next;
  for (int i = 0; i < program->num_parts; i++) {
    if (begin_part(*run, i, args, status)) continue;
    step_run_abandon(*run);
    return false;
  }
  return true;
}

/* --- several parts --- */

/* The longest time, in nanoseconds, for which a part runs on after another one has failed. */
enum { SLICE = 20000000 };

static void advance_part(StepRun *run, PartRun *part) {
  if (!part->run) return;
  status_init(&part->status);
  RunState state = program_advance(part->run, &part->step, part->results, &part->status);
  part->waits = state == RUN_WAITING && part->step.awaited_by;
  if (part->waits) atomic_store(&run->awaited, true);
  if (state == RUN_WAITING) return;
  part->run = NULL;
  part->has_failed = state == RUN_FAILED;
  if (part->has_failed) local_rendezvous_abort(run->rendezvous, &part->status);
}

static void advance_parts(void *argument, int64_t begin, int64_t end) {
  StepRun *run = argument;
  for (int64_t i = begin; i < end; i++) advance_part(run, &run->parts[i]);
}

/* How many parts have ended, wait for a value, are blocked (op/step.h), and have failed. */
typedef struct Outcome {
  int ended, waiting, blocked, failed;
} Outcome;

static const char *device_of(const StepProgram *program, int part) {
  return program->partitions.parts[part].device->name;
}

static Outcome advance_all(StepRun *run, const Step *step) {
  Outcome outcome = {0};
  const StepProgram *program = run->program;
  int64_t slice_end = clock_nanoseconds() + SLICE;
  atomic_store(&run->awaited, false);
  for (int i = 0; i < program->num_parts; i++) {
    run->parts[i].step = *step;
    run->parts[i].step.device = device_of(program, i);
    if (run->parts[i].step.pause_at > slice_end) run->parts[i].step.pause_at = slice_end;
  }
  parallel_for(program->parallel, program->num_parts, 1, advance_parts, run);
  for (int i = 0; i < program->num_parts; i++) {
    const PartRun *part = &run->parts[i];
    outcome.ended += !part->run;
    outcome.waiting += part->run && part->waits;
    outcome.blocked += part->run && part->step.blocked;
    outcome.failed += part->has_failed;
  }
  return outcome;
}

/* The error that came first: a part that failed later may only have been told of it. */
static RunState fail(StepRun *run, Status *status) {
  if (!local_rendezvous_aborted(run->rendezvous, status)) {
    int i = 0;
    while (!run->parts[i].has_failed) i++;
    *status = run->parts[i].status;
  }
  step_run_abandon(run);
  return RUN_FAILED;
}

static RunState refuse_waiting(StepRun *run, Status *status) {
  int i = 0;
  while (!run->parts[i].run) i++;
  status_invalid(status, "No node of this step sends the value that {{node %s}} receives",
                 run->parts[i].step.awaited_by);
  step_run_abandon(run);
  return RUN_FAILED;
}

static RunState finish(StepRun *run, Tensor *results) {
  const StepProgram *program = run->program;
  for (int i = 0; i < program->num_parts; i++) {
    const Part *part = &program->parts[i];
    for (int k = 0; k < part->num_rets; k++)
      tensor_move(&results[part->ret_places[k]], &run->parts[i].results[k]);
  }
  return_run(run);
  return RUN_DONE;
}

/* Advances the parts in rounds, until no part can go on. */
static RunState advance_in_rounds(StepRun *run, Step *step, Tensor *results, Status *status) {
  int num_parts = run->program->num_parts, ended = -1;
  for (;;) {
    int64_t events = local_rendezvous_num_events(run->rendezvous);
    Outcome outcome = advance_all(run, step);
    if (outcome.failed > 0) return fail(run, status);
    if (outcome.ended == num_parts) return finish(run, results);
    bool stuck = outcome.ended + outcome.waiting + outcome.blocked == num_parts && outcome.ended == ended &&
                 local_rendezvous_num_events(run->rendezvous) == events;
    if (stuck && outcome.blocked == 0) return refuse_waiting(run, status);
    if (stuck) {
      step->blocked = true;
      return RUN_WAITING;
    }
    ended = outcome.ended;
    RunState state = step_check(step, status);
    if (state == RUN_FAILED) step_run_abandon(run);
    if (state != RUN_DONE) return state;
  }
}

/* --- one part --- */

static RunState advance_alone(StepRun *run, Step *step, Tensor *results, Status *status) {
  PartRun *part = &run->parts[0];
  step->device = run->program->device;
  RunState state = program_advance(part->run, step, results, status);
  part->step = *step;
  if (state == RUN_WAITING && step->awaited_by) return refuse_waiting(run, status);
  if (state == RUN_WAITING) return state;
  part->run = NULL;
  return_run(run);
  return state;
}

RunState step_run_advance(StepRun *run, Step *step, Tensor *results, Status *status) {
  step->rendezvous = local_rendezvous_interface(run->rendezvous);
  step->awaited_by = NULL;
  return run->program->whole ? advance_in_rounds(run, step, results, status)
                             : advance_alone(run, step, results, status);
}
