/* The compiled form of a program: written by program_compile.c, executed by program_run.c. */
#ifndef TFCORE_RUNTIME_PROGRAM_INTERNAL_H_
#define TFCORE_RUNTIME_PROGRAM_INTERNAL_H_

#include "runtime/guards.h"
#include "runtime/program.h"

/* The place of a value: slot `s` of a run, or (negative) constant ~s of the program. */
typedef int32_t Slot;

static inline bool slot_is_constant(Slot slot) { return slot < 0; }

/* An input that needs the value of a reference at the moment when its kernel begins; or a reference input
 * that must have a value. */
typedef struct ReferenceRead {
  Slot reference;
  Slot value;       /* the slot for the value; `reference` itself: only check that it has a value */
  const char *name; /* of the reference, for messages */
} ReferenceRead;

/* One kernel with its slots. */
typedef struct ProgramStep {
  const OpKernel *kernel;
  const Node *node;    /* of the body */
  const char *callers; /* for an inlined node: see CallSite; else NULL */
  const Slot *inputs;
  Slot first_output;    /* the outputs have consecutive slots */
  const bool *last_use; /* per input, for the kernel's context */
  const ReferenceRead *reads;
  int32_t num_reads;
  int32_t num_expiring;
  const Slot *expiring; /* values without readers after this step */
} ProgramStep;

/* Moves a value from one slot to another without a kernel. */
typedef struct Transfer {
  Slot from, to;         /* NO_SLOT: the result has no readers */
  bool takes;            /* `from` has no readers after this */
  const char *reference; /* `from` is a reference of that name, whose value is read; else NULL */
} Transfer;

enum { NO_SLOT = INT32_MAX };

typedef enum Opcode {
  DO_STEPS,   /* runs steps [begin, end) if `guard` holds */
  DO_SEND,    /* runs the step `begin`, a _Send, and tells it whether `guard` holds */
  DO_RECEIVE, /* runs the step `begin`, a _Recv, if `guard` holds; `gives` holds if a value arrived */
  DO_MOVE,    /* transfer 0 if `guard` holds; `gives` gets the state of `guard`: NextIteration */
  DO_EXIT,    /* the same, but `gives` (unless NO_GUARD) holds once `guard` has held */
  DO_RESULT,  /* the same, but it is an error when `guard` holds twice: a result of a loop */
  DO_ONCE,    /* it is an error when `guard` and `gives` hold: result `num_gives` would be set again */
  DO_SWITCH,  /* transfer 0 has the predicate, which selects one of `num_gives` guards, starting at `gives` */
  DO_ROUTE,   /* transfer i if guard `gives` + i holds: the data of a Switch */
  DO_MERGE,   /* transfer i for the first i with guards[i] true; `index` receives i */
  DO_ALL,     /* `gives` holds if all `guards` do */
  DO_ARRIVED, /* `gives` holds if none of `guards` is open: ControlTrigger */
  DO_BEGIN_LOOP, /* transfer i if guards[i] holds; the Enters' guards start at `gives` */
  DO_END_LOOP    /* jumps back to the instruction after the loop's first one, or ends the loop */
} Opcode;

typedef struct ProgramLoop {
  int64_t begin, end;   /* instructions */
  int32_t parent;       /* the loop around it; 0: none */
  uint64_t frame;       /* a hash of the frame's name */
  bool sends;           /* a _Send is inside: it runs, without a value, even if the loop is not entered */
  Guard head;           /* holds in every iteration; NO_GUARD: nothing tests it */
  const Guard *entered; /* the guards of Enters without is_constant: undecided after the first iteration */
  int32_t num_entered;
  const Guard *exits, *rounds; /* the guards of Exits and NextIterations */
  int32_t num_exits, num_rounds;
  const Slot *leftovers; /* values that an iteration may leave behind because their last reader is dead */
  int32_t num_leftovers;
} ProgramLoop;

/* The iteration of a loop in a run: what identifies the values that it sends. */
typedef struct LoopPosition {
  uint64_t frame; /* as in DeviceTransfer */
  int64_t iteration;
} LoopPosition;

