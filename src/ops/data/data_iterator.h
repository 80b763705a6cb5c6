/* DataIterator: a position in a dataset. Iterators of one dataset are independent of each other. An iterator
 * is used by one step at a time. Iterators of the inputs, and those of datasets that functions return, are
 * children of the iterator that uses them.
 *
 * A step may pause while an iterator works, because a function of the dataset pauses. The iterator keeps what
 * it has done so far, and goes on when it is asked again. When the step ends instead, data_iterator_abandon
 * ends the calls of functions that are under way; the elements in them are lost, as in TensorFlow.
 */
#ifndef TFCORE_OPS_DATA_DATA_ITERATOR_H_
#define TFCORE_OPS_DATA_DATA_ITERATOR_H_

#include "ops/data/dataset.h"

struct DataIterator {
  Dataset *dataset;                          /* one reference */
  DataIterator *children, *sibling, **owner; /* a list; `owner` points to the pointer to this iterator */
  DataIterator *input;                       /* a child; NULL: none */
  FunctionCall *call;                        /* under way; NULL: none */
  const FunctionCaller *caller;              /* of `call` */
};

/* A new iterator, a child of `parent` unless that is NULL. */
MUST_CHECK bool data_iterator_new(Dataset *dataset, DataIterator *parent, KernelContext *context,
                                  DataIterator **iterator, Status *status);
/* Frees it with its children; NULL is fine. */
void data_iterator_free(DataIterator *iterator);
/* Ends the calls under way, of its children too. */
void data_iterator_abandon(DataIterator *iterator);
/* The next element, or *end. RUN_WAITING: call it again. On failure `out` is empty. */
RunState data_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end, Status *status);
/* For DatasetKind.begin: makes `input` an iterator of the first input. */
bool data_begin_input(DataIterator *iterator, KernelContext *context, Status *status);

/* --- functions --- */

/* Calls the function with `args` (which become empty) and its captured tensors, or goes on with the call
 * under way. `rets` are empty. */
RunState data_call(DataIterator *iterator, KernelContext *context, const DataFunction *function, Tensor *args,
                   int num_args, Tensor *rets, int num_rets, Status *status);

/* --- arrays of tensors --- */

Tensor *data_tensors_new(int64_t count, Status *status); /* empty ones; NULL with status: out of memory */
void data_tensors_clear(Tensor *tensors, int64_t count);
void data_tensors_free(Tensor *tensors, int64_t count); /* NULL is fine */
/* `to` are empty; on failure they are empty again. */
MUST_CHECK bool data_tensors_share(Tensor *to, const Tensor *from, int64_t count, Status *status);

#endif
