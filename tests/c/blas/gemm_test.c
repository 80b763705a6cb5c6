#include "blas/gemm.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "blas/fake_parallel.h"
#include "harness.h"

/* ---- element types, accessed as doubles ---- */

typedef struct Type {
  const char *name;
  size_t size;
  double epsilon; /* 0: exact */
  double (*get)(const void *array, int64_t i);
  void (*set)(void *array, int64_t i, double value);
  const GemmType *gemm;
} Type;

static double get_f32(const void *array, int64_t i) { return ((const float *)array)[i]; }
static double get_f64(const void *array, int64_t i) { return ((const double *)array)[i]; }
static double get_i32(const void *array, int64_t i) { return ((const int32_t *)array)[i]; }
static double get_i64(const void *array, int64_t i) { return (double)((const int64_t *)array)[i]; }
static void set_f32(void *array, int64_t i, double value) { ((float *)array)[i] = (float)value; }
static void set_f64(void *array, int64_t i, double value) { ((double *)array)[i] = value; }
static void set_i32(void *array, int64_t i, double value) { ((int32_t *)array)[i] = (int32_t)value; }
static void set_i64(void *array, int64_t i, double value) { ((int64_t *)array)[i] = (int64_t)value; }

/* Exactly the announced workspace, so that the sanitizer sees a write after its end. */
static void run(const GemmType *gemm, const GemmArgs *args, const Parallel *parallel) {
  int64_t size = gemm->workspace(args);
  void *workspace = size > 0 ? mem_alloc(size) : NULL;
  gemm->run(args, parallel, workspace);
  mem_free(workspace);
}

static const Type kTypes[] = {
    {"f32", sizeof(float), 0x1p-24, get_f32, set_f32, &gemm_f32},
    {"f64", sizeof(double), 0x1p-53, get_f64, set_f64, &gemm_f64},
    {"i32", sizeof(int32_t), 0, get_i32, set_i32, &gemm_i32},
    {"i64", sizeof(int64_t), 0, get_i64, set_i64, &gemm_i64},
};

/* ---- a product and its reference ---- */

typedef struct Case {
  const Type *type;
  int64_t m, n, k;
  bool transpose_a, transpose_b, accumulate, bias, packed_b, row_b,
      gathered; /* gathered: only pack_a knows A */
  GemmActivation activation;
  int64_t gap; /* unused elements after each row */
} Case;

typedef struct Matrix {
  int64_t rows, columns, stride;
  void *data;
} Matrix;

static uint32_t random_state;
static double next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return (double)(int32_t)(random_state >> 8 & 0xffff) / 32768 - 1;
}

static Matrix make_matrix(const Type *type, int64_t rows, int64_t columns, int64_t gap) {
  Matrix matrix = {rows, columns, columns + gap, NULL};
  int64_t last_row = rows > 0 ? (rows - 1) * matrix.stride + columns : 0; /* no gap after the last row */
  matrix.data = mem_alloc(last_row * (int64_t)type->size);
  for (int64_t i = 0; i < last_row; i++) {
    double value = i % matrix.stride < columns ? next_random() : NAN;
    type->set(matrix.data, i, type->epsilon > 0 ? value : isnan(value) ? 7777777 : floor(value * 100));
  }
  return matrix;
}

static int64_t matrix_size(const Type *type, Matrix matrix) {
  return matrix.rows > 0 ? ((matrix.rows - 1) * matrix.stride + matrix.columns) * (int64_t)type->size : 0;
}

/* op(matrix) as doubles, with the depth contiguous: `lines` rows of `depth`. */
static double *widen(const Type *type, Matrix matrix, bool depth_is_row, int64_t lines, int64_t depth) {
  double *wide = mem_alloc(lines * depth * 8);
  for (int64_t i = 0; i < lines; i++) {
    for (int64_t p = 0; p < depth; p++) {
      wide[i * depth + p] =
          type->get(matrix.data, depth_is_row ? p * matrix.stride + i : i * matrix.stride + p);
    }
  }
  return wide;
}

static double dot(const double *x, const double *y, int64_t depth, double *magnitude) {
  double sum = 0, total = 0;
  for (int64_t p = 0; p < depth; p++) sum += x[p] * y[p], total += fabs(x[p] * y[p]);
  *magnitude += total;
  return sum;
}

