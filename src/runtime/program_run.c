#include <string.h>

#include "base/arena.h"
#include "device/device.h"
#include "op/node_def.h"
#include "runtime/program.h"
#include "runtime/program_internal.h"

void program_free(Program *program) {
  if (!program) return;
  for (int64_t i = 0; i < program->num_kernels; i++) op_kernel_free(program->kernels[i]);
  for (int64_t i = 0; i < program->num_constants; i++) tensor_clear(&program->constants[i]);
  function_body_free(program->body);
  arena_free(program->arena); /* holds the program itself */
}

int64_t program_num_steps(const Program *program) { return program->num_steps; }

bool program_to_def(const Program *program, const char *device, Arena *arena, GraphDef **def,
                    Status *status) {
  const Graph *graph = program->body->graph;
  TRY(graph_to_def(graph, arena, def, status));
  for (size_t i = 0; i < (*def)->n_node; i++) {
    NodeDef *node = proto_new(kNodeDef, arena); /* the exported one may belong to the graph */
    if (!node) return status_oom(status, "a GraphDef");
    *node = *(*def)->node[i];
    const Node *source = graph_find_node(graph, node->name);
    if (!node_assigned_device(source)[0]) node->device = (char *)device;
    (*def)->node[i] = node;
  }
  return true;
}

/* --- runs --- */

static void fill_step(const ProgramRun *run, const ProgramStep *step, const Tensor **inputs, RunStep *to) {
  const ProgramEnvironment *environment = &run->program->environment;
  for (int i = 0; i < step->kernel->num_inputs; i++) inputs[i] = program_value(run, step->inputs[i]);
  to->step = step;
  to->context = (KernelContext){.inputs = inputs,
                                .outputs = run->values + step->first_output,
                                .last_use = step->last_use,
                                .pool = environment->pool,
                                .parallel = environment->parallel,
                                .resources = environment->resources,
                                .functions = environment->functions};
}

static bool add_memory(Program *program, RunStep *step, Status *status) {
  int64_t size = step->step->kernel->memory_size;
  if (size == 0) return true;
  step->context.memory = arena_calloc(program->arena, 1, size);
  return step->context.memory || status_oom(status, "a call");
}

bool program_add_run(Program *program, Status *status) {
  ProgramRun *run = arena_calloc(program->arena, 1, sizeof *run);
  const Tensor **inputs = arena_calloc(program->arena, program->num_inputs, sizeof *inputs);
  if (!run || !inputs) return status_oom(status, "a call");
  run->program = program;
  run->values = arena_calloc(program->arena, program->num_slots, sizeof *run->values);
  run->steps = arena_calloc(program->arena, program->num_steps, sizeof *run->steps);
  run->guards = arena_calloc(program->arena, program->num_guards, sizeof *run->guards);
  run->loops = arena_calloc(program->arena, program->num_loops, sizeof *run->loops);
  if (!run->values || !run->steps || !run->guards || !run->loops) return status_oom(status, "a call");
  for (int64_t i = 0; i < program->num_steps; i++) {
    fill_step(run, &program->steps[i], inputs, &run->steps[i]);
    if (!add_memory(program, &run->steps[i], status)) return false;
    inputs += program->steps[i].kernel->num_inputs;
  }
  run->next = program->unused;
  program->unused = run;
  return true;
}

static bool take_run(Program *program, ProgramRun **run, Status *status) {
  if (!program->unused && !program_add_run(program, status)) return false;
  *run = program->unused;
  program->unused = (*run)->next;
  (*run)->instruction = 0;
  (*run)->position = NOT_BEGUN;
  (*run)->is_traced = false;
  memset((*run)->guards, GUARD_OPEN, (size_t)program->num_guards);
  (*run)->guards[GUARD_ALWAYS] = GUARD_HOLDS;
  return true;
}

/* Drops all values; the run can be reused. */
static void return_run(ProgramRun *run) {
  Program *program = run->program;
  for (int64_t i = 0; i < program->num_slots; i++) tensor_clear(&run->values[i]);
  run->next = program->unused;
  program->unused = run;
}

bool program_begin(Program *program, const Tensor *const *args, ProgramRun **run, Status *status) {
  TRY(take_run(program, run, status));
  for (int i = 0; i < program->num_args; i++) {
    if (!program->reads_arg[i] || tensor_assign(&(*run)->values[i], args[i], status)) continue;
    return_run(*run);
    return false;
  }
  return true;
}

bool program_begin_call(Program *program, Tensor *args, ProgramRun **run, Status *status) {
  bool ok = take_run(program, run, status);
  for (int i = 0; i < program->num_args; i++) {
    if (ok && program->reads_arg[i]) {
      tensor_move(&(*run)->values[i], &args[i]);
    } else {
      tensor_clear(&args[i]);
    }
  }
  return ok;
}

