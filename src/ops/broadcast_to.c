/* BroadcastTo: a tensor repeated along dimensions of size 1 and along new leading ones. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/broadcast.h"
#include "ops/element_types.h"

#define TEMPLATE "ops/broadcast_copy.inc"
#define TYPES (TYPES_INT | TYPES_SMALL)
#include "ops/each_type.inc"

typedef struct Cell16 {
  uint64_t halves[2];
} Cell16;

static void copy_16(const void *from, const void *unused, void *to, int64_t n, BroadcastSide still) {
  (void)unused;
  for (int64_t i = 0; i < n; i++) memcpy((Cell16 *)to + i, (const Cell16 *)from + (still == BROADCAST_A ? 0 : i), sizeof(Cell16));
}

/* The same for elements that are no plain bytes: first which of the input's elements goes where. */
static bool broadcast_strings(KernelContext *context, const Broadcast *plan, Tensor *out, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t count = tensor_num_elements(input);
  Buffer *buffer = kernel_scratch(context, (count + plan->elements) * (int64_t)sizeof(int64_t), status);
  if (buffer == NULL) return false;
  int64_t *own = buffer->data, *source = own + count;
  for (int64_t i = 0; i < count; i++) own[i] = i;
  broadcast_run(NULL, plan, own, source, source, sizeof(int64_t), sizeof(int64_t), copy_i64);
  bool ok = true;
  for (int64_t i = 0; i < plan->elements && ok; i++) {
    const TString *from = &tensor_strings(input)[source[i]];
    ok = tstring_set(&tensor_strings(out)[i], from->data, from->length, status);
  }
  buffer_unref(buffer);
  return ok;
}

static bool run_broadcast(KernelContext *context, const Shape *shape, Status *status) {
  const Tensor *input = context->inputs[0];
  Shape together = {0};
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (input->shape.rank > shape->rank) {
    return status_invalid(status, "Rank of input (%d) must be no greater than rank of output shape (%d).", input->shape.rank,
                          shape->rank);
  }
  TRY(broadcast_shapes(&input->shape, shape, &together, status));
  bool fits = shape_equal(&together, shape);
  shape_clear(&together);
  if (!fits) {
    return status_invalid(status, "Unable to broadcast tensor of shape %s to tensor of shape %s", shape_text(&input->shape, a),
                          shape_text(shape, b));
  }
  if (tensor_num_elements(input) == shape_num_elements(shape)) return kernel_set_output(context, 0, input, shape, status);
  Tensor *out;
  Broadcast plan;
  TRY(kernel_allocate_output(context, 0, shape, &out, status));
  broadcast_plan(&input->shape, shape, &plan);
  if (input->dtype == DT_STRING) return broadcast_strings(context, &plan, out, status);
  int64_t size = (int64_t)dtype_size((int)input->dtype);
  if (!dtype_is_pod((int)input->dtype)) {
    return status_set(status, CODE_UNIMPLEMENTED, "BroadcastTo of %s is not supported", dtype_name((int)input->dtype));
  }
  BinaryLoop *loop = size == 1 ? copy_u8 : size == 2 ? copy_u16 : size == 4 ? copy_i32 : size == 8 ? copy_i64 : copy_16;
  broadcast_run(context->parallel, &plan, input->data, out->data, out->data, size, size, loop);
  return true;
}

static bool broadcast_to(KernelContext *context, Status *status) {
  Shape shape = {0};
  bool ok = broadcast_shape_of_input(context, 1, &shape, status) && run_broadcast(context, &shape, status);
  shape_clear(&shape);
  return ok;
}

static bool broadcast_to_shape(InferenceContext *c, Status *status) {
  ShapeHandle vector, in = shape_input(c, 0), out;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &vector, status));
  TRY(shape_from_input_tensor(c, 1, &out, status));
  if (shape_rank_known(out) && shape_rank_known(in)) {
    int32_t rank = shape_rank(out);
    TRY(shape_with_rank_at_most(c, in, rank, &in, status));
    for (int32_t i = 1; i <= shape_rank(in); i++) {
      DimHandle size = shape_dim_of(c, in, -i), merged;
      if (dim_value(size) <= 1) continue;
      TRY(dim_merge(c, size, shape_dim_of(c, out, -i), &merged, status));
      TRY(shape_replace_dim(c, out, rank - i, merged, &out, status));
    }
  }
  shape_set_output(c, 0, out);
  return true;
}

REGISTER_OP(BroadcastTo,
  .inputs = {"input: T", "shape: Tidx"}, .outputs = {"output: T"},
  .attrs = {"T: type", "Tidx: {int32, int64} = DT_INT32"},
  .shape = broadcast_to_shape,
  .gradient =
    "BroadcastToGradient[T:type, Tidx:type](x:T, shape:Tidx, dy:T) -> (dx:T, dshape:Tidx) {\n"
    "  sx = Shape[T=$T, out_type=$Tidx](x)\n"
    "  axes = BroadcastGradientArgs[T=$Tidx](sx:output:0, shape)\n"
    "  total = Sum[T=$T, Tidx=$Tidx](dy, axes:r0:0)\n"
    "  dx = Reshape[T=$T, Tshape=$Tidx](total:output:0, sx:output:0)\n"
    "  dshape = ZerosLike[T=$Tidx](shape)\n"
    "  return dx = dx:output:0, dshape = dshape:y:0\n"
    "}\n",
  .kernels = {{DT_INVALID, broadcast_to}})
