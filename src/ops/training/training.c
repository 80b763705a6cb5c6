/* The update ops of the usual optimisers: the formulas of training_steps.inc, applied to variables by
 * reference and by resource, as a whole or by rows. */
#include "ops/training/training_kernels.h"

#define TEMPLATE "ops/training/training_steps.inc"
#define TYPES (TYPES_FLOAT | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define ALL_STEPS(name) FLOAT_STEPS(name), TYPED_COMPLEX_KERNELS(update_kernel, &name)

/* --- Gradient descent: var -= alpha * delta --- */

const OpRegistration kOpApplyGradientDescent = {
    .name = "ApplyGradientDescent",
    .inputs = {"var: Ref(T)", "alpha: T", "delta: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(gradient_descent)),
};

const OpRegistration kOpResourceApplyGradientDescent = {
    .name = "ResourceApplyGradientDescent",
    .inputs = {"var: resource", "alpha: T", "delta: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(gradient_descent)),
};

/* --- Momentum, and Nesterov momentum, which uses the accumulator's next step --- */

const OpRegistration kOpApplyMomentum = {
    .name = "ApplyMomentum",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "momentum: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
    UPDATE(ALL_STEPS(momentum)),
};

const OpRegistration kOpResourceApplyMomentum = {
    .name = "ResourceApplyMomentum",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(momentum)),
};

const OpRegistration kOpSparseApplyMomentum = {
    .name = "SparseApplyMomentum",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "indices: Tindices", "momentum: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "use_nesterov: bool = false"},
    UPDATE(ALL_STEPS(momentum)),
};

const OpRegistration kOpResourceSparseApplyMomentum = {
    .name = "ResourceSparseApplyMomentum",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices", "momentum: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "use_nesterov: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(momentum)),
};

/* --- Momentum as Keras defines it --- */

const OpRegistration kOpResourceApplyKerasMomentum = {
    .name = "ResourceApplyKerasMomentum",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(keras_momentum)),
};

const OpRegistration kOpResourceSparseApplyKerasMomentum = {
    .name = "ResourceSparseApplyKerasMomentum",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices", "momentum: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "use_nesterov: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(keras_momentum)),
};

/* --- Adam --- */

const OpRegistration kOpApplyAdam = {
    .name = "ApplyAdam",
    .inputs = {"var: Ref(T)", "m: Ref(T)", "v: Ref(T)", "beta1_power: T", "beta2_power: T", "lr: T",
               "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
    UPDATE(ALL_STEPS(adam)),
};

const OpRegistration kOpResourceApplyAdam = {
    .name = "ResourceApplyAdam",
    .inputs = {"var: resource", "m: resource", "v: resource", "beta1_power: T", "beta2_power: T", "lr: T",
               "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "use_nesterov: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adam)),
};

/* --- Adam with the maximum of the second moments --- */

const OpRegistration kOpResourceApplyAdamWithAmsgrad = {
    .name = "ResourceApplyAdamWithAmsgrad",
    .inputs = {"var: resource", "m: resource", "v: resource", "vhat: resource", "beta1_power: T",
               "beta2_power: T", "lr: T", "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(amsgrad)),
};

/* --- Adam in the infinity norm --- */

const OpRegistration kOpApplyAdaMax = {
    .name = "ApplyAdaMax",
    .inputs = {"var: Ref(T)", "m: Ref(T)", "v: Ref(T)", "beta1_power: T", "lr: T", "beta1: T", "beta2: T",
               "epsilon: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(ada_max)),
};

const OpRegistration kOpResourceApplyAdaMax = {
    .name = "ResourceApplyAdaMax",
    .inputs = {"var: resource", "m: resource", "v: resource", "beta1_power: T", "lr: T", "beta1: T",
               "beta2: T", "epsilon: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(ada_max)),
};

/* --- Adagrad --- */

const OpRegistration kOpApplyAdagrad = {
    .name = "ApplyAdagrad",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
    UPDATE(ALL_STEPS(adagrad)),
};

const OpRegistration kOpResourceApplyAdagrad = {
    .name = "ResourceApplyAdagrad",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adagrad)),
};

const OpRegistration kOpSparseApplyAdagrad = {
    .name = "SparseApplyAdagrad",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "update_slots: bool = true"},
    UPDATE(ALL_STEPS(adagrad)),
};

const OpRegistration kOpResourceSparseApplyAdagrad = {
    .name = "ResourceSparseApplyAdagrad",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "update_slots: bool = true"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adagrad)),
};

