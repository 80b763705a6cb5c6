/* QuantizedConcat: joins numbers of several ranges along an axis, as numbers of a range that covers all. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/quant_types.h"

/* The inputs: the axis, then `count` values, their minima and their maxima. */
typedef struct Joining {
  const Tensor *const *values, *const *mins, *const *maxes;
  int count, axis;
  int64_t rows, inner; /* products of the sizes before and after the axis */
} Joining;

static bool read_axis(const KernelContext *context, Joining *j, Status *status) {
  const Tensor *axis = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  j->count = (context->num_inputs - 1) / 3;
  j->values = context->inputs + 1;
  j->mins = j->values + j->count;
  j->maxes = j->mins + j->count;
  if (axis->shape.rank != 0) {
    return status_invalid(status, "Concat dim tensor should be a scalar integer, but got shape %s",
                          shape_text(&axis->shape, text));
  }
  j->axis = tensor_i32(axis)[0];
  int rank = j->values[0]->shape.rank;
  if (j->axis >= 0 && j->axis < rank) return true;
  return status_invalid(status,
                        "ConcatOp : Expected concatenating dimensions in the range [0, %d), but got %d", rank,
                        j->axis);
}

/* Computes the sizes of the result. */
static bool join_sizes(Joining *j, int64_t *dims, Status *status) {
  const Shape *first = &j->values[0]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int64_t total = 0;
  for (int i = 0; i < j->count; i++) {
    const Shape *shape = &j->values[i]->shape;
    if (shape->rank != first->rank) {
      return status_invalid(status,
                            "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] "
                            "= %s",
                            shape_text(first, a), i, shape_text(shape, b));
    }
    for (int d = 0; d < shape->rank; d++) {
      if (d == j->axis || shape_dim(shape, d) == shape_dim(first, d)) continue;
      return status_invalid(status,
                            "ConcatOp : Dimensions of inputs should match: shape[0] = %s vs. shape[%d] = %s",
                            shape_text(first, a), i, shape_text(shape, b));
    }
    if (__builtin_add_overflow(total, shape_dim(shape, j->axis), &total))
      return status_invalid(status, "ConcatOp : the sizes along dimension %d are too large", j->axis);
  }
  for (int d = 0; d < first->rank; d++) dims[d] = d == j->axis ? total : shape_dim(first, d);
  return true;
}

static bool check_ranges(const Joining *j, Status *status) {
  const Tensor *const *ranges[] = {j->mins, j->maxes};
  static const char *const names[] = {"input_mins", "input_maxes"};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < j->count; i++) {
      int64_t count = tensor_num_elements(ranges[k][i]);
      if (count == 1) continue;
      return status_invalid(status,
                            "%s each tensor's num elements must be 1, given num elements %" PRId64
                            " in index %d",
                            names[k], count, i);
    }
  }
  return true;
}

/* The range of the result; of signed numbers it is symmetric. */
static void cover(const Joining *j, DataType type, float *min, float *max) {
  *min = INFINITY, *max = -INFINITY;
  for (int i = 0; i < j->count; i++) {
    *min = fminf(*min, tensor_f32(j->mins[i])[0]);
    *max = fmaxf(*max, tensor_f32(j->maxes[i])[0]);
  }
  if (quant_type(type).lowest == 0) return;
  *max = fmaxf(fabsf(*min), fabsf(*max));
  *min = -*max;
}

/* Copies an input, whose range is number `range`, to the elements of each row of the result that begin at
 * `offset`. */
static void join(const Joining *j, const Tensor *x, int range, int64_t offset, float min, float max,
                 Tensor *out) {
  float from_min = tensor_f32(j->mins[range])[0], from_max = tensor_f32(j->maxes[range])[0];
  bool same = from_min == min && from_max == max;
  QuantMap map = quant_map(x->dtype, from_min, from_max, out->dtype, min, max);
  int64_t row = shape_dim(&x->shape, j->axis) * j->inner;
  int64_t stride = shape_dim(&out->shape, j->axis) * j->inner;
  int32_t numbers[QUANT_PIECE];
  for (int64_t r = 0; r < j->rows; r++) {
    for (int64_t k = 0; k < row; k += QUANT_PIECE) {
      int64_t n = quant_piece(row - k);
      quant_read(x, r * row + k, n, numbers);
      if (!same) quant_map_numbers(&map, n, numbers);
      quant_write(out, r * stride + offset + k, n, numbers);
    }
  }
}

/* As in TensorFlow, an input without elements does not use up a range. */
static void join_all(Joining *j, float min, float max, Tensor *out) {
  const Shape *shape = &out->shape;
  int64_t offset = 0;
  for (int d = 0; d < j->axis; d++) j->rows *= shape_dim(shape, d);
  for (int d = j->axis + 1; d < shape->rank; d++) j->inner *= shape_dim(shape, d);
  for (int i = 0, range = 0; i < j->count; i++) {
    const Tensor *x = j->values[i];
    if (tensor_num_elements(x) == 0) continue;
    join(j, x, range++, offset, min, max, out);
    offset += shape_dim(&x->shape, j->axis) * j->inner;
  }
}

static bool quantized_concat(KernelContext *context, Status *status) {
  Joining j = {.rows = 1, .inner = 1};
  int64_t dims[SHAPE_MAX_RANK];
  float min, max;
  Tensor *out;
  TRY(read_axis(context, &j, status));
  TRY(check_ranges(&j, status));
  TRY(join_sizes(&j, dims, status));
  TRY(kernel_allocate_output_dims(context, 0, j.values[0]->shape.rank, dims, &out, status));
  cover(&j, out->dtype, &min, &max);
  if (tensor_num_elements(out) > 0) join_all(&j, min, max, out);
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool quantized_concat_shape(InferenceContext *c, Status *status) {
  TRY(shape_concat(c, status));
  int begin, end;
  TRY(shape_input_range(c, "values", &begin, &end, status));
  return quant_scalar_shapes(c, end, c->num_inputs, status);
}

const OpRegistration kOpQuantizedConcat = {
    .name = "QuantizedConcat",
    .inputs = {"concat_dim: int32", "values: N * T", "input_mins: N * float", "input_maxes: N * float"},
    .outputs = {"output: T", "output_min: float", "output_max: float"},
    .attrs = {"N: int >= 2", "T: type"},
    .shape = quantized_concat_shape,
    .kernels = {{DT_QUINT8, quantized_concat}, {DT_QINT32, quantized_concat}},
};
