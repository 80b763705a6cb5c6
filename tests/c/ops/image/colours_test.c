/* RGBToHSV, HSVToRGB, AdjustHue and its kin, DrawBoundingBoxes. TensorFlow's own results are in
 * tests/data/golden/colours.pb. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(colours_have_hue_saturation_and_value) {
  op_gives_about("RGBToHSV[T=double]", "double[5,3] 1 0 0 0 0.5 0 0 0 0.25 0.5 0.5 0.5 1 1 0.5",
                 "double[5,3] 0 1 1 0.3333333333333333 1 0.5 0.6666666666666666 1 0.25 0 0 0.5 "
                 "0.16666666666666666 0.5 1",
                 1e-15);
  op_gives_about("HSVToRGB[T=double]", "double[3,3] 0 1 1 0.3333333333333333 1 0.5 0.16666666666666666 0.5 1",
                 "double[3,3] 1 0 0 0 0.5 0 1 1 0.5", 1e-15);
}

TEST(hue_turns_and_saturation_scales) {
  op_gives_about("AdjustHue[T=float]", "float[1,1,3] 1 0.25 0; float[] 1.3333333", "float[1,1,3] 0 1 0.25",
                 1e-6);
  op_gives_about("AdjustSaturation[T=float]", "float[1,1,3] 1 0.5 0.75; float[] 2", "float[1,1,3] 1 0 0.5",
                 1e-6);
  op_gives("AdjustSaturation[T=float]", "float[1,1,3] 1 0.5 0.75; float[] 0", "float[1,1,3] 1 1 1");
}

TEST(contrast_stretches_around_the_mean_of_each_channel) {
  op_gives("AdjustContrastv2[T=float]", "float[2,2,1,2] 1 2 3 6 1 1 1 3; float[] 2",
           "float[2,2,1,2] 0 0 4 8 1 0 1 4");
  op_gives("AdjustContrast[T=uint8]", "uint8[2,1,1] 1 3; float[] 3; float[] 0; float[] 4.5",
           "float[2,1,1] 0 4.5");
  op_fails("AdjustContrast[T=int32]", "int32[2,1,1] 1 3; float[] 3; float[1] 0; float[] 4.5",
           CODE_INVALID_ARGUMENT, "min_value must be scalar: [1]");
}

TEST(contrast_of_any_number_of_channels) {
  static const int64_t sizes[][3] = {{9, 15, 3}, {1, 1, 3},  {8, 8, 1},  {5, 13, 4},
                                     {7, 3, 63}, {3, 2, 64}, {2, 5, 150}};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    int64_t pixels = sizes[s][0] * sizes[s][1], channels = sizes[s][2];
    OpRun run;
    Status status;
    status_init(&status);
    CHECK_OK(op_run_begin(&run, "AdjustContrastv2[T=float]", &status), status);
    Tensor *x = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){2, sizes[s][0], sizes[s][1], channels});
    CHECK(x);
    for (int64_t i = 0; i < 2 * pixels * channels; i++) tensor_put(x, i, (double)(i * i % 37) - 10);
    CHECK_OK(op_run_inputs(&run, "float[] 1.5", &status), status);
    CHECK_OK(op_run_compute(&run, &status), status);
    for (int64_t i = 0; i < 2 * pixels * channels; i++) {
      int64_t first = i / (pixels * channels) * pixels * channels + i % channels;
      double mean = 0;
      for (int64_t k = 0; k < pixels; k++) mean += tensor_get(x, first + k * channels) / (double)pixels;
      if (!CHECK_NEAR(tensor_get(&run.outputs[0], i), mean + 1.5 * (tensor_get(x, i) - mean), 5e-6)) break;
    }
    op_run_end(&run);
  }
}

TEST(outlines_of_boxes_are_drawn) {
  op_gives("DrawBoundingBoxes[T=float]", "float[1,3,3,1] 0; float[1,1,4] 0 0 1 1",
           "float[1,3,3,1] 1 1 1 1 0 1 1 1 1");
  op_gives("DrawBoundingBoxesV2[T=half]",
           "half[1,2,3,1] 0; float[1,2,4] 0 0 1 0.5 -1 0.5 2 2; float[2,1] 5 7", "half[1,2,3,1] 5 7 0 5 7 0");
}

GRADIENT_CASES(colours, {"RGBToHSV[T=double]", "double[3] 0.25 0.5 0.125"},
               {"RGBToHSV[T=double]", "double[3,3] 0.75 0.5 0.125 0.25 0.5 0.9 0.3 0.1 0.7"},
               {"RGBToHSV[T=double]", "double[1,2,3] 0.1 0.8 0.6 0.9 0.2 0.4"})
