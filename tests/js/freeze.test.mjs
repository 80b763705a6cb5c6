import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../npm/dist/index.js';
import { engine, withGraph } from './engine.mjs';

describe('tf.freeze', () => {
  let tf;
  before(async () => (tf = await engine()));

  /** y = x * w + 1, after w was changed to [3, 4]; with a loss and training. */
  const withModel = (body) =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', [2], { name: 'x' });
      const w = g.variable([1, 2], { name: 'w' });
      const y = g.add(g.mul(x, w), 1, { name: 'y' });
      const train = new tf.train.GradientDescentOptimizer(1).minimize(g.sum(y, 0));
      await session.run(g.initializer());
      await session.run(g.assignVariableOp(w, [3, 4]));
      return body({ g, session, x, w, y, train });
    });

  it('keeps what the outputs need, with variables as constants', () =>
    withModel(async ({ session, y }) => {
      const bytes = await tf.freeze(session, [y]);
      await withGraph(tf, async (fresh, other) => {
        fresh.importGraphDef(bytes);
        assert.deepEqual(
          fresh
            .operations()
            .map(({ name, type }) => `${name} ${type}`)
            .sort(),
          ['Mul Mul', 'w/Read Const', 'x Placeholder', 'y Add', 'y/y Const'],
        );
        assert.deepEqual((await other.run('y', { x: [10, 100] })).array(), [31, 401]);
        assert.equal(fresh.output('x').dtype, 'float32');
      });
    }));

  it('takes outputs by name and several of them, and leaves graph and session as they are', () =>
    withModel(async ({ g, session, x, w }) => {
      const count = g.operations().length;
      const bytes = await tf.freeze(session, ['y', w, 'Mul:0']);
      assert.equal(g.operations().length, count);
      assert.deepEqual((await session.run('y', new Map([[x, [1, 1]]]))).array(), [4, 5]);
      await withGraph(tf, async (fresh, other) => {
        fresh.importGraphDef(bytes);
        assert.deepEqual(
          (await other.run(['y', 'w/Read', 'Mul'], { x: [1, 1] })).map((value) => value.array()),
          [
            [4, 5],
            [3, 4],
            [3, 4],
          ],
        );
      });
    }));

  it('does not run what a read waits for', () =>
    withModel(async ({ g, session, w, train }) => {
      const after = g
        .op('ReadVariableOp', [w], { attrs: { dtype: 'float32' }, controlInputs: [train], name: 'after' })
        .output(0);
      await withGraph(tf, async (fresh, other) => {
        fresh.importGraphDef(await tf.freeze(session, [after]));
        assert.deepEqual((await other.run('after')).array(), [3, 4]);
      });
      assert.deepEqual((await session.run(w)).array(), [3, 4]);
    }));

  it('refuses what changes variables, unknown outputs, and nothing', () =>
    withModel(async ({ g, session, w }) => {
      const changed = g.op('AssignAddVariableOp', [w, g.constant([1, 1])], { name: 'change' });
      const y = g.identity(w, { controlInputs: [changed] });
      await assert.rejects(tf.freeze(session, [y]), {
        name: 'FailedPreconditionError',
        node: 'change',
        op: 'AssignAddVariableOp',
      });
      await assert.rejects(tf.freeze(session, ['nothing']), { code: 'NOT_FOUND' });
      await assert.rejects(tf.freeze(session, []), InvalidArgumentError);
    }));
});
