/* Parses and prints shapes, and runs shape functions outside of graphs. */
#include "op/shape_language.h"

#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/shape_internal.h"

/* --- parsing --- */

static void skip_blanks(const char **at) {
  while (**at == ' ') ++*at;
}

static int count_char(const char *text, const char *end, char wanted) {
  int count = 0;
  for (; text < end; text++) count += *text == wanted;
  return count;
}

static bool parse_size(const char **at, int64_t *size) {
  if (**at < '0' || **at > '9') return false;
  *size = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) {
    if (__builtin_mul_overflow(*size, 10, size) || __builtin_add_overflow(*size, **at - '0', size))
      return false;
  }
  return true;
}

static bool parse_dim(InferenceContext *c, const char **at, DimHandle *dim, const char *whole,
                      Status *status) {
  int64_t size = UNKNOWN_DIM;
  if (**at == '?') {
    ++*at;
  } else if (!parse_size(at, &size)) {
    return status_invalid(status, "Could not parse number in %s", whole);
  }
  return dim_ok(dim_make(c, size), dim, status);
}

static bool parse_shape(InferenceContext *c, const char **text, ShapeHandle *shape, const char *whole,
                        Status *status) {
  const char *at = *text;
  skip_blanks(&at);
  if (*at == '?') {
    *text = at + 1;
    return shape_ok(shape_unknown(c), shape, status);
  }
  if (*at != '[') return status_invalid(status, "Malformed shape spec: did not start with '[': %s", whole);
  const char *close = strchr(++at, ']');
  if (!close) return status_invalid(status, "Malformed shape spec: did not end in ']': %s", whole);
  int32_t rank = 0;
  DimHandle *dims = shape_new_dims(c, (int64_t)count_char(at, close, ',') + 1);
  if (!dims) return shape_oom(status);
  for (skip_blanks(&at); at < close;) {
    TRY(parse_dim(c, &at, &dims[rank++], whole, status));
    skip_blanks(&at);
    if (at == close) break;
    if (*at != ',') return status_invalid(status, "Invalid input spec (] not found in dim shape): %s", whole);
    at++;
    skip_blanks(&at);
    if (at == close) return status_invalid(status, "Could not parse number in %s", whole);
  }
  *text = close + 1;
  return shape_ok(shape_around(c, dims, rank), shape, status);
}

bool shape_language_parse(InferenceContext *c, const char *text, ShapeHandle **shapes, int *count,
                          Status *status) {
  const char *at = text, *end = text + strlen(text);
  if (end - text > INT32_MAX / 2) return status_invalid(status, "The text of the shapes is too long");
  ShapeHandle *list = arena_calloc(c->arena, (int64_t)count_char(text, end, ';') + 1, sizeof *list);
  if (!list) return shape_oom(status);
  *shapes = list;
  *count = 0;
  skip_blanks(&at);
  if (*at == '\0') return true;
  for (;;) {
    TRY(parse_shape(c, &at, &list[*count], text, status));
    ++*count;
    skip_blanks(&at);
    if (*at == '\0') return true;
    if (*at++ != ';') return status_invalid(status, "Malformed shape spec: did not end in ']': %s", text);
  }
}

/* --- printing --- */

/* Prints "d0_1" if an input has the dimension. */
static bool print_as_input_dim(const InferenceContext *c, DimHandle dim, StrBuf *out) {
  for (int i = c->num_inputs - 1; i >= 0; i--) {
    ShapeHandle input = c->inputs[i];
    for (int32_t k = input->rank - 1; k >= 0; k--) {
      if (input->dims[k] != dim) continue;
      strbuf_printf(out, "d%d_%d", i, (int)k);
      return true;
    }
  }
  return false;
}

static void print_output(const InferenceContext *c, ShapeHandle shape, StrBuf *out) {
  for (int i = c->num_inputs - 1; i >= 0; i--) {
    if (c->inputs[i] != shape) continue;
    strbuf_printf(out, "in%d", i);
    return;
  }
  if (!shape || !shape_rank_known(shape)) {
    strbuf_append_char(out, '?');
    return;
  }
  strbuf_append_char(out, '[');
  for (int32_t k = 0; k < shape->rank; k++) {
    DimHandle dim = shape->dims[k];
    if (k > 0) strbuf_append_char(out, ',');
    if (print_as_input_dim(c, dim, out)) continue;
    if (dim_known(dim)) {
      strbuf_printf(out, "%" PRId64, dim->value);
    } else {
      strbuf_append_char(out, '?');
    }
  }
  strbuf_append_char(out, ']');
}

void shape_language_print_outputs(const InferenceContext *c, StrBuf *out) {
  for (int i = 0; i < c->num_outputs; i++) {
    if (i > 0) strbuf_append_char(out, ';');
    print_output(c, c->outputs[i], out);
  }
}

/* --- running a shape function --- */

static bool make_arrays(InferenceContext *c, Status *status) {
  Arena *arena = c->arena;
  int64_t inputs = (int64_t)c->num_inputs + 1,
          outputs = (int64_t)c->num_outputs + 1; /* never an empty array */
  c->outputs = arena_calloc(arena, outputs, sizeof *c->outputs);
  c->input_tensors = arena_calloc(arena, inputs, sizeof *c->input_tensors);
  c->input_tensors_as_shapes = arena_calloc(arena, inputs, sizeof *c->input_tensors_as_shapes);
  c->requested_tensor = arena_calloc(arena, inputs, sizeof(bool));
  c->requested_tensor_as_shape = arena_calloc(arena, inputs, sizeof(bool));
  c->input_handles = arena_calloc(arena, inputs, sizeof *c->input_handles);
  c->output_handles = arena_calloc(arena, outputs, sizeof *c->output_handles);
  bool all = c->outputs && c->input_tensors && c->input_tensors_as_shapes && c->requested_tensor &&
             c->requested_tensor_as_shape && c->input_handles && c->output_handles;
  return all || shape_oom(status);
}

bool shape_trial_begin(InferenceContext *c, const Op *op, NodeDef *node, int graph_def_version,
                       const char *input_shapes, Arena *arena, Status *status) {
  *c = (InferenceContext){.node = node,
                          .op_def = op->def,
                          .shape_data = op->registration->shape_data,
                          .graph_def_version = graph_def_version,
                          .arena = arena};
  ShapeHandle *inputs;
  int *starts;
  TRY(shape_language_parse(c, input_shapes, &inputs, &c->num_inputs, status));
  c->inputs = inputs;
  TRY(node_def_add_defaults(node, op->def, arena, status));
  TRY(node_def_arg_ranges(node, op->def, false, arena, &starts, status));
  int expected = starts[op->def->n_input_arg];
  if (c->num_inputs != expected) {
    return status_invalid(status, "Wrong number of inputs passed: %d while %d expected based on NodeDef",
                          c->num_inputs, expected);
  }
  TRY(node_def_arg_ranges(node, op->def, true, arena, &starts, status));
  c->num_outputs = starts[op->def->n_output_arg];
  return make_arrays(c, status);
}

bool shape_trial_run(InferenceContext *c, const Op *op, Status *status) {
  if (!op->registration->shape) {
    return status_invalid(status,
                          "No shape inference function exists for op '%s', did you forget to define it?",
                          op->def->name);
  }
  return op->registration->shape(c, status) || shape_attach_context(c, status);
}
