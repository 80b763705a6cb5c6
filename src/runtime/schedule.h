/* Schedules: the order in which a program runs the nodes of its graph, and the condition that it tests before
 * each node.
 *
 * A graph without control flow is sorted topologically, with updates of variables behind the readers of their
 * values (runtime/update_order.h). With control flow, each node has a guard (runtime/guards.h). Nodes of
 * equal guards are adjacent where the edges allow it, and the nodes of a loop (graph/loop_tree.h) form a
 * block between the loop's begin and end items. So a run needs no queue of ready nodes: it walks over the
 * schedule, and jumps back to the beginning of a loop while the loop continues. One iteration of a loop ends
 * before the next begins, and _Send and _Recv keep the order of their ids (runtime/transfer_order.h);
 * TensorFlow's parallel_iterations permits overlap but does not require it.
 */
#ifndef TFCORE_RUNTIME_SCHEDULE_H_
#define TFCORE_RUNTIME_SCHEDULE_H_

#include "function/function_body.h"
#include "runtime/guards.h"
#include "graph/loop_tree.h"

typedef enum ScheduleItemKind {
  ITEM_NODE,
  ITEM_ALL,        /* decides `guard`, a conjunction whose parts are already decided */
  ITEM_LOOP_BEGIN, /* begins `loop` */
  ITEM_LOOP_END
} ScheduleItemKind;

typedef struct ScheduleItem {
  ScheduleItemKind kind;
  Node *node;
  Guard guard;
  int32_t loop;
} ScheduleItem;

/* The guards of a node. */
typedef struct NodeGuards {
  Guard runs;  /* the node runs when this holds */
  Guard gives; /* its outputs are alive when this holds; for a Switch: output 0, followed by the others */
  bool finds;  /* this node decides `gives` */
} NodeGuards;

typedef struct Schedule {
  ScheduleItem *items;
  int64_t num_items;
  bool
      has_control_flow; /* if false, all items are nodes, all guards hold, and the fields below are not set */
  LoopTree loops;
  NodeGuards *of_node; /* per node id */
  Guard *heads;        /* per loop: the guard that holds in every iteration; 0: there is no such guard */
  Guards guards;
} Schedule;

/* Schedules the nodes that the results and control results of the body need. Memory comes from `arena`.
 * Errors: INVALID_ARGUMENT for a cycle that is not a loop, for unconnected inputs, and for inconsistent
 * frames (graph_control_flow). */
MUST_CHECK bool schedule_make(const FunctionBody *body, Arena *arena, Schedule *schedule, Status *status);
void schedule_free(Schedule *schedule);

/* The guard under which an edge, data or control, is alive. */
Guard schedule_edge_guard(const Schedule *schedule, const Edge *edge);

#endif
