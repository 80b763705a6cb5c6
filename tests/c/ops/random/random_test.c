/* Random numbers: the generator compared with the published vectors of Random123, the ops by their moments
 * and independence of the number of threads; TensorFlow's own numbers are in tests/data/golden. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/support/philox.h"

/* --- the generator --- */

TEST(philox_gives_the_published_words) {
  static const struct {
    Philox start;
    uint32_t words[4];
  } kVectors[] = {
      {{{0, 0, 0, 0}, {0, 0}}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (int i = 0; i < 3; i++) {
    Philox generator = kVectors[i].start;
    uint32_t words[4];
    philox_next(&generator, words);
    CHECK_MEM_EQ(words, kVectors[i].words, sizeof words);
  }
}

TEST(philox_counts_in_128_bits) {
  Philox generator = {{0xffffffff, 0xffffffff, 0xffffffff, 6}, {1, 2}};
  uint32_t words[4];
  philox_next(&generator, words);
  CHECK_MEM_EQ(generator.counter, ((uint32_t[4]){0, 0, 0, 7}), 16);
  philox_skip(&generator, UINT64_MAX);
  CHECK_MEM_EQ(generator.counter, ((uint32_t[4]){0xffffffff, 0xffffffff, 0, 7}), 16);
  philox_skip(&generator, UINT64_MAX);
  CHECK_MEM_EQ(generator.counter, ((uint32_t[4]){0xfffffffe, 0xffffffff, 1, 7}), 16);
}

TEST(philox_skips_as_it_would_count) {
  Philox walking = philox_seed(0x123456789abcdef0, 0xfedcba9876543210), skipping = walking;
  CHECK_MEM_EQ(&walking, (&(Philox){{0, 0, 0x76543210, 0xfedcba98}, {0x9abcdef0, 0x12345678}}),
               sizeof walking);
  uint32_t words[4];
  for (int i = 0; i < 1000; i++) philox_next(&walking, words);
  philox_skip(&skipping, 1000);
  CHECK_MEM_EQ(&walking, &skipping, sizeof walking);
}

TEST(groups_side_by_side_are_those_one_after_the_other) {
  Philox start = {{0xffffffe0, 0xffffffff, 0xffffffff, 6}, {1, 2}};
  for (uint64_t stride = 1; stride <= (uint64_t)1 << 32; stride *= 16) {
    for (int count = 0; count <= 40; count++) {
      uint32_t words[160], want[160];
      philox_groups(&start, 3, stride, count, words);
      for (int i = 0; i < count; i++) {
        Philox generator = start;
        philox_skip(&generator, 3 + (uint64_t)i * stride);
        philox_next(&generator, want + 4 * i);
      }
      CHECK(memcmp(words, want, (size_t)count * 16) == 0);
    }
  }
}

TEST(words_become_numbers_below_one) {
  CHECK_NEAR(philox_uniform_f16(0xffffffff), 1 - 1.0 / 1024, 0);
  CHECK_NEAR(philox_uniform_bf16(0xffffffff), 1 - 1.0 / 128, 0);
  CHECK_NEAR(philox_uniform_f16(0xfffffc00), 0, 0);
  CHECK_NEAR(philox_uniform_bf16(0xffffff81), 1.0 / 128, 0);
  CHECK_NEAR(philox_uniform_f32(0), 0, 0);
  CHECK_NEAR(philox_uniform_f32(0xffffffff), 1 - 1.0 / (1 << 23), 0);
  CHECK_NEAR(philox_uniform_f64(0, 1), 1.0 / ((int64_t)1 << 52), 0);
  CHECK_NEAR(philox_uniform_f64(0xffffffff, 0xffffffff), 1 - 1.0 / ((int64_t)1 << 52), 0);
}

/* --- the ops --- */

/* One node, run `runs` times in one session; outputs into `outputs`, which the caller clears. */
static bool run_node(const char *op, const char *inputs, const Parallel *parallel, Tensor *outputs, int runs,
                     Status *status) {
  OpRun run;
  OpKernel *kernel = NULL;
  const Tensor *all[OP_RUN_MAX];
  bool ok = op_run_begin(&run, op, status) && op_run_inputs(&run, inputs, status) &&
            op_kernel_new(run.op, run.node, NULL, NULL, &kernel, status);
  for (int i = 0; i < run.num_inputs; i++) all[i] = &run.inputs[i];
  for (int r = 0; ok && r < runs; r++) {
    KernelContext context = {.inputs = all, .outputs = &outputs[r], .parallel = parallel};
    ok = op_kernel_run(kernel, &context, status);
  }
  op_kernel_free(kernel);
  op_run_end(&run);
  return ok;
}

TEST(each_run_goes_on_where_the_last_one_ended) {
  Status status;
  status_init(&status);
  Tensor outputs[4] = {0};
  static const int kWant[] = {6, 4, 0, 1};
  const char *op = "RandomUniformInt[seed=37, seed2=48, Tout=int32, T=int32]";
  if (CHECK_OK(run_node(op, "int32[1] 1; int32[] 0; int32[] 10", NULL, outputs, 4, &status), status)) {
    for (int r = 0; r < 4; r++) CHECK_INT_EQ(tensor_i32(&outputs[r])[0], kWant[r]);
  }
  for (int r = 0; r < 4; r++) tensor_clear(&outputs[r]);
}

/* Mean and variance, within five standard errors; `fourth` is the fourth central moment. */
static void check_moments(const Tensor *numbers, double mean, double variance, double fourth) {
  int64_t n = tensor_num_elements(numbers);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++) sum += tensor_get(numbers, i);
  for (int64_t i = 0; i < n; i++) squares += pow(tensor_get(numbers, i) - mean, 2);
  CHECK_NEAR(sum / (double)n, mean, 5 * sqrt(variance / (double)n));
  CHECK_NEAR(squares / (double)n, variance, 5 * sqrt((fourth - variance * variance) / (double)n));
}

TEST(moments_of_the_distributions) {
  /* Of the normal distribution cut at 2, with the density p and the probability c of the middle: E x^2 = 1 -
   * 4 p(2) / c, and E x^4 = 3 E x^2 - 16 p(2) / c. */
  double density = exp(-2) / sqrt(2 * 3.14159265358979323846), middle = erf(sqrt(2));
  double cut_variance = 1 - 4 * density / middle, cut_fourth = 3 * cut_variance - 16 * density / middle;
  const struct {
    const char *op;
    double mean, variance, fourth, low, high;
  } cases[] = {{"RandomUniform", 0.5, 1.0 / 12, 1.0 / 80, 0, 1},
               {"RandomStandardNormal", 0, 1, 3, -7, 7},
               {"TruncatedNormal", 0, cut_variance, cut_fourth, -2, 2}};
  Status status;
  status_init(&status);
  for (int i = 0; i < 6; i++) {
    char op[96];
    Tensor output = {0};
    snprintf(op, sizeof op, "%s[seed=87654321, seed2=3, dtype=%s, T=int32]", cases[i / 2].op,
             i % 2 == 0 ? "float" : "double");
    CHECK_CONTEXT("%s", op);
    if (CHECK_OK(run_node(op, "int32[2] 1000 201", NULL, &output, 1, &status), status)) {
      check_moments(&output, cases[i / 2].mean, cases[i / 2].variance, cases[i / 2].fourth);
      bool inside = true;
      for (int64_t k = 0; k < tensor_num_elements(&output); k++) {
        double x = tensor_get(&output, k);
        inside = inside && x >= cases[i / 2].low && x < cases[i / 2].high;
      }
      CHECK(inside);
    }
    tensor_clear(&output);
  }
}

TEST(threads_do_not_change_random_numbers) {
  static const char *const kCases[][2] = {
      {"RandomUniform[seed=5, dtype=float, T=int32]", "int32[1] 100003"},
      {"RandomUniform[seed=5, dtype=double, T=int32]", "int32[1] 100003"},
      {"RandomUniform[seed=5, dtype=bfloat16, T=int32]", "int32[1] 100003"},
      {"RandomStandardNormal[seed=5, dtype=float, T=int32]", "int32[1] 100003"},
      {"RandomStandardNormal[seed=5, dtype=double, T=int32]", "int32[1] 100003"},
      {"TruncatedNormal[seed=5, dtype=float, T=int32]", "int32[1] 100003"},
      {"TruncatedNormal[seed=5, dtype=double, T=int32]", "int32[1] 100003"},
      {"TruncatedNormal[seed=5, dtype=half, T=int32]", "int32[1] 100003"},
      {"RandomUniformInt[seed=5, Tout=int32, T=int32]", "int32[1] 100003; int32[] 0; int32[] 99"},
      {"RandomUniformInt[seed=5, Tout=int64, T=int32]", "int32[1] 100003; int64[] 0; int64[] 99"},
      {"Multinomial[seed=5, T=float, output_dtype=int32]", "float[31,3] 0.5 1 0.25; int32[] 777"},
      {"StatelessMultinomial[T=int32, Tseed=int32, output_dtype=int64]",
       "int32[31,3] 1 2 0; int32[] 777; int32[2] 3 4"},
      {"StatelessTruncatedNormal[T=int32, Tseed=int32, dtype=float]", "int32[1] 100003; int32[2] 3 4"},
  };
  Status status;
  status_init(&status);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    const char *op = kCases[i][0], *inputs = kCases[i][1];
    int64_t calls = 0;
    Parallel parallel = {fake_parallel_run, &calls, 4};
    Tensor alone[2] = {0}, split[2] = {0};
    CHECK_CONTEXT("%s", op);
    if (CHECK_OK(run_node(op, inputs, NULL, alone, 2, &status), status) &&
        CHECK_OK(run_node(op, inputs, &parallel, split, 2, &status), status)) {
      for (int r = 0; r < 2; r++)
        CHECK(memcmp(alone[r].data, split[r].data, (size_t)tensor_bytes(&alone[r])) == 0);
      CHECK(calls > 2);
    }
    for (int r = 0; r < 2; r++) tensor_clear(&alone[r]), tensor_clear(&split[r]);
  }
}

