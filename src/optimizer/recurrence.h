/* Recognises loops that can be one node (optimizer/fuse_recurrences.h). */
#ifndef TFCORE_OPTIMIZER_RECURRENCE_H_
#define TFCORE_OPTIMIZER_RECURRENCE_H_

#include "graph/frame_loop.h"
#include "graph/graph_walk.h"
#include "op/fused_op.h"

/* Values of a round: input i is i, and output k of all stages is RECURRENCE_MOST_VALUES + k. */
typedef struct RecurrenceInput {
  NodeOutput outside;            /* its value in front of the loop; or */
  const Node *constant;          /* a Const in the loop */
  const FrameVariable *variable; /* whose value it is, or NULL */
  int64_t next;                  /* as in op/fused_op.h */
} RecurrenceInput;

typedef struct RecurrenceResult {
  Node *node; /* whose output 0 it is: an Exit, or a TensorListStack of one */
  int64_t value, rows;
} RecurrenceResult;

typedef struct Recurrence {
  FrameLoop *loop;
  char *member; /* by node id: whether the node is in the loop, Exits aside */
  int64_t rounds;
  Node *stages[RECURRENCE_MOST_STAGES];
  int first_values[RECURRENCE_MOST_STAGES]; /* k of their first output */
  int num_stages, num_values;               /* of stages */
  RecurrenceInput inputs[RECURRENCE_MOST_VALUES];
  int num_inputs;
  int64_t operands[RECURRENCE_MOST_STAGES * FUSED_MOST_INPUTS];
  int num_operands;
  RecurrenceResult results[RECURRENCE_MOST_VALUES];
  int num_results;
} Recurrence;

/* What the search needs to know about the graph. */
typedef struct RecurrenceFacts {
  const ControlFlowInfo *frames; /* by node id */
  const int32_t *branches;       /* by node id: see dead_values_find_branches */
  const NodeSet *keep;
} RecurrenceFacts;

/* Whether the loop that the Exit leaves is one; then *r is set, in part in `arena`. RESOURCE_EXHAUSTED when
 * out of memory. */
MUST_CHECK bool recurrence_of_exit(const Node *exit, const RecurrenceFacts *facts, Arena *arena,
                                   Recurrence *r, bool *found, Status *status);

#endif
