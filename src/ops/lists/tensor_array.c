#include "ops/lists/tensor_array.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/lists/tensor_array_shapes.h"
#include "ops/lists/tensor_list.h"
#include "ops/support/number_sum.h"

static const char kTensorArray[] = "TensorArray";

/* --- arrays --- */

static void clear_item(ArrayItem *item) {
  tensor_clear(&item->value);
  shape_clear(&item->shape);
}

void tensor_array_close(Resource *resource) {
  TensorArray *array = (TensorArray *)resource;
  array->closed = true;
  while (array->num_items > 0) clear_item(&array->items[--array->num_items]);
  mem_free(array->items);
  array->items = NULL;
  array->capacity = 0;
}

static void destroy_array(TensorObject *object) {
  TensorArray *array = (TensorArray *)object;
  tensor_array_close(&array->resource);
  for (TensorArray *gradient = array->gradients, *next; gradient; gradient = next) {
    next = gradient->next;
    tensor_object_unref(&gradient->resource.object);
  }
  mem_free(array->name);
  mem_free(array->source);
  mem_free(array);
}

/* Returns element `index`, which must be within the array. */
static ArrayItem *item_at(TensorArray *array, int64_t index, Status *status) {
  if (index >= array->capacity) {
    int64_t capacity = index < 4 ? 4 : 2 * index;
    if (capacity > array->count) capacity = array->count;
    if (capacity <= index) capacity = index + 1;
    ArrayItem *items = mem_realloc(array->items, capacity * (int64_t)sizeof *items);
    if (!items) {
      status_oom(status, "a tensor array");
      return NULL;
    }
    array->items = items;
    array->capacity = capacity;
  }
  for (; array->num_items <= index; array->num_items++) array->items[array->num_items] = (ArrayItem){0};
  return &array->items[index];
}

TensorArray *tensor_array_new(char *name, DataType dtype, int64_t count, Status *status) {
  TensorArray *array = mem_calloc(1, sizeof *array);
  if (!array) {
    mem_free(name);
    status_oom(status, "a tensor array");
    return NULL;
  }
  atomic_init(&array->resource.object.references, 1);
  array->resource.object.destroy = destroy_array;
  array->resource.type_name = kTensorArray;
  array->resource.close = tensor_array_close;
  array->name = name;
  array->dtype = dtype;
  array->count = count;
  array->rank = -1;
  return array;
}

bool tensor_array_find(const Tensor *handle, TensorArray **array, Status *status) {
  Resource *resource;
  TRY(tensor_resource(handle, kTensorArray, &resource, status));
  *array = (TensorArray *)resource;
  return true;
}

bool tensor_array_of(const Tensor *handle, TensorArray **array, Status *status) {
  TRY(tensor_array_find(handle, array, status));
  return !(*array)->closed ||
         status_invalid(status, "TensorArray %s has already been closed.", (*array)->name);
}

bool tensor_array_of_type(const Tensor *handle, DataType dtype, const char *verb, TensorArray **array,
                          Status *status) {
  TRY(tensor_array_of(handle, array, status));
  return (*array)->dtype == dtype || status_invalid(status, "TensorArray dtype is %s but Op %s dtype %s.",
                                                    dtype_name((*array)->dtype), verb, dtype_name(dtype));
}

/* --- shapes of elements --- */

static void set_dims(TensorArray *array, int rank, const int64_t *dims) {
  array->rank = rank;
  for (int i = 0; i < rank; i++) array->dims[i] = dims[i];
}

bool tensor_array_merge_shape(TensorArray *array, int rank, const int64_t *dims, Status *status) {
  if (rank < 0) return true;
  bool fits = array->rank < 0 || array->rank == rank;
  for (int i = 0; fits && array->rank >= 0 && i < rank; i++)
    fits = dims[i] < 0 || array->dims[i] < 0 || dims[i] == array->dims[i];
  if (fits) {
    bool any = array->rank < 0;
    array->rank = rank;
    for (int i = 0; i < rank; i++) {
      if (any || array->dims[i] < 0) array->dims[i] = dims[i];
    }
    return true;
  }
  StrBuf own = {0}, other = {0};
  element_shape_print(array->rank, array->dims, &own);
  element_shape_print(rank, dims, &other);
  if (strbuf_ok(&own, status) && strbuf_ok(&other, status))
    status_invalid(status, "PartialTensorShape: Incompatible shapes during merge: %s vs. %s",
                   strbuf_text(&own), strbuf_text(&other));
  strbuf_free(&own);
  strbuf_free(&other);
  return false;
}

