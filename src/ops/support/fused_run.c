/* The run of a fused program: shapes, memory, and the values that are smaller than the result. fused_tiles.c
 * computes the rest. */
#include "ops/support/fused_run.h"

/* --- shapes --- */

static bool broadcast_node(FusedRun *run, int i, Status *status) {
  const FusedNode *node = &run->program->nodes[i];
  const Shape *a = run->shapes[node->operands[0]], *b = run->shapes[node->operands[1]];
  const Shape **shape = &run->shapes[run->program->num_inputs + i];
  if (b->rank == 0 || shape_equal(a, b)) {
    *shape = a;
  } else if (a->rank == 0) {
    *shape = b;
  } else {
    Shape *made = &run->made[run->num_made++];
    made->rank = 0;
    TRY(broadcast_shapes(a, b, made, status));
    *shape = made;
  }
  return true;
}

/* The shape of the operand with one element in the last dimension. */
static bool reduce_node(FusedRun *run, int i, Status *status) {
  const Shape *from = run->shapes[run->program->nodes[i].operands[0]];
  int64_t dims[SHAPE_MAX_RANK];
  if (from->rank < 1)
    return status_invalid(status, "Invalid reduction dimension (-1 for input with 0 dimension(s)");
  for (int k = 0; k < from->rank - 1; k++) dims[k] = shape_dim(from, k);
  dims[from->rank - 1] = 1;
  Shape *made = &run->made[run->num_made++];
  made->rank = 0;
  run->shapes[run->program->num_inputs + i] = made;
  return shape_set(made, from->rank, dims, status);
}

static bool infer_node(FusedRun *run, int i, Status *status) {
  const FusedNode *node = &run->program->nodes[i];
  const int *operands = node->operands;
  if (node->kind == FUSED_REDUCE) return reduce_node(run, i, status);
  if (node->kind == FUSED_BROADCAST) return broadcast_node(run, i, status);
  const Shape *first = run->shapes[operands[0]];
  run->shapes[run->program->num_inputs + i] = first;
  if (node->kind == FUSED_SLOPE)
    TRY(elementwise_check_counts(run->counts[operands[0]], run->counts[operands[1]], status));
  if (node->kind != FUSED_PAIR && node->kind != FUSED_SLOPE) return true;
  return elementwise_check_shape(node->name, node->op, first, 1, run->shapes[operands[1]], status);
}

static void note_largest(FusedRun *run, int value) {
  if (run->counts[value] <= run->elements) return;
  run->elements = run->counts[value];
  run->shape = run->shapes[value];
}

/* The shapes and numbers of elements of all values, given the shapes of the inputs. */
static bool infer(FusedRun *run, KernelContext *context, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_inputs; i++) run->counts[i] = shape_num_elements(run->shapes[i]);
  for (int i = 0; i < program->num_nodes; i++) {
    int value = program->num_inputs + i;
    context->node_name = program->nodes[i].name;
    TRY(infer_node(run, i, status));
    run->counts[value] = shape_num_elements(run->shapes[value]);
    if (program->nodes[i].kind == FUSED_REDUCE) note_largest(run, program->nodes[i].operands[0]);
    note_largest(run, value);
  }
  context->node_name = program->name;
  return true;
}

/* --- tiles or not --- */

/* Whether the shapes differ in leading ones only. */
static bool same_elements(const Shape *a, const Shape *b) {
  if (a->rank < b->rank) return same_elements(b, a);
  const int64_t *dims = shape_dims(a), *others = shape_dims(b);
  int more = a->rank - b->rank;
  for (int i = 0; i < more; i++) {
    if (dims[i] != 1) return false;
  }
  for (int i = more; i < a->rank; i++) {
    if (dims[i] != others[i - more]) return false;
  }
  return true;
}

/* Whether there is one element for each row of `full`. */
static bool same_rows(const Shape *shape, const Shape *full) {
  if (shape->rank != full->rank || shape_dim(shape, shape->rank - 1) != 1) return false;
  for (int i = 0; i < shape->rank - 1; i++) {
    if (shape_dim(shape, i) != shape_dim(full, i)) return false;
  }
  return true;
}

/* Whether the node can be computed row by row, or as a whole before all rows. */
static bool choose_by_row(FusedRun *run, int i) {
  const FusedProgram *program = run->program;
  const FusedNode *node = &program->nodes[i];
  const Shape *shape = run->shapes[program->num_inputs + i];
  run->per_row[i] = same_rows(shape, run->shape);
  run->tiled[i] = run->per_row[i] || same_elements(shape, run->shape);
  for (int k = 0; k < node->num_operands; k++) {
    int from = node->operands[k], maker = from - program->num_inputs;
    if (!run->tiled[i]) {
      if (maker >= 0 && run->tiled[maker]) return false;
    } else if (node->kind == FUSED_REDUCE) {
      if (!run->per_row[i] || !same_elements(run->shapes[from], run->shape)) return false;
    } else if (run->per_row[i]) {
      if (run->counts[from] != 1 && !same_rows(run->shapes[from], run->shape)) return false;
    }
  }
  return true;
}

