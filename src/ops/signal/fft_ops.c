/* FFT, IFFT, RFFT, IRFFT over the last one, two or three axes, or over those that an input names. */
#include <inttypes.h>
#include <string.h>

#include "base/sync.h"
#include "op/op_registry.h"
#include "ops/signal/fft_lines.h"

/* What an op computes: the data of its kernels. */
typedef struct FftOp {
  FftKind kind;
  bool inverse;
  int rank; /* the number of axes; 0: input 2 gives the axes */
} FftOp;

enum { KEPT_PLANS = 4 };

/* Plans that were used last. Steps on several threads may share a kernel, so that a plan is taken out while
 * it is in use. */
typedef struct FftState {
  Mutex mutex;
  bool has_mutex;
  struct {
    FftPlan *plan;
    FftKind kind;
    int64_t n;
    bool wide;
  } kept[KEPT_PLANS];
} FftState;

static bool fft_construct(const KernelConstruction *construction, void *memory, Status *status) {
  (void)construction;
  FftState *state = memory;
  state->has_mutex = mutex_init(&state->mutex);
  return state->has_mutex || status_oom(status, "lock of a Fourier transform");
}

static void fft_destroy(void *memory) {
  FftState *state = memory;
  for (int i = 0; i < KEPT_PLANS; i++) fft_plan_free(state->kept[i].plan);
  if (state->has_mutex) mutex_destroy(&state->mutex);
}

static FftPlan *take_plan(FftState *state, int slot, FftKind kind, int64_t n, bool wide, Status *status) {
  FftPlan *plan = NULL;
  mutex_lock(&state->mutex);
  if (state->kept[slot].plan && state->kept[slot].kind == kind && state->kept[slot].n == n &&
      state->kept[slot].wide == wide) {
    plan = state->kept[slot].plan;
    state->kept[slot].plan = NULL;
  }
  mutex_unlock(&state->mutex);
  return plan ? plan : fft_lines_plan(kind, n, wide, status);
}

static void keep_plan(FftState *state, int slot, FftKind kind, int64_t n, bool wide, FftPlan *plan) {
  mutex_lock(&state->mutex);
  FftPlan *old = state->kept[slot].plan;
  state->kept[slot].plan = plan;
  state->kept[slot].kind = kind;
  state->kept[slot].n = n;
  state->kept[slot].wide = wide;
  mutex_unlock(&state->mutex);
  fft_plan_free(old);
}

