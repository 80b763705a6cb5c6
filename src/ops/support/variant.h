/* Elements of DT_VARIANT tensors, and operations on them. */
#ifndef TFCORE_OPS_SUPPORT_VARIANT_H_
#define TFCORE_OPS_SUPPORT_VARIANT_H_

#include "op/kernel.h"

typedef struct VariantObject VariantObject;

/* The maximum nesting of variants in variants. */
enum { VARIANT_MAX_DEPTH = 64 };

/* The functions return new objects with one reference. `depth` counts from 0 and grows by one per nesting
 * level. */
typedef struct VariantMethods {
  const char *type_name; /* "tensorflow::TensorList" */
  bool (*zeros_like)(KernelContext *context, const VariantObject *x, int depth, VariantObject **zeros,
                     Status *status);
  bool (*add)(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
              VariantObject **sum, Status *status);
  int (*depth)(const VariantObject *x); /* greater than those of all variants in x */
} VariantMethods;

struct VariantObject {
  TensorObject object;
  const VariantMethods *methods;
};

/* What element `i` of a tensor of variants is; "nothing" if it is empty. */
const char *variant_type_name(const Tensor *tensor, int64_t i);

/* A new tensor of zeros in the shape of x; of strings, empty ones. */
MUST_CHECK bool tensor_zeros_like(KernelContext *context, const Tensor *x, int depth, Tensor *zeros,
                                  Status *status);
/* A new tensor, a + b, for the types of AddN. */
MUST_CHECK bool tensor_sum(KernelContext *context, const Tensor *a, const Tensor *b, int depth, Tensor *sum,
                           Status *status);

/* Raises *depth to the depth that a variant with this tensor in it has. If that of a list rises, only items
 * that no other list shares may take the tensor. Shared items could be reachable from it, and a cycle of
 * references would never be freed. INVALID_ARGUMENT beyond VARIANT_MAX_DEPTH, because nested variants are
 * freed recursively. */
MUST_CHECK bool variant_check_depth(const Tensor *inner, int *depth, Status *status);

#endif
