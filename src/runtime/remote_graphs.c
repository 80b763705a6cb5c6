#include "runtime/remote_graphs.h"

static bool oom(Status *status) { return status_oom(status, "a GraphDef"); }

static bool asks_for_devices(const FunctionDef *function) {
  size_t i = 0;
  while (i < function->n_node_def && !function->node_def[i]->device[0]) i++;
  return i < function->n_node_def;
}

/* A copy whose nodes ask for no devices. The rest is shared. */
static bool without_devices(const FunctionDef *function, Arena *arena, FunctionDef **out, Status *status) {
  *out = arena_alloc(arena, sizeof **out);
  NodeDef **nodes = arena_alloc(arena, (int64_t)function->n_node_def * (int64_t)sizeof *nodes);
  NodeDef *copies = arena_alloc(arena, (int64_t)function->n_node_def * (int64_t)sizeof *copies);
  if (!*out || !nodes || !copies) return oom(status);
  **out = *function;
  (*out)->node_def = nodes;
  for (size_t i = 0; i < function->n_node_def; i++) {
    copies[i] = *function->node_def[i];
    copies[i].device = "";
    nodes[i] = &copies[i];
  }
  return true;
}

/* The functions of the graph; NULL when it has none. */
static bool export_functions(const Graph *graph, Arena *arena, FunctionDefLibrary **library, Status *status) {
  GraphDef *def;
  TRY(graph_to_def_range(graph, graph_num_node_ids(graph), true, arena, &def, status));
  *library = def->library;
  for (size_t i = 0; *library && i < (*library)->n_function; i++) {
    FunctionDef **function = &(*library)->function[i];
    if (asks_for_devices(*function)) TRY(without_devices(*function, arena, function, status));
  }
  return true;
}

bool remote_graphs_export(const StepProgram *program, const Graph *graph, Arena *arena, GraphDef ***graphs,
                          const char ***devices, int *count, Status *status) {
  FunctionDefLibrary *library;
  *count = step_program_num_remote(program);
  *graphs = arena_calloc(arena, *count, sizeof **graphs);
  *devices = arena_calloc(arena, *count, sizeof **devices);
  if (!*graphs || !*devices) return oom(status);
  TRY(export_functions(graph, arena, &library, status));
  for (int i = 0; i < *count; i++) {
    RemoteGraph remote = step_program_remote(program, i);
    (*devices)[i] = remote.device->name;
    TRY(graph_to_def(remote.graph, arena, &(*graphs)[i], status));
    (*graphs)[i]->library = library;
  }
  return true;
}
