/* Igamma, Igammac and their derivatives, Betainc and Zeta. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/element_types.h"
#include "ops/math/gamma_floats.h"
#include "ops/math/gamma_functions.h"
#include "ops/math/incomplete_functions.h"

typedef struct BetaJob {
  const Tensor *inputs[3];
  Tensor *out;
} BetaJob;

static void zeta_loop(int64_t count, const double *s, const double *q, double *z) {
  for (int64_t i = 0; i < count; i++) z[i] = gamma_zeta(s[i], q[i]);
}

#define TEMPLATE "ops/math/incomplete_ops.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

#define BINARY(x, y, z, loop)                                                          \
  .inputs = {x ": T", y ": T"}, .outputs = {z ": T"}, .shape = shape_broadcast_binary, \
  .kernels = {TYPED_FLOAT_KERNELS(broadcast_kernel, loop)}

/* gy: exp(-x + (a - 1) log(x) - lgamma(a)) dz, the derivative by x (here y). */
#define BY_X                                       \
  "  log_y = Log[T=$T](y)\n"                       \
  "  one = Const[dtype=$T, value=1]()\n"           \
  "  power = Sub[T=$T](x, one:output:0)\n"         \
  "  logs = Mul[T=$T](power:z:0, log_y:y:0)\n"     \
  "  below = Sub[T=$T](logs:z:0, y)\n"             \
  "  gamma = Lgamma[T=$T](x)\n"                    \
  "  exponent = Sub[T=$T](below:z:0, gamma:y:0)\n" \
  "  density = Exp[T=$T](exponent:z:0)\n"

const OpRegistration kOpIgamma = {
    .name = "Igamma",
    BINARY("a", "x", "z", gamma_lower),
    .attrs = {"T: {bfloat16, half, float, double}"},
    .gradient =
        BROADCAST_GRADIENT("Igamma", "gx:z:0", "gy:z:0",
                           "  slope = IgammaGradA[T=$T](x, y)\n"
                           "  gx = Mul[T=$T](slope:z:0, dz)\n" BY_X "  gy = Mul[T=$T](density:y:0, dz)\n"),
};

const OpRegistration kOpIgammac = {
    .name = "Igammac",
    BINARY("a", "x", "z", gamma_upper),
    .attrs = {"T: {bfloat16, half, float, double}"},
    .gradient = BROADCAST_GRADIENT("Igammac", "gx:z:0", "gy:z:0",
                                   "  minus = Neg[T=$T](dz)\n"
                                   "  slope = IgammaGradA[T=$T](x, y)\n"
                                   "  gx = Mul[T=$T](slope:z:0, minus:y:0)\n" BY_X
                                   "  gy = Mul[T=$T](density:y:0, minus:y:0)\n"),
};

const OpRegistration kOpIgammaGradA = {
    .name = "IgammaGradA",
    BINARY("a", "x", "z", gamma_by_a),
    .attrs = {"T: {float, double}"},
};

const OpRegistration kOpRandomGammaGrad = {
    .name = "RandomGammaGrad",
    BINARY("alpha", "sample", "output", sample_by_a),
    .attrs = {"T: {float, double}"},
};

/* TensorFlow has no gradient by x. */
const OpRegistration kOpZeta = {
    .name = "Zeta",
    BINARY("x", "q", "z", zeta),
    .attrs = {"T: {float, double}"},
    .gradient =
        "ZetaGradient[T:type](x:T, q:T, dz:T) -> (dx:T, dq:T) {\n"
        "  sx = Shape[T=$T](x)\n"
        "  sq = Shape[T=$T](q)\n"
        "  axes = BroadcastGradientArgs(sx:output:0, sq:output:0)\n"
        "  one = Const[dtype=$T, value=1]()\n"
        "  next = Add[T=$T](x, one:output:0)\n"
        "  zeta = Zeta[T=$T](next:z:0, q)\n"
        "  minus = Neg[T=$T](x)\n"
        "  slope = Mul[T=$T](minus:y:0, zeta:z:0)\n"
        "  gq = Mul[T=$T](slope:z:0, dz)\n"
        "  total = Sum[T=$T](gq:z:0, axes:r1:0)\n"
        "  dq = Reshape[T=$T](total:output:0, sq:output:0)\n"
        "  dx = ZerosLike[T=$T](x)\n"
        "  return dx = dx:y:0, dq = dq:output:0\n"
        "}\n",
};

