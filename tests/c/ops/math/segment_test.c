/* Rows combined by id: sorted, in any order, and selected by indices. The gradient cases of extremes have no
 * empty segments, whose values are too large for differences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(sorted_segments) {
  const char *inputs = "float[3,2] 1 2 3 4 5 6; int32[3] 0 0 3";
  op_gives("SegmentSum[T=float, Tindices=int32]", inputs, "float[4,2] 4 6 0 0 0 0 5 6");
  op_gives("SegmentMean[T=float, Tindices=int32]", inputs, "float[4,2] 2 3 0 0 0 0 5 6");
  op_gives("SegmentProd[T=float, Tindices=int32]", inputs, "float[4,2] 3 8 1 1 1 1 5 6");
  op_gives("SegmentMin[T=float, Tindices=int32]", inputs, "float[4,2] 1 2 0 0 0 0 5 6");
  op_gives("SegmentMax[T=float, Tindices=int32]", inputs, "float[4,2] 3 4 0 0 0 0 5 6");
  op_gives("SegmentSum[T=float, Tindices=int64]", "float[0,2]; int64[0]", "float[0,2]");
  op_gives("SegmentSum[T=float, Tindices=int64]", "float[3,0]; int64[3] 0 0 1", "float[2,0]");
}

TEST(sorted_segments_of_every_type) {
  op_gives("SegmentSum[T=uint8, Tindices=int32]", "uint8[3] 200 100 7; int32[3] 0 0 1", "uint8[2] 44 7");
  op_gives("SegmentMean[T=uint8, Tindices=int32]", "uint8[3] 200 100 100; int32[3] 0", "uint8[1] 48");
  op_gives("SegmentMean[T=int32, Tindices=int32]", "int32[3] -1 -2 -2; int32[3] 0", "int32[1] -1");
  op_gives("SegmentMean[T=half, Tindices=int32]", "half[3] 200 100 100; int32[3] 0", "half[1] 133.375");
  op_gives("SegmentProd[T=int16, Tindices=int64]", "int16[4] 1 2 4 -9; int64[4] 1 1 1 3",
           "int16[4] 1 8 1 -9");
  op_gives("SegmentProd[T=half, Tindices=int64]", "half[2] 3 2; int64[2] 1", "half[2] 1 6");
  op_gives("SegmentProd[T=bfloat16, Tindices=int64]", "bfloat16[2] 3 2; int64[2] 1", "bfloat16[2] 1 6");
  op_gives("SegmentMin[T=uint64, Tindices=int32]",
           "uint64[3] 18446744073709551615 9223372036854775808 1; int32[3] 0 0 1",
           "uint64[2] 9223372036854775808 1");
  op_gives("SegmentMax[T=int8, Tindices=int32]", "int8[2,2] -1 -128 -100 127; int32[2] 1",
           "int8[2,2] 0 0 -1 127");
  op_gives("SegmentMax[T=uint32, Tindices=int32]", "uint32[2] 4294967295 1; int32[2] 0",
           "uint32[1] 4294967295");
  op_gives("SegmentSum[T=complex64, Tindices=int32]", "complex64[3] 1+2i 3-1i 2; int32[3] 0 0 1",
           "complex64[2] 4+1i 2");
  op_gives("SegmentMean[T=complex128, Tindices=int32]", "complex128[2] 1+2i 3-1i; int32[2] 0",
           "complex128[1] 2+0.5i");
  op_gives("SegmentProd[T=complex128, Tindices=int32]", "complex128[3] 1+2i 3-1i 5; int32[3] 0 0 2",
           "complex128[3] 5+5i 1 5");
  /* If one of two values is NaN, TensorFlow keeps the later one. */
  op_gives("SegmentMin[T=double, Tindices=int32]", "double[3] 1 nan 2; int32[3] 0", "double[1] 2");
  op_gives("SegmentMax[T=float, Tindices=int32]", "float[3] nan 1 0; int32[3] 0", "float[1] 1");
  op_gives("SegmentMax[T=float, Tindices=int32]", "float[3] 2 1 nan; int32[3] 0", "float[1] nan");
}