/* What the sum of a product becomes. */
static double activated(double sum, GemmActivation activation) {
  if (activation != GEMM_NONE && sum < 0) return 0;
  return activation == GEMM_RELU6 && sum > 6 ? 6 : sum;
}

/* The worst rounding of a sum of k terms in blocks stays far below k roundings of the whole. */
static double tolerance_of(const Type *type, double magnitude, int64_t k) {
  return type->epsilon * magnitude * (4 + sqrt((double)k));
}

/* The argument of pack_a. */
typedef struct Source {
  const Type *type;
  Matrix matrix;
  bool transposed;
  int64_t m, k;
} Source;

static void pack_source(const void *a, int64_t i, int64_t rows, int width, int64_t p0, int64_t depth,
                        void *panels) {
  const Source *s = a;
  if (rows < 1 || width < 1 || width > GEMM_MAX_ROWS || i < 0 || i + rows > s->m || p0 < 0 ||
      p0 + depth > s->k)
    abort();
  for (int64_t first = 0; first < rows; first += width) {
    int64_t count = rows - first < width ? rows - first : width;
    for (int64_t p = 0; p < depth; p++) {
      for (int64_t r = 0; r < count; r++) {
        int64_t row = i + first + r,
                at = s->transposed ? (p0 + p) * s->matrix.stride + row : row * s->matrix.stride + p0 + p;
        s->type->set(panels, first * depth + p * count + r, s->type->get(s->matrix.data, at));
      }
    }
  }
}

/* y = 2 y + 1, which is wrong for an element that is not complete, or for which it is called twice. */
static void double_block(const void *arg, void *c, int64_t rows, int64_t columns) {
  const Case *of = arg;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      int64_t at = i * (of->n + of->gap) + j;
      of->type->set(c, at, 2 * of->type->get(c, at) + 1);
    }
  }
}

static void check_epilogue(const Case *c, const GemmArgs *plain, const Parallel *parallel, const void *before,
                           const void *want, int64_t size) {
  const GemmEpilogue epilogue = {double_block, c, 1};
  GemmArgs args = *plain;
  args.epilogue = &epilogue;
  memcpy(args.c, before, (size_t)size);
  run(c->type->gemm, &args, parallel);
  int bad = 0;
  for (int64_t i = 0; i < c->m * (c->n + c->gap) - c->gap; i++) {
    double x = c->type->get(want, i), y = c->type->get(args.c, i);
    char rounded[8];
    c->type->set(rounded, 0, 2 * x + 1);
    bad += i % (c->n + c->gap) < c->n && y != c->type->get(rounded, 0);
  }
  CHECK_INT_EQ(bad, 0);
}

