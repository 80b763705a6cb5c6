/* ResizeBicubic, ResizeArea, ScaleAndTranslate, CropAndResize and their gradients. TensorFlow's own results
 * are in tests/data/golden/images.pb. */
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

#define X "[1,2,3,1] 1 2 -1 0.5 3 -2"
#define ALIGNED ", align_corners=true"
#define CENTERED ", half_pixel_centers=true"

/* The weights of each element add up to 1. */
TEST(resizing_keeps_a_constant_image) {
  static const char *const kKernels[] = {"lanczos1", "lanczos3", "lanczos5",  "gaussian",
                                         "box",      "triangle", "keyscubic", "mitchellcubic"};
  static const char kImage[] = "float[1,7,5,2] 3; int32[2] 4 9", kWant[] = "float[1,4,9,2] 3";
  op_gives_about("ResizeBicubic[T=float]", kImage, kWant, 1e-6);
  op_gives_about("ResizeBicubic[T=float" ALIGNED "]", kImage, kWant, 1e-6);
  op_gives_about("ResizeBicubic[T=float" CENTERED "]", kImage, kWant, 1e-6);
  op_gives_about("ResizeArea[T=float]", kImage, kWant, 1e-6);
  op_gives_about("ResizeArea[T=uint8]", "uint8[1,7,5,2] 3; int32[2] 4 9", kWant, 1e-6);
  for (int i = 0; i < 8; i++) {
    char op[96];
    snprintf(op, sizeof op, "ScaleAndTranslate[T=float, kernel_type=%s]", kKernels[i]);
    op_gives_about(op, "float[1,7,5,2] 3; int32[2] 4 9; float[2] 0.5714286 1.8; float[2] 0", kWant, 1e-6);
  }
}

TEST(resize_area_averages_whole_elements) {
  op_gives("ResizeArea[T=float]", "float[1,4,4,1] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; int32[2] 2 2",
           "float[1,2,2,1] 3.5 5.5 11.5 13.5");
  op_gives("ResizeArea[T=float]", "float[1,1,2,1] 1 2; int32[2] 2 4", "float[1,2,4,1] 1 1 2 2 1 1 2 2");
}

/* Keys' cubic reproduces a linear image between elements that are away from the edges. */
TEST(cubic_kernels_keep_a_line) {
  op_gives_about("ScaleAndTranslate[T=float, kernel_type=keyscubic]",
                 "float[1,1,7,1] 0 1 2 3 4 5 6; int32[2] 1 3; float[2] 1 1; float[2] 0 -2.25",
                 "float[1,1,3,1] 2.25 3.25 4.25", 1e-6);
}

TEST(samples_outside_of_the_image_are_zero) {
  op_gives("ScaleAndTranslate[T=float, kernel_type=box]",
           "float[1,1,2,1] 3 4; int32[2] 1 4; float[2] 1 1; float[2] 0 1", "float[1,1,4,1] 0 3 4 0");
}

TEST(crops_of_boxes) {
  static const char kOp[] = "CropAndResize[T=float]";
  op_gives(kOp, "float[1,2,2,1] 1 2 3 4; float[1,4] 0 0 1 1; int32[1] 0; int32[2] 1 1", "float[1,1,1,1] 2.5");
  op_gives(kOp, "float[1,2,2,1] 1 2 3 4; float[1,4] 1 1 0 0; int32[1] 0; int32[2] 2 2",
           "float[1,2,2,1] 4 3 2 1");
  op_gives("CropAndResize[T=int32, extrapolation_value=-7]",
           "int32[2,2,2,1] 1 2 3 4 5 6 7 8; float[1,4] 0 0 2 1; int32[1] 1; int32[2] 2 2",
           "float[1,2,2,1] 5 6 -7 -7");
  op_gives("CropAndResize[T=float, method=nearest]",
           "float[1,1,3,1] 1 2 3; float[1,4] 0 0.2 0 0.3; int32[1] 0; int32[2] 1 2", "float[1,1,2,1] 1 2");
  op_fails(kOp, "float[1,2,2,1] 1; float[1,4] 0 0 1 1; int32[1] 1; int32[2] 1 1", CODE_OUT_OF_RANGE,
           "box_index has values outside [0, batch_size)");
}

TEST(gradients_of_resized_integers_are_zero) {
  gradient_is("ResizeBicubic[T=uint8]", "uint8[1,1,2,1] 1 2; int32[2] 1 4", "none");
  gradient_is("ScaleAndTranslate[T=int32]", "int32[1,1,2,1] 1 2; int32[2] 1 4; float[2] 1 2; float[2] 0",
              "float[2] 0; float[2] 0");
}

#define LINEAR "TensorFlow has no gradient for its gradient."
/* Scale and translation receive no gradient. A box does not depend on small changes of them. */
#define SCALED "; float[2] 0.7 1.4; float[2] 0.3 -0.2"
GRADIENT_CASES(
    resample, {"ResizeBicubic[T=float]", "float" X "; int32[2] 3 4", LINEAR},
    {"ResizeBicubic[T=float" ALIGNED "]", "float[2,2,1,2] 1 2 -1 0.5 3 -2 1 2; int32[2] 1 3", LINEAR},
    {"ResizeBicubic[T=float" CENTERED "]", "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; int32[2] 2 5", LINEAR},
    {"ScaleAndTranslate[T=float, kernel_type=box]", "float" X "; int32[2] 2 4" SCALED, LINEAR},
    {"ScaleAndTranslate[T=float, kernel_type=box, antialias=false]",
     "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; int32[2] 2 3" SCALED, LINEAR},
    {"ScaleAndTranslate[T=float, kernel_type=box]", "float[2,2,1,2] 1 2 -1 0.5 3 -2 1 2; int32[2] 1 3" SCALED,
     LINEAR},
    {"CropAndResize[T=float]", "float" X "; float[1,4] 0.1 0.15 0.8 0.7; int32[1] 0; int32[2] 2 3", LINEAR},
    {"CropAndResize[T=float]",
     "float[2,2,2,2] 1 2 -1 0.5 3 -2 1 2 4 1 -3 2 5 1 2 3; float[2,4] 0.1 0.15 0.8 0.7 0.9 0.2 0.3 0.8; "
     "int32[2] 1 0; int32[2] 1 2",
     LINEAR},
    {"CropAndResize[T=float]",
     "float[1,3,3,1] 1 2 -1 0.5 3 -2 1 2 4; float[1,4] 0.3 -0.6 0.7 0.8; int32[1] 0; int32[2] 2 2", LINEAR})
