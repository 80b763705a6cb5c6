/* The kernels that programs share: those with state (random generators, handles), and constants with their
 * values. They are found by the names of their nodes, which are the same in all client graphs of a session:
 * TensorFlow's OpSegment.
 */
#ifndef TFCORE_RUNTIME_KERNEL_TABLE_H_
#define TFCORE_RUNTIME_KERNEL_TABLE_H_

#include "graph/graph.h"
#include "op/kernel.h"

typedef struct KernelTable KernelTable;

KernelTable *kernel_table_new(void); /* NULL when out of memory */
/* Programs that use kernels of the table must be gone. NULL is fine. */
void kernel_table_free(KernelTable *table);

/* Whether the node's kernel is one that programs share. A constant that a pass made is not: it goes with its
 * graph. */
bool kernel_table_holds(const Node *node);
/* The kernel of such a node, made when it is asked for first, and again when the node of that name has become
 * another one. Messages call it `name`. Attr values that live outside of the node's graph must outlive the
 * table. Owned by the table. */
MUST_CHECK bool kernel_table_get(KernelTable *table, const Node *node, const char *name,
                                 const FunctionCaller *functions, const OpKernel **kernel, Status *status);

#endif
