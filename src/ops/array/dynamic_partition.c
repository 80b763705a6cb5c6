/* DynamicPartition distributes slices to several outputs; DynamicStitch merges slices of several inputs. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

/* Whether the first axes of `shape` are those of `prefix`. */
static bool starts_with(const Shape *shape, const Shape *prefix) {
  if (shape->rank < prefix->rank) return false;
  for (int d = 0; d < prefix->rank; d++) {
    if (shape_dim(shape, d) != shape_dim(prefix, d)) return false;
  }
  return true;
}

/* The number of elements of a slice after the first `outer` axes; 0 for a tensor without elements. */
static int64_t slice_length(const Tensor *data, int outer) {
  int64_t length = 1;
  if (tensor_num_elements(data) == 0) return 0;
  for (int d = outer; d < data->shape.rank; d++) length *= shape_dim(&data->shape, d);
  return length;
}

/* --- DynamicPartition --- */

static bool bad_partition(const Tensor *partitions, int64_t i, int count, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "partitions");
  array_print_position(&partitions->shape, partitions->shape.rank, i, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "%s = %d is not in [0, %d)", strbuf_text(&text), tensor_i32(partitions)[i], count);
  }
  strbuf_free(&text);
  return false;
}

/* The numbers of the slices of each output, concatenated; sizes[k] is the number for output k. */
static bool sort_slices(const Tensor *partitions, int outputs, int64_t *sizes, int64_t *rows,
                        Status *status) {
  const int32_t *to = tensor_i32(partitions);
  int64_t count = tensor_num_elements(partitions), begin = 0;
  for (int k = 0; k < outputs; k++) sizes[k] = 0;
  for (int64_t i = 0; i < count; i++) {
    if (to[i] < 0 || to[i] >= outputs) return bad_partition(partitions, i, outputs, status);
    sizes[to[i]]++;
  }
  for (int k = 0; k < outputs; k++) {
    int64_t size = sizes[k];
    sizes[k] = begin;
    begin += size;
  }
  for (int64_t i = 0; i < count; i++) rows[sizes[to[i]]++] = i;
  for (int k = outputs - 1; k > 0; k--) sizes[k] -= sizes[k - 1];
  return true;
}

static bool partition_kernel(KernelContext *context, Status *status) {
  const Tensor *data = context->inputs[0], *partitions = context->inputs[1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int outer = partitions->shape.rank, rank = 1 + data->shape.rank - outer, outputs = context->num_outputs;
  if (!starts_with(&data->shape, &partitions->shape)) {
    return status_invalid(status,
                          "data.shape must start with partitions.shape, got data.shape = %s, "
                          "partitions.shape = %s",
                          shape_text(&data->shape, a), shape_text(&partitions->shape, b));
  }
  if (rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  int64_t dims[SHAPE_MAX_RANK], *numbers, length = slice_length(data, outer);
  for (int d = 1; d < rank; d++) dims[d] = shape_dim(&data->shape, outer + d - 1);
  Buffer *buffer = array_row_numbers(context, tensor_num_elements(partitions) + outputs, &numbers, status);
  if (!buffer) return false;
  int64_t *sizes = numbers, *rows = numbers + outputs;
  bool ok = sort_slices(partitions, outputs, sizes, rows, status);
  for (int k = 0; ok && k < outputs; k++) {
    Tensor *out;
    dims[0] = sizes[k];
    ok = kernel_allocate_output_dims(context, k, rank, dims, &out, status) &&
         array_gather_rows(data, rows, sizes[k], length, out, context->parallel, status);
    rows += sizes[k];
  }
  buffer_unref(buffer);
  return ok;
}

static bool partition_shape(InferenceContext *c, Status *status) {
  ShapeHandle data = shape_input(c, 0), partitions = shape_input(c, 1), inner, output;
  if (!shape_rank_known(partitions)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(partitions);
  TRY(shape_merge_prefix(c, data, partitions, &data, &partitions, status));
  TRY(shape_subshape(c, data, rank, INT64_MAX, 1, &inner, status));
  for (int i = 0; i < c->num_outputs; i++) {
    TRY(shape_ok(shape_vector(c, dim_unknown(c)), &output, status));
    TRY(shape_concatenate(c, output, inner, &output, status));
    shape_set_output(c, i, output);
  }
  return true;
}

/* The gradient's slices return to their origins, which are found by partitioning the slices' numbers. */
static bool partition_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "num_partitions", &n, status));
  strbuf_append(text, "DynamicPartitionGradient[T:type](data:T, partitions:int32");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, ", dy%lld:T", (long long)i);
  strbuf_printf(text,
                ") -> (ddata:T, dpartitions:int32) {\n"
                "  none = ZerosLike[T=int32](partitions)\n"
                "  zero = Const[dtype=int32, value=0]()\n"
                "  one = Const[dtype=int32, value=1]()\n"
                "  count = Size[T=int32, out_type=int32](partitions)\n"
                "  range = Range[Tidx=int32](zero:output:0, count:output:0, one:output:0)\n"
                "  pshape = Shape[T=int32, out_type=int32](partitions)\n"
                "  numbers = Reshape[T=int32, Tshape=int32](range:output:0, pshape:output:0)\n"
                "  places = DynamicPartition[num_partitions=%lld, T=int32](numbers:output:0, partitions)\n"
                "  stitched = DynamicStitch[N=%lld, T=$T](",
                (long long)n, (long long)n);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "places:outputs:%lld, ", (long long)i);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdy%lld", i == 0 ? "" : ", ", (long long)i);
  strbuf_append(text,
                ")\n"
                "  shape = Shape[T=$T, out_type=int32](data)\n"
                "  d = Reshape[T=$T, Tshape=int32](stitched:merged:0, shape:output:0)\n"
                "  return ddata = d:output:0, dpartitions = none:y:0\n"
                "}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpDynamicPartition = {
    .name = "DynamicPartition",
    .inputs = {"data: T", "partitions: int32"},
    .outputs = {"outputs: num_partitions * T"},
    .attrs = {"num_partitions: int >= 1", "T: type"},
    .shape = partition_shape,
    .gradient_fn = partition_gradient,
    .kernels = {{DT_INVALID, partition_kernel}},
};

