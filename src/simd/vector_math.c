#include "simd/vector_math.h"

/* `function` is a constant where this is inlined, so it is inlined too. The tail goes through a padded vector. */
SIMD_INLINE void map(int64_t count, const float *x, float *y, f32x4 (*function)(f32x4)) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) f32x4_store(y + i, function(f32x4_load(x + i)));
  if (i < count) {
    size_t size = (size_t)(count - i) * sizeof(float);
    f32x4 v = f32x4_splat(0);
    memcpy(&v, x + i, size);
    v = function(v);
    memcpy(y + i, &v, size);
  }
}

/* As map; where all of 16 have an exponential that is a normal number, `normal` gives what `function` would. */
SIMD_INLINE void map_exponential(int64_t count, const float *x, float *y, f32x4 (*function)(f32x4), f32x4 (*normal)(f32x4)) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    f32x4 v[4];
    f32x4 furthest = f32x4_splat(0);
    SIMD_UNROLL for (int k = 0; k < 4; k++) v[k] = f32x4_load(x + i + 4 * k);
    SIMD_UNROLL for (int k = 0; k < 4; k++) furthest = f32x4_pmin(furthest, f32x4_minus_abs(v[k]));
    if (f32x4_has_normal_exp(furthest)) {
      SIMD_UNROLL for (int k = 0; k < 4; k++) f32x4_store(y + i + 4 * k, normal(v[k]));
    } else {
      map(16, x + i, y + i, function);
    }
  }
  map(count - i, x + i, y + i, function);
}

void vector_exp_f32(int64_t count, const float *x, float *y) { map_exponential(count, x, y, f32x4_exp, f32x4_exp_normal); }
void vector_expm1_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_expm1); }
void vector_log_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_log); }
void vector_log1p_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_log1p); }
void vector_tanh_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_tanh); }
void vector_sigmoid_f32(int64_t count, const float *x, float *y) { map_exponential(count, x, y, f32x4_sigmoid, f32x4_sigmoid_normal); }
void vector_sin_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_sin); }
void vector_cos_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_cos); }
void vector_erf_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_erf); }
void vector_softplus_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_softplus); }
void vector_elu_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_elu); }
void vector_selu_f32(int64_t count, const float *x, float *y) { map(count, x, y, f32x4_selu); }

SIMD_INLINE void map_scalar(int64_t count, const double *x, double *y, double (*function)(double)) {
  for (int64_t i = 0; i < count; i++) y[i] = function(x[i]);
}

static double sigmoid(double x) {
  double e = exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
static double softplus(double x) { return (x < 0 ? 0 : x) + log1p(exp(-fabs(x))); }
static double elu(double x) { return x < 0 ? expm1(x) : x; }
static double selu(double x) { return x < 0 ? expm1(x) * SELU_SCALE_ALPHA : x * SELU_SCALE; }

void vector_exp_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, exp); }
void vector_expm1_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, expm1); }
void vector_log_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, log); }
void vector_log1p_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, log1p); }
void vector_tanh_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, tanh); }
void vector_sigmoid_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, sigmoid); }
void vector_sin_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, sin); }
void vector_cos_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, cos); }
void vector_erf_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, erf); }
void vector_softplus_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, softplus); }
void vector_elu_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, elu); }
void vector_selu_f64(int64_t count, const double *x, double *y) { map_scalar(count, x, y, selu); }
