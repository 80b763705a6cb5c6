/* MapAccumulate, an op of early TensorFlow, and its gradient. It applies a function along the first dimension
 * of a tensor, with the previous result as an input: y[i] = f(theta, x[i], y[i - 1]), where y[-1] is u. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/variant.h"

typedef struct MapState {
  CalledFunction function;
  int num_theta;
} MapState;

/* `attr` is the function, which has `num_args` arguments besides theta. */
static bool construct(const KernelConstruction *construction, const char *attr, int num_args, MapState *state,
                      Status *status) {
  int32_t k;
  TRY(node_attr_int32(construction->node, "K", &k, status));
  TRY(function_from_attr(construction->functions, construction->node, attr, &state->function, status));
  state->num_theta = k;
  if (state->function.num_args == k + num_args) return true;
  return status_invalid(status, "The function of op %s takes %d arguments. Expected: %d",
                        construction->node->op, state->function.num_args, k + num_args);
}

/* The number of iterations, which is the first dimension of x. */
typedef struct MapRun {
  KernelContext *context;
  const MapState *state;
  int64_t rounds;
  Shape x_shape; /* of a slice */
  Tensor *args, *rets;
  Buffer *memory;
  int num_args, num_rets;
} MapRun;

static bool begin(MapRun *run, KernelContext *context, int num_args, int num_rets, Status *status) {
  const MapState *state = context->state;
  int k = state->num_theta;
  const Shape *x = &context->inputs[k]->shape;
  *run = (MapRun){.context = context, .state = state, .num_args = k + num_args, .num_rets = num_rets};
  char text[SHAPE_TEXT_CAPACITY];
  if (state->function.num_rets != num_rets) {
    return status_invalid(status, "The function of op MapAccumulate returned %d tensors. Expected: %d",
                          state->function.num_rets, num_rets);
  }
  if (x->rank < 1)
    return status_invalid(status, "x must be at least a vector, but saw shape: %s", shape_text(x, text));
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 1; i < x->rank; i++) dims[i - 1] = shape_dim(x, i);
  run->rounds = shape_dim(x, 0);
  TRY(shape_set(&run->x_shape, x->rank - 1, dims, status));
  int64_t total = run->num_args + num_rets;
  run->memory = kernel_scratch(context, total * (int64_t)sizeof(Tensor), status);
  if (!run->memory) return false;
  run->args = run->memory->data;
  run->rets = run->args + run->num_args;
  memset(run->args, 0, (size_t)total * sizeof(Tensor));
  return true;
}

static void end(MapRun *run) {
  for (int i = 0; run->memory && i < run->num_args + run->num_rets; i++) tensor_clear(&run->args[i]);
  if (run->memory) buffer_unref(run->memory);
  shape_clear(&run->x_shape);
}

/* A copy of slice `i` along the first dimension. */
static bool take_slice(MapRun *run, const Tensor *from, int64_t i, const Shape *shape, Tensor *slice,
                       Status *status) {
  TRY(tensor_allocate(slice, from->dtype, shape, run->context->pool, status));
  size_t bytes = (size_t)tensor_bytes(slice);
  if (bytes > 0) memcpy(slice->data, (const char *)from->data + (size_t)i * bytes, bytes);
  return true;
}

static bool put_slice(const Tensor *slice, const Shape *want, Tensor *to, int64_t i, Status *status) {
  char have_text[SHAPE_TEXT_CAPACITY], want_text[SHAPE_TEXT_CAPACITY];
  if (!shape_equal(&slice->shape, want) || slice->dtype != to->dtype) {
    return status_invalid(status,
                          "The function of op MapAccumulate returned a %s tensor of shape %s. Expected: %s "
                          "of shape %s",
                          dtype_name(slice->dtype), shape_text(&slice->shape, have_text),
                          dtype_name(to->dtype), shape_text(want, want_text));
  }
  size_t bytes = (size_t)tensor_bytes(slice);
  if (bytes > 0) memcpy((char *)to->data + (size_t)i * bytes, slice->data, bytes);
  return true;
}

