/* ResizeBilinear, ResizeNearestNeighbor, and their gradients. */
#include <math.h>
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

#define X "[1,2,3,1] 1 2 -1 0.5 3 -2"
#define ALIGNED ", align_corners=true"
#define CENTERED ", half_pixel_centers=true"

/* TensorFlow 2.21's own numbers. */
TEST(resize_bilinear) {
  op_gives_about("ResizeBilinear[T=float]", "float" X "; int32[2] 3 4",
                 "float[1,3,4,1] 1 1.75 0.5 -1 0.6666666269302368 2.1666667461395264 0.5 -1.6666667461395264 "
                 "0.5 2.375 0.5 -2",
                 1e-7);
  op_gives("ResizeBilinear[T=float]", "float" X "; int32[2] 1 2", "float[1,1,2,1] 1 0.5");
  op_gives_about("ResizeBilinear[T=float" ALIGNED "]", "float" X "; int32[2] 3 4",
                 "float[1,3,4,1] 1 1.6666666269302368 0.9999998807907104 -1 0.75 1.9166667461395264 "
                 "1.1666665077209473 -1.5 0.5 "
                 "2.1666667461395264 1.333333134651184 -2",
                 2e-7);
  op_gives("ResizeBilinear[T=float" ALIGNED "]", "float" X "; int32[2] 1 2", "float[1,1,2,1] 1 -1");
  op_gives("ResizeBilinear[T=float" CENTERED "]", "float" X "; int32[2] 3 4",
           "float[1,3,4,1] 1 1.625 0.875 -1 0.75 1.84375 1 -1.5 0.5 2.0625 1.125 -2");
  op_gives("ResizeBilinear[T=float" CENTERED "]", "float" X "; int32[2] 1 2", "float[1,1,2,1] 1.1875 -0.5");
}

/* The result is float for every image. An unchanged size is only a conversion, so an infinity does not
 * spread. */
TEST(resize_bilinear_of_all_types) {
  static const char *const kTypes[] = {"float", "double", "half",   "bfloat16", "int8",
                                       "uint8", "int16",  "uint16", "int32",    "int64"};
  for (int i = 0; i < 10; i++) {
    char op[64], inputs[96];
    snprintf(op, sizeof op, "ResizeBilinear[T=%s]", kTypes[i]);
    snprintf(inputs, sizeof inputs, "%s[1,2,2,1] 1 2 100 50; int32[2] 2 4", kTypes[i]);
    op_gives(op, inputs, "float[1,2,4,1] 1 1.5 2 2 100 75 50 50");
    snprintf(inputs, sizeof inputs, "%s[1,1,2,3] 1 2 3 5 8 13; int32[2] 2 2", kTypes[i]);
    op_gives(op, inputs, "float[1,2,2,3] 1 2 3 5 8 13 1 2 3 5 8 13");
    snprintf(inputs, sizeof inputs, "%s[1,1,2,3] 1 2 3 5 8 13; int32[2] 1 2", kTypes[i]);
    op_gives(op, inputs, "float[1,1,2,3] 1 2 3 5 8 13");
  }
  op_gives("ResizeBilinear[T=float]", "float[1,1,3,1] 1 inf 2; int32[2] 1 3", "float[1,1,3,1] 1 inf 2");
  op_gives("ResizeBilinear[T=float]", "float[0,2,3,1]; int32[2] 1 2", "float[0,1,2,1]");
}

TEST(resize_nearest_neighbor) {
  op_gives("ResizeNearestNeighbor[T=float]", "float" X "; int32[2] 3 4",
           "float[1,3,4,1] 1 1 2 -1 1 1 2 -1 0.5 0.5 3 -2");
  op_gives("ResizeNearestNeighbor[T=float" ALIGNED "]", "float" X "; int32[2] 3 4",
           "float[1,3,4,1] 1 2 2 -1 0.5 3 3 -2 0.5 3 3 -2");
  op_gives("ResizeNearestNeighbor[T=float" CENTERED "]", "float" X "; int32[2] 3 4",
           "float[1,3,4,1] 1 2 2 -1 0.5 3 3 -2 0.5 3 3 -2");
  op_gives("ResizeNearestNeighbor[T=float" CENTERED "]", "float" X "; int32[2] 1 2", "float[1,1,2,1] 0.5 -2");
  static const char *const kTypes[] = {"float", "double", "half",  "int8", "uint8",
                                       "int16", "uint16", "int32", "int64"};
  for (int i = 0; i < 9; i++) {
    char op[64], inputs[96], want[128];
    snprintf(op, sizeof op, "ResizeNearestNeighbor[T=%s]", kTypes[i]);
    snprintf(inputs, sizeof inputs, "%s[1,2,2,3] 1 2 3 4 5 6 7 8 9 10 11 12; int32[2] 3 3", kTypes[i]);
    snprintf(want, sizeof want, "%s[1,3,3,3] 1 2 3 1 2 3 4 5 6 1 2 3 1 2 3 4 5 6 7 8 9 7 8 9 10 11 12",
             kTypes[i]);
    op_gives(op, inputs, want);
  }
}

