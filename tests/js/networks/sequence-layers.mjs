import { biased, finished, projected } from './linear-layer.mjs';
import { Value } from './value.mjs';
import { recurrent } from './recurrent-layer.mjs';
import { softmax } from './vector-layers.mjs';

/** Scores [batch, heads, time, length], of which a query sees only those of earlier keys. */
function masked(n, scores, time, length) {
  const { g, random } = n;
  if (random.chance(0.5)) return scores;
  const isVisible = Array.from({ length: time * length }, (_, i) => i % length <= Math.floor(i / length));
  if (random.chance(0.5)) {
    const ones = n.constant(isVisible.map(Number), [1, 1, time, length]);
    return g.addV2(scores, g.mul(g.sub(n.number(1), ones), n.number(random.pick([-1e9, -10]))));
  }
  const mask = g.constant(isVisible, { dtype: 'bool', shape: [time, length] });
  return g.selectV2(mask, scores, n.number(-1e9));
}

/** Attention by Einsum, as layers of Keras 3 write it. */
function attentionByEinsum(n, x, memory, { heads, size }) {
  const { g, random } = n;
  const project = (of) => {
    const w = n.weight([of.channels, heads, size], Math.sqrt(3 / of.channels));
    const y = g.einsum([of.output, w], { equation: 'abc,cde->abde' });
    return g.addV2(y, n.weight([heads, size], 0.2));
  };
  const scaled = (of) => g.mul(of, n.number(1 / Math.sqrt(size)));
  let [q, k, v] = [x, memory, memory].map(project);
  const isQueryScaled = random.chance(0.5);
  if (isQueryScaled) q = scaled(q);
  let scores = g.einsum([k, q], { equation: 'aecd,abcd->acbe' });
  if (!isQueryScaled) scores = scaled(scores);
  const weights = softmax(n, masked(n, scores, x.shape[1], memory.shape[1]));
  const mixed = g.einsum([weights, v], { equation: 'acbe,aecd->abcd' });
  const w = n.weight([heads, size, x.channels], Math.sqrt(3 / (heads * size)));
  return g.einsum([mixed, w], { equation: 'abcd,cde->abe' });
}

/** Attention by products of matrices, whose heads are split by Reshape and Transpose. */
function attentionByProducts(n, x, memory, { heads, size }) {
  const { g, random } = n;
  const swap = (of) => g.transpose(of, n.ints([0, 2, 1, 3]));
  const project = (of) => {
    const y = biased(n, projected(n, of, heads * size), [...of.shape.slice(0, 2), heads * size]);
    return swap(g.reshape(y, n.target([of.shape[0], of.shape[1], heads, size])));
  };
  const [q, k, v] = [x, memory, memory].map(project);
  const products = g.batchMatMulV2(q, k, { adjY: true });
  const root = Math.sqrt(size);
  const scores = random.chance(0.5)
    ? g.mul(products, n.number(1 / root))
    : g.realDiv(products, n.number(root));
  const mixed = g.batchMatMulV2(softmax(n, masked(n, scores, x.shape[1], memory.shape[1])), v);
  const shape = [x.shape[0], x.shape[1], heads * size];
  return projected(n, new Value(g.reshape(swap(mixed), n.target(shape)), shape), x.channels);
}

export const SEQUENCE_LAYERS = {
  recurrent,
  attention(n) {
    const { random } = n;
    const x = n.some(3);
    if (!x) return undefined;
    const memory = random.chance(0.7) ? x : n.some(3);
    const attend = random.pick([attentionByEinsum, attentionByProducts]);
    const y = attend(n, x, memory, { heads: random.int(1, 3), size: random.pick([2, 4, 5, 8]) });
    return finished(n, y, x.shape);
  },
  'convolution of one axis'(n) {
    const { g, random } = n;
    const x = n.some(3);
    if (!x) return undefined;
    const [batch, time, c] = x.shape;
    const [window, filters] = [random.int(1, 3), random.pick(n.channelCounts)];
    const dilation = random.int(1, 2);
    const isCausal = random.chance(0.4);
    const before = n.ints([
      [0, 0],
      [(window - 1) * dilation, 0],
      [0, 0],
    ]);
    const rows = g.expandDims(isCausal ? g.pad(x.output, before) : x.output, n.ints(1));
    const y = g.conv2D(rows, n.filter([1, window, c, filters]), {
      strides: [1, 1, 1, 1],
      dilations: [1, 1, dilation, 1],
      padding: isCausal ? 'VALID' : 'SAME',
    });
    return finished(n, g.squeeze(y, { squeezeDims: [1] }), [batch, time, filters]);
  },
  'products of all steps'(n) {
    const { g, random } = n;
    const x = n.some(3);
    if (!x) return undefined;
    const products = random.chance(0.5)
      ? g.batchMatMulV2(x.output, x.output, { adjY: true })
      : g.einsum([x.output, x.output], { equation: 'abc,adc->abd' });
    return new Value(g.mul(products, n.number(1 / x.channels)), [x.shape[0], x.shape[1], x.shape[1]]);
  },
};
