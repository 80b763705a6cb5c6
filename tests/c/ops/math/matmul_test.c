/* MatMul: shapes, types, transposes, packed constants. The products themselves are tested in blas/gemm. */
#include <stdio.h>

#include "base/alloc.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(products_with_every_transpose) {
  op_gives("MatMul[T=float]", "float[2,3] 1 2 3 4 5 6; float[3,2] 1 2 3 4 5 6", "float[2,2] 22 28 49 64");
  op_gives("MatMul[T=double, transpose_a=true]", "double[3,2] 1 4 2 5 3 6; double[3,2] 1 2 3 4 5 6",
           "double[2,2] 22 28 49 64");
  op_gives("MatMul[T=int32, transpose_b=true]", "int32[2,3] 1 2 3 4 5 6; int32[2,3] 1 3 5 2 4 6",
           "int32[2,2] 22 28 49 64");
  op_gives("MatMul[T=int64, transpose_a=true, transpose_b=true]",
           "int64[3,2] 1 4 2 5 3 6; int64[2,3] 1 3 5 2 4 6", "int64[2,2] 22 28 49 64");
  op_gives("MatMul[T=half]", "half[2,3] 1 2 3 4 5 6; half[3,2] 1 2 3 4 5 6", "half[2,2] 22 28 49 64");
  op_gives("MatMul[T=bfloat16, transpose_b=true]", "bfloat16[1,3] 1 2 3; bfloat16[2,3] 1 0 0 0 0 1",
           "bfloat16[1,2] 1 3");
}

TEST(empty_products) {
  op_gives("MatMul[T=float]", "float[2,0]; float[0,3]", "float[2,3] 0");
  op_gives("MatMul[T=float]", "float[0,2]; float[2,3] 1", "float[0,3]");
  op_gives("MatMul[T=double]", "double[2,2] 1; double[2,0]", "double[2,0]");
  op_gives("MatMul[T=int32]", "int32[2,0]; int32[0,2]", "int32[2,2] 0");
  op_gives("MatMul[T=half]", "half[2,0]; half[0,1]", "half[2,1] 0");
}

TEST(shapes_that_do_not_fit) {
  op_fails("MatMul[T=float]", "float[2,3] 0; float[2,3] 0", CODE_INVALID_ARGUMENT,
           "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
  op_fails("MatMul[T=float, transpose_b=true]", "float[2,3] 0; float[3,2] 0", CODE_INVALID_ARGUMENT,
           "Matrix size-incompatible");
  op_fails("MatMul[T=float]", "float[2] 0; float[2,3] 0", CODE_INVALID_ARGUMENT,
           "In[0] is not a matrix. Instead it has shape [2]");
  op_fails("MatMul[T=int32]", "int32[2,2] 0; int32[2,2,1] 0", CODE_INVALID_ARGUMENT, "In[1] is not a matrix");
}

/* A product of small integers is exact, packed or not. */
static void check_product(const Tensor *a, const Tensor *b, bool transpose_b, const Tensor *product) {
  int64_t m = shape_dim(&a->shape, 0), k = shape_dim(&a->shape, 1), n = shape_dim(&b->shape, !transpose_b);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t p = 0; p < k; p++)
        sum += tensor_get(a, i * k + p) * tensor_get(b, transpose_b ? j * k + p : p * n + j);
      if (!CHECK_NEAR(tensor_get(product, i * n + j), sum, 0)) return;
    }
  }
}

static void check_constant(const char *type, int64_t m, int64_t k, int64_t n, bool transpose_b) {
  char spec[96];
  snprintf(spec, sizeof spec, "MatMul[T=%s, transpose_b=%s]", type, transpose_b ? "true" : "false");
  CHECK_CONTEXT("%s %lld x %lld x %lld", spec, (long long)m, (long long)k, (long long)n);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  run.constant = true;
  DataType dtype = (DataType)dtype_from_name(str_of(type));
  Tensor *a = op_run_input(&run, dtype, 2, (int64_t[]){m, k});
  Tensor *b = op_run_input(&run, dtype, 2, transpose_b ? (int64_t[]){n, k} : (int64_t[]){k, n});
  for (int64_t i = 0; i < m * k; i++) tensor_put(a, i, (double)(i * 7 % 5) - 2);
  for (int64_t i = 0; i < k * n; i++) tensor_put(b, i, (double)(i * 11 % 7) - 3);
  if (CHECK_OK(op_run_compute(&run, &status), status)) check_product(a, b, transpose_b, &run.outputs[0]);
  op_run_end(&run);
}

