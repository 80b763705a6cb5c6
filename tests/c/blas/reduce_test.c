#include "blas/reduce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"

enum { F32, F64, I32, I64, TYPE_COUNT };
static const size_t kSizes[] = {4, 8, 4, 8};
static const char *const kNames[] = {"f32", "f64", "i32", "i64"};

static double get(int type, const void *array, int64_t i) {
  switch (type) {
    case F32: return ((const float *)array)[i];
    case F64: return ((const double *)array)[i];
    case I32: return ((const int32_t *)array)[i];
    default: return (double)((const int64_t *)array)[i];
  }
}

static void set(int type, void *array, int64_t i, double value) {
  switch (type) {
    case F32: ((float *)array)[i] = (float)value; break;
    case F64: ((double *)array)[i] = value; break;
    case I32: ((int32_t *)array)[i] = (int32_t)value; break;
    default: ((int64_t *)array)[i] = (int64_t)value;
  }
}

static void run(int type, ReduceKind kind, int rank, const int64_t *dims, const bool *reduced, const void *x,
                void *y, const Parallel *parallel, void *workspace) {
  switch (type) {
    case F32: reduce_f32(kind, rank, dims, reduced, x, y, parallel, workspace); break;
    case F64: reduce_f64(kind, rank, dims, reduced, x, y, parallel, workspace); break;
    case I32: reduce_i32(kind, rank, dims, reduced, x, y, parallel, workspace); break;
    default: reduce_i64(kind, rank, dims, reduced, x, y, parallel, workspace);
  }
}

static double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
    case REDUCE_PROD: return a * b;
    case REDUCE_MAX: return fmax(a, b);
    case REDUCE_MIN: return fmin(a, b);
    default: return a + b;
  }
}

/* Values whose sums and products stay exact in float64 and, for the integers, in int32. */
static double value_at(int type, ReduceKind kind, uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  int v = (int)(*state >> 16 & 0x3ff) - 512;
  if (kind == REDUCE_PROD) return type < I32 ? 1 + v / 8192.0 : v % 16 == 0 ? -1 : 1;
  return type < I32 ? v / 64.0 : v;
}

static void check_reduce(int type, ReduceKind kind, int rank, const int64_t *dims, const bool *reduced) {
  char shape[160] = "";
  for (int d = 0; d < rank; d++) {
    size_t used = strlen(shape);
    snprintf(shape + used, sizeof shape - used, " %d%s", (int)dims[d], reduced[d] ? "*" : "");
  }
  CHECK_CONTEXT("%s kind %d of [%s ]", kNames[type], kind, shape);
  int64_t total = 1, outputs = 1, count = 1;
  for (int d = 0; d < rank; d++)
    total *= dims[d], outputs *= reduced[d] ? 1 : dims[d], count *= reduced[d] ? dims[d] : 1;
  size_t size = kSizes[type];
  void *x = mem_alloc(total * (int64_t)size), *y = mem_alloc(outputs * (int64_t)size),
       *z = mem_alloc(outputs * (int64_t)size);
  double *want = mem_alloc(outputs * 8), *magnitude = mem_alloc(outputs * 8);
  uint32_t state = 7;
  for (int64_t i = 0; i < total; i++) set(type, x, i, value_at(type, kind, &state));
  for (int64_t i = 0; i < outputs; i++) {
    want[i] = kind == REDUCE_PROD  ? 1
              : kind == REDUCE_MAX ? -INFINITY
              : kind == REDUCE_MIN ? INFINITY
                                   : 0,
    magnitude[i] = 0;
  }
  for (int64_t i = 0; i < total; i++) {
    int64_t rest = i, at = 0, stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
      if (!reduced[d]) at += rest % dims[d] * stride, stride *= dims[d];
      rest /= dims[d];
    }
    want[at] = combine(kind, want[at], get(type, x, i));
    magnitude[at] += fabs(get(type, x, i));
  }
  int64_t workspace_size = reduce_workspace(rank, dims, reduced, size);
  void *workspace = workspace_size > 0 ? mem_alloc(workspace_size) : NULL;
  run(type, kind, rank, dims, reduced, x, y, NULL, workspace);
  int64_t bad = 0;
  for (int64_t i = 0; i < outputs; i++) {
    double epsilon = type == F32   ? 0x1p-24
                     : type == F64 ? 0x1p-53
                                   : 0,
           got = get(type, y, i), expect = want[i], bound = 0;
    /* Blocked sums err by far less than count roundings: 16 of them are plenty for a million terms. */
    if (kind == REDUCE_SUM || kind == REDUCE_MEAN) bound = 16 * epsilon * magnitude[i];
    if (kind == REDUCE_PROD) bound = epsilon * fabs(expect) * (double)(count + 1);
    if (kind == REDUCE_MEAN) {
      expect = type >= I32 ? trunc(expect / (double)count) : expect / (double)count, bound /= (double)count;
      bound += epsilon * fabs(expect);
    }
    bad += !(fabs(got - expect) <= bound);
  }
  CHECK_INT_EQ(bad, 0);
  for (int threads = 2; threads <= 5; threads += 3) {
    int64_t calls = 0;
    Parallel parallel = {fake_parallel_run, &calls, threads};
    run(type, kind, rank, dims, reduced, x, z, &parallel, workspace);
    CHECK_MEM_EQ(z, y, (size_t)outputs * size);
  }
  mem_free(x), mem_free(y), mem_free(z), mem_free(want), mem_free(magnitude), mem_free(workspace);
  CHECK_CONTEXT("%s", "");
}

