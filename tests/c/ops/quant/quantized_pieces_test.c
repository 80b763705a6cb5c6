/* Quantisation of tensors that are longer than a piece of a kernel, with ranges for which every float is
 * exact, so that the answers follow from the definitions. */
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"
#include "ops/support/quant_types.h"

enum { OUTER = 5, MIDDLE = 70, INNER = 3, COUNT = OUTER * MIDDLE * INNER };
static const int64_t kDims[3] = {OUTER, MIDDLE, INNER};

/* Eighths, ties among them, from below to above the range of a type; NaN and infinities in between. */
static float sample(const QuantType *type, int64_t i) {
  static const float kSpecial[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.5f, -0.5f, 0.49999997f, -0.49999997f};
  if (i % 97 < 8) return kSpecial[i % 97];
  double step = i % 2 ? 0.125 : ldexp(1, type->bits) / 512;
  return (float)(((double)type->lowest + (double)type->highest) / 2 + step * (double)(i * 37 % 601 - 300));
}

static double clamped(double x, double min, double max) { return x < min ? min : x > max ? max : x; }

/* The channel of element i along an axis; 0 for axis -1. */
static int64_t channel_of(int64_t i, int axis) {
  return axis == 0 ? i / (MIDDLE * INNER) : axis == 1 ? i / INNER % MIDDLE : axis == 2 ? i % INNER : 0;
}
/* Each channel has a scale of its own. */
static double scale_of(int64_t channel) { return ldexp(1, -(int)(channel % 3)); }

static void put_ranges(OpRun *run, double min, double max, int axis) {
  int64_t channels = axis < 0 ? 1 : kDims[axis];
  for (int end = 0; end < 2; end++) {
    Tensor *range = op_run_input(run, DT_FLOAT, axis < 0 ? 0 : 1, &channels);
    for (int64_t c = 0; c < channels; c++) tensor_f32(range)[c] = (float)((end ? max : min) * scale_of(c));
  }
}

static const DataType kTypes[] = {DT_QINT8, DT_QUINT8, DT_QINT16, DT_QUINT16};
enum { TYPES = sizeof kTypes / sizeof *kTypes };
static const char *const kModes[] = {"MIN_COMBINED", "MIN_FIRST", "SCALED"};
enum { MIN_COMBINED, MIN_FIRST, SCALED, MODES };

static double rounded(double x, const QuantType *type, int mode, bool even) {
  if (mode == MIN_COMBINED && type->lowest == 0) return floor((double)((float)x + 0.5f));
  return even ? rint(x) : round(x);
}

static void check_quantize(DataType dtype, int mode, bool even, int axis) {
  Status status;
  status_init(&status);
  OpRun run;
  char spec[160];
  QuantType type = quant_type(dtype);
  snprintf(spec, sizeof spec, "QuantizeV2[T=%s, mode=%s, axis=%d, round_mode=%s]", dtype_name((int)dtype),
           kModes[mode], axis, even ? "HALF_TO_EVEN" : "HALF_AWAY_FROM_ZERO");
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *x = op_run_input(&run, DT_FLOAT, 3, kDims);
  for (int64_t i = 0; i < COUNT; i++)
    tensor_f32(x)[i] = sample(&type, i) * (float)scale_of(channel_of(i, axis));
  put_ranges(&run, (double)type.lowest, (double)type.highest, axis);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < COUNT; i++) {
      CHECK_CONTEXT("%s element %d", spec, (int)i);
      double value = (double)sample(&type, i), lowest = (double)type.lowest;
      double want =
          isnan(value) ? lowest : rounded(clamped(value, lowest, (double)type.highest), &type, mode, even);
      /* qint8 and qint16 are rounded after the lowest number is subtracted, and then moved. */
      if (mode == MIN_COMBINED && type.lowest < 0 && !isnan(value))
        want = round((double)((float)clamped(value, lowest, (double)type.highest) - (float)lowest) + lowest);
      CHECK_INT_EQ(quant_at(&run.outputs[0], i), (int64_t)want);
    }
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(floats_of_long_tensors_become_numbers) {
  for (int t = 0; t < TYPES; t++) {
    for (int mode = 0; mode < MODES; mode++) check_quantize(kTypes[t], mode, false, -1);
    check_quantize(kTypes[t], SCALED, true, -1);
    for (int axis = 0; axis < 3; axis++) {
      check_quantize(kTypes[t], SCALED, false, axis);
      check_quantize(kTypes[t], SCALED, true, axis);
      check_quantize(kTypes[t], MIN_COMBINED, false, axis);
    }
  }
}

