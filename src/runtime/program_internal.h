/* What compiling (program_compile.c) leaves for running (program_run.c). */
#ifndef TFCORE_RUNTIME_PROGRAM_INTERNAL_H_
#define TFCORE_RUNTIME_PROGRAM_INTERNAL_H_

#include "runtime/guards.h"
#include "runtime/program.h"

/* Where a value is: slot `s` of a run, or (negative) constant ~s of the program. */
typedef int32_t Slot;

static inline bool slot_is_constant(Slot slot) { return slot < 0; }

/* An input that wants the value of what a reference refers to, at the moment when its kernel begins; or the
 * reference itself, of something that has a value. */
typedef struct ReferenceRead {
  Slot reference;
  Slot value;       /* where the value goes; the reference's own slot: it only has to have one */
  const char *name; /* of the reference, for messages */
} ReferenceRead;

/* One kernel in its place. */
typedef struct ProgramStep {
  const OpKernel *kernel;
  const char *callers; /* of a node of an inlined function: see CallSite; else NULL */
  const Slot *inputs;
  Slot first_output;    /* the outputs are beside each other */
  const bool *last_use; /* per input, for the kernel's context */
  const ReferenceRead *reads;
  int32_t num_reads;
  int32_t num_expiring;
  const Slot *expiring; /* values that nobody reads after this step */
} ProgramStep;

/* A value on its way from one slot to another without a kernel. */
typedef struct Transfer {
  Slot from, to;         /* NO_SLOT: nobody reads it there */
  bool takes;            /* nobody reads `from` after this */
  const char *reference; /* `from` is a reference of that name, whose value is read; else NULL */
} Transfer;

enum { NO_SLOT = INT32_MAX };

typedef enum Opcode {
  DO_STEPS,   /* runs steps [begin, end) if `guard` holds */
  DO_MOVE,    /* transfer 0 if `guard` holds; `gives` becomes what `guard` is: NextIteration */
  DO_EXIT,    /* the same, but `gives` (unless NO_GUARD) holds once `guard` has held */
  DO_RESULT,  /* the same, and it is an error when `guard` holds twice: a result out of a loop */
  DO_SWITCH,  /* transfer 0 leads to the predicate, which chooses one of `num_gives` guards from `gives` on */
  DO_ROUTE,   /* transfer i if guard `gives` + i holds: the data of a Switch */
  DO_MERGE,   /* transfer i, if it is the first of which guards[i] holds; `index` receives i */
  DO_ALL,     /* `gives` holds if all `guards` do */
  DO_ARRIVED, /* `gives` holds if none of `guards` is open: ControlTrigger */
  DO_BEGIN_LOOP, /* transfer i if guards[i] holds; the guards of the Enters, from `gives` on */
  DO_END_LOOP    /* back to the instruction behind the beginning, or on */
} Opcode;

typedef struct ProgramLoop {
  int64_t begin, end;   /* instructions */
  Guard head;           /* holds in every round; NO_GUARD: nobody asks */
  const Guard *entered; /* what Enters without is_constant give: open after the first round */
  int32_t num_entered;
  const Guard *exits, *rounds; /* what Exits and NextIterations give */
  int32_t num_exits, num_rounds;
  const Slot *leftovers; /* values that a round may leave behind because their last reader is dead */
  int32_t num_leftovers;
} ProgramLoop;

/* What a program does between kernels, and DO_STEPS. A graph without control flow is one DO_STEPS. */
typedef struct Instruction {
  Opcode code;
  Guard guard, gives;
  int32_t num_gives;
  int32_t begin, end; /* steps */
  int32_t loop;
  int32_t num_transfers, num_guards, num_expiring;
  bool closes_loop; /* DO_MERGE: with a NextIteration, which the first round does not wait for */
  Slot index;       /* DO_MERGE: NO_SLOT when nobody reads it */
  Transfer *transfers;
  const Guard *guards;
  const Slot *expiring; /* values that nobody reads after this, whether it was done or not */
  const char *name;     /* of the node, for messages */
} Instruction;

struct Program {
  Arena *arena;
  FunctionBody *body; /* owns the nodes that the kernels were made of */
  ProgramEnvironment environment;
  ProgramStep *steps;
  int64_t num_steps, num_slots;
  Instruction *code;
  int64_t num_instructions;
  ProgramLoop *loops; /* number 0 is not used */
  int32_t num_guards; /* at least 1 */
  int64_t num_inputs; /* of all steps */
  Tensor *constants;
  int64_t num_constants;
  int num_args, num_results;
  const bool *reads_arg;          /* per argument, whose slots come first: whether anything reads it */
  const Slot *results;            /* per result */
  const char **result_references; /* per result: the name of a reference whose value it is; else NULL */
  const Guard *result_guards;     /* per result */
  OpKernel **kernels;             /* the program's own */
  int64_t num_kernels;
  ProgramRun *unused; /* runs that are not under way */
};

enum { NOT_BEGUN = -1 };

/* A step of a run: the context leads into the run's values and never changes. */
typedef struct RunStep {
  const ProgramStep *step;
  KernelContext context;
} RunStep;

struct ProgramRun {
  Program *program;
  int64_t instruction; /* that is done next, or that paused */
  int64_t position;    /* the step that runs next, or that paused; NOT_BEGUN: the first of the instruction */
  RunStep *steps;
  Tensor *values;   /* by slot; empty between runs */
  uint8_t *guards;  /* GuardState by guard */
  ProgramRun *next; /* unused as well */
};

/* DO_MOVE and what follows it: one instruction but DO_STEPS. RUN_WAITING between the rounds of a loop when
 * the step pauses. (program_flow.c) */
RunState program_do(ProgramRun *run, const Instruction *instruction, Step *step, Status *status);
/* Where the value is. */
static inline Tensor *program_value(const ProgramRun *run, Slot slot) {
  return slot_is_constant(slot) ? &run->program->constants[~slot] : &run->values[slot];
}

/* One more run, in the program's arena. */
MUST_CHECK bool program_add_run(Program *program, Status *status);

#endif
