/* Ops that make lists of tensors and access single items. */
#include "ops/lists/tensor_list.h"

#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"

static bool refuse_shape(const char *what, const Shape *shape, const TensorList *list, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  StrBuf own = {0};
  element_shape_print(list->rank, list->dims, &own);
  if (strbuf_ok(&own, status)) {
    status_invalid(status, "%s element shape: %s list shape: %s", what, shape_text(shape, text),
                   strbuf_text(&own));
  }
  strbuf_free(&own);
  return false;
}

/* A scalar of int32. */
static bool read_scalar(const Tensor *tensor, const char *name, int32_t *value, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(tensor))
    return status_invalid(status, "%s expected to be a scalar, got shape: %s", name,
                          shape_text(&tensor->shape, text));
  *value = tensor_i32(tensor)[0];
  return true;
}
/* --- kernels --- */

static bool empty_list(KernelContext *context, Status *status) {
  int rank;
  int32_t max_length = 0;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(element_shape_read(context->inputs[0], &rank, dims, status));
  TRY(read_scalar(context->inputs[1], "max_num_elements", &max_length, status));
  TensorList like = {.dtype = tensor_list_element_type(context),
                     .rank = rank,
                     .dims = dims,
                     .max_length = max_length < 0 ? -1 : max_length};
  return tensor_list_set_output(context, 0, tensor_list_new_like(&like, list_items_new(), 0, status), status);
}

static bool reserve_list(KernelContext *context, Status *status) {
  int rank;
  int32_t length = 0;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(element_shape_read(context->inputs[0], &rank, dims, status));
  TRY(read_scalar(context->inputs[1], "num_elements", &length, status));
  if (length < 0)
    return status_invalid(status, "The num_elements to reserve must be a non negative number, but got %d",
                          length);
  TensorList like = {.dtype = tensor_list_element_type(context),
                     .rank = rank,
                     .dims = dims,
                     .max_length = -1};
  ListItems *items = list_items_new();
  if (items) items->claimed = length;
  return tensor_list_set_output(context, 0, tensor_list_new_like(&like, items, length, status), status);
}

/* Appends to the shared items if no other list has an item after the end of this list, and if `tensor` does
 * not make the items deeper. */
static bool append_shared(TensorList *list, const Tensor *tensor, int depth, bool *appended, Status *status) {
  ListItems *items = list->items;
  bool ok = true;
  list_items_lock(items);
  *appended = items->claimed == list->length && items->depth == depth;
  if (*appended) {
    int64_t before = items->count;
    ok = list_items_extend(items, list->length + 1, status) &&
         tensor_assign(&items->items[list->length], tensor, status);
    if (ok) {
      items->claimed++;
    } else if (items->count > before) {
      items->count = before;
    }
  }
  list_items_unlock(items);
  return ok;
}

TensorList *tensor_list_append(TensorList *list, const Tensor *tensor, Status *status) {
  ListItems *items = list->items;
  int depth = items->depth;
  bool appended;
  if (!variant_check_depth(tensor, &depth, status) || !append_shared(list, tensor, depth, &appended, status))
    return NULL;
  if (appended) {
    atomic_fetch_add_explicit(&items->references, 1, memory_order_relaxed);
    return tensor_list_new_like(list, items, list->length + 1, status);
  }
  TensorList *made = tensor_list_new_like(list, tensor_list_copy_items(list, status), list->length, status);
  if (!made) return NULL;
  if (!variant_check_depth(tensor, &made->items->depth, status) ||
      !append_shared(made, tensor, made->items->depth, &appended, status)) {
    tensor_list_drop(made);
    return NULL;
  }
  made->length++;
  return made;
}

