/* Functions that are made of graphs, in PART_TRAINING: what TF_GraphToFunction does. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "function/function_hash.h"
#include "function/graph_to_function.h"

/* The value of TF_GraphToFunction's `num_opers` that selects all operations. */
enum { ALL_OPERATIONS = -1 };

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
    options->all_nodes = true;
  } else if (num_opers >= 0) {
    static Node *const kNone[] = {NULL};
    options->nodes = opers ? (Node *const *)opers : kNone;
    options->num_nodes = num_opers;
  }
  TRY(graph_to_function(graph->graph, options, arena, &def, status));
  return keep_function(function, def, status);
}

static bool describe(TF_Function *function, const char *description, Status *status) {
  function->def->signature->description = arena_strdup(function->arena, description);
  return function->def->signature->description || status_oom(status, "a function");
}

/* Base64 of the lowest 64 bits, with letters in place of characters that a name cannot contain or should not
 * repeat. */
static void hash_text(uint64_t hash, char text[12]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789aA";
  uint8_t bytes[9] = {0};
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(hash >> (8 * i));
  for (int i = 0; i < 11; i++) {
    const uint8_t *group = bytes + i / 4 * 3;
    uint32_t bits = (uint32_t)group[0] << 16 | (uint32_t)group[1] << 8 | group[2];
    text[i] = digits[bits >> (18 - i % 4 * 6) & 63];
  }
  text[11] = '\0';
}

/* The hash is computed before the function has its name and its control outputs. */
static bool append_hash(TF_Function *function, Status *status) {
  FunctionDef bare = *function->def;
  OpDef signature = *bare.signature;
  uint64_t hash;
  char text[12];
  signature.name = "";
  signature.n_control_output = 0;
  bare.signature = &signature;
  bare.n_control_ret = 0;
  TRY(function_def_hash(&bare, function->arena, &hash, status));
  hash_text(hash, text);
  char *name = arena_printf(function->arena, "%s_%s", function->def->signature->name, text);
  if (!name) return status_oom(status, "a function");
  function->def->signature->name = name;
  return true;
}

TF_Function *function_of_graph(const TF_Graph *fn_body, const char *fn_name,
                               unsigned char append_hash_to_fn_name, int num_opers,
                               const TF_Operation *const *opers, int ninputs, const TF_Output *inputs,
                               int noutputs, const TF_Output *outputs, const char *const *output_names,
                               int ncontrol_outputs, const TF_Operation *const *control_outputs,
                               const char *const *control_output_names, const char *description,
                               TF_Status *status) {
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
      .keep_arg_attrs = true,
  };
  Arena *arena = arena_new();
  lock_graph(fn_body);
  bool ok =
      build_function(fn_body, &options, num_opers, opers, inputs, outputs, function, arena, &status->status);
  unlock_graph(fn_body);
  arena_free(arena);
  ok = ok && (!description || describe(function, description, &status->status));
  ok = ok && (!append_hash_to_fn_name || append_hash(function, &status->status));
  if (ok) return function;
  TF_DeleteFunction(function);
  return NULL;
}
