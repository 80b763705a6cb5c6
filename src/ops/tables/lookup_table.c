#include "ops/tables/lookup_table.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

const char kLookupTable[] = "LookupTable";

/* --- elements --- */

static int64_t row_bytes(DataType dtype, const Shape *shape) {
  return (int64_t)dtype_size((int)dtype) * shape_num_elements(shape);
}
static int64_t key_bytes(const LookupTable *table) { return row_bytes(table->key_dtype, &table->key_shape); }
static int64_t value_bytes(const LookupTable *table) {
  return row_bytes(table->value_dtype, &table->value_shape);
}

static bool same(DataType dtype, const void *a, const void *b, int64_t bytes) {
  if (dtype != DT_STRING) return memcmp(a, b, (size_t)bytes) == 0;
  for (int64_t i = 0; i < bytes / TSTRING_BYTES; i++) {
    if (!tstring_equal((const TString *)a + i, (const TString *)b + i)) return false;
  }
  return true;
}

static uint64_t hash(DataType dtype, const void *data, int64_t bytes) {
  if (dtype != DT_STRING) return hash_bytes(data, (size_t)bytes);
  uint64_t result = 0;
  for (int64_t i = 0; i < bytes / TSTRING_BYTES; i++) {
    Str text = tstring_view((const TString *)data + i);
    result = result * 31 + hash_bytes(text.data, text.length);
  }
  return result;
}

/* `to` has initialised strings. */
static bool copy(DataType dtype, const void *from, void *to, int64_t bytes, Status *status) {
  if (dtype != DT_STRING) {
    memcpy(to, from, (size_t)bytes);
    return true;
  }
  for (int64_t i = 0; i < bytes / TSTRING_BYTES; i++)
    TRY(tstring_copy((TString *)to + i, (const TString *)from + i, status));
  return true;
}

static void drop(DataType dtype, void *data, int64_t bytes) {
  for (int64_t i = 0; dtype == DT_STRING && i < bytes / TSTRING_BYTES; i++) tstring_free((TString *)data + i);
}

static const char *row_of(const Tensor *tensor, int64_t row, int64_t bytes) {
  return (const char *)tensor->data + row * bytes;
}

/* --- the table --- */

void lookup_table_clear(LookupTable *table) {
  for (int64_t i = 0; i < table->count; i++) {
    drop(table->key_dtype, table->keys + i * key_bytes(table), key_bytes(table));
    drop(table->value_dtype, table->values + i * value_bytes(table), value_bytes(table));
  }
  table->count = table->used_slots = 0;
  if (table->slots) memset(table->slots, 0, (size_t)table->num_slots * sizeof *table->slots);
}

static void destroy(TensorObject *object) {
  LookupTable *table = (LookupTable *)object;
  lookup_table_clear(table);
  mem_free(table->keys);
  mem_free(table->values);
  mem_free(table->slots);
  tensor_clear(&table->empty_key);
  tensor_clear(&table->deleted_key);
  shape_clear(&table->key_shape);
  shape_clear(&table->value_shape);
  mutex_destroy(&table->lock);
  mem_free(table);
}

static bool read_spec(LookupTable *table, const TableSpec *spec, Status *status) {
  table->kind = spec->kind;
  table->key_dtype = spec->key_dtype;
  table->value_dtype = spec->value_dtype;
  if (spec->value_shape) TRY(shape_copy(&table->value_shape, spec->value_shape, status));
  if (spec->deleted_key) TRY(tensor_assign(&table->deleted_key, spec->deleted_key, status));
  return !spec->empty_key || (shape_copy(&table->key_shape, &spec->empty_key->shape, status) &&
                              tensor_assign(&table->empty_key, spec->empty_key, status));
}

LookupTable *lookup_table_new(const TableSpec *spec, Status *status) {
  LookupTable *table = mem_calloc(1, sizeof *table);
  if (!table || !mutex_init(&table->lock)) {
    mem_free(table);
    status_oom(status, "a table");
    return NULL;
  }
  atomic_init(&table->resource.object.references, 1);
  table->resource.object.destroy = destroy;
  table->resource.type_name = kLookupTable;
  if (read_spec(table, spec, status)) return table;
  tensor_object_unref(&table->resource.object);
  return NULL;
}

/* --- slots --- */

/* The slot of the entry with that key, or -1. */
static int64_t slot_of(const LookupTable *table, const void *key) {
  int64_t bytes = key_bytes(table), mask = table->num_slots - 1;
  if (table->num_slots == 0) return -1;
  for (int64_t slot = (int64_t)(hash(table->key_dtype, key, bytes) & (uint64_t)mask);;
       slot = (slot + 1) & mask) {
    int32_t entry = table->slots[slot];
    if (entry == 0) return -1;
    if (entry > 0 && same(table->key_dtype, table->keys + (entry - 1) * bytes, key, bytes)) return slot;
  }
}

