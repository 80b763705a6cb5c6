/* GELU in one op, which a pass of the optimizer (optimizer/find_gelu.h) puts in place of several nodes: x
 * times the distribution function of the normal distribution at x, and the approximation of that by a tanh.
 */
#include "op/op_registry.h"
#include "ops/support/elementwise.h"
#include "simd/vector_math.h"

static const VectorFunction kVectorGelu = {vector_gelu_f32, NULL, NULL, NULL};
static const VectorFunction kVectorGeluByTanh = {vector_gelu_by_tanh_f32, NULL, NULL, NULL};

const OpRegistration kOp_GeluExact = {
    .name = "_GeluExact",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {"T: {float}"},
    .shape = shape_unchanged,
    .kernels = {{DT_FLOAT, elementwise_function, &kVectorGelu}},
};

const OpRegistration kOp_GeluApproximate = {
    .name = "_GeluApproximate",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {"T: {float}"},
    .shape = shape_unchanged,
    .kernels = {{DT_FLOAT, elementwise_function, &kVectorGeluByTanh}},
};
