#include "placement/colocation.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* --- groups --- */

Member *colocation_root(const Colocation *colocation, const Node *node) {
  Member *members = colocation->members;
  int32_t id = node->id;
  while (members[id].parent != id) {
    members[id].parent = members[members[id].parent].parent;
    id = members[id].parent;
  }
  return &members[id];
}

/* What both groups ask for, into `into`; on error nothing is changed. A resource decides over those who use
 * it. */
static bool merge_requests(const Colocation *colocation, Member *into, const Member *other, Status *status) {
  DeviceName requested = into->requested, resource = into->resource;
  TRY(device_name_merge(&requested, &other->requested,
                        colocation->soft ? DEVICE_MERGE_SOFT : DEVICE_MERGE_STRICT, status));
  TRY(device_name_merge(&resource, &other->resource, DEVICE_MERGE_STRICT, status));
  TRY(device_name_merge(&requested, &resource, DEVICE_MERGE_OVERRIDE, status));
  into->requested = requested;
  into->resource = resource;
  return true;
}

/* Makes one group of two; on error they stay two. */
static bool join(const Colocation *colocation, Member *x, Member *y, Status *status) {
  if (x == y) return true;
  Member *root = x->rank < y->rank ? y : x, *joined = root == x ? y : x;
  TRY(merge_requests(colocation, root, joined, status));
  root->rank += root->rank == joined->rank;
  joined->parent = root->parent;
  return true;
}

/* --- what nodes ask for --- */

static bool malformed(const Node *node, Status *status) {
  StrBuf text = {0};
  node_print(node, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "Malformed device specification '%s' in node: %s", node->def->device,
                   strbuf_text(&text));
    node_attach_level(node->name, status);
  }
  strbuf_free(&text);
  return false;
}

/* A variable, or another node that makes a reference or a handle out of nothing. */
static bool makes_resource(const Node *node) {
  return node->num_inputs == 0 && node->num_outputs == 1 &&
         (dtype_is_ref(node->output_types[0]) || node->output_types[0] == DT_RESOURCE);
}

static bool add_member(const Node *node, Member *member, Status *status) {
  member->parent = node->id;
  if (!device_name_parse(str_of(node->def->device), &member->requested)) return malformed(node, status);
  member->resource = makes_resource(node) ? member->requested : device_name_any();
  return true;
}

/* --- edges that hold nodes together --- */

static bool holds_together(const Edge *edge) {
  DataType type = edge->dst->input_types[edge->dst_input];
  return dtype_is_ref(type) || type == DT_RESOURCE;
}

static bool different_resources(const Edge *edge, const Member *src, const Member *dst, Status *status) {
  StrBuf names = {0};
  device_name_print(&src->resource, &names);
  strbuf_append(&names, " vs ");
  device_name_print(&dst->resource, &names);
  if (strbuf_ok(&names, status)) {
    status_invalid(status,
                   "Cannot place the graph because a reference or resource edge connects colocation groups "
                   "with incompatible resource devices: %s. The edge src node is name='%s' (op='%s'), and "
                   "the dst node is name='%s' (op='%s').",
                   strbuf_text(&names), edge->src->name, edge->src->def->op, edge->dst->name,
                   edge->dst->def->op);
  }
  strbuf_free(&names);
  return false;
}

/* The source of the edge decides where the two differ. */
static bool join_edge(const Colocation *colocation, const Edge *edge, Status *status) {
  Member *src = colocation_root(colocation, edge->src), *dst = colocation_root(colocation, edge->dst);
  if (src == dst) return true;
  if (!device_name_compatible(&src->resource, &dst->resource))
    return different_resources(edge, src, dst, status);
  if (!device_name_compatible(&src->requested, &dst->requested)) {
    dst->requested = src->requested;
    device_name_override(&dst->requested, &dst->resource);
  }
  if (join(colocation, src, dst, status)) return true;
  return status_reword(status, CODE_INVALID_ARGUMENT,
                       "Nodes were connected by a reference or resource connection (requiring them to be on "
                       "the same device), but the two nodes were assigned two different devices: %s",
                       status->message);
}

static bool join_edges(const Colocation *colocation, Status *status) {
  Edge *const *edges;
  int64_t count;
  TRY(graph_edges((Graph *)colocation->graph, &edges, &count, status));
  for (int64_t i = 0; i < count; i++) {
    if (edges[i] && !edge_is_control(edges[i]) && holds_together(edges[i]))
      TRY(join_edge(colocation, edges[i], status));
  }
  return true;
}

