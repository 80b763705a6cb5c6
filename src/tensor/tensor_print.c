#include <inttypes.h>

#include "tensor/tensor_internal.h"

typedef struct ValuePrinter {
  const Tensor *values;
  const Shape *shape;
  int64_t limit, next; /* elements to print, and the one that comes next */
  StrBuf *out;
} ValuePrinter;

static void print_float(float value, StrBuf *out) {
  char text[NUMBER_TEXT_CAPACITY];
  strbuf_append(out, proto_float_text(value, text));
}

static void print_double(double value, StrBuf *out) {
  char text[NUMBER_TEXT_CAPACITY];
  strbuf_append(out, proto_double_text(value, text));
}

static void print_element(const Tensor *tensor, int64_t i, StrBuf *out) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case DT_FLOAT: print_float(((const float *)data)[i], out); break;
    case DT_HALF: print_float(half_to_float(((const uint16_t *)data)[i]), out); break;
    case DT_BFLOAT16: print_float(bfloat16_to_float(((const uint16_t *)data)[i]), out); break;
    case DT_DOUBLE: print_double(((const double *)data)[i], out); break;
    case DT_INT64: strbuf_printf(out, "%" PRId64, ((const int64_t *)data)[i]); break;
    case DT_UINT64: strbuf_printf(out, "%" PRIu64, ((const uint64_t *)data)[i]); break;
    case DT_STRING: {
      Str string = tstring_view(&tensor_strings(tensor)[i]);
      strbuf_append_c_escaped(out, string.data, string.length);
      break;
    }
    case DT_COMPLEX64:
      strbuf_append_char(out, '(');
      print_float(((const float *)data)[2 * i], out);
      strbuf_append_char(out, ',');
      print_float(((const float *)data)[2 * i + 1], out);
      strbuf_append_char(out, ')');
      break;
    case DT_COMPLEX128:
      strbuf_append_char(out, '(');
      print_double(((const double *)data)[2 * i], out);
      strbuf_append_char(out, ',');
      print_double(((const double *)data)[2 * i + 1], out);
      strbuf_append_char(out, ')');
      break;
    case DT_INVALID:
    case DT_RESOURCE:
    case DT_VARIANT: strbuf_append_char(out, '?'); break;
    default: strbuf_printf(out, "%.0f", tensor_double_at(tensor, i)); /* integers of up to 32 bits, and bool */
  }
}

/* One row of the innermost dimension. A row that is cut shows it, except in a vector, whose end shows it anyway. */
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

/* Recursion goes as deep as the rank, 254 at most. */
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
    if (shape->rank == 0) {
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