#define GRADS "[1,3,4,1] 1 2 3 4 5 6 7 8 9 10 11 12"
TEST(resize_bilinear_grad) {
  static const char *const kTypes[] = {"float", "double", "half", "bfloat16"};
  static const double kTolerances[] = {2e-7, 2e-7, 1e-3, 8e-3};
  for (int i = 0; i < 4; i++) {
    char op[96], inputs[128], want[256];
    snprintf(inputs, sizeof inputs, "float" GRADS "; %s" X, kTypes[i]);
    snprintf(op, sizeof op, "ResizeBilinearGrad[T=%s]", kTypes[i]);
    snprintf(want, sizeof want, "%s[1,2,3,1] 3.6666666 5.6666666 9.3333333 15.8333333 18.3333333 25.1666666",
             kTypes[i]);
    op_gives_about(op, inputs, want, kTolerances[i]);
    snprintf(op, sizeof op, "ResizeBilinearGrad[T=%s" ALIGNED "]", kTypes[i]);
    snprintf(want, sizeof want, "%s[1,2,3,1] 5.1666666 7.6666666 10.1666666 15.8333333 18.3333333 20.8333333",
             kTypes[i]);
    op_gives_about(op, inputs, want, kTolerances[i]);
    snprintf(op, sizeof op, "ResizeBilinearGrad[T=%s" CENTERED "]", kTypes[i]);
    snprintf(want, sizeof want, "%s[1,2,3,1] 5.375 7.1875 10.4375 16.375 17.1875 21.4375", kTypes[i]);
    op_gives_about(op, inputs, want, kTolerances[i]);
  }
  op_gives("ResizeBilinearGrad[T=float]", "float[0,3,4,1]; float[0,2,3,1]", "float[0,2,3,1]");
}

TEST(resize_nearest_neighbor_grad) {
  op_gives("ResizeNearestNeighborGrad[T=float]", "float" GRADS "; int32[2] 2 3",
           "float[1,2,3,1] 14 10 12 19 11 12");
  op_gives("ResizeNearestNeighborGrad[T=float" ALIGNED "]", "float" GRADS "; int32[2] 2 3",
           "float[1,2,3,1] 1 5 4 14 34 20");
  op_gives("ResizeNearestNeighborGrad[T=float" CENTERED "]", "float" GRADS "; int32[2] 2 3",
           "float[1,2,3,1] 1 5 4 14 34 20");
  op_gives("ResizeNearestNeighborGrad[T=float" ALIGNED CENTERED "]", "float" GRADS "; int32[2] 2 3",
           "float[1,2,3,1] 1 2 7 14 16 38");
  op_gives("ResizeNearestNeighborGrad[T=float]", "float" GRADS "; int32[2] 5 6",
           "float[1,5,6,1] 1 2 0 3 4 0 5 6 0 7 8 0 0 0 0 0 0 0 9 10 0 11 12 0 0 0 0 0 0 0");
  op_gives("ResizeNearestNeighborGrad[T=float]", "float[1,1,1,1] 5; int32[2] 2 3",
           "float[1,2,3,1] 5 0 0 0 0 0");
  op_gives("ResizeNearestNeighborGrad[T=float]", "float[1,0,2,1]; int32[2] 1 2", "float[1,1,2,1] 0 0");
  op_gives("ResizeNearestNeighborGrad[T=double]", "double" GRADS "; int32[2] 1 1", "double[1,1,1,1] 78");
  op_gives("ResizeNearestNeighborGrad[T=int32]", "int32" GRADS "; int32[2] 1 1", "int32[1,1,1,1] 78");
  op_gives("ResizeNearestNeighborGrad[T=int8]", "int8" GRADS "; int32[2] 1 1", "int8[1,1,1,1] 78");
  op_gives("ResizeNearestNeighborGrad[T=half]", "half" GRADS "; int32[2] 1 1", "half[1,1,1,1] 78");
  op_gives("ResizeNearestNeighborGrad[T=uint8]", "uint8[1,1,3,1] 100 200 7; int32[2] 1 1",
           "uint8[1,1,1,1] 51"); /* wraps around */
  op_gives("ResizeNearestNeighborGrad[T=float]", "float[1,0,4,1]; int32[2] 1 2", "float[1,1,2,1] 0 0");
  op_gives("ResizeNearestNeighborGrad[T=float]", "float[0,3,4,1]; int32[2] 1 2", "float[0,1,2,1]");
}

