#include "runtime/schedule.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"
#include "graph/node_evaluate.h"
#include "op/node_def.h"
#include "runtime/transfer_order.h"
#include "runtime/update_order.h"

static bool oom(Status *status) { return status_oom(status, "the order of a program"); }

static bool is_transfer(const Node *node) { return node_is_send(node) || node_is_recv(node); }

/* --- graphs without control flow --- */

static bool needed_nodes(const FunctionBody *body, Arena *arena, NodeSet *needed, Status *status) {
  int64_t count = 0;
  Node **roots =
      arena_alloc(arena, ((int64_t)body->num_rets + body->num_control_rets) * (int64_t)sizeof *roots);
  if (!roots) return oom(status);
  for (int i = 0; i < body->num_rets; i++) roots[count++] = body->ret_nodes[i];
  for (int i = 0; i < body->num_control_rets; i++) roots[count++] = body->control_ret_nodes[i];
  return graph_reverse_reachable(body->graph, roots, count, NULL, 0, arena, needed, status);
}

static bool inspect_nodes(Schedule *s, Node *const *order, int64_t count, Status *status) {
  for (int64_t i = 0; i < count; i++) {
    s->has_control_flow |= node_is_control_flow(order[i]) || is_transfer(order[i]);
    TRY(node_check_connected(order[i], status));
  }
  return true;
}

static bool add_sorted(Schedule *s, Node *const *order, int64_t count, Arena *arena, Status *status) {
  s->items = arena_alloc(arena, count * (int64_t)sizeof *s->items);
  if (!s->items) return oom(status);
  for (int64_t i = 0; i < count; i++) s->items[i] = (ScheduleItem){.kind = ITEM_NODE, .node = order[i]};
  s->num_items = count;
  return true;
}

/* --- graphs with control flow --- */

/* The ready nodes of one guard, first in, first out. */
typedef struct Queue {
  int64_t first, last; /* ids; 0: empty */
} Queue;

typedef struct Unit {
  int64_t waiting_nodes; /* nodes that are not in the order yet */
  int64_t waiting_units; /* loops directly inside that are not in the order yet */
  int64_t pending;       /* edges into the loop's Enters from nodes that are not in the order yet */
  int64_t first_ready;   /* id of a node that waits only for the loop to begin, chained; 0: none */
  int64_t transfer;      /* id of a _Send or _Recv that is ready, chained; 0: none */
  int32_t ready_unit;    /* a loop directly inside that is ready, chained by next_unit; 0: none */
  int32_t next_unit;
  int64_t first_exit;  /* id of an Exit that is in the order, chained; 0: none */
  int64_t active_base; /* active guards below this index belong to outer loops */
  Guard entered;       /* the guard of all Enters without is_constant */
  Guard head;          /* the guard of all Merges that begin an iteration; 0: not known yet */
  Guard round;         /* the guard of all NextIterations; 0: not known yet */
  bool differ;         /* NextIterations have different guards */
} Unit;

typedef struct Sorter {
  Schedule *schedule;
  const FunctionBody *body;
  const NodeSet *set;
  Arena *arena;
  Status *status;
  int64_t num_ids, capacity;
  int32_t *pending; /* per id: edges from nodes that are not in the order yet */
  int64_t *next;    /* per id: the next node of its queue */
  Unit *units;      /* per loop */
  TransferOrder transfers;
  Queue *queues; /* per guard */
  int64_t queue_capacity;
  Guard *active; /* guards with ready nodes; the guards of inner loops are on top */
  int64_t num_active, active_capacity;
  Guard *scratch; /* room for as many guards as one node can have inputs */
  uint8_t *apart; /* per loop: whether each of its Merges needs a guard of its own */
  int32_t loop;   /* the loop that is being sorted */
  Guard current;  /* the guard of the last node in the order */
  bool again;     /* a loop was added to `apart`, so the graph must be sorted again */
} Sorter;

/* Whether the edge brings the value of the round before. Outside of loops only a Merge can wait for such a
 * round, which never comes; a NextIteration passes its value on to its other readers. */
