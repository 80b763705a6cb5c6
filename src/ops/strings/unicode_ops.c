/* UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode, UnicodeTranscode, UnicodeScript. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/row_splits.h"
#include "ops/strings/string_elements.h"
#include "ops/strings/unicode.h"

/* --- encodings --- */

typedef enum Encoding {
  ENCODING_UTF8,
  ENCODING_UTF16_BE,
  ENCODING_UTF16_LE,
  ENCODING_UTF32_BE,
  ENCODING_UTF32_LE,
  ENCODING_LATIN1,
  ENCODING_ASCII,
  ENCODING_UNKNOWN
} Encoding;

/* Compares names as ICU does: only letters, without case, and digits count. */
static bool same_name(Str a, const char *b) {
  char letters[24];
  size_t count = 0;
  for (size_t i = 0; i < a.length; i++) {
    char c = a.data[i];
    bool counts = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!counts) continue;
    if (count + 1 >= sizeof letters) return false;
    letters[count++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
  }
  letters[count] = '\0';
  return strcmp(letters, b) == 0;
}

/* UTF-16 and UTF-32 without a byte order are big-endian. */
static Encoding encoding_of(Str name) {
  static const struct {
    const char *name;
    Encoding encoding;
  } kNames[] = {{"utf8", ENCODING_UTF8},        {"utf16be", ENCODING_UTF16_BE}, {"utf16", ENCODING_UTF16_BE},
                {"utf16le", ENCODING_UTF16_LE}, {"utf32be", ENCODING_UTF32_BE}, {"utf32", ENCODING_UTF32_BE},
                {"utf32le", ENCODING_UTF32_LE}, {"latin1", ENCODING_LATIN1},    {"iso88591", ENCODING_LATIN1},
                {"usascii", ENCODING_ASCII},    {"ascii", ENCODING_ASCII}};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; i++) {
    if (same_name(name, kNames[i].name)) return kNames[i].encoding;
  }
  return ENCODING_UNKNOWN;
}

static uint32_t units(Str text, int size, bool little) {
  uint32_t value = 0;
  for (int i = 0; i < size; i++) {
    unsigned char byte = (unsigned char)text.data[little ? size - 1 - i : i];
    value = value << 8 | byte;
  }
  return value;
}