/* Compared with a reference that computes element by element, with many channels and blocks of rows. */
static double at(const Tensor *image, int64_t b, int64_t y, int64_t x, int64_t c) {
  const int64_t *d = shape_dims(&image->shape);
  return tensor_get(image, ((b * d[1] + y) * d[2] + x) * d[3] + c);
}
static double clamped(double v, double top) { return fmin(fmax(v, 0), top); }

static void check_resize(const char *attrs, int mode, const int64_t *dims, int64_t rows, int64_t columns) {
  OpRun run;
  Status status;
  status_init(&status);
  char op[96], size[64];
  snprintf(op, sizeof op, "ResizeBilinear[T=float%s]", attrs);
  snprintf(size, sizeof size, "int32[2] %d %d", (int)rows, (int)columns);
  CHECK_CONTEXT("%s of %d %d to %s", op, (int)dims[1], (int)dims[2], size);
  CHECK_OK(op_run_begin(&run, op, &status), status);
  Tensor *image = op_run_input(&run, DT_FLOAT, 4, dims);
  CHECK(image);
  for (int64_t i = 0; i < tensor_num_elements(image); i++) tensor_put(image, i, sin((double)i));
  CHECK_OK(op_run_inputs(&run, size, &status), status);
  CHECK_OK(op_run_compute(&run, &status), status);
  double worst = 0;
  for (int64_t i = 0; status.code == CODE_OK && i < tensor_num_elements(&run.outputs[0]); i++) {
    int64_t c = i % dims[3], x = i / dims[3] % columns, y = i / dims[3] / columns % rows,
            b = i / dims[3] / columns / rows;
    double place[2], n[2] = {(double)dims[1], (double)dims[2]}, m[2] = {(double)rows, (double)columns},
                     p[2] = {(double)y, (double)x};
    for (int k = 0; k < 2; k++) {
      place[k] = mode == 0   ? p[k] * n[k] / m[k]
                 : mode == 1 ? (m[k] > 1 ? p[k] * (n[k] - 1) / (m[k] - 1) : 0)
                             : (p[k] + 0.5) * n[k] / m[k] - 0.5;
      place[k] = clamped(place[k], n[k] - 1);
    }
    double fy = place[0] - floor(place[0]), fx = place[1] - floor(place[1]), want = 0;
    for (int corner = 0; corner < 4; corner++) {
      int64_t cy = (int64_t)clamped(floor(place[0]) + corner / 2, n[0] - 1),
              cx = (int64_t)clamped(floor(place[1]) + corner % 2, n[1] - 1);
      want += (corner / 2 ? fy : 1 - fy) * (corner % 2 ? fx : 1 - fx) * at(image, b, cy, cx, c);
    }
    worst = fmax(worst, fabs(tensor_get(&run.outputs[0], i) - want));
  }
  CHECK(worst < 2e-5); /* positions are floats */
  op_run_end(&run);
}

TEST(resize_bilinear_of_all_sizes) {
  static const char *const kAttrs[] = {"", ALIGNED, CENTERED};
  static const int64_t kFrom[][4] = {{1, 1, 1, 1},
                                     {2, 3, 5, 1},
                                     {2, 7, 4, 3},
                                     {1, 40, 17, 4},
                                     {1, 20, 9, 13}};
  static const int64_t kTo[][2] = {{1, 1}, {2, 9}, {7, 4}, {45, 33}, {19, 2}};
  for (int mode = 0; mode < 3; mode++) {
    for (int i = 0; i < 5; i++) {
      for (int k = 0; k < 5; k++) check_resize(kAttrs[mode], mode, kFrom[i], kTo[k][0], kTo[k][1]);
    }
  }
  CHECK_CONTEXT("%s", "");
}

static void check_errors(const char *op) {
  char text[96];
  snprintf(text, sizeof text, "%s[T=float]", op);
  op_fails(text, "float[2,3,1] 0; int32[2] 1 2", CODE_INVALID_ARGUMENT, "input must be 4-dimensional[2,3,1]");
  op_fails(text, "float" X "; int32[3] 1 2 3", CODE_INVALID_ARGUMENT, "shape_t must have two elements[3]");
  op_fails(text, "float" X "; int32[1,2] 1 2", CODE_INVALID_ARGUMENT, "shape_t must be 1-dimensional[1,2]");
  op_fails(text, "float" X "; int32[2] 0 2", CODE_INVALID_ARGUMENT, "output dimensions must be positive");
  op_fails(text, "float" X "; int32[2] 1 -2", CODE_INVALID_ARGUMENT, "output dimensions must be positive");
  op_fails(text, "float[1,0,3,1]; int32[2] 1 2", CODE_INVALID_ARGUMENT,
           "input image must be of non-zero size");
  op_fails(text, "float[1,2,3,0]; int32[2] 1 2", CODE_INVALID_ARGUMENT,
           "image must have at least one channel");
  op_fails(text, "float" X "; int32[2] 2147483647 2147483647", CODE_INVALID_ARGUMENT,
           "has more than 2**63 - 1 bytes");
  snprintf(text, sizeof text, "%s[T=float" ALIGNED CENTERED "]", op);
  op_fails(text, "float" X "; int32[2] 1 2", CODE_INVALID_ARGUMENT,
           "If half_pixel_centers is True, align_corners must be False.");
}

