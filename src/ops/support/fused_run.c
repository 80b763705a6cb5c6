/* The run of a fused program: memory, and the values that are smaller than the result. fused_plan.c plans it,
 * and fused_tiles.c computes the rest. */
#include <string.h>

#include "base/copy.h"
#include "ops/support/fused_run.h"

/* --- memory --- */

/* The input in whose memory the output can be: the run has read all of a tile when the node writes it. */
static int input_for(const FusedRun *run, const KernelContext *context, int output) {
  const FusedProgram *program = run->program;
  int node = program->results[output];
  if (!run->tiled[node]) return -1;
  for (int i = 0; i < program->num_inputs; i++) {
    if (run->counts[i] == run->elements && program->last_reads[i] <= node &&
        kernel_may_forward(context, i, output, run->shapes[program->num_inputs + node]))
      return i;
  }
  return -1;
}

static bool allocate_outputs(FusedRun *run, KernelContext *context, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_outputs; i++) {
    int value = program->num_inputs + program->results[i];
    Tensor *out;
    TRY(kernel_forward_or_allocate(context, input_for(run, context, i), i, run->shapes[value], &out, status));
    run->data[value] = out->data;
  }
  return true;
}

static Buffer *add_scratch(FusedRun *run, KernelContext *context, int64_t size, Status *status) {
  Buffer *buffer = kernel_scratch(context, size + 1, status);
  if (buffer) run->scratch[run->num_scratch++] = buffer;
  return buffer;
}

/* Memory for the other values that are computed as a whole. */
static bool allocate_whole(FusedRun *run, KernelContext *context, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; run->num_whole > 0 && i < program->num_nodes; i++) {
    const FusedNode *node = &program->nodes[i];
    int value = program->num_inputs + i;
    if (run->tiled[i] || node->output >= 0) continue;
    if (run->counts[value] == 1) {
      run->data[value] = (char *)&run->scalars[i];
      continue;
    }
    Buffer *buffer = add_scratch(run, context, run->counts[value] * node->out_size, status);
    if (!buffer) return false;
    run->data[value] = buffer->data;
  }
  return true;
}

/* --- inputs --- */

static bool copy_part(FusedRun *run, KernelContext *context, int i, Status *status) {
  int64_t size = run->program->input_sizes[i], columns = run->program->parts[2 * i + 1] * size;
  Buffer *buffer = add_scratch(run, context, run->counts[i] * size, status);
  if (!buffer) return false;
  copy_rows(buffer->data, columns, run->data[i], -run->pitch[i] * size, columns,
            run->counts[i] * size / columns);
  run->data[i] = buffer->data;
  return true;
}

static bool find_inputs(FusedRun *run, KernelContext *context, void *const *data, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_inputs; i++) {
    run->data[i] = data[i];
    if (!program->parts || program->parts[2 * i + 1] < 0) continue;
    run->data[i] += program->parts[2 * i] * program->input_sizes[i];
    if (run->pitch[i] < 0 && run->counts[i] > 0) TRY(copy_part(run, context, i, status));
  }
  return true;
}

/* --- whole values --- */

typedef struct WholeNode {
  const FusedNode *node;
  const char *operands[FUSED_MOST_OPERANDS];
  char *out;
} WholeNode;

static void run_part(void *arg, int64_t begin, int64_t end) {
  const WholeNode *job = arg;
  const void *operands[FUSED_MOST_OPERANDS];
  for (int i = 0; i < job->node->num_operands; i++)
    operands[i] = job->operands[i] + begin * fused_operand_size(job->node, i);
  fused_node_call(job->node, end - begin, operands, 0, job->out + begin * job->node->out_size);
}

static void run_whole(const FusedRun *run, int i) {
  const FusedNode *node = &run->program->nodes[i];
  int value = run->program->num_inputs + i;
  WholeNode job = {.node = node, .out = run->data[value]};
  for (int k = 0; k < node->num_operands; k++) job.operands[k] = run->data[node->operands[k]];
  int64_t count = run->counts[value];
  if (node->kind == FUSED_REDUCE) {
    const Shape *from = run->shapes[node->operands[0]];
    fused_node_reduce(node, count, shape_dim(from, from->rank - 1), job.operands[0], job.out, run->parallel);
    return;
  }
  bool broadcasts = false;
  for (int k = 0; k < node->num_operands; k++) broadcasts |= run->counts[node->operands[k]] != count;
  if (!broadcasts) {
    parallel_work(run->parallel, count, fused_node_work(node), run_part, &job);
  } else if (node->kind == FUSED_SELECT) {
    const Shape *shapes[SELECT_OPERANDS];
    const void *operands[SELECT_OPERANDS];
    for (int k = 0; k < SELECT_OPERANDS; k++)
      shapes[k] = run->shapes[node->operands[k]], operands[k] = job.operands[k];
    select_broadcast(run->parallel, shapes, operands, run->shapes[value], node->out_size, job.out);
  } else if (count > 0) {
    Broadcast plan;
    broadcast_plan(run->shapes[node->operands[0]], run->shapes[node->operands[1]], &plan);
    broadcast_run(run->parallel, &plan, job.operands[0], job.operands[1], job.out, node->in_size,
                  node->out_size, node->loop.broadcast);
  }
}

