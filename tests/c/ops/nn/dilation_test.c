/* Dilation2D and its gradients. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

#define OP(name, type, strides, rates, padding) \
  name "[T=" type ", strides=[1, " strides ", 1], rates=[1, " rates ", 1], padding=" padding "]"
#define SAME(name, type) OP(name, type, "1, 1", "1, 1", "SAME")
#define VALID(name, type) OP(name, type, "1, 1", "1, 1", "VALID")

/* Sums of image and filter by hand. */
TEST(dilations_are_the_largest_sums) {
  op_gives(VALID("Dilation2D", "float"), "float[1,2,3,1] 1 5 2 7 3 4; float[1,2,1] 0 10",
           "float[1,2,2,1] 15 12 13 14");
  op_gives(SAME("Dilation2D", "int32"), "int32[1,1,3,2] 1 -1 2 -2 3 -3; int32[1,2,2] 1 0 0 1",
           "int32[1,1,3,2] 2 -1 3 -2 4 -3");
  op_gives(OP("Dilation2D", "double", "1, 2", "1, 3", "VALID"),
           "double[1,1,6,1] 0 1 2 3 4 5; double[1,2,1] 4 0", "double[1,1,2,1] 4 6");
}

TEST(gradients_of_dilations_go_to_the_largest_sums) {
  op_gives(VALID("Dilation2DBackpropInput", "float"),
           "float[1,1,4,1] 1 9 2 3; float[1,2,1] 0 1; float[1,1,3,1] 10 20 30", "float[1,1,4,1] 0 30 0 30");
  op_gives(VALID("Dilation2DBackpropFilter", "float"),
           "float[1,1,4,1] 1 9 2 3; float[1,2,1] 0 1; float[1,1,3,1] 10 20 30", "float[1,2,1] 20 40");
  /* The first of equal ones. */
  op_gives(VALID("Dilation2DBackpropInput", "int64"), "int64[1,2,2,1] 3; int64[2,2,1] 0; int64[1,1,1,1] 7",
           "int64[1,2,2,1] 7 0 0 0");
}

/* A filter without elements has no sums, whatever its other size. */
TEST(dilations_by_empty_filters_end_at_once) {
  op_gives(SAME("Dilation2D", "int8"), "int8[1,2,2,1] 5; int8[2000000000,0,1]", "int8[1,2,2,1] -128");
  op_gives(SAME("Dilation2DBackpropFilter", "int8"),
           "int8[1000000000000,0,2,1]; int8[1,1,1] 0; "
           "int8[1000000000000,0,2,1]",
           "int8[1,1,1] 0");
  op_fails(VALID("Dilation2D", "float"), "float[1,2,2,1] 5; float[2000000000,0,1]", CODE_INVALID_ARGUMENT,
           "Computed output size would be negative: -1999999997 [input_size: 2, effective_filter_size: "
           "2000000000, "
           "stride: 1]");
}

#define ONCE "TensorFlow has no gradients of the gradients."
GRADIENT_CASES(dilation,
               {SAME("Dilation2D", "double"), "double[1,2,3,1] 1 5 2 7 3.5 4; double[2,2,1] 0 0.7 -1.2 1.1",
                ONCE},
               {OP("Dilation2D", "double", "2, 1", "1, 2", "SAME"),
                "double[2,3,2,2] 1 5 2 7 3.5 4 -1 8 2.2 1.7 9 4.1 2.3 6; double[2,1,2] 0.2 0.7 -1.2 1.15",
                ONCE},
               {VALID("Dilation2D", "double"),
                "double[1,3,3,2] 1 5 2 7 3.5 4 -1 8 2.2 1.7 9 4.1 2.3 6.6; double[1,2,2] 0.2 "
                "0.75 -1.2 1.1",
                ONCE})
