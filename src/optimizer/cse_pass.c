/* Common subexpressions removed from a graph. */
#include "base/alloc.h"
#include "optimizer/cse.h"
#include "optimizer/optimizer_internal.h"

static bool oom(Status *status) { return status_oom(status, "common subexpressions"); }

/* The outputs that stand for those of a node that goes. */
static bool merge(Graph *graph, Node *node, Node *into, Arena *arena, Status *status) {
  ArenaMark mark = arena_mark(arena);
  NodeOutput *outputs = arena_calloc(arena, node->num_outputs, sizeof *outputs);
  if (!outputs) return oom(status);
  for (int i = 0; i < node->num_outputs; i++) outputs[i] = (NodeOutput){into, i};
  bool ok = optimizer_move_consumers(graph, node, outputs, into, status);
  arena_rollback(arena, mark);
  if (ok) graph_remove_node(graph, node);
  return ok;
}

static bool list_kept(const NodeSet *keep, Node *const *order, int64_t count, Arena *arena,
                      CseOptions *options, Status *status) {
  NodeOutput *fed = arena_calloc(arena, !keep ? 0 : count, sizeof *fed);
  if (!fed) return oom(status);
  for (int64_t i = 0; keep && i < count; i++) {
    if (kept(keep, order[i])) fed[options->num_fed++].node = order[i];
  }
  options->fed = fed;
  return true;
}

bool graph_merge_common(Graph *graph, const NodeSet *keep, bool (*consider)(const Node *node), bool *changed,
                        Status *status) {
  bool ok = false;
  CseOptions options = {.consider = consider};
  Node **order, **same;
  int64_t count;
  Arena *arena = arena_new();
  *changed = false;
  if (!arena) return oom(status);
  TRY_DONE(optimizer_order(graph, arena, &order, &count, status));
  TRY_DONE(list_kept(keep, order, count, arena, &options, status));
  TRY_DONE(graph_find_common(graph, order, count, &options, arena, &same, status));
  for (int64_t i = 0; i < count; i++) {
    Node *into = same[order[i]->id];
    if (!into || into == order[i]) continue;
    TRY_DONE(merge(graph, order[i], into, arena, status));
    *changed = true;
  }
  ok = true;
done:
  arena_free(arena);
  return ok;
}
