/* BlockLSTM: an LSTM over time, with its gradient. The product with x is one matrix product for all steps;
 * a step adds the product with the state of the step before. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/nn/lstm_tensors.h"
#include "ops/nn/recurrent_cell.h"
#include "ops/support/float_product.h"

enum { SEQ_LEN_MAX, X, CS_PREV, H_PREV, W, WCI, WCF, WCO, B, I, CS, H = I + 6, CS_GRAD, H_GRAD };

/* Whether the forget gate comes before the cell input: BlockLSTMV2, whose kernels have it as data. */
static const bool kForgetFirst = true;

static bool check_weights(const KernelContext *context, int64_t input, int64_t size, Status *status) {
  static const char *const names[] = {"wci.dim_size(0)", "wcf.dim_size(0)", "wco.dim_size(0)",
                                      "b.dim_size(0)"};
  const Shape *w = &context->inputs[W]->shape;
  TRY(recurrent_check("w.dim_size(0)", shape_dim(w, 0), "input_size + cell_size", input + size, status));
  TRY(recurrent_check("w.dim_size(1)", shape_dim(w, 1), "cell_size * 4", size * 4, status));
  for (int i = WCI; i <= B; i++) {
    TRY(recurrent_check(names[i - WCI], shape_dim(&context->inputs[i]->shape, 0),
                        i == B ? "cell_size * 4" : "cell_size", i == B ? size * 4 : size, status));
  }
  return true;
}

static bool refuse_rank(const char *name, int wanted, int rank, bool gradient, Status *status) {
  if (!gradient) return status_invalid(status, "%s must be %dD", name, wanted);
  return status_invalid(status, "%s must be rank %d but is rank %d", name, wanted, rank);
}

static bool check_ranks(const KernelContext *context, bool gradient, Status *status) {
  static const struct {
    const char *name;
    int rank;
  } kInputs[] = {{"x", 3},   {"cs_prev", 2}, {"h_prev", 2}, {"w", 2},
                 {"wci", 1}, {"wcf", 1},     {"wco", 1},    {"b", 1}};
  int rank = context->inputs[SEQ_LEN_MAX]->shape.rank;
  if (rank != 0) return status_invalid(status, "`seq_len_max_tensor` must be rank 0 but is rank %d", rank);
  for (int i = X; i <= B; i++) {
    rank = context->inputs[i]->shape.rank;
    if (rank != kInputs[i - X].rank)
      return refuse_rank(kInputs[i - X].name, kInputs[i - X].rank, rank, gradient, status);
  }
  return true;
}

/* Sizes and weights of the cell, and the number of time steps and of those that are computed. */
typedef struct Sequence {
  LstmCell cell;
  int64_t length, steps;
} Sequence;

static bool read_sequence(const KernelContext *context, Sequence *s, Status *status) {
  const Shape *x = &context->inputs[X]->shape;
  s->length = shape_dim(x, 0);
  s->steps = tensor_i64(context->inputs[SEQ_LEN_MAX])[0];
  s->cell.batch = shape_dim(x, 1);
  s->cell.input = shape_dim(x, 2);
  s->cell.size = shape_dim(&context->inputs[CS_PREV]->shape, 1);
  if (s->steps >= 0 && s->steps <= s->length) return true;
  return status_invalid(status, "seq_len_max must be between 0 and %lld but is %lld", (long long)s->length,
                        (long long)s->steps);
}

static bool check_states(const KernelContext *context, const Sequence *s, Status *status) {
  const Shape *cs = &context->inputs[CS_PREV]->shape, *h = &context->inputs[H_PREV]->shape;
  TRY(recurrent_check("cs_prev.dims(0)", shape_dim(cs, 0), "batch_size", s->cell.batch, status));
  TRY(recurrent_check("h_prev.dims(0)", shape_dim(h, 0), "batch_size", s->cell.batch, status));
  return recurrent_check("h_prev.dims(1)", shape_dim(h, 1), "cell_size", s->cell.size, status);
}

