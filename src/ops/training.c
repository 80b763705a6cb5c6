/* The update ops of optimisers: formulae in training_steps.inc, on variables by reference and by resource, whole or row by row. */
#include <math.h>
#include <string.h>

#include "ops/element_types.h"
#include "ops/training_update.h"

#define TEMPLATE "ops/training_steps.inc"
#define TYPES (TYPES_FLOAT | TYPES_COMPLEX)
#include "ops/each_type.inc"

#define UPDATE(...) \
  .shape = update_shape, .gradient = NO_GRADIENT, .state_size = sizeof(UpdateState), .construct = update_construct, \
  .kernels = {__VA_ARGS__}
/* Half types are computed in float. */
#define FLOAT_STEPS(name) TYPED_FLOAT_KERNELS(name##_kernel), HALF_KERNELS(name##_kernel_f32)
#define ALL_STEPS(name) FLOAT_STEPS(name), TYPED_COMPLEX_KERNELS(name##_kernel)

/* --- Gradient descent: var -= alpha * delta --- */

REGISTER_OP(ApplyGradientDescent,
  .inputs = {"var: Ref(T)", "alpha: T", "delta: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(gradient_descent)))

REGISTER_OP(ResourceApplyGradientDescent,
  .inputs = {"var: resource", "alpha: T", "delta: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(gradient_descent)))

/* --- Momentum, and with Nesterov the step as if the accumulator were one further --- */

REGISTER_OP(ApplyMomentum,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "momentum: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
  UPDATE(ALL_STEPS(momentum)))

REGISTER_OP(ResourceApplyMomentum,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(momentum)))

REGISTER_OP(SparseApplyMomentum,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "indices: Tindices", "momentum: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "use_nesterov: bool = false"},
  UPDATE(ALL_STEPS(momentum)))

REGISTER_OP(ResourceSparseApplyMomentum,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices", "momentum: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "use_nesterov: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(momentum)))

/* --- Momentum as Keras writes it --- */

REGISTER_OP(ResourceApplyKerasMomentum,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(keras_momentum)))

REGISTER_OP(ResourceSparseApplyKerasMomentum,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices", "momentum: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "use_nesterov: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(keras_momentum)))

/* --- Adam --- */

REGISTER_OP(ApplyAdam,
  .inputs = {"var: Ref(T)", "m: Ref(T)", "v: Ref(T)", "beta1_power: T", "beta2_power: T", "lr: T", "beta1: T",
             "beta2: T", "epsilon: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
  UPDATE(ALL_STEPS(adam)))

REGISTER_OP(ResourceApplyAdam,
  .inputs = {"var: resource", "m: resource", "v: resource", "beta1_power: T", "beta2_power: T", "lr: T",
             "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adam)))

/* --- Adam with the largest second moment so far --- */

REGISTER_OP(ResourceApplyAdamWithAmsgrad,
  .inputs = {"var: resource", "m: resource", "v: resource", "vhat: resource", "beta1_power: T",
             "beta2_power: T", "lr: T", "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(amsgrad)))

/* --- Adam in the infinity norm --- */

REGISTER_OP(ApplyAdaMax,
  .inputs = {"var: Ref(T)", "m: Ref(T)", "v: Ref(T)", "beta1_power: T", "lr: T", "beta1: T", "beta2: T",
             "epsilon: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(ada_max)))

REGISTER_OP(ResourceApplyAdaMax,
  .inputs = {"var: resource", "m: resource", "v: resource", "beta1_power: T", "lr: T", "beta1: T", "beta2: T",
             "epsilon: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(ada_max)))

/* --- Adagrad --- */

REGISTER_OP(ApplyAdagrad,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
  UPDATE(ALL_STEPS(adagrad)))

REGISTER_OP(ResourceApplyAdagrad,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adagrad)))

REGISTER_OP(SparseApplyAdagrad,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "update_slots: bool = true"},
  UPDATE(ALL_STEPS(adagrad)))

REGISTER_OP(ResourceSparseApplyAdagrad,
  .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "update_slots: bool = true"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adagrad)))

/* --- Adagrad with an epsilon --- */

REGISTER_OP(ApplyAdagradV2,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "epsilon: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
  UPDATE(ALL_STEPS(adagrad_v2)))

REGISTER_OP(ResourceApplyAdagradV2,
  .inputs = {"var: resource", "accum: resource", "lr: T", "epsilon: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adagrad_v2)))

REGISTER_OP(SparseApplyAdagradV2,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "epsilon: T", "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "update_slots: bool = true"},
  UPDATE(ALL_STEPS(adagrad_v2)))

REGISTER_OP(ResourceSparseApplyAdagradV2,
  .inputs = {"var: resource", "accum: resource", "lr: T", "epsilon: T", "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "update_slots: bool = true"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adagrad_v2)))

/* --- Adagrad by dual averaging --- */

REGISTER_OP(ApplyAdagradDA,
  .inputs = {"var: Ref(T)", "gradient_accumulator: Ref(T)", "gradient_squared_accumulator: Ref(T)", "grad: T",
             "lr: T", "l1: T", "l2: T", "global_step: int64"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(adagrad_da)))

REGISTER_OP(ResourceApplyAdagradDA,
  .inputs = {"var: resource", "gradient_accumulator: resource", "gradient_squared_accumulator: resource",
             "grad: T", "lr: T", "l1: T", "l2: T", "global_step: int64"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(adagrad_da)))

REGISTER_OP(SparseApplyAdagradDA,
  .inputs = {"var: Ref(T)", "gradient_accumulator: Ref(T)", "gradient_squared_accumulator: Ref(T)", "grad: T",
             "indices: Tindices", "lr: T", "l1: T", "l2: T", "global_step: int64"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(adagrad_da)))

REGISTER_OP(ResourceSparseApplyAdagradDA,
  .inputs = {"var: resource", "gradient_accumulator: resource", "gradient_squared_accumulator: resource",
             "grad: T", "indices: Tindices", "lr: T", "l1: T", "l2: T", "global_step: int64"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(adagrad_da)))

/* --- Adadelta --- */

REGISTER_OP(ApplyAdadelta,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "accum_update: Ref(T)", "lr: T", "rho: T", "epsilon: T",
             "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(adadelta)))

REGISTER_OP(ResourceApplyAdadelta,
  .inputs = {"var: resource", "accum: resource", "accum_update: resource", "lr: T", "rho: T", "epsilon: T",
             "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adadelta)))

REGISTER_OP(SparseApplyAdadelta,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "accum_update: Ref(T)", "lr: T", "rho: T", "epsilon: T",
             "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(adadelta)))

REGISTER_OP(ResourceSparseApplyAdadelta,
  .inputs = {"var: resource", "accum: resource", "accum_update: resource", "lr: T", "rho: T", "epsilon: T",
             "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(adadelta)))

/* --- RMSProp --- */

REGISTER_OP(ApplyRMSProp,
  .inputs = {"var: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T", "epsilon: T",
             "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(rms_prop)))

REGISTER_OP(ResourceApplyRMSProp,
  .inputs = {"var: resource", "ms: resource", "mom: resource", "lr: T", "rho: T", "momentum: T", "epsilon: T",
             "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(rms_prop)))

REGISTER_OP(SparseApplyRMSProp,
  .inputs = {"var: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T", "epsilon: T",
             "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(rms_prop)))

REGISTER_OP(ResourceSparseApplyRMSProp,
  .inputs = {"var: resource", "ms: resource", "mom: resource", "lr: T", "rho: T", "momentum: T", "epsilon: T",
             "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(rms_prop)))

/* --- RMSProp with the variance instead of the mean square --- */

REGISTER_OP(ApplyCenteredRMSProp,
  .inputs = {"var: Ref(T)", "mg: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T",
             "epsilon: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(centered_rms_prop)))

REGISTER_OP(ResourceApplyCenteredRMSProp,
  .inputs = {"var: resource", "mg: resource", "ms: resource", "mom: resource", "lr: T", "rho: T",
             "momentum: T", "epsilon: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(centered_rms_prop)))

REGISTER_OP(SparseApplyCenteredRMSProp,
  .inputs = {"var: Ref(T)", "mg: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T",
             "epsilon: T", "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  UPDATE(ALL_STEPS(centered_rms_prop)))

REGISTER_OP(ResourceSparseApplyCenteredRMSProp,
  .inputs = {"var: resource", "mg: resource", "ms: resource", "mom: resource", "lr: T", "rho: T",
             "momentum: T", "epsilon: T", "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(ALL_STEPS(centered_rms_prop)))

/* --- FTRL-proximal --- */

REGISTER_OP(ApplyFtrl,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "lr: T", "l1: T", "l2: T",
             "lr_power: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  UPDATE(FLOAT_STEPS(ftrl)))

REGISTER_OP(ResourceApplyFtrl,
  .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "lr: T", "l1: T", "l2: T",
             "lr_power: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(ftrl)))

REGISTER_OP(SparseApplyFtrl,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "indices: Tindices", "lr: T",
             "l1: T", "l2: T", "lr_power: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  UPDATE(FLOAT_STEPS(ftrl)))

REGISTER_OP(ResourceSparseApplyFtrl,
  .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "indices: Tindices", "lr: T",
             "l1: T", "l2: T", "lr_power: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(ftrl)))

/* --- FTRL-proximal with shrinkage of the gradient --- */

REGISTER_OP(ApplyFtrlV2,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "lr: T", "l1: T", "l2: T",
             "l2_shrinkage: T", "lr_power: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  UPDATE(FLOAT_STEPS(ftrl_v2)))

REGISTER_OP(ResourceApplyFtrlV2,
  .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "lr: T", "l1: T", "l2: T",
             "l2_shrinkage: T", "lr_power: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(ftrl_v2)))

REGISTER_OP(SparseApplyFtrlV2,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "indices: Tindices", "lr: T",
             "l1: T", "l2: T", "l2_shrinkage: T", "lr_power: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  UPDATE(FLOAT_STEPS(ftrl_v2)))

REGISTER_OP(ResourceSparseApplyFtrlV2,
  .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "indices: Tindices", "lr: T",
             "l1: T", "l2: T", "l2_shrinkage: T", "lr_power: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
            "multiply_linear_by_lr: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(ftrl_v2)))

/* --- Proximal gradient descent --- */

REGISTER_OP(ApplyProximalGradientDescent,
  .inputs = {"var: Ref(T)", "alpha: T", "l1: T", "l2: T", "delta: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(proximal_gradient_descent)))

REGISTER_OP(ResourceApplyProximalGradientDescent,
  .inputs = {"var: resource", "alpha: T", "l1: T", "l2: T", "delta: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(proximal_gradient_descent)))

REGISTER_OP(SparseApplyProximalGradientDescent,
  .inputs = {"var: Ref(T)", "alpha: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(proximal_gradient_descent)))

REGISTER_OP(ResourceSparseApplyProximalGradientDescent,
  .inputs = {"var: resource", "alpha: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(proximal_gradient_descent)))

/* --- Proximal Adagrad --- */

REGISTER_OP(ApplyProximalAdagrad,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "l1: T", "l2: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(proximal_adagrad)))

REGISTER_OP(ResourceApplyProximalAdagrad,
  .inputs = {"var: resource", "accum: resource", "lr: T", "l1: T", "l2: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(proximal_adagrad)))

REGISTER_OP(SparseApplyProximalAdagrad,
  .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(proximal_adagrad)))

REGISTER_OP(ResourceSparseApplyProximalAdagrad,
  .inputs = {"var: resource", "accum: resource", "lr: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
  .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(proximal_adagrad)))

/* --- AddSign --- */

REGISTER_OP(ApplyAddSign,
  .inputs = {"var: Ref(T)", "m: Ref(T)", "lr: T", "alpha: T", "sign_decay: T", "beta: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(add_sign)))

REGISTER_OP(ResourceApplyAddSign,
  .inputs = {"var: resource", "m: resource", "lr: T", "alpha: T", "sign_decay: T", "beta: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(add_sign)))

/* --- PowerSign --- */

REGISTER_OP(ApplyPowerSign,
  .inputs = {"var: Ref(T)", "m: Ref(T)", "lr: T", "logbase: T", "sign_decay: T", "beta: T", "grad: T"},
  .outputs = {"out: Ref(T)"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  UPDATE(FLOAT_STEPS(power_sign)))

REGISTER_OP(ResourceApplyPowerSign,
  .inputs = {"var: resource", "m: resource", "lr: T", "logbase: T", "sign_decay: T", "beta: T", "grad: T"},
  .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
  .is_stateful = true,
  UPDATE(FLOAT_STEPS(power_sign)))
