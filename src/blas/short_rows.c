/* The filter's gradient of images with few channels, for each type. */
#include <string.h>

#include "base/work_stop.h"
#include "blas/conv.h"
#include "simd/templates.h"
#include "simd/simd.h"

enum {
  MOST_CHANNELS = 8, /* for at most FEW_OUTPUTS */
  FEW_CHANNELS = 3,  /* for any number of outputs */
  FEW_OUTPUTS = 16,
  MOST_PIECES = 8,        /* that are summed alone, whatever the number of threads */
  PATCH_BYTES = 3 * 4096, /* of a row of the image between zeros, at most */
  FEWEST_TAPS = 3,        /* in a row of the filter, times channels */
  TAPS_TOGETHER = 5       /* at most */
};

static int64_t panels_of(const Conv *conv, int64_t width) { return (conv->out_channels + width - 1) / width; }

static int64_t pieces_of(const Conv *conv) {
  int64_t lines = conv->batch * conv->axis[WINDOW_ROWS].out;
  return lines < MOST_PIECES ? lines : MOST_PIECES;
}

/* The elements of x that the windows of a line see. */
static int64_t line_length(const Conv *conv) {
  WindowView columns = window_forward(&conv->axis[WINDOW_COLUMNS]);
  return window_extent(&columns, columns.places) * conv->in_channels;
}

static bool suits(const Conv *conv, int64_t lanes, int64_t element) {
  const WindowAxis *columns = &conv->axis[WINDOW_COLUMNS];
  if (conv->groups != 1 || conv->out_channels < lanes) return false;
  if (conv->in_channels > (conv->out_channels > FEW_OUTPUTS ? FEW_CHANNELS : MOST_CHANNELS)) return false;
  if (columns->dilation != 1 || columns->filter * conv->in_channels < FEWEST_TAPS) return false;
  if (columns->out < 1 || columns->stride > PATCH_BYTES || columns->filter > PATCH_BYTES) return false;
  return columns->out <= PATCH_BYTES && line_length(conv) * element <= PATCH_BYTES;
}

#define TEMPLATE "blas/short_rows.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
