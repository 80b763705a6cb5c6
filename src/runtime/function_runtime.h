/* FunctionRuntime: TensorFlow's FunctionLibraryRuntime. Instantiates the functions of a graph's library and
 * runs them.
 *
 *   FunctionRuntime *runtime = function_runtime_new(graph, &environment, &status);
 *   function_runtime_instantiate(runtime, "XTimesTwo", attrs, 1, NULL, &handle, &status);
 *   function_runtime_run(runtime, handle, NULL, &x, 1, &y, 1, &status);
 *
 * A function with its attrs is instantiated once and made a program when it first runs. Its state (random
 * generators) lives with it, so all that call it share it. One thread at a time, but calls nest: kernels call
 * functions through function_runtime_caller.
 */
#ifndef TFCORE_RUNTIME_FUNCTION_RUNTIME_H_
#define TFCORE_RUNTIME_FUNCTION_RUNTIME_H_

#include <stdatomic.h>

#include "function/call_frame.h"
#include "function/function_body.h"
#include "optimizer/graph_optimizer.h"
#include "runtime/program.h"

typedef struct FunctionRuntime FunctionRuntime;

/* Calls in calls, this deep at most: more is INVALID_ARGUMENT. */
enum { FUNCTION_MAX_CALL_DEPTH = 256 };

/* The library and what the environment points to are borrowed; the environment's `functions` is not looked
 * at. NULL when out of memory. */
FunctionRuntime *function_runtime_new(Graph *library, const ProgramEnvironment *environment, Status *status);
void function_runtime_free(FunctionRuntime *runtime); /* NULL is fine */
/* Whether functions that run for the first time from now on are optimised, and the functions that they call
 * inlined; true at first. */
void function_runtime_optimize(FunctionRuntime *runtime, bool optimize);
/* What kernels call functions through; lives as long as the runtime. */
const FunctionCaller *function_runtime_caller(const FunctionRuntime *runtime);

/* Runs passes over a body of this runtime's library, in place; of `passes` the fields about levels, kinds of
 * passes and sizes count. Calls are inlined so that they stay one step (InlineOptions). Control results stay,
 * but for calls that were inlined: what has state in them runs anyway. */
MUST_CHECK bool function_runtime_optimize_body(FunctionRuntime *runtime, FunctionBody *body,
                                               const OptimizerOptions *passes, Status *status);
/* Makes the program of a client graph (runtime/client_graph.h): optimises it, unless the runtime does not,
 * and compiles it. The body is taken over, whatever happens. `kernels` outlives the program.
 * RESOURCE_EXHAUSTED for functions that call others without an end. */
MUST_CHECK bool function_runtime_compile(FunctionRuntime *runtime, FunctionBody *body, KernelTable *kernels,
                                         Program **program, Status *status);

typedef struct FunctionInstantiateOptions {
  /* instances with another one have state of their own; NULL or "": the common one */
  const char *state_handle;
} FunctionInstantiateOptions;

/* The handle of a function with these attrs; the same one for the same function, equal attrs and state
 * handle, until it has been released as often as it was asked for. "SymbolicGradient" is the gradient of the
 * function or op in its attr `f`. `options` may be NULL. NOT_FOUND "Function Foo is not defined."; errors in
 * the functions that it calls show when it runs. */
MUST_CHECK bool function_runtime_instantiate(FunctionRuntime *runtime, const char *name,
                                             const AttrEntry *const *attrs, int num_attrs,
                                             const FunctionInstantiateOptions *options, int64_t *handle,
                                             Status *status);
/* A handle of its own for a body that somebody made, whose graph knows the functions of the same library. It
 * is taken over, on success only, and must not change any more. */
MUST_CHECK bool function_runtime_add_body(FunctionRuntime *runtime, FunctionBody *body, int64_t *handle,
                                          Status *status);
/* NOT_FOUND "Handle 7 not found.", as from all calls that take one. */
MUST_CHECK bool function_runtime_release(FunctionRuntime *runtime, int64_t handle, Status *status);
/* The body as it was instantiated, before anything was optimised; borrowed until the handle is released. */
MUST_CHECK bool function_runtime_body(FunctionRuntime *runtime, int64_t handle, const FunctionBody **body,
                                      Status *status);

typedef struct FunctionRunOptions {
  /* NULL: never. CANCELLED "Function was cancelled before it was started", or, while it runs, "Run call was
   * cancelled". */
  const atomic_bool *cancelled;
} FunctionRunOptions;

/* A frame for calls of that function, until the handle is released. Free with call_frame_free. */
MUST_CHECK bool function_runtime_new_frame(FunctionRuntime *runtime, int64_t handle, FunctionCallFrame *frame,
                                           Status *status);
/* One call through a frame whose arguments have been set: they are taken over, so that the body may compute
 * in their memory, and results of an earlier call are dropped. `options` may be NULL. */
MUST_CHECK bool function_runtime_run_frame(FunctionRuntime *runtime, int64_t handle,
                                           const FunctionRunOptions *options, FunctionCallFrame *frame,
                                           Status *status);
/* The same with a frame of its own: `args` are borrowed, `rets` empty at entry. INVALID_ARGUMENT "Expects 2
 * arguments, but 0 is provided", "Expects arg[1] to be float but int64 is provided". */
MUST_CHECK bool function_runtime_run(FunctionRuntime *runtime, int64_t handle,
                                     const FunctionRunOptions *options, const Tensor *const *args,
                                     int num_args, Tensor *rets, int num_rets, Status *status);

/* The kernel of a node: of its op, or one that calls the function that its op is. The runtime must outlive
 * it, and so must `node`. */
MUST_CHECK bool function_runtime_create_kernel(FunctionRuntime *runtime, const NodeDef *node,
                                               OpKernel **kernel, Status *status);
/* Whether an op or function of the library has state; false when there is none. */
bool function_runtime_is_stateful(const FunctionRuntime *runtime, const char *name);

#endif