/* An array of real or complex numbers, row-major. */
typedef struct Area {
  void *data;
  int rank;
  int64_t dims[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
} Area;

static void area_of(void *data, const Shape *shape, Area *area) {
  int64_t stride = 1;
  area->data = data;
  area->rank = shape->rank;
  for (int i = shape->rank - 1; i >= 0; i--) {
    area->dims[i] = shape_dim(shape, i);
    area->strides[i] = stride;
    stride *= area->dims[i];
  }
}

/* Transforms the lines of an axis from one area to another, of those lines that both have. */
static bool transform_axis(KernelContext *context, FftKind kind, bool inverse, bool wide, int64_t n,
                           const Area *from, const Area *to, int axis, Status *status) {
  FftState *state = context->state;
  int64_t dims[SHAPE_MAX_RANK], from_strides[SHAPE_MAX_RANK], to_strides[SHAPE_MAX_RANK];
  FftLines lines = {.kind = kind,
                    .inverse = inverse,
                    .wide = wide,
                    .n = n,
                    .available = from->dims[axis],
                    .from = from->data,
                    .to = to->data,
                    .from_stride = from->strides[axis],
                    .to_stride = to->strides[axis],
                    .dims = dims,
                    .from_strides = from_strides,
                    .to_strides = to_strides,
                    .count = 1};
  for (int i = 0; i < from->rank; i++) {
    if (i == axis) continue;
    dims[lines.rank] = from->dims[i] < to->dims[i] ? from->dims[i] : to->dims[i];
    from_strides[lines.rank] = from->strides[i];
    to_strides[lines.rank] = to->strides[i];
    lines.count *= dims[lines.rank++];
  }
  int slot = axis % KEPT_PLANS;
  FftPlan *plan = take_plan(state, slot, kind, n, wide, status);
  if (!plan) return false;
  lines.plan = plan;
  bool ok = fft_lines_run(&lines, context->parallel, status);
  keep_plan(state, slot, kind, n, wide, plan);
  return ok;
}

/* The task of one run: the lengths of the axes `first`, `first` + 1, ... up to the last one. */
typedef struct Task {
  const FftOp *op;
  bool wide;
  int first, rank;
  int64_t lengths[SHAPE_MAX_RANK];
} Task;

static bool transform(KernelContext *context, const Task *task, const Area *in, const Area *out,
                      Status *status) {
  const Area *from = in;
  FftKind kind = task->op->kind;
  for (int k = task->rank - 1; k >= 0; k--) {
    TRY(transform_axis(context, kind, task->op->inverse, task->wide, task->lengths[k], from, out,
                       task->first + k, status));
    from = out;
    kind = FFT_COMPLEX;
  }
  return true;
}

/* From half of a spectrum: the last axis comes last, and the others are transformed in an array beside. */
static bool transform_to_real(KernelContext *context, const Task *task, const Area *in, const Area *out,
                              Status *status) {
  int last = task->first + task->rank - 1;
  int64_t n = task->lengths[task->rank - 1], size = task->wide ? 16 : 8;
  if (task->rank == 1)
    return transform_axis(context, FFT_TO_REAL, true, task->wide, n, in, out, last, status);
  Area beside = *out;
  beside.dims[last] = n / 2 + 1;
  for (int i = last; i >= 0; i--) {
    beside.strides[i] = i == last ? 1 : beside.strides[i + 1] * beside.dims[i + 1];
    if (!__builtin_mul_overflow(size, beside.dims[i], &size)) continue;
    return status_oom(status, "half of a spectrum");
  }
  Buffer *buffer = kernel_scratch(context, size, status);
  if (!buffer) return false;
  beside.data = buffer->data;
  memset(buffer->data, 0, (size_t)size);
  bool ok = true;
  const Area *from = in;
  for (int k = 0; ok && k < task->rank - 1; k++) {
    ok = transform_axis(context, FFT_COMPLEX, true, task->wide, task->lengths[k], from, &beside,
                        task->first + k, status);
    from = &beside;
  }
  ok = ok && transform_axis(context, FFT_TO_REAL, true, task->wide, n, &beside, out, last, status);
  buffer_unref(buffer);
  return ok;
}

/* --- lengths and axes --- */

static bool check_axes(const KernelContext *context, Task *task, Status *status) {
  const Tensor *axes = context->inputs[2];
  const Shape *shape = &context->inputs[0]->shape;
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(axes) || tensor_num_elements(axes) == 0)
    return status_invalid(status, "axes must be a vector with at least one element");
  if (tensor_num_elements(axes) > shape->rank) {
    return status_invalid(status, "Input must have rank of at least %" PRId64 " but got: %s",
                          tensor_num_elements(axes), shape_text(shape, text));
  }
  task->rank = (int)tensor_num_elements(axes);
  for (int i = 0; i < task->rank; i++) {
    int64_t axis = tensor_i32(axes)[i] + (tensor_i32(axes)[i] < 0 ? shape->rank : 0);
    if (i == 0) task->first = (int)axis;
    if (axis != task->first + i) return status_invalid(status, "axes must be successive and ascending.");
    if (i == task->rank - 1 && axis != shape->rank - 1)
      return status_invalid(status, "The last axis to perform transform on must be -1.");
  }
  return true;
}

