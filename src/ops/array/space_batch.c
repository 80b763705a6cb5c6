/* SpaceToBatch and BatchToSpace: move blocks of some axes to the batch axis, and back. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

/* A space tensor [batch, space..., rest...] and its batch tensor: the element at position p of an axis,
 * counted from `before` positions before its beginning, is in block p / block at offset p % block. */
typedef struct BlockSpec {
  int axes; /* the number of blocked axes after the batch */
  int64_t block[SHAPE_MAX_RANK], before[SHAPE_MAX_RANK], after[SHAPE_MAX_RANK];
  int64_t blocks; /* the product of `block` */
} BlockSpec;

static int64_t ceil_div(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : 0; }

/* The elements at one offset of each axis. */
static bool copy_offset(const KernelContext *context, const BlockSpec *spec, bool to_batch,
                        const int64_t *offset, int64_t number, const Tensor *from, Tensor *to,
                        Status *status) {
  const Shape *space = to_batch ? &from->shape : &to->shape, *batch = to_batch ? &to->shape : &from->shape;
  int64_t in_space[SHAPE_MAX_RANK], in_batch[SHAPE_MAX_RANK], begin[2] = {0, 0};
  ArrayBox box = {0};
  array_strides(space, in_space);
  array_strides(batch, in_batch);
  begin[1] = number * shape_dim(space, 0) * in_batch[0];
  for (int d = 0; d < space->rank; d++) {
    int64_t size = shape_dim(space, d), step = in_space[d];
    if (d >= 1 && d <= spec->axes) {
      int64_t block = spec->block[d - 1], shift = spec->before[d - 1] - offset[d - 1];
      int64_t first = ceil_div(shift, block), place = first * block - shift;
      int64_t count = place < size ? (size - place - 1) / block + 1 : 0, there = shape_dim(batch, d) - first;
      begin[0] += place * in_space[d];
      begin[1] += first * in_batch[d];
      size = count < there ? count : there > 0 ? there : 0;
      /* With several elements the step is shorter than the axis; otherwise it is not used. */
      step = size > 1 ? block * in_space[d] : 0;
    }
    array_box_add(&box, size, to_batch ? step : in_batch[d], to_batch ? in_batch[d] : step);
    if (box.empty) return true;
  }
  box.from_offset = to_batch ? begin[0] : begin[1];
  box.to_offset = to_batch ? begin[1] : begin[0];
  return array_box_copy(&box, from, to, context->parallel, status);
}

static bool copy_blocks(const KernelContext *context, const BlockSpec *spec, bool to_batch,
                        const Tensor *from, Tensor *to, Status *status) {
  int64_t offset[SHAPE_MAX_RANK] = {0};
  for (int64_t number = 0; number < spec->blocks; number++) {
    TRY(copy_offset(context, spec, to_batch, offset, number, from, to, status));
    for (int d = spec->axes - 1; d >= 0 && ++offset[d] == spec->block[d]; d--) offset[d] = 0;
  }
  return true;
}

static bool check_rank(const Tensor *input, int axes, Status *status) {
  if (input->shape.rank > axes) return true;
  return status_invalid(status, "input rank should be >= %d instead of %d", axes + 1, input->shape.rank);
}

static bool read_margins(const Tensor *margins, const char *what, const char *negative, BlockSpec *spec,
                         Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (margins->shape.rank != 2 || shape_dim(&margins->shape, 0) != spec->axes ||
      shape_dim(&margins->shape, 1) != 2) {
    return status_invalid(status, "%s should have shape [%d, 2] instead of %s", what, spec->axes,
                          shape_text(&margins->shape, text));
  }
  for (int d = 0; d < spec->axes; d++) {
    spec->before[d] = tensor_int_at(margins, 2 * d);
    spec->after[d] = tensor_int_at(margins, 2 * d + 1);
    if (spec->before[d] < 0 || spec->after[d] < 0)
      return status_invalid(status, "%s must be non-negative", negative);
  }
  return true;
}

static bool multiply_blocks(BlockSpec *spec, Status *status) {
  spec->blocks = 1;
  for (int d = 0; d < spec->axes; d++) {
    if (spec->block[d] < 1) {
      return status_invalid(status,
                            "All values in block_shape must be positive, got value, %lld at index %d.",
                            (long long)spec->block[d], d);
    }
    if (__builtin_mul_overflow(spec->blocks, spec->block[d], &spec->blocks)) {
      return status_invalid(status, "The product of block sizes is more than 2**63 - 1");
    }
  }
  return true;
}

