/* Diagonals: Diag and DiagPart, whose diagonal may have several axes, and MatrixDiag, MatrixDiagPart,
 * MatrixSetDiag and MatrixBandPart, for batches of matrices. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

/* Copies `count` times `length` elements with the given strides. */
static bool copy_diagonals(const KernelContext *context, const Tensor *from, int64_t from_batch,
                           int64_t from_step, Tensor *to, int64_t to_batch, int64_t to_step, int64_t count,
                           int64_t length, Status *status) {
  ArrayBox box = {0};
  array_box_add(&box, count, from_batch, to_batch);
  array_box_add(&box, length, from_step, to_step);
  return array_box_copy(&box, from, to, context->parallel, status);
}

/* --- Diag and DiagPart --- */

static bool diag_kernel(KernelContext *context, Status *status) {
  const Tensor *diagonal = context->inputs[0];
  int64_t dims[2 * SHAPE_MAX_RANK];
  int rank = diagonal->shape.rank;
  if (rank < 1) return status_invalid(status, "Input must be at least rank 1, got 0");
  if (2 * rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int d = 0; d < rank; d++) dims[d] = dims[rank + d] = shape_dim(&diagonal->shape, d);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 2 * rank, dims, &out, status));
  array_clear(out);
  int64_t size = tensor_num_elements(diagonal);
  return copy_diagonals(context, diagonal, 0, 1, out, 0, size + 1, 1, size, status);
}

static bool diag_part_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (rank % 2 != 0) {
    return status_invalid(status, "The rank of the tensor should be even and positive, got shape %s",
                          shape_text(&input->shape, text));
  }
  for (int d = 0; d < rank / 2; d++) {
    if (shape_dim(&input->shape, d) == shape_dim(&input->shape, rank / 2 + d)) continue;
    return status_invalid(status, "Invalid shape %s: dimensions %d and %d do not match.",
                          shape_text(&input->shape, text), d, rank / 2 + d);
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank / 2, shape_dims(&input->shape), &out, status));
  int64_t size = tensor_num_elements(out);
  return copy_diagonals(context, input, 0, size + 1, out, 0, 1, 1, size, status);
}

