/* InitializeTableFromTextFile: the lines of a file become the entries of a table. */
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/string_number.h"
#include "ops/tables/table_access.h"

/* What an index of -1 or -2 means instead of a column. */
enum { LINE_NUMBER = -1, WHOLE_LINE = -2, MOST_FILE_BYTES = 1 << 30 };

typedef struct FileState {
  int64_t key_index, value_index, vocab_size, offset;
  char delimiter;
} FileState;

static bool file_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FileState *state = memory;
  const NodeDef *node = construction->node;
  Str delimiter;
  TRY(node_attr_int(node, "key_index", &state->key_index, status));
  TRY(node_attr_int(node, "value_index", &state->value_index, status));
  TRY(node_attr_int(node, "vocab_size", &state->vocab_size, status));
  TRY(node_attr_int(node, "offset", &state->offset, status));
  TRY(node_attr_string(node, "delimiter", &delimiter, status));
  if (delimiter.length != 1) return status_invalid(status, "delimiter should be only 1 char");
  state->delimiter = delimiter.data[0];
  return true;
}

/* --- the file --- */

typedef struct Lines {
  const char *path;
  const char *bytes, *end;
  int64_t count;
} Lines;

/* Takes the next line without its end. */
static Str take_line(const char **p, const char *end) {
  const char *newline = memchr(*p, '\n', (size_t)(end - *p));
  Str line = {*p, (size_t)((newline ? newline : end) - *p)};
  *p = newline ? newline + 1 : end;
  if (line.length > 0 && line.data[line.length - 1] == '\r') line.length--;
  return line;
}

static bool count_lines(const FileState *state, Lines *lines, Status *status) {
  int64_t most = state->vocab_size >= 0 ? state->vocab_size : INT64_MAX;
  if (most == 0)
    return status_set(status, CODE_OUT_OF_RANGE, "Finished reading 0 of lines from %s", lines->path);
  for (const char *p = lines->bytes; p < lines->end && lines->count < most; lines->count++) {
    if (take_line(&p, lines->end).length == 0)
      return status_invalid(status, "Invalid content in %s: empty line found at position %lld.", lines->path,
                            (long long)(p - lines->bytes));
  }
  return state->vocab_size < 0 || lines->count == state->vocab_size ||
         status_invalid(status, "Invalid vocab_size in %s: expected %lld but got %lld", lines->path,
                        (long long)state->vocab_size, (long long)lines->count);
}

/* --- columns --- */

/* Column `index` of a line; false if it has fewer. */
static bool column(Str line, char delimiter, int64_t index, Str *text, int64_t *count) {
  const char *p = line.data, *end = p + line.length;
  for (*count = 1;; (*count)++) {
    const char *next = memchr(p, delimiter, (size_t)(end - p));
    *text = (Str){p, (size_t)((next ? next : end) - p)};
    if (*count > index) return true;
    if (!next) return false;
    p = next + 1;
  }
}

static bool refuse_columns(const FileState *state, const Lines *lines, int64_t number, Str line,
                           int64_t count, Status *status) {
  int64_t most = state->key_index > state->value_index ? state->key_index : state->value_index;
  return status_invalid(status,
                        "Invalid number of columns in %s line %lld (%.*s) : expected at least %lld got %lld",
                        lines->path, (long long)number, (int)line.length, line.data, (long long)most + 1,
                        (long long)count);
}

static bool put_field(const FileState *state, const Lines *lines, Str line, int64_t number, int64_t index,
                      Tensor *out, Status *status) {
  Str text = line;
  int64_t count;
  if (index == LINE_NUMBER) {
    tensor_i64(out)[number] = number + state->offset;
    return true;
  }
  if (index >= 0 && !column(line, state->delimiter, index, &text, &count))
    return refuse_columns(state, lines, number, line, count, status);
  return string_to_element(text, out, number) ||
         status_invalid(status, "Field %.*s in line %lld is not a valid %s.", (int)text.length, text.data,
                        (long long)number, dtype_name((int)out->dtype));
}

