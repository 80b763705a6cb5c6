#include "ops/support/kernel_chain.h"

#include <string.h>

#include "op/op_registry.h"

static bool oom(Status *status) { return status_oom(status, "a kernel"); }

/* --- making --- */

static bool begin_link(KernelChain *chain, ChainLink **link, Status *status) {
  if (chain->count == KERNEL_CHAIN_MAX)
    return status_invalid(status, "More than %d ops are fused", KERNEL_CHAIN_MAX);
  *link = &chain->links[chain->count++];
  return true;
}

/* A node of `op_def`, whose attrs are shared. */
static bool make_node(const KernelConstruction *construction, const OpDef *op_def, const ChainAttr *attrs,
                      int num_attrs, NodeDef **node, Status *status) {
  Arena *arena = construction->arena;
  *node = proto_new(kNodeDef, arena);
  if (!*node) return oom(status);
  (*node)->name = construction->node->name;
  (*node)->op = op_def->name;
  for (size_t i = 0; i < op_def->n_attr; i++) {
    const char *name = op_def->attr[i]->name;
    const AttrValue *value = node_def_attr(construction->node, name);
    for (int k = 0; k < num_attrs; k++) {
      if (strcmp(attrs[k].name, name) == 0) value = attrs[k].value;
    }
    if (value) TRY(node_def_set_attr(*node, arena, name, (AttrValue *)value, status));
  }
  return true;
}

bool kernel_chain_add(KernelChain *chain, const KernelConstruction *construction, const char *name,
                      const ChainAttr *attrs, int num_attrs, int first, int count, Status *status) {
  const Op *op;
  NodeDef *node;
  ChainLink *link = NULL;
  const Tensor *constants[KERNEL_CHAIN_MAX_INPUTS] = {NULL};
  int previous = chain->count > 0;
  TRY(begin_link(chain, &link, status));
  TRY(op_registry_look_up(op_registry_global(), name, &op, status));
  TRY(make_node(construction, op->def, attrs, num_attrs, &node, status));
  for (int i = 0; construction->constant_inputs && i < count; i++)
    constants[previous + i] = construction->constant_inputs[first + i];
  link->first = first;
  link->count = count;
  return op_kernel_new(op, node, constants, NULL, &link->kernel, status);
}

bool kernel_chain_add_compute(KernelChain *chain, KernelComputeFn compute, const void *data, Status *status) {
  ChainLink *link = NULL;
  TRY(begin_link(chain, &link, status));
  link->compute = compute;
  link->data = data;
  return true;
}

void kernel_chain_extend(KernelChain *chain, int count, const void *data) {
  ChainLink *link = &chain->links[chain->count - 1];
  link->count += count;
  link->data = data;
}

void kernel_chain_destroy(void *memory) {
  KernelChain *chain = memory;
  for (int i = 0; i < chain->count; i++) op_kernel_free(chain->links[i].kernel);
}

/* --- running --- */

/* What a link reads and writes. */
typedef struct LinkRun {
  const Tensor *inputs[KERNEL_CHAIN_MAX_INPUTS];
  bool last_use[KERNEL_CHAIN_MAX_INPUTS];
  Tensor outputs[KERNEL_CHAIN_MAX_OUTPUTS];
  Tensor previous;
} LinkRun;

/* The link's kernel attaches no node to its errors: the caller does. */
static bool run_link(const KernelContext *outer, const ChainLink *link, bool is_first, LinkRun *run,
                     Status *status) {
  KernelContext context = *outer;
  const OpKernel *kernel = link->kernel;
  int count = 0;
  if (!is_first) {
    run->inputs[count] = &run->previous;
    run->last_use[count++] = true;
  }
  for (int i = 0; i < link->count; i++) {
    run->inputs[count] = outer->inputs[link->first + i];
    run->last_use[count++] = is_first && outer->last_use && outer->last_use[link->first + i];
  }
  context.inputs = run->inputs;
  context.last_use = run->last_use;
  context.outputs = run->outputs;
  context.num_inputs = count;
  context.num_outputs = kernel ? kernel->num_outputs : 1;
  if (kernel) {
    context.output_types = kernel->output_types;
    context.state = kernel->state;
    context.op_name = kernel->op->def->name;
  }
  context.data = kernel && !link->data ? kernel->data : link->data;
  return kernel ? kernel->compute(&context, status) : link->compute(&context, status);
}

/* A single kernel that takes all inputs runs in the context of the node. */
static bool is_alone(const KernelChain *chain, const KernelContext *context) {
  const ChainLink *link = &chain->links[0];
  return chain->count == 1 && link->kernel && link->first == 0 && link->count == context->num_inputs;
}

static bool run_alone(KernelContext *context, const ChainLink *link, Status *status) {
  void *state = context->state;
  const void *data = context->data;
  const char *op_name = context->op_name;
  context->state = link->kernel->state;
  context->data = link->data ? link->data : link->kernel->data;
  context->op_name = link->kernel->op->def->name;
  bool ok = link->kernel->compute(context, status);
  context->state = state;
  context->data = data;
  context->op_name = op_name;
  return ok;
}

bool kernel_chain_compute(KernelContext *context, Status *status) {
  const KernelChain *chain = context->state;
  if (is_alone(chain, context)) return run_alone(context, &chain->links[0], status);
  LinkRun run = {.previous = {0}};
  bool ok = true;
  for (int i = 0; ok && i < chain->count; i++) {
    ok = run_link(context, &chain->links[i], i == 0, &run, status);
    tensor_clear(&run.previous);
    tensor_move(&run.previous, &run.outputs[0]);
    for (int k = 1; k < KERNEL_CHAIN_MAX_OUTPUTS; k++) {
      if (ok && i == 0 && k < context->num_outputs) tensor_move(&context->outputs[k], &run.outputs[k]);
      tensor_clear(&run.outputs[k]);
    }
  }
  if (ok) tensor_move(&context->outputs[0], &run.previous);
  tensor_clear(&run.previous);
  return ok;
}
