/* The second half of an import: makes the nodes, each after its inputs, the smallest index first. */
#include <string.h>

#include "base/alloc.h"
#include "graph/import_internal.h"

static const char kColocationAttr[] = "_class", kColocationPrefix[] = "loc:@",
                  kOutputShapesAttr[] = "_output_shapes";

/* --- colocation --- */

/* The node that entry `i` of a "_class" attr names; NULL when it names none. A Str, because bytes in messages
 * need not be NUL-terminated. */
static bool colocation_name(const AttrValue *attr, size_t i, Str *name) {
  Str text = {(const char *)attr->list->s[i].data, attr->list->s[i].len};
  if (!str_starts_with(text, kColocationPrefix)) return false;
  size_t skip = strlen(kColocationPrefix);
  *name = (Str){text.data + skip, text.length - skip};
  return true;
}

static const AttrValue *colocation_attr(const NodeDef *def) {
  const AttrValue *attr = node_def_attr(def, kColocationAttr);
  return attr && attr->value_case == (int)ATTR_LIST && attr->list ? attr : NULL;
}

static bool check_colocation(Import *import, const NodeDef *def) {
  const AttrValue *attr = import->options->skip_colocation_check ? NULL : colocation_attr(def);
  for (size_t i = 0; attr && i < attr->list->n_s; i++) {
    Str name;
    if (!colocation_name(attr, i, &name) || string_map_find_bytes(&import->names, name.data, name.length))
      continue;
    return status_invalid(import->status, "Node '%s' expects to be colocated with unknown node '%.*s'",
                          def->name, (int)name.length, name.data);
  }
  return true;
}

/* The current name of a node of the GraphDef. */
static const char *current_name(void *arg, Str name) {
  const Import *import = arg;
  intptr_t source = (intptr_t)string_map_find_bytes(&import->names, name.data, name.length);
  const Node *node = source > 0 ? import->nodes[source - 1] : NULL;
  return node ? node->name : NULL;
}

bool import_rename_colocation(Import *import) {
  if (import->prefix[0] == '\0' && !import->options->uniquify_names) return true;
  for (int64_t i = 0; i < import->count; i++) {
    if (!import->nodes[i]) continue;
    TRY(node_def_rename_colocation(import->nodes[i]->def, import->graph->arena, current_name, import,
                                   import->status));
  }
  return true;
}

/* --- names --- */

char *import_prefixed(Import *import, const char *name) {
  return arena_printf(import->graph->arena, "%s%s", import->prefix, name);
}

/* The first of base_1, base_2, ... that neither the graph nor the GraphDef has. */
static char *unique_name(Import *import, const char *base) {
  Graph *graph = import->graph;
  size_t prefix_length = strlen(import->prefix);
  for (intptr_t k = (intptr_t)string_map_find(&graph->suffixes, base) + 1;; k++) {
    ArenaMark mark = arena_mark(graph->arena);
    char *name = arena_printf(graph->arena, "%s_%lld", base, (long long)k);
    if (!name) return NULL;
    /* With a prefix, the GraphDef's own names will be prefixed too. */
    if (!graph_name_in_use(graph, name) && !import_name_in_def(import, name) &&
        !import_name_in_def(import, name + prefix_length)) {
      return name;
    }
    arena_rollback(graph->arena, mark);
  }
}

static bool final_name(Import *import, int64_t i, char **name) {
  const ImportOptions *options = import->options;
  const char *given = import->def->node[i]->name;
  if (import->prefix[0]) {
    *name = import_prefixed(import, given);
  } else {
    *name = import->take ? (char *)given : arena_strdup(import->graph->arena, given);
  }
  bool prefix_is_enough = import->prefix[0] && options->uniquify_prefix;
  if (*name && options->uniquify_names && !prefix_is_enough && graph_name_in_use(import->graph, *name)) {
    *name = unique_name(import, *name);
    import->renamed[i] = true;
  }
  return *name || status_oom(import->status, "a name");
}

/* --- one node --- */

