/* CTCGreedyDecoder: the labels of the most probable class at each time. */
#include <inttypes.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/ctc/ctc_decoded.h"
#include "ops/ctc/ctc_shared.h"

typedef struct GreedyState {
  bool merge_repeated;
  int32_t blank; /* negative: from the end of the classes */
} GreedyState;

static bool greedy_construct(const KernelConstruction *construction, void *memory, Status *status) {
  GreedyState *state = memory;
  TRY(node_attr_bool(construction->node, "merge_repeated", &state->merge_repeated, status));
  return node_attr_int32(construction->node, "blank_index", &state->blank, status);
}

static bool decode(const GreedyState *state, const Tensor *inputs, int64_t b, int64_t steps, int64_t blank,
                   double *score, CtcDecoded *decoded, Status *status) {
  int64_t batch = shape_dim(&inputs->shape, 1), classes = shape_dim(&inputs->shape, 2), before = -1;
  *score = 0;
  for (int64_t t = 0; t < steps; t++) {
    int64_t row = (t * batch + b) * classes, best = 0;
    for (int64_t c = 1; c < classes; c++) {
      if (ctc_at(inputs, row + c) > ctc_at(inputs, row + best)) best = c;
    }
    *score -= ctc_at(inputs, row + best);
    bool repeated = state->merge_repeated && best == before;
    if (best != blank && !repeated) TRY(ctc_decoded_add_label(decoded, best, status));
    before = best;
  }
  return ctc_decoded_end_sequence(decoded, status);
}

static bool ctc_greedy(KernelContext *context, Status *status) {
  const GreedyState *state = context->state;
  const Tensor *inputs = context->inputs[0];
  Tensor *scores;
  CtcDecoded decoded = {0};
  TRY(ctc_decoder_begin(context, 1, &scores, status));
  int64_t classes = shape_dim(&inputs->shape, 2), blank = state->blank + (state->blank < 0 ? classes : 0);
  if (blank < 0 || blank >= classes) {
    return status_invalid(status, "blank_index expected to be between %" PRId64 " and %" PRId64 " but was %d",
                          -classes, classes - 1, state->blank);
  }
  bool ok = true;
  for (int64_t b = 0; ok && b < shape_dim(&inputs->shape, 1); b++) {
    double score;
    ok = decode(state, inputs, b, tensor_i32(context->inputs[1])[b], blank, &score, &decoded, status);
    if (ok) ctc_put(scores, b, score);
  }
  ok = ok && ctc_decoder_finish(context, &decoded, 1, status);
  ctc_decoded_free(&decoded);
  return ok;
}

static bool greedy_shape(InferenceContext *c, Status *status) { return ctc_decoder_shape(c, 1, status); }

const OpRegistration kOpCTCGreedyDecoder = {
    .name = "CTCGreedyDecoder",
    .inputs = {"inputs: T", "sequence_length: int32"},
    .outputs = {"decoded_indices: int64", "decoded_values: int64", "decoded_shape: int64",
                "log_probability: T"},
    .attrs = {"merge_repeated: bool = false", "blank_index: int = -1", "T: {float, double} = DT_FLOAT"},
    .shape = greedy_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(GreedyState),
    .construct = greedy_construct,
    .kernels = {{DT_FLOAT, ctc_greedy}, {DT_DOUBLE, ctc_greedy}},
};
