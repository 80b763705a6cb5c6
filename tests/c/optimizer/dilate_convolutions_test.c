/* Which convolutions of blocks become dilated ones, and that both compute the sums of the dilated windows. */
#include "optimizer/dilate_convolutions.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_walk.h"
#include "op/node_def.h"
#include "optimizer/graph_checker.h"
#include "optimizer/optimizer_internal.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

enum { MOST_CHANNELS = 6 };

/* A convolution of blocks: y = BatchToSpaceND(Relu(Conv2D(SpaceToBatchND(x)) + bias)). */
typedef struct Case {
  bool is_depthwise, channels_first;
  bool is_line;                     /* as Conv1D: x has no rows, and the convolution one */
  bool is_biased;                   /* with the bias and the Relu */
  int64_t batch, channels, outputs; /* of a depthwise convolution: for each channel */
  struct {
    int64_t size, filter, block, paddings[2], crops[2];
  } axis[2];   /* rows and columns */
  int64_t pad; /* zeros that a Pad adds before the columns of x */
} Case;

/* --- the graph --- */

static const char *shape_of(int rank, const int64_t *dims) {
  static char text[2][200];
  static int next;
  char *to = text[next++ % 2];
  strcpy(to, "shape {");
  for (int i = 0; i < rank; i++) snprintf(to + strlen(to), 40, " dim { size: %d }", (int)dims[i]);
  return strcat(to, " }");
}

static NodeOutput integers(Graph *graph, const char *name, int rank, const int64_t *dims,
                           const int64_t *values) {
  char text[400] = "tensor { dtype: DT_INT32 tensor_";
  int64_t count = 1;
  strcat(text, shape_of(rank, dims));
  for (int i = 0; i < rank; i++) count *= dims[i];
  for (int64_t i = 0; i < count; i++) snprintf(text + strlen(text), 40, " int_val: %d", (int)values[i]);
  strcat(text, " }");
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  return out(add_node(graph, "Const", name, NULL, 0, attrs, 2));
}

static int64_t outputs_of(const Case *c) { return c->is_depthwise ? c->channels * c->outputs : c->outputs; }

/* The dimensions of x, or of the results, in the format of the case. */
static int dims_of(const Case *c, const int64_t sizes[2], int64_t channels, int64_t *dims) {
  int rank = 0;
  dims[rank++] = c->batch;
  if (c->channels_first) dims[rank++] = channels;
  if (!c->is_line) dims[rank++] = sizes[0];
  dims[rank++] = sizes[1];
  if (!c->channels_first) dims[rank++] = channels;
  return rank;
}

/* Of an axis that becomes blocks. */
static int64_t padded_size(const Case *c, int k) {
  return (k == 1 ? c->pad : 0) + c->axis[k].size + c->axis[k].paddings[0] + c->axis[k].paddings[1];
}

static int64_t size_after(const Case *c, int k) {
  return padded_size(c, k) - c->axis[k].block * (c->axis[k].filter - 1) - c->axis[k].crops[0] -
         c->axis[k].crops[1];
}

static NodeOutput blocks_node(Graph *graph, const Case *c, bool splits, NodeOutput x) {
  int64_t block[3], margins[6], count = 0;
  if (c->channels_first) block[0] = 1, margins[0] = margins[1] = 0, count = 1;
  for (int k = c->is_line; k < 2; k++, count++) {
    const int64_t *from = splits ? c->axis[k].paddings : c->axis[k].crops;
    block[count] = c->axis[k].block;
    margins[2 * count] = from[0], margins[2 * count + 1] = from[1];
  }
  const char *name = graph_unique_name(graph, splits ? "split" : "join");
  char names[2][20];
  snprintf(names[0], 20, "%s/block", name), snprintf(names[1], 20, "%s/margins", name);
  NodeOutput inputs[] = {x, integers(graph, names[0], 1, &count, block),
                         integers(graph, names[1], 2, (int64_t[]){count, 2}, margins)};
  return out(add_node(graph, splits ? "SpaceToBatchND" : "BatchToSpaceND", name, inputs, 3, NULL, 0));
}

