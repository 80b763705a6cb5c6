/* Compiles Switch, Merge and loops: the instructions between the steps. */
#include "base/hash64.h"
#include "graph/node_class.h"
#include "op/node_def.h"
#include "runtime/program_compiler.h"
#include "runtime/root_rounds.h"

/* The nodes of a loop that its first and last instructions handle, chained by id; 0 ends a chain. */
typedef struct LoopNodes {
  int64_t enters, constants, exits, rounds; /* `constants`: Enters with is_constant */
  int32_t num_enters, num_constants, num_exits, num_rounds;
  int32_t begin; /* the event */
} LoopNodes;

static bool oom(Status *status) { return status_oom(status, "a program"); }

static const NodeGuards *guards_of(const Compiler *c, const Node *node) {
  return &c->schedule.of_node[node->id];
}

static const Node *node_at(const Compiler *c, int64_t id) {
  return id == 0 ? NULL : graph_node(c->program->body->graph, id);
}
static const Node *next_in_chain(const Compiler *c, const Node *node) {
  return node_at(c, c->chain[node->id]);
}

static bool is_constant(const Node *node, bool *constant, Status *status) {
  *constant = false;
  return !node_is_enter(node) || node_attr_bool(node->def, "is_constant", constant, status);
}

bool flow_is_alias(const Node *node, bool *alias, Status *status) {
  *alias = false;
  if (!node_is_enter(node) && !node_is_loop_cond(node)) return true;
  TRY(is_constant(node, alias, status));
  *alias = (*alias || node_is_loop_cond(node)) && !compiler_is_read(node_input_edge(node, 0));
  return true;
}

/* --- before the items --- */

static void put(Compiler *c, const Node *node, int64_t *list, int32_t *count) {
  c->chain[node->id] = *list;
  *list = node->id;
  ++*count;
}

bool flow_begin(Compiler *c, Status *status) {
  const Schedule *schedule = &c->schedule;
  Program *program = c->program;
  c->loop_nodes = arena_calloc(c->scratch, schedule->loops.num_loops, sizeof *c->loop_nodes);
  c->chain = arena_calloc(c->scratch, graph_num_node_ids(program->body->graph), sizeof *c->chain);
  c->result_guards = arena_calloc(c->scratch, program->body->num_rets, sizeof *c->result_guards);
  program->loops = arena_calloc(program->arena, schedule->loops.num_loops, sizeof *program->loops);
  program->num_loops = schedule->loops.num_loops;
  if (!c->loop_nodes || !c->chain || !c->result_guards || !program->loops) return oom(status);
  for (int64_t i = schedule->num_items; i > 0; i--) {
    const Node *node = schedule->items[i - 1].node;
    if (!node) continue;
    LoopNodes *loop = &c->loop_nodes[schedule->loops.loop_of[node->id]];
    bool constant;
    TRY(is_constant(node, &constant, status));
    if (constant) {
      put(c, node, &loop->constants, &loop->num_constants);
    } else if (node_is_enter(node)) {
      put(c, node, &loop->enters, &loop->num_enters);
    } else if (node_is_exit(node)) {
      put(c, node, &loop->exits, &loop->num_exits);
    } else if (node_is_next_iteration(node)) {
      put(c, node, &loop->rounds, &loop->num_rounds);
    }
  }
  return true;
}

/* --- instructions --- */

static bool add(Compiler *c, Opcode code, const Node *node, Guard guard, int num_transfers,
                Instruction **instruction, Status *status) {
  Program *program = c->program;
  int32_t index = (int32_t)program->num_instructions++;
  *instruction = &program->code[index];
  **instruction =
      (Instruction){.code = code, .guard = guard, .num_transfers = num_transfers, .index = NO_SLOT};
  c->events[c->num_events++] = (Event){.step = NO_STEP, .instruction = index, .guard = guard};
  if (node) {
    const CallSite *site = call_sites_find(c->sites, node->name);
    (*instruction)->name = arena_strdup(program->arena, site ? site->node : node->name);
    if (!(*instruction)->name) return oom(status);
  }
  (*instruction)->transfers = arena_calloc(program->arena, num_transfers, sizeof(Transfer));
  return (*instruction)->transfers || oom(status);
}

static int32_t last_event(const Compiler *c) { return c->num_events - 1; }

static bool set_transfer(Compiler *c, const Edge *edge, Slot to, Transfer *transfer, Status *status) {
  *transfer = (Transfer){.from = compiler_slot_of(c, edge), .to = to};
  compiler_note_reader(c, transfer->from, last_event(c));
  if (!compiler_is_read(edge)) return true;
  transfer->reference = compiler_reference_name(c, edge);
  return transfer->reference || oom(status);
}

