/* The speed of the float32 matrix product, and its limits: a loop of independent multiply-adds (fused ones in
 * the relaxed build) in registers, which is the peak of one core for 16-byte vectors, and a loop that only
 * reads.
 *
 *   bench_gemm [milliseconds per case]     a table
 *
 * The WebAssembly build is an ES module. Its default export, called without arguments, prints the table; a
 * benchmark that needs the measurements in its own run uses
 *
 *   const { default: load } = await import('./bench_gemm.mjs');
 *   const gemm = await load({ noInitialRun: true });
 *   gemm._bench_peak_gflops(milliseconds)
 *   gemm._bench_gemm_gflops(m, n, k, transposeA, transposeB, packedB, milliseconds)
 *   gemm._bench_read_gbytes(bytes)
 *
 * For GFLOP/s the best round counts, because other processes can only slow a round down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "blas/gemm.h"
#include "simd/simd.h"

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#define EXPORTED EMSCRIPTEN_KEEPALIVE
static double now(void) { return emscripten_get_now(); }
#else
#define EXPORTED
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
#endif

double bench_peak_gflops(double milliseconds);
double bench_gemm_gflops(int m, int n, int k, int transpose_a, int transpose_b, int packed_b,
                         double milliseconds);
double bench_read_gbytes(int bytes);

enum { SUMS = 12, STEPS = 100000 };

/* A separate function, because an engine replaces slow initial code by fast code only between calls. */
static __attribute__((noinline)) float multiply_and_add(float seed) {
  f32x4 sum[SUMS], x = f32x4_splat(seed), y = f32x4_splat(seed * 0.5f);
  SIMD_UNROLL
  for (int i = 0; i < SUMS; i++) sum[i] = f32x4_splat((float)i);
  for (int step = 0; step < STEPS; step++) {
    SIMD_UNROLL
    for (int i = 0; i < SUMS; i++) sum[i] = f32x4_madd(x, y, sum[i]);
  }
  SIMD_UNROLL
  for (int i = 1; i < SUMS; i++) sum[0] += sum[i];
  return f32x4_sum(sum[0]);
}

EXPORTED double bench_peak_gflops(double milliseconds) {
  volatile float seed = 1.0001f, sink; /* prevents the compiler from computing, or dropping, the result */
  double best = 1e30, end = now() + milliseconds;
  do {
    double start = now();
    for (int round = 0; round < 10; round++) sink = multiply_and_add(seed);
    double time = now() - start;
    if (time < best && time > 0) best = time;
  } while (now() < end);
  (void)sink;
  return 2.0 * 4 * SUMS * STEPS * 10 / best * 1e-6;
}

static float *make_matrix(int64_t elements) {
  float *matrix = mem_alloc(elements * (int64_t)sizeof(float));
  for (int64_t i = 0; matrix && i < elements; i++) matrix[i] = (float)(i % 1009 - 504) * 0.002f;
  return matrix;
}

/* 0 when out of memory. */
EXPORTED double bench_gemm_gflops(int m, int n, int k, int transpose_a, int transpose_b, int packed_b,
                                  double milliseconds) {
  float *a = make_matrix((int64_t)m * k), *b = make_matrix((int64_t)k * n), *c = make_matrix((int64_t)m * n);
  GemmArgs args = {.m = m,
                   .n = n,
                   .k = k,
                   .transpose_a = transpose_a != 0,
                   .transpose_b = transpose_b != 0,
                   .a = a,
                   .lda = transpose_a ? m : k,
                   .b = b,
                   .ldb = transpose_b ? k : n,
                   .c = c,
                   .ldc = n};
  void *packed = NULL;
  if (packed_b && m == 1) {
    packed = mem_alloc(gemm_f32.row_b_size(k, n));
    if (packed && b) gemm_f32.pack_row_b(&args, NULL, packed);
    args.row_b = packed;
  } else if (packed_b) {
    packed = mem_alloc(gemm_f32.packed_b_size(k, n));
    if (packed && b) gemm_f32.pack_b(&args, NULL, packed);
    args.packed_b = packed;
  }
  void *workspace = mem_alloc(gemm_f32.workspace(&args));
  double best = 1e30, flops = 2.0 * m * n * k;
  if (a && b && c && workspace && (packed || !packed_b)) {
    int repeats = flops < 2e6 ? (int)(2e6 / (flops + 1)) + 1 : 1; /* clocks of browsers are coarse */
    double end = now() + milliseconds;
    do {
      double start = now();
      for (int i = 0; i < repeats; i++) gemm_f32.run(&args, NULL, workspace);
      double time = (now() - start) / repeats;
      if (time < best && time > 0) best = time;
    } while (now() < end);
  }
  mem_free(a), mem_free(b), mem_free(c), mem_free(workspace), mem_free(packed);
  return flops / best * 1e-6;
}

