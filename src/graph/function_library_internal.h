/* Parts of the library that the other files of graph/ use. */
#ifndef TFCORE_GRAPH_FUNCTION_LIBRARY_INTERNAL_H_
#define TFCORE_GRAPH_FUNCTION_LIBRARY_INTERNAL_H_

#include "graph/function_library.h"

typedef struct LibraryFunction {
  FunctionDef *def;
  Op op; /* the op of nodes that call the function */
} LibraryFunction;

struct FunctionLibraryDefinition {
  OpRegistry *ops;
  Arena *arena;
  bool owns_arena;
  LibraryFunction **functions; /* in order of insertion */
  int64_t num_functions, capacity;
  StringMap names;     /* from name to LibraryFunction */
  StringMap gradients; /* from a function's name to its gradient function's name */
  int64_t generation;
};

/* Adds without copying; the function must be allocated in the library's arena. */
MUST_CHECK bool function_library_take_function(FunctionLibraryDefinition *library, FunctionDef *function,
                                               Status *status);

/* Marks the numbers of functions and gradients, to roll back to if nothing is removed or replaced in between.
 * Memory is not released. */
typedef struct FunctionLibraryMark {
  int64_t num_functions, num_gradients;
} FunctionLibraryMark;
FunctionLibraryMark function_library_mark(const FunctionLibraryDefinition *library);
void function_library_drop(FunctionLibraryDefinition *library, FunctionLibraryMark mark);

#endif
