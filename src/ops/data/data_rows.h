/* RowsIterator: gathers elements of an input and joins them: batches, padded batches, windows. */
#ifndef TFCORE_OPS_DATA_DATA_ROWS_H_
#define TFCORE_OPS_DATA_DATA_ROWS_H_

#include "ops/data/data_iterator.h"
#include "ops/support/elements.h"

typedef struct RowsIterator {
  DataIterator iterator;
  Tensor *rows; /* `count` elements, and space for one more */
  int64_t count, capacity;
  int width;  /* components of an element */
  bool ended; /* the input has no more elements */
} RowsIterator;

/* DatasetKind.begin and .finish; `rows_begin` also begins the input. */
bool rows_begin(DataIterator *iterator, KernelContext *context, Status *status);
void rows_finish(DataIterator *iterator);
/* Takes elements of `input` until there are `wanted`, or the input ends. */
RunState rows_gather(RowsIterator *rows, DataIterator *input, int64_t wanted, KernelContext *context,
                     Status *status);
/* Makes space for one more element; NULL with status when out of memory. The element is empty. */
Tensor *rows_next(RowsIterator *rows, Status *status);
/* Component `i` of the elements as one tensor. INVALID_ARGUMENT when shapes differ. */
MUST_CHECK bool rows_stack_component(const RowsIterator *rows, int i, KernelContext *context, Tensor *out,
                                     Status *status);
MUST_CHECK bool rows_stack(const RowsIterator *rows, KernelContext *context, Tensor *out, Status *status);
/* Drops the first elements. */
void rows_drop(RowsIterator *rows, int64_t count);
void rows_clear(RowsIterator *rows);

#endif
