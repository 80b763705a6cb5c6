/* What compiling (plan_compile.c) leaves for running (plan.c). */
#ifndef TFCORE_RUNTIME_PLAN_INTERNAL_H_
#define TFCORE_RUNTIME_PLAN_INTERNAL_H_

#include "runtime/plan.h"

/* An input that wants the value of what a reference refers to, at the moment when the step begins; or the
 * reference itself, of something that has a value. */
typedef struct PlanRead {
  const Tensor *reference;
  Tensor *value;    /* NULL: it only has to be there */
  const char *name; /* of the reference, for messages */
} PlanRead;

/* One kernel in its place. The context's pointers lead into the plan's values and never change. */
typedef struct PlanStep {
  const OpKernel *kernel;
  const char *callers; /* of a node of an inlined function: see CallSite; else NULL */
  KernelContext context;
  PlanRead *reads;
  int num_reads;
  Tensor **dead; /* values that nobody reads after this step */
  int num_dead;
} PlanStep;

/* One run: its values, the steps that lead into them, and where it is. */
struct PlanRun {
  Plan *plan;
  int64_t position; /* the step that runs next, or that paused */
  PlanStep *steps;
  Tensor *values;         /* of feeds, of the steps' outputs and of their reads; empty between runs */
  Tensor **feed_values;   /* into `values`; NULL when nothing reads the feed */
  Tensor **fetch_values;  /* into `values` or the constants */
  struct PlanRun *next;   /* unused as well */
};

struct Plan {
  Arena *arena;
  PlanRun first;   /* what compiling makes */
  PlanRun *unused; /* runs that are not under way: this one, and copies that nested runs needed */
  int64_t num_steps, num_values;
  Tensor *constants; /* computed when the plan was made */
  int64_t num_constants;
  int num_feeds, num_fetches;
  const char **fetched_references; /* per fetch: the name of a reference whose value is fetched; else NULL */
  Graph *expanded;    /* where the nodes are of which its kernels were made; NULL: in the session's graph */
  OpKernel **kernels; /* the plan's own */
  int64_t num_kernels;
};

/* Index in the first run's values, or -1 for a constant. */
static inline int64_t plan_value_index(const Plan *plan, const Tensor *place) {
  const Tensor *values = plan->first.values;
  return place >= values && place < values + plan->num_values ? place - values : -1;
}

#endif
