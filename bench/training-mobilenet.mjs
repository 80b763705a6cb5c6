// MobileNetV2 with the batch norms of training, for training.mjs. Its moving means and variances are left out.
import { scaledWeight, weight } from './training-steps.mjs';

/** [expansion, channels, repeats, stride] of the bottlenecks. */
const BOTTLENECKS = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
];
const [FIRST, LAST] = [32, 1280];

/** { weights, network } for that many classes. */
export function mobileNetV2(classes) {
  let seed = 0;
  const layer = (shape, channels, terms) => ({
    w: scaledWeight(shape, seed++, terms),
    gamma: weight([channels], seed++, 0.3, 1),
    beta: weight([channels], seed++, 0.1),
  });
  const pointwise = (inputs, outputs) => layer([1, 1, inputs, outputs], outputs);
  const blocks = [];
  let inputs = FIRST;
  for (const [expansion, outputs, repeats, firstStride] of BOTTLENECKS) {
    for (let i = 0; i < repeats; i++) {
      const wide = inputs * expansion;
      blocks.push({ stride: i === 0 ? firstStride : 1, inputs, wide, outputs });
      inputs = outputs;
    }
  }
  const weights = {
    first: layer([3, 3, 3, FIRST], FIRST),
    blocks: blocks.map(({ inputs, wide, outputs }) => ({
      ...(wide > inputs && { expand: pointwise(inputs, wide) }),
      depthwise: layer([3, 3, wide, 1], wide, 9),
      project: pointwise(wide, outputs),
    })),
    last: pointwise(inputs, LAST),
    classes: [scaledWeight([LAST, classes], seed++), weight([classes], seed++, 0.1)],
  };
  return { weights, network: (engine, x, variables) => network(engine, x, variables, blocks) };
}

function network(engine, x, { first, blocks: layers, last, classes }, blocks) {
  const norm = (y, { gamma, beta }) => engine.normalize(y, gamma, beta);
  const pointwise = (y, layer) => norm(engine.conv2d(y, layer.w, 1, 'same'), layer);
  let y = engine.relu6(norm(engine.conv2dOfInput(x, first.w, 2, 'same'), first));
  for (const [i, { expand, depthwise, project }] of layers.entries()) {
    const { stride, inputs, outputs } = blocks[i];
    const wide = expand ? engine.relu6(pointwise(y, expand)) : y;
    const filtered = engine.relu6(norm(engine.depthwiseConv2d(wide, depthwise.w, stride, 'same'), depthwise));
    const narrow = pointwise(filtered, project);
    y = stride === 1 && inputs === outputs ? engine.add(y, narrow) : narrow;
  }
  const features = engine.mean(engine.relu6(pointwise(y, last)), [1, 2]);
  return engine.addBias(engine.matMul(features, classes[0]), classes[1]);
}
