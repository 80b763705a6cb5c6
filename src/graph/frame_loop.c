#include "graph/frame_loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"

typedef struct Finder {
  Graph *graph;
  Arena *arena;
  Status *status;
  FrameLoop *loop;
  Str frame_name;
  Node **stack;
  int64_t top, stack_capacity;
  int64_t inner_capacity, constant_capacity;
  Node **inner, **constants; /* while they grow */
} Finder;

static bool oom(const Finder *f) { return status_oom(f->status, "the loops of a graph"); }

static bool not_a_loop(const Finder *f, const Node *node, const char *what) {
  status_invalid(f->status, "Invalid loop structure: '%s' (op: '%s') %s", node->name, node->def->op, what);
  return node_attach(node->name, f->status);
}

static Node *input_node(const Node *node, int i) {
  return i < node->num_inputs && node->inputs[i] ? node->inputs[i]->src : NULL;
}

bool node_is_loop_merge(const Node *node) {
  if (!node_is_merge(node)) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    const Node *from = input_node(node, i);
    if (from && node_is_next_iteration(from)) return true;
  }
  return false;
}

bool node_is_loop_switch(const Node *node) {
  const Node *predicate = node_is_switch(node) ? input_node(node, 1) : NULL;
  return predicate && node_is_loop_cond(predicate);
}

bool node_is_constant_enter(const Node *node) {
  bool constant;
  Status ignored;
  status_init(&ignored);
  return node_is_enter(node) && node_attr_bool(node->def, "is_constant", &constant, &ignored) && constant;
}

/* --- variables --- */

static bool read_variable(Finder *f, Node *split, FrameVariable *variable) {
  Node *merge = input_node(split, 0);
  *variable = (FrameVariable){.merge = merge, .split = split};
  if (!merge || !node_is_merge(merge) || merge->num_inputs != 2)
    return not_a_loop(f, split, "does not get its value from a Merge of an Enter and a NextIteration");
  for (int i = 0; i < 2; i++) {
    Node *from = input_node(merge, i);
    if (from && node_is_enter(from)) variable->enter = from;
    if (from && node_is_next_iteration(from)) variable->next = from;
  }
  if (variable->enter && variable->next) return true;
  return not_a_loop(f, merge, "does not merge an Enter and a NextIteration");
}

static int by_split(const void *a, const void *b) {
  return node_compare_ids(((const FrameVariable *)a)->split, ((const FrameVariable *)b)->split);
}

static bool find_variables(Finder *f) {
  FrameLoop *loop = f->loop;
  const Node *condition = loop->condition;
  loop->variables = arena_calloc(f->arena, condition->num_out_edges + 1, sizeof *loop->variables);
  if (!loop->variables) return oom(f);
  for (int32_t i = 0; i < condition->num_out_edges; i++) {
    const Edge *edge = condition->out_edges[i];
    if (edge->dst_input != 1 || !node_is_switch(edge->dst)) continue;
    TRY(read_variable(f, edge->dst, &loop->variables[loop->num_variables++]));
  }
  qsort(loop->variables, (size_t)loop->num_variables, sizeof *loop->variables, by_split);
  return true;
}

static bool find_frame(Finder *f) {
  const Node *first = f->loop->variables[0].enter;
  TRY(node_attr_string(first->def, "frame_name", &f->frame_name, f->status));
  TRY(node_attr_int(first->def, "parallel_iterations", &f->loop->parallel_iterations, f->status));
  f->loop->frame_name = arena_strndup(f->arena, f->frame_name.data, f->frame_name.length);
  return f->loop->frame_name || oom(f);
}

static bool is_of_frame(const Finder *f, const Node *enter) {
  Str name;
  Status ignored;
  status_init(&ignored);
  return node_attr_string(enter->def, "frame_name", &name, &ignored) && str_equal(name, f->frame_name);
}

/* --- what the round consists of --- */

