/* Complex numbers from real ones, and real ones from complex ones. TensorFlow has kernels only for T and Tout
 * of the same width; here all combinations exist. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

typedef enum Part { PART_REAL, PART_IMAG, PART_ANGLE, PART_ABS } Part;

typedef struct PartJob {
  Part part;
  const void *x;
  void *out;
  bool wide; /* double or float */
} PartJob;

/* The length of (re, im). In double, the squares of floats neither overflow nor vanish. */
ALWAYS_INLINE double length_of(double re, double im, bool floats) {
  if (!floats) return hypot(re, im);
  double length = sqrt(re * re + im * im);
  return isinf(re) || isinf(im) ? (double)INFINITY : length; /* also where the other one is NaN */
}

ALWAYS_INLINE double part_of(Part part, double re, double im, bool floats) {
  switch (part) {
    case PART_REAL: return re;
    case PART_IMAG: return im;
    case PART_ANGLE: return atan2(im, re);
    default: return length_of(re, im, floats);
  }
}

#define TEMPLATE "ops/math/complex_parts.inc"
#define TYPES TYPES_COMPLEX
#include "simd/each_type.inc"

/* Its data is a Part. */
static bool part_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  PartJob job = {*(const Part *)context->data, x->data, out->data, out->dtype == DT_DOUBLE};
  static const double kWork[] = {[PART_REAL] = 1, [PART_IMAG] = 1, [PART_ANGLE] = 20, [PART_ABS] = 5};
  parallel_work(context->parallel, tensor_num_elements(x), kWork[job.part],
                x->dtype == DT_COMPLEX64 ? take_parts_c64 : take_parts_c128, &job);
  return true;
}
static const Part kReal = PART_REAL, kImag = PART_IMAG, kAngle = PART_ANGLE, kAbs = PART_ABS;

static bool complex_kernel(KernelContext *context, Status *status) {
  bool wide = context->inputs[0]->dtype == DT_DOUBLE;
  if (context->output_types[0] == DT_COMPLEX64)
    return broadcast_binary(context, wide ? from_f64_c64 : from_f32_c64, status);
  return broadcast_binary(context, wide ? from_f64_c128 : from_f32_c128, status);
}

#define PART_ATTRS \
  { "T: {complex64, complex128} = DT_COMPLEX64", "Tout: {float, double} = DT_FLOAT" }

const OpRegistration kOpReal = {
    .name = "Real",
    .inputs = {"input: T"},
    .outputs = {"output: Tout"},
    .attrs = PART_ATTRS,
    .shape = shape_unchanged,
    .gradient =
        "RealGradient[T:type, Tout:type](x:T, dy:Tout) -> (dx:T) {\n"
        "  zeros = ZerosLike[T=$Tout](dy)\n"
        "  dx = Complex[T=$Tout, Tout=$T](dy, zeros:y:0)\n"
        "  return dx = dx:out:0\n"
        "}\n",
    .kernels = {COMPLEX_KERNELS(part_kernel, &kReal)},
};

const OpRegistration kOpImag = {
    .name = "Imag",
    .inputs = {"input: T"},
    .outputs = {"output: Tout"},
    .attrs = PART_ATTRS,
    .shape = shape_unchanged,
    .gradient =
        "ImagGradient[T:type, Tout:type](x:T, dy:Tout) -> (dx:T) {\n"
        "  zeros = ZerosLike[T=$Tout](dy)\n"
        "  dx = Complex[T=$Tout, Tout=$T](zeros:y:0, dy)\n"
        "  return dx = dx:out:0\n"
        "}\n",
    .kernels = {COMPLEX_KERNELS(part_kernel, &kImag)},
};

/* The angle grows at a right angle to x: dx = dy i x / |x|^2 = dy i / conj(x). */
const OpRegistration kOpAngle = {
    .name = "Angle",
    .inputs = {"input: T"},
    .outputs = {"output: Tout"},
    .attrs = PART_ATTRS,
    .shape = shape_unchanged,
    .gradient =
        "AngleGradient[T:type, Tout:type](x:T, dy:Tout) -> (dx:T) {\n"
        "  zeros = ZerosLike[T=$Tout](dy)\n"
        "  turned = Complex[T=$Tout, Tout=$T](zeros:y:0, dy)\n"
        "  conj_x = Conj[T=$T](x)\n"
        "  dx = RealDiv[T=$T](turned:out:0, conj_x:output:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {COMPLEX_KERNELS(part_kernel, &kAngle)},
};

/* The direction of x, which is computed here because the gradient of Sign is zero, as in TensorFlow. Zero
 * where x is zero. */
const OpRegistration kOpComplexAbs = {
    .name = "ComplexAbs",
    .inputs = {"x: T"},
    .outputs = {"y: Tout"},
    .attrs = PART_ATTRS,
    .shape = shape_unchanged,
    .gradient =
        "ComplexAbsGradient[T:type, Tout:type](x:T, dy:Tout) -> (dx:T) {\n"
        "  y = ComplexAbs[T=$T, Tout=$Tout](x)\n"
        "  ratio = DivNoNan[T=$Tout](dy, y:y:0)\n"
        "  zeros = ZerosLike[T=$Tout](dy)\n"
        "  length = Complex[T=$Tout, Tout=$T](ratio:z:0, zeros:y:0)\n"
        "  dx = Mul[T=$T](length:out:0, x)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {COMPLEX_KERNELS(part_kernel, &kAbs)},
};

const OpRegistration kOpConj = {
    .name = "Conj",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {complex64, complex128, variant} = DT_COMPLEX64"},
    .shape = shape_unchanged,
    .gradient =
        "ConjGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  dx = Conj[T=$T](dy)\n"
        "  return dx = dx:output:0\n"
        "}\n",
    .kernels = {TYPED_COMPLEX_KERNELS(elementwise_unary, conj)},
};

const OpRegistration kOpComplex = {
    .name = "Complex",
    .inputs = {"real: T", "imag: T"},
    .outputs = {"out: Tout"},
    .attrs = {"T: {float, double} = DT_FLOAT", "Tout: {complex64, complex128} = DT_COMPLEX64"},
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT_OF("ComplexGradient[T:type, Tout:type](x:T, y:T, dz:Tout) -> (dx:T, dy:T)",
                                      "gx:output:0", "gy:output:0",
                                      "  gx = Real[T=$Tout, Tout=$T](dz)\n"
                                      "  gy = Imag[T=$Tout, Tout=$T](dz)\n"),
    .kernels = {FLOAT_KERNELS(complex_kernel)},
};
