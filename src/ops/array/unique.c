/* Unique: the distinct elements of a vector, or slices along an axis, in the order of their first occurrence;
 * ListDiff: the elements of one vector that another lacks. */
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

/* The slices of x along an axis. Elements are slices of one element. */
typedef struct Slices {
  const Tensor *x;
  int64_t outer, count, inner;
} Slices;

static bool slices_of(const Tensor *x, int axis, Slices *slices, Status *status) {
  *slices = (Slices){.x = x, .outer = 1, .count = shape_dim(&x->shape, axis), .inner = 1};
  for (int i = 0; i < x->shape.rank; i++) {
    int64_t *part = i < axis ? &slices->outer : &slices->inner;
    if (i == axis || !__builtin_mul_overflow(*part, shape_dim(&x->shape, i), part)) continue;
    return status_invalid(status, "The slices have more than 2**63 - 1 elements");
  }
  return true;
}

/* Element `k` of slice `i`. */
static int64_t slice_element(const Slices *s, int64_t i, int64_t k) {
  return (k / s->inner * s->count + i) * s->inner + k % s->inner;
}

static uint64_t hash_slice(const Slices *s, int64_t i) {
  uint64_t hash = 0;
  for (int64_t k = 0; k < s->outer * s->inner; k++)
    hash = mix(hash + key_at(s->x, slice_element(s, i, k)).hash);
  return hash;
}

static bool slices_equal(const Slices *s, int64_t i, int64_t other) {
  for (int64_t k = 0; k < s->outer * s->inner; k++) {
    ElementKey a = key_at(s->x, slice_element(s, i, k)), b = key_at(s->x, slice_element(s, other, k));
    if (!keys_equal(&a, &b)) return false;
  }
  return true;
}

/* rows[k]: the first occurrence of distinct slice k; numbers[i]: the distinct slice of slice i. Returns the
 * number of distinct slices. */
static int64_t find_unique(const Slices *s, const ElementSet *set, int64_t *rows, int64_t *numbers) {
  int64_t count = 0;
  for (int64_t i = 0; i < s->count; i++) {
    uint64_t at = hash_slice(s, i) & set->mask;
    while (set->slots[at] >= 0 && !slices_equal(s, i, set->slots[at])) at = (at + 1) & set->mask;
    if (set->slots[at] < 0) {
      set->slots[at] = i;
      numbers[i] = count;
      rows[count++] = i;
    } else {
      numbers[i] = numbers[set->slots[at]];
    }
  }
  return count;
}

/* The axis of UniqueV2: none is given for a vector. */
static bool read_axis(const KernelContext *context, int *axis, Status *status) {
  const Tensor *x = context->inputs[0], *given = context->num_inputs > 1 ? context->inputs[1] : NULL;
  *axis = 0;
  if (!given || tensor_num_elements(given) == 0)
    return tensor_is_vector(x) || status_invalid(status, "unique expects a 1D vector.");
  if (!tensor_is_vector(given)) return status_invalid(status, "axis expects a 1D vector.");
  if (tensor_num_elements(given) > 1) {
    return status_invalid(status, "axis does not support input tensors larger than 1 elements");
  }
  int64_t at = tensor_int_at(given, 0);
  if (at < 0) at += x->shape.rank;
  if (at < 0 || at >= x->shape.rank)
    return status_invalid(status, "axis has to be between [0, %d)", x->shape.rank);
  *axis = (int)at;
  return true;
}

/* Output 0: the distinct slices. */
static bool put_slices(KernelContext *context, const Slices *s, int axis, const int64_t *rows, int64_t count,
                       Status *status) {
  int64_t dims[SHAPE_MAX_RANK], *all;
  Tensor *y;
  for (int i = 0; i < s->x->shape.rank; i++) dims[i] = shape_dim(&s->x->shape, i);
  dims[axis] = count;
  TRY(kernel_allocate_output_dims(context, 0, s->x->shape.rank, dims, &y, status));
  if (tensor_num_elements(y) == 0) return true;
  if (s->outer == 1) return array_gather_rows(s->x, rows, count, s->inner, y, context->parallel, status);
  Buffer *buffer = array_row_numbers(context, s->outer * count, &all, status);
  if (!buffer) return false;
  for (int64_t i = 0; i < s->outer * count; i++) all[i] = i / count * s->count + rows[i % count];
  bool ok = array_gather_rows(s->x, all, s->outer * count, s->inner, y, context->parallel, status);
  buffer_unref(buffer);
  return ok;
}

