/* Ops that move several items between a list and the rows of a tensor: gather and scatter, which TensorArrays
 * of TensorFlow 2 use. */
#include "op/op_registry.h"
#include "ops/lists/tensor_list.h"
#include "ops/support/elements.h"

/* --- gather --- */

/* Merges the shapes of the items at `indices` into *rank and dims. */
static bool merge_items(const TensorList *list, const Tensor *indices, int *rank,
                        int64_t dims[SHAPE_MAX_RANK], Status *status) {
  for (int64_t i = 0, count = tensor_num_elements(indices); i < count; i++) {
    int32_t index = tensor_i32(indices)[i];
    if (index < 0 || index >= list->length) {
      return status_invalid(status, "Trying to gather element %d in a list with %lld elements.", index,
                            (long long)list->length);
    }
    Tensor item = {0};
    int64_t own[SHAPE_MAX_RANK];
    TRY(tensor_list_item(list, index, &item, status));
    if (tensor_is_empty(&item)) continue;
    int own_rank = item.shape.rank;
    for (int d = 0; d < own_rank; d++) own[d] = shape_dim(&item.shape, d);
    tensor_clear(&item);
    TRY(element_shape_refine(rank, dims, own_rank, own, status));
  }
  return true;
}

static bool gather_shape_of(KernelContext *context, const TensorList *list, int *rank,
                            int64_t dims[SHAPE_MAX_RANK], Status *status) {
  const Tensor *indices = context->inputs[1];
  TRY(element_shape_read(context->inputs[2], rank, dims, status));
  TRY(element_shape_merge(list, rank, dims, status));
  if (tensor_num_elements(indices) == 0 && !element_shape_known(*rank, dims))
    return element_shape_refuse("Tried to gather 0-elements from a list with non-fully-defined shape", *rank,
                                dims, status);
  if (!element_shape_known(list->rank, list->dims)) TRY(merge_items(list, indices, rank, dims, status));
  if (!element_shape_known(*rank, dims))
    return element_shape_refuse(
        "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape", *rank, dims,
        status);
  if (*rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  return true;
}

static bool gather(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  const Tensor *indices = context->inputs[1];
  int rank;
  int64_t dims[SHAPE_MAX_RANK], all[SHAPE_MAX_RANK], count = tensor_num_elements(indices);
  Tensor *out;
  TRY(tensor_list_of_input(context, "op", &list, status));
  TRY(gather_shape_of(context, list, &rank, dims, status));
  all[0] = count;
  for (int i = 0; i < rank; i++) all[i + 1] = dims[i];
  TRY(kernel_allocate_output_dims(context, 0, rank + 1, all, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  int64_t size = tensor_num_elements(out) / count;
  for (int64_t i = 0; i < count; i++) {
    int32_t index = tensor_i32(indices)[i];
    if (index < 0 || index >= list->length) {
      return status_invalid(status, "Index %d out o range; list only has %lld elements.", index,
                            (long long)list->length);
    }
    TRY(tensor_list_copy_item(list, index, out, i * size, size, status));
  }
  return true;
}

/* --- scatter --- */

/* Makes the rows of `tensor` the items at `indices`, which are not negative. No other list shares the items.
 */
static bool put_rows(KernelContext *context, const Tensor *tensor, const Tensor *indices, int32_t highest,
                     ListItems *items, Status *status) {
  TRY(variant_check_depth(tensor, &items->depth, status));
  TRY(list_items_extend(items, (int64_t)highest + 1, status));
  for (int64_t i = 0, count = tensor_num_elements(indices); i < count; i++) {
    Tensor row = {0}, *item = &items->items[tensor_i32(indices)[i]];
    if (!tensor_copy_row(tensor, i, context->pool, &row, status)) {
      tensor_clear(&row);
      return false;
    }
    tensor_clear(item);
    tensor_move(item, &row);
  }
  return true;
}

/* The highest index, -1 if there is none. `limit` is the length of the list, -1 if it has any. */
static bool check_indices(const Tensor *indices, int32_t limit, int32_t *highest, Status *status) {
  *highest = -1;
  for (int64_t i = 0, count = tensor_num_elements(indices); i < count; i++) {
    int32_t index = tensor_i32(indices)[i];
    if (index < 0) return status_invalid(status, "Indices in TensorListScatter must all be non-negative.");
    if (limit != -1 && index >= limit) {
      return status_invalid(status, "TensorListScatter: Trying to scatter at index %d in list with size %d",
                            index, limit);
    }
    if (index == INT32_MAX)
      return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
    if (index > *highest) *highest = index;
  }
  return true;
}

static bool scatter(KernelContext *context, Status *status) {
  const Tensor *tensor = context->inputs[0], *indices = context->inputs[1];
  int rank;
  int32_t length = -1, highest;
  int64_t dims[SHAPE_MAX_RANK], count = tensor_num_elements(indices);
  TRY(element_shape_read(context->inputs[2], &rank, dims, status));
  if (context->num_inputs > 3) {
    if (!tensor_is_scalar(context->inputs[3])) return status_invalid(status, "num_elements must be a scalar");
    length = tensor_i32(context->inputs[3])[0];
  }
  if (length < -1)
    return status_invalid(status, "TensorListScatter expects num_elements >= -1, found: %d", length);
  TRY(element_shape_check_rows(rank, dims, &tensor->shape, status));
  if (count != shape_dim(&tensor->shape, 0)) {
    return status_invalid(status, "Invalid number of rows in input tensor. Expected: %lld Actual: %lld",
                          (long long)count, (long long)shape_dim(&tensor->shape, 0));
  }
  TRY(check_indices(indices, length, &highest, status));
  if (length == -1) length = highest + 1;
  TensorList like = {.dtype = tensor->dtype, .rank = rank, .dims = dims, .max_length = -1};
  TensorList *list = tensor_list_new_like(&like, list_items_new(), length, status);
  if (list && put_rows(context, tensor, indices, highest, list->items, status)) {
    list->items->claimed = length;
    return tensor_list_set_output(context, 0, list, status);
  }
  tensor_list_drop(list);
  return false;
}

static bool check_scatter_into(const TensorList *list, const Tensor *tensor, const Tensor *indices,
                               Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor->dtype != list->dtype) {
    return status_invalid(status, "Invalid data types; input tensor type: %s list element_type: %s",
                          dtype_name(tensor->dtype), dtype_name(list->dtype));
  }
  if (tensor->shape.rank < 1)
    return status_invalid(status, "Tensor must be at least a vector, but saw shape: %s",
                          shape_text(&tensor->shape, text));
  if (!tensor_is_vector(indices)) {
    return status_invalid(status, "Expected indices to be a vector, but received shape: %s",
                          shape_text(&indices->shape, text));
  }
  if (tensor_num_elements(indices) != shape_dim(&tensor->shape, 0)) {
    return status_invalid(status, "Expected len(indices) == tensor.shape[0], but saw: %lld vs. %lld",
                          (long long)tensor_num_elements(indices), (long long)shape_dim(&tensor->shape, 0));
  }
  return element_shape_check_rows(list->rank, list->dims, &tensor->shape, status);
}

static bool scatter_into(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  const Tensor *tensor = context->inputs[1], *indices = context->inputs[2];
  int32_t highest;
  TRY(tensor_list_of(context->inputs[0], &list, status));
  TRY(check_scatter_into(list, tensor, indices, status));
  TRY(check_indices(indices, -1, &highest, status));
  TensorList *target = tensor_list_to_change(context, list, status);
  if (!target) return false;
  if (highest >= target->length) tensor_list_drop_behind(target);
  bool ok = put_rows(context, tensor, indices, highest, target->items, status);
  if (ok && highest >= target->length) target->items->claimed = target->length = (int64_t)highest + 1;
  return tensor_list_set_changed(context, list, target, ok, status);
}

/* --- shapes --- */

static bool gather_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(tensor_list_infer_element_with(c, 2, &shape, status));
  TRY(shape_concatenate(c, shape_input(c, 1), shape, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

static bool scatter_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor_or_scalar(c, 2, &shape, status));
  return tensor_list_infer_handle(c, shape, status);
}

static bool scatter_into_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &shape, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &shape, status));
  TRY(tensor_list_infer_element(c, &shape, status));
  return tensor_list_infer_handle(c, shape, status);
}

