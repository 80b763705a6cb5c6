/* EditDistance: the Levenshtein distance between the sequences in the last axes of two sparse tensors. */
#include <math.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/element_order.h"
#include "ops/sparse/sparse_tensor.h"

typedef struct DistanceState {
  bool normalize;
} DistanceState;

static bool distance_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "normalize", &((DistanceState *)memory)->normalize, status);
}

/* --- checks --- */

static bool check_ranks(const Tensor *const *inputs, Status *status) {
  static const char *const kNames[] = {"hypothesis_indices", "truth_indices",    "hypothesis_values",
                                       "truth_values",       "hypothesis_shape", "truth_shape"};
  static const int kInputs[] = {0, 3, 1, 4, 2, 5};
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 6; i++) {
    const Shape *shape = &inputs[kInputs[i]]->shape;
    if (shape->rank != (i < 2 ? 2 : 1))
      return status_invalid(status, "%s should be a %s, but got shape: %s", kNames[i],
                            i < 2 ? "matrix" : "vector", shape_text(shape, text));
  }
  return true;
}

static bool check_agree(int64_t a, int64_t b, const Tensor *x, const Tensor *y, const char *words,
                        Status *status) {
  char first[SHAPE_TEXT_CAPACITY], second[SHAPE_TEXT_CAPACITY];
  return a == b || status_invalid(status, "Expected %s, their shapes are: %s and %s", words,
                                  shape_text(&x->shape, first), shape_text(&y->shape, second));
}

static bool check_distance(const Tensor *const *inputs, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  TRY(check_ranks(inputs, status));
  int64_t hypothesis = tensor_num_elements(inputs[2]), truth = tensor_num_elements(inputs[5]);
  TRY(check_agree(hypothesis, shape_dim(&inputs[0]->shape, 1), inputs[2], inputs[0],
                  "hypothesis_shape.NumElements == #cols(hypothesis_indices)", status));
  if (truth < 2)
    return status_invalid(status,
                          "Input SparseTensors must have rank at least 2, but truth_shape rank is: %lld",
                          (long long)truth);
  TRY(check_agree(truth, shape_dim(&inputs[3]->shape, 1), inputs[5], inputs[3],
                  "truth_shape.NumElements == #cols(truth_indices)", status));
  if (truth != hypothesis)
    return status_invalid(status,
                          "Expected truth and hypothesis to have matching ranks, but their shapes are: %s "
                          "and %s",
                          shape_text(&inputs[5]->shape, a), shape_text(&inputs[2]->shape, b));
  TRY(check_agree(tensor_num_elements(inputs[1]), shape_dim(&inputs[0]->shape, 0), inputs[1], inputs[0],
                  "hypothesis_values.NumElements == #rows(hypothesis_indices)", status));
  return check_agree(tensor_num_elements(inputs[4]), shape_dim(&inputs[3]->shape, 0), inputs[4], inputs[3],
                     "truth_values.NumElements == #rows(truth_indices)", status);
}

