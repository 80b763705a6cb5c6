/* FractionalMaxPool, FractionalAvgPool and their gradients. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

/* The regions of each axis have two lengths, whatever the random numbers are. */
TEST(regions_of_fractional_pools_cover_each_axis) {
  static const char *const kOps[] =
      {"FractionalMaxPool[T=float, pooling_ratio=[1, 2.7, 1.3, 1]]",
       "FractionalMaxPool[T=float, pooling_ratio=[1, 2.7, 1.3, 1], pseudo_random=true]"};
  static const int64_t kDims[4] = {1, 40, 60, 1}, kRegions[2] = {14, 46}; /* 40 / 2.7, 60 / 1.3 */
  for (int i = 0; i < 20; i++) {
    OpRun run;
    Status status;
    status_init(&status);
    CHECK_OK(op_run_begin(&run, kOps[i % 2], &status), status);
    Tensor *x = op_run_input(&run, DT_FLOAT, 4, kDims);
    for (int64_t k = 0; CHECK(x) && k < 2400; k++) tensor_put(x, k, (double)k);
    bool ran = op_run_compute(&run, &status);
    CHECK_OK(ran, status);
    for (int axis = 0; ran && axis < 2; axis++) {
      const Tensor *sequence = &run.outputs[1 + axis];
      int64_t size = kDims[1 + axis], regions = kRegions[axis];
      CHECK_INT_EQ(tensor_num_elements(sequence), regions + 1);
      CHECK_INT_EQ(tensor_i64(sequence)[0], 0);
      CHECK_INT_EQ(tensor_i64(sequence)[regions], size);
      for (int64_t k = 0; k < regions; k++) {
        int64_t length = tensor_i64(sequence)[k + 1] - tensor_i64(sequence)[k];
        CHECK(length == size / regions || length == size / regions + 1);
      }
    }
    op_run_end(&run);
  }
}

/* TensorFlow reads memory outside of the tensors, or crashes. */
TEST(gradients_of_fractional_pools_stay_in_their_images) {
  op_fails("FractionalMaxPoolGrad[T=float]",
           "float[1,2,2,1] 1 2 3 4; float[1,1,1,1] 4; float[1,1,1,1] 1; int64[2] -1 2; int64[2] 0 2",
           CODE_INVALID_ARGUMENT, "Row sequence tensor values must not be negative, got -1");
  op_fails("FractionalMaxPoolGrad[T=float]",
           "float[1,2,2,1] 1 2 3 4; float[2,1,1,1] 4; float[2,1,1,1] 1; int64[2] 0 2; int64[2] 0 2",
           CODE_INVALID_ARGUMENT, "tensor_out_dup is not the same as tensor_out");
  op_fails("FractionalMaxPoolGrad[T=float]",
           "float[1,2,2,1] 1 2 3 4; float[1,1,1,1] 4; float[1,1,2,1] 1; int64[2] 0 2; int64[2] 0 2",
           CODE_INVALID_ARGUMENT, "out_backprop must have as many elements as orig_output");
  op_fails("FractionalAvgPoolGrad[T=float]", "int64[4] 1 2 2 1; float[2,1,1,1] 4; int64[2] 0 2; int64[2] 0 2",
           CODE_INVALID_ARGUMENT, "out_backprop must have the batch and the channels of the original input");
  op_gives("FractionalAvgPoolGrad[T=int32]",
           "int64[4] 1 2 2 1; int32[1,1,1,1] 4; int64[2] 0 9223372036854775807; int64[2] 0 2",
           "int32[1,2,2,1] 1");
}

#define ONCE "TensorFlow has no gradients of the gradients."
#define TWELVE "0.5 -1 2 3 -2.5 1 4 -3 6 -7 2.5 8"
#define CASE(more, x)                                                                                    \
  {                                                                                                      \
    "FractionalMaxPool|FractionalAvgPool[T=double, pooling_ratio=[1, 1.5, 1.4, 1], deterministic=true, " \
    "seed=7" more "]",                                                                                   \
        x, ONCE                                                                                          \
  }
GRADIENT_CASES(fractional_pool, CASE("", "double[1,4,3,1] " TWELVE),
               CASE(", overlapping=true", "double[1,3,2,2] " TWELVE),
               CASE(", pseudo_random=true, overlapping=true", "double[2,2,3,1] " TWELVE))
