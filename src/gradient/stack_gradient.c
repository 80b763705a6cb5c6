#include "gradient/stack_gradient.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_class.h"

bool stack_gradient_is_push(const Node *node) { return strcmp(node->def->op, "StackPushV2") == 0; }
bool stack_gradient_is_pop(const Node *node) { return strcmp(node->def->op, "StackPopV2") == 0; }

typedef struct Connected {
  uint8_t *seen;
  Node **stack;
  int64_t top, capacity;
  Status *status;
} Connected;

static bool passes_handles(const Node *node) {
  return node_is_control_flow(node) || node_is_identity(node) || strcmp(node->def->op, "StackV2") == 0 ||
         stack_gradient_is_push(node) || stack_gradient_is_pop(node);
}

static bool is_of_handle(const Edge *edge) {
  return !edge_is_control(edge) && dtype_base(edge->src->output_types[edge->src_output]) == DT_RESOURCE;
}

static bool visit(Connected *c, Node *node) {
  if (c->seen[node->id] || !passes_handles(node)) return true;
  if (!mem_grow((void **)&c->stack, &c->capacity, c->top + 1, sizeof *c->stack))
    return status_oom(c->status, "gradients");
  c->seen[node->id] = 1;
  c->stack[c->top++] = node;
  return true;
}

static bool visit_neighbours(Connected *c, const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (edge && is_of_handle(edge)) TRY(visit(c, edge->src));
  }
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (is_of_handle(node->out_edges[i])) TRY(visit(c, node->out_edges[i]->dst));
  }
  return true;
}

bool stack_gradient_find_pops(Node *push, uint8_t *seen, void (*found)(void *argument, Node *pop),
                              void *argument, Status *status) {
  Connected c = {.seen = seen, .status = status};
  bool ok = visit(&c, push);
  while (ok && c.top > 0) {
    Node *node = c.stack[--c.top];
    if (stack_gradient_is_pop(node)) found(argument, node);
    ok = visit_neighbours(&c, node);
  }
  mem_free(c.stack);
  return ok;
}
