/* The choice of a node's kernel: from the table in the op's registration and the kernels that were registered
 * at run time.
 *
 * Kernels are registered for a name, and the op need not exist. So a kernel may be registered before its op,
 * and may add another type to a built-in op, or a better kernel for the same type (by a higher priority). As
 * in TensorFlow, they belong to the process. All functions are thread-safe.
 */
#ifndef TFCORE_OP_KERNEL_REGISTRY_H_
#define TFCORE_OP_KERNEL_REGISTRY_H_

#include "op/kernel.h"
#include "op/op_registry.h"

/* The type of the devices of this library: the only one whose kernels are chosen. */
#define KERNEL_DEVICE_TYPE "CPU"

/* How a kernel is made, run and freed. */
typedef struct KernelFunctions {
  KernelConstructFn construct; /* may be NULL */
  KernelComputeFn compute;
  KernelDestroyFn destroy; /* may be NULL */
  int64_t state_size;      /* bytes of kernel state, zeroed before construct */
  const void *data;        /* KernelConstruction.data of all kernels made with it */
  bool is_aside;           /* they are in PART_SIDE, which is not loaded (op/side_kernels.h) */
} KernelFunctions;

/* Registers a kernel for `def->op`; `def` is copied. Kernels for KERNEL_DEVICE_TYPE are preferred to those
 * for "DEFAULT"; kernels for other devices are listed but never chosen. A node selects the label by its attr
 * `_kernel`. `free_data` (may be NULL) is called once with `functions->data`: when the registry is cleared,
 * or here after an error. */
MUST_CHECK bool kernel_registry_add(const KernelDef *def, const KernelFunctions *functions,
                                    void (*free_data)(const void *data), Status *status);
/* Removes all kernels registered at run time; kernels made from them must have been freed. */
void kernel_registry_clear(void);

/* The kernel of a node with all its attrs: the one of highest priority (0 for tables) whose constraints hold.
 * INVALID_ARGUMENT "Multiple OpKernel registrations match NodeDef at the same priority '{{node n}}': 'op: "X"
 * ...' and 'op: ...'", or for a constraint on a missing attr or one of another kind; NOT_FOUND "No OpKernel
 * was registered to support Op 'X' used by {{node n}} with these attrs: [T=DT_HALF]\nRegistered devices:
 * [CPU]\nRegistered kernels:\n device='CPU'; T in [DT_FLOAT]\n..." */
MUST_CHECK bool kernel_registry_select(const Op *op, const NodeDef *node, KernelFunctions *functions,
                                       Status *status);

/* Calls side_kernels_want if the kernel of the node is in PART_SIDE, and that is not loaded, as far as the
 * node's attrs are known. */
void kernel_registry_mention(const Op *op, const NodeDef *node);

/* Whether a kernel for devices of that type computes the node, whose op need not exist. NOT_FOUND "No
 * registered 'X' OpKernel for GPU devices compatible with node {{node n}}\n\t.  Registered:  device='CPU';
 * ..."; uses memory of `arena`. */
MUST_CHECK bool kernel_registry_check(OpRegistry *ops, const NodeDef *node, const char *device_type,
                                      Arena *arena, Status *status);

/* All kernels of one op, those of its table first; of all ops when `op_name` is NULL. Allocated in
 * `arena`. */
MUST_CHECK bool kernel_registry_list(OpRegistry *ops, const char *op_name, Arena *arena, KernelList **list,
                                     Status *status);

#endif
