#include "ops/support/broadcast.h"

#include <string.h>

#include "base/odometer.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

static int64_t aligned_dim(const Shape *shape, int rank, int i) {
  int own = i - (rank - shape->rank);
  return own < 0 ? 1 : shape_dim(shape, own);
}

bool broadcast_compatible(const Shape *a, const Shape *b) {
  int rank = a->rank > b->rank ? a->rank : b->rank;
  for (int i = 0; i < rank; i++) {
    int64_t x = aligned_dim(a, rank, i), y = aligned_dim(b, rank, i);
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

bool broadcast_shapes(const Shape *a, const Shape *b, Shape *output, Status *status) {
  int rank = a->rank > b->rank ? a->rank : b->rank;
  int64_t dims[SHAPE_MAX_RANK];
  if (!broadcast_compatible(a, b)) {
    char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "Incompatible shapes: %s vs. %s", shape_text(a, a_text),
                          shape_text(b, b_text));
  }
  for (int i = 0; i < rank; i++) {
    int64_t x = aligned_dim(a, rank, i), y = aligned_dim(b, rank, i);
    dims[i] = x == 1 ? y : x;
  }
  return shape_set(output, rank, dims, status);
}

void broadcast_plan(const Shape *a, const Shape *b, Broadcast *plan) {
  int rank = a->rank > b->rank ? a->rank : b->rank;
  plan->rank = 0;
  plan->elements = 0;
  for (int i = 0; i < rank; i++) {
    if (aligned_dim(a, rank, i) == 0 || aligned_dim(b, rank, i) == 0) return;
  }
  /* From the last dimension to the first, so that strides are computed on the way. */
  int64_t size_a = 1, size_b = 1;
  BroadcastSide previous = BROADCAST_NONE;
  plan->elements = 1;
  for (int i = rank - 1; i >= 0; i--) {
    int64_t x = aligned_dim(a, rank, i), y = aligned_dim(b, rank, i), size = x == 1 ? y : x;
    if (size == 1) continue;
    BroadcastSide side = x == y ? BROADCAST_NONE : x == 1 ? BROADCAST_A : BROADCAST_B;
    if (plan->rank > 0 && side == previous) {
      plan->dims[plan->rank - 1] *= size;
    } else {
      plan->dims[plan->rank] = size;
      plan->stride_a[plan->rank] = side == BROADCAST_A ? 0 : size_a;
      plan->stride_b[plan->rank] = side == BROADCAST_B ? 0 : size_b;
      plan->rank++;
    }
    previous = side;
    size_a *= x;
    size_b *= y;
    plan->elements *= size;
  }
  for (int i = 0, j = plan->rank - 1; i < j; i++, j--) {
    int64_t dim = plan->dims[i], stride_a = plan->stride_a[i], stride_b = plan->stride_b[i];
    plan->dims[i] = plan->dims[j], plan->stride_a[i] = plan->stride_a[j],
    plan->stride_b[i] = plan->stride_b[j];
    plan->dims[j] = dim, plan->stride_a[j] = stride_a, plan->stride_b[j] = stride_b;
  }
}

typedef struct BroadcastJob {
  const Broadcast *plan;
  const char *a, *b;
  char *out;
  int64_t in_size, out_size;
  BinaryLoop *loop;
} BroadcastJob;

/* --- short rows --- */

/* A call for a short row costs more than the row's elements, so several rows of the nest are computed in one
 * call. An operand that is constant along one of the last two dimensions is copied out to full rows. */
enum { SHORT_BYTES = 256, LAID_OUT_BYTES = 2048, MOST_ELEMENT_BYTES = 16 };

typedef struct Operand {
  const char *data;
  int64_t row_stride, stride; /* elements, along the last two dimensions */
  const char *source;         /* the row that `laid_out` repeats; NULL: none */
  int64_t repeats;
  _Alignas(16) char laid_out[LAID_OUT_BYTES];
} Operand;

/* `rows` contiguous rows of `inner` elements, starting at element `offset`. */
static const char *lay_out(Operand *operand, int64_t offset, int64_t rows, int64_t inner, int64_t size) {
  const char *from = operand->data + offset * size;
  if (operand->stride != 0 && operand->row_stride != 0) return from;
  if (operand->source == from && operand->repeats >= rows) return operand->laid_out;
  array_copy_rows(size, &(ArrayRows){.count = rows,
                                     .length = inner,
                                     .from = from,
                                     .to = operand->laid_out,
                                     .from_step = operand->row_stride,
                                     .from_stride = operand->stride,
                                     .to_step = inner,
                                     .to_stride = 1});
  operand->source = operand->row_stride == 0 ? from : NULL, operand->repeats = rows;
  return operand->laid_out;
}

/* The number of rows computed in one call. */
static int64_t rows_at_once(const BroadcastJob *job) {
  const Broadcast *plan = job->plan;
  if (plan->rank < 2 || job->in_size > MOST_ELEMENT_BYTES ||
      plan->dims[plan->rank - 1] * job->in_size > SHORT_BYTES)
    return 1;
  return LAID_OUT_BYTES / (plan->dims[plan->rank - 1] * job->in_size);
}

/* --- the nest --- */

/* Output elements [begin, end): runs along the last dimension of the nest, and an odometer over the
 * others. */
static void run_range(void *arg, int64_t begin, int64_t end) {
  const BroadcastJob *job = arg;
  const Broadcast *plan = job->plan;
  if (plan->rank == 0) {
    job->loop(job->a, job->b, job->out, 1, BROADCAST_NONE);
    return;
  }
  int last = plan->rank - 1, outer = last > 0 ? last - 1 : 0;
  int64_t inner = plan->dims[last], index[BROADCAST_MAX_RANK], most_rows = rows_at_once(job);
  Odometer o = {.rank = last,
                .dims = plan->dims,
                .strides = {plan->stride_a, plan->stride_b},
                .index = index};
  Operand a, b;
  a.data = job->a, a.row_stride = plan->stride_a[outer], a.stride = plan->stride_a[last], a.source = NULL;
  b.data = job->b, b.row_stride = plan->stride_b[outer], b.stride = plan->stride_b[last], b.source = NULL;
  BroadcastSide still = a.stride == 0 ? BROADCAST_A : b.stride == 0 ? BROADCAST_B : BROADCAST_NONE;
  int64_t column = begin % inner;
  odometer_seek(&o, 2, begin / inner);
  for (int64_t at = begin; at < end;) {
    int64_t rows = 1, n = inner - column < end - at ? inner - column : end - at;
    if (most_rows > 1 && column == 0) {
      rows = (end - at) / inner < most_rows ? (end - at) / inner : most_rows;
      if (rows > plan->dims[outer] - index[outer]) rows = plan->dims[outer] - index[outer];
    }
    if (rows > 1) {
      n = rows * inner;
      job->loop(lay_out(&a, o.at[0], rows, inner, job->in_size),
                lay_out(&b, o.at[1], rows, inner, job->in_size), job->out + at * job->out_size, n,
                BROADCAST_NONE);
    } else {
      rows = 1;
      job->loop(a.data + (o.at[0] + column * a.stride) * job->in_size,
                b.data + (o.at[1] + column * b.stride) * job->in_size, job->out + at * job->out_size, n,
                still);
    }
    at += n;
    column = 0;
    odometer_advance(&o, 2, rows);
  }
}

void broadcast_run(const Parallel *parallel, const Broadcast *plan, const void *a, const void *b, void *out,
                   int64_t in_size, int64_t out_size, BinaryLoop *loop) {
  BroadcastJob job = {plan, a, b, out, in_size, out_size, loop};
  parallel_work(parallel, plan->elements, 1, run_range, &job);
}

static bool may_forward(const KernelContext *context, int input) {
  return context->last_use && context->last_use[input] && buffer_is_unshared(context->inputs[input]->buffer);
}

/* --- equal shapes --- */

static void run_flat(void *arg, int64_t begin, int64_t end) {
  const BroadcastJob *job = arg;
  int64_t in = begin * job->in_size;
  job->loop(job->a + in, job->b + in, job->out + begin * job->out_size, end - begin, BROADCAST_NONE);
}

static bool binary_flat(KernelContext *context, BinaryLoop *loop, int64_t in_size, int64_t out_size,
                        Status *status) {
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, may_forward(context, 0) ? 0 : 1, 0, &a->shape, &out, status));
  BroadcastJob job = {NULL, a->data, b->data, out->data, in_size, out_size, loop};
  parallel_work(context->parallel, tensor_num_elements(out), 1, run_flat, &job);
  return true;
}

