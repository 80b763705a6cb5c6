/* Lists of tensors: what loops keep their values in for the gradient. Appending to a list costs the same however long it is: the new
 * list shares the items of the old one. */
#include "ops/tensor_list.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"

static bool oom(Status *status) { return status_oom(status, "a list of tensors"); }

/* --- items --- */

static void lock_items(ListItems *items) {
  while (atomic_flag_test_and_set_explicit(&items->lock, memory_order_acquire)) sched_yield();
}

static void unlock_items(ListItems *items) { atomic_flag_clear_explicit(&items->lock, memory_order_release); }

static ListItems *new_items(void) {
  ListItems *items = mem_calloc(1, sizeof *items);
  if (items == NULL) return NULL;
  atomic_init(&items->references, 1);
  atomic_flag_clear(&items->lock);
  return items;
}

static void unref_items(ListItems *items) {
  if (items == NULL || atomic_fetch_sub_explicit(&items->references, 1, memory_order_acq_rel) != 1) return;
  for (int64_t i = 0; i < items->count; i++) tensor_clear(&items->items[i]);
  mem_free(items->items);
  mem_free(items);
}

/* Makes room for `count` items; new ones are not initialised. */
static bool extend_items(ListItems *items, int64_t count, Status *status) {
  if (count <= items->count) return true;
  if (!mem_grow((void **)&items->items, &items->capacity, count, sizeof(Tensor))) return oom(status);
  memset(items->items + items->count, 0, (size_t)(count - items->count) * sizeof(Tensor));
  items->count = count;
  return true;
}

/* --- lists --- */

static void destroy_list(TensorObject *object) {
  TensorList *list = (TensorList *)object;
  unref_items(list->items);
  mem_free(list->dims);
  mem_free(list);
}

static const VariantMethods kListMethods;