static void check_case(const Case *c) {
  const Type *type = c->type;
  CHECK_CONTEXT(
      "%s m=%d n=%d k=%d ta=%d tb=%d accumulate=%d bias=%d activation=%d packed=%d row=%d gathered=%d gap=%d",
      type->name, (int)c->m, (int)c->n, (int)c->k, c->transpose_a, c->transpose_b, c->accumulate, c->bias,
      c->activation, c->packed_b, c->row_b, c->gathered, (int)c->gap);
  random_state = (uint32_t)(c->m * 31 + c->n * 17 + c->k);
  Matrix a = c->transpose_a ? make_matrix(type, c->k, c->m, c->gap) : make_matrix(type, c->m, c->k, c->gap);
  Matrix b =
      c->transpose_b ? make_matrix(type, c->n, c->k, 2 * c->gap) : make_matrix(type, c->k, c->n, 2 * c->gap);
  Matrix bias = make_matrix(type, 1, c->n, 0), result = make_matrix(type, c->m, c->n, c->gap);
  int64_t size = matrix_size(type, result);
  void *before = mem_alloc(size), *serial = mem_alloc(size), *packed = NULL;
  memcpy(before, result.data, (size_t)size);
  GemmArgs args = {.m = c->m,
                   .n = c->n,
                   .k = c->k,
                   .transpose_a = c->transpose_a,
                   .transpose_b = c->transpose_b,
                   .a = a.data,
                   .lda = a.stride,
                   .b = b.data,
                   .ldb = b.stride,
                   .c = result.data,
                   .ldc = result.stride,
                   .accumulate = c->accumulate,
                   .bias = c->bias ? bias.data : NULL,
                   .activation = c->activation};
  Source source = {type, a, c->transpose_a, c->m, c->k};
  if (c->gathered) {
    args.a = &source, args.lda = 0, args.transpose_a = false;
    args.pack_a = pack_source;
  }
  int64_t calls = 0;
  Parallel packers = {fake_parallel_run, &calls, 3};
  if (c->packed_b) {
    packed = mem_alloc(type->gemm->packed_b_size(c->k, c->n));
    type->gemm->pack_b(&args, &packers, packed);
    args.packed_b = packed;
    args.b = NULL;
  } else if (c->row_b) {
    packed = mem_alloc(type->gemm->row_b_size(c->k, c->n));
    type->gemm->pack_row_b(&args, &packers, packed);
    args.row_b = packed;
    args.b = NULL;
  }
  run(type->gemm, &args, NULL);
  memcpy(serial, result.data, (size_t)size);

  double *wide_a = widen(type, a, c->transpose_a, c->m, c->k),
         *wide_b = widen(type, b, !c->transpose_b, c->n, c->k);
  int bad = 0;
  for (int64_t i = 0; i < c->m; i++) {
    for (int64_t j = 0; j < result.stride && (j < c->n || i + 1 < c->m); j++) {
      int64_t at = i * result.stride + j;
      if (j >= c->n) {
        bad += memcmp((char *)before + at * (int64_t)type->size, (char *)serial + at * (int64_t)type->size,
                      type->size) != 0;
        continue;
      }
      double magnitude = 1, want = dot(wide_a + i * c->k, wide_b + j * c->k, c->k, &magnitude);
      if (c->accumulate) want += type->get(before, at);
      if (c->bias) want += type->get(bias.data, j);
      want = activated(want, c->activation);
      bad += !(fabs(type->get(serial, at) - want) <= tolerance_of(type, magnitude, c->k));
    }
  }
  CHECK_INT_EQ(bad, 0);

  for (int threads = 2; threads <= 7; threads += 5) {
    int64_t calls = 0;
    Parallel parallel = {fake_parallel_run, &calls, threads};
    memcpy(result.data, before, (size_t)size);
    run(type->gemm, &args, &parallel);
    CHECK_MEM_EQ(result.data, serial, (size_t)size);
    args.threads = threads;
    memcpy(result.data, before, (size_t)size);
    run(type->gemm, &args, &parallel);
    CHECK_MEM_EQ(result.data, serial, (size_t)size);
    if (type->epsilon > 0) check_epilogue(c, &args, &parallel, before, serial, size);
    args.threads = 0;
  }
  if (type->epsilon > 0) check_epilogue(c, &args, NULL, before, serial, size);
  mem_free(a.data), mem_free(b.data), mem_free(bias.data), mem_free(result.data), mem_free(before),
      mem_free(serial);
  mem_free(packed), mem_free(wide_a), mem_free(wide_b);
  CHECK_CONTEXT("%s", "");
}

/* ---- the cases ---- */

static void check_small_sizes(const Type *type, int64_t limit) {
  Case c = {.type = type};
  for (c.m = 0; c.m <= limit; c.m++) {
    for (c.n = 0; c.n <= limit; c.n++) {
      for (c.k = 0; c.k <= limit; c.k++) {
        unsigned mix = (unsigned)(c.m * 7 + c.n * 11 + c.k * 13);
        c.transpose_a = mix & 1, c.transpose_b = mix >> 1 & 1;
        c.accumulate = mix % 3 == 0, c.bias = mix % 5 < 2, c.activation = (GemmActivation)(mix % 7 / 2 % 3),
        c.gap = mix % 4;
        check_case(&c);
        c.transpose_a = !c.transpose_a;
        check_case(&c);
        c.transpose_b = !c.transpose_b;
        c.packed_b = type->epsilon > 0 && mix % 2 == 0;
        check_case(&c);
        c.transpose_a = !c.transpose_a;
        check_case(&c);
        c.gathered = type->epsilon > 0;
        if (c.gathered) check_case(&c);
        c.packed_b = false;
        if (c.gathered) check_case(&c);
        c.gathered = false;
      }
    }
  }
}

