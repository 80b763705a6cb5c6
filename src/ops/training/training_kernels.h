/* What the files of update ops share: the loops of formulas (training_loop.inc), and the fields of
 * registrations. */
#ifndef TFCORE_OPS_TRAINING_TRAINING_KERNELS_H_
#define TFCORE_OPS_TRAINING_TRAINING_KERNELS_H_

#include <math.h>
#include <string.h>

#include "ops/support/element_types.h"
#include "ops/training/training_update.h"

/* For the template: the loop of NAME(op_step), with its number of scalars and variables, and other data of
 * the kernel. */
#define UPDATE_STEP(op, num_scalars, num_variables, demands)                                            \
  static void NAME(op##_loop)(const void *s, bool flag, int64_t count, void *const *v, const void *g) { \
    NAME(each)(NAME(op##_step), num_scalars, num_variables, s, flag, count, v, g);                      \
  }                                                                                                     \
  static const UpdateStep NAME(op) = {NAME(op##_loop), demands};

#define UPDATE(...)                                                                  \
  .shape = update_shape, .gradient = NO_GRADIENT, .state_size = sizeof(UpdateState), \
  .construct = update_construct, .kernels = {__VA_ARGS__}
/* Half types are computed in float. */
#define FLOAT_STEPS(name) TYPED_FLOAT_KERNELS(update_kernel, &name), HALF_KERNELS(update_kernel, &name##_f32)

#endif
