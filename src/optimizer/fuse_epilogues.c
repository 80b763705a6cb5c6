#include "optimizer/fuse_epilogues.h"

#include <string.h>

#include "graph/node_builder.h"
#include "op/fused_op.h"
#include "op/node_def.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"
#include "optimizer/product_ops.h"

typedef struct Fuse {
  Graph *graph;
  const NodeSet *keep;
  Status *status;
} Fuse;

/* --- the elementwise node --- */

/* What it computes: as a program of op/fused_op.h whose inputs are those of the node. */
typedef struct Elementwise {
  Node *node;
  DataType type;
  Str ops[FUSED_MOST_NODES];
  int num_ops;
  int64_t operands[FUSED_MOST_NODES * FUSED_MOST_OPERANDS];
  int num_operands;
} Elementwise;

static bool has_one_type(const Node *node, DataType type) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge || edge->src->output_types[edge->src_output] != type) return false;
  }
  return true;
}

/* A single node. */
static bool read_node(Elementwise *e) {
  const char *op = node_fused_op(e->node);
  if (!op || node_reduces_rows(e->node)) return false;
  e->ops[0] = str_of(op);
  e->num_ops = 1;
  e->num_operands = e->node->num_inputs;
  for (int i = 0; i < e->num_operands; i++) e->operands[i] = i;
  return true;
}

static const AttrListValue *list_of(const Node *node, const char *name) {
  const AttrValue *value = node_def_attr(node->def, name);
  return value ? value->list : NULL;
}

/* Whether operands are inputs or ops, and the result is that of the last op: given nodes may be malformed. */
static bool has_valid_numbers(const Elementwise *e) {
  const AttrListValue *results = list_of(e->node, "results");
  for (int i = 0; i < e->num_operands; i++) {
    if (e->operands[i] < 0 || e->operands[i] >= e->node->num_inputs + e->num_ops) return false;
  }
  return results && results->n_i == 1 && results->i[0] == e->num_ops - 1;
}

/* One that stands for several nodes. */
static bool read_program(Elementwise *e) {
  const AttrListValue *ops = list_of(e->node, "ops"), *types = list_of(e->node, "types"),
                      *operands = list_of(e->node, "operands");
  if (list_of(e->node, FUSED_PARTS)) return false;
  if (!ops || !types || !operands || ops->n_s > FUSED_MOST_NODES || types->n_type != ops->n_s ||
      operands->n_i > sizeof e->operands / sizeof *e->operands)
    return false;
  for (size_t i = 0; i < ops->n_s; i++) {
    static const char *const kReductions[] = {"Sum", "Mean", "Max", "Min"};
    e->ops[i] = (Str){(const char *)ops->s[i].data, ops->s[i].len};
    for (size_t k = 0; k < sizeof kReductions / sizeof *kReductions; k++) {
      if (str_equal_text(e->ops[i], kReductions[k])) return false;
    }
    if ((DataType)types->type[i] != e->type) return false;
  }
  e->num_ops = (int)ops->n_s;
  e->num_operands = (int)operands->n_i;
  memcpy(e->operands, operands->i, sizeof *e->operands * operands->n_i);
  return has_valid_numbers(e);
}

static bool read_elementwise(const Fuse *f, Node *node, Elementwise *e) {
  if (node->num_outputs != 1 || node->num_out_edges == 0 || !optimizer_may_replace(f->keep, node))
    return false;
  *e = (Elementwise){.node = node, .type = node->output_types[0]};
  if ((e->type != DT_FLOAT && e->type != DT_DOUBLE) || !has_one_type(node, e->type)) return false;
  return strcmp(node->def->op, FUSED_OP) == 0 ? read_program(e) : read_node(e);
}

/* --- the product --- */

typedef struct Product {
  const ProductOp *op;
  Node *node, *reshape; /* reshape: what reads the product, or NULL */
  int input;            /* of the elementwise node */
  int64_t channels;
  Str fused_ops[2];
  int num_fused_ops;
} Product;

