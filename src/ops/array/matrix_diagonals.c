/* MatrixDiag, MatrixDiagPart and MatrixSetDiag in versions 2 and 3: bands of diagonals of matrices.
 *
 * The band [k0, k1] is a matrix with one row for each diagonal, from the uppermost, k1, to the lowest, k0. A
 * shorter diagonal is padded on one side: version 2 has it on the left, version 3 where attr `align` says,
 * for diagonals above and below the main one. A band of one diagonal is a vector.
 */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

typedef struct BandState {
  bool upper_right,
      lower_right; /* whether diagonals above (and the main one) and below it end at the right */
} BandState;

static bool band_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BandState *state = memory;
  Str align;
  if (!node_def_attr(construction->node, "align")) return true;
  TRY(node_attr_string(construction->node, "align", &align, status));
  state->upper_right = align.length > 0 && align.data[0] == 'R';
  state->lower_right = str_equal_text(align, "LEFT_RIGHT") || str_equal_text(align, "RIGHT_RIGHT");
  return true;
}

/* A batch of matrices and their bands. */
typedef struct Band {
  int64_t count, rows, columns; /* of the matrices */
  int64_t k0, k1, width;        /* width: the length of the longest diagonal */
  BandState align;
} Band;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t diagonal_length(const Band *b, int64_t k) {
  return smaller(b->rows + smaller(k, 0), b->columns - larger(k, 0));
}

static bool read_band(const Tensor *k, Band *band, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t count = tensor_num_elements(k);
  if (k->shape.rank > 1) {
    return status_invalid(status, "diag_index must be a scalar or vector, received shape: %s",
                          shape_text(&k->shape, text));
  }
  if (count < 1 || count > 2) {
    return status_invalid(status, "diag_index must have only one or two elements, received %lld elements.",
                          (long long)count);
  }
  band->k0 = tensor_int_at(k, 0);
  band->k1 = tensor_int_at(k, count - 1);
  return band->k0 <= band->k1 ||
         status_invalid(status, "lower_diag_index must not be larger than upper_diag_index: %lld > %lld",
                        (long long)band->k0, (long long)band->k1);
}

/* `stop`: what ends the sentence in TensorFlow's message. */
static bool check_index(const char *name, const char *stop, int64_t k, const Band *b, Status *status) {
  if ((-b->rows < k && k < b->columns) || k == 0) return true;
  return status_invalid(status, "%s is out of bound: %lld%s It must be between %lld and %lld", name,
                        (long long)k, stop, (long long)-b->rows, (long long)b->columns);
}

static bool read_matrices(const Tensor *matrices, const char *stop, Band *b, Status *status) {
  int rank = matrices->shape.rank;
  char text[SHAPE_TEXT_CAPACITY];
  if (rank < 2) {
    return status_invalid(status, "input must be at least 2-dim, received shape: %s",
                          shape_text(&matrices->shape, text));
  }
  b->rows = shape_dim(&matrices->shape, rank - 2);
  b->columns = shape_dim(&matrices->shape, rank - 1);
  b->count = tensor_num_elements(matrices) == 0 ? 0 : tensor_num_elements(matrices) / (b->rows * b->columns);
  TRY(check_index("lower_diag_index", stop, b->k0, b, status));
  TRY(check_index("upper_diag_index", stop, b->k1, b, status));
  b->width = smaller(b->rows + smaller(b->k1, 0), b->columns - larger(b->k0, 0));
  return true;
}

/* For each diagonal: copies between the matrices and the bands. */
static bool copy_band(KernelContext *context, const Band *b, const Tensor *from, Tensor *to, bool to_band,
                      Status *status) {
  int64_t matrix = b->rows * b->columns, band = (b->k1 - b->k0 + 1) * b->width;
  for (int64_t k = b->k1; k >= b->k0 && b->count > 0; k--) {
    int64_t length = diagonal_length(b, k);
    bool right = k >= 0 ? b->align.upper_right : b->align.lower_right;
    int64_t in_matrix = k >= 0 ? k : -k * b->columns;
    int64_t in_band = (b->k1 - k) * b->width + (right ? b->width - length : 0);
    ArrayBox box = {.from_offset = to_band ? in_matrix : in_band, .to_offset = to_band ? in_band : in_matrix};
    if (length <= 0) continue;
    array_box_add(&box, b->count, to_band ? matrix : band, to_band ? band : matrix);
    array_box_add(&box, length, to_band ? b->columns + 1 : 1, to_band ? 1 : b->columns + 1);
    TRY(array_box_copy(&box, from, to, context->parallel, status));
  }
  return true;
}

