/* Programs: the graph of a function (function/function_body.h), compiled for running, and its runs.
 *
 * A program is immutable: the kernels in the order in which they run, with the slots of their inputs and
 * outputs. A run is the state of one execution: the values in the slots, the contexts of the kernels, and the
 * position. It lives on the heap and can pause between two kernels, or inside a kernel that calls functions.
 * Several runs of a program may be in progress, also nested.
 *
 * Running walks over an array. A value is dropped after its last use, a kernel may compute in the memory of
 * an input that it reads last, and buffers come from the session's pool. Runs are reused, so that the second
 * one with the same shapes allocates nothing.
 *
 *   ProgramRun *run;
 *   program_begin(program, feeds, &run, &status);
 *   while ((state = program_advance(run, &step, results, &status)) == RUN_WAITING) ...;
 */
#ifndef TFCORE_RUNTIME_PROGRAM_H_
#define TFCORE_RUNTIME_PROGRAM_H_

#include <stdatomic.h>

#include "function/function_body.h"
#include "op/kernel.h"
#include "runtime/call_sites.h"
#include "runtime/kernel_table.h"

/* The environment of a program's kernels. Borrowed. */
typedef struct ProgramEnvironment {
  BufferPool *pool;
  ResourceManager *resources;
  const Parallel *parallel;        /* NULL: one thread */
  const FunctionCaller *functions; /* NULL: kernels that call functions fail */
} ProgramEnvironment;

typedef struct Program Program;

/* Compiles the nodes that the results and control results of the body need, in topological order. `body` is
 * consumed on success only. `kernels` must outlive the program. `sites` are the call sites of inlined nodes;
 * may be NULL. Errors: INVALID_ARGUMENT for a cycle and for an unconnected input; NOT_FOUND for an op without
 * a kernel; RESOURCE_EXHAUSTED. */
MUST_CHECK bool program_compile(FunctionBody *body, KernelTable *kernels,
                                const ProgramEnvironment *environment, const CallSites *sites,
                                Program **program, Status *status);
/* No run of it may be in progress. NULL is fine. */
void program_free(Program *program);
/* The number of kernels that a run executes: without constants, arguments, results, and nodes that compute
 * nothing. */
int64_t program_num_steps(const Program *program);

/* The graph that it was compiled from, in `arena`. A node without an assigned device has `device`. */
MUST_CHECK bool program_to_def(const Program *program, const char *device, Arena *arena, GraphDef **def,
                               Status *status);

typedef struct ProgramRun ProgramRun;

/* Begins a run. `args` (one per argument of the body) are borrowed during this call; the caller has checked
 * their dtypes. */
MUST_CHECK bool program_begin(Program *program, const Tensor *const *args, ProgramRun **run, Status *status);
/* The same for a call: the arguments are consumed, on errors too. */
MUST_CHECK bool program_begin_call(Program *program, Tensor *args, ProgramRun **run, Status *status);
/* Runs kernels until all are done, or until the step (op/step.h) pauses or ends; it runs at least one kernel,
 * or a part of one. `results` (one per result of the body) are empty at entry and, on RUN_DONE, hold
 * references to the results. The first error ends the run. Unless RUN_WAITING is returned, the run is over:
 * its values are dropped, and the pointer is invalid. One thread at a time may advance runs of a program. */
RunState program_advance(ProgramRun *run, Step *step, Tensor *results, Status *status);
/* After a _Send, the run pauses while `awaited` is true, so that the receiver can be advanced. Borrowed until
 * the run is over; NULL: it goes on. */
void program_yield_to_receivers(ProgramRun *run, const atomic_bool *awaited);
/* Ends a paused run. NULL is fine. */
void program_abandon(ProgramRun *run);

#endif
