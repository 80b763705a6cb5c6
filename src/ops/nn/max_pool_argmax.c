/* MaxPoolWithArgmax: the maxima of windows and their positions: (row * columns + column) * channels +
 * channel, counted from the first image or within each image. Its gradient scatters to these positions, and
 * the gradient of that gathers from them. */
#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/nn/pool_window.h"

typedef struct ArgmaxState {
  PoolState pool;
  bool include_batch;
} ArgmaxState;

static bool argmax_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ArgmaxState *state = memory;
  TRY(pool_construct(construction, &state->pool, status));
  for (int i = 0; i < 4; i++) {
    if (state->pool.ksize[i] <= 0) {
      return status_invalid(status, "ksize must be a positive int32 value, got:%" PRId64,
                            state->pool.ksize[i]);
    }
  }
  return node_attr_bool(construction->node, "include_batch_in_index", &state->include_batch, status);
}

/* --- jobs of the loops --- */

typedef struct Argmax {
  WindowView rows, columns;
  int64_t channels, image, pooled; /* image and pooled: elements of one image before and after pooling */
  bool include_batch, wide;        /* wide: indices are int64, else int32 */
  const void *input;               /* the image, or the incoming gradient */
  void *indices, *result;
} Argmax;

/* Ranges count rows, or images. */
typedef struct ArgmaxLoops {
  ParallelBody *lines, *scatter, *gather;
} ArgmaxLoops;

/* The number of channels whose maxima are computed together. */
enum { ARGMAX_GROUP = 32 };

static inline void write_index(const Argmax *p, const PoolWindow *w, int64_t image, int64_t pixel,
                               int64_t channel, int64_t to) {
  int64_t width = w->column_end - w->column_begin, row = w->row_begin + pixel / width,
          column = w->column_begin + pixel % width;
  int64_t index =
      (row * p->columns.size + column) * p->channels + channel + (p->include_batch ? image * p->image : 0);
  if (p->wide) ((int64_t *)p->indices)[to] = index;
  else ((int32_t *)p->indices)[to] = (int32_t)index;
}

/* Counted from the first image, whatever is stored. */
static inline int64_t read_index(const Argmax *p, int64_t i) {
  int64_t index = p->wide ? ((const int64_t *)p->indices)[i] : ((const int32_t *)p->indices)[i];
  return p->include_batch ? index : index + i / p->pooled * p->image;
}

#define TEMPLATE "ops/nn/pool_argmax.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

static const ArgmaxLoops *loops_of(DataType type) {
  switch (type) {
    case DT_DOUBLE: return &kArgmaxLoops_f64;
    case DT_INT32: return &kArgmaxLoops_i32;
    case DT_INT64: return &kArgmaxLoops_i64;
    case DT_UINT8: return &kArgmaxLoops_u8;
    case DT_INT8: return &kArgmaxLoops_i8;
    case DT_INT16: return &kArgmaxLoops_i16;
    case DT_UINT16: return &kArgmaxLoops_u16;
    case DT_UINT32: return &kArgmaxLoops_u32;
    case DT_UINT64: return &kArgmaxLoops_u64;
    default: return &kArgmaxLoops_f32; /* also for 16-bit floats */
  }
}

/* --- kernels --- */

static Argmax describe(const KernelContext *context, const PoolRun *run, const Tensor *indices) {
  return (Argmax){.rows = window_forward(&run->axis[0]),
                  .columns = window_forward(&run->axis[1]),
                  .channels = run->input.channels,
                  .image = run->input.space[0] * run->input.space[1] * run->input.channels,
                  .pooled = run->out.space[0] * run->out.space[1] * run->out.channels,
                  .include_batch = ((const ArgmaxState *)context->state)->include_batch,
                  .wide = indices->dtype == DT_INT64,
                  .indices = indices->data};
}

