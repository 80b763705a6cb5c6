/* Constants that differ from their node's declaration: a TensorProto of another dtype, or with too little
 * content. Every op gets one at every input that a shape function could read, directly and through ops that
 * compute constants. The import may succeed, as TensorFlow's does (its kernel refuses the Const); no byte
 * outside of a tensor is read, which the sanitizer checks. */
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "harness.h"
#include "ops/op_table.h"

BEFORE_EACH() {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), &status);
}
AFTER_EACH() { op_registry_clear(op_registry_global()); }

static const AttrDef *attr_named(const OpDef *op, const char *name) {
  for (size_t i = 0; i < op->n_attr; i++) {
    if (strcmp(op->attr[i]->name, name) == 0) return op->attr[i];
  }
  return NULL;
}

static bool allows(const AttrDef *attr, int type) {
  const AttrListValue *list = attr->allowed_values ? attr->allowed_values->list : NULL;
  for (size_t i = 0; list && i < list->n_type; i++) {
    if ((int)list->type[i] == type) return true;
  }
  return !list;
}

/* The type of an arg: the op's, the wanted one if the attr allows it, or the first allowed one. */
static int type_of(const OpDef *op, const ArgDef *arg, const char *wanted_attr, int wanted) {
  if (arg->type != TENSORFLOW__DATA_TYPE__DT_INVALID) return (int)arg->type;
  const AttrDef *attr = attr_named(op, arg->type_attr);
  if (!attr) return DT_INVALID;
  if (wanted_attr && strcmp(attr->name, wanted_attr) == 0) return wanted;
  return attr->allowed_values ? (int)attr->allowed_values->list->type[0] : DT_FLOAT;
}

/* Attrs without defaults; false if no value can be generated. */
static bool write_attrs(const OpDef *op, const char *wanted_attr, int wanted, StrBuf *text) {
  for (size_t i = 0; i < op->n_attr; i++) {
    const AttrDef *attr = op->attr[i];
    bool is_wanted = wanted_attr && strcmp(attr->name, wanted_attr) == 0;
    if (attr->default_value && !is_wanted) continue;
    const AttrListValue *allowed = attr->allowed_values ? attr->allowed_values->list : NULL;
    int type = is_wanted ? wanted : allowed && allowed->n_type > 0 ? (int)allowed->type[0] : DT_FLOAT;
    strbuf_printf(text, " attr { key: \"%s\" value { ", attr->name);
    if (strcmp(attr->type, "type") == 0) strbuf_printf(text, "type: %d", type);
    else if (strcmp(attr->type, "int") == 0)
      strbuf_printf(text, "i: %d", attr->minimum > 1 ? (int)attr->minimum : 1);
    else if (strcmp(attr->type, "list(int)") == 0) strbuf_append(text, "list { i: [1, 1, 1, 1] }");
    else if (strcmp(attr->type, "list(type)") == 0) strbuf_append(text, "list { type: DT_FLOAT }");
    else if (strcmp(attr->type, "shape") == 0) strbuf_append(text, "shape { unknown_rank: true }");
    else if (strcmp(attr->type, "bool") == 0) strbuf_append(text, "b: true");
    else if (strcmp(attr->type, "string") == 0 && attr->allowed_values)
      strbuf_printf(text, "s: \"%.*s\"", (int)attr->allowed_values->list->s[0].len,
                    attr->allowed_values->list->s[0].data);
    else if (strcmp(attr->type, "string") == 0) strbuf_append(text, "s: \"x\"");
    else return false;
    strbuf_append(text, " } }");
  }
  return true;
}

/* The path of the constant to the op. */
typedef enum Route { DIRECT, IDENTITY, CAST, PACK, CONCAT, SLICE, NUM_ROUTES } Route;

static const char *const kRoutes[NUM_ROUTES] = {
    "",
    "node { name: 'r' op: 'Identity' input: 'c' attr { key: 'T' value { type: %1$d } } } ",
    "node { name: 'r' op: 'Cast' input: 'c' attr { key: 'SrcT' value { type: %1$d } } attr { key: 'DstT' "
    "value { type: %1$d } } } ",
    "node { name: 'r' op: 'Pack' input: 'c' input: 'c' attr { key: 'N' value { i: 2 } } attr { key: 'T' "
    "value { type: %1$d } } } ",
    "node { name: 'r' op: 'ConcatV2' input: 'c' input: 'c' input: 'zero' attr { key: 'N' value { i: 2 } } "
    "attr { key: 'T' value { type: %1$d } } attr { key: 'Tidx' value { type: 3 } } } ",
    "node { name: 'r' op: 'StridedSlice' input: 'c' input: 'begin' input: 'end' input: 'end' attr { key: 'T' "
    "value { type: %1$d } } "
    "attr { key: 'Index' value { type: 3 } } attr { key: 'shrink_axis_mask' value { i: 1 } } } ",
};
static const char kHelpers[] =
    "versions { producer: 1000 } "
    "node { name: 'zero' op: 'Const' attr { key: 'dtype' value { type: 3 } } attr { key: 'value' value { "
    "tensor { dtype: 3 tensor_shape { } } } } } "
    "node { name: 'begin' op: 'Const' attr { key: 'dtype' value { type: 3 } } attr { key: 'value' value { "
    "tensor { dtype: 3 tensor_shape { dim { "
    "size: 1 } } } } } } "
    "node { name: 'end' op: 'Const' attr { key: 'dtype' value { type: 3 } } attr { key: 'value' value { "
    "tensor { dtype: 3 tensor_shape { dim { "
    "size: 1 } } int_val: 1 } } } } ";
