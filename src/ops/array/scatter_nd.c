/* Writes or adds slices at the positions given by indices into several axes: into zeros (ScatterNd), into a
 * copy of a tensor (TensorScatterUpdate, -Add, -Sub, ScatterNdNonAliasingAdd), or into a variable
 * (ScatterNdUpdate, -Add, -Sub and the same on resources). Of several updates of one position, the -Updates
 * keep the last. */
#include <stdio.h>

#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/support/index_text.h"
#include "ops/support/typed_loops.h"
#include "ops/array/nd_index.h"
#include "ops/support/variable_access.h"

typedef struct ScatterJob ScatterJob;
typedef void ScatterAdd(const ScatterJob *job, int64_t begin, int64_t end);
struct ScatterJob {
  const int64_t *rows;
  const void *updates;
  void *out;
  int64_t count, length;
  bool subtract;
  ScatterAdd *add;
};

#define TEMPLATE "ops/array/scatter_add.inc"
#define TYPES \
  (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_BOOL | TYPES_COMPLEX)
#include "simd/each_type.inc"

static void add_columns(void *arg, int64_t begin, int64_t end) {
  const ScatterJob *job = arg;
  job->add(job, begin, end);
}

/* The columns of one thread: enough for whole cache lines, and for enough work. */
static int64_t column_grain(int64_t count) {
  int64_t grain = parallel_wake_grain((double)count);
  return grain < 64 ? 64 : grain;
}

static const KernelEntry kTypedAdds[] = {TYPED_NUMBER_KERNELS(NULL, scatter_add),
                                         {DT_BOOL, NULL, scatter_add_bool}};

/* Also the data of kernels. */
typedef enum ScatterKind { SCATTER_ADD, SCATTER_SUB, SCATTER_UPDATE } ScatterKind;
static const ScatterKind kAdd = SCATTER_ADD, kSub = SCATTER_SUB, kUpdate = SCATTER_UPDATE;

static bool scatter_slices(KernelContext *context, ScatterKind kind, const NdIndex *index,
                           const int64_t *rows, const Tensor *updates, Tensor *out, Status *status) {
  ScatterJob job = {rows, updates->data, out->data, index->count, index->length, kind == SCATTER_SUB, NULL};
  if (kind == SCATTER_UPDATE)
    return array_scatter_rows(updates, rows, index->count, index->length, out, status);
  job.add = (ScatterAdd *)TYPED_LOOPS(kTypedAdds, out->dtype);
  parallel_for(context->parallel, index->length, column_grain(index->count), add_columns, &job);
  return true;
}

/* Scatters into `out`, which has its initial contents. The positions are valid. */
static bool scatter_into(KernelContext *context, ScatterKind kind, const NdIndex *index,
                         const Tensor *indices, const Tensor *updates, Tensor *out, Status *status) {
  int64_t *rows;
  if (tensor_num_elements(updates) == 0) return true;
  Buffer *buffer = array_row_numbers(context, index->count, &rows, status);
  if (!buffer) return false;
  int64_t bad = nd_index_rows(index, indices, &out->shape, rows);
  bool ok = bad < 0 ? scatter_slices(context, kind, index, rows, updates, out, status)
                    : nd_index_outside(index, indices, &out->shape, bad, "shape", "", status);
  buffer_unref(buffer);
  return ok;
}

/* Whether axes [i, i + count) of a are axes [j, j + count) of b. */
static bool axes_equal(const Shape *a, int i, const Shape *b, int j, int count) {
  for (int d = 0; d < count; d++) {
    if (shape_dim(a, i + d) != shape_dim(b, j + d)) return false;
  }
  return true;
}

static bool check_indices_rank(const Tensor *indices, Status *status) {
  return indices->shape.rank > 0 ||
         status_invalid(status, "Indices shape must have rank at least one. Found:[]");
}
static bool check_ranks(const Tensor *indices, const Tensor *updates, Status *status) {
  TRY(check_indices_rank(indices, status));
  if (updates->shape.rank < 1)
    return status_invalid(status, "Updates shape must have rank at least one. Found:[]");
  return true;
}

/* --- ScatterNd --- */