TEST(constant_weights_are_packed_once) {
  static const int64_t kSizes[] = {1, 2, 3, 8, 17};
  for (int m = 0; m < 5; m++) {
    for (int n = 0; n < 5; n++) {
      for (int t = 0; t < 2; t++) {
        check_constant("float", kSizes[m], 19, kSizes[n], t);
        check_constant("double", kSizes[m], 19, kSizes[n], t);
      }
    }
  }
  check_constant("int32", 3, 4, 5, true);
  check_constant("float", 4, 0, 3, false);
  CHECK_CONTEXT("%s", "");
}

/* Runs the kernel with `rows` rows of small integers and `b`. */
static void check_rows(OpKernel *kernel, const Tensor *b, int64_t rows) {
  int64_t depth = shape_dim(&b->shape, 0);
  Tensor a = {0}, product = {0};
  Status status;
  status_init(&status);
  REQUIRE_OK(tensor_allocate_dims(&a, DT_FLOAT, 2, (int64_t[]){rows, depth}, NULL, &status), status);
  for (int64_t i = 0; i < rows * depth; i++) tensor_f32(&a)[i] = (float)(i * 7 % 5) - 2;
  KernelContext context = {.inputs = (const Tensor *[]){&a, b}, .outputs = &product};
  if (CHECK_OK(op_kernel_run(kernel, &context, &status), status)) check_product(&a, b, false, &product);
  tensor_clear(&a);
  tensor_clear(&product);
}

TEST(a_constant_gets_the_forms_that_its_products_need) {
  static const struct {
    int64_t rows;
    bool makes;
  } kProducts[] = {{1, true}, {5, true}, {1, false}, {2, false}, {9, false}};
  Status status;
  status_init(&status);
  OpRun run;
  OpKernel *kernel = NULL;
  REQUIRE_OK(op_run_begin(&run, "MatMul[T=float]", &status), status);
  Tensor *b = op_run_input(&run, DT_FLOAT, 2, (int64_t[]){300, 77});
  for (int64_t i = 0; i < 300 * 77; i++) tensor_f32(b)[i] = (float)(i * 11 % 7) - 3;
  const Tensor *constants[] = {NULL, b};
  if (CHECK_OK(op_kernel_new(run.op, run.node, constants, NULL, &kernel, &status), status)) {
    for (size_t i = 0; i < sizeof kProducts / sizeof *kProducts; i++) {
      int64_t bytes = mem_live_bytes();
      check_rows(kernel, b, kProducts[i].rows);
      CHECK_INT_EQ(mem_live_bytes() > bytes, kProducts[i].makes);
    }
  }
  op_kernel_free(kernel);
  op_run_end(&run);
}

GRADIENT_CASES(matmul,
               {"MatMul[T=double]", "double[2,3] 1 2 3 4 -5 6; double[3,4] -1 0.5 2 3 1.5 -2 0.7 4 1 2 3 -1"},
               {"MatMul[T=double, transpose_a=true]",
                "double[3,2] 1 2 3 4 -5 6; double[3,4] -1 0.5 2 3 1.5 -2 0.7 4 1 2 3 -1"},
               {"MatMul[T=double, transpose_b=true]",
                "double[2,3] 1 2 3 4 -5 6; double[4,3] -1 0.5 2 3 1.5 -2 0.7 4 1 2 3 -1"},
               {"MatMul[T=double, transpose_a=true, transpose_b=true]",
                "double[3,2] 1 2 3 4 -5 6; double[4,3] -1 0.5 2 3 1.5 -2 0.7 4 1 2 3 -1"},
               {"MatMul[T=double]", "double[1,1] 2; double[1,3] 4 5 6"},
               {"MatMul[T=double]", "double[0,3]; double[3,2] 1 2 3 4 5 6"})