TEST(ids_that_are_not_sorted) {
  static const char *const kOps[] = {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"};
  char op[64];
  for (int i = 0; i < 5; i++) {
    snprintf(op, sizeof op, "%s[T=float, Tindices=int32]", kOps[i]);
    op_fails(op, "float[3,2] 0; int32[3] 0 2 1", CODE_INVALID_ARGUMENT, "segment ids are not increasing");
    op_fails(op, "float[3,2] 0; int32[3] -1 0 1", CODE_INVALID_ARGUMENT,
             "Segment id -1 out of range [0, 2), possibly because 'segment_ids' input is not sorted.");
    op_fails(op, "float[3,2] 0; int32[3] 0 -1 1", CODE_INVALID_ARGUMENT, "segment ids are not increasing");
    op_fails(op, "float[3,2] 0; int32[3] -7 -6 -5", CODE_INVALID_ARGUMENT, "segment ids must be >= 0");
    op_fails(op, "float[3,2] 0; int32[2] 0", CODE_INVALID_ARGUMENT,
             "segment_ids should be the same size as dimension 0 of input.");
    op_fails(op, "float[3,2] 0; int32[1,3] 0", CODE_INVALID_ARGUMENT, "segment_ids should be a vector.");
    op_fails(op, "float[] 0; int32[1] 0", CODE_INVALID_ARGUMENT, "input must be at least rank 1");
  }
  op_fails("SegmentSum[T=float, Tindices=int64]", "float[1] 0; int64[1] 9223372036854775807",
           CODE_INVALID_ARGUMENT, "must be >= 0");
  op_fails("SegmentSum[T=float, Tindices=int64]", "float[1,8] 0; int64[1] 4611686018427387904",
           CODE_INVALID_ARGUMENT, "");
}

TEST(unsorted_segments) {
  const char *inputs = "float[3,2] 1 2 3 4 5 6; int32[3] 2 -1 0; int32[] 4";
  op_gives("UnsortedSegmentSum[T=float, Tindices=int32]", inputs, "float[4,2] 5 6 0 0 1 2 0 0");
  op_gives("UnsortedSegmentProd[T=float, Tindices=int32]", inputs, "float[4,2] 5 6 1 1 1 2 1 1");
  op_gives("UnsortedSegmentMin[T=float, Tindices=int32]", inputs,
           "float[4,2] 5 6 3.4028234663852886e38 3.4028234663852886e38 1 2 3.4028234663852886e38 "
           "3.4028234663852886e38");
  op_gives("UnsortedSegmentMax[T=float, Tindices=int32]", inputs,
           "float[4,2] 5 6 -3.4028234663852886e38 -3.4028234663852886e38 1 2 -3.4028234663852886e38 "
           "-3.4028234663852886e38");
  op_gives("UnsortedSegmentSum[T=int32, Tindices=int64, Tnumsegments=int64]",
           "int32[3,2] 1 2 3 4 5 6; int64[3,2] 0 1 1 1 0 -1; int64[] 2", "int32[2] 6 9");
  op_gives("UnsortedSegmentSum[T=double, Tindices=int32]", "double[2] 1 2; int32[] 1; int32[] 2",
           "double[2,2] 0 0 1 2");
  op_gives("UnsortedSegmentProd[T=complex64, Tindices=int32]",
           "complex64[2] 1+1i 2-1i; int32[2] 1; int32[] 2", "complex64[2] 1 3+1i");
  op_gives("UnsortedSegmentMax[T=half, Tindices=int32]", "half[1] 1; int32[1] 0; int32[] 2",
           "half[2] 1 -65504");
  op_gives("UnsortedSegmentMin[T=half, Tindices=int32]", "half[1] 1; int32[1] 0; int32[] 2",
           "half[2] 1 65504");
  op_gives("UnsortedSegmentMax[T=int64, Tindices=int32]", "int64[1] 1; int32[1] 0; int32[] 2",
           "int64[2] 1 -9223372036854775808");
  op_gives("UnsortedSegmentMin[T=uint16, Tindices=int32]", "uint16[1] 1; int32[1] 0; int32[] 2",
           "uint16[2] 1 65535");
  op_gives("UnsortedSegmentMax[T=int8, Tindices=int32]", "int8[1] 1; int32[1] 0; int32[] 2",
           "int8[2] 1 -128");
  op_gives("UnsortedSegmentSum[T=float, Tindices=int32]", "float[3,2] 1; int32[3] -1; int32[] 0",
           "float[0,2]");
}

TEST(unsorted_ids_out_of_range) {
  static const char *const kOps[] = {"UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMin",
                                     "UnsortedSegmentMax"};
  char op[64];
  for (int i = 0; i < 4; i++) {
    snprintf(op, sizeof op, "%s[T=float, Tindices=int32]", kOps[i]);
    op_fails(op, "float[3,2] 0; int32[3] 0 4 1; int32[] 4", CODE_INVALID_ARGUMENT,
             "segment_ids[1] = 4 is out of range [0, 4)");
    op_fails(op, "float[3,2] 0; int32[3,2] 0 4 1 1 1 1; int32[] 4", CODE_INVALID_ARGUMENT,
             "segment_ids[0,1] = 4 is out of range [0, 4)");
    op_fails(op, "float[3,2] 0; int32[3] 0; int32[] -1", CODE_INVALID_ARGUMENT,
             "Input num_segments == -1 must not be negative.");
    op_fails(op, "float[3,2] 0; int32[3] 0; int32[] 0", CODE_INVALID_ARGUMENT,
             "segment_ids[0] = 0 is out of range [0, 0)");
    op_fails(op, "float[3,2] 0; int32[2] 0; int32[] 2", CODE_INVALID_ARGUMENT,
             "data.shape = [3,2] does not start with segment_ids.shape = [2]");
    op_fails(op, "float[3,2] 0; int32[3] 0; int32[1] 2", CODE_INVALID_ARGUMENT,
             "num_segments should be a scalar, not shape [1]");
  }
}

TEST(sparse_segments) {
  const char *inputs = "float[3,2] 1 2 3 4 5 6; int32[3] 0 2 1; int32[3] 0 0 2";
  op_gives("SparseSegmentSum[T=float]", inputs, "float[3,2] 6 8 0 0 3 4");
  op_gives("SparseSegmentMean[T=float]", inputs, "float[3,2] 3 4 0 0 3 4");
  op_gives_about("SparseSegmentSqrtN[T=float]", inputs, "float[3,2] 4.2426406871 5.6568542495 0 0 3 4", 1e-6);
  op_gives("SparseSegmentSum[T=uint8, Tidx=int64]", "uint8[2] 200 100; int64[2] 0 1; int32[2] 0",
           "uint8[1] 44");
  op_gives("SparseSegmentSum[T=float]", "float[3,2] 1; int32[0]; int32[0]", "float[0,2]");
  const char *sized = "double[3,2] 1 2 3 4 5 6; int32[3] 0 2 1; int32[3] 0 0 2; int32[] 4";
  op_gives("SparseSegmentSumWithNumSegments[T=double]", sized, "double[4,2] 6 8 0 0 3 4 0 0");
  op_gives("SparseSegmentMeanWithNumSegments[T=double]", sized, "double[4,2] 3 4 0 0 3 4 0 0");
  op_gives_about("SparseSegmentSqrtNWithNumSegments[T=double]", sized,
                 "double[4,2] 4.242640687119286 5.656854249492381 0 0 3 4 0 0", 1e-15);
  op_gives("SparseSegmentMeanWithNumSegments[T=float]", "float[3,2] 1; int32[0]; int32[0]; int32[] 2",
           "float[2,2] 0");
}

TEST(gradients_of_sparse_segments) {
  op_gives("SparseSegmentMeanGrad[T=float]",
           "float[3,2] 1 2 3 4 5 6; int32[3] 0 3 1; int32[3] 0 0 2; int32[] 4",
           "float[4,2] 0.5 1 5 6 0 0 0.5 1");
  op_gives("SparseSegmentMeanGrad[T=float]",
           "float[3,2] 1 2 3 4 5 6; int32[3] 0 1 1; int32[3] 2 0 1; int32[] 4", "float[4,2] 5 6 4 6 0 0 0 0");
  op_gives_about("SparseSegmentSqrtNGrad[T=double]",
                 "double[3,2] 1 2 3 4 5 6; int32[3] 0 0 1; int32[3] 0 0 2; int32[] 2",
                 "double[2,2] 1.4142135623730951 2.8284271247461903 5 6", 1e-15);
  op_gives("SparseSegmentMeanGrad[T=float]", "float[0,2]; int32[0]; int32[0]; int32[] 2", "float[2,2] 0");
  static const char *const kOps[] = {"SparseSegmentMeanGrad[T=float]", "SparseSegmentSqrtNGrad[T=float]"};
  for (int i = 0; i < 2; i++) {
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0 4; int32[2] 0 0; int32[] 4", CODE_INVALID_ARGUMENT,
             "Index 4 out of range [0, 4).");
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0 -4; int32[2] 0 0; int32[] 4", CODE_INVALID_ARGUMENT,
             "Index -4 out of range [0, 4).");
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0 0; int32[2] 0 3; int32[] 4", CODE_INVALID_ARGUMENT,
             "Invalid number of segments");
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0 0; int32[2] -1 0; int32[] 4", CODE_INVALID_ARGUMENT,
             "Segment id -1 out of range [0, 3).");
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0 0; int32[1] 0; int32[] 4", CODE_INVALID_ARGUMENT,
             "segment_ids and indices should have same size.");
    op_fails(kOps[i], "float[3,2] 0; int32[1] 0; int32[1] 0; int32[1] 4", CODE_INVALID_ARGUMENT,
             "output_dim0 should be a scalar.");
    op_fails(kOps[i], "float[3,2] 0; int32[1] 0; int32[1] 0; int32[] -1", CODE_INVALID_ARGUMENT,
             "Expected a non-negative size, got -1");
  }
}

