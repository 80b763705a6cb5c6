// GELU by its ops, which steps compute as one: with TensorFlow's forms of it, beside values in double, and beside steps
// without the optimizer.
import assert from 'node:assert/strict';
import { init } from '../../npm/dist/index.js';
import { hostVariants, withGraph } from './engine.mjs';

/** The normal distribution's function, by its series and, far from zero, its continued fraction. */
function normal(x) {
  if (Math.abs(x) < 3) {
    let [term, sum] = [x, x];
    for (let k = 3; Math.abs(term) > 1e-18 * Math.abs(sum); k += 2) sum += term *= (x * x) / k;
    return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
  }
  let fraction = 0;
  for (let k = 60; k > 0; k--) fraction = k / (Math.abs(x) + fraction);
  const tail = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI) / (Math.abs(x) + fraction);
  return x < 0 ? tail : 1 - tail;
}
const exact = (x) => (x === 0 ? 0 : x * normal(x));
const byTanh = (x) => x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** As Keras 3, TensorFlow, and converters of other frameworks write it. */
const FORMS = {
  erfc: (g, x) => g.mul(g.mul(x, 0.5), g.erfc(g.mul(g.neg(x), Math.SQRT1_2))),
  erf: (g, x) => g.mul(g.mul(0.5, x), g.addV2(1, g.erf(g.realDiv(x, Math.SQRT2)))),
  'erf, halved at the end': (g, x) => g.mul(g.mul(x, g.addV2(g.erf(g.mul(x, Math.SQRT1_2)), 1)), 0.5),
  tanh: (g, x) => {
    const cubic = g.addV2(x, g.mul(0.044715, g.pow(x, 3)));
    return g.mul(g.mul(0.5, x), g.addV2(1, g.tanh(g.mul(Math.sqrt(2 / Math.PI), cubic))));
  },
  'tanh of products': (g, x) => {
    const cubic = g.addV2(x, g.mul(g.mul(g.mul(x, x), x), 0.044715));
    return g.mul(x, g.mul(g.addV2(g.tanh(g.mul(cubic, Math.sqrt(2 / Math.PI))), 1), 0.5));
  },
};

const NUMBERS = Float32Array.from({ length: 1001 }, (_, i) => (i - 500) / 50);

/** The values and the ops of a step. */
const computed = (tf, build, x, options) =>
  withGraph(
    tf,
    (graph, session) => {
      const input = graph.placeholder('float32', x.shape);
      const trace = new tf.Trace();
      const [y] = session.runSync([build(graph, input)], [[input, x]], { trace });
      return { y: [...y.data], ops: trace.records.map(({ op }) => op) };
    },
    options,
  );

for (const variant of hostVariants()) {
  describe(`GELU (${variant})`, () => {
    let tf;
    before(async () => {
      tf = await init({ variant });
    });

    for (const [name, form] of Object.entries(FORMS)) {
      const wanted = name.startsWith('tanh') ? byTanh : exact;
      const op = name.startsWith('tanh') ? '_GeluApproximate' : '_GeluExact';

      it(`by ${name} is one op, and exact`, async () => {
        const { y, ops } = await computed(tf, form, tf.tensor(NUMBERS, [NUMBERS.length]));
        assert.ok(ops.includes(op), ops.join());
        assert.ok(!ops.some((each) => /Erf|Tanh/.test(each)), ops.join());
        y.forEach((value, i) => {
          const x = NUMBERS[i];
          const error = (4 + 2 * x * x) * 2 ** -23 * Math.abs(wanted(x));
          assert.ok(Math.abs(value - wanted(x)) <= error, `${value} instead of ${wanted(x)} for ${x}`);
        });
      });

      it(`by ${name} has the values of its ops`, async () => {
        const x = tf.tensor(NUMBERS, [NUMBERS.length]);
        const plain = await computed(tf, form, x, { optimize: false });
        assert.ok(plain.ops.includes('Mul'), plain.ops.join());
        (await computed(tf, form, x)).y.forEach((value, i) => {
          assert.ok(Math.abs(value - plain.y[i]) <= 1e-6 * Math.abs(NUMBERS[i]), `for ${NUMBERS[i]}`);
        });
        const edges = tf.tensor(Float32Array.of(Infinity, -Infinity, NaN, 0, 1e30, -1e30), [6]);
        const bare = (await computed(tf, form, edges, { optimize: false })).y;
        assert.deepEqual(bare.slice(0, 3), [Infinity, NaN, NaN]);
        assert.deepEqual((await computed(tf, form, edges)).y.map(String), bare.map(String));
      });
    }

    it('is a part of the product before it', async () => {
      const weights = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));
      const build = (g, x) => {
        const product = g.matMul(x, g.constant(tf.tensor(weights, [3, 4])));
        return FORMS.erfc(
          g,
          g.biasAdd(product, g.constant(tf.tensor(Float32Array.of(0.1, -0.2, 0.3, 1), [4]))),
        );
      };
      const x = tf.tensor(
        Float32Array.from({ length: 15 }, (_, i) => Math.cos(i) * 3),
        [5, 3],
      );
      const { y, ops } = await computed(tf, build, x);
      assert.ok(ops.includes('_FusedMatMul[BiasAdd,_GeluExact]'), ops.join());
      const plain = (await computed(tf, build, x, { optimize: false })).y;
      y.forEach((value, i) => assert.ok(Math.abs(value - plain[i]) <= 2e-6, `${value}, ${plain[i]}`));
    });

    it('stays as it is where gradients read its parts', () =>
      withGraph(tf, (graph, session) => {
        const x = graph.placeholder('float32', [NUMBERS.length]);
        const y = FORMS.erf(graph, x);
        const [slope] = graph.gradients([y], [x]);
        const [values, slopes] = session.runSync([y, slope], [[x, tf.tensor(NUMBERS, [NUMBERS.length])]]);
        NUMBERS.forEach((at, i) => {
          const density = Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
          assert.ok(
            Math.abs(values.data[i] - exact(at)) <= 1e-6 * Math.max(1, Math.abs(at)),
            `value at ${at}`,
          );
          assert.ok(Math.abs(slopes.data[i] - (normal(at) + at * density)) <= 1e-6, `slope at ${at}`);
        });
      }));
  });
}