static bool check_lengths(const KernelContext *context, const Task *task, Status *status) {
  const Tensor *lengths = context->inputs[1];
  if (tensor_is_vector(lengths) && tensor_num_elements(lengths) == task->rank) return true;
  if (task->op->rank > 0) return status_invalid(status, "fft_length must have shape [%d]", task->rank);
  char text[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "fft_length must have shape [%d], but got: %s.", task->rank,
                        shape_text(&lengths->shape, text));
}

/* The length of axis `k`, and its size in the output. */
static bool read_length(const KernelContext *context, Task *task, int k, int64_t *dim, Status *status) {
  int64_t n = tensor_i32(context->inputs[1])[k],
          have = shape_dim(&context->inputs[0]->shape, task->first + k);
  FftKind kind = task->op->kind;
  bool last = k == task->rank - 1;
  if (n < 0) return status_invalid(status, "fft_length[%d] must >= 0, but got: %" PRId64, k, n);
  task->lengths[k] = n;
  *dim = kind == FFT_FROM_REAL && last && n != 0 ? n / 2 + 1 : n;
  int64_t needed = kind == FFT_TO_REAL && last ? n / 2 + 1 : n;
  if (kind == FFT_COMPLEX || have == 0 || have >= needed) return true;
  return status_invalid(status,
                        "Input dimension %d must have length of at least %" PRId64 " but got: %" PRId64,
                        task->first + k, needed, have);
}

static bool check_types(const KernelContext *context, const FftOp *op, Status *status) {
  DataType in = context->inputs[0]->dtype, out = context->output_types[0];
  bool wide_in = in == DT_COMPLEX128 || in == DT_DOUBLE, wide_out = out == DT_COMPLEX128 || out == DT_DOUBLE;
  if (wide_in == wide_out) return true;
  return status_invalid(status, "Wrong types for %s real FFT: in=%d out=%d",
                        op->kind == FFT_FROM_REAL ? "forward" : "backward", (int)in, (int)out);
}

/* Finds the axes and lengths, and allocates the output. */
static bool begin(KernelContext *context, Task *task, Tensor **out, Status *status) {
  const Shape *shape = &context->inputs[0]->shape;
  const FftOp *op = task->op;
  int64_t dims[SHAPE_MAX_RANK];
  char text[SHAPE_TEXT_CAPACITY];
  if (op->rank == 0) {
    TRY(check_axes(context, task, status));
  } else {
    if (shape->rank < op->rank)
      return status_invalid(status, "Input must have rank of at least %d but got: %s", op->rank,
                            shape_text(shape, text));
    task->rank = op->rank;
    task->first = shape->rank - op->rank;
  }
  bool given = context->num_inputs > 1;
  if (given) TRY(check_lengths(context, task, status));
  for (int i = 0; i < shape->rank; i++) {
    dims[i] = shape_dim(shape, i);
    if (i < task->first) continue;
    if (given) TRY(read_length(context, task, i - task->first, &dims[i], status));
    else task->lengths[i - task->first] = dims[i];
  }
  TRY(check_types(context, op, status));
  return kernel_allocate_output_dims(context, 0, shape->rank, dims, out, status);
}

static bool fourier(KernelContext *context, Status *status) {
  Task task = {.op = context->data};
  Tensor *out;
  Area from, to;
  TRY(begin(context, &task, &out, status));
  const Tensor *in = context->inputs[0];
  if (tensor_num_elements(out) == 0) return true;
  bool shorter = tensor_num_elements(in) == 0;
  for (int k = 0; k < task.rank; k++)
    shorter = shorter || shape_dim(&in->shape, task.first + k) < task.lengths[k];
  if (shorter) memset(out->data, 0, (size_t)tensor_bytes(out));
  if (tensor_num_elements(in) == 0) return true;
  task.wide = in->dtype == DT_COMPLEX128 || in->dtype == DT_DOUBLE;
  area_of(in->data, &in->shape, &from);
  area_of(out->data, &out->shape, &to);
  if (task.op->kind == FFT_TO_REAL) return transform_to_real(context, &task, &from, &to, status);
  return transform(context, &task, &from, &to, status);
}

