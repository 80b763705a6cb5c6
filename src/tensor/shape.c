#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* A growing text in a fixed array. */
typedef struct Cut {
  char *text;
  size_t capacity, length;
} Cut;

static void add(Cut *cut, const char *format, int64_t value) {
  if (cut->length + 1 >= cut->capacity) return;
  int added = snprintf(cut->text + cut->length, cut->capacity - cut->length, format, value);
  cut->length += added > 0 ? (size_t)added : 0;
}

static const char *dims_text(int rank, const int64_t *dims, char text[SHAPE_TEXT_CAPACITY]) {
  Cut cut = {text, SHAPE_TEXT_CAPACITY, 0};
  add(&cut, "[", 0);
  for (int i = 0; i < rank; i++) add(&cut, i > 0 ? ",%" PRId64 : "%" PRId64, dims[i]);
  add(&cut, "]", 0);
  return text;
}

/* The same for a proto, which prints unknown parts as "?" and "<unknown>". */
static const char *proto_text(const TensorShapeProto *proto, char text[SHAPE_TEXT_CAPACITY]) {
  Cut cut = {text, SHAPE_TEXT_CAPACITY, 0};
  if (proto->unknown_rank) {
    add(&cut, "<unknown>", 0);
    return text;
  }
  add(&cut, "[", 0);
  for (size_t i = 0; i < proto->n_dim && cut.length + 1 < cut.capacity; i++) {
    if (i > 0) add(&cut, ",", 0);
    add(&cut, proto->dim[i]->size == -1 ? "?" : "%" PRId64, proto->dim[i]->size);
  }
  add(&cut, "]", 0);
  return text;
}

/* WebAssembly has no product of 128 bits, so small numbers are multiplied without one. */
static bool multiply(int64_t *elements, int64_t dim) {
  if (*elements > INT32_MAX || dim > INT32_MAX) return !__builtin_mul_overflow(*elements, dim, elements);
  *elements *= dim;
  return true;
}

bool shape_set(Shape *shape, int rank, const int64_t *dims, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (rank < 0 || rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  int64_t elements = 1;
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0) return status_invalid(status, "Dimension %" PRId64 " must be >= 0", dims[i]);
    if (!multiply(&elements, dims[i])) {
      return status_invalid(status, "Shape %s would have more than 2**63 - 1 elements",
                            dims_text(rank, dims, text));
    }
  }
  int64_t *heap = shape->rank > SHAPE_INLINE_RANK ? shape->storage.heap_dims : NULL,
          *to = shape->storage.inline_dims;
  if (rank > SHAPE_INLINE_RANK) {
    to = mem_alloc(rank * (int64_t)sizeof *dims);
    if (!to) return status_oom(status, "shape");
  }
  /* Forwards, because `dims` may be sizes of the shape itself; and not by memcpy, which is a call of the
   * engine in WebAssembly. */
  for (int i = 0; i < rank; i++) to[i] = dims[i];
  if (rank > SHAPE_INLINE_RANK) shape->storage.heap_dims = to;
  shape->rank = rank;
  mem_free(heap);
  return true;
}

bool shape_copy(Shape *to, const Shape *from, Status *status) {
  if (to == from) return true;
  if (from->rank <= SHAPE_INLINE_RANK) {
    shape_clear(to);
    shape_copy_fields(to, from);
    return true;
  }
  return shape_set(to, from->rank, shape_dims(from), status);
}

void shape_free_dims(Shape *shape) { mem_free(shape->storage.heap_dims); }

bool shape_equal(const Shape *a, const Shape *b) {
  if (a->rank != b->rank) return false;
  return a->rank == 0 || memcmp(shape_dims(a), shape_dims(b), (size_t)a->rank * sizeof(int64_t)) == 0;
}

void shape_print(const Shape *shape, StrBuf *out) {
  strbuf_append_char(out, '[');
  for (int i = 0; i < shape->rank; i++)
    strbuf_printf(out, i > 0 ? ",%" PRId64 : "%" PRId64, shape_dim(shape, i));
  strbuf_append_char(out, ']');
}

const char *shape_text(const Shape *shape, char text[SHAPE_TEXT_CAPACITY]) {
  return dims_text(shape->rank, shape_dims(shape), text);
}

bool shape_check_proto(const TensorShapeProto *proto, int64_t *num_elements, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t elements = 1;
  if (proto) {
    if (proto->unknown_rank)
      return status_invalid(status, "Shape %s is not fully defined", proto_text(proto, text));
    if (proto->n_dim > SHAPE_MAX_RANK) {
      return status_invalid(status, "Shape %s has too many dimensions", proto_text(proto, text));
    }
    for (size_t i = 0; i < proto->n_dim; i++) {
      if (proto->dim[i]->size < 0)
        return status_invalid(status, "Shape %s is not fully defined", proto_text(proto, text));
      if (!multiply(&elements, proto->dim[i]->size)) {
        return status_invalid(status, "Shape %s is too large (more than 2**63 - 1 entries)",
                              proto_text(proto, text));
      }
    }
  }
  if (num_elements) *num_elements = elements;
  return true;
}

bool shape_from_proto(const TensorShapeProto *proto, Shape *shape, Status *status) {
  TRY(shape_check_proto(proto, NULL, status));
  int64_t dims[SHAPE_MAX_RANK];
  int rank = proto ? (int)proto->n_dim : 0;
  for (int i = 0; i < rank; i++) dims[i] = proto->dim[i]->size;
  return shape_set(shape, rank, dims, status);
}
