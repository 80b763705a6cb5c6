/** Operations that reduce dimensions: sums, extremes, statistics and norms. */
import type { Output } from '../../graph/operation.js';
import type { DType } from '../../tensor/dtypes.js';
import type { Call, Layer, LayerFunction } from '../layer.js';
import { isFloat, range } from '../ops.js';
import { inFloat, isTensorFlows, operand, outputOf, setting, wholeNumber, wholeNumbers } from './operands.js';

type Reduce = 'Sum' | 'Prod' | 'Mean' | 'Max' | 'Min' | 'All' | 'Any';

/** What a reduction is told. */
interface Plan {
  readonly axes: readonly number[];
  readonly keepDims: boolean;
}

const planOf = (layer: Layer, call: Call, x: Output): Plan => {
  const axis = setting(layer, call, 'axis', 1);
  const isAll = axis === null || axis === undefined;
  return {
    axes: isAll ? range(0, layer.rank(x)) : wholeNumbers(layer, axis),
    keepDims: setting(layer, call, 'keepdims', 2) === true,
  };
};

const reduce = (layer: Layer, type: Reduce, x: Output, { axes, keepDims }: Plan): Output =>
  layer.op(type, [x, layer.constant(axes, 'int32')], { keep_dims: keepDims });

/** Small integers and truth values are added in 32 bits. */
const summedType = (dtype: DType): DType =>
  /^(bool|int(8|16))$/.test(dtype) ? 'int32' : /^uint(8|16)$/.test(dtype) ? 'uint32' : dtype;

const total =
  (type: 'Sum' | 'Prod'): LayerFunction =>
  (layer, call) => {
    const { input } = call;
    /* A product for which a dtype is set has that of its input: Keras forgets the setting. */
    const isAsItIs = isTensorFlows(layer) || layer.config.has('dtype');
    const x = isAsItIs ? input : layer.cast(input, summedType(input.dtype));
    return reduce(layer, type, x, planOf(layer, call, input));
  };

/** Keras computes means of integers and of half numbers in float32. */
const mean: LayerFunction = (layer, call) => {
  const { input } = call;
  const plan = planOf(layer, call, input);
  if (isTensorFlows(layer) || /^(float64|complex)/.test(input.dtype))
    return reduce(layer, 'Mean', input, plan);
  const result = reduce(layer, 'Mean', layer.cast(input, 'float32'), plan);
  return isFloat(input) ? layer.cast(result, input.dtype) : result;
};

const truth =
  (type: 'All' | 'Any'): LayerFunction =>
  (layer, call) =>
    reduce(layer, type, layer.cast(call.input, 'bool'), planOf(layer, call, call.input));

/** `initial` takes part like one more element. */
const extreme =
  (type: 'Max' | 'Min'): LayerFunction =>
  (layer, call) => {
    const { input } = call;
    const isBool = input.dtype === 'bool';
    const logical = type === 'Max' ? 'Any' : 'All';
    const result = reduce(layer, isBool ? logical : type, input, planOf(layer, call, input));
    const initial = isTensorFlows(layer) ? undefined : setting(layer, call, 'initial', 3);
    if (initial === undefined || initial === null) return result;
    const other = outputOf(layer, operand(layer, initial), isBool ? 'int32' : input.dtype);
    const both = layer.op(`${type}imum`, [isBool ? layer.cast(result, 'int32') : result, other]);
    return layer.cast(both, input.dtype);
  };

function variance(layer: Layer, x: Output, plan: Plan): Output {
  const middle = reduce(layer, 'Mean', x, { ...plan, keepDims: true });
  return reduce(layer, 'Mean', layer.op('Square', [layer.sub(x, middle)]), plan);
}

/** The largest value is subtracted before, so that no power overflows; an infinite one stays. */
const logSumExp: LayerFunction = (layer, call) => {
  const x = call.input;
  const plan = planOf(layer, call, x);
  const most = reduce(layer, 'Max', x, { ...plan, keepDims: true });
  const isFinite = layer.op('IsFinite', [most]);
  const shift = layer.op('StopGradient', [
    layer.op('SelectV2', [isFinite, most, layer.op('ZerosLike', [most])]),
  ]);
  const sums = reduce(layer, 'Sum', layer.op('Exp', [layer.sub(x, shift)]), { ...plan, keepDims: true });
  const result = layer.add(layer.op('Log', [sums]), shift);
  return plan.keepDims ? result : layer.op('Squeeze', [result], { squeeze_dims: [...plan.axes] });
};

