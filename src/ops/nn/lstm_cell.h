/* One time step of an LSTM, on float rows: shared by LSTMBlockCell and BlockLSTM.
 *
 *   gates = [x, h_prev] w + b              four parts of `size` columns: i, then ci and f, then o
 *   i = sigmoid(gates.i + cs_prev * wci),  f = sigmoid(gates.f + forget_bias + cs_prev * wcf)
 *   ci = tanh(gates.ci),                   cs = clip(i * ci + f * cs_prev)
 *   o = sigmoid(gates.o + cs * wco),       co = tanh(cs),  h = o * co
 *
 * The terms with wci, wcf and wco are those of peepholes. A clip of 0 or less does not clip. Gradients
 * ignore the clip, as in TensorFlow.
 */
#ifndef TFCORE_OPS_NN_LSTM_CELL_H_
#define TFCORE_OPS_NN_LSTM_CELL_H_

#include "base/parallel.h"
#include "op/kernel.h"

typedef struct LstmCell {
  int64_t batch, input, size; /* w is [input + size, 4 * size] */
  int candidate, forget;      /* which part of the gates is ci and which is f: 1 and 2, or 2 and 1 */
  bool peephole;
  float forget_bias, clip;
  const float *w, *b, *wci, *wcf, *wco; /* the last three have `size` elements, if there are peepholes */
} LstmCell;

/* What a step computes, each [batch, size], in the order of the ops' outputs. */
enum { LSTM_I, LSTM_CS, LSTM_F, LSTM_O, LSTM_CI, LSTM_CO, LSTM_H, LSTM_VALUES };
typedef struct LstmStep {
  const float *cs_prev;
  float *values[LSTM_VALUES];
} LstmStep;

/* Computes the values of a step. `gates` is overwritten. */
void lstm_forward(const LstmCell *cell, const LstmStep *step, float *gates, const Parallel *parallel);

/* The gradients of a step. dgates is [batch, 4 * size]; cs_prev_grad may be cs_grad. */
typedef struct LstmBackward {
  const float *cs_grad, *h_grad;
  float *dgates, *cs_prev_grad;
} LstmBackward;
void lstm_backward(const LstmCell *cell, const LstmStep *step, const LstmBackward *back,
                   const Parallel *parallel);
/* Adds the gradients with respect to wci, wcf and wco, from the dgates of lstm_backward. */
void lstm_add_peephole_gradients(const LstmCell *cell, const LstmStep *step, const float *dgates,
                                 float *const grads[3]);

#endif
