#include "ops/support/shape_pattern.h"

#include <stdio.h>

bool partial_shape_allows(const TensorShapeProto *wanted, const Shape *shape) {
  if (wanted->unknown_rank) return true;
  if (wanted->n_dim != (size_t)shape->rank) return false;
  for (int d = 0; d < shape->rank; d++) {
    if (wanted->dim[d]->size >= 0 && wanted->dim[d]->size != shape_dim(shape, d)) return false;
  }
  return true;
}

const char *partial_shape_text(const TensorShapeProto *shape, char text[SHAPE_TEXT_CAPACITY]) {
  int used = snprintf(text, SHAPE_TEXT_CAPACITY, shape->unknown_rank ? "<unknown>" : "[");
  for (size_t d = 0; d < shape->n_dim && used < SHAPE_TEXT_CAPACITY; d++) {
    size_t left = (size_t)(SHAPE_TEXT_CAPACITY - used);
    long long size = (long long)shape->dim[d]->size;
    used += size < 0 ? snprintf(text + used, left, d > 0 ? ",?" : "?")
                     : snprintf(text + used, left, d > 0 ? ",%lld" : "%lld", size);
  }
  if (!shape->unknown_rank && used < SHAPE_TEXT_CAPACITY)
    snprintf(text + used, (size_t)(SHAPE_TEXT_CAPACITY - used), "]");
  return text;
}
