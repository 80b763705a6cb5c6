/* Adding to accumulators: the sums of gradients, and of their rows. */
#include <string.h>

#include "ops/lists/accumulator.h"
#include "ops/lists/tensor_list.h"
#include "ops/support/half_precision.h"
#include "ops/support/number_sum.h"

/* --- tensors; the mutex is held --- */

static bool refuse_shape(int rank, const int64_t *dims, const Shape *got, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  StrBuf want = {0};
  element_shape_print(rank, dims, &want);
  if (strbuf_ok(&want, status)) {
    status_invalid(status, "Shape mismatch: expected %s, got %s", strbuf_text(&want), shape_text(got, text));
  }
  strbuf_free(&want);
  return false;
}

static bool check_gradient(const Accumulator *accumulator, const Shape *got, Status *status) {
  const AccumulatorSpec *spec = &accumulator->spec;
  const Shape *sum = &accumulator->sum.shape;
  char want[SHAPE_TEXT_CAPACITY], text[SHAPE_TEXT_CAPACITY];
  if (accumulator->count > 0 && !shape_equal(sum, got)) {
    return status_invalid(status, "Shape mismatch: expected %s, got %s", shape_text(sum, want),
                          shape_text(got, text));
  }
  bool fits = spec->rank < 0 || spec->rank == got->rank;
  for (int d = 0; fits && d < spec->rank; d++) fits = spec->dims[d] < 0 || spec->dims[d] == shape_dim(got, d);
  return fits || refuse_shape(spec->rank, spec->dims, got, status);
}

static bool add_gradient(Accumulator *accumulator, KernelContext *context, const Tensor *gradient,
                         Status *status) {
  Tensor total = {0};
  TRY(check_gradient(accumulator, &gradient->shape, status));
  if (accumulator->count == 0) return tensor_assign(&accumulator->sum, gradient, status);
  const Tensor *terms[] = {&accumulator->sum, gradient};
  bool ok = tensor_allocate(&total, gradient->dtype, &gradient->shape, NULL, status) &&
            number_sum(terms, 2, &total, context->parallel, status);
  if (ok) {
    tensor_clear(&accumulator->sum);
    tensor_move(&accumulator->sum, &total);
  }
  tensor_clear(&total);
  return ok;
}

/* --- rows; the mutex is held --- */

static bool refuse_dim(const char *what, int64_t i, int64_t want, int64_t got, Status *status) {
  return status_invalid(status, "Shape mismatch: expected %s dim %lld to be %lld, got %lld", what,
                        (long long)i, (long long)want, (long long)got);
}

static bool check_stated_shape(const AccumulatorSpec *spec, const Tensor *shape, Status *status) {
  int64_t rank = tensor_num_elements(shape);
  if (spec->rank > rank) {
    return status_invalid(status, "Shape mismatch: expected shape rank at least %d, got %lld", spec->rank,
                          (long long)rank);
  }
  for (int d = 0; d < spec->rank; d++) {
    if (spec->dims[d] != -1 && spec->dims[d] != tensor_i64(shape)[d])
      return refuse_dim("shape", d, spec->dims[d], tensor_i64(shape)[d], status);
  }
  return true;
}

static bool check_indices(const AccumulatorSpec *spec, const Tensor *indices, Status *status) {
  bool limited = spec->rank > 0 && spec->dims[0] != -1;
  for (int64_t i = 0, count = tensor_num_elements(indices); limited && i < count; i++) {
    int64_t index = tensor_i64(indices)[i];
    if (index < spec->dims[0]) continue;
    return status_invalid(status,
                          "Shape mismatch: index of slice %lld exceeded limits of shape; index is %lld "
                          "exceeded %lld",
                          (long long)i, (long long)index, (long long)spec->dims[0]);
  }
  return true;
}