static NodeOutput window_product(Graph *graph, const Case *c, NodeOutput x) {
  int64_t dims[] = {c->axis[0].filter, c->axis[1].filter, c->channels, c->outputs};
  Attr attrs[] = {{"strides", "list { i: [1, 1, 1, 1] }"},
                  {"padding", "s: 'VALID'"},
                  {"data_format", c->channels_first ? "s: 'NCHW'" : "s: 'NHWC'"}};
  NodeOutput inputs[] = {x, placeholder(graph, graph_unique_name(graph, "w"), shape_of(4, dims))};
  return out(add_node(graph, c->is_depthwise ? "DepthwiseConv2dNative" : "Conv2D",
                      graph_unique_name(graph, "product"), inputs, 2, attrs, 3));
}

static NodeOutput add_bias(Graph *graph, const Case *c, NodeOutput x) {
  int64_t count = outputs_of(c);
  NodeOutput bias = placeholder(graph, "bias", shape_of(1, &count));
  if (c->channels_first) return unary(graph, "Neg", "negative", unary(graph, "Neg", "positive", x));
  return unary(graph, "Relu", "relu", binary(graph, "BiasAdd", "biased", x, bias));
}

static NodeOutput squeeze(Graph *graph, NodeOutput x, const char *axes) {
  return out(add_node(graph, "Squeeze", graph_unique_name(graph, "squeezed"), &x, 1,
                      (Attr[]){{"squeeze_dims", axes}}, 1));
}

/* The axis that a line gets: of rows. */
static int64_t row_axis(const Case *c) { return c->channels_first ? 2 : -3; }

static NodeOutput pad_columns(Graph *graph, const Case *c, NodeOutput x) {
  int64_t rank = c->is_line ? 3 : 4, sizes[8] = {0};
  sizes[2 * (rank - (c->channels_first ? 1 : 2))] = c->pad;
  return binary(graph, "Pad", "padded", x, integers(graph, "sizes", 2, (int64_t[]){rank, 2}, sizes));
}

/* From `x` on, which a node "end" reads. */
static NodeOutput add_blocks(Graph *graph, const Case *c, NodeOutput x) {
  int64_t row = row_axis(c);
  NodeOutput y = blocks_node(graph, c, true, c->pad > 0 ? pad_columns(graph, c, x) : x);
  if (c->is_line) y = binary(graph, "ExpandDims", "expanded", y, integers(graph, "row", 0, NULL, &row));
  y = window_product(graph, c, y);
  if (c->is_biased && c->batch % 2 == 0) y = add_bias(graph, c, y);
  if (c->is_line) y = squeeze(graph, y, c->channels_first ? "list { i: -2 }" : "list { i: 1 }");
  if (c->is_biased && c->batch % 2 == 1) y = add_bias(graph, c, y);
  return unary(graph, "Identity", "end", blocks_node(graph, c, false, y));
}

static NodeOutput add_case(Graph *graph, const Case *c) {
  int64_t dims[4], sizes[] = {c->axis[0].size, c->axis[1].size};
  int rank = dims_of(c, sizes, c->channels, dims);
  return add_blocks(graph, c, placeholder(graph, "x", shape_of(rank, dims)));
}

