/* The functions of a library: add, find, replace and remove. */
#include "graph/function_library.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/function_library_internal.h"
#include "op/engine_parts.h"
#include "op/kernel_registry.h"
#include "op/node_def.h"
#include "op/side_kernels.h"

/* The registry entry of a function: all it has is the shape function for unknown shapes. */
static const OpRegistration kFunctionRegistration = {.name = "",
                                                     .shape = shape_unknown_outputs,
                                                     .state_size = sizeof(CalledFunction),
                                                     .construct = function_call_construct,
                                                     .kernels = {{DT_INVALID, function_call_compute}}};

bool function_library_owns_op(const Op *op) { return op && op->node_class == NODE_FUNCTION; }

static bool oom(Status *status) { return status_oom(status, "a function library"); }

/* --- creating and freeing --- */

FunctionLibraryDefinition *function_library_new(OpRegistry *ops, Arena *arena) {
  FunctionLibraryDefinition *library = mem_calloc(1, sizeof *library);
  if (!library) return NULL;
  library->ops = ops;
  library->arena = arena ? arena : arena_new();
  library->owns_arena = !arena;
  if (library->arena) return library;
  mem_free(library);
  return NULL;
}

void function_library_free(FunctionLibraryDefinition *library) {
  if (!library) return;
  string_map_free(&library->names);
  string_map_free(&library->gradients);
  mem_free(library->functions);
  if (library->owns_arena) arena_free(library->arena);
  mem_free(library);
}

bool function_library_clone(const FunctionLibraryDefinition *library, FunctionLibraryDefinition **clone,
                            Status *status) {
  *clone = function_library_new(library->ops, NULL);
  if (!*clone) return oom(status);
  if (function_library_add_library(*clone, library, status)) return true;
  function_library_free(*clone);
  *clone = NULL;
  return false;
}

bool function_library_from_proto(OpRegistry *ops, const FunctionDefLibrary *proto,
                                 FunctionLibraryDefinition **library, Status *status) {
  FunctionLibraryDefinition *made = *library = function_library_new(ops, NULL);
  if (!made) return oom(status);
  bool ok = true;
  for (size_t i = 0; ok && i < proto->n_function; i++) {
    const FunctionDef *function = proto->function[i];
    const char *name = function->signature ? function->signature->name : "";
    ok = function_library_contains(made, name)
             ? function_library_replace_function(made, name, function, status)
             : function_library_add_function(made, function, status);
  }
  for (size_t i = 0; ok && i < proto->n_gradient; i++) {
    const GradientDef *gradient = proto->gradient[i];
    const char *name = gradient->function_name;
    ok = function_library_find_gradient(made, name)
             ? function_library_replace_gradient(made, name, gradient->gradient_func, status)
             : function_library_add_gradient(made, name, gradient->gradient_func, status);
  }
  if (ok) return true;
  function_library_free(made);
  *library = NULL;
  return false;
}

/* --- lookup --- */

static LibraryFunction *find(const FunctionLibraryDefinition *library, const char *name) {
  return string_map_find(&library->names, name);
}

OpRegistry *function_library_ops(const FunctionLibraryDefinition *library) { return library->ops; }

bool function_library_contains(const FunctionLibraryDefinition *library, const char *name) {
  return find(library, name) != NULL;
}

const FunctionDef *function_library_find(const FunctionLibraryDefinition *library, const char *name) {
  const LibraryFunction *function = find(library, name);
  return function ? function->def : NULL;
}

int64_t function_library_num_functions(const FunctionLibraryDefinition *library) {
  return library->num_functions;
}

const FunctionDef *function_library_function(const FunctionLibraryDefinition *library, int64_t i) {
  return i >= 0 && i < library->num_functions ? library->functions[i]->def : NULL;
}

int64_t function_library_num_gradients(const FunctionLibraryDefinition *library) {
  return library->gradients.count;
}

const char *function_library_find_gradient(const FunctionLibraryDefinition *library, const char *function) {
  return string_map_find(&library->gradients, function);
}

bool function_library_look_up(const FunctionLibraryDefinition *library, const char *name, const Op **op,
                              Status *status) {
  const LibraryFunction *function = find(library, name);
  if (!function) return op_registry_look_up(library->ops, name, op, status);
  *op = &function->op;
  return true;
}

