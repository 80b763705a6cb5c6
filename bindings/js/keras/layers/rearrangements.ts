/** Operations that move, repeat and choose elements, and the products that name dimensions by letters. */
import type { Output } from '../../graph/operation.js';
import { DType, dtypeOf } from '../../tensor/dtypes.js';
import { Argument, Call, Layer, LayerFunction, unmasked } from '../layer.js';
import { range } from '../ops.js';
import {
  Operand,
  alike,
  operand,
  outputOf,
  ownOutput,
  promoted,
  setting,
  settled,
  twoOperands,
  wholeNumber,
  wholeNumbers,
} from './operands.js';

/** An axis counted from the first one. */
function placeIn(layer: Layer, rank: number, axis: number): number {
  if (axis < -rank || axis >= rank) throw layer.refuse(`its input of ${rank} dimensions has no axis ${axis}`);
  return axis < 0 ? axis + rank : axis;
}

/** An axis of `x`, undefined if the operation takes all elements in one dimension. */
function axisOf(layer: Layer, call: Call, x: Output, place = 1): number | undefined {
  const axis = setting(layer, call, 'axis', place);
  return axis === undefined || axis === null
    ? undefined
    : placeIn(layer, layer.rank(x), wholeNumber(layer, axis));
}

const transpose: LayerFunction = (layer, call) => {
  const axes = setting(layer, call, 'axes', 1) ?? call.kwargs.perm;
  const rank = layer.rank(call.input);
  const order = axes === undefined || axes === null ? range(0, rank).reverse() : wholeNumbers(layer, axes);
  return layer.transpose(
    call.input,
    order.map((axis) => placeIn(layer, rank, axis)),
  );
};

const swapAxes: LayerFunction = (layer, call) => {
  const rank = layer.rank(call.input);
  const [a, b] = ['axis1', 'axis2'].map((name, i) =>
    placeIn(layer, rank, wholeNumber(layer, setting(layer, call, name, i + 1))),
  ) as [number, number];
  return layer.swap(call.input, a, b);
};

/** The other axes keep their order around the ones that are moved. */
const moveAxis: LayerFunction = (layer, call) => {
  const rank = layer.rank(call.input);
  const [from, to] = ['source', 'destination'].map((name, i) =>
    wholeNumbers(layer, setting(layer, call, name, i + 1)).map((axis) => placeIn(layer, rank, axis)),
  ) as [number[], number[]];
  const order = range(0, rank).filter((axis) => !from.includes(axis));
  const moves = to.map((place, i) => [place, from[i]!] as const).sort(([a], [b]) => a - b);
  for (const [place, axis] of moves) order.splice(place, 0, axis);
  return layer.transpose(call.input, order);
};

const flip: LayerFunction = (layer, call) => {
  const axis = setting(layer, call, 'axis', 1);
  const rank = layer.rank(call.input);
  const axes = axis === undefined || axis === null ? range(0, rank) : wholeNumbers(layer, axis);
  return layer.op('ReverseV2', [call.input, layer.constant(axes, 'int32')]);
};

const roll: LayerFunction = (layer, call) => {
  const { input } = call;
  const shift = setting(layer, call, 'shift', 1);
  const axis = setting(layer, call, 'axis', 2);
  const rolled = (x: Output, shifts: readonly number[], axes: readonly number[]): Output =>
    layer.op('Roll', [x, layer.constant(shifts, 'int32'), layer.constant(axes, 'int32')]);
  if (axis === undefined || axis === null)
    return layer.reshape(
      rolled(layer.reshape(input, [-1]), [wholeNumber(layer, shift, 'its shift')], [0]),
      layer.sizes(input),
    );
  const axes = wholeNumbers(layer, axis);
  const shifts = wholeNumbers(layer, shift);
  return rolled(
    input,
    axes.map((_, i) => shifts[shifts.length === 1 ? 0 : i] ?? 0),
    axes,
  );
};

