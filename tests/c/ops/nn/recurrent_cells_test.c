/* LSTMBlockCell, BlockLSTM and GRUBlockCell: gradients against central differences, and refused lengths.
 *
 * As in TensorFlow, gradients only flow from the outputs cs and h, so that the dys of the others are zero. */
#include <stdio.h>

#include "ops/flowing_gradient.h"

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

static void check_gradient(const char *op, const char *inputs, unsigned flowing) {
  check_flowing_gradient(op, inputs, flowing, 1.0 / 128, 2e-3);
}

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