static bool push_back(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  const Tensor *tensor = context->inputs[1];
  TRY(tensor_list_of(context->inputs[0], &list, status));
  if (list->dtype != tensor->dtype) {
    return status_invalid(status, "Invalid data types; list elements %s but tried to append %s",
                          dtype_name(list->dtype), dtype_name(tensor->dtype));
  }
  if (!element_shape_fits(list, &tensor->shape))
    return refuse_shape("Tried to append a tensor with incompatible shape to a list. Op", &tensor->shape,
                        list, status);
  if (list->max_length >= 0 && list->length >= list->max_length) {
    return status_invalid(status,
                          "Tried to push item into a full list list size: %lld max_num_elements: %lld",
                          (long long)list->length, (long long)list->max_length);
  }
  if (list->length == INT32_MAX)
    return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
  if (!tensor_list_is_owned(context, list))
    return tensor_list_set_output(context, 0, tensor_list_append(list, tensor, status), status);
  bool appended;
  TRY(variant_check_depth(tensor, &list->items->depth, status));
  TRY(append_shared(list, tensor, list->items->depth, &appended, status));
  if (!appended) return tensor_list_set_output(context, 0, tensor_list_append(list, tensor, status), status);
  list->length++;
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

/* Sets an output to an item. An uninitialised item becomes zeros if its shape is known. */
static bool give_item(KernelContext *context, int output, const TensorList *list, int64_t i,
                      const Tensor *shape_input, Status *status) {
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  Tensor item = {0}, *out;
  TRY(element_shape_read(shape_input, &rank, dims, status));
  TRY(tensor_list_item(list, i, &item, status));
  if (!tensor_is_empty(&item)) {
    bool ok = kernel_set_output(context, output, &item, NULL, status);
    tensor_clear(&item);
    return ok;
  }
  TRY(element_shape_merge(list, &rank, dims, status));
  if (!element_shape_known(rank, dims))
    return status_invalid(status,
                          "Trying to read an uninitialized element but element_shape is not fully defined.");
  TRY(kernel_allocate_output_dims(context, output, rank, dims, &out, status));
  if (dtype_is_pod(out->dtype)) memset(out->data, 0, (size_t)tensor_bytes(out));
  return true;
}

static bool pop_back(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  TRY(tensor_list_of_input(context, "op", &list, status));
  if (list->length == 0) return status_invalid(status, "Trying to pop from an empty list.");
  TRY(give_item(context, 1, list, list->length - 1, context->inputs[1], status));
  if (tensor_list_is_owned(context, list)) {
    list->length--;
    tensor_list_drop_behind(list);
    return kernel_set_output(context, 0, context->inputs[0], NULL, status);
  }
  /* The shared items keep the popped item alive. A list that becomes empty gets new items, so that it keeps
   * nothing alive. */
  ListItems *items = list->length == 1 ? list_items_new() : list->items;
  if (list->length > 1) atomic_fetch_add_explicit(&items->references, 1, memory_order_relaxed);
  return tensor_list_set_output(context, 0, tensor_list_new_like(list, items, list->length - 1, status),
                                status);
}

static bool get_item(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  int32_t index = 0;
  TRY(tensor_list_of_input(context, "op", &list, status));
  TRY(read_scalar(context->inputs[1], "index", &index, status));
  if (index < 0 || index >= list->length) {
    return status_invalid(status, "Trying to access element %d in a list with %lld elements.", index,
                          (long long)list->length);
  }
  return give_item(context, 0, list, index, context->inputs[2], status);
}

static bool set_item(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  int32_t index = 0;
  const Tensor *item = context->inputs[2];
  TRY(tensor_list_of_input(context, "op", &list, status));
  TRY(read_scalar(context->inputs[1], "index", &index, status));
  bool resizes = ((const TensorListState *)context->state)->resizes;
  if (index < 0 || (index >= list->length && (!resizes || index == INT32_MAX))) {
    return status_invalid(status, "Trying to modify element %d in a list with %lld elements.", index,
                          (long long)list->length);
  }
  if (!element_shape_fits(list, &item->shape))
    return refuse_shape("Tried to set a tensor with incompatible shape at a list index. Item", &item->shape,
                        list, status);
  TensorList *target = tensor_list_to_change(context, list, status);
  if (!target) return false;
  if (index >= target->length) tensor_list_drop_behind(target);
  bool ok = variant_check_depth(item, &target->items->depth, status) &&
            list_items_extend(target->items, index + 1, status) &&
            tensor_assign(&target->items->items[index], item, status);
  if (ok && index >= target->length) target->items->claimed = target->length = index + 1;
  return tensor_list_set_changed(context, list, target, ok, status);
}

static bool list_length(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  Tensor *out;
  TRY(tensor_list_of(context->inputs[0], &list, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  tensor_i32(out)[0] = (int32_t)list->length;
  return true;
}

static bool element_shape(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  Tensor *out;
  TRY(tensor_list_of(context->inputs[0], &list, status));
  int64_t count = list->rank;
  TRY(kernel_allocate_output_dims(context, 0, list->rank < 0 ? 0 : 1, &count, &out, status));
  for (int64_t i = 0; i < (list->rank < 0 ? 1 : count); i++) {
    int64_t dim = list->rank < 0 ? -1 : list->dims[i];
    if (out->dtype == DT_INT32 && dim > INT32_MAX)
      return status_invalid(status, "Dimension %lld does not fit int32", (long long)dim);
    if (out->dtype == DT_INT32) tensor_i32(out)[i] = (int32_t)dim;
    else tensor_i64(out)[i] = dim;
  }
  return true;
}
/* --- shapes --- */

static bool new_list_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor_or_scalar(c, 0, &shape, status));
  return tensor_list_infer_handle(c, shape, status);
}

static bool push_back_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(tensor_list_infer_element(c, &shape, status));
  return tensor_list_infer_handle(c, shape, status);
}

