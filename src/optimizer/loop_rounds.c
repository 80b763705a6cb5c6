#include "optimizer/loop_rounds.h"

#include "graph/frame_loop.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

enum { MOST_DEPTH = 4 }; /* of a condition */

bool loop_number(const Edge *edge, int64_t *number, bool *is_known, Status *status) {
  const Node *origin = loop_value_origin(edge);
  Tensor value = {0};
  *is_known = false;
  if (!origin) return true;
  TRY(optimizer_constant(origin, &value, is_known, status));
  *is_known = *is_known && value.shape.rank == 0 && dtype_is_integer((int)value.dtype);
  if (*is_known) *number = tensor_int_at(&value, 0);
  tensor_clear(&value);
  return true;
}

static bool is_number(const Edge *edge, int64_t wanted, bool *is, Status *status) {
  int64_t number;
  TRY(loop_number(edge, &number, is, status));
  *is = *is && number == wanted;
  return true;
}

/* --- the number of the round --- */

/* The Merge of the variable whose value in the round the edge carries, or NULL. */
static const Node *merge_of(const Edge *edge) {
  edge = loop_value_source(edge);
  if (!edge || !node_is_loop_switch(edge->src) || edge->src_output != 1) return NULL;
  const Edge *merged = loop_value_source(edge->src->inputs[0]);
  return merged && merged->src_output == 0 ? merged->src : NULL;
}

/* Whether the variable of the Merge is that number. */
static bool merge_counts(const Node *merge, bool *counts, Status *status) {
  Node *enter, *next;
  *counts = false;
  if (!loop_value_ends(merge, &enter, &next) || !dtype_is_integer((int)merge->output_types[0])) return true;
  const Edge *sum = loop_value_source(next->inputs[0]);
  if (!sum || (!node_is_own(sum->src, "AddV2") && !node_is_own(sum->src, "Add"))) return true;
  TRY(is_number(enter->inputs[0], 0, counts, status));
  if (!*counts) return true;
  *counts = false;
  for (int i = 0; i < 2 && !*counts; i++) {
    if (merge_of(sum->src->inputs[i]) == merge) TRY(is_number(sum->src->inputs[1 - i], 1, counts, status));
  }
  return true;
}

bool loop_value_counts(const Edge *edge, bool *counts, Status *status) {
  const Node *merge = merge_of(edge);
  *counts = false;
  return !merge || merge_counts(merge, counts, status);
}

/* --- conditions --- */

/* Lowers *rounds to what the condition allows. */
static bool add_condition(const Edge *edge, int depth, int64_t *rounds, bool *is_known, Status *status) {
  edge = loop_value_source(edge);
  *is_known = false;
  if (!edge) return true;
  const Edge *first = edge->src->num_inputs == 2 ? edge->src->inputs[0] : NULL, *merged;
  if (depth > 0 && node_is_own(edge->src, "LogicalAnd")) {
    TRY(add_condition(first, depth - 1, rounds, is_known, status));
    return !*is_known || add_condition(edge->src->inputs[1], depth - 1, rounds, is_known, status);
  }
  if (!node_is_own(edge->src, "Less") || !(merged = loop_value_source(first)) || merged->src_output != 0)
    return true;
  int64_t limit;
  TRY(merge_counts(merged->src, is_known, status));
  if (*is_known) TRY(loop_number(edge->src->inputs[1], &limit, is_known, status));
  if (*is_known && limit < *rounds) *rounds = limit;
  return true;
}

bool loop_find_rounds(const Node *condition, int64_t *rounds, bool *is_known, Status *status) {
  *rounds = INT64_MAX;
  TRY(add_condition(condition->inputs[0], MOST_DEPTH, rounds, is_known, status));
  if (*rounds < 0) *rounds = 0;
  return true;
}
