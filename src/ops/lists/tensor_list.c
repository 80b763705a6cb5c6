/* Lists of tensors: loops store the values for their gradients in lists. The cost of appending does not
 * depend on the length of a list, because the new list shares the items of the old one. */
#include "ops/lists/tensor_list.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/support/elements.h"

static bool oom(Status *status) { return status_oom(status, "a list of tensors"); }

/* --- items --- */

void list_items_lock(ListItems *items) {
  while (atomic_flag_test_and_set_explicit(&items->lock, memory_order_acquire)) sched_yield();
}

void list_items_unlock(ListItems *items) { atomic_flag_clear_explicit(&items->lock, memory_order_release); }

ListItems *list_items_new(void) {
  ListItems *items = mem_calloc(1, sizeof *items);
  if (!items) return NULL;
  atomic_init(&items->references, 1);
  atomic_flag_clear(&items->lock);
  return items;
}

void list_items_unref(ListItems *items) {
  if (!items || atomic_fetch_sub_explicit(&items->references, 1, memory_order_acq_rel) != 1) return;
  for (int64_t i = 0; i < items->count; i++) tensor_clear(&items->items[i]);
  mem_free(items->items);
  mem_free(items);
}

bool list_items_extend(ListItems *items, int64_t count, Status *status) {
  if (count <= items->count) return true;
  if (!mem_grow((void **)&items->items, &items->capacity, count, sizeof(Tensor))) return oom(status);
  memset(items->items + items->count, 0, (size_t)(count - items->count) * sizeof(Tensor));
  items->count = count;
  return true;
}

/* --- lists --- */

static void destroy_list(TensorObject *object) {
  TensorList *list = (TensorList *)object;
  list_items_unref(list->items);
  mem_free(list->dims);
  mem_free(list);
}

static const VariantMethods kListMethods;

/* Makes a list without items. `rank` and `dims` are those of TensorList. */
static TensorList *new_list(DataType dtype, int rank, const int64_t *dims, Status *status) {
  TensorList *list = mem_calloc(1, sizeof *list);
  int64_t *copy = mem_calloc(rank > 0 ? rank : 1, sizeof *copy);
  if (!list || !copy) {
    mem_free(list);
    mem_free(copy);
    oom(status);
    return NULL;
  }
  if (rank > 0) memcpy(copy, dims, (size_t)rank * sizeof *copy);
  *list = (TensorList){.dtype = dtype, .rank = rank, .dims = copy, .max_length = -1};
  list->variant.methods = &kListMethods;
  list->variant.object.destroy = destroy_list;
  atomic_init(&list->variant.object.references, 1);
  return list;
}

TensorList *tensor_list_new_like(const TensorList *like, ListItems *items, int64_t length, Status *status) {
  TensorList *list = !items ? NULL : new_list(like->dtype, like->rank, like->dims, status);
  if (!list) {
    if (!items) oom(status);
    list_items_unref(items);
    return NULL;
  }
  list->items = items;
  list->length = length;
  list->max_length = like->max_length;
  return list;
}

void tensor_list_drop(TensorList *list) {
  if (list) tensor_object_unref(&list->variant.object);
}

bool tensor_list_item(const TensorList *list, int64_t i, Tensor *item, Status *status) {
  bool ok = true;
  list_items_lock(list->items);
  if (i < list->items->count && !tensor_is_empty(&list->items->items[i]))
    ok = tensor_assign(item, &list->items->items[i], status);
  list_items_unlock(list->items);
  return ok;
}

ListItems *tensor_list_copy_items(const TensorList *list, Status *status) {
  ListItems *copy = list_items_new();
  if (!copy) {
    oom(status);
    return NULL;
  }
  list_items_lock(list->items);
  int64_t count = list->items->count < list->length ? list->items->count : list->length;
  bool ok = list_items_extend(copy, count, status);
  for (int64_t i = 0; ok && i < count; i++) {
    const Tensor *item = &list->items->items[i];
    if (!tensor_is_empty(item))
      ok = tensor_assign(&copy->items[i], item, status) && variant_check_depth(item, &copy->depth, status);
  }
  list_items_unlock(list->items);
  copy->claimed = list->length;
  if (ok) return copy;
  list_items_unref(copy);
  return NULL;
}

