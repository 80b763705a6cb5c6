/* Einsum: sums of products over labelled axes, as transposes, sums and products of matrices.
 *
 * Axes of size 1 are left out at first, and so is what broadcasts. Each input becomes a tensor of distinct
 * labels that the output or the other input has. Then the labels of two inputs are of four kinds: B in both
 * and in the output, K in both but not in the output, F0 and F1 in one and in the output. The output is a
 * product of matrices [F0, K] and [K, F1] for each B. An input is copied only if a product cannot read it
 * where it is, and the product is copied only if it cannot be written in the order of the output.
 */
#include <string.h>

#include "blas/transpose.h"
#include "op/op_registry.h"
#include "ops/math/batch_product.h"
#include "ops/math/einsum_equation.h"
#include "ops/math/einsum_gradient.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/support/reduction.h"

/* Labels of axes: those of the equation, then one for each axis of the ellipses. */
enum { FIRST_DOT = EINSUM_ELLIPSIS, NUM_LABELS = FIRST_DOT + SHAPE_MAX_RANK };

typedef struct LabelList {
  int count;
  int16_t labels[SHAPE_MAX_RANK];
} LabelList;

typedef struct Operand {
  Tensor tensor;
  LabelList list; /* of the axes of the tensor */
} Operand;

typedef struct Einsum {
  KernelContext *context;
  const EinsumEquation *equation;
  Status *status;
  int num_dots; /* axes of the ellipses */
  Operand operands[2];
  LabelList output;          /* with axes of size 1 */
  int64_t sizes[NUM_LABELS]; /* -1: the label does not occur */
} Einsum;

/* --- labels --- */

static bool has(const LabelList *list, int label) {
  for (int i = 0; i < list->count; i++) {
    if (list->labels[i] == label) return true;
  }
  return false;
}

static void append(LabelList *list, int label) { list->labels[list->count++] = (int16_t)label; }

static void append_all(LabelList *list, const LabelList *more) {
  for (int i = 0; i < more->count; i++) append(list, more->labels[i]);
}

static bool equal(const LabelList *a, const LabelList *b) {
  return a->count == b->count && memcmp(a->labels, b->labels, (size_t)a->count * sizeof *a->labels) == 0;
}

/* The product of the sizes, which `dims` receives if it is not NULL. If it exceeds int64, which is possible
 * beside an axis of size 0: INT64_MAX, which no shape takes. */
static int64_t size_of(const Einsum *e, const LabelList *list, int64_t *dims) {
  int64_t size = 1;
  for (int i = 0; i < list->count; i++) {
    int64_t dim = e->sizes[list->labels[i]];
    if (dims) dims[i] = dim;
    if (__builtin_mul_overflow(size, dim, &size)) size = INT64_MAX;
  }
  return size;
}

/* The labels of a term for a tensor with `num_dots` axes of the ellipsis. */
static void expand(const EinsumTerm *term, int num_dots, int all_dots, LabelList *list) {
  list->count = 0;
  for (int i = 0; i < term->count; i++) {
    if (i != term->ellipsis) append(list, term->labels[i]);
    for (int k = all_dots - num_dots; i == term->ellipsis && k < all_dots; k++) append(list, FIRST_DOT + k);
  }
}

/* --- binding the labels to sizes --- */

static bool count_dots(Einsum *e, int dots[2]) {
  for (int i = 0; i < e->equation->num_inputs; i++) {
    const EinsumTerm *term = &e->equation->inputs[i];
    int rank = e->context->inputs[i]->shape.rank, named = term->count - (term->ellipsis >= 0);
    dots[i] = rank - named;
    if (term->ellipsis < 0 && dots[i] != 0)
      return status_invalid(e->status, "Expected input %d to have rank %d but got: %d", i, named, rank);
    if (dots[i] < 0)
      return status_invalid(e->status, "Expected input %d to have rank at least %d but got: %d", i, named,
                            rank);
    if (dots[i] > e->num_dots) e->num_dots = dots[i];
  }
  if (e->num_dots == 0 || e->equation->output.ellipsis >= 0) return true;
  return status_invalid(e->status,
                        "Output contains %d broadcasting dimension(s) but no ellipsis (...) was found in "
                        "the output subscripts.",
                        e->num_dots);
}

