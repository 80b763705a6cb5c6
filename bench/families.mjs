// At least one row for each family of ops, each at two sizes: one where the overhead of a step dominates, and
// one where the kernel does. Products, convolutions and other image ops have their own rows (bench/cases.mjs,
// bench/conv.mjs).
import { booleans, floats, indices, opCase } from './single-op.mjs';

const SMALL = [8, 16];
const LARGE = [1000, 1000];
/** Logits: many short rows. */
const NARROW = [10_000, 10];

const titleOf = (shape) => shape.join('x');
const ints = (...values) => ({ data: Int32Array.from(values), shape: [values.length], dtype: 'int32' });
const int = (value) => ({ data: Int32Array.of(value), shape: [], dtype: 'int32' });
const tensors = (shapes, change) => shapes.map((shape, i) => floats(shape, 20 + i, change));

/**
 * One op at several sizes: its inputs and constants follow in the order of the op; the peer gets its tensors.
 */
function row(name, group, op, { values, constants = [], attrs, peerOp, flops }) {
  return opCase({
    name,
    group,
    values,
    constants,
    flops,
    peerOp: (tfjs, given) => peerOp(tfjs, ...given),
    ourOp: (graph, variables, others) => graph.op(op, [...variables, ...others], { attrs }).output(0),
  });
}

const inBothSizes = (make) => [SMALL, LARGE].map(make);

const unary = (op, peerName, change) =>
  inBothSizes((shape) =>
    row(`${op}, ${titleOf(shape)}`, 'unary', op, {
      values: tensors([shape], change),
      peerOp: (tfjs, x) => tfjs[peerName](x),
    }),
  );

/** Two inputs of one shape; one with a row for each row; one scalar. */
const binary = (op, peerName, change) =>
  inBothSizes(([rows, columns]) =>
    [
      [[rows, columns], ''],
      [[columns], ', one row'],
      [[rows, 1], ', one column'],
      [[], ', a number'],
    ].map(([other, title]) =>
      row(`${op}, ${rows}x${columns}${title}`, 'binary', op, {
        values: tensors([[rows, columns], other], change),
        peerOp: (tfjs, x, y) => tfjs[peerName](x, y),
      }),
    ),
  ).flat();

const plainBinary = (op, peerName, change) =>
  inBothSizes((shape) =>
    row(`${op}, ${titleOf(shape)}`, 'binary', op, {
      values: tensors([shape, shape], change),
      peerOp: (tfjs, x, y) => tfjs[peerName](x, y),
    }),
  );

const select = inBothSizes((shape) =>
  row(`SelectV2, ${titleOf(shape)}`, 'select', 'SelectV2', {
    values: [booleans(shape), ...tensors([shape, shape])],
    peerOp: (tfjs, condition, x, y) => tfjs.where(condition, x, y),
  }),
);

const logical = inBothSizes((shape) =>
  row(`LogicalAnd, ${titleOf(shape)}`, 'select', 'LogicalAnd', {
    values: [booleans(shape, 3), booleans(shape, 4)],
    peerOp: (tfjs, x, y) => tfjs.logicalAnd(x, y),
  }),
);

const reduction = (op, peerName) =>
  inBothSizes((shape) =>
    [
      ['rows', [1]],
      ['columns', [0]],
      ['all', [0, 1]],
    ].map(([title, axes]) =>
      row(`${op} of ${title}, ${titleOf(shape)}`, 'reduction', op, {
        values: tensors([shape]),
        constants: [ints(...axes)],
        peerOp: (tfjs, x) => tfjs[peerName](x, axes),
      }),
    ),
  ).flat();

const imageMeans = row('Mean of pixels, 1x7x7x1024', 'reduction', 'Mean', {
  values: tensors([[1, 7, 7, 1024]]),
  constants: [ints(1, 2)],
  peerOp: (tfjs, x) => tfjs.mean(x, [1, 2]),
});

const argMax = inBothSizes((shape) =>
  [1, 0].map((axis) =>
    row(`ArgMax of ${axis ? 'rows' : 'columns'}, ${titleOf(shape)}`, 'reduction', 'ArgMax', {
      values: tensors([shape]),
      constants: [int(axis)],
      attrs: { output_type: 'int32' },
      peerOp: (tfjs, x) => tfjs.argMax(x, axis),
    }),
  ),
).flat();