static Guard *new_guards(Compiler *c, int64_t count) {
  return arena_calloc(c->program->arena, count, sizeof(Guard));
}

static bool compile_switch(Compiler *c, const Node *node, Status *status) {
  const NodeGuards *guards = guards_of(c, node);
  Instruction *at;
  if (guards->finds) {
    const Edge *predicate = node_input_edge(node, 1);
    TRY(add(c, DO_SWITCH, node, guards->runs, 1, &at, status));
    TRY(set_transfer(c, predicate, NO_SLOT, &at->transfers[0], status));
    if (at->transfers[0].reference) {
      at->transfers[0].to = (Slot)c->next_read++;
      compiler_note_reader(c, at->transfers[0].to, last_event(c));
    }
    at->gives = guards->gives;
    at->num_gives = node->num_outputs;
  }
  TRY(add(c, DO_ROUTE, node, guards->runs, node->num_outputs, &at, status));
  at->gives = guards->gives;
  for (int i = 0; i < node->num_outputs; i++)
    TRY(set_transfer(c, node_input_edge(node, 0), c->places[node->id] + i, &at->transfers[i], status));
  return true;
}

static bool compile_merge(Compiler *c, const Node *node, Status *status) {
  Instruction *at;
  TRY(add(c, DO_MERGE, node, GUARD_ALWAYS, node->num_inputs, &at, status));
  Guard *guards = new_guards(c, node->num_inputs);
  if (!guards) return oom(status);
  at->guards = guards;
  at->num_guards = node->num_inputs;
  at->gives = guards_of(c, node)->gives;
  at->index = c->places[node->id] + 1;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node_input_edge(node, i);
    guards[i] = schedule_edge_guard(&c->schedule, edge);
    at->closes_loop |= node_is_next_iteration(edge->src);
    TRY(set_transfer(c, edge, c->places[node->id], &at->transfers[i], status));
  }
  return true;
}

static bool compile_move(Compiler *c, Opcode code, const Node *node, Status *status) {
  Instruction *at;
  TRY(add(c, code, node, guards_of(c, node)->runs, 1, &at, status));
  at->gives = code == DO_EXIT && !guards_of(c, node)->finds ? NO_GUARD : guards_of(c, node)->gives;
  return set_transfer(c, node_input_edge(node, 0), c->places[node->id], &at->transfers[0], status);
}

/* Outside of loops a NextIteration begins another round of what its value alone leads to. */
static bool compile_next_iteration(Compiler *c, const Node *node, Status *status) {
  const FunctionBody *body = c->program->body;
  Instruction *at;
  int result;
  TRY(compile_move(c, DO_MOVE, node, status));
  if (c->schedule.loops.loop_of[node->id] != 0) return true;
  TRY(root_round_result(body, node, c->scratch, &result, status));
  if (result < 0) return true;
  TRY(add(c, DO_ONCE, body->ret_nodes[result], guards_of(c, node)->gives, 0, &at, status));
  at->gives = schedule_edge_guard(&c->schedule, node_input_edge(body->ret_nodes[result], 0));
  at->num_gives = result;
  return true;
}

static bool compile_trigger(Compiler *c, const Node *node, Status *status) {
  Instruction *at;
  TRY(add(c, DO_ARRIVED, node, GUARD_ALWAYS, 0, &at, status));
  Guard *guards = new_guards(c, node->num_control_inputs);
  if (!guards) return oom(status);
  at->guards = guards;
  at->gives = guards_of(c, node)->gives;
  for (int i = 0; i < node->num_control_inputs; i++) {
    if (node->control_inputs[i]->src->id > SINK_ID)
      guards[at->num_guards++] = schedule_edge_guard(&c->schedule, node->control_inputs[i]);
  }
  return true;
}

static bool compile_all(Compiler *c, Guard guard, Status *status) {
  const GuardInfo *info = &c->schedule.guards.info[guard];
  Instruction *at;
  TRY(add(c, DO_ALL, NULL, GUARD_ALWAYS, 0, &at, status));
  Guard *guards = new_guards(c, info->num_parts);
  if (!guards) return oom(status);
  for (int32_t i = 0; i < info->num_parts; i++) guards[i] = info->parts[i];
  at->guards = guards;
  at->num_guards = info->num_parts;
  at->gives = guard;
  return true;
}

/* --- results out of loops --- */

static bool compile_result(Compiler *c, const Node *node, Status *status) {
  const FunctionBody *body = c->program->body;
  const Edge *edge = node_input_edge(node, 0);
  Instruction *at;
  if (loop_of_value(&c->schedule.loops, edge) == 0) return true;
  int index = 0;
  while (body->ret_nodes[index] != node) index++;
  TRY(add(c, DO_RESULT, node, schedule_edge_guard(&c->schedule, edge), 1, &at, status));
  at->gives = c->result_guards[index] = c->program->num_guards++;
  at->num_gives = index;
  return set_transfer(c, edge, (Slot)(c->next_result + index), &at->transfers[0], status);
}

