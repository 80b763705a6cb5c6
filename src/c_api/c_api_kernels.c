/* Kernels that programs register, and their TF_OpKernelContext while they run. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/kernels_internal.h"
#include "op/node_def.h"

/* ---- the builder ---- */

static bool set_text(TF_KernelBuilder *builder, char **field, const char *text) {
  char *copy = arena_strdup(builder->arena, text ? text : "");
  if (copy) *field = copy;
  builder->out_of_memory |= !copy;
  return copy != NULL;
}

TF_KernelBuilder *TF_NewKernelBuilder(const char *op_name, const char *device_name,
                                      void *(*create_func)(TF_OpKernelConstruction *),
                                      void (*compute_func)(void *, TF_OpKernelContext *),
                                      void (*delete_func)(void *)) {
  Arena *arena = arena_new();
  TF_KernelBuilder *builder = arena ? arena_calloc(arena, 1, sizeof *builder) : NULL;
  KernelDef *def = builder ? proto_new(kKernelDef, arena) : NULL;
  if (def) {
    *builder = (TF_KernelBuilder){arena, def, create_func, compute_func, delete_func, false};
    if (set_text(builder, &def->op, op_name) && set_text(builder, &def->device_type, device_name))
      return builder;
  }
  arena_free(arena);
  return NULL;
}

void TF_DeleteKernelBuilder(TF_KernelBuilder *builder) {
  if (builder) arena_free(builder->arena);
}

static bool add_constraint(TF_KernelBuilder *builder, const char *attr_name, int type, Status *status) {
  KernelDef *def = builder->def;
  KernelConstraint *constraint = proto_new(kKernelConstraint, builder->arena);
  if (!constraint) return status_oom(status, "a kernel");
  constraint->name = arena_strdup(builder->arena, attr_name);
  constraint->allowed_values = attr_value_type_list(builder->arena, &type, 1);
  if (!constraint->name || !constraint->allowed_values) return status_oom(status, "a kernel");
  return proto_append(builder->arena, (void ***)&def->constraint, &def->n_constraint, constraint, status);
}

void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder *kernel_builder, const char *attr_name,
                                     TF_DataType type, TF_Status *status) {
  start_status(status);
  if (!dtype_is_valid((int)type) || dtype_is_ref((int)type)) {
    status_set(&status->status, CODE_UNIMPLEMENTED, "Unexpected type %d", (int)type);
  } else if (!add_constraint(kernel_builder, attr_name, (int)type, &status->status)) {
    kernel_builder->out_of_memory = true;
  }
}

void TF_KernelBuilder_HostMemory(TF_KernelBuilder *kernel_builder, const char *arg_name) {
  KernelDef *def = kernel_builder->def;
  Status status;
  status_init(&status);
  char *copy;
  if (set_text(kernel_builder, &copy, arg_name) &&
      !proto_append(kernel_builder->arena, (void ***)&def->host_memory_arg, &def->n_host_memory_arg, copy,
                    &status)) {
    kernel_builder->out_of_memory = true;
  }
}

void TF_KernelBuilder_Priority(TF_KernelBuilder *kernel_builder, int32_t priority_number) {
  kernel_builder->def->priority = priority_number;
}

void TF_KernelBuilder_Label(TF_KernelBuilder *kernel_builder, const char *label) {
  set_text(kernel_builder, &kernel_builder->def->label, label);
}

/* ---- adapters from the registry to the builder's functions ---- */

static bool construct(const KernelConstruction *construction, void *state, Status *status) {
  const TF_KernelBuilder *builder = construction->data;
  ForeignKernel *kernel = state;
  kernel->op_def = construction->op_def;
  TRY(node_def_arg_ranges(construction->node, construction->op_def, false, construction->arena,
                          &kernel->input_starts, status));
  if (builder->create) {
    TF_OpKernelConstruction made = {.construction = construction};
    status_init(&made.failure);
    kernel->kernel = builder->create(&made);
    if (made.failure.code != CODE_OK) {
      if (kernel->kernel) kernel->builder = builder;
      *status = made.failure;
      return false;
    }
  }
  kernel->builder = builder;
  return true;
}

static bool compute(KernelContext *context, Status *status) {
  const ForeignKernel *kernel = context->state;
  TF_OpKernelContext run = {.context = context, .kernel = kernel};
  status_init(&run.failure);
  kernel->builder->compute(kernel->kernel, &run);
  if (run.failure.code == CODE_OK) return true;
  *status = run.failure;
  return false;
}

static void destroy(void *state) {
  const ForeignKernel *kernel = state;
  if (kernel->builder && kernel->builder->destroy) kernel->builder->destroy(kernel->kernel);
}

static void free_builder(const void *builder) { TF_DeleteKernelBuilder((TF_KernelBuilder *)builder); }

static bool read_def(TF_KernelBuilder *builder, const char *serialized, Status *status) {
  void *def;
  if (!serialized) return true;
  TRY(proto_parse(kKernelDef, serialized, strlen(serialized), builder->arena, &def, status));
  builder->def = def;
  return true;
}

