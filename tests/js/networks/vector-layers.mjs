import { finished, projected } from './linear-layer.mjs';
import { Value } from './value.mjs';

function dense(n, x) {
  if (!x) return undefined;
  const units = n.random.pick(n.channelCounts);
  return finished(n, projected(n, x, units), [...x.shape.slice(0, -1), units]);
}

/** Softmax along an axis from the end: the op, or its parts. */
export function softmax(n, x, axisFromEnd = 1) {
  const { g, random } = n;
  const [axis, keepDims] = [n.ints([-axisFromEnd]), true];
  if (axisFromEnd === 1 && random.chance(0.5)) return g.softmax(x);
  const powers = g.exp(g.sub(x, g.max(x, axis, { keepDims })));
  const sum = g.sum(powers, axis, { keepDims });
  return random.chance(0.5) ? g.realDiv(powers, sum) : g.mul(powers, g.reciprocal(sum));
}

export const VECTOR_LAYERS = {
  'dense of any rank': (n) => dense(n, n.some()),
  dense: (n) => dense(n, n.some(2)),
  softmax(n) {
    const x = n.some();
    return new Value(softmax(n, x.output, x.rank > 2 ? n.random.int(1, 2) : 1), x.shape);
  },
  'log softmax'(n) {
    const x = n.some();
    return new Value(n.g.logSoftmax(x.output), x.shape);
  },
  'log of the sum of powers'(n) {
    const { g, random } = n;
    const x = n.some();
    const [axis, keepDims] = [n.ints([-1]), true];
    const top = g.stopGradient(g.max(x.output, axis, { keepDims }));
    const sum = g.addV2(g.log(g.sum(g.exp(g.sub(x.output, top)), axis, { keepDims })), top);
    if (random.chance(0.5)) return new Value(g.sub(x.output, sum), x.shape);
    return new Value(sum, [...x.shape.slice(0, -1), 1]);
  },
  'product of vectors'(n) {
    const { g } = n;
    const x = n.some(2);
    if (!x) return undefined;
    const products = g.mul(x.output, n.another(x.shape).output);
    return new Value(g.sum(products, n.ints([1]), { keepDims: true }), [x.shape[0], 1]);
  },
  'mean of an axis'(n) {
    const { g, random } = n;
    const x = n.some();
    if (x.rank === 2) return undefined;
    const axis = random.int(1, x.rank - 1);
    const y = g[random.pick(['mean', 'sum', 'max', 'min'])](x.output, n.ints([axis]));
    return new Value(
      y,
      x.shape.filter((_, i) => i !== axis),
    );
  },
  'running sum'(n) {
    const { g, random } = n;
    const x = n.some();
    const options = { exclusive: random.chance(0.3), reverse: random.chance(0.3) };
    return new Value(g.tanh(g.cumsum(x.output, n.ints(random.int(1, x.rank - 1)), options)), x.shape);
  },
};
