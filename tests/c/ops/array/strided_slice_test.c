/* StridedSlice and StridedSliceGrad, also compared with a walk through Python's slices one index at a
 * time. */
#include <stdio.h>
#include <string.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

#define SLICE "StridedSlice[T=int32, Index=int32"

TEST(strided_slices_of_vectors) {
  op_gives(SLICE "]", "int32[5] 0 1 2 3 4; int32[1] 1; int32[1] 4; int32[1] 2", "int32[2] 1 3");
  op_gives(SLICE "]", "int32[5] 0 1 2 3 4; int32[1] -1; int32[1] -9; int32[1] -2", "int32[3] 4 2 0");
  op_gives(SLICE ", begin_mask=1, end_mask=1]", "int32[5] 0 1 2 3 4; int32[1] 3; int32[1] 3; int32[1] -1",
           "int32[5] 4 3 2 1 0");
  op_gives(SLICE "]", "int32[5] 0 1 2 3 4; int32[1] 3; int32[1] 1; int32[1] 1", "int32[0]");
  op_gives(SLICE "]", "int32[5] 0 1 2 3 4; int32[1] -100; int32[1] 100; int32[1] 1", "int32[5] 0 1 2 3 4");
  op_gives(SLICE ", shrink_axis_mask=1]", "int32[5] 0 1 2 3 4; int32[1] -1; int32[1] 0; int32[1] 1",
           "int32[] 4");
  op_gives("StridedSlice[T=string, Index=int64]", "string[3] a b c; int64[1] 2; int64[1] 0; int64[1] -1",
           "string[2] c b");
}

TEST(strided_slices_with_masks) {
  const char *matrix = "int32[2,3] 1 2 3 4 5 6; int32[2] 0 1; int32[2] 2 3; int32[2] 1 1";
  op_gives(SLICE "]", matrix, "int32[2,2] 2 3 5 6");
  op_gives(SLICE ", shrink_axis_mask=2]", matrix, "int32[2] 2 5");
  op_gives(SLICE ", shrink_axis_mask=3]", matrix, "int32[] 2");
  op_gives(SLICE ", new_axis_mask=1]", matrix, "int32[1,1,3] 4 5 6");
  op_gives(SLICE ", ellipsis_mask=1]", matrix, "int32[2,2] 2 3 5 6");
  op_gives(SLICE ", ellipsis_mask=2]", matrix, "int32[2,3] 1 2 3 4 5 6");
  op_gives(SLICE ", ellipsis_mask=1, new_axis_mask=2]", matrix, "int32[2,3,1] 1 2 3 4 5 6");
  /* An ellipsis takes precedence over a new axis, a new axis over an index. */
  op_gives(SLICE ", ellipsis_mask=1, new_axis_mask=3]", matrix, "int32[2,3,1] 1 2 3 4 5 6");
  op_gives(SLICE ", new_axis_mask=2, shrink_axis_mask=3]", matrix, "int32[1,3] 1 2 3");
  op_gives(SLICE ", ellipsis_mask=2]", "int32[2,1,2] 1 2 3 4; int32[3] 1 0 1; int32[3] 2 0 2; int32[3] 1 1 1",
           "int32[1,1,1] 4");
  /* Axes without an entry are selected completely. */
  op_gives(SLICE "]", "int32[2,3] 1 2 3 4 5 6; int32[1] 1; int32[1] 2; int32[1] 1", "int32[1,3] 4 5 6");
  op_gives(SLICE "]", "int32[2] 1 2; int32[0]; int32[0]; int32[0]", "int32[2] 1 2");
  /* A single index ignores an open beginning. */
  op_gives(SLICE ", begin_mask=1, shrink_axis_mask=1]", "int32[2] 1 2; int32[1] 1; int32[1] 2; int32[1] 1",
           "int32[] 2");
}

