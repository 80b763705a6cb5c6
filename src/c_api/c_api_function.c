/* Functions. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "tensorflow/c/c_api_experimental.h"

TF_Function *new_function(Status *status) {
  TF_Function *function = mem_calloc(1, sizeof *function);
  if (function && (function->arena = arena_new())) return function;
  mem_free(function);
  status_oom(status, "a function");
  return NULL;
}

void TF_DeleteFunction(TF_Function *func) {
  if (!func) return;
  arena_free(func->arena);
  mem_free(func);
}

bool keep_function(TF_Function *function, const FunctionDef *def, Status *status) {
  function->def = proto_copy(def, function->arena);
  return function->def || status_oom(status, "a function");
}

const char *TF_FunctionName(TF_Function *func) { return func->def->signature->name; }

void TF_FunctionToFunctionDef(TF_Function *func, TF_Buffer *output_func_def, TF_Status *status) {
  start_status(status);
  reported(fill_buffer_with_message(func->def, output_func_def, &status->status));
}

TF_Function *TF_FunctionImportFunctionDef(const void *proto, size_t proto_len, TF_Status *status) {
  start_status(status);
  TF_Function *function = new_function(&status->status);
  if (!function) return NULL;
  void *def;
  if (parse_given(kFunctionDef, proto, proto_len, "Invalid FunctionDef given to TF_FunctionImportFunctionDef",
                  function->arena, &def, &status->status)) {
    function->def = def;
    if (function->def->signature) return function;
    status_invalid(&status->status, "FunctionDef has no signature");
  }
  TF_DeleteFunction(function);
  return NULL;
}

typedef Tensorflow__FunctionDef__AttrEntry FunctionAttr;

/* The attr's index; n_attr if there is no attr of that name. */
static size_t find_attr(const FunctionDef *def, const char *name) {
  size_t at = 0;
  while (at < def->n_attr && strcmp(def->attr[at]->key, name) != 0) at++;
  return at;
}

static bool set_attr(TF_Function *function, const char *name, const void *proto, size_t length,
                     Status *status) {
  void *value;
  TRY(parse_given(kAttrValue, proto, length,
                  "Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto", function->arena,
                  &value, status));
  FunctionDef *def = function->def;
  FunctionAttr *attr = proto_new(&tensorflow__function_def__attr_entry__descriptor, function->arena);
  char *key = attr ? arena_strdup(function->arena, name) : NULL;
  if (!key) return status_oom(status, "an attr");
  attr->key = key;
  attr->value = value;
  size_t at = find_attr(def, name);
  if (at == def->n_attr) {
    return proto_append(function->arena, (void ***)&def->attr, &def->n_attr, attr, status);
  }
  def->attr[at] = attr;
  return true;
}

void TF_FunctionSetAttrValueProto(TF_Function *func, const char *attr_name, const void *proto,
                                  size_t proto_len, TF_Status *status) {
  start_status(status);
  reported(set_attr(func, attr_name, proto, proto_len, &status->status));
}

void TF_FunctionGetAttrValueProto(TF_Function *func, const char *attr_name, TF_Buffer *output_attr_value,
                                  TF_Status *status) {
  start_status(status);
  size_t at = find_attr(func->def, attr_name);
  if (at < func->def->n_attr) {
    reported(fill_buffer_with_message(func->def->attr[at]->value, output_attr_value, &status->status));
  } else {
    status_invalid(&status->status, "Function '%s' has no attr named '%s'.", TF_FunctionName(func),
                   attr_name);
  }
}

/* Done as the import of a library, because an import adds all functions or none. */
static bool copy_function(TF_Graph *g, const TF_Function *func, const TF_Function *grad, Arena *arena,
                          Status *status) {
  if (!arena) return status_oom(status, "a function");
  VersionDef versions = *graph_versions(g->graph);
  FunctionDef *functions[] = {func->def, grad ? grad->def : NULL};
  GradientDef gradient, *gradients[] = {&gradient};
  tensorflow__gradient_def__init(&gradient);
  FunctionDefLibrary library;
  tensorflow__function_def_library__init(&library);
  library.function = functions;
  library.n_function = grad ? 2 : 1;
  if (grad) {
    gradient.function_name = func->def->signature->name;
    gradient.gradient_func = grad->def->signature->name;
    library.gradient = gradients;
    library.n_gradient = 1;
  }
  GraphDef def;
  tensorflow__graph_def__init(&def);
  def.versions = &versions;
  def.library = &library;
  return graph_import(g->graph, &def, false, NULL, arena, NULL, status);
}

void TF_GraphCopyFunction(TF_Graph *g, const TF_Function *func, const TF_Function *grad, TF_Status *status) {
  start_status(status);
  if (!func) {
    status_invalid(&status->status, "'func' argument to TF_GraphCopyFunction cannot be null");
    return;
  }
  Arena *arena = arena_new();
  lock_graph(g);
  reported(copy_function(g, func, grad, arena, &status->status));
  unlock_graph(g);
  arena_free(arena);
}

void TF_GraphRemoveFunction(TF_Graph *g, const char *func_name, TF_Status *status) {
  start_status(status);
  lock_graph(g);
  reported(function_library_remove_function(graph_function_library(g->graph), func_name, &status->status));
  unlock_graph(g);
}

int TF_GraphNumFunctions(TF_Graph *g) {
  lock_graph(g);
  int count = (int)graph_num_functions(g->graph);
  unlock_graph(g);
  return count;
}

static int get_functions(TF_Graph *g, TF_Function **funcs, int max_func, TF_Status *status) {
  int count = TF_GraphNumFunctions(g) < max_func ? TF_GraphNumFunctions(g) : max_func;
  if (count < 0) count = 0;
  for (int i = 0; i < count; i++) {
    funcs[i] = new_function(&status->status);
    if (funcs[i] && keep_function(funcs[i], graph_function(g->graph, i), &status->status)) continue;
    for (int k = 0; k <= i; k++) TF_DeleteFunction(funcs[k]);
    return 0;
  }
  return count;
}

int TF_GraphGetFunctions(TF_Graph *g, TF_Function **funcs, int max_func, TF_Status *status) {
  start_status(status);
  lock_graph(g);
  int count = get_functions(g, funcs, max_func, status);
  unlock_graph(g);
  return count;
}