static bool is_read_by(const Node *node, const Node *reader) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (node->out_edges[i]->dst != reader) return false;
  }
  return true;
}

/* Takes the fused ops of a product that already has some: those that it computes before it stores a result.
 */
static bool read_fused_ops(Product *p) {
  const AttrListValue *ops = list_of(p->node, "fused_ops");
  if (!product_is_fused(p->op, p->node)) return p->node->num_inputs == 2;
  if (!ops || ops->n_s < 1 || ops->n_s > 2 || p->node->num_inputs != 3) return false;
  for (size_t i = 0; i < ops->n_s; i++) {
    Str op = p->fused_ops[i] = (Str){(const char *)ops->s[i].data, ops->s[i].len};
    bool fits =
        i == 0 ? str_equal_text(op, "BiasAdd") : str_equal_text(op, "Relu") || str_equal_text(op, "Relu6");
    if (!fits) return false;
  }
  p->num_fused_ops = (int)ops->n_s;
  return true;
}

static bool is_free_before(const Fuse *f, const Node *node, const Node *reader) {
  return optimizer_may_replace(f->keep, node) && is_read_by(node, reader) &&
         optimizer_same_device(node, reader) && node->output_types[0] == reader->output_types[0];
}

/* Whether input `input` of the elementwise node is a product that fits. */
static bool read_product(const Fuse *f, const Elementwise *e, int input, Product *p) {
  const Edge *edge = e->node->inputs[input];
  *p = (Product){.node = edge->src, .input = input};
  ShapeHandle shape = edge->src->output_shapes[edge->src_output];
  if (edge->src_output != 0 || !optimizer_same_shape(shape, e->node->output_shapes[0])) return false;
  if (optimizer_is_op(p->node, "Reshape") || optimizer_is_op(p->node, "Squeeze")) {
    if (!is_free_before(f, p->node, e->node) || !p->node->inputs[0]) return false;
    p->reshape = p->node;
    p->node = p->reshape->inputs[0]->src;
  }
  if (!p->node->op || !(p->op = product_op_of(p->node))) return false;
  if (!is_free_before(f, p->node, p->reshape ? p->reshape : e->node)) return false;
  if (node_def_attr(p->node->def, FUSED_PROGRAM_OPS) || product_is_channels_first(p->node)) return false;
  bool is_matrix = strcmp(p->op->op, "MatMul") == 0;
  if (p->reshape && !product_is_reshaped_by(p->node, p->reshape)) return false;
  if ((is_matrix && e->type != DT_FLOAT) || shape_rank(shape) < 2) return false;
  ShapeHandle own = p->node->output_shapes[0];
  if (!own || !shape_rank_known(own) || shape_rank(own) < 2) return false;
  DimHandle last = own->dims[shape_rank(own) - 1];
  p->channels = dim_known(last) ? dim_value(last) : -1;
  return read_fused_ops(p);
}

/* --- the other inputs --- */

/* Whether there is one element, or one for each channel. */
static bool is_row(const Product *p, ShapeHandle shape, ShapeHandle result) {
  int64_t count = 1;
  if (!shape || !shape_fully_defined(shape) || shape_rank(shape) > shape_rank(result)) return false;
  for (int32_t i = 0; i < shape_rank(shape); i++) {
    if (dim_value(shape->dims[i]) != 1) count = i == shape_rank(shape) - 1 ? dim_value(shape->dims[i]) : -1;
    if (count < 0) return false;
  }
  DimHandle last = result->dims[shape_rank(result) - 1];
  return count == 1 || (count == p->channels && dim_known(last) && count == dim_value(last));
}

static bool inputs_fit(const Elementwise *e, const Product *p) {
  const Node *node = e->node;
  int args = p->node->num_inputs - 2 + node->num_inputs - 1;
  if (args > FUSED_MOST_ARGS) return false;
  /* The list of the types of _FusedConv2D's arguments must not be empty. */
  if (args == 0 && strcmp(p->op->op, "Conv2D") == 0) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    ShapeHandle shape = edge->src->output_shapes[edge->src_output];
    if (!optimizer_same_shape(shape, node->output_shapes[0]) && !is_row(p, shape, node->output_shapes[0]))
      return false;
  }
  return true;
}

