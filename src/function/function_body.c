#include "function/function_body.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text_internal.h"
#include "graph/graph_walk.h"
#include "graph/node_class.h"

static bool oom(Status *status) { return status_oom(status, "the body of a function"); }

/* --- from a graph --- */

/* -1 without the attr. */
static int64_t boundary_index(const Node *node) {
  const AttrValue *index = node_def_attr(node->def, "index");
  return !index ? -1 : index->i;
}

/* Whether it is an `_Arg` node (with `arg`) or a `_Retval` node. */
static bool is_one_of(const Node *node, bool arg) {
  return node && (arg ? node_is_arg(node) : node_is_retval(node));
}

/* The `_Arg` (with `arg`) or `_Retval` nodes of a graph, ordered by index. The caller frees the list. */
static bool collect(Graph *graph, bool arg, Node ***nodes, int *count, Status *status) {
  int64_t found = 0, ids = graph_num_node_ids(graph);
  for (int64_t id = 0; id < ids; id++) found += is_one_of(graph_node(graph, id), arg);
  Node **list = *nodes = mem_calloc(found, sizeof *list);
  if (!list) return oom(status);
  for (int64_t id = 0; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!is_one_of(node, arg)) continue;
    int64_t index = boundary_index(node);
    if (index < 0 || index >= found || list[index]) {
      return status_invalid(status, "The indexes of %s nodes are not 0 to %lld: {{node %s}} has %lld",
                            arg ? "_Arg" : "_Retval", (long long)found - 1, node->name, (long long)index);
    }
    list[index] = node;
  }
  *count = (int)found;
  return true;
}

static bool copy_nodes(Arena *arena, Node *const *nodes, int count, Node ***copy) {
  *copy = arena_alloc(arena, count * (int64_t)sizeof **copy);
  if (*copy && count > 0) memcpy(*copy, nodes, (size_t)count * sizeof **copy);
  return *copy != NULL;
}

static const DataType *list_types(Arena *arena, Node *const *nodes, int count) {
  DataType *types = arena_alloc(arena, count * (int64_t)sizeof *types);
  for (int i = 0; types && i < count; i++) {
    const AttrValue *type = node_def_attr(nodes[i]->def, "T");
    types[i] = !type ? DT_INVALID : (DataType)type->type;
  }
  return types;
}

bool function_body_of_nodes(const char *name, Graph *graph, Node *const *args, int num_args,
                            Node *const *rets, int num_rets, Node *const *control_rets, int num_control_rets,
                            FunctionBody **body, Status *status) {
  Arena *arena = graph_arena(graph);
  FunctionBody *made = mem_calloc(1, sizeof *made);
  if (!made) return oom(status);
  made->name = arena_strdup(arena, name);
  made->arg_types = list_types(arena, args, num_args);
  made->ret_types = list_types(arena, rets, num_rets);
  made->num_args = num_args;
  made->num_rets = num_rets;
  made->num_control_rets = num_control_rets;
  if (made->name && made->arg_types && made->ret_types &&
      copy_nodes(arena, args, num_args, &made->arg_nodes) &&
      copy_nodes(arena, rets, num_rets, &made->ret_nodes) &&
      copy_nodes(arena, control_rets, num_control_rets, &made->control_ret_nodes)) {
    made->graph = graph;
    *body = made;
    return true;
  }
  mem_free(made);
  return oom(status);
}

bool function_body_of_graph(const char *name, Graph *graph, Node *const *control_rets, int num_control_rets,
                            FunctionBody **body, Status *status) {
  Node **args = NULL, **rets = NULL;
  int num_args, num_rets;
  bool ok = collect(graph, true, &args, &num_args, status) &&
            collect(graph, false, &rets, &num_rets, status) &&
            function_body_of_nodes(name, graph, args, num_args, rets, num_rets, control_rets,
                                   num_control_rets, body, status);
  mem_free(args);
  mem_free(rets);
  return ok;
}

/* --- pruning --- */