/* A code point of two or four bytes, or a part of one at the end. */
static int32_t decode_utf16(Str text, bool little, int *length) {
  *length = text.length < 2 ? (int)text.length : 2;
  if (text.length < 2) return UNICODE_INVALID;
  uint32_t first = units(text, 2, little);
  if (first < 0xD800 || first > 0xDFFF) return (int32_t)first;
  if (first > 0xDBFF) return UNICODE_INVALID;
  if (text.length < 4) {
    *length = (int)text.length;
    return UNICODE_INVALID;
  }
  uint32_t second = units((Str){text.data + 2, 2}, 2, little);
  if (second < 0xDC00 || second > 0xDFFF) return UNICODE_INVALID;
  *length = 4;
  return (int32_t)(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
}

static int32_t decode_utf32(Str text, bool little, int *length) {
  *length = text.length < 4 ? (int)text.length : 4;
  if (text.length < 4) return UNICODE_INVALID;
  uint32_t point = units(text, 4, little);
  return point > UNICODE_MAX || (point >= 0xD800 && point <= 0xDFFF) ? UNICODE_INVALID : (int32_t)point;
}

static int32_t decode(Encoding encoding, Str text, int *length) {
  unsigned char byte = (unsigned char)text.data[0];
  *length = 1;
  switch (encoding) {
    case ENCODING_UTF8: return utf8_decode(text, length);
    case ENCODING_UTF16_BE:
    case ENCODING_UTF16_LE: return decode_utf16(text, encoding == ENCODING_UTF16_LE, length);
    case ENCODING_UTF32_BE:
    case ENCODING_UTF32_LE: return decode_utf32(text, encoding == ENCODING_UTF32_LE, length);
    case ENCODING_ASCII: return byte < 0x80 ? byte : UNICODE_INVALID;
    default: return byte;
  }
}

static void append_units(StrBuf *out, uint32_t value, int size) {
  for (int i = size - 1; i >= 0; i--) strbuf_append_char(out, (char)(value >> 8 * i & 0xFF));
}

static void encode(Encoding encoding, int32_t point, StrBuf *out) {
  if (encoding == ENCODING_UTF8) {
    utf8_append(out, point);
  } else if (encoding == ENCODING_UTF32_BE) {
    append_units(out, (uint32_t)point, 4);
  } else if (point < 0x10000) {
    append_units(out, (uint32_t)point, 2);
  } else {
    append_units(out, 0xD800 + ((uint32_t)(point - 0x10000) >> 10), 2);
    append_units(out, 0xDC00 + ((uint32_t)(point - 0x10000) & 0x3FF), 2);
  }
}

/* --- attrs --- */

typedef enum Errors { ERRORS_STRICT, ERRORS_REPLACE, ERRORS_IGNORE } Errors;

typedef struct UnicodeState {
  Encoding from, to;
  Errors errors;
  int32_t replacement;
  bool replace_control;
} UnicodeState;

static bool is_scalar_value(int64_t point) {
  return point >= 0 && point <= UNICODE_MAX && !(point >= 0xD800 && point <= 0xDFFF);
}

static bool errors_construct(const KernelConstruction *construction, UnicodeState *state, Status *status) {
  Str errors;
  int64_t replacement;
  TRY(node_attr_string(construction->node, "errors", &errors, status));
  TRY(node_attr_int(construction->node, "replacement_char", &replacement, status));
  state->errors = str_equal_text(errors, "strict")   ? ERRORS_STRICT
                  : str_equal_text(errors, "ignore") ? ERRORS_IGNORE
                                                     : ERRORS_REPLACE;
  if (replacement < 0 || replacement > UNICODE_MAX)
    return status_invalid(status, "replacement_char out of unicode codepoint range");
  state->replacement = is_scalar_value(replacement) ? (int32_t)replacement : UNICODE_REPLACEMENT;
  return true;
}

static bool output_construct(const KernelConstruction *construction, UnicodeState *state, Status *status) {
  Str name;
  TRY(node_attr_string(construction->node, "output_encoding", &name, status));
  state->to = encoding_of(name);
  return true;
}

static bool decode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  UnicodeState *state = memory;
  Str name;
  TRY(errors_construct(construction, state, status));
  TRY(node_attr_bool(construction->node, "replace_control_characters", &state->replace_control, status));
  TRY(node_attr_string(construction->node, "input_encoding", &name, status));
  state->from = encoding_of(name);
  return state->from != ENCODING_UNKNOWN ||
         status_invalid(status, "Could not create converter for input encoding: %.*s", (int)name.length,
                        name.data);
}

static bool transcode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return decode_construct(construction, memory, status) && output_construct(construction, memory, status);
}

static bool encode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return errors_construct(construction, memory, status) && output_construct(construction, memory, status);
}

/* --- decoding --- */

typedef bool PointFn(void *arg, int32_t point, int64_t offset);

/* Calls `take` for the code points of a text, as the attrs want them. */
static bool each_point(const UnicodeState *state, Str text, PointFn *take, void *arg, Status *status) {
  int length;
  for (size_t at = 0; at < text.length; at += (size_t)length) {
    int32_t point = decode(state->from, (Str){text.data + at, text.length - at}, &length);
    bool invalid = point == UNICODE_INVALID;
    if (invalid && state->errors == ERRORS_STRICT)
      return status_invalid(status, "Invalid formatting on input string");
    bool control = state->replace_control && point >= 0 && point < 0x20;
    if ((invalid || control) && state->errors == ERRORS_IGNORE) continue;
    if (!take(arg, invalid || control ? state->replacement : point, (int64_t)at))
      return status_oom(status, "code points");
  }
  return true;
}

typedef struct Points {
  int32_t *points;
  int64_t *offsets;
  int64_t count, capacity, offset_capacity;
} Points;

static bool add_point(void *arg, int32_t point, int64_t offset) {
  Points *points = arg;
  if (!mem_grow((void **)&points->points, &points->capacity, points->count + 1, sizeof *points->points) ||
      !mem_grow((void **)&points->offsets, &points->offset_capacity, points->count + 1,
                sizeof *points->offsets))
    return false;
  points->points[points->count] = point;
  points->offsets[points->count++] = offset;
  return true;
}

