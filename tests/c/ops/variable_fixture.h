/* Variables for tests of the ops that read and update them: handles made by VarHandleOp in the test's own
 * resource manager, and single ops that run on them. */
#ifndef TFCORE_TESTS_OPS_VARIABLE_FIXTURE_H_
#define TFCORE_TESTS_OPS_VARIABLE_FIXTURE_H_

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"

enum { FIXTURE_MAX = 4 };

typedef struct VariableFixture {
  ResourceManager *manager;
  Tensor handles[FIXTURE_MAX];
  const Parallel *parallel;
} VariableFixture;

/* Runs one op whose first inputs are the handles with the numbers in `handles` ("012"), and the rest
 * `inputs`. `output` receives output 0; it may be NULL, and the caller clears it. */
static inline bool fixture_run(VariableFixture *fixture, const char *op, const char *handles,
                               const char *inputs, Tensor *output, Status *status) {
  OpRun run;
  OpKernel *kernel = NULL;
  const Tensor *all[OP_RUN_MAX];
  bool ok = op_run_begin(&run, op, status);
  for (; ok && *handles != '\0'; handles++) {
    ok = tensor_assign(&run.inputs[run.num_inputs++], &fixture->handles[*handles - '0'], status);
  }
  ok = ok && op_run_inputs(&run, inputs, status) &&
       op_kernel_new(run.op, run.node, NULL, NULL, &kernel, status);
  for (int i = 0; i < run.num_inputs; i++) all[i] = &run.inputs[i];
  if (ok) {
    KernelContext context = {.inputs = all,
                             .outputs = run.outputs,
                             .resources = fixture->manager,
                             .parallel = fixture->parallel};
    ok = op_kernel_run(kernel, &context, status);
  }
  if (ok && output) tensor_move(output, &run.outputs[0]);
  op_kernel_free(kernel);
  op_run_end(&run);
  return ok;
}

/* Handle `i` to a variable named v0, v1, ... that has no value yet. */
static inline bool fixture_declare(VariableFixture *fixture, int i, const char *dtype, Status *status) {
  char op[96];
  snprintf(op, sizeof op, "VarHandleOp[dtype=%s, shape=[], shared_name=v%d]", dtype, i);
  tensor_clear(&fixture->handles[i]);
  return fixture_run(fixture, op, "", "", &fixture->handles[i], status);
}

/* The same with a value: "float[2] 1 2". */
static inline bool fixture_set(VariableFixture *fixture, int i, const char *value, Status *status) {
  char dtype[16], op[64], number[2] = {(char)('0' + i), '\0'};
  snprintf(dtype, sizeof dtype, "%.*s", (int)strcspn(value, "["), value);
  snprintf(op, sizeof op, "AssignVariableOp[dtype=%s]", dtype);
  return fixture_declare(fixture, i, dtype, status) && fixture_run(fixture, op, number, value, NULL, status);
}

/* The variable's value. */
static inline bool fixture_holds(VariableFixture *fixture, int i, const char *want, double tolerance) {
  char op[64], number[2] = {(char)('0' + i), '\0'};
  Status status;
  status_init(&status);
  Tensor got = {0}, expected = {0};
  int count = 0;
  snprintf(op, sizeof op, "ReadVariableOp[dtype=%.*s]", (int)strcspn(want, "["), want);
  bool ok = CHECK_OK(tensors_parse(want, &expected, 1, &count, &status), status) &&
            CHECK_OK(fixture_run(fixture, op, number, "", &got, &status), status) &&
            tensor_is_about(&got, &expected, tolerance);
  tensor_clear(&got);
  tensor_clear(&expected);
  return ok;
}

static inline bool fixture_begin(VariableFixture *fixture) {
  *fixture = (VariableFixture){.manager = resource_manager_new()};
  return CHECK(fixture->manager);
}

static inline void fixture_end(VariableFixture *fixture) {
  for (int i = 0; i < FIXTURE_MAX; i++) tensor_clear(&fixture->handles[i]);
  resource_manager_free(fixture->manager);
}

#endif