static bool space_to_batch(KernelContext *context, BlockSpec *spec, const Tensor *paddings, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t dims[SHAPE_MAX_RANK];
  TRY(check_rank(input, spec->axes, status));
  TRY(read_margins(paddings, "paddings", "Paddings", spec, status));
  TRY(multiply_blocks(spec, status));
  for (int d = 0; d < input->shape.rank; d++) dims[d] = shape_dim(&input->shape, d);
  if (__builtin_mul_overflow(dims[0], spec->blocks, &dims[0])) {
    return status_invalid(status, "The batch dimension is more than 2**63 - 1");
  }
  for (int d = 0; d < spec->axes; d++) {
    if (__builtin_add_overflow(dims[d + 1], spec->before[d], &dims[d + 1]) ||
        __builtin_add_overflow(dims[d + 1], spec->after[d], &dims[d + 1])) {
      return status_invalid(status, "padded_shape[%d] is more than 2**63 - 1", d);
    }
    if (dims[d + 1] % spec->block[d] != 0) {
      return status_invalid(status, "padded_shape[%d]=%lld is not divisible by block_shape[%d]=%lld", d,
                            (long long)dims[d + 1], d, (long long)spec->block[d]);
    }
    dims[d + 1] /= spec->block[d];
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, input->shape.rank, dims, &out, status));
  array_clear(out);
  if (tensor_num_elements(out) == 0 || tensor_num_elements(input) == 0) return true;
  return copy_blocks(context, spec, true, input, out, status);
}

static bool batch_to_space(KernelContext *context, BlockSpec *spec, const Tensor *crops, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t dims[SHAPE_MAX_RANK];
  TRY(check_rank(input, spec->axes, status));
  TRY(read_margins(crops, "crops", "Crops", spec, status));
  TRY(multiply_blocks(spec, status));
  for (int d = 0; d < input->shape.rank; d++) dims[d] = shape_dim(&input->shape, d);
  if (dims[0] % spec->blocks != 0) {
    return status_invalid(status,
                          "Input batch dimension (%lld) is not divisible by product of block sizes (%lld)",
                          (long long)dims[0], (long long)spec->blocks);
  }
  dims[0] /= spec->blocks;
  for (int d = 0; d < spec->axes; d++) {
    int64_t whole;
    if (__builtin_mul_overflow(dims[d + 1], spec->block[d], &whole)) {
      return status_invalid(status, "cropped_shape[%d] is more than 2**63 - 1", d);
    }
    /* Crops are not negative, so the differences do not overflow. */
    int64_t cropped = whole - spec->before[d];
    if (cropped < 0 || cropped < spec->after[d]) {
      return status_invalid(status, "cropped_shape[%d]=%lld must be non-negative", d,
                            (long long)(cropped < INT64_MIN + spec->after[d] ? INT64_MIN
                                                                             : cropped - spec->after[d]));
    }
    dims[d + 1] = cropped - spec->after[d];
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, input->shape.rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  return copy_blocks(context, spec, false, input, out, status);
}

/* --- kernels: block sizes from an input, or one attr for two axes --- */

static bool read_block_shape(const Tensor *blocks, BlockSpec *spec, Status *status) {
  if (!tensor_is_vector(blocks)) {
    return status_invalid(status, "block_shape rank should be 1 instead of %d", blocks->shape.rank);
  }
  TRY(array_read_ints(blocks, spec->block, status));
  spec->axes = (int)tensor_num_elements(blocks);
  return true;
}

static bool space_to_batch_nd_kernel(KernelContext *context, Status *status) {
  BlockSpec spec;
  return read_block_shape(context->inputs[1], &spec, status) &&
         space_to_batch(context, &spec, context->inputs[2], status);
}

static bool batch_to_space_nd_kernel(KernelContext *context, Status *status) {
  BlockSpec spec;
  return read_block_shape(context->inputs[1], &spec, status) &&
         batch_to_space(context, &spec, context->inputs[2], status);
}

typedef struct BlockState {
  int64_t block_size;
} BlockState;

static bool block_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "block_size", &((BlockState *)memory)->block_size, status);
}

static bool square_blocks(const KernelContext *context, BlockSpec *spec, Status *status) {
  int rank = context->inputs[0]->shape.rank;
  if (rank != 4) return status_invalid(status, "Input rank should be: 4instead of: %d", rank);
  spec->axes = 2;
  spec->block[0] = spec->block[1] = ((const BlockState *)context->state)->block_size;
  return true;
}

