/* Gradients of ops whose inputs cannot be varied one element at a time: Cholesky, of Hermitian matrices of
 * which it reads a half, and MatrixSolveLs, which has no gradient by its regularizer. */
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

/* The real part of the sum of conj(dy) y, for the inputs as they are. */
static bool weigh(const char *op, const Tensor *inputs, int count, Tensor *dy, double *sum) {
  Status status;
  status_init(&status);
  OpRun run;
  bool ok = CHECK_OK(op_run_begin(&run, op, &status), status);
  for (int i = 0; i < count && ok; i++) {
    int64_t dims[8];
    for (int k = 0; k < inputs[i].shape.rank; k++) dims[k] = shape_dim(&inputs[i].shape, k);
    Tensor *to = op_run_input(&run, inputs[i].dtype, inputs[i].shape.rank, dims);
    ok = CHECK(to);
    for (int64_t k = 0; k < tensor_num_elements(&inputs[i]) && ok; k++) {
      tensor_put(to, k, tensor_get(&inputs[i], k));
      tensor_put_imaginary(to, k, tensor_get_imaginary(&inputs[i], k));
    }
  }
  ok = ok && CHECK_OK(op_run_compute(&run, &status), status);
  const Tensor *y = &run.outputs[0];
  if (ok && !dy->data && CHECK_OK(tensor_allocate(dy, y->dtype, &y->shape, NULL, &status), status)) {
    for (int64_t k = 0; k < tensor_num_elements(dy); k++) {
      tensor_put(dy, k, 0.5 + 0.25 * (double)(k % 5));
      tensor_put_imaginary(dy, k, 0.3 * (double)(k % 3));
    }
  }
  *sum = 0;
  for (int64_t k = 0; ok && k < tensor_num_elements(y); k++) {
    *sum += tensor_get(y, k) * tensor_get(dy, k) + tensor_get_imaginary(y, k) * tensor_get_imaginary(dy, k);
  }
  op_run_end(&run);
  return ok;
}

/* Adds to a part of an element, and to that of the adjoint element if the matrices are Hermitian. */
static void move(Tensor *x, int64_t k, bool imaginary, bool hermitian, double by) {
  int64_t n = shape_dim(&x->shape, x->shape.rank - 1), row = k / n % n, column = k % n;
  int64_t other = k - row * n - column + column * n + row;
  for (int side = 0; side < (hermitian && other != k ? 2 : 1); side++) {
    int64_t at = side == 0 ? k : other;
    double height = tensor_get_imaginary(x, at); /* which tensor_put clears */
    if (!imaginary) tensor_put(x, at, tensor_get(x, at) + by);
    tensor_put_imaginary(x, at, imaginary ? height + (side == 0 ? by : -by) : height);
  }
}

/* The expected gradient by input `i`: a Hermitian one has half of the derivative by both elements in each. */
static bool differences(const char *op, Tensor *inputs, int count, int i, Tensor *dy, bool hermitian,
                        Tensor *want) {
  Status status;
  status_init(&status);
  Tensor *x = &inputs[i];
  double f[2] = {0, 0}, step = 1e-5;
  if (!weigh(op, inputs, count, dy, f) ||
      !CHECK_OK(tensor_allocate(want, x->dtype, &x->shape, NULL, &status), status))
    return false;
  int64_t n = shape_dim(&x->shape, x->shape.rank - 1);
  for (int64_t k = 0; k < tensor_num_elements(x); k++) {
    bool diagonal = hermitian && k / n % n == k % n;
    for (int part = 0; part < (dtype_is_complex(x->dtype) ? 2 : 1); part++) {
      for (int side = 0; side < 2; side++) {
        double by = side == 0 ? step : -step;
        move(x, k, part, hermitian, by);
        if (!weigh(op, inputs, count, dy, &f[side])) return false;
        move(x, k, part, hermitian, -by);
      }
      double slope = (f[0] - f[1]) / (2 * step) / (hermitian && !diagonal ? 2 : 1);
      if (part) {
        tensor_put_imaginary(want, k, diagonal ? 0 : slope);
      } else {
        tensor_put(want, k, slope);
      }
    }
  }
  return true;
}

static void check(const char *op, const char *text, bool hermitian) {
  Status status;
  status_init(&status);
  Tensor inputs[4] = {0}, want[4] = {0}, dy = {0};
  int count = 0;
  OpRun run;
  CHECK_CONTEXT("%s of %s", op, text);
  if (CHECK_OK(op_run_begin(&run, op, &status), status) &&
      CHECK_OK(tensors_parse(text, inputs, 4, &count, &status), status)) {
    bool ok = true;
    for (int i = 0; i < count && i < 2 && ok; i++)
      ok = differences(op, inputs, count, i, &dy, hermitian, &want[i]);
    if (ok) CHECK(gradient_gives(run.node, inputs, count, &dy, want, 1e-7));
  }
  op_run_end(&run);
  for (int i = 0; i < 4; i++) {
    tensor_clear(&inputs[i]);
    tensor_clear(&want[i]);
  }
  tensor_clear(&dy);
  CHECK_CONTEXT("%s", "");
}

TEST(gradients_of_cholesky_are_hermitian) {
  check("Cholesky[T=double]", "double[1,1] 3", true);
  check("Cholesky[T=double]", "double[2,2] 3 1 1 5", true);
  check("Cholesky[T=double]", "double[2,3,3] 4 1 2 1 5 -1 2 -1 6 9 1 1 1 8 2 1 2 7", true);
  check("Cholesky[T=complex128]", "complex128[2,2] 3 1-2i 1+2i 5", true);
}

TEST(gradients_of_least_squares) {
  check("MatrixSolveLs[T=double]", "double[3,2] 1 2 -1 3 0.5 4; double[3,1] 1 2 -1; double[] 0", false);
  check("MatrixSolveLs[T=double]", "double[2,3] 1 2 -1 3 0.5 4; double[2,2] 1 2 -1 1; double[] 0", false);
  check("MatrixSolveLs[T=double]", "double[1,3,2] 1 2 -1 3 0.5 4; double[1,3,1] 1 2 -1; double[] 0.5", false);
  check("MatrixSolveLs[T=double]", "double[1,2,3] 1 2 -1 3 0.5 4; double[1,2,1] 1 2; double[] 0.5", false);
  check("MatrixSolveLs[T=double, fast=false]", "double[3,2] 1 2 -1 3 0.5 4; double[3,1] 1 2 -1; double[] 0.5",
        false);
  check("MatrixSolveLs[T=complex128]",
        "complex128[3,2] 1+1i 2 -1 3-1i 0.5 0+4i; complex128[3,1] 1 2+1i -1; double[] 0.5", false);
  check("MatrixSolveLs[T=complex128]", "complex128[1,2] 1+1i 2-1i; complex128[1,1] 1+2i; double[] 0", false);
}
