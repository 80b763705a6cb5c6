/* The first half of an import: checks and indexes versions, names, the input map and every input, so that the
 * nodes can be made in one pass. Linear in the size of the GraphDef. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/import_internal.h"

bool import_is_merge(const NodeDef *def) { return node_class_of_op(def->op) == NODE_MERGE; }

bool import_is_next_iteration(const NodeDef *def) { return node_class_of_op(def->op) == NODE_NEXT_ITERATION; }

bool import_check_versions(const GraphDef *def, Status *status) {
  const VersionDef *versions = def->versions;
  if (!versions) return true;
  if (versions->producer < 0) {
    return status_invalid(status,
                          "GraphDef producer version %d below min producer 0 supported by TensorFlow %s.  "
                          "Please regenerate your "
                          "graph.",
                          versions->producer, TENSORFLOW_VERSION);
  }
  if (versions->min_consumer > GRAPH_DEF_PRODUCER) {
    return status_invalid(status,
                          "GraphDef min consumer version %d above current version %d for TensorFlow %s.  "
                          "Please upgrade "
                          "TensorFlow.",
                          versions->min_consumer, GRAPH_DEF_PRODUCER, TENSORFLOW_VERSION);
  }
  for (size_t i = 0; i < versions->n_bad_consumers; i++) {
    if (versions->bad_consumers[i] == GRAPH_DEF_PRODUCER) {
      return status_invalid(status,
                            "GraphDef disallows consumer version %d.  Please upgrade TensorFlow: this "
                            "version is likely "
                            "buggy.",
                            GRAPH_DEF_PRODUCER);
    }
  }
  return true;
}

/* --- names --- */

static bool has_valid_name(const Import *import, const NodeDef *def) {
  return import->options->internal_names ? node_name_is_valid_internal(def->name)
                                         : node_name_is_valid(def->name);
}

static bool check_node_def(Import *import, const NodeDef *def) {
  Status *status = import->status;
  if (!has_valid_name(import, def)) {
    return status_invalid(status, "Node '%s': Node name contains invalid characters", def->name);
  }
  if (!def->op[0]) return status_invalid(status, "Node '%s' does not specify an operation", def->name);
  bool in_controls = false;
  for (size_t i = 0; i < def->n_input; i++) {
    bool is_control = def->input[i][0] == '^';
    if (in_controls && !is_control) {
      return status_invalid(status, "Node '%s': Control dependencies must come after regular dependencies",
                            def->name);
    }
    in_controls |= is_control;
  }
  return true;
}

static bool add_prefixes(StringMap *prefixes, const char *name, Status *status) {
  for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
    TRY(string_map_set_bytes(prefixes, name, (size_t)(slash - name), (void *)name, status));
  }
  return true;
}

bool import_index_nodes(Import *import) {
  const GraphDef *def = import->def;
  Status *status = import->status;
  for (int64_t i = 0; i < import->count; i++) {
    const NodeDef *node = def->node[i];
    if (!has_valid_name(import, node)) return check_node_def(import, node);
    int64_t before = import->names.count;
    TRY(string_map_set(&import->names, node->name, (void *)(intptr_t)(i + 1), status));
    if (import->names.count == before) return status_invalid(status, "Node '%s' is not unique", node->name);
    TRY(check_node_def(import, node));
    if (import->options->uniquify_names || import->options->uniquify_prefix) {
      TRY(add_prefixes(&import->prefixes, node->name, status));
    }
  }
  return true;
}

bool import_name_in_def(const Import *import, const char *name) {
  return string_map_contains(&import->names, name) || string_map_contains(&import->prefixes, name);
}

/* The first of "name_1", "name_2", ... that neither the graph nor the GraphDef has; in the graph's arena. */
static char *free_prefix(Import *import, const char *name) {
  for (int64_t k = 1;; k++) {
    ArenaMark mark = arena_mark(import->graph->arena);
    char *candidate = arena_printf(import->graph->arena, "%s_%lld", name, (long long)k);
    if (!candidate ||
        (!graph_name_in_use(import->graph, candidate) && !import_name_in_def(import, candidate)))
      return candidate;
    arena_rollback(import->graph->arena, mark);
  }
}

/* The prefix without its slash, checked and made unique. */
static bool resolve_prefix(Import *import) {
  Graph *graph = import->graph;
  const char *given = import->options->prefix ? import->options->prefix : "";
  size_t length = strlen(given);
  import->prefix = arena_strdup(graph->arena, "");
  if (!import->prefix) return status_oom(import->status, "a prefix");
  if (length == 0) return true;
  if (given[length - 1] == '/') length--;
  char *name = arena_strndup(graph->arena, given, length);
  if (!name) return status_oom(import->status, "a prefix");
  if (!node_name_is_valid(name)) {
    return status_invalid(import->status, "Imported node name prefix '%s/' would lead to invalid node names",
                          name);
  }
  if (import->options->uniquify_prefix && graph_name_in_use(graph, name)) name = free_prefix(import, name);
  import->prefix = name ? arena_printf(graph->arena, "%s/", name) : NULL;
  return import->prefix || status_oom(import->status, "a prefix");
}