/* --- ops --- */

/* An item that is gathered several times gets the sum of its gradients. */
const OpRegistration kOpTensorListGather = {
    .name = "TensorListGather",
    .inputs = {"input_handle: variant", "indices: int32", "element_shape: int32"},
    .outputs = {"values: element_dtype"},
    .attrs = {"element_dtype: type"},
    .shape = gather_shape,
    .gradient =
        "TensorListGatherGradient[element_dtype:type](input_handle:variant, indices:int32, "
        "element_shape:int32, dvalues:element_dtype) -> "
        "(dinput:variant, dindices:int32, dshape:int32) {\n"
        "  none = ZerosLike[T=variant](input_handle)\n"
        "  all = Const[dtype=int32, value=[-1]]()\n"
        "  flat = Reshape[T=int32](indices, all:output)\n"
        "  u = Unique[T=int32, out_idx=int32](flat:output)\n"
        "  n = Size[T=int32](u:y)\n"
        "  rows = UnsortedSegmentSum[T=$element_dtype, Tindices=int32](dvalues, u:idx, n:output)\n"
        "  d = TensorListScatterIntoExistingList[element_dtype=$element_dtype](none:y, rows:output, u:y)\n"
        "  i = ZerosLike[T=int32](indices)\n"
        "  s = ZerosLike[T=int32](element_shape)\n"
        "  return dinput = d:output_handle, dindices = i:y, dshape = s:y\n"
        "}\n",
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, gather}},
};

