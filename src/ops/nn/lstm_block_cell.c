/* LSTMBlockCell: one step of an LSTM, and LSTMBlockCellGrad, its gradient with respect to the gates. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/nn/lstm_tensors.h"
#include "ops/nn/recurrent_cell.h"
#include "ops/support/float_product.h"

enum { X, CS_PREV, H_PREV, W, WCI, WCF, WCO, B, I, CS_GRAD = I + 6, H_GRAD };

static const char *const kNames[] = {"x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"};

static bool check_ranks(const KernelContext *context, Status *status) {
  for (int i = X; i <= B; i++) {
    int rank = context->inputs[i]->shape.rank, wanted = i >= WCI ? 1 : 2;
    if (rank != wanted)
      return status_invalid(status, "%s_tensor must be rank %d but is rank %d.", kNames[i], wanted, rank);
  }
  return true;
}

static bool check_weights(const KernelContext *context, const LstmAttrs *attrs, int64_t input, int64_t size,
                          Status *status) {
  const Shape *w = &context->inputs[W]->shape;
  TRY(recurrent_check("w.dim_size(0)", shape_dim(w, 0), "input_size + cell_size", input + size, status));
  TRY(recurrent_check("w.dim_size(1)", shape_dim(w, 1), "cell_size * 4", size * 4, status));
  TRY(recurrent_check("b.dim_size(0)", shape_dim(&context->inputs[B]->shape, 0), "cell_size * 4", size * 4,
                      status));
  if (!attrs->peephole) return true;
  static const char *const names[] = {"wci.dim_size(0)", "wcf.dim_size(0)", "wco.dim_size(0)"};
  for (int k = 0; k < 3; k++) {
    TRY(recurrent_check(names[k], shape_dim(&context->inputs[WCI + k]->shape, 0), "cell_size", size, status));
  }
  return true;
}

/* Checks the inputs of both ops, and finds the sizes. */
static bool check_cell(const KernelContext *context, int64_t *batch, int64_t *input, int64_t *size,
                       Status *status) {
  TRY(check_ranks(context, status));
  const Shape *x = &context->inputs[X]->shape, *cs = &context->inputs[CS_PREV]->shape,
              *h = &context->inputs[H_PREV]->shape;
  *batch = shape_dim(x, 0);
  *input = shape_dim(x, 1);
  *size = shape_dim(cs, 1);
  TRY(recurrent_check("cs_prev.dims(0)", shape_dim(cs, 0), "batch_size", *batch, status));
  TRY(recurrent_check("h_prev.dims(0)", shape_dim(h, 0), "batch_size", *batch, status));
  TRY(recurrent_check("h_prev.dims(1)", shape_dim(h, 1), "cell_size", *size, status));
  TRY(check_weights(context, context->state, *input, *size, status));
  if (*batch > 0 && *size > 0) return true;
  return status_invalid(status, "cs_prev_tensor is empty, has shape: (%lld,%lld).", (long long)*batch,
                        (long long)*size);
}

static bool run_forward(KernelContext *context, const LstmCell *cell, const LstmTensors *t, Status *status) {
  int64_t wide = 4 * cell->size;
  Buffer *gates = recurrent_scratch(context, cell->batch, wide, status);
  if (!gates) return false;
  GemmArgs x = {.m = cell->batch,
                .n = wide,
                .k = cell->input,
                .a = t->in[X].data,
                .lda = cell->input,
                .b = cell->w,
                .ldb = wide,
                .c = gates->data,
                .ldc = wide,
                .bias = cell->b};
  GemmArgs h = x;
  h.k = h.lda = cell->size;
  h.a = t->in[H_PREV].data;
  h.b = cell->w + cell->input * wide;
  h.bias = NULL;
  h.accumulate = true;
  bool ok = float_product(context, &x, status) && float_product(context, &h, status);
  LstmStep step = {.cs_prev = t->in[CS_PREV].data};
  for (int k = 0; k < LSTM_VALUES; k++) step.values[k] = t->out[k].data;
  if (ok) lstm_forward(cell, &step, gates->data, context->parallel);
  buffer_unref(gates);
  return ok;
}

