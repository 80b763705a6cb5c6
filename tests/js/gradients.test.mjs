import assert from 'node:assert/strict';
import { FailedPreconditionError, InvalidArgumentError } from '../../npm/dist/index.js';
import { checkGradients } from '../../npm/dist/testing.js';
import { engine, isClose, withGraph } from './engine.mjs';

describe('graph.gradients', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('differentiates, and gives null where no gradient flows', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', [3]);
      const unused = g.placeholder('float32', [3]);
      const y = g.sum(g.mul(g.square(x), 3), 0);
      const [dx, none] = g.gradients([y], [x, unused]);
      assert.equal(none, null);
      assert.deepEqual((await session.run(dx, new Map([[x, [1, 2, 3]]]))).array(), [6, 12, 18]);
    }));

  it('adds up the paths of several ys, and weighs them with gradYs', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float64', [2]);
      const [ys, gradYs] = [
        [g.square(x), g.exp(x)],
        [g.constant([10, 100], { dtype: 'float64' }), g.constant([1, -1], { dtype: 'float64' })],
      ];
      const [plain] = g.gradients(ys, [x]);
      const [weighed] = g.gradients(ys, [x], { gradYs });
      const at = [0.5, -2];
      const [a, b] = await session.run([plain, weighed], new Map([[x, at]]));
      assert.ok(
        isClose(
          a.data,
          at.map((v) => 2 * v + Math.exp(v)),
          1e-12,
        ),
      );
      assert.ok(
        isClose(b.data, [10 * 2 * at[0] + Math.exp(at[0]), 100 * 2 * at[1] - Math.exp(at[1])], 1e-12),
      );
      assert.throws(() => g.gradients(ys, [x], { gradYs: [gradYs[0]] }), InvalidArgumentError);
    }));

  it('takes what it is told to stop at as constant', () =>
    withGraph(tf, async (g, session) => {
      const a = g.placeholder('float32', []);
      const b = g.mul(a, 2);
      const y = g.add(a, b);
      const total = g.gradients([y], [a, b]);
      const partial = g.gradients([y], [a, b], { stopGradients: [a, b] });
      const values = await session.run([...total, ...partial], new Map([[a, 5]]));
      assert.deepEqual(
        values.map((value) => value.item()),
        [3, 1, 1, 1],
      );
      assert.deepEqual(g.gradients([y], [a], { stopGradients: [y] }), [null]);
    }));

  it('flows into variables, through and past each other', () =>
    withGraph(tf, async (g, session) => {
      const a = g.variable([1, 2], { name: 'a' });
      const b = g.variable([3, 4], { name: 'b' });
      const c = g.variable([5, 6], { name: 'c' });
      const y = g.add(g.mul(a, b), a);
      const [da, db, dc] = g.gradients([y], [a, b, c]);
      assert.equal(dc, null);
      await session.run(g.initializer());
      const values = await session.run([da, db]);
      assert.deepEqual(
        values.map((value) => value.array()),
        [
          [4, 5],
          [1, 2],
        ],
      );
    }));

  it('can be differentiated again', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float64', []);
      const y = g.mul(g.square(x), x); // x^3
      const [first] = g.gradients([y], [x]);
      const [second] = g.gradients([first], [x]);
      const [third] = g.gradients([second], [x]);
      const values = await session.run([first, second, third], new Map([[x, 2]]));
      assert.deepEqual(
        values.map((value) => value.item()),
        [12, 12, 6],
      );
    }));

  it('puts its nodes under a name', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float32', [2]);
      const y = g.tanh(x);
      assert.match(g.gradients([y], [x])[0].name, /^gradients\//);
      assert.match(g.gradients([y], [x])[0].name, /^gradients_1\//);
      assert.match(g.gradients([y], [x], { name: 'slope' })[0].name, /^slope\//);
    }));
});

