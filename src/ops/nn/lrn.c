/* LRN: local response normalisation across channels, and its gradient. A sum is over the channels j that are
 * at most depth_radius away from c:
 *
 *   s(c) = bias + alpha * sum(x(j)^2)
 *   y(c) = x(c) * s(c)^-beta
 *   dx(c) = dy(c) * s(c)^-beta - 2 * alpha * beta * x(c) * sum(dy(j) * y(j) / s(j))
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/work_stop.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/window_attrs.h"
#include "simd/templates.h"
#include "simd/wide.h"

typedef struct LrnState {
  int64_t radius;
  float bias, alpha, beta;
} LrnState;

static bool lrn_construct(const KernelConstruction *construction, void *memory, Status *status) {
  LrnState *state = memory;
  TRY(node_attr_int(construction->node, "depth_radius", &state->radius, status));
  TRY(node_attr_float(construction->node, "bias", &state->bias, status));
  TRY(node_attr_float(construction->node, "alpha", &state->alpha, status));
  TRY(node_attr_float(construction->node, "beta", &state->beta, status));
  if (state->radius > INT32_MAX)
    return status_invalid(status, "depth_radius = %" PRId64 " larger than int max", state->radius);
  return state->radius >= 0 ||
         status_invalid(status, "depth_radius = %" PRId64 " must not be negative", state->radius);
}

/* Rows of channels, one for each pixel; y and dy are those of the gradient, else NULL. The rows of a block
 * are copied to where `radius` zeros are before, between and behind them: then a sum over neighbours is the
 * same for all elements of the block. */
typedef struct LrnRun {
  const LrnState *state;
  int64_t channels, pixels, radius; /* radius: at most channels - 1 */
  int64_t rows, blocks, workers;    /* rows: of a block */
  int64_t size;                     /* elements of a block, a multiple of 16 */
  const float *x, *y, *dy;
  float *result, *memory; /* memory: lrn_memory elements for each worker */
} LrnRun;

enum { BLOCK_ELEMENTS = 2048 };

static int64_t lrn_memory(const LrnRun *run) { return 3 * run->size + 2 * run->radius; }

/* sums[i] = factor * the sum of terms[i] to terms[i + 2 * radius], plus `bias`. */
static void sum_neighbours(const LrnRun *run, const float *terms, float factor, float bias, float *sums) {
  f32x16 factors = f32x16_splat(factor), biases = f32x16_splat(bias);
  for (int64_t i = 0; i < run->size; i += 16) {
    f32x16 sum = f32x16_load(terms + i);
    for (int64_t d = 1; d <= 2 * run->radius; d++) sum += f32x16_load(terms + i + d);
    f32x16_store(sums + i, biases + factors * sum);
  }
}

/* factors[i] = scales[i]^-beta; the usual exponents use roots. */
static void shrink(int64_t size, const float *scales, float beta, float *factors) {
  for (int64_t i = 0; i < size; i += 16) {
    f32x16 s = f32x16_load(scales + i);
    if (beta == 0.5f || beta == 0.75f) {
      f32x16 root = f32x16_sqrt(s);
      s = beta == 0.5f ? root : root * f32x16_sqrt(root);
    } else if (beta != 1) {
      for (int64_t k = i; k < i + 16; k++) factors[k] = powf(scales[k], -beta);
      continue;
    }
    f32x16_store(factors + i, 1 / s);
  }
}