static bool lstm_block_cell(KernelContext *context, Status *status) {
  int64_t batch, input, size;
  Tensor *out;
  LstmTensors tensors = {0};
  TRY(check_cell(context, &batch, &input, &size, status));
  for (int i = 0; i < LSTM_VALUES; i++)
    TRY(kernel_allocate_output_dims(context, i, 2, (int64_t[]){batch, size}, &out, status));
  bool ok = lstm_read(context, 0, &tensors, status);
  if (ok) {
    LstmCell cell = lstm_cell(context->state, false, &tensors, W);
    cell.batch = batch, cell.input = input, cell.size = size;
    ok = run_forward(context, &cell, &tensors, status);
  }
  return lstm_finish(context, &tensors, ok, status);
}

/* The values of the step and the incoming gradients are [batch, size]. */
static bool check_values(const KernelContext *context, int64_t batch, int64_t size, Status *status) {
  static const char *const names[][2] = {
      {"i.dim_size(0)", "i.dim_size(1)"},
      {"cs.dim_size(0)", "cs.dim_size(1)"},
      {"f.dim_size(0)", "i.dim_size(1)"},
      {"o.dim_size(0)", "o.dim_size(1)"},
      {"ci.dim_size(0)", "ci.dim_size(1)"},
      {"co.dim_size(0)", "co.dim_size(1)"},
      {"cs_grad_tensor.dims(0)", "cs_grad_tensor.dims(1)"},
      {"h_grad_tensor.dims(0)", "h_grad_tensor.dims(1)"},
  };
  for (int i = I; i <= H_GRAD; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    if (shape->rank != 2)
      return status_invalid(status, "input %d must be rank 2 but is rank %d.", i, shape->rank);
    TRY(recurrent_check(names[i - I][0], shape_dim(shape, 0), "batch_size", batch, status));
    TRY(recurrent_check(names[i - I][1], shape_dim(shape, 1), "cell_size", size, status));
  }
  return true;
}

static void run_backward(KernelContext *context, const LstmCell *cell, const LstmTensors *t) {
  LstmStep step = {.cs_prev = t->in[CS_PREV].data};
  for (int k = 0; k < LSTM_H; k++) step.values[k] = t->in[I + k].data;
  LstmBackward back = {.cs_grad = t->in[CS_GRAD].data,
                       .h_grad = t->in[H_GRAD].data,
                       .cs_prev_grad = t->out[0].data,
                       .dgates = t->out[1].data};
  lstm_backward(cell, &step, &back, context->parallel);
  float *grads[3];
  for (int k = 0; k < 3; k++) {
    grads[k] = t->out[2 + k].data;
    int64_t count = tensor_num_elements(&context->outputs[2 + k]);
    memset(grads[k], 0, (size_t)count * sizeof(float));
  }
  if (cell->peephole) lstm_add_peephole_gradients(cell, &step, back.dgates, grads);
}

static bool lstm_block_cell_grad(KernelContext *context, Status *status) {
  int64_t batch, input, size;
  Tensor *out;
  LstmTensors tensors = {0};
  TRY(check_cell(context, &batch, &input, &size, status));
  TRY(check_values(context, batch, size, status));
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){batch, size}, &out, status));
  TRY(kernel_allocate_output_dims(context, 1, 2, (int64_t[]){batch, 4 * size}, &out, status));
  for (int k = 0; k < 3; k++)
    TRY(kernel_allocate_output(context, 2 + k, &context->inputs[WCI + k]->shape, &out, status));
  bool ok = lstm_read(context, 0, &tensors, status);
  if (ok) {
    LstmCell cell = lstm_cell(context->state, false, &tensors, W);
    cell.batch = batch, cell.input = input, cell.size = size;
    run_backward(context, &cell, &tensors);
  }
  return lstm_finish(context, &tensors, ok, status);
}

static bool cell_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, cs, out;
  TRY(shape_with_rank(c, shape_input(c, X), 2, &x, status));
  TRY(shape_with_rank(c, shape_input(c, CS_PREV), 2, &cs, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, x, 0), shape_dim_of(c, cs, 1)), &out, status));
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, out);
  return true;
}

static bool cell_grad_shape(InferenceContext *c, Status *status) {
  ShapeHandle cs, gates, vector;
  DimHandle four, wide;
  TRY(cell_shape(c, status));
  TRY(shape_with_rank(c, shape_input(c, CS_PREV), 2, &cs, status));
  TRY(dim_ok(dim_make(c, 4), &four, status));
  TRY(dim_multiply(c, shape_dim_of(c, cs, 1), four, &wide, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, c->outputs[0], 0), wide), &gates, status));
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, cs, 1)), &vector, status));
  shape_set_output(c, 1, gates);
  for (int i = 2; i < 5; i++) shape_set_output(c, i, vector);
  return true;
}

