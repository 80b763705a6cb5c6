/* StringToNumber, AsString. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"
#include "ops/support/string_number.h"
#include "ops/support/element_types.h"

/* --- StringToNumber --- */

static bool string_to_number(KernelContext *context, Status *status) {
  const Tensor *in = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(in); i++) {
    Str text = string_at(in, i);
    if (!string_to_element(text, out, i))
      return status_invalid(status, "StringToNumberOp could not correctly convert string: %.*s",
                            (int)text.length, text.data);
  }
  return true;
}

const OpRegistration kOpStringToNumber = {
    .name = "StringToNumber",
    .inputs = {"string_tensor: string"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {FLOAT_KERNELS(string_to_number), INT_KERNELS(string_to_number),
                UNSIGNED_KERNELS(string_to_number)},
};

/* --- AsString --- */

enum { FORMAT_CAPACITY = 64, MAX_DECIMALS = 9 };

typedef struct FormatState {
  char format[FORMAT_CAPACITY]; /* printf's, for a number: with fill, width and precision */
  int decimals;                 /* of a format that is no more than "%f" or "%.2f"; else -1 */
} FormatState;

static bool has_point(DataType type) { return dtype_is_floating((int)type) || dtype_is_complex((int)type); }

/* The types of "%lld" and "%s" have no digits after the point. */
static bool check_format(DataType type, bool notation, int64_t precision, Status *status) {
  if (has_point(type) || type == DT_STRING || type == DT_VARIANT) return true;
  if (notation)
    return status_invalid(status, "scientific and shortest format not supported for datatype %s",
                          dtype_name((int)type));
  return precision < 0 ||
         status_invalid(status, "precision not supported for datatype %s", dtype_name((int)type));
}

static bool check_fill(Str fill, Status *status) {
  if (fill.length > 1) return status_invalid(status, "Fill string must be one or fewer characters");
  return fill.length == 0 || memchr(" +-0#", fill.data[0], 5) ||
         status_invalid(status, "Fill argument not supported: \"%.*s\"", (int)fill.length, fill.data);
}

static bool format_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FormatState *state = memory;
  const NodeDef *node = construction->node;
  DataType type;
  Str fill;
  int64_t width, precision;
  bool scientific, shortest;
  TRY(node_attr_type(node, "T", &type, status));
  TRY(node_attr_string(node, "fill", &fill, status));
  TRY(node_attr_int(node, "width", &width, status) && node_attr_int(node, "precision", &precision, status));
  TRY(node_attr_bool(node, "scientific", &scientific, status));
  TRY(node_attr_bool(node, "shortest", &shortest, status));
  TRY(check_format(type, scientific || shortest, precision, status));
  TRY(check_fill(fill, status));
  if (scientific && shortest)
    return status_invalid(status, "Cannot select both scientific and shortest notation");
  if (width > INT32_MAX || precision > INT32_MAX)
    return status_invalid(status, "width and precision must be less than 2^31");
  bool is_signed = type == DT_INT8 || type == DT_INT16 || type == DT_INT32 || type == DT_INT64;
  const char *conversion = !has_point(type) ? is_signed ? PRId64 : PRIu64
                           : scientific     ? "e"
                           : shortest       ? "g"
                                            : "f";
  char *format = state->format;
  int used = snprintf(format, FORMAT_CAPACITY, "%%%.*s", (int)fill.length, fill.data);
  if (width > 0) used += snprintf(format + used, FORMAT_CAPACITY - (size_t)used, "%d", (int)width);
  if (precision >= 0) used += snprintf(format + used, FORMAT_CAPACITY - (size_t)used, ".%d", (int)precision);
  snprintf(format + used, FORMAT_CAPACITY - (size_t)used, "%s", conversion);
  bool plain = *conversion == 'f' && fill.length == 0 && width <= 0 && precision <= MAX_DECIMALS;
  state->decimals = !plain ? -1 : precision < 0 ? 6 : (int)precision;
  return true;
}

