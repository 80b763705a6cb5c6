// Random networks: steps of the optimizer beside steps that run each node as it stands, in double.
// TFCORE_NETWORKS=1000,500 runs 500 networks of each kind from seed 1000 on instead.
import assert from 'node:assert/strict';
import { engine, isHere, isPage } from './engine.mjs';
import { RandomNetwork } from './networks/random-network.mjs';
import { RandomSource } from './networks/random-source.mjs';
import { product } from './networks/value.mjs';

const [FIRST, COUNT] = (isPage ? undefined : process.env.TFCORE_NETWORKS)?.split(',').map(Number) ?? [];

const KINDS = [
  { name: 'with constants', count: 40, isBatchKnown: true },
  { name: 'with constants, of any batch', count: 40, isBatchKnown: false },
  { name: 'with variables', count: 40, isBatchKnown: true, areWeightsVariables: true },
  { name: 'with variables, of any batch', count: 40, isBatchKnown: false, areWeightsVariables: true },
  { name: 'of large layers', count: 10, isBatchKnown: true, sizes: 'large' },
  { name: 'of large layers, of any batch', count: 10, isBatchKnown: false, sizes: 'large' },
];

/** The mean square of the last values. */
function lossOf(n) {
  const { g } = n;
  const losses = n.values.slice(-3).map(({ output, shape }) => {
    const mean = g.mean(g.square(output), n.ints([0]));
    return g.sum(mean, n.ints(shape.slice(1).map((_, axis) => axis)));
  });
  return g.addN(losses);
}

const optimizers = (tf) => [
  () => new tf.train.GradientDescentOptimizer(0.01),
  () => new tf.train.MomentumOptimizer(0.01, 0.9),
  () => new tf.train.AdamOptimizer(0.001),
  () => new tf.train.RMSPropOptimizer(0.001),
  () => new tf.train.AdagradOptimizer(0.01),
];

/** A network, what is fetched of it, and a step that trains it: the same for each dtype. */
function build(tf, seed, options) {
  const graph = new tf.Graph();
  const n = new RandomNetwork(graph, seed, options);
  const random = new RandomSource(seed + 1);
  const loss = lossOf(n);
  const fetches = [n.values.at(-1).output, loss];
  for (const { output } of n.values) if (random.chance(0.1)) fetches.push(output);
  const wanted = [...n.inputs.map(({ output }) => output), ...n.weights];
  const gradients = random.chance(0.5) ? graph.gradients([loss], wanted) : [];
  fetches.push(...gradients.filter((gradient) => gradient !== null));
  const isTrained =
    n.weights.length > 0 && graph.gradients([loss], n.weights).some((slope) => slope !== null);
  const train = isTrained ? random.pick(optimizers(tf))().minimize(loss) : undefined;
  return { graph, n, fetches, train, replaced: random.pick(n.values) };
}

/** Random numbers for the inputs, and for a value between them and the result if `replaced` is given. */
function feeds(tf, { n }, seed, batch, replaced) {
  const { dtype } = n.options;
  const random = new RandomSource(seed + batch);
  const tensor = (shape) => {
    const sizes = shape.with(0, batch);
    return tf.tensor([...random.numbers(product(sizes), 1.5)], sizes, dtype);
  };
  const fed = new Map(n.inputs.map(({ output, shape }) => [output, tensor(shape)]));
  if (replaced) fed.set(replaced.output, tensor(replaced.shape));
  return fed;
}

/** The largest difference of two lists, where the numbers of `checked` are finite; NaN if one of `got` is NaN there. */
function difference(got, exact, checked) {
  let largest = 0;
  for (let i = 0; i < exact.length; i++) {
    if (!Number.isFinite(exact[i]) || !Number.isFinite(checked[i])) continue;
    largest = Math.max(largest, Math.abs(got[i] - exact[i]));
  }
  return largest;
}

const largestOf = (numbers) =>
  numbers.reduce((largest, x) => (Number.isFinite(x) ? Math.max(largest, Math.abs(x)) : largest), 0);

/** Runs a network in four ways; returns what is wrong. */
async function wrongResults(tf, seed, kind) {
  const random = new RandomSource(seed + 2);
  const options = { sizes: 'small', areWeightsVariables: false, ...kind };
  Object.assign(options, { batch: random.pick([1, 2, 3, 5]), layers: random.int(3, 14) });
  const single = build(tf, seed, { ...options, dtype: 'float32' });
  const double = build(tf, seed, { ...options, dtype: 'float64' });
  const ways = {
    exact: { built: double, session: new tf.Session(double.graph, { optimize: false }) },
    plain: { built: single, session: new tf.Session(single.graph, { optimize: false }) },
    optimized: { built: single, session: new tf.Session(single.graph) },
    optimizedDouble: { built: double, session: new tf.Session(double.graph) },
  };
  const wrong = [];
  const { batch } = options;
  const batches = options.isBatchKnown ? [batch, batch] : [batch, batch + 1, 1];
  try {
    for (const { built, session } of Object.values(ways)) await session.run(built.graph.initializer());
    for (const [turn, size] of batches.entries()) {
      const results = {};
      for (const [way, { built, session }] of Object.entries(ways)) {
        const fed = feeds(tf, built, seed, size, turn === 1 ? built.replaced : undefined);
        if (built.train) await session.run(built.train, fed);
        results[way] = await session.run(built.fetches, fed);
      }
      for (const [i, { shape, data: exact }] of results.exact.entries()) {
        const [plain, optimized, optimizedDouble] = [
          results.plain[i],
          results.optimized[i],
          results.optimizedDouble[i],
        ];
        assert.deepEqual(optimized.shape, shape, `seed ${seed}, result ${i} of a batch of ${size}`);
        assert.deepEqual(optimizedDouble.shape, shape, `seed ${seed}, result ${i} of a batch of ${size}`);
        const largest = largestOf(exact);
        const errors = {
          plain: difference(plain.data, exact, plain.data),
          optimized: difference(optimized.data, exact, plain.data),
          optimizedDouble: difference(optimizedDouble.data, exact, exact),
        };
        const isRight =
          errors.optimized <= 10 * errors.plain + 1e-5 * largest + 1e-7 &&
          errors.optimizedDouble <= 1e-10 * largest + 1e-12;
        if (!isRight) wrong.push({ seed, batch: size, result: i, largest, ...errors });
      }
    }
  } finally {
    for (const { session } of Object.values(ways)) await session.close();
    single.graph.dispose();
    double.graph.dispose();
  }
  return wrong;
}

if (isHere)
  describe('random networks compute the same with and without the optimizer', () => {
    let tf;
    before(async () => (tf = await engine()));

    for (const { name, count, ...kind } of KINDS)
      it(name, async () => {
        const wrong = [];
        for (let i = 0; i < (COUNT ?? count); i++)
          wrong.push(...(await wrongResults(tf, (FIRST ?? 1) + i, kind)));
        assert.deepEqual(wrong, []);
      });
  });