/* Without items; `rank` and `dims` as in TensorList. */
static TensorList *new_list(DataType dtype, int rank, const int64_t *dims, Status *status) {
  TensorList *list = mem_calloc(1, sizeof *list);
  int64_t *copy = mem_calloc(rank > 0 ? rank : 1, sizeof *copy);
  if (list == NULL || copy == NULL) {
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

/* A list of the same kind that sees `items` (taken over, may be NULL: none). */
static TensorList *new_like(const TensorList *like, ListItems *items, int64_t length, Status *status) {
  TensorList *list = items == NULL ? NULL : new_list(like->dtype, like->rank, like->dims, status);
  if (list == NULL) {
    if (items == NULL) oom(status);
    unref_items(items);
    return NULL;
  }
  list->items = items;
  list->length = length;
  list->max_length = like->max_length;
  list->depth = like->depth;
  return list;
}

static void drop_list(TensorList *list) {
  if (list != NULL) tensor_object_unref(&list->variant.object);
}

/* Item `i`, empty when it is not initialised. */
static bool item_of(const TensorList *list, int64_t i, Tensor *item, Status *status) {
  bool ok = true;
  lock_items(list->items);
  if (i < list->items->count && !tensor_is_empty(&list->items->items[i])) ok = tensor_assign(item, &list->items->items[i], status);
  unlock_items(list->items);
  return ok;
}

/* The items that the list sees, for itself alone. */
static ListItems *copy_items(const TensorList *list, Status *status) {
  ListItems *copy = new_items();
  if (copy == NULL) {
    oom(status);
    return NULL;
  }
  lock_items(list->items);
  int64_t count = list->items->count < list->length ? list->items->count : list->length;
  bool ok = extend_items(copy, count, status);
  for (int64_t i = 0; ok && i < count; i++) {
    if (!tensor_is_empty(&list->items->items[i])) ok = tensor_assign(&copy->items[i], &list->items->items[i], status);
  }
  unlock_items(list->items);
  copy->claimed = list->length;
  if (ok) return copy;
  unref_items(copy);
  return NULL;
}

bool tensor_list_of(const Tensor *handle, TensorList **list, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(handle)) return status_invalid(status, "Input list must be a scalar saw: %s", shape_text(&handle->shape, text));
  VariantObject *object = handle->dtype == DT_VARIANT ? *(VariantObject **)handle->data : NULL;
  if (object == NULL || object->methods != &kListMethods) {
    return status_invalid(status, "Input handle is not a list. Saw: '%s'", object == NULL ? "nothing" : object->methods->type_name);
  }
  *list = (TensorList *)object;
  return true;
}

/* Lists within lists end somewhere: they are freed from the outer to the inner. */
static bool check_depth(const Tensor *item, int *depth, Status *status) {
  VariantObject *const *objects = item->data;
  for (int64_t i = 0; item->dtype == DT_VARIANT && i < tensor_num_elements(item); i++) {
    if (objects[i] == NULL || objects[i]->methods != &kListMethods) continue;
    int inner = ((const TensorList *)objects[i])->depth;
    if (*depth <= inner) *depth = inner + 1;
  }
  return *depth < VARIANT_MAX_DEPTH || status_invalid(status, "Lists are nested more than %d deep", VARIANT_MAX_DEPTH);
}

/* The scalar that holds a list, which it takes over. */
static bool set_list(KernelContext *context, int output, TensorList *list, Status *status) {
  Tensor *out;
  if (list == NULL) return false;
  if (!kernel_allocate_output_dims(context, output, 0, NULL, &out, status)) {
    drop_list(list);
    return false;
  }
  *(VariantObject **)out->data = &list->variant;
  return true;
}

/* Nobody else sees the list in input 0 or its items, and nobody will. */
static bool owns_list(const KernelContext *context, const TensorList *list) {
  return kernel_may_forward(context, 0, 0, &context->inputs[0]->shape) &&
         atomic_load_explicit(&list->variant.object.references, memory_order_acquire) == 1 &&
         atomic_load_explicit(&list->items->references, memory_order_acquire) == 1;
}

/* --- shapes of elements --- */

/* What an input says about the shape of elements: a scalar -1, or a vector of sizes, -1 where any will do. */
static bool read_shape(const Tensor *tensor, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_is_scalar(tensor)) {
    *rank = -1;
    if (tensor_int_at(tensor, 0) == -1) return true;
    return status_invalid(status, "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (!tensor_is_vector(tensor))
    return status_invalid(status, "element_shape must be a scalar or a vector, got shape: %s", shape_text(&tensor->shape, text));
  int64_t count = tensor_num_elements(tensor);
  if (count > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int64_t i = 0; i < count; i++) {
    dims[i] = tensor_int_at(tensor, i);
    if (dims[i] < -1) return status_invalid(status, "Dimension %lld must be >= -1", (long long)dims[i]);
  }
  *rank = (int)count;
  return true;
}

static void print_shape(int rank, const int64_t *dims, StrBuf *out) {
  if (rank < 0) {
    strbuf_append(out, "<unknown>");
    return;
  }
  strbuf_append_char(out, '[');
  for (int i = 0; i < rank; i++) strbuf_printf(out, dims[i] < 0 ? "%s?" : "%s%lld", i == 0 ? "" : ",", (long long)dims[i]);
  strbuf_append_char(out, ']');
}

static bool shape_fits(const TensorList *list, const Shape *shape) {
  if (list->rank < 0) return true;
  if (list->rank != shape->rank) return false;
  for (int i = 0; i < list->rank; i++) {
    if (list->dims[i] >= 0 && list->dims[i] != shape_dim(shape, i)) return false;
  }
  return true;
}

/* Merges the list's shape into what an op says. */
static bool merge_shape(const TensorList *list, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  bool fits = *rank < 0 || list->rank < 0 || *rank == list->rank;
  if (*rank < 0 && list->rank >= 0) {
    *rank = list->rank;
    for (int i = 0; i < *rank; i++) dims[i] = list->dims[i];
  }
  for (int i = 0; fits && list->rank >= 0 && i < *rank; i++) {
    if (dims[i] < 0) dims[i] = list->dims[i];
    fits = list->dims[i] < 0 || dims[i] == list->dims[i];
  }
  if (fits) return true;
  StrBuf op = {0}, own = {0};
  print_shape(*rank, dims, &op);
  print_shape(list->rank, list->dims, &own);
  status_invalid(status, "Tried to read elements of shape %s from a list with element shape %s", strbuf_text(&op), strbuf_text(&own));
  strbuf_free(&op);
  strbuf_free(&own);
  return false;
}

static bool shape_known(int rank, const int64_t *dims) {
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0) return false;
  }
  return rank >= 0;
}

