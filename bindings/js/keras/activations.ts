/** The functions of keras.activations. */
import { isPlainObject } from '../base/arguments.js';
import { UnimplementedError } from '../base/errors.js';
import type { Output } from '../graph/operation.js';
import { objectOr } from '../base/json.js';
import { Json } from './json.js';
import type { Layer } from './layer.js';

type Activation = (l: Layer, x: Output) => Output;

/** Limits values to an interval. */
export const clip = (l: Layer, x: Output, low: number, high: number): Output =>
  l.op('Minimum', [l.op('Maximum', [x, low]), high]);

/** A function that is 0 between -threshold and threshold. */
const shrink = (l: Layer, x: Output, threshold: number, moved: boolean): Output => {
  const isBeyond = l.op('Greater', [l.op('Abs', [x]), threshold]);
  const value = moved ? l.sub(x, l.mul(l.op('Sign', [x]), threshold)) : x;
  return l.op('SelectV2', [isBeyond, value, l.op('ZerosLike', [x])]);
};

export const elu = (l: Layer, x: Output, alpha: number): Output =>
  alpha === 1
    ? l.op('Elu', [x])
    : l.op('SelectV2', [l.op('Greater', [x, 0]), x, l.mul(l.op('Elu', [x]), alpha)]);

export const leakyRelu = (l: Layer, x: Output, slope: number): Output =>
  l.op('LeakyRelu', [x], { alpha: slope });

/** x above the threshold, at most `most`; below it the slope times the distance. */
export function relu(
  l: Layer,
  x: Output,
  { slope = 0, most, threshold = 0 }: { slope?: number; most?: number | undefined; threshold?: number },
): Output {
  if (threshold === 0 && most === undefined) return slope === 0 ? l.op('Relu', [x]) : leakyRelu(l, x, slope);
  if (threshold === 0 && slope === 0 && most === 6) return l.op('Relu6', [x]);
  const above = most === undefined ? x : l.op('Minimum', [x, most]);
  /* At the threshold itself, value and derivative are 0. */
  const below =
    slope === 0
      ? l.op('ZerosLike', [x])
      : l.mul(l.op('Relu', [l.op('Sub', [l.constant(threshold, x.dtype), x])]), -slope);
  return l.op('SelectV2', [l.op('Greater', [x, threshold]), above, below]);
}

/** Over one axis, which need not be the last one. */
export function softmax(l: Layer, x: Output, axis = -1): Output {
  const rank = l.rank(x);
  const place = (axis + rank) % rank;
  const isLast = place === rank - 1;
  const moved = isLast ? x : l.swap(x, place, rank - 1);
  const result = l.op('Softmax', [moved]);
  return isLast ? result : l.swap(result, place, rank - 1);
}

export const gelu = (l: Layer, x: Output, approximate: boolean): Output => {
  if (!approximate) return l.mul(l.mul(x, 0.5), l.add(l.op('Erf', [l.mul(x, Math.SQRT1_2)]), 1));
  const cube = l.mul(l.op('Mul', [l.op('Square', [x]), x]), 0.044715);
  return l.mul(l.mul(x, 0.5), l.add(l.op('Tanh', [l.mul(l.add(x, cube), Math.sqrt(2 / Math.PI))]), 1));
};

const hardSigmoid: Activation = (l, x) =>
  l.model.isKeras3 ? l.mul(l.op('Relu6', [l.add(x, 3)]), 1 / 6) : clip(l, l.add(l.mul(x, 0.2), 0.5), 0, 1);
const hardSilu: Activation = (l, x) => l.mul(x, l.mul(l.op('Relu6', [l.add(x, 3)]), 1 / 6));
const silu: Activation = (l, x) => l.mul(x, l.op('Sigmoid', [x]));
const logSoftmax: Activation = (l, x) => l.op('LogSoftmax', [x]);