/* If nodes reduce rows, a tile is a row. */
static bool choose_rows(FusedRun *run) {
  run->row = shape_dim(run->shape, run->shape->rank - 1);
  if (run->row == 1) return false;
  for (int i = 0; i < run->program->num_nodes; i++) {
    if (!choose_by_row(run, i)) return false;
  }
  return true;
}

/* Otherwise nodes with as many elements as the largest are computed in tiles. */
static bool choose_largest(FusedRun *run) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_nodes; i++) {
    int value = program->num_inputs + i;
    run->per_row[i] = false;
    run->tiled[i] = run->counts[value] == run->elements;
    if (run->tiled[i] && !same_elements(run->shapes[value], run->shape)) return false;
  }
  return true;
}

static void choose_tiled(FusedRun *run) {
  const FusedProgram *program = run->program;
  bool tiles = run->elements > 0 && (program->reduces ? choose_rows(run) : choose_largest(run));
  tiles = tiles && fused_tiles_plan(run);
  for (int i = 0; !tiles && i < program->num_nodes; i++) run->tiled[i] = false;
}

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

/* Memory for the other values that are computed as a whole. */
static bool allocate_whole(FusedRun *run, KernelContext *context, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_nodes; i++) {
    const FusedNode *node = &program->nodes[i];
    int value = program->num_inputs + i;
    if (run->tiled[i] || node->output >= 0) continue;
    if (run->counts[value] == 1) {
      run->data[value] = (char *)&run->scalars[i];
      continue;
    }
    Buffer *buffer = kernel_scratch(context, run->counts[value] * node->out_size + 1, status);
    if (!buffer) return false;
    run->scratch[run->num_scratch++] = buffer;
    run->data[value] = buffer->data;
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
    operands[i] = job->operands[i] + begin * job->node->in_size;
  fused_node_call(job->node, end - begin, operands, BROADCAST_NONE, job->out + begin * job->node->out_size);
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
  } else if (count > 0) {
    Broadcast plan;
    broadcast_plan(run->shapes[node->operands[0]], run->shapes[node->operands[1]], &plan);
    broadcast_run(run->parallel, &plan, job.operands[0], job.operands[1], job.out, node->in_size,
                  node->out_size, node->loop.broadcast);
  }
}

/* --- all --- */

/* The arrays are set as far as they are used. */
static void begin(FusedRun *run, const FusedProgram *program, const KernelContext *context) {
  run->program = program;
  run->parallel = context->parallel;
  run->num_made = run->num_scratch = run->num_partial = 0;
  run->elements = run->row = 0;
  run->shape = NULL;
}

static void run_whole_nodes(const FusedRun *run) {
  for (int i = 0; i < run->program->num_nodes; i++) {
    if (!run->tiled[i]) run_whole(run, i);
  }
}

static bool run_program(FusedRun *run, KernelContext *context, Status *status) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_inputs; i++) run->shapes[i] = &context->inputs[i]->shape;
  TRY(infer(run, context, status));
  choose_tiled(run);
  TRY(allocate_outputs(run, context, status));
  TRY(allocate_whole(run, context, status));
  for (int i = 0; i < program->num_inputs; i++) run->data[i] = context->inputs[i]->data;
  run_whole_nodes(run);
  fused_tiles_run(run);
  return true;
}

bool fused_program_run(const FusedProgram *program, KernelContext *context, Status *status) {
  FusedRun run;
  begin(&run, program, context);
  bool ok = run_program(&run, context, status);
  fused_run_end(&run);
  return ok;
}

/* --- after a product --- */

bool fused_run_begin(FusedRun *run, const FusedProgram *program, KernelContext *context,
                     const Shape *const *shapes, void *const *data, bool *tiles, Status *status) {
  begin(run, program, context);
  int result = program->num_inputs + program->results[0];
  for (int i = 0; i < program->num_inputs; i++) {
    run->shapes[i] = shapes[i];
    run->data[i] = data[i];
  }
  TRY(infer(run, context, status));
  if (run->counts[result] != run->counts[0]) return fused_program_refuse(status);
  choose_tiled(run);
  TRY(allocate_whole(run, context, status));
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
  for (int i = 0; i < run->num_made; i++) shape_clear(&run->made[i]);
  for (int i = 0; i < run->num_scratch; i++) buffer_unref(run->scratch[i]);
}
