/* Ops that change the lengths of lists: several lists at once grow by an item, lists are joined, and a list
 * gets another length. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/tensor_list.h"
#include "ops/support/elements.h"

static bool too_long(Status *status) {
  return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
}

/* --- TensorListPushBackBatch --- */

static bool check_batch(const Tensor *handles, const Tensor *tensor, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor->shape.rank < 1)
    return status_invalid(status, "Expected tensor to be at least a vector, but saw shape: %s",
                          shape_text(&tensor->shape, text));
  if (!tensor_is_vector(handles)) {
    return status_invalid(status, "Expected input_handles to be a vector, but saw shape: %s",
                          shape_text(&handles->shape, text));
  }
  if (shape_dim(&tensor->shape, 0) != tensor_num_elements(handles)) {
    return status_invalid(status, "Expected tensor.shape[0] == input_handles.size, but saw %lld vs. %lld",
                          (long long)shape_dim(&tensor->shape, 0), (long long)tensor_num_elements(handles));
  }
  return true;
}

static bool refuse_item(const TensorList *list, int64_t i, const Tensor *item, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  StrBuf own = {0};
  element_shape_print(list->rank, list->dims, &own);
  if (strbuf_ok(&own, status)) {
    status_invalid(status,
                   "Tried to append a tensor with incompatible shape to a list at index %lld. Op element "
                   "shape: %s list shape: %s",
                   (long long)i, shape_text(&item->shape, text), strbuf_text(&own));
  }
  strbuf_free(&own);
  return false;
}

/* Element `i` of *made is the list `i` of `handles` with `item` at its end. */
static bool append_one(const Tensor *handles, int64_t i, const Tensor *item, Tensor *made, Status *status) {
  TensorList *list = tensor_list_at(handles, i);
  if (!list) {
    return status_invalid(status, "Input handle at index %lld is not a list. Saw: '%s'", (long long)i,
                          variant_type_name(handles, i));
  }
  if (!element_shape_fits(list, &item->shape)) return refuse_item(list, i, item, status);
  if (item->dtype != list->dtype) {
    return status_invalid(status, "Invalid data type at index %lld; op elements %s but list elements %s",
                          (long long)i, dtype_name(item->dtype), dtype_name(list->dtype));
  }
  if (list->length == INT32_MAX) return too_long(status);
  TensorList *longer = tensor_list_append(list, item, status);
  if (!longer) return false;
  ((VariantObject **)made->data)[i] = &longer->variant;
  return true;
}

static bool push_back_batch(KernelContext *context, Status *status) {
  const Tensor *handles = context->inputs[0], *tensor = context->inputs[1];
  Tensor *out;
  TRY(check_batch(handles, tensor, status));
  TRY(kernel_allocate_output(context, 0, &handles->shape, &out, status));
  for (int64_t i = 0, count = tensor_num_elements(handles); i < count; i++) {
    Tensor row = {0};
    bool ok =
        tensor_copy_row(tensor, i, context->pool, &row, status) && append_one(handles, i, &row, out, status);
    tensor_clear(&row);
    TRY(ok);
  }
  return true;
}

/* --- TensorListConcatLists --- */

static bool refuse_element(const char *input, int64_t i, const TensorList *list, DataType dtype,
                           Status *status) {
  return status_invalid(status, "%s[%lld].dtype != element_dtype.  Saw: %s vs. %s", input, (long long)i,
                        dtype_name(list->dtype), dtype_name(dtype));
}

static bool same_element_shape(const TensorList *a, const TensorList *b) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
  return same;
}

static bool check_pair(const Tensor *left, const Tensor *right, int64_t i, DataType dtype, Status *status) {
  const TensorList *a = tensor_list_at(left, i), *b = tensor_list_at(right, i);
  if (!a || !b) {
    return status_invalid(status, "input_%c is not a TensorList at index %lld.  Saw: '%s'", a ? 'b' : 'a',
                          (long long)i, variant_type_name(a ? right : left, i));
  }
  if (a->dtype != dtype) return refuse_element("input_a", i, a, dtype, status);
  if (b->dtype != dtype) return refuse_element("input_b", i, b, dtype, status);
  if (same_element_shape(a, b)) return a->length + b->length <= INT32_MAX || too_long(status);
  StrBuf first = {0}, second = {0};
  element_shape_print(a->rank, a->dims, &first);
  element_shape_print(b->rank, b->dims, &second);
  if (strbuf_ok(&first, status) && strbuf_ok(&second, status)) {
    status_invalid(status,
                   "input_a and input_b TensorList element shapes are not identical at index %lld.  Saw %s "
                   "vs. %s",
                   (long long)i, strbuf_text(&first), strbuf_text(&second));
  }
  strbuf_free(&first);
  strbuf_free(&second);
  return false;
}

/* A list of the items of `a`, then those of `b`. NULL with status. */
static TensorList *join(const TensorList *a, const TensorList *b, Status *status) {
  TensorList *made = tensor_list_new_like(a, tensor_list_copy_items(a, status), a->length, status);
  ListItems *other = tensor_list_copy_items(b, status);
  bool ok = made && other && list_items_extend(made->items, a->length + other->count, status);
  for (int64_t i = 0; ok && i < other->count; i++)
    tensor_move(&made->items->items[a->length + i], &other->items[i]);
  if (ok) {
    if (made->items->depth < other->depth) made->items->depth = other->depth;
    made->items->claimed = made->length = a->length + b->length;
  }
  list_items_unref(other);
  if (ok) return made;
  tensor_list_drop(made);
  return NULL;
}

