// Code that the engine makes while it runs: loops of adjacent elementwise ops. Steps without the optimizer compute the
// ops one by one.
import assert from 'node:assert/strict';
import { init } from '../../npm/dist/index.js';
import { hostVariants } from './engine.mjs';

const COUNT = 600_001;
/** What a, b, c and d are. */
const NUMBERS = [0, 1, 2, 3].map((k) =>
  Float32Array.from({ length: COUNT }, (_, i) => ((i * 7919 + k) % 10007) / 10007),
);
/** Work for this thread to make code, also if other threads take most of each step. */
const MOST_STEPS = 100;

/** The weights after a step of Adam, and its moments. */
function adamStep(g, [w, m, v, gradient]) {
  const m1 = g.addV2(g.mul(m, 0.9), g.mul(gradient, 0.1));
  const v1 = g.addV2(g.mul(v, 0.999), g.mul(g.square(gradient), 0.001));
  const change = g.realDiv(g.mul(m1, 0.01), g.addV2(g.sqrt(v1), 1e-3));
  return [g.sub(w, change), m1, v1];
}

/** Ops that code is made for, of one and of two operands (ops/support/fused_formula.c). */
const UNARY = 'abs ceil floor inv neg reciprocal relu relu6 rint rsqrt softsign sqrt square'.split(' ');
const BINARY =
  'add addV2 divNoNan eluGrad invGrad maximum minimum mul mulNoNan realDiv reciprocalGrad relu6Grad reluGrad rsqrtGrad seluGrad sigmoidGrad softsignGrad sqrtGrad squaredDifference sub tanhGrad'.split(
    ' ',
  );
/** Operands of either sign, some of which are 0. */
const signed = (g, [a, b]) => [g.sub(g.rint(g.mul(a, 8)), 4), g.sub(g.rint(g.mul(b, 8)), 4)];
const treeOf = (op) => (g, inputs) => {
  const [x, y] = signed(g, inputs);
  return [UNARY.includes(op) ? g.sub(g[op](x), y) : g.sub(g[op](x, y), y)];
};

const distances = (g, [a, b, c, d]) => [g.sqrt(g.addV2(g.square(g.sub(a, b)), g.square(g.sub(c, d))))];

/**
 * The results of the last of `steps` steps, or of the step that follows the first module that this thread compiles; and how
 * many modules it was asked for, and compiled.
 */
async function results(tf, tree, options, steps, Module = WebAssembly.Module) {
  const graph = new tf.Graph();
  const session = new tf.Session(graph, options);
  const inputs = ['a', 'b', 'c', 'd'].map((name) => graph.placeholder('float32', [null], { name }));
  const outputs = tree(graph, inputs);
  const feeds = inputs.map((input, k) => [input, NUMBERS[k]]);
  const own = WebAssembly.Module;
  let [asked, compiled] = [0, 0];
  WebAssembly.Module = class extends Module {
    constructor(bytes) {
      asked++;
      super(bytes);
      compiled++;
    }
  };
  try {
    let values;
    for (let step = 0, made = false; step < steps && !made; step++) {
      made = asked > 0;
      values = session.runSync(outputs, feeds).map(({ data }) => data);
    }
    return { values, asked, compiled };
  } finally {
    WebAssembly.Module = own;
    await session.close();
    graph.dispose();
  }
}

/** What the policy of a page may do. */
class Forbidden extends WebAssembly.Module {
  constructor() {
    super(new Uint8Array());
  }
}

for (const variant of hostVariants())
  describe(`emitted loops (${variant})`, function () {
    this.timeout(30_000);
    let tf;
    before(async () => (tf = await init({ variant, threads: variant.endsWith('threads') ? 2 : 1 })));

    it('give the bits of the ops', async () => {
      const plain = await results(tf, adamStep, { optimize: false }, 1);
      assert.equal(plain.asked, 0);
      const emitted = await results(tf, adamStep, {}, MOST_STEPS);
      assert.deepEqual(emitted.values, plain.values);
      assert.ok(emitted.compiled > 0);
    });

    /* Threads take most of the work that this one would make code for. */
    const ops = variant.endsWith('threads') ? [] : [...UNARY, ...BINARY];
    for (const op of ops)
      it(`give the bits of ${op}`, async () => {
        const plain = await results(tf, treeOf(op), { optimize: false }, 1);
        const emitted = await results(tf, treeOf(op), {}, MOST_STEPS);
        assert.deepEqual(emitted.values, plain.values);
        assert.ok(emitted.compiled > 0, `${emitted.asked} modules were refused`);
      });

    it('are not needed: the ops run where a host compiles nothing more', async () => {
      const plain = await results(tf, distances, { optimize: false }, 1);
      const refused = await results(tf, distances, {}, MOST_STEPS, Forbidden);
      assert.deepEqual(refused.values, plain.values);
      assert.ok(refused.asked > 0);
    });
  });
