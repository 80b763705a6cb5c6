#include "gradient/gradient_site.h"

#include <string.h>

#include "base/alloc.h"

static bool oom(const GradientSite *site) { return status_oom(site->status, "gradients"); }

bool gradient_site_init(GradientSite *site, Graph *graph, Status *status) {
  *site = (GradientSite){.graph = graph, .status = status, .arena = arena_new()};
  return (site->arena && graph && condition_finder_init(&site->conditions, graph, status)) || oom(site);
}

void gradient_site_clear(GradientSite *site) {
  condition_finder_clear(&site->conditions);
  mem_free(site->forward);
  arena_free(site->arena);
  *site = (GradientSite){0};
}

static bool know_ids(GradientSite *site) {
  int64_t ids = graph_num_node_ids(site->graph), known = site->num_forward;
  if (ids == known) return true;
  if (!mem_grow((void **)&site->forward, &site->forward_capacity, ids, 1)) return oom(site);
  memset(site->forward + known, 0, (size_t)(ids - known));
  site->num_forward = ids;
  return true;
}

bool gradient_site_add_forward(GradientSite *site, int64_t first_id) {
  TRY(know_ids(site));
  for (int64_t id = first_id; id < site->num_forward; id++) site->forward[id] = 1;
  return true;
}

bool gradient_site_keep(GradientSite *site, const Node *node) {
  TRY(know_ids(site));
  site->forward[node->id] = 1;
  return true;
}

void gradient_site_remove(GradientSite *site, int64_t first_id, bool keep_forward) {
  for (int64_t id = graph_num_node_ids(site->graph); id > first_id; id--) {
    Node *node = graph_node(site->graph, id - 1);
    if (node && !(keep_forward && gradient_site_is_forward(site, id - 1)))
      graph_remove_node(site->graph, node);
  }
}

bool gradient_site_extend(GradientSite *site, Node *node, const NodeDef *def, const NodeOutput *more_inputs,
                          int num_more_inputs) {
  Extension *extension = arena_calloc(site->arena, 1, (int64_t)sizeof *extension);
  if (!extension) return oom(site);
  TRY(graph_extend_node(site->graph, node, def, more_inputs, num_more_inputs, &extension->before,
                        site->status));
  extension->previous = site->extensions;
  site->extensions = extension;
  return true;
}

void gradient_site_shrink(GradientSite *site, const Extension *last) {
  for (; site->extensions != last; site->extensions = site->extensions->previous)
    graph_shrink_node(site->graph, site->extensions->before);
}

bool gradient_site_conditions(GradientSite *site, NodeOutput value, const Conditions *within,
                              const Conditions **extra) {
  ConditionFinder *finder = &site->conditions;
  TRY(conditions_of(finder, value, extra));
  if ((*extra)->count == 0) return true;
  if (within) TRY(conditions_without(finder, *extra, within, extra));
  return !site->outside || conditions_without(finder, *extra, site->outside, extra);
}
