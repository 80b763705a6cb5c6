/* Gradients recorded from TensorFlow, and its error if there is none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradient_checker.h"
#include "harness.h"
#include "json.h"
#include "op_runner.h"

enum { MAX_TENSORS = 8 };

static double number_of(const Json *value) {
  if (value->kind != JSON_STRING) return value->number;
  return strcmp(value->string, "nan") == 0 ? (double)NAN
         : value->string[0] == '-'         ? -(double)INFINITY
                                           : (double)INFINITY;
}

static bool read_tensor(const Json *json, Tensor *tensor, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  const Json *shape = json_get(json, "shape"), *values = json_get(json, "values");
  for (int i = 0; i < shape->count; i++) dims[i] = shape->items[i].integer;
  int dtype = dtype_from_name(str_of(json_get(json, "dtype")->string));
  TRY(tensor_allocate_dims(tensor, (DataType)dtype, shape->count, dims, NULL, status));
  for (int i = 0; i < values->count; i++) tensor_put(tensor, i, number_of(&values->items[i]));
  return true;
}

/* A list of tensors; null stays empty. */
static bool read_tensors(const Json *list, Tensor *tensors, Status *status) {
  for (int i = 0; i < list->count; i++) {
    if (list->items[i].kind != JSON_NULL) TRY(read_tensor(&list->items[i], &tensors[i], status));
  }
  return true;
}

static AttrValue *read_attr(const Json *value, Arena *arena) {
  const Json *v;
  if ((v = json_get(value, "type"))) return attr_value_type(arena, dtype_from_name(str_of(v->string)));
  if ((v = json_get(value, "b"))) return attr_value_bool(arena, v->boolean);
  if ((v = json_get(value, "i"))) return attr_value_int(arena, v->integer);
  return NULL;
}

/* "DT_FLOAT" is read as "float". */
static void lower_type_names(char *line) {
  for (char *p; (p = strstr(line, "\"DT_")) != NULL;) {
    char *end = strchr(p + 4, '"');
    size_t length = (size_t)(end - p - 4);
    for (size_t i = 0; i < length; i++)
      p[1 + i] = (char)(p[4 + i] >= 'A' && p[4 + i] <= 'Z' ? p[4 + i] + 32 : p[4 + i]);
    p[1 + length] = '"';
    memset(p + 2 + length, ' ', 3);
  }
}

/* The ops in a fact. They refer to `arena`. */
static bool register_ops(const Json *ops, Arena *arena, Status *status) {
  for (int i = 0; ops && i < ops->count; i++) {
    const Json *op = &ops->items[i];
    OpRegistration *registration = arena_calloc(arena, 1, (int64_t)sizeof *registration);
    *registration = (OpRegistration){.name = json_get(op, "name")->string, .shape = shape_unknown_outputs};
    const struct {
      const char *key;
      const char **specs;
    } kLists[] = {{"inputs", registration->inputs},
                  {"outputs", registration->outputs},
                  {"attrs", registration->attrs}};
    for (int k = 0; k < 3; k++) {
      const Json *specs = json_get(op, kLists[k].key);
      for (int n = 0; n < specs->count; n++) kLists[k].specs[n] = specs->items[n].string;
    }
    TRY(op_registry_add(op_registry_global(), registration, status));
  }
  return true;
}

/* Whether the gradient equals the fact's, as nodes of the graph and as a function. */
static bool holds(const Json *fact, const NodeDef *node, const Tensor *x, int count, const Tensor *dy,
                  const Tensor *dx) {
  const Json *error = json_get(fact, "error");
  if (!error)
    return gradient_gives(node, x, count, dy, dx, 1e-5) &&
           symbolic_gradient_gives(node, x, count, dy, dx, 1e-5);
  Code code = (Code)json_get(fact, "code")->integer;
  bool ok = CHECK(error->count > 0);
  for (int i = 0; i < error->count; i++) {
    ok = gradient_fails(node, x, count, code, error->items[i].string) &&
         symbolic_gradient_fails(node, x, count, dy, code, error->items[i].string) && ok;
  }
  return ok;
}

/* Whether the fact is about an existing op, and holds. */
static bool check_fact(const Json *fact, Arena *arena) {
  Status status;
  status_init(&status);
  const char *op = json_get(fact, "op")->string;
  const Json *attrs = json_get(fact, "attrs"), *inputs = json_get(fact, "inputs"),
             *dys = json_get(fact, "dy");
  const Json *want = json_get(fact, "alt_expect") ? json_get(fact, "alt_expect") : json_get(fact, "expect");
  if (!CHECK_OK(register_ops(json_get(fact, "ops"), arena, &status), status)) return false;
  if (!op_registry_find(op_registry_global(), op)) return false;
  NodeDef *node = node_def_new(arena, "n", op);
  for (int i = 0; i < attrs->count; i++) {
    AttrValue *value = read_attr(&attrs->items[i], arena);
    if (!CHECK(value) || !CHECK_OK(node_def_set_attr(node, arena, attrs->keys[i], value, &status), status))
      return false;
  }
  Tensor x[MAX_TENSORS] = {0}, dy[MAX_TENSORS] = {0}, dx[MAX_TENSORS] = {0};
  bool ok = CHECK(inputs->count <= MAX_TENSORS && dys->count <= MAX_TENSORS &&
                  (!want || want->count == inputs->count)) &&
            CHECK_OK(read_tensors(inputs, x, &status), status) &&
            CHECK_OK(read_tensors(dys, dy, &status), status) &&
            (!want || CHECK_OK(read_tensors(want, dx, &status), status)) &&
            holds(fact, node, x, inputs->count, dy, dx);
  for (int i = 0; i < MAX_TENSORS; i++) {
    tensor_clear(&x[i]);
    tensor_clear(&dy[i]);
    tensor_clear(&dx[i]);
  }
  return ok;
}

TEST(gradients_are_tensorflows) {
  static char line[65536];
  FILE *file = fopen("tests/data/facts/grad.jsonl", "rb");
  REQUIRE(file);
  Arena *arena = arena_new();
  int checked = 0, number = 0;
  while (fgets(line, sizeof line, file)) {
    number++;
    lower_type_names(line);
    const Json *fact = json_parse(arena, line, strlen(line));
    CHECK_CONTEXT("line %d: %s", number, !fact ? "?" : json_get(fact, "op")->string);
    if (CHECK(fact)) checked += check_fact(fact, arena);
  }
  CHECK_CONTEXT("%s", "");
  fclose(file);
  op_registry_clear(op_registry_global());
  arena_free(arena);
  CHECK_INT_EQ(checked, number);
  CHECK(number >= 47);
}