static bool diag_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), output;
  TRY(shape_with_rank_at_least(c, input, 1, &input, status));
  TRY(shape_concatenate(c, input, input, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool diag_part_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), output;
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(input), half = rank / 2;
  if (rank % 2 != 0 || rank == 0) {
    return status_invalid(status, "Input must have even and non-zero rank, input rank is %d", rank);
  }
  DimHandle *dims = arena_alloc(c->arena, (half + 1) * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  for (int32_t d = 0; d < half; d++) {
    TRY(dim_merge(c, shape_dim_of(c, input, d), shape_dim_of(c, input, d + half), &dims[d], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, half), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpDiag = {
    .name = "Diag",
    .inputs = {"diagonal: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"},
    .shape = diag_shape,
    .gradient =
        "DiagGradient[T:type](diagonal:T, dy:T) -> (ddiagonal:T) {\n"
        "  d = DiagPart[T=$T](dy)\n"
        "  return ddiagonal = d:diagonal:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(diag_kernel), INT_KERNELS(diag_kernel), COMPLEX_KERNELS(diag_kernel)},
};

const OpRegistration kOpDiagPart = {
    .name = "DiagPart",
    .inputs = {"input: T"},
    .outputs = {"diagonal: T"},
    .attrs = {"T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"},
    .shape = diag_part_shape,
    .gradient =
        "DiagPartGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  d = Diag[T=$T](dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(diag_part_kernel), INT_KERNELS(diag_part_kernel),
                COMPLEX_KERNELS(diag_part_kernel)},
};

/* --- batches of matrices --- */

typedef struct Matrices {
  int64_t count, rows, columns, diagonal; /* the length of the main diagonal */
} Matrices;

static bool read_matrices(const Tensor *input, Matrices *m, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (rank < 2) {
    return status_invalid(status, "input must be at least 2-dim, received shape: %s",
                          shape_text(&input->shape, text));
  }
  m->rows = shape_dim(&input->shape, rank - 2);
  m->columns = shape_dim(&input->shape, rank - 1);
  m->diagonal = m->rows < m->columns ? m->rows : m->columns;
  m->count = tensor_num_elements(input) == 0 ? 0 : tensor_num_elements(input) / (m->rows * m->columns);
  return true;
}

static bool matrix_diag_kernel(KernelContext *context, Status *status) {
  const Tensor *diagonal = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t dims[SHAPE_MAX_RANK];
  int rank = diagonal->shape.rank;
  if (rank < 1) {
    return status_invalid(status, "diagonal must be at least 1-dim, received shape: %s",
                          shape_text(&diagonal->shape, text));
  }
  if (rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int d = 0; d < rank; d++) dims[d] = shape_dim(&diagonal->shape, d);
  int64_t size = dims[rank] = dims[rank - 1];
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank + 1, dims, &out, status));
  array_clear(out);
  if (tensor_num_elements(out) == 0) return true;
  return copy_diagonals(context, diagonal, size, 1, out, size * size, size + 1,
                        tensor_num_elements(diagonal) / size, size, status);
}

static bool matrix_diag_part_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t dims[SHAPE_MAX_RANK];
  Matrices m;
  TRY(read_matrices(input, &m, status));
  int rank = input->shape.rank;
  for (int d = 0; d < rank - 2; d++) dims[d] = shape_dim(&input->shape, d);
  dims[rank - 2] = m.diagonal;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank - 1, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  return copy_diagonals(context, input, m.rows * m.columns, m.columns + 1, out, m.diagonal, 1, m.count,
                        m.diagonal, status);
}

/* Output 0 as a copy of the input, for modification. */
static bool copy_input(KernelContext *context, Tensor **out, Status *status) {
  const Tensor *input = context->inputs[0];
  TRY(kernel_forward_or_allocate(context, 0, 0, &input->shape, out, status));
  if ((*out)->data == input->data || tensor_num_elements(input) == 0) return true;
  ArrayBox box = {0};
  array_box_add(&box, tensor_num_elements(input), 1, 1);
  return array_box_copy(&box, input, *out, context->parallel, status);
}

static bool matrix_set_diag_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *diagonal = context->inputs[1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Matrices m;
  TRY(read_matrices(input, &m, status));
  int rank = input->shape.rank;
  if (diagonal->shape.rank < 1) {
    return status_invalid(status, "diagonal must be at least 1-dim, received shape: %s",
                          shape_text(&diagonal->shape, b));
  }
  bool fits = diagonal->shape.rank == rank - 1 && shape_dim(&diagonal->shape, rank - 2) == m.diagonal;
  for (int d = 0; fits && d < rank - 2; d++)
    fits = shape_dim(&diagonal->shape, d) == shape_dim(&input->shape, d);
  if (!fits) {
    return status_invalid(status,
                          "must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but "
                          "received input shape: "
                          "%s and diagonal shape: %s",
                          shape_text(&input->shape, a), shape_text(&diagonal->shape, b));
  }
  Tensor *out;
  TRY(copy_input(context, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  return copy_diagonals(context, diagonal, m.diagonal, 1, out, m.rows * m.columns, m.columns + 1, m.count,
                        m.diagonal, status);
}

static bool read_width(const Tensor *width, const char *name, int64_t limit, const char *what, int64_t *value,
                       Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(width)) {
    return status_invalid(status, "%s must be scalar, got shape %s", name, shape_text(&width->shape, text));
  }
  *value = tensor_int_at(width, 0);
  if (*value > limit) {
    return status_invalid(status, "%s must be negative or less or equal to number of %s (%lld) got: %lld",
                          name, what, (long long)limit, (long long)*value);
  }
  if (*value < 0) *value = limit;
  return true;
}

typedef struct BandJob {
  Matrices m;
  int64_t lower, upper, size; /* size: of an element, in bytes */
  const char *in;
  char *out;
} BandJob;

static void copy_band(void *arg, int64_t begin, int64_t end) {
  const BandJob *job = arg;
  int64_t columns = job->m.columns;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = i % job->m.rows, from = row - job->lower,
            to = row < columns - job->upper ? row + job->upper + 1 : columns;
    if (from < 0) from = 0;
    if (from > columns) from = columns;
    if (to < from) to = from;
    char *out = job->out + i * columns * job->size;
    memset(out, 0, (size_t)(from * job->size));
    memset(out + to * job->size, 0, (size_t)((columns - to) * job->size));
    if (job->in != job->out)
      memcpy(out + from * job->size, job->in + (i * columns + from) * job->size,
             (size_t)((to - from) * job->size));
  }
}

