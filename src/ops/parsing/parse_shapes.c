#include "ops/parsing/parse_shapes.h"

static bool set_all(InferenceContext *c, int count, ShapeHandle shape, int *output, Status *status) {
  TRY(shape_ok(shape, &shape, status));
  for (int i = 0; i < count; i++) shape_set_output(c, (*output)++, shape);
  return true;
}

/* Each output has a size of its own that is not known. */
static bool set_vectors(InferenceContext *c, int count, int *output, Status *status) {
  for (int i = 0; i < count; i++) TRY(set_all(c, 1, shape_vector(c, dim_unknown(c)), output, status));
  return true;
}

bool set_sparse_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle input, int more,
                       int *output, Status *status) {
  DimHandle rank = shape_rank_known(input) ? dim_make(c, shape_rank(input) + more) : dim_unknown(c);
  int count = group->num_sparse;
  for (int i = 0; i < count; i++) TRY(set_all(c, 1, shape_matrix(c, dim_unknown(c), rank), output, status));
  return set_vectors(c, count, output, status) && set_all(c, count, shape_vector(c, rank), output, status);
}

bool set_dense_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle prefix, int *output,
                      Status *status) {
  for (int i = 0; i < group->num_dense; i++) {
    ShapeHandle shape;
    TRY(shape_from_shape_proto(c, feature_specs_dense(group)[i].shape, &shape, status));
    TRY(shape_concatenate(c, prefix, shape, &shape, status));
    shape_set_output(c, (*output)++, shape);
  }
  return true;
}

bool set_ragged_shapes(InferenceContext *c, const FeatureSpecs *group, ShapeHandle input, bool inner_splits,
                       int *output, Status *status) {
  DimHandle splits, one = dim_make(c, 1);
  bool is_vector = shape_rank_known(input) && shape_rank(input) == 1;
  TRY(dim_add(c, is_vector ? shape_dim_of(c, input, 0) : dim_unknown(c), one, &splits, status));
  TRY(set_vectors(c, group->num_ragged, output, status));
  TRY(set_all(c, group->num_ragged, shape_vector(c, splits), output, status));
  return !inner_splits || set_vectors(c, group->num_ragged, output, status);
}
