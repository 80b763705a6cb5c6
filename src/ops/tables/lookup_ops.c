/* The ops on lookup tables: Find, Insert, Remove, Size, Export, Import, and InitializeTable. The older ones
 * have a reference to the table as their first input, the V2 ones a handle. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/tables/table_access.h"

/* --- Find --- */

static bool default_fits(const LookupTable *table, const Tensor *fallback, const Shape *full) {
  return shape_equal(&fallback->shape, &table->value_shape) || shape_equal(&fallback->shape, full);
}

static bool refuse_default(const LookupTable *table, const Tensor *fallback, const Shape *full,
                           Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY], c[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "Expected shape %s or %s for default value, got %s",
                        shape_text(&table->value_shape, a), shape_text(full, b),
                        shape_text(&fallback->shape, c));
}

/* Copies elements [from, from + length) of a tensor. */
static bool copy_elements(const Tensor *tensor, int64_t from, int64_t length, Tensor *to, int64_t at,
                          Status *status) {
  int64_t size = (int64_t)dtype_size((int)tensor->dtype);
  if (tensor->dtype != DT_STRING) {
    memcpy((char *)to->data + at * size, (const char *)tensor->data + from * size, (size_t)(length * size));
    return true;
  }
  for (int64_t i = 0; i < length; i++)
    TRY(tstring_copy(&tensor_strings(to)[at + i], &tensor_strings(tensor)[from + i], status));
  return true;
}

static bool find_rows(KernelContext *context, LookupTable *table, Status *status) {
  const Tensor *keys = context->inputs[1], *fallback = context->inputs[2];
  int64_t length = shape_num_elements(&table->value_shape), rows;
  Shape full = {0};
  Tensor *out;
  TRY(table_value_shape(table, keys, &rows, &full, status));
  bool ok = default_fits(table, fallback, &full) || refuse_default(table, fallback, &full, status);
  ok = ok && kernel_allocate_output(context, 0, &full, &out, status);
  /* As in TensorFlow, a dense table has one default for all keys. */
  bool each = ok && tensor_num_elements(fallback) == rows * length && table->kind != TABLE_DENSE;
  shape_clear(&full);
  for (int64_t i = 0; ok && i < rows; i++) {
    if (!table_check_key(table, keys, i, status)) return false;
    int64_t entry = lookup_table_find(table, keys, i);
    ok = entry >= 0 ? lookup_table_get_value(table, entry, out, i, status)
                    : copy_elements(fallback, each ? i * length : 0, length, out, i * length, status);
  }
  return ok;
}

static bool table_find(KernelContext *context, Status *status) {
  LookupTable *table;
  TRY(table_of(context, &table, status));
  mutex_lock(&table->lock);
  bool ok = table_check_signature(context, table, status) &&
            (table->kind != TABLE_FIXED || table->initialized ||
             status_set(status, CODE_FAILED_PRECONDITION, "Table not initialized.")) &&
            find_rows(context, table, status);
  mutex_unlock(&table->lock);
  return ok;
}

/* --- changes --- */

static bool check_values(const LookupTable *table, const Tensor *keys, const Tensor *values, int64_t *rows,
                         Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Shape full = {0};
  TRY(table_value_shape(table, keys, rows, &full, status));
  bool ok = shape_equal(&values->shape, &full) ||
            status_invalid(status, "Expected shape %s for value, got %s", shape_text(&full, a),
                           shape_text(&values->shape, b));
  shape_clear(&full);
  return ok;
}

static bool put_rows(LookupTable *table, const Tensor *keys, const Tensor *values, Status *status) {
  int64_t rows;
  TRY(check_values(table, keys, values, &rows, status));
  for (int64_t i = 0; i < rows; i++)
    TRY(table_check_key(table, keys, i, status) && lookup_table_put(table, keys, values, i, status));
  return true;
}

static bool refuse_fixed(const LookupTable *table, const char *what, Status *status) {
  return table->kind != TABLE_FIXED ||
         status_set(status, CODE_UNIMPLEMENTED,
                    "%s not supported by InitializableLookupTable implementations", what);
}

static bool table_insert(KernelContext *context, Status *status) {
  LookupTable *table;
  TRY(table_of(context, &table, status));
  mutex_lock(&table->lock);
  bool ok = table_check_signature(context, table, status) && refuse_fixed(table, "Insert", status) &&
            put_rows(table, context->inputs[1], context->inputs[2], status);
  mutex_unlock(&table->lock);
  return ok;
}

