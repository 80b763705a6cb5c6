/* GRUBlockCell: one step of a GRU, and GRUBlockCellGrad, its gradient with respect to the gates.
 *
 *   [r, u] = sigmoid([x, h_prev] w_ru + b_ru),  c = tanh([x, h_prev * r] w_c + b_c)
 *   h = u * h_prev + (1 - u) * c
 */
#include "op/op_registry.h"
#include "ops/nn/recurrent_cell.h"
#include "ops/support/float_product.h"
#include "simd/vector_math.h"

enum { X, H_PREV, W_RU, W_C, B_RU, B_C, R, U, C, D_H };

typedef struct Sizes {
  int64_t batch, input, cell;
} Sizes;

static bool check_rank(const KernelContext *context, int i, const char *name, int rank, Status *status) {
  int found = context->inputs[i]->shape.rank;
  return found == rank || status_invalid(status, "Rank of %s must be %d, got %d", name, rank, found);
}

static bool check_cell(const KernelContext *context, Sizes *sizes, Status *status) {
  const Shape *x = &context->inputs[X]->shape, *h = &context->inputs[H_PREV]->shape,
              *w_ru = &context->inputs[W_RU]->shape, *w_c = &context->inputs[W_C]->shape;
  TRY(check_rank(context, X, "x", 2, status));
  TRY(check_rank(context, H_PREV, "h_prev", 2, status));
  *sizes = (Sizes){shape_dim(x, 0), shape_dim(x, 1), shape_dim(h, 1)};
  int64_t depth = sizes->input + sizes->cell, cell = sizes->cell;
  TRY(recurrent_check("h_prev.dims(0)", shape_dim(h, 0), "batch_size", sizes->batch, status));
  TRY(check_rank(context, W_RU, "w_ru_", 2, status));
  TRY(recurrent_check("w_ru.dim_size(0)", shape_dim(w_ru, 0), "input_size + cell_size", depth, status));
  TRY(recurrent_check("w_ru.dim_size(1)", shape_dim(w_ru, 1), "cell_size * 2", 2 * cell, status));
  TRY(check_rank(context, W_C, "w_c", 2, status));
  TRY(recurrent_check("w_c.dim_size(0)", shape_dim(w_c, 0), "input_size + cell_size", depth, status));
  TRY(recurrent_check("w_c.dim_size(1)", shape_dim(w_c, 1), "cell_size", cell, status));
  TRY(check_rank(context, B_RU, "b_ru", 1, status));
  TRY(recurrent_check("b_ru.dim_size(0)", shape_dim(&context->inputs[B_RU]->shape, 0), "cell_size * 2",
                      2 * cell, status));
  TRY(check_rank(context, B_C, "b_c", 1, status));
  return recurrent_check("b_c.dim_size(0)", shape_dim(&context->inputs[B_C]->shape, 0), "cell_size", cell,
                         status);
}

/* to = [x, h] w + b, with `columns` columns. */
static bool affine(KernelContext *context, const Sizes *sizes, const float *h, int w, int b, int64_t columns,
                   float *to, Status *status) {
  const float *weights = tensor_f32(context->inputs[w]);
  GemmArgs of_x = {.m = sizes->batch,
                   .n = columns,
                   .k = sizes->input,
                   .a = context->inputs[X]->data,
                   .lda = sizes->input,
                   .b = weights,
                   .ldb = columns,
                   .c = to,
                   .ldc = columns,
                   .bias = context->inputs[b]->data};
  GemmArgs of_h = of_x;
  of_h.k = of_h.lda = sizes->cell;
  of_h.a = h;
  of_h.b = weights + sizes->input * columns;
  of_h.bias = NULL;
  of_h.accumulate = true;
  return float_product(context, &of_x, status) && float_product(context, &of_h, status);
}

static bool run_cell(KernelContext *context, const Sizes *sizes, float *gates, float *state, Status *status) {
  int64_t n = sizes->cell, count = sizes->batch * n;
  const float *h_prev = tensor_f32(context->inputs[H_PREV]);
  float *r = context->outputs[0].data, *u = context->outputs[1].data, *c = context->outputs[2].data,
        *h = context->outputs[3].data;
  TRY(affine(context, sizes, h_prev, W_RU, B_RU, 2 * n, gates, status));
  for (int64_t row = 0; row < sizes->batch; row++) {
    vector_sigmoid_f32(n, gates + 2 * row * n, r + row * n);
    vector_sigmoid_f32(n, gates + (2 * row + 1) * n, u + row * n);
  }
  for (int64_t i = 0; i < count; i++) state[i] = h_prev[i] * r[i];
  TRY(affine(context, sizes, state, W_C, B_C, n, c, status));
  vector_tanh_f32(count, c, c);
  for (int64_t i = 0; i < count; i++) h[i] = u[i] * h_prev[i] + (1 - u[i]) * c[i];
  return true;
}

