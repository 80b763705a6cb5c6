/* What the ops on tables share: the table behind input 0, checks of dtypes, shapes and keys, initialization.
 * The caller holds the table's lock, except for table_of. */
#ifndef TFCORE_OPS_TABLES_TABLE_ACCESS_H_
#define TFCORE_OPS_TABLES_TABLE_ACCESS_H_

#include "op/kernel.h"
#include "ops/tables/lookup_table.h"

/* The state of kernels whose inputs 1 and 2 are keys and values. */
typedef struct TableSignature {
  const DataType *input_types;
} TableSignature;
bool table_signature_construct(const KernelConstruction *construction, void *memory, Status *status);
#define TABLE_SIGNATURE .state_size = sizeof(TableSignature), .construct = table_signature_construct

MUST_CHECK bool table_of(const KernelContext *context, LookupTable **table, Status *status);
/* INVALID_ARGUMENT "Signature mismatch, have: ..." when keys or values do not have the table's dtypes. */
MUST_CHECK bool table_check_signature(const KernelContext *context, const LookupTable *table, Status *status);
/* The same for outputs 0 and 1. */
MUST_CHECK bool table_check_outputs(const KernelContext *context, const LookupTable *table, Status *status);
/* INVALID_ARGUMENT when the table is not one that is initialized. */
MUST_CHECK bool table_check_fixed(const KernelContext *context, const LookupTable *table, Status *status);
/* The number of keys, and the shape of their values, which the caller clears. */
MUST_CHECK bool table_value_shape(const LookupTable *table, const Tensor *keys, int64_t *rows, Shape *shape,
                                  Status *status);
/* INVALID_ARGUMENT for the keys that a dense table does not take. */
MUST_CHECK bool table_check_key(const LookupTable *table, const Tensor *keys, int64_t row, Status *status);
/* Fills a table that has not been initialized. Does nothing if it has, with as many entries. */
MUST_CHECK bool table_initialize(LookupTable *table, const Tensor *keys, const Tensor *values,
                                 Status *status);

#endif
