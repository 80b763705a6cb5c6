#include "ops/lists/accumulator.h"

#include "base/alloc.h"
#include "ops/support/half_precision.h"

const char kAccumulator[] = "ConditionalAccumulator";

/* One who takes. */
struct GradientTaking {
  PausedKernel paused;      /* first: the kernel's pause is the struct */
  GradientTaking *next;     /* behind it in the line */
  Accumulator *accumulator; /* one reference */
  int64_t required;
  bool done;
  Status status; /* of one that is done */
  Tensor outputs[ACCUMULATOR_TENSORS];
};

static void destroy_accumulator(TensorObject *object) {
  Accumulator *accumulator = (Accumulator *)object;
  tensor_clear(&accumulator->sum);
  tensor_clear(&accumulator->indices);
  tensor_clear(&accumulator->counts);
  mutex_destroy(&accumulator->mutex);
  mem_free(accumulator);
}

Accumulator *accumulator_new(const AccumulatorSpec *spec, Status *status) {
  Accumulator *accumulator = mem_calloc(1, sizeof *accumulator);
  if (!accumulator || !mutex_init(&accumulator->mutex)) {
    mem_free(accumulator);
    status_oom(status, "an accumulator");
    return NULL;
  }
  accumulator->spec = *spec;
  atomic_init(&accumulator->resource.object.references, 1);
  accumulator->resource.object.destroy = destroy_accumulator;
  accumulator->resource.type_name = kAccumulator;
  return accumulator;
}

void accumulator_set_step(Accumulator *accumulator, int64_t step) {
  mutex_lock(&accumulator->mutex);
  accumulator->step = step;
  mutex_unlock(&accumulator->mutex);
}

int32_t accumulator_count(Accumulator *accumulator) {
  mutex_lock(&accumulator->mutex);
  int32_t count = accumulator->count;
  mutex_unlock(&accumulator->mutex);
  return count;
}

/* --- results; the mutex is held --- */

/* to[i] = from[i] / divisor. */
static void divide(DataType type, const void *from, void *to, int64_t count, double divisor) {
  for (int64_t i = 0; i < count; i++) {
    if (type == DT_DOUBLE) {
      ((double *)to)[i] = ((const double *)from)[i] / divisor;
    } else if (type == DT_FLOAT) {
      ((float *)to)[i] = ((const float *)from)[i] / (float)divisor;
    } else {
      float value;
      half_precision_widen(type, (const uint16_t *)from + i, &value, 1);
      value /= (float)divisor;
      half_precision_narrow(type, &value, (uint16_t *)to + i, 1);
    }
  }
}

/* The sum divided by the number of gradients, or by that of each row. */
static bool mean_of(const Accumulator *accumulator, Tensor *mean, Status *status) {
  const Tensor *sum = &accumulator->sum;
  TRY(tensor_allocate(mean, sum->dtype, &sum->shape, NULL, status));
  int64_t rows = accumulator->spec.sparse ? shape_dim(&sum->shape, 0) : 1, all = tensor_num_elements(sum),
          size = rows == 0 ? 0 : all / rows, width = dtype_size(sum->dtype);
  for (int64_t row = 0; row < rows; row++) {
    int32_t count = accumulator->spec.sparse ? tensor_i32(&accumulator->counts)[row] : accumulator->count;
    divide(sum->dtype, (const char *)sum->data + row * size * width, (char *)mean->data + row * size * width,
           size, count);
  }
  return true;
}

/* The declared first dimension, and the others of the rows. */
static bool shape_of_rows(const Accumulator *accumulator, Tensor *shape, Status *status) {
  const Shape *values = &accumulator->sum.shape;
  int64_t rank = values->rank;
  TRY(tensor_allocate_dims(shape, DT_INT64, 1, &rank, NULL, status));
  tensor_i64(shape)[0] = accumulator->spec.rank > 0 ? accumulator->spec.dims[0] : -1;
  for (int d = 1; d < rank; d++) tensor_i64(shape)[d] = shape_dim(values, d);
  return true;
}

