#include "ops/math/matrix_product.h"

#include <string.h>

#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/support/typed_loops.h"

/* The type that computes the product: real matrices for the parts of complex numbers, float and int32 for
 * 16-bit numbers. */
static DataType real_type(DataType type) {
  if (half_precision(type) || type == DT_COMPLEX64) return DT_FLOAT;
  if (type == DT_INT16) return DT_INT32;
  return type == DT_COMPLEX128 ? DT_DOUBLE : type;
}

static const KernelEntry kTypedProducts[] = {TYPED_FLOAT_KERNELS(NULL, &gemm),
                                             TYPED_INT_KERNELS(NULL, &gemm)};

static const GemmType *gemm_type(DataType real) { return TYPED_LOOPS(kTypedProducts, real); }

/* The sizes of the planes for the parts of A, B and C, each a multiple of a cache line. */
typedef struct Planes {
  int64_t a, b, c, bytes;
  bool fits;
} Planes;

static int64_t round_up(int64_t count) { return (count + 15) / 16 * 16; }

static Planes plan_planes(const MatrixProduct *product) {
  const GemmArgs *args = &product->args;
  int parts = dtype_is_complex(product->type) ? 2 : 1;
  /* Each product is the size of an existing tensor, with elements of at least 2 bytes; the planes need at
   * most 8 times that. */
  Planes planes = {round_up(args->m * args->k), round_up(args->k * args->n), round_up(args->m * args->n), 0,
                   true};
  int64_t all, size = (int64_t)dtype_size(real_type(product->type)) * parts;
  planes.fits = !__builtin_add_overflow(planes.a, planes.b, &all) &&
                !__builtin_add_overflow(all, planes.c, &all) &&
                !__builtin_mul_overflow(all, size, &planes.bytes);
  return planes;
}

/* Extracts the matrices into the planes. */
static GemmArgs real_args(const MatrixProduct *product) {
  GemmArgs args = product->args;
  args.packed_b = NULL;
  return args;
}

bool matrix_product_takes_strides(DataType type) { return real_type(type) == type; }

int64_t matrix_product_workspace(const MatrixProduct *product) {
  DataType real = real_type(product->type);
  if (real == product->type) return gemm_type(real)->workspace(&product->args);
  Planes planes = plan_planes(product);
  GemmArgs args = real_args(product);
  int64_t size, workspace = gemm_type(real)->workspace(&args);
  return planes.fits && !__builtin_add_overflow(planes.bytes, workspace, &size) ? size : -1;
}

static void multiply_half(const MatrixProduct *product, const Parallel *parallel, void *workspace) {
  GemmArgs args = real_args(product);
  Planes planes = plan_planes(product);
  float *a = workspace, *b = a + planes.a, *c = b + planes.b;
  half_precision_widen(product->type, product->args.a, a, args.m * args.k);
  half_precision_widen(product->type, product->args.b, b, args.k * args.n);
  args.a = a, args.b = b, args.c = c;
  gemm_f32.run(&args, parallel, c + planes.c);
  half_precision_narrow(product->type, c, product->args.c, args.m * args.n);
}

static void multiply_int16(const MatrixProduct *product, const Parallel *parallel, void *workspace) {
  GemmArgs args = real_args(product);
  Planes planes = plan_planes(product);
  int32_t *a = workspace, *b = a + planes.a, *c = b + planes.b;
  const int16_t *from_a = product->args.a, *from_b = product->args.b;
  for (int64_t i = 0; i < args.m * args.k; i++) a[i] = from_a[i];
  for (int64_t i = 0; i < args.k * args.n; i++) b[i] = from_b[i];
  args.a = a, args.b = b, args.c = c;
  gemm_type(DT_INT32)->run(&args, parallel, NULL);
  for (int64_t i = 0; i < args.m * args.n; i++)
    ((int16_t *)product->args.c)[i] = (int16_t)(uint32_t)c[i]; /* wraps around */
}

