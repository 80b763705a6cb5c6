/* FunctionRuntime: TensorFlow's FunctionLibraryRuntime. Instantiates the functions of a graph's library and
 * runs them.
 *
 *   FunctionRuntime *runtime = function_runtime_new(graph, &environment, &status);
 *   function_runtime_instantiate(runtime, "XTimesTwo", attrs, 1, NULL, &handle, &status);
 *   function_runtime_run(runtime, handle, NULL, &x, 1, &y, 1, &status);
 *
 * A function is instantiated once for each set of attrs, and compiled when it first runs. All its callers
 * share its state (random generators). Use it from one thread at a time. Calls nest: kernels call functions
 * through function_runtime_caller.
 */
#ifndef TFCORE_RUNTIME_FUNCTION_RUNTIME_H_
#define TFCORE_RUNTIME_FUNCTION_RUNTIME_H_

#include <stdatomic.h>

#include "function/call_frame.h"
#include "function/function_body.h"
#include "optimizer/graph_optimizer.h"
#include "runtime/program.h"

typedef struct FunctionRuntime FunctionRuntime;

/* The maximum depth of nested calls; deeper ones fail with INVALID_ARGUMENT. */
enum { FUNCTION_MAX_CALL_DEPTH = 256 };

/* The library and what the environment points to are borrowed; `functions` of the environment is ignored.
 * NULL when out of memory. */
FunctionRuntime *function_runtime_new(Graph *library, const ProgramEnvironment *environment, Status *status);
void function_runtime_free(FunctionRuntime *runtime); /* NULL is fine */
/* Whether functions are optimised, and their calls inlined, when they first run; true by default. Functions
 * that have run keep their programs. */
void function_runtime_optimize(FunctionRuntime *runtime, bool optimize);
/* The interface through which kernels call functions; lives as long as the runtime. */
const FunctionCaller *function_runtime_caller(const FunctionRuntime *runtime);

/* Runs passes over a body of this runtime's library, in place. Of `passes`, the levels, kinds of passes and
 * sizes count. Inlined calls remain one step (InlineOptions). Control results are kept, except for inlined
 * calls, whose nodes with state run anyway. */
MUST_CHECK bool function_runtime_optimize_body(FunctionRuntime *runtime, FunctionBody *body,
                                               const OptimizerOptions *passes, Status *status);
/* Makes the program of a client graph (runtime/client_graph.h): optimises it, unless optimising is off, and
 * compiles it. The body is consumed, on errors too. `kernels` must outlive the program. RESOURCE_EXHAUSTED
 * for functions that call each other without end. */
MUST_CHECK bool function_runtime_compile(FunctionRuntime *runtime, FunctionBody *body, KernelTable *kernels,
                                         Program **program, Status *status);

typedef struct FunctionInstantiateOptions {
  /* instances with different state handles have separate state; NULL or "" is the shared one */
  const char *state_handle;
} FunctionInstantiateOptions;

/* Instantiates a function with these attrs. The same function, attrs and state handle give the same handle,
 * until it has been released as often as it was instantiated. "SymbolicGradient" is the gradient of the
 * function or op in its attr `f`. `options` may be NULL. NOT_FOUND "Function Foo is not defined."; errors in
 * called functions appear when they run. */
MUST_CHECK bool function_runtime_instantiate(FunctionRuntime *runtime, const char *name,
                                             const AttrEntry *const *attrs, int num_attrs,
                                             const FunctionInstantiateOptions *options, int64_t *handle,
                                             Status *status);
/* A new handle for the caller's own body, whose graph must know the functions of this library. On success the
 * body is consumed and must not change any more. */
MUST_CHECK bool function_runtime_add_body(FunctionRuntime *runtime, FunctionBody *body, int64_t *handle,
                                          Status *status);
/* NOT_FOUND "Handle 7 not found.", as all calls that take a handle. */
MUST_CHECK bool function_runtime_release(FunctionRuntime *runtime, int64_t handle, Status *status);
/* The body as instantiated, before optimising; borrowed until the handle is released. */
MUST_CHECK bool function_runtime_body(FunctionRuntime *runtime, int64_t handle, const FunctionBody **body,
                                      Status *status);

typedef struct FunctionRunOptions {
  /* may be NULL. CANCELLED "Function was cancelled before it was started", or, while it runs, "Run call was
   * cancelled". */
  const atomic_bool *cancelled;
} FunctionRunOptions;

/* A frame for calls of that function, valid until the handle is released. Free with call_frame_free. */
MUST_CHECK bool function_runtime_new_frame(FunctionRuntime *runtime, int64_t handle, FunctionCallFrame *frame,
                                           Status *status);
/* Calls the function through a frame whose arguments are set. The arguments are consumed, so that the body
 * may compute in their memory, and results of an earlier call are dropped. `options` may be NULL. */
MUST_CHECK bool function_runtime_run_frame(FunctionRuntime *runtime, int64_t handle,
                                           const FunctionRunOptions *options, FunctionCallFrame *frame,
                                           Status *status);
/* The same with a frame of its own: `args` are borrowed, `rets` empty at entry. INVALID_ARGUMENT "Expects 2
 * arguments, but 0 is provided", "Expects arg[1] to be float but int64 is provided". */
MUST_CHECK bool function_runtime_run(FunctionRuntime *runtime, int64_t handle,
                                     const FunctionRunOptions *options, const Tensor *const *args,
                                     int num_args, Tensor *rets, int num_rets, Status *status);

/* The kernel of a node: its op's, or one that calls the function named by its op. The runtime and `node` must
 * outlive it. */
MUST_CHECK bool function_runtime_create_kernel(FunctionRuntime *runtime, const NodeDef *node,
                                               OpKernel **kernel, Status *status);
/* Whether the op or function of that name is stateful; false when it does not exist. */
bool function_runtime_is_stateful(const FunctionRuntime *runtime, const char *name);

#endif
