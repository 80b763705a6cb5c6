#include "blas/transpose.h"

#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "blas/small_numbers.h"
#include "harness.h"

/* Fills x with distinct bytes and checks every element of y by its index. */
static void check_transpose(int size, int rank, const int64_t *dims, const int32_t *perm) {
  int64_t total = 1, y_dims[20];
  for (int d = 0; d < rank; d++) total *= dims[d], y_dims[d] = dims[perm[d]];
  CHECK_CONTEXT("size %d rank %d dims %d %d %d perm %d %d %d", size, rank, (int)dims[0],
                rank > 1 ? (int)dims[1] : 0, rank > 2 ? (int)dims[2] : 0, perm[0], rank > 1 ? perm[1] : 0,
                rank > 2 ? perm[2] : 0);
  uint8_t *x = mem_alloc(total * size), *y = mem_alloc(total * size), *z = mem_alloc(total * size);
  for (int64_t i = 0; i < total * size; i++) x[i] = (uint8_t)((uint64_t)i * 2654435761u >> 13);
  CHECK(transpose(size, rank, dims, perm, x, y, NULL));
  int64_t bad = 0;
  for (int64_t i = 0; i < total; i++) {
    int64_t index[20], rest = i, from = 0;
    for (int d = rank - 1; d >= 0; d--) index[perm[d]] = rest % y_dims[d], rest /= y_dims[d];
    for (int d = 0; d < rank; d++) from = from * dims[d] + index[d];
    bad += memcmp(y + i * size, x + from * size, (size_t)size) != 0;
  }
  CHECK_INT_EQ(bad, 0);
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 3};
  CHECK(transpose(size, rank, dims, perm, x, z, &parallel));
  CHECK_MEM_EQ(z, y, (size_t)(total * size));
  mem_free(x), mem_free(y), mem_free(z);
  CHECK_CONTEXT("%s", "");
}

static const int kSizes[] = {1, 2, 4, 8, 16};

TEST(transpose_matrices) {
  static const int64_t kDims[][2] = {{1, 1},   {1, 7},    {7, 1},   {3, 5},   {16, 16}, {17, 33},
                                     {64, 64}, {65, 130}, {128, 3}, {2, 200}, {4, 4},   {8, 9}};
  static const int32_t kSwap[] = {1, 0}, kSame[] = {0, 1};
  for (int s = 0; s < 5; s++) {
    for (size_t i = 0; i < sizeof kDims / sizeof kDims[0]; i++) {
      check_transpose(kSizes[s], 2, kDims[i], kSwap);
      check_transpose(kSizes[s], 2, kDims[i], kSame);
    }
  }
}

TEST(transpose_every_permutation_of_four_axes) {
  static const int64_t kDims[][4] = {{2, 3, 4, 5}, {1, 6, 1, 7}, {5, 1, 2, 1}, {3, 17, 2, 18}, {1, 1, 1, 1}};
  for (int code = 0; code < 256; code++) {
    int32_t perm[4];
    int seen = 0;
    for (int d = 0; d < 4; d++) perm[d] = code >> 2 * d & 3, seen |= 1 << perm[d];
    if (seen != 15) continue;
    for (size_t i = 0; i < sizeof kDims / sizeof kDims[0]; i++) {
      for (int s = 0; s < 5; s++) check_transpose(kSizes[s], 4, kDims[i], perm);
    }
  }
}

TEST(transpose_large_in_strips) {
  static const int64_t kDims[] = {3, 300, 260};
  static const int32_t kPerms[][3] = {{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}};
  for (int i = 0; i < 5; i++) check_transpose(4, 3, kDims, kPerms[i]);
}

TEST(transpose_many_small_matrices) {
  static const int32_t kPerms[][4] = {{0, 2, 1, 3}, {0, 1, 3, 2}, {0, 3, 2, 1}, {1, 0, 3, 2},
                                      {0, 3, 1, 2}, {0, 2, 3, 1}, {2, 0, 1, 3}, {2, 0, 3, 1}};
  SmallNumbers random = {3};
  for (int i = 0; i < 400; i++) {
    int64_t dims[4] = {60 + small_number(&random, 100)};
    for (int d = 1; d < 4; d++) dims[d] = 1 + small_number(&random, !small_number(&random, 4) ? 40 : 5);
    check_transpose(kSizes[i % 5], 4, dims, kPerms[small_number(&random, 8)]);
  }
}

/* Tiles at the edge of large matrices. */
TEST(transpose_matrices_of_every_remainder) {
  static const int32_t kSwap[] = {1, 0};
  for (int64_t rows = 1; rows <= 36; rows++) {
    for (int64_t columns = 1; columns <= 36; columns++) {
      check_transpose(kSizes[(rows + columns) % 5], 2, (const int64_t[]){rows, columns}, kSwap);
      check_transpose(4, 2, (const int64_t[]){rows, columns}, kSwap);
    }
  }
}

TEST(transpose_scalars_empty_arrays_and_many_axes) {
  int32_t perm[18] = {0}, value = 5, copy = 0;
  int64_t dims[18] = {3, 0, 2};
  CHECK(transpose(4, 0, dims, perm, &value, &copy, NULL));
  CHECK_INT_EQ(copy, 5);
  perm[0] = 2, perm[1] = 1, perm[2] = 0;
  CHECK(transpose(4, 3, dims, perm, NULL, NULL, NULL));
  /* 18 axes that can all be merged, then 17 that cannot be merged. */
  for (int d = 0; d < 18; d++) dims[d] = d % 6 == 0 ? 2 : 1, perm[d] = d;
  check_transpose(4, 18, dims, perm);
  for (int d = 0; d < 17; d++) dims[d] = 2, perm[d] = 16 - d;
  CHECK(!transpose(4, 17, dims, perm, &value, &copy, NULL));
  for (int d = 0; d < 16; d++) perm[d] = 15 - d;
  check_transpose(1, 16, dims, perm);
}