/* " = 3" is part of TensorFlow's message only for variables. */
static const char *size_text(bool variable, const Tensor *tensor, int d, char text[24]) {
  *text = '\0';
  if (variable)
    snprintf(text, 24, " = %lld", d < tensor->shape.rank ? (long long)shape_dim(&tensor->shape, d) : 0);
  return text;
}

/* A vector of indices is a single index into as many axes; for a variable it is a list of indices into the
 * first axis. */
static bool check_scatter(const Shape *out, const Tensor *indices, const Tensor *updates, bool variable,
                          Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  bool first_axis = variable && indices->shape.rank == 1;
  int outer = first_axis ? 1 : indices->shape.rank - 1, rank = updates->shape.rank;
  int64_t depth = first_axis ? 1 : shape_dim(&indices->shape, outer);
  for (int d = 0; d < outer; d++) {
    char want[24], have[24];
    if (d < rank && axes_equal(&indices->shape, d, &updates->shape, d, 1)) continue;
    return status_invalid(status,
                          "Dimensions [0,%d) of indices[shape=%s]%s must match dimensions [0,%d) of "
                          "updates[shape=%s]%s",
                          outer, shape_text(&indices->shape, a), size_text(variable, indices, d, want), outer,
                          shape_text(&updates->shape, b), size_text(variable, updates, d, have));
  }
  if (depth > out->rank || rank - outer != out->rank - depth ||
      !axes_equal(out, (int)depth, &updates->shape, outer, rank - outer)) {
    return status_invalid(status,
                          "Dimensions [%lld,%d) of input[shape=%s] must match dimensions [%d,%d) of "
                          "updates[shape=%s]",
                          (long long)depth, out->rank, shape_text(out, a), variable ? (int)depth : outer,
                          rank, shape_text(&updates->shape, b));
  }
  return true;
}

/* Checks that there are positions, indices and updates unless the output is empty. */
static bool sizes_agree(int64_t places, const Tensor *indices, const Tensor *updates) {
  int64_t n = tensor_num_elements(indices), m = tensor_num_elements(updates);
  return (n == 0 && m == 0) || (places > 0 && n > 0 && m > 0);
}

static bool check_output_rank(const Shape *shape, Status *status) {
  return shape->rank > 0 || status_invalid(status, "Output must be at least 1-D, got shape: []");
}

/* As for updates of a variable; TensorFlow finally requires this of all scatters, whatever they checked
 * before. */
static bool check_as_variable(const Shape *out, const Tensor *indices, const Tensor *updates,
                              Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  TRY(check_indices_rank(indices, status));
  if (!sizes_agree(shape_num_elements(out), indices, updates)) {
    return status_invalid(status, "Indices and updates specified for empty output.  indices shape: %s",
                          shape_text(&indices->shape, text));
  }
  return check_scatter(out, indices, updates, true, status);
}

static bool refuse_sizes(Status *status) {
  return status_invalid(status, "Indices and updates specified for empty output shape");
}

/* The slices to write. For a vector of indices only the first counts, as in TensorFlow. */
static void scatter_index(const Tensor *indices, const Shape *out, NdIndex *index) {
  nd_index(indices, out, index);
  if (indices->shape.rank > 1) return;
  *index = (NdIndex){.depth = 1, .count = tensor_num_elements(indices) > 0, .length = 1};
  for (int d = 1; d < out->rank; d++) index->length *= shape_dim(out, d);
}

static bool scatter_nd_checked(KernelContext *context, const Shape *shape, Status *status) {
  const Tensor *indices = context->inputs[0], *updates = context->inputs[1];
  NdIndex index;
  Tensor *out;
  TRY(check_ranks(indices, updates, status));
  /* TensorFlow compares the number of the output's axes here, not of its elements. */
  if (!sizes_agree(shape->rank, indices, updates)) return refuse_sizes(status);
  TRY(check_scatter(shape, indices, updates, false, status));
  TRY(check_as_variable(shape, indices, updates, status));
  TRY(kernel_allocate_output(context, 0, shape, &out, status));
  array_clear(out);
  scatter_index(indices, shape, &index);
  index.ignore_bad = ((const NdIndexState *)context->state)->ignore_bad;
  return scatter_into(context, SCATTER_ADD, &index, indices, updates, out, status);
}