static bool closes_loop(const Sorter *s, const Edge *edge) {
  return node_is_next_iteration(edge->src) &&
         (node_is_merge(edge->dst) || s->schedule->loops.loop_of[edge->src->id] != 0);
}

static bool is_sorted(const Sorter *s, const Node *node) {
  return node->id > SINK_ID && node_set_has(s->set, node);
}

static bool add_item(Sorter *s, ScheduleItem item) {
  Schedule *schedule = s->schedule;
  if (schedule->num_items == s->capacity) return oom(s->status);
  schedule->items[schedule->num_items++] = item;
  return true;
}

/* --- guards --- */

Guard schedule_edge_guard(const Schedule *schedule, const Edge *edge) {
  if (!schedule->has_control_flow) return GUARD_ALWAYS;
  const NodeGuards *guards = &schedule->of_node[edge->src->id];
  if (!node_is_switch(edge->src)) return guards->gives;
  return edge_is_control(edge) ? guards->runs : guards->gives + edge->src_output;
}

/* The guards that must hold for a node to run: those of all its inputs. A Merge runs when one of its data
 * inputs is alive, whatever its control inputs are. */
static int inputs_of_guard(const Sorter *s, const Node *node, Guard *all) {
  int count = 0;
  int64_t edges = node_is_merge(node) ? node->num_inputs : node_num_in_edges(node);
  for (int64_t i = 0; i < edges; i++) {
    const Edge *edge = node_in_edge(node, i);
    if (is_sorted(s, edge->src) && !closes_loop(s, edge))
      all[count++] = schedule_edge_guard(s->schedule, edge);
  }
  return count;
}

/* Whether the Merge joins a value that enters a loop with the value of the previous iteration. */
static bool is_head(const Node *merge) {
  bool enters = false, rounds = false;
  for (int i = 0; i < merge->num_inputs; i++) {
    const Edge *edge = node_input_edge(merge, i);
    enters |= node_is_enter(edge->src);
    rounds |= node_is_next_iteration(edge->src);
  }
  return enters && rounds;
}

static bool find_merge_guard(Sorter *s, const Node *node, NodeGuards *guards) {
  int32_t loop = s->schedule->loops.loop_of[node->id];
  Unit *unit = &s->units[loop];
  if (unit->head != GUARD_ALWAYS && is_head(node)) {
    *guards = (NodeGuards){.runs = unit->head, .gives = unit->head};
    return true;
  }
  int count = inputs_of_guard(s, node, s->scratch);
  bool found = false;
  guards->runs = GUARD_ALWAYS;
  if (count == node->num_inputs)
    guards_any_of(&s->schedule->guards, s->scratch, count, &guards->runs, &found);
  guards->finds = !found;
  guards->gives = guards->runs;
  if (!found) TRY(guards_add(&s->schedule->guards, guards->runs, &guards->gives, s->status));
  guards->runs = guards->gives;
  return true;
}

/* Finds the guard of a node. Adds an item that decides the guard if no earlier item does. */
static bool guard_of_inputs(Sorter *s, const Node *node, Guard *guard) {
  bool known;
  TRY(guards_all_of(&s->schedule->guards, s->scratch, inputs_of_guard(s, node, s->scratch), guard, &known,
                    s->status));
  return known || add_item(s, (ScheduleItem){.kind = ITEM_ALL, .guard = *guard});
}

static void note_round(Unit *unit, Guard guard) {
  unit->differ |= unit->round != 0 && unit->round != guard;
  unit->round = guard;
}

static bool is_constant_enter(const Node *enter, bool *constant, Status *status) {
  return node_attr_bool(enter->def, "is_constant", constant, status);
}

