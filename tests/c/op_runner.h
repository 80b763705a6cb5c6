/* Runs single ops in tests.
 *
 *   op_gives("Add[T=float]", "float[2] 1 2; float[] 3", "float[2] 4 5");
 *   op_fails("Add[T=float]", "float[2] 1 2; float[3] 0", CODE_INVALID_ARGUMENT, "Incompatible shapes");
 *
 * A tensor is written as dtype, dimensions, values: numbers, nan, inf, true, false, complex numbers as 1-2i
 * (1 is 1+0i), or words for strings. The last value is repeated as often as needed. Attrs are written without
 * quotes, strings that contain a comma in brackets, lists as [1, -1] (of numbers, types, words; shapes too),
 * and read as the type that the OpDef gives them; those without a default must all be there.
 */
#ifndef TFCORE_TESTS_OP_RUNNER_H_
#define TFCORE_TESTS_OP_RUNNER_H_

#include "graph/graph.h"
#include "op/op_registry.h"

/* Checks that the op's outputs are exactly those of `want`, or within a tolerance:
 * |got - want| <= tolerance * max(1, |want|). */
bool op_gives(const char *op, const char *inputs, const char *want);
bool op_gives_about(const char *op, const char *inputs, const char *want, double tolerance);
bool op_fails(const char *op, const char *inputs, Code code, const char *message_part);

/* --- one step at a time, for tests that generate their inputs --- */

enum { OP_RUN_MAX = 64 };

typedef struct OpRun {
  Arena *arena;
  const Op *op;
  NodeDef *node;
  Tensor inputs[OP_RUN_MAX], outputs[OP_RUN_MAX];
  int num_inputs, num_outputs;
  bool last_use; /* tells the kernel that the inputs have no other readers */
  bool constant; /* tells the kernel at construction that the inputs are constants */
  const Parallel *parallel;
} OpRun;

/* Registers all ops of the build; the caller's test must not hold other registrations. */
MUST_CHECK bool op_run_begin(OpRun *run, const char *op, Status *status);
/* The next input, with uninitialised elements. NULL when out of memory. */
Tensor *op_run_input(OpRun *run, DataType dtype, int rank, const int64_t *dims);
/* Appends inputs written as text. */
MUST_CHECK bool op_run_inputs(OpRun *run, const char *text, Status *status);
MUST_CHECK bool op_run_compute(OpRun *run, Status *status);
void op_run_end(OpRun *run);

/* Adds an op, written as above, to a graph; `output` is its first. */
MUST_CHECK bool op_add_node(Graph *graph, const char *name, const char *op, const NodeOutput *inputs,
                            int num_inputs, NodeOutput *output, Status *status);

/* Parses "float[2] 1 2; int32[] 3" into an array of at most `capacity` tensors, which the caller clears. */
MUST_CHECK bool tensors_parse(const char *text, Tensor *tensors, int capacity, int *count, Status *status);
/* Sets element `i` of a number or bool tensor; the value is converted as in C and must fit. For a complex
 * number it is the real part, and the imaginary part is 0. */
void tensor_put(Tensor *tensor, int64_t i, double value);
/* Element `i` as double, including half and bfloat16; for a complex number the real part. */
double tensor_get(const Tensor *tensor, int64_t i);
/* The element that a tensor which is broadcast to `rank` dimensions has at a place of them. */
double tensor_get_broadcast(const Tensor *tensor, int rank, const int64_t *place);
/* The imaginary part of element `i`; 0 when the tensor is not complex. */
void tensor_put_imaginary(Tensor *tensor, int64_t i, double value);
double tensor_get_imaginary(const Tensor *tensor, int64_t i);
/* Compares dtype, shape, and elements within `tolerance` as above; reports differences by a failing CHECK. */
bool tensor_is_about(const Tensor *got, const Tensor *want, double tolerance);

#endif
