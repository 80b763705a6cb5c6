/* What compiling (program_compile.c) leaves for running (program_run.c). */
#ifndef TFCORE_RUNTIME_PROGRAM_INTERNAL_H_
#define TFCORE_RUNTIME_PROGRAM_INTERNAL_H_

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

struct Program {
  Arena *arena;
  FunctionBody *body; /* owns the nodes that the kernels were made of */
  ProgramEnvironment environment;
  ProgramStep *steps;
  int64_t num_steps, num_slots;
  int64_t num_inputs; /* of all steps */
  Tensor *constants;
  int64_t num_constants;
  int num_args, num_results;
  const bool *reads_arg;          /* per argument, whose slots come first: whether anything reads it */
  const Slot *results;            /* per result */
  const char **result_references; /* per result: the name of a reference whose value it is; else NULL */
  OpKernel **kernels;             /* the program's own */
  int64_t num_kernels;
  ProgramRun *unused; /* runs that are not under way */
};

/* A step of a run: the context leads into the run's values and never changes. */
typedef struct RunStep {
  const ProgramStep *step;
  KernelContext context;
} RunStep;

struct ProgramRun {
  Program *program;
  int64_t position; /* the step that runs next, or that paused */
  RunStep *steps;
  Tensor *values;   /* by slot; empty between runs */
  ProgramRun *next; /* unused as well */
};

/* One more run, in the program's arena. */
MUST_CHECK bool program_add_run(Program *program, Status *status);

#endif
