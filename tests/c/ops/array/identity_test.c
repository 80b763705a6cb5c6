/* Ops that pass their inputs on, single or as lists. */
#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(inputs_are_passed_on) {
  op_gives("Identity[T=string]", "string[2] a b", "string[2] a b");
  op_gives("PlaceholderWithDefault[dtype=float, shape=[-1]]", "float[2] 1 2", "float[2] 1 2");
  op_gives("Snapshot[T=float]", "float[2] 1 2", "float[2] 1 2");
  op_gives("IdentityN[T=[float, int32]]", "float[2] 1 2; int32[] 3", "float[2] 1 2; int32[] 3");
  op_gives("_ListToArray[Tin=[float, float], T=float, N=2]", "float[2] 1 2; float[] 3",
           "float[2] 1 2; float[] 3");
  op_gives("_ArrayToList[T=float, N=2, out_types=[float, float]]", "float[2] 1 2; float[] 3",
           "float[2] 1 2; float[] 3");
}

/* The value passes, the gradient does not: in graph gradients and in functional ones. */
TEST(gradients_are_prevented) {
  OpRun run;
  Status status;
  Tensor dy = {0};
  int count = 0;
  status_init(&status);
  op_gives("PreventGradient[T=string]", "string[2] a b", "string[2] a b");
  CHECK_OK(op_run_begin(&run, "PreventGradient[T=float, message=too deep]", &status), status);
  CHECK_OK(op_run_inputs(&run, "float[2] 1 2", &status), status);
  CHECK_OK(tensors_parse("float[2] 1 1", &dy, 1, &count, &status), status);
  if (status.code == CODE_OK) {
    gradient_fails(run.node, run.inputs, 1, CODE_NOT_FOUND, "Gradient explicitly disabled. Reason: too deep");
    symbolic_gradient_fails(run.node, run.inputs, 1, &dy, CODE_NOT_FOUND,
                            "Gradient explicitly disabled. Reason: too deep");
  }
  tensor_clear(&dy);
  op_run_end(&run);
}

GRADIENT_CASES(identity, {"Identity|Snapshot[T=double]", "double[2,2] 1 2 3 4"},
               {"Identity|Snapshot[T=double]", "double[] 1"}, {"Identity|Snapshot[T=double]", "double[0,3]"},
               {"PlaceholderWithDefault[dtype=double, shape=[2]]", "double[2] 1 2"},
               {"PlaceholderWithDefault[dtype=double, shape=[-1, 1]]", "double[3,1] 1 2 3"},
               {"PlaceholderWithDefault[dtype=double, shape=[]]", "double[] 1"},
               {"Identity[T=complex128]", "complex128[2] 1-2i 3+1i"},
               {"IdentityN[T=[double, int32]]", "double[2,2] 1 2 3 4; int32[] 3"},
               {"IdentityN[T=[double, double]]", "double[2] 1 2; double[] 3"},
               {"IdentityN[T=[double]]", "double[] 3"},
               {"_ListToArray[Tin=[double, double], T=double, N=2]", "double[2] 1 2; double[] 3"},
               {"_ListToArray[Tin=[double], T=double, N=1]", "double[1,2] 1 2"},
               {"_ListToArray[Tin=[double, double, double], T=double, N=3]",
                "double[] 1; double[] 2; double[2] 3 4"},
               {"_ArrayToList[T=double, N=2, out_types=[double, double]]", "double[2] 1 2; double[] 3"},
               {"_ArrayToList[T=double, N=1, out_types=[double]]", "double[1,2] 1 2"},
               {"_ArrayToList[T=double, N=3, out_types=[double, double, double]]",
                "double[] 1; double[] 2; double[2] 3 4"})