static bool find_guards(Sorter *s, const Node *node) {
  NodeGuards *guards = &s->schedule->of_node[node->id];
  Guards *all = &s->schedule->guards;
  bool known = true;
  if (node_is_merge(node)) return find_merge_guard(s, node, guards);
  if (node_is_control_trigger(node)) {
    guards->finds = true;
    TRY(guards_add(all, GUARD_ALWAYS, &guards->gives, s->status));
    guards->runs = guards->gives;
    return true;
  }
  TRY(guard_of_inputs(s, node, &guards->runs));
  guards->gives = guards->runs;
  if (node_is_switch(node)) {
    TRY(guards_of_switch(all, node_input_edge(node, 1), guards->runs, node->num_outputs, &guards->gives,
                         &known, s->status));
    guards->finds = !known;
  } else if (node_is_recv(node)) {
    guards->finds = true;
    TRY(guards_add(all, guards->runs, &guards->gives, s->status));
  } else if (node_is_enter(node) || node_is_next_iteration(node)) {
    if (node_is_next_iteration(node)) note_round(&s->units[s->loop], guards->runs);
    bool constant = false;
    if (node_is_enter(node)) TRY(is_constant_enter(node, &constant, s->status));
    guards->gives = s->units[s->loop].head;
    guards->finds = !constant || guards->gives == GUARD_ALWAYS || guards->runs != s->units[s->loop].entered;
    if (guards->finds) TRY(guards_add(all, guards->runs, &guards->gives, s->status));
  }
  return true;
}

/* --- guards of whole loops --- */

/* The Merges that begin an iteration share a guard if all their Enters do and all their NextIterations do.
 * This compares the Enters. */
static bool compare_enters(Sorter *s, int32_t loop) {
  Unit *unit = &s->units[loop];
  bool any = false;
  for (int64_t id = unit->first_ready; id != 0; id = s->next[id]) {
    const Node *node = graph_node(s->body->graph, id);
    bool constant = true;
    if (node_is_enter(node)) TRY(is_constant_enter(node, &constant, s->status));
    if (constant) continue;
    Guard guard;
    TRY(guard_of_inputs(s, node, &guard));
    if (any && guard != unit->entered) s->apart[loop] = true;
    unit->entered = guard;
    any = true;
  }
  if (!any || s->apart[loop]) return true;
  return guards_add(&s->schedule->guards, GUARD_ALWAYS, &unit->head, s->status);
}

/* This compares the NextIterations, whose guards are known only when the loop is sorted. If they differ, the
 * whole graph is sorted again with separate guards. Returns whether every Exit is alive when the loop has
 * run. That is so for TensorFlow's own loops: the Switch that ends the iterations sends values to the
 * Exits. */
static bool leaves_alive(Sorter *s, int32_t loop) {
  const Unit *unit = &s->units[loop];
  const GuardInfo *round = &s->schedule->guards.info[unit->round];
  if (unit->differ && !s->apart[loop]) s->apart[loop] = s->again = true;
  bool alive = !s->apart[loop] && unit->head != GUARD_ALWAYS && round->switched != 0 && round->outputs == 2 &&
               round->implied == unit->head;
  for (int64_t id = unit->first_exit; id != 0 && alive; id = s->next[id]) {
    Guard guard = s->schedule->of_node[id].runs;
    alive = guard != unit->round && s->schedule->guards.info[guard].switched == round->switched;
  }
  return alive;
}

static bool find_exit_guards(Sorter *s, int32_t loop) {
  bool alive = leaves_alive(s, loop);
  for (int64_t id = s->units[loop].first_exit; id != 0; id = s->next[id]) {
    NodeGuards *guards = &s->schedule->of_node[id];
    guards->finds = !alive;
    guards->gives = s->units[loop].entered;
    if (!alive) TRY(guards_add(&s->schedule->guards, GUARD_ALWAYS, &guards->gives, s->status));
  }
  return true;
}

/* --- ready nodes --- */