static bool refuse_shape(const char *what, const Shape *shape, const TensorList *list, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  StrBuf own = {0};
  print_shape(list->rank, list->dims, &own);
  status_invalid(status, "%s element shape: %s list shape: %s", what, shape_text(shape, text), strbuf_text(&own));
  strbuf_free(&own);
  return false;
}

/* A scalar of int32. */
static bool read_scalar(const Tensor *tensor, const char *name, int32_t *value, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(tensor))
    return status_invalid(status, "%s expected to be a scalar, got shape: %s", name, shape_text(&tensor->shape, text));
  *value = tensor_i32(tensor)[0];
  return true;
}

/* --- variants --- */

static bool zeros_like_list(KernelContext *context, const VariantObject *x, int depth, VariantObject **zeros, Status *status) {
  const TensorList *list = (const TensorList *)x;
  TensorList *made = new_like(list, copy_items(list, status), list->length, status);
  if (made == NULL) return false;
  for (int64_t i = 0; i < made->items->count; i++) {
    Tensor item = {0};
    if (tensor_is_empty(&made->items->items[i])) continue;
    if (!tensor_zeros_like(context, &made->items->items[i], depth, &item, status)) {
      drop_list(made);
      return false;
    }
    tensor_clear(&made->items->items[i]);
    tensor_move(&made->items->items[i], &item);
  }
  *zeros = &made->variant;
  return true;
}

static bool add_lists(KernelContext *context, const VariantObject *a, const VariantObject *b, int depth, VariantObject **sum,
                      Status *status) {
  const TensorList *left = (const TensorList *)a, *right = (const TensorList *)b;
  if (left->dtype != right->dtype) {
    return status_invalid(status, "Trying to add two lists of tensors of different dtypes. One is %s and the other is %s",
                          dtype_name(left->dtype), dtype_name(right->dtype));
  }
  if (left->length != right->length)
    return status_invalid(status, "Trying to add two lists of tensors with different lengths. One is %lld and the other is %lld",
                          (long long)left->length, (long long)right->length);
  TensorList *made = new_like(left, copy_items(left, status), left->length, status);
  int64_t count = made == NULL ? 0 : right->items->count < right->length ? right->items->count : right->length;
  bool ok = made != NULL && extend_items(made->items, count, status);
  for (int64_t i = 0; ok && i < count; i++) {
    Tensor other = {0}, total = {0}, *item = &made->items->items[i];
    ok = item_of(right, i, &other, status);
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
    drop_list(made);
  }
  return ok;
}

static const VariantMethods kListMethods = {"tensorflow::TensorList", zeros_like_list, add_lists};

/* --- kernels --- */

typedef struct ListState {
  DataType dtype;       /* element_dtype */
  int64_t num_elements; /* of TensorListStack; -1: any */
} ListState;

static bool list_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ListState *state = memory;
  state->num_elements = -1;
  if (node_def_attr(construction->node, "num_elements") != NULL)
    TRY(node_attr_int(construction->node, "num_elements", &state->num_elements, status));
  return node_attr_type(construction->node, "element_dtype", &state->dtype, status);
}

static DataType element_type(const KernelContext *context) { return ((const ListState *)context->state)->dtype; }

static bool get_list(KernelContext *context, const char *what, TensorList **list, Status *status) {
  TRY(tensor_list_of(context->inputs[0], list, status));
  if ((*list)->dtype == element_type(context)) return true;
  return status_invalid(status, "Invalid data types; %s elements %s but list elements %s", what, dtype_name(element_type(context)),
                        dtype_name((*list)->dtype));
}

static bool empty_list(KernelContext *context, Status *status) {
  int rank;
  int32_t max_length = 0;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(read_shape(context->inputs[0], &rank, dims, status));
  TRY(read_scalar(context->inputs[1], "max_num_elements", &max_length, status));
  TensorList like = {.dtype = element_type(context), .rank = rank, .dims = dims, .max_length = max_length < 0 ? -1 : max_length};
  return set_list(context, 0, new_like(&like, new_items(), 0, status), status);
}

