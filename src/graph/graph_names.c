/* Names: the node of a name, and free names: "a", else "a_1", "a_2", ... A name is in use if a node has it,
 * or if it is the scope "a/" of other nodes. */
#include <string.h>

#include "base/alloc.h"
#include "base/text_format.h"
#include "graph/graph_internal.h"

/* --- the nodes of a name --- */

bool graph_register_name(Graph *graph, Node *node, Status *status) {
  if (!string_map_contains(&graph->names, node->name))
    return string_map_set(&graph->names, node->name, node, status);
  int64_t *count = string_map_find(&graph->duplicates, node->name);
  if (!count) {
    count = arena_alloc(graph->arena, sizeof *count);
    if (!count) return status_oom(status, "the name of a node");
    TRY(string_map_set(&graph->duplicates, node->name, count, status));
    *count = 1;
  }
  ++*count;
  return true;
}

/* The node is the first of several with its name; from now on the name refers to the next one. */
static void pass_name_on(Graph *graph, const Node *node) {
  int64_t id = node->id + 1;
  while (!graph->nodes[id] || strcmp(graph->nodes[id]->name, node->name) != 0) id++;
  /* Searches without string_map_set, which may allocate. */
  StringMapEntry *entry = graph->names.entries;
  while (entry->value != node || !entry->key) entry++;
  entry->value = graph->nodes[id];
}

void graph_unregister_name(Graph *graph, Node *node) {
  int64_t *count = string_map_find(&graph->duplicates, node->name);
  if (count) {
    if (string_map_find(&graph->names, node->name) == node) pass_name_on(graph, node);
    if (--*count == 1) string_map_remove(&graph->duplicates, node->name);
  } else {
    string_map_remove(&graph->names, node->name);
  }
}

bool graph_name_is_ambiguous(const Graph *graph, const char *name) {
  return string_map_contains(&graph->duplicates, name);
}

bool graph_build_name_index(const Graph *graph, StringMap *index, Status *status) {
  for (int64_t id = 0; id < graph->num_node_ids; id++) {
    Node *node = graph->nodes[id];
    if (node) TRY(string_map_set(index, node->name, node, status));
  }
  return true;
}

const char *graph_new_name(Graph *graph, const char *prefix) {
  const char *name = arena_printf(graph->arena, "%s/_%lld", prefix, (long long)graph->name_counter);
  if (name) graph->name_counter++;
  return name;
}

const char *graph_new_free_name(Graph *graph, const char *prefix) {
  const char *name;
  do {
    name = graph_new_name(graph, prefix);
  } while (name && graph_find_node(graph, name));
  return name;
}

/* --- free names --- */

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

void graph_forget_free_names(Graph *graph, const char *removed) {
  string_map_free(&graph->suffixes);
  if (!strchr(removed, '/')) return;
  string_map_free(&graph->prefixes);
  graph->prefixes_until = 0;
}

const char *graph_unique_name(Graph *graph, const char *base) {
  Status status;
  status_init(&status);
  if (!graph_index_prefixes(graph, &status)) return NULL;
  if (!graph_name_in_use(graph, base)) return arena_strdup(graph->arena, base);
  /* Names known to be in use are not tried again, so making n names from one base takes n steps. */
  intptr_t taken = (intptr_t)string_map_find(&graph->suffixes, base);
  size_t capacity = strlen(base) + 32;
  char *name = mem_alloc((int64_t)capacity);
  if (!name) return NULL;
  intptr_t suffix = taken;
  do {
    text_format(name, capacity, "%s_%lld", base, (long long)++suffix);
  } while (graph_name_in_use(graph, name));
  const char *result = arena_strdup(graph->arena, name);
  mem_free(name);
  if (suffix - 1 > taken) {
    const char *key = arena_strdup(graph->arena, base);
    if (!key || !string_map_set(&graph->suffixes, key, (void *)(suffix - 1), &status)) return NULL;
  }
  return result;
}
