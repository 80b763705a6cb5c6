/* Broadcasting of two shapes as in NumPy and TensorFlow: shapes are aligned at their last dimensions, and
 * sizes must be equal or one of them 1. Shared by the ops that combine two tensors element by element, whose
 * kernels are broadcast_kernel with a loop: see ops/math/broadcast_binary.c. */
#ifndef TFCORE_OPS_SUPPORT_BROADCAST_H_
#define TFCORE_OPS_SUPPORT_BROADCAST_H_

#include "op/kernel.h"

/* The operand that is constant along a run of output elements. */
typedef enum BroadcastSide { BROADCAST_NONE, BROADCAST_A, BROADCAST_B } BroadcastSide;

/* An output of two or more elements has at most 62 dimensions above 1. */
enum { BROADCAST_MAX_RANK = 64 };

/* The loop nest over the output. Adjacent dimensions of the same kind are merged, and those of size 1 left
 * out. */
typedef struct Broadcast {
  int rank;         /* of the nest; 0: a single element */
  int64_t elements; /* of the output; if 0, the other fields are not set */
  int64_t dims[BROADCAST_MAX_RANK];
  int64_t stride_a[BROADCAST_MAX_RANK],
      stride_b[BROADCAST_MAX_RANK]; /* in elements; 0 where the operand is constant */
} Broadcast;

/* INVALID_ARGUMENT "Incompatible shapes: [2,3] vs. [2]". `output` must be initialised (zeros are valid), and
 * the caller clears it. */
MUST_CHECK bool broadcast_shapes(const Shape *a, const Shape *b, Shape *output, Status *status);
bool broadcast_compatible(const Shape *a, const Shape *b);
/* The shape given by input `i`, a vector of integers. INVALID_ARGUMENT "In[1] must be a vector.[2,2]", and
 * for invalid sizes. */
MUST_CHECK bool broadcast_shape_of_input(KernelContext *context, int i, Shape *shape, Status *status);
/* The loop nest for two compatible shapes. */
void broadcast_plan(const Shape *a, const Shape *b, Broadcast *plan);

/* out[i] = f(a[i], b[i]) for n elements; a constant operand has a single element. `out` may be `a` or `b`. */
typedef void BinaryLoop(const void *a, const void *b, void *out, int64_t n, BroadcastSide still);

/* Runs `loop` over the whole output of a binary op with the given element sizes, in parallel when it is
 * large. */
void broadcast_run(const Parallel *parallel, const Broadcast *plan, const void *a, const void *b, void *out,
                   int64_t in_size, int64_t out_size, BinaryLoop *loop);

/* The elements at a time of loops in ops/support/binary_blocks.inc. */
enum { BROADCAST_BLOCK = 128 };

/* A whole binary kernel: inputs 0 and 1, output 0 (in the memory of an input if possible). */
MUST_CHECK bool broadcast_binary(KernelContext *context, BinaryLoop *loop, Status *status);
/* The same with the loop in the kernel's data: {DT_FLOAT, broadcast_kernel, add_f32}. */
MUST_CHECK bool broadcast_kernel(KernelContext *context, Status *status);

/* For templates that include ops/support/binary_zip.inc: the loop NAME(op), which computes NAME(op_one)(C,
 * C). */
#define BINARY_LOOP(op)                                                                           \
  static void NAME(op)(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) { \
    NAME(zip)(NAME(op##_one), a, b, out, n, still);                                               \
  }

/* The same for operations that take long, without binary_zip.inc: one loop serves constant operands, too. */
#define SLOW_BINARY_LOOP(op)                                                                      \
  static void NAME(op)(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) { \
    int64_t a_step = still != BROADCAST_A, b_step = still != BROADCAST_B;                         \
    LOOP_COMPACT                                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                             \
      C x = LOAD(((const T *)a)[i * a_step]), y = LOAD(((const T *)b)[i * b_step]);               \
      ((T *)out)[i] = STORE(NAME(op##_one)(x, y));                                                \
    }                                                                                             \
  }

#endif
