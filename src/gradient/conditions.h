/* Under which conditions the values of a graph with Switch and Merge are alive.
 *
 *   Conditions *at;
 *   TRY(conditions_of(&finder, value, &at));
 *   for (int i = 0; i < at->count; i++) ... at->all[i].predicate chose at->all[i].side
 *
 * A value is alive when each of its conditions holds: the Switches before it sent their values to these
 * outputs. A Merge has the conditions that all its inputs have, and a
 * ControlTrigger has none. Identities of a predicate count as the
 * predicate. */
#ifndef TFCORE_GRADIENT_CONDITIONS_H_
#define TFCORE_GRADIENT_CONDITIONS_H_

#include "graph/graph.h"

typedef struct Condition {
  NodeOutput predicate;
  int side;  /* the output of the Switch */
  int sides; /* how many it has */
} Condition;

/* Ordered, each once; shared by many nodes. */
typedef struct Conditions {
  const Condition *all;
  int count;
} Conditions;

/* Remembers what it found: edges of nodes that it has seen must not change. */
typedef struct ConditionFinder {
  const Graph *graph;
  Arena *arena;
  const Conditions **known; /* by id; of the node, not of its outputs */
  int64_t known_capacity, num_known;
  int32_t *opened; /* by id: how many inputs have been looked at while the node is on the stack */
  int64_t opened_capacity;
  Node **stack;
  int64_t stack_capacity;
  Status *status;
} ConditionFinder;

MUST_CHECK bool condition_finder_init(ConditionFinder *finder, const Graph *graph, Status *status);
void condition_finder_clear(ConditionFinder *finder);

/* The time is linear in the nodes before the value that have not been seen yet. */
MUST_CHECK bool conditions_of(ConditionFinder *finder, NodeOutput value, const Conditions **conditions);
/* Of those in `a`, the ones that are not in `b`; in the finder's arena. */
MUST_CHECK bool conditions_without(ConditionFinder *finder, const Conditions *a, const Conditions *b,
                                   const Conditions **rest);
/* Those that are in one of them. */
MUST_CHECK bool conditions_united(ConditionFinder *finder, const Conditions *a, const Conditions *b,
                                  const Conditions **all);
/* Those that are in both. */
MUST_CHECK bool conditions_common(ConditionFinder *finder, const Conditions *a, const Conditions *b,
                                  const Conditions **common);
/* Whether a value with conditions `a` and one with conditions `b` are never both alive. */
bool conditions_exclude(const Conditions *a, const Conditions *b);

#endif
