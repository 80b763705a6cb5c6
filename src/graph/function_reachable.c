/* The functions of a library that a graph or a function can reach, whether they have effects, and whether two
 * functions are equal. */
#include <string.h>

#include "base/alloc.h"
#include "graph/function_library_internal.h"
#include "graph/graph.h"
#include "graph/node_class.h"
#include "op/node_def.h"

static bool oom(Status *status) { return status_oom(status, "a function library"); }

/* --- reachable functions --- */

typedef struct Search {
  const FunctionLibraryDefinition *library;
  StringMap seen; /* names of the functions found */
  /* all of them in the order of discovery; those from `next` on are still to be scanned */
  const FunctionDef **queue;
  int64_t count, capacity, next;
  const NameAttrList **refs; /* references to functions whose own attrs are still to be scanned */
  int64_t num_refs, ref_capacity;
  StringMap interfaces; /* from the name of an interface to 1 + its first function (as intptr_t) */
  int64_t *same;        /* per function 1 + the next one of the same interface; NULL until needed */
  Status *status;
} Search;

static bool found(Search *search, const char *name) {
  const FunctionDef *function = function_library_find(search->library, name);
  if (!function || string_map_contains(&search->seen, name)) return true;
  if (!mem_grow((void **)&search->queue, &search->capacity, search->count + 1, sizeof *search->queue))
    return oom(search->status);
  TRY(string_map_set(&search->seen, function->signature->name, search, search->status));
  search->queue[search->count++] = function;
  return true;
}

static bool found_ref(Search *search, const NameAttrList *ref) {
  TRY(found(search, ref->name));
  if (ref->n_attr == 0) return true;
  if (!mem_grow((void **)&search->refs, &search->ref_capacity, search->num_refs + 1, sizeof *search->refs))
    return oom(search->status);
  search->refs[search->num_refs++] = ref;
  return true;
}

static bool look_into_value(Search *search, const AttrValue *value) {
  if (!value) return true;
  if (value->value_case == (int)ATTR_FUNC && value->func) return found_ref(search, value->func);
  const AttrListValue *list = value->value_case == (int)ATTR_LIST ? value->list : NULL;
  for (size_t i = 0; list && i < list->n_func; i++) TRY(found_ref(search, list->func[i]));
  return true;
}

static bool look_into_node(Search *search, const NodeDef *node) {
  TRY(found(search, node->op));
  for (size_t i = 0; i < node->n_attr; i++) TRY(look_into_value(search, node->attr[i]->value));
  while (search->num_refs > 0) {
    const NameAttrList *ref = search->refs[--search->num_refs];
    for (size_t i = 0; i < ref->n_attr; i++) TRY(look_into_value(search, ref->attr[i]->value));
  }
  return true;
}

/* The interface that a function implements, or NULL. The text begins after the value's NUL-free bytes. */
static const ProtobufCBinaryData *interface_of(const FunctionDef *function) {
  for (size_t i = 0; i < function->n_attr; i++) {
    const AttrValue *value = function->attr[i]->value;
    if (strcmp(function->attr[i]->key, "api_implements") == 0 && value &&
        value->value_case == (int)ATTR_STRING)
      return &value->s;
  }
  return NULL;
}

static intptr_t first_of(const Search *search, const ProtobufCBinaryData *name) {
  return (intptr_t)string_map_find_bytes(&search->interfaces, (const char *)name->data, name->len);
}

static bool index_interfaces(Search *search) {
  int64_t count = search->library->num_functions;
  search->same = mem_calloc(count + 1, sizeof *search->same);
  if (!search->same) return oom(search->status);
  for (int64_t i = 0; i < count; i++) {
    const ProtobufCBinaryData *name = interface_of(search->library->functions[i]->def);
    if (!name || name->len == 0) continue;
    search->same[i] = first_of(search, name);
    TRY(string_map_set_bytes(&search->interfaces, (const char *)name->data, name->len,
                             (void *)(intptr_t)(i + 1), search->status));
  }
  return true;
}

/* The implementation of an interface is chosen later, so all of them are needed. */
static bool found_interface(Search *search, const ProtobufCBinaryData *name) {
  if (!search->same) TRY(index_interfaces(search));
  int64_t i = first_of(search, name);
  /* An interface is scanned once: its chain is then removed. */
  if (i == 0) return true;
  TRY(string_map_set_bytes(&search->interfaces, (const char *)name->data, name->len, NULL, search->status));
  for (; i > 0; i = search->same[i - 1])
    TRY(found(search, search->library->functions[i - 1]->def->signature->name));
  return true;
}

