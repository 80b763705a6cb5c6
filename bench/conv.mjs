// Convolutions and pooling at the sizes of MobileNet v1 and ResNet: constant filters, as in a frozen network, and images that stay inside.
import { numbers } from './digits.mjs';

/** One op of an image and, where it has one, a filter. `shapes` are those of input and filter. */
function imageCase({ name, op, attrs, shapes: [input, filter], flops, peerOp }) {
  const size = (shape) => shape.reduce((a, b) => a * b, 1);
  const image = numbers(size(input), 11);
  const weights = filter && numbers(size(filter), 12);
  return {
    name, group: 'conv', flops,
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const x = graph.variable(graph.constant(image, { shape: input }));
      const inputs = filter ? [x, graph.constant(weights, { shape: filter })] : [x];
      const operation = graph.op(op, inputs, { attrs });
      await session.run(graph.initializer());
      return {
        run: () => session.runSync(operation),
        result: () => session.runSync(operation.output(0)).data,
        async close() {
          await session.close();
          graph.dispose();
        },
      };
    },
    async peer(tfjs) {
      const x = tfjs.tensor(image, input);
      const w = filter && tfjs.tensor(weights, filter);
      return {
        run: () => peerOp(tfjs, x, w).dispose(),
        result: () => tfjs.tidy(() => peerOp(tfjs, x, w).dataSync()),
        close: () => tfjs.dispose(filter ? [x, w] : [x]),
      };
    },
  };
}

function convolution(side, channels, outputs, window, stride = 1) {
  const out = Math.ceil(side / stride);
  return imageCase({
    name: `Conv2D ${window}x${window}${stride > 1 ? `/${stride}` : ''}, ${side}x${side}x${channels} to ${outputs}`, op: 'Conv2D',
    attrs: { strides: [1, stride, stride, 1], padding: 'SAME' },
    shapes: [[1, side, side, channels], [window, window, channels, outputs]], flops: 2 * out * out * window * window * channels * outputs,
    peerOp: (tfjs, x, w) => tfjs.conv2d(x, w, stride, 'same'),
  });
}

function depthwise(side, channels, stride) {
  const out = Math.ceil(side / stride);
  return imageCase({
    name: `Depthwise 3x3${stride > 1 ? `/${stride}` : ''}, ${side}x${side}x${channels}`, op: 'DepthwiseConv2dNative',
    attrs: { strides: [1, stride, stride, 1], padding: 'SAME' },
    shapes: [[1, side, side, channels], [3, 3, channels, 1]], flops: 2 * out * out * 9 * channels,
    peerOp: (tfjs, x, w) => tfjs.depthwiseConv2d(x, w, stride, 'same'),
  });
}

function pooling(op, peerName, side, channels, window, stride) {
  return imageCase({
    name: `${op} ${window}x${window}/${stride}, ${side}x${side}x${channels}`, op,
    attrs: { ksize: [1, window, window, 1], strides: [1, stride, stride, 1], padding: 'SAME' }, shapes: [[1, side, side, channels]],
    peerOp: (tfjs, x) => tfjs[peerName](x, window, stride, 'same'),
  });
}

export const convCases = [
  convolution(224, 3, 32, 3, 2),
  convolution(56, 64, 64, 3),
  convolution(14, 256, 256, 3),
  convolution(56, 128, 128, 1),
  convolution(14, 512, 512, 1),
  depthwise(112, 32, 1),
  depthwise(112, 64, 2),
  depthwise(14, 512, 1),
  pooling('MaxPool', 'maxPool', 112, 64, 3, 2),
  pooling('AvgPool', 'avgPool', 56, 64, 3, 2),
];
