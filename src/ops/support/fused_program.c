/* Makes fused programs of the ops that they name. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/fused_formula.h"
#include "ops/support/fused_program.h"

bool fused_program_refuse(Status *status) {
  return status_invalid(status, "The program of a fused op is invalid");
}

/* --- loops --- */

/* Those of at most 8 bytes that the pass fuses. */
static bool is_fused_type(DataType type) {
  return type == DT_FLOAT || type == DT_DOUBLE || type == DT_INT32 || type == DT_BOOL;
}

static bool find_entry(const Op *op, DataType type, KernelEntry *found) {
  for (int i = 0; i < OP_MAX_KERNELS && op->registration->kernels[i].compute; i++) {
    *found = op->registration->kernels[i];
    if (found->type == type || (found->type == DT_INVALID && type == DT_BOOL)) return true;
  }
  return false;
}

static bool find_reduction(FusedNode *node, Status *status) {
  static const struct {
    const char *op;
    ReduceKind kind;
  } kKinds[] = {{"Sum", REDUCE_SUM}, {"Mean", REDUCE_MEAN}, {"Max", REDUCE_MAX}, {"Min", REDUCE_MIN}};
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    if (strcmp(node->op, kKinds[i].op) != 0) continue;
    node->kind = FUSED_REDUCE;
    node->loop.reduce.kind = kKinds[i].kind;
    node->loop.reduce.loops = row_reduction(node->type);
    return node->loop.reduce.loops || fused_program_refuse(status);
  }
  return fused_program_refuse(status);
}

static bool find_loop(const Op *op, FusedNode *node, Status *status) {
  KernelEntry entry;
  if (is_fused_type(node->type) && strcmp(node->op, "SelectV2") == 0) {
    node->kind = FUSED_SELECT;
    return true;
  }
  if (!is_fused_type(node->type) || op_kernel_missing(op, node->type) || !find_entry(op, node->type, &entry))
    return fused_program_refuse(status);
  if (entry.compute == elementwise_function) {
    node->kind = FUSED_FUNCTION;
    node->loop.function = entry.data;
    return node->type == DT_FLOAT || node->type == DT_DOUBLE || fused_program_refuse(status);
  }
  if (entry.compute == elementwise_unary) {
    node->kind = FUSED_UNARY;
    node->loop.unary = (UnaryLoop *)entry.data;
  } else if (entry.compute == elementwise_pair || entry.compute == elementwise_slope) {
    node->kind = entry.compute == elementwise_pair ? FUSED_PAIR : FUSED_SLOPE;
    node->loop.pair = (PairLoop *)entry.data;
  } else if (entry.compute == broadcast_kernel) {
    node->kind = FUSED_BROADCAST;
    node->loop.broadcast = (BinaryLoop *)entry.data;
  } else {
    return find_reduction(node, status);
  }
  return true;
}

/* --- nodes --- */

static bool read_node(const FusedSource *source, int i, Arena *arena, FusedNode *node, const Op **op,
                      Status *status) {
  Str name = source->names ? source->names[i] : source->ops[i];
  node->name = arena_strndup(arena, name.data, name.length);
  node->op = arena_strndup(arena, source->ops[i].data, source->ops[i].length);
  if (!node->name || !node->op) return status_oom(status, "a kernel");
  node->type = source->types[i];
  TRY(op_registry_look_up(op_registry_global(), node->op, op, status));
  TRY(find_loop(*op, node, status));
  node->formula = node->type == DT_FLOAT || node->type == DT_DOUBLE ? fused_formula_of(node->op) : 0;
  DataType out = (DataType)(*op)->def->output_arg[0]->type;
  node->in_size = (int64_t)dtype_size(node->type);
  node->out_size = (int64_t)dtype_size(out == DT_INVALID ? node->type : out);
  node->num_operands = node->kind == FUSED_REDUCE ? 1 : (int)(*op)->def->n_input_arg;
  node->output = node->place = -1;
  return true;
}

/* The dtype of a value that is already known. */
static DataType value_type(const FusedSource *source, const DataType *made, int value) {
  return value < source->num_inputs ? source->input_types[value] : made[value - source->num_inputs];
}