/* --- loops --- */

/* The guards that the nodes of a list decide; there are at most `*count`, which receives their number. */
static bool list_guards(Compiler *c, int64_t first, int32_t *count, const Guard **list, Status *status) {
  Guard *guards = new_guards(c, *count);
  if (!guards) return oom(status);
  *count = 0;
  for (const Node *node = node_at(c, first); node; node = next_in_chain(c, node)) {
    if (guards_of(c, node)->finds) guards[(*count)++] = guards_of(c, node)->gives;
  }
  *list = guards;
  return true;
}

static bool add_enters(Compiler *c, int64_t first, Instruction *at, Guard *guards, Guard *entered,
                       int32_t *count, Status *status) {
  for (const Node *node = node_at(c, first); node; node = next_in_chain(c, node)) {
    const Edge *edge = node_input_edge(node, 0);
    guards[*count] = guards_of(c, node)->runs;
    entered[*count] = guards_of(c, node)->finds ? guards_of(c, node)->gives : NO_GUARD;
    Slot to = compiler_has_role(c, node, ALIAS) ? NO_SLOT : c->places[node->id];
    TRY(set_transfer(c, edge, to, &at->transfers[(*count)++], status));
  }
  return true;
}

/* All parts of a step hash the same name: that of the loop's Enters. */
static bool hash_frame(const Compiler *c, const LoopNodes *nodes, uint64_t *frame, Status *status) {
  Str name = {"", 0};
  const Node *enter = node_at(c, nodes->num_enters > 0 ? nodes->enters : nodes->constants);
  if (enter) TRY(node_attr_string(enter->def, "frame_name", &name, status));
  *frame = hash64(name);
  return true;
}

static bool compile_begin_loop(Compiler *c, int32_t loop, Status *status) {
  LoopNodes *nodes = &c->loop_nodes[loop];
  ProgramLoop *to = &c->program->loops[loop];
  int32_t count = nodes->num_enters + nodes->num_constants, done = 0;
  Instruction *at;
  to->begin = c->program->num_instructions;
  to->parent = c->schedule.loops.parent[loop];
  TRY(hash_frame(c, nodes, &to->frame, status));
  TRY(add(c, DO_BEGIN_LOOP, NULL, GUARD_ALWAYS, count, &at, status));
  Guard *guards = new_guards(c, count), *entered = new_guards(c, count);
  if (!guards || !entered) return oom(status);
  at->loop = loop;
  at->guards = guards;
  at->num_guards = count;
  nodes->begin = last_event(c);
  to->head = c->schedule.heads[loop] != GUARD_ALWAYS ? c->schedule.heads[loop] : NO_GUARD;
  to->entered = entered;
  to->num_entered = nodes->num_enters;
  to->num_exits = nodes->num_exits;
  to->num_rounds = nodes->num_rounds;
  return add_enters(c, nodes->enters, at, guards, entered, &done, status) &&
         add_enters(c, nodes->constants, at, guards, entered, &done, status) &&
         list_guards(c, nodes->exits, &to->num_exits, &to->exits, status) &&
         list_guards(c, nodes->rounds, &to->num_rounds, &to->rounds, status);
}

/* Whether one of the loop's instructions is a DO_SEND. */
static bool sends(const Program *program, const ProgramLoop *loop) {
  for (int64_t i = loop->begin; i < loop->end; i++) {
    if (program->code[i].code == DO_SEND) return true;
  }
  return false;
}

/* The value of a constant Enter is read until the loop ends. */
static bool compile_end_loop(Compiler *c, int32_t loop, Status *status) {
  Instruction *at;
  ProgramLoop *to = &c->program->loops[loop];
  to->end = c->program->num_instructions;
  to->sends = c->program->has_transfers && sends(c->program, to);
  TRY(add(c, DO_END_LOOP, NULL, GUARD_ALWAYS, 0, &at, status));
  at->loop = loop;
  for (const Node *node = node_at(c, c->loop_nodes[loop].constants); node; node = next_in_chain(c, node))
    compiler_note_reader(c, c->places[node->id], last_event(c));
  return true;
}

