/* DrawBoundingBoxes: copies images and draws the outlines of boxes. */
#include <inttypes.h>
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/half_precision.h"
#include "ops/support/window_attrs.h"

/* The colours that boxes get in turn, if the op has none of its own. */
static const float kColours[][4] = {{1, 1, 0, 1},       {0, 0, 1, 1},       {1, 0, 0, 1},    {0, 1, 0, 1},
                                    {0.5f, 0, 0.5f, 1}, {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1},
                                    {0, 1, 1, 1},       {1, 0, 1, 1}};
enum { COLOURS = sizeof kColours / sizeof *kColours };

typedef struct Canvas {
  int64_t rows, columns, channels;
  float *pixels;
} Canvas;

static void fill(const Canvas *canvas, const int64_t rows[2], const int64_t columns[2], const float *colour) {
  for (int64_t row = rows[0]; row <= rows[1]; row++) {
    for (int64_t column = columns[0]; column <= columns[1]; column++) {
      memcpy(canvas->pixels + (row * canvas->columns + column) * canvas->channels, colour,
             sizeof(float) * (size_t)canvas->channels);
    }
  }
}

/* First and last element of the box along one axis, and which of them are on the canvas. */
typedef struct Side {
  int64_t seen[2]; /* moved onto the canvas */
  bool drawn[2];   /* edges beyond the canvas are not drawn */
} Side;

static bool find_side(float begin, float end, int64_t size, Side *side) {
  double first = (double)(begin * (float)(size - 1)), last = (double)(end * (float)(size - 1));
  if (!(first > -9e18 && first < 9e18 && last > -9e18 && last < 9e18)) return false;
  int64_t low = (int64_t)first, high = (int64_t)last;
  if (low > high || low >= size || high < 0) return false;
  *side = (Side){{low < 0 ? 0 : low, high > size - 1 ? size - 1 : high}, {low >= 0, high < size}};
  return true;
}

static void draw_box(const Canvas *canvas, const float *box, const float *colour) {
  Side y, x;
  if (!find_side(box[0], box[2], canvas->rows, &y) || !find_side(box[1], box[3], canvas->columns, &x)) return;
  for (int k = 0; k < 2; k++) {
    if (y.drawn[k]) fill(canvas, (int64_t[]){y.seen[k], y.seen[k]}, x.seen, colour);
    if (x.drawn[k]) fill(canvas, y.seen, (int64_t[]){x.seen[k], x.seen[k]}, colour);
  }
}

static bool check(const KernelContext *context, Status *status) {
  const Shape *images = &context->inputs[0]->shape, *boxes = &context->inputs[1]->shape;
  if (images->rank != 4) return status_invalid(status, "The rank of the images should be 4");
  if (boxes->rank != 3) return status_invalid(status, "The rank of the boxes tensor should be 3");
  if (shape_dim(images, 0) != shape_dim(boxes, 0))
    return status_invalid(status, "The batch sizes should be the same");
  int64_t channels = shape_dim(images, 3), columns = shape_dim(boxes, 2);
  if (channels != 1 && channels != 3 && channels != 4)
    return status_invalid(status, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  return columns == 4 ||
         status_invalid(status, "The size of the third dimension of the box must be 4. Received: %" PRId64,
                        columns);
}

/* The colours of input 2; none if there is no such input or if it is empty. */
static bool read_colours(const KernelContext *context, int64_t channels, const float **colours,
                         int64_t *count, int64_t *stride, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  *colours = NULL;
  if (context->num_inputs < 3) return true;
  const Tensor *table = context->inputs[2];
  if (table->shape.rank != 2)
    return status_invalid(status, "colors must be a 2-D matrix%s", shape_text(&table->shape, text));
  *count = shape_dim(&table->shape, 0), *stride = shape_dim(&table->shape, 1);
  if (*count == 0) return true;
  if (*stride < channels) {
    return status_invalid(status, "colors must have equal or more channels than the image provided: %s",
                          shape_text(&table->shape, text));
  }
  *colours = tensor_f32(table);
  return true;
}

static bool draw_boxes(KernelContext *context, Status *status) {
  const Tensor *images = context->inputs[0], *boxes = context->inputs[1];
  int64_t count = COLOURS, stride = 4;
  const float *colours;
  Image image = {0};
  Tensor *out;
  TRY(check(context, status));
  const int64_t *dims = shape_dims(&images->shape);
  TRY(read_colours(context, dims[3], &colours, &count, &stride, status));
  TRY(kernel_allocate_output(context, 0, &images->shape, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  TRY(image_begin(context, out, false, &image, status));
  if (image.buffer) half_precision_widen(images->dtype, images->data, image.data, tensor_num_elements(out));
  else memcpy(image.data, images->data, (size_t)tensor_num_elements(out) * sizeof(float));
  int64_t size = dims[1] * dims[2] * dims[3], per_image = shape_dim(&boxes->shape, 1);
  for (int64_t i = 0; i < dims[0] * per_image; i++) {
    Canvas canvas = {dims[1], dims[2], dims[3], (float *)image.data + i / per_image * size};
    float grey = 1;
    const float *colour = colours        ? colours + i % per_image % count * stride
                          : dims[3] == 1 ? &grey
                                         : kColours[i % per_image % COLOURS];
    draw_box(&canvas, tensor_f32(boxes) + 4 * i, colour);
  }
  bool ok = image_finish(context, &image, NULL, false, out, status);
  image_drop(&image);
  return ok;
}

static bool shape_draw(InferenceContext *c, Status *status) {
  ShapeHandle images, boxes;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &images, status));
  DimHandle channels = shape_dim_of(c, images, 3);
  if (dim_known(channels) && dim_value(channels) != 1 && dim_value(channels) != 3 && dim_value(channels) != 4)
    return status_invalid(status, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  TRY(shape_with_rank(c, shape_input(c, 1), 3, &boxes, status));
  TRY(dim_with_value(c, shape_dim_of(c, boxes, 2), 4, &channels, status));
  shape_set_output(c, 0, images);
  return true;
}

const OpRegistration kOpDrawBoundingBoxes = {
    .name = "DrawBoundingBoxes",
    .inputs = {"images: T", "boxes: float"},
    .outputs = {"output: T"},
    .attrs = {"T: {float, half} = DT_FLOAT"},
    .shape = shape_draw,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_FLOAT, draw_boxes}, {DT_HALF, draw_boxes}},
};

const OpRegistration kOpDrawBoundingBoxesV2 = {
    .name = "DrawBoundingBoxesV2",
    .inputs = {"images: T", "boxes: float", "colors: float"},
    .outputs = {"output: T"},
    .attrs = {"T: {float, half} = DT_FLOAT"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_FLOAT, draw_boxes}, {DT_HALF, draw_boxes}},
};