/** Fewer repeats than dimensions are those of the last ones, and more make dimensions at the beginning. */
const tile: LayerFunction = (layer, call) => {
  const repeats = wholeNumbers(layer, setting(layer, call, 'repeats', 1) ?? call.kwargs.multiples);
  const rank = layer.rank(call.input);
  const missing = range(0, repeats.length - rank);
  const x = missing.reduce((value) => layer.expand(value, 0), call.input);
  const all = [...Array<number>(Math.max(0, rank - repeats.length)).fill(1), ...repeats];
  return layer.op('Tile', [x, layer.constant(all, 'int32')]);
};

/** At places, or in so many equal parts. */
const split: LayerFunction = (layer, call) => {
  const { input } = call;
  const axis = axisOf(layer, call, input, 2) ?? 0;
  const places = setting(layer, call, 'indices_or_sections', 1);
  if (typeof places === 'number') return layer.split(input, places, axis).map(unmasked);
  const ends = [...wholeNumbers(layer, places), layer.known(input, axis)];
  const sizes = ends.map((end, i) => end - (i === 0 ? 0 : ends[i - 1]!));
  if (sizes.length === 1) return unmasked(input);
  const inputs = [input, layer.constant(sizes, 'int32'), layer.constant(axis, 'int32')];
  return layer.outputs('SplitV', inputs, { num_split: sizes.length }).map(unmasked);
};

const cumulativeSum: LayerFunction = (layer, call) => {
  const { input } = call;
  const own = input.dtype === 'bool' ? 'int32' : input.dtype;
  const x = layer.cast(input, dtypeOf((layer.config.value('dtype') ?? own) as DType));
  const axis = axisOf(layer, call, x);
  const values = axis === undefined ? layer.reshape(x, [-1]) : x;
  return layer.op('Cumsum', [values, layer.constant(axis ?? 0, 'int32')]);
};

/** Each element one after the other, as often as its repeat, or as the only one. */
const repeat: LayerFunction = (layer, call) => {
  const repeats = wholeNumbers(layer, setting(layer, call, 'repeats', 1));
  const wanted = axisOf(layer, call, call.input, 2);
  const x = wanted === undefined ? layer.reshape(call.input, [-1]) : call.input;
  const axis = wanted ?? 0;
  if (repeats.length > 1) {
    const places = repeats.flatMap((count, i) => Array<number>(count).fill(i));
    return layer.op('GatherV2', [x, layer.constant(places, 'int32'), layer.constant(axis, 'int32')]);
  }
  const count = repeats[0] ?? 1;
  const multiples = range(0, layer.rank(x) + 1).map((i) => (i === axis + 1 ? count : 1));
  const repeated = layer.op('Tile', [layer.expand(x, axis + 1), layer.constant(multiples, 'int32')]);
  const sizes = layer.sizes(x);
  return layer.reshape(
    repeated,
    sizes.map((size, i) => (i === axis ? layer.times(size, count) : size)),
  );
};

/** Negative indices count from the end. */
const take: LayerFunction = (layer, call) => {
  const [x, indices] = (['x', 'indices'] as const).map((name, i) =>
    ownOutput(layer, operand(layer, call.argument(name, i))),
  ) as [Output, Output];
  const wanted = axisOf(layer, call, x, 2);
  const from = wanted === undefined ? layer.reshape(x, [-1]) : x;
  const axis = wanted ?? 0;
  const size = layer.size(from, axis);
  const last =
    typeof size === 'number' ? layer.constant(size, indices.dtype) : layer.cast(size, indices.dtype);
  const isNegative = layer.op('Less', [indices, layer.op('ZerosLike', [indices])]);
  const places = layer.op('SelectV2', [isNegative, layer.add(indices, last), indices]);
  return layer.op('GatherV2', [from, places, layer.constant(axis, 'int32')]);
};

