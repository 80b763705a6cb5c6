/* Sorts positions by what is at them: a merge sort that keeps the order of equal ones. */
#ifndef TFCORE_OPS_SPARSE_POSITION_SORT_H_
#define TFCORE_OPS_SPARSE_POSITION_SORT_H_

#include <stdint.h>

/* Negative, 0 or positive, as for qsort. */
typedef int ComparePositions(const void *context, int64_t a, int64_t b);

/* Sorts `count` positions; `scratch` has room for as many. */
void sort_positions(int64_t *positions, int64_t count, int64_t *scratch, ComparePositions *compare,
                    const void *context);

#endif
