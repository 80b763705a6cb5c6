/* _FusedRecurrence: a loop over the rows of a tensor in one node, which a pass of the optimizer makes
 * (optimizer/fuse_recurrences.h). Its rounds are too short for an executor: threads go through the stages of
 * all rounds together (base/team.h), and find the weights in their caches. If the node stands for several
 * loops, threads take one each, and need not meet. */
#include <string.h>

#include "base/team.h"
#include "op/fused_op.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/kernel_chain.h"
#include "ops/support/packed_matrix.h"
#include "ops/support/product_epilogue.h"

typedef struct Stage {
  OpKernel *kernel; /* of the node that the stage stands for; its parts compute */
  bool is_product, transpose_b;
  const ProductEpilogue *epilogue;   /* or NULL */
  const FusedProgram *program;       /* of an elementwise node, or of the epilogue; or NULL */
  const int64_t *operands;           /* the values of the inputs */
  int group;                         /* the loop that it belongs to */
  int first;                         /* of the values that it computes */
  ConstantForm row_weights, weights; /* for products of one row, and of several */
  bool is_constant;                  /* the weights */
} Stage;

typedef struct Recurrence {
  int64_t rounds;
  int num_inputs, num_stages, num_values, num_groups;
  Stage stages[RECURRENCE_MOST_STAGES];
  const int64_t *next, *results, *rows, *groups; /* op/fused_op.h */
} Recurrence;

/* --- construction --- */

static bool make_node(const KernelConstruction *construction, const NameAttrList *stage, NodeDef **node,
                      Status *status) {
  *node = proto_new(kNodeDef, construction->arena);
  if (!*node) return status_oom(status, "a kernel");
  (*node)->name = construction->node->name;
  (*node)->op = stage->name;
  for (size_t i = 0; i < stage->n_attr; i++)
    TRY(node_def_set_attr(*node, construction->arena, stage->attr[i]->key, stage->attr[i]->value, status));
  return true;
}

static bool are_floats(const DataType *types, int count) {
  for (int i = 0; i < count; i++) {
    if (types[i] != DT_FLOAT) return false;
  }
  return true;
}

/* Whether it is the kernel of the op's registration, for floats; an elementwise one may read conditions. */
static bool is_own(const OpKernel *kernel, const Stage *stage, int64_t state_size) {
  return kernel->state_size == state_size &&
         (!stage->is_product || are_floats(kernel->input_types, kernel->num_inputs)) &&
         are_floats(kernel->output_types, kernel->num_outputs);
}

/* Makes the kernel of a stage, and finds what it would run. */
static bool make_stage(Stage *stage, const NodeDef *node, Status *status) {
  bool is_elementwise = strcmp(node->op, FUSED_OP) == 0, is_fused = strcmp(node->op, "_FusedMatMul") == 0;
  const Op *op;
  stage->is_product = !is_elementwise;
  if (stage->is_product && !is_fused && strcmp(node->op, "MatMul") != 0) return fused_program_refuse(status);
  TRY(op_registry_look_up(op_registry_global(), node->op, &op, status));
  TRY(op_kernel_new(op, node, NULL, NULL, &stage->kernel, status));
  if (!is_own(stage->kernel, stage, op->registration->state_size)) return fused_program_refuse(status);
  if (is_elementwise) {
    stage->program = stage->kernel->state;
    return !stage->program->reduces || fused_program_refuse(status);
  }
  if (is_fused) {
    const KernelChain *chain = stage->kernel->state;
    stage->epilogue = chain->links[0].data;
    stage->program = stage->epilogue ? stage->epilogue->program : NULL;
    if (chain->count > 1) return fused_program_refuse(status);
  }
  stage->transpose_b = node_def_is_true(node, "transpose_b");
  return !node_def_is_true(node, "transpose_a") || fused_program_refuse(status);
}

static bool are_values(const int64_t *values, size_t count, int64_t least, int64_t end) {
  for (size_t i = 0; i < count; i++) {
    if (values[i] < least || values[i] >= end) return false;
  }
  return true;
}

/* The loop whose stages compute the value, in this round or the one before; -1 for inputs of any. */
static int group_of(const Recurrence *r, int64_t value) {
  if (value < r->num_inputs) value = r->next[value];
  for (int s = 0; s < r->num_stages; s++) {
    const Stage *stage = &r->stages[s];
    if (value >= stage->first && value < stage->first + stage->kernel->num_outputs) return stage->group;
  }
  return -1;
}