TEST(gemm_f32_every_size_to_20) { check_small_sizes(&kTypes[0], 20); }
TEST(gemm_f64_every_size_to_20) { check_small_sizes(&kTypes[1], 20); }
TEST(gemm_i32_every_size_to_9) { check_small_sizes(&kTypes[2], 9); }
TEST(gemm_i64_every_size_to_9) { check_small_sizes(&kTypes[3], 9); }

/* Sizes around the block sizes, long and thin in every direction. */
TEST(gemm_large_sizes) {
  static const int64_t kSizes[][3] = {{67, 129, 257}, {128, 10, 784},  {10, 128, 640},  {33, 1030, 40},
                                      {970, 21, 30},  {1, 1100, 2050}, {3, 70, 4100},   {1500, 1, 77},
                                      {40, 1, 66000}, {5, 7, 9000},    {2, 3, 70000},   {130, 140, 300},
                                      {27, 33, 9000}, {80, 50, 2500},  {2900, 20, 100}, {7001, 20, 101}};
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; s++) {
    for (unsigned flags = 0; flags < 4; flags++) {
      for (size_t t = 0; t < (flags == 2 ? 4 : 2); t++) {
        Case c = {.type = &kTypes[t],
                  .m = kSizes[s][0],
                  .n = kSizes[s][1],
                  .k = kSizes[s][2],
                  .transpose_a = flags & 1,
                  .transpose_b = flags >> 1,
                  .bias = true,
                  .accumulate = flags == 1,
                  .activation = flags == 2 ? GEMM_RELU6 : GEMM_NONE,
                  .gap = 1};
        check_case(&c);
        c.packed_b = true;
        if (t < 2 && flags != 3) check_case(&c);
        c.gathered = true;
        if (t < 2 && flags != 3) check_case(&c);
      }
    }
  }
}

TEST(gemm_row_of_every_width) {
  static const int64_t kDepths[] = {1, 7, 256, 300, 601};
  for (size_t i = 0; i < sizeof kDepths / sizeof kDepths[0]; i++) {
    for (int64_t n = 0; n <= 170; n++) {
      for (unsigned flags = 0; flags < 16; flags++) {
        Case c = {.type = &kTypes[0],
                  .m = 1,
                  .n = n,
                  .k = kDepths[i],
                  .transpose_a = flags & 1,
                  .transpose_b = flags >> 1 & 1,
                  .accumulate = flags >> 2 & 1,
                  .bias = flags >> 3 & 1,
                  .row_b = true,
                  .activation = (GemmActivation)(n % 3),
                  .gap = n % 4};
        check_case(&c);
      }
    }
  }
}

/* A row that is multiplied alone, with B as it is or packed, has the bits that it has in a larger product. */
TEST(gemm_rows_do_not_depend_on_their_number) {
  static const int64_t kSizes[][2] = {{40, 31}, {8, 300}, {203, 7}, {1100, 520}, {64, 256}};
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; s++) {
    enum { ROWS = 7 };
    int64_t n = kSizes[s][0], k = kSizes[s][1], size = ROWS * n * 4;
    random_state = (uint32_t)s;
    Matrix a = make_matrix(&kTypes[0], ROWS, k, 0), b = make_matrix(&kTypes[0], k, n, 0);
    float *all = mem_alloc(size), *alone = mem_alloc(size), *packed = mem_alloc(gemm_f32.packed_b_size(k, n)),
          *for_row = mem_alloc(gemm_f32.row_b_size(k, n));
    GemmArgs args =
        {.m = ROWS, .n = n, .k = k, .a = a.data, .lda = k, .b = b.data, .ldb = n, .c = all, .ldc = n};
    run(&gemm_f32, &args, NULL);
    gemm_f32.pack_b(&args, NULL, packed);
    gemm_f32.pack_row_b(&args, NULL, for_row);
    args.m = 1;
    for (int pass = 0; pass < 3; pass++) {
      args.packed_b = pass == 1 ? packed : NULL;
      args.row_b = pass == 2 ? for_row : NULL;
      for (int64_t i = 0; i < ROWS; i++) {
        args.a = (float *)a.data + i * k, args.c = alone + i * n;
        run(&gemm_f32, &args, NULL);
      }
      CHECK_MEM_EQ(alone, all, (size_t)size);
    }
    mem_free(a.data), mem_free(b.data), mem_free(all), mem_free(alone), mem_free(packed), mem_free(for_row);
  }
}

