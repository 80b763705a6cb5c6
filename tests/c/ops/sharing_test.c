/* Ops that do not move elements share the memory of their input; those that move one copy it. */
#include "harness.h"
#include "op_runner.h"

typedef struct SharingCase {
  const char *op, *inputs;
  int shared; /* the input that shares its memory with output 0, or -1 */
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
    {"Slice[T=float, Index=int32]", "float[2,2] 1 2 3 4; int32[2] 0 0; int32[2] 1 2", 0},
    {"Split[num_split=1, T=float]", "int32[] 1; float[2,2] 1 2 3 4", 1},
    {"Split[num_split=2, T=float]", "int32[] 1; float[2,2] 1 2 3 4", -1},
    {"SplitV[num_split=1, T=float]", "float[2,2] 1 2 3 4; int32[1] 2; int32[] 0", 0},
    {"Squeeze[T=float]", "float[2,1] 1 2", 0},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 0 0; int32[2] 2 3; int32[2] 1 1",
     0},
    {"StridedSlice[T=float, Index=int32, new_axis_mask=1]",
     "float[2] 1 2; int32[1] 0; int32[1] 0; int32[1] 1", 0},
    {"StridedSlice[T=float, Index=int32, shrink_axis_mask=1]",
     "float[1,3] 1 2 3; int32[1] 0; int32[1] 1; int32[1] 1", 0},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 0 0; int32[2] 2 2; int32[2] 1 1",
     -1},
    {"StridedSlice[T=float, Index=int32]", "float[2,3] 1 2 3 4 5 6; int32[2] 1 0; int32[2] 2 3; int32[2] 1 1",
     0},
    {"StridedSlice[T=float, Index=int32]",
     "float[2,3] 1 2 3 4 5 6; int32[2] 1 2; int32[2] -3 -4; int32[2] -1 -1", -1},
    {"StridedSliceGrad[T=float, Index=int32]", "int32[1] 2; int32[1] 0; int32[1] 2; int32[1] 1; float[2] 1 2",
     4},
    {"StridedSliceGrad[T=float, Index=int32]", "int32[1] 3; int32[1] 0; int32[1] 2; int32[1] 1; float[2] 1 2",
     -1},
    {"Sum[T=float]", "float[2,2] 1 2 3 4; int32[0]", 0},
    {"Sum[T=float]", "float[2,2] 1 2 3 4; int32[1] 0", -1},
    {"Tile[T=float]", "float[2,2] 1 2 3 4; int32[2] 1 1", 0},
    {"Tile[T=float]", "float[2,2] 1 2 3 4; int32[2] 1 2", -1},
    {"Transpose[T=float]", "float[2,2] 1 2 3 4; int32[2] 0 1", 0},
    {"Transpose[T=float]", "float[1,2] 1 2; int32[2] 1 0", 0},
    {"Transpose[T=float]", "float[2,2] 1 2 3 4; int32[2] 1 0", -1},
};

/* If the inputs have no other readers, the output is computed in the memory of an input of the same type and
 * shape. */
static const SharingCase kInPlace[] = {
    {"AddN[N=2, T=float]", "float[2] 1 2; float[2] 3 4", 0},
    {"BiasAdd[T=float]", "float[2,2] 1 2 3 4; float[2] 1 2", 0},
    {"ClipByValue[T=float]", "float[2] 1 2; float[] 0; float[] 1", 0},
    {"Elu[T=float]", "float[2] -1 2", 0},
    {"EluGrad[T=float]", "float[2] -1 2; float[2] -1 2", 0},
    {"LogSoftmax[T=float]", "float[2,2] 1 2 3 4", 0},
    {"MatrixBandPart[T=float]", "float[2,2] 1 2 3 4; int64[] 0; int64[] 0", 0},
    {"MatrixSetDiag[T=float]", "float[2,2] 1 2 3 4; float[2] 5 6", 0},
    {"Mul[T=float]", "float[2] 1 2; float[2] 3 4", 0},
    {"Mul[T=float]", "float[2] 1 2; float[] 3", 0},
    {"Mul[T=float]", "float[] 3; float[2] 1 2", 1},
    {"Neg[T=float]", "float[2] 1 2", 0},
    {"OnesLike[T=float]", "float[2] 1 2", 0},
    {"Relu[T=float]", "float[2] -1 2", 0},
    {"Softmax[T=float]", "float[2,2] 1 2 3 4", 0},
    {"TanhGrad[T=float]", "float[2] 1 2; float[2] 3 4", 0},
    {"TensorScatterUpdate[T=float, Tindices=int32]", "float[2] 1 2; int32[1,1] 0; float[1] 3", 0},
    {"ZerosLike[T=float]", "float[2] 1 2", 0},
    {"Less[T=float]", "float[2] 1 2; float[2] 3 4", -1},
    {"Mul[T=float]", "float[2,1] 1 2; float[2] 3 4", -1},
};

static void check_case(const SharingCase *c, bool last_use) {
  CHECK_CONTEXT("%s of %s", c->op, c->inputs);
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, c->op, &status), status);
  run.last_use = last_use;
  if (CHECK_OK(op_run_inputs(&run, c->inputs, &status), status) &&
      CHECK_OK(op_run_compute(&run, &status), status)) {
    int shared = -1;
    for (int k = 0; k < run.num_inputs; k++) {
      if (run.outputs[0].buffer == run.inputs[k].buffer) shared = k;
    }
    CHECK_INT_EQ(shared, c->shared);
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(ops_that_move_no_element_share_the_memory_of_their_input) {
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) check_case(&kCases[i], false);
}

TEST(ops_compute_in_the_memory_of_an_input_that_nobody_needs) {
  for (size_t i = 0; i < sizeof kInPlace / sizeof *kInPlace; i++) {
    check_case(&kInPlace[i], true);
    check_case(&(SharingCase){kInPlace[i].op, kInPlace[i].inputs, -1}, false);
  }
}
