/* ImageProjectiveTransform and the patches of images and volumes. TensorFlow's own results are in
 * tests/data/golden/colours.pb. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

#define MAP "ImageProjectiveTransformV3[dtype=float, interpolation=NEAREST"

TEST(projective_maps_take_each_pixel_from_its_place) {
  op_gives(MAP "]", "float[1,1,4,1] 1 2 3 4; float[1,8] 1 0 1 0 1 0 0 0; int32[2] 1 4; float[] 9",
           "float[1,1,4,1] 2 3 4 9");
  op_gives(MAP "]", "float[1,2,2,1] 1 2 3 4; float[1,8] 0 1 0 1 0 0 0 0; int32[2] 2 2; float[] 9",
           "float[1,2,2,1] 1 3 2 4");
  op_gives(MAP "]", "float[1,1,2,1] 1 2; float[1,8] 1 0 0 0 1 0 -1 0; int32[2] 1 2; float[] 9",
           "float[1,1,2,1] 1 9");
  op_gives(MAP ", fill_mode=REFLECT]",
           "float[1,1,3,1] 1 2 3; float[1,8] 1 0 -3 0 1 0 0 0; int32[2] 1 9; float[] 9",
           "float[1,1,9,1] 3 2 1 1 2 3 3 2 1");
}

TEST(patches_are_the_elements_of_windows) {
  op_gives(
      "ExtractImagePatches[T=bool, ksizes=[1, 1, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 2, 1], "
      "padding=VALID]",
      "bool[1,1,4,1] true false false true", "bool[1,1,2,2] true false false true");
  op_gives("ExtractVolumePatches[T=int32, ksizes=[1, 2, 1, 1, 1], strides=[1, 1, 1, 1, 1], padding=SAME]",
           "int32[1,2,1,2,1] 1 2 3 4", "int32[1,2,1,2,2] 1 3 2 4 3 0 4 0");
}

#define TURNED "; float[1,8] 0 1 0 1 0 0 0 0; int32[2] 2 2"
#define MOVED "; float[1,8] 1 0 1 0 1 -1 0 0; int32[2] 3 2"
#define MIRRORED "; float[1,8] -1 0 2 0 1 0 0 0; int32[2] 2 3"
#define SIX "1 2 -1 0.5 3 -2"
#define PLAIN "interpolation=NEAREST]"
#define FILLED "; float[] 0"

/* The gradient is the inverse map, which is exact if it moves whole pixels. */
GRADIENT_CASES(
    projective_transform,
    {"ImageProjectiveTransformV2[dtype=double, " PLAIN, "double[1,2,2,1] 1 2 -1 0.5" TURNED},
    {"ImageProjectiveTransformV2[dtype=double, " PLAIN, "double[1,3,2,1] " SIX MOVED},
    {"ImageProjectiveTransformV2[dtype=double, " PLAIN, "double[1,2,3,1] " SIX MIRRORED},
    {"ImageProjectiveTransformV3[dtype=double, " PLAIN, "double[1,2,2,1] 1 2 -1 0.5" TURNED FILLED},
    {"ImageProjectiveTransformV3[dtype=double, " PLAIN, "double[2,2,2,1] 1 2 -1 0.5" TURNED FILLED},
    {"ImageProjectiveTransformV3[dtype=double, " PLAIN, "double[1,2,3,1] " SIX MIRRORED FILLED},
    {"ExtractImagePatches[T=double, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], "
     "padding=SAME]",
     "double[1,2,3,1] " SIX},
    {"ExtractImagePatches[T=double, ksizes=[1, 2, 1, 1], strides=[1, 2, 1, 1], rates=[1, 2, 1, 1], "
     "padding=SAME]",
     "double[1,3,1,2] " SIX},
    {"ExtractImagePatches[T=double, ksizes=[1, 2, 2, 1], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], "
     "padding=VALID]",
     "double[2,2,4,1] " SIX},
    {"ExtractImagePatches[T=complex128, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], "
     "padding=SAME]",
     "complex128[1,2,2,1] 1+2i 2-1i -1+0i 0+0.5i"},
    {"ExtractVolumePatches[T=double, ksizes=[1, 2, 1, 2, 1], strides=[1, 1, 1, 1, 1], padding=SAME]",
     "double[1,2,1,3,1] " SIX},
    {"ExtractVolumePatches[T=double, ksizes=[1, 2, 2, 1, 1], strides=[1, 1, 2, 1, 1], padding=VALID]",
     "double[1,2,3,1,1] " SIX},
    {"ExtractVolumePatches[T=double, ksizes=[1, 1, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding=VALID]",
     "double[1,1,2,3,2] " SIX})
