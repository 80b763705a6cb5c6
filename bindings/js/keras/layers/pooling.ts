/** Pooling, and layers that enlarge, cut or repeat parts of images and sequences. */
import type { Output } from '../../graph/operation.js';
import type { Layer, LayerFunction } from '../layer.js';
import { range } from '../ops.js';
import { withChannelsLast } from './convolution.js';
import { resized } from './resizing.js';

const pooling =
  (rank: number, plane: 'MaxPool' | 'AvgPool'): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) => {
      const { config } = layer;
      const size = config.ints('pool_size', rank, 2);
      const strides = config.ints('strides', rank, size);
      const flat = rank === 1;
      const result = layer.op(rank === 3 ? `${plane}3D` : plane, [flat ? layer.expand(x, 1) : x], {
        ksize: [1, ...(flat ? [1] : []), ...size, 1],
        strides: [1, ...(flat ? [1] : []), ...strides, 1],
        padding: config.choice('padding', 'valid', ['valid', 'same']).toUpperCase(),
      });
      return flat ? layer.squeeze(result, 1) : result;
    });

/** The mean of what the mask leaves. */
function maskedMean(layer: Layer, x: Output, mask: Output, keepDims: boolean): Output {
  const weights = layer.cast(layer.expand(mask, 2), x.dtype);
  const sum = layer.reduce('Sum', layer.mul(x, weights), [1], keepDims);
  return layer.div(sum, layer.reduce('Sum', weights, [1], keepDims));
}

const globalPooling =
  (rank: number, op: 'Max' | 'Mean'): LayerFunction =>
  (layer, { input, mask }) => {
    const { config } = layer;
    const keepDims = config.bool('keepdims', false);
    const isFirst = config.text('data_format', 'channels_last') === 'channels_first';
    if (mask && op === 'Mean' && rank === 1 && !isFirst) return maskedMean(layer, input, mask, keepDims);
    return layer.reduce(op, input, isFirst ? range(2, rank + 2) : range(1, rank + 1), keepDims);
  };

/** [[before, after], ...] for each dimension, from one of the forms that Keras takes. */
function pairs(layer: Layer, key: string, rank: number, otherwise: number): number[][] {
  const value = layer.config.value(key) ?? otherwise;
  const list: unknown = rank === 1 && Array.isArray(value) && value.length === 2 ? [value] : value;
  const all = typeof list === 'number' ? Array<number>(rank).fill(list) : list;
  if (!Array.isArray(all) || all.length !== rank) throw layer.refuse(`${key} must have ${rank} items`);
  return all.map((item: unknown) => {
    const pair = typeof item === 'number' ? [item, item] : item;
    if (!Array.isArray(pair) || pair.length !== 2 || !pair.every((n) => Number.isSafeInteger(n) && n >= 0))
      throw layer.refuse(`${key} must be whole numbers`);
    return pair as number[];
  });
}

const padding =
  (rank: number): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) =>
      layer.pad(x, [[0, 0], ...pairs(layer, 'padding', rank, 1), [0, 0]]),
    );

const cropping =
  (rank: number): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) =>
      pairs(layer, 'cropping', rank, rank === 1 ? 1 : 0).reduce(
        (part, [before, after], i) => layer.slice(part, i + 1, before!, after === 0 ? undefined : -after!),
        x,
      ),
    );

/** Each element of a dimension `count` times. */
function repeated(layer: Layer, x: Output, axis: number, count: number): Output {
  const sizes = layer.sizes(x);
  const ones = [...sizes.map(() => 1)];
  ones.splice(axis + 1, 0, count);
  const tiled = layer.op('Tile', [layer.expand(x, axis + 1), layer.constant(ones, 'int32')]);
  return layer.reshape(
    tiled,
    sizes.map((size, i) => (i === axis ? layer.times(size, count) : size)),
  );
}

const upSampling1D: LayerFunction = (layer, { input }) =>
  repeated(layer, input, 1, layer.config.ints('size', 1, 2)[0]!);

const upSampling2D: LayerFunction = (layer, { input }) =>
  withChannelsLast(layer, input, (x) => {
    const [height, width] = layer.config.ints('size', 2, 2) as [number, number];
    const how = layer.config.text('interpolation', 'nearest');
    if (how === 'nearest') return repeated(layer, repeated(layer, x, 1, height), 2, width);
    const sizes = layer.sizes(x);
    return resized(layer, x, [layer.times(sizes[1]!, height), layer.times(sizes[2]!, width)], how);
  });

const upSampling3D: LayerFunction = (layer, { input }) =>
  withChannelsLast(layer, input, (x) =>
    layer.config.ints('size', 3, 2).reduce((larger, count, i) => repeated(layer, larger, i + 1, count), x),
  );

export const POOLING: Readonly<Record<string, LayerFunction>> = {
  MaxPooling1D: pooling(1, 'MaxPool'),
  MaxPooling2D: pooling(2, 'MaxPool'),
  MaxPooling3D: pooling(3, 'MaxPool'),
  MaxPool1D: pooling(1, 'MaxPool'),
  MaxPool2D: pooling(2, 'MaxPool'),
  MaxPool3D: pooling(3, 'MaxPool'),
  AveragePooling1D: pooling(1, 'AvgPool'),
  AveragePooling2D: pooling(2, 'AvgPool'),
  AveragePooling3D: pooling(3, 'AvgPool'),
  AvgPool1D: pooling(1, 'AvgPool'),
  AvgPool2D: pooling(2, 'AvgPool'),
  AvgPool3D: pooling(3, 'AvgPool'),
  GlobalMaxPooling1D: globalPooling(1, 'Max'),
  GlobalMaxPooling2D: globalPooling(2, 'Max'),
  GlobalMaxPooling3D: globalPooling(3, 'Max'),
  GlobalMaxPool1D: globalPooling(1, 'Max'),
  GlobalMaxPool2D: globalPooling(2, 'Max'),
  GlobalMaxPool3D: globalPooling(3, 'Max'),
  GlobalAveragePooling1D: globalPooling(1, 'Mean'),
  GlobalAveragePooling2D: globalPooling(2, 'Mean'),
  GlobalAveragePooling3D: globalPooling(3, 'Mean'),
  GlobalAvgPool1D: globalPooling(1, 'Mean'),
  GlobalAvgPool2D: globalPooling(2, 'Mean'),
  GlobalAvgPool3D: globalPooling(3, 'Mean'),
  ZeroPadding1D: padding(1),
  ZeroPadding2D: padding(2),
  ZeroPadding3D: padding(3),
  Cropping1D: cropping(1),
  Cropping2D: cropping(2),
  Cropping3D: cropping(3),
  UpSampling1D: upSampling1D,
  UpSampling2D: upSampling2D,
  UpSampling3D: upSampling3D,
};
