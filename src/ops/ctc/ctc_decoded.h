/* The results of CTC decoders: label sequences as sparse tensors, one for each of the best paths. */
#ifndef TFCORE_OPS_CTC_CTC_DECODED_H_
#define TFCORE_OPS_CTC_CTC_DECODED_H_

#include "op/kernel.h"
#include "op/shape_inference.h"

/* Label sequences one after the other: those of batch element 0, best path first, then those of element 1. */
typedef struct CtcDecoded {
  int64_t *ends, *labels; /* where each sequence ends in `labels` */
  int64_t num_ends, ends_capacity, num_labels, labels_capacity;
} CtcDecoded;

MUST_CHECK bool ctc_decoded_add_label(CtcDecoded *decoded, int64_t label, Status *status);
/* Reverses the labels of the sequence that is being added. */
void ctc_decoded_reverse(CtcDecoded *decoded);
MUST_CHECK bool ctc_decoded_end_sequence(CtcDecoded *decoded, Status *status);
void ctc_decoded_free(CtcDecoded *decoded);

/* Checks inputs and lengths, and allocates the log-probabilities [batch, paths], the last output. */
MUST_CHECK bool ctc_decoder_begin(KernelContext *context, int64_t paths, Tensor **log_probability,
                                  Status *status);
/* Writes the outputs before the log-probabilities: indices, values and shapes of `paths` sparse tensors. */
MUST_CHECK bool ctc_decoder_finish(KernelContext *context, const CtcDecoded *decoded, int64_t paths,
                                   Status *status);
/* The shapes of the outputs of a decoder with that number of paths. */
MUST_CHECK bool ctc_decoder_shape(InferenceContext *c, int64_t paths, Status *status);

#endif