/* The NodeDef that the graph keeps: the original, or a copy, with its new name, inputs and device. */
static bool make_def(Import *import, int64_t i, NodeDef **out) {
  Arena *arena = import->graph->arena;
  NodeDef *given = import->def->node[i], *def = given;
  char *name;
  TRY(final_name(import, i, &name));
  char **input = given->input;
  if (!import->take || import->num_inputs > (int64_t)given->n_input) {
    input = arena_alloc(arena, import->num_inputs * (int64_t)sizeof *input);
  }
  if (!import->take) {
    NodeDef head = *given;
    head.n_input = 0;
    head.input = NULL;
    head.name = name;
    def = proto_copy(&head, arena);
  }
  if (!def || (!input && import->num_inputs > 0)) return status_oom(import->status, "a node");
  for (int64_t k = 0; k < import->num_inputs; k++) input[k] = import->inputs[k].text;
  def->input = input;
  def->n_input = (size_t)import->num_inputs;
  def->name = name;
  if (import->default_device && !def->device[0]) def->device = import->default_device;
  *out = def;
  return true;
}

static bool add_back_edge(Import *import, BackEdge edge) {
  if (!mem_grow((void **)&import->back_edges, &import->back_edge_capacity, import->num_back_edges + 1,
                sizeof *import->back_edges)) {
    return status_oom(import->status, "an import");
  }
  import->back_edges[import->num_back_edges++] = edge;
  return true;
}

static Edge *fill_edge(Import *import, Edge *edge, Node *src, int output, Node *dst, int input) {
  *edge = (Edge){.id = (int32_t)(import->graph->next_edge_id + import->num_edges++),
                 .src = src,
                 .src_output = output,
                 .dst = dst,
                 .dst_input = input};
  if (input == CONTROL_SLOT) {
    dst->control_inputs[dst->num_control_inputs++] = edge;
  } else {
    dst->inputs[input] = edge;
  }
  return edge;
}

/* Makes the incoming edges. They are added to their sources at the end, when they can be counted. */
static bool make_edges(Import *import, Node *node) {
  Arena *arena = import->graph->arena;
  int64_t count = import->num_inputs, data = 0;
  while (data < count && import->inputs[data].index != CONTROL_SLOT) data++;
  int64_t controls = count - data;
  if (data != node->num_inputs) {
    return status_invalid(import->status, "Node '%s' has %lld inputs instead of %d", node->name,
                          (long long)data, node->num_inputs);
  }
  if (count == 0) return true;
  Edge *edges = arena_alloc(arena, count * (int64_t)sizeof *edges);
  if (controls > 0)
    node->control_inputs = arena_alloc(arena, controls * (int64_t)sizeof *node->control_inputs);
  if (!edges || (controls > 0 && !node->control_inputs)) return status_oom(import->status, "edges");
  node->control_input_capacity = (int32_t)controls;
  for (int64_t k = 0; k < count; k++) {
    const Input *input = &import->inputs[k];
    int slot = k < node->num_inputs ? (int)k : CONTROL_SLOT;
    if (!input->node) {
      TRY(add_back_edge(import, (BackEdge){input->source, input->index, node, slot, k}));
      continue;
    }
    if (slot != CONTROL_SLOT)
      TRY(graph_check_edge_types(input->node, input->index, node, slot, import->status));
    fill_edge(import, &edges[k], input->node, input->index, node, slot);
  }
  return true;
}

/* The GraphDef may refine the inferred shapes; a contradiction is an error. */
static bool merge_output_shapes(Import *import, Node *node) {
  NodeDef *def = node->def;
  size_t at = 0;
  while (at < def->n_attr && strcmp(def->attr[at]->key, kOutputShapesAttr) != 0) at++;
  if (at == def->n_attr) return true;
  const AttrValue *attr = def->attr[at]->value;
  if (!attr || attr->value_case != (int)ATTR_LIST || !attr->list ||
      attr->list->n_shape != (size_t)node->num_outputs)
    return true;
  for (int i = 0; i < node->num_outputs; i++) {
    Status status;
    status_init(&status);
    if (graph_merge_shape_proto(import->graph, node, i, attr->list->shape[i], &status)) continue;
    return status_set(import->status,
                      status.code == CODE_RESOURCE_EXHAUSTED ? status.code : CODE_INVALID_ARGUMENT,
                      "Node '%s' has an %s attribute inconsistent with the GraphDef for output #%d: %s",
                      node->name, kOutputShapesAttr, i, status.message);
  }
  memmove(&def->attr[at], &def->attr[at + 1], (def->n_attr - at - 1) * sizeof *def->attr);
  def->n_attr--;
  return true;
}