static bool push_ready(Sorter *s, const Node *node) {
  TRY(find_guards(s, node));
  if (is_transfer(node)) {
    s->next[node->id] = s->units[s->loop].transfer;
    s->units[s->loop].transfer = node->id;
    return true;
  }
  Guard guard = s->schedule->of_node[node->id].runs;
  while (s->queue_capacity <= guard) {
    int64_t before = s->queue_capacity;
    if (!mem_grow((void **)&s->queues, &s->queue_capacity, (int64_t)guard + 1, sizeof *s->queues))
      return oom(s->status);
    for (int64_t i = before; i < s->queue_capacity; i++) s->queues[i] = (Queue){0, 0};
  }
  Queue *queue = &s->queues[guard];
  s->next[node->id] = 0;
  if (queue->last) {
    s->next[queue->last] = node->id;
  } else {
    if (!mem_grow((void **)&s->active, &s->active_capacity, s->num_active + 1, sizeof *s->active))
      return oom(s->status);
    s->active[s->num_active++] = guard;
    queue->first = node->id;
  }
  queue->last = node->id;
  return true;
}

/* Counts down one edge into the loop. */
static void release_loop(Sorter *s, int32_t loop) {
  Unit *unit = &s->units[loop], *outer = &s->units[s->schedule->loops.parent[loop]];
  if (--unit->pending > 0) return;
  unit->next_unit = outer->ready_unit;
  outer->ready_unit = loop;
}

/* Counts down one edge into the node, or into the loop that it enters. */
static bool release(Sorter *s, const Node *node) {
  if (!node_is_enter(node)) return --s->pending[node->id] > 0 || push_ready(s, node);
  release_loop(s, s->schedule->loops.loop_of[node->id]);
  return true;
}

static bool release_transfer(Sorter *s, TransferUnit unit) {
  if (unit > 0) return release(s, graph_node(s->body->graph, unit));
  if (unit < 0) release_loop(s, (int32_t)-unit);
  return true;
}

static bool release_readers(Sorter *s, const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (is_sorted(s, edge->dst) && !closes_loop(s, edge)) TRY(release(s, edge->dst));
  }
  return true;
}

static const Node *take_from(Sorter *s, Guard guard) {
  if (guard >= s->queue_capacity || s->queues[guard].last == 0) return NULL;
  Queue *queue = &s->queues[guard];
  int64_t id = queue->first;
  queue->first = s->next[id];
  if (queue->first == 0) queue->last = 0;
  return graph_node(s->body->graph, id);
}

static const Node *take_transfer(Sorter *s, bool (*wanted)(const Node *node)) {
  int64_t id = s->units[s->loop].transfer;
  const Node *node = id != 0 ? graph_node(s->body->graph, id) : NULL;
  if (!node || !wanted(node)) return NULL;
  s->units[s->loop].transfer = s->next[id];
  return node;
}

/* A _Send comes as early as it can, because another part waits for it. Otherwise this prefers a node of the
 * current guard: then a run tests the guard once for both. */
static const Node *take_ready(Sorter *s) {
  const Node *node = take_transfer(s, node_is_send);
  if (!node) node = take_from(s, s->current);
  while (!node && s->num_active > s->units[s->loop].active_base) {
    node = take_from(s, s->active[s->num_active - 1]);
    if (!node) s->num_active--;
  }
  return node;
}

/* --- sorting --- */

/* The readers of the NextIteration must read the old value before this iteration stores the next one. */
static int32_t num_readers(const Sorter *s, const Node *next_iteration) {
  int32_t count = 0;
  for (int32_t i = 0; i < next_iteration->num_out_edges; i++) {
    const Edge *edge = next_iteration->out_edges[i];
    count += is_sorted(s, edge->dst) && closes_loop(s, edge);
  }
  return count;
}

static bool release_rounds(Sorter *s, const Node *reader) {
  for (int64_t i = 0; i < node_num_in_edges(reader); i++) {
    const Edge *edge = node_in_edge(reader, i);
    if (closes_loop(s, edge) && is_sorted(s, edge->src)) TRY(release(s, edge->src));
  }
  return true;
}

