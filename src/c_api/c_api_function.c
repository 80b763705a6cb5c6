/* Functions and gradients. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "function/graph_to_function.h"
#include "gradient/graph_gradients.h"
#include "tensorflow/c/c_api_experimental.h"

/* What TF_GraphToFunction takes for a number of operations, beside numbers. */
enum { ALL_OPERATIONS = -1 };

static TF_Function *new_function(Status *status) {
  TF_Function *function = mem_calloc(1, sizeof *function);
  if (function && (function->arena = arena_new()) != NULL) return function;
  mem_free(function);
  status_oom(status, "a function");
  return NULL;
}

void TF_DeleteFunction(TF_Function *func) {
  if (!func) return;
  arena_free(func->arena);
  mem_free(func);
}

/* The shared parts of `def` belong to somebody else, so the function keeps a copy. */
static bool keep_function(TF_Function *function, const FunctionDef *def, Status *status) {
  function->def = proto_copy(def, function->arena);
  return function->def || status_oom(status, "a function");
}

/* The body when all operations are taken: those whose outputs are not inputs. */
static bool take_all(const Graph *graph, GraphToFunctionOptions *options, Arena *arena, Status *status) {
  NodeSet inputs;
  TRY(node_set_new(graph, arena, &inputs, status));
  for (int i = 0; i < options->num_inputs; i++) {
    const Node *node = options->inputs[i].node;
    if (!node) return status_invalid(status, "Input %d of function '%s' is null", i, options->name);
    TRY(graph_check_node(graph, node, status));
    if (node->num_outputs != 1) {
      return status_invalid(status,
                            "When `num_opers` is set to -1, nodes referenced in `inputs` must have a single "
                            "output. Node %s has %d outputs. Encountered while creating function '%s'",
                            node->name, node->num_outputs, options->name);
    }
    inputs.member[node->id] = 1;
  }
  Node **nodes = arena_calloc(arena, graph_num_nodes(graph), sizeof(Node *));
  if (!nodes) return status_oom(status, "a function");
  options->nodes = nodes;
  options->num_nodes = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    Node *node = graph_node(graph, id);
    if (node && !node_set_has(&inputs, node)) nodes[options->num_nodes++] = node;
  }
  return true;
}

static bool build_function(const TF_Graph *graph, GraphToFunctionOptions *options, int num_opers,
                           const TF_Operation *const *opers, const TF_Output *inputs,
                           const TF_Output *outputs, TF_Function *function, Arena *arena, Status *status) {
  NodeOutput *args, *results;
  FunctionDef *def;
  if (!arena) return status_oom(status, "a function");
  TRY(to_node_outputs(inputs, options->num_inputs, arena, &args, status));
  TRY(to_node_outputs(outputs, options->num_outputs, arena, &results, status));
  options->inputs = args;
  options->outputs = results;
  if (num_opers == ALL_OPERATIONS) {
    TRY(take_all(graph->graph, options, arena, status));
  } else if (num_opers >= 0) {
    static Node *const kNone[] = {NULL};
    options->nodes = opers ? (Node *const *)opers : kNone;
    options->num_nodes = num_opers;
  }
  TRY(graph_to_function(graph->graph, options, arena, &def, status));
  return keep_function(function, def, status);
}

TF_Function *TF_GraphToFunctionWithControlOutputs(
    const TF_Graph *fn_body, const char *fn_name, unsigned char append_hash_to_fn_name, int num_opers,
    const TF_Operation *const *opers, int ninputs, const TF_Output *inputs, int noutputs,
    const TF_Output *outputs, const char *const *output_names, int ncontrol_outputs,
    const TF_Operation *const *control_outputs, const char *const *control_output_names,
    const TF_FunctionOptions *opts, const char *description, TF_Status *status) {
  (void)opts;
  start_status(status);
  TF_Function *function = new_function(&status->status);
  if (!function) return NULL;
  GraphToFunctionOptions options = {
      .name = fn_name,
      .num_inputs = ninputs,
      .num_outputs = noutputs,
      .output_names = output_names,
      .control_outputs = (Node *const *)control_outputs,
      .num_control_outputs = ncontrol_outputs,
      .control_output_names = control_output_names,
  };
  Arena *arena = arena_new();
  bool ok =
      build_function(fn_body, &options, num_opers, opers, inputs, outputs, function, arena, &status->status);
  arena_free(arena);
  if (ok && description) {
    function->def->signature->description = arena_strdup(function->arena, description);
    ok = function->def->signature->description || status_oom(&status->status, "a function");
  }
  if (ok && append_hash_to_fn_name) {
    StrBuf bytes = {0};
    ok = proto_serialize(function->def, &bytes, &status->status);
    uint64_t hash = hash_bytes(strbuf_text(&bytes), (size_t)bytes.length);
    strbuf_free(&bytes);
    char *name = arena_printf(function->arena, "%s_%016llx", fn_name, (unsigned long long)hash);
    ok = ok && (name || status_oom(&status->status, "a function"));
    if (ok) function->def->signature->name = name;
  }
  if (ok) return function;
  TF_DeleteFunction(function);
  return NULL;
}

