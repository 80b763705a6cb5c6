/* StringLength, Substr. Characters of UTF-8 are counted by their first bytes, as TensorFlow does, so that
 * damaged text has a length too. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/strings/string_elements.h"

typedef struct UnitState {
  bool characters; /* otherwise bytes */
} UnitState;

static bool unit_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str unit;
  TRY(node_attr_string(construction->node, "unit", &unit, status));
  ((UnitState *)memory)->characters = str_equal_text(unit, "UTF8_CHAR");
  return true;
}

static bool begins_character(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

static int64_t num_characters(Str text) {
  int64_t count = 0;
  for (size_t i = 0; i < text.length; i++) count += begins_character(text.data[i]);
  return count;
}

static bool string_length(KernelContext *context, Status *status) {
  bool characters = ((const UnitState *)context->state)->characters;
  const Tensor *in = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(in); i++) {
    Str text = string_at(in, i);
    tensor_i32(out)[i] = (int32_t)(characters ? num_characters(text) : (int64_t)text.length);
  }
  return true;
}

/* --- Substr --- */

/* Advances `*at` by `count` characters. False when the text ends earlier. */
static bool skip_characters(Str text, int64_t count, size_t *at) {
  for (; count > 0; count--) {
    if (*at >= text.length) return false;
    do (*at)++;
    while (*at < text.length && !begins_character(text.data[*at]));
  }
  return true;
}

/* The part of `text`; false when `position` is outside. Negative positions count from the end. A negative
 * number of bytes means all, a negative number of characters none. */
static bool part_of(Str text, int64_t position, int64_t length, bool characters, Str *part) {
  int64_t total = characters ? num_characters(text) : (int64_t)text.length;
  if (position < -total || position > total) return false;
  if (position < 0) position += total;
  if (length < 0) length = characters ? 0 : total;
  if (length > total - position) length = total - position;
  size_t begin = 0, end;
  if (characters) {
    if (!skip_characters(text, position, &begin)) return false;
    end = begin;
    if (!skip_characters(text, length, &end)) return false;
  } else {
    begin = (size_t)position;
    end = begin + (size_t)length;
  }
  *part = (Str){text.data + begin, end - begin};
  return true;
}

/* Position of output element `i` in both operands. */
static void operand_positions(const Broadcast *plan, int64_t i, int64_t *a, int64_t *b) {
  *a = *b = 0;
  for (int axis = plan->rank - 1; axis >= 0; axis--) {
    *a += i % plan->dims[axis] * plan->stride_a[axis];
    *b += i % plan->dims[axis] * plan->stride_b[axis];
    i /= plan->dims[axis];
  }
}

static bool refuse_position(int64_t position, Str text, bool characters, int64_t i, Status *status) {
  if (characters)
    return status_invalid(status, "pos %lld out of range for string at index %lld", (long long)position,
                          (long long)i);
  StrBuf escaped = {0};
  strbuf_append_c_escaped(&escaped, text.data, text.length);
  bool ok = strbuf_ok(&escaped, status);
  if (ok)
    status_invalid(status, "pos %lld out of range for string b'%s' at index %lld", (long long)position,
                   strbuf_text(&escaped), (long long)i);
  strbuf_free(&escaped);
  return false;
}

static bool check_substr(KernelContext *context, Shape *shape, Status *status) {
  const Shape *in = &context->inputs[0]->shape, *pos = &context->inputs[1]->shape;
  const Shape *len = &context->inputs[2]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (!shape_equal(pos, len))
    return status_invalid(status, "pos and len should have the same shape, got: %s vs. %s",
                          shape_text(pos, a), shape_text(len, b));
  return broadcast_shapes(in, pos, shape, status);
}

static bool substr(KernelContext *context, Status *status) {
  bool characters = ((const UnitState *)context->state)->characters;
  Shape shape = {0};
  Broadcast plan;
  Tensor *out;
  bool ok = check_substr(context, &shape, status) && kernel_allocate_output(context, 0, &shape, &out, status);
  shape_clear(&shape);
  if (!ok) return false;
  broadcast_plan(&context->inputs[0]->shape, &context->inputs[1]->shape, &plan);
  for (int64_t i = 0; i < plan.elements; i++) {
    int64_t in, at;
    Str part;
    operand_positions(&plan, i, &in, &at);
    Str text = string_at(context->inputs[0], in);
    int64_t position = tensor_int_at(context->inputs[1], at);
    if (!part_of(text, position, tensor_int_at(context->inputs[2], at), characters, &part))
      return refuse_position(position, text, characters, i, status);
    TRY(tstring_set(&tensor_strings(out)[i], part.data, part.length, status));
  }
  return true;
}

static bool substr_shape(InferenceContext *c, Status *status) {
  ShapeHandle pos = shape_input(c, 1), len = shape_input(c, 2), out;
  if (shape_rank_known(pos) && shape_rank_known(len)) TRY(shape_merge(c, pos, len, &out, status));
  TRY(shape_broadcast(c, shape_input(c, 0), pos, &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpStringLength = {
    .name = "StringLength",
    .inputs = {"input: string"},
    .outputs = {"output: int32"},
    .attrs = {"unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(UnitState),
    .construct = unit_construct,
    .kernels = {{DT_INVALID, string_length}},
};

const OpRegistration kOpSubstr = {
    .name = "Substr",
    .inputs = {"input: string", "pos: T", "len: T"},
    .outputs = {"output: string"},
    .attrs = {"T: {int32, int64}", "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"},
    .shape = substr_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(UnitState),
    .construct = unit_construct,
    .kernels = {{DT_INT32, substr}, {DT_INT64, substr}},
};
