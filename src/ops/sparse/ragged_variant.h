/* A ragged tensor, or one of its rows, as an element of a DT_VARIANT tensor. */
#ifndef TFCORE_OPS_SPARSE_RAGGED_VARIANT_H_
#define TFCORE_OPS_SPARSE_RAGGED_VARIANT_H_

#include "ops/support/variant.h"

/* Immutable once it is in a tensor. */
typedef struct RaggedVariant {
  VariantObject variant;
  int depth;        /* above that of the values */
  int levels;       /* the number of splits */
  Tensor tensors[]; /* splits, then values */
} RaggedVariant;

static inline const Tensor *ragged_variant_values(const RaggedVariant *ragged) {
  return &ragged->tensors[ragged->levels];
}

/* With empty tensors and one reference; NULL with status when out of memory. */
RaggedVariant *ragged_variant_new(int levels, Status *status);
/* Hands the reference over to *result if `ok`, else drops it; `made` may be NULL then. Returns `ok`. */
bool ragged_variant_finish(RaggedVariant *made, bool ok, VariantObject **result);
/* The ragged tensor in element `i`, borrowed; NULL if the element holds something else. */
const RaggedVariant *ragged_variant_at(const Tensor *encoded, int64_t i);

#endif