/* Compares the values with those so far, or else with the declared shape. */
static bool check_values(const Accumulator *accumulator, const Shape *got, Status *status) {
  const AccumulatorSpec *spec = &accumulator->spec;
  const Shape *sum = &accumulator->sum.shape;
  bool begun = accumulator->count > 0;
  if (begun && sum->rank != got->rank) {
    return status_invalid(status, "Shape mismatch: expected values rank %d, got %d", sum->rank, got->rank);
  }
  if (!begun && spec->rank > got->rank) {
    return status_invalid(status, "Shape mismatch: expected values rank at least %d, got %d", spec->rank,
                          got->rank);
  }
  for (int d = 1; d < (begun ? sum->rank : spec->rank); d++) {
    int64_t want = begun ? shape_dim(sum, d) : spec->dims[d];
    if (want != -1 && want != shape_dim(got, d))
      return refuse_dim("values", d, want, shape_dim(got, d), status);
  }
  return true;
}

static bool check_rows(const Accumulator *accumulator, const GradientRows *rows, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(rows->indices)) {
    return status_invalid(status, "Input indices should be vector but received shape: %s",
                          shape_text(&rows->indices->shape, text));
  }
  if (rows->values->shape.rank == 0) return status_invalid(status, "Values cannot be 0-dimensional.");
  int64_t count = tensor_num_elements(rows->indices), found = shape_dim(&rows->values->shape, 0);
  if (count != found) {
    return status_invalid(status, "Expected %lld non-empty input values, got %lld", (long long)count,
                          (long long)found);
  }
  if (rows->shape) TRY(check_stated_shape(&accumulator->spec, rows->shape, status));
  return check_indices(&accumulator->spec, rows->indices, status) &&
         check_values(accumulator, &rows->values->shape, status);
}

/* The rows of two gradients in one. */
typedef struct MergedRows {
  Tensor values, indices, counts;
} MergedRows;

/* The number of different rows when both are merged. */
static int64_t count_merged(const Tensor *a, const Tensor *b) {
  int64_t rows_a = tensor_num_elements(a), rows_b = tensor_num_elements(b), count = 0;
  for (int64_t i = 0, j = 0; i < rows_a || j < rows_b; count++) {
    bool from_a = j >= rows_b || (i < rows_a && tensor_i64(a)[i] <= tensor_i64(b)[j]);
    bool from_b = i >= rows_a || (j < rows_b && tensor_i64(b)[j] <= tensor_i64(a)[i]);
    i += from_a;
    j += from_b;
  }
  return count;
}

static bool allocate_merged(const GradientRows *rows, int64_t count, MergedRows *merged, Status *status) {
  const Shape *shape = &rows->values->shape;
  int64_t dims[SHAPE_MAX_RANK] = {count};
  for (int d = 1; d < shape->rank; d++) dims[d] = shape_dim(shape, d);
  return tensor_allocate_dims(&merged->values, rows->values->dtype, shape->rank, dims, NULL, status) &&
         tensor_allocate_dims(&merged->indices, DT_INT64, 1, &count, NULL, status) &&
         tensor_allocate_dims(&merged->counts, DT_INT32, 1, &count, NULL, status);
}

/* to[i] = a[i] + b[i]. */
static void add(DataType type, const void *a, const void *b, void *to, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (type == DT_DOUBLE) {
      ((double *)to)[i] = ((const double *)a)[i] + ((const double *)b)[i];
    } else if (type == DT_FLOAT) {
      ((float *)to)[i] = ((const float *)a)[i] + ((const float *)b)[i];
    } else {
      float terms[2];
      half_precision_widen(type, (const uint16_t *)a + i, &terms[0], 1);
      half_precision_widen(type, (const uint16_t *)b + i, &terms[1], 1);
      terms[0] += terms[1];
      half_precision_narrow(type, terms, (uint16_t *)to + i, 1);
    }
  }
}