static bool read_lines(const FileState *state, const Lines *lines, Tensor *keys, Tensor *values,
                       Status *status) {
  const char *p = lines->bytes;
  for (int64_t i = 0; i < lines->count; i++) {
    Str line = take_line(&p, lines->end);
    TRY(put_field(state, lines, line, i, state->key_index, keys, status));
    TRY(put_field(state, lines, line, i, state->value_index, values, status));
  }
  return true;
}

/* --- kernel --- */

static bool check_index(const char *what, const char *lower, int64_t index, DataType dtype, Status *status) {
  if (index == LINE_NUMBER)
    return dtype == DT_INT64 ||
           status_invalid(status, "%s index for line number requires table %s dtype of int64, got %s", what,
                          lower, dtype_name((int)dtype));
  return dtype == DT_STRING || dtype == DT_INT64 || dtype == DT_INT32 || dtype == DT_FLOAT ||
         dtype == DT_DOUBLE || status_invalid(status, "Invalid data type: %s", dtype_name((int)dtype));
}

static bool fill_table(KernelContext *context, LookupTable *table, const Lines *lines, Status *status) {
  const FileState *state = context->state;
  Tensor keys = {0}, values = {0};
  bool ok = tensor_allocate_dims(&keys, table->key_dtype, 1, &lines->count, NULL, status) &&
            tensor_allocate_dims(&values, table->value_dtype, 1, &lines->count, NULL, status) &&
            read_lines(state, lines, &keys, &values, status);
  if (ok) {
    mutex_lock(&table->lock);
    ok = table_initialize(table, &keys, &values, status);
    mutex_unlock(&table->lock);
  }
  tensor_clear(&keys);
  tensor_clear(&values);
  return ok;
}

static bool initialize_from_file(KernelContext *context, Status *status) {
  const FileState *state = context->state;
  const Tensor *name = context->inputs[1];
  char path[FILE_PATH_MAX + 1], text[SHAPE_TEXT_CAPACITY], *bytes;
  LookupTable *table;
  int64_t size;
  TRY(table_of(context, &table, status) && table_check_fixed(context, table, status));
  if (!tensor_is_scalar(name))
    return status_invalid(status, "filename should be a single string, but got %s",
                          shape_text(&name->shape, text));
  TRY(check_index("Key", "key", state->key_index, table->key_dtype, status));
  TRY(check_index("Value", "value", state->value_index, table->value_dtype, status));
  TRY(file_path(tstring_view(tensor_strings(name)), path, status));
  TRY(file_read_all(path, MOST_FILE_BYTES, &bytes, &size, status));
  Lines lines = {path, bytes, bytes + size, 0};
  bool ok = count_lines(state, &lines, status) && fill_table(context, table, &lines, status);
  mem_free(bytes);
  return ok;
}

/* --- ops --- */

static bool file_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  return shape_with_rank(c, shape_input(c, 0), 0, &scalar, status) &&
         shape_with_rank(c, shape_input(c, 1), 0, &scalar, status);
}

static bool file_reference_shape(InferenceContext *c, Status *status) {
  ShapeHandle handle;
  DimHandle two;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &handle, status));
  TRY(dim_with_value(c, shape_dim_of(c, handle, 0), 2, &two, status));
  return shape_with_rank(c, shape_input(c, 1), 0, &handle, status);
}

#define FILE_OP                                                                             \
  .attrs = {"key_index: int >= -2", "value_index: int >= -2", "vocab_size: int >= -1 = -1", \
            "delimiter: string = '\t'", "offset: int = 0"},                                 \
  .gradient = NO_GRADIENT, .state_size = sizeof(FileState), .construct = file_construct,    \
  .kernels = {{DT_INVALID, initialize_from_file}}

const OpRegistration kOpInitializeTableFromTextFile = {
    .name = "InitializeTableFromTextFile",
    .inputs = {"table_handle: Ref(string)", "filename: string"},
    .shape = file_reference_shape,
    FILE_OP,
};

const OpRegistration kOpInitializeTableFromTextFileV2 = {
    .name = "InitializeTableFromTextFileV2",
    .inputs = {"table_handle: resource", "filename: string"},
    .is_stateful = true,
    .shape = file_shape,
    FILE_OP,
};