static bool decode_all(KernelContext *context, Points *points, Status *status) {
  const Tensor *in = context->inputs[0];
  int64_t rows = tensor_num_elements(in) + 1;
  Tensor *splits, *out;
  TRY(kernel_allocate_output_dims(context, 0, 1, &rows, &splits, status));
  row_splits_put(splits, 0, 0);
  for (int64_t i = 0; i + 1 < rows; i++) {
    TRY(each_point(context->state, string_at(in, i), add_point, points, status));
    row_splits_put(splits, i + 1, points->count);
  }
  TRY(kernel_allocate_output_dims(context, 1, 1, &points->count, &out, status));
  if (points->count > 0) memcpy(out->data, points->points, (size_t)points->count * sizeof *points->points);
  if (context->num_outputs < 3) return true;
  TRY(kernel_allocate_output_dims(context, 2, 1, &points->count, &out, status));
  if (points->count > 0) memcpy(out->data, points->offsets, (size_t)points->count * sizeof *points->offsets);
  return true;
}

static bool unicode_decode(KernelContext *context, Status *status) {
  Points points = {0};
  bool ok = decode_all(context, &points, status);
  mem_free(points.points);
  mem_free(points.offsets);
  return ok;
}

typedef struct Transcoding {
  const UnicodeState *state;
  StrBuf *out;
} Transcoding;

static bool encode_point(void *arg, int32_t point, int64_t offset) {
  Transcoding *transcoding = arg;
  (void)offset;
  encode(transcoding->state->to, point, transcoding->out);
  return true;
}

static bool transcode(const void *state, Str text, StrBuf *out, Status *status) {
  return each_point(state, text, encode_point, &(Transcoding){state, out}, status);
}

/* --- encoding --- */

static bool check_encode_splits(const Tensor *values, const Tensor *splits, Status *status) {
  int64_t count = tensor_num_elements(splits), before = 0;
  if (count == 0)
    return status_invalid(status,
                          "Input_splits should contain elements, but given input_values has 0 elements");
  if (tensor_int_at(splits, 0) != 0)
    return status_invalid(status, "First value in input_splits must be zero.");
  if (tensor_int_at(splits, count - 1) != tensor_num_elements(values))
    return status_invalid(status, "Last value in input_splits must be equal to length of input_tensor.");
  for (int64_t i = 1; i < count; i++) {
    if (tensor_int_at(splits, i) < before)
      return status_invalid(status, "Values in input_splits must be equal or in ascending order.");
    before = tensor_int_at(splits, i);
    if (before > tensor_num_elements(values))
      return status_invalid(status,
                            "Values in input_splits must be less than or equal to input_tensor length.");
  }
  return true;
}

static bool encode_row(const UnicodeState *state, const int32_t *points, int64_t count, StrBuf *out,
                       Status *status) {
  for (int64_t i = 0; i < count; i++) {
    bool valid = is_scalar_value(points[i]);
    if (!valid && state->errors == ERRORS_STRICT)
      return status_invalid(status, "Code point is out of range for Unicode, or is a surrogate.");
    if (!valid && state->errors == ERRORS_IGNORE) continue;
    encode(state->to, valid ? points[i] : state->replacement, out);
  }
  return true;
}

static bool unicode_encode(KernelContext *context, Status *status) {
  const Tensor *values = context->inputs[0], *splits = context->inputs[1];
  int64_t rows = tensor_num_elements(splits) - 1;
  StrBuf text = {0};
  bool ok = true;
  Tensor *out;
  TRY(check_encode_splits(values, splits, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, &rows, &out, status));
  for (int64_t i = 0; ok && i < rows; i++) {
    int64_t begin = tensor_int_at(splits, i), end = tensor_int_at(splits, i + 1);
    strbuf_clear(&text);
    ok = encode_row(context->state, tensor_i32(values) + begin, end - begin, &text, status) &&
         string_put(out, i, &text, status);
  }
  strbuf_free(&text);
  return ok;
}

/* --- scripts --- */

typedef struct ScriptRuns {
  struct ScriptRun {
    int32_t last;
    int32_t script;
  } * runs;
  int64_t count, capacity;
} ScriptRuns;

static bool add_script_run(void *arg, int32_t first, int32_t last, int value) {
  ScriptRuns *runs = arg;
  (void)first;
  if (!mem_grow((void **)&runs->runs, &runs->capacity, runs->count + 1, sizeof *runs->runs)) return false;
  runs->runs[runs->count++] = (struct ScriptRun){last, value};
  return true;
}

