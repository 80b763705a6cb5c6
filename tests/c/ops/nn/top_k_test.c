/* The largest elements of rows, and whether classes are among the highest predictions. */
#include <stdio.h>

#include "gradient/graph_gradients.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"
#include "runtime/session.h"

TEST(largest_elements) {
  op_gives("TopKV2[T=float]", "float[2,4] 3 1 2 3 0 4 5 -1; int32[] 2",
           "float[2,2] 3 3 5 4; int32[2,2] 0 3 2 1");
  op_gives("TopKV2[T=float]", "float[5] 5 1 5 3 5; int32[] 4", "float[4] 5 5 5 3; int32[4] 0 2 4 3");
  op_gives("TopKV2[T=float]", "float[6] 1 2 3 3 2 1; int32[] 5", "float[5] 3 3 2 2 1; int32[5] 2 3 1 4 0");
  op_gives("TopKV2[T=float]", "float[3] 1 nan 2; int32[] 3", "float[3] 2 1 nan; int32[3] 2 0 1");
  op_gives("TopKV2[T=float]", "float[40] nan nan 1 5 nan 2 3; int32[] 3", "float[3] 5 3 3; int32[3] 3 6 7");
  op_gives("TopKV2[T=float]", "float[40] 1 2 nan 3 nan; int32[] 4", "float[4] 3 2 1 nan; int32[4] 3 1 0 2");
  op_gives("TopKV2[T=int8]", "int8[2,1,3] -128 127 0 1 2 3; int32[] 1",
           "int8[2,1,1] 127 3; int32[2,1,1] 1 2");
  op_gives("TopKV2[T=uint64]", "uint64[3] 1 18446744073709551615 9223372036854775808; int32[] 2",
           "uint64[2] 18446744073709551615 9223372036854775808; int32[2] 1 2");
  op_gives("TopKV2[T=half]", "half[3] 1 -2 3; int32[] 2", "half[2] 3 1; int32[2] 2 0");
  op_gives("TopKV2[T=float]", "float[2,3] 1; int32[] 0", "float[2,0]; int32[2,0]");
  op_gives("TopKV2[T=float]", "float[0,3]; int32[] 2", "float[0,2]; int32[0,2]");
  op_gives("TopK[T=double, k=2]", "double[4] 1 3 2 4", "double[2] 4 3; int32[2] 3 1");
}

TEST(rows_that_are_too_short) {
  op_fails("TopKV2[T=float]", "float[2,4] 1; int32[] 5", CODE_INVALID_ARGUMENT,
           "input must have at least k columns. Had 4, needed 5");
  op_fails("TopKV2[T=float]", "float[2,4] 1; int32[] -1", CODE_INVALID_ARGUMENT, "Need k >= 0, got -1");
  op_fails("TopKV2[T=float]", "float[2,4] 1; int32[1] 2", CODE_INVALID_ARGUMENT,
           "k must be scalar, got shape [1]");
  op_fails("TopKV2[T=float]", "float[] 1; int32[] 1", CODE_INVALID_ARGUMENT,
           "input must be >= 1-D, got shape []");
  op_fails("TopK[T=float, k=5]", "float[2,4] 1", CODE_INVALID_ARGUMENT,
           "input must have at least k columns. Had 4, needed 5");
}