static void lrn_block(const LrnRun *run, int64_t first, int64_t rows, float *memory) {
  const LrnState *s = run->state;
  int64_t channels = run->channels, radius = run->radius;
  float *terms = memory, *scales = terms + run->size + 2 * radius, *factors = scales + run->size;
  for (int64_t row = 0; row < rows; row++) {
    const float *x = run->x + (first + row) * channels;
    float *term = terms + radius + row * (channels + radius);
    LOOP_INDEPENDENT for (int64_t c = 0; c < channels; c++) term[c] = x[c] * x[c];
  }
  sum_neighbours(run, terms, s->alpha, s->bias, scales);
  shrink(run->size, scales, s->beta, factors);
  for (int64_t row = 0; row < rows; row++) {
    int64_t at = (first + row) * channels, from = row * (channels + radius);
    const float *x = run->x + at, *factor = factors + from, *scale = scales + from;
    float *to = run->result + at, *term = terms + radius + from;
    if (run->dy) {
      const float *dy = run->dy + at, *y = run->y + at;
      LOOP_INDEPENDENT for (int64_t c = 0; c < channels; c++) term[c] = dy[c] * y[c] / scale[c];
      LOOP_INDEPENDENT for (int64_t c = 0; c < channels; c++) to[c] = dy[c] * factor[c];
    } else {
      LOOP_INDEPENDENT for (int64_t c = 0; c < channels; c++) to[c] = x[c] * factor[c];
    }
  }
  if (!run->dy) return;
  float *sums = factors;
  sum_neighbours(run, terms, 2 * s->alpha * s->beta, 0, sums);
  for (int64_t row = 0; row < rows; row++) {
    int64_t at = (first + row) * channels;
    const float *x = run->x + at, *sum = sums + row * (channels + radius);
    float *to = run->result + at;
    LOOP_INDEPENDENT for (int64_t c = 0; c < channels; c++) to[c] -= x[c] * sum[c];
  }
}

/* Worker w computes the blocks w, w + workers, ... */
static void lrn_worker(void *arg, int64_t begin, int64_t end) {
  const LrnRun *run = arg;
  for (int64_t worker = begin; worker < end; worker++) {
    float *memory = run->memory + worker * lrn_memory(run);
    memset(memory, 0, sizeof *memory * (size_t)(run->size + 2 * run->radius));
    for (int64_t b = worker; b < run->blocks && !work_is_stopped_in_round(b); b += run->workers) {
      int64_t first = b * run->rows, left = run->pixels - first;
      lrn_block(run, first, left < run->rows ? left : run->rows, memory);
    }
  }
}

static bool compute(KernelContext *context, const Tensor *x, const Tensor *y, const Tensor *dy,
                    Status *status) {
  const LrnState *state = context->state;
  int64_t size, elements = tensor_num_elements(x), channels = shape_dim(&x->shape, 3);
  int threads = parallel_threads(context->parallel);
  Image xs = {0}, ys = {0}, dys = {0}, to = {0};
  Buffer *scratch = NULL;
  Tensor *out;
  bool ok = false;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  if (elements == 0) return true;
  LrnRun run = {.state = state, .channels = channels, .pixels = elements / channels};
  run.radius = state->radius < channels ? state->radius : channels - 1;
  run.rows = 1 + BLOCK_ELEMENTS / (channels + run.radius);
  run.size = (run.rows * (channels + run.radius) + 15) / 16 * 16;
  run.blocks = (run.pixels + run.rows - 1) / run.rows;
  run.workers = threads < run.blocks ? threads : run.blocks;
  if (__builtin_mul_overflow(lrn_memory(&run) * (int64_t)sizeof(float), run.workers, &size))
    return status_oom(status, "sums of neighbours");
  TRY_DONE((scratch = kernel_scratch(context, size, status)));
  TRY_DONE(image_read(context, x, NULL, false, &xs, status));
  if (dy) {
    TRY_DONE(image_read(context, y, NULL, false, &ys, status));
    TRY_DONE(image_read(context, dy, NULL, false, &dys, status));
  }
  TRY_DONE(image_begin(context, out, false, &to, status));
  run.x = xs.data, run.y = ys.data, run.dy = dys.data;
  run.result = to.data, run.memory = scratch->data;
  double work = (double)elements / (double)run.workers * (4 + (double)run.radius);
  parallel_work(context->parallel, run.workers, work, lrn_worker, &run);
  ok = image_finish(context, &to, NULL, false, out, status);
done:
  buffer_unref(scratch);
  image_drop(&xs);
  image_drop(&ys);
  image_drop(&dys);
  image_drop(&to);
  return ok;
}

static bool lrn(KernelContext *context, Status *status) {
  if (context->inputs[0]->shape.rank != 4) return status_invalid(status, "in must be 4-dimensional");
  return compute(context, context->inputs[0], NULL, NULL, status);
}

