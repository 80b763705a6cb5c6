/* Loops that kernels choose by dtype while they run:
 *
 *   static const KernelEntry kTypedTops[] = {TYPED_REAL_KERNELS(NULL, top_rows)};
 *
 *   TopLoop *top = (TopLoop *)TYPED_LOOPS(kTypedTops, input->dtype);
 *
 * The entries have no `compute`; their data is a function or a constant. The names of the tables begin with
 * kTyped: as with the kernels of an op, what only entries of side types (op/side_kernels.h) refer to goes
 * into the side module. So a table serves only kernels that are registered for the types in it, and only with
 * their own type. */
#ifndef TFCORE_OPS_SUPPORT_TYPED_LOOPS_H_
#define TFCORE_OPS_SUPPORT_TYPED_LOOPS_H_

#include "op/op_registry.h"

/* The data of the entry for the type, which a table has for each type of its kernels. */
const void *typed_loops(const KernelEntry *table, int count, DataType type);
#define TYPED_LOOPS(table, type) typed_loops(table, sizeof(table) / sizeof *(table), type)

#endif
