/* Products that are fused with what follows them compute the same as the single nodes. */
#include "graph/node_builder.h"
#include "runtime/fused_steps.h"

/* --- random products, and chains behind them --- */

typedef enum Kind { CONVOLUTION, DEPTHWISE, MATRICES, ROWS } Kind; /* ROWS: of a tensor of rank 3 */

typedef struct Builder {
  Random random;
  Fixture f;
  TestStep step;
  Kind kind;
  DataType type;
  bool channels_first;
  int64_t channels, split; /* split: 0, or the size of the dimension before */
  int names;
  double bound; /* of the magnitudes that a result is the sum of */
} Builder;

static const char *new_name(Builder *b, char name[16]) {
  snprintf(name, 16, "n%d", b->names++);
  return name;
}

static const char *type_text(const Builder *b) {
  return b->type == DT_FLOAT ? "type: DT_FLOAT" : "type: DT_DOUBLE";
}

/* Numbers in [low, high]. */
static bool numbers(Builder *b, int rank, const int64_t *dims, double low, double high, Tensor *tensor) {
  if (!CHECK_OK(tensor_allocate_dims(tensor, b->type, rank, dims, NULL, &b->f.status), b->f.status))
    return false;
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) {
    double x = low + (high - low) * random_below(&b->random, 4097) / 4096;
    if (b->type == DT_FLOAT) tensor_f32(tensor)[i] = (float)x;
    else tensor_f64(tensor)[i] = x;
  }
  return true;
}

static NodeOutput const_of(Builder *b, const Tensor *value) {
  NodeBuilder made;
  Node *node = NULL;
  char name[16];
  node_builder(&made, b->f.graph, "Const", new_name(b, name));
  node_builder_tensor(&made, value);
  CHECK_OK(node_builder_finish(&made, &node, &b->f.status), b->f.status);
  return out(node);
}

static NodeOutput constants(Builder *b, int rank, const int64_t *dims, double low, double high) {
  Tensor value = {0};
  NodeOutput made = {NULL, 0};
  if (numbers(b, rank, dims, low, high, &value)) made = const_of(b, &value);
  tensor_clear(&value);
  return made;
}

static NodeOutput fed(Builder *b, int rank, const int64_t *dims) {
  int i = b->step.num_feeds++;
  char name[16], shape[128];
  int at = snprintf(shape, sizeof shape, "shape {");
  for (int k = 0; k < rank; k++)
    at += snprintf(shape + at, sizeof shape - (size_t)at, " dim { size: %d }", (int)dims[k]);
  snprintf(shape + at, sizeof shape - (size_t)at, " }");
  Attr attrs[] = {{"dtype", type_text(b)}, {"shape", shape}};
  if (!numbers(b, rank, dims, -1, 1, &b->step.values[i])) return (NodeOutput){NULL, 0};
  return b->step.feeds[i] = out(add_node(b->f.graph, "Placeholder", new_name(b, name), NULL, 0, attrs, 2));
}

static NodeOutput padded(Builder *b, NodeOutput x) {
  char name[16];
  Attr attrs[] =
      {{"dtype", "type: DT_INT32"},
       {"value",
        "tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } dim { size: 2 } } int_val: [0, 0, 1, 2, "
        "0, 1, 0, 0] }"}};
  NodeOutput sizes = out(add_node(b->f.graph, "Const", new_name(b, name), NULL, 0, attrs, 2));
  return binary(b->f.graph, "Pad", new_name(b, name), x, sizes);
}