const softmax = ['Softmax', 'LogSoftmax'].flatMap((op) =>
  [SMALL, [1, 1000], LARGE].map((shape) =>
    row(`${op}, ${titleOf(shape)}`, 'softmax', op, {
      values: tensors([shape]),
      peerOp: (tfjs, x) => (op === 'Softmax' ? tfjs.softmax(x) : tfjs.logSoftmax(x)),
    }),
  ),
);

const crossEntropy = row(
  'SoftmaxCrossEntropyWithLogits, 1000x1000',
  'softmax',
  'SoftmaxCrossEntropyWithLogits',
  {
    values: [floats([1000, 1000], 20), floats([1000, 1000], 21, (x) => (x + 1) / 1000)],
    peerOp(tfjs, x, labels) {
      const logs = tfjs.logSoftmax(x);
      const parts = tfjs.mul(labels, logs);
      const sum = tfjs.sum(parts, 1);
      return [tfjs.neg(sum), logs, parts, sum];
    },
  },
);

const cumulative = inBothSizes((shape) =>
  [1, 0].map((axis) =>
    row(`Cumsum along ${axis ? 'rows' : 'columns'}, ${titleOf(shape)}`, 'reduction', 'Cumsum', {
      values: tensors([shape]),
      constants: [int(axis)],
      peerOp: (tfjs, x) => tfjs.cumsum(x, axis),
    }),
  ),
).flat();

const batchMatMul = [
  [2, 8, 8, 8],
  [8, 128, 64, 128],
  [64, 32, 32, 32],
].map(([batch, m, k, n]) =>
  row(`BatchMatMulV2, ${batch} of ${m}x${k} by ${k}x${n}`, 'batch matmul', 'BatchMatMulV2', {
    values: tensors([
      [batch, m, k],
      [batch, k, n],
    ]),
    flops: 2 * batch * m * k * n,
    peerOp: (tfjs, x, y) => tfjs.matMul(x, y),
  }),
);

/** Layers of classifiers with the weights of a frozen graph: one row and many. */
const dense = [
  [1, 784, 128],
  [1, 1024, 1000],
  [32, 784, 128],
  [32, 128, 10],
].map(([m, k, n]) =>
  opCase({
    name: `MatMul by a layer, ${m}x${k} by ${k}x${n}`,
    group: 'dense',
    values: tensors([[m, k]]),
    constants: [floats([k, n], 21)],
    flops: 2 * m * k * n,
    ourOp: (graph, [x], [layer]) => graph.matMul(x, layer),
    peerOp: (tfjs, [x], [layer]) => tfjs.matMul(x, layer),
  }),
);

const transpose = [
  [
    [8, 16],
    [1, 0],
  ],
  [
    [1000, 1000],
    [1, 0],
  ],
  [
    [1, 8, 8, 4],
    [0, 3, 1, 2],
  ],
  [
    [1, 112, 112, 64],
    [0, 3, 1, 2],
  ],
  [
    [1, 64, 112, 112],
    [0, 2, 3, 1],
  ],
  [
    [1, 224, 224, 3],
    [0, 3, 1, 2],
  ],
  [
    [8, 128, 8, 64],
    [0, 2, 1, 3],
  ],
].map(([shape, order]) =>
  row(`Transpose ${order.join('')}, ${titleOf(shape)}`, 'moves', 'Transpose', {
    values: tensors([shape]),
    constants: [ints(...order)],
    peerOp: (tfjs, x) => tfjs.transpose(x, order),
  }),
);

const gather = [
  [[16, 8], 0, 4],
  [[10_000, 64], 0, 1000],
  [[1000, 1000], 1, 500],
  [[1_000_000], 0, 100_000],
].map(([shape, axis, count]) =>
  row(`GatherV2 of ${count} along ${axis}, ${titleOf(shape)}`, 'moves', 'GatherV2', {
    values: [floats(shape), indices([count], shape[axis])],
    constants: [int(axis)],
    peerOp: (tfjs, x, at) => tfjs.gather(x, at, axis),
  }),
);