/* --- shapes --- */

static bool unchanged_of_rank(InferenceContext *c, int rank, Status *status) {
  ShapeHandle shape;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), rank, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}
static bool shape_1d(InferenceContext *c, Status *status) { return unchanged_of_rank(c, 1, status); }
static bool shape_2d(InferenceContext *c, Status *status) { return unchanged_of_rank(c, 2, status); }
static bool shape_3d(InferenceContext *c, Status *status) { return unchanged_of_rank(c, 3, status); }

/* Replaces the last `rank` dimensions of `shape` by the lengths of input 1 as far as they are known. */
static bool with_lengths(InferenceContext *c, int rank, ShapeHandle shape, Status *status) {
  bool forward = c->op_def->name[0] == 'R'; /* RFFT, not IRFFT */
  const Tensor *lengths = shape_input_tensor(c, 1);
  for (int i = 0; i < rank; i++) {
    DimHandle dim;
    int64_t n = lengths && i < tensor_num_elements(lengths) ? tensor_i32(lengths)[i] : UNKNOWN_DIM;
    if (n < 0) n = UNKNOWN_DIM;
    else if (forward && i == rank - 1 && n != 0) n = n / 2 + 1;
    TRY(dim_ok(n == UNKNOWN_DIM ? dim_unknown(c) : dim_make(c, n), &dim, status));
    TRY(shape_replace_dim(c, shape, i - rank, dim, &shape, status));
  }
  shape_set_output(c, 0, shape);
  return true;
}

static bool real_shape(InferenceContext *c, int rank, Status *status) {
  ShapeHandle in, lengths;
  DimHandle count;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), rank, &in, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &lengths, status));
  TRY(dim_with_value(c, shape_dim_of(c, lengths, 0), rank, &count, status));
  return with_lengths(c, rank, in, status);
}
static bool real_shape_1d(InferenceContext *c, Status *status) { return real_shape(c, 1, status); }
static bool real_shape_2d(InferenceContext *c, Status *status) { return real_shape(c, 2, status); }
static bool real_shape_3d(InferenceContext *c, Status *status) { return real_shape(c, 3, status); }

/* The number of axes is the size of input 1 or 2. */
static bool shape_nd(InferenceContext *c, Status *status) {
  ShapeHandle in, lengths, axes;
  DimHandle count;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &in, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &lengths, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &axes, status));
  TRY(dim_merge(c, shape_dim_of(c, lengths, 0), shape_dim_of(c, axes, 0), &count, status));
  if (dim_known(count) && dim_value(count) <= SHAPE_MAX_RANK) {
    int rank = (int)dim_value(count);
    TRY(shape_with_rank_at_least(c, in, rank, &in, status));
    return with_lengths(c, rank, in, status);
  }
  TRY(shape_ok(shape_rank_known(in) ? shape_unknown_of_rank(c, shape_rank(in)) : shape_unknown(c), &in,
               status));
  shape_set_output(c, 0, in);
  return true;
}

/* --- gradients --- */

/* The number of transformed elements, as `size` of type `to`. */
#define SIZE_OF(x, type, rank, to)                                                                          \
  "  dims = Shape[T=" type ", out_type=int32](" x                                                           \
  ")\n"                                                                                                     \
  "  from = Const[dtype=int32, value=[-" rank                                                               \
  "]]()\n"                                                                                                  \
  "  end = Const[dtype=int32, value=[0]]()\n"                                                               \
  "  one = Const[dtype=int32, value=[1]]()\n"                                                               \
  "  lengths = StridedSlice[T=int32, Index=int32, end_mask=1](dims:output:0, from:output:0, end:output:0, " \
  "one:output:0)\n"                                                                                         \
  "  axis = Const[dtype=int32, value=[0]]()\n"                                                              \
  "  count = Prod[T=int32, Tidx=int32, keep_dims=false](lengths:output:0, axis:output:0)\n"                 \
  "  size = Cast[SrcT=int32, DstT=" to "](count:output:0)\n"