bool tensor_list_copy_item(const TensorList *list, int64_t i, Tensor *out, int64_t first, int64_t count,
                           Status *status) {
  Tensor item = {0};
  TRY(tensor_list_item(list, i, &item, status));
  if (!tensor_is_empty(&item)) {
    bool ok = tensor_copy_elements(&item, 0, out, first, count, status);
    tensor_clear(&item);
    return ok;
  }
  if (dtype_is_pod(out->dtype)) {
    size_t size = dtype_size(out->dtype);
    memset((char *)out->data + (size_t)first * size, 0, (size_t)count * size);
  }
  return true;
}

void tensor_list_drop_behind(TensorList *list) {
  ListItems *items = list->items;
  for (; items->count > list->length; items->count--) tensor_clear(&items->items[items->count - 1]);
  items->claimed = list->length;
}

TensorList *tensor_list_at(const Tensor *handles, int64_t i) {
  VariantObject *object = ((VariantObject **)handles->data)[i];
  return object && object->methods == &kListMethods ? (TensorList *)object : NULL;
}

bool tensor_list_of(const Tensor *handle, TensorList **list, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(handle))
    return status_invalid(status, "Input list must be a scalar saw: %s", shape_text(&handle->shape, text));
  *list = handle->dtype == DT_VARIANT ? tensor_list_at(handle, 0) : NULL;
  return *list || status_invalid(status, "Input handle is not a list. Saw: '%s'",
                                 handle->dtype == DT_VARIANT ? variant_type_name(handle, 0) : "nothing");
}

bool tensor_list_set_output(KernelContext *context, int output, TensorList *list, Status *status) {
  Tensor *out;
  if (!list) return false;
  if (!kernel_allocate_output_dims(context, output, 0, NULL, &out, status)) {
    tensor_list_drop(list);
    return false;
  }
  *(VariantObject **)out->data = &list->variant;
  return true;
}

bool tensor_list_is_owned(const KernelContext *context, const TensorList *list) {
  return kernel_owns_input(context, 0) &&
         atomic_load_explicit(&list->variant.object.references, memory_order_acquire) == 1 &&
         atomic_load_explicit(&list->items->references, memory_order_acquire) == 1;
}

TensorList *tensor_list_to_change(const KernelContext *context, TensorList *list, Status *status) {
  if (tensor_list_is_owned(context, list)) return list;
  return tensor_list_new_like(list, tensor_list_copy_items(list, status), list->length, status);
}

bool tensor_list_set_changed(KernelContext *context, TensorList *list, TensorList *changed, bool ok,
                             Status *status) {
  if (changed == list) return ok && kernel_set_output(context, 0, context->inputs[0], NULL, status);
  if (ok) return tensor_list_set_output(context, 0, changed, status);
  tensor_list_drop(changed);
  return false;
}

/* --- shapes of elements --- */

