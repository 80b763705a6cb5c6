import { Value } from './value.mjs';

/** (x - mean) gamma / sqrt(variance + epsilon) + beta, in one of the forms of programs. */
function normed(n, x, { mean, variance, gamma, beta }) {
  const { g, random } = n;
  const shifted = g.addV2(variance, n.number(random.pick([1e-2, 1e-3])));
  const centred = () => g.sub(x, mean);
  switch (random.int(0, 3)) {
    case 0:
      return g.addV2(g.mul(g.mul(centred(), g.rsqrt(shifted)), gamma), beta);
    case 1:
      return g.addV2(g.mul(g.realDiv(centred(), g.sqrt(shifted)), gamma), beta);
    case 2:
      return g.addV2(g.mul(centred(), g.mul(gamma, g.rsqrt(shifted))), beta);
    default: {
      const scale = g.mul(g.rsqrt(shifted), gamma);
      return g.addV2(g.mul(x, scale), g.sub(beta, g.mul(mean, scale)));
    }
  }
}

/** The mean, and the variance in one of the forms of programs. */
function moments(n, x, axes, keepDims) {
  const { g, random } = n;
  const mean = g.mean(x, axes, { keepDims: true });
  const centred = g.sub(x, mean);
  const spread = random.pick([
    () => g.squaredDifference(x, mean),
    () => g.squaredDifference(x, g.stopGradient(mean)),
    () => g.square(centred),
    () => g.mul(centred, centred),
  ])();
  const variance = g.mean(spread, axes, { keepDims });
  return { mean: keepDims ? mean : g.mean(x, axes), variance };
}

const scaleAndOffset = (n, shape) => ({ gamma: n.weight(shape, 0.5, 1), beta: n.weight(shape, 0.3) });

/** A batch norm with the moments of training: weights. It is an op, products and sums, or both folded into one factor. */
export function batchNorm(n, x, shape) {
  const { g, random } = n;
  const c = shape.at(-1);
  const { gamma, beta } = scaleAndOffset(n, [c]);
  if (random.chance(0.3)) return g.addV2(g.mul(x, gamma), beta);
  if (random.chance(0.2)) {
    const ones = shape.slice(1, -1).map(() => 1);
    return g.addV2(g.mul(n.weight([1, ...ones, c], 0.5, 1), x), n.weight([...ones, c], 0.3));
  }
  const [mean, variance] = [n.weight([c], 0.3), n.weight([c], 0.4, 1)];
  if (shape.length === 4 && random.chance(0.4)) {
    /* The op has no kernel for float64. */
    const epsilon = 1e-3;
    if (n.options.dtype === 'float32')
      return g.fusedBatchNormV3(x, gamma, beta, mean, variance, { epsilon, isTraining: false })[0];
    const scale = g.mul(gamma, g.rsqrt(g.addV2(variance, n.number(epsilon))));
    return g.addV2(g.mul(g.sub(x, mean), scale), beta);
  }
  return normed(n, x, { mean, variance, gamma, beta });
}

export const NORM_LAYERS = {
  batch(n) {
    const x = n.some();
    return new Value(batchNorm(n, x.output, x.shape), x.shape);
  },
  'batch, by its own moments'(n) {
    const x = n.some();
    const axes = n.ints(x.shape.slice(0, -1).map((_, axis) => axis));
    const found = moments(n, x.output, axes, n.random.chance(0.5));
    return new Value(normed(n, x.output, { ...found, ...scaleAndOffset(n, [x.channels]) }), x.shape);
  },
  layer(n) {
    const x = n.some();
    const found = moments(n, x.output, n.ints([n.random.pick([-1, x.rank - 1])]), true);
    return new Value(normed(n, x.output, { ...found, ...scaleAndOffset(n, [x.channels]) }), x.shape);
  },
  instance(n) {
    const x = n.some(4);
    if (!x) return undefined;
    const found = moments(n, x.output, n.ints([1, 2]), true);
    return new Value(normed(n, x.output, { ...found, ...scaleAndOffset(n, [x.channels]) }), x.shape);
  },
  group(n) {
    const { g } = n;
    const x = n.some(4);
    if (!x || x.channels % 4) return undefined;
    const [batch, h, w, c] = x.shape;
    const groups = g.reshape(x.output, n.target([batch, h, w, 4, c / 4]));
    const found = moments(n, groups, n.ints([1, 2, 4]), true);
    const y = normed(n, groups, { ...found, ...scaleAndOffset(n, [4, c / 4]) });
    return new Value(g.reshape(y, n.target(x.shape)), x.shape);
  },
  'root mean square'(n) {
    const { g } = n;
    const x = n.some();
    const square = g.mean(g.square(x.output), n.ints([-1]), { keepDims: true });
    const scaled = g.mul(x.output, g.rsqrt(g.addV2(square, n.number(1e-2))));
    return new Value(g.mul(scaled, n.weight([x.channels], 0.5, 1)), x.shape);
  },
  unit(n) {
    const { g } = n;
    const x = n.some();
    const square = g.sum(g.square(x.output), n.ints([-1]), { keepDims: true });
    return new Value(g.mul(x.output, g.rsqrt(g.maximum(square, n.number(1e-2)))), x.shape);
  },
};
