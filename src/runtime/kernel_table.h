/* KernelTable: the kernels that programs share, which are those with state (random generators, handles) and
 * constants. They are found by node name, which is the same in all client graphs of a session. TensorFlow's
 * OpSegment. */
#ifndef TFCORE_RUNTIME_KERNEL_TABLE_H_
#define TFCORE_RUNTIME_KERNEL_TABLE_H_

#include "graph/graph.h"
#include "op/kernel.h"

typedef struct KernelTable KernelTable;

KernelTable *kernel_table_new(void); /* NULL when out of memory */
/* Programs that use its kernels must be freed first. NULL is fine. */
void kernel_table_free(KernelTable *table);

/* Whether programs share the node's kernel. A constant that a pass made is not shared: it is freed with its
 * graph. */
bool kernel_table_holds(const Node *node);
/* The kernel of such a node. It is made on the first request, and again when a different node has that name.
 * Messages call it `name`. Attr values that the graph does not own must outlive the table. Owned by the
 * table. */
MUST_CHECK bool kernel_table_get(KernelTable *table, const Node *node, const char *name,
                                 const FunctionCaller *functions, const OpKernel **kernel, Status *status);

#endif