static bool concat_lists(KernelContext *context, Status *status) {
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  char left[SHAPE_TEXT_CAPACITY], right[SHAPE_TEXT_CAPACITY];
  Tensor *out;
  if (!shape_equal(&a->shape, &b->shape)) {
    return status_invalid(status, "Incompatible input TensorList tensor shapes: %s vs. %s",
                          shape_text(&a->shape, left), shape_text(&b->shape, right));
  }
  TRY(kernel_allocate_output(context, 0, &a->shape, &out, status));
  for (int64_t i = 0, count = tensor_num_elements(a); i < count; i++) {
    TRY(check_pair(a, b, i, tensor_list_element_type(context), status));
    TensorList *joined = join(tensor_list_at(a, i), tensor_list_at(b, i), status);
    if (!joined) return false;
    ((VariantObject **)out->data)[i] = &joined->variant;
  }
  return true;
}

/* --- TensorListResize --- */

static bool resize(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  TRY(tensor_list_of(context->inputs[0], &list, status));
  if (!tensor_is_scalar(context->inputs[1])) return status_invalid(status, "size must be a scalar");
  int32_t size = tensor_i32(context->inputs[1])[0];
  if (size < 0)
    return status_invalid(status, "TensorListSlice expects size to be non-negative. Got: %d", size);
  TensorList *target = tensor_list_to_change(context, list, status);
  if (!target) return false;
  if (size < target->length) target->length = size;
  tensor_list_drop_behind(target);
  target->items->claimed = target->length = size;
  return tensor_list_set_changed(context, list, target, true, status);
}

/* --- shapes --- */

static bool push_back_batch_shape(InferenceContext *c, Status *status) {
  ShapeHandle handles, tensor, element;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &handles, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &tensor, status));
  TRY(shape_merge_prefix(c, tensor, handles, &tensor, &handles, status));
  TRY(tensor_list_infer_element(c, &element, status));
  TRY(tensor_list_infer_handle(c, element, status));
  shape_set_output(c, 0, handles);
  return true;
}

/* The element shape behind input `i`; *element stays if nothing is known. */
static bool infer_input(InferenceContext *c, int i, DataType dtype, ShapeHandle *element, Status *status) {
  const HandleData *handle = !c->input_handles ? NULL : c->input_handles[i];
  if (!handle || handle->count == 0) return true;
  if (handle->entries[0].dtype != dtype) {
    return status_invalid(status, "input_%c.type != element_dtype: %s vs. %s", i == 0 ? 'a' : 'b',
                          dtype_name(handle->entries[0].dtype), dtype_name(dtype));
  }
  return shape_merge(c, *element, handle->entries[0].shape, element, status);
}

static bool concat_lists_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape, element;
  DataType dtype;
  TRY(shape_merge(c, shape_input(c, 0), shape_input(c, 1), &shape, status));
  TRY(node_attr_type(c->node, "element_dtype", &dtype, status));
  TRY(shape_ok(shape_unknown(c), &element, status));
  TRY(infer_input(c, 0, dtype, &element, status));
  TRY(infer_input(c, 1, dtype, &element, status));
  TRY(tensor_list_infer_handle(c, element, status));
  shape_set_output(c, 0, shape);
  return true;
}

static bool resize_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  const HandleData *handle = !c->input_handles ? NULL : c->input_handles[0];
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  if (!handle || handle->count != 1) return true;
  return shape_set_output_handle(c, 0, handle->entries, handle->count, status);
}

/* --- ops --- */

const OpRegistration kOpTensorListPushBackBatch = {
    .name = "TensorListPushBackBatch",
    .inputs = {"input_handles: variant", "tensor: element_dtype"},
    .outputs = {"output_handles: variant"},
    .attrs = {"element_dtype: type"},
    .shape = push_back_batch_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, push_back_batch}},
};

const OpRegistration kOpTensorListConcatLists = {
    .name = "TensorListConcatLists",
    .inputs = {"input_a: variant", "input_b: variant"},
    .outputs = {"output: variant"},
    .attrs = {"element_dtype: type"},
    .shape = concat_lists_shape,
    .gradient = NO_GRADIENT,
    TENSOR_LIST_STATE,
    .kernels = {{DT_INVALID, concat_lists}},
};

const OpRegistration kOpTensorListResize = {
    .name = "TensorListResize",
    .inputs = {"input_handle: variant", "size: int32"},
    .outputs = {"output_handle: variant"},
    .shape = resize_shape,
    .gradient =
        "TensorListResizeGradient(input_handle:variant, size:int32, dlist:variant) -> "
        "(dinput:variant, dsize:int32) {\n"
        "  length = TensorListLength(input_handle)\n"
        "  d = TensorListResize(dlist, length:length)\n"
        "  z = ZerosLike[T=int32](size)\n"
        "  return dinput = d:output_handle, dsize = z:y\n"
        "}\n",
    .kernels = {{DT_INVALID, resize}},
};