static const ReduceKind kKinds[] = {REDUCE_SUM, REDUCE_MEAN, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN};

TEST(reduce_any_axes_of_four) {
  static const int64_t kDims[][4] = {{2, 3, 4, 5},  {7, 1, 3, 9}, {1, 1, 40, 2},
                                     {3, 35, 1, 1}, {1, 1, 1, 1}, {2, 9, 2, 70}};
  for (int type = 0; type < TYPE_COUNT; type++) {
    for (int k = 0; k < 5; k++) {
      for (size_t i = 0; i < sizeof kDims / sizeof kDims[0]; i++) {
        for (int mask = 0; mask < 16; mask++) {
          bool reduced[4] = {mask & 1, mask >> 1 & 1, mask >> 2 & 1, mask >> 3 & 1};
          check_reduce(type, kKinds[k], 4, kDims[i], reduced);
        }
      }
    }
  }
}

TEST(reduce_long_lines_and_columns) {
  static const int64_t kDims[][2] = {{1, 1000003}, {5, 4097},   {40000, 3},
                                     {3000, 130},  {300, 1030}, {1, 16385}};
  for (int type = 0; type < TYPE_COUNT; type++) {
    for (size_t i = 0; i < sizeof kDims / sizeof kDims[0]; i++) {
      for (int mask = 1; mask < 4; mask++) {
        bool reduced[2] = {mask & 1, mask >> 1};
        check_reduce(type, REDUCE_SUM, 2, kDims[i], reduced);
        check_reduce(type, REDUCE_MAX, 2, kDims[i], reduced);
      }
    }
  }
}

TEST(reduce_lengths_of_lines) {
  for (int64_t length = 1; length <= 140; length++) {
    int64_t dims[2] = {7, length}; /* short rows are reduced four at once */
    bool rows[2] = {false, true};
    for (int k = 0; k < 5; k++) check_reduce(F32, kKinds[k], 2, dims, rows);
    check_reduce(I64, REDUCE_MIN, 2, dims, rows);
  }
}

