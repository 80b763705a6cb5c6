/* FractionalMaxPool, FractionalAvgPool and their gradients: pools over random regions
 * (ops/random/pool_regions.h). */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/random/pool_regions.h"
#include "ops/support/element_types.h"

/* --- the loops --- */

typedef struct FractionalPool {
  int64_t in[4], out[4];         /* sizes of images: batch, rows, columns, channels */
  const int64_t *rows, *columns; /* sequences of out[1] + 1 and out[2] + 1 positions */
  bool overlapping;              /* regions include the first row and column of the next ones */
  double lowest;                 /* of the element type */
  const void *input, *output, *grad;
  void *result;
  double *sums;         /* for return_avg: the result before it is converted */
  _Atomic bool differs; /* return_max found another maximum than `output` has */
} FractionalPool;

/* Rows [top, bottom) and columns [left, right) of an image. */
typedef struct PoolRegion {
  int64_t image, top, bottom, left, right;
} PoolRegion;

static int64_t region_end(const FractionalPool *p, const int64_t *sequence, int64_t i, int64_t size) {
  int64_t next = sequence[i + 1];
  if (next >= size) return size;
  return next + p->overlapping;
}

/* Region `i` of those of all images. */
static PoolRegion region_of(const FractionalPool *p, int64_t i) {
  int64_t column = i % p->out[2], row = i / p->out[2] % p->out[1];
  return (PoolRegion){.image = i / p->out[2] / p->out[1],
                      .top = p->rows[row],
                      .bottom = region_end(p, p->rows, row, p->in[1]),
                      .left = p->columns[column],
                      .right = region_end(p, p->columns, column, p->in[2])};
}

static int64_t region_size(const PoolRegion *r) { return (r->bottom - r->top) * (r->right - r->left); }

/* The offset of the first channel. */
static int64_t pixel_of(const FractionalPool *p, const PoolRegion *r, int64_t y, int64_t x) {
  return ((r->image * p->in[1] + y) * p->in[2] + x) * p->in[3];
}

#define TEMPLATE "ops/random/fractional_pool.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"

/* The work of a part of the loops: each of `parts` reads its share of the images. */
static double share(const FractionalPool *p, int64_t parts) {
  return 2 * (double)p->in[0] * (double)p->in[1] * (double)p->in[2] * (double)p->in[3] / (double)parts;
}

/* --- pools --- */

typedef struct FractionalState {
  float ratios[4];
  bool pseudo_random, overlapping, deterministic;
  uint64_t seeds[2];
} FractionalState;

static bool read_ratios(const NodeDef *node, float ratios[4], Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(node, "pooling_ratio", ATTR_FLOAT, &list, status));
  if (!list || list->n_f != 4) return status_invalid(status, "pooling_ratio field must specify 4 dimensions");
  for (int i = 0; i < 4; i++) {
    ratios[i] = list->f[i];
    if (!(ratios[i] >= 1))
      return status_invalid(status, "pooling_ratio cannot be smaller than 1, got: %g", (double)ratios[i]);
  }
  return true;
}

static bool draw_seeds(uint64_t seeds[2], Status *status) {
  return getentropy(seeds, 2 * sizeof *seeds) == 0 ||
         status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
}

static bool construct(const KernelConstruction *construction, FractionalState *s, const char *noun,
                      Status *status) {
  const NodeDef *node = construction->node;
  int64_t seed, seed2;
  TRY(read_ratios(node, s->ratios, status));
  if (s->ratios[0] != 1 || s->ratios[3] != 1) {
    return status_set(status, CODE_UNIMPLEMENTED,
                      "Fractional %s pooling is not yet supported on the batch nor channel dimension.", noun);
  }
  TRY(node_attr_bool(node, "pseudo_random", &s->pseudo_random, status));
  TRY(node_attr_bool(node, "overlapping", &s->overlapping, status));
  TRY(node_attr_bool(node, "deterministic", &s->deterministic, status));
  TRY(node_attr_int(node, "seed", &seed, status));
  TRY(node_attr_int(node, "seed2", &seed2, status));
  s->seeds[0] = (uint64_t)seed, s->seeds[1] = (uint64_t)seed2;
  bool seeded = seed != 0 || seed2 != 0;
  if (seeded && !s->deterministic)
    return status_invalid(status, "Both seed and seed2 should be 0 if deterministic is false.");
  return seeded || draw_seeds(s->seeds, status);
}
static bool construct_max(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, "max", status);
}
static bool construct_avg(const KernelConstruction *construction, void *memory, Status *status) {
  return construct(construction, memory, "average", status);
}