/* --- kernels --- */

bool broadcast_binary(KernelContext *context, BinaryLoop *loop, Status *status) {
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  int64_t in_size = (int64_t)dtype_size(a->dtype), out_size = (int64_t)dtype_size(context->output_types[0]);
  Tensor *out;
  if (shape_equal(&a->shape, &b->shape)) return binary_flat(context, loop, in_size, out_size, status);
  Shape shape = {0};
  bool ok = broadcast_shapes(&a->shape, &b->shape, &shape, status);
  /* A repeated operand is read several times, so only one with as many elements as the output may be
   * overwritten. */
  if (ok) {
    int64_t elements = shape_num_elements(&shape);
    bool b_fits = tensor_num_elements(b) == elements &&
                  !(tensor_num_elements(a) == elements && may_forward(context, 0));
    ok = kernel_forward_or_allocate(context, b_fits ? 1 : 0, 0, &shape, &out, status);
  }
  shape_clear(&shape);
  if (!ok) return false;
  Broadcast plan;
  broadcast_plan(&a->shape, &b->shape, &plan);
  broadcast_run(context->parallel, &plan, a->data, b->data, out->data, in_size, out_size, loop);
  return true;
}

bool broadcast_kernel(KernelContext *context, Status *status) {
  return broadcast_binary(context, (BinaryLoop *)context->data, status);
}

bool broadcast_shape_of_input(KernelContext *context, int i, Shape *shape, Status *status) {
  const Tensor *input = context->inputs[i];
  if (!tensor_is_vector(input)) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "In[%d] must be a vector.%s", i, shape_text(&input->shape, text));
  }
  int64_t rank = tensor_num_elements(input), dims[SHAPE_MAX_RANK];
  if (rank > SHAPE_MAX_RANK) {
    return status_invalid(status, "In[%d] has %lld sizes, more than the %d that a shape can have", i,
                          (long long)rank, SHAPE_MAX_RANK);
  }
  for (int64_t k = 0; k < rank; k++) dims[k] = tensor_int_at(input, k);
  return shape_set(shape, (int)rank, dims, status);
}
