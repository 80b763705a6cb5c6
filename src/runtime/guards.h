/* Guards: when the nodes of a graph with Switch and Merge run.
 *
 * A guard is a truth that is found while a program runs, such as "this Switch sent its value to output 1".
 * Each node has one, and runs when it holds. TensorFlow calls a node dead otherwise. Nodes with equal guards
 * are known before the program runs, so that a run asks once for many of them.
 *
 * Guard 0 always holds. The other guards are: an output of a group of Switches (all that have one predicate
 * and one guard), a Merge, an Enter, an Exit, a NextIteration, and several guards together.
 */
#ifndef TFCORE_RUNTIME_GUARDS_H_
#define TFCORE_RUNTIME_GUARDS_H_

#include "graph/graph.h"

typedef int32_t Guard;
enum { GUARD_ALWAYS = 0, NO_GUARD = -1 };

/* What a run knows of a guard. */
typedef enum GuardState {
  GUARD_OPEN, /* nothing has arrived, and in this round perhaps nothing will */
  GUARD_DEAD,
  GUARD_HOLDS
} GuardState;

/* One guard as the compiler sees it. */
typedef struct GuardInfo {
  Guard implied;      /* one that holds where this one does */
  Guard switched;     /* of an output of a Switch: the guard of output 0; else 0 */
  int32_t outputs;    /* of the Switch */
  const Guard *parts; /* of several together */
  int32_t num_parts;
} GuardInfo;

typedef struct Guards {
  Arena *arena;
  GuardInfo *info;
  int64_t capacity;
  int32_t count;
  StringMap known; /* groups of Switches and sets of guards, by binary keys */
} Guards;

/* All in `arena`. */
MUST_CHECK bool guards_init(Guards *guards, Arena *arena, Status *status);
void guards_free(Guards *guards);

/* A guard that is found while running. */
MUST_CHECK bool guards_add(Guards *guards, Guard implied, Guard *guard, Status *status);
/* The guards of the outputs of a Switch, which are beside each other, with the given predicate and guard.
 * `known` receives whether there was one before. */
MUST_CHECK bool guards_of_switch(Guards *guards, const Edge *predicate, Guard guard, int num_outputs,
                                 Guard *first, bool *known, Status *status);
/* What holds when all of `all` hold. `all` is sorted and shortened. `known` receives whether it needs no
 * finding: because there was such a guard before, or because one of them implies the others. */
MUST_CHECK bool guards_all_of(Guards *guards, Guard *all, int count, Guard *guard, bool *known,
                              Status *status);
/* What holds when one of `any` does, if that is known before the program runs: the guard of a Switch whose
 * outputs they are. Otherwise `*found` is false, and *guard is one that they all imply. */
void guards_any_of(const Guards *guards, const Guard *any, int count, Guard *guard, bool *found);

#endif
