// Trees of elementwise ops, which the engine fuses. An Identity is the target of the step, because a target
// itself keeps its node.
import { floats, opCase } from './single-op.mjs';

const SMALL = [8, 16];
const LARGE = [1000, 1000];

/** The exact GELU. */
const gelu = [SMALL, LARGE].map((shape) =>
  opCase({
    name: `GELU by Erf, ${shape.join('x')}`,
    group: 'fused',
    values: [floats(shape)],
    ourOp: (graph, [x]) =>
      graph.identity(graph.mul(graph.mul(x, 0.5), graph.addV2(graph.erf(graph.mul(x, Math.SQRT1_2)), 1))),
    peerOp: (tfjs, [x]) =>
      tfjs.tidy(() => tfjs.mul(tfjs.mul(x, 0.5), tfjs.add(tfjs.erf(tfjs.mul(x, Math.SQRT1_2)), 1))),
  }),
);

const layerNorm = [SMALL, [4096, 1024]].map((shape) =>
  opCase({
    name: `layer norm by ops, ${shape.join('x')}`,
    group: 'fused',
    values: [floats(shape), floats([shape[1]], 12), floats([shape[1]], 13)],
    ourOp(graph, [x, scale, offset]) {
      const centred = graph.sub(x, graph.mean(x, [1], { keepDims: true }));
      const variance = graph.mean(graph.square(centred), [1], { keepDims: true });
      const normal = graph.mul(centred, graph.rsqrt(graph.addV2(variance, 1e-5)));
      return graph.identity(graph.addV2(graph.mul(normal, scale), offset));
    },
    peerOp: (tfjs, [x, scale, offset]) =>
      tfjs.tidy(() => {
        const centred = tfjs.sub(x, tfjs.mean(x, 1, true));
        const variance = tfjs.mean(tfjs.square(centred), 1, true);
        const normal = tfjs.mul(centred, tfjs.rsqrt(tfjs.add(variance, 1e-5)));
        return tfjs.add(tfjs.mul(normal, scale), offset);
      }),
  }),
);

/** Huber's loss of each difference: a square where it is small, linear elsewhere. */
const huber = [SMALL, LARGE].map((shape) =>
  opCase({
    name: `Huber's loss by ops, ${shape.join('x')}`,
    group: 'fused',
    values: [floats(shape), floats(shape, 12)],
    ourOp(graph, [x, y]) {
      const difference = graph.sub(x, y);
      const size = graph.abs(difference);
      const square = graph.mul(graph.square(difference), 0.5);
      return graph.identity(graph.selectV2(graph.lessEqual(size, 1), square, graph.sub(size, 0.5)));
    },
    peerOp: (tfjs, [x, y]) =>
      tfjs.tidy(() => {
        const difference = tfjs.sub(x, y);
        const size = tfjs.abs(difference);
        const square = tfjs.mul(tfjs.square(difference), 0.5);
        return tfjs.where(tfjs.lessEqual(size, 1), square, tfjs.sub(size, 0.5));
      }),
  }),
);

const [BETA1, BETA2, RATE, EPSILON] = [0.9, 0.999, 0.01, 1e-3];

/** New weights and moments. */
const adam = [SMALL, LARGE].map((shape) =>
  opCase({
    name: `a step of Adam by ops, ${shape.join('x')}`,
    group: 'fused',
    values: [floats(shape), floats(shape, 12), floats(shape, 13, Math.abs), floats(shape, 14)],
    ourOp(graph, [w, m, v, gradient]) {
      const m1 = graph.addV2(graph.mul(m, BETA1), graph.mul(gradient, 1 - BETA1));
      const v1 = graph.addV2(graph.mul(v, BETA2), graph.mul(graph.square(gradient), 1 - BETA2));
      const change = graph.realDiv(graph.mul(m1, RATE), graph.addV2(graph.sqrt(v1), EPSILON));
      return graph.op('IdentityN', [[graph.sub(w, change), m1, v1]]).output(0);
    },
    peerOp: (tfjs, [w, m, v, gradient]) =>
      tfjs.tidy(() => {
        const m1 = tfjs.add(tfjs.mul(m, BETA1), tfjs.mul(gradient, 1 - BETA1));
        const v1 = tfjs.add(tfjs.mul(v, BETA2), tfjs.mul(tfjs.square(gradient), 1 - BETA2));
        const change = tfjs.div(tfjs.mul(m1, RATE), tfjs.add(tfjs.sqrt(v1), EPSILON));
        return [tfjs.sub(w, change), m1, v1];
      }),
  }),
);

export const fusedCases = [...gelu, ...layerNorm, ...huber, ...adam];