#define GRADIENT(op, other, rank, scaling)                                                         \
  op "Gradient[Tcomplex:type](input:Tcomplex, dy:Tcomplex) -> (dinput:Tcomplex) {\n"               \
     "  other = " other                                                                            \
     "[Tcomplex=$Tcomplex](dy)\n" SIZE_OF("dy", "$Tcomplex", rank,                                 \
                                          "$Tcomplex") "  dinput = " scaling                       \
                                                       "[T=$Tcomplex](other:output:0, size:y:0)\n" \
                                                       "  return dinput = dinput:z:0\n"            \
                                                       "}\n"

/* Zeros behind the elements of `x` up to the shape `to`: `name`:output:0. */
#define PAD_TO(name, type, x, to)                                          \
  "  " name "_now = Shape[T=" type ", out_type=int32](" x                  \
  ")\n"                                                                    \
  "  " name "_more = Sub[T=int32](" to ", " name                           \
  "_now:output:0)\n"                                                       \
  "  " name "_none = ZerosLike[T=int32](" name                             \
  "_more:z:0)\n"                                                           \
  "  " name "_sizes = Pack[N=2, T=int32, axis=1](" name "_none:y:0, " name \
  "_more:z:0)\n"                                                           \
  "  " name " = Pad[T=" type ", Tpaddings=int32](" x ", " name "_sizes:output:0)\n"

/* The real part of the inverse transform of the whole spectrum, in which the other half is 0, times the
 * number of elements; elements that were cropped have the gradient 0. */
#define REAL_GRADIENT(op, inverse, rank) \
  op "Gradient[Treal:type, Tcomplex:type](input:Treal, fft_length:int32, dy:Tcomplex) -> "                    \
     "(dinput:Treal, dfft_length:int32) {\n"                                                                  \
     "  minus = Const[dtype=int32, value=[-" rank "]]()\n"                                                    \
     "  zero = Const[dtype=int32, value=[0]]()\n"                                                             \
     "  step = Const[dtype=int32, value=[1]]()\n"                                                             \
     "  input_shape = Shape[T=$Treal, out_type=int32](input)\n"                                               \
     "  batch = StridedSlice[T=int32, Index=int32, begin_mask=1](input_shape:output:0, zero:output:0, "       \
     "minus:output:0, step:output:0)\n"                                                                       \
     "  first = Const[dtype=int32, value=0]()\n"                                                              \
     "  whole_shape = ConcatV2[N=2, T=int32, Tidx=int32](batch:output:0, fft_length, first:output:0)\n"       \
     PAD_TO("whole", "$Tcomplex", "dy", "whole_shape:output:0")                                               \
     "  inverse = " inverse "[Tcomplex=$Tcomplex](whole:output:0)\n"                                          \
     "  part = Real[T=$Tcomplex, Tout=$Treal](inverse:output:0)\n"                                            \
     SIZE_OF("inverse:output:0", "$Tcomplex", rank, "$Treal")                                                 \
     "  scaled = Mul[T=$Treal](part:output:0, size:y:0)\n"                                                    \
     PAD_TO("dinput", "$Treal", "scaled:z:0", "input_shape:output:0")                                         \
     "  none = ZerosLike[T=int32](fft_length)\n"                                                              \
     "  return dinput = dinput:output:0, dfft_length = none:y:0\n"                                            \
     "}\n"

