// A whole network: MobileNet v1 as frozen by TensorFlow, and the same network in the peer's ops, with the
// same weights.
import { goldenCases } from '../tests/js/golden.mjs';

const LAYERS = ['Conv2D', 'DepthwiseConv2dNative'];

/** The peer's name of each op of the network. */
const PEER_OPS = {
  Identity: (tfjs, x) => x,
  Cast: (tfjs, x) => tfjs.cast(x, 'float32'),
  RealDiv: (tfjs, x, y) => tfjs.div(x, y),
  Sub: (tfjs, x, y) => tfjs.sub(x, y),
  BiasAdd: (tfjs, x, y) => tfjs.add(x, y),
  Conv2D: (tfjs, x, w, { stride, padding }) => tfjs.conv2d(x, w, stride, padding),
  DepthwiseConv2dNative: (tfjs, x, w, { stride, padding }) => tfjs.depthwiseConv2d(x, w, stride, padding),
  FusedBatchNormV3: (tfjs, x, scale, offset, mean, variance, { epsilon }) =>
    tfjs.batchNorm(x, mean, variance, offset, scale, epsilon),
  Relu6: (tfjs, x) => tfjs.relu6(x),
  AvgPool: (tfjs, x, { window, stride, padding }) => tfjs.avgPool(x, window, stride, padding),
  Squeeze: (tfjs, x) => tfjs.squeeze(x, [1, 2]),
  Softmax: (tfjs, x) => tfjs.softmax(x),
};

/**
 * The network as a list of { name, type, inputs, attrs } in order, without constants, which are in `weights`
 * by name.
 */
function describe(graph) {
  const ofType = (operation) =>
    operation.type === 'Const' ||
    (operation.type === 'Cast' && operation.inputs[0].operation.type === 'Const');
  const operations = graph.operations();
  const steps = operations
    .filter((operation) => operation.type !== 'Placeholder' && !ofType(operation))
    .map((operation) => {
      const attrs = operation.attrs();
      return {
        name: operation.name,
        type: operation.type,
        inputs: operation.inputs.map((input) => input.operation.name),
        attrs: {
          stride: Number(attrs.strides?.[1] ?? 1),
          window: Number(attrs.ksize?.[1] ?? 1),
          padding: attrs.padding?.toLowerCase?.(),
          epsilon: attrs.epsilon,
        },
      };
    });
  const used = new Set(steps.flatMap(({ inputs }) => inputs));
  return {
    steps,
    weights: operations
      .filter((operation) => ofType(operation) && used.has(operation.name))
      .map(({ name }) => name),
  };
}

/** Each op unchanged: a function from the image to the answer. */
function opByOp(tfjs, { steps, weights }) {
  return (image) => {
    const values = new Map(weights).set('image', image);
    for (const { name, type, inputs, attrs } of steps)
      values.set(name, PEER_OPS[type](tfjs, ...inputs.map((input) => values.get(input)), attrs));
    return values.get('output');
  };
}

/**
 * The network as the peer's converter optimises it: norms are folded into the weights, and a layer is one
 * fused op.
 */
function folded(tfjs, { steps, weights }) {
  const rest = [];
  for (let i = 0; i < steps.length; i++) {
    const [layer, norm, relu] = steps.slice(i, i + 3);
    if (!LAYERS.includes(layer.type) || norm.type !== 'FusedBatchNormV3') {
      rest.push(layer);
      continue;
    }
    const [w, scale, offset, mean, variance] = [layer.inputs[1], ...norm.inputs.slice(1)].map((name) =>
      weights.get(name),
    );
    tfjs.tidy(() => {
      const factor = tfjs.mul(scale, tfjs.rsqrt(tfjs.add(variance, norm.attrs.epsilon)));
      const isDepthwise = layer.type === 'DepthwiseConv2dNative';
      weights.set(
        `${layer.name}/folded`,
        tfjs.keep(tfjs.mul(w, isDepthwise ? tfjs.reshape(factor, [-1, 1]) : factor)),
      );
      weights.set(`${layer.name}/bias`, tfjs.keep(tfjs.sub(offset, tfjs.mul(mean, factor))));
    });
    rest.push({
      ...layer,
      name: relu.name,
      type: `Fused${layer.type}`,
      inputs: [layer.inputs[0], `${layer.name}/folded`, `${layer.name}/bias`],
    });
    i += 2;
  }
  const fused =
    (kind) =>
    (_, x, filter, bias, { stride, padding }) =>
      tfjs.fused[kind]({ x, filter, strides: stride, pad: padding, bias, activation: 'relu6' });
  const ops = {
    ...PEER_OPS,
    FusedConv2D: fused('conv2d'),
    FusedDepthwiseConv2dNative: fused('depthwiseConv2d'),
  };
  return (image) => {
    const values = new Map(weights).set('image', image);
    for (const { name, type, inputs, attrs } of rest)
      values.set(name, ops[type](tfjs, ...inputs.map((input) => values.get(input)), attrs));
    return values.get('output');
  };
}

function mobileNet(title, makePeer) {
  /** The source for the peer; ours is always opened first. */
  let network;
  return {
    name: `MobileNetV1 0.25, 96x96, ${title}`,
    group: 'models',
    async ours(tf) {
      const {
        graph: bytes,
        steps: [
          {
            feeds: [image],
          },
        ],
      } = (await goldenCases('models')).find(({ name }) => name === 'MobileNetV1 0.25, 96x96');
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      graph.importGraphDef(bytes);
      const { steps, weights } = describe(graph);
      const values = await session.run(weights.map((name) => `${name}:0`));
      network = { image, steps, weights: weights.map((name, i) => [name, values[i]]) };
      const answer = graph.output('output:0');
      const feeds = new Map([[graph.output('image:0'), image.data]]);
      const run = () => session.runSync(answer, feeds).data;
      return {
        run,
        result: run,
        async close() {
          await session.close();
          graph.dispose();
        },
      };
    },
    async peer(tfjs) {
      const { image, steps, weights } = network;
      const tensors = new Map(weights.map(([name, { data, shape }]) => [name, tfjs.tensor(data, shape)]));
      const apply = makePeer(tfjs, { steps, weights: tensors });
      const pixels = Int32Array.from(image.data);
      const run = () => tfjs.tidy(() => apply(tfjs.tensor(pixels, image.shape, 'int32')).dataSync());
      return { run, result: run, close: () => tfjs.dispose([...tensors.values()]) };
    },
  };
}

export const modelCases = [mobileNet('op by op', opByOp), mobileNet('norms folded by hand', folded)];