static NodeOutput window_product(Builder *b) {
  static const int64_t kChannels[] = {1, 2, 3, 4, 7, 16, 20}, kFilters[] = {1, 2, 3, 3};
  int64_t in = kChannels[random_below(&b->random, COUNT(kChannels))],
          filter = kFilters[random_below(&b->random, COUNT(kFilters))],
          size = 3 + random_below(&b->random, 14), multiplier = one_in(&b->random, 3) ? 2 : 1;
  b->channels_first = one_in(&b->random, 4);
  b->channels =
      b->kind == DEPTHWISE ? in * multiplier : kChannels[random_below(&b->random, COUNT(kChannels))];
  bool same = one_in(&b->random, 2);
  b->bound = (double)(filter * filter * (b->kind == DEPTHWISE ? 1 : in));
  NodeOutput x =
      fed(b, 4, b->channels_first ? (int64_t[]){2, in, size, size} : (int64_t[]){2, size, size, in});
  if (!b->channels_first && one_in(&b->random, 2)) x = padded(b, x);
  int64_t dims[] = {filter, filter, in, b->kind == DEPTHWISE ? multiplier : b->channels};
  NodeOutput w = one_in(&b->random, 5) ? fed(b, 4, dims) : constants(b, 4, dims, -1, 1);
  char name[16];
  Attr attrs[] = {{"strides",
                   one_in(&b->random, 3) ? "list { i: [1, 2, 2, 1] }" : "list { i: [1, 1, 1, 1] }"},
                  {"padding", same ? "s: 'SAME'" : "s: 'VALID'"},
                  {"data_format", b->channels_first ? "s: 'NCHW'" : "s: 'NHWC'"}};
  if (b->channels_first) attrs[0].text = "list { i: [1, 1, 1, 1] }";
  return out(add_node(b->f.graph, b->kind == DEPTHWISE ? "DepthwiseConv2dNative" : "Conv2D",
                      new_name(b, name), (NodeOutput[]){x, w}, 2, attrs, 3));
}

static NodeOutput matrix_product(Builder *b) {
  static const int64_t kSizes[] = {1, 2, 5, 8, 33};
  int64_t m = kSizes[random_below(&b->random, COUNT(kSizes))],
          k = kSizes[random_below(&b->random, COUNT(kSizes))];
  b->channels = kSizes[random_below(&b->random, COUNT(kSizes))];
  b->bound = (double)k;
  bool transposed = one_in(&b->random, 3);
  int64_t dims[] = {transposed ? b->channels : k, transposed ? k : b->channels};
  NodeOutput x = fed(b, 2, (int64_t[]){m, k}),
             w = one_in(&b->random, 5) ? fed(b, 2, dims) : constants(b, 2, dims, -1, 1);
  char name[16];
  Attr attrs[] = {{"transpose_b", transposed ? "b: true" : "b: false"}};
  return out(add_node(b->f.graph, "MatMul", new_name(b, name), (NodeOutput[]){x, w}, 2, attrs, 1));
}

/* The product of a tensor's rows with a matrix, as layers write it: by BatchMatMulV2, or MatMul and Reshape.
 */
static NodeOutput rows_product(Builder *b) {
  static const int64_t kSizes[] = {1, 3, 8, 20, 48};
  int64_t m = kSizes[random_below(&b->random, COUNT(kSizes))],
          k = kSizes[random_below(&b->random, COUNT(kSizes))];
  b->channels = kSizes[random_below(&b->random, COUNT(kSizes))];
  b->bound = (double)k;
  bool transposed = one_in(&b->random, 3), batch = one_in(&b->random, 2);
  int64_t dims[] = {transposed ? b->channels : k, transposed ? k : b->channels};
  NodeOutput x = batch ? fed(b, 3, (int64_t[]){2, m, k}) : fed(b, 2, (int64_t[]){2 * m, k}),
             w = constants(b, 2, dims, -1, 1);
  char name[16], sizes[160];
  Attr attrs[] = {{batch ? "adj_y" : "transpose_b", transposed ? "b: true" : "b: false"}};
  NodeOutput y = out(add_node(b->f.graph, batch ? "BatchMatMulV2" : "MatMul", new_name(b, name),
                              (NodeOutput[]){x, w}, 2, attrs, 1));
  bool splits = b->channels % 4 == 0 && one_in(&b->random, 2);
  if (batch && !splits) return y;
  snprintf(sizes, sizeof sizes,
           "tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } } int_val: [2, %d, %d, %d] }", (int)m,
           splits ? 4 : 1, (int)b->channels / (splits ? 4 : 1));
  Attr value[] = {{"dtype", "type: DT_INT32"}, {"value", sizes}};
  NodeOutput shape = out(add_node(b->f.graph, "Const", new_name(b, name), NULL, 0, value, 2));
  if (splits) b->split = 4, b->channels /= 4;
  return binary(b->f.graph, "Reshape", new_name(b, name), y, shape);
}

