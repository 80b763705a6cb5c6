// Layers models that TensorFlow.js makes and saves: values, and gradients by every weight, are the same here.
// Left out is what tfjs 4.22 computes differently from Keras: UpSampling2D with 'bilinear' (without
// half-pixel centers), and two gradients that differences of its own values contradict: those of padded
// average pools and of UpSampling2D.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';
import { withModel } from './keras-cases.mjs';
import { peer, relativeDifference } from './tfjs-peer.mjs';

const LIMIT = 2e-5;
const WITHOUT_GRADIENTS = ['upsampling'];

/** Numbers from -1 to 1 of a linear congruential generator. */
function randomNumbers(seed) {
  let state = seed;
  return (count) =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 31 - 1;
    });
}

const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

/** The orthogonal start values of tfjs need all of its modules. They are replaced anyway. */
const RECURRENT = { recurrentInitializer: 'glorotNormal' };

/** One layer after the other: [the shape of an input without the batch, layers]. */
const CHAINS = {
  dense: [
    [5],
    (l) => [l.dense({ units: 4, activation: 'tanh' }), l.dense({ units: 3, activation: 'softmax' })],
  ],
  activations: [
    [6],
    (l) =>
      [
        'relu',
        'relu6',
        'elu',
        'selu',
        'sigmoid',
        'softplus',
        'softsign',
        'swish',
        'mish',
        'hardSigmoid',
        'gelu',
      ].map((activation) => l.dense({ units: 6, activation })),
  ],
  'activations as layers': [
    [3, 4],
    (l) => [
      l.leakyReLU({ alpha: 0.2 }),
      l.dense({ units: 4 }),
      l.prelu({ sharedAxes: [1] }),
      l.dense({ units: 4 }),
      l.elu(),
      l.reLU({ maxValue: 0.9 }),
      l.activation({ activation: 'softmax' }),
    ],
  ],
  convolution: [
    [8, 7, 2],
    (l) => [
      l.conv2d({ filters: 3, kernelSize: 3, padding: 'same', strides: 2, activation: 'relu' }),
      l.conv2d({ filters: 4, kernelSize: 2, useBias: false }),
    ],
  ],
  'convolutions of other ranks': [
    [6, 5, 4, 2],
    (l) => [
      l.conv3d({ filters: 3, kernelSize: 2, activation: 'elu' }),
      l.reshape({ targetShape: [20, 9] }),
      l.conv1d({ filters: 4, kernelSize: 3, strides: 2, padding: 'same' }),
    ],
  ],
  'depthwise and separable': [
    [7, 6, 2],
    (l) => [
      l.depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2, padding: 'same' }),
      l.separableConv2d({ filters: 3, kernelSize: 2, activation: 'tanh' }),
    ],
  ],
  'transposed convolution': [
    [4, 3, 2],
    (l) => [l.conv2dTranspose({ filters: 3, kernelSize: 3, strides: 2, padding: 'same' }), l.flatten()],
  ],
  'batch normalization': [
    [4, 4, 3],
    (l) => [l.conv2d({ filters: 3, kernelSize: 1 }), l.batchNormalization(), l.globalAveragePooling2d({})],
  ],
  'layer normalization': [[4, 5], (l) => [l.layerNormalization({ epsilon: 0.01 }), l.dense({ units: 2 })]],
  pooling: [
    [9, 8, 2],
    (l) => [
      l.conv2d({ filters: 3, kernelSize: 1 }),
      l.maxPooling2d({ poolSize: 2 }),
      l.averagePooling2d({ poolSize: 3, strides: 1 }),
      l.globalMaxPooling2d({}),
    ],
  ],
  upsampling: [
    [4, 4, 2],
    (l) => [
      l.conv2d({ filters: 2, kernelSize: 1 }),
      l.upSampling2d({ size: [2, 2] }),
      l.zeroPadding2d({
        padding: [
          [1, 0],
          [0, 2],
        ],
      }),
      l.cropping2D({
        cropping: [
          [0, 1],
          [1, 1],
        ],
      }),
    ],
  ],
  'shapes of sequences': [
    [6],
    (l) => [
      l.dense({ units: 6 }),
      l.repeatVector({ n: 4 }),
      l.permute({ dims: [2, 1] }),
      l.maxPooling1d({ poolSize: 2 }),
      l.timeDistributed({ layer: l.dense({ units: 3 }) }),
      l.globalAveragePooling1d({}),
    ],
  ],
  LSTM: [
    [5, 3],
    (l) => [
      l.lstm({ ...RECURRENT, units: 4, returnSequences: true }),
      l.lstm({ ...RECURRENT, units: 2, goBackwards: true }),
    ],
  ],
  GRU: [
    [5, 3],
    (l) => [l.gru({ ...RECURRENT, units: 4, returnSequences: true }), l.gru({ ...RECURRENT, units: 2 })],
  ],
  'simple and stacked cells': [
    [4, 3],
    (l) => [
      l.simpleRNN({ ...RECURRENT, units: 3, returnSequences: true }),
      l.rnn({ cell: [l.lstmCell({ ...RECURRENT, units: 3 }), l.gruCell({ ...RECURRENT, units: 2 })] }),
    ],
  ],
  bidirectional: [
    [4, 3],
    (l) => [
      l.bidirectional({
        layer: l.lstm({ ...RECURRENT, units: 2, returnSequences: true }),
        mergeMode: 'concat',
      }),
      l.bidirectional({ layer: l.gru({ ...RECURRENT, units: 3 }), mergeMode: 'sum' }),
    ],
  ],
  'convolutional LSTM': [
    [3, 5, 4, 2],
    (l) => [l.convLstm2d({ ...RECURRENT, filters: 2, kernelSize: 2, padding: 'same' }), l.flatten()],
  ],
};