/* Both are in order of their indices; rows that they share are added. */
static void merge(const Accumulator *accumulator, const GradientRows *rows, MergedRows *merged) {
  const Tensor *a = &accumulator->indices, *b = rows->indices;
  int64_t rows_a = tensor_num_elements(a), rows_b = tensor_num_elements(b),
          count = tensor_num_elements(&merged->indices);
  int64_t size = count == 0 ? 0 : tensor_num_elements(&merged->values) / count;
  size_t bytes = (size_t)size * dtype_size(merged->values.dtype);
  for (int64_t i = 0, j = 0, to = 0; to < count; to++) {
    bool from_a = j >= rows_b || (i < rows_a && tensor_i64(a)[i] <= tensor_i64(b)[j]);
    bool from_b = i >= rows_a || (j < rows_b && tensor_i64(b)[j] <= tensor_i64(a)[i]);
    const char *in_a = (const char *)accumulator->sum.data + (size_t)i * bytes;
    const char *in_b = (const char *)rows->values->data + (size_t)j * bytes;
    char *out = (char *)merged->values.data + (size_t)to * bytes;
    tensor_i64(&merged->indices)[to] = from_a ? tensor_i64(a)[i] : tensor_i64(b)[j];
    tensor_i32(&merged->counts)[to] = (from_a ? tensor_i32(&accumulator->counts)[i] : 0) + from_b;
    if (from_a && from_b) add(merged->values.dtype, in_a, in_b, out, size);
    else if (bytes > 0) memcpy(out, from_a ? in_a : in_b, bytes);
    i += from_a;
    j += from_b;
  }
}

static void merged_clear(MergedRows *merged) {
  tensor_clear(&merged->values);
  tensor_clear(&merged->indices);
  tensor_clear(&merged->counts);
}

/* The first rows are kept as they are, in any order. */
static bool first_rows(const GradientRows *rows, MergedRows *merged, Status *status) {
  int64_t count = tensor_num_elements(rows->indices);
  TRY(tensor_assign(&merged->values, rows->values, status));
  TRY(tensor_assign(&merged->indices, rows->indices, status));
  TRY(tensor_allocate_dims(&merged->counts, DT_INT32, 1, &count, NULL, status));
  for (int64_t i = 0; i < count; i++) tensor_i32(&merged->counts)[i] = 1;
  return true;
}

static bool add_rows(Accumulator *accumulator, const GradientRows *rows, Status *status) {
  MergedRows merged = {0};
  TRY(check_rows(accumulator, rows, status));
  bool begun = accumulator->count > 0, ok;
  if (begun) {
    ok = allocate_merged(rows, count_merged(&accumulator->indices, rows->indices), &merged, status);
    if (ok) merge(accumulator, rows, &merged);
  } else {
    ok = first_rows(rows, &merged, status);
  }
  if (ok) {
    tensor_clear(&accumulator->sum);
    tensor_clear(&accumulator->indices);
    tensor_clear(&accumulator->counts);
    tensor_move(&accumulator->sum, &merged.values);
    tensor_move(&accumulator->indices, &merged.indices);
    tensor_move(&accumulator->counts, &merged.counts);
  }
  merged_clear(&merged);
  return ok;
}

/* --- for kernels --- */

/* After a gradient was added, or not. */
static bool finish(Accumulator *accumulator, bool added, bool ok) {
  accumulator->count += added && ok;
  accumulator_advance(accumulator);
  mutex_unlock(&accumulator->mutex);
  return ok;
}

bool accumulator_add(Accumulator *accumulator, KernelContext *context, int64_t step, const Tensor *gradient,
                     Status *status) {
  mutex_lock(&accumulator->mutex);
  bool wanted = step >= accumulator->step;
  return finish(accumulator, wanted, !wanted || add_gradient(accumulator, context, gradient, status));
}

bool accumulator_add_rows(Accumulator *accumulator, int64_t step, const GradientRows *rows, Status *status) {
  mutex_lock(&accumulator->mutex);
  bool wanted = step >= accumulator->step;
  return finish(accumulator, wanted, !wanted || add_rows(accumulator, rows, status));
}
