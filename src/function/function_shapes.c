#include "function/function_shapes.h"

#include "function/function_internal.h"
#include "function/instantiate.h"

static bool oom(Status *status) { return status_oom(status, "the body of a function"); }

/* Control edges say nothing about shapes. */
static bool connect(Graph *graph, const InstantiationResult *body, Node *const *nodes, Status *status) {
  for (int i = body->num_args; i < body->num_nodes - body->num_rets; i++) {
    for (int j = 0; j < body->nodes[i].num_inputs; j++) {
      InstantiatedInput input = body->nodes[i].inputs[j];
      Edge *edge;
      TRY(graph_add_edge(graph, nodes[input.node], input.index, nodes[i], j, &edge, status));
    }
  }
  return true;
}

static bool fill(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs, int num_attrs,
                 GraphBody *out, Status *status) {
  Arena *arena = graph_arena(out->graph);
  const AttrEntry **own_attrs;
  InstantiationResult *body;
  TRY(attrs_copy(attrs, num_attrs, arena, &own_attrs, status));
  TRY(function_instantiate(library, function, own_attrs, num_attrs, arena, &body, status));
  int num_nodes = body->num_nodes - body->num_rets;
  Node **nodes = arena_calloc(arena, num_nodes, sizeof *nodes);
  out->results = arena_calloc(arena, body->num_rets, sizeof *out->results);
  if (nodes == NULL || out->results == NULL) return oom(status);
  for (int i = 0; i < num_nodes; i++) {
    NodeDef *def = body->nodes[i].def;
    if (i < body->num_args) {
      TRY(graph_add_arg(out->graph, def->name, body->arg_types[i], i, &nodes[i], status));
    } else {
      TRY(graph_add_node(out->graph, def, &nodes[i], status));
    }
  }
  TRY(connect(out->graph, body, nodes, status));
  for (int i = 0; i < body->num_rets; i++) {
    InstantiatedInput input = body->nodes[num_nodes + i].inputs[0];
    out->results[i] = (NodeOutput){nodes[input.node], input.index};
  }
  out->args = nodes;
  out->num_args = body->num_args;
  out->num_results = body->num_rets;
  return true;
}

bool function_make_shape_body(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                              int num_attrs, GraphBody *body, Status *status) {
  *body = (GraphBody){.graph = graph_new_body(library)};
  if (body->graph == NULL) return oom(status);
  if (fill(library, function, attrs, num_attrs, body, status)) return true;
  graph_free(body->graph);
  body->graph = NULL;
  return false;
}
