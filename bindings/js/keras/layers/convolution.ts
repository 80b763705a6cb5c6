/** Convolutions. One dimension is computed as two, the first of which has the size 1; three have ops of their own. */
import type { Output } from '../../graph/operation.js';
import type { Layer, LayerFunction } from '../layer.js';
import { Size, range } from '../ops.js';
import { finish } from './dense.js';

/** Calls `use` with the channels last, and puts them back where they were. */
export function withChannelsLast(layer: Layer, x: Output, use: (x: Output) => Output): Output {
  const first = layer.config.choice('data_format', 'channels_last', ['channels_last', 'channels_first']);
  return first === 'channels_first' ? layer.channelsFirst(use(layer.channelsLast(x))) : use(x);
}

/** The settings of a convolution over `rank` dimensions; a line is a plane of height 1. */
interface Window {
  readonly rank: number;
  readonly size: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly padding: 'valid' | 'same' | 'causal';
}

function windowOf(layer: Layer, rank: number): Window {
  const { config } = layer;
  return {
    rank,
    size: config.ints('kernel_size', rank),
    strides: config.ints('strides', rank, 1),
    dilations: config.ints('dilation_rate', rank, 1),
    padding: config.choice('padding', 'valid', ['valid', 'same', 'causal']),
  };
}

/** A line becomes a plane, and back. */
const plane = (layer: Layer, x: Output, rank: number): Output => (rank === 1 ? layer.expand(x, 1) : x);
const line = (layer: Layer, x: Output, rank: number): Output => (rank === 1 ? layer.squeeze(x, 1) : x);
const onPlane = (values: readonly number[]): number[] => (values.length === 1 ? [1, ...values] : [...values]);
/** DepthwiseConv2dNative wants equal strides: a plane of height 1 may have any. */
const equalOnPlane = (values: readonly number[]): number[] =>
  values.length === 1 ? [values[0]!, values[0]!] : [...values];

/** With padding 'causal' an output depends on no later input. */
function paddedCausally(layer: Layer, x: Output, { padding, size, dilations }: Window): [Output, string] {
  if (padding !== 'causal') return [x, padding.toUpperCase()];
  return [
    layer.pad(x, [
      [0, 0],
      [(size[0]! - 1) * dilations[0]!, 0],
      [0, 0],
    ]),
    'VALID',
  ];
}

const convolution =
  (rank: number): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) => {
      const { config } = layer;
      const [window, filters, groups] = [
        windowOf(layer, rank),
        config.int('filters'),
        config.int('groups', 1),
      ];
      const channels = layer.known(x, -1);
      if (groups < 1 || channels % groups !== 0 || filters % groups !== 0)
        throw layer.refuse(
          `${channels} channels and ${filters} filters cannot be divided into ${groups} groups`,
        );
      const kernel = layer.weight('kernel', [...window.size, channels / groups, filters]);
      const [padded, padding] = paddedCausally(layer, x, window);
      const attrs = {
        strides: [1, ...onPlane(window.strides), 1],
        dilations: [1, ...onPlane(window.dilations), 1],
        padding,
      };
      const [op, last] = rank === 3 ? ['Conv3D', 4] : ['Conv2D', 3];
      const weights = layer.split(kernelOnPlane(layer, kernel, rank), groups, last);
      const parts = layer
        .split(plane(layer, padded, rank), groups, last)
        .map((part, i) => layer.op(op, [part, weights[i]!], attrs));
      return finish(layer, line(layer, layer.concat(parts, last), rank), filters);
    });

/** Kernels of one dimension get the height 1. */
const kernelOnPlane = (layer: Layer, kernel: Output, rank: number): Output =>
  rank === 1 ? layer.expand(kernel, 0) : kernel;

function depthwise(layer: Layer, x: Output, window: Window, kernel: Output): Output {
  const [padded, padding] = paddedCausally(layer, x, window);
  const result = layer.op(
    'DepthwiseConv2dNative',
    [plane(layer, padded, window.rank), kernelOnPlane(layer, kernel, window.rank)],
    {
      strides: [1, ...equalOnPlane(window.strides), 1],
      dilations: [1, ...onPlane(window.dilations), 1],
      padding,
    },
  );
  return result;
}

