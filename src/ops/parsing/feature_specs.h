/* What a Parse...Example op looks for: features with their keys, dtypes and shapes, from the node's attrs. An
 * op has one group of them, or two: those of the context and those of the feature lists of a SequenceExample.
 */
#ifndef TFCORE_OPS_PARSING_FEATURE_SPECS_H_
#define TFCORE_OPS_PARSING_FEATURE_SPECS_H_

#include "op/kernel.h"

typedef struct FeatureSpec {
  Str key;        /* borrowed from the node or from an input */
  DataType dtype; /* float, int64 or string */
  /* of a dense feature: */
  const TensorShapeProto *shape; /* borrowed from the node */
  bool variable_length;          /* the first size of the shape is unknown */
  int64_t stride;                /* values of the shape, or of one row if the first size is unknown */
  const Tensor *fallback;        /* the value of a missing feature; an empty one: none may be missing */
  bool may_be_missing;           /* a feature list */
  /* of a ragged feature: */
  DataType splits_dtype;
} FeatureSpec;

/* First the sparse ones, then the dense ones, then the ragged ones. */
typedef struct FeatureSpecs {
  FeatureSpec *specs;
  int num_sparse, num_dense, num_ragged;
} FeatureSpecs;

static inline int feature_specs_count(const FeatureSpecs *group) {
  return group->num_sparse + group->num_dense + group->num_ragged;
}
static inline FeatureSpec *feature_specs_dense(const FeatureSpecs *group) {
  return group->specs + group->num_sparse;
}
static inline FeatureSpec *feature_specs_ragged(const FeatureSpecs *group) {
  return group->specs + group->num_sparse + group->num_dense;
}

/* The attrs of a group are <prefix>sparse_types, <prefix>dense_shapes, <prefix>ragged_value_types and
 * <prefix>ragged_split_types, and those named here. */
typedef struct FeatureAttrs {
  const char *prefix;
  const char *num_sparse, *num_dense, *dense_types; /* NULL: there is no such attr */
  bool has_ragged;
  bool has_partial_shapes; /* the first size of a shape may be unknown */
  bool says_numbers; /* errors are "num_x (1) must match the size of x (2)", not "len(x_keys) != len(x)" */
} FeatureAttrs;

/* Reads the attrs of a group into memory of the arena; keys and fallbacks are left empty. Sizes that disagree
 * and shapes that are not known give INVALID_ARGUMENT in TensorFlow's words. */
MUST_CHECK bool feature_specs_read(const NodeDef *node, const FeatureAttrs *attrs, Arena *arena,
                                   FeatureSpecs *group, Status *status);
/* Sets the keys of `count` specs to the values of an attr "..._keys". INVALID_ARGUMENT when it has another
 * number of values. */
MUST_CHECK bool feature_specs_attr_keys(const NodeDef *node, const char *attr, FeatureSpec *specs, int count,
                                        Status *status);
/* A copy for one run, which sets keys and fallbacks; freed with mem_free. */
MUST_CHECK bool feature_specs_copy(const FeatureSpecs *from, FeatureSpecs *to, Status *status);

#endif
