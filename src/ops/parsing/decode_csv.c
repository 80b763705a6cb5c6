/* DecodeCSV: the fields of records, one output for each column (RFC 4180). */
#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/csv.h"
#include "ops/support/elements.h"
#include "ops/support/string_number.h"

typedef struct CsvState {
  CsvFormat format;
  Str missing;
} CsvState;

static bool check_columns(const CsvFormat *format, int num_outputs, Status *status) {
  if (format->num_columns == 0) return true;
  if (format->num_columns != num_outputs)
    return status_invalid(status, "select_cols should match output size");
  for (int64_t i = 0; i < format->num_columns; i++) {
    if (format->columns[i] < 0) return status_invalid(status, "select_cols should be non-negative indices");
    if (i > 0 && format->columns[i] <= format->columns[i - 1])
      return status_invalid(status, "select_cols should be strictly increasing indices");
  }
  return true;
}

static bool csv_construct(const KernelConstruction *construction, void *memory, Status *status) {
  CsvState *state = memory;
  const NodeDef *node = construction->node;
  const AttrListValue *columns;
  Str delimiter;
  TRY(node_attr_string(node, "field_delim", &delimiter, status));
  TRY(node_attr_bool(node, "use_quote_delim", &state->format.has_quotes, status));
  TRY(node_attr_list(node, "select_cols", ATTR_INT, &columns, status));
  TRY(node_attr_string(node, "na_value", &state->missing, status));
  if (delimiter.length != 1) return status_invalid(status, "field_delim should be only 1 char");
  state->format.delimiter = delimiter.data[0];
  if (columns) state->format.columns = columns->i;
  if (columns) state->format.num_columns = (int64_t)columns->n_i;
  return check_columns(&state->format, construction->num_outputs, status);
}

static bool put_field(KernelContext *context, int column, int64_t record, Str field, Status *status) {
  const CsvState *state = context->state;
  const Tensor *fallback = context->inputs[1 + column];
  Tensor *out = &context->outputs[column];
  if (field.length == 0 || str_equal(field, state->missing)) {
    if (tensor_num_elements(fallback) == 1) return tensor_copy_elements(fallback, 0, out, record, 1, status);
    return status_invalid(status, "Field %d is required but missing in record %lld!", column,
                          (long long)record);
  }
  if (out->dtype == DT_STRING)
    return tstring_set(&tensor_strings(out)[record], field.data, field.length, status);
  return string_to_element(field, out, record) ||
         status_invalid(status, "Field %d in record %lld is not a valid %s: %.*s", column, (long long)record,
                        dtype_name((int)out->dtype), (int)field.length, field.data);
}

static bool put_fields(KernelContext *context, int64_t record, const CsvFields *fields, Status *status) {
  if (fields->count != context->num_outputs)
    return status_invalid(status, "Expect %d fields but have %lld in record %lld", context->num_outputs,
                          (long long)fields->count, (long long)record);
  for (int i = 0; i < context->num_outputs; i++)
    TRY(put_field(context, i, record, csv_field(fields, i), status));
  return true;
}

static bool decode_csv(KernelContext *context, Status *status) {
  const CsvState *state = context->state;
  const Tensor *records = context->inputs[0];
  CsvFields fields = {0};
  for (int i = 0; i < context->num_outputs; i++) {
    int64_t count = tensor_num_elements(context->inputs[1 + i]);
    if (count > 1)
      return status_invalid(status, "There should only be 1 default per field but field %d has %lld", i,
                            (long long)count);
  }
  for (int i = 0; i < context->num_outputs; i++) {
    Tensor *out;
    TRY(kernel_allocate_output(context, i, &records->shape, &out, status));
  }
  bool ok = true;
  for (int64_t i = 0; ok && i < tensor_num_elements(records); i++)
    ok = csv_read(&state->format, tstring_view(&tensor_strings(records)[i]), &fields, status) &&
         put_fields(context, i, &fields, status);
  csv_fields_free(&fields);
  return ok;
}

static bool csv_shape(InferenceContext *c, Status *status) {
  for (int i = 1; i < c->num_inputs; i++) {
    ShapeHandle fallback;
    TRY(shape_with_rank_at_most(c, shape_input(c, i), 1, &fallback, status));
    if (shape_rank_known(fallback) && shape_rank(fallback) == 1 &&
        dim_value(shape_dim_of(c, fallback, 0)) > 1)
      return status_invalid(status, "Shape of a default must be a length-0 or length-1 vector, or a scalar.");
  }
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, shape_input(c, 0));
  return true;
}

const OpRegistration kOpDecodeCSV = {
    .name = "DecodeCSV",
    .inputs = {"records: string", "record_defaults: OUT_TYPE"},
    .outputs = {"output: OUT_TYPE"},
    .attrs = {"OUT_TYPE: list({float,double,int32,int64,string}) >= 1", "field_delim: string = ','",
              "use_quote_delim: bool = true", "na_value: string = ''", "select_cols: list(int) = []"},
    .shape = csv_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(CsvState),
    .construct = csv_construct,
    .kernels = {{DT_INVALID, decode_csv}},
};
