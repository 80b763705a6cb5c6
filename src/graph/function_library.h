/* FunctionLibraryDefinition: functions by name, and the gradient function of each, on top of a registry of
 * ops. Every graph owns one (graph_function_library); others may exist on their own.
 *
 * Functions are copied in and keep their order. A function is also an op: nodes that call it point to its Op,
 * so removed and replaced functions stay in memory as long as the library. Names of functions and ops are
 * distinct. Every call that changes the library either succeeds or leaves it unchanged, memory included. Not
 * thread-safe: one writer, and no readers while it writes.
 */
#ifndef TFCORE_GRAPH_FUNCTION_LIBRARY_H_
#define TFCORE_GRAPH_FUNCTION_LIBRARY_H_

#include "base/string_map.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

typedef struct FunctionLibraryDefinition FunctionLibraryDefinition;

/* `ops` is borrowed. With an `arena` the functions are allocated there (it must outlive the library), else in
 * an arena of the library. NULL when out of memory. */
FunctionLibraryDefinition *function_library_new(OpRegistry *ops, Arena *arena);
/* A library with the functions and gradients of a proto. When a name occurs several times, the last entry
 * counts. The caller frees it. */
MUST_CHECK bool function_library_from_proto(OpRegistry *ops, const FunctionDefLibrary *proto,
                                            FunctionLibraryDefinition **library, Status *status);
/* A copy of the functions and gradients, over the same ops, with its own memory. */
MUST_CHECK bool function_library_clone(const FunctionLibraryDefinition *library,
                                       FunctionLibraryDefinition **clone, Status *status);
void function_library_free(FunctionLibraryDefinition *library); /* NULL is fine */

/* --- lookup --- */

OpRegistry *function_library_ops(const FunctionLibraryDefinition *library);
bool function_library_contains(const FunctionLibraryDefinition *library, const char *name);
/* NULL when there is no such function. */
const FunctionDef *function_library_find(const FunctionLibraryDefinition *library, const char *name);
/* By number, in the order of insertion; NULL when out of range. Their names are signature->name. */
int64_t function_library_num_functions(const FunctionLibraryDefinition *library);
const FunctionDef *function_library_function(const FunctionLibraryDefinition *library, int64_t i);
int64_t function_library_num_gradients(const FunctionLibraryDefinition *library);
/* The name of its gradient function, or NULL. */
const char *function_library_find_gradient(const FunctionLibraryDefinition *library, const char *function);
/* The op of that name: a function, or an op of the registry (whose errors are passed on). */
MUST_CHECK bool function_library_look_up(const FunctionLibraryDefinition *library, const char *name,
                                         const Op **op, Status *status);
/* The first of prefix0, prefix1, ... that no function has, allocated in `arena`; NULL when out of memory. */
const char *function_library_unique_name(const FunctionLibraryDefinition *library, const char *prefix,
                                         Arena *arena);
/* An attr of the function that a node calls. For SymbolicGradient it is an attr of the function's gradient
 * function if there is one, else of the function itself. The node's own attrs are not consulted.
 * INVALID_ARGUMENT "Attr noinline is not defined." */
MUST_CHECK bool function_library_get_attr(const FunctionLibraryDefinition *library, const NodeDef *node,
                                          const char *attr, const AttrValue **value, Status *status);
/* The whole library as a proto that shares its contents. */
MUST_CHECK bool function_library_to_proto(const FunctionLibraryDefinition *library, Arena *arena,
                                          FunctionDefLibrary **proto, Status *status);
/* A new library with the functions that the nodes (or the function's body) can reach: functions that are
 * called or named in attrs, their gradient functions, functions that implement the same interface (attr
 * `api_implements`), and so on. The function itself is included only if something reaches it. */
MUST_CHECK bool function_library_reachable(const FunctionLibraryDefinition *library, const GraphDef *graph,
                                           FunctionLibraryDefinition **reachable, Status *status);
MUST_CHECK bool function_library_reachable_from_function(const FunctionLibraryDefinition *library,
                                                         const FunctionDef *function,
                                                         FunctionLibraryDefinition **reachable,
                                                         Status *status);
/* Whether running the node has an effect beyond its outputs: its op is stateful or only checks its input
 * (CheckNumerics, EnsureShape), or it can reach a function with such nodes. Calls, If, Case, While and For
 * have the effects of their functions and no others. An unknown op counts as one with effects. */
MUST_CHECK bool function_library_has_effects(const FunctionLibraryDefinition *library, const NodeDef *node,
                                             bool *effects, Status *status);
/* Grows when a function or gradient is removed or replaced, which may invalidate what was derived from
 * one. */
int64_t function_library_generation(const FunctionLibraryDefinition *library);

/* --- changes --- */

/* Adding an equal function again does nothing. INVALID_ARGUMENT "Cannot add function 'f' because a different
 * function with the same name already exists.", and likewise for an op. */
MUST_CHECK bool function_library_add_function(FunctionLibraryDefinition *library, const FunctionDef *function,
                                              Status *status);
/* The functions need not exist. INVALID_ARGUMENT when `function` has a different gradient. */
MUST_CHECK bool function_library_add_gradient(FunctionLibraryDefinition *library, const char *function,
                                              const char *gradient, Status *status);
/* Adds all functions and gradients, or nothing. */
MUST_CHECK bool function_library_add_proto(FunctionLibraryDefinition *library,
                                           const FunctionDefLibrary *proto, Status *status);
MUST_CHECK bool function_library_add_library(FunctionLibraryDefinition *library,
                                             const FunctionLibraryDefinition *other, Status *status);
/* Adds one function of `other`, which must have the same ops. Does nothing when an equal one exists. */
MUST_CHECK bool function_library_copy_function(FunctionLibraryDefinition *library, const char *name,
                                               const FunctionLibraryDefinition *other, Status *status);
/* Replaces function `name` by `function`, which may have another name. INVALID_ARGUMENT "Tried to remove
 * non-existent function 'f'." */
MUST_CHECK bool function_library_replace_function(FunctionLibraryDefinition *library, const char *name,
                                                  const FunctionDef *function, Status *status);
MUST_CHECK bool function_library_replace_gradient(FunctionLibraryDefinition *library, const char *function,
                                                  const char *gradient, Status *status);
MUST_CHECK bool function_library_remove_function(FunctionLibraryDefinition *library, const char *name,
                                                 Status *status);
MUST_CHECK bool function_library_remove_gradient(FunctionLibraryDefinition *library, const char *function,
                                                 Status *status);
void function_library_clear(FunctionLibraryDefinition *library);

/* --- of single functions --- */

/* Whether two functions mean the same: nodes are compared by name, attrs and control inputs in any order, and
 * tensors by their elements. *equal is set only when true is returned; false: out of memory. */
MUST_CHECK bool function_defs_equal(const FunctionDef *a, const FunctionDef *b, bool *equal, Status *status);
/* Whether an op belongs to a function: its `def` is the function's signature and it has no kernels. */
bool function_library_owns_op(const Op *op);

#endif