TEST(sparse_ids_out_of_range) {
  static const char *const kOps[] = {"SparseSegmentSum[T=float]", "SparseSegmentMean[T=float]",
                                     "SparseSegmentSqrtN[T=float]"};
  for (int i = 0; i < 3; i++) {
    op_fails(kOps[i], "float[3,2] 0; int32[3] 0; int32[3] 0 2 1", CODE_INVALID_ARGUMENT,
             "segment ids are not increasing");
    op_fails(kOps[i], "float[3,2] 0; int32[3] 0; int32[3] -1 0 0", CODE_INVALID_ARGUMENT,
             "Segment id -1 out of range [0, 1), possibly");
    op_fails(kOps[i], "float[3,2] 0; int32[3] 0 3 1; int32[3] 0", CODE_INVALID_ARGUMENT,
             "Bad: indices[1] == 3 out of range [0, 3)");
    op_fails(kOps[i], "float[3,2] 0; int32[3] 0 0 -1; int32[3] 0", CODE_INVALID_ARGUMENT,
             "Bad: indices[2] == -1 out of range [0, 3)");
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0; int32[1] 0", CODE_INVALID_ARGUMENT,
             "segment_ids and indices should have same size.");
    op_fails(kOps[i], "float[3,2] 0; int32[1,2] 0; int32[1] 0", CODE_INVALID_ARGUMENT,
             "indices should be a vector.");
    op_fails(kOps[i], "float[3,2] 0; int32[2] 0; int32[1,2] 0", CODE_INVALID_ARGUMENT,
             "segment_ids should be a vector.");
  }
  const char *op = "SparseSegmentMeanWithNumSegments[T=float]";
  op_fails(op, "float[3,2] 0; int32[3] 0; int32[3] 0 0 2; int32[] 2", CODE_INVALID_ARGUMENT,
           "segment ids must be < num_segments");
  op_fails(op, "float[3,2] 0; int32[3] 0; int32[3] 0 0 2; int32[] -1", CODE_INVALID_ARGUMENT,
           "segment ids must be >= 0");
  op_fails(op, "float[3,2] 0; int32[3] 0; int32[3] 0 0 2; int32[2] 5", CODE_INVALID_ARGUMENT,
           "num_segments should be a scalar, not shape [2]");
}

