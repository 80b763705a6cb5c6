// The hints after TensorFlow's messages: suggested names, and how variables get their values.
import assert from 'node:assert/strict';
import { inferShapes } from '../../npm/dist/testing.js';
import { engine, withGraph } from './engine.mjs';

describe('messages', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('say which name was meant', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', [2], { name: 'images' });
      g.matMul([[1, 2]], [[1], [2]], { name: 'model/logits' });
      g.addFunction(
        tf.FunctionDef.parse('Twice(x:float) -> (y:float) { y = Add[T=float](x, x) return y = y:z:0 }'),
      );
      const cases = [
        [() => g.op('Matmul', [x, x]), 'MatMul'],
        [() => g.op('matMul', [[[1]], [[1]]]), 'MatMul'],
        [() => tf.opDef('Reul'), 'Relu'],
        [() => inferShapes(tf, { op: 'Conv2d' }, '?'), 'Conv2D'],
        [() => g.importGraphDef('node { name: "a" op: "MatMull" } versions { producer: 27 }'), 'MatMul'],
        [() => session.runSync('image'), 'images'],
        [() => session.runSync('imagse:0'), 'images'],
        [() => session.runSync([], {}, { targets: ['imges'] }), 'images'],
        [() => session.runSync('images', { iamges: [1, 2] }), 'images'],
        [() => session.runSync('logits'), 'model/logits'],
        [() => g.output('Images:0'), 'images'],
        [() => g.op('MatMul', [x, x], { attrs: { transposeA: true } }), 'transpose_a'],
        [() => g.matMul(x, x, { tranposeA: true }), 'transposeA'],
        [() => g.operation('images').attr('dtpye'), 'dtype'],
        [() => g.placeholder('flaot32'), 'float32'],
        [() => tf.tensor(1, [], 'int23'), 'int32'],
        [() => g.call('twice', [1]), 'Twice'],
        [() => g.op('Twcie', [x]), 'Twice'],
        [() => new tf.train.AdamOptimizer(0.1, { beta_1: 0.5 }), 'beta1'],
        [() => session.runSync([], {}, { target: [] }), 'targets'],
        [() => tf.registerOp({ name: 'A', kernal: () => [] }), 'kernel'],
        [() => tf.FunctionDef.create({ name: 'F', inputs: [], outputs: [], node: [], returns: {} }), 'nodes'],
        [
          () =>
            tf.FunctionDef.define({
              name: 'F',
              args: ['x: float'],
              returns: ['y: float'],
              nodes: [{ returns: ['y'], op: 'Cast', args: ['x'], attrs: { DestT: 'float' } }],
            }),
          'DstT',
        ],
      ];
      for (const [use, meant] of cases)
        assert.throws(
          use,
          (error) =>
            error.code !== undefined && error.message.replace(/^[^]*id you mean/, '').includes(`'${meant}'`),
          String(use),
        );
      await assert.rejects(tf.freeze(session, ['images:0', 'logit']), /did you mean 'model\/logits'/);
    }));

  it('name nothing where no name is near', () =>
    withGraph(tf, async (g, session) => {
      g.placeholder('float32', [2], { name: 'images' });
      for (const use of [
        () => g.op('Zzyzx', []),
        () => session.runSync('zzyzx'),
        () => tf.opDef('q'),
        () => session.runSync('x'.repeat(10_000)),
      ]) {
        assert.throws(
          use,
          (error) => error.name === 'NotFoundError' && !error.message.includes('you mean'),
          String(use),
        );
      }
    }));

  it("name the initializer where a variable, or an optimizer's slot, has no value yet", () =>
    withGraph(tf, async (g, session) => {
      const w = g.variable([1, 2], { name: 'w' });
      assert.throws(() => session.runSync(w), {
        name: 'FailedPreconditionError',
        message: /^Could not find variable w\.[^]*\n.*session\.run\(graph\.initializer\(\)\)/,
      });
      session.runSync(g.initializer());
      const step = new tf.train.MomentumOptimizer(0.1, 0.9).minimize(g.mean(w, [0]));
      assert.throws(() => session.runSync(step), {
        name: 'InternalError', // TensorFlow's
        message: /^Invalid variable reference\.[^]*\n.*slots of an optimizer/,
      });
      session.runSync(g.initializer());
      session.runSync(step);
    }));

  it('name the initialiser that an imported graph brings', () =>
    withGraph(tf, async (g, session) => {
      const made = new tf.Graph();
      const w = made.variable([1, 2], { name: 'w' });
      made.noOp({ name: 'init', controlInputs: [w.initializer] });
      g.importGraphDef(made.toGraphDef());
      made.dispose();
      assert.throws(() => session.runSync('w/Read'), { message: /session\.run\('init'\)/ });
      session.runSync('init');
      assert.deepEqual(session.runSync('w/Read').array(), [1, 2]);
    }));

  it('say where no gradient flows, when null is used for an output', () =>
    withGraph(tf, async (g, session) => {
      const [x, z] = [
        g.placeholder('float32', [], { name: 'x' }),
        g.placeholder('float32', [], { name: 'z' }),
      ];
      const y = g.square(x, { name: 'y' });
      const gradients = g.gradients(y, [x, z]);
      assert.equal(gradients[1], null);
      const feeds = [
        [x, 3],
        [z, 1],
      ];
      for (const use of [
        () => session.runSync(gradients, feeds),
        () => session.runSync({ dz: gradients[1] }, feeds),
        () => g.neg(gradients[1]),
        () => g.gradients([gradients[1]], [x]),
        () => g.toFunction('F', { inputs: [x], outputs: gradients }),
      ]) {
        assert.throws(
          use,
          {
            name: 'InvalidArgumentError',
            message: /null[^]*none flows from y:0 to z:0[^]*unconnectedGradients/,
          },
          String(use),
        );
      }
      const zeros = g.gradients([y], [x, z], { unconnectedGradients: 'zero' });
      assert.deepEqual(
        session.runSync(zeros, feeds).map((tensor) => tensor.item()),
        [6, 0],
      );
      const w = g.variable([1, 2], { name: 'w' });
      session.runSync(g.initializer());
      assert.deepEqual(
        session.runSync(g.gradients(y, w, { unconnectedGradients: 'zero' })).map((tensor) => tensor.array()),
        [[0, 0]],
      );
    }));

  it('take feeds as pairs as they take a map', () =>
    withGraph(tf, async (g, session) => {
      const [a, b] = [g.placeholder('float32', [2]), g.placeholder('bool', [], { name: 'b' })];
      const list = [a, g.logicalNot(b)];
      const want = [[1, 2], false];
      for (const feeds of [
        [
          [a, [1, 2]],
          ['b', true],
        ],
        new Map([
          [a, [1, 2]],
          ['b', true],
        ]),
        [
          [a, tf.tensor([1, 2])],
          [b, [[true]][0][0]],
        ],
      ]) {
        assert.deepEqual(
          (await session.run(list, feeds)).map((tensor) => tensor.array()),
          want,
        );
      }
      for (const feeds of [[a, [1, 2]], [[a]], [[a, 1, 2]], [5], 5, a, 'b', new Set([1])]) {
        assert.throws(() => session.runSync(list, feeds), {
          name: 'InvalidArgumentError',
          message: /feeds are a Map, pairs such as \[\[x, value\]\], or an object/,
        });
      }
      assert.throws(
        () =>
          session.runSync(list, [
            [a, [1, 'x']],
            [b, true],
          ]),
        { message: /^the value for Placeholder:0: "x" cannot be an element of dtype float32/ },
      );
    }));
});