TEST(without_seeds_numbers_are_not_repeated) {
  Status status;
  status_init(&status);
  Tensor first[2] = {0}, second = {0};
  const char *op = "RandomUniform[dtype=double, T=int64]";
  if (CHECK_OK(run_node(op, "int64[1] 4", NULL, first, 2, &status), status) &&
      CHECK_OK(run_node(op, "int64[1] 4", NULL, &second, 1, &status), status)) {
    CHECK(memcmp(first[0].data, first[1].data, 32) != 0);
    CHECK(memcmp(first[0].data, second.data, 32) != 0);
  }
  tensor_clear(&first[0]);
  tensor_clear(&first[1]);
  tensor_clear(&second);
}

TEST(integers_cover_any_range) {
  op_gives("RandomUniformInt[seed=1, Tout=int32, T=int32]",
           "int32[1] 5; int32[] -2147483648; int32[] -2147483647", "int32[5] -2147483648");
  op_gives("RandomUniformInt[seed=1, Tout=int64, T=int32]",
           "int32[1] 3; int64[] 9223372036854775806; int64[] 9223372036854775807",
           "int64[3] 9223372036854775806");
  Status status;
  status_init(&status);
  Tensor output = {0};
  const char *op = "RandomUniformInt[seed=1, Tout=int32, T=int32]";
  if (CHECK_OK(run_node(op, "int32[1] 10000; int32[] -2147483648; int32[] 2147483647", NULL, &output, 1,
                        &status),
               status)) {
    int negative = 0;
    for (int i = 0; i < 10000; i++) negative += tensor_i32(&output)[i] < 0;
    CHECK_NEAR(negative, 5000, 250);
  }
  tensor_clear(&output);
}

