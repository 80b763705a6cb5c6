/* Several sparse tensors of one rank, as one with more axes: the first axes count the parts. The others get
 * the largest sizes of the parts. */
#ifndef TFCORE_OPS_SPARSE_SPARSE_PILE_H_
#define TFCORE_OPS_SPARSE_SPARSE_PILE_H_

#include "op/kernel.h"

/* One sparse tensor: int64 [count, rank], [count], int64 [rank]. */
typedef struct SparsePart {
  Tensor indices, values, sizes;
} SparsePart;

/* `parts` are in row-major order of `outer`, the sizes of the first axes. */
typedef struct SparsePile {
  const SparsePart *parts;
  int64_t count;
  const int64_t *outer;
  int outer_rank;
} SparsePile;

/* Gives the pile as outputs 0 to 2. INVALID_ARGUMENT if parts have other dtypes than output 1, or different
 * ranks; `added` is added to the ranks in the message, which begins with `words`. */
MUST_CHECK bool sparse_pile_give(KernelContext *context, const SparsePile *pile, const char *words, int added,
                                 Status *status);
/* The part of row `row` of a sparse tensor, whose indices are sorted: entries [begin, end), without the first
 * axis. The part is empty at first. */
MUST_CHECK bool sparse_part_of_row(KernelContext *context, const Tensor *const *inputs, int64_t begin,
                                   int64_t end, SparsePart *part, Status *status);
void sparse_part_clear(SparsePart *part);
/* Checks that the inputs are a matrix and two vectors, in the words of the ops that store sparse tensors. */
MUST_CHECK bool sparse_check_stored(const Tensor *const *inputs, Status *status);

#endif
