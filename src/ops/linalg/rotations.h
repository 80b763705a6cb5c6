/* Plane rotations with real coefficients. */
#ifndef TFCORE_OPS_LINALG_ROTATIONS_H_
#define TFCORE_OPS_LINALG_ROTATIONS_H_

#include <complex.h>
#include <math.h>
#include <stdint.h>

typedef struct Rotation {
  double c, s;
} Rotation;

/* The rotation with c x + s y = r and -s x + c y = 0, where r = hypot(x, y). */
static inline Rotation rotation_to(double x, double y, double *r) {
  *r = hypot(x, y);
  return *r > 0 ? (Rotation){x / *r, y / *r} : (Rotation){1, 0};
}

/* Rows x and y become c x + s y and -s x + c y. */
static inline void rotation_apply_f64(Rotation q, int64_t n, double *x, double *y) {
  for (int64_t i = 0; i < n; i++) {
    double a = x[i], b = y[i];
    x[i] = q.c * a + q.s * b;
    y[i] = q.c * b - q.s * a;
  }
}
static inline void rotation_apply_c128(Rotation q, int64_t n, double _Complex *x, double _Complex *y) {
  rotation_apply_f64(q, 2 * n, (double *)x, (double *)y);
}

#endif