/* Weights come from the tensors, sizes stay. */
static void set_weights(Sequence *s, const KernelContext *context, const LstmTensors *tensors) {
  LstmCell sizes = s->cell;
  s->cell = lstm_cell(context->state, context->data == &kForgetFirst, tensors, W);
  s->cell.batch = sizes.batch, s->cell.input = sizes.input, s->cell.size = sizes.size;
}

/* The product of `rows` rows with the part of w for x or, with `state`, for the state before. */
static GemmArgs product_of(const LstmCell *cell, bool state, int64_t rows, const float *a, float *gates) {
  int64_t wide = 4 * cell->size, depth = state ? cell->size : cell->input;
  return (GemmArgs){.m = rows,
                    .n = wide,
                    .k = depth,
                    .a = a,
                    .lda = depth,
                    .b = cell->w + (state ? cell->input * wide : 0),
                    .ldb = wide,
                    .c = gates,
                    .ldc = wide,
                    .accumulate = state,
                    .bias = state ? NULL : cell->b};
}

/* --- forward --- */

static bool run_steps(KernelContext *context, const Sequence *s, const LstmTensors *t, float *gates,
                      Status *status) {
  const LstmCell *cell = &s->cell;
  int64_t count = cell->batch * cell->size;
  const float *h_prev = t->in[H_PREV].data;
  LstmStep step = {.cs_prev = t->in[CS_PREV].data};
  GemmArgs x = product_of(cell, false, s->steps * cell->batch, t->in[X].data, gates);
  TRY(float_product(context, &x, status));
  for (int64_t at = 0; at < s->steps * count; at += count) {
    GemmArgs h = product_of(cell, true, cell->batch, h_prev, gates + 4 * at);
    TRY(float_product(context, &h, status));
    for (int k = 0; k < LSTM_VALUES; k++) step.values[k] = (float *)t->out[k].data + at;
    lstm_forward(cell, &step, gates + 4 * at, context->parallel);
    step.cs_prev = step.values[LSTM_CS];
    h_prev = step.values[LSTM_H];
  }
  for (int k = 0; k < LSTM_VALUES; k++) {
    memset((float *)t->out[k].data + s->steps * count, 0,
           (size_t)((s->length - s->steps) * count) * sizeof(float));
  }
  return true;
}

static bool block_lstm(KernelContext *context, Status *status) {
  Sequence s;
  Tensor *out;
  LstmTensors tensors = {0};
  Buffer *gates = NULL;
  TRY(check_ranks(context, false, status));
  TRY(read_sequence(context, &s, status));
  TRY(check_states(context, &s, status));
  TRY(check_weights(context, s.cell.input, s.cell.size, status));
  const int64_t dims[3] = {s.length, s.cell.batch, s.cell.size};
  for (int i = 0; i < LSTM_VALUES; i++) TRY(kernel_allocate_output_dims(context, i, 3, dims, &out, status));
  if (tensor_num_elements(&context->outputs[0]) == 0) return true;
  bool ok = lstm_read(context, X, &tensors, status) &&
            (gates = recurrent_scratch(context, s.steps * s.cell.batch + 1, 4 * s.cell.size, status));
  if (ok) {
    set_weights(&s, context, &tensors);
    ok = run_steps(context, &s, &tensors, gates->data, status);
  }
  buffer_unref(gates);
  return lstm_finish(context, &tensors, ok, status);
}

/* --- backward --- */

enum { DX, DCS_PREV, DH_PREV, DW, DWCI, DWCF, DWCO, DB };

