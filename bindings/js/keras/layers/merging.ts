/** Layers that combine several inputs. */
import type { Output } from '../../graph/operation.js';
import type { Call, KerasTensor, Layer, LayerFunction } from '../layer.js';
import { range } from '../ops.js';

/** Values of fewer dimensions get dimensions of size 1 behind the batch. */
function sameRank(layer: Layer, list: readonly Output[]): Output[] {
  const most = Math.max(...list.map((x) => layer.rank(x)));
  return list.map((x) => {
    const missing = most - layer.rank(x);
    if (missing === 0) return x;
    const [batch, ...sizes] = layer.sizes(x);
    return layer.reshape(x, [batch!, ...range(0, missing).map(() => 1), ...sizes]);
  });
}

/** An element counts if it does in any of the inputs, or, as in Keras 2, in all of them. */
function mergedMask(layer: Layer, call: Call): Output | undefined {
  const masks = call.inputs.map(({ mask }) => mask);
  if (masks.some((mask) => mask === undefined)) return undefined;
  const op = layer.model.isKeras3 ? 'LogicalOr' : 'LogicalAnd';
  return (masks as Output[]).reduce((a, b) => layer.op(op, [a, b]));
}

/** What the inputs give together, after they got the same number of dimensions. */
type Combine = (layer: Layer, list: readonly Output[], call: Call) => Output;

const merging =
  (combine: Combine): LayerFunction =>
  (layer, call): KerasTensor => {
    const list = sameRank(
      layer,
      call.inputs.map(({ output }) => output),
    );
    if (list.length === 0) throw layer.refuse('it has no inputs');
    return { output: combine(layer, list, call), mask: mergedMask(layer, call) };
  };

const pairwise = (op: string): LayerFunction =>
  merging((layer, list) => list.reduce((a, b) => layer.op(op, [a, b])));

/**
 * The masks by which Keras 3 replaces values, [..., 1]. An input that gets further dimensions has none, because
 * Keras loses it there.
 */
function valueMasks(layer: Layer, call: Call): (Output | undefined)[] {
  const most = Math.max(...call.inputs.map(({ output }) => layer.rank(output)));
  return call.inputs.map(({ output, mask }) =>
    mask && layer.model.isKeras3 && layer.rank(output) === most
      ? layer.expand(layer.cast(mask, 'bool'), -1)
      : undefined,
  );
}

const either = (layer: Layer, a: Output | undefined, b: Output | undefined): Output | undefined =>
  a && b && layer.op('LogicalOr', [a, b]);

/** In Keras 3, an element that does not count is 1; if it counts in none of the inputs, the product is 0. */
const multiply = merging((layer, list, call) => {
  const masks = valueMasks(layer, call);
  const factors = list.map((x, i) =>
    masks[i] ? layer.op('SelectV2', [masks[i], x, layer.constant(1, x.dtype)]) : x,
  );
  const product = factors.reduce((a, b) => layer.op('Mul', [a, b]));
  const all = masks.reduce((a, b) => either(layer, a, b));
  return all ? layer.op('SelectV2', [all, product, layer.constant(0, product.dtype)]) : product;
});

/** In Keras 3, an element that does not count has the value of the other side. */
const extremum = (op: string): LayerFunction =>
  merging((layer, list, call) => {
    const masks = valueMasks(layer, call);
    let [result, counts] = [list[0]!, masks[0]];
    for (const [i, x] of list.entries()) {
      if (i === 0) continue;
      const mask = masks[i];
      const right = mask ? layer.op('SelectV2', [mask, x, result]) : x;
      const left = counts ? layer.op('SelectV2', [counts, result, right]) : result;
      counts = either(layer, counts, mask);
      result = layer.op(op, [left, right]);
    }
    return result;
  });

const average = merging((layer, list) =>
  layer.div(
    list.reduce((a, b) => layer.add(a, b)),
    list.length,
  ),
);

/** Inputs without a mask count wholly. */
function concatenatedMask(layer: Layer, call: Call, axis: number): Output | undefined {
  const { inputs } = call;
  if (inputs.every(({ mask }) => !mask)) return undefined;
  const rank = layer.rank(inputs[0]!.output);
  const masks = inputs.map(({ output, mask }) => {
    const whole = layer.cast(layer.op('OnesLike', [output]), 'bool');
    if (!mask) return whole;
    const missing = rank - layer.rank(mask);
    const wide = range(0, missing).reduce((x) => layer.expand(x, -1), mask);
    return layer.op('LogicalAnd', [whole, wide]);
  });
  return layer.reduce('All', layer.concat(masks, axis), [-1]);
}

const concatenate: LayerFunction = (layer, call) => {
  const axis = layer.config.int('axis', -1);
  const list = call.inputs.map(({ output }) => output);
  return { output: layer.concat(list, axis), mask: concatenatedMask(layer, call, axis) };
};

/** The product of two inputs along one axis of each. */
const dot: LayerFunction = (layer, call) => {
  const inputs = call.inputs.map(({ output }) => output);
  if (inputs.length !== 2) throw layer.refuse(`it needs 2 inputs, not ${inputs.length}`);
  const axes = layer.config.ints('axes', 2);
  const unit = (x: Output, axis: number): Output => {
    const square = layer.reduce('Sum', layer.op('Square', [x]), [axis], true);
    return layer.mul(x, layer.op('Rsqrt', [layer.op('Maximum', [square, 1e-12])]));
  };
  const [a, b] = inputs.map((x, i) => (layer.config.bool('normalize', false) ? unit(x, axes[i]!) : x)) as [
    Output,
    Output,
  ];
  const places = axes.map((axis, i) => (axis < 0 ? axis + layer.rank(inputs[i]!) : axis)) as [number, number];
  return { output: batchDot(layer, a, b, places) };
};

/** Each becomes a batch of matrices; dimensions that are not summed stay in their order. */
function batchDot(layer: Layer, a: Output, b: Output, [axisA, axisB]: [number, number]): Output {
  const [rankA, rankB] = [layer.rank(a), layer.rank(b)];
  const restOf = (rank: number, axis: number): number[] => range(1, rank).filter((i) => i !== axis);
  const [restA, restB] = [restOf(rankA, axisA), restOf(rankB, axisB)];
  const [sizesA, sizesB] = [layer.sizes(a), layer.sizes(b)];
  const [keptA, keptB] = [restA.map((i) => sizesA[i]!), restB.map((i) => sizesB[i]!)];
  const batch = sizesA[0]!;
  const left = layer.reshape(layer.transpose(a, [0, ...restA, axisA]), [
    batch,
    layer.product(keptA),
    sizesA[axisA]!,
  ]);
  const right = layer.reshape(layer.transpose(b, [0, axisB, ...restB]), [
    batch,
    sizesB[axisB]!,
    layer.product(keptB),
  ]);
  const product = layer.op('BatchMatMulV2', [left, right]);
  const kept = [...keptA, ...keptB];
  return layer.reshape(product, [batch, ...(kept.length > 0 ? kept : [1])]);
}

export const MERGING: Readonly<Record<string, LayerFunction>> = {
  Add: pairwise('AddV2'),
  Average: average,
  Concatenate: concatenate,
  Dot: dot,
  Maximum: extremum('Maximum'),
  Minimum: extremum('Minimum'),
  Multiply: multiply,
  Subtract: pairwise('Sub'),
};
