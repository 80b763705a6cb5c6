/* TensorList: a list of tensors of one dtype, the element of a DT_VARIANT scalar. A list does not change while others see it: what
 * appends makes a new list, which shares the items with the old one. */
#ifndef TFCORE_OPS_TENSOR_LIST_H_
#define TFCORE_OPS_TENSOR_LIST_H_

#include <stdatomic.h>

#include "ops/variant.h"

/* Items that several lists see the beginning of. */
typedef struct ListItems {
  atomic_int references;
  atomic_flag lock;
  Tensor *items; /* empty ones are not initialised, nor is what lies behind `count` */
  int64_t count, capacity;
  int64_t claimed; /* the length of the longest list that ever saw them */
} ListItems;

typedef struct TensorList {
  VariantObject variant;
  DataType dtype;
  int rank;      /* of the elements; -1: any */
  int64_t *dims; /* -1: any */
  int64_t max_length; /* -1: any */
  int64_t length;
  int depth; /* 1 more than that of the lists among the items */
  ListItems *items;
} TensorList;

/* The list in a scalar. INVALID_ARGUMENT when there is none. */
MUST_CHECK bool tensor_list_of(const Tensor *handle, TensorList **list, Status *status);

#endif