static bool begin(KernelContext *context, const Tensor *input, PoolRun *run, Status *status) {
  TRY(pool_begin(context, shape_dims(&input->shape), run, status));
  return run->depth == 1 ||
         status_set(status, CODE_UNIMPLEMENTED, "MaxPoolWithArgmax is not supported on the depth dimension.");
}

static bool max_pool_with_argmax(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t dims[4];
  Tensor *out, *indices;
  PoolRun run;
  Image from = {0}, to = {0};
  if (input->shape.rank != 4) return status_invalid(status, "tensor_in must be 4-dimensional (2)");
  if (tensor_num_elements(input) == 0) return status_invalid(status, "tensor_in must not be empty (2)");
  TRY(begin(context, input, &run, status));
  image_dims(&run.out, false, dims);
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  TRY(kernel_allocate_output_dims(context, 1, 4, dims, &indices, status));
  if (tensor_num_elements(out) == 0) return true;
  Argmax args = describe(context, &run, indices);
  bool ok =
      image_read(context, input, NULL, false, &from, status) && image_begin(context, out, false, &to, status);
  if (ok) {
    args.input = from.data, args.result = to.data;
    int64_t lines = run.out.batch * run.out.space[0];
    double work =
        (double)tensor_num_elements(out) / (double)lines * (double)run.ksize[1] * (double)run.ksize[2];
    parallel_work(context->parallel, lines, work, loops_of(out->dtype)->lines, &args);
    ok = image_finish(context, &to, NULL, false, out, status);
  }
  image_drop(&from);
  image_drop(&to);
  return ok;
}

/* Checks that every index is inside its image. */
static bool check_indices(const Argmax *args, int64_t batch, Status *status) {
  for (int64_t i = 0; i < batch * args->pooled; i++) {
    int64_t first = i / args->pooled * args->image, at;
    int64_t index = args->wide ? ((const int64_t *)args->indices)[i] : ((const int32_t *)args->indices)[i];
    if (__builtin_add_overflow(index, args->include_batch ? 0 : first, &at) || at < first ||
        at - first >= args->image) {
      return status_invalid(status, "Invalid output gradient index: %" PRId64 ", %" PRId64 ", %" PRId64, at,
                            first, first + args->image);
    }
  }
  return true;
}

/* Inputs: the image, the incoming gradient, the indices. `second`: the gradient of the gradient. */
static bool max_pool_argmax_grad(KernelContext *context, bool second, Status *status) {
  const Tensor *input = context->inputs[0], *grad = context->inputs[1], *indices = context->inputs[2];
  int64_t dims[4];
  Tensor *out;
  PoolRun run;
  Image from = {0}, to = {0};
  if (input->shape.rank != 4) {
    return status_invalid(status, "tensor_in_shape must have 2 spatial dimensions. %d %d", input->shape.rank,
                          input->shape.rank - 2);
  }
  TRY(begin(context, input, &run, status));
  TRY(pool_check_shape(grad, "grad", second ? &run.input : &run.out, false, status));
  TRY(pool_check_shape(indices, "argmax", &run.out, false, status));
  image_dims(second ? &run.out : &run.input, false, dims);
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  Argmax args = describe(context, &run, indices);
  TRY(check_indices(&args, run.input.batch, status));
  bool ok =
      image_read(context, grad, NULL, false, &from, status) && image_begin(context, out, false, &to, status);
  if (ok) {
    const ArgmaxLoops *loops = loops_of(out->dtype);
    args.input = from.data, args.result = to.data;
    double work = 2 * ((double)args.pooled + (double)args.image / 4);
    parallel_work(context->parallel, run.input.batch, work, second ? loops->gather : loops->scatter, &args);
    ok = image_finish(context, &to, NULL, false, out, status);
  }
  image_drop(&from);
  image_drop(&to);
  return ok;
}
static bool max_pool_grad_with_argmax(KernelContext *context, Status *status) {
  return max_pool_argmax_grad(context, false, status);
}
static bool max_pool_grad_grad_with_argmax(KernelContext *context, Status *status) {
  return max_pool_argmax_grad(context, true, status);
}

/* --- shapes --- */