static bool remove_rows(LookupTable *table, const Tensor *keys, Status *status) {
  int64_t rows;
  Shape full = {0};
  TRY(table_value_shape(table, keys, &rows, &full, status));
  shape_clear(&full);
  for (int64_t i = 0; i < rows; i++) {
    TRY(table_check_key(table, keys, i, status));
    lookup_table_remove(table, keys, i);
  }
  return true;
}

static bool table_remove(KernelContext *context, Status *status) {
  LookupTable *table;
  TRY(table_of(context, &table, status));
  mutex_lock(&table->lock);
  bool ok = table_check_signature(context, table, status) && refuse_fixed(table, "Remove", status) &&
            remove_rows(table, context->inputs[1], status);
  mutex_unlock(&table->lock);
  return ok;
}

/* A dense table is exported and imported as a matrix of keys and one of values. */
static bool check_matrices(const LookupTable *table, const Tensor *keys, const Tensor *values, int64_t *rows,
                           Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  *rows = keys->shape.rank > 0 ? shape_dim(&keys->shape, 0) : 1;
  bool fits = values->shape.rank > 0 && shape_dim(&values->shape, 0) == *rows &&
              tensor_num_elements(keys) == *rows * shape_num_elements(&table->key_shape) &&
              tensor_num_elements(values) == *rows * shape_num_elements(&table->value_shape);
  return fits || status_invalid(status, "Keys of shape %s and values of shape %s do not fit the table",
                                shape_text(&keys->shape, a), shape_text(&values->shape, b));
}

/* Replaces the entries. A dense table that TensorFlow exported has its empty and removed buckets among the
 * keys. */
static bool import_rows(LookupTable *table, const Tensor *keys, const Tensor *values, Status *status) {
  int64_t rows;
  TRY(table->kind == TABLE_DENSE ? check_matrices(table, keys, values, &rows, status)
                                 : check_values(table, keys, values, &rows, status));
  lookup_table_clear(table);
  for (int64_t i = 0; i < rows; i++) {
    if (lookup_table_key_is(table, keys, i, &table->empty_key) ||
        lookup_table_key_is(table, keys, i, &table->deleted_key))
      continue;
    TRY(lookup_table_put(table, keys, values, i, status));
  }
  return true;
}

static bool table_import(KernelContext *context, Status *status) {
  LookupTable *table;
  const Tensor *keys = context->inputs[1], *values = context->inputs[2];
  TRY(table_of(context, &table, status));
  mutex_lock(&table->lock);
  bool ok = table_check_signature(context, table, status) &&
            (table->kind == TABLE_FIXED ? table_initialize(table, keys, values, status)
                                        : import_rows(table, keys, values, status));
  mutex_unlock(&table->lock);
  return ok;
}

static bool check_initial(const Tensor *keys, const Tensor *values, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(keys))
    return status_invalid(status, "Keys must be a vector, but received shape%s",
                          shape_text(&keys->shape, text));
  if (!tensor_is_vector(values))
    return status_invalid(status, "Values must be a vector, but received shape%s",
                          shape_text(&values->shape, text));
  return tensor_num_elements(keys) == tensor_num_elements(values) ||
         status_invalid(status, "Keys and values must have the same size %lld vs %lld",
                        (long long)tensor_num_elements(keys), (long long)tensor_num_elements(values));
}

static bool initialize(KernelContext *context, Status *status) {
  LookupTable *table;
  const Tensor *keys = context->inputs[1], *values = context->inputs[2];
  TRY(table_of(context, &table, status));
  mutex_lock(&table->lock);
  bool ok = table_check_fixed(context, table, status) && table_check_signature(context, table, status) &&
            check_initial(keys, values, status) && table_initialize(table, keys, values, status);
  mutex_unlock(&table->lock);
  return ok;
}

/* --- the whole table --- */

static bool table_size(KernelContext *context, Status *status) {
  static const Shape kScalar = {0};
  LookupTable *table;
  Tensor *out;
  TRY(table_of(context, &table, status));
  TRY(kernel_allocate_output(context, 0, &kScalar, &out, status));
  mutex_lock(&table->lock);
  *tensor_i64(out) = table->count;
  mutex_unlock(&table->lock);
  return true;
}

