#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "tensor/tensor_internal.h"

typedef struct ValuePrinter {
  const Tensor *values;
  const Shape *shape;
  int64_t limit, next; /* the number of elements to print, and the next one */
  StrBuf *out;
} ValuePrinter;

/* Six digits, or nine where six do not restore the number; no sign on NaN. */
static void print_float(float value, StrBuf *out) {
  char text[NUMBER_TEXT_CAPACITY];
  snprintf(text, sizeof text, "%.6g", (double)value);
  if (isfinite(value) && (float)decimal_parse(text) != value)
    snprintf(text, sizeof text, "%.9g", (double)value);
  strbuf_append(out, isnan(value) ? "nan" : text);
}

static void print_double(double value, StrBuf *out) {
  char text[NUMBER_TEXT_CAPACITY];
  strbuf_append(out, proto_double_text(value, text));
}

/* The length of the UTF-8 sequence at the start of `bytes`, for a character above U+007F; 0 if there
 * is none. */
static size_t utf8_length(const unsigned char *bytes, size_t length) {
  unsigned char first = bytes[0];
  size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size > length) return 0;
  uint32_t character = first & (0x7fu >> size);
  for (size_t i = 1; i < size; i++) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
    character = character << 6 | (bytes[i] & 0x3fu);
  }
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < smallest[size] || character > 0x10ffff || surrogate ? 0 : size;
}

/* Escaped, except for UTF-8. */
static void print_string(Str string, StrBuf *out) {
  for (size_t i = 0, step; i < string.length; i += step) {
    const unsigned char *at = (const unsigned char *)string.data + i;
    step = *at < 0x80 ? 0 : utf8_length(at, string.length - i);
    if (step > 0) {
      strbuf_append_bytes(out, at, step);
    } else {
      strbuf_append_c_escaped(out, at, step = 1);
    }
  }
}

/* Types whose elements TensorFlow does not print. */
static bool is_opaque(DataType dtype) {
  return dtype_is_complex((int)dtype) || dtype == DT_QINT32 || dtype == DT_FLOAT8_E4M3FNUZ ||
         dtype == DT_FLOAT8_E5M2FNUZ || dtype == DT_RESOURCE || dtype == DT_VARIANT;
}

static void print_element(const Tensor *tensor, int64_t i, StrBuf *out) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case DT_DOUBLE: print_double(((const double *)data)[i], out); break;
    case DT_INT64: strbuf_printf(out, "%" PRId64, ((const int64_t *)data)[i]); break;
    case DT_UINT64: strbuf_printf(out, "%" PRIu64, ((const uint64_t *)data)[i]); break;
    case DT_STRING: print_string(tstring_view(&tensor_strings(tensor)[i]), out); break;
    case DT_FLOAT:
    case DT_HALF:
    case DT_BFLOAT16: print_float((float)tensor_double_at(tensor, i), out); break;
    default:
      if (dtype_is_float8(tensor->dtype)) {
        print_float((float)tensor_double_at(tensor, i), out);
      } else {
        strbuf_printf(out, "%.0f", tensor_double_at(tensor, i)); /* integers of up to 32 bits, and bool */
      }
  }
}

/* Without brackets, for any shape. */
static void print_opaque(int64_t count, StrBuf *out) {
  for (int64_t i = 0; i < count; i++) strbuf_append(out, i > 0 ? " ?" : "?");
}

/* One row of the innermost dimension. A truncated row ends with "...", except in a vector, whose end has it
 * anyway. */
static void print_row(ValuePrinter *printer, int dimension) {
  int64_t count = shape_dim(printer->shape, dimension);
  for (int64_t i = 0; i < count; i++) {
    if (printer->next >= printer->limit) {
      if (dimension != 0) strbuf_append(printer->out, "...");
      return;
    }
    if (i > 0) strbuf_append_char(printer->out, ' ');
    print_element(printer->values, printer->next++, printer->out);
  }
}

