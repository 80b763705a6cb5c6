/* Lookup tables: resources that map keys to values. The kernels of ops/tables/ share this map for all dtypes:
 * elements are compared and copied as bytes, or as strings.
 *
 * A key is a scalar or, in a dense table, a tensor of `key_shape`; a value is a tensor of `value_shape`.
 * Entries are numbered from 0 in the order of their insertion; a removed entry's number goes to the last one.
 */
#ifndef TFCORE_OPS_TABLES_LOOKUP_TABLE_H_
#define TFCORE_OPS_TABLES_LOOKUP_TABLE_H_

#include "base/sync.h"
#include "op/resource.h"

typedef enum TableKind {
  TABLE_FIXED,   /* HashTable: initialized once */
  TABLE_SCALARS, /* MutableHashTable */
  TABLE_TENSORS, /* MutableHashTableOfTensors */
  TABLE_DENSE    /* MutableDenseHashTable: two keys cannot be used */
} TableKind;

typedef struct TableSpec {
  TableKind kind;
  DataType key_dtype, value_dtype;
  const Shape *value_shape;              /* NULL: a scalar */
  const Tensor *empty_key, *deleted_key; /* of a dense table; deleted_key may be NULL */
} TableSpec;

typedef struct LookupTable {
  Resource resource;
  Mutex lock; /* held by whoever uses the fields below */
  TableKind kind;
  DataType key_dtype, value_dtype;
  Shape key_shape, value_shape;
  Tensor empty_key, deleted_key;
  bool initialized; /* TABLE_FIXED */
  char *keys, *values;
  int64_t count, key_capacity, value_capacity; /* entries */
  int32_t *slots;                              /* entry + 1; 0: free; -1: removed */
  int64_t num_slots, used_slots;
} LookupTable;

extern const char kLookupTable[];

/* A new table with one reference. */
LookupTable *lookup_table_new(const TableSpec *spec, Status *status);
/* The entry with the key in row `row` of a tensor of keys, or -1. */
int64_t lookup_table_find(const LookupTable *table, const Tensor *keys, int64_t row);
/* Adds an entry, or replaces its value, with row `row` of both tensors. */
MUST_CHECK bool lookup_table_put(LookupTable *table, const Tensor *keys, const Tensor *values, int64_t row,
                                 Status *status);
/* Removes the entry with that key, if there is one. */
void lookup_table_remove(LookupTable *table, const Tensor *keys, int64_t row);
void lookup_table_clear(LookupTable *table);
/* Copies the value (or key) of an entry into row `row` of a tensor. */
MUST_CHECK bool lookup_table_get_value(const LookupTable *table, int64_t entry, Tensor *values, int64_t row,
                                       Status *status);
MUST_CHECK bool lookup_table_get_key(const LookupTable *table, int64_t entry, Tensor *keys, int64_t row,
                                     Status *status);
/* Whether the value of an entry equals row `row`. */
bool lookup_table_value_is(const LookupTable *table, int64_t entry, const Tensor *values, int64_t row);
/* Whether row `row` of `keys` is that key of a dense table; false for an empty Tensor. */
bool lookup_table_key_is(const LookupTable *table, const Tensor *keys, int64_t row, const Tensor *key);

#endif