/* --- DynamicStitch --- */

static bool check_stitch(const Tensor *const *indices, const Tensor *const *data, int count, int64_t *size,
                         Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY], d[SHAPE_TEXT_CAPACITY];
  *size = 0;
  for (int k = 0; k < count; k++) {
    const Shape *shape = &data[k]->shape, *prefix = &indices[k]->shape;
    if (!starts_with(shape, prefix)) {
      return status_invalid(status, "data[%d].shape = %s does not start with indices[%d].shape = %s", k,
                            shape_text(shape, a), k, shape_text(prefix, b));
    }
    bool same = shape->rank - prefix->rank == data[0]->shape.rank - indices[0]->shape.rank;
    for (int i = prefix->rank; same && i < shape->rank; i++) {
      same = shape_dim(shape, i) == shape_dim(&data[0]->shape, i - prefix->rank + indices[0]->shape.rank);
    }
    if (!same) {
      return status_invalid(status,
                            "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, "
                            "data[%d].shape = %s, "
                            "indices[0].shape = %s, indices[%d].shape = %s",
                            indices[0]->shape.rank, k, prefix->rank, shape_text(&data[0]->shape, a), k,
                            shape_text(shape, b), shape_text(&indices[0]->shape, c), k,
                            shape_text(prefix, d));
    }
    for (int64_t i = 0, n = tensor_num_elements(indices[k]); i < n; i++) {
      int32_t index = tensor_i32(indices[k])[i];
      if (index < 0) return status_invalid(status, "indices[%lld] is out of range", (long long)i);
      if (index >= *size) *size = (int64_t)index + 1;
    }
  }
  return true;
}

static bool stitch_kernel(KernelContext *context, Status *status) {
  int count = context->num_inputs / 2;
  const Tensor *const *indices = context->inputs, *const *data = context->inputs + count;
  int64_t dims[SHAPE_MAX_RANK], *rows, most = 0;
  TRY(check_stitch(indices, data, count, &dims[0], status));
  int outer = indices[0]->shape.rank, rank = 1 + data[0]->shape.rank - outer;
  if (rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int d = 1; d < rank; d++) dims[d] = shape_dim(&data[0]->shape, outer + d - 1);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  /* Rows without an index. */
  array_clear(out);
  for (int k = 0; k < count; k++) {
    if (tensor_num_elements(indices[k]) > most) most = tensor_num_elements(indices[k]);
  }
  Buffer *buffer = array_row_numbers(context, most, &rows, status);
  if (!buffer) return false;
  bool ok = true;
  for (int k = 0; ok && k < count; k++) {
    int64_t n = tensor_num_elements(indices[k]);
    for (int64_t i = 0; i < n; i++) rows[i] = tensor_i32(indices[k])[i];
    ok = array_scatter_rows(data[k], rows, n, slice_length(data[k], indices[k]->shape.rank), out, status);
  }
  buffer_unref(buffer);
  return ok;
}

