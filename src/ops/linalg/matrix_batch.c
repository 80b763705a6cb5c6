#include "ops/linalg/matrix_batch.h"

#include <complex.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/odometer.h"
#include "ops/support/half_precision.h"

/* --- shapes --- */

/* The sizes of input `i`. */
static bool read_input(const KernelContext *context, int i, MatrixBatch *batch, Status *status) {
  const Shape *shape = &context->inputs[i]->shape;
  if (shape->rank < 2)
    return status_invalid(status, "Input tensor %d must have rank >= 2, got %d", i, shape->rank);
  batch->in[i].rows = shape_dim(shape, shape->rank - 2);
  batch->in[i].columns = shape_dim(shape, shape->rank - 1);
  return true;
}

/* The number of computations; 0 if the product does not fit, which only tensors without elements allow. */
static void count_batch(MatrixBatch *batch) {
  batch->count = 1;
  for (int k = 0; k < batch->rank; k++)
    if (batch->dims[k] == 0) batch->count = 0;
  for (int k = 0; k < batch->rank; k++)
    if (__builtin_mul_overflow(batch->count, batch->dims[k], &batch->count)) batch->count = 0;
}

bool matrix_batch_begin(KernelContext *context, int num_inputs, MatrixBatch *batch, Status *status) {
  const Shape *first = &context->inputs[0]->shape;
  *batch = (MatrixBatch){.num_inputs = num_inputs, .is_complex = dtype_is_complex(context->inputs[0]->dtype)};
  for (int i = 0; i < num_inputs; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    TRY(read_input(context, i, batch, status));
    if (shape->rank != first->rank)
      return status_invalid(status, "All input tensors must have the same rank.");
    for (int k = 0; k < first->rank - 2; k++) {
      if (shape_dim(shape, k) != shape_dim(first, k))
        return status_invalid(status, "All input tensors must have the same outer dimensions.");
    }
  }
  batch->rank = first->rank - 2;
  for (int k = 0; k < batch->rank; k++) batch->dims[k] = shape_dim(first, k);
  count_batch(batch);
  return true;
}

/* The size of input `i` along outer dimension `k` of the output. */
static int64_t outer_size(const MatrixBatch *batch, const Shape *shape, int k) {
  int at = k - (batch->rank + 2 - shape->rank);
  return at < 0 ? 1 : shape_dim(shape, at);
}

