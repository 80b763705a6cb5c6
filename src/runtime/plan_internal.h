/* What compiling (plan_compile.c) leaves for running (plan.c). */
#ifndef TFCORE_RUNTIME_PLAN_INTERNAL_H_
#define TFCORE_RUNTIME_PLAN_INTERNAL_H_

#include "runtime/plan.h"

/* One kernel in its place. The context's pointers lead into the plan's values and never change. */
typedef struct PlanStep {
  const OpKernel *kernel;
  KernelContext context;
  Tensor **dead; /* values that nobody reads after this step */
  int num_dead;
} PlanStep;

struct Plan {
  Arena *arena;
  PlanStep *steps;
  int64_t num_steps;
  Tensor *values; /* of feeds and of the steps' outputs; empty between runs */
  int64_t num_values;
  Tensor *constants; /* computed when the plan was made */
  int64_t num_constants;
  Tensor **feed_values; /* into `values`; NULL when nothing reads the feed */
  int num_feeds;
  Tensor **fetch_values; /* into `values` or `constants` */
  int num_fetches;
  Graph *expanded;    /* where the nodes are of which its kernels were made; NULL: in the session's graph */
  OpKernel **kernels; /* the plan's own */
  int64_t num_kernels;
};

#endif
