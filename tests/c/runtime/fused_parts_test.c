/* Fused nodes that read parts of rows (optimizer/fuse_parts.h) compute what the nodes compute one by one, bit
 * by bit. */
#include "optimizer/fuse_parts.h"

#include "op/fused_op.h"
#include "op/node_def.h"
#include "graph/graph_walk.h"
#include "optimizer/fuse_elementwise.h"
#include "optimizer/graph_checker.h"
#include "runtime/fused_steps.h"

enum { MOST_PARTS = 4, MOST_VALUES = 40, RANK = 3 };

typedef struct Parts {
  Random random;
  Fixture f;
  TestStep step;
  NodeOutput values[MOST_VALUES]; /* of the parts' shape, or such that they broadcast to it */
  int num_values;
  int64_t rows[RANK - 1], columns; /* of a part */
} Parts;

static NodeOutput ints(Graph *graph, int count, const int *values) {
  char text[256];
  int at = snprintf(text, sizeof text, "tensor { dtype: DT_INT32 tensor_shape { dim { size: %d } }", count);
  for (int i = 0; i < count; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, " int_val: %d", values[i]);
  snprintf(text + at, sizeof text - (size_t)at, " }");
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  return out(add_node(graph, "Const", graph_unique_name(graph, "ints"), NULL, 0, attrs, 2));
}

static NodeOutput int_scalar(Graph *graph, int value) {
  char text[128];
  snprintf(text, sizeof text, "tensor { dtype: DT_INT32 tensor_shape { } int_val: %d }", value);
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  return out(add_node(graph, "Const", graph_unique_name(graph, "int"), NULL, 0, attrs, 2));
}

static NodeOutput feed_value(Parts *p, const int64_t *dims) {
  TestStep *step = &p->step;
  char name[16], shape[128];
  snprintf(name, sizeof name, "x%d", step->num_feeds);
  snprintf(shape, sizeof shape, "shape { dim { size: %d } dim { size: %d } dim { size: %d } }", (int)dims[0],
           (int)dims[1], (int)dims[2]);
  Tensor *value = &step->values[step->num_feeds];
  CHECK_OK(tensor_allocate_dims(value, DT_FLOAT, RANK, dims, NULL, &p->f.status), p->f.status);
  for (int64_t i = 0; i < tensor_num_elements(value); i++)
    tensor_f32(value)[i] = (float)(random_below(&p->random, 2001) - 1000) / 256;
  NodeOutput x = placeholder(p->f.graph, name, shape);
  step->feeds[step->num_feeds++] = x;
  return x;
}

static void add_value(Parts *p, NodeOutput value) { p->values[p->num_values++] = value; }

/* All parts of a value, by one Split. */
static void split(Parts *p, NodeOutput z, int count) {
  char num[32];
  snprintf(num, sizeof num, "i: %d", count);
  int axis = one_in(&p->random, 2) ? -1 : RANK - 1;
  NodeOutput inputs[] = {int_scalar(p->f.graph, axis), z};
  Node *node = add_node(p->f.graph, "Split", "split", inputs, 2, (Attr[]){{"num_split", num}}, 1);
  REQUIRE(node);
  for (int i = 0; i < count; i++) add_value(p, (NodeOutput){node, i});
}

/* Parts of the columns that the others have, and of one column, by one SplitV. */
static void split_unequally(Parts *p, int count) {
  Graph *graph = p->f.graph;
  int sizes[MOST_PARTS];
  int64_t columns = 0;
  char num[32];
  snprintf(num, sizeof num, "i: %d", count);
  for (int i = 0; i < count; i++) {
    sizes[i] = i > 0 && one_in(&p->random, 3) ? 1 : (int)p->columns;
    columns += sizes[i];
  }
  NodeOutput z = feed_value(p, (int64_t[]){p->rows[0], p->rows[1], columns});
  NodeOutput inputs[] = {z, ints(graph, count, sizes), int_scalar(graph, RANK - 1)};
  Attr attrs[] = {{"num_split", num}, {"Tlen", "type: DT_INT32"}};
  Node *node = add_node(graph, "SplitV", "split", inputs, 3, attrs, 2);
  REQUIRE(node);
  for (int i = 0; i < count; i++) add_value(p, (NodeOutput){node, i});
}

