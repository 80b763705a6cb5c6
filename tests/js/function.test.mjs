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
    assert.deepEqual(
      parsed.signature.input_arg.map(({ name, type_attr }) => [name, type_attr]),
      [['x', 'T']],
    );
    const again = tf.FunctionDef.parse(parsed.toText());
    assert.deepEqual(again.toProto(), parsed.toProto());
    assert.match(String(parsed), /^\s*SquarePlusOne\[T:\{float, double, int32\}\]\(x:T\) -> \(y:T\) \{/);
    assert.deepEqual(tf.FunctionDef.fromProto(parsed.toProto()).toText(), parsed.toText());
  });

  it('are created from nodes that are named as FunctionDefs have them', () => {
    const made = tf.FunctionDef.create({
      name: 'SquarePlusOne',
      inputs: ['x: T'],
      outputs: ['y: T'],
      attrs: ['T: {float, double, int32}'],
      nodes: [
        { name: 'x2', op: 'Square', inputs: ['x'], attrs: { T: '$T' } },
        { name: 'one', op: 'Const', attrs: { value: 1, dtype: '$T' } },
        { name: 'total', op: 'Add', inputs: ['x2:y:0', 'one:output:0'], attrs: { T: '$T' } },
      ],
      returns: { y: 'total:z:0' },
    });
    assert.deepEqual(made.toText(), tf.FunctionDef.parse(SQUARE_PLUS_ONE).toText());
    const controlled = tf.FunctionDef.create({
      name: 'ControlDep',
      inputs: ['x: int32'],
      outputs: ['y: int32'],
      nodes: [
        { name: 'a', op: 'Identity', inputs: ['x'], attrs: { T: 'int32' }, device: '/device:CPU:0' },
        { name: 'o', op: 'NoOp', controlInputs: ['a'] },
        { name: 'y', op: 'Identity', inputs: ['a:output:0', '^o'], attrs: { T: 'int32' } },
      ],
      returns: { y: 'y:output:0' },
      controlReturns: { done: 'o' },
    });
    assert.equal(
      String(controlled),
      `
ControlDep(x:int32) -> (y:int32) {
  a = Identity[T=int32, device=/device:CPU:0](x)
  o = NoOp() @ a
  y = Identity[T=int32](a:output:0) @ o
  @return done = o
  return y = y:output:0
}
`,
    );
    assert.deepEqual(controlled.signature.control_output, ['done']);
  });

  it('are defined by nodes that name what they return', () => {
    tf.registerOp({
      name: 'FunctionTestParts',
      inputs: ['axis: int32', 'value: T'],
      outputs: ['output: N * T'],
      attrs: ['N: int >= 1', 'T: type'],
    });
    tf.registerOp({
      name: 'FunctionTestCall',
      inputs: ['args: Tin'],
      outputs: ['output: Tout'],
      attrs: ['Tin: list(type)', 'Tout: list(type)', 'f: func'],
    });
    const made = tf.FunctionDef.define({
      name: 'Parts',
      args: ['x: float', 'p: bool'],
      returns: ['c: float', 'z: float', 'x: float'],
      nodes: [
        { returns: ['axis'], op: 'Const', attrs: { value: 0, dtype: 'int32' } },
        { returns: ['two'], op: 'Const', attrs: { value: [2, 3] } },
        {
          returns: ['a', 'b', 'c'],
          op: 'FunctionTestParts',
          args: ['axis', 'x'],
          attrs: { N: 3, T: 'float32' },
          deps: ['two'],
        },
        { returns: ['z'], op: 'AddN', args: ['a', 'b'], attrs: { N: 2, T: 'float32' } },
        {
          returns: ['r'],
          op: 'FunctionTestCall',
          args: ['z'],
          attrs: {
            Tin: ['float32'],
            Tout: ['float32'],
            f: { name: 'F', attrs: { T: '$T', g: { name: 'G' }, text: 'plain' } },
          },
        },
      ],
    });
    assert.equal(
      String(made),
      `
Parts(x:float, p:bool) -> (c:float, z:float, x:float) {
  axis = Const[dtype=int32, value=Tensor<type: int32 shape: [] values: 0>]()
  two = Const[dtype=float, value=Tensor<type: float shape: [2] values: 2 3>]()
  a = FunctionTestParts[N=3, T=float](axis:output:0, x) @ two
  z = AddN[N=2, T=float](a:output:0, a:output:1)
  r = FunctionTestCall[Tin={float}, Tout={float}, f=F[T=$T, g=G, text="plain"]](z:sum:0)
  return c = a:output:2
  return z = z:sum:0
  return x = x
}
`,
    );
    assert.equal(tf.FunctionDef.parse(made.toText()).toText(), made.toText());
  });

  it('say what is wrong with a description', () => {
    const node = { returns: ['y'], op: 'Square', args: ['x'], attrs: { T: 'float32' } };
    const spec = { name: 'F', args: ['x: float'], returns: ['y: float'], nodes: [node] };
    assert.equal(tf.FunctionDef.define(spec).name, 'F');
    const refused = (changes, message, ErrorClass = InvalidArgumentError) =>
      assert.throws(
        () => tf.FunctionDef.define({ ...spec, ...changes }),
        (error) => error instanceof ErrorClass && message.test(error.message),
      );
    refused({ nodes: [{ ...node, args: ['z'] }] }, /node 'y' has no input named 'z'/);
    refused({ nodes: [] }, /result 'y' is no argument/);
    refused({ nodes: [{ ...node, op: 'Nothing' }] }, /Op type not registered 'Nothing'/, NotFoundError);
    refused({ nodes: [{ ...node, attrs: { U: 1 } }] }, /no attr 'U'/);
    refused({ nodes: [{ ...node, attrs: { T: 3 } }] }, /no value of attr type 'type'/);
    refused({ nodes: [{ ...node, returns: [] }] }, /has no name/);
    refused({ nodes: [{ ...node, args: 'x' }] }, /must be an array of strings/);
    refused({ nodes: [{ ...node, op: undefined }] }, /op must be a string/);
    refused({ nodes: undefined }, /nodes must be an array/);
    refused({ args: ['x float'] }, /Input\("x float"\)/);
    refused({ name: 'a\0b' }, /NUL/);
    // Invalid inputs of `create` are only detected when it is used.
    const open = {
      name: 'F',
      inputs: [],
      outputs: ['y: float'],
      nodes: [{ name: 'n', op: 'Nothing', inputs: ['z'] }],
      returns: { y: 'n:y:0' },
    };
    assert.equal(tf.FunctionDef.create(open).signature.is_stateful, true);
    assert.throws(() => tf.FunctionDef.create({ ...open, nodes: [{ name: '', op: 'NoOp' }] }), {
      name: 'InvalidArgumentError',
      message: /has no name/,
    });
    assert.throws(() => tf.FunctionDef.create({ ...open, returns: { y: 3 } }), {
      name: 'InvalidArgumentError',
      message: /array of strings/,
    });
  });

  it('refuse what is no function', () => {
    for (const text of [
      '',
      'F(',
      'F(x:float) -> (y:float) {',
      'F(x:nonsense) -> () {\n}',
      `${SQUARE_PLUS_ONE} and more`,
    ]) {
      assert.throws(() => tf.FunctionDef.parse(text), InvalidArgumentError, text);
    }
    assert.throws(() => tf.FunctionDef.fromProto(Uint8Array.of(1, 2, 3)), InvalidArgumentError);
  });

  it('are made of parts of a graph', () =>
    withGraph(tf, async (g) => {
      const x = g.placeholder('float32', [2], { name: 'x' });
      const y = g.tanh(g.mul(x, x, { name: 'square' }), { name: 'y' });
      const made = g.toFunction('TanhOfSquare', { inputs: [x], outputs: [y], outputNames: ['result'] });
      assert.equal(
        String(made).trim(),
        `TanhOfSquare(x:float) -> (result:float) {
  square = Mul[T=float](x, x)
  y = Tanh[T=float](square:z:0)
  return result = y:y:0
}`,
      );
      assert.equal(g.operations().length, 3);
      const [dx] = g.gradients([y], [x]);
      const gradient = g.toFunction('Slope', { inputs: [x], outputs: [dx] });
      assert.match(gradient.toText(), /TanhGrad/);
      assert.equal(tf.FunctionDef.parse(gradient.toText()).toText(), gradient.toText());
      assert.throws(
        () => g.toFunction('F', { inputs: [x], outputs: [y], outputNames: ['a', 'b'] }),
        InvalidArgumentError,
      );
    }));

  it('live in a graph, and travel with it', () =>
    withGraph(tf, async (g) => {
      const parsed = tf.FunctionDef.parse(SQUARE_PLUS_ONE);
      g.addFunction(parsed);
      assert.deepEqual(
        g.functions().map(({ name }) => name),
        ['SquarePlusOne'],
      );
      g.addFunction(parsed); // the same once more is fine
      assert.equal(g.functions().length, 1);
      assert.deepEqual(g.functions()[0].toProto(), parsed.toProto());
      const changed = tf.FunctionDef.parse(SQUARE_PLUS_ONE.replace('value=1', 'value=2'));
      assert.throws(() => g.addFunction(changed), { name: 'InvalidArgumentError', message: /SquarePlusOne/ });
      await withGraph(tf, async (other) => {
        other.importGraphDef(g.toGraphDef());
        assert.deepEqual(
          other.functions().map(({ name }) => name),
          ['SquarePlusOne'],
        );
      });
    }));

  it('are ops of their graph, with attrs and plain inputs', () =>
    withGraph(tf, async (g, session) => {
      g.addFunction(tf.FunctionDef.parse(SQUARE_PLUS_ONE));
      const x = g.placeholder('float64', [2], { name: 'x' });
      const { operation } = g.op('SquarePlusOne', [x], { name: 'call' }).output(0);
      assert.deepEqual(
        [operation.type, operation.attr('T'), operation.opDef.output_arg[0].name],
        ['SquarePlusOne', 'float64', 'y'],
      );
      assert.equal(g.op('SquarePlusOne', [3], { attrs: { T: 'int32' } }).inputs[0].dtype, 'int32');
      assert.throws(() => g.op('SquarePlusOne', [x], { attrs: { U: 1 } }), {
        name: 'InvalidArgumentError',
        message: /no attr 'U'/,
      });
      assert.throws(() => g.op('SquarePlusTwo', [x]), NotFoundError);
    }));

  it('have gradients that a graph is told', () =>
    withGraph(tf, async (g) => {
      const double = (name) =>
        tf.FunctionDef.parse(
          `${name}(x:float) -> (y:float) {\n  y = Add[T=float](x, x)\n  return y = y:z:0\n}`,
        );
      const gradient = tf.FunctionDef.parse(
        'DoubleGrad(x:float, dy:float) -> (dx:float) {\n  d = Add[T=float](dy, dy)\n  return dx = d:z:0\n}',
      );
      for (const definition of [double('Double'), gradient]) g.addFunction(definition);
      g.addGradient('Double', 'DoubleGrad');
      g.addGradient('Double', 'DoubleGrad'); // the same once more is fine
      assert.match(g.toText(), /gradient \{\s+function_name: "Double"\s+gradient_func: "DoubleGrad"/);
      assert.throws(() => g.addGradient('Nothing', 'DoubleGrad'), {
        name: 'InvalidArgumentError',
        message: /'Nothing'/,
      });
      g.addFunction(double('Other'));
      assert.throws(() => g.addGradient('Double', 'Other'), {
        name: 'InvalidArgumentError',
        message: /Double/,
      });
      assert.equal(g.functions().length, 3);
      assert.deepEqual([g.gradientOf('Double'), g.gradientOf('Other')], ['DoubleGrad', undefined]);
      assert.throws(() => g.addGradient('Double', 'Nothing'), {
        name: 'InvalidArgumentError',
        message: /no function 'Nothing'/,
      });
      g.addGradient('Tanh', 'DoubleGrad'); // an op
      assert.equal(g.gradientOf('Tanh'), 'DoubleGrad');
    }));

  it('are found in their graph, and taken out of it', () =>
    withGraph(tf, async (g) => {
      const parsed = tf.FunctionDef.parse(SQUARE_PLUS_ONE);
      g.addFunction(parsed);
      assert.deepEqual(g.function('SquarePlusOne').toProto(), parsed.toProto());
      assert.equal(g.function('Square'), undefined);
      const call = g.op('SquarePlusOne', [g.placeholder('float32')], { name: 'call' });
      g.removeFunction('SquarePlusOne');
      assert.deepEqual([g.functions().length, g.function('SquarePlusOne')], [0, undefined]);
      assert.throws(() => g.removeFunction('SquarePlusOne'), {
        name: 'InvalidArgumentError',
        message: "Tried to remove non-existent function 'SquarePlusOne'.",
      });
      assert.throws(() => g.op('SquarePlusOne', [g.placeholder('float32')]), NotFoundError);
      assert.equal(call.type, 'SquarePlusOne');
      g.addFunction(tf.FunctionDef.parse(SQUARE_PLUS_ONE.replace('value=1', 'value=2'))); // the name is free
      assert.equal(g.functions().length, 1);
    }));
});
