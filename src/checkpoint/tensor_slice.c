#include "checkpoint/tensor_slice.h"

#include <stdio.h>
#include <string.h>

#include "base/odometer.h"
#include "checkpoint/coding.h"

void slice_full(int rank, TensorSlice *slice) {
  slice->rank = rank;
  for (int i = 0; i < rank; i++) {
    slice->starts[i] = 0;
    slice->lengths[i] = SLICE_FULL;
  }
}

bool slice_is_full(const TensorSlice *slice) {
  for (int i = 0; i < slice->rank; i++) {
    if (slice->lengths[i] != SLICE_FULL) return false;
  }
  return true;
}

void slice_print(const TensorSlice *slice, StrBuf *out) {
  for (int i = 0; i < slice->rank; i++) {
    if (i > 0) strbuf_append_char(out, ':');
    if (slice->lengths[i] == SLICE_FULL) strbuf_append_char(out, '-');
    else strbuf_printf(out, "%lld,%lld", (long long)slice->starts[i], (long long)slice->lengths[i]);
  }
}

/* --- parsing --- */

/* Parses the whole text as a decimal number with an optional sign. */
static bool parse_number(Str text, int64_t *value) {
  size_t at = 0;
  bool negative = text.length > 0 && text.data[0] == '-';
  int64_t magnitude = 0;
  if (negative) at++;
  if (at == text.length) return false;
  for (; at < text.length; at++) {
    if (text.data[at] < '0' || text.data[at] > '9') return false;
    int digit = text.data[at] - '0';
    if (magnitude > (INT64_MAX - digit) / 10) return false;
    magnitude = 10 * magnitude + digit;
  }
  *value = negative ? -magnitude : magnitude;
  return true;
}

/* Takes the text up to `separator`; false at the end. `*more` receives whether there was a separator. */
static Str cut(Str *rest, char separator, bool *more) {
  const char *end = rest->length == 0 ? NULL : memchr(rest->data, separator, rest->length);
  Str part = {rest->data, !end ? rest->length : (size_t)(end - rest->data)};
  size_t used = part.length + (end != NULL);
  *more = end != NULL;
  *rest = (Str){rest->data + used, rest->length - used};
  return part;
}

static bool parse_extent(Str part, Str whole, TensorSlice *slice, Status *status) {
  int64_t start, length;
  bool comma, again;
  Str rest = part;
  if (slice->rank == SLICE_MAX_RANK)
    return status_invalid(status, "A slice has more than %d dimensions", SLICE_MAX_RANK);
  if (str_equal_text(part, "-")) {
    start = 0;
    length = SLICE_FULL;
  } else {
    Str first = cut(&rest, ',', &comma), second = cut(&rest, ',', &again);
    if (!comma || again || !parse_number(first, &start) || !parse_number(second, &length)) {
      return status_invalid(status, "Expected a pair of numbers or '-' but got '%.*s': string = %.*s",
                            (int)part.length, part.data, (int)whole.length, whole.data);
    }
    if (start < 0 || length <= 0) {
      return status_invalid(status,
                            "Expected non-negative start and positive length but got start = %lld, length = "
                            "%lld: string = %.*s",
                            (long long)start, (long long)length, (int)whole.length, whole.data);
    }
  }
  slice->starts[slice->rank] = start;
  slice->lengths[slice->rank++] = length;
  return true;
}

static bool parse_slice(Str text, TensorSlice *slice, Status *status) {
  bool more = text.length > 0;
  Str rest = text;
  slice->rank = 0;
  while (more) {
    Str part = cut(&rest, ':', &more);
    if (part.length > 0) TRY(parse_extent(part, text, slice, status));
  }
  return true;
}

bool slice_parse(Str text, Shape *shape, TensorSlice *slice, Shape *part, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  bool more;
  Str rest = text, word = cut(&rest, ' ', &more);
  if (!more) {
    return status_invalid(status, "Need least two elements in shape_and_slice specification: %.*s",
                          (int)text.length, text.data);
  }
  for (; more; word = cut(&rest, ' ', &more)) {
    if (rank == SHAPE_MAX_RANK || !parse_number(word, &dims[rank])) {
      return status_invalid(status, "Non numerical dimension in shape_and_slice: %.*s", (int)text.length,
                            text.data);
    }
    rank++;
  }
  TRY(shape_set(shape, rank, dims, status));
  TRY(parse_slice(word, slice, status));
  return slice_shape(slice, shape, part, status);
}