static bool scatter_nd_kernel(KernelContext *context, Status *status) {
  const Tensor *sizes = context->inputs[2];
  int64_t dims[SHAPE_MAX_RANK];
  Shape shape = {0};
  if (!tensor_is_vector(sizes)) return status_invalid(status, "Shape must be a vector");
  TRY(array_read_ints(sizes, dims, status));
  bool ok = shape_set(&shape, (int)tensor_num_elements(sizes), dims, status) &&
            scatter_nd_checked(context, &shape, status);
  shape_clear(&shape);
  return ok;
}

static bool parts_differ(const int at[4], const char *what, ShapeHandle a, ShapeHandle part_a, ShapeHandle b,
                         ShapeHandle part_b, Status *status) {
  StrBuf text = {0};
  strbuf_printf(&text, "Dimensions [%d,%d) of %s[shape=", at[0], at[1], what);
  shape_handle_print(a, &text);
  strbuf_append(&text, "] = ");
  shape_handle_print(part_a, &text);
  strbuf_printf(&text, " must match dimensions [%d,%d) of updates[shape=", at[2], at[3]);
  shape_handle_print(b, &text);
  strbuf_append(&text, "] = ");
  shape_handle_print(part_b, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

/* The number of elements, or -1 if it is unknown. */
static bool count_elements(InferenceContext *c, ShapeHandle shape, int64_t *count, Status *status) {
  DimHandle size;
  *count = -1;
  if (!shape_rank_known(shape)) return true;
  TRY(dim_ok(shape_num_elements_of(c, shape), &size, status));
  if (dim_known(size)) *count = dim_value(size);
  return true;
}

static bool parts_agree(InferenceContext *c, ShapeHandle a, ShapeHandle b, bool *agree, Status *status) {
  ShapeHandle merged;
  Status merge;
  status_init(&merge);
  *agree = shape_merge(c, a, b, &merged, &merge);
  return *agree || merge.code != CODE_RESOURCE_EXHAUSTED || status_oom(status, "shape inference");
}

/* Checks that the updates have the shape of the output's slices. */
static bool scatter_shapes(InferenceContext *c, ShapeHandle indices, ShapeHandle updates, ShapeHandle out,
                           Status *status) {
  int64_t room, wanted, given;
  TRY(count_elements(c, out, &room, status));
  TRY(count_elements(c, indices, &wanted, status));
  TRY(count_elements(c, updates, &given, status));
  if (room == 0 && (wanted > 0 || given > 0)) {
    return status_invalid(status, "Indices and updates specified for empty input");
  }
  TRY(shape_with_rank_at_least(c, indices, 1, &indices, status));
  if (!shape_rank_known(indices) || !shape_rank_known(updates) || shape_rank(updates) == 0) return true;
  DimHandle depth = shape_dim_of(c, indices, -1);
  if (!dim_known(depth)) return true;
  bool agree;
  ShapeHandle a, b;
  int outer = shape_rank(indices) - 1, rank = shape_rank(updates);
  TRY(shape_subshape(c, indices, 0, -1, 1, &a, status));
  TRY(shape_subshape(c, updates, 0, outer, 1, &b, status));
  TRY(parts_agree(c, a, b, &agree, status));
  if (!agree) {
    return parts_differ((int[]){0, outer, 0, outer}, "indices", indices, a, updates, b, status);
  }
  if (!shape_rank_known(out)) return true;
  int64_t begin = dim_value(depth) < shape_rank(out) ? dim_value(depth) : shape_rank(out);
  TRY(shape_subshape(c, out, begin, INT64_MAX, 1, &a, status));
  TRY(shape_subshape(c, updates, outer, INT64_MAX, 1, &b, status));
  TRY(parts_agree(c, a, b, &agree, status));
  if (!agree) {
    return parts_differ((int[]){(int)dim_value(depth), shape_rank(out), outer, rank}, "input", out, a,
                        updates, b, status);
  }
  return true;
}

static bool scatter_nd_shape(InferenceContext *c, Status *status) {
  ShapeHandle sizes, updates, out;
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &sizes, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &updates, status));
  TRY(shape_from_input_tensor(c, 2, &out, status));
  shape_set_output(c, 0, out);
  return scatter_shapes(c, shape_input(c, 0), updates, out, status);
}