/* "%f" where the digits are those of one integer that is surely the nearest. False for other numbers, for
 * which printf computes with many words. */
static bool print_fixed(int decimals, double value, StrBuf *out) {
  char text[32], *end = text + sizeof text, *at = end;
  double scale = 1;
  for (int i = 0; i < decimals; i++) scale *= 10;
  double scaled = fabs(value) * scale;
  if (!(scaled < 0x1p46)) return false;
  uint64_t whole = (uint64_t)scaled;
  double part = scaled - (double)whole;
  if (fabs(part - 0.5) <= 0x1p-7) return false; /* the product is off by up to 2^-8 */
  whole += part > 0.5;
  for (int i = 0; i <= decimals || whole > 0; i++, whole /= 10) {
    if (i == decimals && i > 0) *--at = '.';
    *--at = (char)('0' + whole % 10);
  }
  if (signbit(value)) *--at = '-';
  strbuf_append_bytes(out, at, (size_t)(end - at));
  return true;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void print_double(const FormatState *state, double value, StrBuf *out) {
  if (state->decimals < 0 || !print_fixed(state->decimals, value, out))
    strbuf_printf(out, state->format, value);
}

static void print_complex(const FormatState *state, double re, double im, StrBuf *out) {
  strbuf_append_char(out, '(');
  print_double(state, re, out);
  strbuf_append_char(out, ',');
  print_double(state, im, out);
  strbuf_append_char(out, ')');
}

/* Strings take width and '-'; precision does not cut them. */
static void print_string(const FormatState *state, Str text, StrBuf *out) {
  const char *flag = state->format + 1;
  bool left = *flag == '-';
  long width = strtol(flag + (*flag != '\0' && strchr(" +-0#", *flag)), NULL, 10);
  long spaces = width - (long)text.length;
  for (long i = 0; !left && i < spaces; i++) strbuf_append_char(out, ' ');
  strbuf_append_bytes(out, text.data, text.length);
  for (long i = 0; left && i < spaces; i++) strbuf_append_char(out, ' ');
}

static void print_element(const FormatState *state, const Tensor *in, int64_t i, StrBuf *out) {
  switch (in->dtype) {
    case DT_BOOL: strbuf_append(out, tensor_bool(in)[i] ? "true" : "false"); break;
    case DT_STRING: print_string(state, string_at(in, i), out); break;
    case DT_COMPLEX64:
      print_complex(state, (double)tensor_f32(in)[2 * i], (double)tensor_f32(in)[2 * i + 1], out);
      break;
    case DT_COMPLEX128: print_complex(state, tensor_f64(in)[2 * i], tensor_f64(in)[2 * i + 1], out); break;
    case DT_FLOAT:
    case DT_DOUBLE:
    case DT_HALF:
    case DT_BFLOAT16: print_double(state, tensor_double_at(in, i), out); break;
    default: strbuf_printf(out, state->format, tensor_int_at(in, i));
  }
}

#pragma GCC diagnostic pop

static bool as_string(KernelContext *context, Status *status) {
  const Tensor *in = context->inputs[0];
  StrBuf text = {0};
  Tensor *out;
  bool ok = true;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  for (int64_t i = 0; ok && i < tensor_num_elements(in); i++) {
    strbuf_clear(&text);
    print_element(context->state, in, i, &text);
    ok = string_put(out, i, &text, status);
  }
  strbuf_free(&text);
  return ok;
}

const OpRegistration kOpAsString = {
    .name = "AsString",
    .inputs = {"input: T"},
    .outputs = {"output: string"},
    .attrs = {"T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
              "complex64, complex128, bool, variant, string}",
              "precision: int = -1", "scientific: bool = false", "shortest: bool = false", "width: int = -1",
              "fill: string = ''"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(FormatState),
    .construct = format_construct,
    .kernels = {NUMBER_KERNELS(as_string), {DT_BOOL, as_string}, {DT_STRING, as_string}},
};