static bool stitch_shape(InferenceContext *c, Status *status) {
  int64_t count;
  TRY(node_attr_int(c->node, "N", &count, status));
  ShapeHandle inner, output;
  TRY(shape_ok(shape_unknown(c), &inner, status));
  bool known = true;
  int64_t size = 0;
  for (int i = 0; i < count; i++) {
    ShapeHandle indices = shape_input(c, i), data = shape_input(c, (int)count + i), rest;
    const Tensor *values = shape_input_tensor(c, i);
    if (!values) {
      known = false;
    } else {
      for (int64_t k = 0; k < tensor_num_elements(values); k++) {
        if (tensor_i32(values)[k] >= size) size = (int64_t)tensor_i32(values)[k] + 1;
      }
    }
    if (!shape_rank_known(indices)) continue;
    TRY(shape_merge_prefix(c, data, indices, &data, &indices, status));
    TRY(shape_subshape(c, data, shape_rank(indices), INT64_MAX, 1, &rest, status));
    TRY(shape_merge(c, inner, rest, &inner, status));
  }
  TRY(shape_ok(shape_vector(c, known ? dim_make(c, size) : dim_unknown(c)), &output, status));
  TRY(shape_concatenate(c, output, inner, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* As in TensorFlow, every slice gets the gradient of its destination, even if a later slice overwrote it. */
static bool stitch_gradient_text(const GradientRequest *request, const char *name, StrBuf *text,
                                 Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "N", &n, status));
  strbuf_printf(text, "%sGradient[T:type](", name);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "i%lld:int32, ", (long long)i);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "x%lld:T, ", (long long)i);
  strbuf_append(text, "dy:T) -> (");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "di%lld:int32, ", (long long)i);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdx%lld:T", i == 0 ? "" : ", ", (long long)i);
  strbuf_append(text, ") {\n");
  for (int64_t i = 0; i < n; i++) {
    long long k = i;
    strbuf_printf(text, "  none%lld = ZerosLike[T=int32](i%lld)\n", k, k);
    strbuf_printf(text, "  d%lld = Gather[Tparams=$T, Tindices=int32](dy, i%lld)\n", k, k);
  }
  strbuf_append(text, "  return ");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "di%lld = none%lld:y:0, ", (long long)i, (long long)i);
  for (int64_t i = 0; i < n; i++) {
    strbuf_printf(text, "%sdx%lld = d%lld:output:0", i == 0 ? "" : ", ", (long long)i, (long long)i);
  }
  strbuf_append(text, "\n}\n");
  return strbuf_ok(text, status);
}

static bool stitch_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return stitch_gradient_text(request, "DynamicStitch", text, status);
}
static bool parallel_stitch_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return stitch_gradient_text(request, "ParallelDynamicStitch", text, status);
}

const OpRegistration kOpDynamicStitch = {
    .name = "DynamicStitch",
    .inputs = {"indices: N * int32", "data: N * T"},
    .outputs = {"merged: T"},
    .attrs = {"N: int >= 1", "T: type"},
    .shape = stitch_shape,
    .gradient_fn = stitch_gradient,
    .kernels = {{DT_INVALID, stitch_kernel}},
};

/* TensorFlow does not specify which of several slices with one destination is kept; here it is the last. */
const OpRegistration kOpParallelDynamicStitch = {
    .name = "ParallelDynamicStitch",
    .inputs = {"indices: N * int32", "data: N * T"},
    .outputs = {"merged: T"},
    .attrs = {"N: int >= 1", "T: type"},
    .shape = stitch_shape,
    .gradient_fn = parallel_stitch_gradient,
    .kernels = {{DT_INVALID, stitch_kernel}},
};