static bool are_apart(const Recurrence *r) {
  for (int s = 0; s < r->num_stages; s++) {
    const Stage *stage = &r->stages[s];
    for (int i = 0; i < stage->kernel->num_inputs; i++) {
      int group = group_of(r, stage->operands[i]);
      if (group >= 0 && group != stage->group) return false;
    }
  }
  return true;
}

/* Whether the inputs of the stage have the types of the values that it reads: stages compute floats. */
static bool reads_types(const KernelConstruction *construction, const Stage *stage) {
  for (int i = 0; i < stage->kernel->num_inputs; i++) {
    int64_t v = stage->operands[i];
    DataType type = v < construction->num_inputs ? construction->input_types[v] : DT_FLOAT;
    if (stage->kernel->input_types[i] != type) return false;
  }
  return true;
}

static bool read_stage(const KernelConstruction *construction, const NameAttrList *from,
                       const AttrListValue *operands, size_t *used, Recurrence *r, Status *status) {
  Stage *stage = &r->stages[r->num_stages++];
  NodeDef *node;
  TRY(make_node(construction, from, &node, status));
  TRY(make_stage(stage, node, status));
  size_t count = (size_t)stage->kernel->num_inputs;
  stage->operands = operands->i + *used;
  stage->first = r->num_values;
  r->num_values += stage->kernel->num_outputs;
  *used += count;
  if (*used > operands->n_i || r->num_values > RECURRENCE_MOST_VALUES ||
      !are_values(stage->operands, count, 0, stage->first) || !reads_types(construction, stage))
    return fused_program_refuse(status);
  if (!stage->is_product) return true;
  int64_t weights = stage->operands[1];
  stage->is_constant =
      weights < r->num_inputs && construction->constant_inputs && construction->constant_inputs[weights];
  return (weights < r->num_inputs && r->next[weights] == RECURRENCE_SAME) || fused_program_refuse(status);
}

/* Whether the groups have all stages, and each has one. */
static bool are_groups(const AttrListValue *groups, size_t stages) {
  size_t sum = 0;
  for (size_t i = 0; i < groups->n_i; i++) {
    if (groups->i[i] < 1 || groups->i[i] > (int64_t)(stages - sum)) return false;
    sum += (size_t)groups->i[i];
  }
  return sum == stages;
}

static bool recurrence_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Recurrence *r = memory;
  const NodeDef *node = construction->node;
  const AttrListValue *stages, *operands, *next, *results, *rows, *groups;
  size_t used = 0;
  TRY(node_attr_int(node, "rounds", &r->rounds, status));
  TRY(node_attr_list(node, "stages", ATTR_FUNC, &stages, status));
  TRY(node_attr_list(node, "operands", ATTR_INT, &operands, status));
  TRY(node_attr_list(node, "next", ATTR_INT, &next, status));
  TRY(node_attr_list(node, "results", ATTR_INT, &results, status));
  TRY(node_attr_list(node, "rows", ATTR_INT, &rows, status));
  TRY(node_attr_list(node, "groups", ATTR_INT, &groups, status));
  bool fits = stages && operands && next && results && rows && groups &&
              stages->n_func <= RECURRENCE_MOST_STAGES && are_groups(groups, stages->n_func) &&
              next->n_i == (size_t)construction->num_inputs &&
              results->n_i == (size_t)construction->num_outputs && rows->n_i == results->n_i &&
              construction->num_inputs <= RECURRENCE_MOST_VALUES && r->rounds >= 1 && r->rounds <= INT32_MAX;
  for (int i = 0; fits && i < construction->num_inputs; i++)
    fits = construction->input_types[i] == DT_FLOAT ||
           (construction->input_types[i] == DT_BOOL && next->i[i] < 0);
  for (int i = 0; fits && i < construction->num_outputs; i++)
    fits = construction->output_types[i] == DT_FLOAT;
  for (size_t i = 0; fits && i < rows->n_i; i++)
    fits = rows->i[i] == RECURRENCE_LAST || rows->i[i] == 1 || rows->i[i] == r->rounds;
  if (!fits) return fused_program_refuse(status);
  r->num_inputs = r->num_values = construction->num_inputs;
  r->next = next->i, r->results = results->i, r->rows = rows->i, r->groups = groups->i;
  for (size_t i = 0, end = 0; i < stages->n_func; i++) {
    if (i == end) end += (size_t)groups->i[r->num_groups++];
    r->stages[i].group = r->num_groups - 1;
    TRY(read_stage(construction, stages->func[i], operands, &used, r, status));
  }
  for (int i = 0; i < r->num_inputs; i++)
    fits = fits && (r->next[i] < 0 || r->next[i] >= r->num_inputs) &&
           are_values(&r->next[i], 1, RECURRENCE_ROW, r->num_values);
  if (!fits || !are_values(r->results, results->n_i, r->num_inputs, r->num_values) || !are_apart(r))
    return fused_program_refuse(status);
  for (int s = 0; s < r->num_stages; s++) *construction->memory_size += r->stages[s].kernel->memory_size;
  return true;
}