#define ITEM_SHAPE                                                                   \
  "  x = Shape[T=$element_dtype](tensor)\n"                                          \
  "  one = Const[dtype=int32, value=[1]]()\n"                                        \
  "  rest = Const[dtype=int32, value=[-1]]()\n"                                      \
  "  e = Slice[T=int32, Index=int32](x:output, one:output, rest:output)\n"           \
  "  g = TensorListGather[element_dtype=$element_dtype](dlist, indices, e:output)\n" \
  "  i = ZerosLike[T=int32](indices)\n"

const OpRegistration kOpTensorListScatter = {
    .name = "TensorListScatter",
    .inputs = {"tensor: element_dtype", "indices: int32", "element_shape: shape_type"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = scatter_shape,
    .gradient =
        "TensorListScatterGradient[element_dtype:type, shape_type:type](tensor:element_dtype, indices:int32, "
        "element_shape:shape_type, dlist:variant) -> "
        "(dtensor:element_dtype, dindices:int32, dshape:shape_type) {\n" ITEM_SHAPE
        "  s = ZerosLike[T=$shape_type](element_shape)\n"
        "  return dtensor = g:values, dindices = i:y, dshape = s:y\n"
        "}\n",
    .kernels = {{DT_INVALID, scatter}},
};

const OpRegistration kOpTensorListScatterV2 = {
    .name = "TensorListScatterV2",
    .inputs = {"tensor: element_dtype", "indices: int32", "element_shape: shape_type", "num_elements: int32"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = scatter_shape,
    .gradient =
        "TensorListScatterV2Gradient[element_dtype:type, shape_type:type](tensor:element_dtype, "
        "indices:int32, element_shape:shape_type, num_elements:int32, dlist:variant) -> "
        "(dtensor:element_dtype, dindices:int32, dshape:shape_type, dnum:int32) {\n" ITEM_SHAPE
        "  s = ZerosLike[T=$shape_type](element_shape)\n"
        "  n = ZerosLike[T=int32](num_elements)\n"
        "  return dtensor = g:values, dindices = i:y, dshape = s:y, dnum = n:y\n"
        "}\n",
    .kernels = {{DT_INVALID, scatter}},
};

/* The gradient of a list that became longer is cut to the list's former length. */
const OpRegistration kOpTensorListScatterIntoExistingList = {
    .name = "TensorListScatterIntoExistingList",
    .inputs = {"input_handle: variant", "tensor: element_dtype", "indices: int32"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type"},
    .shape = scatter_into_shape,
    .gradient =
        "TensorListScatterIntoExistingListGradient[element_dtype:type](input_handle:variant, "
        "tensor:element_dtype, indices:int32, dlist:variant) -> "
        "(dinput:variant, dtensor:element_dtype, dindices:int32) {\n" ITEM_SHAPE
        "  none = ZerosLike[T=$element_dtype](tensor)\n"
        "  full = TensorListScatterIntoExistingList[element_dtype=$element_dtype](dlist, none:y, indices)\n"
        "  length = TensorListLength(input_handle)\n"
        "  d = TensorListResize(full:output_handle, length:length)\n"
        "  return dinput = d:output_handle, dtensor = g:values, dindices = i:y\n"
        "}\n",
    .kernels = {{DT_INVALID, scatter_into}},
};
