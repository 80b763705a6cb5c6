/** Functions of keras.ops and of TensorFlow that a model calls: each is a layer in the model's description. */
import type { Output } from '../../graph/operation.js';
import { activate, softmax } from '../activations.js';
import { DType, dtypeOf } from '../../tensor/dtypes.js';
import { Argument, Call, Layer, LayerFunction, isTensor, tensorsIn, unmasked } from '../layer.js';
import { isFloat, range } from '../ops.js';
import { sliced } from './slicing.js';

/** An argument of an operation: of the call, or a setting. */
const setting = (layer: Layer, call: Call, name: string, place: number): Argument | undefined =>
  call.argument(name, place) ?? (layer.config.value(name) as Argument | undefined);

/** A value, or a constant that combines with values of `like`. */
function operand(layer: Layer, value: Argument | undefined, like: Output | undefined): Output {
  if (isTensor(value)) return value.output;
  const numbers = (Array.isArray(value) ? value.flat(Infinity) : [value]) as number[];
  if (!numbers.every((item) => typeof item === 'number' || typeof item === 'boolean'))
    throw layer.refuse('an argument is neither a value of the model nor a number');
  const isWhole = numbers.every((item) => Number.isInteger(Number(item)));
  const dtype: DType = like && (isFloat(like) || isWhole) ? like.dtype : isWhole ? 'int32' : 'float32';
  return layer.constant(numbers.map(Number), dtype, Array.isArray(value) ? [numbers.length] : []);
}

/** Both in one dtype: that of the floating-point one. */
function alike(layer: Layer, a: Output, b: Output): [Output, Output] {
  if (a.dtype === b.dtype) return [a, b];
  return isFloat(a) && !isFloat(b) ? [a, layer.cast(b, a.dtype)] : [layer.cast(a, b.dtype), b];
}

function twoOperands(layer: Layer, call: Call): [Output, Output] {
  const [first, second] = [call.argument('x1', 0) ?? call.kwargs.x, call.argument('x2', 1) ?? call.kwargs.y];
  const like = [first, second].find(isTensor)?.output;
  return alike(layer, operand(layer, first, like), operand(layer, second, like));
}

const binary =
  (type: string): LayerFunction =>
  (layer, call) =>
    layer.op(type, twoOperands(layer, call));
const logical =
  (type: string): LayerFunction =>
  (layer, call) =>
    layer.op(
      type,
      twoOperands(layer, call).map((x) => layer.cast(x, 'bool')),
    );
const unary =
  (type: string): LayerFunction =>
  (layer, { input }) =>
    layer.op(type, [input]);

const axesOf = (layer: Layer, call: Call, rank: number): number[] => {
  const axis = setting(layer, call, 'axis', 1);
  if (axis === null || axis === undefined) return range(0, rank);
  return Array.isArray(axis) ? (axis as number[]) : [axis as number];
};

const reduction =
  (type: 'Sum' | 'Mean' | 'Max' | 'All' | 'Any', alsoMin = false): LayerFunction =>
  (layer, call) => {
    const x = type === 'All' || type === 'Any' ? layer.cast(call.input, 'bool') : call.input;
    const axes = layer.constant(axesOf(layer, call, layer.rank(x)), 'int32');
    return layer.op(alsoMin ? 'Min' : type, [x, axes], {
      keep_dims: setting(layer, call, 'keepdims', 2) === true,
    });
  };

/** 'float32', or as Keras 2 writes it "<dtype: 'float32'>". */
const dtypeSetting = (layer: Layer, call: Call): DType =>
  dtypeOf(String(setting(layer, call, 'dtype', 1)).replace(/^<dtype: '(.*)'>$/, '$1') as DType);

const wholeNumber = (layer: Layer, value: Argument | undefined): number => {
  if (typeof value !== 'number') throw layer.refuse('its axis must be a whole number');
  return value;
};