static bool shape_with_argmax(InferenceContext *c, Status *status) {
  TRY(shape_max_pool(c, status));
  shape_set_output(c, 1, c->outputs[0]);
  return true;
}

static bool shape_grad(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), 4, status);
}

static bool shape_grad_grad(InferenceContext *c, Status *status) {
  ShapeHandle merged;
  return shape_max_pool(c, status) && shape_merge(c, shape_input(c, 0), shape_input(c, 1), &merged, status) &&
         shape_merge(c, c->outputs[0], shape_input(c, 2), &merged, status);
}

/* --- registrations --- */

#define DECLARED \
  "[ksize:list(int), strides:list(int), padding:string, include_batch_in_index:bool, Targmax:type, T:type]"
#define PASSED                                                                                          \
  "[ksize=$ksize, strides=$strides, padding=$padding, include_batch_in_index=$include_batch_in_index, " \
  "Targmax=$Targmax, T=$T]"

const OpRegistration kOpMaxPoolWithArgmax = {
    .name = "MaxPoolWithArgmax",
    .inputs = {"input: T"},
    .outputs = {"output: T", "argmax: Targmax"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "Targmax: {int32, int64} = DT_INT64",
              "padding: {'SAME', 'VALID'}", "include_batch_in_index: bool = false", "T: realnumbertype"},
    .shape = shape_with_argmax,
    .gradient = "MaxPoolWithArgmaxGradient" DECLARED
                "(input:T, dy:T, dargmax:Targmax) -> (dinput:T) {\n"
                "  y = MaxPoolWithArgmax" PASSED
                "(input)\n"
                "  dinput = MaxPoolGradWithArgmax" PASSED
                "(input, dy, y:argmax:0)\n"
                "  return dinput = dinput:output:0\n"
                "}\n",
    .state_size = sizeof(ArgmaxState),
    .construct = argmax_construct,
    .kernels = {INT_KERNELS(max_pool_with_argmax)},
};

#define GRADIENT(name, back)                                                                \
  name "Gradient" DECLARED                                                                  \
       "(input:T, grad:T, argmax:Targmax, d:T) -> (dinput:T, dgrad:T, dargmax:Targmax) {\n" \
       "  dinput = ZerosLike[T=$T](input)\n"                                                \
       "  dargmax = ZerosLike[T=$Targmax](argmax)\n"                                        \
       "  dgrad = " back PASSED                                                             \
       "(input, d, argmax)\n"                                                               \
       "  return dinput = dinput:y:0, dgrad = dgrad:output:0, dargmax = dargmax:y:0\n"      \
       "}\n"

const OpRegistration kOpMaxPoolGradWithArgmax = {
    .name = "MaxPoolGradWithArgmax",
    .inputs = {"input: T", "grad: T", "argmax: Targmax"},
    .outputs = {"output: T"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}",
              "include_batch_in_index: bool = false", "Targmax: {int32, int64}", "T: realnumbertype"},
    .shape = shape_grad,
    .gradient = GRADIENT("MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax"),
    .state_size = sizeof(ArgmaxState),
    .construct = argmax_construct,
    .kernels = {INT_KERNELS(max_pool_grad_with_argmax)},
};

/* TensorFlow has this kernel only on GPUs. */
const OpRegistration kOpMaxPoolGradGradWithArgmax = {
    .name = "MaxPoolGradGradWithArgmax",
    .inputs = {"input: T", "grad: T", "argmax: Targmax"},
    .outputs = {"output: T"},
    .attrs = {"ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}",
              "include_batch_in_index: bool = false", "Targmax: {int32, int64}", "T: realnumbertype"},
    .shape = shape_grad_grad,
    .gradient = GRADIENT("MaxPoolGradGradWithArgmax", "MaxPoolGradWithArgmax"),
    .state_size = sizeof(ArgmaxState),
    .construct = argmax_construct,
    .kernels = {INT_KERNELS(max_pool_grad_grad_with_argmax)},
};