TEST(random_shapes_and_bounds_are_checked) {
  const char *op = "RandomUniform[dtype=float, T=int32]";
  op_gives(op, "int32[2] 3 0", "float[3,0]");
  op_fails(op, "int32[1] -3", CODE_INVALID_ARGUMENT, "Dimension -3 must be >= 0");
  op_fails(op, "int32[] 3", CODE_INVALID_ARGUMENT, "shape must be a vector of {int32,int64}, got shape []");
  op_fails("TruncatedNormal[dtype=float, T=int64]", "int64[2] 4611686018427387904 4", CODE_INVALID_ARGUMENT,
           "2**63 - 1");
  op_fails("RandomUniformInt[Tout=int32, T=int32]", "int32[1] 3; int32[] 5; int32[] 5", CODE_INVALID_ARGUMENT,
           "Need minval < maxval, got 5 >= 5");
  op_fails("RandomUniformInt[Tout=int32, T=int32]", "int32[1] 3; int32[1] 5; int32[] 6",
           CODE_INVALID_ARGUMENT, "minval must be 0-D, got shape [1]");
}

TEST(bounds_are_looked_at_only_where_numbers_are_wanted) {
  op_gives("RandomUniformInt[Tout=int32, T=int32]", "int32[1] 0; int32[] 5; int32[] 5", "int32[0]");
  op_gives("StatelessRandomUniformInt[dtype=int64, T=int64]",
           "int64[1] 0; int64[2] 1 2; int64[] 5; int64[] 5", "int64[0]");
  op_fails("RandomUniformInt[Tout=int64, T=int32]", "int32[1] 0; int64[] 5; int64[1] 6",
           CODE_INVALID_ARGUMENT, "maxval must be 0-D, got shape [1]");
}