static bool reserve_list(KernelContext *context, Status *status) {
  int rank;
  int32_t length = 0;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(read_shape(context->inputs[0], &rank, dims, status));
  TRY(read_scalar(context->inputs[1], "num_elements", &length, status));
  if (length < 0) return status_invalid(status, "The num_elements to reserve must be a non negative number, but got %d", length);
  TensorList like = {.dtype = element_type(context), .rank = rank, .dims = dims, .max_length = -1};
  ListItems *items = new_items();
  if (items != NULL) items->claimed = length;
  return set_list(context, 0, new_like(&like, items, length, status), status);
}

/* Appends where no other list has something behind this one's end. */
static bool append_shared(TensorList *list, const Tensor *tensor, bool *appended, Status *status) {
  ListItems *items = list->items;
  bool ok = true;
  lock_items(items);
  *appended = items->claimed == list->length;
  if (*appended) {
    int64_t before = items->count;
    ok = extend_items(items, list->length + 1, status) && tensor_assign(&items->items[list->length], tensor, status);
    if (ok) {
      items->claimed++;
    } else if (items->count > before) {
      items->count = before;
    }
  }
  unlock_items(items);
  return ok;
}

static bool push_back(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  const Tensor *tensor = context->inputs[1];
  TRY(tensor_list_of(context->inputs[0], &list, status));
  if (list->dtype != tensor->dtype) {
    return status_invalid(status, "Invalid data types; list elements %s but tried to append %s", dtype_name(list->dtype),
                          dtype_name(tensor->dtype));
  }
  if (!shape_fits(list, &tensor->shape))
    return refuse_shape("Tried to append a tensor with incompatible shape to a list. Op", &tensor->shape, list, status);
  if (list->max_length >= 0 && list->length >= list->max_length) {
    return status_invalid(status, "Tried to push item into a full list list size: %lld max_num_elements: %lld",
                          (long long)list->length, (long long)list->max_length);
  }
  if (list->length == INT32_MAX) return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
  int depth = list->depth;
  bool appended, owned = owns_list(context, list);
  TRY(check_depth(tensor, &depth, status));
  TRY(append_shared(list, tensor, &appended, status));
  if (owned && appended) {
    list->length++;
    list->depth = depth;
    return kernel_set_output(context, 0, context->inputs[0], NULL, status);
  }
  ListItems *items = list->items;
  if (appended) {
    atomic_fetch_add_explicit(&items->references, 1, memory_order_relaxed);
    TensorList *longer = new_like(list, items, list->length + 1, status);
    if (longer != NULL) longer->depth = depth;
    return set_list(context, 0, longer, status);
  }
  TensorList *made = new_like(list, copy_items(list, status), list->length, status);
  if (made == NULL) return false;
  if (!append_shared(made, tensor, &appended, status)) {
    drop_list(made);
    return false;
  }
  made->length++;
  made->depth = depth;
  return set_list(context, 0, made, status);
}

/* An item, or zeros where it is not initialised and the shape is known. */
static bool give_item(KernelContext *context, int output, const TensorList *list, int64_t i, const Tensor *shape_input,
                      Status *status) {
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  Tensor item = {0}, *out;
  TRY(read_shape(shape_input, &rank, dims, status));
  TRY(item_of(list, i, &item, status));
  if (!tensor_is_empty(&item)) {
    bool ok = kernel_set_output(context, output, &item, NULL, status);
    tensor_clear(&item);
    return ok;
  }
  TRY(merge_shape(list, &rank, dims, status));
  if (!shape_known(rank, dims))
    return status_invalid(status, "Trying to read an uninitialized element but element_shape is not fully defined.");
  TRY(kernel_allocate_output_dims(context, output, rank, dims, &out, status));
  if (dtype_is_pod(out->dtype)) memset(out->data, 0, (size_t)tensor_bytes(out));
  return true;
}

static bool pop_back(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  TRY(get_list(context, "op", &list, status));
  if (list->length == 0) return status_invalid(status, "Trying to pop from an empty list.");
  TRY(give_item(context, 1, list, list->length - 1, context->inputs[1], status));
  if (owns_list(context, list)) {
    ListItems *items = list->items;
    list->length--;
    for (; items->count > list->length; items->count--) tensor_clear(&items->items[items->count - 1]);
    items->claimed = list->length;
    return kernel_set_output(context, 0, context->inputs[0], NULL, status);
  }
  atomic_fetch_add_explicit(&list->items->references, 1, memory_order_relaxed);
  return set_list(context, 0, new_like(list, list->items, list->length - 1, status), status);
}

