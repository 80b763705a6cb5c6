/* Select, AddN, ZerosLike, OnesLike and broadcasting of shapes as values. */
#include <stdio.h>

#include "blas/small_numbers.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(select_by_element_row_and_scalar) {
  op_gives("Select[T=float]", "bool[3] 1 0 1; float[3] 1 2 3; float[3] 4 5 6", "float[3] 1 5 3");
  op_gives("Select[T=int32]", "bool[2] 0 1; int32[2,2] 1 2 3 4; int32[2,2] 5 6 7 8", "int32[2,2] 5 6 3 4");
  op_gives("Select[T=int64]", "bool[] 0; int64[2] 1 2; int64[2] 3 4", "int64[2] 3 4");
  op_gives("Select[T=bool]", "bool[2] 1 0; bool[2] 1 1; bool[2] 0 0", "bool[2] 1 0");
  op_gives("Select[T=half]", "bool[2] 1 0; half[2] 1 2; half[2] 3 4", "half[2] 1 4");
  op_gives("Select[T=double]", "bool[2,1] 1 0; double[2,1] 1 2; double[2,1] 3 4", "double[2,1] 1 4");
  op_gives("Select[T=string]", "bool[2] 1 0; string[2] a bb; string[2] ccc d", "string[2] a d");
  op_gives("Select[T=float]", "bool[0]; float[0,2]; float[0,2]", "float[0,2]");
  op_gives("Select[T=float]", "bool[2] 0 1; float[2,0]; float[2,0]", "float[2,0]");
}

TEST(select_errors) {
  op_fails("Select[T=float]", "bool[] 1; float[2] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "'then' and 'else' must have the same size.  but received: [2] vs. [3]");
  op_fails("Select[T=float]", "bool[2] 1; float[2,3] 0; float[2,4] 0", CODE_INVALID_ARGUMENT,
           "'then' and 'else' must have the same size.  but received: [2,3] vs. [2,4]");
  op_fails("Select[T=float]", "bool[2] 1; float[3,1] 0; float[3,1] 0", CODE_INVALID_ARGUMENT,
           "Number of batches of 'then' must match size of 'cond', but saw: 3 vs. 2");
  op_fails("Select[T=float]", "bool[2] 1; float[2] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "of type Select must have the same size and shape.  Input 0: [2] != input 2: [3]");
  op_fails("Select[T=float]", "bool[2,2] 1; float[2] 0; float[2] 0", CODE_INVALID_ARGUMENT,
           "of type Select must have the same size and shape.  Input 0: [2,2] != input 1: [2]");
  op_fails("Select[T=float]", "bool[1] 1; float[] 0; float[] 0", CODE_INVALID_ARGUMENT,
           "'then' must be at least a vector, but saw shape: []");
}

TEST(select_in_place) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "Select[T=float]", &status), status);
  run.last_use = true;
  CHECK_OK(op_run_inputs(&run, "bool[5] 1 0 0 1 0; float[5] 1 2 3 4 5; float[5] 10 20 30 40 50", &status),
           status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    static const float kWant[] = {1, 20, 30, 4, 50};
    CHECK(run.outputs[0].buffer == run.inputs[1].buffer);
    CHECK_MEM_EQ(run.outputs[0].data, kWant, sizeof kWant);
  }
  op_run_end(&run);
}

TEST(add_n_adds_in_order) {
  op_gives("AddN[N=1, T=float]", "float[2] 1 2", "float[2] 1 2");
  op_gives("AddN[N=2, T=float]", "float[2] 1 2; float[2] 3 4", "float[2] 4 6");
  op_gives("AddN[N=3, T=int32]", "int32[] 1; int32[] 2; int32[] 3", "int32[] 6");
  op_gives("AddN[N=5, T=double]", "double[2] 1; double[2] 2; double[2] 3; double[2] 4; double[2] 5 6",
           "double[2] 15 16");
  op_gives("AddN[N=4, T=uint8]", "uint8[1] 100; uint8[1] 100; uint8[1] 100; uint8[1] 100", "uint8[1] 144");
  op_gives("AddN[N=4, T=half]", "half[1] 1; half[1] 2; half[1] 3; half[1] 4", "half[1] 10");
  op_gives("AddN[N=6, T=int64]", "int64[1] 1; int64[1] 2; int64[1] 3; int64[1] 4; int64[1] 5; int64[1] 6",
           "int64[1] 21");
  op_gives("AddN[N=2, T=float]", "float[0]; float[0]", "float[0]");
  /* 2^24 + 1 + 1 in this order stays 2^24; the other order would not. */
  op_gives("AddN[N=3, T=float]", "float[] 16777216; float[] 1; float[] 1", "float[] 16777216");
  op_gives("AddN[N=4, T=float]", "float[] 16777216; float[] 1; float[] 1; float[] 1", "float[] 16777216");
  op_fails("AddN[N=2, T=float]", "float[2] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "Inputs to operation n of type AddN must have the same size and shape.  Input 0: [2] != input 1: "
           "[3]");
}

