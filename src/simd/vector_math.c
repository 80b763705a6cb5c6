#include "simd/vector_math.h"

#include "simd/vector_map.h"

void vector_neg_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_neg); }
void vector_abs_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_abs); }
void vector_exp_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_exp); }
void vector_expm1_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_expm1); }
void vector_log_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_log); }
void vector_log1p_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_log1p); }
void vector_tanh_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_tanh); }
void vector_sigmoid_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_sigmoid); }
void vector_sin_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_sin); }
void vector_cos_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_cos); }
void vector_erf_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_erf); }
void vector_erfc_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_erfc); }
void vector_softplus_f32(int64_t count, const float *x, float *y) {
  vector_map(count, x, y, f32x16_softplus);
}
void vector_elu_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_elu); }
void vector_selu_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_selu); }
void vector_gelu_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, f32x16_gelu); }
void vector_gelu_by_tanh_f32(int64_t count, const float *x, float *y) {
  vector_map(count, x, y, f32x16_gelu_by_tanh);
}

void vector_exp_anywhere(float *x) { f32x16_store(x, f32x16_exp_anywhere(f32x16_load(x), f32x16_exp_parts)); }

/* Seldom run, so small rather than fast. */
void vector_log_anywhere(float *to) {
  const f32x16 x = f32x16_load(to), zero = f32x16_splat(0.0f), infinity = f32x16_splat(INFINITY);
  i32x16 denormal = f32x16_less(x, f32x16_splat(0x1p-126f));
  f32x16 y = f32x16_log_scaled(f32x16_select(denormal, x * 0x1p23f, x), denormal & 23 << 23);
  y = f32x16_select(f32x16_less(x, infinity), y, x); /* +infinity and NaN */
  y = f32x16_select(f32x16_equal(x, zero), -infinity, y);
  f32x16_store(to, f32x16_select(f32x16_less(x, zero), f32x16_splat(NAN), y));
}

/* Numbers below -104, of which the result is 0, are usual beside near ones: masks are made of them. */
void vector_exp_far(float *x) {
  f32x16 v = f32x16_load(x), zero = f32x16_splat(0);
  i32x16 vanishes = f32x16_less(v, f32x16_splat(-104.0f));
  f32x16 rest = f32x16_select(vanishes, zero, v), e;
  if (f32x16_is_near(rest)) e = f32x16_select(vanishes, zero, f32x16_exp_near_zero(rest));
  else e = f32x16_exp_anywhere(v, f32x16_exp_parts_short);
  f32x16_store(x, e);
}