static bool lrn_grad(KernelContext *context, Status *status) {
  const Tensor *dy = context->inputs[0], *x = context->inputs[1], *y = context->inputs[2];
  if (dy->shape.rank != 4 || x->shape.rank != 4)
    return status_invalid(status, "inputs must be 4-dimensional");
  if (!shape_equal(&dy->shape, &x->shape) || !shape_equal(&x->shape, &y->shape)) {
    return status_invalid(status, "input_grads, input_image, and out_image should have the same shape");
  }
  return compute(context, x, y, dy, status);
}

static bool shape_lrn(InferenceContext *c, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, 0), 4, status);
}

static bool shape_lrn_grad(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &shape, status));
  TRY(shape_merge(c, shape, shape_input(c, 1), &shape, status));
  TRY(shape_merge(c, shape, shape_input(c, 2), &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpLRN = {
    .name = "LRN",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"depth_radius: int = 5", "bias: float = 1.0", "alpha: float = 1.0", "beta: float = 0.5",
              "T: {half, bfloat16, float} = DT_FLOAT"},
    .shape = shape_lrn,
    .gradient =
        "LRNGradient[T:type, depth_radius:int, bias:float, alpha:float, beta:float](input:T, dy:T) -> "
        "(dinput:T) {\n"
        "  output = LRN[T=$T, depth_radius=$depth_radius, bias=$bias, alpha=$alpha, beta=$beta](input)\n"
        "  dinput = LRNGrad[T=$T, depth_radius=$depth_radius, bias=$bias, alpha=$alpha, beta=$beta](dy, "
        "input, output:output:0)\n"
        "  return dinput = dinput:output:0\n"
        "}\n",
    .state_size = sizeof(LrnState),
    .construct = lrn_construct,
    .kernels = {{DT_FLOAT, lrn}, HALF_KERNELS(lrn)},
};

/* With v, u, w the sums over neighbours of g * y / s, d * x and ds, where d is the incoming gradient:
 *
 *   dg = d * s^-beta - k * y * u / s,   dy = -k * g * u / s,   k = 2 * alpha * beta
 *   ds = (-beta * d * g * s^-beta + k * g * y * u / s) / s,   dx = 2 * alpha * x * w - k * d * v
 *
 * The sums are products with a matrix of ones around its diagonal. TensorFlow has no gradient here.
 */
#define SUM_OF_NEIGHBOURS(name, of)                                            \
  "  " name "_rows = Reshape[T=$T, Tshape=int32](" of                          \
  ", matrix:output:0)\n"                                                       \
  "  " name "_sums = MatMul[T=$T, transpose_a=false, transpose_b=false](" name \
  "_rows:output:0, band:y:0)\n"                                                \
  "  " name " = Reshape[T=$T, Tshape=int32](" name "_sums:product:0, shape:output:0)\n"

static bool lrn_grad_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t radius;
  float bias, alpha, beta;
  TRY(node_attr_int(request->node, "depth_radius", &radius, status));
  TRY(node_attr_float(request->node, "bias", &bias, status));
  TRY(node_attr_float(request->node, "alpha", &alpha, status));
  TRY(node_attr_float(request->node, "beta", &beta, status));
  if (radius > INT32_MAX)
    return status_invalid(status, "depth_radius = %" PRId64 " larger than int max", radius);
  strbuf_printf(text,
                "LRNGradGradient[T:type](g:T, x:T, y:T, d:T) -> (dg:T, dx:T, dy:T) {\n"
                "  shape = Shape[T=$T, out_type=int32](x)\n"
                "  three = Const[dtype=int32, value=[3]]()\n"
                "  single = Const[dtype=int32, value=[1]]()\n"
                "  last = Slice[T=int32, Index=int32](shape:output:0, three:output:0, single:output:0)\n"
                "  channels = Squeeze[T=int32, squeeze_dims=[0]](last:output:0)\n"
                "  zero = Const[dtype=int32, value=0]()\n"
                "  one = Const[dtype=int32, value=1]()\n"
                "  row = Range[Tidx=int32](zero:output:0, channels:output:0, one:output:0)\n"
                "  column = ExpandDims[T=int32, Tdim=int32](row:output:0, one:output:0)\n"
                "  offset = Sub[T=int32](row:output:0, column:output:0)\n"
                "  distance = Abs[T=int32](offset:z:0)\n"
                "  radius = Const[dtype=int32, value=%" PRId64
                "]()\n"
                "  near = LessEqual[T=int32](distance:y:0, radius:output:0)\n"
                "  band = Cast[SrcT=bool, DstT=$T](near:z:0)\n"
                "  any = Const[dtype=int32, value=-1]()\n"
                "  matrix = Pack[N=2, T=int32, axis=0](any:output:0, channels:output:0)\n"
                "  bias = Const[dtype=$T, value=%.9g]()\n"
                "  alpha = Const[dtype=$T, value=%.9g]()\n"
                "  two_alpha = Const[dtype=$T, value=%.9g]()\n"
                "  minus_beta = Const[dtype=$T, value=%.9g]()\n"
                "  k = Const[dtype=$T, value=%.9g]()\n",
                radius, (double)bias, (double)alpha, 2 * (double)alpha, -(double)beta,
                2 * (double)alpha * (double)beta);
  strbuf_printf(text, "%s",
                "  squares = Mul[T=$T](x, x)\n" SUM_OF_NEIGHBOURS("energy", "squares:z:0")
                "  scaled = Mul[T=$T](alpha:output:0, energy:output:0)\n"
                "  s = Add[T=$T](bias:output:0, scaled:z:0)\n"
                "  factor = Pow[T=$T](s:z:0, minus_beta:output:0)\n"
                "  gy = Mul[T=$T](g, y)\n"
                "  gys = RealDiv[T=$T](gy:z:0, s:z:0)\n" SUM_OF_NEIGHBOURS("v", "gys:z:0")
                "  d_x = Mul[T=$T](d, x)\n" SUM_OF_NEIGHBOURS("u", "d_x:z:0")
                "  ku = Mul[T=$T](k:output:0, u:output:0)\n"
                "  kus = RealDiv[T=$T](ku:z:0, s:z:0)\n"
                "  df = Mul[T=$T](d, factor:z:0)\n"
                "  kusy = Mul[T=$T](kus:z:0, y)\n"
                "  dg = Sub[T=$T](df:z:0, kusy:z:0)\n"
                "  kusg = Mul[T=$T](kus:z:0, g)\n"
                "  dy = Neg[T=$T](kusg:z:0)\n"
                "  dfg = Mul[T=$T](df:z:0, g)\n"
                "  dfg_beta = Mul[T=$T](minus_beta:output:0, dfg:z:0)\n"
                "  kusgy = Mul[T=$T](kus:z:0, gy:z:0)\n"
                "  numerator = Add[T=$T](dfg_beta:z:0, kusgy:z:0)\n"
                "  ds = RealDiv[T=$T](numerator:z:0, s:z:0)\n" SUM_OF_NEIGHBOURS("w", "ds:z:0")
                "  ax = Mul[T=$T](two_alpha:output:0, x)\n"
                "  axw = Mul[T=$T](ax:z:0, w:output:0)\n"
                "  kd = Mul[T=$T](k:output:0, d)\n"
                "  kdv = Mul[T=$T](kd:z:0, v:output:0)\n"
                "  dx = Sub[T=$T](axw:z:0, kdv:z:0)\n"
                "  return dg = dg:z:0, dx = dx:z:0, dy = dy:y:0\n"
                "}\n");
  return strbuf_ok(text, status);
}

const OpRegistration kOpLRNGrad = {
    .name = "LRNGrad",
    .inputs = {"input_grads: T", "input_image: T", "output_image: T"},
    .outputs = {"output: T"},
    .attrs = {"depth_radius: int = 5", "bias: float = 1.0", "alpha: float = 1.0", "beta: float = 0.5",
              "T: {half, bfloat16, float} = DT_FLOAT"},
    .shape = shape_lrn_grad,
    .gradient_fn = lrn_grad_gradient,
    .state_size = sizeof(LrnState),
    .construct = lrn_construct,
    .kernels = {{DT_FLOAT, lrn_grad}, HALF_KERNELS(lrn_grad)},
};