const concat = [
  [[8, 16], 0],
  [[8, 16], 1],
  [[500, 1000], 0],
  [[1000, 500], 1],
  [[1, 56, 56, 64], 3],
].map(([shape, axis]) =>
  row(`ConcatV2 along ${axis}, two ${titleOf(shape)}`, 'moves', 'ConcatV2', {
    values: [[0, 1].map((seed) => floats(shape, seed))],
    constants: [int(axis)],
    peerOp: (tfjs, both) => tfjs.concat(both, axis),
  }),
);

const slice = [
  [
    [8, 16],
    [1, 2],
    [4, 8],
  ],
  [
    [1000, 1000],
    [100, 100],
    [800, 800],
  ],
  [
    [1, 112, 112, 64],
    [0, 8, 8, 0],
    [1, 96, 96, 64],
  ],
].map(([shape, from, size]) =>
  row(`Slice of ${titleOf(size)}, ${titleOf(shape)}`, 'moves', 'Slice', {
    values: tensors([shape]),
    constants: [ints(...from), ints(...size)],
    peerOp: (tfjs, x) => tfjs.slice(x, from, size),
  }),
);

const stridedSlice = [
  [
    [8, 16],
    [1, 2],
    [7, 14],
    [2, 3],
  ],
  [
    [1000, 1000],
    [0, 0],
    [1000, 1000],
    [2, 2],
  ],
  [
    [1000, 1000],
    [0, 100],
    [1000, 900],
    [2, 1],
  ],
].map(([shape, from, to, steps]) =>
  row(`StridedSlice by ${titleOf(steps)}, ${titleOf(shape)}`, 'moves', 'StridedSlice', {
    values: tensors([shape]),
    constants: [ints(...from), ints(...to), ints(...steps)],
    peerOp: (tfjs, x) => tfjs.stridedSlice(x, from, to, steps),
  }),
);

const paddingsOf = (edges) => ({
  data: Int32Array.from(edges.flat()),
  shape: [edges.length, 2],
  dtype: 'int32',
});
const pad = [
  [
    [8, 16],
    [
      [1, 1],
      [2, 2],
    ],
  ],
  [
    [1000, 1000],
    [
      [3, 3],
      [5, 5],
    ],
  ],
  [
    [1, 112, 112, 64],
    [
      [0, 0],
      [1, 1],
      [1, 1],
      [0, 0],
    ],
  ],
].flatMap(([shape, edges]) => [
  row(`Pad, ${titleOf(shape)}`, 'moves', 'Pad', {
    values: tensors([shape]),
    constants: [paddingsOf(edges)],
    peerOp: (tfjs, x) => tfjs.pad(x, edges),
  }),
  row(`MirrorPad, ${titleOf(shape)}`, 'moves', 'MirrorPad', {
    values: tensors([shape]),
    constants: [paddingsOf(edges)],
    attrs: { mode: 'REFLECT' },
    peerOp: (tfjs, x) => tfjs.mirrorPad(x, edges, 'reflect'),
  }),
]);

const tile = [
  [
    [8, 16],
    [2, 2],
  ],
  [
    [500, 500],
    [2, 2],
  ],
  [
    [1000, 1],
    [1, 1000],
  ],
].map(([shape, multiples]) =>
  row(`Tile by ${titleOf(multiples)}, ${titleOf(shape)}`, 'moves', 'Tile', {
    values: tensors([shape]),
    constants: [ints(...multiples)],
    peerOp: (tfjs, x) => tfjs.tile(x, multiples),
  }),
);

const reverse = inBothSizes((shape) =>
  [1, 0].map((axis) =>
    row(`ReverseV2 along ${axis}, ${titleOf(shape)}`, 'moves', 'ReverseV2', {
      values: tensors([shape]),
      constants: [ints(axis)],
      peerOp: (tfjs, x) => tfjs.reverse(x, axis),
    }),
  ),
).flat();

const pack = inBothSizes((shape) =>
  row(`Pack of two ${titleOf(shape)}`, 'moves', 'Pack', {
    values: [tensors([shape, shape])],
    attrs: { axis: 0 },
    peerOp: (tfjs, both) => tfjs.stack(both, 0),
  }),
);

const split = inBothSizes((shape) =>
  opCase({
    name: `Split in two along 1, ${titleOf(shape)}`,
    group: 'moves',
    values: tensors([shape]),
    ourOp: (graph, [x]) =>
      graph.op('Split', [graph.constant(1, { dtype: 'int32' }), x], { attrs: { num_split: 2 } }).output(0),
    peerOp: (tfjs, [x]) => tfjs.split(x, 2, 1),
  }),
);