/* A million times 0.1f: adding one by one would be wrong in the third digit. */
TEST(reduce_float_sums_stay_accurate) {
  enum { COUNT = 1000000 };
  float *x = mem_alloc(COUNT * 4), y[2];
  for (int i = 0; i < COUNT; i++) x[i] = 0.1f;
  reduce_f32(REDUCE_SUM, 1, (int64_t[]){COUNT}, (bool[]){true}, x, y, NULL, NULL);
  CHECK_NEAR(y[0], (double)0.1f * COUNT, 0.05);
  reduce_f32(REDUCE_SUM, 2, (int64_t[]){COUNT / 2, 2}, (bool[]){true, false}, x, y, NULL, NULL);
  CHECK_NEAR(y[0], (double)0.1f * COUNT / 2, 0.05);
  CHECK_NEAR(y[1], (double)0.1f * COUNT / 2, 0.05);
  mem_free(x);
}

TEST(reduce_nothing) {
  int64_t dims[2] = {2, 0};
  bool reduced[2] = {false, true};
  float y[2] = {9, 9};
  reduce_f32(REDUCE_SUM, 2, dims, reduced, NULL, y, NULL, NULL);
  CHECK(y[0] == 0 && y[1] == 0);
  reduce_f32(REDUCE_PROD, 2, dims, reduced, NULL, y, NULL, NULL);
  CHECK(y[0] == 1 && y[1] == 1);
  reduce_f32(REDUCE_MAX, 2, dims, reduced, NULL, y, NULL, NULL);
  CHECK(y[0] == -INFINITY);
  reduce_f32(REDUCE_MIN, 2, dims, reduced, NULL, y, NULL, NULL);
  CHECK(y[0] == INFINITY);
  reduce_f32(REDUCE_MEAN, 2, dims, reduced, NULL, y, NULL, NULL);
  CHECK(isnan(y[0]) && isnan(y[1]));
  int32_t z[2] = {9, 9};
  reduce_i32(REDUCE_MEAN, 2, dims, reduced, NULL, z, NULL, NULL);
  CHECK(z[0] == 0 && z[1] == 0);
  reduce_i32(REDUCE_MAX, 2, dims, reduced, NULL, z, NULL, NULL);
  CHECK_INT_EQ(z[0], INT32_MIN);
  int64_t w[2];
  reduce_i64(REDUCE_MIN, 2, dims, reduced, NULL, w, NULL, NULL);
  CHECK_INT_EQ(w[1], INT64_MAX);
  float scalar = 3;
  reduce_f32(REDUCE_MEAN, 0, dims, reduced, &scalar, y, NULL, NULL);
  CHECK(y[0] == 3);
}

TEST(reduce_max_and_min_keep_nan) {
  for (int length = 1; length < 80; length++) {
    for (int at = 0; at < length; at++) {
      float x[80] = {0}, y;
      x[at] = NAN;
      int64_t dims[1] = {length};
      bool reduced[1] = {true};
      reduce_f32(REDUCE_MAX, 1, dims, reduced, x, &y, NULL, NULL);
      CHECK(isnan(y));
      reduce_f32(REDUCE_MIN, 1, dims, reduced, x, &y, NULL, NULL);
      CHECK(isnan(y));
      double wide[80] = {0}, columns[2];
      wide[at / 2 * 2] = NAN;
      int64_t pair[2] = {(length + 1) / 2, 2};
      bool first[2] = {true, false};
      reduce_f64(REDUCE_MAX, 2, pair, first, wide, columns, NULL, NULL);
      CHECK(isnan(columns[0]) && columns[1] == 0);
    }
  }
}

TEST(reduce_integers_wrap_around) {
  int32_t x[2] = {INT32_MAX, 1}, y;
  reduce_i32(REDUCE_SUM, 1, (int64_t[]){2}, (bool[]){true}, x, &y, NULL, NULL);
  CHECK_INT_EQ(y, INT32_MIN);
  int64_t w[2] = {INT64_MIN, -1}, v;
  reduce_i64(REDUCE_PROD, 1, (int64_t[]){2}, (bool[]){true}, w, &v, NULL, NULL);
  CHECK_INT_EQ(v, INT64_MIN);
}
