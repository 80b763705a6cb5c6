#include "ops/sparse/sparse_pile.h"

#include <string.h>

#include "ops/support/array_box.h"
#include "ops/sparse/sparse_tensor.h"

void sparse_part_clear(SparsePart *part) {
  tensor_clear(&part->indices);
  tensor_clear(&part->values);
  tensor_clear(&part->sizes);
}

bool sparse_check_stored(const Tensor *const *inputs, Status *status) {
  static const char *const kWords[] = {"indices should be a matrix", "values should be a vector",
                                       "shape should be a vector"};
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 3; i++) {
    if (inputs[i]->shape.rank != (i == 0 ? 2 : 1))
      return status_invalid(status, "Input %s but received shape %s", kWords[i],
                            shape_text(&inputs[i]->shape, text));
  }
  return true;
}

bool sparse_part_of_row(KernelContext *context, const Tensor *const *inputs, int64_t begin, int64_t end,
                        SparsePart *part, Status *status) {
  int64_t rank = shape_dim(&inputs[0]->shape, 1), count = end - begin;
  ArrayBox box = {.from_offset = begin};
  TRY(tensor_allocate_dims(&part->indices, DT_INT64, 2, (int64_t[]){count, rank - 1}, context->pool, status));
  TRY(tensor_allocate_dims(&part->values, inputs[1]->dtype, 1, &count, context->pool, status));
  TRY(tensor_allocate_dims(&part->sizes, DT_INT64, 1, (int64_t[]){rank - 1}, context->pool, status));
  for (int64_t i = 0; i < count; i++) {
    const int64_t *from = tensor_i64(inputs[0]) + (begin + i) * rank + 1;
    memcpy(tensor_i64(&part->indices) + i * (rank - 1), from, (size_t)(rank - 1) * sizeof *from);
  }
  memcpy(part->sizes.data, tensor_i64(inputs[2]) + 1, (size_t)(rank - 1) * sizeof(int64_t));
  array_box_add(&box, count, 1, 1);
  return array_box_copy(&box, inputs[1], &part->values, NULL, status);
}

static int64_t rank_of(const SparsePart *part) { return shape_dim(&part->indices.shape, 1); }

static bool check_part(const SparsePart *part, int64_t i, DataType type, Status *status) {
  if (part->values.dtype != type)
    return status_invalid(status,
                          "Requested SparseTensor of type %s but SparseTensor[%lld].values.dtype() == %s",
                          dtype_name((int)type), (long long)i, dtype_name((int)part->values.dtype));
  int64_t rows = shape_dim(&part->indices.shape, 0), values = tensor_num_elements(&part->values);
  if (rows != values)
    return status_invalid(status,
                          "Expected row counts of SparseTensor[%lld].indices and SparseTensor[%lld].values "
                          "to "
                          "match but they do not: %lld vs. %lld",
                          (long long)i, (long long)i, (long long)rows, (long long)values);
  return rank_of(part) == tensor_num_elements(&part->sizes) ||
         status_invalid(status,
                        "Expected column counts of SparseTensor[%lld].indices to match size of "
                        "SparseTensor[%lld].shape but they do not: %lld vs. %lld",
                        (long long)i, (long long)i, (long long)rank_of(part),
                        (long long)tensor_num_elements(&part->sizes));
}

/* Checks the parts, and computes the sizes of the pile and its number of entries. */
static bool measure(const SparsePile *pile, DataType type, const char *words, int added, int64_t *sizes,
                    int64_t *entries, Status *status) {
  int64_t rank = pile->count > 0 ? rank_of(&pile->parts[0]) : 0;
  if (pile->outer_rank + rank > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  memcpy(sizes, pile->outer, (size_t)pile->outer_rank * sizeof *sizes);
  *entries = 0;
  for (int64_t i = 0; i < pile->count; i++) {
    const SparsePart *part = &pile->parts[i];
    TRY(check_part(part, i, type, status));
    if (rank_of(part) != rank)
      return status_invalid(status,
                            "%s across SparseTensors: rank prior to SparseTensor[%lld] was: %lld but rank of "
                            "SparseTensor[%lld] is: %lld",
                            words, (long long)i, (long long)rank + added, (long long)i,
                            (long long)rank_of(part) + added);
    for (int64_t d = 0; d < rank; d++) {
      int64_t *size = &sizes[pile->outer_rank + d], own = tensor_i64(&part->sizes)[d];
      if (i == 0 || own > *size) *size = own;
    }
    *entries += shape_dim(&part->indices.shape, 0);
  }
  return true;
}

/* Writes the entries of part `number` from row `at` on. */
static bool write_part(const SparsePile *pile, int64_t number, int64_t at, Tensor *indices, Tensor *values,
                       Status *status) {
  const SparsePart *part = &pile->parts[number];
  int64_t rank = rank_of(part), count = shape_dim(&part->indices.shape, 0);
  ArrayBox box = {.to_offset = at};
  for (int64_t i = 0; i < count; i++) {
    int64_t *to = tensor_i64(indices) + (at + i) * (pile->outer_rank + rank), rest = number;
    for (int d = pile->outer_rank - 1; d >= 0; d--) {
      to[d] = rest % pile->outer[d];
      rest /= pile->outer[d];
    }
    if (rank > 0)
      memcpy(to + pile->outer_rank, tensor_i64(&part->indices) + i * rank, (size_t)rank * sizeof *to);
  }
  array_box_add(&box, count, 1, 1);
  return array_box_copy(&box, &part->values, values, NULL, status);
}

bool sparse_pile_give(KernelContext *context, const SparsePile *pile, const char *words, int added,
                      Status *status) {
  int64_t sizes[SHAPE_MAX_RANK], entries = 0, at = 0;
  Tensor *indices, *values;
  TRY(measure(pile, context->output_types[1], words, added, sizes, &entries, status));
  int64_t rank = pile->outer_rank + (pile->count > 0 ? rank_of(&pile->parts[0]) : 0);
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){entries, rank}, &indices, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &entries, &values, status));
  for (int64_t i = 0; i < pile->count; i++) {
    TRY(write_part(pile, i, at, indices, values, status));
    at += shape_dim(&pile->parts[i].indices.shape, 0);
  }
  return sparse_give_sizes(context, 2, sizes, rank, status);
}
