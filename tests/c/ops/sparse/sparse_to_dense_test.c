/* SparseToDense: the default value is everywhere but at the indices. */
#include "harness.h"
#include "op_runner.h"

#define OP(t) "SparseToDense[T=" t ", Tindices=int64]"

TEST(values_among_the_default) {
  op_gives(OP("float"), "int64[2,2] 0 1 2 0; int64[2] 3 2; float[2] 5 6; float[] -1",
           "float[3,2] -1 5 -1 -1 6 -1");
  op_gives(OP("string"), "int64[2] 0 3; int64[1] 4; string[] yes; string[] no", "string[4] yes no no yes");
  op_gives(OP("string"), "int64[0]; int64[1] 2; string[0]; string[] a_text_that_is_not_kept_in_place",
           "string[2] a_text_that_is_not_kept_in_place a_text_that_is_not_kept_in_place");
  op_gives(OP("bool"), "int64[] 1; int64[1] 3; bool[] true; bool[] false", "bool[3] false true false");
  op_gives(OP("complex128"), "int64[1,1] 1; int64[1] 2; complex128[1] 1-2i; complex128[] 0+3i",
           "complex128[2] 0+3i 1-2i");
  op_gives(OP("int8"), "int64[0,2]; int64[2] 0 2; int8[0]; int8[] 1", "int8[0,2]");
}