const char *function_library_unique_name(const FunctionLibraryDefinition *library, const char *prefix,
                                         Arena *arena) {
  ArenaMark mark = arena_mark(arena);
  for (int64_t i = 0;; i++) {
    const char *name = arena_printf(arena, "%s%lld", prefix, (long long)i);
    if (!name || !find(library, name)) return name;
    arena_rollback(arena, mark);
  }
}

/* The function whose attrs count for a node; NULL when it calls no function. */
static const FunctionDef *callee(const FunctionLibraryDefinition *library, const NodeDef *node) {
  if (node_class_of_op(node->op) != NODE_SYMBOLIC_GRADIENT) return function_library_find(library, node->op);
  const AttrValue *f = node_def_attr(node, "f");
  if (!f || f->value_case != (int)ATTR_FUNC || !f->func) return NULL;
  const char *gradient = function_library_find_gradient(library, f->func->name);
  return function_library_find(library, gradient ? gradient : f->func->name);
}

bool function_library_get_attr(const FunctionLibraryDefinition *library, const NodeDef *node,
                               const char *attr, const AttrValue **value, Status *status) {
  const FunctionDef *function = callee(library, node);
  for (size_t i = 0; function && i < function->n_attr; i++) {
    if (strcmp(function->attr[i]->key, attr) != 0 || !function->attr[i]->value) continue;
    *value = function->attr[i]->value;
    return true;
  }
  return status_invalid(status, "Attr %s is not defined.", attr);
}

bool function_library_to_proto(const FunctionLibraryDefinition *library, Arena *arena,
                               FunctionDefLibrary **out, Status *status) {
  FunctionDefLibrary *proto = proto_new(kFunctionDefLibrary, arena);
  if (!proto) return oom(status);
  int64_t num_functions = library->num_functions, num_gradients = library->gradients.count;
  proto->function = arena_calloc(arena, num_functions + 1, sizeof *proto->function);
  proto->gradient = arena_calloc(arena, num_gradients + 1, sizeof *proto->gradient);
  GradientDef *gradients = arena_calloc(arena, num_gradients + 1, sizeof *gradients);
  if (!proto->function || !proto->gradient || !gradients) return oom(status);
  for (int64_t i = 0; i < num_functions; i++)
    proto->function[proto->n_function++] = library->functions[i]->def;
  for (int64_t i = 0; i < library->gradients.num_entries; i++) {
    const StringMapEntry *entry = &library->gradients.entries[i];
    if (!entry->key) continue;
    const GradientDef empty = TENSORFLOW__GRADIENT_DEF__INIT;
    GradientDef *gradient = &gradients[proto->n_gradient];
    *gradient = empty;
    gradient->function_name = (char *)entry->key;
    gradient->gradient_func = entry->value;
    proto->gradient[proto->n_gradient++] = gradient;
  }
  *out = proto;
  return true;
}

int64_t function_library_generation(const FunctionLibraryDefinition *library) { return library->generation; }

/* --- adding functions --- */

/* True when it may be added; *known when an equal one exists. */
static bool check_function(const FunctionLibraryDefinition *library, const FunctionDef *function, bool *known,
                           Status *status) {
  *known = false;
  if (!function->signature || !function->signature->name[0])
    return status_invalid(status, "A function must have a name.");
  const char *name = function->signature->name;
  const LibraryFunction *other = find(library, name);
  if (other) {
    TRY(function_defs_equal(other->def, function, known, status));
    return *known || status_invalid(status,
                                    "Cannot add function '%s' because a different function with the same "
                                    "name already exists.",
                                    name);
  }
  return !op_registry_find(library->ops, name) ||
         status_invalid(status, "Cannot add function '%s' because an op with the same name already exists.",
                        name);
}

static LibraryFunction *new_entry(FunctionLibraryDefinition *library, FunctionDef *function, Status *status) {
  LibraryFunction *entry = arena_alloc(library->arena, sizeof *entry);
  if (entry) {
    *entry = (LibraryFunction){function, {function->signature, &kFunctionRegistration, NODE_FUNCTION}};
  } else {
    oom(status);
  }
  return entry;
}