/* The sizes must be those of tensors, as TensorFlow checks them here. */
static bool open_input(const Tensor *const *inputs, SparseTensor *x, Status *status) {
  Shape shape = {0};
  int64_t rank = tensor_num_elements(inputs[2]);
  if (rank > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  TRY(shape_set(&shape, (int)rank, tensor_i64(inputs[2]), status));
  shape_clear(&shape);
  return sparse_open(inputs, x, status);
}

/* --- distances --- */

/* Between entries [a, a_end) and [b, b_end). `row` has room for the latter, and one. */
static int64_t distance(const Tensor *x, int64_t a, int64_t a_end, const Tensor *y, int64_t b, int64_t b_end,
                        int64_t *row) {
  int64_t width = b_end - b;
  for (int64_t k = 0; k <= width; k++) row[k] = k;
  for (int64_t i = a; i < a_end; i++) {
    int64_t diagonal = row[0];
    row[0] = i - a + 1;
    for (int64_t k = 1; k <= width; k++) {
      int64_t change = diagonal + !equal_elements(x, i, y, b + k - 1);
      int64_t step = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
      diagonal = row[k];
      row[k] = change < step ? change : step;
    }
  }
  return row[width];
}

/* The element of the result for a row of entries. */
static bool element_of(const int64_t *index, const Tensor *out, int64_t *at, Status *status) {
  uint64_t sum = 0; /* wraps around for indices that are outside */
  for (int d = 0; d < out->shape.rank; d++)
    sum = sum * (uint64_t)shape_dim(&out->shape, d) + (uint64_t)index[d];
  *at = (int64_t)sum;
  return (*at >= 0 && *at < tensor_num_elements(out)) ||
         status_set(status, CODE_INTERNAL,
                    "Got an inner product %lld which would require writing to outside of the buffer for the "
                    "output tensor (max elements %lld)",
                    (long long)*at, (long long)tensor_num_elements(out));
}

/* A row that only one of them has: the whole sequence is inserted or deleted. */
static float alone(bool is_truth, int64_t length, bool normalize) {
  if (!normalize) return (float)length;
  return is_truth ? 1.0F : INFINITY;
}

static bool compute(const SparseTensor *hypothesis, const SparseTensor *truth, bool normalize, int64_t *row,
                    Tensor *out, Status *status) {
  int rank = hypothesis->rank - 1;
  for (int64_t h = 0, t = 0; h < hypothesis->count || t < truth->count;) {
    const int64_t *a = h < hypothesis->count ? sparse_index(hypothesis, h) : NULL;
    const int64_t *b = t < truth->count ? sparse_index(truth, t) : NULL;
    int order = !a ? 1 : !b ? -1 : sparse_compare(a, b, rank);
    int64_t h_end = order <= 0 ? sparse_run_end(hypothesis, NULL, h, NULL, rank) : h;
    int64_t t_end = order >= 0 ? sparse_run_end(truth, NULL, t, NULL, rank) : t, at = 0;
    TRY(element_of(order <= 0 ? a : b, out, &at, status));
    float *result = &tensor_f32(out)[at];
    if (order == 0) {
      *result = (float)distance(truth->values, t, t_end, hypothesis->values, h, h_end, row);
      if (normalize) *result /= (float)(t_end - t);
    } else {
      *result = alone(order > 0, h_end - h + t_end - t, normalize);
    }
    h = h_end;
    t = t_end;
  }
  return true;
}

static bool edit_distance(KernelContext *context, Status *status) {
  SparseTensor hypothesis, truth;
  int64_t dims[SHAPE_MAX_RANK];
  Tensor *out;
  TRY(check_distance(context->inputs, status));
  TRY(open_input(context->inputs, &hypothesis, status));
  TRY(open_input(context->inputs + 3, &truth, status));
  for (int d = 0; d < truth.rank - 1; d++) {
    int64_t a = tensor_i64(hypothesis.sizes)[d], b = tensor_i64(truth.sizes)[d];
    dims[d] = a > b ? a : b;
  }
  TRY(kernel_allocate_output_dims(context, 0, truth.rank - 1, dims, &out, status));
  array_clear(out);
  int64_t *row = mem_calloc(hypothesis.count + 1, sizeof *row);
  if (!row) return status_oom(status, "a row of distances");
  bool ok =
      compute(&hypothesis, &truth, ((const DistanceState *)context->state)->normalize, row, out, status);
  mem_free(row);
  return ok;
}

static bool distance_shape(InferenceContext *c, Status *status) {
  const Tensor *hypothesis = shape_input_tensor(c, 2), *truth = shape_input_tensor(c, 5);
  ShapeHandle out;
  TRY(sparse_shapes(c, 0, status));
  TRY(sparse_shapes(c, 3, status));
  if (!hypothesis || !truth || tensor_num_elements(hypothesis) != tensor_num_elements(truth) ||
      tensor_num_elements(truth) < 1 || tensor_num_elements(truth) > SHAPE_MAX_RANK)
    return shape_unknown_outputs(c, status);
  DimHandle dims[SHAPE_MAX_RANK];
  int32_t rank = (int32_t)tensor_num_elements(truth) - 1;
  for (int32_t d = 0; d < rank; d++) {
    int64_t a = tensor_i64(hypothesis)[d], b = tensor_i64(truth)[d];
    if (a < 0 && b < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)b);
    TRY(dim_ok(dim_make(c, a > b ? a : b), &dims[d], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, rank), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpEditDistance = {
    .name = "EditDistance",
    .inputs = {"hypothesis_indices: int64", "hypothesis_values: T", "hypothesis_shape: int64",
               "truth_indices: int64", "truth_values: T", "truth_shape: int64"},
    .outputs = {"output: float"},
    .attrs = {"normalize: bool = true", "T: type"},
    .shape = distance_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DistanceState),
    .construct = distance_construct,
    .kernels = {NUMBER_KERNELS(edit_distance), {DT_BOOL, edit_distance}, {DT_STRING, edit_distance}},
};
