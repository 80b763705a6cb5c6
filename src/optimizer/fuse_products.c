#include "optimizer/fuse_products.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/channel_terms.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"
#include "optimizer/product_ops.h"

typedef struct Fuse {
  Graph *graph;
  const NodeSet *keep;
  Arena *arena; /* of one product */
  Status *status;
  int64_t bytes; /* of the filters so far */
} Fuse;

static bool oom(const Fuse *f) { return status_oom(f->status, "fusing nodes"); }

/* --- products --- */

enum { MOST_PARTS = 16 };

/* A product, and what is fused with it. */
typedef struct Product {
  const ProductOp *op;
  Node *node;
  const Node *pad;         /* the Pad before it, or NULL; */
  int64_t padding[8];      /* its sizes; */
  const Node *expand;      /* the ExpandDims between them, or NULL */
  Node *parts[MOST_PARTS]; /* the product and what follows it */
  int num_parts;
  Node *reshape; /* the last of the parts that only reshape the product, or NULL */
  ChannelTerms terms;
  bool is_transposed; /* the filter has one row for each channel */
  NodeOutput bias;    /* that is no constant; node NULL: none */
  const char *activation;
} Product;

/* Whether the node is a product whose number of channels is known. */
static bool begin(const Fuse *f, Node *node, Product *p) {
  const ProductOp *op = product_op_of(node);
  if (!op || product_is_fused(op, node) || !optimizer_may_replace(f->keep, node) || node->num_inputs != 2 ||
      !node->inputs[0] || !node->inputs[1])
    return false;
  ShapeHandle shape = node->output_shapes[0];
  DataType type = node->output_types[0];
  bool is_matrix = optimizer_is_op(node, "MatMul");
  if (!shape || !shape_rank_known(shape) || (type != DT_FLOAT && (is_matrix || type != DT_DOUBLE)))
    return false;
  int32_t rank = shape_rank(shape), after = product_is_channels_first(node) ? 2 : 0;
  if (rank != (is_matrix ? 2 : 4) || !dim_known(shape->dims[rank - 1 - after])) return false;
  const AttrValue *transposed = node_def_attr(node->def, "transpose_b");
  *p = (Product){.op = op,
                 .node = node,
                 .parts = {node},
                 .num_parts = 1,
                 .is_transposed = transposed && transposed->b,
                 .terms = {.type = type,
                           .rank = rank,
                           .after = after,
                           .split = 1,
                           .channels = dim_value(shape->dims[rank - 1 - after])}};
  return p->terms.channels > 0;
}

/* --- what precedes --- */

/* Whether only `reader` uses the node, and may take over its work. */
static bool can_join(const Fuse *f, const Node *node, const Node *reader) {
  return optimizer_may_replace(f->keep, node) && optimizer_same_device(node, reader) &&
         node->num_out_edges == 1;
}

/* The sizes of the Pad, of whose result the product has the axis `added` more; -1: none. */
static bool read_pad(const Fuse *f, Product *p, const Node *pad, int32_t added) {
  const int64_t sizes = added < 0 ? 8 : 6;
  Tensor value = {0};
  bool fits;
  TRY(dead_values_constant(pad->inputs[1]->src, edge_value(pad->inputs[0]), &value, &fits, f->status));
  fits = fits && tensor_num_elements(&value) == sizes;
  for (int64_t i = 0; i < sizes && fits; i++) {
    int64_t size = tensor_int_at(&value, i), to = added >= 0 && i / 2 >= added ? i + 2 : i;
    p->padding[to] = size;
    fits = to < 2 || to > 5 ? size == 0 : size >= 0;
  }
  tensor_clear(&value);
  if (fits) p->pad = pad;
  return true;
}

/* The Pad whose zeros the product can add itself. */
static bool find_pad(const Fuse *f, Product *p) {
  const Node *reader = p->node, *pad = reader->inputs[0]->src;
  int32_t added = -1;
  if (optimizer_is_op(p->node, "MatMul") || product_is_channels_first(p->node) ||
      !optimizer_attr_is(p->node, "padding", "VALID"))
    return true;
  if (optimizer_is_op(pad, "ExpandDims") && can_join(f, pad, reader)) {
    TRY(optimizer_added_axis(pad, &added, f->status));
    if (added < 0) return true;
    reader = p->expand = pad;
    pad = pad->inputs[0]->src;
  }
  if (!optimizer_is_op(pad, "Pad") || pad->num_inputs != 2 || !can_join(f, pad, reader)) return true;
  return read_pad(f, p, pad, added);
}

