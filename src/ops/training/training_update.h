/* Shared by the update ops of all optimisers: identifies the variables, gradient, indices and scalars among
 * the inputs by the op's spec, checks them, and applies one formula to whole variables or to the rows given
 * by indices.
 *
 * The order of inputs: the variable and its slots, then in any order the gradient ("grad" or "delta"),
 * "indices" of a sparse update, and scalars, which a formula gets in the order of the spec, followed by
 * multiply_linear_by_lr as 1 or 0 if the op has it.
 */
#ifndef TFCORE_OPS_TRAINING_TRAINING_UPDATE_H_
#define TFCORE_OPS_TRAINING_TRAINING_UPDATE_H_

#include "op/op_registry.h"

enum { UPDATE_MAX_VARIABLES = 4, UPDATE_MAX_SCALARS = 7 };

/* One step over `count` elements of every variable. Everything has the type of the computation: the
 * variables' type, or float for half and bfloat16. `flag` is the op's use_nesterov or update_slots; for an op
 * without these, whether it updates rows. */
typedef void (*UpdateLoop)(const void *scalars, bool flag, int64_t count, void *const *variables,
                           const void *grad);

typedef enum UpdateDemands {
  UPDATE_PLAIN = 0,
  UPDATE_SIGNS = 1,     /* lr is positive, l1 and l2 are not negative */
  UPDATE_FTRL = 2,      /* sparse: the same, but with multiply_linear_by_lr lr may be 0; l2_shrinkage is not
                         * negative, lr_power not positive */
  UPDATE_FULL_ROWS = 4, /* sparse: rows have elements */
} UpdateDemands;

/* The data of the kernels of update ops. */
typedef struct UpdateStep {
  UpdateLoop loop;
  UpdateDemands demands;
} UpdateStep;

typedef struct UpdateState {
  const OpDef *op_def;
  int num_variables, grad, indices; /* indices: -1 for a dense update */
  int num_scalars, scalars[UPDATE_MAX_SCALARS];
  bool flag;
  bool linear_in_rate; /* multiply_linear_by_lr */
} UpdateState;

bool update_construct(const KernelConstruction *construction, void *memory, Status *status);
/* The kernel of all update ops. Its data is an UpdateStep. */
MUST_CHECK bool update_kernel(KernelContext *context, Status *status);
bool update_shape(InferenceContext *c, Status *status);

#endif