/* A tensor for the `rounds` slices of that shape. */
static bool allocate_rounds(const MapRun *run, int output, const Shape *shape, Tensor **out, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  if (shape->rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  dims[0] = run->rounds;
  for (int i = 0; i < shape->rank; i++) dims[i + 1] = shape_dim(shape, i);
  return kernel_allocate_output_dims(run->context, output, shape->rank + 1, dims, out, status);
}

static bool set_theta(MapRun *run, Status *status) {
  for (int i = 0; i < run->state->num_theta; i++)
    TRY(tensor_assign(&run->args[i], run->context->inputs[i], status));
  return true;
}

static bool call(MapRun *run, Status *status) {
  return function_call_to_end(run->context->functions, run->state->function.handle, run->context->step,
                              run->args, run->num_args, run->rets, run->num_rets, status);
}

/* --- MapAccumulate --- */

static bool map_construct(const KernelConstruction *construction, void *state, Status *status) {
  return construct(construction, "f", 2, state, status);
}

static bool map_rounds(MapRun *run, Status *status) {
  int k = run->state->num_theta;
  const Tensor *x = run->context->inputs[k], *u = run->context->inputs[k + 1];
  Tensor *y;
  TRY(allocate_rounds(run, 0, &u->shape, &y, status));
  TRY(tensor_assign(&run->args[k + 1], u, status));
  for (int64_t i = 0; i < run->rounds; i++) {
    TRY(set_theta(run, status));
    TRY(take_slice(run, x, i, &run->x_shape, &run->args[k], status));
    TRY(call(run, status));
    TRY(put_slice(&run->rets[0], &u->shape, y, i, status));
    tensor_move(&run->args[k + 1], &run->rets[0]);
  }
  return true;
}

static bool map_kernel(KernelContext *context, Status *status) {
  MapRun run;
  bool ok = begin(&run, context, 2, 1, status) && map_rounds(&run, status);
  end(&run);
  return ok;
}

static bool map_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, first, y;
  TRY(shape_with_rank_at_least(c, shape_input(c, c->num_inputs - 2), 1, &x, status));
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, x, 0)), &first, status));
  TRY(shape_concatenate(c, first, shape_input(c, c->num_inputs - 1), &y, status));
  shape_set_output(c, 0, y);
  return true;
}

static void append_types(StrBuf *text, DataType type, int64_t count) {
  for (int64_t i = 0; i < count; i++) strbuf_printf(text, "%s%s", i == 0 ? "" : ", ", dtype_name((int)type));
}

/* Recomputes y, and propagates dy back through the gradient of f. */
static bool map_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  int64_t k;
  TRY(node_attr_type(request->node, "T", &type, status));
  TRY(node_attr_int(request->node, "K", &k, status));
  strbuf_append(text,
                "MapAccumulateGradient[f:func, T:type, K:int](theta:K*T, x:T, u:T, dy:T) -> (dtheta:K*T, "
                "dx:T, du:T) {\n"
                "  y = MapAccumulate[f=$f, T=$T, K=$K](theta, x, u)\n"
                "  d = MapAccumulateGrad[g=SymbolicGradient[f=$f, Tin={");
  append_types(text, type, k + 3);
  strbuf_append(text, "}, Tout={");
  append_types(text, type, k + 2);
  strbuf_append(text,
                "}], T=$T, K=$K](theta, x, u, y:y, dy)\n"
                "  return dtheta = d:dtheta, dx = d:dx, du = d:du\n"
                "}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpMapAccumulate = {
    .name = "MapAccumulate",
    .inputs = {"theta: K * T", "x: T", "u: T"},
    .outputs = {"y: T"},
    .attrs = {"f: func", "T: {half, float, double}", "K: int >= 0"},
    .shape = map_shape,
    .gradient_fn = map_gradient,
    .state_size = sizeof(MapState),
    .construct = map_construct,
    .kernels = {FLOAT_KERNELS(map_kernel), {DT_HALF, map_kernel}},
};

/* --- MapAccumulateGrad --- */

static bool grad_construct(const KernelConstruction *construction, void *state, Status *status) {
  return construct(construction, "g", 3, state, status);
}

/* Adds to the sum; an empty sum becomes the value. */
static bool accumulate(KernelContext *context, Tensor *total, Tensor *value, Status *status) {
  Tensor sum = {0};
  if (tensor_is_empty(total)) {
    tensor_move(total, value);
    return true;
  }
  TRY(tensor_sum(context, total, value, 0, &sum, status));
  tensor_clear(total);
  tensor_move(total, &sum);
  return true;
}

