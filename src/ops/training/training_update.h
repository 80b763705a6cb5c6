/* What the update ops of all optimisers share: finding variables, gradient, indices and scalars among the
 * inputs by what the op's spec says of them, checking them, and running one formula over whole variables or
 * over the rows that indices name.
 *
 * Inputs come as: the variable and its slots, then in any order the gradient ("grad" or "delta"), "indices"
 * of a sparse update, and scalars, which a formula gets in the order of the spec; behind them 1 or 0 for
 * multiply_linear_by_lr, where the op has it. */
#ifndef TFCORE_OPS_TRAINING_TRAINING_UPDATE_H_
#define TFCORE_OPS_TRAINING_TRAINING_UPDATE_H_

#include "op/op_registry.h"

enum { UPDATE_MAX_VARIABLES = 4, UPDATE_MAX_SCALARS = 7 };

/* One step over `count` elements of every variable. Everything is of the type that is computed in: that of
 * the variables, or float for half and bfloat16. `flag` is the op's use_nesterov or update_slots; of an op
 * that has neither, whether it updates rows. */
typedef void (*UpdateLoop)(const void *scalars, bool flag, int64_t count, void *const *variables,
                           const void *grad);

typedef enum UpdateDemands {
  UPDATE_PLAIN = 0,
  UPDATE_SIGNS = 1,     /* lr is positive, l1 and l2 are not negative */
  UPDATE_FTRL = 2,      /* sparse: the same, but with multiply_linear_by_lr lr may be 0; l2_shrinkage is not
                           negative, lr_power not positive */
  UPDATE_FULL_ROWS = 4, /* sparse: rows have elements */
} UpdateDemands;

/* The data of the kernels of update ops. */
typedef struct UpdateStep {
  UpdateLoop loop;
  UpdateDemands demands;
} UpdateStep;

typedef struct UpdateState {
  const OpDef *op_def;
  int num_variables, grad, indices; /* indices: -1 when the update is dense */
  int num_scalars, scalars[UPDATE_MAX_SCALARS];
  bool flag;
  bool linear_in_rate; /* multiply_linear_by_lr */
} UpdateState;

bool update_construct(const KernelConstruction *construction, void *memory, Status *status);
/* The kernel of all update ops, whose data is an UpdateStep. */
MUST_CHECK bool update_kernel(KernelContext *context, Status *status);
bool update_shape(InferenceContext *c, Status *status);

#endif