static void count_node(Sorter *s, const Node *node) {
  const LoopTree *loops = &s->schedule->loops;
  int32_t loop = loops->loop_of[node->id];
  int32_t pending = 0;
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    pending += is_sorted(s, edge->src) && !closes_loop(s, edge);
  }
  if (node_is_next_iteration(node)) pending += num_readers(s, node);
  pending += s->transfers.node_waits[node->id];
  s->units[loop].waiting_nodes++;
  if (node_is_enter(node)) {
    s->units[loop].pending += pending;
    pending = 0;
  }
  s->pending[node->id] = pending;
  if (pending > 0) return;
  s->next[node->id] = s->units[loop].first_ready;
  s->units[loop].first_ready = node->id;
}

static bool begin_loop(Sorter *s, int32_t loop) {
  Unit *unit = &s->units[loop];
  s->loop = loop;
  s->current = GUARD_ALWAYS;
  unit->active_base = s->num_active;
  if (loop != 0) TRY(compare_enters(s, loop));
  s->schedule->heads[loop] = unit->head;
  for (int64_t id = unit->first_ready, next; id != 0; id = next) {
    next = s->next[id];
    TRY(push_ready(s, graph_node(s->body->graph, id)));
  }
  /* The loop begins after the items that decide the guards of its Enters. */
  return loop == 0 || add_item(s, (ScheduleItem){.kind = ITEM_LOOP_BEGIN, .loop = loop});
}

/* The outputs of an Exit are available when the whole loop is done. */
static bool end_loop(Sorter *s) {
  int32_t loop = s->loop;
  TRY(add_item(s, (ScheduleItem){.kind = ITEM_LOOP_END, .loop = loop}));
  s->loop = s->schedule->loops.parent[loop];
  s->units[s->loop].waiting_units--;
  s->current = GUARD_ALWAYS;
  TRY(find_exit_guards(s, loop));
  for (int64_t id = s->units[loop].first_exit; id != 0; id = s->next[id])
    TRY(release_readers(s, graph_node(s->body->graph, id)));
  return release_transfer(s, s->transfers.after_loop[loop]);
}

static bool place_node(Sorter *s, const Node *node) {
  Guard guard = s->schedule->of_node[node->id].runs;
  Unit *unit = &s->units[s->loop];
  TRY(add_item(s, (ScheduleItem){.kind = ITEM_NODE, .node = (Node *)node, .guard = guard, .loop = s->loop}));
  s->current = guard;
  unit->waiting_nodes--;
  TRY(release_rounds(s, node) && release_transfer(s, s->transfers.after_node[node->id]));
  if (!node_is_exit(node)) return release_readers(s, node);
  s->next[node->id] = unit->first_exit;
  unit->first_exit = node->id;
  return true;
}

/* A loop is one unit, so no Enter of it can depend on one of its own Exits. */
static bool refuse_knot(const Sorter *s) {
  for (int64_t id = SINK_ID + 1; id < s->num_ids; id++) {
    const Node *node = graph_node(s->body->graph, id);
    if (node && is_sorted(s, node) && node_is_enter(node) &&
        s->units[s->schedule->loops.loop_of[id]].pending > 0)
      return status_invalid(s->status, "The loop that {{node %s}} enters waits for its own result",
                            node->name);
  }
  return status_set(s->status, CODE_INTERNAL, "The graph has nodes that never become ready");
}

static bool sort_loops(Sorter *s) {
  TRY(begin_loop(s, 0));
  for (;;) {
    Unit *unit = &s->units[s->loop];
    const Node *node = take_ready(s);
    if (node) {
      TRY(place_node(s, node));
    } else if (unit->ready_unit != 0) {
      int32_t inner = unit->ready_unit;
      unit->ready_unit = s->units[inner].next_unit;
      TRY(begin_loop(s, inner));
    } else if ((node = take_transfer(s, node_is_recv))) { /* as late as it can */
      TRY(place_node(s, node));
    } else if (unit->waiting_nodes + unit->waiting_units > 0) {
      return refuse_knot(s);
    } else if (s->loop == 0) {
      return true;
    } else {
      TRY(end_loop(s));
    }
  }
}

