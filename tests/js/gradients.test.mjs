import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../npm/dist/index.js';
import { checkGradients } from '../../npm/dist/testing.js';
import { engine, isClose, withGraph } from './engine.mjs';

describe('graph.gradients', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('differentiates, and gives null where no gradient flows', () => withGraph(tf, async (g, session) => {
    const x = g.placeholder('float32', [3]);
    const unused = g.placeholder('float32', [3]);
    const y = g.sum(g.mul(g.square(x), 3), 0);
    const [dx, none] = g.gradients([y], [x, unused]);
    assert.equal(none, null);
    assert.deepEqual((await session.run(dx, new Map([[x, [1, 2, 3]]]))).array(), [6, 12, 18]);
  }));

  it('adds up the paths of several ys, and weighs them with gradYs', () => withGraph(tf, async (g, session) => {
    const x = g.placeholder('float64', [2]);
    const [ys, gradYs] = [[g.square(x), g.exp(x)], [g.constant([10, 100], { dtype: 'float64' }), g.constant([1, -1], { dtype: 'float64' })]];
    const [plain] = g.gradients(ys, [x]);
    const [weighed] = g.gradients(ys, [x], { gradYs });
    const at = [0.5, -2];
    const [a, b] = await session.run([plain, weighed], new Map([[x, at]]));
    assert.ok(isClose(a.data, at.map((v) => 2 * v + Math.exp(v)), 1e-12));
    assert.ok(isClose(b.data, [10 * 2 * at[0] + Math.exp(at[0]), 100 * 2 * at[1] - Math.exp(at[1])], 1e-12));
    assert.throws(() => g.gradients(ys, [x], { gradYs: [gradYs[0]] }), InvalidArgumentError);
  }));

  it('flows into variables, through and past each other', () => withGraph(tf, async (g, session) => {
    const a = g.variable([1, 2], { name: 'a' });
    const b = g.variable([3, 4], { name: 'b' });
    const c = g.variable([5, 6], { name: 'c' });
    const y = g.add(g.mul(a, b), a);
    const [da, db, dc] = g.gradients([y], [a, b, c]);
    assert.equal(dc, null);
    await session.run(g.initializer());
    const values = await session.run([da, db]);
    assert.deepEqual(values.map((value) => value.array()), [[4, 5], [1, 2]]);
  }));

  it('can be differentiated again', () => withGraph(tf, async (g, session) => {
    const x = g.placeholder('float64', []);
    const y = g.mul(g.square(x), x); // x^3
    const [first] = g.gradients([y], [x]);
    const [second] = g.gradients([first], [x]);
    const [third] = g.gradients([second], [x]);
    const values = await session.run([first, second, third], new Map([[x, 2]]));
    assert.deepEqual(values.map((value) => value.item()), [12, 12, 6]);
  }));

  it('puts its nodes under a name', () => withGraph(tf, async (g) => {
    const x = g.placeholder('float32', [2]);
    const y = g.tanh(x);
    assert.match(g.gradients([y], [x])[0].name, /^gradients\//);
    assert.match(g.gradients([y], [x])[0].name, /^gradients_1\//);
    assert.match(g.gradients([y], [x], { name: 'slope' })[0].name, /^slope\//);
  }));

  it('agrees with central differences, which checkGradients takes', () => withGraph(tf, async (g) => {
    const x = g.placeholder('float64', [2, 3]);
    const w = g.constant([[0.3, -0.2], [0.1, 0.5], [-0.7, 0.4]], { dtype: 'float64' });
    const y = g.softmax(g.tanh(g.matMul(x, w)));
    const value = [[0.1, -0.4, 0.8], [1.2, 0.3, -0.9]];
    const { maxError } = await checkGradients(tf, g, y, x, { value });
    assert.ok(maxError < 1e-8, `error ${maxError}`);
    const somewhere = await checkGradients(tf, g, y, x);
    assert.ok(somewhere.maxError < 1e-8 && somewhere.maxError !== maxError, `error ${somewhere.maxError}`);
    const other = g.placeholder('float64', [2, 3]);
    const mixed = await checkGradients(tf, g, g.mul(x, g.sigmoid(other)), other, { value, feeds: new Map([[x, value]]) });
    assert.ok(mixed.maxError < 1e-8, `error ${mixed.maxError}`);
  }));

  it('checkGradients finds a gradient that is wrong', () => withGraph(tf, async (g) => {
    const x = g.placeholder('float64', [2]);
    /* At x = 1 the value jumps, which the gradient, 1 everywhere, does not know. */
    const step = g.cast(g.greater(x, 1), { dstT: 'float64' });
    const { maxError } = await checkGradients(tf, g, g.add(x, step), x, { value: [1, 3], step: 1e-3 });
    assert.ok(maxError > 0.9, `error ${maxError}`);
    await assert.rejects(checkGradients(tf, g, step, g.placeholder('int32', [2]), { value: [1, 2] }), InvalidArgumentError);
  }));
});