static bool convert_node(Import *import, int64_t i) {
  Graph *graph = import->graph;
  Status *status = import->status;
  const Op *op = NULL;
  NodeDef *def = NULL;
  Node *node = NULL;
  TRY(check_colocation(import, import->def->node[i]));
  TRY(import_collect_inputs(import, i));
  TRY(make_def(import, i, &def));
  TRY(graph_look_up_op(graph, def->op, &op, status));
  TRY(node_def_add_defaults(def, op->def, graph->arena, status));
  TRY(node_def_validate(def, op->def, status));
  TRY(op_def_check_deprecation(op->def, import->producer, status));
  TRY(graph_make_node(graph, def, op, &node, status));
  TRY(make_edges(import, node));
  node->id = (int32_t)(import->first_id + import->created);
  graph->nodes[node->id] = node;
  import->created++;
  import->nodes[i] = node;
  TRY(graph_infer_shapes(graph, node, status));
  return merge_output_shapes(import, node);
}

/* --- all nodes --- */

/* With skip_mapped_nodes: whether the input map replaces every output of the node. */
static bool is_fully_mapped(Import *import, const NodeDef *def, bool *mapped, Status *status) {
  const Op *op = NULL;
  Status found;
  *mapped = false;
  if (!import->options->skip_mapped_nodes || import->map_names.count == 0) return true;
  status_init(&found);
  bool known = graph_look_up_op(import->graph, def->op, &op, &found);
  GraphMark mark = graph_mark(import->graph);
  DataType *inputs, *outputs;
  int num_inputs, num_outputs = 0;
  *mapped = known &&
            node_def_types(def, op->def, import->graph->arena, &inputs, &num_inputs, &outputs, &num_outputs,
                           &found) &&
            num_outputs > 0;
  for (int k = 0; *mapped && k < num_outputs; k++)
    *mapped = import_find_mapped(import, def->name, strlen(def->name), k) != NULL;
  graph_rollback(import->graph, mark);
  /* Other errors in the node are reported when it is converted. */
  return found.code != CODE_RESOURCE_EXHAUSTED || status_set(status, found.code, "%s", found.message);
}

static void release_consumers(Import *import, int64_t i) {
  bool starts_back_edge = import_is_next_iteration(import->def->node[i]);
  for (int64_t k = import->first_consumer[i]; k < import->first_consumer[i + 1]; k++) {
    int32_t consumer = import->consumers[k];
    /* Back edges of loops were not counted. */
    if (starts_back_edge && import_is_merge(import->def->node[consumer])) continue;
    if (--import->pending[consumer] == 0) id_set_add(&import->ready, consumer);
  }
}

bool import_convert(Import *import) {
  for (int64_t i; (i = id_set_take_first(&import->ready)) >= 0;) {
    import->processed++;
    bool mapped;
    TRY(is_fully_mapped(import, import->def->node[i], &mapped, import->status));
    if (!mapped) TRY(convert_node(import, i));
    release_consumers(import, i);
  }
  if (import->processed == import->count) return true;
  return status_invalid(import->status, "%lld nodes in a cycle",
                        (long long)(import->count - import->processed));
}

bool import_back_edges(Import *import) {
  Graph *graph = import->graph;
  Status *status = import->status;
  for (int64_t k = 0; k < import->num_back_edges; k++) {
    BackEdge back = import->back_edges[k];
    Node *src = import->nodes[back.source];
    if (!src) {
      return status_invalid(status, "Node '%s' has an input from a node that was not imported",
                            back.dst->name);
    }
    if (back.output != CONTROL_SLOT) {
      if (back.output >= src->num_outputs) {
        return status_invalid(status, "Output %d of node %s does not exist. Node only has %d outputs.",
                              back.output, src->name, src->num_outputs);
      }
      TRY(graph_check_edge_types(src, back.output, back.dst, back.dst_input, status));
    }
    if (import->renamed[back.source]) {
      TRY(graph_input_text(graph, src, back.output, true, &back.dst->def->input[back.position], status));
    }
    Edge *edge = arena_alloc(graph->arena, sizeof *edge);
    if (!edge) return status_oom(status, "an edge");
    fill_edge(import, edge, src, back.output, back.dst, back.dst_input);
  }
  return true;
}