/* --- all --- */

/* The arrays behind the struct, from `at` on; returns their end. Those with larger elements come first. */
static char *lay_out(const FusedProgram *program, FusedRun *run, char *at) {
  int inputs = program->num_inputs, nodes = program->num_nodes, values = inputs + nodes;
#define ARRAY(field, count) \
  run->field = (void *)at;  \
  at += (size_t)(count) * sizeof *run->field
  ARRAY(known, inputs);
  ARRAY(made, nodes + (program->parts ? inputs : 0));
  ARRAY(pitch, inputs);
  ARRAY(counts, values);
  ARRAY(scalars, nodes);
  ARRAY(calls, nodes);
  ARRAY(groups, nodes);
  ARRAY(shapes, values);
  ARRAY(data, values);
  ARRAY(scratch, values);
  ARRAY(tiled, nodes);
  ARRAY(per_row, nodes);
#undef ARRAY
  return at;
}

enum { ALIGNMENT = 16 };

int64_t fused_run_size(const FusedProgram *program) {
  FusedRun none;
  char *begin = (char *)&none + sizeof none;
  int64_t size = (int64_t)sizeof none + (lay_out(program, &none, begin) - begin);
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

FusedRun *fused_run_at(void *memory, const FusedProgram *program) {
  FusedRun *run = memory;
  if (run->program == program) return run;
  run->program = program;
  run->is_planned = false;
  lay_out(program, run, (char *)(run + 1));
  return run;
}

FusedRun *fused_run_in(const KernelContext *context, const FusedProgram *program, FusedRoom *room) {
  if (context->memory) return fused_run_at(context->memory, program);
  FusedRun *run = (void *)room->bytes;
  run->program = NULL;
  return fused_run_at(run, program);
}

bool fused_run_plan(FusedRun *run, KernelContext *context, const Shape *const *shapes, Status *status) {
  run->parallel = context->parallel;
  run->num_scratch = 0;
  if (fused_plan_fits(run, shapes)) return true;
  run->is_planned = false;
  return fused_plan_make(run, context, shapes, status);
}

static void run_whole_nodes(const FusedRun *run) {
  for (int i = 0; run->num_whole > 0 && i < run->program->num_nodes; i++) {
    if (!run->tiled[i]) run_whole(run, i);
  }
}

static bool run_program(FusedRun *run, KernelContext *context, Status *status) {
  const Shape *shapes[FUSED_MOST_INPUTS];
  void *data[FUSED_MOST_INPUTS];
  for (int i = 0; i < run->program->num_inputs; i++) {
    shapes[i] = &context->inputs[i]->shape;
    data[i] = context->inputs[i]->data;
  }
  TRY(fused_run_plan(run, context, shapes, status));
  TRY(allocate_outputs(run, context, status));
  TRY(allocate_whole(run, context, status));
  TRY(find_inputs(run, context, data, status));
  run_whole_nodes(run);
  fused_tiles_run(run);
  return true;
}

bool fused_program_run(const FusedProgram *program, KernelContext *context, Status *status) {
  FusedRoom room;
  FusedRun *run = fused_run_in(context, program, &room);
  bool ok = run_program(run, context, status);
  fused_run_end(run);
  return ok;
}

/* --- after a product --- */

bool fused_run_begin(FusedRun *run, KernelContext *context, const Shape *const *shapes, void *const *data,
                     bool *tiles, Status *status) {
  const FusedProgram *program = run->program;
  int result = program->num_inputs + program->results[0];
  TRY(fused_run_plan(run, context, shapes, status));
  if (run->counts[result] != run->counts[0]) return fused_program_refuse(status);
  TRY(allocate_whole(run, context, status));
  TRY(find_inputs(run, context, data, status));
  run->data[result] = data[0];
  *tiles = run->tiled[program->results[0]];
  if (*tiles) run_whole_nodes(run);
  return true;
}

void fused_run_rest(const FusedRun *run) {
  if (!run->tiled[run->program->results[0]]) run_whole_nodes(run);
  fused_tiles_run(run);
}

void fused_run_end(FusedRun *run) {
  for (int i = 0; i < run->num_scratch; i++) buffer_unref(run->scratch[i]);
  run->num_scratch = 0;
  for (int i = 0; !run->is_planned && i < run->num_made; i++) shape_clear(&run->made[i]);
}
