#include "runtime/step_program.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "graph/node_class.h"
#include "placement/partition.h"
#include "runtime/local_rendezvous.h"

/* The program of one part, with its places among the arguments and results of the step. */
typedef struct Part {
  Program *program;
  const char *device;
  const int *arg_places, *ret_places; /* NULL: those of the step */
  int num_args, num_rets;
} Part;

struct StepProgram {
  Arena *arena; /* holds the program itself */
  int64_t references;
  const Parallel *parallel;
  const char *device;    /* of nodes that are not assigned to one */
  Partitions partitions; /* empty where one program runs the whole step */
  FunctionBody *whole;   /* what the parts share values with; NULL where one program runs the step */
  Part *parts;           /* those of one device are neighbours */
  int num_parts;
  int *first_of_device; /* per device that takes part, and one behind the last */
  int num_devices;
  RemoteGraph *remote;
  int num_remote;
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
  LocalRendezvous *own;
  TaskRendezvous *with_tasks; /* instead of its own; NULL: it is used */
  atomic_bool awaited;        /* a part waits for a value; see DeviceTransfer */
  StepRun *next;              /* also links the unused runs */
};

static bool oom(Status *status) { return status_oom(status, "a step"); }

/* --- programs --- */

int step_program_num_parts(const StepProgram *program) { return program->num_parts; }

const Program *step_program_part(const StepProgram *program, int index) {
  return program->parts[index].program;
}

int step_program_num_remote(const StepProgram *program) { return program->num_remote; }

RemoteGraph step_program_remote(const StepProgram *program, int index) { return program->remote[index]; }

const char *step_program_device(const StepProgram *program) { return program->device; }

StepProgram *step_program_ref(StepProgram *program) {
  program->references++;
  return program;
}

void step_program_unref(StepProgram *program) {
  if (!program || --program->references > 0) return;
  for (StepRun *run = program->unused; run; run = run->next) local_rendezvous_free(run->own);
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

/* Parts of other tasks are kept as they are. */
static bool compile_partition(StepProgram *made, SessionDevices *devices, Partition *from, Status *status) {
  int device = (int)(from->device - session_devices_names(devices)->devices);
  if (session_devices_is_remote(devices, device)) {
    made->remote[made->num_remote++] = (RemoteGraph){from->device, from->body->graph};
    return true;
  }
  FunctionBody *body = from->body;
  Part *part = &made->parts[made->num_parts];
  *part = (Part){.device = from->device->name,
                 .arg_places = from->arg_places,
                 .ret_places = from->ret_places,
                 .num_args = body->num_args,
                 .num_rets = body->num_rets};
  if (made->num_parts == 0 || part->device != part[-1].device)
    made->first_of_device[made->num_devices++] = made->num_parts;
  from->body = NULL; /* the program of the part owns it */
  return compile_part(made, body, devices, device, part, status);
}

static bool compile_partitions(StepProgram *made, SessionDevices *devices, Status *status) {
  int count = made->partitions.count;
  made->parts = arena_calloc(made->arena, count, sizeof *made->parts);
  made->remote = arena_calloc(made->arena, count, sizeof *made->remote);
  made->first_of_device = arena_calloc(made->arena, count + 1, sizeof *made->first_of_device);
  if (!made->parts || !made->remote || !made->first_of_device) return oom(status);
  for (int i = 0; i < count; i++) TRY(compile_partition(made, devices, &made->partitions.parts[i], status));
  made->first_of_device[made->num_devices] = made->num_parts;
  return true;
}

/* Whether the graph that a master registered takes values from elsewhere. */
static bool receives(const Graph *graph) {
  int64_t id = SINK_ID + 1, ids = graph_num_node_ids(graph);
  while (id < ids && !(graph_node(graph, id) && node_is_recv(graph_node(graph, id)))) id++;
  return id < ids;
}

static bool compile(StepProgram *made, FunctionBody *body, SessionDevices *devices, Status *status) {
  const DeviceSet *set = session_devices_names(devices);
  made->device = set ? set->devices[0].name : DEFAULT_DEVICE_NAME;
  if (set && (set->count > 1 || receives(body->graph))) {
    made->whole = body;
    return partition_body(body, set, &made->partitions, status) && compile_partitions(made, devices, status);
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
  run->own = local_rendezvous_new(status);
  if (!run->own) return false;
  run->next = program->unused;
  program->unused = run;
  return true;
}

static void return_run(StepRun *run) {
  StepProgram *program = run->program;
  local_rendezvous_restart(run->own);
  run->with_tasks = NULL;
  run->next = program->unused;
  program->unused = run;
}

static LocalRendezvous *rendezvous_of(const StepRun *run) {
  return run->with_tasks ? task_rendezvous_local(run->with_tasks) : run->own;
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

bool step_program_begin(StepProgram *program, const Tensor *const *args, TaskRendezvous *rendezvous,
                        StepRun **run, Status *status) {
  if (program->num_remote > 0 && !rendezvous)
    return status_set(status, CODE_FAILED_PRECONDITION, "A part of the step runs on %s, which was not asked",
                      program->remote[0].device->name);
  TRY(program->unused || add_run(program, status));
  *run = program->unused;
  program->unused = (*run)->next;
  (*run)->with_tasks = rendezvous;
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
  if (part->has_failed) local_rendezvous_abort(rendezvous_of(run), &part->status);
}

/* Parts of one device share its resources, and so run one after the other. */
static void advance_devices(void *argument, int64_t begin, int64_t end) {
  StepRun *run = argument;
  const int *first = run->program->first_of_device;
  for (int64_t device = begin; device < end; device++) {
    for (int i = first[device]; i < first[device + 1]; i++) advance_part(run, &run->parts[i]);
  }
}

/* How many parts have ended, wait for a value, are blocked (op/step.h), and have failed. */
typedef struct Outcome {
  int ended, waiting, blocked, failed;
} Outcome;

static Outcome advance_all(StepRun *run, const Step *step) {
  Outcome outcome = {0};
  const StepProgram *program = run->program;
  int64_t slice_end = clock_nanoseconds() + SLICE;
  atomic_store(&run->awaited, false);
  for (int i = 0; i < program->num_parts; i++) {
    run->parts[i].step = *step;
    run->parts[i].step.device = program->parts[i].device;
    if (run->parts[i].step.pause_at > slice_end) run->parts[i].step.pause_at = slice_end;
  }
  parallel_for(program->parallel, program->num_devices, 1, advance_devices, run);
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
  if (!local_rendezvous_aborted(rendezvous_of(run), status)) {
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

/* Advances the parts in rounds, until no part can go on. A step that other tasks take part in is blocked
 * then. */
static RunState advance_in_rounds(StepRun *run, Step *step, Tensor *results, Status *status) {
  int num_parts = run->program->num_parts, ended = -1;
  for (;;) {
    int64_t events = local_rendezvous_num_events(rendezvous_of(run));
    Outcome outcome = advance_all(run, step);
    if (outcome.failed > 0) return fail(run, status);
    if (outcome.ended == num_parts) return finish(run, results);
    bool stuck = outcome.ended + outcome.waiting + outcome.blocked == num_parts && outcome.ended == ended &&
                 local_rendezvous_num_events(rendezvous_of(run)) == events;
    if (stuck && outcome.blocked == 0 && !run->with_tasks) return refuse_waiting(run, status);
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
  step->rendezvous =
      run->with_tasks ? task_rendezvous_interface(run->with_tasks) : local_rendezvous_interface(run->own);
  step->awaited_by = NULL;
  return run->program->whole ? advance_in_rounds(run, step, results, status)
                             : advance_alone(run, step, results, status);
}
