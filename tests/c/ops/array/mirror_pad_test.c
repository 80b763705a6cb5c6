/* MirrorPad and MirrorPadGrad. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(mirror_pad_mirrors_the_borders) {
  op_gives("MirrorPad[T=float, mode=REFLECT]", "float[3] 1 2 3; int32[1,2] 2 1", "float[6] 3 2 1 2 3 2");
  op_gives("MirrorPad[T=float, mode=SYMMETRIC]", "float[3] 1 2 3; int32[1,2] 2 1", "float[6] 2 1 1 2 3 3");
  op_gives("MirrorPad[T=int32, Tpaddings=int64, mode=REFLECT]", "int32[2,3] 1 2 3 4 5 6; int64[2,2] 1 1 2 2",
           "int32[4,7] 6 5 4 5 6 5 4 3 2 1 2 3 2 1 6 5 4 5 6 5 4 3 2 1 2 3 2 1");
  op_gives("MirrorPad[T=string, mode=SYMMETRIC]", "string[2] a b; int32[1,2] 2 2", "string[6] b a a b b a");
  op_gives("MirrorPad[T=complex64, mode=SYMMETRIC]", "complex64[1,1] 1+1i; int32[2,2] 0 1 1 0",
           "complex64[2,2] 1+1i");
  op_gives("MirrorPad[T=half, mode=SYMMETRIC]", "half[0,2]; int32[2,2] 0 0 1 0", "half[0,3]");
  op_gives("MirrorPad[T=float, mode=REFLECT]", "float[] 3; int32[0,2]", "float[] 3");
}

TEST(mirror_pad_grad_adds_the_borders) {
  op_gives("MirrorPadGrad[T=float, mode=REFLECT]", "float[6] 1 2 3 4 5 6; int32[1,2] 2 1", "float[3] 3 12 6");
  op_gives("MirrorPadGrad[T=float, mode=SYMMETRIC]", "float[6] 1 2 3 4 5 6; int32[1,2] 2 1",
           "float[3] 5 5 11");
  op_gives("MirrorPadGrad[T=int32, mode=SYMMETRIC]", "int32[2,2] 1 2 3 4; int32[2,2] 1 0 0 1",
           "int32[1,1] 10");
  op_gives("MirrorPadGrad[T=uint8, mode=SYMMETRIC]", "uint8[2] 200 100; int32[1,2] 1 0", "uint8[1] 44");
  op_gives("MirrorPadGrad[T=half, Tpaddings=int64, mode=REFLECT]", "half[1,3] 1 2 3; int64[2,2] 0 0 0 1",
           "half[1,2] 4 2");
}

TEST(mirror_paddings_that_do_not_fit_are_refused) {
  op_fails("MirrorPad[T=float, mode=REFLECT]", "float[2] 0; int32[1,2] 2 0", CODE_INVALID_ARGUMENT,
           "paddings must be less than the dimension size: 2, 0 not less than 2");
  op_fails("MirrorPad[T=float, mode=SYMMETRIC]", "float[2] 0; int32[1,2] 0 3", CODE_INVALID_ARGUMENT,
           "paddings must be no greater than the dimension size: 0, 3 greater than 2");
  op_fails("MirrorPad[T=float, mode=REFLECT]", "float[2] 0; int32[1,2] -1 0", CODE_INVALID_ARGUMENT,
           "paddings must be non-negative: -1 0");
  op_fails("MirrorPad[T=float, mode=REFLECT]", "float[2] 0; int32[2,2] 0", CODE_INVALID_ARGUMENT,
           "The first dimension of paddings must be the rank of inputs[2,2], [2]");
  op_fails("MirrorPad[T=float, mode=REFLECT]", "float[2] 0; int32[1,3] 0", CODE_INVALID_ARGUMENT,
           "paddings must be a matrix with 2 columns: [1,3]");
  op_fails("MirrorPadGrad[T=float, mode=REFLECT]", "float[3] 0; int32[1,2] 2 0", CODE_INVALID_ARGUMENT,
           "paddings must be less than the output dimension size: 2, 0 not less than 1");
  op_fails("MirrorPadGrad[T=float, mode=SYMMETRIC]", "float[3] 0; int32[1,2] 2 0", CODE_INVALID_ARGUMENT,
           "paddings must be no greater than the output dimension size: 2, 0 greater than 1");
  op_fails("MirrorPadGrad[T=float, mode=SYMMETRIC]", "float[3] 0; int32[1,2] -2 0", CODE_INVALID_ARGUMENT,
           "Paddings must be non-negative: -2, 0");
  op_fails("MirrorPadGrad[T=float, mode=SYMMETRIC]", "float[3] 0; int32[1,2] 2 2", CODE_INVALID_ARGUMENT,
           "Total paddings must be less than the input dimension size: 4 was not less than 3");
}

GRADIENT_CASES(mirror_pad, {"MirrorPad[T=double, mode=REFLECT]", "double[3] 1 2 3; int32[1,2] 2 1"},
               {"MirrorPad[T=double, Tpaddings=int64, mode=SYMMETRIC]",
                "double[2,3] 1 2 3 4 5 6; int64[2,2] 1 2 0 3"},
               {"MirrorPad[T=double, mode=REFLECT]", "double[2,1,2] 1 2 3 4; int32[3,2] 1 1 0 0 1 0"},
               {"MirrorPad[T=complex128, mode=SYMMETRIC]", "complex128[2] 1+1i 2; int32[1,2] 1 2"},
               {"MirrorPadGrad[T=double, mode=REFLECT]", "double[6] 1 2 3 4 5 6; int32[1,2] 2 1"},
               {"MirrorPadGrad[T=double, mode=SYMMETRIC]", "double[2,3] 1 2 3 4 5 6; int32[2,2] 1 0 0 1"},
               {"MirrorPadGrad[T=double, Tpaddings=int64, mode=REFLECT]",
                "double[3,1,3] 1 2 3 4 5 6 7 8 9; int64[3,2] 1 0 0 0 1 0"},
               {"MirrorPadGrad[T=complex128, mode=SYMMETRIC]", "complex128[3] 1+1i 2 3-2i; int32[1,2] 1 0"})