static bool refuse_size(const Einsum *e, int input, int axis, int label, Status *status) {
  const Shape *shape = &e->context->inputs[input]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (label < FIRST_DOT) {
    return status_invalid(status,
                          "Expected dimension %lld at axis %d of the input shaped %s but got dimension %lld",
                          (long long)e->sizes[label], axis, shape_text(shape, a),
                          (long long)shape_dim(shape, axis));
  }
  return status_invalid(status, "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                        shape_text(&e->context->inputs[0]->shape, a), shape_text(shape, b));
}

static bool bind_sizes(Einsum *e, int input) {
  const Shape *shape = &e->context->inputs[input]->shape;
  const LabelList *list = &e->operands[input].list;
  for (int axis = 0; axis < list->count; axis++) {
    int label = list->labels[axis];
    int64_t dim = shape_dim(shape, axis), *size = &e->sizes[label];
    bool dot = label >= FIRST_DOT;
    if (*size < 0 || (dot && *size == 1)) *size = dim;
    if (*size != dim && !(dot && dim == 1)) return refuse_size(e, input, axis, label, e->status);
  }
  return true;
}

/* Leaves out the axes of size 1. */
static bool squeeze(Einsum *e, int input) {
  const Tensor *from = e->context->inputs[input];
  Operand *operand = &e->operands[input];
  LabelList all = operand->list;
  int64_t dims[SHAPE_MAX_RANK];
  Shape shape = {0};
  operand->list.count = 0;
  for (int axis = 0; axis < all.count; axis++) {
    int64_t dim = shape_dim(&from->shape, axis);
    if (dim == 1) continue;
    dims[operand->list.count] = dim;
    append(&operand->list, all.labels[axis]);
  }
  bool ok = shape_set(&shape, operand->list.count, dims, e->status) &&
            tensor_reshape(&operand->tensor, from, &shape, e->status);
  shape_clear(&shape);
  return ok;
}

static bool bind(Einsum *e) {
  int dots[2];
  for (int i = 0; i < NUM_LABELS; i++) e->sizes[i] = -1;
  TRY(count_dots(e, dots));
  for (int i = 0; i < e->equation->num_inputs; i++) {
    expand(&e->equation->inputs[i], dots[i], e->num_dots, &e->operands[i].list);
    TRY(bind_sizes(e, i));
    TRY(squeeze(e, i));
  }
  int64_t rank = e->equation->output.count + (int64_t)e->num_dots;
  if (rank > SHAPE_MAX_RANK) return status_invalid(e->status, "Too many dimensions in tensor");
  expand(&e->equation->output, e->num_dots, e->num_dots, &e->output);
  return true;
}

/* --- one operand --- */

static void replace(Operand *operand, Tensor *tensor, const LabelList *list) {
  tensor_clear(&operand->tensor);
  tensor_move(&operand->tensor, tensor);
  operand->list = *list;
}

/* Row-major strides of a tensor, summed for each label of `list`. */
static void add_strides(const Operand *operand, const LabelList *list, int64_t *strides) {
  int64_t own[SHAPE_MAX_RANK];
  array_strides(&operand->tensor.shape, own);
  for (int i = 0; i < list->count; i++) {
    strides[i] = 0;
    for (int k = 0; k < operand->list.count; k++)
      strides[i] += operand->list.labels[k] == list->labels[i] ? own[k] : 0;
  }
}

static bool try_transpose(Einsum *e, const Operand *operand, const LabelList *list, Tensor *to) {
  int32_t perm[SHAPE_MAX_RANK];
  if (list->count != operand->list.count) return false;
  for (int i = 0; i < list->count; i++) {
    perm[i] = 0;
    while (operand->list.labels[perm[i]] != list->labels[i]) perm[i]++;
  }
  return transpose((int)dtype_size(to->dtype), list->count, shape_dims(&operand->tensor.shape), perm,
                   operand->tensor.data, to->data, e->context->parallel);
}

/* Copies the operand, in the order of `list`. Of a label that occurs twice the diagonal is taken. */
static bool arrange(Einsum *e, Operand *operand, const LabelList *list) {
  int64_t dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  Tensor copy = {0};
  if (equal(&operand->list, list)) return true;
  size_of(e, list, dims);
  TRY(tensor_allocate_dims(&copy, operand->tensor.dtype, list->count, dims, e->context->pool, e->status));
  bool ok = true;
  if (tensor_num_elements(&copy) > 0 && !try_transpose(e, operand, list, &copy)) {
    ArrayBox box = {0};
    add_strides(operand, list, from);
    array_strides(&copy.shape, to);
    for (int i = 0; i < list->count; i++) array_box_add(&box, dims[i], from[i], to[i]);
    ok = array_box_copy(&box, &operand->tensor, &copy, e->context->parallel, e->status);
  }
  replace(operand, &copy, list);
  return ok;
}

static bool take_diagonals(Einsum *e, Operand *operand) {
  LabelList distinct = {0};
  for (int i = 0; i < operand->list.count; i++) {
    if (!has(&distinct, operand->list.labels[i])) append(&distinct, operand->list.labels[i]);
  }
  return arrange(e, operand, &distinct);
}

/* Sums over the labels that neither the output nor the other operand has. */
static bool sum_rest(Einsum *e, Operand *operand, const LabelList *other) {
  LabelList left = {0};
  bool reduced[SHAPE_MAX_RANK] = {false};
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0; i < operand->list.count; i++) {
    int label = operand->list.labels[i];
    reduced[i] = !has(&e->output, label) && !(other && has(other, label));
    if (!reduced[i]) append(&left, label);
  }
  if (left.count == operand->list.count) return true;
  Tensor sum = {0};
  size_of(e, &left, dims);
  TRY(tensor_allocate_dims(&sum, operand->tensor.dtype, left.count, dims, e->context->pool, e->status));
  bool ok = reduction_run(e->context, REDUCE_SUM, &operand->tensor, operand->list.count,
                          shape_dims(&operand->tensor.shape), reduced, &sum, e->status);
  replace(operand, &sum, &left);
  return ok;
}