const OpRegistration kOpScatterNd = {
    .name = "ScatterNd",
    .inputs = {"indices: Tindices", "updates: T", "shape: Tindices"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tindices: {int16, int32, int64}", "bad_indices_policy: string = ''"},
    .shape = scatter_nd_shape,
    .gradient =
        "ScatterNdGradient[T:type, Tindices:type, bad_indices_policy:string](indices:Tindices, updates:T, "
        "shape:Tindices, dy:T)"
        " -> (dindices:Tindices, dupdates:T, dshape:Tindices) {\n"
        "  no_indices = ZerosLike[T=$Tindices](indices)\n"
        "  no_shape = ZerosLike[T=$Tindices](shape)\n"
        "  d = GatherNd[Tparams=$T, Tindices=$Tindices, bad_indices_policy=$bad_indices_policy](dy, "
        "indices)\n"
        "  return dindices = no_indices:y:0, dupdates = d:output:0, dshape = no_shape:y:0\n"
        "}\n",
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_nd_kernel), {DT_BOOL, scatter_nd_kernel}},
};

/* --- into a copy of a tensor --- */

static bool check_update(const Tensor *tensor, const Tensor *indices, const Tensor *updates, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  TRY(check_ranks(indices, updates, status));
  int outer = indices->shape.rank - 1, rank = updates->shape.rank;
  int64_t inner = tensor->shape.rank - shape_dim(&indices->shape, outer);
  if (!sizes_agree(tensor_num_elements(tensor), indices, updates)) return refuse_sizes(status);
  if (rank < outer || !axes_equal(&indices->shape, 0, &updates->shape, 0, outer)) {
    return status_invalid(status,
                          "Outer dimensions of indices and update must match. Indices shape: %s, updates "
                          "shape:%s",
                          shape_text(&indices->shape, a), shape_text(&updates->shape, b));
  }
  if (inner < 0 || rank - outer != inner) {
    return status_invalid(status,
                          "Inner dimensions of output shape must match inner dimensions of updates shape. "
                          "Output: %s updates: %s",
                          shape_text(&tensor->shape, a), shape_text(&updates->shape, b));
  }
  if (!axes_equal(&tensor->shape, tensor->shape.rank - (int)inner, &updates->shape, outer, (int)inner)) {
    return status_invalid(status,
                          "The inner %lld dimensions of output.shape=%s must match the inner %lld dimensions "
                          "of updates.shape=%s",
                          (long long)inner, shape_text(&tensor->shape, a), (long long)inner,
                          shape_text(&updates->shape, b));
  }
  return check_output_rank(&tensor->shape, status) &&
         check_as_variable(&tensor->shape, indices, updates, status);
}

/* Scatters into the tensor's memory if possible, else into a copy. The positions are valid. */
static bool scatter_to_copy(KernelContext *context, ScatterKind kind, Status *status) {
  const Tensor *tensor = context->inputs[0], *indices = context->inputs[1], *updates = context->inputs[2];
  NdIndex index;
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &tensor->shape, &out, status));
  if (out->data != tensor->data && tensor_num_elements(tensor) > 0) {
    ArrayBox box = {0};
    array_box_add(&box, tensor_num_elements(tensor), 1, 1);
    TRY(array_box_copy(&box, tensor, out, context->parallel, status));
  }
  scatter_index(indices, &out->shape, &index);
  index.ignore_bad = ((const NdIndexState *)context->state)->ignore_bad;
  return scatter_into(context, kind, &index, indices, updates, out, status);
}
static bool scatter_to_tensor(KernelContext *context, Status *status) {
  ScatterKind kind = *(const ScatterKind *)context->data;
  TRY(check_update(context->inputs[0], context->inputs[1], context->inputs[2], status));
  return scatter_to_copy(context, kind, status);
}

static bool non_aliasing_add_kernel(KernelContext *context, Status *status) {
  TRY(check_output_rank(&context->inputs[0]->shape, status));
  TRY(check_as_variable(&context->inputs[0]->shape, context->inputs[1], context->inputs[2], status));
  return scatter_to_copy(context, SCATTER_ADD, status);
}

