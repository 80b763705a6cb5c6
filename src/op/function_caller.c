#include "op/function_caller.h"

#include "op/kernel.h"
#include "op/node_def.h"

bool function_from_ref(const FunctionCaller *caller, const NameAttrList *ref, CalledFunction *function,
                       Status *status) {
  if (!caller) return status_invalid(status, "Function %s can be called in a session only", ref->name);
  /* All map entries have the same layout: a key and a value. */
  return caller->instantiate(caller->owner, ref->name, (const AttrEntry *const *)ref->attr, (int)ref->n_attr,
                             function, status);
}

bool function_from_attr(const FunctionCaller *caller, const NodeDef *node, const char *attr,
                        CalledFunction *function, Status *status) {
  const AttrValue *value = node_def_attr(node, attr);
  if (!value || value->value_case != (int)ATTR_FUNC) {
    return status_invalid(status, "No attr named '%s' of type func in {{node %s}}", attr, node->name);
  }
  return function_from_ref(caller, value->func, function, status);
}

/* --- calls --- */

bool function_call_construct(const KernelConstruction *construction, void *state, Status *status) {
  const NodeDef *node = construction->node;
  const FunctionCaller *caller = construction->functions;
  if (!caller) return status_invalid(status, "Function %s can be called in a session only", node->op);
  return caller->instantiate(caller->owner, node->op, (const AttrEntry *const *)node->attr, (int)node->n_attr,
                             state, status);
}

bool function_call_construct_f(const KernelConstruction *construction, void *state, Status *status) {
  return function_from_attr(construction->functions, construction->node, "f", state, status);
}

static bool check_results(const KernelContext *context, const CalledFunction *function, Status *status) {
  if (function->num_rets != context->num_outputs) {
    return status_set(status, CODE_INTERNAL, "Expect to produce %d tensors, but only get %d",
                      context->num_outputs, function->num_rets);
  }
  for (int i = 0; i < context->num_outputs; i++) {
    int want = dtype_base((int)context->output_types[i]), have = dtype_base((int)function->ret_types[i]);
    if (want != have) {
      return status_set(status, CODE_INTERNAL, "Expect %d-th output is of type %s but get %s", i,
                        dtype_name(want), dtype_name(have));
    }
  }
  return true;
}

/* A call with all inputs, in the same allocation as its arguments. */
typedef struct InputsCall {
  PausedKernel paused;
  Buffer *memory;
  const FunctionCaller *caller;
  FunctionCall *call;
} InputsCall;

static void end_inputs_call(InputsCall *inputs) { buffer_unref(inputs->memory); }

static void abandon_inputs_call(PausedKernel *paused) {
  InputsCall *inputs = (InputsCall *)paused;
  inputs->caller->abandon(inputs->caller->owner, inputs->call);
  end_inputs_call(inputs);
}

static Tensor *call_args(InputsCall *inputs) { return (Tensor *)(inputs + 1); }

/* Consumes the kernel's inputs from `first` on as arguments. NULL with status on error. */
static InputsCall *begin_inputs_call(KernelContext *context, int first, Status *status) {
  int num_args = context->num_inputs - first;
  Buffer *memory =
      kernel_scratch(context, (int64_t)sizeof(InputsCall) + num_args * (int64_t)sizeof(Tensor), status);
  if (!memory) return NULL;
  InputsCall *inputs = memory->data;
  *inputs = (InputsCall){{abandon_inputs_call}, memory, context->functions, NULL};
  Tensor *args = call_args(inputs);
  bool ok = true;
  for (int i = 0; i < num_args; i++) {
    args[i] = (Tensor){0};
    ok = ok && kernel_take_input(context, first + i, &args[i], status);
  }
  if (ok) return inputs;
  for (int i = 0; i < num_args; i++) tensor_clear(&args[i]);
  end_inputs_call(inputs);
  return NULL;
}

bool function_call_inputs(KernelContext *context, const CalledFunction *function, int first, Status *status) {
  InputsCall *inputs = (InputsCall *)context->paused;
  context->paused = NULL;
  if (!inputs) {
    TRY(check_results(context, function, status));
    inputs = begin_inputs_call(context, first, status);
    if (!inputs) return false;
  }
  const FunctionCaller *caller = inputs->caller;
  RunState state =
      caller->run(caller->owner, function->handle, &inputs->call, context->step, call_args(inputs),
                  context->num_inputs - first, context->outputs, context->num_outputs, status);
  if (state == RUN_WAITING) {
    context->paused = &inputs->paused;
  } else {
    end_inputs_call(inputs);
  }
  return state != RUN_FAILED;
}

bool function_call_to_end(const FunctionCaller *caller, int64_t handle, Step *step, Tensor *args,
                          int num_args, Tensor *rets, int num_rets, Status *status) {
  FunctionCall *call = NULL;
  int64_t pause_at = step->pause_at;
  step->pause_at = INT64_MAX;
  RunState state = caller->run(caller->owner, handle, &call, step, args, num_args, rets, num_rets, status);
  step->pause_at = pause_at;
  if (state != RUN_WAITING) return state == RUN_DONE;
  caller->abandon(caller->owner, call);
  return status_set(status, CODE_FAILED_PRECONDITION,
                    "A function that waits for another step cannot be called here");
}

bool function_call_compute(KernelContext *context, Status *status) {
  return function_call_inputs(context, context->state, 0, status);
}