const numbers = (layer: Layer, value: Argument | undefined): number[] => {
  const list = typeof value === 'number' ? [value] : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'number'))
    throw layer.refuse('an argument must be whole numbers');
  return list as number[];
};

const likeWith =
  (type: 'ZerosLike' | 'OnesLike'): LayerFunction =>
  (layer, call) => {
    const dtype = setting(layer, call, 'dtype', 1);
    const result = layer.op(type, [call.input]);
    return typeof dtype === 'string' ? layer.cast(result, dtypeOf(dtype as DType)) : result;
  };

const concatenate: LayerFunction = (layer, call) =>
  layer.concat(
    tensorsIn(call.args[0] ?? call.kwargs.xs).map(({ output }) => output),
    wholeNumber(layer, setting(layer, call, 'axis', 1) ?? 0),
  );

const OPERATIONS: Readonly<Record<string, LayerFunction>> = {
  Absolute: unary('Abs'),
  Abs: unary('Abs'),
  Add: binary('AddV2'),
  All: reduction('All'),
  Any: reduction('Any'),
  Cast: (layer, call) => layer.cast(call.input, dtypeSetting(layer, call)),
  Ceil: unary('Ceil'),
  Clip: (layer, call) => {
    const [low, high] = (['x_min', 'x_max'] as const).map((name, i) => {
      const value = setting(layer, call, name, i + 1) ?? call.kwargs[`clip_value_${name.slice(2)}`];
      return operand(layer, value, call.input);
    }) as [Output, Output];
    return layer.op('Minimum', [layer.op('Maximum', [call.input, low]), high]);
  },
  Concatenate: concatenate,
  Cos: unary('Cos'),
  Divide: binary('RealDiv'),
  Equal: binary('Equal'),
  Erf: unary('Erf'),
  Exp: unary('Exp'),
  ExpandDims: (layer, call) => layer.expand(call.input, wholeNumber(layer, setting(layer, call, 'axis', 1))),
  Floor: unary('Floor'),
  GetItem: sliced,
  Greater: binary('Greater'),
  GreaterEqual: binary('GreaterEqual'),
  Less: binary('Less'),
  LessEqual: binary('LessEqual'),
  Log: unary('Log'),
  LogicalAnd: logical('LogicalAnd'),
  LogicalNot: (layer, { input }) => layer.op('LogicalNot', [layer.cast(input, 'bool')]),
  LogicalOr: logical('LogicalOr'),
  Matmul: binary('BatchMatMulV2'),
  Max: reduction('Max'),
  Maximum: binary('Maximum'),
  Mean: reduction('Mean'),
  Min: reduction('Max', true),
  Minimum: binary('Minimum'),
  Multiply: binary('Mul'),
  Negative: unary('Neg'),
  NotEqual: binary('NotEqual'),
  OnesLike: likeWith('OnesLike'),
  Power: binary('Pow'),
  Reciprocal: unary('Reciprocal'),
  Relu: unary('Relu'),
  Relu6: unary('Relu6'),
  Reshape: (layer, call) =>
    layer.reshape(call.input, numbers(layer, setting(layer, call, 'newshape', 1) ?? call.kwargs.shape)),
  Round: unary('Round'),
  Rsqrt: unary('Rsqrt'),
  Sigmoid: unary('Sigmoid'),
  Sign: unary('Sign'),
  Silu: (layer, { input }) => layer.mul(input, layer.op('Sigmoid', [input])),
  Sin: unary('Sin'),
  Softmax: (layer, call) =>
    softmax(layer, call.input, wholeNumber(layer, setting(layer, call, 'axis', 1) ?? -1)),
  Softplus: unary('Softplus'),
  Sqrt: unary('Sqrt'),
  Square: unary('Square'),
  Squeeze: (layer, call) => layer.squeeze(call.input, wholeNumber(layer, setting(layer, call, 'axis', 1))),
  Stack: (layer, call) =>
    layer.op('Pack', [tensorsIn(call.args[0]).map(({ output }) => output)], {
      axis: wholeNumber(layer, setting(layer, call, 'axis', 1) ?? 0),
    }),
  Subtract: binary('Sub'),
  Sum: reduction('Sum'),
  Tanh: unary('Tanh'),
  Transpose: (layer, call) => {
    const axes = setting(layer, call, 'axes', 1) ?? call.kwargs.perm;
    return layer.transpose(
      call.input,
      axes === undefined || axes === null ? range(0, layer.rank(call.input)).reverse() : numbers(layer, axes),
    );
  },
  TrueDivide: binary('RealDiv'),
  Where: (layer, call) => {
    const [condition, a, b] = ['condition', 'x1', 'x2'].map((name, i) => call.argument(name, i));
    const like = [a, b].find(isTensor)?.output;
    const [x, y] = alike(layer, operand(layer, a, like), operand(layer, b, like));
    return layer.op('SelectV2', [layer.cast(operand(layer, condition, undefined), 'bool'), x, y]);
  },
  ZerosLike: likeWith('ZerosLike'),
};