static bool start_sorter(Sorter *s, Node *const *order, int64_t count) {
  Schedule *schedule = s->schedule;
  int64_t most = 1;
  for (int64_t i = 0; i < count; i++) {
    if (node_num_in_edges(order[i]) > most) most = node_num_in_edges(order[i]);
  }
  s->capacity = 2 * count + 2 * (int64_t)schedule->loops.num_loops;
  schedule->items = arena_alloc(s->arena, s->capacity * (int64_t)sizeof *schedule->items);
  schedule->num_items = 0;
  schedule->of_node = arena_calloc(s->arena, s->num_ids, sizeof *schedule->of_node);
  schedule->heads = arena_calloc(s->arena, schedule->loops.num_loops, sizeof *schedule->heads);
  s->pending = arena_calloc(s->arena, s->num_ids, sizeof *s->pending);
  s->next = arena_calloc(s->arena, s->num_ids, sizeof *s->next);
  s->units = arena_calloc(s->arena, schedule->loops.num_loops, sizeof *s->units);
  s->scratch = arena_alloc(s->arena, most * (int64_t)sizeof *s->scratch);
  if (!schedule->items || !schedule->of_node || !schedule->heads || !s->pending || !s->next || !s->units ||
      !s->scratch)
    return oom(s->status);
  for (int32_t loop = 1; loop < schedule->loops.num_loops; loop++) {
    s->units[schedule->loops.parent[loop]].waiting_units++;
    s->units[loop].pending += s->transfers.loop_waits[loop];
  }
  for (int64_t i = count; i > 0; i--) count_node(s, order[i - 1]);
  return true;
}

enum { MAX_PASSES = 4 };

static bool sort_once(Sorter *sorter, Node *const *order, int64_t count) {
  guards_free(&sorter->schedule->guards);
  sorter->again = false;
  sorter->num_active = sorter->queue_capacity = 0;
  bool ok = guards_init(&sorter->schedule->guards, sorter->arena, sorter->status) &&
            start_sorter(sorter, order, count) && sort_loops(sorter);
  mem_free(sorter->queues);
  sorter->queues = NULL;
  return ok;
}

static bool schedule_control_flow(const FunctionBody *body, const NodeSet *set, Node *const *order,
                                  int64_t count, Arena *arena, Schedule *schedule, Status *status) {
  Sorter sorter = {.schedule = schedule,
                   .body = body,
                   .set = set,
                   .arena = arena,
                   .status = status,
                   .num_ids = graph_num_node_ids(body->graph)};
  TRY(graph_fixup_source_and_sink_edges(body->graph, NULL, status));
  TRY(loop_tree_of(body->graph, set, arena, &schedule->loops, status));
  TRY(transfer_order_of(body->graph, set, &schedule->loops, arena, &sorter.transfers, status));
  sorter.apart = arena_calloc(arena, schedule->loops.num_loops, sizeof *sorter.apart);
  if (!sorter.apart) return oom(status);
  bool ok = sort_once(&sorter, order, count);
  for (int pass = 1; ok && sorter.again && pass <= MAX_PASSES; pass++) {
    if (pass == MAX_PASSES) memset(sorter.apart, true, (size_t)schedule->loops.num_loops);
    ok = sort_once(&sorter, order, count);
  }
  mem_free(sorter.active);
  return ok;
}

bool schedule_make(const FunctionBody *body, Arena *arena, Schedule *schedule, Status *status) {
  NodeSet needed;
  Node **order;
  int64_t count;
  *schedule = (Schedule){0};
  TRY(needed_nodes(body, arena, &needed, status));
  TRY(graph_topological_order(body->graph, &needed, NULL, 0, arena, &order, &count, status));
  TRY(inspect_nodes(schedule, order, count, status));
  if (schedule->has_control_flow)
    return schedule_control_flow(body, &needed, order, count, arena, schedule, status);
  return delay_updates(body->graph, order, count, arena, status) &&
         add_sorted(schedule, order, count, arena, status);
}

void schedule_free(Schedule *schedule) { guards_free(&schedule->guards); }
