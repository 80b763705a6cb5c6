/* Output shapes of the Parse...Example ops. Each function sets the outputs of one kind from position *output
 * on and advances it. */
#ifndef TFCORE_OPS_PARSING_PARSE_SHAPES_H_
#define TFCORE_OPS_PARSING_PARSE_SHAPES_H_

#include "op/shape_inference.h"
#include "ops/parsing/feature_specs.h"

/* Sparse tensors whose rank is that of `input` plus `more`. */
MUST_CHECK bool set_sparse_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle input, int more,
                                  int *output, Status *status);
/* The shapes of the dense features behind `prefix`. */
MUST_CHECK bool set_dense_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle prefix,
                                 int *output, Status *status);
/* Values and splits of ragged features for the Examples of `input`; with `inner_splits` those too. */
MUST_CHECK bool set_ragged_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle input,
                                  bool inner_splits, int *output, Status *status);

#endif
