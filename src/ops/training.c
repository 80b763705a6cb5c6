/* The update ops of optimisers on resource variables. */
#include "blas/update.h"
#include "op/node_def.h"
#include "ops/variable_access.h"

/* --- checks --- */

static bool check_scalar(const KernelContext *context, int i, const char *name, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_is_scalar(context->inputs[i])) return true;
  return status_invalid(status, "%s is not a scalar: %s", name, shape_text(&context->inputs[i]->shape, text));
}

static bool check_same_shape(const Tensor *a, const char *a_name, const Tensor *b, const char *b_name, Status *status) {
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  if (shape_equal(&a->shape, &b->shape)) return true;
  return status_invalid(status, "%s and %s do not have the same shape%s %s", a_name, b_name, shape_text(&a->shape, a_text),
                        shape_text(&b->shape, b_text));
}

static double scalar(const KernelContext *context, int i) { return tensor_double_at(context->inputs[i], 0); }

/* Variables 0 to count - 1, all of the gradient's dtype and shape; `names` are those of the inputs. Their buffers become writable
 * only when everything is in order. */
static bool prepare(KernelContext *context, int count, const char *const *names, int gradient, Variable **variables, Status *status) {
  const Tensor *grad = context->inputs[gradient];
  for (int i = 0; i < count; i++) {
    TRY(initialized_variable(context, i, grad->dtype, &variables[i], status));
    for (int k = 0; k < i; k++) {
      if (variables[k] == variables[i]) return status_invalid(status, "%s and %s are the same variable", names[k], names[i]);
    }
    if (i > 0) TRY(check_same_shape(&variables[0]->value, "var", &variables[i]->value, names[i], status));
  }
  TRY(check_same_shape(&variables[0]->value, "var", grad, names[gradient], status));
  for (int i = 0; i < count; i++) {
    TRY(variable_prepare_update(variables[i], variable_name(context, i), context->pool, status));
  }
  return true;
}

/* --- shapes: variables and gradient alike, the rest scalars --- */

static bool apply_shape(InferenceContext *c, int num_variables, int gradient, Status *status) {
  ShapeAndType var, other;
  ShapeHandle merged;
  TRY(variable_shape_and_type(c, 0, &var, status));
  merged = var.shape;
  for (int i = 1; i < c->num_inputs; i++) {
    if (i < num_variables) {
      TRY(variable_shape_and_type(c, i, &other, status));
      TRY(shape_merge(c, merged, other.shape, &merged, status));
    } else if (i == gradient) {
      TRY(shape_merge(c, merged, shape_input(c, i), &merged, status));
    } else {
      ShapeHandle unused;
      TRY(shape_with_rank(c, shape_input(c, i), 0, &unused, status));
    }
  }
  return true;
}

static bool gradient_descent_shape(InferenceContext *c, Status *status) { return apply_shape(c, 1, 2, status); }
static bool momentum_shape(InferenceContext *c, Status *status) { return apply_shape(c, 2, 3, status); }
static bool adam_shape(InferenceContext *c, Status *status) { return apply_shape(c, 3, 9, status); }

/* --- gradient descent: var -= alpha * delta --- */

static const char *const kGradientDescentInputs[] = {"var", "alpha", "delta"};

static bool gradient_descent(KernelContext *context, Status *status) {
  Variable *var;
  TRY(check_scalar(context, 1, "alpha", status));
  TRY(prepare(context, 1, kGradientDescentInputs, 2, &var, status));
  const Tensor *delta = context->inputs[2];
  int64_t count = tensor_num_elements(delta);
  if (delta->dtype == DT_FLOAT) {
    update_sgd_f32(count, tensor_f32(&var->value), tensor_f32(delta), (float)scalar(context, 1), context->parallel);
  } else {
    update_sgd_f64(count, tensor_f64(&var->value), tensor_f64(delta), scalar(context, 1), context->parallel);
  }
  return true;
}

