/* Converts a graph to a GraphDef. A NodeDef is shared with the graph if its input list is written as
 * TensorFlow writes it: data inputs as "n" or "n:1", then control inputs sorted by name. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

/* Whether `text` is the canonical spelling of the input. */
static bool is_written_as(const char *text, const Node *src, int index) {
  size_t length = strlen(src->name);
  if (index == CONTROL_SLOT) return text[0] == '^' && strcmp(text + 1, src->name) == 0;
  if (strncmp(text, src->name, length) != 0) return false;
  if (index == 0) return text[length] == '\0';
  Str name;
  int text_index;
  return text[length] == ':' && node_parse_input(text, &name, &text_index) && name.length == length &&
         text_index == index;
}

static bool is_canonical(const Node *node) {
  const NodeDef *def = node->def;
  if ((int64_t)def->n_input != node->num_inputs + node->num_control_inputs) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (edge && !is_written_as(def->input[i], edge->src, edge->src_output)) return false;
    if (!edge && def->input[i][0] == '^') return false;
  }
  const char *before = "";
  int64_t at = node->num_inputs;
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    const Node *src = node->control_inputs[i]->src;
    if (strcmp(before, src->name) > 0 || !is_written_as(def->input[at++], src, CONTROL_SLOT)) return false;
    before = src->name;
  }
  return true;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Copies the NodeDef with another input list. */
static NodeDef *rewrite_def(const Node *node, Arena *arena) {
  NodeDef *def = arena_alloc(arena, sizeof *def);
  int64_t count = node->num_inputs + node->num_control_inputs;
  char **input = arena_alloc(arena, (count + 1) * (int64_t)sizeof *input);
  if (!def || !input) return NULL;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    bool requested = !edge && (size_t)i < node->def->n_input && node->def->input[i][0] != '^';
    if (!edge) {
      input[i] = requested ? node->def->input[i] : (char *)"";
    } else {
      const char *name = edge->src->name;
      input[i] = edge->src_output == 0 ? (char *)name : arena_printf(arena, "%s:%d", name, edge->src_output);
    }
    if (!input[i]) return NULL;
  }
  char **next = input + node->num_inputs;
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    const Node *src = node->control_inputs[i]->src;
    *next = arena_printf(arena, "^%s", src->name);
    if (!*next++) return NULL;
  }
  qsort(input + node->num_inputs, (size_t)node->num_control_inputs, sizeof *input, compare_names);
  *def = *node->def;
  def->input = input;
  def->n_input = (size_t)count;
  return def;
}

static bool export_library(const Graph *graph, Arena *arena, GraphDef *def, Status *status) {
  const FunctionLibraryDefinition *library = graph->functions;
  if (function_library_num_functions(library) == 0 && function_library_num_gradients(library) == 0)
    return true;
  return function_library_to_proto(library, arena, &def->library, status);
}

/* The exported NodeDef; NULL when out of memory. */
static NodeDef *export_node(const Node *node, Arena *arena) {
  NodeDef *def = is_canonical(node) ? node->def : rewrite_def(node, arena);
  const char *device = node_assigned_device(node);
  if (!def || !device[0]) return def;
  NodeDef *placed = arena_alloc(arena, sizeof *placed);
  if (!placed) return NULL;
  *placed = *def;
  placed->device = (char *)device;
  return placed;
}

bool graph_to_def_range(const Graph *graph, int64_t from_id, bool with_library, Arena *arena, GraphDef **out,
                        Status *status) {
  GraphDef *def = proto_new(kGraphDef, arena);
  VersionDef *versions = arena_alloc(arena, sizeof *versions);
  *out = NULL;
  if (!def || !versions) return status_oom(status, "a GraphDef");
  if (from_id <= SINK_ID) from_id = SINK_ID + 1;
  int64_t most = from_id < graph->num_node_ids ? graph->num_node_ids - from_id : 0;
  if (most > graph->num_nodes) most = graph->num_nodes;
  def->node = arena_alloc(arena, (most + 1) * (int64_t)sizeof *def->node);
  if (!def->node) return status_oom(status, "a GraphDef");
  for (int64_t id = from_id; id < graph->num_node_ids; id++) {
    if (!graph->nodes[id]) continue;
    NodeDef *node_def = export_node(graph->nodes[id], arena);
    if (!node_def) return status_oom(status, "a GraphDef");
    def->node[def->n_node++] = node_def;
  }
  *versions = graph->versions;
  def->versions = versions;
  if (with_library) TRY(export_library(graph, arena, def, status));
  *out = def;
  return true;
}

bool graph_to_def(const Graph *graph, Arena *arena, GraphDef **def, Status *status) {
  return graph_to_def_range(graph, 0, true, arena, def, status);
}
