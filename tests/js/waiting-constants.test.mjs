// A constant that waits for a branch that is not taken is dead, and so are the nodes that read it. That holds for constants
// that the optimizer makes a part of other nodes, too.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';

const CONVOLUTION = { strides: [1, 1, 1, 1], padding: 'VALID' };

const filled = (length, first = 0.5) => Array.from({ length }, (_, i) => first + i / 8);

/**
 * What networks compute from `x`, of shape [2, 6, 6, 4]. `add` adds a node and gives its first output; `c` adds a constant, and `ints`
 * one of integers.
 */
const PATTERNS = {
  'a factor of one': ({ add, c }, x) => add('Mul', [x, c(1)]),
  'a term of zero': ({ add, c }, x) => add('AddV2', [c(0), x]),
  'a divisor': ({ add, c }, x) => add('RealDiv', [x, c(3)]),
  'a chain of numbers': ({ add, c }, x) => add('Neg', [add('AddV2', [add('Mul', [x, c(2)]), c(3)])]),
  'GELU by erf': ({ add, c }, x) => {
    const error = add('Erf', [add('Mul', [x, c(Math.SQRT1_2)])]);
    return add('Mul', [add('Mul', [x, c(0.5)]), add('AddV2', [error, c(1)])]);
  },
  'GELU by tanh': ({ add, c }, x) => {
    const cube = add('Mul', [add('Pow', [x, c(3)]), c(0.044715)]);
    const tanh = add('Tanh', [add('Mul', [add('AddV2', [x, cube]), c(Math.sqrt(2 / Math.PI))])]);
    return add('Mul', [add('Mul', [x, c(0.5)]), add('AddV2', [tanh, c(1)])]);
  },
  'a sum of constants': ({ add, c }, x) => add('Mul', [x, add('AddV2', [c(2), c(3)])]),
  'equal products': ({ add, c }, x) => add('AddV2', [add('Mul', [x, c(2)]), add('Mul', [x, c(2)])]),
  'a convolution and what follows it': ({ add, c, ints }, x) => {
    const padded = add('Pad', [x, ints([0, 0, 1, 1, 1, 1, 0, 0], [4, 2])]);
    const y = add('Conv2D', [padded, c(filled(108), [3, 3, 4, 3])], CONVOLUTION);
    return add('Relu', [add('AddV2', [add('Mul', [y, c(filled(3))]), c(filled(3))])]);
  },
  'a convolution and its bias': ({ add, c }, x) => {
    const y = add('Conv2D', [x, c(filled(12), [1, 1, 4, 3])], CONVOLUTION);
    return add('Relu6', [add('BiasAdd', [y, c(filled(3))])]);
  },
  'batch norm': ({ add, c }, x) => {
    const y = add('Conv2D', [x, c(filled(12), [1, 1, 4, 3])], CONVOLUTION);
    const values = [1, 2, 3, 4].map((first) => c(filled(3, first)));
    return add('FusedBatchNormV3', [y, ...values], { is_training: false });
  },
  'a dilated convolution': ({ add, c, ints }, x) => {
    const split = add('SpaceToBatchND', [x, ints([2, 2]), ints([2, 2, 2, 2], [2, 2])]);
    const y = add('Conv2D', [split, c(filled(144), [3, 3, 4, 4])], CONVOLUTION);
    return add('BatchToSpaceND', [y, ints([2, 2]), ints([0, 0, 0, 0], [2, 2])]);
  },
  'a convolution of one axis': ({ add, c, ints }, x) => {
    const wide = add('ExpandDims', [add('Reshape', [x, ints([2, 36, 4])]), ints(1, [])]);
    const y = add('Conv2D', [wide, c(filled(36), [1, 3, 4, 3])], CONVOLUTION);
    return add('BiasAdd', [add('Squeeze', [y], { squeeze_dims: [1] }), c(filled(3))]);
  },
  'parts by Split': ({ all, add, ints }, x) => {
    const [a, b] = all('Split', [ints(3, []), x], { num_split: 2 });
    return add('Mul', [add('Tanh', [a]), add('Sigmoid', [b])]);
  },
  'parts by SplitV': ({ all, add, ints }, x) => {
    const [a, b] = all('SplitV', [x, ints([2, 2]), ints(3, [])], { num_split: 2 });
    return add('Mul', [add('Tanh', [a]), add('Sigmoid', [b])]);
  },
  'parts by Slice': ({ add, ints }, x) => {
    const part = (k) => add('Slice', [x, ints([0, 0, 0, k]), ints([2, 6, 6, 2])]);
    return add('Mul', [add('Tanh', [part(0)]), add('Sigmoid', [part(2)])]);
  },
  'parts by StridedSlice': ({ add, ints }, x) => {
    const part = (k) =>
      add('StridedSlice', [x, ints([0, 0, 0, k]), ints([2, 6, 6, k + 2]), ints([1, 1, 1, 1])]);
    return add('Mul', [add('Tanh', [part(0)]), add('Sigmoid', [part(2)])]);
  },
  'layer norm': ({ add, c, ints }, x) => {
    const rows = add('Reshape', [x, ints([4, 72])]);
    const mean = (y) => add('Mean', [y, ints([-1])], { keep_dims: true });
    const centered = add('Sub', [rows, mean(rows)]);
    const variance = add('AddV2', [mean(add('Square', [centered])), c(1e-3)]);
    const y = add('Mul', [add('Mul', [centered, add('Rsqrt', [variance])]), c(filled(72))]);
    return add('AddV2', [y, c(filled(72))]);
  },
  'a product of many rows': ({ add, c }, x) => {
    const y = add('BatchMatMulV2', [x, c(filled(20), [4, 5])]);
    return add('Relu', [add('AddV2', [y, c(filled(5))])]);
  },
  'a product of reshaped rows': ({ add, c, ints }, x) => {
    const y = add('MatMul', [add('Reshape', [x, ints([-1, 4])]), c(filled(20), [4, 5])]);
    return add('Relu', [add('BiasAdd', [add('Reshape', [y, ints([2, 6, 6, 5])]), c(filled(5))])]);
  },
  'a leading axis of one': ({ add, c, ints }, x) => {
    const wide = add('Reshape', [x, ints([1, 2, 6, 6, 4])]);
    return add('Reshape', [add('Mul', [wide, c(2)]), ints([2, 6, 6, 4])]);
  },
  'a choice': ({ add, c, truth }, x) => add('SelectV2', [truth(), add('Mul', [x, c(2)]), add('Neg', [x])]),
  'a chosen constant': ({ add, c }, x) => add('Neg', [add('SelectV2', [add('Greater', [x, c(1)]), x, c(0)])]),
  'a transposition': ({ add, ints }, x) => add('Neg', [add('Transpose', [x, ints([0, 1, 2, 3])])]),
  'a tile of one': ({ add, ints }, x) => add('Neg', [add('Tile', [x, ints([1, 1, 1, 1])])]),
  'the same shape': ({ add, ints }, x) => add('Neg', [add('Reshape', [x, ints([2, 6, 6, 4])])]),
  'a broadcast to the same shape': ({ add, ints }, x) =>
    add('Neg', [add('BroadcastTo', [x, ints([2, 6, 6, 4])])]),
  'a list': ({ all, add, c }, x) => add('Mul', all('IdentityN', [[x, c(2)]])),
};

