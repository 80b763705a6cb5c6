/* _FusedElementwise: several elementwise nodes in one, which a pass of the optimizer makes
 * (optimizer/fuse_elementwise.h). */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/math/fused_program.h"

static bool refuse(Status *status) {
  return status_invalid(status, "The program of a " FUSED_OP " is invalid");
}

/* --- loops --- */

/* Those of at most 8 bytes that the pass fuses. */
static bool is_fused_type(DataType type) { return type == DT_FLOAT || type == DT_DOUBLE || type == DT_BOOL; }

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
    node->loop.reduce = kKinds[i].kind;
    return node->type == DT_FLOAT || node->type == DT_DOUBLE || refuse(status);
  }
  return refuse(status);
}

static bool find_loop(const Op *op, FusedNode *node, Status *status) {
  KernelEntry entry;
  if (!is_fused_type(node->type) || op_kernel_missing(op, node->type) || !find_entry(op, node->type, &entry))
    return refuse(status);
  if (entry.compute == elementwise_function) {
    node->kind = FUSED_FUNCTION;
    node->loop.function = entry.data;
    return node->type == DT_FLOAT || node->type == DT_DOUBLE || refuse(status);
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

typedef struct ProgramAttrs {
  const AttrListValue *ops, *nodes, *types, *operands, *results;
} ProgramAttrs;

static bool read_attrs(const NodeDef *def, ProgramAttrs *attrs, Status *status) {
  TRY(node_attr_list(def, "ops", ATTR_STRING, &attrs->ops, status));
  TRY(node_attr_list(def, FUSED_NODES, ATTR_STRING, &attrs->nodes, status));
  TRY(node_attr_list(def, "types", ATTR_TYPE, &attrs->types, status));
  TRY(node_attr_list(def, "operands", ATTR_INT, &attrs->operands, status));
  return node_attr_list(def, "results", ATTR_INT, &attrs->results, status);
}

static bool fits(const ProgramAttrs *attrs, const KernelConstruction *construction) {
  if (!attrs->ops || !attrs->nodes || !attrs->types || !attrs->operands || !attrs->results) return false;
  size_t count = attrs->ops->n_s;
  return count >= 1 && count <= FUSED_MOST_NODES && attrs->nodes->n_s == count &&
         attrs->types->n_type == count && construction->num_inputs <= FUSED_MOST_INPUTS &&
         attrs->results->n_i == (size_t)construction->num_outputs && attrs->results->n_i <= FUSED_MOST_NODES;
}

static bool read_node(const KernelConstruction *construction, const ProgramAttrs *attrs, int i,
                      FusedNode *node, const Op **op, Status *status) {
  const ProtobufCBinaryData *name = &attrs->nodes->s[i], *kind = &attrs->ops->s[i];
  node->name = arena_strndup(construction->arena, (const char *)name->data, name->len);
  node->op = arena_strndup(construction->arena, (const char *)kind->data, kind->len);
  if (!node->name || !node->op) return status_oom(status, "a kernel");
  node->type = (DataType)attrs->types->type[i];
  TRY(op_registry_look_up(op_registry_global(), node->op, op, status));
  TRY(find_loop(*op, node, status));
  DataType out = (DataType)(*op)->def->output_arg[0]->type;
  node->in_size = (int64_t)dtype_size(node->type);
  node->out_size = (int64_t)dtype_size(out == DT_INVALID ? node->type : out);
  node->num_operands = node->kind == FUSED_REDUCE ? 1 : (int)(*op)->def->n_input_arg;
  node->output = node->place = -1;
  return true;
}

/* The dtype of a value that is already known. */
static DataType value_type(const KernelConstruction *construction, const FusedProgram *program,
                           const DataType *made, int value) {
  return value < program->num_inputs ? construction->input_types[value] : made[value - program->num_inputs];
}

static bool read_operands(const KernelConstruction *construction, FusedProgram *program,
                          const AttrListValue *operands, size_t *next, int i, const DataType *made,
                          Status *status) {
  FusedNode *node = &program->nodes[i];
  for (int k = 0; k < node->num_operands; k++, ++*next) {
    int64_t value = *next < operands->n_i ? operands->i[*next] : -1;
    if (value < 0 || value >= program->num_inputs + i) return refuse(status);
    if (value_type(construction, program, made, (int)value) != node->type) return refuse(status);
    node->operands[k] = (int)value;
    program->last_reads[value] = i;
  }
  return true;
}

static bool read_results(const KernelConstruction *construction, FusedProgram *program,
                         const AttrListValue *results, const DataType *made, Status *status) {
  for (int i = 0; i < program->num_outputs; i++) {
    int64_t from = results->i[i];
    if (from < 0 || from >= program->num_nodes || program->nodes[from].output >= 0) return refuse(status);
    if (made[from] != construction->output_types[i]) return refuse(status);
    program->nodes[from].output = i;
    program->results[i] = (int)from;
  }
  return true;
}

/* --- places --- */

static bool may_overwrite(const FusedNode *node) {
  return node->in_size == node->out_size && node->kind != FUSED_REDUCE;
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

static bool fused_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FusedProgram *program = memory;
  ProgramAttrs attrs;
  DataType made[FUSED_MOST_NODES];
  size_t next = 0;
  TRY(read_attrs(construction->node, &attrs, status));
  if (!fits(&attrs, construction)) return refuse(status);
  program->name = construction->node->name;
  program->num_inputs = construction->num_inputs;
  program->num_nodes = (int)attrs.ops->n_s;
  program->num_outputs = construction->num_outputs;
  for (int i = 0; i < FUSED_MOST_VALUES; i++) program->last_reads[i] = -1;
  for (int i = 0; i < program->num_nodes; i++) {
    const Op *op;
    TRY(read_node(construction, &attrs, i, &program->nodes[i], &op, status));
    DataType out = (DataType)op->def->output_arg[0]->type;
    made[i] = out == DT_INVALID ? program->nodes[i].type : out;
    TRY(read_operands(construction, program, attrs.operands, &next, i, made, status));
  }
  TRY(next == attrs.operands->n_i || refuse(status));
  TRY(read_results(construction, program, attrs.results, made, status));
  for (int i = 0; i < program->num_nodes; i++) {
    const FusedNode *node = &program->nodes[i];
    int64_t size = node->in_size > node->out_size ? node->in_size : node->out_size;
    program->reduces |= node->kind == FUSED_REDUCE;
    if (size > program->widest) program->widest = size;
  }
  assign_places(program);
  return true;
}

static bool fused_kernel(KernelContext *context, Status *status) {
  return fused_program_run(context->state, context, status);
}

/* The pass gives the outputs the shapes of the nodes. */
const OpRegistration kOp_FusedElementwise = {
    .name = "_FusedElementwise",
    .inputs = {"inputs: Tin"},
    .outputs = {"outputs: Tout"},
    .attrs = {"Tin: list(type)", "Tout: list(type) >= 1", "ops: list(string) >= 1",
              FUSED_NODES ": list(string)", "types: list(type)", "operands: list(int)", "results: list(int)"},
    .shape = shape_unknown_outputs,
    .state_size = sizeof(FusedProgram),
    .construct = fused_construct,
    .kernels = {{DT_INVALID, fused_kernel}},
};
