/* Activations that are piecewise linear or asymptotically linear, and their gradient ops. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/support/typed_loops.h"
#include "simd/vector_math.h"

/* dy where x is positive, else alpha * dy; LeakyRelu itself is the case dy = x. `out` may be any of them. */
typedef struct LeakyJob {
  const void *dy, *x;
  void *out;
  float alpha;
} LeakyJob;

#define TEMPLATE "ops/nn/linear_units.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

static const VectorFunction kVectorSoftplus = {vector_softplus_f32, vector_softplus_f64, NULL, NULL};
static const VectorFunction kVectorElu = {vector_elu_f32, vector_elu_f64, NULL, NULL};
static const VectorFunction kVectorSelu = {vector_selu_f32, vector_selu_f64, NULL, NULL};

typedef struct LeakyState {
  float alpha;
} LeakyState;

static bool leaky_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_float(construction->node, "alpha", &((LeakyState *)memory)->alpha, status);
}

static const KernelEntry kTypedLeaky[] = {TYPED_FLOAT_AND_HALF_KERNELS(NULL, leaky_range)};

static void run_leaky(KernelContext *context, LeakyJob *job, const Tensor *out) {
  ParallelBody *body = (ParallelBody *)TYPED_LOOPS(kTypedLeaky, out->dtype);
  job->out = out->data;
  job->alpha = ((const LeakyState *)context->state)->alpha;
  parallel_work(context->parallel, tensor_num_elements(out), 1, body, job);
}

static bool leaky_relu(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &out, status));
  run_leaky(context, &(LeakyJob){.dy = x->data, .x = x->data}, out);
  return true;
}

static bool leaky_relu_grad(KernelContext *context, Status *status) {
  const Tensor *dy = context->inputs[0], *x = context->inputs[1];
  TRY(elementwise_check_shapes(context, status));
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &dy->shape, &out, status));
  run_leaky(context, &(LeakyJob){.dy = dy->data, .x = x->data}, out);
  return true;
}

#define UNIT_TYPES "T: {half, bfloat16, float, double}"

/* log(1 + exp(x)) */
const OpRegistration kOpSoftplus = {
    .name = "Softplus",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "SoftplusGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  dx = SoftplusGrad[T=$T](dy, x)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorSoftplus)},
};

