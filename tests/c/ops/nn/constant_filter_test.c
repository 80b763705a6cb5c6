/* Constant filters of Conv2D: the forms that blas/conv.h and blas/winograd.h need are made by the first step
 * that needs them. Results are compared with sums in double. */
#include <math.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "base/work_stop.h"
#include "blas/fake_parallel.h"
#include "harness.h"
#include "op_runner.h"

enum { CHANNELS = 16, OUTPUTS = 24, TAPS = 9 };

/* A kernel, and its filter. */
typedef struct Filter {
  OpRun run;
  OpKernel *kernel;
} Filter;

static bool filter_begin(Filter *f) {
  const Tensor *constants[2] = {NULL};
  Status status;
  status_init(&status);
  f->kernel = NULL;
  if (!CHECK_OK(op_run_begin(&f->run, "Conv2D[T=float, strides=[1, 1, 1, 1], padding=SAME]", &status),
                status))
    return false;
  Tensor *filter = op_run_input(&f->run, DT_FLOAT, 4, (int64_t[]){3, 3, CHANNELS, OUTPUTS});
  if (!CHECK(filter)) return false;
  for (int64_t i = 0; i < tensor_num_elements(filter); i++)
    tensor_f32(filter)[i] = (float)(i * 7 % 13 - 6) / 8;
  constants[1] = filter;
  return CHECK_OK(op_kernel_new(f->run.op, f->run.node, constants, NULL, &f->kernel, &status), status);
}

static void filter_end(Filter *f) {
  op_kernel_free(f->kernel);
  op_run_end(&f->run);
}

static float pixel(int64_t i) { return (float)(i * 11 % 17 - 8) / 8; }

/* Output `o` at a place of an image of that size. */
static double sum_at(const Filter *f, int64_t rows, int64_t columns, int64_t row, int64_t column, int64_t o) {
  double sum = 0;
  for (int64_t tap = 0; tap < TAPS; tap++) {
    int64_t y = row - 1 + tap / 3, x = column - 1 + tap % 3;
    if (y < 0 || y >= rows || x < 0 || x >= columns) continue;
    for (int64_t c = 0; c < CHANNELS; c++)
      sum += (double)pixel((y * columns + x) * CHANNELS + c) *
             (double)tensor_f32(&f->run.inputs[0])[(tap * CHANNELS + c) * OUTPUTS + o];
  }
  return sum;
}

/* Runs the kernel on an image of that size. Returns the largest error; INFINITY when it fails. */
static double error_of(const Filter *f, int64_t rows, int64_t columns, const Parallel *parallel) {
  Tensor image = {0}, result = {0};
  Status status;
  status_init(&status);
  if (!tensor_allocate_dims(&image, DT_FLOAT, 4, (int64_t[]){1, rows, columns, CHANNELS}, NULL, &status))
    return INFINITY;
  for (int64_t i = 0; i < tensor_num_elements(&image); i++) tensor_f32(&image)[i] = pixel(i);
  const Tensor *inputs[] = {&image, &f->run.inputs[0]};
  KernelContext context = {.inputs = inputs, .outputs = &result, .parallel = parallel};
  double worst = op_kernel_run(f->kernel, &context, &status) ? 0 : INFINITY;
  for (int64_t i = 0; worst < INFINITY && i < rows * columns * OUTPUTS; i++) {
    int64_t place = i / OUTPUTS;
    double off = fabs((double)tensor_f32(&result)[i] -
                      sum_at(f, rows, columns, place / columns, place % columns, i % OUTPUTS));
    if (!(off <= worst)) worst = off;
  }
  tensor_clear(&image);
  tensor_clear(&result);
  return worst;
}

static const double kTolerance = 2e-4; /* of sums of 144 products below one */

TEST(a_filter_gets_the_forms_that_its_images_need) {
  /* By tiles, by packed products, and with so few windows that the filter itself is faster. */
  static const struct {
    int64_t rows, columns;
    bool makes;
  } kImages[] = {{20, 20, true},  {12, 16, false}, {1, 5, true},
                 {20, 20, false}, {1, 1, false},   {1, 7, false}};
  Filter f;
  REQUIRE(filter_begin(&f));
  for (size_t i = 0; i < sizeof kImages / sizeof *kImages; i++) {
    int64_t bytes = mem_live_bytes();
    CHECK(error_of(&f, kImages[i].rows, kImages[i].columns, NULL) <= kTolerance);
    CHECK_INT_EQ(mem_live_bytes() > bytes, kImages[i].makes);
  }
  filter_end(&f);
}

TEST(forms_of_a_filter_are_made_by_all_threads) {
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  Filter f;
  REQUIRE(filter_begin(&f));
  CHECK(error_of(&f, 20, 20, &parallel) <= kTolerance);
  CHECK(error_of(&f, 1, 5, &parallel) <= kTolerance);
  CHECK(calls > 0);
  filter_end(&f);
}

/* A step that has ended makes the whole form, or none. */
TEST(a_step_that_is_cancelled_leaves_no_part_of_a_form) {
  atomic_bool cancelled = true;
  for (int late = 0; late < 2; late++) {
    Filter f;
    REQUIRE(filter_begin(&f));
    WorkStop stop = {late ? NULL : &cancelled, late ? 0 : INT64_MAX, false};
    WorkStop *before = work_stop_set(&stop);
    error_of(&f, 20, 20, NULL);
    error_of(&f, 1, 5, NULL);
    work_stop_set(before);
    CHECK(stop.stopped);
    CHECK(error_of(&f, 20, 20, NULL) <= kTolerance);
    CHECK(error_of(&f, 1, 5, NULL) <= kTolerance);
    filter_end(&f);
  }
}

#if SYNC_HAS_THREADS
enum { STEPS = 4 };

typedef struct Racer {
  const Filter *filter;
  atomic_int *waiting;
  bool tiles_first;
  double error;
} Racer;

static void *race(void *argument) {
  Racer *racer = argument;
  atomic_fetch_sub(racer->waiting, 1);
  while (atomic_load(racer->waiting) > 0) continue;
  for (int i = 0; i < 2; i++) {
    bool tiles = racer->tiles_first == (i == 0);
    double error = error_of(racer->filter, tiles ? 20 : 1, tiles ? 20 : 5, NULL);
    if (!(error <= racer->error)) racer->error = error;
  }
  return NULL;
}

TEST(steps_at_once_share_the_forms_of_a_filter) {
  for (int round = 0; round < 10; round++) {
    Filter f;
    Thread threads[STEPS];
    Racer racers[STEPS];
    atomic_int waiting = STEPS;
    int started = 0;
    REQUIRE(filter_begin(&f));
    int64_t bytes = mem_live_bytes();
    for (int i = 0; i < STEPS; i++) {
      racers[i] = (Racer){&f, &waiting, round % 2 == 0 || i % 2 == 0, 0};
      if (!CHECK(thread_start(&threads[started], race, &racers[i]))) atomic_fetch_sub(&waiting, 1);
      else started++;
    }
    for (int i = 0; i < started; i++) thread_join(threads[i]);
    for (int i = 0; i < STEPS; i++) CHECK(racers[i].error <= kTolerance);
    /* One of each form is left. */
    int64_t most = (36 * 400 + TAPS * CHANNELS * OUTPUTS) * (int64_t)sizeof(float) + 4096;
    CHECK(mem_live_bytes() - bytes <= most);
    filter_end(&f);
  }
}
#endif
