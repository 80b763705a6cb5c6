/** Functions of keras.ops and of TensorFlow that a model calls: each is a layer in the model's description. */
import type { Output } from '../../graph/operation.js';
import { DType, dtypeOf } from '../../tensor/dtypes.js';
import { activate, elu, gelu, leakyRelu, softmax } from '../activations.js';
import { Call, Layer, LayerFunction, Result, isTensor, unmasked } from '../layer.js';
import { isFloat } from '../ops.js';
import { Constant } from '../python-json.js';
import {
  Operand,
  alike,
  inFloat,
  isTensorFlows,
  listedOperands,
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
import { REARRANGEMENTS } from './rearrangements.js';
import { REDUCTIONS } from './reductions.js';
import { sliced } from './slicing.js';

const binary =
  (type: string): LayerFunction =>
  (layer, call) =>
    layer.op(type, alike(layer, twoOperands(layer, call)));
/** Keras makes tensors of both operands before it compares them. */
const comparison =
  (type: string): LayerFunction =>
  (layer, call) => {
    const operands = twoOperands(layer, call);
    return layer.op(type, alike(layer, isTensorFlows(layer) ? operands : operands.map(settled)));
  };
const logical =
  (type: string): LayerFunction =>
  (layer, call) =>
    layer.op(
      type,
      twoOperands(layer, call).map((x) => layer.cast(ownOutput(layer, x), 'bool')),
    );
const unary =
  (type: string): LayerFunction =>
  (layer, { input }) =>
    layer.op(type, [input]);
/** A function of integers too, which takes them as floating-point. */
const inFloats =
  (type: string): LayerFunction =>
  (layer, { input }) =>
    layer.op(type, [inFloat(layer, input)]);

const logarithm =
  (base: number): LayerFunction =>
  (layer, { input }) => {
    const x = inFloat(layer, input);
    const scale = layer.op('Log', [layer.constant(base, x.dtype)]);
    return layer.op('RealDiv', [layer.op('Log', [x]), scale]);
  };

/** The quotient of integers is of float32, but TensorFlow's of wide ones of float64. */
const quotient: LayerFunction = (layer, call) => {
  const operands = twoOperands(layer, call);
  const isWide = isTensorFlows(layer) && /int(32|64)/.test(promoted(operands));
  return layer.op('RealDiv', alike(layer, operands, isWide ? 'float64' : 'float'));
};

/** Powers of unsigned integers go through int32. */
const power: LayerFunction = (layer, call) => {
  const operands = alike(layer, twoOperands(layer, call));
  const { dtype } = operands[0]!;
  if (!dtype.startsWith('uint')) return layer.op('Pow', operands);
  const result = layer.op(
    'Pow',
    operands.map((x) => layer.cast(x, 'int32')),
  );
  return layer.cast(result, dtype);
};

/** The dtype in which products of matrices are computed, and that of the result. */
function productDTypes(a: Operand, b: Operand): { computed: DType; result: DType } {
  const result = promoted([settled(a), settled(b)]);
  if (!/^(bool|u?int(8|16)|uint(32|64))$/.test(result)) return { computed: result, result };
  const isBoth8 = promoted([a]) === 'int8' && promoted([b]) === 'int8';
  return { computed: 'int32', result: isBoth8 ? 'int32' : result };
}

/** A vector is a row at the left and a column at the right; the dimension that it lacks is not in the result. */
const matmul: LayerFunction = (layer, call) => {
  const operands = twoOperands(layer, call);
  const { computed, result } = productDTypes(...operands);
  const [a, b] = operands.map((x) => outputOf(layer, x, computed)) as [Output, Output];
  const [isRow, isColumn] = [layer.rank(a) === 1, layer.rank(b) === 1];
  const { transpose_a: swapA, adjoint_a: adjointA, transpose_b: swapB, adjoint_b: adjointB } = call.kwargs;
  let product = layer.op(
    'BatchMatMulV2',
    [isRow ? layer.expand(a, 0) : a, isColumn ? layer.expand(b, -1) : b],
    { adj_x: swapA === true || adjointA === true, adj_y: swapB === true || adjointB === true },
  );
  if (isRow) product = layer.squeeze(product, isColumn ? -2 : layer.rank(b) - 2);
  if (isColumn) product = layer.squeeze(product, -1);
  return layer.cast(product, result);
};

/** 'float32', or as Keras 2 writes it "<dtype: 'float32'>". */
const dtypeSetting = (layer: Layer, call: Call): DType =>
  dtypeOf(String(setting(layer, call, 'dtype', 1)).replace(/^<dtype: '(.*)'>$/, '$1') as DType);

const likeWith =
  (type: 'ZerosLike' | 'OnesLike'): LayerFunction =>
  (layer, call) => {
    const dtype = setting(layer, call, 'dtype', 1);
    const result = layer.op(type, [call.input]);
    return typeof dtype === 'string' ? layer.cast(result, dtypeOf(dtype as DType)) : result;
  };

const concatenate: LayerFunction = (layer, call) => {
  const operands = listedOperands(layer, call.args[0] ?? call.kwargs.xs ?? call.kwargs.values);
  const values = alike(layer, isTensorFlows(layer) ? operands : operands.map(settled));
  return layer.concat(values, wholeNumber(layer, setting(layer, call, 'axis', 1) ?? 0));
};

/** A function along one axis, or along all of them if that is null. */
const along =
  (of: (layer: Layer, x: Output, axis: number) => Output): LayerFunction =>
  (layer, call) => {
    const x = call.input;
    const axis = setting(layer, call, 'axis', 1);
    if (axis !== undefined || layer.config.json.axis !== null)
      return of(layer, x, wholeNumber(layer, axis ?? -1));
    return layer.reshape(of(layer, layer.reshape(x, [-1]), 0), layer.sizes(x));
  };

const logSoftmax = (layer: Layer, x: Output, axis: number): Output => {
  const rank = layer.rank(x);
  const place = (axis + rank) % rank;
  return layer.swap(layer.op('LogSoftmax', [layer.swap(x, place, rank - 1)]), place, rank - 1);
};

/** Numbers among the settings, which are absent if they have their usual values. */
const numberSetting = (layer: Layer, call: Call, name: string, otherwise: number): number => {
  const value = setting(layer, call, name, 1) ?? call.kwargs.alpha ?? otherwise;
  const number = value instanceof Constant ? value.value : value;
  if (typeof number !== 'number') throw layer.refuse(`${name} must be a number`);
  return number;
};

/** To so many decimals; rounding to tens or hundreds makes numbers smaller before it. */
const round: LayerFunction = (layer, call) => {
  const x = call.input;
  const decimals = isTensorFlows(layer) ? 0 : wholeNumber(layer, setting(layer, call, 'decimals', 1) ?? 0);
  if (decimals === 0) return layer.op('Round', [x]);
  if (!isFloat(x) && decimals > 0) return x;
  const values = inFloat(layer, x);
  const factor = layer.constant(10 ** decimals, values.dtype);
  const rounded = layer.op('Round', [layer.op('Mul', [values, factor])]);
  return layer.cast(layer.op('RealDiv', [rounded, factor]), x.dtype);
};

const squeeze: LayerFunction = (layer, call) => {
  const axis = setting(layer, call, 'axis', 1) ?? call.kwargs.squeeze_dims ?? [];
  return layer.op('Squeeze', [call.input], { squeeze_dims: wholeNumbers(layer, axis) });
};

/** The axes are those of the result. */
const expandDims: LayerFunction = (layer, call) => {
  const axes = wholeNumbers(layer, setting(layer, call, 'axis', 1));
  const rank = layer.rank(call.input) + axes.length;
  const places = axes.map((axis) => (axis < 0 ? axis + rank : axis)).sort((a, b) => a - b);
  return places.reduce((x, place) => layer.expand(x, place), call.input);
};

const clip: LayerFunction = (layer, call) => {
  const x = call.input.dtype === 'bool' ? layer.cast(call.input, 'int32') : call.input;
  const [low, high] = (['x_min', 'x_max'] as const).map((name, i) => {
    const value = setting(layer, call, name, i + 1) ?? call.kwargs[`clip_value_${name.slice(2)}`];
    return outputOf(layer, operand(layer, value), x.dtype);
  }) as [Output, Output];
  return layer.op('Minimum', [layer.op('Maximum', [x, low]), high]);
};

const where: LayerFunction = (layer, call) => {
  const { kwargs } = call;
  const condition = ownOutput(layer, operand(layer, call.argument('condition', 0)));
  const values = [call.argument('x1', 1) ?? kwargs.x, call.argument('x2', 2) ?? kwargs.y];
  const both = alike(
    layer,
    values.map((value) => operand(layer, value)),
  );
  return layer.op('SelectV2', [layer.cast(condition, 'bool'), ...both]);
};

const absolute: LayerFunction = (layer, { input }) =>
  /^(uint|bool)/.test(input.dtype) ? input : layer.op('Abs', [input]);

/** log(exp(a) + exp(b)) without an overflow. The difference of equal infinities is not a number: then, their sum. */
const logAddExp: LayerFunction = (layer, call) => {
  const [a, b] = alike(layer, twoOperands(layer, call).map(settled), 'float') as [Output, Output];
  const delta = layer.sub(a, b);
  const rest = layer.op('Log1p', [layer.op('Exp', [layer.op('Neg', [layer.op('Abs', [delta])])])]);
  const sum = layer.add(layer.op('Maximum', [a, b]), rest);
  return layer.op('SelectV2', [layer.op('IsNan', [delta]), layer.add(a, b), sum]);
};

const OPERATIONS: Readonly<Record<string, LayerFunction>> = {
  ...REARRANGEMENTS,
  ...REDUCTIONS,
  Absolute: absolute,
  Abs: absolute,
  Add: binary('AddV2'),
  Arccos: inFloats('Acos'),
  Arcsin: inFloats('Asin'),
  Arctan: inFloats('Atan'),
  Arctan2: (layer, call) => layer.op('Atan2', alike(layer, twoOperands(layer, call).map(settled), 'float')),
  Cast: (layer, call) => layer.cast(call.input, dtypeSetting(layer, call)),
  Ceil: inFloats('Ceil'),
  Clip: clip,
  Concatenate: concatenate,
  /* Beside the conversions in a program, what Keras makes of the mask of an attention. */
  ConvertToTensor: (layer, call) => {
    const dtype = setting(layer, call, 'dtype', 1);
    return typeof dtype === 'string' ? layer.cast(call.input, dtypeOf(dtype as DType)) : call.input;
  },
  Cos: inFloats('Cos'),
  Cosh: inFloats('Cosh'),
  Divide: quotient,
  Elu: (layer, call) => elu(layer, call.input, numberSetting(layer, call, 'alpha', 1)),
  Equal: comparison('Equal'),
  Erf: unary('Erf'),
  Exp: inFloats('Exp'),
  ExpandDims: expandDims,
  Expm1: inFloats('Expm1'),
  Floor: inFloats('Floor'),
  FloorDivide: binary('FloorDiv'),
  Gelu: (layer, call) =>
    gelu(layer, call.input, (setting(layer, call, 'approximate', 1) ?? !isTensorFlows(layer)) === true),
  GetItem: sliced,
  Greater: comparison('Greater'),
  GreaterEqual: comparison('GreaterEqual'),
  LeakyRelu: (layer, call) => leakyRelu(layer, call.input, numberSetting(layer, call, 'negative_slope', 0.2)),
  Isfinite: inFloats('IsFinite'),
  Isinf: inFloats('IsInf'),
  Isnan: inFloats('IsNan'),
  Less: comparison('Less'),
  LessEqual: comparison('LessEqual'),
  Log: inFloats('Log'),
  Log1p: inFloats('Log1p'),
  Logaddexp: logAddExp,
  Log10: logarithm(10),
  Log2: logarithm(2),
  LogicalAnd: logical('LogicalAnd'),
  LogicalNot: (layer, { input }) => layer.op('LogicalNot', [layer.cast(input, 'bool')]),
  LogicalOr: logical('LogicalOr'),
  LogicalXor: logical('NotEqual'),
  LogSoftmax: along(logSoftmax),
  Matmul: matmul,
  Maximum: binary('Maximum'),
  Minimum: binary('Minimum'),
  Mod: (layer, call) => {
    const operands = twoOperands(layer, call);
    return layer.op(
      'FloorMod',
      alike(layer, operands, ...(promoted(operands) === 'bool' ? ['int' as const] : [])),
    );
  },
  Multiply: binary('Mul'),
  Negative: unary('Neg'),
  NotEqual: comparison('NotEqual'),
  OnesLike: likeWith('OnesLike'),
  Power: power,
  Reciprocal: unary('Reciprocal'),
  Relu: unary('Relu'),
  Relu6: unary('Relu6'),
  Reshape: (layer, call) =>
    layer.reshape(call.input, wholeNumbers(layer, setting(layer, call, 'newshape', 1) ?? call.kwargs.shape)),
  Round: round,
  Rsqrt: unary('Rsqrt'),
  Sigmoid: unary('Sigmoid'),
  Sign: (layer, { input }) => {
    const signed = input.dtype.startsWith('uint') ? layer.cast(input, 'int32') : input;
    return layer.cast(layer.op('Sign', [signed]), input.dtype);
  },
  Silu: (layer, { input }) => layer.mul(input, layer.op('Sigmoid', [input])),
  Sin: inFloats('Sin'),
  Sinh: inFloats('Sinh'),
  Softmax: along(softmax),
  Softplus: unary('Softplus'),
  Sqrt: inFloats('Sqrt'),
  Square: (layer, { input }) =>
    layer.op('Square', [input.dtype === 'bool' ? layer.cast(input, 'int32') : input]),
  Squeeze: squeeze,
  Stack: (layer, call) => {
    const values = alike(layer, listedOperands(layer, call.args[0] ?? call.kwargs.x ?? call.kwargs.values));
    return layer.op('Pack', [values], { axis: wholeNumber(layer, setting(layer, call, 'axis', 1) ?? 0) });
  },
  Subtract: binary('Sub'),
  Tan: inFloats('Tan'),
  Tanh: inFloats('Tanh'),
  TrueDivide: quotient,
  Where: where,
  ZerosLike: likeWith('ZerosLike'),
};

/** Functions that are activations too. */
const ACTIVATIONS: Readonly<Record<string, string>> = {
  HardSigmoid: 'hard_sigmoid',
  HardSilu: 'hard_silu',
  HardTanh: 'hard_tanh',
  LogSigmoid: 'log_sigmoid',
  Mish: 'mish',
  Selu: 'selu',
  Softsign: 'softsign',
  SparsePlus: 'sparse_plus',
  SparseSigmoid: 'sparse_sigmoid',
  TanhShrink: 'tanh_shrink',
};

/** TensorFlow's functions in models of Keras 2, by the names that these have. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  '__operators__.add': 'Add',
  '__operators__.getitem': 'GetItem',
  cast: 'Cast',
  clip_by_value: 'Clip',
  concat: 'Concatenate',
  expand_dims: 'ExpandDims',
  floor_div: 'FloorDivide',
  'linalg.matmul': 'Matmul',
  'math.abs': 'Abs',
  'math.add': 'Add',
  'math.ceil': 'Ceil',
  'math.cos': 'Cos',
  'math.divide': 'Divide',
  'math.equal': 'Equal',
  'math.exp': 'Exp',
  'math.floor': 'Floor',
  'math.floordiv': 'FloorDivide',
  'math.floormod': 'Mod',
  'math.greater': 'Greater',
  'math.greater_equal': 'GreaterEqual',
  'math.less': 'Less',
  'math.less_equal': 'LessEqual',
  'math.log': 'Log',
  'math.logical_and': 'LogicalAnd',
  'math.logical_not': 'LogicalNot',
  'math.logical_or': 'LogicalOr',
  'math.maximum': 'Maximum',
  'math.minimum': 'Minimum',
  'math.multiply': 'Multiply',
  'math.negative': 'Negative',
  'math.not_equal': 'NotEqual',
  'math.pow': 'Power',
  'math.reduce_all': 'All',
  'math.reduce_any': 'Any',
  'math.reduce_max': 'Max',
  'math.reduce_mean': 'Mean',
  'math.reduce_min': 'Min',
  'math.reduce_prod': 'Prod',
  'math.reduce_sum': 'Sum',
  'math.round': 'Round',
  'math.rsqrt': 'Rsqrt',
  'math.sigmoid': 'Sigmoid',
  'math.sign': 'Sign',
  'math.sin': 'Sin',
  'math.softplus': 'Softplus',
  'math.sqrt': 'Sqrt',
  'math.square': 'Square',
  'math.subtract': 'Subtract',
  'math.tanh': 'Tanh',
  'math.truediv': 'TrueDivide',
  'nn.elu': 'Elu',
  'nn.gelu': 'Gelu',
  'nn.leaky_relu': 'LeakyRelu',
  'nn.log_softmax': 'LogSoftmax',
  'nn.relu': 'Relu',
  'nn.relu6': 'Relu6',
  'nn.selu': 'Selu',
  'nn.silu': 'Silu',
  'nn.softmax': 'Softmax',
  'nn.softplus': 'Softplus',
  'nn.tanh': 'Tanh',
  reshape: 'Reshape',
  squeeze: 'Squeeze',
  stack: 'Stack',
  transpose: 'Transpose',
  where: 'Where',
};

/** One value, or those of an operation that has several. */
const withoutMask = (result: Result): Result =>
  Array.isArray(result) || isTensor(result) ? result : unmasked(result as Output);

const asLayer =
  (use: LayerFunction): LayerFunction =>
  (layer, call) =>
    withoutMask(use(layer, call));
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
