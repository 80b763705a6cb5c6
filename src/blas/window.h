/* The geometry of a window that slides over images, shared by convolutions and pooling. Images are [batch,
 * rows, columns, channels]. */
#ifndef TFCORE_BLAS_WINDOW_H_
#define TFCORE_BLAS_WINDOW_H_

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_ROWS, WINDOW_COLUMNS, WINDOW_AXES };

/* One direction. Output position o uses the input positions o * stride - pad + f * dilation, for f < filter,
 * that are inside the image. The caller has checked that products of these numbers do not overflow. */
typedef struct WindowAxis {
  int64_t in, out, filter, stride, dilation, pad;
} WindowAxis;

/* How positions of one grid (place < places) map to positions of another (position < size) through taps (tap
 * < taps):
 *
 *   position(place, tap) = place * step + offset + tap * tap_step
 *   filter(tap)          = filter + tap * filter_step
 *
 * Maps an output to its inputs as above; or, for the gradient, each stride-th input to the outputs that use
 * it.
 */
typedef struct WindowView {
  int64_t places, step, size;
  int64_t taps, offset, tap_step;
  int64_t filter, filter_step;
} WindowView;

WindowView window_forward(const WindowAxis *axis);
/* For the inputs phase, phase + stride, phase + 2 * stride, ...; phase < min(stride, in). */
WindowView window_backward(const WindowAxis *axis, int64_t phase);
/* The taps [begin, end) whose positions are inside; tap_step > 0. */
void window_inside(const WindowView *view, int64_t place, int64_t *begin, int64_t *end);
/* The places [begin, end) all of whose taps are inside; tap_step > 0. */
void window_whole(const WindowView *view, int64_t *begin, int64_t *end);
/* From the first to the last position that `places` adjacent places see. */
static inline int64_t window_extent(const WindowView *view, int64_t places) {
  return (places - 1) * view->step + (view->taps - 1) * view->tap_step + 1;
}
static inline int64_t window_phases(const WindowAxis *axis) {
  return axis->stride < axis->in ? axis->stride : axis->in;
}

#endif