TEST(zeros_and_ones) {
  op_gives("ZerosLike[T=float]", "float[2,2] 1 nan 3 4", "float[2,2] 0");
  op_gives("ZerosLike[T=bool]", "bool[2] 1", "bool[2] 0");
  op_gives("ZerosLike[T=string]", "string[1] abc", "string[1] ;");
  op_gives("ZerosLike[T=int64]", "int64[0]", "int64[0]");
  op_gives("OnesLike[T=float]", "float[3,3] 7", "float[3,3] 1");
  op_gives("OnesLike[T=double]", "double[5] 7", "double[5] 1");
  op_gives("OnesLike[T=half]", "half[3] 7", "half[3] 1");
  op_gives("OnesLike[T=bfloat16]", "bfloat16[3] 7", "bfloat16[3] 1");
  op_gives("OnesLike[T=int32]", "int32[] 7", "int32[] 1");
  op_gives("OnesLike[T=int64]", "int64[7] 7", "int64[7] 1");
  op_gives("OnesLike[T=uint16]", "uint16[5] 7", "uint16[5] 1");
  op_gives("OnesLike[T=int8]", "int8[5] 7", "int8[5] 1");
  op_gives("OnesLike[T=bool]", "bool[5] 0", "bool[5] 1");
  op_gives("OnesLike[T=float]", "float[0,4]", "float[0,4]");
}

TEST(axes_to_sum_gradients_over) {
  op_gives("BroadcastGradientArgs", "int32[2] 2 3; int32[2] 2 3", "int32[0]; int32[0]");
  op_gives("BroadcastGradientArgs", "int32[2] 2 3; int32[1] 3", "int32[0]; int32[1] 0");
  op_gives("BroadcastGradientArgs", "int32[0]; int32[2] 2 3", "int32[2] 0 1; int32[0]");
  op_gives("BroadcastGradientArgs", "int32[3] 2 1 5; int32[2] 4 1", "int32[1] 1; int32[2] 0 2");
  op_gives("BroadcastGradientArgs", "int32[2] 1 3; int32[2] 1 1", "int32[1] 0; int32[2] 0 1");
  op_gives("BroadcastGradientArgs", "int32[2] 1 3; int32[2] 1 3", "int32[0]; int32[0]");
  op_gives("BroadcastGradientArgs[T=int64]", "int64[2] 0 3; int64[2] 1 3", "int64[0]; int64[1] 0");
  op_fails("BroadcastGradientArgs", "int32[2] 2 3; int32[1] 2", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2,3] vs. [2]");
  op_fails("BroadcastGradientArgs", "int32[] 2; int32[1] 2", CODE_INVALID_ARGUMENT,
           "In[0] must be a vector.");
  op_fails("BroadcastGradientArgs", "int32[300] 1; int32[1] 2", CODE_INVALID_ARGUMENT, "more than the 254");
  op_fails("BroadcastGradientArgs", "int32[1] -1; int32[1] 2", CODE_INVALID_ARGUMENT, "");
}

TEST(broadcast_shape_as_a_value) {
  op_gives("BroadcastArgs", "int32[2] 2 1; int32[3] 4 1 3", "int32[3] 4 2 3");
  op_gives("BroadcastArgs[T=int64]", "int64[0]; int64[1] 5", "int64[1] 5");
  op_fails("BroadcastArgs", "int32[1] 2; int32[1] 3", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2] vs. [3]");
}

GRADIENT_CASES(select, {"Select[T=double]", "bool[2,2] 1 0 0 1; double[2,2] 1 2 3 4; double[2,2] 5 6 7 8"},
               {"Select[T=double]", "bool[2] 1 0; double[2,2] 1 2 3 4; double[2,2] 5 6 7 8"},
               {"Select[T=double]", "bool[] 1; double[2] 1 2; double[2] 5 6"},
               {"Select[T=double]", "bool[1,3] 0 1 0; double[1,3] 1 2 3; double[1,3] 5 6 7"})

