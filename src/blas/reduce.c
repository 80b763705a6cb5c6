#include "blas/reduce.h"

#include <math.h>
#include <string.h>

#include "simd/simd.h"

/* An axis of size 1 neither separates nor makes a group. */
static bool reduces(const int64_t *dims, const bool *reduced, int axis) {
  return reduced[axis] && dims[axis] != 1;
}

/* How many groups of neighbouring reduced axes there are. */
static int reduce_groups(int rank, const int64_t *dims, const bool *reduced) {
  int groups = 0;
  bool inside = false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] == 1) continue;
    groups += reduced[i] && !inside;
    inside = reduced[i];
  }
  return groups;
}

int64_t reduce_workspace(int rank, const int64_t *dims, const bool *reduced, size_t element_size) {
  int groups = reduce_groups(rank, dims, reduced);
  int64_t left = 1, size = 0;
  for (int i = 0; i < rank; i++) left *= dims[i];
  if (left == 0) return 0;
  for (int axis = rank - 1; axis >= 0 && groups > 1; axis--) {
    if (!reduces(dims, reduced, axis)) continue;
    for (; axis >= 0 && (reduced[axis] || dims[axis] == 1); axis--) left /= dims[axis];
    size += left, groups--;
  }
  return size * (int64_t)element_size;
}

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define TYPE(name) FN(name)
#define VFN(name) f32x4_##name
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define MEAN(sum, count) ((sum) / (float)(count))
SIMD_INLINE V FN(sum)(V a, V b) { return a + b; }
SIMD_INLINE V FN(prod)(V a, V b) { return a * b; }
SIMD_INLINE V FN(max)(V a, V b) { return f32x4_max(a, b); }
SIMD_INLINE V FN(min)(V a, V b) { return f32x4_min(a, b); }
#include "blas/reduce.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef MEAN

#define T double
#define V f64x2
#define LANES 2
#define FN(name) name##_f64
#define TYPE(name) FN(name)
#define VFN(name) f64x2_##name
#define MEAN(sum, count) ((sum) / (double)(count))
SIMD_INLINE V FN(sum)(V a, V b) { return a + b; }
SIMD_INLINE V FN(prod)(V a, V b) { return a * b; }
SIMD_INLINE V FN(max)(V a, V b) { return f64x2_max(a, b); }
SIMD_INLINE V FN(min)(V a, V b) { return f64x2_min(a, b); }
#include "blas/reduce.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef LOWEST
#undef HIGHEST
#undef MEAN

/* Unsigned vectors wrap around. INT_MIN / -1 cannot happen: a count is positive. */
typedef uint64_t u64x2 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
SIMD_INLINE i64x2 i64x2_load(const int64_t *p) {
  i64x2 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE void i64x2_store(int64_t *p, i64x2 v) { memcpy(p, &v, sizeof v); }
SIMD_INLINE i64x2 i64x2_splat(int64_t x) { return (i64x2){x, x}; }
SIMD_INLINE i64x2 i64x2_select(i64x2 mask, i64x2 a, i64x2 b) { return (mask & a) | (~mask & b); }
SIMD_INLINE void i64x2_transpose(i64x2 rows[2]) {
  i64x2 a = rows[0];
  rows[0] = __builtin_shufflevector(a, rows[1], 0, 2);
  rows[1] = __builtin_shufflevector(a, rows[1], 1, 3);
}
SIMD_INLINE void i32x4_transpose(i32x4 rows[4]) {
  f32x4 bits[4];
  memcpy(bits, rows, sizeof bits);
  f32x4_transpose(bits);
  memcpy(rows, bits, sizeof bits);
}
#define MEAN(sum, count) ((count) == 0 ? 0 : (T)((sum) / (count)))

#define T int32_t
#define V i32x4
#define LANES 4
#define FN(name) name##_i32
#define TYPE(name) FN(name)
#define VFN(name) i32x4_##name
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
SIMD_INLINE V FN(sum)(V a, V b) { return (V)((u32x4)a + (u32x4)b); }
SIMD_INLINE V FN(prod)(V a, V b) { return (V)((u32x4)a * (u32x4)b); }
SIMD_INLINE V FN(max)(V a, V b) { return i32x4_max(a, b); }
SIMD_INLINE V FN(min)(V a, V b) { return i32x4_min(a, b); }
#include "blas/reduce.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef LOWEST
#undef HIGHEST

#define T int64_t
#define V i64x2
#define LANES 2
#define FN(name) name##_i64
#define TYPE(name) FN(name)
#define VFN(name) i64x2_##name
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
SIMD_INLINE V FN(sum)(V a, V b) { return (V)((u64x2)a + (u64x2)b); }
SIMD_INLINE V FN(prod)(V a, V b) { return (V)((u64x2)a * (u64x2)b); }
SIMD_INLINE V FN(max)(V a, V b) { return i64x2_select(a < b, b, a); }
SIMD_INLINE V FN(min)(V a, V b) { return i64x2_select(b < a, b, a); }
#include "blas/reduce.inc"
