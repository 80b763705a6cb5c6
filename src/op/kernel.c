#include "op/kernel.h"

#include <string.h>

#include "base/alloc.h"
#include "op/engine_parts.h"
#include "op/kernel_registry.h"
#include "op/node_def_internal.h"
#include "op/side_kernels.h"

/* --- outputs --- */

static bool check_output_index(const KernelContext *context, int i, Status *status) {
  if (i >= 0 && i < context->num_outputs) return true;
  return status_set(status, CODE_INTERNAL, "Kernel has no output %d: it has %d", i, context->num_outputs);
}

static DataType output_type(const KernelContext *context, int i) {
  return (DataType)dtype_base((int)context->output_types[i]);
}

bool kernel_allocate_output(KernelContext *context, int i, const Shape *shape, Tensor **out, Status *status) {
  *out = NULL;
  TRY(check_output_index(context, i, status));
  TRY(tensor_allocate(&context->outputs[i], output_type(context, i), shape, context->pool, status));
  *out = &context->outputs[i];
  return true;
}

bool kernel_allocate_output_dims(KernelContext *context, int i, int rank, const int64_t *dims, Tensor **out,
                                 Status *status) {
  *out = NULL;
  TRY(check_output_index(context, i, status));
  TRY(tensor_allocate_dims(&context->outputs[i], output_type(context, i), rank, dims, context->pool, status));
  *out = &context->outputs[i];
  return true;
}

bool kernel_owns_input(const KernelContext *context, int input) {
  if (!context->last_use || input < 0 || input >= context->num_inputs || !context->last_use[input])
    return false;
  const Buffer *buffer = context->inputs[input]->buffer;
  return buffer && buffer_is_unshared(buffer);
}

bool kernel_may_forward(const KernelContext *context, int input, int i, const Shape *shape) {
  DataType type = output_type(context, i);
  if (!kernel_owns_input(context, input)) return false;
  const Tensor *from = context->inputs[input];
  if (tensor_num_elements(from) != shape_num_elements(shape) || !dtype_is_pod((int)type)) return false;
  return from->dtype == type ||
         (dtype_is_pod((int)from->dtype) && dtype_size((int)from->dtype) == dtype_size((int)type));
}

bool kernel_forward_or_allocate(KernelContext *context, int input, int i, const Shape *shape, Tensor **out,
                                Status *status) {
  *out = NULL;
  TRY(check_output_index(context, i, status));
  if (!kernel_may_forward(context, input, i, shape))
    return kernel_allocate_output(context, i, shape, out, status);
  TRY(tensor_reshape(&context->outputs[i], context->inputs[input], shape, status));
  context->outputs[i].dtype = output_type(context, i);
  *out = &context->outputs[i];
  return true;
}

bool kernel_set_output(KernelContext *context, int i, const Tensor *tensor, const Shape *shape,
                       Status *status) {
  TRY(check_output_index(context, i, status));
  if (!shape) return tensor_assign(&context->outputs[i], tensor, status);
  return tensor_reshape(&context->outputs[i], tensor, shape, status);
}

bool kernel_share_part(KernelContext *context, int i, const Tensor *tensor, int64_t first, int rank,
                       const int64_t *dims, bool *shared, Status *status) {
  enum { MOST_KEPT = 8 }; /* times the size of the part */
  int64_t size = (int64_t)dtype_size((int)tensor->dtype), bytes = size;
  for (int d = 0; d < rank; d++) bytes *= dims[d];
  *shared = dtype_is_pod((int)tensor->dtype) && bytes > 0 && bytes >= tensor->buffer->size / MOST_KEPT;
  if (!*shared) return true;
  TRY(check_output_index(context, i, status));
  Tensor *out = &context->outputs[i];
  TRY(shape_set(&out->shape, rank, dims, status));
  buffer_ref(tensor->buffer);
  out->dtype = tensor->dtype;
  out->buffer = tensor->buffer;
  out->data = (char *)tensor->data + first * size;
  return true;
}

bool kernel_take_input(KernelContext *context, int input, Tensor *to, Status *status) {
  const Tensor *from = context->inputs[input];
  if (!context->last_use || !context->last_use[input]) return tensor_assign(to, from, status);
  tensor_move(to, (Tensor *)from); /* the run is about to drop its value */
  return true;
}

Buffer *kernel_scratch(KernelContext *context, int64_t size, Status *status) {
  Buffer *buffer = buffer_new(context->pool, size);
  if (!buffer) status_oom(status, "temporary memory of a kernel");
  return buffer;
}

/* --- making a kernel --- */