static bool get_item(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  int32_t index = 0;
  TRY(get_list(context, "op", &list, status));
  TRY(read_scalar(context->inputs[1], "index", &index, status));
  if (index < 0 || index >= list->length) {
    return status_invalid(status, "Trying to access element %d in a list with %lld elements.", index, (long long)list->length);
  }
  return give_item(context, 0, list, index, context->inputs[2], status);
}

static bool set_item(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  int32_t index = 0;
  const Tensor *item = context->inputs[2];
  TRY(get_list(context, "op", &list, status));
  TRY(read_scalar(context->inputs[1], "index", &index, status));
  if (index < 0 || index >= list->length) {
    return status_invalid(status, "Trying to modify element %d in a list with %lld elements.", index, (long long)list->length);
  }
  if (!shape_fits(list, &item->shape))
    return refuse_shape("Tried to set a tensor with incompatible shape at a list index. Item", &item->shape, list, status);
  int depth = list->depth;
  bool owned = owns_list(context, list);
  TRY(check_depth(item, &depth, status));
  TensorList *target = owned ? list : new_like(list, copy_items(list, status), list->length, status);
  if (target == NULL) return false;
  target->depth = depth;
  bool ok = extend_items(target->items, index + 1, status) && tensor_assign(&target->items->items[index], item, status);
  if (owned) return ok && kernel_set_output(context, 0, context->inputs[0], NULL, status);
  if (ok) return set_list(context, 0, target, status);
  drop_list(target);
  return false;
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
    if (out->dtype == DT_INT32 && dim > INT32_MAX) return status_invalid(status, "Dimension %lld does not fit int32", (long long)dim);
    if (out->dtype == DT_INT32) tensor_i32(out)[i] = (int32_t)dim;
    else tensor_i64(out)[i] = dim;
  }
  return true;
}

/* Copies `count` elements behind one another; strings and objects get references of their own. */
static bool copy_elements(const Tensor *from, int64_t from_first, Tensor *to, int64_t to_first, int64_t count, Status *status) {
  if (dtype_is_pod(to->dtype)) {
    size_t size = dtype_size(to->dtype);
    memcpy((char *)to->data + (size_t)to_first * size, (const char *)from->data + (size_t)from_first * size, (size_t)count * size);
    return true;
  }
  for (int64_t i = 0; i < count; i++) {
    if (to->dtype == DT_STRING) {
      TRY(tstring_copy(&tensor_strings(to)[to_first + i], &tensor_strings(from)[from_first + i], status));
    } else {
      TensorObject *object = ((TensorObject **)from->data)[from_first + i];
      if (object != NULL) tensor_object_ref(object);
      ((TensorObject **)to->data)[to_first + i] = object;
    }
  }
  return true;
}

/* Finds the one shape that all items have. */
static bool stacked_shape(const TensorList *list, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  char a[SHAPE_TEXT_CAPACITY];
  for (int64_t i = 0; i < list->items->count && i < list->length; i++) {
    Tensor item = {0};
    TRY(item_of(list, i, &item, status));
    if (tensor_is_empty(&item)) continue;
    bool fits = *rank < 0 || *rank == item.shape.rank;
    for (int d = 0; fits && d < item.shape.rank; d++) {
      int64_t dim = shape_dim(&item.shape, d);
      fits = *rank < 0 || dims[d] < 0 || dims[d] == dim;
      dims[d] = dim;
    }
    if (fits) *rank = item.shape.rank;
    else status_invalid(status, "Tried to stack list with elements of different shapes; element %lld has shape %s", (long long)i,
                        shape_text(&item.shape, a));
    tensor_clear(&item);
    if (!fits) return false;
  }
  return true;
}