static bool tensor_scatter_shape(InferenceContext *c, Status *status) {
  ShapeHandle tensor = shape_input(c, 0);
  TRY(shape_with_rank_at_least(c, tensor, 1, &tensor, status));
  shape_set_output(c, 0, tensor);
  return scatter_shapes(c, shape_input(c, 1), shape_input(c, 2), tensor, status);
}

#define TENSOR_ADD_GRADIENT(op, input)                                                                       \
  op "Gradient[T:type, Tindices:type, bad_indices_policy:string](" input                                     \
     ":T, indices:Tindices, updates:T, dy:T)"                                                                \
     " -> (d" input                                                                                          \
     ":T, dindices:Tindices, dupdates:T) {\n"                                                                \
     "  none = ZerosLike[T=$Tindices](indices)\n"                                                            \
     "  same = Identity[T=$T](dy)\n"                                                                         \
     "  d = GatherNd[Tparams=$T, Tindices=$Tindices, bad_indices_policy=$bad_indices_policy](dy, indices)\n" \
     "  return d" input                                                                                      \
     " = same:output:0, dindices = none:y:0, dupdates = d:output:0\n"                                        \
     "}\n"

const OpRegistration kOpScatterNdNonAliasingAdd = {
    .name = "ScatterNdNonAliasingAdd",
    .inputs = {"input: T", "indices: Tindices", "updates: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {" NUMBER_TYPES ", bool}", "Tindices: {int32, int64}", "bad_indices_policy: string = ''"},
    .shape = tensor_scatter_shape,
    .gradient = TENSOR_ADD_GRADIENT("ScatterNdNonAliasingAdd", "input"),
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(non_aliasing_add_kernel), {DT_BOOL, non_aliasing_add_kernel}},
};

const OpRegistration kOpTensorScatterAdd = {
    .name = "TensorScatterAdd",
    .inputs = {"tensor: T", "indices: Tindices", "updates: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tindices: {int32, int64}", "bad_indices_policy: string = ''"},
    .shape = tensor_scatter_shape,
    .gradient = TENSOR_ADD_GRADIENT("TensorScatterAdd", "tensor"),
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_to_tensor, &kAdd), {DT_BOOL, scatter_to_tensor, &kAdd}},
};

const OpRegistration kOpTensorScatterSub = {
    .name = "TensorScatterSub",
    .inputs = {"tensor: T", "indices: Tindices", "updates: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tindices: {int32, int64}", "bad_indices_policy: string = ''"},
    .shape = tensor_scatter_shape,
    .gradient =
        "TensorScatterSubGradient[T:type, Tindices:type, bad_indices_policy:string](tensor:T, "
        "indices:Tindices, updates:T, dy:T)"
        " -> (dtensor:T, dindices:Tindices, dupdates:T) {\n"
        "  none = ZerosLike[T=$Tindices](indices)\n"
        "  same = Identity[T=$T](dy)\n"
        "  taken = GatherNd[Tparams=$T, Tindices=$Tindices, bad_indices_policy=$bad_indices_policy](dy, "
        "indices)\n"
        "  d = Neg[T=$T](taken:output:0)\n"
        "  return dtensor = same:output:0, dindices = none:y:0, dupdates = d:y:0\n"
        "}\n",
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_to_tensor, &kSub), {DT_BOOL, scatter_to_tensor, &kSub}},
};

static bool tensor_update_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return index_text(request, "indices",
                    "TensorScatterUpdateGradient[T:type, Tindices:type, bad_indices_policy:string]"
                    "(tensor:T, indices:Tindices, updates:T, dy:T) -> (dtensor:T, dindices:Tindices, "
                    "dupdates:T) {\n"
                    "  none = ZerosLike[T=$Tindices](indices)\n"
                    "  zeros = ZerosLike[T=$T](updates)\n"
                    "  kept = TensorScatterUpdate[T=$T, Tindices=@, "
                    "bad_indices_policy=$bad_indices_policy](dy, #, zeros:y:0)\n"
                    "  d = GatherNd[Tparams=$T, Tindices=@, bad_indices_policy=$bad_indices_policy](dy, #)\n"
                    "  return dtensor = kept:output:0, dindices = none:y:0, dupdates = d:output:0\n"
                    "}\n",
                    text, status);
}