TEST(strided_slice_refuses_wrong_specs) {
  const char *one = "int32[2,3] 0; int32[1] 2; int32[1] 3; int32[1] 1";
  op_fails(SLICE ", shrink_axis_mask=1]", one, CODE_INVALID_ARGUMENT,
           "slice index 2 of dimension 0 out of bounds.");
  op_fails(SLICE ", shrink_axis_mask=1]", "int32[2] 0; int32[1] -5; int32[1] 0; int32[1] 1",
           CODE_INVALID_ARGUMENT, "slice index -3 of dimension 0 out of bounds.");
  op_fails(SLICE "]", "int32[2] 0; int32[1] 0; int32[1] 1; int32[1] 0", CODE_INVALID_ARGUMENT,
           "strides[0] must be non-zero");
  op_fails(SLICE ", shrink_axis_mask=1]", "int32[2] 0; int32[1] 0; int32[1] 1; int32[1] -1",
           CODE_INVALID_ARGUMENT, "only stride 1 allowed on non-range indexing.");
  op_fails(SLICE "]", "int32[2,3] 0; int32[3] 0; int32[3] 1; int32[3] 1", CODE_INVALID_ARGUMENT,
           "Index out of range using input dim 2; input has only 2 dims");
  op_fails(SLICE ", ellipsis_mask=3]", "int32[2,3] 0; int32[2] 0; int32[2] 1; int32[2] 1",
           CODE_INVALID_ARGUMENT, "Multiple ellipses in slice spec not allowed");
  op_fails(SLICE "]", "int32[2,3] 0; int32[1] 0; int32[2] 1; int32[1] 1", CODE_INVALID_ARGUMENT,
           "Expected begin, end, and strides to be 1D equal size tensors, but got shapes [1], [2], and [1] "
           "instead.");
  op_fails(SLICE ", new_axis_mask=-1]", "int32[2] 0; int32[300] 0; int32[300] 0; int32[300] 1",
           CODE_INVALID_ARGUMENT, "Index out of range using input dim 1; input has only 1 dims");
}

TEST(strided_slice_survives_extreme_numbers) {
  const char *slice = "StridedSlice[T=int32, Index=int64]";
  op_gives(slice,
           "int32[3] 1 2 3; int64[1] -9223372036854775808; int64[1] 9223372036854775807; int64[1] "
           "9223372036854775807",
           "int32[1] 1");
  op_gives(slice,
           "int32[3] 1 2 3; int64[1] 9223372036854775807; int64[1] -9223372036854775808; int64[1] "
           "-9223372036854775808",
           "int32[1] 3");
  op_gives(slice,
           "int32[2,3] 1 2 3 4 5 6; int64[1] 0; int64[1] 9223372036854775807; int64[1] 4611686018427387904",
           "int32[1,3] 1 2 3");
  op_gives(slice,
           "int32[0]; int64[1] -9223372036854775808; int64[1] 9223372036854775807; int64[1] "
           "-9223372036854775808",
           "int32[0]");
}

TEST(strided_slice_grad_puts_zeros_where_nothing_was_taken) {
  op_gives("StridedSliceGrad[T=float, Index=int32]",
           "int32[1] 5; int32[1] 1; int32[1] 4; int32[1] 2; float[2] 7 8", "float[5] 0 7 0 8 0");
  op_gives("StridedSliceGrad[T=float, Index=int64, shrink_axis_mask=1]",
           "int64[2] 2 2; int64[1] 1; int64[1] 2; int64[1] 1; float[2] 7 8", "float[2,2] 0 0 7 8");
  op_gives("StridedSliceGrad[T=float, Index=int32, begin_mask=1, end_mask=1]",
           "int32[1] 3; int32[1] 0; int32[1] 0; int32[1] -1; float[3] 7 8 9", "float[3] 9 8 7");
  op_gives("StridedSliceGrad[T=float, Index=int32]",
           "int32[1] 2; int32[1] 2; int32[1] 2; int32[1] 1; float[0]", "float[2] 0");
  op_fails("StridedSliceGrad[T=float, Index=int32]",
           "int32[2] 2 3; int32[1] 1; int32[1] 2; int32[1] 1; float[2,3] 0", CODE_INVALID_ARGUMENT,
           "shape of dy was [2,3] instead of [1,3]");
  op_fails("StridedSliceGrad[T=float, Index=int32]",
           "int32[] 2; int32[1] 1; int32[1] 2; int32[1] 1; float[2] 0", CODE_INVALID_ARGUMENT,
           "shape must be 1-D, got shape.shape = [] instead.");
  op_fails("StridedSliceGrad[T=float, Index=int32]",
           "int32[1] -2; int32[1] 1; int32[1] 2; int32[1] 1; float[2] 0", CODE_INVALID_ARGUMENT,
           "Dimension -2 must be >= 0");
}

/* --- random specs --- */

static unsigned state = 17;

static int random_below(int n) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 16) % (unsigned)n);
}

/* The indices that x[begin:end:stride] selects; NONE for an open end. */
enum { NONE = 1000 };

