/* Kernels on the matrices in the last two dimensions of tensors.
 *
 *   static bool inverse_kernel(KernelContext *context, Status *status) {
 *     static const MatrixFunction kInverse = {inverse_f64, inverse_c128};
 *     MatrixBatch batch;
 *     TRY(matrix_batch_begin(context, 1, &batch, status));
 *     TRY(matrix_batch_square(&batch, status));
 *     int64_t n = batch.in[0].rows;
 *     TRY(matrix_batch_output(context, &batch, 0, 2, n, n, status));
 *     return matrix_batch_run(context, &batch, &kInverse, NULL, work, "Input is not invertible.", status);
 *   }
 *
 * The function sees one matrix of each input and output at a time, row by row without gaps, converted to
 * double or double _Complex. It may overwrite its inputs, and must write every element of its outputs.
 */
#ifndef TFCORE_OPS_LINALG_MATRIX_BATCH_H_
#define TFCORE_OPS_LINALG_MATRIX_BATCH_H_

#include "op/kernel.h"

enum { MATRIX_BATCH_MAX = 4 };

typedef struct Matrix {
  int64_t rows, columns;
  void *data; /* double or double _Complex */
} Matrix;

/* One computation: the i-th matrices of a batch. */
typedef struct MatrixStep {
  Matrix in[MATRIX_BATCH_MAX], out[MATRIX_BATCH_MAX];
  const void *options;
  const Parallel *parallel; /* for loops inside the step; NULL if steps themselves run side by side */
} MatrixStep;

typedef enum MatrixResult { MATRIX_DONE, MATRIX_NO_MEMORY, MATRIX_FAILED } MatrixResult;
typedef MatrixResult MatrixStepFn(MatrixStep *step);

typedef struct MatrixFunction {
  MatrixStepFn *f64, *c128;
} MatrixFunction;

typedef struct MatrixBatch {
  int num_inputs;
  Matrix in[MATRIX_BATCH_MAX]; /* sizes only */
  int rank;                    /* of the outer dimensions */
  int64_t dims[SHAPE_MAX_RANK];
  int64_t strides[2][SHAPE_MAX_RANK]; /* of inputs 0 and 1, in matrices; 0 where one is broadcast */
  int64_t count;
  bool broadcasts, is_complex;
  /* Output values are double even if matrices are complex; for integers too. */
  bool out_is_real[MATRIX_BATCH_MAX];
  Matrix out[MATRIX_BATCH_MAX];
  Tensor *out_tensors[MATRIX_BATCH_MAX];
} MatrixBatch;

/* Reads the shapes of the first inputs. INVALID_ARGUMENT in TensorFlow's words if one is not a batch of
 * matrices, or if outer dimensions differ. */
MUST_CHECK bool matrix_batch_begin(KernelContext *context, int num_inputs, MatrixBatch *batch,
                                   Status *status);
/* For two inputs whose outer dimensions broadcast, with the words of BatchMatMulV2. */
MUST_CHECK bool matrix_batch_begin_broadcast(KernelContext *context, MatrixBatch *batch, Status *status);
/* INVALID_ARGUMENT "Input matrix must be square." unless input 0 is. */
MUST_CHECK bool matrix_batch_square(const MatrixBatch *batch, Status *status);
/* INVALID_ARGUMENT "First input (lhs) must be a square matrix." unless input 0 is, and "Input matrix and rhs
 * are incompatible." unless input 1 has as many rows. */
MUST_CHECK bool matrix_batch_solver(const MatrixBatch *batch, Status *status);
/* Allocates output `i`: of matrices (rank 2), vectors of `rows` elements (1) or numbers (0). */
MUST_CHECK bool matrix_batch_output(KernelContext *context, MatrixBatch *batch, int i, int rank, int64_t rows,
                                    int64_t columns, Status *status);
/* An output that an attr turns off: a vector without elements. */
MUST_CHECK bool matrix_batch_no_output(KernelContext *context, int i, Status *status);
/* Computes all outputs; `work` as in parallel_work, of one step. INVALID_ARGUMENT with `message` if a step
 * fails. */
MUST_CHECK bool matrix_batch_run(KernelContext *context, MatrixBatch *batch, const MatrixFunction *function,
                                 const void *options, double work, const char *message, Status *status);

/* The work of a product of two n x n matrices, for `work`. */
static inline double matrix_cube(int64_t n) { return (double)n * (double)n * (double)n; }

/* Memory for `count` numbers of `size` bytes, to be freed with mem_free; NULL when out of memory. */
void *matrix_scratch(int64_t count, int64_t size);

#endif
