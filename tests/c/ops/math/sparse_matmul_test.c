/* SparseMatMul compared with sums of products, for all flags. */
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

static void check_product(const char *ta, const char *tb, int flags) {
  enum { M = 5, K = 7, N = 6 };
  bool transpose_a = flags & 1, transpose_b = flags & 2;
  char spec[200];
  snprintf(spec, sizeof spec,
           "SparseMatMul[Ta=%s, Tb=%s, transpose_a=%s, transpose_b=%s, a_is_sparse=%s, b_is_sparse=%s]", ta,
           tb, transpose_a ? "true" : "false", transpose_b ? "true" : "false", flags & 4 ? "true" : "false",
           flags & 8 ? "true" : "false");
  CHECK_CONTEXT("%s", spec);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *a = op_run_input(&run, (DataType)dtype_from_name(str_of(ta)), 2,
                           transpose_a ? (int64_t[]){K, M} : (int64_t[]){M, K});
  Tensor *b = op_run_input(&run, (DataType)dtype_from_name(str_of(tb)), 2,
                           transpose_b ? (int64_t[]){N, K} : (int64_t[]){K, N});
  for (int64_t i = 0; i < M * K; i++) tensor_put(a, i, i % 3 == 0 ? (double)(i % 5) - 2 : 0);
  for (int64_t i = 0; i < K * N; i++) tensor_put(b, i, i % 4 == 1 ? (double)(i % 7) - 3 : 0);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < M; i++) {
      for (int64_t j = 0; j < N; j++) {
        double sum = 0;
        for (int64_t p = 0; p < K; p++) {
          sum += tensor_get(a, transpose_a ? p * M + i : i * K + p) *
                 tensor_get(b, transpose_b ? j * K + p : p * N + j);
        }
        CHECK_NEAR(tensor_get(&run.outputs[0], i * N + j), sum, 0);
      }
    }
  }
  op_run_end(&run);
}

TEST(sparse_products) {
  for (int flags = 0; flags < 16; flags++) {
    check_product("float", "float", flags);
    check_product("bfloat16", "float", flags);
    check_product("float", "bfloat16", flags);
    check_product("bfloat16", "bfloat16", flags);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(sparse_zeros_are_passed_over) {
  op_gives("SparseMatMul[a_is_sparse=true]", "float[1,2] 0 1; float[2,1] nan 2", "float[1,1] 2");
  op_gives("SparseMatMul[b_is_sparse=true]", "float[1,2] nan 1; float[2,1] 0 2", "float[1,1] 2");
  op_gives("SparseMatMul", "float[1,2] 0 1; float[2,1] nan 2", "float[1,1] nan");
  op_gives("SparseMatMul", "float[2,0]; float[0,3]", "float[2,3] 0");
  op_gives("SparseMatMul[a_is_sparse=true]", "float[2,0]; float[0,3]", "float[2,3] 0");
  op_gives("SparseMatMul[b_is_sparse=true, Ta=bfloat16]", "bfloat16[0,2]; float[2,3] 1", "float[0,3]");
}

TEST(sparse_products_that_do_not_fit) {
  op_fails("SparseMatMul", "float[2,3] 1; float[2,3] 1", CODE_INVALID_ARGUMENT,
           "Matrix size incompatible: a: [2,3], b: [2,3]");
  op_fails("SparseMatMul", "float[2] 1; float[2,3] 1", CODE_INVALID_ARGUMENT, "a is not a matrix");
  op_fails("SparseMatMul", "float[2,2] 1; float[2,2,2] 1", CODE_INVALID_ARGUMENT, "b is not a matrix");
}

/* There is no float64 for differences; the gradient is two products, compared with closed forms. */
TEST(gradients_of_sparse_products) {
  gradient_is("SparseMatMul[Tb=bfloat16]", "float[1,2] 1 2; bfloat16[2,2] 1 2 3 4",
              "float[1,2] 3 7; bfloat16[2,2] 1 1 2 2");
  gradient_is("SparseMatMul[transpose_a=true, a_is_sparse=true]", "float[2,1] 1 0; float[2,2] 1 2 3 4",
              "float[2,1] 3 7; float[2,2] 1 1 0 0");
  gradient_is("SparseMatMul[transpose_b=true, Ta=bfloat16, b_is_sparse=true]",
              "bfloat16[1,2] 1 2; float[2,2] 1 2 0 4", "bfloat16[1,2] 1 6; float[2,2] 1 2 1 2");
  gradient_is("SparseMatMul[transpose_a=true, transpose_b=true]", "float[2,1] 1 2; float[2,2] 1 2 0 4",
              "float[2,1] 1 6; float[2,2] 1 2 1 2");
}

GRADIENT_CASES(sparse_matmul,
               {"SparseMatMul[Ta=float, Tb=float]", "float[2,3] 1 2 3 -1 0.5 2; float[3,2] 1 -2 3 4 0.5 6"},
               {"SparseMatMul[transpose_a=true, b_is_sparse=true]",
                "float[3,1] 1 2 3; float[3,2] 1 0 3 0 0.5 6"},
               {"SparseMatMul[transpose_b=true]", "float[1,2] 1 2; float[1,2] 3 4"},
               {"SparseMatMul[transpose_a=true, transpose_b=true]", "float[2,1] 1 2; float[3,2] 1 2 3 4 5 6"})
