/* Split and SplitV. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(split_cuts_into_equal_parts) {
  op_gives("Split[num_split=2, T=float]", "int32[] 0; float[4] 1 2 3 4", "float[2] 1 2; float[2] 3 4");
  op_gives("Split[num_split=2, T=int32]", "int32[] -1; int32[2,4] 1 2 3 4 5 6 7 8",
           "int32[2,2] 1 2 5 6; int32[2,2] 3 4 7 8");
  op_gives("Split[num_split=3, T=bool]", "int32[] 1; bool[1,3,1] true false true",
           "bool[1,1,1] true; bool[1,1,1] false; bool[1,1,1] true");
  op_gives("Split[num_split=1, T=half]", "int32[] 0; half[2] 1 2", "half[2] 1 2");
  op_gives("Split[num_split=2, T=string]", "int32[] 0; string[2] a b", "string[1] a; string[1] b");
  op_gives("Split[num_split=2, T=complex64]", "int32[] 1; complex64[2,2] 1 0+2i 3 4",
           "complex64[2,1] 1 3; complex64[2,1] 0+2i 4");
  op_gives("Split[num_split=2, T=double]", "int32[] 1; double[0,4]", "double[0,2]; double[0,2]");
}

static bool shares(const OpRun *run, int output, int input) {
  return run->outputs[output].buffer == run->inputs[input].buffer;
}

/* Parts that lie one behind the other share the memory of the whole, where they make up an eighth of it. */
TEST(parts_in_one_piece_are_not_copied) {
  static const struct {
    const char *op, *inputs;
    int input;
    bool shared;
  } kCases[] = {
      {"Split[num_split=2, T=float]", "int32[] 0; float[4,50] 1", 1, true},
      {"Split[num_split=5, T=float]", "int32[] 1; float[1,500] 1", 1, true},
      {"Split[num_split=5, T=float]", "int32[] 1; float[4,500] 1", 1, false},
      {"Slice[T=double, Index=int32]", "double[1000] 1; int32[1] 5; int32[1] 120", 0, false},
      {"Split[num_split=2, T=string]", "int32[] 0; string[2] a b", 1, false},
      {"SplitV[num_split=2, T=int32, Tlen=int32]", "int32[4,50] 1; int32[2] 1 3; int32[] 0", 0, true},
      {"Slice[T=float, Index=int32]", "float[4,40] 1; int32[2] 1 0; int32[2] 2 40", 0, true},
      {"Slice[T=float, Index=int32]", "float[4,40] 1; int32[2] 0 1; int32[2] 4 20", 0, false},
      {"StridedSlice[T=float, Index=int32, shrink_axis_mask=1]",
       "float[3,20,2] 1; int32[1] 1; int32[1] 2; int32[1] 1", 0, true},
      {"StridedSlice[T=float, Index=int32]", "float[60] 1; int32[1] 1; int32[1] 60; int32[1] 2", 0, false},
      {"StridedSlice[T=float, Index=int32]", "float[60] 1; int32[1] 55; int32[1] 1; int32[1] -1", 0, false},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    OpRun run;
    Status status;
    status_init(&status);
    CHECK_CONTEXT("%s %s", kCases[i].op, kCases[i].inputs);
    REQUIRE_OK(op_run_begin(&run, kCases[i].op, &status), &status);
    REQUIRE_OK(op_run_inputs(&run, kCases[i].inputs, &status), &status);
    REQUIRE_OK(op_run_compute(&run, &status), &status);
    CHECK_INT_EQ(shares(&run, 0, kCases[i].input), kCases[i].shared);
    op_run_end(&run);
  }
}

TEST(split_refuses_what_cannot_be_cut) {
  op_fails("Split[num_split=2, T=float]", "int32[] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "Number of ways to split should evenly divide the split dimension, but got split_dim 0 (size = 3) "
           "and num_split 2");
  op_fails("Split[num_split=2, T=float]", "int32[] 5; float[3] 0", CODE_INVALID_ARGUMENT,
           "-input rank(-1) <= split_dim < input rank (1), but got 5");
  op_fails("Split[num_split=1, T=float]", "int32[] -2147483648; float[3] 0", CODE_INVALID_ARGUMENT,
           "-input rank(-1) <= split_dim < input rank (1), but got -2147483648");
  op_fails("Split[num_split=1, T=float]", "int32[] 0; float[] 0", CODE_INVALID_ARGUMENT,
           "-input rank(-0) <= split_dim < input rank (0), but got 0");
  op_fails("Split[num_split=2, T=float]", "int32[2] 0; float[4] 0", CODE_INVALID_ARGUMENT,
           "split_dim must be a scalar but has rank 1");
}

