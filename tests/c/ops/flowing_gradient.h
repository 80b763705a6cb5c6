/* Gradients of ops with outputs at which TensorFlow ignores gradients, or declares that there are none. */
#ifndef TFCORE_TESTS_OPS_FLOWING_GRADIENT_H_
#define TFCORE_TESTS_OPS_FLOWING_GRADIENT_H_

#include <math.h>

#include "gradient_checker.h"
#include "harness.h"
#include "op/node_def.h"
#include "op_runner.h"

/* The sum of dys * ys over the outputs whose bit is in `flowing`. */
static inline bool flowing_sum(OpRun *run, const Tensor *dys, unsigned flowing, double *sum, Status *status) {
  for (int i = 0; i < run->num_outputs; i++) tensor_clear(&run->outputs[i]);
  TRY(op_run_compute(run, status));
  *sum = 0;
  for (int i = 0; i < run->num_outputs; i++) {
    for (int64_t k = 0; (flowing >> i & 1) && k < tensor_num_elements(&run->outputs[i]); k++)
      *sum += tensor_get(&run->outputs[i], k) * tensor_get(&dys[i], k);
  }
  return true;
}

static inline bool flowing_dys(const OpRun *run, unsigned flowing, Tensor *dys, Status *status) {
  for (int i = 0; i < run->num_outputs; i++) {
    TRY(tensor_allocate(&dys[i], run->outputs[i].dtype, &run->outputs[i].shape, NULL, status));
    for (int64_t k = 0; k < tensor_num_elements(&dys[i]); k++)
      tensor_put(&dys[i], k, flowing >> i & 1 ? sin(3.0 * (double)(k + i + 1)) : 0);
  }
  return true;
}

static inline bool flowing_wants(OpRun *run, const Tensor *dys, unsigned flowing, double step, Tensor *wants,
                                 Status *status) {
  for (int i = 0; i < run->num_inputs; i++) {
    if (!dtype_is_floating((int)run->inputs[i].dtype)) continue;
    TRY(tensor_allocate(&wants[i], run->inputs[i].dtype, &run->inputs[i].shape, NULL, status));
    for (int64_t k = 0; k < tensor_num_elements(&wants[i]); k++) {
      double x = tensor_get(&run->inputs[i], k), above, below;
      tensor_put(&run->inputs[i], k, x + step);
      TRY(flowing_sum(run, dys, flowing, &above, status));
      tensor_put(&run->inputs[i], k, x - step);
      TRY(flowing_sum(run, dys, flowing, &below, status));
      tensor_put(&run->inputs[i], k, x);
      tensor_put(&wants[i], k, (above - below) / (2 * step));
    }
  }
  return true;
}

/* Checks the gradient for dys at the outputs whose bit is in `flowing`, and zeros at the others, against
 * central differences with that step. */
static inline void check_flowing_gradient(const char *op, const char *inputs, unsigned flowing, double step,
                                          double tolerance) {
  Status status;
  status_init(&status);
  OpRun run = {0};
  Tensor dys[8] = {0}, wants[10] = {0};
  CHECK_CONTEXT("%s", op);
  bool ok = CHECK_OK(op_run_begin(&run, op, &status) && op_run_inputs(&run, inputs, &status) &&
                         op_run_compute(&run, &status) && flowing_dys(&run, flowing, dys, &status) &&
                         flowing_wants(&run, dys, flowing, step, wants, &status),
                     status);
  if (ok) CHECK(gradient_gives(run.node, run.inputs, run.num_inputs, dys, wants, tolerance));
  for (int i = 0; i < 8; i++) tensor_clear(&dys[i]);
  for (int i = 0; i < 10; i++) tensor_clear(&wants[i]);
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

#endif
