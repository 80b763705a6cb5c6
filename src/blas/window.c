#include "blas/window.h"

WindowView window_forward(const WindowAxis *axis) {
  return (WindowView){.places = axis->out,
                      .step = axis->stride,
                      .size = axis->in,
                      .taps = axis->filter,
                      .offset = -axis->pad,
                      .tap_step = axis->dilation,
                      .filter = 0,
                      .filter_step = 1};
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Output (y + pad - f * dilation) / stride uses input y if that is an integer. It is for every stride /
 * divisor-th f; they are enumerated backward, so that output positions ascend. */
WindowView window_backward(const WindowAxis *axis, int64_t phase) {
  int64_t divisor = common_divisor(axis->stride, axis->dilation), every = axis->stride / divisor;
  WindowView view = {.places = (axis->in - phase + axis->stride - 1) / axis->stride,
                     .step = 1,
                     .size = axis->out,
                     .tap_step = axis->dilation / divisor,
                     .filter_step = -every};
  for (int64_t f = axis->filter - 1; f >= 0 && f >= axis->filter - every; f--) {
    int64_t from = phase + axis->pad - f * axis->dilation;
    if (from % axis->stride != 0) continue;
    view.taps = f / every + 1;
    view.filter = f;
    view.offset = from / axis->stride;
    break;
  }
  return view;
}

void window_inside(const WindowView *view, int64_t place, int64_t *begin, int64_t *end) {
  int64_t first = place * view->step + view->offset, step = view->tap_step,
          last = first + (view->taps - 1) * step;
  *begin = first >= 0 ? 0 : (-first + step - 1) / step;
  *end = last < view->size ? view->taps : first >= view->size ? 0 : (view->size - 1 - first) / step + 1;
  if (*begin > *end) *begin = *end;
}

void window_whole(const WindowView *view, int64_t *begin, int64_t *end) {
  int64_t step = view->step, room = view->size - view->offset -
                                    (view->taps - 1) * view->tap_step; /* position * step is bounded by it */
  *begin = view->offset >= 0 ? 0 : (-view->offset + step - 1) / step;
  *end = room <= 0 ? 0 : (room - 1) / step + 1;
  if (*end > view->places) *end = view->places;
  if (*begin > *end) *begin = *end;
}
