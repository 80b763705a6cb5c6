/* Relaxes shapes, and relaxes and merges the handle data of resources. */
#include "op/shape_inference.h"
#include "op/shape_internal.h"

bool dim_relax(InferenceContext *c, DimHandle before, DimHandle now, DimHandle *out, Status *status) {
  *out = NULL;
  if (!before || !now) return shape_oom(status);
  if (!dim_known(now)) return dim_ok(now, out, status);
  return dim_ok(before->value == now->value ? before : dim_unknown(c), out, status);
}

static bool same_sizes(ShapeHandle a, ShapeHandle b) {
  for (int32_t i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i] && (!dim_known(a->dims[i]) || a->dims[i]->value != b->dims[i]->value))
      return false;
  }
  return true;
}

bool shape_relax(InferenceContext *c, ShapeHandle before, ShapeHandle now, ShapeHandle *out, Status *status) {
  *out = NULL;
  if (!before || !now) return shape_oom(status);
  if (before == now || !shape_rank_known(now)) return shape_ok(now, out, status);
  if (before->rank != now->rank) return shape_ok(shape_unknown(c), out, status);
  if (same_sizes(before, now)) return shape_ok(before, out, status);
  DimHandle *dims = shape_new_dims(c, before->rank);
  if (!dims) return shape_oom(status);
  for (int32_t i = 0; i < before->rank; i++)
    TRY(dim_relax(c, before->dims[i], now->dims[i], &dims[i], status));
  return shape_ok(shape_around(c, dims, before->rank), out, status);
}

/* --- handle data --- */

typedef bool (*JoinFn)(InferenceContext *c, ShapeHandle before, ShapeHandle now, ShapeHandle *out,
                       Status *status);

/* Contradicting shapes are kept; the only error is running out of memory. */
static bool join_shapes(InferenceContext *c, JoinFn join, ShapeHandle before, ShapeHandle now,
                        ShapeHandle *out, Status *status) {
  if (join(c, before, now, out, status)) return true;
  if (status->code == CODE_RESOURCE_EXHAUSTED) return false;
  status_init(status);
  *out = before;
  return true;
}

static bool join_handle_data(InferenceContext *c, JoinFn join, const HandleData *before,
                             const HandleData *now, const HandleData **out, Status *status) {
  *out = !before ? now : before;
  if (!before || !now || before->count != now->count) return true;
  for (int i = 0; i < before->count; i++) {
    DataType type = before->entries[i].dtype;
    if (type != now->entries[i].dtype && type != DT_INVALID) return true;
  }
  ShapeAndType *entries = arena_alloc(c->arena, ((int64_t)before->count + 1) * (int64_t)sizeof *entries);
  HandleData *data = arena_alloc(c->arena, sizeof *data);
  if (!entries || !data) return shape_oom(status);
  bool changed = false;
  for (int i = 0; i < before->count; i++) {
    ShapeAndType old = before->entries[i];
    entries[i].dtype = now->entries[i].dtype;
    TRY(join_shapes(c, join, old.shape, now->entries[i].shape, &entries[i].shape, status));
    changed = changed || entries[i].dtype != old.dtype || entries[i].shape != old.shape;
  }
  *data = (HandleData){.count = before->count, .entries = entries};
  if (changed) *out = data;
  return true;
}

bool handle_data_merge(InferenceContext *c, const HandleData *before, const HandleData *now,
                       const HandleData **out, Status *status) {
  return join_handle_data(c, shape_merge, before, now, out, status);
}

bool handle_data_relax(InferenceContext *c, const HandleData *before, const HandleData *now,
                       const HandleData **out, Status *status) {
  return join_handle_data(c, shape_relax, before, now, out, status);
}
