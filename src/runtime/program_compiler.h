/* Declarations that the two files of the compiler share: program_compile.c (kernels, slots, last uses) and
 * program_compile_flow.c (Switch, Merge and loops). */
#ifndef TFCORE_RUNTIME_PROGRAM_COMPILER_H_
#define TFCORE_RUNTIME_PROGRAM_COMPILER_H_

#include "runtime/program_internal.h"
#include "runtime/schedule.h"

enum { NO_READER = -1, READ_AS_RESULT = INT32_MAX };

/* The role of a node in the program. */
typedef enum NodeRole {
  STEP,
  ARGUMENT,
  RESULT,
  CONSTANT,
  ALIAS,  /* its output is its input: Identity, LoopCond, and Enter with is_constant */
  FLOW,   /* instructions: Switch, Merge, Enter, Exit, NextIteration, ControlTrigger */
  NOTHING /* nothing runs; nodes after a NoOp are ordered after its inputs */
} NodeRole;

/* A reader of values and its position: a step, or an instruction other than DO_STEPS. */
typedef struct Event {
  int32_t step;        /* NO_STEP: an instruction */
  int32_t instruction; /* the instruction, or the one that contains the step */
  Guard guard;
} Event;
enum { NO_STEP = -1 };

typedef struct Compiler {
  Program *program;
  KernelTable *table;
  const CallSites *sites;
  Arena *scratch; /* freed when the program is complete */
  Schedule schedule;
  uint8_t *roles;        /* per node id: NodeRole */
  Slot *places;          /* per node id: the slot of its first output */
  int32_t *last_readers; /* per slot: the event that reads it last, NO_READER or READ_AS_RESULT */
  Event *events;
  int32_t num_events;
  int64_t next_read;            /* the slot for the next value read from a reference */
  int64_t next_result;          /* the slot of the first result, for results of loops */
  Guard *result_guards;         /* per result, for results of loops */
  struct LoopNodes *loop_nodes; /* per loop (program_compile_flow.c) */
  int64_t *chain;               /* per node id: the next node of its chain in LoopNodes */
} Compiler;

static inline bool compiler_has_role(const Compiler *c, const Node *node, NodeRole role) {
  return c->roles[node->id] == role;
}

/* The slot of the edge's value. */
Slot compiler_slot_of(const Compiler *c, const Edge *edge);
void compiler_note_reader(Compiler *c, Slot slot, int32_t event);
/* Whether the input reads the value of a reference. */
bool compiler_is_read(const Edge *edge);
/* "v" or "v:1", as a NodeDef names its inputs; NULL when out of memory. */
const char *compiler_reference_name(Compiler *c, const Edge *edge);

/* --- program_compile_flow.c --- */

/* An Enter with is_constant passes its input on in every iteration; LoopCond passes on its input. */
MUST_CHECK bool flow_is_alias(const Node *node, bool *alias, Status *status);
/* Called once before the items. */
MUST_CHECK bool flow_begin(Compiler *c, Status *status);
/* Adds the instructions of an item that is not a step; most nodes have no instructions. */
MUST_CHECK bool flow_compile_item(Compiler *c, const ScheduleItem *item, Status *status);
/* Called when all last readers are known. */
MUST_CHECK bool flow_finish(Compiler *c, Status *status);

#endif