static bool dilate_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_dilate_convolutions(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

/* --- the values --- */

static int64_t below(uint32_t *random, int64_t limit) {
  *random = *random * 1664525u + 1013904223u;
  return (*random >> 8) % limit;
}

/* Such that the padded size has whole blocks, and that there are results. */
static void choose_axis(Case *c, int k, uint32_t *random) {
  do {
    c->axis[k].size = 1 + below(random, 12);
    c->axis[k].filter = 1 + below(random, 4);
    c->axis[k].block = 1 + below(random, 4);
    for (int i = 0; i < 2; i++) {
      c->axis[k].crops[i] = below(random, 3);
      c->axis[k].paddings[i] = c->axis[k].crops[i] + below(random, 4);
    }
    while (padded_size(c, k) % c->axis[k].block != 0) c->axis[k].paddings[1]++;
  } while (size_after(c, k) < 1);
}

static Case random_case(uint32_t *random) {
  Case c = {.is_depthwise = below(random, 3) == 0,
            .channels_first = below(random, 3) == 0,
            .is_line = below(random, 2) == 0,
            .is_biased = below(random, 2) == 0,
            .batch = 1 + below(random, 3),
            .channels = 1 + below(random, MOST_CHANNELS),
            .outputs = 1 + below(random, 3),
            .pad = below(random, 2) * below(random, 6)};
  for (int k = 0; k < 2; k++) choose_axis(&c, k, random);
  if (c.is_line) {
    c.axis[0].size = c.axis[0].filter = c.axis[0].block = 1;
    memset(c.axis[0].paddings, 0, sizeof c.axis[0].paddings);
    memset(c.axis[0].crops, 0, sizeof c.axis[0].crops);
  }
  return c;
}

/* The index of an element in the format of the case. */
static int64_t element_of(const Case *c, const int64_t sizes[2], int64_t channels, int64_t image, int64_t row,
                          int64_t column, int64_t channel) {
  return c->channels_first ? ((image * channels + channel) * sizes[0] + row) * sizes[1] + column
                           : ((image * sizes[0] + row) * sizes[1] + column) * channels + channel;
}

/* Result (row, column) is the sum for window (row + crop, column + crop) of the padded image. */
static double sum_of(const Case *c, const float *x, const float *w, int64_t image, int64_t row,
                     int64_t column, int64_t output) {
  const int64_t sizes[] = {c->axis[0].size, c->axis[1].size};
  double sum = 0;
  for (int64_t i = 0; i < c->axis[0].filter; i++) {
    for (int64_t j = 0; j < c->axis[1].filter; j++) {
      int64_t y = row + c->axis[0].crops[0] + i * c->axis[0].block - c->axis[0].paddings[0],
              z = column + c->axis[1].crops[0] + j * c->axis[1].block - c->axis[1].paddings[0] - c->pad;
      if (y < 0 || y >= sizes[0] || z < 0 || z >= sizes[1]) continue;
      for (int64_t k = 0; k < c->channels; k++) {
        if (c->is_depthwise && k != output / c->outputs) continue;
        int64_t tap = ((i * c->axis[1].filter + j) * c->channels + k) * c->outputs + output % c->outputs;
        sum += (double)x[element_of(c, sizes, c->channels, image, y, z, k)] * w[tap];
      }
    }
  }
  return sum;
}

static void check_sums(const Case *c, const float *x, const float *w, const float *bias, const Tensor *y) {
  int64_t dims[4], sizes[] = {size_after(c, 0), size_after(c, 1)}, outputs = outputs_of(c);
  int rank = dims_of(c, sizes, outputs, dims);
  REQUIRE(y->shape.rank == rank);
  for (int i = 0; i < rank; i++) CHECK_INT_EQ(shape_dim(&y->shape, i), dims[i]);
  int wrong = 0;
  for (int64_t i = 0; i < tensor_num_elements(y); i++) {
    int64_t o = i % outputs, column = i / outputs % sizes[1], line = i / outputs / sizes[1];
    double want = sum_of(c, x, w, line / sizes[0], line % sizes[0], column, o);
    if (c->is_biased && !c->channels_first) want = fmax(want + bias[o], 0);
    double got = tensor_f32(y)[element_of(c, sizes, outputs, line / sizes[0], line % sizes[0], column, o)];
    wrong += !(fabs(got - want) <= 1e-5);
  }
  CHECK_INT_EQ(wrong, 0);
}

static bool random_tensor(NodeOutput of, uint32_t *random, Tensor *tensor) {
  ShapeHandle shape = of.node->output_shapes[0];
  int64_t dims[4];
  float values[4096];
  for (int i = 0; i < shape_rank(shape); i++) dims[i] = dim_value(shape->dims[i]);
  for (int i = 0; i < 4096; i++) values[i] = (float)below(random, 1024) / 512 - 1;
  return float_tensor(tensor, shape_rank(shape), dims, values);
}

/* The result of "end" for these values of x, w and the bias. */
static bool run(Graph *graph, bool optimizes, const Tensor *values, Tensor *result) {
  Status status;
  status_init(&status);
  Session *session = session_new(graph, &status);
  NodeOutput feeds[3] = {{graph_find_node(graph, "x"), 0}, {graph_find_node(graph, "w"), 0}},
             end = {graph_find_node(graph, "end"), 0};
  const Tensor *fed[] = {&values[0], &values[1], &values[2]};
  int count = graph_find_node(graph, "bias") ? 3 : 2;
  if (count == 3) feeds[2].node = graph_find_node(graph, "bias");
  if (session) session_optimize(session, optimizes);
  bool ok = session &&
            CHECK_OK(session_run(session, feeds, fed, count, &end, result, 1, NULL, 0, &status), &status);
  session_free(session);
  return ok;
}

static void check_case(Graph *graph, const Case *c, uint32_t *random) {
  const char *const kFeeds[] = {"x", "w", "bias"};
  Tensor values[3] = {{0}};
  bool ok = true;
  for (int i = 0; i < 3; i++) {
    const Node *node = graph_find_node(graph, kFeeds[i]);
    if (node) ok = random_tensor((NodeOutput){(Node *)node, 0}, random, &values[i]) && ok;
  }
  for (int optimizes = 0; optimizes < 2 && ok; optimizes++) {
    Tensor result = {0};
    if (run(graph, optimizes, values, &result))
      check_sums(c, tensor_f32(&values[0]), tensor_f32(&values[1]),
                 c->is_biased ? tensor_f32(&values[2]) : NULL, &result);
    tensor_clear(&result);
  }
  for (int i = 0; i < 3; i++) tensor_clear(&values[i]);
}

static bool has_op(const Graph *graph, const char *op) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (node && strcmp(node->def->op, op) == 0) return true;
  }
  return false;
}