const depthwiseConvolution =
  (rank: number): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) => {
      const [window, multiplier] = [windowOf(layer, rank), layer.config.int('depth_multiplier', 1)];
      const channels = layer.known(x, -1);
      /* Keras 2 has a name of its own for it. */
      const name = layer.model.isKeras3 ? 'kernel' : 'depthwise_kernel';
      const kernel = layer.weight(name, [...window.size, channels, multiplier]);
      return finish(layer, line(layer, depthwise(layer, x, window, kernel), rank), channels * multiplier);
    });

const separableConvolution =
  (rank: number): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) => {
      const { config } = layer;
      const [window, filters] = [windowOf(layer, rank), config.int('filters')];
      const [channels, multiplier] = [layer.known(x, -1), config.int('depth_multiplier', 1)];
      const first = layer.weight('depthwise_kernel', [...window.size, channels, multiplier]);
      const second = layer.weight('pointwise_kernel', [
        ...range(0, rank).map(() => 1),
        channels * multiplier,
        filters,
      ]);
      const mixed = layer.op(
        'Conv2D',
        [depthwise(layer, x, window, first), kernelOnPlane(layer, second, rank)],
        {
          strides: [1, 1, 1, 1],
          padding: 'VALID',
        },
      );
      return finish(layer, line(layer, mixed, rank), filters);
    });

/** The size to which a transposed convolution enlarges a dimension. */
function enlarged(layer: Layer, size: Size, window: Window, axis: number, extra: number | undefined): Size {
  const stride = window.strides[axis]!;
  const reach = (window.size[axis]! - 1) * window.dilations[axis]! + 1;
  const plus = (value: Size, more: number): Size =>
    typeof value === 'number' ? value + more : layer.add(value, more);
  if (extra === undefined)
    return plus(layer.times(size, stride), window.padding === 'same' ? 0 : Math.max(reach - stride, 0));
  const cut = window.padding === 'same' ? 2 * Math.floor(reach / 2) : 0;
  return plus(layer.times(plus(size, -1), stride), reach - cut + extra);
}

const transposedConvolution =
  (rank: number): LayerFunction =>
  (layer, { input }) =>
    withChannelsLast(layer, input, (x) => {
      const { config } = layer;
      const [window, filters, channels] = [windowOf(layer, rank), config.int('filters'), layer.known(x, -1)];
      const extra = config.has('output_padding') ? config.ints('output_padding', rank) : undefined;
      const kernel = layer.weight('kernel', [...window.size, filters, channels]);
      const sizes = layer.sizes(x);
      const wanted = range(0, rank).map((i) => enlarged(layer, sizes[i + 1]!, window, i, extra?.[i]));
      const onPlaneSizes = [sizes[0]!, ...(rank === 1 ? [1] : []), ...wanted, filters];
      const result = layer.op(
        rank === 3 ? 'Conv3DBackpropInputV2' : 'Conv2DBackpropInput',
        [layer.shapeOf(onPlaneSizes), kernelOnPlane(layer, kernel, rank), plane(layer, x, rank)],
        {
          strides: [1, ...onPlane(window.strides), 1],
          dilations: [1, ...onPlane(window.dilations), 1],
          padding: window.padding.toUpperCase(),
        },
      );
      layer.graph.setShape(
        result,
        onPlaneSizes.map((size) => (typeof size === 'number' ? size : null)),
      );
      return finish(layer, line(layer, result, rank), filters);
    });

export const CONVOLUTION: Readonly<Record<string, LayerFunction>> = {
  Conv1D: convolution(1),
  Conv2D: convolution(2),
  Conv3D: convolution(3),
  Convolution1D: convolution(1),
  Convolution2D: convolution(2),
  Convolution3D: convolution(3),
  DepthwiseConv1D: depthwiseConvolution(1),
  DepthwiseConv2D: depthwiseConvolution(2),
  SeparableConv1D: separableConvolution(1),
  SeparableConv2D: separableConvolution(2),
  Conv1DTranspose: transposedConvolution(1),
  Conv2DTranspose: transposedConvolution(2),
  Conv3DTranspose: transposedConvolution(3),
};
