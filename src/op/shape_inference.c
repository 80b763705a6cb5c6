/* Makes shapes, and answers queries about them. */
#include "op/shape_inference.h"

#include <string.h>

#include "op/node_def.h"
#include "op/shape_internal.h"

/* --- inputs and outputs --- */

const Tensor *shape_input_tensor(InferenceContext *c, int i) {
  const Tensor *value = !c->input_tensors ? NULL : c->input_tensors[i];
  if (!value && c->requested_tensor) c->requested_tensor[i] = true;
  return value;
}

bool shape_set_output_handle(InferenceContext *c, int i, const ShapeAndType *entries, int count,
                             Status *status) {
  HandleData *data = arena_alloc(c->arena, sizeof *data);
  ShapeAndType *copies = arena_alloc(c->arena, ((int64_t)count + 1) * (int64_t)sizeof *copies);
  if (!data || !copies) return shape_oom(status);
  for (int k = 0; k < count; k++) {
    if (!entries[k].shape) return shape_oom(status);
    copies[k] = entries[k];
  }
  *data = (HandleData){.count = count, .entries = copies};
  c->output_handles[i] = data;
  return true;
}

static bool find_range(InferenceContext *c, const char *name, bool outputs, int *begin, int *end,
                       Status *status) {
  *begin = *end = 0;
  size_t count = outputs ? c->op_def->n_output_arg : c->op_def->n_input_arg;
  ArgDef *const *args = outputs ? c->op_def->output_arg : c->op_def->input_arg;
  int *starts;
  TRY(node_def_arg_ranges(c->node, c->op_def, outputs, c->arena, &starts, status));
  for (size_t i = 0; i < count; i++) {
    if (strcmp(args[i]->name, name) == 0) {
      *begin = starts[i];
      *end = starts[i + 1];
      return true;
    }
  }
  return status_invalid(status, "Unknown %s name: %s", outputs ? "output" : "input", name);
}

bool shape_input_range(InferenceContext *c, const char *arg, int *begin, int *end, Status *status) {
  return find_range(c, arg, false, begin, end, status);
}

bool shape_output_range(InferenceContext *c, const char *arg, int *begin, int *end, Status *status) {
  return find_range(c, arg, true, begin, end, status);
}

/* --- queries --- */

int64_t shape_dim_index(ShapeHandle s, int64_t i) {
  if (i < 0) i += s->rank;
  return i >= 0 && i < s->rank ? i : -1;
}

DimHandle shape_dim_of(InferenceContext *c, ShapeHandle s, int64_t i) {
  if (!s) return NULL;
  if (!shape_rank_known(s)) return dim_unknown(c);
  int64_t index = shape_dim_index(s, i);
  return index < 0 ? dim_unknown(c) : s->dims[index];
}

bool shape_fully_defined(ShapeHandle s) {
  if (!s || !shape_rank_known(s)) return false;
  for (int32_t i = 0; i < s->rank; i++) {
    if (!dim_known(s->dims[i])) return false;
  }
  return true;
}

DimHandle shape_num_elements_of(InferenceContext *c, ShapeHandle s) {
  if (!s) return NULL;
  if (!shape_rank_known(s)) return dim_unknown(c);
  bool known = true;
  int64_t product = 1;
  for (int32_t i = 0; i < s->rank; i++) {
    int64_t size = s->dims[i]->value;
    if (size == 0) return dim_make(c, 0); /* whatever the other sizes are */
    if (size == UNKNOWN_DIM || __builtin_mul_overflow(product, size, &product)) {
      known = false;
      product = 1;
    }
  }
  return known ? dim_make(c, product) : dim_unknown(c);
}

/* --- new handles --- */

DimHandle dim_make(InferenceContext *c, int64_t value) {
  DimValue *dim = arena_alloc(c->arena, sizeof *dim);
  if (dim) dim->value = value < 0 ? UNKNOWN_DIM : value;
  return dim;
}

DimHandle dim_unknown(InferenceContext *c) { return dim_make(c, UNKNOWN_DIM); }

DimHandle *shape_new_dims(InferenceContext *c, int64_t rank) {
  return arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof(
                                                DimHandle)); /* an empty allocation of an arena may be NULL */
}

ShapeHandle shape_around(InferenceContext *c, const DimHandle *dims, int32_t rank) {
  ShapeValue *shape = arena_alloc(c->arena, sizeof *shape);
  if (shape) *shape = (ShapeValue){.rank = rank, .dims = dims};
  return shape;
}