/* --- the fused node --- */

/* The inputs of the product, then those of the elementwise node; `places` are these in the program. */
static int find_inputs(const Elementwise *e, const Product *p, NodeOutput *inputs, int64_t *places) {
  const Node *product = p->reshape ? p->reshape : p->node;
  int count = p->node->num_inputs, next = 1;
  for (int i = 0; i < count; i++) inputs[i] = edge_value(p->node->inputs[i]);
  for (int i = 0; i < e->node->num_inputs; i++) {
    const Edge *edge = e->node->inputs[i];
    places[i] = edge->src == product ? 0 : next++;
    if (places[i] > 0) inputs[count++] = edge_value(edge);
  }
  return count;
}

static void set_program(const Elementwise *e, const Product *p, const int64_t *places, int num_inputs,
                        NodeBuilder *b) {
  Str ops[2 + FUSED_MOST_NODES];
  int64_t operands[FUSED_MOST_NODES * FUSED_MOST_OPERANDS];
  int count = e->node->num_inputs, own = num_inputs - p->node->num_inputs + 1;
  memcpy(ops, p->fused_ops, sizeof *ops * (size_t)p->num_fused_ops);
  memcpy(ops + p->num_fused_ops, e->ops, sizeof *ops * (size_t)e->num_ops);
  for (int i = 0; i < e->num_operands; i++)
    operands[i] = e->operands[i] < count ? places[e->operands[i]] : e->operands[i] - count + own;
  product_set_fused_ops(p->op, b, ops, (size_t)(p->num_fused_ops + e->num_ops), e->type, num_inputs - 2);
  node_builder_attr(b, FUSED_OPERANDS,
                    attr_value_int_list(node_builder_arena(b), operands, (size_t)e->num_operands));
  node_builder_int(b, FUSED_PROGRAM_OPS, e->num_ops);
}

static bool add_fused(const Fuse *f, const Elementwise *e, const Product *p, Node **made) {
  NodeOutput inputs[2 + FUSED_MOST_ARGS + 1];
  int64_t places[FUSED_MOST_INPUTS];
  int count = find_inputs(e, p, inputs, places);
  NodeBuilder b;
  node_builder(&b, f->graph, p->op->fused, p->node->name);
  node_builder_place_as(&b, p->node);
  product_copy_attrs(p->op, p->node, NULL, &b);
  set_program(e, p, places, count, &b);
  node_builder_inputs(&b, inputs, count);
  TRY(node_builder_finish_bare(&b, made, f->status));
  (*made)->output_shapes[0] = p->node->output_shapes[0];
  return true;
}

static bool fuse(const Fuse *f, const Elementwise *e, const Product *p) {
  Node *made, *result;
  TRY(add_fused(f, e, p, &made));
  result = made;
  if (p->reshape) TRY(product_add_reshape(f->graph, made, p->reshape, &result, f->status));
  for (int32_t i = e->node->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = e->node->out_edges[i];
    TRY(graph_update_edge(f->graph, result, 0, edge->dst, edge->dst_input, f->status));
  }
  graph_remove_node(f->graph, e->node);
  if (p->reshape) graph_remove_node(f->graph, p->reshape);
  graph_remove_node(f->graph, p->node);
  return true;
}

bool graph_fuse_epilogues(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  const Fuse f = {.graph = graph, .keep = keep, .status = status};
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = 0; id < ids; id++) {
    Node *node = graph_node(graph, id);
    Elementwise e;
    if (!node || !node->op || !read_elementwise(&f, node, &e)) continue;
    for (int i = 0; i < node->num_inputs; i++) {
      Product product;
      if (!read_product(&f, &e, i, &product) || !inputs_fit(&e, &product)) continue;
      TRY(fuse(&f, &e, &product));
      *changed = true;
      break;
    }
  }
  return true;
}
