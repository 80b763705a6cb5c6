/* Checks ranks, merges shapes, and slices and concatenates them. */
#include "op/shape_inference.h"
#include "op/shape_internal.h"

/* --- ranks --- */

static bool begin_rank(ShapeHandle s, int64_t rank, ShapeHandle *out, Status *status) {
  *out = NULL;
  if (!s) return shape_oom(status);
  if (rank > INT32_MAX) return status_invalid(status, "Rank cannot exceed kint32max");
  return true;
}

bool shape_with_rank(InferenceContext *c, ShapeHandle s, int64_t rank, ShapeHandle *out, Status *status) {
  TRY(begin_rank(s, rank, out, status));
  if (s->rank == rank) return shape_ok(s, out, status);
  if (!shape_rank_known(s)) return shape_ok(shape_unknown_of_rank(c, rank), out, status);
  return status_invalid(status, "Shape must be rank %lld but is rank %d", (long long)rank, (int)s->rank);
}

bool shape_with_rank_at_least(InferenceContext *c, ShapeHandle s, int64_t rank, ShapeHandle *out,
                              Status *status) {
  (void)c;
  TRY(begin_rank(s, rank, out, status));
  if (s->rank >= rank || !shape_rank_known(s)) return shape_ok(s, out, status);
  return status_invalid(status, "Shape must be at least rank %lld but is rank %d", (long long)rank,
                        (int)s->rank);
}

bool shape_with_rank_at_most(InferenceContext *c, ShapeHandle s, int64_t rank, ShapeHandle *out,
                             Status *status) {
  (void)c;
  TRY(begin_rank(s, rank, out, status));
  if (s->rank <= rank || !shape_rank_known(s)) return shape_ok(s, out, status);
  return status_invalid(status, "Shape must be at most rank %lld but is rank %d", (long long)rank,
                        (int)s->rank);
}

/* --- merging --- */

static bool refuse_merge(ShapeHandle a, ShapeHandle b, int32_t i, Status *status) {
  StrBuf text = {0};
  shape_handle_print(a, &text);
  strbuf_append(&text, " and ");
  shape_handle_print(b, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "Dimension %d in both shapes must be equal, but are %lld and %lld. Shapes are %s.",
                   (int)i, (long long)a->dims[i]->value, (long long)b->dims[i]->value, strbuf_text(&text));
  }
  strbuf_free(&text);
  return false;
}

bool shape_merge(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out, Status *status) {
  *out = NULL;
  if (!a || !b) return shape_oom(status);
  if (a == b || !shape_rank_known(b)) return shape_ok(a, out, status);
  if (!shape_rank_known(a)) return shape_ok(b, out, status);
  if (a->rank != b->rank) {
    return status_invalid(status, "Shapes must be equal rank, but are %d and %d", (int)a->rank, (int)b->rank);
  }
  bool a_says_all = true, b_says_all = true;
  for (int32_t i = 0; i < a->rank; i++) {
    DimHandle x = a->dims[i], y = b->dims[i];
    if (x->value == y->value) continue;
    if (dim_known(x) && dim_known(y)) return refuse_merge(a, b, i, status);
    if (dim_known(x)) {
      b_says_all = false;
    } else {
      a_says_all = false;
    }
  }
  if (a_says_all || b_says_all) return shape_ok(a_says_all ? a : b, out, status);
  DimHandle *dims = shape_new_dims(c, a->rank);
  if (!dims) return shape_oom(status);
  for (int32_t i = 0; i < a->rank; i++) TRY(dim_merge(c, a->dims[i], b->dims[i], &dims[i], status));
  return shape_ok(shape_around(c, dims, a->rank), out, status);
}

bool shape_merge_prefix(InferenceContext *c, ShapeHandle s, ShapeHandle prefix, ShapeHandle *s_out,
                        ShapeHandle *prefix_out, Status *status) {
  *s_out = *prefix_out = NULL;
  if (!s || !prefix) return shape_oom(status);
  if (!shape_rank_known(s) || !shape_rank_known(prefix)) {
    *s_out = s;
    *prefix_out = prefix;
    return true;
  }
  ShapeHandle checked;
  TRY(shape_with_rank_at_least(c, s, prefix->rank, &checked, status));
  DimHandle *dims = shape_new_dims(c, s->rank);
  if (!dims) return shape_oom(status);
  for (int32_t i = 0; i < s->rank; i++) {
    dims[i] = s->dims[i];
    if (i < prefix->rank) TRY(dim_merge(c, s->dims[i], prefix->dims[i], &dims[i], status));
  }
  ShapeHandle merged_prefix = shape_around(c, dims, prefix->rank), merged = shape_around(c, dims, s->rank);
  if (!merged_prefix || !merged) return shape_oom(status);
  *s_out = merged;
  *prefix_out = merged_prefix;
  return true;
}

