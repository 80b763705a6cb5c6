/* Numbers in function texts: literals, and their conversion to the tensor, float or shape that an op
 * expects. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "function/text/function_text_internal.h"

/* The longest literal that is accepted. */
enum { MAX_LITERAL = 64 };

static size_t literal_length(const Cursor *c) {
  const char *p = c->at;
  if (p < c->end && (*p == '-' || *p == '+')) p++;
  for (; p < c->end; p++) {
    bool sign = (*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E');
    bool word = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                *p == '.' || *p == '_';
    bool cut = *p == '.' && p + 1 < c->end && p[1] == '.'; /* the "..." after a cut text */
    if ((!sign && !word) || cut) break;
  }
  return (size_t)(p - c->at);
}

static bool is_word_number(const char *text, size_t length) {
  if (length > 0 && (*text == '-' || *text == '+')) text++, length--;
  return length == 3 && (memcmp(text, "inf", 3) == 0 || memcmp(text, "nan", 3) == 0);
}

bool number_starts(Cursor *c) {
  char ch = cursor_peek(c);
  if ((ch >= '0' && ch <= '9') || ch == '-' || ch == '+' || ch == '.') return true;
  if (ch != 'i' && ch != 'n') return false;
  size_t length = literal_length(c);
  /* A function may be named "inf" or "nan"; with brackets it is a function. */
  return is_word_number(c->at, length) && (c->at + length >= c->end || c->at[length] != '[');
}

bool number_parse(Cursor *c, Number *number) {
  cursor_skip(c);
  size_t length = literal_length(c);
  char text[MAX_LITERAL + 1];
  if (length == 0 || length > MAX_LITERAL) return cursor_error(c, "expected a number");
  memcpy(text, c->at, length);
  text[length] = 0;
  char *end;
  bool plain = strspn(text + (text[0] == '-' || text[0] == '+'), "0123456789") ==
               length - (text[0] == '-' || text[0] == '+');
  *number = (Number){0};
  if (plain) {
    errno = 0;
    number->i = strtoll(text, &end, 10);
    if (errno == ERANGE) return cursor_error(c, "the number %s does not fit 64 bits", text);
  } else if (is_word_number(text, length)) {
    number->is_float = true;
    number->f = strstr(text, "nan") ? (double)NAN : text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    end = text + length;
  } else {
    number->is_float = true;
    number->f = strspn(text, "+-.0123456789eE") == length ? decimal_parse(text) : (double)NAN;
    end = isnan(number->f) ? text : text + length;
  }
  if (*end != 0 || end == text) return cursor_error(c, "'%s' is no number", text);
  c->at += length;
  return true;
}

void number_print(const Number *number, bool single, StrBuf *out) {
  if (!number->is_float) {
    strbuf_printf(out, "%lld", (long long)number->i);
    return;
  }
  double f = number->f;
  if (isnan(f) || isinf(f)) {
    strbuf_append(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
    return;
  }
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, f);
    double back = decimal_parse(text);
    if (single ? (float)back == (float)f : back == f) break;
  }
  strbuf_append(out, text);
  if (strspn(text, "-0123456789") == strlen(text)) strbuf_append(out, ".0");
}

/* --- tensors --- */

static bool int_range(DataType dtype, int64_t *low, int64_t *high) {
  switch (dtype) {
    case DT_INT8: *low = INT8_MIN, *high = INT8_MAX; return true;
    case DT_INT16: *low = INT16_MIN, *high = INT16_MAX; return true;
    case DT_INT32: *low = INT32_MIN, *high = INT32_MAX; return true;
    case DT_INT64: *low = INT64_MIN, *high = INT64_MAX; return true;
    case DT_UINT8: *low = 0, *high = UINT8_MAX; return true;
    case DT_UINT16: *low = 0, *high = UINT16_MAX; return true;
    case DT_UINT32: *low = 0, *high = UINT32_MAX; return true;
    case DT_UINT64: *low = 0, *high = INT64_MAX; return true;
    case DT_BOOL: *low = 0, *high = 1; return true;
    default: return false;
  }
}

/* Whether a number is an integer in [low, high]; *value is set if so. */
static bool integral(const Number *number, int64_t low, int64_t high, int64_t *value) {
  if (number->is_float) {
    if (!(number->f >= -9223372036854775808.0 && number->f < 9223372036854775808.0)) return false;
    *value = (int64_t)number->f;
    if ((double)*value != number->f) return false;
  } else {
    *value = number->i;
  }
  return *value >= low && *value <= high;
}

