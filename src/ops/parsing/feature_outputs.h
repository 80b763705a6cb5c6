/* Writes the features of a table to the outputs of a kernel. `output` is the position of the first output of
 * the kind; the features of a kind have adjacent outputs. All values must have been counted.
 *
 * For a batch the outputs are those of TensorFlow's ParseExample; for a single Example they lack the
 * dimension of the batch. */
#ifndef TFCORE_OPS_PARSING_FEATURE_OUTPUTS_H_
#define TFCORE_OPS_PARSING_FEATURE_OUTPUTS_H_

#include "ops/parsing/feature_table.h"

/* Indices, values and shapes of the sparse features: three lists of outputs. */
MUST_CHECK bool write_sparse_features(KernelContext *context, const FeatureTable *table, int output,
                                      Status *status);
/* The dense features. A missing one of fixed length is its fallback; rows of variable length are padded with
 * the fallback's only value. */
MUST_CHECK bool write_dense_features(KernelContext *context, const FeatureTable *table, int output,
                                     Status *status);
/* Values and row splits of the ragged features: two lists of outputs. A single Example has no splits: they
 * get `splits_rank` dimensions and no meaning. */
MUST_CHECK bool write_ragged_features(KernelContext *context, const FeatureTable *table, int output,
                                      int splits_rank, Status *status);

/* Element `i` of a tensor of int32 or int64. */
void write_split(Tensor *splits, int64_t i, int64_t value);
/* The dims of a dense output: those of the batch and `rows` (left out if negative), then those of the shape
 * from `first` on. INVALID_ARGUMENT when there are too many. */
MUST_CHECK bool allocate_dense(KernelContext *context, int output, const FeatureTable *table, int64_t rows,
                               const TensorShapeProto *shape, size_t first, Tensor **out, Status *status);

#endif
