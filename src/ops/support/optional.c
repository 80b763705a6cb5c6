#include "ops/support/optional.h"

#include "base/alloc.h"

static void destroy_optional(TensorObject *object) {
  Optional *optional = (Optional *)object;
  for (int i = 0; i < optional->count; i++) tensor_clear(&optional->components[i]);
  mem_free(optional);
}

Optional *optional_new(bool has_value, int count, Status *status) {
  Optional *optional = mem_calloc(1, sizeof *optional + (size_t)count * sizeof(Tensor));
  if (!optional) {
    status_oom(status, "an optional");
    return NULL;
  }
  optional->variant.methods = &kOptionalMethods;
  optional->variant.object.destroy = destroy_optional;
  atomic_init(&optional->variant.object.references, 1);
  optional->has_value = has_value;
  optional->count = count;
  return optional;
}

static void drop(Optional *optional) {
  if (optional) tensor_object_unref(&optional->variant.object);
}

/* --- variants --- */

static bool zeros_like_optional(KernelContext *context, const VariantObject *x, int depth,
                                VariantObject **zeros, Status *status) {
  const Optional *from = (const Optional *)x;
  Optional *made = optional_new(from->has_value, from->count, status);
  bool ok = made != NULL;
  for (int i = 0; ok && i < made->count; i++)
    ok = tensor_zeros_like(context, &from->components[i], depth, &made->components[i], status);
  if (ok) {
    made->depth = from->depth;
    *zeros = &made->variant;
  } else {
    drop(made);
  }
  return ok;
}

static bool add_optionals(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
                          VariantObject **sum, Status *status) {
  const Optional *left = (const Optional *)a, *right = (const Optional *)b;
  if (left->has_value != right->has_value)
    return status_invalid(status, "Cannot add optionals because one has a value and the other doesn't.");
  if (left->count != right->count) {
    return status_invalid(status,
                          "Cannot add optionals because they have different numbers of components (%d vs. "
                          "%d).",
                          left->count, right->count);
  }
  Optional *made = optional_new(left->has_value, left->count, status);
  bool ok = made != NULL;
  for (int i = 0; ok && i < made->count; i++)
    ok =
        tensor_sum(context, &left->components[i], &right->components[i], depth, &made->components[i], status);
  if (ok) {
    made->depth = left->depth > right->depth ? left->depth : right->depth;
    *sum = &made->variant;
  } else {
    drop(made);
  }
  return ok;
}

static int depth_of_optional(const VariantObject *x) { return ((const Optional *)x)->depth; }

const VariantMethods kOptionalMethods = {"tensorflow::data::Optional", zeros_like_optional, add_optionals,
                                         depth_of_optional};

/* --- outputs --- */

bool optional_set_output(KernelContext *context, Optional *optional, Status *status) {
  Tensor *out;
  if (!kernel_allocate_output_dims(context, 0, 0, NULL, &out, status)) {
    drop(optional);
    return false;
  }
  *(VariantObject **)out->data = &optional->variant;
  return true;
}