static bool read_image(const Tensor *image, const float ratios[4], FractionalPool *p, Status *status) {
  if (image->shape.rank != 4) return status_invalid(status, "tensor_in must be 4-dimensional");
  for (int i = 0; i < 4; i++) {
    p->in[i] = shape_dim(&image->shape, i);
    if (p->in[i] > INT32_MAX) return status_invalid(status, "tensor_in has too large sizes");
    if (!((float)p->in[i] >= ratios[i])) {
      return status_invalid(status,
                            "Pooling ratio is higher than input dimension size for dimension %d. Input dim "
                            "size: %" PRId64 " pooling ratio: %g",
                            i, p->in[i], (double)ratios[i]);
    }
    p->out[i] = (int64_t)floorf((float)p->in[i] / ratios[i]);
  }
  p->input = image->data;
  return true;
}

/* Its data is the loop. */
static bool pool(KernelContext *context, Status *status) {
  const FractionalState *s = context->state;
  const Tensor *image = context->inputs[0];
  uint64_t seeds[2] = {s->seeds[0], s->seeds[1]};
  Tensor *sequences[2], *out;
  FractionalPool p = {.overlapping = s->overlapping, .lowest = dtype_lowest(image->dtype)};
  TRY(read_image(image, s->ratios, &p, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, p.out, &out, status));
  for (int k = 0; k < 2; k++) {
    int64_t positions = p.out[1 + k] + 1;
    TRY(kernel_allocate_output_dims(context, 1 + k, 1, &positions, &sequences[k], status));
  }
  if (!s->deterministic) TRY(draw_seeds(seeds, status));
  Philox generator = philox_seed(seeds[0], seeds[1]);
  for (int k = 0; k < 2; k++)
    pool_regions_draw(p.in[1 + k], p.out[1 + k], s->pseudo_random, &generator, tensor_i64(sequences[k]));
  p.rows = tensor_i64(sequences[0]);
  p.columns = tensor_i64(sequences[1]);
  p.result = out->data;
  int64_t lines = p.out[0] * p.out[1];
  parallel_work(context->parallel, lines, share(&p, lines), (ParallelBody *)context->data, &p);
  return true;
}

static bool shape_pool(InferenceContext *c, Status *status) {
  ShapeHandle image, output;
  DimHandle dims[4];
  float ratios[4];
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &image, status));
  TRY(read_ratios(c->node, ratios, status));
  for (int i = 0; i < 4; i++) {
    DimHandle size = shape_dim_of(c, image, i);
    if (!size) return status_oom(status, "shape inference");
    int64_t pooled = dim_known(size) ? (int64_t)floorf((float)dim_value(size) / ratios[i]) : UNKNOWN_DIM;
    TRY(dim_ok(dim_make(c, pooled), &dims[i], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, 4), &output, status));
  shape_set_output(c, 0, output);
  for (int i = 1; i < 3; i++) {
    /* TensorFlow's shape function gives sequences one element less than its kernel. */
    TRY(shape_ok(shape_unknown_of_rank(c, 1), &output, status));
    shape_set_output(c, i, output);
  }
  return true;
}

/* --- gradients --- */

static bool construct_grad(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "overlapping", memory, status);
}

/* Positions that could be outside of the images are refused; TensorFlow reads whatever memory is there. */
static bool check_positions(const int64_t *sequence, int64_t regions, const char *noun, Status *status) {
  for (int64_t i = 0; i <= regions; i++) {
    if (sequence[i] < 0) {
      return status_invalid(status, "%s sequence tensor values must not be negative, got %" PRId64, noun,
                            sequence[i]);
    }
  }
  return true;
}

static bool max_grad_inputs(const KernelContext *context, FractionalPool *p, Status *status) {
  static const char *const names[] = {"row_pooling_sequence", "col_pooling_sequence"};
  static const char *const tensors[] = {"orig_input", "orig_output"};
  const Tensor *const *inputs = context->inputs;
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 2; i++) {
    if (inputs[i]->shape.rank != 4) {
      return status_invalid(status, "%s should be a tensor of rank 4, got Tensor<type: %s shape: %s",
                            tensors[i], dtype_name(inputs[i]->dtype), shape_text(&inputs[i]->shape, text));
    }
    if (tensor_num_elements(inputs[i]) == 0) {
      return status_invalid(status, "%s must not be empty, got Tensor<type: %s shape: %s", tensors[i],
                            dtype_name(inputs[i]->dtype), shape_text(&inputs[i]->shape, text));
    }
    memcpy(i == 0 ? p->in : p->out, shape_dims(&inputs[i]->shape), sizeof p->in);
  }
  for (int i = 0; i < 2; i++) {
    if (inputs[3 + i]->shape.rank != 1) {
      return status_invalid(status, "%s must be a vector, received shape %s", names[i],
                            shape_text(&inputs[3 + i]->shape, text));
    }
  }
  if (tensor_num_elements(inputs[2]) != tensor_num_elements(inputs[1]))
    return status_invalid(status, "out_backprop must have as many elements as orig_output");
  return true;
}