/* --- the product --- */

typedef struct Kinds {
  LabelList batch, free[2], contracted;
} Kinds;

static void sort_labels(const Einsum *e, Kinds *kinds) {
  const LabelList *a = &e->operands[0].list, *b = &e->operands[1].list;
  memset(kinds, 0, sizeof *kinds);
  for (int i = 0; i < e->output.count; i++) {
    int label = e->output.labels[i];
    bool in_a = has(a, label), in_b = has(b, label);
    LabelList *list = in_a && in_b ? &kinds->batch : in_a ? &kinds->free[0] : &kinds->free[1];
    if ((in_a || in_b) && !has(list, label)) append(list, label);
  }
  for (int i = 0; i < a->count; i++) {
    if (!has(&e->output, a->labels[i])) append(&kinds->contracted, a->labels[i]);
  }
}

/* Tensors with distinct labels: their axes, and how many elements one step along each is. */
typedef struct Layout {
  const LabelList *axes;
  int64_t strides[SHAPE_MAX_RANK];
} Layout;

static int64_t stride_of(const Layout *layout, int label) {
  for (int i = 0; i < layout->axes->count; i++) {
    if (layout->axes->labels[i] == label) return layout->strides[i];
  }
  return 0;
}

/* Whether the axes are steps of one axis, one inside the other; its stride, which is 1 if there are none. */
static bool are_one_axis(const Einsum *e, const Layout *layout, const LabelList *list, int64_t *stride) {
  int64_t next = *stride = 1;
  for (int i = list->count - 1; i >= 0; i--) {
    int64_t own = stride_of(layout, list->labels[i]);
    if (i == list->count - 1) *stride = own;
    else if (own != next) return false;
    next = own * e->sizes[list->labels[i]];
  }
  return true;
}