/* --- tests --- */

TEST(convolutions_of_blocks_are_sums_of_dilated_windows) {
  uint32_t random = 7;
  for (int i = 0; i < 300; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    Case c = random_case(&random);
    CHECK_CONTEXT("case %d", i);
    NodeOutput end = add_case(graph, &c);
    REQUIRE(end.node);
    check_case(graph, &c, &random);
    CHECK(dilate_with(graph, NULL));
    CHECK(!has_op(graph, "SpaceToBatchND") && !has_op(graph, "BatchToSpaceND"));
    ShapeHandle shape = end.node->inputs[0]->src->output_shapes[0];
    CHECK(optimizer_same_shape(shape, end.node->output_shapes[0]));
    check_case(graph, &c, &random);
    CHECK(!dilate_with(graph, NULL));
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

static const AttrListValue *list_of(const Node *node, const char *name) {
  const AttrValue *value = node_def_attr(node->def, name);
  return value ? value->list : NULL;
}

static void check_list(const Node *node, const char *name, const int64_t *want, size_t count) {
  const AttrListValue *list = list_of(node, name);
  if (!CHECK(list && list->n_i == count)) return;
  for (size_t i = 0; i < count; i++) CHECK_INT_EQ(list->i[i], want[i]);
}

/* 33 pixels with dilation 6 and as many results, as DeepLab has them: 33 + 6 + 9 = 8 * 6. */
static Case atrous(void) {
  return (Case){.batch = 1,
                .channels = 2,
                .outputs = 3,
                .axis = {{33, 3, 6, {6, 9}, {0, 3}}, {33, 3, 6, {6, 9}, {0, 3}}}};
}

/* 512 steps after 8 zeros, as a Pad adds them. */
static Case causal(void) {
  return (Case){.is_line = true,
                .batch = 1,
                .channels = 2,
                .outputs = 3,
                .axis = {{1, 1, 1, {0, 0}, {0, 0}}, {520, 3, 4, {0, 0}, {0, 0}}}};
}

TEST(crops_reduce_the_padding) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  const Case c = atrous();
  NodeOutput end = add_case(graph, &c);
  CHECK(dilate_with(graph, NULL));
  const Node *product = end.node->inputs[0]->src;
  CHECK_STR_EQ(product->name, "product");
  CHECK_STR_EQ(product->inputs[0]->src->name, "x");
  CHECK(optimizer_attr_is(product, "padding", "EXPLICIT"));
  check_list(product, "dilations", (int64_t[]){1, 6, 6, 1}, 4);
  check_list(product, "explicit_paddings", (int64_t[]){0, 0, 6, 6, 6, 6, 0, 0}, 8);
  graph_free(graph);
}

TEST(a_line_without_padding_stays_valid) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  const Case c = causal();
  NodeOutput end = add_case(graph, &c);
  CHECK(dilate_with(graph, NULL));
  const Node *squeezed = end.node->inputs[0]->src, *product = squeezed->inputs[0]->src,
             *expanded = product->inputs[0]->src;
  CHECK_STR_EQ(squeezed->name, "squeezed");
  CHECK_STR_EQ(expanded->name, "expanded");
  CHECK_STR_EQ(expanded->inputs[0]->src->name, "x");
  CHECK(optimizer_attr_is(product, "padding", "VALID"));
  check_list(product, "dilations", (int64_t[]){1, 1, 4, 1}, 4);
  graph_free(graph);
}