TEST(floats_beyond_qint32_become_its_ends) {
  op_gives("QuantizeV2[T=qint32, mode=SCALED]",
           "float[9] nan inf -inf 1073741824 -1073741824 1073741760 0.5 -0.75 0.2; float[] -1073741824; "
           "float[] 1073741824",
           "qint32[9] -2147483648 2147483647 -2147483648 2147483647 -2147483648 2147483520 1 -2 0; "
           "float[] -1073741824; float[] 1073741824");
}

static void check_dequantize(DataType dtype, DataType to, int mode, int axis) {
  Status status;
  status_init(&status);
  OpRun run;
  char spec[160];
  QuantType type = quant_type(dtype);
  snprintf(spec, sizeof spec, "Dequantize[T=%s, mode=%s, axis=%d, dtype=%s]", dtype_name((int)dtype),
           kModes[mode], axis, dtype_name((int)to));
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  Tensor *x = op_run_input(&run, dtype, 3, kDims);
  int32_t numbers[COUNT];
  for (int64_t i = 0; i < COUNT; i++)
    numbers[i] = (int32_t)(i % 2 ? type.lowest + i * 37 % 128 : type.highest - i * 37 % 128);
  quant_write(x, 0, COUNT, numbers);
  put_ranges(&run, (double)type.lowest, (double)type.highest, axis);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < COUNT; i++) {
      CHECK_CONTEXT("%s element %d", spec, (int)i);
      CHECK_NEAR(tensor_get(&run.outputs[0], i), numbers[i] * scale_of(channel_of(i, axis)), 0);
    }
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(numbers_of_long_tensors_become_floats) {
  for (int t = 0; t < TYPES; t++) {
    for (int mode = 0; mode < MODES; mode++) check_dequantize(kTypes[t], DT_FLOAT, mode, -1);
    for (int axis = 0; axis < 3; axis++) {
      check_dequantize(kTypes[t], DT_FLOAT, SCALED, axis);
      check_dequantize(kTypes[t], DT_FLOAT, MIN_COMBINED, axis);
    }
  }
  check_dequantize(DT_QINT8, DT_BFLOAT16, MIN_COMBINED, -1); /* 8 bits are exact */
  check_dequantize(DT_QUINT8, DT_BFLOAT16, MIN_COMBINED, 1);
}

/* The range from -16 to 15.875 has eighths as levels. */
static void put_fakes(OpRun *run, const char *op, bool gradient, bool channels) {
  if (gradient) {
    Tensor *dy = op_run_input(run, DT_FLOAT, 3, kDims);
    for (int64_t i = 0; i < COUNT; i++) tensor_f32(dy)[i] = (float)(i % 19 - 9);
  }
  Tensor *x = op_run_input(run, DT_FLOAT, 3, kDims);
  for (int64_t i = 0; i < COUNT; i++)
    tensor_f32(x)[i] = (float)((double)(i * 37 % 701 - 350) / 16 * scale_of(channels ? channel_of(i, 2) : 0));
  if (op) put_ranges(run, -16, 15.875, channels ? 2 : -1);
}

static const struct {
  const char *op, *attrs;
  bool ranges, channels;
} kFakes[] = {{"FakeQuantWithMinMaxArgs", "[min=-16, max=15.875]", false, false},
              {"FakeQuantWithMinMaxVars", "", true, false},
              {"FakeQuantWithMinMaxVarsPerChannel", "", true, true}};

TEST(floats_of_long_tensors_become_levels) {
  for (int f = 0; f < 3; f++) {
    Status status;
    status_init(&status);
    OpRun run;
    char spec[100];
    snprintf(spec, sizeof spec, "%s%s", kFakes[f].op, kFakes[f].attrs);
    REQUIRE_OK(op_run_begin(&run, spec, &status), status);
    put_fakes(&run, kFakes[f].ranges ? spec : NULL, false, kFakes[f].channels);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int64_t i = 0; i < COUNT; i++) {
        CHECK_CONTEXT("%s element %d", spec, (int)i);
        double scale = scale_of(kFakes[f].channels ? channel_of(i, 2) : 0);
        double level = floor(clamped((double)(i * 37 % 701 - 350) / 16, -16, 15.875) * 8 + 0.5);
        CHECK_NEAR(tensor_get(&run.outputs[0], i), level / 8 * scale, 0);
      }
    }
    op_run_end(&run);
    CHECK_CONTEXT("%s", "");
  }
}

