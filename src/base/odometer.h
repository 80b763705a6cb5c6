/* Walks over a box in row-major order and tracks the offset of each position in up to three arrays.
 *
 *   int64_t index[2];
 *   Odometer o = {.rank = 2, .dims = dims, .strides = {x_strides, y_strides}, .index = index};
 *   odometer_seek(&o, 2, begin);
 *   for (int64_t i = begin; i < end; i++, odometer_advance(&o, 2, 1)) y[o.at[1]] = x[o.at[0]];
 *
 * `sets` is the number of tracked arrays. It is a constant, so that nothing is computed for the others. The
 * functions are inlined and an Odometer is a local variable, so that the compiler keeps it in registers.
 */
#ifndef TFCORE_BASE_ODOMETER_H_
#define TFCORE_BASE_ODOMETER_H_

#include <stdint.h>

enum { ODOMETER_MAX_SETS = 3 };

typedef struct Odometer {
  int rank;
  const int64_t *dims;                       /* `rank` sizes, all above 0 */
  const int64_t *strides[ODOMETER_MAX_SETS]; /* of each array, `rank` strides; 0 repeats an axis */
  int64_t *index;                            /* the coordinates: memory of the caller, with `rank` entries */
  int64_t at[ODOMETER_MAX_SETS];             /* the array's offset + the sum of index[d] * strides[d] */
} Odometer;

#define ODOMETER_INLINE static inline __attribute__((always_inline))

/* Moves from the first position, where `at` holds the arrays' offsets, to `position`, which counts from 0 and
 * must be below the number of positions. */
ODOMETER_INLINE void odometer_seek(Odometer *o, int sets, int64_t position) {
  for (int d = o->rank - 1; d >= 0; d--) {
    int64_t i = position % o->dims[d];
    position /= o->dims[d];
    o->index[d] = i;
    if (sets > 0) o->at[0] += i * o->strides[0][d];
    if (sets > 1) o->at[1] += i * o->strides[1][d];
    if (sets > 2) o->at[2] += i * o->strides[2][d];
  }
}

/* Advances by `step` positions, at most to the first position of the next row. After the last position comes
 * the first. */
ODOMETER_INLINE void odometer_advance(Odometer *o, int sets, int64_t step) {
  for (int d = o->rank - 1; d >= 0; d--, step = 1) {
    if (sets > 0) o->at[0] += step * o->strides[0][d];
    if (sets > 1) o->at[1] += step * o->strides[1][d];
    if (sets > 2) o->at[2] += step * o->strides[2][d];
    if ((o->index[d] += step) < o->dims[d]) return;
    if (sets > 0) o->at[0] -= o->dims[d] * o->strides[0][d];
    if (sets > 1) o->at[1] -= o->dims[d] * o->strides[1][d];
    if (sets > 2) o->at[2] -= o->dims[d] * o->strides[2][d];
    o->index[d] = 0;
  }
}

#endif