const oneHot: LayerFunction = (layer, call) => {
  const { config } = layer;
  if (config.value('sparse') === true) throw layer.refuse('its result is sparse, which is not supported');
  const dtype = dtypeOf((config.value('dtype') ?? 'float32') as DType);
  const depth = wholeNumber(layer, config.value('num_classes') as Argument, 'its number of classes');
  const [on, off] = [1, 0].map((value) => layer.constant(value, dtype)) as [Output, Output];
  const indices = layer.cast(call.input, 'int64');
  return layer.op('OneHot', [indices, layer.constant(depth, 'int32'), on, off], {
    axis: wholeNumber(layer, setting(layer, call, 'axis', 2) ?? -1),
  });
};

const pad: LayerFunction = (layer, call) => {
  const rank = layer.rank(call.input);
  const wanted = layer.config.value('pad_width');
  if (!Array.isArray(wanted)) throw layer.refuse('its pad_width must be a list');
  const pairs = wanted.map((pair) => wholeNumbers(layer, pair as Argument));
  const all = pairs.length === 1 ? range(0, rank).map(() => pairs[0]!) : pairs;
  const paddings = layer.constant(
    all.flatMap((pair) => [pair[0]!, pair.at(-1)!]),
    'int32',
    [rank, 2],
  );
  const mode = layer.config.choice('mode', 'constant', ['constant', 'reflect', 'symmetric']);
  if (mode !== 'constant') return layer.op('MirrorPad', [call.input, paddings], { mode: mode.toUpperCase() });
  const value = operand(layer, call.argument('constant_values', 1) ?? 0);
  return layer.op('PadV2', [call.input, paddings, outputOf(layer, value, call.input.dtype)]);
};

/** Products of integers are computed in float32. */
function einsum(layer: Layer, equation: string, operands: readonly Operand[]): Output {
  const settledOperands = operands.map(settled);
  const result = promoted(settledOperands);
  const values = alike(layer, settledOperands, 'float');
  return layer.cast(layer.op('Einsum', [values], { equation }), result);
}

/** Without an arrow, the result has the letters that are there once, in alphabetical order. */
function wholeEquation(subscripts: string): string {
  const text = subscripts.replaceAll(' ', '');
  if (text.includes('->')) return text;
  const letters = [...text.replace(/[^A-Za-z]/g, '')].sort();
  const single = letters.filter((letter) => letters.indexOf(letter) === letters.lastIndexOf(letter));
  return `${text}->${text.includes('...') ? '...' : ''}${single.join('')}`;
}

/** The sum over the last dimension of the first operand and the last but one of the second. */
const dot: LayerFunction = (layer, call) => {
  const operands = twoOperands(layer, call);
  const [first, second] = operands.map((x) => ('values' in x ? x.shape.length : layer.rank(x))) as [
    number,
    number,
  ];
  if (first === 0 || second === 0) return layer.op('Mul', alike(layer, operands.map(settled)));
  const letters = range(0, first + second).map((i) => String.fromCharCode(97 + i));
  const [a, b] = [letters.slice(0, first), letters.slice(first)];
  const summed = a.at(-1)!;
  b[Math.max(0, second - 2)] = summed;
  const rest = [...a, ...b].filter((letter) => letter !== summed);
  return einsum(layer, `${a.join('')},${b.join('')}->${rest.join('')}`, operands);
};

export const REARRANGEMENTS: Readonly<Record<string, LayerFunction>> = {
  Cumsum: cumulativeSum,
  Dot: dot,
  Einsum: (layer, call) => {
    if (call.args.length > 2) throw layer.refuse('more than two operands are not supported');
    const operands = call.args.map((argument) => operand(layer, argument));
    return einsum(layer, wholeEquation(layer.config.text('subscripts')), operands);
  },
  Flip: flip,
  Moveaxis: moveAxis,
  OneHot: oneHot,
  Pad: pad,
  Repeat: repeat,
  Roll: roll,
  Split: split,
  Swapaxes: swapAxes,
  Take: take,
  Tile: tile,
  Transpose: transpose,
};
