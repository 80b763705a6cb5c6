/** Activations, shapes, scaling, and layers that change nothing outside of training. */
import type { Output } from '../../graph/operation.js';
import { activate, elu, leakyRelu, relu, softmax } from '../activations.js';
import { Layer, LayerFunction, unmasked } from '../layer.js';
import { Size, range } from '../ops.js';
import { randomCrop, resizing } from './resizing.js';

/** Layers that only change values while a model is trained, or add to its loss. */
const identity: LayerFunction = (_, { input }) => input;

const activation: LayerFunction = (layer, { input }) =>
  activate(layer, input, layer.config.value('activation'));

const flatten: LayerFunction = (layer, { input }) => {
  const isFirst = layer.config.text('data_format', 'channels_last') === 'channels_first';
  const x = isFirst && layer.rank(input) > 2 ? layer.channelsLast(input) : input;
  const sizes = layer.sizes(x);
  return unmasked(layer.reshape(x, [sizes[0]!, layer.product(sizes.slice(1))]));
};

const reshape: LayerFunction = (layer, { input }) => {
  const [batch, ...sizes] = layer.sizes(input) as [Size, ...Size[]];
  const wanted = layer.config.intList('target_shape', []);
  const open = wanted.indexOf(-1);
  const known = wanted.filter((_, i) => i !== open).reduce((a, b) => a * b, 1);
  const whole = layer.product(sizes);
  if (open < 0 || typeof whole !== 'number') return unmasked(layer.reshape(input, [batch, ...wanted]));
  return unmasked(layer.reshape(input, [batch, ...wanted.with(open, whole / known)]));
};

const permute: LayerFunction = (layer, { input }) =>
  unmasked(layer.transpose(input, [0, ...layer.config.intList('dims')]));

const repeatVector: LayerFunction = (layer, { input }) =>
  unmasked(
    layer.op('Tile', [layer.expand(input, 1), layer.constant([1, layer.config.int('n'), 1], 'int32')]),
  );

/** Negative parts are multiplied by weights. */
const prelu: LayerFunction = (layer, { input }) => {
  const shared = layer.config.value('shared_axes') ? layer.config.intList('shared_axes') : [];
  const sizes = range(1, layer.rank(input)).map((axis) =>
    shared.includes(axis) ? 1 : layer.known(input, axis),
  );
  const alpha = layer.weight('alpha', sizes);
  const negative = layer.op('Relu', [layer.op('Neg', [input])]);
  return layer.sub(layer.op('Relu', [input]), layer.mul(negative, alpha));
};

const reluLayer: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  return relu(layer, input, {
    slope: config.number('negative_slope', 0),
    most: config.has('max_value') ? config.number('max_value') : undefined,
    threshold: config.number('threshold', 0),
  });
};

const thresholdedRelu: LayerFunction = (layer, { input }) => {
  const isAbove = layer.op('Greater', [input, layer.config.number('theta', 1)]);
  return layer.mul(input, layer.cast(isAbove, input.dtype));
};

/** Over several axes at once: exponents less their logarithmic sum. */
function softmaxOver(layer: Layer, x: Output, axes: readonly number[]): Output {
  const shifted = layer.sub(x, layer.op('StopGradient', [layer.reduce('Max', x, axes, true)]));
  const exponents = layer.op('Exp', [shifted]);
  return layer.div(exponents, layer.reduce('Sum', exponents, axes, true));
}

const softmaxLayer: LayerFunction = (layer, call) => {
  const axes = layer.config.intList('axis', [-1]);
  const mask = call.mask;
  const hidden =
    mask &&
    layer.mul(
      layer.sub(layer.constant(1, call.input.dtype), layer.cast(mask, call.input.dtype)),
      -3.4028235e38 / 2,
    );
  const x = hidden ? layer.add(call.input, hidden) : call.input;
  return axes.length > 1 ? softmaxOver(layer, x, axes) : softmax(layer, x, axes[0]);
};

/** A number, or numbers for the channels. */
const scaleOf = (layer: Layer, key: string, otherwise: number): Output => {
  const values = layer.config.has(key) ? layer.config.numbers(key) : [otherwise];
  return layer.constant(Float32Array.from(values), layer.dtype, values.length === 1 ? [] : [values.length]);
};

const rescaling: LayerFunction = (layer, { input }) => {
  const x = layer.cast(input, layer.dtype);
  return layer.add(layer.mul(x, scaleOf(layer, 'scale', 1)), scaleOf(layer, 'offset', 0));
};

const masking: LayerFunction = (layer, { input }) => {
  const differs = layer.op('NotEqual', [input, layer.config.number('mask_value', 0)]);
  const kept = layer.cast(layer.reduce('Any', differs, [-1], true), input.dtype);
  return { output: layer.mul(input, kept), mask: layer.reduce('Any', differs, [-1]) };
};