static bool store_int(const Number *number, DataType dtype, void *at, Status *status) {
  int64_t low = 0, high = 0, value;
  if (!int_range(dtype, &low, &high)) {
    return status_invalid(status, "a number cannot be a value of type %s", dtype_name(dtype));
  }
  if (!integral(number, low, high, &value)) {
    StrBuf text = {0};
    number_print(number, false, &text);
    if (strbuf_ok(&text, status)) {
      status_invalid(status, "the number %s is no value of type %s", strbuf_text(&text), dtype_name(dtype));
    }
    strbuf_free(&text);
    return false;
  }
  /* Little-endian: the low bytes of the 64-bit value are the value in the narrower type. */
  memcpy(at, &value, dtype_size(dtype));
  return true;
}

static bool store(const Number *number, DataType dtype, void *at, Status *status) {
  double value = number->is_float ? number->f : (double)number->i;
  float single = (float)value;
  switch (dtype) {
    case DT_FLOAT: memcpy(at, &single, sizeof single); return true;
    case DT_DOUBLE: memcpy(at, &value, sizeof value); return true;
    case DT_HALF: memcpy(at, &(uint16_t){float_to_half(single)}, 2); return true;
    case DT_BFLOAT16: memcpy(at, &(uint16_t){float_to_bfloat16(single)}, 2); return true;
    case DT_COMPLEX64: memcpy(at, (float[2]){single, 0}, 8); return true;
    case DT_COMPLEX128: memcpy(at, (double[2]){value, 0}, 16); return true;
    default: return store_int(number, dtype, at, status);
  }
}

bool number_tensor(DataType dtype, const TensorShapeProto *shape_proto, const Number *numbers, int64_t count,
                   Arena *arena, TensorProto **proto, Status *status) {
  bool ok = false;
  Shape shape = {0};
  Tensor tensor = {0};
  if (!dtype_is_valid(dtype) || dtype_is_ref(dtype) || !dtype_is_pod(dtype)) {
    return status_invalid(status, "a number cannot be a value of type %s", dtype_name(dtype));
  }
  TRY_DONE(shape_from_proto(shape_proto, &shape, status));
  if (shape_num_elements(&shape) != count) {
    char text[SHAPE_TEXT_CAPACITY];
    status_invalid(status, "%lld values for a tensor of shape %s", (long long)count,
                   shape_text(&shape, text));
    goto done;
  }
  TRY_DONE(tensor_allocate(&tensor, dtype, &shape, NULL, status));
  for (int64_t i = 0; i < count; i++) {
    TRY_DONE(store(&numbers[i], dtype, (char *)tensor.data + (size_t)i * dtype_size(dtype), status));
  }
  TRY_DONE(tensor_to_proto(&tensor, arena, proto, status));
  ok = true;
done:
  tensor_clear(&tensor);
  shape_clear(&shape);
  return ok;
}

bool number_of_tensor(const Tensor *tensor, int64_t i, Number *number) {
  *number = (Number){0};
  const char *at = (const char *)tensor->data + (size_t)i * dtype_size(tensor->dtype);
  switch (tensor->dtype) {
    case DT_FLOAT:
    case DT_DOUBLE:
    case DT_HALF:
    case DT_BFLOAT16:
      number->is_float = true;
      number->f = tensor_double_at(tensor, i);
      return true;
    case DT_INT8: number->i = *(const int8_t *)at; return true;
    case DT_INT16: number->i = *(const int16_t *)at; return true;
    case DT_INT32: number->i = *(const int32_t *)at; return true;
    case DT_UINT8: number->i = *(const uint8_t *)at; return true;
    case DT_UINT16: number->i = *(const uint16_t *)at; return true;
    case DT_UINT32: number->i = *(const uint32_t *)at; return true;
    case DT_INT64: number->i = *(const int64_t *)at; return true;
    case DT_BOOL: number->i = *(const bool *)at; return true;
    case DT_UINT64:
      if (*(const uint64_t *)at > INT64_MAX) return false;
      number->i = (int64_t) * (const uint64_t *)at;
      return true;
    default: return false;
  }
}

