/* StepProgram: the compiled form of a step: a program for each device of this task that takes part in it, or
 * several for each (placement/partition.h), and a graph for each device of another task.
 *
 *   step_program_compile(body, devices, &program, &status);
 *   step_program_begin(program, feeds, NULL, &run, &status);
 *   while ((state = step_run_advance(run, &step, results, &status)) == RUN_WAITING) ...;
 *   step_program_unref(program);
 *
 * The programs of different devices run at the same time where there are threads, and otherwise in turn. A
 * _Recv whose value was not sent yet pauses its program. The first error ends all of them. Values from and
 * for other tasks go through a TaskRendezvous.
 */
#ifndef TFCORE_RUNTIME_STEP_PROGRAM_H_
#define TFCORE_RUNTIME_STEP_PROGRAM_H_

#include "runtime/session_devices.h"
#include "runtime/task_rendezvous.h"

typedef struct StepProgram StepProgram;

/* Makes the program of a client graph, with one reference. If there are several devices, the nodes are
 * assigned to them. The body is consumed, on errors too. Errors: those of partition_body and
 * function_runtime_compile. */
MUST_CHECK bool step_program_compile(FunctionBody *body, SessionDevices *devices, StepProgram **program,
                                     Status *status);
/* A step keeps its program when the graph changes and later steps use another one. */
StepProgram *step_program_ref(StepProgram *program);
void step_program_unref(StepProgram *program); /* NULL is fine */

/* How many programs there are, and what one of them runs. */
int step_program_num_parts(const StepProgram *program);
const Program *step_program_part(const StepProgram *program, int index);
/* The device of nodes that are not assigned to one. */
const char *step_program_device(const StepProgram *program);

/* What other tasks run: a graph for each of their devices that takes part. Borrowed. */
typedef struct RemoteGraph {
  const Device *device;
  Graph *graph;
} RemoteGraph;

int step_program_num_remote(const StepProgram *program);
RemoteGraph step_program_remote(const StepProgram *program, int index);

typedef struct StepRun StepRun;

/* As program_begin and program_advance. One step of a program is advanced at a time. `rendezvous` (borrowed,
 * until the run ends) is that of the step with other tasks: a run that waits for them is blocked (op/step.h),
 * and an error aborts it. NULL: nothing comes from other tasks; FAILED_PRECONDITION if some run a part of the
 * step. */
MUST_CHECK bool step_program_begin(StepProgram *program, const Tensor *const *args,
                                   TaskRendezvous *rendezvous, StepRun **run, Status *status);
RunState step_run_advance(StepRun *run, Step *step, Tensor *results, Status *status);
/* Ends a paused run. NULL is fine. */
void step_run_abandon(StepRun *run);

#endif
