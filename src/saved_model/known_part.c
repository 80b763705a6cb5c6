/* The part of a graph whose ops are registered. Linear in the size of the graph, except that functions are
 * scanned again while the knowledge about their callees grows. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "saved_model/saved_model.h"

typedef struct Reader {
  int32_t node, next; /* the index of another reader of the same node; -1: none */
} Reader;

typedef struct Search {
  const GraphDef *whole;
  OpRegistry *ops;
  StringMap functions; /* from the name of each function to itself */
  StringMap lacking;   /* from the name of a function to the unknown op that it needs */
  StringMap nodes;     /* from the name of each node to its number + 1 */
  StringMap *omitted;
  int32_t *first_reader; /* of each node, as Reader.next */
  Reader *readers;
  int64_t num_readers;
  int32_t *queue; /* nodes that were left out, whose readers are still to be left out */
  int64_t num_queued;
  Status *status;
} Search;

static const char *unknown_in_value(const Search *search, const AttrValue *value);

static const char *unknown_in_function(const Search *search, const NameAttrList *function) {
  const char *unknown = string_map_find(&search->lacking, function->name);
  for (size_t i = 0; !unknown && i < function->n_attr; i++)
    unknown = unknown_in_value(search, function->attr[i]->value);
  return unknown;
}

/* The depth of values is bounded by that of parsed messages. */
static const char *unknown_in_value(const Search *search, const AttrValue *value) {
  const char *unknown = NULL;
  if (!value) return NULL;
  if (value->value_case == (int)ATTR_FUNC && value->func) return unknown_in_function(search, value->func);
  const AttrListValue *list = value->value_case == (int)ATTR_LIST ? value->list : NULL;
  for (size_t i = 0; list && !unknown && i < list->n_func; i++)
    unknown = unknown_in_function(search, list->func[i]);
  return unknown;
}

/* The unknown op that a node needs, itself or through the functions that it names; NULL: none. */
static const char *unknown_in_node(const Search *search, const NodeDef *node) {
  if (!string_map_contains(&search->functions, node->op) && !op_registry_find(search->ops, node->op))
    return node->op;
  const char *unknown = string_map_find(&search->lacking, node->op);
  for (size_t i = 0; !unknown && i < node->n_attr; i++)
    unknown = unknown_in_value(search, node->attr[i]->value);
  return unknown;
}

static bool search_function(Search *search, const FunctionDef *function, bool *changed) {
  const char *name = function->signature->name, *unknown = NULL;
  if (string_map_contains(&search->lacking, name)) return true;
  for (size_t i = 0; !unknown && i < function->n_node_def; i++)
    unknown = unknown_in_node(search, function->node_def[i]);
  if (!unknown) return true;
  *changed = true;
  return string_map_set(&search->lacking, name, (void *)unknown, search->status);
}

static bool search_functions(Search *search) {
  const FunctionDefLibrary *library = search->whole->library;
  size_t count = library ? library->n_function : 0;
  for (size_t i = 0; i < count; i++) {
    const FunctionDef *function = library->function[i];
    if (!function->signature) return status_invalid(search->status, "A function has no signature");
    TRY(string_map_set(&search->functions, function->signature->name, (void *)function, search->status));
  }
  for (bool changed = count > 0; changed;) {
    changed = false;
    for (size_t i = 0; i < count; i++) TRY(search_function(search, library->function[i], &changed));
  }
  return true;
}

static bool omit(Search *search, int64_t node, const char *unknown) {
  const char *name = search->whole->node[node]->name;
  if (string_map_contains(search->omitted, name)) return true;
  search->queue[search->num_queued++] = (int32_t)node;
  return string_map_set(search->omitted, name, (void *)unknown, search->status);
}

static void add_readers(Search *search, int64_t node) {
  const NodeDef *def = search->whole->node[node];
  for (size_t i = 0; i < def->n_input; i++) {
    Str name;
    int output;
    if (!node_parse_input(def->input[i], &name, &output)) continue; /* the import reports it */
    intptr_t from = (intptr_t)string_map_find_bytes(&search->nodes, name.data, name.length);
    if (from == 0) continue;
    search->readers[search->num_readers] = (Reader){(int32_t)node, search->first_reader[from - 1]};
    search->first_reader[from - 1] = (int32_t)search->num_readers++;
  }
}

static bool index_nodes(Search *search, Arena *arena) {
  int64_t count = (int64_t)search->whole->n_node, inputs = 0;
  for (int64_t i = 0; i < count; i++) inputs += (int64_t)search->whole->node[i]->n_input;
  if (inputs > INT32_MAX || count > INT32_MAX)
    return status_invalid(search->status, "The graph has too many nodes");
  search->first_reader = arena_calloc(arena, count, sizeof *search->first_reader);
  search->readers = arena_calloc(arena, inputs, sizeof *search->readers);
  search->queue = arena_calloc(arena, count, sizeof *search->queue);
  if (!search->first_reader || !search->readers || !search->queue)
    return status_oom(search->status, "a graph");
  for (int64_t i = 0; i < count; i++) {
    search->first_reader[i] = -1;
    TRY(string_map_set(&search->nodes, search->whole->node[i]->name, (void *)(intptr_t)(i + 1),
                       search->status));
  }
  for (int64_t i = 0; i < count; i++) add_readers(search, i);
  return true;
}

static bool omit_nodes(Search *search) {
  for (size_t i = 0; i < search->whole->n_node; i++) {
    const char *unknown = unknown_in_node(search, search->whole->node[i]);
    if (unknown) TRY(omit(search, (int64_t)i, unknown));
  }
  for (int64_t next = 0; next < search->num_queued; next++) {
    int32_t node = search->queue[next];
    const char *unknown = string_map_find(search->omitted, search->whole->node[node]->name);
    for (int32_t i = search->first_reader[node]; i >= 0; i = search->readers[i].next)
      TRY(omit(search, search->readers[i].node, unknown));
  }
  return true;
}

static bool take_rest(const Search *search, Arena *arena, GraphDef **part) {
  GraphDef *graph = arena_alloc(arena, sizeof *graph);
  NodeDef **nodes = arena_calloc(arena, (int64_t)search->whole->n_node, sizeof *nodes);
  if (!graph || !nodes) return status_oom(search->status, "a graph");
  *graph = *search->whole;
  graph->node = nodes;
  graph->n_node = 0;
  for (size_t i = 0; i < search->whole->n_node; i++) {
    NodeDef *node = search->whole->node[i];
    if (!string_map_contains(search->omitted, node->name)) nodes[graph->n_node++] = node;
  }
  *part = graph;
  return true;
}

bool saved_model_known_part(const GraphDef *whole, OpRegistry *ops, Arena *arena, SavedModelPart *part,
                            Status *status) {
  *part = (SavedModelPart){0};
  Search search = {.whole = whole, .ops = ops, .omitted = &part->omitted, .status = status};
  bool ok = search_functions(&search) && index_nodes(&search, arena) && omit_nodes(&search) &&
            take_rest(&search, arena, &part->graph);
  string_map_free(&search.functions);
  string_map_free(&search.lacking);
  string_map_free(&search.nodes);
  if (!ok) string_map_free(&part->omitted);
  return ok;
}