static int walk(int begin, int end, int stride, int size, int indices[16]) {
  int at = begin == NONE ? (stride > 0 ? 0 : size - 1) : begin < 0 ? begin + size : begin;
  int stop = end == NONE ? (stride > 0 ? size : -1) : end < 0 ? end + size : end;
  if (at < 0) at = stride > 0 ? 0 : -1;
  if (at > size - 1) at = stride > 0 ? size : size - 1;
  int count = 0;
  for (; (stride > 0 ? at < stop : at > stop) && at >= 0 && at < size; at += stride) indices[count++] = at;
  return count;
}

TEST(strided_slices_of_random_specs) {
  Status status;
  status_init(&status);
  for (int round = 0; round < 500; round++) {
    int64_t dims[3], length = 3;
    int begin[3], end[3], stride[3], indices[3][16], count[3], begin_mask = 0, end_mask = 0;
    for (int d = 0; d < 3; d++) {
      dims[d] = random_below(6);
      begin[d] = random_below(16) - 8;
      end[d] = random_below(16) - 8;
      stride[d] = random_below(2) ? 1 + random_below(3) : -1 - random_below(3);
      bool open_begin = random_below(3) == 0, open_end = random_below(3) == 0;
      begin_mask |= (int)open_begin << d;
      end_mask |= (int)open_end << d;
      count[d] =
          walk(open_begin ? NONE : begin[d], open_end ? NONE : end[d], stride[d], (int)dims[d], indices[d]);
    }
    CHECK_CONTEXT("round %d", round);
    char op[96];
    snprintf(op, sizeof op, SLICE ", begin_mask=%d, end_mask=%d]", begin_mask, end_mask);
    OpRun run;
    if (CHECK_OK(op_run_begin(&run, op, &status), status)) {
      Tensor *x = op_run_input(&run, DT_INT32, 3, dims);
      for (int64_t i = 0; i < tensor_num_elements(x); i++) tensor_i32(x)[i] = (int32_t)i;
      const int *const lists[] = {begin, end, stride};
      for (int k = 0; k < 3; k++) {
        Tensor *list = op_run_input(&run, DT_INT32, 1, &length);
        for (int d = 0; d < 3; d++) tensor_i32(list)[d] = lists[k][d];
      }
      if (CHECK_OK(op_run_compute(&run, &status), status)) {
        const Tensor *y = &run.outputs[0];
        bool same_shape = true;
        for (int d = 0; d < 3; d++)
          same_shape = CHECK_INT_EQ(shape_dim(&y->shape, d), count[d]) && same_shape;
        int64_t at = 0, wrong = 0;
        for (int i = 0; same_shape && i < count[0]; i++) {
          for (int j = 0; j < count[1]; j++) {
            for (int k = 0; k < count[2]; k++) {
              wrong +=
                  tensor_i32(y)[at++] != (indices[0][i] * dims[1] + indices[1][j]) * dims[2] + indices[2][k];
            }
          }
        }
        CHECK_INT_EQ(wrong, 0);
      }
    }
    op_run_end(&run);
  }
}

GRADIENT_CASES(strided_slice,
               {"StridedSlice[T=double, Index=int32]",
                "double[3,4] 1 2 3 4 5 6 7 8 9 10 11 12; int32[2] 0 3; int32[2] 3 0; int32[2] 2 -2"},
               {"StridedSlice[T=double, Index=int64, shrink_axis_mask=1]",
                "double[3,2] 1 2 3 4 5 6; int64[1] -1; int64[1] 0; int64[1] 1"},
               {"StridedSlice[T=double, Index=int32, ellipsis_mask=1, new_axis_mask=2]",
                "double[2,2] 1 2 3 4; int32[3] 0 0 1; int32[3] 0 0 2; int32[3] 1 1 1"},
               {"StridedSlice[T=double, Index=int32, begin_mask=1, end_mask=1]",
                "double[5] 1 2 3 4 5; int32[1] 0; int32[1] 0; int32[1] -2"},
               {"StridedSliceGrad[T=double, Index=int32]",
                "int32[1] 5; int32[1] 4; int32[1] 0; int32[1] -2; double[2] 7 8"},
               {"StridedSliceGrad[T=double, Index=int64]",
                "int64[2] 2 3; int64[1] 1; int64[1] 2; int64[1] 1; double[1,3] 7 8 9"},
               {"StridedSliceGrad[T=double, Index=int32, shrink_axis_mask=3]",
                "int32[3] 2 2 2; int32[2] 1 0; int32[2] 2 1; int32[2] 1 1; double[2] 7 8"})
