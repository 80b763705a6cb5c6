/* The graphs of other tasks (runtime/step_program.h), in the form in which they are sent there. */
#ifndef TFCORE_RUNTIME_REMOTE_GRAPHS_H_
#define TFCORE_RUNTIME_REMOTE_GRAPHS_H_

#include "runtime/step_program.h"

/* A GraphDef for each device of another task, with the functions of `graph`, and the names of these devices;
 * in `arena`. A function runs on the device of its call, so its nodes ask for none. */
MUST_CHECK bool remote_graphs_export(const StepProgram *program, const Graph *graph, Arena *arena,
                                     GraphDef ***graphs, const char ***devices, int *count, Status *status);

#endif