/* The node with all attrs of its op: the node itself when none is missing. */
static bool complete_node(const Op *op, const NodeDef *node, Arena *arena, const NodeDef **complete,
                          Status *status) {
  *complete = node;
  bool missing = false;
  for (size_t i = 0; i < op->def->n_attr; i++) missing |= !node_def_attr(node, op->def->attr[i]->name);
  if (!missing) return true;
  NodeDef *copy = proto_copy(node, arena);
  if (!copy) return status_oom(status, "a kernel");
  *complete = copy;
  return node_def_add_defaults(copy, op->def, arena, status);
}

static bool construct(const OpKernel *kernel, KernelConstructFn construct_state,
                      const Tensor *const *constant_inputs, const FunctionCaller *caller,
                      int64_t *memory_size, Status *status) {
  KernelConstruction construction = {
      .node = kernel->node,
      .op_def = kernel->op->def,
      .input_types = kernel->input_types,
      .output_types = kernel->output_types,
      .num_inputs = kernel->num_inputs,
      .num_outputs = kernel->num_outputs,
      .constant_inputs = constant_inputs,
      .arena = kernel->arena,
      .data = kernel->data,
      .functions = caller,
      .memory_size = memory_size,
  };
  return construct_state(&construction, kernel->state, status);
}

static bool postpone(OpKernel *kernel, KernelConstructFn construct_state, const FunctionCaller *caller,
                     Status *status) {
  side_kernels_want();
  kernel->late = arena_calloc(kernel->arena, 1, sizeof *kernel->late);
  if (!kernel->late) return status_oom(status, "a kernel");
  *kernel->late = (LateConstruction){construct_state, caller, false};
  return true;
}

static bool make(OpKernel *kernel, const Tensor *const *constant_inputs, const FunctionCaller *caller,
                 Status *status) {
  TRY(complete_node(kernel->op, kernel->node, kernel->arena, &kernel->node, status));
  KernelFunctions functions;
  TRY(kernel_registry_select(kernel->op, kernel->node, &functions, status));
  DataType *input_types, *output_types;
  TRY(node_def_types(kernel->node, kernel->op->def, kernel->arena, &input_types, &kernel->num_inputs,
                     &output_types, &kernel->num_outputs, status));
  /* Kernels rely on the OpDef's allowed values, but a node of a function's body gets its attrs after
   * validation. */
  TRY(node_def_validate_attrs(kernel->node, kernel->op->def, status));
  kernel->input_types = input_types;
  for (int i = 0; i < kernel->num_inputs; i++)
    kernel->changes_state |= input_types[i] == DT_RESOURCE || dtype_is_ref((int)input_types[i]);
  kernel->output_types = output_types;
  kernel->is_aside = functions.is_aside;
  kernel->compute = functions.compute;
  kernel->destroy = functions.destroy;
  kernel->data = functions.data;
  kernel->state_size = functions.state_size;
  kernel->state = arena_calloc(kernel->arena, 1, functions.state_size + 1); /* not NULL even without state */
  if (!kernel->state) return status_oom(status, "a kernel");
  if (kernel->is_aside) return postpone(kernel, functions.construct, caller, status);
  return !functions.construct ||
         construct(kernel, functions.construct, constant_inputs, caller, &kernel->memory_size, status);
}

bool op_kernel_new(const Op *op, const NodeDef *node, const Tensor *const *constant_inputs,
                   const FunctionCaller *functions, OpKernel **kernel, Status *status) {
  *kernel = NULL;
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "a kernel");
  OpKernel *made = arena_calloc(arena, 1, sizeof *made);
  if (!made) {
    arena_free(arena);
    return status_oom(status, "a kernel");
  }
  *made = (OpKernel){.op = op, .node = node, .arena = arena};
  if (!make(made, constant_inputs, functions, status)) {
    op_kernel_free(made);
    return node_attach_level(node->name, status);
  }
  *kernel = made;
  return true;
}

void op_kernel_free(OpKernel *kernel) {
  if (!kernel) return;
  bool has_state = kernel->state && (!kernel->late || kernel->late->is_done);
  if (has_state && kernel->destroy) kernel->destroy(kernel->state);
  arena_free(kernel->arena); /* holds the kernel itself */
}

/* --- running --- */