static void recurrence_destroy(void *memory) {
  Recurrence *r = memory;
  for (int s = 0; s < r->num_stages; s++) {
    op_kernel_free(r->stages[s].kernel);
    constant_form_free(&r->stages[s].row_weights);
    constant_form_free(&r->stages[s].weights);
  }
}

/* --- a run --- */

/* Where the matrices of a value are, one for each round, or two that rounds use in turn. */
typedef struct Value {
  char *data;
  int64_t step, mask; /* the matrix of round t is (t & mask) * step bytes behind `data` */
  int64_t size;       /* bytes of a matrix */
  Shape shape;        /* of a matrix, or of what is the same in all rounds */
} Value;

typedef struct Job {
  Recurrence *recurrence;
  KernelContext *context;
  Status *status;
  Value values[RECURRENCE_MOST_VALUES];
  GemmArgs products[RECURRENCE_MOST_STAGES];
  FusedRun *runs[RECURRENCE_MOST_STAGES];
  int num_planned;
  Buffer *scratch[RECURRENCE_MOST_STAGES + 2];
  int num_scratch;
  double work[RECURRENCE_MOST_STAGES]; /* of a round */
} Job;

static char *value_at(const Job *job, int64_t v, int64_t round) {
  int64_t next = v < job->recurrence->num_inputs ? job->recurrence->next[v] : -1;
  if (next >= 0 && round > 0) v = next, round--;
  const Value *value = &job->values[v];
  return value->data + (round & value->mask) * value->step;
}

static char *add_scratch(Job *job, int64_t size) {
  Buffer *buffer = kernel_scratch(job->context, size, job->status);
  if (!buffer) return NULL;
  job->scratch[job->num_scratch++] = buffer;
  return buffer->data;
}

/* A value that stages compute, or that changes: what follows from its shape. */
static bool set_matrix(const Job *job, Value *value, DataType type, int64_t rows, int64_t columns) {
  int64_t elements;
  if (__builtin_mul_overflow(rows, columns, &elements) || elements > INT64_MAX / 1024)
    return status_oom(job->status, "the rows of a loop");
  value->size = elements * (int64_t)dtype_size((int)type);
  return shape_set(&value->shape, 2, (int64_t[]){rows, columns}, job->status);
}

/* --- inputs --- */

static bool refuse_input(const Job *job, int i) {
  char text[SHAPE_TEXT_CAPACITY];
  return status_invalid(job->status, "Input %d of a loop over rows has shape %s", i,
                        shape_text(&job->context->inputs[i]->shape, text));
}

static bool find_input(Job *job, int i) {
  const Tensor *tensor = job->context->inputs[i];
  const Recurrence *r = job->recurrence;
  Value *value = &job->values[i];
  *value = (Value){.data = tensor->data};
  if (r->next[i] == RECURRENCE_SAME) return shape_copy(&value->shape, &tensor->shape, job->status);
  bool is_row = r->next[i] == RECURRENCE_ROW;
  if (tensor->shape.rank != 2 + is_row) return refuse_input(job, i);
  if (is_row && shape_dim(&tensor->shape, 0) < r->rounds) {
    return status_invalid(job->status, "Tried to access element %lld in a list with %lld elements.",
                          (long long)r->rounds - 1, (long long)shape_dim(&tensor->shape, 0));
  }
  TRY(set_matrix(job, value, tensor->dtype, shape_dim(&tensor->shape, is_row),
                 shape_dim(&tensor->shape, 1 + is_row)));
  value->step = is_row ? value->size : 0;
  value->mask = -1;
  return true;
}

/* --- stages --- */