/* An instruction: DO_STEPS, or control flow between kernels. A graph without control flow is one DO_STEPS. */
typedef struct Instruction {
  Opcode code;
  Guard guard, gives;
  int32_t num_gives;
  int32_t begin, end; /* steps */
  int32_t loop;
  int32_t num_transfers, num_guards, num_expiring;
  bool closes_loop; /* DO_MERGE: has a NextIteration as input, which the first iteration ignores */
  Slot index;       /* DO_MERGE: NO_SLOT when it has no readers */
  Transfer *transfers;
  const Guard *guards;
  const Slot *expiring; /* values without readers after this, whether it was executed or skipped */
  const char *name;     /* of the node, for messages */
} Instruction;

struct Program {
  Arena *arena;
  FunctionBody *body; /* owns the nodes that the kernels were made from */
  ProgramEnvironment environment;
  ProgramStep *steps;
  int64_t num_steps, num_slots;
  Instruction *code;
  int64_t num_instructions;
  ProgramLoop *loops; /* entry 0 is unused */
  int32_t num_loops;  /* with entry 0 */
  bool has_transfers;
  int32_t num_guards; /* at least 1 */
  int64_t num_inputs; /* of all steps */
  Tensor *constants;
  const Node **constant_nodes; /* per constant */
  int64_t num_constants;
  int num_args, num_results;
  const bool *reads_arg;          /* per argument: whether it has readers. Arguments have the first slots */
  const Slot *results;            /* per result */
  const char **result_references; /* per result: the name of the reference whose value it is; else NULL */
  const Guard *result_guards;     /* per result */
  OpKernel **kernels;             /* owned by the program */
  int64_t num_kernels;
  ProgramRun *unused; /* runs ready for reuse */
};

enum { NOT_BEGUN = -1 };

/* A step of a run. Its context points into the run's values and never changes. */
typedef struct RunStep {
  const ProgramStep *step;
  KernelContext context;
  int64_t started; /* of a traced step: when the kernel began; nanoseconds */
} RunStep;

struct ProgramRun {
  Program *program;
  int64_t step_id;     /* of the step that has advanced it last */
  int64_t instruction; /* the next one, or the one that paused */
  int64_t position;    /* the next step, or the one that paused; NOT_BEGUN: the first of the instruction */
  RunStep *steps;
  Tensor *values;      /* by slot; empty between runs */
  uint8_t *guards;     /* GuardState by guard */
  LoopPosition *loops; /* by loop; only in programs with transfers */
  DeviceTransfer transfer;
  const atomic_bool *awaited; /* see program_yield_to_receivers */
  bool is_traced;             /* its trace has begun */
  ProgramRun *next;           /* also links the unused runs */
};

/* Executes one instruction other than DO_STEPS. Returns RUN_WAITING between the iterations of a loop when the
 * step pauses. (program_flow.c) */
RunState program_do(ProgramRun *run, const Instruction *instruction, Step *step, Status *status);
/* Executes a DO_SEND or DO_RECEIVE. (program_transfer.c) */
RunState program_do_transfer(ProgramRun *run, const Instruction *instruction, Step *step, Status *status);
/* Notes that the loop begins. (program_transfer.c) */
void program_enter_loop(ProgramRun *run, int32_t loop);
/* Runs the steps from the position on that belong to the instruction. (program_run.c) */
RunState program_run_steps(ProgramRun *run, const Instruction *instruction, Step *step, Status *status);

/* For steps with a trace (program_trace.c). The first records the constants and arguments of a run that
 * begins, the second a kernel that `run_kernel` runs, the third the results of a run. */
typedef bool RunKernel(const ProgramRun *run, RunStep *at, Status *status);
void program_trace_begin(ProgramRun *run, const Step *step);
MUST_CHECK bool program_trace_kernel(const ProgramRun *run, RunStep *at, RunKernel *run_kernel,
                                     Status *status);
void program_trace_results(const ProgramRun *run, const Step *step);

/* The value in the slot. */
static inline Tensor *program_value(const ProgramRun *run, Slot slot) {
  return slot_is_constant(slot) ? &run->program->constants[~slot] : &run->values[slot];
}

/* Adds a run, allocated in the program's arena. */
MUST_CHECK bool program_add_run(Program *program, Status *status);

#endif