/* Every element of `to` becomes the padding value. */
static bool pad(KernelContext *context, const Tensor *value, Tensor *to, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(value)) {
    return status_invalid(status, "padding_value must be a scalar, received shape: %s",
                          shape_text(&value->shape, text));
  }
  ArrayBox box = {0};
  array_box_add(&box, tensor_num_elements(to), 0, 1);
  return array_box_copy(&box, value, to, context->parallel, status);
}

/* --- kernels --- */

static bool part_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  Band band = {.align = *(const BandState *)context->state};
  int64_t dims[SHAPE_MAX_RANK];
  Tensor *out;
  TRY(read_band(context->inputs[1], &band, status));
  TRY(read_matrices(input, ".", &band, status));
  int rank = input->shape.rank - 2;
  for (int i = 0; i < rank; i++) dims[i] = shape_dim(&input->shape, i);
  if (band.k0 != band.k1) dims[rank++] = band.k1 - band.k0 + 1;
  dims[rank++] = band.width;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  TRY(pad(context, context->inputs[2], out, status));
  return copy_band(context, &band, input, out, true, status);
}

static bool read_size(const Tensor *size, const char *name, int64_t *value, Status *status) {
  if (!tensor_is_scalar(size)) return status_invalid(status, "%s must be a scalar", name);
  *value = tensor_int_at(size, 0);
  return true;
}

/* The sizes of the matrices: given, or the smallest that hold the band. */
static bool choose_sizes(const Tensor *const *inputs, Band *b, Status *status) {
  int64_t rows = 0, columns = 0, least_rows = b->width - smaller(b->k1, 0),
          least_columns = b->width + larger(b->k0, 0);
  TRY(read_size(inputs[2], "num_rows", &rows, status));
  TRY(read_size(inputs[3], "num_cols", &columns, status));
  if (rows == -1 && columns == -1) {
    rows = columns = larger(least_rows, least_columns);
  } else if (rows == -1) {
    rows = least_rows;
  } else if (columns == -1) {
    columns = least_columns;
  }
  if (rows < least_rows) return status_invalid(status, "The number of rows is too small.");
  if (columns < least_columns) return status_invalid(status, "The number of columns is too small.");
  if (rows != least_rows && columns != least_columns)
    return status_invalid(status,
                          "The number of rows or columns is not consistent with the specified d_lower, "
                          "d_upper, and diagonal.");
  b->rows = rows;
  b->columns = columns;
  return true;
}

/* Whether `diagonal` has the band's diagonals: a row for each, unless there is one. */
static bool read_diagonals(const Tensor *diagonal, Band *b, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int rank = diagonal->shape.rank;
  if (rank < 1) {
    return status_invalid(status, "diagonal must be at least 1-dim, received shape: %s",
                          shape_text(&diagonal->shape, text));
  }
  b->width = shape_dim(&diagonal->shape, rank - 1);
  if (b->k0 == b->k1) return true;
  if (rank < 2) {
    return status_invalid(status, "diagonal must be at least 2-dim, received shape: %s",
                          shape_text(&diagonal->shape, text));
  }
  return shape_dim(&diagonal->shape, rank - 2) == b->k1 - b->k0 + 1 ||
         status_invalid(status,
                        "The number of diagonals provided in the input does not match the lower_diag_index "
                        "and upper_diag_index range.");
}

