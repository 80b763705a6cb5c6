/* Unique: the distinct elements of a vector, in the order of their first occurrence; ListDiff: the elements
 * of one vector that another lacks. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

/* The key that decides equality: the bytes, except that -0 equals 0 and that NaN equals nothing. */
typedef struct ElementKey {
  const void *bytes;
  size_t length;
  uint64_t hash;
  bool alone; /* equals nothing */
} ElementKey;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t hash_element(const char *bytes, size_t length) {
  uint64_t hash = length;
  while (length > 0) {
    uint64_t word = 0;
    size_t step = length < sizeof word ? length : sizeof word;
    memcpy(&word, bytes, step);
    hash = mix(hash + 0x9e3779b97f4a7c15u + word);
    bytes += step;
    length -= step;
  }
  return hash;
}

static ElementKey key_at(const Tensor *x, int64_t i) {
  static const char zero[16] = {0};
  ElementKey key = {0};
  if (x->dtype == DT_STRING) {
    Str view = tstring_view(&tensor_strings(x)[i]);
    key.bytes = view.data;
    key.length = view.length;
  } else {
    key.length = dtype_size(x->dtype);
    key.bytes = (const char *)x->data + i * (int64_t)key.length;
    if (dtype_is_floating(x->dtype)) {
      double value = tensor_double_at(x, i);
      if (value == 0) key.bytes = zero;
      key.alone = value != value;
    }
  }
  /* Spreads elements that equal nothing over the slots. */
  key.hash = key.alone ? mix((uint64_t)i) : hash_element(key.bytes, key.length);
  return key;
}

/* A set of elements by value: open addressing over element numbers. */
typedef struct ElementSet {
  Buffer *buffer;
  int64_t *slots; /* an element's number; -1: free */
  uint64_t mask;
} ElementSet;

static bool set_begin(KernelContext *context, int64_t count, ElementSet *set, Status *status) {
  int64_t size = 16;
  while (size < 2 * count) size *= 2;
  set->mask = (uint64_t)size - 1;
  set->buffer = array_row_numbers(context, size, &set->slots, status);
  if (!set->buffer) return false;
  for (int64_t i = 0; i < size; i++) set->slots[i] = -1;
  return true;
}

static bool keys_equal(const ElementKey *a, const ElementKey *b) {
  if (a->hash != b->hash || a->length != b->length || a->alone || b->alone) return false;
  return a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* The slot of an element equal to the `i`-th of `key_of`, or the free slot for it. */
static int64_t *set_find(const ElementSet *set, const Tensor *elements, const Tensor *key_of, int64_t i) {
  ElementKey key = key_at(key_of, i);
  uint64_t at = key.hash & set->mask;
  for (; set->slots[at] >= 0; at = (at + 1) & set->mask) {
    ElementKey other = key_at(elements, set->slots[at]);
    if (keys_equal(&key, &other)) break;
  }
  return &set->slots[at];
}

static void put_index(Tensor *out, int64_t i, int64_t value) {
  if (out->dtype == DT_INT32) {
    tensor_i32(out)[i] = (int32_t)value;
  } else {
    tensor_i64(out)[i] = value;
  }
}

/* --- Unique --- */

static bool too_many(int64_t count, DataType index, Status *status) {
  if (index == DT_INT64 || count <= INT32_MAX) return true;
  return status_invalid(status, "unique does not support input tensors larger than %d elements", INT32_MAX);
}

/* rows[k]: the first occurrence of distinct element k; numbers[i]: the distinct element of element i. Returns
 * the number of distinct elements. */
static int64_t find_unique(const Tensor *x, const ElementSet *set, int64_t *rows, int64_t *numbers) {
  int64_t count = 0;
  for (int64_t i = 0; i < tensor_num_elements(x); i++) {
    int64_t *slot = set_find(set, x, x, i);
    if (*slot < 0) {
      *slot = i;
      numbers[i] = count;
      rows[count++] = i;
    } else {
      numbers[i] = numbers[*slot];
    }
  }
  return count;
}

static bool unique_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  if (!tensor_is_vector(x)) return status_invalid(status, "unique expects a 1D vector.");
  int64_t n = tensor_num_elements(x), count = 0, *rows;
  TRY(too_many(n, context->output_types[1], status));
  Tensor *y, *index;
  ElementSet set;
  TRY(kernel_allocate_output(context, 1, &x->shape, &index, status));
  TRY(set_begin(context, n, &set, status));
  Buffer *buffer = array_row_numbers(context, 2 * n, &rows, status);
  if (buffer) count = find_unique(x, &set, rows, rows + n);
  bool ok = buffer && kernel_allocate_output_dims(context, 0, 1, &count, &y, status) &&
            array_gather_rows(x, rows, count, 1, y, context->parallel, status);
  for (int64_t i = 0; ok && i < n; i++) put_index(index, i, rows[n + i]);
  buffer_unref(buffer);
  buffer_unref(set.buffer);
  return ok;
}

static bool unique_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, y;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &x, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &y, status));
  shape_set_output(c, 0, y);
  shape_set_output(c, 1, shape_input(c, 0));
  return true;
}

const OpRegistration kOpUnique = {
    .name = "Unique",
    .inputs = {"x: T"},
    .outputs = {"y: T", "idx: out_idx"},
    .attrs = {"T: type", "out_idx: {int32, int64} = DT_INT32"},
    .shape = unique_shape,
    .gradient = NO_GRADIENT,
    .kernels = {REAL_KERNELS(unique_kernel), {DT_BOOL, unique_kernel}, {DT_STRING, unique_kernel}},
};

/* --- ListDiff --- */

static bool list_diff_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *y = context->inputs[1];
  if (!tensor_is_vector(x)) return status_invalid(status, "x should be a 1D vector.");
  if (!tensor_is_vector(y)) return status_invalid(status, "y should be a 1D vector.");
  int64_t n = tensor_num_elements(x), count = 0, *rows;
  TRY(too_many(n, context->output_types[1], status));
  Tensor *out, *index;
  ElementSet set;
  TRY(set_begin(context, tensor_num_elements(y), &set, status));
  for (int64_t i = 0; i < tensor_num_elements(y); i++) *set_find(&set, y, y, i) = i;
  Buffer *buffer = array_row_numbers(context, n, &rows, status);
  for (int64_t i = 0; buffer && i < n; i++) {
    if (*set_find(&set, y, x, i) < 0) rows[count++] = i;
  }
  bool ok = buffer && kernel_allocate_output_dims(context, 0, 1, &count, &out, status) &&
            kernel_allocate_output_dims(context, 1, 1, &count, &index, status) &&
            array_gather_rows(x, rows, count, 1, out, context->parallel, status);
  for (int64_t i = 0; ok && i < count; i++) put_index(index, i, rows[i]);
  buffer_unref(buffer);
  buffer_unref(set.buffer);
  return ok;
}

static bool list_diff_shape(InferenceContext *c, Status *status) {
  ShapeHandle x, output;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &x, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &x, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &output, status));
  shape_set_output(c, 0, output);
  shape_set_output(c, 1, output);
  return true;
}

const OpRegistration kOpListDiff = {
    .name = "ListDiff",
    .inputs = {"x: T", "y: T"},
    .outputs = {"out: T", "idx: out_idx"},
    .attrs = {"T: type", "out_idx: {int32, int64} = DT_INT32"},
    .shape = list_diff_shape,
    .gradient = NO_GRADIENT,
    .kernels = {REAL_KERNELS(list_diff_kernel), {DT_BOOL, list_diff_kernel}, {DT_STRING, list_diff_kernel}},
};
