/* Programs: the graph of a function (function/function_body.h) made ready to run, and its runs.
 *
 * A program is immutable: the kernels in the order in which they run, and for each the slots that its inputs
 * come from and its outputs go to. A run is the state of one execution: the values in the slots, the contexts
 * of the kernels, and where it is. It lives on the heap and can pause between two kernels, or within one that
 * calls functions. Several runs of a program may be under way, also within each other.
 *
 * Running is a walk over an array: a value is dropped behind its last use, a kernel may compute in the memory
 * of an input that it reads last, and buffers come from the session's pool. Runs are used again, so that the
 * second one with the same shapes allocates nothing.
 *
 *   ProgramRun *run;
 *   program_begin(program, feeds, &run, &status);
 *   while ((state = program_advance(run, &step, results, &status)) == RUN_WAITING) ...;
 */
#ifndef TFCORE_RUNTIME_PROGRAM_H_
#define TFCORE_RUNTIME_PROGRAM_H_

#include "function/function_body.h"
#include "op/kernel.h"
#include "runtime/call_sites.h"
#include "runtime/kernel_table.h"

/* What the kernels of a program use while they run. Borrowed. */
typedef struct ProgramEnvironment {
  BufferPool *pool;
  ResourceManager *resources;
  const Parallel *parallel;        /* NULL: one thread */
  const FunctionCaller *functions; /* NULL: kernels that call functions fail */
} ProgramEnvironment;

typedef struct Program Program;

/* Compiles what the results and control results of the body need, in topological order. `body` is taken over
 * on success only. `kernels` outlives the program. `sites` are the calls that nodes of inlined functions come
 * from; may be NULL. Errors: INVALID_ARGUMENT for a cycle and for an input that is not connected; NOT_FOUND
 * for an op without a kernel; RESOURCE_EXHAUSTED. */
MUST_CHECK bool program_compile(FunctionBody *body, KernelTable *kernels,
                                const ProgramEnvironment *environment, const CallSites *sites,
                                Program **program, Status *status);
/* No run of it is under way. NULL is fine. */
void program_free(Program *program);
/* Kernels that a run executes: without constants, arguments, results, and nodes that compute nothing. */
int64_t program_num_steps(const Program *program);

typedef struct ProgramRun ProgramRun;

/* Begins a run. `args` (one per argument of the body) are borrowed until this returns; their dtypes have been
 * checked. */
MUST_CHECK bool program_begin(Program *program, const Tensor *const *args, ProgramRun **run, Status *status);
/* The same for a call: the arguments are taken over, and empty afterwards whatever happens. */
MUST_CHECK bool program_begin_call(Program *program, Tensor *args, ProgramRun **run, Status *status);
/* Runs the kernels until all have run, or the step (op/step.h) pauses or ends; at least one kernel, or piece
 * of one. `results` (one per result of the body) are empty at entry and, on RUN_DONE, hold references to the
 * results. The first error ends the run. Unless it is RUN_WAITING, the run is over: all its values are
 * dropped, and the pointer is stale. One thread at a time may advance runs of a program. */
RunState program_advance(ProgramRun *run, Step *step, Tensor *results, Status *status);
/* Ends a run that waits. NULL is fine. */
void program_abandon(ProgramRun *run);

#endif
