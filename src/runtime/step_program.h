/* StepProgram: the compiled form of a step: a program for each device that takes part in it.
 *
 *   step_program_compile(body, devices, &program, &status);
 *   step_program_begin(program, feeds, &run, &status);
 *   while ((state = step_run_advance(run, &step, results, &status)) == RUN_WAITING) ...;
 *   step_program_unref(program);
 *
 * The programs of different devices run at the same time where there are threads, and otherwise in turn. A
 * _Recv whose value was not sent yet pauses its program. The first error ends all of them.
 */
#ifndef TFCORE_RUNTIME_STEP_PROGRAM_H_
#define TFCORE_RUNTIME_STEP_PROGRAM_H_

#include "runtime/session_devices.h"

typedef struct StepProgram StepProgram;

/* Makes the program of a client graph, with one reference. If there are several devices, the nodes are
 * assigned to them. The body is consumed, on errors too. Errors: those of partition_body and
 * function_runtime_compile. */
MUST_CHECK bool step_program_compile(FunctionBody *body, SessionDevices *devices, StepProgram **program,
                                     Status *status);
/* A step keeps its program when the graph changes and later steps use another one. */
StepProgram *step_program_ref(StepProgram *program);
void step_program_unref(StepProgram *program); /* NULL is fine */

/* How many devices take part, and what one of them runs. */
int step_program_num_parts(const StepProgram *program);
const Program *step_program_part(const StepProgram *program, int index);
/* The device of nodes that are not assigned to one. */
const char *step_program_device(const StepProgram *program);

typedef struct StepRun StepRun;

/* As program_begin and program_advance. One step of a program is advanced at a time. */
MUST_CHECK bool step_program_begin(StepProgram *program, const Tensor *const *args, StepRun **run,
                                   Status *status);
RunState step_run_advance(StepRun *run, Step *step, Tensor *results, Status *status);
/* Ends a paused run. NULL is fine. */
void step_run_abandon(StepRun *run);

#endif