/** Models of tokens: whole numbers below 7, some of them 0. */
const TEXTS = {
  embedding: (l) => [l.embedding({ inputDim: 7, outputDim: 3 }), l.flatten(), l.dense({ units: 2 })],
  'embedding with a mask': (l) => [
    l.embedding({ inputDim: 7, outputDim: 3, maskZero: true }),
    l.lstm({ ...RECURRENT, units: 3 }),
    l.dense({ units: 2, activation: 'softmax' }),
  ],
  'embedding and convolution': (l) => [
    l.embedding({ inputDim: 7, outputDim: 4 }),
    l.conv1d({ filters: 3, kernelSize: 2, activation: 'relu' }),
    l.globalMaxPooling1d(),
  ],
};

/** Attention of dot products, and what merges. */
function attention(tfjs) {
  const l = tfjs.layers.layers;
  const x = tfjs.layers.input({ shape: [4, 6] });
  const [query, key, value] = [3, 3, 5].map((units) => l.dense({ units, useBias: false }).apply(x));
  const weights = l.activation({ activation: 'softmax' }).apply(l.dot({ axes: 2 }).apply([query, key]));
  const attended = l.dot({ axes: [2, 1] }).apply([weights, value]);
  const sum = l.add().apply([l.dense({ units: 6 }).apply(attended), x]);
  const joined = l.concatenate().apply([sum, l.multiply().apply([sum, x]), l.average().apply([sum, x])]);
  const largest = l.maximum().apply([joined, l.dense({ units: 18 }).apply(joined)]);
  return tfjs.layers.model({ inputs: x, outputs: l.layerNormalization().apply(largest) });
}

function chain(tfjs, batchInputShape, make) {
  const model = tfjs.layers.sequential();
  const [first, ...rest] = make(tfjs.layers.layers);
  /* The first layer says what the input is. */
  model.add(tfjs.layers.layers.inputLayer({ batchInputShape }));
  for (const layer of [first, ...rest]) model.add(layer);
  return model;
}