static bool diag_kernel(KernelContext *context, Status *status) {
  const Tensor *diagonal = context->inputs[0];
  Band band = {.align = *(const BandState *)context->state};
  int64_t dims[SHAPE_MAX_RANK + 2];
  Tensor *out;
  TRY(read_band(context->inputs[1], &band, status));
  TRY(read_diagonals(diagonal, &band, status));
  TRY(choose_sizes(context->inputs, &band, status));
  int rank = diagonal->shape.rank - (band.k0 == band.k1 ? 1 : 2);
  for (int i = 0; i < rank; i++) dims[i] = shape_dim(&diagonal->shape, i);
  dims[rank++] = band.rows;
  dims[rank++] = band.columns;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  band.count = tensor_num_elements(out) == 0 ? 0 : tensor_num_elements(out) / (band.rows * band.columns);
  TRY(pad(context, context->inputs[4], out, status));
  return copy_band(context, &band, diagonal, out, false, status);
}

static bool check_diagonal_shape(const Tensor *input, const Tensor *diagonal, const Band *b, Status *status) {
  char got[SHAPE_TEXT_CAPACITY], of[SHAPE_TEXT_CAPACITY];
  int outer = input->shape.rank - 2, rank = 0;
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0; i < outer; i++) dims[rank++] = shape_dim(&input->shape, i);
  if (b->k0 != b->k1) dims[rank++] = b->k1 - b->k0 + 1;
  dims[rank++] = b->width;
  bool fits = diagonal->shape.rank == rank;
  for (int i = 0; fits && i < rank; i++) fits = shape_dim(&diagonal->shape, i) == dims[i];
  return fits ||
         status_invalid(
             status,
             "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] "
             "is not equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
             "Input shape: %s\nDiagonal shape: %s",
             shape_text(&input->shape, of), shape_text(&diagonal->shape, got));
}

static bool set_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *diagonal = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  Band band = {.align = *(const BandState *)context->state};
  Tensor *out;
  TRY(read_band(context->inputs[2], &band, status));
  if (diagonal->shape.rank < 1) {
    return status_invalid(status, "diagonal must be at least 1-dim, received shape: %s",
                          shape_text(&diagonal->shape, text));
  }
  TRY(read_matrices(input, "", &band, status));
  TRY(check_diagonal_shape(input, diagonal, &band, status));
  TRY(kernel_forward_or_allocate(context, 0, 0, &input->shape, &out, status));
  if (out->data != input->data && tensor_num_elements(input) > 0) {
    ArrayBox all = {0};
    array_box_add(&all, tensor_num_elements(input), 1, 1);
    TRY(array_box_copy(&all, input, out, context->parallel, status));
  }
  return copy_band(context, &band, diagonal, out, false, status);
}

/* --- shapes --- */

/* The band in input `i`, if it is known. */
static bool known_band(InferenceContext *c, int i, Band *band, bool *known, Status *status) {
  const Tensor *k = shape_input_tensor(c, i);
  ShapeHandle shape;
  TRY(shape_with_rank_at_most(c, shape_input(c, i), 1, &shape, status));
  *known = k != NULL;
  return !*known || read_band(k, band, status);
}

