/* Sparse tensors, as the ops take and give them: the indices of the entries, their values, and the sizes of
 * the dense tensor.
 *
 *   SparseTensor x;
 *   TRY(sparse_open(context->inputs, &x, status));
 *   int64_t *order = sparse_sort(&x, NULL, status); // positions of the entries, in row-major order
 *   if (!order) return false;
 *   bool ok = sparse_give_entries(context, 0, &x, order, x.count, status);
 *   mem_free(order);
 */
#ifndef TFCORE_OPS_SPARSE_SPARSE_TENSOR_H_
#define TFCORE_OPS_SPARSE_SPARSE_TENSOR_H_

#include "op/kernel.h"
#include "op/shape_inference.h"

typedef struct SparseTensor {
  const Tensor *indices, *values, *sizes; /* borrowed: int64 [count, rank], [count], int64 [rank] */
  int64_t count;                          /* of entries */
  int rank;
} SparseTensor;

/* Index `i`: `rank` numbers. */
static inline const int64_t *sparse_index(const SparseTensor *x, int64_t i) {
  return tensor_i64(x->indices) + i * x->rank;
}

/* Takes inputs[0..2], and checks their ranks and that their sizes agree. The indices are not checked. */
MUST_CHECK bool sparse_open(const Tensor *const *inputs, SparseTensor *x, Status *status);
/* The same in the words of TensorFlow's class SparseTensor, after the sizes are checked as a shape. */
MUST_CHECK bool sparse_create(const Tensor *const *inputs, SparseTensor *x, Status *status);
/* Checks that the sizes are those of a tensor: not negative, and with a product in int64. */
MUST_CHECK bool sparse_check_sizes(const Tensor *sizes, Status *status);
/* Checks that all indices are inside, in row-major order and not repeated. */
MUST_CHECK bool sparse_check_indices(const SparseTensor *x, Status *status);
/* INVALID_ARGUMENT "Sparse index tuple indices[1, :] = [0, 7] is out of bounds". Returns false. */
bool sparse_refuse_index(const SparseTensor *x, int64_t i, const char *words, Status *status);
/* Whether each number of the index is at least 0 and below its size. */
bool sparse_inside(const int64_t *index, const int64_t *sizes, int rank);

/* -1, 0 or 1: the order of two indices with `rank` numbers. */
int sparse_compare(const int64_t *a, const int64_t *b, int rank);
/* The positions of the entries in the order of their indices; equal ones keep their order. `axes` lists the
 * axes from the most significant one (NULL: row-major order). To be freed with mem_free; NULL with status. */
int64_t *sparse_sort(const SparseTensor *x, const int *axes, Status *status);
/* The end of the run of entries from order[begin] on (order NULL: entries as they are) whose indices agree
 * in the first `count` of `axes` (NULL: the first axes). */
int64_t sparse_run_end(const SparseTensor *x, const int64_t *order, int64_t begin, const int *axes,
                       int count);

/* Gives the entries at `positions` as outputs `output` and `output` + 1: indices and values. */
MUST_CHECK bool sparse_give_entries(KernelContext *context, int output, const SparseTensor *x,
                                    const int64_t *positions, int64_t count, Status *status);
/* Gives an int64 vector. */
MUST_CHECK bool sparse_give_sizes(KernelContext *context, int output, const int64_t *sizes, int64_t rank,
                                  Status *status);

/* Shapes: input `first` is a matrix, and the two after it are vectors. */
MUST_CHECK bool sparse_shapes(InferenceContext *c, int first, Status *status);
/* Shapes of the outputs from `output` on: [rows, rank], [rows] and, if there is one more, [rank]. NULL:
 * unknown. */
MUST_CHECK bool sparse_set_shapes(InferenceContext *c, int output, DimHandle rows, DimHandle rank,
                                  Status *status);

#endif