/* An output with a row for each entry. */
static bool allocate_rows(KernelContext *context, int i, const LookupTable *table, const Shape *row,
                          Tensor **out, Status *status) {
  int64_t dims[SHAPE_MAX_RANK] = {table->count};
  if (table->kind == TABLE_DENSE) {
    dims[1] = shape_num_elements(row);
    return kernel_allocate_output_dims(context, i, 2, dims, out, status);
  }
  if (row->rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "The rank of the values is too large.");
  for (int axis = 0; axis < row->rank; axis++) dims[axis + 1] = shape_dim(row, axis);
  return kernel_allocate_output_dims(context, i, row->rank + 1, dims, out, status);
}

static bool export_rows(KernelContext *context, LookupTable *table, Status *status) {
  Tensor *keys, *values;
  if (table->kind == TABLE_FIXED && !table->initialized)
    return status_set(status, CODE_ABORTED, "HashTable is not initialized.");
  TRY(table_check_outputs(context, table, status));
  TRY(allocate_rows(context, 0, table, &table->key_shape, &keys, status));
  TRY(allocate_rows(context, 1, table, &table->value_shape, &values, status));
  for (int64_t i = 0; i < table->count; i++)
    TRY(lookup_table_get_key(table, i, keys, i, status) &&
        lookup_table_get_value(table, i, values, i, status));
  return true;
}

static bool table_export(KernelContext *context, Status *status) {
  LookupTable *table;
  TRY(table_of(context, &table, status));
  mutex_lock(&table->lock);
  bool ok = export_rows(context, table, status);
  mutex_unlock(&table->lock);
  return ok;
}

/* --- shapes --- */

static bool handle_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  return shape_with_rank(c, shape_input(c, 0), 0, &scalar, status);
}

static bool reference_shape(InferenceContext *c, Status *status) {
  ShapeHandle pair;
  DimHandle two;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &pair, status));
  return dim_with_value(c, shape_dim_of(c, pair, 0), 2, &two, status);
}

static bool size_shape(InferenceContext *c, Status *status) {
  return handle_shape(c, status) && shape_scalar_output(c, status);
}

static bool size_reference_shape(InferenceContext *c, Status *status) {
  return reference_shape(c, status) && shape_scalar_output(c, status);
}

/* What is known about keys and values behind the handle: checks the dtypes in two attrs. NULL: nothing. */
static bool entry_types(InferenceContext *c, const char *key_attr, const char *value_attr,
                        const HandleData **data, Status *status) {
  DataType key, value;
  TRY(node_attr_type(c->node, key_attr, &key, status) && node_attr_type(c->node, value_attr, &value, status));
  *data = c->input_handles ? c->input_handles[0] : NULL;
  if (!*data || (*data)->count != 2) {
    *data = NULL;
    return true;
  }
  return ((*data)->entries[0].dtype == key && (*data)->entries[1].dtype == value) ||
         status_invalid(status, "read value with wrong dtype");
}

static bool find_shape(InferenceContext *c, Status *status) {
  const HandleData *data;
  ShapeHandle out, keys = shape_input(c, 1);
  TRY(handle_shape(c, status) && entry_types(c, "Tin", "Tout", &data, status));
  TRY(shape_ok(shape_unknown(c), &out, status));
  if (data && shape_rank_known(data->entries[0].shape) && shape_rank_known(keys)) {
    int64_t inner = shape_rank(data->entries[0].shape);
    TRY(shape_with_rank_at_least(c, keys, inner, &keys, status));
    TRY(shape_subshape(c, keys, 0, shape_rank(keys) - inner, 1, &out, status));
    TRY(shape_concatenate(c, out, data->entries[1].shape, &out, status));
  }
  shape_set_output(c, 0, out);
  return true;
}

static bool find_reference_shape(InferenceContext *c, Status *status) {
  return reference_shape(c, status) && shape_unknown_outputs(c, status);
}

static bool export_shape(InferenceContext *c, Status *status) {
  const HandleData *data;
  ShapeHandle rows, out;
  TRY(handle_shape(c, status) && entry_types(c, "Tkeys", "Tvalues", &data, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &rows, status));
  for (int i = 0; i < 2; i++) {
    TRY(shape_ok(shape_unknown(c), &out, status));
    if (data) TRY(shape_concatenate(c, rows, data->entries[i].shape, &out, status));
    shape_set_output(c, i, out);
  }
  return true;
}

static bool export_reference_shape(InferenceContext *c, Status *status) {
  return reference_shape(c, status) && shape_unknown_outputs(c, status);
}

static bool initialize_keys_shape(InferenceContext *c, Status *status) {
  ShapeHandle keys;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &keys, status));
  return shape_merge(c, keys, shape_input(c, 2), &keys, status);
}