/* One iteration backward: `state` is the gradient of y[i] from the later iterations. */
static bool grad_round(MapRun *run, int64_t i, Tensor *dtheta, Tensor *dx, Tensor *state, Status *status) {
  KernelContext *context = run->context;
  int k = run->state->num_theta;
  const Tensor *x = context->inputs[k], *u = context->inputs[k + 1], *y = context->inputs[k + 2],
               *dy = context->inputs[k + 3];
  TRY(set_theta(run, status));
  TRY(take_slice(run, x, i, &run->x_shape, &run->args[k], status));
  TRY(i > 0 ? take_slice(run, y, i - 1, &u->shape, &run->args[k + 1], status)
            : tensor_assign(&run->args[k + 1], u, status));
  TRY(take_slice(run, dy, i, &u->shape, &run->args[k + 2], status));
  TRY(accumulate(context, state, &run->args[k + 2], status));
  tensor_clear(&run->args[k + 2]);
  tensor_move(&run->args[k + 2], state);
  TRY(call(run, status));
  for (int t = 0; t < k; t++) {
    TRY(accumulate(context, &dtheta[t], &run->rets[t], status));
    tensor_clear(&run->rets[t]);
  }
  TRY(put_slice(&run->rets[k], &run->x_shape, dx, i, status));
  tensor_clear(&run->rets[k]);
  tensor_move(state, &run->rets[k + 1]);
  return true;
}

static bool zeros_if_empty(KernelContext *context, Tensor *total, const Tensor *like, Status *status) {
  return !tensor_is_empty(total) || tensor_zeros_like(context, like, 0, total, status);
}

static bool grad_rounds(MapRun *run, Status *status) {
  KernelContext *context = run->context;
  int k = run->state->num_theta;
  const Tensor *x = context->inputs[k], *u = context->inputs[k + 1];
  char have[SHAPE_TEXT_CAPACITY], want[SHAPE_TEXT_CAPACITY];
  for (int i = 2; i < 4; i++) {
    const Shape *shape = &context->inputs[k + i]->shape;
    bool fits = shape->rank == u->shape.rank + 1 && shape_dim(shape, 0) == run->rounds;
    for (int d = 0; fits && d < u->shape.rank; d++) fits = shape_dim(shape, d + 1) == shape_dim(&u->shape, d);
    if (fits) continue;
    return status_invalid(status, "%s has shape %s, which does not fit x and u, of shapes %s and %s",
                          i == 2 ? "y" : "dy", shape_text(shape, (char[SHAPE_TEXT_CAPACITY]){0}),
                          shape_text(&x->shape, have), shape_text(&u->shape, want));
  }
  Tensor *dx, state = {0};
  TRY(kernel_allocate_output(context, k, &x->shape, &dx, status));
  bool ok = true;
  for (int64_t i = run->rounds; ok && i > 0; i--)
    ok = grad_round(run, i - 1, context->outputs, dx, &state, status);
  for (int t = 0; ok && t < k; t++)
    ok = zeros_if_empty(context, &context->outputs[t], context->inputs[t], status);
  ok = ok && zeros_if_empty(context, &state, u, status) &&
       kernel_set_output(context, k + 1, &state, NULL, status);
  tensor_clear(&state);
  return ok;
}

static bool grad_kernel(KernelContext *context, Status *status) {
  MapRun run;
  bool ok = begin(&run, context, 3, ((const MapState *)context->state)->num_theta + 2, status) &&
            grad_rounds(&run, status);
  end(&run);
  return ok;
}

/* Gradients have the shapes of theta, x and u. */
static bool grad_shape(InferenceContext *c, Status *status) {
  (void)status;
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, shape_input(c, i));
  return true;
}

const OpRegistration kOpMapAccumulateGrad = {
    .name = "MapAccumulateGrad",
    .inputs = {"theta: K * T", "x: T", "u: T", "y: T", "dy: T"},
    .outputs = {"dtheta: K * T", "dx: T", "du: T"},
    .attrs = {"g: func", "T: {half, float, double}", "K: int >= 0"},
    .shape = grad_shape,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(MapState),
    .construct = grad_construct,
    .kernels = {FLOAT_KERNELS(grad_kernel), {DT_HALF, grad_kernel}},
};
