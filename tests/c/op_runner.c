#include "op_runner.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"
#include "ops/op_table.h"
#include "runtime/thread_pool.h"
#include "shortage.h"

/* The registry is filled before and emptied after every test, so that ops parsed in it do not look like
 * leaks; likewise the threads. */
BEFORE_EACH() {
  Status status;
  status_init(&status);
  thread_pool_set_default_size(4); /* also where there are fewer processors */
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), status);
}
AFTER_EACH() {
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

/* --- tensors as text --- */

void tensor_put(Tensor *tensor, int64_t i, double value) {
  switch ((int)tensor->dtype) {
    case DT_FLOAT: tensor_f32(tensor)[i] = (float)value; break;
    case DT_DOUBLE: tensor_f64(tensor)[i] = value; break;
    case DT_HALF: ((uint16_t *)tensor->data)[i] = float_to_half((float)value); break;
    case DT_BFLOAT16: ((uint16_t *)tensor->data)[i] = float_to_bfloat16((float)value); break;
    case DT_QINT32:
    case DT_INT32: tensor_i32(tensor)[i] = (int32_t)value; break;
    case DT_INT64: tensor_i64(tensor)[i] = (int64_t)value; break;
    case DT_QUINT8:
    case DT_UINT8: ((uint8_t *)tensor->data)[i] = (uint8_t)value; break;
    case DT_QINT8:
    case DT_INT8: ((int8_t *)tensor->data)[i] = (int8_t)value; break;
    case DT_QUINT16:
    case DT_UINT16: ((uint16_t *)tensor->data)[i] = (uint16_t)value; break;
    case DT_QINT16:
    case DT_INT16: ((int16_t *)tensor->data)[i] = (int16_t)value; break;
    case DT_UINT32: ((uint32_t *)tensor->data)[i] = (uint32_t)value; break;
    case DT_UINT64: ((uint64_t *)tensor->data)[i] = (uint64_t)value; break;
    case DT_BOOL: tensor_bool(tensor)[i] = value != 0; break;
    case DT_COMPLEX64: ((float *)tensor->data)[2 * i] = (float)value; break;
    case DT_COMPLEX128: ((double *)tensor->data)[2 * i] = value; break;
    default: break;
  }
  tensor_put_imaginary(tensor, i, 0);
}

void tensor_put_imaginary(Tensor *tensor, int64_t i, double value) {
  if (tensor->dtype == DT_COMPLEX64) ((float *)tensor->data)[2 * i + 1] = (float)value;
  if (tensor->dtype == DT_COMPLEX128) ((double *)tensor->data)[2 * i + 1] = value;
}

double tensor_get_imaginary(const Tensor *tensor, int64_t i) {
  if (tensor->dtype == DT_COMPLEX64) return (double)((const float *)tensor->data)[2 * i + 1];
  return tensor->dtype == DT_COMPLEX128 ? ((const double *)tensor->data)[2 * i + 1] : 0;
}

double tensor_get(const Tensor *tensor, int64_t i) {
  switch ((int)tensor->dtype) {
    case DT_HALF: return half_to_float(((uint16_t *)tensor->data)[i]);
    case DT_BFLOAT16: return bfloat16_to_float(((uint16_t *)tensor->data)[i]);
    default: return tensor_double_at(tensor, i);
  }
}

double tensor_get_broadcast(const Tensor *tensor, int rank, const int64_t *place) {
  int64_t index = 0;
  for (int i = 0; i < tensor->shape.rank; i++) {
    int64_t size = shape_dim(&tensor->shape, i);
    index = index * size + (size == 1 ? 0 : place[i + rank - tensor->shape.rank]);
  }
  return tensor_get(tensor, index);
}

static const char *skip_blanks(const char *p) {
  while (isspace((unsigned char)*p)) p++;
  return p;
}

/* One value at *p, into element `i`. */
static bool parse_value(const char **p, Tensor *tensor, int64_t i, Status *status) {
  const char *end = *p;
  while (*end != '\0' && *end != ';' && !isspace((unsigned char)*end)) end++;
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)(end - *p), *p);
  if (tensor->dtype == DT_STRING) {
    TRY(tstring_set(&tensor_strings(tensor)[i], *p, (size_t)(end - *p), status));
  } else if (tensor->dtype == DT_INT64) {
    tensor_i64(tensor)[i] = strtoll(word, NULL, 0); /* a double would lose digits */
  } else if (tensor->dtype == DT_UINT64) {
    ((uint64_t *)tensor->data)[i] = strtoull(word, NULL, 0);
  } else if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
    tensor_put(tensor, i, word[0] == 't');
  } else {
    char *stop;
    double value = strtod(word, &stop), imaginary = 0;
    if (dtype_is_complex((int)tensor->dtype) && (*stop == '+' || *stop == '-')) {
      imaginary = strtod(stop, &stop);
      stop += *stop == 'i';
    }
    if (*stop != '\0') return status_invalid(status, "'%s' is no value", word);
    tensor_put(tensor, i, value);
    tensor_put_imaginary(tensor, i, imaginary);
  }
  *p = skip_blanks(end);
  return true;
}

