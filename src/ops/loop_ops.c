/* While and For: loops whose body is a function. */
#include "op/node_def.h"
#include "ops/functional_ops.h"

/* The values that go round a loop, in memory of their own. */
typedef struct LoopState {
  Buffer *memory;
  Tensor *values;  /* of this round */
  Tensor *results; /* of the body */
  Tensor *args;    /* of cond, and of a body that takes one value more */
  int count;
} LoopState;

static bool loop_begin(KernelContext *context, int first, LoopState *loop, Status *status) {
  loop->count = context->num_inputs - first;
  int64_t total = 3 * (int64_t)loop->count + 1;
  loop->memory = kernel_scratch(context, total * (int64_t)sizeof(Tensor), status);
  if (loop->memory == NULL) return false;
  loop->values = loop->memory->data;
  loop->results = loop->values + loop->count;
  loop->args = loop->results + loop->count;
  for (int64_t i = 0; i < total; i++) loop->values[i] = (Tensor){0};
  for (int i = 0; i < loop->count; i++) TRY(kernel_take_input(context, first + i, &loop->values[i], status));
  return true;
}

/* The results become the values. */
static void loop_advance(LoopState *loop) {
  for (int i = 0; i < loop->count; i++) tensor_move(&loop->values[i], &loop->results[i]);
}

static void loop_end(KernelContext *context, LoopState *loop, bool ok) {
  if (loop->memory == NULL) return;
  for (int i = 0; ok && i < loop->count; i++) tensor_move(&context->outputs[i], &loop->values[i]);
  for (int i = 0; i < 3 * loop->count + 1; i++) tensor_clear(&loop->values[i]);
  buffer_unref(loop->memory);
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

static bool ask_cond(KernelContext *context, const CalledFunction *cond, LoopState *loop, bool *go_on, Status *status) {
  const FunctionCaller *caller = context->functions;
  Tensor result = {0};
  if (cond->num_rets != 1) {
    return status_invalid(status, "Expected a single scalar return value from WhileOp cond, got %d tensors.", cond->num_rets);
  }
  for (int i = 0; i < loop->count; i++) TRY(tensor_assign(&loop->args[i], &loop->values[i], status));
  bool ok = caller->run(caller->owner, cond->handle, loop->args, loop->count, &result, 1, status) &&
            tensor_to_bool(&result, go_on, status);
  tensor_clear(&result);
  return ok;
}

static bool run_while(KernelContext *context, const WhileState *state, LoopState *loop, Status *status) {
  const FunctionCaller *caller = context->functions;
  for (;;) {
    bool go_on = false;
    TRY(ask_cond(context, &state->cond, loop, &go_on, status));
    if (!go_on) return true;
    if (state->body.num_rets != loop->count) {
      return status_invalid(status, "While loop body returned %d arguments. Expected: %d", state->body.num_rets, loop->count);
    }
    TRY(caller->run(caller->owner, state->body.handle, loop->values, loop->count, loop->results, loop->count, status));
    loop_advance(loop);
  }
}

static bool while_kernel(KernelContext *context, Status *status) {
  LoopState loop = {0};
  bool ok = loop_begin(context, 0, &loop, status) && run_while(context, context->state, &loop, status);
  loop_end(context, &loop, ok);
  return ok;
}

REGISTER_OP(While,
  .inputs = {"input: T"},
  .outputs = {"output: T"},
  .attrs = {"T: list(type) >= 0", "cond: func", "body: func", "output_shapes: list(shape) = []", "parallel_iterations: int = 10"},
  .is_stateful = true,
  .shape = output_shapes_attr,
  .gradient = FUNCTIONAL_GRADIENT,
  .state_size = sizeof(WhileState),
  .construct = while_construct,
  .kernels = {{DT_INVALID, while_kernel}})

REGISTER_OP(StatelessWhile,
  .inputs = {"input: T"},
  .outputs = {"output: T"},
  .attrs = {"T: list(type) >= 0", "cond: func", "body: func", "output_shapes: list(shape) = []", "parallel_iterations: int = 10"},
  .shape = output_shapes_attr,
  .gradient = FUNCTIONAL_GRADIENT,
  .state_size = sizeof(WhileState),
  .construct = while_construct,
  .kernels = {{DT_INVALID, while_kernel}})

/* --- For --- */

static bool for_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return function_from_attr(construction->functions, construction->node, "body", memory, status);
}

static bool loop_bound(const KernelContext *context, int input, const char *name, int64_t *value, Status *status) {
  const Tensor *tensor = context->inputs[input];
  if (!tensor_is_scalar(tensor)) {
    char shape[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "%s must be a scalar, but %s", name, shape_text(&tensor->shape, shape));
  }
  *value = *tensor_i32(tensor);
  return true;
}

static bool run_for(KernelContext *context, const CalledFunction *body, LoopState *loop, Status *status) {
  const FunctionCaller *caller = context->functions;
  int64_t start = 0, limit = 0, delta = 0;
  TRY(loop_bound(context, 0, "start", &start, status));
  TRY(loop_bound(context, 1, "limit", &limit, status));
  TRY(loop_bound(context, 2, "delta", &delta, status));
  if (!((delta > 0 && start <= limit) || (delta < 0 && start >= limit) || (delta == 0 && start == limit))) {
    return status_invalid(status, "Invalid start/limit/delta: %lld %lld %lld", (long long)start, (long long)limit, (long long)delta);
  }
  for (int64_t i = start; delta > 0 ? i < limit : i > limit; i += delta) {
    if (body->num_rets != loop->count) {
      return status_invalid(status, "For loop body returned %d arguments. Expected: %d", body->num_rets, loop->count);
    }
    TRY(tensor_allocate_dims(&loop->args[0], DT_INT32, 0, NULL, context->pool, status));
    *tensor_i32(&loop->args[0]) = (int32_t)i;
    for (int k = 0; k < loop->count; k++) tensor_move(&loop->args[k + 1], &loop->values[k]);
    TRY(caller->run(caller->owner, body->handle, loop->args, loop->count + 1, loop->results, loop->count, status));
    loop_advance(loop);
  }
  return true;
}

static bool for_kernel(KernelContext *context, Status *status) {
  LoopState loop = {0};
  bool ok = loop_begin(context, 3, &loop, status) && run_for(context, context->state, &loop, status);
  loop_end(context, &loop, ok);
  return ok;
}

/* What the body does to shapes is not known before it runs. */
REGISTER_OP(For,
  .inputs = {"start: int32", "limit: int32", "delta: int32", "input: T"},
  .outputs = {"output: T"},
  .attrs = {"T: list(type) >= 0", "body: func"},
  .shape = shape_unknown_outputs,
  .gradient = FUNCTIONAL_GRADIENT,
  .state_size = sizeof(CalledFunction),
  .construct = for_construct,
  .kernels = {{DT_INVALID, for_kernel}})