const OpRegistration kOpSoftplusGrad = {
    .name = "SoftplusGrad",
    .inputs = {"gradients: T", "features: T"},
    .outputs = {"backprops: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_merged_inputs,
    .gradient =
        "SoftplusGradGradient[T:type](gradients:T, features:T, dy:T) -> (dgradients:T, dfeatures:T) {\n"
        "  dgradients = SoftplusGrad[T=$T](dy, features)\n"
        "  slope = Sigmoid[T=$T](features)\n"
        "  product = Mul[T=$T](dy, gradients)\n"
        "  dfeatures = SigmoidGrad[T=$T](slope:y:0, product:z:0)\n"
        "  return dgradients = dgradients:backprops:0, dfeatures = dfeatures:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_pair, softplus_grad)},
};

/* x / (1 + |x|) */
const OpRegistration kOpSoftsign = {
    .name = "Softsign",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "SoftsignGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  dx = SoftsignGrad[T=$T](dy, x)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, softsign)},
};

/* dy / (1 + |x|)^2; the derivative by x is that times -2 sign(x) / (1 + |x|) */
const OpRegistration kOpSoftsignGrad = {
    .name = "SoftsignGrad",
    .inputs = {"gradients: T", "features: T"},
    .outputs = {"backprops: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_merged_inputs,
    .gradient =
        "SoftsignGradGradient[T:type](gradients:T, features:T, dy:T) -> (dgradients:T, dfeatures:T) {\n"
        "  dgradients = SoftsignGrad[T=$T](dy, features)\n"
        "  one = Const[dtype=$T, value=1]()\n"
        "  size = Abs[T=$T](features)\n"
        "  width = Add[T=$T](size:y:0, one:output:0)\n"
        "  product = Mul[T=$T](dgradients:backprops:0, gradients)\n"
        "  quotient = RealDiv[T=$T](product:z:0, width:z:0)\n"
        "  sign = Sign[T=$T](features)\n"
        "  half = Mul[T=$T](quotient:z:0, sign:y:0)\n"
        "  factor = Const[dtype=$T, value=-2]()\n"
        "  dfeatures = Mul[T=$T](half:z:0, factor:output:0)\n"
        "  return dgradients = dgradients:backprops:0, dfeatures = dfeatures:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_pair, softsign_grad)},
};

/* The gradients of a gradient op that takes the result y and is dy * (y + something) below zero: by dy the op
 * itself, by y dy in that range. */
#define GRADIENT_BY_RESULT(op)                                                          \
  op "Gradient[T:type](gradients:T, outputs:T, dy:T) -> (dgradients:T, doutputs:T) {\n" \
     "  dgradients = " op                                                               \
     "[T=$T](dy, outputs)\n"                                                            \
     "  product = Mul[T=$T](dy, gradients)\n"                                           \
     "  zeros = ZerosLike[T=$T](outputs)\n"                                             \
     "  below = Less[T=$T](outputs, zeros:y:0)\n"                                       \
     "  doutputs = Select[T=$T](below:z:0, product:z:0, zeros:y:0)\n"                   \
     "  return dgradients = dgradients:backprops:0, doutputs = doutputs:output:0\n"     \
     "}\n"

const OpRegistration kOpElu = {
    .name = "Elu",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "EluGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Elu[T=$T](x)\n"
        "  dx = EluGrad[T=$T](dy, y:activations:0)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorElu)},
};

const OpRegistration kOpEluGrad = {
    .name = "EluGrad",
    .inputs = {"gradients: T", "outputs: T"},
    .outputs = {"backprops: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_merged_inputs,
    .gradient = GRADIENT_BY_RESULT("EluGrad"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_pair, elu_grad)},
};

const OpRegistration kOpSelu = {
    .name = "Selu",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "SeluGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Selu[T=$T](x)\n"
        "  dx = SeluGrad[T=$T](dy, y:activations:0)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorSelu)},
};

const OpRegistration kOpSeluGrad = {
    .name = "SeluGrad",
    .inputs = {"gradients: T", "outputs: T"},
    .outputs = {"backprops: T"},
    .attrs = {UNIT_TYPES},
    .shape = shape_merged_inputs,
    .gradient = GRADIENT_BY_RESULT("SeluGrad"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_pair, selu_grad)},
};

#define LEAKY_ATTRS \
  { "alpha: float = 0.2", "T: {half, bfloat16, float, double} = DT_FLOAT" }

const OpRegistration kOpLeakyRelu = {
    .name = "LeakyRelu",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = LEAKY_ATTRS,
    .shape = shape_unchanged,
    .gradient =
        "LeakyReluGradient[T:type, alpha:float](x:T, dy:T) -> (dx:T) {\n"
        "  dx = LeakyReluGrad[T=$T, alpha=$alpha](dy, x)\n"
        "  return dx = dx:backprops:0\n"
        "}\n",
    .state_size = sizeof(LeakyState),
    .construct = leaky_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(leaky_relu)},
};

const OpRegistration kOpLeakyReluGrad = {
    .name = "LeakyReluGrad",
    .inputs = {"gradients: T", "features: T"},
    .outputs = {"backprops: T"},
    .attrs = LEAKY_ATTRS,
    .shape = shape_merged_inputs,
    .gradient =
        "LeakyReluGradGradient[T:type, alpha:float](gradients:T, features:T, dy:T) -> (dgradients:T, "
        "dfeatures:T) {\n"
        "  dgradients = LeakyReluGrad[T=$T, alpha=$alpha](dy, features)\n"
        "  dfeatures = ZerosLike[T=$T](features)\n"
        "  return dgradients = dgradients:backprops:0, dfeatures = dfeatures:y:0\n"
        "}\n",
    .state_size = sizeof(LeakyState),
    .construct = leaky_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(leaky_relu_grad)},
};
