// The benchmark cases. Each case builds the same work twice, for our engine (`tf`, from init()) and for the
// peer (`tfjs`); a case without `peer` is not possible with the peer:
//   prepare() what each unit of work needs new, not timed; may be missing
//   run()     one unit of work, timed
//   result()  the numbers it computes, compared before anything is timed
//   close()   frees what was made
// The peer is TensorFlow.js, or the one that `peerOf` names.
import { callCases } from './calls.mjs';
import { convCases } from './conv.mjs';
import { numbers } from './digits.mjs';
import { familyCases } from './families.mjs';
import { fusedCases } from './fused.mjs';
import { gradientCases } from './gradients.mjs';
import { graphCases } from './graphs.mjs';
import { loopCases } from './loops.mjs';
import { modelCases } from './models.mjs';
import { passingCases } from './passing.mjs';
import { randomCases } from './random.mjs';
import { digitsStep, onnxTrainingCases, trainingCases } from './training.mjs';

/**
 * Fresh B: each call multiplies by a new matrix, given as a Float32Array. The product stays in the engine.
 */
function matMulFresh(n) {
  const a = numbers(n * n, 3);
  const matrices = [4, 5, 6].map((seed) => numbers(n * n, seed));
  let next = 0;
  const fresh = () => matrices[next++ % matrices.length];
  return {
    name: `MatMul ${n}, fresh B`,
    group: 'matmul',
    size: n,
    flops: 2 * n ** 3,
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const left = graph.variable(graph.constant(a, { shape: [n, n] }));
      const right = graph.placeholder('float32', [n, n]);
      const product = graph.matMul(left, right);
      const { operation } = product;
      await session.run(graph.initializer());
      return {
        run: () => session.runSync(operation, new Map([[right, fresh()]])),
        result: () => session.runSync(product, new Map([[right, matrices[0]]])).data,
        close: () => close(session, graph),
      };
    },
    async peer(tfjs) {
      const left = tfjs.tensor2d(a, [n, n]);
      const multiply = (data, use) => {
        const right = tfjs.tensor2d(data, [n, n]);
        const product = tfjs.matMul(left, right);
        const used = use?.(product);
        right.dispose();
        product.dispose();
        return used;
      };
      return {
        run: () => multiply(fresh()),
        result: () => multiply(matrices[0], (product) => product.dataSync()),
        close: () => left.dispose(),
      };
    },
  };
}

/** Constant B: constant weights, which both engines may keep packed. */
function matMulConstant(n) {
  const a = numbers(n * n, 7);
  const b = numbers(n * n, 8);
  return {
    name: `MatMul ${n}, constant B`,
    group: 'matmul',
    size: n,
    flops: 2 * n ** 3,
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const product = graph.matMul(
        graph.variable(graph.constant(a, { shape: [n, n] })),
        graph.constant(b, { shape: [n, n] }),
      );
      const { operation } = product;
      await session.run(graph.initializer());
      return {
        run: () => session.runSync(operation),
        result: () => session.runSync(product).data,
        close: () => close(session, graph),
      };
    },
    async peer(tfjs) {
      const left = tfjs.tensor2d(a, [n, n]);
      const right = tfjs.tensor2d(b, [n, n]);
      return {
        run: () => tfjs.matMul(left, right).dispose(),
        result: () => tfjs.tidy(() => tfjs.matMul(left, right).dataSync()),
        close: () => tfjs.dispose([left, right]),
      };
    },
  };
}

/** `length` chained scalar additions, from a number to a number. */
function additions(name, length) {
  const result = (run) => () => Float32Array.of(run(0.5)[0]);
  return {
    name,
    group: 'overhead',
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const start = graph.placeholder('float32', []);
      const one = graph.constant(1);
      let sum = start;
      for (let i = 0; i < length; i++) sum = graph.addV2(sum, one);
      const run = (value) => session.runSync(sum, new Map([[start, value]])).data;
      let next = 0;
      return { run: () => run(next++ % 7), result: result(run), close: () => close(session, graph) };
    },
    async peer(tfjs) {
      const one = tfjs.scalar(1);
      const run = (value) =>
        tfjs.tidy(() => {
          let sum = tfjs.scalar(value);
          for (let i = 0; i < length; i++) sum = tfjs.add(sum, one);
          return sum.dataSync();
        });
      let next = 0;
      return { run: () => run(next++ % 7), result: result(run), close: () => one.dispose() };
    },
  };
}

async function close(session, graph) {
  await session.close();
  graph.dispose();
}

/** All cases; `digits` is the content of digits.csv.gz. */
export function makeCases(digits) {
  const sizes = [128, 256, 512, 1024];
  return [
    ...sizes.map(matMulFresh),
    ...sizes.map(matMulConstant),
    digitsStep(digits),
    ...trainingCases,
    ...onnxTrainingCases,
    additions('1,000 chained scalar additions', 1000),
    additions('one scalar addition', 1),
    ...passingCases,
    ...callCases,
    ...loopCases,
    ...convCases,
    ...modelCases,
    ...familyCases,
    ...fusedCases,
    ...graphCases,
    ...gradientCases,
    ...randomCases,
  ];
}