/** Sparsemax as Keras computes it: the threshold is that of the sum of all partial sums. */
const sparsemax: Activation = (l, x) => {
  const count = l.known(x, -1);
  const [sorted] = l.outputs('TopKV2', [x, count]) as [Output];
  const sums = l.op('Cumsum', [sorted, -1]);
  const numbers = l.constant(
    Float32Array.from({ length: count }, (_, i) => i + 1),
    x.dtype,
  );
  const isSupport = l.op('Greater', [l.add(l.mul(sorted, numbers), 1), sums]);
  const size = l.reduce('Sum', l.cast(isSupport, x.dtype), [-1], true);
  const sum = l.reduce('Sum', l.mul(sums, l.cast(isSupport, x.dtype)), [-1], true);
  return l.op('Relu', [l.sub(x, l.div(l.sub(sum, 1), size))]);
};

const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  linear: (_, x) => x,
  relu: (l, x) => l.op('Relu', [x]),
  relu6: (l, x) => l.op('Relu6', [x]),
  leaky_relu: (l, x) => leakyRelu(l, x, 0.2),
  elu: (l, x) => l.op('Elu', [x]),
  selu: (l, x) => l.op('Selu', [x]),
  /* Not Elu: at 0, where both parts begin, Keras' derivative is 2. */
  celu: (l, x) => l.add(l.op('Maximum', [x, 0]), l.op('Expm1', [l.op('Minimum', [x, 0])])),
  softmax: (l, x) => softmax(l, x),
  log_softmax: logSoftmax,
  softplus: (l, x) => l.op('Softplus', [x]),
  softsign: (l, x) => l.op('Softsign', [x]),
  sigmoid: (l, x) => l.op('Sigmoid', [x]),
  log_sigmoid: (l, x) => l.op('Neg', [l.op('Softplus', [l.op('Neg', [x])])]),
  hard_sigmoid: hardSigmoid,
  silu,
  swish: silu,
  hard_silu: hardSilu,
  hard_swish: hardSilu,
  tanh: (l, x) => l.op('Tanh', [x]),
  tanh_shrink: (l, x) => l.sub(x, l.op('Tanh', [x])),
  hard_tanh: (l, x) => clip(l, x, -1, 1),
  soft_shrink: (l, x) => shrink(l, x, 0.5, true),
  hard_shrink: (l, x) => shrink(l, x, 0.5, false),
  gelu: (l, x) => gelu(l, x, false),
  exponential: (l, x) => l.op('Exp', [x]),
  exp: (l, x) => l.op('Exp', [x]),
  mish: (l, x) => l.mul(x, l.op('Tanh', [l.op('Softplus', [x])])),
  glu: (l, x) => {
    const [values, gates] = l.split(x, 2, -1) as [Output, Output];
    return l.mul(values, l.op('Sigmoid', [gates]));
  },
  squareplus: (l, x) => l.mul(l.add(x, l.op('Sqrt', [l.add(l.op('Square', [x]), 4)])), 0.5),
  sparse_plus: (l, x) => {
    const middle = l.mul(l.op('Square', [l.add(x, 1)]), 0.25);
    const upper = l.op('SelectV2', [l.op('Less', [x, 1]), middle, x]);
    return l.op('SelectV2', [l.op('LessEqual', [x, -1]), l.op('ZerosLike', [x]), upper]);
  },
  sparse_sigmoid: (l, x) => clip(l, l.mul(l.add(x, 1), 0.5), 0, 1),
  sparsemax,
};

/** The name of an activation: its own, or that in a description { class_name, config }. */
function nameOf(described: unknown): string {
  if (described === null || described === undefined) return 'linear';
  if (typeof described === 'string') return described;
  const { class_name: className, config } = objectOr(described);
  return typeof config === 'string' ? config : String(className);
}

/** Activations that are layers have a description of their own. */
const isLayer = (described: unknown): described is Json =>
  isPlainObject(described) && isPlainObject(described.config);

/** Applies the activation that `described` names. */
export function activate(l: Layer, x: Output, described: unknown): Output {
  const name = nameOf(described);
  const found = Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name] : undefined;
  if (found) return found(l, x);
  if (isLayer(described)) return l.child('activation', described).apply(x);
  throw new UnimplementedError(`layer ${l.name}: activation '${name}' is not known`);
}
