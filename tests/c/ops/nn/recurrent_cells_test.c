/* LSTMBlockCell, BlockLSTM and GRUBlockCell: gradients against central differences, and refused lengths.
 *
 * As in TensorFlow, gradients only flow from the outputs cs and h, so that the dys of the others are zero. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op/node_def.h"
#include "op_runner.h"

/* The sum of dys * ys over the outputs whose bit is in `flowing`. */
static bool weighted_sum(OpRun *run, const Tensor *dys, unsigned flowing, double *sum, Status *status) {
  for (int i = 0; i < run->num_outputs; i++) tensor_clear(&run->outputs[i]);
  TRY(op_run_compute(run, status));
  *sum = 0;
  for (int i = 0; i < run->num_outputs; i++) {
    for (int64_t k = 0; (flowing >> i & 1) && k < tensor_num_elements(&run->outputs[i]); k++)
      *sum += tensor_get(&run->outputs[i], k) * tensor_get(&dys[i], k);
  }
  return true;
}

static bool make_dys(const OpRun *run, unsigned flowing, Tensor *dys, Status *status) {
  for (int i = 0; i < run->num_outputs; i++) {
    TRY(tensor_allocate(&dys[i], DT_FLOAT, &run->outputs[i].shape, NULL, status));
    for (int64_t k = 0; k < tensor_num_elements(&dys[i]); k++)
      tensor_put(&dys[i], k, flowing >> i & 1 ? sin(3.0 * (double)(k + i + 1)) : 0);
  }
  return true;
}

static bool make_wants(OpRun *run, const Tensor *dys, unsigned flowing, Tensor *wants, Status *status) {
  const double step = 1.0 / 128;
  for (int i = 0; i < run->num_inputs; i++) {
    if (run->inputs[i].dtype != DT_FLOAT) continue;
    TRY(tensor_allocate(&wants[i], DT_FLOAT, &run->inputs[i].shape, NULL, status));
    for (int64_t k = 0; k < tensor_num_elements(&wants[i]); k++) {
      double x = tensor_get(&run->inputs[i], k), above, below;
      tensor_put(&run->inputs[i], k, x + step);
      TRY(weighted_sum(run, dys, flowing, &above, status));
      tensor_put(&run->inputs[i], k, x - step);
      TRY(weighted_sum(run, dys, flowing, &below, status));
      tensor_put(&run->inputs[i], k, x);
      tensor_put(&wants[i], k, (above - below) / (2 * step));
    }
  }
  return true;
}

static void check_gradient(const char *op, const char *inputs, unsigned flowing) {
  Status status;
  status_init(&status);
  OpRun run = {0};
  Tensor dys[8] = {0}, wants[10] = {0};
  CHECK_CONTEXT("%s", op);
  bool ok = CHECK_OK(op_run_begin(&run, op, &status) && op_run_inputs(&run, inputs, &status) &&
                         op_run_compute(&run, &status) && make_dys(&run, flowing, dys, &status) &&
                         make_wants(&run, dys, flowing, wants, &status),
                     status);
  if (ok) CHECK(gradient_gives(run.node, run.inputs, run.num_inputs, dys, wants, 2e-3));
  for (int i = 0; i < 8; i++) tensor_clear(&dys[i]);
  for (int i = 0; i < 10; i++) tensor_clear(&wants[i]);
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

#define STATES "float[2,2] 0.5 -0.25 0.125 1; float[2,2] -0.5 0.75 0.25 -1"
#define WEIGHTS                                                                                         \
  "float[5,8] 0.5 -0.25 1 0.75 -1 0.125 0.25 -0.5 0.375 0.625 -0.75 1 0.5 -0.125 0.25 0.75 -0.5 "       \
  "0.875 1 -1 0.25 0.5 -0.25 0.125 -0.875 0.5 0.25 1 -0.5 0.75 -0.25 0.375 0.125 -1 0.5 0.25 -0.75 "    \
  "0.5 1 -0.125; float[2] 0.5 -0.75; float[2] 0.25 1; float[2] -0.5 0.375; float[8] 0.125 -0.25 0.5 1 " \
  "-0.5 0.75 0.25 -0.125"
#define X "float[2,3] 0.5 -1 0.25 0.75 -0.5 1"
#define SEQUENCE \
  "float[3,2,3] 0.5 -1 0.25 0.75 -0.5 1 -0.25 0.5 1 0.125 -0.75 0.5 0.25 0.375 -1 0.5 0.75 -0.5"
enum { CS_AND_H = 1 << 1 | 1 << 6 };

TEST(gradients_of_lstm_cells_are_those_of_their_states) {
  check_gradient("LSTMBlockCell[T=float, cell_clip=0]", X "; " STATES "; " WEIGHTS, CS_AND_H);
  check_gradient("LSTMBlockCell[T=float, cell_clip=0, use_peephole=true, forget_bias=0.5]",
                 X "; " STATES "; " WEIGHTS, CS_AND_H);
}

TEST(gradients_of_lstms_over_time_are_those_of_their_states) {
  check_gradient("BlockLSTM[T=float, cell_clip=0]", "int64[] 3; " SEQUENCE "; " STATES "; " WEIGHTS,
                 CS_AND_H);
  check_gradient("BlockLSTM[T=float, cell_clip=0, use_peephole=true]",
                 "int64[] 2; " SEQUENCE "; " STATES "; " WEIGHTS, CS_AND_H);
  check_gradient("BlockLSTMV2[T=float]", "int64[] 3; " SEQUENCE "; " STATES "; " WEIGHTS, CS_AND_H);
  check_gradient("BlockLSTMV2[T=float, use_peephole=true]", "int64[] 2; " SEQUENCE "; " STATES "; " WEIGHTS,
                 CS_AND_H);
}

TEST(gradients_of_gru_cells_are_those_of_their_state) {
  check_gradient("GRUBlockCell[T=float]",
                 X
                 "; float[2,2] -0.5 0.75 0.25 -1; float[5,4] 0.5 -0.25 1 0.75 -1 0.125 0.25 -0.5 0.375 0.625 "
                 "-0.75 1 0.5 -0.125 0.25 0.75 -0.5 0.875 1 -1; float[5,2] 0.25 0.5 -0.25 0.125 -0.875 0.5 "
                 "0.25 1 -0.5 0.75; float[4] 0.5 -0.25 1 0.125; float[2] 0.75 -0.5",
                 1 << 3);
}

TEST(lengths_beyond_the_sequence_are_refused) {
  static const char *const lengths[] = {"int64[] 4; ", "int64[] -1; "};
  for (int i = 0; i < 2; i++) {
    char inputs[1024];
    snprintf(inputs, sizeof inputs, "%s" SEQUENCE "; " STATES "; " WEIGHTS, lengths[i]);
    op_fails("BlockLSTM[T=float]", inputs, CODE_INVALID_ARGUMENT,
             "seq_len_max must be between 0 and 3 but is");
    snprintf(inputs, sizeof inputs, "%s" SEQUENCE "; " STATES "; " WEIGHTS "%s", lengths[i],
             "; float[3,2,2] 0.5; float[3,2,2] 0.5; float[3,2,2] 0.5; float[3,2,2] 0.5; float[3,2,2] 0.5; "
             "float[3,2,2] 0.5; float[3,2,2] 0.5; float[3,2,2] 0.5; float[3,2,2] 0.5");
    op_fails("BlockLSTMGradV2[T=float, use_peephole=false]", inputs, CODE_INVALID_ARGUMENT,
             "seq_len_max must be between 0 and 3 but is");
  }
}
