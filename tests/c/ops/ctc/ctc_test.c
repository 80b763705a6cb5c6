/* CTC losses and decoders: closed forms, the gradient, and the blank of CTCLossV2. */
#include <math.h>

#include "ops/flowing_gradient.h"

#define LABELS "int64[3,2] 0 0 0 1 1 0; int32[3] 0 1 1; int32[2] 3 2"
#define LOGITS "[3,2,3] 0.5 -1 0.25 2 0 1 -0.5 1 0.75 -1 0.5 0.25 1 -0.25 0.5 0 0.5 1"

TEST(ctc_losses_of_equal_classes_count_alignments) {
  /* Three times, two labels of three equal classes: 5 of 27 alignments say "0 1"; for two times and one label
   * 3 of 9 alignments. */
  OpRun run;
  Status status;
  status_init(&status);
  if (CHECK_OK(op_run_begin(&run, "CTCLoss[T=double]", &status) &&
                   op_run_inputs(&run, "double[3,2,3] 0; " LABELS, &status) && op_run_compute(&run, &status),
               status)) {
    CHECK(fabs(tensor_get(&run.outputs[0], 0) + log(5.0 / 27)) < 1e-14);
    CHECK(fabs(tensor_get(&run.outputs[0], 1) + log(3.0 / 9)) < 1e-14);
  }
  op_run_end(&run);
}

TEST(gradients_of_ctc_losses) {
  check_flowing_gradient("CTCLoss[T=double]", "double" LOGITS "; " LABELS, 1, 1e-5, 1e-8);
  check_flowing_gradient("CTCLoss[T=double, ctc_merge_repeated=false]", "double" LOGITS "; " LABELS, 1, 1e-5,
                         1e-8);
  check_flowing_gradient("CTCLossV2", "float" LOGITS "; int64[3,2] 0 0 0 1 1 0; int32[3] 1 2 2; int32[2] 3 2",
                         1, 1.0 / 128, 2e-3);
}

TEST(the_blank_of_the_second_version_is_the_first_class) {
  /* The same classes, with the blank last in one and first in the other. */
  const char *last = "float[2,1,3] 1 2 3 -1 0.5 0; int64[1,2] 0 0; int32[1] 1; int32[1] 2";
  const char *first = "float[2,1,3] 3 1 2 0 -1 0.5; int64[1,2] 0 0; int32[1] 2; int32[1] 2";
  OpRun runs[2];
  Status status;
  status_init(&status);
  bool ok = CHECK_OK(op_run_begin(&runs[0], "CTCLoss[T=float]", &status) &&
                         op_run_inputs(&runs[0], last, &status) && op_run_compute(&runs[0], &status),
                     status);
  ok = CHECK_OK(op_run_begin(&runs[1], "CTCLossV2", &status) && op_run_inputs(&runs[1], first, &status) &&
                    op_run_compute(&runs[1], &status),
                status) &&
       ok;
  if (ok) {
    CHECK(tensor_get(&runs[0].outputs[0], 0) == tensor_get(&runs[1].outputs[0], 0));
    for (int64_t i = 0; i < 6; i++) {
      int64_t other = i / 3 * 3 + (i % 3 + 1) % 3;
      CHECK(tensor_get(&runs[0].outputs[1], i) == tensor_get(&runs[1].outputs[1], other));
    }
  }
  op_run_end(&runs[0]);
  op_run_end(&runs[1]);
}

TEST(sequences_of_blanks_only_have_the_probability_of_blanks) {
  OpRun run;
  Status status;
  status_init(&status);
  if (CHECK_OK(op_run_begin(&run, "CTCLoss[T=double]", &status) &&
                   op_run_inputs(&run, "double[2,1,3] 0; int64[1,2] 0 0; int32[1] 2; int32[1] 2", &status) &&
                   op_run_compute(&run, &status),
               status))
    CHECK(fabs(tensor_get(&run.outputs[0], 0) - 2 * log(3.0)) < 1e-14);
  op_run_end(&run);
}