REGISTER_OP(ResourceApplyGradientDescent,
  .inputs = {"var: resource", "alpha: T", "delta: T"},
  .attrs = {"T: numbertype", "use_locking: bool = false"},
  .is_stateful = true,
  .shape = gradient_descent_shape,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_FLOAT, gradient_descent}, {DT_DOUBLE, gradient_descent}})

/* --- momentum: accum = accum * momentum + grad; var -= lr * accum --- */

typedef struct ApplyState {
  bool nesterov;
} ApplyState;

static bool apply_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "use_nesterov", &((ApplyState *)memory)->nesterov, status);
}

static bool is_nesterov(const KernelContext *context) { return ((const ApplyState *)context->state)->nesterov; }

static const char *const kMomentumInputs[] = {"var", "accum", "lr", "grad", "momentum"};

static bool momentum(KernelContext *context, Status *status) {
  Variable *variables[2];
  TRY(check_scalar(context, 2, "lr", status));
  TRY(check_scalar(context, 4, "momentum", status));
  TRY(prepare(context, 2, kMomentumInputs, 3, variables, status));
  const Tensor *grad = context->inputs[3];
  int64_t count = tensor_num_elements(grad);
  double rate = scalar(context, 2), keep = scalar(context, 4);
  if (grad->dtype == DT_FLOAT) {
    update_momentum_f32(count, tensor_f32(&variables[0]->value), tensor_f32(&variables[1]->value), tensor_f32(grad), (float)rate,
                        (float)keep, is_nesterov(context), context->parallel);
  } else {
    update_momentum_f64(count, tensor_f64(&variables[0]->value), tensor_f64(&variables[1]->value), tensor_f64(grad), rate, keep,
                        is_nesterov(context), context->parallel);
  }
  return true;
}

REGISTER_OP(ResourceApplyMomentum,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T"},
  .attrs = {"T: numbertype", "use_locking: bool = false", "use_nesterov: bool = false"},
  .is_stateful = true,
  .shape = momentum_shape,
  .gradient = NO_GRADIENT,
  .state_size = sizeof(ApplyState),
  .construct = apply_construct,
  .kernels = {{DT_FLOAT, momentum}, {DT_DOUBLE, momentum}})

/* --- Adam --- */

static const char *const kAdamInputs[] = {"var",   "m",     "v",       "beta1_power", "beta2_power", "lr",
                                          "beta1", "beta2", "epsilon", "grad"};
enum { ADAM_GRAD = 9 };

static bool adam(KernelContext *context, Status *status) {
  Variable *variables[3];
  for (int i = 3; i < ADAM_GRAD; i++) TRY(check_scalar(context, i, kAdamInputs[i], status));
  TRY(prepare(context, 3, kAdamInputs, ADAM_GRAD, variables, status));
  const Tensor *grad = context->inputs[ADAM_GRAD];
  int64_t count = tensor_num_elements(grad);
  AdamRates rates = {.rate = scalar(context, 5), .beta1 = scalar(context, 6), .beta2 = scalar(context, 7),
                     .beta1_power = scalar(context, 3), .beta2_power = scalar(context, 4), .epsilon = scalar(context, 8),
                     .nesterov = is_nesterov(context)};
  Tensor *var = &variables[0]->value, *m = &variables[1]->value, *v = &variables[2]->value;
  if (grad->dtype == DT_FLOAT) {
    update_adam_f32(count, tensor_f32(var), tensor_f32(m), tensor_f32(v), tensor_f32(grad), &rates, context->parallel);
  } else {
    update_adam_f64(count, tensor_f64(var), tensor_f64(m), tensor_f64(v), tensor_f64(grad), &rates, context->parallel);
  }
  return true;
}

REGISTER_OP(ResourceApplyAdam,
  .inputs = {"var: resource", "m: resource", "v: resource", "beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T",
             "epsilon: T", "grad: T"},
  .attrs = {"T: numbertype", "use_locking: bool = false", "use_nesterov: bool = false"},
  .is_stateful = true,
  .shape = adam_shape,
  .gradient = NO_GRADIENT,
  .state_size = sizeof(ApplyState),
  .construct = apply_construct,
  .kernels = {{DT_FLOAT, adam}, {DT_DOUBLE, adam}})
