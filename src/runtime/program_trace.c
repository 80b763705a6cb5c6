/* Records of what a run executes (runtime/step_trace.h). */
#include <stdio.h>

#include "base/clock.h"
#include "op/resource.h"
#include "runtime/program_internal.h"
#include "runtime/step_trace.h"

static TraceTimes moment(void) {
  int64_t now = clock_nanoseconds();
  return (TraceTimes){now, now, now, now};
}

/* --- memory --- */

enum { MOST_ALLOCATIONS = 16 };

/* What a kernel allocates and frees on its thread. */
typedef struct MemoryUse {
  BufferObserver observer;
  BufferObserver *outer; /* of the kernel that called this one's function */
  int64_t total, live, peak;
  int count; /* allocations, of which the first ones are recorded */
  struct {
    const Buffer *buffer;
    int64_t bytes, time; /* bytes < 0: freed */
  } allocations[MOST_ALLOCATIONS];
} MemoryUse;

/* Buffers that the kernel did not allocate are none of its memory. */
static bool is_allocated(const MemoryUse *use, const Buffer *buffer, int *id) {
  *id = 0;
  for (int i = 0; i < use->count && i < MOST_ALLOCATIONS; i++) {
    *id += use->allocations[i].bytes > 0;
    if (use->allocations[i].buffer == buffer) return true;
  }
  return false;
}

static void note_buffer(BufferObserver *observer, const Buffer *buffer, bool freed) {
  MemoryUse *use = (MemoryUse *)observer;
  int id;
  if (freed && !is_allocated(use, buffer, &id)) return;
  int64_t bytes = freed ? -buffer->size : buffer->size;
  use->live += bytes;
  if (!freed) use->total += bytes;
  if (use->live > use->peak) use->peak = use->live;
  if (use->count < MOST_ALLOCATIONS) {
    use->allocations[use->count].buffer = freed ? NULL : buffer;
    use->allocations[use->count].bytes = bytes;
    use->allocations[use->count].time = clock_nanoseconds();
  }
  use->count++;
}

static void add_allocations(StepTrace *trace, const MemoryUse *use, AllocatorMemoryUsed *memory) {
  Status status;
  status_init(&status);
  for (int i = 0; i < use->count && i < MOST_ALLOCATIONS; i++) {
    AllocationRecord *record = proto_new(kAllocationRecord, step_trace_arena(trace));
    if (!record || !proto_append(step_trace_arena(trace), (void ***)&memory->allocation_records,
                                 &memory->n_allocation_records, record, &status)) {
      step_trace_fail(trace);
      return;
    }
    record->alloc_bytes = use->allocations[i].bytes;
    record->alloc_micros = step_trace_micros(trace, use->allocations[i].time);
  }
}

static void add_memory(StepTrace *trace, const MemoryUse *use, NodeExecStats *record) {
  Status status;
  status_init(&status);
  if (use->total == 0) return;
  AllocatorMemoryUsed *memory = proto_new(kAllocatorMemoryUsed, step_trace_arena(trace));
  if (!memory ||
      !proto_append(step_trace_arena(trace), (void ***)&record->memory, &record->n_memory, memory, &status)) {
    step_trace_fail(trace);
    return;
  }
  memory->allocator_name = (char *)TRACE_ALLOCATOR;
  memory->total_bytes = use->total;
  memory->peak_bytes = use->peak;
  memory->live_bytes = use->live;
  add_allocations(trace, use, memory);
}

/* "[cpu 1.5MB 1.0MB] " of a kernel that allocates a tenth of a megabyte or more; else "". */
static const char *memory_text(const MemoryUse *use, char *text, size_t capacity) {
  const double megabyte = 1048576;
  text[0] = '\0';
  if ((double)use->total >= 0.1 * megabyte)
    snprintf(text, capacity, "[%s %.1fMB %.1fMB] ", TRACE_ALLOCATOR, (double)use->total / megabyte,
             (double)use->peak / megabyte);
  return text;
}

/* --- kernels --- */

/* The output, or the value of the variable to which it refers; NULL: none. */
static const Tensor *described(const KernelContext *context, int i) {
  const Tensor *output = &context->outputs[i];
  Status status;
  Variable *variable;
  if (tensor_is_empty(output)) return NULL;
  if (!dtype_is_ref((int)context->output_types[i])) return output;
  status_init(&status);
  return reference_variable(output, "", &variable, &status) ? &variable->value : NULL;
}

static void add_kernel(const RunStep *at, const TraceTimes *times, const MemoryUse *use) {
  char text[64];
  const KernelContext *context = &at->context;
  StepTrace *trace = context->step->trace;
  NodeExecStats *record =
      step_trace_add(context->step, at->step->node, times, memory_text(use, text, sizeof text));
  if (!record) return;
  add_memory(trace, use, record);
  int64_t temporary = use->total;
  for (int i = 0; i < at->step->kernel->num_outputs; i++) {
    int id;
    const Tensor *value = described(context, i);
    OutputStats *output = value ? step_trace_add_output(trace, record, i, value) : NULL;
    if (!output) continue;
    AllocationDescription *memory = output->tensor_description->allocation_description;
    memory->has_single_reference = buffer_is_unshared(value->buffer);
    if (value->buffer->pool) memory->allocated_bytes = value->buffer->size;
    if (!is_allocated(use, value->buffer, &id)) continue;
    memory->allocation_id = id;
    temporary -= value->buffer->size;
  }
  if (record->memory_stats && temporary > 0) record->memory_stats->temp_memory_size = temporary;
}

bool program_trace_kernel(const ProgramRun *run, RunStep *at, RunKernel *run_kernel, Status *status) {
  StepTrace *trace = at->context.step->trace;
  MemoryUse use = {.observer.note = note_buffer};
  if (!at->context.paused) at->started = clock_nanoseconds();
  use.outer = buffer_observe(&use.observer);
  bool ok = run_kernel(run, at, status);
  buffer_observe(use.outer);
  if (!ok || at->context.paused || at->context.transfer) return ok;
  const TraceTimes times = {at->started, at->started, at->started, clock_nanoseconds()};
  step_trace_lock(trace);
  add_kernel(at, &times, &use);
  step_trace_unlock(trace);
  return true;
}

/* --- constants, arguments and results --- */

static void add_value(const Step *step, const Node *node, const Tensor *value, bool is_constant) {
  const TraceTimes now = moment();
  NodeExecStats *record = step_trace_add(step, node, &now, "");
  OutputStats *output = record && value && !tensor_is_empty(value)
                            ? step_trace_add_output(step->trace, record, 0, value)
                            : NULL;
  if (output && is_constant && record->memory_stats)
    record->memory_stats->persistent_memory_size =
        output->tensor_description->allocation_description->requested_bytes;
}

void program_trace_begin(ProgramRun *run, const Step *step) {
  run->is_traced = true;
  const Program *program = run->program;
  const TraceTimes now = moment();
  step_trace_lock(step->trace);
  step_trace_add(step, NULL, &now, "");
  for (int64_t i = 0; i < program->num_constants; i++)
    add_value(step, program->constant_nodes[i], &program->constants[i], true);
  for (int i = 0; i < program->num_args; i++)
    add_value(step, program->body->arg_nodes[i], program->reads_arg[i] ? &run->values[i] : NULL, false);
  step_trace_unlock(step->trace);
}

void program_trace_results(const ProgramRun *run, const Step *step) {
  step_trace_lock(step->trace);
  for (int i = 0; i < run->program->num_results; i++)
    add_value(step, run->program->body->ret_nodes[i], NULL, false);
  step_trace_unlock(step->trace);
}
