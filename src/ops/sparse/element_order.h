/* Comparisons of single elements. */
#ifndef TFCORE_OPS_SPARSE_ELEMENT_ORDER_H_
#define TFCORE_OPS_SPARSE_ELEMENT_ORDER_H_

#include "tensor/tensor.h"

/* Negative, 0 or positive: the order of element `i` of a and `k` of b, which are integers of one dtype of up
 * to 64 bits (uint64 excepted), or strings, compared by their bytes. */
int compare_elements(const Tensor *a, int64_t i, const Tensor *b, int64_t k);
/* Whether the elements of one dtype are equal; NaN equals nothing. */
bool equal_elements(const Tensor *a, int64_t i, const Tensor *b, int64_t k);

#endif