static bool read_operands(const FusedSource *source, FusedProgram *program, int64_t *next, int i,
                          const DataType *made, Status *status) {
  FusedNode *node = &program->nodes[i];
  for (int k = 0; k < node->num_operands; k++, ++*next) {
    int64_t value = *next < source->num_operands ? source->operands[*next] : -1;
    if (value < 0 || value >= program->num_inputs + i) return fused_program_refuse(status);
    if (value_type(source, made, (int)value) != fused_operand_type(node, k))
      return fused_program_refuse(status);
    node->operands[k] = (int)value;
    program->last_reads[value] = i;
  }
  return true;
}

static bool read_results(const FusedSource *source, FusedProgram *program, const DataType *made,
                         Status *status) {
  for (int i = 0; i < program->num_outputs; i++) {
    int64_t from = source->results[i];
    if (from < 0 || from >= program->num_nodes || program->nodes[from].output >= 0)
      return fused_program_refuse(status);
    if (made[from] != source->output_types[i]) return fused_program_refuse(status);
    program->nodes[from].output = i;
    program->results[i] = (int)from;
  }
  return true;
}

static bool read_inputs(const FusedSource *source, Arena *arena, FusedProgram *program, Status *status) {
  for (int i = 0; i < source->num_inputs; i++)
    program->input_sizes[i] = (int64_t)dtype_size((int)source->input_types[i]);
  if (!source->parts) return true;
  int64_t *parts = arena_calloc(arena, 2 * source->num_inputs, sizeof *parts);
  if (!parts) return status_oom(status, "a kernel");
  for (int i = 0; i < 2 * source->num_inputs; i++) {
    parts[i] = source->parts[i];
    if (parts[i] < (i % 2 == 0 ? 0 : -1)) return fused_program_refuse(status);
  }
  program->parts = parts;
  return true;
}

/* --- places --- */

static bool may_overwrite(const FusedNode *node) {
  return node->in_size == node->out_size && node->kind != FUSED_REDUCE && node->kind != FUSED_SELECT;
}

/* Gives each value between nodes a tile. A node may write over an operand that it reads last, if the elements
 * have one size. */
static void assign_places(FusedProgram *program) {
  int64_t free_after[FUSED_MOST_NODES]; /* per place: the node after which it is free */
  for (int i = 0; i < program->num_nodes; i++) {
    FusedNode *node = &program->nodes[i];
    if (node->output >= 0) continue;
    int place = 0;
    while (place < program->num_places &&
           !(free_after[place] < i || (free_after[place] == i && may_overwrite(node))))
      place++;
    if (place == program->num_places) program->num_places++;
    int last = program->last_reads[program->num_inputs + i];
    free_after[place] = last < i ? i : last;
    node->place = place;
  }
}

/* --- all --- */

static bool fits(const FusedSource *source) {
  return source->num_nodes >= 1 && source->num_nodes <= FUSED_MOST_NODES &&
         source->num_inputs <= FUSED_MOST_INPUTS && source->num_outputs <= FUSED_MOST_NODES;
}

bool fused_program_make(const FusedSource *source, const char *name, Arena *arena, FusedProgram *program,
                        Status *status) {
  DataType made[FUSED_MOST_NODES];
  int64_t next = 0;
  if (!fits(source)) return fused_program_refuse(status);
  program->name = name;
  program->num_inputs = source->num_inputs;
  program->num_nodes = source->num_nodes;
  program->num_outputs = source->num_outputs;
  for (int i = 0; i < FUSED_MOST_VALUES; i++) program->last_reads[i] = -1;
  TRY(read_inputs(source, arena, program, status));
  for (int i = 0; i < program->num_nodes; i++) {
    const Op *op;
    TRY(read_node(source, i, arena, &program->nodes[i], &op, status));
    DataType out = (DataType)op->def->output_arg[0]->type;
    made[i] = out == DT_INVALID ? program->nodes[i].type : out;
    TRY(read_operands(source, program, &next, i, made, status));
  }
  TRY(next == source->num_operands || fused_program_refuse(status));
  TRY(read_results(source, program, made, status));
  for (int i = 0; i < program->num_nodes; i++) {
    const FusedNode *node = &program->nodes[i];
    int64_t size = node->in_size > node->out_size ? node->in_size : node->out_size;
    program->reduces |= node->kind == FUSED_REDUCE;
    if (size > program->widest) program->widest = size;
  }
  assign_places(program);
  return true;
}
