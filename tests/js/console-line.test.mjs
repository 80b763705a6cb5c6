// Console output: one line for each object, without its internals.
import assert from 'node:assert/strict';
import { Tensor } from '../../npm/dist/index.js';
import { engine, isPage, withGraph } from './engine.mjs';

const INSPECT = Symbol.for('nodejs.util.inspect.custom');

describe('console.log', () => {
  let tf;
  let inspect;
  before(async () => {
    tf = await engine();
    /* Pages have no inspect: their consoles show an object's class and its fields. */
    inspect = isPage
      ? (value) => (Array.isArray(value) ? `[ ${value.map(inspect).join(', ')} ]` : value[INSPECT]())
      : (await import('node:util')).inspect;
  });

  it('prints objects in one useful line', () =>
    withGraph(tf, async (g, session) => {
      const x = g.placeholder('float32', [null, 2], { name: 'x' });
      const w = g.variable([[1], [2]], { name: 'w' });
      const y = g.matMul(x, w, { name: 'y' });
      const definition = tf.FunctionDef.parse(
        'Twice[T:{float, double}](x:T) -> (y:T) { y = Add[T=$T](x, x) return y = y:z:0 }',
      );
      g.addFunction(definition);
      const body = definition.instantiate({ T: 'float32' });
      const lines = [
        [g, 'Graph<6 nodes, 1 variable, 1 function>'],
        [session, 'Session<of Graph<6 nodes, 1 variable, 1 function>>'],
        [y, 'Output<y:0 float32 [?,1]>'],
        [w, 'Variable<w float32 [2,1]>'],
        [
          y.operation,
          '{{node y}} = MatMul[T=DT_FLOAT, grad_a=false, grad_b=false, transpose_a=false, transpose_b=false](x, w/Read)',
        ],
        [
          tf.tensor([
            [1, 2],
            [3, 4],
          ]),
          'Tensor<float32 [2,2]: 1, 2, 3, 4>',
        ],
        [tf.tensor('text'), 'Tensor<string []: "text">'],
        [definition, 'FunctionDef<Twice(x: T) -> (y: T), 1 node>'],
        [body, 'FunctionBody<(float32) -> (float32)>'],
      ];
      for (const [object, line] of lines) assert.equal(inspect(object), line);
      assert.equal(inspect([y, w]), '[ Output<y:0 float32 [?,1]>, Variable<w float32 [2,1]> ]');
      body.dispose();
    }));

  it('prints long values cut, and disposed objects as such', async () => {
    const long = inspect(tf.tensor(['x'.repeat(100_000), 'y'.repeat(100_000)]));
    assert.ok(long.length < 200 && long.startsWith('Tensor<string [2]: "xxx'), long.slice(0, 300));
    const g = new tf.Graph();
    const session = new tf.Session(g);
    const x = g.placeholder('float32', []);
    await session.close();
    g.dispose();
    assert.deepEqual(
      [g, session, x, x.operation].map((object) => inspect(object)),
      ['Graph<disposed>', 'Session<closed>', 'Output<>', 'Operation<>'],
    );
  });

  it('shows nothing of the inside where fields are shown', () =>
    withGraph(tf, async (g, session) => {
      const y = g.constant(1);
      const definition = tf.FunctionDef.parse('F(x:float) -> (y:float) { return y = x }');
      const body = definition.instantiate();
      assert.deepEqual(
        [g, definition, tf.files].map((object) => Object.keys(object)),
        [[], [], []],
      );
      assert.deepEqual(
        [session, y, body, new Tensor('int32', [], Int32Array.of(1))].map((object) => Object.keys(object)),
        [['graph'], ['operation', 'index'], ['argTypes', 'retTypes'], ['dtype', 'shape', 'data']],
      );
      assert.equal(Object.prototype.toString.call(g), '[object Graph]');
      assert.equal(`${session}`, 'Session<of Graph<1 node>>');
      body.dispose();
    }));
});
