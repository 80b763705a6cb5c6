#include "gradient/loop_backward.h"

static bool oom(const LoopBackward *b) { return status_oom(b->work->status, "the gradient of a loop"); }

static bool is_passed(const LoopBackward *b, int i) { return b->kept->used[b->first + i]; }

/* The gradient reads intermediates from the lists. */
static bool take_from_lists(const LoopBackward *b, NodeOutput *lists, NodeOutput *rest) {
  BodyWork *work = b->work;
  const Intermediates *kept = b->kept;
  NodeOutput any_shape, *items = arena_calloc(work->arena, kept->count + 1, sizeof *items);
  if (!items) return oom(b);
  TRY(body_work_int32(work, "any_shape", -1, &any_shape));
  for (int i = 0; i < kept->count; i++) {
    DataType type = (DataType)dtype_base(node_output_type(kept->values[i]));
    TRY(body_work_placeholder(work, "list", DT_VARIANT, &lists[i]));
    TRY(body_work_pop(work, lists[i], any_shape, type, &rest[i], &items[i]));
  }
  return intermediates_replace(kept, work, b->body, items);
}

bool loop_backward_define(const LoopBackward *b, const char *name, const char **function) {
  BodyWork *work = b->work;
  const SplicedFunction *body = b->body;
  int num_in = 0, num_out = b->kept->count, capacity = 1 + b->kept->count + 3 * b->count;
  NodeOutput *in = arena_calloc(work->arena, capacity, sizeof *in),
             *out = arena_calloc(work->arena, capacity, sizeof *out);
  if (!in || !out || !name) return oom(b);
  TRY(body_work_placeholder(work, "round", DT_INT32, &in[num_in++]));
  TRY(take_from_lists(b, in + num_in, out));
  num_in += b->kept->count;
  for (int i = 0; i < b->count; i++) {
    if (is_passed(b, i)) in[num_in++] = out[num_out++] = body->args[b->first + i];
  }
  for (int i = 0; i < b->count; i++) {
    if (!b->active[i]) continue;
    in[num_in++] = body->dys[i];
    out[num_out++] = body->dxs[b->first + i];
  }
  for (int i = 0; i < b->count; i++) {
    if (b->sums[i] == DT_INVALID) continue;
    NodeOutput terms[2] = {{NULL, 0}, body->dxs[b->first + i]};
    TRY(body_work_placeholder(work, "sum", b->sums[i], &terms[0]));
    in[num_in++] = terms[0];
    TRY(gradient_add_op(work->graph, "AddN", "sum", terms, 2, &out[num_out++], work->status));
  }
  return body_work_define(work, name, in, num_in, out, num_out, NULL, function);
}

bool loop_backward_add(const LoopBackward *b, BodyWork *work, const char *function,
                       const LoopBackwardInputs *inputs, NodeOutput *outputs) {
  int n = 0, next = b->kept->count, capacity = 3 + b->kept->count + 3 * b->count;
  NodeOutput *in = arena_calloc(work->arena, capacity, sizeof *in);
  Node *backward;
  if (!in) return oom(b);
  TRY(body_work_int32(work, "start", 0, &in[n++]));
  in[n++] = inputs->rounds;
  TRY(body_work_int32(work, "delta", 1, &in[n++]));
  for (int i = 0; i < b->kept->count; i++) in[n++] = inputs->lists[i];
  for (int i = 0; i < b->count; i++) {
    if (!is_passed(b, i)) continue;
    in[n++] = inputs->args[i];
    next++;
  }
  for (int i = 0; i < b->count; i++) {
    if (b->active[i]) in[n++] = inputs->dys[i];
  }
  for (int i = 0; i < b->count; i++) {
    if (b->sums[i] != DT_INVALID) TRY(body_work_zeros(work, inputs->args[i], b->sums[i], &in[n++]));
  }
  TRY(body_work_for(work, "backward", in, n, function, &backward));
  for (int i = 0; i < b->count; i++) {
    outputs[i] = (NodeOutput){NULL, 0};
    if (b->active[i]) outputs[i] = (NodeOutput){backward, next++};
  }
  for (int i = 0; i < b->count; i++) {
    if (b->sums[i] != DT_INVALID) outputs[i] = (NodeOutput){backward, next++};
  }
  return true;
}