/* Reads whole cache lines. A separate function, as multiply_and_add. */
static __attribute__((noinline)) float read_lines(const float *from, int64_t lines) {
  enum { LINE = 16, AT_ONCE = 4 };
  f32x4 sum[AT_ONCE];
  SIMD_UNROLL
  for (int i = 0; i < AT_ONCE; i++) sum[i] = f32x4_splat(0);
  for (; lines >= AT_ONCE; lines -= AT_ONCE, from += AT_ONCE * LINE) {
    SIMD_UNROLL
    for (int i = 0; i < AT_ONCE; i++) {
      const float *at = from + i * LINE;
      sum[i] += (f32x4_load(at) + f32x4_load(at + 4)) + (f32x4_load(at + 8) + f32x4_load(at + 12));
    }
  }
  SIMD_UNROLL
  for (int i = 1; i < AT_ONCE; i++) sum[0] += sum[i];
  return f32x4_sum(sum[0]);
}

/* The mean rate at which one core reads an array of so many bytes again and again, as the weights of a model
 * are read. 0 when out of memory. */
EXPORTED double bench_read_gbytes(int bytes) {
  enum { ALL = 64 << 20 };
  volatile float sink; /* prevents the compiler from dropping the result */
  float *array = make_matrix(bytes / (int64_t)sizeof(float));
  int64_t lines = bytes / 64, rounds = bytes > 0 ? ALL / bytes + 1 : 1;
  double start = now();
  for (int64_t round = 0; array && round < rounds; round++) sink = read_lines(array, lines);
  (void)sink;
  double rate = array ? (double)(lines * 64 * rounds) / (now() - start) * 1e-6 : 0;
  mem_free(array);
  return rate;
}

int main(int argc, char **argv) {
  static const int kShapes[][3] = {{64, 64, 64},       {128, 128, 128}, {256, 256, 256}, {512, 512, 512},
                                   {1024, 1024, 1024}, {64, 128, 64},   {64, 10, 128},   {1, 1024, 1024},
                                   {4, 1024, 1024},    {784, 256, 64},  {1000, 1000, 7}, {7, 1000, 1000}};
  double milliseconds = argc > 1 ? atof(argv[1]) : 300;
  double peak = bench_peak_gflops(milliseconds);
  printf("limit of the multiply-add units: %.1f GFLOP/s\n", peak);
  printf("%18s %8s %8s %8s %8s %8s %8s\n", "m x n x k", "A B", "A B^T", "A^T B", "A^T B^T", "packed",
         "share");
  for (size_t i = 0; i < sizeof kShapes / sizeof kShapes[0]; i++) {
    int m = kShapes[i][0], n = kShapes[i][1], k = kShapes[i][2];
    char name[40];
    snprintf(name, sizeof name, "%d x %d x %d", m, n, k);
    double plain = bench_gemm_gflops(m, n, k, 0, 0, 0, milliseconds);
    printf("%18s %8.1f %8.1f %8.1f %8.1f %8.1f %7.0f%%\n", name, plain,
           bench_gemm_gflops(m, n, k, 0, 1, 0, milliseconds),
           bench_gemm_gflops(m, n, k, 1, 0, 0, milliseconds),
           bench_gemm_gflops(m, n, k, 1, 1, 0, milliseconds),
           bench_gemm_gflops(m, n, k, 0, 0, 1, milliseconds), 100 * plain / peak);
  }
  return 0;
}
