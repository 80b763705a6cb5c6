#include "ops/sparse/element_order.h"

#include <complex.h>
#include <string.h>

int compare_elements(const Tensor *a, int64_t i, const Tensor *b, int64_t k) {
  if (a->dtype != DT_STRING) {
    int64_t x = tensor_int_at(a, i), y = tensor_int_at(b, k);
    return (x > y) - (x < y);
  }
  Str x = tstring_view(&tensor_strings(a)[i]), y = tstring_view(&tensor_strings(b)[k]);
  size_t shorter = x.length < y.length ? x.length : y.length;
  int order = shorter > 0 ? memcmp(x.data, y.data, shorter) : 0;
  return order != 0 ? order : (x.length > y.length) - (x.length < y.length);
}

bool equal_elements(const Tensor *a, int64_t i, const Tensor *b, int64_t k) {
  if (a->dtype == DT_STRING) return tstring_equal(&tensor_strings(a)[i], &tensor_strings(b)[k]);
  if (a->dtype == DT_COMPLEX64)
    return ((const float _Complex *)a->data)[i] == ((const float _Complex *)b->data)[k];
  if (a->dtype == DT_COMPLEX128)
    return ((const double _Complex *)a->data)[i] == ((const double _Complex *)b->data)[k];
  if (dtype_is_floating((int)a->dtype)) return tensor_double_at(a, i) == tensor_double_at(b, k);
  size_t size = dtype_size((int)a->dtype);
  return memcmp((const char *)a->data + (size_t)i * size, (const char *)b->data + (size_t)k * size, size) ==
         0;
}
