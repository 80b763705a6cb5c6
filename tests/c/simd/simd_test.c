#include "simd/simd.h"

#include <float.h>

#include "harness.h"

/* All pairs of these are tested in every function of two arguments. */
static const float kValues[] = {0.0f,    -0.0f,    1.0f,   -1.0f,    2.5f,      -7.25f,
                                FLT_MAX, -FLT_MAX, 1e-40f, INFINITY, -INFINITY, NAN};
enum { VALUE_COUNT = sizeof kValues / sizeof kValues[0] };

static bool same_f32(float a, float b) { return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b); }
static bool same_f64(double a, double b) {
  return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

TEST(simd_min_and_max) {
  for (int i = 0; i < VALUE_COUNT; i++) {
    for (int j = 0; j < VALUE_COUNT; j++) {
      float a = kValues[i], b = kValues[j];
      double c = (double)a, d = (double)b;
      CHECK_CONTEXT("%g and %g", c, d);
      for (int lane = 0; lane < 4; lane++) {
        f32x4 x = {3, 3, 3, 3}, y = {4, 4, 4, 4};
        x[lane] = a, y[lane] = b;
        CHECK(same_f32(f32x4_pmin(x, y)[lane], b < a ? b : a));
        CHECK(same_f32(f32x4_pmax(x, y)[lane], a < b ? b : a));
        CHECK(f32x4_pmin(x, y)[lane ^ 1] == 3 && f32x4_pmax(x, y)[lane ^ 1] == 4);
        float smaller = f32x4_min(x, y)[lane], larger = f32x4_max(x, y)[lane];
        if (isnan(a) || isnan(b)) CHECK(isnan(smaller) && isnan(larger));
        else CHECK(smaller == fminf(a, b) && larger == fmaxf(a, b));
      }
      f64x2 x = f64x2_splat(c), y = f64x2_splat(d);
      CHECK(same_f64(f64x2_pmin(x, y)[0], d < c ? d : c));
      CHECK(same_f64(f64x2_pmax(x, y)[1], c < d ? d : c));
      if (isnan(c) || isnan(d)) CHECK(isnan(f64x2_min(x, y)[0]) && isnan(f64x2_max(x, y)[1]));
      else CHECK(f64x2_min(x, y)[1] == fmin(c, d) && f64x2_max(x, y)[0] == fmax(c, d));
    }
  }
  i32x4 p = {INT32_MIN, 5, -1, 0}, q = {INT32_MAX, 5, 0, -1}, smaller = i32x4_min(p, q),
        larger = i32x4_max(p, q);
  CHECK(smaller[0] == INT32_MIN && smaller[1] == 5 && smaller[2] == -1 && smaller[3] == -1);
  CHECK(larger[0] == INT32_MAX && larger[1] == 5 && larger[2] == 0 && larger[3] == 0);
}

TEST(simd_unary) {
  for (int i = 0; i < VALUE_COUNT; i++) {
    float a = kValues[i];
    double b = (double)a;
    CHECK_CONTEXT("%g", b);
    CHECK(same_f32(f32x4_abs(f32x4_splat(a))[1], fabsf(a)) &&
          same_f64(f64x2_abs(f64x2_splat(b))[1], fabs(b)));
    CHECK(same_f32(f32x4_sqrt(f32x4_splat(a))[2], sqrtf(a)) &&
          same_f64(f64x2_sqrt(f64x2_splat(b))[1], sqrt(b)));
    CHECK(same_f32(f32x4_floor(f32x4_splat(a))[3], floorf(a)) &&
          same_f64(f64x2_floor(f64x2_splat(b))[0], floor(b)));
    CHECK(same_f32(f32x4_copysign(f32x4_splat(a), f32x4_splat(-1))[0], copysignf(a, -1)));
    CHECK(same_f32(f32x4_copysign(f32x4_splat(-a), f32x4_splat(0))[0], copysignf(a, 1)));
  }
}

TEST(simd_select_and_compare) {
  f32x4 a = {1, 2, NAN, -0.0f}, b = {1, 1, 0, 0.0f};
  f32x4 chosen = f32x4_select(a > b, a, b);
  CHECK(chosen[0] == 1 && chosen[1] == 2 && chosen[2] == 0 && !signbit(chosen[3]));
  i32x4 equal = a == b;
  CHECK(equal[0] == -1 && equal[1] == 0 && equal[2] == 0 && equal[3] == -1);
  CHECK(i32x4_any(equal) && !i32x4_any(a < b));
  for (int lane = 0; lane < 4; lane++) {
    i32x4 one = {0};
    one[lane] = -1;
    CHECK(i32x4_any(one));
  }
  f64x2 wide = f64x2_select((i64x2){-1, 0}, f64x2_splat(3), f64x2_splat(4));
  CHECK(wide[0] == 3 && wide[1] == 4);
  i32x4 whole = i32x4_select((i32x4){-1, 0, 0, -1}, i32x4_splat(7), i32x4_splat(9));
  CHECK(whole[0] == 7 && whole[1] == 9 && whole[2] == 9 && whole[3] == 7);
}

TEST(simd_memory_at_any_alignment) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
  double u[4] = {1, 2, 3, 4}, v[4] = {0};
  int32_t k[6] = {1, 2, 3, 4, 5, 6}, l[6] = {0};
  for (int at = 0; at < 4; at++) {
    f32x4_store(y + at, f32x4_load(x + at));
    CHECK_MEM_EQ(y + at, x + at, 16);
    CHECK(f32x4_load_splat(x + at)[3] == x[at]);
  }
  f64x2_store(v + 1, f64x2_load(u + 1));
  CHECK_MEM_EQ(v + 1, u + 1, 16);
  CHECK(v[0] == 0 && v[3] == 0 && f64x2_load_splat(u + 3)[1] == 4);
  i32x4_store(l + 1, i32x4_load(k + 2));
  CHECK_MEM_EQ(l + 1, k + 2, 16);
}

