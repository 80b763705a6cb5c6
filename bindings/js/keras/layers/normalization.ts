/** Normalisation. Moving statistics are weights that are not trained. */
import type { Output } from '../../graph/operation.js';
import { Layer, LayerFunction, unmasked } from '../layer.js';
import { range } from '../ops.js';

/** The axes in a config, each from 0. */
function axesOf(layer: Layer, x: Output, otherwise: readonly number[]): number[] {
  const rank = layer.rank(x);
  const axes = layer.config.intList('axis', otherwise).map((axis) => (axis < 0 ? axis + rank : axis));
  if (axes.some((axis) => axis < 0 || axis >= rank))
    throw layer.refuse(`axis is not one of ${rank} dimensions`);
  return axes.sort((a, b) => a - b);
}

/** A weight over `axes`, in a shape that combines with x. */
function weightOver(
  layer: Layer,
  x: Output,
  name: string,
  axes: readonly number[],
  trainable = true,
): Output {
  const rank = layer.rank(x);
  const weight = layer.weight(
    name,
    axes.map((axis) => layer.known(x, axis)),
    { trainable },
  );
  const isLast = axes.every((axis, i) => axis === rank - axes.length + i);
  return isLast
    ? weight
    : layer.reshape(
        weight,
        range(0, rank).map((i) => (axes.includes(i) ? layer.known(x, i) : 1)),
      );
}

const inverseRoot = (layer: Layer, variance: Output, epsilon: number): Output =>
  layer.op('Rsqrt', [layer.add(variance, epsilon)]);

const batchNormalization: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const axes = axesOf(layer, input, [-1]);
  const over = (name: string, trainable: boolean): Output => weightOver(layer, input, name, axes, trainable);
  const gamma = config.bool('scale', true) ? over('gamma', true) : undefined;
  const beta = config.bool('center', true) ? over('beta', true) : undefined;
  const mean = over('moving_mean', false);
  const factor = inverseRoot(layer, over('moving_variance', false), config.number('epsilon', 1e-3));
  const scale = gamma ? layer.mul(factor, gamma) : factor;
  const shift = layer.op('Neg', [layer.mul(mean, scale)]);
  return layer.add(layer.mul(input, scale), beta ? layer.add(shift, beta) : shift);
};

/** Mean and variance over some axes, which stay with the size 1. */
function moments(layer: Layer, x: Output, axes: readonly number[]): [Output, Output] {
  const mean = layer.reduce('Mean', x, axes, true);
  return [mean, layer.reduce('Mean', layer.op('SquaredDifference', [x, mean]), axes, true)];
}

const normalized = (layer: Layer, x: Output, axes: readonly number[], epsilon: number): Output => {
  const [mean, variance] = moments(layer, x, axes);
  return layer.mul(layer.sub(x, mean), inverseRoot(layer, variance, epsilon));
};

const layerNormalization: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const axes = axesOf(layer, input, [-1]);
  const epsilon = config.number('epsilon', 1e-3);
  if (config.bool('rms_scaling', false)) {
    const [, variance] = moments(layer, input, axes);
    return layer.mul(
      layer.mul(input, inverseRoot(layer, variance, epsilon)),
      weightOver(layer, input, 'gamma', axes),
    );
  }
  const scale = config.bool('scale', true) ? weightOver(layer, input, 'gamma', axes) : undefined;
  const shift = config.bool('center', true) ? weightOver(layer, input, 'beta', axes) : undefined;
  const result = normalized(layer, input, axes, epsilon);
  const scaled = scale ? layer.mul(result, scale) : result;
  return shift ? layer.add(scaled, shift) : scaled;
};

/** Keras' layer does not support masking. */
const rmsNormalization: LayerFunction = (layer, { input }) => {
  const axes = axesOf(layer, input, [-1]);
  const square = layer.reduce('Mean', layer.op('Square', [input]), axes, true);
  const result = layer.mul(input, inverseRoot(layer, square, layer.config.number('epsilon', 1e-6)));
  return unmasked(layer.mul(result, weightOver(layer, input, 'scale', axes)));
};

const groupNormalization: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const [axis] = axesOf(layer, input, [-1]) as [number];
  const [sizes, channels] = [layer.sizes(input), layer.known(input, axis)];
  const wanted = config.int('groups', 32);
  const groups = wanted === -1 ? channels : wanted;
  if (groups < 1 || channels % groups !== 0)
    throw layer.refuse(`${channels} channels cannot be divided into ${groups} groups`);
  const grouped = [...sizes];
  grouped.splice(axis, 1, groups, channels / groups);
  const reduced = range(1, grouped.length).filter((i) => i !== axis);
  const x = layer.reshape(input, grouped);
  const result = layer.reshape(normalized(layer, x, reduced, config.number('epsilon', 1e-3)), sizes);
  const scale = config.bool('scale', true) ? weightOver(layer, input, 'gamma', [axis]) : undefined;
  const shift = config.bool('center', true) ? weightOver(layer, input, 'beta', [axis]) : undefined;
  const scaled = scale ? layer.mul(result, scale) : result;
  return shift ? layer.add(scaled, shift) : scaled;
};

/** 1e-12 is the least norm, or, as in Keras 2, the least square of it. */
const unitNormalization: LayerFunction = (layer, { input }) => {
  const square = layer.reduce('Sum', layer.op('Square', [input]), axesOf(layer, input, [-1]), true);
  return layer.mul(
    input,
    layer.model.isKeras3
      ? layer.op('Minimum', [layer.op('Rsqrt', [square]), 1e12])
      : layer.op('Rsqrt', [layer.op('Maximum', [square, 1e-12])]),
  );
};

/** Statistics of the data, from the config or adapted. */
const normalization: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const rank = layer.rank(input);
  const axes = config.has('axis') ? axesOf(layer, input, [-1]) : [];
  const shape = axes.map((axis) => layer.known(input, axis));
  const place = (x: Output): Output =>
    layer.reshape(
      x,
      range(0, rank).map((i) => (axes.includes(i) ? layer.known(input, i) : 1)),
    );
  const given = (key: string): Output => {
    const values = Float32Array.from(config.numbers(key));
    if (values.length === 1) return layer.constant(values, layer.dtype, []);
    return place(layer.constant(values, layer.dtype));
  };
  const adapted = !config.has('mean');
  const mean = adapted ? place(layer.weight('mean', shape, { trainable: false })) : given('mean');
  const variance = adapted ? place(layer.weight('variance', shape, { trainable: false })) : given('variance');
  if (adapted) layer.weight('count', [], { trainable: false, dtype: 'int64' });
  const deviation = layer.op('Maximum', [layer.op('Sqrt', [variance]), 1e-7]);
  return config.bool('invert', false)
    ? layer.add(layer.mul(input, deviation), mean)
    : layer.div(layer.sub(input, mean), deviation);
};

export const NORMALIZATION: Readonly<Record<string, LayerFunction>> = {
  BatchNormalization: batchNormalization,
  BatchNormalizationV1: batchNormalization,
  BatchNormalizationV2: batchNormalization,
  SyncBatchNormalization: batchNormalization,
  LayerNormalization: layerNormalization,
  /* Of ConvNeXt, one of Keras' applications. */
  LayerScale: (layer, { input }) =>
    layer.mul(input, layer.weight('gamma', [layer.config.int('projection_dim')])),
  RMSNormalization: rmsNormalization,
  GroupNormalization: groupNormalization,
  UnitNormalization: unitNormalization,
  Normalization: normalization,
};