/* What a call must compute: arguments, results, control results and nodes with state. */
static Node **list_roots(const FunctionBody *body, int64_t *count, Status *status) {
  int64_t ids = graph_num_node_ids(body->graph);
  Node **roots = mem_calloc(ids + body->num_control_rets, sizeof *roots);
  *count = 0;
  if (!roots) {
    oom(status);
    return NULL;
  }
  for (int64_t id = 0; id < ids; id++) {
    Node *node = graph_node(body->graph, id);
    if (!node || !node->op) continue;
    if (node->op->def->is_stateful || node_is_boundary(node)) roots[(*count)++] = node;
  }
  for (int i = 0; i < body->num_control_rets; i++) roots[(*count)++] = body->control_ret_nodes[i];
  return roots;
}

bool function_body_prune(FunctionBody *body, Status *status) {
  int64_t count;
  Node **roots = list_roots(body, &count, status);
  if (!roots) return false;
  bool ok = graph_prune_for_reverse_reachability(body->graph, roots, count, NULL, status) &&
            graph_fixup_source_and_sink_edges(body->graph, NULL, status);
  mem_free(roots);
  return ok;
}

/* --- copying --- */

/* Finds the copy of each node: copies keep the order of ids. */
static void map_copies(const Graph *from, const Graph *to, Node **copies) {
  int64_t next = 0;
  for (int64_t id = 0; id < graph_num_node_ids(from); id++) {
    const Node *node = graph_node(from, id);
    if (node) copies[id] = graph_node(to, next++);
  }
}

bool function_body_copy(const FunctionBody *body, FunctionBody **copy, Status *status) {
  bool ok = false;
  int64_t ids = graph_num_node_ids(body->graph);
  Node **copies = mem_calloc(ids, sizeof *copies);
  Node **control_rets = mem_calloc(body->num_control_rets, sizeof *control_rets);
  Graph *graph = graph_new_body(graph_library(body->graph));
  if (!copies || !control_rets || !graph) {
    oom(status);
    goto done;
  }
  TRY_DONE(graph_copy(graph, body->graph, status));
  map_copies(body->graph, graph, copies);
  for (int i = 0; i < body->num_control_rets; i++) control_rets[i] = copies[body->control_ret_nodes[i]->id];
  TRY_DONE(graph_fixup_source_and_sink_edges(graph, NULL, status));
  ok = function_body_of_graph(body->name, graph, control_rets, body->num_control_rets, copy, status);
done:
  if (!ok) graph_free(graph);
  mem_free(copies);
  mem_free(control_rets);
  return ok;
}

/* Adds the nodes of `set` to an empty graph; `copies` has them by id. */
static bool share_nodes(const FunctionBody *body, Graph *graph, Node **copies, Status *status) {
  Arena *arena = arena_new();
  int64_t count;
  NodeSet set;
  Node **roots = !arena ? NULL : list_roots(body, &count, status);
  bool ok = roots && graph_reverse_reachable(body->graph, roots, count, NULL, 0, arena, &set, status) &&
            graph_set_versions(graph, graph_versions(body->graph), status) &&
            graph_share_nodes(graph, body->graph, &set, NULL, NULL, copies, status) &&
            graph_fixup_source_and_sink_edges(graph, NULL, status);
  if (!arena) oom(status);
  mem_free(roots);
  arena_free(arena);
  return ok;
}

bool function_body_share(const FunctionBody *body, FunctionBody **shared, Status *status) {
  Node **copies = mem_calloc(graph_num_node_ids(body->graph), sizeof *copies);
  Node **control_rets = mem_calloc(body->num_control_rets, sizeof *control_rets);
  Graph *graph = graph_new_body(graph_library(body->graph));
  bool ok = (copies && control_rets && graph) || oom(status);
  ok = ok && share_nodes(body, graph, copies, status);
  for (int i = 0; ok && i < body->num_control_rets; i++)
    control_rets[i] = copies[body->control_ret_nodes[i]->id];
  ok = ok && function_body_of_graph(body->name, graph, control_rets, body->num_control_rets, shared, status);
  if (!ok) graph_free(graph);
  mem_free(copies);
  mem_free(control_rets);
  return ok;
}

/* --- printing --- */

/* `numbered`: print the node's id instead of its name. */
static void print_node_name(const Node *node, bool numbered, StrBuf *out) {
  if (numbered) {
    strbuf_printf(out, "n%d", node->id);
  } else {
    strbuf_append(out, node->name);
  }
}

