/* A tensor as an element of a DT_VARIANT tensor: a part of a serialized sparse tensor. */
#ifndef TFCORE_OPS_SPARSE_TENSOR_VARIANT_H_
#define TFCORE_OPS_SPARSE_TENSOR_VARIANT_H_

#include "ops/support/variant.h"

/* Writes an object that shares `tensor` to element `i`. */
MUST_CHECK bool tensor_variant_set(Tensor *variants, int64_t i, const Tensor *tensor, Status *status);
/* The tensor in element `i`, borrowed; NULL if the element holds something else. */
const Tensor *tensor_variant_at(const Tensor *variants, int64_t i);

#endif