static bool set_results(GradientTaking *taking) {
  Accumulator *accumulator = taking->accumulator;
  Tensor *value = &taking->outputs[accumulator->spec.sparse ? 1 : 0];
  TRY(accumulator->spec.mean ? mean_of(accumulator, value, &taking->status)
                             : tensor_assign(value, &accumulator->sum, &taking->status));
  if (!accumulator->spec.sparse) return true;
  return tensor_assign(&taking->outputs[0], &accumulator->indices, &taking->status) &&
         shape_of_rows(accumulator, &taking->outputs[2], &taking->status);
}

void accumulator_advance(Accumulator *accumulator) {
  for (GradientTaking *first; (first = accumulator->line) && accumulator->count >= first->required;) {
    accumulator->line = first->next;
    first->done = true;
    if (!set_results(first)) continue;
    accumulator->count = 0;
    accumulator->step++;
    tensor_clear(&accumulator->sum);
    tensor_clear(&accumulator->indices);
    tensor_clear(&accumulator->counts);
  }
}

/* --- taking --- */

static void join_line(GradientTaking *taking) {
  GradientTaking **at = &taking->accumulator->line;
  while (*at) at = &(*at)->next;
  *at = taking;
}

static void leave_line(GradientTaking *taking) {
  GradientTaking **at = &taking->accumulator->line;
  while (*at && *at != taking) at = &(*at)->next;
  if (*at) *at = taking->next;
}

static void taking_free(GradientTaking *taking) {
  for (int i = 0; i < ACCUMULATOR_TENSORS; i++) tensor_clear(&taking->outputs[i]);
  tensor_object_unref(&taking->accumulator->resource.object);
  mem_free(taking);
}

static void abandon(PausedKernel *paused) {
  GradientTaking *taking = (GradientTaking *)paused;
  mutex_lock(&taking->accumulator->mutex);
  leave_line(taking);
  accumulator_advance(taking->accumulator);
  mutex_unlock(&taking->accumulator->mutex);
  taking_free(taking);
}

static GradientTaking *taking_new(Accumulator *accumulator, int64_t required, Status *status) {
  GradientTaking *taking = mem_calloc(1, sizeof *taking);
  if (!taking) {
    status_oom(status, "an operation on an accumulator");
    return NULL;
  }
  taking->paused.abandon = abandon;
  taking->accumulator = accumulator;
  taking->required = required;
  tensor_object_ref(&accumulator->resource.object);
  status_init(&taking->status);
  return taking;
}

/* False, with status, when the kernel must not wait. */
static bool may_wait(const KernelContext *context, Status *status) {
  Step *step = context->step;
  if (!step)
    return status_set(status, CODE_FAILED_PRECONDITION, "Only a kernel in a step can wait for gradients");
  if (step->stop.cancelled && atomic_load(step->stop.cancelled))
    return status_set(status, CODE_CANCELLED, "TakeGrad operation was cancelled");
  return step_block(step, status) == RUN_WAITING;
}

bool accumulator_take(Accumulator *accumulator, KernelContext *context, int64_t required, Status *status) {
  GradientTaking *taking = (GradientTaking *)context->paused;
  bool begins = !taking;
  if (begins) taking = taking_new(accumulator, required, status);
  if (!taking) return false;
  mutex_lock(&accumulator->mutex);
  if (begins) join_line(taking);
  accumulator_advance(accumulator);
  if (!taking->done && !may_wait(context, &taking->status)) {
    leave_line(taking);
    accumulator_advance(accumulator);
    taking->done = true;
  }
  bool done = taking->done;
  mutex_unlock(&accumulator->mutex);
  context->paused = done ? NULL : &taking->paused;
  if (!done) return true;
  bool ok = taking->status.code == CODE_OK;
  if (!ok) *status = taking->status;
  for (int i = 0; ok && i < context->num_outputs; i++) tensor_move(&context->outputs[i], &taking->outputs[i]);
  taking_free(taking);
  return ok;
}
