/* Functions written as text, run by a FunctionRuntime. */
#ifndef TFCORE_TESTS_RUNTIME_FUNCTION_FIXTURE_H_
#define TFCORE_TESTS_RUNTIME_FUNCTION_FIXTURE_H_

#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "harness.h"
#include "op_runner.h"
#include "runtime/function_runtime.h"

typedef struct Functions {
  Graph *library;
  BufferPool *pool;
  ResourceManager *resources;
  FunctionRuntime *runtime;
  Status status;
} Functions;

static inline bool functions_begin(Functions *f, const char *library) {
  bool ok = false;
  status_init(&f->status);
  Arena *arena = arena_new();
  FunctionDefLibrary *parsed;
  f->library = graph_new();
  f->pool = buffer_pool_new();
  f->resources = resource_manager_new();
  ProgramEnvironment environment = {.pool = f->pool, .resources = f->resources};
  f->runtime = function_runtime_new(f->library, &environment, &f->status);
  ok = CHECK(arena && f->library && f->pool && f->resources && f->runtime) &&
       CHECK_OK(function_parse_library(str_of(library), arena, &parsed, &f->status), f->status) &&
       CHECK_OK(graph_add_function_library(f->library, parsed, &f->status), f->status);
  arena_free(arena);
  return ok;
}

static inline void functions_end(Functions *f) {
  function_runtime_free(f->runtime);
  graph_free(f->library);
  resource_manager_free(f->resources);
  buffer_pool_release(f->pool);
}

enum { FUNCTION_TENSORS = 8 };

/* Runs with tensors as in op_runner.h; `results` receive the results. */
static inline bool functions_run(Functions *f, const char *name, const char *inputs, Tensor *results,
                                 int num_results) {
  Tensor args[FUNCTION_TENSORS] = {{0}};
  const Tensor *pointers[FUNCTION_TENSORS];
  int count = 0;
  int64_t handle;
  bool ok = tensors_parse(inputs, args, FUNCTION_TENSORS, &count, &f->status) &&
            function_runtime_instantiate(f->runtime, name, NULL, 0, NULL, &handle, &f->status);
  for (int i = 0; i < count; i++) pointers[i] = &args[i];
  ok =
      ok && function_runtime_run(f->runtime, handle, NULL, pointers, count, results, num_results, &f->status);
  for (int i = 0; i < count; i++) tensor_clear(&args[i]);
  return ok;
}

static inline void function_gives(Functions *f, const char *name, const char *inputs, const char *want) {
  Tensor results[FUNCTION_TENSORS] = {{0}}, wanted[FUNCTION_TENSORS] = {{0}};
  int count = 0;
  CHECK_OK(tensors_parse(want, wanted, FUNCTION_TENSORS, &count, &f->status), f->status);
  if (CHECK_OK(functions_run(f, name, inputs, results, count), f->status)) {
    for (int i = 0; i < count; i++) tensor_is_about(&results[i], &wanted[i], 0);
  }
  status_init(&f->status);
  for (int i = 0; i < count; i++) {
    tensor_clear(&results[i]);
    tensor_clear(&wanted[i]);
  }
}

static inline void function_fails(Functions *f, const char *name, const char *inputs, int num_results,
                                  Code code, const char *part) {
  Tensor results[FUNCTION_TENSORS] = {{0}};
  CHECK(!functions_run(f, name, inputs, results, num_results));
  CHECK_INT_EQ(f->status.code, code);
  CHECK_STR_CONTAINS(f->status.message, part);
  status_init(&f->status);
  for (int i = 0; i < FUNCTION_TENSORS; i++) CHECK(tensor_is_empty(&results[i]));
}

#endif
