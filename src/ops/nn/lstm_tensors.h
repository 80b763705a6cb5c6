/* The tensors of the LSTM ops as floats, and the checks of their shapes. */
#ifndef TFCORE_OPS_NN_LSTM_TENSORS_H_
#define TFCORE_OPS_NN_LSTM_TENSORS_H_

#include "ops/nn/lstm_cell.h"
#include "ops/support/window_attrs.h"

enum { LSTM_MAX_INPUTS = 18, LSTM_MAX_OUTPUTS = 8 };

/* Attrs of the LSTM ops; those that an op lacks are 0. */
typedef struct LstmAttrs {
  float forget_bias, clip;
  bool peephole;
} LstmAttrs;
/* A KernelConstructFn for a state of LstmAttrs. */
bool lstm_construct(const KernelConstruction *construction, void *state, Status *status);

/* Inputs and outputs of a kernel in float; zero-initialise. */
typedef struct LstmTensors {
  Image in[LSTM_MAX_INPUTS], out[LSTM_MAX_OUTPUTS];
} LstmTensors;

/* Reads the inputs from the `first`-th on, and makes room for the outputs, which are allocated. */
MUST_CHECK bool lstm_read(KernelContext *context, int first, LstmTensors *tensors, Status *status);
/* Stores the outputs if `ok`, and frees the memory in any case. Returns whether all went well. */
MUST_CHECK bool lstm_finish(KernelContext *context, LstmTensors *tensors, bool ok, Status *status);

/* The cell whose weights w, wci, wcf, wco and b are the inputs from the `w`-th on. */
LstmCell lstm_cell(const LstmAttrs *attrs, bool forget_first, const LstmTensors *tensors, int w);

#endif
