/* StringNGrams: the sequences of neighbouring tokens in the rows of a ragged tensor of strings. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/row_splits.h"
#include "ops/strings/string_elements.h"

typedef struct NGramsState {
  Str separator, left_pad, right_pad;
  const AttrListValue *widths;
  int64_t pad_width; /* at most; -1: one less than the width */
  bool keep_short;
} NGramsState;

static int num_widths(const NGramsState *state) { return state->widths ? (int)state->widths->n_i : 0; }

static bool check_widths(const NGramsState *state, Status *status) {
  for (int i = 0; i < num_widths(state); i++) {
    if (state->widths->i[i] <= 0) return status_invalid(status, "ngram_widths must contain positive values");
  }
  return num_widths(state) > 0 || !state->keep_short || state->pad_width >= 0 ||
         status_invalid(status,
                        "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are "
                        "not provided, got %lld",
                        (long long)state->pad_width);
}

static bool ngrams_construct(const KernelConstruction *construction, void *memory, Status *status) {
  NGramsState *state = memory;
  const NodeDef *node = construction->node;
  TRY(node_attr_string(node, "separator", &state->separator, status));
  TRY(node_attr_string(node, "left_pad", &state->left_pad, status));
  TRY(node_attr_string(node, "right_pad", &state->right_pad, status));
  TRY(node_attr_list(node, "ngram_widths", ATTR_INT, &state->widths, status));
  TRY(node_attr_int(node, "pad_width", &state->pad_width, status));
  TRY(node_attr_bool(node, "preserve_short_sequences", &state->keep_short, status));
  return check_widths(state, status);
}

/* The pads on each side for n-grams of that width. */
static int64_t padding(const NGramsState *state, int64_t width) {
  return state->pad_width < 0 || state->pad_width > width - 1 ? width - 1 : state->pad_width;
}

static int64_t count_of_width(const NGramsState *state, int64_t length, int64_t width) {
  int64_t count = length + 2 * padding(state, width) - width + 1;
  return count > 0 ? count : 0;
}

/* A row with tokens but without n-grams becomes one n-gram, if short rows are kept. */
static bool is_short(const NGramsState *state, int64_t length, int64_t count) {
  return state->keep_short && count == 0 && length > 0;
}

static int64_t count_row(const NGramsState *state, int64_t length) {
  int64_t count = 0;
  for (int i = 0; i < num_widths(state); i++) count += count_of_width(state, length, state->widths->i[i]);
  return is_short(state, length, count) ? 1 : count;
}

static bool check_splits(const Tensor *data, const Tensor *splits, Status *status) {
  int64_t count = tensor_num_elements(splits), size = tensor_num_elements(data);
  if (count == 0) return true;
  int64_t before = tensor_int_at(splits, 0);
  if (before != 0) return status_invalid(status, "First split value must be 0, got %lld", (long long)before);
  for (int64_t i = 1; i < count; i++) {
    int64_t split = tensor_int_at(splits, i);
    if (split < before || split > size)
      return status_invalid(status, "Invalid split value %lld, must be in [%lld, %lld]", (long long)split,
                            (long long)before, (long long)size);
    before = split;
  }
  return before == size ||
         status_invalid(status, "Last split value must be data size. Expected %lld, got %lld",
                        (long long)size, (long long)before);
}

static void append(StrBuf *text, Str separator, Str token, bool first) {
  if (!first) strbuf_append_bytes(text, separator.data, separator.length);
  strbuf_append_bytes(text, token.data, token.length);
}

/* The `number`-th of `count` n-grams of a row that begins at `begin`. */
static void build(const NGramsState *state, const Tensor *data, int64_t begin, int64_t width, int64_t number,
                  int64_t count, StrBuf *text) {
  int64_t pads = padding(state, width), left = pads - number, right = pads - (count - 1 - number);
  if (left < 0) left = 0;
  if (right < 0) right = 0;
  int64_t tokens = width - left - right, from = begin + (left > 0 ? 0 : number - pads), at = 0;
  for (int64_t i = 0; i < left; i++) append(text, state->separator, state->left_pad, at++ == 0);
  for (int64_t i = 0; i < tokens; i++) append(text, state->separator, string_at(data, from + i), at++ == 0);
  for (int64_t i = 0; i < right; i++) append(text, state->separator, state->right_pad, at++ == 0);
}

static bool write_width(const NGramsState *state, const Tensor *data, int64_t begin, int64_t width,
                        int64_t count, Tensor *out, int64_t *at, Status *status) {
  StrBuf text = {0};
  bool ok = true;
  for (int64_t i = 0; ok && i < count; i++) {
    strbuf_clear(&text);
    build(state, data, begin, width, i, count, &text);
    ok = string_put(out, (*at)++, &text, status);
  }
  strbuf_free(&text);
  return ok;
}

static bool write_row(const NGramsState *state, const Tensor *data, int64_t begin, int64_t length,
                      Tensor *out, int64_t *at, Status *status) {
  int64_t before = *at;
  for (int i = 0; i < num_widths(state); i++) {
    int64_t width = state->widths->i[i];
    TRY(write_width(state, data, begin, width, count_of_width(state, length, width), out, at, status));
  }
  return !is_short(state, length, *at - before) ||
         write_width(state, data, begin, length + 2 * state->pad_width, 1, out, at, status);
}

static bool string_ngrams(KernelContext *context, Status *status) {
  const NGramsState *state = context->state;
  const Tensor *data = context->inputs[0], *splits = context->inputs[1];
  int64_t rows = tensor_num_elements(splits) - 1, total = 0, at = 0;
  Tensor *out, *out_splits;
  TRY(check_splits(data, splits, status));
  TRY(kernel_allocate_output(context, 1, &splits->shape, &out_splits, status));
  if (rows >= 0) row_splits_put(out_splits, 0, 0);
  for (int64_t i = 0; i < rows; i++) {
    total += count_row(state, tensor_int_at(splits, i + 1) - tensor_int_at(splits, i));
    row_splits_put(out_splits, i + 1, total);
  }
  TRY(kernel_allocate_output_dims(context, 0, 1, &total, &out, status));
  for (int64_t i = 0; i < rows; i++) {
    int64_t begin = tensor_int_at(splits, i), length = tensor_int_at(splits, i + 1) - begin;
    TRY(write_row(state, data, begin, length, out, &at, status));
  }
  return true;
}

static bool ngrams_shape(InferenceContext *c, Status *status) {
  ShapeHandle ignored, out;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &ignored, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &ignored, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &out, status));
  shape_set_output(c, 0, out);
  shape_set_output(c, 1, shape_input(c, 1));
  return true;
}

const OpRegistration kOpStringNGrams = {
    .name = "StringNGrams",
    .inputs = {"data: string", "data_splits: Tsplits"},
    .outputs = {"ngrams: string", "ngrams_splits: Tsplits"},
    .attrs = {"separator: string", "ngram_widths: list(int) >= 0", "left_pad: string", "right_pad: string",
              "pad_width: int", "preserve_short_sequences: bool", "Tsplits: {int32, int64} = DT_INT64"},
    .shape = ngrams_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NGramsState),
    .construct = ngrams_construct,
    .kernels = {{DT_INT32, string_ngrams}, {DT_INT64, string_ngrams}},
};
