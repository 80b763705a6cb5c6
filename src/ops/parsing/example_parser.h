/* Finds the features of Examples: the common part of ParseExample and ParseSingleExample. */
#ifndef TFCORE_OPS_PARSING_EXAMPLE_PARSER_H_
#define TFCORE_OPS_PARSING_EXAMPLE_PARSER_H_

#include "ops/parsing/feature_table.h"

/* Fills the table, which is indexed, with the features of the Examples in `serialized`: values are counted
 * and match dtypes and shapes, and what is required is there. INVALID_ARGUMENT in TensorFlow's words, which
 * differ for batches and single Examples; `names` is for batches. */
MUST_CHECK bool examples_parse(FeatureTable *table, const Tensor *serialized, const Tensor *names,
                               Status *status);

#endif
