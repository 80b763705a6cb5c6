/* Samples by rejection: the gradient of gamma samples, and parameters for which no sample is ever accepted.
 * TensorFlow's numbers are in tests/data/golden. */
#include <math.h>

#include "gradient/gradient_fixture.h"
#include "op_runner.h"

/* P(alpha, x) for doubles. */
static double probability(double alpha, double x) {
  OpRun run;
  Status status;
  status_init(&status);
  char inputs[96];
  double result = NAN;
  snprintf(inputs, sizeof inputs, "double[] %.17g; double[] %.17g", alpha, x);
  if (CHECK_OK(op_run_begin(&run, "Igamma[T=double]", &status) && op_run_inputs(&run, inputs, &status) &&
                   op_run_compute(&run, &status),
               &status))
    result = tensor_f64(&run.outputs[0])[0];
  op_run_end(&run);
  return result;
}

/* A sample moves with alpha so that the probability of smaller ones stays the same. */
static void gradient_keeps_probabilities(NodeOutput (*make)(Graph *graph, NodeOutput alpha)) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput alpha = placeholder(graph, "alpha"), sample = make(graph, alpha), slope;
  REQUIRE_OK(graph_add_gradients(graph, &sample, 1, &alpha, 1, NULL, NULL, &slope, &status), &status);
  for (double at = 0.6; at < 9; at += 1.3) {
    double x = compute(graph, sample, &alpha, &at, 1), dx = compute(graph, slope, &alpha, &at, 1), h = 1e-5;
    CHECK_NEAR((probability(at + h, x + h * dx) - probability(at - h, x - h * dx)) / (2 * h), 0, 1e-7);
  }
  graph_free(graph);
}

static NodeOutput with_seed(Graph *graph, NodeOutput alpha) {
  return graph_op(graph, "x", "StatelessRandomGammaV2", "dtype=double, T=int32, Tseed=int32", 3,
                  graph_op(graph, "shape", "Const", "dtype=int32, value=[]", 0),
                  graph_op(graph, "seed", "Const", "dtype=int32, value=[3, 4]", 0), alpha);
}

static NodeOutput with_key(Graph *graph, NodeOutput alpha) {
  return graph_op(graph, "x", "StatelessRandomGammaV3", "dtype=double, shape_dtype=int32", 5,
                  graph_op(graph, "shape", "Const", "dtype=int32, value=[]", 0),
                  graph_op(graph, "key", "Const", "dtype=uint64, value=[5]", 0),
                  graph_op(graph, "counter", "Const", "dtype=uint64, value=[1, 2]", 0),
                  graph_op(graph, "alg", "Const", "dtype=int32, value=1", 0), alpha);
}

TEST(gradients_of_gamma_samples_keep_probabilities) {
  gradient_keeps_probabilities(with_seed);
  gradient_keeps_probabilities(with_key);
}

/* The gradient of a sample with state is that of the sample which the node draws, here any number. */
TEST(gradients_of_drawn_gamma_samples_keep_probabilities) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput alpha = placeholder(graph, "alpha"), slope;
  NodeOutput sample = graph_op(graph, "x", "RandomGamma", "S=int32, T=double, seed=3, seed2=4", 2,
                               graph_op(graph, "shape", "Const", "dtype=int32, value=[]", 0), alpha);
  REQUIRE_OK(graph_add_gradients(graph, &sample, 1, &alpha, 1, NULL, NULL, &slope, &status), &status);
  for (double at = 0.6; at < 9; at += 1.3) {
    double x = 1.2 * at, h = 1e-5;
    double dx = compute(graph, slope, (NodeOutput[]){alpha, sample}, (double[]){at, x}, 2);
    CHECK_NEAR((probability(at + h, x + h * dx) - probability(at - h, x - h * dx)) / (2 * h), 0, 1e-7);
  }
  graph_free(graph);
}

/* Where every attempt would be rejected, TensorFlow does not end. */
TEST(samples_of_impossible_distributions_end) {
  op_gives("StatelessRandomGammaV2[dtype=float, T=int32]", "int32[1] 2; int64[2] 1 2; float[2] nan -3",
           "float[2] nan nan");
  op_gives("StatelessRandomPoisson[Rtype=float, dtype=float, T=int32]",
           "int32[1] 1; int64[2] 1 2; float[1] nan", "float[1] nan");
  op_gives("StatelessRandomPoisson[Rtype=double, dtype=int32, T=int32]",
           "int32[1] 1; int64[2] 1 2; double[1] 1e12", "int32[1] 2147483647");
  op_gives("StatelessRandomBinomial[S=int32, T=double, dtype=double]",
           "int32[1] 2; int64[2] 1 2; double[2] nan inf; double[] 0.5", "double[2] nan nan");
  op_fails("RandomIndexShuffle[dtype=int32, Tseed=int32, rounds=5]", "int32[] 1; int32[3] 1 2 3; int32[] 9",
           CODE_INVALID_ARGUMENT, "rounds must be even and between 4 and 1024, got 5");
}

/* The numbers are those of TensorFlow's RandomPoissonV2. */
TEST(older_graphs_draw_poisson_samples) {
  op_gives("RandomPoisson[S=int32, dtype=float, seed=5, seed2=7]", "int32[1] 5; float[2] 3 30",
           "float[5,2] 1 35 3 25 5 25 4 32 1 29");
}
