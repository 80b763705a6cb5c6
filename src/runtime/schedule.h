/* Schedules: the order in which a program runs the nodes of its graph, and what it has to know before each.
 *
 * A graph without control flow is sorted. With it, a node has a guard (runtime/guards.h), nodes of equal
 * guards come one behind the other where the edges allow it, and the nodes of a loop (runtime/loop_tree.h)
 * stand between the loop's beginning and its end, without gap. So a run needs no queue of nodes that are
 * ready: it walks over the schedule, and goes back to the beginning of a loop as long as the loop goes on.
 * One round of a loop ends before the next begins; TensorFlow's parallel_iterations is a permission, not a
 * demand.
 */
#ifndef TFCORE_RUNTIME_SCHEDULE_H_
#define TFCORE_RUNTIME_SCHEDULE_H_

#include "function/function_body.h"
#include "runtime/guards.h"
#include "runtime/loop_tree.h"

typedef enum ScheduleItemKind {
  ITEM_NODE,
  ITEM_ALL,        /* from here on it is known whether `guard`, several together, holds */
  ITEM_LOOP_BEGIN, /* of `loop` */
  ITEM_LOOP_END
} ScheduleItemKind;

typedef struct ScheduleItem {
  ScheduleItemKind kind;
  Node *node;
  Guard guard;
  int32_t loop;
} ScheduleItem;

/* What a node has to do with guards. */
typedef struct NodeGuards {
  Guard runs;  /* the node runs when this holds */
  Guard gives; /* its outputs have values when this holds; of a Switch: output 0, the others follow */
  bool finds;  /* it is this node that finds out about `gives` */
} NodeGuards;

typedef struct Schedule {
  ScheduleItem *items;
  int64_t num_items;
  bool has_control_flow; /* else items are nodes, and all guards hold; what follows is not filled in */
  LoopTree loops;
  NodeGuards *of_node; /* per node id */
  Guard *heads;        /* per loop: what holds in every round; 0: there is no such guard */
  Guards guards;
} Schedule;

/* The nodes that the results and control results of the body need. All in `arena`. Errors: INVALID_ARGUMENT
 * for a cycle that is no loop, for inputs that are not connected, and for frames that do not fit
 * (graph_control_flow). */
MUST_CHECK bool schedule_make(const FunctionBody *body, Arena *arena, Schedule *schedule, Status *status);
void schedule_free(Schedule *schedule);

/* The guard of the value, or of the control edge, that an edge hands on. */
Guard schedule_edge_guard(const Schedule *schedule, const Edge *edge);

#endif