TF_Function *TF_GraphToFunction(const TF_Graph *fn_body, const char *fn_name,
                                unsigned char append_hash_to_fn_name, int num_opers,
                                const TF_Operation *const *opers, int ninputs, const TF_Output *inputs,
                                int noutputs, const TF_Output *outputs, const char *const *output_names,
                                const TF_FunctionOptions *opts, const char *description, TF_Status *status) {
  return TF_GraphToFunctionWithControlOutputs(fn_body, fn_name, append_hash_to_fn_name, num_opers, opers,
                                              ninputs, inputs, noutputs, outputs, output_names, 0, NULL, NULL,
                                              opts, description, status);
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

/* Its place among the attrs; n_attr when there is none of that name. */
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

/* As the import of a library, for that adds all of it or nothing. */
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
  reported(copy_function(g, func, grad, arena, &status->status));
  arena_free(arena);
}

void TF_GraphRemoveFunction(TF_Graph *g, const char *func_name, TF_Status *status) {
  start_status(status);
  reported(function_library_remove_function(graph_function_library(g->graph), func_name, &status->status));
}

int TF_GraphNumFunctions(TF_Graph *g) { return (int)graph_num_functions(g->graph); }

int TF_GraphGetFunctions(TF_Graph *g, TF_Function **funcs, int max_func, TF_Status *status) {
  start_status(status);
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

/* ---- gradients ---- */

static bool add_gradients(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x,
                          int nx, const TF_Output *dx, const GradientStops *stops, TF_Output *dy,
                          Arena *arena, Status *status) {
  NodeOutput *ys, *xs, *stopped = NULL, *dys = NULL;
  if (!arena) return status_oom(status, "gradients");
  for (int i = 0; i < ny; i++) TRY(check_output_index(y[i], status));
  for (int i = 0; i < nx; i++) TRY(check_output_index(x[i], status));
  TRY(to_node_outputs(y, ny, arena, &ys, status));
  TRY(to_node_outputs(x, nx, arena, &xs, status));
  if (dx) TRY(to_node_outputs(dx, ny, arena, &dys, status));
  if (stops) TRY(to_node_outputs(stops->outputs, stops->count, arena, &stopped, status));
  NodeOutput *results = arena_calloc(arena, nx, sizeof *results);
  if (!results) return status_oom(status, "gradients");
  if (!stops) TRY(graph_check_differentiable(g->graph, ys, ny, xs, nx, status));
  GradientOptions options = {.scope = prefix, .stops = stopped, .num_stops = stops ? stops->count : 0};
  TRY(graph_add_gradients(g->graph, ys, ny, xs, nx, dys, &options, results, status));
  for (int i = 0; i < nx; i++) dy[i] = from_node_output(results[i]);
  return true;
}

void add_gradients_to(TF_Graph *g, const char *prefix, const TF_Output *y, int ny, const TF_Output *x, int nx,
                      const TF_Output *dx, const GradientStops *stops, TF_Output *dy, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(add_gradients(g, prefix, y, ny, x, nx, dx, stops, dy, arena, &status->status));
  arena_free(arena);
}

void TF_AddGradientsWithPrefix(TF_Graph *g, const char *prefix, TF_Output *y, int ny, TF_Output *x, int nx,
                               TF_Output *dx, TF_Status *status, TF_Output *dy) {
  add_gradients_to(g, prefix, y, ny, x, nx, dx, NULL, dy, status);
}

void TF_AddGradients(TF_Graph *g, TF_Output *y, int ny, TF_Output *x, int nx, TF_Output *dx,
                     TF_Status *status, TF_Output *dy) {
  add_gradients_to(g, NULL, y, ny, x, nx, dx, NULL, dy, status);
}
