/* Compiles the program of a step as a session does, for tests of the session's parts. */
#ifndef TFCORE_TESTS_RUNTIME_PROGRAM_FIXTURE_H_
#define TFCORE_TESTS_RUNTIME_PROGRAM_FIXTURE_H_

#include "harness.h"
#include "runtime/client_graph.h"
#include "runtime/function_runtime.h"

/* NULL on error. The step must call no functions. */
static inline Program *compile_step(Graph *graph, const StepSignature *signature, KernelTable *kernels,
                                    Status *status) {
  const ProgramEnvironment environment = {0};
  FunctionBody *body;
  Program *program = NULL;
  FunctionRuntime *runtime = function_runtime_new(graph, &environment, status);
  bool ok = kernels && runtime && client_graph_of_step(graph, signature, &body, status) &&
            function_runtime_compile(runtime, body, kernels, &program, status);
  function_runtime_free(runtime);
  return ok ? program : NULL;
}

/* The number of kernels of the step; -1 on error. */
static inline int64_t steps_of(Graph *graph, const StepSignature *signature, KernelTable *kernels) {
  Status status;
  status_init(&status);
  Program *program = compile_step(graph, signature, kernels, &status);
  int64_t steps = CHECK_OK(program, status) ? program_num_steps(program) : -1;
  program_free(program);
  return steps;
}

#endif