static bool initialize_shape(InferenceContext *c, Status *status) {
  return handle_shape(c, status) && initialize_keys_shape(c, status);
}

static bool initialize_reference_shape(InferenceContext *c, Status *status) {
  return reference_shape(c, status) && initialize_keys_shape(c, status);
}

/* --- ops: each with a reference, and with a handle --- */

const OpRegistration kOpLookupTableFind = {
    .name = "LookupTableFind",
    .inputs = {"table_handle: Ref(string)", "keys: Tin", "default_value: Tout"},
    .outputs = {"values: Tout"},
    .attrs = {"Tin: type", "Tout: type"},
    .shape = find_reference_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_find}},
};

const OpRegistration kOpLookupTableFindV2 = {
    .name = "LookupTableFindV2",
    .inputs = {"table_handle: resource", "keys: Tin", "default_value: Tout"},
    .outputs = {"values: Tout"},
    .attrs = {"Tin: type", "Tout: type"},
    .is_stateful = true,
    .shape = find_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_find}},
};

const OpRegistration kOpLookupTableInsert = {
    .name = "LookupTableInsert",
    .inputs = {"table_handle: Ref(string)", "keys: Tin", "values: Tout"},
    .attrs = {"Tin: type", "Tout: type"},
    .shape = reference_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_insert}},
};

const OpRegistration kOpLookupTableInsertV2 = {
    .name = "LookupTableInsertV2",
    .inputs = {"table_handle: resource", "keys: Tin", "values: Tout"},
    .attrs = {"Tin: type", "Tout: type"},
    .is_stateful = true,
    .shape = handle_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_insert}},
};

const OpRegistration kOpLookupTableRemoveV2 = {
    .name = "LookupTableRemoveV2",
    .inputs = {"table_handle: resource", "keys: Tin"},
    .attrs = {"Tin: type"},
    .is_stateful = true,
    .shape = handle_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_remove}},
};

const OpRegistration kOpLookupTableSize = {
    .name = "LookupTableSize",
    .inputs = {"table_handle: Ref(string)"},
    .outputs = {"size: int64"},
    .shape = size_reference_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, table_size}},
};

const OpRegistration kOpLookupTableSizeV2 = {
    .name = "LookupTableSizeV2",
    .inputs = {"table_handle: resource"},
    .outputs = {"size: int64"},
    .is_stateful = true,
    .shape = size_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, table_size}},
};

const OpRegistration kOpLookupTableExport = {
    .name = "LookupTableExport",
    .inputs = {"table_handle: Ref(string)"},
    .outputs = {"keys: Tkeys", "values: Tvalues"},
    .attrs = {"Tkeys: type", "Tvalues: type"},
    .shape = export_reference_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, table_export}},
};

const OpRegistration kOpLookupTableExportV2 = {
    .name = "LookupTableExportV2",
    .inputs = {"table_handle: resource"},
    .outputs = {"keys: Tkeys", "values: Tvalues"},
    .attrs = {"Tkeys: type", "Tvalues: type"},
    .is_stateful = true,
    .shape = export_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, table_export}},
};

const OpRegistration kOpLookupTableImport = {
    .name = "LookupTableImport",
    .inputs = {"table_handle: Ref(string)", "keys: Tin", "values: Tout"},
    .attrs = {"Tin: type", "Tout: type"},
    .shape = reference_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_import}},
};

const OpRegistration kOpLookupTableImportV2 = {
    .name = "LookupTableImportV2",
    .inputs = {"table_handle: resource", "keys: Tin", "values: Tout"},
    .attrs = {"Tin: type", "Tout: type"},
    .is_stateful = true,
    .shape = handle_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, table_import}},
};

const OpRegistration kOpInitializeTable = {
    .name = "InitializeTable",
    .inputs = {"table_handle: Ref(string)", "keys: Tkey", "values: Tval"},
    .attrs = {"Tkey: type", "Tval: type"},
    .shape = initialize_reference_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, initialize}},
};

const OpRegistration kOpInitializeTableV2 = {
    .name = "InitializeTableV2",
    .inputs = {"table_handle: resource", "keys: Tkey", "values: Tval"},
    .attrs = {"Tkey: type", "Tval: type"},
    .is_stateful = true,
    .shape = initialize_shape,
    .gradient = NO_GRADIENT,
    TABLE_SIGNATURE,
    .kernels = {{DT_INVALID, initialize}},
};
