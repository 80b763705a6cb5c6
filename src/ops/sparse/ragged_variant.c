#include "ops/sparse/ragged_variant.h"

#include <string.h>

#include "base/alloc.h"

static const VariantMethods kRaggedMethods;

static void destroy_ragged(TensorObject *object) {
  RaggedVariant *ragged = (RaggedVariant *)object;
  for (int i = 0; i <= ragged->levels; i++) tensor_clear(&ragged->tensors[i]);
  mem_free(ragged);
}

RaggedVariant *ragged_variant_new(int levels, Status *status) {
  RaggedVariant *ragged = mem_calloc(1, (int64_t)sizeof *ragged + (levels + 1) * (int64_t)sizeof(Tensor));
  if (!ragged) {
    status_oom(status, "a ragged tensor");
    return NULL;
  }
  ragged->variant.methods = &kRaggedMethods;
  ragged->variant.object.destroy = destroy_ragged;
  atomic_init(&ragged->variant.object.references, 1);
  ragged->levels = levels;
  return ragged;
}

/* --- zeros and sums: the splits stay --- */

static RaggedVariant *with_splits_of(const RaggedVariant *from, Status *status) {
  RaggedVariant *made = ragged_variant_new(from->levels, status);
  bool ok = made != NULL;
  for (int i = 0; ok && i < from->levels; i++)
    ok = tensor_assign(&made->tensors[i], &from->tensors[i], status);
  if (ok) {
    made->depth = from->depth;
    return made;
  }
  if (made) tensor_object_unref(&made->variant.object);
  return NULL;
}

bool ragged_variant_finish(RaggedVariant *made, bool ok, VariantObject **result) {
  if (ok) *result = &made->variant;
  else if (made) tensor_object_unref(&made->variant.object);
  return ok;
}

static bool zeros_like_ragged(KernelContext *context, const VariantObject *x, int depth,
                              VariantObject **zeros, Status *status) {
  const RaggedVariant *from = (const RaggedVariant *)x;
  RaggedVariant *made = with_splits_of(from, status);
  bool ok = made && tensor_zeros_like(context, ragged_variant_values(from), depth,
                                      &made->tensors[made->levels], status);
  return ragged_variant_finish(made, ok, zeros);
}

static bool equal_splits(const RaggedVariant *a, const RaggedVariant *b) {
  for (int i = 0; i < a->levels; i++) {
    const Tensor *x = &a->tensors[i], *y = &b->tensors[i];
    if (x->dtype != y->dtype || tensor_num_elements(x) != tensor_num_elements(y) ||
        memcmp(x->data, y->data, (size_t)tensor_bytes(x)) != 0)
      return false;
  }
  return true;
}

static bool add_ragged(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
                       VariantObject **sum, Status *status) {
  const RaggedVariant *left = (const RaggedVariant *)a, *right = (const RaggedVariant *)b;
  if (left->levels != right->levels)
    return status_invalid(status, "Can't add RaggedTensorVariants of different ragged rank. %d vs %d",
                          left->levels, right->levels);
  if (!equal_splits(left, right))
    return status_invalid(status, "Can't add RaggedTensorVariants with different row_splits.");
  RaggedVariant *made = with_splits_of(left, status);
  bool ok = made && tensor_sum(context, ragged_variant_values(left), ragged_variant_values(right), depth,
                               &made->tensors[made->levels], status);
  return ragged_variant_finish(made, ok, sum);
}

static int depth_of_ragged(const VariantObject *x) { return ((const RaggedVariant *)x)->depth; }

static const VariantMethods kRaggedMethods = {"RaggedTensorVariant", zeros_like_ragged, add_ragged,
                                              depth_of_ragged};

const RaggedVariant *ragged_variant_at(const Tensor *encoded, int64_t i) {
  const VariantObject *object = ((VariantObject *const *)encoded->data)[i];
  return object && object->methods == &kRaggedMethods ? (const RaggedVariant *)object : NULL;
}