/* The transform of dy, where the elements that stand for two of the whole spectrum count twice. */
#define TO_REAL_GRADIENT(op, forward, rank) \
  op "Gradient[Treal:type, Tcomplex:type](input:Tcomplex, fft_length:int32, dy:Treal) -> "                    \
     "(dinput:Tcomplex, dfft_length:int32) {\n"                                                               \
     "  spectrum = " forward "[Treal=$Treal, Tcomplex=$Tcomplex](dy, fft_length)\n"                           \
     SIZE_OF("dy", "$Treal", rank, "$Treal")                                                                  \
     "  back = Const[dtype=int32, value=[-1]]()\n"                                                            \
     "  single = Const[dtype=int32, value=1]()\n"                                                             \
     "  two = Const[dtype=int32, value=2]()\n"                                                                \
     "  first = Const[dtype=int32, value=0]()\n"                                                              \
     "  last = StridedSlice[T=int32, Index=int32, shrink_axis_mask=1](fft_length, back:output:0, "            \
     "end:output:0, one:output:0)\n"                                                                          \
     "  half = FloorDiv[T=int32](last:output:0, two:output:0)\n"                                              \
     "  stop = Add[T=int32](half:z:0, single:output:0)\n"                                                     \
     "  k = Range[Tidx=int32](first:output:0, stop:z:0, single:output:0)\n"                                   \
     "  k2 = Mul[T=int32](k:output:0, two:output:0)\n"                                                        \
     "  at_first = Equal[T=int32](k:output:0, first:output:0)\n"                                              \
     "  at_last = Equal[T=int32](k2:z:0, last:output:0)\n"                                                    \
     "  alone = LogicalOr(at_first:z:0, at_last:z:0)\n"                                                       \
     "  less = Cast[SrcT=bool, DstT=int32](alone:z:0)\n"                                                      \
     "  weights = Sub[T=int32](two:output:0, less:y:0)\n"                                                     \
     "  mask = Cast[SrcT=int32, DstT=$Treal](weights:z:0)\n"                                                  \
     "  factors = RealDiv[T=$Treal](mask:y:0, size:y:0)\n"                                                    \
     "  complex = Cast[SrcT=$Treal, DstT=$Tcomplex](factors:z:0)\n"                                           \
     "  scaled = Mul[T=$Tcomplex](spectrum:output:0, complex:y:0)\n"                                          \
     "  input_shape = Shape[T=$Tcomplex, out_type=int32](input)\n"                                            \
     PAD_TO("dinput", "$Tcomplex", "scaled:z:0", "input_shape:output:0")                                      \
     "  none = ZerosLike[T=int32](fft_length)\n"                                                              \
     "  return dinput = dinput:output:0, dfft_length = none:y:0\n"                                            \
     "}\n"

/* --- ops --- */

#define STATE .state_size = sizeof(FftState), .construct = fft_construct, .destroy = fft_destroy
#define COMPLEX_ATTR "Tcomplex: {complex64, complex128} = DT_COMPLEX64"
#define REAL_ATTR "Treal: {float32, float64} = DT_FLOAT"

#define COMPLEX_OP \
  .inputs = {"input: Tcomplex"}, .outputs = {"output: Tcomplex"}, .attrs = {COMPLEX_ATTR}, STATE
#define COMPLEX_ND_OP                                                                                 \
  .inputs = {"input: Tcomplex", "fft_length: int32", "axes: int32"}, .outputs = {"output: Tcomplex"}, \
  .attrs = {COMPLEX_ATTR}, .shape = shape_nd, STATE
#define REAL_OP                                                                     \
  .inputs = {"input: Treal", "fft_length: int32"}, .outputs = {"output: Tcomplex"}, \
  .attrs = {REAL_ATTR, COMPLEX_ATTR}, STATE
#define TO_REAL_OP                                                                  \
  .inputs = {"input: Tcomplex", "fft_length: int32"}, .outputs = {"output: Treal"}, \
  .attrs = {REAL_ATTR, COMPLEX_ATTR}, STATE
