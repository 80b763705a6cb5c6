/* Shape, ShapeN, Rank and Size. */
#include "harness.h"
#include "op_runner.h"

TEST(shapes_of_tensors) {
  op_gives("Shape[T=float]", "float[2,3] 0", "int32[2] 2 3");
  op_gives("Shape[T=float, out_type=int64]", "float[2,0,1]", "int64[3] 2 0 1");
  op_gives("Shape[T=string]", "string[] a", "int32[0]");
  op_gives("ShapeN[N=2, T=int8]", "int8[4] 0; int8[] 0", "int32[1] 4; int32[0]");
  op_gives("ShapeN[N=1, T=bool, out_type=int64]", "bool[1,2] 0", "int64[2] 1 2");
  op_gives("Rank[T=double]", "double[2,3,4] 0", "int32[] 3");
  op_gives("Rank[T=string]", "string[] x", "int32[] 0");
  op_gives("Size[T=float]", "float[2,3] 0", "int32[] 6");
  op_gives("Size[T=float, out_type=int64]", "float[0,3]", "int64[] 0");
}

TEST(sizes_that_int32_does_not_hold_are_refused) {
  /* No elements, so no memory. */
  op_fails("Shape[T=float]", "float[0,3000000000]", CODE_INVALID_ARGUMENT,
           "Shape output type is 32-bit  but dim 1 is 3000000000");
  op_gives("Shape[T=float, out_type=int64]", "float[0,3000000000]", "int64[2] 0 3000000000");
}
