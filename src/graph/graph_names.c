/* Names that are free: "a", else "a_1", "a_2", ... A name is taken by a node, and by the scope "a/" of other
 * nodes. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

bool graph_index_prefixes(Graph *graph, Status *status) {
  for (; graph->prefixes_until < graph->num_node_ids; graph->prefixes_until++) {
    Node *node = graph->nodes[graph->prefixes_until];
    if (!node) continue;
    for (const char *slash = strchr(node->name, '/'); slash; slash = strchr(slash + 1, '/')) {
      TRY(string_map_set_bytes(&graph->prefixes, node->name, (size_t)(slash - node->name), node, status));
    }
  }
  return true;
}

bool graph_name_in_use(const Graph *graph, const char *name) {
  return string_map_contains(&graph->names, name) || string_map_contains(&graph->prefixes, name);
}

const char *graph_unique_name(Graph *graph, const char *base) {
  Status status;
  status_init(&status);
  if (!graph_index_prefixes(graph, &status)) return NULL;
  if (!graph_name_in_use(graph, base)) return arena_strdup(graph->arena, base);
  /* What is known to be taken is not tried again: making n names from one base takes n steps. */
  intptr_t taken = (intptr_t)string_map_find(&graph->suffixes, base);
  size_t capacity = strlen(base) + 32;
  char *name = mem_alloc((int64_t)capacity);
  if (!name) return NULL;
  intptr_t suffix = taken;
  do {
    snprintf(name, capacity, "%s_%lld", base, (long long)++suffix);
  } while (graph_name_in_use(graph, name));
  const char *result = arena_strdup(graph->arena, name);
  mem_free(name);
  if (suffix - 1 > taken) {
    const char *key = arena_strdup(graph->arena, base);
    if (!key || !string_map_set(&graph->suffixes, key, (void *)(suffix - 1), &status)) return NULL;
  }
  return result;
}
