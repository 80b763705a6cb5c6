/* Ops that convert between a list and one tensor of all items. */
#include "ops/lists/tensor_list.h"

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/elements.h"

/* Finds the one shape that all items have. */
static bool stacked_shape(const TensorList *list, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  char a[SHAPE_TEXT_CAPACITY];
  for (int64_t i = 0; i < list->items->count && i < list->length; i++) {
    Tensor item = {0};
    TRY(tensor_list_item(list, i, &item, status));
    if (tensor_is_empty(&item)) continue;
    bool fits = *rank < 0 || *rank == item.shape.rank;
    for (int d = 0; fits && d < item.shape.rank; d++) {
      int64_t dim = shape_dim(&item.shape, d);
      fits = *rank < 0 || dims[d] < 0 || dims[d] == dim;
      dims[d] = dim;
    }
    if (fits) *rank = item.shape.rank;
    else
      status_invalid(status,
                     "Tried to stack list with elements of different shapes; element %lld has shape %s",
                     (long long)i, shape_text(&item.shape, a));
    tensor_clear(&item);
    if (!fits) return false;
  }
  return true;
}

static bool stack_list(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(tensor_list_of_input(context, "op", &list, status));
  TRY(element_shape_read(context->inputs[1], &rank, dims, status));
  TRY(element_shape_merge(list, &rank, dims, status));
  int64_t wanted = ((const TensorListState *)context->state)->num_elements;
  if (wanted >= 0 && wanted != list->length) {
    return status_invalid(status,
                          "Operation expected a list with %lld elements but got a list with %lld elements.",
                          (long long)wanted, (long long)list->length);
  }
  if (list->length == 0 && !element_shape_known(rank, dims))
    return element_shape_refuse(
        "Tried to stack elements of an empty list with non-fully-defined element_shape", rank, dims, status);
  TRY(stacked_shape(list, &rank, dims, status));
  if (!element_shape_known(rank, dims))
    return element_shape_refuse(
        "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element "
        "shape",
        rank, dims, status);
  if (rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  int64_t all[SHAPE_MAX_RANK];
  all[0] = list->length;
  for (int i = 0; i < rank; i++) all[i + 1] = dims[i];
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank + 1, all, &out, status));
  int64_t size = list->length == 0 ? 0 : tensor_num_elements(out) / list->length;
  for (int64_t i = 0; i < list->length; i++) TRY(tensor_list_copy_item(list, i, out, i * size, size, status));
  return true;
}

static bool from_tensor(KernelContext *context, Status *status) {
  const Tensor *tensor = context->inputs[0];
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(element_shape_read(context->inputs[1], &rank, dims, status));
  TRY(element_shape_check_rows(rank, dims, &tensor->shape, status));
  int64_t length = shape_dim(&tensor->shape, 0);
  if (length > INT32_MAX) return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
  TensorList like = {.dtype = tensor->dtype, .rank = rank, .dims = dims, .max_length = -1};
  TensorList *list = tensor_list_new_like(&like, list_items_new(), length, status);
  bool ok = list && variant_check_depth(tensor, &list->items->depth, status) &&
            list_items_extend(list->items, length, status);
  if (ok) list->items->claimed = length;
  for (int64_t i = 0; ok && i < length; i++)
    ok = tensor_share_row(tensor, i, context->pool, &list->items->items[i], status);
  if (ok) return tensor_list_set_output(context, 0, list, status);
  tensor_list_drop(list);
  return false;
}
/* --- shapes --- */

static bool stack_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape, first;
  int64_t count;
  TRY(tensor_list_infer_element_with(c, 1, &shape, status));
  TRY(node_attr_int(c->node, "num_elements", &count, status));
  TRY(shape_ok(shape_vector(c, count < 0 ? dim_unknown(c) : dim_make(c, count)), &first, status));
  TRY(shape_concatenate(c, first, shape, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

static bool from_tensor_shape(InferenceContext *c, Status *status) {
  ShapeHandle said, own;
  TRY(shape_from_input_tensor_or_scalar(c, 1, &said, status));
  TRY(shape_subshape(c, shape_input(c, 0), 1, INT64_MAX, 1, &own, status));
  TRY(shape_merge(c, own, said, &own, status));
  return tensor_list_infer_handle(c, said, status);
}
/* --- ops --- */

const OpRegistration kOpTensorListStack = {
    .name = "TensorListStack",
    .inputs = {"input_handle: variant", "element_shape: int32"},
    .outputs = {"tensor: element_dtype"},
    .attrs = {"element_dtype: type", "num_elements: int = -1"},
    .shape = stack_shape,
    .gradient =
        "TensorListStackGradient[element_dtype:type](input_handle:variant, element_shape:int32, "
        "dtensor:element_dtype) -> "
        "(dinput:variant, dshape:int32) {\n"
        "  d = TensorListFromTensor[element_dtype=$element_dtype, shape_type=int32](dtensor, element_shape)\n"
        "  z = ZerosLike[T=int32](element_shape)\n"
        "  return dinput = d:output_handle, dshape = z:y\n"
        "}\n",
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, stack_list}},
};

const OpRegistration kOpTensorListFromTensor = {
    .name = "TensorListFromTensor",
    .inputs = {"tensor: element_dtype", "element_shape: shape_type"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = from_tensor_shape,
    .gradient =
        "TensorListFromTensorGradient[element_dtype:type, shape_type:type](tensor:element_dtype, "
        "element_shape:shape_type, dlist:variant) -> "
        "(dtensor:element_dtype, dshape:shape_type) {\n"
        "  s = Shape[T=$element_dtype](tensor)\n"
        "  one = Const[dtype=int32, value=1]()\n"
        "  rest = Const[dtype=int32, value=-1]()\n"
        "  begin = Pack[N=1, T=int32](one:output)\n"
        "  size = Pack[N=1, T=int32](rest:output)\n"
        "  e = Slice[T=int32, Index=int32](s:output, begin:output, size:output)\n"
        "  d = TensorListStack[element_dtype=$element_dtype](dlist, e:output)\n"
        "  z = ZerosLike[T=$shape_type](element_shape)\n"
        "  return dtensor = d:tensor, dshape = z:y\n"
        "}\n",
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, from_tensor}},
};