TEST(split_v_cuts_into_parts_of_given_sizes) {
  op_gives("SplitV[num_split=2, T=float, Tlen=int32]", "float[4] 1 2 3 4; int32[2] 1 3; int32[] 0",
           "float[1] 1; float[3] 2 3 4");
  op_gives("SplitV[num_split=3, T=int8]", "int8[2,3] 1 2 3 4 5 6; int64[3] 1 -1 0; int32[] -1",
           "int8[2,1] 1 4; int8[2,2] 2 3 5 6; int8[2,0]");
  op_gives("SplitV[num_split=1, T=string]", "string[2] a b; int64[1] 2; int32[] 0", "string[2] a b");
  op_gives("SplitV[num_split=2, T=int32]", "int32[3,2] 1 2 3 4 5 6; int64[2] 2 1; int32[1] 0",
           "int32[2,2] 1 2 3 4; int32[1,2] 5 6");
}

TEST(split_v_refuses_sizes_that_do_not_fit) {
  const char *op = "SplitV[num_split=2, T=float]";
  op_fails(op, "float[3] 0; int64[2] 1 1; int32[] 0", CODE_INVALID_ARGUMENT,
           "if not fully specified.  Got: 2");
  op_fails(op, "float[3] 0; int64[2] 5 -1; int32[] 0", CODE_INVALID_ARGUMENT,
           "if not fully specified.  Got: 5");
  op_fails(op, "float[3] 0; int64[2] -2 5; int32[] 0", CODE_INVALID_ARGUMENT,
           "Split size at index 0 must be >= 0. Got: -2");
  op_fails(op, "float[3] 0; int64[2] -1 -1; int32[] 0", CODE_INVALID_ARGUMENT,
           "There can only be one -1 in the input.");
  op_fails(op, "float[3] 0; int64[2] 9223372036854775807 4; int32[] 0", CODE_INVALID_ARGUMENT, "2**63 - 1");
  op_fails(op, "float[3] 0; int64[3] 1; int32[] 0", CODE_INVALID_ARGUMENT,
           "size of the split_tensor must be 1-D and have the same elements as outputs got 1 -D and 3 "
           "elements");
  op_fails(op, "float[3] 0; int64[2] 1 2; int32[2] 0", CODE_INVALID_ARGUMENT,
           "split_dim_tensor must have exactly one element.");
  op_fails(op, "float[3] 0; int64[2] 1 2; int32[] 3", CODE_INVALID_ARGUMENT,
           "-input rank(-1) <= split_dim < input rank (1), but got 3");
  op_fails("SplitV[num_split=1, T=float]", "float[3] 0; int64[1] 2; int32[] 0", CODE_INVALID_ARGUMENT,
           "it must have the same size as the input. Input size: 3 output size: 2");
}

GRADIENT_CASES(split, {"Split[num_split=2, T=double]", "int32[] 0; double[4] 1 2 3 4"},
               {"Split[num_split=3, T=double]", "int32[] -1; double[2,3] 1 2 3 4 5 6"},
               {"Split[num_split=1, T=double]", "int32[] 1; double[1,2,2] 1 2 3 4"},
               {"Split[num_split=2, T=complex128]", "int32[] 0; complex128[2] 1+2i 3-1i"},
               {"SplitV[num_split=2, T=double]", "double[4] 1 2 3 4; int64[2] 1 3; int32[] 0"},
               {"SplitV[num_split=3, T=double, Tlen=int32]",
                "double[2,3] 1 2 3 4 5 6; int32[3] 2 -1 0; int32[] 1"},
               {"SplitV[num_split=1, T=double]", "double[1,2,1] 1 2; int64[1] 2; int32[] -2"})