static void use_slot(LookupTable *table, int64_t entry) {
  int64_t bytes = key_bytes(table), mask = table->num_slots - 1;
  int64_t slot = (int64_t)(hash(table->key_dtype, table->keys + entry * bytes, bytes) & (uint64_t)mask);
  while (table->slots[slot] != 0) slot = (slot + 1) & mask;
  table->slots[slot] = (int32_t)entry + 1;
  table->used_slots++;
}

/* Space for one more entry: the slots are at most three quarters full. */
static bool reserve(LookupTable *table, Status *status) {
  if (table->count == INT32_MAX - 1) return status_set(status, CODE_RESOURCE_EXHAUSTED, "The table is full.");
  if (!mem_grow((void **)&table->keys, &table->key_capacity, table->count + 1, (size_t)key_bytes(table)) ||
      !mem_grow((void **)&table->values, &table->value_capacity, table->count + 1,
                (size_t)value_bytes(table)))
    return status_oom(status, "a table");
  if (4 * (table->used_slots + 1) <= 3 * table->num_slots) return true;
  int64_t size = 16;
  while (3 * size < 8 * (table->count + 1)) size *= 2;
  int32_t *slots = mem_calloc(size, sizeof *slots);
  if (!slots) return status_oom(status, "a table");
  mem_free(table->slots);
  table->slots = slots;
  table->num_slots = size;
  table->used_slots = 0;
  for (int64_t i = 0; i < table->count; i++) use_slot(table, i);
  return true;
}

/* --- entries --- */

int64_t lookup_table_find(const LookupTable *table, const Tensor *keys, int64_t row) {
  int64_t slot = slot_of(table, row_of(keys, row, key_bytes(table)));
  return slot < 0 ? -1 : table->slots[slot] - 1;
}

bool lookup_table_put(LookupTable *table, const Tensor *keys, const Tensor *values, int64_t row,
                      Status *status) {
  int64_t key_size = key_bytes(table), value_size = value_bytes(table);
  int64_t entry = lookup_table_find(table, keys, row);
  const char *value = row_of(values, row, value_size);
  if (entry >= 0)
    return copy(table->value_dtype, value, table->values + entry * value_size, value_size, status);
  TRY(reserve(table, status));
  char *new_key = table->keys + table->count * key_size,
       *new_value = table->values + table->count * value_size;
  memset(new_key, 0, (size_t)key_size);
  memset(new_value, 0, (size_t)value_size);
  if (!copy(table->key_dtype, row_of(keys, row, key_size), new_key, key_size, status) ||
      !copy(table->value_dtype, value, new_value, value_size, status)) {
    drop(table->key_dtype, new_key, key_size);
    drop(table->value_dtype, new_value, value_size);
    return false;
  }
  use_slot(table, table->count++);
  return true;
}

void lookup_table_remove(LookupTable *table, const Tensor *keys, int64_t row) {
  int64_t key_size = key_bytes(table), value_size = value_bytes(table);
  int64_t slot = slot_of(table, row_of(keys, row, key_size));
  if (slot < 0) return;
  int64_t entry = table->slots[slot] - 1, last = table->count - 1;
  char *key = table->keys + entry * key_size, *value = table->values + entry * value_size;
  int64_t last_slot = slot_of(table, table->keys + last * key_size);
  table->slots[last_slot] = (int32_t)entry + 1;
  table->slots[slot] = -1;
  drop(table->key_dtype, key, key_size);
  drop(table->value_dtype, value, value_size);
  memmove(key, table->keys + last * key_size, (size_t)key_size);
  memmove(value, table->values + last * value_size, (size_t)value_size);
  table->count--;
}

bool lookup_table_get_value(const LookupTable *table, int64_t entry, Tensor *values, int64_t row,
                            Status *status) {
  int64_t bytes = value_bytes(table);
  return copy(table->value_dtype, table->values + entry * bytes, (char *)values->data + row * bytes, bytes,
              status);
}

bool lookup_table_get_key(const LookupTable *table, int64_t entry, Tensor *keys, int64_t row,
                          Status *status) {
  int64_t bytes = key_bytes(table);
  return copy(table->key_dtype, table->keys + entry * bytes, (char *)keys->data + row * bytes, bytes, status);
}

bool lookup_table_value_is(const LookupTable *table, int64_t entry, const Tensor *values, int64_t row) {
  int64_t bytes = value_bytes(table);
  return same(table->value_dtype, table->values + entry * bytes, row_of(values, row, bytes), bytes);
}

bool lookup_table_key_is(const LookupTable *table, const Tensor *keys, int64_t row, const Tensor *key) {
  int64_t bytes = key_bytes(table);
  return !tensor_is_empty(key) && same(table->key_dtype, row_of(keys, row, bytes), key->data, bytes);
}