static bool gru_block_cell(KernelContext *context, Status *status) {
  Sizes sizes;
  Tensor *out;
  TRY(check_cell(context, &sizes, status));
  for (int i = 0; i < 4; i++)
    TRY(kernel_allocate_output_dims(context, i, 2, (int64_t[]){sizes.batch, sizes.cell}, &out, status));
  if (tensor_num_elements(&context->outputs[0]) == 0) return true;
  Buffer *gates = recurrent_scratch(context, sizes.batch, 2 * sizes.cell, status);
  Buffer *state = gates ? recurrent_scratch(context, sizes.batch, sizes.cell, status) : NULL;
  bool ok = state && run_cell(context, &sizes, gates->data, state->data, status);
  buffer_unref(gates);
  buffer_unref(state);
  return ok;
}

/* --- backward --- */

static bool check_values(const KernelContext *context, const Sizes *sizes, Status *status) {
  static const char *const names[][3] = {{"r", "r.dims(0)", "r.dims(1)"},
                                         {"u", "u.dims(0)", "u.dims(1)"},
                                         {"w_c", "c.dims(0)", "c.dims(1)"},
                                         {"d_h", "d_h.dims(0)", "d_h.dims(1)"}};
  for (int i = R; i <= D_H; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    TRY(check_rank(context, i, names[i - R][0], 2, status));
    TRY(recurrent_check(names[i - R][1], shape_dim(shape, 0), "batch_size", sizes->batch, status));
    TRY(recurrent_check(names[i - R][2], shape_dim(shape, 1), "cell_size", sizes->cell, status));
  }
  return true;
}

/* dx (+)= dgates w_x^T, or dh = dgates w_h^T: the gradient by one part of [x, h]. */
static bool to_part(KernelContext *context, const Sizes *sizes, bool state, const float *dgates, int w,
                    int64_t columns, bool add, float *to, Status *status) {
  GemmArgs args = {.m = sizes->batch,
                   .n = state ? sizes->cell : sizes->input,
                   .k = columns,
                   .transpose_b = true,
                   .a = dgates,
                   .lda = columns,
                   .b = tensor_f32(context->inputs[w]) + (state ? sizes->input * columns : 0),
                   .ldb = columns,
                   .c = to,
                   .ldc = state ? sizes->cell : sizes->input,
                   .accumulate = add};
  return float_product(context, &args, status);
}

static bool run_back(KernelContext *context, const Sizes *sizes, float *d_hr, Status *status) {
  int64_t n = sizes->cell, count = sizes->batch * n;
  const float *h_prev = tensor_f32(context->inputs[H_PREV]), *r = tensor_f32(context->inputs[R]),
              *u = tensor_f32(context->inputs[U]), *c = tensor_f32(context->inputs[C]),
              *d_h = tensor_f32(context->inputs[D_H]);
  float *d_x = context->outputs[0].data, *d_h_prev = context->outputs[1].data,
        *d_c_bar = context->outputs[2].data, *d_ru = context->outputs[3].data;
  for (int64_t i = 0; i < count; i++) d_c_bar[i] = d_h[i] * (1 - u[i]) * (1 - c[i] * c[i]);
  TRY(to_part(context, sizes, false, d_c_bar, W_C, n, false, d_x, status));
  TRY(to_part(context, sizes, true, d_c_bar, W_C, n, false, d_hr, status));
  for (int64_t i = 0; i < count; i++) {
    float *row = d_ru + 2 * (i / n) * n + i % n;
    row[0] = d_hr[i] * h_prev[i] * r[i] * (1 - r[i]);
    row[n] = d_h[i] * (h_prev[i] - c[i]) * u[i] * (1 - u[i]);
  }
  TRY(to_part(context, sizes, false, d_ru, W_RU, 2 * n, true, d_x, status));
  TRY(to_part(context, sizes, true, d_ru, W_RU, 2 * n, false, d_h_prev, status));
  for (int64_t i = 0; i < count; i++) d_h_prev[i] += d_hr[i] * r[i] + d_h[i] * u[i];
  return true;
}