/** The weights get numbers that are no symmetric start values; variances are positive. */
function randomise(tfjs, model) {
  const numbers = randomNumbers(7);
  model.setWeights(
    model.weights.map(({ originalName, shape }) => {
      const values = numbers(sizeOf(shape)).map((x) =>
        /variance/.test(originalName) ? x * x + 0.3 : 0.6 * x,
      );
      return tfjs.tensor(values, shape);
    }),
  );
}

/** The files that tfjs saves. */
async function filesOf(tfjs, model) {
  let files;
  await model.save(
    tfjs.io.withSaveHandler(async ({ modelTopology, weightSpecs, weightData }) => {
      const weightsManifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
      files = {
        'model.json': JSON.stringify({ format: 'layers-model', modelTopology, weightsManifest }),
        'weights.bin': new Uint8Array(weightData),
      };
      return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
    }),
  );
  return files;
}

/** The outputs of tfjs, and the gradients of the sum of their squares by the weights. */
function peerResults(tfjs, model, x) {
  const y = model.predict(x);
  const { grads } = tfjs.variableGrads(() => tfjs.sum(tfjs.square(model.apply(x, { training: false }))));
  const gradients = model.trainableWeights.map(({ originalName, val }) => ({
    name: originalName,
    values: grads[val.name].dataSync(),
  }));
  return { shape: y.shape, values: y.dataSync(), gradients };
}

async function compare(tf, tfjs, model, { data, shape, hasGradients = true }) {
  randomise(tfjs, model);
  const wanted = peerResults(tfjs, model, tfjs.tensor(data, shape));
  await withModel(
    tf,
    await filesOf(tfjs, model),
    async ({ graph, session, inputs, outputs, trainableVariables }) => {
      const feeds = [[inputs[0].output, tf.tensor(data, shape)]];
      const [y] = outputs.map(({ output }) => output);
      const found = await session.run(y, feeds);
      assert.deepEqual(found.shape, wanted.shape);
      assert.ok(relativeDifference(found.data, wanted.values) <= LIMIT, `${found.data} not ${wanted.values}`);
      if (!hasGradients) return;
      const loss = graph.sum(graph.square(graph.reshape(y, [-1])), [0]);
      const slopes = await session.run(graph.gradients(loss, trainableVariables), feeds);
      assert.equal(slopes.length, wanted.gradients.length);
      for (const [i, { name }] of trainableVariables.entries()) {
        /* Layers inside of others have names of their own in tfjs, and come in the same order. */
        const theirs = wanted.gradients.find((gradient) => gradient.name === name) ?? wanted.gradients[i];
        const difference = relativeDifference(slopes[i].data, theirs.values);
        assert.ok(difference <= LIMIT, `the gradient by ${name} differs by ${difference}`);
      }
    },
  );
}

describe('layers models made by TensorFlow.js', () => {
  let tf;
  let tfjs;
  before(async () => {
    tf = await engine();
    tfjs = await peer('cpu');
  });

  for (const [name, [shape, make]] of Object.entries(CHAINS))
    it(`have its values and gradients: ${name}`, () => {
      const batch = [2, ...shape];
      const data = randomNumbers(3)(sizeOf(batch));
      const hasGradients = !WITHOUT_GRADIENTS.includes(name);
      return compare(tf, tfjs, chain(tfjs, [null, ...shape], make), { data, shape: batch, hasGradients });
    });

  for (const [name, make] of Object.entries(TEXTS))
    it(`have its values and gradients: ${name}`, () => {
      const data = Float32Array.from([3, 1, 6, 2, 0, 5, 5, 4, 0, 0]);
      return compare(tf, tfjs, chain(tfjs, [null, 5], make), { data, shape: [2, 5] });
    });

  it('have its values and gradients: attention and merging', () => {
    const data = randomNumbers(5)(48);
    return compare(tf, tfjs, attention(tfjs), { data, shape: [2, 4, 6] });
  });
});