static bool append(const Finder *f, Node ***list, int64_t *capacity, int64_t count, Node *node) {
  if (!mem_grow((void **)list, capacity, count + 1, sizeof **list)) return oom(f);
  (*list)[count] = node;
  return true;
}

static void mark(const Finder *f, Node *node) { node_entry(node)->visit = f->graph->visit; }

static bool visit(Finder *f, Node *node) {
  if (node_entry(node)->visit == f->graph->visit || node->id <= SINK_ID) return true;
  mark(f, node);
  if (node_is_enter(node) && is_of_frame(f, node)) {
    bool constant;
    TRY(node_attr_bool(node->def, "is_constant", &constant, f->status));
    if (!constant) return not_a_loop(f, node, "is read in the loop without a Merge");
    return append(f, &f->constants, &f->constant_capacity, f->loop->num_constants++, node);
  }
  return append(f, &f->inner, &f->inner_capacity, f->loop->num_inner++, node) &&
         append(f, &f->stack, &f->stack_capacity, f->top++, node);
}

static bool find_round(Finder *f) {
  const FrameLoop *loop = f->loop;
  graph_new_visit(f->graph);
  for (int i = 0; i < loop->num_variables; i++) {
    mark(f, loop->variables[i].merge);
    mark(f, loop->variables[i].split);
  }
  mark(f, loop->condition);
  if (input_node(loop->condition, 0)) TRY(visit(f, input_node(loop->condition, 0)));
  for (int i = 0; i < loop->num_variables; i++) {
    Node *value = input_node(loop->variables[i].next, 0);
    if (!value) return not_a_loop(f, loop->variables[i].next, "has no input");
    TRY(visit(f, value));
  }
  while (f->top > 0) {
    const Node *node = f->stack[--f->top];
    for (int i = 0; i < node->num_inputs; i++) {
      Node *from = input_node(node, i);
      if (!from) continue;
      /* A variable that only the condition reads has no Switch. */
      bool is_first_value = node_is_loop_merge(node) && node_is_enter(from) && is_of_frame(f, from);
      if (!is_first_value) TRY(visit(f, from));
    }
    for (int32_t i = 0; i < node->num_control_inputs; i++) TRY(visit(f, node->control_inputs[i]->src));
  }
  return true;
}

static int by_id(const void *a, const void *b) {
  return node_compare_ids(*(const Node *const *)a, *(const Node *const *)b);
}

/* The lists move into the arena; constants are ordered by id. */
static bool keep_lists(Finder *f) {
  FrameLoop *loop = f->loop;
  loop->constants = arena_calloc(f->arena, loop->num_constants + 1, sizeof(Node *));
  loop->inner = arena_calloc(f->arena, loop->num_inner + 1, sizeof(Node *));
  if (!loop->constants || !loop->inner) return oom(f);
  if (loop->num_constants > 0)
    memcpy(loop->constants, f->constants, (size_t)loop->num_constants * sizeof(Node *));
  if (loop->num_inner > 0) memcpy(loop->inner, f->inner, (size_t)loop->num_inner * sizeof(Node *));
  qsort(loop->constants, (size_t)loop->num_constants, sizeof(Node *), by_id);
  return true;
}

static bool find(Finder *f, const Node *exit) {
  Node *split = input_node(exit, 0);
  if (!split || !node_is_loop_switch(split) || exit->inputs[0]->src_output != 0)
    return not_a_loop(f, exit, "does not leave a loop through the first output of a Switch on its LoopCond");
  f->loop = arena_calloc(f->arena, 1, (int64_t)sizeof *f->loop);
  if (!f->loop) return oom(f);
  f->loop->condition = input_node(split, 1);
  return find_variables(f) && find_frame(f) && find_round(f) && keep_lists(f);
}

bool frame_loop_of_exit(const Node *exit, Arena *arena, FrameLoop **loop, Status *status) {
  Finder f = {.graph = exit->graph, .arena = arena, .status = status};
  bool ok = find(&f, exit);
  *loop = f.loop;
  mem_free(f.stack);
  mem_free(f.inner);
  mem_free(f.constants);
  return ok;
}
