/* QuantizedMaxPool and QuantizedAvgPool, in the range of the input. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/quant_types.h"
#include "ops/support/window_attrs.h"

typedef struct PoolState {
  WindowAttrs attrs;
  int64_t window[WINDOW_AXES];
} PoolState;

static bool read_axes(const NodeDef *node, const char *name, const char *wrong, int64_t values[WINDOW_AXES],
                      Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, name, ATTR_INT, &list, status));
  if (!list || list->n_i != 4) return status_invalid(status, "%s", wrong);
  if (list->i[0] != 1 || list->i[3] != 1) {
    return status_set(status, CODE_UNIMPLEMENTED,
                      "Pooling is not yet supported on the batch or depth dimension.");
  }
  for (int k = 0; k < WINDOW_AXES; k++) {
    values[k] = list->i[1 + k];
    if (values[k] < 1) return status_invalid(status, "%s must be positive", name);
  }
  return true;
}

static bool pool_construct(const KernelConstruction *construction, void *memory, Status *status) {
  PoolState *state = memory;
  const NodeDef *node = construction->node;
  TRY(window_read_format(node, &state->attrs, status));
  TRY(read_axes(node, "ksize", "Sliding window ksize field must specify 4 dimensions", state->window,
                status));
  return read_axes(node, "strides", "Sliding window strides field must specify 4 dimensions",
                   state->attrs.strides, status);
}

/* The positions of a window that are inside of the image. */
static void inside(const WindowAxis *axis, int64_t place, int64_t *begin, int64_t *end) {
  *begin = place * axis->stride - axis->pad;
  *end = *begin + axis->filter < axis->in ? *begin + axis->filter : axis->in;
  if (*begin < 0) *begin = 0;
}

typedef struct Pool {
  const Tensor *x;
  const WindowAxis *axis;
  int64_t channels;
  bool average;
} Pool;

/* `count` channels from `channel` on of a window. */
static void pool_window(const Pool *pool, int64_t image, int64_t row, int64_t column, int64_t channel,
                        int64_t count, int32_t *result) {
  int64_t top, bottom, left, right, sums[QUANT_PIECE];
  int32_t numbers[QUANT_PIECE];
  inside(&pool->axis[0], row, &top, &bottom);
  inside(&pool->axis[1], column, &left, &right);
  for (int64_t i = 0; i < count; i++) result[i] = INT32_MIN, sums[i] = 0;
  for (int64_t i = top; i < bottom; i++) {
    for (int64_t j = left; j < right; j++) {
      int64_t at = (image * pool->axis[0].in + i) * pool->axis[1].in + j;
      quant_read(pool->x, at * pool->channels + channel, count, numbers);
      for (int64_t k = 0; pool->average && k < count; k++) sums[k] += numbers[k];
      for (int64_t k = 0; !pool->average && k < count; k++)
        result[k] = numbers[k] > result[k] ? numbers[k] : result[k];
    }
  }
  int64_t places = (bottom - top) * (right - left);
  for (int64_t k = 0; pool->average && k < count; k++) result[k] = (int32_t)(sums[k] / places);
}

static bool read_range(const KernelContext *context, int input, const char *name, float *value,
                       Status *status) {
  const Tensor *x = context->inputs[input];
  char text[SHAPE_TEXT_CAPACITY];
  if (x->shape.rank != 0) {
    return status_invalid(status, "%s shape must be rank 0 but is rank %d, received shape: %s", name,
                          x->shape.rank, shape_text(&x->shape, text));
  }
  *value = tensor_f32(x)[0];
  return true;
}

/* The kernels of the average have it as data. */
static const bool kAverage = true;

static bool quantized_pool(KernelContext *context, Status *status) {
  const PoolState *state = context->state;
  const Tensor *x = context->inputs[0];
  WindowAxis axis[WINDOW_AXES];
  float min = 0, max = 0;
  Tensor *y;
  TRY(read_range(context, 1, "min_input", &min, status));
  TRY(read_range(context, 2, "max_input", &max, status));
  if (x->shape.rank != 4) return status_invalid(status, "tensor_in must be 4-dimensional");
  ImageSizes sizes = image_sizes(shape_dims(&x->shape), false);
  TRY(window_place(&state->attrs, &sizes, state->window, axis, status));
  const int64_t dims[4] = {sizes.batch, axis[0].out, axis[1].out, sizes.channels};
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &y, status));
  Pool pool = {x, axis, sizes.channels, context->data == &kAverage};
  int64_t places = tensor_num_elements(y) > 0 ? tensor_num_elements(y) / dims[3] : 0;
  int32_t numbers[QUANT_PIECE];
  for (int64_t place = 0; place < places; place++) {
    int64_t row = place / dims[2];
    for (int64_t channel = 0; channel < dims[3]; channel += QUANT_PIECE) {
      int64_t n = quant_piece(dims[3] - channel);
      pool_window(&pool, row / dims[1], row % dims[1], place % dims[2], channel, n, numbers);
      quant_write(y, place * dims[3] + channel, n, numbers);
    }
  }
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool pool_shape(InferenceContext *c, Status *status) {
  TRY(shape_max_pool(c, status));
  return quant_scalar_shapes(c, 1, 3, status);
}

#define POOL                                                                                             \
  .inputs = {"input: T", "min_input: float", "max_input: float"},                                        \
  .outputs = {"output: T", "min_output: float", "max_output: float"},                                    \
  .attrs = {"T: quantizedtype", "ksize: list(int)", "strides: list(int)", "padding: {'SAME', 'VALID'}"}, \
  .shape = pool_shape, .state_size = sizeof(PoolState), .construct = pool_construct

const OpRegistration kOpQuantizedMaxPool = {
    .name = "QuantizedMaxPool",
    POOL,
    .kernels = {{DT_QUINT8, quantized_pool}, {DT_QINT8, quantized_pool}},
};

const OpRegistration kOpQuantizedAvgPool = {
    .name = "QuantizedAvgPool",
    POOL,
    .kernels = {{DT_QUINT8, quantized_pool, &kAverage}, {DT_QINT8, quantized_pool, &kAverage}},
};