static bool misfit(const char *what, int dimension, const Shape *shape, const TensorSlice *slice,
                   Status *status) {
  char shape_words[SHAPE_TEXT_CAPACITY], where[48] = "";
  StrBuf words = {0};
  slice_print(slice, &words);
  if (dimension >= 0) snprintf(where, sizeof where, " in dimension %d out of bounds", dimension);
  if (strbuf_ok(&words, status)) {
    status_set(status, CODE_INTERNAL, "%s%s: shape = %s, slice = %s", what, where,
               shape_text(shape, shape_words), strbuf_text(&words));
  }
  strbuf_free(&words);
  return false;
}

bool slice_shape(const TensorSlice *slice, const Shape *shape, Shape *part, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  if (slice->rank != shape->rank) return misfit("Mismatching ranks", -1, shape, slice, status);
  for (int i = 0; i < slice->rank; i++) {
    int64_t whole = shape_dim(shape, i), length = slice->lengths[i];
    if (length != SLICE_FULL && (slice->starts[i] > whole || length > whole - slice->starts[i]))
      return misfit("Extent", i, shape, slice, status);
    dims[i] = length == SLICE_FULL ? whole : length;
  }
  return shape_set(part, slice->rank, dims, status);
}

/* --- the proto --- */

bool slice_from_proto(const TensorSliceProto *proto, const Shape *shape, TensorSlice *slice) {
  if (proto->n_extent > SLICE_MAX_RANK || (shape && (int64_t)proto->n_extent != shape->rank)) return false;
  slice->rank = (int)proto->n_extent;
  for (int i = 0; i < slice->rank; i++) {
    const SliceExtentProto *extent = proto->extent[i];
    bool full = extent->has_length_case != TENSORFLOW__TENSOR_SLICE_PROTO__EXTENT__HAS_LENGTH_LENGTH;
    slice->starts[i] = extent->start;
    slice->lengths[i] = full ? SLICE_FULL : extent->length;
    if (full ? extent->start != 0 : extent->start < 0 || extent->length < 0) return false;
    if (!full && shape) {
      int64_t whole = shape_dim(shape, i);
      if (extent->start > whole || extent->length > whole - extent->start) return false;
    }
  }
  return true;
}

bool slice_to_proto(const TensorSlice *slice, Arena *arena, TensorSliceProto **proto, Status *status) {
  *proto = proto_new(kTensorSliceProto, arena);
  if (!*proto) return status_oom(status, "a slice");
  for (int i = 0; i < slice->rank; i++) {
    SliceExtentProto *extent = proto_new(kSliceExtentProto, arena);
    if (!extent) return status_oom(status, "a slice");
    if (slice->lengths[i] != SLICE_FULL) {
      extent->start = slice->starts[i];
      extent->length = slice->lengths[i];
      extent->has_length_case = TENSORFLOW__TENSOR_SLICE_PROTO__EXTENT__HAS_LENGTH_LENGTH;
    }
    TRY(proto_append(arena, (void ***)&(*proto)->extent, &(*proto)->n_extent, extent, status));
  }
  return true;
}

/* --- keys: TensorFlow's "ordered code" --- */

/* A count byte, then that many bytes, most significant first. */
static void append_ordered_unsigned(StrBuf *out, uint64_t value) {
  int bytes = 0;
  while (bytes < 8 && value >> (8 * bytes) != 0) bytes++;
  strbuf_append_char(out, (char)bytes);
  for (int i = bytes - 1; i >= 0; i--) strbuf_append_char(out, (char)(value >> (8 * i)));
}

/* Two's complement with 7 bits per byte. The leading bits, one per byte, are exclusive-or-ed in, so that
 * longer numbers sort after shorter ones. */
static void append_ordered_signed(StrBuf *out, int64_t value) {
  uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
  int bits = 0;
  while (bits < 64 && magnitude >> bits != 0) bits++;
  int length = bits / 7 + 1;
  unsigned char bytes[10];
  for (int i = 0; i < 10; i++) {
    int shift = 8 * (9 - i);
    bytes[i] = shift >= 64 ? (value < 0 ? 255 : 0) : (unsigned char)((uint64_t)value >> shift);
  }
  unsigned char *begin = bytes + 10 - length;
  unsigned header = 0xffffu << (16 - length) & 0xffffu;
  begin[0] ^= (unsigned char)(header >> 8);
  if (length >= 2) begin[1] ^= (unsigned char)header;
  strbuf_append_bytes(out, begin, (size_t)length);
}