/* Ops of old graphs, without kernels in TensorFlow. */
#define BATCH_OP(instead)                                                                     \
  .inputs = {"input: complex64"}, .outputs = {"output: complex64"}, .deprecated_version = 15, \
  .deprecation_explanation = "Use " instead, STATE
#define COMPLEX_TYPES(task) \
  {DT_COMPLEX64, fourier, task}, { DT_COMPLEX128, fourier, task }
#define REAL_TYPES(task) \
  {DT_FLOAT, fourier, task}, { DT_DOUBLE, fourier, task }

static const FftOp kFft1 = {FFT_COMPLEX, false, 1}, kIfft1 = {FFT_COMPLEX, true, 1},
                   kRfft1 = {FFT_FROM_REAL, false, 1}, kIrfft1 = {FFT_TO_REAL, true, 1},
                   kFft2 = {FFT_COMPLEX, false, 2}, kIfft2 = {FFT_COMPLEX, true, 2},
                   kRfft2 = {FFT_FROM_REAL, false, 2}, kIrfft2 = {FFT_TO_REAL, true, 2},
                   kFft3 = {FFT_COMPLEX, false, 3}, kIfft3 = {FFT_COMPLEX, true, 3},
                   kRfft3 = {FFT_FROM_REAL, false, 3}, kIrfft3 = {FFT_TO_REAL, true, 3},
                   kFftNd = {FFT_COMPLEX, false, 0}, kIfftNd = {FFT_COMPLEX, true, 0},
                   kRfftNd = {FFT_FROM_REAL, false, 0}, kIrfftNd = {FFT_TO_REAL, true, 0};

const OpRegistration kOpFFT = {
    .name = "FFT",
    COMPLEX_OP,
    .shape = shape_1d,
    .gradient = GRADIENT("FFT", "IFFT", "1", "Mul"),
    .kernels = {COMPLEX_TYPES(&kFft1)},
};

const OpRegistration kOpIFFT = {
    .name = "IFFT",
    COMPLEX_OP,
    .shape = shape_1d,
    .gradient = GRADIENT("IFFT", "FFT", "1", "RealDiv"),
    .kernels = {COMPLEX_TYPES(&kIfft1)},
};

const OpRegistration kOpFFT2D = {
    .name = "FFT2D",
    COMPLEX_OP,
    .shape = shape_2d,
    .gradient = GRADIENT("FFT2D", "IFFT2D", "2", "Mul"),
    .kernels = {COMPLEX_TYPES(&kFft2)},
};

const OpRegistration kOpIFFT2D = {
    .name = "IFFT2D",
    COMPLEX_OP,
    .shape = shape_2d,
    .gradient = GRADIENT("IFFT2D", "FFT2D", "2", "RealDiv"),
    .kernels = {COMPLEX_TYPES(&kIfft2)},
};

const OpRegistration kOpFFT3D = {
    .name = "FFT3D",
    COMPLEX_OP,
    .shape = shape_3d,
    .gradient = GRADIENT("FFT3D", "IFFT3D", "3", "Mul"),
    .kernels = {COMPLEX_TYPES(&kFft3)},
};

const OpRegistration kOpIFFT3D = {
    .name = "IFFT3D",
    COMPLEX_OP,
    .shape = shape_3d,
    .gradient = GRADIENT("IFFT3D", "FFT3D", "3", "RealDiv"),
    .kernels = {COMPLEX_TYPES(&kIfft3)},
};

const OpRegistration kOpRFFT = {
    .name = "RFFT",
    REAL_OP,
    .shape = real_shape_1d,
    .gradient = REAL_GRADIENT("RFFT", "IFFT", "1"),
    .kernels = {REAL_TYPES(&kRfft1)},
};

const OpRegistration kOpIRFFT = {
    .name = "IRFFT",
    TO_REAL_OP,
    .shape = real_shape_1d,
    .gradient = TO_REAL_GRADIENT("IRFFT", "RFFT", "1"),
    .kernels = {REAL_TYPES(&kIrfft1)},
};

