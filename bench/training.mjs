// Steps of training, from typed arrays of pixels and labels to the loss as a number. The result of a case is the loss of its first
// steps. The peer's labels are one-hot, made beforehand.
import { BATCH, CLASSES, digitBatches, initialWeights, numbers, PIXELS } from './digits.mjs';
import { sizeOf } from './single-op.mjs';

const SGD_RATE = 0.001;
const ADAM_RATE = 0.002;
const STEPS = 20;

async function firstLosses(count, step) {
  const losses = [];
  for (let i = 0; i < count; i++) losses.push(await step());
  return losses;
}

/** The mean loss of `logits` in the graph. */
function lossOf(graph, logits, labels) {
  const [losses] = graph.sparseSoftmaxCrossEntropyWithLogits(logits, labels);
  return graph.mean(losses, graph.constant(new Int32Array([0])));
}

/** What a case makes of our graph: `nextBatch()` returns { pixels, labels }. */
async function ourStep(tf, { graph, x, labels, loss, optimizer, nextBatch }) {
  const session = new tf.Session(graph);
  const train = optimizer.minimize(loss);
  await session.run(graph.initializer());
  const step = async () => {
    const batch = nextBatch();
    const [value] = await session.run(
      [loss, train],
      new Map([
        [x, batch.pixels],
        [labels, batch.labels],
      ]),
    );
    return value.data[0];
  };
  return {
    run: step,
    result: () => firstLosses(STEPS, step),
    async close() {
      await session.close();
      graph.dispose();
    },
  };
}

/** Returns each of `batches` in turn. */
function inTurn(batches) {
  let next = 0;
  return () => batches[next++ % batches.length];
}

/** The digits network (64-128-10, batches of 64) with Adam. */
export function digitsStep(digits) {
  return {
    name: 'digits training step',
    group: 'training',
    async ours(tf) {
      const nextBatch = inTurn(await digitBatches(digits));
      const graph = new tf.Graph();
      const x = graph.placeholder('float32', [BATCH, PIXELS]);
      const labels = graph.placeholder('int32', [BATCH]);
      const weights = Object.fromEntries(
        Object.entries(initialWeights()).map(([name, [data, shape]]) => [
          name,
          graph.variable(graph.constant(data, { shape }), { name }),
        ]),
      );
      const hidden = graph.relu(graph.biasAdd(graph.matMul(x, weights.w1), weights.b1));
      const loss = lossOf(graph, graph.biasAdd(graph.matMul(hidden, weights.w2), weights.b2), labels);
      const optimizer = new tf.train.AdamOptimizer(ADAM_RATE);
      return ourStep(tf, { graph, x, labels, loss, optimizer, nextBatch });
    },
    async peer(tfjs) {
      const nextBatch = inTurn(await digitBatches(digits));
      const { w1, b1, w2, b2 } = Object.fromEntries(
        Object.entries(initialWeights()).map(([name, [data, shape]]) => [
          name,
          tfjs.variable(tfjs.tensor(data, shape)),
        ]),
      );
      const optimizer = tfjs.train.adam(ADAM_RATE, 0.9, 0.999, 1e-8);
      const step = () =>
        tfjs.tidy(() => {
          const batch = nextBatch();
          const x = tfjs.tensor2d(batch.pixels, [BATCH, PIXELS]);
          const labels = tfjs.tensor2d(batch.oneHot, [BATCH, CLASSES]);
          const loss = optimizer.minimize(() => {
            const hidden = tfjs.relu(tfjs.add(tfjs.matMul(x, w1), b1));
            return tfjs.losses.softmaxCrossEntropy(labels, tfjs.add(tfjs.matMul(hidden, w2), b2));
          }, true);
          return loss.dataSync()[0];
        });
      return {
        run: step,
        result: () => firstLosses(STEPS, step),
        close: () => (optimizer.dispose(), tfjs.dispose([w1, b1, w2, b2])),
      };
    },
  };
}

const CONVOLUTION = { strides: [1, 1, 1, 1], padding: 'SAME' };
const POOLING = { ksize: [1, 2, 2, 1], strides: [1, 2, 2, 1], padding: 'SAME' };

/** The layers of a network, by the engine that applies them; `last` has no activation. */
const OUR_LAYERS = {
  convolution: (graph, x, w, b) =>
    graph.relu(graph.biasAdd(graph.op('Conv2D', [x, w], { attrs: CONVOLUTION }).output(0), b)),
  pool: (graph, x) => graph.op('MaxPool', [x], { attrs: POOLING }).output(0),
  flatten: (graph, x, { columns }) => graph.reshape(x, graph.constant(new Int32Array([-1, columns]))),
  dense: (graph, x, w, b) => graph.relu(graph.biasAdd(graph.matMul(x, w), b)),
  last: (graph, x, w, b) => graph.biasAdd(graph.matMul(x, w), b),
};
const PEER_LAYERS = {
  convolution: (tfjs, x, w, b, isFirst) => tfjs.relu(tfjs.add(peerConvolution(tfjs, x, w, isFirst), b)),
  pool: (tfjs, x) => tfjs.maxPool(x, 2, 2, 'same'),
  flatten: (tfjs, x, { columns }) => tfjs.reshape(x, [-1, columns]),
  dense: (tfjs, x, w, b) => tfjs.relu(tfjs.add(tfjs.matMul(x, w), b)),
  last: (tfjs, x, w, b) => tfjs.add(tfjs.matMul(x, w), b),
};