static void slice(Parts *p, NodeOutput z, int begin, bool strided) {
  Graph *graph = p->f.graph;
  int columns = (int)p->columns;
  if (!strided) {
    NodeOutput inputs[] = {z, ints(graph, RANK, (int[]){0, 0, begin}),
                           ints(graph, RANK, (int[]){-1, -1, columns})};
    Attr type[] = {{"Index", "type: DT_INT32"}};
    add_value(p, out(add_node(graph, "Slice", graph_unique_name(graph, "slice"), inputs, 3, type, 1)));
    return;
  }
  NodeOutput inputs[] = {z, ints(graph, RANK, (int[]){0, 0, begin}),
                         ints(graph, RANK, (int[]){0, 0, begin + columns}),
                         ints(graph, RANK, (int[]){1, 1, 1})};
  Attr attrs[] = {{"Index", "type: DT_INT32"}, {"begin_mask", "i: 3"}, {"end_mask", "i: 3"}};
  add_value(p, out(add_node(graph, "StridedSlice", graph_unique_name(graph, "slice"), inputs, 4, attrs, 3)));
}

static NodeOutput reduction(Graph *graph, NodeOutput x, const char *name) {
  NodeOutput inputs[] = {x, ints(graph, 1, (int[]){-1})};
  return out(add_node(graph, "Mean", name, inputs, 2, (Attr[]){{"keep_dims", "b: true"}}, 1));
}

static NodeOutput any_value(Parts *p) { return p->values[random_below(&p->random, p->num_values)]; }

static NodeOutput any_node(Parts *p, const char *name) {
  static const char *const kUnary[] = {"Sigmoid", "Tanh", "Neg", "Relu"}, *const kBinary[] = {"AddV2", "Mul",
                                                                                              "Sub",
                                                                                              "Maximum"};
  if (one_in(&p->random, 9)) return reduction(p->f.graph, any_value(p), name);
  if (one_in(&p->random, 3)) return unary(p->f.graph, pick(&p->random, kUnary, 4), name, any_value(p));
  NodeOutput a = any_value(p), b = any_value(p);
  return binary(p->f.graph, pick(&p->random, kBinary, 4), name, a, b);
}

/* A value of several parts, other values that broadcast, and arithmetic on them. */
static void build(Parts *p) {
  static const int64_t kColumns[] = {1, 2, 5, 16, 100, 128, 130, 600};
  int count = 2 + random_below(&p->random, MOST_PARTS - 1);
  p->columns = kColumns[random_below(&p->random, COUNT(kColumns))];
  for (int d = 0; d < RANK - 1; d++) p->rows[d] = 1 + random_below(&p->random, one_in(&p->random, 2) ? 5 : 1);
  if (one_in(&p->random, 3)) {
    split_unequally(p, count);
  } else {
    NodeOutput z = feed_value(p, (int64_t[]){p->rows[0], p->rows[1], p->columns * count});
    if (one_in(&p->random, 2)) split(p, z, count);
    else
      for (int i = 0; i < count; i++) slice(p, z, i * (int)p->columns, one_in(&p->random, 2));
  }
  add_value(p, feed_value(p, (int64_t[]){p->rows[0], p->rows[1], p->columns}));
  if (one_in(&p->random, 2)) add_value(p, feed_value(p, (int64_t[]){1, p->rows[1], p->columns}));
  if (one_in(&p->random, 3)) add_value(p, feed_value(p, (int64_t[]){p->rows[0], p->rows[1], 1}));
  int nodes = 3 + random_below(&p->random, 20);
  for (int i = 0; i < nodes; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    NodeOutput node = any_node(p, name);
    REQUIRE(node.node);
    add_value(p, node);
    bool last = i == nodes - 1;
    if (last || (one_in(&p->random, 6) && p->step.num_fetches < MOST_FETCHES - 1))
      p->step.fetches[p->step.num_fetches++] = node;
  }
}

