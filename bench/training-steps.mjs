// Steps of training, from typed arrays of inputs and labels to the loss as a number. The result of a case is the loss of its first
// steps. A network is written once, in the functions that both engines have (`ourFunctions` gives ours the names of the peer's):
//   network(engine, x, weights) returns the logits, [examples, classes]
import { numbers } from './digits.mjs';
import { sizeOf } from './single-op.mjs';
import { peerFunctions } from './training-peer.mjs';

/** The number of steps whose losses are compared. */
export const STEPS = 20;

/** The losses of the first `count` steps. */
export async function firstLosses(count, step) {
  const losses = [];
  for (let i = 0; i < count; i++) losses.push(await step());
  return losses;
}

/** Returns each of `batches` in turn. */
export function inTurn(batches) {
  let next = 0;
  return () => batches[next++ % batches.length];
}

/** Applies `make` to each { data, shape } in lists and records. */
function mapWeights(weights, make) {
  if (weights.data) return make(weights);
  if (Array.isArray(weights)) return weights.map((weight) => mapWeights(weight, make));
  return Object.fromEntries(Object.entries(weights).map(([key, value]) => [key, mapWeights(value, make)]));
}

/** A weight of evenly distributed numbers between -scale and scale, about `middle`. */
export function weight(shape, seed, scale, middle = 0) {
  return { data: numbers(sizeOf(shape), seed).map((x) => middle + scale * x), shape };
}

/** A weight whose products keep the scale of their operands: each result is a sum of `terms` products. */
export const scaledWeight = (shape, seed, terms = sizeOf(shape.slice(0, -1))) =>
  weight(shape, seed, Math.sqrt(6 / terms));

/** { x, labels, oneHot } of a batch of examples of that shape, with numbers from 0 to 1. */
export function imageBatch(shape, classes, seed) {
  const labels = Int32Array.from({ length: shape[0] }, (_, i) => (i * seed) % classes);
  return {
    x: numbers(sizeOf(shape), seed).map((x) => (x + 1) / 2),
    labels,
    oneHot: oneHotOf(labels, classes),
  };
}

export function oneHotOf(labels, classes) {
  const oneHot = new Float32Array(labels.length * classes);
  labels.forEach((label, i) => (oneHot[i * classes + label] = 1));
  return oneHot;
}

const windowOf = (size) => [1, size, size, 1];

/** The functions of our graph by the names and arguments of TensorFlow.js, or of training-peer.mjs. */
function ourFunctions(graph) {
  const integers = (...values) => graph.constant(new Int32Array(values));
  const op = (type, inputs, attrs) => graph.op(type, inputs, { attrs }).output(0);
  const window = (stride, padding) => ({ strides: windowOf(stride), padding: padding.toUpperCase() });
  const conv2d = (x, w, stride, padding) => op('Conv2D', [x, w], window(stride, padding));
  return {
    add: (a, b) => graph.add(a, b),
    sub: (a, b) => graph.sub(a, b),
    mul: (a, b) => graph.mul(a, b),
    scalar: (value) => graph.constant(value),
    tensor2d: (rows) => graph.constant(rows),
    addBias: (x, bias) => graph.biasAdd(x, bias),
    square: (x) => graph.square(x),
    rsqrt: (x) => graph.rsqrt(x),
    tanh: (x) => graph.tanh(x),
    relu: (x) => graph.relu(x),
    relu6: (x) => graph.relu6(x),
    softmax: (x) => graph.softmax(x),
    reshape: (x, shape) => graph.reshape(x, integers(...shape)),
    transpose: (x, order) => graph.transpose(x, integers(...order)),
    mean: (x, axes, keepDims = false) => op('Mean', [x, integers(...[axes].flat())], { keep_dims: keepDims }),
    gather: (x, rows) => op('GatherV2', [x, rows, graph.constant(0, { dtype: 'int32' })]),
    unstack: (x) => graph.op('Unpack', [x], { attrs: { num: x.shape[0], axis: 0 } }).outputs,
    matMul: (a, b, transposeA = false, transposeB = false) =>
      a.shape.length > 2
        ? op('BatchMatMulV2', [a, b], { adj_x: transposeA, adj_y: transposeB })
        : op('MatMul', [a, b], { transpose_a: transposeA, transpose_b: transposeB }),
    conv2d,
    conv2dOfInput: conv2d,
    depthwiseConv2d: (x, w, stride, padding) => op('DepthwiseConv2dNative', [x, w], window(stride, padding)),
    maxPool: (x, size, stride, padding) =>
      op('MaxPool', [x], { ksize: windowOf(size), ...window(stride, padding) }),
    /** The batch norm of training: by the mean and variance of the batch. */
    normalize: (x, gamma, beta) => {
      const empty = graph.constant(new Float32Array(0));
      return op('FusedBatchNormV3', [x, gamma, beta, empty, empty], { is_training: true, epsilon: 1e-3 });
    },
  };
}