static bool put_counts(KernelContext *context, const int64_t *numbers, int64_t n, int64_t count,
                       Status *status) {
  Tensor *out;
  if (context->num_outputs < 3) return true;
  TRY(kernel_allocate_output_dims(context, 2, 1, &count, &out, status));
  for (int64_t i = 0; i < count; i++) put_index(out, i, 0);
  for (int64_t i = 0; i < n; i++) put_index(out, numbers[i], tensor_int_at(out, numbers[i]) + 1);
  return true;
}

static bool unique_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  int axis;
  Slices slices;
  TRY(too_many(tensor_num_elements(x), context->output_types[1], status));
  TRY(read_axis(context, &axis, status));
  TRY(slices_of(x, axis, &slices, status));
  int64_t n = slices.count, count = 0, *rows;
  Tensor *index;
  ElementSet set;
  TRY(kernel_allocate_output_dims(context, 1, 1, &n, &index, status));
  TRY(set_begin(context, n, &set, status));
  Buffer *buffer = array_row_numbers(context, 2 * n, &rows, status);
  if (buffer) count = find_unique(&slices, &set, rows, rows + n);
  bool ok = buffer && put_slices(context, &slices, axis, rows, count, status) &&
            put_counts(context, rows + n, n, count, status);
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
  if (c->num_outputs > 2) shape_set_output(c, 2, y);
  return true;
}

/* Output 0 has another size along the axis, if that is known. */
static bool unique_v2_shape(InferenceContext *c, Status *status) {
  ShapeHandle x = shape_input(c, 0), vector, axes;
  const Tensor *given = shape_input_tensor(c, 1);
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &axes, status));
  TRY(shape_unknown_outputs(c, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &vector, status));
  for (int i = 1; i < c->num_outputs; i++)
    TRY(shape_ok(shape_vector(c, dim_unknown(c)), &c->outputs[i], status));
  if (!given || !shape_rank_known(x)) return true;
  int64_t axis = 0, count = tensor_num_elements(given);
  if (count == 0) TRY(shape_with_rank(c, x, 1, &x, status));
  if (count > 1) return status_invalid(status, "axis does not support input tensors larger than 1 elements");
  if (count == 1) axis = tensor_int_at(given, 0);
  if (axis < 0) axis += shape_rank(x);
  if (axis < 0 || axis >= shape_rank(x))
    return status_invalid(status, "axis expects to be in the range [%d, %d). got: %lld", -shape_rank(x),
                          shape_rank(x), (long long)tensor_int_at(given, 0));
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, x, axis)), &vector, status));
  shape_set_output(c, 1, vector);
  return shape_replace_dim(c, x, axis, dim_unknown(c), &c->outputs[0], status);
}

#define UNIQUE_KERNELS \
  REAL_KERNELS(unique_kernel), {DT_BOOL, unique_kernel}, { DT_STRING, unique_kernel }

const OpRegistration kOpUnique = {
    .name = "Unique",
    .inputs = {"x: T"},
    .outputs = {"y: T", "idx: out_idx"},
    .attrs = {"T: type", "out_idx: {int32, int64} = DT_INT32"},
    .shape = unique_shape,
    .gradient = NO_GRADIENT,
    .kernels = {UNIQUE_KERNELS},
};

const OpRegistration kOpUniqueV2 = {
    .name = "UniqueV2",
    .inputs = {"x: T", "axis: Taxis"},
    .outputs = {"y: T", "idx: out_idx"},
    .attrs = {"T: type", "Taxis: {int32, int64} = DT_INT64", "out_idx: {int32, int64} = DT_INT32"},
    .shape = unique_v2_shape,
    .gradient = NO_GRADIENT,
    .kernels = {UNIQUE_KERNELS},
};

const OpRegistration kOpUniqueWithCounts = {
    .name = "UniqueWithCounts",
    .inputs = {"x: T"},
    .outputs = {"y: T", "idx: out_idx", "count: out_idx"},
    .attrs = {"T: type", "out_idx: {int32, int64} = DT_INT32"},
    .shape = unique_shape,
    .gradient = NO_GRADIENT,
    .kernels = {UNIQUE_KERNELS},
};

const OpRegistration kOpUniqueWithCountsV2 = {
    .name = "UniqueWithCountsV2",
    .inputs = {"x: T", "axis: Taxis"},
    .outputs = {"y: T", "idx: out_idx", "count: out_idx"},
    .attrs = {"T: type", "Taxis: {int32, int64} = DT_INT64", "out_idx: {int32, int64} = DT_INT32"},
    .shape = unique_v2_shape,
    .gradient = NO_GRADIENT,
    .kernels = {UNIQUE_KERNELS},
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
