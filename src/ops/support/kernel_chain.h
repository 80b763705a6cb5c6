/* Kernels that run one after another in a kernel of their own: fused ops compute with the kernels of the ops
 * that they stand for.
 *
 *   KernelChain *chain = memory;                                       // in construct, of zeros
 *   TRY(kernel_chain_add(chain, construction, "Conv2D", NULL, 0, 0, 2, status));   // of inputs 0 and 1
 *   TRY(kernel_chain_add(chain, construction, "BiasAdd", NULL, 0, 2, 1, status));  // of that and input 2
 *
 * The first kernel has `count` inputs of the node, from `first` on. The first input of every other kernel is
 * output 0 of the one before, in whose memory it may compute; then follow inputs of the node. Output 0 of the
 * last is that of the node. If the node has more outputs, they are those of the first kernel.
 */
#ifndef TFCORE_OPS_SUPPORT_KERNEL_CHAIN_H_
#define TFCORE_OPS_SUPPORT_KERNEL_CHAIN_H_

#include "op/kernel.h"

enum { KERNEL_CHAIN_MAX = 8, KERNEL_CHAIN_MAX_INPUTS = 20, KERNEL_CHAIN_MAX_OUTPUTS = 6 };

typedef struct ChainLink {
  OpKernel *kernel;        /* owned; or NULL: */
  KernelComputeFn compute; /* a kernel with one input */
  const void *data;        /* NULL: that of the kernel */
  int first, count;
} ChainLink;

typedef struct KernelChain {
  ChainLink links[KERNEL_CHAIN_MAX];
  int count;
} KernelChain;

/* An attr that differs from the node's attr of that name. */
typedef struct ChainAttr {
  const char *name;
  const AttrValue *value;
} ChainAttr;

/* Appends a kernel of the op. Its attrs are `attrs`, those of the node, and defaults. INVALID_ARGUMENT when
 * the chain is too long. */
MUST_CHECK bool kernel_chain_add(KernelChain *chain, const KernelConstruction *construction, const char *op,
                                 const ChainAttr *attrs, int num_attrs, int first, int count, Status *status);
/* Appends a kernel without a state. */
MUST_CHECK bool kernel_chain_add_compute(KernelChain *chain, KernelComputeFn compute, const void *data,
                                         Status *status);
/* The last kernel, made from a registration, also takes the next `count` inputs of the node, and `data` is
 * its KernelContext.data, which lives as long as the chain. */
void kernel_chain_extend(KernelChain *chain, int count, const void *data);
/* The functions of an OpRegistration whose state is a KernelChain. */
bool kernel_chain_compute(KernelContext *context, Status *status);
void kernel_chain_destroy(void *chain);

#endif