static bool matrix_band_part_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  BandJob job = {.size = (int64_t)dtype_size(input->dtype)};
  TRY(read_matrices(input, &job.m, status));
  TRY(read_width(context->inputs[1], "num_lower", job.m.rows, "rows", &job.lower, status));
  TRY(read_width(context->inputs[2], "num_upper", job.m.columns, "columns", &job.upper, status));
  if (tensor_num_elements(input) == 0) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &input->shape, &out, status));
  job.in = input->data;
  job.out = out->data;
  parallel_work(context->parallel, job.m.count * job.m.rows, (double)job.m.columns, copy_band, &job);
  return true;
}

static bool matrix_diag_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, last, output;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &input, status));
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, input, -1)), &last, status));
  TRY(shape_concatenate(c, input, last, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool matrix_diag_part_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, outer, last, output;
  DimHandle length;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &input, status));
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  TRY(dim_min(c, shape_dim_of(c, input, -2), shape_dim_of(c, input, -1), &length, status));
  TRY(shape_subshape(c, input, 0, -2, 1, &outer, status));
  TRY(shape_ok(shape_vector(c, length), &last, status));
  TRY(shape_concatenate(c, outer, last, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool matrix_set_diag_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, diagonal, outer, last, wanted;
  DimHandle length;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &input, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &diagonal, status));
  shape_set_output(c, 0, input);
  if (!shape_rank_known(input)) {
    if (!shape_rank_known(diagonal)) return true;
    TRY(shape_subshape(c, diagonal, 0, -1, 1, &outer, status));
    TRY(shape_ok(shape_unknown_of_rank(c, 2), &last, status));
    TRY(shape_concatenate(c, outer, last, &wanted, status));
    shape_set_output(c, 0, wanted);
    return true;
  }
  TRY(dim_min(c, shape_dim_of(c, input, -2), shape_dim_of(c, input, -1), &length, status));
  TRY(shape_subshape(c, input, 0, -2, 1, &outer, status));
  TRY(shape_ok(shape_vector(c, length), &last, status));
  TRY(shape_concatenate(c, outer, last, &wanted, status));
  return shape_merge(c, wanted, diagonal, &wanted, status);
}