/* The shapes with which the program reads its inputs, from input `first` of the stage on. */
static bool plan_program(Job *job, int s, int first, const Shape **shapes) {
  const Stage *stage = &job->recurrence->stages[s];
  FusedRun *run = job->runs[s];
  for (int i = stage->is_product; i < stage->program->num_inputs; i++)
    shapes[i] = &job->values[stage->operands[first + i]].shape;
  job->num_planned = s + 1;
  TRY(fused_run_plan(run, job->context, shapes, job->status));
  job->work[s] += fused_run_work(run) * (double)run->elements;
  for (int i = 0; i < stage->program->num_inputs; i++) {
    if (run->pitch[i] < 0) return fused_program_refuse(job->status);
  }
  return run->num_whole == 0 || fused_program_refuse(job->status);
}

static bool refuse_product(const Job *job, const Value *a, const Shape *b) {
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  return status_invalid(job->status, "Matrix size-incompatible: In[0]: %s, In[1]: %s",
                        shape_text(&a->shape, a_text), shape_text(b, b_text));
}

static bool pack_weights(Job *job, Stage *stage, GemmArgs *args) {
  const Parallel *parallel = job->context->parallel;
  bool is_row = args->m == 1;
  const void **to = is_row ? &args->row_b : &args->packed_b;
  if (stage->is_constant && is_row)
    return packed_row_get(&stage->row_weights, args, parallel, to, job->status);
  if (stage->is_constant)
    return packed_matrix_get(&stage->weights, DT_FLOAT, args, parallel, to, job->status);
  int64_t size = (is_row ? gemm_f32.row_b_size : gemm_f32.packed_b_size)(args->k, args->n);
  char *packed = add_scratch(job, size);
  if (!packed) return false;
  (is_row ? gemm_f32.pack_row_b : gemm_f32.pack_b)(args, parallel, packed);
  *to = packed;
  return true;
}

/* The inputs of the program after its first are those that follow the weights and the bias. */
static bool plan_product(Job *job, int s) {
  Stage *stage = &job->recurrence->stages[s];
  const Value *a = &job->values[stage->operands[0]];
  const Shape *b = &job->context->inputs[stage->operands[1]]->shape, *shapes[FUSED_MOST_ARGS + 1];
  bool has_bias = stage->epilogue && stage->epilogue->has_bias;
  if (a->shape.rank != 2 || b->rank != 2) return refuse_product(job, a, b);
  GemmArgs *args = &job->products[s];
  *args = (GemmArgs){.m = shape_dim(&a->shape, 0),
                     .n = shape_dim(b, !stage->transpose_b),
                     .k = shape_dim(b, stage->transpose_b),
                     .transpose_b = stage->transpose_b,
                     .b = job->context->inputs[stage->operands[1]]->data,
                     .ldb = shape_dim(b, 1),
                     .activation = stage->epilogue ? stage->epilogue->activation : GEMM_NONE};
  args->lda = args->k, args->ldc = args->n;
  bool fits = args->k == shape_dim(&a->shape, 1) && args->m > 0 && args->k > 0 && args->n > 0;
  if (!fits || (has_bias && shape_num_elements(&job->values[stage->operands[2]].shape) != args->n))
    return refuse_product(job, a, b);
  Value *result = &job->values[stage->first];
  TRY(set_matrix(job, result, DT_FLOAT, args->m, args->n));
  job->work[s] += gemm_f32.column_groups_work(args);
  TRY(pack_weights(job, stage, args));
  shapes[0] = &result->shape;
  if (!stage->program) return true;
  TRY(plan_program(job, s, 1 + has_bias, shapes));
  return job->runs[s]->elements == args->m * args->n || refuse_product(job, a, b);
}

static bool plan_elements(Job *job, int s) {
  const Stage *stage = &job->recurrence->stages[s];
  const Shape *shapes[FUSED_MOST_INPUTS];
  TRY(plan_program(job, s, 0, shapes));
  const FusedRun *run = job->runs[s];
  int rank = run->elements > 0 ? run->shape->rank : 0;
  int64_t columns = rank > 0 ? shape_dim(run->shape, rank - 1) : 1, rows = run->elements / columns;
  for (int i = 0; i < stage->program->num_outputs; i++)
    TRY(set_matrix(job, &job->values[stage->first + i], DT_FLOAT, rows, columns));
  return true;
}

