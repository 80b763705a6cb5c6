#include "ops/linalg/matrix_shapes.h"

bool shape_of_matrices(InferenceContext *c, ShapeHandle outer, DimHandle rows, DimHandle columns,
                       ShapeHandle *out, Status *status) {
  ShapeHandle last;
  *out = outer;
  if (!rows) return true;
  TRY(shape_ok(columns ? shape_matrix(c, rows, columns) : shape_vector(c, rows), &last, status));
  return shape_concatenate(c, outer, last, out, status);
}

bool shape_square_matrices(InferenceContext *c, ShapeHandle s, ShapeHandle *square, ShapeHandle *outer,
                           Status *status) {
  ShapeHandle matrices;
  DimHandle rows, columns, n;
  TRY(shape_with_rank_at_least(c, s, 2, &matrices, status));
  TRY(dim_ok(shape_dim_of(c, matrices, -2), &rows, status));
  TRY(dim_ok(shape_dim_of(c, matrices, -1), &columns, status));
  TRY(dim_merge(c, rows, columns, &n, status));
  TRY(shape_subshape(c, matrices, 0, -2, 1, outer, status));
  return shape_of_matrices(c, *outer, n, n, square, status);
}

bool shape_square_unchanged(InferenceContext *c, Status *status) {
  ShapeHandle square, outer;
  TRY(shape_square_matrices(c, shape_input(c, 0), &square, &outer, status));
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, square);
  return true;
}

bool shape_number_per_matrix(InferenceContext *c, Status *status) {
  ShapeHandle matrices, outer;
  DimHandle rows, columns, n;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &matrices, status));
  TRY(dim_ok(shape_dim_of(c, matrices, -2), &rows, status));
  TRY(dim_ok(shape_dim_of(c, matrices, -1), &columns, status));
  TRY(dim_merge(c, columns, rows, &n, status)); /* the error names the columns first */
  TRY(shape_subshape(c, matrices, 0, -2, 1, &outer, status));
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, outer);
  return true;
}

typedef bool JoinFn(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out, Status *status);

static bool solve_shape(InferenceContext *c, JoinFn *join, Status *status) {
  ShapeHandle square, rhs, outer, rhs_outer, out;
  DimHandle n, rows, columns;
  TRY(shape_square_matrices(c, shape_input(c, 0), &square, &outer, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 2, &rhs, status));
  TRY(dim_ok(shape_dim_of(c, square, -1), &n, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -2), &rows, status));
  TRY(dim_ok(shape_dim_of(c, rhs, -1), &columns, status));
  TRY(dim_merge(c, n, rows, &rows, status));
  TRY(shape_subshape(c, rhs, 0, -2, 1, &rhs_outer, status));
  TRY(join(c, outer, rhs_outer, &outer, status));
  TRY(shape_of_matrices(c, outer, rows, columns, &out, status));
  shape_set_output(c, 0, out);
  return true;
}
bool shape_matrix_solve(InferenceContext *c, Status *status) { return solve_shape(c, shape_merge, status); }
bool shape_matrix_solve_broadcast(InferenceContext *c, Status *status) {
  return solve_shape(c, shape_broadcast, status);
}

bool shape_no_matrices(InferenceContext *c, int i, Status *status) {
  return shape_ok(shape_vector(c, dim_make(c, 0)), &c->outputs[i], status);
}