const OpRegistration kOpMatrixDiag = {
    .name = "MatrixDiag",
    .inputs = {"diagonal: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = matrix_diag_shape,
    .gradient =
        "MatrixDiagGradient[T:type](diagonal:T, dy:T) -> (ddiagonal:T) {\n"
        "  d = MatrixDiagPart[T=$T](dy)\n"
        "  return ddiagonal = d:diagonal:0\n"
        "}\n",
    .kernels = {{DT_INVALID, matrix_diag_kernel}},
};

/* The matrix may not be square: builds zeros of its shape, with dy as diagonal. */
const OpRegistration kOpMatrixDiagPart = {
    .name = "MatrixDiagPart",
    .inputs = {"input: T"},
    .outputs = {"diagonal: T"},
    .attrs = {"T: type"},
    .shape = matrix_diag_part_shape,
    .gradient =
        "MatrixDiagPartGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  zeros = ZerosLike[T=$T](input)\n"
        "  d = MatrixSetDiag[T=$T](zeros:y:0, dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, matrix_diag_part_kernel}},
};

const OpRegistration kOpMatrixSetDiag = {
    .name = "MatrixSetDiag",
    .inputs = {"input: T", "diagonal: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = matrix_set_diag_shape,
    .gradient =
        "MatrixSetDiagGradient[T:type](input:T, diagonal:T, dy:T) -> (dinput:T, ddiagonal:T) {\n"
        "  ddiagonal = MatrixDiagPart[T=$T](dy)\n"
        "  zeros = ZerosLike[T=$T](diagonal)\n"
        "  dinput = MatrixSetDiag[T=$T](dy, zeros:y:0)\n"
        "  return dinput = dinput:output:0, ddiagonal = ddiagonal:diagonal:0\n"
        "}\n",
    .kernels = {{DT_INVALID, matrix_set_diag_kernel}},
};

const OpRegistration kOpMatrixBandPart = {
    .name = "MatrixBandPart",
    .inputs = {"input: T", "num_lower: Tindex", "num_upper: Tindex"},
    .outputs = {"band: T"},
    .attrs = {"T: type", "Tindex: {int32, int64} = DT_INT64"},
    .shape = shape_unchanged,
    .gradient =
        "MatrixBandPartGradient[T:type, Tindex:{int32, int64}](input:T, num_lower:Tindex, num_upper:Tindex, "
        "dy:T)"
        " -> (dinput:T, dlower:Tindex, dupper:Tindex) {\n"
        "  dlower = ZerosLike[T=$Tindex](num_lower)\n"
        "  dupper = ZerosLike[T=$Tindex](num_upper)\n"
        "  d = MatrixBandPart[T=$T, Tindex=$Tindex](dy, num_lower, num_upper)\n"
        "  return dinput = d:band:0, dlower = dlower:y:0, dupper = dupper:y:0\n"
        "}\n",
    .kernels = {NUMBER_KERNELS(matrix_band_part_kernel), {DT_BOOL, matrix_band_part_kernel}},
};

/* --- names of older graphs --- */

const OpRegistration kOpBatchMatrixDiag = {
    .name = "BatchMatrixDiag",
    .inputs = {"diagonal: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .deprecated_version = 14,
    .deprecation_explanation = "Use MatrixDiag",
    .shape = matrix_diag_shape,
    .kernels = {{DT_INVALID, matrix_diag_kernel}},
};

const OpRegistration kOpBatchMatrixDiagPart = {
    .name = "BatchMatrixDiagPart",
    .inputs = {"input: T"},
    .outputs = {"diagonal: T"},
    .attrs = {"T: type"},
    .deprecated_version = 14,
    .deprecation_explanation = "Use MatrixDiagPart",
    .shape = matrix_diag_part_shape,
    .kernels = {{DT_INVALID, matrix_diag_part_kernel}},
};

const OpRegistration kOpBatchMatrixSetDiag = {
    .name = "BatchMatrixSetDiag",
    .inputs = {"input: T", "diagonal: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .deprecated_version = 14,
    .deprecation_explanation = "Use MatrixSetDiag",
    .shape = matrix_set_diag_shape,
    .kernels = {{DT_INVALID, matrix_set_diag_kernel}},
};

const OpRegistration kOpBatchMatrixBandPart = {
    .name = "BatchMatrixBandPart",
    .inputs = {"input: T", "num_lower: int64", "num_upper: int64"},
    .outputs = {"band: T"},
    .attrs = {"T: type"},
    .deprecated_version = 14,
    .deprecation_explanation = "Use MatrixBandPart",
    .shape = shape_unchanged,
    .kernels = {NUMBER_KERNELS(matrix_band_part_kernel), {DT_BOOL, matrix_band_part_kernel}},
};