bool element_shape_read(const Tensor *tensor, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_is_scalar(tensor)) {
    *rank = -1;
    if (tensor_int_at(tensor, 0) == -1) return true;
    return status_invalid(status,
                          "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (!tensor_is_vector(tensor))
    return status_invalid(status, "element_shape must be a scalar or a vector, got shape: %s",
                          shape_text(&tensor->shape, text));
  int64_t count = tensor_num_elements(tensor);
  if (count > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int64_t i = 0; i < count; i++) {
    dims[i] = tensor_int_at(tensor, i);
    if (dims[i] < -1) return status_invalid(status, "Dimension %lld must be >= -1", (long long)dims[i]);
  }
  *rank = (int)count;
  return true;
}

void element_shape_print(int rank, const int64_t *dims, StrBuf *out) {
  if (rank < 0) {
    strbuf_append(out, "<unknown>");
    return;
  }
  strbuf_append_char(out, '[');
  for (int i = 0; i < rank; i++)
    strbuf_printf(out, dims[i] < 0 ? "%s?" : "%s%lld", i == 0 ? "" : ",", (long long)dims[i]);
  strbuf_append_char(out, ']');
}

bool element_shape_fits(const TensorList *list, const Shape *shape) {
  if (list->rank < 0) return true;
  if (list->rank != shape->rank) return false;
  for (int i = 0; i < list->rank; i++) {
    if (list->dims[i] >= 0 && list->dims[i] != shape_dim(shape, i)) return false;
  }
  return true;
}

static bool refuse_merge(int rank, const int64_t *dims, int other_rank, const int64_t *other,
                         Status *status) {
  if (rank != other_rank)
    return status_invalid(status, "PartialTensorShape: Incompatible ranks during merge: %d vs. %d", rank,
                          other_rank);
  StrBuf own = {0}, others = {0};
  element_shape_print(rank, dims, &own);
  element_shape_print(other_rank, other, &others);
  if (strbuf_ok(&own, status) && strbuf_ok(&others, status)) {
    status_invalid(status, "PartialTensorShape: Incompatible shapes during merge: %s vs. %s",
                   strbuf_text(&own), strbuf_text(&others));
  }
  strbuf_free(&own);
  strbuf_free(&others);
  return false;
}

bool element_shape_refine(int *rank, int64_t dims[SHAPE_MAX_RANK], int other_rank, const int64_t *other,
                          Status *status) {
  if (other_rank < 0) return true;
  bool fits = *rank < 0 || *rank == other_rank;
  for (int i = 0; fits && *rank >= 0 && i < other_rank; i++)
    fits = dims[i] < 0 || other[i] < 0 || dims[i] == other[i];
  if (!fits) return refuse_merge(*rank, dims, other_rank, other, status);
  for (int i = 0; i < other_rank; i++) {
    if (*rank < 0 || dims[i] < 0) dims[i] = other[i];
  }
  *rank = other_rank;
  return true;
}

bool element_shape_merge(const TensorList *list, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  return element_shape_refine(rank, dims, list->rank, list->dims, status);
}

bool element_shape_check_rows(int rank, const int64_t *dims, const Shape *tensor, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t own[SHAPE_MAX_RANK];
  if (tensor->rank < 1)
    return status_invalid(status, "Tensor must be at least a vector, but saw shape: %s",
                          shape_text(tensor, text));
  int own_rank = tensor->rank - 1;
  bool fits = rank < 0 || rank == own_rank;
  for (int i = 0; i < own_rank; i++) {
    own[i] = shape_dim(tensor, i + 1);
    fits = fits && (rank < 0 || dims[i] < 0 || dims[i] == own[i]);
  }
  if (fits) return true;
  StrBuf want = {0}, got = {0};
  element_shape_print(rank, dims, &want);
  element_shape_print(own_rank, own, &got);
  if (strbuf_ok(&want, status) && strbuf_ok(&got, status)) {
    status_invalid(status, "Specified a list with shape %s from a tensor with shape %s", strbuf_text(&want),
                   strbuf_text(&got));
  }
  strbuf_free(&want);
  strbuf_free(&got);
  return false;
}

bool element_shape_refuse(const char *what, int rank, const int64_t *dims, Status *status) {
  StrBuf text = {0};
  element_shape_print(rank, dims, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "%s: %s", what, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

bool element_shape_known(int rank, const int64_t *dims) {
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0) return false;
  }
  return rank >= 0;
}

/* --- variants --- */

static bool zeros_like_list(KernelContext *context, const VariantObject *x, int depth, VariantObject **zeros,
                            Status *status) {
  const TensorList *list = (const TensorList *)x;
  TensorList *made = tensor_list_new_like(list, tensor_list_copy_items(list, status), list->length, status);
  if (!made) return false;
  for (int64_t i = 0; i < made->items->count; i++) {
    Tensor item = {0};
    if (tensor_is_empty(&made->items->items[i])) continue;
    if (!tensor_zeros_like(context, &made->items->items[i], depth, &item, status)) {
      tensor_list_drop(made);
      return false;
    }
    tensor_clear(&made->items->items[i]);
    tensor_move(&made->items->items[i], &item);
  }
  *zeros = &made->variant;
  return true;
}

static bool add_lists(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth,
                      VariantObject **sum, Status *status) {
  const TensorList *left = (const TensorList *)a, *right = (const TensorList *)b;
  if (left->dtype != right->dtype) {
    return status_invalid(status,
                          "Trying to add two lists of tensors of different dtypes. One is %s and the other "
                          "is %s",
                          dtype_name(left->dtype), dtype_name(right->dtype));
  }
  if (left->length != right->length)
    return status_invalid(status,
                          "Trying to add two lists of tensors with different lengths. One is %lld and the "
                          "other is %lld",
                          (long long)left->length, (long long)right->length);
  TensorList *made = tensor_list_new_like(left, tensor_list_copy_items(left, status), left->length, status);
  int64_t count = !made ? 0 : right->items->count < right->length ? right->items->count : right->length;
  bool ok = made && list_items_extend(made->items, count, status);
  if (ok && made->items->depth < right->items->depth) made->items->depth = right->items->depth;
  for (int64_t i = 0; ok && i < count; i++) {
    Tensor other = {0}, total = {0}, *item = &made->items->items[i];
    ok = tensor_list_item(right, i, &other, status);
    if (ok && !tensor_is_empty(&other)) {
      if (tensor_is_empty(item)) {
        tensor_move(item, &other);
      } else if ((ok = tensor_sum(context, item, &other, depth, &total, status))) {
        tensor_clear(item);
        tensor_move(item, &total);
      }
    }
    tensor_clear(&other);
  }
  if (ok) {
    *sum = &made->variant;
  } else {
    tensor_list_drop(made);
  }
  return ok;
}

static int depth_of_list(const VariantObject *x) { return ((const TensorList *)x)->items->depth; }

static const VariantMethods kListMethods = {"tensorflow::TensorList", zeros_like_list, add_lists,
                                            depth_of_list};

/* --- what kernels share --- */

bool tensor_list_construct(const KernelConstruction *construction, void *memory, Status *status) {
  TensorListState *state = memory;
  state->num_elements = -1;
  if (node_def_attr(construction->node, "num_elements"))
    TRY(node_attr_int(construction->node, "num_elements", &state->num_elements, status));
  if (node_def_attr(construction->node, "resize_if_index_out_of_bounds"))
    TRY(node_attr_bool(construction->node, "resize_if_index_out_of_bounds", &state->resizes, status));
  return node_attr_type(construction->node, "element_dtype", &state->dtype, status);
}

bool tensor_list_of_input(KernelContext *context, const char *what, TensorList **list, Status *status) {
  TRY(tensor_list_of(context->inputs[0], list, status));
  if ((*list)->dtype == tensor_list_element_type(context)) return true;
  return status_invalid(status, "Invalid data types; %s elements %s but list elements %s", what,
                        dtype_name(tensor_list_element_type(context)), dtype_name((*list)->dtype));
}

/* --- what shape functions share --- */

bool tensor_list_infer_handle(InferenceContext *c, ShapeHandle shape, Status *status) {
  ShapeAndType entry = {.shape = shape};
  ShapeHandle scalar;
  TRY(node_attr_type(c->node, "element_dtype", &entry.dtype, status));
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  return shape_set_output_handle(c, 0, &entry, 1, status);
}

bool tensor_list_infer_element(InferenceContext *c, ShapeHandle *shape, Status *status) {
  DataType dtype;
  const HandleData *handle = !c->input_handles ? NULL : c->input_handles[0];
  TRY(shape_ok(shape_unknown(c), shape, status));
  TRY(node_attr_type(c->node, "element_dtype", &dtype, status));
  if (!handle || handle->count != 1) return true;
  if (handle->entries[0].dtype != DT_INVALID && handle->entries[0].dtype != dtype) {
    return status_invalid(status, "Expected list with element dtype %s but got list with element dtype %s",
                          dtype_name(dtype), dtype_name(handle->entries[0].dtype));
  }
  *shape = handle->entries[0].shape;
  return true;
}

bool tensor_list_infer_element_with(InferenceContext *c, int i, ShapeHandle *shape, Status *status) {
  ShapeHandle known, said;
  TRY(tensor_list_infer_element(c, &known, status));
  TRY(shape_from_input_tensor_or_scalar(c, i, &said, status));
  return shape_merge(c, known, said, shape, status);
}
