#include "runtime/transfer_order.h"

#include "graph/node_class.h"

static int depth_of(const LoopTree *loops, int32_t loop) {
  int depth = 0;
  for (; loop != 0; loop = loops->parent[loop]) depth++;
  return depth;
}

/* The units of the innermost loop that contains both nodes. */
static void lift(const LoopTree *loops, const Node *from, const Node *to, TransferUnit *a, TransferUnit *b) {
  int32_t x = loops->loop_of[from->id], y = loops->loop_of[to->id];
  int depth_x = depth_of(loops, x), depth_y = depth_of(loops, y);
  *a = from->id;
  *b = to->id;
  while (x != y) {
    if (depth_x >= depth_y) {
      *a = -(TransferUnit)x;
      x = loops->parent[x];
      depth_x--;
    } else {
      *b = -(TransferUnit)y;
      y = loops->parent[y];
      depth_y--;
    }
  }
}

/* A unit has at most one unit before and one after it. */
static void chain(const TransferOrder *order, TransferUnit a, TransferUnit b) {
  TransferUnit *after = a > 0 ? &order->after_node[a] : &order->after_loop[-a];
  uint8_t *waits = b > 0 ? &order->node_waits[b] : &order->loop_waits[-b];
  if (a == b || *after != 0 || *waits) return;
  *after = b;
  *waits = true;
}

bool transfer_order_of(const Graph *graph, const NodeSet *set, const LoopTree *loops, Arena *arena,
                       TransferOrder *order, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *order = (TransferOrder){
      .after_node = arena_calloc(arena, ids, sizeof *order->after_node),
      .after_loop = arena_calloc(arena, loops->num_loops, sizeof *order->after_loop),
      .node_waits = arena_calloc(arena, ids, sizeof *order->node_waits),
      .loop_waits = arena_calloc(arena, loops->num_loops, sizeof *order->loop_waits),
  };
  if (!order->after_node || !order->after_loop || !order->node_waits || !order->loop_waits)
    return status_oom(status, "the order of a program");
  const Node *last = NULL;
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    const Node *node = graph_node(graph, id);
    if (!node || !node_set_has(set, node) || !(node_is_send(node) || node_is_recv(node))) continue;
    TransferUnit a, b;
    if (last) {
      lift(loops, last, node, &a, &b);
      chain(order, a, b);
    }
    last = node;
  }
  return true;
}