/* Values that are fetched, that others read or wait for, and nodes that wait; crops of x itself, two numbers
 * of blocks, and two devices. */
TEST(other_convolutions_of_blocks_stay) {
  enum { FETCHED, FETCHED_BLOCKS, READ_TWICE, WAITED_FOR, WAITS, LARGE_CROPS, OTHER_BLOCK, DEVICE, CASES };
  for (int i = 0; i < CASES; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    Case c = atrous();
    if (i == LARGE_CROPS) c.axis[0].crops[0] = 7;
    NodeOutput x = placeholder(graph, "x", shape_of(4, (int64_t[]){1, 33, 33, 2}));
    NodeOutput split = blocks_node(graph, &c, true, x), product = window_product(graph, &c, split);
    if (i == OTHER_BLOCK) c.axis[0].block = 3;
    NodeOutput join = blocks_node(graph, &c, false, product), end = unary(graph, "Neg", "end", join);
    REQUIRE(end.node);
    NodeSet keep;
    Edge *edge;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == FETCHED) keep.member[join.node->id] = 1;
    if (i == FETCHED_BLOCKS) keep.member[product.node->id] = 1;
    if (i == READ_TWICE) REQUIRE(unary(graph, "Neg", "reader", product).node);
    if (i == WAITED_FOR)
      CHECK_OK(graph_add_control_edge(graph, split.node, end.node, &edge, &status), &status);
    if (i == WAITS) CHECK_OK(graph_add_control_edge(graph, x.node, join.node, &edge, &status), &status);
    if (i == DEVICE) product.node->def->device = arena_strdup(arena, "/device:CPU:1");
    CHECK_CONTEXT("case %d", i);
    CHECK(!dilate_with(graph, &keep));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
    arena_free(arena);
  }
}

