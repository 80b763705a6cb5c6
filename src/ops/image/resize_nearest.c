/* ResizeNearestNeighbor: copies the nearest element of the image. ResizeNearestNeighborGrad sums over the
 * copies of each element. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/image/resize_image.h"
#include "ops/support/window_attrs.h"

#define TEMPLATE "ops/image/resize_copy.inc"
#define TYPES (TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

/* The nearest rows and columns; one allocation, with space for `more` numbers at the end. */
static Buffer *find_nearest(KernelContext *context, const ResizeAttrs *attrs, const int64_t original[2],
                            const int64_t resized[2], int64_t more, int64_t **y, int64_t **x,
                            Status *status) {
  Buffer *buffer =
      kernel_scratch(context, (resized[0] + resized[1] + more) * (int64_t)sizeof(int64_t), status);
  if (!buffer) return NULL;
  *y = buffer->data;
  *x = *y + resized[0];
  resize_nearest(attrs, original[0], resized[0], *y);
  resize_nearest(attrs, original[1], resized[1], *x);
  return buffer;
}

/* --- ResizeNearestNeighbor --- */

typedef void PickRow(int64_t channels, const void *row, int64_t count, const int64_t *axis, void *to);

static PickRow *pick_row_of(int64_t element_size) {
  return element_size == 1   ? pick_row_u8
         : element_size == 2 ? pick_row_u16
         : element_size == 4 ? pick_row_i32
                             : pick_row_i64;
}

/* Sizes of rows in bytes. */
typedef struct Copy {
  const int64_t *y, *x;
  PickRow *pick;
  int64_t from_rows, rows, columns, channels, from_bytes, bytes;
  const char *from;
  char *to;
} Copy;

static void copy_rows(void *arg, int64_t begin, int64_t end) {
  const Copy *r = arg;
  for (int64_t line = begin; line < end; line++) {
    int64_t image = line / r->rows, row = line % r->rows;
    char *to = r->to + line * r->bytes;
    if (line > begin && row > 0 && r->y[row] == r->y[row - 1]) {
      memcpy(to, to - r->bytes, (size_t)r->bytes);
    } else {
      r->pick(r->channels, r->from + (image * r->from_rows + r->y[row]) * r->from_bytes, r->columns, r->x,
              to);
    }
  }
}