/* Rows of many widths, to cover strips, their ends and every kind of loop; the reference adds in double. */
static void check_widths(const char *op, const char *type, int64_t rows, int64_t columns) {
  char spec[96];
  snprintf(spec, sizeof spec, "%s[T=%s, Tindices=int32]", op, type);
  CHECK_CONTEXT("%s %lld x %lld", spec, (long long)rows, (long long)columns);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  bool unsorted = op[0] == 'U', max = strstr(op, "Max") != NULL;
  Tensor *x = op_run_input(&run, (DataType)dtype_from_name(str_of(type)), 2, (int64_t[]){rows, columns});
  Tensor *ids = op_run_input(&run, DT_INT32, 1, &rows);
  for (int64_t i = 0; i < rows * columns; i++) tensor_put(x, i, (double)(i * 37 % 23) - 11);
  for (int64_t i = 0; i < rows; i++) tensor_put(ids, i, (double)(unsorted ? i * 5 % 7 : i * 7 / rows));
  if (unsorted) tensor_put(op_run_input(&run, DT_INT32, 0, NULL), 0, 7);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t s = 0; s < tensor_num_elements(&run.outputs[0]) / columns; s++) {
      for (int64_t c = 0; c < columns; c++) {
        double want = 0;
        bool any = false;
        for (int64_t i = 0; i < rows; i++) {
          if (tensor_get(ids, i) != (double)s) continue;
          double value = tensor_get(x, i * columns + c);
          want = !any ? value : max ? fmax(want, value) : want + value;
          any = true;
        }
        if (any && !CHECK_NEAR(tensor_get(&run.outputs[0], s * columns + c), want, 0)) s = 7, c = columns;
      }
    }
  }
  op_run_end(&run);
}