/* Axes 2 and 3 are blocked: the columns and the channels of the convolution. */
TEST(blocks_of_channels_stay) {
  for (int i = 0; i < 3; i++) {
    static const int64_t kBlocks[] = {6, 3, 1};
    Graph *graph = graph_new();
    REQUIRE(graph);
    Case c = atrous();
    c.channels_first = true;
    if (i == 1) memset(c.axis[1].paddings, 0, sizeof c.axis[1].paddings);
    c.axis[1].block = kBlocks[i];
    NodeOutput x = placeholder(graph, "x", shape_of(4, (int64_t[]){1, 33, 33, 3})),
               w = placeholder(graph, "w", shape_of(4, (int64_t[]){3, 3, -1, 3}));
    Attr attrs[] = {{"strides", "list { i: [1, 1, 1, 1] }"}, {"padding", "s: 'VALID'"}};
    NodeOutput inputs[] = {blocks_node(graph, &c, true, x), w};
    NodeOutput product = out(add_node(graph, "Conv2D", "product", inputs, 2, attrs, 2));
    if (i > 0) memset(c.axis[1].crops, 0, sizeof c.axis[1].crops);
    REQUIRE(unary(graph, "Neg", "end", blocks_node(graph, &c, false, product)).node);
    CHECK(!dilate_with(graph, NULL));
    graph_free(graph);
  }
}