const OpRegistration kOpRFFT2D = {
    .name = "RFFT2D",
    REAL_OP,
    .shape = real_shape_2d,
    .gradient = REAL_GRADIENT("RFFT2D", "IFFT2D", "2"),
    .kernels = {REAL_TYPES(&kRfft2)},
};

const OpRegistration kOpIRFFT2D = {
    .name = "IRFFT2D",
    TO_REAL_OP,
    .shape = real_shape_2d,
    .gradient = TO_REAL_GRADIENT("IRFFT2D", "RFFT2D", "2"),
    .kernels = {REAL_TYPES(&kIrfft2)},
};

const OpRegistration kOpRFFT3D = {
    .name = "RFFT3D",
    REAL_OP,
    .shape = real_shape_3d,
    .gradient = REAL_GRADIENT("RFFT3D", "IFFT3D", "3"),
    .kernels = {REAL_TYPES(&kRfft3)},
};

const OpRegistration kOpIRFFT3D = {
    .name = "IRFFT3D",
    TO_REAL_OP,
    .shape = real_shape_3d,
    .gradient = TO_REAL_GRADIENT("IRFFT3D", "RFFT3D", "3"),
    .kernels = {REAL_TYPES(&kIrfft3)},
};

const OpRegistration kOpFFTND = {
    .name = "FFTND",
    COMPLEX_ND_OP,
    .kernels = {COMPLEX_TYPES(&kFftNd)},
};

const OpRegistration kOpIFFTND = {
    .name = "IFFTND",
    COMPLEX_ND_OP,
    .kernels = {COMPLEX_TYPES(&kIfftNd)},
};

const OpRegistration kOpRFFTND = {
    .name = "RFFTND",
    .inputs = {"input: Treal", "fft_length: int32", "axes: int32"},
    .outputs = {"output: Tcomplex"},
    .attrs = {REAL_ATTR, COMPLEX_ATTR},
    .shape = shape_nd,
    STATE,
    .kernels = {REAL_TYPES(&kRfftNd)},
};

const OpRegistration kOpIRFFTND = {
    .name = "IRFFTND",
    .inputs = {"input: Tcomplex", "fft_length: int32", "axes: int32"},
    .outputs = {"output: Treal"},
    .attrs = {REAL_ATTR, COMPLEX_ATTR},
    .shape = shape_nd,
    STATE,
    .kernels = {REAL_TYPES(&kIrfftNd)},
};

const OpRegistration kOpBatchFFT = {
    .name = "BatchFFT",
    BATCH_OP("FFT"),
    .shape = shape_1d,
    .kernels = {{DT_INVALID, fourier, &kFft1}},
};

const OpRegistration kOpBatchIFFT = {
    .name = "BatchIFFT",
    BATCH_OP("IFFT"),
    .shape = shape_1d,
    .kernels = {{DT_INVALID, fourier, &kIfft1}},
};

const OpRegistration kOpBatchFFT2D = {
    .name = "BatchFFT2D",
    BATCH_OP("FFT2D"),
    .shape = shape_2d,
    .kernels = {{DT_INVALID, fourier, &kFft2}},
};

const OpRegistration kOpBatchIFFT2D = {
    .name = "BatchIFFT2D",
    BATCH_OP("IFFT2D"),
    .shape = shape_2d,
    .kernels = {{DT_INVALID, fourier, &kIfft2}},
};

const OpRegistration kOpBatchFFT3D = {
    .name = "BatchFFT3D",
    BATCH_OP("FFT3D"),
    .shape = shape_3d,
    .kernels = {{DT_INVALID, fourier, &kFft3}},
};

const OpRegistration kOpBatchIFFT3D = {
    .name = "BatchIFFT3D",
    BATCH_OP("IFFT3D"),
    .shape = shape_3d,
    .kernels = {{DT_INVALID, fourier, &kIfft3}},
};