/* The elements of C that are not what a sum in double says. */
static int wrong_elements(const GemmArgs *args, Matrix a, Matrix b, const float *c) {
  double *wide_a = widen(&kTypes[0], a, false, args->m, args->k),
         *wide_b = widen(&kTypes[0], b, true, args->n, args->k);
  int wrong = 0;
  for (int64_t i = 0; i < args->m * args->n; i++) {
    double magnitude = 1,
           want = dot(wide_a + i / args->n * args->k, wide_b + i % args->n * args->k, args->k, &magnitude);
    if (args->bias) want += ((const float *)args->bias)[i % args->n];
    want = activated(want, args->activation);
    wrong += !(fabs(c[i] - want) <= tolerance_of(&kTypes[0], magnitude, args->k));
  }
  mem_free(wide_a), mem_free(wide_b);
  return wrong;
}

/* Groups of columns have the bits that they have when one thread computes all, and nothing else is written.
 */
TEST(gemm_groups_of_columns_are_parts_of_the_product) {
  static const int64_t kSizes[][2] = {{1, 5}, {13, 1}, {40, 31}, {8, 300}, {203, 7}, {512, 128}, {250, 520}};
  for (int64_t s = 0; s < 7 * 14; s++) {
    int64_t m = 1 + s / 7, n = kSizes[s % 7][0], k = kSizes[s % 7][1], size = m * n * 4, bad = 0;
    random_state = (uint32_t)s;
    CHECK_CONTEXT("m=%d n=%d k=%d", (int)m, (int)n, (int)k);
    Matrix a = make_matrix(&kTypes[0], m, k, s % 3), b = make_matrix(&kTypes[0], k, n, 0),
           bias = make_matrix(&kTypes[0], 1, n, 0);
    float *want = mem_alloc(size), *parts = mem_alloc(size);
    GemmArgs args = {.m = m,
                     .n = n,
                     .k = k,
                     .a = a.data,
                     .lda = a.stride,
                     .b = b.data,
                     .ldb = n,
                     .c = want,
                     .ldc = n,
                     .bias = s % 2 ? bias.data : NULL,
                     .activation = (GemmActivation)(s % 3)};
    char *packed = mem_alloc(m == 1 ? gemm_f32.row_b_size(k, n) : gemm_f32.packed_b_size(k, n));
    (m == 1 ? gemm_f32.pack_row_b : gemm_f32.pack_b)(&args, NULL, packed);
    args.packed_b = m == 1 ? NULL : packed, args.row_b = m == 1 ? packed : NULL;
    args.b = NULL;
    int64_t groups = gemm_f32.column_groups(&args);
    CHECK(gemm_f32.column_groups_work(&args) > 0);
    CHECK_INT_EQ(gemm_f32.group_column(&args, 0), 0);
    CHECK_INT_EQ(gemm_f32.group_column(&args, groups), n);
    gemm_f32.run_column_groups(&args, 0, groups);
    CHECK_INT_EQ(wrong_elements(&args, a, b, want), 0);
    args.c = parts;
    for (int64_t begin = groups - 1, end = groups; end > 0; end = begin, begin = begin > 2 ? begin - 3 : 0) {
      int64_t from = gemm_f32.group_column(&args, begin), to = gemm_f32.group_column(&args, end);
      for (int64_t i = 0; i < m * n; i++) parts[i] = 777;
      gemm_f32.run_column_groups(&args, begin, end);
      for (int64_t i = 0; i < m * n; i++) bad += parts[i] != (i % n >= from && i % n < to ? want[i] : 777);
    }
    CHECK_INT_EQ(bad, 0);
    mem_free(a.data), mem_free(b.data), mem_free(bias.data), mem_free(want), mem_free(parts);
    mem_free(packed);
  }
  CHECK_CONTEXT("%s", "");
}

