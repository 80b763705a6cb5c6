/* A window that slides over images, as numbers: what convolutions and pooling share. Images are [batch, rows,
 * columns, channels]. */
#ifndef TFCORE_BLAS_WINDOW_H_
#define TFCORE_BLAS_WINDOW_H_

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_ROWS, WINDOW_COLUMNS, WINDOW_AXES };

/* One direction. Position o of the output sees positions o * stride - pad + f * dilation of the input, for f
 * < filter, as far as they are in the image. Products of these numbers fit: who fills this in has checked. */
typedef struct WindowAxis {
  int64_t in, out, filter, stride, dilation, pad;
} WindowAxis;

/* How positions of one grid (place < places) see those of another (position < size) through taps (tap <
 * taps):
 *
 *   position(place, tap) = place * step + offset + tap * tap_step
 *   filter(tap)          = filter + tap * filter_step
 *
 * From an output to its inputs as above; or, for the gradient, from each stride-th input to the outputs that
 * saw it. */
typedef struct WindowView {
  int64_t places, step, size;
  int64_t taps, offset, tap_step;
  int64_t filter, filter_step;
} WindowView;

WindowView window_forward(const WindowAxis *axis);
/* Of inputs phase, phase + stride, phase + 2 * stride, ...; phase < min(stride, in). */
WindowView window_backward(const WindowAxis *axis, int64_t phase);
/* The taps [begin, end) that see something inside; tap_step > 0. */
void window_inside(const WindowView *view, int64_t place, int64_t *begin, int64_t *end);
/* The places [begin, end) whose taps all see something inside; tap_step > 0. */
void window_whole(const WindowView *view, int64_t *begin, int64_t *end);
static inline int64_t window_phases(const WindowAxis *axis) {
  return axis->stride < axis->in ? axis->stride : axis->in;
}

#endif