/* Element `i` becomes what the element before it is. */
static void repeat_element(Tensor *tensor, int64_t i) {
  size_t size = dtype_size((int)tensor->dtype);
  char *element = (char *)tensor->data + (size_t)i * size;
  memcpy(element, element - size, size);
}

static bool parse_tensor(const char **text, Tensor *tensor, Status *status) {
  const char *p = *text;
  const char *name = p;
  while (isalnum((unsigned char)*p)) p++;
  int dtype = dtype_from_name((Str){name, (size_t)(p - name)});
  if (dtype == DT_INVALID || *p != '[') return status_invalid(status, "no tensor: %s", name);
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  for (p++; *p != ']'; rank++) {
    char *stop;
    dims[rank] = strtoll(p, &stop, 10);
    if (stop == p) return status_invalid(status, "no dimension: %s", p);
    p = *stop == ',' ? stop + 1 : stop;
  }
  p = skip_blanks(p + 1);
  TRY(tensor_allocate_dims(tensor, (DataType)dtype, rank, dims, NULL, status));
  const char *last = p;
  int64_t count = tensor_num_elements(tensor), i = 0;
  for (; i < count && *p != '\0' && *p != ';'; i++) {
    last = p;
    TRY(parse_value(&p, tensor, i, status));
  }
  for (; i < count; i++) {
    const char *again = last;
    if (i > 0 && dtype != DT_STRING) repeat_element(tensor, i);
    else TRY(parse_value(&again, tensor, i, status));
  }
  if (*p != '\0' && *p != ';') return status_invalid(status, "more values than elements: %s", p);
  *text = *p == ';' ? skip_blanks(p + 1) : p;
  return true;
}

bool tensors_parse(const char *text, Tensor *tensors, int capacity, int *count, Status *status) {
  *count = 0;
  for (text = skip_blanks(text); *text != '\0'; ++*count) {
    if (*count == capacity) return status_invalid(status, "too many tensors");
    TRY(parse_tensor(&text, &tensors[*count], status));
  }
  return true;
}

static bool string_elements_equal(const Tensor *got, const Tensor *want) {
  for (int64_t i = 0; i < tensor_num_elements(want); i++) {
    if (!CHECK(tstring_equal(&tensor_strings(got)[i], &tensor_strings(want)[i]))) return false;
  }
  return true;
}

bool tensor_is_about(const Tensor *got, const Tensor *want, double tolerance) {
  if (!CHECK_STR_EQ(dtype_name((int)got->dtype), dtype_name((int)want->dtype))) return false;
  char got_shape[SHAPE_TEXT_CAPACITY], want_shape[SHAPE_TEXT_CAPACITY];
  if (!CHECK_STR_EQ(shape_text(&got->shape, got_shape), shape_text(&want->shape, want_shape))) return false;
  if (want->dtype == DT_STRING) return string_elements_equal(got, want);
  bool same = true;
  for (int64_t i = 0; i < tensor_num_elements(want); i++) {
    if (want->dtype == DT_INT64 || want->dtype == DT_UINT64) {
      same = CHECK_INT_EQ(tensor_i64(got)[i], tensor_i64(want)[i]) && same;
    } else {
      double expected = tensor_get(want, i), imaginary = tensor_get_imaginary(want, i);
      double allowed = tolerance * fmax(1, hypot(expected, imaginary));
      same = CHECK_NEAR(tensor_get(got, i), expected, allowed) && same;
      if (dtype_is_complex((int)want->dtype))
        same = CHECK_NEAR(tensor_get_imaginary(got, i), imaginary, allowed) && same;
    }
  }
  return same;
}

/* --- attrs --- */

/* "float, int32" */
static AttrValue *parse_types(Arena *arena, const char *p, const char *end) {
  int types[OP_RUN_MAX], count = 0;
  while (p < end && count < OP_RUN_MAX) {
    size_t length = strcspn(p, ",] ");
    types[count++] = dtype_from_name((Str){p, length});
    p += length;
    p += strspn(p, ", ");
  }
  return attr_value_type_list(arena, types, (size_t)count);
}

