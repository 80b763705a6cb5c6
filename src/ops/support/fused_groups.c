/* The groups of calls that one loop can compute. */
#include "ops/support/fused_run.h"

static bool may_join(const FusedCall *call, DataType type) {
  return call->node->formula > 0 && !call->per_row && call->node->type == type;
}

/* Whether the loop of a group can compute a call before its rounds: one element for the row, of such
 * elements. */
static bool may_come_before(const FusedCall *call, DataType type) {
  return call->node->formula > 0 && call->per_row && call->node->type == type;
}

/* Whether the loop of the group before a call can add up the row that the call reduces: it has read it, and
 * adds in the order of the call. */
static bool may_sum(const FusedRun *run, const FusedGroup *group, const FusedCall *call) {
  const FusedNode *node = call->node, *before = run->calls[group->end - 1].node;
  int64_t unit = REDUCE_VECTORS * 16 / node->in_size;
  return node->kind == FUSED_REDUCE && node->type == before->type &&
         (node->loop.reduce.kind == REDUCE_SUM || node->loop.reduce.kind == REDUCE_MEAN) &&
         node->operands[0] == run->program->num_inputs + (int)(before - run->program->nodes) &&
         run->row > 0 && run->row % unit == 0 && run->row <= REDUCE_LINE;
}

/* Makes an access of a call the next pointer of the loop. Returns its number, or -1 if there are too many. */
static int add_pointer(FusedGroup *group, int call, int access) {
  int number = group->loop.num_pointers;
  if (number == FUSED_LOOP_MOST_POINTERS) return -1;
  group->pointers[number] = (uint8_t)(call * FUSED_ACCESSES + access);
  group->loop.num_pointers++;
  return number;
}

/* Whether nodes after the group, or the caller, read the value of a node. */
static bool is_read_later(const FusedRun *run, const FusedGroup *group, const FusedNode *node) {
  const FusedProgram *program = run->program;
  const FusedNode *last = run->calls[group->end - 1].node;
  int value = program->num_inputs + (int)(node - program->nodes);
  return node->output >= 0 || program->last_reads[value] > last - program->nodes;
}

/* `known`: by value, the operand of the loop that it is, or -1. */
static bool add_node(const FusedRun *run, FusedGroup *group, int call, int *known) {
  const FusedNode *node = run->calls[call].node;
  FusedLoop *loop = &group->loop;
  FusedLoopNode *to = &loop->nodes[loop->num_nodes];
  to->formula = node->kind == FUSED_REDUCE ? FUSED_LOOP_SUM : node->formula;
  for (int k = 0; k < node->num_operands; k++) {
    int *operand = &known[node->operands[k]];
    if (*operand < 0) {
      *operand = add_pointer(group, call, k);
      if (*operand < 0) return false;
      if (run->calls[call].per_row || fused_is_still(&run->calls[call], k)) loop->still |= 1u << *operand;
    }
    to->operands[k] = (uint8_t)*operand;
  }
  int out = FUSED_LOOP_INSIDE;
  if (is_read_later(run, group, node) && (out = add_pointer(group, call, FUSED_MOST_OPERANDS)) < 0)
    return false;
  to->out = (uint8_t)out;
  known[run->program->num_inputs + (int)(node - run->program->nodes)] = FUSED_LOOP_NODES + loop->num_nodes++;
  return true;
}

/* False if the loop has too many pointers. */
static bool describe_loop(const FusedRun *run, FusedGroup *group) {
  int known[FUSED_MOST_VALUES];
  for (int i = 0; i < run->program->num_inputs + run->program->num_nodes; i++) known[i] = -1;
  group->loop.is_double = run->calls[group->first].node->type == DT_DOUBLE;
  for (int call = group->first; call < group->end; call++) {
    if (!add_node(run, group, call, known)) return false;
  }
  return true;
}

static int32_t pointer_base(const FusedRun *run, const FusedGroup *group, int number) {
  const FusedCall *call = &run->calls[group->pointers[number] / FUSED_ACCESSES];
  int access = group->pointers[number] % FUSED_ACCESSES;
  return (access < FUSED_MOST_OPERANDS ? &call->operands[access] : &call->out)->base;
}

/* Whether the loop writes over a single element that it reads: it has it in a register, but calls for the
 * rest of a tile would read what was written. */
static bool overwrites_still(const FusedRun *run, const FusedGroup *group) {
  for (int i = 0; i < group->loop.num_nodes; i++) {
    int out = group->loop.nodes[i].out;
    for (int k = 0; out != FUSED_LOOP_INSIDE && k < group->loop.num_pointers; k++) {
      if (group->loop.still >> k & 1 && pointer_base(run, group, k) == pointer_base(run, group, out))
        return true;
    }
  }
  return false;
}

/* The end of the calls from `begin` on that fit. */
static int end_of(const FusedRun *run, int begin, DataType type,
                  bool (*fits)(const FusedCall *call, DataType type)) {
  int end = begin;
  while (end < run->num_calls && fits(&run->calls[end], type)) end++;
  return end;
}

/* Plans the group of call `first`, and the calls from `joined` on that join it; those between come before its
 * loop. False if there is no loop. */
static bool plan_loop(const FusedRun *run, FusedGroup *group, int first, int joined, DataType type) {
  int end = end_of(run, joined, type, may_join);
  if (end == joined) return false;
  *group = (FusedGroup){.first = (uint8_t)first, .end = (uint8_t)end};
  if (end < run->num_calls && may_sum(run, group, &run->calls[end])) group->end++;
  group->loop.num_single = (uint8_t)(joined - first);
  if (group->end == first + 1 || !describe_loop(run, group)) return false;
  group->unit = fused_loop_unit(&group->loop);
  group->hash = fused_loop_hash(&group->loop);
  /* Calls for the rest of a tile would compute what comes before again, whose memory may be in use for
   * others. */
  if (joined > first) return run->row % group->unit == 0;
  group->whole_tiles = overwrites_still(run, group);
  return true;
}

void fused_groups_plan(FusedRun *run) {
  run->num_groups = 0;
  for (int i = 0; i < run->num_calls; i = run->groups[run->num_groups - 1].end) {
    FusedGroup *group = &run->groups[run->num_groups++];
    DataType type = run->calls[i].node->type;
    if (!plan_loop(run, group, i, end_of(run, i, type, may_come_before), type))
      *group = (FusedGroup){.first = (uint8_t)i, .end = (uint8_t)(i + 1)};
  }
}