describe('checkGradients', () => {
  let tf;
  before(async () => (tf = await engine()));

  const value = [
    [0.1, -0.4, 0.8],
    [1.2, 0.3, -0.9],
  ];

  it('finds right gradients right, at a given point or somewhere', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float64', [2, 3]);
      const w = g.constant(
        [
          [0.3, -0.2],
          [0.1, 0.5],
          [-0.7, 0.4],
        ],
        { dtype: 'float64' },
      );
      const y = g.softmax(g.tanh(g.matMul(x, w)));
      const { maxError } = await checkGradients(tf, g, y, x, { value });
      assert.ok(maxError > 0 && maxError < 1e-8, `error ${maxError}`);
      const flat = await checkGradients(tf, g, y, x, { value: new Float64Array(value.flat()) });
      assert.equal(flat.maxError, maxError);
      const somewhere = await checkGradients(tf, g, y, x);
      assert.ok(somewhere.maxError < 1e-8 && somewhere.maxError !== maxError, `error ${somewhere.maxError}`);
      const second = await checkGradients(tf, g, y, x, { value, order: 2 });
      assert.ok(second.maxError < 1e-8, `error ${second.maxError}`);
    }));

  it('takes several ys and xs, other feeds, and single precision', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float32', [2, 3]);
      const w = g.placeholder('float32', [null, 2]);
      const scale = g.placeholder('float32', null, { name: 'scale' });
      const product = g.matMul(x, w);
      const ys = [g.mul(g.sigmoid(product), scale), g.exp(w)];
      const feeds = new Map([
        [
          w,
          [
            [0.3, -0.2],
            [0.1, 0.5],
            [-0.7, 0.4],
          ],
        ],
        ['scale:0', 2],
      ]);
      const { maxError } = await checkGradients(tf, g, ys, [x, w], { feeds, order: 2 });
      assert.ok(maxError > 0 && maxError < 1e-2, `error ${maxError}`);
      const unfed = g.reciprocal(g.placeholder('float32', [2], { name: 'r' }));
      await assert.rejects(
        checkGradients(tf, g, unfed, x),
        (error) => error instanceof InvalidArgumentError && error.node === 'r' && error.op === 'Placeholder',
      );
    }));

  it('moves complex numbers in both parts', () =>
    withGraph(tf, async (g) => {
      const z = g.placeholder('complex128', [3]);
      const { maxError } = await checkGradients(tf, g, [g.mul(z, z), g.op('Conj', [z]).output(0)], z, {
        order: 2,
      });
      assert.ok(maxError < 1e-8, `error ${maxError}`);
      const half = await checkGradients(tf, g, g.mul(z, g.stopGradient(z)), z, {
        value: [
          { re: 0, im: 0.25 },
          { re: 0.25, im: 0 },
          { re: 0, im: 0 },
        ],
      });
      assert.ok(isClose([half.maxError], [0.25], 1e-8), `error ${half.maxError}`);
    }));

  it('measures how wrong a gradient is', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float64', [2]);
      /* x * x, of which the gradient knows only one half: 3 instead of 6, and 0.25 instead of 0.5. */
      const { maxError } = await checkGradients(tf, g, g.mul(x, g.stopGradient(x)), x, { value: [0.25, 3] });
      assert.ok(isClose([maxError], [0.5], 1e-8), `error ${maxError}`);
      /* At x = 1 the value jumps, which the gradient, 1 everywhere, does not show. */
      const step = g.cast(g.greater(x, 1), { dstT: 'float64' });
      const jump = await checkGradients(tf, g, g.add(x, step), x, { value: [1, 3], step: 2 ** -10 });
      assert.ok(isClose([jump.maxError], [512 / 513], 1e-8), `error ${jump.maxError}`);
      /* The value of s (2 x - s) for s = stopGradient(x) is x^2, its gradient 2 s is correct, but the
       * gradient of that is not. */
      const s = g.stopGradient(x);
      const once = g.mul(s, g.sub(g.mul(x, 2), s));
      assert.ok((await checkGradients(tf, g, once, x)).maxError < 1e-8);
      assert.ok((await checkGradients(tf, g, once, x, { order: 2 })).maxError > 0.1);
    }));

  it('checks ops of ones own, and variables in their session', () =>
    withGraph(tf, async (g, session) => {
      const gradient = (factor) => `G[T:{float, double}](x:T, dy:T) -> (dx:T) {
      c = Const[dtype=$T, value=${factor}]()
      x2 = Square[T=$T](x)
      a = Mul[T=$T](c:output:0, x2:y:0)
      dx = Mul[T=$T](a:z:0, dy)
      return dx = dx:z:0
    }`;
      const cube = (name, factor) =>
        tf.registerOp({
          name,
          inputs: ['x: T'],
          outputs: ['y: T'],
          attrs: ['T: {float, double}'],
          shape: (c) => c.setOutput(0, c.input(0)),
          kernel: ([x]) => [
            tf.tensor(
              x.data.map((v) => v ** 3),
              x.shape,
              x.dtype,
            ),
          ],
          gradient: gradient(factor),
        });
      cube('CheckedCube', 3);
      cube('WrongCube', 2);
      const v = g.variable(g.constant([0.5, 2], { dtype: 'float64' }), { name: 'v' });
      await session.run(g.initializer());
      const x = g.placeholder('float64', [2]);
      const [right] = g.op('CheckedCube', [g.mul(x, v)]).outputs;
      const [wrong] = g.op('WrongCube', [g.mul(x, v)]).outputs;
      assert.ok((await checkGradients(tf, g, right, x, { session, order: 2 })).maxError < 1e-8);
      const { maxError } = await checkGradients(tf, g, wrong, x, { session, value: [4, 1] });
      assert.ok(isClose([maxError], [1 / 3], 1e-8), `error ${maxError}`);
      assert.ok(
        (await checkGradients(tf, g, right, v, { feeds: new Map([[x, [1, -1]]]) })).maxError < 1e-8,
        'a variable may be fed',
      );
      await assert.rejects(checkGradients(tf, g, right, x), FailedPreconditionError);
    }));

  it('leaves the graph and memory as they were, and refuses what it cannot check', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float64', [2]);
      const open = g.placeholder('float64', [null]);
      const [y, whole] = [g.exp(x), g.placeholder('int32', [2])];
      const before = g.operations().length;
      await checkGradients(tf, g, y, x);
      const { tensors } = tf.memory();
      await checkGradients(tf, g, y, x, { order: 2 });
      await assert.rejects(checkGradients(tf, g, y, whole), InvalidArgumentError);
      await assert.rejects(
        checkGradients(tf, g, y, whole, { value: new Int32Array(2) }),
        InvalidArgumentError,
      );
      await assert.rejects(checkGradients(tf, g, g.exp(open), open), /value for/);
      await assert.rejects(checkGradients(tf, g, y, [x, open], { value: [1, 2] }), /for one x/);
      await assert.rejects(checkGradients(tf, g, y, x, { order: 9 }), InvalidArgumentError);
      await assert.rejects(checkGradients(tf, g, y, x, { step: -1 }), InvalidArgumentError);
      await assert.rejects(
        withGraph(tf, (other, otherSession) => checkGradients(tf, g, y, x, { session: otherSession })),
        InvalidArgumentError,
      );
      await assert.rejects(
        withGraph(tf, (other) => checkGradients(tf, g, other.exp(other.constant(1)), x)),
        InvalidArgumentError,
      );
      assert.equal(g.operations().length, before + 1, 'only the exp of an open shape was added');
      assert.equal(tf.memory().tensors, tensors);
    }));
});