/** What a case makes of our graph. `parts` are those of a step, for traces. */
async function ourStep(tf, { graph, x, labels, loss, optimizer, nextBatch, steps }) {
  const session = new tf.Session(graph);
  const train = optimizer.minimize(loss);
  await session.run(graph.initializer());
  const fetches = [loss, train];
  const nextFeeds = () => {
    const batch = nextBatch();
    return new Map([
      [x, batch.x],
      [labels, batch.labels],
    ]);
  };
  const step = async () => (await session.run(fetches, nextFeeds()))[0].data[0];
  return {
    run: step,
    result: () => firstLosses(steps, step),
    parts: { graph, session, fetches, nextFeeds },
    async close() {
      await session.close();
      graph.dispose();
    },
  };
}

/**
 * A case: `input` is { shape, dtype } of x, `examples` the number of labels, `batches()` gives { x, labels, oneHot } of each batch,
 * perhaps as a promise, `weights` are { data, shape } in lists and records, and the losses of the first `steps` are compared.
 */
export function trainingCase({ name, input, examples, batches, weights, network, optimizer, steps = STEPS }) {
  return {
    name,
    group: 'training',
    async ours(tf) {
      const graph = new tf.Graph();
      const x = graph.placeholder(input.dtype, input.shape);
      const labels = graph.placeholder('int32', [examples]);
      const variables = mapWeights(weights, ({ data, shape }) =>
        graph.variable(graph.constant(data, { shape })),
      );
      const logits = network(ourFunctions(graph), x, variables);
      const [losses] = graph.sparseSoftmaxCrossEntropyWithLogits(logits, labels);
      const loss = graph.mean(losses, graph.constant(new Int32Array([0])));
      const nextBatch = inTurn(await batches());
      return ourStep(tf, { graph, x, labels, loss, optimizer: optimizer.ours(tf), nextBatch, steps });
    },
    async peer(tfjs) {
      const made = [];
      const variables = mapWeights(weights, ({ data, shape }) => {
        made.push(tfjs.variable(tfjs.tensor(data, shape)));
        return made.at(-1);
      });
      const engine = { ...tfjs, ...peerFunctions(tfjs) };
      const trainer = optimizer.peer(tfjs);
      const nextBatch = inTurn(await batches());
      const step = () =>
        tfjs.tidy(() => {
          const batch = nextBatch();
          const x = tfjs.tensor(batch.x, input.shape, input.dtype);
          const labels = tfjs.tensor2d(batch.oneHot, [examples, batch.oneHot.length / examples]);
          const lossOf = () => tfjs.losses.softmaxCrossEntropy(labels, network(engine, x, variables));
          return trainer.minimize(lossOf, true).dataSync()[0];
        });
      return {
        run: step,
        result: () => firstLosses(steps, step),
        close: () => (trainer.dispose(), tfjs.dispose(made)),
      };
    },
  };
}

export const gradientDescent = (rate) => ({
  ours: (tf) => new tf.train.GradientDescentOptimizer(rate),
  peer: (tfjs) => tfjs.train.sgd(rate),
});

export const adam = (rate) => ({
  ours: (tf) => new tf.train.AdamOptimizer(rate),
  peer: (tfjs) => tfjs.train.adam(rate, 0.9, 0.999, 1e-8),
});