/* How a product reads the matrices of a factor: rows of F or, `turned`, of K, so many elements apart. */
typedef struct Rows {
  bool turned;
  int64_t stride;
} Rows;

static bool reads_in_place(const Einsum *e, const Layout *layout, const LabelList *free,
                           const LabelList *contracted, Rows *rows) {
  int64_t f, k;
  if (!are_one_axis(e, layout, free, &f) || !are_one_axis(e, layout, contracted, &k)) return false;
  rows->turned = k != 1 || (contracted->count == 0 && f == 1);
  rows->stride = rows->turned ? k : f;
  int64_t length = size_of(e, rows->turned ? free : contracted, NULL);
  if (rows->stride < length) rows->stride = length; /* of a single row */
  return k == 1 || f == 1;
}

/* The matrices of operand `side`, which is copied if it cannot be read where it is. */
static bool make_factor(Einsum *e, const Kinds *kinds, int side, Layout *layout, Rows *rows) {
  Operand *operand = &e->operands[side];
  const LabelList *free = &kinds->free[side], *contracted = &kinds->contracted;
  layout->axes = &operand->list;
  array_strides(&operand->tensor.shape, layout->strides);
  bool is_empty = tensor_num_elements(&operand->tensor) == 0;
  if (!is_empty && matrix_product_takes_strides(operand->tensor.dtype) &&
      reads_in_place(e, layout, free, contracted, rows))
    return true;
  LabelList straight = kinds->batch, turned = kinds->batch;
  append_all(&straight, free);
  append_all(&straight, contracted);
  append_all(&turned, contracted);
  append_all(&turned, free);
  rows->turned = equal(&operand->list, &turned);
  if (!rows->turned) TRY(arrange(e, operand, &straight));
  rows->stride = size_of(e, rows->turned ? free : contracted, NULL);
  array_strides(&operand->tensor.shape, layout->strides);
  return true;
}

/* Where the products go. */
typedef struct Results {
  Tensor *tensor;
  LabelList list; /* its axes */
  Layout layout;
  int64_t row; /* elements */
} Results;

/* The sizes of the output; false if a label is in it twice. */
static bool output_dims(const Einsum *e, int64_t *dims) {
  bool distinct = true;
  for (int i = 0; i < e->output.count; i++) {
    dims[i] = e->sizes[e->output.labels[i]];
    for (int k = 0; k < i; k++) distinct = distinct && e->output.labels[k] != e->output.labels[i];
  }
  return distinct;
}

/* The output itself, if it has the products' elements in an order in which they can be written. */
static bool take_output(Einsum *e, const LabelList *rows, const LabelList *columns, Results *results) {
  KernelContext *context = e->context;
  int64_t dims[SHAPE_MAX_RANK], column;
  *results = (Results){.list = e->output};
  results->layout.axes = &results->list;
  if (!matrix_product_takes_strides(e->operands[0].tensor.dtype) || !output_dims(e, dims)) return true;
  int64_t stride = 1;
  for (int i = e->output.count - 1; i >= 0; i--) {
    results->layout.strides[i] = stride;
    if (__builtin_mul_overflow(stride, dims[i], &stride)) return true;
  }
  if (!are_one_axis(e, &results->layout, rows, &results->row) ||
      !are_one_axis(e, &results->layout, columns, &column) || column != 1)
    return true;
  int64_t length = size_of(e, columns, NULL);
  if (results->row < length) results->row = length;
  return kernel_allocate_output_dims(context, 0, e->output.count, dims, &results->tensor, e->status);
}

/* A tensor [B, rows, columns] instead. */
static bool make_results(Einsum *e, const Kinds *kinds, const LabelList *rows, const LabelList *columns,
                         Results *results, Tensor *product) {
  int64_t dims[SHAPE_MAX_RANK];
  results->list = kinds->batch;
  append_all(&results->list, rows);
  append_all(&results->list, columns);
  size_of(e, &results->list, dims);
  TRY(tensor_allocate_dims(product, e->operands[0].tensor.dtype, results->list.count, dims, e->context->pool,
                           e->status));
  array_strides(&product->shape, results->layout.strides);
  results->row = size_of(e, columns, NULL);
  results->tensor = product;
  return true;
}