bool import_check_names(Import *import) {
  Graph *graph = import->graph;
  const char *device = import->options->default_device;
  if (device && device[0]) {
    import->default_device = arena_strdup(graph->arena, device);
    if (!import->default_device) return status_oom(import->status, "a device");
  }
  if (graph->num_nodes > 2) TRY(graph_index_prefixes(graph, import->status));
  TRY(resolve_prefix(import));
  if (graph->num_nodes <= 2 || import->options->uniquify_names) return true;
  for (int64_t i = 0; i < import->count; i++) {
    const char *name = import->def->node[i]->name;
    bool taken = graph_name_in_use(graph, name);
    if (import->prefix[0]) {
      /* The prefix may equal an existing scope, but not the name of a node. */
      ArenaMark mark = arena_mark(graph->arena);
      name = import_prefixed(import, name);
      if (!name) return status_oom(import->status, "a name");
      taken = graph_find_node(graph, name) != NULL;
      if (!taken) arena_rollback(graph->arena, mark);
    }
    if (taken) return status_invalid(import->status, "Node name '%s' already exists in the Graph", name);
  }
  return true;
}

/* --- input map --- */

MapEntry *import_find_mapped(const Import *import, const char *name, size_t length, int index) {
  if (import->map_names.count == 0) return NULL;
  int32_t i = (int32_t)(intptr_t)string_map_find_bytes(&import->map_names, name, length) - 1;
  while (i >= 0 && import->map[i].index != index) i = import->map[i].next;
  return i >= 0 ? &import->map[i] : NULL;
}

static void describe(const char *name, int length, int index, StrBuf *out) {
  if (index == CONTROL_SLOT) {
    strbuf_printf(out, "^%.*s", length, name);
  } else {
    strbuf_printf(out, "%.*s:%d", length, name, index);
  }
}

static bool map_error(Import *import, const MapEntry *entry, bool missing) {
  const char *value = entry->value.node ? entry->value.node->name : "";
  StrBuf text = {0};
  describe(entry->name.data, (int)entry->name.length, entry->index, &text);
  strbuf_append(&text, "->");
  describe(value, (int)strlen(value), entry->value.index, &text);
  if (missing) {
    if (strbuf_ok(&text, import->status)) {
      status_invalid(import->status, "node '%s' in input_map does not exist in graph (input_map entry: %s)",
                     value, strbuf_text(&text));
    }
  } else {
    if (strbuf_ok(&text, import->status)) {
      status_invalid(import->status, "input_map entry %s between control edge and non-control edge",
                     strbuf_text(&text));
    }
  }
  strbuf_free(&text);
  return false;
}

bool import_index_map(Import *import) {
  const ImportOptions *options = import->options;
  Status *status = import->status;
  import->map = mem_calloc(options->num_input_map, sizeof *import->map);
  if (!import->map) return status_oom(status, "an input map");
  for (int i = 0; i < options->num_input_map; i++) {
    const char *key = options->input_map_keys[i];
    MapEntry *entry = &import->map[i];
    if (!node_parse_input(key, &entry->name, &entry->index)) {
      return status_invalid(status, "'%s' in input_map does not name an output or a control input", key);
    }
    entry->value = options->input_map_values[i];
    Status ignored;
    status_init(&ignored);
    if (!graph_check_node(import->graph, entry->value.node, &ignored)) return map_error(import, entry, true);
    if (graph_name_is_ambiguous(import->graph, entry->value.node->name)) {
      return status_invalid(status, "cannot resolve input_map because multiple nodes exist with name '%s'",
                            entry->value.node->name);
    }
    if ((entry->index == CONTROL_SLOT) != (entry->value.index == CONTROL_SLOT))
      return map_error(import, entry, false);
    MapEntry *same = import_find_mapped(import, entry->name.data, entry->name.length, entry->index);
    if (same) {
      same->value = entry->value; /* the last one wins, as in any map */
      entry->used = true;
      continue;
    }
    entry->next =
        (int32_t)(intptr_t)string_map_find_bytes(&import->map_names, entry->name.data, entry->name.length) -
        1;
    TRY(string_map_set_bytes(&import->map_names, entry->name.data, entry->name.length,
                             (void *)(intptr_t)(i + 1), status));
  }
  for (int i = 0; i < options->num_control_dependencies; i++) {
    Node *node = options->control_dependencies[i];
    Status ignored;
    status_init(&ignored);
    if (!graph_check_node(import->graph, node, &ignored)) {
      return status_invalid(status, "node '%s' in control_dependencies does not exist in graph",
                            node ? node->name : "");
    }
    if (graph_name_is_ambiguous(import->graph, node->name)) {
      return status_invalid(status,
                            "cannot resolve control_dependencies because multiple nodes exist with name '%s'",
                            node->name);
    }
  }
  return true;
}

/* --- inputs --- */

