/* BatchMatMul and BatchMatMulV2 compared with sums of products, and complex MatMul. */
#include <complex.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

static double _Complex number_at(const Tensor *tensor, int64_t i) {
  return tensor_get(tensor, i) + I * tensor_get_imaginary(tensor, i);
}

/* Matrices [m, k] and [k, n]; x has batch [bx, 2] and y [by, 2] or, with by = 0, none. */
static void check_batch(const char *op, const char *type, int64_t m, int64_t k, int64_t n, int64_t bx,
                        int64_t by, bool ax, bool ay) {
  char spec[96];
  snprintf(spec, sizeof spec, "%s[T=%s, adj_x=%s, adj_y=%s]", op, type, ax ? "true" : "false",
           ay ? "true" : "false");
  CHECK_CONTEXT("%s %lld %lld %lld, %lld and %lld", spec, (long long)m, (long long)k, (long long)n,
                (long long)bx, (long long)by);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  DataType dtype = (DataType)dtype_from_name(str_of(type));
  Tensor *x = op_run_input(&run, dtype, 4, (int64_t[]){bx, 2, ax ? k : m, ax ? m : k});
  Tensor *y = op_run_input(&run, dtype, by == 0 ? 2 : 4,
                           by == 0 ? (int64_t[]){ay ? n : k, ay ? k : n}
                                   : (int64_t[]){by, 2, ay ? n : k, ay ? k : n});
  for (int64_t i = 0; i < tensor_num_elements(x); i++)
    tensor_put(x, i, (double)(i * 7 % 5) - 2), tensor_put_imaginary(x, i, (double)(i % 3));
  for (int64_t i = 0; i < tensor_num_elements(y); i++)
    tensor_put(y, i, (double)(i * 11 % 7) - 3), tensor_put_imaginary(y, i, (double)(i % 4) - 1);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    int64_t batch = bx > by ? bx : by;
    CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), batch * 2 * m * n);
    for (int64_t i = 0; i < batch * 2 * m * n; i++) {
      int64_t column = i % n, row = i / n % m, inner = i / (n * m) % 2, outer = i / (n * m * 2);
      int64_t from_x = ((bx == 1 ? 0 : outer) * 2 + inner) * m * k;
      int64_t from_y = by == 0 ? 0 : ((by == 1 ? 0 : outer) * 2 + inner) * k * n;
      double _Complex sum = 0;
      for (int64_t p = 0; p < k; p++) {
        double _Complex a = number_at(x, from_x + (ax ? p * m + row : row * k + p));
        double _Complex b = number_at(y, from_y + (ay ? column * k + p : p * n + column));
        sum += (ax ? conj(a) : a) * (ay ? conj(b) : b);
      }
      if (!CHECK_NEAR(tensor_get(&run.outputs[0], i), creal(sum), 0)) break;
      if (!CHECK_NEAR(tensor_get_imaginary(&run.outputs[0], i), cimag(sum), 0)) break;
    }
  }
  op_run_end(&run);
}

