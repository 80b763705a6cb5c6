/* StringSplit, StringSplitV2: the parts of each string of a vector, as a sparse tensor. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"

typedef struct SplitState {
  bool skip_empty;
  int64_t most; /* splits per string; negative: any number */
} SplitState;

static bool split_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "skip_empty", &((SplitState *)memory)->skip_empty, status);
}

static bool split_v2_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "maxsplit", &((SplitState *)memory)->most, status);
}

/* The parts found so far, borrowed, each with its row. */
typedef struct Parts {
  struct Part {
    Str text;
    int64_t row;
  } * parts;
  int64_t count, capacity;
  int64_t row;
  bool failed;
} Parts;

static void add_part(Parts *parts, const char *begin, const char *end) {
  parts->failed = parts->failed ||
                  !mem_grow((void **)&parts->parts, &parts->capacity, parts->count + 1, sizeof *parts->parts);
  if (!parts->failed)
    parts->parts[parts->count++] = (struct Part){{begin, (size_t)(end - begin)}, parts->row};
}

/* --- the rules --- */

/* Every byte of `delimiters` ends a part; without delimiters each byte is one. */
static void split_at_bytes(Str text, Str delimiters, const SplitState *state, Parts *parts) {
  const char *begin = text.data, *end = begin + text.length;
  if (delimiters.length == 0) {
    for (; begin < end; begin++) add_part(parts, begin, begin + 1);
    return;
  }
  if (text.length == 0) return;
  for (const char *p = begin; p <= end; p++) {
    if (p < end && !memchr(delimiters.data, *p, delimiters.length)) continue;
    if (p > begin || !state->skip_empty) add_part(parts, begin, p);
    begin = p + 1;
  }
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Python's split(None, most), except that the rest behind the last split may be empty. */
static void split_at_spaces(Str text, int64_t most, Parts *parts) {
  const char *p = text.data, *end = p + text.length;
  for (int64_t splits = 0;; splits++) {
    while (p < end && is_space(*p)) p++;
    if (most > 0 && splits == most) add_part(parts, p, end);
    if (p == end || (most > 0 && splits == most)) return;
    const char *begin = p;
    while (p < end && !is_space(*p)) p++;
    add_part(parts, begin, p);
  }
}

static const char *find(const char *p, const char *end, Str separator) {
  for (; (size_t)(end - p) >= separator.length; p++) {
    p = memchr(p, separator.data[0], (size_t)(end - p) - separator.length + 1);
    if (!p) return NULL;
    if (memcmp(p, separator.data, separator.length) == 0) return p;
  }
  return NULL;
}

/* Python's split(separator, most). */
static void split_at_text(Str text, Str separator, const SplitState *state, Parts *parts) {
  const char *begin = text.data, *end = begin + text.length;
  if (state->most == 0) {
    add_part(parts, begin, end);
    return;
  }
  if (separator.length == 0) {
    split_at_spaces(text, state->most, parts);
    return;
  }
  for (int64_t splits = 0; state->most < 0 || splits < state->most; splits++) {
    const char *found = find(begin, end, separator);
    if (!found) break;
    add_part(parts, begin, found);
    begin = found + separator.length;
  }
  add_part(parts, begin, end);
}

/* --- kernels --- */

static bool write_parts(KernelContext *context, const Parts *parts, int64_t rows, Status *status) {
  Tensor *indices, *values, *shape;
  int64_t column = 0, columns = 0;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){parts->count, 2}, &indices, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &parts->count, &values, status));
  TRY(kernel_allocate_output_dims(context, 2, 1, (int64_t[]){2}, &shape, status));
  for (int64_t i = 0; i < parts->count; i++) {
    column = i > 0 && parts->parts[i].row == parts->parts[i - 1].row ? column + 1 : 0;
    if (column >= columns) columns = column + 1;
    tensor_i64(indices)[2 * i] = parts->parts[i].row;
    tensor_i64(indices)[2 * i + 1] = column;
    Str text = parts->parts[i].text;
    TRY(tstring_set(&tensor_strings(values)[i], text.data, text.length, status));
  }
  tensor_i64(shape)[0] = rows;
  tensor_i64(shape)[1] = columns;
  return true;
}

typedef void SplitFn(Str text, Str separator, const SplitState *state, Parts *parts);

static bool split_rows(KernelContext *context, SplitFn *split, Str separator, Status *status) {
  Parts parts = {0};
  int64_t rows = shape_dim(&context->inputs[0]->shape, 0);
  for (; parts.row < rows; parts.row++)
    split(string_at(context->inputs[0], parts.row), separator, context->state, &parts);
  bool ok =
      parts.failed ? status_oom(status, "the parts of strings") : write_parts(context, &parts, rows, status);
  mem_free(parts.parts);
  return ok;
}

static bool check_vector(const Tensor *in, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return tensor_is_vector(in) ||
         status_invalid(status, "input must be a vector, got shape: %s", shape_text(&in->shape, text));
}

static bool string_split(KernelContext *context, Status *status) {
  const Tensor *delimiter = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  TRY(check_vector(context->inputs[0], status));
  if (!tensor_is_scalar(delimiter))
    return status_invalid(status, "delimiter must be a scalar, got shape: %s",
                          shape_text(&delimiter->shape, text));
  return split_rows(context, split_at_bytes, string_at(delimiter, 0), status);
}

static bool string_split_v2(KernelContext *context, Status *status) {
  const Tensor *separator = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  TRY(check_vector(context->inputs[0], status));
  if (!tensor_is_scalar(separator))
    return status_invalid(status, "sep must be a scalar, got shape: %s", shape_text(&separator->shape, text));
  return split_rows(context, split_at_text, string_at(separator, 0), status);
}

static bool split_shape(InferenceContext *c, Status *status) {
  ShapeHandle ignored, out;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &ignored, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &ignored, status));
  TRY(shape_ok(shape_matrix(c, dim_unknown(c), dim_make(c, 2)), &out, status));
  shape_set_output(c, 0, out);
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &out, status));
  shape_set_output(c, 1, out);
  TRY(shape_ok(shape_vector(c, dim_make(c, 2)), &out, status));
  shape_set_output(c, 2, out);
  return true;
}

const OpRegistration kOpStringSplit = {
    .name = "StringSplit",
    .inputs = {"input: string", "delimiter: string"},
    .outputs = {"indices: int64", "values: string", "shape: int64"},
    .attrs = {"skip_empty: bool = true"},
    .shape = split_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(SplitState),
    .construct = split_construct,
    .kernels = {{DT_INVALID, string_split}},
};

const OpRegistration kOpStringSplitV2 = {
    .name = "StringSplitV2",
    .inputs = {"input: string", "sep: string"},
    .outputs = {"indices: int64", "values: string", "shape: int64"},
    .attrs = {"maxsplit: int = -1"},
    .shape = split_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(SplitState),
    .construct = split_v2_construct,
    .kernels = {{DT_INVALID, string_split_v2}},
};