static bool resolve_input(Import *import, const NodeDef *def, const char *input, InputRef *ref) {
  Str name;
  int index;
  if (node_parse_input(input, &name, &index)) {
    MapEntry *mapped = import_find_mapped(import, name.data, name.length, index);
    if (mapped) {
      *ref = (InputRef){-1 - (int32_t)(mapped - import->map), index};
      return true;
    }
    intptr_t found = (intptr_t)string_map_find_bytes(&import->names, name.data, name.length);
    if (found > 0) {
      *ref = (InputRef){(int32_t)(found - 1), index};
      return true;
    }
  }
  return status_invalid(import->status, "Node '%s': Unknown input node '%s'", def->name, input);
}

/* The number of inputs that must exist before the node is made. The Merge of a loop waits for one data input
 * only: the other comes over the loop's back edge. */
static int32_t count_pending(const Import *import, int64_t i) {
  const NodeDef *def = import->def->node[i];
  int32_t total = (int32_t)def->n_input, controls = 0, mapped = 0;
  bool is_loop = false, is_merge = import_is_merge(def);
  for (int64_t k = import->first_ref[i]; k < import->first_ref[i + 1]; k++) {
    InputRef ref = import->refs[k];
    controls += ref.index == CONTROL_SLOT;
    mapped += ref.source < 0;
    is_loop |= is_merge && ref.source >= 0 && ref.index != CONTROL_SLOT &&
               import_is_next_iteration(import->def->node[ref.source]);
  }
  int32_t pending = (is_loop ? controls + 1 : total) - mapped;
  return pending > 0 ? pending : 0;
}

static bool index_refs(Import *import) {
  const GraphDef *def = import->def;
  int64_t total = 0;
  import->first_ref = mem_alloc((import->count + 1) * (int64_t)sizeof *import->first_ref);
  if (!import->first_ref) return status_oom(import->status, "an import");
  for (int64_t i = 0; i < import->count; i++) {
    import->first_ref[i] = (int32_t)total;
    total += (int64_t)def->node[i]->n_input;
    if (total > INT32_MAX) return status_invalid(import->status, "GraphDef has too many inputs");
  }
  import->first_ref[import->count] = (int32_t)total;
  import->refs = mem_alloc(total * (int64_t)sizeof *import->refs);
  if (!import->refs) return status_oom(import->status, "an import");
  for (int64_t i = 0; i < import->count; i++) {
    for (size_t k = 0; k < def->node[i]->n_input; k++) {
      TRY(resolve_input(import, def->node[i], def->node[i]->input[k],
                        &import->refs[import->first_ref[i] + (int64_t)k]));
    }
  }
  return true;
}

/* Transposes the inputs to a list of consumers for each node. Counts are stored two entries after their node.
 * Summing makes them begins, one entry after; filling the lists then moves each begin to the entry of its
 * node. */
static bool index_consumers(Import *import) {
  int64_t n = import->count;
  int32_t *first = import->first_consumer = mem_calloc(n + 2, sizeof *first);
  if (!first) return status_oom(import->status, "an import");
  for (int64_t k = 0; k < import->first_ref[n]; k++) {
    if (import->refs[k].source >= 0) first[import->refs[k].source + 2]++;
  }
  for (int64_t i = 2; i <= n + 1; i++) first[i] += first[i - 1];
  import->consumers = mem_alloc(first[n + 1] * (int64_t)sizeof *import->consumers);
  if (!import->consumers) return status_oom(import->status, "an import");
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = import->first_ref[i]; k < import->first_ref[i + 1]; k++) {
      if (import->refs[k].source >= 0) import->consumers[first[import->refs[k].source + 1]++] = (int32_t)i;
    }
  }
  return true;
}

bool import_index_inputs(Import *import) {
  int64_t n = import->count;
  TRY(index_refs(import));
  TRY(index_consumers(import));
  import->pending = mem_alloc(n * (int64_t)sizeof *import->pending);
  import->nodes = mem_calloc(n, sizeof *import->nodes);
  import->seen = mem_calloc(n, sizeof *import->seen);
  import->renamed = mem_calloc(n, sizeof *import->renamed);
  if (!import->pending || !import->nodes || !import->seen || !import->renamed)
    return status_oom(import->status, "an import");
  TRY(id_set_init(&import->ready, n, import->status));
  for (int64_t i = 0; i < n; i++) {
    import->pending[i] = count_pending(import, i);
    if (import->pending[i] == 0) id_set_add(&import->ready, i);
  }
  return true;
}

void import_free_index(Import *import) {
  string_map_free(&import->names);
  string_map_free(&import->prefixes);
  string_map_free(&import->map_names);
  mem_free(import->map);
  mem_free(import->refs);
  mem_free(import->first_ref);
  mem_free(import->consumers);
  mem_free(import->first_consumer);
  mem_free(import->pending);
  mem_free(import->nodes);
  mem_free(import->seen);
  mem_free(import->renamed);
  mem_free(import->inputs);
  mem_free(import->back_edges);
  id_set_free(&import->ready);
}