static const char *const kOtherShapes[] = {"unknown_rank: true", "", "dim { size: 2 }",
                                           "dim { size: 2 } dim { size: 2 } dim { size: 2 } dim { size: 2 }"};

/* Whether the graph was imported; a constant of another type than declared has no value then. */
static bool import(const char *text, bool mistyped) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  void *def;
  bool ok = CHECK(arena && graph) &&
            CHECK_OK(proto_parse_text(kGraphDef, str_of(text), arena, &def, &status), &status);
  ImportOptions options = {0};
  ok = ok && graph_import(graph, def, false, &options, arena, NULL, &status);
  Node *constant = ok ? graph_find_node(graph, "c") : NULL;
  if (constant && mistyped) {
    Tensor value = {0};
    bool known;
    CHECK_OK(graph_constant_value(graph, (NodeOutput){constant, 0}, &value, &known, &status), &status);
    CHECK(!known);
    tensor_clear(&value);
  }
  graph_free(graph);
  arena_free(arena);
  return ok;
}

static int num_imported, num_tried;

/* The constant that input `at` of the op reads: declared as `type`, stored as `stored`. */
static void try_input(const OpDef *op, size_t at, int type, const char *wanted_attr) {
  static const int kStored[] = {DT_INT8, DT_INT32, DT_INT64, DT_STRING, DT_DOUBLE};
  static const char *const kShapes[] = {"", "dim { size: 1 }", "dim { size: 4 }",
                                        "dim { size: 2 } dim { size: 2 }"};
  StrBuf attrs = {0}, text = {0};
  bool usable = write_attrs(op, wanted_attr, type, &attrs);
  for (int k = 0; usable && k < 5 * 4 * 4 * NUM_ROUTES; k++) {
    int stored = kStored[k % 5], shape = k / 5 % 4, others = k / 20 % 4, route = k / 80;
    if (route != DIRECT && others != 0) continue; /* the paths matter more than the other inputs */
    strbuf_free(&text);
    strbuf_printf(&text,
                  "%s node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: %d } } attr { key: "
                  "'value' value { tensor { dtype: %d "
                  "tensor_shape { %s } } } } } ",
                  kHelpers, type, stored, kShapes[shape]);
    strbuf_printf(&text, kRoutes[route], type);
    for (size_t i = 0; i < op->n_input_arg; i++) {
      const ArgDef *arg = op->input_arg[i];
      if (i == at && arg->number_attr[0] == 0) continue;
      strbuf_printf(&text,
                    "node { name: 'p%d' op: 'Placeholder' attr { key: 'dtype' value { type: %d } } attr { "
                    "key: 'shape' value { shape { %s } } } } ",
                    (int)i, type_of(op, arg, wanted_attr, type), kOtherShapes[others]);
    }
    strbuf_printf(&text, "node { name: 'n' op: '%s' %s", op->name, strbuf_text(&attrs));
    for (size_t i = 0; i < op->n_input_arg; i++) {
      char name[16];
      snprintf(name, sizeof name, i == at ? route == DIRECT ? "c" : "r" : "p%d", (int)i);
      const AttrDef *number = attr_named(op, op->input_arg[i]->number_attr);
      for (int64_t n = 0; n < (number && number->minimum > 1 ? number->minimum : 1); n++)
        strbuf_printf(&text, " input: '%s'", name);
    }
    strbuf_append(&text, " }");
    CHECK_CONTEXT("%s, input %d, case %d", op->name, (int)at, k);
    num_tried++;
    num_imported += import(strbuf_text(&text), stored != type);
  }
  strbuf_free(&attrs);
  strbuf_free(&text);
}

TEST(constants_of_another_type_than_declared_are_never_read) {
  static const int kTypes[] = {DT_INT64, DT_INT32, DT_STRING};
  num_imported = num_tried = 0;
  for (int i = 0; i < kOpTableSize; i++) {
    const Op *op = op_registry_find(op_registry_global(), kOpTable[i].name);
    for (size_t at = 0; op && at < op->def->n_input_arg; at++) {
      const ArgDef *arg = op->def->input_arg[at];
      const AttrDef *attr = attr_named(op->def, arg->type_attr);
      if (arg->is_ref || (attr && !attr->allowed_values)) continue; /* any type: data, not sizes */
      for (int t = 0; t < 3; t++) {
        bool fits = attr ? allows(attr, kTypes[t]) && !allows(attr, DT_FLOAT) : (int)arg->type == kTypes[t];
        if (!fits) continue;
        try_input(op->def, at, kTypes[t], attr ? attr->name : NULL);
        break;
      }
    }
  }
  CHECK(num_imported > num_tried / 10);
  printf("%d of %d graphs with mistyped constants were imported\n", num_imported, num_tried);
}