static bool refuse_shape(const TensorArray *array, int64_t index, const Shape *shape, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  StrBuf own = {0};
  element_shape_print(array->rank, array->dims, &own);
  if (strbuf_ok(&own, status))
    status_invalid(status,
                   "TensorArray %s: Could not write to TensorArray index %lld because the value shape is %s "
                   "which is incompatible with the TensorArray's inferred element shape: %s (consider "
                   "setting infer_shape=False).",
                   array->name, (long long)index, shape_text(shape, text), strbuf_text(&own));
  strbuf_free(&own);
  return false;
}

/* --- writing --- */

static bool refuse_write(const TensorArray *array, int64_t index, const char *reason, Status *status) {
  return status_invalid(status,
                        "TensorArray %s: Could not write to TensorArray index %lld because it has already "
                        "been %s.",
                        array->name, (long long)index, reason);
}

static bool sum_into(Tensor *to, const Tensor *value, Status *status) {
  const Tensor *both[] = {to, value};
  DataType type = to->dtype;
  if (!dtype_is_floating(type) && !dtype_is_integer(type) && !dtype_is_complex(type))
    return status_invalid(status, "tensor_array::AddToTensor type not supported: %s", dtype_name(type));
  return number_sum(both, 2, to, NULL, status);
}

/* Adds to an element that has been written. Its value may be empty, which means zeros. */
static bool add_to_item(const TensorArray *array, ArrayItem *item, int64_t index, const Tensor *value,
                        BufferPool *pool, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (!shape_equal(&item->shape, &value->shape))
    return status_invalid(status,
                          "TensorArray %s: Could not aggregate to TensorArray index %lld because the "
                          "existing shape is %s but the new input shape is %s.",
                          array->name, (long long)index, shape_text(&item->shape, a),
                          shape_text(&value->shape, b));
  if (tensor_is_empty(&item->value)) return tensor_assign(&item->value, value, status);
  if (!buffer_is_unshared(item->value.buffer)) TRY(tensor_copy(&item->value, &item->value, pool, status));
  return sum_into(&item->value, value, status);
}

bool tensor_array_write(TensorArray *array, int64_t index, const Tensor *value, BufferPool *pool,
                        Status *status) {
  if (index < 0 || (index >= array->count && !array->dynamic_size))
    return status_invalid(status,
                          "TensorArray %s: Tried to write to index %lld but array is not resizeable and "
                          "size is: %lld",
                          array->name, (long long)index, (long long)array->count);
  if (!array_shape_fits(array->rank, array->dims, &value->shape, 0))
    return refuse_shape(array, index, &value->shape, status);
  ArrayItem *item = item_at(array, index, status);
  if (!item) return false;
  if (index >= array->count) array->count = index + 1;
  if (item->read) return refuse_write(array, index, "read", status);
  if (item->written && !array->adds) return refuse_write(array, index, "written to", status);
  if (item->written) return add_to_item(array, item, index, value, pool, status);
  TRY(shape_copy(&item->shape, &value->shape, status));
  TRY(tensor_assign(&item->value, value, status));
  item->written = true;
  if (array->identical_shapes && !element_shape_known(array->rank, array->dims))
    set_dims(array, value->shape.rank, shape_dims(&value->shape));
  return true;
}

/* --- reading --- */

static bool refuse_unwritten(const TensorArray *array, int64_t index, Status *status) {
  StrBuf own = {0};
  element_shape_print(array->rank, array->dims, &own);
  if (strbuf_ok(&own, status))
    status_invalid(status,
                   "TensorArray %s: Could not read from TensorArray index %lld.  Furthermore, the element "
                   "shape is not fully defined: %s.  It is possible you are working with a resizeable "
                   "TensorArray and stop_gradients is not allowing the gradients to be written.  If you set "
                   "the full element_shape property on the forward TensorArray, the proper all-zeros tensor "
                   "will be returned instead of incurring this error.",
                   array->name, (long long)index, strbuf_text(&own));
  strbuf_free(&own);
  return false;
}