TEST(resize_errors) {
  check_errors("ResizeBilinear");
  check_errors("ResizeNearestNeighbor");
}

TEST(resize_grad_errors) {
  static const char kBilinear[] = "ResizeBilinearGrad[T=float]",
                    kNearest[] = "ResizeNearestNeighborGrad[T=float]";
  op_fails(kBilinear, "float[3,4,1] 0; float" X, CODE_INVALID_ARGUMENT,
           "input_grad must be 4-dimensional[3,4,1]");
  op_fails(kBilinear, "float" GRADS "; float[3,4,1] 0", CODE_INVALID_ARGUMENT,
           "original_image must be 4-dimensional[3,4,1]");
  op_fails(kBilinear, "float" GRADS "; float[1,0,3,1]", CODE_INVALID_ARGUMENT,
           "original dimensions must be positive");
  op_fails(kBilinear, "float[1,0,4,1]; float" X, CODE_INVALID_ARGUMENT,
           "resized dimensions must be positive");
  op_fails(kBilinear, "float" GRADS "; float[1,2,3,2] 0", CODE_INVALID_ARGUMENT,
           "input_grad and original_image must have the same batch size and channels: [1,3,4,1] vs. "
           "[1,2,3,2]");
  op_fails("ResizeBilinearGrad[T=float" ALIGNED CENTERED "]", "float" GRADS "; float" X,
           CODE_INVALID_ARGUMENT, "If half_pixel_centers is True, align_corners must be False.");
  op_fails(kNearest, "float[3,4,1] 0; int32[2] 1 2", CODE_INVALID_ARGUMENT,
           "input must be 4-dimensional[3,4,1]");
  op_fails(kNearest, "float" GRADS "; int32[1,2] 1 2", CODE_INVALID_ARGUMENT,
           "shape_t must be 1-dimensional[1,2]");
  op_fails(kNearest, "float" GRADS "; int32[3] 1 2 3", CODE_INVALID_ARGUMENT,
           "shape_t must have two elements[3]");
  op_fails(kNearest, "float" GRADS "; int32[2] 0 3", CODE_INVALID_ARGUMENT,
           "shape_t's elements must be positive");
}

/* Integer images have no gradient. */
TEST(resize_gradients_of_integers) {
  gradient_is("ResizeBilinear[T=uint8]", "uint8[1,1,2,1] 1 2; int32[2] 1 4", "none");
  gradient_is("ResizeBilinear[T=half]", "half[1,1,2,1] 1 2; int32[2] 1 4", "half[1,1,2,1] 1.5 2.5");
}

GRADIENT_CASES(
    resize, {"ResizeBilinear[T=float]", "float" X "; int32[2] 3 4"},
    {"ResizeBilinear[T=float" ALIGNED "]", "float[2,2,1,2] 1 2 -1 0.5 3 -2 1 2; int32[2] 1 3"},
    {"ResizeBilinear[T=float" CENTERED "]", "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; int32[2] 2 5"},
    {"ResizeBilinearGrad[T=float]", "float[1,3,2,1] 1 2 3 4 5 6; float[1,2,3,1] 1"},
    {"ResizeBilinearGrad[T=float" ALIGNED "]", "float[2,1,3,1] 1 2 3 4 5 6; float[2,2,2,1] 1"},
    {"ResizeBilinearGrad[T=float" CENTERED "]", "float[1,2,2,2] 1 2 3 4 5 6 7 8; float[1,3,1,2] 1"},
    {"ResizeNearestNeighbor[T=double]", "double" X "; int32[2] 3 4"},
    {"ResizeNearestNeighbor[T=double" ALIGNED "]", "double[2,2,1,2] 1 2 -1 0.5 3 -2 1 2; int32[2] 1 3"},
    {"ResizeNearestNeighbor[T=double" CENTERED "]", "double[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; int32[2] 2 5"},
    {"ResizeNearestNeighborGrad[T=double]", "double[1,3,2,1] 1 2 3 4 5 6; int32[2] 2 3"},
    {"ResizeNearestNeighborGrad[T=double" ALIGNED "]", "double[2,1,3,1] 1 2 3 4 5 6; int32[2] 2 2"},
    {"ResizeNearestNeighborGrad[T=double" CENTERED "]", "double[1,2,2,2] 1 2 3 4 5 6 7 8; int32[2] 3 1"})