static bool same_regions(const KernelContext *context, const FractionalPool *p) {
  return p->in[0] == p->out[0] && p->in[3] == p->out[3] &&
         tensor_num_elements(context->inputs[3]) == p->out[1] + 1 &&
         tensor_num_elements(context->inputs[4]) == p->out[2] + 1;
}

static bool max_grad(KernelContext *context, Status *status) {
  const Tensor *const *inputs = context->inputs;
  FractionalPool p = {.overlapping = *(const bool *)context->state};
  Tensor *out;
  TRY(max_grad_inputs(context, &p, status));
  if (!same_regions(context, &p))
    return status_invalid(status, "tensor_out_dup is not the same as tensor_out");
  p.rows = tensor_i64(inputs[3]);
  p.columns = tensor_i64(inputs[4]);
  TRY(check_positions(p.rows, p.out[1], "Row", status));
  TRY(check_positions(p.columns, p.out[2], "Column", status));
  TRY(kernel_allocate_output_dims(context, 0, 4, p.in, &out, status));
  memset(out->data, 0, (size_t)(tensor_num_elements(out) * (int64_t)dtype_size(out->dtype)));
  p.input = inputs[0]->data;
  p.output = inputs[1]->data;
  p.grad = inputs[2]->data;
  p.result = out->data;
  parallel_work(context->parallel, p.in[0], share(&p, p.in[0]), (ParallelBody *)context->data, &p);
  return !p.differs || status_invalid(status, "tensor_out_dup is not the same as tensor_out");
}

static bool avg_grad_sizes(const KernelContext *context, FractionalPool *p, Status *status) {
  static const char *const names[] = {"row", "col"};
  const Tensor *sizes = context->inputs[0], *grad = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (sizes->shape.rank != 1 || tensor_num_elements(sizes) != 4)
    return status_invalid(status, "original input tensor shape must be1-dimensional and 4 elements");
  if (grad->shape.rank != 4) return status_invalid(status, "out_backprop must be 4-dimensional");
  for (int i = 0; i < 4; i++) {
    p->in[i] = tensor_i64(sizes)[i];
    p->out[i] = shape_dim(&grad->shape, i);
    if (p->out[i] <= 0) {
      return status_invalid(status, "out_backprop must be positive for all dimension, got:%" PRId64,
                            p->out[i]);
    }
  }
  for (int i = 0; i < 2; i++) {
    int64_t count = tensor_num_elements(context->inputs[2 + i]);
    if (count > p->out[1 + i]) continue;
    return status_invalid(status,
                          "Given out_backprop shape %s, %s_seq_tensor must have at least %" PRId64
                          " elements, but got %" PRId64,
                          shape_text(&grad->shape, text), names[i], p->out[1 + i] + 1, count);
  }
  for (int i = 0; i < 4; i++) {
    if (p->in[i] < 0) return status_invalid(status, "Expected a non-negative size, got %" PRId64, p->in[i]);
  }
  return true;
}

static bool avg_grad(KernelContext *context, Status *status) {
  FractionalPool p = {.overlapping = *(const bool *)context->state};
  Tensor *out;
  int64_t size;
  TRY(avg_grad_sizes(context, &p, status));
  p.rows = tensor_i64(context->inputs[2]);
  p.columns = tensor_i64(context->inputs[3]);
  TRY(check_positions(p.rows, p.out[1], "Row", status));
  TRY(check_positions(p.columns, p.out[2], "Column", status));
  if (p.in[0] != p.out[0] || p.in[3] != p.out[3])
    return status_invalid(status, "out_backprop must have the batch and the channels of the original input");
  TRY(kernel_allocate_output_dims(context, 0, 4, p.in, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  if (__builtin_mul_overflow(tensor_num_elements(out), (int64_t)sizeof(double), &size))
    return status_oom(status, "sums of a pool's gradient");
  Buffer *sums = kernel_scratch(context, size, status);
  if (!sums) return false;
  p.lowest = dtype_lowest(out->dtype);
  p.grad = context->inputs[1]->data;
  p.sums = sums->data;
  p.result = out->data;
  parallel_work(context->parallel, p.in[0], share(&p, p.in[0]), (ParallelBody *)context->data, &p);
  buffer_unref(sums);
  return true;
}

static bool shape_max_grad(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), 4, status);
}

