/* Ops that leave all elements where they are give the memory of their input, not a copy of it; those that move one do not. */
#include "harness.h"
#include "op_runner.h"

typedef struct SharingCase {
  const char *op, *inputs;
  int shared; /* the input whose memory output 0 has, or -1 */
} SharingCase;

static const SharingCase kCases[] = {
    {"AddN[N=1, T=float]", "float[2] 1 2", 0},
    {"AddN[N=2, T=float]", "float[2] 1 2; float[2] 1 2", -1},
    {"BroadcastTo[T=float]", "float[2,2] 1 2 3 4; int32[2] 2 2", 0},
    {"BroadcastTo[T=float]", "float[2] 1 2; int32[2] 2 2", -1},
    {"CheckNumerics[T=float, message=no]", "float[2] 1 2", 0},
    {"EnsureShape[T=float, shape=[2]]", "float[2] 1 2", 0},
    {"ExpandDims[T=float]", "float[2] 1 2; int32[] 0", 0},
    {"Identity[T=float]", "float[2] 1 2", 0},
    {"MirrorPad[T=float, mode=REFLECT]", "float[2] 1 2; int32[1,2] 0 0", 0},
    {"MirrorPad[T=float, mode=REFLECT]", "float[2] 1 2; int32[1,2] 1 0", -1},
    {"MirrorPad[T=float, mode=REFLECT]", "float[2] 1 2; int32[1,2] 0 1", -1},
    {"MirrorPadGrad[T=float, mode=REFLECT]", "float[3] 1 2 3; int32[1,2] 0 0", 0},
    {"MirrorPadGrad[T=float, mode=REFLECT]", "float[3] 1 2 3; int32[1,2] 1 0", -1},
    {"Pack[N=1, T=float]", "float[2] 1 2", 0},
    {"Pack[N=2, T=float]", "float[2] 1 2; float[2] 1 2", -1},
    {"Pad[T=float]", "float[2] 1 2; int32[1,2] 0 0", 0},
    {"Pad[T=float]", "float[2] 1 2; int32[1,2] 1 0", -1},
    {"Pad[T=float]", "float[2] 1 2; int32[1,2] 0 1", -1},
    {"Reshape[T=float]", "float[4] 1 2 3 4; int32[2] 2 2", 0},
    {"Reverse[T=float]", "float[2,2] 1 2 3 4; bool[2] 0 0", 0},
    {"Reverse[T=float]", "float[2,2] 1 2 3 4; bool[2] 0 1", -1},
    {"ReverseV2[T=float]", "float[2,2] 1 2 3 4; int32[0]", 0},
    {"ReverseV2[T=float]", "float[2,2] 1 2 3 4; int32[1] 1", -1},
    {"Round[T=int32]", "int32[2] 1 2", 0},
    {"Round[T=float]", "float[2] 1 2", -1},
    {"SelectV2[T=float]", "bool[] 1; float[2] 1 2; float[2] 1 2", 1},
    {"SelectV2[T=float]", "bool[] 0; float[2] 1 2; float[2] 1 2", 2},
    {"SelectV2[T=float]", "bool[2] 0 1; float[2] 1 2; float[2] 1 2", -1},
    {"Slice[T=float, Index=int32]", "float[2,2] 1 2 3 4; int32[2] 0 0; int32[2] 2 -1", 0},
    {"Slice[T=float, Index=int32]", "float[2,2] 1 2 3 4; int32[2] 0 1; int32[2] 2 1", -1},
    {"Slice[T=float, Index=int32]", "float[2,2] 1 2 3 4; int32[2] 0 0; int32[2] 1 2", -1},
    {"Split[num_split=1, T=float]", "int32[] 1; float[2,2] 1 2 3 4", 1},
    {"Split[num_split=2, T=float]", "int32[] 1; float[2,2] 1 2 3 4", -1},
    {"SplitV[num_split=1, T=float]", "float[2,2] 1 2 3 4; int32[1] 2; int32[] 0", 0},
    {"Squeeze[T=float]", "float[2,1] 1 2", 0},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 0 0; int32[2] 2 3; int32[2] 1 1", 0},
    {"StridedSlice[T=float, Index=int32, new_axis_mask=1]", "float[2] 1 2; int32[1] 0; int32[1] 0; int32[1] 1", 0},
    {"StridedSlice[T=float, Index=int32, shrink_axis_mask=1]", "float[1,3] 1 2 3; int32[1] 0; int32[1] 1; int32[1] 1", 0},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 0 0; int32[2] 2 2; int32[2] 1 1", -1},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 1 0; int32[2] 2 3; int32[2] 1 1", -1},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 1 2; int32[2] -3 -4; int32[2] -1 -1", -1},
    {"StridedSliceGrad[T=float, Index=int32]", "int32[1] 2; int32[1] 0; int32[1] 2; int32[1] 1; float[2] 1 2", 4},
    {"StridedSliceGrad[T=float, Index=int32]", "int32[1] 3; int32[1] 0; int32[1] 2; int32[1] 1; float[2] 1 2", -1},
    {"Sum[T=float]", "float[2,2] 1 2 3 4; int32[0]", 0},
    {"Sum[T=float]", "float[2,2] 1 2 3 4; int32[1] 0", -1},
    {"Tile[T=float]", "float[2,2] 1 2 3 4; int32[2] 1 1", 0},
    {"Tile[T=float]", "float[2,2] 1 2 3 4; int32[2] 1 2", -1},
    {"Transpose[T=float]", "float[2,2] 1 2 3 4; int32[2] 0 1", 0},
    {"Transpose[T=float]", "float[1,2] 1 2; int32[2] 1 0", 0},
    {"Transpose[T=float]", "float[2,2] 1 2 3 4; int32[2] 1 0", -1},
};

TEST(ops_that_move_no_element_share_the_memory_of_their_input) {
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("%s of %s", kCases[i].op, kCases[i].inputs);
    Status status;
    status_init(&status);
    OpRun run;
    if (!CHECK_OK(op_run_begin(&run, kCases[i].op, &status), status)) continue;
    if (CHECK_OK(op_run_inputs(&run, kCases[i].inputs, &status), status) && CHECK_OK(op_run_compute(&run, &status), status)) {
      int shared = -1;
      for (int k = 0; k < run.num_inputs; k++) {
        if (run.outputs[0].buffer == run.inputs[k].buffer) shared = k;
      }
      CHECK_INT_EQ(shared, kCases[i].shared);
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
}