/* Convolutions that are padded, dilated or have strides themselves. */
TEST(convolutions_with_other_attrs_stay) {
  static const char *const kAttrs[][3] =
      {{"list { i: [1, 1, 1, 1] }", "s: 'SAME'", "list { i: [1, 1, 1, 1] }"},
       {"list { i: [1, 2, 2, 1] }", "s: 'VALID'", "list { i: [1, 1, 1, 1] }"},
       {"list { i: [1, 1, 1, 1] }", "s: 'VALID'", "list { i: [1, 1, 2, 1] }"},
       {"list { i: [1, 1, 1, 1] }", "s: 'VALID'", "list { i: [1, 1, 1, 1] }"}};
  for (int i = 0; i < 4; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    const Case c = atrous();
    NodeOutput x = placeholder(graph, "x", shape_of(4, (int64_t[]){1, 33, 33, 2})),
               w = placeholder(graph, "w", shape_of(4, (int64_t[]){3, 3, 2, 3}));
    Attr attrs[] = {{"strides", kAttrs[i][0]}, {"padding", kAttrs[i][1]}, {"dilations", kAttrs[i][2]}};
    NodeOutput inputs[] = {blocks_node(graph, &c, true, x), w};
    NodeOutput product = out(add_node(graph, "Conv2D", "product", inputs, 2, attrs, 3));
    REQUIRE(unary(graph, "Neg", "end", blocks_node(graph, &c, false, product)).node);
    CHECK_CONTEXT("case %d", i);
    CHECK(dilate_with(graph, NULL) == (i == 3));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* Numbers that are fed, and a size that may not have whole blocks: SpaceToBatchND refuses it when it runs. */
TEST(unknown_numbers_and_sizes_stay) {
  for (int i = 0; i < 3; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    const Case c = causal();
    int64_t block = 4, crops[] = {0, 0}, one = 1, row = 1;
    NodeOutput x = placeholder(graph, "x", shape_of(3, (int64_t[]){-1, i == 1 ? -1 : 520, 2}));
    NodeOutput blocks = integers(graph, "block", 1, &one, &block),
               none = integers(graph, "none", 2, (int64_t[]){1, 2}, crops), fed = none;
    if (i == 2) {
      Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"shape", "shape { dim { size: 1 } dim { size: 2 } }"}};
      fed = out(add_node(graph, "Placeholder", "fed", NULL, 0, attrs, 2));
    }
    NodeOutput y =
        out(add_node(graph, "SpaceToBatchND", "split", (NodeOutput[]){x, blocks, fed}, 3, NULL, 0));
    y = binary(graph, "ExpandDims", "expanded", y, integers(graph, "row", 0, NULL, &row));
    y = squeeze(graph, window_product(graph, &c, y), "list { i: 1 }");
    y = out(add_node(graph, "BatchToSpaceND", "join", (NodeOutput[]){y, blocks, none}, 3, NULL, 0));
    REQUIRE(unary(graph, "Neg", "end", y).node);
    CHECK_CONTEXT("case %d", i);
    CHECK(dilate_with(graph, NULL) == (i == 0));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* A line whose axis stays, or is removed with others of size one, and a term for each position of a block. */
TEST(other_nodes_between_stay) {
  for (int i = 0; i < 4; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    Case c = causal();
    c.axis[0].block = 1;
    int64_t row = 1;
    NodeOutput x = placeholder(graph, "x", shape_of(3, (int64_t[]){1, 520, 2}));
    NodeOutput y = blocks_node(graph, &c, true, x);
    y = binary(graph, "ExpandDims", "expanded", y, integers(graph, "row", 0, NULL, &row));
    y = window_product(graph, &c, y);
    if (i != 0) y = squeeze(graph, y, i == 1 ? "list { }" : "list { i: 1 }");
    if (i == 2)
      y = binary(graph, "AddV2", "sum", y, placeholder(graph, "term", shape_of(3, (int64_t[]){1, 128, 1})));
    y = blocks_node(graph, &c, false, y);
    REQUIRE(unary(graph, "Neg", "end", y).node);
    CHECK_CONTEXT("case %d", i);
    CHECK(dilate_with(graph, NULL) == (i == 3));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* The two convolutions of a gated unit read the same blocks; so may others, which need them as they are. */
TEST(convolutions_may_share_the_blocks) {
  enum { TWO, ONE_IS_READ, BLOCKS_ARE_READ, EXPANDED_IS_READ, CASES };
  for (int i = 0; i < CASES; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    CHECK_CONTEXT("case %d", i);
    Case c = causal();
    int64_t row = 1;
    NodeOutput x = placeholder(graph, "x", shape_of(3, (int64_t[]){1, 520, 2})), y[2];
    NodeOutput blocks = blocks_node(graph, &c, true, x);
    NodeOutput expanded =
        binary(graph, "ExpandDims", "expanded", blocks, integers(graph, "row", 0, NULL, &row));
    for (int k = 0; k < 2; k++) {
      NodeOutput product = window_product(graph, &c, expanded);
      y[k] = blocks_node(graph, &c, false, squeeze(graph, product, "list { i: 1 }"));
      if (k == 1 && i == ONE_IS_READ) unary(graph, "Neg", "read", product);
    }
    if (i == BLOCKS_ARE_READ) unary(graph, "Neg", "read", blocks);
    if (i == EXPANDED_IS_READ) unary(graph, "Neg", "read", expanded);
    NodeOutput gated = binary(graph, "Mul", "gated", unary(graph, "Tanh", "tanh", y[0]),
                              unary(graph, "Sigmoid", "sigmoid", y[1]));
    REQUIRE(unary(graph, "Neg", "end", gated).node);
    CHECK(dilate_with(graph, NULL));
    CHECK_STR_EQ(gated.node->inputs[0]->src->inputs[0]->src->def->op, "Squeeze");
    CHECK(has_op(graph, "SpaceToBatchND") == (i != TWO));
    CHECK(has_op(graph, "BatchToSpaceND") == (i == ONE_IS_READ));
    CHECK(!dilate_with(graph, NULL));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

TEST(without_memory_a_convolution_of_blocks_computes_the_same) {
  Shortage shortage = {.what = "dilating convolutions"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    Case c = causal();
    c.axis[1].paddings[0] = 4;
    NodeOutput end = add_case(graph, &c);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_dilate_convolutions(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *read = end.node->inputs[0]->src;
    CHECK_STR_EQ(read->name, ok ? "squeezed" : "join");
    const Node *first = read;
    while (strcmp(first->name, "x") != 0 && CHECK(first->inputs[0])) first = first->inputs[0]->src;
    graph_free(graph);
  } while (shortage_next(&shortage));
}