static AttrValue *parse_strings(Arena *arena, const char *p, const char *end) {
  Str strings[OP_RUN_MAX];
  size_t count = 0;
  while (p < end && count < OP_RUN_MAX) {
    strings[count] = (Str){p, strcspn(p, ",] ")};
    p += strings[count++].length;
    p += strspn(p, ", ");
  }
  return attr_value_string_list(arena, strings, count);
}

static AttrValue *parse_floats(Arena *arena, const char *p, const char *end) {
  float values[OP_RUN_MAX];
  size_t count = 0;
  while (p < end && count < OP_RUN_MAX) {
    char *stop;
    values[count++] = strtof(p, &stop);
    p = stop + 1;
  }
  return attr_value_float_list(arena, values, count);
}

static AttrValue *parse_attr(Arena *arena, const AttrDef *attr, const char *text, size_t length) {
  if (strcmp(attr->type, "type") == 0) return attr_value_type(arena, dtype_from_name((Str){text, length}));
  if (strcmp(attr->type, "int") == 0) return attr_value_int(arena, strtoll(text, NULL, 10));
  if (strcmp(attr->type, "float") == 0) return attr_value_float(arena, strtof(text, NULL));
  if (strcmp(attr->type, "bool") == 0) return attr_value_bool(arena, text[0] == 't');
  if (strcmp(attr->type, "string") == 0) {
    bool enclosed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    return attr_value_string(arena, text + enclosed, length - 2 * enclosed);
  }
  if (text[0] != '[') return NULL;
  if (strcmp(attr->type, "list(type)") == 0) return parse_types(arena, text + 1, text + length - 1);
  if (strcmp(attr->type, "list(string)") == 0) return parse_strings(arena, text + 1, text + length - 1);
  if (strcmp(attr->type, "list(float)") == 0) return parse_floats(arena, text + 1, text + length - 1);
  /* "[1, 2, -1]" */
  int64_t values[16];
  int count = 0;
  for (const char *p = text + 1; p < text + length - 1 && count < 16; count++) {
    char *stop;
    values[count] = strtoll(p, &stop, 10);
    p = stop + 1;
  }
  if (strcmp(attr->type, "list(int)") == 0) return attr_value_int_list(arena, values, (size_t)count);
  if (strcmp(attr->type, "shape") == 0) return attr_value_shape(arena, count, values);
  return NULL;
}

/* "T=float, axes=[0, 1]]" onto the node. */
static bool parse_attrs(OpRun *run, const char *p, Status *status) {
  while (*(p = skip_blanks(p)) != ']') {
    const char *equals = strchr(p, '='), *end = equals;
    if (!equals) return status_invalid(status, "no attr: %s", p);
    for (int depth = 0; *end != '\0' && (depth > 0 || (*end != ',' && *end != ']')); end++) {
      depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(equals - p), p);
    /* Those that no op defines are integers here. */
    AttrDef private = {.name = name, .type = equals[1] == '[' ? "list(int)" : "int"};
    const AttrDef *attr = name[0] == '_' ? &private : op_def_attr(run->op->def, name);
    if (!attr) return status_invalid(status, "%s has no attr %s", run->op->def->name, name);
    AttrValue *value = parse_attr(run->arena, attr, equals + 1, (size_t)(end - equals - 1));
    if (!value)
      return status_invalid(status, "attr %s of type %s cannot be written as text here", name, attr->type);
    TRY(node_def_set_attr(run->node, run->arena, name, value, status));
    p = *end == ',' ? end + 1 : end;
    if (*p == '\0') return status_invalid(status, "the attrs do not end");
  }
  return true;
}

/* --- running --- */

bool op_run_begin(OpRun *run, const char *op, Status *status) {
  *run = (OpRun){.arena = arena_new()};
#ifdef TFCORE_SPLIT_ALL_LOOPS
  run->parallel = thread_pool_default();
#endif
  char name[64];
  size_t length = strcspn(op, "[");
  snprintf(name, sizeof name, "%.*s", (int)length, op);
  if (!run->arena || !(run->node = node_def_new(run->arena, "n", name))) return status_oom(status, "a test");
  TRY(op_registry_look_up(op_registry_global(), name, &run->op, status));
  if (op[length] == '[') TRY(parse_attrs(run, op + length + 1, status));
  return node_def_add_defaults(run->node, run->op->def, run->arena, status);
}

Tensor *op_run_input(OpRun *run, DataType dtype, int rank, const int64_t *dims) {
  Status status;
  status_init(&status);
  Tensor *input = &run->inputs[run->num_inputs++];
  return CHECK_OK(tensor_allocate_dims(input, dtype, rank, dims, NULL, &status), status) ? input : NULL;
}

bool op_run_inputs(OpRun *run, const char *text, Status *status) {
  int count = 0;
  bool ok = tensors_parse(text, run->inputs + run->num_inputs, OP_RUN_MAX - run->num_inputs, &count, status);
  run->num_inputs += count;
  return ok;
}