/* The kernels of a function are made when it is called. Mentioned now, those of the side module are loaded
 * before the step, and not in the middle of it. */
static void mention_kernels(const FunctionLibraryDefinition *library, const FunctionDef *function) {
  for (size_t i = 0; i < function->n_node_def; i++) {
    const Op *op = op_registry_find(library->ops, function->node_def[i]->op);
    if (op) kernel_registry_mention(op, function->node_def[i]);
  }
}

static bool insert(FunctionLibraryDefinition *library, FunctionDef *function, Status *status) {
  LibraryFunction *entry = new_entry(library, function, status);
  if (!entry) return false;
  if (!mem_grow((void **)&library->functions, &library->capacity, library->num_functions + 1,
                sizeof *library->functions)) {
    return oom(status);
  }
  TRY(string_map_set(&library->names, function->signature->name, entry, status));
  library->functions[library->num_functions++] = entry;
  if (engine_part_missing(PART_SIDE)) mention_kernels(library, function);
  return true;
}

bool function_library_take_function(FunctionLibraryDefinition *library, FunctionDef *function,
                                    Status *status) {
  bool known;
  TRY(check_function(library, function, &known, status));
  return known || insert(library, function, status);
}

bool function_library_add_function(FunctionLibraryDefinition *library, const FunctionDef *function,
                                   Status *status) {
  bool known;
  TRY(check_function(library, function, &known, status));
  if (known) return true;
  ArenaMark mark = arena_mark(library->arena);
  FunctionDef *copy = proto_copy(function, library->arena);
  bool ok = (copy || oom(status)) && insert(library, copy, status);
  if (!ok) arena_rollback(library->arena, mark);
  return ok;
}

bool function_library_copy_function(FunctionLibraryDefinition *library, const char *name,
                                    const FunctionLibraryDefinition *other, Status *status) {
  if (library->ops != other->ops) {
    return status_invalid(status,
                          "Cannot copy function '%s' because CopyFunctionDefFrom() requires that both "
                          "libraries "
                          "have the same default registry.",
                          name);
  }
  const FunctionDef *function = function_library_find(other, name),
                    *own = function_library_find(library, name);
  if (!function) {
    return status_invalid(status,
                          "Cannot copy function '%s' because no function with that name exists in the other "
                          "library.",
                          name);
  }
  bool equal = true;
  if (own) TRY(function_defs_equal(own, function, &equal, status));
  if (!equal) {
    return status_invalid(status,
                          "Cannot copy function '%s' because a different function with the same name already "
                          "exists in this library.",
                          name);
  }
  return own || function_library_add_function(library, function, status);
}

/* --- gradients --- */

bool function_library_add_gradient(FunctionLibraryDefinition *library, const char *function,
                                   const char *gradient, Status *status) {
  const char *other = function_library_find_gradient(library, function);
  if (other) {
    return strcmp(other, gradient) == 0 || status_invalid(status,
                                                          "Cannot assign gradient function '%s' to '%s' "
                                                          "because it already has gradient function '%s'",
                                                          gradient, function, other);
  }
  ArenaMark mark = arena_mark(library->arena);
  char *key = arena_strdup(library->arena, function), *value = arena_strdup(library->arena, gradient);
  bool ok = ((key && value) || oom(status)) && string_map_set(&library->gradients, key, value, status);
  if (!ok) arena_rollback(library->arena, mark);
  return ok;
}

static bool no_gradient(const char *function, Status *status) {
  return status_invalid(status, "Tried to remove non-existent gradient '%s'.", function);
}

bool function_library_replace_gradient(FunctionLibraryDefinition *library, const char *function,
                                       const char *gradient, Status *status) {
  const char *old = function_library_find_gradient(library, function);
  if (!old) return no_gradient(function, status);
  if (strcmp(old, gradient) == 0) return true;
  char *value = arena_strdup(library->arena, gradient);
  if (!value) return oom(status);
  TRY(string_map_set(&library->gradients, function, value, status)); /* the key exists, so this keeps the
                                                                      * pointer to it */
  library->generation++;
  return true;
}

bool function_library_remove_gradient(FunctionLibraryDefinition *library, const char *function,
                                      Status *status) {
  if (!string_map_remove(&library->gradients, function)) return no_gradient(function, status);
  library->generation++;
  return true;
}