TEST(stateless_inputs_are_checked) {
  static const char *const kFloats[] = {"StatelessRandomUniform", "StatelessRandomNormal",
                                        "StatelessTruncatedNormal"};
  for (int i = 0; i < 3; i++) {
    char op[96];
    snprintf(op, sizeof op, "%s[dtype=float, T=int32, Tseed=int64]", kFloats[i]);
    op_gives(op, "int32[2] 0 3; int64[2] 1 2", "float[0,3]");
    op_fails(op, "int32[1] 2; int64[3] 1 2 3", CODE_INVALID_ARGUMENT, "seed must have shape [2], not [3]");
    op_fails(op, "int32[1] 0; int64[1,2] 1 2", CODE_INVALID_ARGUMENT, "seed must have shape [2], not [1,2]");
    op_fails(op, "int32[1] -1; int64[2] 1 2", CODE_INVALID_ARGUMENT, "Dimension -1 must be >= 0");
    op_fails(op, "int32[] 3; int64[2] 1 2", CODE_INVALID_ARGUMENT,
             "shape must be a vector of {int32,int64}, got shape []");
  }
  const char *op = "StatelessRandomUniformInt[dtype=int32, T=int32, Tseed=int32]";
  op_fails(op, "int32[1] 2; int32[2] 1 2; int32[] 3; int32[] 3", CODE_INVALID_ARGUMENT,
           "Need minval < maxval, got 3 >= 3");
  op_fails(op, "int32[1] 2; int32[2] 1 2; int32[1] 3; int32[] 4", CODE_INVALID_ARGUMENT,
           "minval must be 0-D, got shape [1]");
}

/* --- Multinomial --- */

TEST(draws_follow_the_probabilities) {
  /* exp of the logits: 1, 4, 0, 3 of 8. An infinite logit has no weight, whatever its sign. */
  static const char *const kTypes[] = {"float", "double", "half", "bfloat16"};
  static const double kShares[] = {1.0 / 8, 4.0 / 8, 0, 3.0 / 8};
  Status status;
  status_init(&status);
  for (int t = 0; t < 4; t++) {
    char op[96], inputs[160];
    Tensor output = {0};
    snprintf(op, sizeof op, "Multinomial[seed=11, seed2=7, T=%s, output_dtype=int64]", kTypes[t]);
    snprintf(inputs, sizeof inputs, "%s[1,4] 0 1.3862943611198906 %s 1.0986122886681098; int32[] 20000",
             kTypes[t], t % 2 == 0 ? "inf" : "-inf");
    CHECK_CONTEXT("%s", op);
    if (CHECK_OK(run_node(op, inputs, NULL, &output, 1, &status), status)) {
      double counts[4] = {0};
      for (int i = 0; i < 20000; i++) {
        int64_t drawn = tensor_i64(&output)[i];
        if (CHECK(drawn >= 0 && drawn < 4)) counts[drawn]++;
      }
      CHECK_INT_EQ((int64_t)counts[2], 0);
      for (int k = 0; k < 4; k++) CHECK_NEAR(counts[k] / 20000, kShares[k], 0.02);
    }
    tensor_clear(&output);
  }
}

