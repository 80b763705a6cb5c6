#include "simd/wide.h"

#include "harness.h"

/* Sixteen different values; the special ones are in different quarters. */
static void fill(float v[16], float factor) {
  for (int i = 0; i < 16; i++) v[i] = (float)(i * 7 % 16 - 8) * factor;
  v[1] = NAN, v[6] = -0.0f, v[11] = INFINITY, v[12] = -INFINITY;
}

static bool same(float a, float b) { return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b); }

TEST(wide_functions_take_every_lane) {
  float a[16], b[16], c[16], y[16];
  int32_t mask[16], bits[16];
  fill(a, 1.5f);
  fill(b, -2.25f);
  for (int i = 0; i < 16; i++) b[i] = i % 5 == 0 ? a[i] : b[15 - i], c[i] = (float)i;
  f32x16 x = f32x16_load(a), z = f32x16_load(b), w = f32x16_load(c);
  i32x16 less = f32x16_less(x, z), equal = f32x16_equal(x, z);
  memcpy(mask, &less, sizeof mask);
  for (int i = 0; i < 16; i++) CHECK_INT_EQ(mask[i], a[i] < b[i] ? -1 : 0);
  f32x16_store(y, f32x16_select(less, x, w));
  for (int i = 0; i < 16; i++) CHECK(same(y[i], a[i] < b[i] ? a[i] : c[i]));
  memcpy(mask, &equal, sizeof mask);
  for (int i = 0; i < 16; i++) CHECK_INT_EQ(mask[i], a[i] == b[i] ? -1 : 0);
  f32x16_store(y, f32x16_pmin(x, z));
  for (int i = 0; i < 16; i++) CHECK(same(y[i], b[i] < a[i] ? b[i] : a[i]));
  f32x16_store(y, f32x16_sqrt(x));
  for (int i = 0; i < 16; i++) CHECK(same(y[i], sqrtf(a[i])));
  f32x16_store(y, f32x16_pmax(x, z));
  for (int i = 0; i < 16; i++) CHECK(same(y[i], a[i] < b[i] ? b[i] : a[i]));
  f32x16_store(y, f32x16_copysign(x, w - 8.0f));
  for (int i = 0; i < 16; i++) CHECK(same(y[i], copysignf(a[i], c[i] - 8)));
  f32x16_store(y, f32x16_abs(x));
  for (int i = 0; i < 16; i++) CHECK(same(y[i], fabsf(a[i])));
  f32x16_store(y, f32x16_madd(w, w, f32x16_load_splat(&c[3])));
  for (int i = 0; i < 16; i++) CHECK(y[i] == c[i] * c[i] + 3);
  i32x16 larger = i32x16_max((i32x16)x, (i32x16)w);
  memcpy(bits, &larger, sizeof bits);
  for (int i = 0; i < 16; i++) {
    int32_t p, q;
    memcpy(&p, &a[i], sizeof p);
    memcpy(&q, &c[i], sizeof q);
    CHECK_INT_EQ(bits[i], p > q ? p : q);
  }
  for (int i = 0; i < 16; i++) bits[i] = (i - 8) * 1000;
  i32x16 whole;
  memcpy(&whole, bits, sizeof whole);
  f32x16_store(y, f32x16_from_i32x16(whole));
  for (int i = 0; i < 16; i++) CHECK(y[i] == (float)bits[i]);
}

TEST(wide_folds) {
  float a[16];
  double b[8];
  for (int i = 0; i < 16; i++) a[i] = (float)(i * 11 % 16);
  for (int i = 0; i < 8; i++) b[i] = i * 5 % 8;
  f32x4 sum = f32x16_fold(f32x16_load(a)), most = f32x16_fold_pmax(f32x16_load(a)),
        least = f32x16_fold_pmin(f32x16_load(a));
  for (int l = 0; l < 4; l++) {
    float want[3] = {0, -1, 99};
    for (int i = l; i < 16; i += 4)
      want[0] += a[i], want[1] = fmaxf(want[1], a[i]), want[2] = fminf(want[2], a[i]);
    CHECK(sum[l] == want[0] && most[l] == want[1] && least[l] == want[2]);
  }
  f64x2 sums = f64x8_fold(f64x8_load(b)), largest = f64x8_fold_pmax(f64x8_load(b)),
        smallest = f64x8_fold_pmin(f64x8_load(b));
  for (int l = 0; l < 2; l++) {
    double want[3] = {0, -1, 99};
    for (int i = l; i < 8; i += 2)
      want[0] += b[i], want[1] = fmax(want[1], b[i]), want[2] = fmin(want[2], b[i]);
    CHECK(sums[l] == want[0] && largest[l] == want[1] && smallest[l] == want[2]);
  }
  for (int i = 0; i < 16; i++) {
    int32_t mask[16] = {0};
    i32x16 v;
    memcpy(&v, mask, sizeof v);
    CHECK(!i32x16_any(v));
    mask[i] = -1;
    memcpy(&v, mask, sizeof v);
    CHECK(i32x16_any(v));
  }
}

TEST(wide_some) {
  float from[17], to[18];
  double wide_from[8], wide_to[9];
  for (int i = 0; i < 17; i++) from[i] = (float)i + 0.5f;
  for (int i = 0; i < 8; i++) wide_from[i] = i + 0.25;
  for (int count = 0; count <= 16; count++) {
    float loaded[16];
    f32x16_store(loaded, f32x16_load_some(from, count, -3));
    for (int i = 0; i < 16; i++) CHECK(loaded[i] == (i < count ? from[i] : -3));
    for (int i = 0; i < 18; i++) to[i] = -1;
    f32x16_store_some(to + 1, count, f32x16_load(from));
    for (int i = 0; i < 18; i++) CHECK(to[i] == (i >= 1 && i <= count ? from[i - 1] : -1));
  }
  for (int count = 0; count <= 8; count++) {
    double loaded[8];
    f64x8_store(loaded, f64x8_load_some(wide_from, count, -3));
    for (int i = 0; i < 8; i++) CHECK(loaded[i] == (i < count ? wide_from[i] : -3));
    for (int i = 0; i < 9; i++) wide_to[i] = -1;
    f64x8_store_some(wide_to, count, f64x8_load(wide_from));
    for (int i = 0; i < 9; i++) CHECK(wide_to[i] == (i < count ? wide_from[i] : -1));
  }
}
