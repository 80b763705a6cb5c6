/* Element-wise kernels give the same bits when threads share the work, and when the output uses the memory of
 * an input. */
#include "ops/support/elementwise.h"

#include <string.h>

#include "blas/fake_parallel.h"
#include "harness.h"
#include "op_runner.h"

typedef struct Case {
  const char *op, *inputs;
} Case;

/* Large enough to be split, with splits inside of rows. */
static const Case kCases[] = {
    {"Sin[T=complex64]", "complex64[70001] 1+0.5i 2-1i 3 0+0.25i -1-1i"},
    {"Exp[T=complex128]", "complex128[70001] 1+0.5i 2-1i 3 -1-1i"},
    {"Neg[T=complex128]", "complex128[140001] 1+0.5i 2-1i 3"},
    {"Real[T=complex64]", "complex64[3,50001] 1+0.5i 2-1i 3"},
    {"Angle[T=complex128, Tout=double]", "complex128[100003] 1+0.5i 2-1i 3"},
    {"Complex[T=float]", "float[3,50001] 1 2 3 4 5; float[3,1] 7 8 9"},
    {"Mul[T=complex64]", "complex64[3,50001] 1 2+1i 3; complex64[50001] 2-1i"},
    {"FloorMod[T=int32]", "int32[3,50001] 7 -8 9; int32[3,1] 2 -3 5"},
    {"Pow[T=float]", "float[3,50001] 7 8 9; float[3,1] 2 0.5 3"},
    {"IsFinite[T=half]", "half[200003] 1 inf nan 2"},
    {"LogicalOr", "bool[3,50001] 1 0 0 1 0; bool[3,1] 0 1 0"},
    {"LogicalNot", "bool[200003] 1 0 0 1 0"},
    {"Erf[T=float]", "float[70001] 0.1 -0.5 1.5 3"},
    {"Softplus[T=bfloat16]", "bfloat16[70001] 0.1 -0.5 1.5 3"},
    {"SoftplusGrad[T=float]", "float[150001] 1 2 3; float[150001] 0.1 -0.5 1.5 3 -2"},
    {"EluGrad[T=half]", "half[150001] 1 2 3; half[150001] 0.1 -0.5 1.5 3 -2"},
    {"LeakyRelu[T=float]", "float[150001] 0.1 -0.5 1.5 3 -2"},
    {"LeakyReluGrad[T=double]", "double[150001] 1 2 3; double[150001] 0.1 -0.5 1.5 3 -2"},
    {"ClipByValue[T=float]", "float[150001] 0.1 -0.5 1.5 3 -2; float[] -1; float[] 1"},
    {"ClipByValue[T=int16]", "int16[150001] 1 -5 15 3 -2; int16[150001] 0 1 2; int16[] 10"},
    {"ApproximateEqual[T=float, tolerance=0.5]", "float[150001] 1 2 3; float[150001] 1.25 1 3.75 4"},
    {"Cumsum[T=float]", "float[7,5,4001] 1 0.5 0.25 3; int32[] 1"},
    {"Cumsum[T=int32, reverse=true]", "int32[70001,3] 1 2 3 4 5; int32[] 1"},
    {"Cumprod[T=double, exclusive=true]", "double[3,70001] 1 0.5 2; int32[] 0"},
    {"SelectV2[T=float]", "bool[3,1] 1 0 1; float[3,50001] 1 2 3 4; float[50001] 7 8 9"},
    {"SelectV2[T=complex128]", "bool[50001] 1 0 1; complex128[] 1+2i; complex128[3,50001] 7 8-1i 9"},
    {"SelectV2[T=int8]", "bool[2,3,30001] 1 0 1 1; int8[3,1] 1 2 3; int8[2,1,30001] 7 8 9"},
};
enum { NUM_CASES = sizeof kCases / sizeof kCases[0] };

/* A list of values only repeats its last one; here all of them repeat. */
static void repeat_values(OpRun *run) {
  for (int i = 0; i < run->num_inputs; i++) {
    Tensor *x = &run->inputs[i];
    int64_t count = tensor_num_elements(x), period = count < 7 ? count : 7;
    size_t size = dtype_size((int)x->dtype);
    for (int64_t k = period; k < count; k++) {
      memcpy((char *)x->data + (size_t)k * size, (char *)x->data + (size_t)(k - period) * size, size);
    }
  }
}

static bool compute(OpRun *run, const Case *c, bool last_use, const Parallel *parallel) {
  Status status;
  status_init(&status);
  if (!CHECK_OK(op_run_begin(run, c->op, &status), status) ||
      !CHECK_OK(op_run_inputs(run, c->inputs, &status), status))
    return false;
  repeat_values(run);
  run->last_use = last_use;
  run->parallel = parallel;
  return CHECK_OK(op_run_compute(run, &status), status);
}

TEST(kernels_split_over_threads_and_in_place_give_the_same_bits) {
  for (int i = 0; i < NUM_CASES; i++) {
    CHECK_CONTEXT("%s", kCases[i].op);
    int64_t calls = 0;
    const Parallel parallel = {fake_parallel_run, &calls, 4};
    OpRun plain = {0}, in_place = {0}, split = {0};
    if (compute(&plain, &kCases[i], false, NULL) && compute(&in_place, &kCases[i], true, NULL) &&
        compute(&split, &kCases[i], false, &parallel)) {
      size_t bytes = (size_t)tensor_bytes(&plain.outputs[0]);
      CHECK(calls > 1);
      CHECK_MEM_EQ(in_place.outputs[0].data, plain.outputs[0].data, bytes);
      CHECK_MEM_EQ(split.outputs[0].data, plain.outputs[0].data, bytes);
    }
    op_run_end(&plain);
    op_run_end(&in_place);
    op_run_end(&split);
  }
  CHECK_CONTEXT("%s", "");
}