/* The plans of programs are in the memory of the kernel, or in scratch memory. */
static bool plan_stages(Job *job) {
  const Recurrence *r = job->recurrence;
  char *memory = job->context->memory;
  int64_t size = 0;
  for (int s = 0; s < r->num_stages; s++) size += r->stages[s].kernel->memory_size;
  if (!memory && size > 0) {
    if (!(memory = add_scratch(job, size))) return false;
    memset(memory, 0, (size_t)size);
  }
  for (int s = 0; s < r->num_stages; s++) {
    const Stage *stage = &r->stages[s];
    if (stage->program) job->runs[s] = fused_run_at(memory, stage->program);
    memory += stage->kernel->memory_size;
    TRY(stage->is_product ? plan_product(job, s) : plan_elements(job, s));
  }
  for (int i = 0; i < r->num_inputs; i++) {
    char now[SHAPE_TEXT_CAPACITY], then[SHAPE_TEXT_CAPACITY];
    const Shape *next = r->next[i] < 0 ? NULL : &job->values[r->next[i]].shape;
    if (!next || shape_equal(&job->values[i].shape, next)) continue;
    return status_invalid(job->status, "A value of a loop has shape %s, and %s in the next round",
                          shape_text(&job->values[i].shape, now), shape_text(next, then));
  }
  return true;
}

/* --- results --- */

/* Outputs with the values of all rounds hold them. */
static bool allocate_outputs(Job *job) {
  const Recurrence *r = job->recurrence;
  for (int i = 0; i < job->context->num_outputs; i++) {
    Value *value = &job->values[r->results[i]];
    const int64_t dims[] = {r->rows[i], shape_dim(&value->shape, 0), shape_dim(&value->shape, 1)};
    bool is_last = r->rows[i] == RECURRENCE_LAST;
    Tensor *out;
    TRY(kernel_allocate_output_dims(job->context, i, is_last ? 2 : 3, dims + is_last, &out, job->status));
    if (r->rows[i] != r->rounds) continue;
    value->data = out->data;
    value->step = value->size;
    value->mask = -1;
  }
  return true;
}

static bool allocate_values(Job *job) {
  enum { LINE = 64 };
  const Recurrence *r = job->recurrence;
  int64_t size = 0;
  for (int v = r->num_inputs; v < r->num_values; v++) {
    Value *value = &job->values[v];
    if (value->data) continue;
    value->step = (value->size + LINE - 1) / LINE * LINE;
    value->mask = 1;
    size += 2 * value->step;
  }
  char *memory = size > 0 ? add_scratch(job, size) : NULL;
  if (size > 0 && !memory) return false;
  for (int v = r->num_inputs; v < r->num_values; v++) {
    Value *value = &job->values[v];
    if (value->data) continue;
    value->data = memory;
    memory += 2 * value->step;
  }
  return true;
}

static void copy_last(const Job *job) {
  const Recurrence *r = job->recurrence;
  for (int i = 0; i < job->context->num_outputs; i++) {
    const Value *value = &job->values[r->results[i]];
    char *to = job->context->outputs[i].data;
    if (r->rows[i] == r->rounds && value->data != to)
      memcpy(to, value->data, (size_t)(r->rounds * value->step));
    if (r->rows[i] == r->rounds) continue;
    memcpy(to, value_at(job, r->results[i], r->rounds - 1), (size_t)value->size);
  }
}

/* --- rounds --- */

/* For `rows` rows of `columns` elements, `stride` elements apart, from element `from` on. */
static void run_program(const Job *job, int s, int64_t round, int first, int64_t from, int64_t rows,
                        int64_t stride, int64_t columns) {
  const Stage *stage = &job->recurrence->stages[s];
  const FusedProgram *program = stage->program;
  char *data[FUSED_MOST_VALUES];
  for (int i = 0; i < program->num_inputs; i++) {
    bool is_product = stage->is_product && i == 0;
    data[i] = value_at(job, is_product ? stage->first : stage->operands[first + i], round);
    if (program->parts && program->parts[2 * i + 1] >= 0)
      data[i] += program->parts[2 * i] * (int64_t)dtype_size((int)stage->kernel->input_types[first + i]);
  }
  for (int i = 0; i < program->num_outputs; i++)
    data[program->num_inputs + program->results[i]] = value_at(job, stage->first + i, round);
  fused_tiles_block_at(job->runs[s], data, from, rows, stride, columns);
}

