/* What the graph's files know of a library beyond its manual. */
#ifndef TFCORE_GRAPH_FUNCTION_LIBRARY_INTERNAL_H_
#define TFCORE_GRAPH_FUNCTION_LIBRARY_INTERNAL_H_

#include "graph/function_library.h"

typedef struct LibraryFunction {
  FunctionDef *def;
  Op op; /* what nodes that call the function point to */
} LibraryFunction;

struct FunctionLibraryDefinition {
  OpRegistry *ops;
  Arena *arena;
  bool owns_arena;
  LibraryFunction **functions; /* in order */
  int64_t num_functions, capacity;
  StringMap names;     /* to LibraryFunction */
  StringMap gradients; /* from a function's name to that of its gradient */
  int64_t generation;
};

/* Adds without copying; the function must live in the library's arena. */
MUST_CHECK bool function_library_take_function(FunctionLibraryDefinition *library, FunctionDef *function,
                                               Status *status);

/* How many functions and gradients there are, to come back to while nothing was removed or replaced since.
 * Memory is not given back. */
typedef struct FunctionLibraryMark {
  int64_t num_functions, num_gradients;
} FunctionLibraryMark;
FunctionLibraryMark function_library_mark(const FunctionLibraryDefinition *library);
void function_library_drop(FunctionLibraryDefinition *library, FunctionLibraryMark mark);

#endif
