import { activation } from './element-layers.mjs';
import { biased, finished } from './linear-layer.mjs';
import { Value } from './value.mjs';

function sizeAfter(size, { window, stride, dilation, padding }) {
  const reach = (window - 1) * dilation + 1;
  return padding === 'SAME' ? Math.ceil(size / stride) : Math.floor((size - reach) / stride) + 1;
}

/** A window of two axes, and the size of its result; undefined if it does not fit. */
function windowOf(n, x) {
  const { random } = n;
  const side = random.pick([1, 1, 2, 3, 3, 5]);
  const [kh, kw] = random.chance(0.7) ? [side, side] : [random.int(1, 4), random.int(1, 4)];
  const stride = random.pick([1, 1, 1, 2, 3]);
  const dilation = stride === 1 ? random.pick([1, 1, 1, 2]) : 1;
  const padding = random.pick(['SAME', 'SAME', 'VALID']);
  const h = sizeAfter(x.shape[1], { window: kh, stride, dilation, padding });
  const w = sizeAfter(x.shape[2], { window: kw, stride, dilation, padding });
  return h > 0 && w > 0 ? { kh, kw, h, w, stride, dilation, padding } : undefined;
}

const convAttrs = ({ stride, dilation, padding }) => ({
  strides: [1, stride, stride, 1],
  dilations: [1, dilation, dilation, 1],
  padding,
});

function convolution(n) {
  const { g, random } = n;
  const x = n.some(4);
  const window = x && windowOf(n, x);
  if (!window) return undefined;
  const c = x.channels;
  const groups = random.chance(0.15) ? random.pick([2, 4, c]) : 1;
  if (c % groups) return undefined;
  const filters = groups > 1 ? groups * random.int(1, 6) : random.pick(n.channelCounts);
  const filter = n.filter([window.kh, window.kw, c / groups, filters]);
  const shape = [x.shape[0], window.h, window.w, filters];
  return finished(n, g.conv2D(x.output, filter, convAttrs(window)), shape);
}

function pool(n, op) {
  const x = n.some(4);
  const window = x && windowOf(n, x);
  if (!window || window.dilation > 1) return undefined;
  const { kh, kw, h, w, stride, padding } = window;
  const y = n.g[op](x.output, { ksize: [1, kh, kw, 1], strides: [1, stride, stride, 1], padding });
  return new Value(y, [x.shape[0], h, w, x.channels]);
}

export const IMAGE_LAYERS = {
  convolution,
  'another convolution': convolution,
  depthwise(n) {
    const x = n.some(4);
    const window = x && windowOf(n, x);
    if (!window) return undefined;
    const { kh, kw, h, w } = window;
    const multiplier = n.random.pick([1, 1, 1, 2, 3]);
    const filter = n.weight([kh, kw, x.channels, multiplier], Math.sqrt(3 / (kh * kw)));
    const shape = [x.shape[0], h, w, x.channels * multiplier];
    return finished(n, n.g.depthwiseConv2dNative(x.output, filter, convAttrs(window)), shape);
  },
  transposed(n) {
    const { g, random } = n;
    const x = n.some(4);
    if (!x || !n.options.isBatchKnown) return undefined;
    const [batch, h, w, c] = x.shape;
    const [side, stride, filters] = [random.int(1, 4), random.int(1, 2), random.pick(n.channelCounts)];
    const shape = [batch, h * stride, w * stride, filters];
    const filter = n.weight([side, side, filters, c], Math.sqrt(3 / (side * side * c)));
    const attrs = { strides: [1, stride, stride, 1], padding: 'SAME' };
    return finished(n, g.conv2DBackpropInput(n.ints(shape), filter, x.output, attrs), shape);
  },
  'dilated by blocks'(n) {
    const { g, random } = n;
    const x = n.some(4);
    if (!x || x.shape[1] % 2 || x.shape[2] % 2) return undefined;
    const filters = random.pick(n.channelCounts);
    const [block, pads, crops] = [[2, 2], Array(2).fill([2, 2]), Array(2).fill([0, 0])].map((list) =>
      n.ints(list),
    );
    const attrs = { strides: [1, 1, 1, 1], padding: 'VALID' };
    const filter = n.filter([3, 3, x.channels, filters]);
    const blocks = g.conv2D(g.spaceToBatchND(x.output, block, pads), filter, attrs);
    return finished(n, g.batchToSpaceND(blocks, block, crops), [...x.shape.slice(0, 3), filters]);
  },
  'largest of windows': (n) => pool(n, 'maxPool'),
  'mean of windows': (n) => pool(n, 'avgPool'),
  'twice as large'(n) {
    const { g } = n;
    const x = n.some(4);
    if (!x) return undefined;
    const [batch, h, w, c] = x.shape;
    const shape = [batch, 2 * h, 2 * w, c];
    if (n.random.chance(0.5))
      return new Value(
        g.resizeNearestNeighbor(x.output, n.ints(shape.slice(1, 3)), { halfPixelCenters: true }),
        shape,
      );
    const pixels = g.reshape(x.output, n.target([batch, h, 1, w, 1, c]));
    return new Value(g.reshape(g.tile(pixels, n.ints([1, 1, 2, 1, 2, 1])), n.target(shape)), shape);
  },
  padded(n) {
    const { g, random } = n;
    const x = n.some(4);
    if (!x || Math.min(x.shape[1], x.shape[2]) < 3) return undefined;
    const sides = x.shape.map((_, axis) =>
      axis === 1 || axis === 2 ? [random.int(0, 2), random.int(0, 2)] : [0, 0],
    );
    const shape = x.shape.map((size, axis) => size + sides[axis][0] + sides[axis][1]);
    const mode = random.pick(['REFLECT', 'SYMMETRIC']);
    const isMirrored = random.chance(0.4);
    const y = isMirrored ? g.mirrorPad(x.output, n.ints(sides), { mode }) : g.pad(x.output, n.ints(sides));
    return new Value(y, shape);
  },
  'squeeze and excite'(n) {
    const { g, random } = n;
    const x = n.some(4);
    if (!x) return undefined;
    const [batch, , , c] = x.shape;
    const keepDims = random.chance(0.5);
    let mean = g.mean(x.output, n.ints([1, 2]), { keepDims });
    if (!keepDims) mean = g.reshape(mean, n.target([batch, 1, 1, c]));
    const attrs = { strides: [1, 1, 1, 1], padding: 'SAME' };
    const convolve = (of, from, to) =>
      biased(n, g.conv2D(of, n.filter([1, 1, from, to]), attrs), [batch, 1, 1, to]);
    const gate = g.sigmoid(convolve(activation(n, convolve(mean, c, 4)), 4, c));
    return new Value(random.chance(0.5) ? g.mul(x.output, gate) : g.mul(gate, x.output), x.shape);
  },
  'global mean'(n) {
    const { g, random } = n;
    const x = n.some(4);
    if (!x) return undefined;
    const axes = n.ints(
      random.pick([
        [1, 2],
        [2, 1],
      ]),
    );
    return new Value(g[random.pick(['mean', 'sum', 'max'])](x.output, axes), [x.shape[0], x.channels]);
  },
};
