/* The same elements with another shape. Nothing is copied. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/reshape_sizes.h"

/* --- Reshape --- */

const OpRegistration kOpReshape = {
    .name = "Reshape",
    .inputs = {"tensor: T", "shape: Tshape"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tshape: {int32, int64} = DT_INT32"},
    .shape = shape_of_reshape,
    .gradient =
        "ReshapeGradient[T:type, Tshape:{int32, int64}](tensor:T, shape:Tshape, dy:T) -> (dtensor:T, "
        "dshape:Tshape) {\n"
        "  back = Shape[T=$T, out_type=$Tshape](tensor)\n"
        "  d = Reshape[T=$T, Tshape=$Tshape](dy, back:output:0)\n"
        "  none = ZerosLike[T=$Tshape](shape)\n"
        "  return dtensor = d:output:0, dshape = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, reshape_to_sizes}},
};

/* --- ExpandDims --- */

static bool expand_dims_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *dim = context->inputs[1];
  if (tensor_num_elements(dim) != 1)
    return status_invalid(status, "'dim' must be a tensor with a single value");
  int64_t rank = input->shape.rank, at = tensor_int_at(dim, 0);
  if (at < -1 - rank || at > rank) {
    return status_invalid(status, "Tried to expand dim index %lld for tensor with %lld dimensions.",
                          (long long)at, (long long)rank);
  }
  if (rank == SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  if (at < 0) at += rank + 1;
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0; i < rank; i++) dims[i < at ? i : i + 1] = shape_dim(&input->shape, i);
  dims[at] = 1;
  Shape shape = {0};
  TRY(shape_set(&shape, (int)rank + 1, dims, status));
  bool ok = kernel_set_output(context, 0, input, &shape, status);
  shape_clear(&shape);
  return ok;
}

static bool expand_dims_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), before, after, one;
  const Tensor *dim = shape_input_tensor(c, 1);
  if (dim && tensor_num_elements(dim) != 1) {
    return status_invalid(status, "'dim' input must be a tensor with a single value");
  }
  if (!dim || !shape_rank_known(input)) return shape_unknown_outputs(c, status);
  int64_t rank = shape_rank(input), at = tensor_int_at(dim, 0);
  if (at < -1 - rank || at > rank) {
    return status_invalid(status, "dim %lld not in the interval [%lld, %lld].", (long long)at,
                          (long long)(-1 - rank), (long long)rank);
  }
  if (at < 0) at += rank + 1;
  DimHandle size;
  TRY(dim_ok(dim_make(c, 1), &size, status));
  TRY(shape_ok(shape_vector(c, size), &one, status));
  TRY(shape_subshape(c, input, 0, at, 1, &before, status));
  TRY(shape_subshape(c, input, at, INT64_MAX, 1, &after, status));
  TRY(shape_concatenate(c, before, one, &before, status));
  TRY(shape_concatenate(c, before, after, &before, status));
  shape_set_output(c, 0, before);
  return true;
}

const OpRegistration kOpExpandDims = {
    .name = "ExpandDims",
    .inputs = {"input: T", "dim: Tdim"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tdim: {int32, int64} = DT_INT32"},
    .shape = expand_dims_shape,
    .gradient =
        "ExpandDimsGradient[T:type, Tdim:{int32, int64}](input:T, dim:Tdim, dy:T) -> (dinput:T, ddim:Tdim) "
        "{\n"
        "  back = Shape[T=$T, out_type=$Tdim](input)\n"
        "  d = Reshape[T=$T, Tshape=$Tdim](dy, back:output:0)\n"
        "  none = ZerosLike[T=$Tdim](dim)\n"
        "  return dinput = d:output:0, ddim = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, expand_dims_kernel}},
};

/* --- Squeeze --- */

typedef struct SqueezeState {
  const int64_t *axes;
  int64_t count; /* 0: remove every axis of size 1 */
} SqueezeState;

static bool squeeze_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SqueezeState *state = memory;
  const AttrListValue *list;
  TRY(node_attr_list(construction->node, "squeeze_dims", ATTR_INT, &list, status));
  state->count = !list ? 0 : (int64_t)list->n_i;
  state->axes = !list ? NULL : list->i;
  return true;
}

/* Marks the named axes. False if the rank lacks one, which `axis` receives. */
static bool mark_axes(const int64_t *axes, int64_t count, int64_t rank, bool named[], int64_t *axis) {
  memset(named, 0, (size_t)rank * sizeof *named);
  for (int64_t i = 0; i < count; i++) {
    *axis = axes[i];
    if (axes[i] < -rank || axes[i] >= rank) return false;
    named[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
  }
  return true;
}

static bool squeeze_kernel(KernelContext *context, Status *status) {
  const SqueezeState *state = context->state;
  const Tensor *input = context->inputs[0];
  int rank = input->shape.rank, left = 0;
  bool named[SHAPE_MAX_RANK];
  int64_t dims[SHAPE_MAX_RANK], wrong;
  if (!mark_axes(state->axes, state->count, rank, named, &wrong)) {
    return status_invalid(status, "Tried to squeeze dim index %lld for tensor with %d dimensions.",
                          (long long)wrong, rank);
  }
  for (int i = 0; i < rank; i++) {
    int64_t size = shape_dim(&input->shape, i);
    if (named[i] && size != 1) {
      return status_invalid(status, "Can not squeeze dim[%d], expected a dimension of 1, got %lld", i,
                            (long long)size);
    }
    if (state->count > 0 ? !named[i] : size != 1) dims[left++] = size;
  }
  Shape shape = {0};
  TRY(shape_set(&shape, left, dims, status));
  bool ok = kernel_set_output(context, 0, input, &shape, status);
  shape_clear(&shape);
  return ok;
}

static bool squeeze_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), output;
  const AttrListValue *list;
  TRY(node_attr_list(c->node, "squeeze_dims", ATTR_INT, &list, status));
  int64_t count = !list ? 0 : (int64_t)list->n_i, wrong;
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  int32_t rank = shape_rank(input), left = 0;
  bool *named = arena_alloc(c->arena, rank + 1);
  DimHandle *dims = arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof *dims);
  if (!named || !dims) return status_oom(status, "shape inference");
  if (!mark_axes(!list ? NULL : list->i, count, rank, named, &wrong)) {
    return status_invalid(status, "squeeze_dims value %lld not in [-%d,%d).", (long long)wrong, rank, rank);
  }
  for (int32_t i = 0; i < rank; i++) {
    DimHandle size = shape_dim_of(c, input, i);
    if (count == 0 && !dim_known(size)) return shape_unknown_outputs(c, status);
    if (named[i] && dim_known(size) && dim_value(size) != 1) {
      return status_invalid(status, "Can not squeeze dim[%d], expected a dimension of 1, got %lld", i,
                            (long long)dim_value(size));
    }
    if (count > 0 ? !named[i] : dim_value(size) != 1) dims[left++] = size;
  }
  TRY(shape_ok(shape_of_dims(c, dims, left), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpSqueeze = {
    .name = "Squeeze",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "squeeze_dims: list(int) >= 0 = []"},
    .shape = squeeze_shape,
    .gradient =
        "SqueezeGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  back = Shape[T=$T, out_type=int64](input)\n"
        "  d = Reshape[T=$T, Tshape=int64](dy, back:output:0)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .state_size = sizeof(SqueezeState),
    .construct = squeeze_construct,
    .kernels = {{DT_INVALID, squeeze_kernel}},
};
