import { product, Value } from './value.mjs';

const reshaped = (n, x, shape) => new Value(n.g.reshape(x.output, n.target(shape)), shape);

export const SHAPE_LAYERS = {
  'image as a sequence'(n) {
    const x = n.some(4);
    const length = x && x.shape[1] * x.shape[2];
    return length <= 64 ? reshaped(n, x, [x.shape[0], length, x.channels]) : undefined;
  },
  'sequence as an image'(n) {
    const x = n.some(3);
    return x && reshaped(n, x, [x.shape[0], x.shape[1], 1, x.channels]);
  },
  flat(n) {
    const x = n.some();
    const size = product(x.shape.slice(1));
    return x.rank > 2 && size <= 600 ? reshaped(n, x, [x.shape[0], size]) : undefined;
  },
  repeated(n) {
    const { g } = n;
    const x = n.some(2);
    if (!x) return undefined;
    const times = n.random.int(2, 6);
    const rows = g.tile(g.expandDims(x.output, n.ints(1)), n.ints([1, times, 1]));
    return new Value(rows, [x.shape[0], times, x.channels]);
  },
  joined(n) {
    const { g, random } = n;
    const x = n.some();
    const axis = random.int(1, x.rank - 1);
    const fits = ({ shape }) =>
      shape.length === x.rank && shape.every((size, i) => i === axis || size === x.shape[i]);
    const others = n.values.filter(fits);
    const parts = [x, ...Array.from({ length: random.int(1, 2) }, () => random.pick(others))];
    const total = parts.reduce((sum, { shape }) => sum + shape[axis], 0);
    const y = g.concatV2(
      parts.map(({ output }) => output),
      n.ints(random.pick([axis, axis - x.rank])),
    );
    return new Value(y, x.shape.with(axis, total));
  },
  packed(n) {
    const { g, random } = n;
    const x = n.some(random.pick([2, 3]));
    if (!x) return undefined;
    const y = g.pack([x.output, n.another(x.shape).output], { axis: 1 });
    return new Value(y, [x.shape[0], 2, ...x.shape.slice(1)]);
  },
  split(n) {
    const { g, random } = n;
    const x = n.some();
    const [axis, numSplit] = [random.int(1, x.rank - 1), random.pick([2, 3, 4])];
    if (x.shape[axis] % numSplit) return undefined;
    const shape = x.shape.with(axis, x.shape[axis] / numSplit);
    const [first, ...others] = g.split(n.ints(axis), x.output, { numSplit });
    if (random.chance(0.4)) return new Value(g.mul(first, g.sigmoid(others[0])), shape);
    n.values.push(...others.map((output) => new Value(output, shape)));
    return new Value(first, shape);
  },
  slice(n) {
    const { g, random } = n;
    const x = n.some();
    const ranges = x.shape.map((size, axis) => {
      if (axis === 0) return { begin: 0, end: 0, stride: 1, size };
      const begin = random.int(0, size - 1);
      const end = random.int(begin + 1, size);
      const stride = random.int(1, 2);
      return { begin, end, stride, size: Math.ceil((end - begin) / stride) };
    });
    const [begin, end, strides] = ['begin', 'end', 'stride'].map((part) =>
      n.ints(ranges.map((range) => range[part])),
    );
    return new Value(
      g.stridedSlice(x.output, begin, end, strides, { beginMask: 1, endMask: 1 }),
      ranges.map(({ size }) => size),
    );
  },
  'step of a sequence'(n) {
    const { g, random } = n;
    const x = n.some(3);
    if (!x) return undefined;
    const at = random.int(0, x.shape[1] - 1);
    const [begin, end, strides] = [n.ints([0, at, 0]), n.ints([0, at + 1, 0]), n.ints([1, 1, 1])];
    const y = g.stridedSlice(x.output, begin, end, strides, { beginMask: 5, endMask: 5, shrinkAxisMask: 2 });
    return new Value(y, [x.shape[0], x.channels]);
  },
  transposed(n) {
    const { g, random } = n;
    const x = n.some();
    if (x.rank !== 3 && x.rank !== 4) return undefined;
    const four = [
      [0, 2, 1, 3],
      [0, 3, 1, 2],
      [0, 2, 3, 1],
      [0, 1, 3, 2],
    ];
    const axes = x.rank === 3 ? [0, 2, 1] : random.pick(four);
    return new Value(
      g.transpose(x.output, n.ints(axes)),
      axes.map((axis) => x.shape[axis]),
    );
  },
  gathered(n) {
    const { g, random } = n;
    const x = n.some();
    const axis = random.int(1, x.rank - 1);
    const indices = Array.from({ length: random.int(1, 6) }, () => random.int(0, x.shape[axis] - 1));
    return new Value(g.gatherV2(x.output, n.ints(indices), n.ints(axis)), x.shape.with(axis, indices.length));
  },
};
