import assert from 'node:assert/strict';
import { InvalidArgumentError, NotFoundError } from '../../npm/dist/index.js';
import { engine, withGraph } from './engine.mjs';

const SQUARE_PLUS_ONE = `SquarePlusOne[T:{float, double, int32}](x:T) -> (y:T) {
  x2 = Square[T=$T](x)
  one = Const[dtype=$T, value=1]()
  total = Add[T=$T](x2:y:0, one:output:0)
  return y = total:z:0
}`;

describe('functions', () => {
  let tf;
  before(async () => (tf = await engine()));

  it('are read from text, and printed as text that reads the same', () => {
    const parsed = tf.FunctionDef.parse(SQUARE_PLUS_ONE);
    assert.equal(parsed.name, 'SquarePlusOne');
    assert.deepEqual(parsed.signature.input_arg.map(({ name, type_attr }) => [name, type_attr]), [['x', 'T']]);
    const again = tf.FunctionDef.parse(parsed.toText());
    assert.deepEqual(again.toProto(), parsed.toProto());
    assert.match(String(parsed), /^\s*SquarePlusOne\[T:\{float, double, int32\}\]\(x:T\) -> \(y:T\) \{/);
    assert.deepEqual(tf.FunctionDef.fromProto(parsed.toProto()).toText(), parsed.toText());
  });

  it('refuse what is no function', () => {
    for (const text of ['', 'F(', 'F(x:float) -> (y:float) {', 'F(x:nonsense) -> () {\n}', `${SQUARE_PLUS_ONE} and more`]) {
      assert.throws(() => tf.FunctionDef.parse(text), InvalidArgumentError, text);
    }
    assert.throws(() => tf.FunctionDef.fromProto(Uint8Array.of(1, 2, 3)), InvalidArgumentError);
  });

  it('are made of parts of a graph', () => withGraph(tf, async (g) => {
    const x = g.placeholder('float32', [2], { name: 'x' });
    const y = g.tanh(g.mul(x, x, { name: 'square' }), { name: 'y' });
    const made = g.toFunction('TanhOfSquare', { inputs: [x], outputs: [y], outputNames: ['result'] });
    assert.equal(String(made).trim(), `TanhOfSquare(x:float) -> (result:float) {
  square = Mul[T=float](x, x)
  y = Tanh[T=float](square:z:0)
  return result = y:y:0
}`);
    assert.equal(g.operations().length, 3);
    const [dx] = g.gradients([y], [x]);
    const gradient = g.toFunction('Slope', { inputs: [x], outputs: [dx] });
    assert.match(gradient.toText(), /TanhGrad/);
    assert.equal(tf.FunctionDef.parse(gradient.toText()).toText(), gradient.toText());
    assert.throws(() => g.toFunction('F', { inputs: [x], outputs: [y], outputNames: ['a', 'b'] }), InvalidArgumentError);
  }));

  it('live in a graph, and travel with it', () => withGraph(tf, async (g) => {
    const parsed = tf.FunctionDef.parse(SQUARE_PLUS_ONE);
    g.addFunction(parsed);
    assert.deepEqual(g.functions().map(({ name }) => name), ['SquarePlusOne']);
    g.addFunction(parsed); // the same once more is fine
    assert.equal(g.functions().length, 1);
    assert.deepEqual(g.functions()[0].toProto(), parsed.toProto());
    const changed = tf.FunctionDef.parse(SQUARE_PLUS_ONE.replace('value=1', 'value=2'));
    assert.throws(() => g.addFunction(changed), { name: 'InvalidArgumentError', message: /SquarePlusOne/ });
    await withGraph(tf, async (other) => {
      other.importGraphDef(g.toGraphDef());
      assert.deepEqual(other.functions().map(({ name }) => name), ['SquarePlusOne']);
    });
  }));

  it('are ops of their graph, with attrs and plain inputs', () => withGraph(tf, async (g, session) => {
    g.addFunction(tf.FunctionDef.parse(SQUARE_PLUS_ONE));
    const x = g.placeholder('float64', [2], { name: 'x' });
    const { operation } = g.op('SquarePlusOne', [x], { name: 'call' }).output(0);
    assert.deepEqual([operation.type, operation.attr('T'), operation.opDef.output_arg[0].name], ['SquarePlusOne', 'float64', 'y']);
    assert.equal(g.op('SquarePlusOne', [3], { attrs: { T: 'int32' } }).inputs[0].dtype, 'int32');
    assert.throws(() => g.op('SquarePlusOne', [x], { attrs: { U: 1 } }), { name: 'InvalidArgumentError', message: /no attr 'U'/ });
    assert.throws(() => g.op('SquarePlusTwo', [x]), NotFoundError);
  }));

  it('have gradients that a graph is told', () => withGraph(tf, async (g) => {
    const double = (name) => tf.FunctionDef.parse(`${name}(x:float) -> (y:float) {\n  y = Add[T=float](x, x)\n  return y = y:z:0\n}`);
    const gradient = tf.FunctionDef.parse('DoubleGrad(x:float, dy:float) -> (dx:float) {\n  d = Add[T=float](dy, dy)\n  return dx = d:z:0\n}');
    for (const definition of [double('Double'), gradient]) g.addFunction(definition);
    g.addGradient('Double', 'DoubleGrad');
    g.addGradient('Double', 'DoubleGrad'); // the same once more is fine
    assert.match(g.toText(), /gradient \{\s+function_name: "Double"\s+gradient_func: "DoubleGrad"/);
    assert.throws(() => g.addGradient('Nothing', 'DoubleGrad'), { name: 'InvalidArgumentError', message: /'Nothing'/ });
    g.addFunction(double('Other'));
    assert.throws(() => g.addGradient('Double', 'Other'), { name: 'InvalidArgumentError', message: /Double/ });
    assert.equal(g.functions().length, 3);
  }));
});