/* --- what follows --- */

static Node *last_of(const Product *p) { return p->parts[p->num_parts - 1]; }

/* The node that alone reads the last one, and may be fused with it. */
static Node *next_of(const Fuse *f, const Product *p) {
  const Node *node = last_of(p);
  if (p->num_parts == MOST_PARTS || node->num_out_edges != 1 || edge_is_control(node->out_edges[0]))
    return NULL;
  Node *next = node->out_edges[0]->dst;
  bool joins = node->out_edges[0]->src_output == 0 && optimizer_may_replace(f->keep, next) &&
               optimizer_same_device(node, next);
  return joins ? next : NULL;
}

static bool is_const_filter(const Product *p) {
  const Edge *edge = p->node->inputs[1];
  return node_is_const(edge->src);
}

static const char *activation_of(const Node *node) {
  return optimizer_is_op(node, "Relu") ? "Relu" : optimizer_is_op(node, "Relu6") ? "Relu6" : NULL;
}

/* A vector with one element a channel that `node` adds to its input. */
static NodeOutput bias_of(const Product *p, const Node *node) {
  const NodeOutput none = {NULL, 0};
  int other = 1 - last_of(p)->out_edges[0]->dst_input;
  bool is_bias = optimizer_is_op(node, "BiasAdd") && other == 1 &&
                 product_is_channels_first(node) == (p->terms.after > 0);
  if (p->terms.split > 1 || (!is_bias && (!optimizer_is_op(node, "AddV2") || p->terms.after > 0)))
    return none;
  const Edge *edge = node->inputs[other];
  ShapeHandle shape = edge->src->output_shapes[edge->src_output];
  if (dtype_is_ref(edge->src->output_types[edge->src_output])) return none;
  if (!shape || !shape_rank_known(shape) || shape_rank(shape) != 1 || !dim_known(shape->dims[0])) return none;
  return dim_value(shape->dims[0]) == p->terms.channels ? edge_value(edge) : none;
}

/* The number of last dimensions that the channels become when the product is reshaped; 0: there is none. */
static int32_t split_of(const Product *p, ShapeHandle shape) {
  int64_t size = 1;
  if (!shape || !shape_rank_known(shape)) return 0;
  for (int32_t i = 1; i <= shape_rank(shape); i++) {
    DimHandle dim = shape->dims[shape_rank(shape) - i];
    if (!dim_known(dim) || dim_value(dim) < 1 || p->terms.channels % dim_value(dim) != 0) return 0;
    size *= dim_value(dim);
    if (size >= p->terms.channels) return size == p->terms.channels ? i : 0;
  }
  return 0;
}

/* The layers of networks multiply matrices with the rows of tensors of higher rank, and Conv1D adds an axis.
 */
static void find_reshapes(const Fuse *f, Product *p) {
  Node *next;
  int32_t split;
  while ((next = next_of(f, p)) && product_is_reshaped_by(p->node, next) &&
         last_of(p)->out_edges[0]->dst_input == 0 && (split = split_of(p, next->output_shapes[0]))) {
    p->parts[p->num_parts++] = p->reshape = next;
    p->terms.rank = shape_rank(next->output_shapes[0]);
    p->terms.split = split;
  }
}

/* Adds constant factors and terms, then a bias, then an activation. */
static bool find_following(Fuse *f, Product *p) {
  Node *next;
  bool is_part = true;
  find_reshapes(f, p);
  TRY(channel_terms_begin(&p->terms, f->arena, f->status));
  while ((next = next_of(f, p)) && is_part) {
    TRY(channel_terms_add(&p->terms, next, last_of(p)->out_edges[0]->dst_input, is_const_filter(p), &is_part,
                          f->status));
    if (is_part) p->parts[p->num_parts++] = next;
  }
  if (!p->terms.has_offset && next) {
    p->bias = bias_of(p, next);
    if (p->bias.node) p->parts[p->num_parts++] = next;
  }
  /* The list of the types of _FusedConv2D's arguments must not be empty. */
  next = p->bias.node || p->terms.has_offset ? next_of(f, p) : NULL;
  p->activation = next ? activation_of(next) : NULL;
  if (p->activation) p->parts[p->num_parts++] = next;
  if (last_of(p) == p->reshape) {
    p->num_parts = 1;
    p->reshape = NULL;
  }
  return true;
}

/* --- the fused node --- */

