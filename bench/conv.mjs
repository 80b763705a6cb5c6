// Image ops at the sizes of MobileNet v1 and ResNet: all other inputs are constant, as in a frozen network,
// and images stay in the engine.
import { floats, opCase } from './single-op.mjs';

/** One op of an image with that shape, and of constants, which the peer gets as tensors. */
function imageCase({ name, op, attrs, shape, constants = [], flops, peerOp }) {
  return opCase({
    name,
    group: 'conv',
    flops,
    values: [floats(shape)],
    constants,
    ourOp: (graph, inputs, others) => graph.op(op, [...inputs, ...others], { attrs }).output(0),
    peerOp: (tfjs, [x], others) => peerOp(tfjs, x, ...others),
  });
}

const weights = (shape) => floats(shape, 12);

function convolution(side, channels, outputs, window, stride = 1, batch = 1) {
  const out = Math.ceil(side / stride);
  return imageCase({
    name: `Conv2D ${window}x${window}${stride > 1 ? `/${stride}` : ''}, ${batch > 1 ? `${batch}x` : ''}${side}x${side}x${channels} to ${outputs}`,
    op: 'Conv2D',
    attrs: { strides: [1, stride, stride, 1], padding: 'SAME' },
    shape: [batch, side, side, channels],
    constants: [weights([window, window, channels, outputs])],
    flops: 2 * batch * out * out * window * window * channels * outputs,
    peerOp: (tfjs, x, w) => tfjs.conv2d(x, w, stride, 'same'),
  });
}

/** As many groups as channels; the peer has an op of its own for it, with another shape of the filter. */
function grouped(side, channels) {
  return imageCase({
    name: `Conv2D 3x3 in ${channels} groups, ${side}x${side}x${channels}`,
    op: 'Conv2D',
    attrs: { strides: [1, 1, 1, 1], padding: 'SAME' },
    shape: [1, side, side, channels],
    constants: [weights([3, 3, 1, channels])],
    flops: 2 * side * side * 9 * channels,
    peerOp(tfjs, x, w) {
      const filter = tfjs.reshape(w, [3, 3, channels, 1]);
      return [tfjs.depthwiseConv2d(x, filter, 1, 'same'), filter];
    },
  });
}

function depthwise(side, channels, stride) {
  const out = Math.ceil(side / stride);
  return imageCase({
    name: `Depthwise 3x3${stride > 1 ? `/${stride}` : ''}, ${side}x${side}x${channels}`,
    op: 'DepthwiseConv2dNative',
    attrs: { strides: [1, stride, stride, 1], padding: 'SAME' },
    shape: [1, side, side, channels],
    constants: [weights([3, 3, channels, 1])],
    flops: 2 * out * out * 9 * channels,
    peerOp: (tfjs, x, w) => tfjs.depthwiseConv2d(x, w, stride, 'same'),
  });
}

function pooling(op, peerName, side, channels, window, stride) {
  return imageCase({
    name: `${op} ${window}x${window}/${stride}, ${side}x${side}x${channels}`,
    op,
    attrs: { ksize: [1, window, window, 1], strides: [1, stride, stride, 1], padding: 'SAME' },
    shape: [1, side, side, channels],
    peerOp: (tfjs, x) => tfjs[peerName](x, window, stride, 'same'),
  });
}

function batchNorm(side, channels) {
  const vectors = [1, 2, 3, 4].map((seed) => floats([channels], seed, (x) => 2 + x));
  return imageCase({
    name: `FusedBatchNormV3, ${side}x${side}x${channels}`,
    op: 'FusedBatchNormV3',
    attrs: { is_training: false, epsilon: 0.001 },
    shape: [1, side, side, channels],
    constants: vectors,
    peerOp: (tfjs, x, scale, offset, mean, variance) =>
      tfjs.batchNorm(x, mean, variance, offset, scale, 0.001),
  });
}

function resizing(op, peerName, side, channels, to) {
  return imageCase({
    name: `${op} ${side}x${side}x${channels} to ${to}x${to}`,
    op,
    attrs: { half_pixel_centers: true },
    shape: [1, side, side, channels],
    constants: [{ data: Int32Array.of(to, to), shape: [2], dtype: 'int32' }],
    peerOp: (tfjs, x) => tfjs.image[peerName](x, [to, to], false, true),
  });
}

/**
 * The gradient of such an op by its image, for a given incoming gradient; includes the forward computation if
 * the gradient needs it. Images are positive, because the peer's gradient of a maximum is wrong where a whole
 * window is negative.
 */
function gradientOf({ name, op, attrs, shape, outShape, constants = [], flops, peerOp }) {
  return opCase({
    name: `Gradient of ${name}`,
    group: 'conv',
    flops,
    values: [floats(shape, 11, (x) => x + 1), floats(outShape, 15)],
    constants,
    ourOp: (graph, [x, dy], others) =>
      graph.gradients([graph.op(op, [x, ...others], { attrs }).output(0)], [x], { gradYs: [dy] })[0],
    peerOp: (tfjs, [x, dy], others) =>
      tfjs.tidy(() => tfjs.grad((image) => peerOp(tfjs, image, ...others))(x, dy)),
  });
}

