/* Lowering: replaces While, If and Case, also the stateless ones, by Enter, Merge, Switch, NextIteration and
 * Exit, with calls of their functions in between. When these calls are inlined too, a round of a loop costs
 * no call.
 *
 * A node `w` becomes nodes named `w/...`. All of its inputs and control inputs are awaited before any of
 * them runs, and its control outputs wait for all that its functions do, so it stays one step. The calls are
 * PartitionedCalls.
 */
#ifndef TFCORE_OPTIMIZER_LOWER_CONTROL_FLOW_H_
#define TFCORE_OPTIMIZER_LOWER_CONTROL_FLOW_H_

#include "base/string_map.h"
#include "optimizer/inline_functions.h"

/* Decides which nodes are lowered. Initialise with zeros; lowering_budget_free frees what it knows. */
typedef struct LoweringBudget {
  StringMap sizes;   /* per function: how many nodes it has when all calls are inlined */
  int64_t num_nodes; /* that the calls of lowered nodes will add */
} LoweringBudget;
void lowering_budget_free(LoweringBudget *budget);

/* Replaces the node if it is a While, an If or a Case whose functions fit, hold no state in kernels
 * (node_keeps_state), do not call themselves, and add at most `max_nodes` nodes with all calls inlined.
 * Otherwise the node stays, and reports its errors when it runs. The functions come from `source`, which is
 * told of the added nodes. On error, out of memory, the graph is valid. */
MUST_CHECK bool graph_lower_control_flow(Graph *graph, Node *node, const FunctionBodySource *source,
                                         int64_t max_nodes, LoweringBudget *budget, bool *lowered,
                                         Status *status);

#endif
