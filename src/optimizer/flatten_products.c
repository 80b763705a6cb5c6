#include "optimizer/flatten_products.h"

#include <string.h>

#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

/* Whether the attr is absent or false. */
static bool is_false(const Node *node, const char *name) {
  const AttrValue *value = node_def_attr(node->def, name);
  return !value || !value->b;
}

/* Whether the product is one of matrices; its rows are the rows of all matrices of input 0. */
static bool is_flat(const NodeSet *keep, const Node *node) {
  if (strcmp(node->def->op, "BatchMatMulV2") != 0 || node->output_types[0] != DT_FLOAT ||
      !optimizer_may_replace(keep, node))
    return false;
  ShapeHandle x = optimizer_edge_shape(node->inputs[0]), w = optimizer_edge_shape(node->inputs[1]);
  return x && w && shape_rank(x) > 2 && shape_rank(x) <= SHAPE_MAX_RANK && shape_rank(w) == 2 &&
         shape_fully_defined(w) && node_is_const(node->inputs[1]->src) && is_false(node, "adj_x");
}

/* The sizes of the result, of which one may be -1: unknown. */
static bool result_sizes(const Node *node, int32_t *sizes) {
  ShapeHandle x = optimizer_edge_shape(node->inputs[0]), w = optimizer_edge_shape(node->inputs[1]);
  bool adjoint = !is_false(node, "adj_y");
  int64_t rank = shape_rank(x), unknown = 0;
  DimHandle depth = x->dims[rank - 1];
  if (!dim_known(depth) || dim_value(depth) != dim_value(w->dims[adjoint]) || dim_value(depth) == 0)
    return false;
  for (int64_t i = 0; i < rank; i++) {
    DimHandle dim = i < rank - 1 ? x->dims[i] : w->dims[!adjoint];
    if (dim_known(dim) && (dim_value(dim) == 0 || dim_value(dim) > INT32_MAX)) return false;
    unknown += !dim_known(dim);
    sizes[i] = dim_known(dim) ? (int32_t)dim_value(dim) : -1;
  }
  return unknown <= 1;
}

typedef struct Flatten {
  Graph *graph;
  const Node *node; /* the BatchMatMulV2 */
  Status *status;
} Flatten;

static bool finish(const Flatten *f, NodeBuilder *b, Node **made) {
  node_builder_place_as(b, f->node);
  TRY(node_builder_finish_bare(b, made, f->status));
  return graph_infer_shapes(f->graph, *made, f->status);
}

static bool add_sizes(const Flatten *f, int rank, const int32_t *sizes, NodeOutput *made) {
  const int64_t count = rank;
  Tensor value = {0};
  TRY(tensor_allocate_dims(&value, DT_INT32, 1, &count, NULL, f->status));
  memcpy(value.data, sizes, sizeof *sizes * (size_t)rank);
  bool ok = optimizer_add_constant(f->graph, &value, f->node->inputs[1]->src, made, f->status);
  tensor_clear(&value);
  return ok;
}

static bool add_reshape(const Flatten *f, NodeOutput x, int rank, const int32_t *sizes, Node **made) {
  NodeOutput shape;
  TRY(add_sizes(f, rank, sizes, &shape));
  NodeBuilder b;
  node_builder(&b, f->graph, "Reshape", graph_new_free_name(f->graph, f->node->name));
  node_builder_type(&b, "T", DT_FLOAT);
  node_builder_type(&b, "Tshape", DT_INT32);
  node_builder_inputs(&b, (NodeOutput[]){x, shape}, 2);
  return finish(f, &b, made);
}

static bool add_product(const Flatten *f, Node *rows, Node **made) {
  const Edge *w = f->node->inputs[1];
  NodeBuilder b;
  node_builder(&b, f->graph, "MatMul", f->node->name);
  node_builder_type(&b, "T", DT_FLOAT);
  node_builder_attr(&b, "transpose_a", attr_value_bool(node_builder_arena(&b), false));
  node_builder_attr(&b, "transpose_b", attr_value_bool(node_builder_arena(&b), !is_false(f->node, "adj_y")));
  node_builder_inputs(&b, (NodeOutput[]){{rows, 0}, edge_value(w)}, 2);
  return finish(f, &b, made);
}

static bool flatten(const Flatten *f, const int32_t *sizes, Node **result) {
  const Edge *x = f->node->inputs[0];
  ShapeHandle shape = optimizer_edge_shape(x);
  int rank = (int)shape_rank(shape);
  const int32_t matrix[] = {-1, (int32_t)dim_value(shape->dims[rank - 1])};
  Node *rows, *product;
  return add_reshape(f, edge_value(x), 2, matrix, &rows) && add_product(f, rows, &product) &&
         add_reshape(f, (NodeOutput){product, 0}, rank, sizes, result);
}

bool graph_flatten_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *changed = false;
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id), *result;
    int32_t sizes[SHAPE_MAX_RANK];
    if (!node || !is_flat(keep, node) || !result_sizes(node, sizes)) continue;
    const Flatten f = {graph, node, status};
    TRY(flatten(&f, sizes, &result));
    TRY(optimizer_move_consumers(graph, node, &(NodeOutput){result, 0}, NULL, status));
    graph_remove_node(graph, node);
    *changed = true;
  }
  return true;
}
