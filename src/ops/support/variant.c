#include "ops/support/variant.h"

#include <string.h>

#include "ops/support/number_sum.h"

static bool check_depth(int depth, Status *status) {
  return depth < VARIANT_MAX_DEPTH ||
         status_invalid(status, "Variants are nested more than %d deep", VARIANT_MAX_DEPTH);
}

bool tensor_zeros_like(KernelContext *context, const Tensor *x, int depth, Tensor *zeros, Status *status) {
  if (!dtype_is_pod(x->dtype) && x->dtype != DT_STRING && x->dtype != DT_VARIANT) {
    return status_set(status, CODE_UNIMPLEMENTED, "ZerosLike of %s is not supported", dtype_name(x->dtype));
  }
  TRY(check_depth(depth, status));
  TRY(tensor_allocate(zeros, x->dtype, &x->shape, context->pool, status));
  if (dtype_is_pod(x->dtype)) memset(zeros->data, 0, (size_t)tensor_bytes(zeros));
  if (x->dtype != DT_VARIANT) return true;
  VariantObject *const *from = x->data, **to = zeros->data;
  for (int64_t i = 0; i < tensor_num_elements(x); i++) {
    if (from[i] && !from[i]->methods->zeros_like(context, from[i], depth + 1, &to[i], status)) {
      tensor_clear(zeros);
      return false;
    }
  }
  return true;
}

static bool add_objects(KernelContext *context, VariantObject *a, VariantObject *b, int depth,
                        VariantObject **sum, Status *status) {
  if (!a || !b) {
    *sum = a ? a : b;
    if (*sum) tensor_object_ref(&(*sum)->object);
    return true;
  }
  if (a->methods != b->methods) {
    return status_set(status, CODE_INTERNAL,
                      "BinaryOpVariants: Variants a and b have different type ids.  Type names: '%s' vs. "
                      "'%s'",
                      a->methods->type_name, b->methods->type_name);
  }
  return a->methods->add(context, a, b, depth + 1, sum, status);
}

bool tensor_sum(KernelContext *context, const Tensor *a, const Tensor *b, int depth, Tensor *sum,
                Status *status) {
  char x[SHAPE_TEXT_CAPACITY], y[SHAPE_TEXT_CAPACITY];
  TRY(check_depth(depth, status));
  if (a->dtype != b->dtype)
    return status_invalid(status, "AddN of %s and %s", dtype_name(a->dtype), dtype_name(b->dtype));
  if (!shape_equal(&a->shape, &b->shape))
    return status_invalid(status, "AddN of shapes %s and %s", shape_text(&a->shape, x),
                          shape_text(&b->shape, y));
  TRY(tensor_allocate(sum, a->dtype, &a->shape, context->pool, status));
  if (a->dtype != DT_VARIANT) {
    if (number_sum((const Tensor *[]){a, b}, 2, sum, context->parallel, status)) return true;
    tensor_clear(sum);
    return false;
  }
  VariantObject *const *left = a->data, *const *right = b->data, **to = sum->data;
  for (int64_t i = 0; i < tensor_num_elements(a); i++) {
    if (add_objects(context, left[i], right[i], depth, &to[i], status)) continue;
    tensor_clear(sum);
    return false;
  }
  return true;
}

bool variant_check_depth(const Tensor *inner, int *depth, Status *status) {
  VariantObject *const *objects = inner->data;
  for (int64_t i = 0; inner->dtype == DT_VARIANT && i < tensor_num_elements(inner); i++) {
    int depth_inside = objects[i] ? objects[i]->methods->depth(objects[i]) : -1;
    if (*depth <= depth_inside) *depth = depth_inside + 1;
  }
  return check_depth(*depth, status);
}

const char *variant_type_name(const Tensor *tensor, int64_t i) {
  const VariantObject *object = ((VariantObject **)tensor->data)[i];
  return object ? object->methods->type_name : "nothing";
}