TEST(gradients_of_levels_of_long_tensors) {
  for (int f = 0; f < 3; f++) {
    Status status;
    status_init(&status);
    OpRun run;
    char spec[100];
    double below[INNER] = {0}, above[INNER] = {0};
    snprintf(spec, sizeof spec, "%sGradient%s", kFakes[f].op, kFakes[f].attrs);
    REQUIRE_OK(op_run_begin(&run, spec, &status), status);
    put_fakes(&run, kFakes[f].ranges ? spec : NULL, true, kFakes[f].channels);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int64_t i = 0; i < COUNT; i++) {
        CHECK_CONTEXT("%s element %d", spec, (int)i);
        double x = (double)(i * 37 % 701 - 350) / 16, dy = (double)(i % 19 - 9);
        int64_t channel = kFakes[f].channels ? channel_of(i, 2) : 0;
        if (x < -16) below[channel] += dy;
        if (x > 15.875) above[channel] += dy;
        CHECK_NEAR(tensor_get(&run.outputs[0], i), x < -16 || x > 15.875 ? 0 : dy, 0);
      }
      for (int64_t c = 0; kFakes[f].ranges && c < (kFakes[f].channels ? INNER : 1); c++) {
        CHECK_NEAR(tensor_get(&run.outputs[1], c), below[c], 0);
        CHECK_NEAR(tensor_get(&run.outputs[2], c), above[c], 0);
      }
    }
    op_run_end(&run);
    CHECK_CONTEXT("%s", "");
  }
}

TEST(no_levels_from_0_to_0) {
  op_gives("FakeQuantWithMinMaxVars", "float[3] nan 1 -inf; float[] 0; float[] 0", "float[3] 0");
  op_gives("FakeQuantWithMinMaxVarsGradient", "float[3] 1 2 3; float[3] nan 1 -5; float[] 0; float[] 0",
           "float[3] 1 2 3; float[] 0; float[] 0");
}

TEST(gradients_of_rounding_are_those_in_the_range) {
  static const char *const kNames[] = {"float", "double", "half", "bfloat16"};
  for (int t = 0; t < 4; t++) {
    char spec[100];
    snprintf(spec, sizeof spec, "QuantizeAndDequantizeV4Grad[T=%s]", kNames[t]);
    char inputs[200], want[200];
    snprintf(inputs, sizeof inputs, "%s[6] 1 2 3 4 5 6; %s[6] nan -1 1 -1.5 1.5 0.25; %s[] -1; %s[] 1",
             kNames[t], kNames[t], kNames[t], kNames[t]);
    snprintf(want, sizeof want, "%s[6] 0 2 3 0 0 6; %s[] 0; %s[] 0", kNames[t], kNames[t], kNames[t]);
    op_gives(spec, inputs, want);
  }
}

/* --- numbers of images; the range from 0 to 255 has the numbers as floats --- */

enum { HEIGHT = 4, WIDTH = 5, DEPTH = 300 };
static int32_t byte_at(int64_t row, int64_t column, int64_t channel) {
  return (int32_t)((row * 83 + column * 31 + channel * 7 + row * channel) % 256);
}

static void put_image(OpRun *run) {
  Tensor *x = op_run_input(run, DT_QUINT8, 4, (int64_t[]){1, HEIGHT, WIDTH, DEPTH});
  for (int64_t i = 0; i < HEIGHT * WIDTH * DEPTH; i++)
    ((uint8_t *)x->data)[i] = (uint8_t)byte_at(i / DEPTH / WIDTH, i / DEPTH % WIDTH, i % DEPTH);
}

static void check_pool(bool average) {
  Status status;
  status_init(&status);
  OpRun run;
  char spec[160];
  snprintf(spec, sizeof spec,
           "Quantized%sPool[T=quint8, ksize=[1, 3, 2, 1], strides=[1, 1, 1, 1], padding=SAME]",
           average ? "Avg" : "Max");
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  put_image(&run);
  REQUIRE_OK(op_run_inputs(&run, "float[] 0; float[] 255", &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < HEIGHT * WIDTH * DEPTH; i++) {
      int64_t row = i / DEPTH / WIDTH, column = i / DEPTH % WIDTH, sum = 0, count = 0, best = 0;
      for (int64_t r = row - 1; r <= row + 1; r++) {
        for (int64_t c = column; c <= column + 1; c++) {
          if (r < 0 || r >= HEIGHT || c >= WIDTH) continue;
          int64_t number = byte_at(r, c, i % DEPTH);
          count++;
          sum += number;
          best = number > best ? number : best;
        }
      }
      CHECK_INT_EQ(quant_at(&run.outputs[0], i), average ? sum / count : best);
    }
  }
  op_run_end(&run);
}

TEST(quantized_pools_of_many_channels) {
  check_pool(false);
  check_pool(true);
}