/**
 * The peer's backend lacks the gradient by the filter: a convolution of the image by dy gives it, with channels in place of images
 * and images in place of channels. The first layer needs no gradient by its image.
 */
function peerConvolution(tfjs, image, filter, isFirst) {
  const ofFilter = (x, w, dy) => {
    const [before, after] = [Math.floor((w.shape[0] - 1) / 2), Math.ceil((w.shape[0] - 1) / 2)];
    const around = [before, after];
    const channels = tfjs.transpose(tfjs.pad(x, [[0, 0], around, around, [0, 0]]), [3, 1, 2, 0]);
    return tfjs.transpose(tfjs.conv2d(channels, tfjs.transpose(dy, [1, 2, 0, 3]), 1, 'valid'), [1, 2, 0, 3]);
  };
  const value = (x, w) => tfjs.conv2d(x, w, 1, 'same');
  if (isFirst) {
    return tfjs.customGrad((w, save) => {
      save([w]);
      return { value: value(image, w), gradFunc: (dy) => ofFilter(image, w, dy) };
    })(filter);
  }
  return tfjs.customGrad((x, w, save) => {
    save([x, w]);
    const gradFunc = (dy, [x, w]) => [tfjs.conv2dTranspose(dy, w, x.shape, 1, 'same'), ofFilter(x, w, dy)];
    return { value: value(x, w), gradFunc };
  })(image, filter);
}

/** Weights of a layer, [data, shape] of each: normed by the number of products in a sum. */
function weightsOf(shape, seed) {
  const scale = Math.sqrt(6 / sizeOf(shape.slice(0, -1)));
  const outputs = shape.at(-1);
  return [
    [numbers(sizeOf(shape), seed).map((x) => x * scale), shape],
    [numbers(outputs, seed + 100).map((x) => x / 10), [outputs]],
  ];
}

/** Applies layers { kind, shape or columns }, whose weights are in `weights`, by the ops of one engine. */
function applyLayers(engine, ops, layers, weights, x) {
  let value = x;
  layers.forEach(({ kind, shape, ...rest }, i) => {
    value = shape ? ops[kind](engine, value, ...weights[i], i === 0) : ops[kind](engine, value, rest);
  });
  return value;
}

/** A step of gradient descent with batches of images of that shape. */
function networkStep({ name, batch, image, layers }) {
  const shape = [batch, ...image];
  const batches = [21, 22, 23].map((seed) => {
    const labels = Int32Array.from({ length: batch }, (_, i) => (i * seed) % CLASSES);
    const oneHot = new Float32Array(batch * CLASSES);
    labels.forEach((label, i) => (oneHot[i * CLASSES + label] = 1));
    return { pixels: numbers(sizeOf(shape), seed).map((x) => (x + 1) / 2), labels, oneHot };
  });
  const initial = layers.map(({ shape }, i) => (shape ? weightsOf(shape, i) : []));
  return {
    name,
    group: 'training',
    async ours(tf) {
      const graph = new tf.Graph();
      const x = graph.placeholder('float32', shape);
      const labels = graph.placeholder('int32', [batch]);
      const weights = initial.map((all) =>
        all.map(([data, shape]) => graph.variable(graph.constant(data, { shape }))),
      );
      const loss = lossOf(graph, applyLayers(graph, OUR_LAYERS, layers, weights, x), labels);
      const optimizer = new tf.train.GradientDescentOptimizer(SGD_RATE);
      return ourStep(tf, { graph, x, labels, loss, optimizer, nextBatch: inTurn(batches) });
    },
    async peer(tfjs) {
      const weights = initial.map((all) =>
        all.map(([data, shape]) => tfjs.variable(tfjs.tensor(data, shape))),
      );
      const optimizer = tfjs.train.sgd(SGD_RATE);
      const nextBatch = inTurn(batches);
      const step = () =>
        tfjs.tidy(() => {
          const { pixels, oneHot } = nextBatch();
          const x = tfjs.tensor(pixels, shape);
          const labels = tfjs.tensor2d(oneHot, [batch, CLASSES]);
          const logits = () => applyLayers(tfjs, PEER_LAYERS, layers, weights, x);
          return optimizer
            .minimize(() => tfjs.losses.softmaxCrossEntropy(labels, logits()), true)
            .dataSync()[0];
        });
      return {
        run: step,
        result: () => firstLosses(STEPS, step),
        close: () => (optimizer.dispose(), tfjs.dispose(weights.flat())),
      };
    },
  };
}

export const trainingCases = [
  networkStep({
    name: 'CNN training step, 32x28x28x1',
    batch: 32,
    image: [28, 28, 1],
    layers: [
      { kind: 'convolution', shape: [5, 5, 1, 32] },
      { kind: 'pool' },
      { kind: 'convolution', shape: [5, 5, 32, 64] },
      { kind: 'pool' },
      { kind: 'flatten', columns: 7 * 7 * 64 },
      { kind: 'dense', shape: [7 * 7 * 64, 512] },
      { kind: 'last', shape: [512, CLASSES] },
    ],
  }),
  networkStep({
    name: 'MLP training step, 64x784 by 256 to 10',
    batch: 64,
    image: [784],
    layers: [
      { kind: 'dense', shape: [784, 256] },
      { kind: 'last', shape: [256, CLASSES] },
    ],
  }),
];
