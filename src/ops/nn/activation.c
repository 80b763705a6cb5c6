/* The activations of neural networks, and the gradient ops of those that have one. */
#include "op/op_registry.h"
#include "ops/support/complex_math.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/nn/activation.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

#define TEMPLATE "ops/nn/complex_activation.inc"
#define TYPES TYPES_COMPLEX
#include "simd/each_type.inc"

static const VectorFunction kVectorTanh = {vector_tanh_f32, vector_tanh_f64, tanh_loop_c64, tanh_loop_c128};
static const VectorFunction kVectorSigmoid = {vector_sigmoid_f32, vector_sigmoid_f64, sigmoid_loop_c64,
                                              sigmoid_loop_c128};

CONJUGATE_GRADIENT(tanh_gradient,
                   "TanhGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  y = Tanh[T=$T](~x)\n"
                   "  dx = TanhGrad[T=$T](y:y:0, dy)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpTanh = {
    .name = "Tanh",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, complex64, complex128}"},
    .shape = shape_unchanged,
    .gradient_fn = tanh_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorTanh),
                COMPLEX_KERNELS(elementwise_function, &kVectorTanh)},
};

CONJUGATE_GRADIENT(sigmoid_gradient,
                   "SigmoidGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  y = Sigmoid[T=$T](~x)\n"
                   "  dx = SigmoidGrad[T=$T](y:y:0, dy)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpSigmoid = {
    .name = "Sigmoid",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, complex64, complex128}"},
    .shape = shape_unchanged,
    .gradient_fn = sigmoid_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorSigmoid),
                COMPLEX_KERNELS(elementwise_function, &kVectorSigmoid)},
};

/* The gradient uses the result, which is positive where the input is positive, so the input need not
 * be kept. */
const OpRegistration kOpRelu = {
    .name = "Relu",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {"T: {realnumbertype, qint8}"},
    .shape = shape_unchanged,
    .gradient =
        "ReluGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Relu[T=$T](x)\n"
        "  dx = ReluGrad[T=$T](dy, y:activations:0)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .kernels = {TYPED_REAL_KERNELS(elementwise_unary, relu)},
};

const OpRegistration kOpReluGrad = {
    .name = "ReluGrad",
    .inputs = {"gradients: T", "features: T"},
    .outputs = {"backprops: T"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_merged_inputs,
    .gradient =
        "ReluGradGradient[T:type](gradients:T, features:T, dy:T) -> (dgradients:T, dfeatures:T) {\n"
        "  dgradients = ReluGrad[T=$T](dy, features)\n"
        "  dfeatures = ZerosLike[T=$T](features)\n"
        "  return dgradients = dgradients:backprops:0, dfeatures = dfeatures:y:0\n"
        "}\n",
    .kernels = {TYPED_REAL_KERNELS(elementwise_pair, relu_grad)},
};

const OpRegistration kOpRelu6 = {
    .name = "Relu6",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_unchanged,
    .gradient =
        "Relu6Gradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Relu6[T=$T](x)\n"
        "  dx = Relu6Grad[T=$T](dy, y:activations:0)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .kernels = {TYPED_REAL_KERNELS(elementwise_unary, relu6)},
};

const OpRegistration kOpRelu6Grad = {
    .name = "Relu6Grad",
    .inputs = {"gradients: T", "features: T"},
    .outputs = {"backprops: T"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_merged_inputs,
    .gradient =
        "Relu6GradGradient[T:type](gradients:T, features:T, dy:T) -> (dgradients:T, dfeatures:T) {\n"
        "  dgradients = Relu6Grad[T=$T](dy, features)\n"
        "  dfeatures = ZerosLike[T=$T](features)\n"
        "  return dgradients = dgradients:backprops:0, dfeatures = dfeatures:y:0\n"
        "}\n",
    .kernels = {TYPED_REAL_KERNELS(elementwise_pair, relu6_grad)},
};