static bool refuse_stack(const char *what, int rank, const int64_t *dims, Status *status) {
  StrBuf text = {0};
  print_shape(rank, dims, &text);
  status_invalid(status, "%s: %s", what, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool stack_list(KernelContext *context, Status *status) {
  TensorList *list = NULL;
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  TRY(get_list(context, "op", &list, status));
  TRY(read_shape(context->inputs[1], &rank, dims, status));
  TRY(merge_shape(list, &rank, dims, status));
  int64_t wanted = ((const ListState *)context->state)->num_elements;
  if (wanted >= 0 && wanted != list->length) {
    return status_invalid(status, "Operation expected a list with %lld elements but got a list with %lld elements.",
                          (long long)wanted, (long long)list->length);
  }
  if (list->length == 0 && !shape_known(rank, dims))
    return refuse_stack("Tried to stack elements of an empty list with non-fully-defined element_shape", rank, dims, status);
  TRY(stacked_shape(list, &rank, dims, status));
  if (!shape_known(rank, dims))
    return refuse_stack("Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element shape", rank,
                        dims, status);
  if (rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  int64_t all[SHAPE_MAX_RANK];
  all[0] = list->length;
  for (int i = 0; i < rank; i++) all[i + 1] = dims[i];
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank + 1, all, &out, status));
  int64_t size = list->length == 0 ? 0 : tensor_num_elements(out) / list->length;
  if (dtype_is_pod(out->dtype) && list->items->count < list->length) memset(out->data, 0, (size_t)tensor_bytes(out));
  for (int64_t i = 0; i < list->length && i < list->items->count; i++) {
    Tensor item = {0};
    TRY(item_of(list, i, &item, status));
    if (!tensor_is_empty(&item)) {
      bool ok = copy_elements(&item, 0, out, i * size, size, status);
      tensor_clear(&item);
      TRY(ok);
    } else if (dtype_is_pod(out->dtype)) {
      memset((char *)out->data + (size_t)(i * size) * dtype_size(out->dtype), 0, (size_t)size * dtype_size(out->dtype));
    }
  }
  return true;
}

static bool from_tensor(KernelContext *context, Status *status) {
  const Tensor *tensor = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int rank;
  int64_t dims[SHAPE_MAX_RANK], own[SHAPE_MAX_RANK];
  if (tensor->shape.rank < 1)
    return status_invalid(status, "Tensor must be at least a vector, but saw shape: %s", shape_text(&tensor->shape, text));
  TRY(read_shape(context->inputs[1], &rank, dims, status));
  int own_rank = tensor->shape.rank - 1;
  bool fits = rank < 0 || rank == own_rank;
  for (int i = 0; i < own_rank; i++) {
    own[i] = shape_dim(&tensor->shape, i + 1);
    fits = fits && (rank < 0 || dims[i] < 0 || dims[i] == own[i]);
  }
  if (!fits) {
    StrBuf want = {0};
    print_shape(rank, dims, &want);
    status_invalid(status, "Specified a list with shape %s from a tensor with shape %s", strbuf_text(&want),
                   shape_text(&tensor->shape, text));
    strbuf_free(&want);
    return false;
  }
  int64_t length = shape_dim(&tensor->shape, 0), size = length == 0 ? 0 : tensor_num_elements(tensor) / length;
  if (length > INT32_MAX) return status_set(status, CODE_RESOURCE_EXHAUSTED, "A list has too many elements");
  TensorList like = {.dtype = tensor->dtype, .rank = rank, .dims = dims, .max_length = -1};
  TensorList *list = new_like(&like, new_items(), length, status);
  bool ok = list != NULL && check_depth(tensor, &list->depth, status) && extend_items(list->items, length, status);
  if (ok) list->items->claimed = length;
  for (int64_t i = 0; ok && i < length; i++) {
    ok = tensor_allocate_dims(&list->items->items[i], tensor->dtype, own_rank, own, context->pool, status) &&
         copy_elements(tensor, i * size, &list->items->items[i], 0, size, status);
  }
  if (ok) return set_list(context, 0, list, status);
  drop_list(list);
  return false;
}

/* --- shapes --- */

/* Output 0 is a list of elements of that shape. */
static bool give_handle(InferenceContext *c, ShapeHandle shape, Status *status) {
  ShapeAndType entry = {.shape = shape};
  ShapeHandle scalar;
  TRY(node_attr_type(c->node, "element_dtype", &entry.dtype, status));
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  return shape_set_output_handle(c, 0, &entry, 1, status);
}

/* What is known of the elements of input 0. */
static bool element_shape_of(InferenceContext *c, ShapeHandle *shape, Status *status) {
  DataType dtype;
  const HandleData *handle = c->input_handles == NULL ? NULL : c->input_handles[0];
  TRY(shape_ok(shape_unknown(c), shape, status));
  TRY(node_attr_type(c->node, "element_dtype", &dtype, status));
  if (handle == NULL || handle->count != 1) return true;
  if (handle->entries[0].dtype != DT_INVALID && handle->entries[0].dtype != dtype) {
    return status_invalid(status, "Expected list with element dtype %s but got list with element dtype %s", dtype_name(dtype),
                          dtype_name(handle->entries[0].dtype));
  }
  *shape = handle->entries[0].shape;
  return true;
}

/* Merged with what input `i` says. */
static bool element_shape_with(InferenceContext *c, int i, ShapeHandle *shape, Status *status) {
  ShapeHandle known, said;
  TRY(element_shape_of(c, &known, status));
  TRY(shape_from_input_tensor_or_scalar(c, i, &said, status));
  return shape_merge(c, known, said, shape, status);
}

static bool new_list_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor_or_scalar(c, 0, &shape, status));
  return give_handle(c, shape, status);
}

