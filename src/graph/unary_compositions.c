#include "graph/unary_compositions.h"

#include <string.h>

#include "op/node_def.h"

static bool oom(Status *status) { return status_oom(status, "a GraphDef"); }

static bool is_composition(const NodeDef *node) { return strcmp(node->op, "_UnaryOpsComposition") == 0; }

/* The names of the ops. */
static bool ops_of(const NodeDef *node, const AttrListValue **names, Status *status) {
  TRY(node_attr_list(node, "op_names", ATTR_STRING, names, status));
  return (*names && (*names)->n_s > 0) || status_invalid(status, "{{node %s}} composes no ops", node->name);
}

/* Link `i` of the chain. The first one has the inputs of the whole node; the others read the one before. */
static bool make_link(const NodeDef *whole, const AttrListValue *names, size_t i, Arena *arena,
                      NodeDef **link, Status *status) {
  bool is_last = i + 1 == names->n_s;
  *link = proto_new(kNodeDef, arena);
  AttrEntry **attrs = arena_alloc(arena, sizeof *attrs);
  char **inputs = arena_alloc(arena, sizeof *inputs);
  if (!*link || !attrs || !inputs) return oom(status);
  **link = *whole;
  (*link)->name = is_last ? whole->name : arena_printf(arena, "%s/_%zu", whole->name, i);
  (*link)->op = arena_strndup(arena, (const char *)names->s[i].data, names->s[i].len);
  (*link)->attr = attrs;
  (*link)->n_attr = 0;
  for (size_t k = 0; k < whole->n_attr; k++) {
    if (strcmp(whole->attr[k]->key, "T") == 0) attrs[(*link)->n_attr++] = whole->attr[k];
  }
  if (i > 0) {
    inputs[0] = arena_printf(arena, "%s/_%zu", whole->name, i - 1);
    (*link)->input = inputs;
    (*link)->n_input = 1;
    if (!inputs[0]) return oom(status);
  }
  return ((*link)->name && (*link)->op) || oom(status);
}

bool expand_unary_compositions(GraphDef *def, Arena *arena, Status *status) {
  const AttrListValue *names;
  int64_t count = 0;
  bool any = false;
  for (size_t i = 0; i < def->n_node; i++) {
    bool is_whole = is_composition(def->node[i]);
    if (is_whole) TRY(ops_of(def->node[i], &names, status));
    count += is_whole ? (int64_t)names->n_s : 1;
    any = any || is_whole;
  }
  if (!any) return true;
  NodeDef **nodes = arena_alloc(arena, count * (int64_t)sizeof *nodes);
  if (!nodes) return oom(status);
  size_t made = 0;
  for (size_t i = 0; i < def->n_node; i++) {
    if (!is_composition(def->node[i])) {
      nodes[made++] = def->node[i];
      continue;
    }
    TRY(ops_of(def->node[i], &names, status));
    for (size_t k = 0; k < names->n_s; k++)
      TRY(make_link(def->node[i], names, k, arena, &nodes[made++], status));
  }
  def->node = nodes;
  def->n_node = made;
  return true;
}