TEST(draws_of_one_class) {
  op_gives("Multinomial[T=int8, output_dtype=int32]", "int8[1,3] 0 127 -128; int32[] 4", "int32[1,4] 1");
  op_gives("Multinomial[T=int8, output_dtype=int32]", "int8[1,4] 0 -3 127 -128; int32[] 2", "int32[1,2] 2");
  op_gives("Multinomial[T=uint64, output_dtype=int64]", "uint64[1,2] 18446744073709551615 0; int32[] 2",
           "int64[1,2] 0");
  op_gives("Multinomial[T=float, output_dtype=int64]", "float[0,2]; int32[] 3", "int64[0,3]");
  op_gives("Multinomial[T=float, output_dtype=int64]", "float[2,2] 1; int32[] 0", "int64[2,0]");
  /* If all weights are zero, TensorFlow returns the number of classes. */
  op_gives("Multinomial[T=float, output_dtype=int64]", "float[1,3] nan inf -inf; int32[] 2", "int64[1,2] 3");
}

TEST(multinomial_inputs_are_checked) {
  const char *op = "Multinomial[T=float, output_dtype=int64]";
  op_fails(op, "float[2,3] 1; int32[] -1", CODE_INVALID_ARGUMENT,
           "num_samples should be non-negative, got -1");
  op_fails(op, "float[2,3] 1; int32[1] 1", CODE_INVALID_ARGUMENT,
           "num_samples should be a scalar, got shape [1]");
  op_fails(op, "float[3] 1; int32[] 1", CODE_INVALID_ARGUMENT, "logits should be a matrix, got shape [3]");
  op_fails(op, "float[2,0]; int32[] 0", CODE_INVALID_ARGUMENT, "num_classes should be positive, got 0");
  op = "StatelessMultinomial[T=float, Tseed=int64, output_dtype=int64]";
  op_fails(op, "float[2,3] 1; int32[] -1; int64[2] 1 2", CODE_INVALID_ARGUMENT,
           "num_samples should be non-negative, got -1");
  op_fails(op, "float[2,3] 1; int32[] 1; int64[1] 3", CODE_INVALID_ARGUMENT,
           "seed must have shape [2], not [1]");
}

/* --- RandomShuffle --- */

TEST(shuffling_keeps_rows) {
  op_gives("RandomShuffle[seed=1, T=int32]", "int32[] 3", "int32[] 3");
  op_gives("RandomShuffle[seed=1, T=string]", "string[1,2] a b", "string[1,2] a b");
  op_gives("RandomShuffle[seed=1, T=float]", "float[3,0]", "float[3,0]");
  op_gives("RandomShuffle[seed=1, T=string]", "string[3] same", "string[3] same");
  Status status;
  status_init(&status);
  Tensor output = {0};
  StrBuf text = {0};
  strbuf_append(&text, "int32[500,2]");
  for (int i = 0; i < 500; i++) strbuf_printf(&text, " %d %d", i, 1000 + i);
  if (CHECK_OK(run_node("RandomShuffle[seed=3, T=int32]", strbuf_text(&text), NULL, &output, 1, &status),
               status)) {
    bool seen[500] = {0};
    int moved = 0;
    for (int i = 0; i < 500; i++) {
      int32_t row = tensor_i32(&output)[2 * i];
      if (!CHECK(row >= 0 && row < 500 && !seen[row])) break;
      seen[row] = true;
      moved += row != i;
      CHECK_INT_EQ(tensor_i32(&output)[2 * i + 1], 1000 + row);
    }
    CHECK(moved > 450);
  }
  strbuf_free(&text);
  tensor_clear(&output);
}

/* One class has all the weight, however many samples and classes there are. */
TEST(multinomial_draws_the_class_that_has_all_the_weight) {
  for (int classes = 1; classes <= 8; classes++) {
    for (int samples = 1; samples <= 4; samples++) {
      char inputs[256], outputs[128];
      int at = snprintf(inputs, sizeof inputs, "float[2,%d]", classes),
          out = snprintf(outputs, sizeof outputs, "int64[2,%d]", samples);
      for (int row = 0; row < 2; row++) {
        int heavy = row == 0 ? 0 : classes - 1;
        for (int k = 0; k < classes; k++)
          at += snprintf(inputs + at, sizeof inputs - (size_t)at, k == heavy ? " 0" : " -1e4");
        for (int k = 0; k < samples; k++)
          out += snprintf(outputs + out, sizeof outputs - (size_t)out, " %d", heavy);
      }
      snprintf(inputs + at, sizeof inputs - (size_t)at, "; int32[] %d", samples);
      op_gives("Multinomial[T=float, seed=1, seed2=2]", inputs, outputs);
    }
  }
}
