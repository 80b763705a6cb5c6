/* FunctionLibraryDefinition: functions by name, and which function is the gradient of which, over a registry
 * of ops. Every graph owns one (graph_function_library); others may live alone.
 *
 * Functions are copied in and keep their order. A function is an op as well: nodes that call it point to its
 * Op, so what is removed or replaced stays in memory as long as the library. Names of functions and ops are
 * distinct. Every call that changes something either succeeds or leaves the library as it was, memory
 * included. Not thread-safe: one writer, and no reader while it writes.
 */
#ifndef TFCORE_GRAPH_FUNCTION_LIBRARY_H_
#define TFCORE_GRAPH_FUNCTION_LIBRARY_H_

#include "base/string_map.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

typedef struct FunctionLibraryDefinition FunctionLibraryDefinition;

/* `ops` is borrowed. With an `arena` the functions live there (it must outlive the library), else in one of
 * the library's own. NULL when out of memory. */
FunctionLibraryDefinition *function_library_new(OpRegistry *ops, Arena *arena);
/* A library with what a proto says; of several functions of one name, and of several gradients of one
 * function, the last counts. The caller's to free. */
MUST_CHECK bool function_library_from_proto(OpRegistry *ops, const FunctionDefLibrary *proto,
                                            FunctionLibraryDefinition **library, Status *status);
/* The same functions and gradients over the same ops, in memory of its own. */
MUST_CHECK bool function_library_clone(const FunctionLibraryDefinition *library,
                                       FunctionLibraryDefinition **clone, Status *status);
void function_library_free(FunctionLibraryDefinition *library); /* NULL is fine */

/* --- looking --- */

OpRegistry *function_library_ops(const FunctionLibraryDefinition *library);
bool function_library_contains(const FunctionLibraryDefinition *library, const char *name);
/* NULL when there is none. */
const FunctionDef *function_library_find(const FunctionLibraryDefinition *library, const char *name);
/* By number, in the order in which they were added; NULL when out of range. Their names are
 * signature->name. */
int64_t function_library_num_functions(const FunctionLibraryDefinition *library);
const FunctionDef *function_library_function(const FunctionLibraryDefinition *library, int64_t i);
int64_t function_library_num_gradients(const FunctionLibraryDefinition *library);
/* The name of its gradient function; NULL when there is none. */
const char *function_library_find_gradient(const FunctionLibraryDefinition *library, const char *function);
/* The op of that name: a function, or of the registry (whose errors are passed on). */
MUST_CHECK bool function_library_look_up(const FunctionLibraryDefinition *library, const char *name,
                                         const Op **op, Status *status);
/* prefix0, prefix1, ...: the first that no function has, in `arena`; NULL when out of memory. */
const char *function_library_unique_name(const FunctionLibraryDefinition *library, const char *prefix,
                                         Arena *arena);
/* An attr of the function that a node calls; for SymbolicGradient of the function's gradient function when it
 * has one, else of the function itself. The node's own attrs say nothing. INVALID_ARGUMENT "Attr noinline is
 * not defined." */
MUST_CHECK bool function_library_get_attr(const FunctionLibraryDefinition *library, const NodeDef *node,
                                          const char *attr, const AttrValue **value, Status *status);
/* All of it; what it points to is shared with the library. */
MUST_CHECK bool function_library_to_proto(const FunctionLibraryDefinition *library, Arena *arena,
                                          FunctionDefLibrary **proto, Status *status);
/* A new library of what the nodes (or the function's body) can lead to: functions that are called or named in
 * attrs, their gradient functions, functions that implement the same interface (attr `api_implements`), and
 * what all these lead to. The function itself is in it only if something leads to it. */
MUST_CHECK bool function_library_reachable(const FunctionLibraryDefinition *library, const GraphDef *graph,
                                           FunctionLibraryDefinition **reachable, Status *status);
MUST_CHECK bool function_library_reachable_from_function(const FunctionLibraryDefinition *library,
                                                         const FunctionDef *function,
                                                         FunctionLibraryDefinition **reachable,
                                                         Status *status);
/* Whether running the node can be noticed by others than those who read its results: its op has state or does
 * nothing but check its input (CheckNumerics, EnsureShape), or a function that it leads to has such nodes.
 * Calls, If, Case, While and For have no effects beyond those of their functions. An op that is not there
 * counts as one with effects. */
MUST_CHECK bool function_library_has_effects(const FunctionLibraryDefinition *library, const NodeDef *node,
                                             bool *effects, Status *status);
/* Grows when a function or gradient is removed or replaced: what was made from one before may be stale. */
int64_t function_library_generation(const FunctionLibraryDefinition *library);

/* --- changing --- */

/* Adding what is there already, and equal, does nothing. INVALID_ARGUMENT "Cannot add function 'f' because a
 * different function with the same name already exists.", or an op. */
MUST_CHECK bool function_library_add_function(FunctionLibraryDefinition *library, const FunctionDef *function,
                                              Status *status);
/* The functions need not be there. INVALID_ARGUMENT when `function` has another gradient. */
MUST_CHECK bool function_library_add_gradient(FunctionLibraryDefinition *library, const char *function,
                                              const char *gradient, Status *status);
/* All functions and gradients, or none. */
MUST_CHECK bool function_library_add_proto(FunctionLibraryDefinition *library,
                                           const FunctionDefLibrary *proto, Status *status);
MUST_CHECK bool function_library_add_library(FunctionLibraryDefinition *library,
                                             const FunctionLibraryDefinition *other, Status *status);
/* One function of `other`, which has the same ops. Nothing happens when an equal one is there. */
MUST_CHECK bool function_library_copy_function(FunctionLibraryDefinition *library, const char *name,
                                               const FunctionLibraryDefinition *other, Status *status);
/* `function` takes the place of function `name`, and may have another name. INVALID_ARGUMENT "Tried to remove
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

/* Equal by meaning: nodes by name, attrs and control inputs in any order, tensors by their elements. *equal
 * is meant only when true is returned; false: out of memory. */
MUST_CHECK bool function_defs_equal(const FunctionDef *a, const FunctionDef *b, bool *equal, Status *status);
/* Whether an op belongs to a function: its `def` is the function's signature and it has no kernels. */
bool function_library_owns_op(const Op *op);

#endif