void TF_RegisterKernelBuilderWithKernelDef(const char *serialized_kernel_def, const char *name,
                                           TF_KernelBuilder *builder, TF_Status *status) {
  (void)name;
  start_status(status);
  bool ok = !builder->out_of_memory || status_oom(&status->status, "a kernel");
  if (!ok || !read_def(builder, serialized_kernel_def, &status->status)) {
    TF_DeleteKernelBuilder(builder);
    return;
  }
  KernelFunctions functions = {construct, builder->compute ? compute : NULL, destroy, sizeof(ForeignKernel),
                               builder};
  reported(kernel_registry_add(builder->def, &functions, free_builder, &status->status));
}

void TF_RegisterKernelBuilder(const char *kernel_name, TF_KernelBuilder *builder, TF_Status *status) {
  TF_RegisterKernelBuilderWithKernelDef(NULL, kernel_name, builder, status);
}

/* ---- queries of registered kernels ---- */

static TF_Buffer *list_kernels(const char *op_name, Status *status) {
  status_init(status);
  Arena *arena = arena_new();
  TF_Buffer *buffer = TF_NewBuffer();
  KernelList *list;
  bool ok = ((arena && buffer) || status_oom(status, "the list of kernels")) && register_ops(status) &&
            kernel_registry_list(op_registry_global(), op_name, arena, &list, status) &&
            fill_buffer_with_message(list, buffer, status);
  arena_free(arena);
  if (ok) return buffer;
  TF_DeleteBuffer(buffer);
  return NULL;
}

TF_Buffer *TF_GetAllRegisteredKernels(TF_Status *status) { return list_kernels(NULL, &status->status); }

TF_Buffer *TF_GetRegisteredKernelsForOp(const char *name, TF_Status *status) {
  return list_kernels(name, &status->status);
}

/* ---- inputs ---- */

TF_Tensor *share_tensor(const Tensor *tensor, Status *status) {
  TF_Tensor *shared = mem_calloc(1, sizeof *shared);
  if (!shared) {
    status_oom(status, "a tensor");
  } else if (!tensor_assign(&shared->tensor, tensor, status)) {
    mem_free(shared);
    shared = NULL;
  }
  return shared;
}

int TF_NumInputs(TF_OpKernelContext *ctx) { return ctx->context->num_inputs; }

int TF_NumOutputs(TF_OpKernelContext *ctx) { return ctx->context->num_outputs; }

static bool has_input(const TF_OpKernelContext *ctx, int i, Status *status) {
  status_init(status);
  if (i >= 0 && i < ctx->context->num_inputs) return true;
  return status_set(status, CODE_OUT_OF_RANGE, "input index out of range");
}

static bool has_output(const TF_OpKernelContext *ctx, int i, Status *status) {
  status_init(status);
  if (i >= 0 && i < ctx->context->num_outputs) return true;
  return status_set(status, CODE_OUT_OF_RANGE, "output index out of range");
}

void TF_GetInput(TF_OpKernelContext *ctx, int i, TF_Tensor **tensor, TF_Status *status) {
  if (!has_input(ctx, i, &status->status)) return;
  TF_Tensor *shared = share_tensor(ctx->context->inputs[i], &status->status);
  if (shared) *tensor = shared;
}

void TF_InputRange(TF_OpKernelContext *ctx, const char *name, TF_InputRange_Args *args) {
  status_init(&args->status->status);
  const OpDef *op_def = ctx->kernel->op_def;
  for (size_t i = 0; i < op_def->n_input_arg; i++) {
    if (strcmp(op_def->input_arg[i]->name, name) != 0) continue;
    args->start = ctx->kernel->input_starts[i];
    args->stop = ctx->kernel->input_starts[i + 1];
    return;
  }
  status_invalid(&args->status->status, "Unknown input name: %s", name);
}

TF_DataType TF_InputDatatype(TF_OpKernelContext *ctx, int index) {
  bool exists = index >= 0 && index < ctx->context->num_inputs;
  return (TF_DataType)(exists ? ctx->context->inputs[index]->dtype : DT_INVALID);
}

/* ---- outputs ---- */

void TF_SetOutput(TF_OpKernelContext *ctx, int i, const TF_Tensor *tensor, TF_Status *status) {
  if (!has_output(ctx, i, &status->status)) return;
  if (!tensor) {
    status_invalid(&status->status, "The tensor for output %d of %s is null", i, ctx->context->node_name);
    return;
  }
  reported(kernel_set_output(ctx->context, i, &tensor->tensor, NULL, &status->status));
}

TF_Tensor *TF_GetMutableOutput(TF_OpKernelContext *ctx, int i, TF_Status *status) {
  if (!has_output(ctx, i, &status->status)) return NULL;
  if (!tensor_is_empty(&ctx->context->outputs[i]))
    return share_tensor(&ctx->context->outputs[i], &status->status);
  status_set(&status->status, CODE_FAILED_PRECONDITION, "Output %d of %s was not set yet", i,
             ctx->context->node_name);
  return NULL;
}

TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext *ctx, int i) {
  bool exists = i >= 0 && i < ctx->context->num_outputs;
  return (TF_DataType)(exists ? ctx->context->output_types[i] : DT_INVALID);
}

static bool check_allocation(const TF_OpKernelContext *ctx, int index, Status *status) {
  status_init(status);
  const KernelContext *context = ctx->context;
  if (index < 0) {
    return status_set(status, CODE_INTERNAL, "allocate_output with bad index=%d kernel=%s", index,
                      context->node_name);
  }
  if (index < context->num_outputs) return true;
  return status_set(status, CODE_INTERNAL, "allocate_output with bad index=%d num_outputs=%d kernel=%s",
                    index, context->num_outputs, context->node_name);
}

TF_Tensor *TF_AllocateOutput(TF_OpKernelContext *context, int index, TF_DataType dtype, const int64_t *dims,
                             int num_dims, size_t len, TF_Status *status) {
  (void)len;
  Tensor *out;
  if (!check_allocation(context, index, &status->status)) return NULL;
  int declared = dtype_base((int)context->context->output_types[index]);
  if ((int)dtype != declared) {
    status_invalid(&status->status, "Output %d of %s is declared as %s and cannot be allocated as %s", index,
                   context->context->node_name, dtype_name(declared), dtype_name((int)dtype));
    return NULL;
  }
  if (!kernel_allocate_output_dims(context->context, index, num_dims, dims, &out, &status->status))
    return NULL;
  return share_tensor(out, &status->status);
}

/* *input is the candidate whose memory the output uses, or -1. */
static bool forward_or_allocate(KernelContext *context, const int *candidates, int num_candidates, int index,
                                const Shape *shape, Tensor **out, int *input, Status *status) {
  *input = -1;
  for (int i = 0; i < num_candidates; i++) {
    int candidate = candidates[i];
    if (candidate < 0 || candidate >= context->num_inputs ||
        !kernel_may_forward(context, candidate, index, shape))
      continue;
    *input = candidate;
    return kernel_forward_or_allocate(context, candidate, index, shape, out, status);
  }
  return kernel_allocate_output(context, index, shape, out, status);
}

TF_Tensor *TF_ForwardInputOrAllocateOutput(TF_OpKernelContext *context, const int *candidate_input_indices,
                                           int num_candidate_input_indices, int output_index,
                                           const int64_t *output_dims, int output_num_dims,
                                           int *forwarded_input, TF_Status *status) {
  Tensor *out = NULL;
  Shape shape = {0};
  int input = -1;
  if (!check_allocation(context, output_index, &status->status)) return NULL;
  bool ok = shape_set(&shape, output_num_dims, output_dims, &status->status) &&
            forward_or_allocate(context->context, candidate_input_indices, num_candidate_input_indices,
                                output_index, &shape, &out, &input, &status->status);
  shape_clear(&shape);
  if (forwarded_input) *forwarded_input = input;
  return ok ? share_tensor(out, &status->status) : NULL;
}

TF_Tensor *TF_AllocateTemp(TF_OpKernelContext *context, TF_DataType dtype, const int64_t *dims, int num_dims,
                           TF_AllocatorAttributes *alloc_attrs, TF_Status *status) {
  (void)alloc_attrs;
  start_status(status);
  if (!dtype_is_valid((int)dtype) || dtype_is_ref((int)dtype)) {
    status_invalid(&status->status, "%d is no type of tensors", (int)dtype);
    return NULL;
  }
  TF_Tensor *made = mem_calloc(1, sizeof *made);
  if (!made) {
    status_oom(&status->status, "a tensor");
    return NULL;
  }
  if (tensor_allocate_dims(&made->tensor, (DataType)dtype, num_dims, dims, context->context->pool,
                           &status->status)) {
    return made;
  }
  mem_free(made);
  return NULL;
}

void TF_OpKernelContext_Failure(TF_OpKernelContext *ctx, TF_Status *status) {
  if (ctx->failure.code == CODE_OK) ctx->failure = status->status;
}

/* ---- environment ---- */

int64_t TF_StepId(TF_OpKernelContext *ctx) { return kernel_step_id(ctx->context); }

int64_t TF_GetStepId(TF_OpKernelContext *ctx) { return kernel_step_id(ctx->context); }

uint64_t TF_GetFrameId(TF_OpKernelContext *ctx) {
  (void)ctx;
  return 0;
}

int64_t TF_GetIterId(TF_OpKernelContext *ctx) {
  (void)ctx;
  return 0;
}

TF_StringView TF_GetOpKernelName(TF_OpKernelContext *ctx) {
  return (TF_StringView){ctx->context->node_name, strlen(ctx->context->node_name)};
}
