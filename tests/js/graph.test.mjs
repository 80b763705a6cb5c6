import assert from 'node:assert/strict';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  OutOfRangeError,
  Tensor,
  TFError,
} from '../../npm/dist/index.js';
import { engine } from './engine.mjs';

describe('Graph', () => {
  let tf;
  let g;
  before(async () => (tf = await engine()));
  beforeEach(() => (g = new tf.Graph()));
  afterEach(() => g.dispose());

  it('names operations after their type, and counts', () => {
    const [a, b] = [g.constant(1), g.constant(2)];
    assert.deepEqual([a.name, b.name], ['Const:0', 'Const_1:0']);
    assert.equal(g.add(a, b, { name: 'total' }).operation.name, 'total');
    assert.throws(() => g.add(a, b, { name: 'total' }), {
      name: 'InvalidArgumentError',
      message: /Duplicate node name in graph: 'total'/,
    });
    assert.throws(() => g.add(a, b, { name: 'not ok' }), { name: 'InvalidArgumentError', message: /not ok/ });
    assert.equal(g.uniqueName('total'), 'total_1');
  });

  it('finds operations and outputs by name', () => {
    const total = g.add(1, 2, { name: 'total' });
    assert.equal(g.operation('total'), total.operation);
    assert.equal(g.operation('nothing'), undefined);
    assert.equal(g.output('total').name, 'total:0');
    assert.equal(g.output('total:0').operation, total.operation);
    assert.throws(() => g.output('nothing:0'), NotFoundError);
    assert.throws(() => g.output('total:1'), OutOfRangeError);
    assert.deepEqual(
      g.operations().map((operation) => operation.name),
      ['total/x', 'total/y', 'total'],
    );
  });

  it('tells what an operation is made of', () => {
    const x = g.placeholder('float32', [null, 2], { name: 'x' });
    const first = g.op('NoOp', [], { name: 'first' });
    const { operation } = g.matMul(x, x, {
      transposeB: true,
      name: 'y',
      controlInputs: [first],
      device: '/cpu:0',
    });
    assert.equal(operation.type, 'MatMul');
    assert.equal(operation.device, '/cpu:0');
    assert.deepEqual(
      operation.inputs.map((input) => input.name),
      ['x:0', 'x:0'],
    );
    assert.deepEqual(operation.controlInputs, [first]);
    assert.equal(operation.outputs.length, 1);
    assert.deepEqual(
      [operation.attr('T'), operation.attr('transpose_a'), operation.attr('transpose_b')],
      ['float32', false, true],
    );
    assert.deepEqual(operation.attrs(), {
      T: 'float32',
      grad_a: false,
      grad_b: false,
      transpose_a: false,
      transpose_b: true,
    });
    assert.equal(operation.opDef, tf.opDef('MatMul'));
    assert.throws(
      () => operation.attr('nothing'),
      (error) => error instanceof TFError && error.node === 'y' && error.op === 'MatMul',
    );
    assert.equal(
      String(operation),
      '{{node y}} = MatMul[T=DT_FLOAT, grad_a=false, grad_b=false, transpose_a=false, transpose_b=true, _device="/cpu:0"](x, x, ^first)',
    );
    assert.ok(operation.toNodeDef() instanceof Uint8Array);
    assert.equal(String(operation.output(0)), 'Output<y:0 float32 [?,?]>');
  });

  it('knows who uses what', () => {
    const x = g.placeholder('float32', [2, 2], { name: 'x' });
    const first = g.op('NoOp', [], { name: 'first', controlInputs: [x.operation] });
    const product = g.matMul(x, x, { name: 'product' });
    const [a, b] = g.op('IdentityN', [[product, x]], { name: 'both' }).outputs;
    const sum = g.addN([a, product, b], { name: 'sum', controlInputs: [first] });
    const users = (output) =>
      output
        .consumers()
        .map(({ operation, index }) => `${operation.name}:${index}`)
        .sort();
    assert.deepEqual(
      [users(x), users(product), users(a), users(b), users(sum)],
      [['both:1', 'product:0', 'product:1'], ['both:0', 'sum:1'], ['sum:0'], ['sum:2'], []],
    );
    assert.equal(x.consumers()[0].operation, g.operation(x.consumers()[0].operation.name));
    assert.deepEqual(
      [first.controlOutputs, x.operation.controlOutputs, first.outputs],
      [[sum.operation], [first], []],
    );
    assert.deepEqual(g.output('both:1').consumers()[0].operation, sum.operation);
  });

  it('takes what a user knows about a shape', () => {
    const x = g.placeholder('float32');
    g.setShape(x, null);
    assert.equal(x.shape, null);
    g.setShape(x, [null, 3]);
    g.setShape(x, [2 ** 40, null]);
    assert.deepEqual(x.shape, [2 ** 40, 3]);
    assert.throws(() => g.setShape(x, [1, 3]), {
      name: 'InvalidArgumentError',
      message: /Dimension 0 in both shapes must be equal/,
    });
    assert.throws(() => g.setShape(x, [3]), { name: 'InvalidArgumentError', message: /rank/ });
    for (const shape of [[1.5], [NaN], ['2'], [undefined], [2 ** 60], [[1]], 5, {}, 'x', undefined]) {
      assert.throws(
        () => g.setShape(x, shape),
        { name: 'InvalidArgumentError', message: /is no shape$/ },
        String(shape),
      );
      if (shape !== undefined)
        assert.throws(() => g.placeholder('float32', shape), { name: 'InvalidArgumentError' }, String(shape));
    }
    assert.deepEqual(x.shape, [2 ** 40, 3]);
  });

  it('refuses names that C would cut', () => {
    for (const use of [
      () => g.constant(1, { name: 'a\0b' }),
      () => g.operation('a\0b'),
      () => g.placeholder('float32', [], { device: '\0' }),
    ]) {
      assert.throws(use, { name: 'InvalidArgumentError', message: /NUL/ }, String(use));
    }
    assert.equal(g.constant(1, { name: 'x'.repeat(5000) }).operation.name.length, 5000);
  });

  it('infers shapes and dtypes', () => {
    const x = g.placeholder('float64', [null, 3]);
    assert.deepEqual([x.shape, x.dtype], [[null, 3], 'float64']);
    assert.equal(g.placeholder('int32').shape, null);
    assert.deepEqual(g.matMul(x, x, { transposeA: true }).shape, [3, 3]);
    assert.deepEqual(g.reshape(x, [3, -1]).shape, [3, null]);
    assert.deepEqual(g.sum(x, [0]).shape, [3]);
    assert.deepEqual(g.add(x, g.placeholder('float64', [4, 1])).shape, [4, 3]);
    assert.equal(g.argMax(x, 1).dtype, 'int64');
    assert.equal(g.cast(x, { dstT: 'bool' }).dtype, 'bool');
    const known = g.placeholder('float64', [2, 3]);
    assert.throws(() => g.matMul(known, known), {
      name: 'InvalidArgumentError',
      message: /Dimensions must be equal/,
      op: 'MatMul',
    });
    assert.equal(g.operations().filter((operation) => operation.type === 'MatMul').length, 1);
  });

  it('takes plain values where an op takes a value', () => {
    const x = g.placeholder('float64', [2]);
    assert.equal(g.mul(x, 2).dtype, 'float64');
    assert.equal(g.mul(2, x).operation.inputs[0].dtype, 'float64');
    assert.equal(g.add([1, 2], [3, 4]).dtype, 'float32');
    assert.equal(g.add(1n, 2n).dtype, 'int64');
    assert.equal(g.fill([2, 3], 1).operation.inputs[0].dtype, 'int32');
    assert.deepEqual(g.fill([2, 3], 1).shape, [2, 3]);
    assert.equal(g.addN([x, [1, 2]]).dtype, 'float64');
    assert.deepEqual(g.randomStandardNormal([64, 10], { seed: 1 }).shape, [64, 10]);
    assert.throws(() => g.mul(x, 'two'), InvalidArgumentError);
    assert.throws(() => g.mul(x, undefined), {
      name: 'InvalidArgumentError',
      message: /Input 'y' of op Mul/,
    });
    assert.throws(() => g.addN(x), { name: 'InvalidArgumentError', message: /is a list/ });
    assert.throws(() => g.readVariableOp(3, { dtype: 'float32' }), InvalidArgumentError);
  });

  it('reads and writes attrs of every kind', () => {
    const value = tf.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      undefined,
      'int32',
    );
    const constant = g.constant(value).operation;
    assert.equal(constant.attr('dtype'), 'int32');
    assert.ok(constant.attr('value') instanceof Tensor);
    assert.deepEqual(constant.attr('value').array(), [
      [1, 2],
      [3, 4],
    ]);
    const variable = g.op('VarHandleOp', [], {
      attrs: { dtype: 'DT_DOUBLE', shape: [2, null], shared_name: 'v\u00e9' },
    });
    assert.deepEqual(
      [variable.attr('dtype'), variable.attr('shape'), variable.attr('shared_name')],
      ['float64', [2, null], 'v\u00e9'],
    );
    const random = g.randomUniform([2], { seed: 2n ** 40n, seed2: -3 }).operation;
    assert.deepEqual(
      [random.attr('seed'), random.attr('seed2'), random.attr('dtype')],
      [2 ** 40, -3, 'float32'],
    );
    assert.equal(g.placeholder('float32').operation.attr('shape'), null);
    /* Attrs that begin with '_' may be put on any operation. */
    const free = g.op('NoOp', [], {
      attrs: {
        _float: 0.5,
        _int: 2n ** 60n,
        _bool: true,
        _string: 'word',
        _type: 'int64',
        _ints: [1, 2, 3],
        _floats: [0.5, 1.5],
        _strings: ['a b', ''],
        _bools: [true, false],
        _types: ['float32', 'bool', 'DT_INT64_REF', 'qint8'],
        _bytes: Uint8Array.of(0xff, 0, 1),
        _shape: [null, 2],
        _unknown: null,
        _scalar: [[]],
        _shapes: [[1, null], null, []],
        _tensors: [tf.tensor(1), tf.tensor(['a'])],
        _funcs: [{ name: 'F' }, { name: 'G', attrs: { f: { name: 'H', attrs: {} } } }],
        _placeholder: '$T',
        _empty: [],
        _bytesList: ['a', Uint8Array.of(0xc3)],
        _tensor: tf.tensor([1n]),
        _func: { name: 'F', attrs: { T: 'float32', n: 3 } },
      },
    });
    const attr = (name) => free.attr(name);
    assert.deepEqual(
      [attr('_float'), attr('_int'), attr('_bool'), attr('_string'), attr('_type')],
      [0.5, 2n ** 60n, true, 'word', 'int64'],
    );
    assert.deepEqual(
      [attr('_ints'), attr('_floats'), attr('_strings'), attr('_bools')],
      [
        [1, 2, 3],
        [0.5, 1.5],
        ['a b', ''],
        [true, false],
      ],
    );
    assert.deepEqual(attr('_types'), ['float32', 'bool', 'int64_ref', 'qint8']);
    assert.deepEqual(
      [attr('_bytes'), attr('_bytesList')],
      [Uint8Array.of(0xff, 0, 1), ['a', Uint8Array.of(0xc3)]],
    );
    assert.deepEqual(
      [attr('_shape'), attr('_unknown'), attr('_scalar'), attr('_shapes')],
      [[null, 2], null, [[]], [[1, null], null, []]],
    );
    assert.deepEqual(
      attr('_tensors').map((value) => value.array()),
      [1, ['a']],
    );
    assert.deepEqual(attr('_funcs'), [
      { name: 'F', attrs: {} },
      { name: 'G', attrs: { f: { name: 'H', attrs: {} } } },
    ]);
    assert.deepEqual([attr('_placeholder'), attr('_empty')], ['$T', []]);
    assert.deepEqual(Object.keys(free.attrs()), Object.keys(free.attrs()).sort());
    assert.deepEqual(free.attrs()._funcs, attr('_funcs'));
    for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 1e300])
      assert.throws(() => g.op('NoOp', [], { attrs: { _int: value } }), InvalidArgumentError);
    assert.equal(g.op('NoOp', [], { attrs: { _int: -(2n ** 63n) } }).attr('_int'), -(2n ** 63n));
    assert.deepEqual(attr('_tensor').data, BigInt64Array.of(1n));
    assert.deepEqual(attr('_func'), { name: 'F', attrs: { T: 'float32', n: 3 } });
  });

  it('refuses wrong attrs, types and numbers of inputs, and says where', () => {
    const x = g.placeholder('float32', [2, 2], { name: 'x' });
    const i = g.placeholder('int32', [2, 2], { name: 'i' });
    const refused = [
      [() => g.op('MatMul', [x, x], { attrs: { transposed: true } }), /has no attr 'transposed'/],
      [() => g.op('MatMul', [x, x], { attrs: { transpose_a: 'yes' } }), /no value of attr type 'bool'/],
      [() => g.op('MatMul', [x, i]), /type/],
      [() => g.op('MatMul', [x]), /2|Not enough/],
      [() => g.op('MatMul', [x, x, x]), /2|Too many/],
      [() => g.op('MatMul', [[x, x]]), /cannot be an element/],
      [() => g.op('Softmax', [i]), /T|type/],
      [() => g.op('MatMul', [x, { name: 'x' }]), /no Output or Variable/],
    ];
    for (const [build, message] of refused) {
      assert.throws(
        build,
        (error) =>
          error instanceof InvalidArgumentError && message.test(error.message) && error.op !== undefined,
        String(build),
      );
    }
    assert.throws(() => g.op('NoSuchOp', []), {
      code: 'NOT_FOUND',
      op: 'NoSuchOp',
      message: /Op type not registered 'NoSuchOp'/,
    });
    assert.deepEqual(
      g.operations().map(({ name }) => name),
      ['x', 'i'],
    );
  });

  it('refuses what belongs to another graph', () => {
    const other = new tf.Graph();
    const foreign = other.constant(1, { name: 'foreign' });
    const different = { name: 'InvalidArgumentError', message: /'foreign' belongs to a different graph/ };
    assert.throws(() => g.neg(foreign), different);
    assert.throws(() => g.op('NoOp', [], { controlInputs: [foreign.operation] }), different);
    assert.throws(() => g.gradients([foreign], [foreign]), different);
    assert.throws(() => g.toFunction('F', { inputs: [], outputs: [foreign] }), different);
    assert.throws(() => g.importGraphDef('', { inputMap: { x: foreign } }), different);
    other.dispose();
  });

  it('can be disposed twice, and must not be used afterwards', () => {
    const other = new tf.Graph();
    const one = other.constant(1);
    other.dispose();
    other.dispose();
    for (const use of [
      () => other.constant(2),
      () => one.dtype,
      () => one.name,
      () => other.operations(),
      () => other.toGraphDef(),
      () => new tf.Session(other),
    ]) {
      assert.throws(use, { name: 'FailedPreconditionError', message: /disposed/ }, String(use));
    }
    assert.throws(() => one.operation.inputs, FailedPreconditionError);
  });

  it('knows the ops of the registry', () => {
    const names = tf.opDefs().map((op) => op.name);
    assert.ok(names.includes('MatMul') && names.length > 80);
    const op = tf.opDef('MatMul');
    assert.deepEqual(
      op.input_arg.map((arg) => [arg.name, arg.type_attr]),
      [
        ['a', 'T'],
        ['b', 'T'],
      ],
    );
    assert.deepEqual(
      op.attr.find(({ name }) => name === 'transpose_a'),
      { name: 'transpose_a', type: 'bool', default_value: false, has_minimum: false, minimum: 0 },
    );
    assert.ok(op.attr.find(({ name }) => name === 'T').allowed_values.includes('float64'));
    assert.equal(tf.opDef('AddN').is_aggregate && tf.opDef('AddN').is_commutative, true);
    assert.equal(tf.opDef('VarHandleOp').is_stateful, true);
    assert.deepEqual(
      tf.opDef('AddN').attr.find(({ name }) => name === 'N'),
      { name: 'N', type: 'int', has_minimum: true, minimum: 1 },
    );
    assert.throws(() => tf.opDef('NoSuchOp'), NotFoundError);
  });
});
