/* What the compiler of programs shares between its files: program_compile.c (kernels, slots, last uses) and
 * program_compile_flow.c (Switch, Merge and loops). */
#ifndef TFCORE_RUNTIME_PROGRAM_COMPILER_H_
#define TFCORE_RUNTIME_PROGRAM_COMPILER_H_

#include "runtime/program_internal.h"
#include "runtime/schedule.h"

enum { NO_READER = -1, READ_AS_RESULT = INT32_MAX };

/* What becomes of a node. */
typedef enum NodeRole {
  STEP,
  ARGUMENT,
  RESULT,
  CONSTANT,
  ALIAS,  /* its output is its input: LoopCond, and Enter with is_constant */
  FLOW,   /* instructions: Switch, Merge, Enter, Exit, NextIteration, ControlTrigger */
  NOTHING /* what waits for a NoOp comes behind what that waits for */
} NodeRole;

/* Something that reads values, in its place among all that do: a step, or an instruction other than DO_STEPS.
 */
typedef struct Event {
  int32_t step;        /* NO_STEP: an instruction */
  int32_t instruction; /* that it is, or is part of */
  Guard guard;
} Event;
enum { NO_STEP = -1 };

typedef struct Compiler {
  Program *program;
  KernelTable *table;
  const CallSites *sites;
  Arena *scratch; /* goes when the program is made */
  Schedule schedule;
  uint8_t *roles;        /* per node id: NodeRole */
  Slot *places;          /* per node id: the slot of its first output */
  int32_t *last_readers; /* per slot: the event that reads it last, NO_READER or READ_AS_RESULT */
  Event *events;
  int32_t num_events;
  int64_t next_read;            /* the slot that the next value of a reference gets */
  int64_t next_result;          /* the slot of result 0, if a loop gives it */
  Guard *result_guards;         /* per result, if a loop gives it */
  struct LoopNodes *loop_nodes; /* per loop (program_compile_flow.c) */
  int64_t *chain;               /* per node id: the next one in such a list */
} Compiler;

static inline bool compiler_has_role(const Compiler *c, const Node *node, NodeRole role) {
  return c->roles[node->id] == role;
}

/* The slot of what the edge hands on. */
Slot compiler_slot_of(const Compiler *c, const Edge *edge);
void compiler_note_reader(Compiler *c, Slot slot, int32_t event);
/* Whether the input takes the value of a reference. */
bool compiler_is_read(const Edge *edge);
/* "v" or "v:1", as a NodeDef names its inputs; NULL when out of memory. */
const char *compiler_reference_name(Compiler *c, const Edge *edge);

/* --- program_compile_flow.c --- */

/* Enter with is_constant hands on what comes in, in every round, and LoopCond its input. */
MUST_CHECK bool flow_is_alias(const Node *node, bool *alias, Status *status);
/* Once before the items. */
MUST_CHECK bool flow_begin(Compiler *c, Status *status);
/* The instructions of an item that is no step: none of most nodes. */
MUST_CHECK bool flow_compile_item(Compiler *c, const ScheduleItem *item, Status *status);
/* What needs to know all last readers. */
MUST_CHECK bool flow_finish(Compiler *c, Status *status);

#endif
