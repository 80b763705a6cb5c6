/* Softmax, LogSoftmax and the cross-entropy losses compared with references in double. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

static double logit(int64_t i) { return (double)(i * 31 % 17) / 3 - 2; }

/* log(sum(exp)) of row `i`. */
static double log_total(const Tensor *x, int64_t row, int64_t columns) {
  double top = -INFINITY, sum = 0;
  for (int64_t j = 0; j < columns; j++) top = fmax(top, tensor_get(x, row * columns + j));
  for (int64_t j = 0; j < columns; j++) sum += exp(tensor_get(x, row * columns + j) - top);
  return top + log(sum);
}

static void check_rows(const char *op, DataType type, int64_t rows, int64_t columns, bool in_place) {
  char spec[64];
  snprintf(spec, sizeof spec, "%s[T=%s]", op, dtype_name((int)type));
  CHECK_CONTEXT("%s %lld x %lld", spec, (long long)rows, (long long)columns);
  double tolerance = type == DT_DOUBLE ? 1e-13 : type == DT_FLOAT ? 3e-6 : 4e-2;
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  run.last_use = in_place;
  Tensor *x = op_run_input(&run, type, 2, (int64_t[]){rows, columns}), copy = {0};
  for (int64_t i = 0; i < rows * columns; i++) tensor_put(x, i, logit(i));
  CHECK_OK(tensor_copy(&copy, x, NULL, &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < rows; i++) {
      double total = log_total(&copy, i, columns);
      for (int64_t j = 0; j < columns; j++) {
        double want = tensor_get(&copy, i * columns + j) - total;
        if (op[0] == 'S') want = exp(want);
        CHECK_NEAR(tensor_get(&run.outputs[0], i * columns + j), want, tolerance);
      }
    }
  }
  tensor_clear(&copy);
  op_run_end(&run);
}

TEST(softmax_of_matrices) {
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16};
  static const int64_t kColumns[] = {1, 2, 3, 5, 10, 33};
  for (int t = 0; t < 4; t++) {
    for (int c = 0; c < 6; c++) {
      check_rows("Softmax", kTypes[t], 4, kColumns[c], c % 2 == 0);
      check_rows("LogSoftmax", kTypes[t], 3, kColumns[c], c % 2 == 1);
    }
  }
  CHECK_CONTEXT("%s", "");
}

TEST(softmax_of_other_shapes) {
  op_gives("Softmax[T=float]", "float[2] 1 1", "float[2] 0.5");
  op_gives("Softmax[T=float]", "float[2,1,2] 3", "float[2,1,2] 0.5");
  op_gives("Softmax[T=float]", "float[0,3]", "float[0,3]");
  op_gives("LogSoftmax[T=double]", "double[3,0]", "double[3,0]");
  op_gives("Softmax[T=float]", "float[2] 1000 -1000", "float[2] 1 0");
  op_fails("Softmax[T=float]", "float[] 1", CODE_INVALID_ARGUMENT, "logits must have >= 1 dimension, got []");
}

static void check_sparse(DataType type, DataType label_type, int64_t rows, int64_t columns) {
  char spec[128];
  snprintf(spec, sizeof spec, "SparseSoftmaxCrossEntropyWithLogits[T=%s, Tlabels=%s]", dtype_name((int)type),
           dtype_name((int)label_type));
  CHECK_CONTEXT("%s %lld x %lld", spec, (long long)rows, (long long)columns);
  double tolerance = type == DT_DOUBLE ? 1e-13 : type == DT_FLOAT ? 3e-6 : 4e-2;
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *x = op_run_input(&run, type, 2, (int64_t[]){rows, columns}),
         *labels = op_run_input(&run, label_type, 1, &rows);
  for (int64_t i = 0; i < rows * columns; i++) tensor_put(x, i, logit(i));
  for (int64_t i = 0; i < rows; i++) tensor_put(labels, i, (double)(i * 3 % columns));
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < rows; i++) {
      double total = log_total(x, i, columns);
      int64_t label = i * 3 % columns;
      CHECK_NEAR(tensor_get(&run.outputs[0], i), total - tensor_get(x, i * columns + label), tolerance);
      for (int64_t j = 0; j < columns; j++) {
        double want = exp(tensor_get(x, i * columns + j) - total) - (j == label);
        CHECK_NEAR(tensor_get(&run.outputs[1], i * columns + j), want, tolerance);
      }
    }
  }
  op_run_end(&run);
}

TEST(sparse_cross_entropy) {
  check_sparse(DT_FLOAT, DT_INT64, 5, 10);
  check_sparse(DT_FLOAT, DT_INT32, 64, 3);
  check_sparse(DT_DOUBLE, DT_INT32, 3, 1);
  check_sparse(DT_DOUBLE, DT_INT64, 1, 7);
  check_sparse(DT_HALF, DT_INT64, 4, 6);
  check_sparse(DT_FLOAT, DT_INT64, 0, 6);
  CHECK_CONTEXT("%s", "");
  const char *op = "SparseSoftmaxCrossEntropyWithLogits[T=float, Tlabels=int32]";
  op_fails(op, "float[3,10] 0; int32[3] 1 2 10", CODE_INVALID_ARGUMENT,
           "Received a label value of 10 which is outside the valid range of [0, 10).  Label values: 1 2 10");
  op_fails(op, "float[1,10] 0; int32[1] -1", CODE_INVALID_ARGUMENT, "Received a label value of -1");
  op_fails(op, "float[3] 0; int32[3] 0", CODE_INVALID_ARGUMENT, "logits must be 2-D, but got shape [3]");
  op_fails(op, "float[3,2] 0; int32[3,1] 0", CODE_INVALID_ARGUMENT,
           "labels must be 1-D, but got shape [3,1]");
  op_fails(op, "float[3,2] 0; int32[2] 0", CODE_INVALID_ARGUMENT,
           "logits and labels must have the same first dimension, got logits shape [3,2] and labels shape "
           "[2]");
  op_fails(op, "float[3,0]; int32[3] 0", CODE_INVALID_ARGUMENT,
           "Must have at least one class, but got logits shape [3,0]");
}

