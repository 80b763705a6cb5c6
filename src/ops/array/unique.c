/* Unique: the distinct elements of a vector, or slices along an axis, in the order of their first occurrence;
 * ListDiff: the elements of one vector that another lacks. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

/* --- words --- */

/* A number that stands for an element, the same for equal ones: numbers have words of their own, those of
 * strings are hashes. */
typedef uint64_t Word;

static Word mix(Word x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static Word word_of_string(const char *bytes, size_t length) {
  Word hash = length;
  while (length > 0) {
    Word word = 0;
    size_t step = length < sizeof word ? length : sizeof word;
    memcpy(&word, bytes, step);
    hash = mix(hash + 0x9e3779b97f4a7c15u + word);
    bytes += step;
    length -= step;
  }
  return hash;
}

/* -0 equals 0, and a NaN equals nothing: each has another one's word. */
static inline Word word_of_float(double value, int64_t nan) {
  Word word, nans = UINT64_C(0x7ff8) << 48;
  memcpy(&word, &value, sizeof word);
  return value == 0 ? 0 : value != value ? nans + (Word)nan : word;
}

/* The words of elements [first, first + count); a NaN that is the first has number `nan`. */
static void find_words(const Tensor *x, int64_t first, int64_t count, int64_t nan, Word *words) {
  size_t size = dtype_size(x->dtype);
  const char *data = (const char *)x->data + (size_t)first * size;
  if (x->dtype == DT_STRING) {
    for (int64_t i = 0; i < count; i++) {
      Str text = tstring_view(&tensor_strings(x)[first + i]);
      words[i] = word_of_string(text.data, text.length);
    }
  } else if (x->dtype == DT_FLOAT) {
    for (int64_t i = 0; i < count; i++) words[i] = word_of_float((double)((const float *)data)[i], nan + i);
  } else if (dtype_is_floating(x->dtype)) {
    for (int64_t i = 0; i < count; i++) words[i] = word_of_float(tensor_double_at(x, first + i), nan + i);
  } else if (size == sizeof(int32_t)) {
    for (int64_t i = 0; i < count; i++) words[i] = ((const uint32_t *)data)[i];
  } else if (size == sizeof(int64_t)) {
    memcpy(words, data, (size_t)count * size);
  } else {
    for (int64_t i = 0; i < count; i++)
      memcpy(memset(&words[i], 0, sizeof words[i]), data + (size_t)i * size, size);
  }
}

enum { WORD_BLOCK = 256 };

/* Reads the words of a tensor from the first to the last. */
typedef struct WordReader {
  const Tensor *x;
  int64_t count; /* of elements */
  int64_t nan;   /* NaN of element i has the word of NaN number nan + i */
  Word block[WORD_BLOCK];
} WordReader;

static inline Word word_at(WordReader *reader, int64_t i) {
  int64_t k = i % WORD_BLOCK, left = reader->count - i;
  if (k == 0) find_words(reader->x, i, left < WORD_BLOCK ? left : WORD_BLOCK, reader->nan + i, reader->block);
  return reader->block[k];
}

static bool strings_equal(const Tensor *a, int64_t i, const Tensor *b, int64_t k) {
  Str x = tstring_view(&tensor_strings(a)[i]), y = tstring_view(&tensor_strings(b)[k]);
  return x.length == y.length && (x.length == 0 || memcmp(x.data, y.data, x.length) == 0);
}

/* --- a set of words: open addressing --- */

typedef struct Slot {
  Word word;
  int64_t number; /* of the member, given by who adds it; -1: free */
} Slot;

typedef struct WordSet {
  Buffer *buffer;
  Slot *slots;
  int bits; /* 2^bits slots */
  int64_t count;
  /* Whether what has the word of member `number` is equal, `i` being the caller's; NULL: words tell. */
  bool (*same)(const void *arg, int64_t i, int64_t number);
  const void *arg;
} WordSet;

static bool set_allocate(KernelContext *context, int bits, WordSet *set, Status *status) {
  int64_t size = INT64_C(1) << bits;
  set->buffer = kernel_scratch(context, size * (int64_t)sizeof(Slot), status);
  if (!set->buffer) return false;
  set->slots = set->buffer->data;
  set->bits = bits;
  for (int64_t i = 0; i < size; i++) set->slots[i].number = -1;
  return true;
}

/* The slot of a word, and the one to try if another word has it. All bits of the word count: floats may
 * differ in high ones only. */
static inline uint64_t first_slot(const WordSet *set, Word word) {
  word *= 0x9e3779b97f4a7c15u;
  return ((word ^ word >> 32) * 0xbf58476d1ce4e5b9u) >> (64 - set->bits);
}
static inline uint64_t next_slot(const WordSet *set, uint64_t at) {
  return (at + 1) & ((UINT64_C(1) << set->bits) - 1);
}

/* The slot of the member that is equal to `i`, or the free slot for it. */
static inline Slot *set_find(const WordSet *set, Word word, int64_t i) {
  for (uint64_t at = first_slot(set, word);; at = next_slot(set, at)) {
    Slot *slot = &set->slots[at];
    if (slot->number < 0 || (slot->word == word && (!set->same || set->same(set->arg, i, slot->number))))
      return slot;
  }
}

/* Makes a free slot a member's. The set grows with its members, so that few of them stay in the cache. */
static bool set_add(KernelContext *context, WordSet *set, Slot *slot, Word word, int64_t number,
                    Status *status) {
  *slot = (Slot){word, number};
  int64_t size = INT64_C(1) << set->bits;
  if (++set->count <= size / 2) return true;
  WordSet old = *set;
  if (!set_allocate(context, set->bits + 1, set, status)) {
    *set = old;
    return false;
  }
  for (int64_t i = 0; i < size; i++) {
    if (old.slots[i].number < 0) continue;
    uint64_t at = first_slot(set, old.slots[i].word);
    while (set->slots[at].number >= 0) at = next_slot(set, at);
    set->slots[at] = old.slots[i];
  }
  buffer_unref(old.buffer);
  return true;
}

enum { FIRST_BITS = 10 };

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

/* The words of some elements of slice `i`, element `k` and others behind it. Returns how many. */
static int64_t slice_words(const Slices *s, int64_t i, int64_t k, Word words[WORD_BLOCK]) {
  int64_t at = slice_element(s, i, k), count = s->inner - k % s->inner;
  if (count > WORD_BLOCK) count = WORD_BLOCK;
  find_words(s->x, at, count, at, words);
  return count;
}

static Word word_of_slice(const Slices *s, int64_t i) {
  Word words[WORD_BLOCK], hash = 0;
  for (int64_t k = 0, count; k < s->outer * s->inner; k += count) {
    count = slice_words(s, i, k, words);
    for (int64_t j = 0; j < count; j++) hash = mix(hash + words[j]);
  }
  return hash;
}

static bool slices_equal(const Slices *s, int64_t i, int64_t other) {
  Word a[WORD_BLOCK], b[WORD_BLOCK];
  int64_t size = s->outer * s->inner;
  for (int64_t k = 0, count; k < size && s->x->dtype != DT_STRING; k += count) {
    count = slice_words(s, i, k, a);
    slice_words(s, other, k, b);
    if (memcmp(a, b, (size_t)count * sizeof *a) != 0) return false;
  }
  for (int64_t k = 0; k < size && s->x->dtype == DT_STRING; k++) {
    if (!strings_equal(s->x, slice_element(s, i, k), s->x, slice_element(s, other, k))) return false;
  }
  return true;
}

/* The distinct slices so far. */
typedef struct Distinct {
  const Slices *slices;
  int64_t *rows; /* the first occurrence of each */
} Distinct;

static bool is_distinct_slice(const void *arg, int64_t i, int64_t number) {
  const Distinct *distinct = arg;
  return slices_equal(distinct->slices, i, distinct->rows[number]);
}

/* index[i]: the distinct slice of slice i. */
static bool find_unique(KernelContext *context, const Distinct *distinct, WordSet *set, Tensor *index,
                        Status *status) {
  const Slices *s = distinct->slices;
  bool single = s->outer * s->inner == 1;
  WordReader words = {.x = s->x, .count = s->count};
  for (int64_t i = 0; i < s->count; i++) {
    Word word = single ? word_at(&words, i) : word_of_slice(s, i);
    Slot *slot = set_find(set, word, i);
    int64_t number = slot->number;
    if (number < 0) {
      number = set->count;
      distinct->rows[number] = i;
      TRY(set_add(context, set, slot, word, number, status));
    }
    put_index(index, i, number);
  }
  return true;
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

static bool put_counts(KernelContext *context, const Tensor *index, int64_t count, Status *status) {
  Tensor *out;
  if (context->num_outputs < 3) return true;
  TRY(kernel_allocate_output_dims(context, 2, 1, &count, &out, status));
  array_clear(out);
  bool narrow = out->dtype == DT_INT32;
  for (int64_t i = 0, n = tensor_num_elements(index); i < n; i++) {
    if (narrow) tensor_i32(out)[tensor_i32(index)[i]]++;
    else tensor_i64(out)[tensor_i64(index)[i]]++;
  }
  return true;
}

static bool unique_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  int axis;
  Slices slices;
  TRY(too_many(tensor_num_elements(x), context->output_types[1], status));
  TRY(read_axis(context, &axis, status));
  TRY(slices_of(x, axis, &slices, status));
  Tensor *index;
  Distinct distinct = {.slices = &slices};
  bool words_tell = x->dtype != DT_STRING && slices.outer * slices.inner == 1;
  WordSet set = {.same = words_tell ? NULL : is_distinct_slice, .arg = &distinct};
  TRY(kernel_allocate_output_dims(context, 1, 1, &slices.count, &index, status));
  Buffer *buffer = array_row_numbers(context, slices.count, &distinct.rows, status);
  bool ok = buffer && set_allocate(context, FIRST_BITS, &set, status) &&
            find_unique(context, &distinct, &set, index, status) &&
            put_slices(context, &slices, axis, distinct.rows, set.count, status) &&
            put_counts(context, index, set.count, status);
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

/* Whether element `i` of the first of two tensors of strings is element `number` of the second. */
static bool is_member(const void *arg, int64_t i, int64_t number) {
  const Tensor *const *pair = arg;
  return strings_equal(pair[0], i, pair[1], number);
}

static bool add_all(KernelContext *context, const Tensor *x, int64_t nan, WordSet *set, Status *status) {
  WordReader words = {.x = x, .count = tensor_num_elements(x), .nan = nan};
  for (int64_t i = 0; i < words.count; i++) {
    Word word = word_at(&words, i);
    Slot *slot = set_find(set, word, i);
    if (slot->number < 0) TRY(set_add(context, set, slot, word, i, status));
  }
  return true;
}

static int64_t find_others(const Tensor *x, const WordSet *set, int64_t *rows) {
  WordReader words = {.x = x, .count = tensor_num_elements(x)};
  int64_t count = 0;
  for (int64_t i = 0; i < words.count; i++) {
    rows[count] = i;
    count += set_find(set, word_at(&words, i), i)->number < 0;
  }
  return count;
}

static bool list_diff_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *y = context->inputs[1], *pair[] = {y, y};
  if (!tensor_is_vector(x)) return status_invalid(status, "x should be a 1D vector.");
  if (!tensor_is_vector(y)) return status_invalid(status, "y should be a 1D vector.");
  int64_t n = tensor_num_elements(x), count = 0, *rows;
  TRY(too_many(n, context->output_types[1], status));
  Tensor *out, *index;
  WordSet set = {.same = x->dtype == DT_STRING ? is_member : NULL, .arg = pair};
  Buffer *buffer = array_row_numbers(context, n, &rows, status);
  bool ok = buffer && set_allocate(context, FIRST_BITS, &set, status) && add_all(context, y, n, &set, status);
  if (ok) {
    pair[0] = x;
    count = find_others(x, &set, rows);
  }
  ok = ok && kernel_allocate_output_dims(context, 0, 1, &count, &out, status) &&
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