static bool follow(Search *search) {
  while (search->next < search->count) {
    const FunctionDef *function = search->queue[search->next++];
    const char *gradient = function_library_find_gradient(search->library, function->signature->name);
    if (gradient) TRY(found(search, gradient));
    const ProtobufCBinaryData *interface = interface_of(function);
    if (interface && interface->len > 0) TRY(found_interface(search, interface));
    for (size_t i = 0; i < function->n_node_def; i++) TRY(look_into_node(search, function->node_def[i]));
  }
  return true;
}

/* In the order of the library, so that equal libraries give equal results. */
static bool take(const Search *search, FunctionLibraryDefinition *out) {
  for (int64_t i = 0; i < search->library->num_functions; i++) {
    const FunctionDef *function = search->library->functions[i]->def;
    const char *name = function->signature->name;
    if (!string_map_contains(&search->seen, name)) continue;
    TRY(function_library_add_function(out, function, search->status));
    const char *gradient = function_library_find_gradient(search->library, name);
    if (gradient) TRY(function_library_add_gradient(out, name, gradient, search->status));
  }
  return true;
}

static void end_search(Search *search) {
  string_map_free(&search->seen);
  string_map_free(&search->interfaces);
  mem_free(search->queue);
  mem_free(search->refs);
  mem_free(search->same);
}

static bool reach(const FunctionLibraryDefinition *library, NodeDef *const *nodes, size_t num_nodes,
                  const FunctionDefLibrary *functions, FunctionLibraryDefinition **reachable,
                  Status *status) {
  Search search = {.library = library, .status = status};
  FunctionLibraryDefinition *out = function_library_new(library->ops, NULL);
  bool ok = out || oom(status);
  for (size_t i = 0; ok && i < num_nodes; i++) ok = look_into_node(&search, nodes[i]);
  for (size_t i = 0; ok && functions && i < functions->n_function; i++) {
    const FunctionDef *function = functions->function[i];
    for (size_t j = 0; ok && j < function->n_node_def; j++)
      ok = look_into_node(&search, function->node_def[j]);
  }
  ok = ok && follow(&search) && take(&search, out);
  end_search(&search);
  if (!ok) function_library_free(out);
  *reachable = ok ? out : NULL;
  return ok;
}

bool function_library_reachable(const FunctionLibraryDefinition *library, const GraphDef *graph,
                                FunctionLibraryDefinition **reachable, Status *status) {
  return reach(library, graph->node, graph->n_node, graph->library, reachable, status);
}

bool function_library_reachable_from_function(const FunctionLibraryDefinition *library,
                                              const FunctionDef *function,
                                              FunctionLibraryDefinition **reachable, Status *status) {
  return reach(library, function->node_def, function->n_node_def, NULL, reachable, status);
}

/* --- effects --- */

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names; names++) {
    if (strcmp(name, *names) == 0) return true;
  }
  return false;
}

/* The op is registered as stateful, but whether it is depends on the functions that it calls, or on its
 * inputs. */
static bool has_effects_by_others(const Op *op) {
  switch (op->node_class) {
    case NODE_IF:
    case NODE_CASE:
    case NODE_WHILE:
    case NODE_FOR:
    case NODE_PARTITIONED_CALL:
    case NODE_ARG:
    case NODE_RETVAL: return true;
    default: return false;
  }
}

/* The only effect is an error. */
static bool is_check(const Op *op) {
  static const char *const kChecks[] = {"CheckNumerics", "EnsureShape", NULL};
  return is_one_of(op->def->name, kChecks);
}

static bool op_has_effects(const Op *op) {
  return op->def->is_stateful ? !has_effects_by_others(op) : is_check(op);
}

/* Whether the kernels of the op hold what it changes: generators, counters, handles. Otherwise that belongs
 * to a resource, or, if the op has no outputs, to the outside. */
static bool op_keeps_state(const Op *op) {
  if (!op->def->is_stateful || has_effects_by_others(op) || is_check(op) || op->def->n_output_arg == 0)
    return false;
  for (size_t i = 0; i < op->def->n_input_arg; i++) {
    if ((int)op->def->input_arg[i]->type == DT_RESOURCE) return false;
  }
  return true;
}

typedef bool OpTest(const Op *op);

/* Unknown ops pass every test. */
static bool op_of_node_passes(const FunctionLibraryDefinition *library, const NodeDef *node, OpTest *test) {
  const Op *op;
  Status ignored;
  status_init(&ignored);
  if (function_library_find(library, node->op)) return false;
  return !function_library_look_up(library, node->op, &op, &ignored) || test(op);
}