TEST(parts_of_rows_give_the_same_bits_where_they_are) {
  for (int seed = 1; seed <= 300; seed++) {
    Parts p = {.random = {(uint64_t)seed}};
    REQUIRE(begin(&p.f));
    build(&p);
    Session *plain = plain_session(&p.f);
    REQUIRE(plain);
    TestStep other = p.step;
    REQUIRE_OK(run_step(plain, &other, &p.f.status), p.f.status);
    for (int again = 0; again < 2; again++) { /* the second run has the plan of the first */
      REQUIRE_OK(run_step(p.f.session, &p.step, &p.f.status), p.f.status);
      for (int i = 0; i < p.step.num_fetches; i++) {
        char what[64];
        snprintf(what, sizeof what, "seed %d, run %d, result %d", seed, again, i);
        check_same(&p.step.results[i], &other.results[i], what);
      }
      clear_results(&p.step);
    }
    clear_results(&other);
    clear_values(&p.step);
    session_free(plain);
    end(&p.f);
  }
}

/* --- the pass --- */

static bool fuse(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_fuse_elementwise(graph, keep, &(FuseOptions){NULL, NULL}, &changed, &status), &status);
  CHECK_OK(graph_fuse_parts(graph, keep, &changed, &status), &status);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

/* y = Sigmoid(first part) * Tanh(second part) of [2,6]. `reader`: also reads the first part. */
static NodeOutput add_gates(Graph *graph, const char *reader) {
  NodeOutput z = placeholder(graph, "z", "shape { dim { size: 2 } dim { size: 6 } }");
  NodeOutput inputs[] = {int_scalar(graph, 1), z};
  Node *split = add_node(graph, "Split", "split", inputs, 2, (Attr[]){{"num_split", "i: 2"}}, 1);
  if (reader) CHECK(unary(graph, reader, "reader", (NodeOutput){split, 0}).node);
  NodeOutput a = unary(graph, "Sigmoid", "a", (NodeOutput){split, 0}),
             b = unary(graph, "Tanh", "b", (NodeOutput){split, 1});
  NodeOutput y = binary(graph, "Mul", "y", a, b);
  return unary(graph, "Identity", "end", y);
}

TEST(a_split_that_only_fused_nodes_read_is_gone) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput end = add_gates(graph, NULL);
  CHECK(fuse(graph, NULL));
  CHECK(!graph_find_node(graph, "split"));
  const Node *fused = end.node->inputs[0]->src;
  const AttrValue *parts = node_def_attr(fused->def, FUSED_PARTS);
  REQUIRE(fused->num_inputs == 2 && parts && parts->list->n_i == 4);
  static const int64_t kWant[] = {0, 3, 3, 3};
  for (int i = 0; i < 4; i++) CHECK_INT_EQ(parts->list->i[i], kWant[i]);
  for (int i = 0; i < 2; i++) CHECK_STR_EQ(fused->inputs[i]->src->name, "z");
  CHECK(!fuse(graph, NULL));
  graph_free(graph);
}

TEST(parts_of_different_sizes_begin_where_those_before_end) {
  static const int64_t kWant[] = {0, 1, 1, 3};
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput z = placeholder(graph, "z", "shape { dim { size: 2 } dim { size: 4 } }");
  NodeOutput inputs[] = {z, ints(graph, 2, (int[]){1, -1}), int_scalar(graph, -1)};
  Attr attrs[] = {{"num_split", "i: 2"}, {"Tlen", "type: DT_INT32"}};
  Node *split = add_node(graph, "SplitV", "split", inputs, 3, attrs, 2);
  REQUIRE(split);
  NodeOutput a = unary(graph, "Sigmoid", "a", (NodeOutput){split, 0}),
             b = unary(graph, "Tanh", "b", (NodeOutput){split, 1});
  NodeOutput end = unary(graph, "Identity", "end", binary(graph, "Mul", "y", a, b));
  CHECK(fuse(graph, NULL));
  CHECK(!graph_find_node(graph, "split"));
  const AttrValue *parts = node_def_attr(end.node->inputs[0]->src->def, FUSED_PARTS);
  REQUIRE(parts && parts->list->n_i == COUNT(kWant));
  for (size_t i = 0; i < COUNT(kWant); i++) CHECK_INT_EQ(parts->list->i[i], kWant[i]);
  graph_free(graph);
}

TEST(a_split_that_others_read_stays) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  add_gates(graph, "Identity");
  CHECK(!fuse(graph, NULL));
  CHECK(graph_find_node(graph, "split"));
  graph_free(graph);
}