TEST(quantized_relus_of_long_tensors) {
  for (int bounded = 0; bounded < 2; bounded++) {
    Status status;
    status_init(&status);
    OpRun run;
    REQUIRE_OK(op_run_begin(&run, bounded ? "QuantizedRelu6[Tinput=quint8]" : "QuantizedRelu[Tinput=quint8]",
                            &status),
               status);
    put_image(&run);
    REQUIRE_OK(op_run_inputs(&run, "float[] -128; float[] 127", &status), status);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int64_t i = 0; i < HEIGHT * WIDTH * DEPTH; i++) {
        int64_t number = byte_at(i / DEPTH / WIDTH, i / DEPTH % WIDTH, i % DEPTH);
        number = number < 128 ? 128 : bounded && number > 134 ? 134 : number;
        CHECK_INT_EQ(quant_at(&run.outputs[0], i), number);
      }
    }
    op_run_end(&run);
  }
}

/* The numbers of the bias stand for twice as much, and the larger end of both ranges, 256, for 2^31 / 2^17.
 */
TEST(quantized_biases_of_many_channels) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "QuantizedBiasAdd[T1=quint8, T2=qint8, out_type=qint32]", &status), status);
  put_image(&run);
  int64_t depth = DEPTH;
  Tensor *bias = op_run_input(&run, DT_QINT8, 1, &depth);
  for (int64_t c = 0; c < DEPTH; c++) ((int8_t *)bias->data)[c] = (int8_t)(c * 11 % 256 - 128);
  REQUIRE_OK(op_run_inputs(&run, "float[] 0; float[] 255; float[] -256; float[] 254", &status), status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    CHECK_NEAR(tensor_get(&run.outputs[2], 0), 256 * (1 << 17), 0);
    for (int64_t i = 0; i < HEIGHT * WIDTH * DEPTH; i++) {
      int64_t number = byte_at(i / DEPTH / WIDTH, i / DEPTH % WIDTH, i % DEPTH);
      CHECK_INT_EQ(quant_at(&run.outputs[0], i), 64 * (number + 2 * (i % DEPTH * 11 % 256 - 128)));
    }
  }
  op_run_end(&run);
}

/* From numbers of qint32 that stand for themselves to bytes that do. */
TEST(long_tensors_are_requantized) {
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, "Requantize[Tinput=qint32, out_type=quint8]", &status), status);
  Tensor *x = op_run_input(&run, DT_QINT32, 3, kDims);
  for (int64_t i = 0; i < COUNT; i++) tensor_i32(x)[i] = (int32_t)(i * 37 % 401 - 50);
  REQUIRE_OK(op_run_inputs(&run, "float[] -2147483648; float[] 2147483648; float[] 0; float[] 255", &status),
             status);
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int64_t i = 0; i < COUNT; i++)
      CHECK_INT_EQ(quant_at(&run.outputs[0], i), (int64_t)clamped((double)(i * 37 % 401 - 50), 0, 255));
  }
  op_run_end(&run);
}

/* Numbers of -128 to 127 are as many floats, less 128; the product counts in ones. */
TEST(long_quantized_operands_are_combined) {
  for (int multiplies = 0; multiplies < 2; multiplies++) {
    Status status;
    status_init(&status);
    OpRun run;
    REQUIRE_OK(op_run_begin(&run,
                            multiplies ? "QuantizedMul[T1=quint8, T2=quint8]"
                                       : "QuantizedAdd[T1=quint8, T2=quint8]",
                            &status),
               status);
    put_image(&run);
    int64_t depth = DEPTH;
    Tensor *row = op_run_input(&run, DT_QUINT8, 1, &depth);
    for (int64_t c = 0; c < DEPTH; c++) ((uint8_t *)row->data)[c] = (uint8_t)(c * 11 % 256);
    REQUIRE_OK(op_run_inputs(&run, "float[] -128; float[] 127; float[] -128; float[] 127", &status), status);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      double level = tensor_get(&run.outputs[2], 0) / 2147483647.0;
      for (int64_t i = 0; i < HEIGHT * WIDTH * DEPTH; i++) {
        int64_t a = byte_at(i / DEPTH / WIDTH, i / DEPTH % WIDTH, i % DEPTH) - 128,
                b = i % DEPTH * 11 % 256 - 128;
        if (multiplies) CHECK_INT_EQ(quant_at(&run.outputs[0], i), a * b);
        else CHECK_NEAR((double)quant_at(&run.outputs[0], i) * level, (double)(a + b), 0.01);
      }
    }
    op_run_end(&run);
  }
}