/* 0 * infinity and NaN must reach the result: no zero is skipped, on any path, in the body or in a tail. */
TEST(gemm_propagates_nan_and_infinity) {
  static const int64_t kSizes[][3] = {{1, 9, 11}, {9, 1, 11}, {3, 3, 3}, {12, 17, 20}, {7, 5, 1}};
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; s++) {
    int64_t m = kSizes[s][0], n = kSizes[s][1], k = kSizes[s][2];
    for (unsigned flags = 0; flags < 4; flags++) {
      for (int64_t p = 0; p < k; p++) {
        CHECK_CONTEXT("m=%d n=%d k=%d flags=%u p=%d", (int)m, (int)n, (int)k, flags, (int)p);
        float a[12 * 20] = {0}, b[20 * 17] = {0}, c[12 * 17];
        bool ta = flags & 1, tb = flags >> 1;
        /* Row 0 of A is zero; column n - 1 of B has an infinity at depth p; row m - 1 of A has a NaN if m >
         * 1. */
        b[tb ? (n - 1) * k + p : p * n + n - 1] = INFINITY;
        if (m > 1) a[ta ? p * m + m - 1 : (m - 1) * k + p] = NAN;
        GemmArgs args = {.m = m,
                         .n = n,
                         .k = k,
                         .transpose_a = ta,
                         .transpose_b = tb,
                         .a = a,
                         .lda = ta ? m : k,
                         .b = b,
                         .ldb = tb ? k : n,
                         .c = c,
                         .ldc = n,
                         .activation = m % 2 == 0 ? GEMM_RELU : GEMM_RELU6};
        run(&gemm_f32, &args, NULL);
        int wrong = 0;
        for (int64_t i = 0; i < m; i++) {
          for (int64_t j = 0; j < n; j++) {
            bool want_nan = j == n - 1 || (m > 1 && i == m - 1);
            wrong += want_nan ? !isnan(c[i * n + j]) : c[i * n + j] != 0;
          }
        }
        CHECK_INT_EQ(wrong, 0);
      }
    }
  }
}

TEST(gemm_integers_wrap_around) {
  int32_t a32[2] = {INT32_MAX, 65536}, b32[2] = {2, 65536}, c32 = -1;
  GemmArgs args = {.m = 1, .n = 1, .k = 2, .a = a32, .lda = 2, .b = b32, .ldb = 1, .c = &c32, .ldc = 1};
  gemm_i32.run(&args, NULL, NULL);
  CHECK_INT_EQ(c32, -2); /* 2^32 - 2 + 2^32 modulo 2^32 */
  int64_t a64 = INT64_MAX, b64 = 3, c64 = 0;
  args = (GemmArgs){.m = 1, .n = 1, .k = 1, .a = &a64, .lda = 1, .b = &b64, .ldb = 1, .c = &c64, .ldc = 1};
  gemm_i64.run(&args, NULL, NULL);
  CHECK_INT_EQ(c64, INT64_MAX - 2); /* 3 * (2^63 - 1) = 2^63 - 3 modulo 2^64, as signed: 2^63 - 3 */
}

/* A strip of 16 panels of 6 rows, and B, instead of room for twice A. */
TEST(gemm_workspace_is_what_the_threads_need) {
  GemmArgs args = {.m = 784, .n = 256, .k = 64, .transpose_a = true, .lda = 784, .ldb = 256, .ldc = 256};
  int64_t strip = (16 * 6 + 6) * 64 * 4, b = 64 * 256 * 4;
  CHECK(gemm_f32.workspace(&args) > 784 * 64 * 4 + b);
  for (args.threads = 1; args.threads <= 4; args.threads++)
    CHECK(gemm_f32.workspace(&args) <= args.threads * strip + b + 64);
}

/* --- the end of the workspace --- */

#if SYNC_HAS_THREADS
typedef struct Piece {
  Thread thread;
  ParallelBody *body;
  void *arg;
  int64_t begin, end;
} Piece;

static void *run_piece(void *argument) {
  const Piece *piece = argument;
  piece->body(piece->arg, piece->begin, piece->end);
  return NULL;
}

