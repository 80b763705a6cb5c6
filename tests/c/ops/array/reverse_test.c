/* Reverse, ReverseV2 and ReverseSequence. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(reverse_turns_axes_around) {
  op_gives("Reverse[T=float]", "float[3] 1 2 3; bool[1] true", "float[3] 3 2 1");
  op_gives("Reverse[T=int32]", "int32[2,2] 1 2 3 4; bool[2] true false", "int32[2,2] 3 4 1 2");
  op_gives("Reverse[T=string]", "string[2] a b; bool[1] true", "string[2] b a");
  op_gives("ReverseV2[T=double]", "double[2,2,2] 1 2 3 4 5 6 7 8; int32[2] 0 -1",
           "double[2,2,2] 6 5 8 7 2 1 4 3");
  op_gives("ReverseV2[T=int8, Tidx=int64]", "int8[2,3] 1 2 3 4 5 6; int64[1] 1", "int8[2,3] 3 2 1 6 5 4");
  op_gives("ReverseV2[T=complex128]", "complex128[2] 1 0+2i; int32[1] 0", "complex128[2] 0+2i 1");
  op_gives("ReverseV2[T=float]", "float[2] 1 2; int32[0]", "float[2] 1 2");
  op_gives("ReverseV2[T=float]", "float[0,2]; int32[1] 0", "float[0,2]");
  op_gives("ReverseV2[T=float]", "float[] 2; int32[0]", "float[] 2");
}

TEST(reverse_refuses_wrong_axes) {
  op_fails("Reverse[T=float]", "float[3,2] 0; bool[1] true", CODE_INVALID_ARGUMENT,
           "'dims' must have the same number of values as 'input' has dimensions. 'input' has 2'dims' has 1 "
           "values");
  op_fails("Reverse[T=float]", "float[3,2] 0; bool[1,2] true", CODE_INVALID_ARGUMENT,
           "'dims' must be 1-dimension, not 2");
  op_fails("Reverse[T=float]", "float[1,1,1,1,1,1,1,1,1] 0; bool[9] true", CODE_UNIMPLEMENTED,
           "reverse is not implemented for tensors of rank > 8.");
  op_fails("ReverseV2[T=float]", "float[3,2] 0; int32[2] 0 -2", CODE_INVALID_ARGUMENT,
           "axis 0 specified more than once.");
  op_fails("ReverseV2[T=float]", "float[3,2] 0; int32[1] 2", CODE_INVALID_ARGUMENT,
           "'axis'[0] = 2 is out of valid range [0, 1");
  op_fails("ReverseV2[T=float, Tidx=int64]", "float[3,2] 0; int64[1] -9223372036854775808",
           CODE_INVALID_ARGUMENT, "is out of valid range");
  op_fails("ReverseV2[T=float]", "float[3,2] 0; int32[] 1", CODE_INVALID_ARGUMENT,
           "'dims' must be 1-dimension, not 0");
}

TEST(reverse_sequence_turns_the_beginning_around) {
  op_gives("ReverseSequence[seq_dim=1, T=float]", "float[3,4] 1 2 3 4 5 6 7 8 9 10 11 12; int64[3] 0 2 4",
           "float[3,4] 1 2 3 4 6 5 7 8 12 11 10 9");
  op_gives("ReverseSequence[seq_dim=0, batch_dim=1, T=int32, Tlen=int32]",
           "int32[3,2] 1 2 3 4 5 6; int32[2] 3 2", "int32[3,2] 5 4 3 2 1 6");
  op_gives("ReverseSequence[seq_dim=1, batch_dim=0, T=string]", "string[1,2] a b; int64[1] 2",
           "string[1,2] b a");
  op_gives("ReverseSequence[seq_dim=2, batch_dim=0, T=int8]", "int8[1,2,2] 1 2 3 4; int64[1] 2",
           "int8[1,2,2] 2 1 4 3");
  op_gives("ReverseSequence[seq_dim=1, T=float]", "float[2,0]; int64[2] 0", "float[2,0]");
}

TEST(reverse_sequence_refuses_what_does_not_fit) {
  op_fails("ReverseSequence[seq_dim=0, T=float]", "float[3,2] 0; int64[3] 1", CODE_INVALID_ARGUMENT,
           "batch_dim == seq_dim == 0");
  op_fails("ReverseSequence[seq_dim=2, T=float]", "float[3,2] 0; int64[3] 1", CODE_INVALID_ARGUMENT,
           "seq_dim must be < input rank ( 2 vs. 2)");
  op_fails("ReverseSequence[seq_dim=1, batch_dim=2, T=float]", "float[3,2] 0; int64[3] 1",
           CODE_INVALID_ARGUMENT, "batch_dim must be < input rank ( 2 vs. 2)");
  op_fails("ReverseSequence[seq_dim=-1, T=float]", "float[3,2] 0; int64[3] 1", CODE_INVALID_ARGUMENT,
           "Invalid seq_dim -1");
  op_fails("ReverseSequence[seq_dim=1, batch_dim=-1, T=float]", "float[3,2] 0; int64[3] 1",
           CODE_INVALID_ARGUMENT, "Invalid batch_dim -1");
  op_fails("ReverseSequence[seq_dim=1, T=float]", "float[3,2] 0; int64[2] 1", CODE_INVALID_ARGUMENT,
           "Length of seq_lengths != input.dims(0), (2 vs. 3)");
  op_fails("ReverseSequence[seq_dim=1, T=float]", "float[3,2] 0; int64[3] 1 1 3", CODE_INVALID_ARGUMENT,
           "seq_lens(2) > input.dims(1)");
  op_fails("ReverseSequence[seq_dim=1, T=float]", "float[3,2] 0; int64[3] 1 1 -3", CODE_INVALID_ARGUMENT,
           "seq_lens(2) < 0");
  op_fails("ReverseSequence[seq_dim=1, T=float]", "float[3,2] 0; int64[1,3] 1", CODE_INVALID_ARGUMENT,
           "seq_lengths must be 1-dim, not 2");
}

GRADIENT_CASES(reverse, {"Reverse[T=double]", "double[2,2] 1 2 3 4; bool[2] true false"},
               {"Reverse[T=double]", "double[3] 1 2 3; bool[1] true"},
               {"Reverse[T=double]", "double[1,2,1] 1 2; bool[3] true true false"},
               {"ReverseV2[T=double]", "double[2,2] 1 2 3 4; int32[1] -1"},
               {"ReverseV2[T=double, Tidx=int64]", "double[1,2,2] 1 2 3 4; int64[2] 1 2"},
               {"ReverseV2[T=complex128]", "complex128[2] 1+1i 2; int32[1] 0"},
               {"ReverseV2[T=double]", "double[3] 1 2 3; int32[0]"},
               {"ReverseSequence[seq_dim=1, T=double]", "double[2,3] 1 2 3 4 5 6; int64[2] 2 3"},
               {"ReverseSequence[seq_dim=0, batch_dim=1, T=double, Tlen=int32]",
                "double[2,1] 1 2; int32[1] 2"},
               {"ReverseSequence[seq_dim=2, batch_dim=1, T=double]", "double[1,2,2] 1 2 3 4; int64[2] 0 2"})