ShapeHandle shape_unknown(InferenceContext *c) { return shape_around(c, NULL, UNKNOWN_RANK); }

ShapeHandle shape_scalar(InferenceContext *c) { return shape_around(c, NULL, 0); }

/* The sizes of a new shape are allocated together: a shape costs three allocations, whatever its rank. */
static ShapeHandle shape_of_values(InferenceContext *c, const int64_t *values, int64_t rank) {
  if (rank > INT32_MAX) return NULL;
  if (rank == 0) return shape_scalar(c);
  DimHandle *dims = shape_new_dims(c, rank);
  DimValue *sizes = arena_alloc(c->arena, rank * (int64_t)sizeof *sizes);
  if (!dims || !sizes) return NULL;
  for (int64_t i = 0; i < rank; i++) {
    sizes[i].value = !values ? UNKNOWN_DIM : values[i];
    dims[i] = &sizes[i];
  }
  return shape_around(c, dims, (int32_t)rank);
}

ShapeHandle shape_unknown_of_rank(InferenceContext *c, int64_t rank) {
  return rank < 0 ? shape_unknown(c) : shape_of_values(c, NULL, rank);
}

ShapeHandle shape_of_dims(InferenceContext *c, const DimHandle *dims, int32_t rank) {
  if (rank == 0) return shape_scalar(c);
  for (int32_t i = 0; i < rank; i++) {
    if (!dims[i]) return NULL;
  }
  DimHandle *copies = shape_new_dims(c, rank);
  if (!copies) return NULL;
  memcpy(copies, dims, (size_t)rank * sizeof *copies);
  return shape_around(c, copies, rank);
}

ShapeHandle shape_vector(InferenceContext *c, DimHandle d) { return shape_of_dims(c, &d, 1); }

ShapeHandle shape_matrix(InferenceContext *c, DimHandle rows, DimHandle columns) {
  return shape_of_dims(c, (DimHandle[]){rows, columns}, 2);
}

ShapeHandle shape_of_tensor_shape(InferenceContext *c, const Shape *shape) {
  return shape_of_values(c, shape_dims(shape), shape->rank);
}

static void print_proto(const TensorShapeProto *proto, StrBuf *out) {
  strbuf_append_char(out, '[');
  for (size_t i = 0; i < proto->n_dim; i++) {
    if (i > 0) strbuf_append_char(out, ',');
    if (proto->dim[i]->size < 0) {
      strbuf_append_char(out, '?');
    } else {
      strbuf_printf(out, "%lld", (long long)proto->dim[i]->size);
    }
  }
  strbuf_append_char(out, ']');
}

static bool refuse_proto(const TensorShapeProto *proto, const char *what, Status *status) {
  StrBuf text = {0};
  print_proto(proto, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "Shape %s %s", strbuf_text(&text), what);
  strbuf_free(&text);
  return false;
}

bool shape_from_shape_proto(InferenceContext *c, const TensorShapeProto *proto, ShapeHandle *out,
                            Status *status) {
  *out = NULL;
  if (proto->unknown_rank) {
    if (proto->n_dim > 0) return status_invalid(status, "An unknown shape must not have any dimensions set.");
    return shape_ok(shape_unknown(c), out, status);
  }
  if (proto->n_dim > SHAPE_MAX_RANK) return refuse_proto(proto, "has too many dimensions", status);
  int64_t sizes[SHAPE_MAX_RANK], product = 1;
  for (size_t i = 0; i < proto->n_dim; i++) {
    sizes[i] = proto->dim[i]->size;
    if (sizes[i] < UNKNOWN_DIM) {
      return refuse_proto(proto, "has dimensions with values below -1 (where -1 means unknown)", status);
    }
    if (sizes[i] != UNKNOWN_DIM && __builtin_mul_overflow(product, sizes[i], &product)) {
      return refuse_proto(proto, "is too large (more than 2**63 - 1 entries)", status);
    }
  }
  return shape_ok(shape_of_values(c, sizes, (int64_t)proto->n_dim), out, status);
}

bool shape_ok(ShapeHandle made, ShapeHandle *out, Status *status) {
  *out = made;
  return made || shape_oom(status);
}

bool dim_ok(DimHandle made, DimHandle *out, Status *status) {
  *out = made;
  return made || shape_oom(status);
}
