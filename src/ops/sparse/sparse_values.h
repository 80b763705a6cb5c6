/* Arithmetic on the values of sparse tensors, for all dtypes of numbers. Integers wrap around. */
#ifndef TFCORE_OPS_SPARSE_SPARSE_VALUES_H_
#define TFCORE_OPS_SPARSE_SPARSE_VALUES_H_

#include <stdbool.h>
#include <stdint.h>

#include "tensor/dtype.h"

typedef enum ValueOp { VALUE_ADD, VALUE_MULTIPLY, VALUE_DIVIDE, VALUE_MAX, VALUE_MIN } ValueOp;

/* The loops for one dtype. Arrays have its elements. Max and min are not for complex numbers, and integers
 * are not divided by 0. */
typedef struct ValueLoops {
  /* out[i] = a[i] op b[i] */
  void (*zip)(ValueOp op, int64_t count, const void *a, const void *b, void *out);
  /* out[at[i]] += values[i] */
  void (*add_at)(int64_t count, const int64_t *at, const void *values, void *out);
  /* out[to] = the sum (VALUE_ADD), or the largest (VALUE_MAX), of values[order[i]]; count > 0 */
  void (*reduce)(ValueOp op, int64_t count, const int64_t *order, const void *values, void *out, int64_t to);
} ValueLoops;

/* NULL for a dtype that is not a number. */
const ValueLoops *value_loops(DataType type);

#endif