/** The middle of images that are large enough. */
const centerCrop: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const isFirst = config.text('data_format', 'channels_last') === 'channels_first';
  const at = isFirst ? layer.rank(input) - 2 : layer.rank(input) - 3;
  const cut = ['height', 'width'].reduce((x, key, i) => {
    const [size, wanted] = [layer.known(x, at + i), config.int(key)];
    if (wanted > size) throw layer.refuse(`its input of ${size} is smaller than its ${key} ${wanted}`);
    const begin = Math.floor((size - wanted) / 2);
    return layer.slice(x, at + i, begin, begin + wanted);
  }, input);
  return unmasked(layer.cast(cut, layer.dtype));
};

/** Numbers as the indices of their intervals. */
const discretization: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const boundaries = config.numbers('bin_boundaries');
  const isBeyond = layer.op('GreaterEqual', [
    layer.expand(layer.cast(input, 'float32'), -1),
    layer.constant(Float32Array.from(boundaries), 'float32'),
  ]);
  const indices = layer.reduce('Sum', layer.cast(isBeyond, 'int32'), [-1]);
  const mode = config.text('output_mode', 'int');
  return unmasked(
    mode === 'int'
      ? layer.cast(indices, layer.model.isKeras3 ? 'int32' : 'int64')
      : encoded(layer, indices, mode, boundaries.length + 1),
  );
};

/** Indices as rows of zeros and ones, or of counts. */
export function encoded(layer: Layer, x: Output, mode: string, count: number, weights?: Output): Output {
  const hot = layer.op('OneHot', [x, count, layer.constant(1, layer.dtype), layer.constant(0, layer.dtype)]);
  const rank = layer.rank(x);
  if (mode === 'one_hot') return rank > 1 && x.shape!.at(-1) === 1 ? layer.squeeze(hot, rank - 1) : hot;
  if (mode !== 'multi_hot' && mode !== 'count') throw layer.refuse(`output_mode '${mode}' is not known`);
  const axis = Math.max(0, rank - 1);
  if (mode === 'multi_hot') return layer.reduce('Max', hot, [axis]);
  return layer.reduce('Sum', weights ? layer.mul(hot, layer.expand(weights, -1)) : hot, [axis]);
}

const categoryEncoding: LayerFunction = (layer, call) => {
  const { config } = layer;
  const indices = layer.cast(call.input, 'int32');
  const weights = call.tensor('count_weights', 1)?.output;
  return unmasked(
    encoded(layer, indices, config.text('output_mode', 'multi_hot'), config.int('num_tokens'), weights),
  );
};

const IDENTITIES = [
  'ActivityRegularization',
  'AlphaDropout',
  'AugMix',
  'CutMix',
  'Dropout',
  'GaussianDropout',
  'GaussianNoise',
  'Identity',
  'MixUp',
  'RandAugment',
  'RandomBrightness',
  'RandomColorDegeneration',
  'RandomColorJitter',
  'RandomContrast',
  'RandomElasticTransform',
  'RandomErasing',
  'RandomFlip',
  'RandomGaussianBlur',
  'RandomGrayscale',
  'RandomHue',
  'RandomInvert',
  'RandomPerspective',
  'RandomPosterization',
  'RandomRotation',
  'RandomSaturation',
  'RandomSharpness',
  'RandomShear',
  'RandomTranslation',
  'RandomZoom',
  'SpatialDropout1D',
  'SpatialDropout2D',
  'SpatialDropout3D',
  'StochasticDepth',
];

export const SHAPING: Readonly<Record<string, LayerFunction>> = {
  ...Object.fromEntries(IDENTITIES.map((name) => [name, identity])),
  Activation: activation,
  CategoryEncoding: categoryEncoding,
  CenterCrop: centerCrop,
  Discretization: discretization,
  ELU: (layer, { input }) => elu(layer, input, layer.config.number('alpha', 1)),
  Flatten: flatten,
  LeakyReLU: (layer, { input }) => {
    const { config } = layer;
    return leakyRelu(
      layer,
      input,
      config.number(config.has('negative_slope') ? 'negative_slope' : 'alpha', 0.3),
    );
  },
  Masking: masking,
  PReLU: prelu,
  Permute: permute,
  RandomCrop: randomCrop,
  ReLU: reluLayer,
  RepeatVector: repeatVector,
  Rescaling: rescaling,
  Reshape: reshape,
  Resizing: resizing,
  Softmax: softmaxLayer,
  ThresholdedReLU: thresholdedRelu,
};