const OpRegistration kOpTensorScatterUpdate = {
    .name = "TensorScatterUpdate",
    .inputs = {"tensor: T", "indices: Tindices", "updates: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tindices: {int16, int32, int64, uint16}", "bad_indices_policy: string = ''"},
    .shape = tensor_scatter_shape,
    .gradient_fn = tensor_update_gradient,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {{DT_INVALID, scatter_to_tensor, &kUpdate}},
};

/* --- into a variable --- */

/* Checks all positions before writing. */
static bool scatter_to_variable(KernelContext *context, Status *status) {
  ScatterKind kind = *(const ScatterKind *)context->data;
  const Tensor *indices = context->inputs[1], *updates = context->inputs[2];
  Variable *variable;
  NdIndex index;
  TRY(changed_variable(context, 0, updates->dtype, &variable, status));
  TRY(check_as_variable(&variable->value.shape, indices, updates, status));
  TRY(variable_prepare_update(variable, variable_name(context, 0), kernel_step_id(context), context->pool,
                              status));
  scatter_index(indices, &variable->value.shape, &index);
  index.ignore_bad = ((const NdIndexState *)context->state)->ignore_bad;
  TRY(scatter_into(context, kind, &index, indices, updates, &variable->value, status));
  return variable_changed(context, status);
}

static bool reference_scatter_shape(InferenceContext *c, Status *status) {
  ShapeHandle updates;
  TRY(shape_with_rank_at_least(c, shape_input(c, 2), 1, &updates, status));
  shape_set_output(c, 0, shape_input(c, 0));
  return scatter_shapes(c, shape_input(c, 1), updates, shape_input(c, 0), status);
}

static bool resource_scatter_shape(InferenceContext *c, Status *status) {
  ShapeAndType variable;
  ShapeHandle updates;
  TRY(variable_shape_and_type(c, 0, &variable, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 2), 1, &updates, status));
  return scatter_shapes(c, shape_input(c, 1), updates, variable.shape, status);
}

const OpRegistration kOpScatterNdUpdate = {
    .name = "ScatterNdUpdate",
    .inputs = {"ref: Ref(T)", "indices: Tindices", "updates: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: type", "Tindices: {int32, int64}", "use_locking: bool = true",
              "bad_indices_policy: string = ''"},
    .shape = reference_scatter_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {{DT_INVALID, scatter_to_variable, &kUpdate}},
};

const OpRegistration kOpScatterNdAdd = {
    .name = "ScatterNdAdd",
    .inputs = {"ref: Ref(T)", "indices: Tindices", "updates: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "bad_indices_policy: string = ''"},
    .shape = reference_scatter_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_to_variable, &kAdd)},
};

const OpRegistration kOpScatterNdSub = {
    .name = "ScatterNdSub",
    .inputs = {"ref: Ref(T)", "indices: Tindices", "updates: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}", "use_locking: bool = false",
              "bad_indices_policy: string = ''"},
    .shape = reference_scatter_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_to_variable, &kSub)},
};

const OpRegistration kOpResourceScatterNdUpdate = {
    .name = "ResourceScatterNdUpdate",
    .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
    .attrs = {"T: type", "Tindices: {int32, int64}", "use_locking: bool = true",
              "bad_indices_policy: string = ''"},
    .is_stateful = true,
    .shape = resource_scatter_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {{DT_INVALID, scatter_to_variable, &kUpdate}},
};

const OpRegistration kOpResourceScatterNdAdd = {
    .name = "ResourceScatterNdAdd",
    .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
    .attrs = {"T: type", "Tindices: {int32, int64}", "use_locking: bool = true",
              "bad_indices_policy: string = ''"},
    .is_stateful = true,
    .shape = resource_scatter_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_to_variable, &kAdd)},
};

const OpRegistration kOpResourceScatterNdSub = {
    .name = "ResourceScatterNdSub",
    .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
    .attrs = {"T: type", "Tindices: {int32, int64}", "use_locking: bool = true",
              "bad_indices_policy: string = ''"},
    .is_stateful = true,
    .shape = resource_scatter_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NdIndexState),
    .construct = nd_index_construct,
    .kernels = {NUMBER_KERNELS(scatter_to_variable, &kSub)},
};