static bool space_to_batch_kernel(KernelContext *context, Status *status) {
  BlockSpec spec;
  return square_blocks(context, &spec, status) && space_to_batch(context, &spec, context->inputs[1], status);
}

static bool batch_to_space_kernel(KernelContext *context, Status *status) {
  BlockSpec spec;
  return square_blocks(context, &spec, status) && batch_to_space(context, &spec, context->inputs[1], status);
}

/* --- shapes --- */

/* The block sizes, given by an input or an attr; the margins are input `margins`. */
typedef struct BlockShape {
  ShapeHandle input, shape;
  const int64_t *block; /* NULL: unknown */
  int margins;
} BlockShape;

static bool block_shape(InferenceContext *c, const BlockShape *blocks, bool to_batch, Status *status) {
  ShapeHandle input = blocks->input, output, wanted;
  /* TensorFlow refuses an unknown rank; here the output is just unknown. */
  if (!shape_rank_known(blocks->shape)) return shape_unknown_outputs(c, status);
  if (shape_rank(blocks->shape) != 1) return status_invalid(status, "block_shape must have rank 1.");
  DimHandle num_blocks = blocks->shape->dims[0], batch;
  if (!dim_known(num_blocks)) return status_invalid(status, "block_shape must have known size.");
  int64_t axes = dim_value(num_blocks);
  TRY(shape_with_rank_at_least(c, input, axes < INT64_MAX ? axes + 1 : axes, &input, status));
  TRY(shape_ok(shape_matrix(c, num_blocks, dim_make(c, 2)), &wanted, status));
  TRY(shape_merge(c, shape_input(c, blocks->margins), wanted, &wanted, status));
  const Tensor *margins = shape_input_tensor(c, blocks->margins);
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(input);
  DimHandle *dims = arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  batch = shape_dim_of(c, input, 0);
  for (int64_t d = 0; d < axes && blocks->block; d++) {
    if (blocks->block[d] < 1) return status_invalid(status, "block_shape must be positive");
    if (to_batch) {
      TRY(dim_multiply(c, batch, dim_make(c, blocks->block[d]), &batch, status));
    } else {
      TRY(dim_divide(c, batch, blocks->block[d], true, &batch, status));
    }
  }
  if (!blocks->block && axes > 0) TRY(dim_ok(dim_unknown(c), &batch, status));
  dims[0] = batch;
  for (int64_t d = 0; d < axes; d++) {
    DimHandle size = shape_dim_of(c, input, d + 1), by[2];
    if (!blocks->block || !margins) {
      TRY(dim_ok(dim_unknown(c), &dims[d + 1], status));
      continue;
    }
    for (int k = 0; k < 2; k++) {
      int64_t value = tensor_int_at(margins, 2 * d + k);
      if (value < 0) return status_invalid(status, "%s cannot be negative", to_batch ? "paddings" : "crops");
      TRY(dim_ok(dim_make(c, value), &by[k], status));
    }
    if (to_batch) {
      TRY(dim_add(c, size, by[0], &size, status));
      TRY(dim_add(c, size, by[1], &size, status));
      TRY(dim_divide(c, size, blocks->block[d], true, &dims[d + 1], status));
    } else {
      TRY(dim_multiply(c, size, dim_make(c, blocks->block[d]), &size, status));
      TRY(dim_subtract(c, size, by[0], &size, status));
      TRY(dim_subtract(c, size, by[1], &dims[d + 1], status));
    }
  }
  for (int32_t d = (int32_t)axes + 1; d < rank; d++) dims[d] = shape_dim_of(c, input, d);
  TRY(shape_ok(shape_of_dims(c, dims, rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool nd_shape(InferenceContext *c, bool to_batch, Status *status) {
  int64_t block[SHAPE_MAX_RANK];
  BlockShape blocks = {shape_input(c, 0), shape_input(c, 1), NULL, 2};
  const Tensor *values = shape_input_tensor(c, 1);
  if (values) {
    TRY(array_read_ints(values, block, status));
    blocks.block = block;
  }
  return block_shape(c, &blocks, to_batch, status);
}
static bool space_to_batch_nd_shape(InferenceContext *c, Status *status) { return nd_shape(c, true, status); }
static bool batch_to_space_nd_shape(InferenceContext *c, Status *status) {
  return nd_shape(c, false, status);
}

static bool square_shape(InferenceContext *c, bool to_batch, Status *status) {
  int64_t size;
  ShapeHandle input, shape;
  TRY(node_attr_int(c->node, "block_size", &size, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &input, status));
  TRY(shape_ok(shape_vector(c, dim_make(c, 2)), &shape, status));
  return block_shape(c, &(BlockShape){input, shape, (int64_t[]){size, size}, 1}, to_batch, status);
}
static bool space_to_batch_shape(InferenceContext *c, Status *status) {
  return square_shape(c, true, status);
}
static bool batch_to_space_shape(InferenceContext *c, Status *status) {
  return square_shape(c, false, status);
}

/* --- the ops; each is the gradient of the other --- */

#define ND_GRADIENT(op, back, margins, mine, its)                                                    \
  op "Gradient[T:type, Tblock_shape:{int32, int64}, " mine                                           \
     ":{int32, int64}]"                                                                              \
     "(input:T, block_shape:Tblock_shape, " margins ":" mine                                         \
     ", dy:T)"                                                                                       \
     " -> (dinput:T, dblock:Tblock_shape, dmargins:" mine                                            \
     ") {\n"                                                                                         \
     "  dblock = ZerosLike[T=$Tblock_shape](block_shape)\n"                                          \
     "  dmargins = ZerosLike[T=$" mine "](" margins                                                  \
     ")\n"                                                                                           \
     "  d = " back "[T=$T, Tblock_shape=$Tblock_shape, " its "=$" mine "](dy, block_shape, " margins \
     ")\n"                                                                                           \
     "  return dinput = d:output:0, dblock = dblock:y:0, dmargins = dmargins:y:0\n"                  \
     "}\n"
#define SQUARE_GRADIENT(op, back, margins, mine, its)                                       \
  op "Gradient[T:type, " mine ":{int32, int64}, block_size:int](input:T, " margins ":" mine \
     ", dy:T)"                                                                              \
     " -> (dinput:T, dmargins:" mine                                                        \
     ") {\n"                                                                                \
     "  dmargins = ZerosLike[T=$" mine "](" margins                                         \
     ")\n"                                                                                  \
     "  d = " back "[T=$T, " its "=$" mine ", block_size=$block_size](dy, " margins         \
     ")\n"                                                                                  \
     "  return dinput = d:output:0, dmargins = dmargins:y:0\n"                              \
     "}\n"

const OpRegistration kOpSpaceToBatchND = {
    .name = "SpaceToBatchND",
    .inputs = {"input: T", "block_shape: Tblock_shape", "paddings: Tpaddings"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tblock_shape: {int32, int64} = DT_INT32", "Tpaddings: {int32, int64} = DT_INT32"},
    .shape = space_to_batch_nd_shape,
    .gradient = ND_GRADIENT("SpaceToBatchND", "BatchToSpaceND", "paddings", "Tpaddings", "Tcrops"),
    .kernels = {{DT_INVALID, space_to_batch_nd_kernel}},
};

const OpRegistration kOpBatchToSpaceND = {
    .name = "BatchToSpaceND",
    .inputs = {"input: T", "block_shape: Tblock_shape", "crops: Tcrops"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tblock_shape: {int32, int64} = DT_INT32", "Tcrops: {int32, int64} = DT_INT32"},
    .shape = batch_to_space_nd_shape,
    .gradient = ND_GRADIENT("BatchToSpaceND", "SpaceToBatchND", "crops", "Tcrops", "Tpaddings"),
    .kernels = {{DT_INVALID, batch_to_space_nd_kernel}},
};

const OpRegistration kOpSpaceToBatch = {
    .name = "SpaceToBatch",
    .inputs = {"input: T", "paddings: Tpaddings"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32", "block_size: int >= 2"},
    .shape = space_to_batch_shape,
    .gradient = SQUARE_GRADIENT("SpaceToBatch", "BatchToSpace", "paddings", "Tpaddings", "Tidx"),
    .state_size = sizeof(BlockState),
    .construct = block_construct,
    .kernels = {{DT_INVALID, space_to_batch_kernel}},
};

const OpRegistration kOpBatchToSpace = {
    .name = "BatchToSpace",
    .inputs = {"input: T", "crops: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "block_size: int >= 2", "Tidx: {int32, int64} = DT_INT32"},
    .shape = batch_to_space_shape,
    .gradient = SQUARE_GRADIENT("BatchToSpace", "SpaceToBatch", "crops", "Tidx", "Tpaddings"),
    .state_size = sizeof(BlockState),
    .construct = block_construct,
    .kernels = {{DT_INVALID, batch_to_space_kernel}},
};