/* The recursion depth is the rank, at most 254. */
static void print_dimension(ValuePrinter *printer, int dimension) {
  if (dimension == printer->shape->rank - 1) {
    print_row(printer, dimension);
    return;
  }
  int64_t count = shape_dim(printer->shape, dimension);
  for (int64_t i = 0; i < count && printer->next < printer->limit; i++) {
    strbuf_append_char(printer->out, '[');
    print_dimension(printer, dimension + 1);
    strbuf_append_char(printer->out, ']');
  }
}

void print_tensor_as(const Tensor *values, const Shape *shape, int64_t max_entries, StrBuf *out) {
  strbuf_printf(out, "Tensor<type: %s shape: ", dtype_name(values->dtype));
  shape_print(shape, out);
  strbuf_append(out, " values: ");
  int64_t elements = values->data ? shape_num_elements(shape) : 0;
  ValuePrinter printer = {.values = values, .shape = shape, .limit = elements, .out = out};
  if (max_entries >= 0 && max_entries < elements) printer.limit = max_entries;
  if (printer.limit > 0) {
    if (is_opaque(values->dtype)) {
      print_opaque(printer.limit, out);
    } else if (shape->rank == 0) {
      print_element(values, 0, out);
    } else {
      print_dimension(&printer, 0);
    }
  }
  if (printer.limit < elements) strbuf_append(out, "...");
  strbuf_append_char(out, '>');
}

void tensor_print(const Tensor *tensor, int64_t max_entries, StrBuf *out) {
  print_tensor_as(tensor, &tensor->shape, max_entries, out);
}

/* --- tensor_summarize --- */

typedef struct Summary {
  const Tensor *tensor;
  int64_t edge_items;
  StrBuf *out;
} Summary;

static void summarize_element(const Summary *summary, int64_t i) {
  bool quoted = summary->tensor->dtype == DT_STRING;
  if (quoted) strbuf_append_char(summary->out, '"');
  print_element(summary->tensor, i, summary->out);
  if (quoted) strbuf_append_char(summary->out, '"');
}

/* Between two items of an axis: an empty line more for each axis inside of it. */
static void summarize_separator(const Summary *summary, int axis) {
  int inner = summary->tensor->shape.rank - 1 - axis;
  if (inner == 0) strbuf_append_char(summary->out, ' ');
  for (int i = 0; i < inner; i++) strbuf_append_char(summary->out, '\n');
  for (int i = 0; inner > 0 && i <= axis; i++) strbuf_append_char(summary->out, ' ');
}

/* The recursion depth is the rank, at most 254. `first` is the axis's first element. */
static void summarize_axis(const Summary *summary, int axis, int64_t first) {
  const Shape *shape = &summary->tensor->shape;
  if (axis == shape->rank) {
    summarize_element(summary, first);
    return;
  }
  int64_t size = shape_dim(shape, axis), stride = 1, edge = summary->edge_items;
  for (int i = axis + 1; i < shape->rank; i++) stride *= shape_dim(shape, i);
  bool whole = edge < 0 || edge > size / 2 || 2 * edge == size;
  strbuf_append_char(summary->out, '[');
  for (int64_t i = 0; i < size; i++) {
    if (!whole && i == edge) {
      summarize_separator(summary, axis);
      strbuf_append(summary->out, "...");
      i = size - edge;
      if (i == size) break;
    }
    if (i > 0) summarize_separator(summary, axis);
    summarize_axis(summary, axis + 1, first + i * stride);
  }
  strbuf_append_char(summary->out, ']');
}

void tensor_summarize(const Tensor *tensor, int64_t edge_items, StrBuf *out) {
  Summary summary = {tensor, edge_items, out};
  int64_t elements = tensor_num_elements(tensor);
  if (is_opaque(tensor->dtype)) {
    int64_t shown = edge_items >= 0 && edge_items < elements ? edge_items : elements;
    if (tensor->shape.rank > 0) strbuf_append_char(out, '[');
    print_opaque(shown, out);
    if (shown < elements) strbuf_append(out, "...");
    if (tensor->shape.rank > 0) strbuf_append_char(out, ']');
  } else if (tensor->shape.rank == 0 && edge_items == 0) {
    strbuf_append(out, "...");
  } else {
    summarize_axis(&summary, 0, 0);
  }
}