static bool check_gradient(const KernelContext *context, Sequence *s, Status *status) {
  static const char *const names[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
  TRY(check_ranks(context, true, status));
  const Shape *w = &context->inputs[W]->shape;
  int64_t biases = shape_dim(&context->inputs[B]->shape, 0);
  int64_t size = shape_dim(w, 1) / 4, rows = shape_dim(&context->inputs[X]->shape, 2) + size;
  if (rows != shape_dim(w, 0)) {
    return status_invalid(status, "w matrix rows don't match: %lld vs. %lld", (long long)rows,
                          (long long)shape_dim(w, 0));
  }
  if (size != biases / 4) {
    return status_invalid(status, "w and b cell_size don't match: %lld vs. %lld", (long long)size,
                          (long long)biases);
  }
  for (int i = I; i <= H_GRAD; i++) {
    int rank = context->inputs[i]->shape.rank;
    if (rank != 3) return status_invalid(status, "%s must be rank 3. Received: %d", names[i - I], rank);
  }
  TRY(read_sequence(context, s, status));
  TRY(check_states(context, s, status));
  TRY(check_weights(context, s->cell.input, s->cell.size, status));
  for (int i = I; i <= H_GRAD; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    if (shape_dim(shape, 0) == s->length && shape_dim(shape, 1) == s->cell.batch &&
        shape_dim(shape, 2) == s->cell.size)
      continue;
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "%s must have shape [%lld,%lld,%lld], but has %s", names[i - I],
                          (long long)s->length, (long long)s->cell.batch, (long long)s->cell.size,
                          shape_text(shape, text));
  }
  return true;
}

static void add_rows(int64_t count, const float *x, float *to) {
  for (int64_t i = 0; i < count; i++) to[i] += x[i];
}

/* The gates' gradients of all steps, from the last to the first. DCS_PREV and DH_PREV hold those with respect
 * to the states between the steps. `totals` has room for the two gradients that arrive at a step. */
static bool run_back(KernelContext *context, const Sequence *s, const LstmTensors *t, float *dgates,
                     float *totals, Status *status) {
  const LstmCell *cell = &s->cell;
  int64_t count = cell->batch * cell->size;
  float *cs_grad = totals, *h_grad = totals + count;
  float *dcs = t->out[DCS_PREV].data, *dh = t->out[DH_PREV].data;
  for (int64_t at = (s->steps - 1) * count; at >= 0; at -= count) {
    LstmStep step = {.cs_prev = at == 0 ? (const float *)t->in[CS_PREV].data
                                        : (const float *)t->in[CS].data + at - count};
    for (int k = 0; k < LSTM_H; k++) step.values[k] = (float *)t->in[I + k].data + at;
    memcpy(cs_grad, (const float *)t->in[CS_GRAD].data + at, (size_t)count * sizeof(float));
    memcpy(h_grad, (const float *)t->in[H_GRAD].data + at, (size_t)count * sizeof(float));
    add_rows(count, dcs, cs_grad);
    add_rows(count, dh, h_grad);
    LstmBackward back = {.cs_grad = cs_grad,
                         .h_grad = h_grad,
                         .dgates = dgates + 4 * at,
                         .cs_prev_grad = dcs};
    lstm_backward(cell, &step, &back, context->parallel);
    GemmArgs to_h = {.m = cell->batch,
                     .n = cell->size,
                     .k = 4 * cell->size,
                     .transpose_b = true,
                     .a = back.dgates,
                     .lda = 4 * cell->size,
                     .b = cell->w + cell->input * 4 * cell->size,
                     .ldb = 4 * cell->size,
                     .c = dh,
                     .ldc = cell->size};
    TRY(float_product(context, &to_h, status));
    float *const peepholes[3] = {t->out[DWCI].data, t->out[DWCF].data, t->out[DWCO].data};
    if (cell->peephole) lstm_add_peephole_gradients(cell, &step, back.dgates, peepholes);
  }
  return true;
}

/* dw += a^T dgates for `rows` rows of a, in the part of w for x or for the state before. */
static bool add_weights(KernelContext *context, const LstmCell *cell, bool state, int64_t rows,
                        const float *a, const float *dgates, float *dw, Status *status) {
  int64_t wide = 4 * cell->size, depth = state ? cell->size : cell->input;
  GemmArgs args = {.m = depth,
                   .n = wide,
                   .k = rows,
                   .transpose_a = true,
                   .a = a,
                   .lda = depth,
                   .b = dgates,
                   .ldb = wide,
                   .c = dw + (state ? cell->input * wide : 0),
                   .ldc = wide,
                   .accumulate = true};
  return float_product(context, &args, status);
}

