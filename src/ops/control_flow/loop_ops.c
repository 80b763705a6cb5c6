/* While and For: loops whose body is a function. */
#include "op/node_def.h"
#include "ops/control_flow/functional_ops.h"

/* The state of a loop, followed in the same allocation by its tensors. It may pause between iterations, and
 * within the functions that it calls. */
typedef struct Loop {
  PausedKernel paused;
  Buffer *memory;
  const FunctionCaller *caller;
  FunctionCall *call; /* the paused call of cond or body */
  bool in_body;
  int64_t counter; /* of a For */
  Tensor *values;  /* the loop variables */
  Tensor *results; /* the results of the body */
  Tensor *args;    /* the arguments of cond, and of a body with one more argument */
  int count;
} Loop;

static void loop_free(Loop *loop) {
  for (int i = 0; i < 3 * loop->count + 1; i++) tensor_clear(&loop->values[i]);
  buffer_unref(loop->memory);
}

static void loop_abandon(PausedKernel *paused) {
  Loop *loop = (Loop *)paused;
  loop->caller->abandon(loop->caller->owner, loop->call);
  loop_free(loop);
}

/* Begins a loop whose variables are the inputs from `first` on. NULL with status on error. */
static Loop *loop_new(KernelContext *context, int first, Status *status) {
  int count = context->num_inputs - first;
  int64_t total = 3 * (int64_t)count + 1;
  Buffer *memory = kernel_scratch(context, (int64_t)sizeof(Loop) + total * (int64_t)sizeof(Tensor), status);
  if (!memory) return NULL;
  Loop *loop = memory->data;
  Tensor *values = (Tensor *)(loop + 1);
  *loop = (Loop){.paused = {loop_abandon},
                 .memory = memory,
                 .caller = context->functions,
                 .count = count,
                 .values = values,
                 .results = values + count,
                 .args = values + 2 * (int64_t)count};
  for (int64_t i = 0; i < total; i++) values[i] = (Tensor){0};
  for (int i = 0; i < count; i++) {
    if (kernel_take_input(context, first + i, &values[i], status)) continue;
    loop_free(loop);
    return NULL;
  }
  return loop;
}

/* The results become the loop variables. */
static void loop_advance(Loop *loop) {
  for (int i = 0; i < loop->count; i++) tensor_move(&loop->values[i], &loop->results[i]);
}

/* Ends this run of the kernel: the loop pauses, or it is done and its variables are the outputs. */
static bool loop_leave(KernelContext *context, Loop *loop, RunState state) {
  context->paused = NULL;
  if (state == RUN_WAITING) {
    context->paused = &loop->paused;
    return true;
  }
  for (int i = 0; state == RUN_DONE && i < loop->count; i++)
    tensor_move(&context->outputs[i], &loop->values[i]);
  loop_free(loop);
  return state == RUN_DONE;
}

/* Calls `function`, or resumes the paused call. */
static RunState loop_call(KernelContext *context, Loop *loop, const CalledFunction *function, Tensor *args,
                          int num_args, Tensor *rets, int num_rets, Status *status) {
  const FunctionCaller *caller = loop->caller;
  return caller->run(caller->owner, function->handle, &loop->call, context->step, args, num_args, rets,
                     num_rets, status);
}

static bool check_num_results(const CalledFunction *body, const char *kind, const Loop *loop,
                              Status *status) {
  if (body->num_rets == loop->count) return true;
  return status_invalid(status, "%s loop body returned %d arguments. Expected: %d", kind, body->num_rets,
                        loop->count);
}

/* --- While --- */

typedef struct WhileState {
  CalledFunction cond, body;
} WhileState;

static bool while_construct(const KernelConstruction *construction, void *memory, Status *status) {
  WhileState *state = memory;
  TRY(function_from_attr(construction->functions, construction->node, "cond", &state->cond, status));
  return function_from_attr(construction->functions, construction->node, "body", &state->body, status);
}

static RunState ask_cond(KernelContext *context, const CalledFunction *cond, Loop *loop, bool *go_on,
                         Status *status) {
  Tensor result = {0};
  if (cond->num_rets != 1) {
    status_invalid(status, "Expected a single scalar return value from WhileOp cond, got %d tensors.",
                   cond->num_rets);
    return RUN_FAILED;
  }
  for (int i = 0; i < loop->count && !loop->call; i++) {
    if (!tensor_assign(&loop->args[i], &loop->values[i], status)) return RUN_FAILED;
  }
  RunState state = loop_call(context, loop, cond, loop->args, loop->count, &result, 1, status);
  if (state == RUN_DONE && !tensor_to_bool(&result, go_on, status)) state = RUN_FAILED;
  tensor_clear(&result);
  return state;
}

/* Continues from the current state until the loop ends or pauses. */
static RunState run_while(KernelContext *context, const WhileState *state, Loop *loop, Status *status) {
  for (;;) {
    if (!loop->in_body) {
      bool go_on = false;
      RunState asked = ask_cond(context, &state->cond, loop, &go_on, status);
      if (asked != RUN_DONE || !go_on) return asked;
      if (!check_num_results(&state->body, "While", loop, status)) return RUN_FAILED;
      loop->in_body = true;
    }
    RunState ran =
        loop_call(context, loop, &state->body, loop->values, loop->count, loop->results, loop->count, status);
    if (ran != RUN_DONE) return ran;
    loop_advance(loop);
    loop->in_body = false;
    RunState checked = step_checkpoint(context->step, status);
    if (checked != RUN_DONE) return checked;
  }
}

