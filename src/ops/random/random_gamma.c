/* Samples of gamma distributions, from pairs of a normal and a uniform number (Marsaglia and Tsang, "A simple
 * method for generating gamma variables", 2000). */
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/random/random_samples.h"
#include "ops/random/random_source.h"

static double gamma_sample(double alpha, double highest, Philox generator) {
  (void)highest;
  RandomPairs normals = {0}, uniforms = {0};
  if (alpha == 1) return -log1p(-random_next_uniform(&generator, &uniforms));
  double d = alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / sqrt(d);
  if (!(d > 0)) return NAN; /* No number would be accepted. */
  for (;;) {
    double x = random_next_normal(&generator, &normals), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    double u = random_next_uniform(&generator, &uniforms);
    bool accepted = u < 1 - 0.0331 * (x * x) * (x * x) || log(u) < 0.5 * x * x + d * (1 - v + log(v));
    if (!accepted) continue;
    return alpha < 1 ? d * v * pow(random_next_uniform(&generator, &uniforms), 1 / alpha) : d * v;
  }
}

static bool random_gamma(KernelContext *context, Status *status) {
  const Tensor *shape = context->inputs[0];
  if (tensor_is_vector(shape)) return random_sample_stateful(context, gamma_sample, status);
  StrBuf text = {0};
  tensor_print(shape, 3, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "shape must be a vector of {int32,int64}, got shape: %s", strbuf_text(&text));
  }
  strbuf_free(&text);
  return false;
}

static bool stateless_gamma(KernelContext *context, Status *status) {
  const Tensor *alpha = context->inputs[2];
  Philox start;
  Tensor *out;
  TRY(random_stateless(context->inputs[1], &start, status));
  TRY(random_sample_output(context, 0, &alpha->shape, &out, status));
  random_sample(&start, gamma_sample, alpha, out, context->parallel);
  return true;
}

static bool keyed_gamma(KernelContext *context, Status *status) {
  const Tensor *alpha = context->inputs[4];
  Philox start;
  Tensor *out;
  TRY(random_keyed(context, 1, &start, status));
  TRY(random_sample_output(context, 0, &alpha->shape, &out, status));
  random_sample(&start, gamma_sample, alpha, out, context->parallel);
  return true;
}

static bool stateless_shape(InferenceContext *c, Status *status) {
  return random_shape_seed(c, 1, status) && shape_random(c, status);
}

static bool keyed_shape(InferenceContext *c, Status *status) {
  return random_shape_keyed(c, 1, status) && shape_random(c, status);
}

/* The derivative of a sample whose probability stays the same, summed over the samples of each alpha. The
 * node itself gives the samples. RandomGammaGrad has no kernel for half. */
static bool gamma_gradient(const GradientRequest *request, const char *head, const char *type,
                           const char *tail, StrBuf *text, Status *status) {
  DataType dtype;
  TRY(node_attr_type(request->node, type, &dtype, status));
  const char *wide = dtype == DT_HALF ? "float" : dtype_name(dtype), *own = dtype_name(dtype);
  strbuf_append(text, head);
  strbuf_printf(text,
                "  wa = Cast[SrcT=%s, DstT=%s](alpha)\n"
                "  wx = Cast[SrcT=%s, DstT=%s](x:output)\n"
                "  wd = Cast[SrcT=%s, DstT=%s](doutput)\n",
                own, wide, own, wide, own, wide);
  strbuf_printf(text,
                "  slope = RandomGammaGrad[T=%s](wa:y, wx:y)\n"
                "  g = Mul[T=%s](slope:output, wd:y)\n"
                "  sx = Shape[T=%s](x:output)\n"
                "  sa = Shape[T=%s](alpha)\n"
                "  axes = BroadcastGradientArgs(sx:output, sa:output)\n",
                wide, wide, own, own);
  strbuf_printf(text,
                "  total = Sum[T=%s](g:z, axes:r1)\n"
                "  narrow = Cast[SrcT=%s, DstT=%s](total:output)\n"
                "  dalpha = Reshape[T=%s](narrow:y, sa:output)\n",
                wide, wide, own, own);
  strbuf_append(text, tail);
  return strbuf_ok(text, status);
}