static int32_t script_of(const ScriptRuns *runs, int32_t point) {
  int64_t low = 0, high = runs->count;
  if (point < 0 || point > UNICODE_MAX) return -1; /* ICU's code for an invalid character */
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (runs->runs[middle].last < point) low = middle + 1;
    else high = middle;
  }
  return runs->runs[low].script;
}

static bool unicode_script(KernelContext *context, Status *status) {
  const Tensor *in = context->inputs[0];
  ScriptRuns runs = {0};
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  bool ok = unicode_each_script(add_script_run, &runs) || status_oom(status, "the scripts of Unicode");
  for (int64_t i = 0; ok && i < tensor_num_elements(in); i++)
    tensor_i32(out)[i] = script_of(&runs, tensor_i32(in)[i]);
  mem_free(runs.runs);
  return ok;
}

/* --- ops --- */

static bool decode_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  DimHandle rows;
  TRY(dim_ok(shape_num_elements_of(c, shape_input(c, 0)), &rows, status));
  DimHandle one = dim_make(c, 1);
  TRY(dim_ok(one, &one, status));
  TRY(dim_add(c, rows, one, &rows, status));
  TRY(shape_ok(shape_vector(c, rows), &out, status));
  shape_set_output(c, 0, out);
  for (int i = 1; i < c->num_outputs; i++) {
    if (i == 1) TRY(shape_ok(shape_vector(c, dim_unknown(c)), &out, status));
    shape_set_output(c, i, out);
  }
  return true;
}

static bool encode_shape(InferenceContext *c, Status *status) {
  ShapeHandle values, splits, out;
  DimHandle rows = NULL, one = dim_make(c, 1);
  TRY(dim_ok(one, &one, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &values, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &splits, status));
  TRY(dim_subtract(c, shape_dim_of(c, splits, 0), one, &rows, status));
  TRY(shape_ok(shape_vector(c, rows), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

#define DECODE_ATTRS                                                               \
  "input_encoding: string", "errors: {'strict', 'replace', 'ignore'} = 'replace'", \
      "replacement_char: int = 65533", "replace_control_characters: bool = false", \
      "Tsplits: {int32, int64} = DT_INT64"

const OpRegistration kOpUnicodeDecode = {
    .name = "UnicodeDecode",
    .inputs = {"input: string"},
    .outputs = {"row_splits: Tsplits", "char_values: int32"},
    .attrs = {DECODE_ATTRS},
    .shape = decode_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(UnicodeState),
    .construct = decode_construct,
    .kernels = {{DT_INT32, unicode_decode}, {DT_INT64, unicode_decode}},
};

const OpRegistration kOpUnicodeDecodeWithOffsets = {
    .name = "UnicodeDecodeWithOffsets",
    .inputs = {"input: string"},
    .outputs = {"row_splits: Tsplits", "char_values: int32", "char_to_byte_starts: int64"},
    .attrs = {DECODE_ATTRS},
    .shape = decode_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(UnicodeState),
    .construct = decode_construct,
    .kernels = {{DT_INT32, unicode_decode}, {DT_INT64, unicode_decode}},
};

const OpRegistration kOpUnicodeEncode = {
    .name = "UnicodeEncode",
    .inputs = {"input_values: int32", "input_splits: Tsplits"},
    .outputs = {"output: string"},
    .attrs = {"errors: {'ignore', 'replace', 'strict'} = 'replace'",
              "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}", "replacement_char: int = 65533",
              "Tsplits: {int32, int64} = DT_INT64"},
    .shape = encode_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(UnicodeState),
    .construct = encode_construct,
    .kernels = {{DT_INT32, unicode_encode}, {DT_INT64, unicode_encode}},
};

const OpRegistration kOpUnicodeTranscode = {
    .name = "UnicodeTranscode",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .attrs = {"input_encoding: string", "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}",
              "errors: {'strict', 'replace', 'ignore'} = 'replace'", "replacement_char: int = 65533",
              "replace_control_characters: bool = false"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(UnicodeState),
    .construct = transcode_construct,
    .kernels = {{DT_INVALID, change_strings_kernel, transcode}},
};

const OpRegistration kOpUnicodeScript = {
    .name = "UnicodeScript",
    .inputs = {"input: int32"},
    .outputs = {"output: int32"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, unicode_script}},
};