/* --- running --- */

static bool read_reference(const ProgramRun *run, const ReferenceRead *read, Status *status) {
  const Tensor *reference = program_value(run, read->reference);
  if (read->value != read->reference)
    return reference_read(reference, read->name, run->step_id, &run->values[read->value], status);
  return reference_check(reference, read->name, status);
}

static bool read_references(const ProgramRun *run, const ProgramStep *step, Status *status) {
  for (int i = 0; i < step->num_reads; i++) {
    if (!read_reference(run, &step->reads[i], status)) return node_attach(step->kernel->node->name, status);
  }
  return true;
}

static bool run_kernel(const ProgramRun *run, RunStep *at, Status *status) {
  const ProgramStep *step = at->step;
  bool resumed = at->context.paused != NULL;
  if ((resumed || read_references(run, step, status)) && op_kernel_run(step->kernel, &at->context, status))
    return true;
  return step->callers && !at->context.step->ended ? status_append(status, "%s", step->callers) : false;
}

/* Runs one kernel, from its beginning or from the point where it paused. */
static RunState run_step(const ProgramRun *run, RunStep *at, Status *status) {
  const ProgramStep *step = at->step;
  bool ok = at->context.step->trace ? program_trace_kernel(run, at, run_kernel, status)
                                    : run_kernel(run, at, status);
  if (!ok) return RUN_FAILED;
  if (at->context.paused) return RUN_WAITING;
  for (int k = 0; k < step->num_expiring; k++) tensor_clear(&run->values[step->expiring[k]]);
  return RUN_DONE;
}

RunState program_run_steps(ProgramRun *run, const Instruction *at, Step *step, Status *status) {
  if (run->position == NOT_BEGUN) run->position = at->begin;
  while (run->position < at->end) {
    RunStep *next = &run->steps[run->position];
    next->context.step = step;
    RunState state = run_step(run, next, status);
    if (state != RUN_DONE) return state;
    run->position++;
    state = step_checkpoint(step, status);
    if (state != RUN_DONE) return state;
  }
  run->position = NOT_BEGUN;
  return RUN_DONE;
}

static RunState run_code(ProgramRun *run, Step *step, Status *status) {
  const Program *program = run->program;
  RunState state = RUN_DONE;
  while (state == RUN_DONE && run->instruction < program->num_instructions) {
    const Instruction *at = &program->code[run->instruction];
    if (at->code == DO_STEPS) {
      if (run->guards[at->guard] == GUARD_HOLDS) state = program_run_steps(run, at, step, status);
      if (state == RUN_DONE) run->instruction++;
    } else if (at->code == DO_SEND || at->code == DO_RECEIVE) {
      state = program_do_transfer(run, at, step, status);
    } else {
      state = program_do(run, at, step, status);
      run->instruction++;
    }
  }
  return state;
}

static bool give_result(const ProgramRun *run, int i, Tensor *result, Status *status) {
  if (run->guards[run->program->result_guards[i]] != GUARD_HOLDS)
    return status_set(status, CODE_INTERNAL, "Retval[%d] does not have value", i);
  const char *reference = run->program->result_references[i];
  const Tensor *value = program_value(run, run->program->results[i]);
  if (!reference) return tensor_assign(result, value, status);
  return reference_read(value, reference, run->step_id, result, status) ||
         node_attach(run->program->body->ret_nodes[i]->name, status);
}

RunState program_advance(ProgramRun *run, Step *step, Tensor *results, Status *status) {
  run->step_id = step->id;
  if (step->trace && !run->is_traced) program_trace_begin(run, step);
  WorkStop *outer = work_stop_set(&step->stop);
  RunState state = run_code(run, step, status);
  work_stop_set(outer);
  if (state == RUN_WAITING) return state;
  int num_results = run->program->num_results;
  bool ok = state == RUN_DONE;
  for (int i = 0; ok && i < num_results; i++) ok = give_result(run, i, &results[i], status);
  for (int i = 0; !ok && i < num_results; i++) tensor_clear(&results[i]);
  if (ok && step->trace) program_trace_results(run, step);
  return_run(run);
  return ok ? RUN_DONE : RUN_FAILED;
}

void program_abandon(ProgramRun *run) {
  if (!run) return;
  if (run->position != NOT_BEGUN && run->position < run->program->num_steps) {
    KernelContext *context = &run->steps[run->position].context;
    if (context->paused) context->paused->abandon(context->paused);
    context->paused = NULL;
  }
  return_run(run);
}
