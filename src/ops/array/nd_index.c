#include "ops/array/nd_index.h"

#include "op/node_def.h"
#include "ops/support/array_box.h"

bool nd_index_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str policy;
  TRY(node_attr_string(construction->node, "bad_indices_policy", &policy, status));
  NdIndexState *state = memory;
  state->ignore_bad = str_equal_text(policy, "IGNORE");
  return state->ignore_bad || policy.length == 0 || str_equal_text(policy, "DEFAULT") ||
         str_equal_text(policy, "ERROR") ||
         status_invalid(status, "Unknown bad indices handling attribute: %.*s", (int)policy.length,
                        policy.data);
}

void nd_index(const Tensor *indices, const Shape *shape, NdIndex *index) {
  int last = indices->shape.rank - 1;
  *index = (NdIndex){.depth = (int)shape_dim(&indices->shape, last), .count = 1, .length = 1};
  /* If one size is 0, the product of the others may exceed int64, and is not used. */
  for (int d = 0; d < last; d++) {
    if (shape_dim(&indices->shape, d) == 0) index->count = 0;
  }
  for (int d = 0; d < last && index->count > 0; d++) {
    if (__builtin_mul_overflow(index->count, shape_dim(&indices->shape, d), &index->count))
      index->count = INT64_MAX;
  }
  if (shape_num_elements(shape) == 0) {
    index->length = 0;
    return;
  }
  for (int d = index->depth; d < shape->rank; d++) index->length *= shape_dim(shape, d);
}

int64_t nd_index_rows(const NdIndex *index, const Tensor *indices, const Shape *shape, int64_t *rows) {
  int64_t at = 0;
  for (int64_t i = 0; i < index->count; i++) {
    uint64_t row = 0;
    bool bad = false;
    for (int d = 0; d < index->depth; d++) {
      int64_t value = indices->dtype == DT_INT32 ? tensor_i32(indices)[at] : tensor_int_at(indices, at), size;
      at++;
      size = shape_dim(shape, d);
      bad = bad || value < 0 || value >= size;
      row = row * (uint64_t)size + (uint64_t)value;
    }
    if (bad && !index->ignore_bad) return i;
    rows[i] = bad ? -1 : (int64_t)row;
  }
  return -1;
}

bool nd_index_outside(const NdIndex *index, const Tensor *indices, const Shape *shape, int64_t i,
                      const char *what, const char *behind, Status *status) {
  StrBuf text = {0};
  char printed[SHAPE_TEXT_CAPACITY];
  strbuf_append(&text, "indices");
  array_print_position(&indices->shape, indices->shape.rank - 1, i, &text);
  strbuf_append(&text, " = [");
  for (int d = 0; d < index->depth; d++) {
    strbuf_printf(&text, "%s%lld", d > 0 ? ", " : "",
                  (long long)tensor_int_at(indices, i * index->depth + d));
  }
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "%s] does not index into %s %s%s", strbuf_text(&text), what,
                   shape_text(shape, printed), behind);
  }
  strbuf_free(&text);
  return false;
}