static bool gru_block_cell_grad(KernelContext *context, Status *status) {
  Sizes sizes;
  Tensor *out;
  TRY(check_cell(context, &sizes, status));
  TRY(check_values(context, &sizes, status));
  const int64_t columns[] = {sizes.input, sizes.cell, sizes.cell, 2 * sizes.cell};
  for (int i = 0; i < 4; i++)
    TRY(kernel_allocate_output_dims(context, i, 2, (int64_t[]){sizes.batch, columns[i]}, &out, status));
  Buffer *d_hr = recurrent_scratch(context, sizes.batch, sizes.cell + 1, status);
  bool ok = d_hr && run_back(context, &sizes, d_hr->data, status);
  buffer_unref(d_hr);
  return ok;
}

/* --- shapes, gradient, ops --- */

static bool cell_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, h, out;
  TRY(shape_with_rank(c, shape_input(c, X), 2, &x, status));
  TRY(shape_with_rank(c, shape_input(c, H_PREV), 2, &h, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, x, 0), shape_dim_of(c, h, 1)), &out, status));
  for (int i = 0; i < 4; i++) shape_set_output(c, i, out);
  return true;
}

static bool cell_grad_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, w, gates;
  TRY(cell_shape(c, status));
  TRY(shape_with_rank(c, shape_input(c, X), 2, &x, status));
  TRY(shape_with_rank(c, shape_input(c, W_RU), 2, &w, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, x, 0), shape_dim_of(c, w, 1)), &gates, status));
  shape_set_output(c, 0, x);
  shape_set_output(c, 3, gates);
  return true;
}

/* As in TensorFlow, gradients at the outputs other than h are ignored. */
#define GRADIENT                                                                                          \
  "GRUBlockCellGradient[T:type](x:T, h_prev:T, w_ru:T, w_c:T, b_ru:T, b_c:T, dr:T, du:T, dc:T, dh:T) -> " \
  "(dx:T, dh_prev:T, dw_ru:T, dw_c:T, db_ru:T, db_c:T) {\n"                                               \
  "  s = GRUBlockCell[T=$T](x, h_prev, w_ru, w_c, b_ru, b_c)\n"                                           \
  "  g = GRUBlockCellGrad[T=$T](x, h_prev, w_ru, w_c, b_ru, b_c, s:r:0, s:u:0, s:c:0, dh)\n"              \
  "  axis = Const[dtype=int32, value=1]()\n"                                                              \
  "  xh = ConcatV2[N=2, T=$T, Tidx=int32](x, h_prev, axis:output:0)\n"                                    \
  "  hr = Mul[T=$T](h_prev, s:r:0)\n"                                                                     \
  "  xhr = ConcatV2[N=2, T=$T, Tidx=int32](x, hr:z:0, axis:output:0)\n"                                   \
  "  dw_ru = MatMul[T=$T, transpose_a=true, transpose_b=false](xh:output:0, g:d_r_bar_u_bar:0)\n"         \
  "  dw_c = MatMul[T=$T, transpose_a=true, transpose_b=false](xhr:output:0, g:d_c_bar:0)\n"               \
  "  db_ru = BiasAddGrad[T=$T](g:d_r_bar_u_bar:0)\n"                                                      \
  "  db_c = BiasAddGrad[T=$T](g:d_c_bar:0)\n"                                                             \
  "  return dx = g:d_x:0, dh_prev = g:d_h_prev:0, dw_ru = dw_ru:product:0, dw_c = dw_c:product:0, "       \
  "db_ru = db_ru:output:0, db_c = db_c:output:0\n"                                                        \
  "}\n"

const OpRegistration kOpGRUBlockCell = {
    .name = "GRUBlockCell",
    .inputs = {"x: T", "h_prev: T", "w_ru: T", "w_c: T", "b_ru: T", "b_c: T"},
    .outputs = {"r: T", "u: T", "c: T", "h: T"},
    .attrs = {"T: {float}"},
    .shape = cell_shape,
    .gradient = GRADIENT,
    .kernels = {{DT_FLOAT, gru_block_cell}},
};

const OpRegistration kOpGRUBlockCellGrad = {
    .name = "GRUBlockCellGrad",
    .inputs = {"x: T", "h_prev: T", "w_ru: T", "w_c: T", "b_ru: T", "b_c: T", "r: T", "u: T", "c: T",
               "d_h: T"},
    .outputs = {"d_x: T", "d_h_prev: T", "d_c_bar: T", "d_r_bar_u_bar: T"},
    .attrs = {"T: {float}"},
    .shape = cell_grad_shape,
    .kernels = {{DT_FLOAT, gru_block_cell_grad}},
};