/* The products are the output, or operand 0. The factors are swapped if that gives the order of the output.
 */
static bool multiply(Einsum *e, bool *is_output) {
  Kinds kinds;
  Results results;
  Layout layouts[2];
  Rows rows[2];
  Tensor product = {0};
  sort_labels(e, &kinds);
  const LabelList *f0 = &kinds.free[0], *f1 = &kinds.free[1];
  int last = e->output.count - 1;
  while (last >= 0 && !has(f0, e->output.labels[last]) && !has(f1, e->output.labels[last])) last--;
  int first = last >= 0 && has(f0, e->output.labels[last]) && f1->count > 0; /* the factor of the rows */
  int order[2] = {first, 1 - first};
  const LabelList *m = &kinds.free[first], *n = &kinds.free[1 - first];
  for (int i = 0; i < 2; i++) TRY(make_factor(e, &kinds, order[i], &layouts[i], &rows[i]));
  TRY(take_output(e, m, n, &results));
  *is_output = results.tensor != NULL;
  if (!*is_output) TRY(make_results(e, &kinds, m, n, &results, &product));
  BatchProduct batch;
  batch.rank = kinds.batch.count;
  batch.product = (MatrixProduct){.type = results.tensor->dtype};
  batch.product.args = (GemmArgs){.m = size_of(e, m, NULL),
                                  .n = size_of(e, n, NULL),
                                  .k = size_of(e, &kinds.contracted, NULL),
                                  .transpose_a = rows[0].turned,
                                  .transpose_b = !rows[1].turned,
                                  .a = e->operands[order[0]].tensor.data,
                                  .lda = rows[0].stride,
                                  .b = e->operands[order[1]].tensor.data,
                                  .ldb = rows[1].stride,
                                  .c = results.tensor->data,
                                  .ldc = results.row};
  for (int i = 0; i < kinds.batch.count; i++) {
    int label = kinds.batch.labels[i];
    batch.dims[i] = e->sizes[label];
    batch.strides[0][i] = stride_of(&layouts[0], label);
    batch.strides[1][i] = stride_of(&layouts[1], label);
    batch.strides[2][i] = stride_of(&results.layout, label);
  }
  bool ok = batch_product_run(e->context, &batch, e->status);
  if (ok && !*is_output) replace(&e->operands[0], &product, &results.list);
  tensor_clear(&product);
  return ok;
}

/* --- the output --- */

/* Of a label that occurs twice in the output the diagonal is filled. */
static bool inflate(Einsum *e, const int64_t *dims) {
  const Operand *operand = &e->operands[0];
  int64_t from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  Tensor *out;
  TRY(kernel_allocate_output_dims(e->context, 0, e->output.count, dims, &out, e->status));
  array_clear(out);
  if (tensor_num_elements(out) == 0) return true;
  ArrayBox box = {0};
  array_strides(&operand->tensor.shape, from);
  array_strides(&out->shape, to);
  for (int i = 0; i < operand->list.count; i++) {
    int64_t stride = 0;
    for (int k = 0; k < e->output.count; k++)
      stride += e->output.labels[k] == operand->list.labels[i] ? to[k] : 0;
    array_box_add(&box, e->sizes[operand->list.labels[i]], from[i], stride);
  }
  return array_box_copy(&box, &operand->tensor, out, e->context->parallel, e->status);
}

static bool finish(Einsum *e) {
  LabelList order = {0};
  int64_t dims[SHAPE_MAX_RANK];
  if (!output_dims(e, dims)) return inflate(e, dims);
  for (int i = 0; i < e->output.count; i++) {
    int label = e->output.labels[i];
    if (has(&e->operands[0].list, label)) append(&order, label); /* others are of size 1 */
  }
  TRY(arrange(e, &e->operands[0], &order));
  Shape shape = {0};
  bool ok = shape_set(&shape, e->output.count, dims, e->status) &&
            kernel_set_output(e->context, 0, &e->operands[0].tensor, &shape, e->status);
  shape_clear(&shape);
  return ok;
}

