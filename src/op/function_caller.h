/* FunctionCaller: the interface through which kernels (If, While, PartitionedCall, SymbolicGradient) call
 * functions of the graph's library. The runtime that runs the kernel provides it. */
#ifndef TFCORE_OP_FUNCTION_CALLER_H_
#define TFCORE_OP_FUNCTION_CALLER_H_

#include "op/step.h"
#include "proto/proto.h"
#include "tensor/tensor.h"

struct KernelConstruction;
struct KernelContext;

/* A function with bound attrs. Lists are expanded. Borrowed from the FunctionCaller's owner. */
typedef struct CalledFunction {
  int64_t handle;
  const DataType *arg_types, *ret_types;
  int num_args, num_rets;
} CalledFunction;

/* A call that has paused. */
typedef struct FunctionCall FunctionCall;

typedef struct FunctionCaller {
  void *owner;
  /* The function with these attrs; the same function and equal attrs give the same handle. "SymbolicGradient"
   * is the gradient of the function or op in its attr `f`. The body is checked but not compiled: errors
   * inside appear when it runs. NOT_FOUND "Function f is not defined." The result lives as long as the
   * kernel. */
  bool (*instantiate)(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
                      CalledFunction *function, Status *status);
  /* One call, within `step`. `*call` is NULL to begin it. `args` are consumed, on errors too, so that the
   * body may compute in their memory. `rets` are empty at entry and, on RUN_DONE, hold the results.
   * INVALID_ARGUMENT when the number or types of args or the number of rets differ, and when calls are nested
   * too deep. On RUN_WAITING `*call` is the paused call: run it again, which ignores `args`, or abandon it.
   * Otherwise `*call` is NULL. */
  RunState (*run)(void *owner, int64_t handle, FunctionCall **call, Step *step, Tensor *args, int num_args,
                  Tensor *rets, int num_rets, Status *status);
  void (*abandon)(void *owner, FunctionCall *call); /* NULL is fine */
} FunctionCaller;

/* function_caller->instantiate for the function in a node's attr; INVALID_ARGUMENT when the attr is missing
 * or `caller` is NULL. */
MUST_CHECK bool function_from_attr(const FunctionCaller *caller, const NodeDef *node, const char *attr,
                                   CalledFunction *function, Status *status);
/* The same for a function reference. */
MUST_CHECK bool function_from_ref(const FunctionCaller *caller, const NameAttrList *ref,
                                  CalledFunction *function, Status *status);

/* A call that runs to its end, for kernels that cannot pause. */
MUST_CHECK bool function_call_to_end(const FunctionCaller *caller, int64_t handle, Step *step, Tensor *args,
                                     int num_args, Tensor *rets, int num_rets, Status *status);

/* --- kernels of nodes that are calls: all inputs are arguments, all outputs are results --- */

/* Calls the function with inputs [first, num_inputs) and sets all outputs, or pauses: then the kernel must
 * return and, when it runs again, call this with the same function. INTERNAL, in TensorFlow's words, when the
 * function's results do not match the node's outputs. */
MUST_CHECK bool function_call_inputs(struct KernelContext *context, const CalledFunction *function, int first,
                                     Status *status);
/* Kernel functions with a CalledFunction as state: the first for a node whose op is a function (or
 * SymbolicGradient), the second for a node with the function in its attr `f`. */
bool function_call_construct(const struct KernelConstruction *construction, void *state, Status *status);
bool function_call_construct_f(const struct KernelConstruction *construction, void *state, Status *status);
bool function_call_compute(struct KernelContext *context, Status *status);

#endif