static bool push_back_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(element_shape_of(c, &shape, status));
  return give_handle(c, shape, status);
}

static bool pop_back_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(element_shape_with(c, 1, &shape, status));
  shape_set_output(c, 1, shape);
  return give_handle(c, shape, status);
}

static bool get_item_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(element_shape_with(c, 2, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

static bool stack_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape, first;
  int64_t count;
  TRY(element_shape_with(c, 1, &shape, status));
  TRY(node_attr_int(c->node, "num_elements", &count, status));
  TRY(shape_ok(shape_vector(c, count < 0 ? dim_unknown(c) : dim_make(c, count)), &first, status));
  TRY(shape_concatenate(c, first, shape, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

static bool from_tensor_shape(InferenceContext *c, Status *status) {
  ShapeHandle said, own;
  TRY(shape_from_input_tensor_or_scalar(c, 1, &said, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &own, status));
  TRY(shape_subshape(c, own, 1, INT64_MAX, 1, &own, status));
  TRY(shape_merge(c, own, said, &own, status));
  return give_handle(c, own, status);
}

static bool scalar_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  return true;
}

/* --- ops --- */

#define LIST_STATE .state_size = sizeof(ListState), .construct = list_construct

REGISTER_OP(EmptyTensorList,
  .inputs = {"element_shape: shape_type", "max_num_elements: int32"},
  .outputs = {"handle: variant"},
  .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
  .shape = new_list_shape,
  .gradient = NO_GRADIENT,
  LIST_STATE,
  .kernels = {{DT_INVALID, empty_list}})

REGISTER_OP(TensorListReserve,
  .inputs = {"element_shape: shape_type", "num_elements: int32"},
  .outputs = {"handle: variant"},
  .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
  .shape = new_list_shape,
  .gradient = NO_GRADIENT,
  LIST_STATE,
  .kernels = {{DT_INVALID, reserve_list}})

REGISTER_OP(TensorListPushBack,
  .inputs = {"input_handle: variant", "tensor: element_dtype"},
  .outputs = {"output_handle: variant"},
  .attrs = {"element_dtype: type"},
  .shape = push_back_shape,
  .gradient =
    "TensorListPushBackGradient[element_dtype:type](input_handle:variant, tensor:element_dtype, dlist:variant) -> "
    "(dinput:variant, dtensor:element_dtype) {\n"
    "  any = Const[dtype=int32, value=-1]()\n"
    "  d = TensorListPopBack[element_dtype=$element_dtype](dlist, any:output)\n"
    "  return dinput = d:output_handle, dtensor = d:tensor\n"
    "}\n",
  LIST_STATE,
  .kernels = {{DT_INVALID, push_back}})

REGISTER_OP(TensorListPopBack,
  .inputs = {"input_handle: variant", "element_shape: int32"},
  .outputs = {"output_handle: variant", "tensor: element_dtype"},
  .attrs = {"element_dtype: type"},
  .shape = pop_back_shape,
  .gradient =
    "TensorListPopBackGradient[element_dtype:type](input_handle:variant, element_shape:int32, dlist:variant, dtensor:element_dtype) -> "
    "(dinput:variant, dshape:int32) {\n"
    "  d = TensorListPushBack[element_dtype=$element_dtype](dlist, dtensor)\n"
    "  z = ZerosLike[T=int32](element_shape)\n"
    "  return dinput = d:output_handle, dshape = z:y\n"
    "}\n",
  LIST_STATE,
  .kernels = {{DT_INVALID, pop_back}})

REGISTER_OP(TensorListGetItem,
  .inputs = {"input_handle: variant", "index: int32", "element_shape: int32"},
  .outputs = {"item: element_dtype"},
  .attrs = {"element_dtype: type"},
  .shape = get_item_shape,
  .gradient =
    "TensorListGetItemGradient[element_dtype:type](input_handle:variant, index:int32, element_shape:int32, ditem:element_dtype) -> "
    "(dinput:variant, dindex:int32, dshape:int32) {\n"
    "  none = ZerosLike[T=variant](input_handle)\n"
    "  d = TensorListSetItem[element_dtype=$element_dtype](none:y, index, ditem)\n"
    "  i = ZerosLike[T=int32](index)\n"
    "  s = ZerosLike[T=int32](element_shape)\n"
    "  return dinput = d:output_handle, dindex = i:y, dshape = s:y\n"
    "}\n",
  LIST_STATE,
  .kernels = {{DT_INVALID, get_item}})

REGISTER_OP(TensorListSetItem,
  .inputs = {"input_handle: variant", "index: int32", "item: element_dtype"},
  .outputs = {"output_handle: variant"},
  .attrs = {"element_dtype: type"},
  .shape = push_back_shape,
  .gradient =
    "TensorListSetItemGradient[element_dtype:type](input_handle:variant, index:int32, item:element_dtype, dlist:variant) -> "
    "(dinput:variant, dindex:int32, ditem:element_dtype) {\n"
    "  none = ZerosLike[T=$element_dtype](item)\n"
    "  d = TensorListSetItem[element_dtype=$element_dtype](dlist, index, none:y)\n"
    "  i = ZerosLike[T=int32](index)\n"
    "  s = Shape[T=$element_dtype](item)\n"
    "  x = TensorListGetItem[element_dtype=$element_dtype](dlist, index, s:output)\n"
    "  return dinput = d:output_handle, dindex = i:y, ditem = x:item\n"
    "}\n",
  LIST_STATE,
  .kernels = {{DT_INVALID, set_item}})

REGISTER_OP(TensorListLength,
  .inputs = {"input_handle: variant"},
  .outputs = {"length: int32"},
  .shape = scalar_shape,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_INVALID, list_length}})

REGISTER_OP(TensorListElementShape,
  .inputs = {"input_handle: variant"},
  .outputs = {"element_shape: shape_type"},
  .attrs = {"shape_type: {int32, int64}"},
  .shape = shape_unknown_outputs,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_INVALID, element_shape}})