/* --- the kernel --- */

static bool einsum_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return einsum_read_equation(construction->node, construction->num_inputs, memory, status);
}

static bool compute(Einsum *e) {
  int count = e->equation->num_inputs;
  TRY(bind(e));
  for (int i = 0; i < count; i++) {
    TRY(take_diagonals(e, &e->operands[i]));
    TRY(sum_rest(e, &e->operands[i], count == 2 ? &e->operands[1 - i].list : NULL));
  }
  bool is_output = false;
  if (count == 2) TRY(multiply(e, &is_output));
  return is_output || finish(e);
}

static bool einsum_kernel(KernelContext *context, Status *status) {
  Einsum e = {.context = context, .equation = context->state, .status = status};
  bool ok = compute(&e);
  for (int i = 0; i < 2; i++) tensor_clear(&e.operands[i].tensor);
  return ok;
}

/* --- shapes --- */

typedef struct ShapeLabels {
  DimHandle dims[EINSUM_ELLIPSIS];
  ShapeHandle dots;
} ShapeLabels;

static bool read_shape(InferenceContext *c, const EinsumTerm *term, ShapeHandle shape, ShapeLabels *labels,
                       Status *status) {
  bool dots = term->ellipsis >= 0;
  TRY(dots ? shape_with_rank_at_least(c, shape, term->count - 1, &shape, status)
           : shape_with_rank(c, shape, term->count, &shape, status));
  for (int i = 0; i < term->count; i++) {
    if (i == term->ellipsis) continue;
    DimHandle *dim = &labels->dims[term->labels[i]], own;
    bool after = dots && i > term->ellipsis;
    TRY(dim_ok(shape_rank_known(shape) ? shape_dim_of(c, shape, after ? i - term->count : i) : dim_unknown(c),
               &own, status));
    TRY(dim_merge(c, *dim ? *dim : own, own, dim, status));
  }
  if (!dots) return true;
  ShapeHandle own;
  if (shape_rank_known(shape)) {
    TRY(shape_subshape(c, shape, term->ellipsis, term->ellipsis + shape_rank(shape) - term->count + 1, 1,
                       &own, status));
  } else {
    TRY(shape_ok(shape_unknown(c), &own, status));
  }
  return shape_broadcast(c, own, labels->dots, &labels->dots, status);
}

static bool einsum_shape(InferenceContext *c, Status *status) {
  EinsumEquation equation;
  ShapeLabels labels = {0};
  ShapeHandle out, part;
  TRY(einsum_read_equation(c->node, c->num_inputs, &equation, status));
  TRY(shape_ok(shape_scalar(c), &labels.dots, status));
  for (int i = 0; i < equation.num_inputs; i++)
    TRY(read_shape(c, &equation.inputs[i], shape_input(c, i), &labels, status));
  const EinsumTerm *term = &equation.output;
  if (term->ellipsis < 0) TRY(shape_with_rank_at_most(c, labels.dots, 0, &part, status));
  if (term->ellipsis >= 0 && !shape_rank_known(labels.dots)) return shape_unknown_outputs(c, status);
  TRY(shape_ok(shape_scalar(c), &out, status));
  for (int i = 0; i < term->count; i++) {
    part = labels.dots;
    if (i != term->ellipsis) TRY(shape_ok(shape_vector(c, labels.dims[term->labels[i]]), &part, status));
    TRY(shape_concatenate(c, out, part, &out, status));
  }
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpEinsum = {
    .name = "Einsum",
    .inputs = {"inputs: N * T"},
    .outputs = {"output: T"},
    .attrs = {"equation: string", "N: int >= 1", "T: type"},
    .shape = einsum_shape,
    .gradient_fn = einsum_gradient,
    .state_size = sizeof(EinsumEquation),
    .construct = einsum_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(einsum_kernel), INT_KERNELS(einsum_kernel),
                COMPLEX_KERNELS(einsum_kernel)},
};