/* Constants that broadcast over all dimensions but that of the channels. */
static NodeOutput by_channel(Builder *b, double low, double high) {
  int64_t flat[] = {b->channels}, columns[] = {1, b->channels}, first[] = {1, b->channels, 1, 1};
  if (one_in(&b->random, 4)) return constants(b, 0, NULL, low, high);
  if (b->split > 0 && one_in(&b->random, 2))
    return constants(b, 2, (int64_t[]){b->split, b->channels}, low, high);
  if (b->channels_first)
    return one_in(&b->random, 2) ? constants(b, 4, first, low, high) : constants(b, 3, first + 1, low, high);
  return one_in(&b->random, 3) ? constants(b, 2, columns, low, high) : constants(b, 1, flat, low, high);
}

static NodeOutput batch_norm(Builder *b, NodeOutput x) {
  int64_t dims[] = {b->channels};
  NodeOutput inputs[5] = {x, constants(b, 1, dims, -2, 2), constants(b, 1, dims, -1, 1),
                          constants(b, 1, dims, -1, 1), constants(b, 1, dims, 0.5, 2)};
  Attr attrs[] = {{"is_training", "b: false"},
                  {"epsilon", "f: 0.001"},
                  {"data_format", b->channels_first ? "s: 'NCHW'" : "s: 'NHWC'"}};
  char name[16];
  b->bound = (b->bound + 1) * 3 + 1;
  return out(add_node(b->f.graph, "FusedBatchNormV3", new_name(b, name), inputs, 5, attrs, 3));
}

static NodeOutput any_bias(Builder *b, NodeOutput x) {
  char name[16];
  int64_t dims[] = {b->channels};
  Attr attrs[] = {{"data_format", b->channels_first ? "s: 'NCHW'" : "s: 'NHWC'"}};
  bool is_fed = b->step.num_feeds < MOST_FEEDS - 1 && one_in(&b->random, 2);
  NodeOutput bias = is_fed ? fed(b, 1, dims) : constants(b, 1, dims, -1, 1);
  b->bound += 1;
  return out(add_node(b->f.graph, "BiasAdd", new_name(b, name), (NodeOutput[]){x, bias}, 2, attrs, 1));
}

/* A residual: a fed tensor of the same shape. */
static NodeOutput residual(Builder *b, NodeOutput x) {
  static const char *const kOps[] = {"AddV2", "Mul", "Maximum"};
  ShapeHandle shape = x.node->output_shapes[x.index];
  int64_t dims[4];
  if (!CHECK(shape_fully_defined(shape)) || b->step.num_feeds == MOST_FEEDS) return x;
  for (int i = 0; i < shape_rank(shape); i++) dims[i] = dim_value(shape->dims[i]);
  NodeOutput other = fed(b, (int)shape_rank(shape), dims);
  char name[16];
  const char *op = pick(&b->random, kOps, COUNT(kOps));
  b->bound += 1;
  return one_in(&b->random, 2) ? binary(b->f.graph, op, new_name(b, name), x, other)
                               : binary(b->f.graph, op, new_name(b, name), other, x);
}

static NodeOutput number(Builder *b, double x) { return constants(b, 0, NULL, x, x); }

static NodeOutput apply(Builder *b, const char *op, NodeOutput x) {
  char name[16];
  return unary(b->f.graph, op, new_name(b, name), x);
}
static NodeOutput combine(Builder *b, const char *op, NodeOutput x, NodeOutput y) {
  char name[16];
  return binary(b->f.graph, op, new_name(b, name), x, y);
}