/** A graph with the pattern. Its constant number `waiting` waits for the branch that is taken when `p` is false. */
function build(tf, pattern, waiting) {
  const graph = new tf.Graph();
  const all = (op, inputs, attrs) => graph.op(op, inputs, { attrs }).outputs;
  const add = (...node) => all(...node)[0];
  const x = graph.placeholder('float32', [2, 6, 6, 4]);
  const p = graph.placeholder('bool', []);
  const branch = add('Identity', [add('Switch', [p, p])]).operation;
  let count = 0;
  const constant = (dtype) => (data, shape) => {
    const value = tf.tensor(data, shape, dtype);
    const controlInputs = count++ === waiting ? [branch] : [];
    return graph.op('Const', [], { attrs: { dtype, value }, controlInputs }).outputs[0];
  };
  const [c, ints, truth] = ['float32', 'int32', 'bool'].map(constant);
  const y = pattern({ all, add, c, ints, truth: () => truth(true) }, x);
  return { graph, x, p, y, count };
}

describe('a constant that waits for a branch', () => {
  let tf;
  before(async () => (tf = await engine()));

  for (const [name, pattern] of Object.entries(PATTERNS)) {
    it(`is dead with it: ${name}`, async () => {
      const all = build(tf, pattern, -1);
      const feed = (p) =>
        new Map([
          [p.x, tf.tensor(filled(288, -9), [2, 6, 6, 4])],
          [p.p, tf.tensor(false)],
        ]);
      const session = new tf.Session(all.graph);
      const expected = await session.run(all.y, feed(all));
      await session.close();
      for (let waiting = 0; waiting < all.count; waiting++) {
        const part = build(tf, pattern, waiting);
        for (const optimize of [true, false]) {
          const where = `constant ${waiting}, optimize: ${optimize}`;
          const own = new tf.Session(part.graph, { optimize });
          const feeds = feed(part);
          const y = await own.run(part.y, feeds);
          y.data.forEach((value, i) => {
            const difference = Math.abs(value - expected.data[i]);
            assert.ok(
              difference <= 1e-5 * (1 + Math.abs(value)),
              `${where}: ${value} for ${expected.data[i]}`,
            );
          });
          feeds.set(part.p, tf.tensor(true));
          await assert.rejects(own.run(part.y, feeds), { name: 'InvalidArgumentError' }, where);
          await own.close();
        }
        part.graph.dispose();
      }
      all.graph.dispose();
    });
  }
});
