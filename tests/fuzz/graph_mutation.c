#include "fuzz/graph_mutation.h"

#include <string.h>

#include "function/text/function_text.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

enum { MAX_CHANGES = 4, MAX_INPUTS = 6 };

/* The nodes to mutate: of the graph, or of a function's body. */
typedef struct Nodes {
  NodeDef ***nodes;
  size_t *count;
  const FunctionDef *function; /* NULL: of the graph */
  GraphDef *def;
  Arena *arena;
  Random *random;
  Status *status;
} Nodes;

static NodeDef *random_node(Nodes *n) {
  return *n->count > 0 ? (*n->nodes)[random_below(n->random, (int)*n->count)] : NULL;
}

/* --- names of values --- */

/* The OpDef of an op of the registry or of a function of the library; NULL when there is none. */
static const OpDef *op_def_of(const Nodes *n, const char *name) {
  const Op *op = op_registry_find(op_registry_global(), name);
  if (op) return op->def;
  for (size_t i = 0; n->def->library && i < n->def->library->n_function; i++) {
    const OpDef *signature = n->def->library->function[i]->signature;
    if (signature && strcmp(signature->name, name) == 0) return signature;
  }
  return NULL;
}

/* An existing value, usually, in the form of an input name; NULL if there is none. */
static const char *random_value_name(Nodes *n) {
  const OpDef *signature = n->function ? n->function->signature : NULL;
  if (signature && signature->n_input_arg > 0 && (one_in(n->random, 3) || *n->count == 0)) {
    return signature->input_arg[random_below(n->random, (int)signature->n_input_arg)]->name;
  }
  NodeDef *node = random_node(n);
  if (!node) return NULL;
  if (one_in(n->random, 20)) return arena_printf(n->arena, "^%s", node->name);
  const OpDef *op = op_def_of(n, node->op);
  int outputs = op && op->n_output_arg > 0 ? (int)op->n_output_arg : 1,
      output = random_below(n->random, outputs);
  if (n->function && op && op->n_output_arg > 0) {
    return arena_printf(n->arena, "%s:%s:%d", node->name, op->output_arg[output]->name,
                        one_in(n->random, 20));
  }
  return output == 0 ? node->name : arena_printf(n->arena, "%s:%d", node->name, output);
}

/* --- changes --- */

static bool set_attrs(Nodes *n, NodeDef *node, const OpDef *op) {
  node->n_attr = 0;
  for (size_t i = 0; i < op->n_attr; i++) {
    if (op->attr[i]->default_value && !one_in(n->random, 3)) continue;
    /* A type is usually float, so that nodes match. */
    bool is_float = strcmp(op->attr[i]->type, "type") == 0 && !one_in(n->random, 3);
    AttrValue *value =
        is_float ? attr_value_type(n->arena, DT_FLOAT) : random_attr_value(op->attr[i], n->arena, n->random);
    if (value) TRY(node_def_set_attr(node, n->arena, op->attr[i]->name, value, n->status));
  }
  return true;
}

static bool set_inputs(Nodes *n, NodeDef *node, const OpDef *op) {
  node->n_input = 0;
  for (size_t i = 0; i < op->n_input_arg && i < MAX_INPUTS; i++) {
    const AttrValue *number =
        op->input_arg[i]->number_attr[0] ? node_def_attr(node, op->input_arg[i]->number_attr) : NULL;
    int64_t count = number && number->value_case == (int)ATTR_INT && number->i >= 0 && number->i < MAX_INPUTS
                        ? number->i
                        : 1;
    for (int64_t k = 0; k < count; k++) {
      const char *name = random_value_name(n);
      if (name) TRY(node_def_add_input(node, n->arena, name, n->status));
    }
  }
  return true;
}

static const OpDef *chosen_op(Nodes *n) {
  static const char *const usual[] = {"Const", "Placeholder",      "Identity",          "Add",
                                      "Mul",   "MatMul",           "Reshape",           "PartitionedCall",
                                      "If",    "VarHandleOp",      "ReadVariableOp",    "AssignVariableOp",
                                      "Shape", "SymbolicGradient", "TensorListPushBack"};
  const FunctionDefLibrary *library = n->def->library;
  if (library && library->n_function > 0 && one_in(n->random, 4)) {
    return library->function[random_below(n->random, (int)library->n_function)]->signature;
  }
  const char *name = usual[random_below(n->random, sizeof usual / sizeof *usual)];
  return one_in(n->random, 3) ? op_def_of(n, name) : random_op(n->random);
}

static bool add_node(Nodes *n) {
  const OpDef *op = chosen_op(n);
  if (!op) return true;
  const char *name =
      arena_printf(n->arena, "%c%d", 'a' + random_below(n->random, 26), random_below(n->random, 100));
  NodeDef *node = name ? node_def_new(n->arena, name, op->name) : NULL;
  if (!node) return false;
  TRY(set_attrs(n, node, op));
  TRY(set_inputs(n, node, op));
  return proto_append(n->arena, (void ***)n->nodes, n->count, node, n->status);
}

static bool change_op(Nodes *n, NodeDef *node) {
  const OpDef *op = chosen_op(n);
  if (!op) return true;
  node->op = op->name;
  if (one_in(n->random, 2)) TRY(set_attrs(n, node, op));
  return one_in(n->random, 2) || set_inputs(n, node, op);
}

static bool change_input(Nodes *n, NodeDef *node) {
  const char *name = random_value_name(n);
  if (!name) return true;
  if (node->n_input == 0 || one_in(n->random, 6)) return node_def_add_input(node, n->arena, name, n->status);
  node->input[random_below(n->random, (int)node->n_input)] = (char *)name;
  return true;
}

