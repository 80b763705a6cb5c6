/* Shape functions of batches of matrices. */
#ifndef TFCORE_OPS_LINALG_MATRIX_SHAPES_H_
#define TFCORE_OPS_LINALG_MATRIX_SHAPES_H_

#include "op/shape_inference.h"

/* `s` as a batch of square matrices: both last dimensions are the same handle in *square, *outer are the
 * other dimensions. */
MUST_CHECK bool shape_square_matrices(InferenceContext *c, ShapeHandle s, ShapeHandle *square,
                                      ShapeHandle *outer, Status *status);
/* *out = outer dimensions and up to two more; NULL: none. */
MUST_CHECK bool shape_of_matrices(InferenceContext *c, ShapeHandle outer, DimHandle rows, DimHandle columns,
                                  ShapeHandle *out, Status *status);
/* Every output has the shape of input 0, which is square. */
bool shape_square_unchanged(InferenceContext *c, Status *status);
/* Every output is one number for each square matrix of input 0. */
bool shape_number_per_matrix(InferenceContext *c, Status *status);
/* Solutions of systems with square matrices (input 0) for right-hand sides (input 1). */
bool shape_matrix_solve(InferenceContext *c, Status *status);
/* The same; outer dimensions broadcast. */
bool shape_matrix_solve_broadcast(InferenceContext *c, Status *status);
/* Sets output `i`, which an attr turned off, to a vector without elements. */
MUST_CHECK bool shape_no_matrices(InferenceContext *c, int i, Status *status);

#endif
