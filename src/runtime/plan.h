/* Plan: a graph without control flow, made ready to run for one set of feeds, fetches and targets.
 *
 * Calls of functions give way to what the functions do where they can (runtime/expand.h); the others, and the
 * functions of If, While and their like, are called through the environment's FunctionCaller.
 *
 * Compiling prunes the graph to what the fetches and targets need, orders it, leaves out what would be
 * computed twice, computes what depends on constants alone, and makes one kernel for each node that is left.
 * Running is then a walk over an array: each step's inputs and outputs are fixed places, values are dropped
 * behind their last use, and buffers come from the session's pool; the second run with the same shapes
 * allocates nothing.
 */
#ifndef TFCORE_RUNTIME_PLAN_H_
#define TFCORE_RUNTIME_PLAN_H_

#include "graph/graph.h"
#include "op/kernel.h"
#include "optimizer/inline_functions.h"
#include "runtime/call_sites.h"

typedef struct Plan Plan;

/* What a plan is for. The order of feeds and fetches is the order of the values that plan_run takes and
 * gives. */
typedef struct PlanSpec {
  const NodeOutput *feeds;
  int num_feeds;
  const NodeOutput *fetches;
  int num_fetches;
  Node *const *targets;
  int num_targets;
  bool is_function; /* feeds may be fetched, and there need not be anything to do */
  bool any_shapes;  /* what is fed may have other shapes than the graph knows */
} PlanSpec;

/* Where the kernels are kept that all plans of a session share: those with state (random generators,
 * handles), and constants. `find` gives the kernel that was stored for the node, or NULL; `store` takes a new
 * one over. `inlined` is the name of the node in the body of the function that `node` calls, to any depth;
 * NULL for the node itself. */
typedef struct KernelCache {
  OpKernel *(*find)(void *owner, const Node *node, const char *inlined);
  bool (*store)(void *owner, const Node *node, const char *inlined, OpKernel *kernel, Status *status);
  void *owner;
  Arena *arena; /* lives as long as the kernels */
} KernelCache;

/* What runs of a plan share; all borrowed. */
typedef struct PlanEnvironment {
  bool unoptimized; /* nothing is computed while the plan is made, and nothing merged */
  BufferPool *pool;
  ResourceManager *resources;
  const Parallel *parallel;
  const FunctionCaller *functions;  /* NULL: kernels that call functions fail */
  const FunctionBodySource *bodies; /* NULL: nothing is inlined */
  const CallSites *sites;           /* of nodes that were inlined before; may be NULL */
} PlanEnvironment;

/* The graph must outlive the plan. Errors: INVALID_ARGUMENT in TensorFlow's words for a bad spec (an output
 * fed twice, both fed and fetched, nothing to do), a cycle, an input that is not connected; NOT_FOUND for an
 * op without a kernel. */
MUST_CHECK bool plan_compile(const Graph *graph, const PlanSpec *spec, const KernelCache *kernels,
                             const PlanEnvironment *environment, Plan **plan, Status *status);
void plan_free(Plan *plan); /* NULL is fine */

/* A run of a plan that is under way. Several of one plan may be, also within each other. */
typedef struct PlanRun PlanRun;

/* Begins a run. `feed_values` are borrowed until this returns; their dtypes have been checked. */
MUST_CHECK bool plan_begin(Plan *plan, const Tensor *const *feed_values, PlanRun **run, Status *status);
/* The same for the plan of a function, whose feeds are its arguments: they are taken over, and empty
 * afterwards whatever happens. */
MUST_CHECK bool plan_begin_call(Plan *plan, Tensor *args, PlanRun **run, Status *status);
/* Runs the kernels until all have run, or the step (op/step.h) pauses or ends; at least one kernel, or piece of
 * one. `fetch_values` are empty at entry and, on RUN_DONE, hold references to the results. The first error ends
 * the run. Unless it is RUN_WAITING, the run is over: all its values are dropped, and the pointer is stale. One
 * thread at a time may advance runs of a plan. */
RunState plan_advance(PlanRun *run, Step *step, Tensor *fetch_values, Status *status);
/* Ends a run that waits. NULL is fine. */
void plan_abandon(PlanRun *run);

/* Kernels that a run executes, without those that were computed when the plan was made. */
int64_t plan_num_steps(const Plan *plan);

#endif