static void run_product(const Job *job, int s, int64_t round, int64_t begin, int64_t end) {
  const Stage *stage = &job->recurrence->stages[s];
  bool has_bias = stage->epilogue && stage->epilogue->has_bias;
  GemmArgs args = job->products[s];
  args.a = value_at(job, stage->operands[0], round);
  args.c = value_at(job, stage->first, round);
  if (has_bias) args.bias = value_at(job, stage->operands[2], round);
  gemm_f32.run_column_groups(&args, begin, end);
  if (!stage->program) return;
  int64_t column = gemm_f32.group_column(&args, begin), columns = gemm_f32.group_column(&args, end) - column;
  run_program(job, s, round, 1 + has_bias, column, args.m, args.n, columns);
}

/* The stages of a loop: those of a round follow each other. */
typedef struct Loop {
  const Job *job;
  int first_stage, num_stages;
} Loop;

/* Threads divide products by groups of columns, and other stages by cache lines. */
static void run_stage(void *arg, int64_t phase, int member, int members) {
  enum { UNIT = 16 };
  const Loop *loop = arg;
  const Job *job = loop->job;
  int s = loop->first_stage + (int)(phase % loop->num_stages);
  bool is_product = job->recurrence->stages[s].is_product;
  int64_t elements = is_product ? 0 : job->runs[s]->elements, round = phase / loop->num_stages;
  int64_t count = is_product ? gemm_f32.column_groups(&job->products[s]) : (elements + UNIT - 1) / UNIT;
  int64_t begin = team_first(count, member, members), end = team_first(count, member + 1, members);
  int64_t first = begin * UNIT, last = end * UNIT < elements ? end * UNIT : elements;
  if (begin == end) return;
  if (is_product) run_product(job, s, round, begin, end);
  else run_program(job, s, round, 0, first, 1, 0, last - first);
}

/* Threads that have no loop of their own share those of the others. */
static void run_loops(void *arg, int64_t begin, int64_t end) {
  const Job *job = arg;
  const Recurrence *r = job->recurrence;
  const Parallel *parallel = job->context->parallel;
  bool is_shared = r->num_groups == 1 || parallel_threads(parallel) > r->num_groups;
  Loop loop = {.job = job};
  for (int64_t g = 0; g < end; g++, loop.first_stage += loop.num_stages) {
    double work = 0;
    loop.num_stages = (int)r->groups[g];
    if (g < begin) continue;
    for (int s = 0; s < loop.num_stages; s++) work += job->work[loop.first_stage + s];
    team_run(is_shared ? parallel : NULL, r->rounds * loop.num_stages, work / loop.num_stages, run_stage,
             &loop);
  }
}

/* All loops, each of which is about as much work as the others. */
static void share_loops(Job *job) {
  const Recurrence *r = job->recurrence;
  double work = 0;
  for (int s = 0; s < r->num_stages; s++) work += job->work[s];
  if (r->num_groups == 1) run_loops(job, 0, 1);
  else
    parallel_work(job->context->parallel, r->num_groups, work * (double)r->rounds / r->num_groups, run_loops,
                  job);
}

static bool run_rounds(Job *job) {
  const Recurrence *r = job->recurrence;
  for (int i = 0; i < r->num_inputs; i++) TRY(find_input(job, i));
  TRY(plan_stages(job));
  TRY(allocate_outputs(job));
  TRY(allocate_values(job));
  share_loops(job);
  copy_last(job);
  return true;
}

static bool recurrence_kernel(KernelContext *context, Status *status) {
  Job job = {.recurrence = context->state, .context = context, .status = status};
  bool ok = run_rounds(&job);
  for (int s = 0; s < job.num_planned; s++) {
    if (job.runs[s]) fused_run_end(job.runs[s]);
  }
  for (int i = 0; i < job.num_scratch; i++) buffer_unref(job.scratch[i]);
  for (int v = 0; v < job.recurrence->num_values; v++) shape_clear(&job.values[v].shape);
  return ok;
}

/* The pass gives the outputs their shapes. */
const OpRegistration kOp_FusedRecurrence = {
    .name = "_FusedRecurrence",
    .inputs = {"inputs: Tin"},
    .outputs = {"outputs: Tout"},
    .attrs = {"Tin: list(type)", "Tout: list(type) >= 1", "rounds: int", "stages: list(func) >= 1",
              "operands: list(int)", "next: list(int)", "results: list(int)", "rows: list(int)",
              "groups: list(int)"},
    .shape = shape_unknown_outputs,
    .state_size = sizeof(Recurrence),
    .construct = recurrence_construct,
    .destroy = recurrence_destroy,
    .kernels = {{DT_INVALID, recurrence_kernel}},
};