const place =
  (type: 'ArgMax' | 'ArgMin'): LayerFunction =>
  (layer, call) => {
    const { input } = call;
    const axis = setting(layer, call, 'axis', 1);
    const rank = layer.rank(input);
    const isAll = axis === null || axis === undefined;
    const x = isAll ? layer.reshape(input, [-1]) : input;
    const at = isAll ? 0 : wholeNumber(layer, axis);
    const found = layer.op(type, [x, layer.constant(at, 'int32')], { output_type: 'int32' });
    if (setting(layer, call, 'keepdims', 2) !== true) return found;
    return isAll ? layer.reshape(found, Array<number>(rank).fill(1)) : layer.expand(found, at);
  };

/** The norm of vectors: the root of a sum of powers, or a limit of that. */
function vectorNorm(layer: Layer, x: Output, order: number, plan: Plan): Output {
  const size = layer.op('Abs', [x]);
  if (order === Infinity) return reduce(layer, 'Max', size, plan);
  if (order === -Infinity) return reduce(layer, 'Min', size, plan);
  if (order === 1) return reduce(layer, 'Sum', size, plan);
  if (order === 2) return layer.op('Sqrt', [reduce(layer, 'Sum', layer.op('Square', [x]), plan)]);
  if (order === 0) {
    const isThere = layer.op('NotEqual', [x, layer.constant(0, x.dtype)]);
    return reduce(layer, 'Sum', layer.cast(isThere, x.dtype), plan);
  }
  const sum = reduce(layer, 'Sum', layer.op('Pow', [size, layer.constant(order, x.dtype)]), plan);
  return layer.op('Pow', [sum, layer.constant(1 / order, x.dtype)]);
}

/** Of a matrix, 1 and infinity are the extremes of the sums of its columns and rows. */
function matrixNorm(layer: Layer, x: Output, order: number, { axes, keepDims }: Plan): Output {
  const rank = layer.rank(x);
  const [row, column] = axes.map((axis) => (axis + rank) % rank) as [number, number];
  const isOfRows = Math.abs(order) === Infinity;
  if (!isOfRows && Math.abs(order) !== 1)
    throw layer.refuse(`the norm of order ${order} of matrices is not supported`);
  const [first, second] = isOfRows ? [column, row] : [row, column];
  const sums = reduce(layer, 'Sum', layer.op('Abs', [x]), { axes: [first], keepDims: true });
  const result = reduce(layer, order > 0 ? 'Max' : 'Min', sums, { axes: [second], keepDims: true });
  return keepDims ? result : layer.op('Squeeze', [result], { squeeze_dims: [row, column] });
}

const norm: LayerFunction = (layer, call) => {
  const x = inFloat(layer, call.input);
  const plan = planOf(layer, call, x);
  const order = layer.config.value('ord');
  if (order === undefined || order === 'fro') return vectorNorm(layer, x, 2, plan);
  if (typeof order !== 'number') throw layer.refuse(`the norm '${String(order)}' is not supported`);
  if (plan.axes.length > 2) throw layer.refuse('a norm with an order has one or two axes');
  return plan.axes.length === 2 ? matrixNorm(layer, x, order, plan) : vectorNorm(layer, x, order, plan);
};

export const REDUCTIONS: Readonly<Record<string, LayerFunction>> = {
  All: truth('All'),
  Any: truth('Any'),
  Argmax: place('ArgMax'),
  Argmin: place('ArgMin'),
  Logsumexp: logSumExp,
  Max: extreme('Max'),
  Mean: mean,
  Min: extreme('Min'),
  Norm: norm,
  Prod: total('Prod'),
  Std: (layer, call) => {
    const x = inFloat(layer, call.input);
    return layer.op('Sqrt', [variance(layer, x, planOf(layer, call, x))]);
  },
  Sum: total('Sum'),
  Var: (layer, call) => {
    const { input } = call;
    const isHalf = input.dtype === 'float16' || input.dtype === 'bfloat16';
    const x = isHalf ? layer.cast(input, 'float32') : inFloat(layer, input);
    const result = variance(layer, x, planOf(layer, call, x));
    return isHalf ? layer.cast(result, input.dtype) : result;
  },
};
