import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../npm/dist/index.js';
import { engine, isClose, withGraph } from './engine.mjs';

const START = [1, -2, 0.5];
const SCALE = [1, 2, 3];
const STEPS = 5;

/**
 * The path of minimising sum(scale * x^2) / 2, whose gradient is scale * x, by a rule: step(x, gradient, t)
 * returns the new x.
 */
function path(step) {
  const x = [...START];
  const states = START.map(() => ({}));
  for (let t = 1; t <= STEPS; t++)
    START.forEach((_, i) => (x[i] = step(x[i], SCALE[i] * x[i], t, states[i])));
  return x;
}

describe('variables and optimizers', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** Minimises the same with our optimizer; `options` are those of minimize(). */
  const trained = (makeOptimizer) =>
    withGraph(tf, async (g, session) => {
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
    assert.ok(
      isClose(await trained(() => new tf.train.MomentumOptimizer(0.05, 0.9)), path(rule(false)), 1e-12),
    );
    assert.ok(
      isClose(
        await trained(() => new tf.train.MomentumOptimizer(0.05, 0.9, { useNesterov: true })),
        path(rule(true)),
        1e-12,
      ),
    );
  });

  it('Adam: by the formulae of its paper', async () => {
    const rule = (rate, b1, b2, epsilon) => (x, gradient, t, state) => {
      state.m = b1 * (state.m ?? 0) + (1 - b1) * gradient;
      state.v = b2 * (state.v ?? 0) + (1 - b2) * gradient ** 2;
      return (
        x - (((rate * Math.sqrt(1 - b2 ** t)) / (1 - b1 ** t)) * state.m) / (Math.sqrt(state.v) + epsilon)
      );
    };
    assert.ok(
      isClose(await trained(() => new tf.train.AdamOptimizer(0.1)), path(rule(0.1, 0.9, 0.999, 1e-8)), 1e-10),
    );
    const options = { beta1: 0.8, beta2: 0.95, epsilon: 1e-3 };
    assert.ok(
      isClose(
        await trained(() => new tf.train.AdamOptimizer(0.02, options)),
        path(rule(0.02, 0.8, 0.95, 1e-3)),
        1e-10,
      ),
    );
  });

  it('Adagrad: the longer the way, the smaller the steps', async () => {
    const rule = (start) => (x, gradient, t, state) => {
      state.sum = (state.sum ?? start) + gradient ** 2;
      return x - (0.5 * gradient) / Math.sqrt(state.sum);
    };
    assert.ok(isClose(await trained(() => new tf.train.AdagradOptimizer(0.5)), path(rule(0.1)), 1e-12));
    assert.ok(
      isClose(
        await trained(() => new tf.train.AdagradOptimizer(0.5, { initialAccumulatorValue: 2 })),
        path(rule(2)),
        1e-12,
      ),
    );
  });

  it('RMSProp: by a running mean of squares, or of deviations, with and without momentum', async () => {
    const rule = (decay, momentum, epsilon, centered) => (x, gradient, t, state) => {
      state.square = decay * (state.square ?? 1) + (1 - decay) * gradient ** 2;
      state.mean = decay * (state.mean ?? 0) + (1 - decay) * gradient;
      const spread = state.square - (centered ? state.mean ** 2 : 0);
      state.step = momentum * (state.step ?? 0) + (0.05 * gradient) / Math.sqrt(spread + epsilon);
      return x - state.step;
    };
    assert.ok(
      isClose(
        await trained(() => new tf.train.RMSPropOptimizer(0.05)),
        path(rule(0.9, 0, 1e-10, false)),
        1e-12,
      ),
    );
    const options = { decay: 0.75, momentum: 0.5, epsilon: 0.25 };
    assert.ok(
      isClose(
        await trained(() => new tf.train.RMSPropOptimizer(0.05, options)),
        path(rule(0.75, 0.5, 0.25, false)),
        1e-12,
      ),
    );
    assert.ok(
      isClose(
        await trained(() => new tf.train.RMSPropOptimizer(0.05, { ...options, centered: true })),
        path(rule(0.75, 0.5, 0.25, true)),
        1e-12,
      ),
    );
  });

  it('Adadelta: units are right without a learning rate', async () => {
    const rule = (rate, rho, epsilon) => (x, gradient, t, state) => {
      state.square = rho * (state.square ?? 0) + (1 - rho) * gradient ** 2;
      const step = (Math.sqrt((state.steps ?? 0) + epsilon) / Math.sqrt(state.square + epsilon)) * gradient;
      state.steps = rho * (state.steps ?? 0) + (1 - rho) * step ** 2;
      return x - rate * step;
    };
    assert.ok(
      isClose(await trained(() => new tf.train.AdadeltaOptimizer()), path(rule(0.001, 0.95, 1e-8)), 1e-12),
    );
    assert.ok(
      isClose(
        await trained(() => new tf.train.AdadeltaOptimizer(1, { rho: 0.5, epsilon: 0.01 })),
        path(rule(1, 0.5, 0.01)),
        1e-12,
      ),
    );
  });

  it('FTRL: the minimum of what was linear so far, with l1 and l2', async () => {
    const rule = (rate, power, start, l1, l2, shrinkage) => (x, gradient, t, state) => {
      const before = state.square ?? start;
      state.square = before + gradient ** 2;
      const strength = (square) => square ** -power / rate;
      state.linear =
        (state.linear ?? 0) + gradient + 2 * shrinkage * x - (strength(state.square) - strength(before)) * x;
      const z = state.linear;
      return Math.abs(z) <= l1 ? 0 : -(z - Math.sign(z) * l1) / (strength(state.square) + 2 * l2);
    };
    assert.ok(
      isClose(
        await trained(() => new tf.train.FtrlOptimizer(0.5)),
        path(rule(0.5, -0.5, 0.1, 0, 0, 0)),
        1e-12,
      ),
    );
    const options = {
      learningRatePower: -0.75,
      initialAccumulatorValue: 1,
      l1RegularizationStrength: 0.25,
      l2RegularizationStrength: 0.5,
    };
    assert.ok(
      isClose(
        await trained(() => new tf.train.FtrlOptimizer(0.5, options)),
        path(rule(0.5, -0.75, 1, 0.25, 0.5, 0)),
        1e-12,
      ),
    );
    const shrinking = { ...options, l2ShrinkageRegularizationStrength: 0.125 };
    assert.ok(
      isClose(
        await trained(() => new tf.train.FtrlOptimizer(0.5, shrinking)),
        path(rule(0.5, -0.75, 1, 0.25, 0.5, 0.125)),
        1e-12,
      ),
    );
  });

  it('every optimizer finds the line through points', async () => {
    const optimizers = [
      new tf.train.GradientDescentOptimizer(0.1),
      new tf.train.MomentumOptimizer(0.05, 0.75),
      new tf.train.MomentumOptimizer(0.05, 0.75, { useNesterov: true }),
      new tf.train.AdagradOptimizer(0.5),
      new tf.train.RMSPropOptimizer(0.01),
      new tf.train.RMSPropOptimizer(0.01, { centered: true, momentum: 0.5 }),
      new tf.train.AdamOptimizer(0.05),
      new tf.train.AdamOptimizer(0.05, { useNesterov: true }),
      new tf.train.AdadeltaOptimizer(0.5, { rho: 0.9, epsilon: 1e-4 }),
      new tf.train.FtrlOptimizer(1),
    ];
    for (const optimizer of optimizers) {
      await withGraph(tf, async (g, session) => {
        const w = g.variable([[0], [0]], { name: 'w' });
        const bias = g.variable([0], { name: 'bias' });
        const points = [
          [0, 1],
          [1, 0],
          [1, 2],
          [2, -1],
          [-1, 0.5],
        ];
        const wanted = points.map(([a, b]) => [2 * a - b + 0.5]);
        const loss = g.mean(g.square(g.sub(g.add(g.matMul(points, w), bias), wanted)), [0, 1]);
        const step = optimizer.minimize(loss);
        await session.run(g.initializer());
        for (let t = 0; t < 400; t++) await session.run(step);
        const [weights, offset] = await session.run([w, bias]);
        assert.ok(
          isClose([...weights.data, ...offset.data], [2, -1, 0.5], 0.02),
          `${optimizer.name}: ${weights.data}, ${offset.data}`,
        );
      });
    }
  });

  it('keeps slots with the names that TensorFlow gives them, one for each variable', () =>
    withGraph(tf, async (g, session) => {
      const w = g.variable([1, 2], { name: 'w' });
      const loss = g.sum(g.square(w), 0);
      const cases = [
        [new tf.train.GradientDescentOptimizer(1), {}],
        [new tf.train.MomentumOptimizer(1, 0.5), { momentum: 'w/Momentum' }],
        [new tf.train.AdagradOptimizer(1), { accumulator: 'w/Adagrad' }],
        [new tf.train.AdadeltaOptimizer(), { accum: 'w/Adadelta', accum_update: 'w/Adadelta_1' }],
        [
          new tf.train.RMSPropOptimizer(1, { centered: true }),
          { mg: 'w/RMSProp_1', momentum: 'w/RMSProp_2', rms: 'w/RMSProp' },
        ],
        [new tf.train.FtrlOptimizer(1), { accum: 'w/Ftrl', linear: 'w/Ftrl_1' }],
        [new tf.train.AdamOptimizer(1), { m: 'w/Adam', v: 'w/Adam_1' }],
      ];
      for (const [optimizer, slots] of cases) {
        const step = optimizer.minimize(loss);
        assert.equal(step.name, optimizer.name);
        assert.deepEqual(optimizer.getSlotNames(), Object.keys(slots));
        for (const [name, variable] of Object.entries(slots))
          assert.equal(optimizer.getSlot(w, name).name, variable);
        const variables = g.allVariables.length;
        optimizer.minimize(loss, { name: `${optimizer.name}_again` });
        assert.equal(g.allVariables.length, variables);
      }
      assert.deepEqual(g.trainableVariables, [w]);
      assert.ok(g.allVariables.some(({ name }) => name === 'beta1_power'));
      assert.equal(cases[1][0].getSlot(w, 'velocity'), null);
      await session.run(g.initializer());
      assert.deepEqual(
        (await session.run([cases[2][0].getSlot(w, 'accumulator'), cases[4][0].getSlot(w, 'rms')])).map(
          (slot) => slot.array(),
        ),
        [
          [Math.fround(0.1), Math.fround(0.1)],
          [1, 1],
        ],
      );
    }));

  it('a gradient may be changed before it is applied, and an optimizer used on several graphs', async () => {
    const optimizer = new tf.train.AdamOptimizer(0.5);
    for (const sign of [1, -1]) {
      await withGraph(tf, async (g, session) => {
        const x = g.variable(1, { name: 'x' });
        const pairs = optimizer
          .computeGradients(g.square(x))
          .map(([gradient, variable]) => [g.mul(gradient, sign), variable]);
        const step = optimizer.applyGradients(pairs);
        await session.run(g.initializer());
        await session.run(step); /* Adam's first step is the learning rate's, whatever the gradient's size */
        assert.ok(isClose([(await session.run(x)).item()], [1 - 0.5 * sign], 1e-6));
      });
    }
  });

  it('refuses numbers that make no sense and variables whose shape is not known', () =>
    withGraph(tf, async (g) => {
      assert.throws(() => new tf.train.AdagradOptimizer(1, { initialAccumulatorValue: 0 }), {
        name: 'InvalidArgumentError',
        message: /initialAccumulatorValue must be positive: 0/,
      });
      assert.throws(
        () => new tf.train.FtrlOptimizer(1, { learningRatePower: 0.5 }),
        /learningRatePower 0\.5 needs to be negative or zero/,
      );
      assert.throws(
        () => new tf.train.FtrlOptimizer(1, { l1RegularizationStrength: -1 }),
        /l1RegularizationStrength -1 needs to be positive or zero/,
      );
      const x = g.variable(g.placeholder('float32', [null], { name: 'start' }), { name: 'x' });
      assert.throws(
        () => new tf.train.MomentumOptimizer(1, 0.5).minimize(g.sum(x, 0)),
        /variable x needs a known shape to be trained/,
      );
      const rates = g.constant([1, 2]);
      assert.throws(() => new tf.train.GradientDescentOptimizer(rates).minimize(g.sum(g.square(x), 0)), {
        name: 'InvalidArgumentError',
        message: /Shape must be rank 0 but is rank 1/,
      });
    }));

  it('a learning rate may be a part of the graph, and of another type', async () => {
    const expected = path((x, gradient) => x - 0.25 * gradient);
    const got = await trained(
      (g) => new tf.train.GradientDescentOptimizer(g.mul(g.constant(0.5, { dtype: 'float64' }), 0.5)),
    );
    assert.ok(isClose(got, expected, 1e-12));
    assert.ok(
      isClose(await trained((g) => new tf.train.GradientDescentOptimizer(g.constant(0.25))), expected, 1e-12),
    );
  });

  it('counts steps, trains the given variables, and tells when there is nothing to train', () =>
    withGraph(tf, async (g, session) => {
      const [a, b] = [g.variable(1, { name: 'a' }), g.variable(1, { name: 'b' })];
      const still = g.variable(1, { name: 'still', trainable: false });
      const globalStep = g.variable(0n, { name: 'step', trainable: false });
      const loss = g.mul(g.mul(a, b), still);
      const optimizer = new tf.train.GradientDescentOptimizer(0.5);
      assert.deepEqual(
        optimizer.computeGradients(loss).map(([, variable]) => variable),
        [a, b],
      );
      const step = optimizer.minimize(loss, { vars: [b], globalStep });
      await session.run(g.initializer());
      await session.run(step);
      await session.run(step);
      assert.deepEqual(
        (await session.run([a, b, still, globalStep])).map((value) => value.item()),
        [1, 0, 1, 2n],
      );
      assert.throws(() => optimizer.minimize(g.constant(1)), {
        name: 'InvalidArgumentError',
        message: /No gradients provided for any variable: a, b/,
      });
      assert.throws(() => optimizer.applyGradients([]), InvalidArgumentError);
    }));

  it('variables start from values, outputs and other variables, and show what they are', () =>
    withGraph(tf, async (g, session) => {
      const first = g.variable([1, 2], { name: 'first' });
      const second = g.variable(first, { name: 'second' });
      const third = g.variable(g.fill([2, 2], 7), { name: 'third' });
      const fourth = g.variable([1], { dtype: 'int64' });
      await session.run(g.initializer());
      const values = await session.run([first, second, third, fourth]);
      assert.deepEqual(
        values.map((value) => value.array()),
        [
          [1, 2],
          [1, 2],
          [
            [7, 7],
            [7, 7],
          ],
          [1n],
        ],
      );
      assert.equal(String(third), 'Variable<third float32 [2,2]>');
      assert.equal(fourth.name, 'Variable');
      assert.deepEqual(g.allVariables, [first, second, third, fourth]);
      assert.throws(() => g.variable(1, { name: 'first' }), InvalidArgumentError);
      assert.deepEqual(g.allVariables.length, 4);
    }));
});