/* The gradients with respect to x, w and b, as products for all steps at once. */
static bool finish_back(KernelContext *context, const Sequence *s, const LstmTensors *t, const float *dgates,
                        Status *status) {
  const LstmCell *cell = &s->cell;
  int64_t rows = s->steps * cell->batch, wide = 4 * cell->size;
  float *dw = t->out[DW].data;
  GemmArgs to_x = {.m = rows,
                   .n = cell->input,
                   .k = wide,
                   .transpose_b = true,
                   .a = dgates,
                   .lda = wide,
                   .b = cell->w,
                   .ldb = wide,
                   .c = t->out[DX].data,
                   .ldc = cell->input};
  TRY(float_product(context, &to_x, status));
  TRY(add_weights(context, cell, false, rows, t->in[X].data, dgates, dw, status));
  TRY(add_weights(context, cell, true, cell->batch, t->in[H_PREV].data, dgates, dw, status));
  TRY(add_weights(context, cell, true, rows - cell->batch, t->in[H].data, dgates + cell->batch * wide, dw,
                  status));
  return recurrent_column_sums(context, dgates, rows, wide, t->out[DB].data, status);
}

static bool block_lstm_grad(KernelContext *context, Status *status) {
  Sequence s;
  Tensor *out;
  LstmTensors tensors = {0};
  Buffer *dgates = NULL, *totals = NULL;
  TRY(check_gradient(context, &s, status));
  for (int i = DX; i <= DB; i++)
    TRY(kernel_allocate_output(context, i, &context->inputs[X + i]->shape, &out, status));
  bool ok = lstm_read(context, X, &tensors, status) &&
            (dgates = recurrent_scratch(context, s.steps * s.cell.batch + 1, 4 * s.cell.size, status)) &&
            (totals = recurrent_scratch(context, 2 * s.cell.batch + 1, s.cell.size, status));
  for (int i = DX; ok && i <= DB; i++) {
    memset(tensors.out[i].data, 0, (size_t)tensor_num_elements(&context->outputs[i]) * sizeof(float));
  }
  if (ok && s.steps > 0 && s.cell.batch > 0) {
    set_weights(&s, context, &tensors);
    ok = run_back(context, &s, &tensors, dgates->data, totals->data, status) &&
         finish_back(context, &s, &tensors, dgates->data, status);
  }
  buffer_unref(dgates);
  buffer_unref(totals);
  return lstm_finish(context, &tensors, ok, status);
}

/* --- shapes, gradients, ops --- */

static bool block_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, b, out;
  DimHandle dims[3];
  TRY(shape_with_rank(c, shape_input(c, X), 3, &x, status));
  TRY(shape_with_rank(c, shape_input(c, B), 1, &b, status));
  dims[0] = shape_dim_of(c, x, 0);
  dims[1] = shape_dim_of(c, x, 1);
  TRY(dim_divide(c, shape_dim_of(c, b, 0), 4, true, &dims[2], status));
  TRY(shape_ok(shape_of_dims(c, dims, 3), &out, status));
  for (int i = 0; i < LSTM_VALUES; i++) shape_set_output(c, i, out);
  return true;
}

static bool block_grad_shape(InferenceContext *c, Status *status) {
  static const int ranks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = DX; i <= DB; i++) {
    ShapeHandle shape;
    TRY(shape_with_rank(c, shape_input(c, X + i), ranks[i], &shape, status));
    shape_set_output(c, i, shape);
  }
  return true;
}

/* As in TensorFlow, gradients at the outputs other than cs and h are ignored. */
#define BLOCK_GRADIENT(op, grad, declared, given)                                                           \
  op "Gradient[T:type, " declared                                                                           \
     "cell_clip:float, use_peephole:bool](seq_len_max:int64, x:T, cs_prev:T, h_prev:T, w:T, wci:T, wcf:T, " \
     "wco:T, b:T, di:T, dcs:T, df:T, do:T, dci:T, dco:T, dh:T) -> (dseq_len_max:int64, dx:T, dcs_prev:T, "  \
     "dh_prev:T, dw:T, dwci:T, dwcf:T, dwco:T, db:T) {\n"                                                   \
     "  s = " op "[T=$T, " given                                                                            \
     "cell_clip=$cell_clip, use_peephole=$use_peephole](seq_len_max, x, cs_prev, h_prev, w, wci, wcf, "     \
     "wco, b)\n"                                                                                            \
     "  g = " grad                                                                                          \
     "[T=$T, use_peephole=$use_peephole](seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, s:i:0, "     \
     "s:cs:0, s:f:0, s:o:0, s:ci:0, s:co:0, s:h:0, dcs, dh)\n"                                              \
     "  none = ZerosLike[T=int64](seq_len_max)\n"                                                           \
     "  return dseq_len_max = none:y:0, dx = g:x_grad:0, dcs_prev = g:cs_prev_grad:0, "                     \
     "dh_prev = g:h_prev_grad:0, dw = g:w_grad:0, dwci = g:wci_grad:0, dwcf = g:wcf_grad:0, "               \
     "dwco = g:wco_grad:0, db = g:b_grad:0\n"                                                               \
     "}\n"