static void append_ordered_text(StrBuf *out, Str text) {
  for (size_t i = 0; i < text.length; i++) {
    char c = text.data[i];
    strbuf_append_char(out, c);
    if (c == '\0') strbuf_append_char(out, '\xff');
    if (c == '\xff') strbuf_append_char(out, '\0');
  }
  strbuf_append_bytes(out, "\0\1", 2);
}

void slice_append_key(Str name, const TensorSlice *slice, StrBuf *out) {
  append_ordered_unsigned(out, 0); /* sorts such keys before all names */
  append_ordered_text(out, name);
  append_ordered_unsigned(out, (uint64_t)slice->rank);
  for (int i = 0; i < slice->rank; i++) {
    append_ordered_signed(out, slice->starts[i]);
    append_ordered_signed(out, slice->lengths[i]);
  }
}

/* --- the intersection of two slices --- */

typedef struct Box {
  int64_t begin[SLICE_MAX_RANK], end[SLICE_MAX_RANK];
} Box;

static void box_of(const TensorSlice *slice, const Shape *shape, Box *box) {
  for (int i = 0; i < slice->rank; i++) {
    box->begin[i] = slice->starts[i];
    box->end[i] =
        slice->lengths[i] == SLICE_FULL ? shape_dim(shape, i) : slice->starts[i] + slice->lengths[i];
  }
}

/* The strides of a box, and the offset of the tensor's element `at` in it. */
static int64_t place_in(const Box *box, const int64_t *at, int rank, int64_t *strides) {
  int64_t stride = 1, offset = 0;
  for (int i = rank - 1; i >= 0; i--) {
    strides[i] = stride;
    offset += (at[i] - box->begin[i]) * stride;
    stride *= box->end[i] - box->begin[i];
  }
  return offset;
}

static bool copy_elements(void *to, const void *from, int64_t count, size_t element, Status *status) {
  (void)status;
  memcpy(to, from, (size_t)count * element);
  return true;
}

static bool copy_strings(void *to, const void *from, int64_t count, size_t element, Status *status) {
  (void)element;
  for (int64_t i = 0; i < count; i++) TRY(tstring_copy((TString *)to + i, (const TString *)from + i, status));
  return true;
}

SliceCopy slice_copy_of(DataType dtype) { return dtype == DT_STRING ? copy_strings : copy_elements; }

bool slice_copy_common(const Shape *shape, const TensorSlice *from, const void *from_bytes,
                       const TensorSlice *to, void *to_bytes, size_t element, SliceCopy copy, int64_t *common,
                       Status *status) {
  Box source, target, both = {0};
  int rank = shape->rank;
  int64_t dims[SLICE_MAX_RANK] = {0}, from_strides[SLICE_MAX_RANK], to_strides[SLICE_MAX_RANK],
          index[SLICE_MAX_RANK];
  box_of(from, shape, &source);
  box_of(to, shape, &target);
  *common = 1;
  for (int i = 0; i < rank; i++) {
    both.begin[i] = source.begin[i] > target.begin[i] ? source.begin[i] : target.begin[i];
    both.end[i] = source.end[i] < target.end[i] ? source.end[i] : target.end[i];
    dims[i] = both.end[i] - both.begin[i];
    *common = dims[i] > 0 ? *common * dims[i] : 0;
    if (*common == 0) return true;
  }
  if (!copy) return true;
  int64_t row = rank == 0 ? 1 : dims[rank - 1];
  Odometer o = {.rank = rank == 0 ? 0 : rank - 1,
                .dims = dims,
                .strides = {from_strides, to_strides},
                .index = index,
                .at = {place_in(&source, both.begin, rank, from_strides),
                       place_in(&target, both.begin, rank, to_strides)}};
  odometer_seek(&o, 2, 0);
  for (int64_t done = 0; done < *common; done += row, odometer_advance(&o, 2, 1)) {
    TRY(copy((char *)to_bytes + o.at[1] * (int64_t)element,
             (const char *)from_bytes + o.at[0] * (int64_t)element, row, element, status));
  }
  return true;
}