TEST(simd_across_lanes_and_conversions) {
  CHECK(f32x4_sum((f32x4){1, 20, 300, 4000}) == 4321 && f64x2_sum((f64x2){1, 20}) == 21);
  /* (a0 + a2) + (a1 + a3): 1 + 1e8 loses the 1 unless 1e8 cancels first. */
  CHECK(f32x4_sum((f32x4){1e8f, 1, -1e8f, 2}) == 3);
  for (int lane = 0; lane < 4; lane++) {
    f32x4 a = {1, 2, 3, 4};
    f64x2 b = {1, 2};
    a[lane] = 9, b[lane % 2] = 9;
    CHECK(f32x4_largest(a) == 9 && f64x2_largest(b) == 9);
    a[lane] = -9, b[lane % 2] = -9;
    CHECK(f32x4_smallest(a) == -9 && f64x2_smallest(b) == -9);
  }
  f32x4 rows[4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}, {30, 31, 32, 33}};
  f32x4_transpose(rows);
  f64x2 wide[2] = {{0, 1}, {10, 11}};
  f64x2_transpose(wide);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) CHECK(rows[i][j] == (float)(j * 10 + i));
    CHECK(wide[i / 2][i % 2] == i % 2 * 10 + i / 2);
  }
  CHECK(f32x4_from_i32x4((i32x4){-3, 0, 7, INT32_MIN})[3] == -0x1p31f);
  i32x4 whole = i32x4_from_f32x4((f32x4){-2.9f, 2.9f, 16777216, -0.5f});
  CHECK(whole[0] == -2 && whole[1] == 2 && whole[2] == 16777216 && whole[3] == 0);
  i32x4 odd = i32x4_from_f32x4((f32x4){NAN, INFINITY, -INFINITY, 1e20f});
  (void)odd; /* any number, but no trap */
  f32x4 product = f32x4_madd(f32x4_splat(3), f32x4_splat(4), f32x4_splat(5));
  f64x2 wide_product = f64x2_madd(f64x2_splat(3), f64x2_splat(4), f64x2_splat(5));
  CHECK(product[2] == 17 && wide_product[1] == 17);
}

TEST(simd_picks_bytes_by_place) {
  u8x16 v, places;
  for (int shift = 0; shift < 16; shift++) {
    for (int i = 0; i < 16; i++) {
      v[i] = (uint8_t)(200 + i);
      places[i] = i % 3 == 2 ? 255 : (uint8_t)((i * 7 + shift) % 16);
    }
    u8x16 picked = u8x16_pick(v, places);
    for (int i = 0; i < 16; i++) CHECK_INT_EQ(picked[i], i % 3 == 2 ? 0 : 200 + (i * 7 + shift) % 16);
  }
}