static bool pop_back_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(tensor_list_infer_element(c, &shape, status));
  shape_set_output(c, 1, shape);
  return tensor_list_infer_handle(c, shape, status);
}

static bool get_item_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(tensor_list_infer_element_with(c, 2, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}
static bool scalar_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  return true;
}
/* --- ops --- */

const OpRegistration kOpEmptyTensorList = {
    .name = "EmptyTensorList",
    .inputs = {"element_shape: shape_type", "max_num_elements: int32"},
    .outputs = {"handle: variant"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = new_list_shape,
    .gradient = NO_GRADIENT,
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, empty_list}},
};

const OpRegistration kOpTensorListReserve = {
    .name = "TensorListReserve",
    .inputs = {"element_shape: shape_type", "num_elements: int32"},
    .outputs = {"handle: variant"},
    .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
    .shape = new_list_shape,
    .gradient = NO_GRADIENT,
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, reserve_list}},
};

const OpRegistration kOpTensorListPushBack = {
    .name = "TensorListPushBack",
    .inputs = {"input_handle: variant", "tensor: element_dtype"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type"},
    .shape = push_back_shape,
    .gradient =
        "TensorListPushBackGradient[element_dtype:type](input_handle:variant, tensor:element_dtype, "
        "dlist:variant) -> "
        "(dinput:variant, dtensor:element_dtype) {\n"
        "  any = Const[dtype=int32, value=-1]()\n"
        "  d = TensorListPopBack[element_dtype=$element_dtype](dlist, any:output)\n"
        "  return dinput = d:output_handle, dtensor = d:tensor\n"
        "}\n",
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, push_back}},
};

const OpRegistration kOpTensorListPopBack = {
    .name = "TensorListPopBack",
    .inputs = {"input_handle: variant", "element_shape: int32"},
    .outputs = {"output_handle: variant", "tensor: element_dtype"},
    .attrs = {"element_dtype: type"},
    .shape = pop_back_shape,
    .gradient =
        "TensorListPopBackGradient[element_dtype:type](input_handle:variant, element_shape:int32, "
        "dlist:variant, dtensor:element_dtype) -> "
        "(dinput:variant, dshape:int32) {\n"
        "  d = TensorListPushBack[element_dtype=$element_dtype](dlist, dtensor)\n"
        "  z = ZerosLike[T=int32](element_shape)\n"
        "  return dinput = d:output_handle, dshape = z:y\n"
        "}\n",
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, pop_back}},
};