static bool while_kernel(KernelContext *context, Status *status) {
  const WhileState *state = context->state;
  Loop *loop = (Loop *)context->paused;
  if (!loop) {
    loop = loop_new(context, 0, status);
    if (!loop) return false;
  }
  return loop_leave(context, loop, run_while(context, state, loop, status));
}

/* Without output_shapes the outputs are assumed to have the inputs' shapes, although a body may change
 * them. */
static bool while_shape(InferenceContext *c, Status *status) {
  const AttrValue *shapes = node_def_attr(c->node, "output_shapes");
  if (!c->assumed || (shapes && shapes->list && shapes->list->n_shape > 0))
    return output_shapes_attr(c, status);
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, shape_input(c, i));
  *c->assumed = true;
  return true;
}

const OpRegistration kOpWhile = {
    .name = "While",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: list(type) >= 0", "cond: func", "body: func", "output_shapes: list(shape) = []",
              "parallel_iterations: int = 10"},
    .is_stateful = true,
    .shape = while_shape,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(WhileState),
    .construct = while_construct,
    .kernels = {{DT_INVALID, while_kernel}},
};

const OpRegistration kOpStatelessWhile = {
    .name = "StatelessWhile",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: list(type) >= 0", "cond: func", "body: func", "output_shapes: list(shape) = []",
              "parallel_iterations: int = 10"},
    .shape = while_shape,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(WhileState),
    .construct = while_construct,
    .kernels = {{DT_INVALID, while_kernel}},
};

/* What 1.x calls While. */
const OpRegistration kOp_While = {
    .name = "_While",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: list(type) >= 0", "cond: func", "body: func"},
    .is_stateful = true,
    .shape = while_shape,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(WhileState),
    .construct = while_construct,
    .kernels = {{DT_INVALID, while_kernel}},
};

/* --- For --- */

static bool for_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return function_from_attr(construction->functions, construction->node, "body", memory, status);
}

static bool loop_bound(const KernelContext *context, int input, const char *name, int64_t *value,
                       Status *status) {
  const Tensor *tensor = context->inputs[input];
  if (!tensor_is_scalar(tensor)) {
    char shape[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "%s must be a scalar, but %s", name, shape_text(&tensor->shape, shape));
  }
  *value = *tensor_i32(tensor);
  return true;
}

/* The arguments of an iteration: the counter, and the loop variables. */
static bool set_round(KernelContext *context, Loop *loop, Status *status) {
  TRY(tensor_allocate_dims(&loop->args[0], DT_INT32, 0, NULL, context->pool, status));
  *tensor_i32(&loop->args[0]) = (int32_t)loop->counter;
  for (int k = 0; k < loop->count; k++) tensor_move(&loop->args[k + 1], &loop->values[k]);
  return true;
}

typedef struct Bounds {
  int64_t start, limit, delta;
} Bounds;

static bool read_bounds(const KernelContext *context, Bounds *bounds, Status *status) {
  TRY(loop_bound(context, 0, "start", &bounds->start, status));
  TRY(loop_bound(context, 1, "limit", &bounds->limit, status));
  TRY(loop_bound(context, 2, "delta", &bounds->delta, status));
  int64_t start = bounds->start, limit = bounds->limit, delta = bounds->delta;
  if ((delta > 0 && start <= limit) || (delta < 0 && start >= limit) || (delta == 0 && start == limit))
    return true;
  return status_invalid(status, "Invalid start/limit/delta: %lld %lld %lld", (long long)start,
                        (long long)limit, (long long)delta);
}

/* Continues from the current state until the loop ends or pauses. */
static RunState run_for(KernelContext *context, const CalledFunction *body, const Bounds *bounds, Loop *loop,
                        Status *status) {
  while (bounds->delta > 0 ? loop->counter < bounds->limit : loop->counter > bounds->limit) {
    if (!check_num_results(body, "For", loop, status)) return RUN_FAILED;
    if (!loop->call && !set_round(context, loop, status)) return RUN_FAILED;
    RunState ran =
        loop_call(context, loop, body, loop->args, loop->count + 1, loop->results, loop->count, status);
    if (ran != RUN_DONE) return ran;
    loop_advance(loop);
    loop->counter += bounds->delta;
    RunState checked = step_checkpoint(context->step, status);
    if (checked != RUN_DONE) return checked;
  }
  return RUN_DONE;
}

static bool for_kernel(KernelContext *context, Status *status) {
  Bounds bounds = {0};
  Loop *loop = (Loop *)context->paused;
  TRY(read_bounds(context, &bounds, status));
  if (!loop) {
    loop = loop_new(context, 3, status);
    if (!loop) return false;
    loop->counter = bounds.start;
  }
  return loop_leave(context, loop, run_for(context, context->state, &bounds, loop, status));
}

/* The body's effect on shapes is unknown before it runs. */
const OpRegistration kOpFor = {
    .name = "For",
    .inputs = {"start: int32", "limit: int32", "delta: int32", "input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: list(type) >= 0", "body: func"},
    .shape = shape_unknown_outputs,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CalledFunction),
    .construct = for_construct,
    .kernels = {{DT_INVALID, for_kernel}},
};