/* --- removing and replacing functions --- */

static int64_t place_of(const FunctionLibraryDefinition *library, const LibraryFunction *function) {
  int64_t i = 0;
  while (library->functions[i] != function) i++;
  return i;
}

static bool no_function(const char *name, Status *status) {
  return status_invalid(status, "Tried to remove non-existent function '%s'.", name);
}

bool function_library_remove_function(FunctionLibraryDefinition *library, const char *name, Status *status) {
  const LibraryFunction *function = find(library, name);
  if (!function) return no_function(name, status);
  int64_t i = place_of(library, function);
  string_map_remove(&library->names, name);
  library->num_functions--;
  memmove(&library->functions[i], &library->functions[i + 1],
          (size_t)(library->num_functions - i) * sizeof *library->functions);
  library->generation++;
  return true;
}

static bool replace(FunctionLibraryDefinition *library, const LibraryFunction *old,
                    const FunctionDef *function, Status *status) {
  FunctionDef *copy = proto_copy(function, library->arena);
  if (!copy) return oom(status);
  LibraryFunction *entry = new_entry(library, copy, status);
  if (!entry) return false;
  /* The parts that may fail come first. */
  TRY(string_map_reserve(&library->names, 1, status));
  library->functions[place_of(library, old)] = entry;
  string_map_remove(&library->names, old->def->signature->name);
  library->generation++;
  return string_map_set(&library->names, copy->signature->name, entry, status);
}

bool function_library_replace_function(FunctionLibraryDefinition *library, const char *name,
                                       const FunctionDef *function, Status *status) {
  const LibraryFunction *old = find(library, name);
  if (!old) return no_function(name, status);
  bool known = false;
  if (!function->signature || strcmp(function->signature->name, name) != 0) {
    TRY(check_function(library, function, &known, status));
    if (known) return function_library_remove_function(library, name, status);
  }
  ArenaMark mark = arena_mark(library->arena);
  bool ok = replace(library, old, function, status);
  if (!ok) arena_rollback(library->arena, mark);
  return ok;
}

void function_library_clear(FunctionLibraryDefinition *library) {
  string_map_free(&library->names);
  string_map_free(&library->gradients);
  library->num_functions = 0;
  library->generation++;
}

/* --- libraries --- */

FunctionLibraryMark function_library_mark(const FunctionLibraryDefinition *library) {
  return (FunctionLibraryMark){library->num_functions, library->gradients.count};
}

void function_library_drop(FunctionLibraryDefinition *library, FunctionLibraryMark mark) {
  while (library->num_functions > mark.num_functions)
    string_map_remove(&library->names, library->functions[--library->num_functions]->def->signature->name);
  for (int64_t i = library->gradients.num_entries;
       i-- > 0 && library->gradients.count > mark.num_gradients;) {
    const char *key = library->gradients.entries[i].key;
    if (key) string_map_remove(&library->gradients, key);
  }
}

static bool add_all(FunctionLibraryDefinition *library, const FunctionDefLibrary *proto, Status *status) {
  for (size_t i = 0; i < proto->n_function; i++)
    TRY(function_library_add_function(library, proto->function[i], status));
  for (size_t i = 0; i < proto->n_gradient; i++) {
    const GradientDef *gradient = proto->gradient[i];
    TRY(function_library_add_gradient(library, gradient->function_name, gradient->gradient_func, status));
  }
  return true;
}

bool function_library_add_proto(FunctionLibraryDefinition *library, const FunctionDefLibrary *proto,
                                Status *status) {
  ArenaMark memory = arena_mark(library->arena);
  FunctionLibraryMark mark = function_library_mark(library);
  if (add_all(library, proto, status)) return true;
  function_library_drop(library, mark);
  arena_rollback(library->arena, memory);
  return false;
}

bool function_library_add_library(FunctionLibraryDefinition *library, const FunctionLibraryDefinition *other,
                                  Status *status) {
  FunctionDefLibrary *proto;
  Arena *arena = arena_new();
  if (!arena) return oom(status);
  bool ok = function_library_to_proto(other, arena, &proto, status) &&
            function_library_add_proto(library, proto, status);
  arena_free(arena);
  return ok;
}