bool op_run_compute(OpRun *run, Status *status) {
  const Tensor *inputs[OP_RUN_MAX];
  bool last_use[OP_RUN_MAX];
  for (int i = 0; i < run->num_inputs; i++) inputs[i] = &run->inputs[i], last_use[i] = true;
  DataType *input_types, *output_types;
  int num_inputs;
  TRY(node_def_types(run->node, run->op->def, run->arena, &input_types, &num_inputs, &output_types,
                     &run->num_outputs, status));
  if (num_inputs != run->num_inputs)
    return status_invalid(status, "%d inputs, not %d", num_inputs, run->num_inputs);
  OpKernel *kernel = NULL;
  TRY(op_kernel_new(run->op, run->node, run->constant ? inputs : NULL, NULL, &kernel, status));
  KernelContext context = {.inputs = inputs,
                           .outputs = run->outputs,
                           .last_use = run->last_use ? last_use : NULL,
                           .parallel = run->parallel};
  bool ok = op_kernel_run(kernel, &context, status);
  op_kernel_free(kernel);
  return ok;
}

void op_run_end(OpRun *run) {
  for (int i = 0; i < OP_RUN_MAX; i++) {
    tensor_clear(&run->inputs[i]);
    tensor_clear(&run->outputs[i]);
  }
  arena_free(run->arena);
}

bool op_add_node(Graph *graph, const char *name, const char *op, const NodeOutput *inputs, int num_inputs,
                 NodeOutput *output, Status *status) {
  OpRun spec;
  bool ok = op_run_begin(&spec, op, status);
  if (ok) {
    spec.node->name = (char *)name;
    ok = graph_add_operation(graph, spec.node, inputs, num_inputs, NULL, 0, &output->node, status);
  }
  output->index = 0;
  op_run_end(&spec);
  return ok;
}

/* Repeats the call, each time with less memory than it needs. `expected` NULL: it fails in any case. */
static void run_short_of_memory(const char *op, const char *inputs, const Tensor *expected, int count,
                                double tolerance) {
  Shortage shortage = {.what = op, .most = 16};
  do {
    OpRun run;
    Status status;
    status_init(&status);
    bool ready = CHECK_OK(op_run_begin(&run, op, &status), status) &&
                 CHECK_OK(op_run_inputs(&run, inputs, &status), status);
    shortage_begin(&shortage);
    bool ok = ready && op_run_compute(&run, &status);
    shortage_end(&shortage, ok, status.code);
    for (int i = 0; ok && expected && i < count; i++)
      tensor_is_about(&run.outputs[i], &expected[i], tolerance);
    for (int i = 0; !ok && i < OP_RUN_MAX; i++) CHECK(tensor_is_empty(&run.outputs[i]));
    op_run_end(&run);
  } while (shortage_next(&shortage));
}

bool op_gives_about(const char *op, const char *inputs, const char *want, double tolerance) {
  Status status;
  status_init(&status);
  CHECK_CONTEXT("%s(%s)", op, inputs);
  OpRun run;
  Tensor expected[OP_RUN_MAX] = {0};
  int count = 0;
  bool ok = CHECK_OK(op_run_begin(&run, op, &status), status) &&
            CHECK_OK(op_run_inputs(&run, inputs, &status), status) &&
            CHECK_OK(tensors_parse(want, expected, OP_RUN_MAX, &count, &status), status) &&
            CHECK_OK(op_run_compute(&run, &status), status) && CHECK_INT_EQ(run.num_outputs, count);
  for (int i = 0; ok && i < count; i++) ok = tensor_is_about(&run.outputs[i], &expected[i], tolerance);
  op_run_end(&run);
  if (ok) run_short_of_memory(op, inputs, expected, count, tolerance);
  for (int i = 0; i < count; i++) tensor_clear(&expected[i]);
  CHECK_CONTEXT("%s", "");
  return ok;
}

bool op_gives(const char *op, const char *inputs, const char *want) {
  return op_gives_about(op, inputs, want, 0);
}

bool op_fails(const char *op, const char *inputs, Code code, const char *message_part) {
  Status status;
  status_init(&status);
  CHECK_CONTEXT("%s(%s)", op, inputs);
  OpRun run;
  bool ok = CHECK_OK(op_run_begin(&run, op, &status), status) &&
            CHECK_OK(op_run_inputs(&run, inputs, &status), status) &&
            CHECK_ERROR(op_run_compute(&run, &status), status, code, message_part);
  op_run_end(&run);
  if (ok) run_short_of_memory(op, inputs, NULL, 0, 0);
  CHECK_CONTEXT("%s", "");
  return ok;
}