/* --- colocation by names --- */

static bool join_group(const Colocation *colocation, StringMap *groups, const Node *node, Str name,
                       Status *status) {
  const Node *first = string_map_find_bytes(groups, name.data, name.length);
  if (!first) return string_map_set_bytes(groups, name.data, name.length, (void *)node, status);
  Status failure;
  status_init(&failure);
  if (join(colocation, colocation_root(colocation, node), colocation_root(colocation, first), &failure))
    return true;
  if (failure.code == CODE_RESOURCE_EXHAUSTED) {
    *status = failure;
    return false;
  }
  if (colocation->soft) return true;
  status_set(status, failure.code,
             "Cannot colocate nodes {{colocation_node %s}} and {{colocation_node %s}}: %s", node->name,
             first->name, failure.message);
  return node_attach_level(node->name, status);
}

/* Each node has the group of its name, and those that its attr `_class` names. */
static bool join_by_names(const Colocation *colocation, StringMap *groups, Status *status) {
  static const char kPrefix[] = "loc:@";
  int64_t ids = graph_num_node_ids(colocation->graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    const Node *node = graph_node(colocation->graph, id);
    if (!node) continue;
    const AttrValue *classes = node_def_attr(node->def, "_class");
    size_t count = classes && classes->list ? classes->list->n_s : 0;
    for (size_t i = 0; i < count; i++) {
      Str name = {(const char *)classes->list->s[i].data, classes->list->s[i].len};
      if (!str_starts_with(name, kPrefix)) continue;
      name = (Str){name.data + strlen(kPrefix), name.length - strlen(kPrefix)};
      TRY(join_group(colocation, groups, node, name, status));
    }
    TRY(join_group(colocation, groups, node, str_of(node->name), status));
  }
  return true;
}

bool colocate(const Graph *graph, const PlacerOptions *options, Arena *arena, Colocation *colocation,
              Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *colocation = (Colocation){.graph = graph, .soft = options->allow_soft_placement};
  colocation->members = arena_calloc(arena, ids, sizeof(Member));
  if (!colocation->members) return status_oom(status, "the placement of a graph");
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    const Node *node = graph_node(graph, id);
    if (node) TRY(add_member(node, &colocation->members[id], status));
  }
  TRY(join_edges(colocation, status));
  StringMap groups = {0};
  bool ok = join_by_names(colocation, &groups, status);
  string_map_free(&groups);
  return ok;
}

/* --- descriptions --- */

static int compare_ops(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void describe_ops(const char **ops, int64_t count, StrBuf *out) {
  qsort(ops, (size_t)count, sizeof *ops, compare_ops);
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || strcmp(ops[i], ops[i - 1]) != 0)
      strbuf_printf(out, "%s: " KERNEL_DEVICE_TYPE " \n", ops[i]);
  }
}

void colocation_describe(const Colocation *colocation, const Node *node, StrBuf *out) {
  const Member *root = colocation_root(colocation, node);
  int64_t ids = graph_num_node_ids(colocation->graph), count = 0;
  const char **ops = mem_alloc(ids * (int64_t)sizeof *ops);
  if (!ops) {
    out->failed = true;
    return;
  }
  StrBuf members = {0};
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    const Node *other = graph_node(colocation->graph, id);
    if (!other || colocation_root(colocation, other) != root) continue;
    ops[count++] = other->def->op;
    strbuf_printf(&members, "  %s (%s) %s\n", other->name, other->def->op, other->def->device);
  }
  strbuf_append(out,
                "\nColocation Debug Info:\nColocation group had the following types and supported devices: \n"
                "Root Member(assigned_device_name_index_=-1 requested_device_name_='");
  device_name_print(&root->requested, out);
  strbuf_append(out, "' assigned_device_name_='' resource_device_name_='");
  device_name_print(&root->resource, out);
  strbuf_append(out, "' supported_device_types_=[" KERNEL_DEVICE_TYPE "] possible_devices_=[]\n");
  describe_ops(ops, count, out);
  strbuf_printf(out,
                "\nColocation members, user-requested devices, and framework assigned devices, if any:\n%s",
                strbuf_text(&members));
  out->failed |= members.failed;
  strbuf_free(&members);
  mem_free(ops);
}