/* --- Adagrad with an epsilon --- */

const OpRegistration kOpApplyAdagradV2 = {
    .name = "ApplyAdagradV2",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "epsilon: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
    UPDATE(ALL_STEPS(adagrad_v2)),
};

const OpRegistration kOpResourceApplyAdagradV2 = {
    .name = "ResourceApplyAdagradV2",
    .inputs = {"var: resource", "accum: resource", "lr: T", "epsilon: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "update_slots: bool = true"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adagrad_v2)),
};

const OpRegistration kOpSparseApplyAdagradV2 = {
    .name = "SparseApplyAdagradV2",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "epsilon: T", "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "update_slots: bool = true"},
    UPDATE(ALL_STEPS(adagrad_v2)),
};

const OpRegistration kOpResourceSparseApplyAdagradV2 = {
    .name = "ResourceSparseApplyAdagradV2",
    .inputs = {"var: resource", "accum: resource", "lr: T", "epsilon: T", "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "update_slots: bool = true"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adagrad_v2)),
};

/* --- Adadelta --- */

const OpRegistration kOpApplyAdadelta = {
    .name = "ApplyAdadelta",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "accum_update: Ref(T)", "lr: T", "rho: T", "epsilon: T",
               "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(adadelta)),
};

const OpRegistration kOpResourceApplyAdadelta = {
    .name = "ResourceApplyAdadelta",
    .inputs = {"var: resource", "accum: resource", "accum_update: resource", "lr: T", "rho: T", "epsilon: T",
               "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adadelta)),
};

const OpRegistration kOpSparseApplyAdadelta = {
    .name = "SparseApplyAdadelta",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "accum_update: Ref(T)", "lr: T", "rho: T", "epsilon: T",
               "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(adadelta)),
};

const OpRegistration kOpResourceSparseApplyAdadelta = {
    .name = "ResourceSparseApplyAdadelta",
    .inputs = {"var: resource", "accum: resource", "accum_update: resource", "lr: T", "rho: T", "epsilon: T",
               "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(adadelta)),
};

/* --- RMSProp --- */

const OpRegistration kOpApplyRMSProp = {
    .name = "ApplyRMSProp",
    .inputs = {"var: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T", "epsilon: T",
               "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(rms_prop)),
};

const OpRegistration kOpResourceApplyRMSProp = {
    .name = "ResourceApplyRMSProp",
    .inputs = {"var: resource", "ms: resource", "mom: resource", "lr: T", "rho: T", "momentum: T",
               "epsilon: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(rms_prop)),
};

const OpRegistration kOpSparseApplyRMSProp = {
    .name = "SparseApplyRMSProp",
    .inputs = {"var: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T", "epsilon: T",
               "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(rms_prop)),
};

const OpRegistration kOpResourceSparseApplyRMSProp = {
    .name = "ResourceSparseApplyRMSProp",
    .inputs = {"var: resource", "ms: resource", "mom: resource", "lr: T", "rho: T", "momentum: T",
               "epsilon: T", "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(rms_prop)),
};

/* --- RMSProp with the variance in place of the mean square --- */

const OpRegistration kOpApplyCenteredRMSProp = {
    .name = "ApplyCenteredRMSProp",
    .inputs = {"var: Ref(T)", "mg: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T",
               "epsilon: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(centered_rms_prop)),
};

const OpRegistration kOpResourceApplyCenteredRMSProp = {
    .name = "ResourceApplyCenteredRMSProp",
    .inputs = {"var: resource", "mg: resource", "ms: resource", "mom: resource", "lr: T", "rho: T",
               "momentum: T", "epsilon: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(centered_rms_prop)),
};

const OpRegistration kOpSparseApplyCenteredRMSProp = {
    .name = "SparseApplyCenteredRMSProp",
    .inputs = {"var: Ref(T)", "mg: Ref(T)", "ms: Ref(T)", "mom: Ref(T)", "lr: T", "rho: T", "momentum: T",
               "epsilon: T", "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    UPDATE(ALL_STEPS(centered_rms_prop)),
};

const OpRegistration kOpResourceSparseApplyCenteredRMSProp = {
    .name = "ResourceSparseApplyCenteredRMSProp",
    .inputs = {"var: resource", "mg: resource", "ms: resource", "mom: resource", "lr: T", "rho: T",
               "momentum: T", "epsilon: T", "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(ALL_STEPS(centered_rms_prop)),
};