/* Shapes of logits and labels, and of both together. */
static void check_dense(DataType type, int64_t logit_rows, int64_t label_rows, int64_t logit_columns,
                        int64_t label_columns) {
  char spec[96];
  snprintf(spec, sizeof spec, "SoftmaxCrossEntropyWithLogits[T=%s]", dtype_name((int)type));
  int64_t rows = logit_rows > label_rows ? logit_rows : label_rows,
          columns = logit_columns > label_columns ? logit_columns : label_columns;
  CHECK_CONTEXT("%s %lld x %lld, %lld x %lld", spec, (long long)logit_rows, (long long)logit_columns,
                (long long)label_rows, (long long)label_columns);
  double tolerance = type == DT_DOUBLE ? 1e-13 : type == DT_FLOAT ? 3e-6 : 4e-2;
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *x = op_run_input(&run, type, 2, (int64_t[]){logit_rows, logit_columns});
  Tensor *labels = op_run_input(&run, type, 2, (int64_t[]){label_rows, label_columns});
  for (int64_t i = 0; i < logit_rows * logit_columns; i++) tensor_put(x, i, logit(i));
  for (int64_t i = 0; i < label_rows; i++) {
    for (int64_t j = 0; j < label_columns; j++) {
      tensor_put(labels, i * label_columns + j,
                 label_columns == 1 ? 1.0 / (double)columns
                                    : (double)(j + 1) * 2 / (double)(columns * (columns + 1)));
    }
  }
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < rows; i++) {
      double sum = 0, loss = 0;
      for (int64_t j = 0; j < columns; j++) {
        sum += exp(tensor_get(x, (logit_rows == 1 ? 0 : i) * logit_columns + (logit_columns == 1 ? 0 : j)));
      }
      for (int64_t j = 0; j < columns; j++) {
        double own = tensor_get(x, (logit_rows == 1 ? 0 : i) * logit_columns + (logit_columns == 1 ? 0 : j));
        double label =
            tensor_get(labels, (label_rows == 1 ? 0 : i) * label_columns + (label_columns == 1 ? 0 : j));
        loss -= label * (own - log(sum));
        CHECK_NEAR(tensor_get(&run.outputs[1], i * columns + j), exp(own) / sum - label, tolerance);
      }
      CHECK_NEAR(tensor_get(&run.outputs[0], i), loss, tolerance);
    }
  }
  op_run_end(&run);
}

TEST(dense_cross_entropy) {
  check_dense(DT_FLOAT, 4, 4, 5, 5);
  check_dense(DT_DOUBLE, 3, 3, 1, 1);
  check_dense(DT_HALF, 2, 2, 3, 3);
  check_dense(DT_DOUBLE, 1, 4, 5, 5);
  check_dense(DT_DOUBLE, 4, 1, 5, 5);
  check_dense(DT_FLOAT, 4, 4, 5, 1);
  check_dense(DT_FLOAT, 4, 1, 1, 5);
  CHECK_CONTEXT("%s", "");
  const char *op = "SoftmaxCrossEntropyWithLogits[T=float]";
  op_gives(op, "float[2,0]; float[2,0]", "float[2] 0; float[2,0]");
  op_gives(op, "float[0,3]; float[0,3]", "float[0]; float[0,3]");
  op_fails(op, "float[2,3] 0; float[3,2] 0", CODE_INVALID_ARGUMENT,
           "logits and labels must be broadcastable: logits_size=[2,3] labels_size=[3,2]");
  op_fails(op, "float[3] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
}

/* Both outputs of the losses are differentiated: loss, and backprop for second derivatives. */
GRADIENT_CASES(softmax, {"Softmax|LogSoftmax[T=double]", "double[2,4] 0.5 -1 2 0.1 1 1 -0.5 3"},
               {"Softmax|LogSoftmax[T=double]", "double[3] 1 2 0.5"},
               {"Softmax|LogSoftmax[T=double]", "double[2,1,3] 1 2 0.5 -1 0 1"},
               {"SparseSoftmaxCrossEntropyWithLogits[T=double, Tlabels=int32]",
                "double[3,4] 0.5 -1 2 0.1 1 1 -0.5 3 0.2 0.4 0.6 0.8; int32[3] 2 0 3"},
               {"SparseSoftmaxCrossEntropyWithLogits[T=double, Tlabels=int64]",
                "double[1,2] 0.5 -1; int64[1] 1"},
               {"SparseSoftmaxCrossEntropyWithLogits[T=double, Tlabels=int32]",
                "double[2,3] 0.5 -1 2 1 0.3 3; int32[2] 0 0"},
               {"SoftmaxCrossEntropyWithLogits[T=double]",
                "double[2,3] 0.5 -1 2 0.1 1 1; double[2,3] 0.2 0.3 0.5 0.1 0.1 0.8"},
               {"SoftmaxCrossEntropyWithLogits[T=double]",
                "double[1,3] 0.5 -1 2; double[2,3] 0.2 0.3 0.5 0.1 0.1 0.8"},
               {"SoftmaxCrossEntropyWithLogits[T=double]", "double[3,2] 0.5 -1 2 0.1 1 1; double[3,1] 0.5"})