/* Combines the planes at re and im into `count` numbers of T; the sign of the imaginary part may change. */
static void split(DataType real, const void *from, int64_t count, bool negate, void *re, void *im) {
  if (real == DT_FLOAT) {
    const float *x = from;
    float *r = re, *i = im;
    for (int64_t k = 0; k < count; k++) r[k] = x[2 * k], i[k] = negate ? -x[2 * k + 1] : x[2 * k + 1];
  } else {
    const double *x = from;
    double *r = re, *i = im;
    for (int64_t k = 0; k < count; k++) r[k] = x[2 * k], i[k] = negate ? -x[2 * k + 1] : x[2 * k + 1];
  }
}

static void negate(DataType real, void *values, int64_t count) {
  if (real == DT_FLOAT) {
    float *x = values;
    for (int64_t k = 0; k < count; k++) x[k] = -x[k];
  } else {
    double *x = values;
    for (int64_t k = 0; k < count; k++) x[k] = -x[k];
  }
}

static void join(DataType real, const void *re, const void *im, int64_t count, void *to) {
  if (real == DT_FLOAT) {
    const float *r = re, *i = im;
    float *x = to;
    for (int64_t k = 0; k < count; k++) x[2 * k] = r[k], x[2 * k + 1] = i[k];
  } else {
    const double *r = re, *i = im;
    double *x = to;
    for (int64_t k = 0; k < count; k++) x[2 * k] = r[k], x[2 * k + 1] = i[k];
  }
}

/* Four real products: the imaginary part is Ar Bi + Ai Br, the real one Ar Br + (-Ai) Bi. */
static void multiply_complex(const MatrixProduct *product, const Parallel *parallel, void *workspace) {
  DataType real = real_type(product->type);
  const GemmType *gemm = gemm_type(real);
  int64_t size = (int64_t)dtype_size(real);
  GemmArgs args = real_args(product);
  Planes planes = plan_planes(product);
  char *a_re = workspace, *a_im = a_re + planes.a * size, *b_re = a_im + planes.a * size,
       *b_im = b_re + planes.b * size;
  char *c_re = b_im + planes.b * size, *c_im = c_re + planes.c * size, *rest = c_im + planes.c * size;
  int64_t count_a = args.m * args.k, count_c = args.m * args.n;
  split(real, product->args.a, count_a, product->conjugate_a, a_re, a_im);
  split(real, product->args.b, args.k * args.n, product->conjugate_b, b_re, b_im);
  args.a = a_re, args.b = b_im, args.c = c_im;
  gemm->run(&args, parallel, rest);
  args.a = a_im, args.b = b_re, args.accumulate = true;
  gemm->run(&args, parallel, rest);
  negate(real, a_im, count_a);
  args.b = b_im, args.c = c_re, args.accumulate = false;
  gemm->run(&args, parallel, rest);
  args.a = a_re, args.b = b_re, args.accumulate = true;
  gemm->run(&args, parallel, rest);
  join(real, c_re, c_im, count_c, product->args.c);
}

void matrix_product_run(const MatrixProduct *product, const Parallel *parallel, void *workspace) {
  if (half_precision(product->type)) {
    multiply_half(product, parallel, workspace);
  } else if (dtype_is_complex(product->type)) {
    multiply_complex(product, parallel, workspace);
  } else if (product->type == DT_INT16) {
    multiply_int16(product, parallel, workspace);
  } else {
    gemm_type(product->type)->run(&product->args, parallel, workspace);
  }
}

/* Arranged so that only the flags of the products transpose. */
MatrixProductGradient matrix_product_gradient(int side, bool transpose_a, bool transpose_b) {
  if (side == 0) {
    return transpose_a ? (MatrixProductGradient){false, transpose_b, true}
                       : (MatrixProductGradient){true, false, !transpose_b};
  }
  return transpose_b ? (MatrixProductGradient){true, true, transpose_a}
                     : (MatrixProductGradient){false, !transpose_a, false};
}