/* The filter with the factors of its channels. */
static bool scale_filter(Fuse *f, const Product *p, NodeOutput *filter) {
  const Node *node = filter->node;
  Tensor value = {0}, scaled = {0};
  bool is_known;
  TRY(optimizer_constant(node, &value, &is_known, f->status));
  bool ok = tensor_allocate_shared(&scaled, value.dtype, &value.shape, f->status);
  if (ok) {
    int64_t count = tensor_num_elements(&value);
    int64_t run = p->is_transposed && count > 0 ? count / p->terms.channels : 1;
    channel_terms_scale(&p->terms, &value, run, &scaled);
    f->bytes += tensor_bytes(&scaled);
    ok = optimizer_add_constant(f->graph, &scaled, node, filter, f->status);
  }
  tensor_clear(&value);
  tensor_clear(&scaled);
  return ok;
}

static bool add_bias(Fuse *f, const Product *p, NodeOutput *bias) {
  Tensor value = {0};
  bool ok = channel_terms_offset(&p->terms, &value, f->status) &&
            optimizer_add_constant(f->graph, &value, p->terms.constant, bias, f->status);
  tensor_clear(&value);
  return ok;
}

static void set_padding(const Product *p, NodeBuilder *b) {
  Arena *arena = node_builder_arena(b);
  node_builder_attr(b, "padding", attr_value_string(arena, "EXPLICIT", strlen("EXPLICIT")));
  node_builder_attr(b, "explicit_paddings", attr_value_int_list(arena, p->padding, 8));
}

static void set_fused_ops(const Product *p, NodeBuilder *b) {
  Str ops[2];
  size_t count = 0;
  ops[count++] = str_of("BiasAdd");
  if (p->activation) ops[count++] = str_of(p->activation);
  product_set_fused_ops(p->op, b, ops, count, p->terms.type, 1);
}

static bool add_fused(Fuse *f, const Product *p, Node **made) {
  NodeOutput inputs[3] = {edge_value(p->pad ? p->pad->inputs[0] : p->node->inputs[0]),
                          edge_value(p->node->inputs[1]), p->bias};
  if (p->pad && p->expand) {
    TRY(optimizer_copy_node(f->graph, p->expand, 0, inputs[0], &inputs[0].node, f->status));
    inputs[0].index = 0;
    TRY(graph_infer_leniently(f->graph, inputs[0].node, f->status));
  }
  if (p->terms.has_scale) TRY(scale_filter(f, p, &inputs[1]));
  if (p->terms.has_offset) TRY(add_bias(f, p, &inputs[2]));
  bool has_bias = inputs[2].node != NULL;
  NodeBuilder b;
  node_builder(&b, f->graph, has_bias ? p->op->fused : p->op->op, p->node->name);
  node_builder_place_as(&b, p->node);
  product_copy_attrs(p->op, p->node, p->pad ? "padding" : NULL, &b);
  if (p->pad) set_padding(p, &b);
  if (has_bias) set_fused_ops(p, &b);
  node_builder_inputs(&b, inputs, 2 + has_bias);
  TRY(node_builder_finish_bare(&b, made, f->status));
  (*made)->output_shapes[0] = p->reshape ? p->node->output_shapes[0] : last_of(p)->output_shapes[0];
  return true;
}

static bool fuse_product(Fuse *f, Product *p, bool *changed) {
  TRY(find_pad(f, p));
  TRY(find_following(f, p));
  if (p->num_parts == 1 && !p->pad) return true;
  if (p->terms.has_scale && f->bytes > FUSE_PRODUCTS_MOST_BYTES) return true;
  Node *made, *result;
  TRY(add_fused(f, p, &made));
  result = made;
  if (p->reshape) TRY(product_add_reshape(f->graph, made, p->reshape, &result, f->status));
  const Node *last = last_of(p);
  for (int32_t i = last->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = last->out_edges[i];
    TRY(graph_update_edge(f->graph, result, 0, edge->dst, edge->dst_input, f->status));
  }
  for (int i = p->num_parts - 1; i >= 0; i--) graph_remove_node(f->graph, p->parts[i]);
  if (p->pad) {
    graph_remove_node(f->graph, (Node *)p->expand);
    graph_remove_node(f->graph, (Node *)p->pad);
  }
  *changed = true;
  return true;
}

bool graph_fuse_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Fuse f = {.graph = graph, .keep = keep, .status = status};
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = 0; id < ids; id++) {
    Node *node = graph_node(graph, id);
    Product product;
    if (!node || !node->op || !begin(&f, node, &product)) continue;
    if (!(f.arena = arena_new())) return oom(&f);
    bool ok = fuse_product(&f, &product, changed);
    arena_free(f.arena);
    if (!ok) return false;
  }
  return true;
}
