/* Finds the features of SequenceExamples: those of the context, and feature lists, each a feature per step.
 */
#ifndef TFCORE_OPS_PARSING_SEQUENCE_PARSER_H_
#define TFCORE_OPS_PARSING_SEQUENCE_PARSER_H_

#include "ops/parsing/feature_table.h"

/* Fills both tables, which are indexed. All values are counted and match dtypes and shapes, and what is
 * required is there; otherwise INVALID_ARGUMENT in TensorFlow's words. */
MUST_CHECK bool sequences_parse(FeatureTable *context, FeatureTable *lists, const Tensor *serialized,
                                const Tensor *names, Status *status);

/* Takes the next feature from the bytes of a feature list: the list of its values and their number. False
 * when it is damaged (*is_feature is false) or has another dtype. */
MUST_CHECK bool feature_list_take(Str *bytes, DataType dtype, Str *values, int64_t *count, bool *is_feature);

#endif
