/* ArgMax and ArgMin: the position of the maximum (minimum) along one dimension. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "simd/simd.h"

/* The input as [outer, size, inner]; result k = [outer, inner] in row-major order. */
typedef struct ArgJob ArgJob;
typedef void ArgScan(const ArgJob *job, int64_t begin, int64_t end);
struct ArgJob {
  const void *input;
  void *output;
  DataType output_type;
  bool smallest;
  int64_t size, inner;
  ArgScan *scan;
};

static void put_index(const ArgJob *job, int64_t k, int64_t index) {
  switch (job->output_type) { /* out-of-range values wrap around */
    case DT_INT64: ((int64_t *)job->output)[k] = index; break;
    case DT_INT32: ((int32_t *)job->output)[k] = (int32_t)index; break;
    default: ((uint16_t *)job->output)[k] = (uint16_t)index; break;
  }
}

/* Rows below this length are searched several at once, without branches, which would be mispredicted. */
enum { SHORT_ROW = 64 };
/* The number of rows searched together when the elements of a row are not contiguous. */
enum { SIDE_BY_SIDE = 64 };

static void run_scan(void *arg, int64_t begin, int64_t end) {
  const ArgJob *job = arg;
  job->scan(job, begin, end);
}

/* The data of the kernels is an ArgScan. */
static bool arg_reduce(KernelContext *context, bool smallest, Status *status) {
  const Tensor *input = context->inputs[0], *dimension = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (!tensor_is_scalar(dimension)) {
    return status_invalid(status, "dim must be a scalar, but received tensor of shape: %s",
                          shape_text(&dimension->shape, text));
  }
  int64_t given = tensor_int_at(dimension, 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    return status_invalid(status, "Expected dimension in the range [%d, %d), but got %lld", -rank, rank,
                          (long long)given);
  }
  ArgJob job = {.input = input->data,
                .output_type = context->output_types[0],
                .smallest = smallest,
                .inner = 1,
                .scan = (ArgScan *)context->data};
  job.size = shape_dim(&input->shape, (int)axis);
  if (job.size == 0) {
    return status_invalid(status, "Reduction axis %lld is empty in shape %s", (long long)given,
                          shape_text(&input->shape, text));
  }
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0, k = 0; i < rank; i++) {
    if (i != axis) dims[k++] = shape_dim(&input->shape, i);
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank - 1, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true; /* then products of the other sizes may overflow */
  for (int i = (int)axis + 1; i < rank; i++) job.inner *= shape_dim(&input->shape, i);
  if (job.size > INT32_MAX && job.inner > 1) { /* positions are counted in 32 bits there */
    return status_set(status, CODE_UNIMPLEMENTED,
                      "More than %d elements along the reduction axis, which is not the last one", INT32_MAX);
  }
  job.output = out->data;
  parallel_work(context->parallel, tensor_num_elements(out), (double)job.size, run_scan, &job);
  return true;
}

#define TEMPLATE "ops/math/arg_reduce_scan.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

static bool arg_max(KernelContext *context, Status *status) { return arg_reduce(context, false, status); }
static bool arg_min(KernelContext *context, Status *status) { return arg_reduce(context, true, status); }

static bool arg_reduce_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), dimension, before, after, out;
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &dimension, status));
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(input);
  if (rank <= 1) return shape_scalar_output(c, status);
  const Tensor *value = shape_input_tensor(c, 1);
  if (!value || tensor_num_elements(value) != 1) {
    TRY(shape_ok(shape_unknown_of_rank(c, rank - 1), &out, status));
    shape_set_output(c, 0, out);
    return true;
  }
  int64_t given = tensor_int_at(value, 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    return status_invalid(status,
                          "Dimension (%lld) must be in the range [%d, %d), where %d is the number of "
                          "dimensions in the input.",
                          (long long)given, (int)-rank, (int)rank, (int)rank);
  }
  TRY(shape_subshape(c, input, 0, axis, 1, &before, status));
  TRY(shape_subshape(c, input, axis + 1, INT64_MAX, 1, &after, status));
  TRY(shape_concatenate(c, before, after, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* TensorFlow 1.x allowed complex numbers in the op, but had no kernel for them. */
#define ARG_TYPES                                                                                        \
  "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, " \
  "quint8, qint32, "                                                                                     \
  "qint16, quint16, bool, complex64, complex128}"

const OpRegistration kOpArgMax = {
    .name = "ArgMax",
    .inputs = {"input: T", "dimension: Tidx"},
    .outputs = {"output: output_type"},
    .attrs = {ARG_TYPES, "Tidx: {int16, int32, int64} = DT_INT32",
              "output_type: {int16, uint16, int32, int64} = DT_INT64"},
    .shape = arg_reduce_shape,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_REAL_KERNELS(arg_max, scan), {DT_BOOL, arg_max, scan_u8}},
};

const OpRegistration kOpArgMin = {
    .name = "ArgMin",
    .inputs = {"input: T", "dimension: Tidx"},
    .outputs = {"output: output_type"},
    .attrs = {ARG_TYPES, "Tidx: {int32, int64} = DT_INT32", "output_type: {int32, int64} = DT_INT64"},
    .shape = arg_reduce_shape,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_REAL_KERNELS(arg_min, scan), {DT_BOOL, arg_min, scan_u8}},
};