bool flow_compile_item(Compiler *c, const ScheduleItem *item, Status *status) {
  const Node *node = item->node;
  switch (item->kind) {
    case ITEM_ALL: return compile_all(c, item->guard, status);
    case ITEM_LOOP_BEGIN: return compile_begin_loop(c, item->loop, status);
    case ITEM_LOOP_END: return compile_end_loop(c, item->loop, status);
    case ITEM_NODE: break;
  }
  if (compiler_has_role(c, node, RESULT)) return compile_result(c, node, status);
  if (!compiler_has_role(c, node, FLOW)) return true;
  switch (node->node_class) {
    case NODE_SWITCH: return compile_switch(c, node, status);
    case NODE_MERGE: return compile_merge(c, node, status);
    case NODE_EXIT: return compile_move(c, DO_EXIT, node, status);
    case NODE_NEXT_ITERATION: return compile_next_iteration(c, node, status);
    case NODE_LOOP_COND: return compile_move(c, DO_MOVE, node, status);
    case NODE_CONTROL_TRIGGER: return compile_trigger(c, node, status);
    default: return true; /* an Enter: the loop's first instruction handles it */
  }
}

/* --- last uses --- */

/* Whether another transfer of a DO_BEGIN_LOOP has the same source. All of its transfers are done. */
static bool is_shared(const Instruction *at, int32_t index) {
  if (at->code != DO_BEGIN_LOOP) return false;
  for (int32_t i = 0; i < at->num_transfers; i++) {
    if (i != index && at->transfers[i].from == at->transfers[index].from) return true;
  }
  return false;
}

static bool is_read_by_anyone(const Compiler *c, Slot slot) { return c->last_readers[slot] != NO_READER; }

static void finish_transfers(Compiler *c, int32_t event) {
  Instruction *at = &c->program->code[c->events[event].instruction];
  for (int32_t i = 0; i < at->num_transfers; i++) {
    Transfer *t = &at->transfers[i];
    if (t->to != NO_SLOT && !is_read_by_anyone(c, t->to)) t->to = NO_SLOT;
    t->takes = !slot_is_constant(t->from) && c->last_readers[t->from] == event && !is_shared(at, i);
  }
  if (at->index != NO_SLOT && !is_read_by_anyone(c, at->index)) at->index = NO_SLOT;
}

/* The loop and the guard of a node's values. The node has slots. */
static void note_owner(const Compiler *c, const Node *node, int32_t *loops, Guard *guards) {
  bool is_flow = compiler_has_role(c, node, FLOW);
  if (!is_flow && !compiler_has_role(c, node, STEP)) return;
  const LoopTree *tree = &c->schedule.loops;
  int32_t loop = tree->loop_of[node->id];
  for (int i = 0; i < node->num_outputs; i++) {
    Slot slot = c->places[node->id] + i;
    loops[slot] = node_is_exit(node) ? tree->parent[loop] : loop;
    guards[slot] = guards_of(c, node)->gives + (node_is_switch(node) ? i : 0);
  }
}

/* A value whose last reader is a step with another guard may survive its iteration. */
static bool is_leftover(const Compiler *c, Slot slot, const int32_t *loops, const Guard *guards) {
  int32_t last = c->last_readers[slot];
  return loops[slot] != 0 && last != NO_READER && last != READ_AS_RESULT && c->events[last].step != NO_STEP &&
         c->events[last].guard != guards[slot];
}

static bool list_leftovers(Compiler *c, Status *status) {
  Program *program = c->program;
  const Schedule *schedule = &c->schedule;
  int32_t *loops = arena_calloc(c->scratch, program->num_slots, sizeof *loops);
  Guard *guards = arena_calloc(c->scratch, program->num_slots, sizeof *guards);
  Slot *next = arena_alloc(program->arena, program->num_slots * (int64_t)sizeof *next);
  Slot **lists = arena_alloc(c->scratch, schedule->loops.num_loops * (int64_t)sizeof *lists);
  if (!loops || !guards || !next || !lists) return oom(status);
  for (int64_t i = 0; i < schedule->num_items; i++) {
    if (schedule->items[i].node) note_owner(c, schedule->items[i].node, loops, guards);
  }
  for (int64_t v = 0; v < program->num_slots; v++)
    program->loops[loops[v]].num_leftovers += is_leftover(c, (Slot)v, loops, guards);
  for (int32_t loop = 1; loop < schedule->loops.num_loops; loop++) {
    program->loops[loop].leftovers = lists[loop] = next;
    next += program->loops[loop].num_leftovers;
  }
  for (int64_t v = 0; v < program->num_slots; v++) {
    if (is_leftover(c, (Slot)v, loops, guards)) *lists[loops[v]]++ = (Slot)v;
  }
  return true;
}

bool flow_finish(Compiler *c, Status *status) {
  for (int32_t e = 0; e < c->num_events; e++) {
    if (c->events[e].step == NO_STEP) finish_transfers(c, e);
  }
  return list_leftovers(c, status);
}