/** Functions that are activations too. */
const ACTIVATIONS: Readonly<Record<string, string>> = {
  Elu: 'elu',
  Gelu: 'gelu',
  HardSigmoid: 'hard_sigmoid',
  HardSilu: 'hard_silu',
  LeakyRelu: 'leaky_relu',
  LogSigmoid: 'log_sigmoid',
  LogSoftmax: 'log_softmax',
  Mish: 'mish',
  Selu: 'selu',
  Softsign: 'softsign',
};

/** TensorFlow's functions in models of Keras 2, by the names that these have. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  '__operators__.add': 'Add',
  '__operators__.getitem': 'GetItem',
  cast: 'Cast',
  clip_by_value: 'Clip',
  concat: 'Concatenate',
  expand_dims: 'ExpandDims',
  'math.abs': 'Abs',
  'math.add': 'Add',
  'math.divide': 'Divide',
  'math.exp': 'Exp',
  'math.log': 'Log',
  'math.maximum': 'Maximum',
  'math.minimum': 'Minimum',
  'math.multiply': 'Multiply',
  'math.negative': 'Negative',
  'math.pow': 'Power',
  'math.reduce_max': 'Max',
  'math.reduce_mean': 'Mean',
  'math.reduce_min': 'Min',
  'math.reduce_sum': 'Sum',
  'math.rsqrt': 'Rsqrt',
  'math.sigmoid': 'Sigmoid',
  'math.sqrt': 'Sqrt',
  'math.square': 'Square',
  'math.subtract': 'Subtract',
  'math.tanh': 'Tanh',
  'math.truediv': 'TrueDivide',
  'nn.relu': 'Relu',
  'nn.relu6': 'Relu6',
  'nn.silu': 'Silu',
  'nn.softmax': 'Softmax',
  'nn.tanh': 'Tanh',
  reshape: 'Reshape',
  squeeze: 'Squeeze',
  stack: 'Stack',
  transpose: 'Transpose',
};

const asLayer =
  (use: LayerFunction): LayerFunction =>
  (layer, call) =>
    unmasked(use(layer, call) as Output);
const ALL: Readonly<Record<string, LayerFunction>> = {
  ...OPERATIONS,
  ...Object.fromEntries(
    Object.entries(ACTIVATIONS).map(([name, activation]): [string, LayerFunction] => [
      name,
      (layer, { input }) => activate(layer, input, activation),
    ]),
  ),
};

/** By the names that architecture.ts gives to operations. */
export const OPERATION_LAYERS: Readonly<Record<string, LayerFunction>> = Object.fromEntries([
  ...Object.entries(ALL).map(([name, use]) => [`ops.${name}`, asLayer(use)] as const),
  ...Object.entries(FUNCTIONS).map(([name, own]) => [`tf.${name}`, asLayer(ALL[own]!)] as const),
]);