/* Each of two threads has a half. */
static void run_halves(void *pool, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body,
                       void *arg) {
  (void)pool, (void)grain, (void)length;
  Piece piece = {.body = body, .arg = arg, .begin = 0, .end = count / 2};
  bool started = piece.end > 0 && thread_start(&piece.thread, run_piece, &piece);
  body(arg, started ? piece.end : 0, count);
  if (started) thread_join(piece.thread);
}

static void leave_block(const void *arg, void *c, int64_t rows, int64_t columns) {
  (void)arg, (void)c, (void)rows, (void)columns;
}

/* With a guard behind the workspace, in sizes around those from which threads share a product. */
static void check_guard(GemmArgs *args, char *workspace, int64_t most) {
  enum { GUARD = 256 };
  const Parallel two = {run_halves, NULL, 2};
  args->lda = args->transpose_a ? args->m : args->k;
  args->ldb = args->transpose_b ? args->k : args->n;
  args->ldc = args->n;
  for (args->threads = 0; args->threads <= 2; args->threads += 2) {
    int64_t size = gemm_f32.workspace(args);
    REQUIRE(size + GUARD <= most);
    memset(workspace + size, 0x5a, GUARD);
    gemm_f32.run(args, &two, workspace);
    for (int i = 0; i < GUARD; i++) CHECK_INT_EQ(workspace[size + i], 0x5a);
  }
}

TEST(gemm_writes_nothing_behind_its_workspace) {
  enum { MOST = 8 << 20, ELEMENTS = 800 * 300 };
  static const int64_t kM[] = {7, 16, 64, 200, 790}, kN[] = {4, 10, 48, 130, 256}, kK[] = {5, 32, 64, 290};
  const GemmEpilogue epilogue = {leave_block, NULL, 100};
  char *workspace = mem_alloc(MOST);
  float *a = mem_calloc(ELEMENTS, sizeof *a), *b = mem_calloc(ELEMENTS, sizeof *b),
        *c = mem_calloc(ELEMENTS, sizeof *c);
  REQUIRE(workspace && a && b && c);
  for (unsigned i = 0; i < 5 * 5 * 4 * 8; i++) {
    GemmArgs args = {.m = kM[i / 8 % 5], .n = kN[i / 40 % 5], .k = kK[i / 200], .a = a, .b = b, .c = c};
    args.transpose_a = i & 1, args.transpose_b = i >> 1 & 1;
    if (i >> 2 & 1) args.epilogue = &epilogue;
    CHECK_CONTEXT("%d x %d x %d", (int)args.m, (int)args.n, (int)args.k);
    check_guard(&args, workspace, MOST);
  }
  CHECK_CONTEXT("%s", "");
  mem_free(workspace), mem_free(a), mem_free(b), mem_free(c);
}
#endif

TEST(gemm_packed_size_and_workspace_are_bounded) {
  CHECK_INT_EQ(gemm_f32.packed_b_size(INT64_MAX / 2, 1000), -1);
  CHECK_INT_EQ(gemm_f32.packed_b_size(3, 0), 0);
  CHECK_INT_EQ(gemm_f32.row_b_size(1000, INT64_MAX / 2), -1);
  CHECK_INT_EQ(gemm_f32.row_b_size(INT64_MAX / 2, 1000), -1);
  CHECK_INT_EQ(gemm_f32.row_b_size(3, 0), 0);
  GemmArgs args = {.m = 1 << 20, .n = 1 << 20, .k = 1 << 20, .lda = 1 << 20, .ldb = 1 << 20, .ldc = 1 << 20};
  for (unsigned flags = 0; flags < 4; flags++) {
    args.transpose_a = flags & 1, args.transpose_b = flags >> 1;
    CHECK(gemm_f32.workspace(&args) < 4 << 20);
    CHECK(gemm_f64.workspace(&args) < 4 << 20);
    args.m = 3;
    CHECK(gemm_f32.workspace(&args) < 4 << 20);
    args.threads = 64;
    CHECK(gemm_f32.workspace(&args) < 4 << 20);
    args.threads = 0;
    args.m = 1 << 20;
  }
}
