/* _FusedElementwise: several elementwise nodes in one, which a pass of the optimizer makes
 * (optimizer/fuse_elementwise.h). */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/fused_run.h"

typedef struct ProgramAttrs {
  const AttrListValue *ops, *nodes, *types, *operands, *results;
  const AttrListValue *parts; /* or NULL */
} ProgramAttrs;

static bool read_attrs(const NodeDef *def, ProgramAttrs *attrs, Status *status) {
  TRY(node_attr_list(def, "ops", ATTR_STRING, &attrs->ops, status));
  TRY(node_attr_list(def, FUSED_NODES, ATTR_STRING, &attrs->nodes, status));
  TRY(node_attr_list(def, "types", ATTR_TYPE, &attrs->types, status));
  TRY(node_attr_list(def, "operands", ATTR_INT, &attrs->operands, status));
  attrs->parts = NULL;
  if (node_def_attr(def, FUSED_PARTS)) TRY(node_attr_list(def, FUSED_PARTS, ATTR_INT, &attrs->parts, status));
  return node_attr_list(def, "results", ATTR_INT, &attrs->results, status);
}

static bool fits(const ProgramAttrs *attrs, const KernelConstruction *construction) {
  if (!attrs->ops || !attrs->nodes || !attrs->types || !attrs->operands || !attrs->results) return false;
  size_t count = attrs->ops->n_s;
  if (attrs->parts && attrs->parts->n_i != 2 * (size_t)construction->num_inputs) return false;
  return count <= FUSED_MOST_NODES && attrs->nodes->n_s == count && attrs->types->n_type == count &&
         attrs->results->n_i == (size_t)construction->num_outputs;
}

static bool fused_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ProgramAttrs attrs;
  Str ops[FUSED_MOST_NODES], names[FUSED_MOST_NODES];
  DataType types[FUSED_MOST_NODES];
  TRY(read_attrs(construction->node, &attrs, status));
  if (!fits(&attrs, construction)) return fused_program_refuse(status);
  for (size_t i = 0; i < attrs.ops->n_s; i++) {
    ops[i] = (Str){(const char *)attrs.ops->s[i].data, attrs.ops->s[i].len};
    names[i] = (Str){(const char *)attrs.nodes->s[i].data, attrs.nodes->s[i].len};
    types[i] = (DataType)attrs.types->type[i];
  }
  const FusedSource source = {.num_nodes = (int)attrs.ops->n_s,
                              .ops = ops,
                              .names = names,
                              .types = types,
                              .operands = attrs.operands->i,
                              .num_operands = (int64_t)attrs.operands->n_i,
                              .input_types = construction->input_types,
                              .num_inputs = construction->num_inputs,
                              .parts = attrs.parts ? attrs.parts->i : NULL,
                              .results = attrs.results->i,
                              .output_types = construction->output_types,
                              .num_outputs = construction->num_outputs};
  TRY(fused_program_make(&source, construction->node->name, construction->arena, memory, status));
  *construction->memory_size = fused_run_size(memory);
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