static bool random_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return gamma_gradient(request,
                        "RandomGammaGradient[seed:int, seed2:int, S:type, T:type](shape:S, alpha:T, "
                        "doutput:T) -> (dshape:S, dalpha:T) {\n"
                        "  x = RandomGamma[seed=$seed, seed2=$seed2, S=$S, T=$T](shape, alpha)\n",
                        "T",
                        "  s = ZerosLike[T=$S](shape)\n"
                        "  return dshape = s:y, dalpha = dalpha:output\n"
                        "}\n",
                        text, status);
}

static bool stateless_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return gamma_gradient(
      request,
      "StatelessRandomGammaV2Gradient[dtype:type, T:type, Tseed:type](shape:T, seed:Tseed, alpha:dtype, "
      "doutput:dtype) -> (dshape:T, dseed:Tseed, dalpha:dtype) {\n"
      "  x = StatelessRandomGammaV2[dtype=$dtype, T=$T, Tseed=$Tseed](shape, seed, alpha)\n",
      "dtype",
      "  s = ZerosLike[T=$T](shape)\n"
      "  z = ZerosLike[T=$Tseed](seed)\n"
      "  return dshape = s:y, dseed = z:y, dalpha = dalpha:output\n"
      "}\n",
      text, status);
}

static bool keyed_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return gamma_gradient(
      request,
      "StatelessRandomGammaV3Gradient[dtype:type, shape_dtype:type](shape:shape_dtype, key:uint64, "
      "counter:uint64, alg:int32, alpha:dtype, doutput:dtype) -> "
      "(dshape:shape_dtype, dkey:uint64, dcounter:uint64, dalg:int32, dalpha:dtype) {\n"
      "  x = StatelessRandomGammaV3[dtype=$dtype, shape_dtype=$shape_dtype](shape, key, counter, alg, "
      "alpha)\n",
      "dtype",
      "  s = ZerosLike[T=$shape_dtype](shape)\n"
      "  k = ZerosLike[T=uint64](key)\n"
      "  c = ZerosLike[T=uint64](counter)\n"
      "  a = ZerosLike[T=int32](alg)\n"
      "  return dshape = s:y, dkey = k:y, dcounter = c:y, dalg = a:y, dalpha = dalpha:output\n"
      "}\n",
      text, status);
}

const OpRegistration kOpRandomGamma = {
    .name = "RandomGamma",
    .inputs = {"shape: S", "alpha: T"},
    .outputs = {"output: T"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "S: {int32, int64}", "T: {half, float, double}"},
    .is_stateful = true,
    .shape = random_sample_shape,
    .gradient_fn = random_gradient,
    .state_size = sizeof(RandomState),
    .construct = random_state_construct,
    .kernels = {{DT_INVALID, random_gamma}},
};

const OpRegistration kOpStatelessRandomGammaV2 = {
    .name = "StatelessRandomGammaV2",
    .inputs = {"shape: T", "seed: Tseed", "alpha: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: {half, float, double}", "T: {int32, int64}", "Tseed: {int32, int64} = DT_INT64"},
    .shape = stateless_shape,
    .gradient_fn = stateless_gradient,
    .kernels = {{DT_INVALID, stateless_gamma}},
};

const OpRegistration kOpStatelessRandomGammaV3 = {
    .name = "StatelessRandomGammaV3",
    .inputs = {"shape: shape_dtype", "key: uint64", "counter: uint64", "alg: int32", "alpha: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: {half, float, double}", "shape_dtype: {int32, int64} = DT_INT32"},
    .shape = keyed_shape,
    .gradient_fn = keyed_gradient,
    .kernels = {{DT_INVALID, keyed_gamma}},
};
