#include "ops/tables/table_access.h"

bool table_signature_construct(const KernelConstruction *construction, void *memory, Status *status) {
  (void)status;
  ((TableSignature *)memory)->input_types = construction->input_types;
  return true;
}

bool table_of(const KernelContext *context, LookupTable **table, Status *status) {
  Resource *resource;
  TRY(tensor_resource(context->inputs[0], kLookupTable, &resource, status));
  *table = (LookupTable *)resource;
  return true;
}

/* --- dtypes --- */

static void print_output(const KernelContext *context, DataType dtype, StrBuf *text) {
  strbuf_append(text, "->");
  if (context->num_outputs > 0) strbuf_append(text, dtype_name((int)dtype));
}

bool table_check_signature(const KernelContext *context, const LookupTable *table, Status *status) {
  const DataType *given = ((const TableSignature *)context->state)->input_types;
  bool has_values = context->num_inputs > 2;
  if (given[1] == table->key_dtype && (!has_values || given[2] == table->value_dtype)) return true;
  StrBuf text = {0};
  const char *handle = dtype_name((int)given[0]);
  strbuf_printf(&text, "Signature mismatch, have: %s, %s", handle, dtype_name((int)given[1]));
  if (has_values) strbuf_printf(&text, ", %s", dtype_name((int)given[2]));
  print_output(context, has_values ? given[2] : DT_INVALID, &text);
  strbuf_printf(&text, " expected: %s, %s", handle, dtype_name((int)table->key_dtype));
  if (has_values) strbuf_printf(&text, ", %s", dtype_name((int)table->value_dtype));
  print_output(context, table->value_dtype, &text);
  if (strbuf_ok(&text, status)) status_invalid(status, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

bool table_check_outputs(const KernelContext *context, const LookupTable *table, Status *status) {
  return (context->output_types[0] == table->key_dtype && context->output_types[1] == table->value_dtype) ||
         status_invalid(status, "The table has keys of type %s and values of type %s, not %s and %s",
                        dtype_name((int)table->key_dtype), dtype_name((int)table->value_dtype),
                        dtype_name((int)context->output_types[0]), dtype_name((int)context->output_types[1]));
}

bool table_check_fixed(const KernelContext *context, const LookupTable *table, Status *status) {
  const ResourceHandle *handle = *(ResourceHandle *const *)context->inputs[0]->data;
  return table->kind == TABLE_FIXED ||
         status_invalid(status, "Table %s %s is not initializable",
                        handle->container[0] ? handle->container : "localhost", handle->name);
}

/* --- keys and values --- */

bool table_value_shape(const LookupTable *table, const Tensor *keys, int64_t *rows, Shape *shape,
                       Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int64_t dims[2 * SHAPE_MAX_RANK];
  int outer = keys->shape.rank - table->key_shape.rank, rank = 0;
  bool ends = outer >= 0;
  for (int i = 0; ends && i < table->key_shape.rank; i++)
    ends = shape_dim(&keys->shape, outer + i) == shape_dim(&table->key_shape, i);
  if (!ends)
    return status_invalid(status, "Input key shape %s must end with the table's key shape %s",
                          shape_text(&keys->shape, a), shape_text(&table->key_shape, b));
  *rows = 1;
  for (int i = 0; i < outer; i++) *rows *= dims[rank++] = shape_dim(&keys->shape, i);
  for (int i = 0; i < table->value_shape.rank; i++) dims[rank++] = shape_dim(&table->value_shape, i);
  return shape_set(shape, rank, dims, status);
}

bool table_check_key(const LookupTable *table, const Tensor *keys, int64_t row, Status *status) {
  bool empty = lookup_table_key_is(table, keys, row, &table->empty_key);
  if (!empty && !lookup_table_key_is(table, keys, row, &table->deleted_key)) return true;
  return status_invalid(status, "Using the %s as a table key is not allowed",
                        empty ? "empty_key" : "deleted_key");
}

static void print_one(const Tensor *tensor, int64_t i, StrBuf *text) {
  if (tensor->dtype == DT_STRING) {
    Str value = tstring_view(&tensor_strings(tensor)[i]);
    strbuf_append_bytes(text, value.data, value.length);
  } else if (dtype_is_integer((int)tensor->dtype)) {
    strbuf_printf(text, "%lld", (long long)tensor_int_at(tensor, i));
  } else {
    strbuf_printf(text, "%g", tensor_double_at(tensor, i));
  }
}

/* The entry has another value for the key in row `row`. */
static bool refuse_second_value(const LookupTable *table, int64_t entry, const Tensor *keys,
                                const Tensor *values, int64_t row, Status *status) {
  StrBuf text = {0};
  Tensor old = {0};
  static const Shape kScalar = {0};
  if (tensor_allocate(&old, table->value_dtype, &kScalar, NULL, status) &&
      lookup_table_get_value(table, entry, &old, 0, status)) {
    strbuf_append(&text, "HashTable has different value for same key. Key ");
    print_one(keys, row, &text);
    strbuf_append(&text, " has ");
    print_one(&old, 0, &text);
    strbuf_append(&text, " and trying to add value ");
    print_one(values, row, &text);
    if (strbuf_ok(&text, status)) status_set(status, CODE_FAILED_PRECONDITION, "%s", strbuf_text(&text));
  }
  tensor_clear(&old);
  strbuf_free(&text);
  return false;
}

static bool fill(LookupTable *table, const Tensor *keys, const Tensor *values, Status *status) {
  for (int64_t i = 0; i < tensor_num_elements(keys); i++) {
    int64_t entry = lookup_table_find(table, keys, i);
    if (entry < 0) TRY(lookup_table_put(table, keys, values, i, status));
    else if (!lookup_table_value_is(table, entry, values, i))
      return refuse_second_value(table, entry, keys, values, i, status);
  }
  return true;
}

bool table_initialize(LookupTable *table, const Tensor *keys, const Tensor *values, Status *status) {
  if (table->initialized)
    return table->count == tensor_num_elements(keys) ||
           status_set(status, CODE_FAILED_PRECONDITION, "Table was already initialized with different data.");
  table->initialized = fill(table, keys, values, status);
  if (!table->initialized) lookup_table_clear(table);
  return table->initialized;
}