static bool part_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, out, part, padding;
  Band band;
  bool known;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &input, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &padding, status));
  TRY(known_band(c, 1, &band, &known, status));
  if (!known || !shape_rank_known(input)) return shape_unknown_outputs(c, status);
  DimHandle rows = shape_dim_of(c, input, -2), columns = shape_dim_of(c, input, -1), width;
  TRY(dim_ok(rows, &rows, status));
  TRY(dim_ok(columns, &columns, status));
  band.rows = dim_value(rows), band.columns = dim_value(columns);
  bool sizes = dim_known(rows) && dim_known(columns);
  if (sizes) TRY(check_index("lower_diag_index", ".", band.k0, &band, status));
  if (sizes) TRY(check_index("upper_diag_index", ".", band.k1, &band, status));
  band.width = smaller(band.rows + smaller(band.k1, 0), band.columns - larger(band.k0, 0));
  TRY(dim_ok(sizes ? dim_make(c, larger(band.width, 0)) : dim_unknown(c), &width, status));
  TRY(shape_subshape(c, input, 0, -2, 1, &out, status));
  if (band.k0 != band.k1) {
    TRY(shape_ok(shape_vector(c, dim_make(c, band.k1 - band.k0 + 1)), &part, status));
    TRY(shape_concatenate(c, out, part, &out, status));
  }
  TRY(shape_ok(shape_vector(c, width), &part, status));
  TRY(shape_concatenate(c, out, part, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

static bool diag_shape(InferenceContext *c, Status *status) {
  ShapeHandle diagonal, out, matrix, scalar;
  Band band;
  bool known;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &diagonal, status));
  for (int i = 2; i < 5; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  TRY(known_band(c, 1, &band, &known, status));
  const Tensor *inputs[] = {NULL, NULL, shape_input_tensor(c, 2), shape_input_tensor(c, 3)};
  if (!known || !shape_rank_known(diagonal)) return shape_unknown_outputs(c, status);
  bool one = band.k0 == band.k1;
  TRY(shape_with_rank_at_least(c, diagonal, one ? 1 : 2, &diagonal, status));
  DimHandle width = shape_dim_of(c, diagonal, -1);
  TRY(dim_ok(width, &width, status));
  band.width = dim_value(width);
  bool sizes = dim_known(width) && inputs[2] && inputs[3];
  if (sizes) TRY(choose_sizes(inputs, &band, status));
  TRY(shape_subshape(c, diagonal, 0, one ? -1 : -2, 1, &out, status));
  TRY(shape_ok(sizes ? shape_matrix(c, dim_make(c, band.rows), dim_make(c, band.columns))
                     : shape_unknown_of_rank(c, 2),
               &matrix, status));
  TRY(shape_concatenate(c, out, matrix, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

static bool set_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, other;
  Band band;
  bool known;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 2, &input, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &other, status));
  TRY(known_band(c, 2, &band, &known, status));
  shape_set_output(c, 0, input);
  return true;
}

/* --- ops --- */

#define ALIGN "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'"
#define BAND_STATE .state_size = sizeof(BandState), .construct = band_construct
#define BAND_KERNELS(kernel) \
  NUMBER_KERNELS(kernel), { DT_BOOL, kernel }

/* sum_<name>: the sum of all elements, a scalar. */
#define SUM_OF(name, value)                               \
  "  flat_" name                                          \
  "_shape = Const[dtype=int32, value=[-1]]()\n"           \
  "  flat_" name " = Reshape[T=$T](" value ", flat_" name \
  "_shape:output:0)\n"                                    \
  "  axis_" name                                          \
  " = Const[dtype=int32, value=0]()\n"                    \
  "  sum_" name " = Sum[T=$T](flat_" name ":output:0, axis_" name ":output:0)\n"

/* TensorFlow has no gradient by the padding value. */
#define DIAG_GRADIENT(version, declared, passed) \
  "MatrixDiag" version "Gradient[T:type" declared "](diagonal:T, k:int32, rows:int32, columns:int32, " \
  "padding:T, dy:T) -> (ddiagonal:T, dk:int32, drows:int32, dcolumns:int32, dpadding:T) {\n" \
  "  zero = Const[dtype=$T, value=0]()\n" \
  "  d = MatrixDiagPart" version "[T=$T" passed "](dy, k, zero:output:0)\n" \
  "  dk = ZerosLike[T=int32](k)\n" \
  "  none = ZerosLike[T=int32](rows)\n" \
  SUM_OF("all", "dy") SUM_OF("band", "d:diagonal:0") \
  "  dpadding = Sub[T=$T](sum_all:output:0, sum_band:output:0)\n" \
  "  return ddiagonal = d:diagonal:0, dk = dk:y:0, drows = none:y:0, dcolumns = none:y:0, dpadding = " \
  "dpadding:z:0\n}\n"
#define PART_GRADIENT(version, declared, passed)         \
  "MatrixDiagPart" version "Gradient[T:type" declared    \
  "](input:T, k:int32, padding:T, dy:T) -> (dinput:T, "  \
  "dk:int32, dpadding:T) {\n"                            \
  "  zeros = ZerosLike[T=$T](input)\n"                   \
  "  d = MatrixSetDiag" version "[T=$T" passed           \
  "](zeros:y:0, dy, k)\n"                                \
  "  dk = ZerosLike[T=int32](k)\n"                       \
  "  one = Const[dtype=$T, value=1]()\n"                 \
  "  padded = MatrixDiagPart" version "[T=$T" passed     \
  "](zeros:y:0, k, one:output:0)\n"                      \
  "  slope = Mul[T=$T](padded:diagonal:0, dy)\n" SUM_OF( \
      "all", "slope:z:0") "  return dinput = d:output:0, dk = dk:y:0, dpadding = sum_all:output:0\n}\n"
#define SET_GRADIENT(version, declared, passed)          \
  "MatrixSetDiag" version "Gradient[T:type" declared     \
  "](input:T, diagonal:T, k:int32, dy:T) -> (dinput:T, " \
  "ddiagonal:T, dk:int32) {\n"                           \
  "  zero = Const[dtype=$T, value=0]()\n"                \
  "  part = MatrixDiagPart" version "[T=$T" passed       \
  "](dy, k, zero:output:0)\n"                            \
  "  zeros = ZerosLike[T=$T](diagonal)\n"                \
  "  rest = MatrixSetDiag" version "[T=$T" passed        \
  "](dy, zeros:y:0, k)\n"                                \
  "  dk = ZerosLike[T=int32](k)\n"                       \
  "  return dinput = rest:output:0, ddiagonal = part:diagonal:0, dk = dk:y:0\n}\n"

#define DIAG_INPUTS \
  { "diagonal: T", "k: int32", "num_rows: int32", "num_cols: int32", "padding_value: T" }
#define PART_INPUTS \
  { "input: T", "k: int32", "padding_value: T" }
#define SET_INPUTS \
  { "input: T", "diagonal: T", "k: int32" }

const OpRegistration kOpMatrixDiagV2 = {
    .name = "MatrixDiagV2",
    .inputs = DIAG_INPUTS,
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = diag_shape,
    .gradient = DIAG_GRADIENT("V2", "", ""),
    BAND_STATE,
    .kernels = {BAND_KERNELS(diag_kernel)},
};

const OpRegistration kOpMatrixDiagV3 = {
    .name = "MatrixDiagV3",
    .inputs = DIAG_INPUTS,
    .outputs = {"output: T"},
    .attrs = {"T: type", ALIGN},
    .shape = diag_shape,
    .gradient = DIAG_GRADIENT("V3", ", align:string", ", align=$align"),
    BAND_STATE,
    .kernels = {BAND_KERNELS(diag_kernel)},
};

const OpRegistration kOpMatrixDiagPartV2 = {
    .name = "MatrixDiagPartV2",
    .inputs = PART_INPUTS,
    .outputs = {"diagonal: T"},
    .attrs = {"T: type"},
    .shape = part_shape,
    .gradient = PART_GRADIENT("V2", "", ""),
    BAND_STATE,
    .kernels = {BAND_KERNELS(part_kernel)},
};

const OpRegistration kOpMatrixDiagPartV3 = {
    .name = "MatrixDiagPartV3",
    .inputs = PART_INPUTS,
    .outputs = {"diagonal: T"},
    .attrs = {"T: type", ALIGN},
    .shape = part_shape,
    .gradient = PART_GRADIENT("V3", ", align:string", ", align=$align"),
    BAND_STATE,
    .kernels = {BAND_KERNELS(part_kernel)},
};

const OpRegistration kOpMatrixSetDiagV2 = {
    .name = "MatrixSetDiagV2",
    .inputs = SET_INPUTS,
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = set_shape,
    .gradient = SET_GRADIENT("V2", "", ""),
    BAND_STATE,
    .kernels = {BAND_KERNELS(set_kernel)},
};

const OpRegistration kOpMatrixSetDiagV3 = {
    .name = "MatrixSetDiagV3",
    .inputs = SET_INPUTS,
    .outputs = {"output: T"},
    .attrs = {"T: type", ALIGN},
    .shape = set_shape,
    .gradient = SET_GRADIENT("V3", ", align:string", ", align=$align"),
    BAND_STATE,
    .kernels = {BAND_KERNELS(set_kernel)},
};