const OpRegistration kOpTensorListGetItem = {
    .name = "TensorListGetItem",
    .inputs = {"input_handle: variant", "index: int32", "element_shape: Tshape"},
    .outputs = {"item: element_dtype"},
    .attrs = {"element_dtype: type", "Tshape: {int32, int64} = DT_INT32"},
    .shape = get_item_shape,
    .gradient =
        "TensorListGetItemGradient[element_dtype:type, Tshape:type](input_handle:variant, index:int32, "
        "element_shape:Tshape, "
        "ditem:element_dtype) -> (dinput:variant, dindex:int32, dshape:Tshape) {\n"
        "  none = ZerosLike[T=variant](input_handle)\n"
        "  d = TensorListSetItem[element_dtype=$element_dtype](none:y, index, ditem)\n"
        "  i = ZerosLike[T=int32](index)\n"
        "  s = ZerosLike[T=$Tshape](element_shape)\n"
        "  return dinput = d:output_handle, dindex = i:y, dshape = s:y\n"
        "}\n",
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, get_item}},
};

/* The gradient of an op that lengthens a list is cut to the list's former length. */
#define CUT_LIST                                                                                             \
  "  length = TensorListLength(input_handle)\n"                                                              \
  "  zero = Const[dtype=int32, value=[0]]()\n"                                                               \
  "  one = Const[dtype=int32, value=[1]]()\n"                                                                \
  "  end = Reshape[T=int32](length:length, one:output)\n"                                                    \
  "  all = TensorListStack[element_dtype=$element_dtype](full:output_handle, s:output)\n"                    \
  "  items = StridedSlice[T=$element_dtype, Index=int32](all:tensor, zero:output, end:output, one:output)\n" \
  "  d = TensorListFromTensor[element_dtype=$element_dtype, shape_type=int32](items:output, s:output)\n"

static bool set_item_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool resizes;
  TRY(node_attr_bool(request->node, "resize_if_index_out_of_bounds", &resizes, status));
  strbuf_printf(text,
                "TensorListSetItemGradient[element_dtype:type](input_handle:variant, index:int32, "
                "item:element_dtype, dlist:variant) -> "
                "(dinput:variant, dindex:int32, ditem:element_dtype) {\n"
                "  none = ZerosLike[T=$element_dtype](item)\n"
                "  %s = TensorListSetItem[element_dtype=$element_dtype](dlist, index, none:y)\n"
                "  i = ZerosLike[T=int32](index)\n"
                "  s = Shape[T=$element_dtype](item)\n"
                "  x = TensorListGetItem[element_dtype=$element_dtype](dlist, index, s:output)\n",
                resizes ? "full" : "d");
  if (resizes) strbuf_append(text, CUT_LIST);
  strbuf_append(text, "  return dinput = d:output_handle, dindex = i:y, ditem = x:item\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpTensorListSetItem = {
    .name = "TensorListSetItem",
    .inputs = {"input_handle: variant", "index: int32", "item: element_dtype"},
    .outputs = {"output_handle: variant"},
    .attrs = {"element_dtype: type", "resize_if_index_out_of_bounds: bool = false"},
    .shape = push_back_shape,
    .gradient_fn = set_item_gradient,
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, set_item}},
};

const OpRegistration kOpTensorListLength = {
    .name = "TensorListLength",
    .inputs = {"input_handle: variant"},
    .outputs = {"length: int32"},
    .shape = scalar_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, list_length}},
};

const OpRegistration kOpTensorListElementShape = {
    .name = "TensorListElementShape",
    .inputs = {"input_handle: variant"},
    .outputs = {"element_shape: shape_type"},
    .attrs = {"shape_type: {int32, int64}"},
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, element_shape}},
};