/* Activations of several nodes, as Keras writes them. */
static NodeOutput activation(Builder *b, NodeOutput x) {
  static const char *const kOps[] = {"Elu", "Sigmoid", "Tanh", "Softplus"};
  b->bound = 1.2 * b->bound + 1;
  switch (random_below(&b->random, 6)) {
    case 0: return combine(b, "Mul", x, apply(b, "Sigmoid", x));
    case 1: return combine(b, "Mul", apply(b, "Sigmoid", combine(b, "Mul", number(b, 1), x)), x);
    case 2: {
      NodeOutput six = apply(b, "Relu6", combine(b, "AddV2", x, number(b, 3)));
      return combine(b, "Mul", x, combine(b, "RealDiv", six, number(b, 6)));
    }
    case 3: {
      NodeOutput tail = apply(b, "Erfc", combine(b, "Mul", apply(b, "Neg", x), number(b, 0.70710678)));
      return combine(b, "Mul", combine(b, "Mul", x, number(b, 0.5)), tail);
    }
    case 4: return combine(b, "Maximum", x, combine(b, "Mul", x, number(b, 0.25)));
    default: return apply(b, pick(&b->random, kOps, COUNT(kOps)), x);
  }
}

static NodeOutput any_follower(Builder *b, NodeOutput x) {
  Graph *graph = b->f.graph;
  char name[16];
  switch (random_below(&b->random, 13)) {
    case 0:
      b->bound *= 2;
      return one_in(&b->random, 2) ? binary(graph, "Mul", new_name(b, name), x, by_channel(b, -2, 2))
                                   : binary(graph, "Mul", new_name(b, name), by_channel(b, -2, 2), x);
    case 1: return b->bound += 1, binary(graph, "AddV2", new_name(b, name), x, by_channel(b, -1, 1));
    case 2: return b->bound += 1, binary(graph, "Sub", new_name(b, name), x, by_channel(b, -1, 1));
    case 3: return b->bound += 1, binary(graph, "Sub", new_name(b, name), by_channel(b, -1, 1), x);
    case 4:
      if (b->kind < MATRICES && b->type == DT_FLOAT) return batch_norm(b, x);
      return unary(graph, "Neg", new_name(b, name), x);
    case 5: return unary(graph, "Relu", new_name(b, name), x);
    case 6: return unary(graph, "Relu6", new_name(b, name), x);
    case 7: return residual(b, x);
    case 8:
    case 9:
    case 10: return activation(b, x);
    default: return any_bias(b, x);
  }
}

static void check_close(const Builder *b, const Tensor *fused, const Tensor *plain) {
  double most = (b->type == DT_FLOAT ? 5e-6 : 1e-14) * b->bound;
  if (!CHECK(shape_equal(&fused->shape, &plain->shape))) return;
  for (int64_t i = 0; i < tensor_num_elements(plain); i++) {
    if (!CHECK_NEAR(tensor_double_at(fused, i), tensor_double_at(plain, i), most)) return;
  }
}

static void check_random_chain(uint64_t seed) {
  Builder b = {.random = {seed}};
  REQUIRE(begin(&b.f));
  b.kind = (Kind)random_below(&b.random, 4);
  b.type = one_in(&b.random, 4) ? DT_DOUBLE : DT_FLOAT;
  NodeOutput y = b.kind == MATRICES ? matrix_product(&b)
                 : b.kind == ROWS   ? rows_product(&b)
                                    : window_product(&b);
  int count = 1 + random_below(&b.random, 5);
  for (int i = 0; i < count && y.node; i++) {
    if (b.step.num_fetches < 1 && one_in(&b.random, 12)) b.step.fetches[b.step.num_fetches++] = y;
    y = any_follower(&b, y);
  }
  b.step.fetches[b.step.num_fetches++] = y;
  CHECK_CONTEXT("seed %d", (int)seed);
  if (CHECK(y.node)) {
    TestStep plain = b.step;
    Session *session = plain_session(&b.f);
    bool ok = CHECK_OK(run_step(b.f.session, &b.step, &b.f.status), b.f.status) &&
              CHECK_OK(run_step(session, &plain, &b.f.status), b.f.status);
    for (int i = 0; ok && i < plain.num_fetches; i++) check_close(&b, &b.step.results[i], &plain.results[i]);
    clear_results(&b.step);
    clear_results(&plain);
    session_free(session);
  }
  CHECK_CONTEXT("%s", "");
  clear_values(&b.step);
  end(&b.f);
}

TEST(random_chains_behind_products_give_the_same) {
  uint64_t rounds = setting("TFCORE_FUSED_ROUNDS", 300), seed = setting("TFCORE_FUSED_SEED", 1);
  for (uint64_t i = 0; i < rounds; i++) check_random_chain(seed + i);
}
