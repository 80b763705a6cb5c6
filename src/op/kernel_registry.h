/* Which kernel computes a node: the table in the op's registration together with the kernels that were
 * registered at run time.
 *
 * Kernels are registered for a name, whether there is an op of it or not: one may come before its op, or give
 * an op of the tables a kernel for another type, or a better one for the same (by a higher priority). They
 * belong to the process, as in TensorFlow. All functions are thread-safe.
 */
#ifndef TFCORE_OP_KERNEL_REGISTRY_H_
#define TFCORE_OP_KERNEL_REGISTRY_H_

#include "op/kernel.h"
#include "op/op_registry.h"

/* How a kernel is made, run and given back. */
typedef struct KernelFunctions {
  KernelConstructFn construct; /* may be NULL */
  KernelComputeFn compute;
  KernelDestroyFn destroy; /* may be NULL */
  int64_t state_size;      /* bytes of kernel state, zeroed before construct */
  const void *data;        /* KernelConstruction.data of every kernel so made */
} KernelFunctions;

/* Registers a kernel for `def->op`, from now on; `def` is copied. Those for device "CPU" are chosen from,
 * then those for "DEFAULT"; kernels for other devices are known and never chosen. A node chooses the label by
 * its attr `_kernel`. `free_data` (may be NULL) is called once with `functions->data`: when the registry is
 * cleared, or here after an error. */
MUST_CHECK bool kernel_registry_add(const KernelDef *def, const KernelFunctions *functions,
                                    void (*free_data)(const void *data), Status *status);
/* Forgets what was registered at run time; the kernels made from it must be gone. */
void kernel_registry_clear(void);

/* The kernel of a node that has all its attrs: of those whose constraints hold, the one of highest priority
 * (the tables' have 0). INVALID_ARGUMENT "Multiple OpKernel registrations match NodeDef at the same priority
 * '{{node n}}': 'op: "X" ...' and 'op: ...'", or for a constraint that the node cannot be held to; NOT_FOUND
 * "No OpKernel was registered to support Op 'X' used by {{node n}} with these attrs: [T=DT_HALF]\nRegistered
 * devices: [CPU]\nRegistered kernels:\n  device='CPU'; T in [DT_FLOAT]\n..." */
MUST_CHECK bool kernel_registry_select(const Op *op, const NodeDef *node, KernelFunctions *functions,
                                       Status *status);

/* All kernels of one op, those of the tables first; of all ops when `op_name` is NULL. Everything in
 * `arena`. */
MUST_CHECK bool kernel_registry_list(OpRegistry *ops, const char *op_name, Arena *arena, KernelList **list,
                                     Status *status);

#endif
