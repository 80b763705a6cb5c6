// Reference variables, which hold the state of TensorFlow 1.x graphs.
import assert from 'node:assert/strict';
import { difference } from '../../examples/models/golden.mjs';
import { engine, withGraph } from './engine.mjs';
import { goldenCases } from './golden.mjs';

describe('reference variables', function () {
  this.timeout(60_000);
  let tf;
  before(async () => (tf = await engine()));

  /** A variable with the value [1, 2]. */
  const withVariable = (body) =>
    withGraph(tf, async (g, session) => {
      const v = g.op('VariableV2', [], { name: 'v', attrs: { dtype: 'float32', shape: [2] } }).output(0);
      const init = g.op('Assign', [v, g.constant([1, 2])], { name: 'init' });
      return body({ g, session, v, init });
    });

  it('are made by hand, assigned, updated and fetched', () =>
    withVariable(async ({ g, session, v, init }) => {
      assert.equal(v.dtype, 'float32');
      assert.deepEqual(v.shape, [2]);
      assert.equal(init.output(0).dtype, 'float32');
      await assert.rejects(session.run(v), {
        name: 'FailedPreconditionError',
        message: /Attempting to use uninitialized value v/,
      });
      await session.run([], {}, { targets: [init] });
      const added = g.op('AssignAdd', [v, g.constant([10, 20])]).output(0);
      assert.deepEqual((await session.run(added)).array(), [11, 22]);
      const [value] = await session.run([v]);
      assert.equal(value.dtype, 'float32');
      assert.deepEqual(value.array(), [11, 22]);
      assert.deepEqual((await session.run(g.add(v, v))).array(), [22, 44]);
    }));

  it('are fed where their value is wanted', () =>
    withVariable(async ({ g, session, v }) => {
      assert.deepEqual((await session.run(g.neg(v), new Map([[v, [3, 4]]]))).array(), [-3, -4]);
    }));

  it('have gradients, which update them', () =>
    withVariable(async ({ g, session, v, init }) => {
      const [dv] = g.gradients([g.square(v)], [v]);
      assert.equal(dv.dtype, 'float32');
      const step = g.op('ApplyGradientDescent', [v, 0.25, dv]).output(0);
      await session.run([], {}, { targets: [init] });
      assert.deepEqual((await session.run(dv)).array(), [2, 4]);
      assert.deepEqual((await session.run(step)).array(), [0.5, 1]);
    }));

  it('are exported and imported, and print with their types', () =>
    withVariable(async ({ g, v, init }) => {
      assert.match(
        String(init),
        /^\{\{node init\}\} = Assign\[T=DT_FLOAT, use_locking=true, validate_shape=true\]\(v, Const\)$/,
      );
      assert.match(g.toText(), /name: "init"\s+op: "Assign"\s+input: "v"\s+input: "Const"/);
      assert.throws(
        () => g.op('Assign', [g.constant([1, 2]), [1, 2]]),
        /Input 'ref' passed float expected ref type while building NodeDef 'Assign'/,
      );
      assert.match(String(v), /^Output<v:0 float32 \[2\]>$/);
      await withGraph(tf, async (fresh, session) => {
        fresh.importGraphDef(g.toGraphDef());
        await session.run([], {}, { targets: ['init'] });
        assert.deepEqual((await session.run('v')).array(), [1, 2]);
      });
    }));

  it('are frozen to constants', () =>
    withVariable(async ({ g, session, v, init }) => {
      const x = g.placeholder('float32', [2], { name: 'x' });
      const y = g.mul(x, g.identity(v, { name: 'v/read' }), { name: 'y' });
      const changed = g.op('AssignAdd', [v, g.constant([1, 1])], { name: 'changed' }).output(0);
      await session.run([], {}, { targets: [init] });
      await assert.rejects(tf.freeze(session, [g.neg(changed)]), {
        name: 'FailedPreconditionError',
        node: 'changed',
        op: 'AssignAdd',
      });
      const bytes = await tf.freeze(session, [y]);
      await withGraph(tf, async (fresh, other) => {
        fresh.importGraphDef(bytes);
        assert.deepEqual(
          fresh
            .operations()
            .map(({ name, type }) => `${name} ${type}`)
            .sort(),
          ['v Const', 'v/read Identity', 'x Placeholder', 'y Mul'],
        );
        assert.deepEqual((await other.run('y', { x: [10, 100] })).array(), [10, 200]);
      });
    }));

  it('are trained by the graph that TensorFlow 1.x exported, saved by its Saver, and restored in another session', async () => {
    const golden = (await goldenCases('tf1_training')).find(({ name }) => name.startsWith('char LSTM'));
    const feedsOf = ({ feeds }) =>
      Object.fromEntries(feeds.map(({ name, dtype, shape, data }) => [name, tf.tensor(data, shape, dtype)]));
    const training = golden.steps.filter(({ fetches }) => fetches[0]?.name === 'loss:0');
    const train = training[1].targets;
    await withGraph(tf, async (g, session) => {
      g.importGraphDef(golden.graph);
      await session.run([], {}, { targets: ['init'] });
      for (const step of training) {
        const loss = await session.run('loss', feedsOf(step), { targets: train });
        assert.equal(difference(loss, step.fetches[0]), undefined);
      }
      const weights = g
        .operations()
        .filter(({ type }) => type === 'VariableV2')
        .map(({ name }) => name);
      const trained = await session.run(weights);
      await session.run('save/control_dependency', { 'save/Const': tf.tensor(['lstm/model'], [], 'string') });
      assert.deepEqual(tf.files.list('lstm/'), ['lstm/model.data-00000-of-00001', 'lstm/model.index']);
      const other = new tf.Session(g);
      await other.run(
        [],
        { 'save/Const': tf.tensor(['lstm/model'], [], 'string') },
        { targets: ['save/restore_all'] },
      );
      const restored = await other.run(weights);
      trained.forEach((value, i) => assert.deepEqual(restored[i].array(), value.array(), weights[i]));
      await other.close();
      tf.files.list('lstm/').forEach((path) => tf.files.remove(path));
    });
  });
});