TEST(batches_of_products) {
  static const char *const kTypes[] = {"float", "double", "half",      "bfloat16",
                                       "int32", "int64",  "complex64", "complex128"};
  for (int t = 0; t < 8; t++) {
    for (int adjoints = 0; adjoints < 4; adjoints++) {
      bool ax = adjoints & 1, ay = adjoints & 2;
      check_batch("BatchMatMul", kTypes[t], 3, 4, 5, 3, 3, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 3, 4, 5, 3, 3, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 2, 3, 4, 1, 3, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 4, 3, 1, 3, 1, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 3, 5, 4, 3, 0, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 20, 17, 19, 2, 0, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 9, 8, 10, 3, 3, ax, ay);
      check_batch("BatchMatMulV2", kTypes[t], 8, 8, 8, 1, 7, ax, ay);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(batches_that_are_empty) {
  op_gives("BatchMatMul[T=float]", "float[2,2,0]; float[2,0,1]", "float[2,2,1] 0");
  op_gives("BatchMatMulV2[T=complex64]", "complex64[2,2,0]; complex64[0,1]", "complex64[2,2,1] 0");
  op_gives("BatchMatMulV2[T=double]", "double[0,2,3]; double[1,3,1] 1", "double[0,2,1]");
  op_gives("BatchMatMulV2[T=float]", "float[2,0,3]; float[3,1] 1", "float[2,0,1]");
  op_gives("BatchMatMulV2[T=float]", "float[2,3] 1 2 3 4 5 6; float[3,1] 1 2 3", "float[2,1] 14 32");
}

TEST(batches_that_do_not_fit) {
  op_fails("BatchMatMul[T=float]", "float[2] 1; float[2,2] 1", CODE_INVALID_ARGUMENT,
           "In[0] and In[1] has different ndims: [2] vs. [2,2]");
  op_fails("BatchMatMul[T=float]", "float[1,2,3] 1; float[3,2] 1", CODE_INVALID_ARGUMENT,
           "has different ndims: [1,2,3] vs. [3,2]");
  op_fails("BatchMatMul[T=float]", "float[2,2,3] 1; float[3,3,2] 1", CODE_INVALID_ARGUMENT,
           "In[0].dim(0) and In[1].dim(0) must be the same: [2,2,3] vs [3,3,2]");
  op_fails("BatchMatMul[T=float]", "float[2,2,3] 1; float[2,2,3] 1", CODE_INVALID_ARGUMENT,
           "Matrix size-incompatible: In[0]: [2,2,3], In[1]: [2,2,3]");
  op_fails("BatchMatMulV2[T=float]", "float[2] 1; float[2,2] 1", CODE_INVALID_ARGUMENT,
           "In[0] ndims must be >= 2: 1");
  op_fails("BatchMatMulV2[T=float]", "float[2,2,3] 1; float[3,3,2] 1", CODE_INVALID_ARGUMENT,
           "In[0] and In[1] must have compatible batch dimensions: [2,2,3] vs. [3,3,2]");
  op_fails("BatchMatMulV2[T=float, adj_y=true]", "float[2,2,3] 1; float[3,2] 1", CODE_INVALID_ARGUMENT,
           "Matrix size-incompatible");
}

TEST(complex_matmul) {
  op_gives("MatMul[T=complex64]", "complex64[1,2] 1+2i 3; complex64[2,2] 1+3i 2 0+1i 4-1i",
           "complex64[1,2] -5+8i 14+1i");
  op_gives("MatMul[T=complex128, transpose_a=true]", "complex128[1,1] 1+2i; complex128[1,1] 1+3i",
           "complex128[1,1] -5+5i");
  op_gives("MatMul[T=complex128, transpose_b=true]", "complex128[0,2]; complex128[3,2] 1", "complex128[0,3]");
  op_gives("MatMul[T=complex64]", "complex64[2,0]; complex64[0,2]", "complex64[2,2] 0");
}

GRADIENT_CASES(
    batch_matmul,
    {"BatchMatMul[T=double]", "double[2,1,3] 1 2 3 -1 0.5 2; double[2,3,2] 1 -2 3 4 0.5 6 7 8 9 -1 1 2"},
    {"BatchMatMul[T=double, adj_x=true]", "double[3,2] 1 2 3 -1 0.5 2; double[3,1] 1 -2 3"},
    {"BatchMatMul[T=double, adj_y=true]", "double[1,2,1,2] 1 2 3 -1; double[1,2,1,2] 0.5 2 3 1"},
    {"BatchMatMul[T=double, adj_x=true, adj_y=true]", "double[1,3,2] 1 2 3 -1 0.5 2; double[1,1,3] 1 -2 3"},
    {"BatchMatMul[T=complex128, adj_x=true]", "complex128[1,2,1] 1+2i 3-1i; complex128[1,2,1] 0.5+1i -2+1i"},
    {"BatchMatMulV2[T=double]", "double[2,1,3] 1 2 3 -1 0.5 2; double[2,3,2] 1 -2 3 4 0.5 6 7 8 9 -1 1 2"},
    {"BatchMatMulV2[T=double, adj_x=true]",
     "double[2,1,3,2] 1 2 3 -1 0.5 2 4 5 6 -2 1 3; double[2,3,1] 1 -2 3 0.5 2 1"},
    {"BatchMatMulV2[T=double, adj_y=true]", "double[2,1,2] 1 2 3 -1; double[1,2] 0.5 2"},
    {"BatchMatMulV2[T=double, adj_x=true, adj_y=true]", "double[2,1] 1 2; double[2,1,2] 1 -2 3 4"},
    {"BatchMatMulV2[T=complex128]", "complex128[2,1,2] 1+2i 3-1i 2 0+1i; complex128[2,1] 0.5+1i -2+1i"},
    {"BatchMatMulV2[T=complex128, adj_x=true, adj_y=true]",
     "complex128[2,1] 1+2i 3-1i; complex128[1,1,2] 0.5+1i -2+1i"},
    {"MatMul[T=complex128]", "complex128[1,2] 1+2i 3-1i; complex128[2,1] 0.5+1i -2+1i"},
    {"MatMul[T=complex128, transpose_a=true]", "complex128[2,1] 1+2i 3-1i; complex128[2,1] 0.5+1i -2+1i"},
    {"MatMul[T=complex128, transpose_b=true]", "complex128[1,2] 1+2i 3-1i; complex128[1,2] 0.5+1i -2+1i"},
    {"MatMul[T=complex128, transpose_a=true, transpose_b=true]",
     "complex128[2,1] 1+2i 3-1i; complex128[1,2] 0.5+1i -2+1i"})