static bool check_outputs(const OpKernel *kernel, const KernelContext *context, Status *status) {
  for (int i = 0; i < kernel->num_outputs; i++) {
    if (tensor_is_empty(&context->outputs[i])) {
      return status_set(status, CODE_INTERNAL, "Missing %d-th output from {{node %s}}", i,
                        kernel->node->name);
    }
    /* A reference is a handle of its variable. */
    DataType want = dtype_is_ref((int)kernel->output_types[i]) ? DT_RESOURCE : kernel->output_types[i];
    if (context->outputs[i].dtype != want) {
      return status_set(status, CODE_INTERNAL,
                        "Output %d of type %s does not match declared output type %s for node {{node %s}}", i,
                        dtype_name((int)context->outputs[i].dtype), dtype_name((int)kernel->output_types[i]),
                        kernel->node->name);
    }
  }
  return true;
}

/* A kernel that paused will set its outputs later, and _Recv of a dead value has none. */
static bool has_outputs(const KernelContext *context) {
  return !context->paused && !(context->transfer && context->transfer->dead);
}

static void set_context(const OpKernel *kernel, KernelContext *context) {
  context->state = kernel->state;
  context->data = kernel->data;
  context->output_types = kernel->output_types;
  context->num_inputs = kernel->num_inputs;
  context->num_outputs = kernel->num_outputs;
  context->node_name = kernel->node->name;
  context->op_name = kernel->op->def->name;
}

/* There is nothing to free: the kernel has not begun. */
static void leave(PausedKernel *paused) { (void)paused; }
static PausedKernel waiting = {leave};

/* A step is blocked until the side module is loaded. */
static bool wait_for_code(const OpKernel *kernel, KernelContext *context, Status *status) {
  if (!context->step)
    return status_set(status, CODE_UNAVAILABLE,
                      "The kernels of op '%s' are in the side module, which is not loaded",
                      kernel->op->def->name);
  side_kernels_want();
  RunState state = step_block(context->step, status);
  context->paused = state == RUN_WAITING ? &waiting : NULL;
  return state == RUN_WAITING;
}

/* A construction that fails is repeated by the next run, with zeroed state. */
static bool construct_late(const OpKernel *kernel, Status *status) {
  LateConstruction *late = kernel->late;
  int64_t none; /* the contexts are made without memory */
  late->is_done = late->is_done || !late->construct ||
                  construct(kernel, late->construct, NULL, late->functions, &none, status);
  if (late->is_done) return true;
  if (kernel->destroy) kernel->destroy(kernel->state);
  memset(kernel->state, 0, (size_t)kernel->state_size);
  return false;
}

static bool compute(const OpKernel *kernel, KernelContext *context, Status *status) {
  if (kernel->is_aside && engine_part_missing(PART_SIDE)) return wait_for_code(kernel, context, status);
  if (context->paused == &waiting) context->paused = NULL;
  if (kernel->late) TRY(construct_late(kernel, status));
  WorkStop *stop = kernel->changes_state ? work_stop_set(NULL) : NULL;
  bool ok = kernel->compute(context, status);
  if (kernel->changes_state) work_stop_set(stop);
  return ok;
}

bool op_kernel_run(const OpKernel *kernel, KernelContext *context, Status *status) {
  if (context->state != kernel->state) set_context(kernel, context); /* every kernel has its own state */
  bool ok = compute(kernel, context, status);
  if (ok && (!has_outputs(context) || check_outputs(kernel, context, status))) return true;
  for (int i = 0; i < kernel->num_outputs; i++) tensor_clear(&context->outputs[i]);
  if (context->step && context->step->ended) return false;
  return node_attach_level(context->node_name, status);
}

static bool check_inputs(const OpKernel *kernel, const Tensor *const *inputs, Status *status) {
  for (int i = 0; i < kernel->num_inputs; i++) {
    DataType type = (DataType)dtype_base((int)kernel->input_types[i]);
    if (inputs[i]->dtype != type) {
      return status_invalid(status, "%d-th input of {{node %s}} expects type %s but it has type %s", i,
                            kernel->node->name, dtype_name((int)type), dtype_name((int)inputs[i]->dtype));
    }
  }
  return true;
}

bool op_evaluate(const Op *op, const NodeDef *node, const Tensor *const *inputs, Tensor *outputs,
                 Status *status) {
  if (op->def->is_stateful) {
    return status_invalid(status, "Op '%s' is stateful: {{node %s}} has no value outside a step",
                          op->def->name, node->name);
  }
  OpKernel *kernel;
  TRY(op_kernel_new(op, node, NULL, NULL, &kernel, status));
  KernelContext context = {.inputs = inputs, .outputs = outputs};
  WorkStop *stop = work_stop_set(NULL); /* the value may be kept longer than the step that asks for it */
  bool ok = check_inputs(kernel, inputs, status) && op_kernel_run(kernel, &context, status);
  work_stop_set(stop);
  op_kernel_free(kernel);
  return ok;
}
