/* The update ops of optimisers that are rarer: those that keep weights at zero (FTRL, proximal ones, Adagrad
 * with dual averaging), and those that compare the signs of gradients. */
#include "ops/training/training_kernels.h"

#define TEMPLATE "ops/training/sparsity_steps.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

/* --- Adagrad with dual averaging --- */

const OpRegistration kOpApplyAdagradDA = {
    .name = "ApplyAdagradDA",
    .inputs = {"var: Ref(T)", "gradient_accumulator: Ref(T)", "gradient_squared_accumulator: Ref(T)",
               "grad: T", "lr: T", "l1: T", "l2: T", "global_step: int64"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(adagrad_da)),
};

const OpRegistration kOpResourceApplyAdagradDA = {
    .name = "ResourceApplyAdagradDA",
    .inputs = {"var: resource", "gradient_accumulator: resource", "gradient_squared_accumulator: resource",
               "grad: T", "lr: T", "l1: T", "l2: T", "global_step: int64"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(adagrad_da)),
};

const OpRegistration kOpSparseApplyAdagradDA = {
    .name = "SparseApplyAdagradDA",
    .inputs = {"var: Ref(T)", "gradient_accumulator: Ref(T)", "gradient_squared_accumulator: Ref(T)",
               "grad: T", "indices: Tindices", "lr: T", "l1: T", "l2: T", "global_step: int64"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(adagrad_da)),
};

const OpRegistration kOpResourceSparseApplyAdagradDA = {
    .name = "ResourceSparseApplyAdagradDA",
    .inputs = {"var: resource", "gradient_accumulator: resource", "gradient_squared_accumulator: resource",
               "grad: T", "indices: Tindices", "lr: T", "l1: T", "l2: T", "global_step: int64"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(adagrad_da)),
};

/* --- FTRL-proximal --- */

const OpRegistration kOpApplyFtrl = {
    .name = "ApplyFtrl",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "lr: T", "l1: T", "l2: T",
               "lr_power: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "multiply_linear_by_lr: bool = false"},
    UPDATE(FLOAT_STEPS(ftrl)),
};

const OpRegistration kOpResourceApplyFtrl = {
    .name = "ResourceApplyFtrl",
    .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "lr: T", "l1: T", "l2: T",
               "lr_power: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "multiply_linear_by_lr: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(ftrl)),
};

const OpRegistration kOpSparseApplyFtrl = {
    .name = "SparseApplyFtrl",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "indices: Tindices", "lr: T",
               "l1: T", "l2: T", "lr_power: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "multiply_linear_by_lr: bool = false"},
    UPDATE(FLOAT_STEPS(ftrl)),
};

const OpRegistration kOpResourceSparseApplyFtrl = {
    .name = "ResourceSparseApplyFtrl",
    .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "indices: Tindices",
               "lr: T", "l1: T", "l2: T", "lr_power: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "multiply_linear_by_lr: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(ftrl)),
};

/* --- FTRL-proximal with shrinkage of the gradient --- */

const OpRegistration kOpApplyFtrlV2 = {
    .name = "ApplyFtrlV2",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "lr: T", "l1: T", "l2: T",
               "l2_shrinkage: T", "lr_power: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "multiply_linear_by_lr: bool = false"},
    UPDATE(FLOAT_STEPS(ftrl_v2)),
};

const OpRegistration kOpResourceApplyFtrlV2 = {
    .name = "ResourceApplyFtrlV2",
    .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "lr: T", "l1: T", "l2: T",
               "l2_shrinkage: T", "lr_power: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false", "multiply_linear_by_lr: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(ftrl_v2)),
};

const OpRegistration kOpSparseApplyFtrlV2 = {
    .name = "SparseApplyFtrlV2",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "linear: Ref(T)", "grad: T", "indices: Tindices", "lr: T",
               "l1: T", "l2: T", "l2_shrinkage: T", "lr_power: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "multiply_linear_by_lr: bool = false"},
    UPDATE(FLOAT_STEPS(ftrl_v2)),
};

const OpRegistration kOpResourceSparseApplyFtrlV2 = {
    .name = "ResourceSparseApplyFtrlV2",
    .inputs = {"var: resource", "accum: resource", "linear: resource", "grad: T", "indices: Tindices",
               "lr: T", "l1: T", "l2: T", "l2_shrinkage: T", "lr_power: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "multiply_linear_by_lr: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(ftrl_v2)),
};

/* --- Proximal gradient descent --- */

const OpRegistration kOpApplyProximalGradientDescent = {
    .name = "ApplyProximalGradientDescent",
    .inputs = {"var: Ref(T)", "alpha: T", "l1: T", "l2: T", "delta: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(proximal_gradient_descent)),
};

const OpRegistration kOpResourceApplyProximalGradientDescent = {
    .name = "ResourceApplyProximalGradientDescent",
    .inputs = {"var: resource", "alpha: T", "l1: T", "l2: T", "delta: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(proximal_gradient_descent)),
};

const OpRegistration kOpSparseApplyProximalGradientDescent = {
    .name = "SparseApplyProximalGradientDescent",
    .inputs = {"var: Ref(T)", "alpha: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(proximal_gradient_descent)),
};

const OpRegistration kOpResourceSparseApplyProximalGradientDescent = {
    .name = "ResourceSparseApplyProximalGradientDescent",
    .inputs = {"var: resource", "alpha: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(proximal_gradient_descent)),
};

/* --- Proximal Adagrad --- */

const OpRegistration kOpApplyProximalAdagrad = {
    .name = "ApplyProximalAdagrad",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "l1: T", "l2: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(proximal_adagrad)),
};

const OpRegistration kOpResourceApplyProximalAdagrad = {
    .name = "ResourceApplyProximalAdagrad",
    .inputs = {"var: resource", "accum: resource", "lr: T", "l1: T", "l2: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(proximal_adagrad)),
};

const OpRegistration kOpSparseApplyProximalAdagrad = {
    .name = "SparseApplyProximalAdagrad",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(proximal_adagrad)),
};

const OpRegistration kOpResourceSparseApplyProximalAdagrad = {
    .name = "ResourceSparseApplyProximalAdagrad",
    .inputs = {"var: resource", "accum: resource", "lr: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(proximal_adagrad)),
};

/* --- AddSign --- */

const OpRegistration kOpApplyAddSign = {
    .name = "ApplyAddSign",
    .inputs = {"var: Ref(T)", "m: Ref(T)", "lr: T", "alpha: T", "sign_decay: T", "beta: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(add_sign)),
};

const OpRegistration kOpResourceApplyAddSign = {
    .name = "ResourceApplyAddSign",
    .inputs = {"var: resource", "m: resource", "lr: T", "alpha: T", "sign_decay: T", "beta: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(add_sign)),
};

/* --- PowerSign --- */

const OpRegistration kOpApplyPowerSign = {
    .name = "ApplyPowerSign",
    .inputs = {"var: Ref(T)", "m: Ref(T)", "lr: T", "logbase: T", "sign_decay: T", "beta: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    UPDATE(FLOAT_STEPS(power_sign)),
};

const OpRegistration kOpResourceApplyPowerSign = {
    .name = "ResourceApplyPowerSign",
    .inputs = {"var: resource", "m: resource", "lr: T", "logbase: T", "sign_decay: T", "beta: T", "grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .is_stateful = true,
    UPDATE(FLOAT_STEPS(power_sign)),
};
