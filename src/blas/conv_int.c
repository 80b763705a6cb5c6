/* Convolutions of integers, which are rare: direct loops, without matrix products. */
#include <string.h>

#include "blas/conv.h"

typedef struct IntConv {
  const Conv *conv;
  const int32_t *a, *b;
  int32_t *result;
} IntConv;

/* The rows [begin, end) of all images of y: a is x. */
static void forward_rows(void *arg, int64_t begin, int64_t end) {
  const IntConv *job = arg;
  const Conv *c = job->conv;
  const WindowAxis *rows = &c->axis[WINDOW_ROWS], *columns = &c->axis[WINDOW_COLUMNS];
  int64_t in_group = c->in_channels / c->groups, out_group = c->out_channels / c->groups;
  for (int64_t at = begin * columns->out; at < end * columns->out; at++) {
    int64_t column = at % columns->out, line = at / columns->out, row = line % rows->out,
            image = line / rows->out;
    uint32_t *to = (uint32_t *)job->result + at * c->out_channels;
    memset(to, 0, (size_t)c->out_channels * sizeof *to);
    for (int64_t tap = 0; tap < rows->filter * columns->filter; tap++) {
      int64_t y = row * rows->stride - rows->pad + tap / columns->filter * rows->dilation;
      int64_t x = column * columns->stride - columns->pad + tap % columns->filter * columns->dilation;
      if (y < 0 || y >= rows->in || x < 0 || x >= columns->in) continue;
      const int32_t *from = job->a + ((image * rows->in + y) * columns->in + x) * c->in_channels;
      for (int64_t i = 0; i < c->in_channels; i++) {
        int64_t first = i / in_group * out_group;
        const int32_t *weights = job->b + (tap * in_group + i % in_group) * c->out_channels;
        for (int64_t o = first; o < first + out_group; o++) to[o] += (uint32_t)from[i] * (uint32_t)weights[o];
      }
    }
  }
}

/* The output that uses the input at `at` through a tap; -1 if there is none. */
static int64_t seen_by(const WindowAxis *axis, int64_t at, int64_t tap) {
  int64_t distance = at + axis->pad - tap * axis->dilation;
  return distance < 0 || distance % axis->stride != 0 || distance / axis->stride >= axis->out
             ? -1
             : distance / axis->stride;
}

/* The rows [begin, end) of all images of dx: a is dy. */
static void backward_rows(void *arg, int64_t begin, int64_t end) {
  const IntConv *job = arg;
  const Conv *c = job->conv;
  const WindowAxis *rows = &c->axis[WINDOW_ROWS], *columns = &c->axis[WINDOW_COLUMNS];
  int64_t in_group = c->in_channels / c->groups, out_group = c->out_channels / c->groups;
  for (int64_t at = begin * columns->in; at < end * columns->in; at++) {
    int64_t line = at / columns->in, image = line / rows->in;
    uint32_t *to = (uint32_t *)job->result + at * c->in_channels;
    memset(to, 0, (size_t)c->in_channels * sizeof *to);
    for (int64_t tap = 0; tap < rows->filter * columns->filter; tap++) {
      int64_t y = seen_by(rows, line % rows->in, tap / columns->filter);
      int64_t x = seen_by(columns, at % columns->in, tap % columns->filter);
      if (y < 0 || x < 0) continue;
      const int32_t *from = job->a + ((image * rows->out + y) * columns->out + x) * c->out_channels;
      for (int64_t i = 0; i < c->in_channels; i++) {
        int64_t first = i / in_group * out_group;
        const int32_t *weights = job->b + (tap * in_group + i % in_group) * c->out_channels;
        for (int64_t o = first; o < first + out_group; o++) to[i] += (uint32_t)from[o] * (uint32_t)weights[o];
      }
    }
  }
}

static int64_t no_workspace(ConvProduct product, const Conv *conv, bool packed) {
  (void)product, (void)conv, (void)packed;
  return 0;
}

static void run(ConvProduct product, const Conv *conv, const void *a, const void *b, const void *packed,
                void *result, const Parallel *parallel, void *workspace) {
  (void)packed, (void)workspace;
  IntConv job = {conv, a, b, result};
  bool forward = product == CONV_FORWARD;
  const WindowAxis *rows = &conv->axis[WINDOW_ROWS], *columns = &conv->axis[WINDOW_COLUMNS];
  double work = (double)conv_depth(conv) * (double)conv->out_channels * (double)columns->out;
  parallel_work(parallel, conv->batch * (forward ? rows->out : rows->in), work,
                forward ? forward_rows : backward_rows, &job);
}

const ConvType conv_i32 = {.workspace = no_workspace, .run = run};
