#include "ops/signal/fft_lines.h"

#include <string.h>

#include "base/alloc.h"
#include "base/work_stop.h"
#include "simd/simd.h"
#include "simd/templates.h"

enum { MOST_LANES = 8, BLOCK_BYTES = 1 << 18 };

FftPlan *fft_lines_plan(FftKind kind, int64_t n, bool wide, Status *status) {
  bool halves = kind != FFT_COMPLEX && n % 2 == 0;
  return fft_plan_new(halves ? n / 2 : n, wide, halves, status);
}

/* Where lines begin. */
typedef struct LaneBlock {
  int64_t lanes, from[MOST_LANES], to[MOST_LANES];
} LaneBlock;

static void find_lanes(const FftLines *l, int64_t first, LaneBlock *block) {
  for (int64_t j = 0; j < block->lanes; j++) {
    int64_t rest = first + j, from = 0, to = 0;
    for (int i = l->rank - 1; i >= 0; i--) {
      int64_t at = rest % l->dims[i];
      rest /= l->dims[i];
      from += at * l->from_strides[i];
      to += at * l->to_strides[i];
    }
    block->from[j] = from;
    block->to[j] = to;
  }
}

/* Pairs, one after another, become the first elements of all pairs and the second ones; and back. */
SIMD_INLINE void f32x4_unzip(f32x4 *a, f32x4 *b) {
  f32x4 first = __builtin_shufflevector(*a, *b, 0, 2, 4, 6);
  *b = __builtin_shufflevector(*a, *b, 1, 3, 5, 7);
  *a = first;
}
SIMD_INLINE void f32x4_zip(f32x4 *a, f32x4 *b) {
  f32x4 low = __builtin_shufflevector(*a, *b, 0, 4, 1, 5);
  *b = __builtin_shufflevector(*a, *b, 2, 6, 3, 7);
  *a = low;
}
SIMD_INLINE void f64x2_unzip(f64x2 *a, f64x2 *b) {
  f64x2 first = __builtin_shufflevector(*a, *b, 0, 2);
  *b = __builtin_shufflevector(*a, *b, 1, 3);
  *a = first;
}
SIMD_INLINE void f64x2_zip(f64x2 *a, f64x2 *b) { f64x2_unzip(a, b); }

#define TEMPLATE "ops/signal/fft_tiles.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

/* E: the type of the array's elements or of their parts; P: that of the plan. Tiles have one type. */
#define E float
#define P float
#define FN(name) name##_f32
#define RUN fft_run_f32
#define LOAD_TILES load_tiles_f32
#define STORE_TILES store_tiles_f32
#include "ops/signal/fft_lines.inc"
#define E float
#define P double
#define FN(name) name##_f32_wide
#define RUN fft_run_f64
#define LOAD_TILES(...) 0
#define STORE_TILES(...) 0
#include "ops/signal/fft_lines.inc"
#define E double
#define P double
#define FN(name) name##_f64
#define RUN fft_run_f64
#define LOAD_TILES load_tiles_f64
#define STORE_TILES store_tiles_f64
#include "ops/signal/fft_lines.inc"

typedef void BlockFn(const FftLines *lines, const LaneBlock *block, void *memory);

typedef struct LinesJob {
  const FftLines *lines;
  BlockFn *run;
  int64_t lanes, blocks, workers, bytes; /* bytes: of the memory of a worker */
  char *memory;
} LinesJob;

/* Worker w computes the blocks w, w + workers, ... */
static void run_worker(void *arg, int64_t begin, int64_t end) {
  const LinesJob *job = arg;
  for (int64_t worker = begin; worker < end; worker++) {
    for (int64_t b = worker; b < job->blocks && !work_is_stopped_in_round(b); b += job->workers) {
      LaneBlock block;
      int64_t first = b * job->lanes, left = job->lines->count - first;
      block.lanes = left < job->lanes ? left : job->lanes;
      find_lanes(job->lines, first, &block);
      job->run(job->lines, &block, job->memory + worker * job->bytes);
    }
  }
}

bool fft_lines_run(const FftLines *lines, const Parallel *parallel, Status *status) {
  bool wide = fft_plan_is_wide(lines->plan);
  int64_t lane_bytes = (2 * fft_plan_length(lines->plan) + fft_plan_work(lines->plan, 1)) * (wide ? 8 : 4);
  int64_t lanes = MOST_LANES;
  if (lines->count == 0) return true;
  while (lanes > 1 && lanes > BLOCK_BYTES / lane_bytes) lanes /= 2;
  LinesJob job = {.lines = lines, .lanes = lanes, .blocks = (lines->count + lanes - 1) / lanes};
  job.run = lines->wide ? run_block_f64 : wide ? run_block_f32_wide : run_block_f32;
  job.workers = parallel_threads(parallel) < job.blocks ? parallel_threads(parallel) : job.blocks;
  job.bytes = lane_bytes * lanes;
  int64_t all;
  if (__builtin_mul_overflow(job.bytes, job.workers, &all) || !(job.memory = mem_alloc(all)))
    return status_oom(status, "lines of a Fourier transform");
  double work = (double)lines->n * (double)lines->count / (double)job.workers * 20;
  parallel_work(parallel, job.workers, work, run_worker, &job);
  mem_free(job.memory);
  return true;
}