/* As in TensorFlow, gradients at the outputs other than cs and h are ignored. */
#define CELL_GRADIENT                                                                                      \
  "LSTMBlockCellGradient[T:type, forget_bias:float, cell_clip:float, use_peephole:bool](x:T, cs_prev:T, "  \
  "h_prev:T, w:T, wci:T, wcf:T, wco:T, b:T, di:T, dcs:T, df:T, do:T, dci:T, dco:T, dh:T) -> "              \
  "(dx:T, dcs_prev:T, dh_prev:T, dw:T, dwci:T, dwcf:T, dwco:T, db:T) {\n"                                  \
  "  s = LSTMBlockCell[T=$T, forget_bias=$forget_bias, cell_clip=$cell_clip, use_peephole=$use_peephole](" \
  "x, cs_prev, h_prev, w, wci, wcf, wco, b)\n"                                                             \
  "  g = LSTMBlockCellGrad[T=$T, use_peephole=$use_peephole](x, cs_prev, h_prev, w, wci, wcf, wco, b, "    \
  "s:i:0, s:cs:0, s:f:0, s:o:0, s:ci:0, s:co:0, dcs, dh)\n"                                                \
  "  xh_grad = MatMul[T=$T, transpose_a=false, transpose_b=true](g:dicfo:0, w)\n"                          \
  "  x_shape = Shape[T=$T, out_type=int32](x)\n"                                                           \
  "  h_shape = Shape[T=$T, out_type=int32](h_prev)\n"                                                      \
  "  axis = Const[dtype=int32, value=1]()\n"                                                               \
  "  offsets = ConcatOffset[N=2](axis:output:0, x_shape:output:0, h_shape:output:0)\n"                     \
  "  dx = Slice[T=$T, Index=int32](xh_grad:product:0, offsets:offset:0, x_shape:output:0)\n"               \
  "  dh_prev = Slice[T=$T, Index=int32](xh_grad:product:0, offsets:offset:1, h_shape:output:0)\n"          \
  "  xh = ConcatV2[N=2, T=$T, Tidx=int32](x, h_prev, axis:output:0)\n"                                     \
  "  dw = MatMul[T=$T, transpose_a=true, transpose_b=false](xh:output:0, g:dicfo:0)\n"                     \
  "  db = BiasAddGrad[T=$T](g:dicfo:0)\n"                                                                  \
  "  return dx = dx:output:0, dcs_prev = g:cs_prev_grad:0, dh_prev = dh_prev:output:0, "                   \
  "dw = dw:product:0, dwci = g:wci_grad:0, dwcf = g:wcf_grad:0, dwco = g:wco_grad:0, db = db:output:0\n"   \
  "}\n"

const OpRegistration kOpLSTMBlockCell = {
    .name = "LSTMBlockCell",
    .inputs = {"x: T", "cs_prev: T", "h_prev: T", "w: T", "wci: T", "wcf: T", "wco: T", "b: T"},
    .outputs = {"i: T", "cs: T", "f: T", "o: T", "ci: T", "co: T", "h: T"},
    .attrs = {"forget_bias: float = 1.0", "cell_clip: float = 3.0", "use_peephole: bool = false",
              "T: {half, float}"},
    .shape = cell_shape,
    .gradient = CELL_GRADIENT,
    .state_size = sizeof(LstmAttrs),
    .construct = lstm_construct,
    .kernels = {{DT_FLOAT, lstm_block_cell}, {DT_HALF, lstm_block_cell}},
};

const OpRegistration kOpLSTMBlockCellGrad = {
    .name = "LSTMBlockCellGrad",
    .inputs = {"x: T", "cs_prev: T", "h_prev: T", "w: T", "wci: T", "wcf: T", "wco: T", "b: T", "i: T",
               "cs: T", "f: T", "o: T", "ci: T", "co: T", "cs_grad: T", "h_grad: T"},
    .outputs = {"cs_prev_grad: T", "dicfo: T", "wci_grad: T", "wcf_grad: T", "wco_grad: T"},
    .attrs = {"use_peephole: bool", "T: {half, float}"},
    .shape = cell_grad_shape,
    .state_size = sizeof(LstmAttrs),
    .construct = lstm_construct,
    .kernels = {{DT_FLOAT, lstm_block_cell_grad}, {DT_HALF, lstm_block_cell_grad}},
};