#define BLOCK                                                                                   \
  .inputs = {"seq_len_max: int64",                                                              \
             "x: T",                                                                            \
             "cs_prev: T",                                                                      \
             "h_prev: T",                                                                       \
             "w: T",                                                                            \
             "wci: T",                                                                          \
             "wcf: T",                                                                          \
             "wco: T",                                                                          \
             "b: T"},                                                                           \
  .outputs = {"i: T", "cs: T", "f: T", "o: T", "ci: T", "co: T", "h: T"}, .shape = block_shape, \
  .state_size = sizeof(LstmAttrs), .construct = lstm_construct

#define BLOCK_GRAD                                                                \
  .inputs = {"seq_len_max: int64",                                                \
             "x: T",                                                              \
             "cs_prev: T",                                                        \
             "h_prev: T",                                                         \
             "w: T",                                                              \
             "wci: T",                                                            \
             "wcf: T",                                                            \
             "wco: T",                                                            \
             "b: T",                                                              \
             "i: T",                                                              \
             "cs: T",                                                             \
             "f: T",                                                              \
             "o: T",                                                              \
             "ci: T",                                                             \
             "co: T",                                                             \
             "h: T",                                                              \
             "cs_grad: T",                                                        \
             "h_grad: T"},                                                        \
  .outputs = {"x_grad: T",   "cs_prev_grad: T", "h_prev_grad: T", "w_grad: T",    \
              "wci_grad: T", "wcf_grad: T",     "wco_grad: T",    "b_grad: T"},   \
  .attrs = {"use_peephole: bool", "T: {half, float}"}, .shape = block_grad_shape, \
  .state_size = sizeof(LstmAttrs), .construct = lstm_construct

const OpRegistration kOpBlockLSTM = {
    .name = "BlockLSTM",
    BLOCK,
    .attrs = {"forget_bias: float = 1.0", "cell_clip: float = 3.0", "use_peephole: bool = false",
              "T: {half, float}"},
    .gradient =
        BLOCK_GRADIENT("BlockLSTM", "BlockLSTMGrad", "forget_bias:float, ", "forget_bias=$forget_bias, "),
    .kernels = {{DT_FLOAT, block_lstm}, {DT_HALF, block_lstm}},
};

const OpRegistration kOpBlockLSTMV2 = {
    .name = "BlockLSTMV2",
    BLOCK,
    .attrs = {"cell_clip: float = 0.0", "use_peephole: bool = false", "T: {half, float}"},
    .gradient = BLOCK_GRADIENT("BlockLSTMV2", "BlockLSTMGradV2", "", ""),
    .kernels = {{DT_FLOAT, block_lstm, &kForgetFirst}, {DT_HALF, block_lstm, &kForgetFirst}},
};

const OpRegistration kOpBlockLSTMGrad = {
    .name = "BlockLSTMGrad",
    BLOCK_GRAD,
    .kernels = {{DT_FLOAT, block_lstm_grad}, {DT_HALF, block_lstm_grad}},
};

const OpRegistration kOpBlockLSTMGradV2 = {
    .name = "BlockLSTMGradV2",
    BLOCK_GRAD,
    .kernels = {{DT_FLOAT, block_lstm_grad, &kForgetFirst}, {DT_HALF, block_lstm_grad, &kForgetFirst}},
};
