#include "ops/sparse/sparse_tensor.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/support/array_box.h"

/* --- checks --- */

static void fill_in(const Tensor *const *inputs, SparseTensor *x) {
  *x = (SparseTensor){.indices = inputs[0], .values = inputs[1], .sizes = inputs[2]};
  x->count = shape_dim(&inputs[0]->shape, 0);
  x->rank = (int)shape_dim(&inputs[0]->shape, 1);
}

bool sparse_open(const Tensor *const *inputs, SparseTensor *x, Status *status) {
  const Tensor *indices = inputs[0], *values = inputs[1], *sizes = inputs[2];
  if (indices->shape.rank != 2)
    return status_invalid(status, "Sparse indices must be rank 2 but is rank %d", indices->shape.rank);
  if (values->shape.rank != 1)
    return status_invalid(status, "Sparse values must be rank 1 but is rank %d", values->shape.rank);
  if (sizes->shape.rank != 1)
    return status_invalid(status, "Sparse shape must be rank 1 but is rank %d", sizes->shape.rank);
  int64_t count = shape_dim(&indices->shape, 0), rank = shape_dim(&indices->shape, 1);
  if (tensor_num_elements(values) != count)
    return status_invalid(status, "Number of elements in indices (%lld) and values (%lld) do not match",
                          (long long)count, (long long)tensor_num_elements(values));
  if (tensor_num_elements(sizes) != rank)
    return status_invalid(status, "Index rank (%lld) and shape rank (%lld) do not match", (long long)rank,
                          (long long)tensor_num_elements(sizes));
  if (rank > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  fill_in(inputs, x);
  return true;
}

bool sparse_check_sizes(const Tensor *sizes, Status *status) {
  int64_t rank = tensor_num_elements(sizes), total = 1;
  if (rank > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  for (int64_t k = 0; k < rank; k++) {
    int64_t size = tensor_i64(sizes)[k], before = total;
    if (size < 0)
      return status_invalid(status, "Expected shape dimensions to be non-negative, got %lld",
                            (long long)size);
    if (__builtin_mul_overflow(before, size, &total))
      return status_invalid(status, "Encountered overflow when multiplying %lld with %lld, result: -1",
                            (long long)before, (long long)size);
  }
  return true;
}

bool sparse_create(const Tensor *const *inputs, SparseTensor *x, Status *status) {
  const Tensor *indices = inputs[0], *values = inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  TRY(sparse_check_sizes(inputs[2], status));
  if (indices->shape.rank != 2)
    return status_invalid(status, "indices must be a matrix, but got: %s", shape_text(&indices->shape, text));
  if (values->shape.rank != 1)
    return status_invalid(status, "vals must be a vec, but got: %s", shape_text(&values->shape, text));
  int64_t count = shape_dim(&indices->shape, 0), rank = shape_dim(&indices->shape, 1);
  if (tensor_num_elements(values) != count)
    return status_invalid(status,
                          "indices and values rows (indexing dimension) must match. (indices = %lld, values "
                          "= %lld)",
                          (long long)count, (long long)tensor_num_elements(values));
  if (tensor_num_elements(inputs[2]) != rank)
    return status_invalid(status, "Order length must be SparseTensor rank.");
  fill_in(inputs, x);
  return true;
}

bool sparse_inside(const int64_t *index, const int64_t *sizes, int rank) {
  for (int k = 0; k < rank; k++) {
    if (index[k] < 0 || index[k] >= sizes[k]) return false;
  }
  return true;
}

static void print_numbers(const int64_t *numbers, int64_t count, const char *between, StrBuf *text) {
  strbuf_append_char(text, '[');
  for (int64_t k = 0; k < count; k++)
    strbuf_printf(text, "%s%lld", k > 0 ? between : "", (long long)numbers[k]);
  strbuf_append_char(text, ']');
}

bool sparse_refuse_index(const SparseTensor *x, int64_t i, const char *words, Status *status) {
  StrBuf text = {0};
  print_numbers(sparse_index(x, i), x->rank, ", ", &text);
  if (strbuf_ok(&text, status))
    status_invalid(status, "Sparse index tuple indices[%lld, :] = %s %s", (long long)i, strbuf_text(&text),
                   words);
  strbuf_free(&text);
  return false;
}

static bool refuse_entry(const SparseTensor *x, int64_t i, bool inside, int order, Status *status) {
  StrBuf index = {0}, sizes = {0};
  print_numbers(sparse_index(x, i), x->rank, ",", &index);
  print_numbers(tensor_i64(x->sizes), x->rank, ",", &sizes);
  if (strbuf_ok(&index, status) && strbuf_ok(&sizes, status)) {
    if (!inside)
      status_invalid(status, "indices[%lld] = %s is out of bounds: need 0 <= index < %s", (long long)i,
                     strbuf_text(&index), strbuf_text(&sizes));
    else if (order == 0)
      status_invalid(status, "indices[%lld] = %s is repeated", (long long)i, strbuf_text(&index));
    else
      status_invalid(status,
                     "indices[%lld] = %s is out of order. Many sparse ops require sorted indices.\n"
                     "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n",
                     (long long)i, strbuf_text(&index));
  }
  strbuf_free(&index);
  strbuf_free(&sizes);
  return false;
}

bool sparse_check_indices(const SparseTensor *x, Status *status) {
  for (int64_t i = 0; i < x->count; i++) {
    bool inside = sparse_inside(sparse_index(x, i), tensor_i64(x->sizes), x->rank);
    int order = i > 0 ? sparse_compare(sparse_index(x, i), sparse_index(x, i - 1), x->rank) : 1;
    if (!inside || order <= 0) return refuse_entry(x, i, inside, order, status);
  }
  return true;
}

/* --- order --- */

int sparse_compare(const int64_t *a, const int64_t *b, int rank) {
  for (int k = 0; k < rank; k++) {
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  }
  return 0;
}

static int compare_axes(const SparseTensor *x, int64_t i, int64_t j, const int *axes, int count) {
  const int64_t *a = sparse_index(x, i), *b = sparse_index(x, j);
  if (!axes) return sparse_compare(a, b, count);
  for (int k = 0; k < count; k++) {
    if (a[axes[k]] != b[axes[k]]) return a[axes[k]] < b[axes[k]] ? -1 : 1;
  }
  return 0;
}

enum { DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

/* Sorts positions by one axis, and keeps the order of equal ones: they are dealt out by each digit of the
 * number, from the lowest on. */
static void sort_by_axis(const SparseTensor *x, int axis, int64_t *order, int64_t *scratch) {
  const int64_t *numbers = tensor_i64(x->indices) + axis;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t i = 0; i < x->count; i++) {
    int64_t number = numbers[i * x->rank];
    low = number < low ? number : low;
    high = number > high ? number : high;
  }
  uint64_t range = (uint64_t)high - (uint64_t)low;
  for (int shift = 0; shift < 64 && range >> shift > 0; shift += DIGIT_BITS) {
    int64_t ends[DIGITS] = {0};
#define DIGIT_OF(i) (((uint64_t)numbers[(i)*x->rank] - (uint64_t)low) >> shift & (DIGITS - 1))
    for (int64_t i = 0; i < x->count; i++) ends[DIGIT_OF(i)]++;
    for (int d = 1; d < DIGITS; d++) ends[d] += ends[d - 1];
    for (int64_t i = x->count - 1; i >= 0; i--) scratch[--ends[DIGIT_OF(order[i])]] = order[i];
#undef DIGIT_OF
    memcpy(order, scratch, (size_t)x->count * sizeof *order);
  }
}

static bool is_sorted(const SparseTensor *x, const int *axes) {
  for (int64_t i = 1; i < x->count; i++) {
    if (compare_axes(x, i - 1, i, axes, x->rank) > 0) return false;
  }
  return true;
}

int64_t *sparse_sort(const SparseTensor *x, const int *axes, Status *status) {
  int64_t *order = mem_calloc(x->count, 2 * sizeof *order);
  if (!order) {
    status_oom(status, "the order of indices");
    return NULL;
  }
  for (int64_t i = 0; i < x->count; i++) order[i] = i;
  bool sorted = is_sorted(x, axes);
  for (int k = x->rank - 1; k >= 0 && !sorted; k--)
    sort_by_axis(x, axes ? axes[k] : k, order, order + x->count);
  return order;
}

int64_t sparse_run_end(const SparseTensor *x, const int64_t *order, int64_t begin, const int *axes,
                       int count) {
  int64_t end = begin + 1, first = order ? order[begin] : begin;
  while (end < x->count && compare_axes(x, first, order ? order[end] : end, axes, count) == 0) end++;
  return end;
}

/* --- outputs --- */

bool sparse_give_entries(KernelContext *context, int output, const SparseTensor *x, const int64_t *positions,
                         int64_t count, Status *status) {
  Tensor *indices, *values;
  TRY(kernel_allocate_output_dims(context, output, 2, (int64_t[]){count, x->rank}, &indices, status));
  TRY(kernel_allocate_output_dims(context, output + 1, 1, &count, &values, status));
  return array_gather_rows(x->indices, positions, count, x->rank, indices, context->parallel, status) &&
         array_gather_rows(x->values, positions, count, 1, values, context->parallel, status);
}

bool sparse_give_sizes(KernelContext *context, int output, const int64_t *sizes, int64_t rank,
                       Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, output, 1, &rank, &out, status));
  if (rank > 0) memcpy(out->data, sizes, (size_t)rank * sizeof *sizes);
  return true;
}

/* --- shapes --- */

bool sparse_shapes(InferenceContext *c, int first, Status *status) {
  ShapeHandle any;
  return shape_with_rank(c, shape_input(c, first), 2, &any, status) &&
         shape_with_rank(c, shape_input(c, first + 1), 1, &any, status) &&
         shape_with_rank(c, shape_input(c, first + 2), 1, &any, status);
}

bool sparse_set_shapes(InferenceContext *c, int output, DimHandle rows, DimHandle rank, Status *status) {
  ShapeHandle indices, values, sizes;
  if (!rows) TRY(dim_ok(dim_unknown(c), &rows, status));
  if (!rank) TRY(dim_ok(dim_unknown(c), &rank, status));
  TRY(shape_ok(shape_matrix(c, rows, rank), &indices, status));
  TRY(shape_ok(shape_vector(c, rows), &values, status));
  TRY(shape_ok(shape_vector(c, rank), &sizes, status));
  shape_set_output(c, output, indices);
  shape_set_output(c, output + 1, values);
  if (output + 2 < c->num_outputs) shape_set_output(c, output + 2, sizes);
  return true;
}