/* --- constants written as numbers --- */

bool literal_starts(Cursor *c) {
  Cursor ahead = *c;
  char ch = cursor_peek(&ahead);
  while (ch == '[') {
    ahead.at++;
    ch = cursor_peek(&ahead);
    if (ch == ']') return true;
  }
  return number_starts(&ahead) || cursor_take(&ahead, "true") || cursor_take(&ahead, "false");
}

typedef struct LiteralState {
  Literal *literal;
  int64_t dims[FUNCTION_TEXT_MAX_DEPTH], capacity;
  int rank; /* -1 until the first number determines it */
  bool floats, ints;
} LiteralState;

static bool add_number(Cursor *c, LiteralState *state, int depth) {
  Literal *literal = state->literal;
  if (state->rank == -1) state->rank = depth;
  if (state->rank != depth) return cursor_error(c, "rows of different depth in a constant");
  Number number = {0};
  if (cursor_take(c, "true")) {
    number.i = 1;
  } else if (!cursor_take(c, "false")) {
    TRY(number_parse(c, &number));
    *(number.is_float ? &state->floats : &state->ints) = true;
  }
  if (literal->count == state->capacity) {
    int64_t capacity = state->capacity == 0 ? 8 : 2 * state->capacity;
    int64_t size = (int64_t)sizeof(Number);
    literal->numbers = arena_grow(c->arena, literal->numbers, state->capacity * size, capacity * size);
    if (!literal->numbers) return status_oom(c->status, "a constant of a function");
    state->capacity = capacity;
  }
  literal->numbers[literal->count++] = number;
  return true;
}

/* Recursion is bounded by FUNCTION_TEXT_MAX_DEPTH. */
static bool rows(Cursor *c, LiteralState *state, int depth) {
  if (!cursor_take(c, "[")) return add_number(c, state, depth);
  if (depth == FUNCTION_TEXT_MAX_DEPTH)
    return cursor_error(c, "a constant that is nested more than %d deep", FUNCTION_TEXT_MAX_DEPTH);
  int64_t count = 0;
  if (cursor_peek(c) != ']') {
    do {
      TRY(rows(c, state, depth + 1));
      count++;
    } while (cursor_take(c, ","));
  } else if (state->rank == -1) {
    state->rank = depth + 1;
  }
  if (state->dims[depth] == -1) state->dims[depth] = count;
  if (state->dims[depth] != count) return cursor_error(c, "rows of different length in a constant");
  return cursor_expect(c, "]", "the values of a constant");
}

bool literal_parse(Cursor *c, Literal *literal) {
  *literal = (Literal){0};
  LiteralState state = {.literal = literal, .rank = -1};
  for (int i = 0; i < FUNCTION_TEXT_MAX_DEPTH; i++) state.dims[i] = -1;
  TRY(rows(c, &state, 0));
  int rank = 0;
  while (rank < FUNCTION_TEXT_MAX_DEPTH && state.dims[rank] != -1) rank++;
  AttrValue *shape = attr_value_shape(c->arena, rank, state.dims);
  if (!shape) return status_oom(c->status, "a constant of a function");
  literal->shape = shape->shape;
  literal->kind = state.floats ? DT_DOUBLE : state.ints || literal->count == 0 ? DT_INT64 : DT_BOOL;
  return true;
}

/* --- conversion to what an op expects --- */

static bool to_numbers(const AttrValue *value, Arena *arena, Number **numbers, int64_t *count,
                       Status *status) {
  const AttrListValue *list = value->value_case == (int)ATTR_LIST ? value->list : NULL;
  *count = !list ? 1 : (int64_t)(list->n_i + list->n_f + list->n_b);
  *numbers = arena_calloc(arena, *count + 1, sizeof(Number));
  if (!*numbers) return status_oom(status, "numbers of a function text");
  Number *out = *numbers;
  if (!list) {
    if (value->value_case == (int)ATTR_FLOAT) {
      out[0] = (Number){.is_float = true, .f = value->f};
    } else {
      out[0].i = value->value_case == (int)ATTR_INT ? value->i : value->b;
    }
    return true;
  }
  for (size_t i = 0; i < list->n_i; i++) (out++)->i = list->i[i];
  for (size_t i = 0; i < list->n_f; i++) *out++ = (Number){.is_float = true, .f = list->f[i]};
  for (size_t i = 0; i < list->n_b; i++) (out++)->i = list->b[i];
  return true;
}