static bool make_zeros(const TensorArray *array, ArrayItem *item, BufferPool *pool, Status *status) {
  if (!dtype_is_pod((int)array->dtype))
    return status_invalid(status, "tensor_array::TensorSetZero type not supported: %s",
                          dtype_name(array->dtype));
  TRY(tensor_allocate(&item->value, array->dtype, &item->shape, pool, status));
  if (tensor_bytes(&item->value) > 0) memset(item->value.data, 0, (size_t)tensor_bytes(&item->value));
  return true;
}

bool tensor_array_read(TensorArray *array, int64_t index, Tensor *value, BufferPool *pool, Status *status) {
  if (index < 0 || index >= array->count)
    return status_invalid(status, "Tried to read from index %lld but array size is: %lld", (long long)index,
                          (long long)array->count);
  ArrayItem *item = item_at(array, index, status);
  if (!item) return false;
  if (item->cleared)
    return status_invalid(status,
                          "TensorArray %s: Could not read index %lld twice because it was cleared after a "
                          "previous read (perhaps try setting clear_after_read = false?).",
                          array->name, (long long)index);
  if (!item->written) {
    if (!element_shape_known(array->rank, array->dims)) return refuse_unwritten(array, index, status);
    TRY(shape_set(&item->shape, array->rank, array->dims, status));
    item->written = true;
  }
  if (tensor_is_empty(&item->value)) TRY(make_zeros(array, item, pool, status));
  item->read = true;
  if (!array->clear_after_read) return tensor_assign(value, &item->value, status);
  item->cleared = true;
  tensor_clear(value);
  tensor_move(value, &item->value);
  return true;
}

/* --- gradients --- */

/* Sets `out` to the dimensions `dims` followed by those of `shape`. */
static bool prepend(const Shape *shape, int rank, const int64_t *dims, Shape *out, Status *status) {
  int64_t all[SHAPE_MAX_RANK];
  if (rank + shape->rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int i = 0; i < rank; i++) all[i] = dims[i];
  for (int i = 0; i < shape->rank; i++) all[rank + i] = shape_dim(shape, i);
  return shape_set(out, rank + shape->rank, all, status);
}

/* The gradient of an element that has been written begins with zeros of the element's shape. */
static bool copy_shapes(const TensorArray *array, int rank, const int64_t *dims, TensorArray *gradient,
                        Status *status) {
  if (array->rank >= 0) {
    if (rank + array->rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
    set_dims(gradient, rank, dims);
    for (int i = 0; i < array->rank; i++) gradient->dims[rank + i] = array->dims[i];
    gradient->rank += array->rank;
  }
  for (int64_t i = 0; i < array->num_items; i++) {
    if (!array->items[i].written) continue;
    ArrayItem *item = item_at(gradient, i, status);
    if (!item) return false;
    TRY(prepend(&array->items[i].shape, rank, dims, &item->shape, status));
    item->written = true;
  }
  return true;
}

static TensorArray *make_gradient(const TensorArray *array, Str source, int rank, const int64_t *dims,
                                  Status *status) {
  StrBuf text = {0};
  strbuf_printf(&text, "%s@%.*s", array->name, (int)source.length, source.data);
  char *name = strbuf_ok(&text, status) ? mem_strdup(strbuf_text(&text), (size_t)text.length) : NULL;
  if (!name && !text.failed) status_oom(status, "a tensor array");
  strbuf_free(&text);
  TensorArray *made = name ? tensor_array_new(name, array->dtype, array->count, status) : NULL;
  if (!made) return NULL;
  made->identical_shapes = array->identical_shapes;
  made->adds = made->clear_after_read = true;
  made->source = mem_strdup(source.data, source.length);
  if ((made->source || status_oom(status, "a tensor array")) && copy_shapes(array, rank, dims, made, status))
    return made;
  tensor_object_unref(&made->resource.object);
  return NULL;
}

bool tensor_array_gradient(TensorArray *array, Str source, int rank, const int64_t *dims,
                           TensorArray **gradient, bool *is_new, Status *status) {
  *is_new = false;
  if (array->source)
    return status_invalid(status, "Wrong input container. _tensor_array_grads%s", array->name);
  array->dynamic_size = false;
  for (*gradient = array->gradients; *gradient; *gradient = (*gradient)->next) {
    if (str_equal(str_of((*gradient)->source), source)) return true;
  }
  *gradient = make_gradient(array, source, rank, dims, status);
  if (!*gradient) return false;
  (*gradient)->next = array->gradients;
  array->gradients = *gradient;
  *is_new = true;
  return true;
}