static bool resize_nearest_neighbor(KernelContext *context, Status *status) {
  int64_t sizes[RESIZE_AXES], *y, *x;
  Tensor *out;
  TRY(resize_begin(context, sizes, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  const int64_t *dims = shape_dims(&context->inputs[0]->shape);
  Buffer *places = find_nearest(context, context->state, dims + 1, sizes, 0, &y, &x, status);
  if (!places) return false;
  int64_t size = (int64_t)dtype_size(out->dtype), bytes = sizes[RESIZE_COLUMNS] * dims[3] * size;
  Copy run = {y,
              x,
              pick_row_of(size),
              dims[1],
              sizes[RESIZE_ROWS],
              sizes[RESIZE_COLUMNS],
              dims[3],
              dims[2] * dims[3] * size,
              bytes,
              context->inputs[0]->data,
              out->data};
  parallel_work(context->parallel, dims[0] * sizes[RESIZE_ROWS], (double)bytes / 2, copy_rows, &run);
  buffer_unref(places);
  return true;
}

/* --- ResizeNearestNeighborGrad --- */

static bool nearest_grad_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return resize_read_attrs(construction->node, false, memory,
                           status); /* TensorFlow forbids no combination here */
}

typedef struct Gather {
  const int64_t *y, *x, *first; /* first: by row of the result, the first position that is nearest to it, if
                                 * any */
  int64_t rows, columns, to_rows, to_columns, channels;
  const void *grads;
  void *to;
} Gather;

#define TEMPLATE "ops/image/resize_gather.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

static ParallelBody *gather_of(DataType type) {
  switch (type) {
    case DT_DOUBLE: return gather_rows_f64;
    case DT_INT32: return gather_rows_i32;
    case DT_UINT8: return gather_rows_u8;
    case DT_INT8: return gather_rows_i8;
    default: return gather_rows_f32; /* also for 16-bit floats */
  }
}

static bool gather(KernelContext *context, const int64_t *from, const int64_t *to, Image *grads,
                   Image *result, DataType type, Status *status) {
  int64_t *y, *x;
  Buffer *places = find_nearest(context, context->state, to + 1, from + 1, to[1], &y, &x, status);
  if (!places) return false;
  int64_t *first = x + from[2], next = 0;
  for (int64_t row = 0; row < to[1]; row++) {
    while (next < from[1] && y[next] < row) next++;
    first[row] = next;
  }
  Gather run = {y, x, first, from[1], from[2], to[1], to[2], to[3], grads->data, result->data};
  double work = ((double)from[1] / (double)to[1] + 1) * (double)(from[2] * from[3]);
  parallel_work(context->parallel, to[0] * to[1], 2 * work, gather_of(type), &run);
  buffer_unref(places);
  return true;
}

static bool resize_nearest_neighbor_grad(KernelContext *context, Status *status) {
  const Tensor *grads = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t sizes[RESIZE_AXES];
  Image from = {0}, to = {0};
  Tensor *out;
  if (grads->shape.rank != 4)
    return status_invalid(status, "input must be 4-dimensional%s", shape_text(&grads->shape, text));
  TRY(resize_read_size(context->inputs[1], "shape_t's elements must be positive", sizes, status));
  const int64_t *dims = shape_dims(&grads->shape);
  int64_t original[] = {dims[0], sizes[RESIZE_ROWS], sizes[RESIZE_COLUMNS], dims[3]};
  TRY(kernel_allocate_output_dims(context, 0, 4, original, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  if (tensor_num_elements(grads) == 0) {
    memset(out->data, 0, (size_t)(tensor_num_elements(out) * (int64_t)dtype_size(out->dtype)));
    return true;
  }
  bool ok = image_read(context, grads, NULL, false, &from, status) &&
            image_begin(context, out, false, &to, status) &&
            gather(context, dims, original, &from, &to, out->dtype, status) &&
            image_finish(context, &to, NULL, false, out, status);
  image_drop(&from);
  image_drop(&to);
  return ok;
}

/* --- registrations --- */

/* The two sizes in the middle of a shape. */
#define INNER_SIZES                           \
  "  one = Const[dtype=int32, value=[1]]()\n" \
  "  two = Const[dtype=int32, value=[2]]()\n" \
  "  inner = Slice[T=int32, Index=int32](shape:output:0, one:output:0, two:output:0)\n"
#define DECLARED "[T:type, align_corners:bool, half_pixel_centers:bool]"
#define PASSED "[T=$T, align_corners=$align_corners, half_pixel_centers=$half_pixel_centers]"

/* Integers have no gradient. */
static bool nearest_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  strbuf_append(text, "ResizeNearestNeighborGradient" DECLARED
                      "(images:T, size:int32, dy:T) -> (dimages:T, dsize:int32) {\n"
                      "  dsize = ZerosLike[T=int32](size)\n");
  strbuf_append(text,
                dtype_is_floating(type)
                    ? "  shape = Shape[T=$T, out_type=int32](images)\n" INNER_SIZES
                      "  d = ResizeNearestNeighborGrad" PASSED
                      "(dy, inner:output:0)\n"
                      "  return dimages = d:output:0, dsize = dsize:y:0\n}\n"
                    : "  d = ZerosLike[T=$T](images)\n  return dimages = d:y:0, dsize = dsize:y:0\n}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpResizeNearestNeighbor = {
    .name = "ResizeNearestNeighbor",
    .inputs = {"images: T", "size: int32"},
    .outputs = {"resized_images: T"},
    .attrs = {"T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}",
              "align_corners: bool = false", "half_pixel_centers: bool = false"},
    .shape = shape_resize,
    .gradient_fn = nearest_gradient,
    .state_size = sizeof(ResizeAttrs),
    .construct = resize_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(resize_nearest_neighbor), INT_KERNELS(resize_nearest_neighbor),
                SMALL_KERNELS(resize_nearest_neighbor)},
};

const OpRegistration kOpResizeNearestNeighborGrad = {
    .name = "ResizeNearestNeighborGrad",
    .inputs = {"grads: T", "size: int32"},
    .outputs = {"output: T"},
    .attrs = {"T: {uint8, int8, int32, half, float, double, bfloat16}", "align_corners: bool = false",
              "half_pixel_centers: bool = false"},
    .shape = shape_resize,
    .gradient =
        "ResizeNearestNeighborGradGradient" DECLARED
        "(grads:T, size:int32, d:T) -> (dgrads:T, dsize:int32) {\n"
        "  dsize = ZerosLike[T=int32](size)\n"
        "  shape = Shape[T=$T, out_type=int32](grads)\n" INNER_SIZES "  dgrads = ResizeNearestNeighbor" PASSED
        "(d, inner:output:0)\n"
        "  return dgrads = dgrads:resized_images:0, dsize = dsize:y:0\n"
        "}\n",
    .state_size = sizeof(ResizeAttrs),
    .construct = nearest_grad_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(resize_nearest_neighbor_grad),
                {DT_INT32, resize_nearest_neighbor_grad},
                {DT_UINT8, resize_nearest_neighbor_grad},
                {DT_INT8, resize_nearest_neighbor_grad}},
};