/* --- slicing and concatenating --- */

bool shape_concatenate(InferenceContext *c, ShapeHandle a, ShapeHandle b, ShapeHandle *out, Status *status) {
  *out = NULL;
  if (!a || !b) return shape_oom(status);
  if (!shape_rank_known(a) || !shape_rank_known(b)) return shape_ok(shape_unknown(c), out, status);
  int64_t rank = (int64_t)a->rank + b->rank;
  if (rank > INT32_MAX) return status_invalid(status, "Rank cannot exceed kint32max");
  DimHandle *dims = shape_new_dims(c, rank);
  if (!dims) return shape_oom(status);
  for (int32_t i = 0; i < a->rank; i++) dims[i] = a->dims[i];
  for (int32_t i = 0; i < b->rank; i++) dims[a->rank + i] = b->dims[i];
  return shape_ok(shape_around(c, dims, (int32_t)rank), out, status);
}

/* `bound`, clamped from `given`, counted from the beginning of the shape. */
static bool resolve_bound(int64_t bound, int64_t given, const char *name, int32_t rank, int64_t *out,
                          Status *status) {
  *out = bound < 0 ? bound + rank : bound;
  if (*out >= 0) return true;
  return status_invalid(status, "Subshape %s out of bounds: %lld, for shape with rank %d", name,
                        (long long)given, (int)rank);
}

bool shape_subshape(InferenceContext *c, ShapeHandle s, int64_t start_in, int64_t end_in, int64_t stride,
                    ShapeHandle *out, Status *status) {
  *out = NULL;
  if (!s) return shape_oom(status);
  if (stride == 0) return status_invalid(status, "Subshape stride must not be 0");
  bool to_end = end_in == INT64_MAX || (shape_rank_known(s) && end_in >= s->rank);
  if (start_in == 0 && stride == 1 && to_end) return shape_ok(s, out, status);
  if (!shape_rank_known(s)) return shape_ok(shape_unknown(c), out, status);

  int32_t rank = s->rank;
  int64_t start = start_in > rank ? rank : start_in, end = end_in > rank ? rank : end_in;
  if (stride < 0 && start == rank) start--;
  TRY(resolve_bound(start, start_in, "start", rank, &start, status));
  TRY(resolve_bound(end, end_in, "end", rank, &end, status));
  if (stride > 0 && start > end) {
    return status_invalid(status,
                          "Subshape must have computed start <= end, but is %lld and %lld (computed from "
                          "start %lld and "
                          "end %lld over shape with rank %d)",
                          (long long)start, (long long)end, (long long)start_in, (long long)end_in,
                          (int)rank);
  }
  if (stride < 0 && start < end) {
    return status_invalid(status,
                          "Subshape must have computed start >= end since stride is negative, but is %lld "
                          "and %lld "
                          "(computed from start %lld and end %lld over shape with rank %d and stride %lld)",
                          (long long)start, (long long)end, (long long)start_in, (long long)end_in, (int)rank,
                          (long long)stride);
  }
  /* A step over more than the whole shape changes nothing; this prevents an overflow in the sum below. */
  if (stride > rank) stride = (int64_t)rank + 1;
  if (stride < -(int64_t)rank) stride = -(int64_t)rank - 1;
  DimHandle *dims = shape_new_dims(c, rank);
  if (!dims) return shape_oom(status);
  int32_t count = 0;
  for (int64_t i = start; stride > 0 ? i < end : i > end; i += stride) dims[count++] = s->dims[i];
  return shape_ok(shape_around(c, dims, count), out, status);
}

bool shape_replace_dim(InferenceContext *c, ShapeHandle s, int64_t i, DimHandle d, ShapeHandle *out,
                       Status *status) {
  *out = NULL;
  if (!s || !d) return shape_oom(status);
  if (!shape_rank_known(s)) return shape_ok(shape_unknown(c), out, status);
  int64_t index = shape_dim_index(s, i);
  if (index < 0) {
    return status_invalid(status, "Out of range dim_index %lld for shape with %d dimensions", (long long)i,
                          (int)s->rank);
  }
  DimHandle *dims = shape_new_dims(c, s->rank);
  if (!dims) return shape_oom(status);
  for (int32_t k = 0; k < s->rank; k++) dims[k] = k == index ? d : s->dims[k];
  return shape_ok(shape_around(c, dims, s->rank), out, status);
}
