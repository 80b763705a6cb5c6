/* The loops that a graph writes with Enter, Merge, Switch, NextIteration and Exit, one at a time.
 *
 *   FrameLoop *loop;
 *   TRY(frame_loop_of_exit(exit, arena, &loop, status));
 *   for (int i = 0; i < loop->num_variables; i++) use(loop->variables[i].next);
 *
 * A variable enters the frame, and a Merge takes that value in the first round and the one of the round
 * before in later rounds. A Switch sends it into the round while the condition holds, and to the Exits
 * afterwards:
 *
 *   enter -> merge -> split -> (the round) -> next -> merge
 *                          `-> Exit
 *
 * A variable that only the condition reads may have no Switch, and counts as a part of the condition. A value
 * that is the same in every round enters through a constant Enter. */
#ifndef TFCORE_GRAPH_FRAME_LOOP_H_
#define TFCORE_GRAPH_FRAME_LOOP_H_

#include "graph/graph.h"

typedef struct FrameVariable {
  Node *enter, *merge;
  Node *split; /* the Switch; output 0 leaves the loop, output 1 enters the round */
  Node *next;  /* NextIteration */
} FrameVariable;

typedef struct FrameLoop {
  const char *frame_name;
  int64_t parallel_iterations;
  Node *condition;          /* LoopCond */
  FrameVariable *variables; /* ordered by the ids of their Switches */
  int num_variables;
  Node **constants; /* Enters of values that are the same in every round */
  int num_constants;
  Node **inner; /* the other nodes that the condition and the next values need, with those of inner loops */
  int64_t num_inner;
} FrameLoop;

/* Whether the node is one that a frame needs for its variables: a Merge with a NextIteration among its
 * inputs, a Switch whose predicate is a LoopCond. */
bool node_is_loop_merge(const Node *node);
bool node_is_loop_switch(const Node *node);
/* Whether the node is an Enter whose value is the same in every round. */
bool node_is_constant_enter(const Node *node);

/* The loop that an Exit leaves, in `arena`. The time is linear in the nodes of the loop. INVALID_ARGUMENT,
 * with the names of nodes, when the nodes around the Exit do not make a loop as above. */
MUST_CHECK bool frame_loop_of_exit(const Node *exit, Arena *arena, FrameLoop **loop, Status *status);

#endif
