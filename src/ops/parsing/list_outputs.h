/* Writes the feature lists of SequenceExamples to the outputs of a kernel, as ops/parsing/feature_outputs.h
 * does for features: with one more dimension, for the steps. */
#ifndef TFCORE_OPS_PARSING_LIST_OUTPUTS_H_
#define TFCORE_OPS_PARSING_LIST_OUTPUTS_H_

#include "ops/parsing/feature_table.h"

/* Indices, values and shapes: three lists of outputs. */
MUST_CHECK bool write_sparse_lists(KernelContext *context, const FeatureTable *table, int output,
                                   Status *status);
/* Values, padded with 0 or "" to the longest list; and from `lengths` on the numbers of steps, unless that is
 * negative. */
MUST_CHECK bool write_dense_lists(KernelContext *context, const FeatureTable *table, int output, int lengths,
                                  Status *status);
/* Values, outer splits and inner splits: three lists of outputs. */
MUST_CHECK bool write_ragged_lists(KernelContext *context, const FeatureTable *table, int output,
                                   Status *status);

#endif