TEST(rows_of_every_width) {
  static const int64_t kWidths[] = {1, 2, 3, 7, 16, 255, 256, 257, 600};
  static const char *const kOps[] = {"SegmentSum", "SegmentMax", "UnsortedSegmentSum", "UnsortedSegmentMax"};
  static const char *const kTypes[] = {"float", "double", "half", "int32", "int8"};
  for (int o = 0; o < 4; o++) {
    for (int t = 0; t < 5; t++) {
      for (int w = 0; w < 9; w++) check_widths(kOps[o], kTypes[t], 20, kWidths[w]);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(gradients_of_extremes_are_shared) {
  gradient_is("SegmentMax[T=float, Tindices=int32]", "float[4] 3 3 1 2; int32[4] 0 0 0 1",
              "float[4] 0.5 0.5 0 1");
  gradient_is("SegmentMin[T=float, Tindices=int32]", "float[4] 3 1 1 2; int32[4] 0 0 0 2",
              "float[4] 0 0.5 0.5 1");
  gradient_is("UnsortedSegmentMax[T=float, Tindices=int32]", "float[4] 3 9 3 2; int32[4] 1 -1 1 0; int32[] 3",
              "float[4] 0.5 0 0.5 1");
  gradient_is("UnsortedSegmentMin[T=float, Tindices=int32]", "float[4] 3 9 3 2; int32[4] 1 -1 1 2; int32[] 3",
              "float[4] 0.5 0 0.5 1");
}

GRADIENT_CASES(segment, {"SegmentSum[T=double, Tindices=int32]", "double[4] 1 2 3 4; int32[4] 0 0 1 3"},
               {"SegmentSum[T=double, Tindices=int64]", "double[3,2] 1 2 3 4 5 6; int64[3] 1 1 2"},
               {"SegmentSum[T=double, Tindices=int32]", "double[2,1,2] 1 2 3 4; int32[2] 0 0"},
               {"SegmentMean[T=double, Tindices=int32]", "double[4] 1 2 3 4; int32[4] 0 0 1 3"},
               {"SegmentMean[T=double, Tindices=int64]", "double[3,2] 1 2 3 4 5 6; int64[3] 1 1 2"},
               {"SegmentMean[T=double, Tindices=int32]", "double[2,1,2] 1 2 3 4; int32[2] 0 0"},
               {"SegmentProd[T=double, Tindices=int32]", "double[5] 1 -2 3 4 0.5; int32[5] 0 0 0 2 2"},
               {"SegmentProd[T=double, Tindices=int64]", "double[3,2] 1 2 3 0 5 6; int64[3] 1 1 1"},
               {"SegmentProd[T=double, Tindices=int32]", "double[4,1,2] 0 0 1 0 0 3 2 5; int32[4] 0"},
               {"SegmentMin[T=double, Tindices=int32]", "double[5] 1 -2 3 4 0.5; int32[5] 0 0 0 2 2"},
               {"SegmentMin[T=double, Tindices=int64]", "double[3,2] 1 2 3 0 5 6; int64[3] 1 1 1"},
               {"SegmentMin[T=double, Tindices=int32]", "double[2,1,2] 1 2 3 4; int32[2] 0 0"},
               {"SegmentMax[T=double, Tindices=int32]", "double[5] 1 -2 3 4 0.5; int32[5] 0 0 0 2 2"},
               {"SegmentMax[T=double, Tindices=int64]", "double[3,2] 1 2 3 0 5 6; int64[3] 1 1 1"},
               {"SegmentMax[T=double, Tindices=int32]", "double[2,1,2] 1 2 3 4; int32[2] 0 0"},
               {"SegmentSum[T=complex128, Tindices=int32]", "complex128[3] 1+2i 3-1i 2; int32[3] 0 0 1"},
               {"SegmentMean[T=complex128, Tindices=int32]", "complex128[3] 1+2i 3-1i 2; int32[3] 0 0 1"},
               {"SegmentProd[T=complex128, Tindices=int32]", "complex128[4] 1+2i 3-1i 2 0; int32[4] 0 0 1 1"},
               {"UnsortedSegmentProd[T=complex128, Tindices=int32]",
                "complex128[4] 1+2i 3-1i 2 0; int32[4] 0 0 1 1; int32[] 2"},
               {"UnsortedSegmentSum[T=complex128, Tindices=int32]",
                "complex128[3] 1+2i 3-1i 2; int32[3] 1 0 1; int32[] 2"})

GRADIENT_CASES(
    unsorted_segment,
    {"UnsortedSegmentSum|UnsortedSegmentProd|UnsortedSegmentMin|UnsortedSegmentMax[T=double, Tindices=int32]",
     "double[0]; int32[0]; int32[] 0"},
    {"UnsortedSegmentSum|UnsortedSegmentProd|UnsortedSegmentMin|UnsortedSegmentMax[T=double, Tindices=int32]",
     "double[0,2]; int32[0]; int32[] 3"},
    {"UnsortedSegmentSum|UnsortedSegmentProd|UnsortedSegmentMin|UnsortedSegmentMax[T=double, Tindices=int32]",
     "double[2,0]; int32[2] 0 1; int32[] 2"},
    {"UnsortedSegmentSum[T=double, Tindices=int32]", "double[4] 1 2 3 4; int32[4] 2 -1 0 2; int32[] 4"},
    {"UnsortedSegmentSum[T=double, Tindices=int64, Tnumsegments=int64]",
     "double[3,2] 1 2 3 4 5 6; int64[3,2] 1 1 2 -1 0 1; int64[] 3"},
    {"UnsortedSegmentSum[T=double, Tindices=int32]", "double[2,2] 1 2 3 4; int32[] 1; int32[] 2"},
    {"UnsortedSegmentProd[T=double, Tindices=int32]", "double[4] 1 2 3 4; int32[4] 2 -1 0 2; int32[] 4"},
    {"UnsortedSegmentProd[T=double, Tindices=int64, Tnumsegments=int64]",
     "double[3,2] 1 0 3 4 0 6; int64[3,2] 1 1 1 -1 0 1; int64[] 3"},
    {"UnsortedSegmentProd[T=double, Tindices=int32]", "double[4,2] 0 0 1 0 0 3 2 5; int32[4] 1; int32[] 2"},
    {"UnsortedSegmentMin[T=double, Tindices=int32]", "double[5] 1 2 3 4 5; int32[5] 2 -1 0 2 1; int32[] 3"},
    {"UnsortedSegmentMin[T=double, Tindices=int64, Tnumsegments=int64]",
     "double[3,2] 1 2 3 4 5 6; int64[3,2] 1 1 2 -1 0 1; int64[] 3"},
    {"UnsortedSegmentMin[T=double, Tindices=int32]", "double[2,2] 1 2 3 4; int32[] 0; int32[] 1"},
    {"UnsortedSegmentMax[T=double, Tindices=int32]", "double[5] 1 2 3 4 5; int32[5] 2 -1 0 2 1; int32[] 3"},
    {"UnsortedSegmentMax[T=double, Tindices=int64, Tnumsegments=int64]",
     "double[3,2] 1 2 3 4 5 6; int64[3,2] 1 1 2 -1 0 1; int64[] 3"},
    {"UnsortedSegmentMax[T=double, Tindices=int32]", "double[2,2] 1 2 3 4; int32[] 0; int32[] 1"})

#define SPARSE_CASES(op)                                                                                    \
  {"SparseSegment" op "[T=double]", "double[3] 1 2 3; int32[4] 0 2 1 2; int32[4] 0 0 2 2"},                 \
      {"SparseSegment" op "[T=double, Tidx=int64]", "double[3,2] 1 2 3 4 5 6; int64[2] 1 1; int32[2] 0 1"}, \
      {"SparseSegment" op "[T=double]", "double[2,1,2] 1 2 3 4; int32[3] 0 1 0; int32[3] 1"},               \
      {"SparseSegment" op "WithNumSegments[T=double]",                                                      \
       "double[3] 1 2 3; int32[4] 0 2 1 2; int32[4] 0 0 2 2; int32[] 4"},                                   \
      {"SparseSegment" op "WithNumSegments[T=double, Tidx=int64, Tnumsegments=int64]",                      \
       "double[3,2] 1 2 3 4 5 6; int64[2] 1 1; int32[2] 0 1; int64[] 2"},                                   \
  {                                                                                                         \
    "SparseSegment" op "WithNumSegments[T=double]",                                                         \
        "double[2,1,2] 1 2 3 4; int32[3] 0 1 0; int32[3] 1; int32[] 3"                                      \
  }
#define SPARSE_GRADIENT_CASES(op)                                                                          \
  {"SparseSegment" op "Grad[T=double]", "double[3] 1 2 3; int32[4] 0 2 1 2; int32[4] 0 0 2 2; int32[] 4"}, \
      {"SparseSegment" op "Grad[T=double, Tidx=int64]",                                                    \
       "double[3,2] 1 2 3 4 5 6; int64[2] 1 1; int32[2] 0 1; int32[] 2"},                                  \
  {                                                                                                        \
    "SparseSegment" op "Grad[T=double]", "double[2,1,2] 1 2 3 4; int32[3] 0 1 0; int32[3] 1; int32[] 2"    \
  }

GRADIENT_CASES(sparse_segment, SPARSE_CASES("Sum"), SPARSE_CASES("Mean"), SPARSE_CASES("SqrtN"),
               SPARSE_GRADIENT_CASES("Mean"), SPARSE_GRADIENT_CASES("SqrtN"))