static bool change_attr(Nodes *n, NodeDef *node) {
  const OpDef *op = op_def_of(n, node->op);
  if (!op || op->n_attr == 0) return true;
  const AttrDef *attr = op->attr[random_below(n->random, (int)op->n_attr)];
  AttrValue *value = one_in(n->random, 10) && n->function ? attr_value_placeholder(n->arena, "T")
                                                          : random_attr_value(attr, n->arena, n->random);
  return !value || node_def_set_attr(node, n->arena, attr->name, value, n->status);
}

/* A Const with a value of its dtype. */
static bool change_constant(Nodes *n, NodeDef *node) {
  static const AttrDef kTensorAttr = {.type = "tensor"};
  AttrValue *value = random_attr_value(&kTensorAttr, n->arena, n->random);
  if (!value || strcmp(node->op, "Const") != 0) return change_attr(n, node);
  AttrValue *type = attr_value_type(n->arena, (int)value->tensor->dtype);
  return type && node_def_set_attr(node, n->arena, "value", value, n->status) &&
         node_def_set_attr(node, n->arena, "dtype", type, n->status);
}

static bool copy_node(Nodes *n, const NodeDef *node) {
  NodeDef *copy = proto_copy(node, n->arena);
  if (!copy) return false;
  copy->name = arena_printf(n->arena, "%.20s_%d", node->name, random_below(n->random, 50));
  return copy->name && proto_append(n->arena, (void ***)n->nodes, n->count, copy, n->status);
}

static void remove_node(Nodes *n) {
  size_t at = (size_t)random_below(n->random, (int)*n->count);
  memmove(*n->nodes + at, *n->nodes + at + 1, (*n->count - at - 1) * sizeof **n->nodes);
  --*n->count;
}

static bool change_something(Nodes *n) {
  NodeDef *node = random_node(n);
  if (!node) return add_node(n);
  switch (random_below(n->random, 12)) {
    case 0: remove_node(n); return true;
    case 1: return copy_node(n, node);
    case 2: return change_op(n, node);
    case 3:
    case 4: return change_input(n, node);
    case 5:
    case 6: return change_attr(n, node);
    case 7: return change_constant(n, node);
    case 8:
      if (node->n_attr > 0) node->n_attr--;
      return true;
    default: return add_node(n);
  }
}

/* A copy of a function of the library, under another name. */
static bool copy_function(Nodes *n) {
  FunctionDefLibrary *library = n->def->library;
  FunctionDef *copy =
      proto_copy(library->function[random_below(n->random, (int)library->n_function)], n->arena);
  if (!copy || !copy->signature) return true;
  copy->signature->name = arena_printf(n->arena, "%c", 'f' + random_below(n->random, 6));
  return copy->signature->name &&
         proto_append(n->arena, (void ***)&library->function, &library->n_function, copy, n->status);
}

static bool change_graph(GraphDef *def, bool functions_only, Arena *arena, Random *random, Status *status) {
  Nodes n = {&def->node, &def->n_node, NULL, def, arena, random, status};
  bool has_functions = def->library && def->library->n_function > 0;
  if (has_functions && (functions_only || one_in(random, 3))) {
    if (one_in(random, 16)) return copy_function(&n);
    FunctionDef *function = def->library->function[random_below(random, (int)def->library->n_function)];
    n.nodes = &function->node_def;
    n.count = &function->n_node_def;
    n.function = function;
  }
  return change_something(&n);
}

/* --- formats --- */

static bool read_form(GraphForm form, Str input, Arena *arena, GraphDef **def, Status *status) {
  void *message = proto_new(kGraphDef, arena);
  *def = message;
  if (!message || (input.length == 0 && form != kGraphAsFunctions)) return message != NULL;
  if (form == kGraphAsFunctions) return function_parse_library(input, arena, &(*def)->library, status);
  TRY(form == kGraphAsBytes ? proto_parse(kGraphDef, input.data, input.length, arena, &message, status)
                            : proto_parse_text(kGraphDef, input, arena, &message, status));
  *def = message;
  return true;
}

static bool write_form(GraphForm form, const GraphDef *def, Random *random, StrBuf *out, Status *status) {
  if (form == kGraphAsBytes) return proto_serialize(def, out, status);
  if (form == kGraphAsText)
    proto_print_text(def, one_in(random, 4) ? PROTO_TEXT_SHORT : PROTO_TEXT_MULTI_LINE, out);
  for (size_t i = 0; form == kGraphAsFunctions && i < def->library->n_function; i++) {
    TRY(function_print_full(def->library->function[i], out, status));
  }
  return strbuf_ok(out, status);
}

size_t mutate_graph_input(GraphForm form, uint8_t *bytes, size_t size, size_t capacity, Random *random) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  GraphDef *def;
  StrBuf out = {0};
  bool ok = arena && read_form(form, (Str){(const char *)bytes, size}, arena, &def, &status);
  bool functions_only = form == kGraphAsFunctions;
  if (ok && functions_only) ok = def->library->n_function > 0;
  for (int changes = 1 + random_below(random, MAX_CHANGES); ok && changes > 0; changes--) {
    ok = change_graph(def, functions_only, arena, random, &status);
  }
  ok = ok && write_form(form, def, random, &out, &status) && out.length > 0 && (size_t)out.length <= capacity;
  if (ok) memcpy(bytes, strbuf_text(&out), (size_t)out.length);
  size_t changed = ok ? (size_t)out.length : 0;
  strbuf_free(&out);
  arena_free(arena);
  return changed;
}
