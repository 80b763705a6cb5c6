/* Guards: the conditions under which nodes run in a graph with Switch and Merge.
 *
 * A guard is a condition that the run decides, such as "this Switch sent its value to output 1". Each node
 * has one guard and runs when it holds; otherwise TensorFlow calls the node dead. The compiler knows which
 * nodes have equal guards, so a run tests one guard for many nodes.
 *
 * Guard 0 always holds. The other guards stand for: an output of a group of Switches (all that share a
 * predicate and a guard), a Merge, an Enter, an Exit, a NextIteration, or a conjunction of several guards.
 */
#ifndef TFCORE_RUNTIME_GUARDS_H_
#define TFCORE_RUNTIME_GUARDS_H_

#include "graph/graph.h"

typedef int32_t Guard;
enum { GUARD_ALWAYS = 0, NO_GUARD = -1 };

/* The state of a guard in a run. */
typedef enum GuardState {
  GUARD_OPEN, /* undecided so far; it may stay so in this iteration */
  GUARD_DEAD,
  GUARD_HOLDS
} GuardState;

/* One guard as the compiler sees it. */
typedef struct GuardInfo {
  Guard implied;      /* holds whenever this one does */
  Guard switched;     /* for an output of a Switch: the guard of output 0; else 0 */
  int32_t outputs;    /* the number of outputs of the Switch */
  const Guard *parts; /* the guards of a conjunction */
  int32_t num_parts;
} GuardInfo;

typedef struct Guards {
  Arena *arena;
  GuardInfo *info;
  int64_t capacity;
  int32_t count;
  StringMap known; /* Switch groups and conjunctions, by binary keys */
} Guards;

/* Memory comes from `arena`. */
MUST_CHECK bool guards_init(Guards *guards, Arena *arena, Status *status);
void guards_free(Guards *guards);

/* Adds a guard that the run decides. */
MUST_CHECK bool guards_add(Guards *guards, Guard implied, Guard *guard, Status *status);
/* The guards of the outputs of a Switch with this predicate and guard; they have consecutive numbers. `known`
 * receives whether they existed before. */
MUST_CHECK bool guards_of_switch(Guards *guards, const Edge *predicate, Guard guard, int num_outputs,
                                 Guard *first, bool *known, Status *status);
/* The conjunction of all guards in `all`; the function sorts and shortens that array. `known` receives
 * whether the run need not decide the conjunction: it existed before, or one of the guards implies the
 * others. */
MUST_CHECK bool guards_all_of(Guards *guards, Guard *all, int count, Guard *guard, bool *known,
                              Status *status);
/* The disjunction of the guards in `any`. The compiler knows it when the guards are all outputs of one
 * Switch: it is the guard of that Switch. Otherwise `*found` is false, and `*guard` is a guard that all of
 * them imply. */
void guards_any_of(const Guards *guards, const Guard *any, int count, Guard *guard, bool *found);

#endif
