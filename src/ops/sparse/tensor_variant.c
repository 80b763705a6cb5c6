#include "ops/sparse/tensor_variant.h"

#include "base/alloc.h"

typedef struct TensorVariant {
  VariantObject variant;
  int depth;
  Tensor tensor;
} TensorVariant;

static const VariantMethods kTensorMethods;

static void destroy(TensorObject *object) {
  TensorVariant *variant = (TensorVariant *)object;
  tensor_clear(&variant->tensor);
  mem_free(variant);
}

/* Empty, with one reference; NULL with status when out of memory. */
static TensorVariant *make(int depth, Status *status) {
  TensorVariant *variant = mem_calloc(1, sizeof *variant);
  if (!variant) {
    status_oom(status, "a tensor in a variant");
    return NULL;
  }
  variant->variant.methods = &kTensorMethods;
  variant->variant.object.destroy = destroy;
  atomic_init(&variant->variant.object.references, 1);
  variant->depth = depth;
  return variant;
}

static bool finish(TensorVariant *made, bool ok, VariantObject **result) {
  if (ok) *result = &made->variant;
  else if (made) tensor_object_unref(&made->variant.object);
  return ok;
}

static bool zeros_like(KernelContext *context, const VariantObject *x, int depth, VariantObject **zeros,
                       Status *status) {
  const TensorVariant *from = (const TensorVariant *)x;
  TensorVariant *made = make(from->depth, status);
  return finish(made, made && tensor_zeros_like(context, &from->tensor, depth, &made->tensor, status), zeros);
}

static bool add(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
                VariantObject **sum, Status *status) {
  const TensorVariant *left = (const TensorVariant *)a, *right = (const TensorVariant *)b;
  TensorVariant *made = make(left->depth > right->depth ? left->depth : right->depth, status);
  bool ok = made && tensor_sum(context, &left->tensor, &right->tensor, depth, &made->tensor, status);
  return finish(made, ok, sum);
}

static int depth_of(const VariantObject *x) { return ((const TensorVariant *)x)->depth; }

static const VariantMethods kTensorMethods = {"tensorflow::Tensor", zeros_like, add, depth_of};

bool tensor_variant_set(Tensor *variants, int64_t i, const Tensor *tensor, Status *status) {
  TensorVariant *made = make(0, status);
  bool ok = made && variant_check_depth(tensor, &made->depth, status) &&
            tensor_assign(&made->tensor, tensor, status);
  VariantObject *object = NULL;
  if (!finish(made, ok, &object)) return false;
  ((VariantObject **)variants->data)[i] = object;
  return true;
}

const Tensor *tensor_variant_at(const Tensor *variants, int64_t i) {
  const VariantObject *object = ((VariantObject *const *)variants->data)[i];
  return object && object->methods == &kTensorMethods ? &((const TensorVariant *)object)->tensor : NULL;
}