bool matrix_batch_begin_broadcast(KernelContext *context, MatrixBatch *batch, Status *status) {
  const Shape *a = &context->inputs[0]->shape, *b = &context->inputs[1]->shape;
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  *batch = (MatrixBatch){.num_inputs = 2,
                         .broadcasts = true,
                         .is_complex = dtype_is_complex(context->inputs[0]->dtype)};
  for (int i = 0; i < 2; i++) {
    if (context->inputs[i]->shape.rank < 2)
      return status_invalid(status, "In[%d] ndims must be >= 2: %d", i, context->inputs[i]->shape.rank);
    TRY(read_input(context, i, batch, status));
  }
  batch->rank = (a->rank > b->rank ? a->rank : b->rank) - 2;
  int64_t matrices[2] = {1, 1};
  for (int k = batch->rank - 1; k >= 0; k--) {
    int64_t sizes[2] = {outer_size(batch, a, k), outer_size(batch, b, k)};
    if (sizes[0] != sizes[1] && sizes[0] != 1 && sizes[1] != 1) {
      return status_invalid(status, "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                            shape_text(a, a_text), shape_text(b, b_text));
    }
    batch->dims[k] = sizes[0] == 1 ? sizes[1] : sizes[0];
    for (int i = 0; i < 2; i++) {
      batch->strides[i][k] = sizes[i] == 1 ? 0 : matrices[i];
      /* For operands with elements, the number of matrices fits int64; others are not used. */
      if (__builtin_mul_overflow(matrices[i], sizes[i], &matrices[i])) matrices[i] = 0;
    }
  }
  count_batch(batch);
  return true;
}

bool matrix_batch_square(const MatrixBatch *batch, Status *status) {
  return batch->in[0].rows == batch->in[0].columns || status_invalid(status, "Input matrix must be square.");
}

bool matrix_batch_solver(const MatrixBatch *batch, Status *status) {
  if (batch->in[0].rows != batch->in[0].columns)
    return status_invalid(status, "First input (lhs) must be a square matrix.");
  return batch->in[0].rows == batch->in[1].rows ||
         status_invalid(status, "Input matrix and rhs are incompatible.");
}

/* --- outputs --- */

bool matrix_batch_output(KernelContext *context, MatrixBatch *batch, int i, int rank, int64_t rows,
                         int64_t columns, Status *status) {
  int64_t dims[SHAPE_MAX_RANK + 2];
  memcpy(dims, batch->dims, sizeof *dims * (size_t)batch->rank);
  dims[batch->rank] = rows;
  dims[batch->rank + 1] = columns;
  TRY(kernel_allocate_output_dims(context, i, batch->rank + rank, dims, &batch->out_tensors[i], status));
  batch->out[i].rows = rank > 0 ? rows : 1;
  batch->out[i].columns = rank > 1 ? columns : 1;
  return true;
}

bool matrix_batch_no_output(KernelContext *context, int i, Status *status) {
  int64_t none = 0;
  Tensor *out;
  return kernel_allocate_output_dims(context, i, 1, &none, &out, status);
}

/* --- conversions --- */

enum { CHUNK = 256 };

static void load_half(const Tensor *tensor, int64_t first, int64_t count, double *to) {
  float wide[CHUNK];
  for (int64_t done = 0; done < count; done += CHUNK) {
    int64_t n = count - done < CHUNK ? count - done : CHUNK;
    half_precision_widen(tensor->dtype, (const uint16_t *)tensor->data + first + done, wide, n);
    for (int64_t i = 0; i < n; i++) to[done + i] = (double)wide[i];
  }
}

static void store_half(const double *from, int64_t first, int64_t count, Tensor *tensor) {
  float narrow[CHUNK];
  for (int64_t done = 0; done < count; done += CHUNK) {
    int64_t n = count - done < CHUNK ? count - done : CHUNK;
    for (int64_t i = 0; i < n; i++) narrow[i] = (float)from[done + i];
    half_precision_narrow(tensor->dtype, narrow, (uint16_t *)tensor->data + first + done, n);
  }
}

/* Numbers [first, first + count) of the tensor, as double or double _Complex. Complex numbers are loaded as
 * pairs. */
static void load(const Tensor *tensor, int64_t first, int64_t count, double *to) {
  int parts = dtype_is_complex(tensor->dtype) ? 2 : 1;
  DataType type = tensor->dtype;
  if (type == DT_DOUBLE || type == DT_COMPLEX128) {
    memcpy(to, (const double *)tensor->data + first * parts, sizeof *to * (size_t)(count * parts));
  } else if (type == DT_FLOAT || type == DT_COMPLEX64) {
    const float *from = (const float *)tensor->data + first * parts;
    for (int64_t i = 0; i < count * parts; i++) to[i] = (double)from[i];
  } else {
    load_half(tensor, first, count, to);
  }
}

/* Real values become complex ones where the tensor is complex. */
static void store_real(const double *from, int64_t first, int64_t count, Tensor *tensor) {
  switch (tensor->dtype) {
    case DT_INT32:
      for (int64_t i = 0; i < count; i++) tensor_i32(tensor)[first + i] = (int32_t)from[i];
      break;
    case DT_INT64:
      for (int64_t i = 0; i < count; i++) tensor_i64(tensor)[first + i] = (int64_t)from[i];
      break;
    case DT_COMPLEX64:
      for (int64_t i = 0; i < count; i++)
        ((float _Complex *)tensor->data)[first + i] = (float _Complex)(float)from[i];
      break;
    case DT_COMPLEX128:
      for (int64_t i = 0; i < count; i++) ((double _Complex *)tensor->data)[first + i] = from[i];
      break;
    case DT_DOUBLE: memcpy(tensor_f64(tensor) + first, from, sizeof *from * (size_t)count); break;
    case DT_FLOAT:
      for (int64_t i = 0; i < count; i++) tensor_f32(tensor)[first + i] = (float)from[i];
      break;
    default: store_half(from, first, count, tensor);
  }
}

static void store_complex(const double *from, int64_t first, int64_t count, Tensor *tensor) {
  if (tensor->dtype == DT_COMPLEX128) {
    memcpy((double *)tensor->data + 2 * first, from, sizeof *from * (size_t)(2 * count));
  } else {
    float *to = (float *)tensor->data + 2 * first;
    for (int64_t i = 0; i < 2 * count; i++) to[i] = (float)from[i];
  }
}

/* --- running --- */

typedef struct BatchRun {
  const KernelContext *context;
  const MatrixBatch *batch;
  MatrixStepFn *compute;
  const void *options;
  int64_t in_sizes[MATRIX_BATCH_MAX], out_sizes[MATRIX_BATCH_MAX], bytes;
  const Parallel *parallel;
  atomic_int result; /* the worst MatrixResult */
} BatchRun;

void *matrix_scratch(int64_t count, int64_t size) {
  int64_t bytes;
  return __builtin_mul_overflow(count, size, &bytes) ? NULL : mem_alloc(bytes);
}

/* The matrices of a step in one block of memory. */
static void place_matrices(const BatchRun *run, char *memory, MatrixStep *step) {
  const MatrixBatch *batch = run->batch;
  *step = (MatrixStep){.options = run->options, .parallel = run->parallel};
  for (int i = 0; i < MATRIX_BATCH_MAX; i++) {
    step->in[i] = batch->in[i];
    step->in[i].data = memory;
    memory += run->in_sizes[i] * (int64_t)sizeof(double _Complex);
    step->out[i] = batch->out[i];
    step->out[i].data = memory;
    memory += run->out_sizes[i] * (int64_t)sizeof(double _Complex);
  }
}

static void load_inputs(const BatchRun *run, int64_t i, const Odometer *at, MatrixStep *step) {
  for (int k = 0; k < run->batch->num_inputs; k++) {
    int64_t number = run->batch->broadcasts ? at->at[k] : i;
    load(run->context->inputs[k], number * run->in_sizes[k], run->in_sizes[k], step->in[k].data);
  }
}

static void store_outputs(const BatchRun *run, int64_t i, const MatrixStep *step) {
  for (int k = 0; k < MATRIX_BATCH_MAX; k++) {
    Tensor *tensor = run->batch->out_tensors[k];
    if (!tensor) continue;
    bool pairs = dtype_is_complex(tensor->dtype) && !run->batch->out_is_real[k];
    (pairs ? store_complex : store_real)(step->out[k].data, i * run->out_sizes[k], run->out_sizes[k], tensor);
  }
}

static void raise_result(BatchRun *run, int result) {
  int before = atomic_load(&run->result);
  while (before < result && !atomic_compare_exchange_weak(&run->result, &before, result)) {
  }
}

static void run_steps(void *arg, int64_t begin, int64_t end) {
  BatchRun *run = arg;
  const MatrixBatch *batch = run->batch;
  MatrixStep step;
  int64_t index[SHAPE_MAX_RANK];
  char *memory = mem_alloc(run->bytes);
  if (!memory) {
    raise_result(run, MATRIX_NO_MEMORY);
    return;
  }
  place_matrices(run, memory, &step);
  Odometer at = {.rank = batch->rank,
                 .dims = batch->dims,
                 .strides = {batch->strides[0], batch->strides[1]},
                 .index = index};
  odometer_seek(&at, 2, begin);
  MatrixResult result = MATRIX_DONE;
  for (int64_t i = begin; i < end && result == MATRIX_DONE; i++, odometer_advance(&at, 2, 1)) {
    load_inputs(run, i, &at, &step);
    result = run->compute(&step);
    if (result == MATRIX_DONE) store_outputs(run, i, &step);
  }
  if (result != MATRIX_DONE) raise_result(run, result);
  mem_free(memory);
}

/* The numbers of elements and the memory of a step. */
static bool plan_sizes(BatchRun *run) {
  int64_t all = 1;
  for (int i = 0; i < MATRIX_BATCH_MAX; i++) {
    const Matrix *in = &run->batch->in[i], *out = &run->batch->out[i];
    if (__builtin_mul_overflow(in->rows, in->columns, &run->in_sizes[i]) ||
        __builtin_mul_overflow(out->rows, out->columns, &run->out_sizes[i]) ||
        __builtin_add_overflow(all, run->in_sizes[i], &all) ||
        __builtin_add_overflow(all, run->out_sizes[i], &all))
      return false;
  }
  return !__builtin_mul_overflow(all, (int64_t)sizeof(double _Complex), &run->bytes);
}

bool matrix_batch_run(KernelContext *context, MatrixBatch *batch, const MatrixFunction *function,
                      const void *options, double work, const char *message, Status *status) {
  BatchRun run = {.context = context,
                  .batch = batch,
                  .compute = batch->is_complex ? function->c128 : function->f64,
                  .options = options};
  if (batch->count == 0) return true;
  if (!plan_sizes(&run)) return status_oom(status, "a matrix");
  if (batch->count < parallel_threads(context->parallel)) {
    run.parallel = context->parallel;
    run_steps(&run, 0, batch->count);
  } else {
    parallel_work(context->parallel, batch->count, work + 1, run_steps, &run);
  }
  int result = atomic_load(&run.result);
  if (result == MATRIX_NO_MEMORY) return status_oom(status, "a matrix");
  return result == MATRIX_DONE || status_invalid(status, "%s", message);
}