/* Compared with counting, for every element, those that come before it. */
TEST(largest_elements_of_long_rows) {
  enum { COLUMNS = 101 };
  Status status;
  status_init(&status);
  for (int k = 1; k <= COLUMNS; k += 20) {
    CHECK_CONTEXT("k = %d", k);
    OpRun run;
    REQUIRE_OK(op_run_begin(&run, "TopKV2[T=float]", &status), status);
    Tensor *x = op_run_input(&run, DT_FLOAT, 2, (int64_t[]){3, COLUMNS});
    for (int i = 0; i < 3 * COLUMNS; i++) tensor_put(x, i, i * 7919 % 61);
    tensor_put(op_run_input(&run, DT_INT32, 0, NULL), 0, k);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int i = 0; i < 3 * COLUMNS; i++) {
        int row = i / COLUMNS, before = 0;
        for (int j = row * COLUMNS; j < (row + 1) * COLUMNS; j++) {
          before += tensor_get(x, j) > tensor_get(x, i) || (tensor_get(x, j) == tensor_get(x, i) && j < i);
        }
        if (before >= k) continue;
        CHECK_INT_EQ(tensor_get(&run.outputs[1], row * k + before), i % COLUMNS);
        CHECK_NEAR(tensor_get(&run.outputs[0], row * k + before), tensor_get(x, i), 0);
      }
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(classes_among_the_predicted) {
  static const char *const kWant[4] = {"bool[4] 0 0 0 0", "bool[4] 0 1 1 0", "bool[4] 0 1 1 0",
                                       "bool[4] 0 1 1 1"};
  char inputs[160], op[32];
  for (int k = 0; k < 4; k++) {
    const char *predictions =
        "float[4,4] 0.1 0.5 0.5 0.2 0.1 0.5 0.5 0.2 0.1 0.5 0.5 0.2 0.1 0.5 0.5 0.2; int32[4] 0 1 2 3";
    snprintf(inputs, sizeof inputs, "%s; int32[] %d", predictions, k);
    op_gives("InTopKV2", inputs, kWant[k]);
    snprintf(op, sizeof op, "InTopK[k=%d]", k);
    op_gives(op, predictions, kWant[k]);
  }
  op_gives("InTopKV2[T=int64]", "float[3,2] nan 1 inf 1 1 2; int64[3] 1 0 2; int64[] 2", "bool[3] false");
  op_gives("InTopKV2", "float[2,2] 1 2 3 4; int32[2] -1 0; int32[] 9", "bool[2] false true");
  op_fails("InTopKV2", "float[2] 1; int32[2] 0; int32[] 1", CODE_INVALID_ARGUMENT,
           "predictions must be 2-dimensional");
  op_fails("InTopKV2", "float[2,2] 1; int32[1,2] 0; int32[] 1", CODE_INVALID_ARGUMENT,
           "targets must be 1-dimensional");
  op_fails("InTopKV2", "float[3,2] 1; int32[2] 0; int32[] 1", CODE_INVALID_ARGUMENT,
           "First dimension of predictions 3 must match length of targets 2");
  op_fails("InTopKV2", "float[2,2] 1; int32[2] 0; int32[1] 1", CODE_INVALID_ARGUMENT,
           "k must be 0-D, got shape [1]");
}

/* The gradient of TopK in a graph of an old version, because current graphs must not have it. */
TEST(gradients_of_top_k_in_old_graphs) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Session *session = session_new(graph, &status);
  VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  versions.producer = 6;
  NodeOutput x, y, dx = {NULL, 0};
  Tensor fed = {0}, got = {0}, want = {0};
  const Tensor *given = &fed;
  int count;
  if (CHECK_OK(graph_set_versions(graph, &versions, &status), status) &&
      CHECK_OK(op_add_node(graph, "x", "Placeholder[dtype=double]", NULL, 0, &x, &status), status) &&
      CHECK_OK(op_add_node(graph, "y", "TopK[T=double, k=2]", &x, 1, &y, &status), status) &&
      CHECK_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), status) &&
      CHECK(dx.node) &&
      CHECK_OK(tensors_parse("double[2,3] 1 3 2 6 4 5", &fed, 1, &count, &status), status) &&
      CHECK_OK(tensors_parse("double[2,3] 0 1 1 1 0 1", &want, 1, &count, &status), status) &&
      CHECK_OK(session_run(session, &x, &given, 1, &dx, &got, 1, NULL, 0, &status), status)) {
    tensor_is_about(&got, &want, 0);
  }
  tensor_clear(&fed);
  tensor_clear(&got);
  tensor_clear(&want);
  session_free(session);
  graph_free(graph);
}

GRADIENT_CASES(top_k, {"TopKV2[T=double]", "double[2,3] 1 3 2 5 4 6; int32[] 2"},
               {"TopKV2[T=double]", "double[4] 1 3 2 5; int32[] 4"},
               {"TopKV2[T=double, sorted=false]", "double[2,1,3] 1 3 2 5 4 6; int32[] 1"},
               {"TopKV2[T=double]", "double[2,0]; int32[] 0"})