static bool is_number_list(const AttrListValue *list) {
  return list->n_s + list->n_type + list->n_shape + list->n_tensor + list->n_func == 0;
}

/* The same numbers as a tensor of another dtype. */
static bool retype(DataType dtype, Arena *arena, const AttrValue **value, Status *status) {
  const TensorProto *from = (*value)->tensor;
  if ((int)from->dtype == (int)dtype) return true;
  bool ok = false;
  Tensor tensor = {0};
  TensorProto *to;
  TRY_DONE(tensor_from_proto(from, &tensor, status));
  int64_t count = tensor_num_elements(&tensor);
  Number *numbers = arena_calloc(arena, count + 1, sizeof(Number));
  if (!numbers) {
    status_oom(status, "a constant of a function");
    goto done;
  }
  for (int64_t i = 0; i < count; i++) {
    if (number_of_tensor(&tensor, i, &numbers[i])) continue;
    status_invalid(status, "a constant of type %s cannot become one of type %s", dtype_name(tensor.dtype),
                   dtype_name(dtype));
    goto done;
  }
  TRY_DONE(number_tensor(dtype, from->tensor_shape, numbers, count, arena, &to, status));
  *value = attr_value_tensor(arena, to);
  ok = *value || status_oom(status, "a constant of a function");
done:
  tensor_clear(&tensor);
  return ok;
}

static bool to_tensor(DataType dtype, Arena *arena, const AttrValue **value, Status *status) {
  AttrKind kind = (AttrKind)(*value)->value_case;
  if (kind == ATTR_TENSOR) return retype(dtype, arena, value, status);
  bool is_list = kind == ATTR_LIST && is_number_list((*value)->list);
  if (!is_list && kind != ATTR_INT && kind != ATTR_FLOAT && kind != ATTR_BOOL) return true;
  Number *numbers;
  int64_t count;
  TRY(to_numbers(*value, arena, &numbers, &count, status));
  AttrValue *shape = attr_value_shape(arena, is_list ? 1 : 0, &count);
  if (!shape) return status_oom(status, "a constant of a function");
  TensorProto *tensor;
  TRY(number_tensor(dtype, shape->shape, numbers, count, arena, &tensor, status));
  *value = attr_value_tensor(arena, tensor);
  return *value || status_oom(status, "a constant of a function");
}

static bool to_float(Arena *arena, const AttrValue **value, Status *status) {
  if ((*value)->value_case != (int)ATTR_INT) return true;
  *value = attr_value_float(arena, (float)(*value)->i);
  return *value || status_oom(status, "an attr of a function");
}

static bool to_float_list(Arena *arena, const AttrValue **value, Status *status) {
  if ((*value)->value_case != (int)ATTR_LIST || (*value)->list->n_i == 0) return true;
  const AttrListValue *list = (*value)->list;
  float *floats = arena_calloc(arena, (int64_t)list->n_i, sizeof(float));
  if (!floats) return status_oom(status, "an attr of a function");
  for (size_t i = 0; i < list->n_i; i++) floats[i] = (float)list->i[i];
  *value = attr_value_float_list(arena, floats, list->n_i);
  return *value || status_oom(status, "an attr of a function");
}

static bool to_shape(Arena *arena, const AttrValue **value, Status *status) {
  if ((*value)->value_case != (int)ATTR_LIST) return true;
  const AttrListValue *list = (*value)->list;
  if (!is_number_list(list) || list->n_f + list->n_b > 0 || list->n_i > SHAPE_MAX_RANK) return true;
  *value = attr_value_shape(arena, (int)list->n_i, list->i);
  return *value || status_oom(status, "an attr of a function");
}

bool value_coerce(const char *attr_type, DataType dtype, Arena *arena, const AttrValue **value,
                  Status *status) {
  if (strcmp(attr_type, "tensor") == 0) return dtype == DT_INVALID || to_tensor(dtype, arena, value, status);
  if (strcmp(attr_type, "float") == 0) return to_float(arena, value, status);
  if (strcmp(attr_type, "list(float)") == 0) return to_float_list(arena, value, status);
  if (strcmp(attr_type, "shape") == 0) return to_shape(arena, value, status);
  return true;
}
