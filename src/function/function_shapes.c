#include "function/function_shapes.h"

#include "base/alloc.h"
#include "function/function_body.h"

bool function_make_shape_body(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                              int num_attrs, GraphBody *body, Status *status) {
  FunctionBody *made;
  TRY(function_body_new_without_shapes(library, function, attrs, num_attrs, &made, status));
  *body = (GraphBody){.graph = made->graph,
                      .args = made->arg_nodes,
                      .results = arena_calloc(graph_arena(made->graph), made->num_rets, sizeof(NodeOutput)),
                      .num_args = made->num_args,
                      .num_results = made->num_rets};
  if (!body->results) {
    function_body_free(made);
    body->graph = NULL;
    return status_oom(status, "the body of a function");
  }
  for (int i = 0; i < made->num_rets; i++) {
    const Edge *edge = made->ret_nodes[i]->inputs[0];
    body->results[i] = (NodeOutput){edge->src, edge->src_output};
  }
  mem_free(made); /* its graph lives on */
  return true;
}
