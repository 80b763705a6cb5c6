/* Kernels that split their rows, segments or batches over threads give the same bits as a single thread. */
#include <string.h>

#include "blas/fake_parallel.h"
#include "harness.h"
#include "op_runner.h"
#include "runtime/thread_pool.h"

typedef struct SplitCase {
  const char *op;
  DataType types[3];
  int64_t dims[3][3];
  int ranks[3], inputs;
  int ids; /* the input with ids, and their bound; scalars have the bound itself */
  int bound;
} SplitCase;

static const SplitCase kCases[] = {
    {"SegmentSum[T=float, Tindices=int32]", {DT_FLOAT, DT_INT32}, {{2000, 300}, {2000}}, {2, 1}, 2, 1, 50},
    {"SegmentMean[T=half, Tindices=int32]", {DT_HALF, DT_INT32}, {{3000, 40}, {3000}}, {2, 1}, 2, 1, 700},
    {"UnsortedSegmentSum[T=float, Tindices=int32]",
     {DT_FLOAT, DT_INT32, DT_INT32},
     {{3000, 70}, {3000}},
     {2, 1, 0},
     3,
     1,
     90},
    {"UnsortedSegmentMax[T=double, Tindices=int32]",
     {DT_DOUBLE, DT_INT32, DT_INT32},
     {{3000, 70}, {3000}},
     {2, 1, 0},
     3,
     1,
     1000},
    {"BatchMatMulV2[T=float]", {DT_FLOAT, DT_FLOAT}, {{300, 9, 11}, {300, 11, 7}}, {3, 3}, 2, -1, 0},
    {"BatchMatMulV2[T=complex64, adj_y=true]",
     {DT_COMPLEX64, DT_COMPLEX64},
     {{600, 12, 40}, {50, 40}},
     {3, 2},
     2,
     -1,
     0},
    {"BatchMatMul[T=double, adj_x=true]",
     {DT_DOUBLE, DT_DOUBLE},
     {{3, 150, 130}, {3, 150, 140}},
     {3, 3},
     2,
     -1,
     0},
    {"SparseMatMul[a_is_sparse=true]", {DT_FLOAT, DT_FLOAT}, {{300, 200}, {200, 100}}, {2, 2}, 2, -1, 0},
    {"SparseMatMul[b_is_sparse=true, transpose_b=true]",
     {DT_FLOAT, DT_FLOAT},
     {{300, 200}, {100, 200}},
     {2, 2},
     2,
     -1,
     0},
    {"TopKV2[T=float]", {DT_FLOAT, DT_INT32}, {{500, 1000}}, {2, 0}, 2, -1, 6},
};

static bool compute(OpRun *run, const SplitCase *c, const Parallel *parallel) {
  Status status;
  status_init(&status);
  if (!CHECK_OK(op_run_begin(run, c->op, &status), status)) return false;
  run->parallel = parallel;
  for (int i = 0; i < c->inputs; i++) {
    Tensor *x = op_run_input(run, c->types[i], c->ranks[i], c->dims[i]);
    if (!x) return false;
    int64_t n = tensor_num_elements(x);
    bool sorted = c->op[0] == 'S';
    for (int64_t k = 0; k < n; k++) {
      if (c->ranks[i] == 0) {
        tensor_put(x, k, c->bound);
      } else if (i == c->ids) {
        tensor_put(x, k, (double)(sorted ? k * c->bound / n : k * 7919 % c->bound));
      } else {
        tensor_put(x, k, (double)(k * 2654435761 % 1009 - 504) / 97);
        tensor_put_imaginary(x, k, (double)(k % 13) / 7);
      }
    }
  }
  return CHECK_OK(op_run_compute(run, &status), status);
}

static void check_same_bits(const OpRun *got, const OpRun *want) {
  for (int k = 0; k < want->num_outputs; k++) {
    CHECK_INT_EQ(tensor_bytes(&got->outputs[k]), tensor_bytes(&want->outputs[k]));
    CHECK(memcmp(got->outputs[k].data, want->outputs[k].data, (size_t)tensor_bytes(&want->outputs[k])) == 0);
  }
}

TEST(split_rows_give_the_same_bits) {
  int64_t calls = 0;
  const Parallel parallel = {fake_parallel_run, &calls, 4};
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    CHECK_CONTEXT("%s", kCases[i].op);
    OpRun alone, split, threads;
    calls = 0;
    bool ok = compute(&alone, &kCases[i], NULL);
    ok = compute(&split, &kCases[i], &parallel) && ok;
    CHECK(calls > 0);
    if (ok) check_same_bits(&split, &alone);
    if (compute(&threads, &kCases[i], thread_pool_default()) && ok) check_same_bits(&threads, &alone);
    op_run_end(&alone);
    op_run_end(&split);
    op_run_end(&threads);
  }
  CHECK_CONTEXT("%s", "");
}