static bool shape_avg_grad(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, 0, &shape, status));
  return shape_unchanged_with_rank(c, shape, 4, status);
}

/* --- registrations --- */

#define OUTPUTS \
  { "output: T", "row_pooling_sequence: int64", "col_pooling_sequence: int64" }
#define ATTRS                                                                                                \
  {                                                                                                          \
    "pooling_ratio: list(float) >= 4", "pseudo_random: bool = false", "overlapping: bool = false",           \
        "deterministic: bool = false", "seed: int = 0", "seed2: int = 0", "T: {float, double, int32, int64}" \
  }
#define DECLARED                                                                                   \
  "[T:type, pooling_ratio:list(float), pseudo_random:bool, overlapping:bool, deterministic:bool, " \
  "seed:int, seed2:int](value:T, dy:T, drows:int64, dcolumns:int64) -> (dvalue:T) {\n"
#define PASSED                                                                                    \
  "[T=$T, pooling_ratio=$pooling_ratio, pseudo_random=$pseudo_random, overlapping=$overlapping, " \
  "deterministic=$deterministic, seed=$seed, seed2=$seed2](value)\n"
#define SEQUENCES "y:row_pooling_sequence:0, y:col_pooling_sequence:0)\n"
#define RETURNED                        \
  "  return dvalue = dvalue:output:0\n" \
  "}\n"

const OpRegistration kOpFractionalMaxPool = {
    .name = "FractionalMaxPool",
    .inputs = {"value: T"},
    .outputs = OUTPUTS,
    .attrs = ATTRS,
    .shape = shape_pool,
    .gradient =
        "FractionalMaxPoolGradient" DECLARED "  y = FractionalMaxPool" PASSED
        "  dvalue = FractionalMaxPoolGrad[T=$T, overlapping=$overlapping](value, y:output:0, dy, " SEQUENCES
            RETURNED,
    .state_size = sizeof(FractionalState),
    .construct = construct_max,
    .kernels = {TYPED_FLOAT_KERNELS(pool, pool_max), TYPED_INT_KERNELS(pool, pool_max)},
};

const OpRegistration kOpFractionalAvgPool = {
    .name = "FractionalAvgPool",
    .inputs = {"value: T"},
    .outputs = OUTPUTS,
    .attrs = ATTRS,
    .shape = shape_pool,
    .gradient =
        "FractionalAvgPoolGradient" DECLARED "  y = FractionalAvgPool" PASSED
        "  shape = Shape[T=$T, out_type=int64](value)\n"
        "  dvalue = FractionalAvgPoolGrad[T=$T, overlapping=$overlapping](shape:output:0, dy, " SEQUENCES
            RETURNED,
    .state_size = sizeof(FractionalState),
    .construct = construct_avg,
    .kernels = {TYPED_FLOAT_KERNELS(pool, pool_avg), TYPED_INT_KERNELS(pool, pool_avg)},
};

/* TensorFlow has no gradients for these two. */
const OpRegistration kOpFractionalMaxPoolGrad = {
    .name = "FractionalMaxPoolGrad",
    .inputs = {"orig_input: T", "orig_output: T", "out_backprop: T", "row_pooling_sequence: int64",
               "col_pooling_sequence: int64"},
    .outputs = {"output: T"},
    .attrs = {"overlapping: bool = false", "T: {float, double, int32, int64}"},
    .shape = shape_max_grad,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(bool),
    .construct = construct_grad,
    .kernels = {TYPED_FLOAT_KERNELS(max_grad, return_max), TYPED_INT_KERNELS(max_grad, return_max)},
};

const OpRegistration kOpFractionalAvgPoolGrad = {
    .name = "FractionalAvgPoolGrad",
    .inputs = {"orig_input_tensor_shape: int64", "out_backprop: T", "row_pooling_sequence: int64",
               "col_pooling_sequence: int64"},
    .outputs = {"output: T"},
    .attrs = {"overlapping: bool = false", "T: {float, double, int32, int64}"},
    .shape = shape_avg_grad,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(bool),
    .construct = construct_grad,
    .kernels = {TYPED_FLOAT_KERNELS(avg_grad, return_avg), TYPED_INT_KERNELS(avg_grad, return_avg)},
};