static void print_input(const Edge *edge, bool numbered, StrBuf *out) {
  if (!edge) return;
  print_node_name(edge->src, numbered, out);
  if (edge->src_output > 0) strbuf_printf(out, ":%d", edge->src_output);
}

static bool print_node(const Node *node, bool numbered, StrBuf *out, Status *status) {
  strbuf_append(out, "  ");
  print_node_name(node, numbered, out);
  strbuf_append(out, " = ");
  TRY(op_print(node->def, false, out, status));
  strbuf_append_char(out, '(');
  for (int i = 0; i < node->num_inputs; i++) {
    if (i > 0) strbuf_append(out, ", ");
    print_input(node->inputs[i], numbered, out);
  }
  strbuf_append_char(out, ')');
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    strbuf_append(out, i == 0 ? " @ " : ", ");
    print_node_name(node->control_inputs[i]->src, numbered, out);
  }
  strbuf_append_char(out, '\n');
  return true;
}

static void print_header(Node *const *args, int num_args, Node *const *rets, int num_rets, bool numbered,
                         StrBuf *out) {
  strbuf_append_char(out, '(');
  for (int i = 0; i < num_args; i++) {
    if (i > 0) strbuf_append(out, ", ");
    print_node_name(args[i], numbered, out);
    strbuf_printf(out, ":%s", dtype_name(args[i]->output_types[0]));
  }
  strbuf_append(out, ") -> (");
  for (int i = 0; i < num_rets; i++) {
    if (i > 0) strbuf_append(out, ", ");
    print_input(rets[i]->inputs[0], numbered, out);
    strbuf_printf(out, ":%s", dtype_name(rets[i]->input_types[0]));
  }
  strbuf_append(out, ") {\n");
}

bool function_body_print(const FunctionBody *body, StrBuf *out, Status *status) {
  strbuf_append_char(out, '\n');
  print_header(body->arg_nodes, body->num_args, body->ret_nodes, body->num_rets, false, out);
  for (int64_t id = 0; id < graph_num_node_ids(body->graph); id++) {
    const Node *node = graph_node(body->graph, id);
    if (!node || !node->op || node_is_boundary(node)) continue;
    TRY(print_node(node, false, out, status));
  }
  strbuf_append(out, "}\n");
  return strbuf_ok(out, status);
}

/* The nodes of a graph in the order in which they are printed. */
typedef struct Listing {
  Node **nodes, **args, **rets;
  int64_t num_nodes;
  int num_args, num_rets;
} Listing;

static void list_node(void *argument, Node *node) {
  Listing *listing = argument;
  if (!node->op) return;
  if (node_is_arg(node)) {
    listing->args[listing->num_args++] = node;
  } else if (node_is_retval(node)) {
    listing->rets[listing->num_rets++] = node;
  } else {
    listing->nodes[listing->num_nodes++] = node;
  }
}

static int compare_indexes(const void *a, const void *b) {
  const Node *x = *(Node *const *)a, *y = *(Node *const *)b;
  int64_t i = boundary_index(x), j = boundary_index(y);
  return i != j ? (i > j) - (i < j) : node_compare_ids(x, y);
}

bool graph_debug_print(const Graph *graph, StrBuf *out, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  Listing listing = {.nodes = mem_calloc(ids, sizeof(Node *)),
                     .args = mem_calloc(ids, sizeof(Node *)),
                     .rets = mem_calloc(ids, sizeof(Node *))};
  bool ok = (listing.nodes && listing.args && listing.rets) || oom(status);
  const Walk walk = {.leave = list_node, .argument = &listing};
  ok = ok && graph_reverse_dfs(graph, &walk, status);
  if (ok) {
    qsort(listing.args, (size_t)listing.num_args, sizeof(Node *), compare_indexes);
    qsort(listing.rets, (size_t)listing.num_rets, sizeof(Node *), compare_indexes);
    print_header(listing.args, listing.num_args, listing.rets, listing.num_rets, true, out);
  }
  for (int64_t i = 0; ok && i < listing.num_nodes; i++) ok = print_node(listing.nodes[i], true, out, status);
  if (ok) strbuf_append(out, "}\n");
  mem_free(listing.nodes);
  mem_free(listing.args);
  mem_free(listing.rets);
  return ok && strbuf_ok(out, status);
}