function poolingGradient(op, peerName, side, channels, window, stride) {
  const out = Math.ceil(side / stride);
  return gradientOf({
    name: `${op} ${window}x${window}/${stride}, ${side}x${side}x${channels}`,
    op,
    attrs: { ksize: [1, window, window, 1], strides: [1, stride, stride, 1], padding: 'SAME' },
    shape: [1, side, side, channels],
    outShape: [1, out, out, channels],
    peerOp: (tfjs, x) => tfjs[peerName](x, window, stride, 'same'),
  });
}

/** Only by the image, because the peer's backend has no gradient by the filter. */
function convolutionGradient(side, channels, outputs, window) {
  return gradientOf({
    name: `Conv2D ${window}x${window}, ${side}x${side}x${channels} to ${outputs}`,
    op: 'Conv2D',
    attrs: { strides: [1, 1, 1, 1], padding: 'SAME' },
    shape: [1, side, side, channels],
    outShape: [1, side, side, outputs],
    constants: [weights([window, window, channels, outputs])],
    flops: 2 * side * side * window * window * channels * outputs,
    peerOp: (tfjs, x, w) => tfjs.conv2d(x, w, 1, 'same'),
  });
}

/** By the filter. The peer's backend lacks this op. */
function filterGradient(op, batch, side, channels, outputs, window) {
  const depthwise = op !== 'Conv2D';
  const shape = [batch, side, side, channels];
  return opCase({
    name: `${op}BackpropFilter ${window}x${window}, ${batch}x${side}x${side}x${channels} to ${outputs}`,
    group: 'conv',
    flops: 2 * batch * side * side * window * window * outputs * (depthwise ? 1 : channels),
    values: [floats(shape), floats([batch, side, side, outputs], 15)],
    constants: [
      {
        data: Int32Array.of(window, window, channels, depthwise ? outputs / channels : outputs),
        shape: [4],
        dtype: 'int32',
      },
    ],
    ourOp: (graph, [x, dy], [sizes]) =>
      graph
        .op(`${op}BackpropFilter`, [x, sizes, dy], { attrs: { strides: [1, 1, 1, 1], padding: 'SAME' } })
        .output(0),
  });
}

const NORMALIZATION = { depth_radius: 5, bias: 1, alpha: 1e-4, beta: 0.75 };
const normalize = (tfjs, x) =>
  tfjs.localResponseNormalization(
    x,
    NORMALIZATION.depth_radius,
    NORMALIZATION.bias,
    NORMALIZATION.alpha,
    NORMALIZATION.beta,
  );

const resizingGradient = (side, channels, to) =>
  gradientOf({
    name: `ResizeBilinear ${side}x${side}x${channels} to ${to}x${to}`,
    op: 'ResizeBilinear',
    attrs: { align_corners: true },
    shape: [1, side, side, channels],
    outShape: [1, to, to, channels],
    constants: [{ data: Int32Array.of(to, to), shape: [2], dtype: 'int32' }],
    peerOp: (tfjs, x) => tfjs.image.resizeBilinear(x, [to, to], true),
  });

export const convCases = [
  convolution(224, 3, 32, 3, 2),
  convolution(56, 64, 64, 3),
  convolution(14, 256, 256, 3),
  convolution(56, 128, 128, 1),
  convolution(14, 512, 512, 1),
  convolution(28, 1, 8, 3, 1, 32),
  convolution(14, 8, 16, 5, 1, 32),
  convolution(128, 64, 1, 3),
  convolution(128, 32, 3, 9),
  convolution(128, 32, 9, 3),
  grouped(56, 64),
  depthwise(112, 32, 1),
  depthwise(112, 64, 2),
  depthwise(14, 512, 1),
  pooling('MaxPool', 'maxPool', 112, 64, 2, 2),
  pooling('MaxPool', 'maxPool', 24, 6, 2, 2),
  pooling('MaxPool', 'maxPool', 112, 64, 3, 2),
  pooling('MaxPool', 'maxPool', 28, 192, 3, 1),
  pooling('AvgPool', 'avgPool', 56, 64, 3, 2),
  pooling('AvgPool', 'avgPool', 7, 1024, 7, 7),
  imageCase({
    name: 'LRN, 28x28x192',
    op: 'LRN',
    attrs: NORMALIZATION,
    shape: [1, 28, 28, 192],
    peerOp: normalize,
  }),
  batchNorm(112, 32),
  batchNorm(14, 512),
  resizing('ResizeBilinear', 'resizeBilinear', 480, 3, 224),
  resizing('ResizeBilinear', 'resizeBilinear', 28, 64, 56),
  resizing('ResizeNearestNeighbor', 'resizeNearestNeighbor', 480, 3, 224),
  resizing('ResizeNearestNeighbor', 'resizeNearestNeighbor', 28, 64, 56),
  convolutionGradient(56, 64, 64, 3),
  convolutionGradient(14, 512, 512, 1),
  convolutionGradient(28, 1, 32, 5),
  filterGradient('Conv2D', 32, 28, 1, 8, 3),
  filterGradient('DepthwiseConv2dNative', 8, 56, 64, 64, 3),
  poolingGradient('MaxPool', 'maxPool', 112, 64, 2, 2),
  poolingGradient('MaxPool', 'maxPool', 112, 64, 3, 2),
  poolingGradient('AvgPool', 'avgPool', 56, 64, 2, 2),
  gradientOf({
    name: 'LRN, 28x28x192',
    op: 'LRN',
    attrs: NORMALIZATION,
    shape: [1, 28, 28, 192],
    outShape: [1, 28, 28, 192],
    peerOp: normalize,
  }),
  resizingGradient(28, 64, 56),
];