REGISTER_OP(TensorListStack,
  .inputs = {"input_handle: variant", "element_shape: int32"},
  .outputs = {"tensor: element_dtype"},
  .attrs = {"element_dtype: type", "num_elements: int = -1"},
  .shape = stack_shape,
  .gradient =
    "TensorListStackGradient[element_dtype:type](input_handle:variant, element_shape:int32, dtensor:element_dtype) -> "
    "(dinput:variant, dshape:int32) {\n"
    "  d = TensorListFromTensor[element_dtype=$element_dtype, shape_type=int32](dtensor, element_shape)\n"
    "  z = ZerosLike[T=int32](element_shape)\n"
    "  return dinput = d:output_handle, dshape = z:y\n"
    "}\n",
  LIST_STATE,
  .kernels = {{DT_INVALID, stack_list}})

REGISTER_OP(TensorListFromTensor,
  .inputs = {"tensor: element_dtype", "element_shape: shape_type"},
  .outputs = {"output_handle: variant"},
  .attrs = {"element_dtype: type", "shape_type: {int32, int64}"},
  .shape = from_tensor_shape,
  .gradient =
    "TensorListFromTensorGradient[element_dtype:type, shape_type:type](tensor:element_dtype, element_shape:shape_type, dlist:variant) -> "
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
  LIST_STATE,
  .kernels = {{DT_INVALID, from_tensor}})
