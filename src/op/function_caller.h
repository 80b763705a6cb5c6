/* How a kernel calls functions of the graph's library (If, While, PartitionedCall, SymbolicGradient): the
 * runtime that runs the kernel gives it a FunctionCaller. */
#ifndef TFCORE_OP_FUNCTION_CALLER_H_
#define TFCORE_OP_FUNCTION_CALLER_H_

#include "op/step.h"
#include "proto/proto.h"
#include "tensor/tensor.h"

struct KernelConstruction;
struct KernelContext;

/* A function with its attrs bound. Lists are expanded; borrowed from the caller's owner. */
typedef struct CalledFunction {
  int64_t handle;
  const DataType *arg_types, *ret_types;
  int num_args, num_rets;
} CalledFunction;

/* A call under way that paused. */
typedef struct FunctionCall FunctionCall;

typedef struct FunctionCaller {
  void *owner;
  /* The function with these attrs, the same handle for the same function and equal attrs. "SymbolicGradient"
   * is the gradient of the function or op in its attr `f`. Its body is checked but not compiled: what is
   * wrong inside shows when it runs. NOT_FOUND "Function f is not defined." What it gives lives as long as
   * the kernel. */
  bool (*instantiate)(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
                      CalledFunction *function, Status *status);
  /* One call, within `step`. `*call` is NULL to begin it. `args` are taken over, so that the body may compute
   * in their memory: they are empty afterwards, whatever happens. `rets` are empty at entry and, on RUN_DONE,
   * hold the results. INVALID_ARGUMENT when number or types of args or number of rets differ, and when calls
   * are nested too deep. On RUN_WAITING `*call` is the call that paused: run it again, when `args` are not
   * looked at, or abandon it. Else `*call` is NULL. */
  RunState (*run)(void *owner, int64_t handle, FunctionCall **call, Step *step, Tensor *args, int num_args,
                  Tensor *rets, int num_rets, Status *status);
  void (*abandon)(void *owner, FunctionCall *call); /* NULL is fine */
} FunctionCaller;

/* function_caller->instantiate for the function in a node's attr; INVALID_ARGUMENT when there is no such
 * attr, or `caller` is NULL. */
MUST_CHECK bool function_from_attr(const FunctionCaller *caller, const NodeDef *node, const char *attr,
                                   CalledFunction *function, Status *status);
/* The same for a function reference. */
MUST_CHECK bool function_from_ref(const FunctionCaller *caller, const NameAttrList *ref,
                                  CalledFunction *function, Status *status);

/* A call that does not pause, for kernels that cannot. */
MUST_CHECK bool function_call_to_end(const FunctionCaller *caller, int64_t handle, Step *step, Tensor *args,
                                     int num_args, Tensor *rets, int num_rets, Status *status);

/* --- kernels of nodes that are calls: all inputs in, all outputs out --- */

/* Calls the function with inputs [first, num_inputs) and sets all outputs, or pauses: then the kernel has to
 * come here with the same function again. INTERNAL, in TensorFlow's words, when the function's results are
 * not what the node gives. */
MUST_CHECK bool function_call_inputs(struct KernelContext *context, const CalledFunction *function, int first,
                                     Status *status);
/* Kernel functions, with a CalledFunction as state: for a node whose op is a function (or SymbolicGradient),
 * and for one that has the function in its attr `f`. */
bool function_call_construct(const struct KernelConstruction *construction, void *state, Status *status);
bool function_call_construct_f(const struct KernelConstruction *construction, void *state, Status *status);
bool function_call_compute(struct KernelContext *context, Status *status);

#endif