const oneHot = [
  [16, 10],
  [10_000, 100],
].map(([count, depth]) =>
  row(`OneHot of ${depth}, ${count}`, 'moves', 'OneHot', {
    values: [indices([count], depth)],
    constants: [
      int(depth),
      { ...floats([]), data: Float32Array.of(1) },
      { ...floats([]), data: Float32Array.of(0) },
    ],
    peerOp: (tfjs, at) => tfjs.oneHot(at, depth),
  }),
);

const topK = [
  [[4, 32], 3],
  [[1, 1000], 5],
  [[1000, 1000], 5],
  [[10, 100_000], 100],
].map(([shape, k]) =>
  row(`TopKV2 of ${k}, ${titleOf(shape)}`, 'top', 'TopKV2', {
    values: tensors([shape]),
    constants: [int(k)],
    peerOp: (tfjs, x) => Object.values(tfjs.topk(x, k)),
  }),
);

const casts = inBothSizes((shape) => [
  row(`Cast float to int32, ${titleOf(shape)}`, 'cast', 'Cast', {
    values: tensors([shape], (x) => 100 * x),
    attrs: { DstT: 'int32' },
    peerOp: (tfjs, x) => tfjs.cast(x, 'int32'),
  }),
  row(`Cast int32 to float, ${titleOf(shape)}`, 'cast', 'Cast', {
    values: [indices(shape, 1000)],
    attrs: { DstT: 'float32' },
    peerOp: (tfjs, x) => tfjs.cast(x, 'float32'),
  }),
  row(`Cast bool to float, ${titleOf(shape)}`, 'cast', 'Cast', {
    values: [booleans(shape)],
    attrs: { DstT: 'float32' },
    peerOp: (tfjs, x) => tfjs.cast(x, 'float32'),
  }),
]).flat();

const addN = inBothSizes((shape) =>
  row(`AddN of four ${titleOf(shape)}`, 'binary', 'AddN', {
    values: [[0, 1, 2, 3].map((seed) => floats(shape, seed))],
    peerOp: (tfjs, all) => tfjs.addN(all),
  }),
);