/* --- Betainc: inputs that are not scalars have one shape --- */

static bool beta_kernel(KernelContext *context, Status *status) {
  static const char kNames[] = "abx";
  BetaJob job = {{context->inputs[0], context->inputs[1], context->inputs[2]}, NULL};
  const Tensor *shaped = job.inputs[0];
  int first = 0;
  for (int i = 1; i < 3; i++) {
    const Tensor *other = job.inputs[i];
    char one[SHAPE_TEXT_CAPACITY], two[SHAPE_TEXT_CAPACITY];
    if (shaped->shape.rank == 0) {
      shaped = other;
      first = i;
    } else if (other->shape.rank > 0 && !shape_equal(&shaped->shape, &other->shape)) {
      return status_invalid(status, "Shapes of %c and %c are inconsistent: %s vs. %s", kNames[first],
                            kNames[i], shape_text(&shaped->shape, one), shape_text(&other->shape, two));
    }
  }
  TRY(kernel_allocate_output(context, 0, &shaped->shape, &job.out, status));
  parallel_work(context->parallel, tensor_num_elements(job.out), 500, context->data, &job);
  return true;
}

static bool beta_shape(InferenceContext *c, Status *status) {
  ShapeHandle output = NULL;
  bool unknown = false;
  for (int i = 0; i < 3; i++) {
    ShapeHandle s = shape_input(c, i);
    if (!shape_rank_known(s)) {
      unknown = true;
    } else if (shape_rank(s) > 0) {
      if (!output) output = s;
      TRY(shape_merge(c, output, s, &output, status));
    }
  }
  if (!output) TRY(shape_ok(unknown ? shape_unknown(c) : shape_scalar(c), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* By x alone, as in TensorFlow: x^(a - 1) (1 - x)^(b - 1) / B(a, b). */
const OpRegistration kOpBetainc = {
    .name = "Betainc",
    .inputs = {"a: T", "b: T", "x: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {float, double}"},
    .shape = beta_shape,
    .gradient =
        "BetaincGradient[T:type](a:T, b:T, x:T, dz:T) -> (da:T, db:T, dx:T) {\n"
        "  sx = Shape[T=$T](x)\n"
        "  sz = Shape[T=$T](dz)\n"
        "  axes = BroadcastGradientArgs(sx:output:0, sz:output:0)\n"
        "  la = Lgamma[T=$T](a)\n"
        "  lb = Lgamma[T=$T](b)\n"
        "  ab = Add[T=$T](a, b)\n"
        "  lab = Lgamma[T=$T](ab:z:0)\n"
        "  both = Add[T=$T](la:y:0, lb:y:0)\n"
        "  beta = Sub[T=$T](both:z:0, lab:y:0)\n"
        "  one = Const[dtype=$T, value=1]()\n"
        "  a1 = Sub[T=$T](a, one:output:0)\n"
        "  b1 = Sub[T=$T](b, one:output:0)\n"
        "  minus = Neg[T=$T](x)\n"
        "  upper = Xlog1py[T=$T](b1:z:0, minus:y:0)\n"
        "  lower = Xlogy[T=$T](a1:z:0, x)\n"
        "  logs = Add[T=$T](upper:z:0, lower:z:0)\n"
        "  exponent = Sub[T=$T](logs:z:0, beta:z:0)\n"
        "  density = Exp[T=$T](exponent:z:0)\n"
        "  gx = Mul[T=$T](density:y:0, dz)\n"
        "  total = Sum[T=$T](gx:z:0, axes:r0:0)\n"
        "  dx = Reshape[T=$T](total:output:0, sx:output:0)\n"
        "  da = ZerosLike[T=$T](a)\n"
        "  db = ZerosLike[T=$T](b)\n"
        "  return da = da:y:0, db = db:y:0, dx = dx:output:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_KERNELS(beta_kernel, beta)},
};
