/* Resolves the inputs of one node: maps, renames, checks and removes duplicates. */
#include <string.h>

#include "base/alloc.h"
#include "graph/import_internal.h"

static bool push(Import *import, Input input) {
  if (!mem_grow((void **)&import->inputs, &import->input_capacity, import->num_inputs + 1,
                sizeof *import->inputs)) {
    return status_oom(import->status, "an import");
  }
  import->inputs[import->num_inputs++] = input;
  return true;
}

/* Adds a control input from an existing node, unless the new node already has it. */
static bool push_existing_control(Import *import, Node *node) {
  if (node_entry(node)->visit == import->graph->visit) return true;
  node_entry(node)->visit = import->graph->visit;
  Input input = {node, -1, CONTROL_SLOT, NULL};
  TRY(graph_input_text(import->graph, node, CONTROL_SLOT, true, &input.text, import->status));
  return push(import, input);
}

static bool push_mapped(Import *import, MapEntry *entry) {
  entry->used = true;
  NodeOutput value = entry->value;
  if (value.index == CONTROL_SLOT) return push_existing_control(import, value.node);
  Input input = {value.node, -1, value.index, NULL};
  TRY(graph_input_text(import->graph, value.node, value.index, true, &input.text, import->status));
  return push(import, input);
}

/* The input's name in the new NodeDef: unchanged, prefixed, or explicit if the source was renamed. */
static bool imported_text(Import *import, const Input *input, const char *text, char **out) {
  Arena *arena = import->graph->arena;
  if (input->node && import->renamed[input->source]) {
    return graph_input_text(import->graph, input->node, input->index, true, out, import->status);
  }
  if (import->prefix[0]) {
    bool is_control = text[0] == '^';
    *out = arena_printf(arena, "%s%s%s", is_control ? "^" : "", import->prefix, text + is_control);
  } else if (input->node && strcmp(text, input->node->name) == 0) {
    *out = (char *)input->node->name; /* one string for all consumers */
  } else {
    *out = import->take ? (char *)text : arena_strdup(arena, text);
  }
  return *out || status_oom(import->status, "an input");
}

static bool push_imported(Import *import, int64_t i, InputRef ref, const char *text) {
  if (ref.index == CONTROL_SLOT) {
    if (import->seen[ref.source] == (int32_t)(i + 1)) return true;
    import->seen[ref.source] = (int32_t)(i + 1);
  }
  Input input = {import->nodes[ref.source], ref.source, ref.index, NULL};
  TRY(imported_text(import, &input, text, &input.text));
  return push(import, input);
}

/* A node that depends on an imported node waits for the control dependencies through it. */
static bool inherits_dependencies(const Import *import) {
  for (int64_t k = 0; k < import->num_inputs; k++) {
    if (import->inputs[k].source >= 0 && import->inputs[k].node) return true;
  }
  return false;
}

/* Checks that every source has the output. Messages call imported nodes by their names in the GraphDef: the
 * map of names keeps the order of insertion, which is that of the GraphDef. */
static bool check_outputs(Import *import, const NodeDef *def) {
  for (int64_t k = 0; k < import->num_inputs; k++) {
    const Input *input = &import->inputs[k];
    if (!input->node) {
      if (import_is_merge(def)) continue;
      return status_invalid(import->status,
                            "Node '%s' had a back edge, but only Merge nodes can have back edges.",
                            def->name);
    }
    if (input->index < input->node->num_outputs) continue;
    const char *source = input->node->name;
    if (input->source >= 0) source = import->names.entries[input->source].key;
    return status_invalid(import->status,
                          "Node '%s': Connecting to invalid output %d of source node %s which has %d "
                          "outputs.",
                          def->name, input->index, source, input->node->num_outputs);
  }
  return true;
}

bool import_collect_inputs(Import *import, int64_t i) {
  const NodeDef *def = import->def->node[i];
  import->num_inputs = 0;
  graph_new_visit(import->graph);
  for (size_t k = 0; k < def->n_input; k++) {
    InputRef ref = import->refs[import->first_ref[i] + (int64_t)k];
    if (ref.source < 0) {
      TRY(push_mapped(import, &import->map[-1 - ref.source]));
    } else {
      TRY(push_imported(import, i, ref, def->input[k]));
    }
  }
  if (!inherits_dependencies(import)) {
    for (int k = 0; k < import->options->num_control_dependencies; k++) {
      TRY(push_existing_control(import, import->options->control_dependencies[k]));
    }
  }
  return check_outputs(import, def);
}
