#include "op/function_caller.h"

#include "op/kernel.h"
#include "op/node_def.h"

bool function_from_ref(const FunctionCaller *caller, const NameAttrList *ref, CalledFunction *function, Status *status) {
  if (caller == NULL) return status_invalid(status, "Function %s can be called in a session only", ref->name);
  /* All map entries have the same layout: a key and a value. */
  return caller->instantiate(caller->owner, ref->name, (const AttrEntry *const *)ref->attr, (int)ref->n_attr, function, status);
}

bool function_from_attr(const FunctionCaller *caller, const NodeDef *node, const char *attr, CalledFunction *function,
                        Status *status) {
  const AttrValue *value = node_def_attr(node, attr);
  if (value == NULL || value->value_case != (int)ATTR_FUNC) {
    return status_invalid(status, "No attr named '%s' of type func in {{node %s}}", attr, node->name);
  }
  return function_from_ref(caller, value->func, function, status);
}

/* --- calls --- */

bool function_call_construct(const KernelConstruction *construction, void *state, Status *status) {
  const NodeDef *node = construction->node;
  const FunctionCaller *caller = construction->functions;
  if (caller == NULL) return status_invalid(status, "Function %s can be called in a session only", node->op);
  return caller->instantiate(caller->owner, node->op, (const AttrEntry *const *)node->attr, (int)node->n_attr, state, status);
}

bool function_call_construct_f(const KernelConstruction *construction, void *state, Status *status) {
  return function_from_attr(construction->functions, construction->node, "f", state, status);
}

static bool check_results(const KernelContext *context, const CalledFunction *function, Status *status) {
  if (function->num_rets != context->num_outputs) {
    return status_set(status, CODE_INTERNAL, "Expect to produce %d tensors, but only get %d", context->num_outputs, function->num_rets);
  }
  for (int i = 0; i < context->num_outputs; i++) {
    int want = dtype_base((int)context->output_types[i]), have = dtype_base((int)function->ret_types[i]);
    if (want != have) {
      return status_set(status, CODE_INTERNAL, "Expect %d-th output is of type %s but get %s", i, dtype_name(want), dtype_name(have));
    }
  }
  return true;
}

bool function_call_inputs(KernelContext *context, const CalledFunction *function, int first, Status *status) {
  const FunctionCaller *caller = context->functions;
  int num_args = context->num_inputs - first;
  TRY(check_results(context, function, status));
  Buffer *memory = kernel_scratch(context, (num_args + 1) * (int64_t)sizeof(Tensor), status);
  if (memory == NULL) return false;
  Tensor *args = memory->data;
  bool ok = true;
  for (int i = 0; i < num_args; i++) {
    args[i] = (Tensor){0};
    ok = ok && kernel_take_input(context, first + i, &args[i], status);
  }
  if (ok) {
    ok = caller->run(caller->owner, function->handle, args, num_args, context->outputs, context->num_outputs, status);
  } else {
    for (int i = 0; i < num_args; i++) tensor_clear(&args[i]);
  }
  buffer_unref(memory);
  return ok;
}

bool function_call_compute(KernelContext *context, Status *status) {
  return function_call_inputs(context, context->state, 0, status);
}