/* Whether the op of the node, or of a node in a function that it can reach, passes. */
static bool any_op_passes(const FunctionLibraryDefinition *library, const NodeDef *node, OpTest *test,
                          bool *passes, Status *status) {
  *passes = op_of_node_passes(library, node, test);
  if (*passes || library->num_functions == 0) return true;
  Search search = {.library = library, .status = status};
  bool ok = look_into_node(&search, node) && follow(&search);
  for (int64_t i = 0; ok && i < search.count && !*passes; i++) {
    const FunctionDef *function = search.queue[i];
    for (size_t k = 0; k < function->n_node_def && !*passes; k++)
      *passes = op_of_node_passes(library, function->node_def[k], test);
  }
  end_search(&search);
  return ok;
}

bool function_library_has_effects(const FunctionLibraryDefinition *library, const NodeDef *node,
                                  bool *effects, Status *status) {
  return any_op_passes(library, node, op_has_effects, effects, status);
}

static bool names_functions(const Node *node) {
  if (node_is_function(node)) return true;
  for (size_t i = 0; i < node->def->n_attr; i++) {
    const AttrValue *value = node->def->attr[i]->value;
    if (value->value_case == (int)ATTR_FUNC) return true;
    if (value->value_case == (int)ATTR_LIST && value->list->n_func > 0) return true;
  }
  return false;
}

static bool node_passes(const Node *node, OpTest *test, bool *passes, Status *status) {
  *passes = !node_is_function(node) && test(node->op);
  if (*passes || !names_functions(node)) return true;
  return any_op_passes(graph_function_library(node->graph), node->def, test, passes, status);
}

bool node_has_effects(const Node *node, bool *effects, Status *status) {
  return node_passes(node, op_has_effects, effects, status);
}

bool node_keeps_state(const Node *node, bool *keeps, Status *status) {
  return node_passes(node, op_keeps_state, keeps, status);
}

/* --- equality: ignores the order of nodes, attrs and control inputs --- */

static bool same_node(const NodeDef *a, const NodeDef *b) {
  if (strcmp(a->op, b->op) != 0 || strcmp(a->device, b->device) != 0 || a->n_attr != b->n_attr ||
      a->n_input != b->n_input) {
    return false;
  }
  for (size_t i = 0; i < a->n_attr; i++) {
    const AttrValue *other = node_def_attr(b, a->attr[i]->key);
    if (!other || !attr_value_equal(a->attr[i]->value, other)) return false;
  }
  for (size_t i = 0; i < a->n_input; i++) {
    if (a->input[i][0] != '^') {
      if (strcmp(a->input[i], b->input[i]) != 0) return false;
      continue;
    }
    bool there = false;
    for (size_t j = i; j < b->n_input && !there; j++) there = strcmp(a->input[i], b->input[j]) == 0;
    for (size_t j = 0; j < i && !there; j++) there = strcmp(a->input[i], b->input[j]) == 0;
    if (!there) return false;
  }
  return true;
}

static bool same_nodes(const FunctionDef *a, const FunctionDef *b, bool *equal, Status *status) {
  StringMap nodes = {0};
  bool ok = true;
  for (size_t i = 0; i < b->n_node_def && ok; i++)
    ok = string_map_set(&nodes, b->node_def[i]->name, b->node_def[i], status);
  *equal = ok && nodes.count == (int64_t)b->n_node_def;
  for (size_t i = 0; i < a->n_node_def && ok && *equal; i++) {
    const NodeDef *other = string_map_find(&nodes, a->node_def[i]->name);
    *equal = other && same_node(a->node_def[i], other);
  }
  string_map_free(&nodes);
  return ok;
}

static bool same_attrs(const FunctionDef *a, const FunctionDef *b) {
  if (a->n_attr != b->n_attr) return false;
  for (size_t i = 0; i < a->n_attr; i++) {
    bool same = false;
    for (size_t j = 0; j < b->n_attr && !same; j++) {
      same = strcmp(a->attr[i]->key, b->attr[j]->key) == 0 && a->attr[i]->value && b->attr[j]->value &&
             attr_value_equal(a->attr[i]->value, b->attr[j]->value);
    }
    if (!same) return false;
  }
  return true;
}

bool function_defs_equal(const FunctionDef *a, const FunctionDef *b, bool *equal, Status *status) {
  *equal = proto_equal(a, b);
  if (*equal || a->n_node_def != b->n_node_def || !a->signature || !b->signature) return true;
  if (!op_def_equal(a->signature, b->signature) || !same_attrs(a, b)) return true;
  /* Compares the other fields as messages, and the nodes by name. */
  FunctionDef rest_a = *a, rest_b = *b;
  rest_a.n_node_def = rest_b.n_node_def = 0;
  rest_a.n_attr = rest_b.n_attr = 0;
  rest_a.signature = rest_b.signature = NULL;
  return !proto_equal(&rest_a, &rest_b) || same_nodes(a, b, equal, status);
}