const narrow = [
  ...[
    ['one row', [10]],
    ['one column', [10_000, 1]],
  ].map(([title, other]) =>
    row(`AddV2, ${titleOf(NARROW)}, ${title}`, 'narrow', 'AddV2', {
      values: tensors([NARROW, other]),
      peerOp: (tfjs, x, y) => tfjs.add(x, y),
    }),
  ),
  row(`BiasAdd, ${titleOf(NARROW)}`, 'narrow', 'BiasAdd', {
    values: tensors([NARROW, [10]]),
    peerOp: (tfjs, x, y) => tfjs.add(x, y),
  }),
  ...[
    ['Sum', 'sum'],
    ['Max', 'max'],
  ].flatMap(([op, peerName]) =>
    [
      ['rows', 1],
      ['columns', 0],
    ].map(([title, axis]) =>
      row(`${op} of ${title}, ${titleOf(NARROW)}`, 'narrow', op, {
        values: tensors([NARROW]),
        constants: [ints(axis)],
        peerOp: (tfjs, x) => tfjs[peerName](x, axis),
      }),
    ),
  ),
  row(`ArgMax of rows, ${titleOf(NARROW)}`, 'narrow', 'ArgMax', {
    values: tensors([NARROW]),
    constants: [int(1)],
    attrs: { output_type: 'int32' },
    peerOp: (tfjs, x) => tfjs.argMax(x, 1),
  }),
  row(`Softmax, ${titleOf(NARROW)}`, 'narrow', 'Softmax', {
    values: tensors([NARROW]),
    peerOp: (tfjs, x) => tfjs.softmax(x),
  }),
  row(`LogSoftmax, ${titleOf(NARROW)}`, 'narrow', 'LogSoftmax', {
    values: tensors([NARROW]),
    peerOp: (tfjs, x) => tfjs.logSoftmax(x),
  }),
  row(`Transpose 10, ${titleOf(NARROW)}`, 'narrow', 'Transpose', {
    values: tensors([NARROW]),
    constants: [ints(1, 0)],
    peerOp: (tfjs, x) => tfjs.transpose(x, [1, 0]),
  }),
  row(`ConcatV2 along 1, two ${titleOf(NARROW)}`, 'narrow', 'ConcatV2', {
    values: [tensors([NARROW, NARROW])],
    constants: [int(1)],
    peerOp: (tfjs, both) => tfjs.concat(both, 1),
  }),
  row(`Slice of 10000x5, ${titleOf(NARROW)}`, 'narrow', 'Slice', {
    values: tensors([NARROW]),
    constants: [ints(0, 2), ints(10_000, 5)],
    peerOp: (tfjs, x) => tfjs.slice(x, [0, 2], [10_000, 5]),
  }),
  row(`Pad, ${titleOf(NARROW)}`, 'narrow', 'Pad', {
    values: tensors([NARROW]),
    constants: [{ data: Int32Array.of(0, 0, 1, 1), shape: [2, 2], dtype: 'int32' }],
    peerOp: (tfjs, x) =>
      tfjs.pad(x, [
        [0, 0],
        [1, 1],
      ]),
  }),
  row(`GatherV2 of 5000 along 0, ${titleOf(NARROW)}`, 'narrow', 'GatherV2', {
    values: [floats(NARROW), indices([5000], 10_000)],
    constants: [int(0)],
    peerOp: (tfjs, x, at) => tfjs.gather(x, at, 0),
  }),
  row(`MatMul by 10x10, ${titleOf(NARROW)}`, 'narrow', 'MatMul', {
    values: tensors([NARROW, [10, 10]]),
    flops: 2 * 10_000 * 10 * 10,
    peerOp: (tfjs, x, y) => tfjs.matMul(x, y),
  }),
  row(`SelectV2, ${titleOf(NARROW)}`, 'narrow', 'SelectV2', {
    values: [booleans([10_000, 1]), ...tensors([NARROW, NARROW])],
    peerOp: (tfjs, c, x, y) => tfjs.where(c, x, y),
  }),
];

export const familyCases = [
  ...binary('AddV2', 'add'),
  ...binary('Mul', 'mul'),
  ...plainBinary('Sub', 'sub'),
  ...plainBinary('RealDiv', 'div', (x) => x + 2),
  ...plainBinary('Maximum', 'maximum'),
  ...plainBinary('SquaredDifference', 'squaredDifference'),
  ...plainBinary('Pow', 'pow', (x) => x + 1.5),
  ...plainBinary('FloorDiv', 'floorDiv', (x) => x + 2.5),
  ...addN,
  ...unary('Neg', 'neg'),
  ...unary('Abs', 'abs'),
  ...unary('Square', 'square'),
  ...unary('Sqrt', 'sqrt', (x) => x + 1),
  ...unary('Rsqrt', 'rsqrt', (x) => x + 2),
  ...unary('Exp', 'exp'),
  ...unary('Log', 'log', (x) => x + 2),
  ...unary('Tanh', 'tanh'),
  ...unary('Sigmoid', 'sigmoid'),
  ...unary('Sin', 'sin'),
  ...unary('Erf', 'erf'),
  ...unary('Relu', 'relu'),
  ...unary('Relu6', 'relu6', (x) => 8 * x),
  ...unary('Elu', 'elu'),
  ...unary('Softplus', 'softplus'),
  ...unary('LeakyRelu', 'leakyRelu'),
  ...unary('Floor', 'floor', (x) => 8 * x),
  ...plainBinary('Greater', 'greater'),
  ...plainBinary('Equal', 'equal', Math.round),
  ...logical,
  ...select,
  ...reduction('Sum', 'sum'),
  ...reduction('Mean', 'mean'),
  ...reduction('Max', 'max'),
  ...reduction('Prod', 'prod'),
  imageMeans,
  ...argMax,
  ...cumulative,
  ...softmax,
  crossEntropy,
  ...dense,
  ...batchMatMul,
  ...transpose,
  ...gather,
  ...concat,
  ...slice,
  ...stridedSlice,
  ...pad,
  ...tile,
  ...reverse,
  ...pack,
  ...split,
  ...oneHot,
  ...topK,
  ...casts,
  ...narrow,
];
