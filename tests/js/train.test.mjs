import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../npm/dist/index.js';
import { engine, isClose, withGraph } from './engine.mjs';

const START = [1, -2, 0.5];
const SCALE = [1, 2, 3];
const STEPS = 5;

/** The path of minimising sum(scale * x^2) / 2, whose gradient is scale * x, by a rule: step(x, gradient, t) gives the new x. */
function path(step) {
  const x = [...START];
  const states = START.map(() => ({}));
  for (let t = 1; t <= STEPS; t++) START.forEach((_, i) => (x[i] = step(x[i], SCALE[i] * x[i], t, states[i])));
  return x;
}

describe('variables and optimizers', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** Minimises the same with one of ours; `options` are those of minimize(). */
  const trained = (makeOptimizer) => withGraph(tf, async (g, session) => {
    const x = g.variable(START, { dtype: 'float64' });
    const loss = g.mul(0.5, g.sum(g.mul(g.square(x), SCALE), 0));
    const step = makeOptimizer(g).minimize(g.cast(loss, { dstT: 'float64' }));
    await session.run(g.initializer());
    for (let t = 0; t < STEPS; t++) await session.run(step);
    return (await session.run(x)).data;
  });

  it('gradient descent: x -= rate * gradient', async () => {
    const expected = path((x, gradient) => x - 0.1 * gradient);
    assert.ok(isClose(await trained(() => new tf.train.GradientDescentOptimizer(0.1)), expected, 1e-12));
  });

  it('momentum: the gradients pile up, with and without looking ahead', async () => {
    const rule = (nesterov) => (x, gradient, t, state) => {
      state.v = 0.9 * (state.v ?? 0) + gradient;
      return x - 0.05 * (nesterov ? gradient + 0.9 * state.v : state.v);
    };
    assert.ok(isClose(await trained(() => new tf.train.MomentumOptimizer(0.05, 0.9)), path(rule(false)), 1e-12));
    assert.ok(isClose(await trained(() => new tf.train.MomentumOptimizer(0.05, 0.9, { useNesterov: true })), path(rule(true)), 1e-12));
  });

  it('Adam: by the formulae of its paper', async () => {
    const rule = (rate, b1, b2, epsilon) => (x, gradient, t, state) => {
      state.m = b1 * (state.m ?? 0) + (1 - b1) * gradient;
      state.v = b2 * (state.v ?? 0) + (1 - b2) * gradient ** 2;
      return x - (rate * Math.sqrt(1 - b2 ** t) / (1 - b1 ** t)) * state.m / (Math.sqrt(state.v) + epsilon);
    };
    assert.ok(isClose(await trained(() => new tf.train.AdamOptimizer(0.1)), path(rule(0.1, 0.9, 0.999, 1e-8)), 1e-10));
    const options = { beta1: 0.8, beta2: 0.95, epsilon: 1e-3 };
    assert.ok(isClose(await trained(() => new tf.train.AdamOptimizer(0.02, options)), path(rule(0.02, 0.8, 0.95, 1e-3)), 1e-10));
  });

  it('a learning rate may be a part of the graph', async () => {
    const expected = path((x, gradient) => x - 0.25 * gradient);
    const got = await trained((g) => new tf.train.GradientDescentOptimizer(g.mul(g.constant(0.5, { dtype: 'float64' }), 0.5)));
    assert.ok(isClose(got, expected, 1e-12));
  });

  it('counts steps, trains the given variables, and tells when there is nothing to train', () => withGraph(tf, async (g, session) => {
    const [a, b] = [g.variable(1, { name: 'a' }), g.variable(1, { name: 'b' })];
    const still = g.variable(1, { name: 'still', trainable: false });
    const globalStep = g.variable(0n, { name: 'step', trainable: false });
    const loss = g.mul(g.mul(a, b), still);
    const optimizer = new tf.train.GradientDescentOptimizer(0.5);
    assert.deepEqual(optimizer.computeGradients(loss).map(([, variable]) => variable), [a, b]);
    const step = optimizer.minimize(loss, { vars: [b], globalStep });
    await session.run(g.initializer());
    await session.run(step);
    await session.run(step);
    assert.deepEqual((await session.run([a, b, still, globalStep])).map((value) => value.item()), [1, 0, 1, 2n]);
    assert.throws(() => optimizer.minimize(g.constant(1)), { name: 'InvalidArgumentError', message: /No gradients provided for any variable: a, b/ });
    assert.throws(() => optimizer.applyGradients([]), InvalidArgumentError);
  }));

  it('variables start from values, outputs and other variables, and show what they are', () => withGraph(tf, async (g, session) => {
    const first = g.variable([1, 2], { name: 'first' });
    const second = g.variable(first, { name: 'second' });
    const third = g.variable(g.fill([2, 2], 7), { name: 'third' });
    const fourth = g.variable([1], { dtype: 'int64' });
    await session.run(g.initializer());
    const values = await session.run([first, second, third, fourth]);
    assert.deepEqual(values.map((value) => value.array()), [[1, 2], [1, 2], [[7, 7], [7, 7]], [1n]]);
    assert.equal(String(third), 'Variable<third float32 [2,2]>');
    assert.equal(fourth.name, 'Variable');
    assert.deepEqual(g.allVariables, [first, second, third, fourth]);
    assert.throws(() => g.variable(1, { name: 'first' }), InvalidArgumentError);
    assert.deepEqual(g.allVariables.length, 4);
  }));
});