TEST(all_three_broadcast_in_the_second_version) {
  op_gives("SelectV2[T=int32]", "bool[2] 1 0; int32[2,1] 1 2; int32[] 5", "int32[2,2] 1 5 2 5");
  op_gives("SelectV2[T=float]", "bool[2,1] 1 0; float[3] 1 2 3; float[2,3] 4 5 6 7 8 9",
           "float[2,3] 1 2 3 7 8 9");
  op_gives("SelectV2[T=double]", "bool[] 1; double[2] 1 2; double[2,1] 8 9", "double[2,2] 1 2 1 2");
  op_gives("SelectV2[T=string]", "bool[2] 0 1; string[] yes; string[2,1] no never",
           "string[2,2] no yes never yes");
  op_gives("SelectV2[T=complex128]", "bool[2] 0 1; complex128[] 1+2i; complex128[2] 3 4",
           "complex128[2] 3 1+2i");
  op_gives("SelectV2[T=int8]", "bool[3] 0 1 0; int8[3] 1 2 3; int8[] 9", "int8[3] 9 2 9");
  op_gives("SelectV2[T=half]", "bool[2] 0 1; half[] 1; half[] 2", "half[2] 2 1");
  op_gives("SelectV2[T=bool]", "bool[2] 0 1; bool[2] 1 0; bool[2] 1 1", "bool[2] 1 0");
  op_gives("SelectV2[T=float]", "bool[0,1]; float[3] 1; float[] 2", "float[0,3]");
  op_gives("SelectV2[T=int64]", "bool[] 0; int64[] 1; int64[] 2", "int64[] 2");
  op_fails("SelectV2[T=float]", "bool[2] 1; float[3] 1; float[] 5", CODE_INVALID_ARGUMENT,
           "condition [2], then [3], and else [] must be broadcastable");
}

static void check_select(const char *type, SmallNumbers *numbers) {
  static const int64_t kSizes[] = {1, 1, 2, 3, 5, 18};
  int rank = small_number(numbers, 5);
  int64_t dims[4], place[4];
  char spec[40];
  snprintf(spec, sizeof spec, "SelectV2[T=%s]", type);
  CHECK_CONTEXT("%s, rank %d, random state %u", spec, rank, numbers->state);
  for (int i = 0; i < rank; i++) dims[i] = kSizes[small_number(numbers, 6)];
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *operands[3];
  for (int k = 0; k < 3; k++) {
    int first = small_number(numbers, rank + 1);
    int64_t own[4];
    for (int i = first; i < rank; i++) own[i - first] = small_number(numbers, 3) != 0 ? dims[i] : 1;
    operands[k] =
        op_run_input(&run, k == 0 ? DT_BOOL : (DataType)dtype_from_name(str_of(type)), rank - first, own);
    for (int64_t i = 0; i < tensor_num_elements(operands[k]); i++)
      tensor_put(operands[k], i, k == 0 ? small_number(numbers, 2) : small_number(numbers, 100));
  }
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    const Tensor *out = &run.outputs[0];
    for (int64_t i = 0; i < tensor_num_elements(out); i++) {
      int64_t rest = i;
      int out_rank = out->shape.rank;
      for (int k = out_rank - 1; k >= 0; k--) {
        place[k] = rest % shape_dim(&out->shape, k), rest /= shape_dim(&out->shape, k);
      }
      int from = tensor_get_broadcast(operands[0], out_rank, place) != 0 ? 1 : 2;
      if (!CHECK_NEAR(tensor_get(out, i), tensor_get_broadcast(operands[from], out_rank, place), 0)) break;
    }
  }
  op_run_end(&run);
}

TEST(random_operands_of_all_sizes_are_chosen_from) {
  static const char *const kTypes[] = {"float", "int8", "half", "double", "complex128", "int32", "int64"};
  SmallNumbers numbers = {5};
  for (int i = 0; i < 1400; i++) check_select(kTypes[i % 7], &numbers);
  CHECK_CONTEXT("%s", "");
}

/* Shapes of more than 8 dimensions are on the heap, where AddressSanitizer sees the end of one. */
TEST(operands_of_many_dimensions_broadcast) {
  op_gives("SelectV2[T=float]", "bool[2,1,1,1,1,1,1,1,1] 0 1; float[1,1,1,1,1,1,1,1,3] 1 2 3; float[] 9",
           "float[2,1,1,1,1,1,1,1,3] 9 9 9 1 2 3");
  op_gives("BroadcastGradientArgs", "int32[9] 2 1 1 1 1 1 1 1 3; int32[1] 3",
           "int32[7] 1 2 3 4 5 6 7; int32[8] 0 1 2 3 4 5 6 7");
  op_gives("BroadcastArgs", "int32[9] 2 1 1 1 1 1 1 1 3; int32[2] 4 1", "int32[9] 2 1 1 1 1 1 1 4 3");
  op_gives("SelectV2[T=string]",
           "bool[2,1,1,1,1,1,1,1,1] 0 1; string[] yes; string[1,1,1,1,1,1,1,1,2] no never",
           "string[2,1,1,1,1,1,1,1,2] no never yes yes");
}

GRADIENT_CASES(select_v2,
               {"SelectV2[T=double]", "bool[2,2] 1 0 0 1; double[2,2] 1 2 3 4; double[2,2] 5 6 7 8"},
               {"SelectV2[T=double]", "bool[2] 1 0; double[2,1] 1 2; double[] 5"},
               {"SelectV2[T=double]", "bool[2,1,1] 1 0; double[2,1] 1 2; double[3] 5 6 7"},
               {"SelectV2[T=double]", "bool[] 1; double[2] 1 2; double[2] 5 6"},
               {"SelectV2[T=complex128]", "bool[2] 1 0; complex128[2,1] 1+1i 2; complex128[] 5-1i"})
